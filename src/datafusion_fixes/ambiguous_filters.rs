//! DF-25296 (fixed in 56): the physical filter pushdown looks a column up by name, and filters the first of two columns
//! with the same name. Remove with version 56; test the_wrong_column_of_two_is_asked fails then.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::joins::HashJoinExec;

use super::pushdown_barrier::{PushdownBarrier, without_barriers};

/// Pushes filters down, except filters of a column whose name is ambiguous in the operator below.
#[derive(Debug)]
pub(crate) struct AmbiguousFilters(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for AmbiguousFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let children = plan.children();
            let ambiguous: Vec<_> = children.iter().map(|child| ambiguous(child)).collect();
            if ambiguous.iter().all(HashSet::is_empty) {
                return Ok(Transformed::no(plan));
            }
            let stopped = |(child, columns): (&Arc<dyn ExecutionPlan>, HashSet<usize>)| {
                let child = Arc::clone(child);
                if columns.is_empty() { child } else { PushdownBarrier::above(child, columns) }
            };
            let children = children.into_iter().zip(ambiguous).map(stopped).collect();
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(&plan).replace_children(children, options).map(Transformed::yes)
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

/// Returns the columns of an operator that would be mistaken for others.
fn ambiguous(plan: &Arc<dyn ExecutionPlan>) -> HashSet<usize> {
    let schema = plan.schema();
    let mut known = HashMap::new();
    let mut found = HashSet::new();
    for (at, field) in schema.fields().iter().enumerate() {
        if let Some(first) = known.insert(field.name(), at) {
            found.extend([first, at]);
        }
    }
    // DataFusion also applies a filter on a key of a semi join to the side that has no output columns, by the name of
    // the key.
    if let Some(join) = plan.downcast_ref::<HashJoinExec>()
        && matches!(join.join_type(), JoinType::LeftSemi | JoinType::RightSemi)
    {
        for (left, right) in join.on() {
            let [left, right] = [left, right].map(|key| key.downcast_ref::<Column>().map(Column::name));
            if left != right {
                let is_key = |at: &usize| [left, right].contains(&Some(schema.field(*at).name().as_str()));
                found.extend((0..schema.fields().len()).filter(is_key));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn the_wrong_column_of_two_is_asked() {
        assert_wrong(
            &[
                "CREATE TABLE l(id INT, k INT) AS VALUES (1, 1)",
                "CREATE TABLE r(id INT, k INT) AS VALUES (1, 1), (2, 2)",
                "SELECT r.id, l.id AS lid, l.k AS lk FROM l FULL JOIN r ON l.id = r.id AND l.k = r.k WHERE l.id IS NULL AND r.id < 40",
            ],
            &[],
        );
    }
}
