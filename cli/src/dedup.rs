//! `ibid dedup`: a collection without its duplicates, with the document that is kept for each removed one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use ibid::methods::{self, Keep, Matching, Measure, Piece, Signature};
use ibid::program::methods::{Builder, DEDUP_FILES};
use ibid::program::store::Stores;

use super::Ending;
use super::kept::{ShapeOptions, hand_on};
use super::options::{InputOptions, RunOptions, ratio};
use super::run::{engine, print, with_given};

/// Remove duplicates: each that goes has one that stays, verified, and of those that stay no two match
///
/// The folder gets kept/ (the documents that stay, in the order and with the columns of the input), removed.parquet (id, kept_id,
/// similarity, containment, containment_back, rule; of paragraphs and sentences also their places), pairs.parquet (each two that match),
/// clusters.parquet (each that stays for others, with these), with --by-source also sources.parquet, summary.json with the counts, and
/// manifest.json.
#[derive(Debug, Args)]
pub(super) struct Dedup {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder to write
    #[arg(short, long, value_name = "FOLDER", required_unless_present_any = ["show_sql", "rethreshold"])]
    output: Option<PathBuf>,
    /// The units that are compared, and go or stay
    #[arg(long, value_enum, default_value_t = Unit::Document)]
    unit: Unit,
    /// The measure by which two match [default: jaccard; passages match by exact alone]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// The signature that makes a text a set [default: shingles:5]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {} [default: shingles:5]", Signature::help()
    ))]
    signature: Option<Signature>,
    /// The least similarity, or share, of two that match, above 0 and up to 1 [default: 0.8]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// The number of words in a row that are a passage where they stand twice, for the unit passage [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    min_words: Option<u32>,
    /// The way in which matches by jaccard are found
    #[arg(long, value_enum, default_value_t = Method::Exact)]
    method: Method,
    /// The number of signatures of a text, by the method lsh; texts that share one are compared [default: as many as 128 minhashes make]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    bands: Option<u16>,
    /// The number of minhashes of a signature, by the method lsh [default: the most with which two texts that are as similar as --threshold
    /// are compared with a chance of 0.999]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=64))]
    rows: Option<u16>,
    /// The seed of the minhashes, by the method lsh [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// The number of texts of a signature with which all others that share it are compared, by the method lsh: the first that are kept
    /// [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_bucket: Option<u32>,
    /// The number of texts of which all matches are looked for, to say what the method lsh did not find, and to choose one by auto
    /// [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Which of several stays: first (by path, then record), longest, oldest:COLUMN, newest:COLUMN, highest:COLUMN or
    /// priority:COLUMN=a,b,c; of equals the first by its id
    #[arg(long, value_name = "RULE", default_value = "first")]
    keep: Keep,
    /// Count what is lost by the values of this column, too
    #[arg(long, value_name = "COLUMN")]
    by_source: Option<String>,
    /// The most pairs of distinct texts that may match
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Decide anew, with this threshold, what an earlier run decided: the input is its folder, which is replaced unless another is named
    /// with -o. Its options are taken, and the pairs that it found; its documents are read again, and must be the same
    #[arg(long, value_name = "T", value_parser = ratio, conflicts_with_all = ["unit", "by", "signature", "threshold", "min_words", "method", "bands",
        "rows", "seed", "max_bucket", "sample", "keep", "by_source", "max_pairs", "format", "rows_per_file", "ids_only", "annotate",
        "show_sql"])]
    rethreshold: Option<f64>,
    #[command(flatten)]
    shape: ShapeOptions,
    /// Print the SQL that would run, and do not run it
    #[arg(long)]
    show_sql: bool,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// The units that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    /// Whole documents
    Document,
    /// Paragraphs, between blank lines
    Paragraph,
    /// Sentences
    Sentence,
    /// Passages: words of a run of --min-words words that stands in what stays before them
    Passage,
}

/// The way in which matches are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// All of them, by a similarity join
    Exact,
    /// Those of texts that share a signature of minhashes, each verified; a sample says how many were not found
    Lsh,
    /// exact, unless a sample says that there are more matches than --max-pairs; a note says which
    Auto,
}

/// The measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The Jaccard similarity of the two sets
    Jaccard,
    /// The share of one that is in the other: nothing is lost; containers stay rather than what they contain
    Containment,
    /// The same text, but for case, width and white space
    Exact,
}

impl Dedup {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut dedup = self.builder(stores)?;
        if self.show_sql {
            dedup.shared().reading = self.reading.reading();
            return print(&dedup.show_sql()?);
        }
        let earlier = self.rethreshold.and_then(|_| self.inputs.first().map(Path::new));
        let output = self.output.as_deref().or(earlier).context("a folder to write is required")?;
        hand_on(dedup, output, &DEDUP_FILES, &self.reading, &self.running).await
    }

    fn builder(&self, stores: &Arc<Stores>) -> Result<methods::Dedup> {
        let unit = match self.unit {
            Unit::Document => Piece::Document,
            Unit::Paragraph => Piece::Paragraph,
            Unit::Sentence => Piece::Sentence,
            Unit::Passage => Piece::Passage,
        };
        let by = self.by.map(|by| match by {
            By::Jaccard => Measure::Jaccard,
            By::Containment => Measure::Containment,
            By::Exact => Measure::Exact,
        });
        let matching = match self.method {
            Method::Exact => Matching::Exact,
            Method::Lsh => Matching::Lsh,
            Method::Auto => Matching::Auto,
        };
        let dedup = engine(&self.running, stores)?
            .dedup(self.inputs.clone())
            .unit(unit)
            .matching(matching)
            .keep(self.keep.clone())
            .max_pairs(self.max_pairs)
            .format(self.shape.format)
            .ids_only(self.shape.ids_only)
            .annotate(self.shape.annotate);
        Ok(with_given!(
            dedup,
            by: by,
            signature: self.signature.clone(),
            threshold: self.threshold,
            min_words: self.min_words,
            rethreshold: self.rethreshold,
            bands: self.bands,
            rows: self.rows,
            seed: self.seed,
            max_bucket: self.max_bucket,
            sample: self.sample,
            by_source: self.by_source.as_ref(),
            rows_per_file: self.shape.rows_per_file,
        ))
    }
}
