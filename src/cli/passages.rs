use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use ibid_udfs::similarity::Measure;

use super::options::{InputOptions, OutputOptions, RunOptions, refuse_without_effect};
use super::run::{Method, MethodOptions};
use super::signature::Signature;
use crate::pipeline::query::{self, Parameters};

/// Find the passages that documents share, and where they stand
#[derive(Debug, Args)]
pub(super) struct Passages {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// What to look for; sets the options below that are not given
    #[arg(long, value_enum, default_value_t = Profile::Verbatim)]
    profile: Profile,
    /// How a sentence becomes a set; for the profile verbatim [default: shingles:5]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "How a sentence becomes a set, for the profile verbatim; parameters left out have the values shown: {} \
         [default: shingles:5]", Signature::help()
    ))]
    signature: Option<Signature>,
    /// The least similarity of two sentences, above 0 and up to 1: Jaccard of their sets, or cosine for the profile
    /// edited [default: 0.2, edited: 0.25]
    #[arg(long, value_name = "T", value_parser = super::run::ratio)]
    threshold: Option<f64>,
    /// The least number of matching sentences in a passage [default: 2, edited: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    min_sentences: Option<u32>,
    /// How many sentences a passage may skip on either side between two that match [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    max_gap: Option<u32>,
    /// The least weight of a passage, for the profile verbatim: the sum over its matching sentences of the shared
    /// elements, each from 1 where no other sentence has it down to 0 where all do [default: 6]
    #[arg(long, value_name = "W", value_parser = weight)]
    min_weight: Option<f64>,
    /// Where a passage begins and ends, for the profile verbatim [default: words]
    #[arg(long, value_enum)]
    edges: Option<Edges>,
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

/// Where a passage begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Edges {
    /// With words that both sides have
    Words,
    /// With whole sentences
    Sentences,
}

fn weight(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(w) if w >= 0.0 && w.is_finite() => Ok(w),
        _ => bail!("write a number from 0, such as 6"),
    }
}

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

impl Passages {
    /// The stages and parameters that the options ask for.
    pub(super) fn method(&self) -> Result<Method<'_>> {
        let edited = self.profile == Profile::Edited;
        refuse_without_effect(&[
            ("--signature", self.signature.is_some(), !edited),
            ("--min-weight", self.min_weight.is_some(), !edited),
            ("--edges", self.edges.is_some(), !edited),
        ])?;
        let mut parameters = Parameters::default();
        self.method.set(&mut parameters);
        let threshold = self.threshold.unwrap_or(if edited { 0.25 } else { 0.2 });
        parameters.set("threshold", threshold);
        parameters.set("min_sentences", i64::from(self.min_sentences.unwrap_or(if edited { 1 } else { 2 })));
        parameters.set("max_gap", i64::from(self.max_gap.unwrap_or(4)));
        let (signature, links, join, pairs, seeds) = if edited {
            EDITED.iter().for_each(|(name, value)| parameters.set(name, *value));
            let pairs = vec![self.method.unit_pairs(), query::EDITED_SEEDS, query::EDITED_PLACED, query::PASSAGES];
            let seeds = ("document pairs", query::EDITED_SEEDS);
            #[expect(clippy::cast_precision_loss, reason = "4")]
            let join = (Measure::Overlap, MIN_OVERLAP as f64);
            (query::SIGNATURES_SKIP_BIGRAMS, query::EDITED_LINKS, join, pairs, seeds)
        } else {
            let signature = self.signature.clone().map_or_else(|| "shingles:5".parse(), Ok)?;
            signature.set(&mut parameters);
            parameters.set("min_weight", self.min_weight.unwrap_or(6.0));
            parameters.set("trim", self.edges.unwrap_or(Edges::Words) == Edges::Words);
            let pairs = vec![
                self.method.unit_pairs(),
                query::PASSAGES_WEIGHTS,
                query::PASSAGES_SEEDS,
                query::PASSAGES_EXTENSIONS,
                query::PASSAGES_RUNS,
                query::PASSAGES_PLACES,
                query::PASSAGES_EXCERPTS,
                query::PASSAGES_PLACED,
                query::PASSAGES,
            ];
            let seeds = ("pairs", query::PASSAGES_SEEDS);
            (signature.query, query::TEXTS_LINKS, (Measure::Jaccard, threshold), pairs, seeds)
        };
        Ok(Method {
            inputs: &self.inputs,
            options: &self.method,
            writing: &self.writing,
            reading: &self.reading,
            running: &self.running,
            parameters,
            unit: ("sentences", query::UNITS_SENTENCES),
            spans: &[query::UNITS_SPANS, query::UNITS_DOC_TEXTS],
            signature,
            links,
            join,
            in_texts: if edited { &[("max_pair_frequency", MAX_PAIR_FREQUENCY)] } else { &[] },
            pairs,
            counts: vec![
                ("documents", query::UNITS_DOCS),
                ("sentences", signature),
                ("distinct texts", query::TEXTS),
                seeds,
            ],
            result: "passages",
            fate: "they start no passage, and only extend those that others start",
        })
    }
}
