//! Near-duplicate threads: compared with the score of all pairs, and the effects of the options.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::program::{Dice, Ended, Place, json_lines};

/// Returns records as JSON lines.
fn jsonl(records: impl IntoIterator<Item = Value>) -> String {
    records.into_iter().map(|record| format!("{record}\n")).collect()
}

/// Runs a command that must succeed.
#[track_caller]
fn ended(place: &Place, line: &str) -> Ended {
    let ended = place.run(line);
    assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
    ended
}

/// Makes threads of few words, so that many are alike. Some fields are missing, NULL or empty.
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

/// Returns the pairs with their score, by SQL without a similarity join.
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
            // No list of postings is longer than the cap.
            assert_eq!(found(" --strategy term"), expected, "{seed}, {threshold}, term");
        }
    }
}

#[test]
fn two_collections_give_the_pairs_across_them() {
    let posts = threads(160, 4);
    let (new, old): (Vec<_>, Vec<_>) = posts.lines().enumerate().partition(|(i, _)| i % 3 == 0);
    let lines = |some: Vec<(usize, &str)>| some.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
    // One thread is in both collections.
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
        let found =
            place.rows(&format!("threads new.jsonl --against old.jsonl --same-ids {fields} --strategy {strategy}"));
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
    let said = first.err.lines().find_map(|line| line.strip_prefix("ibid: fitted in ")).unwrap();
    let (_, fitted) = said.split_once("s: ").unwrap();
    assert_eq!(place.ok(&format!("threads posts.jsonl {fitted} --format csv")), first.text(), "{fitted}");
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
fn votes_are_numbers_and_what_is_none_comes_last_and_is_said() {
    let body = "one two three four five six seven eight";
    let posts = jsonl([
        json!({ "id": "a", "body": body, "votes": "1,000" }),
        json!({ "id": "b", "body": body, "votes": " 12 " }),
        json!({ "id": "c", "body": body, "votes": "NaN" }),
        json!({ "id": "d", "body": body, "votes": "" }),
        json!({ "id": "e", "body": body, "votes": "inf" }),
        json!({ "id": "f", "body": body }),
    ]);
    let place = Place::with([("posts.jsonl", &posts)]);
    let command = "threads posts.jsonl --field body -o pairs.parquet --groups groups.parquet --canonical votes";
    let said = ended(&place, command).err;
    assert!(said.contains("3 threads of groups cannot be ranked by \"votes\""), "{said}");
    assert!(said.contains("| a  | 1,000 |"), "{said}");
    let kept = |place: &Place| place.sql("SELECT DISTINCT canonical FROM 'groups.parquet'");
    assert_eq!(kept(&place), [json!({ "canonical": "b" })]);
    // The same with a column of numbers, one of which is NaN.
    let numbers = "SELECT id, body, CASE id WHEN 'c' THEN CAST('NaN' AS DOUBLE) ELSE 1 + ascii(id) END AS votes FROM 'posts.jsonl'";
    make(&place, numbers, "numbers.parquet");
    let said = ended(&place, &command.replace("posts.jsonl", "numbers.parquet")).err;
    assert!(said.contains("1 threads of groups cannot be ranked by"), "{said}");
    assert_eq!(kept(&place), [json!({ "canonical": "f" })]);
}

#[test]
fn the_oldest_is_told_by_time_not_by_text() {
    let body = "one two three four five six seven eight";
    let kept = |posted: [Value; 4]| {
        let posts = ["a", "b", "c", "d"].into_iter().zip(posted);
        let posts = jsonl(posts.map(|(id, posted)| json!({ "id": id, "body": body, "posted": posted })));
        let place = Place::with([("posts.jsonl", &posts)]);
        let said = ended(
            &place,
            "threads posts.jsonl --field body -o pairs.parquet --groups groups.parquet --canonical oldest=posted",
        )
        .err;
        let kept = place.sql("SELECT DISTINCT canonical FROM 'groups.parquet'");
        assert_eq!(kept.len(), 1);
        (kept[0]["canonical"].as_str().unwrap().to_string(), said)
    };
    // Half past midnight of the new year in Kyiv is half past ten in London.
    let times = ["2023-12-31T23:00:00Z", "2024-01-01T00:30:00+02:00", "2024-01-01", "2023-12-31 22:45:00"];
    assert_eq!(kept(times.map(|time| json!(time))).0, "b");
    let (first, said) = kept([json!("last spring"), json!(null), json!("2024-01-31"), json!("yesterday")]);
    assert_eq!(first, "c");
    assert!(
        said.contains("2 threads of groups cannot be ranked by \"posted\"") && said.contains("last spring"),
        "{said}"
    );
    assert_eq!(kept([json!(1000), json!(999), json!(1e9), json!(null)]).0, "b");
    // Seconds as text, as in a table without types.
    assert_eq!(kept([json!("1700000000"), json!("900000000"), json!(""), json!("1e9")]).0, "b");
}

#[test]
fn dates_and_timestamps_rank_as_such() {
    let place = Place::with([("days.csv", "id,day\na,2024-03-01\nb,1999-12-31\nc,2024-01-31\n")]);
    for column in [
        "CAST(day AS DATE)",
        "CAST(day AS TIMESTAMP)",
        "arrow_cast(CAST(day AS TIMESTAMP), 'Timestamp(Second, Some(\"+02:00\"))')",
        "arrow_cast(day, 'Dictionary(Int32, Utf8)')",
    ] {
        make(
            &place,
            &format!("SELECT id, 'one two three' AS body, {column} AS posted FROM 'days.csv'"),
            "posts.parquet",
        );
        place.ok("threads posts.parquet --field body -o pairs.csv --groups groups.parquet --canonical oldest=posted");
        let kept = place.sql("SELECT DISTINCT canonical FROM 'groups.parquet'");
        assert_eq!(kept, [json!({ "canonical": "b" })], "{column}");
    }
}

#[test]
fn groups_of_two_collections_say_where_a_thread_is_from() {
    let body = "one two three four five six seven eight";
    let thread = |id: &str, votes: u32| json!({ "id": id, "body": body, "votes": votes });
    let place =
        Place::with([("new.jsonl", &jsonl([thread("a", 1), thread("b", 5)])), ("old.jsonl", &jsonl([thread("a", 9)]))]);
    place
        .ok("threads new.jsonl --against old.jsonl --same-ids --field body -o pairs.csv --groups groups.ndjson --canonical votes");
    let groups = String::from_utf8(place.read("groups.ndjson")).unwrap();
    let member = |id: &str, collection: &str| {
        json!({
            "canonical": "a", "id": id, "score": 1.0, "canonical_collection": "against", "collection": collection
        })
    };
    // The thread a of the input is the other a, so it is not in the group.
    assert_eq!(json_lines(&groups), [member("b", "input"), member("a", "against")]);
}

/// Writes the rows of a query to a file.
#[track_caller]
fn make(place: &Place, sql: &str, file: &str) {
    let ended = place.run_with(["sql", sql, "-o", file], "");
    assert_eq!(ended.code, Some(0), "{sql}\n{}", ended.err);
}

/// Makes posts with labels. The posts 00 and 01 are alike, and the posts 0 and 1.
fn labelled(labels: &str) -> Place {
    let post = |id: &str, body: &str| json!({ "id": id, "body": body });
    let (this, that) = ("one two three four five", "six seven eight nine ten");
    Place::with([
        ("posts.jsonl", &jsonl([post("00", this), post("01", this), post("0", that), post("1", that)])),
        ("labels.csv", labels),
    ])
}

const JUDGE: &str = "threads posts.jsonl --field body --labels labels.csv --evaluate-only";

#[test]
fn ids_of_labels_are_text() {
    let place = labelled("id_a,id_b,label\n00,01,1\n0,1,yes\n00,0,0\n01,1,No\n");
    let said = ended(&place, JUDGE).err;
    assert!(said.contains("4 labelled pairs, 2 of them duplicates") && !said.contains("not there"), "{said}");
    // The labels have JSON numbers, and ids that are text.
    place.write(
        "labels.jsonl",
        "{\"id_a\": 0, \"id_b\": 1, \"label\": 1}\n{\"id_a\": \"00\", \"id_b\": 0, \"label\": 0}\n",
    );
    let said = ended(&place, &JUDGE.replace("csv", "jsonl")).err;
    assert!(said.contains("2 labelled pairs, 1 of them duplicates") && !said.contains("not there"), "{said}");
}

#[test]
fn a_labelled_pair_counts_once() {
    let place = labelled(
        "id_a,id_b,label\n00,01,true\n01,00,true\n00,01,1\n0,1,false\n1,0,true\n0,0,true\n0,00,false\n,01,true\n00,1,\n",
    );
    let said = ended(&place, JUDGE).err;
    for expected in [
        "2 labelled pairs, 1 of them duplicates",
        "2 rows of labels.csv lack an id or a label",
        "1 rows of labels.csv are of a thread with itself",
        "3 rows of labels.csv name a pair that stands before",
        "1 pairs of labels.csv are labelled both ways, and are left out",
        "| 0    | 1    |",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // With two collections, the order of the ids says which is which.
    place.write("labels.csv", "id_a,id_b,label\n00,01,true\n01,00,true\n00,1,no\n");
    let said = ended(&place, &JUDGE.replace("--field", "--against posts.jsonl --field")).err;
    assert!(said.contains("3 labelled pairs, 2 of them duplicates") && !said.contains("before"), "{said}");
}

#[test]
fn a_label_says_yes_or_no() {
    for wrong in ["2", "-1", "maybe", "0.5"] {
        let place = labelled(&format!("id_a,id_b,label\n00,01,1\n0,1,{wrong}\n"));
        let error = place.fails(1, JUDGE);
        assert!(error.contains(&format!("labels.csv: the label of 0 and 1 is \"{wrong}\", one of 1 that")), "{error}");
    }
}

#[test]
fn labels_are_checked_before_anything_is_read() {
    let place = labelled("id_a,id_b,same\n00,01,1\n");
    make(&place, "SELECT '0' AS id_a, [1] AS id_b, true AS label", "lists.parquet");
    place.write("empty.csv", "id_a,id_b,label\n");
    for (arguments, said) in [
        ("--labels none.csv", "none.csv does not exist"),
        ("--labels labels.csv", "labels.csv has no column \"label\"; its columns are id_a, id_b, same; --labels needs"),
        ("--labels lists.parquet", "the column \"id_b\" of lists.parquet holds List(Int64)"),
        ("--labels empty.csv", "in empty.csv"),
    ] {
        let error = place.fails(1, &format!("threads nobody.jsonl --field body {arguments}"));
        assert!(error.contains(said), "{arguments}: {error}");
    }
}

#[test]
fn a_column_called_text_may_hold_anything() {
    let body = "one two three four five";
    let posts = jsonl([
        json!({ "id": "a", "body": body, "text": 7 }),
        json!({ "id": "b", "body": body, "text": { "x": [1] } }),
        json!({ "id": "c", "body": "else", "text": 7 }),
    ]);
    let place = Place::with([("posts.jsonl", &posts)]);
    assert_eq!(scores(place.rows("threads posts.jsonl --field body")), [("a".into(), "b".into(), 1.0)]);
    // A column of a field is read like other columns.
    let as_text = place.rows("threads posts.jsonl --field text --signature shingles:1");
    assert_eq!(scores(as_text), [("a".into(), "c".into(), 1.0)]);
    for (column, same) in
        [("[1, 2]", None), ("DATE '2024-01-31'", Some(1)), ("1.5", Some(1)), ("CAST(NULL AS INT)", Some(0))]
    {
        let sql = format!("SELECT column1 AS id, 'one two three' AS body, {column} AS text FROM (VALUES ('a'), ('b'))");
        make(&place, &sql, "posts.parquet");
        assert_eq!(place.rows("threads posts.parquet --field body").len(), 1, "{column}");
        let command = "threads posts.parquet --field text --signature shingles:1";
        match same {
            Some(pairs) => assert_eq!(place.rows(command).len(), pairs, "{column}"),
            None => {
                let error = place.fails(1, command);
                assert!(error.contains("the column \"text\" is List(Int64), not text, a number or a date"), "{error}");
            }
        }
    }
}

#[test]
fn columns_that_cannot_be_read_are_refused_beforehand() {
    let place = Place::new();
    make(
        &place,
        "SELECT column1 AS id, 'one two three' AS body, ['x'] AS tags, true AS flag, CAST('x' AS BYTEA) AS bytes, \
         column1 AS number, DATE '2024-01-31' AS day FROM (VALUES (1), (2))",
        "posts.parquet",
    );
    place.ok("ingest posts.parquet -o corpus --text-column body --quiet");
    // A file that cannot be read to its end.
    make(&place, "SELECT * REPLACE (1 AS id) FROM 'posts.parquet'", "twice.parquet");
    assert!(place.fails(1, "threads twice.parquet --field body").contains("twice"));
    for (arguments, said) in [
        ("--field tags", "--field cannot read the column \"tags\" of the table documents, which holds List("),
        ("--field bytes", "--field cannot read the column \"bytes\""),
        ("--field number --groups g.csv --canonical votes=flag", "--canonical cannot read the column \"flag\""),
        ("--field number --groups g.csv --canonical votes=day", "it reads numbers, or text that is a number"),
        ("--field number --groups g.csv --canonical oldest=tags", "it reads dates, timestamps, numbers"),
    ] {
        for input in ["posts.parquet", "corpus", "twice.parquet"] {
            let error = place.fails(1, &format!("threads {input} {arguments}"));
            assert!(error.contains(said) && error.contains("make one with ibid sql"), "{arguments}: {error}");
        }
    }
    for field in ["number", "day", "flag"] {
        let found = place.rows(&format!("threads posts.parquet --field {field} --signature shingles:1"));
        assert_eq!(found.len(), usize::from(field != "number"), "{field}");
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
        ("--field title --certify 10", "--certify has no effect here"),
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
