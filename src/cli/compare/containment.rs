//! `ibid compare containment`: the comparison of CoDet's paper (Varol et al. 2011, section 5) on a labelled collection.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::Schema;
use clap::error::ErrorKind;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use cpu_time::ProcessTime;

use super::labels::Labelled;
use crate::cli::Ending;
use crate::cli::containment::Containment;
use crate::cli::options::{InputOptions, OutputOptions, RunOptions, ratio};
use crate::cli::run::{Run, engine};
use crate::corpus::ingest::{Needed, about_corpus};
use crate::corpus::{self, refuse_result};
use crate::engine::Engine;
use crate::export::{Format, Manifest};
use crate::index::stored::Stored;
use crate::methods;
use crate::methods::containment::WITHOUT_TIME;
use crate::methods::threads::Readable;
use crate::pipeline::query::{self, Literal, Query};
use crate::run::Compared;
use crate::store::entries;

/// Compare the methods of `ibid containment`, and CoDet's depth, suffixes and sorting of words
///
/// One row for each method. Columns: method, options (of ibid containment), precision, recall, f1, found (pairs), unlabelled
/// (those of them of which no label speaks), score_error, back_error and direction_right (where labels are shares), compared
/// and steps (pairs of documents compared and additions made, per document), seconds, cpu_seconds.
#[derive(Debug, Args)]
pub(super) struct CompareContainment {
    /// A folder with the documents, docs.*, and the labels, gold.* or labels.*: JSON lines, CSV, TSV or Parquet with contained and
    /// container, and share or label if not all of them are containments; or with id_a, id_b, a_in_b and b_in_a
    labelled: PathBuf,
    /// The least score of a method, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.6, value_parser = ratio)]
    threshold: f64,
    /// The least share that is a containment, of labels that are shares [default: --threshold]
    #[arg(long, value_name = "T", value_parser = ratio)]
    label_threshold: Option<f64>,
    /// Whether a pair of which no label speaks is no containment, and wrong where it is found [default: yes, and no where labels are
    /// shares both ways]
    #[arg(long, value_name = "ANSWER", value_enum)]
    labels_complete: Option<Answer>,
    /// Another row: options of ibid containment, such as '--signature lines'; may be repeated
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    also: Vec<String>,
    /// A file with a column text, in which words are counted for their idf [default: the documents]
    #[arg(long, value_name = "FILE")]
    reference: Option<String>,
    /// The language of the texts, such as tr, for its capitals and stop words
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Leave out the commonest words of --language
    #[arg(long, requires = "language")]
    without_stop_words: bool,
    /// Cut words to so many letters; the paper takes 5
    #[arg(long, value_name = "N")]
    truncate: Option<String>,
    /// The column that says when a document came; then only documents that came before are containers
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    /// How long before the container may have come, such as 72h or 30days
    #[arg(long, value_name = "DURATION", requires = "time_column")]
    window: Option<String>,
    /// The most pairs of places that a method may make; more are refused beforehand
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

/// What is judged: a method as the paper calls it, and its options.
struct Contender {
    name: &'static str,
    options: String,
    containment: methods::Containment,
    way: Way,
}

/// How the cost of a contender is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the counts of the similarity join that this stage runs.
    Join(Query),
    /// The same as a join, by all postings.
    Postings,
    Codet,
}

/// The methods, as the paper has them. The join of the sets of documents is the first, and the postings that must find the same the
/// second.
const METHODS: [(&str, &str); 7] = [
    ("FFP, join", "--signature shingles:4"),
    (POSTINGS, "--signature shingles:4"),
    ("sentences", "--unit sentence --signature shingles:4"),
    ("DSC", "--signature sampled_shingles:4,3"),
    ("I-Match", "--signature i_match_ranked:2,10"),
    ("SimHash", "--method simhash"),
    (CODET, "--method codet"),
];
const POSTINGS: &str = "FFP, postings";
const CODET: &str = "CoDet";

/// What CoDet's parameters are by default.
const DEPTH: u8 = 5;
const SUFFIXES: u8 = 1;

/// Options that say how documents are compared. What is read and written, and how words are prepared, is the same for all rows.
const OF_METHODS: [&str; 10] = [
    "--method",
    "--unit",
    "--signature",
    "--threshold",
    "--sentence-threshold",
    "--depth",
    "--suffixes",
    "--unsorted",
    "--distance",
    "--reference",
];

impl CompareContainment {
    pub(super) async fn run(self) -> Result<Ending> {
        let engine = engine(&self.running)?;
        let contenders = self.contenders(&engine)?;
        let labelled = Labelled::of(&self.labelled)?;
        let mut reader = Run::begin_in(&engine, &self.running)?;
        let places = self.writing.check(&[])?;
        self.reading.begin(places)?;
        for reference in contenders.iter().filter_map(|contender| contender.containment.reference_file()) {
            refuse_result(reference, &self.reading.reading())?;
        }
        let labels = labelled.read_labels(&mut reader, &self.reading).await?;
        let documents = self.read_documents(&mut reader, &labelled.documents).await?;
        let truth = labelled.truth(&mut reader).await?;
        self.say_without_time(&mut reader, &contenders).await?;
        reader.clear();

        let is_complete = self.labels_complete.map_or(!labels.both_ways, |answer| answer == Answer::Yes);
        let mut rows = Vec::new();
        let mut by_join = None;
        for contender in &contenders {
            let row = async {
                let mut run = reader.again()?;
                run.open_both(&stored(std::slice::from_ref(&documents))).await?;
                run.workspace.session.register_batch("truth", truth.clone())?;
                let cost = contender.run(&mut run, self.max_pairs).await?;
                match contender.way {
                    Way::Join(query::CONTAINED_DOCUMENTS) if by_join.is_none() => {
                        by_join = Some(found(&mut run).await?)
                    }
                    Way::Postings => check_same(by_join.as_ref(), &found(&mut run).await?)?,
                    _ => {}
                }
                let parameters = &mut run.workspace.parameters;
                parameters.set("method", contender.name);
                parameters.set("options", contender.options.as_str());
                parameters.set("label_threshold", self.label_threshold.unwrap_or(self.threshold));
                parameters.set("complete", is_complete);
                parameters.set("measured", labels.are_shares);
                cost.set(&mut run);
                let row = one_batch(&mut run, query::COMPARE_FIGURES).await;
                run.clear();
                row
            };
            rows.push(row.await.with_context(|| format!("{}, {}", contender.name, contender.options))?);
        }
        reader.workspace.session.register_batch("comparison", table(&rows)?)?;
        let printed = match self.writing.form()?.format {
            Format::Table => reader.workspace.run_all(&[query::COMPARE_PRINTED]).await?.context("it is a query")?,
            _ => reader.workspace.session.table("comparison").await?,
        };
        let count = reader.write(printed, &self.writing).await?;
        let counts = [
            ("documents", reader.workspace.rows_of(query::UNITS_DOCS)),
            ("labelled pairs", truth.num_rows() as u64),
            ("methods and settings", count),
        ];
        reader.summarise(&counts, None);
        Ok(reader.ending(0))
    }

    /// All that is compared: the methods, CoDet with other parameters, and what was asked for.
    fn contenders(&self, engine: &Engine) -> Result<Vec<Contender>> {
        let codet = |options: String| (CODET, format!("--method codet {options}"));
        let depths = (1..=10).filter(|depth| *depth != DEPTH).map(|depth| codet(format!("--depth {depth}")));
        let suffixes = (1..=5).filter(|n| *n != SUFFIXES).map(|n| codet(format!("--suffixes {n}")));
        let unsorted = (1..=10).map(|depth| codet(format!("--depth {depth} --unsorted")));
        let methods = METHODS.into_iter().map(|(name, options)| (name, options.to_string()));
        let also = self.also.iter().map(|options| ("also", options.clone()));
        let all = methods.chain(depths).chain(suffixes).chain(unsorted).chain(also);
        all.map(|(name, options)| {
            let containment = self
                .containment(engine, &options)
                .with_context(|| format!("as options of ibid containment, {options}"))?;
            let way = match containment.scores() {
                _ if name == POSTINGS => Way::Postings,
                [query::CODET_COMMON_NODES, ..] => Way::Codet,
                [query::SIMHASH_NEAR, ..] => Way::Join(query::SIMHASH_NEAR),
                [query::CONTAINED_SENTENCES_SHARES, ..] => Way::Join(query::CONTAINED_SENTENCES),
                _ => Way::Join(query::CONTAINED_DOCUMENTS),
            };
            Ok(Contender { name, options, containment, way })
        })
        .collect()
    }

    /// The method of `ibid containment` with these options, and those that all methods share.
    fn containment(&self, engine: &Engine, options: &str) -> Result<methods::Containment> {
        let own: Vec<&str> = options.split_whitespace().collect();
        let is_other = |word: &&&str| {
            let name = word.split('=').next().unwrap_or_default();
            word.starts_with('-') && !OF_METHODS.contains(&name)
        };
        if let Some(other) = own.iter().find(is_other) {
            bail!("{other} is not among those that say how documents are compared: {}", OF_METHODS.join(", "));
        }
        let has_idf = parsed(engine, &own)?.has_idf();
        let (threshold, max_pairs) = (self.threshold.to_string(), self.max_pairs.to_string());
        let mut all = vec!["--threshold", &threshold, "--max-pairs", &max_pairs];
        for (name, value) in [
            ("--reference", self.reference.as_ref().filter(|_| has_idf)),
            ("--language", self.language.as_ref()),
            ("--truncate", self.truncate.as_ref()),
            ("--time-column", self.time_column.as_ref()),
            ("--window", self.window.as_ref()),
        ] {
            all.extend(value.into_iter().flat_map(|value| [name, value.as_str()]));
        }
        all.extend(self.without_stop_words.then_some("--without-stop-words"));
        // What a method says itself comes last, and counts.
        all.extend(own);
        let containment = parsed(engine, &all)?;
        containment.check()?;
        Ok(containment)
    }

    /// Reads the documents, and numbers them. Gives where they are stored then.
    async fn read_documents(&self, reader: &mut Run<'_>, documents: &str) -> Result<String> {
        let inputs = [documents.to_string()];
        let compared = Compared {
            inputs: &inputs,
            against: None,
            reading: self.reading.reading(),
            needed: Needed::DocumentsAndSentences,
        };
        let check = |table: &str, schema: &Schema| match &self.time_column {
            Some(column) => Readable::TIMES.check(table, schema, "--time-column", column),
            None => Ok(()),
        };
        let opened = reader.open_checked(&compared, check).await?;
        reader.workspace.parameters.set("against", false);
        reader.workspace.run_all(&[query::UNITS_DOCS]).await?;
        let folder = match opened.first() {
            Some(Stored::Corpus(folder)) => {
                if !Manifest::is_in(folder) {
                    // The methods open what was read here by its name.
                    Manifest::write(folder, &about_corpus())?;
                }
                folder.as_path()
            }
            Some(Stored::Objects { folder, .. }) => folder.as_path(),
            Some(Stored::Index(index)) => index.folder(),
            None => bail!("there are no documents in {documents}"),
        };
        Ok(folder.to_str().context("the temporary folder has a name that is not Unicode")?.to_string())
    }

    /// Says which documents have no time, once for all methods.
    async fn say_without_time(&self, reader: &mut Run<'_>, contenders: &[Contender]) -> Result<()> {
        let (Some(_), Some(first)) = (&self.time_column, contenders.first()) else { return Ok(()) };
        reader.workspace.parameters = first
            .containment
            .parameters(&first.containment.signature_of_sets(), first.containment.time_column.as_deref())?;
        reader.workspace.run_all(&[query::CONTAINMENT_TIMES]).await?;
        let left_out = reader.list(query::CONTAINMENT_WITHOUT_TIME, WITHOUT_TIME).await?;
        reader.leave_out(left_out);
        Ok(())
    }
}

/// What a contender took.
struct Cost {
    seconds: f64,
    cpu_seconds: f64,
    /// How many pairs of documents were compared, per document; `None` where that was not counted.
    compared: Option<f64>,
    /// How many additions that took, per document.
    steps: Option<f64>,
}

impl Cost {
    fn set(&self, run: &mut Run<'_>) {
        let parameters = &mut run.workspace.parameters;
        parameters.set("seconds", self.seconds);
        parameters.set("cpu_seconds", self.cpu_seconds);
        for (name, count) in [("compared", self.compared), ("steps", self.steps)] {
            parameters.set(name, count.map_or_else(|| Literal::of_text("NULL"), Literal::from));
        }
    }
}

impl Contender {
    /// Finds what is contained, and counts what that takes.
    async fn run(&self, run: &mut Run<'_>, max_pairs: u64) -> Result<Cost> {
        let (began, cpu) = (Instant::now(), ProcessTime::try_now()?);
        if self.way == Way::Postings {
            self.join_postings(run, max_pairs).await?;
        } else {
            self.containment.score(run, self.containment.time_column.as_deref()).await?;
        }
        let (seconds, cpu_seconds) = (began.elapsed().as_secs_f64(), cpu.try_elapsed()?.as_secs_f64());
        let documents = run.workspace.rows_of(query::UNITS_DOCS).max(1);
        let (compared, steps) = match self.way {
            Way::Join(stage) => {
                (run.workspace.has_counted(stage).then(|| run.workspace.counted(stage, "verified")), None)
            }
            Way::Postings => {
                let [steps] = run.numbers(query::COMPARE_ESTIMATE).await?;
                (Some(run.workspace.rows_of(query::COMPARE_COMMON)), Some(steps))
            }
            Way::Codet => {
                let [compared] = run.numbers(query::COMPARE_VISITED).await?;
                let [steps] = run.numbers(query::CODET_ESTIMATE).await?;
                (Some(compared), Some(steps))
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let per_document = |count: u64| count as f64 / documents as f64;
        Ok(Cost { seconds, cpu_seconds, compared: compared.map(per_document), steps: steps.map(per_document) })
    }

    /// The sets of the method, joined by all their elements.
    async fn join_postings(&self, run: &mut Run<'_>, max_pairs: u64) -> Result<()> {
        let signature = self.containment.signature_of_sets();
        run.workspace.parameters = self.containment.parameters(&signature, self.containment.time_column.as_deref())?;
        let mut stages = self.containment.before_pairs(signature.query).0;
        stages.truncate(stages.iter().position(|stage| *stage == query::TEXTS).unwrap_or(stages.len()));
        stages.push(query::COMPARE_POSTINGS);
        run.workspace.run_all(&stages).await?;
        run.refuse_more_pairs(query::COMPARE_ESTIMATE, max_pairs, "leave out frequent words (--without-stop-words)")
            .await?;
        run.workspace.run_all(&[query::COMPARE_COMMON, query::COMPARE_SCORES]).await?;
        run.workspace.run_all(&self.containment.timing(self.containment.time_column.as_deref())).await.map(drop)
    }
}

/// A collection that is stored in a folder.
fn stored(folder: &[String]) -> Compared<'_> {
    Compared {
        inputs: folder,
        against: None,
        reading: corpus::Options::default(),
        needed: Needed::DocumentsAndSentences,
    }
}

/// What a run found, in order.
async fn found(run: &mut Run<'_>) -> Result<RecordBatch> {
    one_batch(run, query::COMPARE_FOUND).await
}

/// The rows of a query in one batch.
pub(super) async fn one_batch(run: &mut Run<'_>, query: Query) -> Result<RecordBatch> {
    let rows = run.workspace.run_all(&[query]).await?.context("it is a query")?;
    let schema = Arc::clone(rows.schema().inner());
    let batches = rows.collect().await.with_context(|| format!("in queries/{}", query.file))?;
    // What the rows say of NULL may differ from what the query says.
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    Ok(concat_batches(&schema, &batches)?)
}

/// The rows of all methods in one batch. Any column may have NULL: a row by itself tells only what it has.
fn table(rows: &[RecordBatch]) -> Result<RecordBatch> {
    let schema = rows.first().context("there are methods")?.schema();
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Ok(concat_batches(&Arc::new(Schema::new(fields.collect::<Vec<_>>())), rows)?)
}

/// Fails where two ways of finding the same did not.
fn check_same(by_join: Option<&RecordBatch>, by_postings: &RecordBatch) -> Result<()> {
    if by_join.is_some_and(|by_join| by_join.columns() != by_postings.columns()) {
        bail!(
            "internal error: the similarity join found {} pairs and the join of postings {}, and they are not the same with the \
             same scores; please report it with the documents",
            by_join.map_or(0, RecordBatch::num_rows),
            by_postings.num_rows()
        );
    }
    Ok(())
}

/// The options of `ibid containment` as it would read them.
fn parsed(engine: &Engine, options: &[&str]) -> Result<methods::Containment> {
    let command = Command::new("containment").no_binary_name(true).args_override_self(true);
    // What it reads is not asked.
    let arguments = std::iter::once(&"documents").chain(options);
    let matches = Containment::augment_args(command).try_get_matches_from(arguments);
    let parsed =
        matches.and_then(|matches| match matches.get_many::<String>("inputs").and_then(|mut inputs| inputs.nth(1)) {
            Some(more) => {
                Err(clap::Error::raw(ErrorKind::UnknownArgument, format!("unexpected argument '{more}' found")))
            }
            None => Containment::from_arg_matches(&matches),
        });
    parsed.map(|containment| containment.builder(engine)).map_err(|error| {
        let text = error.to_string();
        // The usage follows after an empty line.
        let said: Vec<_> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        anyhow!("{}", said.join(" ").trim_start_matches("error: "))
    })
}

/// The file or folder of this name, with any extension, in a folder.
pub(super) fn named(folder: &Path, names: &[&str], what: &str) -> Result<String> {
    let is_wanted = |name: &String| names.iter().any(|it| name == it || name.starts_with(&format!("{it}.")));
    let there = entries(folder)?;
    let there = there.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let found: Vec<_> = there.filter(is_wanted).collect();
    let wanted: Vec<_> = names.iter().map(|name| format!("{name}.*")).collect();
    match found.as_slice() {
        [one] => Ok(folder.join(one).to_str().context("the folder has a name that is not Unicode")?.to_string()),
        [] => bail!("there is no {} in {}: it has the {what}", wanted.join(" or "), folder.display()),
        several => bail!("{} has {}; leave one of them, which has the {what}", folder.display(), several.join(" and ")),
    }
}
