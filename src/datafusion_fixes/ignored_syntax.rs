//! No upstream issue found: DataFusion silently ignores parts of statements, or misreads them, such as PREWHERE or a
//! FILTER of a scalar function. Remove when it refuses them; test a_condition_is_passed_over fails then.

use std::ops::ControlFlow;

use anyhow::{Result, bail};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Expr, FunctionArguments, GroupByExpr, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier,
    TableFactor, TableWithJoins, Visit, Visitor,
};

use super::statements::in_sql;

/// Returns an error if DataFusion would ignore or misread a part of a statement. `is_scalar` returns true for the name
/// of a function that gives a value for each row.
pub(super) fn refuse_ignored_syntax(statement: &mut Statement, is_scalar: &dyn Fn(&str) -> bool) -> Result<()> {
    match look(statement, is_scalar) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(Found { part, instead }) => bail!("{part} is not supported: {instead}"),
    }
}

fn look(statement: &mut Statement, is_scalar: &dyn Fn(&str) -> bool) -> ControlFlow<Found> {
    first([(is_unbounded(statement), "UNBOUNDED", "files are read up to their ends; leave it out")])?;
    in_sql(statement).map_or(ControlFlow::Continue(()), |statement| statement.visit(&mut Ignored { is_scalar }))
}

/// Returns true if a statement creates an unbounded table.
fn is_unbounded(statement: &Statement) -> bool {
    match statement {
        Statement::CreateExternalTable(table) => table.unbounded,
        Statement::Explain(explain) => is_unbounded(&explain.statement),
        Statement::Statement(_) | Statement::CopyTo(_) | Statement::Reset(_) => false,
    }
}

/// A part of a statement that would be ignored, and what to write instead.
struct Found {
    part: &'static str,
    instead: &'static str,
}

struct Ignored<'a> {
    is_scalar: &'a dyn Fn(&str) -> bool,
}

/// Breaks with the first of the parts that is present.
fn first<const N: usize>(parts: [(bool, &'static str, &'static str); N]) -> ControlFlow<Found> {
    match parts.into_iter().find(|(is_there, ..)| *is_there) {
        Some((_, part, instead)) => ControlFlow::Break(Found { part, instead }),
        None => ControlFlow::Continue(()),
    }
}

const SAMPLE: (&str, &str) =
    ("TABLESAMPLE", "write WHERE random() < 0.01 for about one row in a hundred, or ORDER BY random() LIMIT 100");
const ORDINALITY: (&str, &str) = ("WITH ORDINALITY", "number the rows with row_number() OVER ()");
const UNCHECKED: (&str, &str) = (
    "a constraint or default of a column, such as NOT NULL, PRIMARY KEY, CHECK or DEFAULT,",
    "it would not be checked, but queries would rely on it; leave it out, and check the rows with a query",
);
const TRANSACTIONS: &str = "each statement takes effect at once, and cannot be rolled back; leave it out";

/// Returns true if a column is named by the rest of a number such as `1_000`: everything from its first `_` on.
fn ends_with_digits(item: &SelectItem) -> bool {
    let SelectItem::ExprWithAlias { expr, alias } = item else { return false };
    let is_of_digits = |c: char| c == '_' || c.is_ascii_digit();
    let is_rest = alias.quote_style.is_none() && alias.value.starts_with('_') && alias.value.chars().all(is_of_digits);
    let mut last = expr;
    while let Expr::BinaryOp { right, .. } = last {
        last = right;
    }
    is_rest && matches!(last, Expr::Value(value) if matches!(value.value, ast::Value::Number(..)))
}

fn joins(tables: &TableWithJoins) -> ControlFlow<Found> {
    use ast::JoinConstraint::{Natural, None, Using};
    use ast::JoinOperator::{FullOuter, Inner, Join, Right, RightOuter};
    tables.joins.iter().try_for_each(|join| {
        let (Join(by) | Inner(by) | Right(by) | RightOuter(by) | FullOuter(by)) = &join.join_operator else {
            return ControlFlow::Continue(());
        };
        let is_inner = matches!(join.join_operator, Join(_) | Inner(_));
        first([
            (is_inner && *by == None, "JOIN without ON", "write ON or USING, or CROSS JOIN"),
            (
                !is_inner && matches!(by, Using(_) | Natural),
                "RIGHT or FULL JOIN with USING or NATURAL",
                "the column would only have the values of the left table; write ON, and coalesce(a.id, b.id)",
            ),
        ])
    })
}

/// Returns true if a query has EXCEPT ALL or INTERSECT ALL, which count equal rows.
fn counts_rows(body: &SetExpr) -> bool {
    let SetExpr::SetOperation { op, set_quantifier, left, right } = body else { return false };
    let is_counted = matches!(set_quantifier, SetQuantifier::All | SetQuantifier::AllByName);
    is_counted && *op != SetOperator::Union || counts_rows(left) || counts_rows(right)
}

/// Returns true if a call has syntax that selects or orders rows, which only aggregates and window functions may have.
fn is_of_rows(call: &ast::Function) -> bool {
    let of_arguments = match &call.args {
        FunctionArguments::List(list) => list.duplicate_treatment.is_some() || !list.clauses.is_empty(),
        _ => false,
    };
    let has_window = call.over.is_some() || call.filter.is_some() || call.null_treatment.is_some();
    of_arguments || has_window || !call.within_group.is_empty()
}

fn is_constrained(column: &ast::ColumnDef) -> bool {
    column.options.iter().any(|of| !matches!(of.option, ast::ColumnOption::Null | ast::ColumnOption::Comment(_)))
}

impl Visitor for Ignored<'_> {
    type Break = Found;

    fn pre_visit_statement(&mut self, statement: &ast::Statement) -> ControlFlow<Found> {
        use ast::Statement::{Commit, CreateIndex, CreateTable, Rollback, ShowFunctions, StartTransaction};
        let is_constrained = match statement {
            CreateTable(table) => !table.constraints.is_empty() || table.columns.iter().any(is_constrained),
            _ => false,
        };
        first([
            (is_constrained, UNCHECKED.0, UNCHECKED.1),
            (matches!(statement, StartTransaction { .. }), "START TRANSACTION", TRANSACTIONS),
            (matches!(statement, Commit { .. }), "COMMIT", TRANSACTIONS),
            (matches!(statement, Rollback { .. }), "ROLLBACK", TRANSACTIONS),
            (matches!(statement, ShowFunctions { .. }), "SHOW FUNCTIONS", "it lacks many of them; \\df has all"),
            (matches!(statement, CreateIndex(_)), "CREATE INDEX", "tables are read as they are; leave it out"),
        ])
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Found> {
        first([
            (
                counts_rows(&query.body),
                "EXCEPT ALL or INTERSECT ALL",
                "equal rows would not be counted; number them with row_number() OVER (PARTITION BY …), and leave out ALL",
            ),
            (!query.locks.is_empty(), "FOR UPDATE or SHARE", "nobody else changes the rows; leave it out"),
            (query.for_clause.is_some(), "FOR XML, JSON or BROWSE", "say --format ndjson, or leave it out"),
            (query.settings.is_some(), "SETTINGS", "write SET name = value before the statement"),
            (query.format_clause.is_some(), "FORMAT", "say --format, or \\format before the statement"),
        ])
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Found> {
        select.from.iter().try_for_each(joins)?;
        let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
        let is_ilike = |item: &SelectItem| match item {
            SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => options.opt_ilike.is_some(),
            _ => false,
        };
        first([
            (select.prewhere.is_some(), "PREWHERE", "write WHERE"),
            (
                !modifiers.is_empty(),
                "GROUP BY … WITH TOTALS, ROLLUP or CUBE",
                "write GROUP BY ROLLUP (a, b), CUBE (a, b) or GROUPING SETS ((a, b), ())",
            ),
            (
                select.projection.iter().any(is_ilike),
                "* ILIKE",
                "name the columns, or leave some out: SELECT * EXCLUDE (a, b)",
            ),
            (select.exclude.is_some(), "EXCLUDE behind the columns", "write SELECT * EXCLUDE (a, b)"),
            (!select.connect_by.is_empty(), "CONNECT BY", "write WITH RECURSIVE"),
            (
                select.projection.iter().any(ends_with_digits),
                "a number with _ in it",
                "write only its digits; the part from the _ on would become the name of the column",
            ),
        ])
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Found> {
        use ast::BinaryOperator::{And, Or, Xor};
        let swallows = match expr {
            Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => {
                matches!(**right, Expr::BinaryOp { op: And | Or | Xor, .. })
            }
            _ => false,
        };
        let is_of_rows = match expr {
            Expr::Function(call) => {
                let name = call.name.0.last().and_then(ast::ObjectNamePart::as_ident);
                is_of_rows(call) && name.is_some_and(|name| (self.is_scalar)(&name.value))
            }
            _ => false,
        };
        first([
            (
                swallows,
                "AND or OR behind IS DISTINCT FROM",
                "it would be a part of the value that is compared; put parentheses around (a IS DISTINCT FROM b)",
            ),
            (
                is_of_rows,
                "DISTINCT, FILTER, OVER, ORDER BY, WITHIN GROUP or IGNORE NULLS of a function that is no aggregate",
                "it gives a value for each row; leave it out, or write WHERE or CASE",
            ),
        ])
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Found> {
        match factor {
            TableFactor::Table { sample, partitions, with_hints, index_hints, version, with_ordinality, .. } => {
                first([
                    (sample.is_some(), SAMPLE.0, SAMPLE.1),
                    (*with_ordinality, ORDINALITY.0, ORDINALITY.1),
                    (
                        !partitions.is_empty(),
                        "PARTITION (…) of a table",
                        "write WHERE with the column of the partition",
                    ),
                    (version.is_some(), "a version of a table", "name the file that has it"),
                    (!with_hints.is_empty() || !index_hints.is_empty(), "a hint for a table", "leave it out"),
                ])
            }
            TableFactor::Derived { sample, .. } => first([(sample.is_some(), SAMPLE.0, SAMPLE.1)]),
            TableFactor::NestedJoin { table_with_joins, .. } => joins(table_with_joins),
            TableFactor::Function { with_ordinality, .. } => first([(*with_ordinality, ORDINALITY.0, ORDINALITY.1)]),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::parser::DFParserBuilder;
    use datafusion::sql::sqlparser::dialect::GenericDialect;

    use super::*;
    use crate::datafusion_fixes::testing::assert_wrong;

    fn refused(sql: &str) -> Result<()> {
        let mut parser = DFParserBuilder::new(sql).with_dialect(&GenericDialect {}).build()?;
        refuse_ignored_syntax(&mut parser.parse_statements()?[0], &|name| name == "upper")
    }

    #[test]
    fn a_condition_is_passed_over() {
        let table = "CREATE TABLE t AS VALUES (7), (8)";
        assert_wrong(&[table, "SELECT * FROM t PREWHERE column1 = 7"], &["7", "8"]);
        assert_wrong(&[table, "SELECT abs(column1) FILTER (WHERE column1 = 7) FROM t"], &["7", "8"]);
    }

    #[test]
    fn what_would_be_passed_over_is_refused() {
        for (sql, part) in [
            ("SELECT * FROM t TABLESAMPLE (1 ROWS)", "TABLESAMPLE"),
            ("SELECT * FROM (SELECT 1) TABLESAMPLE (1 ROWS)", "TABLESAMPLE"),
            ("SELECT * ILIKE 'a' FROM t", "* ILIKE"),
            ("SELECT 1 UNION SELECT t.* ILIKE 'a' FROM t", "* ILIKE"),
            ("SELECT * FROM t PREWHERE a = 7", "PREWHERE"),
            ("SELECT a FROM t GROUP BY a WITH TOTALS", "WITH TOTALS"),
            ("SELECT a FROM t GROUP BY ALL WITH ROLLUP", "ROLLUP"),
            ("SELECT * FROM range(3) WITH ORDINALITY", "WITH ORDINALITY"),
            ("SELECT * FROM t PARTITION (p)", "PARTITION"),
            ("SELECT * FROM t WITH (NOLOCK)", "a hint"),
            ("EXPLAIN SELECT * FROM t CONNECT BY a = 1 START WITH a = 2", "CONNECT BY"),
            ("CREATE VIEW v AS SELECT 1 AS a SETTINGS x = 1", "SETTINGS"),
            ("PREPARE p AS SELECT 1 AS a FORMAT JSON", "FORMAT"),
            ("START TRANSACTION", "START TRANSACTION"),
            ("COMMIT", "COMMIT"),
            ("ROLLBACK", "ROLLBACK"),
            ("CREATE INDEX i ON t (a)", "CREATE INDEX"),
            ("SHOW FUNCTIONS LIKE 'j%'", "SHOW FUNCTIONS"),
            ("SELECT 5 * 1_000_000", "a number with _"),
            ("SELECT * FROM a JOIN b", "JOIN without ON"),
            ("SELECT * FROM a POSITIONAL JOIN b", "JOIN without ON"),
            ("SELECT id FROM a RIGHT JOIN b USING (id)", "RIGHT or FULL JOIN"),
            ("SELECT id FROM a NATURAL FULL JOIN b", "RIGHT or FULL JOIN"),
            ("SELECT a IS DISTINCT FROM b OR c", "behind IS DISTINCT FROM"),
            ("SELECT * FROM t WHERE NOT a IS NOT DISTINCT FROM b AND c", "behind IS DISTINCT FROM"),
            ("CREATE TABLE t (a INT, PRIMARY KEY (a)) AS SELECT 1", "PRIMARY KEY"),
            ("SELECT a FROM t UNION ALL (SELECT a FROM u EXCEPT ALL SELECT 1)", "EXCEPT ALL"),
            ("SELECT a FROM t INTERSECT ALL SELECT a FROM u UNION SELECT 1", "INTERSECT ALL"),
            ("SELECT upper(a) FILTER (WHERE b) FROM t", "FILTER"),
            ("SELECT \"upper\"(DISTINCT a) FROM t", "DISTINCT"),
            ("SELECT upper(a ORDER BY a) FROM t", "ORDER BY"),
            ("SELECT upper(a) OVER () FROM t", "OVER"),
            ("SELECT upper(a) WITHIN GROUP (ORDER BY a) FROM t", "WITHIN GROUP"),
            ("CREATE OR REPLACE UNBOUNDED EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv'", "UNBOUNDED"),
            ("EXPLAIN CREATE UNBOUNDED EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv'", "UNBOUNDED"),
        ] {
            let said = refused(sql).unwrap_err().to_string();
            assert!(said.contains(part) && said.contains(" is not supported: "), "{sql}: {said}");
        }
        for taken in [
            "SELECT * EXCLUDE (a), b FROM t, LATERAL (SELECT 1) AS u WHERE a = 1 GROUP BY ROLLUP (a) LIMIT 1",
            "SELECT a AS _1, 1 AS \"_2\" FROM a LEFT JOIN b USING (id) CROSS JOIN c JOIN d ON a.id = d.id",
            "SELECT upper(a), sum(DISTINCT b) FILTER (WHERE c) OVER () FROM t UNION ALL SELECT 1 EXCEPT SELECT 2",
            "CREATE EXTERNAL TABLE unbounded STORED AS CSV LOCATION 'x.csv'",
            "SELECT c OR a IS DISTINCT FROM b FROM t WHERE (a IS DISTINCT FROM b) AND a IS NOT DISTINCT FROM (b OR c)",
        ] {
            assert!(refused(taken).is_ok(), "{taken}");
        }
    }
}
