//! No upstream issue found: a correlated subquery that becomes a join finds its correlated columns by name alone, and takes the
//! first column of that name. Remove when it takes the column of the right table; test
//! of_two_columns_with_one_name_the_first_is_taken fails then.

use std::iter;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchemaRef, Result, TableReference};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, Subquery};
use datafusion::optimizer::AnalyzerRule;

/// Renames each correlated column of a subquery that shares its name with another column, or that a table alias hides.
#[derive(Debug)]
pub(crate) struct CorrelatedColumns;

impl AnalyzerRule for CorrelatedColumns {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let rewritten = plan.transform_up_with_subqueries(|plan| match plan {
            LogicalPlan::Subquery(subquery) => of_subquery(subquery)?.map_data(|plan| Ok(LogicalPlan::Subquery(plan))),
            plan => plan.map_expressions(|expr| expr.transform(of_expr)),
        });
        rewritten.data()
    }

    fn name(&self) -> &'static str {
        "correlated_columns"
    }
}

fn of_expr(expr: Expr) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Exists(Exists { subquery, negated }) => {
            of_subquery(subquery)?.map_data(|subquery| Ok(Expr::Exists(Exists { subquery, negated })))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            of_subquery(subquery)?.map_data(|subquery| Ok(Expr::InSubquery(InSubquery { expr, subquery, negated })))
        }
        Expr::ScalarSubquery(subquery) => {
            of_subquery(subquery)?.map_data(|subquery| Ok(Expr::ScalarSubquery(subquery)))
        }
        expr => Ok(Transformed::no(expr)),
    }
}

fn of_subquery(subquery: Subquery) -> Result<Transformed<Subquery>> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(Transformed::no(subquery));
    }
    let plan = named(LogicalPlan::clone(&subquery.subquery), &[], &mut 0)?;
    plan.map_data(|plan| Ok(subquery.with_plan(plan.into())))
}

/// An operator above a part of a subquery: its output schema, and its alias if it renames its rows.
type Above = (DFSchemaRef, Option<TableReference>);

/// Gives the ambiguous columns in the conditions of a part of a subquery unique names. `above` are the operators above
/// this part, and `count` is the number of columns that were named so far.
fn named(plan: LogicalPlan, above: &[Above], count: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let plan = match plan {
        LogicalPlan::Filter(filter) => named_in_filter(filter, above, count)?,
        plan => Transformed::no(plan),
    };
    plan.transform_sibling(|plan| {
        let alias = if let LogicalPlan::SubqueryAlias(alias) = &plan { Some(alias.alias.clone()) } else { None };
        let is_alias = alias.is_some();
        let mut above = above.to_vec();
        above.push((Arc::clone(plan.schema()), alias));
        let below = plan.map_children(|below| {
            let before = *count;
            let below = named(below, &above, count)?;
            // Above a table alias only its output columns are visible, so the output must have the new names.
            let hidden = if is_alias { before } else { *count } + 1..=*count;
            below.map_data(|below| hidden.map(name).try_fold(below, |below, name| showing(below, &name)))
        })?;
        if below.transformed { below.map_data(LogicalPlan::recompute_schema) } else { Ok(below) }
    })
}

fn name(number: usize) -> String {
    format!("__correlated_{number}")
}

/// Adds a column of the input to the output of a plan, if possible.
fn showing(plan: LogicalPlan, name: &str) -> Result<LogicalPlan> {
    if plan.schema().iter().any(|(_, field)| *field.name() == name) {
        return Ok(plan);
    }
    match plan {
        LogicalPlan::Projection(Projection { input, mut expr, .. }) => {
            let input = showing(Arc::unwrap_or_clone(input), name)?;
            let found = input.schema().columns().into_iter().find(|column| column.name == name);
            expr.extend(found.map(Expr::Column));
            Projection::try_new(expr, Arc::new(input)).map(LogicalPlan::Projection)
        }
        LogicalPlan::Filter(_) | LogicalPlan::Join(_) | LogicalPlan::Sort(_) | LogicalPlan::SubqueryAlias(_) => {
            let shown = plan.map_children(|below| showing(below, name).map(Transformed::yes))?;
            shown.data.recompute_schema()
        }
        plan => Ok(plan),
    }
}

/// Returns true if the name of a column refers to another column, or to none, above a condition on rows of this schema.
fn is_ambiguous(column: &Column, of_rows: &DFSchemaRef, above: &[Above]) -> bool {
    let mut table = column.relation.as_ref();
    for (schema, alias) in iter::once((of_rows, &None)).chain(above.iter().rev().map(|(schema, alias)| (schema, alias)))
    {
        let mut tables = schema.iter().filter(|(_, field)| *field.name() == column.name).map(|(table, _)| table);
        if alias.is_some() {
            if tables.next().is_none() {
                return true;
            }
            table = alias.as_ref();
        } else if tables.any(|other| other != table) {
            return true;
        }
    }
    false
}

fn named_in_filter(filter: Filter, above: &[Above], count: &mut usize) -> Result<Transformed<LogicalPlan>> {
    let of_input = Arc::clone(filter.input.schema());
    let mut columns: Vec<Column> = Vec::new();
    let mut name_of = |column: Column| {
        let at = columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        name(*count + 1 + at)
    };
    let named = |condition: Expr| {
        if !condition.contains_outer() {
            return Ok(condition);
        }
        let named = condition.transform(|part| match part {
            Expr::Column(column) if is_ambiguous(&column, &of_input, above) => {
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name_of(column)))))
            }
            part => Ok(Transformed::no(part)),
        });
        named.data()
    };
    let conditions = split_conjunction_owned(filter.predicate.clone()).into_iter().map(named);
    let condition = conjunction(conditions.collect::<Result<Vec<_>>>()?);
    let Some(condition) = condition.filter(|_| !columns.is_empty()) else {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    };
    let all = of_input.columns().into_iter().map(Expr::Column);
    let named = columns.into_iter().map(|column| {
        *count += 1;
        Expr::Column(column).alias(name(*count))
    });
    let input = LogicalPlanBuilder::from(filter.input).project(all.chain(named).collect::<Vec<_>>())?;
    input.filter(condition)?.build().map(Transformed::yes)
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn of_two_columns_with_one_name_the_first_is_taken() {
        assert_wrong(
            &[
                "CREATE TABLE l(id INT) AS VALUES (1)",
                "CREATE TABLE m(id INT, k INT) AS VALUES (2, 1)",
                "CREATE TABLE o(x INT) AS VALUES (2)",
                "SELECT x FROM o WHERE EXISTS (SELECT * FROM l JOIN m ON l.id = m.k WHERE m.id = o.x)",
            ],
            &[],
        );
    }
}
