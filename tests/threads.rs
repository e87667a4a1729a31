//! Near-duplicate threads: against the score of all pairs, and what the options do.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::program::{Dice, Ended, Place};

/// Records as JSON lines.
fn jsonl(records: impl IntoIterator<Item = Value>) -> String {
    records.into_iter().map(|record| format!("{record}\n")).collect()
}

/// Runs what must succeed.
#[track_caller]
fn ended(place: &Place, line: &str) -> Ended {
    let ended = place.run(line);
    assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
    ended
}

/// Threads of few words, so that many are alike; some fields are missing, NULL or empty.
fn threads(count: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let words = ["sun", "moon", "star"];
    jsonl((0..count).map(|i| {
        let mut thread = json!({ "id": format!("t{i:03}"), "votes": dice.below(5), "posted": format!("2024-01-{:02}", 1 + dice.below(28)) });
        for (field, longest) in [("title", 4), ("description", 3), ("answer", 7)] {
            let length = dice.below(longest + 1);
            let text: Vec<_> = (0..length).map(|_| words[dice.below(words.len())]).collect();
            match dice.below(8) {
                0 => {}
                1 => thread[field] = Value::Null,
                _ => thread[field] = json!(text.join(" ")),
            }
        }
        thread
    }))
}

/// The score of all pairs, by SQL without a similarity join.
fn brute_force(place: &Place, input: &str, weights: [f64; 3], threshold: f64) -> Vec<(String, String, f64)> {
    let [title, description, answer] = weights;
    let sql = format!(
        "WITH sets AS (
             SELECT id, shingles(words(normalize(coalesce(title, ''))), 2) AS t,
                 shingles(words(normalize(coalesce(description, ''))), 2) AS d,
                 shingles(words(normalize(coalesce(answer, ''))), 2) AS a FROM '{input}'
         ),
         pairs AS (
             SELECT x.id AS id_a, y.id AS id_b,
                 {title:?} * coalesce(jaccard(x.t, y.t), 0) + {description:?} * coalesce(jaccard(x.d, y.d), 0)
                 + {answer:?} * coalesce(jaccard(x.a, y.a), 0) AS score
             FROM sets AS x JOIN sets AS y ON x.id < y.id
         )
         SELECT * FROM pairs WHERE score >= {threshold:?} - 1e-13 ORDER BY id_a, id_b"
    );
    scores(place.sql(&sql))
}

fn scores(rows: Vec<Value>) -> Vec<(String, String, f64)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    rows.iter().map(|row| (text(&row["id_a"]), text(&row["id_b"]), row["score"].as_f64().unwrap())).collect()
}

#[test]
fn the_pairs_are_those_of_comparing_all_threads() {
    for (seed, weights, thresholds) in [
        (1, [0.4, 0.2, 0.4], [0.2, 0.4, 0.6]),
        (2, [0.0, 0.5, 0.5], [0.25, 0.5, 1.0]),
        (3, [0.1, 0.1, 0.8], [0.05, 0.4, 0.9]),
    ] {
        let place = Place::with([("posts.jsonl", &threads(150, seed))]);
        for threshold in thresholds {
            let expected = brute_force(&place, "posts.jsonl", weights, threshold);
            let [title, description, answer] = weights;
            let found = |more: &str| {
                scores(place.rows(&format!(
                    "threads posts.jsonl --field title={title} --field description={description} --field answer={answer} \
                     --signature shingles:2 --threshold {threshold}{more}"
                )))
            };
            assert!(threshold > 0.75 || expected.len() > 10, "{seed}, {threshold}: too few pairs to tell");
            assert_eq!(found(""), expected, "{seed}, {threshold}");
            // No list of postings is as long as that.
            assert_eq!(found(" --strategy term"), expected, "{seed}, {threshold}, term");
        }
    }
}

#[test]
fn two_collections_give_the_pairs_across_them() {
    let posts = threads(160, 4);
    let (new, old): (Vec<_>, Vec<_>) = posts.lines().enumerate().partition(|(i, _)| i % 3 == 0);
    let lines = |some: Vec<(usize, &str)>| some.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
    // One thread stands in both.
    let new: Vec<_> = new.into_iter().chain(old.first().copied()).collect();
    let place =
        Place::with([("all.jsonl", &posts), ("new.jsonl", &lines(new.clone())), ("old.jsonl", &lines(old.clone()))]);
    let ids = |some: &[(usize, &str)]| some.iter().map(|(i, _)| format!("t{i:03}")).collect::<Vec<_>>();
    let (new, old) = (ids(&new), ids(&old));
    let fields = "--field title --field description --field answer --signature shingles:2 --threshold 0.4";
    let all = scores(place.rows(&format!("threads all.jsonl {fields}")));
    let mut expected: Vec<_> = all
        .into_iter()
        .flat_map(|(a, b, score)| [(a.clone(), b.clone(), score), (b, a, score)])
        .filter(|(a, b, _)| new.contains(a) && old.contains(b))
        .collect();
    expected.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    for strategy in ["doc", "term"] {
        let found = place.rows(&format!("threads new.jsonl --against old.jsonl {fields} --strategy {strategy}"));
        assert!(expected.len() > 15, "{}", expected.len());
        assert_eq!(scores(found), expected, "{strategy}");
    }
}

#[test]
fn the_script_that_is_shown_gives_the_same() {
    let place = Place::with([("posts.jsonl", &threads(100, 5))]);
    place.ok("ingest posts.jsonl -o corpus --text-column title --on-error skip --quiet");
    for more in ["", " --strategy term --max-postings 20", " --signature description=characters:3"] {
        // The title became the text of the corpus.
        let command = format!("threads corpus --field text=2 --field description=1{more} --threshold 0.3");
        let expected = place.ok(&format!("{command} --format csv"));
        place.write("script.sql", place.ok(&format!("{command} --show-sql")));
        assert!(expected.lines().count() > 20);
        assert_eq!(place.ok("sql -f script.sql --format csv"), expected, "{more}");
    }
}

#[test]
fn a_cap_says_what_it_left_out_and_what_was_lost() {
    let posts = jsonl((0..300).map(|i| json!({ "id": i, "title": format!("how do I {} a {}", i % 10, i % 30) })));
    let place = Place::with([("posts.jsonl", &posts)]);
    let command = "threads posts.jsonl --field title --signature shingles:1 --threshold 0.6 --strategy term";
    let whole = ended(&place, &format!("{command} --format csv"));
    assert!(whole.err.contains("capped 0") && whole.err.contains("recall 1.0000"), "{}", whole.err);
    let capped =
        ended(&place, &format!("{command} --max-postings 4 --certify 100000 --capped capped.parquet --format csv"));
    let (all, some) = (whole.text().lines().count() - 1, capped.text().lines().count() - 1);
    assert!(some < all, "{some} {all}");
    assert!(
        capped.err.replace(',', "").contains(&format!(
            "of a sample of threads {} of {} pairs were found: recall 0.",
            2 * some,
            2 * all
        )),
        "{all} {}",
        capped.err
    );
    let lists = place.sql("SELECT * FROM 'capped.parquet'");
    assert_eq!(lists.len(), 4, "how, do, i and a stand in all 30 titles: {lists:?}");
    for list in lists {
        assert_eq!((&list["field"], &list["texts"], &list["example"]), (&json!("title"), &json!(30), &json!("0")));
        assert_eq!(list["pairs_not_made"], json!(30 * 29 / 2));
    }
    assert_eq!(place.run(&format!("{command} --max-postings 4 --strict")).code, Some(4));
}

#[test]
fn weights_are_fitted_to_labels_and_judged_on_others() {
    let mut dice = Dice(7);
    let mut noise = |n: usize| (0..n).map(|_| format!("w{}", dice.below(1000))).collect::<Vec<_>>().join(" ");
    let mut posts = Vec::new();
    let mut labels = Vec::new();
    for i in 0..60 {
        // Duplicates have the same body; the titles say nothing.
        let (body, other, title) = (noise(12), noise(12), noise(3));
        posts.push(json!({ "id": format!("q{i}"), "title": title, "body": body }));
        posts.push(json!({ "id": format!("d{i}"), "title": noise(3), "body": body }));
        posts.push(json!({ "id": format!("n{i}"), "title": title, "body": other }));
        labels.push(json!({ "id_a": format!("q{i}"), "id_b": format!("d{i}"), "same": true }));
        labels.push(json!({ "id_a": format!("q{i}"), "id_b": format!("n{i}"), "same": false }));
    }
    labels.push(json!({ "id_a": "q1", "id_b": "nobody", "same": true }));
    let place = Place::with([("posts.jsonl", &jsonl(posts)), ("labels.jsonl", &jsonl(labels))]);
    let command = "threads posts.jsonl --field title --field body --labels labels.jsonl --label same --weights fit \
                   --starts 5 --evaluation evaluation.parquet --format csv";
    let first = ended(&place, command);
    assert!(first.err.contains("1 labelled pairs name threads that are not there"), "{}", first.err);
    assert_eq!(first.text().lines().count() - 1, 60, "{}", first.err);
    let figures: BTreeMap<String, Value> = place
        .sql("SELECT * FROM 'evaluation.parquet'")
        .into_iter()
        .map(|row| (row["what"].as_str().unwrap().to_string(), row))
        .collect();
    assert_eq!(figures["body"]["f1"], json!(1.0));
    assert!(figures["title"]["f1"].as_f64().unwrap() < 0.7);
    assert_eq!((&figures["score"]["f1"], &figures["score, held out"]["f1"]), (&json!(1.0), &json!(1.0)));
    assert_eq!(place.ok(command), first.text());
    place.fails(1, "threads posts.jsonl --field title --labels labels.jsonl --label id_a");
}

#[test]
fn a_group_has_one_thread_to_keep() {
    let body = |extra: &str| format!("one two three four five six seven eight nine ten{extra}");
    let posts = jsonl([
        json!({ "id": "a", "body": body(""), "votes": "2", "posted": "2024-03-01" }),
        json!({ "id": "b", "body": body(" eleven"), "votes": "10", "posted": "2024-02-01" }),
        json!({ "id": "c", "body": body(" eleven twelve"), "votes": null, "posted": "2024-01-01" }),
        json!({ "id": "x", "body": "something else altogether than that", "votes": "99", "posted": "2023-01-01" }),
    ]);
    let place = Place::with([("posts.jsonl", &posts)]);
    // a and c are alike only through b.
    let command = "threads posts.jsonl --field body --threshold 0.88 -o pairs.parquet --groups groups.parquet";
    for (rule, kept) in [("votes", "b"), ("oldest=posted", "c"), ("longest", "c")] {
        place.ok(&format!("{command} --canonical {rule}"));
        assert_eq!(place.sql("SELECT * FROM 'pairs.parquet'").len(), 2);
        let groups = place.sql("SELECT * FROM 'groups.parquet'");
        let members: Vec<_> = groups.iter().map(|row| (&row["canonical"], &row["id"])).collect();
        let expected: Vec<_> = ["a", "b", "c"].map(|id| (json!(kept), json!(id))).into();
        let mut sorted: Vec<_> = members.into_iter().map(|(a, b)| (a.clone(), b.clone())).collect();
        sorted.sort_by_key(|(_, id)| id.to_string());
        assert_eq!(sorted, expected, "{rule}");
        let to_a = groups.iter().find(|row| row["id"] == "a").unwrap()["score"].as_f64().unwrap();
        assert!((to_a - if kept == "b" { 8.0 / 9.0 } else { 8.0 / 10.0 }).abs() < 1e-12, "{rule}: {to_a}");
    }
}

#[test]
fn mistakes_are_explained_before_anything_is_read_in_full() {
    let place = Place::with([("posts.jsonl", &threads(30, 8))]);
    for (arguments, said) in [
        (
            "--field titel=1",
            "there is no column \"titel\" in the table documents; its columns are doc_id, text, votes, posted, title",
        ),
        ("--field title=1 --groups g.parquet --canonical votes=likes", "no column \"likes\""),
        ("--field title --weights fit --labels none.parquet", "none.parquet"),
        ("--field title --certify 10", "--certify is for --strategy term"),
        ("--field title --groups g.csv -o ./g.csv", "g.csv is named for two results"),
        ("--field title --weights fit --labels none.parquet --show-sql", "weights are not fitted in SQL"),
        (
            "--field title --max-pairs 1 --threshold 0.01 --signature shingles:1",
            "more than --max-pairs 1: give a higher --threshold",
        ),
    ] {
        let error = place.fails(1, &format!("threads posts.jsonl {arguments}"));
        assert!(error.contains(said), "{arguments}: {error}");
    }
    place.fails(2, "threads posts.jsonl");
    place.fails(2, "threads posts.jsonl --field title --weights fit");
    place.fails(2, "threads posts.jsonl --field title --evaluate-only");
    place.fails(2, "threads posts.jsonl --field title --seed 3");
}

#[test]
fn rounding_at_the_threshold_loses_no_pair() {
    let same = |id: &str, b: &str| json!({ "id": id, "a": "one two three", "b": b, "c": "four five", "d": "x y", "e": "z", "f": "w" });
    let place = Place::with([("posts.jsonl", &jsonl([same("1", "here"), same("2", "here"), same("3", "there")]))]);
    let six = "--field a --field b --field c --field d --field e --field f";
    let found = scores(place.rows(&format!("threads posts.jsonl {six} --threshold 1")));
    assert_eq!(found, [("1".to_string(), "2".to_string(), 1.0)]);
    let found = place.rows("threads posts.jsonl --field c=0.7 --field a=0.1 --field b=0.2 --threshold 0.8");
    assert_eq!(found.len(), 3, "0.7 + 0.1 is 0.7999999999999999: {found:?}");
}

#[test]
fn fields_may_have_any_name() {
    let names = ["doc", "side", "doc_id", "TITLE", "a\"b", "it's", "$x"];
    let thread = |id: &str| {
        let fields = names.iter().map(|name| ((*name).to_string(), json!(format!("the text of {name}"))));
        Value::Object(fields.chain([("key".to_string(), json!(id))]).collect())
    };
    let place = Place::with([("posts.jsonl", &jsonl([thread("1"), thread("2")]))]);
    for name in names.iter().filter(|name| **name != "doc_id") {
        for strategy in ["doc", "term"] {
            let rows = place.rows(&format!(
                "threads posts.jsonl --id-column key --field {name} --strategy {strategy} --groups groups.parquet"
            ));
            assert_eq!(rows, [json!({ "id_a": "1", "id_b": "2", "score": 1.0, *name: 1.0 })], "{strategy}");
        }
    }
}

#[test]
fn a_field_of_little_weight_founds_no_pairs() {
    let posts =
        jsonl((0..300).map(|i| json!({ "id": i, "title": "help", "body": format!("body of number {}", i / 2) })));
    let place = Place::with([("posts.jsonl", &posts)]);
    let command = "threads posts.jsonl --field title=0.1 --field body=0.9 --threshold 0.9 --max-pairs 1000";
    assert_eq!(place.rows(command).len(), 150);
    assert!(place.fails(1, &command.replace("0.9 --max", "0.05 --max")).contains("less weight to a field"));
}
