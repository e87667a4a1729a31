//! How many candidates codes of sentences leave: of a sample of queries, all sentences are compared with each by brute force.

mod counts;
mod sentences;

pub(crate) use counts::{Counts, SentenceCodes, count, mean, recall};
pub(crate) use sentences::{Sentences, Similar};
