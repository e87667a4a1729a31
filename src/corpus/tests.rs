//! Tests of reading that hold for all formats.

use std::sync::Arc;

use super::paths::Format;
use super::testing::{Folder, documents, gzip, pairs, skip};
use super::{Documents, OnError, Options, Quarantine, open_with_stdin};

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

fn stdin(data: &[u8], options: &Options) -> Vec<(String, String)> {
    let read = open_with_stdin(&["-".to_owned()], options, &mut &data[..], &std::sync::Arc::default()).unwrap();
    read.flat_map(|batch| pairs(&batch.unwrap())).collect()
}

#[test]
fn streams_without_end_are_errors_and_no_copies_without_end() {
    let said = |byte: u8, format: Option<Format>, options: Options| {
        let options = Options { max_record_bytes: 1000, format, ..options };
        match open_with_stdin(&["-".to_owned()], &options, &mut std::io::repeat(byte), &std::sync::Arc::default()) {
            Err(error) => error.to_string(),
            Ok(read) => read.collect::<Result<Vec<_>, _>>().unwrap_err().to_string(),
        }
    };
    for (byte, format, reason) in [
        (b'a', None, "standard input: the document is longer than 1000 bytes; raise the limit with `max_record_bytes`"),
        (0, None, "standard input: the document is longer than 1000 bytes; "),
        (b'\n', Some(Format::Html), "standard input: the document is longer than 1000 bytes; "),
        (
            b'{',
            None,
            "standard input, line 1, byte 0: the line is longer than 1000 bytes; raise the limit with `max_record_bytes`",
        ),
        (b' ', None, "standard input, line 1, byte 0: the line is longer than 1000 bytes; "),
        (0, Some(Format::Csv), "standard input, line 1, byte 0: the line is longer than 1000 bytes; "),
        (b'<', Some(Format::MediaWiki), "standard input, line 1, byte 0: the line is longer than 1000 bytes; "),
        (0, Some(Format::Parquet), "standard input: not a sound Parquet file"),
    ] {
        let said = said(byte, format, Options::default());
        assert!(said.starts_with(reason), "{said}");
    }
}

#[test]
fn the_longest_line_of_a_stream_is_read() {
    let line = |length: usize| format!("\u{feff}{{\"text\": \"{}\"}}\r\n", "x".repeat(length));
    let options = Options { max_record_bytes: 100_000, ..Options::default() };
    let overhead = line(0).len() - "\u{feff}\r\n".len();
    assert_eq!(stdin(line(100_000 - overhead).as_bytes(), &options).len(), 1);
    let error = open_with_stdin(&["-".to_owned()], &options, &mut line(100_100).as_bytes(), &std::sync::Arc::default())
        .err()
        .unwrap();
    assert!(error.to_string().contains("the line is longer than 100000 bytes"), "{error}");
    let skipping = Options { max_record_bytes: 1000, ..skip() };
    assert_eq!(stdin((line(10) + &line(2000)[3..] + &line(20)[3..]).as_bytes(), &skipping).len(), 2);
}

#[test]
fn formats_and_compressions_mix_into_one_table() {
    let folder = Folder::of(&[
        ("a.csv", b"text,n\none,1\n"),
        ("b.jsonl.gz", &gzip(b"{\"text\": \"two\", \"n\": 2, \"m\": true}\n")),
        ("c/d.txt.zst", &zstd::encode_all(&b"three"[..], 1).unwrap()),
        ("e.html", b"<p>four"),
    ]);
    assert_eq!(
        folder.table(&[""], &Options::default()),
        ["doc_id|text|n|m", "a.csv#1|one|1|", "b.jsonl.gz#1|two|2|true", "c/d.txt.zst|three||", "e.html|four||"]
    );
}

#[test]
fn what_ibid_wrote_is_read_back_with_its_ids() {
    let folder = Folder::of(&[("a.jsonl", b"{\"doc_id\": \"x\", \"id\": 5, \"text\": \"one\"}\n")]);
    assert_eq!(folder.table(&["a.jsonl"], &Options::default()), ["doc_id|text|id", "x|one|5"]);
}

#[test]
fn columns_are_chosen_by_name() {
    let folder = Folder::of(&[("a.jsonl", b"{\"key\": 3, \"body\": \"one\", \"text\": \"t\", \"id\": 4}\n")]);
    let chosen = with(|o| {
        o.text_column = Some("body".to_owned());
        o.id_column = Some("key".to_owned());
    });
    assert_eq!(folder.table(&["a.jsonl"], &chosen), ["doc_id|text|original_text|id", "3|one|t|4"]);
    let numbered = with(|o| o.id_column = Some(String::new()));
    assert_eq!(folder.read(&["a.jsonl"], &numbered).unwrap(), documents(&[("1", "t")]));
    let misspelt = with(|o| o.text_column = Some("boddy".to_owned()));
    assert_eq!(
        folder.error(&["a.jsonl"], &misspelt),
        "a.jsonl: it has no column \"boddy\"; its columns are key, body, text, id; did you mean \"body\"? Name the column \
         with `text_column`, or leave such files out with `on_error = skip`"
    );
}

#[test]
fn a_repeated_id_is_an_error_that_names_both_places() {
    let twice = Folder::of(&[("a.jsonl", b"{\"id\": 1, \"text\": \"\"}\n\n{\"id\": \"1\", \"text\": \"\"}\n")]);
    for options in [Options::default(), skip()] {
        let error = twice.error(&["a.jsonl"], &options);
        let expected = "the id \"1\" stands twice: a.jsonl, record 1 (line 1) and a.jsonl, record 2 (line 3); ";
        assert!(error.starts_with(expected), "{error}");
    }
    let across = Folder::of(&[("a.txt", b"x"), ("b.csv", b"id,text\nb,x\na.txt,y\n")]);
    let error = across.error(&[""], &Options::default());
    assert!(error.contains("a.txt, record 1 and b.csv, record 2 (line 3)"), "{error}");
}

#[test]
fn bad_records_are_counted_listed_and_quarantined() {
    let folder = Folder::of(&[("a.jsonl", b"{\"text\": \"one\"}\nnonsense\n{\"text\": \"two\"}\n{\"text\": 1}\n")]);
    let quarantine = folder.path("bad.jsonl");
    let options = with(|o| o.on_error = OnError::Quarantine(Quarantine::new(quarantine.clone())));
    let mut read: Documents = folder.open(&["a.jsonl"], &options).unwrap();
    assert_eq!(pairs(&read.next().unwrap().unwrap()), documents(&[("1", "one"), ("3", "two")]));
    assert!(read.next().is_none());
    let summary = read.summary();
    assert_eq!((summary.documents, summary.skipped_count), (2, 2));
    assert_eq!(summary.skipped.iter().map(|s| s.line).collect::<Vec<_>>(), [Some(2), Some(4)]);
    let written = std::fs::read_to_string(&quarantine).unwrap();
    let kept: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(kept.iter().map(|k| k["data"].as_str().unwrap()).collect::<Vec<_>>(), ["nonsense", "{\"text\": 1}"]);
    assert_eq!(kept[1]["byte"], 41);
}

#[test]
fn a_result_is_no_input() {
    let folder = Folder::of(&[("a.jsonl", b"{\"text\": \"one\"}\n")]);
    let options = with(|o| o.results = vec![folder.path("a.jsonl").canonicalize().unwrap()]);
    assert!(folder.error(&[""], &options).contains("is one of the inputs"));
}

#[test]
fn a_file_cut_off_is_an_error_and_read_as_far_as_it_goes_on_request() {
    let lines: String =
        (0..20_000u64).map(|i| format!("{{\"text\": \"{}\"}}\n", i.wrapping_mul(0x9E37_79B9))).collect();
    let whole = gzip(lines.as_bytes());
    let folder = Folder::of(&[("a.jsonl.gz", &whole[..whole.len() / 2]), ("b.txt", b"good")]);
    let error = folder.error(&[""], &Options::default());
    assert!(error.starts_with("a.jsonl.gz, line ") && error.contains("the gzip data end in the middle"), "{error}");
    let read = folder.read(&[""], &skip()).unwrap();
    assert!(read.len() > 1_000 && read.len() < 20_000, "{}", read.len());
    assert_eq!(read.last().unwrap().0, "b.txt");
}

#[test]
fn standard_input_is_read_as_lines_or_as_one_text() {
    let lines = b"{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
    assert_eq!(stdin(lines, &Options::default()), documents(&[("1", "one"), ("2", "two")]));
    assert_eq!(stdin(&gzip(lines), &Options::default()), documents(&[("1", "one"), ("2", "two")]));
    assert_eq!(stdin(b"one\ntwo\n", &Options::default()), documents(&[("stdin", "one\ntwo\n")]));
    let csv = with(|o| o.format = Some(Format::Csv));
    assert_eq!(stdin(b"text\none\n", &csv), documents(&[("1", "one")]));
}

#[test]
fn the_copy_of_standard_input_is_deleted() {
    let read =
        open_with_stdin(&["-".to_owned()], &Options::default(), &mut &b"one"[..], &std::sync::Arc::default()).unwrap();
    let copy = read.plan.selection.files[0].path.clone();
    assert!(copy.exists());
    drop(read);
    assert!(!copy.exists());
}

#[test]
fn batches_are_bounded() {
    let lines: String = (0..20_000).map(|i| format!("{{\"text\": \"{i}\"}}\n")).collect();
    let folder = Folder::of(&[("a.jsonl", lines.as_bytes())]);
    let read = folder.open(&["a.jsonl"], &Options::default()).unwrap();
    let rows: Vec<_> = read.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(rows, [8192, 8192, 3616]);
}

#[test]
fn a_bomb_is_refused_without_being_held() {
    let bomb = gzip(&vec![b'x'; 64 << 20]);
    let folder = Folder::of(&[("a.txt.gz", &bomb), ("b.jsonl.gz", &bomb), ("c.csv.gz", &bomb)]);
    let options = with(|o| {
        o.max_record_bytes = 1 << 20;
        o.on_error = OnError::Skip;
    });
    let mut read = folder.open(&[""], &options).unwrap();
    assert!(read.next().is_none());
    let reasons: Vec<_> = read.summary().skipped.into_iter().map(|s| s.reason).collect();
    let expected =
        ["the document", "the line", "the record"].map(|what| format!("{what} is longer than 1048576 bytes"));
    assert_eq!(reasons, expected);
}

#[test]
fn a_limit_out_of_range_is_an_error() {
    let folder = Folder::of(&[("a.txt", b"x")]);
    for max_record_bytes in [0, usize::MAX] {
        let options = with(|o| o.max_record_bytes = max_record_bytes);
        assert!(folder.error(&[""], &options).contains("`max_record_bytes` must be from 1 to 268435456"));
    }
    for (max_record_bytes, memory) in [(16 << 20, 1 << 20), (32 << 20, 512 << 20), (33 << 20, 512 << 20)] {
        let options = with(|o| (o.max_record_bytes, o.memory) = (max_record_bytes, Some(memory)));
        let said = "lower `max_record_bytes`, or raise `memory` to 553648128";
        assert_eq!(
            folder.batch(&[""], &options).is_err_and(|error| error.contains(said)),
            max_record_bytes == 33 << 20
        );
    }
}

#[test]
fn reading_ends_after_an_error() {
    let folder = Folder::of(&[("a.csv", b"text\na\n"), ("b.txt", b"\xFF")]);
    let mut read = folder.open(&[""], &Options::default()).unwrap();
    assert!(read.next().unwrap().is_err());
    assert!(read.next().is_none());
}

#[test]
fn documents_can_be_read_on_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Documents>();
}

#[test]
fn texts_within_columns_and_in_several_are_read() {
    let jsonl = br#"{"id": "a", "title": "T", "chat": [{"role": "x", "content": "Hi."}, {"content": "Yes."}], "c": {"body": "deep"}, "p": ["one", "two"]}"#;
    let folder = Folder::of(&[("a.jsonl", jsonl), ("a.csv", b"id,title,body\na,T,B\nb,,only\n")]);
    let parquet = {
        use arrow::json::ReaderBuilder;
        use arrow::json::reader::infer_json_schema;
        let schema = Arc::new(infer_json_schema(&jsonl[..], None).unwrap().0);
        let batch = ReaderBuilder::new(schema).build(&jsonl[..]).unwrap().next().unwrap().unwrap();
        let mut file = Vec::new();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file
    };
    folder.add("a.parquet", &parquet);
    let read = |file: &str, column: &str| {
        let options = Options { text_column: Some(column.to_owned()), ..Options::default() };
        folder.read(&[file], &options).map(|read| read.into_iter().map(|(_, text)| text).collect::<Vec<_>>())
    };
    for file in ["a.jsonl", "a.parquet"] {
        for (column, expected) in [
            ("c.body", "deep"),
            ("chat[].content", "Hi.\n\nYes."),
            ("title+c.body", "T\n\ndeep"),
            ("p", "one\n\ntwo"),
            ("p[]", "one\n\ntwo"),
        ] {
            assert_eq!(read(file, column).unwrap(), [expected], "{file} {column}");
        }
        let error = read(file, "c.gone").unwrap_err();
        assert!(error.contains("the text, \"c.gone\", is missing"), "{error}");
        let error = read(file, "gone.body").unwrap_err();
        assert!(error.contains("has no column \"gone.body\""), "{error}");
    }
    assert_eq!(read("a.csv", "title+body").unwrap(), ["T\n\nB", "only"]);
}

#[test]
fn what_is_reached_in_two_ways_is_read_once_and_said() {
    use std::os::unix::fs::symlink;
    let folder = Folder::of(&[("d/sub/a.txt", b"one"), ("d/b.txt", b"two")]);
    symlink("b.txt", folder.path("d/a_link.txt")).unwrap();
    symlink("sub", folder.path("d/linkdir")).unwrap();
    let documents_of = documents(&[("b.txt", "two"), ("sub/a.txt", "one")]);
    let reading = folder.open(&["d"], &Options::default()).unwrap();
    let said: Vec<_> = super::PassedOver::summarize(&reading.summary().passed_over).collect();
    assert!(said[0].starts_with("2 files that are read by another name, such as "), "{said:?}");
    assert_eq!(reading.flat_map(|batch| pairs(&batch.unwrap())).collect::<Vec<_>>(), documents_of);
    let url = url::Url::from_file_path(folder.path("d/b.txt")).unwrap();
    let read = open_with_stdin(&[url.to_string()], &Options::default(), &mut &[][..], &Arc::default()).unwrap();
    assert_eq!(read.flat_map(|batch| pairs(&batch.unwrap())).collect::<Vec<_>>(), documents(&[("b.txt", "two")]));
}

#[test]
fn fields_are_parted_as_it_is_said() {
    let folder =
        Folder::of(&[("a.csv", b"id;text\n1;\"a \\\"quoted\\\" word; and more\"\n"), ("b.csv", b"id|text\n1|x,y\n")]);
    let parted =
        |delimiter, escape| with(|options| options.fields = super::Fields { delimiter: Some(delimiter), escape });
    assert_eq!(
        folder.read(&["a.csv"], &parted(b';', Some(b'\\'))).unwrap(),
        documents(&[("1", "a \"quoted\" word; and more")])
    );
    assert_eq!(folder.read(&["b.csv"], &parted(b'|', None)).unwrap(), documents(&[("1", "x,y")]));
}

#[test]
fn members_of_archives_are_files() {
    use std::io::Write;
    let members: [(&str, &[u8]); 6] = [
        ("a.txt", b"one"),
        ("deep/b.jsonl.gz", &gzip(b"{\"id\": \"x\", \"text\": \"two\"}\n")),
        ("deep/c.bin", b"\0"),
        (".hidden.txt", b"no"),
        ("__MACOSX/a.txt", b"no"),
        ("d.txt", b""),
    ];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut tar = tar::Builder::new(Vec::new());
    for (name, data) in members {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(data).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_cksum();
        tar.append_data(&mut header, name, data).unwrap();
    }
    let (zip, tar) = (zip.finish().unwrap().into_inner(), tar.into_inner().unwrap());
    let folder = Folder::of(&[
        ("x.zip", &zip),
        ("x.tar", &tar),
        ("x.tar.gz", &gzip(&tar)),
        ("x.tgz", &gzip(&tar)),
        ("cut.tar.gz", &gzip(&tar)[..60]),
        ("cut.zip", &zip[..90]),
    ]);
    for name in ["x.zip", "x.tar", "x.tar.gz", "x.tgz"] {
        let reading = folder.open(&[name], &Options::default()).unwrap();
        let passed_over: Vec<_> = reading.summary().passed_over.into_iter().map(|(_, path)| path).collect();
        assert!(passed_over.len() == 1 && passed_over[0].ends_with("deep/c.bin"), "{name}: {passed_over:?}");
        let read: Vec<_> = reading.flat_map(|batch| pairs(&batch.unwrap())).collect();
        let at = |member: &str| format!("{name}/{member}");
        assert_eq!(read, documents(&[(&at("a.txt"), "one"), (&at("d.txt"), ""), ("x", "two")]), "{name}");
    }
    for name in ["cut.tar.gz", "cut.zip"] {
        let error = folder.error(&[name], &Options::default());
        assert!(error.contains(name) && error.contains("fetch it again, or unpack it"), "{error}");
    }
}

/// The metadata at the beginning of a README of Hugging Face.
const CARD: &[u8] = b"---\nlicense: mit\ntask_categories:\n- text-generation\n---\n# Ferries\n";

#[test]
fn a_data_set_of_hugging_face_has_splits_and_its_readme_is_no_document() {
    let parquet = {
        use arrow::array::{ArrayRef, RecordBatch, StringArray};
        let column = Arc::new(StringArray::from(vec!["three", "four"])) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
        let mut writer = ::parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    };
    let jsonl = b"{\"id\": 1, \"text\": \"one\"}\n{\"id\": 2, \"text\": \"two\"}\n";
    let folder = Folder::of(&[
        ("a/README.md", CARD),
        ("a/dataset_infos.json", b"{}"),
        ("a/.gitattributes", b"x"),
        ("a/data/train-00000-of-00002.jsonl", jsonl),
        ("a/data/validation-00000-of-00001.parquet", &parquet),
        ("a/notes.txt", b"five"),
    ]);
    let reading = folder.open(&["a"], &Options::default()).unwrap();
    let said: Vec<_> = super::PassedOver::summarize(&reading.summary().passed_over).collect();
    assert!(said[0].starts_with("2 files that describe data sets, such as ") && said.len() == 1, "{said:?}");
    let train = ["1|one|train", "2|two|train"];
    let validation = "data/validation-00000-of-00001.parquet";
    let others = [format!("{validation}#1|three|validation"), format!("{validation}#2|four|validation")];
    let expected =
        [&["doc_id|text|split"], &train[..], &others.each_ref().map(String::as_str), &["notes.txt|five|"]].concat();
    assert_eq!(folder.table(&["a"], &Options::default()), expected);
    // Several configurations; a file that has one of the columns itself keeps its values.
    folder.add("a/en/test.csv", b"id,text,split\n7,six,dev\n");
    let table = folder.table(&["a"], &Options::default());
    assert_eq!(table[0], "doc_id|text|split|config");
    assert!(
        table.contains(&"7|six|dev|en".to_owned()) && table.contains(&"1|one|train|default".to_owned()),
        "{table:?}"
    );
    // A data set in a folder inside the input; and a README that is named, which is a document and no card.
    assert!(folder.table(&[""], &Options::default()).contains(&"7|six|dev|en".to_owned()));
    let named = folder.table(&["a/README.md", "a/data"], &Options::default());
    assert!(named[0] == "doc_id|text" && named.iter().any(|row| row.starts_with("README.md|")), "{named:?}");
}

#[test]
fn other_folders_have_no_splits_and_their_readme_is_a_document() {
    let jsonl: &[u8] = b"{\"id\": 1, \"text\": \"one\"}\n";
    for files in [
        [("README.md", &b"---\ntitle: Notes\nlanguage: en\n---\n"[..]), ("train.jsonl", jsonl)],
        [("README.md", b"# Ferries"), ("train.jsonl", jsonl)],
        // A card without files of records is a text like others.
        [("README.md", CARD), ("train/a.txt", b"text")],
    ] {
        let table = Folder::of(&files).table(&[""], &Options::default());
        assert!(table[0] == "doc_id|text" && table.iter().any(|row| row.starts_with("README.md|")), "{table:?}");
    }
}
