//! `ibid containment`: documents that are contained in others.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::pairs::Unit;
use super::run::{Adding, AgainstOptions, engine, prepared, print, with_given};
use super::stream::{self, Streamed};
use ibid::Engine;
use ibid::methods::Comparing;
use ibid::methods::{self, Signature};
use ibid::program::export::Format;
use ibid::program::methods::Builder;
use ibid::program::methods::duration;
use ibid::program::methods::refuse_without_effect;
use ibid::program::store::Stores;

/// Find documents that are contained in others
///
/// Columns: contained, container, score (the share of the first that is in the second), score_back (the share of the second
/// that is in the first), sentences (the number of sentences of the first that the second has word for word); with --passages
/// also passages (their places).
#[derive(Debug, Args)]
pub(super) struct Containment {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The way in which documents are compared
    #[arg(long, value_enum, default_value_t = Way::Sets)]
    method: Way,
    /// For --method sets: look for the set of each document, or for the set of each of its sentences
    #[arg(long, value_enum)]
    unit: Option<Unit>,
    /// For --method sets: how a text becomes a set [default: shingles:4]
    #[arg(long, value_name = "NAME:PARAMS", long_help = format!(
        "For --method sets: how a text becomes a set; parameters left out have the values shown: {} [default: shingles:4]",
        Signature::help()
    ))]
    signature: Option<Signature>,
    /// The least score, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.6, value_parser = ratio)]
    threshold: f64,
    /// For --unit sentence: the least share of a sentence that must be in one sentence of the container [default: 0.8]
    #[arg(long, value_name = "T", value_parser = ratio)]
    sentence_threshold: Option<f64>,
    /// For --method codet: the depth of the tree, in words of a sentence (DT) [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    depth: Option<u16>,
    /// For --method codet: the number of suffixes of a sentence to enter in the tree (PSC); the first is the sentence itself
    /// [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    suffixes: Option<u16>,
    /// For --method codet: leave words in the order of the sentence, instead of the rarest first
    #[arg(long)]
    unsorted: bool,
    /// For --method simhash: the number of bits, of 64, in which two codes may differ [default: 2]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u8).range(0..=16))]
    distance: Option<u8>,
    /// For --method codet and simhash: a file with a column text, whose words give the document frequencies (idf) [default: the
    /// input; with --add the compared documents of the index and the added ones]
    #[arg(long, value_name = "FILE")]
    reference: Option<PathBuf>,
    /// The language of the texts, such as tr, for lower case and stop words
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Leave out the most frequent words of --language
    #[arg(long, requires = "language")]
    without_stop_words: bool,
    /// Cut words to this many letters; the paper uses 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    truncate: Option<u16>,
    /// The column with the time of a document: a timestamp, a date, a year, a number of seconds, or text that is one of them.
    /// Only earlier documents are then containers
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    /// The most time that a container may be older than a document, such as 72h or 30days
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    window: Option<Duration>,
    /// Also take later documents as containers
    #[arg(long)]
    later: bool,
    #[command(flatten)]
    other: AgainstOptions,
    /// Add these documents to the index that is the input, after the rows that involve them are written; creates the index if
    /// there is none, with --time-column. With -, judges JSON lines of standard input one by one, as they arrive
    #[arg(long, value_name = "NEW", num_args = 1.., conflicts_with = "against")]
    add: Vec<String>,
    /// With --add -: the time after which judged documents are added to the index [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    commit_every: Option<Duration>,
    #[command(flatten)]
    passages: PassageOptions,
    /// The most pairs of places to make; a run that would make more is refused before it makes them
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pairs: u64,
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

/// The way in which documents are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By the share of the set of one document that is in the set of the other: exact. The methods FFP, DSC and I-Match of the
    /// paper are the signatures shingles:4, sampled_shingles:4,3 and i_match_ranked:2,10
    Sets,
    /// By the common prefixes of sentences, whose words are sorted rarest first (CoDet)
    Codet,
    /// By the distance of their SimHashes, which leave out the two rarest words
    Simhash,
}

/// Options of `--passages`.
#[derive(Debug, Args)]
pub(super) struct PassageOptions {
    /// Add a column passages that says where the shared text is, with one struct per passage
    #[arg(long)]
    passages: bool,
    /// For --passages: the least number of words that both sides of a passage share [default: 8]
    #[arg(long, value_name = "N", requires = "passages", value_parser = clap::value_parser!(u32).range(1..=1000))]
    min_words: Option<u32>,
    /// For --passages: words that two documents share in more pairs of places than this start no passage; they are counted as
    /// capped, and belong only to passages that other words start [default: 1000]
    #[arg(long, value_name = "N", requires = "passages", value_parser = clap::value_parser!(u32).range(1..))]
    max_frequency: Option<u32>,
}

/// The default for the least number of words of a passage.
const MIN_WORDS: u32 = 8;

/// The name of the rows of the result in the summary.
const CONTAINED: &str = "contained";

impl Containment {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        refuse_without_effect(&[
            ("commit_every", self.commit_every.is_some(), self.is_stream()),
            ("passages", self.passages.passages, !self.is_stream()),
        ])?;
        if self.passages.passages && self.writing.form()?.format == Format::Csv {
            bail!("CSV cannot hold the column of --passages, which is a list; --format ndjson or parquet can");
        }
        let mut containment = self.builder(&engine(&self.running, stores)?);
        containment.shared().reading = self.reading.reading();
        if self.is_stream() && !self.show_sql {
            containment.check()?;
            let streamed = Streamed {
                inputs: &self.inputs,
                commit_every: self.commit_every,
                writing: &self.writing,
                reading: &self.reading,
                running: &self.running,
            };
            return stream::run(containment, &streamed).await;
        }
        if !self.add.is_empty() {
            let adding = Adding {
                inputs: &self.inputs,
                further: &[],
                reference: self.reference.as_deref(),
                show_sql: self.show_sql,
                writing: &self.writing,
                reading: &self.reading,
                running: &self.running,
            };
            return adding.run(containment.adding(self.add.clone())?).await;
        }
        if self.show_sql {
            return print(&containment.show_sql()?);
        }
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        self.reference.as_deref().map_or(Ok(()), |reference: &Path| self.reading.refuse(reference))?;
        let talk = prepared(&mut containment, self.reading.reading(), &self.running)?;
        talk.deliver_as(containment.await?, ("containments", CONTAINED), &self.writing, &[], &self.running).await
    }

    /// Returns the method with the options that are given.
    pub(super) fn builder(&self, engine: &Engine) -> methods::Containment {
        let comparing = match self.method {
            Way::Sets => Comparing::Sets,
            Way::Codet => Comparing::Codet,
            Way::Simhash => Comparing::Simhash,
        };
        let mut containment = engine
            .containment(self.inputs.clone())
            .comparing(comparing)
            .same_ids(self.other.same_ids)
            .threshold(self.threshold)
            .max_pairs(self.max_pairs);
        if self.unsorted {
            containment = containment.unsorted();
        }
        if self.without_stop_words {
            containment = containment.without_stop_words();
        }
        if self.later {
            containment = containment.later();
        }
        if self.passages.passages {
            containment = containment.passages(self.passages.min_words.unwrap_or(MIN_WORDS));
        }
        with_given!(
            containment,
            against: self.other.against.as_ref(),
            unit: self.unit.map(Unit::into),
            signature: self.signature.clone(),
            sentence_threshold: self.sentence_threshold,
            depth: self.depth,
            suffixes: self.suffixes,
            distance: self.distance,
            reference: self.reference.as_ref(),
            language: self.language.as_ref(),
            truncate: self.truncate,
            time_column: self.time_column.as_ref(),
            window: self.window,
            max_frequency: self.passages.max_frequency,
        )
    }

    fn is_stream(&self) -> bool {
        self.add == ["-"]
    }
}
