//! Documents that are contained in others, found by CoDet (Varol et al. 2011), its rivals, or an exact join.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use arrow::datatypes::{Field, Schema};
use datafusion::dataframe::DataFrame;

use super::options::{Given, NamedOptions, input_of};
use super::pairs::Unit;
use super::passages::passage_fields;
use super::search::in_from;
use super::signature::Signature;
use super::table::{Tabular, float, long, text};
use super::threads::Readable;
use super::times::{note_times, seconds};
use super::{
    Base, Found, Input, against_option, check_ranges, check_ratio, common_options, refuse_without_effect, runs,
};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::live_index::Comparison;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{LISTED, Run, grouped};
use crate::stream::Stages;

impl Engine {
    /// Finds documents that are contained in others.
    ///
    /// The table `containments` has the columns `contained`, `container`, `score` (the share of the first that is in
    /// the second), `score_back` (the share of the second that is in the first), `sentences` (the number of sentences
    /// of the first that the second has word for word). With [`Containment::passages`] it also has `passages`, the
    /// places of the shared text.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let news = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          ('short', 'The board approved the new ferry terminal by nine votes to two.'),
    ///          ('long', 'It rained. The board approved the new ferry terminal by nine votes to two. Then it had lunch.')) AS t(id, text)")
    ///     .await?;
    /// let found = engine.containment(news).threshold(0.9).await?;
    /// let containments = found.dataframe("containments")?.select_columns(&["contained", "container"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     ["+-----------+-----------+", "| contained | container |", "+-----------+-----------+", "| short     | long      |",
    ///      "+-----------+-----------+"],
    ///     &containments
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn containment(&self, input: impl Into<Input>) -> Containment {
        Containment {
            base: Base::new(self, input.into()),
            comparing: Comparing::Sets,
            unit: None,
            signature: None,
            threshold: 0.6,
            sentence_threshold: None,
            depth: None,
            suffixes: None,
            unsorted: false,
            distance: None,
            reference: None,
            language: None,
            without_stop_words: false,
            truncate: None,
            time_column: None,
            window: None,
            later: false,
            passages: None,
            max_pairs: 50_000_000,
            adds: false,
        }
    }
}

/// Documents that are contained in others; see [`Engine::containment`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Containment {
    pub(crate) base: Base,
    pub(crate) comparing: Comparing,
    pub(crate) unit: Option<Unit>,
    pub(crate) signature: Option<Signature>,
    pub(crate) threshold: f64,
    pub(crate) sentence_threshold: Option<f64>,
    pub(crate) depth: Option<u16>,
    pub(crate) suffixes: Option<u16>,
    pub(crate) unsorted: bool,
    pub(crate) distance: Option<u8>,
    pub(crate) reference: Option<PathBuf>,
    pub(crate) language: Option<String>,
    pub(crate) without_stop_words: bool,
    pub(crate) truncate: Option<u16>,
    pub(crate) time_column: Option<String>,
    /// The window in seconds.
    pub(crate) window: Option<f64>,
    pub(crate) later: bool,
    pub(crate) passages: Option<Located>,
    pub(crate) max_pairs: u64,
    /// True if the input is an index to which documents are added.
    pub(crate) adds: bool,
}

common_options!(Containment);
against_option!(Containment);
runs!(Containment => Found);

/// The way in which documents are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparing {
    /// By the share of one document's set that is in the other's, which is exact. The rivals of CoDet in its paper,
    /// FFP, DSC and I-Match, are the signatures `shingles:4`, `sampled_shingles:4,3` and `i_match_ranked:2,10`.
    Sets,
    /// By the prefixes that sentences share if their rarest words come first (CoDet).
    Codet,
    /// By the distance of the documents' SimHashes, which leave out the two rarest words.
    Simhash,
}

/// The options for locating the passages that a document shares with its container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located {
    /// The least number of words that both sides of a passage have.
    pub min_words: u32,
    /// The largest number of pairs of places in which two documents may share words that make a passage of them.
    pub max_frequency: u32,
}

impl Default for Located {
    fn default() -> Self {
        Self { min_words: 8, max_frequency: 1000 }
    }
}

/// The largest number of words of a fingerprint.
const K: i64 = 5;

/// The least similarity of the two sides of a passage, the same as in `ibid passages`.
const SIMILARITY: f64 = 0.8;

/// The column of the time of a document of a stream.
const TIME: &str = "time";

/// The note on documents without a time.
pub(crate) const WITHOUT_TIME: &str = "documents do not say when they came, and were left out";

/// The number of rarest words of a document that its SimHash leaves out (CoDet, section 5).
const SKIPPED_BY_SIMHASH: i64 = 2;

/// The stages from the scores to the passages.
const LOCATING: [Query; 8] = [
    query::UNITS_DOC_TEXTS,
    query::UNITS_SENTENCE_STARTS,
    query::SHARED_SEQUENCES,
    query::SHARED_RUNS,
    query::SHARED_PARTS,
    query::PASSAGES_PLACES,
    query::PASSAGES_PLACED,
    query::SHARED_CAPPED,
];

impl Containment {
    /// Sets how documents are compared. Default: [`Comparing::Sets`].
    pub fn comparing(mut self, comparing: Comparing) -> Self {
        self.comparing = comparing;
        self
    }

    /// Sets whether the set of the whole document or of each sentence is looked for, for [`Comparing::Sets`]. Default:
    /// the document.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Sets how a text becomes a set, for [`Comparing::Sets`]. Default: `shingles:4`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = Some(signature);
        self
    }

    /// Sets the least score, above 0 and up to 1. Default: 0.6.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Sets the least share of a sentence that must be in one sentence of the container, for sets of sentences. Default: 0.8.
    pub fn sentence_threshold(mut self, share: f64) -> Self {
        self.sentence_threshold = Some(share);
        self
    }

    /// Sets the depth of the tree of sentences: how many words of a sentence lead down it, from 1 to 1000, for
    /// [`Comparing::Codet`]. Default: 5.
    pub fn depth(mut self, words: u16) -> Self {
        self.depth = Some(words);
        self
    }

    /// Sets how many suffixes of a sentence are taken, from 1 to 100, for [`Comparing::Codet`]; the first is the whole
    /// sentence. Default: 1.
    pub fn suffixes(mut self, suffixes: u16) -> Self {
        self.suffixes = Some(suffixes);
        self
    }

    /// Leaves words in the order of the sentence, instead of the rarest first, for [`Comparing::Codet`].
    pub fn unsorted(mut self) -> Self {
        self.unsorted = true;
        self
    }

    /// Sets the number of bits in which the 64-bit codes may differ, up to 16, for [`Comparing::Simhash`]. Default: 2.
    pub fn distance(mut self, bits: u8) -> Self {
        self.distance = Some(bits);
        self
    }

    /// Names a file with a column `text`, in which words are counted for their idf, for [`Comparing::Codet`] and [`Comparing::Simhash`]. Default: the
    /// input.
    pub fn reference(mut self, file: impl Into<PathBuf>) -> Self {
        self.reference = Some(file.into());
        self
    }

    /// Sets the language of the texts, such as `tr`, for its capitals and stop words.
    pub fn language(mut self, code: impl Into<String>) -> Self {
        self.language = Some(code.into());
        self
    }

    /// Leaves out the commonest words of the language.
    pub fn without_stop_words(mut self) -> Self {
        self.without_stop_words = true;
        self
    }

    /// Cuts words to this many letters, 1 or more; the paper takes 5. Default: whole words.
    pub fn truncate(mut self, letters: u16) -> Self {
        self.truncate = Some(letters);
        self
    }

    /// Names the column that says when a document came: a time, a date, a year, a number of seconds, or text that is one of them. Then only documents
    /// that came before are containers.
    pub fn time_column(mut self, name: impl Into<String>) -> Self {
        self.time_column = Some(name.into());
        self
    }

    /// Sets how much earlier than a document its container may have come. Default: any time.
    pub fn window(mut self, window: std::time::Duration) -> Self {
        self.window = Some(window.as_secs_f64());
        self
    }

    /// Takes containers that came later, too.
    pub fn later(mut self) -> Self {
        self.later = true;
        self
    }

    /// Adds the column `passages` with the places of the shared text: a struct for each passage of at least this many
    /// words, from 1 to 1000 (`ibid containment` takes 8).
    pub fn passages(mut self, min_words: u32) -> Self {
        self.passages.get_or_insert_default().min_words = min_words;
        self
    }

    /// Sets the largest number of pairs of places of two documents in which words may occur to make a passage, for
    /// [`Containment::passages`]. More frequent words are capped. Default: 1000.
    pub fn max_frequency(mut self, pairs: u32) -> Self {
        self.passages.get_or_insert_default().max_frequency = pairs;
        self
    }

    /// Limits the number of pairs of places. A run that would make more is refused beforehand. Default: 50,000,000.
    pub fn max_pairs(mut self, pairs: u64) -> Self {
        self.max_pairs = pairs;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        self.check()?;
        self.check_times(self.time_column.as_deref())?;
        let script = self.script(self.time_column.as_deref())?;
        Ok(self.base.places()?.compared(Needed::DocumentsAndSentences).script(&script, self.base.engine.stores())?)
    }

    async fn run(self) -> Result<Found> {
        self.check()?;
        let time_column = self.time_column.as_deref();
        self.check_times(time_column)?;
        let check = |table: &str, schema: &Schema| match time_column {
            Some(column) => Readable::TIMES.check(table, schema, "`time_column`", column),
            None => Ok(()),
        };
        let (mut run, collections) = self.base.begin().await?;
        run.open_checked(&collections.compared(Needed::DocumentsAndSentences), check).await?;
        let rows = self.find(&mut run, time_column).await?;
        let counts = vec![("documents", run.workspace.rows_of(query::UNITS_DOCS))];
        run.note_twins("");
        let capped = self.note_capped(&mut run).await?;
        let mut tables = vec![("containments", rows)];
        if self.passages.is_some() {
            tables.push(("capped", run.capped().await?));
        }
        let summary = run.summary_of(counts, Some(capped));
        Ok(Found::new(run, "containment", tables, summary, 1))
    }

    /// Fails if an option has an invalid value, or no effect.
    pub fn check(&self) -> Result<()> {
        refuse_without_effect(&[
            ("unit", self.unit.is_some(), self.comparing == Comparing::Sets),
            ("signature", self.signature.is_some(), self.comparing == Comparing::Sets),
            ("sentence_threshold", self.sentence_threshold.is_some(), self.is_by_sentences()),
            ("depth", self.depth.is_some(), self.comparing == Comparing::Codet),
            ("suffixes", self.suffixes.is_some(), self.comparing == Comparing::Codet),
            ("unsorted", self.unsorted, self.comparing == Comparing::Codet),
            ("distance", self.distance.is_some(), self.comparing == Comparing::Simhash),
            ("reference", self.reference.is_some(), self.has_idf()),
        ])?;
        check_ratio("threshold", self.threshold)?;
        check_ratio("sentence_threshold", self.sentence_threshold.unwrap_or(1.0))?;
        if self.without_stop_words && self.language.is_none() {
            return Err(misuse!("`without_stop_words` needs a `language`"));
        }
        check_ranges(&[
            ("depth", self.depth.map(u64::from), 1, 1000),
            ("suffixes", self.suffixes.map(u64::from), 1, 100),
            ("distance", self.distance.map(u64::from), 0, 16),
            ("truncate", self.truncate.map(u64::from), 1, u64::MAX),
            ("min_words", self.passages.map(|located| located.min_words.into()), 1, 1000),
            ("max_frequency", self.passages.map(|located| located.max_frequency.into()), 1, u64::MAX),
            ("max_pairs", Some(self.max_pairs), 1, u64::MAX),
        ])
    }

    /// Runs all stages, and returns the rows.
    pub(crate) async fn find(&self, run: &mut Run, time_column: Option<&str>) -> Result<DataFrame> {
        self.score(run, time_column).await?;
        if let Some(column) = time_column {
            note_times(run, column).await?;
            let left_out = run.list(query::CONTAINMENT_WITHOUT_TIME, WITHOUT_TIME).await?;
            run.leave_out(left_out);
        }
        run.workspace.run_all(&[&self.sharing(), self.locating()].concat()).await?;
        run.workspace.run_all(&[self.result()]).await?.context("the last statement is a query")
    }

    /// Returns the stages, with their parameters.
    pub(crate) fn script(&self, time_column: Option<&str>) -> Result<Vec<(Parameters, Vec<Query>)>> {
        let signature = self.signature_of_sets();
        let stages = [
            self.before_pairs(signature.query).0,
            self.scores().to_vec(),
            self.apart(),
            self.timing(time_column),
            self.sharing(),
            self.locating().to_vec(),
            vec![self.result()],
        ]
        .concat();
        Ok(vec![(self.parameters(&signature, time_column)?, stages)])
    }

    /// Notes which runs of words are too frequent to make a passage. Returns how many there are.
    pub(crate) async fn note_capped(&self, run: &mut Run) -> Result<u64> {
        let capped = run.workspace.rows_of(query::SHARED_CAPPED);
        if capped > 0 {
            let shown = run.capped().await?.limit(0, Some(LISTED))?.to_string().await?;
            run.note_last(format!(
                "{} runs of words make more pairs of places in two documents than `max_frequency` allows: they start \
                 no passage there, and only belong to passages that other words start\n{shown}",
                grouped(capped),
            ));
        }
        Ok(capped)
    }

    /// Returns the stages from the scores to the passages.
    fn locating(&self) -> &'static [Query] {
        if self.passages.is_some() { &LOCATING } else { &[] }
    }

    /// Returns the query that makes the result.
    fn result(&self) -> Query {
        if self.passages.is_some() { query::SHARED_PASSAGES } else { query::CONTAINMENT }
    }

    /// Returns the file of the documents in which words are counted for their idf.
    pub fn reference_file(&self) -> Option<&Path> {
        self.reference.as_deref()
    }

    /// Runs the stages from the collection to the scores of the pairs that the times allow. Fails if that takes too
    /// many pairs.
    pub(crate) async fn score(&self, run: &mut Run, time_column: Option<&str>) -> Result<()> {
        self.check_times(time_column)?;
        let signature = self.signature_of_sets();
        run.workspace.parameters = self.parameters(&signature, time_column)?;
        let (before_pairs, estimate) = self.before_pairs(signature.query);
        run.workspace.run_all(&before_pairs).await?;
        if let Some(estimate) = estimate {
            let remedy = "leave out frequent words (`without_stop_words`), raise `threshold`, or give less at a time";
            run.refuse_more_pairs(estimate, self.max_pairs, remedy).await?;
        }
        run.workspace.run_all(self.scores()).await?;
        run.workspace.run_all(&self.apart()).await?;
        run.workspace.run_all(&self.timing(time_column)).await.map(drop)
    }

    pub(crate) fn signature_of_sets(&self) -> Signature {
        self.signature.clone().unwrap_or(Signature::SHINGLES_4)
    }

    /// Fails if an option needs times and there is no column of times.
    pub(crate) fn check_times(&self, time_column: Option<&str>) -> Result<()> {
        if time_column.is_none() && (self.window.is_some() || self.later) {
            let option = if self.later { "later" } else { "window" };
            return Err(misuse!("`{option}` needs the times of documents: name the column with `time_column`"));
        }
        Ok(())
    }

    /// Returns true if the comparison uses the idf of words.
    pub fn has_idf(&self) -> bool {
        self.comparing != Comparing::Sets
    }

    fn is_by_sentences(&self) -> bool {
        self.comparing == Comparing::Sets && self.unit == Some(Unit::Sentence)
    }

    fn of_sentence(&self) -> f64 {
        self.sentence_threshold.unwrap_or(0.8)
    }

    fn most_bits(&self) -> u8 {
        self.distance.unwrap_or(2)
    }

    pub(crate) fn parameters(&self, signature: &Signature, time_column: Option<&str>) -> Result<Parameters> {
        let mut parameters = Parameters::default();
        signature.set(&mut parameters);
        self.passages.unwrap_or_default().set(&mut parameters);
        parameters.set("against", self.base.against.is_some());
        parameters.set("add", self.adds);
        parameters.set("within_documents", false);
        parameters.set("sentence_language", self.base.reading.sentence_language.code());
        parameters.set("threshold", self.threshold);
        parameters.set("least", if self.is_by_sentences() { self.of_sentence() } else { self.threshold });
        parameters.set("depth", i64::from(self.depth.unwrap_or(5)));
        parameters.set("suffixes", i64::from(self.suffixes.unwrap_or(1)));
        parameters.set("sorted", !self.unsorted);
        parameters.set("distance", i64::from(self.most_bits()));
        parameters.set("skip", SKIPPED_BY_SIMHASH);
        let reference = match &self.reference {
            Some(file) => in_from(file)?.as_str().into(),
            None => Literal::column("documents"),
        };
        parameters.set("reference", reference);
        // Without a reference, all documents that are compared serve as one.
        parameters.set("reference_of_added", self.reference.is_none() && self.adds);
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

    /// Returns the stages that make the texts to compare.
    fn units(&self, units: Query) -> Vec<Query> {
        let is_prepared = self.language.is_some() || self.truncate.is_some();
        std::iter::once(units).chain(is_prepared.then_some(query::UNITS_PREPARED)).collect()
    }

    /// Returns the stages before the pairs of documents, and the query that estimates the number of pairs, if there is
    /// one.
    pub(crate) fn before_pairs(&self, signature: Query) -> (Vec<Query>, Option<Query>) {
        let (documents, sentences) = (self.units(query::UNITS_DOCUMENTS), self.units(query::UNITS_SENTENCES));
        let sets = vec![signature, query::TEXTS, query::TEXTS_OCCURRENCES];
        let (units, prepared, estimate) = match self.comparing {
            Comparing::Sets if self.is_by_sentences() => {
                (sentences, [sets, vec![query::CONTAINED_SENTENCES]].concat(), Some(query::CONTAINED_ESTIMATE))
            }
            Comparing::Sets => {
                (documents, [sets, vec![query::CONTAINED_DOCUMENTS]].concat(), Some(query::CONTAINED_ESTIMATE))
            }
            Comparing::Codet => {
                (sentences, vec![query::CODET_REFERENCE, query::CODET_NODES], Some(query::CODET_ESTIMATE))
            }
            Comparing::Simhash => (documents, vec![query::CODET_REFERENCE, query::SIMHASH_CODES], None),
        };
        ([vec![query::UNITS_DOCS], units, prepared].concat(), estimate)
    }

    /// Returns the stages from there to the scores of the pairs.
    pub(crate) fn scores(&self) -> &'static [Query] {
        match self.comparing {
            Comparing::Sets if self.is_by_sentences() => {
                &[query::CONTAINED_SENTENCES_SHARES, query::CONTAINED_SENTENCES_SCORES]
            }
            Comparing::Sets => &[query::CONTAINED_DOCUMENTS_SCORES],
            Comparing::Codet => &[query::CODET_COMMON_NODES, query::CODET_SCORES],
            Comparing::Simhash => &[query::SIMHASH_NEAR, query::SIMHASH_SCORES],
        }
    }

    /// Returns the stages that drop the pair of a document of both collections with itself.
    fn apart(&self) -> Vec<Query> {
        self.base.against.iter().flat_map(|_| [query::UNITS_TWINS, query::CONTAINMENT_APART]).collect()
    }

    /// Returns the stages that keep the pairs that time allows.
    pub(crate) fn timing(&self, time_column: Option<&str>) -> Vec<Query> {
        let timing = [query::CONTAINMENT_TIMES, query::CONTAINMENT_IN_TIME];
        time_column.iter().flat_map(|_| timing).collect()
    }

    /// Returns the stages that find the shared sentences.
    fn sharing(&self) -> Vec<Query> {
        let mut sharing = self.units(query::UNITS_SENTENCES);
        sharing.extend([query::CONTAINMENT_SENTENCES, query::CONTAINMENT_FOUND_SENTENCES, query::CONTAINMENT_SHARED]);
        sharing
    }

    /// Returns the stages by which a document of a stream is compared; its time, if it has one, is in the column `time`.
    pub(crate) fn stages(&self, is_timed: bool) -> Result<Stages> {
        let signature = self.signature_of_sets();
        let sentences = self.units(query::STREAM_SENTENCES);
        let documents = self.units(query::STREAM_DOCUMENTS);
        let (comparison, units, features) = match self.comparing {
            Comparing::Sets if self.is_by_sentences() => {
                (Comparison::Sentences(self.of_sentence()), sentences.clone(), signature.query)
            }
            Comparing::Sets => (Comparison::Sets, documents, signature.query),
            Comparing::Codet => (Comparison::Nodes, sentences.clone(), query::CODET_NODES),
            Comparing::Simhash => (Comparison::Codes(u32::from(self.most_bits())), documents, query::SIMHASH_CODES),
        };
        let parameters = self.parameters(&signature, is_timed.then_some(TIME))?;
        Ok(Stages { comparison, units, features, sentences, parameters })
    }
}

impl Located {
    fn set(self, parameters: &mut Parameters) {
        let min_words = i64::from(self.min_words);
        // Every run of `min_words` words has a sampled fingerprint.
        let k = K.min(min_words);
        parameters.set("k", k);
        parameters.set("window", min_words - k + 1);
        parameters.set("min_words", min_words);
        parameters.set("min_sentences", 1);
        parameters.set("similarity", SIMILARITY);
        parameters.set("max_frequency", i64::from(self.max_frequency));
    }
}

impl NamedOptions for Containment {
    const NAMES: &'static [&'static str] = &[
        "method",
        "unit",
        "signature",
        "threshold",
        "sentence_threshold",
        "depth",
        "suffixes",
        "unsorted",
        "distance",
        "reference",
        "language",
        "without_stop_words",
        "truncate",
        "time_column",
        "window",
        "later",
        "against",
        "same_ids",
        "passages",
        "min_words",
        "max_frequency",
        "max_pairs",
    ];

    const NEEDS: &'static [(&'static str, &'static str)] =
        &[("min_words", "passages"), ("max_frequency", "passages"), ("without_stop_words", "language")];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        let comparing = [("sets", Comparing::Sets), ("codet", Comparing::Codet), ("simhash", Comparing::Simhash)];
        match given.name {
            "method" => self.comparing = given.choice(&comparing)?,
            "unit" => self.unit = Some(given.choice(&Unit::NAMES)?),
            "signature" => self.signature = Some(given.parsed()?),
            "threshold" => self.threshold = given.number()?,
            "sentence_threshold" => self.sentence_threshold = Some(given.number()?),
            "depth" => self.depth = Some(given.number()?),
            "suffixes" => self.suffixes = Some(given.number()?),
            "unsorted" => self.unsorted = given.flag()?,
            "distance" => self.distance = Some(given.number()?),
            "reference" => self.reference = Some(given.text()?.into()),
            "language" => self.language = Some(given.text()?),
            "without_stop_words" => self.without_stop_words = given.flag()?,
            "truncate" => self.truncate = Some(given.number()?),
            "time_column" => self.time_column = Some(given.text()?),
            "window" => self.window = Some(given.seconds()?),
            "later" => self.later = given.flag()?,
            "against" => self.base.against = Some(input_of(given)?),
            "same_ids" => self.base.same_ids = given.flag()?,
            "passages" => self.passages = given.flag()?.then(|| self.passages.unwrap_or_default()),
            "min_words" => self.passages.get_or_insert_default().min_words = given.number()?,
            "max_frequency" => self.passages.get_or_insert_default().max_frequency = given.number()?,
            _ => self.max_pairs = given.number()?,
        }
        Ok(())
    }
}

impl Tabular for Containment {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        let mut fields =
            vec![text("contained"), text("container"), float("score"), float("score_back"), long("sentences")];
        if self.passages.is_some() {
            fields.push(Field::new_list("passages", Field::new_struct("item", passage_fields(), true), true));
        }
        Ok(fields)
    }
}
