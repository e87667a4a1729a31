//! Pipelines: the statements of `queries/`, in order, with their parameters bound.

mod finished;
pub(crate) mod query;
mod workspace;

pub(crate) use finished::Finished;
pub(crate) use workspace::{Outcome, Workspace};
