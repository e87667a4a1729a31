//! `ibid search`: where texts, such as quotations, stand in a corpus.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use datafusion::common::TableReference;

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::pairs::Unit;
use super::run::{Compared, Run, ratio};
use super::signature::Signature;
use crate::config::Gpu;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Parameters, Query};

/// Find the sentences of a corpus that are similar to given texts, and the passages that are similar to texts of several sentences
///
/// Columns: query_id, doc_id, sent, char_start, char_end (where the sentence stands in the document, or the passage that begins in
/// it), similarity.
#[derive(Debug, Args)]
pub(super) struct Search {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The texts to look for, each as a whole: a corpus, or anything that `ibid ingest` reads
    #[arg(long, value_name = "INPUT")]
    queries: String,
    /// What is searched
    #[arg(long, value_enum, default_value_t = Unit::Sentence)]
    unit: Unit,
    /// How a text becomes a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "shingles:1", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The least Jaccard similarity of the two sets, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = ratio)]
    threshold: f64,
    /// Look only at texts whose codes, by this file of `ibid codes learn`, are within --distance: hits may be lost, and `ibid codes
    /// compare` says how many. Codes are of words, or of characters with such a --signature
    #[arg(long, value_name = "FILE", requires = "distance")]
    codes: Option<PathBuf>,
    /// In how many bits codes may differ
    #[arg(long, value_name = "D", requires = "codes", value_parser = clap::value_parser!(u8))]
    distance: Option<u8>,
    /// Whether to compare on a GPU; the result is the same
    #[arg(long, value_enum, default_value_t = OnGpu::Auto)]
    gpu: OnGpu,
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

/// Whether to compare on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnGpu {
    /// On one that is there, else on the processor
    Auto,
    /// On one, and fail where there is none
    On,
    /// On the processor
    Off,
}

impl From<OnGpu> for Gpu {
    fn from(choice: OnGpu) -> Self {
        match choice {
            OnGpu::Auto => Self::Auto,
            OnGpu::On => Self::On,
            OnGpu::Off => Self::Off,
        }
    }
}

/// The stages that find what is searched: sentences, and what may be quotations of several of them.
const SENTENCES: [Query; 4] =
    [query::SEARCH_SEQUENCES, query::SEARCH_QUOTATIONS, query::SEARCH_QUOTATION_PLACES, query::SEARCH_UNITS];

impl Search {
    pub(super) async fn run(self) -> Result<Ending> {
        if self.show_sql {
            return self.compared().show_sql(&[(self.parameters()?, self.stages())]);
        }
        let mut run = Run::begin(&self.running)?;
        let places = self.writing.check(&[])?;
        self.reading.begin(places)?;
        run.open_both(&self.compared()).await?;
        run.workspace.parameters = self.parameters()?;
        self.check_codes(&run).await?;
        let rows = run.workspace.run_all(&self.stages()).await?.context("the last statement is a query")?;
        let hits = run.write(rows, &self.writing).await?;
        let (searched, queries) = match self.unit {
            Unit::Sentence => ("sentences", run.count("documents").await?[1]),
            Unit::Document => ("documents", run.count("documents").await?[1]),
        };
        let counts = [("queries", queries), (searched, run.count(searched).await?[0]), ("hits", hits)];
        run.end(&counts, None).await
    }

    /// Fails where the file of codes lacks what `ibid codes learn` writes.
    async fn check_codes(&self, run: &Run<'_>) -> Result<()> {
        let Some(codes) = &self.codes else { return Ok(()) };
        let table = TableReference::bare(self.reading.in_from(codes, "--codes")?);
        let columns = run.workspace.session.table_provider(table).await?.schema();
        match ["word", "code"].into_iter().find(|name| columns.field_with_name(name).is_err()) {
            Some(missing) => bail!(
                "{} has no column {missing:?}; --codes needs a file as ibid codes learn writes it",
                codes.display()
            ),
            None => Ok(()),
        }
    }

    fn compared(&self) -> Compared<'_> {
        Compared {
            inputs: &self.inputs,
            against: Some(&self.queries),
            reading: self.reading.reading(),
            needed: match self.unit {
                Unit::Sentence => Needed::DocumentsAndSentences,
                Unit::Document => Needed::Documents,
            },
        }
    }

    fn parameters(&self) -> Result<Parameters> {
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        parameters.set("against", true);
        parameters.set("threshold", self.threshold);
        parameters.set("gpu", Gpu::from(self.gpu).to_string().as_str());
        if let Some(codes) = &self.codes {
            parameters.set("codes", self.reading.in_from(codes, "--codes")?.as_str());
            parameters.set("distance", i64::from(self.distance.unwrap_or(0)));
        }
        Ok(parameters)
    }

    fn stages(&self) -> Vec<Query> {
        let (units, hits) = match self.unit {
            Unit::Sentence => (&SENTENCES[..], query::SEARCH_SENTENCES),
            Unit::Document => (&[query::UNITS_DOCUMENTS][..], query::SEARCH_DOCUMENTS),
        };
        let (gpu, strategy) = (query::SEARCH_GPU, query::SEARCH_STRATEGY);
        let coded = if self.signature.query == query::SIGNATURES_CHARACTERS {
            query::SEARCH_CODED_CHARACTERS
        } else {
            query::SEARCH_CODED_WORDS
        };
        let found = match self.codes {
            Some(_) => vec![coded, query::SEARCH_FOUND_BY_CODES],
            None => vec![query::SEARCH_FOUND],
        };
        [&[gpu, strategy, query::UNITS_DOCS], units, &[self.signature.query], &found, &[hits]].concat()
    }
}
