//! From the marks of a page to lines of text.
//!
//! Text goes into one buffer. Each open mark has a frame, which knows where its text begins. When the mark is closed,
//! that text is dropped, replaced or kept. Markup of whole lines (headings, lists, quotes) is left to
//! [`super::layout`]. Control characters tell it what it must know. Only this module writes them: control characters of
//! the page become spaces.

use std::collections::HashMap;
use std::mem::take;
use std::ops::Range;

use quick_xml::escape::resolve_html5_entity;

use crate::converter::{Work, control_and};
use crate::names::{Site, canonical_into, marks_disambiguation};
use crate::structure::{Mark, NONE, Part, Role};
use crate::templates::{Action, Template, action};

/// The control character beside a character that is text, not markup.
pub(super) const GUARD: char = '\u{0}';

/// The control character where something was dropped.
pub(super) const HOLE: char = '\u{1}';

/// A line end that is kept.
pub(super) const BREAK: char = '\u{2}';

/// The control character on both sides of the number of a list of notes.
pub(super) const LIST: char = '\u{3}';

/// The longest name of an entity, with its `&` and `;`.
const LONGEST_ENTITY: usize = 36;

/// The result of [`Renderer::render`].
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// Lines, with the control characters above.
    pub(super) lines: String,
    /// The texts of the notes, in the order of the page.
    pub(super) notes: String,
    pub(super) note_bounds: Vec<Range<usize>>,
    /// The notes that each list shows.
    pub(super) lists: Vec<Vec<usize>>,
    /// True if the page says that it is a disambiguation page.
    pub(super) is_disambiguation: bool,
}

impl Rendered {
    fn clear(&mut self) {
        self.lines.clear();
        self.notes.clear();
        self.note_bounds.clear();
        self.lists.clear();
        self.is_disambiguation = false;
    }
}

/// The treatment of an open mark when it is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Drop,
    Template(Action),
    Link,
    External,
    Variant,
    /// A note; its group is a range of the source.
    Ref(usize, usize),
    References(usize, usize),
    Poem,
}

struct Frame {
    fate: Fate,
    /// The offset at which its text begins.
    start: usize,
    /// The number of bars before it.
    bars: usize,
}

/// The bytes of text that are not simply copied.
const SPECIAL: [bool; 256] = control_and(b"&|_");

/// The names of switches, which have two underscores on either side.
const SWITCHES: [&str; 20] = [
    "ARCHIVEDTALK",
    "DISAMBIG",
    "END",
    "EXPECTUNUSEDCATEGORY",
    "EXPECTUNUSEDTEMPLATE",
    "EXPECTWITHOUTSCANS",
    "FORCETOC",
    "HIDDENCAT",
    "INDEX",
    "NEWSECTIONLINK",
    "NOCONTENTCONVERT",
    "NOEDITSECTION",
    "NOGALLERY",
    "NOINDEX",
    "NONEWSECTIONLINK",
    "NOTALK",
    "NOTITLECONVERT",
    "NOTOC",
    "STATICREDIRECT",
    "TOC",
];

/// A renderer of pages to lines. Its buffers are reused from page to page.
#[derive(Default)]
pub(super) struct Renderer {
    pub(super) rendered: Rendered,
    frames: Vec<Frame>,
    /// The offsets in the text of the `|` of the open frames.
    bars: Vec<usize>,
    /// The notes that no list has shown yet, by their groups.
    groups: HashMap<String, Vec<usize>>,
    /// The number of open `<poem>` elements.
    poems: usize,
    name: String,
    scratch: String,
    relative: Vec<usize>,
    pub(super) work: Work,
}

impl Renderer {
    /// Renders `source`, whose marks are `marks`.
    pub(super) fn render(&mut self, source: &str, marks: &[Mark], site: &Site) {
        self.rendered.clear();
        self.groups.clear();
        self.poems = 0;
        let (mut at, mut next) = (0, 0);
        while let Some(mark) = marks.get(next) {
            next += 1;
            if mark.role == Role::Opens && mark.partner == NONE {
                continue;
            }
            self.text(&source[at..mark.at as usize]);
            at = mark.end as usize;
            match mark.role {
                Role::Alone => self.alone(source, mark),
                Role::Closes => self.close(source),
                Role::Opens => {
                    let fate = self.fate(source, mark, site);
                    if fate == Fate::Drop && !mark.has_notes {
                        self.hole(mark.part);
                        at = marks[mark.partner as usize].end as usize;
                        next = mark.partner as usize + 1;
                        continue;
                    }
                    if fate == Fate::Poem {
                        self.poems += 1;
                    }
                    if fate == Fate::External {
                        let end = marks.get(next).map_or(source.len(), |mark| mark.at as usize);
                        at += url_length(&source[at..end]);
                    }
                    self.frames.push(Frame { fate, start: self.rendered.lines.len(), bars: self.bars.len() });
                }
            }
        }
        self.text(&source[at..]);
    }

    /// Returns the treatment of an opening mark.
    fn fate(&mut self, source: &str, mark: &Mark, site: &Site) -> Fate {
        let inside = &source[mark.end as usize..];
        match mark.part {
            Part::Template => {
                let end = inside.bytes().take(80).position(|b| matches!(b, b'|' | b'{' | b'}' | b'<' | b'[' | b']'));
                canonical_into(end.map_or("", |end| &inside[..end]), &mut self.name);
                self.rendered.is_disambiguation |= marks_disambiguation(&self.name);
                match action(&self.name) {
                    Action::Drop => Fate::Drop,
                    action => Fate::Template(action),
                }
            }
            Part::Link if site.hides(inside) => Fate::Drop,
            Part::Link => Fate::Link,
            Part::External => Fate::External,
            Part::Variant => Fate::Variant,
            Part::Ref | Part::References => {
                let (start, end) = group(source, mark);
                if mark.part == Part::Ref { Fate::Ref(start, end) } else { Fate::References(start, end) }
            }
            Part::Poem => Fate::Poem,
            _ => Fate::Drop,
        }
    }

    /// Marks that something was dropped. A dropped table ends the paragraph instead.
    fn hole(&mut self, part: Part) {
        match part {
            Part::Table | Part::HtmlTable => self.rendered.lines.push_str("\n\n"),
            _ => self.rendered.lines.push(HOLE),
        }
    }

    fn alone(&mut self, source: &str, mark: &Mark) {
        match mark.part {
            Part::Gap => self.rendered.lines.push(HOLE),
            Part::Break => self.rendered.lines.push(BREAK),
            Part::Block => self.rendered.lines.push_str("\n\n"),
            Part::Literal => self.literal(&source[mark.at as usize..mark.end as usize]),
            Part::References => {
                let (start, end) = group(source, mark);
                self.list(&source[start..end]);
            }
            _ => {}
        }
    }

    fn close(&mut self, source: &str) {
        let Some(Frame { fate, start, bars }) = self.frames.pop() else { return };
        match fate {
            Fate::Drop => {
                self.rendered.lines.truncate(start);
                self.rendered.lines.push(HOLE);
            }
            Fate::Template(action) => self.close_template(action, start, bars),
            Fate::Link => self.close_link(start, bars),
            Fate::External if self.rendered.lines[start..].trim().is_empty() => self.rendered.lines.push(HOLE),
            Fate::External => {}
            Fate::Variant => self.close_variant(start, bars),
            Fate::Ref(from, to) => self.note(start, &source[from..to]),
            Fate::References(from, to) => {
                self.rendered.lines.truncate(start);
                self.list(&source[from..to]);
            }
            Fate::Poem => self.poems -= 1,
        }
        self.bars.truncate(bars);
    }

    fn close_template(&mut self, action: Action, start: usize, bars: usize) {
        self.relative.clear();
        self.relative.extend(self.bars[bars..].iter().map(|bar| bar - start));
        let text = &self.rendered.lines[start..];
        self.work.add(text.len());
        let template = Template { text, bars: &self.relative };
        let group = match action {
            Action::Note(group) | Action::List(group) => template.group(group).to_owned(),
            _ => String::new(),
        };
        self.scratch.clear();
        template.write(action, &mut self.scratch);
        self.rendered.lines.truncate(start);
        if self.scratch.is_empty() {
            self.rendered.lines.push(HOLE);
        }
        self.rendered.lines.push_str(&self.scratch);
        match action {
            Action::Note(_) => self.note(start, &group),
            Action::List(_) => self.list(&group),
            _ => {}
        }
    }

    /// Reduces a link to its label, or to its target if it has none.
    fn close_link(&mut self, start: usize, bars: usize) {
        let lines = &mut self.rendered.lines;
        let Some(&bar) = self.bars.get(bars) else {
            if lines[start..].starts_with(':') {
                lines.remove(start);
            }
            return;
        };
        self.work.add(lines.len() - start);
        if lines[bar..].trim().is_empty() {
            lines.truncate(bar);
        } else {
            lines.replace_range(start..bar, "");
        }
    }

    /// Reduces `-{zh-hans:…;zh-hant:…}-` and `-{A|…}-` to the first variant. Other flags set rules and show nothing.
    fn close_variant(&mut self, start: usize, bars: usize) {
        let lines = &mut self.rendered.lines;
        if let Some(&bar) = self.bars.get(bars) {
            let flag = lines[start..bar].trim();
            let shows = matches!(flag, "" | "A" | "R" | "D") || flag.starts_with(|c: char| c.is_ascii_lowercase());
            if !shows {
                lines.truncate(start);
                return;
            }
            lines.replace_range(start..bar, "");
        }
        self.work.add(lines.len() - start);
        let text = &lines[start..];
        let first = text.split(';').next().unwrap_or_default();
        let Some((code, variant)) = first.split_once(':') else { return };
        if code.trim().bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !code.trim().is_empty() {
            let variant = variant.trim().to_owned();
            lines.truncate(start);
            lines.push_str(&variant);
        }
    }

    /// Moves the text from `start` on to a note.
    fn note(&mut self, start: usize, group: &str) {
        let Rendered { lines, notes, note_bounds, .. } = &mut self.rendered;
        let text = lines[start..].trim();
        if !text.is_empty() {
            let begin = notes.len();
            notes.push_str(text);
            note_bounds.push(begin..notes.len());
            let number = note_bounds.len() - 1;
            match self.groups.get_mut(group) {
                Some(group) => group.push(number),
                None => drop(self.groups.insert(group.to_owned(), vec![number])),
            }
        }
        self.work.add(text.len());
        lines.truncate(start);
        lines.push(HOLE);
    }

    /// Adds a list of the notes of a group.
    fn list(&mut self, group: &str) {
        let Rendered { lines, lists, .. } = &mut self.rendered;
        let number = lists.len();
        lists.push(self.groups.get_mut(group).map(take).unwrap_or_default());
        lines.push('\n');
        lines.push(LIST);
        lines.push_str(&number.to_string());
        lines.push(LIST);
        lines.push('\n');
    }

    /// Adds text without marks.
    fn text(&mut self, text: &str) {
        self.work.add(text.len());
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(ordinary) = bytes[at..].iter().position(|b| SPECIAL[usize::from(*b)]) {
            let stop = at + ordinary;
            self.rendered.lines.push_str(&text[at..stop]);
            at = stop + 1;
            let lines = &mut self.rendered.lines;
            match bytes[stop] {
                b'\n' => lines.push(if self.poems > 0 { BREAK } else { '\n' }),
                b'&' => at = stop + entity(&text[stop..], lines),
                b'|' => match self.frames.last() {
                    Some(Frame { fate: Fate::Template(_), .. }) => self.bars.push(lines.len()),
                    // Everything behind the first bar is the label.
                    Some(Frame { fate: Fate::Link | Fate::Variant, bars, .. }) if *bars == self.bars.len() => {
                        self.bars.push(lines.len());
                    }
                    _ => lines.push('|'),
                },
                b'_' => match switch(&text[stop..]) {
                    Some(name) => {
                        self.rendered.is_disambiguation |= name == "DISAMBIG";
                        at = stop + name.len() + 4;
                    }
                    None => lines.push('_'),
                },
                _ => lines.push(' '),
            }
        }
        self.rendered.lines.push_str(&text[at..]);
    }

    /// Adds the content of an element, which is no markup.
    fn literal(&mut self, element: &str) {
        let content = element.split_once('>').and_then(|(_, rest)| rest.rsplit_once('<'));
        let content = content.map_or("", |(content, _)| content);
        // `<pre>` keeps its lines.
        let keeps_lines = element.get(..4).is_some_and(|tag| tag.eq_ignore_ascii_case("<pre")) || self.poems > 0;
        self.work.add(content.len());
        let lines = &mut self.rendered.lines;
        lines.push(GUARD);
        let bytes = content.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'&' => {
                    at += entity(&content[at..], lines);
                    continue;
                }
                b'\n' if keeps_lines => lines.push(BREAK),
                b'\n' => lines.extend(['\n', GUARD]),
                b'\'' => lines.extend(['\'', GUARD]),
                b'=' => lines.extend([GUARD, '=', GUARD]),
                0..0x20 => lines.push(' '),
                _ => {
                    let end = bytes[at..].iter().position(|b| matches!(b, b'&' | b'\'' | b'=' | 0..0x20));
                    let end = end.map_or(bytes.len(), |n| at + n);
                    lines.push_str(&content[at..end]);
                    at = end;
                    continue;
                }
            }
            at += 1;
        }
    }
}

/// Adds the character of the entity that `text` begins with, or only the `&` if the entity is unknown. Returns the
/// number of bytes that it takes.
fn entity(text: &str, out: &mut String) -> usize {
    let end = text.bytes().take(LONGEST_ENTITY).position(|b| b == b';');
    let character = end.and_then(|end| {
        let name = &text[1..end];
        match name.strip_prefix('#') {
            None => resolve_html5_entity(name).map(Decoded::Name),
            Some(number) => {
                let number = match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                number.ok().and_then(char::from_u32).map(Decoded::Number)
            }
        }
    });
    let (Some(decoded), Some(end)) = (character, end) else {
        out.push('&');
        return 1;
    };
    match decoded {
        Decoded::Number(c) if c.is_control() => out.push(' '),
        Decoded::Number(c) => push_guarded(c, out),
        Decoded::Name(name) => {
            name.chars().for_each(|c| if c.is_control() { out.push(' ') } else { push_guarded(c, out) })
        }
    }
    end + 1
}

enum Decoded {
    Name(&'static str),
    Number(char),
}

/// Adds a character as text, even if it looks like markup.
fn push_guarded(c: char, out: &mut String) {
    if matches!(c, '\'' | '=' | '*' | '#' | ':' | ';' | '-' | '|' | '{') {
        out.extend([GUARD, c, GUARD]);
    } else {
        out.push(c);
    }
}

/// Returns the switch that `text` begins with.
fn switch(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix("__")?;
    SWITCHES.into_iter().find(|name| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with("__")))
}

/// Returns the length of the URL that `text` begins with, including the white space behind it.
fn url_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |i: usize| {
        matches!(bytes[i], 0..=b' ' | b'<' | b'>' | b'"' | b'[' | b']')
            || (bytes[i] == b'\'' && bytes.get(i + 1) == Some(&b'\''))
    };
    let url = (0..bytes.len()).find(|i| ends(*i)).unwrap_or(bytes.len());
    url + bytes[url..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Returns the range in the source of the group that a tag names. The range is empty if the tag names none.
fn group(source: &str, mark: &Mark) -> (usize, usize) {
    let at = mark.at as usize;
    let tag = &source[at..mark.end as usize];
    let mut from = 0;
    while let Some(found) = tag[from..].find("group") {
        let before = tag[..from + found].ends_with(|c: char| c.is_ascii_whitespace());
        from += found + "group".len();
        let Some(value) = tag[from..].trim_start().strip_prefix('=').filter(|_| before) else { continue };
        let value = value.trim_start();
        let (value, end) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => (&value[1..], value[1..].find(quote)),
            _ => (value, value.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'))),
        };
        let start = at + tag.len() - value.len();
        return (start, start + end.unwrap_or(0));
    }
    (at, at)
}
