//! What fuzzers run of the names of objects, and of what servers answer.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::sync::{Arc, LazyLock};

use arrow::compute::concat_batches;
use datafusion::common::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use quick_xml::escape::escape;

use super::explain::{Asked, Explained, explain};
use super::location::{Location, redacted, redacted_url};
use super::uploads;
use crate::fuzz::{block_on, choices};
use crate::session;

pub(crate) fn location(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    redacted(&text);
    redacted_url(&text);
    let Ok(Some(location)) = Location::of(&text) else { return };
    let shown = location.to_string();
    // Web addresses are shown as they are read, without the marks that a URL has for some characters.
    if !location.is_web() {
        let again = Location::of(&shown).unwrap().unwrap();
        assert_eq!(again.to_string(), shown, "{text}");
        let parts = |location: &Location| (location.root().to_owned(), location.key().clone(), location.is_prefix());
        assert_eq!(parts(&again), parts(&location));
    }
    // No key leads out of its bucket.
    assert!(location.key().parts().all(|part| !matches!(part.as_ref(), "." | "..")), "{shown}");
    location.url();
    if let Some((folder, pattern)) = location.split_glob() {
        assert!(folder.is_prefix() && !pattern.is_empty(), "{shown}");
    }
    assert_eq!(location.folder().root(), location.root());
}

/// Of an error it is said where it arose, and nothing of what was signed. A list of uploads has the keys that a server puts into it.
pub(crate) fn answers(data: &[u8]) {
    let ([status, settings], data) = choices(data);
    let text = String::from_utf8_lossy(data);
    let is_set = |bit: u32| settings >> bit & 1 == 1;
    let asked = Asked {
        place: "s3://b/k",
        root: ["s3://b", "gs://b"][settings & 1],
        endpoint: is_set(1).then_some("http://localhost:9000"),
        region: is_set(2).then_some("us-east-1"),
        is_anonymous: is_set(3),
    };
    let said = |source: String| {
        let error = explain(object_store::Error::Generic { store: "S3", source: source.into() }, &asked);
        Explained::of(&error).unwrap().to_string()
    };
    let signed = "<StringToSign>AWS4-HMAC-SHA256</StringToSign>";
    let answer = said(format!("Server returned non-2xx status code: {} X: {signed}{text}", 300 + status));
    assert!(answer.starts_with("s3://b/k: "), "{answer}");
    assert!(!answer.contains("HMAC") || text.contains("HMAC"), "{answer}");
    assert!(said(text.to_string()).starts_with("s3://b/k: "), "{text}");

    let _ = uploads::parse(&text);
    let keys: Vec<_> = text.split('\n').collect();
    let listed = keys.iter().map(|key| format!("<Upload><Key>{}</Key></Upload>", escape(*key)));
    let page = uploads::parse(&format!("<Uploads>{}</Uploads>", listed.collect::<String>())).unwrap();
    assert!(page.uploads.iter().map(|upload| upload.key.as_str()).eq(keys), "{text:?}");
}

/// Sessions that read so many rows at once.
static SESSIONS: LazyLock<[SessionContext; 3]> = LazyLock::new(|| {
    [8192, 1, 3].map(|rows| {
        let config = SessionConfig::new().with_batch_size(rows).with_target_partitions(1);
        session(config, Arc::default()).unwrap()
    })
});

/// A file of Parquet has the same rows, or none, however many are read at once.
pub(crate) fn from_parquet(data: &[u8]) {
    let ([chosen], data) = choices(data);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, data).unwrap();
    let query = format!("SELECT * FROM '{}'", file.display());
    let read = |session: &SessionContext| -> Result<_> {
        block_on(async {
            let batches = session.sql(&query).await?.collect().await?;
            Ok(batches.first().map(|first| concat_batches(first.schema_ref(), &batches)).transpose()?)
        })
    };
    let [at_once, few @ ..] = &*SESSIONS;
    assert_eq!(read(&few[chosen % few.len()]).map_err(drop), read(at_once).map_err(drop));
}
