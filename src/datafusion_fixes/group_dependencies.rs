//! No upstream issue found: the functional dependencies of an aggregate say that a key of one input determines the group columns
//! of all inputs, so that GROUP BY, DISTINCT, ORDER BY and joins above drop columns. Remove when they are right; test
//! a_column_of_a_group_is_left_out fails then.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Dependency, FunctionalDependence, FunctionalDependencies, Result};
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Drops functional dependencies keyed on a subset of the GROUP BY columns.
#[derive(Debug)]
pub(crate) struct GroupDependencies;

impl OptimizerRule for GroupDependencies {
    fn name(&self) -> &'static str {
        "group_dependencies"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut more = false;
        plan.apply_with_subqueries(|plan| {
            more = matches!(plan, LogicalPlan::Aggregate(aggregate) if says_more(aggregate)?);
            Ok(if more { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if !more {
            return Ok(Transformed::no(plan));
        }
        // Operators derive their dependencies from their inputs, so all schemas above are recomputed.
        plan.transform_up_with_subqueries(|plan| {
            Ok(Transformed::yes(match plan.recompute_schema()? {
                LogicalPlan::Aggregate(aggregate) if says_more(&aggregate)? => {
                    LogicalPlan::Aggregate(of_whole_groups(aggregate)?)
                }
                plan => plan,
            }))
        })
    }
}

/// Returns true if an aggregate has a functional dependency keyed on a part of its group.
fn says_more(aggregate: &Aggregate) -> Result<bool> {
    let columns = aggregate.group_expr_len()?;
    Ok(aggregate.schema.functional_dependencies().iter().any(|known| known.source_indices.len() < columns))
}

/// Returns the aggregate with a single functional dependency: it has one row for each group.
fn of_whole_groups(mut aggregate: Aggregate) -> Result<Aggregate> {
    let columns = aggregate.group_expr_len()?;
    let schema = Arc::unwrap_or_clone(aggregate.schema);
    let nullable = schema.fields().iter().take(columns).any(|field| field.is_nullable());
    let all = (0..schema.fields().len()).collect();
    let group = FunctionalDependence::new((0..columns).collect(), all, nullable).with_mode(Dependency::Single);
    aggregate.schema = Arc::new(schema.with_functional_dependencies(FunctionalDependencies::new(vec![group]))?);
    Ok(aggregate)
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn a_column_of_a_group_is_left_out() {
        assert_wrong(
            &[
                "CREATE TABLE t(z INT, a INT) AS VALUES (1, 10), (1, 20)",
                "SELECT z, count(*) FROM (SELECT q.z, t.a FROM t JOIN (SELECT z, count(*) AS n FROM t GROUP BY z) q ON t.z = q.z GROUP BY q.z, t.a) r GROUP BY z, a",
            ],
            &["1 2"],
        );
    }
}
