//! Documents that arrive one after the other: their features, from the statements of `queries/`, and their way into the
//! index.

mod committer;
mod extractor;
mod pool;

pub(crate) use committer::Committer;
pub(crate) use extractor::{Extracted, Stages};
pub(crate) use pool::Pool;
