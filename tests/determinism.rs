//! The same input gives the same result, however it is run.

use crate::program::{Dice, Place, collection_jsonl, run_command};
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
    for options in ["--threads 2", "--threads 8", "--threads 8 --memory 64MiB"] {
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
        // Little memory makes sorts and joins go to disk.
        for (script, memory) in scripts.iter().flat_map(|script| [(script, "64MiB"), (script, "4GiB")]) {
            let set = format!(
                "SET datafusion.execution.batch_size = {batch}; SET datafusion.execution.target_partitions = {partitions};"
            );
            let mut command = server.with_key(["sql", "-f", "-", "--format", "csv", "--memory", memory]);
            command.env("TOKIO_WORKER_THREADS", threads.to_string());
            let ended = run_command(command, &format!("{set}\n{script}"));
            assert_eq!(ended.code, Some(0), "{}", ended.err);
            assert_eq!(
                ended.text(),
                expected,
                "{threads} threads, batches of {batch}, {partitions} partitions, {memory}"
            );
        }
    }
}
