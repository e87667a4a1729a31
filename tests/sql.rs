//! `ibid sql`: the shell, driven through a terminal, and scripts.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::data_type::{ByteArrayType, Int96, Int96Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::program::{Place, bzip2, collection_jsonl, gzip, json_lines, jsonl};

/// The time that the slowest machine may take to show something.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program at a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    /// Everything that was shown. `seen` is the end of the part that was already checked.
    shown: Arc<Mutex<Vec<u8>>>,
    seen: usize,
}

impl Terminal {
    fn open(place: &Place, line: &str) -> Self {
        let size = nix::pty::Winsize { ws_row: 50, ws_col: 300, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = nix::pty::openpty(Some(&size), None).unwrap();
        // A process that held its own terminal open would never notice that it is gone.
        for side in [&terminal.master, &terminal.slave] {
            rustix::io::fcntl_setfd(side, rustix::io::FdFlags::CLOEXEC).unwrap();
        }
        let side = || Stdio::from(terminal.slave.try_clone().unwrap());
        let mut command = std::process::Command::new("setsid");
        // The program runs in a session of its own with this terminal, so that Ctrl-C goes to it.
        command
            .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_ibid")])
            .args(line.split(' ').filter(|part| !part.is_empty()));
        command.current_dir(place.path("")).env("TMPDIR", place.path("tmp")).env("XDG_STATE_HOME", place.path("state"));
        command.env("TERM", "xterm").env_remove("NO_COLOR");
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let keyboard = File::from(terminal.master);
        let (shown, mut screen) = (Arc::new(Mutex::new(Vec::new())), keyboard.try_clone().unwrap());
        let showing = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut part) {
                showing.lock().unwrap().extend_from_slice(&part[..n]);
            }
        });
        Self { child, keyboard, shown, seen: 0 }
    }

    fn shell(place: &Place) -> Self {
        let mut shell = Self::open(place, "sql");
        shell.wait_for("ibid> ");
        shell
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Clears the line that is typed.
    fn interrupt(&mut self) {
        self.press("\x03");
        self.wait_for("\n");
        self.wait_for("ibid> ");
    }

    /// Types a line, and returns the output up to the next prompt.
    fn line(&mut self, line: &str) -> String {
        self.press(&format!("{line}\r"));
        // The prompt is drawn again for each key. The last time is after the line that the return key ends.
        self.wait_for("\n");
        self.wait_for("ibid> ")
    }

    /// Waits until the new output contains `what`, and returns the output up to there.
    #[track_caller]
    fn wait_for(&mut self, what: &str) -> String {
        let began = Instant::now();
        loop {
            {
                let shown = self.shown.lock().unwrap();
                let new = &shown[self.seen..];
                if let Some(at) = memchr::memmem::find(new, what.as_bytes()) {
                    self.seen += at + what.len();
                    return String::from_utf8_lossy(&new[..at + what.len()]).into_owned();
                }
                assert!(began.elapsed() < PATIENCE, "{what:?} is not in {:?}", String::from_utf8_lossy(new));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the end, and returns the exit code and the new output.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        std::thread::sleep(Duration::from_millis(50));
        let shown = self.shown.lock().unwrap();
        (code, String::from_utf8_lossy(&shown[self.seen..]).into_owned())
    }
}

fn history(place: &Place) -> String {
    String::from_utf8(place.read("state/ibid/history")).unwrap()
}

#[test]
fn the_shell_runs_statements_of_many_lines() {
    let place = Place::new();
    let mut shell = Terminal::shell(&place);
    shell.press("SELECT 'a;\r");
    shell.wait_for("\n");
    shell.wait_for("  ...> ");
    shell.press("b' AS \"x;y\", /* ; */\r");
    shell.wait_for("\n");
    shell.wait_for("  ...> ");
    let shown = shell.line("$$c;$$ AS z; -- and a word");
    assert!(
        shown.contains("| x;y | z  |") && shown.contains("| a;  | c; |") && shown.contains("| b   |    |"),
        "{shown}"
    );
    assert!(shown.contains("1 row ("), "{shown}");
    // Several statements in a line.
    let shown = shell.line("SELECT 1 AS one; SELECT 2 AS two;");
    assert!(shown.contains("| one |") && shown.contains("| two |"), "{shown}");
    // Errors have their place, and do not end the shell.
    let shown = shell.line("SELECT 1 +; SELECT 3 AS three;");
    assert!(shown.contains("line 1, column 11") && shown.contains("^") && !shown.contains("three |"), "{shown}");
    let shown = shell.line("SELECT doc FROM (SELECT 1 AS doc_id);");
    assert!(shown.contains("line 1, column 8") && shown.contains("doc_id"), "{shown}");
    // An interrupt clears a line that is half typed.
    shell.press("SELECT 'never");
    shell.interrupt();
    let shown = shell.line("SELECT 4 AS four;");
    assert!(shown.contains("| four |"), "{shown}");
    shell.press("\x04");
    assert_eq!(shell.end().0, Some(0));
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}

#[test]
fn an_interrupt_ends_the_statement_and_not_the_shell() {
    let place = Place::new();
    let mut shell = Terminal::shell(&place);
    shell.line("CREATE TABLE t AS SELECT 7 AS seven;");
    for long in [
        "SELECT count(*) FROM range(300000) AS a JOIN range(300000) AS b ON a.value * b.value % 1000003 = 7;",
        "SELECT * FROM range(1000000000);",
        "CREATE TABLE u AS SELECT sum(a.value) FROM range(100000000000) AS a;",
    ] {
        shell.press(&format!("{long}\r"));
        std::thread::sleep(Duration::from_millis(1500));
        let began = Instant::now();
        shell.press("\x03");
        shell.wait_for("interrupted");
        assert!(began.elapsed() < Duration::from_secs(1), "{long}: {:?}", began.elapsed());
        shell.wait_for("ibid> ");
        let shown = shell.line("SELECT seven + 1 AS eight FROM t;");
        assert!(shown.contains("| 8     |"), "{shown}");
    }
    // After an interrupt, the file of `\o` still waits for its result.
    shell.line("\\o rows.csv");
    shell.press("SELECT * FROM range(1000000000000);\r");
    std::thread::sleep(Duration::from_millis(500));
    shell.press("\x03");
    shell.wait_for("interrupted");
    shell.wait_for("ibid> ");
    assert!(!place.path("rows.csv").exists());
    shell.line("SELECT seven FROM t;");
    assert_eq!(place.read("rows.csv"), b"seven\n7\n");
    shell.press("\\q\r");
    assert_eq!(shell.end().0, Some(0));
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}

#[test]
fn what_is_declared_of_parquet_cuts_no_value() {
    let place = Place::new();
    let made = "SELECT 1.9 AS a, arrow_cast('2024-01-01T23:59:59.9', 'Timestamp(Microsecond, None)') AS t, 7 AS n, \
                arrow_cast(1.5, 'Decimal128(5, 2)') AS d, [1, 2] AS l, ['x'] AS s, NULL AS none, \
                named_struct('x', arrow_cast(1, 'Int32')) AS r";
    assert_eq!(place.run_with(["sql", made, "-o", "f.parquet"], "").code, Some(0));
    let run = |columns: &str| {
        let sql =
            format!("CREATE EXTERNAL TABLE f ({columns}) STORED AS PARQUET LOCATION 'f.parquet'; SELECT * FROM f");
        place.run_with(["sql", &sql, "--format", "csv"], "")
    };
    for columns in [
        "a BIGINT",
        "a REAL",
        "t DATE",
        "t TIMESTAMP(0)",
        "n INT",
        "n DOUBLE",
        "d DECIMAL(4, 2)",
        "d INT",
        "n DECIMAL(18, 0)",
        "l INT[]",
    ] {
        let ended = run(columns);
        assert!(ended.code == Some(1) && ended.err.contains("could not hold all"), "{columns}: {}", ended.err);
    }
    for (columns, row) in [
        ("a DOUBLE, t TIMESTAMP, n BIGINT, d DECIMAL(7, 3)", "1.9,2024-01-01T23:59:59.900,7,1.500"),
        ("n DECIMAL(20, 0), a TEXT", "7,1.9"),
        ("n DECIMAL(19, 0), none BIGINT", "7,"),
        ("t TIMESTAMP(6), d DECIMAL(5, 2)", "2024-01-01T23:59:59.900,1.50"),
    ] {
        let ended = run(columns);
        assert_eq!(ended.text().lines().nth(1), Some(row), "{columns}: {}", ended.err);
    }
    let made = "CREATE EXTERNAL TABLE f (l BIGINT[], s VARCHAR[], r STRUCT<x BIGINT>) STORED AS PARQUET \
                LOCATION 'f.parquet'; SELECT * FROM f";
    assert_eq!(place.sql(made), [json!({"l": [1, 2], "s": ["x"], "r": {"x": 1}})]);
}

/// Statistics of Parquet leave NaN out.
#[test]
fn nan_is_found_in_parquet() {
    let place = Place::with([("n.csv", "id,f\n1,1.0\n2,NaN\n3,2.0\n")]);
    place.ok("sql -o n.parquet SELECT*FROM'n.csv'");
    let figures = "SELECT count(*) FILTER (WHERE f > 5) AS above, max(f) AS most, min(f) AS least";
    for from in ["'n.csv'", "'n.parquet'", "t"] {
        let table = "CREATE TABLE t AS SELECT * FROM 'n.csv'; ";
        for (sql, expected) in [
            (format!("{figures} FROM {from}"), json!({"above": 1, "most": "NaN", "least": 1.0})),
            (format!("SELECT max(f) AS most FROM {from}"), json!({"most": "NaN"})),
            (format!("SELECT id FROM {from} WHERE f > 5 AND id > 0"), json!({"id": 2})),
            (format!("SELECT id FROM {from} WHERE f = 'NaN'"), json!({"id": 2})),
            (format!("SELECT id FROM {from} ORDER BY f DESC LIMIT 1"), json!({"id": 2})),
        ] {
            assert_eq!(place.sql(&format!("{table}{sql}")), [expected], "{sql}");
        }
    }
}

#[test]
fn the_greatest_values_of_files_are_of_all_of_them() {
    let place = Place::new();
    std::fs::create_dir(place.path("f")).unwrap();
    // The maximum of one column is in the first file. The maximum of the other column is in a file that is skipped if
    // only the first column counts.
    for (part, file) in (0..2).flat_map(|part| (0..5).map(move |file| (part, file))) {
        let (a, b) = (if file == 0 { 10 } else { 5 }, if file == 4 { "7" } else { "NULL" });
        let row = format!("SELECT {a} AS a, CAST({b} AS BIGINT) AS b");
        let ended = place.run_with(["sql", &row, "-o", &format!("f/{part}{file}.parquet")], "");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
    for (query, expected) in [
        ("SELECT max(a) AS a, max(b) AS b, min(a) AS c FROM 'f/*.parquet'", json!({"a": 10, "b": 7, "c": 5})),
        ("SELECT max(a) AS a, max(b) AS b FROM 'f/*.parquet' WHERE a > 0", json!({"a": 10, "b": 7})),
        ("SELECT max(a) AS a, max(b + 1) AS b FROM 'f/*.parquet'", json!({"a": 10, "b": 8})),
    ] {
        assert_eq!(
            place.sql(&format!("SET datafusion.execution.target_partitions = 2; {query}")),
            [expected],
            "{query}"
        );
    }
    // An aggregate over a table as it is comes from the statistics.
    let plan = format!("{:?}", place.sql("EXPLAIN SELECT count(*), max(b) FROM 'f/04.parquet'"));
    assert!(plan.contains("PlaceholderRowExec") && !plan.contains("AggregateExec"), "{plan}");
}

#[test]
fn a_column_of_using_needs_no_table() {
    let place = Place::with([("a.csv", "id,x\n1,10\n2,20\n"), ("b.csv", "id,y\n1,100\n3,300\n")]);
    let tables = "CREATE TABLE a AS SELECT * FROM 'a.csv'; CREATE VIEW \"B\" AS SELECT * FROM 'b.csv'; ";
    for (query, expected) in [
        ("SELECT id, x FROM a JOIN \"B\" USING (id) WHERE id > 0 AND x > id", json!([{"id": 1, "x": 10}])),
        ("SELECT x FROM a LEFT JOIN \"B\" USING (id) WHERE ID = 2", json!([{"x": 20}])),
        ("SELECT id FROM \"B\" LEFT JOIN a USING (id) WHERE x IS NULL AND id > 1", json!([{"id": 3}])),
        ("SELECT b.y FROM 'a.csv' JOIN 'b.csv' AS b USING (id) WHERE id = 1", json!([{"y": 100}])),
        (
            "SELECT id, y FROM a JOIN \"B\" AS b USING (id) JOIN a AS c USING (id) WHERE id = 1",
            json!([{"id": 1, "y": 100}]),
        ),
        ("SELECT sum(id) AS n FROM a AS t JOIN \"B\" USING (id) LEFT JOIN a AS c USING (id)", json!([{"n": 1}])),
        // A name in a subquery belongs to the tables of the subquery.
        (
            "SELECT id FROM a JOIN \"B\" USING (id) WHERE id = (SELECT max(id) - 1 FROM a WHERE id < 3)",
            json!([{"id": 1}]),
        ),
        ("SELECT n FROM (SELECT id + 1 AS n FROM a JOIN 'b.csv' AS b USING (id) WHERE id = 1)", json!([{"n": 2}])),
        // With three tables, in all parts of a query.
        (
            "SELECT a.x FROM a LEFT JOIN \"B\" USING (id) LEFT JOIN a AS c USING (id) ORDER BY id DESC",
            json!([{"x": 20}, {"x": 10}]),
        ),
        (
            "SELECT count(*) AS n FROM a LEFT JOIN \"B\" USING (id) JOIN a AS c USING (id) GROUP BY id, a.x HAVING id > 1",
            json!([{"n": 1}]),
        ),
        (
            "SELECT DISTINCT ON (id) y FROM a LEFT JOIN \"B\" USING (id) JOIN a AS c USING (id) ORDER BY id, y",
            json!([{"y": 100}, {"y": null}]),
        ),
        (
            "SELECT a.x FROM a LEFT JOIN \"B\" USING (id) JOIN a AS c USING (id) \
             QUALIFY row_number() OVER (PARTITION BY id ORDER BY y) = 1 ORDER BY id",
            json!([{"x": 10}, {"x": 20}]),
        ),
        // The name of an output column takes precedence.
        ("SELECT -id AS id FROM a LEFT JOIN \"B\" USING (id) ORDER BY id", json!([{"id": -2}, {"id": -1}])),
    ] {
        assert_eq!(place.sql(&format!("{tables}{query}")), *expected.as_array().unwrap(), "{query}");
    }
    // The column of a further table may have other values.
    let query = "SELECT x FROM a JOIN \"B\" USING (id) JOIN a AS c ON c.id > 1 WHERE id = 1";
    let ended = place.run_with(["sql", &format!("{tables}{query}")], "");
    assert!(ended.code == Some(1) && ended.err.contains("Ambiguous reference"), "{}", ended.err);
}

/// DataFusion takes the column of the table whose name comes first in the alphabet, which is NULL here, and for three
/// tables it gives two columns.
#[test]
fn all_columns_have_those_of_using_once_of_the_first_table() {
    let place = Place::with([("z.csv", "id,x\n1,10\n2,20\n"), ("a.csv", "id,y\n1,100\n"), ("b.csv", "id\n2\n")]);
    let tables = "CREATE TABLE z AS SELECT * FROM 'z.csv'; CREATE VIEW a AS SELECT * FROM 'a.csv'; ";
    let run = |query: &str| place.run_with(["sql", &format!("{tables}{query}"), "--format", "csv"], "");
    for (query, expected) in [
        ("SELECT * FROM z LEFT JOIN a USING (id) ORDER BY id", "id,x,y\n1,10,100\n2,20,\n"),
        ("FROM z LEFT JOIN a USING (ID) SELECT * WHERE id = 2", "id,x,y\n2,20,\n"),
        (
            "SELECT *, id + 1 AS n FROM 'z.csv' AS z LEFT JOIN 'a.csv' USING (id) ORDER BY id DESC LIMIT 1",
            "id,x,y,n\n2,20,,3\n",
        ),
        ("SELECT * FROM z JOIN 'b.csv' USING (id) LEFT JOIN a USING (id)", "id,x,y\n2,20,\n"),
        ("SELECT * FROM z LEFT JOIN a USING (id) CROSS JOIN 'b.csv' AS b WHERE x = 20", "id,x,y,id\n2,20,,2\n"),
        ("SELECT * FROM 'b.csv' AS b, z LEFT JOIN a USING (id) WHERE x = 20", "id,id,x,y\n2,2,20,\n"),
        ("SELECT * FROM (z LEFT JOIN a USING (id)) JOIN 'b.csv' AS b ON z.id = b.id", "id,x,y,id\n2,20,,2\n"),
        ("SELECT * FROM z LEFT SEMI JOIN a USING (id) LEFT JOIN 'b.csv' AS b USING (id)", "id,x\n1,10\n"),
        ("SELECT DISTINCT * FROM z LEFT JOIN a USING (id) WHERE id = 2", "id,x,y\n2,20,\n"),
        ("CREATE VIEW v AS SELECT * FROM z LEFT JOIN a USING (id); SELECT max(id) AS m FROM v", "m\n2\n"),
        // Either table has the same values.
        ("SELECT * EXCLUDE (x) FROM z JOIN a USING (id)", "id,y\n1,100\n"),
        ("SELECT * FROM z NATURAL JOIN a", "x,id,y\n10,1,100\n"),
        ("SELECT x, y FROM z NATURAL LEFT JOIN a ORDER BY x", "x,y\n10,100\n20,\n"),
    ] {
        let ended = run(query);
        assert_eq!((ended.code, ended.text()), (Some(0), expected), "{query}: {}", ended.err);
    }
    for query in [
        "SELECT * FROM z NATURAL LEFT JOIN a",
        "SELECT * FROM z NATURAL JOIN a NATURAL JOIN 'b.csv'",
        "SELECT * EXCLUDE (y) FROM z LEFT JOIN a USING (id)",
        "SELECT * FROM z LEFT JOIN (SELECT * FROM a) USING (id)",
        "SELECT * FROM z LEFT JOIN (a CROSS JOIN 'b.csv' AS b) USING (id)",
        "SELECT * FROM (z NATURAL LEFT JOIN a) JOIN 'b.csv' AS b ON z.id = b.id",
    ] {
        let ended = run(query);
        assert!(
            ended.code == Some(1) && ended.err.contains("* of these tables is not supported"),
            "{query}: {}",
            ended.err
        );
    }
}

#[test]
fn an_explained_query_that_cannot_be_planned_is_an_error() {
    let place = Place::with([("in.csv", "n\n1\n")]);
    for query in ["SELECT * FROM 'in.csv' WHERE n = 'x'", "CREATE TABLE t AS SELECT n = 'x' AS is_x FROM 'in.csv'"] {
        for sql in [query.to_owned(), format!("EXPLAIN {query}"), format!("EXPLAIN VERBOSE {query}")] {
            let ended = place.run_with(["sql", &sql], "");
            assert_eq!((ended.code, ended.text()), (Some(1), ""), "{sql}");
            assert!(ended.err.contains("Cannot cast string 'x'"), "{sql}: {}", ended.err);
        }
    }
    for query in ["CREATE TABLE t AS SELECT 1", "PREPARE p AS SELECT 1", "SHOW TABLES"] {
        place.sql(&format!("EXPLAIN {query}"));
    }
}

#[test]
fn outer_joins_with_conditions_are_the_same_in_little_memory() {
    let place = Place::new();
    let rows = "CREATE TABLE a AS SELECT * FROM (VALUES (1, 1), (1, 5), (2, 2), (NULL, 3)) AS t (k, v); ";
    for join in ["LEFT", "RIGHT", "FULL"] {
        let sql = format!(
            "{rows}SELECT a.k, a.v, b.k AS k2, b.v AS v2 FROM a {join} JOIN a AS b ON a.k = b.k AND a.v < b.v ORDER BY 1, 2, 3, 4"
        );
        let ended = place.run_with(["sql", &sql, "--format", "ndjson", "--memory", "1GiB"], "");
        assert_eq!(ended.code, Some(0), "{join}: {}", ended.err);
        assert_eq!(crate::program::json_lines(ended.text()), place.sql(&sql), "{join}");
    }
}

#[test]
fn a_file_is_not_dropped() {
    let place = Place::with([("in.csv", "n\n1\n")]);
    let ended = place.run_with(["sql", "DROP TABLE 'in.csv'"], "");
    assert!(ended.code == Some(1) && ended.err.contains("in.csv is a file, and no table"), "{}", ended.err);
    place.ok("sql CREATE\tTABLE\tt\tAS\tSELECT\t1;DROP\tTABLE\tt");
    let ended = place.run_with(["sql", "COPY (SELECT 1) TO 's3://box/x'"], "");
    assert!(ended.err.contains("COPY would leave half a file"), "{}", ended.err);
}

#[test]
fn what_is_typed_has_a_place_for_each_result() {
    let place = Place::with([("in.jsonl", &jsonl([("a", "One."), ("b", "One.")]))]);
    let mut shell = Terminal::shell(&place);
    shell.line("\\o c.csv");
    let shown = shell.line("SELECT id_a FROM pairs('in.jsonl', capped => 'c.csv');");
    assert!(shown.contains("c.csv is named for two results"), "{shown}");
    // The file of `\o` still waits for a result, and a statement may be run once more.
    shell.line("SELECT id_a FROM pairs('in.jsonl', capped => 'd.csv');");
    assert_eq!(place.read("c.csv"), b"id_a\na\n");
    let shown = shell.line("SELECT id_a FROM pairs('in.jsonl', capped => 'd.csv');");
    assert!(shown.contains("| id_a |"), "{shown}");
    shell.press("\\q\r");
    assert_eq!(shell.end().0, Some(0));
}

#[test]
fn the_history_has_no_secrets() {
    let place = Place::new();
    let mut shell = Terminal::shell(&place);
    shell.line("\\set passages seen");
    shell.line("SELECT 'remember me';");
    shell.line("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv' OPTIONS ('aws.secret_access_key' 'hush');");
    shell.line("\\set password hush");
    shell.line("SELECT 1; SET x.token = 'hush';");
    shell.line("SELECT 1; \\set key hush");
    shell.line("\\set pw hush");
    shell.line("SELECT 'AccountKey=hush;EndpointSuffix=core';");
    let shown = shell.line("SELEC 'https://me:hush@example.org/';");
    assert!(shown.contains("column 1"), "{shown}");
    // A line that is not recorded does not come back with the arrow key, either.
    shell.press("\x1b[A");
    shell.wait_for("remember me");
    shell.interrupt();
    shell.press("\x04");
    assert_eq!(shell.end().0, Some(0));
    assert!(history(&place).contains("remember me") && !history(&place).contains("hush"), "{}", history(&place));
    assert!(history(&place).contains("\\set passages seen"), "{}", history(&place));
    let mode = |path: &str| std::fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state/ibid/history"), mode("state/ibid")), (0o600, 0o700));
    let files = std::fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let files: Vec<_> = files.filter(|name| name.to_string_lossy().contains("history")).collect();
    assert!(files.is_empty(), "{files:?}");
    // The next shell has the history, and keeps it to its owner.
    std::fs::set_permissions(place.path("state/ibid/history"), PermissionsExt::from_mode(0o644)).unwrap();
    let mut shell = Terminal::shell(&place);
    shell.press("\x1b[A");
    shell.wait_for("remember me");
    assert_eq!(mode("state/ibid/history"), 0o600);
    shell.interrupt();
    shell.press("\x04");
    assert_eq!(shell.end().0, Some(0));
}

#[test]
fn names_are_completed() {
    let place = Place::with([("verses.csv", "stanza\nOne.\n")]);
    let mut shell = Terminal::shell(&place);
    shell.line("CREATE TABLE documents AS SELECT 1 AS doc_id;");
    let shown = shell.line("SELECT max(doc_\t) AS m FROM docu\t;");
    assert!(shown.contains("| m |"), "{shown}");
    let shown = shell.line("SELECT jacc\t[1], [1]) AS j FROM 'vers\t';");
    assert!(shown.contains("| j   |"), "{shown}");
    // The columns of files are completed once the files were read.
    let shown = shell.line("SELECT stan\t FROM 'vers\t';");
    assert!(shown.contains("| stanza |"), "{shown}");
    let shown = shell.line("\\timi\t off");
    assert!(!shown.contains("there is no command"), "{shown}");
    let shown = shell.line("SELECT 1 AS x;");
    assert!(shown.contains("1 row\r"), "{shown}");
}

#[test]
fn nothing_of_a_document_commands_the_terminal() {
    let evil = "clear \u{1b}[2J ring \u{7} c1 \u{9b}31m turn \u{202e}gnirts back\r end";
    let place = Place::new();
    place.write("evil.jsonl", jsonl([("a\u{1b}[31m", evil), ("b\u{9b}", evil)]));
    let sql = "SELECT id, text FROM 'evil.jsonl'";
    place.write("evil.sql", sql);
    let commands = |shown: &str| {
        // The shell itself writes ends of lines between the results.
        shown.replace("\r\n", "\n").contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}')
    };
    for line in [
        "sql -q -f evil.sql",
        "sql -q -f evil.sql --format csv",
        "sql -q -f evil.sql --format ndjson",
        "sql -q -f evil.sql --format csv -o /dev/stdout",
        "pairs evil.jsonl --threshold 0.1 -q",
        "pairs evil.jsonl --threshold 0.1 -q --format ndjson",
        "pairs evil.jsonl --unit sentence --max-frequency 1 --signature characters:3",
        "explain pairs evil.jsonl -q",
    ] {
        let (code, shown) = Terminal::open(&place, line).end();
        assert_eq!(code, Some(0), "{line}: {shown}");
        // A spinner moves the cursor, and ends before the output.
        let said = shown.rsplit("\u{1b}[2K").next().unwrap();
        assert!(!commands(said), "{line}: {said:?}");
        assert!(shown.contains(r"\u{") || shown.contains(r"\u001b["), "{line}: {shown}");
    }
    // Output to a pipe is not changed.
    let csv = place.ok("sql -f evil.sql --format csv");
    assert!(csv.contains("\u{1b}[2J") && csv.contains('\u{9b}') && csv.contains('\u{202e}'), "{csv:?}");
    assert!(place.ok("sql -f evil.sql").contains("\u{1b}[2J"));
    let said = Terminal::open(&place, "sql -f evil.sql --format parquet").end();
    assert!(said.0 == Some(1) && said.1.contains("cannot print Parquet to a terminal"), "{}", said.1);
}

/// An expression that panics in DataFusion, because of a number that is too large. Any other expression that panics
/// would do.
const PANICS: &str = "approx_percentile_cont(CAST(value AS DOUBLE), 0.5, 18446744073709551615)";

#[test]
fn a_panic_ends_a_command_and_leaves_the_old_result() {
    let place = Place::with([("out.csv", "the old result")]);
    // On the thread of the command, and on those of the query engine.
    for query in ["SELECT PANICS FROM range(3)", "SELECT value % 7 AS k, PANICS FROM t GROUP BY k"] {
        let query = query.replace("PANICS", PANICS);
        place.write("panic.sql", format!("CREATE TABLE t AS SELECT value FROM range(100000);\n{query};\nSELECT 3"));
        let said = place.fails(1, "sql -f panic.sql -o out.csv");
        assert!(said.contains("internal error") && said.contains("please report it"), "{said}");
        assert_eq!(place.read("out.csv"), b"the old result");
        assert_eq!(place.names(), ["out.csv", "panic.sql"]);
        assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0, "{query}");
    }
    let mut shell = Terminal::shell(&place);
    assert!(shell.line(&format!("SELECT {PANICS} FROM range(3);")).contains("internal error"));
    assert!(shell.line("SELECT 40 + 2 AS sum;").contains("42"));
}

#[test]
fn a_script_ends_where_it_fails() {
    let place = Place::with([
        ("bad.sql", "SELECT 1 AS one;\n\n-- a word\nSELECT 2 +\n  jacard([1], [1]);\nSELECT 3 AS three;"),
        ("open.sql", "SELECT 1 AS one;\nSELECT 'two"),
        ("outer.sql", "SELECT 0 AS zero;\n\\i bad.sql\nSELECT 4 AS four;"),
        ("self.sql", "\\i self.sql"),
        (
            "commands.sql",
            "CREATE TABLE t AS SELECT 1 AS n;\n\\d\n\\d t\n\\set n 2\nSELECT n + $n AS n FROM t;\n\\q\nSELECT 9",
        ),
    ]);
    for (name, out, says) in [
        ("bad.sql", "one\n1\n", "ibid: bad.sql, line 5, column 3: "),
        ("open.sql", "one\n1\n", "ibid: open.sql, line 2, column 8: Unterminated string literal"),
        ("outer.sql", "zero\n0\none\n1\n", "ibid: bad.sql, line 5, column 3: "),
        ("self.sql", "", "self.sql is included too deep"),
    ] {
        let script = String::from_utf8(place.read(name)).unwrap();
        let ended = place.run(&format!("sql -f {name} --format csv"));
        assert_eq!((ended.code, ended.text()), (Some(1), out), "{name}: {}", ended.err);
        assert!(ended.err.contains(says), "{name}: {}", ended.err);
        let ended = place.run_with(["sql", "--format", "csv"], &script);
        assert_eq!((ended.code, ended.text()), (Some(1), out), "{name} in a pipe: {}", ended.err);
        let ended = place.run_with(["sql", "--format", "csv", "-c", &script], "");
        assert_eq!((ended.code, ended.text()), (Some(1), out), "{name} with -c: {}", ended.err);
    }
    let said = place.fails(1, "sql -f bad.sql");
    assert!(said.contains("Did you mean 'jaccard'?") && said.ends_with("    jacard([1], [1])\n    ^\n"), "{said}");
    let out = place.ok("sql -f commands.sql --format csv");
    assert_eq!(out, "name,kind\nt,table\ncolumn,type,nullable\nn,Int64,false\nn\n3\n");
}

#[test]
fn mistakes_are_answered_with_what_may_have_been_meant() {
    let place = Place::with([
        ("reuse.csv", "doc_a\nx\n"),
        ("folder/documents.csv", "id\n1\n"),
        ("notes.txt", "One.\n"),
        ("data", "One.\n"),
    ]);
    let fails = |sql: &str, says: &[&str]| {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!((ended.code, ended.out.len()), (Some(1), 0), "{sql}");
        assert!(says.iter().all(|part| ended.err.contains(part)), "{sql}: {}", ended.err);
    };
    fails("SELECT jacard([1], [2])", &["line 1, column 8", "Did you mean 'jaccard'?"]);
    let made = "CREATE VIEW documents AS SELECT 1 AS doc_id; ";
    let table = place.run_with(["sql", &format!("{made}SELECT 1 FROM docments")], "").err;
    assert!(table.contains("Did you mean documents? There are documents"), "{table}");
    assert!(table.contains("SQL, line 1, column 60"), "{table}");
    fails("SELECT doca FROM 'reuse.csv'", &["line 1, column 8", "Did you mean", "doc_a"]);
    fails("FROM 'reuse.csv' WHERE 1 = 1", &["line 1, column 18", "FROM 'file.parquet' SELECT * WHERE"]);
    fails("SELECT 1 FROM reuse", &["Did you mean the file 'reuse.csv'?"]);
    fails("SELECT 1 FROM 'reus.csv'", &["there is no file reus.csv", "Did you mean reuse.csv?"]);
    fails("SELECT 1 FROM 'folder/document.csv'", &["Did you mean folder/documents.csv?"]);
    fails("SELECT 1 FROM passage('x')", &["Did you mean passages?"]);
    fails("SELECT 1 FROM passages('x', treshold => 1)", &["there is no parameter treshold. Did you mean threshold?"]);
    fails("SELECT 1 FROM passages('x', threshold => 7)", &["--threshold is a number above 0 and up to 1"]);
    fails("SELECT 1 FROM passages('nowhere')", &["nowhere does not exist"]);
    fails("SET ibid.gpuu = on", &["Did you mean ibid.gpu?"]);
    fails("SET ibid.similarity_join.strateg = auto", &["Did you mean ibid.similarity_join.strategy?"]);
    fails(
        "SELECT 1, hamming('a')",
        &["line 1, column 11", "requires 2 arguments, got 1. Write hamming(a, b); \\df hamming"],
    );
    fails("SELECT (1 +\n2", &["line 2, column 2: ", "\n  2\n   ^\n"]);
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION";
    fails(&format!("{made} 'folder/document.csv'"), &["line 1, column 48", "folder/documents.csv?"]);
    fails("\\fromat csv", &["Did you mean \\format?"]);
    let said = place.fails(1, "sql -f reus.csv");
    assert!(said.contains("cannot read reus.csv: ") && said.contains("Did you mean reuse.csv?"), "{said}");
    fails("SELECT 1 FROM passages", &["Did you mean passages('…')?"]);
    fails("SELECT 1 FROM reuse.csv", &["The name of a file stands in quotes: 'reuse.csv'"]);
    fails("SELECT 1 FROM 'reuse.cvs'", &["Did you mean reuse.csv?"]);
    fails("SELECT 1 FROM read_csv('reuse.csv')", &["Files are named themselves: FROM 'file.parquet'"]);
    for file in ["notes.txt", "data", "./data"] {
        let says = format!("{} in FROM: it takes .parquet, .csv,", file.trim_start_matches("./"));
        fails(
            &format!("SELECT 1 FROM '{file}'"),
            &[says.as_str(), "CREATE EXTERNAL TABLE … STORED AS", "text and HTML by ibid ingest"],
        );
    }
    let said = place.run_with(["sql", "SELECT 1 FROM 'notes.txt'"], "").err;
    assert!(said.contains("line 1, column 15: cannot read notes.txt") && !said.contains("not found"), "{said}");
    let made = "CREATE TABLE verses AS SELECT 1 AS n; CREATE VIEW lines AS SELECT 2 AS n; DROP";
    fails(&format!("{made} TABLE verse"), &["line 1, column 86", "Did you mean verses? There are lines, verses"]);
    fails(&format!("{made} VIEW line"), &["Did you mean lines?"]);
    fails(&format!("{made} TABLE lines"), &["It is a view: write DROP VIEW lines"]);
    fails(&format!("{made} VIEW verses"), &["It is a table: write DROP TABLE verses"]);
    // A line that has a secret is not shown.
    let said = place.run_with(["sql", "SET x.secret_access_key = 'hush' hush"], "").err;
    assert!(!said.contains("'hush'"), "{said}");
}

/// Checks that a query and a command give the same rows, in any order.
fn same_rows(place: &Place, sql: &str, command: &str) {
    let sorted = |mut rows: Vec<Value>| {
        rows.sort_by_key(Value::to_string);
        rows
    };
    let ended = place.run_with(["sql", sql, "--format", "ndjson", "-q"], "");
    assert_eq!(ended.code, Some(0), "{sql}: {}", ended.err);
    let rows = place.rows(&format!("{command} -q"));
    assert!(!rows.is_empty(), "{command}");
    assert_eq!(sorted(json_lines(ended.text())), sorted(rows), "{sql}");
}

#[test]
fn methods_are_functions_of_tables() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(60, 3)), ("more.jsonl", &collection_jsonl(40, 3))]);
    place.ok("ingest docs.jsonl -o it's");
    for (sql, command) in [
        ("SELECT * FROM passages('it''s')", "passages it's"),
        ("SELECT p.* FROM passages('docs.jsonl', profile => 'edited') AS p", "passages docs.jsonl --profile edited"),
        (
            "SELECT * FROM pairs('it''s', unit => 'sentence', threshold => 0.5)",
            "pairs it's --unit sentence --threshold 0.5",
        ),
        ("SELECT * FROM pairs('it''s', threshold => 0.1, within_documents => false)", "pairs it's --threshold 0.1"),
        ("SELECT * FROM containment('it''s', threshold => 0.1)", "containment it's --threshold 0.1"),
        (
            "SELECT * FROM search('it''s', queries => 'more.jsonl', unit => 'document')",
            "search it's --queries more.jsonl --unit document",
        ),
        (
            "SELECT * FROM threads('docs.jsonl', field => ['text=1'], threshold => 0.1)",
            "threads docs.jsonl --field text=1 --threshold 0.1",
        ),
        ("CREATE VIEW v AS SELECT * FROM passages('it''s'); SELECT * FROM v", "passages it's"),
        ("CREATE TABLE t AS SELECT * FROM passages('it''s'); SELECT * FROM t", "passages it's"),
        (
            "WITH p AS (SELECT * FROM passages('it''s')) SELECT passages.* FROM p JOIN passages('it''s') USING (doc_a, doc_b, sent_a_start, sent_b_start)",
            "passages it's",
        ),
    ] {
        same_rows(&place, sql, command);
    }
    place.ok("passages it's --common 2 -o reuse/ -q");
    for table in ["families", "coverage"] {
        let rows = place.sql(&format!("SELECT * FROM {table}('it''s', common => 2)"));
        assert!(!rows.is_empty() && rows == place.sql(&format!("SELECT * FROM 'reuse/{table}.parquet'")), "{table}");
    }
    place.ok("clusters it's --threshold 0.5 -o groups -q");
    let clusters = place.sql("SELECT * FROM clusters('it''s', threshold => 0.5)");
    assert!(!clusters.is_empty() && clusters == place.sql("SELECT * FROM 'groups/clusters.parquet'"));
    let joined = "SELECT count(*) = (SELECT count(*) FROM passages('it''s')) AS same FROM passages('it''s') AS a LEFT JOIN \
                  pairs('it''s', threshold => 0.2) AS b ON a.doc_a = b.id_a AND a.doc_b = b.id_b";
    assert_eq!(place.sql(joined), [json!({"same": true})]);
    // The call prints the same messages as the command.
    let said = place.run_with(["sql", "SELECT count(*) FROM passages('it''s')"], "").err;
    assert!(said.contains("ibid: documents 60, document pairs "), "{said}");
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
}

/// Returns the peak memory of a run, in KiB, and the number of lines that it printed.
fn peak(place: &Place, sql: &str, format: &str) -> (u64, u64) {
    let mut command = place.command(["sql", sql, "--format", format, "--threads", "2"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut part, mut lines) = (vec![0; 1 << 16], 0);
    let mut peak = 0;
    while let Ok(n @ 1..) = out.read(&mut part) {
        lines += part[..n].iter().filter(|byte| **byte == b'\n').count() as u64;
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.map_or(peak, |line| line.trim().trim_end_matches(" kB").parse().unwrap());
    }
    assert!(child.wait().unwrap().success());
    (peak, lines)
}

#[test]
fn results_of_any_size_are_complete_and_take_little_memory() {
    let place = Place::new();
    let rows = 1_500_000;
    let sql = format!("SELECT value, 'a text of some length that stands in every row' AS text FROM range({rows})");
    for (format, further) in [("table", 5), ("csv", 1), ("ndjson", 0)] {
        let (peak, lines) = peak(&place, &sql, format);
        assert_eq!(lines, rows + further, "{format}");
        assert!(peak < 160 << 10, "{format}: {peak} KiB");
    }
}

#[test]
fn parquet_goes_through_a_pipe() {
    let place = Place::new();
    let ended = place.run_with(["sql", "SELECT value FROM range(300000)", "--format", "parquet"], "");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    std::fs::write(place.path("piped.parquet"), &ended.out).unwrap();
    assert_eq!(place.sql("SELECT count(*) AS n FROM 'piped.parquet'"), [json!({"n": 300_000})]);
}

#[test]
fn what_a_file_cannot_hold_is_an_error() {
    let place = Place::new();
    let says = |arguments: &[&str]| {
        let ended = place.run_with(["sql"].iter().chain(arguments).copied(), "");
        assert_eq!(ended.code, Some(1), "{arguments:?}");
        ended.err
    };
    assert!(says(&["SELECT 1; SELECT 2", "--format", "parquet"]).contains("more than one result"));
    let twice = "SELECT a.n, b.n FROM (SELECT 1 AS n) AS a CROSS JOIN (SELECT 2 AS n) AS b";
    for said in [
        says(&[&format!("CREATE TABLE d AS {twice}")]),
        says(&[twice, "-o", "out.parquet"]),
        says(&[twice, "--format", "ndjson"]),
    ] {
        assert!(said.contains("several columns named n") && said.contains("AS n_a"), "{said}");
    }
    for interval in ["INTERVAL '1 day'", "[INTERVAL '1 month']"] {
        let interval = format!("SELECT {interval} AS took");
        for said in [says(&[&format!("CREATE TABLE d AS {interval}")]), says(&[&interval, "-o", "out.parquet"])] {
            assert!(said.contains("took") || said.contains("item"), "{said}");
            assert!(said.contains("has intervals, which Parquet cannot hold; write CAST("), "{said}");
        }
    }
    let rounded = "SELECT arrow_cast(110, 'Decimal128(5, -2)') AS v";
    assert!(says(&[rounded, "--format", "ndjson"]).contains("Decimal128(5, -2), which JSON lines cannot hold"));
    assert_eq!(place.names(), Vec::<String>::new());
    assert!(place.run_with(["sql", twice], "").text().contains("| n | n |"));
}

#[test]
fn tables_have_the_names_that_are_written() {
    let place = Place::new();
    for (name, other) in [("\"MyT\"", "myt"), ("\"a.b\"", "a.b"), ("s.t", "t")] {
        let rows = place.sql(&format!("CREATE SCHEMA s; CREATE TABLE {name} AS SELECT 1 AS n; SELECT * FROM {name}"));
        assert_eq!(rows, [json!({"n": 1})], "{name}");
        let sql = format!("CREATE SCHEMA s; CREATE TABLE {name} AS SELECT 1 AS n; SELECT * FROM {other}");
        assert_eq!(place.run_with(["sql", &sql], "").code, Some(1), "{other}");
    }
}

#[test]
fn what_goes_elsewhere_is_written_when_nobody_reads_the_output() {
    let place = Place::with([
        ("more.sql", "SELECT * FROM range(3000000);\n\\o after.csv\nSELECT 1 AS n;"),
        ("fails.sql", "SELECT * FROM range(3000000);\nSELECT boom;"),
    ]);
    let code = |line: &str| {
        let mut child = place.command(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    };
    assert_eq!(code("sql -f more.sql"), Some(0));
    assert_eq!(place.read("after.csv"), b"n\n1\n");
    assert_eq!(code("sql -f fails.sql"), Some(1));
    place.write("includes.sql", "\\i fails.sql");
    assert_eq!(code("sql -f includes.sql"), Some(1));
    for format in ["table", "csv", "ndjson", "parquet"] {
        place.write("rows.sql", "SELECT * FROM range(3000000);");
        assert_eq!(code(&format!("sql -f rows.sql --format {format}")), Some(0), "{format}");
    }
    assert_eq!(code("completions bash"), Some(0));
}

#[test]
fn a_result_notes_the_parameters_of_its_statements_and_no_secret() {
    let place = Place::new();
    let sql = "CREATE TABLE t AS SELECT $n AS n, length($password || $pw) AS l, $author AS a; SELECT * FROM t";
    let parameters = "-p password=hunter2 -p n=7 -p other=hunter3 -p pw=hunter4 -p author=Ann".split(' ');
    let arguments = parameters.chain(["-o", "x.parquet", "--resume", "kept"]);
    let ended = place.run_with(["sql", sql].into_iter().chain(arguments), "");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let footer = String::from_utf8_lossy(&place.read("x.parquet")).into_owned();
    let noted = r#""parameters":{"author":"'Ann'","n":"7","password":"'***'","pw":"'***'"}"#;
    assert!(footer.contains(noted) && !footer.contains("hunter"), "{footer}");
    assert!(footer.contains(&format!(r#""ibid":"{}""#, env!("CARGO_PKG_VERSION"))), "{footer}");
    let kept = std::fs::read_dir(place.path("kept")).unwrap().next().unwrap().unwrap().path();
    let manifest = std::fs::read_to_string(kept.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"key\"") && !manifest.contains("hunter"), "{manifest}");
}

#[test]
fn a_byte_order_mark_is_no_statement() {
    let place = Place::with([("marked.sql", "\u{feff}SELECT 1 AS n;")]);
    assert_eq!(place.ok("sql -f marked.sql --format csv"), "n\n1\n");
}

#[test]
fn quit_and_exit_end_the_shell() {
    let place = Place::new();
    for word in ["quit", "EXIT;"] {
        let mut shell = Terminal::shell(&place);
        shell.press(&format!("{word}\r"));
        assert_eq!(shell.end().0, Some(0), "{word}");
    }
}

#[test]
fn spreadsheets_get_no_formulas_on_request() {
    let place = Place::with([("x.jsonl", &jsonl([("=1+1", "One two three."), ("@b", "One two three.")]))]);
    assert_eq!(place.ok("pairs x.jsonl --format csv -q"), "id_a,id_b,similarity\n=1+1,@b,1.0\n");
    assert_eq!(place.ok("pairs x.jsonl --format csv -q --csv-safe"), "id_a,id_b,similarity\n'=1+1,'@b,1.0\n");
    let ended = place.run_with(["sql", "SELECT -1 AS n, '-1' AS t", "--format", "csv", "--csv-safe"], "");
    assert_eq!(ended.text(), "n,t\n-1,'-1\n");
    place.ok("pairs x.jsonl --csv-safe --max-frequency 1 --capped capped.csv -o out.csv -q");
    assert!(String::from_utf8(place.read("capped.csv")).unwrap().contains(",'=1+1"), "{:?}", place.read("capped.csv"));
}

#[test]
fn functions_are_described() {
    let place = Place::new();
    let csv = |command: &str| {
        let ended = place.run_with(["sql", "--format", "csv"], command);
        assert_eq!(ended.code, Some(0), "{command}: {}", ended.err);
        ended.text().to_owned()
    };
    let all = csv("\\df");
    for name in ["jaccard", "sentences", "diagonals", "row_number", "passages", "generate_series"] {
        assert!(all.lines().any(|line| line.starts_with(&format!("{name},"))), "{name}");
    }
    let some = csv("\\df *jaccard");
    assert!(some.lines().skip(1).all(|line| line.contains("jaccard")) && some.lines().count() > 1, "{some}");
    let one = csv("\\df shingles");
    assert!(one.starts_with("shingles(") && one.contains("* ") && one.contains("SELECT"), "{one}");
    let method = csv("\\df passages");
    assert!(method.contains("* min_sentences: The least number"), "{method}");
    assert!(csv("\\?").contains("\\timing"));
}

/// The names of the folders give the values of columns.
#[test]
fn folders_can_be_partitions() {
    let place = Place::new();
    for (year, n) in [(2023, 3), (2024, 5)] {
        for month in ["01", "02"] {
            let folder = format!("by/year={year}/month={month}");
            std::fs::create_dir_all(place.path(&folder)).unwrap();
            let ended =
                place.run_with(["sql", &format!("SELECT * FROM range({n})"), "-o", &format!("{folder}/x.parquet")], "");
            assert_eq!(ended.code, Some(0), "{}", ended.err);
        }
    }
    let counted = |from: &str| {
        place.sql(&format!("SELECT year, count(*) AS n FROM {from} WHERE month = '02' GROUP BY year ORDER BY year"))
    };
    let expected = [json!({"year": "2023", "n": 3}), json!({"year": "2024", "n": 5})];
    for from in ["'by'", "'by/'", "'by/**/*.parquet'"] {
        assert_eq!(counted(from), expected, "{from}");
    }
    let made = "CREATE EXTERNAL TABLE t STORED AS PARQUET PARTITIONED BY (year, month) LOCATION 'by/'; ";
    assert_eq!(
        place.sql(&format!("{made}SELECT DISTINCT year FROM t ORDER BY year")),
        ["2023", "2024"].map(|year| json!({"year": year}))
    );
}

#[test]
fn folders_are_found_by_the_values_that_they_stand_for() {
    let place = Place::new();
    for (n, folder) in ["a:b", "a%3Ab", "c~", "%64", "d", "e f", "e%20f"].iter().enumerate() {
        place.write(&format!("k/k={folder}/x.csv"), format!("n\n{n}\n"));
    }
    for month in ["1", "01", "2"] {
        place.write(&format!("m/month={month}/x.csv"), "n\n1\n");
    }
    let counted = place.sql("SELECT k, count(*) AS n FROM 'k' GROUP BY k ORDER BY k");
    let values = [("a:b", 2), ("c~", 1), ("d", 2), ("e f", 2)];
    assert_eq!(counted, values.map(|(k, n)| json!({"k": k, "n": n})));
    for (k, n) in values {
        for condition in [format!("k = '{k}'"), format!("'{k}' = k AND n >= 0"), format!("k LIKE '{k}'")] {
            let found = place.sql(&format!("SELECT count(*) AS n FROM 'k' WHERE {condition}"));
            assert_eq!(found, [json!({"n": n})], "{condition}");
        }
    }
    let made = "CREATE EXTERNAL TABLE t (n INT, month INT) STORED AS CSV PARTITIONED BY (month) LOCATION 'm/' \
                OPTIONS ('format.has_header' 'true'); ";
    assert_eq!(place.sql(&format!("{made}SELECT count(*) AS n FROM t WHERE month = 1")), [json!({"n": 2})]);
}

#[test]
fn timestamps_of_int96_may_be_of_any_year() {
    let place = Place::new();
    let schema = Arc::new(parse_message_type("message t { required binary text (UTF8); required int96 at; }").unwrap());
    let mut file =
        SerializedFileWriter::new(File::create(place.path("a.parquet")).unwrap(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&["One.".into(), "Two.".into()], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // Nanoseconds of the day, followed by days since 4714 BC: 0001-01-01, and the last microsecond of 9999-12-31.
    let (mut first, mut last) = (Int96::new(), Int96::new());
    first.set_data(0, 0, 1_721_426);
    let nanoseconds = 86_399_999_999_000_u64;
    let [low, high] = [nanoseconds & 0xFFFF_FFFF, nanoseconds >> 32].map(|part| u32::try_from(part).unwrap());
    last.set_data(low, high, 5_373_484);
    column.typed::<Int96Type>().write_batch(&[first, last], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    place.ok("ingest a.parquet -o corpus");
    for from in ["a.parquet", "corpus/documents.parquet"] {
        let times = ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"].map(|at| json!({"at": at}));
        assert_eq!(place.sql(&format!("SELECT CAST(at AS TEXT) AS at FROM '{from}' ORDER BY at")), times, "{from}");
    }
}

#[test]
fn folders_and_patterns_name_all_that_is_below() {
    let place = Place::new();
    for (file, value) in [
        ("n/1.csv", 1),
        ("n/2.csv", 2),
        ("n/deep/er/3.csv", 4),
        ("n/_b.csv", 8),
        ("n/.c.csv", 16),
        ("hive/year=2023/lang=en/x.csv", 32),
        ("hive/year=2024/lang=de/x.csv", 64),
    ] {
        place.write(file, format!("a\n{value}\n"));
    }
    for (from, sum) in [
        ("'n'", 7),
        ("'n/'", 7),
        ("'n/**/*.csv'", 7),
        ("'n/*.csv'", 3),
        ("'n/{1,2}.csv'", 3),
        ("'n/[2-9].csv'", 2),
        ("'n/*/*/*.csv'", 4),
        ("'n/deep/../1.csv'", 1),
        ("(SELECT a FROM 'n/' UNION ALL SELECT a FROM 'n/*.csv')", 10),
        ("'hive/*/*/*.csv'", 96),
        ("'hive/year=*/lang=en/*.csv'", 32),
        ("'hive/' WHERE year = '2024'", 64),
    ] {
        assert_eq!(place.sql(&format!("SELECT sum(a) AS s FROM {from}")), [json!({"s": sum})], "{from}");
    }
    let made = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'n/deep/'; ";
    assert_eq!(place.sql(&format!("{made}SELECT sum(a) AS s FROM t")), [json!({"s": 4})]);
}

#[test]
fn files_that_do_not_go_together_are_no_table() {
    let place = Place::new();
    let line = "{\"a\": 1}\n";
    place.write("packed/a.jsonl", line);
    place.write("packed/b.jsonl.gz", pack("gzip", line));
    place.write("both/a.csv.gz", pack("gzip", "a\n1\n"));
    place.write("both/b.jsonl.gz", pack("gzip", line));
    place.write("read/a.csv", "a\n1\n");
    place.write("read/README.md", "Read me.");
    place.write("order/1.csv", "a,b\nx1,y1\n");
    place.write("order/2.csv", "b,a\ny2,x2\n");
    place.write("fewer/1.csv", "a,b\nx1,y1\n");
    place.write("fewer/2.csv", "a\nx2\n");
    place.write("parts/2.parquet", "");
    place.ok("sql SELECT(1) -o parts/1.parquet");
    place.write("twice.csv", "a,b,a\n1,2,3\n");
    place.write("unnamed.csv", ",\n1,2\n");
    let column = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let field = |name| Field::new(name, DataType::Int64, true);
    let schema = Arc::new(Schema::new(vec![field("id"), field("id"), field("text")]));
    let rows = RecordBatch::try_new(Arc::clone(&schema), vec![column(), column(), column()]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(place.path("twice.parquet")).unwrap(), schema, None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    for (from, said) in [
        ("packed/", "packed/a.jsonl and "),
        ("both/", "names files of different kinds"),
        ("read/", "read/README.md and "),
        ("read/README.md", "read/README.md in FROM: it takes .parquet"),
        ("order/", "/order/2.csv: its columns are b, a, and those of "),
        ("fewer/", "fewer/2.csv: its columns are a, and those of "),
        ("twice.csv", "/twice.csv: two columns are called \"a\": rename one"),
        ("unnamed.csv", "/unnamed.csv: two columns are called \"\": rename one"),
        ("twice.parquet", "/twice.parquet: two columns are called \"id\": rename one"),
        ("parts/", "parts/2.parquet is empty, 0 bytes, no Parquet"),
        ("parts/2.parquet", "parts/2.parquet is empty, 0 bytes, no Parquet"),
    ] {
        let ended = place.run_with(["sql", &format!("SELECT * FROM '{from}'")], "");
        assert_eq!(ended.code, Some(1), "{from}: {}", ended.text());
        assert!(ended.err.contains(said), "{from}: {}", ended.err);
    }
}

#[test]
fn columns_are_those_of_the_first_records_of_each_file() {
    let place = Place::new();
    place.write("late/1.jsonl", "{\"a\": 1}\n".repeat(2000));
    place.write("late/2.jsonl", "{\"a\": 0.5, \"b\": \"x\"}\n");
    place.write("text/1.csv", "a\n".to_owned() + &"1\n".repeat(2000));
    place.write("text/2.csv", "a\nx\n");
    assert_eq!(place.sql("SELECT sum(a) AS s, max(b) AS b FROM 'late/'"), [json!({"s": 2000.5, "b": "x"})]);
    assert_eq!(place.sql("SELECT max(a) AS a FROM 'text/'"), [json!({"a": "x"})]);
    place.write("empty/1.csv", "a,b\n".to_owned() + &"1,\n".repeat(1000) + "2,3\n");
    place.write("empty/2.csv", "a,b\n3,4\n");
    for (from, kind, n) in [("empty/1.csv", "Utf8", 1), ("empty/", "Int64", 2)] {
        let sql = format!("SELECT arrow_typeof(max(b)) AS kind, count(b) AS n FROM '{from}'");
        assert_eq!(place.sql(&sql), [json!({"kind": kind, "n": n})], "{from}");
    }
    place.write("within/1.jsonl", "{\"a\": {\"b\": 1, \"c\": [1]}}\n");
    place.write("within/2.jsonl", "{\"a\": {\"b\": 2.9, \"c\": [0.5], \"d\": true}}\n{\"a\": null}\n");
    let rows = place.sql("SELECT sum(a['b']) AS b, sum(a['c'][1]) AS c, max(a['d']) AS d FROM 'within/'");
    assert_eq!(rows, [json!({"b": 3.9, "c": 1.5, "d": true})]);
}

#[test]
fn numbers_beside_texts_of_json_are_text_as_they_are_written() {
    let place = Place::with([
        ("mixed.jsonl", "{\"a\":\"x\",\"l\":[\"y\"]}\n{\"a\":1.50,\"l\":[2]}\n{\"a\":true,\"l\":[]}\n"),
        ("late.jsonl", &("{\"a\":1}\n".repeat(1000) + "{\"a\":\"x\"}\n")),
        ("sparse.jsonl", &("{\"a\":null}\n".repeat(1000) + "{\"a\":1e3}\n")),
    ]);
    let rows = place.sql("SELECT a, l[1] AS l FROM 'mixed.jsonl'");
    assert_eq!(rows, [json!({"a": "x", "l": "y"}), json!({"a": "1.50", "l": "2"}), json!({"a": "true", "l": null})]);
    // If later values do not have the type of the first records, CREATE EXTERNAL TABLE can declare the column as text.
    for (file, texts) in [("late.jsonl", ["1", "x"]), ("sparse.jsonl", ["1e3", "1e3"])] {
        let ended = place.run_with(["sql", &format!("SELECT max(a) FROM '{file}'")], "");
        assert!(ended.code == Some(1) && ended.err.contains("line 1001, byte "), "{file}: {}", ended.err);
        let made = format!("CREATE EXTERNAL TABLE t (a TEXT) STORED AS JSON LOCATION '{file}'; ");
        let rows = place.sql(&format!("{made}SELECT min(a) AS a, max(a) AS b FROM t"));
        assert_eq!(rows, [json!({"a": texts[0], "b": texts[1]})], "{file}");
    }
}

#[test]
fn whole_numbers_of_json_that_are_too_large_for_int64_are_not_rounded() {
    let place = Place::with([
        ("ids.jsonl", "{\"id\":9223372036854775809}\n{\"id\":18446744073709551615}\n{\"id\":1}\n"),
        ("signed.jsonl", "{\"id\":9223372036854775809}\n{\"id\":-1}\n"),
        ("larger.jsonl", "{\"id\":1}\n{\"id\":18446744073709551616}\n"),
        ("both/1.jsonl", "{\"id\":-1}\n"),
        ("both/2.jsonl", "{\"id\":9223372036854775809}\n"),
        ("late.jsonl", &("{\"id\":9223372036854775809}\n".repeat(1000) + "{\"id\":-1}\n")),
    ]);
    for (from, kind, ids) in [
        ("ids.jsonl", "UInt64", &["1", "18446744073709551615", "9223372036854775809"][..]),
        ("signed.jsonl", "Utf8", &["-1", "9223372036854775809"]),
        ("larger.jsonl", "Utf8", &["1", "18446744073709551616"]),
        ("both", "Utf8", &["-1", "9223372036854775809"]),
    ] {
        let rows =
            place.sql(&format!("SELECT arrow_typeof(id) AS kind, CAST(id AS TEXT) AS id FROM '{from}' ORDER BY 2"));
        let expected: Vec<_> = ids.iter().map(|id| json!({"kind": kind, "id": id})).collect();
        assert_eq!(rows, expected, "{from}");
    }
    let rows = place.sql("SELECT id FROM 'ids.jsonl' WHERE id > 9223372036854775808 ORDER BY id DESC LIMIT 1");
    assert_eq!(rows, [json!({"id": u64::MAX})]);
    let ended = place.run_with(["sql", "SELECT max(id) FROM 'late.jsonl'"], "");
    assert!(ended.code == Some(1) && ended.err.contains("late.jsonl, line 1001, byte "), "{}", ended.err);
}

/// The CSV reader validates the fields of several rows as one text.
#[test]
fn a_field_of_csv_is_text_by_itself() {
    let place = Place::new();
    place.write("x.csv", b"a,b\n\xC3\xA9,y\n\xC3,\xA9\n");
    for declared in ["", "CREATE EXTERNAL TABLE t (a VARCHAR, b VARCHAR) STORED AS CSV LOCATION 'x.csv';"] {
        let table = if declared.is_empty() { "'x.csv'" } else { "t" };
        let ended = place.run_with(["sql", &format!("{declared} SELECT a, b FROM {table}")], "");
        assert_eq!(ended.code, Some(1), "{declared}: {}", ended.text());
        assert!(ended.err.contains("x.csv, line 3, byte 9: ") && ended.err.contains("UTF-8"), "{}", ended.err);
    }
}

/// A compressed file is read in pieces of 64 KiB.
#[test]
fn the_columns_of_csv_do_not_hang_on_how_a_file_comes() {
    let place = Place::new();
    let row =
        |n: usize| format!("{}\t{}\n", if n < 300 { "2020-01-02" } else { "2020-01-02T03:04:05" }, "x".repeat(400));
    let rows: String = (0..600).map(row).collect();
    place.write("times.tsv", format!("at\ttext\n{rows}"));
    place.write("times.tsv.gz", gzip(format!("at\ttext\n{rows}")));
    let kinds = |file: &str| place.sql(&format!("SELECT DISTINCT arrow_typeof(at) AS kind FROM '{file}'"));
    assert_eq!(kinds("times.tsv"), kinds("times.tsv.gz"));
    assert_eq!(kinds("times.tsv").len(), 1);
    let comments = "# a comment\n".repeat(10_000);
    place.write("comments.csv.gz", gzip(format!("{comments}a,b\n{comments}1,2\n{comments}")));
    let table = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'comments.csv.gz' \
                 OPTIONS ('format.comment' '#', 'format.compression' 'gzip');";
    let rows = place.sql(&format!("{table} SELECT a + b AS sum FROM t"));
    assert_eq!(rows, [serde_json::json!({ "sum": 3 })]);
}

/// As numbers, ids such as 007 and 7 would be equal.
#[test]
fn numbers_that_may_be_names_are_texts() {
    let place = Place::with([
        ("names.csv", "id,code,price,n\n007,12e3,1.10,1\n7,12000,2.50,2\n"),
        ("many/1.csv", "id\n7\n"),
        ("many/2.csv", "id\n007\n"),
    ]);
    let rows = place.sql("SELECT id, code, price + n AS p FROM 'names.csv' WHERE id = '007'");
    assert_eq!(rows, [json!({"id": "007", "code": "12e3", "p": 2.1})]);
    assert_eq!(place.sql("SELECT count(DISTINCT id) AS n FROM 'many'"), [json!({"n": 2})]);
    let made = "CREATE EXTERNAL TABLE t(id INT) STORED AS CSV LOCATION 'many/'; ";
    assert_eq!(place.sql(&format!("{made}SELECT count(DISTINCT id) AS n FROM t")), [json!({"n": 1})]);
    place.ok("sql -o ids.csv SELECT'007'AS\tid\tUNION\tALL\tSELECT'7'");
    assert_eq!(place.sql("SELECT id FROM 'ids.csv' ORDER BY id"), [json!({"id": "007"}), json!({"id": "7"})]);
}

#[test]
fn members_of_json_that_come_late_are_not_lost() {
    let early = "{\"a\": 1, \"b\": {\"c\": 2}}\n".repeat(1000);
    let place = Place::with([
        ("late.jsonl", &(early.clone() + "{\"a\": 3, \"late\": 4}\n")),
        ("within.jsonl", &(early + "{\"a\": 3, \"b\": {\"c\": 5, \"late\": 4}}\n")),
    ]);
    for (sql, file) in [("SELECT * FROM 'late.jsonl'", "late.jsonl"), ("SELECT b FROM 'within.jsonl'", "within.jsonl")]
    {
        let ended = place.run_with(["sql", sql], "");
        let says =
            format!("{file}, line 1001, byte 24000: the member \"late\" is one that the first records do not have");
        assert!(ended.code == Some(1) && ended.err.contains(&says), "{sql}: {}", ended.err);
    }
    // A query that names its columns does not need the late member.
    for file in ["late.jsonl", "within.jsonl"] {
        assert_eq!(place.sql(&format!("SELECT sum(a) AS s FROM '{file}'")), [json!({"s": 1003})]);
    }
    for (columns, options, sum) in
        [("(a INT, late INT)", "", 4), ("", " OPTIONS ('format.schema_infer_max_rec' '2000')", 4)]
    {
        let made = format!("CREATE EXTERNAL TABLE t{columns} STORED AS JSON LOCATION 'late.jsonl'{options}; ");
        assert_eq!(place.sql(&format!("{made}SELECT sum(late) AS s FROM t")), [json!({"s": sum})]);
    }
}

/// The columns of CSV are read by their positions.
#[test]
fn columns_of_csv_are_declared_at_their_places() {
    let place = Place::with([
        ("t.csv", "a,b\n1,2\n"),
        ("some/1.csv", "b,a\n2,1\n"),
        ("some/t.csv", "a,b\n1,2\n"),
        ("twice.csv", "a,a\n1,2\n"),
        ("by/y=3/t.csv", "a,b\n1,2\n"),
    ]);
    place.write("t.csv.gz", gzip("a,b\n1,2\n"));
    let made = |columns: &str, rest: &str| {
        let sql = format!("CREATE EXTERNAL TABLE t({columns}) STORED AS CSV {rest}; SELECT * FROM t");
        let ended = place.run_with(["sql", "--format", "ndjson", &sql], "");
        if ended.code == Some(0) { ended.text().to_owned() } else { ended.err }
    };
    for (columns, rest, expected) in [
        ("a INT, b INT", "LOCATION 't.csv'", "{\"a\":1,\"b\":2}\n"),
        ("A INT, c INT", "LOCATION 't.csv'", "{\"a\":1,\"c\":2}\n"),
        ("a INT, b INT", "LOCATION 'twice.csv'", "{\"a\":1,\"b\":2}\n"),
        ("y INT, a INT, b INT", "PARTITIONED BY (y) LOCATION 'by/'", "{\"a\":1,\"b\":2,\"y\":3}\n"),
    ] {
        assert_eq!(made(columns, rest), expected, "{columns}");
    }
    for (columns, rest) in [
        ("b INT, a INT", "LOCATION 't.csv'"),
        ("b INT, c INT", "LOCATION 't.csv'"),
        ("b INT, a INT", "LOCATION 'some/'"),
        ("b INT, c INT", "LOCATION 't.csv.gz'"),
    ] {
        let said = made(columns, rest);
        assert!(
            said.contains("t.csv") && said.contains("b is declared as column 1, and the header has a, b"),
            "{said}"
        );
    }
    let without = "LOCATION 't.csv' OPTIONS ('format.has_header' 'false')";
    assert_eq!(made("b TEXT, a TEXT", without), "{\"b\":\"a\",\"a\":\"b\"}\n{\"b\":\"1\",\"a\":\"2\"}\n");
}

/// The readers of Arrow silently truncate values that do not fit a type.
#[test]
fn values_are_not_cut() {
    let place = Place::new();
    let after = |first: &str, late: &str| format!("{}{late}\n", format!("{first}\n").repeat(1000));
    let mut cases = Vec::new();
    for (name, first, late, column) in [
        ("number", r#"{"a":1}"#, r#"{"a":1.9}"#, "a"),
        ("exponent", r#"{"a":1}"#, r#"{"a":1e-30}"#, "a"),
        ("least", r#"{"a":1}"#, r#"{"a":-9223372036854775809}"#, "a"),
        ("list", r#"{"a":[1]}"#, r#"{"a":[2,1.7]}"#, "a"),
        ("within", r#"{"a":{"b":[{"c":1}]}}"#, r#"{"a":{"b":[{"c":1.7}]}}"#, "a.b.c"),
        ("float", r#"{"a":0.5}"#, r#"{"a":9007199254740993}"#, "a"),
        ("long", r#"{"a":[0.5]}"#, r#"{"a":[0.5,12345678901234567890123]}"#, "a"),
    ] {
        let file = format!("{name}.jsonl");
        place.write(&file, after(first, late));
        let says = format!("{file}, line 1001, byte {}: the value ", 1000 * (first.len() + 1));
        cases.push((format!("SELECT max(a) FROM '{file}'"), says, column));
    }
    for (name, first, late) in [
        ("date", "2024-01-01", "2024-01-01T23:59:59"),
        ("time", "2024-01-01T00:00:00", "2024-01-01T23:59:59.123456789"),
        ("leap", "2024-01-01 00:00:00", "2024-01-01 10:00:60"),
        ("zone", "2024-01-01T10:00:00", "2024-01-01T10:00:00+05:00"),
    ] {
        let file = format!("{name}.csv");
        place.write(&file, format!("a\n{}", after(first, late)));
        let says = format!("{file}, line 1002, byte {}: the value \"{late}\"", 2 + 1000 * (first.len() + 1));
        cases.push((format!("SELECT count(a) FROM '{file}' WHERE a IS NOT NULL"), says, "a"));
    }
    for (name, contents, place_of) in [
        ("one/1.jsonl", "{\"a\":9007199254740993}\n", ""),
        ("one/2.jsonl", "{\"a\":1.5}\n", "one/1.jsonl, line 1, byte 0"),
        ("two/1.csv", "a\n9007199254740993\n", ""),
        ("two/2.csv", "a\n1.5\n", "two/1.csv, line 2, byte 2"),
        ("both.csv", "a\n1.5\n9007199254740993\n", "both.csv, line 3, byte 6"),
    ] {
        place.write(name, contents);
        let from = name.split_once('/').map_or(name, |(folder, _)| folder);
        if !place_of.is_empty() {
            let says = format!("{place_of}: the value \"9007199254740993\"");
            cases.push((format!("SELECT a FROM '{from}'"), says, "a"));
        }
    }
    for (name, kind) in [("inferred.csv", ""), ("asked.csv", "(a real)")] {
        place.write(name, "a\n1.5\n1e400\n");
        let made = format!("CREATE EXTERNAL TABLE t{kind} STORED AS CSV LOCATION '{name}'");
        cases.push((format!("{made}; SELECT * FROM t"), format!("{name}, line 3, byte 6: the value \"1e400\""), "a"));
    }
    place.write("real.csv", "16777217\n");
    let made =
        "CREATE EXTERNAL TABLE t(a real) STORED AS CSV LOCATION 'real.csv' OPTIONS ('format.has_header' 'false')";
    cases.push((
        format!("{made}; SELECT * FROM t"),
        "real.csv, line 1, byte 0: the value \"16777217\"".to_owned(),
        "a",
    ));
    for (kind, late, byte) in [("CSV", "1.239\n", "line 3, byte 7"), ("JSON", "{\"a\":1.239}\n", "line 2, byte 11")] {
        let first = if kind == "CSV" { "a\n1.23\n" } else { "{\"a\":1.23}\n" };
        let file = format!("decimal.{}", kind.to_lowercase());
        place.write(&file, first.to_owned() + late);
        let made = format!("CREATE EXTERNAL TABLE t(a decimal(5,2)) STORED AS {kind} LOCATION '{file}'");
        cases.push((format!("{made}; SELECT * FROM t"), format!("{file}, {byte}: the value \"1.239\""), "a"));
    }
    for (sql, says, column) in cases {
        let ended = place.run_with(["sql", &sql], "");
        assert_eq!(ended.code, Some(1), "{sql}: {}", ended.text());
        let cut = format!(" of column {column} would be cut, since the column is of type ");
        assert!(ended.err.contains(&says) && ended.err.contains(&cut), "{sql}: {}", ended.err);
    }
    place.write("whole.jsonl", after(r#"{"a":1,"b":"x"}"#, r#"{"a":1e3,"b":"2.5"}"#) + r#"{"a":-2.0}"#);
    assert_eq!(place.sql("SELECT sum(a) AS s, max(b) AS b FROM 'whole.jsonl'"), [json!({"s": 1998, "b": "x"})]);
    place.write("floats.jsonl", "{\"a\":0.1,\"b\":\"x\"}\n{\"a\":9007199254740992,\"b\":\"12345678901234567\"}\n");
    let rows = place.sql("SELECT a FROM 'floats.jsonl'");
    assert_eq!(rows, [json!({"a": 0.1}), json!({"a": 9_007_199_254_740_992.0})]);
    let made = "CREATE EXTERNAL TABLE t(a decimal) STORED AS CSV LOCATION 'both.csv'; ";
    let rows = place.sql(&format!("{made}SELECT sum(a)::varchar AS s FROM t"));
    assert_eq!(rows, [json!({"s": "9007199254740994.5000000000"})]);
    place.write("by/year=7/whole.csv", "a,d\n1,2024-01-01\n2,2024-01-02T00:00:00\n3,\n");
    let made = "CREATE EXTERNAL TABLE t(a int, d date, year int) STORED AS CSV PARTITIONED BY (year) LOCATION 'by/'; ";
    let rows = place.sql(&format!("{made}SELECT year + a AS a, d FROM t WHERE a > 1 ORDER BY a"));
    assert_eq!(rows, [json!({"a": 9, "d": "2024-01-02"}), json!({"a": 10, "d": null})]);
}

/// With the option, a file must be one array, in any format; anything else is an error.
#[test]
fn an_array_of_json_is_read_whole() {
    let place = Place::new();
    let arrays = |options: &str, file: &str| {
        format!(
            "CREATE EXTERNAL TABLE t STORED AS JSON LOCATION '{file}' \
             OPTIONS ('format.newline_delimited' 'false'{options}); SELECT count(*) AS n, sum(a) AS s FROM t"
        )
    };
    let array = "\u{feff}[\n  {\n    \"a\": 1,\n    \"b\": \"],[\"\n  },\n  {\"a\": 2}\n]\n";
    place.write("x.json", array);
    place.write("x.json.gz", gzip(array));
    let row = |i: usize| format!("{{\"a\": {i}, \"b\": \"{}\"}}", "x".repeat(2000));
    place.write("many.json", format!("[{}]", (0..6_000).map(row).collect::<Vec<_>>().join(",\n")));
    for (options, file, n, s) in [
        ("", "x.json", 2, 3),
        (", 'format.compression' 'gzip'", "x.json.gz", 2, 3),
        ("", "many.json", 6_000, 6_000 * 5_999 / 2),
    ] {
        let sql = format!("SET datafusion.execution.target_partitions = 4; {}", arrays(options, file));
        assert_eq!(place.sql(&sql), [json!({"n": n, "s": s})], "{file}");
    }
    for file in ["x.json", "x.json.gz", "many.json"] {
        let ended = place.run_with(["sql", &format!("SELECT * FROM '{file}'")], "");
        assert_eq!(ended.code, Some(1), "{file}: {}", ended.text());
        let says = format!("{file}, line 1, byte 0: it begins as an array of JSON does: CREATE EXTERNAL TABLE");
        assert!(ended.err.contains(&says), "{}", ended.err);
    }
    for (file, text, says) in [
        ("object", "{\"a\":1}", "line 1, byte 0: it is no array of JSON"),
        ("two", "[{\"a\":1}]\n[{\"a\":2}]", "line 2, byte 10: this stands behind the end"),
        ("junk", "[{\"a\":1}] junk", "line 1, byte 10: this stands behind the end"),
        ("cut", "[{\"a\":1},{\"a\":2}", "line 1, byte 16: the file ends before its array"),
        ("broken", "[{\"a\":1},\n{\"a\":2 x}]", "line 2, byte 10: "),
    ] {
        let file = format!("{file}.json");
        place.write(&file, text);
        let ended = place.run_with(["sql", &arrays("", &file)], "");
        assert_eq!(ended.code, Some(1), "{file}: {}", ended.text());
        assert!(ended.err.contains(&format!("{file}, {says}")), "{}", ended.err);
    }
    place.write("late.json", format!("[{}{{\"a\":1.9}}]", "{\"a\":1},\n".repeat(1000)));
    let ended = place.run_with(["sql", &arrays("", "late.json")], "");
    assert!(ended.err.contains("late.json, line 1001, byte 9001: the value \"1.9\" of column a"), "{}", ended.err);
    let ended = place.run_with(["sql", &arrays("", "many.json"), "--max-record-bytes", "1KiB"], "");
    assert!(ended.err.contains("many.json, byte 0: the element of the array is longer"), "{}", ended.err);
}

#[test]
fn packed_files_are_tables() {
    let place = Place::new();
    let (csv, json) = ("id,text\n1,One.\n", "{\"id\":1,\"text\":\"One.\"}\n");
    for (name, contents, kind, options) in [
        ("csv", csv, "CSV", "OPTIONS ('format.has_header' 'true', 'format.compression' '{}')"),
        ("jsonl", json, "JSON", "OPTIONS ('format.compression' '{}')"),
    ] {
        for (packed, tool, compression) in
            [("gz", "gzip", "gzip"), ("zst", "zstd", "zstd"), ("bz2", "bzip2", "bzip2"), ("xz", "xz", "xz")]
        {
            let file = format!("x.{name}.{packed}");
            place.write(&file, pack(tool, contents));
            let expected = [json!({"id": 1, "text": "One."})];
            assert_eq!(place.sql(&format!("SELECT id, text FROM '{file}'")), expected, "{file}");
            let options = options.replace("{}", compression);
            let made = format!("CREATE EXTERNAL TABLE t STORED AS {kind} LOCATION '{file}' {options}; ");
            assert_eq!(place.sql(&format!("{made}SELECT id, text FROM t")), expected, "{file}");
        }
    }
}

#[test]
fn packed_files_may_hold_nothing() {
    let place = Place::new();
    for (end, tool) in [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2"), ("xz", "xz")] {
        place.write(&format!("{end}/a.jsonl.{end}"), pack(tool, ""));
        assert_eq!(place.sql(&format!("SELECT count(*) AS n FROM '{end}/'")), [json!({"n": 0})], "{end}");
    }
    place.write("gz/b.jsonl.gz", gzip("{\"id\":1}\n"));
    assert_eq!(place.sql("SELECT id FROM 'gz/'"), [json!({"id": 1})]);
}

/// The file is large enough to be read in parts, which would be wrong.
#[test]
fn values_of_csv_have_ends_of_lines() {
    let place = Place::new();
    let row = |i: usize| format!("{i},\"one, and\nanother,line\n\"\"quoted\"\"\\\n{}\"\n", "x".repeat(i % 80));
    let rows = 200_000;
    let data = "id,text\n".to_owned() + &(0..rows).map(row).collect::<String>();
    assert!(data.len() > 12 << 20);
    place.write("a.csv", &data);
    place.write("a.csv.zst", pack("zstd", &data));
    for file in ["a.csv", "a.csv.zst"] {
        let sql = format!("SELECT count(*) AS n, sum(id) AS ids, sum(length(text)) AS length FROM '{file}'");
        let length: usize = (0..rows).map(|i| 32 + i % 80).sum();
        let found = place.sql(&format!("SET datafusion.execution.target_partitions = 4; {sql}"));
        assert_eq!(found, [json!({"n": rows, "ids": rows * (rows - 1) / 2, "length": length})], "{file}");
    }
}

/// A quote mark in a comment does not begin a quoted value.
#[test]
fn values_behind_comments_have_ends_of_lines() {
    let place = Place::new();
    let head = "# a \"comment\n#\nid,text\n";
    let row = |i: usize| format!("{i},\"{}\"\n# \"\n", "x\n".repeat(60));
    let rows: String = (0..900).map(row).collect();
    let (line, byte) = (4 + 62 * 900, head.len() + rows.len());
    place.write("a.csv", head.to_owned() + &rows);
    place.write("bad.csv", format!("{head}{rows}1,2,3\n{}", row(7)));
    place.write("first.csv", format!("{head}x,y\n{rows}"));
    let count = |file: &str, columns: &str| {
        let made =
            format!("CREATE EXTERNAL TABLE t{columns} STORED AS CSV LOCATION '{file}' OPTIONS ('format.comment' '#')");
        let sql = format!("{made}; SELECT count(id) AS n, sum(length(text)) AS length FROM t");
        place.run_with(["sql", &sql, "--format", "csv"], "")
    };
    assert_eq!(count("a.csv", "").text(), format!("n,length\n900,{}\n", 900 * 120));
    let said = count("bad.csv", "").err;
    assert!(said.contains(&format!("bad.csv, line {line}, byte {byte}: ")), "{said}");
    let said = count("first.csv", " (id int, text varchar)").err;
    assert!(said.contains(&format!("first.csv, line 4, byte {}: Error while parsing value 'x'", head.len())), "{said}");
}

#[test]
fn rows_of_json_have_all_columns() {
    let place = Place::new();
    let sql = "SELECT * FROM (VALUES (1, 'a', 0.5), (2, '', 'nan'::DOUBLE), (3, NULL, NULL)) AS t(n, text, x)";
    let written = |format: &str| place.run_with(["sql", sql, "--format", format], "").text().to_owned();
    assert_eq!(
        written("ndjson"),
        "{\"n\":1,\"text\":\"a\",\"x\":0.5}\n{\"n\":2,\"text\":\"\",\"x\":\"NaN\"}\n{\"n\":3,\"text\":null,\"x\":null}\n"
    );
    // CSV does not tell NULL from the empty text.
    assert_eq!(written("csv"), "n,text,x\n1,a,0.5\n2,,NaN\n3,,\n");
}

#[test]
fn statements_are_prepared() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(30, 3))]);
    let script = "PREPARE p(INT) AS SELECT $1 + $k AS n;\nEXECUTE p(3); EXECUTE p($k);\nDEALLOCATE p;\n\
                  PREPARE q AS SELECT count(*) > $1 AS is_so FROM passages('docs.jsonl');\nEXECUTE q(1000); EXECUTE q(0);";
    place.write("script.sql", script);
    let out = "n\n13\nn\n20\nis_so\nfalse\nis_so\ntrue\n";
    assert_eq!(place.ok("sql -q --format csv -p k=10 -f script.sql"), out);
    let ended = place.run_with(["sql", "-q", "--format", "csv", "-p", "k=10", "-c", script], "");
    assert_eq!(ended.text(), out, "{}", ended.err);
    let mut shell = Terminal::shell(&place);
    shell.line("PREPARE p AS SELECT $1 * 2 AS n;");
    let shown = shell.line("EXECUTE p(1234);");
    assert!(shown.contains("| 2468 |"), "{shown}");
    let shown = shell.line("DEALLOCATE p; EXECUTE p(1);");
    assert!(shown.contains("'p' does not exist"), "{shown}");
    let said = place.run_with(["sql", "SELECT $1"], "").err;
    assert!(said.contains("no value for the parameter $1"), "{said}");
    let said =
        place.run_with(["sql", "CREATE TABLE t AS SELECT 1 AS n; PREPARE p AS INSERT INTO t VALUES ($1)"], "").err;
    assert!(said.contains("INSERT would leave half"), "{said}");
}

#[test]
fn what_is_said_of_a_mistake_is_about_that() {
    let place = Place::new();
    let said = |sql: &str| {
        let ended = place.run_with(["sql", "--format", "csv", "-c", sql], "");
        assert_eq!(ended.code, Some(1), "{sql}");
        ended.err
    };
    let of_form = said("SELECT '' AS e, [1] AS l");
    assert!(of_form.contains("--format ndjson") && !of_form.contains("ibid ingest"), "{of_form}");
    assert!(!of_form.contains('^'), "{of_form}");
    for (sql, expected) in [
        ("UPDATE t SET n = 2", "UPDATE would leave half of the table changed"),
        ("DELETE FROM t", "DELETE would leave"),
        ("TRUNCATE TABLE t", "TRUNCATE would leave"),
        ("SELECT * FROM t TABLESAMPLE (1 ROWS)", "TABLESAMPLE is not supported: write WHERE random()"),
        ("SELECT * FROM LATERAL pairs('none/')", "none"),
        (
            "SELECT v FROM (SELECT [1, 2] AS tags) AS s CROSS JOIN UNNEST(tags) AS u(v)",
            ": The items of a list are opened in SELECT: write SELECT *, unnest(tags) AS item FROM …",
        ),
        ("CREATE UNBOUNDED EXTERNAL TABLE u STORED AS CSV LOCATION 'u.csv'", "UNBOUNDED is not supported: "),
        (
            "SELECT 1 FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE EXISTS (SELECT 1 FROM t z WHERE z.n = x.n))",
            ": A subquery cannot stand here",
        ),
        (
            "SELECT 1 FROM t x WHERE x.n = (SELECT max(y.n) FROM t y WHERE y.n = x.n AND x.n IN (SELECT z.n FROM t z))",
            ": A subquery cannot stand here",
        ),
    ] {
        let said = said(&format!("CREATE TABLE t AS SELECT 1 AS n; {sql}"));
        assert!(said.contains(expected) && !said.contains("INSERT") && !said.contains("Did you mean"), "{said}");
    }
    assert_eq!(place.run_with(["sql", "-c", "-- nothing but a comment"], "").code, Some(0));
}

#[test]
fn explain_writes_nothing() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(30, 3)), ("bad.jsonl", "{\"text\": \"One.\"}\n{\n")]);
    for sql in [
        "EXPLAIN SELECT * FROM passages('docs.jsonl', families => 'c.csv')",
        // This statement runs, but its files are not written.
        "EXPLAIN ANALYZE SELECT * FROM passages('docs.jsonl', families => 'c.csv')",
        // This statement does not run.
        "EXPLAIN SELECT * FROM pairs('bad.jsonl', on_error => 'quarantine', quarantine => 'q.jsonl')",
    ] {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!(ended.code, Some(0), "{sql}: {}", ended.err);
        assert_eq!(place.names(), ["bad.jsonl", "docs.jsonl"], "{sql}");
    }
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0);
    place.run_with(["sql", "SELECT * FROM passages('docs.jsonl', families => 'c.csv')"], "");
    assert_eq!(place.names(), ["bad.jsonl", "c.csv", "docs.jsonl"]);
}

#[test]
fn from_alone_selects_all() {
    let place = Place::with([("x.csv", "n,m\n1,2\n")]);
    let row = json!({"n": 1, "m": 2});
    assert_eq!(place.sql("FROM 'x.csv'"), std::slice::from_ref(&row));
    assert_eq!(place.sql("(FROM 'x.csv') UNION ALL FROM 'x.csv'"), [row.clone(), row]);
    assert_eq!(place.sql("FROM 'x.csv' SELECT m"), [json!({"m": 2})]);
}

#[test]
fn external_tables_are_of_what_from_takes() {
    let place = Place::new();
    for (year, month, n) in [(2023, 1, 1), (2023, 2, 2), (2024, 1, 4)] {
        place.write(&format!("by/year={year}/month={month}/a.csv"), format!("n\n{n}\n"));
        place.write(&format!("by/year={year}/month={month}/b.csv.gz"), gzip("n\n8\n"));
        place.write(&format!("by/year={year}/month={month}/c.jsonl"), "{\"n\": 16}\n");
        place.write(&format!("by/year={year}/month={month}/d.tsv"), "n\tm\n32\t1\n");
    }
    place.write("by/year=2024/month=1/part-0", "n\n64\n");
    let sum = |made: &str| {
        let rows = place.sql(&format!("CREATE EXTERNAL TABLE t STORED AS {made}; SELECT sum(n) AS n FROM t"));
        rows[0]["n"].as_u64().unwrap()
    };
    assert_eq!(sum("CSV LOCATION 'by/**/*.csv'"), 7);
    assert_eq!(sum("CSV LOCATION 'by/*/month=1/*.csv'"), 5);
    assert_eq!(sum("CSV LOCATION ('by/year=2023/month=1/a.csv', 'by/year=2024/*/a.csv')"), 5);
    assert_eq!(sum("CSV LOCATION 'by/**/*.csv.gz'"), 24);
    assert_eq!(sum("JSONL LOCATION 'by/**/*.jsonl'"), 48);
    assert_eq!(sum("TSV LOCATION 'by/**/*.tsv'"), 96);
    assert_eq!(sum("CSV LOCATION 'by/**/part-*'"), 64);
    let years = "CREATE EXTERNAL TABLE t STORED AS CSV PARTITIONED BY (year) LOCATION 'by/**/*.csv'; \
                 SELECT year, sum(n) AS n FROM t GROUP BY year ORDER BY year";
    assert_eq!(place.sql(years), [json!({"year": "2023", "n": 3}), json!({"year": "2024", "n": 4})]);
    let fails = |made: &str, says: &str| {
        let ended = place.run_with(["sql", &format!("CREATE EXTERNAL TABLE t STORED AS {made}")], "");
        assert_eq!(ended.code, Some(1), "{made}");
        assert!(ended.err.contains(says), "{made}: {}", ended.err);
    };
    fails("CSV LOCATION 'by/'", "names files of different kinds");
    fails("CSV LOCATION 'by/**/*.txt'", "there is no file by/**/*.txt");
    fails("PARQUET LOCATION 'by/**/*.csv'", "STORED AS PARQUET: the files are .csv");
    fails("CSV PARTITIONED BY (month) LOCATION 'by/**/*.csv'", "the folders give the columns (year, month)");
    fails("CSV LOCATION ('by/**/*.csv', 'by/year=2023/*/a.csv')", "is named twice");
    fails("CSV LOCATION 'by/**/*.csv' OPTIONS ('format.null_regex' '[')", "null_regex is not supported: leave it out");
    // A table that cannot be created leaves the one that it would replace.
    let mut shell = Terminal::shell(&place);
    shell.line("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'by/**/*.csv';");
    shell.line("CREATE OR REPLACE EXTERNAL TABLE t STORED AS CSV LOCATION 'none.csv';");
    let shown = shell.line("SELECT sum(n) + 1000 AS n FROM t;");
    assert!(shown.contains("| 1007 |"), "{shown}");
}

#[test]
fn an_external_table_is_of_the_files_that_there_were() {
    let place = Place::with([("n/1.csv", "n\n1\n"), ("n/2.csv", "n\n2\n")]);
    let mut shell = Terminal::shell(&place);
    shell.line("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'n/';");
    place.write("n/3.csv", "n\n4\n");
    let shown = shell.line("SELECT sum(n) + 1000 AS n FROM t;");
    assert!(shown.contains("| 1003 |"), "{shown}");
    place.write("n/1.csv", "n\n10\n");
    let shown = shell.line("SELECT sum(n) AS n FROM t;");
    assert!(shown.contains("n/1.csv: it was changed while it was read, or since a table"), "{shown}");
    shell.line("CREATE OR REPLACE EXTERNAL TABLE t STORED AS CSV LOCATION 'n/';");
    let shown = shell.line("SELECT sum(n) + 1000 AS n FROM t;");
    assert!(shown.contains("| 1016 |"), "{shown}");
}

/// DataFusion would skip files whose folders give other columns than those of the first file.
#[test]
fn folders_give_the_same_columns_or_none() {
    let place = Place::new();
    for file in ["deep/er/year=2023/a.csv", "deep/er/year=2024/a.csv", "two/a/year=2023/a.csv", "two/b/year=2024/a.csv"]
    {
        place.write(file, "n\n1\n");
    }
    for year in 0..12 {
        place.write(&format!("late/year={year}/a.csv"), "n\n1\n");
    }
    place.write("late/z.csv", "n\n1\n");
    for from in ["'deep'", "'*/er/year=*/a.csv'"] {
        let rows = place.sql(&format!("SELECT year FROM {from} ORDER BY year"));
        assert_eq!(rows, ["2023", "2024"].map(|year| json!({"year": year})), "{from}");
    }
    place.write("twice/y=1/y=2/a.csv", "n\n1\n");
    place.write("both/n=1/a.csv", "n\n1\n");
    std::fs::create_dir_all(place.path("parquet/n=1")).unwrap();
    place.ok("sql SELECT(1)AS\"n\" -o parquet/n=1/a.parquet");
    for (name, value) in [("empty", ""), ("null", "__HIVE_DEFAULT_PARTITION__")] {
        place.write(&format!("{name}/y=1/a.csv"), "n\n1\n");
        place.write(&format!("{name}/y={value}/a.csv"), "n\n2\n");
        assert_eq!(place.sql(&format!("SELECT y FROM '{name}/' WHERE n = 2")), [json!({"y": value})]);
    }
    let made = |format: &str, columns: &str, from: &str| {
        format!("CREATE EXTERNAL TABLE t {columns} STORED AS {format} LOCATION '{from}'")
    };
    let of_years = |from: &str| made("CSV", "(n INT, y INT)", from).replace("LOCATION", "PARTITIONED BY (y) LOCATION");
    for (sql, says) in [
        ("SELECT * FROM 'two/'".to_owned(), "two/a/year=2023/a.csv: of its folders below "),
        ("SELECT * FROM 'late/'".to_owned(), "do not give the same columns"),
        (
            "SELECT * FROM 'twice/'".to_owned(),
            "twice/y=1/y=2/a.csv: the column \"y\" is given by a folder, and once more",
        ),
        ("SELECT * FROM 'both/'".to_owned(), "both/n=1/a.csv: the column \"n\" is given by a folder, and once more"),
        ("SELECT * FROM 'parquet/'".to_owned(), "a.parquet: the column \"n\" is given by a folder, and once more"),
        (made("CSV", "", "both/"), "both/n=1/a.csv: the column \"n\" is given by a folder, and once more"),
        (made("PARQUET", "", "parquet/"), "a.parquet: the column \"n\" is given by a folder, and once more"),
        (of_years("empty/"), "empty/y=/a.csv: the value \"\" of its folder y= is no Int32: rename it, or "),
        (of_years("null/"), "the value \"__HIVE_DEFAULT_PARTITION__\" of its folder y="),
    ] {
        let ended = place.run_with(["sql", &sql], "");
        assert!(ended.code == Some(1) && ended.err.contains(says), "{sql}: {ended:?}");
    }
    let without = "SET datafusion.execution.listing_table_factory_infer_partitions = false";
    let rows = place.sql(&format!("{without}; {}; SELECT * FROM t", made("CSV", "", "both/")));
    assert_eq!(rows, [json!({"n": 1})]);
}

#[test]
fn a_file_of_another_corpus_is_not_read_as_one_of_this() {
    let place = Place::with([("a.jsonl", &jsonl([("a", "One.")])), ("b.jsonl", &jsonl([("b", "Two.")]))]);
    place.ok("ingest a.jsonl -o a");
    place.ok("ingest b.jsonl -o b");
    place.write("a/documents.parquet", place.read("b/documents.parquet"));
    let made = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'a/documents.parquet'";
    for sql in ["SELECT * FROM 'a/documents.parquet'", "SELECT * FROM '?/documents.parquet'", made] {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!(ended.code, Some(1), "{sql}");
        assert!(
            ended.err.contains("a/documents.parquet is not what was written: its seal is "),
            "{sql}: {}",
            ended.err
        );
    }
    assert_eq!(place.sql("SELECT doc_id FROM 'b/documents.parquet'"), [json!({"doc_id": "b"})]);
    let said = place.run("verify a").out;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains(" was written") && !said.contains("Some"), "{said}");
    // A file with that name may belong to another program.
    place.write("c/manifest.json", "[{\"name\": \"web app\"}]");
    place.write("c/documents.parquet", place.read("b/documents.parquet"));
    assert_eq!(place.sql("SELECT doc_id FROM 'c/documents.parquet'"), [json!({"doc_id": "b"})]);
}

#[test]
fn a_command_line_that_is_misused_commands_no_terminal() {
    let terminal = Terminal::open(&Place::new(), "pairs . --threshold \u{1b}]0;x\u{7}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("\\u{1b}]0;x\\u{7}") && !shown.contains("\u{1b}]0;"), "{shown:?}");
}

#[test]
fn a_pattern_is_of_one_table() {
    let place = Place::with([("a.jsonl", &jsonl([("a", "One. Two.")])), ("b.jsonl", &jsonl([("b", "Three.")]))]);
    std::fs::create_dir(place.path("c")).unwrap();
    place.ok("ingest a.jsonl -o c/a");
    place.ok("ingest b.jsonl -o c/b");
    place.ok("pairs c/index --add a.jsonl");
    let ids = |from: &str| place.sql(&format!("SELECT doc_id FROM '{from}' ORDER BY doc_id"));
    assert_eq!(ids("c/?/documents.parquet"), [json!({"doc_id": "a"}), json!({"doc_id": "b"})]);
    assert_eq!(ids("c/index/documents.parquet"), [json!({"doc_id": "a"})]);
    for (from, says) in [
        ("c/a/*.parquet", "names files of different tables, such as"),
        ("c/?/*", "names files of different"),
        ("c/**/documents.parquet", "index/parts/"),
        ("c/index/parts/*/documents.parquet", "c/index/documents.parquet"),
    ] {
        let ended = place.run_with(["sql", &format!("SELECT * FROM '{from}'")], "");
        assert!(ended.code == Some(1) && ended.err.contains(says), "{from}: {}", ended.err);
    }
    // A part that is named is read.
    let part = std::fs::read_dir(place.path("c/index/parts")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(ids(part.join("documents.parquet").to_str().unwrap()), [json!({"doc_id": "a"})]);
}

#[test]
fn tabs_part_columns() {
    let place = Place::with([("x.tsv", "id\ttext\n1\tOne, two.\n2\t\"a\tb\"\n")]);
    place.write("y.tsv.gz", gzip("id\n3\n"));
    let rows = place.sql("SELECT id, text FROM 'x.tsv' ORDER BY id");
    assert_eq!(rows, [json!({"id": 1, "text": "One, two."}), json!({"id": 2, "text": "a\tb"})]);
    assert_eq!(place.sql("SELECT id FROM 'y.tsv.gz'"), [json!({"id": 3})]);
}

#[test]
fn a_byte_order_mark_is_no_value() {
    let place = Place::new();
    let json = "\u{feff}{\"id\":1,\"text\":\"One.\"}\n{\"id\":2,\"text\":\"Two.\"}\n";
    place.write("x.jsonl", json);
    place.write("x.csv", "\u{feff}id,text\n1,One.\n2,Two.\n");
    for (packed, tool) in [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2")] {
        place.write(&format!("x.jsonl.{packed}"), pack(tool, json));
    }
    for file in ["x.jsonl", "x.csv", "x.jsonl.gz", "x.jsonl.zst", "x.jsonl.bz2"] {
        let rows = place.sql(&format!("SELECT id, text FROM '{file}' WHERE id = 1"));
        assert_eq!(rows, [json!({"id": 1, "text": "One."})], "{file}");
    }
    place.write("quoted.csv", "\u{feff}\"id,\",text\n1,One.\n");
    assert_eq!(place.sql("SELECT * FROM 'quoted.csv'"), [json!({"id,": 1, "text": "One."})]);
    let wide: Vec<u8> = "\u{feff}id,text\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for file in ["wide.csv", "wide.jsonl"] {
        place.write(file, &wide);
        let ended = place.run_with(["sql", &format!("SELECT * FROM '{file}'")], "");
        assert_eq!(ended.code, Some(1), "{file}");
        let says = format!("{file}, byte 0: it begins as a text in UTF-16 does; convert it to UTF-8 (iconv -f UTF-16");
        assert!(ended.err.contains(&says), "{}", ended.err);
    }
}

/// An error about a file has its name, its cause and a remedy.
#[test]
fn files_that_cannot_be_read_are_told_apart() {
    let place = Place::with([("csv.parquet", "n,t\n1,One.\n"), ("fold.csv/none", ""), ("parts/none", "")]);
    for folder in ["fold.csv", "parts"] {
        std::fs::remove_file(place.path(folder).join("none")).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", place.path("link.csv")).unwrap();
    place.ok("sql SELECT(1) -o parts/1.parquet -q");
    let whole = place.read("parts/1.parquet");
    place.write("parts/2.parquet", &whole[..whole.len() - 9]);
    let lines: String = (0..20_000).map(|n| format!("{{\"n\": {}}}\n", n * n % 1_000_003)).collect();
    for (packed, tool) in [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2")] {
        let all = pack(tool, &lines);
        place.write(&format!("cut.jsonl.{packed}"), &all[..all.len() / 2]);
    }
    place.write("none.csv.gz", "");
    let middle = |tool: &str, file: &str| {
        let bytes = place.read(file).len();
        format!(
            "the {tool} data end in the middle, after byte {bytes} of the compressed file; the file is cut off: fetch it"
        )
    };
    for (from, says) in [
        ("csv.parquet", "csv.parquet: not a sound Parquet file (".to_owned()),
        ("parts/", "parts/2.parquet: not a sound Parquet file (".to_owned()),
        ("fold.csv", "fold.csv is a folder without files that could be read".to_owned()),
        ("csv.parquet/x.csv", "csv.parquet is a file, and no folder".to_owned()),
        ("link.csv", "link.csv is a link to nowhere, which is not there".to_owned()),
        ("/dev/null", "/dev/null is a pipe or a device".to_owned()),
        ("none.csv.gz", "none.csv.gz is empty, 0 bytes".to_owned()),
        ("cut.jsonl.gz", middle("gzip", "cut.jsonl.gz")),
        ("cut.jsonl.zst", middle("zstd", "cut.jsonl.zst")),
        ("cut.jsonl.bz2", middle("bzip2", "cut.jsonl.bz2")),
    ] {
        let ended = place.run_with(["sql", &format!("SELECT sum(n) FROM '{from}'")], "");
        assert_eq!(ended.code, Some(1), "{from}");
        assert!(ended.err.contains(&says) && !ended.err.contains("ibid ingest names"), "{from}: {}", ended.err);
    }
}

fn pack(how: &str, contents: &str) -> Vec<u8> {
    match how {
        "gzip" => gzip(contents),
        "zstd" => zstd::encode_all(contents.as_bytes(), 0).unwrap(),
        "bzip2" => bzip2(contents),
        // No library here compresses with xz; the data were made with `xz`.
        _ => {
            let packed = match contents.get(..2) {
                Some("id") => XZ_CSV,
                Some(_) => XZ_JSON,
                None => XZ_NOTHING,
            };
            (0..packed.len()).step_by(2).map(|i| u8::from_str_radix(&packed[i..i + 2], 16).unwrap()).collect()
        }
    }
}

const XZ_CSV: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a301000e69642c746578740a312c4f6e65\
                      2e0a0000f43d9560cfc7f7280001270fdf1afc6a1fb6f37d010000000004595a";
const XZ_JSON: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a30100167b226964223a312c2274657874\
                       223a224f6e652e227d0a000095bdd9ef0da5fd1600012f17810849b11fb6f37d010000000004595a";
const XZ_NOTHING: &str = "fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a";

/// The examples of the page about the shell print the output below them.
#[test]
fn the_examples_of_the_page_are_true() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/shell.md")).unwrap();
    let place = Place::with([
        ("docs/a.txt", "The ferry leaves at noon. Nobody waits."),
        ("docs/b.txt", "They say: go. The ferry leaves at noon."),
    ]);
    let examples: Vec<_> = page.split("```sql\n").skip(1).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let (sql, rest) = example.split_once("```\n").unwrap();
        let (_, rest) = rest.split_once("```text\n").unwrap();
        let (expected, _) = rest.split_once("```").unwrap();
        let ended = place.run_with(["sql"], sql);
        assert_eq!((ended.code, ended.text()), (Some(0), expected), "{sql}\n{}", ended.err);
    }
}

#[test]
fn columns_of_files_are_shown_as_those_of_tables() {
    let place = Place::with([("it's.csv", "n,t\n1,a\n")]);
    let rows = place.sql("SHOW COLUMNS FROM \"it's.csv\"");
    let shown: Vec<_> = rows.iter().map(|row| (&row["column_name"], &row["data_type"], &row["table_name"])).collect();
    assert_eq!(
        shown,
        [(&json!("n"), &json!("Int64"), &json!("it's.csv")), (&json!("t"), &json!("Utf8"), &json!("it's.csv"))]
    );
    let rows = place.sql("CREATE TABLE \"it's\" AS SELECT 1 AS other; SHOW COLUMNS FROM \"it's\"");
    assert_eq!((&rows[0]["column_name"], &rows[0]["table_name"]), (&json!("other"), &json!("it's")));
    // A table with that name takes precedence, as in FROM.
    place.write("in.csv", "n\n1\n");
    let rows = place.sql("CREATE TABLE \"in.csv\" AS SELECT 1 AS other; SHOW COLUMNS FROM \"in.csv\"");
    assert_eq!(rows[0]["column_name"], "other");
    assert!(place.sql("SHOW FULL COLUMNS FROM \"it's.csv\"")[0].get("ordinal_position").is_some());
    let said = place.run_with(["sql", "SHOW COLUMNS FROM 'none.csv'"], "").err;
    assert!(said.contains("there is no file none.csv"), "{said}");
}

#[test]
fn a_file_of_parquet_whose_pages_are_damaged_is_named() {
    let place = Place::with([("q/none", "")]);
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    for file in ["a", "b", "c"] {
        let rows: ArrayRef = Arc::new((0..1000).collect::<Int64Array>());
        let rows = RecordBatch::try_new(Arc::clone(&schema), vec![rows]).unwrap();
        let mut written = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut written, Arc::clone(&schema), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        if file == "b" {
            written[4..100].fill(0xff);
        }
        place.write(&format!("q/{file}.parquet"), written);
    }
    for sql in [
        "SELECT sum(n) FROM 'q/'",
        "CREATE TABLE t AS SELECT * FROM 'q/*.parquet'",
        "CREATE EXTERNAL TABLE q STORED AS PARQUET LOCATION 'q/'; CREATE VIEW v AS SELECT * FROM q; \
         SELECT 1 WHERE 2 IN (SELECT n % 7 FROM v)",
    ] {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!(ended.code, Some(1), "{sql}");
        assert!(ended.err.contains("q/b.parquet: not a sound Parquet file ("), "{sql}: {}", ended.err);
    }
}

/// A column that is NOT NULL in one file is missing in another one, where it is NULL.
#[test]
fn a_column_that_some_files_of_parquet_lack_has_no_values_there() {
    let place = Place::new();
    let write = |sql: &str, file: &str| {
        std::fs::create_dir_all(place.path("p/y=1")).unwrap();
        assert_eq!(place.run_with(["sql", sql, "-o", file], "").code, Some(0), "{sql}");
    };
    write("SELECT 1 AS a, 'x' AS b, named_struct('c', 1) AS s", "p/y=1/1.parquet");
    write("SELECT 3 AS a, named_struct('d', 2) AS s", "p/y=1/2.parquet");
    let made = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'p/'; ";
    for (made, table) in [("", "'p/'"), (made, "t")] {
        let rows = place.sql(&format!("{made}SELECT a, y FROM {table} WHERE b IS NULL AND s['c'] IS NULL"));
        assert_eq!(rows, [json!({"a": 3, "y": "1"})]);
        let rows = place.sql(&format!("{made}SELECT b, s['d'] AS d FROM {table} ORDER BY a"));
        assert_eq!(rows, [json!({"b": "x", "d": null}), json!({"b": null, "d": 2})]);
    }
    // A single file may have been replaced in the meantime.
    write("SELECT 1 AS a", "one.parquet");
    let mut shell = Terminal::shell(&place);
    shell.line("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'one.parquet';");
    write("SELECT * FROM (VALUES (1), (NULL)) AS t(a)", "one.parquet");
    let shown = shell.line("SELECT count(*) + 1000 AS n FROM t WHERE a IS NULL;");
    assert!(shown.contains("| 1001 |"), "{shown}");
    for column in ["a INT NOT NULL", "a INT PRIMARY KEY", "a INT UNIQUE"] {
        let sql = format!("CREATE EXTERNAL TABLE t ({column}) STORED AS PARQUET LOCATION 'one.parquet'");
        let said = place.run_with(["sql", &sql], "").err;
        assert!(said.contains("are not supported: files are not checked for them"), "{said}");
    }
}

#[test]
fn files_of_parquet_that_have_other_columns_are_named() {
    let place = Place::with([("in.jsonl", "{\"text\": \"One. Two.\"}\n")]);
    place.ok("ingest in.jsonl -o corpus");
    for file in ["documents", "sentences"] {
        place.write(&format!("both/{file}.parquet"), place.read(format!("corpus/{file}.parquet")));
    }
    // One file has metadata that its texts are read as views.
    for from in ["", "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'both/*.parquet';"] {
        let table = if from.is_empty() { "'both/*.parquet'" } else { "t" };
        let rows = place.sql(&format!("{from} SELECT count(*) AS n, count(text) AS texts FROM {table}"));
        assert_eq!(rows, [json!({ "n": 3, "texts": 3 })], "{from}");
    }
    for (name, value) in [("a", "1"), ("b", "2"), ("c", "'x'")] {
        let (sql, file) = (format!("SELECT {value} AS n"), format!("{name}.parquet"));
        assert_eq!(place.run_with(["sql", &sql, "-o", &file], "").code, Some(0));
    }
    for sql in ["SELECT * FROM '?.parquet'", "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '?.parquet'"] {
        let said = place.run_with(["sql", sql], "").err;
        assert!(said.contains("the column \"n\" is Int64 in ") && said.contains("a.parquet, and Utf8"), "{said}");
        assert!(said.contains("c.parquet: name files with the same columns"), "{said}");
    }
}

#[test]
fn verify_says_what_it_does_not_look_at() {
    let place = Place::with([("found/more/x", ""), ("found/.hidden/x", "")]);
    for file in ["found/[a].parquet", "found/more/b.parquet"] {
        place.ok(&format!("sql SELECT(1) -o {file} -q"));
    }
    let said = place.ok("verify found");
    assert!(said.contains("found/more: passed over, a folder: name it to verify it\n"), "{said}");
    assert!(said.ends_with("1 files, all as they were written; passed over 1\n"), "{said}");
    let said = place.ok("verify found/[a].parquet found/more/");
    assert!(said.ends_with("2 files, all as they were written\n"), "{said}");
    for pattern in ["found/*.parquet", "fou?d"] {
        let ended = place.run_with(["verify", pattern], "");
        let says = format!("{pattern}: verify takes no patterns");
        assert!(ended.code == Some(1) && ended.err.contains(&says) && ended.out.is_empty(), "{ended:?}");
    }
}
