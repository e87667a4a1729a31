//! The same input gives the same result, however it is run.

use crate::program::{Dice, Ended, Place, collection_jsonl, run_command};
use crate::s3_server::Server;

const LICENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/licenses/texts.jsonl.gz");

/// Commands that give rows.
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
    let mut lines: Vec<&str> = made.lines().collect();
    let mut dice = Dice(1);
    (1..lines.len()).for_each(|i| lines.swap(i, dice.below(i + 1)));
    place.write("made.jsonl", &made);
    place.write("shuffled.jsonl", lines.join("\n"));
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
        ] {
            let ended = place.run_with(["sql", "-f", "-", "--format", "csv"], &format!("SET {setting};\n{script}"));
            assert_eq!(ended.text(), expected, "{command}, {setting}\n{}", ended.err);
        }
    }
}

#[test]
fn one_digest_for_all_ways_to_run() {
    let server = Server::start();
    let place = &server.place;
    let made = collection_jsonl(60, 8);
    let turned: Vec<_> = made.lines().rev().collect();
    place.write("made.jsonl", &made);
    place.write("turned.jsonl", turned.join("\n"));
    let scripts = ["made", "turned", "s3://box/made/", "s3://box/turned/"].map(|folder| {
        let name = if folder.contains("made") { "made" } else { "turned" };
        server.ok(&format!("ingest {name}.jsonl -o {folder}"));
        server.ok(&format!("passages {folder} --show-sql")).text().to_owned()
    });
    let expected = place.ok("passages made --format csv");
    assert!(expected.lines().count() > 10, "hardly a result");
    let ways = [1, 2, 8].into_iter().flat_map(|threads| {
        let of_batch = move |batch| [1, 3, 16].map(|partitions| (threads, batch, partitions));
        [1, 1024, 8192].into_iter().flat_map(of_batch)
    });
    for (threads, batch, partitions) in ways {
        for script in &scripts {
            let way = Way { threads, batch, partitions, memory: "4GiB" };
            let ended = way.run(&server, "", script);
            assert_eq!(ended.code, Some(0), "{way:?}: {}", ended.err);
            assert_eq!(ended.text(), expected, "{way:?}");
        }
    }
}

/// How a script is run.
#[derive(Debug)]
struct Way {
    threads: u8,
    batch: u16,
    partitions: u8,
    memory: &'static str,
}

impl Way {
    fn run(&self, server: &Server, settings: &str, script: &str) -> Ended {
        let Self { threads, batch, partitions, memory } = self;
        let threads = threads.to_string();
        let mut command =
            server.with_key(["sql", "-f", "-", "--format", "csv", "--memory", memory, "--threads", &threads]);
        // The program alone takes more than some of them.
        command.env("TOKIO_WORKER_THREADS", threads).env("IBID_MEMORY_WATCH", "off");
        let set = format!(
            "SET datafusion.execution.batch_size = {batch}; SET datafusion.execution.target_partitions = {partitions};"
        );
        run_command(command, &format!("{set} {settings}\n{script}"))
    }
}

/// With so little memory that operators go to disk: where they may not, the same run fails.
#[test]
fn what_goes_to_disk_does_not_matter() {
    let server = Server::start();
    let place = &server.place;
    let way = |threads, batch, partitions, memory| Way { threads, batch, partitions, memory };
    for (command, documents, ways) in [
        ("passages", 60, &[way(2, 1, 3, "1365KiB")][..]),
        ("passages", 12_000, &[way(1, 8192, 1, "171MiB"), way(8, 512, 16, "171MiB")]),
        (
            "pairs --unit sentence --threshold 0.6",
            12_000,
            &[
                way(1, 8192, 16, "107MiB"),
                way(2, 1024, 1, "107MiB"),
                way(8, 8192, 3, "107MiB"),
                way(1, 1024, 3, "107MiB"),
            ],
        ),
    ] {
        let made = collection_jsonl(documents, 9);
        let turned: Vec<_> = made.lines().rev().collect();
        place.write("made.jsonl", &made);
        place.write("turned.jsonl", turned.join("\n"));
        let scripts = [("made", "made"), ("turned", "s3://box/turned/")].map(|(name, folder)| {
            server.ok(&format!("ingest {name}.jsonl -o {folder}"));
            server.ok(&format!("{command} {folder} --show-sql")).text().to_owned()
        });
        let expected = place.ok(&format!("{command} made --format csv"));
        assert!(expected.lines().count() > 10, "{command}: hardly a result");
        for (way, script) in ways.iter().flat_map(|way| scripts.iter().map(move |script| (way, script))) {
            let ended = way.run(&server, "", script);
            assert_eq!(ended.code, Some(0), "{command}, {way:?}: {}", ended.err);
            assert!(ended.text() == expected, "{command}, {way:?}");
            let ended = way.run(&server, "SET datafusion.runtime.max_temp_directory_size = '0K';", script);
            assert!(ended.err.contains("used disk space"), "{command}, {way:?}: nothing went to disk: {}", ended.err);
        }
    }
}
