//! Counts of the candidates that codes of sentences leave: each query of a sample is compared with all sentences by
//! brute force.

mod counts;
mod sentences;

pub(crate) use counts::{Counts, SentenceCodes, count, mean, recall};
pub(crate) use sentences::{Sentences, Similar};
