use anyhow::Result;
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::run::{MethodOptions, Run, show_sql};
use super::signature::Signature;
use crate::pipeline::query;

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
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    /// Whole documents; a row of a file of sentences is one, too
    Document,
    /// The sentences of the documents
    Sentence,
}

impl Pairs {
    pub(super) async fn run(self) -> Result<Ending> {
        let (units, pairs) = match self.unit {
            Unit::Document => (query::UNITS_DOCUMENTS, query::PAIRS_DOCUMENTS),
            Unit::Sentence => (query::UNITS_SENTENCES, query::PAIRS_SENTENCES),
        };
        let texts = [
            query::UNITS_DOCS,
            query::UNITS_TWINS,
            units,
            self.signature.query,
            query::TEXTS,
            query::TEXTS_OCCURRENCES,
            query::TEXTS_LINKS,
            query::TEXTS_MATCHES,
            query::TEXTS_CAPPED,
        ];
        let method = [query::PAIRS_UNIT_PAIRS, pairs];
        let mut run = Run::begin(&self.running)?;
        let parameters = &mut run.workspace.parameters;
        self.signature.set(parameters);
        self.method.set(parameters);
        parameters.set("threshold", self.threshold);
        if self.method.show_sql {
            return show_sql(&run, &self.inputs, self.method.against.as_deref(), &[&texts[..], &method].concat());
        }
        run.open_both(&self.inputs, &self.method, &self.reading, &self.writing).await?;
        let rows = run.run_method(&texts, &method, self.method.max_pairs).await?;
        let count = run.write(rows, &self.writing).await?;
        run.write_capped(&self.method).await?;
        let rows_of = |query| run.workspace.rows_of(query);
        let counts = [
            ("documents", rows_of(query::UNITS_DOCS)),
            ("texts", rows_of(self.signature.query)),
            ("distinct", rows_of(query::TEXTS)),
            ("pairs", count),
        ];
        run.end(&counts, "they make no pairs").await
    }
}
