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
    fn bytes_to_count(&self) -> usize {
        Order::bytes(self.elements)
    }

    /// How much memory it takes at most to find the distinct sets and to make the index, besides the rows and sets, if so
    /// many of the elements shown are of the share.
    pub(super) fn bytes_to_join(&self, postings: usize) -> usize {
        Sets::bytes(self.rows) + Index::bytes(self.rows, self.shown, postings)
    }

    /// How much memory it takes at most to find all pairs by an index, besides the rows and sets.
    pub(super) fn bytes_to_find(&self) -> usize {
        self.bytes_to_count().max(self.bytes_to_join(self.shown))
    }

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
    (bytes + summary.bytes_to_find()) as u64
}

/// How to join what does not fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryPlan {
    /// How many bytes of rows to read back at once.
    pub(super) portion: usize,
    /// Into how many shares of the elements to deal the rows, each joined by itself; `None` where blocks of rows, each joined with
    /// each, are better.
    pub(super) shares: Option<usize>,
    /// How much memory to count elements in.
    pub(super) counters: usize,
    /// How much memory a share may take: more than was planned, as elements are not spread evenly.
    pub(super) share: usize,
    /// How much memory a block may take.
    pub(super) block: usize,
}

/// The memory to plan with where the pool does not say how much there is.
const UNKNOWN: usize = 1 << 30;

/// The rows of a portion give each of the most shares enough to write at once, in bytes.
const PORTION: usize = 64 << 20;

/// A file of each share is open while rows are dealt.
const MOST_SHARES: usize = 200;

/// Rows that show many elements are copied into most of many shares; blocks hold each row once.
const MOST_COPIES: f64 = 16.0;

impl MemoryPlan {
    /// A share should take a third of the memory, or half of it where there are as many as can be, as they are not of one size;
    /// two blocks take half.
    pub(super) fn of(summary: &Summary, limit: MemoryLimit) -> Self {
        let memory = match limit {
            MemoryLimit::Finite(bytes) => bytes,
            _ => UNKNOWN,
        };
        let counters = (memory / 8).clamp(1 << 12, Order::bytes_of_counters(summary.elements));
        let fits = |shares: &usize, bytes| Self::bytes_of_share(summary, *shares) <= bytes;
        let shares = (2..MOST_SHARES).find(|shares| fits(shares, memory / 3));
        let shares = shares
            .or(Some(MOST_SHARES).filter(|shares| fits(shares, memory / 2)))
            .filter(|shares| Self::copies(summary, *shares) <= MOST_COPIES);
        Self { portion: (memory / 16).min(PORTION), shares, counters, share: memory / 3 * 2, block: memory / 4 }
    }

    /// In how many of the shares a row is: in each of which it shows an element.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn copies(summary: &Summary, shares: usize) -> f64 {
        let (shares, shown_by_row) = (shares as f64, summary.shown as f64 / summary.rows.max(1) as f64);
        shares * (1.0 - (1.0 - 1.0 / shares).powf(shown_by_row.max(1.0)))
    }

    /// How much memory a share takes.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, not negative"
    )]
    fn bytes_of_share(summary: &Summary, shares: usize) -> usize {
        let of_rows = summary.bytes + summary.bytes_to_join(0);
        let of_postings = (summary.bytes_to_join(summary.shown) - summary.bytes_to_join(0)) / shares;
        (of_rows as f64 * Self::copies(summary, shares)) as usize / shares + of_postings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_memory_means_more_shares_up_to_a_limit() {
        let summary = Summary { rows: 1_000_000, elements: 16_000_000, shown: 4_000_000, bytes: 200_000_000 };
        let shares = |memory| MemoryPlan::of(&summary, MemoryLimit::Finite(memory)).shares;
        assert!(shares(1 << 30).unwrap() < shares(1 << 29).unwrap());
        assert_eq!(shares(0), None);
        assert_eq!(MemoryPlan::of(&Summary::default(), MemoryLimit::Infinite).shares, Some(2));
    }

    #[test]
    fn rows_that_show_much_are_not_copied_into_many_shares() {
        let summary = Summary { rows: 100_000, elements: 16_000_000, shown: 4_000_000, bytes: 200_000_000 };
        assert_eq!(MemoryPlan::of(&summary, MemoryLimit::Finite(1 << 28)).shares, None);
    }
}
