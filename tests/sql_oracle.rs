//! Random queries: `ibid sql` gives the same rows as SQLite, or refuses the query.

use std::fmt::Write as _;

use rusqlite::Connection;

use crate::program::{Dice, Place, times};

/// The tables and their columns, all of whole numbers.
const TABLES: [(&str, [&str; 3]); 4] =
    [("t1", ["a", "b", "c"]), ("t2", ["a", "b", "d"]), ("t3", ["b", "c", "e"]), ("z0", ["a", "d", "e"])];

/// The columns that an expression may name, with their tables.
type Scope = Vec<String>;

type Rows = Vec<Vec<Option<i64>>>;

struct Writer {
    dice: Dice,
    /// The number of names that were given out.
    named: usize,
}

impl Writer {
    /// Returns true with a probability of so many hundredths.
    fn may(&mut self, hundredths: usize) -> bool {
        self.dice.below(100) < hundredths
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.dice.below(of.len())]
    }

    fn number(&mut self) -> &'static str {
        self.one(&["-1", "0", "1", "2", "3", "5"])
    }

    /// Makes a new name. The names are not in alphabetical order.
    fn name(&mut self) -> String {
        self.named += 1;
        format!("{}{}", self.one(&["q", "x", "z", "a", "w"]), self.named)
    }

    fn column(&mut self, scope: &Scope) -> String {
        scope[self.dice.below(scope.len())].clone()
    }

    fn expression(&mut self, scope: &Scope, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        if depth == 0 || self.may(45) {
            return if self.may(85) { self.column(scope) } else { self.number().to_owned() };
        }
        match self.dice.below(7) {
            0 | 1 => {
                let operator = self.one(&["+", "-", "*"]);
                format!("({} {operator} {})", self.expression(scope, below), self.expression(scope, below))
            }
            2 => format!("coalesce({}, {})", self.expression(scope, below), self.expression(scope, below)),
            3 => format!("nullif({}, {})", self.expression(scope, below), self.expression(scope, below)),
            4 => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.condition(scope, below),
                self.expression(scope, below),
                self.expression(scope, below)
            ),
            5 => format!("abs({})", self.expression(scope, below)),
            _ => {
                let (from, inner) = self.from(below);
                let of = self.one(&["max", "min", "count", "sum"]);
                format!("(SELECT {of}({}) FROM {from} WHERE {})", self.column(&inner), self.link(&inner, scope))
            }
        }
    }

    fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        let not = self.one(&["", "NOT "]);
        if depth == 0 || self.may(35) {
            let operator = self.one(&["=", "<", ">", "<=", ">=", "<>"]);
            return format!("{} {operator} {}", self.expression(scope, below), self.expression(scope, below));
        }
        match self.dice.below(10) {
            0 | 1 => format!("({} AND {})", self.condition(scope, below), self.condition(scope, below)),
            2 | 3 => format!("({} OR {})", self.condition(scope, below), self.condition(scope, below)),
            4 => format!("(NOT {})", self.condition(scope, below)),
            5 => format!("{} IS {not}NULL", self.expression(scope, below)),
            6 => format!("{} {not}IN ({}, NULL, {})", self.expression(scope, below), self.number(), self.number()),
            7 => {
                let expression = self.expression(scope, below);
                format!("{expression} {not}BETWEEN {} AND {}", self.column(scope), self.column(scope))
            }
            8 => {
                let (from, inner) = self.from(below);
                let where_ = if self.may(40) { self.link(&inner, scope) } else { self.condition(&inner, 0) };
                format!("{} {not}IN (SELECT {} FROM {from} WHERE {where_})", self.column(scope), self.column(&inner))
            }
            _ => {
                let (from, inner) = self.from(below);
                format!("{not}EXISTS (SELECT 1 FROM {from} WHERE {})", self.link(&inner, scope))
            }
        }
    }

    /// Makes a condition that correlates a subquery with the query around it.
    fn link(&mut self, inner: &Scope, outer: &Scope) -> String {
        let operator = self.one(&["=", "=", "<", "<>"]);
        let link = format!("{} {operator} {}", self.column(inner), self.column(outer));
        if self.may(40) { format!("{link} AND {}", self.condition(inner, 0)) } else { link }
    }

    fn relation(&mut self, depth: usize) -> (String, Scope) {
        let name = self.name();
        if depth > 0 && self.may(25) {
            let (query, columns) = self.select(depth - 1);
            return (format!("({query}) AS {name}"), (0..columns).map(|i| format!("{name}.c{i}")).collect());
        }
        let (table, columns) = TABLES[self.dice.below(TABLES.len())];
        (format!("{table} AS {name}"), columns.map(|column| format!("{name}.{column}")).into())
    }

    fn from(&mut self, depth: usize) -> (String, Scope) {
        let (mut from, mut scope) = self.relation(depth);
        while depth > 0 && self.may(45) {
            let (other, columns) = self.relation(depth - 1);
            let mut on = format!("{} = {}", self.column(&scope), self.column(&columns));
            scope.extend(columns);
            if self.may(35) {
                let or = self.one(&["AND", "AND", "OR"]);
                write!(on, " {or} {}", self.condition(&scope, 0)).unwrap();
            }
            let join = self.one(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
            from = format!("{from} {join} {other} ON {on}");
        }
        (from, scope)
    }

    fn aggregate(&mut self, scope: &Scope) -> String {
        let distinct = self.one(&["", "", "DISTINCT "]);
        let of = self.one(&["sum", "min", "max", "count"]);
        let filter = if self.may(20) { format!(" FILTER (WHERE {})", self.condition(scope, 0)) } else { String::new() };
        format!("{of}({distinct}{}){filter}", self.expression(scope, 1))
    }

    fn window(&mut self, scope: &Scope) -> String {
        let by = if self.may(70) { format!("PARTITION BY {}", self.column(scope)) } else { String::new() };
        let order = format!("ORDER BY {} {}", self.column(scope), self.one(&["NULLS FIRST", "DESC NULLS LAST"]));
        let frame = self.one(&["", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"]);
        match self.dice.below(3) {
            0 => format!("{}() OVER ({by} {order})", self.one(&["rank", "dense_rank"])),
            1 => format!("{}({}) OVER ({by})", self.one(&["sum", "min", "max"]), self.column(scope)),
            _ => format!("{}({}) OVER ({by} {order} {frame})", self.one(&["sum", "min", "count"]), self.column(scope)),
        }
    }

    /// Makes a query. Returns it with the number of its columns, which are `c0`, `c1` and so on.
    fn select(&mut self, depth: usize) -> (String, usize) {
        let (from, scope) = self.from(depth);
        let where_ = if self.may(60) { format!(" WHERE {}", self.condition(&scope, depth)) } else { String::new() };
        let columns = 1 + self.dice.below(3);
        let kind = self.dice.below(10);
        let (mut distinct, mut behind) = ("", String::new());
        let values: Vec<String> = match kind {
            0..3 => {
                let by = self.column(&scope);
                behind = format!(" GROUP BY {by}");
                if self.may(30) {
                    write!(behind, " HAVING {} > {}", self.aggregate(&scope), self.number()).unwrap();
                }
                (0..columns).map(|i| if i == 0 { by.clone() } else { self.aggregate(&scope) }).collect()
            }
            3 => (0..columns).map(|_| self.aggregate(&scope)).collect(),
            4 => (0..columns).map(|i| if i == 0 { self.window(&scope) } else { self.column(&scope) }).collect(),
            _ => {
                distinct = self.one(&["", "", "DISTINCT "]);
                if self.may(20) {
                    let orders: Vec<_> = (0..columns)
                        .map(|i| format!("c{i} {}", self.one(&["NULLS FIRST", "DESC NULLS LAST"])))
                        .collect();
                    behind = format!(" ORDER BY {} LIMIT {}", orders.join(", "), self.dice.below(5));
                }
                (0..columns).map(|_| self.expression(&scope, depth)).collect()
            }
        };
        let values: Vec<_> = values.iter().enumerate().map(|(i, value)| format!("{value} AS c{i}")).collect();
        (format!("SELECT {distinct}{} FROM {from}{where_}{behind}", values.join(", ")), columns)
    }

    /// Makes a query of all columns of tables that are joined by USING, on the columns that the first table shares with
    /// each of the others.
    fn using(&mut self) -> String {
        let mut tables = TABLES.to_vec();
        let (first, columns) = tables.remove(self.dice.below(tables.len()));
        let name = self.name();
        let (mut from, mut by_all) = (format!("{first} AS {name}"), columns.to_vec());
        for _ in 0..1 + self.dice.below(2) {
            let (table, others) = tables.remove(self.dice.below(tables.len()));
            let shared: Vec<_> = others.into_iter().filter(|column| by_all.contains(column)).collect();
            if !shared.is_empty() {
                let join = self.one(&["JOIN", "LEFT JOIN"]);
                write!(from, " {join} {table} AS {} USING ({})", self.name(), shared.join(", ")).unwrap();
                by_all = shared;
            }
        }
        let column = self.one(&by_all);
        match self.dice.below(3) {
            0 => format!("SELECT {name}.{} AS x FROM {from} WHERE {column} > 0 OR {column} IS NULL", columns[0]),
            1 => format!("SELECT count(*) AS n, {column} AS k FROM {from} GROUP BY {column} HAVING {column} < 3"),
            _ => format!("SELECT * FROM {from} WHERE {column} < {}", self.number()),
        }
    }

    fn query(&mut self) -> String {
        match self.dice.below(10) {
            0 => self.using(),
            1 => {
                let tables: Vec<_> = (0..2).map(|_| self.from(1)).collect();
                let sides =
                    tables.iter().map(|(from, scope)| format!("SELECT {} AS c0 FROM {from}", self.column(scope)));
                let sides: Vec<_> = sides.collect();
                sides.join(self.one(&[" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "]))
            }
            2 => {
                let (query, columns) = self.select(1);
                let last = columns - 1;
                format!(
                    "WITH w AS ({query}) SELECT v.c0, count(w.c0) AS n FROM w AS v LEFT JOIN w ON v.c0 = w.c{last} GROUP BY v.c0"
                )
            }
            _ => self.select(2).0,
        }
    }

    /// Makes rows for all tables. Returns the statements that create the tables in ibid and in SQLite.
    fn tables(&mut self) -> (String, String) {
        let (mut ours, mut theirs) = (String::new(), String::new());
        for (table, columns) in TABLES {
            let names = columns.join(", ");
            let rows = [0, 1, 4, 8][self.dice.below(4)];
            write!(theirs, "CREATE TABLE {table} ({names}); ").unwrap();
            // A row that is filtered out gives the types.
            let mut values =
                vec!["(CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), false)".to_owned()];
            for _ in 0..rows {
                let row: Vec<_> = columns.iter().map(|_| if self.may(15) { "NULL" } else { self.number() }).collect();
                write!(theirs, "INSERT INTO {table} VALUES ({}); ", row.join(", ")).unwrap();
                values.push(format!("({}, true)", row.join(", ")));
            }
            let all = values.join(", ");
            write!(
                ours,
                "CREATE OR REPLACE TABLE {table} AS SELECT {names} FROM (VALUES {all}) AS v ({names}, is_row) WHERE is_row; "
            )
            .unwrap();
        }
        (ours, theirs)
    }
}

fn sqlite(tables: &str, query: &str) -> Rows {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(tables).unwrap();
    let mut statement = database.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|i| row.get(i)).collect()).unwrap();
    let mut rows: Rows = rows.map(Result::unwrap).collect();
    rows.sort();
    rows
}

/// Returns the values of a row of CSV, in which NULL is empty.
fn values(row: &csv::StringRecord) -> Vec<Option<i64>> {
    row.iter().map(|value| if value.is_empty() { None } else { Some(value.parse().unwrap()) }).collect()
}

/// A random query, with the statements that create its tables.
struct Case {
    ours: String,
    theirs: String,
    query: String,
}

impl Case {
    fn new(seed: usize) -> Self {
        let mut writer = Writer { dice: Dice(seed as u64), named: 0 };
        let (ours, theirs) = writer.tables();
        Self { ours, theirs, query: writer.query() }
    }
}

/// The queries run as one script, each into a file, until one is refused. The next script begins after that one.
#[test]
fn queries_give_the_rows_that_sqlite_gives() {
    let queries = times("IBID_QUERIES", 100);
    let (mut seed, mut refused) = (0, 0);
    while seed < queries {
        let cases: Vec<_> = (seed..queries.min(seed + 100)).map(Case::new).collect();
        let place = Place::new();
        let mut script = String::new();
        for (i, Case { ours, query, .. }) in cases.iter().enumerate() {
            writeln!(script, "{ours}\n\\o {i}.csv\n{query};").unwrap();
        }
        let ended = place.run_with(["sql", "-f", "-", "--format", "csv"], &script);
        let answered = (0..cases.len()).take_while(|i| place.path(format!("{i}.csv")).exists()).count();
        for (i, Case { ours, theirs, query }) in cases[..answered].iter().enumerate() {
            let written = place.read(format!("{i}.csv"));
            let records = csv::Reader::from_reader(&*written).into_records();
            let mut rows: Rows = records.map(|row| values(&row.unwrap())).collect();
            rows.sort();
            assert_eq!(rows, sqlite(theirs, query), "{}: {ours}{query}", seed + i);
        }
        if answered < cases.len() {
            // DataFusion cannot plan some subqueries, and returns an error.
            let Case { ours, query, .. } = &cases[answered];
            let is_refused = !ended.err.to_lowercase().contains("internal error") && !ended.err.contains("panicked");
            let said = format!("{}: {ours}{query}\n{}", seed + answered, ended.err);
            assert!(ended.code == Some(1) && is_refused, "{said}");
            refused += 1;
            seed += 1;
        } else {
            assert_eq!(ended.code, Some(0), "{}", ended.err);
        }
        seed += answered;
    }
    assert!(refused * 4 < queries, "{refused} of {queries} queries are refused");
}
