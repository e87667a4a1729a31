//! The places of inputs and results: names that could be patterns, and results that would overwrite something.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::program::{Place, copy_folder, jsonl, run_command};
use crate::s3_server::{Server, end};

#[test]
fn folders_whose_names_could_be_patterns_are_those_folders() {
    let place = Place::with([
        ("one.jsonl", &jsonl([("a", "One. Two."), ("b", "One. Three.")])),
        ("other.jsonl", &jsonl([("c", "Four. Five.")])),
        ("again.jsonl", &jsonl([("d", "One. Two.")])),
    ]);
    for (folder, beside) in [("x[1]", "x1"), ("y?", "yy"), ("z*", "zz"), ("{v,w}", "v"), ("ü %23#&", "u")] {
        fs::create_dir(place.path(folder)).unwrap();
        fs::create_dir(place.path(beside)).unwrap();
        let run = |arguments: &[&str]| {
            let ended = place.run_with(arguments.iter().copied(), "");
            assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
            ended
        };
        let within = |name: &str| format!("{folder}/{name}");
        let (corpus, index, kept) = (within("corpus"), within("index"), within("kept"));
        run(&["ingest", "one.jsonl", "-o", &corpus]);
        place.ok(&format!("ingest other.jsonl -o {beside}/corpus"));
        place.ok(&format!("pairs {beside}/index --add other.jsonl"));
        let pairs = |input: &str| run(&["pairs", input, "--unit", "sentence", "--format", "csv", "--resume", &kept]);
        let found = pairs(&corpus);
        assert_eq!(found.text().lines().count(), 2, "{folder}: {}", found.text());
        assert_eq!(pairs(&corpus).text(), found.text(), "{folder}");
        let add = |batch: &str| run(&["pairs", &index, "--unit", "sentence", "--add", batch, "--format", "csv"]);
        add("one.jsonl");
        assert_eq!(add("again.jsonl").text().lines().count(), 4, "{folder}");
        assert!(add("one.jsonl").err.contains("new documents 0"), "{folder}");
        for (file, rows) in [(&corpus, 2), (&index, 3)] {
            let sql = format!("SELECT count(*) AS n FROM '{file}/documents.parquet'");
            assert_eq!(place.sql(&sql), [json!({ "n": rows })], "{folder}");
        }
        let mut command = place.command(["pairs", "one.jsonl", "--unit", "sentence", "--format", "csv"]);
        command.env("TMPDIR", place.path(folder));
        assert_eq!(run_command(command, "").text(), found.text(), "{folder}");
    }
}

#[test]
fn patterns_are_found_below_folders_of_any_name() {
    let place = Place::new();
    for folder in ["ü", "50% off", "a#b~\"c\\d", "北京"] {
        place.write(&format!("{folder}/x.csv"), "n\n1\n");
        place.write(&format!("{folder}/y.csv"), "n\n2\n");
        for from in ["*.csv", "", "x.csv"] {
            let rows = place.sql(&format!("SELECT sum(n) AS n FROM '{folder}/{from}'"));
            assert_eq!(rows, [json!({ "n": if from == "x.csv" { 1 } else { 3 } })], "{folder}/{from}");
        }
    }
    let server = Server::start();
    server.put("made.jsonl", jsonl([("a", "One.")]));
    for folder in ["50% off", "ü", "corpus.v2", "h[1]"] {
        let run = |arguments: &[&str]| {
            let ended = end(server.with_key(arguments.iter().copied()));
            assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
            ended
        };
        let corpus = format!("s3://box/odd/{folder}");
        run(&["ingest", "s3://box/made.jsonl", "-o", &corpus]);
        assert!(run(&["pairs", &corpus]).err.contains("documents 1,"), "{folder}");
        let rows = server.sql(&format!("SELECT doc_id FROM '{corpus}/documents.parquet'"));
        assert_eq!(rows, "doc_id\na\n", "{folder}");
    }
}

/// Files that a killed run left, and files of an earlier run, are not read.
#[test]
fn a_pattern_takes_nothing_that_no_manifest_counts() {
    let server = Server::start();
    let place = &server.place;
    for (name, id) in [("old.jsonl", "a"), ("new.jsonl", "b")] {
        place.write(name, jsonl([(id, "One.")]));
    }
    // A corpus that was copied with its manifest, and then replaced.
    place.ok("ingest old.jsonl -o corpus");
    for file in ["documents.parquet", "sentences.parquet", "manifest.json"] {
        server.put(&format!("copied/{file}"), place.read(format!("corpus/{file}")));
    }
    server.ok("ingest new.jsonl -o s3://box/copied/");
    for pattern in ["copied/documents*.parquet", "cop*/doc*"] {
        assert_eq!(server.sql(&format!("SELECT doc_id FROM 's3://box/{pattern}'")), "doc_id\nb\n", "{pattern}");
    }
    let ended = server.ok("pairs s3://box/copied/documents*.parquet");
    assert!(ended.err.contains("documents 1,"), "{}", ended.err);
    // A corpus whose manifest was not written, and an index without one.
    server.ok("ingest new.jsonl -o s3://box/killed/");
    fs::remove_file(server.object("killed/manifest.json")).unwrap();
    server.ok("pairs s3://box/index --add new.jsonl");
    fs::remove_dir_all(server.object("index/manifests")).unwrap();
    for (from, says) in [
        (
            "copied/documents.par*",
            "which the manifest beside it does not count any more, and not s3://box/copied/documents-",
        ),
        ("killed/documents*.parquet", "of a corpus that has no manifest.json, left by a killed run"),
        ("index/**/documents*.parquet", "of a part of an index"),
    ] {
        let ended = end(server.with_key(["sql", &format!("SELECT * FROM 's3://box/{from}'")]));
        assert!(ended.code == Some(1) && ended.err.contains(says), "{from}: {}", ended.err);
    }
    place.write("corpus/extra.parquet", place.read("corpus/documents.parquet"));
    let ended = place.run_with(["sql", "SELECT * FROM 'corpus/{documents,extra}.parquet'"], "");
    assert!(ended.code == Some(1) && ended.err.contains("which its manifest does not list"), "{}", ended.err);
}

#[test]
fn a_corpus_without_one_of_its_tables_is_none_of_documents() {
    let place = Place::with([("in.jsonl", &jsonl([("a", "One.")]))]);
    place.ok("ingest in.jsonl -o corpus");
    fs::remove_file(place.path("corpus/sentences.parquet")).unwrap();
    for line in ["passages corpus", "ingest corpus -o other --on-error skip"] {
        let said = place.fails(1, line);
        assert!(said.contains("corpus is a corpus without sentences.parquet, which its manifest names"), "{said}");
    }
}

/// Regression: the second run of a benchmark that writes tables with these names was refused.
#[test]
fn only_a_folder_whose_manifest_says_so_is_a_corpus() {
    let place = Place::with([("in.jsonl", &jsonl([("a", "One.")]))]);
    fs::create_dir(place.path("tables")).unwrap();
    for _ in 0..2 {
        for table in ["documents", "sentences"] {
            let (sql, file) = (format!("SELECT '{table}' AS id, 'One.' AS text"), format!("tables/{table}.parquet"));
            assert_eq!(place.run_with(["sql", &sql, "-o", &file], "").code, Some(0));
        }
    }
    assert_eq!(place.rows("pairs tables --threshold 1").len(), 1);
    // A corpus that was copied without its manifest.
    let server = Server::start();
    place.ok("ingest in.jsonl -o corpus");
    fs::remove_file(place.path("corpus/manifest.json")).unwrap();
    copy_folder(&place.path("corpus"), &server.object("corpus"));
    for said in [place.fails(1, "pairs corpus"), server.fails("pairs s3://box/corpus/")] {
        assert!(said.contains("has the tables of a corpus, and not its manifest.json"), "{said}");
    }
}

#[test]
fn no_result_takes_the_place_of_another() {
    let place = Place::with([("in.jsonl", "{\"id\": \"a\", \"text\": \"One.\"}\n{bad\n"), ("A/kept", "")]);
    place.ok("ingest in.jsonl -o corpus --on-error skip");
    symlink(place.path("y.csv"), place.path("link.csv")).unwrap();
    symlink(place.path("A"), place.path("L")).unwrap();
    let quarantine = "--on-error quarantine --quarantine";
    for line in [
        "passages corpus -o link.csv --families y.csv",
        "passages corpus -o A/x.csv --families L/x.csv",
        "passages corpus -o A/x.csv --families A/../A/x.csv",
        "passages corpus -o A/x.csv --families /proc/self/cwd/A/x.csv",
        &format!("passages in.jsonl -o r.ndjson {quarantine} r.ndjson"),
        &format!("passages in.jsonl -o r.csv --coverage s.ndjson {quarantine} ./s.ndjson"),
        &format!("ingest in.jsonl -o new {quarantine} new"),
        &format!("clusters in.jsonl -o new {quarantine} new/bad.jsonl"),
    ] {
        let said = place.fails(1, line);
        assert!(said.contains("is named for two results") || said.contains("there is no folder"), "{line}: {said}");
        assert!(!place.path("new").exists(), "{line}");
    }
    for (script, says) in [
        ("\\o out.csv\nSELECT 1; SELECT 2", "is named for two results"),
        ("\\o g.csv\nSELECT 1;\n\\o ./g.csv\nSELECT 2", "is named for two results"),
        ("SELECT 1;\n\\o g.csv\n", "no statement gives rows for g.csv"),
        ("\\o g.csv\n\\o h.csv\nSELECT 1", "no statement gives rows for g.csv"),
    ] {
        let ended = place.run_with(["sql", "-o", "out.csv", script], "");
        assert!(ended.code == Some(1) && ended.err.contains(says), "{script}: {}", ended.err);
        assert!(!place.path("out.csv").exists(), "{script}");
    }
    for folder in ["new/", "A", "A/"] {
        let said = place.fails(1, &format!("passages corpus -o {folder} --format csv"));
        assert!(said.contains("it is a folder; name a file"), "{said}");
    }
    // A result cannot replace a table of a collection.
    for file in ["corpus/documents.parquet", "corpus/sentences.parquet", "corpus/pairs.parquet"] {
        let said = place.fails(1, &format!("passages corpus -o {file}"));
        assert!(said.contains("that folder is a corpus, an index or a result"), "{said}");
    }
    for line in ["ingest in.jsonl -o corpus", "passages corpus"] {
        let said = place.fails(1, &format!("{line} {quarantine} corpus/bad.jsonl"));
        assert!(said.contains("that folder is a corpus, an index or a result"), "{said}");
    }
    let said = place.fails(1, "passages corpus --resume corpus");
    assert!(
        said.contains("cannot keep tables there with --resume: corpus is a corpus, an index or a result"),
        "{said}"
    );
    assert!(place.ok("verify corpus").contains("3 files, all as they were written"));
    fs::remove_file(place.path("corpus/manifest.json")).unwrap();
    let said = place.fails(1, "passages corpus -o corpus/documents.parquet");
    assert!(said.contains("that folder is a corpus, an index or a result"), "{said}");
}

#[test]
fn no_result_takes_the_place_of_an_input() {
    let records = jsonl([("a", "One."), ("b", "One.")]);
    let place = Place::with([("in/a.jsonl", &records), ("in/b.csv", "id,text\nc,One.\n")]);
    symlink(place.path("in/a.jsonl"), place.path("link.ndjson")).unwrap();
    place.write("labels.csv", "id_a,id_b,label\na,b,1\n");
    place.write("labelled/docs.jsonl", &records);
    place.write("labelled/labels.csv", "contained,container\na,b\n");
    place.ok("codes learn in/a.jsonl -o codes.parquet");
    for line in [
        "pairs in/a.jsonl -o in/a.jsonl",
        "pairs in -o link.ndjson",
        "pairs in/a.jsonl -o /proc/self/cwd/in/a.jsonl",
        "pairs /proc/self/cwd/in/a.jsonl -o in/a.jsonl",
        "pairs index --add in -o index --format csv",
        "pairs index --add in --on-error quarantine --quarantine index",
        "clusters in -o kept --resume kept",
        "ingest in -o kept --resume kept/tables",
        "pairs in/a.jsonl --against in/b.csv -o in/b.csv",
        "passages in --families in/b.csv",
        "containment in -o in/../in/b.csv",
        "pairs index --add in -o in/b.csv",
        "search in/a.jsonl --queries in/b.csv -o in/b.csv",
        "containment in/a.jsonl --method codet --reference in/b.csv -o in/b.csv",
        "threads in/a.jsonl --field text --labels labels.csv -o labels.csv",
        "threads in/a.jsonl --field text --labels labels.csv --groups ./labels.csv",
        "search in/a.jsonl --queries in/b.csv --codes codes.parquet --distance 2 -o codes.parquet",
        "compare containment labelled -o labelled/labels.csv",
        "compare containment labelled --reference in/b.csv -o in/b.csv",
    ] {
        let said = place.fails(1, line);
        assert!(said.contains("is one of the inputs, and is named for a result"), "{line}: {said}");
    }
    // Files that the process has open are checked, too.
    for how in ["-o /dev/stdout 1<>in/a.jsonl", ">>in/a.jsonl", "-o /dev/fd/3 3<>in/a.jsonl"] {
        let mut shell = Command::new("bash");
        let script = format!("{} pairs in/a.jsonl --format ndjson {how}", env!("CARGO_BIN_EXE_ibid"));
        shell.args(["-c", &script]).current_dir(place.path(""));
        let ended = run_command(shell, "");
        assert_eq!(ended.code, Some(1), "{how}: {}", ended.err);
        assert!(ended.err.contains("is one of the inputs, and is named for a result"), "{how}: {}", ended.err);
        assert_eq!(place.read("in/a.jsonl"), records.as_bytes(), "{how}");
    }
    place.ok("ingest in -o corpus");
    place.ok("clusters corpus -o groups");
    fs::create_dir(place.path("linked")).unwrap();
    symlink(place.path("corpus/documents.parquet"), place.path("linked/x.parquet")).unwrap();
    place.ok("pairs grown --add in -o grown.csv");
    for (line, said) in [
        ("clusters corpus -o corpus", "it holds documents.parquet, which this command does not write"),
        ("clusters c[o]rpus/doc*.parquet -o ./corpus", "which this command does not write"),
        ("clusters linked -o corpus", "which this command does not write"),
        ("clusters groups/clusters.parquet -o groups", "is one of the inputs, and is named for a result"),
        ("ingest linked -o corpus", "is one of the inputs, and is named for a result"),
        ("ingest corpus/documents.parquet -o /proc/self/cwd/corpus", "is one of the inputs, and is named for a result"),
        ("sql SELECT(1) -o /proc/self/cwd/corpus/documents.parquet", "that folder is a corpus"),
        ("pairs in --format csv -o -", "leave out the file for standard output"),
        ("ingest groups/clusters.parquet --text-column text -o groups", "which this command does not write"),
        ("compare containment labelled --also --method=codet|--reference=in/b.csv -o in/b.csv", "is one of the inputs"),
        ("clusters in -o corpus/groups", "is a corpus, an index or a result"),
        ("ingest in -o grown/more", "is a corpus, an index or a result"),
        ("sql SELECT(1) -o grown/x.csv", "that folder is a corpus, an index or a result"),
        ("sql SELECT(1) -o grown/parts/x.csv", "that folder is a corpus, an index or a result"),
        ("pairs in -o x.csv --resume grown/parts", "is a corpus, an index or a result"),
        ("sql SELECT(1) -o file:x.csv", "files of this machine are named by their path"),
        ("sql SELECT(1) -o file:///tmp/x.csv", "files of this machine are named by their path"),
    ] {
        let ended = place.run_with(
            line.split(' ').map(|part| part.replace('|', " ")).collect::<Vec<_>>().iter().map(String::as_str),
            "",
        );
        assert_eq!(ended.code, Some(1), "{line}");
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
    }
    place.ok("verify corpus grown groups");
    // Standard input may be a file.
    for line in [
        "pairs - --input-format jsonl -o in/a.jsonl",
        "pairs /dev/fd/0 --input-format jsonl -o in/a.jsonl",
        "sql -o in/a.jsonl",
        "sql -f - -o in/a.jsonl",
        "sql -f /proc/self/fd/0 -o in/a.jsonl",
    ] {
        let mut command = place.command(line.split(' '));
        let ended = command.stdin(fs::File::open(place.path("in/a.jsonl")).unwrap()).output().unwrap();
        assert_eq!(ended.status.code(), Some(1), "{line}");
        assert!(String::from_utf8(ended.stderr).unwrap().contains("is one of the inputs"), "{line}");
    }
    assert_eq!(place.read("in/a.jsonl"), records.as_bytes());
    place.write("script.sql", "SELECT 1");
    let said = place.fails(1, "sql -f script.sql -o ./script.sql --format csv");
    assert!(said.contains("is one of the inputs, and is named for a result"), "{said}");
    for (script, line, says) in [
        ("\\o own.csv\nSELECT 2", "-f own.csv", "own.csv is a script that runs; name another file"),
        ("\\i sql.csv\n\\o sql.csv\nSELECT 2", "-f own.csv", "sql.csv is a script that runs"),
        ("\\i sql.csv", "-f own.csv -o sql.csv", "is one of the inputs, and is named for a result"),
    ] {
        place.write("sql.csv", "SELECT 1");
        place.write("own.csv", script);
        let said = place.fails(1, &format!("sql {line} --format csv"));
        assert!(said.contains(says), "{said}");
        assert_eq!((place.read("own.csv"), place.read("sql.csv")), (script.into(), b"SELECT 1".into()));
    }
    // A file with the name of a table belongs to the user here.
    fs::create_dir(place.path("data")).unwrap();
    place.ok("sql -o data/documents.parquet SELECT'a'AS\tid,'One.'AS\ttext");
    for line in ["ingest data -o data", "ingest data/documents.parquet -o data --on-error skip"] {
        let said = place.fails(1, line);
        assert!(said.contains("it holds documents.parquet, which this command does not write"), "{line}: {said}");
    }
    fs::create_dir(place.path("results")).unwrap();
    place.ok("pairs in/a.jsonl -o results/pairs.parquet");
    let said = place.fails(1, "clusters in/a.jsonl -o results");
    assert!(said.contains("it holds pairs.parquet, which this command does not write"), "{said}");
    // A file of unknown format is no input.
    place.write("in/rows", "of another run");
    place.ok("pairs in --format csv -o in/rows");
    // A query may read what its result replaces.
    place.ok("sql -o in/b.csv SELECT*FROM'in/b.csv'");
    let server = Server::start();
    server.put("in.jsonl", records);
    let said = server.fails("pairs s3://box/in.jsonl -o s3a://box/in.jsonl");
    assert!(said.contains("is one of the inputs"), "{said}");
}

/// Otherwise the second run would read the files that the first one wrote.
#[test]
fn what_was_written_below_an_input_is_passed_over() {
    let server = Server::start();
    let place = &server.place;
    place.write("in/a.jsonl", jsonl([("a", "One."), ("b", "One.")]));
    server.put("in/a.jsonl", place.read("in/a.jsonl"));
    // This does not affect the check of another input.
    place.write("other/b.jsonl", jsonl([("c", "Two.")]));
    place.write("other/notes.dat", "of no kind");
    let said = server.fails("pairs other s3://box/none/");
    assert!(said.contains("s3://box/none/ holds no object"), "{said}");
    for root in ["in", "s3://box/in"] {
        for line in [
            "pairs ROOT/index --add ROOT/a.jsonl",
            "ingest ROOT -o ROOT/corpus",
            "ingest ROOT -o ROOT/corpus",
            "pairs ROOT --unit sentence",
        ] {
            let ended = server.ok(&line.replace("ROOT", root));
            assert!(ended.err.contains("documents 2,"), "{root}: {line}: {}", ended.err);
            let passed_over = ended.err.contains("corpora, indexes and other folders of results");
            assert!(passed_over || line.contains("--add"), "{root}: {line}: {}", ended.err);
        }
    }
}

#[test]
fn folders_that_are_called_as_those_of_an_index_are_read() {
    let server = Server::start();
    let place = &server.place;
    for file in ["in/2024/manifests/17.json", "in/2024/manifests/a.txt", "in/2024/parts/b.txt", "in/manifests/c.txt"] {
        place.write(file, "{\"text\": \"One.\"}");
        server.put(file, place.read(file));
    }
    for root in ["", "s3://box/"] {
        for (folder, documents) in [("in", 4), ("in/2024/", 3)] {
            let ended = server.ok(&format!("pairs {root}{folder}"));
            assert!(ended.err.contains(&format!("documents {documents},")), "{root}{folder}: {}", ended.err);
        }
    }
}

/// Otherwise its tables would be read as documents, and each text would come twice.
#[test]
fn a_damaged_collection_below_an_input_is_no_documents() {
    let server = Server::start();
    let place = &server.place;
    place.write("in/a.jsonl", jsonl([("a", "One."), ("b", "One.")]));
    place.ok("ingest in/a.jsonl -o in/old");
    let manifest = place.read("in/old/manifest.json");
    place.write("in/old/manifest.json", &manifest[..manifest.len() / 2]);
    copy_folder(&place.path("in"), &server.object("in"));
    for root in ["in", "s3://box/in/"] {
        let ended = server.ok(&format!("pairs {root}"));
        assert!(ended.err.contains("documents 2,"), "{root}: {}", ended.err);
        assert!(ended.err.contains("corpora, indexes and other folders of results"), "{root}: {}", ended.err);
    }
}

#[test]
fn what_is_named_counts_as_named_behind_its_folder() {
    let place = Place::with([("in/a.txt", "One."), ("in/notes.log", "Two.")]);
    for line in ["pairs in in/notes.log", "pairs in/notes.log in"] {
        let said = place.fails(1, line);
        assert!(said.contains("in/notes.log: its extension says no format"), "{line}: {said}");
    }
}

/// If it were opened by its name, the file would be written from its beginning.
#[test]
fn a_result_goes_to_standard_output_behind_what_is_there() {
    let place = Place::new();
    let written = fs::File::create(place.path("written.txt")).unwrap();
    for (n, name) in [(1, "/dev/stdout"), (2, "/dev/fd/1")] {
        let sql = format!("SELECT {n} AS n, 'some text' AS t");
        let mut command = place.command(["sql", "-q", &sql, "--format", "csv", "-o", name]);
        assert!(command.stdout(written.try_clone().unwrap()).status().unwrap().success());
    }
    assert_eq!(place.read("written.txt"), b"n,t\n1,some text\nn,t\n2,some text\n");
}

#[test]
fn standard_input_is_one_collection() {
    let ended = Place::new().run_with(["pairs", "-", "--against", "-"], "{\"text\": \"One.\"}\n");
    assert!(ended.code == Some(1) && ended.err.contains("can be read only once"), "{}", ended.err);
}

#[test]
fn further_tables_of_two_methods_have_a_place_each() {
    let place = Place::with([("in.jsonl", &jsonl([("a", "One."), ("b", "One.")]))]);
    let call = |threshold: &str, file: &str| {
        format!("SELECT count(*) FROM pairs('in.jsonl', threshold => {threshold}, capped => '{file}')")
    };
    for script in [
        format!("CREATE TABLE t AS {}; {}", call("0.5", "c.csv"), call("0.6", "./c.csv")),
        format!("{} UNION ALL {}", call("0.5", "c.csv"), call("0.6", "c.csv")),
        call("0.5", "out.csv"),
    ] {
        let ended = place.run_with(["sql", "-o", "out.csv", &script], "");
        assert!(ended.code == Some(1) && ended.err.contains("is named for two results"), "{script}: {}", ended.err);
        assert!(!place.path("out.csv").exists(), "{script}");
    }
    let explained = format!("{}; EXPLAIN {}", call("0.5", "d.csv"), call("0.6", "d.csv"));
    assert_eq!(place.run_with(["sql", &explained], "").code, Some(0));
}

#[test]
fn further_files_of_a_method_take_their_places_when_its_statement_is_done() {
    let place = Place::with([("in.jsonl", "{\"id\": \"a\", \"text\": \"One.\"}\n{bad\n"), ("c.csv", "n\n1\n")]);
    let call = "pairs('in.jsonl', capped => 'c.csv', on_error => 'quarantine', quarantine => 'q.jsonl')";
    let ended = place.run_with(["sql", &format!("SELECT CAST(count(*) || 'x' AS INT) FROM {call}")], "");
    assert!(ended.code == Some(1) && ended.err.contains("Cannot cast"), "{}", ended.err);
    assert_eq!(place.read("c.csv"), b"n\n1\n");
    // The bad records that were found are kept.
    assert_eq!(String::from_utf8(place.read("q.jsonl")).unwrap().lines().count(), 1);
    assert_eq!(
        place.sql(&format!("SELECT (SELECT max(n) FROM 'c.csv') AS n, count(*) AS rows FROM {call}")),
        [json!({"n": 1, "rows": 0})]
    );
    assert!(String::from_utf8(place.read("c.csv")).unwrap().starts_with("text,"));
}

#[test]
fn a_file_whose_name_no_object_can_have_is_named() {
    let place = Place::with([("d/a.csv", "n\n1\n"), ("d/x\ny.csv", "n\n2\n")]);
    for from in ["d/*.csv", "d/"] {
        let said = place.run_with(["sql", &format!("SELECT * FROM '{from}'")], "").err;
        assert!(said.contains("x\ny.csv: its name has characters that") && said.contains("rename it"), "{said}");
    }
}

#[test]
fn a_quarantine_in_a_store_takes_the_place_of_no_other_object() {
    let server = Server::start();
    let records = "{\"id\": \"a\", \"text\": \"One.\"}\n{bad\n";
    server.put("in.jsonl", records);
    server.put("thesis.txt", "of another kind");
    let quarantine =
        |file: &str| format!("ingest s3://box/in.jsonl -o corpus --on-error quarantine --quarantine s3://box/{file}");
    for file in ["in.jsonl", "thesis.txt"] {
        let said = server.fails(&quarantine(file));
        assert!(said.contains("holds no bad records of an earlier run"), "{said}");
    }
    assert_eq!(server.get("in.jsonl"), records.as_bytes());
    assert_eq!(server.get("thesis.txt"), b"of another kind");
    // The quarantine of an earlier run is replaced.
    for _ in 0..2 {
        server.ok(&quarantine("bad.jsonl"));
        assert!(String::from_utf8(server.get("bad.jsonl")).unwrap().contains("\"data\":\"{bad\""));
    }
    let said = server.fails("pairs s3://box/in.jsonl -o s3://box/o.csv --capped s3a://box/o.csv");
    assert!(said.contains("is named for two results"), "{said}");
}

#[test]
fn a_quarantine_is_no_pipe() {
    let place = Place::with([("in.jsonl", "{\"text\": \"One.\"}\n{bad\n")]);
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let quarantined = |to: &str| {
        let line = format!("ingest in.jsonl -o corpus --on-error quarantine --quarantine {to}");
        let mut command = place.command(line.split(' '));
        let ended = command.stdout(Stdio::piped()).output().unwrap();
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    for to in ["pipe", "/dev/stdout"] {
        let (code, said) = quarantined(to);
        assert!(code == Some(1) && said.contains("is a pipe or a device; name another file"), "{said}");
    }
    assert_eq!(quarantined("/dev/null").0, Some(0));
}

#[test]
fn a_link_to_what_a_folder_is_in_is_passed_over() {
    let place =
        Place::with([("top/beside.jsonl", &jsonl([("b", "Two.")])), ("top/in/a.jsonl", &jsonl([("a", "One.")]))]);
    for (to, name) in [("..", "up"), (".", "itself"), ("../..", "far")] {
        symlink(to, place.path("top/in").join(name)).unwrap();
    }
    let ended = place.run("ingest top/in -o corpus");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("documents 1,"), "{}", ended.err);
    assert!(ended.err.contains("3 links to a folder above them"), "{}", ended.err);
    // A link to nothing, and one to another folder, whose files are read.
    symlink("nowhere", place.path("top/in/none.jsonl")).unwrap();
    place.write("other/c.jsonl", jsonl([("c", "Three.")]));
    symlink("../../other", place.path("top/in/other")).unwrap();
    for (from, expected) in
        [("top/in/", vec!["a", "c"]), ("top/in/**/*.jsonl", vec!["a", "c"]), ("top/in/*", vec!["a"])]
    {
        let rows = place.sql(&format!("SELECT id FROM '{from}' ORDER BY id"));
        assert_eq!(rows, expected.into_iter().map(|id| json!({"id": id})).collect::<Vec<_>>(), "{from}");
    }
}

#[test]
fn a_manifest_of_another_program_is_no_matter() {
    let place = Place::new();
    for sql in ["SELECT 1 AS n -o dir/x.parquet", "SELECT 1 AS n -o dir/y.parquet"] {
        let (sql, output) = sql.split_once(" -o ").unwrap();
        std::fs::create_dir_all(place.path("dir")).unwrap();
        assert_eq!(place.run_with(["sql", sql, "-o", output], "").code, Some(0));
    }
    for theirs in ["{\"files\": [\"x.parquet\"]}", "{\"layout\": \"grid\"}", "[1, 2]", "name: x"] {
        place.write("dir/manifest.json", theirs);
        assert_eq!(place.sql("SELECT sum(n) AS n FROM 'dir/*.parquet'")[0]["n"], 2, "{theirs}");
        assert!(place.ok("verify dir").contains("2 files, all as they were written"), "{theirs}");
    }
}

#[test]
fn a_damaged_manifest_of_ours_is_never_passed_over() {
    let place = Place::with([("a.jsonl", &jsonl([("a", "One, and no other one. Two."), ("b", "Two.")]))]);
    place.ok("ingest a.jsonl -o corpus");
    place.ok("clusters corpus -o groups");
    let damaged = |folder: &str, manifest: &[u8], lines: &[&str]| {
        place.write(&format!("{folder}/manifest.json"), manifest);
        for line in lines {
            let said = place.fails(1, line);
            assert!(said.contains("manifest.json is no sound manifest of a result"), "{line}: {said}");
        }
    };
    let of_corpus = ["pairs corpus", "verify corpus", "sql SELECT(1)FROM'corpus/documents.parquet'"];
    let of_groups = ["verify groups", "sql SELECT(1)FROM'groups/clusters.parquet'"];
    for (folder, lines) in [("corpus", &of_corpus[..]), ("groups", &of_groups)] {
        let whole = place.read(format!("{folder}/manifest.json"));
        for length in [0, 1, 20, whole.len() - 3] {
            damaged(folder, &whole[..length], lines);
        }
        let text = String::from_utf8(whole).unwrap();
        damaged(folder, text.replacen("\"layout\"", "\"layoux\"", 1).as_bytes(), lines);
        damaged(folder, text.replacen("\"files\": [", "\"filex\": [", 1).as_bytes(), lines);
    }
    damaged("corpus", b"no JSON", &of_corpus);
    damaged("corpus", b"{\"files\": []}", &of_corpus);
}

#[test]
fn a_date_that_no_calendar_has_is_no_text() {
    let place = Place::new();
    for value in ["arrow_cast(2147483647, 'Date32')", "[arrow_cast(9223372036854775807, 'Timestamp(Second, None)')]"] {
        for format in ["ndjson", "csv", "table"] {
            if format == "csv" && value.starts_with('[') {
                continue;
            }
            let sql = format!("SELECT 1 AS n, {value} AS at");
            let ended = place.run_with(["sql", &sql, "--format", format, "-o", "out"], "");
            assert_eq!(ended.code, Some(1), "{value} as {format}");
            assert!(ended.err.contains("the column \"at\" has a date that cannot be written"), "{}", ended.err);
            assert!(!place.path("out").exists());
        }
    }
}
