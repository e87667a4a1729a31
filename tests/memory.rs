//! The memory of commands on more text than they may take memory.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{Ended, Place, collection, jsonl, times, watch};

/// The maximum time of a command.
const LONGEST: Duration = Duration::from_secs(7200);

/// The number of documents that are made at a time.
const SOME: usize = 20_000;

/// Writes `mib` MiB of texts, seed after seed; some texts are repeated with one more word. Returns the number of
/// documents.
fn write_texts(place: &Place, mib: u64, seeds: impl IntoIterator<Item = u64>) -> usize {
    let mut file = BufWriter::new(File::create(place.path("texts.jsonl")).unwrap());
    let (mut made, mut made_of): (Vec<(String, String)>, _) = (Vec::new(), None);
    let (mut bytes, mut documents) = (0, 0);
    for seed in seeds {
        if bytes >= mib << 20 {
            break;
        }
        if made_of.replace(seed) != Some(seed) {
            let texts = collection(SOME, seed).into_iter();
            made = texts.map(|(id, sentences)| (id, sentences.join(" "))).collect();
            let some = made.iter().step_by(50);
            let copies: Vec<_> =
                some.map(|(id, text)| (format!("{id}-copy"), text.replacen(' ', " indeed ", 1))).collect();
            made.extend(copies);
        }
        let lines = jsonl(made.iter().map(|(id, text)| (format!("{documents}-{id}"), text)));
        file.write_all(lines.as_bytes()).unwrap();
        bytes += lines.len() as u64;
        documents += made.len();
    }
    file.into_inner().unwrap();
    documents
}

/// Runs a command that may take `memory` MiB, and checks that it takes at most a quarter more.
fn run_within(place: &Place, line: &str, memory: u64) -> Ended {
    let began = Instant::now();
    let mut command = place.command(format!("{line} --memory {memory}MiB").split(' '));
    // A stream reads the texts from standard input.
    command.stdin(File::open(place.path("texts.jsonl")).map_or_else(|_| Stdio::null(), Stdio::from));
    let (ended, peak) = watch(command, LONGEST);
    eprintln!(
        "{line} --memory {memory}MiB: exit code {:?}, {peak} MiB, {:.0} s",
        ended.code,
        began.elapsed().as_secs_f64()
    );
    assert!(peak <= memory * 5 / 4, "{line}: {peak} MiB; {}", ended.err);
    ended
}

/// A query for 600 MB of texts, as string views.
const TEXTS: &str = "(SELECT value, arrow_cast(repeat(md5(CAST(value AS VARCHAR)), 32), 'Utf8View') AS text \
                     FROM generate_series(1, 600000))";

#[test]
#[ignore = "long: make test-long PART=memory"]
fn a_numbering_does_not_hold_the_texts() {
    let place = Place::new();
    let query = format!("SELECT row_number() OVER (ORDER BY value DESC) AS number, text FROM {TEXTS}");
    place.write("number.sql", format!("SELECT max(number) AS n, count(DISTINCT left(text, 8)) AS d FROM ({query})"));
    let ended = run_within(&place, "sql -f number.sql --format csv", 256);
    assert_eq!(ended.text(), "n,d\n600000,599954\n", "{}", ended.err);
}

/// Memory that operators and functions do not reserve counts in the memory of the process.
#[test]
fn what_is_not_reserved_ends_the_run() {
    let place = Place::new();
    place.write("window.sql", format!("SELECT text, sum(value) OVER () AS sum FROM {TEXTS} ORDER BY value"));
    place.write("list.sql", "SELECT cardinality(range(200000000)) AS n");
    place.write("out.csv", "the old result");
    for (script, said) in [("window.sql", "WindowAggExec"), ("list.sql", "a quarter above the 256.0 MiB")] {
        let ended = place.run_with(["sql", "-f", script, "-o", "out.csv", "--memory", "256MiB"], "");
        assert_eq!(ended.code, Some(1), "{script}: {}", ended.err);
        assert!(ended.err.contains(said) && ended.err.contains("raise --memory"), "{script}: {}", ended.err);
        assert_eq!(place.read("out.csv"), b"the old result");
    }
}

#[test]
#[ignore = "long: make test-long PART=memory"]
fn ingest_of_ten_times_the_memory() {
    let memory = times("IBID_MEMORY", 128) as u64;
    let place = Place::new();
    let documents = write_texts(&place, 10 * memory, std::iter::repeat(1));
    let ended = run_within(&place, "ingest texts.jsonl -o corpus", memory);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let counted = place.sql("SELECT count(*) AS n, count(DISTINCT doc_id) AS d FROM 'corpus/documents.parquet'");
    assert_eq!(counted[0]["n"], documents);
    assert_eq!(counted[0]["d"], documents);
}

/// Regression: judged documents were not added, because the process was ended while it wrote the last part, with the
/// documents still in memory.
#[test]
#[ignore = "long: make test-long PART=memory"]
fn a_stream_of_more_than_memory_adds_what_it_judged() {
    let place = Place::new();
    write_texts(&place, 32, 1..);
    let ended = run_within(&place, "containment index --add -", 128);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains(" documents in memory take ") && ended.err.contains("--memory"), "{}", ended.err);
    let added = place.sql("SELECT count(*) AS n FROM 'index/documents.parquet'");
    assert_eq!(added[0]["n"], ended.text().lines().count());
}

/// Regression: the memory of learning was not reserved, so the process was ended with an error that named no operator.
#[test]
#[ignore = "long: make test-long PART=memory"]
fn what_codes_are_learned_from_is_reserved() {
    let place = Place::new();
    write_texts(&place, 8, 1..);
    for (line, said) in [
        ("codes learn texts.jsonl --top 30000 --bits 256 -o codes.csv", "LearnCodes"),
        ("codes compare texts.jsonl --top 30000 --bits 256 -o codes.csv", "LearnCodes"),
    ] {
        let ended = run_within(&place, line, 128);
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.err);
        assert!(ended.err.contains(said) && ended.err.contains("raise --memory"), "{line}: {}", ended.err);
        assert!(!place.path("codes.csv").exists());
    }
}

/// A command on the texts, and the file that it writes.
type Method = (&'static str, &'static str);

const PAIRS: Method = ("pairs corpus -o OUT.csv", "OUT.csv");

/// The passages, without sentences that occur in many documents.
const PASSAGES: Method = ("passages corpus -o OUT.csv", "OUT.csv");

const OTHERS: [Method; 10] = [
    ("clusters corpus -o OUT", "OUT/clusters.parquet"),
    ("search corpus --queries queries.jsonl -o OUT.csv", "OUT.csv"),
    ("threads texts.jsonl --field text=1 -o OUT.csv", "OUT.csv"),
    ("pairs corpus --unit sentence -o OUT.csv", "OUT.csv"),
    ("containment corpus -o OUT.csv", "OUT.csv"),
    ("pairs OUT-pairs --add corpus -o OUT.csv", "OUT.csv"),
    ("containment OUT-containment --add corpus -o OUT.csv", "OUT.csv"),
    ("containment OUT-stream --add -", ""),
    ("codes learn corpus -o OUT.parquet", "OUT.parquet"),
    ("explain passages corpus", ""),
];

#[test]
#[ignore = "long: make test-long PART=memory"]
fn pairs_of_ten_times_the_memory() {
    assert_eq!(run_methods_within(times("IBID_MEMORY", 160) as u64, 10, &[PAIRS]), 1);
}

#[test]
#[ignore = "long: make test-long PART=memory"]
fn passages_of_ten_times_the_memory() {
    assert_eq!(run_methods_within(times("IBID_MEMORY", 192) as u64, 10, &[PASSAGES]), 1);
}

/// Runs the first of the other commands on as much text as memory, which is a tenth of the memory that they take
/// without a limit. One environment variable sets the amount of text, another one the number of commands.
#[test]
#[ignore = "long: make test-long PART=memory"]
fn other_methods_on_as_much_text_as_memory() {
    let methods = &OTHERS[..times("IBID_MEMORY_METHODS", 2)];
    run_methods_within(times("IBID_MEMORY", 128) as u64, times("IBID_MEMORY_TIMES", 1) as u64, methods);
}

/// Runs methods on `more` times as much text as they may take memory. A method may fail if its error names the operator
/// and the remedy. Returns the number of methods that succeeded.
fn run_methods_within(memory: u64, more: u64, methods: &[Method]) -> usize {
    let place = Place::new();
    write_texts(&place, more * memory, 1..);
    let texts = collection(SOME, 1).into_iter().take(2000);
    place.write("queries.jsonl", jsonl(texts.map(|(id, sentences)| (id, sentences[0].clone()))));
    let ended = run_within(&place, "ingest texts.jsonl -o corpus", memory);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let mut done = 0;
    for (method, written) in methods {
        let run = |out: &str, memory| {
            let ended = run_within(&place, &method.replace("OUT", out), memory);
            let result = std::fs::read(place.path(written.replace("OUT", out)));
            // A stream writes to standard output.
            let result = if written.is_empty() { ended.out.clone() } else { result.unwrap_or_default() };
            (ended, result)
        };
        let (ended, with) = run("with", memory);
        if ended.code != Some(0) {
            eprintln!("{}", ended.err);
            assert_eq!(ended.code, Some(1));
            let names = |said: [&str; 2]| said.iter().all(|said| ended.err.contains(said));
            let is_named = names(["raise --memory", "consumed"]) || names(["--memory", " documents in memory take "]);
            assert!(is_named, "{}", ended.err);
            continue;
        }
        // A limit so high that it has no effect, except for ten times as much text.
        let (ended, without) = run("without", 40 * memory);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(with == without, "{method} gives other rows with little memory");
        done += 1;
    }
    done
}
