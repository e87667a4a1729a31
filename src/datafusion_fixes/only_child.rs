//! The child of an operator that has one.

use std::sync::Arc;

use datafusion::common::{Result, internal_err};
use datafusion::physical_plan::ExecutionPlan;

/// Returns the child that the operator `name` is given; an internal error if it is given none or several.
pub(super) fn only_child(name: &str, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
    match <[_; 1]>::try_from(children) {
        Ok([child]) => Ok(child),
        Err(children) => internal_err!("{name} has one child, not {}", children.len()),
    }
}
