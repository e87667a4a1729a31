//! What fuzzers run of seals.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::file::properties::WriterProperties;

use super::{SealedWriter, Verified, verify};

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
    verify(Path::new(file.path()))
}

/// A file, and a sealed one of which bytes are changed: pairs of a place and what is added to its byte.
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
