//! The passages that the pipeline finds, compared with the paper's own algorithms and with expected ones by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Dice, Place, collection_jsonl, jsonl, times};

#[test]
fn the_papers_plan_finds_the_pairs_of_the_similarity_join() {
    let place = Place::new();
    place.write("made.jsonl", collection_jsonl(120, 1));
    place.ok("ingest made.jsonl -o made");
    let licences = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/licenses/texts.jsonl.gz");
    place.ok(&format!("ingest {licences} -o licences"));
    for (corpus, n) in [("made", 2), ("licences", 4)] {
        let signatures = format!(
            "CREATE TABLE signatures AS SELECT row_number() OVER (ORDER BY doc_id, sent) AS unit, 0 AS side, doc_id AS doc, \
             shingles(words(normalize(text)), {n}) AS set FROM '{corpus}/sentences.parquet' ORDER BY doc_id, sent LIMIT 3000"
        );
        for threshold in [0.5, 0.8, 0.9, 1.0] {
            let paper = concat!(env!("CARGO_MANIFEST_DIR"), "/../queries/pdc_mr/sentence_pairs.sql");
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
fn diagonals_of_similar_sentences_are_the_passages_of_the_papers_algorithms() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../queries/pdc_mr/passages.sql");
    for (seed, threshold, min_sentences) in [(1, 0.5, 3), (2, 0.8, 2), (3, 0.3, 1), (4, 1.0, 3)] {
        let place = Place::new();
        place.write("made.jsonl", collection_jsonl(60, seed));
        place.ok("ingest made.jsonl -o made");
        let pairs = format!(
            "CREATE TABLE pairs AS SELECT * FROM pairs('made', unit => 'sentence', signature => 'shingles:3', \
             threshold => {threshold:?})"
        );
        let sentences = format!("min_sentences={min_sentences}");
        let rows = place.run_with(["sql", "--format", "ndjson", "-c", &pairs, "-f", file, "-p", &sentences], "");
        let found: BTreeSet<_> = rows.text().lines().map(|row| run_of(&serde_json::from_str(row).unwrap())).collect();
        let expected = paper(&sentences_of(&place, "made"), threshold, min_sentences);
        assert!(expected.len() > 5, "too few passages to tell: {}", expected.len());
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// The two documents of a run, the sentences at which it begins, and its number of sentences.
type Run = (String, String, usize, usize, usize);

/// Returns the sets of the sentences of each document.
fn sentences_of(place: &Place, corpus: &str) -> BTreeMap<String, Vec<BTreeSet<u64>>> {
    let rows = place.sql(&format!(
        "SELECT doc_id, shingles(words(normalize(text)), 3) AS set FROM '{corpus}/sentences.parquet' ORDER BY doc_id, sent"
    ));
    let mut documents: BTreeMap<String, Vec<BTreeSet<u64>>> = BTreeMap::new();
    for row in rows {
        let set = row["set"].as_array().unwrap().iter().map(|hash| hash.as_u64().unwrap()).collect();
        documents.entry(row["doc_id"].as_str().unwrap().to_owned()).or_default().push(set);
    }
    documents
}

fn run_of(row: &Value) -> Run {
    let doc = |side: &str| row[format!("doc_{side}")].as_str().unwrap().to_owned();
    (doc("a"), doc("b"), number(row, "sent_a_start"), number(row, "sent_b_start"), number(row, "sentences"))
}

fn number(row: &Value, name: &str) -> usize {
    row[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_else(|| panic!("{name} of {row}"))
}

/// Computes PDC-MR: algorithm 1 gives the duplicated sentences of each pair of documents, algorithm 2 their diagonals.
fn paper(documents: &BTreeMap<String, Vec<BTreeSet<u64>>>, threshold: f64, min_sentences: usize) -> BTreeSet<Run> {
    let mut found = BTreeSet::new();
    for (a, sentences_a) in documents {
        for (b, sentences_b) in documents.range(a.clone()..).skip(1) {
            let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
            for (i, x) in sentences_a.iter().enumerate() {
                let similar = sentences_b.iter().enumerate().filter(|(_, y)| jaccard(x, y) >= threshold);
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
    const NOTICE: &str =
        "All rights are reserved by the publisher, and no part of this text may be copied without leave.";
    let place = Place::new();
    let mut dice = Dice(7);
    let documents = (0..DOCUMENTS).map(|i| (format!("d{i}"), format!("{NOTICE} {}", dice.sentence(9, 60_000))));
    place.write("many.jsonl", jsonl(documents));
    let run = |command: &str| {
        let began = Instant::now();
        let ended = place.run(&format!("{command} many.jsonl -o found.parquet"));
        println!("{command}: {:?}\n{}", began.elapsed(), ended.err);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(began.elapsed() < Duration::from_secs(60), "{command} took {:?}", began.elapsed());
        assert!(ended.err.contains("documents 200,000"), "{}", ended.err);
        ended.err
    };
    let summary = run("pairs --unit sentence --capped capped.csv");
    assert!(summary.contains("capped 1"), "{summary}");
    let capped = place.sql("SELECT text, df, pairs_not_made FROM 'capped.csv'");
    let expected = json!({
        "text": NOTICE,
        "df": DOCUMENTS,
        "pairs_not_made": DOCUMENTS * (DOCUMENTS - 1) / 2,
    });
    assert_eq!(capped, [expected]);
    let summary = run("passages --families families.parquet");
    assert!(summary.contains("families 1, documents in families 200,000"), "{summary}");
    // Some documents have the same two words after the notice by chance.
    assert!(place.sql("SELECT * FROM 'found.parquet'").len() < 100, "{summary}");
    let representatives = "SELECT count(*) AS places, count(*) FILTER (WHERE representative) AS representatives, \
                           min(similarity) AS similarity FROM 'families.parquet'";
    assert_eq!(place.sql(representatives), [json!({"places": DOCUMENTS, "representatives": 1, "similarity": 1.0})]);
    // Whole documents share only the elements of the sentence, which are not among the rarest elements of any document.
    let summary = run("pairs");
    assert!(summary.contains("pairs 0, capped 0"), "{summary}");
}

/// Makes words without an end of a sentence.
fn words(dice: &mut Dice, count: usize) -> String {
    let mut words = String::new();
    while words.split(' ').count() <= count {
        words.push_str(dice.sentence(12, 60_000).trim_start_matches("So ").trim_end_matches('.'));
        words.push(' ');
    }
    words.split(' ').take(count).collect::<Vec<_>>().join(" ")
}

/// Makes pages, each with a side bar that names the page, and with a text of its own.
fn pages(count: usize) -> Vec<(String, String)> {
    let mut dice = Dice(3);
    let bar: Vec<_> = (0..6).map(|_| dice.sentence(12, 3000)).collect();
    let page = |i: usize, dice: &mut Dice| {
        let bar: Vec<_> = bar.iter().map(|sentence| sentence.replacen("So", &format!("Page {i}: so"), 1)).collect();
        (format!("p{i:03}"), format!("{} {}.", bar.join(" "), words(dice, 60)))
    };
    (0..count).map(|i| page(i, &mut dice)).collect()
}

#[test]
fn a_side_bar_is_a_family_and_no_passage() {
    let place = Place::with([("in.jsonl", &jsonl(pages(40)))]);
    let ended = place.run("passages in.jsonl -o out/");
    assert!(ended.err.contains("passages 0, families 1, documents in families 40"), "{}", ended.err);
    let families = place.sql(
        "SELECT count(DISTINCT family_id) AS families, count(DISTINCT doc_id) AS documents, min(documents) AS said, \
         count(*) FILTER (WHERE representative) AS representatives, min(similarity) > 0.7 AS alike, \
         max(char_start) < 10 AND min(byte_end) > 200 AS whole FROM 'out/families.parquet'",
    );
    let expected = json!({
        "families": 1, "documents": 40, "said": 40, "representatives": 1, "alike": true, "whole": true,
    });
    assert_eq!(families, [expected]);
    let coverage = place.sql(
        "SELECT count(*) AS documents, count(closest) AS closest, sum(in_passages) AS in_passages, \
         bool_and(in_families = reused AND reused > 200 AND reused < characters - 100) AS right \
         FROM 'out/coverage.parquet'",
    );
    assert_eq!(coverage, [json!({"documents": 40, "closest": 0, "in_passages": 0, "right": true})]);
    place.ok("verify out");
    // If any text may found passages, all pages are paired.
    let every = place.run("passages in.jsonl --common none -o all.parquet").err;
    assert!(every.contains("passages 780, families 0"), "{every}");
    let refused = place.fails(1, "passages in.jsonl --common none --max-pairs 1000");
    assert!(refused.contains("lower --common, so that more text makes families"), "{refused}");
}

#[test]
fn common_text_beside_rare_text_belongs_to_a_passage() {
    let mut pages = pages(40);
    let mut dice = Dice(5);
    let quote = words(&mut dice, 30);
    for i in [4, 9] {
        let page = &mut pages[i].1;
        let at = page.rfind(". ").unwrap() + 2;
        page.insert_str(at, &format!("{quote}. "));
    }
    let place = Place::with([("in.jsonl", &jsonl(pages.clone()))]);
    place.ok("passages in.jsonl -o found.parquet --coverage coverage.csv");
    let rows = place.sql("SELECT doc_a, doc_b, char_a_start, char_a_end FROM 'found.parquet'");
    assert_eq!((rows.len(), &rows[0]["doc_a"], &rows[0]["doc_b"]), (1, &json!("p004"), &json!("p009")));
    // The passage begins in the side bar.
    let quoted = pages[4].1.find(&quote).unwrap();
    assert!(number(&rows[0], "char_a_start") < 10, "{rows:?}");
    assert!(number(&rows[0], "char_a_end") >= quoted + quote.len(), "{rows:?}");
    let closest = place.sql("SELECT doc_id, closest FROM 'coverage.csv' WHERE closest IS NOT NULL ORDER BY doc_id");
    assert_eq!(closest, [json!({"doc_id": "p004", "closest": "p009"}), json!({"doc_id": "p009", "closest": "p004"})]);
}

#[test]
fn one_document_that_quotes_what_many_have_gets_its_sources() {
    let mut dice = Dice(11);
    let quote = words(&mut dice, 40);
    let sources =
        (0..25).map(|i| (format!("s{i:02}"), format!("{}. {quote}. {}", words(&mut dice, 50), words(&mut dice, 50))));
    let place = Place::with([("sources.jsonl", jsonl(sources.collect::<Vec<_>>()).as_str())]);
    place.write("one.jsonl", jsonl([("quoting", format!("{}. {quote}.", words(&mut dice, 50)))]));
    let found = place.rows("passages one.jsonl --against sources.jsonl");
    assert_eq!(found.len(), 25);
    assert!(found.iter().all(|row| row["doc_a"] == "quoting"));
    // Within the sources alone, the quote is in many documents.
    let among = place.run("passages sources.jsonl -o found.parquet").err;
    assert!(among.contains("passages 0, families 1, documents in families 25"), "{among}");
}

/// Makes a licence, a quote, and three documents with the licence. Two of them have the same word of it changed, and
/// the quote.
fn licensed() -> (String, String, Vec<(&'static str, String)>) {
    let mut dice = Dice(29);
    let (licence, quote) = (words(&mut dice, 120), words(&mut dice, 40));
    let mut changed: Vec<_> = licence.split(' ').collect();
    changed[60] = "amended";
    let changed = changed.join(" ");
    let mut own = || words(&mut dice, 40);
    let documents = vec![
        ("a", format!("{}. {licence}. {}", own(), own())),
        ("b", format!("{}. {changed}. {quote}. {}", own(), own())),
        ("c", format!("{}. {changed}. {}. {quote}.", own(), own())),
    ];
    (licence, quote, documents)
}

#[test]
fn text_to_ignore_makes_families_and_founds_no_passage() {
    let (licence, quote, documents) = licensed();
    let place = Place::with([("in.jsonl", &jsonl(documents.clone())), ("licence.txt", &licence)]);
    assert_eq!(place.rows("passages in.jsonl").len(), 3);
    let ended = place.run("passages in.jsonl --ignore licence.txt -o out/");
    let said = "documents 3, ignored documents 1, document pairs 1, passages 1, families 1, documents in families 3";
    assert!(ended.err.contains(said), "{}", ended.err);
    let rows = place.sql("SELECT * FROM 'out/passages.parquet'");
    assert_eq!((&rows[0]["doc_a"], &rows[0]["doc_b"]), (&json!("b"), &json!("c")));
    for (side, document) in [("a", &documents[1].1), ("b", &documents[2].1)] {
        let [start, end] = ["start", "end"].map(|end| number(&rows[0], &format!("byte_{side}_{end}")));
        assert!(document[start..end].contains(quote.trim()), "{side}: {}", &document[start..end]);
    }
    let families = place.sql(
        "SELECT count(*) AS places, bool_and(ignored) AS ignored, min(char_end - char_start) AS shortest \
         FROM 'out/families.parquet'",
    );
    assert!(number(&families[0], "shortest") >= licence.trim().len(), "{families:?}");
    assert_eq!((&families[0]["places"], &families[0]["ignored"]), (&json!(3), &json!(true)));
    let rows = place.sql("SELECT doc_a, doc_b FROM passages('in.jsonl', ignore => ['licence.txt'])");
    assert_eq!(rows, [json!({"doc_a": "b", "doc_b": "c"})]);
    let refused = place.fails(1, "passages in.jsonl --ignore licence.txt --profile edited");
    assert!(refused.contains("--ignore has no effect here"), "{refused}");
    place.write("none.jsonl", "");
    let refused = place.fails(1, "passages in.jsonl --ignore none.jsonl");
    assert!(refused.contains("cannot read the documents to ignore: there are no documents"), "{refused}");
}

#[test]
fn text_to_ignore_is_ignored_in_two_collections_and_in_what_is_added() {
    let (licence, _, documents) = licensed();
    let place = Place::with([("licence.txt", licence.as_str())]);
    for (id, text) in &documents {
        place.write(&format!("{id}.jsonl"), jsonl([(id, text)]));
    }
    for (own, other, count) in [("a", "b", 0), ("b", "c", 1)] {
        let rows = place.rows(&format!("passages {own}.jsonl --against {other}.jsonl --ignore licence.txt"));
        assert_eq!(rows.len(), count, "{own} {other}");
    }
    for (id, count) in [("a", 0), ("b", 0), ("c", 1)] {
        place.ok(&format!("passages index --add {id}.jsonl --ignore licence.txt -o new.parquet"));
        assert_eq!(place.sql("SELECT * FROM 'new.parquet'").len(), count, "{id}");
    }
}

#[test]
fn a_form_in_a_thousand_documents_makes_no_pairs() {
    let mut dice = Dice(31);
    let form = words(&mut dice, 100);
    let documents: Vec<_> = (0..1000).map(|i| (format!("d{i}"), format!("{form}. {}", words(&mut dice, 30)))).collect();
    let place = Place::with([("in.jsonl", &jsonl(documents)), ("form.txt", &form)]);
    let ended = place.run("passages in.jsonl --common none --max-pairs 1000 --ignore form.txt -o found.parquet");
    assert!(ended.err.contains("passages 0, families 1, documents in families 1,000"), "{}", ended.err);
}

#[test]
fn an_empty_text_to_ignore_changes_nothing() {
    let mut bytes = 0;
    for seed in 0..3 {
        let place = Place::with([("in.jsonl", &jsonl(with_banners(seed))), ("empty.txt", "")]);
        let run = |ignore: &str| {
            let files = "--families families.csv -o passages.csv";
            place.ok(&format!("passages in.jsonl --common 3 -q {files}{ignore}"));
            ["passages.csv", "families.csv"].map(|file| place.read(file))
        };
        let found = run("");
        bytes += found.iter().map(Vec::len).sum::<usize>();
        assert!(run(" --ignore empty.txt") == found, "seed {seed}");
    }
    assert!(bytes > 3000, "too little to tell: {bytes}");
}

#[test]
fn a_run_of_equal_words_is_found_wherever_it_lies() {
    let mut dice = Dice(19);
    for min_words in [1_usize, 3, 8, 15, 24] {
        let length = (min_words * 3).div_ceil(2);
        let mut documents = Vec::new();
        let mut runs = Vec::new();
        for i in 0..30 {
            let run = words(&mut dice, length);
            for side in ["a", "b"] {
                let (before, after) = (dice.below(60), dice.below(60));
                let text = format!("{} {run} {}", words(&mut dice, before), words(&mut dice, after));
                documents.push((format!("{i:02}{side}"), text.trim().to_owned()));
            }
            runs.push(run);
        }
        let place = Place::with([("in.jsonl", jsonl(documents.clone()).as_str())]);
        let rows = place.rows(&format!("passages in.jsonl --min-words {min_words}"));
        for (run, pair) in runs.iter().zip(documents.chunks(2)) {
            let [(id_a, a), (id_b, b)] = pair else { panic!("a pair") };
            let is_near = |row: &Value, side: &str, text: &str| {
                let words = |from: usize, to: usize| text[from.min(to)..from.max(to)].split_whitespace().count();
                let start = text.find(run.as_str()).unwrap();
                words(number(row, &format!("byte_{side}_start")), start) <= min_words.div_ceil(2)
                    && words(number(row, &format!("byte_{side}_end")), start + run.len()) <= min_words.div_ceil(2)
            };
            let mut of_pair = rows.iter().filter(|row| row["doc_a"] == **id_a && row["doc_b"] == **id_b);
            assert!(
                of_pair.clone().any(|row| is_near(row, "a", a) && is_near(row, "b", b)),
                "{min_words} words: {run}\n{a}\n{b}\n{:?}",
                of_pair.next()
            );
        }
    }
}

#[test]
fn passages_within_a_document_stand_apart() {
    let mut dice = Dice(23);
    let run = words(&mut dice, 30);
    let text = format!("{} {run} {} {run} {}", words(&mut dice, 40), words(&mut dice, 70), words(&mut dice, 40));
    let repeated = "all work and no play makes jack a dull boy ".repeat(60);
    let place = Place::with([("in.jsonl", jsonl([("a", &text), ("b", &repeated)]).as_str())]);
    assert_eq!(place.rows("passages in.jsonl"), Vec::<Value>::new());
    let rows = place.rows("passages in.jsonl --within-documents --common 100");
    let first = text.find(&run).unwrap();
    let second = text.rfind(&run).unwrap();
    let of_a: Vec<_> = rows.iter().filter(|row| row["doc_a"] == "a").collect();
    assert_eq!(of_a.len(), 1, "{rows:?}");
    assert_eq!([number(of_a[0], "byte_a_start"), number(of_a[0], "byte_b_start")], [first, second]);
    for row in &rows {
        assert_eq!(row["doc_a"], row["doc_b"]);
        assert!(number(row, "byte_a_end") <= number(row, "byte_b_start"), "{row}");
    }
}

/// Makes a collection with banners, quotes and edits.
fn with_banners(seed: u64) -> Vec<(String, String)> {
    let mut dice = Dice(seed);
    let banner = |dice: &mut Dice| (0..2 + dice.below(5)).map(|_| dice.sentence(14, 3000)).collect::<Vec<_>>();
    let banners: Vec<_> = (0..1 + dice.below(3)).map(|_| banner(&mut dice)).collect();
    let mut made: Vec<Vec<String>> = Vec::new();
    for number in 0..12 + dice.below(20) {
        let mut sentences: Vec<String> = (0..2 + dice.below(6)).map(|_| dice.sentence(14, 3000)).collect();
        if number > 0 && dice.below(2) == 0 {
            let source = &made[dice.below(number)];
            let from = dice.below(source.len());
            let mut quote = source[from..source.len().min(from + 1 + dice.below(5))].to_vec();
            if dice.below(2) == 0 {
                let edited = dice.below(quote.len());
                quote[edited] = quote[edited].replacen(' ', " indeed ", 1);
            }
            sentences.splice(dice.below(sentences.len()).., quote);
        }
        if dice.below(3) > 0 {
            let mut banner = banners[dice.below(banners.len())].clone();
            if dice.below(2) == 0 {
                banner = banner.iter().map(|line| line.replacen("So", &format!("Page {number} so"), 1)).collect();
            }
            let at = dice.below(sentences.len() + 1);
            sentences.splice(at..at, banner);
        }
        made.push(sentences);
    }
    made.into_iter().enumerate().map(|(i, sentences)| (format!("d{i:02}"), sentences.join(" "))).collect()
}

/// Returns the share of `whole` that lies in `parts`, or 1 if `whole` is empty.
fn covered(whole: [usize; 2], parts: &[[usize; 2]]) -> f64 {
    let lies_in = |at: usize| parts.iter().any(|part| part[0] <= at && at < part[1]);
    let [covered, all] = [(whole[0]..whole[1]).filter(|&at| lies_in(at)).count(), whole[1].saturating_sub(whole[0])]
        .map(|n| u32::try_from(n).unwrap());
    if all == 0 { 1.0 } else { f64::from(covered) / f64::from(all) }
}

/// Returns a range of an ASCII text without the first and the last `words` words.
fn within(text: &str, range: [usize; 2], words: usize) -> [usize; 2] {
    let starts: Vec<_> =
        text[range[0]..range[1]].split(' ').map(|word| word.as_ptr() as usize - text.as_ptr() as usize).collect();
    match (starts.get(words), starts.len().checked_sub(words).and_then(|last| starts.get(last))) {
        (Some(&start), Some(&end)) if start < end => [start, end - 1],
        _ => [range[0], range[0]],
    }
}

#[test]
fn what_is_found_without_a_limit_lies_in_passages_or_families() {
    /// The number of words that a sample of fingerprints may miss at either end of a run.
    const MARGIN: usize = 11;
    // The number of passages, and the number of them that are covered to nine tenths.
    let (mut equal, mut near) = ([0, 0], [0, 0]);
    for seed in 0..times("IBID_COVERED", 12) as u64 {
        let documents: BTreeMap<String, String> = with_banners(seed).into_iter().collect();
        let place = Place::with([("in.jsonl", jsonl(&documents).as_str())]);
        let all = place.rows("passages in.jsonl --common none");
        place.ok("passages in.jsonl --common 3 -o out/");
        let passages = place.sql("SELECT * FROM 'out/passages.parquet'");
        let families = place.sql("SELECT * FROM 'out/families.parquet'");
        for row in &all {
            let range = |row: &Value, side: &str| ["start", "end"].map(|end| number(row, &format!("char_{side}{end}")));
            let doc = |side: &str| row[format!("doc_{side}")].as_str().unwrap();
            let parts = |side: &str, other: &str| {
                let of_pair =
                    passages.iter().filter(|passage| ["doc_a", "doc_b"].iter().all(|doc| passage[*doc] == row[*doc]));
                let family = |place: &Value| place["family_id"].as_str().unwrap().to_owned();
                let theirs: BTreeSet<_> =
                    families.iter().filter(|place| place["doc_id"] == doc(other)).map(family).collect();
                let ours =
                    families.iter().filter(|place| place["doc_id"] == doc(side) && theirs.contains(&family(place)));
                let of_pair = of_pair.map(|passage| range(passage, &format!("{side}_")));
                of_pair.chain(ours.map(|place| range(place, ""))).collect::<Vec<_>>()
            };
            let sides = [("a", "b"), ("b", "a")].map(|(side, other)| {
                let (text, whole) = (documents[doc(side)].as_str(), range(row, &format!("{side}_")));
                let parts = parts(side, other);
                let core = covered(within(text, whole, MARGIN), &parts);
                (&text[whole[0]..whole[1]], covered(whole, &parts), core)
            });
            let is_equal = sides[0].0 == sides[1].0;
            let counts = if is_equal { &mut equal } else { &mut near };
            counts[0] += 1;
            counts[1] += usize::from(sides.iter().all(|side| side.1 >= 0.9));
            // A run of that many words has a sampled fingerprint of its own, whatever the words around it.
            if is_equal && sides[0].0.split_whitespace().count() >= 22 {
                let is_covered = sides.iter().all(|side| side.1 >= 0.9 || side.1 > 0.0 && side.2 >= 1.0);
                assert!(is_covered, "seed {seed}: {row}\n{sides:?}\n{passages:?}\n{families:?}");
            }
        }
    }
    println!(
        "nine tenths are covered of {} of {} equal passages, and of {} of {} others",
        equal[1], equal[0], near[1], near[0]
    );
    for ([all, covered], hundredths) in [(equal, 95), (near, 85)] {
        assert!(all > 20 && covered * 100 >= all * hundredths, "{equal:?}, {near:?}");
    }
}
