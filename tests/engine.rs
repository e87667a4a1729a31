//! The library: engines, methods as builders, methods in FROM.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch, RecordBatchIterator, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::dataframe::DataFrame;
use ibid::methods::{Comparing, Measure, Piece, Unit};
use ibid::{Engine, EngineBuilder, Error, Event, Found, Input};

use crate::program::{Place, collection_jsonl};
use crate::s3_server::{KEY, ROLE_KEY, ROLE_SECRET, ROLE_TOKEN, SECRET, Server};

/// Makes a folder with two collections that share passages.
fn place() -> Place {
    Place::with([("docs.jsonl", &collection_jsonl(60, 3)), ("more.jsonl", &collection_jsonl(40, 3))])
}

async fn shown(rows: DataFrame) -> String {
    rows.to_string().await.unwrap()
}

/// Returns the first number of a query.
async fn number(engine: &Engine, sql: &str) -> i64 {
    let rows = engine.sql(sql).await.unwrap().collect().await.unwrap();
    rows[0].column(0).as_primitive::<Int64Type>().value(0)
}

/// Returns the names in a folder for temporary files.
fn left_in(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Runs each method by its builder, and returns the same call in FROM: `(table, found, sql)`.
async fn each_method(engine: &Engine, place: &Place) -> Vec<(&'static str, Found, String)> {
    let (docs, more) = (place.path("docs.jsonl"), place.path("more.jsonl"));
    let of = |call: &str| {
        let call = call.replace("DOCS", &docs.display().to_string()).replace("MORE", &more.display().to_string());
        format!("SELECT * FROM {call}")
    };
    vec![
        ("passages", engine.passages(&docs).min_words(10).await.unwrap(), of("passages('DOCS', min_words => 10)")),
        ("families", engine.passages(&docs).common(2).await.unwrap(), of("families('DOCS', common => 2)")),
        ("coverage", engine.passages(&docs).coverage(true).await.unwrap(), of("coverage('DOCS')")),
        ("pairs", engine.pairs(&docs).threshold(0.1).await.unwrap(), of("pairs('DOCS', threshold => 0.1)")),
        (
            "pairs",
            engine.pairs(&docs).unit(Unit::Sentence).against(&more).await.unwrap(),
            of("pairs('DOCS', unit => 'sentence', against => 'MORE')"),
        ),
        (
            "pairs",
            engine.threads(&docs).field("text", 1.0).threshold(0.1).await.unwrap(),
            of("threads('DOCS', field => 'text=1', threshold => 0.1)"),
        ),
        ("clusters", engine.clusters(&docs).threshold(0.5).await.unwrap(), of("clusters('DOCS', threshold => 0.5)")),
        (
            "containments",
            engine.containment(&docs).threshold(0.1).passages(8).await.unwrap(),
            of("containment('DOCS', threshold => 0.1, passages => true)"),
        ),
        (
            "containments",
            engine.containment(&docs).comparing(Comparing::Codet).threshold(0.1).await.unwrap(),
            of("containment('DOCS', method => 'codet', threshold => 0.1)"),
        ),
        ("removed", engine.dedup(&docs).threshold(0.1).await.unwrap(), of("dedup('DOCS', threshold => 0.1)")),
        (
            "removed",
            engine.dedup(&docs).unit(Piece::Sentence).by(Measure::Exact).await.unwrap(),
            of("dedup('DOCS', unit => 'sentence', by => 'exact')"),
        ),
        (
            "hits",
            engine.decontaminate(&docs, &more).words(5).await.unwrap(),
            of("decontaminate('DOCS', against => 'MORE', words => 5)"),
        ),
        ("hits", engine.search(&docs, &more).await.unwrap(), of("search('DOCS', queries => 'MORE')")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_in_from_has_the_rows_and_the_columns_of_its_builder() {
    let place = place();
    let engine = Engine::new().unwrap();
    for (table, found, sql) in each_method(&engine, &place).await {
        let of_builder = found.dataframe(table).unwrap();
        let in_from = engine.sql(&sql).await.unwrap();
        let columns = |rows: &DataFrame| -> Vec<(String, DataType)> {
            let fields = rows.schema().fields().iter();
            fields.map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        // Plans read all text as views, whatever type a stage wrote.
        let as_views = |columns: Vec<(String, DataType)>| -> Vec<(String, DataType)> {
            let view = |kind| if kind == DataType::Utf8 { DataType::Utf8View } else { kind };
            columns.into_iter().map(|(name, kind)| (name, view(kind))).collect()
        };
        assert_eq!(as_views(columns(&of_builder)), columns(&in_from), "{sql}");
        let (of_builder, in_from) = (shown(of_builder).await, shown(in_from).await);
        assert!(of_builder.lines().count() > 4, "{sql} finds nothing");
        assert_eq!(of_builder, in_from, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_planned_without_running_and_equal_calls_run_once() {
    let place = place();
    let engine = Engine::new().unwrap();
    let missing = "passages('nowhere/', min_words => 20)";
    let plan = shown(engine.sql(&format!("EXPLAIN SELECT doc_a FROM {missing}")).await.unwrap()).await;
    assert!(plan.contains(&format!("MethodExec: {missing}")), "{plan}");
    let error = engine.sql(&format!("SELECT * FROM {missing}")).await.unwrap().collect().await.unwrap_err();
    assert!(error.to_string().contains("nowhere/"), "{error}");
    // Equal calls in a statement are one run, although the plan has an operator for each.
    let call = format!("pairs('{}', threshold => 0.1)", place.path("docs.jsonl").display());
    let joined = format!("SELECT count(*) FROM {call} AS a JOIN {call} AS b ON a.id_a = b.id_a AND a.id_b = b.id_b");
    let plan = shown(engine.sql(&format!("EXPLAIN ANALYZE {joined}")).await.unwrap()).await;
    assert_eq!(plan.matches("MethodExec").count(), 2, "{plan}");
    assert_eq!(number(&engine, &joined).await, number(&engine, &format!("SELECT count(*) FROM {call}")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_a_later_statement_reads_its_files_anew() {
    let place = Place::with([("a.jsonl", "{\"id\": 1, \"text\": \"One.\"}\n{\"id\": 2, \"text\": \"One.\"}\n")]);
    let engine = Engine::new().unwrap();
    let sql = format!("SELECT count(*) FROM pairs('{}')", place.path("a.jsonl").display());
    let kept = engine.sql(&sql).await.unwrap();
    assert_eq!(kept.clone().count().await.unwrap(), 1);
    assert_eq!(number(&engine, &sql).await, 1);
    place.write("a.jsonl", "{\"id\": 1, \"text\": \"One.\"}\n{\"id\": 2, \"text\": \"Two.\"}\n");
    assert_eq!(number(&engine, &sql).await, 0);
    drop(kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_of_a_method_keeps_no_engine_alive() {
    let place = place();
    fs::create_dir(place.path("tables")).unwrap();
    let engine = Engine::builder().temporary_folder(place.path("tables")).build().unwrap();
    let call = format!("pairs('{}', threshold => 0.1)", place.path("docs.jsonl").display());
    engine.sql(&format!("CREATE VIEW unread AS SELECT * FROM {call}")).await.unwrap();
    engine.sql(&format!("CREATE VIEW read AS SELECT * FROM {call}")).await.unwrap();
    assert!(number(&engine, "SELECT count(*) FROM read").await > 0);
    drop(engine);
    assert_eq!(left_in(&place.path("tables")), [""; 0]);
}

#[tokio::test]
async fn statements_are_those_of_the_shell() {
    let place = Place::with([("n.csv", "n\n1\n2\n")]);
    let engine = Engine::builder().temporary_folder(place.path("tmp")).build().unwrap();
    let file = place.path("n.csv").display().to_string();
    engine.sql(&format!("CREATE TABLE t AS SELECT * FROM '{file}'")).await.unwrap();
    assert_eq!(number(&engine, "SELECT sum(n) FROM t").await, 3);
    assert_eq!(engine.sql("FROM t").await.unwrap().count().await.unwrap(), 2);
    for (sql, says) in [
        ("INSERT INTO t VALUES (3)", "INSERT would leave half"),
        ("COPY t TO 'x.parquet'", "COPY would leave half a file"),
        ("SELECT * FROM t PREWHERE n = 1", "PREWHERE is not supported"),
        ("SELECT 1; SELECT 2", "run them one by one"),
        ("", "no statement to run"),
    ] {
        let error = engine.sql(sql).await.unwrap_err();
        assert!(error.to_string().contains(says), "{sql}: {error}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_explained() {
    let engine = Engine::new().unwrap();
    for (call, expected) in [
        ("pairs('c', treshold => 1)", "Did you mean threshold?"),
        ("pairs('c', output => 'x.csv')", "no parameter output"),
        ("pairs('c', within_documents => 3)", "true or false"),
        ("pairs('c' || 'd')", "cannot be an argument"),
        ("pairs('-')", "standard input"),
        ("pairs()", "needs an input"),
        ("pairs('c', unit => 'word')", "one of document, sentence"),
        ("pairs('c', signature => 'shingle:3')", "did you mean shingles?"),
        ("search('c')", "needs `queries`"),
        ("threads('c')", "there is no field to compare"),
        ("pairs('c', on_error => 'quarantine')", "need each other"),
        ("pairs('c', quarantine => 'q.jsonl')", "need each other"),
        ("search('c', queries => 'd', distance => 2)", "`distance` needs `codes`"),
        ("containment('c', min_words => 5)", "`min_words` needs `passages`"),
        ("threads('c', field => 'a', starts => 5)", "`starts` needs `weights`"),
        ("threads('c', field => 'a', canonical => 'votes')", "`canonical` needs `groups`"),
    ] {
        let error = engine.sql(&format!("SELECT * FROM {call}")).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{call}: {error}");
    }
    let error = engine.pairs("c").threshold(7.0).await.unwrap_err();
    assert!(matches!(error, Error::Options(_)) && error.to_string().contains("`threshold`"), "{error}");
    for (name, error) in [
        ("bands", engine.clusters("c").bands(0).await.unwrap_err()),
        ("max_pairs", engine.pairs("c").max_pairs(0).await.unwrap_err()),
        ("max_postings", engine.threads("c").field("a", 1.0).by_postings(1, 0).await.unwrap_err()),
    ] {
        assert!(error.to_string().contains(&format!("`{name}` is a whole number from ")), "{error}");
    }
    let error = engine.passages("c").min_words(5).profile(ibid::methods::Profile::Edited).await.unwrap_err();
    assert!(error.to_string().contains("`min_words` has no effect"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_record_batches_are_read_like_files() {
    let place = place();
    let engine = Engine::new().unwrap();
    let path = place.path("docs.jsonl");
    let of_file = shown(engine.passages(&path).await.unwrap().dataframe("passages").unwrap()).await;
    let rows = engine.sql(&format!("SELECT id AS doc_id, text FROM '{}'", path.display())).await.unwrap();
    let of_rows = shown(engine.passages(rows.clone()).await.unwrap().dataframe("passages").unwrap()).await;
    assert_eq!(of_rows, of_file);
    let batches = rows.collect().await.unwrap();
    let schema = batches[0].schema();
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let input = Input::batches(reader);
    let of_batches = shown(engine.passages(input.clone()).await.unwrap().dataframe("passages").unwrap()).await;
    assert_eq!(of_batches, of_file);
    let again = shown(engine.passages(input).await.unwrap().dataframe("passages").unwrap()).await;
    assert_eq!(again, of_file);
}

/// Returns a batch of one row, followed by an error if `fails`.
fn batches(id: i32, fails: bool) -> Input {
    let columns: [(_, ArrayRef); 2] = [
        ("id", Arc::new(Int32Array::from(vec![id]))),
        ("text", Arc::new(StringArray::from(vec!["To be or not to be."]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let broken = fails.then(|| Err(ArrowError::ComputeError("the network is down".to_owned())));
    Input::batches(RecordBatchIterator::new([Ok(batch)].into_iter().chain(broken), schema))
}

#[tokio::test]
async fn batches_that_break_off_are_an_error_and_not_read_again() {
    let engine = Engine::new().unwrap();
    let input = batches(1, true);
    for said in ["the network is down", "give them again"] {
        let error = engine.pairs(input.clone()).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[tokio::test]
async fn a_table_that_is_registered_anew_has_the_new_rows() {
    let engine = Engine::new().unwrap();
    for id in [1, 2] {
        engine.register("notes", batches(id, false)).await.unwrap();
        assert_eq!(number(&engine, "SELECT id::bigint FROM notes").await, i64::from(id));
    }
    let error = engine.register("notes", "notes.parquet").await.unwrap_err();
    assert!(error.to_string().contains("SELECT * FROM 'notes.parquet'"), "{error}");
}

#[tokio::test]
async fn each_dedup_is_decided_anew_from_its_own_pairs() {
    let place = place();
    let engine = Engine::new().unwrap();
    for threshold in [0.1, 0.2] {
        let found = engine.dedup(place.path("docs.jsonl")).threshold(threshold).await.unwrap();
        let again = found.rethreshold(0.5).await.unwrap().await.unwrap();
        let anew = engine.dedup(place.path("docs.jsonl")).threshold(0.5).await.unwrap();
        for table in ["removed", "pairs"] {
            assert_eq!(shown(again.dataframe(table).unwrap()).await, shown(anew.dataframe(table).unwrap()).await);
        }
    }
}

#[tokio::test]
async fn bad_rows_are_left_out_counted_and_listed() {
    let place = Place::with([("a.jsonl", "{\"id\": 1, \"text\": \"One.\"}\n{\n{\"id\": 2, \"text\": \"One.\"}\n")]);
    let engine = Engine::new().unwrap();
    let error = engine.pairs(place.path("a.jsonl")).await.unwrap_err();
    assert_eq!(error.kind(), "input");
    assert!(error.to_string().contains("line 2") && error.to_string().contains("`on_error = skip`"), "{error}");
    let found = engine.pairs(place.path("a.jsonl")).skip_bad_records().await.unwrap();
    assert_eq!((found.summary().skipped, found.summary().skipped_records[0].line), (1, Some(2)));
    let quarantine = place.path("bad.jsonl");
    engine.pairs(place.path("a.jsonl")).quarantine(&quarantine).await.unwrap();
    assert!(fs::read_to_string(quarantine).unwrap().contains("\"line\":2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_engines_with_other_limits_run_side_by_side() {
    let place = place();
    fs::create_dir(place.path("little")).unwrap();
    let little = Engine::builder().memory(16 << 20).threads(1).temporary_folder(place.path("little")).build().unwrap();
    let large = Engine::builder().memory(4 << 30).threads(2).build().unwrap();
    assert_eq!((little.memory(), large.memory()), (Some(16 << 20), Some(4 << 30)));
    // A list must fit into memory as a whole, but a join can spill.
    let list = "SELECT array_agg(value) FROM range(3000000)";
    let in_little = async { little.sql(list).await.unwrap().collect().await };
    let in_large = async { large.sql(list).await.unwrap().collect().await };
    let (in_little, in_large) = tokio::join!(in_little, in_large);
    let error = Error::from(in_little.unwrap_err());
    assert!(matches!(error, Error::Memory(_)), "{error}");
    assert_eq!(in_large.unwrap()[0].num_rows(), 1);
    let join = "SELECT sum(a.value) FROM range(3000000) AS a JOIN range(3000000) AS b ON a.value = b.value";
    assert_eq!(number(&little, join).await, 4_499_998_500_000);
    // Methods spill, and find the same rows.
    let docs = place.path("docs.jsonl");
    let (a, b) = tokio::join!(little.passages(&docs), large.passages(&docs));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(shown(a.dataframe("passages").unwrap()).await, shown(b.dataframe("passages").unwrap()).await);
    assert_eq!(left_in(&place.path("little")).len(), 1);
    drop((a, little));
    assert_eq!(left_in(&place.path("little")), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_dropped_ends_within_a_second_and_leaves_nothing() {
    let place = Place::with([("docs.jsonl", &collection_jsonl(3000, 3))]);
    fs::create_dir(place.path("tables")).unwrap();
    let engine = Engine::builder().temporary_folder(place.path("tables")).build().unwrap();
    let stages = Arc::new(Mutex::new(Vec::new()));
    for wait in [5, 50, 200, 500] {
        let noted = Arc::clone(&stages);
        let run = engine.passages(place.path("docs.jsonl")).on_event(move |event| {
            if let Event::Stage(stage) = event {
                noted.lock().unwrap().push(stage.to_owned());
            }
        });
        let ended = tokio::time::timeout(Duration::from_millis(wait), run.into_future()).await;
        drop(ended);
    }
    assert!(stages.lock().unwrap().iter().any(|stage| stage == "reading"));
    let began = Instant::now();
    drop(engine);
    let mut left = left_in(&place.path("tables"));
    while !left.is_empty() && began.elapsed() < Duration::from_secs(1) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        left = left_in(&place.path("tables"));
    }
    assert_eq!(left, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_take_their_places_when_they_are_whole() {
    let place = place();
    let engine = Engine::new().unwrap();
    let found = engine.passages(place.path("docs.jsonl")).coverage(true).await.unwrap();
    let reuse = place.path("reuse.parquet");
    let rows = found.write(&reuse).await.unwrap();
    assert_eq!(
        number(&engine, &format!("SELECT count(*) FROM '{}'", reuse.display())).await,
        i64::try_from(rows).unwrap()
    );
    let staged = found.stage("families", place.path("families.csv")).await.unwrap();
    assert!(!place.path("families.csv").exists());
    staged.commit().await.unwrap();
    assert!(place.path("families.csv").exists());
    let tables = found.write_folder(place.path("all")).await.unwrap();
    assert_eq!(tables.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["passages", "families", "coverage"]);
    assert_eq!(tables[0].1, rows);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("all/manifest.json")).unwrap()).unwrap();
    assert_eq!((manifest["method"].as_str(), manifest["counts"]["documents"].as_u64()), (Some("passages"), Some(60)));
    let error = found.write(place.path("all/x.parquet")).await.unwrap_err();
    assert!(error.to_string().contains("is a corpus, an index or a result"), "{error}");
    let error = found.dataframe("pairs").unwrap_err();
    assert!(error.to_string().contains("there are passages, families, coverage"), "{error}");
}

/// Returns a builder of an engine whose `s3://` is this server. The key is still missing.
fn reaching(server: &Server) -> EngineBuilder {
    Engine::builder().endpoint(&server.address).region("us-east-1").allow_http(true)
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_of_one_process_reach_stores_of_their_own() {
    let servers = [Server::start(), Server::start()];
    for (server, text) in servers.iter().zip(["ours", "theirs"]) {
        server.put("notes.csv", format!("id,text\na,This is {text}.\nb,This is {text}.\n"));
        server.put(&format!("{text}.csv"), "n\n1\n");
    }
    let [ours, theirs] = &servers;
    let one = reaching(ours).keys(KEY, SECRET).build().unwrap();
    let other = reaching(theirs).keys(ROLE_KEY, ROLE_SECRET).session_token(ROLE_TOKEN).build().unwrap();
    let wrong_secret = reaching(ours).keys(KEY, "hush").build().unwrap();
    let wrong_token = reaching(ours).keys(ROLE_KEY, ROLE_SECRET).session_token("hush").build().unwrap();
    let read = async |engine: &Engine| {
        let rows = engine.sql("SELECT text FROM 's3://box/notes.csv' WHERE id = 'a'").await?;
        let rows = rows.to_string().await?;
        Ok::<_, Error>(rows.lines().nth(3).unwrap().trim_matches(['|', ' ']).to_owned())
    };
    let (of_one, of_other, of_wrong) = tokio::join!(read(&one), read(&other), read(&wrong_secret));
    assert_eq!((of_one.unwrap(), of_other.unwrap()), ("This is ours.".to_owned(), "This is theirs.".to_owned()));
    let error = of_wrong.unwrap_err().to_string();
    assert!(error.contains("the secret key does not belong to the access key; check `keys` of the engine"), "{error}");
    assert!(read(&wrong_token).await.is_err());
    // Readers, writers and later statements reach the same server.
    for (engine, server, own) in [(&one, ours, "ours"), (&other, theirs, "theirs")] {
        engine.ingest("s3://box/notes.csv").write("s3://box/corpus/").await.unwrap();
        let found = engine.pairs("s3://box/corpus/").threshold(0.5).await.unwrap();
        found.write("s3://box/pairs.parquet").await.unwrap();
        assert!(server.object("pairs.parquet").exists());
        assert_eq!(number(engine, "SELECT count(*) FROM 's3://box/pairs.parquet'").await, 1);
        assert_eq!(number(engine, &format!("SELECT n FROM 's3://box/{own}.csv'")).await, 1);
        assert!(engine.verify(["s3://box/corpus/"]).await.unwrap().iter().all(|checked| !checked.is_wrong()));
        let traffic = &found.summary().traffic;
        assert!(traffic.len() == 1 && traffic[0].store == "s3://box" && traffic[0].requests > 0, "{traffic:?}");
    }
    let error = one.sql("SELECT * FROM 's3://box/theirs.csv'").await.unwrap_err().to_string();
    assert!(error.contains("there is no such object"), "{error}");
    let shown = format!("{wrong_secret:?} {wrong_token:#?} {:?}", reaching(ours).keys("hush", "hush"));
    assert!(!shown.contains("hush") && !shown.contains(ROLE_SECRET), "{shown}");
    for (builder, said) in [
        (reaching(ours).anonymous(true).keys(KEY, SECRET), "`anonymous`"),
        (reaching(ours).session_token(ROLE_TOKEN), "`session_token`"),
    ] {
        let error = builder.build().unwrap_err();
        assert!(matches!(error, Error::Options(_)) && error.to_string().contains(said), "{error}");
    }
}

/// The runtime has one thread, which an upload must not block.
#[tokio::test]
async fn an_upload_that_is_dropped_leaves_no_object_and_no_parts() {
    let server = Server::start();
    let engine = reaching(&server).keys(KEY, SECRET).build().unwrap();
    let (ids, text) = ("x".repeat(100), "The board approved the new ferry terminal.");
    let notes = engine.sql(&format!("SELECT '{ids}' || value AS id, '{text}' AS text FROM range(450)")).await.unwrap();
    let found = engine.pairs(notes).threshold(0.5).await.unwrap();
    let unfinished = async || {
        let removal = engine.gc("s3://box/").grace(Duration::ZERO).dry_run().await.unwrap();
        removal.uploads
    };
    let sent_part_of = async |key: &str| {
        let log = || fs::read_to_string(server.place.path("log")).unwrap();
        let is_part = |line: &str| line.contains(key) && line.contains("partNumber=1");
        while !log().lines().any(is_part) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(unfinished().await, [format!("s3://box/{key}")]);
    };
    tokio::select! {
        written = found.write("s3://box/slow.csv") => panic!("{written:?}"),
        () = sent_part_of("slow.csv") => {}
    }
    let dropped = Instant::now();
    engine.close().await;
    assert_eq!(unfinished().await, [""; 0]);
    let staged = found.stage("pairs", "s3://box/slow.ndjson").await.unwrap();
    tokio::select! {
        written = staged.commit() => panic!("{written:?}"),
        () = sent_part_of("slow.ndjson") => {}
    }
    engine.close().await;
    assert_eq!(unfinished().await, [""; 0]);
    assert!(dropped.elapsed() < Duration::from_secs(60));
    // No object appears later, and the engine can still write.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!server.object("slow.csv").exists() && !server.object("slow.ndjson").exists());
    let rows = found.write("s3://box/whole.csv").await.unwrap();
    assert!(rows == 450 * 449 / 2 && server.get("whole.csv").len() > 20 << 20, "{rows}");
    engine.close().await;
    assert_eq!(unfinished().await, [""; 0]);
}

#[tokio::test]
async fn an_input_that_is_no_text_is_an_error() {
    let engine = Engine::new().unwrap();
    let schema = Schema::new(vec![Field::new("id", DataType::Utf8, false)]);
    let ids = Arc::new(StringArray::from(vec!["a"]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![ids]).unwrap();
    let rows = engine.session().read_batch(batch).unwrap();
    let error = engine.pairs(rows).await.unwrap_err();
    assert!(matches!(error, Error::Input(_)) && error.to_string().contains("`text_column`"), "{error}");
}

/// `cargo test` builds the examples next to the program.
#[test]
fn the_examples_run() {
    let examples = Path::new(env!("CARGO_BIN_EXE_ibid")).with_file_name("examples");
    for (name, says) in [("passages", "document pairs: "), ("pairs", "| q1   | q2   |"), ("sql", "| doc_a ")] {
        let ended = Command::new(examples.join(name)).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output();
        let ended = ended.unwrap_or_else(|error| panic!("{name}: {error}; build it by cargo build --examples"));
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(
            ended.status.success() && said.contains(says),
            "{name}: {said}{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}
