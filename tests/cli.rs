//! The program: its commands, options, output, errors and exit codes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Place, collection_jsonl, gzip, json_lines, jsonl, run_command};

/// Sentences that documents share. They have characters of one to four bytes.
const SHARED: &str = "The ferry 😀 leaves the old harbour at noon, naïvely. 我们在北京的学校里学习中文和历史。\
                      他每天早上都去公园跑步锻炼身体。Nobody saw the captain 👩‍👩‍👧 on that long evening. \
                      Three wooden barrels stood beside the northern gate of the town.";

const PASSAGE_COLUMNS: &str = "doc_a,doc_b,sent_a_start,sent_a_end,sent_b_start,sent_b_end,char_a_start,char_a_end,\
                               char_b_start,char_b_end,byte_a_start,byte_a_end,byte_b_start,byte_b_end,sentences,gaps,\
                               similarity";

/// Returns texts; `a` and `b` share five sentences.
fn texts() -> [(&'static str, String); 3] {
    [
        ("a.txt", format!("É un début à part. {SHARED} An ending of its own stands here.")),
        ("b.txt", format!("Something else 😀😀 begins this text. Another line follows it now. {SHARED}")),
        ("c.txt", "Unrelated words fill this third text. It has nothing in common with others.".to_string()),
    ]
}

fn place_of_texts() -> Place {
    let place = Place::new();
    for (name, text) in texts() {
        place.write(&format!("docs/{name}"), text);
    }
    place
}

fn header(csv: &str) -> &str {
    csv.lines().next().unwrap()
}

/// `explain` predicts what the command then does; from a sample it predicts about that.
#[test]
fn a_command_is_explained_before_it_runs() {
    // Forty documents: all have one sentence, every other document has a second one, and each has one of its own.
    let text = |i: u32| {
        let even = if i.is_multiple_of(2) { "Every other page ends with these words here. " } else { "" };
        format!("All rights are reserved by the publisher of this page. {even}Page {i} has {i} words {i} times over.")
    };
    let place = Place::new();
    place.write("pages.jsonl", jsonl((0..40).map(|i| (format!("{i:02}"), text(i)))));
    place.ok("ingest pages.jsonl -o corpus");
    let said = place.ok("explain pairs corpus --unit sentence");
    let (all, half) = (40 * 39 / 2, 20 * 19 / 2);
    assert!(said.contains(" KiB to read, 40 documents, 100 sentences.\n"), "{said}");
    assert!(said.contains("distinct texts    42\n"), "{said}");
    assert!(said.contains(&format!("pairs of places   at most {} (--max-pairs 50,000,000)\n", all + half)), "{said}");
    assert!(said.contains("| 40     | 0.8041         | false              | All rights are reserved by"), "{said}");
    // 41 of the 42 texts have "words".
    assert!(said.contains("| words | 0.9762         | 0.9524         |"), "{said}");
    let pairs = place.ok("pairs corpus --unit sentence --format ndjson -q");
    assert_eq!(pairs.lines().count(), all + half);

    let capped = "pairs corpus --unit sentence --max-frequency 30 --max-pairs 100";
    let said = place.ok(&format!("explain {capped}"));
    assert!(said.contains("at most 190 (--max-pairs 100), which will be refused"), "{said}");
    assert!(said.contains("left out          780 pairs of 1 texts in more than 30 places"), "{said}");
    assert!(place.fails(1, capped).contains("would make 190 pairs"));
    assert!(place.fails(1, "explain passages corpus --show-sql").contains("write --show-sql without explain"));
}

/// A batch has 8,192 documents.
#[test]
fn bad_records_behind_the_last_batch_are_counted() {
    let place = Place::new();
    let lines: String = (0..8192).map(|i| format!("{{\"text\": \"Text {i}.\"}}\n")).collect();
    place.write("a.jsonl", format!("{lines}nonsense\n"));
    let ended = place.run("ingest a.jsonl --on-error skip --strict -o corpus");
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert!(
        ended.err.contains("documents 8,192, ") && ended.err.contains("skipped a.jsonl, line 8193"),
        "{}",
        ended.err
    );
}

/// Covers documents of any order and size, and sentences at any place in them.
#[test]
fn a_sample_is_fair() {
    let place = Place::new();
    let explained = |line: &str| {
        let said = place.ok(&format!("explain --sample 1000 pairs --unit sentence {line}"));
        assert!(said.contains("Estimated from one sentence in"), "{said}");
        let number = |name: &str| {
            let line = said.lines().find(|line| line.starts_with(name)).unwrap();
            let number = line.split("about ").nth(1).unwrap().split(' ').next().unwrap();
            number.replace(',', "").parse::<f64>().unwrap()
        };
        (number("pairs of places"), number("left out"))
    };
    let near = |estimate: f64, truth: f64| (estimate / truth - 1.0).abs() < 0.4;
    // Every other document has one and the same sentence.
    let text = |i: u32| {
        format!("{} Page {i} says {i}.", if i.is_multiple_of(2) { "The even pages say so, all of them." } else { "" })
    };
    place.write("even.jsonl", jsonl((0..2000).map(|i| (format!("{i:04}"), text(i)))));
    let (made, left_out) = explained("even.jsonl");
    assert!(near(made, 499_500.0) && left_out == 0.0, "{made} {left_out}");
    // Long documents, each of which says one thing over and over.
    place.write(
        "long.jsonl",
        jsonl((0..20).map(|i| (i.to_string(), format!("Line {i} is said again and again. ").repeat(200)))),
    );
    let (made, left_out) = explained("long.jsonl");
    assert!(near(made, 398_000.0) && left_out == 0.0, "{made} {left_out}");
    // One document against many: the sample has all of its sentences.
    place.write("one.jsonl", jsonl([("one", "The even pages say so, all of them.")]));
    let (made, left_out) = explained("one.jsonl --against even.jsonl --max-frequency 2000");
    assert!(near(made, 1000.0) && left_out == 0.0, "{made} {left_out}");
}

#[test]
fn the_commands_work_together() {
    let place = Place::new();
    let [a, b, c] = texts();
    place.write("docs/one.jsonl.gz", gzip(jsonl([a, b])));
    place.write("docs/two.jsonl.gz", gzip(jsonl([c])));
    place.ok("ingest docs/*.jsonl.gz -o corpus/");
    place.ok("passages corpus/ -o reuse.parquet");
    let best = place.sql("SELECT doc_a, doc_b, sentences FROM 'reuse.parquet' ORDER BY sentences DESC LIMIT 10");
    assert_eq!(best, [json!({"doc_a": "a.txt", "doc_b": "b.txt", "sentences": 5})]);

    place.write("suspicious/b.jsonl", jsonl([texts()[1].clone()]));
    place.ok("passages suspicious/ --against corpus/ -o reuse.parquet");
    assert_eq!(place.sql("SELECT DISTINCT doc_a FROM 'reuse.parquet'"), [json!({"doc_a": "b.txt"})]);

    place.ok("pairs corpus/ --unit sentence --signature shingles:3 --threshold 0.8 -o pairs.parquet");
    assert_eq!(place.sql("SELECT count(*) AS n FROM 'pairs.parquet'"), [json!({"n": 5})]);
    assert!(place.ok("completions bash").contains("ibid"));
}

#[test]
fn results_have_the_columns_that_scripts_hang_on() {
    let place = place_of_texts();
    let columns = |line: &str| header(&place.ok(&format!("{line} --format csv"))).to_owned();
    assert_eq!(columns("passages docs"), PASSAGE_COLUMNS);
    assert_eq!(columns("passages docs --profile edited"), PASSAGE_COLUMNS);
    assert_eq!(columns("pairs docs"), "id_a,id_b,similarity");
    assert_eq!(columns("pairs docs --unit document"), "id_a,id_b,similarity");
    assert_eq!(columns("pairs docs --unit sentence"), "id_a,id_b,similarity,sent_a,sent_b");
    // A result without rows has its columns, too, also in a file.
    assert_eq!(columns("passages docs/c.txt"), PASSAGE_COLUMNS);
    place.ok("passages docs/c.txt -o none.parquet");
    assert_eq!(
        place.sql("SELECT count(*) AS n, max(char_b_end) AS last FROM 'none.parquet'"),
        [json!({"n": 0, "last": null})]
    );
    place.ok("ingest docs -o corpus");
    let of_corpus = |table: &str| {
        let sql = format!("SELECT * FROM 'corpus/{table}.parquet'");
        header(place.run_with(["sql", &sql, "--format", "csv"], "").text()).to_owned()
    };
    assert_eq!(of_corpus("documents"), "doc_id,text");
    assert_eq!(of_corpus("sentences"), "doc_id,sent,char_start,char_end,byte_start,byte_end,text");
}

#[test]
fn offsets_lead_back_into_the_texts() {
    let place = place_of_texts();
    let texts = texts();
    for options in ["", " --profile edited"] {
        let rows = place.rows(&format!("passages docs{options}"));
        assert_eq!(rows.len(), 1, "{options}: {rows:?}");
        let [a, b] = ["a", "b"].map(|side| slice(&rows[0], side, &texts));
        assert_eq!(a, b, "{options}");
        // The profiles differ at most in the full stop.
        assert_eq!(a.trim_end_matches('.'), SHARED.trim_end_matches('.'), "{options}");
    }
}

/// Returns the passage of one side of a row. Its characters and its bytes must give the same text.
fn slice(row: &Value, side: &str, texts: &[(&str, String)]) -> String {
    let number = |name: String| usize::try_from(row[name].as_u64().unwrap()).unwrap();
    let doc = row[format!("doc_{side}")].as_str().unwrap();
    let text = &texts.iter().find(|(name, _)| *name == doc).unwrap().1;
    let (start, end) = (number(format!("char_{side}_start")), number(format!("char_{side}_end")));
    let by_characters: String = text.chars().skip(start).take(end - start).collect();
    let by_bytes = &text[number(format!("byte_{side}_start"))..number(format!("byte_{side}_end"))];
    assert_eq!(by_characters, by_bytes);
    by_characters
}

#[test]
fn against_keeps_the_direction() {
    let place = place_of_texts();
    place.write("new/z.txt", &texts()[0].1);
    place.write("new/zz.txt", &texts()[0].1);
    let ids = |rows: &[Value], a: &str, b: &str| rows.iter().map(|row| json!([row[a], row[b]])).collect::<Vec<_>>();
    // Two documents of the same collection are never compared.
    let rows = place.rows("passages new --against docs");
    assert_eq!(
        ids(&rows, "doc_a", "doc_b"),
        [["z.txt", "a.txt"], ["z.txt", "b.txt"], ["zz.txt", "a.txt"], ["zz.txt", "b.txt"]].map(|ids| json!(ids))
    );
    let rows = place.rows("pairs new --against docs");
    assert_eq!(ids(&rows, "id_a", "id_b"), [["z.txt", "a.txt"], ["zz.txt", "a.txt"]].map(|ids| json!(ids)));
    let rows = place.rows("passages docs --against new");
    assert_eq!(
        ids(&rows, "doc_a", "doc_b"),
        [["a.txt", "z.txt"], ["a.txt", "zz.txt"], ["b.txt", "z.txt"], ["b.txt", "zz.txt"]].map(|ids| json!(ids))
    );
}

#[test]
fn a_document_is_compared_with_itself_on_request_only() {
    let twice = format!("{SHARED} In between stands another sentence. {SHARED}");
    let place = Place::with([("twice.txt", &twice)]);
    assert_eq!(place.rows("passages twice.txt"), Vec::<Value>::new());
    assert_eq!(place.rows("pairs twice.txt --unit sentence"), Vec::<Value>::new());
    let rows = place.rows("passages twice.txt --within-documents");
    assert_eq!(rows.len(), 1);
    let texts = [("twice.txt", twice)];
    assert_eq!((slice(&rows[0], "a", &texts), slice(&rows[0], "b", &texts)), (SHARED.into(), SHARED.into()));
    assert_eq!(place.rows("pairs twice.txt --unit sentence --within-documents").len(), 5);
}

#[test]
fn a_document_of_both_collections_is_compared_with_itself_on_request_only() {
    let texts = texts();
    let place = place_of_texts();
    // `docs/a.txt` is the same in both. `new/c.txt` has its text, but is another document.
    place.write("new/c.txt", &texts[0].1);
    for command in ["passages", "passages --profile edited", "pairs --unit sentence", "pairs --threshold 0.1"] {
        let pairs = |options: &str| {
            let ended = place.run(&format!("{command} docs/a.txt new/c.txt --against docs --format csv{options}"));
            let ids = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(" ");
            (ended.text().lines().skip(1).map(ids).collect::<BTreeSet<_>>(), ended.err)
        };
        let others = BTreeSet::from(["docs/a.txt b.txt", "new/c.txt a.txt", "new/c.txt b.txt"].map(String::from));
        let (found, said) = pairs("");
        assert_eq!(found, others, "{command}");
        assert!(said.contains("ibid: 1 documents stand in both collections"), "{command}: {said}");
        let (found, said) = pairs(" --within-documents");
        assert_eq!(found, &others | &BTreeSet::from(["docs/a.txt a.txt".to_string()]), "{command}");
        assert!(!said.contains("both collections"), "{command}: {said}");
    }
    // Two documents of one collection are not compared on request, either.
    let old = "docs/a.txt new/c.txt --against docs/b.txt";
    assert_eq!(place.rows(&format!("pairs {old} --within-documents --threshold 0.1")).len(), 2);
    assert_eq!(place.rows("passages docs --against docs").len(), 2);
}

/// Numbers of rows, hashes of texts and names of files say nothing of where a document comes from.
#[test]
fn equal_ids_and_texts_of_other_files_are_leaks() {
    let text = "The parcel came a week late and the box was wet when it came.";
    let other = "A question about the opening hours on Sundays in the month of May.";
    let place = Place::new();
    for (name, text) in [("train", [text, other]), ("test", [text, "Something else that was not said before it."])] {
        place.write(&format!("{name}.jsonl"), jsonl([("1", text[0]), ("2", text[1])]));
        place.write(&format!("{name}/a.txt"), text[0]);
        place.write(&format!("{name}.csv"), format!("text\n{}\n{}\n", text[0], text[1]));
        place.ok(&format!("ingest {name}.jsonl -o {name}-corpus"));
    }
    place.ok("pairs made-index --add train.jsonl -q -o added.parquet");
    let found = |command: &str| place.rows(command).len();
    for method in ["pairs", "passages --min-words 8", "containment", "threads --field text"] {
        for form in [".jsonl", ".csv", "", "-corpus"] {
            let command = format!("{method} test{form} --against train{form}");
            assert_eq!(found(&command), 1, "{command}");
            let same = if form.is_empty() { "a.txt" } else { "1" };
            let ended = place.run(&format!("{command} --same-ids --format csv"));
            let notes = ended.err.contains("1 documents stand in both collections");
            assert!(notes && ended.text().lines().count() == 1, "{command} {same}: {} {}", ended.text(), ended.err);
        }
        assert_eq!(found(&format!("{method} train-corpus --against train.jsonl")), 0, "{method}");
        assert_eq!(found(&format!("{method} train-corpus --against train-corpus")), 0, "{method}");
    }
    // An index that does not know the origin of its documents has documents in common only with itself.
    assert_eq!(found("pairs train.jsonl --against made-index"), 2);
    assert_eq!(found("pairs made-index --against made-index"), 0);
    // A record that was changed since is another document.
    place.write("train.jsonl", jsonl([("1", format!("{text} Why?").as_str()), ("2", other)]));
    assert_eq!(found("pairs train-corpus --against train.jsonl --threshold 0.5"), 1);
    let said = place.fails(2, "pairs train.jsonl --same-ids");
    assert!(said.contains("--against"), "{said}");
}

#[test]
fn rows_of_one_sentence_are_compared_as_they_are() {
    let rows = [
        ("1", "Dr. Lund paid. He left at 9 p.m. again."),
        ("2", "dr lund paid; he left at 9 p.m. again"),
        ("3", "No."),
    ];
    let place = Place::with([("rows.jsonl", &jsonl(rows))]);
    assert_eq!(place.rows("pairs rows.jsonl"), [json!({"id_a": "1", "id_b": "2", "similarity": 1.0})]);
}

#[test]
fn every_signature_finds_a_copy() {
    let place = place_of_texts();
    for signature in
        ["shingles", "shingles:2", "characters:5", "i_match:0.1,1", "i_match_ranked:1,8", "spot_sigs:10,1,2"]
    {
        let rows = place.rows(&format!("pairs docs --unit sentence --signature {signature}"));
        assert_eq!(rows.len(), 5, "{signature}: {rows:?}");
    }
}

#[test]
fn raw_input_is_as_good_as_a_corpus() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(80, 3))]);
    place.ok("ingest docs.jsonl -o corpus");
    for command in ["passages", "passages --profile edited", "pairs --unit sentence", "pairs --threshold 0.1"] {
        let raw = place.ok(&format!("{command} docs.jsonl --format csv"));
        assert!(raw.lines().count() > 5, "{command}: hardly a result");
        assert_eq!(raw, place.ok(&format!("{command} corpus --format csv")), "{command}");
    }
}

#[test]
fn the_sql_that_is_shown_is_the_sql_that_runs() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(80, 3)), ("more.jsonl", &collection_jsonl(80, 4))]);
    place.ok("ingest docs.jsonl -o it's");
    place.ok("ingest more.jsonl -o more");
    for command in [
        "passages it's",
        "passages it's --profile edited",
        "passages it's --within-documents --common 3 --threshold 0.4 --min-words 8",
        "passages it's --against more --common none",
        "pairs it's --against it's --threshold 0.1",
        "pairs it's --unit sentence --signature i_match",
        "pairs it's --threshold 0.1",
    ] {
        let script = place.ok(&format!("{command} --show-sql"));
        let ran = place.run_with(["sql", "-f", "-", "--format", "csv"], &script);
        assert_eq!(ran.text(), place.ok(&format!("{command} --format csv")), "{command}\n{}", ran.err);
    }
    // For input that is no corpus, the script says how to make one.
    assert!(place.ok("passages docs.jsonl --show-sql").starts_with("-- first: ibid ingest docs.jsonl -o corpus\n"));
}

#[test]
fn formats_are_for_people_and_for_programs() {
    let place = Place::with([("docs.jsonl", &jsonl([("x", "One two three."), ("y", "One two three.")]))]);
    assert_eq!(place.ok("pairs docs.jsonl --format csv"), "id_a,id_b,similarity\nx,y,1.0\n");
    assert_eq!(place.ok("pairs docs.jsonl --format ndjson"), "{\"id_a\":\"x\",\"id_b\":\"y\",\"similarity\":1.0}\n");
    let table = "+------+------+------------+\n\
                 | id_a | id_b | similarity |\n\
                 +------+------+------------+\n\
                 | x    | y    | 1.0        |\n\
                 +------+------+------------+\n\
                 1 row\n";
    assert_eq!(place.ok("pairs docs.jsonl --format table"), table);
    assert_eq!(place.ok("pairs docs.jsonl"), table);
    // The name of a file gives its format; the option has precedence.
    place.ok("pairs docs.jsonl -o pairs.ndjson");
    assert_eq!(json_lines(&String::from_utf8(place.read("pairs.ndjson")).unwrap()).len(), 1);
    place.ok("pairs docs.jsonl -o pairs.txt --format csv");
    assert!(place.read("pairs.txt").starts_with(b"id_a,"));
    assert!(
        place.fails(1, "pairs docs.jsonl -o pairs.txt").contains("name it .parquet, .csv or .ndjson, or say --format")
    );
    // A long table is complete, too.
    let long = "SELECT value FROM generate_series(1, 50)";
    assert_eq!(place.run_with(["sql", long], "").text().lines().count(), 4 + 50 + 1);
    assert_eq!(place.sql(long).len(), 50);
}

#[test]
fn results_go_to_standard_output_and_talk_to_standard_error() {
    let place = place_of_texts();
    let ended = place.run("passages docs --format csv");
    assert_eq!(ended.text().lines().count(), 2);
    let summary = "ibid: documents 3, document pairs 1, passages 1, families 0, documents in families 0, characters in families 0, skipped 0 (";
    assert!(ended.err.starts_with(summary), "{}", ended.err);
    let ended = place.run("passages docs -o out.csv");
    assert!(ended.out.is_empty() && ended.err.starts_with(summary));
    let ended = place.run("passages docs --quiet -o out.csv");
    assert!(ended.out.is_empty() && ended.err.is_empty());
    let ended = place.run("ingest docs -o corpus");
    assert!(ended.out.is_empty());
    assert!(ended.err.starts_with("ibid: files 3, documents 3, sentences 16, skipped 0 ("), "{}", ended.err);
}

#[test]
fn strict_ends_with_4_where_something_was_left_out() {
    let good = jsonl((0..5).map(|i| (format!("d{i}"), "The same old sentence stands in here.")));
    let place = Place::with([("good.jsonl", &good), ("bad.jsonl", &format!("{good}not json\n"))]);
    place.ok("pairs good.jsonl --strict");
    place.fails(4, "pairs good.jsonl --strict --max-frequency 4");
    place.ok("pairs good.jsonl --max-frequency 4");
    place.ok("pairs good.jsonl --strict --max-frequency 5");
    let said = place.fails(4, "pairs bad.jsonl --strict --on-error skip -o pairs.csv");
    assert!(said.contains("skipped 1"), "{said}");
    assert!(said.contains("skipped bad.jsonl, line 6, byte "), "{said}");
    // The result is still written.
    assert_eq!(String::from_utf8(place.read("pairs.csv")).unwrap().lines().count(), 11);
    place.fails(4, "ingest bad.jsonl --strict --on-error skip -o corpus");
    place.ok("passages corpus --strict");
}

#[test]
fn what_is_wrong_in_the_input_is_named_with_its_place() {
    let place = Place::with([
        ("bad.jsonl", "{\"id\": 1, \"text\": \"Fine.\"}\n{\"id\": 2, \"text\": \n"),
        ("twice.jsonl", &jsonl([("x", "One."), ("y", "Two."), ("x", "Three.")])),
        ("columns.csv", "id,Txet\n1,One\n"),
        ("empty.jsonl", ""),
        ("notes.xyz", "What is this?"),
    ]);
    let fails = |line: &str, says: &[&str]| {
        let said = place.fails(1, line);
        assert!(said.starts_with("ibid: ") && says.iter().all(|part| said.contains(part)), "{line}: {said}");
    };
    fails("pairs bad.jsonl", &["bad.jsonl, line 2", "--on-error skip"]);
    fails("pairs twice.jsonl", &["twice.jsonl", "\"x\"", "line 1", "line 3"]);
    fails(
        "pairs columns.csv",
        &["columns.csv, line 1, byte 0: it has no column \"text\"", "did you mean \"Txet\"?", "--text-column"],
    );
    fails("pairs columns.csv --text-column Txt", &["did you mean \"Txet\"?"]);
    fails("pairs columns.csv --text-column Txet --id-column key", &["\"key\"", "id, Txet", "--id-column"]);
    fails("pairs nowhere", &["nowhere does not exist"]);
    fails("pairs empty.jsonl", &["no documents"]);
    fails("pairs notes.xyz", &["notes.xyz", "--input-format"]);
    fails("pairs bad.jsonl -o nowhere/out.csv --on-error skip", &["there is no folder nowhere"]);
    fails("ingest twice.jsonl --id-column= -o nowhere/corpus", &["there is no folder nowhere"]);
    place.write("folder/thesis.tex", "years of work");
    fails("ingest twice.jsonl --id-column= -o folder", &["thesis.tex", "name another folder"]);
}

/// The Parquet reader panics on these files.
#[test]
fn parquet_on_which_its_reader_breaks_down_is_a_bad_file() {
    let place = Place::new();
    for (seed, changes) in
        [("zstd", &[(71, 19), (76, 255), (153, 0)][..]), ("groups", &[(337, 255), (387, 110), (775, 127), (977, 0)])]
    {
        let mut file =
            std::fs::read(format!("{}/../fuzz/corpus/library/parquet/{seed}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        changes.iter().for_each(|&(at, byte)| file[at] = byte);
        place.write("bad.parquet", file);
        for line in ["pairs bad.parquet", "sql SELECT*FROM'bad.parquet'"] {
            let said = place.fails(1, line);
            assert!(said.contains("bad.parquet") && said.contains("not a sound Parquet file"), "{line}: {said}");
            assert!(!said.contains("please report"), "{line}: {said}");
        }
    }
}

#[test]
fn what_is_not_utf_8_is_named_with_its_place() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.write("latin.sql", b"SELECT 1;\nSELECT 'caf\xe9'");
    let said = place.fails(1, "sql -f latin.sql");
    assert!(said.contains("latin.sql: line 2, byte 21: byte 0xE9 is not valid UTF-8; convert it"), "{said}");
    let mut command = place.command(["ingest", "-o", "corpus"]);
    command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    let ended = run_command(command, "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("the argument \"caf\u{fffd}.txt\" is not UTF-8; rename the file"), "{}", ended.err);
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let place = Place::with([("docs/a.txt", "One."), ("docs/b.txt", "Two.")]);
    std::fs::remove_file(place.path("docs/b.txt")).unwrap();
    // Reading it fails for every user, root among them.
    std::os::unix::fs::symlink("b.txt", place.path("docs/b.txt")).unwrap();
    let said = place.fails(1, "pairs docs/b.txt");
    assert!(said.contains("docs/b.txt"), "{said}");
    place.write("broken.parquet", "PAR1 and no more");
    let said = place.fails(1, "pairs broken.parquet");
    assert!(said.contains("broken.parquet"), "{said}");
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_is_right() {
    let place = place_of_texts();
    let fails = |line: &str, says: &str| {
        let said = place.fails(2, line);
        assert!(said.contains(says), "{line}: {said}");
    };
    fails("passages", "<INPUTS>");
    fails("passages docs --treshold 0.5", "'--threshold'");
    fails("passages docs --threshold 1.5", "a number above 0 and up to 1, such as 0.8");
    fails("passages docs --threshold 0", "a number above 0 and up to 1");
    fails("passages docs --threshold -1", "a number above 0 and up to 1");
    fails("codes learn docs --bits -1", "--bits");
    fails("passages docs --min-sentences 0", "--min-sentences");
    fails("passages docs --max-gap 1001", "1000");
    fails("passages docs --min-words 0", "--min-words");
    fails("passages docs --common 0", "a whole number from 1, such as 20, or none");
    fails("pairs docs --signature shingels:3", "did you mean shingles?");
    fails("pairs docs --signature shingles:3,4", "shingles:n=3");
    fails("pairs docs --unit word", "document, sentence");
    fails("pairs docs --memory lots", "write a number and KiB");
    fails("passages docs --format xml", "ndjson");
    fails("ingest docs", "--output");
}

#[test]
fn options_without_effect_are_refused() {
    let place = place_of_texts();
    for (line, option) in [
        ("clusters docs -o out --method exact --rows 4", "--rows"),
        ("clusters docs -o out --method exact --certify", "--certify"),
        ("passages docs --profile edited --min-words 3", "--min-words"),
        ("passages docs --max-gap 3", "--max-gap"),
    ] {
        let said = place.fails(1, line);
        assert!(said.contains(&format!("{option} has no effect here")), "{line}: {said}");
    }
}

#[test]
fn a_large_result_has_several_row_groups() {
    let place = Place::new();
    place.run_with(["sql", "SELECT * FROM range(300000)", "-o", "rows.parquet"], "");
    let file = std::fs::File::open(place.path("rows.parquet")).unwrap();
    let reader = parquet::file::reader::SerializedFileReader::new(file).unwrap();
    let groups = parquet::file::reader::FileReader::metadata(&reader).row_groups().iter().map(|group| group.num_rows());
    assert_eq!(groups.collect::<Vec<_>>(), [131_072, 131_072, 37_856]);
}

#[test]
fn too_little_memory_is_said_with_what_to_raise() {
    let place = place_of_texts();
    let said = place.fails(1, "pairs docs --memory 1KiB");
    assert!(said.contains("raise --memory"), "{said}");
    let said = place.fails(1, "pairs docs --memory 1");
    assert!(!said.contains("KiB") && !said.lines().any(|line| line.trim() == "."), "{said}");
    let mut command = place.command("pairs docs --memory 1KiB".split(' '));
    command.env("IBID_MEMORY_WATCH", "off");
    let said = run_command(command, "").err;
    assert!(said.contains("Resources exhausted") && said.contains("raise --memory"), "{said}");
}

#[test]
fn parameters_of_a_signature_out_of_range_are_refused() {
    let place = place_of_texts();
    let said = place.fails(1, "pairs docs --signature shingles:0");
    assert!(said.contains("n must be a whole number from 1 to 1000, got 0"), "{said}");
    assert!(!said.contains("please report"), "{said}");
}

#[test]
fn standard_input_is_a_file_called_dash() {
    let place = Place::new();
    let lines = jsonl([("x", "One two three."), ("y", "One two three.")]);
    let ended = place.run_with("pairs - --input-format jsonl --format csv".split(' '), &lines);
    assert_eq!(ended.text(), "id_a,id_b,similarity\nx,y,1.0\n", "{}", ended.err);
    let ended = place.run_with("ingest - --input-format csv -o corpus".split(' '), "id,text,year\n7,One.,1999\n");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(
        place.sql("SELECT * FROM 'corpus/documents.parquet'"),
        [json!({"doc_id": "7", "text": "One.", "year": "1999"})]
    );
}

#[test]
fn documents_keep_their_ids_and_columns() {
    let place = Place::with([
        (
            "in/deep/page.html",
            "<html><head><title>T</title></head><body><p>Hello <b>there</b>.</p><script>x</script></body>",
        ),
        ("in/note.md", "# Title\n\nText."),
        ("in/plain.txt", "Plain."),
    ]);
    place.write("rows.jsonl.gz", gzip("{\"text\": \"Good.\", \"stars\": 5}\n{\"text\": \"Bad.\", \"stars\": 1}\n"));
    place.ok("ingest in -o corpus");
    let ids = place.sql("SELECT doc_id FROM 'corpus/documents.parquet' ORDER BY doc_id");
    assert_eq!(ids, ["deep/page.html", "note.md", "plain.txt"].map(|id| json!({ "doc_id": id })));
    let page = place.sql("SELECT text FROM 'corpus/documents.parquet' WHERE doc_id = 'deep/page.html'");
    assert_eq!(page[0]["text"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" "), "T Hello there.");
    place.ok("ingest rows.jsonl.gz -o corpus");
    let rows = place.sql("SELECT doc_id, stars FROM 'corpus/documents.parquet' ORDER BY doc_id");
    assert_eq!(rows, [json!({"doc_id": "1", "stars": 5}), json!({"doc_id": "2", "stars": 1})]);
}

#[test]
fn sql_runs_scripts_with_parameters() {
    let place = Place::with([
        ("make.sql", "-- $text\nCREATE TABLE t AS SELECT $text AS text, $n AS n;"),
        ("query.sql", "SELECT text, n + 1 AS n FROM t WHERE n > 0;"),
    ]);
    let out = place.ok("sql -f make.sql query.sql -p text=O'Brien$n --param $n=41 --format csv");
    assert_eq!(out, "text,n\nO'Brien$n,42\n");
    let said = place.fails(1, "sql -f make.sql --param text=a");
    assert!(
        said.contains("make.sql") && said.contains("no value for the parameter $n; there are values for text"),
        "{said}"
    );
    // Commands come before files; without either, standard input is read.
    let ended = place.run_with(
        ["sql", "-f", "query.sql", "-c", "CREATE TABLE t AS SELECT 'x' AS text, 1 AS n", "--format", "csv"],
        "",
    );
    assert_eq!(ended.text(), "text,n\nx,2\n");
    let ended = place.run_with(["sql", "--format", "csv"], "SELECT 1 AS x; SELECT 2 AS y");
    assert_eq!(ended.text(), "x\n1\ny\n2\n");
    let two = place.run_with(["sql", "SELECT 1; SELECT 2", "-o", "two.csv"], "");
    assert_eq!(two.code, Some(1));
    assert!(two.err.contains("take the queries apart"), "{}", two.err);
    assert!(place.fails(1, "sql -f none.sql").contains("cannot read none.sql"));
}

#[test]
fn files_can_be_named_in_from() {
    let place = Place::new();
    let rows = json!([{"id": 1, "text": "One."}, {"id": 2, "text": "Two."}]);
    let (csv, json) = ("id,text\n1,One.\n2,Two.\n", rows.as_array().unwrap().iter().map(|row| format!("{row}\n")));
    let json: String = json.collect();
    for (name, contents) in [("csv", csv), ("json", &json), ("jsonl", &json), ("ndjson", &json)] {
        place.write(&format!("x.{name}"), contents);
        place.write(&format!("x.{name}.gz"), gzip(contents));
        place.write(&format!("x.{name}.zst"), zstd::encode_all(contents.as_bytes(), 0).unwrap());
        for packed in ["", ".gz", ".zst"] {
            let read = place.sql(&format!("SELECT id, text FROM 'x.{name}{packed}' ORDER BY id"));
            assert_eq!(json!(read), rows, "{name}{packed}");
        }
    }
    // Written files can be read.
    for name in ["parquet", "csv", "ndjson", "jsonl"] {
        let ended = place.run_with(["sql", "SELECT 7 AS n", "-o", &format!("made.{name}")], "");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert_eq!(place.sql(&format!("SELECT n FROM 'made.{name}'")), [json!({"n": 7})], "{name}");
    }
    // Folders and patterns, too. A table that has the name of a folder is a table.
    place.write("deep/one.ndjson", &json);
    place.write("deep/two.ndjson", &json);
    assert_eq!(place.sql("SELECT count(*) AS n FROM 'deep/*.ndjson'"), [json!({"n": 4})]);
    place.write("texts/a.txt", "One.");
    assert_eq!(place.sql("CREATE TABLE texts AS SELECT 1 AS n; SELECT n FROM texts"), [json!({"n": 1})]);
}

#[test]
fn options_can_be_shown() {
    let place = Place::new();
    let default = [json!({"name": "ibid.similarity_join.strategy", "value": "auto"})];
    assert_eq!(place.sql("SHOW ibid.similarity_join.strategy"), default);
    let settings = "SELECT name, value FROM information_schema.df_settings WHERE name LIKE '%similarity_join.strategy'";
    assert_eq!(place.sql(settings), default);
    let set = "SET ibid.similarity_join.strategy = nested_loop; SHOW ibid.similarity_join.strategy";
    assert_eq!(place.sql(set)[0]["value"], "nested_loop");
}

#[test]
fn what_cannot_be_written_is_known_before_anything_is_read() {
    let place = Place::with([("folder/file", "")]);
    // The input does not exist, so a command that reads first would report that.
    for (command, table) in [
        ("pairs none.jsonl", "capped"),
        ("passages none.jsonl", "families"),
        ("passages none.jsonl --against none.jsonl", "coverage"),
    ] {
        let fails = |options: &str, says: &[&str]| {
            let said = place.fails(1, &format!("{command} {options}"));
            assert!(says.iter().all(|part| said.contains(part)), "{command} {options}: {said}");
        };
        fails("-o no/out.csv", &["there is no folder no; make it first"]);
        fails("-o out.txt", &["name it .parquet, .csv or .ndjson, or say --format"]);
        fails("-o folder --format csv", &["folder: it is a folder; name a file"]);
        let (missing, odd) = (format!("--{table} no/table.csv"), format!("--{table} table.txt"));
        fails(&missing, &["cannot write no/table.csv", "there is no folder no; make it first"]);
        fails(&odd, &["format of table.txt; name it .parquet, .csv or .ndjson\n"]);
        fails(
            "--on-error quarantine --quarantine no/bad.jsonl",
            &["no/bad.jsonl", "there is no folder no; make it first"],
        );
        fails("-o out.csv", &["none.jsonl does not exist"]);
    }
    let fails = |line: &str, says: &str| {
        let said = place.fails(1, line);
        assert!(said.contains(says), "{line}: {said}");
    };
    fails("sql -f none.sql -o no/out.csv", "there is no folder no; make it first");
    fails("sql -f none.sql -o out.txt", "or say --format");
    fails("ingest none.jsonl -o no/corpus", "there is no folder no; make it first");
    let quarantine = "ingest none.jsonl -o corpus --on-error quarantine --quarantine no/bad.jsonl";
    fails(quarantine, "there is no folder no; make it first");
    assert_eq!(place.names(), ["folder"]);
}

#[test]
fn the_quarantine_has_the_bad_records_of_both_collections_and_of_no_earlier_run() {
    let place = Place::new();
    place.write("ours.jsonl", "{\"id\": \"a\", \"text\": \"Nothing wrong here.\"}\nours\n");
    place.write("theirs.jsonl", "theirs\n{\"id\": \"b\", \"text\": \"Nor here.\"}\n");
    for _ in 0..2 {
        place.ok("pairs ours.jsonl --against theirs.jsonl --on-error quarantine --quarantine bad.jsonl -o out.csv");
        let bad = place.sql("SELECT file, line FROM 'bad.jsonl' ORDER BY file");
        assert_eq!(bad, [json!({"file": "ours.jsonl", "line": 2}), json!({"file": "theirs.jsonl", "line": 1})]);
    }
}

#[test]
fn errors_in_sql_say_what_was_meant() {
    let place = place_of_texts();
    place.ok("passages docs -o reuse.parquet");
    let fails = |sql: &str, says: &[&str]| {
        let ended = place.run_with(["sql", sql], "");
        assert_eq!((ended.code, ended.out.len()), (Some(1), 0), "{sql}");
        assert!(says.iter().all(|part| ended.err.contains(part)), "{sql}: {}", ended.err);
    };
    fails("SELECT docs_a FROM 'reuse.parquet'", &["No field named docs_a", "doc_a"]);
    fails("SELECT jacard([1], [1])", &["Did you mean 'jaccard'?"]);
    fails("SELECT jaccard('a b', 'a c')", &["shingles(words(normalize(a)), 3)"]);
    fails("SELEC 1", &["SELEC", "line 1, column 1"]);
    let said = place.run_with(["sql", "SELEC 1"], "").err;
    assert_eq!(said.matches("Expected: an SQL statement").count(), 1, "said twice: {said}");
    for file in ["none.parquet", "none.csv.gz", "none.ndjson", "none/of/these"] {
        fails(&format!("SELECT 1 FROM '{file}'"), &[&format!("there is no file {file}")]);
    }
    fails("SELECT 1 FROM 'none/*.csv'", &["there is no file none/*.csv"]);
    fails("SELECT 1 FROM 'docs/a.txt'", &["docs/a.txt in FROM", ".parquet, .csv, .tsv, .json, .jsonl, .ndjson"]);
    fails("SELECT 1 FROM 'ftp://there/x.parquet'", &["files of this machine"]);
    fails("SELECT 1 FROM docs", &["docs", "not found"]);
    fails("SELECT prefix_filter([1], 'jaccard', 0)", &["threshold must be a number above 0, got 0"]);
    fails("SET ibid.similarity_join.strategy = quick", &["nested_loop, lowered, operator, distributed, bitmap, auto"]);
    for nested in ["[1]", "map(['k'], [1])", "struct(1)"] {
        let ended = place.run_with(["sql", &format!("SELECT 0, {nested} AS nested"), "--format", "csv"], "");
        assert!(ended.err.contains("the column nested has values within values"), "{}", ended.err);
    }
    let ended = place.run_with(["sql", "SELECT 0 AS n", "--format", "csv", "-o", "/dev/full"], "");
    assert!(
        ended.code == Some(1) && ended.err.contains("No space left") && !ended.err.contains("ndjson"),
        "{}",
        ended.err
    );
}

#[test]
fn whoever_reads_may_stop_reading() {
    let place = Place::new();
    let long = "SELECT value, 'a text that fills the pipe' AS text FROM generate_series(1, 3000000)";
    for format in ["csv", "ndjson", "table"] {
        let mut command = place.command(["sql", long, "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        drop(out);
        let code = child.wait().unwrap().code();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(first.contains("value") || format == "table", "{format}: {first}");
        assert_eq!((code, said.as_str()), (Some(0), ""), "{format}");
    }
    // Further files are still written, and errors are still errors.
    let unread = |line: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        place.command(line.split(' ')).stdout(writer).stderr(Stdio::null()).status().unwrap().code()
    };
    let sentences: String = (0..30).map(|id| format!("{{\"id\": {id}, \"text\": \"One and the same.\"}}\n")).collect();
    place.write("a.jsonl", sentences);
    place.write("capped.csv", "of an earlier run");
    assert_eq!(unread("pairs a.jsonl --max-frequency 2 --capped capped.csv"), Some(0));
    assert!(place.read("capped.csv").starts_with(b"text,"));
    assert_eq!(unread("threads a.jsonl --field text --groups groups.csv"), Some(0));
    assert!(place.read("groups.csv").len() > 100);
    place.ok("sql SELECT(1) -o x.parquet");
    let mut bytes = place.read("x.parquet");
    bytes[10] ^= 1;
    place.write("x.parquet", bytes);
    assert_eq!(unread("verify x.parquet"), Some(1));
}

#[test]
fn memory_is_limited_where_nobody_says_how_much() {
    let place = Place::new();
    let limit = |options: &str| {
        let shown = place.run_with(
            "sql -q --format csv".split(' ').chain(options.split_whitespace()),
            "SHOW datafusion.runtime.memory_limit",
        );
        shown.text().to_owned()
    };
    assert!(limit("").contains("memory_limit,"), "{}", limit(""));
    assert!(!limit("").contains("unlimited"), "{}", limit(""));
    assert!(limit("--memory 1GiB").ends_with("memory_limit,480M\n"), "{}", limit("--memory 1GiB"));
}
