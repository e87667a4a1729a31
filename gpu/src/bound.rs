use crate::{Error, Result};

/// The greatest distance at which two codes match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound<'a> {
    /// One distance for all pairs.
    Constant(u32),
    /// A distance by the sizes of the two sets that the codes represent: `table[size of the query + size of the row]`,
    /// or the last entry where the table is shorter than that. [`jaccard_bounds`] makes such a table.
    BySizes {
        /// The bounds; at least one.
        table: &'a [u32],
        /// The size of the set of each query.
        query_sizes: &'a [u32],
        /// The size of the set of each row.
        row_sizes: &'a [u32],
    },
}

impl Bound<'_> {
    /// Returns the greatest distance at which this query and this row match.
    pub(crate) fn of(&self, query: u32, row: u32) -> u32 {
        match self {
            Self::Constant(bound) => *bound,
            Self::BySizes { table, query_sizes, row_sizes } => {
                look_up(table, query_sizes[query as usize], row_sizes[row as usize])
            }
        }
    }

    /// Returns the highest bound that a pair can have.
    pub(crate) fn highest(&self) -> u32 {
        match self {
            Self::Constant(bound) => *bound,
            Self::BySizes { table, query_sizes, row_sizes } => {
                let largest = |sizes: &[u32]| sizes.iter().copied().max().unwrap_or(0);
                look_up(&running_maximum(table), largest(query_sizes), largest(row_sizes))
            }
        }
    }
}

/// Returns the entry for two sizes.
pub(crate) fn look_up(table: &[u32], a: u32, b: u32) -> u32 {
    let sum = a as usize + b as usize;
    table[sum.min(table.len() - 1)]
}

/// Returns for each sum of sizes the highest bound up to there. No pair of sets of at most these sizes exceeds it.
pub(crate) fn running_maximum(table: &[u32]) -> Vec<u32> {
    let mut highest = 0;
    table
        .iter()
        .map(|bound| {
            highest = highest.max(*bound);
            highest
        })
        .collect()
}

/// Returns bounds, by the sum of two sizes from 0 to `largest_sum`, for bitmaps of sets: the bitmaps of two sets whose
/// Jaccard similarity is at least `threshold` differ in no more bits.
///
/// Each element of a set sets at most `bits_per_element` bits, so the bitmaps differ in at most that many bits for each
/// element that is in one set alone: `bits_per_element · ⌊(|A| + |B|) · (1 − t) / (1 + t)⌋`. This is computed without
/// rounding, for the similarity as a division of two integers that is rounded once:
/// `common as f64 / union as f64 >= threshold`.
///
/// ```
/// let bounds = ibid_gpu::jaccard_bounds(0.8, 1, 63)?;
/// assert_eq!(bounds[63], 7); // 28 of 35 elements in common, exactly 0.8: seven are in one set alone
/// # Ok::<(), ibid_gpu::Error>(())
/// ```
pub fn jaccard_bounds(threshold: f64, bits_per_element: u32, largest_sum: u32) -> Result<Vec<u32>> {
    check_threshold(threshold)?;
    // The fewest common elements never fall as the sum grows, and rise by at most one for each two.
    let mut common = 0_u32;
    let bounds = (0..=largest_sum).map(|sum| {
        while common < sum / 2 && f64::from(common) / f64::from(sum - common) < threshold {
            common += 1;
        }
        bits_per_element.saturating_mul(sum - 2 * common)
    });
    Ok(bounds.collect())
}

/// Checks that a threshold is above 0 and at most 1.
pub(crate) fn check_threshold(threshold: f64) -> Result<()> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    Err(Error::Invalid(format!("a threshold is above 0 and at most 1, not {threshold}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_the_table_take_its_last_entry() {
        assert_eq!(look_up(&[5, 6, 7], 0, 1), 6);
        assert_eq!(look_up(&[5, 6, 7], 2, 1), 7);
        assert_eq!(look_up(&[5, 6, 7], u32::MAX, u32::MAX), 7);
    }

    #[test]
    fn no_pair_of_sets_exceeds_its_bound_and_some_pair_reaches_it() {
        for percent in 1..=100 {
            let threshold = f64::from(percent) / 100.0;
            let bounds = jaccard_bounds(threshold, 1, 80).unwrap();
            let mut reached = [0; 81];
            for a in 0..=80_u32 {
                for b in 0..=80 - a {
                    for common in 0..=a.min(b) {
                        if f64::from(common) / f64::from(a + b - common) >= threshold {
                            let sum = (a + b) as usize;
                            reached[sum] = reached[sum].max(a + b - 2 * common);
                        }
                    }
                }
            }
            for sum in 0..=80 {
                // Where no sets are so similar, or both are empty, the bound is the one of two equal halves.
                assert!(reached[sum] == bounds[sum] || reached[sum] == 0 && bounds[sum] <= 1, "{sum} at {threshold}");
            }
        }
    }

    #[test]
    fn bounds_are_no_wider_than_the_formula() {
        let bounds = jaccard_bounds(0.5, 2, 300).unwrap();
        for (sum, bound) in bounds.iter().enumerate() {
            assert!(*bound as usize <= 2 * sum.div_ceil(3), "{bound} for {sum}");
        }
        for threshold in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(jaccard_bounds(threshold, 1, 1).is_err());
        }
    }
}
