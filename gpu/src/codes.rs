use std::ops::Range;

use ibid_codes::Width;

use crate::{Error, Result};

/// Codes of one width, one after another. Each has [`Width::words`] words of 32 bits, the lowest bits first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes<'a> {
    width: Width,
    words: &'a [u32],
}

impl<'a> Codes<'a> {
    /// Creates codes from their words. Fails where the last code is cut short, or where there are 2³² or more.
    pub fn try_new(width: Width, words: &'a [u32]) -> Result<Self> {
        if !words.len().is_multiple_of(width.words()) {
            let (words, bits) = (words.len(), width.bits());
            return Err(Error::Invalid(format!(
                "{words} words of 32 bits are no whole number of codes of {bits} bits"
            )));
        }
        if u32::try_from(words.len() / width.words()).is_err() {
            return Err(Error::Invalid("a search takes fewer than 4294967296 codes".to_owned()));
        }
        Ok(Self { width, words })
    }

    /// Returns the width of each code.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the number of codes.
    pub fn len(&self) -> u32 {
        u32::try_from(self.words.len() / self.width.words()).unwrap_or(u32::MAX)
    }

    /// Returns true if there are no codes.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the words of all codes.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// Returns the words of one code.
    pub fn code(&self, index: u32) -> &'a [u32] {
        self.words_of(index..index.saturating_add(1))
    }

    /// Returns the words of a range of codes.
    pub fn words_of(&self, codes: Range<u32>) -> &'a [u32] {
        let words = self.width.words();
        &self.words[codes.start as usize * words..codes.end as usize * words]
    }
}

/// Returns the number of bits in which two codes of one width differ.
pub fn hamming(a: &[u32], b: &[u32]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_whole() {
        assert_eq!(Codes::try_new(Width::W64, &[1, 2, 3, 4]).unwrap().code(1), [3, 4]);
        let error = Codes::try_new(Width::W128, &[1, 2, 3]).unwrap_err();
        assert_eq!(error.to_string(), "3 words of 32 bits are no whole number of codes of 128 bits");
    }

    #[test]
    fn counts_bits_that_differ() {
        assert_eq!(hamming(&[0, u32::MAX], &[1, 0]), 33);
    }
}
