//! No upstream issue found: aggregates are answered from column statistics that operators wrongly call exact, such as one
//! distinct value for a literal over no rows. Remove when these statistics are right; test columns_have_values_without_rows fails
//! then.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};

use super::pushdown_barrier::{PushdownBarrier, without_barriers};

/// Answers aggregates from row counts, and from column statistics of tables without an operator above them; from no other
/// statistics.
#[derive(Debug)]
pub(crate) struct ExactStatistics(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for ExactStatistics {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let aggregate = plan.downcast_ref::<AggregateExec>();
            let Some(aggregate) = aggregate.filter(|aggregate| is_of_rows(aggregate) && !is_known(aggregate)) else {
                return Ok(Transformed::no(plan));
            };
            let columns = 0..aggregate.input().schema().fields().len();
            let input = PushdownBarrier::above(Arc::clone(aggregate.input()), columns.collect());
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(&plan).replace_children(vec![input], options).map(Transformed::yes)
        });
        without_barriers(self.0.optimize(stopped.data()?, config)?)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Returns true if an aggregate makes one group of all rows, and not of the partial results of other partitions.
fn is_of_rows(aggregate: &AggregateExec) -> bool {
    aggregate.mode().input_mode() == AggregateInputMode::Raw && aggregate.group_expr().is_empty()
}

/// Returns true if the statistics that answer an aggregate are exact.
fn is_known(aggregate: &AggregateExec) -> bool {
    let is_count = |of: &Arc<AggregateFunctionExpr>| {
        of.fun().name() == "count" && of.expressions().iter().all(|of| of.is::<Literal>())
    };
    let is_of_table = |of: &Arc<AggregateFunctionExpr>| aggregate.input().is::<DataSourceExec>() && !of.is_distinct();
    aggregate.aggr_expr().iter().all(|of| is_count(of) || is_of_table(of))
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn columns_have_values_without_rows() {
        assert_wrong(
            &[
                "CREATE TABLE t(a INT, b INT) AS VALUES (1, 1), (2, 2), (3, 1)",
                "SELECT count(DISTINCT a), count(DISTINCT b) FROM t WHERE a = 1 AND b = 2",
            ],
            &["1 1"],
        );
    }
}
