//! What DataFusion's simplifier would take for something else than it is, put in words that it takes for what they are.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions::expr_fn::nullif;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, LogicalPlan, Operator, lit};
use datafusion::optimizer::AnalyzerRule;

/// Keeps lists of `IN` from being joined where NULL or what is no constant makes a difference, and bounds where they are.
///
/// Two lists of one expression become one, that of what is in both or in one of them: elements are compared as they are written, NULL is
/// left out, and where nothing is left the condition is true or false, also of NULL. And of two bounds with one value, the stricter
/// one is forgotten where the value stands on the left.
#[derive(Debug)]
pub(crate) struct Simplifications;

impl AnalyzerRule for Simplifications {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| {
            let names = NamePreserver::new(&plan);
            let rewritten = plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let in_words = expr.transform_up(|expr| Ok(in_words(expr)))?;
                let apart = in_words.transform_data(|expr| expr.transform_down(apart))?;
                Ok(apart.update_data(|expr| name.restore(expr)))
            });
            rewritten?.map_data(LogicalPlan::recompute_schema)
        });
        rewritten.data()
    }

    fn name(&self) -> &'static str {
        "simplifications"
    }
}

fn in_words(expr: Expr) -> Transformed<Expr> {
    match expr {
        Expr::InList(list) if !list.list.iter().all(is_value) && !list.expr.is_volatile() => {
            Transformed::yes(with_elements(list))
        }
        Expr::Between(between) if is_constant(&between.expr) => {
            let Between { expr, negated, low, high } = between;
            let (expr, low, high) = (*expr, *low, *high);
            Transformed::yes(if negated {
                low.gt(expr.clone()).or(high.lt(expr))
            } else {
                low.lt_eq(expr.clone()).and(high.gt_eq(expr))
            })
        }
        expr => Transformed::no(expr),
    }
}

/// Whether an element of a list is a constant that is not NULL.
fn is_value(element: &Expr) -> bool {
    is_constant(element)
        && !element.exists(|part| Ok(matches!(part, Expr::Literal(value, _) if value.is_null()))).unwrap_or(true)
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(..) => true,
        Expr::Cast(cast) => is_constant(&cast.expr),
        Expr::Negative(number) => is_constant(number),
        _ => false,
    }
}

/// A list, and beside it what is no value.
fn with_elements(list: InList) -> Expr {
    let InList { expr, list, negated } = list;
    let (values, others): (Vec<_>, Vec<_>) = list.into_iter().partition(is_value);
    let list = (!values.is_empty()).then(|| Expr::InList(InList::new(expr.clone(), values, negated)));
    let (equal, joined) = if negated { (Operator::NotEq, Operator::And) } else { (Operator::Eq, Operator::Or) };
    let binary = |left: Expr, op, right: Expr| Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)));
    let others = others.into_iter().map(|other| binary(expr.as_ref().clone(), equal, other));
    list.into_iter().chain(others).reduce(|left, right| binary(left, joined, right)).unwrap_or(lit(negated))
}

/// Hides each list but the first of an expression, within what AND and OR join.
fn apart(expr: Expr) -> Result<Transformed<Expr>> {
    let is_joined = |expr: &Expr| matches!(expr, Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }));
    if !is_joined(&expr) {
        return Ok(Transformed::no(expr));
    }
    let mut seen: Vec<Expr> = Vec::new();
    let rewritten = expr.transform_down(|expr| match expr {
        Expr::InList(list) if seen.contains(&list.expr) => {
            let hidden = nullif(Expr::InList(list), lit(ScalarValue::Boolean(None)));
            Ok(Transformed::new(hidden, true, TreeNodeRecursion::Jump))
        }
        Expr::InList(list) => {
            seen.push(list.expr.as_ref().clone());
            Ok(Transformed::new(Expr::InList(list), false, TreeNodeRecursion::Jump))
        }
        expr => Ok(Transformed::no(expr)),
    });
    let rewritten = rewritten?;
    Ok(Transformed::new(rewritten.data, rewritten.transformed, TreeNodeRecursion::Jump))
}
