//! Aggregates that statistics give without a row being read.
//!
//! Upstream: none was found.

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

use super::stop::{Stop, without_stops};

/// Takes the number of rows from statistics, and what is known of the columns of a table as it stands; no more.
///
/// What operators say of columns is not always so: a constant counts as one value, and as the least and the greatest one, also where
/// there is no row of it, and a column that a condition holds to one value has that value, also where no row meets the others.
#[derive(Debug)]
pub(crate) struct RowCounts(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for RowCounts {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let aggregate = plan.downcast_ref::<AggregateExec>();
            let Some(aggregate) = aggregate.filter(|aggregate| is_of_rows(aggregate) && !is_known(aggregate)) else {
                return Ok(Transformed::no(plan));
            };
            let columns = 0..aggregate.input().schema().fields().len();
            let input = Stop::above(Arc::clone(aggregate.input()), columns.collect());
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(&plan).replace_children(vec![input], options).map(Transformed::yes)
        });
        without_stops(self.0.optimize(stopped.data()?, config)?)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Whether it makes one group of all rows, and not of what other parts have aggregated.
fn is_of_rows(aggregate: &AggregateExec) -> bool {
    aggregate.mode().input_mode() == AggregateInputMode::Raw && aggregate.group_expr().is_empty()
}

/// Whether what statistics say of it is so.
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
