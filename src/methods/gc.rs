use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::datatypes::Float64Type;
use datafusion::common::runtime::SpawnedTask;

use super::clusters::NAMES;
use super::runs;
use super::times::seconds;
use crate::engine::Engine;
use crate::export::layout::{FILES, ORIGINS, is_index};
use crate::index::gc::{Collected, TooOld, collect, is_begun};
use crate::pipeline::query::Literal;
use crate::session;
use crate::store::Stores;

impl Engine {
    /// Removes the files that killed runs left in a folder. From an index, also removes old manifests, and documents
    /// that are too old.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// let engine = ibid::Engine::new()?;
    /// let removal = engine.gc(folder.path()).dry_run().await?;
    /// assert!(removal.removed.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gc(&self, folder: impl Into<PathBuf>) -> Gc {
        Gc::new(folder.into(), self.stores())
    }
}

/// A folder that is cleaned up; see [`Engine::gc`].
#[derive(Debug, Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Gc {
    folder: PathBuf,
    before: Option<String>,
    window: Option<Duration>,
    grace: Duration,
    dry_run: bool,
    stores: Arc<Stores>,
}

runs!(Gc => Removal);

/// The files and parts that were removed, or would be.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Removal {
    /// The parts that were dropped from the index, and the numbers of their documents. A later call removes their
    /// files.
    pub dropped: Vec<(String, u64)>,
    /// The files and folders below the folder that were removed, and their bytes.
    pub removed: Vec<(PathBuf, u64)>,
    /// The objects in a store whose unfinished uploads were aborted.
    pub uploads: Vec<String>,
    /// The parts of the index that no manifest names, but that hold files that ibid did not write. They stay.
    pub kept: Vec<String>,
    /// The number of parts and files that are not needed, and are too young to be removed.
    pub young: usize,
}

impl Gc {
    #[doc(hidden)]
    pub fn new(folder: PathBuf, stores: &Arc<Stores>) -> Self {
        let (grace, stores) = (Duration::from_secs(3600), Arc::clone(stores));
        Self { folder, before: None, window: None, grace, dry_run: false, stores }
    }

    /// Drops the parts of the index whose documents are all from before this time: a date, a time, a year, or seconds
    /// since 1970.
    pub fn before(mut self, time: impl Into<String>) -> Self {
        self.before = Some(time.into());
        self
    }

    /// Drops the parts of the index whose documents are all older than its newest document by more than this.
    pub fn window(mut self, window: Duration) -> Self {
        self.window = Some(window);
        self
    }

    /// Removes no file before it has been out of use for this long: a run may be about to use it, or may still read it.
    /// Default: an hour.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Reports what would be removed, and removes nothing.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    async fn run(self) -> Result<Removal> {
        let too_old = match (&self.before, self.window) {
            (Some(time), _) => Some(TooOld::Before(microseconds(time).await?)),
            (None, Some(window)) => Some(TooOld::OlderBy(i64::try_from(window.as_micros())?)),
            (None, None) => None,
        };
        let collected = SpawnedTask::spawn_blocking(move || self.collect(too_old)).join().await;
        Ok(removal(collected.context("the removal stopped")??))
    }

    fn collect(&self, too_old: Option<TooOld>) -> Result<Collected> {
        let folder: &Path = &self.folder;
        let stores = &self.stores;
        let is_index = is_index(folder, stores)? || is_begun(folder, stores)?;
        if !is_index && too_old.is_some() {
            bail!("{} is no index: documents are only dropped from an index, which `add` makes", folder.display());
        }
        let mut collected =
            if is_index { collect(folder, too_old, self.grace, self.dry_run, stores)? } else { Collected::default() };
        let tables: Vec<_> = NAMES.iter().map(|name| format!("{name}.parquet")).collect();
        let files: Vec<_> = FILES.into_iter().chain([ORIGINS]).chain(tables.iter().map(String::as_str)).collect();
        collected.removed.collect(folder, is_index, &files, self.grace, self.dry_run, stores)?;
        Ok(collected)
    }
}

fn removal(collected: Collected) -> Removal {
    let Collected { dropped, still_named, shared, removed } = collected;
    Removal {
        dropped: dropped.into_iter().map(|part| (part.name, part.documents.rows)).collect(),
        uploads: removed.uploads.iter().map(ToString::to_string).collect(),
        removed: removed.paths,
        kept: shared,
        young: removed.young + still_named,
    }
}

/// Returns a time in microseconds since 1970, read in the same way as a column of times.
async fn microseconds(time: &str) -> Result<i64> {
    let sql = format!("SELECT CAST({} AS DOUBLE) FROM (SELECT {} AS time)", seconds("time"), Literal::from(time));
    let rows = session(Default::default(), Default::default())?.sql(&sql).await?.collect().await?;
    let found = rows.first().and_then(|row| row.column(0).as_primitive::<Float64Type>().iter().next().flatten());
    let seconds = found.filter(|seconds| seconds.abs() < 9e12).with_context(|| {
        format!(
            "cannot read the time {time:?}; write it as 2024, 2024-01-31, 2024-01-31T12:00:00Z or seconds since 1970"
        )
    })?;
    #[expect(clippy::cast_possible_truncation, reason = "within 64 bits, as the seconds are")]
    let microseconds = (seconds * 1e6).floor() as i64;
    Ok(microseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn times_are_read_as_columns_of_times_are() {
        for (text, micros) in [
            ("1970-01-02", 86_400_000_000),
            ("1970-01-01T00:00:00.5+01:00", -3_599_500_000),
            ("-1.5", -1_500_000),
            ("1704067200", 1_704_067_200_000_000),
        ] {
            assert_eq!(microseconds(text).await.unwrap(), micros, "{text}");
        }
        assert!(microseconds("yesterday").await.unwrap_err().to_string().contains("2024-01-31"));
    }
}
