//! Files that queries read.

use std::sync::{Arc, LazyLock};

use arrow::compute::concat_batches;
use datafusion::common::Result;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::fuzzing::{block_on, choices};
use crate::session;

/// The sessions, each with another number of rows per batch.
static SESSIONS: LazyLock<[SessionContext; 3]> = LazyLock::new(|| {
    [8192, 1, 3].map(|rows| {
        let config = SessionConfig::new().with_batch_size(rows).with_target_partitions(1);
        session(config, Arc::default()).unwrap()
    })
});

/// Checks that a Parquet file has the same rows, or fails, however many rows are read at once.
pub(super) fn from_parquet(data: &[u8]) {
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
