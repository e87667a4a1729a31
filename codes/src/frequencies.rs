use std::collections::HashMap;

/// The number of occurrences of each word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    of_words: HashMap<Box<str>, u64>,
    /// The bytes of the words themselves.
    bytes_of_words: usize,
}

impl Frequencies {
    /// Counts the words of sentences.
    pub fn count<W: AsRef<str>>(sentences: impl IntoIterator<Item = impl IntoIterator<Item = W>>) -> Self {
        let mut frequencies = Self::default();
        for word in sentences.into_iter().flatten() {
            frequencies.add(word.as_ref(), 1);
        }
        frequencies
    }

    /// Adds `times` occurrences of a word.
    pub fn add(&mut self, word: &str, times: u64) {
        match self.of_words.get_mut(word) {
            Some(frequency) => *frequency = frequency.saturating_add(times),
            None => {
                self.of_words.insert(word.into(), times);
                self.bytes_of_words += word.len();
            }
        }
    }

    /// Returns the number of different words.
    pub fn len(&self) -> usize {
        self.of_words.len()
    }

    /// Returns true if there are no words.
    pub fn is_empty(&self) -> bool {
        self.of_words.is_empty()
    }

    /// Returns the approximate number of bytes of memory that they take, at most while they are [ordered](Self::top).
    pub fn bytes(&self) -> usize {
        self.bytes_of_words
            + self.of_words.capacity() * size_of::<(Box<str>, u64)>()
            + self.of_words.len() * size_of::<(&str, u64)>()
    }

    /// Returns all words, in no order, each with its number of occurrences.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.of_words.iter().map(|(word, frequency)| (&**word, *frequency))
    }

    /// Returns the most frequent words, the most frequent first, equally frequent ones in the order of their bytes.
    pub fn top(&self, words: usize) -> Vec<(&str, u64)> {
        let order = |a: &(&str, u64), b: &(&str, u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
        let mut all: Vec<_> = self.iter().collect();
        if words < all.len() {
            all.select_nth_unstable_by(words, order);
            all.truncate(words);
        }
        all.sort_unstable_by(order);
        all
    }
}

impl<W: AsRef<str>> FromIterator<(W, u64)> for Frequencies {
    fn from_iter<I: IntoIterator<Item = (W, u64)>>(words: I) -> Self {
        let mut frequencies = Self::default();
        for (word, times) in words {
            frequencies.add(word.as_ref(), times);
        }
        frequencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_come_first_and_ties_by_their_bytes() {
        let frequencies = Frequencies::count([vec!["b", "a", "c"], vec!["c"], vec![], vec!["é"]]);
        assert_eq!(frequencies.top(9), [("c", 2), ("a", 1), ("b", 1), ("é", 1)]);
        assert_eq!(frequencies.top(2), [("c", 2), ("a", 1)]);
        assert_eq!(frequencies.top(0), []);
        let again: Frequencies = frequencies.iter().collect();
        assert_eq!(again, frequencies);
        assert!(frequencies.bytes() > Frequencies::count([vec!["a", "b", "c"]]).bytes());
    }
}
