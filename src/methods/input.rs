use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, mem};

use anyhow::{Context, Result, bail};
use arrow::array::RecordBatch;
use arrow::record_batch::RecordBatchReader;
use datafusion::common::TableReference;
use datafusion::common::runtime::SpawnedTask;
use datafusion::dataframe::DataFrame;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use tempfile::TempPath;
use tokio::sync::Mutex;

use crate::corpus::ingest::register_file;
pub use crate::corpus::{Boilerplate, Format as InputFormat};
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::pipeline::Scratch;
use crate::run::Run;

/// The bytes of a row group in memory beyond which it is written.
const BYTES_OF_ROW_GROUP: usize = 64 << 20;

/// The documents that a method reads: files, or rows of a table.
///
/// Files are named by the path of a file, of a folder, or of a corpus or an index that ibid made, by a pattern such as
/// `news/*.jsonl`, or by a URL such as `s3://bucket/news/`. Rows have their text in the column `text` and their id in
/// `doc_id` or `id`, unless the method is told otherwise. All other columns are kept.
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
    Batches(Arc<Mutex<Batches>>),
}

/// Record batches that can be read once, and are written to a file by the first run that reads them.
enum Batches {
    Unread(Box<dyn RecordBatchReader + Send>),
    /// Batches that are written to a file, which exists as long as this value.
    Spooled {
        path: TempPath,
        _scratch: Arc<Scratch>,
    },
    /// Batches that a run took and did not read to the end.
    Lost,
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

    /// Takes the record batches of a reader, such as a reader of another library through Arrow's C stream interface.
    /// The first run reads the batches and writes them to the temporary folder of its engine. Later runs over a clone
    /// of this input read them from there.
    pub fn batches(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self(Kind::Batches(Arc::new(Mutex::new(Batches::Unread(Box::new(reader))))))
    }

    /// Returns the places of an input of files. Fails for an input of rows or record batches.
    pub(super) fn named_places(&self) -> Result<Vec<String>> {
        match &self.0 {
            Kind::Places(places) => places.iter().map(|place| named(place)).collect(),
            Kind::Rows(_) | Kind::Batches(_) => Err(misuse!("this reads only files; write the rows to a file first")),
        }
    }

    /// Returns the places of the input. Writes rows to a file of the run first, and record batches to a file of the
    /// engine.
    pub async fn resolved(&self, run: &Run, prefix: &str) -> Result<Vec<String>> {
        let path = run.workspace.folder().join(format!("{prefix}input.parquet"));
        match &self.0 {
            Kind::Places(_) => return self.named_places(),
            Kind::Rows(rows) => write_rows(rows.as_ref().clone(), &path).await?,
            Kind::Batches(batches) => {
                return Ok(vec![named(&batches.lock().await.spooled(run.engine.scratch()).await?)?]);
            }
        }
        Ok(vec![named(&path)?])
    }
}

impl Engine {
    /// Registers rows as a table of this name, and replaces a table that has the name. The rows of a query become a
    /// view; record batches are written to a file in the temporary folder.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchIterator, StringArray};
    /// # use std::sync::Arc;
    /// let engine = ibid::Engine::new()?;
    /// let texts: ArrayRef = Arc::new(StringArray::from(vec!["To be or not to be.", "To be or not to be!"]));
    /// let batch = RecordBatch::try_from_iter([("text", texts)])?;
    /// let schema = batch.schema();
    /// engine.register("notes", ibid::Input::batches(RecordBatchIterator::new([Ok(batch)], schema))).await?;
    /// assert_eq!(engine.sql("SELECT text FROM notes WHERE text LIKE '%!'").await?.count().await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for an input of files, which FROM can name directly, and errors of the reader.
    pub async fn register(&self, name: &str, input: impl Into<Input>) -> Result<(), Error> {
        Ok(self.register_input(name, input.into()).await?)
    }

    async fn register_input(&self, name: &str, input: Input) -> Result<()> {
        let (session, table) = (self.session(), TableReference::bare(name));
        match &input.0 {
            Kind::Places(places) => {
                let place = places.first().map(|place| place.display().to_string()).unwrap_or_default();
                return Err(misuse!("a table is made of rows; name files in FROM: SELECT * FROM '{place}'"));
            }
            Kind::Rows(rows) => {
                let view = rows.as_ref().clone().into_view();
                session.deregister_table(table.clone())?;
                session.register_table(table, view)?;
            }
            Kind::Batches(batches) => {
                let path = batches.lock().await.spooled(self.scratch()).await?;
                session.deregister_table(table.clone())?;
                register_file(session, table, &path).await?;
            }
        }
        self.keep(name, input);
        Ok(())
    }
}

impl Batches {
    /// Returns the file that holds the batches. Writes it first if the batches are unread. Fails if a run took the
    /// batches and did not read them to the end.
    async fn spooled(&mut self, scratch: &Arc<Scratch>) -> Result<PathBuf> {
        match mem::replace(self, Self::Lost) {
            Self::Unread(reader) => {
                let file = tempfile::Builder::new().prefix("rows-").suffix(".parquet").tempfile_in(scratch.path());
                let (file, path) = file.context("cannot write to the temporary folder")?.into_parts();
                write_batches(reader, file).await?;
                *self = Self::Spooled { path, _scratch: Arc::clone(scratch) };
            }
            spooled => *self = spooled,
        }
        match self {
            Self::Spooled { path, .. } => Ok(path.to_path_buf()),
            _ => bail!(
                "the record batches were taken by an earlier run, which did not read them to the end; give them again"
            ),
        }
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
    let mut writer = ArrowWriter::try_new(File::create(path)?, rows.schema(), None)?;
    while let Some(batch) = rows.try_next().await? {
        write_batch(&mut writer, &batch)?;
    }
    writer.close()?;
    Ok(())
}

async fn write_batches(reader: Box<dyn RecordBatchReader + Send>, file: File) -> Result<()> {
    let write = move || {
        let mut writer = ArrowWriter::try_new(file, reader.schema(), None)?;
        for batch in reader {
            write_batch(&mut writer, &batch?)?;
        }
        writer.close()?;
        anyhow::Ok(())
    };
    SpawnedTask::spawn_blocking(write).join().await.context("the reader stopped")?
}

fn write_batch(writer: &mut ArrowWriter<File>, batch: &RecordBatch) -> Result<()> {
    writer.write(batch)?;
    if writer.in_progress_size() > BYTES_OF_ROW_GROUP {
        writer.flush()?;
    }
    Ok(())
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
