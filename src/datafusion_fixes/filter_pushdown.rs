//! DF-24763 (fixed in 56) for bounds; no upstream issue found for aggregates: of two bounds with one constant, `x <= 2
//! AND 2 > x`, the stricter is dropped; a predicate without columns is pushed below a global aggregate, which still
//! returns its row then. Remove when both are fixed; test a_condition_goes_below_an_aggregate_of_all_rows fails then.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Pushes filters down with the constants of bounds on the right, and keeps column-free predicates above global aggregates.
#[derive(Debug)]
pub(crate) struct FilterPushdownFix(pub(crate) Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for FilterPushdownFix {
    fn name(&self) -> &str {
        self.0.name()
    }

    // Each filter is rewritten where it arrives: a bound may get its constant from a view that it was pushed through.
    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Filter(mut filter) = plan else { return self.0.rewrite(plan, config) };
        let conditions = split_conjunction_owned(filter.predicate.clone());
        if has_group_of_all(&filter.input) && conditions.iter().any(|condition| !condition.any_column_refs()) {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        }
        if let Some(predicate) = conjunction(conditions.into_iter().map(turned)) {
            filter.predicate = predicate;
        }
        self.0.rewrite(LogicalPlan::Filter(filter), config)
    }
}

/// Returns true if a plan is an aggregate with a group of all rows, which exists even without rows.
fn has_group_of_all(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Aggregate(aggregate) = plan else { return false };
    aggregate.group_expr.is_empty() || aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_)))
}

/// Returns the same condition, with the constant on the right if it is a bound.
fn turned(condition: Expr) -> Expr {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_bound(op) && matches!(*left, Expr::Literal(..)) && !matches!(*right, Expr::Literal(..)) =>
        {
            Expr::BinaryExpr(BinaryExpr::new(right, op.swap().unwrap_or(op), left))
        }
        condition => condition,
    }
}

fn is_bound(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn a_condition_goes_below_an_aggregate_of_all_rows() {
        assert_wrong(
            &[
                "CREATE TABLE t(id INT) AS VALUES (1), (2), (3)",
                "SELECT * FROM (SELECT 'all' AS kind, count(*) AS n FROM t) WHERE kind = 'sum'",
            ],
            &["all 0"],
        );
        assert_wrong(
            &["CREATE TABLE t(id BIGINT) AS VALUES (1), (2), (3)", "SELECT id FROM t WHERE id <= 2 AND 1 + 1 > id"],
            &["1", "2"],
        );
    }
}
