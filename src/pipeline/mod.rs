//! Pipelines: the statements of `queries/`, in order, with their parameters bound.

mod compact;
mod each_batch;
mod finished;
mod gathered;
mod merged;
mod paced;
pub(crate) mod query;
#[cfg(test)]
pub(crate) mod testing;
mod windows;
mod workspace;

pub(crate) use finished::Finished;
pub(crate) use workspace::{Outcome, Workspace, is_out_of_memory};
