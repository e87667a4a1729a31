//! Subqueries, and what else DataFusion would take for another query than it is.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue, config::ConfigOptions, plan_err};
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, Join, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, lit,
    scalar_subquery, when,
};
use datafusion::optimizer::AnalyzerRule;

/// Gives `IN` of a subquery the NULL that it is where something hangs on it, and refuses what would be another query.
#[derive(Debug)]
pub(crate) struct Subqueries;

impl AnalyzerRule for Subqueries {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| {
            plan.apply_expressions(|expr| expr.apply(|part| refuse(part).map(|()| TreeNodeRecursion::Continue)))?;
            match plan {
                LogicalPlan::Filter(filter) => {
                    let predicate = of_conjuncts(filter.predicate, filter.input.schema())?;
                    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
                }
                LogicalPlan::Join(Join { ref right, .. }) => {
                    refuse_lateral(right)?;
                    Ok(Transformed::no(plan))
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

fn refuse(expr: &Expr) -> Result<()> {
    match expr {
        Expr::SetComparison(_) => plan_err!(
            "ANY and ALL of a subquery are not supported: write IN, NOT IN or EXISTS, or compare with its min() or max()"
        ),
        Expr::SimilarTo(_) => {
            plan_err!("SIMILAR TO is not supported: write LIKE, or ~ with a regular expression, such as '^ab.*$'")
        }
        Expr::Exists(Exists { subquery, .. }) | Expr::InSubquery(InSubquery { subquery, .. })
            if has(subquery, |plan| is_of_all_rows(plan) || is_numbered(plan)) =>
        {
            plan_err!(
                "EXISTS and IN of a subquery that names columns of the query around it, and aggregates without GROUP BY, \
                 has window functions or OFFSET, are not supported: compare with such a subquery as a value, as in \
                 (SELECT count(*) …) > 0, or join its rows"
            )
        }
        _ => Ok(()),
    }
}

/// Fails where what a lateral subquery gives of no rows would be lost.
fn refuse_lateral(plan: &LogicalPlan) -> Result<()> {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => refuse_lateral(&alias.input),
        LogicalPlan::Subquery(subquery) if has(subquery, is_of_all_rows) => plan_err!(
            "LATERAL with aggregates and no GROUP BY is not supported: write each aggregate as a value, as in \
             SELECT (SELECT count(*) …), or GROUP BY and LEFT JOIN"
        ),
        _ => Ok(()),
    }
}

/// Whether a subquery that names columns of the query around it has such a part above them.
fn has(subquery: &Subquery, is_one: impl Fn(&LogicalPlan) -> bool) -> bool {
    !subquery.outer_ref_columns.is_empty()
        && subquery.subquery.exists(|plan| Ok(is_one(plan) && !plan.all_out_ref_exprs().is_empty())).unwrap_or(true)
}

fn is_of_all_rows(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty())
}

fn is_numbered(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Window(_)) || matches!(plan, LogicalPlan::Limit(limit) if limit.skip.is_some())
}

/// A condition, with what is joined by AND taken apart: of that NULL is as good as false.
fn of_conjuncts(condition: Expr, schema: &DFSchema) -> Result<Expr> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Ok(of_conjuncts(*left, schema)?.and(of_conjuncts(*right, schema)?))
        }
        Expr::Not(of) => match *of {
            Expr::InSubquery(of) => Ok(Expr::InSubquery(InSubquery { negated: !of.negated, ..of })),
            of => with_null(Expr::Not(Box::new(of)), schema),
        },
        of @ Expr::InSubquery(_) => Ok(of),
        of => of_alternatives(of, schema),
    }
}

/// A condition, of which NULL is as good as false, that is no `NOT IN`.
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

/// An expression in which each `IN` of a subquery is NULL where it is, and not false.
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

fn exactly(of: InSubquery) -> Result<Expr> {
    if !of.subquery.outer_ref_columns.is_empty() {
        return plan_err!(
            "IN of a subquery that names columns of the query around it stands alone, or beside AND: here, where it may be \
             NULL, write EXISTS"
        );
    }
    let rows = |plan: LogicalPlan| -> Result<Expr> {
        let counted = LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![count_all()])?.build()?;
        Ok(scalar_subquery(Arc::new(counted)))
    };
    let all = of.subquery.subquery.as_ref();
    let value = Expr::from(all.schema().qualified_field(0));
    let nulls = LogicalPlanBuilder::from(all.clone()).filter(value.is_null())?.build()?;
    let (of_all, of_nulls) = (rows(all.clone())?, rows(nulls)?);
    let (expr, negated) = (of.expr.as_ref().clone(), of.negated);
    let is_in = when(Expr::InSubquery(InSubquery { negated: false, ..of }), lit(true))
        .when(of_all.eq(lit(0_i64)), lit(false))
        .when(expr.is_null().or(of_nulls.gt(lit(0_i64))), lit(ScalarValue::Boolean(None)))
        .otherwise(lit(false))?;
    Ok(if negated { Expr::Not(Box::new(is_in)) } else { is_in })
}
