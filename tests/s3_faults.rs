//! A store that fails. In every case a run gives the right rows, or a clear error, and then the old files stay.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::program::{Place, collection_jsonl, copy_folder, gzip, times};
use crate::s3_server::{Server, end};

/// The number of schedules that together have each fault, and the number of schedules that are tried at a time.
const SCHEDULES: usize = 12;
const AT_ONCE: usize = 6;

/// The names of all faults of requests.
const FAULTS: [&str; 10] = [
    "Conflict",
    "CutShort",
    "ErrorWithin",
    "InternalError",
    "Late",
    "Lost",
    "Reset",
    "SlowDown",
    "Stall",
    "StallAfter",
];

/// Returns the schedule that is tried at a turn. In the first schedules no upload ends with an error in the body of an
/// answer. So the first turn has another schedule: each request fails once in it, the completion of an upload with such
/// an error, and the write of a new manifest with a conflict.
fn schedule_at(turn: u64) -> u64 {
    match turn {
        0 => 496,
        496 => 0,
        turn => turn,
    }
}

/// The commands, with the files that they write, and `n` if only every `n`-th schedule runs them.
const COMMANDS: [(&str, Written, u64); 8] = [
    ("ingest s3://box/in/new.jsonl -o s3://box/corpus/", Written::Folder("corpus"), 1),
    ("passages s3://box/source/ -o s3://box/out.parquet", Written::Object("out.parquet"), 1),
    ("containment s3://box/index/ --add s3://box/in/more.jsonl -o s3://box/added.csv", Written::Index, 1),
    ("passages s3://box/in/new.jsonl --format csv", Written::Nothing, 1),
    ("sql -f parquet.sql --format csv", Written::Nothing, 1),
    ("sql -f lines.sql --format csv", Written::Nothing, 1),
    ("sql -f table.sql --format csv", Written::Nothing, 1),
    // This object is written in parts.
    ("sql -f big.sql -o s3://box/big.parquet", Written::Object("big.parquet"), 4),
];

/// The scripts of the commands. Each makes few requests: with retries, a run takes longer the more requests it makes
/// one after another.
const SCRIPTS: [(&str, &str); 4] = [
    ("parquet.sql", "SELECT doc_id, text FROM 's3://box/source/documents-*.parquet' ORDER BY doc_id"),
    ("lines.sql", "SELECT id, text FROM 's3://box/in/{old,new}.jsonl' ORDER BY id, text"),
    (
        "table.sql",
        "CREATE TABLE t AS SELECT id, text FROM 's3://box/in/more.jsonl.gz'; SELECT * FROM t ORDER BY id, text",
    ),
    (
        "big.sql",
        "SELECT value, encode(digest(CAST(value AS VARCHAR), 'sha512'), 'hex') AS text FROM generate_series(1, 250000) \
         ORDER BY value",
    ),
];

#[derive(Clone, Copy)]
enum Written {
    Object(&'static str),
    Folder(&'static str),
    Index,
    Nothing,
}

/// The buckets before and after all commands, and the output of each command.
struct States {
    old: Place,
    new: Server,
    outputs: Vec<String>,
}

impl States {
    fn make() -> Self {
        let server = Server::start();
        for (name, documents, seed) in [("old", 60, 1), ("new", 90, 2), ("more", 40, 3)] {
            let made = collection_jsonl(documents, seed).replace("\"d", &format!("\"{name}"));
            server.put(&format!("in/{name}.jsonl"), made);
        }
        server.put("in/more.jsonl.gz", gzip(server.get("in/more.jsonl")));
        SCRIPTS.iter().for_each(|(name, sql)| server.place.write(name, sql));
        server.ok("ingest s3://box/in/old.jsonl -o s3://box/corpus/");
        server.ok("ingest s3://box/in/new.jsonl -o s3://box/source/");
        server.ok("passages s3://box/in/old.jsonl -o s3://box/out.parquet");
        server.ok("containment s3://box/index/ --add s3://box/in/old.jsonl -o s3://box/added.csv");
        server.put("big.parquet", "the old result");
        let old = Place::new();
        copy_folder(&server.place.path("buckets"), &old.path("buckets"));
        let outputs: Vec<_> = COMMANDS.iter().map(|(line, ..)| server.ok(line).text().to_owned()).collect();
        for ((line, written, _), output) in COMMANDS.iter().zip(&outputs) {
            assert!(!matches!(written, Written::Nothing) || output.lines().count() > 10, "{line}: hardly a result");
        }
        Self { old, new: server, outputs }
    }

    /// Returns true if the new output of a command is there. Fails if a file is neither the new nor the old one.
    #[track_caller]
    fn is_written(&self, now: &Place, written: Written) -> bool {
        let is_as_in = |place: &Place, key: &str| {
            let path = Path::new("buckets/box").join(key);
            now.path(&path).exists() == place.path(&path).exists()
                && (!now.path(&path).exists() || now.read(&path) == place.read(&path))
        };
        let is_new = |key: &str| {
            let is_new = is_as_in(&self.new.place, key);
            assert!(is_new || is_as_in(&self.old, key), "{key} is neither the old nor the new one");
            is_new
        };
        match written {
            Written::Object(key) => is_new(key),
            Written::Folder(folder) => {
                let is_written = is_new(&format!("{folder}/manifest.json"));
                let manifest = String::from_utf8(now.read(format!("buckets/box/{folder}/manifest.json"))).unwrap();
                let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
                for file in manifest["files"].as_array().unwrap() {
                    is_new(&format!("{folder}/{}", file["name"].as_str().unwrap()));
                }
                is_written
            }
            // The rows are written before the documents are in the index.
            Written::Index => {
                is_new("added.csv") && now.path("buckets/box/index/manifests").read_dir().unwrap().count() == 2
            }
            Written::Nothing => true,
        }
    }
}

/// Starts a server with copies of the buckets of a place. Its requests fail by a schedule.
fn serve(from: &Place, schedule: Option<u64>) -> Server {
    let place = Place::new();
    copy_folder(&from.path("buckets"), &place.path("buckets"));
    SCRIPTS.iter().for_each(|(name, sql)| place.write(name, sql));
    Server::start_with(place, schedule)
}

#[test]
fn whatever_a_store_does_rows_are_right_or_the_run_fails() {
    let states = States::make();
    let schedules = times("IBID_SCHEDULES", 1) as u64;
    let (next, failed, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let came = Mutex::new(BTreeMap::<String, u32>::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= schedules {
                        return;
                    }
                    let ([of_done, of_failed], faults) = states.try_one(schedule_at(turn));
                    let mut came = came.lock().unwrap();
                    faults.into_iter().for_each(|fault| *came.entry(fault).or_default() += 1);
                    done.fetch_add(of_done, Ordering::Relaxed);
                    failed.fetch_add(of_failed, Ordering::Relaxed);
                }
            });
        }
    });
    let (done, failed, came) = (done.into_inner(), failed.into_inner(), came.into_inner().unwrap());
    eprintln!("{schedules} schedules: {done} runs gave the right rows, {failed} an error; {came:?}");
    assert!(done > schedules, "{done} runs were done");
    // Faults depend on schedules and names of requests. Most requests have the same names in each run.
    if schedules >= SCHEDULES as u64 {
        assert!(failed > 0, "none failed");
        assert_eq!(came.keys().map(String::as_str).collect::<Vec<_>>(), FAULTS, "what goes wrong");
    }
}

impl States {
    /// Runs all commands while requests fail by a schedule. Returns the numbers of commands that succeeded and failed,
    /// and the faults of requests.
    fn try_one(&self, schedule: u64) -> ([u64; 2], Vec<String>) {
        let began = Instant::now();
        let server = serve(&self.old, Some(schedule));
        let mut counts = [0, 0];
        std::thread::scope(|scope| {
            let runs: Vec<_> = COMMANDS
                .into_iter()
                .zip(&self.outputs)
                .filter(|((_, _, one_in), _)| schedule.is_multiple_of(*one_in))
                .map(|((line, written, _), output)| {
                    let mut command = server.with_key(line.split(' '));
                    // Some schedules run with the default timeout.
                    if schedule % 25 != 7 {
                        command.env("AWS_TIMEOUT", "2 seconds");
                    }
                    (line, written, output, scope.spawn(|| end(command)))
                })
                .collect();
            for (line, written, output, run) in runs {
                let ended = run.join().unwrap();
                let said = format!("schedule {schedule}, {line}\n{}", ended.err);
                let is_written = self.is_written(&server.place, written);
                match ended.code {
                    Some(0) => {
                        assert!(is_written && ended.text() == output, "{said}");
                        counts[0] += 1;
                    }
                    Some(1) => {
                        assert!(ended.err.contains("s3://box") && !ended.err.contains("internal error"), "{said}");
                        counts[1] += 1;
                    }
                    _ => panic!("{said}"),
                }
            }
        });
        let log = String::from_utf8(server.place.read("log")).unwrap();
        let faults = log.lines().filter_map(|line| line.split('\t').nth(5)).filter(|fault| !fault.is_empty());
        let faults = faults.map(str::to_owned).collect();
        // Without faults, the next runs succeed, whatever the failed runs left.
        let server = serve(&server.place, None);
        for (line, written, one_in) in COMMANDS {
            if schedule.is_multiple_of(one_in) {
                // Documents that are already in the index give no rows again.
                let line =
                    if let Written::Index = written { line.replace("added.csv", "again.csv") } else { line.to_owned() };
                server.ok(&line);
                assert!(
                    matches!(written, Written::Index) || self.is_written(&server.place, written),
                    "schedule {schedule}, {line}"
                );
            }
        }
        let counts_of = |server: &Server| {
            server.sql("SELECT count(*), count(DISTINCT doc_id) FROM 's3://box/index/documents.parquet'")
        };
        assert_eq!(counts_of(&server), counts_of(&self.new), "schedule {schedule}");
        server.ok("verify s3://box/index/");
        let [done, failed] = counts;
        eprintln!(
            "schedule {schedule}: {done} runs gave the right rows, {failed} an error, in {:.0?}",
            began.elapsed()
        );
        (counts, faults)
    }
}
