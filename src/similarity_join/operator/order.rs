use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use datafusion::common::{JoinSide, Result};

use super::index::{Index, narrow, narrow_u64};
use super::input::Batch;
use super::parallel::parallel;
use super::sets::Sets;
use super::spill::{Portions, Spilled};

/// The order of the elements of all sets, rarest first. The place of an element in it is its *rank*.
///
/// Any order that is the same for all sets finds all pairs; one that begins with the rare elements makes few
/// candidates. So counting is cheap rather than exact: elements are counted by a hash, and counts are rounded to a
/// third of an octave, the *class*. The rank of an element is its class, followed by the hash. Two elements that share
/// a rank are one element to the index. This makes more candidates but loses none, as long as sets are compared by
/// their elements in the end.
#[derive(Debug)]
pub(in crate::similarity_join) struct Order {
    /// The class of each counter.
    classes: Vec<u8>,
    /// The number of bits by which a hash is shifted to give the number of its counter.
    shift: u32,
}

/// The assumed number of elements of a set.
const ELEMENTS_OF_ROW: usize = 16;

/// The number of counters for an unknown number of rows.
const UNKNOWN_COUNTERS: usize = 1 << 20;

/// The most counters that each counted partition sends.
const MOST_SENT: usize = 1 << 21;

/// The class of the elements that only one set has: they come first, and no pair shares them.
pub(super) const UNSHARED: u8 = 0;

/// The bits of a rank that come from the hash.
const HASH_BITS: u32 = 26;

/// The most counters: more of them cost more in cache misses than they gain by telling elements apart.
const MOST_COUNTERS: usize = 1 << 24;

/// The number of parts that elements are partitioned into before they are counted, so that the counters of a part stay
/// in a cache and no two tasks use the same counters.
const PARTS: usize = 64;

impl Order {
    /// Returns the most bytes that it takes to count so many elements.
    pub(crate) fn bytes(elements: usize) -> usize {
        elements * size_of::<u32>() + Self::counters(elements) * (size_of::<u32>() + 2 * size_of::<u8>())
    }

    /// Returns the number of bytes that are useful for counters of so many elements.
    pub(super) fn bytes_of_counters(elements: usize) -> usize {
        Self::counters(elements) * size_of::<u32>()
    }

    fn counters(elements: usize) -> usize {
        (2 * elements).next_power_of_two().clamp(1 << 10, MOST_COUNTERS)
    }

    /// Counts the elements of `sets`.
    pub(super) async fn of(sets: &Arc<Sets>, workers: usize) -> Result<Self> {
        let counters = Self::counters(sets.count_elements());
        let shift = u64::BITS - counters.trailing_zeros();
        let per_part = counters / PARTS;
        let (chunks, sets) = (Index::chunks(sets.len(), workers).1, Arc::clone(sets));
        let dealt = parallel(workers, chunks, move |chunk| {
            let mut parts: Vec<Vec<u32>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
            for set in chunk {
                let key = sets.key(set);
                for &element in sets.elements(set) {
                    let counter = index(mix(element ^ key) >> shift);
                    parts[counter / per_part].push(narrow(counter % per_part));
                }
            }
            Ok(parts)
        })
        .await?;
        let mut parts: Vec<Vec<Vec<u32>>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
        for of_chunk in dealt {
            parts.iter_mut().zip(of_chunk).for_each(|(part, more)| part.push(more));
        }
        let classes = parallel(workers, parts, move |part| {
            let mut counts = vec![0_u32; per_part];
            for &counter in part.iter().flatten() {
                counts[counter as usize] = counts[counter as usize].saturating_add(1);
            }
            Ok(counts.into_iter().map(class).collect::<Vec<u8>>())
        })
        .await?;
        Ok(Self { classes: classes.concat(), shift })
    }

    /// Counts the elements of all rows on disk. `elements` is their number, `counters` the bytes of the counters, and
    /// `portions` limits the bytes of rows that are read at once.
    pub(super) async fn of_spilled(
        spilled: &Spilled,
        elements: usize,
        counters: usize,
        portions: Portions,
    ) -> Result<Self> {
        let fitting = (counters / size_of::<u32>()).max(2).ilog2();
        let counters = Self::counters(elements).min(1 << fitting).max(PARTS);
        let shift = u64::BITS - counters.trailing_zeros();
        let counts: Arc<Vec<AtomicU32>> = Arc::new(std::iter::repeat_with(AtomicU32::default).take(counters).collect());
        let counted = Arc::clone(&counts);
        let count = Arc::new(move |batch: Batch| {
            for row in 0..batch.rows.num_rows() {
                let key = batch.key(row);
                for &element in &batch.elements()[batch.range(row)] {
                    let count = &counted[index(mix(element ^ key) >> shift)];
                    // The count stops far below its overflow.
                    if count.fetch_add(1, Ordering::Relaxed) > u32::MAX / 2 {
                        count.fetch_sub(1, Ordering::Relaxed);
                    }
                }
            }
            Ok(())
        });
        for side in [JoinSide::Left, JoinSide::Right] {
            let mut batches = spilled.read(side);
            while batches.map_portion(portions, &count).await?.is_some() {}
        }
        Ok(Self { classes: counts.iter().map(|count| class(count.load(Ordering::Relaxed))).collect(), shift })
    }

    /// Returns the order for counts from elsewhere; their number is a power of two.
    pub(super) fn of_counters(counts: &[u32]) -> Self {
        Self::of_classes(counts.iter().map(|count| class(*count)).collect())
    }

    /// Returns the order for classes from elsewhere; their number is a power of two.
    pub(super) fn of_classes(classes: Vec<u8>) -> Self {
        let shift = u64::BITS - classes.len().trailing_zeros();
        Self { classes, shift }
    }

    /// Returns the class of each counter.
    pub(super) fn classes(&self) -> &[u8] {
        &self.classes
    }

    /// Returns the number of counters that are useful for so many rows on several machines, each of which counts for
    /// itself.
    pub(in crate::similarity_join) fn counters_of_rows(rows: Option<usize>) -> usize {
        rows.map_or(UNKNOWN_COUNTERS, |rows| Self::counters(rows.saturating_mul(ELEMENTS_OF_ROW))).min(MOST_SENT)
    }

    /// Returns the bytes of the finished order.
    pub(super) fn size(&self) -> usize {
        self.classes.len()
    }

    /// Returns the class of an element with a hash; 0 if no other set has the element.
    pub(super) fn class(&self, hash: u64) -> u8 {
        self.classes[index(hash >> self.shift)]
    }
}

/// Returns the rank of an element with a class and a hash.
pub(super) fn rank(class: u8, hash: u64) -> u32 {
    u32::from(class) << HASH_BITS | narrow_u64(hash & ((1 << HASH_BITS) - 1))
}

/// Returns about how many rows have an element of a rank, rounded down to its class: the count of a counter, which other
/// elements may share, up to 3.3 million.
pub(super) fn count_of(rank: u32) -> usize {
    // The inverse of `class`, with the third roots of 2 and 4 in thousandths.
    let thirds = (rank >> HASH_BITS) + 2;
    if thirds == 2 { 1 } else { ([1000, 1260, 1588][thirds as usize % 3] << (thirds / 3)) / 1000 }
}

/// Returns the number of the counter of an element with a key. `counters`, the number of counters, is a power of two.
pub(super) fn counter(element: u64, key: u64, counters: usize) -> usize {
    index(mix(element ^ key) >> (u64::BITS - counters.trailing_zeros()))
}

/// Converts the number of a counter, which has at most 24 bits.
fn index(counter: u64) -> usize {
    usize::try_from(counter).unwrap_or(usize::MAX)
}

/// The number of classes.
pub(super) const CLASSES: usize = 64;

/// Returns the class of a count, by thirds of an octave: 0 for 1, then 1 for 2, up to 63.
pub(super) fn class(count: u32) -> u8 {
    let Some(octave) = count.checked_ilog2() else { return 0 };
    // The count is scaled to 2^31 or more and compared with 2^31 times the third roots of 2 and 4.
    let mantissa = count << (31 - octave);
    let third = u32::from(mantissa >= 2_705_659_852) + u32::from(mantissa >= 3_408_917_802);
    let class = (3 * octave + third).saturating_sub(2);
    u8::try_from(class).unwrap_or(u8::MAX).min(63)
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
        let least = |class| u32::try_from(count_of(rank(class, 0))).unwrap();
        assert!((1..=63).all(|of| class(least(of) + 1) >= of && class(least(of)) <= of), "rounded down by one at most");
    }
}
