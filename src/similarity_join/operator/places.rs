use super::condition::Condition;
use super::index::PARTS;
use super::order::{count_of, mix};

/// The places where the sets that show a rank are compared: one, or one for each pair of the blocks that the sets of a frequent
/// rank are cut into, so that several shares of a [distributed](super::dealt) join compare them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// The number of rows that a block has at least, about; 0 if no rank is cut into blocks.
    split_rows: usize,
    most_blocks: u8,
    /// True if the places of two blocks are one, whichever of the two a set of the left input is in.
    is_self_join: bool,
}

/// The inputs that a set belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Left,
    Right,
    Both,
}

impl Origin {
    pub(super) fn of(is_self_join: bool, is_left: bool) -> Self {
        match (is_self_join, is_left) {
            (true, _) => Self::Both,
            (false, true) => Self::Left,
            (false, false) => Self::Right,
        }
    }
}

/// A place where sets that show one rank are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The number that tells the share of the place.
    pub(super) number: u64,
    /// The two blocks that are compared here, the left one first; `None` if the rank has one place.
    pub(super) blocks: Option<(u8, u8)>,
    /// True if the set is in the right one of two blocks, or of one block as a set of the right input.
    pub(super) is_right: bool,
}

impl Places {
    /// One place for each rank.
    pub(super) const WHOLE: Self = Self { split_rows: 0, most_blocks: 1, is_self_join: false };

    /// Returns the places of a join that is dealt into a number of shares. More pairs of blocks than shares would copy rows for
    /// nothing.
    pub(super) fn of_shares(condition: &Condition, is_self_join: bool, shares: usize) -> Self {
        let pairs = |blocks: usize| if is_self_join { blocks * (blocks + 1) / 2 } else { blocks * blocks };
        let most_blocks = (1..u8::MAX).find(|blocks| pairs((*blocks).into()) >= shares).unwrap_or(u8::MAX);
        Self { split_rows: condition.split_rows, most_blocks, is_self_join }
    }

    /// Calls `each` for each place where a set with a bitmap is compared as one that shows a rank.
    pub(super) fn each(self, rank: u32, bitmap: u64, origin: Origin, mut each: impl FnMut(Place)) {
        let count = self.blocks(rank);
        if count == 1 {
            return each(Place { number: whole(rank), blocks: None, is_right: false });
        }
        let own = block(bitmap, count);
        for other in 0..count {
            let is_right = origin == Origin::Right || (origin == Origin::Both && own > other);
            let (left, right) = if is_right { (other, own) } else { (own, other) };
            each(Place { number: self.of_blocks(rank, left, right, count), blocks: Some((left, right)), is_right });
        }
    }

    /// Returns the number of the place in which a set is paired with itself and its equals: that of its rarest rank, or, for
    /// the many sets that show none, any.
    pub(super) fn home(self, ranks: &[u32], bitmap: u64) -> u64 {
        let Some(&rank) = ranks.first() else { return mix(bitmap) };
        let count = self.blocks(rank);
        let own = block(bitmap, count);
        self.of_blocks(rank, own, own, count)
    }

    /// Returns the number of blocks that the sets of a rank are cut into.
    fn blocks(self, rank: u32) -> u8 {
        if self.split_rows == 0 {
            return 1;
        }
        let wanted = count_of(rank).div_ceil(self.split_rows);
        u8::try_from(wanted).unwrap_or(u8::MAX).clamp(1, self.most_blocks)
    }

    /// Returns the number of the place of two blocks. The pairs of blocks of a rank have adjacent numbers, so that they go to
    /// different shares.
    fn of_blocks(self, rank: u32, left: u8, right: u8, count: u8) -> u64 {
        let pair = if self.is_self_join {
            let (low, high) = (u64::from(left.min(right)), u64::from(left.max(right)));
            high * (high + 1) / 2 + low
        } else {
            u64::from(left) * u64::from(count) + u64::from(right)
        };
        whole(rank) + pair
    }
}

/// Returns the number of the place of all sets that show a rank, or of the first of its places.
fn whole(rank: u32) -> u64 {
    // Not by the bits that deal the ranks of a share into the parts of its index.
    u64::from(rank) / PARTS as u64
}

/// Returns the block of a set, which is the block of its equals, too.
fn block(bitmap: u64, count: u8) -> u8 {
    u8::try_from(mix(bitmap) % u64::from(count)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::order::rank;
    use super::*;

    #[test]
    fn each_pair_of_sets_that_show_a_rank_meets_at_one_place() {
        let bitmaps: Vec<u64> = (0..50).collect();
        for (is_self_join, most_blocks) in [(true, 4), (false, 3)] {
            let places = Places { split_rows: 10, most_blocks, is_self_join };
            for rank in [rank(0, 7), rank(13, 7), rank(63, 7)] {
                let of = |bitmap, origin| {
                    let mut found = Vec::new();
                    places.each(rank, bitmap, origin, |place| found.push((place.number, place.blocks)));
                    found
                };
                let sides = if is_self_join { (Origin::Both, Origin::Both) } else { (Origin::Left, Origin::Right) };
                let mut numbers = BTreeSet::new();
                for (a, b) in bitmaps.iter().flat_map(|a| bitmaps.iter().map(move |b| (*a, *b))) {
                    let (left, right) = (of(a, sides.0), of(b, sides.1));
                    // Sets of one block are together wherever they are, and are compared where its two blocks are one.
                    let met: Vec<_> = left
                        .iter()
                        .filter(|place| right.contains(place))
                        .filter(|(_, blocks)| {
                            let is_one = |(left, right)| left == right;
                            !is_self_join || left != right || blocks.is_none_or(is_one)
                        })
                        .collect();
                    assert_eq!(met.len(), 1, "{a} {b} {left:?} {right:?}");
                    numbers.insert(met[0].0);
                    // Rounds of two different inputs of a self-join go to the same shares.
                    let round: Vec<_> = of(a, Origin::Left).into_iter().map(|(number, _)| number).collect();
                    assert!(!is_self_join || left.iter().all(|(number, _)| round.contains(number)));
                }
                let blocks = usize::from(places.blocks(rank));
                let expected = if is_self_join { blocks * (blocks + 1) / 2 } else { blocks * blocks };
                assert_eq!(numbers.len(), expected);
            }
        }
    }
}
