use md5::{Digest, Md5};

use crate::{Code, Width};

/// Returns the code of a word from its MD5 hash: `per_word` different bits, each set of bits about as likely as any
/// other. If the width has no more than `per_word` bits, all of them are set.
///
/// The hash is read as four little-endian numbers of 32 bits; where more are needed, the numbers of the hash of the
/// hash follow. The `i`-th number, modulo the number of bits left, chooses one of the bits that are not chosen yet.
pub fn md5_code(word: &str, width: Width, per_word: u32) -> Code {
    let mut digest: [u8; 16] = Md5::digest(word.as_bytes()).into();
    let mut bits: [u8; 256] = std::array::from_fn(|bit| u8::try_from(bit).unwrap_or(u8::MAX));
    let total = width.bits() as usize;
    let chosen = (per_word as usize).min(total);
    for i in 0..chosen {
        if i > 0 && i % 4 == 0 {
            digest = Md5::digest(digest).into();
        }
        let mut number = [0; 4];
        number.copy_from_slice(&digest[i % 4 * 4..][..4]);
        bits.swap(i, i + u32::from_le_bytes(number) as usize % (total - i));
    }
    Code::of(bits[..chosen].iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_hash() {
        // MD5("abc") = 90015098 3cd24fb0 d6963f7d 28e17f72: 0x98500190 is 16 modulo 32, and 0xb04fd23c is 2 modulo 31,
        // which is bit 3 if the bits are counted from 1 on.
        assert_eq!(md5_code("abc", Width::W32, 2).bits().collect::<Vec<_>>(), [3, 16]);
        assert_eq!(md5_code("abc", Width::W32, 1).bits().collect::<Vec<_>>(), [16]);
    }

    #[test]
    fn as_many_bits_as_asked_for() {
        for width in Width::ALL {
            for per_word in 1..=width.bits() {
                let code = md5_code("word", width, per_word);
                assert_eq!(code.count(), per_word);
                assert!(code.bits().all(|bit| u32::from(bit) < width.bits()));
            }
        }
    }

    #[test]
    fn no_bit_is_preferred() {
        let mut load = [0_u32; 32];
        for word in 0..32_000 {
            for bit in md5_code(&word.to_string(), Width::W32, 2).bits() {
                load[usize::from(bit)] += 1;
            }
        }
        // 2,000 on average, with a standard deviation of 43.
        assert!(load.iter().all(|load| (1800..2200).contains(load)), "{load:?}");
    }
}
