use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use datafusion::common::Result;

use super::index::Index;
use super::parallel::parallel;
use super::sets::Sets;

/// One order of the elements of all sets, rarest first, as numbers: `rank` gives each element its place.
///
/// Any order that is the same for all sets finds all pairs; one that begins with the rare elements makes few candidates.
/// So counting is cheap rather than exact: elements are counted by a hash of theirs, and counts are rounded to a third of
/// an octave. The place of an element is its rounded count, and after that a hash. Two elements that share a place are one
/// element to the index, which makes candidates but loses none, as long as sets are compared by their elements in the
/// end.
#[derive(Debug)]
pub(super) struct Order {
    counts: Vec<AtomicU32>,
    /// How far a hash is shifted to give the number of its counter.
    shift: u32,
}

/// The place of elements that one set only has: they come first, and no pair shares them.
pub(super) const UNSHARED: u32 = 0;

/// The bits of a rank that come from the hash.
const HASH_BITS: u32 = 26;

/// More counters than this (64 MiB) miss the caches more than they tell elements apart.
const MOST_COUNTERS: usize = 1 << 24;

impl Order {
    /// How many bytes the counters for so many elements take.
    pub(super) fn bytes(elements: usize) -> usize {
        Self::counters(elements) * size_of::<AtomicU32>()
    }

    fn counters(elements: usize) -> usize {
        (2 * elements).next_power_of_two().clamp(1 << 10, MOST_COUNTERS)
    }

    /// Counts the elements of `sets`.
    pub(super) async fn of(sets: &Arc<Sets>, elements: usize, workers: usize) -> Result<Arc<Self>> {
        let counters = Self::counters(elements);
        let order = Arc::new(Self {
            counts: std::iter::repeat_with(AtomicU32::default).take(counters).collect(),
            shift: u64::BITS - counters.trailing_zeros(),
        });
        let (counting, sets, chunks) = (Arc::clone(&order), Arc::clone(sets), Index::chunks(sets.len(), workers).1);
        parallel(workers, chunks, move |chunk| {
            for set in chunk {
                let key = sets.key(set);
                for &element in sets.elements(set) {
                    counting.counter(mix(element ^ key)).fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        })
        .await?;
        Ok(order)
    }

    /// The place of an element of a set with `key` in the order; `UNSHARED` if no other set has it.
    pub(super) fn rank(&self, element: u64, key: u64) -> u32 {
        let hash = mix(element ^ key);
        let class = class(self.counter(hash).load(Ordering::Relaxed));
        let low = u32::try_from(hash & ((1 << HASH_BITS) - 1)).unwrap_or_default();
        if class == 0 { UNSHARED } else { class << HASH_BITS | low }
    }

    fn counter(&self, hash: u64) -> &AtomicU32 {
        let i = hash >> self.shift;
        &self.counts[usize::try_from(i).unwrap_or_default()]
    }
}

/// Counts by the third of an octave: 0 for 1, then 1 for 2, up to 63.
fn class(count: u32) -> u32 {
    let Some(octave) = count.checked_ilog2() else { return 0 };
    // The count as a number from 2^31 on, by the third roots of 2 and 4.
    let mantissa = count << (31 - octave);
    let third = u32::from(mantissa >= 2_705_659_852) + u32::from(mantissa >= 3_408_917_802);
    (3 * octave + third).saturating_sub(2).min(63)
}

/// Spreads the bits of elements that need not be hashes (the finalizer of SplitMix64; Steele, Lea, Flood 2014).
pub(super) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_with_counts() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(class), [0, 0, 1, 2, 4, 4, 5, 6, 7]);
        assert_eq!(class(u32::MAX), 63);
        assert!((1..100_000).all(|count| class(count) <= class(count + 1)));
    }
}
