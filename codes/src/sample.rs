use std::collections::BTreeSet;

use crate::random::split_mix;

/// Different sentences, each as the ranks of its words, every rank once and ascending. Words without a rank are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The start of each sentence in `words`, and the end of the last one.
    starts: Vec<usize>,
    words: Vec<u32>,
    /// The number of sentences to choose from, including equal ones.
    of: u64,
}

/// A sampler of sentences.
#[derive(Debug)]
pub(crate) struct Sampler {
    size: usize,
    seed: u64,
    /// The sentences with the lowest keys so far.
    chosen: BTreeSet<(u64, Box<[u32]>)>,
    /// The number of words of the chosen sentences.
    words_chosen: usize,
    /// The highest key that can still be chosen.
    highest: u64,
    words: Vec<u32>,
    of: u64,
}

impl Sampler {
    /// Creates a sampler that chooses at most `size` sentences that have some ranked word. Sentences with the same
    /// ranked words count as one, and any is as likely as any other. The choice depends on the seed and on the set of
    /// sentences, not on their order.
    pub(crate) fn new(size: usize, seed: u64) -> Self {
        Self { size, seed, chosen: BTreeSet::new(), words_chosen: 0, highest: u64::MAX, words: Vec::new(), of: 0 }
    }

    /// Considers a sentence with words of these ranks.
    pub(crate) fn add(&mut self, ranks: impl Iterator<Item = u32>) {
        self.of += 1;
        self.words.clear();
        self.words.extend(ranks);
        self.words.sort_unstable();
        self.words.dedup();
        let key = self.words.iter().fold(self.seed, |key, word| split_mix(key, u64::from(*word)));
        if self.words.is_empty() || key > self.highest {
            return;
        }
        if self.chosen.insert((key, self.words.as_slice().into())) {
            self.words_chosen += self.words.len();
        }
        if self.chosen.len() > self.size {
            self.words_chosen -= self.chosen.pop_last().map_or(0, |(_, words)| words.len());
            self.highest = self.chosen.last().map_or(0, |(key, _)| *key);
        }
    }

    /// Returns the approximate number of bytes of memory that the sampler takes: a node of the tree is full to about
    /// two thirds.
    pub(crate) fn bytes(&self) -> usize {
        self.chosen.len() * size_of::<(u64, Box<[u32]>)>() / 2 * 3 + self.words_chosen * size_of::<u32>()
    }

    /// Returns the bytes that the sample takes.
    pub(crate) fn bytes_of_sample(&self) -> usize {
        Sample::bytes_of(self.chosen.len(), self.words_chosen)
    }

    /// Returns the chosen sentences.
    pub(crate) fn finish(self) -> Sample {
        Sample::new(self.chosen.iter().map(|(_, words)| &**words), self.of)
    }
}

impl Sample {
    /// Creates a sample of these sentences, out of `of` sentences.
    pub(crate) fn new<'a>(sentences: impl Iterator<Item = &'a [u32]> + Clone, of: u64) -> Self {
        let (number, words) = sentences.clone().fold((0, 0), |(number, sum), words| (number + 1, sum + words.len()));
        let mut sample = Self { starts: Vec::with_capacity(number + 1), words: Vec::with_capacity(words), of };
        sample.starts.push(0);
        for words in sentences {
            sample.words.extend(words);
            sample.starts.push(sample.words.len());
        }
        sample
    }

    /// Returns the number of chosen sentences.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of sentences to choose from.
    pub(crate) fn of(&self) -> u64 {
        self.of
    }

    /// Returns the words of all sentences.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words of one sentence.
    pub(crate) fn sentence(&self, sentence: usize) -> &[u32] {
        &self.words[self.starts[sentence]..self.starts[sentence + 1]]
    }

    /// Returns the bytes that the sample takes.
    pub(crate) fn bytes(&self) -> usize {
        Self::bytes_of(self.len(), self.words.len())
    }

    /// Returns the bytes that `sentences` sentences with `words` words in all take.
    fn bytes_of(sentences: usize, words: usize) -> usize {
        (sentences + 1) * size_of::<usize>() + words * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw<'a>(sentences: impl IntoIterator<Item = &'a Vec<u32>>, size: usize, seed: u64) -> Sample {
        let mut sampler = Sampler::new(size, seed);
        sentences.into_iter().for_each(|sentence| sampler.add(sentence.iter().copied()));
        let bytes = sampler.bytes_of_sample();
        let sample = sampler.finish();
        assert_eq!(sample.bytes(), bytes);
        sample
    }

    #[test]
    fn sentences_are_different_sets_of_words() {
        let sentences = [vec![1, 0, 1], vec![], vec![0], vec![0, 0], vec![0, 1]];
        let sample = draw(&sentences, 9, 0);
        let mut sets: Vec<_> = (0..sample.len()).map(|sentence| sample.sentence(sentence)).collect();
        sets.sort_unstable();
        assert_eq!(sets, [&[0][..], &[0, 1]]);
        assert_eq!(sample.of(), 5);
        assert_eq!(draw(sentences.iter().rev(), 9, 0), sample);
        let none = draw(&[vec![0]], 0, 0);
        assert_eq!((none.len(), none.of()), (0, 1));
    }

    #[test]
    fn all_sentences_are_as_likely() {
        let sentences: Vec<Vec<u32>> = (0..100).map(|word| vec![word]).collect();
        let mut chosen = [0; 100];
        for seed in 0..1000 {
            let sample = draw(&sentences, 10, seed);
            assert_eq!(sample.len(), 10);
            for word in sample.words() {
                chosen[*word as usize] += 1;
            }
        }
        // 100 on average, with a standard deviation of 9.5.
        assert!(chosen.iter().all(|times| (60..140).contains(times)), "{chosen:?}");
    }
}
