use super::order::{Order, UNSHARED, mix, rank};

/// Finds what sets show to each other; keeps its buffers from one set to the next.
#[derive(Debug, Default)]
pub(super) struct Prefix {
    hashes: Vec<u64>,
    classes: Vec<u8>,
    /// The ranks of the elements that the set shows and that others have, ascending.
    pub(super) ranks: Vec<u32>,
    /// How many elements of the set nobody else has; they come before all others.
    pub(super) unshared: usize,
    /// A bit for each of 64 classes of elements: whether the set has an odd number of them.
    pub(super) bitmap: u64,
}

impl Prefix {
    /// The prefix of a set that shows its first `shown` elements.
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

    /// The ranks of all elements that others have, in no order.
    pub(super) fn share(&mut self, elements: &[u64], key: u64, order: &Order) {
        // First all that misses the caches, without a branch that would wait for it.
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
