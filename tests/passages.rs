//! The passages that the pipeline finds, against the paper's own algorithms and by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Dice, Place, collection_jsonl, jsonl};

/// Whole sentences, 3-shingles, whatever they weigh.
const PLAIN: &str = "--signature shingles:3 --min-weight 0 --edges sentences";

#[test]
fn the_papers_plan_finds_the_pairs_of_the_similarity_join() {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(120, 1));
    place.ok("ingest made.jsonl -o made");
    let licences = concat!(env!("CARGO_MANIFEST_DIR"), "/data/licenses/texts.jsonl.gz");
    place.ok(&format!("ingest {licences} -o licences"));
    for (corpus, n) in [("made", 2), ("licences", 4)] {
        let signatures = format!(
            "CREATE TABLE signatures AS SELECT row_number() OVER (ORDER BY doc_id, sent) AS unit, 0 AS side, doc_id AS doc, \
             shingles(words(normalize(text)), {n}) AS set FROM '{corpus}/sentences.parquet' ORDER BY doc_id, sent LIMIT 3000"
        );
        for threshold in [0.5, 0.8, 0.9, 1.0] {
            let paper = concat!(env!("CARGO_MANIFEST_DIR"), "/queries/pdc_mr/sentence_pairs.sql");
            let threshold = format!("threshold={threshold:?}");
            let papers = run_sql(&place, &["-c", &signatures, "-f", paper, "-p", &threshold]);
            let join = "SELECT a.unit AS unit_a, b.unit AS unit_b, jaccard(a.set, b.set) AS similarity FROM signatures AS a \
                        JOIN signatures AS b ON jaccard(a.set, b.set) >= $threshold AND a.unit < b.unit ORDER BY 1, 2";
            let ours = run_sql(&place, &["-c", &signatures, "-c", join, "-p", &threshold]);
            assert!(papers.lines().count() > 20, "{corpus}, {threshold}: too few pairs to tell");
            assert_eq!(ours, papers, "{corpus}, {threshold}");
        }
    }
}

fn run_sql(place: &Place, arguments: &[&str]) -> String {
    let arguments = ["sql", "--format", "csv"].iter().chain(arguments).copied();
    let ended = place.run_with(arguments, "");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    ended.text().to_owned()
}

#[test]
fn without_gaps_and_caps_passages_are_those_of_the_papers_algorithms() {
    for (seed, threshold, min_sentences) in [(1, 0.5, 3), (2, 0.8, 2), (3, 0.3, 1), (4, 1.0, 3)] {
        let place = Place::new();
        place.write("made.jsonl", collection_jsonl(60, seed));
        place.ok("ingest made.jsonl -o made");
        let found = place.rows(&format!(
            "passages made {PLAIN} --threshold {threshold} --min-sentences {min_sentences} --max-gap 0 \
             --max-frequency 4000000000"
        ));
        let sentences = sentences_of(&place, "made");
        let expected = paper(&sentences, threshold, min_sentences);
        assert!(expected.len() > 5, "too few passages to tell: {}", expected.len());
        let found: BTreeSet<_> = found.iter().map(|row| run_of(row, &sentences)).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// A sentence: its set, and where it stands in characters and bytes.
struct Sentence {
    set: BTreeSet<u64>,
    span: [i64; 4],
}

/// Documents of two, sentences where they begin, sentences in the run.
type Run = (String, String, usize, usize, usize);

fn sentences_of(place: &Place, corpus: &str) -> BTreeMap<String, Vec<Sentence>> {
    let rows = place.sql(&format!(
        "SELECT doc_id, char_start, char_end, byte_start, byte_end, shingles(words(normalize(text)), 3) AS set \
         FROM '{corpus}/sentences.parquet' ORDER BY doc_id, sent"
    ));
    let mut documents: BTreeMap<String, Vec<Sentence>> = BTreeMap::new();
    for row in rows {
        let set = row["set"].as_array().unwrap().iter().map(|hash| hash.as_u64().unwrap()).collect();
        let span = ["char_start", "char_end", "byte_start", "byte_end"].map(|name| row[name].as_i64().unwrap());
        documents.entry(row["doc_id"].as_str().unwrap().to_owned()).or_default().push(Sentence { set, span });
    }
    documents
}

/// The run of a row, once its offsets are those of its sentences.
fn run_of(row: &Value, documents: &BTreeMap<String, Vec<Sentence>>) -> Run {
    let number = |name: &str| row[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap();
    let doc = |side: &str| row[format!("doc_{side}")].as_str().unwrap().to_owned();
    for side in ["a", "b"] {
        let sentences = &documents[&doc(side)];
        let first = sentences[number(&format!("sent_{side}_start"))].span;
        let last = sentences[number(&format!("sent_{side}_end")) - 1].span;
        assert_eq!([&row[format!("char_{side}_start")], &row[format!("char_{side}_end")]], [first[0], last[1]]);
        assert_eq!([&row[format!("byte_{side}_start")], &row[format!("byte_{side}_end")]], [first[2], last[3]]);
    }
    assert_eq!(row["gaps"], 0);
    (doc("a"), doc("b"), number("sent_a_start"), number("sent_b_start"), number("sentences"))
}

/// PDC-MR: algorithm 1 gives the duplicated sentences of each pair of documents, algorithm 2 their diagonals.
fn paper(documents: &BTreeMap<String, Vec<Sentence>>, threshold: f64, min_sentences: usize) -> BTreeSet<Run> {
    let mut found = BTreeSet::new();
    for (a, sentences_a) in documents {
        for (b, sentences_b) in documents.range(a.clone()..).skip(1) {
            let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
            for (i, x) in sentences_a.iter().enumerate() {
                let similar = sentences_b.iter().enumerate().filter(|(_, y)| jaccard(&x.set, &y.set) >= threshold);
                pairs.extend(similar.map(|(j, _)| (i, j)));
            }
            for root in pairs.clone() {
                let diagonal: Vec<_> =
                    (0..).map(|k| (root.0 + k, root.1 + k)).take_while(|pair| pairs.contains(pair)).collect();
                if diagonal.len() >= min_sentences {
                    found.insert((a.clone(), b.clone(), root.0, root.1, diagonal.len()));
                    diagonal.iter().for_each(|pair| assert!(pairs.remove(pair)));
                }
            }
        }
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "sentences are short")]
fn jaccard(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
    let common = a.intersection(b).count();
    common as f64 / (a.len() + b.len() - common) as f64
}

#[test]
fn a_sentence_in_200_000_documents_makes_no_pairs_and_is_reported() {
    const DOCUMENTS: u64 = 200_000;
    let place = Place::new();
    let mut dice = Dice(7);
    let documents = (0..DOCUMENTS).map(|i| {
        let text = format!("All rights are reserved by the publisher. {}", dice.sentence(9, 60_000));
        (format!("d{i}"), text)
    });
    place.write("many.jsonl", jsonl(documents));
    let run = |command: &str| {
        let began = Instant::now();
        let ended = place.run(&format!("{command} many.jsonl --capped capped.csv -o found.parquet"));
        println!("{command}: {:?}\n{}", began.elapsed(), ended.err);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(began.elapsed() < Duration::from_secs(60), "{command} took {:?}", began.elapsed());
        assert!(ended.err.contains("documents 200,000"), "{}", ended.err);
        ended.err
    };
    for command in ["passages", "passages --signature shingles:3", "pairs --unit sentence"] {
        let summary = run(command);
        assert!(summary.contains("capped 1"), "{summary}");
        let capped = place.sql("SELECT text, df, pairs_not_made FROM 'capped.csv'");
        let expected = json!({
            "text": "All rights are reserved by the publisher.",
            "df": DOCUMENTS,
            "pairs_not_made": DOCUMENTS * (DOCUMENTS - 1) / 2,
        });
        assert_eq!(capped, [expected]);
    }
    // Whole documents share no more than the elements of the sentence, which are nobody's rarest.
    let summary = run("pairs");
    assert!(summary.contains("pairs 0, capped 0"), "{summary}");
}

/// `a` and `b` share a rare sentence before and after one that all documents have; `c` and `d` share only the latter.
fn around_a_frequent_sentence() -> Place {
    let frequent = "All rights are reserved by the publisher.";
    let (before, after) = ("The ferry leaves the old harbour at noon.", "Nobody saw the captain on that evening.");
    let documents = [
        ("a", format!("{before} {frequent} {after}")),
        ("b", format!("Something else comes first here. {before} {frequent} {after}")),
        ("c", format!("{frequent} {frequent} {frequent}")),
        ("d", format!("{frequent} {frequent} {frequent}")),
    ];
    Place::with([("in.jsonl", &jsonl(documents))])
}

#[test]
fn frequent_texts_extend_a_passage_and_found_none() {
    let place = around_a_frequent_sentence();
    let found = |options: &str| {
        let rows = place.rows(&format!("passages in.jsonl {PLAIN} --max-gap 0 --min-sentences 3 {options}"));
        rows.iter().map(|row| json!([row["doc_a"], row["doc_b"], row["sentences"]])).collect::<Vec<_>>()
    };
    assert_eq!(found("--max-frequency 7"), [json!(["a", "b", 3])]);
    assert_eq!(found("--max-frequency 8"), [json!(["a", "b", 3]), json!(["c", "d", 3])]);
}

#[test]
fn what_is_capped_is_counted() {
    let place = around_a_frequent_sentence();
    place.ok("passages in.jsonl --max-frequency 7 --capped capped.csv -o found.parquet");
    let capped = place.sql("SELECT text, df, units, pairs_not_made, example FROM 'capped.csv'");
    let fate = |command: &str| place.run(&format!("{command} in.jsonl --max-frequency 7 -o found.parquet")).err;
    let passages = fate("passages");
    assert!(passages.contains("they start no passage, and only extend those that others start"), "{passages}");
    let pairs = fate("pairs --unit sentence");
    assert!(pairs.contains("they make no pairs"), "{pairs}");
    // Eight places make 28 pairs.
    let text = "All rights are reserved by the publisher.";
    assert_eq!(capped, [json!({"text": text, "df": 4, "units": 8, "pairs_not_made": 28, "example": "a"})]);
}

#[test]
fn a_gap_on_either_side_is_bridged() {
    let shared = [
        "The ferry leaves the old harbour at noon.",
        "Nobody saw the captain on that evening.",
        "Three barrels stood beside the northern gate.",
        "A letter arrived from the island later.",
    ];
    let a = shared.join(" ");
    let b = format!("{} {} It was raining hard and cold. {} {}", shared[0], shared[1], shared[2], shared[3]);
    let c = format!("{} {} {}", shared[0], shared[1], shared[3]);
    let place = Place::with([("in.jsonl", &jsonl([("a", a), ("b", b), ("c", c)]))]);
    let found = |max_gap: u32| {
        let rows =
            place.rows(&format!("passages in.jsonl {PLAIN} --threshold 0.5 --min-sentences 3 --max-gap {max_gap}"));
        rows.iter().map(|row| json!([row["doc_a"], row["doc_b"], row["sentences"], row["gaps"]])).collect::<Vec<_>>()
    };
    assert_eq!(found(0), Vec::<Value>::new());
    assert_eq!(found(1), [json!(["a", "b", 4, 1]), json!(["a", "c", 3, 1])]);
    assert_eq!(found(2), [json!(["a", "b", 4, 1]), json!(["a", "c", 3, 1]), json!(["b", "c", 3, 2])]);
}
