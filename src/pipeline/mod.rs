//! Pipelines: the statements of `queries/`, in order, with their parameters bound.

mod finished;
mod gathered;
pub(crate) mod query;
#[cfg(test)]
pub(crate) mod testing;
mod workspace;

pub(crate) use finished::Finished;
pub(crate) use workspace::{Outcome, Workspace, is_out_of_memory};
