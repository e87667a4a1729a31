//! Pipelines: the statements of `queries/`, in order, with their parameters bound.

mod gathered;
mod on_executor;
pub(crate) mod query;
mod scratch;
mod stage_cache;
#[cfg(test)]
pub(crate) mod testing;
mod workspace;

pub use on_executor::on_executor;
pub(crate) use scratch::Scratch;
pub(crate) use stage_cache::StageCache;
pub use workspace::Outcome;
pub(crate) use workspace::{Workspace, is_out_of_memory};
