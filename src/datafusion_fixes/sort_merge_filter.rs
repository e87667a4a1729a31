//! DF-24414 (fixed in 56) for stale indexes; no upstream issue found for NULL and full joins: a sort-merge join with a residual
//! filter reads wrong columns after projection pushdown, fails on NULL in a column declared without NULL, and as a full join
//! ignores a filter without columns. Remove when all three are fixed; test a_condition_is_asked_of_null_in_a_column_without_null
//! fails then.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinSide, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};

use super::pushdown_barrier::{PushdownBarrier, without_barriers};

/// Pushes projections down, except below sort-merge joins with a residual filter, and makes their filters nullable with at least
/// one column.
#[derive(Debug)]
pub(crate) struct SortMergeFilterFix(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for SortMergeFilterFix {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() else { return Ok(Transformed::no(plan)) };
            let Some(filter) = join.filter() else { return Ok(Transformed::no(plan)) };
            let mut places = filter.column_indices().to_vec();
            let nullable = |field: &Field| field.clone().with_nullable(true);
            let mut columns: Vec<_> = filter.schema().fields().iter().map(|field| nullable(field)).collect();
            if places.is_empty() {
                places.push(ColumnIndex { index: 0, side: JoinSide::Left });
                columns.push(nullable(join.left().schema().field(0)));
            }
            let filter = JoinFilter::new(Arc::clone(filter.expression()), places, Arc::new(Schema::new(columns)));
            let join = SortMergeJoinExec::try_new(
                Arc::clone(join.left()),
                Arc::clone(join.right()),
                join.on().to_vec(),
                Some(filter),
                join.join_type(),
                join.sort_options().to_vec(),
                join.null_equality(),
            )?;
            Ok(Transformed::yes(PushdownBarrier::above(Arc::new(join), HashSet::new())))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::util::pretty::pretty_format_batches;
    use datafusion::prelude::SessionConfig;

    use crate::datafusion_fixes::testing::assert_wrong;
    use crate::session;

    #[tokio::test]
    async fn joins_that_sort_ask_what_joins_that_hash_ask() {
        let [hashing, sorting] = [(); 2].map(|()| session(SessionConfig::new(), Arc::default()).unwrap());
        for (session, hashes) in [(&hashing, true), (&sorting, false)] {
            for statement in [
                &format!("SET datafusion.optimizer.prefer_hash_join = {hashes}"),
                "SET datafusion.execution.target_partitions = 3",
                "CREATE TABLE a AS SELECT CASE WHEN value % 7 > 0 THEN value % 5 END AS k, value AS m, value % 3 AS n \
                 FROM range(0, 40)",
                "CREATE TABLE b AS SELECT CASE WHEN value % 6 > 0 THEN value % 8 END AS k, value % 4 AS m, value AS n \
                 FROM range(0, 30)",
            ] {
                session.sql(statement).await.unwrap().collect().await.unwrap();
            }
        }
        let conditions = [
            "a.m < b.n",
            "a.n < b.m",
            "a.n = 1",
            "b.m = 1",
            "a.m < a.n + 20",
            "b.m IS NULL",
            "random() < 0",
            "random() >= 0",
            "1 = 0",
            "NULL",
            "(SELECT max(n) FROM a) = 7",
            "a.n <> b.m AND random() >= 0",
            "coalesce(a.m, 3) <> coalesce(b.n, 5)",
        ];
        let both = [
            "a.k, a.n, b.k, b.m",
            "a.n, a.k, b.m, b.k",
            "b.k, a.k",
            "a.k, b.k, b.n",
            "a.m, b.n",
            "count(*), sum(a.m), sum(b.n)",
        ];
        let one = ["a.k, a.n", "a.n, a.k", "a.m", "count(*), sum(a.m)"];
        let mut merged = 0;
        for join in ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"] {
            let columns = if join.contains("LEFT ") && join != "LEFT JOIN" { &one[..] } else { &both[..] };
            for condition in conditions {
                for columns in columns {
                    let sql = format!("SELECT {columns} FROM a {join} b ON a.k = b.k AND {condition}");
                    let [mut hashed, mut sorted] = [Vec::new(), Vec::new()];
                    for (session, lines) in [(&hashing, &mut hashed), (&sorting, &mut sorted)] {
                        let batches = session.sql(&sql).await.unwrap().collect().await.unwrap();
                        lines.extend(pretty_format_batches(&batches).unwrap().to_string().lines().map(str::to_owned));
                        lines.sort();
                    }
                    assert_eq!(hashed, sorted, "{sql}");
                    let plan = sorting.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
                    merged += usize::from(format!("{plan:?}").contains("SortMergeJoinExec"));
                }
            }
        }
        assert!(merged > 200, "{merged} of them sort");
    }

    #[test]
    fn a_condition_is_asked_of_null_in_a_column_without_null() {
        assert_wrong(
            &[
                "SET datafusion.optimizer.prefer_hash_join = false",
                "SET datafusion.execution.target_partitions = 3",
                "CREATE TABLE a AS SELECT CASE WHEN value % 7 > 0 THEN value % 5 END AS k, value AS m, value % 3 AS n FROM range(0, 40)",
                "CREATE TABLE b AS SELECT CASE WHEN value % 6 > 0 THEN value % 8 END AS k, value % 4 AS m, value AS n FROM range(0, 30)",
                "SELECT a.m, b.n FROM a LEFT JOIN b ON a.k = b.k AND a.n < b.m",
            ],
            &["Arrow error: Invalid argument error: Column 'm' is declared as non-nullable…"],
        );
    }
}
