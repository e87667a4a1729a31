//! The uploads that were neither completed nor aborted. The library that serves the files does not list them.

use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Response;
use s3s::Body;
use s3s::dto::{Timestamp, TimestampFormat};

/// The number of uploads in one answer.
const PAGE: usize = 2;

/// Answers `GET /BUCKET?uploads`, in the order of keys.
pub(crate) fn list(folder: &Path, bucket: &str, query: &str) -> Result<Response<Body>> {
    let asked = |name: &str| {
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().replace("%2F", "/")
    };
    let prefix = asked("prefix");
    let after = (asked("key-marker"), asked("upload-id-marker"));
    let mut uploads = Vec::new();
    for entry in std::fs::read_dir(folder).context("cannot read FOLDER")? {
        let entry = entry?;
        // The library keeps an upload as `.bucket-B.object-K.upload-ID.metadata.json`, where B and K are encoded.
        let name = entry.file_name().into_string().unwrap_or_default();
        let Some((object, id)) = name.strip_suffix(".metadata.json").and_then(|name| name.split_once(".upload-"))
        else {
            continue;
        };
        let Some((of, key)) = object.strip_prefix(".bucket-").and_then(|object| object.split_once(".object-")) else {
            continue;
        };
        let key = String::from_utf8(URL_SAFE_NO_PAD.decode(key)?)?;
        if URL_SAFE_NO_PAD.decode(of)? == bucket.as_bytes() && key.starts_with(&prefix) {
            let mut begun = Vec::new();
            Timestamp::from(entry.metadata()?.modified()?).format(TimestampFormat::DateTime, &mut begun)?;
            uploads.push(((key, id.to_owned()), String::from_utf8(begun)?));
        }
    }
    uploads.sort();
    uploads.retain(|(upload, _)| *upload > after);
    let is_truncated = uploads.len() > PAGE;
    uploads.truncate(PAGE);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListMultipartUploadsResult><IsTruncated>{is_truncated}</IsTruncated>"
    );
    if let (true, Some(((key, id), _))) = (is_truncated, uploads.last()) {
        xml += &format!("<NextKeyMarker>{key}</NextKeyMarker><NextUploadIdMarker>{id}</NextUploadIdMarker>");
    }
    for ((key, id), begun) in &uploads {
        xml += &format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId><Initiated>{begun}</Initiated></Upload>");
    }
    Ok(Response::new(Body::from(xml.replace('&', "&amp;") + "</ListMultipartUploadsResult>")))
}
