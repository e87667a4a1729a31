//! Whatever happens to a run, the old result stays or the whole new one takes its place.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::program::{Dice, Place, collection_jsonl};

/// How often each command is killed.
const KILLS: usize = 40;

#[test]
fn a_killed_run_leaves_the_old_file_or_the_new_one() {
    let place = Place::new();
    place.write("old.jsonl", collection_jsonl(60, 1));
    place.write("new.jsonl", collection_jsonl(300, 2));
    kill_often(&place, "passages old.jsonl -o out.parquet", "passages new.jsonl -o out.parquet", &["out.parquet"]);
}

#[test]
fn a_killed_ingest_leaves_the_old_corpus_or_the_new_one() {
    let place = Place::new();
    place.write("old.jsonl", collection_jsonl(60, 1));
    place.write("new.jsonl", collection_jsonl(3000, 2));
    let files = ["corpus/documents.parquet", "corpus/sentences.parquet"];
    kill_often(&place, "ingest old.jsonl -o corpus", "ingest new.jsonl -o corpus", &files);
}

/// Kills `new` at many moments, over what `old` wrote.
fn kill_often(place: &Place, old: &str, new: &str, files: &[&str]) {
    let bytes = || files.iter().map(|file| place.read(file)).collect::<Vec<_>>();
    place.ok(old);
    let before = bytes();
    place.ok(new);
    let began = Instant::now();
    place.ok(new);
    let whole_run = began.elapsed();
    let after = bytes();
    assert!(before != after);
    place.ok(old);

    let (mut dice, mut kept) = (Dice(3), 0);
    for _ in 0..KILLS {
        let mut child = place.start(new);
        let share = u32::try_from(dice.below(1100)).unwrap();
        std::thread::sleep(whole_run * share / 1000);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = bytes();
        assert!(now == before || now == after, "neither the old nor the new, killed at {share} ‰ of {whole_run:?}");
        if now == before {
            kept += 1;
        } else {
            place.ok(old);
            assert!(bytes() == before);
        }
    }
    assert!(kept > 0, "no kill came in time");
    // All that stays behind is staging, which is hidden and named as such.
    for name in place.names().iter().filter(|name| name.starts_with('.')) {
        assert!(name.ends_with(".ibid-staging"), "{name}");
    }
}

/// A query that fails at its last row of 200,000.
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

/// Why results are not written with `COPY`: it replaces the old file by half of the new one.
#[tokio::test]
async fn copy_does_not_leave_the_old_file() {
    let place = Place::with([("out.csv", "the old result")]);
    let session = ibid::session(Default::default(), Default::default()).unwrap();
    let file = place.path("out.csv");
    let copy = format!("COPY ({FAILS_LATE}) TO '{}' STORED AS CSV", file.display());
    let failed = match session.sql(&copy).await {
        Ok(frame) => frame.collect().await.is_err(),
        Err(_) => true,
    };
    assert!(failed);
    assert_ne!(place.read("out.csv"), b"the old result");
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

#[test]
fn an_interrupted_run_ends_at_once_and_cleans_up() {
    let place = Place::with([("out.csv", "the old result")]);
    // Either takes hours: one in standard operators, the other in a single call of a function.
    let standard = "SELECT count(*) FROM generate_series(1, 3000000) AS a, generate_series(1, 3000000) AS b \
                    WHERE a.value * b.value % 7 = 3";
    let function = "SELECT diagonals(CAST(value % 450 AS INT), CAST(value / 450 AS INT), 3, 1000) \
                    FROM generate_series(0, 200000)";
    for sql in [standard, function] {
        let mut child =
            place.command(["sql", sql, "-o", "out.csv"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        interrupt(child.id());
        let ended = ends_within(&mut child, Duration::from_secs(2));
        if !ended {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert!(ended, "still running two seconds after the interrupt: {sql}");
        assert_eq!(output.status.code(), Some(130), "{sql}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "ibid: interrupted\n");
        assert_eq!(place.read("out.csv"), b"the old result");
        assert_eq!(place.names(), ["out.csv"]);
        assert_eq!(entries(&place.path("tmp")), Vec::<PathBuf>::new());
    }
}

fn interrupt(process: u32) {
    let status = std::process::Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap();
    assert!(status.success());
}

fn ends_within(child: &mut std::process::Child, limit: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < limit {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
