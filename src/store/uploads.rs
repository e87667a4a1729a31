//! Multipart uploads that a killed run left unfinished. S3 keeps the parts, and charges for them, until the upload is
//! aborted. object_store neither lists such uploads nor says where a bucket is, so this module makes the one request
//! for it, which object_store signs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use hyper::{Method, Request, StatusCode};
use object_store::ClientOptions;
use object_store::aws::{AmazonS3, AwsAuthorizer};
use object_store::client::{HttpClient, HttpConnector, HttpRequestBody};
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::signer::Signer;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use url::form_urlencoded::Serializer;

use super::blocking::wait;
use super::http::Connector;
use super::location::Location;
use super::object::{failed, io_error};

/// Pauses before each try of a request.
const TRIES: [Duration; 3] = [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5)];

/// A bucket of S3 as this module needs it.
pub(super) struct Bucket {
    pub(super) store: Arc<AmazonS3>,
    /// The connector for making a client, which is rarely needed.
    pub(super) connector: Connector,
    pub(super) options: ClientOptions,
    pub(super) region: String,
}

/// An upload that was begun, and neither completed nor aborted.
pub(crate) struct Upload {
    pub(crate) location: Location,
    id: String,
    begun: SystemTime,
    bucket: Arc<Bucket>,
}

impl Upload {
    /// Lists the uploads below a folder, except for keys that ibid never writes, such as those with `//`. Stores other
    /// than S3 have none: they drop unfinished uploads by themselves.
    pub(crate) fn list(folder: &Location) -> Result<Vec<Self>> {
        let Some(bucket) = folder.bucket()? else { return Ok(Vec::new()) };
        let prefix = folder.key().to_string();
        let prefix = if prefix.is_empty() { prefix } else { prefix + "/" };
        let listing = Arc::clone(&bucket);
        let listed = wait(async move { listing.uploads(&prefix).await })?;
        let listed = listed.with_context(|| format!("cannot list the unfinished uploads below {folder}"))?;
        let of = |Listed { key, id, begun }: Listed| {
            let location = folder.at(Key::parse(key).ok()?);
            let begun = humantime::parse_rfc3339(&begun).with_context(|| format!("no time: {begun:?}"));
            Some(begun.map(|begun| Self { location, id, begun, bucket: Arc::clone(&bucket) }))
        };
        listed.into_iter().filter_map(of).collect()
    }

    /// Returns the time since the upload was begun, if the clocks agree.
    pub(crate) fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.begun).ok()
    }

    /// Aborts the upload and removes its parts.
    pub(crate) fn abort(&self) -> Result<()> {
        let (bucket, key, id) = (Arc::clone(&self.bucket), self.location.key().clone(), self.id.clone());
        match wait(async move { bucket.store.abort_multipart(&key, &id).await })? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed("cannot give up the upload of", &self.location, io_error(error).into())),
        }
    }
}

/// An upload, as a server lists it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: String,
    id: String,
    begun: String,
}

/// A page of the list, and the markers of the next page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) uploads: Vec<Listed>,
    next: Option<(String, String)>,
}

impl Bucket {
    async fn uploads(&self, prefix: &str) -> Result<Vec<Listed>> {
        let client = self.connector.connect(&self.options)?;
        let mut uploads = Vec::new();
        let mut after = (String::new(), String::new());
        loop {
            let (key, id) = (after.0.as_str(), after.1.as_str());
            let query = [("uploads", ""), ("prefix", prefix), ("key-marker", key), ("upload-id-marker", id)];
            let Page { uploads: listed, next } = parse(&self.ask(&client, &query).await?)?;
            uploads.extend(listed);
            match next {
                Some(next) if next != after => after = next,
                _ => return Ok(uploads),
            }
        }
    }

    /// Sends a query to the bucket and returns the answer.
    async fn ask(&self, client: &HttpClient, query: &[(&str, &str)]) -> Result<String> {
        // The URL of the bucket is the URL of some object without its name.
        let mut url = self.store.signed_url(Method::GET, &Key::from("x"), Duration::from_secs(1)).await?;
        let bucket = url.path().strip_suffix("/x").unwrap_or_default().to_owned();
        url.set_path(&bucket);
        let asked = query.iter().filter(|(name, value)| *name == "uploads" || !value.is_empty());
        url.set_query(Some(&Serializer::new(String::new()).extend_pairs(asked).finish().replace('+', "%20")));
        let mut failed = String::new();
        for pause in TRIES {
            tokio::time::sleep(pause).await;
            let mut request = Request::get(url.as_str()).body(HttpRequestBody::empty())?;
            let keys = self.store.credentials().get_credential().await?;
            AwsAuthorizer::new(&keys, "s3", &self.region).authorize(&mut request, None);
            let response = match client.execute(request).await {
                Ok(response) => response,
                Err(error) => {
                    failed = error.to_string();
                    continue;
                }
            };
            let status = response.status();
            let text = response.into_body().bytes().await;
            match (status, text) {
                (StatusCode::OK, Ok(text)) => return Ok(String::from_utf8(text.into())?),
                // The server has no multipart uploads, or does not list them.
                (StatusCode::NOT_IMPLEMENTED, _) => return Ok("<ListMultipartUploadsResult/>".to_owned()),
                (StatusCode::FORBIDDEN, _) => {
                    bail!("it is not allowed; have s3:ListBucketMultipartUploads and s3:AbortMultipartUpload allowed")
                }
                (status, _) if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
                    bail!("the server answers {status}")
                }
                (status, text) => {
                    failed = text.map_or_else(|error| error.to_string(), |_| format!("the server answers {status}"))
                }
            }
        }
        bail!("{failed}; try again")
    }
}

/// Parses a page of the list.
pub(super) fn parse(xml: &str) -> Result<Page> {
    let mut reader = Reader::from_str(xml);
    let (mut page, mut text) = (Page::default(), String::new());
    let (mut is_truncated, mut next) = (false, (String::new(), String::new()));
    let mut upload = Listed::default();
    loop {
        match reader.read_event()? {
            Event::Start(_) => text.clear(),
            Event::Text(more) => text += &more,
            Event::GeneralRef(name) => text += &unescape(&format!("&{};", &*name))?,
            Event::End(end) => match end.local_name().as_ref() {
                "Key" => upload.key = std::mem::take(&mut text),
                "UploadId" => upload.id = std::mem::take(&mut text),
                "Initiated" => upload.begun = std::mem::take(&mut text),
                "Upload" => page.uploads.push(std::mem::take(&mut upload)),
                "NextKeyMarker" => next.0 = std::mem::take(&mut text),
                "NextUploadIdMarker" => next.1 = std::mem::take(&mut text),
                "IsTruncated" => is_truncated = text == "true",
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    page.next = is_truncated.then_some(next);
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_uploads_are_read() {
        let xml = "<?xml version='1.0'?><ListMultipartUploadsResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>\
            <KeyMarker/><NextKeyMarker>a&amp;b</NextKeyMarker><NextUploadIdMarker>7</NextUploadIdMarker>\
            <IsTruncated>true</IsTruncated><Upload><Key>a&amp;b</Key><UploadId>7</UploadId><Owner><ID>x</ID></Owner>\
            <Initiated>2026-11-10T20:48:33.000Z</Initiated></Upload></ListMultipartUploadsResult>";
        let listed = Listed { key: "a&b".into(), id: "7".into(), begun: "2026-11-10T20:48:33.000Z".into() };
        let next = Some(("a&b".to_owned(), "7".to_owned()));
        assert_eq!(parse(xml).unwrap(), Page { uploads: vec![listed], next });
        assert_eq!(parse("<ListMultipartUploadsResult/>").unwrap(), Page::default());
        assert!(parse("<a><b></a>").is_err());
    }
}
