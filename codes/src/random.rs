//! Numbers that look random, and are the same for a seed everywhere.

/// The number by which the state grows from number to number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the number that SplitMix64 (Steele, Lea and Flood 2014) gives from a seed after `i` other numbers.
#[must_use]
#[inline]
pub fn split_mix(seed: u64, i: u64) -> u64 {
    let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(STEP));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_split_mix() {
        // The first numbers of the reference implementation.
        let numbers = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([0, 1, 2].map(|i| split_mix(1_234_567, i)), numbers);
    }
}
