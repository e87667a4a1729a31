//! Openers of files that add the place of a bad record to errors.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileOpenFuture, FileOpener, FileScanConfig};
use datafusion::error::DataFusionError;
use futures::{FutureExt, StreamExt, TryStreamExt};

use super::LimitedSource;
use super::place::{Reason, Refused};
use super::store::DecodingStore;
use crate::store::written;

/// An opener of the files of one partition of a scan.
pub(super) struct LimitedOpener {
    pub(super) opener: Arc<dyn FileOpener>,
    pub(super) reading: Arc<Reading>,
}

/// The parameters with which files are read.
pub(super) struct Reading {
    pub(super) source: LimitedSource,
    pub(super) scan: FileScanConfig,
    pub(super) partition: usize,
    pub(super) files: Arc<DecodingStore>,
}

impl FileOpener for LimitedOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let opened = self.opener.open(file.clone())?;
        let reading = Arc::clone(&self.reading);
        Ok(Box::pin(async move {
            let batches = opened.await?.or_else(move |error| {
                let (reading, file) = (Arc::clone(&reading), file.clone());
                async move { Err(reading.explained(error, &file).await) }
            });
            Ok(batches.boxed())
        }))
    }
}

impl Reading {
    /// Returns an error of reading a file, with the place of the record.
    async fn explained(&self, error: DataFusionError, file: &PartitionedFile) -> DataFusionError {
        let Some(reason) = Reason::of(&error) else { return error };
        let key = &file.object_meta.location;
        let name = format!("{}{key}", written(self.scan.object_store_url.as_str()));
        let has_header = self.source.as_csv().is_some_and(CsvSource::has_header);
        let from = file.range.as_ref().map_or(0, |range| u64::try_from(range.start).unwrap_or(0));
        let read = |store, object_meta| {
            let file = PartitionedFile { object_meta, range: None, ..file.clone() };
            let reading = async move {
                let opener = self.source.opener(store, &self.scan, self.partition)?;
                opener.open(file)?.await?.try_for_each(async |_| Ok(())).await
            };
            reading.boxed()
        };
        match Refused::find(&self.files, key, has_header, from, read).await {
            Ok(Some(refused)) if refused.may_be(&reason) => refused.explained(&name),
            _ => reason.at(&name),
        }
    }
}
