use std::iter::Sum;
use std::ops::AddAssign;

use datafusion::execution::memory_pool::MemoryLimit;

use super::index::Index;
use super::order::Order;
use super::scan::Scanned;
use super::sets::Sets;
use crate::gpu::ENGINE_BYTES;

/// How much there is to join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) rows: usize,
    /// How many elements the sets have.
    pub(super) elements: usize,
    /// How many of them they show at most.
    pub(super) shown: usize,
    /// How much memory the rows and sets take.
    pub(super) bytes: usize,
}

impl Summary {
    /// How much memory it takes at most to count the elements.
    pub(super) fn bytes_to_count(&self) -> usize {
        Order::bytes(self.elements)
    }

    /// How much memory it takes at most to find the distinct sets and to make the index, besides the rows and sets, if so
    /// many of the elements shown are of the share.
    pub(super) fn bytes_to_join(&self, postings: usize) -> usize {
        Sets::bytes(self.rows) + Index::bytes(self.rows, self.shown, postings)
    }
}

impl Summary {
    /// How much memory it takes at most to find the distinct sets and to compare their codes, besides the rows and sets.
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

/// About how much memory a join takes of so many rows, with sets of so many elements in all, of which they show so many.
pub(crate) fn bytes_to_join(rows: u64, elements: u64, shown: u64) -> u64 {
    let [rows, elements, shown] = [rows, elements, shown].map(|n| usize::try_from(n).unwrap_or(usize::MAX / 1024));
    // A few columns besides the set, and the offsets of the sets.
    let bytes = rows * 32 + elements * size_of::<u64>();
    let summary = Summary { rows, elements, shown, bytes };
    (bytes + summary.bytes_to_count().max(summary.bytes_to_join(shown))) as u64
}

/// How to join what does not fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryPlan {
    /// How much memory to count elements in.
    pub(super) counters: usize,
    /// How many bytes of rows to read back at once.
    pub(super) portion: usize,
    /// Into how many shares the rows are dealt.
    pub(super) shares: usize,
}

/// The memory to plan with where the pool does not say how much there is.
const UNKNOWN: usize = 1 << 30;

/// The rows of a portion give each of the most shares enough to write at once, in bytes.
const PORTION: usize = 64 << 20;

/// A file of each share is open while rows are dealt.
const MOST_SHARES: usize = 200;

impl MemoryPlan {
    /// A share should take a third of the memory, as shares are not of one size.
    pub(super) fn of(summary: &Summary, limit: MemoryLimit) -> Self {
        let memory = match limit {
            MemoryLimit::Finite(bytes) => bytes,
            _ => UNKNOWN,
        };
        let shares = (2..MOST_SHARES).find(|shares| Self::bytes_of_share(summary, *shares) <= memory / 3);
        let counters = (memory / 8).clamp(1 << 12, Order::bytes_of_counters(summary.elements));
        Self { counters, portion: (memory / 16).min(PORTION), shares: shares.unwrap_or(MOST_SHARES) }
    }

    /// How much a share takes: a row goes to each share of which it shows an element.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, not negative"
    )]
    fn bytes_of_share(summary: &Summary, shares: usize) -> usize {
        let shown_by_row = summary.shown as f64 / summary.rows.max(1) as f64;
        let rows = 1.0 - (1.0 - 1.0 / shares as f64).powf(shown_by_row.max(1.0));
        let of_rows = summary.bytes + summary.bytes_to_join(0);
        let of_postings = (summary.bytes_to_join(summary.shown) - summary.bytes_to_join(0)) / shares;
        (of_rows as f64 * rows) as usize + of_postings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_memory_means_more_shares_up_to_a_limit() {
        let summary = Summary { rows: 1_000_000, elements: 16_000_000, shown: 4_000_000, bytes: 200_000_000 };
        let shares = |memory| MemoryPlan::of(&summary, MemoryLimit::Finite(memory)).shares;
        assert!(shares(1 << 30) < shares(1 << 28));
        assert_eq!(shares(0), MOST_SHARES);
        assert_eq!(MemoryPlan::of(&Summary::default(), MemoryLimit::Infinite).shares, 2);
    }
}
