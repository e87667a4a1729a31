//! Columns of USING that stand without a table in WHERE, or behind more than two tables: DataFusion calls them ambiguous there.

use std::convert::Infallible;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::planner::IdentNormalizer;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select, TableFactor, TableWithJoins,
    VisitMut, VisitorMut,
};

use super::methods::in_sql;

/// Names the first table before each such column: where joins are inner or left ones, its value is that of the column.
pub(super) fn name_table_of_using_columns(statement: &mut Statement) {
    let _ = in_sql(statement).map(|statement| statement.visit(&mut Selects));
}

struct Selects;

impl VisitorMut for Selects {
    type Break = Infallible;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Infallible> {
        let [from] = &select.from[..] else { return ControlFlow::Continue(()) };
        let Some(table) = table(&from.relation) else { return ControlFlow::Continue(()) };
        let columns = columns_of_all_joins(from);
        if columns.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut columns = Columns { table, columns, depth: 0 };
        select.projection.visit(&mut columns)?;
        select.selection.visit(&mut columns)
    }
}

/// By which a table is known to the columns beside it.
fn table(factor: &TableFactor) -> Option<Vec<Ident>> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => {
            Some(vec![alias.name.clone()])
        }
        TableFactor::Table { name, args: None, .. } => name.0.iter().map(|part| part.as_ident().map(quoted)).collect(),
        _ => None,
    }
}

/// A file, whose name stands in single quotes: before a column these would make a text of it.
fn quoted(name: &Ident) -> Ident {
    let quote_style = name.quote_style.map(|quote| if quote == '\'' { '"' } else { quote });
    Ident { quote_style, ..name.clone() }
}

/// The columns by which each of the tables is joined: any other one may be a column of a further table, too.
fn columns_of_all_joins(from: &TableWithJoins) -> Vec<String> {
    let mut all: Option<Vec<String>> = None;
    for join in &from.joins {
        use JoinOperator::{Inner, Join, Left, LeftOuter};
        let (Join(by) | Inner(by) | Left(by) | LeftOuter(by)) = &join.join_operator else { return Vec::new() };
        let JoinConstraint::Using(columns) = by else { return Vec::new() };
        let columns = columns.iter().filter_map(column);
        all = Some(match all {
            None => columns.collect(),
            Some(all) => columns.filter(|column| all.contains(column)).collect(),
        });
    }
    all.unwrap_or_default()
}

fn column(name: &ObjectName) -> Option<String> {
    match &name.0[..] {
        [ObjectNamePart::Identifier(column)] => Some(normal(column)),
        _ => None,
    }
}

fn normal(name: &Ident) -> String {
    IdentNormalizer::default().normalize(name.clone())
}

struct Columns {
    table: Vec<Ident>,
    columns: Vec<String>,
    /// Of subqueries and lambdas, which have names of their own.
    depth: usize,
}

impl VisitorMut for Columns {
    type Break = Infallible;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Infallible> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Infallible> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Infallible> {
        match expr {
            Expr::Lambda(_) => self.depth += 1,
            Expr::Identifier(column) if self.depth == 0 && self.columns.contains(&normal(column)) => {
                let table = self.table.iter().cloned();
                *expr = Expr::CompoundIdentifier(table.chain([column.clone()]).collect());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Infallible> {
        if matches!(expr, Expr::Lambda(_)) {
            self.depth -= 1;
        }
        ControlFlow::Continue(())
    }
}
