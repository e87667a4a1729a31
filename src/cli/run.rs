//! What the method commands have in common: a workspace, collections, a result, a summary.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, Schema, SchemaRef};
use clap::Args;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use ibid_udfs::similarity::Measure;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio::task::JoinError;

use super::Ending;
use super::add::{self, Addition, Finds};
use super::options::{InputOptions, OutputOptions, RunOptions, check_pages};
use super::signals;
use crate::corpus::ingest::{self, Ingested, Needed};
use crate::corpus::{self, Content, Documents, PassedOver, Summary};
use crate::export::{Form, Format, Manifest, StagedFile, StagedFolder, outbox, write_rows};
use crate::index::stored::{Stored, check_folder};
use crate::memory::pool::SharedPool;
use crate::memory::watch::{self, MOST};
use crate::pipeline::query::{self, Parameters, Query};
use crate::pipeline::{OnStage, StageCache, Workspace, is_out_of_memory};
use crate::recall::Recall;
use crate::session;
use crate::store::{Explained, Location, Object, redacted, redacted_url, stores};
use crate::terminal::{Screen, visible};

/// How many operators an error about memory names.
const NAMED_OPERATORS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// What a sort reserves to read back what it put on disk, in bytes, where there is no limit of memory.
const SORT_RESERVATION: usize = 10 << 20;

/// How much memory there is for each of the parts in which operators work side by side, in bytes.
const BYTES_OF_PARTITION: usize = 64 << 20;

/// How much memory a row may take on its way, in bytes, with all that is held of it between operators.
const BYTES_OF_ROW: usize = 1 << 20;

/// How much memory there is for each of the files that a part of a query merges at a time, in bytes.
const BYTES_OF_MERGED_FILE: usize = 4 << 20;

/// How much memory the program takes before it does anything, in bytes, most of it the pages of its file.
const BYTES_OF_PROGRAM: usize = 64 << 20;

/// Where this variable is `off`, operators are held to `--memory`, and the process is not.
const WATCH: &str = "IBID_MEMORY_WATCH";

/// How many capped texts and skipped records are listed on standard error.
pub(super) const LISTED: usize = 10;

/// How much memory a pair of places takes, in bytes.
pub(super) const BYTES_OF_PAIR: u64 = 200;

/// What to do about too many pairs of places.
pub(super) const FEWER_PLACES: &str =
    "lower --max-frequency, so that the most frequent texts are listed as capped instead, or raise --threshold";

/// Talks to the user, on standard error.
pub(super) fn say(text: &str) {
    let shown = if std::io::stderr().is_terminal() { visible(text) } else { Cow::Borrowed(text) };
    // There is nowhere left to complain if standard error is gone.
    let _ = writeln!(std::io::stderr(), "ibid: {shown}");
}

/// What a terminal at standard output may get.
static SCREEN: LazyLock<Option<Mutex<Screen>>> = LazyLock::new(|| std::io::stdout().is_terminal().then(Mutex::default));

/// Standard output. A terminal gets nothing from it that would command it.
pub(super) struct Out;

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &*SCREEN {
            Some(screen) => {
                let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
                screen.write_to(bytes, &mut std::io::stdout()).map(|()| bytes.len())
            }
            None => std::io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

/// Whether whoever read standard output has stopped reading.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// What errors of standard output say then. Writers of formats pass on nothing else of them.
const NOBODY_READS: &str = "nobody reads standard output any more";

/// Standard output, which remembers that nobody reads it any more.
pub(super) struct Stdout;

impl Stdout {
    fn noting<T>(outcome: std::io::Result<T>) -> std::io::Result<T> {
        outcome.map_err(|error| {
            if error.kind() != ErrorKind::BrokenPipe {
                return error;
            }
            CLOSED.store(true, Ordering::Relaxed);
            std::io::Error::new(ErrorKind::BrokenPipe, NOBODY_READS)
        })
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::noting(Out.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::noting(Out.flush())
    }
}

/// Whether standard output was closed while it was written.
pub(super) fn stdout_is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Whether an error says no more than that standard output was closed.
pub(super) fn is_of_closed_stdout(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains(NOBODY_READS))
}

/// An error and what led to it, each said once.
pub(super) fn describe(error: &anyhow::Error) -> String {
    let mut said = String::new();
    let of_store = Explained::of(error.as_ref()).map(ToString::to_string);
    for cause in error.chain() {
        let text = match cause.downcast_ref::<DataFusionError>().map(DataFusionError::find_root) {
            // The next cause is the error within, which has words of its own.
            Some(DataFusionError::SQL(error, _)) => error.to_string(),
            Some(error) => error.strip_backtrace(),
            None => cause.to_string(),
        };
        // What a store says has been told, in other words.
        let text = of_store.clone().filter(|of_store| text.contains(of_store)).unwrap_or(text);
        if !said.contains(&text) {
            let _ = write!(said, "{}{text}", if said.is_empty() { "" } else { ": " });
        }
    }
    if is_out_of_memory(error) && !said.contains("--memory") {
        said.push_str("; raise --memory, or give it where it is not given: all joins can go to disk then");
    }
    if is_panic(error) {
        said.push_str("; this is an internal error, please report it with the command that did it");
    }
    redacted(&said)
}

/// Whether a thread of the query engine panicked, which it says as an error.
pub(super) fn is_panic(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let shared = cause.downcast_ref::<Arc<JoinError>>().map(Arc::as_ref);
        shared.or_else(|| cause.downcast_ref()).is_some_and(JoinError::is_panic)
    })
}

/// Has further results take their places once the rows are written, or nobody reads them any more.
pub(super) fn place_further(further: Vec<StagedFile>, written: Result<u64>) -> Result<u64> {
    if written.is_ok() || stdout_is_closed() {
        further.into_iter().for_each(outbox::keep);
    }
    written
}

/// A command that is under way.
pub(super) struct Run<'a> {
    pub(super) workspace: Workspace,
    options: &'a RunOptions,
    progress: ProgressBar,
    began: Instant,
    /// What was read that was not a corpus yet.
    read: Vec<Summary>,
    /// How many documents a method left out.
    left_out: u64,
    /// What the tables of the collections hold.
    contents: Vec<Value>,
}

impl<'a> Run<'a> {
    pub(super) fn begin(options: &'a RunOptions) -> Result<Self> {
        let progress = if options.quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            let spinner =
                ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}")?);
            spinner.enable_steady_tick(Duration::from_millis(200));
            spinner
        };
        let shown = progress.clone();
        let on_stage: OnStage = Box::new(move |file| shown.set_message(file));
        let mut workspace = Workspace::try_new(|folder| new_session(options, folder), on_stage)?;
        // Sorting takes longer, and what a machine has is enough for most joins.
        workspace.hashes_rows = options.memory.is_none();
        if let Some(folder) = &options.resume {
            workspace.finished = Some(StageCache::at(folder)?);
            check_folder(folder).context("cannot keep tables there with --resume")?;
        }
        Ok(Self {
            workspace,
            options,
            progress,
            began: Instant::now(),
            read: Vec::new(),
            left_out: 0,
            contents: Vec::new(),
        })
    }

    /// The same command once more, from its beginning, but for what it has read.
    pub(super) fn again(&self) -> Result<Self> {
        let mut run = Self::begin(self.options)?;
        (run.began, run.read) = (self.began, self.read.clone());
        Ok(run)
    }

    /// Opens the collection of a method and the one to compare it with, known as `documents`, `sentences`,
    /// `against_documents` and `against_sentences` then: a corpus folder as it stands, anything else read into the workspace
    /// first. Where there is no other collection its tables are there, without rows. Gives the collections.
    pub(super) async fn open_both(&mut self, compared: &Compared<'_>) -> Result<Vec<Stored>> {
        self.open_checked(compared, |_, _| Ok(())).await
    }

    /// As [`Self::open_both`], once `check` has found nothing wrong with the columns of each table of documents. They are
    /// known before any document is read.
    pub(super) async fn open_checked(
        &mut self,
        compared: &Compared<'_>,
        check: impl Fn(&str, &Schema) -> Result<()>,
    ) -> Result<Vec<Stored>> {
        let other = compared.against.map(|input| ("against_", std::slice::from_ref(input)));
        if compared.against.is_some_and(|other| other == "-" && compared.inputs.contains(other)) {
            bail!("- (standard input) can be read only once; name a file for one of the two collections");
        }
        let mut collections = Vec::new();
        for (prefix, inputs) in std::iter::once(("", compared.inputs)).chain(other) {
            let collection = self.open(prefix, inputs, compared).await?;
            check(&format!("{prefix}documents"), &collection.columns())?;
            collections.push((prefix, collection));
        }
        if collections.iter().all(|(_, collection)| matches!(collection, Collection::Stored(..))) {
            check_read(&compared.reading)?;
        }
        let mut stored = Vec::new();
        for (prefix, collection) in collections {
            stored.push(match collection {
                Collection::Stored(collection, _) => {
                    self.note_contents(prefix, &collection, compared.needed).await?;
                    collection
                }
                Collection::Read(documents) => Stored::Corpus(self.take_in(prefix, *documents, compared.needed).await?),
            });
        }
        if compared.against.is_none() {
            for statement in compared.no_other_collection() {
                self.workspace.run(&statement).await?;
            }
        }
        Ok(stored)
    }

    /// Opens what there is to read, and makes a collection known that is stored.
    async fn open(&self, prefix: &str, inputs: &[String], compared: &Compared<'_>) -> Result<Collection> {
        // Beside another collection it is enough that one of the two is a dump.
        let alone = compared.against.is_none();
        let Some(stored) = corpus_folder(inputs)? else {
            return Ok(Collection::Read(Box::new(self.read(inputs, &compared.reading, alone)?)));
        };
        check_pages(&compared.reading.pages, !alone)?;
        stored.refuse_results(&compared.reading)?;
        let session = &self.workspace.session;
        stored.register(session, prefix, compared.needed).await?;
        let columns = Arc::clone(session.table(format!("{prefix}documents")).await?.schema().inner());
        Ok(Collection::Stored(stored, columns))
    }

    /// Reads documents into the workspace, and makes them known.
    pub(super) async fn take_in(&mut self, prefix: &str, documents: Documents, needed: Needed) -> Result<PathBuf> {
        let folder = self.workspace.folder().join(format!("{prefix}corpus"));
        std::fs::create_dir(&folder).context("cannot make a temporary folder")?;
        let (ingested, folder) = self.ingest(documents, None, &folder, needed).await?;
        self.read.push(ingested.summary);
        ingest::register(&self.workspace.session, prefix, &folder, needed).await?;
        self.note_contents(prefix, &Stored::Corpus(folder.clone()), needed).await?;
        Ok(folder)
    }

    /// Notes what results will be made of: the tables of a collection that is known.
    pub(super) async fn note_contents(&mut self, prefix: &str, collection: &Stored, needed: Needed) -> Result<()> {
        let contents = collection.contents(prefix, needed)?;
        if let Some(finished) = &self.workspace.finished {
            for table in needed.tables() {
                let name = format!("{prefix}{table}");
                let seals: Option<String> = contents
                    .iter()
                    .filter(|content| content["table"] == *name)
                    .map(|content| content["seal"].as_str())
                    .collect();
                if let Some(key) = seals.and_then(|seals| finished.key([seals.as_str()], &[])) {
                    finished.note(self.workspace.session.table_provider(name).await?, key);
                }
            }
        }
        self.contents.retain(|noted| contents.iter().all(|content| content["table"] != noted["table"]));
        self.contents.extend(contents);
        Ok(())
    }

    /// What a result is: the version of ibid, the parameters, and what it was made of.
    pub(super) fn about(&self) -> Value {
        self.about_with(&self.workspace.parameters)
    }

    fn about_with(&self, parameters: &Parameters) -> Value {
        json!({
            "ibid": env!("CARGO_PKG_VERSION"),
            "parameters": parameters.to_json(),
            "inputs": self.contents,
        })
    }

    /// Copies a corpus of an object store into the workspace.
    pub(super) fn fetch(&self, corpus: &Stored) -> Result<PathBuf> {
        let folder = self.workspace.folder().join("fetched");
        std::fs::create_dir(&folder).context("cannot make a temporary folder")?;
        for table in Needed::DocumentsAndSentences.tables() {
            for file in corpus.files(table) {
                let failed = || format!("cannot read {}", file.display());
                let location = Location::of_path(&file)?.with_context(failed)?;
                let object = Object::find(&location)?.with_context(failed)?;
                let copy = folder.join(format!("{table}.parquet"));
                let mut to =
                    std::fs::File::create(&copy).with_context(|| format!("cannot write {}", copy.display()))?;
                std::io::copy(&mut object.reader()?, &mut to).with_context(failed)?;
            }
        }
        Ok(folder)
    }

    /// Opens what there is to read. `alone` says that nothing else is read.
    pub(super) fn read(&self, inputs: &[String], reading: &corpus::Options, alone: bool) -> Result<Documents> {
        self.progress.set_message("reading");
        let reading = corpus::Options { memory: self.options.memory, ..reading.clone() };
        let documents = corpus::open(inputs, &reading)?;
        check_pages(&reading.pages, !alone || documents.reads_dumps())?;
        Ok(documents)
    }

    /// Reads documents into a folder, or finds that where an earlier run has read the same; gives the folder they are in.
    /// What is in their files, where that is known, must not change meanwhile.
    pub(super) async fn ingest(
        &self,
        documents: Documents,
        content: Option<Content>,
        folder: &Path,
        needed: Needed,
    ) -> Result<(Ingested, PathBuf)> {
        let inputs = documents.inputs();
        let finished = self.workspace.finished.as_ref().filter(|_| inputs.are_whole());
        let content = match content {
            None if finished.is_some() => Some(inputs.content()?),
            known => known,
        };
        let summary = documents.summary();
        let read = async |folder: &Path| {
            let ingested = ingest::ingest(&self.workspace.session, documents, folder, needed).await?;
            content.map_or(Ok(()), |content| inputs.check(content))?;
            anyhow::Ok(ingested)
        };
        let Some((finished, content)) = finished.zip(content) else {
            return Ok((read(folder).await?, folder.to_path_buf()));
        };
        // Where results go makes no other rows.
        let options = corpus::Options { results: Vec::new(), ..inputs.options.clone() };
        let reading = format!("{} {options:?} {needed:?}", content.to_json());
        let key = finished.key([reading.as_str()], &[]).context("it is made of no table")?;
        if let Some((folder, noted)) = finished.take(key)? {
            return Ok((Ingested::of_json(summary, &noted["noted"]), folder));
        }
        let staged = finished.begin(key)?;
        let ingested = read(staged.path()).await?;
        let folder = finished.keep(key, staged, &ingested.to_json())?;
        Ok((ingested, folder))
    }

    /// Fails if there would be more than `most` pairs, by the query that estimates them.
    pub(super) async fn refuse_more_pairs(&mut self, estimate: Query, most: u64, remedy: &str) -> Result<()> {
        let [pairs] = self.numbers(estimate).await?;
        if pairs > most {
            bail!(
                "this would make {} pairs of places, more than --max-pairs {most}: {remedy}; or raise --max-pairs, if \
                 there is memory for some {BYTES_OF_PAIR} bytes a pair",
                grouped(pairs)
            );
        }
        Ok(())
    }

    /// The numbers that a query gives as columns of BIGINT of one row.
    pub(super) async fn numbers<const N: usize>(&mut self, query: Query) -> Result<[u64; N]> {
        let rows = self.workspace.run_all(&[query]).await?.context("numbers come of a query")?;
        let rows = rows.collect().await.with_context(|| format!("in queries/{}", query.file))?;
        let number = |i: usize| {
            let number = rows.first().map_or(0, |row| row.column(i).as_primitive::<Int64Type>().value(0));
            u64::try_from(number).unwrap_or(u64::MAX)
        };
        Ok(std::array::from_fn(number))
    }

    /// The rows of a query as a table for people.
    pub(super) async fn shown(&mut self, query: Query) -> Result<String> {
        let rows = self.workspace.run_all(&[query]).await?.context("it is a query")?;
        let shown = rows.to_string().await.with_context(|| format!("in queries/{}", query.file))?;
        // Without rows there are no columns, either.
        Ok(if shown.starts_with("++") { "none".to_string() } else { shown })
    }

    /// Says how many rows a query gives, if there are any, what of, and the first of them.
    pub(super) async fn list(&mut self, query: Query, what: &str) -> Result<u64> {
        let rows = self.workspace.run_all(&[query]).await?.context("it is a query")?;
        let count = rows.clone().count().await.with_context(|| format!("in queries/{}", query.file))?;
        if count > 0 {
            let shown = rows.limit(0, Some(LISTED))?.to_string().await?;
            self.say(&format!("{} {what}\n{shown}", grouped(count as u64)));
        }
        Ok(count as u64)
    }

    /// What was found of the pairs of the table `sampled`; `is_all` says that nothing was left out of the sample.
    pub(super) async fn recall(&mut self, is_all: bool) -> Result<Recall> {
        Ok(Recall::of_sums(self.numbers(query::CERTIFICATE_RECALL).await?, is_all))
    }

    /// Says what was found of the pairs of a sample `of` something.
    pub(super) fn say_recall(&self, of: &str, recall: Recall) {
        self.say(&format!(
            "of a sample of {of} {} of {} pairs were found: {}",
            grouped(recall.found),
            grouped(recall.pairs),
            recall.describe()
        ));
    }

    /// Writes the result and says how many rows it has.
    pub(super) async fn write(&self, rows: DataFrame, output: &OutputOptions) -> Result<u64> {
        self.write_with(rows, output, &self.workspace.parameters).await
    }

    /// The same of a result of other parameters.
    pub(super) async fn write_with(
        &self,
        rows: DataFrame,
        output: &OutputOptions,
        parameters: &Parameters,
    ) -> Result<u64> {
        let form = output.form()?;
        if let Some(path) = &output.output {
            let (staged, count) = self.stage(rows, path, form, parameters).await?;
            staged.commit()?;
            return Ok(count);
        }
        self.progress.set_message("writing");
        let rows = rows.execute_stream().await?;
        self.progress.finish_and_clear();
        write_rows(rows, form, &self.about_with(parameters), &mut std::io::BufWriter::new(Stdout)).await
    }

    /// Writes the result beside its place, and says how many rows it has.
    pub(super) async fn stage(
        &self,
        rows: DataFrame,
        path: &Path,
        form: Form,
        parameters: &Parameters,
    ) -> Result<(StagedFile, u64)> {
        self.progress.set_message("writing");
        let about = self.about_with(parameters);
        let stage = async |rows: DataFrame| {
            let rows = rows.execute_stream().await?;
            let mut staged = StagedFile::create(path)?;
            let count = write_rows(rows, form, &about, &mut std::io::BufWriter::new(&mut staged)).await?;
            anyhow::Ok((staged, count))
        };
        let sorting = self.workspace.joined_by_sorting(&rows);
        match (stage(rows).await, sorting) {
            (Err(error), Some(sorting)) if is_out_of_memory(&error) => stage(sorting).await,
            (staged, _) => staged,
        }
    }

    /// Writes a further result beside its place.
    pub(super) async fn stage_further(
        &self,
        rows: DataFrame,
        path: &Path,
        writing: &OutputOptions,
    ) -> Result<StagedFile> {
        let form = writing.beside(path).form()?;
        Ok(self.stage(rows, path, form, &self.workspace.parameters).await?.0)
    }

    /// Writes further tables beside their places.
    pub(super) async fn stage_all(
        &mut self,
        further: &[Further<'_>],
        writing: &OutputOptions,
    ) -> Result<Vec<StagedFile>> {
        let mut staged = Vec::new();
        for table in further {
            let rows = self.workspace.run_all(table.rows).await?.context("it is a query")?;
            staged.push(self.stage_further(rows, table.path, writing).await?);
        }
        Ok(staged)
    }

    /// Writes a table of a folder.
    pub(super) async fn write_into(&self, folder: &StagedFolder, name: &str, rows: DataFrame) -> Result<u64> {
        let output = Some(folder.path().join(format!("{name}.parquet")));
        self.write(rows, &OutputOptions { output, ..Default::default() }).await
    }

    /// How many rows a table of the collection has, and that of the other collection.
    pub(super) async fn count(&self, table: &str) -> Result<[u64; 2]> {
        let session = &self.workspace.session;
        let other = session.table(format!("against_{table}")).await?.count().await?;
        Ok([session.table(table).await?.count().await? as u64, other as u64])
    }

    /// Ends the progress.
    pub(super) fn clear(&self) {
        self.progress.finish_and_clear();
    }

    /// Ends the progress and says what reading left out.
    pub(super) fn end_reading(&self) {
        self.progress.finish_and_clear();
        if !self.options.quiet {
            self.read.iter().for_each(list_left_out);
        }
    }

    /// How many records reading left out, and documents a method.
    pub(super) fn skipped(&self) -> u64 {
        self.read.iter().map(|summary| summary.skipped_count).sum::<u64>() + self.left_out
    }

    /// Counts documents that a method leaves out, and lists.
    pub(super) fn leave_out(&mut self, documents: u64) {
        self.left_out += documents;
    }

    /// Counts more records that were left out.
    pub(super) fn skip(&mut self, summary: Summary) {
        self.read.push(summary);
    }

    /// Whether something was read that is not a corpus.
    pub(super) fn has_read(&self) -> bool {
        !self.read.is_empty()
    }

    /// Writes another table into a file.
    pub(super) async fn write_table(&self, sql: &str, output: &OutputOptions) -> Result<u64> {
        let rows = self.workspace.session.sql(sql).await?;
        self.write(rows, output).await
    }

    /// The capped texts.
    pub(super) async fn capped(&self) -> Result<DataFrame> {
        Ok(self.workspace.session.sql("SELECT * FROM capped ORDER BY pairs_not_made DESC, text").await?)
    }

    /// Ends the command: the summary, what was left out, the exit code. `fate` is what became of capped texts, where there may be
    /// some.
    pub(super) async fn end(self, counts: &[(&str, u64)], fate: Option<&str>) -> Result<Ending> {
        let capped_count = self.workspace.rows_of(query::TEXTS_CAPPED);
        self.summarise(counts, fate.map(|_| capped_count));
        if let Some(fate) = fate.filter(|_| !self.options.quiet && capped_count > 0) {
            self.list_capped(capped_count, fate).await?;
        }
        self.say_twins("; --within-documents does that");
        Ok(self.ending(capped_count))
    }

    /// Says how many documents were not compared with themselves, and what does that.
    pub(super) fn say_twins(&self, remedy: &str) {
        let twins = self.workspace.rows_of(query::UNITS_TWINS);
        if twins > 0 {
            self.say(&format!(
                "{} documents stand in both collections, with the same id and the same text, and were not compared with \
                 themselves{remedy}",
                grouped(twins)
            ));
        }
    }

    /// Says what there was, and in what time.
    pub(super) fn summarise(&self, counts: &[(&str, u64)], capped: Option<u64>) {
        self.progress.finish_and_clear();
        let left_out = capped.map(|capped| ("capped", capped)).into_iter().chain([("skipped", self.skipped())]);
        let parts = counts.iter().copied().chain(left_out);
        let parts: Vec<_> = parts.map(|(name, n)| format!("{name} {}", grouped(n))).collect();
        self.say(&format!("{} ({:.1} s)", parts.join(", "), self.began.elapsed().as_secs_f64()));
        if !self.options.quiet {
            say_traffic();
        }
    }

    /// Says something, unless nothing is to be said.
    pub(super) fn say(&self, text: &str) {
        if !self.options.quiet {
            say(text);
        }
    }

    /// Says what reading left out, and how the command ends.
    pub(super) fn ending(&self, capped: u64) -> Ending {
        self.end_reading();
        if capped + self.skipped() > 0 && self.options.strict { Ending::NotStrict } else { Ending::Done }
    }

    async fn list_capped(&self, count: u64, fate: &str) -> Result<()> {
        let sql = format!(
            "SELECT df, units, pairs_not_made, substr(text, 1, 60) AS text, example FROM capped \
             ORDER BY pairs_not_made DESC, text LIMIT {LISTED}"
        );
        let shown = self.workspace.session.sql(&sql).await?.to_string().await?;
        say(&format!(
            "{} texts stand in more places than --max-frequency allows: {fate}; --capped FILE lists them all\n{shown}",
            grouped(count)
        ));
        Ok(())
    }
}

/// Says what went to and from object stores.
pub(super) fn say_traffic() {
    for (name, traffic) in stores().traffic() {
        let [read, written] = [traffic.read(), traffic.written()].map(bytes_for_people);
        let wrote = if traffic.written() > 0 { format!(", wrote {written}") } else { String::new() };
        say(&format!("{name}: read {read}{wrote} in {} requests", grouped(traffic.requests())));
    }
}

/// A number of bytes.
fn bytes_for_people(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let of = |unit: u32| bytes as f64 / f64::from(unit);
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", of(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", of(1_000_000)),
        _ => format!("{:.1} GB", of(1_000_000_000)),
    }
}

/// Lists what reading left out.
pub(super) fn list_left_out(summary: &Summary) {
    for skipped in summary.skipped.iter().take(LISTED) {
        say(&format!("skipped {skipped}"));
    }
    if summary.skipped_count > LISTED as u64 {
        say(&format!("… {} skipped in all; --on-error quarantine keeps them", grouped(summary.skipped_count)));
    }
    if summary.left_out.pages() > 0 {
        say(&format!("left out on request: {}", summary.left_out));
    }
    for passed_over in PassedOver::summarize(&summary.passed_over) {
        say(&format!("passed over {passed_over}"));
    }
}

/// A collection that was opened.
enum Collection {
    /// What needs not be read in, with the columns of its documents.
    Stored(Stored, SchemaRef),
    /// What is to be read.
    Read(Box<Documents>),
}

impl Collection {
    /// The columns of the documents.
    fn columns(&self) -> SchemaRef {
        match self {
            Self::Stored(_, columns) => Arc::clone(columns),
            Self::Read(documents) => documents.schema(),
        }
    }
}

/// The collections that a method compares.
pub(super) struct Compared<'a> {
    pub(super) inputs: &'a [String],
    /// The other collection; `None` where the first is compared with itself.
    pub(super) against: Option<&'a String>,
    pub(super) reading: corpus::Options,
    pub(super) needed: Needed,
}

impl Compared<'_> {
    /// What stands in the place of the other collection where there is none.
    fn no_other_collection(&self) -> impl Iterator<Item = String> {
        self.needed
            .tables()
            .iter()
            .map(|table| format!("CREATE VIEW against_{table} AS SELECT * FROM {table} WHERE false"))
    }

    /// Prints what would run as a script for `ibid sql`: the statements, each part with its parameters.
    pub(super) fn show_sql(&self, parts: &[(Parameters, Vec<Query>)]) -> Result<Ending> {
        let mut script = Vec::new();
        let other = self.against.map(|input| ("against_", std::slice::from_ref(input)));
        for (prefix, inputs) in std::iter::once(("", self.inputs)).chain(other) {
            match corpus_folder(inputs)? {
                Some(stored) => script.extend(stored.statements(prefix, self.needed)?),
                None => script.extend(read_first(prefix, inputs, &self.reading, self.needed)),
            }
        }
        if self.against.is_none() {
            script.extend(self.no_other_collection());
        }
        show_script(&script, parts)
    }
}

/// Inputs as they are written, without secrets.
pub(super) fn shown(inputs: &[String]) -> String {
    inputs.iter().map(|input| redacted_url(input)).collect::<Vec<_>>().join(" ")
}

/// The statements that make inputs known once they have been read in.
pub(super) fn read_first(prefix: &str, inputs: &[String], reading: &corpus::Options, needed: Needed) -> Vec<String> {
    let corpus = format!("{prefix}corpus");
    let mut statements: Vec<_> = needed
        .tables()
        .iter()
        .map(|table| ingest::statement(prefix, &Path::new(&corpus).join(format!("{table}.parquet")), table))
        .collect();
    if let Some(first) = statements.first_mut() {
        let inputs = inputs.iter().map(|input| quoted(&redacted_url(input)));
        // A text that is optional is one of a method that reads other columns.
        let text_column = reading.text_column.as_ref().filter(|_| !reading.text_is_optional);
        let columns = [("--text-column", text_column), ("--id-column", reading.id_column.as_ref())];
        let columns = columns.into_iter().filter_map(|(option, name)| Some(format!("{option} {}", quoted(name?))));
        let skips = (reading.on_error != corpus::OnError::Fail).then(|| "--on-error skip".to_owned());
        let arguments: Vec<_> = inputs.chain(columns).chain(skips).collect();
        first.insert_str(0, &format!("-- first: ibid ingest {} -o {corpus}\n", arguments.join(" ")));
    }
    statements
}

/// An argument as a shell takes it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// Prints statements, and those of `parts` with their parameters, without the secrets of URLs.
pub(super) fn show_script(statements: &[String], parts: &[(Parameters, Vec<Query>)]) -> Result<Ending> {
    let mut script = String::new();
    for statement in statements {
        let _ = writeln!(script, "{statement};");
    }
    for (parameters, queries) in parts {
        for query in queries {
            let sql = parameters.bind(query.sql)?;
            let _ = write!(script, "\n-- queries/{}\n{};\n", query.file, sql.trim_end());
        }
    }
    let mut shown = redacted(&script);
    if shown.contains("***") {
        shown.insert_str(0, "-- secrets of URLs are left out: write them in the places of ***\n");
    }
    Stdout.write_all(shown.as_bytes())?;
    Ok(Ending::Done)
}

/// A further table that a method writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Further<'a> {
    pub(super) path: &'a Path,
    /// From what the method has made to the rows.
    pub(super) rows: &'a [Query],
}

/// How texts are compared, for what is said of them from a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    /// What is compared: `sentences` or `documents`; and the view that gives them.
    pub(super) unit: (&'static str, Query),
    pub(super) signature: Query,
    /// The stage that links similar texts, and the condition of its similarity join.
    pub(super) links: Query,
    pub(super) join: (Measure, f64),
    /// Parameters that are numbers of texts, of which a sample has fewer.
    pub(super) in_texts: &'static [(&'static str, i64)],
    /// The option that limits frequency, and its value: a text in more places makes no pairs.
    pub(super) limit: (&'static str, u32),
}

impl Texts {
    /// The stages up to the matches between texts.
    pub(super) fn stages(&self) -> Vec<Query> {
        vec![
            query::UNITS_DOCS,
            query::UNITS_TWINS,
            self.unit.1,
            self.signature,
            query::TEXTS,
            query::TEXTS_OCCURRENCES,
            self.links,
            query::TEXTS_MATCHES,
            query::TEXTS_PAIRS,
            query::TEXTS_CAPPED,
        ]
    }
}

/// A method that finds what is similar, ready to run.
pub(super) struct Method<'a> {
    pub(super) inputs: &'a [String],
    pub(super) options: &'a MethodOptions,
    pub(super) writing: &'a OutputOptions,
    pub(super) reading: &'a InputOptions,
    pub(super) running: &'a RunOptions,
    pub(super) parameters: Parameters,
    /// The tables of a collection that it reads.
    pub(super) needed: Needed,
    /// The stages up to the estimate.
    pub(super) before: Vec<Query>,
    /// The estimate of the pairs of places, and the remedy against too many.
    pub(super) estimate: (Query, &'static str),
    /// The stages from there to the result; the last is a query.
    pub(super) pairs: Vec<Query>,
    pub(super) further: Vec<Further<'a>>,
    /// The tables beside the result where this is a folder; none where it cannot be one.
    pub(super) folder: &'static [(&'static str, &'static [Query])],
    /// How it compares texts, if it does.
    pub(super) texts: Option<Texts>,
    /// The tables whose rows the summary counts, and what it calls them and the rows of the result.
    pub(super) counts: Vec<(&'static str, Query)>,
    pub(super) result: &'static str,
    /// Numbers for the summary, and what it calls them.
    pub(super) summed: Option<(Query, [&'static str; 3])>,
    /// Says of capped texts, where there may be some, what became of them.
    pub(super) fate: Option<&'static str>,
}

impl Method<'_> {
    fn compared(&self) -> Compared<'_> {
        Compared {
            inputs: self.inputs,
            against: self.options.against.as_ref(),
            reading: self.reading.reading(),
            needed: self.needed,
        }
    }

    /// All stages.
    pub(super) fn stages(&self) -> Vec<Query> {
        self.before.iter().chain(&self.pairs).copied().collect()
    }

    /// Makes sure that all that is asked for can be written, and opens the collections. Gives these, too.
    pub(super) async fn begin(&self) -> Result<(Run<'_>, Vec<Stored>)> {
        let mut run = Run::begin(self.running)?;
        let places = self.writing.check(&self.further.iter().map(|table| table.path).collect::<Vec<_>>())?;
        self.reading.begin(places)?;
        let stored = run.open_both(&self.compared()).await?;
        Ok((run, stored))
    }

    pub(super) async fn run(self) -> Result<Ending> {
        match (self.options.show_sql, self.options.add.is_empty()) {
            (true, true) => return self.compared().show_sql(&[(self.parameters.clone(), self.stages())]),
            (true, false) => return add::show_sql(&self, self.addition()),
            (false, false) => return add::run(&self, self.addition()).await,
            (false, true) => {}
        }
        if let Some(folder) = self.writing.folder().filter(|_| !self.folder.is_empty()) {
            return self.write_folder(folder).await;
        }
        let mut run = self.begin().await?.0;
        let rows = self.find(&mut run, None).await?;
        let further = run.stage_all(&self.further, self.writing).await?;
        let count = place_further(further, run.write(rows, self.writing).await)?;
        let mut counts = self.counts(&run);
        counts.push((self.result, count));
        self.end(run, &counts).await
    }

    /// Writes a folder of tables.
    async fn write_folder(&self, folder: &Path) -> Result<Ending> {
        if !self.further.is_empty() || self.writing.format.is_some_and(|format| format != Format::Parquet) {
            bail!(
                "{}: it is a folder; name a file to have another format, or the files of further tables: a folder gets all of \
                 them as Parquet",
                folder.display()
            );
        }
        let mut run = Run::begin(self.running)?;
        self.reading.begin_folder(folder, self.running)?;
        let tables: Vec<_> = std::iter::once(self.result).chain(self.folder.iter().map(|(name, _)| *name)).collect();
        let files: Vec<_> = tables.iter().map(|name| format!("{name}.parquet")).collect();
        let staged = StagedFolder::create(folder, &files.iter().map(String::as_str).collect::<Vec<_>>())?;
        run.open_both(&self.compared()).await?;
        let rows = self.find(&mut run, None).await?;
        let count = run.write_into(&staged, self.result, rows).await?;
        for (name, rows) in self.folder {
            let rows = run.workspace.run_all(rows).await?.context("a table is a query")?;
            run.write_into(&staged, name, rows).await.with_context(|| format!("in the table {name}"))?;
        }
        Manifest::write(staged.path(), &run.about())?;
        staged.commit()?;
        let mut counts = self.counts(&run);
        counts.push((self.result, count));
        self.end(run, &counts).await
    }

    fn addition(&self) -> Addition<'_> {
        Addition {
            inputs: self.inputs,
            add: &self.options.add,
            time_column: self.options.time_column.as_deref(),
            window: None,
            needed: self.needed,
            further: &self.further,
            writing: self.writing,
            reading: self.reading,
            running: self.running,
            result: self.result,
        }
    }
}

impl Finds for Method<'_> {
    /// Runs the stages up to the estimate, then, if there would not be too many pairs, to the end.
    async fn find(&self, run: &mut Run<'_>, _: Option<&str>) -> Result<DataFrame> {
        run.workspace.parameters = self.parameters.clone();
        run.workspace.run_all(&self.before).await?;
        let (estimate, remedy) = self.estimate;
        run.refuse_more_pairs(estimate, self.options.max_pairs, remedy).await?;
        run.workspace.run_all(&self.pairs).await?.context("the last statement is a query")
    }

    fn script(&self, _: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>> {
        Ok(vec![(self.parameters.clone(), self.stages())])
    }

    fn counts(&self, run: &Run<'_>) -> Vec<(&'static str, u64)> {
        self.counts.iter().map(|(name, table)| (*name, run.workspace.rows_of(*table))).collect()
    }

    async fn end(&self, mut run: Run<'_>, counts: &[(&str, u64)]) -> Result<Ending> {
        let mut counts = counts.to_vec();
        if let Some((query, names)) = self.summed {
            counts.extend(names.into_iter().zip(run.numbers::<3>(query).await?));
        }
        run.end(&counts, self.fate).await
    }
}

/// How a method that compares texts runs.
#[derive(Debug, Args)]
pub(super) struct MethodOptions {
    /// Compare with this collection instead of with itself; the first of each pair is then from the input, the second
    /// from here
    #[arg(long, value_name = "INPUT")]
    pub(super) against: Option<String>,
    /// Add these documents to the index that the input is, once the rows are written that involve them; the index is made where
    /// there is none
    #[arg(long, value_name = "NEW", num_args = 1.., conflicts_with = "against")]
    pub(super) add: Vec<String>,
    /// The column that says when a document is of, for the first --add to an index: a date, a timestamp, a number of seconds
    /// since 1970, or text that is one of them
    #[arg(long, value_name = "NAME", requires = "add")]
    pub(super) time_column: Option<String>,
    /// Look for pairs within each document, too; with --against, compare a document that stands in both collections, with
    /// the same id and the same text, with itself
    #[arg(long)]
    pub(super) within_documents: bool,
    /// The most pairs of places to make; more are refused beforehand, since each takes some 200 bytes of memory
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_pairs: u64,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    pub(super) show_sql: bool,
}

impl MethodOptions {
    pub(super) fn set(&self, parameters: &mut Parameters) {
        parameters.set("against", self.against.is_some());
        parameters.set("add", !self.add.is_empty());
        parameters.set("within_documents", self.within_documents);
    }

    /// The stage that makes pairs of units.
    pub(super) fn unit_pairs(&self) -> Query {
        if self.add.is_empty() { query::PAIRS_UNIT_PAIRS } else { query::ADDED_UNIT_PAIRS }
    }
}

/// Limits on texts that stand in very many places.
#[derive(Debug, Args)]
pub(super) struct CapOptions {
    /// A text that stands in more places than this founds no pair: it is counted, and listed as capped
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_frequency: u32,
    /// Write the table of capped texts to this file: text, df (documents), units (places), pairs_not_made, example
    #[arg(long, value_name = "FILE")]
    capped: Option<PathBuf>,
}

impl CapOptions {
    /// The file of capped texts, where one is asked for.
    pub(super) fn further(&self) -> Vec<Further<'_>> {
        self.capped.iter().map(|path| Further { path, rows: &[query::TEXTS_CAPPED_ROWS] }).collect()
    }
}

/// The corpus folder or the index that `inputs` name, if they name one.
pub(super) fn corpus_folder(inputs: &[String]) -> Result<Option<Stored>> {
    if let [one] = inputs {
        return Stored::at(Path::new(one));
    }
    for path in inputs {
        if let Some(stored) = Stored::at(Path::new(path))? {
            bail!("{path} is {}; give it alone, or ingest everything into one corpus first", stored.kind());
        }
    }
    Ok(None)
}

/// Fails where columns are named of which a collection was made already.
fn check_read(reading: &corpus::Options) -> Result<()> {
    let text_column = reading.text_column.is_some() && !reading.text_is_optional;
    if text_column || reading.id_column.is_some() {
        bail!(
            "--text-column and --id-column are for reading raw input, and what is named is read already; give them to ibid \
             ingest"
        );
    }
    Ok(())
}

/// A session with the limits that the user set, or those of the machine, which spills into `folder`.
fn new_session(options: &RunOptions, folder: &Path) -> Result<SessionContext> {
    let mut config = SessionConfig::new();
    // Without, a large file of CSV is cut anywhere, and rows with ends of lines in quotes become others.
    config.options_mut().catalog.newlines_in_values = true;
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(usize::from(threads));
    }
    let mut spills = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.to_path_buf()]));
    let stores = Arc::clone(stores());
    let mut runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores);
    if let Some(memory) = options.memory() {
        let pool = for_operators(memory);
        // Each partition of each operator has buffers of its own.
        let partitions = (memory / BYTES_OF_PARTITION).clamp(1, config.target_partitions());
        config = config.with_target_partitions(partitions);
        // What is on its way from operator to operator is reserved by none.
        let rows = memory / config.target_partitions() / BYTES_OF_ROW;
        let most = config.batch_size();
        config = config.with_batch_size(rows.clamp(128.min(most), most));
        // Of this much each sort is sure when it reads back what it put on disk.
        let of_sort = pool / 128 / config.target_partitions();
        config = config.with_sort_spill_reservation_bytes(of_sort.min(SORT_RESERVATION));
        // A file that is merged with others has buffers that nothing reserves.
        spills =
            spills.with_max_spill_merge_fan_in((memory / config.target_partitions() / BYTES_OF_MERGED_FILE).max(2));
        // It makes one batch of those that it holds, and then counts its buffers once for each part of it that it gives.
        config.options_mut().execution.sort_in_place_threshold_bytes = 0;
        // An error names the operators that hold most.
        let is_watched = std::env::var_os(WATCH).is_none_or(|watch| watch != "off");
        let pool = if is_watched { SharedPool::of_process(pool, memory) } else { SharedPool::new(pool) };
        let pool = Arc::new(TrackConsumersPool::new(pool, NAMED_OPERATORS));
        if is_watched {
            hold_to(memory, Arc::clone(&pool))?;
        }
        runtime = runtime.with_memory_pool(pool);
    }
    Ok(session(config, runtime.with_disk_manager_builder(spills).build_arc()?)?)
}

/// Ends the program, or the statement that the shell runs, when the process takes more than a quarter above what it may.
fn hold_to(memory: usize, pool: Arc<TrackConsumersPool<SharedPool>>) -> Result<()> {
    static HELD: Once = Once::new();
    let mut begun = Ok(());
    HELD.call_once(|| {
        begun = watch::begin(memory, move || {
            let reserved = match pool.report_top(NAMED_OPERATORS.get()) {
                // A list of none ends with a full stop, too.
                none if none.trim_matches('.').is_empty() => {
                    "no operator has reserved any of it, a function or what is read takes it".to_owned()
                }
                operators => format!("of it operators have reserved\n{operators}"),
            };
            let said = format!(
                "the process takes more than a quarter above the {} that it may; {reserved}\nraise --memory",
                mebibytes(memory as u64),
            );
            if !signals::interrupt_shell(&said) || watch::exceeds(memory, MOST) {
                signals::end(1, &said);
            }
        });
    });
    Ok(begun?)
}

/// How much of the memory that a command may take its operators may reserve: half of what the program leaves. Decoding, batches in
/// flight and buffers come on top.
pub(super) fn for_operators(memory: usize) -> usize {
    (memory - (memory / 4).min(BYTES_OF_PROGRAM)) / 2
}

/// A number with its thousands apart.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "rounded")]
pub(super) fn mebibytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", grouped(bytes.div_ceil(1 << 10))),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// A share above 0 and up to 1.
pub(super) fn ratio(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(t) if t > 0.0 && t <= 1.0 => Ok(t),
        _ => bail!("write a number above 0 and up to 1, such as 0.8"),
    }
}
