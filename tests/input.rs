//! Reading files, from the program to the corpus.

use serde_json::json;

use crate::program::Place;

#[test]
fn a_letter_in_tei_is_read_with_what_its_header_says() {
    let letter = "<?xml version=\"1.0\"?><TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title>Letter</title>\
                  <author>Ida Merrow</author></titleStmt></fileDesc></teiHeader><text><body><p>The ferry <hi>leaves</hi> at noon.</p>\
                  <lg><l>one line</l><l>another line</l></lg></body></text></TEI>";
    let place = Place::with([("letters/a.xml", letter), ("letters/b.tei", "<TEI><text>")]);
    let ended = place.run("ingest letters -o corpus --on-error skip");
    assert!(ended.err.contains("documents 1, sentences 2, skipped 1"), "{}", ended.err);
    assert!(ended.err.contains("b.tei, line 1, byte 11: the file ends before </TEI>"), "{}", ended.err);
    let read = place.sql("SELECT doc_id, text, title, author, date FROM 'corpus/documents.parquet'");
    let text = "The ferry leaves at noon.\n\none line\nanother line";
    assert_eq!(
        read,
        [json!({"doc_id": "a.xml", "text": text, "title": "Letter", "author": "Ida Merrow", "date": null})]
    );
    place.ok("ingest letters/a.xml --input-format html -o html");
    let said = place.fails(1, "ingest letters/a.xml --input-format csv -o csv");
    assert!(said.contains("it has no column \"text\""), "{said}");
}

#[test]
fn the_splits_of_a_data_set_are_sources() {
    let card = "---\nconfigs:\n- config_name: default\n---\n# Ferries\n";
    let (train, test) =
        ("{\"text\": \"The ferry leaves.\"}\n", "{\"text\": \"the ferry leaves.\"}\n{\"text\": \"Other.\"}\n");
    let place = Place::with([
        ("set/README.md", card),
        ("set/data/train-00000-of-00001.jsonl", train),
        ("set/data/test-00000-of-00001.jsonl", test),
    ]);
    let ended = place.run("dedup set --by-source split -o clean");
    assert!(ended.err.contains("passed over 1 files that describe data sets, such as set/README.md"), "{}", ended.err);
    let sources = place.sql("SELECT source, documents FROM 'clean/sources.parquet' ORDER BY source");
    assert_eq!(sources, [json!({"source": "test", "documents": 2}), json!({"source": "train", "documents": 1})]);
}

#[test]
fn boilerplate_is_dropped_on_request_and_counted() {
    let links = "<li><a href=\"x.html\">Chapter of the manual</a></li>".repeat(20);
    let text = "<p>The ferry leaves the northern quay at noon, and it takes the mail, the newspapers and whoever wants to see the islands, \
                which nobody has counted since the survey of 1931.</p>"
        .repeat(5);
    let page = format!(
        "<html><head><title>Ferries</title></head><body><div><ul>{links}</ul></div><div><div>{text}</div></div></body></html>"
    );
    let place = Place::with([("site/a.html", page.as_str()), ("site/b.html", "<p>Short."), ("c.txt", "Text.")]);
    let ended = place.run("ingest site --boilerplate drop -o corpus");
    assert!(
        ended.err.contains("dropped as boilerplate: 460 of 1,333 bytes of the text of 2 pages of HTML"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("kept whole: 1 pages of HTML whose main content could not be told"), "{}", ended.err);
    let read = place.sql("SELECT text LIKE '%Chapter%' AS has FROM 'corpus/documents.parquet' ORDER BY doc_id");
    assert_eq!(read, [json!({"has": false}), json!({"has": false})]);
    let called = place.sql("SELECT count(*) AS n FROM pairs('site', boilerplate => 'drop')");
    assert_eq!(called, [json!({"n": 0})]);
    for line in ["ingest c.txt --boilerplate drop -o none", "pairs corpus --boilerplate drop"] {
        let said = place.fails(1, line);
        assert!(said.contains("--boilerplate drop is for reading pages of HTML"), "{line}: {said}");
    }
}
