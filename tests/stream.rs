//! Documents that are judged as they come: the rows are the same as for files, and acknowledged documents are in the
//! index.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::containment::{TIMINGS, assert_same, documents, jsonl, scores};
use crate::program::{Dice, Place, json_lines, run_command, splits};

/// Returns the rows in the lines of a stream.
fn rows(lines: &[Value]) -> Vec<Value> {
    lines.iter().flat_map(|line| line["rows"].as_array().unwrap().clone()).collect()
}

fn id(line: &Value) -> String {
    line["doc_id"].as_str().unwrap().to_owned()
}

/// Returns the ids in an index.
fn ids(place: &Place, index: &str) -> BTreeSet<String> {
    let rows = place.sql(&format!("SELECT doc_id FROM '{index}/documents.parquet'"));
    rows.iter().map(id).collect()
}

/// Runs a stream over all lines of `input`. Returns its lines of output, and its standard error.
#[track_caller]
fn stream(place: &Place, command: &str, input: &str) -> (Vec<Value>, String) {
    let ended = place.run_with(command.split_whitespace(), input);
    assert_eq!(ended.code, Some(0), "{command}\n{}", ended.err);
    (json_lines(ended.text()), ended.err)
}

#[test]
fn a_stream_finds_what_files_have() {
    let methods = [
        "--signature shingles:2",
        "--unit sentence --signature shingles:2",
        "--method codet --reference all.jsonl",
        "--method codet --reference all.jsonl --suffixes 3 --unsorted --depth 3",
        "--method simhash --distance 12 --reference all.jsonl",
        "--signature shingles:2 --language tr --truncate 3",
    ];
    let mut dice = Dice(77);
    for (round, method) in splits(&methods, 3) {
        let documents = documents(80, 60 + round as u64);
        // A document is at most a window late.
        let at: Vec<_> = (0..documents.len()).map(|i| 1_700_000_000 + 30 * i - 30 * dice.below(20)).collect();
        let lines = jsonl(&documents, |i| json!({ "at": at[i] }));
        let place = Place::with([("all.jsonl", &lines)]);
        for (number, timing) in TIMINGS.iter().enumerate() {
            let command = format!("containment index{number} {method} {timing} --format ndjson --add");
            // Some documents come as a file. The streams then begin with documents that the index already has.
            let all: Vec<_> = lines.lines().collect();
            let (first, second) = (dice.below(20), 20 + dice.below(60));
            let mut found = if first > 0 {
                place.write("batch.jsonl", all[..first].join("\n"));
                json_lines(place.run_with(format!("{command} batch.jsonl").split_whitespace(), "").text())
            } else {
                Vec::new()
            };
            for part in [&all[first..second], &all[second..]] {
                let (answers, _) = stream(&place, &format!("{command} -"), &part.join("\n"));
                assert_eq!(answers.len(), part.len(), "a line for each document");
                found.extend(rows(&answers));
            }
            let everything =
                place.ok(&format!("containment all.jsonl {method} {timing} --format ndjson").replace("  ", " "));
            let everything = json_lines(&everything);
            assert!(everything.len() > 3, "{command}: {}", everything.len());
            assert_eq!(found.len(), everything.len(), "{command}");
            assert_same(&scores(&found), &scores(&everything));
            let shared = |rows: &[Value]| -> BTreeMap<_, _> {
                let ends = |row: &Value| (row["contained"].to_string(), row["container"].to_string());
                rows.iter().map(|row| (ends(row), row["sentences"].clone())).collect()
            };
            assert_eq!(shared(&found), shared(&everything), "{command}");
            assert_eq!(ids(&place, &format!("index{number}")).len(), 80);
        }
    }
}

/// A stream that is fed line by line.
struct Feed {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Feed {
    fn start(place: &Place, command: &str) -> Self {
        let mut command = place.command(command.split(' '));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn give(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for the next line.
    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end. Returns the remaining lines, the exit code, and the standard error.
    fn end(mut self) -> (Vec<Value>, Option<i32>, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.output.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (json_lines(&out), self.child.wait().unwrap().code(), err)
    }
}

fn document(id: &str, text: &str) -> String {
    json!({ "id": id, "text": text }).to_string()
}

const TEXT: &str = "The council approved the new bridge on Monday. Work begins in March. It takes two years.";

#[test]
fn a_document_is_answered_before_the_next_one_comes_and_a_signal_ends_it_cleanly() {
    for signal in ["TERM", "INT", "HUP"] {
        let place = Place::new();
        let mut feed = Feed::start(&place, "containment index --add - --commit-every 1h");
        feed.give(&document("a", TEXT));
        assert_eq!(feed.answer(), json!({ "doc_id": "a", "added": true, "rows": [] }));
        feed.give(&document("b", &format!("{TEXT} And there is more to be said of it than there was.")));
        let answer = feed.answer();
        assert_eq!((&answer["rows"][0]["contained"], &answer["rows"][0]["container"]), (&json!("a"), &json!("b")));
        assert_eq!((&answer["rows"][0]["score"], &answer["rows"][0]["sentences"]), (&json!(1.0), &json!(3)));
        feed.give(&document("a", TEXT));
        assert_eq!(feed.answer(), json!({ "doc_id": "a", "added": false, "rows": [] }));
        // Standard input stays open.
        feed.signal(signal);
        let (rest, code, said) = feed.end();
        assert_eq!((rest.len(), code), (0, Some(0)), "{signal}: {said}");
        assert!(said.contains("documents 3") && said.contains("known already 1") && said.contains("p99"), "{said}");
        assert_eq!(ids(&place, "index"), BTreeSet::from(["a".to_owned(), "b".to_owned()]), "{signal}");
    }
}

#[test]
fn what_was_judged_is_added_in_time_and_survives_a_kill() {
    let place = Place::new();
    let mut feed = Feed::start(&place, "containment index --add - --commit-every 100ms");
    feed.give(&document("a", TEXT));
    feed.answer();
    let index = place.path("index/manifests");
    let began = std::time::Instant::now();
    while std::fs::read_dir(&index).map_or(0, Iterator::count) == 0 || ids(&place, "index").is_empty() {
        assert!(began.elapsed().as_secs() < 60, "nothing was added");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    feed.give(&document("b", "Another text, of which nothing is said anywhere else."));
    feed.answer();
    feed.signal("KILL");
    feed.end();
    assert!(ids(&place, "index").contains("a"));
    // A second stream from the beginning adds no document twice.
    let again =
        [document("a", TEXT), document("b", "Another text, of which nothing is said anywhere else.")].join("\n");
    let (answers, _) = stream(&place, "containment index --add -", &again);
    assert_eq!(answers[0]["added"], json!(false));
    assert_eq!(ids(&place, "index").len(), 2);
}

#[test]
fn when_nobody_reads_any_more_what_was_written_is_kept() {
    let place = Place::new();
    let mut feed = Feed::start(&place, "containment index --add -");
    feed.give(&document("a", TEXT));
    feed.answer();
    let Feed { mut child, input, output } = feed;
    drop(output);
    let mut input = input.unwrap();
    for i in 0..1000 {
        // The run ends by itself, and then writes to its input fail.
        if writeln!(input, "{}", document(&format!("b{i}"), TEXT)).is_err() {
            break;
        }
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(ids(&place, "index"), BTreeSet::from(["a".to_owned()]));
}

#[test]
fn bad_documents_end_a_stream_that_keeps_what_it_judged_or_are_skipped() {
    let good = document("a", TEXT);
    let bad = [
        ("{\"id\": \"b\", \"text\": ", "not one JSON object"),
        ("{\"text\": \"no id\"}", "the id, \"id\", is missing"),
        ("{\"id\": \"b\"}", "the text, \"text\", is missing"),
        ("{\"id\": \"a\", \"text\": \"Other.\"}", "the document \"a\" is in the index already, with another text"),
    ];
    for (line, reason) in bad {
        let place = Place::new();
        let input = format!("{good}\n\n{line}\n{}\n", document("c", "The last one."));
        let ended = place.run_with("containment index --add -".split(' '), &input);
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(ended.err.contains("standard input, line 3, byte") && ended.err.contains(reason), "{}", ended.err);
        assert_eq!(json_lines(ended.text()).len(), 1);
        assert_eq!(ids(&place, "index"), BTreeSet::from(["a".to_owned()]));
        let command = "containment other --add - --on-error quarantine --quarantine bad.jsonl --strict";
        let ended = place.run_with(command.split(' '), &input);
        assert_eq!(ended.code, Some(4), "{}", ended.err);
        assert!(ended.err.contains("skipped 1 ") && ended.err.contains(reason), "{}", ended.err);
        assert_eq!(json_lines(ended.text()).iter().map(id).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(ids(&place, "other").len(), 2);
        assert_eq!(json_lines(std::str::from_utf8(&place.read("bad.jsonl")).unwrap())[0]["data"], json!(line));
    }
}

#[test]
fn a_stream_that_fails_before_a_document_leaves_the_quarantine_of_an_earlier_one() {
    let place = Place::new();
    let command = "containment index --add - --on-error quarantine --quarantine bad.jsonl";
    let run = |more: &str, input: &str| place.run_with(format!("{command}{more}").split(' '), input);
    assert_eq!(run("", "{bad\n").code, Some(0));
    let bad = place.read("bad.jsonl");
    assert!(!bad.is_empty());
    let ended = run(" --language xx --without-stop-words", &document("a", TEXT));
    assert!(ended.code == Some(1) && ended.err.contains("no list for 'xx'"), "{}", ended.err);
    assert_eq!(place.read("bad.jsonl"), bad);
    assert_eq!(run("", &document("b", TEXT)).code, Some(0));
    assert_eq!(place.read("bad.jsonl"), b"");
}

#[test]
fn in_time_documents_need_one_and_may_be_a_window_late() {
    let at = |id: &str, time: Value| json!({ "id": id, "text": TEXT, "at": time }).to_string();
    let place = Place::new();
    let command = "containment index --add - --time-column at --window 1h --on-error skip";
    let input = [
        at("first", json!(10_000)),
        at("no time", Value::Null),
        at("some day", json!("some day")),
        at("second", json!(12_000)),
        at("late", json!(11_000)),
        at("far", json!(20_000)),
        at("too late", json!(16_000)),
    ]
    .join("\n");
    let (answers, said) = stream(&place, command, &input);
    let found: Vec<_> = answers
        .iter()
        .map(|line| {
            let rows = rows(std::slice::from_ref(line));
            let rows = rows.iter().map(|row| format!("{} in {}", row["contained"], row["container"]).replace('"', ""));
            (id(line), rows.collect::<Vec<_>>())
        })
        .collect();
    let expected = [
        ("first", vec![]),
        ("second", vec!["second in first"]),
        ("late", vec!["late in first", "second in late"]),
        ("far", vec![]),
    ];
    assert_eq!(found, expected.map(|(id, rows)| (id.to_owned(), rows.into_iter().map(str::to_owned).collect())));
    assert!(said.contains("skipped 3 "), "{said}");
    assert!(said.contains("\"no time\" has no time that can be read in \"at\""), "{said}");
    assert!(said.contains("\"too late\" comes more than a window later than its time"), "{said}");
    // The index knows the column.
    let (answers, _) = stream(&place, "containment index --add - --window 1h", &at("next", json!(20_060)));
    assert_eq!(rows(&answers).len(), 1);
}

#[test]
fn another_run_that_adds_beside_a_stream_is_not_passed_over() {
    let place = Place::with([("b.jsonl", &document("b", TEXT))]);
    let mut feed = Feed::start(&place, "containment index --add - --commit-every 1h");
    feed.give(&document("a", TEXT));
    feed.answer();
    place.ok("containment index --add b.jsonl");
    drop(feed.input.take());
    let (_, code, said) = feed.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another run added 1 documents to index in the meantime"), "{said}");
    assert_eq!(ids(&place, "index"), BTreeSet::from(["b".to_owned()]));
    // As the message says, a stream from the beginning loses nothing.
    let (answers, _) = stream(&place, "containment index --add -", &document("a", TEXT));
    assert_eq!(rows(&answers).len(), 2);
}

#[test]
fn what_a_stream_cannot_do_is_said() {
    let place = Place::new();
    for (options, said) in [
        ("-o out.ndjson", "leave out -o"),
        ("--format csv", "a --format other than ndjson"),
        ("--signature weighted_shingles", "how many documents have them"),
        ("--signature i_match_ranked:2,10", "how many documents have them"),
        ("--method codet", "name a collection with --reference"),
        ("--window 3h", "name the column with --time-column"),
        ("--passages", "--passages has no effect here"),
        ("--id-column=", "needs an id of its own"),
        ("--input-format csv", "a stream is of JSON lines"),
    ] {
        let error = place.fails(1, &format!("containment index --add - {options}"));
        assert!(error.contains(said), "{options}: {error}");
        assert!(!place.path("index").exists());
    }
    // The shortest and a very long interval.
    for every in ["0s", "500000years"] {
        let (answers, _) =
            stream(&place, &format!("containment other --add - --commit-every {every}"), &document("a", TEXT));
        assert_eq!(answers.len(), 1);
    }
    let error = place.fails(1, "containment index --add a.jsonl --commit-every 3s");
    assert!(error.contains("--commit-every has no effect here"), "{error}");
    let lines = (0..2000).map(|i| document(&i.to_string(), &format!("{i} {TEXT}"))).collect::<Vec<_>>().join("\n");
    let mut command = place.command("containment index --add - --memory 2MiB".split(' '));
    command.env("IBID_MEMORY_WATCH", "off");
    let ended = run_command(command, &lines);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("more than the 768 KiB that the limit of memory leaves for them"), "{}", ended.err);
    // The judged documents are kept.
    assert_eq!(ids(&place, "index").len(), json_lines(ended.text()).len());
}
