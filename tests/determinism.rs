//! The same input gives the same result, however it is run.

use crate::program::{Dice, Ended, Place, collection_jsonl, run_command};
use crate::s3_server::Server;

const LICENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/licenses/texts.jsonl.gz");

/// The commands that print rows.
const COMMANDS: [&str; 5] = [
    "passages",
    "pairs --threshold 0.05",
    "pairs --unit sentence --threshold 0.7 --signature characters:6",
    "pairs --unit sentence --threshold 1 --signature i_match",
    "threads --field text --threshold 0.2",
];

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(400, 5));
    for command in COMMANDS.iter().copied().chain(["passages --profile edited"]) {
        same_for_threads(&place, &format!("{command} made.jsonl"), &["out.parquet", "out.csv"]);
    }
    same_for_threads(&place, &format!("passages {LICENCES}"), &["out.parquet"]);
}

#[test]
fn a_corpus_does_not_depend_on_threads_and_memory() {
    let place = Place::new();
    let corpus = |options: &str| {
        place.ok(&format!("ingest {LICENCES} {options} -o corpus"));
        let files = ["documents.parquet", "sentences.parquet"].map(|file| place.read(format!("corpus/{file}")));
        std::fs::remove_dir_all(place.path("corpus")).unwrap();
        files
    };
    let one = corpus("--threads 1");
    for options in ["--threads 2", "--threads 8", "--threads 8 --memory 128MiB"] {
        assert!(one == corpus(options), "{options}");
    }
}

fn same_for_threads(place: &Place, command: &str, files: &[&str]) {
    for file in files {
        let bytes = |threads: u8| {
            place.ok(&format!("{command} --threads {threads} -o {file}"));
            place.read(file)
        };
        let one = bytes(1);
        assert!(one.len() > 500, "{command}: hardly a result");
        assert!(one == bytes(2), "{command}: 2 threads, {file}");
        assert!(one == bytes(8), "{command}: 8 threads, {file}");
    }
}

#[test]
fn the_order_of_the_documents_does_not_matter() {
    let place = Place::new();
    let made = collection_jsonl(400, 6);
    place.write("made.jsonl", &made);
    place.write("shuffled.jsonl", shuffled(&made));
    for command in COMMANDS.iter().copied().chain(["passages --profile edited"]) {
        let rows = |input: &str| place.ok(&format!("{command} {input} --format csv"));
        let made = rows("made.jsonl");
        assert!(made.lines().count() > 10, "{command}: hardly a result");
        assert_eq!(made, rows("shuffled.jsonl"), "{command}");
    }
}

#[test]
fn batches_and_the_plan_of_the_join_do_not_matter() {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(150, 7));
    place.ok("ingest made.jsonl -o made");
    for command in ["passages made", "pairs made --unit sentence --threshold 0.6"] {
        let expected = place.ok(&format!("{command} --format csv"));
        let script = place.ok(&format!("{command} --show-sql"));
        for setting in [
            "datafusion.execution.batch_size = 7",
            "ibid.similarity_join.strategy = 'nested_loop'",
            "ibid.similarity_join.strategy = 'lowered'",
            "ibid.similarity_join.strategy = 'distributed'",
        ] {
            let ended = place.run_with(["sql", "-f", "-", "--format", "csv"], &format!("SET {setting};\n{script}"));
            assert_eq!(ended.text(), expected, "{command}, {setting}\n{}", ended.err);
        }
    }
}

/// Returns the same lines in another order.
fn shuffled(lines: &str) -> String {
    let mut lines: Vec<&str> = lines.lines().collect();
    let mut dice = Dice(1);
    (1..lines.len()).for_each(|i| lines.swap(i, dice.below(i + 1)));
    lines.join("\n")
}

/// Returns the rows that a command prints for a generated collection, and scripts that must print the same: for the
/// documents in order and shuffled, in a folder and in a store.
fn rows_and_scripts(server: &Server, command: &str, documents: usize) -> (String, [String; 4]) {
    let place = &server.place;
    let made = collection_jsonl(documents, 8);
    place.write("made.jsonl", &made);
    place.write("shuffled.jsonl", shuffled(&made));
    let scripts = ["made", "shuffled", "s3://box/made/", "s3://box/shuffled/"].map(|folder| {
        let name = if folder.contains("made") { "made" } else { "shuffled" };
        server.ok(&format!("ingest {name}.jsonl -o {folder}"));
        server.ok(&format!("{command} {folder} --show-sql")).text().to_owned()
    });
    let rows = place.ok(&format!("{command} made --format csv"));
    assert!(rows.lines().count() > 10, "{command}: hardly a result");
    (rows, scripts)
}

/// Runs some of the ways; together they have each number of threads, of rows and of partitions, and each script.
#[test]
fn one_digest_for_some_ways_to_run() {
    run_each_way(11);
}

#[test]
#[ignore = "long: make test-long PART=determinism"]
fn one_digest_for_all_ways_to_run() {
    run_each_way(1);
}

/// Runs a script in every `step`-th of 108 ways.
fn run_each_way(step: usize) {
    let server = Server::start();
    let (expected, scripts) = rows_and_scripts(&server, "passages", 60);
    let of_batch = |batch| [1, 3, 16].map(|partitions| (batch, partitions));
    let of_thread = |(batch, partitions)| THREADS.map(|threads| Way { threads, batch, partitions, memory: 4 << 20 });
    let ways = [1, 1024, 8192].into_iter().flat_map(of_batch).flat_map(of_thread);
    for (way, script) in ways.flat_map(|way| scripts.iter().map(move |script| (way, script))).step_by(step) {
        let ended = way.run(&server, "", script);
        assert_eq!(ended.code, Some(0), "{way:?}: {}", ended.err);
        assert_eq!(ended.text(), expected, "{way:?}");
    }
}

/// The number of documents, a memory in KiB that is more than enough for them, and the rows of a batch with the
/// partitions.
type OnDisk<'a> = (usize, u32, &'a [(u16, u8)]);

#[test]
fn one_digest_for_a_way_to_run_by_way_of_the_disk() {
    run_on_disk(&[(1000, 64 << 10, &[(1024, 3)])], &[8], 3);
}

/// Uses so many documents that something is spilled: several batches for each partition.
#[test]
#[ignore = "long: make test-long PART=determinism"]
fn one_digest_for_all_ways_to_run_by_way_of_the_disk() {
    let few = &[(1, 1), (1, 3), (1, 16), (1024, 1), (1024, 3)];
    let all: [OnDisk; 3] = [
        (1000, 64 << 10, few),
        (3000, 256 << 10, &[(1024, 16), (8192, 1), (8192, 3)]),
        (12_000, 256 << 10, &[(8192, 16)]),
    ];
    run_on_disk(&all, &THREADS, 1);
}

/// Runs every `step`-th script with so little memory that it would fail without spilling.
fn run_on_disk(all: &[OnDisk], threads: &[u8], step: usize) {
    let server = Server::start();
    for &(documents, memory, ways) in all {
        let (expected, scripts) = rows_and_scripts(&server, "passages", documents);
        for &(batch, partitions) in ways {
            let way = |threads, memory| Way { threads, batch, partitions, memory };
            let memory = way(2, memory).memory_for_disk(&server, &scripts[0]);
            for &threads in threads {
                let scripts = scripts.iter().step_by(step);
                scripts.for_each(|script| way(threads, memory).goes_to_disk(&server, script, &expected));
            }
        }
    }
}

#[test]
#[ignore = "long: make test-long PART=determinism"]
fn pairs_by_way_of_the_disk_are_the_same() {
    let server = Server::start();
    let (expected, scripts) = rows_and_scripts(&server, "pairs --unit sentence --threshold 0.6", 12_000);
    for (threads, batch, partitions) in [(1, 8192, 16), (2, 1024, 1), (8, 8192, 3), (1, 1024, 3)] {
        let way = Way { threads, batch, partitions, memory: 107 << 10 };
        [&scripts[0], &scripts[3]].iter().for_each(|script| way.goes_to_disk(&server, script, &expected));
    }
}

const THREADS: [u8; 3] = [1, 2, 8];

/// A way to run a script.
#[derive(Debug, Clone, Copy)]
struct Way {
    threads: u8,
    batch: u16,
    partitions: u8,
    /// The memory in KiB.
    memory: u32,
}

impl Way {
    fn run(&self, server: &Server, settings: &str, script: &str) -> Ended {
        let Self { threads, batch, partitions, memory } = self;
        let (threads, memory) = (threads.to_string(), format!("{memory}KiB"));
        let mut command =
            server.with_key(["sql", "-f", "-", "--format", "csv", "--memory", &memory, "--threads", &threads]);
        // The program alone takes more memory than some of these limits.
        command.env("TOKIO_WORKER_THREADS", threads).env("IBID_MEMORY_WATCH", "off");
        let set = format!(
            "SET datafusion.execution.batch_size = {batch}; SET datafusion.execution.target_partitions = {partitions};"
        );
        run_command(command, &format!("{set} {settings}\n{script}"))
    }

    fn without_disk(&self, server: &Server, script: &str) -> Ended {
        self.run(server, "SET datafusion.runtime.max_temp_directory_size = '0K';", script)
    }

    /// Returns somewhat more memory than the most with which the script fails if operators must not spill.
    fn memory_for_disk(&self, server: &Server, script: &str) -> u32 {
        let (mut fails, mut runs) = (256, self.memory);
        while runs - fails > runs / 20 {
            let memory = fails.midpoint(runs);
            let way = Self { memory, ..*self };
            if way.without_disk(server, script).code == Some(0) {
                runs = memory;
            } else {
                fails = memory;
            }
        }
        runs
    }

    /// Checks that a script prints these rows with so little memory that it would fail without spilling.
    fn goes_to_disk(&self, server: &Server, script: &str, expected: &str) {
        let mut ways = std::iter::successors(Some(*self), |way| Some(Self { memory: way.memory * 39 / 40, ..*way }));
        let goes = |way: &Self| way.without_disk(server, script).err.contains("used disk space");
        let way = ways.find(|way| way.memory <= 256 || goes(way)).expect("there is a next one");
        assert!(way.memory > 256, "{self:?}: nothing goes to disk");
        let ended = way.run(server, "", script);
        assert_eq!(ended.code, Some(0), "{way:?}: {}", ended.err);
        assert!(ended.text() == expected, "{way:?}");
    }
}
