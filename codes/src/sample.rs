use std::collections::{BTreeSet, HashMap};

use crate::random::split_mix;

/// Different sentences, each as the ranks of its words, every rank once and ascending. Words without a rank are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Where each sentence starts in `words`, and where the last one ends.
    starts: Vec<usize>,
    words: Vec<u32>,
    /// How many sentences there were to choose from, equal ones among them.
    of: u64,
}

impl Sample {
    /// Chooses at most `size` sentences that have some ranked word. Those with the same ranked words count as one, and any is
    /// as likely as any other. The choice depends on the seed and on what sentences there are, not on their order.
    pub(crate) fn draw<W: AsRef<str>>(
        sentences: impl IntoIterator<Item = impl IntoIterator<Item = W>>,
        ranks: &HashMap<&str, u32>,
        size: usize,
        seed: u64,
    ) -> Self {
        // Those with the lowest keys.
        let mut chosen: BTreeSet<(u64, Box<[u32]>)> = BTreeSet::new();
        let mut highest = u64::MAX;
        let mut words = Vec::new();
        let mut of = 0;
        for sentence in sentences {
            of += 1;
            words.clear();
            words.extend(sentence.into_iter().filter_map(|word| ranks.get(word.as_ref())));
            words.sort_unstable();
            words.dedup();
            let key = words.iter().fold(seed, |key, word| split_mix(key, u64::from(*word)));
            if words.is_empty() || key > highest {
                continue;
            }
            chosen.insert((key, words.as_slice().into()));
            if chosen.len() > size {
                chosen.pop_last();
                highest = chosen.last().map_or(0, |(key, _)| *key);
            }
        }
        Self::new(chosen.iter().map(|(_, words)| &**words), of)
    }

    /// These sentences, out of so many.
    pub(crate) fn new<'a>(sentences: impl IntoIterator<Item = &'a [u32]>, of: u64) -> Self {
        let mut sample = Self { starts: vec![0], words: Vec::new(), of };
        for words in sentences {
            sample.words.extend(words);
            sample.starts.push(sample.words.len());
        }
        sample
    }

    /// How many sentences were chosen.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many there were.
    pub(crate) fn of(&self) -> u64 {
        self.of
    }

    /// The words of all sentences.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// The words of one.
    pub(crate) fn sentence(&self, sentence: usize) -> &[u32] {
        &self.words[self.starts[sentence]..self.starts[sentence + 1]]
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_different_sets_of_ranked_words() {
        let ranks = HashMap::from([("a", 0), ("b", 1)]);
        let sentences = [vec!["b", "x", "a", "b"], vec!["x"], vec![], vec!["a"], vec!["a", "y"]];
        let sample = Sample::draw(sentences.clone(), &ranks, 9, 0);
        let mut sets: Vec<_> = (0..sample.len()).map(|sentence| sample.sentence(sentence)).collect();
        sets.sort_unstable();
        assert_eq!(sets, [&[0][..], &[0, 1]]);
        assert_eq!(sample.of(), 5);
        assert_eq!(Sample::draw(sentences.into_iter().rev(), &ranks, 9, 0), sample);
        let none = Sample::draw([vec!["a"]], &ranks, 0, 0);
        assert_eq!((none.len(), none.of()), (0, 1));
    }

    #[test]
    fn all_sentences_are_as_likely() {
        let words: Vec<String> = (0..100).map(|word| word.to_string()).collect();
        let ranks = (0..).zip(&words).map(|(rank, word)| (word.as_str(), rank)).collect();
        let mut chosen = [0; 100];
        for seed in 0..1000 {
            let sample = Sample::draw(words.iter().map(|word| [word]), &ranks, 10, seed);
            assert_eq!(sample.len(), 10);
            for word in sample.words() {
                chosen[*word as usize] += 1;
            }
        }
        // 100 on average, with a standard deviation of 9.5.
        assert!(chosen.iter().all(|times| (60..140).contains(times)), "{chosen:?}");
    }
}
