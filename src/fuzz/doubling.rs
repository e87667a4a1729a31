//! Tests that functions and parsers take time in proportion to the length of texts that are made to keep them busy.
//!
//! `_RJEM_MALLOC_CONF=oversize_threshold:0,dirty_decay_ms:-1 IBID_DOUBLING=1 cargo test --release -- doubling --nocapture`
//! measures up to a million characters, on an idle machine; without the variable, texts are shorter, and only quadratic
//! code takes too long. The allocator is told to keep freed memory: otherwise it returns arrays of 8 MiB and more at
//! once, and the time to fetch pages from that length on is up to 2.46 times as much for twice the text.
//!
//! Some take longer by their documentation, and are held to that: `differences`, and `reuse_kind`, which aligns two
//! texts in the same way, take n·√n steps for n words, and `edited_passages` has up to 16 million products to add
//! besides. `edit_similarity` is not measured: it takes the square of the length until it gives up, and its own tests
//! hold it to that.

use std::f64::consts::SQRT_2;
use std::time::Duration;

use cpu_time::ThreadTime;
use datafusion::logical_expr::ColumnarValue;
use ibid_wikitext::{Converter, Site};
use serde_json::json;

use super::functions::{
    call, codebook, count_sentences, elements, find_edited, find_shared, fraction, frequencies, number, of, text, texts,
};
use crate::corpus::Format;
use crate::corpus::fuzz::timed;

/// The maximum ratio of the time for twice the text.
const MOST: f64 = 2.3;

/// The maximum time for 16 million products and what follows from them.
const PRODUCTS: Duration = Duration::from_secs(5);

/// The time below which a call is too short to be measured.
const SHORTEST: Duration = Duration::from_millis(20);

/// Returns texts of about `n` characters, by name.
fn shapes(n: usize) -> Vec<(&'static str, String)> {
    let of = |unit: &str| unit.repeat(n / unit.chars().count());
    let nested = |open: &str, close: &str| open.repeat(n / 2 / open.len()) + &close.repeat(n / 2 / close.len());
    let mut state = 1_u64;
    let mut random = |from: &[char]| -> String {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from[usize::try_from(state >> 33).unwrap() % from.len()]
        };
        (0..n).map(|_| next()).collect()
    };
    let marks: Vec<_> = " .,;:!?()[]{}<>\"'-/\\&#|=*_@\n\tabAB01é。“”中\u{301}\u{200d}".chars().collect();
    let letters: Vec<_> = "etaoin shrdlu. ".chars().collect();
    vec![
        ("one letter", of("a")),
        ("one capital", of("A")),
        ("digits", of("1")),
        ("spaces", of(" ")),
        ("line ends", of("\n")),
        ("full stops", of(".")),
        ("a. a. a.", of("a. ")),
        ("A. A. A.", of("A. ")),
        ("a.a.a", of("a.")),
        ("1. 1. 1.", of("1. ")),
        ("lists", of("\n1) a")),
        ("Dr. Dr. Dr.", of("Dr. ")),
        ("question marks", of("?! ")),
        ("nested brackets", nested("(", ")")),
        ("open brackets", of("(")),
        ("closed brackets", of(")")),
        ("quotes", of("\"")),
        ("quotes and stops", of(".\" ")),
        ("apostrophes", of("'")),
        ("nested quotes", nested("“", "”")),
        ("hyphens", of("a-")),
        ("combining marks", "a".to_owned() + &of("\u{301}")),
        ("marks in two orders", "a".to_owned() + &of("\u{323}\u{307}")),
        ("falling marks", "a".to_owned() + &"\u{307}".repeat(n / 2) + &"\u{323}".repeat(n / 2)),
        ("Chinese", of("中")),
        ("Chinese sentences", of("中。")),
        ("Chinese text", of("我们在北京大学生前来应聘")),
        ("Japanese", of("カタカナ")),
        ("Thai", of("สวัสดีครับ")),
        ("Korean", of("한")),
        ("emoji", of("👩\u{200d}")),
        ("flags", of("🇩")),
        ("addresses", of("http://a.b/c.d?e=f ")),
        ("one address", "http://".to_owned() + &of("a.")),
        ("mail", of("a@b.c ")),
        ("[[[[", of("[")),
        ("[[a|", of("[[a|")),
        ("[[a]]", of("[[a]] ")),
        ("nested links", nested("[[", "]]")),
        ("{{{{", of("{")),
        ("{{a|", of("{{a|")),
        ("nested templates", nested("{{", "}}")),
        ("tables", of("{|\n|")),
        ("bars", of("|")),
        ("italics", of("''a'''b")),
        ("headings", of("=a=\n")),
        ("equals", of("=")),
        ("stars", of("*")),
        ("<<<<", of("<")),
        ("<a <a", of("<a ")),
        ("<a>", of("<a>")),
        ("</a", of("</a")),
        ("<!--", of("<!--")),
        ("<ref>", of("<ref>")),
        ("<ref>a</ref>", of("<ref>a</ref>")),
        ("<nowiki>", of("<nowiki>")),
        ("attributes", "<a ".to_owned() + &of("b=c ")),
        ("&amp;", of("&amp;")),
        ("&&&&", of("&")),
        ("&#1", of("&#1")),
        ("one token repeated", of("word ")),
        ("numbered sentences", (0..n / 30).map(|k| format!("Words {} and {k} of them. ", k % 100)).collect()),
        ("semicolons", of(";")),
        ("dollars", of("$")),
        ("comments", of("/*")),
        ("backslashes", of("\\")),
        ("marks at random", random(&marks)),
        ("letters at random", random(&letters)),
    ]
}

/// A function to measure, and its name.
type Measured = (&'static str, fn(&str));

fn measured() -> Vec<Measured> {
    fn words(given: &str) -> ColumnarValue {
        of(call("words", vec![text(given)]))
    }
    fn hashes(given: &str) -> Vec<u64> {
        elements(&call("shingles", vec![words(given), number(1)]))
    }
    fn frequencies_of(hashes: Vec<u64>) -> ColumnarValue {
        let counts = (0..hashes.len()).map(|n| 1 + i64::try_from(n % 90).unwrap()).collect();
        frequencies(100, hashes, counts)
    }
    fn turned(given: &str) -> String {
        given.chars().rev().collect()
    }
    vec![
        ("sentences", |given| drop(call("sentences", vec![text(given)]))),
        ("words", |given| drop(words(given))),
        ("characters", |given| drop(call("characters", vec![text(given)]))),
        ("lines", |given| drop(call("lines", vec![text(given)]))),
        ("truncate_tokens", |given| drop(call("truncate_tokens", vec![words(given), number(5)]))),
        ("without_tokens", |given| drop(call("without_tokens", vec![words(given), texts(["a", "word"])]))),
        ("without_rarest", |given| {
            drop(call("without_rarest", vec![words(given), frequencies_of(hashes(given)), number(2)]));
        }),
        ("normalize", |given| drop(call("normalize", vec![text(given)]))),
        ("shingles", |given| drop(call("shingles", vec![words(given), number(3)]))),
        ("winnow", |given| drop(call("winnow", vec![words(given), number(3), number(1000)]))),
        ("skip_bigrams", |given| drop(call("skip_bigrams", vec![words(given), number(4)]))),
        ("subwords", |given| drop(call("subwords", vec![words(given), number(1000)]))),
        ("spot_sigs", |given| {
            drop(call("spot_sigs", vec![words(given), texts(["a", "word"]), number(2), number(3)]));
        }),
        ("minhash", |given| {
            drop(call("minhash", vec![of(call("shingles", vec![words(given), number(3)])), number(16)]));
        }),
        ("multiset", |given| drop(call("multiset", vec![words(given)]))),
        ("simhash", |given| {
            let shingles = call("shingles", vec![words(given), number(3)]);
            let frequencies = frequencies_of(elements(&shingles));
            drop(call("simhash", vec![of(shingles), frequencies]));
        }),
        ("i_match", |given| {
            drop(call("i_match", vec![words(given), frequencies_of(hashes(given)), fraction(25), fraction(255)]));
        }),
        ("i_match_ranked", |given| {
            let ranks = [number(2), number(10)];
            drop(call("i_match_ranked", [vec![words(given), frequencies_of(hashes(given))], ranks.to_vec()].concat()));
        }),
        ("trie_nodes", |given| {
            let limits = [number(2), number(10)];
            drop(call("trie_nodes", [vec![words(given), frequencies_of(hashes(given))], limits.to_vec()].concat()));
        }),
        ("weighted", |given| {
            let shingles = call("shingles", vec![words(given), number(3)]);
            let frequencies = frequencies_of(elements(&shingles));
            drop(call("weighted", vec![of(shingles), frequencies, number(8)]));
        }),
        ("bit_code", |given| {
            // The codebook has half of the words, and a hash that is none of them.
            let known: Vec<_> = hashes(given).into_iter().step_by(2).chain([u64::MAX]).collect();
            let codes = vec![vec![3, 0, 0, 0]; known.len()];
            drop(call("bit_code", vec![words(given), codebook(2, known, codes).unwrap()]));
        }),
        ("shared_words", |given| drop(find_shared(given, &turned(given)))),
        ("edited_passages", |given| {
            // All sentences as seeds, in two texts that are read one by one.
            let other = format!("b {given}");
            let sentences = count_sentences(given).min(count_sentences(&other));
            let seeds = (0..i32::try_from(sentences).unwrap()).map(|n| (n, n));
            drop(find_edited(given, &other, seeds, [fraction(25), number(4), number(20)]));
        }),
        ("differences", |given| drop(call("differences", vec![text(given), text(&turned(given))]))),
        ("reuse_kind", |given| drop(call("reuse_kind", vec![text(given), text(&turned(given))]))),
        ("html", timed::html),
        ("wikitext", |given| drop(Converter::default().convert(given, &Site::default()))),
        // The text as a value of a file, and as the file itself.
        ("text in JSON lines", |given| timed::record(&format!("{{\"text\": {}}}", json!(given)), Format::Jsonl)),
        ("JSON lines", |given| timed::record(given, Format::Jsonl)),
        ("text in CSV", |given| timed::record(&format!("text\n\"{}\"\n", given.replace('"', "\"\"")), Format::Csv)),
        ("CSV", |given| timed::record(given, Format::Csv)),
        ("TEI", |given| timed::record(&format!("<TEI><text><body>{given}"), Format::Tei)),
        ("dumps", |given| timed::record(&format!("<mediawiki><page><title>{given}"), Format::MediaWiki)),
    ]
}

/// Returns the maximum ratio of the time for twice the text, and the time that is allowed besides.
fn most(name: &str) -> (f64, Duration) {
    match name {
        "differences" | "reuse_kind" => (SQRT_2 * MOST, Duration::ZERO),
        "edited_passages" => (MOST, PRODUCTS),
        _ => (MOST, Duration::ZERO),
    }
}

/// Returns the CPU time that a call takes.
fn time(run: fn(&str), given: &str) -> Duration {
    let began = ThreadTime::now();
    run(given);
    began.elapsed()
}

#[test]
fn twice_the_text_takes_twice_the_time() {
    let is_measured = std::env::var_os("IBID_DOUBLING").is_some();
    let longest = if is_measured { 1_000_000 } else { 20_000 };
    let mut slow = Vec::new();
    let whole = shapes(longest);
    let halves = shapes(longest / 2);
    for (name, run) in measured() {
        let (most, besides) = most(name);
        let (mut worst, mut longest_time) = ((0.0, ""), (Duration::ZERO, ""));
        for ((shape, whole), (_, half)) in whole.iter().zip(&halves) {
            if !is_measured {
                // Code that is quadratic in this length takes minutes.
                let taken = time(run, whole);
                if taken.saturating_sub(besides) > Duration::from_secs(2) {
                    slow.push(format!("{name}, {shape}: {taken:?}"));
                }
                continue;
            }
            let mut best = f64::MAX;
            let mut taken = Duration::ZERO;
            // Measured anew where it seems too slow, since other programs can slow it down.
            for _ in 0..5 {
                taken = time(run, whole);
                if taken < SHORTEST {
                    break;
                }
                let in_proportion = taken.saturating_sub(besides);
                best = f64::min(best, in_proportion.as_secs_f64() / time(run, half).as_secs_f64());
                if best <= most {
                    break;
                }
            }
            longest_time = longest_time.max((taken, shape));
            if taken >= SHORTEST && best > worst.0 {
                worst = (best, shape);
            }
            if taken >= SHORTEST && best > most {
                slow.push(format!("{name}, {shape}: {best:.2} times, {taken:?}"));
            }
        }
        if is_measured {
            eprintln!("| {name} | {:.2} ({}) | {:?} ({}) |", worst.0, worst.1, longest_time.0, longest_time.1);
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
