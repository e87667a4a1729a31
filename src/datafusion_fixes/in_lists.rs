//! DF-24258 (fixed in 56) fixes a part: the simplifier merges `IN` lists of one expression, and then compares elements as text
//! and forgets NULL. Remove with version 56 if the tests in simplifications.slt pass; test lists_of_in_forget_null fails then.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::expr_fn::nullif;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, LogicalPlan, Operator, lit};
use datafusion::optimizer::AnalyzerRule;

/// Hides `IN` lists from the simplifier where merging them changes the result.
#[derive(Debug)]
pub(crate) struct InListFix;

impl AnalyzerRule for InListFix {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Filter(filter) => {
                let predicate = of_condition(filter.predicate, false)?;
                Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
            }
            LogicalPlan::Join(mut join) => {
                join.filter = join.filter.map(|condition| of_condition(condition, false)).transpose()?;
                let pair = |(left, right)| Ok((of_value(left)?, of_value(right)?));
                join.on = join.on.into_iter().map(pair).collect::<Result<_>>()?;
                Ok(Transformed::yes(LogicalPlan::Join(join).recompute_schema()?))
            }
            plan => {
                let names = NamePreserver::new(&plan);
                let rewritten = plan.map_expressions(|expr| {
                    // The names of grouping sets cannot be kept.
                    if matches!(expr, Expr::GroupingSet(_)) {
                        return Ok(Transformed::no(expr));
                    }
                    let name = names.save(&expr);
                    Ok(Transformed::yes(name.restore(of_value(expr)?)))
                });
                rewritten?.map_data(LogicalPlan::recompute_schema)
            }
        });
        rewritten.data()
    }

    fn name(&self) -> &'static str {
        "in_lists"
    }
}

/// Rewrites a condition in which NULL counts as false. Its lists may be merged, except for those of `NOT IN` below OR.
fn of_condition(condition: Expr, is_alternative: bool) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let is_alternative = is_alternative || op == Operator::Or;
            let (left, right) = (of_condition(*left, is_alternative)?, of_condition(*right, is_alternative)?);
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        Expr::InList(mut list) if !(list.negated && is_alternative) && list.list.iter().all(is_value) => {
            list.expr = Box::new(of_value(*list.expr)?);
            Ok(Expr::InList(list))
        }
        condition => of_value(condition),
    }
}

/// Rewrites any other expression.
fn of_value(expr: Expr) -> Result<Expr> {
    let rewritten = expr.transform_up(|expr| match expr {
        Expr::InList(_) => Ok(Transformed::yes(hidden(expr))),
        Expr::BinaryExpr(BinaryExpr { ref left, op: Operator::Or, ref right })
            if may_be_equation(left) && may_be_equation(right) =>
        {
            Ok(Transformed::yes(hidden(expr)))
        }
        // The simplifier rewrites `NOT (a AND b)` to alternatives.
        Expr::Not(ref of) if matches!(**of, Expr::BinaryExpr(BinaryExpr { op: Operator::And, .. })) => {
            Ok(Transformed::yes(hidden(expr)))
        }
        expr => Ok(Transformed::no(expr)),
    });
    rewritten.data()
}

/// Wraps a condition so that the simplifier leaves it alone.
fn hidden(condition: Expr) -> Expr {
    nullif(condition, lit(ScalarValue::Boolean(None)))
}

/// Returns true if a condition is a comparison with one value, or may become one: as a column of a view, or once NOT is
/// removed.
fn may_be_equation(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }) | Expr::Column(_) | Expr::Not(_))
}

/// Returns true if an element of a list is a constant that is not NULL.
fn is_value(element: &Expr) -> bool {
    match element {
        Expr::Literal(value, _) => !value.is_null(),
        Expr::Cast(cast) => is_value(&cast.expr),
        Expr::Negative(number) => is_value(number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn lists_of_in_forget_null() {
        assert_wrong(
            &["CREATE TABLE t(n INT) AS VALUES (NULL)", "SELECT (n = 1 OR n = 3) AND (n = 4 OR n = 5) FROM t"],
            &["false"],
        );
    }
}
