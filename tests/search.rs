//! Searches for texts in a corpus, on the processor and on a GPU, compared with all pairs.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Dice, Place, collection, collection_jsonl, json_lines};

/// Makes a corpus and queries: sentences of it, some with a word less, and texts that are not in it.
fn corpus_and_queries() -> Place {
    let mut dice = Dice(7);
    let mut queries = String::new();
    let documents = collection(60, 3);
    for query in 0..40 {
        let (_, sentences) = &documents[dice.below(documents.len())];
        let mut words: Vec<_> = sentences[dice.below(sentences.len())].split(' ').collect();
        if query % 3 > 0 {
            words.remove(dice.below(words.len()));
        }
        queries += &format!("{}\n", json!({ "id": format!("q{query:02}"), "text": words.join(" ") }));
    }
    queries +=
        &format!("{}\n{}\n", json!({ "id": "q98", "text": "nobody wrote this" }), json!({ "id": "q99", "text": "…" }));
    let folder = Place::with([("corpus.jsonl", collection_jsonl(60, 3).as_str()), ("queries.jsonl", queries.as_str())]);
    folder.ok("ingest corpus.jsonl -o corpus");
    folder
}

fn keys(rows: &[Value]) -> BTreeSet<(String, String, i64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    rows.iter()
        .map(|row| {
            let sent = row["sent"].as_i64().unwrap_or(-1);
            (text(&row["query_id"]), text(&row["doc_id"]), sent, row["similarity"].to_string())
        })
        .collect()
}

/// Returns the hits by comparing all pairs of a query and a sentence or document.
fn all_pairs(folder: &Place, searched: &str, threshold: f64) -> BTreeSet<(String, String, i64, String)> {
    let sent = if searched == "sentences" { "s.sent" } else { "-1" };
    let set = |table: &str| format!("shingles(words(normalize({table}.text)), 2)");
    let similarity = format!("jaccard({}, {})", set("q"), set("s"));
    let sql = format!(
        "SELECT q.id AS query_id, s.doc_id, {sent} AS sent, {similarity} AS similarity \
         FROM 'queries.jsonl' AS q CROSS JOIN 'corpus/{searched}.parquet' AS s WHERE coalesce({similarity}, 0) >= {threshold}"
    );
    keys(&folder.sql(&sql))
}

#[test]
fn a_search_finds_what_all_pairs_give() {
    let folder = corpus_and_queries();
    for unit in ["sentence", "document"] {
        for threshold in [0.05, 0.5, 0.8, 1.0] {
            let expected = all_pairs(&folder, &format!("{unit}s"), threshold);
            assert!(!expected.is_empty() || unit == "document");
            for input in ["corpus", "corpus.jsonl"] {
                let line = format!(
                    "search {input} --queries queries.jsonl --unit {unit} --signature shingles:2 --threshold {threshold} --gpu off"
                );
                assert_eq!(keys(&folder.rows(&line)), expected, "{line}");
                assert_eq!(keys(&folder.rows(&format!("{line} --memory 128MiB --threads 1"))), expected, "{line}");
            }
        }
    }
}

/// With codes, only hits whose codes are too far apart are lost.
#[test]
fn codes_within_a_distance_leave_hits_of_all_pairs() {
    let folder = corpus_and_queries();
    folder.ok("codes learn corpus -o codes.parquet");
    let mut lost = 0;
    for (signature, tokens) in [("shingles:1", "words"), ("characters:2", "characters")] {
        let search = format!("search corpus --queries queries.jsonl --signature {signature} --threshold 0.3");
        let all = keys(&folder.rows(&search));
        let code = |table: &str| {
            format!("bit_code({tokens}(normalize({table}.text)), (SELECT codebook(word, code) FROM 'codes.parquet'))")
        };
        let near = format!(
            "SELECT q.id AS query_id, s.doc_id, s.sent FROM 'queries.jsonl' AS q CROSS JOIN 'corpus/sentences.parquet' AS s \
             WHERE hamming({}, {}) <= 2",
            code("q"),
            code("s")
        );
        let places = |rows: &[Value]| -> BTreeSet<String> {
            rows.iter().map(|row| format!("{} {} {}", row["query_id"], row["doc_id"], row["sent"])).collect()
        };
        let near = places(&folder.sql(&near));
        let expected: BTreeSet<_> =
            places(&folder.rows(&search)).into_iter().filter(|place| near.contains(place)).collect();
        let found = folder.rows(&format!("{search} --codes codes.parquet --distance 2"));
        assert_eq!(places(&found), expected, "{signature}");
        assert!(keys(&found).is_subset(&all) && !found.is_empty(), "{signature}");
        lost += all.len() - found.len();
        assert_eq!(keys(&folder.rows(&format!("{search} --codes codes.parquet --distance 32"))), all, "{signature}");
    }
    assert!(lost > 0);
    let said = folder.fails(2, "search corpus --queries queries.jsonl --codes codes.parquet");
    assert!(said.contains("--distance"), "{said}");
    folder.write("none.csv", "a,code\n1,2\n");
    let said = folder.fails(1, "search corpus --queries queries.jsonl --codes none.csv --distance 2");
    assert!(
        said.contains("none.csv has no column \"word\"; --codes needs a file as ibid codes learn writes it"),
        "{said}"
    );
}

#[test]
fn hits_say_where_the_sentence_stands() {
    let folder = Place::with([
        ("corpus.jsonl", "{\"id\": \"a\", \"text\": \"Naïve is first. The quick brown fox jumps.\"}\n"),
        ("queries.jsonl", "{\"id\": \"q\", \"text\": \"the quick brown fox jumps\"}\n"),
    ]);
    let rows = folder.rows("search corpus.jsonl --queries queries.jsonl");
    let expected =
        json!({ "query_id": "q", "doc_id": "a", "sent": 1, "char_start": 16, "char_end": 42, "similarity": 1.0 });
    assert_eq!(rows, [expected]);
}

/// Returns the environment variables with which programs find lavapipe.
fn lavapipe() -> Vec<(String, String)> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpu/tests/lavapipe");
    let found = Command::new(script).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let lines = String::from_utf8(found.stdout).unwrap();
    lines.lines().map(|line| line.split_once('=').unwrap()).map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
#[cfg(all(feature = "gpu", target_os = "linux"))]
fn a_gpu_changes_no_row() {
    let folder = corpus_and_queries();
    let run = |arguments: &[&str], environment: &[(String, String)]| {
        let mut command = folder.command(arguments.iter().copied());
        let output = command.envs(environment.iter().map(|(name, value)| (name, value))).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let lavapipe = lavapipe();
    let nothing = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name.to_string(), "/nonexistent".to_string()));
    let search = |gpu| {
        ["search", "corpus", "--queries", "queries.jsonl", "--threshold", "0.5", "--format", "ndjson", "--gpu", gpu]
    };
    let (code, processor, _) = run(&search("off"), &[]);
    assert_eq!((code, processor.is_empty()), (Some(0), false));
    let (code, rows, said) = run(&search("on"), &lavapipe);
    assert_eq!((code, rows), (Some(0), processor.clone()), "{said}");
    // Without an adapter, `auto` uses the processor, and `on` fails.
    assert_eq!(run(&search("auto"), &nothing).1, processor);
    let (code, rows, said) = run(&search("on"), &nothing);
    assert_eq!((code, rows.as_str()), (Some(1), ""));
    assert!(said.contains("ibid.gpu is on, and "), "{said}");

    // In SQL: a join of codes, and a filter of pairs.
    let codes = "CREATE TABLE codes AS SELECT value AS id, simhash(shingles(words(concat('w', value % 37, ' v', value % 11)), 1)) AS code \
                 FROM generate_series(1, 3000) AS t(value)";
    let join = "SELECT count(*) AS n, sum(a.id * b.id) AS s FROM codes AS a JOIN codes AS b \
                ON hamming(a.code, b.code) <= 9 AND a.id < b.id";
    let filter = "SELECT count(*) AS n FROM codes AS a JOIN codes AS b ON a.id % 100 = b.id % 100 \
                  WHERE hamming_within(a.code, b.code, 9)";
    for query in [join, filter] {
        let of = |gpu: &str, strategy: &str, environment: &[(String, String)]| {
            let script =
                format!("SET ibid.gpu = '{gpu}'; SET ibid.similarity_join.strategy = '{strategy}'; {codes}; {query}");
            let (code, rows, said) = run(&["sql", &script, "--format", "ndjson"], environment);
            assert_eq!(code, Some(0), "{said}");
            json_lines(&rows).pop().unwrap()
        };
        let slow = of("off", "nested_loop", &[]);
        assert_ne!(slow["n"], 0);
        for strategy in ["operator", "bitmap", "auto"] {
            assert_eq!(of("off", strategy, &[]), slow, "{strategy} {query}");
            assert_eq!(of("on", strategy, &lavapipe), slow, "{strategy} {query}");
        }
    }
    let (_, info, _) = run(&["gpu", "info"], &lavapipe);
    assert!(info.contains("llvmpipe") && info.contains("largest buffer"), "{info}");
    assert!(run(&["gpu", "info"], &nothing).1.contains("no GPU"));
}

#[test]
fn a_quotation_of_several_sentences_is_found_wherever_it_stands() {
    let quoted = "The ferry left at noon. Its captain, whom nobody had seen before, said that the storm would not last. By \
                  nightfall they were back in the harbour.";
    let edited = quoted.replace("nobody had seen", "few had met");
    let spoken: String = quoted.to_lowercase().chars().filter(|c| !".,".contains(*c)).collect();
    let documents = [
        ("edited", format!("Rain fell. {edited} What became of the cargo is not known."), edited.clone()),
        (
            "spoken",
            format!("well they told me once that {spoken} and i believed every word of it then"),
            spoken.clone(),
        ),
        (
            "part",
            "The ferry left at noon. Nothing else happened that week, or so the papers said.".to_owned(),
            String::new(),
        ),
    ];
    let rows = documents.iter().map(|(id, text, _)| format!("{}\n", json!({ "id": id, "text": text })));
    let queries = [("several", quoted), ("one", "The ferry left at noon.")];
    let queries = queries.map(|(id, text)| format!("{}\n", json!({ "id": id, "text": text }))).concat();
    let place = Place::with([("docs.jsonl", rows.collect::<String>().as_str()), ("queries.jsonl", &queries)]);
    let found = json_lines(&place.ok("search docs.jsonl --queries queries.jsonl --threshold 0.7 --format ndjson"));
    let hits: Vec<_> =
        found.iter().map(|hit| (hit["query_id"].as_str().unwrap(), hit["doc_id"].as_str().unwrap())).collect();
    assert_eq!(hits, [("one", "edited"), ("one", "part"), ("several", "edited"), ("several", "spoken")]);
    for (hit, (_, text, passage)) in found[2..].iter().zip(&documents) {
        let place = |name: &str| usize::try_from(hit[name].as_u64().unwrap()).unwrap();
        let part: String = text.chars().take(place("char_end")).skip(place("char_start")).collect();
        assert_eq!(&part, passage);
    }
}

#[test]
fn a_sentence_with_ordinals_and_abbreviations_is_found_whole() {
    let copied = "Am 3. Oktober 1990 fuhr Herr Prof. Maier, geb. 1912 in Ulm, mit dem 1. Zug nach Bad Tölz, z. B. um dort Verwandte zu besuchen.";
    let place = Place::new();
    let document = |id: &str, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    place.write(
        "letters.jsonl",
        document(
            "brief",
            &format!("Es war einmal im Herbst. {copied} Danach kam der Regen, und alle blieben zu Hause."),
        ),
    );
    place.write("queries.jsonl", document("q", copied));
    place.ok("ingest letters.jsonl -o corpus");
    let hits = place.rows("search corpus --queries queries.jsonl");
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!(
        (&hits[0]["sent"], &hits[0]["char_start"], &hits[0]["similarity"]),
        (&json!(1), &json!(25), &json!(1.0))
    );
}
