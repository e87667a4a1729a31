//! SimHashes in memory.

use std::collections::VecDeque;

use super::Found;

/// The SimHash of each document, if it has one; documents are numbered in the order in which they came.
#[derive(Debug)]
pub(super) struct Codes {
    distance: u32,
    codes: VecDeque<Option<u64>>,
    first: u32,
}

impl Codes {
    /// Creates an index without documents; codes may differ in at most `distance` bits.
    pub(super) fn new(distance: u32) -> Self {
        Self { distance, codes: VecDeque::new(), first: 0 }
    }

    pub(super) fn add(&mut self, code: Option<u64>) {
        self.codes.push_back(code);
    }

    /// Calls `found` with each document whose code is near.
    pub(super) fn search(&self, code: Option<u64>, mut found: impl FnMut(Found)) {
        let Some(code) = code else { return };
        for (document, other) in (self.first..).zip(&self.codes) {
            let Some(distance) = other.map(|other| (other ^ code).count_ones()).filter(|d| *d <= self.distance) else {
                continue;
            };
            let score = 1.0 - f64::from(distance) / 64.0;
            found(Found { document, score, score_back: score });
        }
    }

    /// Forgets the documents before `first`.
    pub(super) fn forget(&mut self, first: u32) {
        while self.first < first && self.codes.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// Returns the size of the index in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.codes.capacity() * 16
    }
}
