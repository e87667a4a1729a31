use std::collections::{HashMap, HashSet};
use std::num::NonZero;

use anyhow::{Context, Result};
use ibid_codes::{Frequencies, split_mix};
use ibid_udfs::similarity::{Measure, Side};

use super::counts::on_threads;

/// Sentences as sets of words by number.
#[derive(Debug)]
pub(crate) struct Sentences {
    numbers: HashMap<Box<str>, u32>,
    /// The words by number. The number of occurrences of each is in `frequencies`.
    words: Vec<Box<str>>,
    bytes_of_words: usize,
    frequencies: Vec<u64>,
    /// The start of the words of each sentence in `members`, and the end of those of the last one.
    starts: Vec<usize>,
    /// The different words of the sentences, ascending in each.
    members: Vec<u32>,
    /// The sets of the sentences so far, if each set is taken once.
    distinct: Option<HashSet<Box<[u32]>>>,
    min_words: usize,
}

/// A query, a sentence that is similar to it, and the number of words that they have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Similar {
    pub(crate) query: usize,
    pub(crate) sentence: usize,
    pub(crate) common: usize,
}

impl Sentences {
    /// Creates a collection without sentences. Sentences with fewer than `min_words` different words are left out. If
    /// `distinct` is set, only the first of several sentences with the same words is taken.
    pub(crate) fn new(min_words: usize, distinct: bool) -> Self {
        Self {
            numbers: HashMap::new(),
            words: Vec::new(),
            bytes_of_words: 0,
            frequencies: Vec::new(),
            starts: vec![0],
            members: Vec::new(),
            distinct: distinct.then(HashSet::new),
            min_words,
        }
    }

    /// Adds a sentence; `tokens` is a scratch buffer.
    pub(crate) fn push<'a>(&mut self, words: impl Iterator<Item = &'a str>, tokens: &mut Vec<u32>) -> Result<()> {
        tokens.clear();
        for word in words {
            let number = match self.numbers.get(word) {
                Some(number) => *number,
                None => {
                    let number = u32::try_from(self.words.len()).context("there are too many different words")?;
                    self.numbers.insert(word.into(), number);
                    self.words.push(word.into());
                    self.bytes_of_words += 2 * word.len();
                    self.frequencies.push(0);
                    number
                }
            };
            tokens.push(number);
        }
        tokens.sort_unstable();
        let start = self.members.len();
        for token in &*tokens {
            if self.members[start..].last() != Some(token) {
                self.members.push(*token);
            }
        }
        let set = &self.members[start..];
        let is_new = |sets: &mut HashSet<Box<[u32]>>| sets.insert(set.into());
        if set.len() < self.min_words || !self.distinct.as_mut().is_none_or(is_new) {
            self.members.truncate(start);
            return Ok(());
        }
        self.starts.push(self.members.len());
        for token in tokens {
            self.frequencies[*token as usize] += 1;
        }
        Ok(())
    }

    /// Returns the approximate bytes of memory of the sentences at their peak, while [similar ones](Self::similar) are
    /// searched.
    pub(crate) fn bytes(&self) -> usize {
        // A word is stored twice as text, as a number, and with two offsets into the postings.
        let of_words = self.words.len() * (3 * size_of::<(Box<str>, u32)>() + 2 * size_of::<usize>());
        let of_members = self.members.len() * 2 * size_of::<u32>();
        let sets = self.distinct.as_ref().map_or(0, HashSet::len);
        let of_sets = if sets > 0 { 2 * sets * size_of::<Box<[u32]>>() + of_members / 2 } else { 0 };
        self.bytes_of_words + of_words + of_members + self.starts.len() * size_of::<usize>() + of_sets
    }

    /// Returns the number of sentences.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the words of a sentence, ascending.
    pub(crate) fn set(&self, sentence: usize) -> &[u32] {
        &self.members[self.starts[sentence]..self.starts[sentence + 1]]
    }

    /// Returns the number of different words of a sentence.
    pub(crate) fn size(&self, sentence: usize) -> usize {
        self.starts[sentence + 1] - self.starts[sentence]
    }

    /// Returns all words by number.
    pub(crate) fn words(&self) -> &[Box<str>] {
        &self.words
    }

    /// Returns the words of each sentence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        (0..self.len()).map(|sentence| self.set(sentence).iter().map(|word| &*self.words[*word as usize]))
    }

    /// Returns the number of occurrences of each word.
    pub(crate) fn frequencies(&self) -> Frequencies {
        let counted = self.words.iter().zip(&self.frequencies);
        counted.filter(|(_, times)| **times > 0).map(|(word, times)| (word, *times)).collect()
    }

    /// Returns a sample of the sentences, ascending.
    pub(crate) fn sample(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut keys: Vec<_> = (0..self.len()).map(|i| (split_mix(seed, i as u64), i)).collect();
        if count < keys.len() {
            keys.select_nth_unstable(count);
            keys.truncate(count);
        }
        let mut sample: Vec<_> = keys.into_iter().map(|(_, sentence)| sentence).collect();
        sample.sort_unstable();
        sample
    }

    /// Finds all sentences that are similar to a query by this measure, which is symmetric, without the query itself.
    pub(crate) fn similar(
        &self,
        queries: &[usize],
        measure: Measure,
        threshold: f64,
        threads: NonZero<usize>,
    ) -> Vec<Similar> {
        let postings = Postings::new(self);
        let of_part = |part: &[usize]| {
            let mut is_in_query = vec![false; self.words.len()];
            let (mut rarest, mut candidates, mut similar) = (Vec::new(), Vec::<u32>::new(), Vec::new());
            for query in part {
                let set = self.set(*query);
                set.iter().for_each(|word| is_in_query[*word as usize] = true);
                // A similar sentence has one of these words, whichever words they are (the prefix filter).
                rarest.clear();
                rarest.extend_from_slice(set);
                rarest.sort_unstable_by_key(|word| (postings.of(*word).len(), *word));
                rarest.truncate(measure.prefix_length(Side::Left, set.len(), threshold));
                candidates.clear();
                candidates.extend(rarest.iter().flat_map(|word| postings.of(*word)));
                candidates.sort_unstable();
                candidates.dedup();
                for sentence in candidates.iter().map(|sentence| *sentence as usize) {
                    let common = self.set(sentence).iter().filter(|word| is_in_query[**word as usize]).count();
                    let value = measure.value(common, set.len(), self.size(sentence));
                    if sentence != *query && value.is_some_and(|value| value >= threshold) {
                        similar.push(Similar { query: *query, sentence, common });
                    }
                }
                set.iter().for_each(|word| is_in_query[*word as usize] = false);
            }
            similar
        };
        on_threads(queries, threads, of_part).into_iter().flatten().collect()
    }
}

/// The sentences that contain each word.
struct Postings {
    starts: Vec<usize>,
    sentences: Vec<u32>,
}

impl Postings {
    fn new(of: &Sentences) -> Self {
        let mut starts = vec![0; of.words.len() + 1];
        for word in &of.members {
            starts[*word as usize + 1] += 1;
        }
        for word in 0..of.words.len() {
            starts[word + 1] += starts[word];
        }
        let mut sentences = vec![0; of.members.len()];
        let mut next = starts.clone();
        for (sentence, number) in (0..of.len()).zip(0_u32..) {
            for word in of.set(sentence) {
                sentences[next[*word as usize]] = number;
                next[*word as usize] += 1;
            }
        }
        Self { starts, sentences }
    }

    fn of(&self, word: u32) -> &[u32] {
        &self.sentences[self.starts[word as usize]..self.starts[word as usize + 1]]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(texts: &[&str], min_words: usize, distinct: bool) -> Sentences {
        let mut sentences = Sentences::new(min_words, distinct);
        for text in texts {
            sentences.push(text.split_whitespace(), &mut Vec::new()).unwrap();
        }
        sentences
    }

    #[test]
    fn words_count_as_often_as_they_stand_in_sentences_that_are_kept() {
        let texts = ["a b a", "b a", "c", "a b c"];
        let all = sentences(&texts, 1, false);
        assert_eq!((all.len(), all.set(0), all.set(3)), (4, &[0, 1][..], &[0, 1, 2][..]));
        assert_eq!(all.frequencies().top(9), [("a", 4), ("b", 3), ("c", 2)]);
        let some = sentences(&texts, 2, true);
        assert_eq!((some.len(), some.set(1)), (2, &[0, 1, 2][..]));
        assert_eq!(some.frequencies().top(9), [("a", 3), ("b", 2), ("c", 1)]);
        assert_eq!(some.iter().map(Iterator::count).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_sample_is_of_the_size_asked_for() {
        let texts: Vec<String> = (0..100).map(|i| format!("word{i}")).collect();
        let all = sentences(&texts.iter().map(String::as_str).collect::<Vec<_>>(), 1, false);
        let sample = all.sample(10, 1);
        assert!(sample.len() == 10 && sample.is_sorted() && sample != all.sample(10, 2));
        assert_eq!(all.sample(1000, 1), (0..100).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn similar_sentences_are_those_of_a_plain_loop(
            texts in prop::collection::vec(prop::collection::vec(0..9_u8, 0..8), 1..40),
            hundredths in 1..=100_u32,
            threads in 1..4_usize,
            by_cosine in any::<bool>(),
        ) {
            let mut all = Sentences::new(0, false);
            for text in &texts {
                let words: Vec<_> = text.iter().map(u8::to_string).collect();
                all.push(words.iter().map(String::as_str), &mut Vec::new()).unwrap();
            }
            let measure = if by_cosine { Measure::Cosine } else { Measure::Jaccard };
            let threshold = f64::from(hundredths) / 100.0;
            let queries = all.sample(7, 3);
            let mut expected = Vec::new();
            for query in &queries {
                for sentence in (0..all.len()).filter(|sentence| sentence != query) {
                    let common = all.set(*query).iter().filter(|word| all.set(sentence).contains(word)).count();
                    if measure.value(common, all.size(*query), all.size(sentence)).is_some_and(|s| s >= threshold) {
                        expected.push(Similar { query: *query, sentence, common });
                    }
                }
            }
            prop_assert_eq!(all.similar(&queries, measure, threshold, NonZero::new(threads).unwrap()), expected);
        }
    }
}
