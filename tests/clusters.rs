//! Clusters of similar sentences: compared with all pairs, and the effects of the options.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::program::{Place, collection_jsonl};

/// Makes a corpus of sentences. Many are alike, and few words make small sets.
fn place(documents: usize, seed: u64) -> Place {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(documents, seed));
    place.ok("ingest made.jsonl -o made");
    place
}

const SETS: &str = "--signature characters:4 --min-characters 1";

/// Returns, for each place of a similar sentence, the smallest place that it is connected with, by SQL without a
/// similarity join.
fn brute_force(place: &Place, threshold: f64) -> BTreeMap<(String, i64), (String, i64)> {
    let rows = place.sql(&format!(
        "SET ibid.similarity_join.strategy = 'nested_loop';
         WITH sets AS (
             SELECT doc_id, sent, shingles(characters(normalize(text)), 4) AS set FROM 'made/sentences.parquet'
         )
         SELECT a.doc_id AS doc_a, a.sent AS sent_a, b.doc_id AS doc_b, b.sent AS sent_b
         FROM sets AS a JOIN sets AS b ON (a.doc_id, a.sent) < (b.doc_id, b.sent) AND jaccard(a.set, b.set) >= {threshold:?}"
    ));
    let end = |row: &Value, side: &str| {
        (row[format!("doc_{side}")].as_str().unwrap().to_owned(), row[format!("sent_{side}")].as_i64().unwrap())
    };
    let edges: Vec<_> = rows.iter().map(|row| (end(row, "a"), end(row, "b"))).collect();
    let mut first: BTreeMap<_, _> =
        edges.iter().flat_map(|(a, b)| [(a.clone(), a.clone()), (b.clone(), b.clone())]).collect();
    loop {
        let mut changed = false;
        for (a, b) in &edges {
            let least = first[a].clone().min(first[b].clone());
            for end in [a, b] {
                changed |= first[end] != least;
                first.insert(end.clone(), least.clone());
            }
        }
        if !changed {
            return first;
        }
    }
}

fn table(place: &Place, folder: &str, name: &str) -> Vec<Value> {
    place.sql(&format!("SELECT * FROM '{folder}/{name}.parquet'"))
}

/// Returns the first place of the cluster of each place.
fn clusters(rows: &[Value]) -> BTreeMap<(String, i64), (String, i64)> {
    let at = |row: &Value| (row["doc_id"].as_str().unwrap().to_owned(), row["sent"].as_i64().unwrap());
    let mut first: BTreeMap<i64, (String, i64)> = BTreeMap::new();
    for row in rows {
        let cluster = row["cluster_id"].as_i64().unwrap();
        let least = first.entry(cluster).or_insert_with(|| at(row));
        *least = at(row).min(least.clone());
    }
    rows.iter().map(|row| (at(row), first[&row["cluster_id"].as_i64().unwrap()].clone())).collect()
}

#[test]
fn clusters_are_what_all_pairs_connect() {
    for (seed, threshold) in [(1, 0.6), (2, 0.8), (3, 1.0)] {
        let place = place(60, seed);
        place.ok(&format!("clusters made {SETS} --method exact --threshold {threshold} -o exact"));
        let expected = brute_force(&place, threshold);
        assert!(expected.len() > 30, "{}", expected.len());
        let rows = table(&place, "exact", "clusters");
        assert_eq!(clusters(&rows), expected, "{seed}");
        let sizes: i64 = table(&place, "exact", "histogram").iter().map(|row| row["places"].as_i64().unwrap()).sum();
        assert_eq!(usize::try_from(sizes).unwrap(), rows.len());
    }
}

#[test]
fn hashing_finds_what_the_certificate_says() {
    let place = place(120, 4);
    place.ok(&format!("clusters made {SETS} --method exact --threshold 0.5 -o exact"));
    let ended = place.run(&format!("clusters made {SETS} --threshold 0.5 --bands 5 --rows 4 --certify=1000000 -o lsh"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let pairs = |folder: &str| -> BTreeSet<String> {
        table(&place, folder, "pairs")
            .iter()
            .map(|row| format!("{}{}{}{}", row["doc_a"], row["sent_a"], row["doc_b"], row["sent_b"]))
            .collect()
    };
    let (exact, found) = (pairs("exact"), pairs("lsh"));
    assert!(found.is_subset(&exact) && found.len() < exact.len() && found.len() > exact.len() / 2);
    let certificate = table(&place, "lsh", "certificate");
    let sum = |column: &str| certificate.iter().map(|row| row[column].as_i64().unwrap()).sum::<i64>();
    assert_eq!((sum("pairs"), sum("found")), (exact.len() as i64, found.len() as i64));
    let said = format!("of a sample of texts {} of {} pairs were found: recall 0.", 2 * found.len(), 2 * exact.len());
    assert!(ended.err.contains(&said), "{said}: {}", ended.err);
    // The sum of the expected values is near that of the found ones.
    let expected: f64 =
        certificate.iter().map(|row| row["expected"].as_f64().unwrap() * row["pairs"].as_f64().unwrap()).sum();
    assert!((expected / sum("found") as f64 - 1.0).abs() < 0.1, "{certificate:?}");
}

#[test]
fn a_cluster_holds_together() {
    let place = place(120, 5);
    for method in ["exact", "lsh"] {
        let members = |options: &str| {
            place.ok(&format!("clusters made {SETS} --method {method} --threshold 0.5 {options} -o out"));
            table(&place, "out", "clusters")
        };
        let least = |rows: &[Value]| {
            rows.iter().map(|row| row["similarity_to_representative"].as_f64().unwrap()).fold(1.0, f64::min)
        };
        let (loose, tight) = (members("--top 3"), members("--cohesion 0.8"));
        assert!(least(&loose) < 0.8 && least(&tight) >= 0.8, "{method} {} {}", least(&loose), least(&tight));
        assert!(tight.len() > loose.len() / 2, "{method}");
    }
}

#[test]
fn full_buckets_are_listed_and_their_first_texts_compared() {
    let place = Place::new();
    let documents: String = (0..40)
        .map(|i| {
            format!("{}\n", json!({ "id": i, "text": format!("The same long sentence stands here, number {i:02}.") }))
        })
        .collect();
    place.write("made.jsonl", documents);
    let command = "clusters made.jsonl --signature characters:3 --threshold 0.5 --max-bucket 5";
    let ended = place.run(&format!("{command} --strict -o out"));
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(ended.err.contains("more than --max-bucket 5 texts"), "{}", ended.err);
    let buckets = table(&place, "out", "buckets");
    assert!(!buckets.is_empty());
    for bucket in &buckets {
        let texts = bucket["texts"].as_i64().unwrap();
        assert_eq!(bucket["pairs_not_made"].as_i64().unwrap(), texts * (texts - 1) / 2 - 10);
        assert!(bucket["example"].as_str().unwrap().starts_with("The same long"));
    }
    // Each text has ten buckets, and each bucket makes at most ten pairs.
    let (capped, all) = (table(&place, "out", "pairs").len(), 40 * 39 / 2);
    place.ok("clusters made.jsonl --signature characters:3 --threshold 0.5 --method exact -o all");
    assert_eq!(table(&place, "all", "pairs").len(), all);
    assert!((10..all).contains(&capped), "{capped}");
}

#[test]
fn edits_kinds_and_lengths_are_told() {
    let place = Place::new();
    let texts = [
        "The tower was built in 1889 and is 300 metres high.",
        "The tower was built in 1887 and is 300 metres high.",
        "The tower was built in 1889 and is 300 metres high!",
        "Short.",
        "Something else altogether stands in this sentence.",
    ];
    let documents = texts.iter().enumerate().map(|(i, text)| format!("{}\n", json!({ "id": i, "text": text })));
    place.write("made.jsonl", documents.collect::<String>());
    let ended = place.run("clusters made.jsonl --signature characters:3 --threshold 0.5 --method exact -o out");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("1 texts have fewer than 20"), "{}", ended.err);
    let kinds: Vec<_> = table(&place, "out", "pairs")
        .iter()
        .map(|row| (row["doc_a"].clone(), row["doc_b"].clone(), row["kind"].clone()))
        .collect();
    let kind = |a: &str, b: &str, kind: &str| (json!(a), json!(b), json!(kind));
    assert_eq!(kinds, [kind("0", "1", "factual_drift"), kind("0", "2", "copy_edit"), kind("1", "2", "factual_drift")]);
    let shared = table(&place, "out", "article_pairs");
    assert_eq!(shared.len(), 3, "{shared:?}");
    assert!(ended.text().contains("| 3     | 1        | 3      |"), "{}", ended.text());
    // One or two of 51 characters differ.
    for (most, pairs) in [("0.04", 3), ("0.03", 2), ("0.01", 0)] {
        place.ok(&format!(
            "clusters made.jsonl --signature characters:3 --threshold 0.5 --method exact --max-edit {most} -o out"
        ));
        assert_eq!(table(&place, "out", "pairs").len(), pairs, "{most}");
    }
}

#[test]
fn the_folder_is_the_same_for_any_number_of_threads_and_stays_if_a_run_fails() {
    let place = place(150, 6);
    let tables = ["clusters", "pairs", "article_pairs", "histogram", "capped", "buckets", "certificate"];
    let bytes = || tables.map(|table| place.read(format!("out/{table}.parquet")));
    let command = format!("clusters made {SETS} --threshold 0.5 --cohesion 0.6 --max-bucket 7 --certify=50 -o out");
    place.ok(&format!("{command} --threads 1"));
    let one = bytes();
    for threads in [2, 7] {
        place.ok(&format!("{command} --threads {threads}"));
        assert!(one == bytes(), "{threads} threads");
    }
    let error = place.fails(1, &format!("{command} --max-pairs 1"));
    assert!(error.contains("more than --max-pairs 1"), "{error}");
    assert!(one == bytes());
    place.write("out/mine.txt", "");
    assert!(place.fails(1, &command).contains("mine.txt, which this command does not write"));
}

#[test]
fn the_script_that_is_shown_runs() {
    let place = place(60, 7);
    let always = ["clusters", "pairs", "article_pairs", "histogram", "capped"];
    for (options, more) in
        [(" --certify=30", &["buckets", "certificate"][..]), (" --method exact --cohesion 0.7 --max-edit 0.3", &[])]
    {
        place.write("script.sql", place.ok(&format!("clusters made {SETS}{options} --show-sql")));
        place.ok(&format!("clusters made {SETS}{options} -o out"));
        let rows = always.iter().chain(more).map(|name| table(&place, "out", name).len());
        let shown = place.ok("sql -f script.sql --format ndjson");
        assert_eq!(shown.lines().count(), rows.sum::<usize>(), "{options}");
    }
}

#[test]
fn sentences_of_references_are_references() {
    let page = |n: u8| {
        format!(
            "<page><title>Page {n}</title><ns>0</ns><id>{n}</id><revision><id>{n}</id><timestamp>2024-01-01T00:00:00Z</timestamp>\
             <text>The old tower stands on hill {n} of the town.\n\n== References ==\n* The long book of the towers and hills, as it \
             was told, part {n}\n</text></revision></page>"
        )
    };
    let dump = format!(
        "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.11/\" version=\"0.11\">{}{}</mediawiki>",
        page(1),
        page(2)
    );
    let place = Place::with([("wiki.xml", &dump)]);
    let kinds = |input: &str| -> Vec<Value> {
        place.ok(&format!("clusters {input} --signature characters:3 --threshold 0.5 --method exact -o out"));
        table(&place, "out", "pairs").iter().map(|row| row["kind"].clone()).collect()
    };
    assert_eq!(kinds("wiki.xml"), ["factual_drift", "reference"]);
    place.ok("ingest wiki.xml -o wiki");
    assert_eq!(kinds("wiki"), ["factual_drift", "reference"]);
    assert!(place.ok("clusters wiki --show-sql").contains("references"));
}
