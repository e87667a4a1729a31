//! Pages of results: the places that they show, the input that they refuse, and verdicts on them.

use serde_json::{Value, json};

use crate::program::{Dice, Place, collection_jsonl, jsonl};

/// Returns the data of a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Returns a range of a document's text, in UTF-16 code units. One part of the document must contain the range.
fn slice(document: &Value, start: &Value, end: &Value) -> String {
    let [start, end] = [start, end].map(|at| usize::try_from(at.as_u64().unwrap()).unwrap());
    for part in document["parts"].as_array().unwrap() {
        let from = usize::try_from(part[0].as_u64().unwrap()).unwrap();
        let units: Vec<_> = part[1].as_str().unwrap().encode_utf16().collect();
        if from <= start && end <= from + units.len() {
            return String::from_utf16(&units[start - from..end - from]).unwrap();
        }
    }
    panic!("no part has {start} to {end}");
}

/// Returns characters of a text.
fn characters(text: &str, start: &Value, end: &Value) -> String {
    let [start, end] = [start, end].map(|at| usize::try_from(at.as_u64().unwrap()).unwrap());
    text.chars().skip(start).take(end - start).collect()
}

/// Returns true if the edits turn the first slice into the second.
fn is_edited_to(a: &str, edits: &Value, b: &str) -> bool {
    let [a, b] = [a, b].map(|text| text.encode_utf16().collect::<Vec<_>>());
    let (mut in_a, mut in_b) = (0, 0);
    let number = |at: &Value| usize::try_from(at.as_u64().unwrap()).unwrap();
    for edit in edits.as_array().unwrap().chunks(4) {
        let gap = number(&edit[0]);
        if a[in_a..in_a + gap] != b[in_b..in_b + gap] {
            return false;
        }
        in_a += gap + number(&edit[1]);
        in_b += gap + number(&edit[2]);
    }
    a[in_a..] == b[in_b..]
}

/// Makes documents with sentences in several scripts. They share runs of sentences, with some words changed.
fn documents(dice: &mut Dice) -> Vec<(String, String)> {
    let words =
        ["ferry", "Bergen", "漢字", "קו", "😀", "e\u{301}tat", "22", "<b>", "harbour", "\u{1}", "votes", "Monday"];
    let sentence = |dice: &mut Dice| {
        let words: Vec<_> =
            (0..12).map(|_| words[dice.below(words.len())].to_owned() + &dice.below(40).to_string()).collect();
        words.join(" ") + ". "
    };
    let shared: Vec<_> = (0..6).map(|_| (0..5).map(|_| sentence(dice)).collect::<String>()).collect();
    let document = |dice: &mut Dice| {
        let mut text = String::new();
        for _ in 0..4 {
            text += &sentence(dice);
            text += &shared[dice.below(shared.len())].replacen("1 ", "7 ", dice.below(3));
        }
        text
    };
    (0..12).map(|number| (format!("d{number}"), document(dice))).collect()
}

#[test]
fn pages_show_the_places_of_a_result() {
    for seed in 0..3 {
        let (place, mut dice) = (Place::new(), Dice(seed));
        let documents = documents(&mut dice);
        place.write("docs.jsonl", jsonl(documents.clone()));
        place.ok("passages docs.jsonl --common 6 -o reuse/");
        place.ok("report reuse/ --corpus docs.jsonl -o page.html");
        let page = data(std::str::from_utf8(&place.read("page.html")).unwrap());
        let text = |id: &Value| &documents.iter().find(|(known, _)| id == known).unwrap().1;
        let passages = place.sql("SELECT * FROM 'reuse/passages.parquet'");
        let families = place.sql("SELECT * FROM 'reuse/families.parquet'");
        assert_eq!(page["totals"]["matches"], passages.len());
        let mut shown = Vec::new();
        for row in page["matches"].as_array().unwrap() {
            let [a, b] =
                ["a", "b"].map(|side| &page["documents"][usize::try_from(row[side].as_u64().unwrap()).unwrap()]);
            let slices = [slice(a, &row["at"][0], &row["at"][1]), slice(b, &row["at"][2], &row["at"][3])];
            assert!(is_edited_to(&slices[0], &row["edits"], &slices[1]), "{row}");
            shown.push((a["id"].clone(), slices[0].clone(), b["id"].clone(), slices[1].clone()));
        }
        let found = passages.iter().map(|row| {
            let in_text = |side: &str| {
                let id = &row[format!("doc_{side}")];
                characters(text(id), &row[format!("char_{side}_start")], &row[format!("char_{side}_end")])
            };
            (row["doc_a"].clone(), in_text("a"), row["doc_b"].clone(), in_text("b"))
        });
        let mut found: Vec<_> = found.collect();
        let by_text =
            |row: &(Value, String, Value, String)| (row.0.to_string(), row.1.clone(), row.2.to_string(), row.3.clone());
        shown.sort_by_key(by_text);
        found.sort_by_key(by_text);
        assert!(!found.is_empty() && !families.is_empty());
        assert_eq!(shown, found, "{seed}");
        let places = page["groups"].as_array().unwrap().iter().flat_map(|group| group["shown"].as_array().unwrap());
        assert_eq!(places.count(), families.len());
    }
}

#[test]
fn the_same_result_is_the_same_page() {
    let place = Place::new();
    place.write("docs.jsonl", collection_jsonl(60, 5));
    place.ok("passages docs.jsonl --common 3 --min-words 8 -o reuse/");
    place.ok("report reuse/ --corpus docs.jsonl -o one.html --threads 1");
    place.ok("ingest docs.jsonl -o corpus/");
    place.ok("report reuse/ --corpus corpus/ -o many.html --threads 3");
    assert_eq!(place.read("one.html"), place.read("many.html"));
}

#[test]
fn a_page_of_another_collection_is_refused_and_leaves_the_earlier_one() {
    let place = Place::with([
        (
            "docs.jsonl",
            "{\"id\": 1, \"text\": \"To be or not to be.\"}\n{\"id\": 2, \"text\": \"To be, or not to be?\"}\n",
        ),
        ("others.jsonl", "{\"id\": 1, \"text\": \"To be or not to be.\"}\n{\"id\": 2, \"text\": \"To be, or not!\"}\n"),
        ("page.html", "earlier"),
    ]);
    place.ok("pairs docs.jsonl -o pairs.parquet");
    place.ok("pairs docs.jsonl -o pairs.csv");
    place.ok("ingest docs.jsonl -o corpus/");
    for (arguments, said) in [
        ("pairs.parquet --corpus others.jsonl", "the collection is not the one of which pairs.parquet was made"),
        ("pairs.parquet --corpus docs.jsonl --against others.jsonl", "was made of one collection; leave out --against"),
        ("pairs.csv --corpus docs.jsonl", "pairs.csv does not say what it was made of"),
        ("corpus/documents.parquet --corpus docs.jsonl", "is no result of a method"),
        ("pairs.parquet --corpus docs.jsonl --max-size 1000", "no page has less than"),
        (
            "pairs.parquet --corpus docs.jsonl --time-column when",
            "the documents have no such column; they have doc_id, text",
        ),
        (
            "pairs.parquet --corpus docs.jsonl --link-template javascript:{id}",
            "it begins with https://, http://, file://",
        ),
        ("nowhere.parquet --corpus docs.jsonl", "nowhere.parquet"),
    ] {
        let error = place.fails(1, &format!("report {arguments} -o page.html"));
        assert!(error.contains(said), "{arguments}: {error}");
        assert_eq!(place.read("page.html"), b"earlier", "{arguments}");
    }
    place.ok("report pairs.parquet --corpus docs.jsonl -o page.html");
    assert_ne!(place.read("page.html"), b"earlier");
}

#[test]
fn pages_of_a_folder_have_each_match_once() {
    let place = Place::new();
    place.write("docs.jsonl", collection_jsonl(400, 9));
    place.ok("passages docs.jsonl --min-words 6 --common 50 -o reuse.parquet");
    place.ok("report reuse.parquet --corpus docs.jsonl -o book/ --max-size 300KiB");
    place.ok("verify book/");
    let mut files = vec!["book/index.html".to_owned()];
    files.extend((2..).map(|page| format!("book/pages/{page:04}.html")).take_while(|file| place.path(file).exists()));
    assert!(files.len() > 1);
    let mut keys = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let page = String::from_utf8(place.read(file)).unwrap();
        assert!(page.len() <= 300 << 10, "{file}");
        assert_eq!(page.contains(">next page</a>"), at + 1 < files.len(), "{file}");
        keys.extend(data(&page)["matches"].as_array().unwrap().iter().map(|row| row["key"].to_string()));
    }
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    assert_eq!(place.sql("SELECT count(*) AS rows FROM 'reuse.parquet'")[0]["rows"], count);
    // A report replaces a folder of a report, and no other folder.
    place.ok("report reuse.parquet --corpus docs.jsonl -o book/ --max-size 1MiB");
    place.write("book/notes.txt", "mine");
    assert!(place.fails(1, "report reuse.parquet --corpus docs.jsonl -o book/").contains("notes.txt"));
}

#[test]
fn a_result_without_rows_is_a_page() {
    let place = Place::with([("docs.jsonl", "{\"id\": 1, \"text\": \"One.\"}\n{\"id\": 2, \"text\": \"Two.\"}\n")]);
    for method in ["passages", "pairs", "containment", "threads --field text=1"] {
        place.ok(&format!("{method} docs.jsonl -o none.parquet"));
        place.ok("report none.parquet --corpus docs.jsonl -o none.html");
        assert_eq!(data(std::str::from_utf8(&place.read("none.html")).unwrap())["matches"], json!([]), "{method}");
    }
}

#[test]
fn verdicts_score_a_result() {
    let place = Place::new();
    let line = |key: u64, verdict: &str, similarity: Value, at: u64| {
        json!({ "result": "9f", "key": key.to_string(), "verdict": verdict, "similarity": similarity, "at": format!("2026-01-01T00:00:{at:02}Z") })
            .to_string()
            + "\n"
    };
    let first: String =
        (0..10).map(|i| line(i, if i < 8 { "same" } else { "false" }, json!(0.8 + i as f64 / 100.0), 1)).collect();
    // A later verdict on one of them, one that is unsure, and one on a family, which has no similarity.
    let second =
        line(9, "quotation", json!(0.89), 2) + &line(10, "unsure", json!(0.99), 2) + &line(11, "same", Value::Null, 2);
    place.write("a.ndjson", first);
    place.write("b.ndjson", second);
    place.ok("review import a.ndjson b.ndjson -o verdicts.parquet");
    let verdicts = place.sql("SELECT * FROM 'verdicts.parquet' WHERE verdicts > 1");
    assert_eq!((verdicts.len(), &verdicts[0]["verdict"]), (1, &json!("quotation")));
    place.ok("review score verdicts.parquet -o scores.parquet");
    let scores = place.sql("SELECT * FROM 'scores.parquet' ORDER BY threshold DESC");
    let found: Vec<_> = scores.iter().map(|row| (row["judged"].clone(), row["right"].clone())).collect();
    let expected = (1..=10).map(|judged| (json!(judged), json!(if judged == 1 { 1 } else { judged - 1 })));
    assert_eq!(found, expected.collect::<Vec<_>>());
    // Wilson's interval for 9 of 10, as in published tables.
    let [low, high] = ["low", "high"].map(|name| (scores[9][name].as_f64().unwrap() * 1e4).round() / 1e4);
    assert_eq!([low, high], [0.5958, 0.9821]);
    place.write("c.ndjson", "{\"result\":\"9f\",\"key\":\"1\",\"verdict\":\"maybe\"}\n");
    let error = place.fails(1, "review import a.ndjson c.ndjson -o x.parquet");
    assert!(
        error.contains(
            "c.ndjson, record 1: the verdict is maybe; a verdict has a result, a key, and one of same, quotation"
        ),
        "{error}"
    );
}
