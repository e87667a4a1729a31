//! DF-24816 (fixed in 56) for expressions; no upstream issue found for NULL: the dynamic filter of `min` and `max` has no
//! condition for an aggregate that has seen only NULL, so rows are skipped that it needs. Remove when both are fixed; test
//! rows_are_passed_over_that_have_the_greatest_value fails then.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// Pushes filters down, except the dynamic filters of several `min` and `max` aggregates.
#[derive(Debug)]
pub(crate) struct MinMaxFilters(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for MinMaxFilters {
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

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn rows_are_passed_over_that_have_the_greatest_value() {
        assert_wrong(
            &[
                "COPY (SELECT 10 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/00.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/01.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/02.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/03.parquet'",
                "COPY (SELECT 5 AS a, CAST(7 AS BIGINT) AS b) TO '{folder}/f/04.parquet'",
                "COPY (SELECT 10 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/10.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/11.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/12.parquet'",
                "COPY (SELECT 5 AS a, CAST(NULL AS BIGINT) AS b) TO '{folder}/f/13.parquet'",
                "COPY (SELECT 5 AS a, CAST(7 AS BIGINT) AS b) TO '{folder}/f/14.parquet'",
                "CREATE EXTERNAL TABLE f STORED AS PARQUET LOCATION '{folder}/f/'",
                "SET datafusion.execution.target_partitions = 2",
                "SELECT max(a), max(b), min(a) FROM f",
            ],
            &["10 NULL 5"],
        );
    }
}
