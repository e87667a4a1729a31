//! `ibid clusters`: similar sentences across a collection.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, RunOptions, ratio};
use super::pairs::Unit;
use super::run::{ending, engine, prepared, print, with_given};
use ibid::Engine;
use ibid::methods::{self, Signature};
use ibid::program::methods::Builder;
use ibid::program::methods::FolderPlace;
use ibid::program::methods::NAMES;
use ibid::program::store::Stores;

/// Find clusters of similar sentences, and the documents that share them
///
/// Writes a folder of tables: clusters, pairs (of distinct texts, with their kind), article_pairs, histogram, capped, buckets,
/// and with --certify certificate. Prints the histogram, the largest clusters and the documents that share most.
#[derive(Debug, Args)]
pub(super) struct Clusters {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder to write
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "show_sql")]
    output: Option<PathBuf>,
    /// The unit that is compared
    #[arg(long, value_enum, default_value_t = Unit::Sentence)]
    unit: Unit,
    /// The signature that makes a text a set
    #[arg(long, value_name = "NAME:PARAMS", default_value = "characters:10", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {}", Signature::help()
    ))]
    signature: Signature,
    /// The way in which similar texts are found
    #[arg(long, value_enum, default_value_t = Way::Lsh)]
    method: Way,
    /// The least Jaccard similarity of a pair, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.7, value_parser = ratio)]
    threshold: f64,
    /// The number of signatures of a text, for the method lsh; texts that share one are compared [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    bands: Option<u16>,
    /// The number of minhashes in a signature, for the method lsh [default: 8]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=64))]
    rows: Option<u16>,
    /// The seed of the minhashes, for the method lsh [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// The most texts of one signature that are compared with each other, for the method lsh; if more share it, only the first
    /// are compared [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_bucket: Option<u32>,
    /// The largest normalised edit distance of a pair, from 0 up to 1
    #[arg(long, value_name = "E", value_parser = share)]
    max_edit: Option<f64>,
    /// Split clusters so that each text has at least this similarity with the representative of its cluster
    #[arg(long, value_name = "S", value_parser = ratio)]
    cohesion: Option<f64>,
    /// Join a sample of about this many distinct texts exactly with all others, and print the recall of the method lsh
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10000", value_parser = clap::value_parser!(u64).range(1..))]
    certify: Option<u64>,
    /// The shortest text to compare, in characters
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_characters: u32,
    /// The longest text to compare, in characters [default: 5000 for sentences, any length for documents]
    #[arg(long, value_name = "N")]
    max_characters: Option<u32>,
    /// A text in more places than this makes no pairs of documents; it is counted, and listed as capped
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_frequency: u32,
    /// The most pairs of places to count for pairs of documents; a run that would count more is refused before it does
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Number of the largest clusters, and of the pairs of documents that share most, to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: u16,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// The way in which similar texts are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By locality-sensitive hashing: finds most pairs; the more similar a pair, the more likely
    Lsh,
    /// By a similarity join: finds all pairs
    Exact,
}

/// Parses a share from 0 up to 1.
fn share(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => bail!("write a number from 0 up to 1, such as 0.25"),
    }
}

impl Clusters {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        if self.show_sql {
            let mut clusters = self.builder(&engine(&self.running, stores)?);
            clusters.shared().reading = self.reading.reading();
            return print(&clusters.show_sql().await?);
        }
        let output = self.output.as_deref().context("a folder to write is required")?;
        let mut clusters = self.builder(&engine(&self.running, stores)?);
        clusters.check()?;
        self.reading.begin_folder(output, &self.running, stores)?;
        let place = FolderPlace::new(output, &NAMES, stores)?;
        let talk = prepared(&mut clusters, self.reading.reading(), &self.running)?;
        let mut found = clusters.clone().await?;
        let said = clusters.overview(&mut found).await?;
        found.write_staged_folder(place).await?;
        talk.clear();
        print(&said)?;
        talk.summarise(&found.summary);
        Ok(ending(&found.summary, &self.running))
    }

    /// Returns the method with the options that are given.
    fn builder(&self, engine: &Engine) -> methods::Clusters {
        let clusters = engine
            .clusters(self.inputs.clone())
            .unit(self.unit.into())
            .signature(self.signature.clone())
            .threshold(self.threshold)
            .min_characters(self.min_characters)
            .max_frequency(self.max_frequency)
            .max_pairs(self.max_pairs)
            .top(self.top);
        let clusters = if self.method == Way::Exact { clusters.exact() } else { clusters };
        with_given!(
            clusters,
            bands: self.bands,
            rows: self.rows,
            seed: self.seed,
            max_bucket: self.max_bucket,
            max_edit: self.max_edit,
            cohesion: self.cohesion,
            certify: self.certify,
            max_characters: self.max_characters,
        )
    }
}
