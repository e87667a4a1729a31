use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;

use super::gathered::gathered;
use super::workspace::{BYTES_OF_BATCH, joins_lists};
use crate::datafusion_fixes::{CompactViews, LimitWindowMemory};

/// Applies the rules for a memory limit to the part of a plan that an executor of a cluster runs: their results cannot
/// be sent with a plan.
///
/// # Errors
///
/// Returns the error of DataFusion if the plan is inconsistent.
pub fn on_executor(plan: Arc<dyn ExecutionPlan>, config: &SessionConfig) -> Result<Arc<dyn ExecutionPlan>> {
    let options = config.options();
    let plan = CompactViews.optimize(LimitWindowMemory.optimize(plan, options)?, options)?;
    // Plans that join lists have smaller batches than the default.
    let rows = SessionConfig::new().batch_size();
    if config.batch_size() < rows && joins_lists(plan.as_ref()) {
        gathered(plan, rows, BYTES_OF_BATCH)
    } else {
        Ok(plan)
    }
}
