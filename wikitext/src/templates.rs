//! Templates: those that give text, and the text that they give.
//!
//! Most templates give no text: they draw boxes, set categories, warn. The templates in [`KEPT`] stand in the middle of
//! sentences, or hold quotations, notes and citations.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::render::GUARD;

/// The treatment of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Drop,
    /// A positional parameter.
    Parameter(usize),
    LastParameter,
    /// The text behind the colon of `{{formatnum:1000}}`.
    AfterColon,
    Fixed(&'static str),
    /// The first parameter behind these characters.
    After(&'static str),
    /// All positional parameters with these characters between.
    Joined(&'static str),
    /// Numbers with their unit, as written, without the converted values.
    Convert,
    /// A number and its unit.
    Value,
    Fraction,
    AsOf,
    Nihongo,
    Ship(&'static str),
    /// A quotation or a list, as a paragraph of its own.
    Block,
    /// A citation, from its parameters.
    Cite,
    /// “Smith 2001, p. 5”
    Harvard,
    /// A note, which is collected like the notes of `<ref>`.
    Note(&'static str),
    /// A list of the notes of a group.
    List(&'static str),
}

use Action::{
    After, AfterColon, AsOf, Block, Cite, Convert, Fixed, Fraction, Harvard, Joined, LastParameter, List, Nihongo,
    Note, Parameter, Ship, Value,
};

/// The names of kept templates, in lower case. [`action`] also keeps `lang-…`, and `cite …` unless it is a remark on a
/// citation.
const KEPT: &[(&[&str], Action)] = &[
    // Text in some form
    (
        &[
            "abbr",
            "angle bracket",
            "angbr",
            "big",
            "bigger",
            "code",
            "em",
            "flag",
            "flagcountry",
            "flagu",
            "ill",
            "illm",
            "interlanguage link",
            "italic correction",
            "kbd",
            "larger",
            "link-interwiki",
            "math",
            "mono",
            "mvar",
            "no italic",
            "nobold",
            "nobr",
            "nobreak",
            "noitalic",
            "nowrap",
            "not a typo",
            "proper name",
            "resize",
            "samp",
            "sc",
            "sic",
            "small",
            "small caps",
            "smallcaps",
            "smaller",
            "strong",
            "sub",
            "sup",
            "title case",
            "tmath",
            "tooltip",
            "tt",
            "typo",
            "vanchor",
            "var",
            "visible anchor",
            "chem2",
            "keypress",
            "key press",
        ],
        Parameter(1),
    ),
    (&["lang", "langx", "fontcolor", "font color", "color", "script", "wikt-lang"], Parameter(2)),
    (&["transl", "transliteration", "translit", "script/hebrew", "script/arabic"], LastParameter),
    (&["formatnum", "lc", "lcfirst", "uc", "ucfirst"], AfterColon),
    (&["gaps", "chem", "bdi"], Joined("")),
    (&["ruby", "ruby-zh-p", "ruby-ja"], Parameter(1)),
    (&["nihongo", "nihongo3", "nihongo foot"], Nihongo),
    // Signs
    (&["'", "apostrophe"], Fixed("'")),
    (&["'s", "apostrophe s"], Fixed("'s")),
    (&["' \"", "'\""], Fixed("'\"")),
    (&["\"'", "\" '"], Fixed("\"'")),
    (&["!", "pipe"], Fixed("|")),
    (&["=", "equals"], Fixed("=")),
    (&["ndash", "en dash", "endash", "nsndns"], Fixed("–")),
    (&["mdash", "em dash", "emdash", "--"], Fixed("—")),
    (&["snd", "spaced ndash", "spaced en dash", "spnd", "sndash", "spndash"], Fixed(" – ")),
    (&["smd", "spaced mdash", "spaced em dash", "spmd"], Fixed(" — ")),
    (&["·", "dot", "middot", "•", "bull", "bullet"], Fixed(" · ")),
    (&["nbsp", "space", "spaces", "sp", "thinsp", "thin space", "hair space", "hsp", "nnbsp"], Fixed(" ")),
    (&["en space", "em space"], Fixed(" ")),
    (&["deg", "degree"], Fixed("°")),
    (&["minus"], Fixed("−")),
    (&["times"], Fixed("×")),
    (&["prime"], After("′")),
    // Numbers
    (&["convert", "cvt", "conv"], Convert),
    (&["val"], Value),
    (&["frac", "fraction", "sfrac"], Fraction),
    (&["e"], After("×10^")),
    (&["10^"], After("10^")),
    (&["us$", "usd", "us dollar"], After("US$")),
    (&["£", "gbp", "pound sterling"], After("£")),
    (&["€", "eur", "euro"], After("€")),
    (&["¥", "jpy", "cny", "yuan"], After("¥")),
    (&["inr", "indian rupee", "₹"], After("₹")),
    (&["au$", "aud", "a$"], After("A$")),
    (&["ca$", "cad", "c$"], After("C$")),
    (&["isbn"], After("ISBN ")),
    (&["no.", "numero", "number sign"], After("No. ")),
    // Dates
    (&["circa", "c.", "ca.", "approx"], After("c. ")),
    (&["floruit", "fl.", "fl"], After("fl. ")),
    (&["reign", "r."], Joined("–")),
    (&["as of"], AsOf),
    // Ships
    (&["ship"], Joined(" ")),
    (&["hms"], Ship("HMS")),
    (&["uss"], Ship("USS")),
    (&["hmas"], Ship("HMAS")),
    (&["hmcs"], Ship("HMCS")),
    (&["rms"], Ship("RMS")),
    (&["ss"], Ship("SS")),
    (&["mv"], Ship("MV")),
    (&["ms"], Ship("MS")),
    (&["sms"], Ship("SMS")),
    // Paragraphs
    (
        &[
            "bquote",
            "block quote",
            "blockquote",
            "cquote",
            "poem quote",
            "poemquote",
            "quotation",
            "quote",
            "columns-list",
            "cols",
        ],
        Block,
    ),
    // References
    (&["citation", "vcite", "vancite"], Cite),
    (&["harv", "harvnb", "harvtxt", "harvcoltxt", "harvp"], Harvard),
    (&["refn", "#tag:ref"], Note("")),
    (&["efn", "efn-lr", "efn-la", "notetag"], Note("lower-alpha")),
    (&["efn-ua"], Note("upper-alpha")),
    (
        &[
            "reflist",
            "references",
            "ref-list",
            "refs",
            "référence",
            "références",
            "references nombreuses",
            "примечания",
            "listaref",
            "referências",
            "参考资料",
            "參考資料",
            "脚注リスト",
            "reflist2",
        ],
        List(""),
    ),
    (&["notelist", "notes", "efn list", "notefoot"], List("lower-alpha")),
    (&["notelist-ua"], List("upper-alpha")),
];

static ACTIONS: LazyLock<HashMap<&'static str, Action>> =
    LazyLock::new(|| KEPT.iter().flat_map(|(names, action)| names.iter().map(|name| (*name, *action))).collect());

/// Templates that are called citations, but are remarks on citations.
const NO_CITATIONS: [&str; 4] = ["cite check", "cite sources", "cite quote", "cite section"];

/// Returns the treatment of the template of this name, which is in lower case.
pub(super) fn action(name: &str) -> Action {
    if let Some(action) = ACTIONS.get(name) {
        return *action;
    }
    if name.starts_with("lang-") {
        return Parameter(1);
    }
    if name.starts_with("cite ") && !NO_CITATIONS.contains(&name) {
        return Cite;
    }
    // `{{formatnum:1000}}` has its text in its name; `{{#tag:ref|…}}` is in the table by its full name.
    match name.split_once(':').and_then(|(function, _)| ACTIONS.get(function.trim())) {
        Some(AfterColon) => AfterColon,
        _ => Action::Drop,
    }
}

/// A template with its parameters, which are text already.
pub(super) struct Template<'a> {
    /// The text between the braces.
    pub(super) text: &'a str,
    /// The offsets of the `|` that separate parameters. The `|` themselves are not in the text.
    pub(super) bars: &'a [usize],
}

impl<'a> Template<'a> {
    fn part(&self, i: usize) -> Option<&'a str> {
        let start = if i == 0 { 0 } else { *self.bars.get(i - 1)? };
        let end = self.bars.get(i).copied().unwrap_or(self.text.len());
        self.text.get(start..end)
    }

    /// Returns the names and the values of the parameters. Positional parameters have no name.
    fn parameters(&self) -> impl Iterator<Item = (Option<&'a str>, &'a str)> {
        (1..=self.bars.len()).filter_map(|i| self.part(i)).map(|part| {
            // An equals sign of `<nowiki>` or of an entity is text.
            let equals = part.bytes().position(|b| b == b'=').filter(|at| !part[..*at].ends_with(GUARD));
            match equals {
                Some(at) => (Some(part[..at].trim()), part[at + 1..].trim()),
                None => (None, part.trim()),
            }
        })
    }

    /// Returns a positional parameter, from 1, which may also be named by its number. `None` if it is empty.
    fn counted(&self, wanted: usize) -> Option<&'a str> {
        let mut count = 0;
        let mut found = None;
        for (name, value) in self.parameters() {
            let number = match name {
                Some(name) if name.len() > 2 => continue,
                Some(name) => name.parse().unwrap_or(0),
                None => {
                    count += 1;
                    count
                }
            };
            if number == wanted {
                found = Some(value);
            }
        }
        found.filter(|value| !value.is_empty())
    }

    /// Returns the value of a named parameter: the first of these names that has a value.
    fn named(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|wanted| {
            let found = self.parameters().filter(|(name, _)| *name == Some(wanted)).last();
            found.map(|(_, value)| value).filter(|value| !value.is_empty())
        })
    }

    fn all_counted(&self) -> impl Iterator<Item = &'a str> {
        self.parameters().filter(|(name, value)| name.is_none() && !value.is_empty()).map(|(_, value)| value)
    }

    /// Adds the text of the template to `out`.
    pub(super) fn write(&self, action: Action, out: &mut String) {
        match action {
            Action::Drop | List(_) => {}
            Fixed(text) => out.push_str(text),
            Parameter(n) => out.push_str(self.counted(n).unwrap_or_default()),
            LastParameter => out.push_str(self.all_counted().last().unwrap_or_default()),
            AfterColon => {
                let text = self.part(0).and_then(|name| name.split_once(':'));
                out.push_str(text.map_or("", |(_, text)| text).trim());
            }
            After(sign) => {
                if let Some(text) = self.counted(1) {
                    out.push_str(sign);
                    out.push_str(text);
                }
            }
            Joined(between) => join(self.all_counted(), between, out),
            Convert => self.convert(out),
            Value => {
                out.push_str(self.counted(1).unwrap_or_default());
                if let Some(unit) = self.named(&["u", "ul", "up"]) {
                    out.push(' ');
                    out.push_str(unit);
                }
            }
            Fraction => self.fraction(out),
            AsOf => self.as_of(out),
            Nihongo => self.nihongo(out),
            Ship(prefix) => {
                out.push_str(prefix);
                if let Some(name) = self.counted(1) {
                    out.push(' ');
                    out.push_str(name);
                }
            }
            Block => {
                let text = self.named(&["text", "quote", "content", "quotetext"]).or_else(|| self.counted(1));
                out.push_str("\n\n");
                out.push_str(text.unwrap_or_default());
                out.push_str("\n\n");
            }
            Cite => self.cite(out),
            Harvard => self.harvard(out),
            Note(_) => out.push_str(self.counted(1).unwrap_or_default()),
        }
    }

    /// Returns the group of a note or a list of notes.
    pub(super) fn group(&self, default: &'static str) -> &'a str {
        self.named(&["group"]).unwrap_or(default)
    }

    /// Writes a quantity as it is given: `5|km|mi` is “5 km”, `5|to|10|km` “5 to 10 km”, `6|ft|2|in|m` “6 ft 2 in”.
    fn convert(&self, out: &mut String) {
        const RANGES: [(&str, &str); 13] = [
            ("to", " to "),
            ("-", "–"),
            ("–", "–"),
            ("and", " and "),
            ("or", " or "),
            ("x", " × "),
            ("×", " × "),
            ("xx", " × "),
            ("by", " by "),
            ("*", " × "),
            ("+/-", " ± "),
            ("±", " ± "),
            ("&", " & "),
        ];
        let mut parts = self.all_counted().peekable();
        let Some(number) = parts.next() else { return };
        out.push_str(number);
        while let Some((_, shown)) = parts.peek().and_then(|part| RANGES.iter().find(|(word, _)| word == part)) {
            parts.next();
            out.push_str(shown);
            out.push_str(parts.next().unwrap_or_default());
        }
        let Some(unit) = parts.next() else { return };
        out.push(' ');
        out.push_str(unit);
        // The smaller unit of feet and inches. A part that is no number is a unit to convert to.
        let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
        let (number, unit) = (parts.next().filter(is_number), parts.next().filter(|unit| !is_number(unit)));
        if let (Some(number), Some(unit)) = (number, unit) {
            let _ = write!(out, " {number} {unit}");
        }
    }

    fn fraction(&self, out: &mut String) {
        let mut parts = self.all_counted();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(whole), Some(above), Some(below)) => {
                let _ = write!(out, "{whole} {above}⁄{below}");
            }
            (Some(above), Some(below), None) => {
                let _ = write!(out, "{above}⁄{below}");
            }
            (Some(below), None, None) => {
                let _ = write!(out, "1⁄{below}");
            }
            _ => {}
        }
    }

    fn as_of(&self, out: &mut String) {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        if let Some(text) = self.named(&["alt"]) {
            return out.push_str(text);
        }
        let since = self.named(&["since"]).is_some();
        out.push_str(match (since, self.named(&["lc"]).is_some()) {
            (false, false) => "As of",
            (false, true) => "as of",
            (true, false) => "Since",
            (true, true) => "since",
        });
        let month = self.counted(2).map(|month| {
            let number = month.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            number.and_then(|n| MONTHS.get(n)).copied().unwrap_or(month)
        });
        for part in [self.counted(3), month, self.counted(1)].into_iter().flatten() {
            out.push(' ');
            out.push_str(part);
        }
    }

    /// Writes “English (kanji, romaji)”.
    fn nihongo(&self, out: &mut String) {
        let [english, kanji, romaji] = [1, 2, 3].map(|n| self.counted(n));
        match english {
            None => join([kanji, romaji].into_iter().flatten(), ", ", out),
            Some(english) => {
                out.push_str(english);
                if kanji.is_some() || romaji.is_some() {
                    out.push_str(" (");
                    join([kanji, romaji].into_iter().flatten(), ", ", out);
                    out.push(')');
                }
            }
        }
    }

    /// Writes “Smith Jones 2001, p. 5”.
    fn harvard(&self, out: &mut String) {
        join(self.all_counted(), " ", out);
        if let Some(page) = self.named(&["p", "page"]) {
            let _ = write!(out, ", p. {page}");
        } else if let Some(pages) = self.named(&["pp", "pages"]) {
            let _ = write!(out, ", pp. {pages}");
        } else if let Some(place) = self.named(&["loc", "at"]) {
            let _ = write!(out, ", {place}");
        }
    }

    /// Writes “Last, First; Last, First (date). Chapter. Title. Work 5 (2): 10–12. Place: Publisher.”
    fn cite(&self, out: &mut String) {
        let citation = Citation::of(self);
        let begin = out.len();
        let people = if citation.authors.is_empty() { &citation.editors } else { &citation.authors };
        for (i, Person { last, first, .. }) in people.iter().filter(|person| !person.last.is_empty()).enumerate() {
            out.push_str(if i > 0 { "; " } else { "" });
            out.push_str(last);
            if !first.is_empty() {
                let _ = write!(out, ", {first}");
            }
        }
        if !citation.date.is_empty() {
            let space = if out.len() > begin { " " } else { "" };
            let _ = write!(out, "{space}({})", citation.date);
        }
        end_clause(out, begin);
        for part in [citation.chapter, citation.title] {
            out.push_str(part);
            end_clause(out, begin);
        }
        let volume = [citation.work, citation.volume].into_iter().filter(|part| !part.is_empty());
        join(volume, " ", out);
        if !citation.issue.is_empty() {
            let _ = write!(out, " ({})", citation.issue);
        }
        if !citation.pages.is_empty() {
            let in_work = !citation.work.is_empty() || !citation.volume.is_empty();
            let several = citation.pages.contains(['–', '-', ',', ';']);
            let before = if in_work { ": " } else { "p. " };
            let _ = write!(out, "{}{before}{}", if several && !in_work { "p" } else { "" }, citation.pages);
        }
        end_clause(out, begin);
        join([citation.place, citation.publisher].into_iter().filter(|part| !part.is_empty()), ": ", out);
        end_clause(out, begin);
        out.truncate(begin + out[begin..].trim_end().len());
    }
}

fn join<'a>(parts: impl Iterator<Item = &'a str>, between: &str, out: &mut String) {
    for (i, part) in parts.enumerate() {
        out.push_str(if i > 0 { between } else { "" });
        out.push_str(part);
    }
}

/// Ends the text from `begin` with a full stop, if there is any text, and if it has no end yet.
fn end_clause(out: &mut String, begin: usize) {
    let said = out[begin..].trim_end().len();
    out.truncate(begin + said);
    if said > 0 {
        let ended = out.trim_end_matches(['"', '”', '’', '\'', '»']).ends_with(['.', '?', '!', '。', '？', '！', '…']);
        out.push_str(if ended { " " } else { ". " });
    }
}

/// The most authors that are named.
const MOST_PEOPLE: usize = 64;

struct Person<'a> {
    number: &'a str,
    last: &'a str,
    first: &'a str,
}

/// The parameters of a citation that are shown.
#[derive(Default)]
struct Citation<'a> {
    authors: Vec<Person<'a>>,
    editors: Vec<Person<'a>>,
    date: &'a str,
    chapter: &'a str,
    title: &'a str,
    work: &'a str,
    volume: &'a str,
    issue: &'a str,
    pages: &'a str,
    place: &'a str,
    publisher: &'a str,
}

impl<'a> Citation<'a> {
    fn of(template: &Template<'a>) -> Self {
        let mut citation = Self::default();
        for (name, value) in template.parameters() {
            if let Some(name) = name.filter(|_| !value.is_empty()) {
                citation.set(name, value);
            }
        }
        citation
    }

    fn set(&mut self, name: &'a str, value: &'a str) {
        let field = match name {
            "date" | "year" | "publication-date" if self.date.is_empty() || name == "date" => &mut self.date,
            "chapter" | "entry" | "article" | "contribution" | "section" => &mut self.chapter,
            "title" => &mut self.title,
            "work" | "journal" | "magazine" | "newspaper" | "periodical" | "website" | "encyclopedia"
            | "encyclopaedia" | "dictionary" | "conference" | "series" => &mut self.work,
            "volume" => &mut self.volume,
            "issue" | "number" => &mut self.issue,
            "pages" | "page" | "p" | "pp" | "at" => &mut self.pages,
            "location" | "place" => &mut self.place,
            "publisher" | "institution" => &mut self.publisher,
            _ => return self.set_person(name, value),
        };
        *field = value;
    }

    /// Sets the name of a person from `last2`, `author2-last`, `author`, `editor1-first` and the like.
    fn set_person(&mut self, name: &'a str, value: &'a str) {
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let after = name[digits..].find(|c: char| !c.is_ascii_digit()).map_or(name.len(), |n| digits + n);
        let number = if digits == after { "1" } else { &name[digits..after] };
        let (people, is_first) = match (&name[..digits], &name[after..]) {
            ("last" | "surname" | "author" | "authors" | "vauthors" | "author-last" | "people", "")
            | ("author", "-last") => (&mut self.authors, false),
            ("first" | "given" | "author-first", "") | ("author", "-first") => (&mut self.authors, true),
            ("editor" | "editors" | "editor-last" | "editor-surname", "") | ("editor", "-last") => {
                (&mut self.editors, false)
            }
            ("editor-first" | "editor-given", "") | ("editor", "-first") => (&mut self.editors, true),
            _ => return,
        };
        let known = people.iter().position(|person| person.number == number);
        let known = known.or_else(|| {
            (people.len() < MOST_PEOPLE).then(|| {
                people.push(Person { number, last: "", first: "" });
                people.len() - 1
            })
        });
        if let Some(person) = known.and_then(|i| people.get_mut(i)) {
            *(if is_first { &mut person.first } else { &mut person.last }) = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once_and_in_lower_case() {
        let names: Vec<_> = KEPT.iter().flat_map(|(names, _)| names.iter()).collect();
        assert_eq!(names.len(), ACTIONS.len());
        assert!(names.iter().all(|name| **name == name.to_lowercase()));
    }

    #[test]
    fn names_tell_what_becomes_of_templates() {
        for (name, expected) in [
            ("lang", Parameter(2)),
            ("lang-fr", Parameter(1)),
            ("cite web", Cite),
            ("cite check", Action::Drop),
            ("citation", Cite),
            ("citation needed", Action::Drop),
            ("formatnum:5", AfterColon),
            ("nowrap:5", Action::Drop),
            ("infobox person", Action::Drop),
            ("", Action::Drop),
        ] {
            assert_eq!(action(name), expected, "{name}");
        }
    }
}
