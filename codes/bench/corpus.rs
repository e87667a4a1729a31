use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

/// Which sentences are read, and what their words are.
#[derive(Clone)]
pub(crate) struct Reading {
    pub(crate) characters: bool,
    pub(crate) distinct: bool,
    pub(crate) min_words: usize,
    pub(crate) limit: usize,
}

/// Sentences, as words by number.
#[derive(Default)]
pub(crate) struct Corpus {
    numbers: HashMap<Box<str>, u32>,
    /// The words, by number.
    pub(crate) words: Vec<Box<str>>,
    /// Where each sentence starts in `tokens`, and where the last one ends.
    starts: Vec<usize>,
    tokens: Vec<u32>,
    /// The same for their different words, ascending.
    set_starts: Vec<usize>,
    members: Vec<u32>,
}

impl Corpus {
    /// Reads a file of one sentence a line. Words are what letters and digits stand in without a gap, in lower case.
    pub(crate) fn read(path: &str, reading: &Reading) -> std::io::Result<Self> {
        let mut corpus = Self { starts: vec![0], set_starts: vec![0], ..Self::default() };
        let mut seen = HashSet::new();
        let mut buffer = [0; 4];
        for line in BufReader::new(std::fs::File::open(path)?).lines() {
            if corpus.len() == reading.limit {
                break;
            }
            let line = line?.to_lowercase();
            let start = corpus.tokens.len();
            for word in line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                if reading.characters {
                    for character in word.chars() {
                        corpus.push(character.encode_utf8(&mut buffer));
                    }
                } else {
                    corpus.push(word);
                }
            }
            let mut set = corpus.tokens[start..].to_vec();
            set.sort_unstable();
            set.dedup();
            if set.len() < reading.min_words || reading.distinct && !seen.insert(set.clone()) {
                corpus.tokens.truncate(start);
                continue;
            }
            corpus.members.extend(set);
            corpus.starts.push(corpus.tokens.len());
            corpus.set_starts.push(corpus.members.len());
        }
        Ok(corpus)
    }

    fn push(&mut self, word: &str) {
        let number = match self.numbers.get(word) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
                self.numbers.insert(word.into(), number);
                self.words.push(word.into());
                number
            }
        };
        self.tokens.push(number);
    }

    /// How many sentences there are.
    pub(crate) fn len(&self) -> usize {
        self.set_starts.len() - 1
    }

    /// The numbers of the different words of a sentence, ascending.
    pub(crate) fn set(&self, sentence: usize) -> &[u32] {
        &self.members[self.set_starts[sentence]..self.set_starts[sentence + 1]]
    }

    /// How many different words a sentence has.
    pub(crate) fn size(&self, sentence: usize) -> u32 {
        u32::try_from(self.set(sentence).len()).unwrap_or(u32::MAX)
    }

    /// How many different words a sentence has on average.
    pub(crate) fn mean_size(&self) -> f64 {
        self.members.len() as f64 / self.len().max(1) as f64
    }

    /// The words of all sentences.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        self.starts.windows(2).map(|ends| self.tokens[ends[0]..ends[1]].iter().map(|word| &*self.words[*word as usize]))
    }
}
