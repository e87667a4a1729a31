//! Sorts that a plan has lost.
//!
//! Upstream: near it apache/datafusion#17077.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::OrderingRequirements;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Sorts once more what an operator wants sorted and is not known to be, before the plan is checked for that and refused.
///
/// Sorts leave out columns that have one value. Later rules put projections into scans and filters above them, which do not know that of
/// the columns any more.
#[derive(Debug)]
pub(crate) struct MissingSorts(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for MissingSorts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        self.0.optimize(plan.transform_up(with_sorted_children).data()?, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn with_sorted_children(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let mut children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    let mut lacked = false;
    for (child, wanted) in children.iter_mut().zip(plan.required_input_ordering()) {
        let Some(wanted) = wanted.map(OrderingRequirements::into_single) else { continue };
        if !child.equivalence_properties().ordering_satisfy_requirement(wanted.clone())? {
            let parts = child.output_partitioning().partition_count();
            let sort = SortExec::new(wanted.into(), Arc::clone(child)).with_preserve_partitioning(parts > 1);
            *child = Arc::new(sort);
            lacked = true;
        }
    }
    if !lacked {
        return Ok(Transformed::no(plan));
    }
    plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
        .map(Transformed::yes)
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn a_plan_has_lost_a_sort() {
        assert_wrong(
            &[
                "COPY (SELECT 20 - value AS a FROM range(20)) TO '{folder}/a.parquet'",
                "COPY (SELECT value AS a FROM range(20)) TO '{folder}/b.parquet'",
                "CREATE EXTERNAL TABLE a STORED AS PARQUET LOCATION '{folder}/a.parquet'",
                "CREATE EXTERNAL TABLE b STORED AS PARQUET LOCATION '{folder}/b.parquet'",
                "SET datafusion.optimizer.prefer_hash_join = false",
                "SELECT s.k, row_number() OVER (ORDER BY s.c, s.k) FROM (SELECT 2 AS c, a + 1 AS k FROM a) AS s JOIN b AS t ON t.a = s.k",
            ],
            &["x…"],
        );
    }
}
