use std::num::NonZero;

use crate::memory::Memory;
use crate::sample::Sample;
use crate::threads::{ROWS, in_turn};

/// The similarities of words by the sentences that they occur in.
///
/// With `#(i)` for the number of sentences of word `i`, and `#(i,j)` for the number of sentences of both, the
/// similarity is the binary cosine `s(i,j) = #(i,j) / √(#(i)·#(j))`, from 0 to 1. Pairs that never meet are not stored,
/// and neither are pairs of a word with itself.
#[derive(Debug)]
pub(crate) struct Cooccurrence {
    words: usize,
    /// The rows of the words, in chunks of [`ROWS`] words.
    chunks: Vec<Rows>,
}

/// The rows of some words: for each of them the words that it meets.
#[derive(Debug)]
struct Rows {
    /// The start of the row of each word, and the end of the last one.
    starts: Vec<usize>,
    others: Vec<u32>,
    similarities: Vec<f32>,
}

impl Cooccurrence {
    /// Counts the pairs of the words of a sample, which are numbers below `words`, within the memory limit. This takes,
    /// at most, time for each word of each sentence in proportion to `words`.
    pub(crate) fn count<E: Send>(
        sample: &Sample,
        words: usize,
        threads: NonZero<usize>,
        memory: &Memory<'_, E>,
    ) -> Result<Self, E> {
        let while_counting = SentencesOf::bytes(sample, words) + threads.get() * words * size_of::<u32>();
        memory.take(while_counting)?;
        let sentences = SentencesOf::new(sample, words);
        let chunks = in_turn(threads, (0..words).step_by(ROWS), |first| {
            let mut times = vec![0_u32; words];
            let mut met = Vec::new();
            let mut rows = Rows { starts: vec![0], others: Vec::new(), similarities: Vec::new() };
            for word in first..words.min(first + ROWS) {
                for sentence in sentences.of(word) {
                    for other in sample.sentence(*sentence) {
                        if times[*other as usize] == 0 {
                            met.push(*other);
                        }
                        times[*other as usize] += 1;
                    }
                }
                met.sort_unstable();
                for other in met.drain(..) {
                    let both = f64::from(std::mem::take(&mut times[other as usize]));
                    if other as usize == word {
                        continue;
                    }
                    let product = sentences.of(word).len() as f64 * sentences.of(other as usize).len() as f64;
                    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough for a similarity")]
                    let similarity = (both / product.sqrt()) as f32;
                    rows.others.push(other);
                    rows.similarities.push(similarity);
                }
                rows.starts.push(rows.others.len());
            }
            rows.others.shrink_to_fit();
            rows.similarities.shrink_to_fit();
            memory.take(rows.bytes())?;
            Ok(rows)
        });
        let chunks = chunks.into_iter().collect::<Result<_, E>>()?;
        memory.give_back(while_counting);
        Ok(Self { words, chunks })
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of pairs of words that meet.
    pub(crate) fn pairs(&self) -> usize {
        self.chunks.iter().map(|rows| rows.others.len()).sum::<usize>() / 2
    }

    /// Returns the words that a word meets, ascending, and their similarities to it.
    pub(crate) fn row(&self, word: usize) -> impl Iterator<Item = (usize, f64)> {
        let rows = &self.chunks[word / ROWS];
        let row = rows.starts[word % ROWS]..rows.starts[word % ROWS + 1];
        let others = rows.others[row.clone()].iter().map(|other| *other as usize);
        others.zip(rows.similarities[row].iter().map(|similarity| f64::from(*similarity)))
    }

    /// Returns `Σ s(i,j)·distance(i,j)` over the pairs of words.
    pub(crate) fn sum(&self, distance: impl Fn(usize, usize) -> f64) -> f64 {
        let of_word = |word| {
            let others = self.row(word).take_while(move |(other, _)| *other < word);
            others.map(|(other, similarity)| similarity * distance(word, other)).sum::<f64>()
        };
        (0..self.words()).map(of_word).sum()
    }
}

impl Rows {
    fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.others) + size_of_val(&*self.similarities)
    }
}

/// The sentences in which each word occurs.
struct SentencesOf {
    starts: Vec<usize>,
    sentences: Vec<usize>,
}

impl SentencesOf {
    fn new(sample: &Sample, words: usize) -> Self {
        let mut starts = vec![0; words + 1];
        for word in sample.words() {
            starts[*word as usize + 1] += 1;
        }
        for word in 0..words {
            starts[word + 1] += starts[word];
        }
        let mut sentences = vec![0; sample.words().len()];
        let mut next = starts.clone();
        for sentence in 0..sample.len() {
            for word in sample.sentence(sentence) {
                sentences[next[*word as usize]] = sentence;
                next[*word as usize] += 1;
            }
        }
        Self { starts, sentences }
    }

    /// Returns the bytes of memory that it takes while it is made.
    fn bytes(sample: &Sample, words: usize) -> usize {
        (2 * (words + 1) + sample.words().len()) * size_of::<usize>()
    }

    fn of(&self, word: usize) -> &[usize] {
        &self.sentences[self.starts[word]..self.starts[word + 1]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::no_limit;

    proptest! {
        #[test]
        fn similarities_are_those_of_the_formula(
            sentences in prop::collection::vec(prop::collection::btree_set(0..90_u32, 0..40), 0..20),
            threads in 1..4_usize,
        ) {
            let sentences: Vec<Vec<u32>> = sentences.into_iter().map(|set| set.into_iter().collect()).collect();
            let sample = Sample::new(sentences.iter().map(Vec::as_slice), 0);
            let all = Cooccurrence::count(&sample, 90, NonZero::new(threads).unwrap(), &Memory::new(&no_limit)).unwrap();
            prop_assert_eq!(all.words(), 90);
            let with = |words: &[u32]| {
                sentences.iter().filter(|sentence| words.iter().all(|word| sentence.contains(word))).count() as f64
            };
            let (mut sum, mut pairs) = (0.0, 0);
            for i in 0..90 {
                let mut row = all.row(i as usize);
                for j in (0..90).filter(|j| *j != i && with(&[i, *j]) > 0.0) {
                    let (other, similarity) = row.next().unwrap();
                    prop_assert_eq!(other, j as usize);
                    prop_assert!((similarity - with(&[i, j]) / (with(&[i]) * with(&[j])).sqrt()).abs() < 1e-6);
                    sum += similarity * f64::from(i + j) / 2.0;
                    pairs += 1;
                }
                prop_assert!(row.next().is_none());
            }
            prop_assert_eq!(all.pairs(), pairs / 2);
            prop_assert!((all.sum(|i, j| (i + j) as f64) - sum).abs() < 1e-6 * (1.0 + sum));
        }
    }
}
