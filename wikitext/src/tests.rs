//! Tests of the text and the sections of markup.

use proptest::prelude::*;

use crate::converter::without_redirect;
use crate::fuzz::check;
use crate::{Converted, Converter, Section, Site};

fn convert_with(markup: &str, site: &Site) -> Converted {
    Converter::default().convert(markup, site)
}

fn convert(markup: &str) -> Converted {
    convert_with(markup, &Site::default())
}

fn text(markup: &str) -> String {
    convert(markup).text
}

#[track_caller]
fn all(cases: &[(&str, &str)]) {
    for (markup, expected) in cases {
        assert_eq!(text(markup), *expected, "{markup}");
    }
}

/// Returns the sections as `level kind title: text`.
fn sections(markup: &str) -> Vec<String> {
    let Converted { text, sections, .. } = convert(markup);
    let shown = |section: Section| {
        let (Section { level, kind, bytes: [start, end], .. }, title) = (&section, section.title(&text));
        let [start, end] = [start, end].map(|at| usize::try_from(*at).unwrap());
        format!("{level} {kind:?} {title}: {}", text[start..end].trim_end().replace('\n', "/"))
    };
    sections.into_iter().map(shown).collect()
}

#[test]
fn plain_text_stays() {
    all(&[
        ("", ""),
        (" \n\n \t\n", ""),
        ("One word.", "One word."),
        ("naïve 漢字 😀 e\u{301}", "naïve 漢字 😀 e\u{301}"),
        ("a  b\tc\u{A0}d&nbsp;e\u{2009}f", "a b c d e f"),
        ("a\r\nb\r\n\r\nc", "a b\n\nc"),
        ("a\nb\n\n\n\nc", "a b\n\nc"),
        ("a {b} [c] 1 < 2 > 0 | d_e x = y -{z}-", "a {b} [c] 1 < 2 > 0 | d_e x = y -{z}-"),
        (
            "it's 5' by 6\" & more; R&D &c. &unknown; &#xD800; &#99999999;",
            "it's 5' by 6\" & more; R&D &c. &unknown; &#xD800; &#99999999;",
        ),
        ("\u{0}a\u{1}b\u{2}c\u{3}d\u{1F}e", "a b c d e"),
    ]);
}

#[test]
fn entities_are_characters_and_no_markup() {
    all(&[
        ("1&ndash;2 &mdash; &eacute;&#233;&#xE9; &#x1F600; &amp; &lt;ref&gt;", "1–2 — ééé 😀 & <ref>"),
        ("&amp;lt;", "&lt;"),
        ("&#42; no list", "* no list"),
        ("&#61;&#61; no heading ==", "== no heading =="),
        ("&#39;&#39;no italics&#39;&#39;", "''no italics''"),
        ("&#91;&#91;no link]]", "[[no link]]"),
        ("&#123;&#123;no template}}", "{{no template}}"),
        ("{{nowrap|a&#124;b&#61;c}}", "a|b=c"),
        ("a&#0;b&#1;c&#10;d", "a b c d"),
    ]);
}

#[test]
fn templates_are_dropped_with_all_that_is_in_them() {
    all(&[
        ("a {{b}} c", "a c"),
        ("{{b|c|d=[[e]]}}Text", "Text"),
        ("{{a|{{b|{{c}}}}|{{d}}}} text", "text"),
        ("{{Infobox\n| name = [[A]]\n| x = {{b|{{c}}}}\n| note = é\n}}\nText.", "Text."),
        ("a{{{parameter}}}b {{{p|default}}} c", "ab c"),
        ("{{#if:x|y|z}}{{PAGENAME}}{{DISPLAYTITLE:''a''}}text", "text"),
        ("{{{{{nested}}}}}text", "text"),
        ("{{{{a}}}}text", "{}text"),
        ("{{ {{a}} }}text", "text"),
        ("a{{}}b", "ab"),
        ("{{a|[[b|c}}d", "d"),
        ("{{a|[[b}}]]c", "]]c"),
        ("{{a|<nowiki>}}</nowiki>|b}}c", "c"),
        ("{{a|<!-- }} -->b}}c", "c"),
        ("{{a\n|}}b", "b"),
        ("{{a|\n{|\n| cell\n|}}}b", "b"),
    ]);
}

#[test]
fn templates_of_running_text_are_kept() {
    all(&[
        ("{{lang|fr|Le ''chat''}}, {{lang-de|Hund}}, {{langx|es|gato}}", "Le chat, Hund, gato"),
        ("{{transl|ar|DIN|salām}}, {{transl|ru|da}}", "salām, da"),
        ("{{nowrap|5 kg}} {{Nowrap|1=a=b}} {{no_break}} {{nobr| x }}", "5 kg a=b x"),
        ("{{nowrap|{{lang|fr|{{small|a [[b|c]]}}}}}}", "a c"),
        ("{{convert|5|km|mi}}, {{convert|5|to|10|km|mi|abbr=on}}, {{convert|3|x|4|m}}", "5 km, 5 to 10 km, 3 × 4 m"),
        ("{{convert|6|ft|2|in|m}}, {{cvt|5|-|7|kg}}, {{convert|8}}, {{convert}}", "6 ft 2 in, 5–7 kg, 8,"),
        ("{{val|5|u=km}} {{val|6}} {{frac|1|2}} {{frac|3|1|2}} {{frac|4}}", "5 km 6 1⁄2 3 1⁄2 1⁄4"),
        ("1{{ndash}}2{{snd}}3 {{mdash}} {{'}}x{{'s}} {{=}} {{!}}", "1–2 – 3 — 'x's = |"),
        ("{{circa|1850}} {{c.|1860}} {{fl.|1870}} {{abbr|a.|about}}", "c. 1850 c. 1860 fl. 1870 a."),
        ("{{US$|5}}, {{£|6}}, {{formatnum:1000}}, {{isbn|978}}, 2{{e|6}}", "US$5, £6, 1000, ISBN 978, 2×10^6"),
        ("{{as of|2010}}, {{as of|2010|5|1|lc=y}}, {{as of|2010|May}}", "As of 2010, as of 1 May 2010, As of May 2010"),
        ("{{nihongo|Tea|茶|cha}}; {{nihongo||茶|cha}}; {{nihongo|Tea}}", "Tea (茶, cha); 茶, cha; Tea"),
        ("{{HMS|Victory}}, {{ship|SMS|Emden}}, {{chem|H|2|O}}", "HMS Victory, SMS Emden, H2O"),
        ("{{harvnb|Smith|Jones|2001|p=5}}; {{harv|Lee|1999|pp=1–2}}", "Smith Jones 2001, p. 5; Lee 1999, pp. 1–2"),
        ("Before {{quote|text=He said so.|author=A}} after.", "Before\n\nHe said so.\n\nafter."),
        ("{{quote|\nOne.\n\nTwo.\n}}", "One.\n\nTwo."),
        ("{{ Lang <!-- x --> |fr|a}}{{LANG|fr|b}}{{lang\n|fr\n|c}}", "abc"),
    ]);
}

#[test]
fn citations_are_a_line_of_their_parameters() {
    all(&[
        (
            "{{cite book|last=Merrow|first=Ida|author2-last=Tull|author2-first=Sam|title=[[Lights]]|year=1931|\
             publisher=Coast|location=Northport|pages=1–2|isbn=x|url=http://x}}",
            "Merrow, Ida; Tull, Sam (1931). Lights. pp. 1–2. Northport: Coast.",
        ),
        (
            "{{Cite journal |title=Bells? |journal=Harbours |volume=5 |issue=2 |page=9 |date=June 1950 |year=1949}}",
            "(June 1950). Bells? Harbours 5 (2): 9.",
        ),
        ("{{cite web|author=A.|title=B.|website=c.org|access-date=d}}", "A. B. c.org."),
        ("{{citation|editor-last=E|title=T|chapter=C}}", "E. C. T."),
        ("{{cite web|url=http://x}}text", "text"),
        ("{{cite news|first=Only|title=T}}", "T."),
        ("{{cite web|title=a<nowiki>=</nowiki>b {{=}} c|x}}", "a=b = c."),
        ("{{citation needed|date=May}}{{cite check}}{{cite quote}}text", "text"),
    ]);
}

#[test]
fn links_are_their_labels() {
    all(&[
        ("[[a]] [[b|c]] [[d#e|''f'']]s [[g]]s", "a c fs gs"),
        ("[[:Category:A]] [[:de:B|C]] [[wikt:d]] [[a|b|c]] [[e|]]", "Category:A C wikt:d b|c e"),
        ("[[File:a.jpg|thumb|[[b|c]] and [http://d e]]]Text", "Text"),
        ("[[Image:a.jpg]][[Category:B|c]][[de:D]][[fr:E]]Text", "Text"),
        ("[[Media:a.ogg|listen]] [[2001: A b|c]] [[Re:Zero]]", "listen c Re:Zero"),
        ("[http://a b ''c''] [https://d] [//e f] [mailto:g h] [HTTP://I j]", "b c f h j"),
        ("[http://a.org/x b] [http://c\td] [http://e''f'']", "b d f"),
        ("see http://a.org/b_c?d=e.", "see http://a.org/b_c?d=e."),
        ("[[http://a b]] [[a [http://b c] d]]", "[b] a c d"),
        ("[[a\nb]] [[c|d\ne]]", "[[a b]] d e"),
        ("[a] [ http://b] [1]", "[a] [ http://b] [1]"),
        ("[[File:a.jpg|thumb|b\nc]]d", "d"),
        ("[[a|{{nowrap|b}}]] [[{{nowrap|c}}|d]] [[a|[b] c]]", "b d [b] c"),
    ]);
}

#[test]
fn the_wiki_has_names_of_its_own() {
    let mut site = Site::default();
    site.add_namespace("6", "Picture");
    let markup = "[[Picture:a.jpg|b]][[Photo:c|d]]";
    assert_eq!(convert_with(markup, &site).text, "d");
}

#[test]
fn variants_are_of_wikis_that_have_them() {
    let markup = "-{zh-hans:计算机;zh-hant:電腦}--{简}--{A|zh-cn:甲;zh-tw:乙}--{H|zh-cn:丙}--{丁";
    let mut site = Site::default();
    site.set_language("zh-CN");
    assert_eq!(convert_with(markup, &site).text, "计算机简甲-{丁");
    assert_eq!(text(markup), markup);
    assert_eq!(convert_with("a-{{nowrap|b}}-c -{ {{nowrap|d}}}-", &site).text, "a-b-c d");
}

#[test]
fn quotes_are_dropped_and_apostrophes_stay() {
    all(&[
        ("''a'' '''b''' '''''c''''' ''d'''e'''''", "a b c de"),
        ("l'eau, '90s, ''''a''', '''''''b'''''", "l'eau, '90s, 'a, ''b"),
        ("L'''amour'' and", "L'amour and"),
        ("the '''x''s '' and ''' y", "the xs and y"),
        ("''a\nb''", "a b"),
        ("<nowiki>''a''</nowiki>", "''a''"),
    ]);
}

#[test]
fn comments_and_literals() {
    all(&[
        ("a<!-- b -->c<!---->d", "acd"),
        ("a\n<!-- alone -->\nb", "a b"),
        ("a\n  <!-- alone --> <!-- too -->  \nb", "a b"),
        ("a\n\n<!-- b\n\nc -->\n\nd", "a\n\nd"),
        ("a <nowiki>[[b]] {{c}} ''d'' <ref>e</ref> &amp; f</nowiki> g", "a [[b]] {{c}} ''d'' <ref>e</ref> & f g"),
        ("<nowiki>* a</nowiki>\n<nowiki>\n== b ==\n</nowiki>", "* a == b =="),
        ("a<nowiki/>b<nowiki />c", "abc"),
        ("<pre>\na  [[b]]\n* c\n</pre>", "a [[b]]\n* c"),
        ("<NOWIKI>[[a]]</NoWiki >", "[[a]]"),
    ]);
}

#[test]
fn tags_are_dropped_and_their_content_stays() {
    all(&[
        ("<b>a</b> H<sub>2</sub>O <span style=\"x>y\">c</span> <small class=d >e</small>", "a H2O y\">c e"),
        ("a<br>b<br/>c<br />\nd<br><br>e", "a\nb\nc\nd\n\ne"),
        ("<p>a</p><div>b</div><blockquote>c</blockquote>", "a\n\nb\n\nc"),
        ("a <math>x^2</math> b<score>c</score><gallery>\nFile:d.jpg|e\n</gallery>f", "a bf"),
        ("<syntaxhighlight lang=\"c\">int a; // [[b]] </syntaxhighlight>c <templatestyles src=\"x\" />d", "c d"),
        ("<poem>\none\ntwo\n\nthree\n</poem>", "one\ntwo\n\nthree"),
        ("<noinclude>a</noinclude><includeonly>b</includeonly><onlyinclude>c</onlyinclude>", "ac"),
        ("<unknown>a</unknown> x<y z>0 <3 </3>", "<unknown>a</unknown> x<y z>0 <3 </3>"),
        ("a <b and c\n\nd> e", "a <b and c\n\nd> e"),
        ("__TOC__a __NOTOC____b__ __FILE__", "a __b__ __FILE__"),
    ]);
}

#[test]
fn tables_are_dropped() {
    all(&[
        ("a\n{| class=\"b\"\n! c !! d\n|-\n| e || [[f]]\n|}\ng", "a\n\ng"),
        ("{|\n| a\n{|\n| b\n|}\n| c\n|}d", "d"),
        (":{|\n| a\n|}\nb", "b"),
        ("a {| b |} c", "a {| b |} c"),
        ("<table><tr><td>a<table>b</table></td></tr></table>c", "c"),
        ("{|\n| {{a}\n|}\nb", "b"),
        ("{|\n| [[a\n|}\nb", "b"),
        ("{{box|\n{|\n| a\n|}\n}}b", "b"),
    ]);
}

#[test]
fn lines_become_blocks() {
    all(&[
        ("* a\n* b\n** c\n# d\n:e\n; f : g\nh\ni", "a\n\nb\n\nc\n\nd\n\ne\n\nf : g\n\nh i"),
        ("a\n----\nb\n-----c", "a\n\nb\n\nc"),
        ("a\n== b ==\nc\n=== d ===\n\ne", "a\n\nb\n\nc\n\nd\n\ne"),
        ("==a==<!-- b -->\n== c == <ref>d</ref>\n=e=\n======= f =======", "a\n\nc\n\ne\n\n= f =\n\nd"),
        ("== a\na ==\n==\n===\n====", "== a a == ==\n\n=\n\n=="),
        ("a\n b\n  c", "a b c"),
        ("== a<br>b ==\nc", "a b\n\nc"),
    ]);
}

#[test]
fn brackets_and_commas_around_nothing_go() {
    all(&[
        ("A ({{ipa}}) b", "A b"),
        ("A ({{ipa}}; {{b}}, c) d", "A (c) d"),
        ("A (b, {{c}}) d ({{e}} ; {{f}})", "A (b) d"),
        ("A {{b}}, c {{d}}. E {{f}} ; g", "A, c. E; g"),
        ("A {{b}}, {{c}}, d", "A, d"),
        ("a（{{b}}）c（{{d}}、e）", "ac（e）"),
        ("* {{a}}, {{b}}\n* c", "c"),
        ("{{a}}, b", "b"),
        ("f() ( ) (, x) a , b ;", "f() () (, x) a , b ;"),
        ("((({{a}})))b", "(())b"),
        ("({{a}}) b", "b"),
        ("a\n({{a}}) b", "a b"),
        ("...\n\n{{a}}...", "..."),
    ]);
}

#[test]
fn references_are_collected_where_they_are_listed() {
    all(&[
        ("A.<ref>b</ref> C.<ref name=d>''e''\nf</ref><ref name=d /><ref name=\"g\"/>", "A. C.\n\nb\n\ne f"),
        ("A<ref>b</ref>\n== References ==\n{{reflist}}\n== Links ==\nc", "A\n\nReferences\n\nb\n\nLinks\n\nc"),
        ("A<ref>b</ref>\n== Belege ==\n<references />", "A\n\nBelege\n\nb"),
        ("A<ref name=b /><references><ref name=b>c</ref></references>", "A\n\nc"),
        ("A<ref name=b />{{reflist|refs=<ref name=b>c</ref>}}", "A\n\nc"),
        (
            "A<ref group=n>b</ref><ref>c</ref>\n=N=\n<references group=\"n\"/>\n=R=\n<references/>",
            "A\n\nN\n\nb\n\nR\n\nc",
        ),
        ("A{{efn|b {{nowrap|c}}}}{{refn|d|group=lower-alpha}}\n=N=\n{{notelist}}", "A\n\nN\n\nb c\n\nd"),
        ("{{infobox|a<ref>b</ref>}}{|\n|c<ref>d</ref>\n|}[[File:e|f<ref>g</ref>]]", "b\n\nd\n\ng"),
        ("A<ref>b {{c|</ref> d}} e", "A d}} e\n\nb {{c|"),
        ("A<ref></ref><ref> </ref><ref>{{x}}</ref> b", "A b"),
        ("A{{#tag:ref|b<ref>c</ref>|name=d}} e", "A e\n\nc\n\nb"),
        ("A<ref>b<ref>c</ref>d</ref>", "Ad\n\nbc"),
        ("A<REF>b</Ref >", "A\n\nb"),
        ("A<ref>b<br>c{{reflist}}d\n* e</ref>", "A\n\nb c d * e"),
        ("{{nowrap|A {{reflist}} b<ref>c</ref>}}", "A\n\nb\n\nc"),
        ("A {{nowrap|{{reflist}}}} b<ref>c</ref>", "A b\n\nc"),
    ]);
}

#[test]
fn sections_tell_references_from_prose() {
    let markup = "Lead.<ref>r1</ref>\n== History ==\nText 漢.\n=== Early ===\n== Notes and references ==\n{{reflist}}\n\
                  === Books ===\n* B\n== External links ==\n* [http://x y]\n=== More ===\nz";
    assert_eq!(
        sections(markup),
        [
            "0 Lead : Lead.",
            "2 Prose History: History//Text 漢.",
            "3 Prose Early: Early",
            "2 References Notes and references: Notes and references//r1",
            "3 References Books: Books//B",
            "2 Links External links: External links//y",
            "3 Links More: More//z",
        ]
    );
    // A section that holds nothing but the list is one of references, whatever its title.
    assert_eq!(
        sections("A<ref>b</ref>\n== Πηγές ==\n<references/>\n=== C ===\nd"),
        ["0 Lead : A", "2 References Πηγές: Πηγές//b", "3 References C: C//d"]
    );
    // In the middle of prose, the list comes at the end of the section, and is one of its own.
    assert_eq!(
        sections("== A ==\nb<ref>c</ref>\n{{reflist}}\nd\n== E ==\nf"),
        ["2 Prose A: A//b//d", "0 References : c", "2 Prose E: E//f"]
    );
    // Notes that no list shows come last.
    assert_eq!(sections("A<ref>b</ref>"), ["0 Lead : A", "0 References : b"]);
    assert_eq!(
        sections("A<ref group=x>b</ref><ref>c</ref>\n== References ==\n{{reflist}}"),
        ["0 Lead : A", "2 References References: References//c//b"]
    );
    assert_eq!(sections("{{a|<ref>b</ref>}}"), ["0 References : b"]);
    assert_eq!(sections("A<ref>b</ref>\n{|\n|{{reflist}}\n|}"), ["0 Lead : A", "0 References : b"]);
    assert_eq!(sections("== {{a}} ==\nb"), ["0 Lead : b"]);
    assert!(sections("").is_empty());
}

#[test]
fn what_is_not_closed_takes_nothing_with_it() {
    all(&[
        ("a {{b\n\nc", "a {{b\n\nc"),
        ("a {{b {{nowrap|c}}\n\nd", "a {{b c\n\nd"),
        ("a {{lang|fr|b}\n\nc {{lang|fr|d}}", "a {{lang|fr|b}\n\nc d"),
        ("a [[b\nc]]", "a [[b c]]"),
        ("a [[b|c\n\nd]]", "a [[b|c\n\nd]]"),
        ("a [http://b c\nd]", "a [http://b c d]"),
        ("a <!-- b\n\nc", "a b\n\nc"),
        ("a <nowiki>[[b]]", "a b"),
        ("a <ref>b\n\nc", "a b\n\nc"),
        ("a <ref name=b>c {{d</ref> e", "a e\n\nc {{d"),
        ("a <math>b", "a b"),
        ("{| a\n| b\n\nc", "c"),
        ("{{Infobox\n| a = b\n| c = {{d}}\n\nText", "{{Infobox\n\nText"),
        ("a }} b ]] c |} d --> e </ref> f", "a }} b ]] c |} d --> e f"),
        ("a <b c", "a <b c"),
        ("''a\n\n'''b", "a\n\nb"),
        ("[[File:a.jpg|thumb|b [[c]]\n\nd", "[[File:a.jpg|thumb|b c\n\nd"),
        ("{{a|{{b}}\n\n{{c}}d", "{{a|\n\nd"),
    ]);
}

#[test]
fn what_is_too_deep_is_text() {
    let deep = |open: &str, close: &str, n: usize| format!("a {}x{} b", open.repeat(n), close.repeat(n));
    assert_eq!(text(&deep("{{nowrap|", "}}", 100)), "a x b");
    // The bar of a template that is text belongs to the template around it.
    assert_eq!(text(&deep("{{nowrap|", "}}", 101)), "a {{nowrap b");
    for (open, close) in
        [("{{y|", "}}"), ("{{{y|", "}}}"), ("[[File:y|", "]]"), ("{|\n", "\n|}\n"), ("<table>", "</table>")]
    {
        let page = format!("a\n{}x{}\nb", open.repeat(50_000), close.repeat(50_000));
        assert_eq!(text(&page).split_whitespace().collect::<Vec<_>>(), ["a", "b"], "{open}");
    }
    // The first `</ref>` ends the first `<ref>`.
    let refs = text(&deep("<ref>{{y|", "}}</ref>", 1_000));
    assert!(refs.starts_with("a }}}}") && refs.contains("}} b\n\n{{y|{{y|"));
}

#[test]
fn redirects_lose_what_makes_them_so() {
    assert_eq!(without_redirect("#REDIRECT [[A]]\n{{b}}"), "\n{{b}}");
    assert_eq!(without_redirect(" \n#WEITERLEITUNG [[A]] b"), " b");
    assert_eq!(without_redirect("Moved to [[A]]"), "Moved to [[A]]");
    assert_eq!(without_redirect("# a\n[[b]]"), "# a\n[[b]]");
}

#[test]
fn pages_say_that_they_are_of_disambiguation() {
    for markup in
        ["{{disambig}}", "a {{Disambiguation|geo}}", "{{hndis|a}}", "{{Place_name disambiguation}}", "__DISAMBIG__"]
    {
        assert!(convert(markup).is_disambiguation, "{markup}");
    }
    for markup in
        ["{{about|a}}", "a{{disambiguation needed}}", "disambig", "<nowiki>{{disambig}}</nowiki>", "{{disambig"]
    {
        assert!(!convert(markup).is_disambiguation, "{markup}");
    }
}

#[test]
fn one_page_leaves_nothing_for_the_next() {
    let mut converter = Converter::default();
    let site = Site::default();
    let first = "{{disambig}}a<ref>b</ref>{{c|<poem>{{nowrap|d|[[e|<ref group=x>f</ref>\n<poem>";
    let second = "a\nb<ref>c</ref>\n{{reflist}}";
    let expected = convert(second);
    for _ in 0..3 {
        assert!(converter.convert(first, &site).is_disambiguation);
        let converted = converter.convert(second, &site);
        assert_eq!((&converted.text, &converted.sections), (&expected.text, &expected.sections));
        assert!(!converted.is_disambiguation);
    }
}

/// Returns the number of steps that a page takes.
fn work(markup: &str) -> usize {
    let mut site = Site::default();
    site.set_language("zh");
    let mut converter = Converter::default();
    converter.convert(markup, &site);
    converter.steps()
}

/// Pairs of markup. The first is repeated n times, then the second n times, if there is one.
const HARD: &[(&str, &str)] = &[
    ("{", "}"),
    ("{{", "}}"),
    ("{{{", "}}}"),
    ("{{nowrap|", "}}"),
    ("{{nowrap|x", "}}"),
    ("{{efn|", "}}"),
    ("{{a|b=", "}}"),
    ("[", "]"),
    ("[[", "]]"),
    ("[[a|", "]]"),
    ("[[File:a|", "]]"),
    ("[http://a ", "]"),
    ("[[a|\n", ""),
    ("<ref>", "</ref>"),
    ("<ref>{{", "}}</ref>"),
    ("</ref", ">"),
    ("</ref   ", ""),
    ("<ref name=a ", ">"),
    ("<ref group  group  ", ">"),
    ("<references>", "</references>"),
    ("<poem>\n", "</poem>"),
    ("{{reflist|group=a}}", "<ref group=b>c</ref>"),
    ("<!--", "-->"),
    ("<!-- -->", "\n"),
    ("  <!-- -->", ""),
    ("<nowiki>", "</nowiki>"),
    ("<nowiki>'=&", "</nowiki>"),
    ("<math>", "</math>"),
    ("<b ", ">"),
    ("<", ">"),
    ("{|\n", "|}\n"),
    ("\n{|\n|", "\n|}"),
    (":", "|"),
    ("\n::::", "|}"),
    ("<table>", "</table>"),
    ("-{", "}-"),
    ("-{zh:", ";}-"),
    ("'", "\n"),
    ("''", "x"),
    ("'''''a ", "''"),
    ("=", "\n"),
    ("\n== a ==", ""),
    ("\n= a =\n{{reflist}}<ref>b</ref>", ""),
    ("&", ";"),
    ("&amp", ";"),
    ("_", "T"),
    ("__TOC", "__"),
    ("(", ")"),
    ("({{a}}", ")"),
    ("({{a}}, ", ")"),
    ("{{a}}, ", "."),
    ("<br>", "\n"),
    ("* ", "\n"),
    (" ", "é"),
    ("{{cite book|last", "=x}}"),
    ("|last1=a", "}}"),
    ("漢", "（"),
];

#[test]
fn work_grows_as_the_page_does() {
    for (first, second) in HARD {
        for prefix in ["", "{{cite book|", "{{convert|", "<ref>", "{{a|", "[[a|"] {
            let page = |n: usize| format!("{prefix}{}{}", first.repeat(n), second.repeat(n));
            let [small, large] = [1_000, 8_000].map(|n| (page(n).len(), work(&page(n))));
            // From a thousand on, everything is as deep as it can be.
            assert!(large.1 < 9 * small.1, "{prefix}{first}…{second}: {small:?} {large:?}");
            assert!(large.1 < 400 * large.0, "{prefix}{first}…{second}: {large:?}");
        }
    }
}

fn alphabet() -> impl Strategy<Value = String> {
    let parts = [
        "{{",
        "}}",
        "{{{",
        "}}}",
        "{",
        "}",
        "[[",
        "]]",
        "[",
        "]",
        "|",
        "=",
        "==",
        "<ref>",
        "<ref name=a>",
        "<ref/>",
        "</ref>",
        "<!--",
        "-->",
        "<nowiki>",
        "</nowiki>",
        "<pre>",
        "</pre>",
        "{|",
        "|}",
        "|-",
        "\n{|\n",
        "\n|}\n",
        "\n",
        "\n\n",
        "\n== ",
        " ==\n",
        "''",
        "'''",
        "'",
        "é",
        "漢",
        "😀",
        "&lt;",
        "&nbsp;",
        "&",
        ";",
        "&#39;",
        " ",
        "  ",
        "word",
        "a",
        ".",
        ",",
        "(",
        ")",
        "（",
        "）",
        "\n* ",
        "\n:",
        "#",
        "----",
        "<br>",
        "<b>",
        "</b>",
        "<",
        ">",
        "<math>",
        "</math>",
        "<table>",
        "</table>",
        "<poem>",
        "</poem>",
        "<references/>",
        "<references>",
        "</references>",
        "{{reflist}}",
        "{{nowrap|",
        "{{cite web|title=",
        "{{efn|",
        "{{lang|fr|",
        "{{quote|",
        "{{convert|5|",
        "File:",
        "Category:",
        "de:",
        "http://x ",
        "[http://x ",
        "__TOC__",
        "_",
        "-{",
        "}-",
        "-",
        "zh:",
        "\u{0}",
        "\u{1}",
        "\u{2}",
        "\u{3}",
        "\t",
        "\r\n",
        "\u{A0}",
        "group=b",
        "{{disambig}}",
    ];
    let part = proptest::sample::select(parts.to_vec());
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_markup_becomes_text(markup in alphabet()) {
        let mut chinese = Site::default();
        chinese.set_language("zh");
        for site in [Site::default(), chinese] {
            check(&markup, &convert_with(&markup, &site));
        }
    }

    /// Checks that text before and behind markup stays, even if the markup lacks its ends.
    #[test]
    fn what_stands_around_markup_stays(markup in alphabet()) {
        let text = text(&format!("Head words.\n\n{markup}\n\nTail words."));
        prop_assert!(text.starts_with("Head words."), "{text}");
        prop_assert!(text.contains("Tail words."), "{text}");
    }

    #[test]
    fn any_text_becomes_text(markup in "\\PC{0,200}") {
        check(&markup, &convert(&markup));
    }

    #[test]
    fn any_markup_is_linear_work(markup in alphabet()) {
        prop_assert!(work(&markup) <= 400 * (markup.len() + 16), "{}", work(&markup));
    }
}
