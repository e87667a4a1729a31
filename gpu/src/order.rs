use std::ops::Range;

use crate::{Bound, Task};

/// The order of rows while they are compared. Where bounds depend on sizes, rows of about one size are next to each
/// other, so that a block of them has nearly one bound for a query. Rows move only within blocks of a fixed number of
/// rows.
#[derive(Debug)]
pub(crate) struct Order {
    /// The row at each place; `None` where all rows are at their numbers.
    rows: Option<Vec<u32>>,
    block: u32,
    count: u32,
}

impl Order {
    pub(crate) fn new(task: &Task<'_>, block: u32) -> Self {
        let (block, count) = (block.max(1), task.rows().len());
        let rows = match task.bound() {
            Bound::BySizes { row_sizes, .. } if !row_sizes.is_sorted() => {
                let mut rows: Vec<u32> = (0..count).collect();
                for block in rows.chunks_mut(block as usize) {
                    block.sort_unstable_by_key(|row| (row_sizes[*row as usize], *row));
                }
                Some(rows)
            }
            _ => None,
        };
        Self { rows, block, count }
    }

    /// Returns the row at a place.
    pub(crate) fn row(&self, place: u32) -> u32 {
        self.rows.as_ref().map_or(place, |rows| rows[place as usize])
    }

    /// Returns the rows at some places; `None` where the places are their numbers.
    pub(crate) fn moved(&self, places: Range<u32>) -> Option<&[u32]> {
        self.rows.as_ref().map(|rows| &rows[places.start as usize..places.end as usize])
    }

    /// Returns places that include these rows; other rows may be there too.
    pub(crate) fn places(&self, rows: Range<u32>) -> Range<u32> {
        if self.rows.is_none() {
            return rows;
        }
        let end = rows.end.checked_next_multiple_of(self.block).unwrap_or(u32::MAX);
        rows.start / self.block * self.block..end.min(self.count)
    }

    /// Returns the end of a tile, which is at most `end`. It is the end of a block if a block ends behind `from`, so
    /// that the places of the tile are its rows.
    pub(crate) fn end_of_tile(&self, from: u32, end: u32) -> u32 {
        let whole = end / self.block * self.block;
        if self.rows.is_some() && whole > from { whole } else { end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Codes, Width};

    #[test]
    fn rows_stand_by_their_sizes_within_blocks() {
        let words = [0; 7];
        let codes = Codes::try_new(Width::W32, &words).unwrap();
        let sizes = [3, 1, 2, 3, 9, 5, 4];
        let bound = Bound::BySizes { table: &[1], query_sizes: &sizes, row_sizes: &sizes };
        let task = Task::range(codes, codes, bound).unwrap();
        let order = Order::new(&task, 4);
        assert_eq!(order.moved(0..7).unwrap(), [1, 2, 0, 3, 6, 5, 4]);
        assert_eq!(order.places(5..6), 4..7);
        assert_eq!([order.end_of_tile(0, 6), order.end_of_tile(4, 6)], [4, 6]);
        let task = Task::range(codes, codes, Bound::Constant(1)).unwrap();
        assert_eq!(Order::new(&task, 4).places(5..6), 5..6);
    }
}
