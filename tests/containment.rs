//! Documents that are contained in others: compared with all pairs, by every method, and with times.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::program::{Dice, Place, splits};

pub(crate) type Sentences = Vec<Vec<&'static str>>;

/// Makes documents of a few words, so that many share sentences. Some are the beginning of another one with more after
/// it.
pub(crate) fn documents(count: usize, seed: u64) -> Vec<(String, Sentences)> {
    let vocabulary = ["sun", "moon", "star", "comet", "planet", "ring", "dust", "orbit", "light", "night"];
    let mut dice = Dice(seed);
    let mut documents: Vec<(String, Sentences)> = Vec::new();
    for i in 0..count {
        let mut sentences: Sentences = match dice.below(3) {
            0 if i > 0 => documents[dice.below(i)].1.clone(),
            _ => Vec::new(),
        };
        for _ in 0..1 + dice.below(4) {
            let length = 2 + dice.below(5);
            sentences.push((0..length).map(|_| vocabulary[dice.below(vocabulary.len())]).collect());
        }
        documents.push((format!("d{i:03}"), sentences));
    }
    documents
}

pub(crate) fn jsonl<'a>(
    documents: impl IntoIterator<Item = &'a (String, Sentences)>,
    more: impl Fn(usize) -> Value,
) -> String {
    let line = |(i, (id, sentences)): (usize, &(String, Sentences))| {
        let text: Vec<_> = sentences.iter().map(|words| format!("The {}.", words.join(" "))).collect();
        let mut record = json!({ "id": id, "text": text.join(" ") });
        if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more(i)) {
            record.extend(more);
        }
        format!("{record}\n")
    };
    documents.into_iter().enumerate().map(line).collect()
}

/// Returns each pair with its scores.
pub(crate) fn scores(rows: &[Value]) -> BTreeMap<(String, String), (f64, f64)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let number = |value: &Value| value.as_f64().unwrap();
    rows.iter()
        .map(|row| {
            ((text(&row["contained"]), text(&row["container"])), (number(&row["score"]), number(&row["score_back"])))
        })
        .collect()
}

pub(crate) fn pairs(rows: &[Value]) -> BTreeSet<(String, String)> {
    scores(rows).into_keys().collect()
}

/// Returns the pairs of documents whose share is at least the threshold, with the shares in both directions.
fn all_pairs(
    documents: &[(String, Sentences)],
    threshold: f64,
    share: impl Fn(&Sentences, &Sentences) -> f64,
) -> BTreeMap<(String, String), (f64, f64)> {
    let mut all = BTreeMap::new();
    for (a, in_a) in documents {
        for (b, in_b) in documents.iter().filter(|(b, _)| b != a) {
            let score = share(in_a, in_b);
            if score >= threshold {
                all.insert((a.clone(), b.clone()), (score, share(in_b, in_a)));
            }
        }
    }
    all
}

#[track_caller]
fn assert_like(found: &BTreeMap<(String, String), (f64, f64)>, expected: &BTreeMap<(String, String), (f64, f64)>) {
    assert!(expected.len() > 20, "{}", expected.len());
    assert_same(found, expected);
}

#[track_caller]
pub(crate) fn assert_same(
    found: &BTreeMap<(String, String), (f64, f64)>,
    expected: &BTreeMap<(String, String), (f64, f64)>,
) {
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (pair, (score, back)) in expected {
        let (found, found_back) = found[pair];
        assert!((found - score).abs() < 1e-9 && (found_back - back).abs() < 1e-9, "{pair:?} {found} {found_back}");
    }
}

/// Returns the shingles of the words of a text.
fn shingles(words: &[&str], n: usize) -> BTreeSet<Vec<String>> {
    let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    if words.len() < n { BTreeSet::from([owned(words)]) } else { words.windows(n).map(owned).collect() }
}

fn with_article(sentences: &Sentences) -> Vec<Vec<&'static str>> {
    sentences.iter().map(|words| std::iter::once("the").chain(words.iter().copied()).collect()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn share(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

#[test]
fn documents_are_contained_as_comparing_all_pairs_says() {
    let documents = documents(60, 1);
    let place = Place::with([("news.jsonl", &jsonl(&documents, |_| json!({})))]);
    let rows = place.rows("containment news.jsonl --signature shingles:2 --threshold 0.7");
    let set = |sentences: &Sentences| shingles(&with_article(sentences).concat(), 2);
    let expected = all_pairs(&documents, 0.7, |a, b| {
        let (a, b) = (set(a), set(b));
        share(a.intersection(&b).count(), a.len())
    });
    assert_like(&scores(&rows), &expected);
    let by_id: BTreeMap<_, _> = documents.iter().map(|(id, sentences)| (id.as_str(), sentences)).collect();
    for row in rows {
        let distinct = |id: &Value| by_id[id.as_str().unwrap()].iter().collect::<BTreeSet<_>>();
        let shared = distinct(&row["contained"]).intersection(&distinct(&row["container"])).count();
        assert_eq!(row["sentences"], json!(shared), "{row}");
    }
}

#[test]
fn sentences_are_contained_as_comparing_all_pairs_says() {
    let documents = documents(60, 2);
    let place = Place::with([("news.jsonl", &jsonl(&documents, |_| json!({})))]);
    let command =
        "containment news.jsonl --unit sentence --signature shingles:2 --sentence-threshold 0.75 --threshold 0.5";
    let sets =
        |sentences: &Sentences| -> Vec<_> { with_article(sentences).iter().map(|words| shingles(words, 2)).collect() };
    let expected = all_pairs(&documents, 0.5, |a, b| {
        let (a, b) = (sets(a), sets(b));
        let is_there = |x: &&BTreeSet<Vec<String>>| b.iter().any(|y| share(x.intersection(y).count(), x.len()) >= 0.75);
        share(a.iter().filter(is_there).map(BTreeSet::len).sum(), a.iter().map(BTreeSet::len).sum())
    });
    let found = scores(&place.rows(command));
    let keys = |pairs: &BTreeMap<(String, String), (f64, f64)>| pairs.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&found), keys(&expected));
    for (pair, (score, back)) in &expected {
        // `score_back` is not subject to the threshold: any contained sentence counts.
        assert!((found[pair].0 - score).abs() < 1e-9 && (found[pair].1 - back).abs() < 1e-9, "{pair:?}");
    }
}

#[test]
fn codet_scores_the_beginnings_that_sentences_share() {
    let documents = documents(50, 3);
    let place = Place::with([("news.jsonl", &jsonl(&documents, |_| json!({})))]);
    let mut df: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, sentences) in &documents {
        for word in with_article(sentences).concat().into_iter().collect::<BTreeSet<_>>() {
            *df.entry(word).or_default() += 1;
        }
    }
    let idf = |word: &str| share(documents.len(), df[word]).ln();
    for (options, depth, sorted) in [("", 5, true), (" --depth 2", 2, true), (" --unsorted", 5, false)] {
        let found = scores(&place.rows(&format!("containment news.jsonl --method codet --threshold 0.4{options}")));
        let paths = |sentences: &Sentences| -> Vec<Vec<&str>> {
            let path = |mut words: Vec<&'static str>| {
                if sorted {
                    words.sort_by(|a, b| df[a].cmp(&df[b]).then(a.cmp(b)));
                }
                words.truncate(depth);
                words
            };
            with_article(sentences).into_iter().map(path).collect()
        };
        let common = |a: &[&str], b: &[&str]| -> f64 {
            let same = a.iter().zip(b).take_while(|(a, b)| a == b);
            same.zip(1_u8..).map(|((word, _), depth)| f64::from(depth) * idf(word)).sum()
        };
        let sum = |a: &Sentences, b: &Sentences| -> f64 {
            let (a, b) = (paths(a), paths(b));
            a.iter().map(|a| b.iter().map(|b| common(a, b)).sum::<f64>()).sum()
        };
        let expected = all_pairs(&documents, 0.4, |a, b| (sum(a, b) / sum(a, a)).min(1.0));
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{options}");
        for (pair, (score, back)) in &expected {
            // The idf is rounded to a millionth.
            assert!((found[pair].0 - score).abs() < 1e-4 && (found[pair].1 - back).abs() < 1e-4, "{pair:?} {options}");
        }
    }
}

#[test]
fn only_earlier_documents_contain_and_a_window_ends() {
    let copy = |sentences: usize| {
        (0..sentences).map(|i| format!("This is the sentence number {i} of the news.")).collect::<Vec<_>>().join(" ")
    };
    let news: String = [
        ("later", json!("2024-03-02T00:00:00Z"), 3),
        ("first", json!("2024-03-01T00:00:00Z"), 4),
        ("late", json!("2024-03-09T00:00:00Z"), 3),
        ("unknown", json!("some day"), 3),
        ("never", Value::Null, 3),
    ]
    .map(|(id, time, sentences)| format!("{}\n", json!({ "id": id, "text": copy(sentences), "at": time })))
    .concat();
    let place = Place::with([("news.jsonl", &news)]);
    let found = |options: &str| {
        let ended = place.run(format!("containment news.jsonl --threshold 0.5 --format ndjson {options}").trim_end());
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let rows = crate::program::json_lines(ended.text());
        (pairs(&rows).into_iter().map(|(a, b)| format!("{a} in {b}")).collect::<Vec<_>>(), ended.err)
    };
    let (all, said) = found("");
    assert_eq!(all.len(), 20, "{all:?}");
    assert!(!said.contains("when they came"), "{said}");
    let (in_time, said) = found("--time-column at");
    assert_eq!(in_time, ["late in first", "late in later", "later in first"]);
    assert!(said.contains("2 documents do not say when they came"), "{said}");
    assert_eq!(found("--time-column at --window 72h").0, ["later in first"]);
    let (both, _) = found("--time-column at --window 3days --later");
    assert_eq!(both, ["first in later", "later in first"]);
}

#[test]
fn years_and_times_before_1970_are_in_order_and_it_is_said_how_they_were_read() {
    let said = "It is a truth that the sea gives back what it has taken, though never to the one who lost it.";
    let place = Place::new();
    for (times, expected, note) in [
        // Whole numbers and text of four digits are years.
        ([json!(1789), json!(1850), json!(1799)], ["b in a", "b in c", "c in a"], "3 years (1789-01-01 to 1850-01-01)"),
        (
            [json!("1789"), json!("1850-06-01"), json!("1799/12")],
            ["b in a", "b in c", "c in a"],
            "1 days (1850-06-01 to 1850-06-01), 1 months (1799-12-01 to 1799-12-01), 1 years (1789-01-01 to 1789-01-01)",
        ),
        (
            [json!("1914-08-04"), json!("1969-12-31T23:59:59Z"), json!("-0044-03-15")],
            ["a in c", "b in a", "b in c"],
            "2 days (-0044-03-15 to 1914-08-04), 1 times (1969-12-31 to 1969-12-31)",
        ),
    ] {
        let documents = ["a", "b", "c"].into_iter().zip(&times);
        let rows = documents
            .map(|(id, time)| format!("{}\n", json!({ "id": id, "at": time, "text": format!("{id}. {said} {id}!") })));
        place.write("news.jsonl", rows.collect::<String>());
        let ended =
            place.run("containment news.jsonl --unit sentence --threshold 0.05 --time-column at --format ndjson");
        let rows = crate::program::json_lines(ended.text());
        let mut found: Vec<_> = pairs(&rows).into_iter().map(|(a, b)| format!("{a} in {b}")).collect();
        found.sort();
        assert_eq!(found, expected, "{times:?}");
        assert!(ended.err.contains(&format!("the times \"at\" are {note}")), "{}", ended.err);
    }
    place.write("news.jsonl", "{\"id\": \"a\", \"at\": \"31.12.1913\", \"text\": \"x\"}\n{\"id\": \"b\", \"at\": \"1914\", \"text\": \"x\"}\n");
    let ended = place.run("dedup news.jsonl --by exact --keep oldest:at -o clean");
    assert!(
        ended.err.contains("1 years (1914-01-01 to 1914-01-01), 1 without a time that can be read"),
        "{}",
        ended.err
    );
    assert_eq!(place.sql("SELECT id FROM 'clean/kept/*.parquet'"), [json!({"id": "b"})]);
}

#[test]
fn containers_are_looked_for_in_another_collection() {
    let documents = documents(80, 5);
    let (new, old) = documents.split_at(30);
    let place = Place::with([
        ("all.jsonl", &jsonl(&documents, |_| json!({}))),
        ("new.jsonl", &jsonl(new, |_| json!({}))),
        // One document is in both collections.
        ("old.jsonl", &jsonl(old.iter().chain(&new[..1]), |_| json!({}))),
        ("reference.jsonl", &jsonl(&documents, |_| json!({}))),
    ]);
    for options in [
        "--signature shingles:2",
        "--unit sentence --signature shingles:2",
        "--method codet --reference reference.jsonl",
        "--method simhash --distance 12 --reference reference.jsonl",
    ] {
        let all = scores(&place.rows(&format!("containment all.jsonl {options}")));
        let is_new = |id: &String| new.iter().any(|(new, _)| new == id);
        let is_old = |id: &String| !is_new(id) || *id == new[0].0;
        let expected: BTreeMap<_, _> = all.into_iter().filter(|((a, b), _)| is_new(a) && is_old(b)).collect();
        let found = scores(&place.rows(&format!("containment new.jsonl --against old.jsonl --same-ids {options}")));
        assert!(expected.len() > 3, "{options}: {}", expected.len());
        assert_eq!(found, expected, "{options}");
    }
}

#[test]
fn documents_of_two_collections_with_one_id_are_compared() {
    let text = "The quick brown fox jumps over the lazy dog.";
    let place = Place::with([
        ("new.jsonl", &crate::program::jsonl([("1", text), ("2", text)])),
        ("old.jsonl", &crate::program::jsonl([("1", &*format!("He said so. {text}")), ("2", text)])),
    ]);
    for options in ["", " --unit sentence", " --passages"] {
        let ended = place.run(&format!(
            "containment new.jsonl --against old.jsonl --same-ids --threshold 0.5 --format ndjson{options}"
        ));
        let rows: Vec<Value> = ended.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let found: Vec<_> = rows.iter().map(|row| (&row["contained"], &row["container"])).collect();
        let id = json!(["1", "2"]);
        // The second is the same document in both.
        assert_eq!(found, [(&id[0], &id[0]), (&id[0], &id[1]), (&id[1], &id[0])], "{options}");
        assert!(ended.err.contains("1 documents stand in both collections"), "{options}: {}", ended.err);
        assert!(rows.iter().all(|row| options != " --passages" || passages(row).len() == 1), "{rows:?}");
    }
}

#[test]
fn passages_are_gathered_in_little_memory() {
    let place = Place::new();
    let texts = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/licenses/texts.jsonl.gz");
    let line = format!("containment {texts} --passages --format ndjson");
    assert_eq!(place.ok(&format!("{line} --memory 256MiB")), place.ok(&line));
}

#[test]
fn the_rivals_find_a_copy_and_words_are_prepared() {
    let text = "Bugün İstanbul'da hava çok güzeldi ve insanlar sahilde uzun uzun yürüyüş yaptılar.";
    let more = format!("{text} Akşam saatlerinde ise şiddetli yağmur başladı ve herkes evine döndü.");
    let other = "Ankara'da yapılan toplantıda yeni bütçe tasarısı görüşüldü ve kabul edildi.";
    let loud = text.replace('i', "İ").replace('ı', "I").to_uppercase();
    let news: String = [("a", text), ("b", more.as_str()), ("c", other), ("d", loud.as_str())]
        .map(|(id, text)| format!("{}\n", json!({ "id": id, "text": text })))
        .concat();
    let place = Place::with([("news.jsonl", &news)]);
    let turkish = "--language tr --without-stop-words --truncate 5";
    for method in ["--signature shingles:4", "--signature sampled_shingles:4,3", "--method codet --threshold 0.5"] {
        let found = pairs(&place.rows(&format!("containment news.jsonl {method} {turkish}")));
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert!(found.contains(&pair("a", "b")) && found.contains(&pair("d", "a")), "{method}: {found:?}");
        assert!(!found.iter().any(|(a, b)| a == "c" || b == "c"), "{method}: {found:?}");
    }
    for method in ["--signature i_match_ranked:2,10", "--method simhash"] {
        let found = pairs(&place.rows(&format!("containment news.jsonl {method} {turkish}")));
        assert_eq!(found, BTreeSet::from([("a".into(), "d".into()), ("d".into(), "a".into())]), "{method}");
    }
}

/// Returns the words of a document with their start and end. The text is ASCII.
fn placed_words(sentences: &Sentences) -> Vec<(&'static str, usize, usize)> {
    let mut place = 0;
    let mut placed = Vec::new();
    for word in with_article(sentences).into_iter().flat_map(|words| [words, vec!["."]].concat()) {
        if word != "." {
            placed.push((word, place, place + word.len()));
            place += word.len();
        }
        place += 1;
    }
    placed
}

/// Returns, for each passage of a row, its characters in both documents, and its similarity.
fn passages(row: &Value) -> Vec<([usize; 4], f64)> {
    let span = |passage: &Value| {
        let number = |name: String| usize::try_from(passage[name].as_u64().unwrap()).unwrap();
        let four = |unit: &str| ["a_start", "a_end", "b_start", "b_end"].map(|end| number(format!("{unit}_{end}")));
        // The text is ASCII.
        assert_eq!(four("char"), four("byte"));
        (four("char"), passage["similarity"].as_f64().unwrap())
    };
    row["passages"].as_array().unwrap().iter().map(span).collect()
}

/// Checks that the passages of a row cover all maximal runs of at least `min_words` words that both documents have,
/// except those that `is_left_out` accepts. Returns the number of runs.
#[track_caller]
fn assert_covers_runs(
    row: &Value,
    a: &Sentences,
    b: &Sentences,
    min_words: usize,
    is_left_out: impl Fn(&[&str]) -> bool,
) -> usize {
    let (found, a, b) = (passages(row), placed_words(a), placed_words(b));
    let is_equal = |i: usize, j: usize| i < a.len() && j < b.len() && a[i].0 == b[j].0;
    let mut runs = 0;
    for (i, j) in (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j))) {
        let length = (0..).take_while(|k| is_equal(i + k, j + k)).count();
        if length < min_words || (i > 0 && j > 0 && is_equal(i - 1, j - 1)) {
            continue;
        }
        let words: Vec<_> = a[i..i + length].iter().map(|word| word.0).collect();
        let run = [a[i].1, a[i + length - 1].2, b[j].1, b[j + length - 1].2];
        let is_covered = found.iter().any(|([a_start, a_end, b_start, b_end], _)| {
            *a_start <= run[0] && run[1] <= *a_end && *b_start <= run[2] && run[3] <= *b_end
        });
        assert!(is_covered || is_left_out(&words), "{run:?} {words:?} {row}");
        runs += 1;
    }
    runs
}

/// Makes documents like [`documents`], with many different words.
fn documents_of_many_words(count: usize, seed: u64) -> Vec<(String, Sentences)> {
    let words: Vec<&'static str> = include_str!("../data/licenses/README.md").split_whitespace().collect();
    let words: Vec<_> = words.into_iter().filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic())).collect();
    let mut dice = Dice(seed);
    let mut other = BTreeMap::new();
    documents(count, seed)
        .into_iter()
        .map(|(id, sentences)| {
            let mut changed = |sentence: Vec<&'static str>| {
                let new = || (0..4 + dice.below(8)).map(|_| words[dice.below(words.len())]).collect::<Vec<_>>();
                other.entry(sentence).or_insert_with(new).clone()
            };
            (id, sentences.into_iter().map(&mut changed).collect())
        })
        .collect()
}

#[test]
fn passages_cover_the_runs_of_words_that_both_have() {
    let documents = documents_of_many_words(60, 8);
    let place = Place::with([("news.jsonl", &jsonl(&documents, |i| json!({ "at": 1_700_000_000 + i })))]);
    let by_id: BTreeMap<_, _> = documents.iter().map(|(id, sentences)| (id.as_str(), sentences)).collect();
    for (options, min_words) in [
        ("--signature shingles:2 --threshold 0.3", 8),
        ("--method codet --threshold 0.3 --time-column at --min-words 3", 3),
        ("--method simhash --distance 12 --min-words 12", 12),
        ("--unit sentence --signature shingles:2 --sentence-threshold 0.6 --threshold 0.4", 8),
    ] {
        let rows = place.rows(&format!("containment news.jsonl {options} --passages"));
        let without = options.split(" --min-words").next().unwrap();
        let without = place.rows(&format!("containment news.jsonl {without}"));
        assert_eq!(scores(&rows), scores(&without), "{options}");
        assert!(without.iter().all(|row| row.get("passages").is_none()));
        let mut runs = 0;
        for row in &rows {
            let of = |column: &str| by_id[row[column].as_str().unwrap()];
            let (a, b) = (of("contained"), of("container"));
            runs += assert_covers_runs(row, a, b, min_words, |_| false);
            for ([a_start, a_end, b_start, b_end], similarity) in passages(row) {
                let words = |sentences: &Sentences, start: usize, end: usize| {
                    placed_words(sentences).iter().filter(|word| start <= word.1 && word.2 <= end).count()
                };
                assert!(words(a, a_start, a_end).min(words(b, b_start, b_end)) >= min_words, "{options}: {row}");
                assert!((0.8..=1.0).contains(&similarity), "{options}: {row}");
            }
        }
        assert!(rows.len() > 20 && runs > 20, "{options}: {} {runs}", rows.len());
    }
}

#[test]
fn frequent_words_found_no_passages_and_are_counted() {
    let vocabulary = ["sun", "moon", "star", "comet"];
    let mut dice = Dice(9);
    // Sentences of one word, so that many stand more than once.
    let mut document = |i: usize| {
        let (words, sentences) = if i.is_multiple_of(2) { (2, 16) } else { (4, 12) };
        (format!("d{i:02}"), (0..sentences).map(|_| vec![vocabulary[dice.below(words)]]).collect())
    };
    let documents: Vec<(String, Sentences)> = (0..50).map(&mut document).collect();
    let place = Place::with([("news.jsonl", &jsonl(&documents, |_| json!({})))]);
    let by_id: BTreeMap<_, _> = documents.iter().map(|(id, sentences)| (id.as_str(), sentences)).collect();
    let command =
        "containment news.jsonl --signature shingles:1 --threshold 0.9 --passages --min-words 5 --max-frequency 6";
    let ended = place.run(&format!("{command} --strict --format ndjson"));
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(ended.err.contains("runs of words make more pairs of places in two documents"), "{}", ended.err);
    let rows = crate::program::json_lines(ended.text());
    let (mut runs, mut capped) = (0, BTreeSet::new());
    for row in &rows {
        let of = |column: &str| by_id[row[column].as_str().unwrap()];
        let (a, b) = (of("contained"), of("container"));
        let words = |sentences: &Sentences| with_article(sentences).concat();
        let (in_a, in_b) = (words(a), words(b));
        let count = |words: &[&str], five: &[&str]| words.windows(5).filter(|other| *other == five).count();
        let is_frequent = |five: &&[&str]| count(&in_a, five) * count(&in_b, five) > 6;
        capped.extend(in_a.windows(5).filter(is_frequent).map(<[&str]>::to_vec));
        // Each run of five words is a fingerprint.
        runs += assert_covers_runs(row, a, b, 5, |run| run.windows(5).all(|five| is_frequent(&five)));
    }
    assert!(rows.len() > 50 && runs > 50 && !capped.is_empty(), "{} {runs} {capped:?}", rows.len());
    assert!(ended.err.contains(&format!("capped {}, ", capped.len())), "{capped:?} {}", ended.err);
    assert!(capped.iter().any(|words| ended.err.contains(&words.join(" "))), "{}", ended.err);
}

#[test]
fn passages_are_found_in_another_collection() {
    let short = "Die Brücke wurde im Jahr 1901 gebaut.\n* * *\nSie ist aus Stein und Holz.";
    let long = format!("Überschrift ohne Belang.\n{short}\nMehr ist von ihr nicht bekannt.");
    let document = |id: &str, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    let place = Place::with([
        ("new.jsonl", &document("short", short)),
        ("old.jsonl", &(document("long", &long) + &document("short", short))),
    ]);
    let rows = place.rows("containment new.jsonl --against old.jsonl --same-ids --passages");
    assert_eq!(pairs(&rows), BTreeSet::from([("short".into(), "long".into())]));
    let passage = &rows[0]["passages"][0];
    assert_eq!(rows[0]["passages"].as_array().unwrap().len(), 1, "{rows:?}");
    assert_eq!(passage["sentences"], 2);
    let cut = |text: &str, side: &str| {
        let at = |unit: &str, end: &str| {
            usize::try_from(passage[&format!("{unit}_{side}_{end}")].as_u64().unwrap()).unwrap()
        };
        let characters: String =
            text.chars().skip(at("char", "start")).take(at("char", "end") - at("char", "start")).collect();
        assert_eq!(characters, text[at("byte", "start")..at("byte", "end")]);
        characters
    };
    assert_eq!((cut(short, "a").as_str(), cut(&long, "b").as_str()), (short, short));
    let csv = place.fails(1, "containment new.jsonl --against old.jsonl --passages --format csv");
    assert!(csv.contains("--format ndjson or parquet"), "{csv}");
    place.fails(2, "containment new.jsonl --max-frequency 5");
    place.fails(2, "containment new.jsonl --min-words 5");
    // The documents share no passage word for word.
    let words: Vec<_> = long.split(' ').collect();
    let other = document("other", &words.iter().rev().copied().collect::<Vec<_>>().join(" "));
    place.write("old.jsonl", other);
    let rows =
        place.rows("containment new.jsonl --against old.jsonl --signature shingles:1 --threshold 0.5 --passages");
    assert_eq!((rows.len(), &rows[0]["passages"]), (1, &json!([])));
}

#[test]
fn the_script_that_is_shown_gives_the_same() {
    let place = Place::with([("news.jsonl", &jsonl(&documents(40, 6), |i| json!({ "at": 1_700_000_000 + i })))]);
    place.ok("ingest news.jsonl -o corpus --quiet");
    for options in [
        "--signature shingles:2 --language en --without-stop-words",
        "--unit sentence --signature shingles:2 --time-column at --window 10s",
        "--method codet --suffixes 2",
        "--method simhash --distance 8",
        "--signature shingles:2 --passages --max-frequency 2",
        "--unit sentence --signature shingles:2 --passages",
    ] {
        let command = format!("containment corpus {options}");
        let expected = place.ok(&format!("{command} --format ndjson"));
        assert!(expected.lines().count() > 2, "{options}");
        place.write("script.sql", place.ok(&format!("{command} --show-sql")));
        assert_eq!(place.ok("sql -f script.sql --format ndjson"), expected, "{options}");
    }
}

#[test]
fn mistakes_are_explained() {
    let place = Place::with([("news.jsonl", &jsonl(&documents(10, 7), |_| json!({})))]);
    for (options, said) in [
        ("--method codet --signature shingles:2", "--signature has no effect here"),
        ("--sentence-threshold 0.5", "--sentence-threshold has no effect here"),
        ("--time-column when", "there is no column \"when\""),
        ("--language xx --without-stop-words", "xx"),
        ("--method codet --reference none.parquet", "none.parquet"),
        ("--method codet --reference docs", "there is no file ./docs"),
        ("--threshold 0.01 --signature shingles:1 --max-pairs 1", "more than --max-pairs 1: leave out frequent words"),
    ] {
        let error = place.fails(1, &format!("containment news.jsonl {options}"));
        assert!(error.contains(said), "{options}: {error}");
    }
    for option in ["--window 72h", "--later"] {
        let error = place.fails(1, &format!("containment news.jsonl {option}"));
        assert!(error.contains("name the column with --time-column"), "{error}");
    }
    place.fails(2, "containment news.jsonl --time-column at --window 72");
    place.fails(2, "containment news.jsonl --without-stop-words");
}

/// The options for times. The first entry reads no times.
pub(crate) const TIMINGS: [&str; 4] =
    ["", "--time-column at", "--time-column at --window 10m", "--time-column at --window 10m --later"];

#[test]
fn batch_by_batch_is_one_run_by_every_method() {
    let methods = [
        "--signature shingles:2",
        "--unit sentence --signature shingles:2 --passages",
        "--method codet --reference all.jsonl",
        "--method simhash --distance 12 --reference all.jsonl",
    ];
    let mut dice = Dice(31);
    for (round, method) in splits(&methods, 2) {
        let documents = documents(80, 40 + round as u64);
        // Each time is a whole minute; the order is random, and some times are equal.
        let at: Vec<_> = documents.iter().map(|_| 1_700_000_000 + 60 * dice.below(60)).collect();
        let lines = jsonl(&documents, |i| json!({ "at": at[i] }));
        let place = Place::with([("all.jsonl", &lines)]);
        let mut matches = 0;
        for (number, timing) in TIMINGS.iter().enumerate() {
            let batches = 2 + dice.below(3);
            let mut split = vec![String::new(); batches];
            for (i, line) in lines.lines().enumerate() {
                split[if i < batches { i } else { dice.below(batches) }].push_str(&format!("{line}\n"));
            }
            let mut found = BTreeMap::new();
            for batch in &split {
                place.write("batch.jsonl", batch);
                let command = format!("containment index{number} {method} {timing} --add batch.jsonl");
                let rows = place.rows(command.replace("  ", " ").trim_end());
                let count = found.len() + rows.len();
                found.extend(scores(&rows));
                assert_eq!(found.len(), count, "{command}: a row was found twice");
            }
            let everything = place.rows(format!("containment all.jsonl {method} {timing}").trim_end());
            assert!(!everything.is_empty(), "{method} {timing}");
            matches += everything.len();
            assert_same(&found, &scores(&everything));
        }
        assert!(matches > 20, "{method}: {matches}");
    }
}

#[test]
fn a_window_reads_the_parts_that_are_in_it_and_the_index_knows_its_times() {
    let text = "This is the sentence of the news, and it is always the same.";
    let line = |id: &str, at: &str| format!("{}\n", json!({ "id": id, "text": text, "at": at }));
    let place = Place::with([
        ("january.jsonl", &line("january", "2024-01-01")),
        ("march.jsonl", &line("march", "2024-03-01")),
        ("april.jsonl", &line("april", "2024-04-01")),
        ("may.jsonl", &line("may", "2024-05-01")),
        ("again.jsonl", &(line("january", "2024-01-01") + &line("may", "2024-05-01"))),
    ]);
    let found = |batch: &str, options: &str| {
        let rows = place.rows(format!("containment index --add {batch}.jsonl {options}").trim_end());
        pairs(&rows).into_iter().map(|(a, b)| format!("{a} in {b}")).collect::<Vec<_>>()
    };
    assert!(found("january", "--time-column at").is_empty());
    assert!(found("march", "--window 40days").is_empty());
    assert_eq!(found("april", "--window 40days"), ["april in march"]);
    // Documents outside the window are still in the index.
    assert_eq!(found("again", "--window 90days"), ["may in april", "may in march"]);
    let documents = place.sql("SELECT count(*) AS n FROM 'index/documents.parquet'");
    assert_eq!(documents[0]["n"], json!(4));
    place.ok("gc index --window 40days --grace 0s");
    assert_eq!(place.sql("SELECT count(*) AS n FROM 'index/documents.parquet'")[0]["n"], json!(2));
    // Without times there is no window.
    place.ok("containment timeless --add april.jsonl");
    let error = place.fails(1, "containment timeless --add may.jsonl --window 3days");
    assert!(error.contains("--window") && error.contains("--time-column"), "{error}");
}
