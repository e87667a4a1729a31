//! `ibid compare`: figures calculated by hand, and wrong labels.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::program::{Place, collection, jsonl};

/// Returns the `n`-th sentence: eight words that no other sentence has.
fn sentence(n: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(n).unwrap());
    let words = ["Ko", "lu", "mi", "na", "pe", "ra", "su", "ti"].map(|word| format!("{word}{letter}"));
    format!("{}.", words.join(" "))
}

/// Returns documents, made of numbered sentences: a is in b and c, f in g.
fn documents() -> String {
    let documents: [(&str, &[usize]); 7] = [
        ("a", &[1, 2]),
        ("b", &[1, 2, 3, 4]),
        ("c", &[1, 2, 5, 6, 7]),
        ("d", &[8, 9]),
        ("e", &[10, 11]),
        ("f", &[12, 13]),
        ("g", &[12, 13, 14, 15]),
    ];
    jsonl(documents.map(|(id, of)| (id, of.iter().map(|n| sentence(*n)).collect::<Vec<_>>().join(" "))))
}

fn place(name: &str, labels: &str) -> Place {
    let place = Place::new();
    place.write("set/docs.jsonl", documents());
    place.write(&format!("set/{name}"), labels);
    place
}

const CONTAINED: &str = "contained,container\na,b\na,c\nd,e\n";

fn lines(records: &[Value]) -> String {
    records.iter().fold(String::new(), |mut lines, record| {
        writeln!(lines, "{record}").unwrap();
        lines
    })
}

/// Returns the row of a method with its first options.
fn row<'a>(rows: &'a [Value], method: &str) -> &'a Value {
    rows.iter().find(|row| row["method"] == method).unwrap()
}

#[track_caller]
fn assert_figures<const N: usize>(row: &Value, expected: [(&str, f64); N]) {
    for (column, expected) in expected {
        let found = row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"));
        assert!((found - expected).abs() < 1e-9, "{column} {expected} {row}");
    }
}

#[test]
fn figures_are_those_worked_out_by_hand() {
    let place = place("labels.csv", CONTAINED);
    let rows = place.rows("compare containment set");
    assert_eq!(rows.len(), 7 + 9 + 4 + 10);
    // a in b and a in c are found, d in e is not, and f in g is in no label.
    let expected = [("precision", 2.0 / 3.0), ("recall", 2.0 / 3.0), ("f1", 2.0 / 3.0), ("found", 3.0)];
    for method in ["FFP, join", "FFP, postings", "sentences", "CoDet"] {
        let row = row(&rows, method);
        assert_figures(row, expected);
        assert_figures(row, [("unlabelled", 1.0)]);
        assert!(row["score_error"].is_null() && row["direction_right"].is_null(), "{row}");
        assert!(row["seconds"].as_f64().unwrap() > 0.0 && row["cpu_seconds"].as_f64().unwrap() > 0.0, "{row}");
    }
    // Pairs with something in common: a b, a c, b c and f g. They share 13 shingles, and 2 sentences of depth 5.
    assert_figures(row(&rows, "FFP, postings"), [("compared", 4.0 / 7.0), ("steps", 4.0 * 13.0 / 7.0)]);
    assert_figures(row(&rows, "CoDet"), [("compared", 4.0 / 7.0), ("steps", 4.0 * 2.0 * 5.0 / 7.0)]);
    // A document whose hash is the same has to have the same ten words.
    let i_match = row(&rows, "I-Match");
    assert_figures(i_match, [("found", 0.0), ("recall", 0.0), ("f1", 0.0)]);
    assert!(i_match["precision"].is_null(), "{i_match}");

    let rows = place.rows("compare containment set --labels-complete no --also=--threshold=0.5");
    assert_figures(row(&rows, "FFP, join"), [("precision", 1.0), ("recall", 2.0 / 3.0), ("f1", 0.8)]);
    assert_figures(row(&rows, "also"), [("found", 3.0), ("f1", 0.8)]);
    // a has 2 of the 4 sentences of b and 2 of the 5 of c; b and c have 2 of each other's; f has 2 of the 4 of g.
    let rows = place.rows("compare containment set --threshold 0.4");
    assert_figures(row(&rows, "sentences"), [("found", 8.0), ("precision", 0.25), ("f1", 4.0 / 11.0)]);
}

#[test]
fn labels_may_be_shares() {
    let labels = lines(&[
        json!({ "id_a": "a", "id_b": "b", "a_in_b": 1.0, "b_in_a": 0.5 }),
        json!({ "id_a": "c", "id_b": "a", "a_in_b": 0.4, "b_in_a": 1.0 }),
        json!({ "id_a": "d", "id_b": "e", "a_in_b": 0.7, "b_in_a": 0.9 }),
        json!({ "id_a": "f", "id_b": "b", "a_in_b": 0.0, "b_in_a": 0.0 }),
    ]);
    let place = place("gold.jsonl", &labels);
    let rows = place.rows("compare containment set");
    for method in ["FFP, join", "FFP, postings"] {
        let row = row(&rows, method);
        // The labels contain a in b, a in c, d in e and e in d. They are not complete, so f in g does not count.
        assert_figures(
            row,
            [("precision", 1.0), ("recall", 0.5), ("f1", 2.0 / 3.0), ("found", 3.0), ("unlabelled", 1.0)],
        );
        // All 13 shingles of a are among the 29 of b and the 37 of c. A pair that is not found has score 0.
        assert_figures(
            row,
            [
                ("score_error", ((0.4 - 13.0 / 37.0) + 0.7) / 4.0),
                ("back_error", ((0.5 - 13.0 / 29.0) + 0.9) / 4.0),
                ("direction_right", 2.0 / 3.0),
            ],
        );
    }
    let rows = place.rows("compare containment set --label-threshold 0.95 --labels-complete yes");
    assert_figures(row(&rows, "FFP, join"), [("precision", 2.0 / 3.0), ("recall", 1.0), ("f1", 0.8)]);

    place.write("set/gold.jsonl", "");
    std::fs::remove_file(place.path("set/gold.jsonl")).unwrap();
    place.write("set/labels.csv", "contained,container,share\na,b,0.8\nb,a,0.2\nf,g,0.9\n");
    let rows = place.rows("compare containment set");
    // Both labels of containments are found, and a in c has no label.
    assert_figures(row(&rows, "FFP, join"), [("precision", 2.0 / 3.0), ("recall", 1.0), ("found", 3.0)]);
    assert_figures(row(&rows, "FFP, join"), [("score_error", (0.2 + (13.0 / 29.0 - 0.2) + 0.1) / 3.0)]);
    place.write("set/labels.csv", "contained,container,label\na,b,yes\nd,e,false\nf,g,no\n");
    let rows = place.rows("compare containment set");
    assert_figures(row(&rows, "FFP, join"), [("precision", 1.0 / 3.0), ("recall", 1.0), ("unlabelled", 1.0)]);
    assert!(rows[0]["score_error"].is_null());
}

#[test]
fn the_join_of_postings_finds_what_the_similarity_join_finds() {
    let place = Place::new();
    let documents = collection(400, 11);
    place.write("set/docs.jsonl", jsonl(documents.iter().map(|(id, sentences)| (id, sentences.join(" ")))));
    place.write("set/labels.csv", "contained,container\nd00001,d00002\n");
    let rows = place.rows("compare containment set --threshold 0.1");
    let (join, postings) = (&rows[0], &rows[1]);
    assert_eq!((&join["method"], &postings["method"]), (&json!("FFP, join"), &json!("FFP, postings")));
    let found = place.rows("containment set/docs.jsonl --threshold 0.1").len();
    assert!(found > 50);
    assert_eq!((&join["found"], &postings["found"]), (&json!(found), &json!(found)));
    // Each setting gives as many rows as alone, so no state is left over from the one before.
    for row in &rows[2..] {
        let options = row["options"].as_str().unwrap();
        let alone = place.rows(&format!("containment set/docs.jsonl --threshold 0.1 {options}")).len();
        assert_eq!(row["found"], json!(alone), "{options}");
    }
}

#[test]
fn words_and_times_are_as_they_are_for_containment() {
    let place = Place::new();
    let text = |sentences: &[usize]| sentences.iter().map(|n| sentence(*n)).collect::<Vec<_>>().join(" ");
    let news = [
        json!({ "id": "late", "text": text(&[1, 2]), "at": "2024-03-05" }),
        json!({ "id": "early", "text": text(&[1, 2, 3, 4]), "at": "2024-03-01" }),
        json!({ "id": "latest", "text": text(&[1, 2, 5, 6]).to_uppercase(), "at": "2024-03-06" }),
        json!({ "id": "never", "text": text(&[1, 2]), "at": null }),
    ];
    place.write("set/docs.jsonl", lines(&news));
    place.write("set/labels.csv", "contained,container\nlate,early\n");
    let command = "compare containment set --language en --without-stop-words --truncate 5";
    assert_figures(row(&place.rows(command), "FFP, join"), [("recall", 1.0), ("found", 6.0)]);
    let ended = place.run(&format!("{command} --time-column at --window 72h --format ndjson"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(ended.err.matches("1 documents do not say when they came").count(), 1, "{}", ended.err);
    let rows = crate::program::json_lines(ended.text());
    assert_figures(row(&rows, "FFP, join"), [("recall", 0.0), ("found", 0.0)]);
    assert_figures(row(&rows, "FFP, postings"), [("recall", 0.0), ("found", 0.0)]);
    let rows = place.rows(&format!("{command} --time-column at --window 5days"));
    assert_figures(row(&rows, "FFP, join"), [("recall", 1.0), ("precision", 1.0), ("found", 1.0)]);
}

#[test]
fn results_are_written_and_printed() {
    let place = place("labels.csv", CONTAINED);
    let printed = place.ok("compare containment set --quiet");
    assert!(printed.contains("| FFP, postings |") && printed.contains("| 0.667 "), "{printed}");
    assert!(printed.trim_end().ends_with("30 rows"), "{printed}");
    place.ok("compare containment set -o comparison.parquet");
    let rows = place.sql("SELECT f1 FROM 'comparison.parquet' WHERE method = 'FFP, join'");
    assert_figures(&rows[0], [("f1", 2.0 / 3.0)]);
    assert_eq!(place.names(), ["comparison.parquet", "set"]);
}

#[test]
fn mistakes_are_explained() {
    let complaint = |name: &str, labels: &str| place(name, labels).fails(1, "compare containment set");
    for (name, labels, said) in [
        ("other.csv", CONTAINED, "there is no gold.* or labels.* in set"),
        ("labels.csv", "a,b\n1,2\n", "set/labels.csv has neither the columns contained and container nor id_a"),
        ("labels.csv", "contained,container\na,b\na,\n", "set/labels.csv, record 2: an id is missing"),
        ("labels.csv", "contained,container,share\na,b,1\na,c,1.5\n", "labels.csv, record 2: the share is 1.5"),
        ("labels.csv", "contained,container,label\na,b,perhaps\n", "labels.csv, record 1: the share is perhaps"),
        ("gold.csv", "id_a,id_b,a_in_b,b_in_a\na,b,1,\n", "gold.csv, record 1: the share is missing"),
        ("gold.csv", "id_a,id_b,a_in_b,b_in_a\na,b,1,0.5\nb,a,0.6,1\n", "of \"b\" in \"a\" both 0.5 and 0.6"),
        ("gold.jsonl", "{\"contained\": \"a\", \"container\": \"b\"}\n{]\n", "set/gold.jsonl, line 2"),
        ("labels.csv", "contained,container\nx,y\n", "no label of set/labels.csv is of two documents that are there"),
    ] {
        let error = complaint(name, labels);
        assert!(error.contains(said), "{name} {labels}: {error}");
    }
    let place = place("labels.csv", "contained,container\na,b\na,x\ny,b\na,a\n");
    let ended = place.run("compare containment set --format ndjson");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("2 labelled pairs name documents that are not there"), "{}", ended.err);
    assert!(ended.err.contains("1 labels are of a document and itself"), "{}", ended.err);
    for (options, said) in [
        ("--also=--unsorted", "--unsorted has no effect here"),
        ("--also=--depth=x", "invalid value 'x' for '--depth <N>'"),
        ("--also=other", "unexpected argument 'other' found"),
        ("--also=--later", "--later is not among those that say how documents are compared"),
        ("--time-column when", "there is no column \"when\""),
        ("--window 3days", "--time-column"),
        ("--max-pairs 1", "FFP, join, --signature shingles:4: this would make"),
    ] {
        let ended = place.run(&format!("compare containment set {options}"));
        assert!(ended.code == Some(1) || ended.code == Some(2), "{options}: {:?}", ended.code);
        assert!(ended.err.contains(said), "{options}: {}", ended.err);
    }
    place.write("set/gold.csv", CONTAINED);
    let error = place.fails(1, "compare containment set");
    assert!(error.contains("set has gold.csv and labels.csv; leave one of them"), "{error}");
}
