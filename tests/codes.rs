//! `ibid codes`: codebooks, the messages about them, and the numbers of candidates that they leave.

use serde_json::Value;

use crate::program::{Place, collection_jsonl};

fn place() -> Place {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(300, 5));
    place
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row}"))
}

#[test]
fn a_codebook_has_the_most_frequent_words_and_their_bits() {
    let place = Place::with([(
        "in.jsonl",
        "{\"id\": \"a\", \"text\": \"To be, or not to be. That is the question, to be sure.\"}\n",
    )]);
    let rows = place.rows("codes learn in.jsonl --method md5 --top 3");
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("word"), ["be", "to", "is"]);
    assert_eq!(column("frequency"), [3, 3, 1]);
    for (bits, width) in [(32_u32, 4), (64, 8), (128, 16), (256, 32)] {
        for row in place.rows(&format!("codes learn in.jsonl --method opt --bits {bits} --per-word 3")) {
            let code = row["code"].as_str().unwrap();
            assert_eq!(code.len(), 2 * width);
            let set: Vec<usize> =
                row["bits"].as_array().unwrap().iter().map(|bit| bit.as_u64().unwrap().try_into().unwrap()).collect();
            let byte = |bit: usize| u8::from_str_radix(&code[2 * (bit / 8)..][..2], 16).unwrap();
            assert!(set.len() == 3 && set.iter().all(|bit| byte(*bit) >> (bit % 8) & 1 == 1), "{row}");
        }
    }
}

#[test]
fn codes_of_a_codebook_lose_no_similar_sentences() {
    let place = place();
    place.ok("ingest made.jsonl -o made");
    for (method, per_word) in [("md5", 2), ("ner --least 0.2", 2), ("opt", 2), ("opt --spread 1 --bits 64", 3)] {
        place.ok(&format!("codes learn made --method {method} --per-word {per_word} --top 200 -o codes.parquet"));
        let sql = format!(
            "WITH coded AS (
              SELECT doc_id, shingles(words(normalize(text)), 1) AS set,
                bit_code(words(normalize(text)), (SELECT codebook(word, code) FROM 'codes.parquet')) AS code
              FROM 'made/sentences.parquet'),
            pairs AS (
              SELECT hamming(a.code, b.code) AS distance,
                hamming_bound(cardinality(a.set), cardinality(b.set), 'jaccard', 0.5, {per_word}) AS bound
              FROM coded AS a JOIN coded AS b ON jaccard(a.set, b.set) >= 0.5 AND a.doc_id < b.doc_id)
            SELECT count(*) AS pairs, count(*) FILTER (WHERE distance <= bound) AS kept,
              count(*) FILTER (WHERE distance > 0) AS apart FROM pairs"
        );
        let row = &place.sql(&sql)[0];
        // With ner, words of one sentence may have the same code.
        assert!(number(row, "pairs") > 100.0, "{method}: {row}");
        assert!(method.starts_with("ner") || number(row, "apart") > 10.0, "{method}: {row}");
        assert_eq!(number(row, "kept"), number(row, "pairs"), "{method}");
    }
}

#[test]
fn the_sql_of_the_page_finds_the_same_as_the_join_of_the_sets() {
    let place = place();
    place.ok("ingest made.jsonl -o corpus");
    place.ok("codes learn corpus -o codes.parquet");
    let page = include_str!("../docs/codes.md");
    let sql = page.split_once("```sql\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let without = sql.lines().filter(|line| !line.contains("AND hamming(")).collect::<Vec<_>>().join("\n");
    assert_ne!(sql.trim_end(), without);
    let sorted = |sql: &str| {
        let mut rows: Vec<_> = place.sql(sql).iter().map(Value::to_string).collect();
        rows.sort_unstable();
        rows
    };
    let rows = sorted(sql);
    assert!(rows.len() > 10, "{} rows", rows.len());
    assert_eq!(rows, sorted(&without));
}

#[test]
#[ignore = "long: make test-long PART=determinism"]
fn the_bytes_do_not_depend_on_threads_or_the_order_of_documents() {
    let place = place();
    let made = collection_jsonl(300, 5);
    let turned: Vec<&str> = made.lines().rev().collect();
    place.write("turned.jsonl", turned.join("\n"));
    for method in ["md5", "ner --least 0.2", "opt", "opt --bits 64 --seed 7"] {
        let learned = |input: &str, threads: u8| {
            place.ok(&format!(
                "codes learn {input} --method {method} --top 300 --sample 500 --threads {threads} -o codes.parquet"
            ));
            place.read("codes.parquet")
        };
        let rows = || place.sql("SELECT * FROM 'codes.parquet'");
        let one = learned("made.jsonl", 1);
        assert!(one == learned("made.jsonl", 2) && one == learned("made.jsonl", 7), "{method}");
        let found = rows();
        // The codes are now made of another file, which is noted in the metadata.
        learned("turned.jsonl", 2);
        assert!(found == rows(), "{method}");
    }
    let learned = |seed: u8| place.ok(&format!("codes learn made.jsonl --top 300 --seed {seed} --format ndjson"));
    assert_ne!(learned(1), learned(2));
}

#[test]
fn what_was_learned_is_said() {
    let place = place();
    let said = place.run("codes learn made.jsonl --sample 400 -o codes.parquet").err;
    for part in [
        "opt: ",
        " pairs of words in 400 different sentences of ",
        "objective ",
        " relaxed, ",
        "loads of the bits from ",
        " MiB",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let loads = said.lines().find_map(|line| line.split_once("occurrences of words: ")).unwrap().1;
    let loads: Vec<f64> = loads.split(' ').map(|load| load.parse().unwrap()).collect();
    assert!(loads.len() == 32 && (loads.iter().sum::<f64>() / 32.0 - 100.0).abs() < 1.0, "{loads:?}");
    assert!(!place.run("codes learn made.jsonl --method md5 -o codes.parquet").err.contains("objective"));
    assert_eq!(place.run("codes learn made.jsonl -q -o codes.parquet").err, "");
}

#[test]
fn words_may_be_characters() {
    let place = Place::with([("in.jsonl", "{\"id\": 1, \"text\": \"趙錢孫李，周吳鄭王。馮陳褚衛，趙錢。\"}\n")]);
    let words: Vec<_> =
        place.rows("codes learn in.jsonl --tokens characters").iter().map(|row| row["word"].clone()).collect();
    assert_eq!(words[..3], [",", "。", "趙"].map(Value::from));
    assert_eq!(words.len(), 14);
}

#[test]
fn nothing_to_learn_from_is_no_trouble() {
    let place = Place::with([("in.jsonl", "{\"id\": 1, \"text\": \"\"}\n")]);
    assert_eq!(place.rows("codes learn in.jsonl").len(), 0);
    let rows = place.rows("codes compare in.jsonl");
    assert_eq!(rows.len(), 2 * (3 + 4));
    assert!(rows.iter().all(|row| row["exact"] == 0.0 && row["candidates_1"].is_null()), "{rows:?}");
}

#[test]
fn wrong_options_are_refused() {
    let place = place();
    let said = place.fails(1, "codes learn made.jsonl --per-word 33");
    assert!(said.contains("a word sets from 1 to 32 bits of a code of 32 bits, not 33"), "{said}");
    let said = place.fails(1, "codes learn made.jsonl --spread 2");
    assert!(said.contains("the power of a frequency in a load is from 0 to 1, not 2"), "{said}");
    let said = place.fails(1, "codes learn made.jsonl --method ner --spread 0.5");
    assert!(said.contains("--spread has no effect here"), "{said}");
    let said = place.fails(2, "codes learn made.jsonl --bits 48");
    assert!(said.contains("codes have 32, 64, 128 or 256 bits"), "{said}");
}

#[test]
fn the_exact_filter_leaves_all_similar_sentences() {
    let place = place();
    place.write("other.jsonl", collection_jsonl(200, 6));
    let rows = place.rows("codes compare made.jsonl --other other.jsonl --queries 200 --threshold 0.6 --top 100");
    assert_eq!(rows.len(), 2 * (3 + 2 + 4));
    let names: Vec<_> = rows[..9].iter().map(|row| row["codes"].as_str().unwrap()).collect();
    assert_eq!(names[..5], ["md5", "ner", "opt", "ner of the other", "opt of the other"]);
    for row in &rows {
        let similar = number(row, "similar");
        assert!(similar > 0.0 && number(row, "exact") >= similar, "{row}");
        let [all, most, fewer] = ["candidates_1", "candidates_999", "candidates_99"].map(|column| number(row, column));
        assert!(all >= similar && all >= most && most >= fewer && fewer >= 0.99 * similar, "{row}");
        assert!(number(row, "bits_set") <= number(row, "bits"), "{row}");
    }
    // Sentences that are similar by Jaccard are similar by cosine.
    assert!(number(&rows[0], "similar") <= number(&rows[9], "similar"));
    let again =
        place.rows("codes compare made.jsonl --other other.jsonl --queries 200 --threshold 0.6 --top 100 --threads 1");
    assert_eq!(rows, again);
}
