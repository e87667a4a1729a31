//! What a statement may say that DataFusion would pass over without a word.

use std::ops::ControlFlow;

use anyhow::{Result, bail};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{self, GroupByExpr, Query, Select, SelectItem, TableFactor, Visit, Visitor};

use super::methods::in_sql;

/// Fails where a part of a statement would be passed over.
pub(super) fn refuse_ignored(statement: &mut Statement) -> Result<()> {
    match in_sql(statement).map_or(ControlFlow::Continue(()), |statement| statement.visit(&mut Ignored)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(Found { part, instead }) => bail!("{part} is not supported: {instead}"),
    }
}

/// A part that would be passed over, and what to write instead.
struct Found {
    part: &'static str,
    instead: &'static str,
}

struct Ignored;

/// The first of the parts that is there.
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
    "what a column must be, such as NOT NULL, PRIMARY KEY, CHECK or DEFAULT,",
    "nothing checks it, and queries would believe it; leave it out, and ask the rows",
);
const TRANSACTIONS: &str = "each statement counts once it has run, and there is nothing to go back to; leave it out";

fn is_constrained(column: &ast::ColumnDef) -> bool {
    column.options.iter().any(|of| !matches!(of.option, ast::ColumnOption::Null | ast::ColumnOption::Comment(_)))
}

impl Visitor for Ignored {
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
            (!query.locks.is_empty(), "FOR UPDATE or SHARE", "nobody else changes the rows; leave it out"),
            (query.for_clause.is_some(), "FOR XML, JSON or BROWSE", "say --format ndjson, or leave it out"),
            (query.settings.is_some(), "SETTINGS", "write SET name = value before the statement"),
            (query.format_clause.is_some(), "FORMAT", "say --format, or \\format before the statement"),
        ])
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Found> {
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

    fn refused(sql: &str) -> Result<()> {
        let mut parser = DFParserBuilder::new(sql).with_dialect(&GenericDialect {}).build()?;
        refuse_ignored(&mut parser.parse_statements()?[0])
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
            ("CREATE TABLE t (a INT, PRIMARY KEY (a)) AS SELECT 1", "PRIMARY KEY"),
        ] {
            let said = refused(sql).unwrap_err().to_string();
            assert!(said.contains(part) && said.contains(" is not supported: "), "{sql}: {said}");
        }
        let taken = "SELECT * EXCLUDE (a), b FROM t, LATERAL (SELECT 1) AS u WHERE a = 1 GROUP BY ROLLUP (a) LIMIT 1";
        assert!(refused(taken).is_ok());
    }
}
