//! Documents that arrive one after the other: what they are compared by, as the statements of `queries/` say it.

mod extractor;
mod pool;

pub(crate) use extractor::{Extracted, Stages};
pub(crate) use pool::Pool;
