use crate::random::split_mix;
use crate::{Code, Width};

/// Returns the bitmap of a set of hashes: each sets one bit, which depends on all of its own bits. Two sets differ in
/// at least as many elements as their bitmaps differ in bits (Sandes, Teodoro, Melo: Bitmap filter, Information Systems
/// 2020).
///
/// ```
/// use ibid_codes::{Width, bitmap};
///
/// let (a, b) = (bitmap([1, 2, 3], Width::W64), bitmap([2, 3, 3], Width::W64));
/// assert!(a.hamming(&b) <= 1);
/// ```
pub fn bitmap(set: impl IntoIterator<Item = u64>, width: Width) -> Code {
    Code::of(set.into_iter().map(|element| bit(element, width)))
}

/// Returns the bit of an element.
fn bit(element: u64, width: Width) -> u8 {
    u8::try_from(split_mix(element, 0) % u64::from(width.bits())).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_follow_each_other_spread_over_all_bits() {
        for width in Width::ALL {
            let mut times = vec![0_u32; width.bits() as usize];
            for element in 0..u64::from(width.bits()) * 1000 {
                times[usize::from(bit(element, width))] += 1;
            }
            // 1,000 on average, with a standard deviation of 32.
            assert!(times.iter().all(|times| (800..1200).contains(times)), "{times:?}");
            assert_eq!(bitmap(0..10_000, width).count(), width.bits());
            assert_eq!(bitmap([], width).count(), 0);
        }
    }
}
