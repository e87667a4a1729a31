//! Tests of reading TEI.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::testing::{Folder, documents, gzip, skip};
use super::super::{OnError, Options, Quarantine, encoding_of};

/// Returns a document with this content of its body.
fn tei(body: &str) -> String {
    format!(
        "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title>T</title></titleStmt></fileDesc></teiHeader>\n\
         <text><body>{body}</body></text></TEI>"
    )
}

fn read(xml: &str) -> Result<Vec<(String, String)>, String> {
    Folder::of(&[("a.xml", xml.as_bytes())]).read(&["a.xml"], &Options::default())
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (body, text) in cases {
        assert_eq!(read(&tei(body)), Ok(documents(&[("a.xml", text)])), "{body}");
    }
}

#[test]
fn blocks_stand_apart_and_lines_end() {
    check(&[
        ("<p>The ferry <hi>leaves</hi> at\n   noon.</p><p>So.</p>", "The ferry leaves at noon.\n\nSo."),
        ("<lg><l>one line</l>\n<l>another</l></lg><lg><l>third</l></lg>", "one line\nanother\n\nthird"),
        (
            "<sp><speaker>A.</speaker><l>Go <stage>aside</stage> now</l><stage>Exit</stage></sp>",
            "A.\n\nGo aside now\n\nExit",
        ),
        ("<list><item>one</item><item>two <list><item>three</item></list></item></list>", "one\n\ntwo\n\nthree"),
        ("<table><row><cell>a</cell><cell>b</cell></row></table>", "a\n\nb"),
        (
            "<p>He said <quote>this</quote>, <q>that</q>.</p><quote>Whole.</quote><p>x</p>",
            "He said this, that.\n\nWhole.\n\nx",
        ),
        ("<p><s>One.</s><s>Two.</s></p><ab>x</ab>", "One. Two.\n\nx"),
        ("<p><w>The</w> <w>cat</w>\n<pc join=\"left\">.</pc> <pc join=\"right\">(</pc> <w>x</w></p>", "The cat. (x"),
        ("<p>a<pb n=\"2\"/><fw>PAGE 2</fw>b <figure><figDesc>A ship</figDesc></figure></p>", "a b"),
        ("<address><addrLine>1 Quay</addrLine><addrLine>Port</addrLine></address>", "1 Quay\nPort"),
        ("stray <p>x</p>", "stray\n\nx"),
        ("", ""),
    ]);
}

#[test]
fn a_word_broken_at_the_end_of_a_line_is_whole() {
    check(&[
        ("<p>exam-\n  <lb break=\"no\"/>\n  ple</p>", "example"),
        ("<p>exam<lb break=\"no\"/>ple, ex\u{AD}<pb break=\"no\" n=\"1\"/>\n<lb break=\"no\"/>it</p>", "example, exit"),
        ("<p>one<lb/>two</p>", "one two"),
        ("<p>exam-<lb/>ple</p>", "exam-\nple"),
        ("<p>w<gap reason=\"hole\"><desc>two letters</desc></gap>d</p>", "w d"),
        ("<p>ex-<choice><sic><lb break=\"no\"/>amm</sic><corr>am</corr></choice></p>", "ex-am"),
    ]);
}

#[test]
fn one_reading_is_taken() {
    check(&[
        ("<p>a <choice>\n<sic>wrnog</sic>\n<corr>wrong</corr>\n</choice> word</p>", "a wrong word"),
        ("<p><choice><reg>regular</reg><orig>regvlar</orig></choice>.</p>", "regular."),
        ("<p><choice><abbr>Dr<am>.</am></abbr><expan>D<ex>octo</ex>r</expan></choice> No</p>", "Doctor No"),
        ("<p><choice><unclear>a</unclear><unclear>b</unclear></choice><sic>tehy</sic></p>", "atehy"),
        ("<p>x<app><lem>lemma</lem><rdg wit=\"#A\">other</rdg><note>n</note></app></p>", "xlemma"),
        ("<p>x<app><rdgGrp><rdg>first</rdg><rdg>second</rdg></rdgGrp><rdg>third</rdg></app></p>", "xfirst"),
        ("<p><subst><del>old</del><add>new</add></subst><restore><del>kept</del></restore></p>", "newkept"),
        ("<p>a<choice><sic>b<note>N</note></sic><corr>c</corr></choice></p>", "ac"),
    ]);
}

#[test]
fn notes_stand_behind_their_paragraph() {
    check(&[
        (
            "<p>The ferry<note place=\"foot\" n=\"1\"><p>Of 1901.</p><p>More.<note>Deep.</note></p></note> leaves<note>Late.</note>.</p><p>So.</p>",
            "The ferry leaves.\n\nOf 1901.\n\nMore.\n\nDeep.\n\nLate.\n\nSo.",
        ),
        ("<lg><l>one<note>n</note></l><l>two</l></lg>", "one\ntwo\n\nn"),
        ("<note>alone</note><p>x<note/></p>", "alone\n\nx"),
        ("<p>a <q><l>b<note>n</note></l></q> c</p>", "a\nb\nc\n\nn"),
    ]);
}

#[test]
fn divisions_with_a_head_are_sections() {
    let body = "<p>Before.</p><div><head>One<note>why</note></head><head>or the first</head><p>a é</p>\
                <div2><head>Deeper</head><p>b</p></div2><div><p>no head</p></div></div>\
                <div type=\"notes\"><head>Notes</head><note>n</note></div>";
    let folder = Folder::of(&[("a.xml", tei(body).as_bytes()), ("b.xml", tei("<p>x</p>").as_bytes())]);
    let table = folder.table(&[""], &Options::default());
    let section = |title: &str, level: i32, kind: &str, chars: [i32; 2], bytes: [i32; 2]| {
        format!(
            "{{title: {title}, level: {level}, kind: {kind}, char_start: {}, char_end: {}, byte_start: {}, byte_end: {}}}",
            chars[0], chars[1], bytes[0], bytes[1]
        )
    };
    let expected = [
        section("", 0, "lead", [0, 9], [0, 9]),
        section("One", 1, "prose", [9, 38], [9, 39]),
        section("Deeper", 2, "prose", [38, 58], [39, 59]),
        section("Notes", 1, "references", [58, 66], [59, 67]),
    ];
    assert!(table.iter().any(|row| row.contains(&format!("[{}]", expected.join(", ")))), "{table:#?}");
    assert!(
        table.iter().any(|row| row.contains(&format!("[{}]", section("", 0, "lead", [0, 1], [0, 1])))),
        "{table:#?}"
    );
}

#[test]
fn the_header_gives_columns() {
    let header = "<tei:teiHeader><tei:fileDesc><tei:titleStmt><tei:title type=\"sub\">Sub</tei:title><tei:title type=\"main\">The\n Letter</tei:title>\
                  <tei:author><tei:surname>Merrow</tei:surname><tei:forename>Ida</tei:forename><tei:idno>7</tei:idno></tei:author>\
                  <tei:author>Tull</tei:author></tei:titleStmt><tei:publicationStmt><tei:date>2020</tei:date></tei:publicationStmt>\
                  <tei:sourceDesc><tei:bibl><tei:title>Book</tei:title><tei:date when=\"1931-05\">May 1931</tei:date></tei:bibl></tei:sourceDesc>\
                  </tei:fileDesc><tei:profileDesc><tei:langUsage><tei:language ident=\"en\">English</tei:language></tei:langUsage></tei:profileDesc>\
                  </tei:teiHeader>";
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<!-- <mediawiki> --><?pi x?><tei:TEI xmlns:tei=\"http://www.tei-c.org/ns/1.0\" xml:lang=\"de\" xml:id=\"L1\">{header}\
         <tei:facsimile><tei:surface><tei:desc>no</tei:desc></tei:surface></tei:facsimile><tei:text><tei:front><tei:head>H</tei:head></tei:front>\
         <tei:body><tei:p>x<![CDATA[ <&> ]]>&lt;&eacute;&#x2014;<!-- no --><?no no?></tei:p></tei:body></tei:text></tei:TEI>"
    );
    let table = Folder::of(&[("a.xml.gz", &gzip(xml.as_bytes()))]).table(&["a.xml.gz"], &Options::default());
    assert_eq!(table[0], "doc_id|text|title|author|date|language|sections");
    assert!(table[1].starts_with("L1|H"), "{table:?}");
    assert!(table.iter().any(|row| row.contains("The Letter|Merrow Ida; Tull|1931-05|en|")), "{table:?}");
    assert!(table.iter().any(|row| row.contains("x <&> <é—")), "{table:?}");
}

#[test]
fn each_document_of_a_corpus_is_one() {
    let header = "<teiHeader><fileDesc><titleStmt><title>Corpus</title></titleStmt></fileDesc></teiHeader>";
    let one = tei("<p>one</p>");
    let two = tei("<p>two</p>").replace("<TEI ", "<TEI xml:id=\"second\" ");
    // A document within another one, after its text.
    let three = one.replace("one", "three").replace("</TEI>", &format!("{}</TEI>", one.replace("one", "four")));
    let xml = format!("<teiCorpus>{header}{one}<teiCorpus>{header}{two}</teiCorpus>{three}</teiCorpus>");
    let expected = [("a.xml#1", "one"), ("second", "two"), ("a.xml#3", "three"), ("a.xml#4", "four")];
    assert_eq!(read(&xml), Ok(documents(&expected)));
    let numbered = Options { id_column: Some(String::new()), ..Options::default() };
    let folder = Folder::of(&[("a.xml", xml.as_bytes())]);
    assert_eq!(folder.table(&["a.xml"], &numbered)[0], "doc_id|text|id|title|author|date|language|sections");
    let two_roots = format!("{one}\n<?xml version=\"1.0\"?>{}", one.replace("one", "two"));
    assert_eq!(read(&two_roots), Ok(documents(&[("a.xml", "one"), ("a.xml#2", "two")])));
    // A group without a text of its own is no document.
    let group = format!("<TEI>{header}{one}</TEI>");
    assert_eq!(read(&group), Ok(documents(&[("a.xml#1", "one")])));
}

#[test]
fn xml_that_is_neither_tei_nor_a_dump_is_an_error() {
    let folder = Folder::of(&[("a.xml", b"<html><p>x</p></html>"), ("b.tei", b"<html/>"), ("c.xml", b"no xml")]);
    for (file, said) in [
        (
            "a.xml",
            "a.xml, line 1, byte 0: it is no MediaWiki dump and no TEI: its first element is <html>, not <mediawiki> or <TEI>",
        ),
        ("b.tei", "b.tei, line 1, byte 0: it is no TEI: its first element is <html>, not <TEI>"),
        ("c.xml", "it has no element <mediawiki> or <TEI>"),
    ] {
        let error = folder.error(&[file], &Options::default());
        assert!(error.contains(said) && error.contains("`input_format`"), "{error}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_next_document_is_read() {
    let good = |text: &str| tei(&format!("<p>{text}</p>"));
    for (bad, said) in [
        (tei("<p>x<hi>y</p>"), "line 4, byte 325: not well-formed XML"),
        (tei("<p>&nothing; y</p>"), "line 4, byte 319: the entity &nothing; is not declared"),
        (tei("<p>&#0;</p>"), "the entity &#0; is no character of XML"),
        (
            tei("<p>x</p>").replace("</text></TEI>", ""),
            "line 3, byte 179: the document does not end before the next <TEI>",
        ),
        ("<TEI><teiHeader/></TEI>".to_owned(), "line 3, byte 179: the document has no <text>"),
        (tei(&"<hi>".repeat(2000)), "elements are nested more than 1000 deep"),
        (tei(&format!("<{}>", "x".repeat(300))), "the name of an element is longer than 256 bytes"),
    ] {
        let xml = format!("<teiCorpus>{}\n{bad}{}</teiCorpus>", good("one"), good("two"));
        let folder = Folder::of(&[("a.xml", xml.as_bytes())]);
        let error = folder.error(&["a.xml"], &Options::default());
        assert!(error.starts_with("a.xml, line ") && error.contains(said), "{said}: {error}");
        let path = folder.path("bad.jsonl");
        let on_error = OnError::Quarantine(Quarantine::new(path.clone()));
        let options = Options { on_error, id_column: Some(String::new()), ..Options::default() };
        let texts: Vec<_> = folder.read(&["a.xml"], &options).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["one", "two"], "{said}");
        let written = std::fs::read_to_string(path).unwrap();
        let kept: serde_json::Value = serde_json::from_str(written.trim()).unwrap();
        assert!(kept["data"].as_str().unwrap().starts_with(&bad[..20]), "{kept}");
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_documents_before_and_says_so() {
    let xml = format!("<teiCorpus>{}{}</teiCorpus>", tei("<p>one &amp; é</p>"), tei("<lg><l>two</l></lg>"));
    let whole = read(&xml).unwrap();
    for cut in (1..xml.len()).filter(|cut| xml.is_char_boundary(*cut)) {
        let folder = Folder::of(&[("a.tei", &xml.as_bytes()[..cut])]);
        let read = folder.read(&["a.tei"], &skip()).unwrap();
        let ids: Vec<_> = whole.iter().map(|(id, text)| (id.replace(".xml", ".tei"), text.clone())).collect();
        assert_eq!(read, ids[..xml[..cut].matches("</TEI>").count()], "{cut}");
        let error = folder.error(&["a.tei"], &Options::default());
        assert!(error.starts_with("a.tei, line "), "{cut}: {error}");
    }
}

#[test]
fn limits_hold() {
    let limited = |xml: &str| {
        let options = Options { max_record_bytes: 1000, ..Options::default() };
        Folder::of(&[("a.xml", xml.as_bytes())]).read(&["a.xml"], &options)
    };
    // The limit holds for the text. The XML may be longer.
    let words = tei(&format!("<p>{}</p>", "<w lemma=\"ferry\" pos=\"N\">ferry</w> ".repeat(100)));
    assert_eq!(limited(&words).unwrap()[0].1.len(), 599);
    for xml in [
        tei(&format!("<p>{}</p>", "word ".repeat(300))),
        tei(&"<p>word</p>".repeat(300)),
        tei(&"<note>word</note>".repeat(300)),
        tei(&format!("<p>{}</p>", "<note>word</note>".repeat(300))),
        tei("").replace("<title>T", &format!("<title>{}", "long ".repeat(300))),
        format!("<!DOCTYPE TEI [<!ENTITY a '{}'>]>{}", "lol ".repeat(20), tei(&"<p>&a;&a;</p>".repeat(10))),
    ] {
        let error = limited(&xml).unwrap_err();
        assert!(error.contains("is longer than 1000 bytes") && error.contains("`max_record_bytes`"), "{error}");
    }
}

#[test]
fn files_outside_are_never_loaded() {
    let xml = format!(
        "<!DOCTYPE TEI.2 SYSTEM 'http://127.0.0.1:9/tei.dtd' [<!ENTITY f SYSTEM 'secret.txt'>]>{}",
        tei("<p>&f;</p>")
    );
    let folder = Folder::of(&[("a.xml", xml.as_bytes()), ("secret.txt", b"secret")]);
    let error = folder.error(&["a.xml"], &Options::default());
    assert!(error.contains("the entity &f; stands for another file, and no other file is read"), "{error}");
}

#[test]
fn declared_encodings_are_read() {
    let declared = |label: &str, body: &[u8]| {
        let (before, after) = (tei("|"), format!("<?xml version='1.0' encoding=\"{label}\"?>"));
        let (head, tail) = before.split_once('|').unwrap();
        [after.as_bytes(), head.as_bytes(), body, tail.as_bytes()].concat()
    };
    let folder = Folder::of(&[
        ("a.xml", &declared("ISO-8859-1", b"<p>caf\xE9</p>")),
        ("b.xml", &declared("utf-8", "<p>é</p>".as_bytes())),
        ("c.xml", &declared("nonsense", b"<p>x</p>")),
        ("d.xml", &declared("utf-8", b"<p>\n\xE9</p>")),
    ]);
    assert_eq!(folder.read(&["a.xml"], &Options::default()).unwrap(), documents(&[("a.xml", "café")]));
    assert_eq!(folder.read(&["b.xml"], &Options::default()).unwrap(), documents(&[("b.xml", "é")]));
    let error = folder.error(&["c.xml"], &Options::default());
    assert!(error.starts_with("c.xml, line 1: it declares the encoding nonsense"), "{error}");
    let error = folder.error(&["d.xml"], &Options::default());
    assert!(error.starts_with("d.xml, line 3, byte ") && error.contains("the byte 0xE9 is not valid UTF-8"), "{error}");
    let latin = Options { encoding: Some(encoding_of("latin1").unwrap()), ..Options::default() };
    assert_eq!(folder.read(&["d.xml"], &latin).unwrap(), documents(&[("d.xml", "é")]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks that reading a damaged file ends, and that no section is outside of its text.
    #[test]
    fn a_damaged_file_is_read_to_its_end(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        marks in any::<bool>(),
    ) {
        let mut xml = String::from("<teiCorpus>");
        for i in 0..4 {
            let _ = write!(
                xml,
                "{}",
                tei(&format!("<div><head>H{i}</head><p>a<note>n</note> <choice><sic>b</sic><corr>c</corr></choice>-<lb/>d</p></div>"))
            );
        }
        let mut xml = format!("{xml}</teiCorpus>").into_bytes();
        for (at, byte) in damage {
            let at = at.index(xml.len());
            // Marks do more harm than letters.
            xml[at] = if marks { b"<>&;/\"= !-"[usize::from(byte) % 10] } else { byte };
        }
        let folder = Folder::of(&[("a.tei", &xml)]);
        let read = folder.read(&["a.tei"], &Options { id_column: Some(String::new()), ..skip() });
        prop_assert!(read.is_ok_and(|read| read.len() <= 4));
    }
}
