//! Filters by the least and the greatest values that are known so far.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// Pushes filters down, but none by what several of `min` and `max` have found so far: as long as one of them has found nothing but NULL,
/// rows are asked what they have for the others alone, and those are passed over that would have something for it.
#[derive(Debug)]
pub(crate) struct ExtremeFilters(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for ExtremeFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let has_several = |plan: &Arc<dyn ExecutionPlan>| {
            plan.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.aggr_expr().len() > 1)
        };
        if !plan.exists(|plan| Ok(has_several(plan)))? {
            return self.0.optimize(plan, config);
        }
        let mut config = config.clone();
        config.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
        self.0.optimize(plan, &config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
