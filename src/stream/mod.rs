//! Documents that arrive one after the other: what they are compared by, as the statements of `queries/` say it, and their way into the
//! index.

mod committer;
mod extractor;
mod pool;

pub(crate) use committer::Committer;
pub(crate) use extractor::{Extracted, Stages};
pub(crate) use pool::Pool;
