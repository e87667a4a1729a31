//! Indexes: a batch adds the rows that a run over everything would have for it, even if runs that add are interrupted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::program::{Dice, Ended, Place, collection_jsonl, copy_folder, json_lines, jsonl, splits, times};

/// Puts each line into one of `batches` at random. Writes each batch as `b0.jsonl` and so on, and each batch with all
/// earlier ones as `all0.jsonl` and so on. Returns the ids of each batch.
fn split(place: &Place, lines: &str, batches: usize, dice: &mut Dice) -> Vec<BTreeSet<String>> {
    let mut split = vec![String::new(); batches];
    let mut ids = vec![BTreeSet::new(); batches];
    for (number, line) in lines.lines().enumerate() {
        // No batch is empty.
        let batch = if number < batches { number } else { dice.below(batches) };
        split[batch].push_str(&format!("{line}\n"));
        ids[batch].insert(json_lines(line)[0]["id"].as_str().unwrap().to_owned());
    }
    for batch in 0..batches {
        place.write(&format!("b{batch}.jsonl"), &split[batch]);
        place.write(&format!("all{batch}.jsonl"), split[..=batch].concat());
    }
    ids
}

/// Returns the rows of CSV with their first two columns, which are ids.
fn rows(csv: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    csv.lines().skip(1).map(|line| {
        let mut columns = line.split(',');
        (columns.next().unwrap(), columns.next().unwrap(), line)
    })
}

#[test]
fn a_batch_adds_the_rows_that_involve_it_of_a_run_over_everything() {
    // Small caps and weights by rarity make the rows depend on the frequencies in the whole collection.
    let commands = [
        "passages",
        "passages --common 4 --within-documents",
        "passages --profile edited",
        "pairs --threshold 0.1",
        "pairs --unit sentence --threshold 0.4 --max-frequency 6",
        "pairs --unit sentence --threshold 0.5 --signature weighted_shingles:1,8",
        "pairs --unit sentence --threshold 0.5 --within-documents",
    ];
    let mut dice = Dice(17);
    for (round, command) in splits(&commands, 2) {
        let place = Place::new();
        let batches = 2 + dice.below(3);
        let ids = split(&place, &collection_jsonl(120, 100 + round as u64), batches, &mut dice);
        let mut added = 0;
        for (batch, new) in ids.iter().enumerate() {
            let found = place.ok(&format!("{command} index --add b{batch}.jsonl --format csv"));
            let everything = place.ok(&format!("{command} all{batch}.jsonl --format csv"));
            let expected: Vec<_> = rows(&everything)
                .filter(|(a, b, _)| new.contains(*a) || new.contains(*b))
                .map(|(_, _, line)| line)
                .collect();
            let found: Vec<_> = rows(&found).map(|(_, _, line)| line).collect();
            assert_eq!(found, expected, "{command}, batch {batch} of {batches}");
            added += found.len();
            // The index as input gives the rows of the whole collection.
            assert_eq!(place.ok(&format!("{command} index --format csv")), everything, "{command}");
        }
        assert!(added > 10, "{command}: hardly a row");
    }
}

#[test]
fn a_batch_adds_its_families_and_its_coverage() {
    let place = Place::new();
    let ids = split(&place, &collection_jsonl(120, 31), 2, &mut Dice(29));
    let mut hardly = true;
    for (batch, new) in ids.iter().enumerate() {
        let files = "--common 4 --min-words 6 --families families.csv --coverage coverage.csv -o found.csv";
        place.ok(&format!("passages index --add b{batch}.jsonl {files}"));
        let added =
            ["families", "coverage"].map(|table| String::from_utf8(place.read(format!("{table}.csv"))).unwrap());
        place.ok(&format!("passages all{batch}.jsonl {files}"));
        let all = ["families", "coverage"].map(|table| String::from_utf8(place.read(format!("{table}.csv"))).unwrap());
        // Families with a new document come with all their places.
        let of_new: BTreeSet<_> =
            rows(&all[0]).filter(|(_, doc, _)| new.contains(*doc)).map(|(family, ..)| family.to_owned()).collect();
        let expected: Vec<_> = rows(&all[0]).filter(|(family, ..)| of_new.contains(*family)).map(|row| row.2).collect();
        assert_eq!(rows(&added[0]).map(|row| row.2).collect::<Vec<_>>(), expected, "batch {batch}");
        hardly &= expected.len() < 10;
        let expected: Vec<_> = rows(&all[1]).filter(|(doc, ..)| new.contains(*doc)).map(|row| row.2).collect();
        assert_eq!(rows(&added[1]).map(|row| row.2).collect::<Vec<_>>(), expected, "batch {batch}");
    }
    assert!(!hardly, "hardly a row");
}

#[test]
fn batch_by_batch_is_one_run_where_nothing_depends_on_frequencies() {
    let commands = ["pairs --threshold 0.05", "pairs --unit sentence --threshold 0.4", "passages --common none"];
    let mut dice = Dice(23);
    for round in 0..times("IBID_SPLITS", 1) {
        for command in commands {
            let place = Place::new();
            let batches = 3 + dice.below(4);
            split(&place, &collection_jsonl(120, 200 + round as u64), batches, &mut dice);
            let mut added: Vec<String> = Vec::new();
            for batch in 0..batches {
                let found = place.ok(&format!("{command} index --add b{batch}.jsonl --format csv"));
                added.extend(rows(&found).map(|(_, _, line)| line.to_owned()));
            }
            let everything = place.ok(&format!("{command} all{}.jsonl --format csv", batches - 1));
            let mut expected: Vec<_> = rows(&everything).map(|(_, _, line)| line).collect();
            expected.sort_unstable();
            added.sort_unstable();
            assert!(expected.len() > 10, "{command}: hardly a row");
            assert_eq!(added, expected, "{command}, {batches} batches");
        }
    }
}

#[test]
fn a_part_says_what_it_was_read_from_and_how() {
    let place = Place::with([("a.csv", "id,body\na,One.\n"), ("b.csv", "id,body\nb,Two.\n")]);
    place.ok("pairs index --add a.csv b.csv --text-column body");
    let manifest = place.read("index/manifests/00000000000000000001.json");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let part = &manifest["parts"][0];
    assert_eq!(part["inputs"], serde_json::json!(["a.csv", "b.csv"]));
    assert_eq!(part["parameters"]["text_column"], "body");
    assert_eq!(part["documents"]["rows"], 2);
}

#[test]
fn the_script_of_an_addition_gives_its_rows() {
    let place = Place::new();
    split(&place, &collection_jsonl(90, 3), 3, &mut Dice(3));
    place.ok("pairs index --add b0.jsonl");
    place.ok("pairs index --add b1.jsonl");
    place.ok("ingest b2.jsonl -o batch");
    for command in ["passages index", "pairs index --unit sentence --threshold 0.5", "pairs other --threshold 0.1"] {
        let script = place.ok(&format!("{command} --add batch --show-sql"));
        let ended = place.run_with(["sql", "-f", "-", "--format", "csv"], &script);
        assert_eq!(ended.code, Some(0), "{script}\n{}", ended.err);
        // The script prints the rows of its last statement. The others make tables, such as the one of left-out
        // documents.
        let copy = command.replace("index", "copy");
        copy_folder(&place.path("index"), &place.path("copy"));
        assert_eq!(ended.text(), place.ok(&format!("{copy} --add batch --format csv")), "{command}");
    }
    let script = place.ok("passages index --add b2.jsonl --show-sql");
    assert!(script.starts_with("-- first: ibid ingest b2.jsonl -o added_corpus\n"), "{script}");
}

/// Returns the ids in an index.
fn ids(place: &Place, index: &str) -> Vec<String> {
    let rows = place.sql(&format!("SELECT doc_id FROM '{index}/documents.parquet' ORDER BY doc_id"));
    rows.iter().map(|row| row["doc_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn of_two_additions_at_once_one_comes_after_the_other() {
    let mut dice = Dice(9);
    for round in 0..times("IBID_RACES", 2) {
        let place = Place::new();
        split(&place, &collection_jsonl(90, 300 + round as u64), 3, &mut dice);
        let command = "pairs index --unit sentence --threshold 0.5 --add";
        // Every other time, the index must be created, too.
        let begun = if round % 2 == 0 { 1 } else { 0 };
        let mut found = String::new();
        if begun == 1 {
            found.push_str(&place.ok(&format!("{command} b0.jsonl --format ndjson")));
        }
        let runs: Vec<_> =
            (begun..3).map(|batch| place.start(&format!("{command} b{batch}.jsonl -o r{batch}.ndjson"))).collect();
        for mut run in runs {
            assert_eq!(run.wait().unwrap().code(), Some(0));
        }
        for batch in begun..3 {
            found.push_str(&String::from_utf8(place.read(format!("r{batch}.ndjson"))).unwrap());
        }
        let everything = place.ok("pairs all2.jsonl --unit sentence --threshold 0.5 --format ndjson");
        let sorted = |lines: &str| lines.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(found.lines().count(), sorted(&found).len(), "a row was found twice");
        assert_eq!(sorted(&found), sorted(&everything));
        assert_eq!(ids(&place, "index").len(), 90);
    }
}

#[test]
fn a_run_that_others_are_faster_than_each_time_says_what_its_result_is() {
    let place = Place::with([("a.jsonl", &jsonl([("a", "This is one sentence of a few words.")]))]);
    place.ok("pairs index --add a.jsonl --quiet");
    place.write("late.jsonl", jsonl([("late", "This is one sentence of a few words.")]));
    // The run waits for a reader of the pipe, between its result and its manifest.
    assert!(Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap().success());
    let late = "pairs index --add late.jsonl -o out.csv --capped pipe.csv";
    let mut run = place.command(late.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
    let parts = || -> BTreeSet<String> {
        let names = fs::read_dir(place.path("index/parts")).unwrap().map(|part| part.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| !name.starts_with('.')).collect()
    };
    let mut seen = parts();
    for n in 0..5 {
        while parts().is_subset(&seen) {
            assert!(run.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(1));
        }
        place.write("b.jsonl", jsonl([(format!("b{n}"), "Here is another one.")]));
        place.ok("pairs index --add b.jsonl --quiet");
        seen = parts();
        fs::read(place.path("pipe.csv")).unwrap();
    }
    let ended = run.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains("out.csv was replaced, but its rows are incomplete: other runs changed index 5 times"),
        "{said}"
    );
    assert_eq!(ids(&place, "index"), ["a", "b0", "b1", "b2", "b3", "b4"]);
}

#[test]
fn of_the_same_batch_added_twice_at_once_one_is_added() {
    for round in 0..times("IBID_RACES", 2) {
        let place = Place::new();
        place.write("batch.jsonl", collection_jsonl(60, 400 + round as u64));
        let line = |run: usize| format!("pairs index --unit sentence --threshold 0.5 --add batch.jsonl -o r{run}.csv");
        let runs: Vec<_> = (0..2).map(|run| place.start(&line(run))).collect();
        for mut run in runs {
            assert_eq!(run.wait().unwrap().code(), Some(0));
        }
        assert_eq!(ids(&place, "index").len(), 60);
        let mut counts =
            [0, 1].map(|run| place.read(format!("r{run}.csv")).iter().filter(|byte| **byte == b'\n').count());
        counts.sort_unstable();
        assert!(counts[0] == 1 && counts[1] > 10, "{counts:?}");
    }
}

#[test]
fn a_batch_that_is_added_twice_adds_nothing() {
    let place = Place::new();
    split(&place, &collection_jsonl(80, 11), 2, &mut Dice(1));
    let first = ended(&place, "pairs index --add b0.jsonl --unit sentence");
    assert!(first.err.contains("made the index index"), "{}", first.err);
    let files = || {
        let files = fs::read_dir(place.path("index/parts"))
            .unwrap()
            .chain(fs::read_dir(place.path("index/manifests")).unwrap());
        files.map(|entry| entry.unwrap().path()).collect::<BTreeSet<_>>()
    };
    let before = files();
    let again = ended(&place, "pairs index --add b0.jsonl --unit sentence --format csv");
    assert_eq!(again.text(), "id_a,id_b,similarity,sent_a,sent_b\n");
    assert!(again.err.contains("were in the index already") && again.err.contains("new documents 0"), "{}", again.err);
    assert_eq!(files(), before);
    // Known documents together with new ones: the new ones are added.
    let mixed = place.ok("pairs index --add b0.jsonl b1.jsonl --unit sentence --format csv");
    let everything = place.ok("pairs all1.jsonl --unit sentence --format csv");
    let expected: Vec<_> = rows(&everything).collect();
    let found: Vec<_> = rows(&mixed).collect();
    assert!(!found.is_empty() && found.iter().all(|row| expected.contains(row)));
    assert_eq!(ids(&place, "index").len(), 80);
    let part = place.sql("SELECT count(*) AS n FROM 'index/sentences.parquet'");
    place.ok("ingest all1.jsonl -o corpus");
    assert_eq!(part, place.sql("SELECT count(*) AS n FROM 'corpus/sentences.parquet'"));
}

/// Runs a command that must succeed.
#[track_caller]
fn ended(place: &Place, line: &str) -> Ended {
    let ended = place.run(line);
    assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
    ended
}

#[test]
fn an_id_with_another_text_is_refused_or_skipped() {
    let text = |n: usize| format!("This is the sentence of document {n}. It has a second one, too.");
    let place = Place::with([
        ("old.jsonl", &jsonl([("a", text(1)), ("b", text(2))])),
        ("new.jsonl", &jsonl([("a", text(1)), ("b", text(3)), ("c", text(2))])),
    ]);
    place.ok("pairs index --add old.jsonl");
    let error = place.fails(1, "pairs index --add new.jsonl");
    assert!(error.contains("the document \"b\" is in the index already, with another text"), "{error}");
    assert!(error.contains("--on-error skip"), "{error}");
    assert_eq!(ids(&place, "index"), ["a", "b"]);
    let skipped = place.run("pairs index --add new.jsonl --on-error skip --strict --format csv");
    assert_eq!(skipped.code, Some(4), "{}", skipped.err);
    assert!(
        skipped.err.contains("skipped 1 ") && skipped.err.contains("skipped new.jsonl: the document \"b\""),
        "{}",
        skipped.err
    );
    assert_eq!(skipped.text(), "id_a,id_b,similarity\nb,c,1.0\n");
    assert_eq!(ids(&place, "index"), ["a", "b", "c"]);
    place.ok("pairs index --add new.jsonl --on-error quarantine --quarantine bad.jsonl");
    let quarantined = json_lines(&String::from_utf8(place.read("bad.jsonl")).unwrap());
    assert_eq!(quarantined.len(), 1);
    assert_eq!(quarantined[0]["data"], json!(text(3)));
}

#[test]
fn what_cannot_be_is_said_before_anything_is_written() {
    let place = Place::with([("a.jsonl", &jsonl([("a", "One.")])), ("b.jsonl", &jsonl([("b", "Two.")]))]);
    place.write("mine/thesis.tex", "years of work");
    fs::create_dir(place.path("empty")).unwrap();
    place.ok("ingest a.jsonl -o corpus");
    place.ok("pairs index --add a.jsonl");
    for (line, code, said) in [
        ("pairs mine --add a.jsonl", 1, "mine is no index: it holds thesis.tex"),
        ("pairs corpus --add b.jsonl", 1, "corpus is no index"),
        ("pairs a.jsonl --add b.jsonl", 1, "a.jsonl is no folder of an index"),
        ("pairs index other --add b.jsonl", 1, "--add takes one input"),
        ("pairs other --add index", 1, "index is an index; add what it was made of"),
        ("pairs index --add b.jsonl --against corpus", 2, "cannot be used with"),
        ("pairs index --time-column at", 2, "--add"),
        ("pairs index --add b.jsonl --time-column at", 1, "made without a time column"),
        ("explain pairs index --add b.jsonl", 1, "leave out --add"),
        ("ingest index -o other", 1, "index is an index already"),
        ("gc corpus --window 72h", 1, "corpus is no index"),
        ("gc index --window 72h", 1, "made without --time-column"),
        ("pairs no/such/folder --add a.jsonl", 1, "no/such/folder"),
        ("pairs corpus/index --add b.jsonl", 1, "corpus is a corpus, an index or a result"),
        ("pairs index/parts/index --add b.jsonl", 1, "is a corpus, an index or a result"),
        ("pairs empty --add b.jsonl -o empty/x.csv", 1, "to which nothing but the index belongs"),
        ("pairs empty --add b.jsonl -o x.csv --resume empty/kept", 1, "to which nothing but the index belongs"),
    ] {
        let error = place.fails(code, line);
        assert!(error.contains(said), "{line}: {error}");
    }
    assert_eq!(place.names(), ["a.jsonl", "b.jsonl", "corpus", "empty", "index", "mine"]);
    ["begun/parts", "begun/manifests"].iter().for_each(|folder| fs::create_dir_all(place.path(folder)).unwrap());
    assert!(place.fails(1, "pairs begun").contains("begun has no documents yet"));
    assert_eq!(place.rows("pairs begun --add a.jsonl"), Vec::<Value>::new());
}

#[test]
fn rows_that_nobody_reads_are_not_added() {
    let place = Place::new();
    place.write("batch.jsonl", collection_jsonl(100, 12));
    let mut command =
        place.command("pairs index --add batch.jsonl --unit sentence --threshold 0.1 --format csv".split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    assert!(said.contains("cannot write to standard output"), "{said}");
    assert!(place.fails(1, "pairs index").contains("no documents yet"));
}

#[test]
fn every_command_takes_an_index_for_a_corpus() {
    let place = Place::new();
    split(&place, &collection_jsonl(60, 13), 2, &mut Dice(2));
    place.ok("pairs index --add b0.jsonl");
    place.ok("pairs index --add b1.jsonl");
    place.ok("ingest all1.jsonl -o corpus");
    for command in [
        "passages X",
        "passages b0.jsonl --against X",
        "pairs X --against b1.jsonl --threshold 0.3",
        "threads X --field text --threshold 0.2",
    ] {
        let run = |collection: &str| place.ok(&format!("{} --format csv", command.replace('X', collection)));
        assert_eq!(run("index"), run("corpus"), "{command}");
        let script = place.ok(&format!("{} --show-sql", command.replace('X', "index")));
        if !script.contains("-- first:") {
            let ended = place.run_with(["sql", "-f", "-", "--format", "csv"], &script);
            assert_eq!((ended.code, ended.text()), (Some(0), run("index").as_str()), "{}", ended.err);
        }
    }
    for collection in ["index", "corpus"] {
        place.ok(&format!("clusters {collection} -o clusters_{collection} --method exact"));
    }
    let clusters = |collection| {
        place.sql(&format!("SELECT * FROM 'clusters_{collection}/clusters.parquet' ORDER BY doc_id, sent"))
    };
    assert_eq!(clusters("index"), clusters("corpus"));
    let explained = place.ok("explain passages index");
    assert!(explained.contains(", 60 documents, "), "{explained}");
    let error = place.fails(1, "passages index b0.jsonl");
    assert!(error.contains("index is an index; give it alone"), "{error}");
}

#[test]
fn a_damaged_part_is_an_error_that_names_it() {
    let place = Place::new();
    place.write("batch.jsonl", collection_jsonl(40, 14));
    place.ok("pairs index --add batch.jsonl");
    let part =
        fs::read_dir(place.path("index/parts")).unwrap().next().unwrap().unwrap().path().join("documents.parquet");
    let mut bytes = fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&part, &bytes).unwrap();
    for line in ["pairs index", "pairs index --add batch.jsonl", "threads index --field text"] {
        let error = place.fails(1, line);
        assert!(error.contains("documents.parquet is not what was written"), "{line}: {error}");
    }
    let ended = place.run_with(["sql", "SELECT * FROM 'index/documents.parquet'"], "");
    assert!(ended.code == Some(1) && ended.err.contains("is not what was written"), "{}", ended.err);
    fs::remove_file(&part).unwrap();
    assert!(place.fails(1, "pairs index").contains("cannot read"));
    place.write("index/manifests/00000000000000000002.json", "{\"layout\": 9, \"ibid\": \"7.0\"}");
    let error = place.fails(1, "pairs index");
    assert!(error.contains("its layout 9 is that of ibid 7.0"), "{error}");
}

/// Makes documents with a time and a number.
fn dated(documents: &[(&str, Value, Value)]) -> String {
    documents.iter().fold(String::new(), |lines, (id, at, n)| {
        let text = format!("The one and only text of {id} is here. Nothing else has it.");
        format!("{lines}{}\n", json!({ "id": id, "text": text, "at": at, "n": n }))
    })
}

/// Returns the times of the parts of an index from its newest manifest.
fn part_times(place: &Place) -> Vec<Value> {
    let mut manifests: Vec<_> =
        fs::read_dir(place.path("index/manifests")).unwrap().map(|entry| entry.unwrap().path()).collect();
    manifests.sort();
    let manifest: Value = serde_json::from_slice(&fs::read(manifests.last().unwrap()).unwrap()).unwrap();
    manifest["parts"].as_array().unwrap().iter().map(|part| part["times"].clone()).collect()
}

#[test]
fn parts_know_when_their_documents_are_of() {
    let place = Place::new();
    place.write(
        "1.jsonl",
        dated(&[("a", json!("2024-01-02"), json!(1)), ("b", json!("2024-01-01T12:00:00.5Z"), json!(2))]),
    );
    place.write("2.jsonl", dated(&[("c", json!("1704240000"), json!(0.5))]));
    place.write("3.jsonl", dated(&[("d", json!(1704326400.25), json!("many")), ("e", json!(100_000), Value::Null)]));
    place.ok("pairs index --add 1.jsonl --time-column at");
    place.ok("pairs index --add 2.jsonl");
    place.ok("pairs index --add 3.jsonl --time-column at");
    let expected = [
        json!([1704110400500000_i64, 1704153600000000_i64]),
        json!([1704240000000000_i64, 1704240000000000_i64]),
        json!([100_000_000_000_i64, 1704326400250000_i64]),
    ];
    assert_eq!(part_times(&place), expected);
    // Columns of several types have the one that holds all values.
    let numbers = place.sql("SELECT n FROM 'index/documents.parquet' ORDER BY doc_id");
    let numbers: Vec<_> = numbers.iter().map(|row| row.get("n").cloned().unwrap_or_default()).collect();
    assert_eq!(numbers, [json!("1"), json!("2"), json!("0.5"), json!("many"), Value::Null]);

    place.write(
        "4.jsonl",
        dated(&[
            ("f", json!("yesterday"), json!(1)),
            ("g", Value::Null, json!(1)),
            ("h", json!("2024-02-01"), json!(1)),
        ]),
    );
    let error = place.fails(1, "pairs index --add 4.jsonl");
    assert!(error.contains("the document \"f\" has no time that can be read"), "{error}");
    let skipped = ended(&place, "pairs index --add 4.jsonl --on-error skip");
    assert!(skipped.err.contains("skipped 2 "), "{}", skipped.err);
    assert_eq!(ids(&place, "index"), ["a", "b", "c", "d", "e", "h"]);
    let error = place.fails(1, "pairs index --add 4.jsonl --time-column n");
    assert!(error.contains("the time column of index is \"at\", not \"n\""), "{error}");
    place.write("5.jsonl", jsonl([("x", "No time at all.")]));
    let error = place.fails(1, "pairs index --add 5.jsonl");
    assert!(error.contains("there is no column \"at\""), "{error}");
    place.write("6.jsonl", "{\"id\": \"y\", \"text\": \"A text.\", \"at\": true}\n");
    let error = place.fails(1, "pairs index --add 6.jsonl");
    assert!(
        error.contains("cannot read the column \"at\" of the table added_documents, which holds Boolean"),
        "{error}"
    );
}

#[test]
fn gc_drops_parts_by_time_and_their_files_later() {
    let place = Place::new();
    for day in 1..=5 {
        let id = format!("d{day}");
        place.write("day.jsonl", dated(&[(&id, json!(format!("2024-01-0{day}")), json!(1))]));
        place.ok("pairs index --add day.jsonl --time-column at");
    }
    let parts = || fs::read_dir(place.path("index/parts")).unwrap().count();
    let manifests = || fs::read_dir(place.path("index/manifests")).unwrap().count();
    let said = place.ok("gc index --window 48h --dry-run");
    assert!(said.contains("parts would be dropped 2, files and folders would be removed 0, bytes 0"), "{said}");
    assert_eq!((ids(&place, "index").len(), parts(), manifests()), (5, 5, 5));
    // The newest document is of the 5th, so all from the 3rd on are kept.
    let said = place.ok("gc index --window 48h");
    assert!(said.contains("parts dropped 2, files and folders removed 0"), "{said}");
    assert!(said.contains("left for a later call"), "{said}");
    assert_eq!(ids(&place, "index"), ["d3", "d4", "d5"]);
    assert_eq!((parts(), manifests()), (5, 6));
    let said = place.ok("gc index --window 48h --grace 0s");
    assert!(said.contains("parts dropped 0, files and folders removed 7"), "{said}");
    assert_eq!((parts(), manifests()), (3, 1));
    let said = place.ok("gc index --before 2024-01-05 --grace 0s");
    assert!(said.contains("parts dropped 2, files and folders removed 3"), "{said}");
    assert!(!said.contains("left for a later call"), "{said}");
    assert_eq!(ids(&place, "index"), ["d5"]);
    // A document that was dropped is new again.
    let again = ended(&place, "pairs index --add day.jsonl");
    assert!(again.err.contains("new documents 0"), "{}", again.err);
    place.write("day.jsonl", dated(&[("d1", json!("2024-01-01"), json!(1))]));
    place.ok("pairs index --add day.jsonl");
    assert_eq!(ids(&place, "index"), ["d1", "d5"]);
    // An index may lose all of its parts, and be added to.
    place.ok("gc index --before 2025-01-01");
    let error = place.fails(1, "passages index");
    assert!(error.contains("the index index has no documents any more"), "{error}");
    place.ok("pairs index --add day.jsonl");
    assert_eq!(ids(&place, "index"), ["d1"]);
}

#[test]
fn what_gc_drops_and_what_is_added_at_once_are_both_so() {
    for _ in 0..times("IBID_RACES", 2) {
        let place = Place::new();
        for day in 1..=3 {
            place.write(
                &format!("{day}.jsonl"),
                dated(&[(&format!("d{day}"), json!(format!("2024-01-0{day}")), json!(1))]),
            );
        }
        place.ok("pairs index --add 1.jsonl --time-column at");
        place.ok("pairs index --add 2.jsonl");
        // The rows go to a file, because printed rows cannot be taken back.
        let mut adding = place.start("pairs index --add 3.jsonl -o rows.csv");
        // Waits until the run has read the index, but has not added to it.
        let began = Instant::now();
        while fs::read_dir(place.path("tmp")).unwrap().count() < 2 && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(2));
        }
        place.ok("gc index --before 2024-01-02");
        assert_eq!(adding.wait().unwrap().code(), Some(0));
        assert_eq!(ids(&place, "index"), ["d2", "d3"]);
    }
}

#[test]
fn a_batch_whose_columns_no_type_holds_is_refused() {
    let place = Place::new();
    for (name, value) in [("lists", "[1]"), ("records", "named_struct('a', 1)")] {
        let sql = format!("SELECT '{name}' AS id, 'A text of its own.' AS text, {value} AS x");
        let ended = place.run_with(["sql", &sql, "-o", &format!("{name}.parquet")], "");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
    }
    place.ok("pairs index --add lists.parquet");
    let error = place.fails(1, "pairs index --add records.parquet");
    assert!(error.contains("the column \"x\" is List(Int64)"), "{error}");
    assert_eq!(ids(&place, "index"), ["lists"]);
}

#[test]
fn gc_leaves_what_a_run_may_be_about_to_use() {
    let place =
        Place::with([("a.jsonl", &jsonl([("a", "One text of some words.")])), ("b.jsonl", &jsonl([("b", "Two.")]))]);
    place.ok("pairs index --add a.jsonl");
    place.ok("pairs index --add b.jsonl");
    let left = [
        "index/parts/00000003-0123456789abcdef/documents.parquet",
        "index/parts/.00000003-0123456789abcdef.XyXyXy.ibid-staging/documents.parquet",
        "index/manifests/.00000000000000000003.json.XyXyXy.ibid-staging",
    ];
    let strangers =
        ["index/parts/notes.txt", "index/manifests/notes.txt", "index/parts/00000003-0123456789abcdee/notes.txt"];
    for file in left.iter().chain(&strangers) {
        place.write(file, "half");
    }
    let said = place.ok("gc index");
    assert!(said.contains("files and folders removed 0"), "{said}");
    assert!(said.contains("left for a later call: 3 parts"), "{said}");
    // Two hours later.
    let old = SystemTime::now() - Duration::from_secs(7200);
    let age = |path: &Path| File::open(path).unwrap().set_modified(old).unwrap();
    for file in left {
        age(&place.path(file));
        age(place.path(file).parent().unwrap());
    }
    let said = place.ok("gc index");
    assert!(said.contains("files and folders removed 3, bytes 12"), "{said}");
    assert!(said.contains("parts/00000003-0123456789abcdee: not needed, and kept"), "{said}");
    // The old manifest goes once the newer one is old enough.
    age(&place.path("index/manifests/00000000000000000002.json"));
    let said = place.ok("gc index");
    assert!(said.contains("manifests/00000000000000000001.json: removed"), "{said}");
    assert!(strangers.iter().all(|file| place.path(file).exists()));
    assert_eq!(ids(&place, "index"), ["a", "b"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_batch_of_which_the_rows_cannot_be_told_leaves_no_part() {
    let place = Place::new();
    place.write("a.jsonl", collection_jsonl(20, 1));
    place.write("b.jsonl", collection_jsonl(20, 2).replace("\"d0", "\"e0"));
    place.ok("passages index --add a.jsonl -o x.csv");
    let parts = || fs::read_dir(place.path("index/parts")).unwrap().count();
    let mut adding = place.command(["passages", "index", "--add", "b.jsonl", "--format", "csv", "-q"]);
    adding.stdout(File::options().write(true).open("/dev/full").unwrap()).stderr(Stdio::null());
    assert_eq!(adding.status().unwrap().code(), Some(1));
    assert_eq!(parts(), 1);
    place.ok("passages index --add b.jsonl -o x.csv");
    assert_eq!(parts(), 2);
}
