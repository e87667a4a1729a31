use std::iter::Sum;
use std::ops::{AddAssign, Range};

use datafusion::execution::memory_pool::MemoryLimit;

use super::index::Index;
use super::order::Order;
use super::scan::Scanned;
use super::sets::Sets;
use crate::functions::gpu::ENGINE_BYTES;

/// The size of the rows to join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(super) rows: usize,
    /// The number of elements of the sets.
    pub(super) elements: usize,
    /// The most elements that the sets show.
    pub(super) shown: usize,
    /// The bytes of memory of the rows and sets.
    pub(super) bytes: usize,
}

impl Summary {
    /// Returns the most bytes that it takes to count the elements.
    fn bytes_to_count(&self) -> usize {
        Order::bytes(self.elements)
    }

    /// Returns the most bytes that it takes to find the distinct sets and to build the index, besides the rows and
    /// sets, if `postings` of the elements shown belong to the share.
    pub(super) fn bytes_to_join(&self, postings: usize) -> usize {
        Sets::bytes(self.rows) + Index::bytes(self.rows, self.shown, postings)
    }

    /// Returns the most bytes that it takes to find all pairs by an index, besides the rows and sets.
    pub(super) fn bytes_to_find(&self) -> usize {
        self.bytes_to_count().max(self.bytes_to_join(self.shown))
    }

    /// Returns the most bytes that it takes to find the distinct sets and to compare their codes, besides the rows and
    /// sets.
    pub(super) fn bytes_to_scan(&self) -> usize {
        Sets::bytes(self.rows) + Scanned::bytes(self.rows) + ENGINE_BYTES
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, more: Self) {
        self.rows += more.rows;
        self.elements += more.elements;
        self.shown += more.shown;
        self.bytes += more.bytes;
    }
}

impl Sum for Summary {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, more| {
            sum += more;
            sum
        })
    }
}

/// Estimates the bytes of memory of a join of so many rows, whose sets have `elements` elements in total and show
/// `shown` of them.
pub(crate) fn bytes_to_join(rows: u64, elements: u64, shown: u64) -> u64 {
    let [rows, elements, shown] = [rows, elements, shown].map(|n| usize::try_from(n).unwrap_or(usize::MAX / 1024));
    // A few columns besides the set, and the offsets of the sets.
    let bytes = rows * 32 + elements * size_of::<u64>();
    let summary = Summary { rows, elements, shown, bytes };
    (bytes + summary.bytes_to_find()) as u64
}

/// The memory budget of a join that does not fit into memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MemoryPlan {
    memory: usize,
    /// The bytes of rows to read back at once.
    pub(super) portion: usize,
    /// The bytes for the counters of elements.
    pub(super) counters: usize,
    /// The bytes for finding the shared ranks.
    pub(super) ranks: usize,
    /// The most bytes of a share: more than was planned, as elements are not spread evenly.
    pub(super) share: usize,
    /// The most bytes of a block; two blocks are joined at a time.
    pub(super) block: usize,
}

/// The partitioning of rows into shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SharePlan {
    /// The number of shares of the elements, each of which is joined by itself.
    pub(super) shares: usize,
    /// The estimated number of shares that contain a row.
    copies: f64,
}

/// The memory to plan with where the pool does not say how much there is.
const UNKNOWN: usize = 1 << 30;

/// The most bytes of a portion. Its rows give each share enough to write at once, even if there are the most shares.
const PORTION: usize = 64 << 20;

/// The most shares of a pass, as a file of each share is open while rows are partitioned. More shares take several
/// passes.
const SHARES_OF_PASS: usize = 200;
const MOST_SHARES: usize = 64 * SHARES_OF_PASS;

/// The number of copies of a row up to which shares are better than blocks.
const FEW_COPIES: f64 = 4.0;

impl MemoryPlan {
    /// Plans the memory of a join: a share may take two thirds of it, and two blocks take half.
    pub(super) fn of(summary: &Summary, limit: MemoryLimit) -> Self {
        let memory = match limit {
            MemoryLimit::Finite(bytes) => bytes,
            _ => UNKNOWN,
        };
        Self {
            memory,
            portion: (memory / 16).min(PORTION),
            counters: (memory / 8).clamp(1 << 12, Order::bytes_of_counters(summary.elements)),
            ranks: memory / 4,
            share: memory / 3 * 2,
            block: memory / 4,
        }
    }

    /// Plans the shares of rows, if a row is in the share of each of its postings. A share should take a third of the
    /// memory, as shares differ in size.
    pub(super) fn shares(&self, summary: &Summary, postings: usize) -> SharePlan {
        let fits = |shares: &usize| SharePlan::bytes_of_share(summary, postings, *shares) <= self.memory / 3;
        let shares = (2..MOST_SHARES).find(fits).unwrap_or(MOST_SHARES);
        SharePlan { shares, copies: SharePlan::copies(summary, postings, shares) }
    }
}

impl SharePlan {
    /// Returns the shares of each pass.
    pub(super) fn passes(&self) -> impl Iterator<Item = Range<usize>> {
        let shares = self.shares;
        (0..shares).step_by(SHARES_OF_PASS).map(move |first| first..shares.min(first + SHARES_OF_PASS))
    }

    /// Estimates how often a row is written and read in shares.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn times_moved(&self) -> f64 {
        2.0 * self.copies + self.shares.div_ceil(SHARES_OF_PASS) as f64
    }

    /// Returns true if blocks may be better.
    pub(super) fn are_blocks_tried(&self) -> bool {
        self.copies > FEW_COPIES
    }

    /// Estimates the number of shares that contain a row. A row is in each share of which it shows an element.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn copies(summary: &Summary, postings: usize, shares: usize) -> f64 {
        let (shares, of_row) = (shares as f64, postings as f64 / summary.rows.max(1) as f64);
        shares * (1.0 - (1.0 - 1.0 / shares).powf(of_row))
    }

    /// Estimates the bytes of memory of a share.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, not negative"
    )]
    fn bytes_of_share(summary: &Summary, postings: usize, shares: usize) -> usize {
        let of_rows = summary.bytes + summary.bytes_to_join(0);
        let of_postings = (summary.bytes_to_join(postings) - summary.bytes_to_join(0)) / shares;
        (of_rows as f64 * Self::copies(summary, postings, shares)) as usize / shares + of_postings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_memory_means_more_shares_up_to_a_limit() {
        let summary = Summary { rows: 1_000_000, elements: 16_000_000, shown: 4_000_000, bytes: 200_000_000 };
        let plan = |memory, postings| MemoryPlan::of(&summary, MemoryLimit::Finite(memory)).shares(&summary, postings);
        let shares = |memory| plan(memory, summary.shown).shares;
        assert!(shares(1 << 30) < shares(1 << 28));
        assert_eq!(shares(0), MOST_SHARES);
        assert!(plan(1 << 28, summary.rows).shares < shares(1 << 28));
        let nothing = Summary::default();
        assert_eq!(MemoryPlan::of(&nothing, MemoryLimit::Infinite).shares(&nothing, 0).shares, 2);
    }

    #[test]
    fn rows_that_show_much_are_moved_often_in_shares() {
        let summary = Summary { rows: 100_000, elements: 16_000_000, shown: 4_000_000, bytes: 200_000_000 };
        let plan = |postings| MemoryPlan::of(&summary, MemoryLimit::Finite(1 << 28)).shares(&summary, postings);
        let plan = [plan(summary.shown), plan(200_000)];
        assert!(plan[0].are_blocks_tried() && plan[0].times_moved() > 50.0, "{plan:?}");
        assert!(!plan[1].are_blocks_tried(), "{plan:?}");
    }

    #[test]
    fn each_share_is_in_one_pass() {
        let plan = SharePlan { shares: 2 * SHARES_OF_PASS + 1, copies: 1.0 };
        assert!(plan.passes().flatten().eq(0..plan.shares));
    }
}
