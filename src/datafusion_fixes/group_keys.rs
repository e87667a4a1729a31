//! What is known of the rows of an aggregate: there is one of each group.
//!
//! Upstream: none was found.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Dependency, FunctionalDependence, FunctionalDependencies, Result};
use datafusion::logical_expr::{Aggregate, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Has no column of a group hang on a part of the others.
///
/// Where the rows below have a column that others hang on, as those of a subquery on what it groups by, DataFusion says of the groups that
/// all of their columns hang on it, those of the other tables, too. What groups, sorts, joins or asks for distinct rows above would leave
/// these out.
#[derive(Debug)]
pub(crate) struct GroupKeys;

impl OptimizerRule for GroupKeys {
    fn name(&self) -> &'static str {
        "group_keys"
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
        // What stands above takes what it knows from below.
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

/// Whether columns hang on a part of the group.
fn says_more(aggregate: &Aggregate) -> Result<bool> {
    let columns = aggregate.group_expr_len()?;
    Ok(aggregate.schema.functional_dependencies().iter().any(|known| known.source_indices.len() < columns))
}

/// An aggregate of which nothing is known but that there is one row of each group.
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
