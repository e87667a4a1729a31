use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, UInt32Type, UInt64Type};

use super::input::Batches;
use super::order::{Order, UNSHARED, mix, rank};
use super::sets::Sets;

/// The source of prefixes.
pub(super) enum Prefixes {
    /// Prefixes that are computed by an order of the elements.
    Found(Arc<Order>),
    /// Prefixes that were computed before and are columns of the rows.
    Given(Arc<Batches>),
}

impl Prefixes {
    /// Finds the prefix of a set, which shows its first `shown` elements.
    pub(super) fn find(&self, sets: &Sets, set: u32, shown: usize, prefix: &mut Prefix) {
        match (self, sets.members(set)) {
            (Self::Found(order), _) => prefix.find(sets.elements(set), sets.key(set), shown, order),
            (Self::Given(batches), [first, ..]) => {
                batches.all[first.batch as usize].prefix(first.row as usize, shown, None, prefix);
            }
            (Self::Given(_), []) => prefix.clear(),
        }
    }
}

/// The prefix of a set. Its buffers are reused for the next set.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    hashes: Vec<u64>,
    classes: Vec<u8>,
    /// The ranks of the elements that the set shows and that others have, ascending.
    pub(super) ranks: Vec<u32>,
    /// The number of elements of the set that no other set has; they come before all others.
    pub(super) unshared: usize,
    /// A bit for each of 64 classes of elements: 1 if the set has an odd number of them.
    pub(super) bitmap: u64,
}

impl Prefix {
    /// Computes the prefix of a set, which shows its first `shown` elements.
    pub(super) fn find(&mut self, elements: &[u64], key: u64, shown: usize, order: &Order) {
        self.share(elements, key, order);
        self.bitmap = self.hashes.iter().fold(0, |bitmap, hash| bitmap ^ 1 << (hash >> 32 & 63));
        let shown = shown.saturating_sub(self.unshared).min(self.ranks.len());
        if shown > 0 && shown < self.ranks.len() {
            self.ranks.select_nth_unstable(shown - 1);
        }
        self.ranks.truncate(shown);
        self.ranks.sort_unstable();
    }

    /// Returns the columns of a computed prefix: its ranks, the number of elements that no other set has, and the
    /// bitmap.
    pub(super) fn fields() -> [Field; 3] {
        [
            Field::new("ranks", DataType::new_list(DataType::UInt32, false), false),
            Field::new("unshared", DataType::UInt32, false),
            Field::new("bitmap", DataType::UInt64, false),
        ]
    }

    /// Reads the prefix of a row from these columns; `first` is the index of the first of them.
    pub(super) fn read(&mut self, rows: &RecordBatch, first: usize, row: usize) {
        let ranks = rows.column(first).as_list::<i32>();
        let [start, end] = [ranks.value_offsets()[row], ranks.value_offsets()[row + 1]].map(i32::unsigned_abs);
        self.ranks.clear();
        self.ranks
            .extend_from_slice(&ranks.values().as_primitive::<UInt32Type>().values()[start as usize..end as usize]);
        self.unshared = rows.column(first + 1).as_primitive::<UInt32Type>().value(row) as usize;
        self.bitmap = rows.column(first + 2).as_primitive::<UInt64Type>().value(row);
    }

    /// Resets the prefix to the prefix of an empty set.
    pub(super) fn clear(&mut self) {
        self.ranks.clear();
        (self.unshared, self.bitmap) = (0, 0);
    }

    /// Finds the ranks of all elements that other sets have, in no order.
    pub(super) fn share(&mut self, elements: &[u64], key: u64, order: &Order) {
        // The lookups that miss the caches come first, without a branch that would wait for them.
        self.hashes.clear();
        self.hashes.extend(elements.iter().map(|element| mix(element ^ key)));
        self.classes.clear();
        self.classes.extend(self.hashes.iter().map(|hash| order.class(*hash)));
        self.ranks.clear();
        let shared = self.classes.iter().zip(&self.hashes).filter(|(class, _)| **class != UNSHARED);
        self.ranks.extend(shared.map(|(class, hash)| rank(*class, *hash)));
        self.unshared = elements.len() - self.ranks.len();
    }
}
