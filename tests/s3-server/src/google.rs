//! Google Cloud Storage on top of S3: the requests are the same except for some headers.

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

/// The bucket that speaks the protocol of Google Cloud Storage.
pub(crate) const GOOGLE: &str = "google";

/// The headers with the generation of an object, which is its ETag here, and with the expected generation.
const NUMBER: &str = "x-goog-generation";
const EXPECTED: &str = "x-goog-if-generation-match";

/// Translates the headers of a request to those of S3.
pub(crate) fn to_s3(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    rename(headers, "x-goog-meta-", "x-amz-meta-");
    if let Some(number) = headers.remove(EXPECTED) {
        if number == "0" {
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        } else if let Ok(tag) = HeaderValue::from_bytes(&[b"\"", number.as_bytes(), b"\""].concat()) {
            headers.insert(IF_MATCH, tag);
        }
    }
}

/// Translates the headers of an answer from those of S3.
pub(crate) fn of_s3(headers: &mut HeaderMap) {
    rename(headers, "x-amz-meta-", "x-goog-meta-");
    if let Some(number) = headers.get(ETAG).and_then(|tag| tag.to_str().ok()?.trim_matches('"').parse().ok()) {
        headers.insert(NUMBER, number);
    }
}

fn rename(headers: &mut HeaderMap, from: &str, to: &str) {
    let names: Vec<_> = headers.keys().filter(|name| name.as_str().starts_with(from)).cloned().collect();
    for name in names {
        let renamed = HeaderName::try_from(name.as_str().replacen(from, to, 1));
        if let (Ok(renamed), Some(value)) = (renamed, headers.remove(name)) {
            headers.insert(renamed, value);
        }
    }
}
