//! Index of documents in memory, which compares each arriving document with them at once.
//!
//! The index finds, for one document after the other, the same rows that the statements of `queries/containment*` find
//! for whole collections; tests compare them. The [`Features`] of a document come from the same statements.
//!
//! Documents are numbered in the order of arrival. Documents that are too old are removed, oldest first.

mod codes;
mod postings;
mod sentences;
mod sets;
mod tree;

use std::collections::VecDeque;

use ibid_udfs::similarity::Measure;

use self::codes::Codes;
use self::sentences::Sentences;
use self::sets::Sets;
use self::tree::Tree;

/// The features by which a document is compared. The elements of sets are ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Features {
    Set(Box<[u64]>),
    /// The set of each sentence.
    Sentences(Vec<Box<[u64]>>),
    /// The nodes of CoDet's tree that the document visits.
    Nodes(Vec<Node>),
    /// Its SimHash.
    Code(Option<u64>),
}

/// A node of CoDet's tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    pub(crate) hash: u64,
    pub(crate) weight: f64,
    /// The number of sentences of the document that visit the node.
    pub(crate) times: f64,
}

/// The way in which documents are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Comparison {
    Sets,
    /// The share of a sentence that must be in a sentence of the other document.
    Sentences(f64),
    Nodes,
    /// The most bits in which codes may differ.
    Codes(u32),
}

/// The limits on the times of a document and of its container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// True if documents have times. Without times any document may contain any other.
    pub(crate) is_timed: bool,
    /// The most seconds between two documents.
    pub(crate) window: f64,
    /// True if the container may also be the later document.
    pub(crate) later: bool,
}

/// A document to be judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub(crate) id: String,
    /// The time of the document, in seconds since 1970; 0 if documents have no times.
    pub(crate) seconds: f64,
    pub(crate) features: Features,
    /// The hashes of its distinct sentences, ascending.
    pub(crate) sentences: Box<[u128]>,
}

/// A document and one that contains it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Contained {
    /// The id of the first.
    pub contained: String,
    /// The id of the second.
    pub container: String,
    /// The share of the first that is in the second.
    pub score: f64,
    /// The share of the second that is in the first.
    pub score_back: f64,
    /// The number of distinct sentences of the first that the second has word for word.
    pub sentences: usize,
}

/// A document that may contain an arriving one, or be contained in it.
struct Found {
    document: u32,
    /// The share of the arriving document that is in this one.
    score: f64,
    /// The share of this document that is in the arriving one.
    score_back: f64,
}

/// The documents in memory.
#[derive(Debug)]
pub(crate) struct Residents {
    threshold: f64,
    timing: Timing,
    documents: VecDeque<Resident>,
    /// The number of the first document.
    first: u32,
    newest: f64,
    by: By,
    bytes: usize,
}

#[derive(Debug)]
struct Resident {
    id: Box<str>,
    seconds: f64,
    sentences: Box<[u128]>,
}

#[derive(Debug)]
enum By {
    Sets(Sets),
    Sentences(Sentences),
    Nodes(Tree),
    Codes(Codes),
}

impl Residents {
    pub(crate) fn new(comparison: Comparison, threshold: f64, timing: Timing) -> Self {
        let by = match comparison {
            Comparison::Sets => By::Sets(Sets::new(threshold)),
            Comparison::Sentences(least) => By::Sentences(Sentences::new(least)),
            Comparison::Nodes => By::Nodes(Tree::default()),
            Comparison::Codes(distance) => By::Codes(Codes::new(distance)),
        };
        let (documents, newest) = (VecDeque::new(), f64::NEG_INFINITY);
        Self { threshold, timing, documents, first: 0, newest, by, bytes: 0 }
    }

    /// Returns the time before which a document cannot be judged any more: documents that may contain it have been
    /// removed.
    ///
    /// Documents are kept for two windows, so a document may arrive as much as a window late.
    pub(crate) fn too_late(&self) -> f64 {
        self.newest - self.timing.window
    }

    /// Finds the documents that contain a document, and those that it contains, in the order of their ids.
    pub(crate) fn judge(&mut self, document: &Document) -> Vec<Contained> {
        let any = !self.timing.is_timed || self.timing.later;
        let mut found = Vec::new();
        let mut take = |near| found.push(near);
        match (&mut self.by, &document.features) {
            (By::Sets(sets), Features::Set(set)) => sets.search(set, any || self.newest >= document.seconds, |near| {
                take(Found { document: near.number, score: near.score, score_back: near.score_back });
            }),
            (By::Sentences(by), Features::Sentences(sentences)) => by.search(sentences, take),
            (By::Nodes(tree), Features::Nodes(nodes)) => tree.search(nodes, take),
            (By::Codes(codes), Features::Code(code)) => codes.search(*code, take),
            _ => {}
        }
        let is_by_codes = matches!(self.by, By::Codes(_));
        let mut rows = Vec::new();
        for found in found {
            let other = &self.documents[(found.document - self.first) as usize];
            if self.timing.is_timed && (other.seconds - document.seconds).abs() > self.timing.window {
                continue;
            }
            let is_before = (other.seconds, &*other.id) < (document.seconds, document.id.as_str());
            let sentences = || count_common(&document.sentences, &other.sentences);
            // For codes, the distance alone decides which documents are near.
            let reaches = |score: f64| is_by_codes || score >= self.threshold;
            if reaches(found.score) && (any || is_before) {
                rows.push(Contained {
                    contained: document.id.clone(),
                    container: other.id.to_string(),
                    score: found.score,
                    score_back: found.score_back,
                    sentences: sentences(),
                });
            }
            if reaches(found.score_back) && (any || !is_before) {
                rows.push(Contained {
                    contained: other.id.to_string(),
                    container: document.id.clone(),
                    score: found.score_back,
                    score_back: found.score,
                    sentences: sentences(),
                });
            }
        }
        rows.sort_unstable_by(|a, b| (&a.contained, &a.container).cmp(&(&b.contained, &b.container)));
        rows
    }

    /// Adds a document, and removes those that are too old for all documents that may still arrive.
    pub(crate) fn add(&mut self, document: Document) {
        let Document { id, seconds, features, sentences } = document;
        match (&mut self.by, features) {
            (By::Sets(sets), Features::Set(set)) => drop(sets.add(set)),
            (By::Sentences(by), Features::Sentences(sentences)) => by.add(sentences),
            (By::Nodes(tree), Features::Nodes(nodes)) => tree.add(&nodes),
            (By::Codes(codes), Features::Code(code)) => codes.add(code),
            _ => {}
        }
        self.bytes += bytes_of(&id, &sentences);
        self.documents.push_back(Resident { id: id.into(), seconds, sentences });
        self.newest = self.newest.max(seconds);
        if !self.timing.is_timed {
            return;
        }
        let oldest = self.newest - 2.0 * self.timing.window;
        let before = self.first;
        while let Some(old) = self.documents.pop_front_if(|document| document.seconds < oldest) {
            self.bytes -= bytes_of(&old.id, &old.sentences);
            self.first += 1;
        }
        if self.first != before {
            match &mut self.by {
                By::Sets(sets) => sets.forget(self.first),
                By::Sentences(sentences) => sentences.forget(self.first),
                By::Nodes(tree) => tree.forget(self.first),
                By::Codes(codes) => codes.forget(self.first),
            }
        }
    }

    /// Returns the number of documents in memory.
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns the approximate size of the index in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let by = match &self.by {
            By::Sets(sets) => sets.bytes(),
            By::Sentences(sentences) => sentences.bytes(),
            By::Nodes(tree) => tree.bytes(),
            By::Codes(codes) => codes.bytes(),
        };
        self.bytes + by
    }
}

fn bytes_of(id: &str, sentences: &[u128]) -> usize {
    size_of::<Resident>() + id.len() + size_of_val(sentences)
}

/// Returns the share that `part` is of `whole`; 0 if `whole` is 0.
fn share(part: usize, whole: usize) -> f64 {
    Measure::Containment.value(part, whole, 0).unwrap_or(0.0)
}

/// Returns the number of elements that two ascending lists have in common.
fn count_common(a: &[u128], b: &[u128]) -> usize {
    a.iter().filter(|hash| b.binary_search(hash).is_ok()).count()
}
