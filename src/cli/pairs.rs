use clap::{Args, ValueEnum};
use ibid_udfs::similarity::Measure;

use super::options::{InputOptions, OutputOptions, RunOptions};
use super::run::{CapOptions, FEWER_PLACES, Method, MethodOptions, Texts};
use super::signature::Signature;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Parameters};

/// Find pairs of similar documents, or of similar sentences
#[derive(Debug, Args)]
pub(super) struct Pairs {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// What to compare
    #[arg(long, value_enum, default_value_t = Unit::Document)]
    unit: Unit,
    /// How a text becomes a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "shingles:3", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The least Jaccard similarity of the two sets, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = super::run::ratio)]
    threshold: f64,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    cap: CapOptions,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Unit {
    /// Whole documents; a row of a file of sentences is one, too
    Document,
    /// The sentences of the documents
    Sentence,
}

impl Pairs {
    /// The stages and parameters that the options ask for.
    pub(super) fn method(&self) -> Method<'_> {
        let (unit, pairs) = match self.unit {
            Unit::Document => (("documents", query::UNITS_DOCUMENTS), query::PAIRS_DOCUMENTS),
            Unit::Sentence => (("sentences", query::UNITS_SENTENCES), query::PAIRS_SENTENCES),
        };
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        self.method.set(&mut parameters);
        parameters.set("max_frequency", i64::from(self.cap.max_frequency));
        parameters.set("threshold", self.threshold);
        let texts = Texts {
            unit,
            signature: self.signature.query,
            links: query::TEXTS_LINKS,
            join: (Measure::Jaccard, self.threshold),
            in_texts: &[],
            limit: ("--max-frequency", self.cap.max_frequency),
        };
        Method {
            inputs: &self.inputs,
            options: &self.method,
            writing: &self.writing,
            reading: &self.reading,
            running: &self.running,
            parameters,
            needed: if self.unit == Unit::Document { Needed::Documents } else { Needed::DocumentsAndSentences },
            before: texts.stages(),
            estimate: (query::TEXTS_ESTIMATE, FEWER_PLACES),
            further: self.cap.further(),
            folder: &[],
            texts: Some(texts),
            pairs: vec![self.method.unit_pairs(), pairs],
            counts: vec![("documents", query::UNITS_DOCS), ("texts", self.signature.query), ("distinct", query::TEXTS)],
            result: "pairs",
            summed: None,
            fate: Some("they make no pairs"),
        }
    }
}
