use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use arrow::record_batch::RecordBatchReader;
use datafusion::common::runtime::SpawnedTask;
use datafusion::dataframe::DataFrame;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;

pub use crate::corpus::Format as InputFormat;
use crate::error::misuse;
use crate::run::Run;

/// The documents that a method reads: files, or rows of a table.
///
/// Files are named by a path of a file, of a folder or of a corpus or an index that ibid made, by a pattern such as `news/*.jsonl`, or by
/// a URL such as `s3://bucket/news/`. Of rows the text is in the column `text` and the id in `doc_id` or `id`, unless the method is told
/// otherwise; all other columns are kept.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = ibid::Engine::new()?;
/// let notes = engine.sql("SELECT * FROM (VALUES (1, 'To be or not to be.'), (2, 'To be or not to be.')) AS t(id, text)").await?;
/// let found = engine.pairs(notes).await?;
/// assert_eq!(found.dataframe("pairs")?.count().await?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Input(Kind);

#[derive(Clone)]
enum Kind {
    Places(Vec<PathBuf>),
    Rows(Box<DataFrame>),
    /// Taken by the first run.
    Batches(Arc<Mutex<Option<Box<dyn RecordBatchReader + Send>>>>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Places(places) => f.debug_tuple("Input").field(places).finish(),
            Kind::Rows(_) => f.write_str("Input(rows)"),
            Kind::Batches(_) => f.write_str("Input(batches)"),
        }
    }
}

impl Input {
    /// Names several files, folders, patterns or URLs, which are one collection.
    pub fn places<P: Into<PathBuf>>(places: impl IntoIterator<Item = P>) -> Self {
        Self(Kind::Places(places.into_iter().map(Into::into).collect()))
    }

    /// Takes the record batches of a reader, such as one of another library by the C stream interface of Arrow. They are read once.
    pub fn batches(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self(Kind::Batches(Arc::new(Mutex::new(Some(Box::new(reader))))))
    }

    /// Returns the places, where it is one of files.
    pub(super) fn named_places(&self) -> Result<Vec<String>> {
        match &self.0 {
            Kind::Places(places) => places.iter().map(|place| named(place)).collect(),
            Kind::Rows(_) | Kind::Batches(_) => Err(misuse!("this is for files; write the rows to a file first")),
        }
    }

    /// Returns the places, after rows were written to a file of the run.
    pub async fn resolved(&self, run: &Run, prefix: &str) -> Result<Vec<String>> {
        let path = run.workspace.folder().join(format!("{prefix}input.parquet"));
        match &self.0 {
            Kind::Places(_) => return self.named_places(),
            Kind::Rows(rows) => write_rows(rows.as_ref().clone(), &path).await?,
            Kind::Batches(reader) => {
                let Some(reader) = reader.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                    bail!("the record batches were read by an earlier run; give them again");
                };
                write_batches(reader, path.clone()).await?;
            }
        }
        Ok(vec![named(&path)?])
    }
}

fn named(place: &Path) -> Result<String> {
    match place.to_str() {
        Some(place) => Ok(place.to_owned()),
        None => {
            bail!("{} has a name that is not Unicode; rename it, or name the folder that it is in", place.display())
        }
    }
}

async fn write_rows(rows: DataFrame, path: &Path) -> Result<()> {
    let mut rows = rows.execute_stream().await?;
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path)?, rows.schema(), None)?;
    while let Some(batch) = rows.try_next().await? {
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(())
}

async fn write_batches(reader: Box<dyn RecordBatchReader + Send>, path: PathBuf) -> Result<()> {
    let write = move || {
        let mut writer = ArrowWriter::try_new(std::fs::File::create(path)?, reader.schema(), None)?;
        for batch in reader {
            writer.write(&batch?)?;
        }
        writer.close()?;
        anyhow::Ok(())
    };
    SpawnedTask::spawn_blocking(write).join().await.context("the reader stopped")?
}

impl From<DataFrame> for Input {
    fn from(rows: DataFrame) -> Self {
        Self(Kind::Rows(Box::new(rows)))
    }
}

impl From<&Path> for Input {
    fn from(place: &Path) -> Self {
        Self::places([place])
    }
}

impl From<PathBuf> for Input {
    fn from(place: PathBuf) -> Self {
        Self::places([place])
    }
}

impl From<&PathBuf> for Input {
    fn from(place: &PathBuf) -> Self {
        Self::places([place])
    }
}

impl From<&str> for Input {
    fn from(place: &str) -> Self {
        Self::places([place])
    }
}

impl From<String> for Input {
    fn from(place: String) -> Self {
        Self::places([place])
    }
}

impl From<&String> for Input {
    fn from(place: &String) -> Self {
        Self::places([place])
    }
}

impl<P: Into<PathBuf>> From<Vec<P>> for Input {
    fn from(places: Vec<P>) -> Self {
        Self::places(places)
    }
}

impl<P: Into<PathBuf>, const N: usize> From<[P; N]> for Input {
    fn from(places: [P; N]) -> Self {
        Self::places(places)
    }
}
