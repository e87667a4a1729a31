//! Results of runs that fail, are killed or run at once: the old result stays, or the complete new one replaces it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::{Value, json};

use crate::program::{Dice, Place, collection_jsonl, copy_folder, run_command, times};
use crate::s3_server::end;
use crate::scene::{ROOTS, Scene, entries, files, tables_kept};

#[test]
fn of_two_that_write_one_place_one_wins() {
    let place = Place::new();
    for (name, seed) in [("a", 1), ("b", 2)] {
        place.write(&format!("{name}.jsonl"), collection_jsonl(40, seed));
    }
    let state = || ["corpus/documents.parquet", "corpus/sentences.parquet", "out.csv"].map(|file| place.read(file));
    let lines = |name: &str| {
        [format!("ingest {name}.jsonl -o corpus"), format!("pairs {name}.jsonl --threshold 0.1 -o out.csv")]
    };
    let results = ["a", "b"].map(|name| {
        lines(name).iter().for_each(|line| drop(place.ok(line)));
        state()
    });
    let mut won = [0, 0];
    for _ in 0..times("IBID_RACES", 3) {
        let runs: Vec<_> = ["a", "b"].iter().flat_map(|name| lines(name)).map(|line| place.start(&line)).collect();
        for mut run in runs {
            assert_eq!(run.wait().unwrap().code(), Some(0));
        }
        let now = state();
        // The state must be one of the two corpora, and one of the two files.
        let corpus = results.iter().position(|result| result[..2] == now[..2]).expect("a mixture of two corpora");
        assert!(results.iter().any(|result| result[2] == now[2]), "a mixture of two files");
        won[corpus] += 1;
        assert_eq!(place.names(), ["a.jsonl", "b.jsonl", "corpus", "out.csv"]);
    }
    eprintln!("of two at once {won:?} came last");
}

#[test]
fn a_query_that_fails_at_any_batch_leaves_the_old_file() {
    let place = Place::with([("out.parquet", "the old result")]);
    let batches = times("IBID_FAILURES", 10);
    for batch in 0..batches {
        let at = 8192 * batch + (batch * 4099) % 8192;
        let sql = format!(
            "SELECT value, CAST(CASE WHEN value = {at} THEN 'x' ELSE '1' END AS INT) AS n FROM generate_series(0, {})",
            8192 * batches
        );
        let ended = place.run_with(["sql", &sql, "-o", "out.parquet"], "");
        assert_eq!(ended.code, Some(1), "{at}");
        assert_eq!(place.read("out.parquet"), b"the old result", "{at}");
        assert_eq!(place.names(), ["out.parquet"], "{at}");
    }
}

/// Simulates a full disk: no file may have more than some kilobytes.
#[test]
fn a_full_disk_leaves_the_old_file() {
    let place = Place::with([("out.parquet", "the old result")]);
    place.write("a.jsonl", collection_jsonl(3000, 1));
    for line in [
        "sql 'SELECT value, random() AS n FROM generate_series(0, 1000000)' -o out.parquet",
        // A single row, for which a sort spills.
        "sql 'SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY r) AS n FROM (SELECT random() AS r FROM \
         generate_series(1, 10000000)))' -o out.parquet --memory 128MiB --threads 1",
        "ingest a.jsonl -o corpus",
        "pairs a.jsonl --unit sentence -o out.parquet",
        "pairs index --add a.jsonl -o out.parquet",
    ] {
        let mut shell = Command::new("bash");
        let script = format!("trap '' XFSZ; ulimit -f 64; {} {line}", env!("CARGO_BIN_EXE_ibid"));
        shell.args(["-c", &script]).current_dir(place.path("")).env("TMPDIR", place.path("tmp"));
        let ended = run_command(shell, "");
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.err);
        assert!(ended.err.contains("File too large"), "{line}: {}", ended.err);
        assert_eq!(place.read("out.parquet"), b"the old result", "{line}");
        assert!(!place.path("corpus").exists(), "{line}");
        assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new(), "{line}");
    }
    // Nothing was added to the index.
    let ended = place.run("pairs index");
    assert!(ended.err.contains("has no documents yet") || ended.err.contains("does not exist"), "{}", ended.err);
}

/// A query that fails at the last of its 200,000 rows.
const FAILS_LATE: &str =
    "SELECT value, CAST(CASE WHEN value = 199999 THEN 'x' ELSE '1' END AS INT) AS n FROM generate_series(0, 199999)";

#[test]
fn a_query_that_fails_late_leaves_the_old_file() {
    for file in ["out.parquet", "out.csv", "out.ndjson"] {
        let place = Place::with([(file, "the old result")]);
        let ended = place.run_with(["sql", FAILS_LATE, "-o", file], "");
        assert_eq!(ended.code, Some(1));
        assert!(ended.err.contains("Cannot cast string 'x'"), "{}", ended.err);
        assert_eq!(place.read(file), b"the old result");
        assert_eq!(place.names(), [file]);
    }
}

#[test]
fn copy_is_refused_and_leaves_the_old_file() {
    let place = Place::with([("out.csv", "the old result")]);
    let copy = format!("COPY ({FAILS_LATE}) TO 'out.csv'");
    for sql in [copy.clone(), format!("EXPLAIN ANALYZE {copy}")] {
        let ended = place.run_with(["sql", &sql], "");
        assert_eq!(ended.code, Some(1), "{sql}");
        assert!(ended.err.contains("-o FILE"), "{sql}: {}", ended.err);
        assert_eq!(place.read("out.csv"), b"the old result", "{sql}");
        assert_eq!(place.names(), ["out.csv"], "{sql}");
    }
}

#[test]
fn insert_is_refused_and_leaves_the_table() {
    let place = Place::with([("t/1.csv", "value,n\n1,1\n")]);
    let table = "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 't/' OPTIONS ('format.has_header' 'true');";
    for insert in [format!("INSERT INTO t {FAILS_LATE}"), format!("EXPLAIN ANALYZE INSERT INTO t {FAILS_LATE}")] {
        let ended = place.run_with(["sql", &format!("{table}{insert}")], "");
        assert_eq!(ended.code, Some(1), "{insert}");
        assert!(ended.err.contains("-o FILE"), "{insert}: {}", ended.err);
        assert_eq!(entries(&place.path("t")), [place.path("t/1.csv")], "{insert}");
    }
}

#[test]
fn a_script_that_fails_or_gives_no_result_leaves_the_old_file() {
    let place = Place::with([("out.csv", "the old result")]);
    for (sql, says) in [
        ("SELECT 1; SELECT boom", "boom"),
        ("SELECT 1; SELECT 2", "more than one result"),
        ("SET ibid.gpu = 'off'", "no statement gives rows for out.csv"),
    ] {
        let ended = place.run_with(["sql", sql, "-o", "out.csv"], "");
        assert_eq!(ended.code, Some(1), "{sql}");
        assert!(ended.err.contains(says), "{sql}: {}", ended.err);
        assert_eq!(place.read("out.csv"), b"the old result", "{sql}");
        assert_eq!(place.names(), ["out.csv"], "{sql}");
    }
}

#[test]
fn a_table_is_replaced_when_the_new_one_is_made() {
    let place = Place::with([(
        "replace.sql",
        "CREATE TABLE t AS SELECT 1 AS n;\nCREATE OR REPLACE TABLE t AS SELECT n + 1 AS n FROM t;\n\\o t.csv\n\
         SELECT * FROM t;\nCREATE OR REPLACE TABLE t AS SELECT CAST('x' || n AS INT) AS n FROM t;",
    )]);
    place.fails(1, "sql -f replace.sql");
    assert_eq!(place.read("t.csv"), b"n\n2\n");
    // The same with a kept table of the same name.
    for n in [1, 2] {
        let sql = format!(
            "CREATE TABLE t AS SELECT {n} AS n; CREATE OR REPLACE TABLE t AS SELECT n + 1 AS n FROM t; SELECT * FROM t"
        );
        let ended = place.run_with(["sql", &sql, "--format", "csv", "--resume", "kept"], "");
        assert_eq!(ended.text(), format!("n\n{}\n", n + 1), "{}", ended.err);
    }
    assert!(place.fails(1, "sql SELECT --resume s3://box/kept").contains("a folder of this machine"));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_modes_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let place = Place::with([("real/out.csv", "the old result")]);
    std::fs::set_permissions(place.path("real/out.csv"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("real/out.csv", place.path("link.csv")).unwrap();
    symlink("real/last", place.path("new.csv")).unwrap();
    symlink("new.csv", place.path("real/last")).unwrap();
    let sql = |output: &str| {
        let ended = place.run_with(["sql", "SELECT 1 AS n", "--format", "csv", "-o", output], "");
        assert_eq!(ended.code, Some(0), "{output}: {}", ended.err);
        ended
    };
    for (link, real) in [("link.csv", "real/out.csv"), ("new.csv", "real/new.csv")] {
        sql(link);
        assert!(place.path(link).is_symlink() && (link != "new.csv" || place.path("real/last").is_symlink()));
        assert_eq!(place.read(real), b"n\n1\n");
    }
    assert_eq!(std::fs::metadata(place.path("real/out.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reading = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    sql("pipe");
    assert_eq!(reading.join().unwrap(), b"n\n1\n");
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(sql("/dev/stdout").text(), "n\n1\n");
}

/// Results are not written with `COPY`, because it replaces the old file by half of the new one.
#[tokio::test]
async fn copy_does_not_leave_the_old_file() {
    let session = ibid::session(Default::default(), Default::default()).unwrap();
    for (file, format) in [("out.parquet", "PARQUET"), ("out.csv", "CSV"), ("out.ndjson", "JSON")] {
        let place = Place::with([(file, "the old result")]);
        let copy = format!("COPY ({FAILS_LATE}) TO '{}' STORED AS {format}", place.path(file).display());
        let error = session.sql(&copy).await.unwrap().collect().await.unwrap_err().to_string();
        assert!(error.contains("Cannot cast string 'x'"), "{format}: {error}");
        assert_ne!(place.read(file), b"the old result", "{format}");
    }
}

#[test]
fn a_private_corpus_stays_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(5, 1));
    std::fs::create_dir(place.path("corpus")).unwrap();
    let mode = |path: &str| place.path(path).metadata().unwrap().permissions().mode() & 0o777;
    let set = |path: &str, mode| {
        std::fs::set_permissions(place.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("corpus", 0o700);
    place.ok("ingest a.jsonl -o corpus");
    assert_eq!(mode("corpus"), 0o700);
    set("corpus/documents.parquet", 0o600);
    place.ok("ingest a.jsonl -o corpus");
    assert_eq!((mode("corpus"), mode("corpus/documents.parquet")), (0o700, 0o600));
}

#[test]
fn a_bad_record_late_in_the_input_leaves_the_old_result() {
    let place = Place::with([("out.parquet", "the old result")]);
    place.write("bad.jsonl", format!("{}not json\n", collection_jsonl(50, 1)));
    place.fails(1, "passages bad.jsonl -o out.parquet");
    place.fails(1, "ingest bad.jsonl -o corpus");
    assert_eq!(place.read("out.parquet"), b"the old result");
    assert_eq!(place.names(), ["bad.jsonl", "out.parquet"]);
}

/// Queries that take at least a minute: in standard operators, in a single call of a function, while tables are
/// written, and while a sort spills.
const ENDLESS: [&str; 4] = [
    "SELECT count(*) FROM generate_series(1, 3000000) AS a, generate_series(1, 3000000) AS b \
     WHERE a.value * b.value % 7 = 3",
    "SELECT cardinality(diagonals(CAST(value % 450 AS INT), CAST(value / 450 AS INT), CAST('Infinity' AS DOUBLE), 3, 1000)) \
     FROM generate_series(0, 200000)",
    "CREATE TABLE t AS SELECT value FROM generate_series(1, 3000000000000); SELECT * FROM t",
    "SELECT value, random() AS r FROM generate_series(1, 3000000000000) ORDER BY r",
];

#[test]
fn an_interrupted_run_ends_at_once_and_cleans_up() {
    for sql in ENDLESS {
        assert_ended_by("INT", 130, "interrupted", sql);
    }
}

#[test]
fn a_terminated_run_ends_at_once_and_cleans_up() {
    for sql in ENDLESS {
        assert_ended_by("TERM", 143, "terminated", sql);
    }
}

#[test]
fn an_interrupted_fit_ends_at_once_and_cleans_up() {
    let mut dice = Dice(5);
    let mut posts = String::new();
    let mut labels = String::from("id_a,id_b,label\n");
    let fields = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for id in 0..40 {
        let texts: Vec<_> = fields.iter().map(|field| format!("\"{field}\": \"{}\"", dice.sentence(12, 20))).collect();
        posts.push_str(&format!("{{\"id\": {id}, {}}}\n", texts.join(", ")));
        (0..id).for_each(|other| labels.push_str(&format!("{id},{other},{}\n", dice.below(2))));
    }
    let place = Place::with([("posts.jsonl", &posts), ("labels.csv", &labels), ("out.csv", "the old result")]);
    let fields = fields.map(|field| format!("--field {field} ")).concat();
    // So many starts take hours.
    let line = format!(
        "threads posts.jsonl {fields}--signature shingles:1 --labels labels.csv --weights fit --starts 65535 -o out.csv"
    );
    let run = Endless::start(&place, place.command(line.split(' ')));
    std::thread::sleep(Duration::from_secs(3));
    run.signal("INT");
    assert_eq!(run.end(), (Some(130), "ibid: interrupted\n".to_string()));
    assert_eq!(place.read("out.csv"), b"the old result");
    assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new());
}

/// Interrupts every command that may take long, at moments spread over its run, in a folder and in a store.
#[test]
fn any_command_that_is_interrupted_ends_at_once_and_cleans_up() {
    let mut took = Vec::new();
    for root in ROOTS {
        let scene = Scene::new(root);
        scene.write("a.jsonl", collection_jsonl(300, 1));
        scene.write("b.jsonl", collection_jsonl(300, 2).replace("\"d0", "\"e0"));
        scene.write("set/docs.jsonl", collection_jsonl(100, 1));
        scene.write("set/labels.csv", "contained,container\nd00000,d00001\n".to_owned());
        scene.ok("ingest @/a.jsonl -o @/corpus");
        let tmp = scene.server.place.path("tmp");
        let mut dice = Dice(7);
        for line in [
            "ingest @/b.jsonl -o @/other --resume tables",
            "passages @/corpus -o @/out.parquet",
            "pairs @/corpus --unit sentence --memory 128MiB -o @/out.parquet",
            "threads @/b.jsonl --field text --strategy term -o @/out.csv --groups @/groups.csv",
            "clusters @/corpus -o @/clusters",
            "containment @/b.jsonl --against @/corpus -o @/out.ndjson",
            "containment @/index --add @/b.jsonl -o @/added.csv",
            "search @/corpus --queries @/b.jsonl -o @/out.parquet",
            "codes learn @/corpus -o @/codes.parquet",
            "compare containment @/set",
            "explain passages @/corpus",
            "verify @/corpus",
        ] {
            let is_index = line.contains("--add");
            copy_folder(&scene.folder(), &scene.server.place.path("before"));
            let began = Instant::now();
            scene.ok(line);
            let whole_run = began.elapsed();
            // Two runs that add to one index do not give identical files.
            let contents = |path: PathBuf| (path.clone(), std::fs::read(path).unwrap());
            let state = || -> BTreeMap<_, _> {
                let seen = if is_index { Vec::new() } else { files(&scene.path("")) };
                seen.into_iter().map(contents).collect()
            };
            let after = state();
            for _ in 0..times("IBID_INTERRUPTS", 1) {
                if is_index {
                    copy_folder(&scene.server.place.path("before"), &scene.folder());
                }
                let command = scene.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
                let run = Endless(command);
                std::thread::sleep(whole_run * u32::try_from(100 + dice.below(900)).unwrap() / 1000);
                let asked = Instant::now();
                run.signal("INT");
                let (code, said) = run.end();
                took.push(asked.elapsed());
                // The run may just have finished, or may not listen to signals yet.
                let is_interrupted = code == Some(130) && said.ends_with("ibid: interrupted\n");
                assert!(is_interrupted || matches!(code, Some(0 | -2)), "{line}: {code:?} {said}");
                let left = state();
                let others = |file: &&PathBuf| left.get(*file) != after.get(*file);
                let others: BTreeSet<_> = left.keys().chain(after.keys()).filter(others).collect();
                assert!(others.is_empty(), "{line}, in {root}: {others:?} are others, or not there");
                assert_eq!(entries(&tmp), Vec::<PathBuf>::new(), "{line}, in {root}");
                if is_index && root.contains("://") {
                    // Removes the files that a manifest was about to name.
                    scene.ok("gc @/index --grace 0s");
                }
                for folder in if is_index { &["@", "@/index"][..] } else { &["@"] } {
                    let left = end(scene.command(&format!("gc {folder} --grace 0s --dry-run")));
                    let is_absent = left.err.contains("cannot read");
                    assert!(
                        left.text().contains("would be removed 0") || is_absent,
                        "{line}: {} {}",
                        left.text(),
                        left.err
                    );
                }
            }
        }
    }
    // A machine that is busy with other tests may delay some.
    took.sort_unstable();
    eprintln!("the slowest ended after {:?}", took.last());
    assert!(took[took.len() * 3 / 4] < Duration::from_secs(1), "{took:?}");
}

/// In about one of a hundred tries, a very short run is interrupted while it commits a folder.
#[test]
fn a_folder_that_takes_its_place_is_not_emptied() {
    let place = Place::with([("a.jsonl", &collection_jsonl(300, 2))]);
    let line = "ingest a.jsonl -o corpus --resume kept --quiet";
    place.ok(line);
    let read =
        || ["documents.parquet", "sentences.parquet", "manifest.json"].map(|file| place.read(format!("corpus/{file}")));
    let began = Instant::now();
    place.ok(line);
    let (whole_run, whole) = (began.elapsed(), read());
    let mut dice = Dice(11);
    for _ in 0..50 * times("IBID_INTERRUPTS", 1) {
        let run = place.command(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let run = Endless(run);
        std::thread::sleep(whole_run * u32::try_from(300 + dice.below(900)).unwrap() / 1000);
        run.signal("INT");
        let (code, said) = run.end();
        assert!(matches!(code, Some(130 | 0 | -2)), "{code:?} {said}");
        assert!(read() == whole);
    }
}

/// Input that can be read only once is copied first.
#[test]
fn an_interrupted_copy_of_standard_input_is_removed() {
    let place = Place::new();
    let (reader, mut writer) = std::io::pipe().unwrap();
    // More will never come.
    writer.write_all(b"{\"text\": \"One.\"}\n").unwrap();
    let mut command = place.command(["ingest", "-", "-o", "corpus"]);
    command.stdin(reader);
    let run = Endless::start(&place, command);
    run.signal("INT");
    assert_eq!(run.end(), (Some(130), "ibid: interrupted\n".to_string()));
    assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new());
}

#[test]
fn a_run_that_lost_its_terminal_ends_at_once_and_cleans_up() {
    // Under nohup, the tests pass the ignored signal on to the program.
    if !hangup_is_ignored() {
        assert_ended_by("HUP", 129, "hung up", ENDLESS[0]);
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let place = Place::new();
    let mut nohup = Command::new("nohup");
    let ibid = env!("CARGO_BIN_EXE_ibid");
    nohup.args([ibid, "sql", ENDLESS[0], "-o", "out.csv"]).current_dir(place.path("")).env("TMPDIR", place.path("tmp"));
    let mut run = Endless::start(&place, nohup);
    run.signal("HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert!(run.0.try_wait().unwrap().is_none(), "it ended");
    run.signal("TERM");
    assert_eq!(run.end().0, Some(143));
    assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new());
}

fn assert_ended_by(signal: &str, code: i32, said: &str, sql: &str) {
    let place = Place::with([("out.csv", "the old result")]);
    let run = Endless::start(&place, place.command(["sql", sql, "-o", "out.csv", "--memory", "100MiB"]));
    run.signal(signal);
    let (ended, err) = run.end();
    assert_eq!(ended, Some(code), "{signal}, {sql}: {err}");
    assert_eq!(err, format!("ibid: {said}\n"), "{sql}");
    assert_eq!(place.read("out.csv"), b"the old result");
    assert_eq!(place.names(), ["out.csv"], "{signal}, {sql}");
    assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new(), "{signal}, {sql}");
}

/// A run that does not end by itself.
struct Endless(Child);

impl Endless {
    /// Starts a run and waits until it works.
    fn start(place: &Place, mut command: Command) -> Self {
        let mut run = Self(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        // The program listens to signals before it makes its first temporary folder.
        run.wait_until(|_| !entries(&place.path("tmp")).is_empty());
        // Waits until the run is in the middle of the query. On a machine that is too busy for that, the test is
        // easier.
        std::thread::sleep(Duration::from_secs(1));
        run
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end. Returns the exit code, or the negative number of the signal that ended the run, and the
    /// standard error.
    fn end(mut self) -> (Option<i32>, String) {
        self.wait_until(|run| run.try_wait().unwrap().is_some());
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = self.0.wait().unwrap();
        (status.code().or(status.signal().map(|signal| -signal)), said)
    }

    /// Waits for a condition. The limit is generous for a busy machine, but short compared with the time of the
    /// queries.
    fn wait_until(&mut self, is_so: impl Fn(&mut Child) -> bool) {
        let began = Instant::now();
        while !is_so(&mut self.0) {
            assert!(began.elapsed() < Duration::from_secs(15), "waited for 15 seconds");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        // The process has already ended, unless the test failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("1");
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

/// Flips a byte of a file.
fn flip(place: &Place, file: &str, at: usize) {
    let mut bytes = place.read(file);
    bytes[at] ^= 0x10;
    place.write(file, bytes);
}

#[test]
fn verify_knows_results_that_are_not_what_was_written() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(60, 1));
    place.ok("ingest a.jsonl -o corpus");
    place.ok("passages corpus -o reuse.parquet");
    place.ok("clusters corpus -o clusters");
    for (result, files) in [("reuse.parquet", 1), ("corpus", 3), ("clusters", 6)] {
        let said = place.ok(&format!("verify {result}"));
        assert_eq!(said.matches(": sound, ").count(), files, "{said}");
    }
    let size = place.read("reuse.parquet").len();
    flip(&place, "reuse.parquet", size / 3);
    let ended = place.run("verify reuse.parquet");
    assert_eq!(ended.code, Some(1));
    assert!(ended.text().contains("reuse.parquet: WRONG: "), "{}", ended.text());
    let ended = place.run_with(["sql", "SELECT * FROM 'reuse.parquet'"], "");
    assert!(ended.code == Some(1) && ended.err.contains("is not what was written"), "{}", ended.err);

    // A corpus with one file of another corpus.
    place.write("b.jsonl", collection_jsonl(60, 2));
    place.ok("ingest b.jsonl -o other");
    place.write("corpus/sentences.parquet", place.read("other/sentences.parquet"));
    assert!(place.run("verify corpus").text().contains("sentences.parquet: WRONG: its seal is"));
    let said = place.fails(1, "passages corpus");
    assert!(said.contains("corpus/sentences.parquet is not what was written"), "{said}");

    // A table of a corpus as documents of another corpus.
    place.write("copy.parquet", place.read("other/documents.parquet"));
    place.ok("ingest copy.parquet -o again");
    flip(&place, "copy.parquet", 100);
    let said = place.fails(1, "ingest copy.parquet -o again");
    assert!(said.contains("copy.parquet: it is damaged from byte 0 to "), "{said}");

    place.ok("passages other -o reuse.csv");
    assert!(place.run("verify reuse.csv").text().contains("it has no seal"));
}

/// Returns a manifest with this content and a valid seal.
fn sealed(mut json: Value) -> String {
    json.as_object_mut().unwrap().remove("seal");
    let text = serde_json::to_string_pretty(&json).unwrap();
    let text = text.strip_suffix("\n}").unwrap();
    format!("{text},\n  \"seal\": \"{:016x}\"\n}}\n", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

#[test]
fn a_flipped_byte_of_any_result_is_found_by_verify() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(40, 1));
    place.write("b.jsonl", collection_jsonl(40, 2).replace("\"d0", "\"e0"));
    std::fs::create_dir(place.path("pairs")).unwrap();
    for line in [
        "ingest a.jsonl -o corpus",
        "clusters corpus -o clusters",
        "pairs index --add a.jsonl -o added.csv",
        "pairs index --add b.jsonl -o added.csv",
        "pairs corpus --unit sentence --threshold 0.5 -o pairs/x.parquet",
    ] {
        place.ok(line);
    }
    // A process for each flip is slow, so there are fewer flips than in the unit test of one file.
    let (mut dice, flips) = (Dice(8), times("IBID_FLIPS", 75).div_ceil(25));
    for result in ["corpus", "clusters", "index", "pairs"] {
        place.ok(&format!("verify {result}"));
        let whole = place.path(result);
        let names =
            files(&whole).into_iter().map(|file| file.strip_prefix(&whole).unwrap().to_str().unwrap().to_owned());
        let (mut manifests, mut tables): (Vec<_>, Vec<_>) = names.partition(|name| name.ends_with(".json"));
        tables.sort();
        let copies: Vec<_> = (0..flips).map(|copy| format!("flipped/{copy}")).collect();
        let mut damaged = Vec::new();
        for copy in &copies {
            copy_folder(&whole, &place.path(copy));
            let file = format!("{copy}/{}", tables[dice.below(tables.len())]);
            let at = dice.below(place.read(&file).len());
            flip(&place, &file, at);
            damaged.push((file, at));
        }
        let ended = place.run_with(["verify"].into_iter().chain(copies.iter().map(String::as_str)), "");
        assert_eq!(ended.code, Some(1), "{result}: {}", ended.err);
        for (file, at) in damaged {
            assert!(ended.text().contains(&format!("{file}: WRONG: ")), "byte {at} of {file}\n{}", ended.text());
        }
        // The newest manifest counts.
        manifests.sort();
        let Some(manifest) = manifests.pop().map(|name| format!("flipped/0/{name}")) else { continue };
        copy_folder(&whole, &place.path("flipped/0"));
        let sound = place.read(&manifest);
        // The first and the last bytes are needed to recognise the manifest.
        let by_chance: Vec<_> = (0..flips.div_ceil(2)).map(|_| dice.below(sound.len())).collect();
        for at in [0, sound.len() - 2].into_iter().chain(by_chance) {
            flip(&place, &manifest, at);
            place.fails(1, "verify flipped/0");
            place.write(&manifest, &sound);
        }
    }
}

#[test]
fn tables_that_were_kept_are_used_where_they_are_the_same_and_sound() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(60, 2));
    let kept = || {
        let mut names: Vec<_> =
            entries(&place.path("kept")).into_iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let run = |more: &str| place.ok(&format!("passages a.jsonl --format csv --resume kept{more}"));
    let whole = run("");
    let first = kept();
    assert!(!first.is_empty());
    assert_eq!(run(" --threads 1"), whole);
    assert_eq!(kept(), first, "the same tables were made anew");
    assert_eq!(run(" --threshold 0.5"), place.ok("passages a.jsonl --format csv --threshold 0.5"));
    assert!(kept().len() > first.len(), "no table was made for another threshold");
    // Damages each file of each table, one after another.
    for folder in first {
        for file in entries(&place.path("kept").join(&folder)) {
            let name = file.strip_prefix(place.path("")).unwrap().to_str().unwrap().to_owned();
            flip(&place, &name, 100.min(place.read(&name).len() - 1));
            assert_eq!(run(""), whole, "{name}");
        }
    }
    place.ok("gc kept --grace 0s");
    assert!(kept().is_empty());
}

#[test]
fn methods_in_from_keep_and_take_the_tables_of_the_command() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(60, 2));
    place.ok("pairs a.jsonl --format csv --resume kept");
    let kept = || {
        let files = entries(&place.path("kept")).into_iter().flat_map(|folder| entries(&folder));
        files.map(|file| (file.clone(), file.metadata().unwrap().modified().unwrap())).collect::<BTreeSet<_>>()
    };
    let first = kept();
    let sql = "SELECT count(*) FROM pairs('a.jsonl')";
    assert_eq!(place.run_with(["sql", sql, "--resume", "kept"], "").code, Some(0));
    assert_eq!(kept(), first);
    assert_eq!(
        place.run_with(["sql", &sql.replace("')", "', threshold => 0.7)"), "--resume", "kept"], "").code,
        Some(0)
    );
    assert!(kept().len() > first.len(), "no table was made for another threshold");
}

#[test]
fn scripts_take_only_what_would_be_made_the_same() {
    let place = Place::with([("f.csv", "a\n1\n")]);
    let run = |sql: &str| {
        let ended = place.run_with(["sql", sql, "--format", "csv", "--resume", "kept"], "");
        assert_eq!(ended.code, Some(0), "{sql}\n{}", ended.err);
        ended.text().to_owned()
    };
    let differ = |one: &str, other: &str| assert_ne!(run(one), run(other), "{one}\n{other}");
    // Settings.
    for (setting, made) in [
        ("datafusion.execution.time_zone = '+05:00'", "SELECT '2024-01-01T00:00:00'::timestamptz AS a"),
        ("datafusion.sql_parser.parse_float_as_decimal = true", "SELECT arrow_typeof(1.1) AS a"),
        (
            "datafusion.sql_parser.default_null_ordering = 'nulls_min'",
            "SELECT first_value(a ORDER BY a) AS a FROM (VALUES (1), (NULL)) AS v (a)",
        ),
    ] {
        let made = format!("CREATE TABLE x AS {made}; SELECT * FROM x");
        differ(&made, &format!("SET {setting}; {made}"));
    }
    // The objects that names refer to.
    let external =
        "EXTERNAL TABLE a STORED AS CSV LOCATION 'f.csv'; CREATE TABLE b AS SELECT * FROM a; SELECT * FROM b";
    for external in [
        format!("CREATE TABLE a AS SELECT 0 AS a; CREATE OR REPLACE {external}"),
        format!("CREATE TABLE a AS SELECT 0 AS a; DROP TABLE a; CREATE {external}"),
    ] {
        place.write("f.csv", "a\n1\n");
        let first = run(&external);
        place.write("f.csv", "a\n2\n");
        assert_ne!(run(&external), first, "{external}");
    }
    let schemas = |more: &str| {
        format!(
            "CREATE SCHEMA s; CREATE TABLE n AS SELECT 1 AS a; CREATE TABLE s.n AS SELECT 2 AS a;{more} \
             CREATE TABLE y AS SELECT * FROM n; SELECT * FROM y"
        )
    };
    differ(&schemas(""), &schemas(" SET datafusion.catalog.default_schema = 's';"));
    let stays = |n: u8| {
        format!(
            "CREATE TABLE t AS SELECT {n} AS a; CREATE TABLE IF NOT EXISTS t AS SELECT 5 AS a; CREATE TABLE u AS SELECT * FROM t; \
             SELECT * FROM u"
        )
    };
    assert_eq!([run(&stays(1)), run(&stays(2))], ["a\n1\n", "a\n2\n"]);
    // Values that differ each time, also in a view or among the arguments of a table.
    for varying in [
        "CREATE TABLE r AS SELECT random() AS a; SELECT * FROM r",
        "CREATE TABLE r AS SELECT uuid() AS a; SELECT * FROM r",
        "CREATE VIEW v AS SELECT Current_Timestamp AS a; CREATE TABLE r AS SELECT * FROM v; SELECT * FROM r",
    ] {
        differ(varying, varying);
    }
    // The same table is taken again, whatever the settings that do not affect its rows.
    let same = "CREATE VIEW v AS SELECT 3 AS a; CREATE TABLE s AS SELECT a FROM v; SELECT * FROM s";
    let first = run(same);
    let kept = entries(&place.path("kept"));
    assert_eq!(run(&format!("SET datafusion.execution.batch_size = 7; SET ibid.gpu = off; {same}")), first);
    assert_eq!(entries(&place.path("kept")).len(), kept.len());
}

#[test]
fn a_kept_table_has_its_own_files_and_no_others() {
    let place = Place::new();
    let run = |n: u8| {
        let sql = format!("CREATE TABLE t AS SELECT {n} AS a; SELECT * FROM t");
        let ended = place.run_with(["sql", &sql, "--format", "csv", "--resume", "kept"], "");
        assert_eq!(ended.text(), format!("a\n{n}\n"), "{}", ended.err);
        ended.err
    };
    run(1);
    let one = entries(&place.path("kept")).remove(0);
    assert_eq!(run(1), "");
    run(2);
    let other = entries(&place.path("kept")).into_iter().find(|folder| *folder != one).unwrap();
    std::fs::copy(other.join("0.parquet"), one.join("more.parquet")).unwrap();
    assert!(run(1).contains("is made anew"));
    // Files that no run puts there belong to somebody.
    for mine in ["notes.txt", "index/parts/0.parquet"] {
        let mine = one.join(mine);
        std::fs::create_dir_all(mine.parent().unwrap()).unwrap();
        std::fs::copy(other.join("0.parquet"), &mine).unwrap();
        let ended = place.run_with(["sql", "CREATE TABLE t AS SELECT 1 AS a; SELECT * FROM t", "--resume", "kept"], "");
        assert!(ended.code == Some(1) && ended.err.contains("is no folder of a run: it holds"), "{}", ended.err);
        assert!(mine.exists());
        std::fs::remove_file(one.join("notes.txt")).ok();
    }
    std::fs::remove_dir_all(&one).unwrap();
    std::fs::rename(&other, &one).unwrap();
    assert!(run(1).contains("is made anew"));
    assert_eq!(run(1), "");
}

#[test]
fn a_corpus_that_is_another_meanwhile_is_an_error() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(20, 1));
    place.write("b.jsonl", collection_jsonl(20, 3));
    // More than a pipe holds: once it is written, it is being read, and the corpus is already open.
    let others = collection_jsonl(400, 2);
    assert!(others.len() > 200_000, "{}", others.len());
    for line in ["passages", "pairs", "containment --threshold 0.2 --passages"] {
        place.ok("ingest a.jsonl -o corpus");
        let line = format!("{line} corpus --against - --input-format jsonl -o rows.ndjson --resume kept");
        let mut command = place.command(line.split(' '));
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(others.as_bytes()).unwrap();
        place.ok("ingest b.jsonl -o corpus");
        drop(input);
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(1) && said.contains("was changed while it was read"), "{line}: {said}");
    }
    assert!(!place.path("rows.ndjson").exists());
}

#[test]
fn a_kept_table_that_cannot_be_read_stays() {
    let place = Place::new();
    let tables: String = (0..4).map(|n| format!("CREATE TABLE t{n} AS SELECT {n} AS a; ")).collect();
    place.write("x.sql", tables + "SELECT count(*) AS n FROM t0, t1, t2, t3;");
    place.ok("sql -f x.sql --threads 1 --resume kept");
    let kept = || {
        let files = entries(&place.path("kept")).into_iter().flat_map(|folder| entries(&folder));
        files.map(|file| (file.clone(), file.metadata().unwrap().modified().unwrap())).collect::<BTreeSet<_>>()
    };
    let first = kept();
    let mut failed = 0;
    // The run reaches its limit of open files at different places.
    for files in 6..30 {
        let mut shell = Command::new("bash");
        let script =
            format!("ulimit -n {files}; {} sql -f x.sql --threads 1 --resume kept", env!("CARGO_BIN_EXE_ibid"));
        shell.args(["-c", &script]).current_dir(place.path("")).env("TMPDIR", place.path("tmp"));
        let ended = run_command(shell, "");
        assert!(!ended.err.contains("is damaged"), "{files}: {}", ended.err);
        assert_eq!(kept(), first, "{files}: {}", ended.err);
        failed += usize::from(ended.err.contains("cannot read the table kept"));
    }
    assert!(failed > 0);
}

#[test]
fn files_are_read_once_unless_they_change() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(60, 2));
    let run = |more: &str| place.ok(&format!("passages a.jsonl --format csv{more}"));
    let whole = run(" --resume kept");
    let read = || {
        let folders = entries(&place.path("kept")).into_iter();
        folders.filter(|folder| folder.join("documents.parquet").exists()).collect::<Vec<_>>()
    };
    let first = read();
    assert_eq!(first.len(), 1);
    // A corpus takes the tables from there: the changed count in the kept manifest appears in the summary.
    let noted = std::fs::read_to_string(first[0].join("manifest.json")).unwrap();
    assert!(noted.contains("\"documents\": 60"), "{noted}");
    let noted = sealed(serde_json::from_str(&noted.replace("\"documents\": 60", "\"documents\": 61")).unwrap());
    std::fs::write(first[0].join("manifest.json"), noted).unwrap();
    assert!(place.run("ingest a.jsonl -o corpus --resume kept").err.contains("documents 61"));
    assert!(place.run("ingest a.jsonl -o other").err.contains("documents 60"));
    for file in ["documents.parquet", "sentences.parquet"] {
        assert!(place.read(format!("corpus/{file}")) == place.read(format!("other/{file}")), "{file}");
    }
    // Bad records are reported each time, so with `--on-error skip` the files are read each time.
    assert_eq!(run(" --resume kept --on-error skip"), whole);
    assert_eq!(read(), first);
    // A change of one byte is enough.
    let changed = String::from_utf8(place.read("a.jsonl")).unwrap().replacen(". ", "! ", 1);
    place.write("a.jsonl", changed);
    assert_eq!(run(" --resume kept"), run(""));
    assert_eq!(read().len(), 2);
}

#[test]
fn a_manifest_says_what_was_read_and_what_is_there() {
    let place = Place::new();
    let texts = [collection_jsonl(20, 1), collection_jsonl(20, 2).replace("\"d0", "\"e0")];
    place.write("in/a.jsonl", &texts[0]);
    place.write("in/b.jsonl", &texts[1]);
    let manifest =
        |folder: &str| -> Value { serde_json::from_slice(&place.read(format!("{folder}/manifest.json"))).unwrap() };
    let corpus = |threads: u8| {
        place.ok(&format!("ingest in -o corpus --threads {threads}"));
        manifest("corpus")
    };
    let made = corpus(1);
    assert_eq!(made["inputs"], json!(["in"]));
    let hash = &made["content"]["xxh3"];
    assert_eq!(made["content"], json!({ "files": 2, "bytes": texts.concat().len(), "xxh3": hash }));
    assert_eq!(corpus(8), made);
    place.write("in/b.jsonl", texts[1].replacen(". ", "! ", 1));
    let other = corpus(8);
    assert_eq!(other["content"]["bytes"], made["content"]["bytes"]);
    assert!(hash.is_string() && other["content"]["xxh3"] != *hash, "{hash}");
    // The manifest must match the footers of the files.
    place.ok("clusters corpus -o clusters");
    for (folder, tables) in [("corpus", 3), ("clusters", 6)] {
        let mut there = files(&place.path(folder));
        there.retain(|file| file.extension().is_some_and(|extension| extension == "parquet"));
        there.sort();
        assert_eq!(there.len(), tables);
        let of_file = |file: &PathBuf| {
            let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
            let footer = reader.metadata().file_metadata();
            let seal = footer.key_value_metadata().unwrap().iter().find(|pair| pair.key == "ibid.seal").unwrap();
            let (name, bytes) = (file.file_name().unwrap().to_str(), file.metadata().unwrap().len());
            json!({ "name": name, "rows": footer.num_rows(), "bytes": bytes, "seal": seal.value })
        };
        assert_eq!(manifest(folder)["files"], there.iter().map(of_file).collect::<Value>());
    }
    let of_table = |file: &Value| {
        let table = file["name"].as_str().unwrap().strip_suffix(".parquet");
        json!({ "table": table, "rows": file["rows"], "seal": file["seal"] })
    };
    // Clusters do not depend on the origins of documents.
    let is_read = |file: &&Value| file["name"] != "origins.parquet";
    let read: Value = other["files"].as_array().unwrap().iter().filter(is_read).map(of_table).collect();
    assert_eq!(manifest("clusters")["inputs"], read);
}

#[test]
fn tables_that_a_run_reads_are_kept_as_long_as_it_lives() {
    let place = Place::new();
    let script = "CREATE TABLE t AS SELECT 1 AS n; SELECT count(*) FROM t, generate_series(1, 1000000000000)";
    let mut reading = place.command(["sql", script, "--resume", "kept"]).stdout(Stdio::null()).spawn().unwrap();
    let kept = || tables_kept(&place.path("kept"));
    let began = Instant::now();
    while kept() == 0 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // The table is locked when it appears, or immediately after.
    std::thread::sleep(Duration::from_millis(200));
    place.ok("gc kept --grace 0s");
    assert_eq!(kept(), 1);
    reading.kill().unwrap();
    reading.wait().unwrap();
    place.ok("gc kept --grace 0s");
    assert_eq!(kept(), 0);
}

#[test]
fn gc_removes_what_killed_runs_left_and_nothing_of_those_that_live() {
    let place = Place::with([("mine.txt", "years of work"), (".hidden", "more of it")]);
    let run = Endless::start(&place, place.command(["sql", ENDLESS[2], "-o", "out.csv"]));
    let killed = Endless::start(&place, place.command(["sql", ENDLESS[0], "-o", "out.csv"]));
    let count = || entries(&place.path("tmp")).len();
    assert_eq!(count(), 2);
    killed.signal("KILL");
    killed.end();
    assert_eq!(count(), 2);
    let said = place.ok("gc tmp");
    assert!(said.contains("younger than --grace"), "{said}");
    assert_eq!(count(), 2);
    place.ok("gc tmp --grace 0s");
    assert_eq!(count(), 1);
    place.ok("gc . --grace 0s");
    run.signal("TERM");
    run.end();
    assert_eq!(count(), 0);
    assert_eq!(place.names(), [".hidden", "mine.txt"]);
}

#[test]
fn gc_removes_nothing_that_has_but_the_name_of_what_runs_leave() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(20, 1));
    let (app, corpus) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    place.write(&format!("{app}/manifest.json"), "{\"name\": \"an app\", \"sql\": \"\", \"noted\": {}}");
    place.ok(&format!("ingest a.jsonl -o {corpus}"));
    for (folder, lock) in [("thesis", "years of work"), ("essays", "")] {
        place.write(&format!("ibid-{folder}/lock"), lock);
        place.write(&format!("ibid-{folder}/{folder}.tex"), "years of work");
    }
    place.ok("passages a.jsonl -o x.csv --resume kept");
    let mut kept = entries(&place.path("kept"));
    std::fs::write(kept.pop().unwrap().join("notes.txt"), "about it").unwrap();
    let before = place.names();
    let said = place.ok("gc . --grace 0s");
    assert!(said.contains("files and folders removed 0"), "{said}");
    assert_eq!(place.names(), before);
    place.ok("gc kept --grace 0s");
    assert_eq!(entries(&place.path("kept")).len(), 1);
}

#[test]
fn verify_knows_folders_that_are_not_what_was_written() {
    let place = Place::new();
    for (number, name) in ["a", "b"].into_iter().enumerate() {
        place.write(&format!("{name}.jsonl"), collection_jsonl(20, number as u64));
    }
    place.ok("ingest a.jsonl -o whole");
    place.ok("pairs index --add a.jsonl -o x.csv");
    place.ok("passages b.jsonl -o other.parquet");
    let wrong = |expected: &str| {
        let ended = place.run("verify corpus");
        assert!(ended.code == Some(1) && ended.text().contains(expected), "{expected}: {}{}", ended.text(), ended.err);
    };
    let anew = || copy_folder(&place.path("whole"), &place.path("corpus"));
    let edit = |file: &str, change: &dyn Fn(&mut Value)| {
        let mut json = serde_json::from_slice(&place.read(file)).unwrap();
        change(&mut json);
        place.write(file, sealed(json));
    };
    anew();
    place.write("corpus/more.parquet", place.read("other.parquet"));
    wrong("more.parquet: WRONG: manifest.json does not name it");
    anew();
    edit("corpus/manifest.json", &|json| json["files"] = Value::Array(Vec::new()));
    wrong("documents.parquet: WRONG: manifest.json does not name it");
    anew();
    edit("corpus/manifest.json", &|json| drop(json["files"].as_array_mut().unwrap().pop()));
    wrong("sentences.parquet: WRONG: manifest.json does not name it");
    std::fs::remove_file(place.path("corpus/sentences.parquet")).unwrap();
    wrong("sentences.parquet: WRONG: cannot read");
    for noted in ["rows", "bytes"] {
        anew();
        edit("corpus/manifest.json", &|json| json["files"][0][noted] = 7.into());
        wrong("as its seal says, and the manifest says");
    }
    anew();
    std::fs::remove_file(place.path("corpus/manifest.json")).unwrap();
    place.ok("verify corpus");
    std::fs::remove_file(place.path("corpus/sentences.parquet")).unwrap();
    wrong("sentences.parquet: WRONG: cannot read");
    // A file that is no table of the corpus, and a pipe.
    anew();
    place.write("corpus/theirs.parquet", "of somebody else");
    let pipe = Command::new("mkfifo").arg(place.path("corpus/pipe.parquet")).status().unwrap();
    assert!(pipe.success());
    let said = place.ok("verify corpus");
    assert!(said.contains("3 files, all as they were written; passed over 2"), "{said}");
    std::fs::remove_file(place.path("corpus/manifest.json")).unwrap();
    std::fs::remove_file(place.path("corpus/theirs.parquet")).unwrap();
    let said = place.ok("verify corpus");
    assert!(said.contains("3 files, all as they were written; passed over 1"), "{said}");

    place.ok("verify index");
    edit("index/manifests/00000000000000000001.json", &|json| json["parts"][0]["documents"]["rows"] = 7.into());
    let ended = place.run("verify index");
    assert!(ended.code == Some(1) && ended.text().contains("and the manifest says 7"), "{}", ended.text());
}
