//! Codes of words, whose union is a code of fixed width for a sentence (LEARNED-CODES; Zhang et al. 2012).

mod compare;
mod learn;

use std::fmt::Write as _;
use std::num::NonZero;

use anyhow::{Context, Result, bail};
use arrow::array::{Array, AsArray, RecordBatch, StringViewArray};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::TryStreamExt;
use ibid_codes::{Method, Options, Report, Width};

pub use self::compare::CompareCodes;
pub use self::learn::{LearnCodes, Learner};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Run, grouped};

/// The units that count as the words of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// The words of the sentence.
    Words,
    /// The characters of the sentence, without white space.
    Characters,
}

/// The options of learning.
#[derive(Debug, Clone)]
pub struct Learning {
    /// The number of bits of a code.
    pub bits: Width,
    /// The number of bits that a word sets.
    pub per_word: u32,
    /// The number of words with learned codes.
    pub top: usize,
    /// The number of sentences to learn from.
    pub sample: usize,
    /// The power of their frequency by which words are weighted.
    pub spread: Option<f64>,
    /// The least similarity at which words share a code.
    pub least: Option<f64>,
    /// The seed that chooses the sentences.
    pub seed: u64,
    /// The units that count as the words of a sentence.
    pub tokens: Token,
    /// The language of the texts.
    pub language: Option<String>,
}

impl Default for Learning {
    fn default() -> Self {
        Self {
            bits: Width::ALL[0],
            per_word: 2,
            top: 3000,
            sample: 300_000,
            spread: None,
            least: None,
            seed: 0,
            tokens: Token::Words,
            language: None,
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

    pub(crate) fn options(&self, method: Method, run: &Run) -> Options {
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

    /// Registers the words of the sentences of a table as `tokens`.
    async fn set_tokens(&self, run: &mut Run, sentences: &str) -> Result<()> {
        let mut parameters = Parameters::default();
        parameters.set("sentences", Literal::column(sentences));
        parameters.set("language", self.language.as_deref().unwrap_or("en"));
        let tokens = match self.tokens {
            Token::Words => query::CODES_WORDS,
            Token::Characters => query::CODES_CHARACTERS,
        };
        run.workspace.parameters = parameters;
        run.workspace.run_all(&[tokens]).await.map(drop)
    }
}

/// Gives a builder the options of what is learned.
macro_rules! learning_options {
    ($builder:ident) => {
        impl $builder {
            /// Sets how many bits a code has: 32, 64, 128 or 256. Default: 32.
            ///
            /// # Errors
            ///
            /// [`crate::Error::Options`] for other numbers.
            pub fn bits(mut self, bits: u32) -> Result<Self, crate::Error> {
                let width = usize::try_from(bits).ok().and_then(|bits| bits.try_into().ok()).and_then(Width::of_bits);
                self.learning.bits =
                    width.ok_or_else(|| crate::error::misuse!("codes have 32, 64, 128 or 256 bits, not {bits}"))?;
                Ok(self)
            }

            /// Sets how many bits a word sets, from 1 to 256. Default: 2.
            pub fn per_word(mut self, bits: u32) -> Self {
                self.learning.per_word = bits;
                self
            }

            /// Sets for how many of the most frequent words codes are learned; any other has a code from its MD5 hash. Default: 3000.
            pub fn top(mut self, words: usize) -> Self {
                self.learning.top = words;
                self
            }

            /// Sets the number of different sentences from which codes are learned. Default: 300,000.
            pub fn sample(mut self, sentences: usize) -> Self {
                self.learning.sample = sentences;
                self
            }

            /// Sets the seed, which chooses the sentences. Default: 0.
            pub fn seed(mut self, seed: u64) -> Self {
                self.learning.seed = seed;
                self
            }

            /// Sets what the words of a sentence are. Default: its words.
            pub fn tokens(mut self, tokens: crate::methods::Token) -> Self {
                self.learning.tokens = tokens;
                self
            }

            /// Sets the language of the texts, such as `tr`, for its capitals.
            pub fn language(mut self, code: impl Into<String>) -> Self {
                self.learning.language = Some(code.into());
                self
            }
        }
    };
}
use learning_options;

/// Calls `each` with the rows of a query, batch by batch.
async fn for_each_batch(run: &mut Run, query: Query, mut each: impl FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
    let rows = run.workspace.run_all(&[query]).await?.context("it is a query")?;
    let mut batches = rows.execute_stream().await?;
    while let Some(batch) = batches.try_next().await.with_context(|| format!("in queries/{}", query.file))? {
        each(&batch)?;
    }
    Ok(())
}

/// Calls `each` with the words of each sentence.
async fn for_each_sentence(run: &mut Run, mut each: impl FnMut(Words<'_>) -> Result<()>) -> Result<()> {
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

/// A memory reservation outside of the operators of a query. If it cannot grow, the run ends with an error that names it.
struct Held(MemoryReservation);

impl Held {
    /// The least number of bytes by which the reservation grows, so that it does not grow for each word or sentence.
    const STEP: usize = 1 << 20;

    fn nothing_yet(run: &Run, name: &str) -> Self {
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

/// Describes how codes were learned.
fn describe(name: &str, report: &Report) -> String {
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
    said
}
