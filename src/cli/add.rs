//! `--add`: the rows that a batch of documents adds to those of an index, and then the batch to the index.
//!
//! The rows take their place first, and the index grows after: a run that is killed between the two has added nothing, and
//! gives the same rows when it is run again.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, Schema};
use datafusion::dataframe::DataFrame;

use super::options::{InputOptions, OutputOptions, RunOptions, check_pages};
use super::run::{Further, Out, Run, corpus_folder, grouped};
use super::threads::{Readable, seconds};
use super::{Ending, run};
use crate::corpus::ingest::{self, Needed};
use crate::corpus::{Problem, Problems, Summary};
use crate::export::layout::FILES;
use crate::export::{StagedFile, write_rows};
use crate::index::Index;
use crate::index::stored::{Stored, index_to_add};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::seal::Root;
use crate::store::seal_of;

/// How often another run may come between before this one gives up.
const ATTEMPTS: usize = 5;

/// What is read of a batch, whatever the method needs: a part of an index is a whole corpus.
const NEEDED: Needed = Needed::DocumentsAndSentences;

/// What finds the rows that documents add.
pub(super) trait Finds {
    /// Runs all stages over an index, `documents` and `sentences`, and a batch, `against_documents` and `against_sentences`, and
    /// gives the rows that involve the batch.
    async fn find(&self, run: &mut Run<'_>, time_column: Option<&str>) -> Result<DataFrame>;

    /// The stages, in parts, each with its parameters.
    fn script(&self, time_column: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>>;

    /// What the summary counts, before the rows of the result.
    fn counts(&self, run: &Run<'_>) -> Vec<(&'static str, u64)>;

    /// Ends the command: the summary, what was left out, the exit code.
    async fn end(&self, run: Run<'_>, counts: &[(&str, u64)]) -> Result<Ending>;
}

/// Documents to add to an index, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addition<'a> {
    /// The index, alone.
    pub(super) inputs: &'a [String],
    pub(super) add: &'a [String],
    /// The column that says when documents are of, as the user named it.
    pub(super) time_column: Option<&'a str>,
    /// How many seconds may be between two documents that are compared.
    pub(super) window: Option<f64>,
    /// The tables that the method reads.
    pub(super) needed: Needed,
    /// Further tables to write.
    pub(super) further: &'a [Further<'a>],
    pub(super) writing: &'a OutputOptions,
    pub(super) reading: &'a InputOptions,
    pub(super) running: &'a RunOptions,
    /// What the rows are called in the summary.
    pub(super) result: &'static str,
}

/// Runs a method over an index and a batch of documents.
pub(super) async fn run<F: Finds>(method: &F, addition: Addition<'_>) -> Result<Ending> {
    let mut adding = Adding::begin(method, addition).await?;
    for _ in 0..ATTEMPTS {
        match adding.attempt().await {
            Ok(Some(ending)) => return Ok(ending),
            Ok(None) => {}
            Err(error) => return Err(adding.failed(error)),
        }
        adding.reader.say(&format!("another run changed {} in the meantime; once more", adding.folder.display()));
    }
    Err(adding.failed(anyhow!(
        "other runs changed {} {ATTEMPTS} times in the meantime, and nothing was added; run it again",
        adding.folder.display()
    )))
}

/// Prints what would run as a script for `ibid sql`.
pub(super) fn show_sql<F: Finds>(method: &F, addition: Addition<'_>) -> Result<Ending> {
    let index = index_to_add(folder(addition.inputs)?)?;
    let needed = addition.needed;
    let mut script = Vec::new();
    match corpus_folder(addition.add)? {
        Some(batch) => script.extend(batch.statements("added_", needed)?),
        None => script.extend(run::read_first("added_", addition.add, &addition.reading.reading(), needed)),
    }
    if index.manifest().parts.is_empty() {
        script.extend(needed.tables().iter().map(|table| none_of(table, &format!("added_{table}"))));
    } else {
        script.extend(Stored::Index(index.clone()).statements("", needed)?);
    }
    let mut adding = vec![query::ADDED_LEFT_OUT];
    adding.extend(batch_tables(needed));
    let time_column = time_column(&index, addition.time_column)?;
    let mut parts = vec![(times(time_column.as_deref()), adding)];
    parts.extend(method.script(time_column.as_deref())?);
    run::show_script(&script, &parts)
}

/// The statements that make the documents to add known.
fn batch_tables(needed: Needed) -> &'static [Query] {
    match needed {
        Needed::Documents => &[query::ADDED_DOCUMENTS],
        Needed::DocumentsAndSentences => &[query::ADDED_DOCUMENTS, query::ADDED_SENTENCES],
    }
}

/// The index that the input names.
pub(super) fn folder(inputs: &[String]) -> Result<&Path> {
    match inputs {
        [index] => Ok(Path::new(index)),
        _ => bail!("--add takes one input, the folder of the index, and the documents to add after --add"),
    }
}

/// The column that says when the documents of the index are of: the first batch decides.
pub(super) fn time_column(index: &Index, asked: Option<&str>) -> Result<Option<String>> {
    let manifest = index.manifest();
    match (asked, manifest.time_column.as_deref()) {
        (asked, _) if manifest.number == 0 => Ok(asked.map(str::to_owned)),
        (Some(asked), Some(column)) if asked != column => {
            bail!(
                "the time column of {} is {column:?}, not {asked:?}; leave out --time-column",
                index.folder().display()
            )
        }
        (Some(_), None) => {
            bail!(
                "{} was made without a time column; leave out --time-column, or make an index anew",
                index.folder().display()
            )
        }
        (_, column) => Ok(column.map(str::to_owned)),
    }
}

/// The parameters that read the time of a document.
fn times(column: Option<&str>) -> Parameters {
    let mut parameters = Parameters::default();
    parameters.set("seconds", column.map_or(Literal::from(0.0), seconds));
    parameters
}

/// Fails where no times can be read from a column.
fn check_time_column(column: Option<&str>, schema: &Schema) -> Result<()> {
    column.map_or(Ok(()), |column| Readable::TIMES.check("added_documents", schema, "--time-column", column))
}

/// A table without rows that is like another.
fn none_of(table: &str, like: &str) -> String {
    format!("CREATE VIEW {table} AS SELECT * FROM {like} WHERE false")
}

/// The seals of the files of a batch, where they have some.
fn seals(batch: &Path) -> Result<Vec<Option<Root>>> {
    FILES.iter().map(|file| Ok(seal_of(&batch.join(file))?.map(|seal| seal.root))).collect()
}

/// A batch of documents on its way into an index.
struct Adding<'a, F> {
    method: &'a F,
    addition: Addition<'a>,
    folder: &'a Path,
    /// Has read the batch, and keeps it.
    reader: Run<'a>,
    batch: PathBuf,
    /// Those of its files, which are read more than once.
    seals: Vec<Option<Root>>,
    /// The documents that were said to be refused.
    refused: HashSet<String>,
    problems: Problems,
    /// Whether another run was faster when the result was in its place already.
    is_outdated: bool,
}

impl<'a, F: Finds> Adding<'a, F> {
    /// Makes sure that all that is asked for can be written, and reads the batch.
    async fn begin(method: &'a F, addition: Addition<'a>) -> Result<Self> {
        let folder = folder(addition.inputs)?;
        let places = addition.writing.check(&addition.further.iter().map(|table| table.path).collect::<Vec<_>>())?;
        addition.reading.begin(places)?;
        addition.reading.refuse(folder)?;
        let index = index_to_add(folder)?;
        addition.reading.refuse_in(folder, addition.running)?;
        let time_column = time_column(&index, addition.time_column)?;
        let mut reader = Run::begin(addition.running)?;
        let reading = addition.reading.reading();
        let batch = match corpus_folder(addition.add)? {
            Some(Stored::Index(index)) => {
                bail!("{} is an index; add what it was made of", index.folder().display())
            }
            Some(stored) => {
                check_pages(&reading.pages, false)?;
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
                let documents = reader.read(addition.add, &reading, true)?;
                check_time_column(time_column.as_deref(), &documents.schema())?;
                reader.take_in("added_", documents, NEEDED).await?
            }
        };
        let problems = Problems::new(&reading.on_error);
        let (seals, refused) = (seals(&batch)?, HashSet::new());
        Ok(Self { method, addition, folder, reader, batch, seals, refused, problems, is_outdated: false })
    }

    /// Runs the method over the index as it is now and adds the batch to it, or gives nothing where another run did that first.
    async fn attempt(&mut self) -> Result<Option<Ending>> {
        let addition = self.addition;
        let index = Index::open_to_add(self.folder)?;
        let time_column = time_column(&index, addition.time_column)?;
        index.check_columns(&self.batch)?;
        let mut run = self.reader.again()?;
        ingest::register(&run.workspace.session, "added_", &self.batch, addition.needed).await?;
        run.note_contents("added_", &Stored::Corpus(self.batch.clone()), addition.needed).await?;
        // With a window all parts are looked at for the ids alone, and what their sentences say is not read, nor hashed.
        let looked_at = if addition.window.is_some() { Needed::Documents } else { addition.needed };
        self.open_index(&mut run, &index, looked_at).await?;
        run.workspace.parameters = times(time_column.as_deref());
        let left_out = self.leave_out(&mut run).await?;
        let [_, new] = run.count("documents").await?;
        let times = if time_column.is_some() && new > 0 { Some(earliest_and_latest(&mut run).await?) } else { None };
        let compared = match (times, addition.window) {
            // There is nothing to find where nothing is new.
            _ if new == 0 => Some(index.without_parts()),
            (Some(times), Some(window)) => Some(index.within(times, window)),
            _ => None,
        };
        if let Some(compared) = compared {
            for table in looked_at.tables() {
                run.workspace.session.deregister_table(*table)?;
            }
            self.open_index(&mut run, &compared, addition.needed).await?;
        }
        let rows = self.method.find(&mut run, time_column.as_deref()).await?;
        let (result, count) = Staged::write(&run, rows, addition.writing).await?;
        let further = run.stage_all(addition.further, addition.writing).await?;
        if new > 0 && !index.is_newest()? {
            return Ok(None);
        }
        let reading = addition.reading.reading();
        let write = || index.write_part(&self.batch, &left_out, times, addition.add, &reading);
        let part = (new > 0).then(write).transpose()?;
        if seals(&self.batch)? != self.seals {
            bail!("{} has changed while it was read; run it again", self.batch.display());
        }
        result.commit()?;
        self.is_outdated = false;
        further.into_iter().try_for_each(StagedFile::commit)?;
        if let Some(part) = part
            && !index.append(part, time_column.as_deref())?
        {
            if addition.writing.output.is_none() {
                bail!(
                    "another run changed {} while the rows above were printed: they are not all, and nothing was added; run \
                     it again",
                    self.folder.display()
                );
            }
            self.is_outdated = true;
            return Ok(None);
        }
        let mut counts = self.method.counts(&run);
        counts.extend([("new documents", new), (addition.result, count)]);
        let refused = self.refused.iter().filter(|id| left_out.contains(*id)).count();
        run.skip(self.refusals());
        if index.manifest().number == 0 && new > 0 {
            run.say(&format!("made the index {}", self.folder.display()));
        }
        if left_out.len() > refused {
            run.say(&format!(
                "{} documents of the batch were in the index already, with the same text, and were not added again",
                grouped((left_out.len() - refused) as u64)
            ));
        }
        self.method.end(run, &counts).await.map(Some)
    }

    /// The error with which it ends, and what is in the place of the result then.
    fn failed(&self, error: anyhow::Error) -> anyhow::Error {
        match &self.addition.writing.output {
            Some(path) if self.is_outdated => {
                error.context(format!("{} was replaced, by rows that are not all", path.display()))
            }
            _ => error,
        }
    }

    /// Makes the tables of the index known.
    async fn open_index(&self, run: &mut Run<'_>, index: &Index, needed: Needed) -> Result<()> {
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

    /// Finds the documents of the batch that are not to be added, and makes the others known as the other collection. Fails where
    /// some cannot be added and none is to be left out.
    async fn leave_out(&mut self, run: &mut Run<'_>) -> Result<HashSet<String>> {
        run.workspace.run_all(&[query::ADDED_LEFT_OUT]).await?;
        let refused = run.workspace.run_all(&[query::ADDED_REFUSED]).await?.context("it is a query")?;
        let from = self.addition.add.join(" ");
        for row in texts(refused).await? {
            let [id, reason, text] = row.as_slice() else { continue };
            if self.refused.insert(id.clone()) {
                let (why, remedy) = match reason.as_str() {
                    "changed" => (
                        format!("the document {id:?} is in the index already, with another text"),
                        "give it another id, or leave such documents out with --on-error skip",
                    ),
                    _ => (
                        format!("the document {id:?} has no time that can be read in the time column"),
                        "correct it, or leave such documents out with --on-error skip",
                    ),
                };
                self.problems.take(Problem::new(&from, why).showing(text.as_bytes(), 0).remedy(remedy))?;
            }
        }
        run.workspace.run_all(batch_tables(self.addition.needed)).await?;
        let left_out = run.workspace.session.sql("SELECT doc_id FROM left_out").await?;
        Ok(texts(left_out).await?.into_iter().flatten().collect())
    }

    /// What was refused, as reading says it.
    fn refusals(&self) -> Summary {
        Summary {
            files: 0,
            files_begun: 0,
            documents: 0,
            skipped: self.problems.skipped.clone(),
            skipped_count: self.problems.count,
            left_out: Default::default(),
            passed_over: Vec::new(),
        }
    }
}

/// The time of the first and of the last new document, in microseconds since 1970.
async fn earliest_and_latest(run: &mut Run<'_>) -> Result<[i64; 2]> {
    let rows = run.workspace.run_all(&[query::ADDED_TIMES]).await?.context("it is a query")?.collect().await?;
    let time = |i: usize| {
        let column = rows.first().map(|row| row.column(i).as_primitive::<Int64Type>());
        column.and_then(|times| times.iter().next().flatten()).context("internal error: no time; please report it")
    };
    Ok([time(0)?, time(1)?])
}

/// The rows of a query of which all columns are text.
async fn texts(rows: DataFrame) -> Result<Vec<Vec<String>>> {
    let mut texts = Vec::new();
    for batch in rows.collect().await? {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| arrow::compute::cast(column, &arrow::datatypes::DataType::Utf8))
            .collect::<Result<_, _>>()?;
        texts.extend((0..batch.num_rows()).map(|row| {
            columns.iter().map(|column| column.as_string::<i32>().value(row).to_owned()).collect::<Vec<_>>()
        }));
    }
    Ok(texts)
}

/// A result that is whole, and not in its place yet.
enum Staged {
    File(StagedFile),
    /// For standard output.
    Printed(PathBuf),
}

impl Staged {
    async fn write(run: &Run<'_>, rows: DataFrame, output: &OutputOptions) -> Result<(Self, u64)> {
        let form = output.form()?;
        if let Some(path) = &output.output {
            let (staged, count) = run.stage(rows, path, form, &run.workspace.parameters).await?;
            return Ok((Self::File(staged), count));
        }
        let rows = rows.execute_stream().await?;
        let path = run.workspace.folder().join("printed");
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let count = write_rows(rows, form, &run.about(), &mut BufWriter::new(file)).await?;
        Ok((Self::Printed(path), count))
    }

    fn commit(self) -> Result<()> {
        match self {
            Self::File(staged) => staged.commit(),
            // Unlike elsewhere it is an error if nobody reads to the end: what nobody has seen is not to be added.
            Self::Printed(path) => {
                let printed = File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut Out));
                printed.and_then(|_| std::io::Write::flush(&mut Out)).context("cannot write to standard output")
            }
        }
    }
}
