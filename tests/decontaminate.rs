//! Documents without the items of an evaluation: compared with all pairs of word runs, and the effects of the options.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::dedup::{rows, texts};
use crate::program::{Dice, Place, jsonl};

/// Makes texts of few words. Returns their ids with their words.
fn made(name: &str, texts: usize, longest: usize, dice: &mut Dice) -> Vec<(String, Vec<String>)> {
    let mut words = || (0..dice.below(longest)).map(|_| format!("w{}", dice.below(3))).collect::<Vec<_>>();
    (0..texts).map(|i| (format!("{name}{i:03}"), words())).collect()
}

fn file(rows: &[(String, Vec<String>)]) -> String {
    jsonl(rows.iter().map(|(id, words)| (id.clone(), words.join(" "))))
}

/// Returns true if a document has a run of words of an item.
fn has(document: &[String], item: &[String], words: usize) -> bool {
    let k = words.min(item.len());
    item.windows(k).any(|run| document.windows(k).any(|other| run == other))
}

#[test]
fn documents_with_a_run_of_an_item_go_and_no_others() {
    for seed in 0..4 {
        let (place, mut dice) = (Place::new(), Dice(seed));
        let (documents, mut items) = (made("d", 120, 30, &mut dice), made("i", 20, 14, &mut dice));
        items.push(("i020".to_owned(), items[3].1.clone()));
        place.write("train.jsonl", file(&documents));
        place.write("items.jsonl", file(&items));
        let is_tested = |item: &[String]| item.len() >= 5;
        let tested: Vec<_> = items.iter().filter(|(_, words)| is_tested(words)).collect();
        let found = |words: &[String]| tested.iter().any(|(_, item)| has(words, item, 7));
        let clean: Vec<_> = documents.iter().filter(|(_, words)| !found(words)).map(|(id, _)| id.clone()).collect();
        assert!(clean.len() > 5 && clean.len() < 116, "{}", clean.len());

        place.ok("decontaminate train.jsonl --against items.jsonl --words 7 --min-words 5 -o clean");
        assert_eq!(texts(&rows(&place, "clean", "kept"), "id"), clean, "{seed}");
        let hits = rows(&place, "clean", "hits");
        for hit in &hits {
            let of = |rows: &[(String, Vec<String>)], id: &str, start: &str, end: &str| {
                let (_, words) = rows.iter().find(|(row, _)| hit[id] == **row).unwrap();
                let [start, end] = [start, end].map(|at| usize::try_from(hit[at].as_u64().unwrap()).unwrap());
                words.join(" ")[start..end].to_owned()
            };
            let place = of(&documents, "id", "char_start", "char_end");
            let of_item = of(&items, "item_id", "item_char_start", "item_char_end");
            assert_eq!(place, of_item, "{seed}: {hit}");
            assert_eq!(hit["words"], of_item.split(' ').count(), "{seed}: {hit}");
        }
        for row in rows(&place, "clean", "items") {
            let (_, item) = items.iter().find(|(id, _)| row["item_id"] == **id).unwrap();
            let holders = documents.iter().filter(|(_, words)| is_tested(item) && has(words, item, 7)).count();
            assert_eq!(row["is_tested"], is_tested(item), "{seed}: {row}");
            assert_eq!(row["documents"] == 0, holders == 0, "{seed}: {row}");
            assert!(row["documents"].as_u64().unwrap() <= holders as u64, "{seed}: {row}");
        }

        // Cuts leave nothing of an item, and the rest stays as it was.
        place.ok("decontaminate train.jsonl --against items.jsonl --words 7 --min-words 5 --unit passage -o cut");
        let cut = rows(&place, "cut", "kept");
        for row in &cut {
            let words: Vec<_> = row["text"].as_str().unwrap().split_whitespace().map(str::to_owned).collect();
            assert!(!found(&words), "{seed}: {row}");
            if clean.iter().any(|id| row["id"] == **id) {
                let (_, whole) = documents.iter().find(|(id, _)| row["id"] == **id).unwrap();
                assert_eq!(row["text"], whole.join(" "));
            }
        }
        let ids = texts(&cut, "id");
        assert!(
            clean.iter().all(|id| ids.contains(id) || documents.iter().any(|(d, words)| d == id && words.is_empty()))
        );
        assert!(ids.len() > clean.len(), "{seed}");

        for (way, folder) in [("--threads 1 --memory 256MiB", "one"), ("--threads 3", "three")] {
            place.ok(&format!(
                "decontaminate train.jsonl --against items.jsonl --words 7 --min-words 5 {way} -o {folder}"
            ));
            for table in ["kept/part-00000", "hits", "items"] {
                let [a, b] = [folder, "clean"].map(|folder| place.read(format!("{folder}/{table}.parquet")));
                assert_eq!(a, b, "{way}: {table}");
            }
        }
    }
}

#[test]
fn items_are_found_by_containment() {
    for seed in 0..2 {
        let (place, mut dice) = (Place::new(), Dice(100 + seed));
        let (documents, items) = (made("d", 60, 40, &mut dice), made("i", 12, 16, &mut dice));
        place.write("train.jsonl", file(&documents));
        place.write("items.jsonl", file(&items));
        let sets = "SELECT id, shingles(words(normalize(text)), 3) AS set FROM";
        let pairs = place.sql(&format!(
            "SET ibid.similarity_join.strategy = 'nested_loop';
             WITH items AS ({sets} 'items.jsonl' WHERE cardinality(words(text)) >= 3), documents AS ({sets} 'train.jsonl')
             SELECT DISTINCT documents.id FROM items JOIN documents ON containment(items.set, documents.set) >= 0.75"
        ));
        let gone: BTreeSet<_> = texts(&pairs, "id").into_iter().collect();
        assert!(gone.len() > 3 && gone.len() < 57, "{}", gone.len());
        let how = "--by containment --threshold 0.75 --signature shingles:3";
        place.ok(&format!("decontaminate train.jsonl --against items.jsonl {how} -o clean"));
        let kept = texts(&rows(&place, "clean", "kept"), "id");
        let stay: Vec<_> = documents.iter().map(|(id, _)| id.clone()).filter(|id| !gone.contains(id)).collect();
        assert_eq!(kept, stay, "{seed}");
        let hit: BTreeSet<_> = texts(&rows(&place, "clean", "hits"), "id").into_iter().collect();
        assert_eq!(hit, gone, "{seed}");
    }
}

#[test]
fn by_containment_an_item_shorter_than_a_shingle_is_not_said_to_be_tested() {
    let place = Place::new();
    place.write("train.jsonl", jsonl([("d", "The question is here: who wrote Hamlet play? End of it.".to_owned())]));
    place.write("items.jsonl", jsonl([("q", "who wrote Hamlet play?"), ("r", "is here: who wrote Hamlet")]));
    let said = place.run("decontaminate train.jsonl --against items.jsonl --by containment -o clean").err;
    assert!(said.contains("1 items have no set or fewer than 5 words, and were not looked for"), "{said}");
    let items = place.sql("SELECT item_id, is_tested, documents FROM 'clean/items.parquet'");
    assert_eq!(
        items,
        [
            json!({"item_id": "q", "is_tested": false, "documents": 0}),
            json!({"item_id": "r", "is_tested": true, "documents": 1})
        ]
    );
}

#[test]
fn questions_have_columns_of_their_own_and_several_files() {
    let place = Place::new();
    let question = "A farm has twelve hens and each hen lays four eggs a week";
    let line = |row: Value| format!("{row}\n");
    place.write("a.jsonl", line(json!({"id": 1, "question": question, "answer": "forty-eight eggs a week"})));
    place.write(
        "b.jsonl",
        line(json!({"id": 2, "question": "What is the capital of France", "answer": "Paris"}))
            + &line(json!({"id": 3, "question": "", "answer": "Yes"})),
    );
    place.write(
        "train.jsonl",
        [
            json!({"n": 7, "id": "x", "text": format!("Ü: {question}: Forty-eight eggs a week! Good.")}),
            json!({"n": 8, "id": "y", "text": "Tell me: what is the capital of France?"}),
            json!({"n": 9, "id": "z", "text": "Yes. Paris, I said: the capital of France."}),
        ]
        .map(line)
        .concat(),
    );
    let command = "decontaminate train.jsonl --against a.jsonl b.jsonl --item-column";
    let said = place.run(&format!("{command} question,answer -o clean")).err;
    assert!(said.contains("documents 3, items 3, items found 1, documents with items 1, kept 2"), "{said}");
    assert!(said.contains("1 items have fewer than 3 words, and were not looked for"), "{said}");
    let expected = json!({
        "id": "x", "item_id": "1", "rule": "whole", "words": 18, "share": 1.0, "items": 1, "char_start": 3, "char_end": 86,
        "byte_start": 4, "byte_end": 87, "item_char_start": 0, "item_char_end": 81
    });
    assert_eq!(rows(&place, "clean", "hits"), [expected]);
    let types = place.sql("SELECT n, id FROM 'clean/kept/part-00000.parquet'");
    assert_eq!(types, [json!({"n": 8, "id": "y"}), json!({"n": 9, "id": "z"})]);

    // A question alone has fewer words than a run, so the whole question is looked for.
    place.ok(&format!("{command} question -o questions --unit passage"));
    let kept = rows(&place, "questions", "kept");
    assert_eq!(texts(&kept, "text")[..2], ["Ü: Forty-eight eggs a week! Good.", "Tell me: "]);
    let summary: Value = serde_json::from_slice(&place.read("questions/summary.json")).unwrap();
    assert_eq!(summary["counts"]["items found"], 2);

    place.ok(&format!("{command} question -o said --annotate --format jsonl"));
    let said = place.sql("SELECT id, is_kept, hits FROM 'said/kept/part-00000.jsonl'");
    assert_eq!(said[2], json!({"id": "z", "is_kept": true, "hits": null}));
    assert_eq!(said[1]["hits"][0]["item_id"], "2");

    for (options, error) in [
        ("answers", "there is no column \"answers\" in the table against_documents"),
        ("question --threshold 0.5", "--threshold has no effect here"),
        ("question --by containment --words 5", "--words has no effect here"),
        ("question --words 5 --min-words 6", "--min-words is a whole number from 1 to 5"),
    ] {
        let said = place.fails(1, &format!("{command} {options} -o wrong"));
        assert!(said.contains(error), "{options}: {said}");
    }
}

#[test]
fn items_without_their_columns_are_said_and_those_of_equal_ids_are_numbered() {
    let place = Place::new();
    let of = |id: &str, column: &str| format!("{}\n", json!({"id": id, column: format!("what is the {column} of it")}));
    place.write("a.jsonl", of("1", "question"));
    place.write("b.jsonl", of("2", "prompt"));
    place.write("c.jsonl", of("1", "question"));
    place.write(
        "train.jsonl",
        format!("{}{}", of("x", "text"), json!({"id": "y", "text": "What is the question of it?"})),
    );
    let command = "decontaminate train.jsonl --item-column question -o clean --against";
    let ended = place.run(&format!("{command} a.jsonl b.jsonl --strict"));
    assert!(
        ended.err.contains("1 items have none of the columns of their text, and were not looked for"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("fewer than") && ended.err.contains("kept 1, skipped 1"), "{}", ended.err);
    place.fails(4, &format!("{command} a.jsonl b.jsonl --strict"));
    let error = place.fails(1, &format!("{command} a.jsonl c.jsonl"));
    assert!(error.contains("the id \"1\" stands twice"), "{error}");
    place.ok(&format!("{command} a.jsonl c.jsonl --item-id-column="));
    let hits = place.sql("SELECT id, items FROM 'clean/hits.parquet'");
    assert_eq!(hits, [json!({"id": "y", "items": 2})]);
    let kept = place.sql("SELECT id FROM 'clean/kept/part-00000.parquet'");
    assert_eq!(kept, [json!({"id": "x"})]);
}

#[test]
fn text_that_repeats_itself_costs_no_more_than_other_text() {
    let place = Place::new();
    let again = |word: &str, times: usize| vec![word; times].join(" ");
    place.write("train.jsonl", jsonl([("a", again("ha", 100_000)), ("b", format!("{} x", again("0 1", 50_000)))]));
    place.write("items.jsonl", jsonl([("h", again("ha", 20_000)), ("n", again("0 1", 20_000)), ("s", again("ha", 5))]));
    for by in ["words", "containment"] {
        place.ok(&format!("decontaminate train.jsonl --against items.jsonl --by {by} -o clean"));
        let hits = place.sql("SELECT id, item_id, max(share) AS share FROM 'clean/hits.parquet' WHERE item_id <> 's' GROUP BY id, item_id ORDER BY id, item_id");
        let whole = |id: &str, item: &str| json!({"id": id, "item_id": item, "share": 1.0});
        assert_eq!(hits, [whole("a", "h"), whole("b", "n")], "{by}");
    }
    place.ok("decontaminate train.jsonl --against items.jsonl --unit passage -o cut");
    let kept = place.sql("SELECT id, trim(text) AS text FROM 'cut/kept/part-00000.parquet'");
    assert_eq!(kept, [json!({"id": "b", "text": "x"})]);
}

#[test]
fn text_that_all_items_and_documents_have_makes_no_pair_of_each() {
    let place = Place::new();
    let common = "answer the following question with one letter and nothing else please as shown in the example above";
    let many = |name: &str, count: usize| {
        jsonl((0..count).map(|i| (format!("{name}{i}"), format!("{common} {name}{i} {name}x{i}"))))
    };
    place.write("train.jsonl", many("d", 3000));
    place.write("items.jsonl", many("i", 2000));
    let said = place.run("decontaminate train.jsonl --against items.jsonl -o clean").err;
    assert!(said.contains("items found 2,000, documents with items 3,000, kept 0"), "{said}");
    let hits =
        place.sql("SELECT count(*) AS rows, min(items) AS items, min(share) > 0.8 AS most FROM 'clean/hits.parquet'");
    assert_eq!(hits, [json!({"rows": 3000, "items": 2000, "most": true})]);
    let items = place.sql("SELECT min(documents) AS documents FROM 'clean/items.parquet'");
    assert_eq!(items, [json!({"documents": 3000})]);
}
