use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::run::{Adding, CapOptions, MethodOptions, engine, prepared, print, with_given};
use ibid::Engine;
use ibid::methods::{self, Signature};
use ibid::program::methods::Builder;
use ibid::program::store::Stores;

/// Find pairs of similar documents, or of similar sentences
#[derive(Debug, Args)]
pub(super) struct Pairs {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The unit that is compared
    #[arg(long, value_enum, default_value_t = Unit::Document)]
    unit: Unit,
    /// The signature that makes a text a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "shingles:3", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The least Jaccard similarity of the two sets, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = super::options::ratio)]
    threshold: f64,
    #[command(flatten)]
    pub(super) method: MethodOptions,
    #[command(flatten)]
    cap: CapOptions,
    #[command(flatten)]
    pub(super) writing: OutputOptions,
    #[command(flatten)]
    pub(super) reading: InputOptions,
    #[command(flatten)]
    pub(super) running: RunOptions,
}

/// The unit that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Unit {
    /// Whole documents; in a file of sentences each row is a document
    Document,
    /// The sentences of the documents
    Sentence,
}

impl From<Unit> for methods::Unit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Document => Self::Document,
            Unit::Sentence => Self::Sentence,
        }
    }
}

impl Pairs {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let further = self.cap.further();
        let mut pairs = self.builder(&engine(&self.running, stores)?);
        if !self.method.add.is_empty() {
            let adding = Adding {
                inputs: &self.inputs,
                further: &further,
                reference: None,
                show_sql: self.method.show_sql,
                writing: &self.writing,
                reading: &self.reading,
                running: &self.running,
            };
            return adding.run(self.method.timed(pairs.adding(self.method.add.clone())?)).await;
        }
        if self.method.show_sql {
            return print(&pairs.show_sql()?);
        }
        self.reading
            .begin(self.writing.check(&further.iter().map(|(_, path)| *path).collect::<Vec<_>>(), stores)?, stores)?;
        let talk = prepared(&mut pairs, self.reading.reading(), &self.running)?;
        talk.deliver(pairs.await?, "pairs", &self.writing, &further, &self.running).await
    }

    /// Returns the method with the options that are given.
    pub(super) fn builder(&self, engine: &Engine) -> methods::Pairs {
        let pairs = engine
            .pairs(self.inputs.clone())
            .unit(self.unit.into())
            .signature(self.signature.clone())
            .threshold(self.threshold)
            .max_frequency(self.cap.max_frequency)
            .same_ids(self.method.other.same_ids)
            .within_documents(self.method.within_documents)
            .max_pairs(self.method.max_pairs);
        let mut pairs = with_given!(pairs, against: self.method.other.against.as_ref());
        pairs.shared().reading = self.reading.reading();
        pairs
    }

    /// Returns true if options name files to write.
    pub(super) fn has_files(&self) -> bool {
        self.writing.output.is_some() || self.cap.capped.is_some()
    }
}
