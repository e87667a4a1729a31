use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use datafusion::dataframe::DataFrame;
use serde_json::{Value, json};

use super::kept::Shape;
use super::{Base, Dedup};
use crate::error::{Error, misuse};
use crate::export::{Form, Format, Manifest, Parts, StagedFile, StagedFolder, write_json};
use crate::index::stored::check_place;
use crate::pipeline::Workspace;
use crate::run::{Event, Method, Run, Summary};
use crate::store::Stores;

/// The result of a method: tables, and a summary. The tables exist as long as this value.
pub struct Found {
    #[doc(hidden)]
    pub run: Run,
    /// The tables by name; the first is the result.
    pub(super) tables: Vec<(&'static str, DataFrame)>,
    #[doc(hidden)]
    pub summary: Summary,
    /// The position among the counts of the summary at which the number of rows of the result belongs.
    pub counted_at: usize,
    /// The further contents of a folder with this result, if there are any.
    pub(super) beside: Option<Beside>,
}

/// The contents of a folder of results other than tables with a file of their own.
pub(super) struct Beside {
    /// The name of a table that is split into the files of a folder, and the way in which it is split.
    pub(super) parts: (&'static str, Parts),
    /// The options of the method by name, and further entries of the manifest.
    pub(super) options: Value,
    pub(super) noted: Value,
    /// The content of the file `summary.json`.
    pub(super) summary: Value,
    /// The files and folders that any run of the method may write.
    pub(super) files: &'static [&'static str],
    /// The dedup that made the tables, if they are from one.
    pub(super) dedup: Option<Box<Dedup>>,
}

impl Beside {
    /// Returns the contents of a folder of kept documents other than its tables.
    pub(super) fn new(
        summary: &Summary,
        method: &'static str,
        options: Value,
        shape: Shape,
        files: &'static [&'static str],
    ) -> Self {
        let options = extended(options, shape.options());
        let summary = json!({
            "ibid": env!("CARGO_PKG_VERSION"),
            "method": method,
            "options": options,
            "counts": summary.counts.iter().map(|(name, count)| ((*name).to_owned(), json!(count))).collect::<Value>(),
            "skipped": summary.skipped,
            "notes": summary.notes,
        });
        Self { parts: ("kept", shape.parts), options, noted: Value::Null, summary, files, dedup: None }
    }
}

/// Returns a JSON object extended by the entries of another.
pub(super) fn extended(mut object: Value, other: Value) -> Value {
    if let (Some(object), Value::Object(other)) = (object.as_object_mut(), other) {
        object.extend(other);
    }
    object
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found")
            .field("tables", &self.tables().collect::<Vec<_>>())
            .field("summary", &self.summary)
            .finish()
    }
}

/// A result that is written to a staging file. If it is dropped, whatever was at the destination before stays.
#[must_use]
pub struct Staged {
    file: StagedFile,
    rows: u64,
    stores: Arc<Stores>,
}

impl Staged {
    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Moves the result to its destination, on a thread of its own. If the future is dropped during an upload, the
    /// upload is aborted in the background; [`Engine::close`](crate::Engine::close) waits for that.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Store`] if the result cannot be moved there.
    pub async fn commit(self) -> Result<(), Error> {
        Ok(self.file.commit_unless_dropped(&self.stores).await?)
    }

    #[doc(hidden)]
    pub fn into_file(self) -> StagedFile {
        self.file
    }
}

impl Found {
    /// Returns the result of a run, and notes the method in the run, for the metadata of files that are written.
    pub(super) fn new(
        mut run: Run,
        method: &'static str,
        tables: Vec<(&'static str, DataFrame)>,
        summary: Summary,
        counted_at: usize,
    ) -> Self {
        run.note_method(method, &summary);
        Self { run, tables, summary, counted_at, beside: None }
    }

    /// Runs a method over the collections of a builder.
    pub(super) async fn of_method(base: &Base, method: Method) -> Result<Self> {
        let (mut run, collections) = base.begin().await?;
        run.open_both(&collections.compared(method.needed)).await?;
        let rows = method.find(&mut run).await?;
        let mut tables = vec![(method.result, rows)];
        for (name, queries) in &method.tables {
            tables.push((name, run.workspace.run_all(queries).await?.context("a table is a query")?));
        }
        let mut counts = method.counted(&run);
        counts.extend(method.summed(&mut run).await?);
        let summary = run.summary(counts, method.fate, "; `within_documents` does that").await?;
        Ok(Self::new(run, method.name, tables, summary, method.counts.len()))
    }

    /// Returns the names of the tables; the first is the result.
    pub fn tables(&self) -> impl Iterator<Item = &'static str> {
        self.tables.iter().map(|(name, _)| *name)
    }

    /// Returns a table. Its rows are computed each time that they are read. The table can be joined only with tables of
    /// the run's session.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] if there is no table of this name.
    pub fn dataframe(&self, table: &str) -> Result<DataFrame, Error> {
        match self.tables.iter().find(|(name, _)| *name == table) {
            Some((_, rows)) => Ok(rows.clone()),
            None => {
                let there: Vec<_> = self.tables().collect();
                Err(misuse!("there is no table {table}; there are {}", there.join(", ")).into())
            }
        }
    }

    /// Returns the summary of the run: its counts and notes.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Writes the result to a local file or a URL, as Parquet, CSV or JSON lines by its extension: `.parquet`, `.csv`,
    /// `.ndjson`. The file appears when it is complete; until then, a file that was there before stays. Returns the
    /// number of rows. If the future is dropped, nothing is written: an upload is aborted in the background, and
    /// [`Engine::close`](crate::Engine::close) waits for that.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::Store`] if the file cannot be written, and errors of the query that makes the rows.
    pub async fn write(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let staged = self.stage(self.tables[0].0, path).await?;
        let rows = staged.rows();
        staged.commit().await?;
        Ok(rows)
    }

    /// Decides again which duplicates to remove, with another threshold, from the pairs that a dedup found. The
    /// documents are read again, and must be the same. The new tables are the same as those of a dedup with that
    /// threshold.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql(
    ///     "SELECT * FROM (VALUES (1, 'The board met on Monday at nine in the hall.'), (2, 'The board met on Monday at ten in the hall.'))
    ///          AS t(id, text)").await?;
    /// let found = engine.dedup(notes).signature("shingles:1".parse()?).threshold(0.5).await?;
    /// assert_eq!(found.dataframe("removed")?.count().await?, 1);
    /// assert_eq!(found.rethreshold(0.9).await?.await?.dataframe("removed")?.count().await?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for the result of another method, if the pairs are incomplete, and for a threshold below the
    /// one of the dedup.
    pub async fn rethreshold(&self, threshold: f64) -> Result<Dedup, Error> {
        let Some(again) = self.beside.as_ref().and_then(|beside| beside.dedup.clone()) else {
            return Err(misuse!("`rethreshold` takes only the result of dedup").into());
        };
        Ok(again.with_pairs_of(self, threshold).await?)
    }

    /// Writes a table to a staging file beside its destination. [`Staged::commit`] moves it there, such as when other
    /// tables are complete, too.
    ///
    /// # Errors
    ///
    /// The same as for [`Found::write`] and [`Found::dataframe`].
    pub async fn stage(&self, table: &str, path: impl AsRef<Path>) -> Result<Staged, Error> {
        let path = path.as_ref();
        check_place(path, self.run.engine.stores())?;
        self.stage_as(table, path, Form::of(Format::of_file(path)?)).await
    }

    /// Returns a table with its workspace, which must live as long as the table. Releases the engine.
    pub(crate) fn into_table(self, table: &str) -> Result<(Workspace, DataFrame), Error> {
        let rows = self.dataframe(table)?;
        Ok((self.run.workspace, rows))
    }

    #[doc(hidden)]
    pub async fn stage_as(&self, table: &str, path: &Path, form: Form) -> Result<Staged, Error> {
        let rows = self.dataframe(table)?;
        let (file, rows) = self.run.stage(rows, path, form, &self.run.workspace.parameters).await?;
        Ok(Staged { file, rows, stores: Arc::clone(self.run.engine.stores()) })
    }

    /// Writes all tables as Parquet to a local folder or a URL, with a manifest. It replaces a folder that an earlier
    /// run wrote, and nothing else. Returns the number of rows of each table. If the future is dropped, the folder
    /// stays as it was, as with [`Found::write`].
    ///
    /// # Errors
    ///
    /// The same as for [`Found::write`].
    pub async fn write_folder(&self, folder: impl Into<PathBuf>) -> Result<Vec<(&'static str, u64)>, Error> {
        let folder = folder.into();
        let mut names: Vec<_> = self.tables().collect();
        names.extend(self.beside.iter().flat_map(|beside| beside.files));
        let staged = FolderPlace::new(&folder, &names, self.run.engine.stores())?;
        self.write_staged_folder(staged).await
    }

    #[doc(hidden)]
    pub async fn write_staged_folder(&self, place: FolderPlace) -> Result<Vec<(&'static str, u64)>, Error> {
        let (mut counts, mut further) = (Vec::new(), Vec::new());
        let (stores, mut about) = (self.run.engine.stores(), self.run.about());
        for (name, rows) in &self.tables {
            let in_table = || format!("in the table {name}");
            let count = match self.beside.as_ref().map(|beside| beside.parts) {
                Some((of_parts, parts)) if of_parts == *name => {
                    self.run.tell(Event::Stage("writing"));
                    let rows = rows.clone().execute_stream().await.with_context(in_table)?;
                    let files = parts.write(rows, place.0.path(), name, &about, stores).await.with_context(in_table)?;
                    let count = files.iter().map(|file| file.rows).sum();
                    further.extend(files);
                    count
                }
                _ => self.run.write_into(&place.0, name, rows.clone()).await.with_context(in_table)?,
            };
            counts.push((*name, count));
        }
        if let Some(beside) = &self.beside {
            further.push(write_json(place.0.path(), "summary.json", &beside.summary)?);
            about["options"] = beside.options.clone();
            about = extended(about, beside.noted.clone());
        }
        Manifest::write_with(place.0.path(), &about, &further, stores)?;
        place.0.commit_unless_dropped().await?;
        Ok(counts)
    }
}

/// A folder of tables that is about to be written.
pub struct FolderPlace(StagedFolder);

impl FolderPlace {
    /// Creates a staging folder that may have these tables, files, and folders, whose names have a slash. Fails if it
    /// cannot replace what is at the destination.
    pub fn new(folder: &Path, tables: &[&str], stores: &Arc<Stores>) -> Result<Self> {
        let is_table = |name: &str| !name.contains(['.', '/']);
        let file = |name: &&str| if is_table(name) { format!("{name}.parquet") } else { (*name).to_owned() };
        let files: Vec<_> = tables.iter().map(file).collect();
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        Ok(Self(StagedFolder::create(folder, &files, stores)?))
    }
}
