//! `ibid codes`: codes of words, for codes of sentences.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use ibid_codes::Width;

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::run::{engine, prepared};
use ibid::methods;
use ibid::methods::Learner;
use ibid::program::methods::Learning as LearningOptions;
use ibid::program::store::Stores;

/// Learn and compare codes of words; the code of a sentence is the union of the codes of its words
#[derive(Debug, Args)]
pub(super) struct Codes {
    #[command(subcommand)]
    command: CodesCommand,
}

#[derive(Debug, Subcommand)]
enum CodesCommand {
    Learn(Learn),
    Compare(CompareCodes),
}

impl Codes {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        match self.command {
            CodesCommand::Learn(command) => command.run(stores).await,
            CodesCommand::Compare(command) => command.run(stores).await,
        }
    }
}

/// The options of learning.
#[derive(Debug, Args)]
struct Learning {
    /// The number of bits of a code: 32, 64, 128 or 256
    #[arg(long, value_name = "N", default_value = "32", value_parser = width)]
    bits: Width,
    /// The number of bits that a word sets
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    per_word: u32,
    /// The number of most frequent words for which codes are learned; other words have a code from their MD5 hash
    #[arg(long, value_name = "N", default_value_t = 3000)]
    top: usize,
    /// The number of different sentences from which codes are learned
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    sample: usize,
    /// For opt: the power of its frequency with which a word counts in the load of a bit, from 0 to 1 [default: 0.25]
    #[arg(long, value_name = "X")]
    spread: Option<f64>,
    /// For ner: the least similarity of two words that share a code, from 0 to 1; it is 0.5 for words that occur together in
    /// half of their sentences [default: 0.5]
    #[arg(long, value_name = "X")]
    least: Option<f64>,
    /// The seed for the choice of sentences, and for the starting point of opt
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The tokens of a sentence; characters for Chinese
    #[arg(long, value_enum, default_value_t = Token::Words)]
    tokens: Token,
    /// The language of the texts, such as tr, for lower case
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
}

/// The tokens of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Token {
    /// Its words
    Words,
    /// Its characters, without white space
    Characters,
}

impl Learning {
    fn options(&self) -> LearningOptions {
        LearningOptions {
            bits: self.bits,
            per_word: self.per_word,
            top: self.top,
            sample: self.sample,
            spread: self.spread,
            least: self.least,
            seed: self.seed,
            tokens: match self.tokens {
                Token::Words => methods::Token::Words,
                Token::Characters => methods::Token::Characters,
            },
            language: self.language.clone(),
        }
    }
}

fn width(bits: &str) -> Result<Width> {
    bits.parse().ok().and_then(Width::of_bits).ok_or_else(|| anyhow!("codes have 32, 64, 128 or 256 bits"))
}

/// Learn codes of the most frequent words from the sentences of a collection
///
/// One row for each word, the most frequent first. Columns: word, code (one byte for 8 bits; bit i is bit i % 8 of byte i / 8),
/// bits (the numbers of the bits that are set), frequency (how often the word occurs). The functions codebook and bit_code make
/// codes of sentences from this table.
#[derive(Debug, Args)]
struct Learn {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The way in which codes are chosen
    #[arg(long, value_enum, default_value_t = Way::Opt)]
    method: Way,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// The way in which codes are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By the MD5 hash of the word
    Md5,
    /// Words that mostly occur together share a code; the others have the codes of their hashes
    Ner,
    /// Words that occur together have bits in common, while all bits keep the same load
    Opt,
}

impl Learn {
    async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut learn = engine(&self.running, stores)?.learn_codes(self.inputs.clone());
        learn.learning = self.learning.options();
        learn.by = match self.method {
            Way::Md5 => Learner::Md5,
            Way::Ner => Learner::Ner,
            Way::Opt => Learner::Opt,
        };
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        let talk = prepared(&mut learn, self.reading.reading(), &self.running)?;
        talk.deliver(learn.await?, "codes", &self.writing, &[], &self.running).await
    }
}

/// Count the candidates that codes of sentences leave: codes by MD5, NER and OPT, and exact bitmaps
///
/// Takes some sentences as queries, and compares each with all other sentences by brute force. One row for each similarity and
/// each kind of code. Columns: similarity, codes, bits, per_word, bits_set (of a sentence, on average), similar (similar
/// sentences per query), exact (candidates per query that the exact filter leaves; it loses nothing), and with one distance for
/// all queries, as in the paper: distance_1 and candidates_1 to find all similar sentences, distance_999 and candidates_999 to
/// find .999 of them, distance_99 and candidates_99 to find .99.
#[derive(Debug, Args)]
struct CompareCodes {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Also learn codes from the sentences of this collection, and use them for the sentences of the input
    #[arg(long, value_name = "INPUT")]
    other: Option<String>,
    /// The number of sentences to use as queries
    #[arg(long, value_name = "N", default_value_t = 2000)]
    queries: usize,
    /// The least similarity, by Jaccard and by cosine, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = ratio)]
    threshold: f64,
    /// Leave out sentences with fewer different words than this
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_words: usize,
    /// Take only the first of several sentences with the same words
    #[arg(long)]
    distinct: bool,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

impl CompareCodes {
    async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut compare = engine(&self.running, stores)?
            .compare_codes(self.inputs.clone())
            .queries(self.queries)
            .threshold(self.threshold)
            .min_words(self.min_words);
        if let Some(other) = &self.other {
            compare = compare.other(other);
        }
        (compare.distinct, compare.learning) = (self.distinct, self.learning.options());
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        let talk = prepared(&mut compare, self.reading.reading(), &self.running)?;
        talk.deliver_as(compare.await?, ("comparison", "rows"), &self.writing, &[], &self.running).await
    }
}
