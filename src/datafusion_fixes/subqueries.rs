//! DF-8241, DF-25347, DF-25336, DF-25473 (`NOT IN`), DF-24960, DF-25283 (correlated subqueries), DF-25258 (`= ANY`), open;
//! DF-22263 (`SIMILAR TO`, fixed in 56): subqueries that become joins lose SQL's three-valued result. Remove when all are fixed;
//! test not_in_is_true_where_it_is_null fails then.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ExprSchema as _, Result, ScalarValue, plan_err};
use datafusion::functions_aggregate::count::{count, count_all};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Operator, SkipType, Subquery, col, lit,
    scalar_subquery, when,
};
use datafusion::optimizer::AnalyzerRule;

/// Keeps SQL's three-valued result of `IN` with a subquery, and returns an error for queries that would be planned as another
/// query.
#[derive(Debug)]
pub(crate) struct Subqueries;

impl AnalyzerRule for Subqueries {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| {
            plan.apply_expressions(|expr| expr.apply(|part| refuse(part).map(|()| TreeNodeRecursion::Continue)))?;
            match plan {
                LogicalPlan::Filter(filter) if has_in(&filter.predicate)? => {
                    let predicate = of_conjuncts(filter.predicate, filter.input.schema())?;
                    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
                }
                LogicalPlan::Join(mut join) => {
                    refuse_lateral(&join.right)?;
                    let Some(condition) = join.filter.take() else {
                        return Ok(Transformed::no(LogicalPlan::Join(join)));
                    };
                    join.filter = Some(if has_in(&condition)? {
                        // The condition may use columns of both sides, but a semi join outputs the columns of one side
                        // only.
                        of_conjuncts(condition, &join.left.schema().join(join.right.schema())?)?
                    } else {
                        condition
                    });
                    Ok(Transformed::yes(LogicalPlan::Join(join)))
                }
                plan => Ok(Transformed::no(plan)),
            }
        });
        rewritten.data()
    }

    fn name(&self) -> &'static str {
        "subqueries"
    }
}

fn has_in(condition: &Expr) -> Result<bool> {
    condition.exists(|part| Ok(matches!(part, Expr::InSubquery(_))))
}

fn refuse(expr: &Expr) -> Result<()> {
    match expr {
        Expr::SetComparison(_) => {
            plan_err!("ANY and ALL of a subquery are not supported: write IN, EXISTS or NOT EXISTS")
        }
        Expr::SimilarTo(_) => {
            plan_err!("SIMILAR TO is not supported: write LIKE, or ~ with a regular expression, such as '^ab.*$'")
        }
        Expr::InSubquery(InSubquery { subquery, negated: false, .. }) if is_null_of_none(&subquery.subquery) => Ok(()),
        Expr::Exists(Exists { subquery, .. }) | Expr::InSubquery(InSubquery { subquery, .. })
            if has(subquery, |plan| is_of_all_rows(plan) || is_numbered(plan))? =>
        {
            plan_err!(
                "EXISTS and IN of a correlated subquery with window functions, OFFSET, or aggregates without GROUP BY \
                 are not supported: add GROUP BY with the correlated columns, compare with the subquery as a value, as \
                 in (SELECT count(*) …) > 0, or join its rows"
            )
        }
        Expr::Exists(Exists { subquery, .. })
            if !subquery.outer_ref_columns.is_empty() && has_other_limit(subquery)? =>
        {
            plan_err!(
                "EXISTS of a correlated subquery with LIMIT over rows that are not correlated is not supported: join \
                 its rows"
            )
        }
        _ => Ok(()),
    }
}

/// Returns an error if a value that a lateral subquery returns for no rows would be lost.
fn refuse_lateral(plan: &LogicalPlan) -> Result<()> {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => refuse_lateral(&alias.input),
        LogicalPlan::Subquery(subquery) if has(subquery, is_of_all_rows)? && has_constant(&subquery.subquery) => {
            plan_err!(
                "LATERAL with aggregates without GROUP BY, and with values that do not depend on them, is not \
                 supported: write these values outside of it, or each aggregate as a value, as in SELECT (SELECT \
                 count(*) …)"
            )
        }
        _ => Ok(()),
    }
}

/// Returns true if a correlated subquery has such an operator at or above its correlated columns.
fn has(subquery: &Subquery, is_such: impl Fn(&LogicalPlan) -> bool) -> Result<bool> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(false);
    }
    subquery.subquery.exists(|plan| Ok(is_such(plan) && !plan.all_out_ref_exprs().is_empty()))
}

fn has_other_limit(subquery: &Subquery) -> Result<bool> {
    subquery.subquery.exists(|plan| Ok(matches!(plan, LogicalPlan::Limit(_)) && plan.all_out_ref_exprs().is_empty()))
}

fn is_of_all_rows(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty())
}

fn is_numbered(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Window(_) => true,
        LogicalPlan::Limit(limit) => !matches!(limit.get_skip_type(), Ok(SkipType::Literal(0))),
        _ => false,
    }
}

/// Returns true if a subquery returns only aggregates that are NULL for no rows. `IN` is true neither for this NULL nor
/// for a missing group.
fn is_null_of_none(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => is_null_of_none(&alias.input),
        LogicalPlan::Projection(of) => {
            let is_column = |expr: &Expr| matches!(expr.clone().unalias(), Expr::Column(_));
            of.expr.iter().all(is_column) && is_null_of_none(&of.input)
        }
        LogicalPlan::Aggregate(of) => {
            let is_null = |expr: &Expr| match expr.clone().unalias() {
                Expr::AggregateFunction(of) => ["max", "min", "sum", "avg"].contains(&of.func.name()),
                _ => false,
            };
            of.group_expr.is_empty() && of.aggr_expr.iter().all(is_null)
        }
        _ => false,
    }
}

/// Returns true if a value uses no column, or if operators other than projections stand above the aggregates.
fn has_constant(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(_) => false,
        LogicalPlan::SubqueryAlias(alias) => has_constant(&alias.input),
        LogicalPlan::Projection(of) => of.expr.iter().any(|expr| !expr.any_column_refs()) || has_constant(&of.input),
        _ => true,
    }
}

/// Rewrites a condition in which NULL counts as false, each operand of AND by itself.
fn of_conjuncts(condition: Expr, schema: &DFSchema) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Ok(of_conjuncts(*left, schema)?.and(of_conjuncts(*right, schema)?))
        }
        Expr::Not(of) => match *of {
            Expr::InSubquery(of) => alone(InSubquery { negated: !of.negated, ..of }, schema),
            of => with_null(Expr::Not(Box::new(of)), schema),
        },
        Expr::InSubquery(of) => alone(of, schema),
        of => of_alternatives(of, schema),
    }
}

/// Rewrites an `IN` that stands alone or below AND. The join that replaces `NOT IN` respects NULL in the rows of the
/// subquery, and a NULL operand if the operand is a column.
fn alone(of: InSubquery, schema: &DFSchema) -> Result<Expr> {
    if of.negated && !of.subquery.outer_ref_columns.is_empty() {
        return none_equal(of, schema);
    }
    let is_column = match of.expr.as_ref() {
        Expr::Column(_) => true,
        Expr::Cast(cast) => matches!(cast.expr.as_ref(), Expr::Column(_)),
        _ => false,
    };
    if !of.negated || is_column {
        return Ok(Expr::InSubquery(of));
    }
    with_null(Expr::InSubquery(of), schema)
}

/// Rewrites `NOT IN` of a correlated subquery, where NULL counts as false, to NOT EXISTS: no row of the subquery is
/// equal, or might be equal.
fn none_equal(of: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let InSubquery { expr, subquery: Subquery { subquery: rows, spans, .. }, .. } = of;
    if rows.exists(|plan| Ok(matches!(plan, LogicalPlan::Limit(_))))? {
        return plan_err!("NOT IN of a correlated subquery with LIMIT is not supported: join its rows");
    }
    // Columns of the value would be mistaken for columns with the same name in the subquery.
    let mut is_within = false;
    rows.apply(|plan| {
        is_within |= expr.column_refs().iter().any(|column| plan.schema().has_column(column));
        // A table alias renames the columns below it.
        let is_named = matches!(plan, LogicalPlan::SubqueryAlias(_));
        Ok(if is_named { TreeNodeRecursion::Jump } else { TreeNodeRecursion::Continue })
    })?;
    if expr.is_volatile() || is_within {
        return plan_err!(
            "NOT IN of a correlated subquery is not supported if the value before it is volatile, or if a column of \
             the value has the name of a column in the subquery: give the tables different names (AS), and write them \
             before the columns"
        );
    }
    let value = Expr::from(rows.schema().qualified_field(0));
    let around = expr.transform(|part| match part {
        Expr::Column(column) => {
            let field = Arc::clone(schema.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        part => Ok(Transformed::no(part)),
    });
    let around = around.data()?;
    let may_be_equal = around.clone().eq(value.clone()).or(around.is_null()).or(value.is_null());
    let equal = LogicalPlanBuilder::from(rows).filter(may_be_equal)?.build()?;
    let outer_ref_columns = equal.all_out_ref_exprs();
    let subquery = Subquery { subquery: Arc::new(equal), outer_ref_columns, spans };
    Ok(Expr::Exists(Exists { subquery, negated: true }))
}

/// Rewrites a condition in which NULL counts as false, and which is not a `NOT IN`.
fn of_alternatives(condition: Expr, schema: &DFSchema) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (of_alternatives(*left, schema)?, of_alternatives(*right, schema)?);
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        of @ Expr::InSubquery(InSubquery { negated: false, .. }) => Ok(of),
        of => with_null(of, schema),
    }
}

/// Rewrites each `IN` of a subquery in an expression so that it is NULL where SQL says so, and not false.
fn with_null(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let rewritten = expr.transform_up(|expr| match expr {
        Expr::InSubquery(of) if may_be_null(&of, schema)? => exactly(of).map(Transformed::yes),
        expr => Ok(Transformed::no(expr)),
    });
    rewritten.data()
}

fn may_be_null(of: &InSubquery, schema: &DFSchema) -> Result<bool> {
    Ok(of.expr.nullable(schema)? || of.subquery.subquery.schema().field(0).is_nullable())
}

/// Rewrites `IN` by the content of the subquery: nothing, values, or NULL, too.
fn exactly(of: InSubquery) -> Result<Expr> {
    if !of.subquery.outer_ref_columns.is_empty() {
        return plan_err!(
            "IN of a correlated subquery within another expression is not supported, because it may be NULL: write NOT \
             EXISTS or EXISTS"
        );
    }
    let all = of.subquery.subquery.as_ref();
    let value = Expr::from(all.schema().qualified_field(0));
    let counts = LogicalPlanBuilder::from(all.clone())
        .aggregate(Vec::<Expr>::new(), vec![count_all().alias("rows"), count(value).alias("values")])?;
    let there = when(col("rows").eq(lit(0_i64)), lit("nothing"))
        .when(col("values").lt(col("rows")), lit("null"))
        .otherwise(lit("values"))?;
    let there = scalar_subquery(Arc::new(counts.project([there])?.build()?));
    let (expr, negated) = (of.expr.as_ref().clone(), of.negated);
    let is_in = when(Expr::InSubquery(InSubquery { negated: false, ..of }), lit(true))
        .when(there.clone().eq(lit("nothing")), lit(false))
        .when(expr.is_null().or(there.eq(lit("null"))), lit(ScalarValue::Boolean(None)))
        .otherwise(lit(false))?;
    Ok(if negated { Expr::Not(Box::new(is_in)) } else { is_in })
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn not_in_is_true_where_it_is_null() {
        assert_wrong(
            &[
                "CREATE TABLE a(id INT, k VARCHAR) AS VALUES (3, NULL), (4, NULL)",
                "CREATE TABLE b(id INT) AS VALUES (1), (NULL)",
                "SELECT id FROM a WHERE k = 'q' OR id NOT IN (SELECT id FROM b)",
            ],
            &["3", "4"],
        );
    }
}
