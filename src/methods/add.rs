//! Adding a batch of documents to an index, after writing the rows that the batch adds to a result.
//!
//! The rows are committed first, and the index afterwards. A run that is killed between the two has added nothing to
//! the index, and finds the same rows when it is run again.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, Schema};
use async_trait::async_trait;
use datafusion::dataframe::DataFrame;

use super::threads::Readable;
use super::times::seconds;
use super::{Base, Builder, Containment, Input, Pairs, Passages, texts};
use crate::corpus::ingest::{self, Needed};
use crate::corpus::{self, Problem, Problems};
use crate::error::{Error, misuse};
use crate::export::layout::FILES;
use crate::export::{Form, Format, StagedFile, write_rows};
use crate::index::stored::{Stored, check_place, index_to_add};
use crate::index::{Index, WrittenPart};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{
    Method, Run, Summary, check_boilerplate, check_pages, corpus_folder, grouped, ignored_statements, read_first,
    script,
};
use crate::seal::Root;
use crate::store::{GivenUp, Stores, seal_of, write_unless_dropped};

/// The number of attempts before this run gives up, if other runs change the index meanwhile.
const ATTEMPTS: usize = 5;

/// The tables that are read from a batch, whatever the method needs, since a part of an index is a whole corpus.
const NEEDED: Needed = Needed::DocumentsAndSentences;

/// A method that finds the rows that documents add to the rows of an index.
#[async_trait]
pub(crate) trait Incremental: Send + Sync {
    fn base(&self) -> &Base;

    fn base_mut(&mut self) -> &mut Base;

    /// Returns the tables of a collection that the method reads.
    fn needed(&self) -> Needed;

    /// Returns the most seconds between two documents that are compared, if there is a limit.
    fn window(&self) -> Option<f64> {
        None
    }

    /// Runs all stages over an index (`documents` and `sentences`) and a batch (`against_documents` and
    /// `against_sentences`). Returns the rows that involve the batch.
    async fn find(&self, run: &mut Run, time_column: Option<&str>) -> Result<DataFrame>;

    /// Returns the stages, in parts, each with its parameters.
    fn script(&self, time_column: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>>;

    /// Returns the queries that make a further table once the stages have run, or `None` if there is no such table.
    fn table(&self, name: &str) -> Option<&'static [Query]>;

    /// Returns the name of the rows in the summary.
    fn result(&self) -> &'static str;

    /// Returns the counts of the summary that come before the number of rows.
    fn counts(&self, run: &Run) -> Vec<(&'static str, u64)>;

    /// Returns the summary, with these counts before others.
    async fn summary(&self, run: &mut Run, counts: Vec<(&'static str, u64)>) -> Result<Summary>;
}

/// A method of the usual steps, with its builder's collections.
struct Steps {
    base: Base,
    method: Method,
}

#[async_trait]
impl Incremental for Steps {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn needed(&self) -> Needed {
        self.method.needed
    }

    async fn find(&self, run: &mut Run, _: Option<&str>) -> Result<DataFrame> {
        self.method.find(run).await
    }

    fn script(&self, _: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>> {
        Ok(vec![(self.method.parameters.clone(), self.method.stages())])
    }

    fn table(&self, name: &str) -> Option<&'static [Query]> {
        self.method.tables.iter().find(|(table, _)| *table == name).map(|(_, rows)| *rows)
    }

    fn result(&self) -> &'static str {
        self.method.result
    }

    fn counts(&self, run: &Run) -> Vec<(&'static str, u64)> {
        self.method.counted(run)
    }

    async fn summary(&self, run: &mut Run, mut counts: Vec<(&'static str, u64)>) -> Result<Summary> {
        counts.extend(self.method.summed(run).await?);
        run.summary(counts, self.method.fate, "; `within_documents` does that").await
    }
}

#[async_trait]
impl Incremental for Containment {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn needed(&self) -> Needed {
        Needed::DocumentsAndSentences
    }

    fn window(&self) -> Option<f64> {
        self.window
    }

    async fn find(&self, run: &mut Run, time_column: Option<&str>) -> Result<DataFrame> {
        self.find(run, time_column).await
    }

    fn script(&self, time_column: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>> {
        self.script(time_column)
    }

    fn table(&self, _: &str) -> Option<&'static [Query]> {
        None
    }

    fn result(&self) -> &'static str {
        "contained"
    }

    fn counts(&self, run: &Run) -> Vec<(&'static str, u64)> {
        vec![("documents", run.workspace.rows_of(query::UNITS_DOCS))]
    }

    async fn summary(&self, run: &mut Run, counts: Vec<(&'static str, u64)>) -> Result<Summary> {
        run.note_twins("");
        let capped = self.note_capped(run).await?;
        Ok(run.summary_of(counts, Some(capped)))
    }
}

impl Pairs {
    /// Adds documents to the index that is the input, once the rows that involve them are written. Creates the index if
    /// there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together.
    pub fn adding(mut self, documents: impl Into<Input>) -> Result<Addition, Error> {
        self.pairing.adds = true;
        let method = self.method()?;
        Ok(Addition::new(Box::new(Steps { base: self.base, method }), documents.into()))
    }
}

impl Passages {
    /// Adds documents to the index that is the input, once the rows that involve them are written. Creates the index if
    /// there is none.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let (index, reuse) = (folder.path().join("index"), folder.path().join("reuse.parquet"));
    /// let engine = ibid::Engine::new()?;
    /// let text = "The board approved the new ferry terminal by nine votes to two, and work will begin in March.";
    /// for day in ["monday", "tuesday"] {
    ///     let news = engine.sql(&format!("SELECT '{day}' AS id, '{text}' AS text")).await?;
    ///     let summary = engine.passages(&index).min_words(10).adding(news)?.write(&reuse).await?;
    ///     assert_eq!(summary.count("passages"), Some(if day == "monday" { 0 } else { 1 }));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together.
    pub fn adding(mut self, documents: impl Into<Input>) -> Result<Addition, Error> {
        // A further table is made only if it is asked for, so `coverage` can always be on.
        (self.pairing.adds, self.coverage) = (true, true);
        let method = self.method()?;
        Ok(Addition::new(Box::new(Steps { base: self.base, method }), documents.into()))
    }
}

impl Containment {
    /// Adds documents to the index that is the input, once the rows that involve them are written. Creates the index,
    /// with [`Containment::time_column`], if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together.
    pub fn adding(mut self, documents: impl Into<Input>) -> Result<Addition, Error> {
        self.adds = true;
        self.check()?;
        let time_column = self.time_column.clone();
        Ok(Addition { time_column, ..Addition::new(Box::new(self), documents.into()) })
    }
}

/// Documents that are added to an index, with the rows that they add.
#[must_use = "it runs when `write` is called and awaited"]
pub struct Addition {
    method: Box<dyn Incremental>,
    documents: Input,
    time_column: Option<String>,
    /// Further tables, and their files.
    further: Vec<(String, PathBuf, Form)>,
}

/// The destination of the rows.
pub enum Delivery<'a> {
    /// A file, in this form.
    File(&'a Path, Form),
    /// A temporary file, with whose path this function is called.
    Print(Form, &'a (dyn Fn(&Path) -> Result<()> + Sync)),
}

impl Builder for Addition {
    fn shared(&mut self) -> &mut Base {
        self.method.base_mut()
    }
}

impl Addition {
    fn new(method: Box<dyn Incremental>, documents: Input) -> Self {
        Self { method, documents, time_column: None, further: Vec::new() }
    }

    /// Names the column of the time of a document, for the first documents of an index: a date, a timestamp, a year, a
    /// number of seconds since 1970, or text that is one of them.
    pub fn time_column(mut self, name: impl Into<String>) -> Self {
        self.time_column = Some(name.into());
        self
    }

    /// Writes a further table to a file, too, such as `families`. It has the rows that involve a new document, the same
    /// as in one run over everything.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] if the file name does not tell the format, or there is no such table.
    pub fn also(self, table: &str, file: impl Into<PathBuf>) -> Result<Self, Error> {
        let file = file.into();
        let form = Form::of(Format::of_file(&file)?);
        check_place(&file, self.method.base().engine.stores())?;
        self.also_as(table, file, form)
    }

    #[doc(hidden)]
    pub fn also_as(mut self, table: &str, file: PathBuf, form: Form) -> Result<Self, Error> {
        if self.method.table(table).is_none() {
            return Err(misuse!("there is no table {table} here").into());
        }
        self.further.push((table.to_owned(), file, form));
        Ok(self)
    }

    /// Writes the rows that involve the documents to a file, then adds the documents to the index. If another run
    /// changes the index meanwhile, the rows are found anew.
    ///
    /// # Errors
    ///
    /// Errors of reading, of the method, and of writing. Nothing is added then.
    pub async fn write(self, file: impl AsRef<Path>) -> Result<Summary, Error> {
        let file = file.as_ref();
        check_place(file, self.method.base().engine.stores())?;
        Ok(self.run(Delivery::File(file, Form::of(Format::of_file(file)?))).await?)
    }

    #[doc(hidden)]
    pub async fn run(self, delivery: Delivery<'_>) -> Result<Summary> {
        if self.method.base().engine.is_on_cluster() {
            return Err(misuse!(
                "`add` does not run on a cluster; leave out the cluster, or make a corpus of all documents"
            ));
        }
        let mut adding = Adding::begin(&self, delivery).await?;
        for _ in 0..ATTEMPTS {
            match adding.attempt().await {
                Ok(Some(summary)) => return Ok(summary),
                Ok(None) => {}
                Err(error) => return Err(adding.failed(error)),
            }
            let said = format!("another run changed {} in the meantime; trying again", adding.folder.display());
            adding.reader.note(said);
        }
        Err(adding.failed(anyhow!(
            "other runs changed {} {ATTEMPTS} times in the meantime, and nothing was added; run it again",
            adding.folder.display()
        )))
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        Ok(self.script()?)
    }

    fn script(&self) -> Result<String> {
        let index = index_to_add(&self.method.base().index()?, self.method.base().engine.stores())?;
        let needed = self.method.needed();
        let mut statements = Vec::new();
        let documents = self.documents.named_places()?;
        match corpus_folder(&documents, index.stores())? {
            Some(batch) => statements.extend(batch.statements("added_", needed)?),
            None => statements.extend(read_first("added_", &documents, &self.method.base().reading, needed)),
        }
        if index.manifest().parts.is_empty() {
            statements.extend(needed.tables().iter().map(|table| none_of(table, &format!("added_{table}"))));
        } else {
            statements.extend(Stored::Index(index.clone()).statements("", needed)?);
        }
        if let Some(ignored) = &self.method.base().ignored {
            let (inputs, reading) = (ignored.named_places()?, &self.method.base().reading);
            statements.extend(ignored_statements(&inputs, reading, index.stores())?);
        }
        let mut adding = vec![query::ADDED_LEFT_OUT];
        adding.extend(batch_tables(needed));
        let time_column = time_column(&index, self.time_column.as_deref())?;
        let mut parts = vec![(times(time_column.as_deref()), adding)];
        parts.extend(self.method.script(time_column.as_deref())?);
        script(&statements, &parts)
    }
}

/// Returns the statements that register the documents to add.
fn batch_tables(needed: Needed) -> &'static [Query] {
    match needed {
        Needed::Documents => &[query::ADDED_DOCUMENTS],
        Needed::DocumentsAndSentences => &[query::ADDED_DOCUMENTS, query::ADDED_SENTENCES],
    }
}

/// Returns the column of the time of documents, which the first batch of an index sets. Fails if another column is
/// asked for.
pub(crate) fn time_column(index: &Index, asked: Option<&str>) -> Result<Option<String>> {
    let manifest = index.manifest();
    match (asked, manifest.time_column.as_deref()) {
        (asked, _) if manifest.number == 0 => Ok(asked.map(str::to_owned)),
        (Some(asked), Some(column)) if asked != column => {
            bail!(
                "the time column of {} is {column:?}, not {asked:?}; leave out `time_column`",
                index.folder().display()
            )
        }
        (Some(_), None) => {
            bail!(
                "{} was made without a time column; leave out `time_column`, or make an index anew",
                index.folder().display()
            )
        }
        (_, column) => Ok(column.map(str::to_owned)),
    }
}

/// Returns the parameters that read the time of a document.
fn times(column: Option<&str>) -> Parameters {
    let mut parameters = Parameters::default();
    parameters.set("seconds", column.map_or(Literal::from(0.0), seconds));
    parameters
}

/// Fails if no times can be read from a column.
fn check_time_column(column: Option<&str>, schema: &Schema) -> Result<()> {
    column.map_or(Ok(()), |column| Readable::TIMES.check("added_documents", schema, "`time_column`", column))
}

/// Returns the SQL of a view without rows that has the columns of another table.
fn none_of(table: &str, like: &str) -> String {
    format!("CREATE VIEW {table} AS SELECT * FROM {like} WHERE false")
}

/// Returns the seals of the files of a batch, `None` for a file without one.
fn seals(batch: &Path, stores: &Arc<Stores>) -> Result<Vec<Option<Root>>> {
    FILES.iter().map(|file| Ok(seal_of(&batch.join(file), stores)?.map(|seal| seal.root))).collect()
}

/// A batch of documents on its way into an index.
struct Adding<'a> {
    addition: &'a Addition,
    delivery: Delivery<'a>,
    needed: Needed,
    reading: corpus::Options,
    folder: PathBuf,
    /// The documents to add, as they were named.
    documents: Vec<String>,
    /// The documents whose text is to be ignored.
    ignored: Option<Vec<String>>,
    /// The run that has read the batch, and keeps its files.
    reader: Run,
    batch: PathBuf,
    /// The seals of the files of the batch, which are read more than once.
    seals: Vec<Option<Root>>,
    /// The ids of the documents that were reported as refused.
    refused: HashSet<String>,
    problems: Problems,
    /// True if another run changed the index after the result was committed.
    is_outdated: bool,
}

impl<'a> Adding<'a> {
    /// Reads the batch.
    async fn begin(addition: &'a Addition, delivery: Delivery<'a>) -> Result<Self> {
        let folder = addition.method.base().index()?;
        let index = index_to_add(&folder, addition.method.base().engine.stores())?;
        let time_column = time_column(&index, addition.time_column.as_deref())?;
        let base = addition.method.base();
        let mut reader = Run::begin(&base.engine, base.settings.clone())?;
        let reading = base.reading_of_run()?;
        let documents = addition.documents.resolved(&reader, "added_").await?;
        let batch = match corpus_folder(&documents, index.stores())? {
            Some(Stored::Index(index)) => {
                bail!("{} is an index; add what it was made of", index.folder().display())
            }
            Some(stored) => {
                check_pages(&reading.pages, false)?;
                check_boilerplate(reading.boilerplate, false)?;
                stored.refuse_results(&reading)?;
                stored.register(&reader.workspace.session, "added_", NEEDED).await?;
                let documents = reader.workspace.session.table("added_documents").await?;
                check_time_column(time_column.as_deref(), documents.schema().as_arrow())?;
                match stored {
                    Stored::Corpus(batch) => batch,
                    stored => reader.fetch(&stored)?,
                }
            }
            None => {
                let documents = reader.read(&documents, &reading, true)?;
                check_time_column(time_column.as_deref(), &documents.schema())?;
                reader.take_in("added_", documents, NEEDED, false).await?
            }
        };
        let ignored = match &base.ignored {
            Some(ignored) => Some(ignored.resolved(&reader, "ignored_").await?),
            None => None,
        };
        let problems = Problems::new(&reading.on_error);
        let (seals, refused, needed) = (seals(&batch, index.stores())?, HashSet::new(), addition.method.needed());
        Ok(Self {
            addition,
            delivery,
            needed,
            reading,
            folder,
            documents,
            ignored,
            reader,
            batch,
            seals,
            refused,
            problems,
            is_outdated: false,
        })
    }

    /// Runs the method over the index as it is now and adds the batch to it. Returns `None` if another run changed the
    /// index first.
    async fn attempt(&mut self) -> Result<Option<Summary>> {
        let method = self.addition.method.as_ref();
        let index = Index::open_to_add(&self.folder, self.reader.engine.stores())?;
        let time_column = time_column(&index, self.addition.time_column.as_deref())?;
        index.check_columns(&self.batch)?;
        let mut run = self.reader.again()?;
        ingest::register(&run.workspace.session, "added_", &self.batch, self.needed).await?;
        run.note_contents("added_", &Stored::Corpus(self.batch.clone()), self.needed).await?;
        // With a window, all parts are read only for their ids, and their sentences are neither read nor hashed.
        let looked_at = if method.window().is_some() { Needed::Documents } else { self.needed };
        self.open_index(&mut run, &index, looked_at).await?;
        if let Some(ignored) = &self.ignored {
            run.open_ignored(ignored, &self.reading).await?;
        }
        run.workspace.parameters = times(time_column.as_deref());
        let left_out = self.leave_out(&mut run).await?;
        let [_, new] = run.count("documents").await?;
        let times = if time_column.is_some() && new > 0 { Some(earliest_and_latest(&mut run).await?) } else { None };
        let compared = match (times, method.window()) {
            // There is nothing to find if no document is new.
            _ if new == 0 => Some(index.without_parts()),
            (Some(times), Some(window)) => Some(index.within(times, window)),
            _ => None,
        };
        if let Some(compared) = compared {
            for table in looked_at.tables() {
                run.workspace.session.deregister_table(*table)?;
            }
            self.open_index(&mut run, &compared, self.needed).await?;
        }
        let rows = method.find(&mut run, time_column.as_deref()).await?;
        let (result, count) = Written::write(&run, rows, &self.delivery).await?;
        let mut further = Vec::new();
        for (table, path, form) in &self.addition.further {
            let rows = method.table(table).context("the table was looked for")?;
            let rows = run.workspace.run_all(rows).await?.context("it is a query")?;
            further.push(run.stage(rows, path, *form, &run.workspace.parameters).await?.0);
        }
        if new > 0 && !index.is_newest()? {
            return Ok(None);
        }
        let left_out = Arc::new(left_out);
        let part = if new > 0 { Some(self.write_part(&index, &left_out, times).await?) } else { None };
        if seals(&self.batch, index.stores())? != self.seals {
            bail!("{} has changed while it was read; run it again", self.batch.display());
        }
        result.commit(&self.delivery, index.stores()).await?;
        self.is_outdated = false;
        for staged in further {
            staged.commit_unless_dropped(index.stores()).await?;
        }
        if let Some(part) = part
            && !index.append(part, time_column.as_deref())?
        {
            if matches!(self.delivery, Delivery::Print(..)) {
                bail!(
                    "another run changed {} while the rows above were printed: they are incomplete, and nothing was \
                     added; run it again",
                    self.folder.display()
                );
            }
            self.is_outdated = true;
            return Ok(None);
        }
        let mut counts = method.counts(&run);
        counts.extend([("new documents", new), (method.result(), count)]);
        let refused = self.refused.iter().filter(|id| left_out.contains(*id)).count();
        run.skip(self.refusals());
        if index.manifest().number == 0 && new > 0 {
            run.note_last(format!("made the index {}", self.folder.display()));
        }
        if left_out.len() > refused {
            run.note_last(format!(
                "{} documents of the batch were in the index already, with the same text, and were not added again",
                grouped((left_out.len() - refused) as u64)
            ));
        }
        method.summary(&mut run, counts).await.map(Some)
    }

    /// Writes the batch as a part of the index. If the future is dropped, the part is given up.
    async fn write_part(
        &self,
        index: &Index,
        left_out: &Arc<HashSet<String>>,
        times: Option<[i64; 2]>,
    ) -> Result<WrittenPart> {
        let given_up = GivenUp::default();
        let (told, left_out, batch) = (given_up.clone(), Arc::clone(left_out), self.batch.clone());
        let (to, documents, reading) = (index.clone(), self.documents.clone(), self.reading.clone());
        let write = move || to.write_part(&batch, &left_out, times, (&documents, &reading), told);
        write_unless_dropped(index.stores(), &given_up, write).await
    }

    /// Returns the error of the run. Adds that the file of the result was replaced, if its rows are incomplete.
    fn failed(&self, error: anyhow::Error) -> anyhow::Error {
        match self.delivery {
            Delivery::File(path, _) if self.is_outdated => {
                error.context(format!("{} was replaced, but its rows are incomplete", path.display()))
            }
            _ => error,
        }
    }

    /// Registers the tables of the index.
    async fn open_index(&self, run: &mut Run, index: &Index, needed: Needed) -> Result<()> {
        if !index.manifest().parts.is_empty() {
            let stored = Stored::Index(index.clone());
            stored.register(&run.workspace.session, "", needed).await?;
            return run.note_contents("", &stored, needed).await;
        }
        for table in needed.tables() {
            run.workspace.run(&none_of(table, &format!("added_{table}"))).await?;
        }
        Ok(())
    }

    /// Finds the documents of the batch that are not to be added, and registers the others as the other collection.
    /// Returns the ids of the former. Fails if a document cannot be added, unless such documents are to be skipped.
    async fn leave_out(&mut self, run: &mut Run) -> Result<HashSet<String>> {
        run.workspace.run_all(&[query::ADDED_LEFT_OUT]).await?;
        let refused = run.workspace.run_all(&[query::ADDED_REFUSED]).await?.context("it is a query")?;
        let from = self.documents.join(" ");
        for row in texts(refused).await? {
            let [id, reason, text] = row.as_slice() else { continue };
            if self.refused.insert(id.clone()) {
                let (why, remedy) = match reason.as_str() {
                    "changed" => (
                        format!("the document {id:?} is in the index already, with another text"),
                        "give it another id, or leave such documents out with `on_error = skip`",
                    ),
                    _ => (
                        format!("the document {id:?} has no time that can be read in the time column"),
                        "correct it, or leave such documents out with `on_error = skip`",
                    ),
                };
                self.problems.take(Problem::new(&from, why).showing(text.as_bytes(), 0).remedy(remedy))?;
            }
        }
        run.workspace.run_all(batch_tables(self.needed)).await?;
        let left_out = run.workspace.session.sql("SELECT doc_id FROM left_out").await?;
        Ok(texts(left_out).await?.into_iter().flatten().collect())
    }

    /// Returns the refused documents, in the form of a summary of reading.
    fn refusals(&self) -> corpus::Summary {
        corpus::Summary {
            files: 0,
            files_begun: 0,
            documents: 0,
            skipped: self.problems.skipped.clone(),
            skipped_count: self.problems.count,
            left_out: Default::default(),
            dropped: Default::default(),
            passed_over: Vec::new(),
        }
    }
}

/// Returns the times of the first and of the last new document, in microseconds since 1970.
async fn earliest_and_latest(run: &mut Run) -> Result<[i64; 2]> {
    let rows = run.workspace.run_all(&[query::ADDED_TIMES]).await?.context("it is a query")?.collect().await?;
    let time = |i: usize| {
        let column = rows.first().map(|row| row.column(i).as_primitive::<Int64Type>());
        column.and_then(|times| times.iter().next().flatten()).context("internal error: no time; please report it")
    };
    Ok([time(0)?, time(1)?])
}

/// A complete result that is not at its destination yet.
enum Written {
    File(Box<StagedFile>),
    Printed(PathBuf),
}

impl Written {
    async fn write(run: &Run, rows: DataFrame, delivery: &Delivery<'_>) -> Result<(Self, u64)> {
        match delivery {
            Delivery::File(path, form) => {
                let (staged, count) = run.stage(rows, path, *form, &run.workspace.parameters).await?;
                Ok((Self::File(Box::new(staged)), count))
            }
            Delivery::Print(form, _) => {
                let rows = rows.execute_stream().await?;
                let path = run.workspace.folder().join("printed");
                let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
                let count = write_rows(rows, *form, &run.about(), &mut BufWriter::new(file)).await?;
                Ok((Self::Printed(path), count))
            }
        }
    }

    async fn commit(self, delivery: &Delivery<'_>, stores: &Arc<Stores>) -> Result<()> {
        match (self, delivery) {
            (Self::File(staged), _) => staged.commit_unless_dropped(stores).await,
            (Self::Printed(path), Delivery::Print(_, print)) => print(&path),
            (Self::Printed(_), Delivery::File(..)) => {
                bail!("internal error: rows for a file were printed; please report it")
            }
        }
    }
}
