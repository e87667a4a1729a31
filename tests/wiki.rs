//! Dumps of MediaWiki, from the file to the corpus.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Place, bzip2, gzip};

/// Returns a dump of six pages: an article with two revisions, a redirect, a page of disambiguation, a talk page, a
/// page in Japanese, and a style sheet.
fn dump() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/wiki/dump.xml")).unwrap()
}

fn place() -> Place {
    let place = Place::new();
    place.write("dump.xml", dump());
    place
}

/// Returns the pages with the text of their sections.
fn sections(place: &Place) -> Vec<(String, String, String)> {
    let sql = "SELECT doc_id, s['kind'] || ' ' || s['level'] || ' ' || s['title'] AS section, \
               substr(text, s['char_start'] + 1, s['char_end'] - s['char_start']) AS part \
               FROM (SELECT doc_id, text, page_id, unnest(sections) AS s FROM 'wiki/documents.parquet') \
               ORDER BY page_id, s['char_start']";
    let string = |row: &Value, name: &str| row[name].as_str().unwrap().trim_end().to_owned();
    place.sql(sql).iter().map(|row| (string(row, "doc_id"), string(row, "section"), string(row, "part"))).collect()
}

#[test]
fn pages_become_documents_with_sections() {
    let place = place();
    let ended = place.run("ingest dump.xml -o wiki");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("files 1, documents 6, ") && !ended.err.contains("left out"), "{}", ended.err);
    let expected = [
        (
            "Harbour light",
            "lead 0",
            "The Harbour light (Hafenfeuer) is a small lighthouse at the end of the northern breakwaters. It is 21 m tall and \
             was built c. 1870.",
        ),
        (
            "Harbour light",
            "prose 2 History",
            "History\n\nThe first lamp burned whale oil. Its keeper wrote:\n\nNobody saw the captain on that long evening.\n\n\
             Electric light came in 1921, and the keeper's house was sold.",
        ),
        (
            "Harbour light",
            "prose 3 The fog bell",
            "The fog bell\n\na bell of 300 kg,\n\ntwo ropes\n\nwhich nobody pulls – except children",
        ),
        ("Harbour light", "links 2 See also", "See also\n\nFerry\n\nCategory:Lights"),
        ("Harbour light", "references 2 Notes", "Notes\n\nWhale oil, later colza oil."),
        (
            "Harbour light",
            "references 2 References",
            "References\n\nTide tables, p. 4.\n\nMerrow, Ida; Tull, Sam (1931). A Survey of Small Lights. pp. 12–14. \
             Northport: Coast Press.\n\nThe Northport News, 3 May 1921",
        ),
        (
            "Harbour light",
            "references 3 Further reading",
            "Further reading\n\nVane, O. (June 1950). Bells in Fog? Journal of Harbours 5 (2): 10–19.",
        ),
        ("Harbour light", "links 2 External links", "External links\n\nThe light today"),
        ("Light", "lead 0", "Light may refer to:\n\nHarbour light, a lighthouse\n\nLight, a novel"),
        (
            "Talk:Harbour light",
            "prose 2 Height",
            "Height\n\nIs it 21 or 22 metres? Gull 04:04, 4 April 2022 (UTC)\n\nIt is 21. Keeper",
        ),
        ("灯台", "lead 0", "灯台（lighthouse）は、岬の先に立つ塔である。高さは21メートル😀。"),
        ("灯台", "prose 2 歴史", "歴史\n\n最初の灯は油で燃えた。"),
        ("灯台", "references 2 脚注", "脚注\n\n『海の灯』、12頁。"),
        ("MediaWiki:Common.css", "lead 0", "/* [[no]] {{markup}} */\n.infobox { float: right; }"),
    ];
    assert_eq!(sections(&place), expected.map(|(page, section, part)| (page.into(), section.into(), part.into())));
    let others = place.sql(
        "SELECT doc_id, page_id, namespace, revision_id, timestamp, redirect FROM 'wiki/documents.parquet' \
         WHERE page_id IN (10, 11, 13) ORDER BY page_id",
    );
    assert_eq!(
        others,
        [
            json!({"doc_id": "Harbour light", "page_id": 10, "namespace": 0, "revision_id": 102,
                   "timestamp": "2024-04-15T14:38:04Z", "redirect": null}),
            json!({"doc_id": "Harbor light", "page_id": 11, "namespace": 0, "revision_id": 111,
                   "timestamp": "2020-02-02T02:02:02Z", "redirect": "Harbour light"}),
            json!({"doc_id": "Talk:Harbour light", "page_id": 13, "namespace": 1, "revision_id": 131,
                   "timestamp": "2022-04-04T04:04:04Z", "redirect": null}),
        ]
    );
}

/// The query of `docs/wikipedia.md`, over this corpus.
#[test]
fn sentences_of_the_prose_are_told_from_references() {
    let place = place();
    place.ok("ingest dump.xml -o wiki");
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/wikipedia.md")).unwrap();
    let (_, query) = page.split_once("```sql\n").unwrap();
    let (query, _) = query.split_once("```").unwrap();
    let rows = place.sql(&format!("SELECT text FROM ({query}) WHERE doc_id = 'Harbour light' ORDER BY sent"));
    let texts: Vec<_> = rows.iter().map(|row| row["text"].as_str().unwrap().trim()).collect();
    assert!(texts.contains(&"The first lamp burned whale oil."), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("Coast Press") || text.contains("The light today")), "{texts:?}");
}

#[test]
fn compressed_dumps_make_the_same_corpus() {
    let place = place();
    let xml = dump();
    let cut = xml.windows(6).position(|bytes| bytes == b"<page>").unwrap();
    place.write("streams.xml.bz2", [bzip2(&xml[..cut]), bzip2(&xml[cut..])].concat());
    place.write("dump.xml.gz", gzip(&xml));
    place.write("dump.xml.zst", zstd::encode_all(&xml[..], 3).unwrap());
    place.write("dump", &xml);
    let files = ["dump.xml", "streams.xml.bz2", "dump.xml.gz", "dump.xml.zst", "dump --input-format mediawiki"];
    for (i, file) in files.iter().enumerate() {
        place.ok(&format!("ingest {file} -o {i}"));
        for table in ["documents.parquet", "sentences.parquet"] {
            assert!(place.read(format!("{i}/{table}")) == place.read(format!("0/{table}")), "{file} {table}");
        }
    }
    place.ok("ingest dump.xml --threads 1 -o one");
    assert!(place.read("one/documents.parquet") == place.read("0/documents.parquet"));
}

#[test]
fn what_is_left_out_on_request_is_said() {
    let place = place();
    let ended = place.run("ingest dump.xml --namespace 0 --skip-redirects --skip-disambiguation --strict -o wiki");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.err.contains("documents 2, ") && ended.err.contains("skipped 0"), "{}", ended.err);
    let said = "left out on request: 2 pages of other namespaces, 1 redirects, 1 pages of disambiguation";
    assert!(ended.err.contains(said), "{}", ended.err);
    let ended = place.run("pairs dump.xml --namespace 0 --namespace 1 --format ndjson");
    assert!(ended.err.contains("left out on request: 1 pages of other"), "{}", ended.err);
    let none = place.fails(1, "ingest dump.xml --namespace -5 -o none");
    assert!(none.contains("all pages were left out on request: 6 pages of other namespaces"), "{none}");
}

#[test]
fn filters_of_pages_want_a_dump() {
    let place = place();
    place.write("a.txt", "One sentence.");
    place.ok("ingest dump.xml -o wiki");
    for line in
        ["ingest a.txt --namespace 0 -o out", "pairs a.txt --skip-redirects", "passages wiki --skip-disambiguation"]
    {
        let error = place.fails(1, line);
        assert!(
            error.contains("are for reading MediaWiki dumps") && error.contains("--input-format"),
            "{line}: {error}"
        );
    }
    place.ok("ingest a.txt dump.xml --namespace 1 -o both");
    assert_eq!(place.sql("SELECT count(*) AS n FROM 'both/documents.parquet'"), [json!({"n": 2})]);
    place.ok("pairs a.txt --against dump.xml --namespace 0 --format ndjson");
    place.ok("pairs wiki --against dump.xml --skip-redirects --format ndjson");
}

#[test]
fn a_damaged_page_is_said_and_the_others_are_read() {
    let place = Place::new();
    let xml = String::from_utf8(dump()).unwrap().replace("<ns>1</ns>", "<ns>one</ns>");
    place.write("dump.xml", &xml);
    let line = xml[..xml.find("<ns>one").unwrap()].matches('\n').count() + 1;
    let error = place.fails(1, "ingest dump.xml -o wiki");
    assert!(error.contains(&format!("dump.xml, line {line}, byte ")), "{error}");
    let ended = place.run("ingest dump.xml --on-error skip -o wiki");
    assert!(ended.err.contains("documents 5, ") && ended.err.contains("skipped 1 "), "{}", ended.err);
    place.write("page.xml", "<html><body>no dump</body></html>");
    let error = place.fails(1, "ingest page.xml -o other");
    assert!(error.contains("its first element is <html>, not <mediawiki>"), "{error}");
}
