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

/// Remove duplicates: each removed unit has a verified match that is kept, and no two kept units match
///
/// The folder contains kept/ (the documents that stay, in the order and with the columns of the input), removed.parquet (id,
/// kept_id, similarity, containment, containment_back, rule; for parts of documents also their places), pairs.parquet (the
/// pairs that match), clusters.parquet (each kept unit with the units that it stands for), summary.json with the counts, and
/// manifest.json; with --by-source also sources.parquet.
#[derive(Debug, Args)]
pub(super) struct Dedup {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The folder to write
    #[arg(short, long, value_name = "FOLDER", required_unless_present_any = ["show_sql", "rethreshold"])]
    output: Option<PathBuf>,
    /// The units that are compared, and removed or kept
    #[arg(long, value_enum, default_value_t = Unit::Document)]
    unit: Unit,
    /// The measure by which two units match [default: jaccard; passages match only by exact]
    #[arg(long, value_enum)]
    by: Option<By>,
    /// The signature that makes a text a set [default: shingles:5]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "How a text becomes a set; parameters left out have the values shown: {} [default: shingles:5]", Signature::help()
    ))]
    signature: Option<Signature>,
    /// The least similarity (or share) of two units that match, above 0 and up to 1 [default: 0.8]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// The least number of consecutive words that are removed if they occur twice, for the unit passage [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    min_words: Option<u32>,
    /// The way in which matches by jaccard are found
    #[arg(long, value_enum, default_value_t = Method::Exact)]
    method: Method,
    /// The number of signatures of a text, for the method lsh; texts that share one are compared [default: as many as 128
    /// minhashes make]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    bands: Option<u16>,
    /// The number of minhashes of a signature, for the method lsh [default: the most with which two texts at the similarity
    /// --threshold are compared with a probability of 0.999]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=64))]
    rows: Option<u16>,
    /// The seed of the minhashes, for the method lsh [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// The most texts of one signature that are compared with each other, for the method lsh; if more share it, all are
    /// compared with the first of them, in the order of --keep [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    max_bucket: Option<u32>,
    /// The size of a sample of texts whose matches are all found exactly, to estimate the recall of lsh, and to choose the
    /// method with auto [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// The one of several matching units to keep: first (by path, then record), longest, oldest:COLUMN, newest:COLUMN,
    /// highest:COLUMN or priority:COLUMN=a,b,c; among equals the first by id
    #[arg(long, value_name = "RULE", default_value = "first")]
    keep: Keep,
    /// Also count how much is removed for each value of this column
    #[arg(long, value_name = "COLUMN")]
    by_source: Option<String>,
    /// The most pairs of distinct texts that may match
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
    /// Repeat the decisions of an earlier run with this threshold. The input is the folder of that run; it is replaced, unless
    /// -o names another. The options of that run and the pairs that it found are reused. Its documents are read again, and must
    /// be the same
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
    /// Passages: words in a run of --min-words words that also occurs earlier in the kept text
    Passage,
}

/// The way in which matches are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// By a similarity join: finds all matches
    Exact,
    /// By hashing: compares texts that share a signature of minhashes, and verifies each match; a sample tells how many were
    /// missed
    Lsh,
    /// Uses exact, or lsh if a sample shows more matches than --max-pairs; a note says which
    Auto,
}

/// The measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// The Jaccard similarity of the two sets
    Jaccard,
    /// The share of one unit that is in the other: containers are kept rather than the units that they contain
    Containment,
    /// The same text, except for case, width and white space
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
