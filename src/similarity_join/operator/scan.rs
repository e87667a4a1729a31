use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use datafusion::common::{Result, exec_datafusion_err};
use ibid_gpu::{Bound, Codes, Engine, Hit, Task, Width, jaccard_bounds};
use ibid_udfs::similarity::Measure;

use super::condition::Condition;
use super::index::{Index, narrow};
use super::order::mix;
use super::parallel::parallel;
use super::sets::Sets;

/// The kind of the code that represents each set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::similarity_join) enum Scan {
    /// A bitmap in which each element flips a bit. It filters pairs of sets, as the Jaccard similarity bounds how far
    /// apart the bitmaps of a match may be.
    Bitmaps,
    /// The code that the set represents, as words of 64 bits: all codes up to a distance match.
    Codes { bits: u32, distance: u32 },
}

impl Scan {
    /// Returns true if sets can be compared by their bitmaps.
    pub(in crate::similarity_join) fn has_bitmaps(measure: Measure, threshold: f64) -> bool {
        measure == Measure::Jaccard && threshold <= 1.0
    }
}

/// The codes of all sets, which are compared block by block.
#[derive(Debug)]
pub(super) struct Scanned {
    width: Width,
    /// The codes of all sets, one after the other.
    words: Vec<u32>,
    /// The size of each set, if it bounds how far its bitmap may be from others; else 1.
    sizes: Vec<u32>,
    /// The bound for each sum of two sizes.
    bounds: Vec<u32>,
    /// The ratio that the sizes of two sets must have.
    ratio: f64,
    right: usize,
    is_self_join: bool,
}

/// The number of bits of a bitmap for each element of a set, if that is possible: then few bitmaps differ little by
/// chance.
const BITS_PER_ELEMENT: usize = 6;

impl Scanned {
    /// Returns the most bytes that the codes of so many sets take.
    pub(crate) fn bytes(sets: usize) -> usize {
        sets * (Width::W256.bytes() + size_of::<u32>())
    }

    pub(super) async fn of(sets: &Arc<Sets>, condition: &Arc<Condition>, scan: Scan, workers: usize) -> Result<Self> {
        let width = match scan {
            Scan::Bitmaps => {
                let mean = sets.count_elements() / sets.len().max(1);
                let fits = |width: &Width| width.bits() as usize >= mean * BITS_PER_ELEMENT;
                Width::ALL.into_iter().find(fits).unwrap_or(Width::W256)
            }
            Scan::Codes { bits, .. } => Width::of_bits(bits)
                .ok_or_else(|| exec_datafusion_err!("codes of {bits} bits are compared by their bands only"))?,
        };
        let make = {
            let sets = Arc::clone(sets);
            move |range: Range<u32>| {
                let mut words = Vec::with_capacity(range.len() * width.words());
                for set in range {
                    let code = match scan {
                        Scan::Bitmaps => bitmap(sets.elements(set), width),
                        Scan::Codes { .. } => code(sets.elements(set)),
                    };
                    words.extend_from_slice(&code[..width.words()]);
                }
                Ok(words)
            }
        };
        let words = parallel(workers, Index::chunks(sets.len(), workers).1, make).await?.concat();
        let (sizes, bounds, ratio) = match scan {
            Scan::Bitmaps => {
                let sizes = (0..narrow(sets.len())).map(|set| narrow(sets.size(set))).collect();
                (sizes, bounds(condition.threshold, width, narrow(2 * sets.largest()))?, condition.threshold)
            }
            Scan::Codes { distance, .. } => (vec![1; sets.len()], vec![distance], 1.0),
        };
        Ok(Self { width, words, sizes, bounds, ratio, right: sets.right, is_self_join: sets.is_self_join() })
    }

    /// Calls `found` with all pairs of sets whose codes are within their bound: a set of the left and one of the right
    /// input, or any two sets of a self-join once. Now and then it calls `found` without pairs, so that it can stop.
    pub(super) fn search(&self, engine: &Engine, mut found: impl FnMut(&[Hit]) -> ControlFlow<()>) -> Result<()> {
        let failed = |error: ibid_gpu::Error| exec_datafusion_err!("comparing codes: {error}");
        let (left, right) = self.words.split_at(self.right * self.width.words());
        let codes = |words| Codes::try_new(self.width, words).map_err(failed);
        let task = if self.is_self_join {
            Task::self_join(codes(left)?, &self.sizes, &self.bounds, self.ratio)
        } else {
            let (query_sizes, row_sizes) = self.sizes.split_at(self.right);
            let bound = Bound::BySizes { table: &self.bounds, query_sizes, row_sizes };
            Task::range(codes(left)?, codes(right)?, bound)
        };
        let first_row = if self.is_self_join { 0 } else { narrow(self.right) };
        let mut moved = Vec::new();
        let give = |hits: &[Hit]| {
            moved.clear();
            moved.extend(hits.iter().map(|hit| Hit { row: hit.row + first_row, ..*hit }));
            found(&moved)
        };
        engine.search(&task.map_err(failed)?, give).map(drop).map_err(failed)
    }
}

/// Returns a bitmap with a bit for each class of elements: 1 if the set has an odd number of them.
fn bitmap(elements: &[u64], width: Width) -> [u32; 8] {
    let mut words = [0; 8];
    for element in elements {
        let bit = mix(*element) >> (u64::BITS - width.bits().trailing_zeros());
        words[usize::try_from(bit / 32).unwrap_or_default()] ^= 1 << (bit % 32);
    }
    words
}

/// Returns a code, from its words of 64 bits.
fn code(numbers: &[u64]) -> [u32; 8] {
    let mut words = [0; 8];
    for (number, words) in numbers.iter().zip(words.chunks_mut(2)) {
        let bytes = number.to_le_bytes();
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
    }
    words
}

/// Returns the bounds of bitmaps. The last one applies to all larger sums of sizes: no bitmaps are too far apart there.
fn bounds(threshold: f64, width: Width, largest_sum: u32) -> Result<Vec<u32>> {
    let failed = |error: ibid_gpu::Error| exec_datafusion_err!("bounds of bitmaps: {error}");
    let mut sum = largest_sum.min(1 << 10);
    loop {
        let mut bounds = jaccard_bounds(threshold, 1, sum).map_err(failed)?;
        // The bound of any larger sum is at most one less than this one.
        let is_enough = bounds.last().is_some_and(|bound| *bound > width.bits());
        if is_enough || sum == largest_sum {
            if let Some(last) = bounds.last_mut().filter(|_| is_enough) {
                *last = width.bits();
            }
            return Ok(bounds);
        }
        sum = sum.saturating_mul(2).min(largest_sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bound_holds_for_all_larger_sums() {
        for threshold in [0.1, 0.5, 0.8, 0.99] {
            for width in Width::ALL {
                let all = jaccard_bounds(threshold, 1, 100_000).unwrap();
                let few = bounds(threshold, width, 100_000).unwrap();
                for (sum, bound) in all.iter().enumerate() {
                    let short = few[sum.min(few.len() - 1)].min(width.bits());
                    assert_eq!(short, (*bound).min(width.bits()), "{sum} at {threshold}");
                }
            }
        }
    }

    #[test]
    fn codes_are_their_bytes_in_order() {
        assert_eq!(code(&[0x0807_0605_0403_0201, 9]), [0x0403_0201, 0x0807_0605, 9, 0, 0, 0, 0, 0]);
    }
}
