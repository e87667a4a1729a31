//! Fuzz targets for the names of objects, for answers of servers, and for seals.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::file::properties::WriterProperties;
use quick_xml::escape::escape;

use super::explain::{Asked, Explained, explain};
use super::location::{Location, redacted, redacted_url};
use super::uploads;
use super::verify::{Verified, verify};
use crate::fuzzing::choices;
use crate::seal::SealedWriter;

pub(crate) fn location(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    redacted(&text);
    redacted_url(&text);
    let Ok(Some(location)) = Location::of(&text, &Arc::default()) else { return };
    let shown = location.to_string();
    // Web addresses are displayed without their percent-encoding.
    if !location.is_web() {
        let again = Location::of(&shown, location.stores()).unwrap().unwrap();
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

/// Checks that an explained error names its place and shows nothing of what was signed, and that a list of uploads has
/// the keys that a server puts into it.
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
        is_key_given: is_set(4),
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

/// A sealed file.
static SEALED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer =
        SealedWriter::try_new(file.reopen().unwrap(), Arc::clone(&schema), WriterProperties::builder()).unwrap();
    let numbers = Int64Array::from_iter_values(0..100);
    writer.write(&RecordBatch::try_new(schema, vec![Arc::new(numbers)]).unwrap()).unwrap();
    writer.close(&serde_json::json!({ "of": "numbers" })).unwrap();
    std::fs::read(file.path()).unwrap()
});

fn verify_bytes(data: &[u8]) -> anyhow::Result<Verified> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(data).unwrap();
    verify(Path::new(file.path()), &Arc::default())
}

/// Verifies `data` as a file, and then a sealed file with changed bytes: each three bytes of `data` are an offset and
/// the number that is added to the byte there.
pub(crate) fn seal(data: &[u8]) {
    let _ = verify_bytes(data);
    let mut changed = SEALED.clone();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % changed.len();
        changed[at] = changed[at].wrapping_add(edit[2]);
    }
    let found = verify_bytes(&changed);
    assert_eq!(matches!(found, Ok(Verified::Sealed { .. })), changed == *SEALED, "{found:?}");
}
