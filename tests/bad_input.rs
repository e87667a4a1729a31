//! Input that is broken, hostile or huge: the program's messages, its exit code, and its memory use.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Ended, Place, bzip2, gzip, json_lines, watch};

/// The maximum time of a run of the program, whatever its input.
const LONGEST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 600 } else { 300 });

/// Returns true if huge input is tried in its full size.
fn is_huge() -> bool {
    std::env::var_os("IBID_HUGE").is_some()
}

/// Returns the second size if huge input is tried, otherwise the first.
fn size(usual: usize, huge: usize) -> usize {
    if is_huge() { huge } else { usual }
}

/// Runs the program with the arguments of a line. The program must end by itself and report no internal error.
#[track_caller]
fn run(place: &Place, line: &str) -> (Ended, u64) {
    let began = Instant::now();
    let (ended, peak) = watch(place.command(line.split(' ')), LONGEST);
    if is_huge() {
        eprintln!("{line}: exit code {:?}, {peak} MiB, {:.1} s", ended.code, began.elapsed().as_secs_f64());
    }
    assert!(matches!(ended.code, Some(0 | 1)), "{line}: {:?}\n{}", ended.code, ended.err);
    assert!(!ended.err.contains("panicked") && !ended.err.contains("internal error"), "{line}\n{}", ended.err);
    (ended, peak)
}

fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::encode_all(data, 3).unwrap()
}

/// The expected outcome of reading a bad file.
enum Outcome {
    /// An error with this place and reason, and the number of documents that are left without the bad record.
    Left(&'static str, usize),
    /// An error with this place and reason, after which nothing is left.
    Nothing(&'static str),
    /// The number of documents of a file that is not bad.
    Fine(usize),
}

use Outcome::{Fine, Left, Nothing};

/// Returns JSON lines with this second line, and a document in each other line.
fn jsonl(line: impl AsRef<[u8]>) -> Vec<u8> {
    [b"{\"id\": \"a\", \"text\": \"First.\"}\n", line.as_ref(), b"\n{\"id\": \"c\", \"text\": \"Last.\"}\n"].concat()
}

fn csv(line: impl AsRef<[u8]>) -> Vec<u8> {
    [b"id,text\na,First.\n", line.as_ref(), b"\nc,Last.\n"].concat()
}

/// Returns a dump of three pages, with this text in the second page.
fn dump(text: impl AsRef<[u8]>) -> Vec<u8> {
    let page = |n: u8, text: &[u8]| {
        let head = format!("<page><title>P{n}</title><ns>0</ns><id>{n}</id><revision><id>{n}</id><text>");
        [head.as_bytes(), text, b"</text></revision></page>\n"].concat()
    };
    let pages = [page(1, b"First."), page(2, text.as_ref()), page(3, b"Last.")].concat();
    [b"<mediawiki xml:lang=\"en\">\n".as_slice(), &pages, b"</mediawiki>\n"].concat()
}

/// Returns texts that do not compress, as JSON lines.
fn many() -> Vec<u8> {
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let lines = (1..4000).map(|n| format!("{{\"text\": \"{:x}{:x}\"}}\n", number(n), number(n * n)));
    lines.collect::<String>().into_bytes()
}

fn cut(mut data: Vec<u8>) -> Vec<u8> {
    data.truncate(data.len() / 2);
    data
}

fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Returns `count` members of a JSON object, each with a comma.
fn keys(count: usize) -> String {
    (0..count).map(|n| format!("\"k{n}\": {n}, ")).collect()
}

/// Returns a Parquet file with the result of a query over two documents.
fn parquet(sql: &str) -> Vec<u8> {
    let place = Place::with([("in.csv", "id,text\na,One.\nb,Two.\n")]);
    let ended = place.run_with(["sql", sql, "-o", "out.parquet"], "");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    place.read("out.parquet")
}

/// Returns a Parquet file without rows, with a column nested in `depth` groups, and with more fields in the root of its
/// schema.
fn deep_parquet(depth: usize, root: &[u8]) -> Vec<u8> {
    let mut footer = vec![0x15, 4, 0x19, 0xFC];
    // The count is encoded with seven bits in each byte.
    let count = depth + 3;
    let byte = |shift: usize| u8::try_from(count >> shift & 0x7F).unwrap();
    footer.extend([byte(0) | 0x80, byte(7) | 0x80, byte(14)]);
    footer.extend([&[0x48, 1, b'r', 0x15, 4], root, &[0]].concat());
    footer.extend([0x15, 12, 0x25, 2, 0x18, 4, b't', b'e', b'x', b't', 0]);
    footer.extend([0x35, 2, 0x18, 1, b'g', 0x15, 2, 0].repeat(depth));
    footer.extend([0x15, 12, 0x25, 2, 0x18, 1, b'x', 0, 0x16, 0, 0x19, 0x0C, 0]);
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [&b"PAR1"[..], &footer, &length, b"PAR1"].concat()
}

/// Returns about `bytes` bytes of blank lines.
fn blank_lines(bytes: usize) -> String {
    (" ".repeat(4095) + "\n").repeat(bytes / 4096)
}

/// Every kind of broken file: its name, its content, and the expected outcome.
static BROKEN: LazyLock<Vec<(&str, Vec<u8>, Outcome)>> = LazyLock::new(broken);

fn broken() -> Vec<(&'static str, Vec<u8>, Outcome)> {
    let deep = |n: usize, open: &str, close: &str| open.repeat(n) + &close.repeat(n);
    let sound = parquet("SELECT id, text FROM 'in.csv'");
    let flipped = |at: usize| {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x40;
        bytes
    };
    let long = "long ".repeat(20_000);
    let mut unlike = gzip(jsonl(""));
    let checksum = unlike.len() - 8;
    unlike[checksum] ^= 1;
    vec![
        // JSON lines.
        ("text.jsonl", jsonl("nonsense"), Left("line 2, byte 31: not one JSON object (expected ident)", 2)),
        ("cut.jsonl", jsonl("{\"id\": \"b\", \"text\": \"Cu"), Left("line 2, byte 52: not one JSON object (EOF", 2)),
        ("list.jsonl", jsonl("[{\"id\": \"b\", \"text\": \"\"}]"), Left("line 2, byte 30: not one JSON object", 2)),
        ("two.jsonl", jsonl("{\"id\": \"b\", \"text\": \"\"} {}"), Left("(trailing characters)", 2)),
        (
            "nul.jsonl",
            jsonl("{\"id\": \"b\", \"text\": \"\0\"}"),
            Left("line 2, byte 51: not one JSON object (control", 2),
        ),
        ("nuls.jsonl", jsonl("\0\0\0\0"), Left("line 2, byte 30: not one JSON object", 2)),
        ("escaped-nul.jsonl", jsonl("{\"id\": \"b\", \"text\": \"\\u0000\"}"), Fine(3)),
        (
            "latin.jsonl",
            jsonl(b"{\"id\": \"b\", \"text\": \"caf\xE9\"}"),
            Left("line 2, byte 54: the byte 0xE9 is not", 2),
        ),
        ("surrogate.jsonl", jsonl("{\"id\": \"b\", \"text\": \"\\ud83d\"}"), Left("line 2, byte ", 2)),
        (
            "cesu.jsonl",
            jsonl(b"{\"id\": \"b\", \"text\": \"\xED\xA0\xBD\"}"),
            Left("line 2, byte 51: the byte 0xED", 2),
        ),
        ("number.jsonl", jsonl("{\"id\": \"b\", \"text\": \"\", \"n\": 1e999}"), Left("(number out of range)", 2)),
        ("deep.jsonl", jsonl(format!("{{\"x\": {}}}", deep(25_000, "[", "]"))), Left("(recursion limit exceeded)", 2)),
        (
            "long.jsonl",
            jsonl(format!("{{\"id\": \"b\", \"text\": \"{long}\"}}")),
            Left("line 2, byte 30: the line is longer", 2),
        ),
        (
            "keys.jsonl",
            jsonl(format!("{{{}\"id\": 1}}", keys(4_100))),
            Left("line 2, byte 30: it has more than 4096", 2),
        ),
        ("column.jsonl", b"{\"Text\": \"\"}\n".to_vec(), Nothing("it has no column \"text\"; its columns are Text")),
        ("no-id.jsonl", jsonl("{\"text\": \"Two.\"}"), Left("line 2, byte 30: the id, \"id\", is missing", 2)),
        ("null-id.jsonl", jsonl("{\"id\": null, \"text\": \"Two.\"}"), Left("the id, \"id\", is NULL", 2)),
        (
            "long-id.jsonl",
            jsonl(format!("{{\"id\": \"{}\", \"text\": \"\"}}", "b".repeat(20_000))),
            Left("line 2, byte 30: the id, \"id\", is longer than 16384 bytes", 2),
        ),
        ("long-id.csv", csv("b".repeat(20_000) + ","), Left("line 3, byte 17: the id, \"id\", is longer than", 2)),
        ("digits.jsonl", jsonl(format!("{{\"id\": {}, \"text\": \"\"}}", "9".repeat(300))), Fine(3)),
        ("mark.jsonl", [b"\xEF\xBB\xBF".as_slice(), &jsonl("")].concat(), Fine(2)),
        ("wide.jsonl", utf16("{\"text\": \"\"}\n"), Nothing("byte 0: it begins as a text in UTF-16")),
        ("empty.jsonl", vec![], Nothing("there are no documents")),
        // CSV.
        ("fields.csv", csv("b,Two,three"), Left("line 3, byte 17: the record has 3 fields, the header 2", 2)),
        (
            "quote.csv",
            csv("b,\"never closed"),
            Left("line 3, byte 19: the quote that opens here is never closed, and takes the 2 lines up to the end", 1),
        ),
        ("latin.csv", csv(b"b,caf\xE9"), Left("line 3, byte 22: the byte 0xE9 is not valid UTF-8", 2)),
        ("nul.csv", csv("b,\0"), Fine(3)),
        ("long.csv", csv(format!("b,{long}")), Left("line 3, byte 17: the record is longer than", 2)),
        ("column.csv", b"\n\nid,body\na,One.\n".to_vec(), Nothing("line 3, byte 2: it has no column \"text\"; its")),
        (
            "header.csv",
            (",".repeat(5_000) + "\na,One.\n").into_bytes(),
            Nothing("line 1, byte 0: more than 4096 fields"),
        ),
        ("no-id.csv", csv(",Two."), Left("line 3, byte 17: the id, \"id\", is empty", 2)),
        ("wide.csv", csv("b,".repeat(9000)), Left("line 3, byte 17: more than 4096 fields", 2)),
        ("mark.csv", [b"\xEF\xBB\xBF".as_slice(), &csv("b,Two.")].concat(), Fine(3)),
        ("utf16.tsv", utf16("text\n"), Nothing("byte 0: it begins as a text in UTF-16")),
        // Whole documents.
        ("latin.txt", b"caf\xE9".to_vec(), Nothing("line 1, byte 3: the byte 0xE9 is not valid UTF-8")),
        ("nul.txt", b"a\0b".to_vec(), Fine(1)),
        ("long.txt", long.clone().into_bytes(), Nothing("the document is longer than 65536 bytes")),
        ("utf32.md", vec![0xFF, 0xFE, 0, 0], Nothing("byte 0: it begins as a text in UTF-32")),
        (
            "no-mark.txt",
            utf16("One.")[2..].to_vec(),
            Nothing("byte 0: it begins as a text in UTF-16LE does; read it with --encoding utf-16le"),
        ),
        ("gb.html", b"<meta charset=gb2312>\xD6\xD0".to_vec(), Fine(1)),
        ("other.html", b"<meta charset=nonsense>\xD6\xD0".to_vec(), Nothing("line 1, byte 23: the byte 0xD6 is not")),
        ("deep.html", deep(5_000, "<div>", "</div>").into_bytes(), Fine(1)),
        ("open.html", b"<a <b <!-- <![CDATA[ <script> &#xFFFFFFFF; &#0;".to_vec(), Fine(1)),
        // Dumps of wikis.
        ("page.xml", b"<html><p>x</p></html>".to_vec(), Nothing("line 1, byte 0: it is no MediaWiki dump and no TEI")),
        ("cut.xml", dump("x")[..200].to_vec(), Left("not well-formed XML (syntax error: tag not closed", 1)),
        ("entity.xml", dump("&nbsp;"), Left("&nbsp; is no character of XML", 2)),
        ("tag.xml", dump("<<"), Left("not well-formed XML", 2)),
        ("latin.xml", dump(b"caf\xE9"), Left("the byte 0xE9 is not valid UTF-8", 2)),
        ("deep.xml", dump(deep(2_000, "<b>", "</b>")), Left("elements are nested more than 32 deep", 2)),
        ("long.xml", dump(&long), Left("the text of the page \"P2\" is longer than 65536 bytes", 2)),
        ("open.xml", dump("{{ [[ {| &lt;ref> ".repeat(2_000)), Fine(3)),
        // Compressed.
        ("cut.jsonl.gz", cut(gzip(many())), Left("the gzip data end in the middle, after byte ", 1)),
        ("cut.jsonl.zst", cut(zstd(&many())), Nothing("the zstd data end in the middle, after byte ")),
        ("cut.jsonl.bz2", cut(bzip2(many())), Nothing("the bzip2 data end in the middle, after byte ")),
        ("plain.txt.bz2", b"text".to_vec(), Nothing("the bzip2 data are damaged near byte ")),
        (
            "tail.jsonl.gz",
            [gzip(jsonl("")), b"rubbish after the end".to_vec()].concat(),
            Left("the gzip data are damaged near byte", 2),
        ),
        ("unlike.jsonl.gz", unlike, Left("the checksum of the gzip data before byte ", 2)),
        ("empty.txt.gz", vec![], Nothing("the gzip data end in the middle")),
        ("bomb.jsonl.gz", gzip(blank_lines(96 << 20)), Nothing("the gzip data grow too much: ")),
        ("bomb.csv.zst", zstd(&vec![b'\n'; 80 << 20]), Nothing("the zstd data grow too much: ")),
        ("bomb.xml.bz2", bzip2(dump(" ".repeat(80 << 20))), Left("the bzip2 data grow too much: ", 1)),
        // Parquet.
        ("text.parquet", b"no Parquet".to_vec(), Nothing("not a sound Parquet file")),
        ("empty.parquet", vec![], Nothing("not a sound Parquet file")),
        ("cut.parquet", cut(sound.clone()), Nothing("not a sound Parquet file")),
        ("footer.parquet", flipped(sound.len() - 7), Nothing("not a sound Parquet file")),
        (
            "column.parquet",
            parquet("SELECT id, text AS body FROM 'in.csv'"),
            Nothing("it has no column \"text\"; its columns"),
        ),
        (
            "number.parquet",
            parquet("SELECT id, 1 AS text FROM 'in.csv'"),
            Nothing("the column \"text\" is Int64, not text"),
        ),
        (
            "null.parquet",
            parquet("SELECT id, nullif(text, 'One.') AS text FROM 'in.csv'"),
            Left("the text, \"text\", is NULL", 1),
        ),
        (
            "list.parquet",
            parquet("SELECT id, text, CASE id WHEN 'a' THEN [repeat('x', 99999)] END AS list FROM 'in.csv'"),
            Left("the record is longer than 65536 bytes", 1),
        ),
        (
            "long-id.parquet",
            parquet("SELECT repeat(id, CASE id WHEN 'a' THEN 1 ELSE 20000 END) AS id, text FROM 'in.csv'"),
            Left("the id, \"id\", is longer than 16384 bytes", 1),
        ),
        ("deep.parquet", deep_parquet(200_000, &[]), Nothing("its columns are nested more than 128 deep")),
        // A map in an unknown field, and as many nested structs as the Parquet reader skips.
        (
            "deep-map.parquet",
            deep_parquet(200_000, &[0xAB, 1, 0x55, 1, 1]),
            Nothing("its columns are nested more than 128 deep"),
        ),
        (
            "deep-structs.parquet",
            deep_parquet(200_000, &[&[0xAC][..], &[0x1C; 40], &[0; 41]].concat()),
            Nothing("its footer is damaged"),
        ),
        ("page.parquet", flipped(8), Nothing("it is damaged from byte 0 to ")),
    ]
}

/// Returns true if FROM reads this file, too.
fn is_table(name: &str) -> bool {
    ["jsonl", "csv", "parquet"].iter().any(|kind| name.contains(&format!(".{kind}")))
}

/// Returns the differences from the expected outcome of a broken file.
fn faults(place: &Place, name: &str, outcome: &Outcome) -> Vec<String> {
    let mut faults = Vec::new();
    let mut expect = |holds: bool, what: &str, said: &str| {
        if !holds {
            faults.push(format!("{name}: {what}: {said}"));
        }
    };
    let has_records = name != "empty.jsonl";
    let (ended, _) = run(place, &format!("ingest {name} -o corpus --max-record-bytes 64KiB"));
    let said = &ended.err;
    match outcome {
        Fine(_) => expect(ended.code == Some(0), "it fails", said),
        Left(reason, _) | Nothing(reason) => {
            expect(ended.code == Some(1), "it does not fail", said);
            expect(said.contains(reason), reason, said);
            expect(!has_records || said.contains(name) && said.contains("; "), "no file, or nothing to do", said);
            expect(!place.path("corpus").exists(), "there is a result", said);
        }
    }
    let quarantine = "--on-error quarantine --quarantine bad.jsonl";
    place.write("bad.jsonl", "");
    let (ended, _) = run(place, &format!("ingest {name} -o corpus --max-record-bytes 64KiB {quarantine}"));
    let said = &ended.err;
    let bad = json_lines(&String::from_utf8(place.read("bad.jsonl")).unwrap());
    let told = bad
        .iter()
        .map(|bad| format!("line {}, byte {}: {}", bad["line"], bad["byte"], bad["reason"].as_str().unwrap()))
        .collect::<String>();
    match outcome {
        Fine(documents) => {
            expect(said.contains(&format!("documents {documents}, ")) && bad.is_empty(), "not all documents", said);
        }
        Left(reason, documents) => {
            expect(ended.code == Some(0) && said.contains("skipped 1"), "not one is skipped", said);
            expect(bad.len() == 1 && told.contains(reason), "another one is in the quarantine", &told);
            let of_corpus = "SELECT count(*) AS n FROM 'corpus/documents.parquet'";
            let found = if ended.code == Some(0) { place.sql(of_corpus)[0]["n"].as_u64().unwrap() } else { 0 };
            // A file that is cut somewhere in the middle keeps some documents.
            let is_expected = found == *documents as u64 || name.starts_with("cut.jsonl.") && found > 1;
            expect(is_expected, "other documents are left", &found.to_string());
        }
        Nothing(_) => {
            expect(ended.code == Some(1) && said.contains("there are no documents"), "it does not fail", said);
            expect(bad.len() == usize::from(has_records), "the quarantine is another", &told);
        }
    }
    if place.path("corpus").exists() {
        std::fs::remove_dir_all(place.path("corpus")).unwrap();
    }
    faults
}

#[test]
fn every_broken_file_is_an_error_that_says_where_and_what_to_do() {
    let place = Place::new();
    let mut all = Vec::new();
    for (name, data, outcome) in &*BROKEN {
        place.write(name, data);
        all.extend(faults(&place, name, outcome));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn zeros_behind_gzip_are_no_fault() {
    let place = Place::new();
    place.write("in.csv.gz", [gzip(b"id,text\na,One.\n"), vec![0; 1000]].concat());
    assert_eq!(place.sql("SELECT text FROM 'in.csv.gz'"), [json!({ "text": "One." })]);
    let (ended, _) = run(&place, "ingest in.csv.gz -o corpus");
    assert!(ended.err.contains("documents 1, "), "{}", ended.err);
}

#[test]
fn bad_files_are_left_out_beside_good_ones() {
    let place = Place::with([("docs/good.txt", "One.")]);
    let kept = |name: &str| !matches!(name, "empty.jsonl") && !name.contains("bomb");
    let mut bad = 0;
    for (name, data, outcome) in BROKEN.iter().filter(|(name, ..)| kept(name)) {
        if matches!(outcome, Nothing(_)) {
            place.write(&format!("docs/{name}"), data);
            bad += 1;
        }
    }
    let (ended, _) = run(&place, "ingest docs -o corpus --max-record-bytes 64KiB --on-error skip");
    assert!(ended.err.contains(&format!("documents 1, sentences 1, skipped {bad}")), "{}", ended.err);
}

#[test]
fn a_line_of_standard_input_that_is_too_long_has_a_place() {
    let place = Place::new();
    let input = format!("{{\"text\": \"One.\"}}\n{{\"text\": \"{}\"}}\n", "x".repeat(100_000));
    let ended = place.run_with(["ingest", "-", "-o", "corpus", "--max-record-bytes", "1KiB"], &input);
    let said = "standard input, line 2, byte 17: the line is longer than 1024 bytes; raise the limit";
    assert!(ended.code == Some(1) && ended.err.contains(said), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn a_device_without_end_is_an_error() {
    let place = Place::new();
    for options in ["", " --input-format csv", " --input-format parquet", " --on-error skip"] {
        let (ended, _) = run(&place, &format!("ingest /dev/zero -o corpus{options}"));
        assert_eq!(ended.code, Some(1), "{options}: {}", ended.err);
        let said =
            ["longer than 16777216 bytes", "not a sound Parquet file"].iter().any(|said| ended.err.contains(said));
        assert!(said, "{options}: {}", ended.err);
    }
}

/// Covers everything that may be in a folder and is no file.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_counted_and_listed() {
    use std::os::unix::fs::symlink;
    let place = Place::with([("docs/a.txt", "One."), ("docs/b.dat", "Two.")]);
    let _socket = std::os::unix::net::UnixListener::bind(place.path("docs/c.txt")).unwrap();
    symlink("nothing", place.path("docs/d.txt")).unwrap();
    symlink("e.txt", place.path("docs/e.txt")).unwrap();
    symlink(".", place.path("docs/f")).unwrap();
    symlink("/dev/zero", place.path("docs/g.txt")).unwrap();
    for inputs in ["docs", "docs/*.*", "docs/**"] {
        let (ended, _) = run(&place, &format!("ingest {inputs} -o corpus"));
        assert!(ended.err.contains("files 1, documents 1, "), "{inputs}: {}", ended.err);
        for said in ["1 files of unknown kind, such as docs/b.dat", "2 pipes, sockets and devices, such as docs/c.txt"]
        {
            assert!(ended.err.contains(&format!("passed over {said}\n")), "{inputs}: {}", ended.err);
        }
        assert!(ended.err.contains("passed over 2 links to nothing, such as docs/d.txt\n"), "{inputs}: {}", ended.err);
        let is_deep = inputs != "docs/*.*";
        let said = "passed over 1 links to a folder above them, such as docs/f\n";
        assert_eq!(ended.err.contains(said), is_deep, "{inputs}: {}", ended.err);
        std::fs::remove_dir_all(place.path("corpus")).unwrap();
    }
    std::fs::remove_file(place.path("docs/a.txt")).unwrap();
    let error = place.fails(1, "ingest docs -o corpus");
    assert!(
        error.contains("no file of a format that is known, but 1 files of unknown kind, such as docs/b.dat; 2 pipes")
    );
}

#[test]
fn from_reads_broken_files_or_says_which_one_it_cannot() {
    let place = Place::new();
    for (name, data, _) in BROKEN.iter().filter(|(name, ..)| is_table(name)) {
        place.write(name, data);
        let sql = format!("SELECT count(*) AS n, max(length(text)) FROM '{name}'");
        let (ended, _) = watch(place.command(["sql", &sql]), LONGEST);
        assert!(matches!(ended.code, Some(0 | 1)), "{name}: {:?}\n{}", ended.code, ended.err);
        assert!(!ended.err.contains("panicked") && !ended.err.contains("internal error"), "{name}\n{}", ended.err);
        assert_eq!(ended.code == Some(0), ended.err.is_empty(), "{name}: {}", ended.err);
        assert!(ended.code == Some(0) || ended.err.contains(name), "{name}: {}", ended.err);
    }
}

#[test]
fn from_says_which_record_it_cannot_read() {
    let place = Place::new();
    let lines = |bad: &str| "{\"a\": 1, \"b\": \"x\"}\n".repeat(5000) + bad + "\n{\"a\": 2}\n{\"a\": }\n";
    // The second row has two lines.
    let rows = |bad: &str| "a,b\n".to_owned() + &"1,\"x\ny\"\n2,z\n".repeat(20_000) + bad + "\n3,x\n";
    let types = "columns and types are those of the first records of a file, and CREATE EXTERNAL TABLE can give others";
    for (file, data, said) in [
        ("json.jsonl", lines("{\"a\": }"), "line 5001, byte 95000: Not valid JSON: expected value; correct it"),
        (
            "type.jsonl",
            lines("{\"a\": \"y\"}"),
            "line 5001, byte 95000: the value \"y\" of column a is text, and the column is of type Int64",
        ),
        ("comma.jsonl", lines("{\"a\": 1 \"b\": \"x\"}"), "line 5001, byte 95000: Not valid JSON: expected `,` or `}`"),
        ("zero.jsonl", lines("{\"a\": 01}"), "line 5001, byte 95000: Not valid JSON: invalid number"),
        ("two.jsonl", lines("{\"a\": 1}{\"a\": 2}"), "line 5001, byte 95000: Not valid JSON: trailing characters"),
        ("split.jsonl", lines("{\"a\":\n1}"), "line 5001, byte 95000: Not valid JSON: EOF while parsing"),
        ("text-type.jsonl", lines("{\"a\": \"01\"}"), "line 5001, byte 95000: the value \"01\" of column a is text"),
        (
            "soon.jsonl",
            "{\"a\": 1}\n\n{\"a\": \"\\ud800\"}\n".to_owned(),
            "line 3, byte 10: Not valid JSON: unexpected end of hex",
        ),
        (
            "fields.csv",
            rows("1,2,3"),
            "line 60002, byte 240004: incorrect number of fields, expected 2 got 3; correct it",
        ),
        ("type.csv", rows("y,2"), "line 60002, byte 240004: the value \"y\" of column a is no Int64; columns"),
        (
            "zeros-type.csv",
            rows("007,2"),
            "line 60002, byte 240004: the value \"007\" of column a may be a name, and the column is of type Int64",
        ),
        (
            "late-type.jsonl",
            lines("{\"late\": 1}"),
            "line 5001, byte 95000: the member \"late\" is one that the first records do not have; columns",
        ),
        ("soon.csv", "a,b\r\n1,\"x\r\ny\"\r\n\r\n1,2,3\r\n".to_owned(), "line 5, byte 17: Encountered unequal lengths"),
        ("cut.csv", "a,b\n1,2\n3".to_owned(), "line 3, byte 8: Encountered unequal lengths"),
    ] {
        for (file, data) in [(file.to_owned(), data.clone().into_bytes()), (format!("{file}.gz"), gzip(data))] {
            place.write(&file, data);
            for threads in [1, 3] {
                let sql = format!("SELECT sum(a), max(b) FROM '{file}'");
                let ended = place.run_with(["sql", "--threads", &threads.to_string(), &sql], "");
                assert_eq!(ended.code, Some(1), "{file}");
                assert!(ended.err.contains(&format!("{file}, {said}")), "{file}: {}", ended.err);
                assert_eq!(ended.err.contains(types), file.contains("type"), "{file}: {}", ended.err);
            }
        }
    }
}

#[test]
fn from_says_where_a_header_is_bad() {
    let place = Place::new();
    for (data, said) in [
        (&b"id,te\xFFxt\na,b\n"[..], "line 1, byte 5: "),
        (b"id,te\xFFxt\n", "line 1, byte 5: "),
        (b"\n\nid,te\xFFxt\na,b\n", "line 3, byte 7: "),
        (b"id,\"te\nx\xFF\"\na,b\nc,d\n", "line 2, byte 8: "),
        (b"id,text\na,b\nc,\xFF\n", "line 3, byte 12: "),
    ] {
        place.write("in.csv", data);
        let error = place.run_with(["sql", "SELECT * FROM 'in.csv'"], "").err;
        assert!(error.contains(&format!("in.csv, {said}")) && error.contains("UTF-8"), "{error}");
    }
}

/// Regression: the advice was to unpack it, as `ibid ingest` once read no xz.
#[test]
fn what_is_readable_of_bad_xz_is_left_to_ingest() {
    let place = Place::new();
    place.write("text.csv.xz", "no such file");
    // The xz data of a good row and a bad row.
    let packed = "fd377a585a000004e6d6b4460200210116000000742fe5a301001069642c746578740a612c4f6e652e0a62\
                  0a000000007a5cb2a024c3d21b00012911320a700e1fb6f37d010000000004595a";
    let packed = (0..packed.len()).step_by(2).map(|i| u8::from_str_radix(&packed[i..i + 2], 16).unwrap());
    place.write("row.csv.xz", packed.collect::<Vec<_>>());
    for (file, reason, remedy) in [
        ("text.csv.xz", "byte 0: the xz data are damaged near byte ", ", or read what is there with ibid ingest"),
        ("row.csv.xz", "line 3, byte 15: ", "; correct it, or leave bad records out by ibid ingest --on-error skip"),
    ] {
        let error = place.run_with(["sql", &format!("SELECT * FROM '{file}'")], "").err;
        assert!(error.contains(&format!("{file}, {reason}")) && error.contains(remedy), "{error}");
    }
    run(&place, "ingest row.csv.xz -o corpus --on-error skip");
    assert_eq!(
        place.sql("SELECT doc_id, text FROM 'corpus/documents.parquet'"),
        [json!({"doc_id": "a", "text": "One."})]
    );
}

#[test]
fn from_has_a_limit_of_columns() {
    let place = Place::new();
    let header = (0..=16_384).map(|n| format!("k{n}")).collect::<Vec<_>>().join(",");
    let line = |count: usize| format!("{{{}\"id\": 1}}\n", keys(count));
    place.write("wide.csv", format!("\n{header}\n"));
    place.write("most.jsonl", line(16_383));
    place.write("wide.jsonl", format!("{{\"id\": 1}}\n{}", line(16_384)));
    // The array begins after more lines than there are records from which columns are inferred.
    place.write("wide.json", format!("{}[{}]", "\n".repeat(1500), line(16_384)));
    place.write("two/a.jsonl", line(9_000));
    place.write("two/b.jsonl", line(9_000).replace('k', "l"));
    let array =
        "CREATE EXTERNAL TABLE t STORED AS JSON LOCATION 'wide.json' OPTIONS ('format.newline_delimited' 'false')";
    for (sql, said) in [
        ("SELECT count(*) AS n FROM 'most.jsonl'", ""),
        ("SELECT count(*) FROM 'wide.csv'", "wide.csv, line 2, byte 1: this makes more than 16384 columns: "),
        ("SELECT count(*) FROM 'wide.jsonl'", "wide.jsonl, line 2, byte 10: this makes more than 16384 columns: "),
        (array, "wide.json, line 1501, byte 1501: this makes more than 16384 columns: "),
        ("SELECT count(*) FROM 'two/*.jsonl'", ".jsonl: this makes more than 16384 columns: "),
    ] {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!(ended.code == Some(0), said.is_empty(), "{sql}: {}", ended.err);
        assert!(ended.err.contains(said), "{sql}: {}", ended.err);
    }
}

#[test]
fn a_quote_that_is_never_closed_is_an_error_that_says_where_it_opens() {
    let place = Place::new();
    let row = |n| if n == 50 { "50,\"open\n".to_owned() } else { format!("{n},x\n") };
    let rows: String = (0..100_000).map(row).collect();
    for (file, data, said) in [
        ("many.csv", format!("id,text\n{rows}"), "line 52, byte 251"),
        ("one.csv", "id,text\na,One.\nb,\"Two and the rest is".to_owned(), "line 3, byte 17"),
    ] {
        for (file, data) in [(file.to_owned(), data.clone().into_bytes()), (format!("{file}.gz"), gzip(data))] {
            place.write(&file, data);
            let ended = place.run_with(["sql", &format!("SELECT count(*) FROM '{file}'")], "");
            assert_eq!(ended.code, Some(1), "{file}: {}", ended.text());
            let said = format!("{file}, {said}: the quote that opens here is never closed");
            assert!(ended.err.contains(&said), "{}", ended.err);
        }
    }
}

/// Returns the memory that a run may take, in MiB: a fixed part, and `times` the bytes that it reads at once.
fn bound(times: usize, bytes: usize) -> u64 {
    400 + ((times * bytes) >> 20) as u64
}

#[test]
fn a_line_that_is_too_long_takes_no_memory_and_one_that_may_be_long_a_few_times_its_length() {
    let place = Place::new();
    let length = size(20 << 20, 300 << 20);
    for (name, head, filler, tail) in [
        ("line.jsonl", "{\"id\": \"b\", \"text\": \"", "word ", "\"}\n"),
        ("open.jsonl", "{\"id\": \"b\", \"text\": \"", "x", ""),
        ("line.csv", "id,text\nb,", "word ", "\n"),
        ("open.csv", "id,text\nb,\"", "x\n", ""),
        ("line.txt", "", "word ", ""),
    ] {
        place.write(name, [head, &filler.repeat(length / filler.len()), tail].concat());
        let (ended, peak) = run(&place, &format!("ingest {name} -o corpus"));
        assert_eq!(ended.code, Some(1));
        let said = "is longer than 16777216 bytes";
        assert!(ended.err.contains(name) && ended.err.contains(said), "{}", ended.err);
        assert!(ended.err.contains("--max-record-bytes"), "{}", ended.err);
        assert!(peak < bound(0, 0), "{name}: {peak} MiB");
        let most = size(32 << 20, 256 << 20);
        let (ended, peak) = run(&place, &format!("ingest {name} -o corpus --max-record-bytes {most}"));
        let is_whole = length <= most && !name.starts_with("open");
        assert_eq!(ended.code == Some(0), is_whole, "{name}: {}", ended.err);
        assert!(peak < bound(16, length), "{name}: {peak} MiB");
        std::fs::remove_file(place.path(name)).unwrap();
    }
}

/// Writes a file that decompresses to `head`, and `filler` until there are `length` bytes.
fn write_bomb(path: &Path, head: &[u8], filler: &[u8], length: usize) {
    let mut file = std::fs::File::create(path).unwrap();
    let filled = |size: usize| filler.repeat(size / filler.len());
    let mut encoder: Box<dyn std::io::Write> = match path.extension().unwrap().to_str().unwrap() {
        "gz" => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::best())),
        "bz2" => {
            // Compressing bzip2 takes ten times as long as the others, so the file repeats the same stream.
            file.write_all(&bzip2(head)).unwrap();
            let stream = bzip2(filled(8 << 20));
            return (0..length >> 23).for_each(|_| file.write_all(&stream).unwrap());
        }
        _ => Box::new(zstd::Encoder::new(file, 1).unwrap().auto_finish()),
    };
    encoder.write_all(head).unwrap();
    let piece = filled(1 << 20);
    for _ in 0..length / piece.len() {
        encoder.write_all(&piece).unwrap();
    }
}

#[test]
fn decompression_bombs_end_with_an_error_in_bounded_memory() {
    let place = Place::new();
    let length = size(96 << 20, 10 << 30);
    let row = "x".repeat(1000) + ",1\n";
    for (name, head, filler) in [
        ("lines.jsonl.gz", "{\"text\": \"x\"}\n", &*blank_lines(4096)),
        ("line.jsonl.zst", "{\"text\": \"", "x"),
        ("rows.csv.bz2", "text,n\n", &*row),
        ("open.csv.gz", "text,n\nx,\"", "\n"),
        ("text.txt.zst", "", "x"),
        ("page.html.bz2", "", "<div>"),
        ("dump.xml.zst", "<mediawiki><page><title>x</title>", " "),
        ("comment.xml.gz", "<mediawiki><!--", "x"),
    ] {
        write_bomb(&place.path(name), head.as_bytes(), filler.as_bytes(), length);
        let options = ["", " --on-error skip", " --max-record-bytes 256MiB"];
        for options in &options[..size(2, 3)] {
            let (ended, peak) = run(&place, &format!("ingest {name} -o corpus{options}"));
            let is_said = [
                "data grow too much: ",
                "is longer than 16777216 bytes",
                "skipped 1",
                "there are no documents in the input",
            ];
            assert!(is_said.iter().any(|said| ended.err.contains(said)), "{name}{options}: {}", ended.err);
            assert_eq!(ended.code == Some(0), ended.err.contains("skipped 1"), "{name}{options}: {}", ended.err);
            let most = if options.contains("256") { bound(8, 96 << 20) } else { bound(0, 0) };
            assert!(peak < most, "{name}{options}: {peak} MiB");
            if place.path("corpus").exists() {
                std::fs::remove_dir_all(place.path("corpus")).unwrap();
            }
        }
        std::fs::remove_file(place.path(name)).unwrap();
    }
}

#[test]
fn markup_a_million_deep_is_read_or_refused_and_never_followed() {
    let place = Place::new();
    let deep = size(100_000, 1_000_000);
    let nested = |open: &str, close: &str| open.repeat(deep) + "x" + &close.repeat(deep);
    let in_dump = |open: &str, close: &str| dump(nested(open, close));
    let lists = format!("{{\"text\": \"\", \"x\": {}}}\n", nested("[", "]").replace('x', "1"));
    let objects = format!("{{\"text\": \"\", \"x\": {}}}\n", nested("{\"x\":", "}").replacen(":x", ":1", 1));
    for (name, data, said) in [
        ("lists.jsonl", lists.clone().into_bytes(), "recursion limit exceeded"),
        ("objects.jsonl", objects.into_bytes(), "recursion limit exceeded"),
        ("div.html", nested("<div>", "</div>").into_bytes(), ""),
        ("svg.html", nested("<svg>", "</svg>").into_bytes(), ""),
        ("template.html", nested("<template>", "</template>").into_bytes(), ""),
        ("b.xml", in_dump("<b>", "</b>"), "elements are nested more than 32 deep"),
        ("templates.xml", in_dump("{{a|", "}}"), ""),
        ("parameters.xml", in_dump("{{{a|", "}}}"), ""),
        ("links.xml", in_dump("[[a|", "]]"), ""),
        ("tables.xml", in_dump("\n{|\n|", "\n|}"), ""),
        ("references.xml", in_dump("&lt;ref&gt;", "&lt;/ref&gt;"), ""),
        ("lists.xml", in_dump("*", ""), ""),
        ("quotes.xml", in_dump("''", "''"), ""),
        ("headings.xml", in_dump("=", "="), ""),
        ("brackets.txt", nested("(", ")").into_bytes(), ""),
        ("quotes.txt", nested("\u{201c}", "\u{201d}").into_bytes(), ""),
    ] {
        place.write(name, data);
        let (ended, peak) = run(&place, &format!("ingest {name} -o {name}.corpus --max-record-bytes 64MiB"));
        assert_eq!(ended.code == Some(0), said.is_empty(), "{name}: {}", ended.err);
        assert!(ended.err.contains(said), "{name}: {}", ended.err);
        assert!(peak < bound(0, 0) + size(0, 1200) as u64, "{name}: {peak} MiB");
    }
    for sql in [
        "SELECT count(x) FROM 'lists.jsonl'".to_owned(),
        format!("SELECT {}", nested("(", ")").replace('x', "1")),
        format!("SELECT 1 {}", "+ 1 ".repeat(deep)),
        format!("SELECT {}", nested("abs(", ")").replace('x', "1")),
        format!("SELECT count(*) FROM {}", nested("(SELECT * FROM ", ")").replace('x', "range(3)")),
        format!("SELECT {}1", "NOT ".repeat(deep)),
        format!("SELECT 1 {}", "UNION SELECT 1 ".repeat(deep)),
    ] {
        place.write("in.sql", sql.as_str());
        let (ended, _) = run(&place, "sql -f in.sql");
        assert!(ended.code == Some(1) && !ended.err.is_empty(), "{}", &sql[..40]);
    }
    // A statement that is just not too deep runs on the available stacks.
    place.write("in.sql", format!("SELECT count(*) FROM range(9) WHERE value > 1 {}", "AND value <> 7 ".repeat(3990)));
    place.ok("sql -f in.sql");
}

#[test]
fn a_document_of_millions_of_sentences_is_read_in_bounded_memory() {
    let place = Place::new();
    let sentences = size(300_000, 10_000_000);
    let text = "A b. ".repeat(sentences);
    let text = text.trim_end();
    place.write("in.jsonl", format!("{}\n", json!({"id": "a", "text": text})));
    place.write("in.txt", text);
    for name in ["in.jsonl", "in.txt"] {
        let (ended, peak) = run(&place, &format!("ingest {name} -o {name}.corpus --max-record-bytes 128MiB"));
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let counted = place.sql(&format!("SELECT count(*) AS n FROM '{name}.corpus/sentences.parquet'"));
        assert_eq!(counted, [json!({"n": sentences})]);
        assert!(peak < bound(size(40, 80), text.len()), "{name}: {peak} MiB");
    }
    let lines = "SELECT count(*) AS n FROM (SELECT unnest(lines(replace(text, ' b', chr(10)))) FROM 'in.jsonl')";
    let (ended, peak) =
        watch(place.command(["sql", lines, "--format", "ndjson", "--max-record-bytes", "128MiB"]), LONGEST);
    assert_eq!(json_lines(ended.text()), [json!({"n": sentences + 1})], "{}", ended.err);
    assert!(peak < bound(size(40, 80), text.len()), "{peak} MiB");
}

/// Returns all files and folders below a folder.
fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn ids_and_columns_never_become_paths() {
    let outside = Place::new();
    let long = "very ".repeat(3_000);
    let ids = [
        "../../../../../../../../../../tmp/ibid-escaped",
        "/tmp/ibid-escaped",
        "../escaped",
        "..",
        ".",
        "\0",
        "a\nb",
        "a\\..\\b",
        "C:\\escaped",
        "~/escaped",
        "$(touch escaped)",
        "'; DROP TABLE documents; --",
        "file:///tmp/ibid-escaped",
        "s3://bucket/escaped",
        "\u{202e}gnp.exe",
        "\u{1b}]0;escaped\u{7}",
        "caf\u{e9}",
        "%2e%2e%2fescaped",
        "=1+1",
        &long,
    ];
    let text = "The board met on a long Monday evening. It approved the new ferry terminal by nine votes to two. \
                Work will begin in March and last for two years. Nobody objected to the price of the terminal.";
    let mut lines = String::new();
    for (n, id) in ids.iter().enumerate() {
        let other = format!("{text} This is copy number {n} of them all.");
        writeln!(lines, "{}", json!({"id": id, "text": other, "../escaped": id, "published_at": "2026-01-02"}))
            .unwrap();
    }
    outside.write("inside/in.jsonl", &lines);
    outside.write("inside/bad.jsonl", format!("{lines}{}\n", json!({"id": "../escaped", "text": 1})));
    let inside = |line: &str| {
        let mut command = outside.command(line.split(' '));
        command.current_dir(outside.path("inside"));
        let (ended, _) = watch(command, LONGEST);
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.err);
        assert!(!ended.err.contains('\u{1b}'), "{line}: {}", ended.err);
        ended
    };
    let before = tree(outside.path("").as_path());
    inside("ingest in.jsonl -o corpus");
    inside("ingest bad.jsonl -o other --on-error quarantine --quarantine quarantine.jsonl");
    inside("passages corpus -o passages.parquet --coverage coverage.csv");
    inside("pairs in.jsonl -o pairs.csv");
    inside("clusters corpus -o clusters");
    inside("containment in.jsonl --time-column published_at -o containment.ndjson");
    inside("passages index --add in.jsonl -o added.parquet");
    inside("search corpus --queries in.jsonl -o hits.parquet");
    inside("verify corpus clusters passages.parquet index");
    let new: Vec<_> = tree(outside.path("").as_path()).into_iter().filter(|path| !before.contains(path)).collect();
    for path in &new {
        assert!(path.starts_with(outside.path("inside")), "{}", path.display());
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!name.contains("escaped") && name.len() < 100, "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)), "{name}");
    }
    assert!(!Path::new("/tmp/ibid-escaped").exists());
    // The ids are there as they were given.
    let counted = outside
        .sql("SELECT count(DISTINCT doc_id) AS n, max(length(doc_id)) AS m FROM 'inside/corpus/documents.parquet'");
    assert_eq!(counted, [json!({"n": ids.len(), "m": long.len()})]);
    let clustered = outside.sql("SELECT count(*) > 0 AS some FROM 'inside/clusters/clusters.parquet'");
    assert_eq!(clustered, [json!({"some": true})]);
}

#[test]
fn names_of_files_are_ids_as_they_are() {
    let place = Place::new();
    let names = ["a\nb.txt", "\u{1b}[31m.txt", "'; --.txt", "..txt.txt", "*.txt", " .txt", "=1.txt"];
    for name in names {
        place.write(&format!("docs/{name}"), "Nothing wrong here.");
    }
    place.ok("ingest docs -o corpus");
    let mut ids: Vec<_> = place
        .sql("SELECT doc_id FROM 'corpus/documents.parquet'")
        .iter()
        .map(|row: &Value| row["doc_id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    // Names that begin with a dot are hidden.
    let mut expected: Vec<_> =
        names.iter().filter(|name| !name.starts_with('.')).map(|name| (*name).to_owned()).collect();
    expected.sort();
    assert_eq!(ids, expected);
}

/// Reads files in `FROM` that exceed a limit, and files that do not.
#[test]
fn files_in_from_are_held_to_the_limits() {
    let place = Place::new();
    let long = "x".repeat(20 << 20);
    let lines = "line\n".repeat(4 << 20);
    place.write("line.jsonl", format!("{{\"a\": \"y\"}}\n{{\"a\": \"{long}\"}}\n"));
    place.write("late.jsonl", "{\"a\": \"y\"}\n".repeat(2000) + &format!("{{\"a\": \"{long}\"}}\n"));
    place.write("row.csv", format!("a,b\n1,\"{lines}\"\n"));
    place.write("rows.csv", "a,b\n".to_owned() + &"1,line\n".repeat(4 << 20));
    for (file, head, filler) in
        [("line.jsonl.zst", "{\"a\": \"", "x"), ("open.csv.gz", "a,b\n1,\"", "\n"), ("lines.csv.bz2", "a,b\n", "1,2\n")]
    {
        write_bomb(&place.path(file), head.as_bytes(), filler.as_bytes(), 96 << 20);
    }
    for (file, options, expected) in [
        ("line.jsonl", "", Err("line.jsonl, line 2, byte 11: the line is longer than 16777216 bytes: check the file")),
        ("line.jsonl", " --max-record-bytes 32MiB", Ok(2)),
        ("late.jsonl", "", Err("late.jsonl, line 2001, byte 22000: the line is longer")),
        ("late.jsonl", " --max-record-bytes 32MiB", Ok(2001)),
        ("row.csv", " --max-record-bytes 32MiB", Ok(1)),
        ("row.csv", "", Err("row.csv, line 2, byte 4: the row is longer than 16777216 bytes: check the file")),
        ("rows.csv", "", Ok(4 << 20)),
        ("line.jsonl.zst", "", Err("line.jsonl.zst, line 1, byte 0: the line is longer")),
        ("open.csv.gz", "", Err("open.csv.gz, line 2, byte 4: the row is longer")),
        (
            "lines.csv.bz2",
            "",
            Err(
                "bytes, more than 200 per byte: the file is a decompression bomb, or repeats itself a great deal; if you trust it, raise the limit with --max-ratio",
            ),
        ),
        ("lines.csv.bz2", " --max-ratio 100000", Ok((96 << 20) / 4)),
    ] {
        place.write("count.sql", format!("SELECT count(a) AS n FROM '{file}'"));
        let (ended, peak) = run(&place, &format!("sql -f count.sql --format ndjson{options}"));
        match expected {
            Ok(rows) => assert_eq!(ended.text().trim(), format!("{{\"n\":{rows}}}"), "{file}: {}", ended.err),
            Err(said) => {
                assert_eq!(ended.code, Some(1), "{file}");
                assert!(ended.err.contains(said) && !ended.err.contains("Generic"), "{file}: {}", ended.err);
                assert!(peak < 200, "{file}: {peak} MiB");
            }
        }
    }
}

#[test]
fn a_quarantine_takes_the_place_of_no_other_file() {
    let good = "{\"id\": \"a\", \"text\": \"One.\"}\n";
    let place = Place::with([("in.jsonl", good), ("queries.jsonl", good), ("notes.txt", "of another kind")]);
    place.ok("ingest in.jsonl -o corpus");
    let sealed = place.read("corpus/documents.parquet");
    for (line, said) in [
        ("ingest in.jsonl -o c --on-error quarantine --quarantine in.jsonl", "holds no bad records"),
        ("ingest in.jsonl -o c --on-error quarantine --quarantine notes.txt", "holds no bad records"),
        ("ingest in.jsonl -o c --quarantine bad.jsonl", "is for --on-error quarantine"),
        (
            "passages corpus --on-error quarantine --quarantine corpus/documents.parquet",
            "that folder is a corpus, an index or a result",
        ),
        (
            "search corpus --queries queries.jsonl --on-error quarantine --quarantine queries.jsonl",
            "holds no bad records",
        ),
    ] {
        let error = place.fails(1, line);
        assert!(error.contains(said), "{line}: {error}");
    }
    assert_eq!(place.read("in.jsonl"), good.as_bytes());
    assert_eq!(place.read("queries.jsonl"), good.as_bytes());
    assert_eq!(place.read("notes.txt"), b"of another kind");
    assert_eq!(place.read("corpus/documents.parquet"), sealed);
}

/// A second run replaces the quarantine, and a run that reads nothing leaves it.
#[test]
fn a_quarantine_is_that_of_the_last_run() {
    let place =
        Place::with([("one.jsonl", "nonsense\n{\"text\": \"One.\"}\n"), ("two.jsonl", "{\"text\": \"Two.\"}\n[]\n")]);
    let kept = |line: &str| {
        place.ok(&format!("{line} --on-error quarantine --quarantine bad.jsonl"));
        json_lines(std::str::from_utf8(&place.read("bad.jsonl")).unwrap())
    };
    for (file, data) in [("one.jsonl", "nonsense"), ("two.jsonl", "[]")] {
        let kept = kept(&format!("ingest {file} -o {file}.corpus"));
        assert_eq!(kept.iter().map(|entry| entry["data"].as_str().unwrap()).collect::<Vec<_>>(), [data]);
    }
    let before = place.read("bad.jsonl");
    place.write("no.folder", "");
    let copies = "{\"text\": \"One sentence of some words, three times.\"}\n".repeat(3);
    place.write("many.jsonl", &copies);
    for line in
        ["ingest nothing.jsonl -o corpus", "ingest one.jsonl -o no.folder/corpus", "pairs many.jsonl --max-pairs 1"]
    {
        place.fails(1, &format!("{line} --on-error quarantine --quarantine bad.jsonl"));
        assert_eq!(place.read("bad.jsonl"), before, "{line}");
    }
    // The quarantine is also written if the run fails: the bad record may be the cause.
    place.write("many.jsonl", copies + "not it");
    place.fails(1, "pairs many.jsonl --max-pairs 1 --on-error quarantine --quarantine bad.jsonl");
    assert_eq!(json_lines(std::str::from_utf8(&place.read("bad.jsonl")).unwrap())[0]["data"], "not it");
    let staged = std::fs::read_dir(place.path(".")).unwrap();
    assert_eq!(staged.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count(), 0);
}

/// A parsed tree of this list of ten million bytes would take a gigabyte.
#[test]
fn lists_and_objects_of_json_take_little_more_memory_than_their_text() {
    let place = Place::new();
    for item in ["{\"\":0}", "0", "[]"] {
        let list = vec![item; (10 << 20) / (item.len() + 1)].join(",");
        place.write("list.jsonl", format!("{{\"text\": \"One.\", \"list\": [{list}]}}\n"));
        let (_, peak) = run(&place, "ingest list.jsonl -o corpus --memory 256MiB");
        let rows = place.sql("SELECT length(list) AS n FROM 'corpus/documents.parquet'");
        assert_eq!(rows[0]["n"], list.len() + 2);
        assert!(peak <= 320, "{item}: {peak} MiB");
        std::fs::remove_dir_all(place.path("corpus")).unwrap();
    }
}

/// Covers many small values, sentences and sections. Each kind would take many times the length of the text.
#[test]
fn what_many_small_parts_take_stays_within_the_memory() {
    let place = Place::new();
    let parts = size(300_000, 1_600_000);
    let line = format!("{{{}\"text\": \"One.\"}}\n", keys(4_000));
    let lists = format!("SELECT 'One.' AS text, range(0, 1000) AS list FROM range({})", size(4_000, 20_000));
    assert_eq!(place.run_with(["sql", &lists, "-o", "lists.parquet"], "").code, Some(0));
    for (name, data) in [
        ("keys.jsonl", line.repeat(size(500, 8_000)).into_bytes()),
        ("sentences.txt", "A b. ".repeat(2 * parts).into_bytes()),
        ("headings.html", "<h1>a</h1>".repeat(parts).into_bytes()),
        ("headings.xml", dump("==a==\n".repeat(parts))),
        ("lists.parquet", place.read("lists.parquet")),
    ] {
        place.write(name, data);
        let (ended, peak) = run(&place, &format!("ingest {name} -o corpus --memory 256MiB --max-ratio 5000"));
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.err);
        assert!(peak <= 320, "{name}: {peak} MiB");
        std::fs::remove_dir_all(place.path("corpus")).unwrap();
    }
}

#[test]
fn the_folder_where_one_is_is_read() {
    let place = Place::with([("a.txt", "One.")]);
    place.ok("ingest . -o corpus");
    assert_eq!(place.sql("SELECT doc_id FROM 'corpus/documents.parquet'")[0]["doc_id"], "a.txt");
    // An empty path, such as that of a variable that is not set.
    let ended = place.run_with(["ingest", "", "-o", "other"], "");
    assert!(ended.code == Some(1) && ended.err.contains("does not exist"), "{}", ended.err);
}
