//! The file of a report: an HTML page that needs no other file.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use askama::Template;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use super::content::{Content, Document};
use super::edits::{Edit, Piece, pieces, write_edits};
use super::links::LinkTemplate;
use super::overview::{HEIGHT, Overview};
use super::plots::Plot;
use super::rows::{Match, Place};
use crate::run::grouped;

macro_rules! modules {
    ($($name:literal,)*) => { [$(include_str!(concat!("page/", $name, ".js"))),*] };
}

/// The JavaScript modules of the page, each after the modules that it uses.
#[rustfmt::skip]
const MODULES: [&str; 19] = modules![
    "elements",
    "data",
    "edits",
    "text",
    "state",
    "verdicts",
    "verdict_bar",
    "list",
    "passages",
    "filters",
    "matches",
    "reading",
    "plot",
    "canvas",
    "plot_view",
    "timeline",
    "groups",
    "verdicts_view",
    "main",
];

const STYLE: &str = include_str!("page/style.css");

/// The limits for readers without JavaScript: the matches, the groups, the places of each group, and the characters of
/// each text.
const PLAIN_MATCHES: usize = 40;
const PLAIN_GROUPS: usize = 20;
const PLAIN_PLACES: usize = 5;
const PLAIN_CHARACTERS: usize = 600;

/// The filters of the template.
#[allow(unreachable_pub, reason = "the attribute makes types of them")]
mod filters {
    use std::fmt::Display;

    use super::{grouped, pictured as pictured_text};

    #[askama::filter_fn]
    pub(super) fn pictured(text: impl Display, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(pictured_text(&text.to_string()))
    }

    #[askama::filter_fn]
    pub(super) fn capital(word: &str, _: &dyn askama::Values) -> askama::Result<String> {
        let mut letters = word.chars();
        Ok(letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect()))
    }

    #[askama::filter_fn]
    pub(super) fn thousands(number: &u64, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(grouped(*number))
    }
}

/// The description of the result at the top of a page.
pub(super) struct Head {
    pub(super) title: String,
    pub(super) method: String,
    /// The digest of the result.
    pub(super) digest: String,
    /// Lines such as `629 documents (91d66b4bc072c494)`.
    pub(super) made_of: Vec<String>,
    pub(super) counts: Vec<(String, String)>,
    pub(super) parameters: Vec<(String, String)>,
    /// The words for one and for several groups.
    pub(super) nouns: [&'static str; 2],
    /// The names of the further columns of matches.
    pub(super) fields: Vec<String>,
    /// The column of times among the users' columns.
    pub(super) time_column: Option<String>,
    /// The links to other pages of the report and the label of this one, if there are several.
    pub(super) pages: Vec<PageLink>,
}

/// A page of a report.
pub(super) struct PageLink {
    pub(super) label: String,
    /// The link to the page, `None` for the current one.
    pub(super) link: Option<String>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    head: &'a Head,
    overview: &'a Overview,
    left_out: Vec<String>,
    matches: Vec<PlainMatch<'a>>,
    groups: Vec<PlainGroup<'a>>,
    policy: String,
    style: &'a str,
    data: &'a str,
    script: String,
    version: &'a str,
    height: u64,
}

struct PlainMatch<'a> {
    a: PlainPlace<'a>,
    b: PlainPlace<'a>,
    similarity: String,
    kind: Option<&'a str>,
}

struct PlainGroup<'a> {
    name: &'a str,
    is_ignored: bool,
    documents: String,
    places: String,
    shown: Vec<PlainPlace<'a>>,
    left: usize,
}

struct PlainPlace<'a> {
    id: &'a str,
    link: Option<String>,
    pieces: Vec<PlainPiece>,
    is_all: bool,
}

struct PlainPiece {
    text: String,
    /// The CSS class of a difference, which may be empty. `None` if the text is equal, or differs only in white space.
    class: Option<&'static str>,
}

/// Returns the page.
pub(super) fn page(
    head: &Head,
    overview: &Overview,
    content: &Content,
    links: Option<&LinkTemplate>,
) -> Result<String> {
    let link = |document: &Document| links.and_then(|links| links.link(document, &content.columns));
    let place = |place: &Place, edits: &[Edit], is_b: bool| {
        let document = &content.documents[place.document];
        let (pieces, is_all) = pieces(document.text.slice(&place.characters).0, edits, is_b, PLAIN_CHARACTERS);
        PlainPlace {
            id: &document.id,
            link: link(document),
            pieces: pieces.iter().map(PlainPiece::of).collect(),
            is_all,
        }
    };
    let plain_match = |(row, edits): &(Match, Vec<Edit>)| (place(&row.a, edits, false), place(&row.b, edits, true));
    let matches = content.matches.iter().take(PLAIN_MATCHES).map(|pair| {
        let (a, b) = plain_match(pair);
        PlainMatch { a, b, similarity: number(pair.0.similarity), kind: pair.0.kind.as_deref() }
    });
    let groups = content.groups.iter().take(PLAIN_GROUPS).map(|(group, edits)| {
        let shown = group.shown.iter().zip(edits).take(PLAIN_PLACES);
        PlainGroup {
            name: &group.name,
            is_ignored: group.is_ignored,
            documents: grouped(group.documents.unsigned_abs()),
            places: grouped(group.places.unsigned_abs()),
            shown: shown.map(|(member, edits)| place(&member.place, edits, true)).collect(),
            left: usize::try_from(group.places).unwrap_or(0).saturating_sub(PLAIN_PLACES.min(group.shown.len())),
        }
    });
    let (script, data) = (script(), data(head, overview, content, &link));
    let page = Page {
        head,
        overview,
        left_out: left_out(head, overview, content),
        matches: matches.collect(),
        groups: groups.collect(),
        policy: policy(&script),
        style: STYLE,
        data: &data,
        script,
        version: env!("CARGO_PKG_VERSION"),
        height: HEIGHT,
    };
    page.render().context("cannot make the page")
}

impl PlainPiece {
    fn of(piece: &Piece<'_>) -> Self {
        let class =
            piece.differs.filter(|differs| !differs.space).map(|differs| match (differs.number, differs.name) {
                (true, true) => "number name",
                (true, false) => "number",
                (false, true) => "name",
                (false, false) => "",
            });
        Self { text: pictured(piece.text), class }
    }
}

/// Returns a text with pictures of control characters, which HTML has no other way to show.
fn pictured(text: &str) -> String {
    let picture = |c: char| match u32::from(c) {
        0x9 | 0xa => c,
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or(c),
        0x7f => '\u{2421}',
        _ => c,
    };
    text.replace("\r\n", "\n").chars().map(picture).collect()
}

/// Returns the modules as one script.
fn script() -> String {
    let lines = MODULES.iter().flat_map(|module| module.lines()).filter(|line| !line.starts_with("import "));
    lines.fold(String::new(), |mut script, line| {
        script.push_str(line.strip_prefix("export ").unwrap_or(line));
        script.push('\n');
        script
    })
}

/// Returns the content security policy of the page: it may run this script and use this style, and may request nothing.
fn policy(script: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

/// Lists the rows that are in the result and not in the report.
fn left_out(head: &Head, overview: &Overview, content: &Content) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |what: &str, which: &str, shown: usize, all: u64| {
        if (shown as u64) < all {
            said.push(format!("{} of {} {what}, {which}", grouped(shown as u64), grouped(all)));
        }
    };
    say("matches", "the best first", content.matches.len(), overview.matches);
    say(head.nouns[1], "the largest first", content.groups.len(), overview.groups);
    let shown = content.groups.iter().map(|(group, _)| group.shown.len()).sum();
    say(&format!("places of {}", head.nouns[1]), "the first of each", shown, overview.places);
    said
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| format!("{number:.3}"))
}

/// Returns the data of the page as JSON, without a character that would end a script.
fn data(head: &Head, overview: &Overview, content: &Content, link: &dyn Fn(&Document) -> Option<String>) -> String {
    let mut json = String::new();
    let time = head.time_column.as_ref().and_then(|name| content.columns.iter().position(|column| column == name));
    json.push_str("{\"version\":1");
    for (name, value) in [("method", &head.method), ("result", &head.digest), ("title", &head.title)] {
        let _ = write!(json, ",\"{name}\":{}", text(value));
    }
    let _ = write!(json, ",\"nouns\":{}", list(head.nouns.iter().map(|noun| text(noun))));
    let _ = write!(json, ",\"columns\":{},\"time\":", list(content.columns.iter().map(|name| text(name))));
    json.push_str(&time.map_or_else(|| "null".to_owned(), |at| at.to_string()));
    json.push_str(",\"documents\":[");
    for (at, document) in content.documents.iter().enumerate() {
        let parts = document.text.parts.iter().map(|part| format!("[{},{}]", part.start, text(&part.text)));
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            json,
            "{comma}{{\"id\":{},\"side\":{},\"length\":{},\"values\":{},\"seconds\":{},\"link\":{},\"parts\":{}}}",
            text(&document.id),
            document.side,
            document.text.length,
            list(document.values.iter().map(|value| optional(value.as_deref()))),
            shortest(document.seconds),
            optional(link(document).as_deref()),
            list(parts)
        );
    }
    json.push_str("],\"matches\":[");
    for (at, (row, edits)) in content.matches.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let [a, b] = [&row.a, &row.b].map(|place| content.documents[place.document].text.slice(&place.characters).1);
        let fields = head.fields.iter().zip(&row.fields).filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let fields: Vec<_> = fields.map(|(name, value)| format!("{}:{}", text(name), text(value))).collect();
        let _ = write!(
            json,
            "{comma}{{\"key\":{},\"a\":{},\"b\":{},\"at\":[{},{},{},{}],\"sentences\":{},\"similarity\":{},\"kind\":{},\"fields\":{{{}}},\"edits\":",
            text(&row.key),
            row.a.document,
            row.b.document,
            a.start,
            a.end,
            b.start,
            b.end,
            row.sentences.map_or_else(|| "null".to_owned(), |numbers| list(numbers.iter().map(i64::to_string))),
            shortest(row.similarity),
            optional(row.kind.as_deref()),
            fields.join(",")
        );
        write_edits(&mut json, edits);
        json.push('}');
    }
    json.push_str("],\"groups\":[");
    for (at, (group, edits)) in content.groups.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(
            json,
            "{comma}{{\"key\":{0},\"name\":{0},\"ignored\":{1},\"documents\":{2},\"places\":{3},\"shown\":[",
            text(&group.name),
            group.is_ignored,
            group.documents,
            group.places
        );
        for (at, (member, edits)) in group.shown.iter().zip(edits).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let span = content.documents[member.place.document].text.slice(&member.place.characters).1;
            let _ = write!(
                json,
                "{comma}{{\"key\":{},\"document\":{},\"at\":[{},{}],\"representative\":{},\"similarity\":{},\"edits\":",
                text(&member.key),
                member.place.document,
                span.start,
                span.end,
                member.is_representative,
                shortest(member.similarity)
            );
            write_edits(&mut json, edits);
            json.push('}');
        }
        json.push_str("]}");
    }
    json.push_str("],\"plots\":[");
    for (at, plot) in content.plots.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let [of_a, of_b] = plot.sentences;
        let _ = write!(
            json,
            "{comma}{{\"a\":{},\"b\":{},\"bins\":{},\"sentences\":[{of_a},{of_b}],\"cells\":{}}}",
            plot.a,
            plot.b,
            Plot::BINS,
            text(&plot.cells)
        );
    }
    let (matches, groups) = (overview.matches, overview.groups);
    let _ = write!(json, "],\"totals\":{{\"matches\":{matches},\"groups\":{groups}}}}}");
    json
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c")
}

fn optional(value: Option<&str>) -> String {
    value.map_or_else(|| "null".to_owned(), text)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// Returns the JSON of a number, so that it is read back unchanged; `null` if it is not finite.
fn shortest(number: Option<f64>) -> String {
    number.filter(|number| number.is_finite()).map_or_else(|| "null".to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_script() {
        assert_eq!(text("</script><!--\0\u{2028}"), "\"\\u003c/script>\\u003c!--\\u0000\u{2028}\"");
        assert!(!script().contains("</script"));
    }

    #[test]
    fn control_characters_are_seen() {
        assert_eq!(pictured("a\0b\tc\nd\u{7f}"), "a␀b\tc\nd␡");
    }

    #[test]
    fn the_script_has_no_words_of_modules() {
        assert!(script().lines().all(|line| !line.starts_with("import ") && !line.starts_with("export ")));
    }
}
