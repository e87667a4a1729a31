use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::run::{MethodOptions, Run, show_sql};
use super::signature::Signature;
use crate::pipeline::query::{self, Query};

/// Find the passages that documents share, and where they stand
#[derive(Debug, Args)]
pub(super) struct Passages {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// What to look for; sets the options that are not given
    #[arg(long, value_enum, default_value_t = Profile::Verbatim)]
    profile: Profile,
    /// How a sentence becomes a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "shingles:3", long_help = format!(
        "How a sentence becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The least Jaccard similarity of two sentences, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.5, value_parser = super::run::ratio)]
    threshold: f64,
    /// The least number of matching sentences in a passage
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    min_sentences: u32,
    /// How many sentences a passage may skip on either side between two that match
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    max_gap: u32,
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
    /// Copies whose words were replaced, left out, added and put in another order
    Edited,
}

impl Passages {
    pub(super) async fn run(self) -> Result<Ending> {
        let stages: [Query; 13] = [
            query::UNITS_DOCS,
            query::UNITS_SENTENCES,
            query::UNITS_SPANS,
            self.signature.query,
            query::TEXTS,
            query::TEXTS_OCCURRENCES,
            query::TEXTS_LINKS,
            query::TEXTS_MATCHES,
            query::TEXTS_CAPPED,
            query::PAIRS_UNIT_PAIRS,
            query::PASSAGES_SEEDS,
            query::PASSAGES_EXTENSIONS,
            query::PASSAGES_RUNS,
        ];
        let mut run = Run::begin(&self.running)?;
        let parameters = &mut run.workspace.parameters;
        self.signature.set(parameters);
        self.method.set(parameters);
        parameters.set("threshold", self.threshold);
        parameters.set("min_sentences", i64::from(self.min_sentences));
        parameters.set("max_gap", i64::from(self.max_gap));
        if self.method.show_sql {
            let all = [&stages[..], &[query::PASSAGES]].concat();
            return show_sql(&run, &self.inputs, self.method.against.as_deref(), &all);
        }
        run.open_both(&self.inputs, &self.method, &self.reading).await?;
        run.workspace.run_all(&stages).await?;
        let rows = run.workspace.run_all(&[query::PASSAGES]).await?.context("the last statement is a query")?;
        let count = run.write(rows, &self.writing).await?;
        run.write_capped(self.method.capped.as_deref()).await?;
        let rows_of = |query| run.workspace.rows_of(query);
        let counts = [
            ("documents", rows_of(query::UNITS_DOCS)),
            ("sentences", rows_of(self.signature.query)),
            ("distinct texts", rows_of(query::TEXTS)),
            ("pairs", rows_of(query::PASSAGES_SEEDS)),
            ("passages", count),
        ];
        run.end(&counts, Some(query::TEXTS_CAPPED)).await
    }
}
