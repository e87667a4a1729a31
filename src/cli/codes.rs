//! `ibid codes`: codes of words, for codes of sentences (LEARNED-CODES).

mod compare;
mod learn;

use std::fmt::Write as _;
use std::num::NonZero;

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::{Array, AsArray, RecordBatch, StringViewArray};
use clap::{Args, Subcommand, ValueEnum};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::TryStreamExt;
use ibid_codes::{Method, Options, Report, Width};

use self::compare::CompareCodes;
use self::learn::Learn;
use super::Ending;
use super::run::Run;
use crate::corpus;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Compared, grouped};

/// Codes of words, whose union is a code of fixed width for a sentence: learn them, compare them
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
    pub(super) async fn run(self) -> Result<Ending> {
        match self.command {
            CodesCommand::Learn(command) => command.run().await,
            CodesCommand::Compare(command) => command.run().await,
        }
    }
}

/// What is learned, and from what.
#[derive(Debug, Args)]
struct Learning {
    /// How many bits a code has: 32, 64, 128 or 256
    #[arg(long, value_name = "N", default_value = "32", value_parser = width)]
    bits: Width,
    /// How many of them a word sets
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    per_word: u32,
    /// For how many of the most frequent words codes are learned; any other has a code from its MD5 hash
    #[arg(long, value_name = "N", default_value_t = 3000)]
    top: usize,
    /// From how many different sentences codes are learned
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    sample: usize,
    /// For opt: by which power of their frequency words weigh in the load of a bit, from 0 to 1 [default: 0.25]
    #[arg(long, value_name = "X")]
    spread: Option<f64>,
    /// For ner: from which similarity on, from 0 to 1, words share a code; 0.5 have words that stand together in half of their
    /// sentences [default: 0.5]
    #[arg(long, value_name = "X")]
    least: Option<f64>,
    /// Chooses the sentences, and the point that opt starts from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// What the words of a sentence are; characters for Chinese
    #[arg(long, value_enum, default_value_t = Token::Words)]
    tokens: Token,
    /// The language of the texts, such as tr, for its capitals
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
}

/// What the words of a sentence are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Token {
    /// Its words
    Words,
    /// Its characters, without white space
    Characters,
}

impl Token {
    fn query(self) -> Query {
        match self {
            Self::Words => query::CODES_WORDS,
            Self::Characters => query::CODES_CHARACTERS,
        }
    }
}

impl Learning {
    fn opt(&self) -> Method {
        self.spread.map_or(Method::OPT, |spread| Method::Opt { spread })
    }

    fn ner(&self) -> Method {
        self.least.map_or(Method::NER, |least| Method::Ner { least })
    }

    fn options(&self, method: Method, run: &Run<'_>) -> Options {
        let threads = run.workspace.session.copied_config().target_partitions();
        Options {
            method,
            width: self.bits,
            per_word: self.per_word,
            top: self.top,
            sample: self.sample,
            seed: self.seed,
            threads: NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN),
        }
    }

    /// Makes the words of the sentences of a table known as `tokens`.
    async fn set_tokens(&self, run: &mut Run<'_>, sentences: &str) -> Result<()> {
        let mut parameters = Parameters::default();
        parameters.set("sentences", Literal::column(sentences));
        parameters.set("language", self.language.as_deref().unwrap_or("en"));
        run.workspace.parameters = parameters;
        run.workspace.run_all(&[self.tokens.query()]).await.map(drop)
    }
}

fn width(bits: &str) -> Result<Width> {
    bits.parse().ok().and_then(Width::of_bits).ok_or_else(|| anyhow!("codes have 32, 64, 128 or 256 bits"))
}

/// The collections whose sentences are read.
fn collections<'a>(inputs: &'a [String], against: Option<&'a String>, reading: corpus::Options) -> Compared<'a> {
    Compared { inputs, against, reading, needed: Needed::DocumentsAndSentences }
}

/// Calls `each` with the rows of a query, batch by batch.
async fn for_each_batch(
    run: &mut Run<'_>,
    query: Query,
    mut each: impl FnMut(&RecordBatch) -> Result<()>,
) -> Result<()> {
    let rows = run.workspace.run_all(&[query]).await?.context("it is a query")?;
    let mut batches = rows.execute_stream().await?;
    while let Some(batch) = batches.try_next().await.with_context(|| format!("in queries/{}", query.file))? {
        each(&batch)?;
    }
    Ok(())
}

/// Calls `each` with the words of each sentence.
async fn for_each_sentence(run: &mut Run<'_>, mut each: impl FnMut(Words<'_>) -> Result<()>) -> Result<()> {
    for_each_batch(run, query::CODES_SENTENCES, |batch| {
        let lists = batch.column(0).as_list::<i32>();
        let words = strings(lists.values())?;
        let offsets = lists.offsets().windows(2).map(|ends| (ends[0], ends[1]));
        for (start, end) in offsets {
            each(Words { words, places: usize::try_from(start)?..usize::try_from(end)? })?;
        }
        Ok(())
    })
    .await
}

/// What no operator of a query holds in memory, reserved as theirs is: where there may not be as much, the run ends with an error that
/// names it.
struct Held(MemoryReservation);

impl Held {
    /// It grows by so many bytes at least, so that words and sentences need not ask one by one.
    const STEP: usize = 1 << 20;

    fn nothing_yet(run: &Run<'_>, name: &str) -> Self {
        Self(MemoryConsumer::new(name).register(&run.workspace.session.runtime_env().memory_pool))
    }

    fn bytes(&self) -> usize {
        self.0.size()
    }

    fn grow_to(&self, bytes: usize) -> Result<()> {
        if bytes > self.bytes() {
            self.0.try_resize(bytes.next_multiple_of(Self::STEP))?;
        }
        Ok(())
    }
}

/// The words of a sentence.
struct Words<'a> {
    words: &'a StringViewArray,
    places: std::ops::Range<usize>,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.places.next().map(|place| self.words.value(place))
    }
}

fn strings(column: &dyn Array) -> Result<&StringViewArray> {
    match column.as_string_view_opt() {
        Some(strings) => Ok(strings),
        None => bail!("words are {}", column.data_type()),
    }
}

/// Says how codes were learned.
fn say_report(run: &Run<'_>, name: &str, report: &Report) {
    let mut said =
        format!("{name}: {} words have other codes than those of their hashes", grouped(report.changed as u64));
    if let Some(objective) = report.objective {
        let _ = write!(
            said,
            ", learned from {} pairs of words in {} different sentences of {}\n  objective {:.1} before, {}{:.1} after",
            grouped(report.pairs as u64),
            grouped(report.sampled as u64),
            grouped(report.sentences),
            objective.before,
            objective.relaxed.map_or_else(String::new, |relaxed| format!("{relaxed:.1} relaxed, ")),
            objective.after,
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    {
        let mean = report.loads.iter().sum::<u64>() as f64 / report.loads.len() as f64;
        let per_cent = |load: u64| if mean > 0.0 { 100.0 * load as f64 / mean } else { 0.0 };
        let loads: Vec<_> = report.loads.iter().map(|load| format!("{:.0}", per_cent(*load))).collect();
        let _ = write!(
            said,
            "\n  loads of the bits from {:.0} to {:.0} % of their mean, {mean:.0} occurrences of words: {}\n  \
             learned in {:.1} s, with about {} MiB of memory",
            per_cent(report.loads.iter().copied().min().unwrap_or(0)),
            per_cent(report.loads.iter().copied().max().unwrap_or(0)),
            loads.join(" "),
            report.time.as_secs_f64(),
            report.bytes.div_ceil(1 << 20),
        );
    }
    run.say(&said);
}
