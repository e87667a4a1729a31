//! The corpus tree of CoDet in memory.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::{Found, Node};

/// The number of visits that the first part of the tree holds.
const FIRST_CAPACITY: usize = 1 << 16;

/// The documents that visit each node; documents are numbered in the order in which they came.
///
/// The tree is in parts, in the order of documents. Documents are removed oldest first, so a part is removed as a
/// whole.
#[derive(Debug, Default)]
pub(super) struct Tree {
    parts: VecDeque<Part>,
    visits: usize,
    /// The self-containment of each document.
    own: VecDeque<f64>,
    first: u32,
    /// The weight that an arriving document shares with each document; 0 between searches.
    shared: Vec<f64>,
    touched: Vec<u32>,
}

#[derive(Debug, Default)]
struct Part {
    /// The documents that visit a node, and how often.
    nodes: HashMap<u64, Vec<(u32, f64)>>,
    visits: usize,
    capacity: usize,
    last: u32,
}

/// Returns CS(A, A) of CoDet.
fn own(nodes: &[Node]) -> f64 {
    nodes.iter().map(|node| node.times * node.times * node.weight).sum()
}

impl Tree {
    pub(super) fn add(&mut self, nodes: &[Node]) {
        let document = self.first + u32::try_from(self.own.len()).unwrap_or(u32::MAX);
        self.own.push_back(own(nodes));
        if self.parts.back().is_none_or(|part| part.visits + nodes.len() > part.capacity) {
            let capacity = (self.visits / 8).max(FIRST_CAPACITY).max(nodes.len());
            self.parts.push_back(Part { capacity, ..Part::default() });
        }
        let Some(part) = self.parts.back_mut() else { return };
        for node in nodes {
            part.nodes.entry(node.hash).or_default().push((document, node.times));
        }
        part.visits += nodes.len();
        part.last = document;
        self.visits += nodes.len();
    }

    /// Calls `found` with each document that shares a node.
    pub(super) fn search(&mut self, nodes: &[Node], mut found: impl FnMut(Found)) {
        self.shared.resize(self.own.len(), 0.0);
        for node in nodes {
            for part in &self.parts {
                for &(document, times) in part.nodes.get(&node.hash).into_iter().flatten() {
                    let Some(i) = document.checked_sub(self.first) else { continue };
                    let shared = &mut self.shared[i as usize];
                    if *shared == 0.0 {
                        self.touched.push(i);
                    }
                    *shared += node.times * times * node.weight;
                }
            }
        }
        let own = own(nodes);
        for i in self.touched.drain(..) {
            let shared = std::mem::take(&mut self.shared[i as usize]);
            // If all words of a document are in every document, nothing can be said of it.
            let share = |own: f64| if own > 0.0 { (shared / own).min(1.0) } else { 0.0 };
            found(Found { document: self.first + i, score: share(own), score_back: share(self.own[i as usize]) });
        }
    }

    /// Forgets the documents before `first`.
    pub(super) fn forget(&mut self, first: u32) {
        while self.first < first && self.own.pop_front().is_some() {
            self.first += 1;
        }
        while let Some(part) = self.parts.pop_front_if(|part| part.last < self.first) {
            self.visits -= part.visits;
        }
    }

    /// Returns the approximate size of the tree in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |part: &Part| part.nodes.capacity() * 40 + part.visits * 24;
        self.parts.iter().map(of).sum::<usize>() + self.own.capacity() * 16
    }
}
