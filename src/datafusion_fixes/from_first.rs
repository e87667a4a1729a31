//! No upstream issue found: DataFusion takes `FROM t`, without SELECT, for a selection of no columns. Remove when it takes it for
//! `SELECT * FROM t`; test a_query_without_select_has_no_columns fails then.

use std::convert::Infallible;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, VisitMut, VisitorMut};

use super::statements::in_sql;

/// Rewrites `FROM t` to `SELECT * FROM t`.
pub(super) fn select_all(statement: &mut Statement) {
    if let Some(statement) = in_sql(statement) {
        let ControlFlow::Continue(()) = statement.visit(&mut SelectAll);
    }
}

struct SelectAll;

impl VisitorMut for SelectAll {
    type Break = Infallible;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<Infallible> {
        let mut bodies = vec![query.body.as_mut()];
        while let Some(body) = bodies.pop() {
            match body {
                ast::SetExpr::Select(select) if select.flavor == ast::SelectFlavor::FromFirstNoSelect => {
                    select.flavor = ast::SelectFlavor::Standard;
                    select.projection = vec![ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default())];
                }
                ast::SetExpr::SetOperation { left, right, .. } => bodies.extend([left.as_mut(), right.as_mut()]),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use crate::datafusion_fixes::testing::assert_wrong;

    #[test]
    fn a_query_without_select_has_no_columns() {
        assert_wrong(&["CREATE TABLE t AS VALUES (7), (8)", "FROM t"], &["", ""]);
    }
}
