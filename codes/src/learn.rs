use std::collections::HashMap;
use std::num::NonZero;
use std::time::{Duration, Instant};

use crate::cooccurrence::Cooccurrence;
use crate::md5::md5_code;
use crate::memory::{Memory, no_limit};
use crate::nearest::share_codes;
use crate::relax::Problem;
use crate::sample::Sampler;
use crate::{Code, Codebook, Error, Frequencies, Result, Row, Width};

/// The method by which the codes of the most frequent words are chosen. All other words have codes from their MD5
/// hashes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Bits of the MD5 hash of the word, as for all other words.
    Md5,
    /// Words that usually occur together share a code: from the most frequent word to the rarest, each takes over the
    /// code of the more frequent word that it is most similar to.
    Ner {
        /// The least similarity of words that share a code, from 0 to 1; words that occur together in half of their
        /// sentences have 0.5.
        least: f64,
    },
    /// Words that occur together have bits in common, as far as all bits bear the same load: the sum, over the words
    /// that set it, of their frequencies to the power of `spread`. So a sentence sets fewer bits than with codes from
    /// hashes. That pays for long sentences, which would set most of the bits. Codes from hashes distinguish short
    /// sentences better.
    Opt {
        /// The power of a frequency in a load, from 0, which counts words, to 1, which counts their occurrences: the
        /// lower, the fewer bits the frequent words have to themselves.
        spread: f64,
    },
}

impl Method {
    /// The method [`Ner`](Self::Ner) where words share a code if they occur together in half of their sentences.
    pub const NER: Self = Self::Ner { least: 0.5 };
    /// The method [`Opt`](Self::Opt) with a load that leaves the exact filter few candidates on English text.
    pub const OPT: Self = Self::Opt { spread: 0.25 };
}

/// The options of learning.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// The number of bits of a code.
    pub width: Width,
    /// The number of bits that a word sets.
    pub per_word: u32,
    /// The number of the most frequent words for which codes are learned.
    pub top: usize,
    /// The greatest number of different sentences that codes are learned from.
    pub sample: usize,
    /// The seed that chooses the sentences, and the point that the optimisation starts from.
    pub seed: u64,
    /// The number of threads that work. The codes do not depend on it.
    pub threads: NonZero<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::OPT,
            width: Width::W32,
            per_word: 2,
            top: 3000,
            sample: 300_000,
            seed: 0,
            threads: NonZero::<usize>::MIN,
        }
    }
}

impl Options {
    /// Checks that each option has an allowed value.
    pub fn check(&self) -> Result<()> {
        self.width.check(self.per_word)?;
        let (name, number) = match self.method {
            Method::Md5 => return Ok(()),
            Method::Ner { least } => ("the least similarity of words that share a code", least),
            Method::Opt { spread } => ("the power of a frequency in a load", spread),
        };
        if !(0.0..=1.0).contains(&number) {
            return Err(Error::Invalid(format!("{name} is from 0 to 1, not {number}")));
        }
        Ok(())
    }
}

/// The learned codes, and the report of learning them.
#[derive(Debug, Clone)]
pub struct Learned {
    /// The codes.
    pub codebook: Codebook,
    /// The report of how they were learned.
    pub report: Report,
}

/// The report of how codes were learned.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The number of sentences; 0 where the method needs none.
    pub sentences: u64,
    /// The number of different sentences that codes were learned from.
    pub sampled: usize,
    /// The number of pairs of words that occur together in one of those sentences.
    pub pairs: usize,
    /// The number of words that have another code than the one from their MD5 hash.
    pub changed: usize,
    /// The differences of the codes of words that occur together; `None` where the method does not use them.
    pub objective: Option<Objective>,
    /// The number of steps of the optimisation.
    pub steps: usize,
    /// The number of occurrences of words that set each bit, over all words that have a frequency.
    pub loads: Vec<u64>,
    /// The time from the first sentence to the codes.
    pub time: Duration,
    /// The approximate number of bytes of memory at the peak.
    pub bytes: usize,
}

/// `Σ s(i,j)·hamming(code i, code j)` over the pairs of the most frequent words, with
/// `s(i,j) = #(i,j) / √(#(i)·#(j))` from the numbers of sentences in which words occur.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// The value with codes from MD5 hashes.
    pub before: f64,
    /// The value before the codes were rounded to whole bits, `Σ s(i,j)·2·(l − ⟨y(i), y(j)⟩)`; `None` where none were.
    pub relaxed: Option<f64>,
    /// The value of the codebook.
    pub after: f64,
}

/// Learns codes (Zhang, Wu, Ding, Huang: Learning Hash Codes for Efficient Content Reuse Detection, SIGIR 2012) from
/// sentences, which are words in any order, and from the frequencies of words, which may be of another text.
///
/// The codebook has a row for each of the most frequent words, the most frequent first. It depends on the options, the
/// frequencies and the set of the sentences, not on their order, nor on how often one occurs. Time is in proportion to
/// the text, to the sample times at most `top`, and, to optimise, to the bits times the pairs of words that meet.
/// Memory, in addition to the frequencies, is in proportion to the sample, these pairs, and the bits times `top`.
///
/// ```
/// use ibid_codes::{Frequencies, Method, Options, learn};
///
/// let sentences = [vec!["to", "be"], vec!["or", "not", "to", "be"]];
/// let frequencies = Frequencies::count(&sentences);
/// let learned = learn(&sentences, &frequencies, &Options { method: Method::NER, ..Options::default() })?;
/// let codebook = learned.codebook;
/// assert_eq!(codebook.code("to"), codebook.code("be")); // they always occur together
/// assert_eq!(codebook.bit_code(["to", "be"]), codebook.code("to"));
/// assert_eq!(codebook.code("question").count(), 2); // words that are in no row have codes as well
/// # Ok::<(), ibid_codes::Error>(())
/// ```
pub fn learn<W: AsRef<str>>(
    sentences: impl IntoIterator<Item = impl IntoIterator<Item = W>>,
    frequencies: &Frequencies,
    options: &Options,
) -> Result<Learned> {
    learn_within(sentences, frequencies, options, no_limit)
}

/// Learns codes as [`learn`] does, within a memory limit: `grows` is called with the approximate number of bytes, as in
/// [`Learner::finish_within`], also after each sentence.
///
/// ```
/// use ibid_codes::{Error, Frequencies, Options, learn_within};
///
/// let sentences = [["to", "be"]];
/// let grows = |bytes| if bytes > 64 { Err(Error::Invalid("too much".to_owned())) } else { Ok(()) };
/// assert!(learn_within(sentences, &Frequencies::count(&sentences), &Options::default(), grows).is_err());
/// ```
pub fn learn_within<W: AsRef<str>, E: From<Error> + Send>(
    sentences: impl IntoIterator<Item = impl IntoIterator<Item = W>>,
    frequencies: &Frequencies,
    options: &Options,
    grows: impl Fn(usize) -> std::result::Result<(), E> + Sync,
) -> std::result::Result<Learned, E> {
    let mut learner = Learner::try_new(frequencies, options.clone())?;
    if learner.needs_sentences() {
        for sentence in sentences {
            learner.add(sentence);
            grows(learner.bytes())?;
        }
    }
    learner.finish_within(grows)
}

/// A learner of codes, like [`learn`], for sentences that come one after another.
#[derive(Debug)]
pub struct Learner<'a> {
    began: Instant,
    options: Options,
    frequencies: &'a Frequencies,
    top: Vec<(&'a str, u64)>,
    ranks: HashMap<&'a str, u32>,
    sampler: Sampler,
}

impl<'a> Learner<'a> {
    /// Creates a learner. Fails where an option has no allowed value.
    pub fn try_new(frequencies: &'a Frequencies, options: Options) -> Result<Self> {
        let began = Instant::now();
        options.check()?;
        let top = frequencies.top(options.top);
        if u32::try_from(top.len()).is_err() {
            return Err(Error::Invalid("codes are learned for fewer than 4294967296 words".to_owned()));
        }
        let ranks = (0..).zip(&top).map(|(rank, (word, _))| (*word, rank)).collect();
        let sampler = Sampler::new(options.sample, options.seed);
        Ok(Self { began, options, frequencies, top, ranks, sampler })
    }

    /// Returns true if the method uses sentences.
    pub fn needs_sentences(&self) -> bool {
        self.options.method != Method::Md5
    }

    /// Adds a sentence: its words in any order.
    pub fn add<W: AsRef<str>>(&mut self, sentence: impl IntoIterator<Item = W>) {
        let ranks = &self.ranks;
        self.sampler.add(sentence.into_iter().filter_map(|word| ranks.get(word.as_ref()).copied()));
    }

    /// Returns the approximate number of bytes of memory for the sentences added so far, in addition to the
    /// frequencies.
    pub fn bytes(&self) -> usize {
        let of_word = size_of::<(&str, u64)>() + 2 * size_of::<(&str, u32)>();
        self.top.len() * of_word + self.sampler.bytes()
    }

    /// Learns from the added sentences, within a memory limit. Each time that it takes more memory, it calls `grows`
    /// with the approximate number of bytes that it takes in all, including [`bytes`](Self::bytes). An error of `grows`
    /// ends the learning. Several threads call `grows`, one at a time.
    ///
    /// ```
    /// use ibid_codes::{Frequencies, Learner, Options};
    ///
    /// let sentence = ["to", "be", "or", "not", "to", "be"];
    /// let frequencies = Frequencies::count([sentence]);
    /// let mut learner = Learner::try_new(&frequencies, Options::default())?;
    /// learner.add(sentence);
    /// let most = 64;
    /// let learned = learner.finish_within(|bytes| match bytes {
    ///     bytes if bytes > most => Err(format!("{bytes} bytes are more than {most}").into()),
    ///     _ => Ok(()),
    /// });
    /// let error: Box<dyn std::error::Error + Send + Sync> = learned.unwrap_err();
    /// assert!(error.to_string().ends_with("bytes are more than 64"));
    /// # Ok::<(), ibid_codes::Error>(())
    /// ```
    pub fn finish_within<E: From<Error> + Send>(
        self,
        grows: impl Fn(usize) -> std::result::Result<(), E> + Sync,
    ) -> std::result::Result<Learned, E> {
        let memory = Memory::new(&grows);
        // The words once more, their codes before and after, and their places in the codebook.
        let of_word = 2 * size_of::<Code>() + size_of::<Row>() + 2 * size_of::<(Box<str>, usize)>();
        let words: usize = self.top.iter().map(|(word, _)| of_word + 2 * word.len()).sum();
        memory.take(self.bytes() + words)?;
        let Self { began, options, frequencies, top, ranks: _, sampler } = self;
        let hashed: Vec<Code> = top.iter().map(|(word, _)| md5_code(word, options.width, options.per_word)).collect();
        let mut codes = hashed.clone();
        let mut report = Report {
            sentences: 0,
            sampled: 0,
            pairs: 0,
            changed: 0,
            objective: None,
            steps: 0,
            loads: Vec::new(),
            time: Duration::ZERO,
            bytes: 0,
        };
        if options.method != Method::Md5 {
            learn_codes(sampler, &top, &options, &memory, &mut codes, &mut report)?;
        }
        report.changed = codes.iter().zip(&hashed).filter(|(code, hashed)| code != hashed).count();
        let rows = top.iter().zip(codes);
        let rows =
            rows.map(|((word, frequency), code)| Row { word: (*word).into(), code, frequency: *frequency }).collect();
        let codebook = Codebook::try_new(options.width, options.per_word, rows)?;
        report.loads = codebook.loads(frequencies);
        report.time = began.elapsed();
        report.bytes = memory.most();
        Ok(Learned { codebook, report })
    }
}

fn learn_codes<E: Send>(
    sampler: Sampler,
    top: &[(&str, u64)],
    options: &Options,
    memory: &Memory<'_, E>,
    codes: &mut Vec<Code>,
    report: &mut Report,
) -> std::result::Result<(), E> {
    memory.take(sampler.bytes_of_sample())?;
    let of_sampler = sampler.bytes();
    let sample = sampler.finish();
    memory.give_back(of_sampler);
    let similarities = Cooccurrence::count(&sample, top.len(), options.threads, memory)?;
    (report.sentences, report.sampled, report.pairs) = (sample.of(), sample.len(), similarities.pairs());
    memory.give_back(sample.bytes());
    drop(sample);

    let objective = |codes: &[Code]| similarities.sum(|i, j| f64::from(codes[i].hamming(&codes[j])));
    let before = objective(codes);
    let mut relaxed_objective = None;
    match options.method {
        Method::Md5 => {}
        Method::Ner { least } => share_codes(codes, &similarities, least),
        Method::Opt { spread } => {
            let bits = options.width.bits() as usize;
            let weights = weights(top, spread);
            let problem = Problem { similarities: &similarities, weights: &weights, bits, per_word: options.per_word };
            memory.take(problem.bytes())?;
            if let Some(relaxed) = problem.relax(options.seed, options.threads) {
                let share = |word: usize| &relaxed.shares[word * bits..][..bits];
                let per_word = f64::from(options.per_word);
                relaxed_objective = Some(
                    similarities
                        .sum(|i, j| 2.0 * (per_word - share(i).iter().zip(share(j)).map(|(a, b)| a * b).sum::<f64>())),
                );
                report.steps = relaxed.steps;
                let rounded = (0..top.len()).map(|word| {
                    // Words that meet no other word have no reason to choose a bit, and keep their codes.
                    let alone = similarities.row(word).next().is_none();
                    if alone { codes[word] } else { round(share(word), options.per_word) }
                });
                let rounded: Vec<Code> = rounded.collect();
                if objective(&rounded) < before {
                    *codes = rounded;
                }
            }
        }
    }
    report.objective = Some(Objective { before, relaxed: relaxed_objective, after: objective(codes) });
    Ok(())
}

/// Returns the amount that each word adds to a load. The sum of all is 1.
fn weights(top: &[(&str, u64)], spread: f64) -> Vec<f64> {
    let mut weights: Vec<f64> = top.iter().map(|(_, frequency)| power((*frequency).max(1) as f64, spread)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

/// Returns a number to a power from 0 to 1, to twenty binary digits of the power, by square roots: these are the same
/// bits everywhere.
fn power(number: f64, power: f64) -> f64 {
    let (mut root, mut rest, mut result) = (number, power, 1.0);
    for _ in 0..=20 {
        if rest >= 1.0 {
            result *= root;
            rest -= 1.0;
        }
        root = root.sqrt();
        rest *= 2.0;
    }
    result
}

/// Returns the code with the bits that have the largest shares; of equal ones, the lowest bits.
fn round(shares: &[f64], per_word: u32) -> Code {
    let mut order: Vec<(f64, u8)> = shares.iter().copied().zip(0..=u8::MAX).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Code::of(order.iter().take(per_word as usize).map(|(_, bit)| *bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_shares_are_set_and_the_lowest_bits_of_equal_ones() {
        assert_eq!(round(&[0.1, 0.7, 0.3, 0.7], 1), Code::of([1]));
        assert_eq!(round(&[0.1, 0.7, 0.3, 0.7], 2), Code::of([1, 3]));
        assert_eq!(round(&[0.5; 256], 3), Code::of([0, 1, 2]));
    }

    #[test]
    fn powers_are_powers() {
        for (number, exponent) in [(1.0, 0.3), (7.0, 0.0), (7.0, 1.0), (16.0, 0.25), (16.0, 0.75), (1e6, 0.1)] {
            assert!((power(number, exponent) / number.powf(exponent) - 1.0).abs() < 1e-4, "{number} {exponent}");
        }
        assert_eq!(power(16.0, 0.25), 2.0);
    }
}
