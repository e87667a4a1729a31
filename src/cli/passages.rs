use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use ibid_udfs::similarity::Measure;

use super::options::{InputOptions, OutputOptions, RunOptions, refuse_without_effect};
use super::run::{Further, Method, MethodOptions, Texts};
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Parameters, Query};

/// Find the passages that documents share, and where they stand
#[derive(Debug, Args)]
pub(super) struct Passages {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// What to look for; sets the options below that are not given
    #[arg(long, value_enum, default_value_t = Profile::Verbatim)]
    profile: Profile,
    /// The least similarity of the two sides of a passage, above 0 and up to 1: the cosine of their counts of words, those more that
    /// are rare in their documents; for the profile edited that of two sentences [default: 0.8, edited: 0.25]
    #[arg(long, value_name = "T", value_parser = super::run::ratio)]
    threshold: Option<f64>,
    /// The least number of words that both sides of a passage have, for the profile verbatim [default: 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    min_words: Option<u32>,
    /// The least number of sentences that a passage touches on both sides, for the profile edited of those that match
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    min_sentences: u32,
    /// Sentences that a passage may skip on either side between two that match, for the profile edited [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    max_gap: Option<u32>,
    /// Text that stands in more documents than this is common: it makes families, and founds no passage; none for no text
    #[arg(long, value_name = "K", default_value = "20", value_parser = common)]
    common: Common,
    /// Write the table of families, where common text stands, to this file
    #[arg(long, value_name = "FILE")]
    families: Option<PathBuf>,
    /// Write the table of coverage, how much of each document stands elsewhere, to this file
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Copies, with a word changed here and there
    Verbatim,
    /// Copies whose words were replaced, left out, added and put in another order, too; slower
    Edited,
}

/// In how many documents text is not common yet.
#[derive(Debug, Clone, Copy)]
struct Common(u32);

/// More than a collection can have, such that its square is an Int64.
const MOST_DOCUMENTS: u32 = i32::MAX.unsigned_abs();

fn common(text: &str) -> Result<Common> {
    match (text, text.parse()) {
        ("none", _) => Ok(Common(MOST_DOCUMENTS)),
        (_, Ok(k)) if (1..=MOST_DOCUMENTS).contains(&k) => Ok(Common(k)),
        _ => bail!("write a whole number from 1, such as 20, or none"),
    }
}

/// The most words of a fingerprint, and the size of the window of which one is sampled.
const K: i64 = 5;
const WINDOW: i64 = 8;

/// The most words between two fingerprints of a run of a family, such as the title of a page in its side bar.
const BRIDGE: i64 = 15;

/// The pairs of rare words that make two sentences a seed of the profile edited: how far apart the words may stand, in
/// how many distinct sentences a pair may occur, how many pairs must be shared. And how long a passage must be.
const EDITED: [(&str, i64); 4] = [
    ("distance", 3),
    ("max_pair_frequency", MAX_PAIR_FREQUENCY),
    ("min_overlap", MIN_OVERLAP),
    ("min_characters", 150),
];
const MAX_PAIR_FREQUENCY: i64 = 20;
const MIN_OVERLAP: i64 = 4;

/// The stages that find families, from the words of the documents on.
const STAGES: [Query; 14] = [
    query::UNITS_DOC_TEXTS,
    query::UNITS_SENTENCE_STARTS,
    query::COMMON_SEQUENCES,
    query::COMMON_FINGERPRINTS,
    query::COMMON_SAMPLED,
    query::COMMON_FREQUENCIES,
    query::COMMON,
    query::COMMON_PRINT_LINKS,
    query::COMMON_CLUSTERS,
    query::COMMON_RUNS,
    query::FAMILIES_SLICES,
    query::FAMILIES_MEMBERS,
    query::FAMILIES_STRETCHES,
    query::FAMILIES_PLACES,
];

/// From places to the further tables.
pub(super) const FAMILIES: [Query; 1] = [query::FAMILIES];
pub(super) const COVERAGE: [Query; 2] = [query::COVERED, query::COVERAGE];

impl Passages {
    /// The stages and parameters that the options ask for.
    pub(super) fn method(&self) -> Result<Method<'_>> {
        self.method_of("passages", &[query::PASSAGES])
    }

    /// The same of which another table is the result.
    pub(super) fn method_of(&self, name: &'static str, table: &[Query]) -> Result<Method<'_>> {
        let edited = self.profile == Profile::Edited;
        refuse_without_effect(&[
            ("--min-words", self.min_words.is_some(), !edited),
            ("--max-gap", self.max_gap.is_some(), edited),
        ])?;
        let texts = Texts {
            unit: ("sentences", query::UNITS_SENTENCES),
            signature: query::SIGNATURES_SKIP_BIGRAMS,
            links: query::EDITED_LINKS,
            #[expect(clippy::cast_precision_loss, reason = "4")]
            join: (Measure::Overlap, MIN_OVERLAP as f64),
            in_texts: &[("max_pair_frequency", MAX_PAIR_FREQUENCY)],
            limit: ("--common", self.common.0),
        };
        let further = [(&self.families, &FAMILIES[..]), (&self.coverage, &COVERAGE[..])];
        let further = further.into_iter().filter_map(|(path, rows)| Some(Further { path: path.as_deref()?, rows }));
        let mut method = Method {
            inputs: &self.inputs,
            options: &self.method,
            writing: &self.writing,
            reading: &self.reading,
            running: &self.running,
            parameters: self.parameters(),
            needed: Needed::DocumentsAndSentences,
            before: Vec::new(),
            estimate: (query::PASSAGES_ESTIMATE, "lower --common, so that more text makes families"),
            pairs: Vec::new(),
            further: further.collect(),
            folder: &[("families", &FAMILIES), ("coverage", &COVERAGE)],
            texts: edited.then_some(texts),
            counts: vec![("documents", query::UNITS_DOCS)],
            result: name,
            summed: Some((query::FAMILIES_SUMS, ["families", "documents in families", "characters in families"])),
            fate: None,
        };
        let located = [query::PASSAGES_PLACES, query::FAMILIES_LOCATED];
        if edited {
            method.before = texts.stages();
            method.estimate = (query::TEXTS_ESTIMATE, method.estimate.1);
            method.pairs.extend(STAGES);
            method.pairs.extend([
                self.method.unit_pairs(),
                query::EDITED_SEEDS,
                query::EDITED_PLACED,
                query::EDITED_PARTS,
            ]);
            method.pairs.extend(located);
            method.counts.extend([
                ("sentences", texts.signature),
                ("distinct texts", query::TEXTS),
                ("document pairs", query::EDITED_SEEDS),
            ]);
            method.fate = Some("they found no passage, and only carry on those that others found");
        } else {
            method.before.extend([query::UNITS_DOCS, query::UNITS_TWINS]);
            method.before.extend(STAGES);
            method.pairs.extend([
                query::PASSAGES_SEEDS,
                query::PASSAGES_MARKED,
                query::PASSAGES_RUNS,
                query::PASSAGES_PARTS,
            ]);
            method.pairs.extend(located);
            method.pairs.push(query::PASSAGES_PLACED);
            method.counts.push(("document pairs", query::PASSAGES_SEEDS));
        }
        method.pairs.extend(table);
        Ok(method)
    }

    fn parameters(&self) -> Parameters {
        let edited = self.profile == Profile::Edited;
        let mut parameters = Parameters::default();
        self.method.set(&mut parameters);
        let min_words = i64::from(self.min_words.unwrap_or(15));
        // A run of one and a half times as many words has a sampled fingerprint.
        let k = K.min(min_words);
        let window = WINDOW.min(min_words * 3 / 2 - k + 1);
        parameters.set("common", i64::from(self.common.0));
        parameters.set("k", k);
        parameters.set("window", window);
        parameters.set("bridge", BRIDGE);
        parameters.set("margin", k + window - 2);
        parameters.set("min_words", min_words);
        parameters.set("min_sentences", i64::from(self.min_sentences));
        // Of two sentences, or of the sides of a passage.
        let (name, least) = if edited { ("threshold", 0.25) } else { ("similarity", 0.8) };
        parameters.set(name, self.threshold.unwrap_or(least));
        if edited {
            EDITED.iter().for_each(|(name, value)| parameters.set(name, *value));
            parameters.set("max_frequency", i64::from(self.common.0));
            parameters.set("max_gap", i64::from(self.max_gap.unwrap_or(4)));
        }
        parameters
    }
}
