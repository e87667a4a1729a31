//! `ibid threads`: near-duplicate threads over several fields.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::run::{AgainstOptions, ending, engine, prepared, print, with_given};
use ibid::Engine;
use ibid::methods::{self, Signature};
use ibid::program::methods::Builder;
use ibid::program::methods::{Canonical, FieldOption, SignatureOption};
use ibid::program::store::Stores;

/// Find near-duplicate threads, by the weighted mean of the similarities of several fields
///
/// Records are JSON lines, CSV or Parquet with an id and the fields as columns; or a corpus made of them.
#[derive(Debug, Args)]
pub(super) struct Threads {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// A field and its weight; may be repeated. Weights are divided by their sum; without weights the fields are equal.
    /// title+body is one field of two columns
    #[arg(long, value_name = "NAME=WEIGHT", required = true)]
    field: Vec<FieldOption>,
    /// The signature that makes a text a set, for all fields, or for one with FIELD=NAME:PARAMS [default: shingles:3]
    #[arg(long, value_name = "[FIELD=]NAME:PARAMS", long_help = format!(
        "How a text becomes a set, for all fields, or for one with FIELD=NAME:PARAMS; may be repeated; parameters left out \
         have the values shown: {} [default: shingles:3]", Signature::help()
    ))]
    signature: Vec<SignatureOption>,
    /// The least score, above 0 and up to 1 [default: 0.5, or the best one with --weights fit]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// The way in which similar fields are found
    #[arg(long, value_enum, default_value_t = Strategy::Doc)]
    strategy: Strategy,
    /// The most distinct texts in a list of postings that makes pairs, for --strategy term; longer lists are reported as capped
    /// [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_postings: Option<u32>,
    /// The size of a sample of threads whose pairs are all found exactly, to estimate the recall of --strategy term; 0 takes no
    /// sample [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    certify: Option<i64>,
    /// Use the weights that are best for the pairs of --labels, and the best threshold if none is given
    #[arg(long, value_enum, requires = "labels")]
    weights: Option<Weights>,
    /// Labelled pairs to judge by: id_a, id_b and whether they are duplicates, as JSON lines, CSV, TSV or Parquet
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// The column of --labels that says whether a pair is a duplicate
    #[arg(long, value_name = "NAME", default_value = "label", requires = "labels")]
    label: String,
    /// Evaluate the fields and weights on the labels, and do not look for pairs
    #[arg(long, requires = "labels", conflicts_with_all = ["groups", "capped", "output"])]
    evaluate_only: bool,
    /// The number of random weights from which the hill climbing for --weights fit starts
    #[arg(long, value_name = "N", default_value_t = 100, requires = "weights")]
    starts: u16,
    /// The seed of the random weights
    #[arg(long, value_name = "N", default_value_t = 0, requires = "weights")]
    seed: u64,
    /// Write to this file how well each field and the score separate the labelled pairs: what, weight, threshold, precision,
    /// recall, f1, auc
    #[arg(long, value_name = "FILE", requires = "labels")]
    evaluation: Option<PathBuf>,
    /// Write to this file the groups of threads that the pairs connect: canonical, id, score (of the two); with --against also
    /// canonical_collection and collection, which are input or against
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// The thread of a group to keep: votes (the most votes), oldest or longest; votes=COLUMN and oldest=COLUMN name the column
    /// [default columns: votes, created_at]
    #[arg(long, value_name = "RULE", requires = "groups", default_value = "longest")]
    canonical: Canonical,
    #[command(flatten)]
    other: AgainstOptions,
    /// The most pairs of threads to compare in all fields. A run that would compare more is refused before it does, because
    /// each takes some 200 bytes of memory
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Write to this file the lists of postings that --strategy term capped: field, element, texts, pairs_not_made, example
    #[arg(long, value_name = "FILE")]
    capped: Option<PathBuf>,
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

/// The way in which similar fields are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// By a similarity join: exact
    Doc,
    /// By lists of postings, with a cap: approximate
    Term,
}

/// Where the weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weights {
    /// From labelled pairs
    Fit,
}

impl Threads {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut threads = self.builder(&engine(&self.running, stores)?);
        if self.show_sql {
            if self.weights.is_some() {
                bail!("weights are not fitted in SQL; fit them first, and write --show-sql with the weights found");
            }
            threads.shared().reading = self.reading.reading();
            return print(&threads.show_sql()?);
        }
        let files = [("evaluation", &self.evaluation), ("groups", &self.groups), ("capped", &self.capped)];
        let further: Vec<_> = files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?))).collect();
        let places: Vec<_> = further.iter().map(|(_, path)| *path).collect();
        self.reading.begin(self.writing.check(&places, stores)?, stores)?;
        let talk = prepared(&mut threads, self.reading.reading(), &self.running)?;
        if self.evaluate_only {
            let found = threads.evaluate().await?;
            talk.place(&found, &further, &self.writing).await?;
            talk.clear();
            talk.say_left_out(&found.summary);
            return Ok(ending(&found.summary, &self.running));
        }
        talk.deliver(threads.await?, "pairs", &self.writing, &further, &self.running).await
    }

    /// Returns the method with the options that are given.
    fn builder(&self, engine: &Engine) -> methods::Threads {
        let mut threads = engine.threads(self.inputs.clone()).max_pairs(self.max_pairs);
        (threads.field, threads.signature) = (self.field.clone(), self.signature.clone());
        threads.is_by_postings = self.strategy == Strategy::Term;
        (threads.max_postings, threads.certify) = (self.max_postings, self.certify);
        threads.groups = self.groups.is_some().then(|| self.canonical.clone());
        if let Some(file) = &self.labels {
            threads = threads.labels(file, &self.label);
        }
        if let Some(Weights::Fit) = self.weights {
            threads = threads.fit_weights(self.starts, self.seed);
        }
        with_given!(threads.same_ids(self.other.same_ids), threshold: self.threshold, against: self.other.against.as_ref())
    }
}
