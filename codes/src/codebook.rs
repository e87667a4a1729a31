use std::collections::HashMap;

use crate::md5::md5_code;
use crate::{Code, Error, Frequencies, Result, Width};

/// A word and its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The word.
    pub word: Box<str>,
    /// The code of the word, which sets as many bits as the codebook says.
    pub code: Code,
    /// The number of occurrences of the word.
    pub frequency: u64,
}

/// The codes of words. A word with a row has the code of the row, and any other word a code from its MD5 hash.
#[derive(Debug, Clone)]
pub struct Codebook {
    width: Width,
    per_word: u32,
    rows: Vec<Row>,
    places: HashMap<Box<str>, usize>,
}

impl Codebook {
    /// Creates a codebook of these rows. Fails where a code has other bits than it may have, or where a word occurs
    /// twice.
    pub fn try_new(width: Width, per_word: u32, rows: Vec<Row>) -> Result<Self> {
        width.check(per_word)?;
        let mut places = HashMap::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            let (word, bits) = (&row.word, width.bits());
            if row.code.count() != per_word || row.code.bits().any(|bit| u32::from(bit) >= bits) {
                return Err(Error::Invalid(format!("the code of {word:?} does not set {per_word} of {bits} bits")));
            }
            if places.insert(word.clone(), place).is_some() {
                return Err(Error::Invalid(format!("the codebook has {word:?} twice")));
            }
        }
        Ok(Self { width, per_word, rows, places })
    }

    /// Returns the width of the codes.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the number of bits of a code that a word sets.
    pub fn per_word(&self) -> u32 {
        self.per_word
    }

    /// Returns the words that have a row, in the order given.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the code of a word.
    pub fn code(&self, word: &str) -> Code {
        match self.places.get(word) {
            Some(place) => self.rows[*place].code,
            None => md5_code(word, self.width, self.per_word),
        }
    }

    /// Returns the code of a sentence: the bits that some of its words sets. It depends only on the set of its words.
    pub fn bit_code<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> Code {
        words.into_iter().fold(Code::default(), |code, word| code.union(&self.code(word.as_ref())))
    }

    /// Returns for each bit the number of occurrences of words that set it.
    pub fn loads(&self, frequencies: &Frequencies) -> Vec<u64> {
        let mut loads = vec![0_u64; self.width.bits() as usize];
        for (word, frequency) in frequencies.iter() {
            for bit in self.code(word).bits() {
                loads[usize::from(bit)] = loads[usize::from(bit)].saturating_add(frequency);
            }
        }
        loads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(word: &str, bits: &[u8]) -> Row {
        Row { word: word.into(), code: Code::of(bits.iter().copied()), frequency: 1 }
    }

    #[test]
    fn sentences_have_the_bits_of_their_words() {
        let codebook = Codebook::try_new(Width::W64, 2, vec![row("a", &[0, 63]), row("b", &[0, 1])]).unwrap();
        assert_eq!(codebook.bit_code(["a", "b", "a"]), Code::of([0, 1, 63]));
        assert_eq!(codebook.bit_code([""; 0]), Code::default());
        assert_eq!(codebook.code("abc"), md5_code("abc", Width::W64, 2));
        assert_eq!(codebook.bit_code(["abc", "b"]), md5_code("abc", Width::W64, 2).union(&Code::of([0, 1])));
        let loads = codebook.loads(&[("a", 3), ("b", 4), ("none", 0)].into_iter().collect());
        assert_eq!((loads[0], loads[1], loads[2], loads[63]), (7, 4, 0, 3));
    }

    #[test]
    fn rows_are_what_they_should_be() {
        let wrong = |rows| Codebook::try_new(Width::W32, 2, rows).unwrap_err().to_string();
        assert_eq!(wrong(vec![row("a", &[1])]), "the code of \"a\" does not set 2 of 32 bits");
        assert_eq!(wrong(vec![row("a", &[1, 32])]), "the code of \"a\" does not set 2 of 32 bits");
        assert_eq!(wrong(vec![row("a", &[1, 2]), row("a", &[1, 2])]), "the codebook has \"a\" twice");
        assert!(Codebook::try_new(Width::W32, 0, vec![]).is_err());
    }
}
