//! `ibid containment`: documents that stand within others, by CoDet (Varol et al. 2011), its rivals, or an exact join.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use arrow::datatypes::Schema;
use clap::{Args, ValueEnum};
use datafusion::dataframe::DataFrame;

use super::Ending;
use super::add::{self, Addition, Finds};
use super::contained_passages::PassageOptions;
use super::options::{InputOptions, OutputOptions, RunOptions, refuse_without_effect};
use super::pairs::Unit;
use super::run::{Compared, Run, ratio};
use super::signature::Signature;
use super::stream::{self, Streamed};
use super::threads::{Readable, seconds};
use crate::corpus::ingest::Needed;
use crate::live_index::Comparison;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::stream::Stages;

/// Find documents that are contained in others
///
/// Columns: contained, container, score (the share of the first that is in the second), score_back (of the second in the first),
/// sentences (of the first that the second has word for word); with --passages also passages (where).
#[derive(Debug, Args)]
pub(super) struct Containment {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// How documents are compared
    #[arg(long, value_enum, default_value_t = Way::Sets)]
    method: Way,
    /// For --method sets: whether the set of a document is looked for, or that of each sentence
    #[arg(long, value_enum)]
    unit: Option<Unit>,
    /// For --method sets: how a text becomes a set [default: shingles:4]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "For --method sets: how a text becomes a set; parameters left out have the values shown: {} [default: shingles:4]",
        Signature::help()
    ))]
    signature: Option<Signature>,
    /// The least score, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.6, value_parser = ratio)]
    threshold: f64,
    /// For --unit sentence: the least share of a sentence that must be in one sentence of the container [default: 0.8]
    #[arg(long, value_name = "T", value_parser = ratio)]
    sentence_threshold: Option<f64>,
    /// For --method codet: how many words of a sentence lead down the tree, DT [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    depth: Option<u16>,
    /// For --method codet: how many suffixes of a sentence are taken, PSC; the first is the sentence [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    suffixes: Option<u16>,
    /// For --method codet: leave words in the order of the sentence, instead of the rarest first
    #[arg(long)]
    unsorted: bool,
    /// For --method simhash: in how many bits of 64 codes may differ [default: 2]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(0..=16))]
    distance: Option<u8>,
    /// For --method codet and simhash: a file with a column text, in which words are counted for their idf [default: the input; with --add
    /// the documents of the index that are compared, and those that are added]
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// The language of the texts, such as tr, for its capitals and stop words
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Leave out the commonest words of --language
    #[arg(long, requires = "language")]
    without_stop_words: bool,
    /// Cut words to so many letters; the paper takes 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    truncate: Option<u16>,
    /// The column that says when a document came: a time, a date, a number of seconds, or text that is one of them. Then only
    /// documents that came before are containers
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    /// How long before the container may have come, such as 72h or 30days
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    window: Option<f64>,
    /// Containers that came later, too
    #[arg(long)]
    later: bool,
    /// Look for containers in this collection instead
    #[arg(long, value_name = "INPUT")]
    against: Option<String>,
    /// Add these documents to the index that the input is, once the rows are written that involve them; the index is made where
    /// there is none, with --time-column. - judges JSON lines of standard input one by one, as they come
    #[arg(long, value_name = "NEW", num_args = 1.., conflicts_with = "against")]
    add: Vec<String>,
    /// With --add -: how often documents that were judged are added to the index [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    commit_every: Option<f64>,
    #[command(flatten)]
    passages: PassageOptions,
    /// The most pairs of places to make; more are refused beforehand
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// How documents are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By the share of the set of one that is in the other: exact. The paper's rivals FFP, DSC and I-Match are the signatures
    /// shingles:4, sampled_shingles:4,3 and i_match_ranked:2,10
    Sets,
    /// By the beginnings that sentences share, their rarest words first (CoDet)
    Codet,
    /// By the distance of their SimHashes, without their two rarest words
    Simhash,
}

/// What the summary calls the rows of the result.
const CONTAINED: &str = "contained";

/// What is said of documents without a time.
pub(super) const WITHOUT_TIME: &str = "documents do not say when they came, and were left out";

/// How often a stream adds documents to the index, in seconds.
const COMMIT_EVERY: f64 = 10.0;

/// How many of the rarest words of a document its SimHash leaves out (CoDet, section 5).
const SKIPPED_BY_SIMHASH: i64 = 2;

/// A duration in seconds.
fn duration(text: &str) -> Result<f64> {
    Ok(humantime::parse_duration(text).context("write a number and its unit, such as 72h or 30days")?.as_secs_f64())
}

impl Containment {
    /// The documents by which words are rare.
    pub(super) fn reference(&self) -> Option<&Path> {
        self.reference.as_deref()
    }

    pub(super) async fn run(self) -> Result<Ending> {
        self.check_method()?;
        let time_column = self.time_column();
        if self.add.is_empty() {
            self.check_times(time_column)?;
        }
        self.passages.check(&self.writing)?;
        match (self.show_sql, self.add.is_empty()) {
            (true, true) => return self.compared().show_sql(&self.script(time_column)?),
            (true, false) => return add::show_sql(&self, self.addition()),
            (false, false) if self.is_stream() => return stream::run(&self, &self.addition()).await,
            (false, false) => return add::run(&self, self.addition()).await,
            (false, true) => {}
        }
        let mut run = Run::begin(&self.running)?;
        let places = self.writing.check(&[])?;
        self.passages.check(&self.writing)?;
        self.reading.begin(places)?;
        let check = |table: &str, schema: &Schema| match time_column {
            Some(column) => Readable::TIMES.check(table, schema, "--time-column", column),
            None => Ok(()),
        };
        run.open_checked(&self.compared(), check).await?;
        let rows = self.find(&mut run, time_column).await?;
        let found = run.write(rows, &self.writing).await?;
        let mut counts = self.counts(&run);
        counts.push((CONTAINED, found));
        self.end(run, &counts).await
    }

    /// From the collection to the scores that time allows, if that does not take too many pairs.
    pub(super) async fn score(&self, run: &mut Run<'_>, time_column: Option<&str>) -> Result<()> {
        self.check_times(time_column)?;
        let signature = self.signature()?;
        run.workspace.parameters = self.parameters(&signature, time_column)?;
        let (before_pairs, estimate) = self.before_pairs(signature.query);
        run.workspace.run_all(&before_pairs).await?;
        if let Some(estimate) = estimate {
            let remedy = "leave out frequent words (--without-stop-words), raise --threshold, or give less at a time";
            run.refuse_more_pairs(estimate, self.max_pairs, remedy).await?;
        }
        run.workspace.run_all(self.scores()).await?;
        run.workspace.run_all(&self.apart()).await?;
        run.workspace.run_all(&self.timing(time_column)).await.map(drop)
    }

    fn addition(&self) -> Addition<'_> {
        Addition {
            inputs: &self.inputs,
            add: &self.add,
            time_column: self.time_column(),
            window: self.window,
            needed: Needed::DocumentsAndSentences,
            further: &[],
            writing: &self.writing,
            reading: &self.reading,
            running: &self.running,
            result: CONTAINED,
        }
    }

    pub(super) fn time_column(&self) -> Option<&str> {
        self.time_column.as_deref()
    }

    pub(super) fn signature(&self) -> Result<Signature> {
        self.signature.clone().map_or_else(|| "shingles:4".parse(), Ok)
    }

    /// Fails where options speak of times and no column has them.
    pub(super) fn check_times(&self, time_column: Option<&str>) -> Result<()> {
        if time_column.is_none() && (self.window.is_some() || self.later) {
            let option = if self.later { "--later" } else { "--window" };
            bail!("{option} needs to know when documents came: name the column with --time-column");
        }
        Ok(())
    }

    /// Whether the idf of words counts.
    pub(super) fn has_idf(&self) -> bool {
        self.method != Way::Sets
    }

    /// Fails where an option would have no effect.
    pub(super) fn check_method(&self) -> Result<()> {
        refuse_without_effect(&[
            ("--unit", self.unit.is_some(), self.method == Way::Sets),
            ("--signature", self.signature.is_some(), self.method == Way::Sets),
            ("--sentence-threshold", self.sentence_threshold.is_some(), self.is_by_sentences()),
            ("--depth", self.depth.is_some(), self.method == Way::Codet),
            ("--suffixes", self.suffixes.is_some(), self.method == Way::Codet),
            ("--unsorted", self.unsorted, self.method == Way::Codet),
            ("--distance", self.distance.is_some(), self.method == Way::Simhash),
            ("--reference", self.reference.is_some(), self.has_idf()),
            ("--commit-every", self.commit_every.is_some(), self.is_stream()),
            ("--passages", self.passages.is_asked_for(), !self.is_stream()),
        ])
    }

    fn is_stream(&self) -> bool {
        self.add == ["-"]
    }

    fn is_by_sentences(&self) -> bool {
        self.method == Way::Sets && self.unit == Some(Unit::Sentence)
    }

    fn of_sentence(&self) -> f64 {
        self.sentence_threshold.unwrap_or(0.8)
    }

    fn distance(&self) -> u8 {
        self.distance.unwrap_or(2)
    }

    /// What a stream needs to know beside [`Self::stages`].
    pub(super) fn streamed(&self) -> Streamed {
        Streamed {
            threshold: self.threshold,
            window: self.window,
            later: self.later,
            reads_reference: self.has_idf(),
            has_reference: self.reference.is_some(),
            commit_every: self.commit_every.unwrap_or(COMMIT_EVERY),
        }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            inputs: &self.inputs,
            against: self.against.as_ref(),
            reading: self.reading.reading(),
            needed: Needed::DocumentsAndSentences,
        }
    }

    pub(super) fn parameters(&self, signature: &Signature, time_column: Option<&str>) -> Result<Parameters> {
        let mut parameters = Parameters::default();
        signature.set(&mut parameters);
        self.passages.set(&mut parameters);
        parameters.set("against", self.against.is_some());
        parameters.set("add", !self.add.is_empty());
        parameters.set("within_documents", false);
        parameters.set("threshold", self.threshold);
        parameters.set("least", if self.is_by_sentences() { self.of_sentence() } else { self.threshold });
        parameters.set("depth", i64::from(self.depth.unwrap_or(5)));
        parameters.set("suffixes", i64::from(self.suffixes.unwrap_or(1)));
        parameters.set("sorted", !self.unsorted);
        parameters.set("distance", i64::from(self.distance()));
        parameters.set("skip", SKIPPED_BY_SIMHASH);
        let reference = match &self.reference {
            Some(file) => self.reading.in_from(file, "--reference")?.as_str().into(),
            None => Literal::column("documents"),
        };
        parameters.set("reference", reference);
        // Without a reference all documents that are compared are one.
        parameters.set("reference_of_added", self.reference.is_none() && !self.add.is_empty());
        let language = self.language.as_deref().unwrap_or("en");
        parameters.set("language", language);
        let none = Literal::joined([], "").within("arrow_cast([], 'List(Utf8)')", "");
        let stop_words = Literal::of_text(language).within("stop_words(", ")");
        parameters.set("stop_words", if self.without_stop_words { stop_words } else { none });
        parameters.set("letters", i64::from(self.truncate.unwrap_or(u16::MAX)));
        parameters.set("time", time_column.map_or_else(|| 0.0.into(), seconds));
        parameters.set("within", self.window.unwrap_or(f64::MAX));
        parameters.set("later", self.later);
        Ok(parameters)
    }

    /// Texts as they are compared.
    fn units(&self, units: Query) -> Vec<Query> {
        let is_prepared = self.language.is_some() || self.truncate.is_some();
        std::iter::once(units).chain(is_prepared.then_some(query::UNITS_PREPARED)).collect()
    }

    /// From the collection to what has pairs, and how many.
    pub(super) fn before_pairs(&self, signature: Query) -> (Vec<Query>, Option<Query>) {
        let (documents, sentences) = (self.units(query::UNITS_DOCUMENTS), self.units(query::UNITS_SENTENCES));
        let sets = vec![signature, query::TEXTS, query::TEXTS_OCCURRENCES];
        let (units, prepared, estimate) = match self.method {
            Way::Sets if self.is_by_sentences() => {
                (sentences, [sets, vec![query::CONTAINED_SENTENCES]].concat(), Some(query::CONTAINED_ESTIMATE))
            }
            Way::Sets => {
                (documents, [sets, vec![query::CONTAINED_DOCUMENTS]].concat(), Some(query::CONTAINED_ESTIMATE))
            }
            Way::Codet => (sentences, vec![query::CODET_REFERENCE, query::CODET_NODES], Some(query::CODET_ESTIMATE)),
            Way::Simhash => (documents, vec![query::CODET_REFERENCE, query::SIMHASH_CODES], None),
        };
        ([vec![query::UNITS_DOCS], units, prepared].concat(), estimate)
    }

    /// From what has pairs to the scores.
    pub(super) fn scores(&self) -> &'static [Query] {
        match self.method {
            Way::Sets if self.is_by_sentences() => {
                &[query::CONTAINED_SENTENCES_SHARES, query::CONTAINED_SENTENCES_SCORES]
            }
            Way::Sets => &[query::CONTAINED_DOCUMENTS_SCORES],
            Way::Codet => &[query::CODET_COMMON_NODES, query::CODET_SCORES],
            Way::Simhash => &[query::SIMHASH_NEAR, query::SIMHASH_SCORES],
        }
    }

    /// Parts the documents of both collections from themselves.
    fn apart(&self) -> Vec<Query> {
        self.against.iter().flat_map(|_| [query::UNITS_TWINS, query::CONTAINMENT_APART]).collect()
    }

    /// What time allows.
    pub(super) fn timing(&self, time_column: Option<&str>) -> Vec<Query> {
        let timing = [query::CONTAINMENT_TIMES, query::CONTAINMENT_IN_TIME];
        time_column.iter().flat_map(|_| timing).collect()
    }

    /// The sentences that are shared.
    fn sharing(&self) -> Vec<Query> {
        let mut sharing = self.units(query::UNITS_SENTENCES);
        sharing.extend([query::CONTAINMENT_SENTENCES, query::CONTAINMENT_FOUND_SENTENCES, query::CONTAINMENT_SHARED]);
        sharing
    }

    /// What a document of a stream is compared by; its time, if it has one, is in a column of that name.
    pub(super) fn stages(&self, is_timed: bool) -> Result<Stages> {
        let signature = self.signature()?;
        let sentences = self.units(query::STREAM_SENTENCES);
        let documents = self.units(query::STREAM_DOCUMENTS);
        let (comparison, units, features) = match self.method {
            Way::Sets if self.is_by_sentences() => {
                (Comparison::Sentences(self.of_sentence()), sentences.clone(), signature.query)
            }
            Way::Sets => (Comparison::Sets, documents, signature.query),
            Way::Codet => (Comparison::Nodes, sentences.clone(), query::CODET_NODES),
            Way::Simhash => (Comparison::Codes(u32::from(self.distance())), documents, query::SIMHASH_CODES),
        };
        let parameters = self.parameters(&signature, is_timed.then_some(stream::TIME))?;
        Ok(Stages { comparison, units, features, sentences, parameters })
    }
}

impl Finds for Containment {
    async fn find(&self, run: &mut Run<'_>, time_column: Option<&str>) -> Result<DataFrame> {
        self.score(run, time_column).await?;
        if time_column.is_some() {
            let left_out = run.list(query::CONTAINMENT_WITHOUT_TIME, WITHOUT_TIME).await?;
            run.leave_out(left_out);
        }
        run.workspace.run_all(&[&self.sharing(), self.passages.stages()].concat()).await?;
        run.workspace.run_all(&[self.passages.result()]).await?.context("the last statement is a query")
    }

    fn script(&self, time_column: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>> {
        let signature = self.signature()?;
        let before_pairs = self.before_pairs(signature.query).0;
        let last = vec![self.passages.result()];
        let passages = self.passages.stages().to_vec();
        let stages = [
            before_pairs,
            self.scores().to_vec(),
            self.apart(),
            self.timing(time_column),
            self.sharing(),
            passages,
            last,
        ]
        .concat();
        Ok(vec![(self.parameters(&signature, time_column)?, stages)])
    }

    fn counts(&self, run: &Run<'_>) -> Vec<(&'static str, u64)> {
        vec![("documents", run.workspace.rows_of(query::UNITS_DOCS))]
    }

    async fn end(&self, run: Run<'_>, counts: &[(&str, u64)]) -> Result<Ending> {
        let capped = self.passages.capped(&run);
        run.summarise(counts, Some(capped));
        run.say_twins("");
        self.passages.say_capped(&run).await?;
        Ok(run.ending(capped))
    }
}
