use std::collections::HashMap;

/// How often each word occurs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frequencies {
    of_words: HashMap<Box<str>, u64>,
    /// What the words themselves take.
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

    /// Counts a word some more times.
    pub fn add(&mut self, word: &str, times: u64) {
        match self.of_words.get_mut(word) {
            Some(frequency) => *frequency = frequency.saturating_add(times),
            None => {
                self.of_words.insert(word.into(), times);
                self.bytes_of_words += word.len();
            }
        }
    }

    /// How many different words there are.
    pub fn len(&self) -> usize {
        self.of_words.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of_words.is_empty()
    }

    /// About how many bytes of memory they take, at most while they are [ordered](Self::top).
    pub fn bytes(&self) -> usize {
        self.bytes_of_words
            + self.of_words.capacity() * size_of::<(Box<str>, u64)>()
            + self.of_words.len() * size_of::<(&str, u64)>()
    }

    /// All words, in no order, and how often each occurs.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.of_words.iter().map(|(word, frequency)| (&**word, *frequency))
    }

    /// The most frequent words, those first that occur oftener, or else come first by their bytes.
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
