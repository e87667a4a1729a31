//! Removed duplicates: compared with a greedy pass over all pairs, and the effects of the options.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::{Dice, Place, jsonl};

pub(super) fn rows(place: &Place, folder: &str, table: &str) -> Vec<Value> {
    let file = if table == "kept" { "kept/*" } else { table };
    place.sql(&format!("SELECT * FROM '{folder}/{file}.parquet'"))
}

pub(super) fn texts(rows: &[Value], column: &str) -> Vec<String> {
    rows.iter().map(|row| row[column].as_str().unwrap().to_owned()).collect()
}

/// Makes documents of few words; many of them are alike.
fn made(documents: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = || (0..4 + dice.below(8)).map(|_| format!("w{}", dice.below(14))).collect::<Vec<_>>().join(" ");
    jsonl((0..documents).map(|i| (format!("d{i}"), text())))
}

/// Returns the documents in their order, and the pairs that match, by SQL without a similarity join.
fn brute_force(place: &Place, measure: &str, threshold: f64) -> (Vec<String>, Vec<(String, String)>) {
    let ids = texts(&place.sql("SELECT id FROM 'made.jsonl'"), "id");
    let pairs = place.sql(&format!(
        "SET ibid.similarity_join.strategy = 'nested_loop';
         WITH sets AS (SELECT id, shingles(words(normalize(text)), 1) AS set FROM 'made.jsonl')
         SELECT a.id AS a, b.id AS b FROM sets AS a JOIN sets AS b ON a.id <> b.id AND {measure}(a.set, b.set) >= {threshold:?}"
    ));
    let of = |row: &Value, side: &str| row[side].as_str().unwrap().to_owned();
    (ids, pairs.iter().map(|row| (of(row, "a"), of(row, "b"))).collect())
}

/// Checks that `clean` is the same with any memory and any number of threads, and that a second run removes nothing.
fn settles_the_same_any_way(place: &Place, how: &str) {
    for (way, folder) in [("--threads 1 --memory 256MiB", "one"), ("--threads 3", "three")] {
        place.ok(&format!("dedup made.jsonl {how} {way} -o {folder}"));
        for table in ["kept/part-00000", "removed", "pairs", "clusters"] {
            let [a, b] = [folder, "clean"].map(|folder| place.read(format!("{folder}/{table}.parquet")));
            assert_eq!(a, b, "{how} {way}: {table}");
        }
    }
    place.ok(&format!("dedup clean/kept {how} -o again"));
    assert_eq!(rows(place, "again", "removed"), [Value::Null; 0], "{how}");
}

#[test]
fn each_that_goes_has_one_that_stays_and_of_these_no_two_match() {
    for (seed, measure, threshold) in
        [(1, "jaccard", 0.4), (2, "jaccard", 0.6), (3, "containment", 0.7), (4, "containment", 1.0)]
    {
        let place = Place::new();
        place.write("made.jsonl", made(80, seed));
        let (ids, pairs) = brute_force(&place, measure, threshold);
        let how = format!("--by {measure} --threshold {threshold} --signature shingles:1");
        place.ok(&format!("dedup made.jsonl {how} -o clean"));
        let removed = rows(&place, "clean", "removed");
        let gone: BTreeSet<_> = texts(&removed, "id").into_iter().collect();
        let kept = texts(&rows(&place, "clean", "kept"), "id");
        assert!(gone.len() > 5 && kept.len() > 5, "{how}: {} of {} go", gone.len(), ids.len());
        // No other document is lost, and the documents keep the order of the input.
        assert_eq!(kept, ids.iter().filter(|id| !gone.contains(*id)).cloned().collect::<Vec<_>>(), "{how}");
        for row in &removed {
            let (id, kept_id) = (row["id"].as_str().unwrap(), row["kept_id"].as_str().unwrap());
            assert!(!gone.contains(kept_id), "{how}: {row}");
            assert!(pairs.contains(&(id.to_owned(), kept_id.to_owned())), "{how}: {row}");
        }
        for (a, b) in &pairs {
            assert!(gone.contains(a) || gone.contains(b), "{how}: {a} and {b} stay");
        }
        if measure == "jaccard" {
            let mut stay: Vec<&String> = Vec::new();
            for id in &ids {
                if !stay.iter().any(|other| pairs.contains(&(id.clone(), (*other).clone()))) {
                    stay.push(id);
                }
            }
            assert_eq!(kept.iter().collect::<Vec<_>>(), stay, "{how}");
        }
        settles_the_same_any_way(&place, &how);
    }
}

#[test]
fn the_columns_of_the_input_keep_their_names_types_and_order() {
    let place = Place::new();
    let text = "The board approved the new ferry terminal by nine votes to two on Monday.";
    place.write(
        "a.jsonl",
        jsonl_of(&[
            json!({"lang": "en", "body": text, "id": 7, "score": 0.5}),
            json!({"lang": "de", "body": "Etwas anderes, das nicht dasselbe ist.", "id": 3, "score": null}),
            json!({"lang": "en", "body": format!("{text} "), "id": 5, "score": 2.0}),
        ]),
    );
    let said = place.run("dedup a.jsonl --text-column body -o clean --by-source lang").err;
    assert!(said.contains("documents 3, removed 1, characters"), "{said}");
    assert_eq!(
        rows(&place, "clean", "kept"),
        [
            json!({"lang": "en", "body": text, "id": 7, "score": 0.5}),
            json!({"lang": "de", "body": "Etwas anderes, das nicht dasselbe ist.", "id": 3, "score": null}),
        ]
    );
    let types = place.sql(
        "SELECT arrow_typeof(id) AS id, arrow_typeof(score) AS score FROM 'clean/kept/part-00000.parquet' LIMIT 1",
    );
    assert_eq!(types, [json!({"id": "Int64", "score": "Float64"})]);
    assert_eq!(
        rows(&place, "clean", "removed"),
        [
            json!({"id": "5", "kept_id": "7", "similarity": 1.0, "containment": 1.0, "containment_back": 1.0, "rule": "equal"})
        ]
    );
    let sources = place.sql("SELECT source, documents, removed > 0.4 AS loses FROM 'clean/sources.parquet'");
    assert_eq!(
        sources,
        [
            json!({"source": "de", "documents": 1, "loses": false}),
            json!({"source": "en", "documents": 2, "loses": true})
        ]
    );
}

#[test]
fn columns_may_have_the_names_of_ours() {
    let place = Place::new();
    let row = |id: i64, time: &str| json!({"id": id, "text": "The ferry leaves at noon.", "time": time, "doc": id, "form": time, "seconds": time});
    place.write("a.jsonl", jsonl_of(&[row(1, "2020"), row(2, "2019")]));
    for keep in ["oldest:time", "oldest:form", "oldest:seconds", "highest:doc", "priority:doc=2", "highest:doc_id"] {
        place.ok(&format!("dedup a.jsonl --keep {keep} -o clean"));
        assert_eq!(rows(&place, "clean", "kept"), [row(2, "2019")], "{keep}");
    }
}

#[test]
fn objects_and_lists_of_json_lines_stay_what_they_are() {
    let place = Place::new();
    let rows = "{\"id\":\"a\",\"text\":\"The ferry leaves at noon.\",\"meta\":{\"k\": [1.50, {\"z\": null}]},\"tags\":[],\"n\":\"{}\"}\n\
                {\"id\":\"b\",\"text\":\"The train leaves at night.\",\"meta\":null,\"tags\":[\"x\"],\"n\":\"[\"}\n";
    place.write("a.jsonl", rows);
    place.ok("dedup a.jsonl -o clean --format jsonl");
    let written = |folder: &str| String::from_utf8(place.read(format!("{folder}/kept/part-00000.jsonl"))).unwrap();
    assert_eq!(written("clean"), rows);
    // A column that also has text is text.
    place.write("b.jsonl", rows.replace("[\"x\"]", "\"x\""));
    place.ok("dedup b.jsonl -o mixed --format jsonl");
    assert_eq!(written("mixed"), rows.replace("[\"x\"]", "\"x\"").replace("[]", "\"[]\""));
}

#[test]
fn a_text_of_two_columns_replaces_neither() {
    let place = Place::new();
    let row = |id: &str, title: &str| json!({"id": id, "title": title, "text": "The ferry leaves at noon."});
    place.write("a.jsonl", jsonl_of(&[row("a", "Times"), row("b", "Times"), row("c", "Boats and where they go")]));
    place.ok("dedup a.jsonl --text-column title+text -o clean --format jsonl");
    let joined = |mut row: Value, text: &str| {
        row["new_text"] = json!(text);
        row
    };
    assert_eq!(
        place.sql("SELECT id, title, text, new_text FROM 'clean/kept/part-00000.jsonl'"),
        [
            joined(row("a", "Times"), "Times\n\nThe ferry leaves at noon."),
            joined(row("c", "Boats and where they go"), "Boats and where they go\n\nThe ferry leaves at noon.")
        ]
    );
}

fn jsonl_of(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn which_of_several_stays_is_chosen() {
    let place = Place::new();
    let text = "The board approved the new ferry terminal by nine votes to two on Monday";
    let row = |id: &str, end: &str, at: &str, stars: i64, from: &str| json!({"id": id, "text": format!("{text}{end}"), "at": at, "stars": stars, "from": from});
    place.write(
        "a.jsonl",
        jsonl_of(&[
            row("c", ".", "2024-03-01", 2, "web"),
            row("b", " evening.", "2024-01-01", 9, "wiki"),
            row("a", "!", "2024-02-01", 9, "news"),
        ]),
    );
    for (keep, stays) in [
        ("first", "c"),
        ("longest", "b"),
        ("oldest:at", "b"),
        ("newest:at", "c"),
        ("highest:stars", "a"),
        ("priority:from=news,wiki", "a"),
        ("priority:from=paper,wiki", "b"),
        ("priority:from=paper", "a"),
    ] {
        place.ok(&format!("dedup a.jsonl --keep {keep} --threshold 0.6 -o clean"));
        assert_eq!(texts(&rows(&place, "clean", "kept"), "id"), [stays], "{keep}");
    }
    for (options, says) in [
        ("--keep oldest:when", "there is no column \"when\""),
        ("--keep last", "known are first, longest"),
        ("--by exact --threshold 0.9", "--threshold has no effect here"),
        ("--by-source source", "there is no column \"source\""),
    ] {
        let said = place.run(&format!("dedup a.jsonl {options} -o wrong")).err;
        assert!(said.contains(says), "{options}: {said}");
    }
    assert_eq!(place.names(), ["a.jsonl", "clean"]);
}

#[test]
fn what_is_cut_out_of_texts_stands_in_removed_and_nothing_else_is_lost() {
    let place = Place::new();
    let shared = "This notice stands in every file, word by word.\nIt has two lines.";
    let first = format!("\n\nFirst, ümläuts.\n\n{shared}\n\n\nThe end of the first.\n");
    let second = format!("{shared}\n \nSecond thing that nobody else says.\n\n{}", shared.to_uppercase());
    place.write("a.jsonl", jsonl([("a", first.clone()), ("b", second.clone()), ("c", shared.to_owned())]));
    for by in ["exact", "jaccard"] {
        place.ok(&format!("dedup a.jsonl --unit paragraph --by {by} -o clean"));
        let kept = rows(&place, "clean", "kept");
        assert_eq!(
            kept,
            [json!({"id": "a", "text": first}), json!({"id": "b", "text": "Second thing that nobody else says.\n\n"})],
            "{by}"
        );
        let removed =
            place.sql("SELECT id, piece, byte_start, byte_end, kept_id, kept_piece FROM 'clean/removed.parquet'");
        let at = |id: &str, piece: i64, byte_start: usize, byte_end: usize| json!({"id": id, "piece": piece, "byte_start": byte_start, "byte_end": byte_end, "kept_id": "a", "kept_piece": 1});
        let last = second.len() - shared.len();
        assert_eq!(
            removed,
            [at("b", 0, 0, shared.len()), at("b", 2, last, second.len()), at("c", 0, 0, shared.len())],
            "{by}"
        );
    }
    // The same for sentences. A text that loses all its sentences is no longer a document.
    place.write(
        "b.jsonl",
        jsonl([("a", "One is here. Two is here."), ("b", "Two is here. Three is here."), ("c", "One is here.")]),
    );
    place.ok("dedup b.jsonl --unit sentence --by exact -o cut");
    assert_eq!(
        rows(&place, "cut", "kept"),
        [json!({"id": "a", "text": "One is here. Two is here."}), json!({"id": "b", "text": "Three is here."})]
    );
}

#[test]
fn texts_without_a_word_stay() {
    let place = Place::new();
    place.write("a.jsonl", jsonl([("a", "…"), ("b", "…"), ("c", ""), ("d", "")]));
    for by in ["exact", "jaccard", "containment"] {
        place.ok(&format!("dedup a.jsonl --by {by} -o clean"));
        assert_eq!(texts(&rows(&place, "clean", "kept"), "id"), ["a", "b", "c", "d"], "{by}");
    }
}

#[test]
fn what_stays_is_handed_on_in_the_form_that_is_asked_for() {
    let place = Place::new();
    let row = |n: usize| json!({"url": format!("u{n}"), "text": format!("This is the text of the page number {} of the book.", n / 2), "n": n});
    place.write("a.jsonl", jsonl_of(&(0..10).map(row).collect::<Vec<_>>()));
    let dedup = |options: &str| place.ok(&format!("dedup a.jsonl --id-column url --by exact -o clean {options}"));
    let kept = |files: &str| place.sql(&format!("SELECT url, n FROM 'clean/kept/{files}' ORDER BY n"));
    let expected: Vec<_> = (0..10).step_by(2).map(|n| json!({"url": format!("u{n}"), "n": n})).collect();
    for format in ["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "csv"] {
        dedup(&format!("--format {format} --rows-per-file 2"));
        let names: Vec<_> = (0..3).map(|n| format!("part-0000{n}.{format}")).collect();
        let mut there: Vec<_> = std::fs::read_dir(place.path("clean/kept"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        assert_eq!(there, names);
        assert_eq!(kept(&format!("*.{format}")), expected, "{format}");
        let said = place.ok("verify clean");
        assert!(said.contains(&format!("clean/kept/{}: sound", names[2])) && !said.contains("passed over"), "{said}");
        // The kept documents can be the input of another run.
        assert!(
            place.run("dedup clean/kept --id-column url -o again").err.contains("documents 5, removed 0"),
            "{format}"
        );
    }
    place.write("clean/kept/part-00001.csv", "n,text,url\n");
    let ended = place.run("verify clean");
    assert!(ended.code == Some(1) && ended.text().contains("part-00001.csv: WRONG"), "{}", ended.text());
    // A file of somebody else is left alone.
    place.write("clean/kept/theirs.txt", "years of work");
    let said = place.fails(1, "dedup a.jsonl --id-column url -o clean");
    assert!(said.contains("it holds kept, which this command does not write"), "{said}");
    std::fs::remove_dir_all(place.path("clean")).unwrap();

    dedup("--ids-only");
    let ids = place.sql("SELECT * FROM 'clean/kept/*.parquet'");
    assert_eq!(ids, (0..10).step_by(2).map(|n| json!({"url": format!("u{n}")})).collect::<Vec<_>>());
    dedup("--annotate");
    let all = place.sql("SELECT url, is_kept, kept_id, similarity, rule FROM 'clean/kept/*.parquet' WHERE n < 2");
    assert_eq!(
        all,
        [
            json!({"url": "u0", "is_kept": true, "kept_id": null, "similarity": null, "rule": null}),
            json!({"url": "u1", "is_kept": false, "kept_id": "u0", "similarity": 1.0, "rule": "equal"}),
        ]
    );
    let said = place.fails(1, "dedup clean/kept --id-column url --annotate -o again");
    assert!(said.contains("already have a column is_kept"), "{said}");
    place.ok("dedup a.jsonl --id-column url --unit sentence --by exact --annotate -o pieces");
    let cuts = place.sql("SELECT url, is_kept, cuts[1]['kept_id'] AS kept, cuts[1]['char_end'] AS char_end FROM 'pieces/kept/*' WHERE n = 3");
    assert_eq!(cuts, [json!({"url": "u3", "is_kept": false, "kept": "u2", "char_end": 50})]);
    let summary: Value = serde_json::from_slice(&place.read("clean/summary.json")).unwrap();
    assert_eq!((&summary["counts"]["removed"], &summary["options"]["by"]), (&json!(5), &json!("exact")));
}

#[test]
fn what_goes_by_hashing_is_verified_and_what_was_missed_is_said() {
    let place = Place::new();
    place.write("made.jsonl", made(400, 5));
    let how = "--threshold 0.6 --signature shingles:1";
    let (_, pairs) = brute_force(&place, "jaccard", 0.6);
    place.ok(&format!("dedup made.jsonl {how} -o exact"));
    let exact = rows(&place, "exact", "removed").len();
    // With few bands of few minhashes, many pairs are missed.
    let said = place.run(&format!("dedup made.jsonl {how} --method lsh --bands 2 --rows 4 --sample 400 -o lsh")).err;
    assert!(said.contains("of a sample of texts ") && said.contains("pairs were found: recall 0."), "{said}");
    let removed = rows(&place, "lsh", "removed");
    assert!(removed.len() > 20 && removed.len() < exact, "{} of {exact}", removed.len());
    let gone: BTreeSet<_> = texts(&removed, "id").into_iter().collect();
    for row in &removed {
        let (id, kept_id) = (row["id"].as_str().unwrap(), row["kept_id"].as_str().unwrap());
        assert!(!gone.contains(kept_id) && pairs.contains(&(id.to_owned(), kept_id.to_owned())), "{row}");
    }
    // With the defaults nothing is missed, and every run gives the same result.
    place.ok(&format!("dedup made.jsonl {how} --method lsh -o one --threads 1"));
    place.ok(&format!("dedup made.jsonl {how} --method lsh -o two"));
    assert_eq!(rows(&place, "one", "removed").len(), exact);
    assert_eq!(place.read("one/removed.parquet"), place.read("two/removed.parquet"));
    let error = place.fails(1, "dedup made.jsonl --by containment --method lsh -o wrong");
    assert!(error.contains("--method lsh needs --by jaccard"), "{error}");
    let error = place.fails(1, "dedup made.jsonl --bands 2 -o wrong");
    assert!(error.contains("--bands has no effect here"), "{error}");
}

#[test]
fn many_that_are_alike_are_compared_with_the_first_of_them() {
    let place = Place::new();
    let common: String = (0..40).map(|i| format!("word{i} ")).collect();
    place.write("made.jsonl", jsonl((0..900).map(|i| (format!("d{i}"), format!("{common} end{i}")))));
    let ended = place.run("dedup made.jsonl --method lsh --max-bucket 3 -o lsh");
    assert!(
        ended.err.contains("are those of more than --max-bucket 3 texts, which were all compared with the first"),
        "{}",
        ended.err
    );
    assert_eq!(texts(&rows(&place, "lsh", "kept"), "id"), ["d0"]);
    let pairs = place.sql("SELECT count(*) < 60000 AS few FROM 'lsh/pairs.parquet'");
    assert_eq!(pairs, [json!({"few": true})]);
    let largest = "SELECT texts > 800 AS is_most, pairs_not_made = (texts - 3) * (texts - 4) / 2 AS are_others";
    let buckets = place.sql(&format!("{largest} FROM 'lsh/buckets.parquet' ORDER BY texts DESC LIMIT 1"));
    assert_eq!(buckets, [json!({"is_most": true, "are_others": true})]);
    place.fails(4, "dedup made.jsonl --method lsh --max-bucket 3 --strict -o strict");

    // The choice of the program depends on the number of pairs.
    let said = place.run("dedup made.jsonl --method auto --max-pairs 300000 --sample 300 -o auto").err;
    assert!(said.contains("method lsh: by a sample of 300 texts some 404,"), "{said}");
    assert!(said.contains("pairs match, more than --max-pairs 300,000"), "{said}");
    assert_eq!(texts(&rows(&place, "auto", "kept"), "id"), ["d0"]);
    let said = place.run("dedup made.jsonl --method auto -o auto").err;
    assert!(
        said.contains(
            "method exact: by a sample of 900 texts some 404,550 pairs match, no more than --max-pairs 50,000,000"
        ),
        "{said}"
    );
    let error = place.fails(1, "dedup made.jsonl --max-pairs 300000 -o exact");
    assert!(error.contains("404,550 pairs of texts match, more than --max-pairs 300000"), "{error}");
}

#[test]
fn another_threshold_gives_what_a_run_with_it_gives() {
    for (how, wide, narrow) in [
        ("--signature shingles:1 --keep longest --by-source from --format jsonl.gz", 0.5, 0.7),
        ("--signature shingles:1 --by containment --ids-only", 0.6, 0.9),
        ("--unit paragraph --signature shingles:2", 0.3, 0.6),
        ("--unit sentence --signature shingles:1 --annotate", 0.4, 1.0),
    ] {
        let (place, mut dice) = (Place::new(), Dice(9));
        let mut words = |least: usize| {
            (0..least + dice.below(6)).map(|_| format!("w{}", dice.below(12))).collect::<Vec<_>>().join(" ")
        };
        let mut lines = String::new();
        for i in 0..150 {
            let text = format!("{}. {}.\n\n{}.", words(3), words(3), words(4));
            lines += &format!("{}\n", json!({"key": format!("d{i}"), "body": text, "from": format!("s{}", i % 3)}));
        }
        place.write("made.jsonl", lines);
        let input = "made.jsonl --text-column body --id-column key";
        place.ok(&format!("dedup {input} {how} --threshold {wide} -o clean"));
        place.ok(&format!("dedup {input} {how} --threshold {narrow} -o expected"));
        place.ok(&format!("dedup --rethreshold {narrow} clean -o other"));
        place.ok(&format!("dedup --rethreshold {narrow} clean"));
        let manifest: Value = serde_json::from_slice(&place.read("expected/manifest.json")).unwrap();
        for folder in ["other", "clean"] {
            for file in manifest["files"].as_array().unwrap() {
                let name = file["name"].as_str().unwrap();
                let [a, b] = [folder, "expected"].map(|folder| place.read(format!("{folder}/{name}")));
                assert!(a == b, "{how}: {folder}/{name}");
            }
            place.ok(&format!("verify {folder}"));
        }
        let error = place.fails(1, &format!("dedup --rethreshold {wide} clean"));
        assert!(
            error.contains(
                &format!("has the pairs from {narrow:?} on, and --rethreshold is {wide:?}").replace(".0 on", " on")
            ),
            "{error}"
        );

        // Other documents have other pairs.
        place.write("made.jsonl", "{\"key\": \"a\", \"body\": \"b\", \"from\": \"s0\"}\n");
        let error = place.fails(1, &format!("dedup --rethreshold {narrow} clean"));
        assert!(error.contains("the documents are not those of which clean was made"), "{error}");
    }
    let place = Place::new();
    place.write("made.jsonl", made(20, 1));
    place.ok("dedup made.jsonl --by exact -o clean");
    for (command, error) in [
        ("dedup --rethreshold 0.9 clean", "was made of equal texts, which have no threshold"),
        ("dedup --rethreshold 0.9 made.jsonl -o other", "is no folder that ibid dedup has written"),
        ("dedup --rethreshold 0.9 clean clean", "takes one input: the folder that a dedup has written"),
    ] {
        let said = place.fails(1, command);
        assert!(said.contains(error), "{command}: {said}");
    }
    place.fails(2, "dedup --rethreshold 0.9 clean --threshold 0.5");
    place.ok("dedup made.jsonl --method lsh -o hashed");
    let error = place.fails(1, "dedup --rethreshold 0.9 hashed");
    assert!(error.contains("has the pairs that minhashes found, which may not be all"), "{error}");
}

/// Makes documents of few words with repeated runs of words, in two paragraphs.
fn with_repeats(documents: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = || (0..5 + dice.below(60)).map(|_| format!("w{}", dice.below(3))).collect::<Vec<_>>().join(" ");
    jsonl((0..documents).map(|i| (format!("d{i}"), format!("({}).\n\n{}", text(), text()))))
}

#[test]
fn of_what_stays_no_run_of_words_stands_twice() {
    for (seed, words, keep) in [(1, 5, "first"), (2, 8, "longest"), (3, 1, "first"), (4, 4, "first")] {
        let place = Place::new();
        place.write("made.jsonl", with_repeats(40, seed));
        let how = format!("--unit passage --min-words {words} --keep {keep}");
        place.ok(&format!("dedup made.jsonl {how} -o clean"));
        let runs = place.sql(&format!(
            "SELECT count(*) AS runs, count(DISTINCT run) AS once FROM (
                 SELECT unnest(fingerprints(word_sequence(text), {words}, 1))['fingerprint'] AS run FROM 'clean/kept/*.parquet'
             )"
        ));
        assert!(runs[0]["runs"] == runs[0]["once"], "{how}: {runs:?}");
        // A removed passage is equal to the kept passage, and that one is still there.
        let removed = place.sql(
            "SELECT r.id, r.char_start, r.char_end, r.kept_id, r.kept_char_start, r.kept_char_end,
                 array_to_string(words(normalize(substring(a.text, r.char_start + 1, r.char_end - r.char_start))), ' ') AS goes,
                 array_to_string(words(normalize(substring(b.text, r.kept_char_start + 1, r.kept_char_end - r.kept_char_start))), ' ')
                     AS stays
             FROM 'clean/removed.parquet' AS r JOIN 'made.jsonl' AS a ON r.id = a.id JOIN 'made.jsonl' AS b ON r.kept_id = b.id",
        );
        assert!(removed.len() > 20, "{how}: {}", removed.len());
        let of = |row: &Value, name: &str| row[name].as_i64().unwrap();
        let goes: Vec<_> =
            removed.iter().map(|row| (row["id"].clone(), of(row, "char_start")..of(row, "char_end"))).collect();
        for row in &removed {
            assert_eq!(row["goes"], row["stays"], "{how}: {row}");
            let kept = of(row, "kept_char_start") + 1..of(row, "kept_char_end") - 1;
            let overlaps = |(id, goes): &(Value, std::ops::Range<i64>)| {
                *id == row["kept_id"] && goes.start < kept.end && kept.start < goes.end
            };
            assert!(!goes.iter().any(overlaps), "{how}: {row}");
        }
        settles_the_same_any_way(&place, &how);
    }
}

#[test]
fn passages_are_cut_between_words_and_the_text_around_them_stays() {
    let place = Place::new();
    let passage = "“The board approved the new ferry terminal by nine votes to two,” said the mayor.";
    let row = |id: &str, at: &str, text: &str| json!({"id": id, "at": at, "site": id, "text": text});
    place.write(
        "a.jsonl",
        jsonl_of(&[
            row("new", "2024-02-01", &format!("On Monday:\n\n{passage}\n\nWork begins in März.")),
            row("old", "2024-01-01", &format!("Größe. {passage} It rains.")),
            row("copy", "2024-03-01", &passage.to_uppercase()),
        ]),
    );
    let how = "--unit passage --min-words 10 --keep oldest:at --by-source site";
    let said = place.run(&format!("dedup a.jsonl {how} -o clean")).err;
    assert!(said.contains("documents 3, passages removed 2, documents removed 1, characters"), "{said}");
    let kept = texts(&rows(&place, "clean", "kept"), "text");
    assert_eq!(kept, ["On Monday:\n\nWork begins in März.".to_owned(), format!("Größe. {passage} It rains.")]);
    let removed =
        place.sql("SELECT id, char_start, char_end, kept_id, kept_char_start, rule FROM 'clean/removed.parquet'");
    let length = passage.chars().count();
    assert_eq!(
        removed,
        [
            json!({"id": "new", "char_start": 12, "char_end": 12 + length, "kept_id": "old", "kept_char_start": 7, "rule": "equal"}),
            json!({"id": "copy", "char_start": 0, "char_end": length, "kept_id": "old", "kept_char_start": 7, "rule": "equal"}),
        ]
    );
    let lost = place.sql("SELECT source, characters_removed AS lost FROM 'clean/sources.parquet' ORDER BY source");
    assert_eq!(
        lost.iter().map(|row| row["lost"].clone()).collect::<Vec<_>>(),
        [json!(length), json!(length), json!(0)]
    );

    place.ok(&format!("dedup a.jsonl {how} --annotate -o said"));
    let said = place.sql("SELECT id, is_kept, cuts[1]['kept_id'] AS kept_id FROM 'said/kept/*.parquet'");
    assert_eq!(
        said,
        [
            json!({"id": "new", "is_kept": true, "kept_id": "old"}),
            json!({"id": "old", "is_kept": true, "kept_id": null}),
            json!({"id": "copy", "is_kept": false, "kept_id": "old"}),
        ]
    );
    let error = place.run("dedup a.jsonl --unit passage --by containment -o x").err;
    assert!(error.contains("passages match by their words alone"), "{error}");
    let error = place.run("dedup a.jsonl --unit passage --threshold 0.9 -o x").err;
    assert!(error.contains("threshold"), "{error}");
    let error = place.run("dedup clean --rethreshold 0.9").err;
    assert!(error.contains("equal texts, which have no threshold"), "{error}");
}
