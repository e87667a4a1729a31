//! `ibid decontaminate`: a collection without the items of an evaluation, and the list of the items that it contained.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use ibid::methods::{self, Leaving, Overlap, Signature};
use ibid::program::methods::{Builder, DECONTAMINATE_FILES};
use ibid::program::store::Stores;

use super::Ending;
use super::kept::{ShapeOptions, hand_on};
use super::options::{InputOptions, RunOptions, ratio};
use super::run::{engine, print, with_given};

/// Remove the documents that contain items of an evaluation, or only the passages that they share with an item
///
/// The folder contains kept/ (the documents that stay, in the order and with the columns of the input), hits.parquet (id,
/// item_id, rule, words, share, items, and the places in both), items.parquet (item_id, words, is_tested, documents, share),
/// summary.json with the counts, and manifest.json.
#[derive(Debug, Args)]
pub(super) struct Decontaminate {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The items to look for: a corpus, or anything that `ibid ingest` reads
    #[arg(long, value_name = "ITEMS", num_args = 1.., required = true)]
    against: Vec<String>,
    /// The columns with the text of the items, such as question,answer: joined one under the other [default: the text column of
    /// the documents]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    item_column: Vec<String>,
    /// The column that holds the id of an item; '' numbers them [default: as for documents]
    #[arg(long, value_name = "NAME")]
    item_id_column: Option<String>,
    /// The folder to write
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "show_sql")]
    output: Option<PathBuf>,
    /// The units that are removed
    #[arg(long, value_enum, default_value_t = Unit::Document)]
    unit: Unit,
    /// The measure by which a document contains an item
    #[arg(long, value_enum, default_value_t = By::Words)]
    by: By,
    /// The number of consecutive words of an item that a document must have; all words, if the item has fewer [default: 13]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    words: Option<u32>,
    /// The least number of words of an item; items with fewer are not looked for, but listed [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    min_words: Option<u32>,
    /// By containment: how a text becomes a set [default: shingles:5]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "By containment: how a text becomes a set; parameters left out have the values shown: {} [default: shingles:5]",
        Signature::help()
    ))]
    signature: Option<Signature>,
    /// By containment: the least share of an item that a document must have, above 0 and up to 1 [default: 0.8]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// By containment: the most pairs of distinct texts of which one may contain the other
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
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

/// The units that go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    /// Whole documents
    Document,
    /// The passages that a document and an item have in common
    Passage,
}

/// The measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Consecutive words of the item
    Words,
    /// The share of the item's set that is in the document's set
    Containment,
}

impl Decontaminate {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut decontaminate = self.builder(stores)?;
        if self.show_sql {
            decontaminate.shared().reading = self.reading.reading();
            return print(&decontaminate.show_sql()?);
        }
        let output = self.output.as_deref().context("a folder to write is required")?;
        hand_on(decontaminate, output, &DECONTAMINATE_FILES, &self.reading, &self.running).await
    }

    fn builder(&self, stores: &Arc<Stores>) -> Result<methods::Decontaminate> {
        let unit = match self.unit {
            Unit::Document => Leaving::Document,
            Unit::Passage => Leaving::Passage,
        };
        let by = match self.by {
            By::Words => Overlap::Words,
            By::Containment => Overlap::Containment,
        };
        let decontaminate = engine(&self.running, stores)?
            .decontaminate(self.inputs.clone(), self.against.clone())
            .item_columns(self.item_column.clone())
            .unit(unit)
            .by(by)
            .max_pairs(self.max_pairs)
            .format(self.shape.format)
            .ids_only(self.shape.ids_only)
            .annotate(self.shape.annotate);
        Ok(with_given!(
            decontaminate,
            item_id_column: self.item_id_column.as_ref(),
            words: self.words,
            min_words: self.min_words,
            signature: self.signature.clone(),
            threshold: self.threshold,
            rows_per_file: self.shape.rows_per_file,
        ))
    }
}
