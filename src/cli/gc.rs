use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::datatypes::Float64Type;
use clap::Args;

use super::run::{Stdout, grouped};
use super::threads::seconds;
use super::{Ending, clusters};
use crate::export::layout::{self, is_index};
use crate::index::gc::{Collected, TooOld, collect, is_begun};
use crate::pipeline::query::Literal;
use crate::session;

/// Remove what killed runs left; and from an index old manifests, and documents that are too old
///
/// Of an index, all in it that it does not need. Of any other folder, what lies directly in it: files and folders that were
/// staged for a result there, temporary tables (in the folder for temporary files, such as /tmp), and the tables that --resume
/// kept. In S3 also the parts of objects that were begun there and not ended, whoever began them.
#[derive(Debug, Args)]
pub(super) struct Gc {
    /// The index, a folder that --add made, or any other folder
    folder: PathBuf,
    /// Drop the parts of which all documents are of before this time: a date, a time, or seconds since 1970
    #[arg(long, value_name = "TIME", conflicts_with = "window")]
    before: Option<String>,
    /// Drop the parts of which all documents are so much older than the newest of the index, such as 72h or 30days
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    window: Option<Duration>,
    /// Remove no file before it has been out of use for so long: a run may be about to use it, or may still read it
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration)]
    grace: Duration,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

impl Gc {
    pub(super) async fn run(self) -> Result<Ending> {
        let is_index = is_index(&self.folder)? || is_begun(&self.folder)?;
        if !is_index && (self.before.is_some() || self.window.is_some()) {
            bail!("{} is no index, of which documents can be dropped; --add makes one", self.folder.display());
        }
        let too_old = match (&self.before, self.window) {
            (Some(time), _) => Some(TooOld::Before(microseconds(time).await?)),
            (None, Some(window)) => Some(TooOld::OlderBy(i64::try_from(window.as_micros())?)),
            (None, None) => None,
        };
        let mut collected =
            if is_index { collect(&self.folder, too_old, self.grace, self.dry_run)? } else { Collected::default() };
        let files = [&layout::FILES[..], &clusters::FILES].concat();
        collected.removed.collect(&self.folder, is_index, &files, self.grace, self.dry_run)?;
        Stdout.write_all(self.describe(&collected).as_bytes())?;
        Ok(Ending::Done)
    }

    fn describe(&self, collected: &Collected) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut said = String::new();
        for part in &collected.dropped {
            let _ = writeln!(said, "parts/{}: {would}dropped, {} documents", part.name, grouped(part.documents.rows));
        }
        for (path, bytes) in &collected.removed.paths {
            let _ = writeln!(said, "{}: {would}removed, {} bytes", path.display(), grouped(*bytes));
        }
        for upload in &collected.removed.uploads {
            let _ = writeln!(said, "{upload}: an upload that was not ended, {would}given up");
        }
        for part in &collected.shared {
            let _ = writeln!(said, "parts/{part}: not needed, and kept for what is in it that ibid did not write");
        }
        let bytes = collected.removed.paths.iter().map(|(_, bytes)| bytes).sum();
        let _ = writeln!(
            said,
            "parts {would}dropped {}, files and folders {would}removed {}, bytes {}",
            collected.dropped.len(),
            collected.removed.paths.len(),
            grouped(bytes)
        );
        let left = collected.removed.young + collected.still_named;
        if left > 0 {
            let _ = writeln!(
                said,
                "what is not needed and is younger than --grace is left for a later call: {left} parts and files"
            );
        }
        said
    }
}

/// A time as a column of times would have it, in microseconds since 1970.
async fn microseconds(time: &str) -> Result<i64> {
    let sql = format!("SELECT CAST({} AS DOUBLE) FROM (SELECT {} AS time)", seconds("time"), Literal::from(time));
    let rows = session(Default::default(), Default::default())?.sql(&sql).await?.collect().await?;
    let found = rows.first().and_then(|row| row.column(0).as_primitive::<Float64Type>().iter().next().flatten());
    let seconds = found.filter(|seconds| seconds.abs() < 9e12).with_context(|| {
        format!("cannot read the time {time:?}; write it as 2024-01-31, 2024-01-31T12:00:00Z or seconds since 1970")
    })?;
    #[expect(clippy::cast_possible_truncation, reason = "within 64 bits, as the seconds are")]
    let microseconds = (seconds * 1e6).floor() as i64;
    Ok(microseconds)
}

/// Reads a duration such as `72h`.
fn duration(text: &str) -> Result<Duration> {
    humantime::parse_duration(text).context("write a number and its unit, such as 72h or 30days")
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
