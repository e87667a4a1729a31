use crate::{Error, Result};

/// The number of bits of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
    /// 128 bits.
    W128,
    /// 256 bits.
    W256,
}

impl Width {
    /// All widths, ascending.
    pub const ALL: [Self; 4] = [Self::W32, Self::W64, Self::W128, Self::W256];

    /// Returns the width of codes of that many bits, if there is one.
    pub fn of_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bits() == bits)
    }

    /// Returns the number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::W32 => 32,
            Self::W64 => 64,
            Self::W128 => 128,
            Self::W256 => 256,
        }
    }

    /// Returns the number of words of 32 bits.
    pub const fn words(self) -> usize {
        match self {
            Self::W32 => 1,
            Self::W64 => 2,
            Self::W128 => 4,
            Self::W256 => 8,
        }
    }

    /// Returns the number of bytes.
    pub const fn bytes(self) -> usize {
        4 * self.words()
    }

    /// Checks that a word can set `per_word` bits of codes of this width.
    pub(crate) fn check(self, per_word: u32) -> Result<()> {
        if (1..=self.bits()).contains(&per_word) {
            return Ok(());
        }
        let bits = self.bits();
        Err(Error::Invalid(format!("a word sets from 1 to {bits} bits of a code of {bits} bits, not {per_word}")))
    }
}

/// The code of a word, or of a set of words: bit `i` is bit `i % 8` of byte `i / 8`, and bits beyond the width are 0.
/// So the bytes are whole numbers of any size in little-endian order, the lowest bits first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Code([u8; 32]);

impl Code {
    /// Returns a code with these bits, each below 256.
    pub(crate) fn of(bits: impl IntoIterator<Item = u8>) -> Self {
        let mut code = Self::default();
        for bit in bits {
            code.0[usize::from(bit / 8)] |= 1 << (bit % 8);
        }
        code
    }

    /// Returns the code of these bytes, if a width has that many.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Width::ALL.into_iter().find(|width| width.bytes() == bytes.len())?;
        let mut code = Self::default();
        code.0[..bytes.len()].copy_from_slice(bytes);
        Some(code)
    }

    /// Returns the bytes of a code of this width.
    pub fn bytes(&self, width: Width) -> &[u8] {
        &self.0[..width.bytes()]
    }

    /// Returns the bits that are set, ascending.
    pub fn bits(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|bit| self.has(*bit))
    }

    /// Returns true if this bit is set.
    pub fn has(&self, bit: u8) -> bool {
        self.0[usize::from(bit / 8)] >> (bit % 8) & 1 == 1
    }

    /// Returns the number of bits that are set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|byte| byte.count_ones()).sum()
    }

    /// Returns the bits that are set in one of the two or in both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|byte| self.0[byte] | other.0[byte]))
    }

    /// Returns the number of bits in which the two differ.
    pub fn hamming(&self, other: &Self) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a ^ b).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_in_bytes() {
        let code = Code::of([0, 31, 64, 255]);
        assert_eq!(code.bytes(Width::W32), (1_u32 << 31 | 1).to_le_bytes());
        assert_eq!(code.bytes(Width::W64), (1_u64 << 31 | 1).to_le_bytes());
        assert_eq!(code.bytes(Width::W256)[8..16], 1_u64.to_le_bytes());
        assert_eq!(code.bytes(Width::W256)[24..], (1_u64 << 63).to_le_bytes());
        assert_eq!(code.bits().collect::<Vec<_>>(), [0, 31, 64, 255]);
        assert_eq!(code.count(), 4);
        assert_eq!(code.hamming(&Code::of([31, 65])), 4);
        assert_eq!(code.union(&Code::of([31, 65])), Code::of([0, 31, 64, 65, 255]));
    }

    #[test]
    fn codes_are_read_from_as_many_bytes_as_they_have() {
        for width in Width::ALL {
            let code = Code::of([3, 30]);
            assert_eq!(Code::from_bytes(code.bytes(width)), Some(code));
        }
        assert_eq!([0, 3, 5, 33].map(|length| Code::from_bytes(&vec![1; length])), [None; 4]);
    }

    #[test]
    fn a_word_sets_some_bits_and_not_more_than_there_are() {
        assert!(Width::W32.check(32).is_ok());
        assert_eq!(
            Width::W32.check(33).unwrap_err().to_string(),
            "a word sets from 1 to 32 bits of a code of 32 bits, not 33"
        );
        assert!(Width::W64.check(0).is_err());
        assert_eq!(Width::of_bits(128), Some(Width::W128));
        assert_eq!(Width::of_bits(96), None);
    }
}
