//! `ibid search`: where texts, such as quotations, stand in a corpus.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::pairs::Unit;
use super::run::{engine, prepared, print};
use ibid::Gpu;
use ibid::methods::Signature;
use ibid::program::methods::Builder;
use ibid::program::store::Stores;

/// Find the sentences of a corpus that are similar to given texts, and the passages that are similar to texts of several sentences
///
/// Columns: query_id, doc_id, sent, char_start, char_end (the place of the sentence in the document, or of the passage that
/// begins in it), similarity.
#[derive(Debug, Args)]
pub(super) struct Search {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The texts to look for, each as a whole: a corpus, or anything that `ibid ingest` reads
    #[arg(long, value_name = "INPUT")]
    queries: String,
    /// The unit that is searched
    #[arg(long, value_enum, default_value_t = Unit::Sentence)]
    unit: Unit,
    /// The signature that makes a text a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "shingles:1", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The least Jaccard similarity of the two sets, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = ratio)]
    threshold: f64,
    /// Look only at texts whose codes are within --distance; the codes come from this file of `ibid codes learn`. Hits may be
    /// lost: `ibid codes compare` says how many. Codes are of words, or of characters with such a --signature
    #[arg(long, value_name = "FILE", requires = "distance")]
    codes: Option<PathBuf>,
    /// The number of bits in which two codes may differ
    #[arg(long, value_name = "D", requires = "codes", value_parser = clap::value_parser!(u8))]
    distance: Option<u8>,
    /// Compare on a GPU or not; the result is the same
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

/// The use of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnGpu {
    /// On a GPU if there is one, else on the processor
    Auto,
    /// On a GPU; fails if there is none
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

impl Search {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut search = engine(&self.running, stores)?
            .search(self.inputs.clone(), &self.queries)
            .unit(self.unit.into())
            .signature(self.signature.clone())
            .threshold(self.threshold)
            .gpu(self.gpu.into());
        if let Some(codes) = &self.codes {
            search = search.codes(codes, self.distance.unwrap_or(0));
        }
        if self.show_sql {
            search.shared().reading = self.reading.reading();
            return print(&search.show_sql()?);
        }
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        if let Some(codes) = &self.codes {
            self.reading.refuse(codes)?;
        }
        let talk = prepared(&mut search, self.reading.reading(), &self.running)?;
        talk.deliver(search.await?, "hits", &self.writing, &[], &self.running).await
    }
}
