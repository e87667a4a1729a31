//! Documents as the sets of their sentences, and the search for documents that share sentences with another one.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::sets::Sets;
use super::{Found, share};

/// Documents by the sets of their sentences, numbered in the order in which they came.
#[derive(Debug)]
pub(super) struct Sentences {
    least: f64,
    sets: Sets,
    /// The document of each set, from the first on.
    documents: VecDeque<u32>,
    first_set: u32,
    /// The number of elements of the sentences of each document.
    elements: VecDeque<usize>,
    first: u32,
}

impl Sentences {
    /// Creates an index without documents; a share of `least` of a sentence must be in a sentence of the other
    /// document.
    pub(super) fn new(least: f64) -> Self {
        Self {
            least,
            sets: Sets::new(least),
            documents: VecDeque::new(),
            first_set: 0,
            elements: VecDeque::new(),
            first: 0,
        }
    }

    pub(super) fn add(&mut self, sentences: Vec<Box<[u64]>>) {
        let document = self.first + u32::try_from(self.elements.len()).unwrap_or(u32::MAX);
        self.elements.push_back(sentences.iter().map(|set| set.len()).sum());
        for set in sentences.into_iter().filter(|set| !set.is_empty()) {
            self.sets.add(set);
            self.documents.push_back(document);
        }
    }

    /// Calls `found` with each document that has one of these sentences, or one of whose sentences is among these.
    pub(super) fn search(&mut self, sentences: &[Box<[u64]>], mut found: impl FnMut(Found)) {
        let least = self.least;
        let (mut there, mut back) = (HashMap::<u32, usize>::new(), HashMap::<u32, usize>::new());
        let mut counted = HashSet::new();
        let mut of_sentence = HashSet::new();
        for set in sentences.iter().filter(|set| !set.is_empty()) {
            of_sentence.clear();
            self.sets.search(set, true, |near| {
                let document = self.documents[(near.number - self.first_set) as usize];
                if near.score >= least && of_sentence.insert(document) {
                    *there.entry(document).or_default() += set.len();
                }
                // A sentence counts once, even if it is in several sentences of the arriving document.
                if near.score_back >= least && counted.insert(near.number) {
                    *back.entry(document).or_default() += near.elements;
                }
            });
        }
        let own = sentences.iter().map(|set| set.len()).sum();
        let documents: HashSet<u32> = there.keys().chain(back.keys()).copied().collect();
        for document in documents {
            let of = |elements: &HashMap<u32, usize>| elements.get(&document).copied().unwrap_or(0);
            let other = self.elements[(document - self.first) as usize];
            found(Found { document, score: share(of(&there), own), score_back: share(of(&back), other) });
        }
    }

    /// Forgets the documents before `first`.
    pub(super) fn forget(&mut self, first: u32) {
        while self.first < first && self.elements.pop_front().is_some() {
            self.first += 1;
        }
        while self.documents.pop_front_if(|document| *document < self.first).is_some() {
            self.first_set += 1;
        }
        self.sets.forget(self.first_set);
    }

    /// Returns the size of the index in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.sets.bytes() + self.documents.capacity() * 4 + self.elements.capacity() * 8
    }
}
