//! Duplicates that are removed, each for one that is kept.

mod keep;
mod matching;
mod rethreshold;

use anyhow::{Result, bail};
use arrow::datatypes::{Field, Schema};
use datafusion::dataframe::DataFrame;
use serde_json::{Value, json};

pub use self::keep::Keep;
use self::matching::Hashing;
pub use self::matching::Matching;
use self::rethreshold::StoredPairs;
use super::found::{Beside, extended};
use super::kept::{self, Shape, shape_options};
use super::options::{Given, NamedOptions};
use super::signature::Signature;
use super::table::{Tabular, float, int, text};
use super::threads::Readable;
use super::times::note_times;
use super::{
    Base, FEWER_MATCHES, Found, Input, check_ranges, check_ratio, common_options, name_of, refuse_more_matches,
    refuse_without_effect, runs,
};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::export::{Form, Format, write_rows};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::Run;

impl Engine {
    /// Removes duplicates: whole documents, or paragraphs, sentences or passages of them. Each removed one matches a
    /// kept one, verified at the threshold or above. No two kept ones match.
    ///
    /// The table `kept` has the kept documents, in the order and with the columns of the input. If parts of documents
    /// are removed, the texts lack these parts. `removed` has a row for each removed one, with the one that is kept for
    /// it: `id`, `kept_id`, `similarity` (Jaccard), `containment` (the share of the first that is in the second),
    /// `containment_back`, `rule` (`equal`, `similar` or `contained`); for pieces also `piece`, `char_start`,
    /// `char_end`, `byte_start`, `byte_end`, in the original document, and `kept_piece`, `kept_char_start`,
    /// `kept_char_end`. `pairs` has the pairs that match. `clusters` has each kept one that others were removed for,
    /// with these others. With [`Dedup::by_source`] there is also `sources`: what each source loses.
    ///
    /// The result does not depend on threads, memory or the order of the arguments. Duplicates are decided one after
    /// the other in the order of [`Dedup::keep`], and one is removed if one that is already kept can replace it (a
    /// lexicographically first maximal independent set).
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let letters = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          (1, 'Dear all, the meeting is on Monday at nine in the large room upstairs.'),
    ///          (2, 'dear all, the meeting is on Monday at nine, in the large room upstairs'),
    ///          (3, 'The ferry leaves at noon.')) AS t(id, text)")
    ///     .await?;
    /// let found = engine.dedup(letters).await?;
    /// let kept = found.dataframe("kept")?.select_columns(&["id"])?.collect().await?;
    /// datafusion::assert_batches_eq!(["+----+", "| id |", "+----+", "| 1  |", "| 3  |", "+----+"], &kept);
    /// let removed = found.dataframe("removed")?.select_columns(&["id", "kept_id", "rule"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     ["+----+---------+-------+", "| id | kept_id | rule  |", "+----+---------+-------+", "| 2  | 1       | equal |",
    ///      "+----+---------+-------+"],
    ///     &removed
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dedup(&self, input: impl Into<Input>) -> Dedup {
        Dedup {
            base: Base::new(self, input.into()),
            unit: Piece::Document,
            by: None,
            signature: None,
            threshold: None,
            min_words: None,
            matching: Matching::Exact,
            hashing: Hashing::default(),
            keep: Keep::First,
            source: None,
            max_pairs: 50_000_000,
            rethreshold: None,
            stored: None,
            shape: Shape::default(),
        }
    }
}

/// Duplicates that are removed; see [`Engine::dedup`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Dedup {
    base: Base,
    unit: Piece,
    by: Option<Measure>,
    signature: Option<Signature>,
    threshold: Option<f64>,
    min_words: Option<u32>,
    matching: Matching,
    hashing: Hashing,
    keep: Keep,
    source: Option<String>,
    max_pairs: u64,
    rethreshold: Option<f64>,
    stored: Option<StoredPairs>,
    shape: Shape,
}

common_options!(Dedup);
shape_options!(Dedup);
runs!(Dedup => Found);

/// The pieces that are compared, and removed or kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// Whole documents.
    Document,
    /// Paragraphs, between blank lines, as the function `paragraphs` splits them.
    Paragraph,
    /// Sentences, as the function `sentences` splits them.
    Sentence,
    /// Passages: words in a run of [`Dedup::min_words`] words that also occurs in the kept text before them, wherever
    /// it begins and ends. No such run occurs twice in the kept text. Passages are compared by their words alone.
    Passage,
}

/// The measure by which two pieces match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The Jaccard similarity of their sets.
    Jaccard,
    /// The share of one piece's set that is in the other's, so that nothing is lost. A piece that contains another is
    /// decided before it.
    Containment,
    /// The same text, except for case, width and white space.
    Exact,
}

/// The default threshold.
const THRESHOLD: f64 = 0.8;

/// The default number of words of a repeated run (as many as the tokens of Lee et al. 2022, section 4.1).
const MIN_WORDS: u32 = 50;

/// The files and folders that a folder of results may have.
pub const FILES: [&str; 8] = [
    "kept/",
    "removed.parquet",
    "pairs.parquet",
    "clusters.parquet",
    "sources.parquet",
    "buckets.parquet",
    "certificate.parquet",
    "summary.json",
];

impl Dedup {
    /// Sets what is compared, and removed or kept. Default: documents.
    pub fn unit(mut self, unit: Piece) -> Self {
        self.unit = unit;
        self
    }

    /// Sets by which measure two match. Default: [`Measure::Jaccard`]; passages match by [`Measure::Exact`] alone.
    pub fn by(mut self, measure: Measure) -> Self {
        self.by = Some(measure);
        self
    }

    /// Sets how a text becomes a set, unless texts are compared exactly. Default: `shingles:5`. A text without elements is not compared.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = Some(signature);
        self
    }

    /// Sets the least similarity, or share, of two that match, above 0 and up to 1, unless texts are compared exactly.
    /// Default: 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets how many words in a row count as repeated if they occur twice, from 1 to 10,000, for [`Piece::Passage`].
    /// Default: 50.
    pub fn min_words(mut self, words: u32) -> Self {
        self.min_words = Some(words);
        self
    }

    /// Sets how matches by [`Measure::Jaccard`] are found. Default: [`Matching::Exact`].
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Sets how many signatures of minhashes a text has, from 1 to 1000, for [`Matching::Lsh`]; texts that share one are compared. Default: as
    /// many as 128 minhashes make.
    pub fn bands(mut self, bands: u16) -> Self {
        self.hashing.bands = Some(bands);
        self
    }

    /// Sets how many minhashes make a signature, from 1 to 64, for [`Matching::Lsh`]. Default: the largest number with
    /// which two texts that are as similar as the threshold are compared with a probability of 0.999.
    pub fn rows(mut self, rows: u16) -> Self {
        self.hashing.rows = Some(rows);
        self
    }

    /// Sets the seed of the minhashes, for [`Matching::Lsh`]. Default: 0.
    pub fn seed(mut self, seed: u32) -> Self {
        self.hashing.seed = Some(seed);
        self
    }

    /// Sets how many of the texts that share a signature the others are compared with, 2 or more, for
    /// [`Matching::Lsh`]: the first ones in the order of [`Dedup::keep`]. Default: 100.
    pub fn max_bucket(mut self, texts: u32) -> Self {
        self.hashing.max_bucket = Some(texts);
        self
    }

    /// Sets the size of the sample of texts whose matches are all searched, 1 or more. The sample tells what
    /// [`Matching::Lsh`] did not find, and how many matches [`Matching::Auto`] has to expect. Default: 1000.
    pub fn sample(mut self, texts: u64) -> Self {
        self.hashing.sample = Some(texts);
        self
    }

    /// Sets which of several duplicates is kept. Default: the first.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Counts what is removed for each value of this column, and makes the table `sources`. A note names the sources
    /// that lose more than 90 %.
    pub fn by_source(mut self, column: impl Into<String>) -> Self {
        self.source = Some(column.into());
        self
    }

    /// Limits the pairs of distinct texts that match; more are an error. Default: 50,000,000.
    pub fn max_pairs(mut self, pairs: u64) -> Self {
        self.max_pairs = pairs;
        self
    }

    /// Decides again, with this threshold, which duplicates to remove. The input is the folder that an earlier dedup
    /// wrote. Its options and the pairs that it found are reused. The documents are read again from where they were,
    /// and must be the same. A threshold below the earlier one is refused.
    ///
    /// The tables are the same as those of a dedup with this threshold.
    pub fn rethreshold(mut self, threshold: f64) -> Self {
        self.rethreshold = Some(threshold);
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`. The script numbers documents in the order in which
    /// they are read, and does not write the kept documents.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        self.check()?;
        if self.rethreshold.is_some() {
            return Err(misuse!("`rethreshold` reads the pairs of an earlier run, and has no SQL to show").into());
        }
        let compared = self.compared();
        let links = if self.measure() == Measure::Jaccard { self.links() } else { &[] };
        let stages =
            [&[query::UNITS_DOCS, query::KEPT_NUMBERED], &compared[1..], links, &self.decided(), &[self.removed()]]
                .concat();
        Ok(self
            .base
            .places()?
            .compared(self.needed())
            .script(&[(self.parameters(), stages)], self.base.engine.stores())?)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let has_sets = self.measure() != Measure::Exact;
        refuse_without_effect(&[
            ("signature", self.signature.is_some(), has_sets),
            ("threshold", self.threshold.is_some(), has_sets),
            ("min_words", self.min_words.is_some(), self.unit == Piece::Passage),
        ])?;
        if self.unit == Piece::Passage && self.by.is_some_and(|by| by != Measure::Exact) {
            return Err(misuse!("passages match by their words alone: leave out `by`, or take `by = exact`"));
        }
        check_ratio("threshold", self.least())?;
        check_ratio("rethreshold", self.rethreshold.unwrap_or(1.0))?;
        if self.rethreshold.is_some() && (self.threshold.is_some() || self.signature.is_some()) {
            return Err(misuse!("`rethreshold` takes the options of the earlier run; leave the others out"));
        }
        self.check_matching()?;
        self.shape.check(self.unit != Piece::Document)?;
        check_ranges(&[
            ("min_words", self.min_words.map(u64::from), 1, 10_000),
            ("max_pairs", Some(self.max_pairs), 1, u64::MAX),
        ])
    }

    async fn run(mut self) -> Result<Found> {
        self.check()?;
        if let Some(threshold) = self.rethreshold {
            self = self.of_stored(threshold)?;
        }
        let (mut run, collections) = self.base.begin().await?;
        let check = |table: &str, schema: &Schema| {
            self.keep.check(table, schema)?;
            match &self.source {
                Some(column) => Readable::AS_TEXT.check(table, schema, "`by_source`", column),
                None => Ok(()),
            }
        };
        run.open_checked(&collections.compared(self.needed()), check).await?;
        kept::number(&run).await?;
        run.workspace.parameters = self.parameters();
        if let Keep::Oldest(column) | Keep::Newest(column) = &self.keep {
            note_times(&mut run, column).await?;
        }
        run.workspace.run_all(&self.compared()).await?;
        let hashes = match &self.stored {
            Some(stored) => self.open_stored(&mut run, stored).await.map(|()| false)?,
            None => self.measure() == Measure::Jaccard && self.link(&mut run).await?,
        };
        let pairs = [query::TEXTS_LINKS, query::CLUSTERS_LINKS, query::CONTAINED_DOCUMENTS];
        let remedy = if hashes { "raise `threshold`, lower `max_bucket`" } else { FEWER_MATCHES };
        refuse_more_matches(pairs.map(|pairs| run.workspace.rows_of(pairs)).into_iter().sum(), self.max_pairs, remedy)?;
        run.workspace.run_all(&self.decided()).await?;
        self.verify(&mut run).await?;

        let Stages { went, cuts, annotated, matching, pairs, clusters, gone, counts } = self.stages();
        let cuts = kept::cuts(&mut run, cuts).await?;
        let kept = self.shape.kept(&mut run, cuts, annotated).await?;
        run.workspace.run_all(&[matching, query::DEDUP_CLUSTERED, gone]).await?;
        let [pieces, characters, characters_removed, gone] = run.numbers(counts).await?;
        let mut tables = vec![("kept", kept)];
        for (name, rows) in [("removed", self.removed()), ("pairs", pairs), ("clusters", clusters)] {
            tables.push((name, run.rows(rows).await?));
        }
        if hashes {
            for (name, rows) in self.certify(&mut run).await? {
                tables.push((name, run.rows(rows).await?));
            }
        }
        let mut sources = Value::Null;
        if self.source.is_some() {
            run.workspace.run_all(&[query::DEDUP_SOURCES]).await?;
            run.list(query::DEDUP_LOSSES, "sources lose more than 90 % of their characters").await?;
            let rows = run.rows(query::DEDUP_SOURCES_ROWS).await?;
            sources = json_rows(rows.clone()).await?;
            tables.push(("sources", rows));
        }
        let removed = run.workspace.rows_of(went);
        let mut counts = vec![("documents", run.workspace.rows_of(query::UNITS_DOCS))];
        match self.unit {
            Piece::Document => counts.push(("removed", removed)),
            Piece::Paragraph => {
                counts.extend([("paragraphs", pieces), ("removed", removed), ("documents removed", gone)])
            }
            Piece::Sentence => {
                counts.extend([("sentences", pieces), ("removed", removed), ("documents removed", gone)])
            }
            Piece::Passage => counts.extend([("passages removed", removed), ("documents removed", gone)]),
        }
        counts.extend([("characters", characters), ("characters removed", characters_removed)]);
        let capped = hashes.then(|| run.workspace.rows_of(query::CLUSTERS_BUCKETS));
        let summary = run.summary_of(counts, capped);
        let counted_at = summary.counts.len();
        let options = self.options(hashes);
        let mut found = Found::new(run, "dedup", tables, summary, counted_at);
        let beside = Beside::new(&found.summary, "dedup", options, self.shape, &FILES);
        let (summary, noted) = (json!({ "sources": sources }), json!({ "read": rethreshold::read(&self.base) }));
        let dedup = Some(Box::new(self));
        found.beside = Some(Beside { summary: extended(beside.summary, summary), noted, dedup, ..beside });
        Ok(found)
    }

    /// Fails if the result does not keep the promises of [`Engine::dedup`].
    async fn verify(&self, run: &mut Run) -> Result<()> {
        let is_of_passages = self.unit == Piece::Passage;
        let broken = if is_of_passages { query::DEDUP_BROKEN_PASSAGES } else { query::DEDUP_BROKEN };
        let broken: [u64; 3] = run.numbers(broken).await?;
        if broken != [0, 0, 0] {
            bail!(
                "internal error: {} removed without one that stays and is similar enough, {} without any, {} alike that stay; please \
                 report it with the documents",
                broken[0],
                broken[1],
                broken[2]
            );
        }
        Ok(())
    }

    /// Returns the stages that describe what was removed.
    fn stages(&self) -> Stages {
        match self.unit {
            Piece::Document => Stages {
                went: query::DEDUP_REMOVED_UNITS,
                cuts: &[query::DEDUP_CUTS_DOCUMENTS],
                annotated: query::DEDUP_ANNOTATED_DOCUMENTS,
                matching: query::DEDUP_MATCHING,
                pairs: query::DEDUP_PAIRS_DOCUMENTS,
                clusters: query::DEDUP_CLUSTERS_DOCUMENTS,
                gone: query::DEDUP_GONE_PIECES,
                counts: query::DEDUP_COUNTS,
            },
            Piece::Paragraph | Piece::Sentence => Stages {
                went: query::DEDUP_REMOVED_UNITS,
                cuts: &[query::DEDUP_CUTS_PIECES],
                annotated: query::DEDUP_ANNOTATED_PIECES,
                matching: query::DEDUP_MATCHING,
                pairs: query::DEDUP_PAIRS_PIECES,
                clusters: query::DEDUP_CLUSTERS_PIECES,
                gone: query::DEDUP_GONE_PIECES,
                counts: query::DEDUP_COUNTS,
            },
            Piece::Passage => Stages {
                went: query::DEDUP_REMOVED_PASSAGES,
                cuts: &[query::DEDUP_CUTS_WHOLE, query::DEDUP_CUTS_PASSAGES],
                annotated: query::DEDUP_ANNOTATED_PIECES,
                matching: query::DEDUP_MATCHING_PASSAGES,
                pairs: query::DEDUP_PAIRS_PIECES,
                clusters: query::DEDUP_CLUSTERS_PIECES,
                gone: query::DEDUP_GONE_PASSAGES,
                counts: query::DEDUP_COUNTS_PASSAGES,
            },
        }
    }

    /// Returns the options by their names.
    fn options(&self, hashes: bool) -> Value {
        let has_sets = self.measure() != Measure::Exact;
        json!({
            "unit": name_of(&Piece::NAMES, self.unit),
            "by": name_of(&Measure::NAMES, self.measure()),
            "signature": has_sets.then(|| self.signature_of_sets().spec()),
            "threshold": has_sets.then(|| self.least()),
            "min_words": (self.unit == Piece::Passage).then(|| self.run_words()),
            "method": if hashes { "lsh" } else { "exact" },
            "keep": self.keep.to_string(),
            "by_source": self.source,
        })
    }

    fn least(&self) -> f64 {
        if self.measure() == Measure::Exact { 1.0 } else { self.threshold.unwrap_or(THRESHOLD) }
    }

    fn measure(&self) -> Measure {
        let default = if self.unit == Piece::Passage { Measure::Exact } else { Measure::Jaccard };
        self.by.unwrap_or(default)
    }

    fn run_words(&self) -> u32 {
        self.min_words.unwrap_or(MIN_WORDS)
    }

    fn needed(&self) -> Needed {
        if self.unit == Piece::Sentence { Needed::DocumentsAndSentences } else { Needed::Documents }
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        if self.measure() != Measure::Exact {
            self.signature_of_sets().set(&mut parameters);
        }
        parameters.set("min_words", i64::from(self.run_words()));
        parameters.set("texts", Literal::column("units"));
        for name in ["against", "add"] {
            parameters.set(name, false);
        }
        parameters.set("threshold", self.least());
        self.hashing.set(&mut parameters, self.least());
        parameters.set("least", self.least());
        parameters.set("key", self.keep.key());
        parameters.set("tie", self.keep.tie(self.unit));
        let (rule, measure) = match self.measure() {
            Measure::Jaccard | Measure::Exact => ("similar", "similarity"),
            Measure::Containment => ("contained", "containment"),
        };
        parameters.set("rule", rule);
        parameters.set("measure", Literal::column(measure));
        if let Some(source) = &self.source {
            parameters.set("source", Literal::column(source));
        }
        parameters
    }

    fn signature_of_sets(&self) -> Signature {
        self.signature.clone().unwrap_or(Signature::SHINGLES_5)
    }

    /// Returns the stages from the documents to the texts that are compared and, except for Jaccard similarities, to
    /// the matches. The documents must be numbered before.
    fn compared(&self) -> Vec<Query> {
        let pieces = match self.unit {
            Piece::Document | Piece::Passage => query::DEDUP_DOCUMENTS,
            Piece::Paragraph => query::DEDUP_PARAGRAPHS,
            Piece::Sentence => query::DEDUP_SENTENCES,
        };
        let ranks = if self.keep == Keep::Longest { query::DEDUP_RANKS_BY_LENGTH } else { query::DEDUP_RANKS };
        let mut stages = vec![query::UNITS_DOCS, query::KEPT_POSITIONS, pieces, ranks, query::DEDUP_UNITS];
        if self.unit == Piece::Passage {
            stages.push(query::DEDUP_REPEATED);
            return stages;
        }
        stages.push(query::DEDUP_NAMED);
        if self.stored.is_some() {
            return stages;
        }
        if self.measure() != Measure::Exact {
            stages.push(self.signature_of_sets().query);
            stages.extend([query::TEXTS, query::TEXTS_OCCURRENCES]);
        }
        match self.measure() {
            Measure::Jaccard => {}
            Measure::Containment => stages.push(query::CONTAINED_DOCUMENTS),
            Measure::Exact => stages.push(query::DEDUP_EQUAL),
        }
        stages
    }

    /// Returns the stages from the matches to the pieces that are removed.
    fn decided(&self) -> Vec<Query> {
        if self.unit == Piece::Passage {
            let mut stages = vec![query::DEDUP_REPEATED_RUNS, query::DEDUP_PARTS, query::KEPT_PLACES];
            stages.extend([query::DEDUP_PASSAGES, query::DEDUP_PASSAGE_PIECES, query::DEDUP_NAMED_PASSAGES]);
            stages.extend([query::DEDUP_REMOVED_PASSAGES, query::DEDUP_STRETCHES]);
            return stages;
        }
        if self.stored.is_some() {
            let mut stages = vec![query::DEDUP_STORED_OCCURRENCES, query::DEDUP_STORED, query::DEDUP_REDUNDANT];
            stages.extend([query::DEDUP_KEEPERS, query::DEDUP_KEEPER_UNITS]);
            stages.push(self.signature_of_sets().query);
            stages.extend([query::TEXTS, query::DEDUP_MEASURED, query::DEDUP_REMOVED_UNITS]);
            return stages;
        }
        let stand_ins = match self.measure() {
            Measure::Jaccard => query::DEDUP_ALIKE,
            Measure::Containment => query::DEDUP_CONTAINERS,
            Measure::Exact => query::DEDUP_NONE,
        };
        let measured = if self.measure() == Measure::Exact { query::DEDUP_UNMEASURED } else { query::DEDUP_MEASURED };
        vec![stand_ins, query::DEDUP_REDUNDANT, query::DEDUP_KEEPERS, measured, query::DEDUP_REMOVED_UNITS]
    }

    fn removed(&self) -> Query {
        match self.unit {
            Piece::Document => query::DEDUP_REMOVED_DOCUMENTS,
            Piece::Paragraph | Piece::Sentence | Piece::Passage => query::DEDUP_REMOVED_PIECES,
        }
    }
}

/// The stages that describe what was removed.
struct Stages {
    went: Query,
    cuts: &'static [Query],
    /// The annotations of documents that are left as they are.
    annotated: Query,
    matching: Query,
    pairs: Query,
    clusters: Query,
    gone: Query,
    counts: Query,
}

/// Returns the rows of a small table as JSON.
async fn json_rows(rows: DataFrame) -> Result<Value> {
    let mut lines = Vec::new();
    write_rows(rows.execute_stream().await?, Form::of(Format::Ndjson), &Value::Null, &mut lines).await?;
    Ok(serde_json::Deserializer::from_slice(&lines).into_iter().collect::<Result<Vec<Value>, _>>()?.into())
}

impl NamedOptions for Dedup {
    const NAMES: &'static [&'static str] = &[
        "unit",
        "by",
        "signature",
        "threshold",
        "min_words",
        "method",
        "bands",
        "rows",
        "seed",
        "max_bucket",
        "sample",
        "keep",
        "by_source",
        "max_pairs",
        "rethreshold",
        "format",
        "rows_per_file",
        "ids_only",
        "annotate",
    ];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "unit" => self.unit = given.choice(&Piece::NAMES)?,
            "by" => self.by = Some(given.choice(&Measure::NAMES)?),
            "signature" => self.signature = Some(given.parsed()?),
            "threshold" => self.threshold = Some(given.number()?),
            "min_words" => self.min_words = Some(given.number()?),
            "method" => self.matching = given.choice(&Matching::NAMES)?,
            "bands" => self.hashing.bands = Some(given.number()?),
            "rows" => self.hashing.rows = Some(given.number()?),
            "seed" => self.hashing.seed = Some(given.number()?),
            "max_bucket" => self.hashing.max_bucket = Some(given.number()?),
            "sample" => self.hashing.sample = Some(given.number()?),
            "keep" => self.keep = given.parsed()?,
            "by_source" => self.source = Some(given.text()?),
            "max_pairs" => self.max_pairs = given.number()?,
            "rethreshold" => self.rethreshold = Some(given.number()?),
            _ => self.shape.set_option(given)?,
        }
        Ok(())
    }
}

impl Piece {
    const NAMES: [(&str, Self); 4] = [
        ("document", Self::Document),
        ("paragraph", Self::Paragraph),
        ("sentence", Self::Sentence),
        ("passage", Self::Passage),
    ];
}

impl Measure {
    const NAMES: [(&str, Self); 3] =
        [("jaccard", Self::Jaccard), ("containment", Self::Containment), ("exact", Self::Exact)];
}

impl Tabular for Dedup {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        let measures = [float("similarity"), float("containment"), float("containment_back"), text("rule")];
        let ids = match self.unit {
            Piece::Document => vec![text("id"), text("kept_id")],
            Piece::Paragraph | Piece::Sentence | Piece::Passage => vec![
                text("id"),
                int("piece"),
                int("char_start"),
                int("char_end"),
                int("byte_start"),
                int("byte_end"),
                text("kept_id"),
                int("kept_piece"),
                int("kept_char_start"),
                int("kept_char_end"),
            ],
        };
        Ok(ids.into_iter().chain(measures).collect())
    }
}
