//! Pipelines: the statements of `queries/`, in order, with their parameters bound.

pub(crate) mod query;
mod workspace;

pub(crate) use workspace::{Outcome, Workspace};
