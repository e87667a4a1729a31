//! From lines to paragraphs and sections.
//!
//! * Blocks (paragraphs, list items, headings, notes) are separated by blank lines. Lines of a paragraph are one line,
//!   except at `<br>`, in `<poem>` and in `<pre>`.
//! * A run of white space, including no-break spaces, is one space.
//! * Where something was dropped, its remains are dropped, too: brackets around nothing, commas before nothing, a line
//!   without letter or digit.
//! * Lines that begin with `|` are rows of tables that were not closed, and are dropped.

use std::borrow::Cow;

use crate::converter::{Work, control_and};
use crate::names::kind_of_section;
use crate::render::{BREAK, GUARD, HOLE, LIST, Rendered};
use crate::sections::{Kind, Section, end_all};

/// Makes the text of a page, and its sections.
pub(super) fn lay_out(rendered: &Rendered, work: &mut Work) -> (String, Vec<Section>) {
    let mut layout = Layout {
        text: String::with_capacity(rendered.lines.len() + rendered.notes.len()),
        sections: Vec::new(),
        in_paragraph: false,
        gap: Gap::None,
        heading_end: 0,
        waiting: Vec::new(),
        shown: vec![false; rendered.note_bounds.len()],
        parents: Vec::new(),
        rendered,
    };
    for line in rendered.lines.split('\n') {
        layout.line(line);
    }
    layout.end_section();
    layout.rest_of_notes();
    work.add(2 * (rendered.lines.len() + rendered.notes.len()) + layout.text.len());
    let Layout { text, mut sections, .. } = layout;
    end_all(&text, &mut sections);
    (text, sections)
}

/// The gap between the text so far and the next text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Blank,
}

impl Gap {
    fn text(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Space => " ",
            Self::Line => "\n",
            Self::Blank => "\n\n",
        }
    }
}

struct Layout<'a> {
    rendered: &'a Rendered,
    text: String,
    sections: Vec<Section>,
    /// True if the text ends with a paragraph that the next line continues, and the gap between them.
    in_paragraph: bool,
    gap: Gap,
    /// The offset at which the heading of the section ends.
    heading_end: usize,
    /// The lists of notes that stand in the section.
    waiting: Vec<usize>,
    /// For each note, true if it is in the text.
    shown: Vec<bool>,
    /// The enclosing sections, with their levels and kinds.
    parents: Vec<(i32, Kind)>,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | HOLE | '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}')
}

impl Layout<'_> {
    fn line(&mut self, line: &str) {
        let list = line.strip_prefix(LIST).and_then(|list| list.strip_suffix(LIST));
        if let Some(list) = list.and_then(|list| list.parse::<usize>().ok()) {
            self.waiting.push(list);
            self.in_paragraph = false;
            return;
        }
        let trimmed = line.trim_matches(is_blank);
        let Some(first) = trimmed.bytes().next() else {
            self.in_paragraph = false;
            return;
        };
        match first {
            b'=' if trimmed.len() > 2 && trimmed.ends_with('=') => self.heading(trimmed),
            b'*' | b'#' | b':' | b';' => {
                self.block(trimmed.trim_start_matches(['*', '#', ':', ';', ' ']), false);
            }
            b'-' if trimmed.starts_with("----") => {
                self.in_paragraph = false;
                self.block(trimmed.trim_start_matches('-'), true);
            }
            b'|' => self.in_paragraph = false,
            b'{' if trimmed.starts_with("{|") => self.in_paragraph = false,
            _ => {
                self.block(line, true);
            }
        }
    }

    fn heading(&mut self, line: &str) {
        let count = |bytes: &mut dyn Iterator<Item = u8>| bytes.take(6).take_while(|b| *b == b'=').count();
        let level = count(&mut line.bytes()).min(count(&mut line.bytes().rev())).min((line.len() - 1) / 2);
        self.end_section();
        // The section begins with its heading. A heading without text begins no section.
        let lead = self.sections.is_empty();
        let Some(start) = self.block(&on_one_line(&line[level..line.len() - level]), false) else { return };
        if lead && start == 0 {
            // There was no text before, so there is no lead.
            self.sections.clear();
        }
        let title = &self.text[start..];
        let level = i32::try_from(level).unwrap_or(6);
        while self.parents.last().is_some_and(|(outer, _)| *outer >= level) {
            self.parents.pop();
        }
        let outer = self.parents.last().map_or(Kind::Prose, |(_, kind)| *kind);
        let kind = kind_of_section(title).unwrap_or(outer);
        self.parents.push((level, kind));
        self.sections.push(Section::begun(title.len(), level, kind, start));
        self.heading_end = self.text.len();
    }

    /// Adds a block, or a line to the paragraph, and returns its offset. `None` if no text is left of it.
    fn block(&mut self, line: &str, continues: bool) -> Option<usize> {
        let before = self.text.len();
        let goes_on = continues && self.in_paragraph;
        let gap = if goes_on { self.gap.max(Gap::Space) } else { Gap::None };
        if !goes_on && before > 0 {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        let mut writer = Writer::new(&mut self.text, gap, goes_on);
        if !writer.write(line) {
            self.text.truncate(before);
            return None;
        }
        self.gap = writer.gap;
        self.in_paragraph = continues;
        if self.sections.is_empty() {
            self.sections.push(Section::begun(0, 0, Kind::Lead, 0));
        }
        Some(start)
    }

    /// Puts the lists of notes of a section at its end.
    fn end_section(&mut self) {
        self.in_paragraph = false;
        if self.waiting.is_empty() {
            return;
        }
        let has_body = self.text.len() > self.heading_end;
        let rendered = self.rendered;
        let lists = std::mem::take(&mut self.waiting);
        let notes = lists.iter().filter_map(|list| rendered.lists.get(*list)).flatten().copied();
        self.notes(notes, has_body);
    }

    /// Puts the notes that no list shows at the end.
    fn rest_of_notes(&mut self) {
        let rest: Vec<usize> = (0..self.shown.len()).filter(|note| !self.shown[*note]).collect();
        self.notes(rest.into_iter(), true);
    }

    /// Adds notes to the section if it is a section of references, or has no other text. Otherwise adds them to a
    /// section of their own.
    fn notes(&mut self, notes: impl Iterator<Item = usize>, has_body: bool) {
        let rendered = self.rendered;
        let mut is_first = true;
        for note in notes {
            let Some(bounds) = rendered.note_bounds.get(note) else { continue };
            self.shown[note] = true;
            let Some(start) = self.block(&on_one_line(&rendered.notes[bounds.clone()]), false) else { continue };
            if !std::mem::take(&mut is_first) {
                continue;
            }
            if start == 0 {
                // There is nothing else.
                self.sections.clear();
            }
            match self.sections.last_mut() {
                Some(section) if section.kind == Kind::References => {}
                Some(section) if section.level > 0 && !has_body => {
                    section.kind = Kind::References;
                    if let Some((_, kind)) = self.parents.last_mut() {
                        *kind = Kind::References;
                    }
                }
                _ => self.sections.push(Section::begun(0, 0, Kind::References, start)),
            }
        }
    }
}

fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', BREAK]) { Cow::Owned(text.replace(['\n', BREAK], " ")) } else { Cow::Borrowed(text) }
}

/// The bytes of a line that are not simply copied. Bytes above 0x7F begin spaces, brackets or commas of other scripts.
const SPECIAL: [bool; 256] = control_and(b" '(),;:\xC2\xE2\xE3\xEF");

/// A bracket, or the beginning of a block, with nothing but commas behind it so far.
struct Opened {
    /// The offset of the text behind it.
    inside: usize,
    /// The offset of the bracket, and the gap before it. `None` for the beginning of a block.
    outside: Option<(usize, Gap)>,
    /// True if something was dropped behind it.
    hole: bool,
}

/// A writer of a line without its marks.
struct Writer<'a> {
    text: &'a mut String,
    gap: Gap,
    start: usize,
    /// True if the line continues a paragraph.
    goes_on: bool,
    opened: Option<Opened>,
    /// True if something was dropped since the last letter.
    hole: bool,
    any_hole: bool,
    /// The offset at which the text ends, without commas at its end.
    solid: usize,
}

impl<'a> Writer<'a> {
    fn new(text: &'a mut String, gap: Gap, goes_on: bool) -> Self {
        let start = text.len();
        let mut writer = Self { text, gap, start, goes_on, opened: None, hole: false, any_hole: false, solid: start };
        writer.opened = writer.beginning(false);
        writer
    }

    /// Returns the beginning of a block, if the text is there.
    fn beginning(&self, hole: bool) -> Option<Opened> {
        let inside = self.text.len();
        (inside == self.start && !self.goes_on).then_some(Opened { inside, outside: None, hole })
    }

    /// Writes a line. Returns true if it has left any text.
    fn write(&mut self, line: &str) -> bool {
        let apostrophe = misread_bold(line);
        let bytes = line.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let length = match byte {
                b' ' => {
                    self.gap = self.gap.max(Gap::Space);
                    1
                }
                b'\'' => {
                    let run = bytes[at..].iter().take_while(|b| **b == b'\'').count();
                    let shown = match run {
                        1 | 4 => 1,
                        2 | 3 | 5 => 0,
                        more => more - 5,
                    };
                    let shown = shown + usize::from(apostrophe == Some(at));
                    if shown > 0 {
                        self.solid(&line[at..at + shown]);
                    }
                    run
                }
                b'(' => {
                    self.open("(");
                    1
                }
                b')' => {
                    self.close(")");
                    1
                }
                b',' | b';' | b':' => {
                    self.comma(&line[at..=at]);
                    1
                }
                0..0x20 => self.control(&line[at..]),
                _ if SPECIAL[usize::from(byte)] => self.wide(&line[at..]),
                _ => {
                    let run = bytes[at..].iter().position(|b| SPECIAL[usize::from(*b)]).unwrap_or(bytes.len() - at);
                    self.solid(&line[at..at + run]);
                    run
                }
            };
            at += length;
        }
        let left = &self.text[self.start..];
        !left.is_empty() && (!self.any_hole || left.chars().any(char::is_alphanumeric))
    }

    /// Handles the control character that `rest` begins with. Returns the number of bytes that it takes.
    fn control(&mut self, rest: &str) -> usize {
        match rest.chars().next() {
            // A list in the middle of a line; its notes come at the end of the text.
            Some(LIST) => return rest[1..].find(LIST).map_or(1, |number| number + 2),
            Some(HOLE) => {
                self.hole = true;
                self.any_hole = true;
                if let Some(opened) = &mut self.opened {
                    opened.hole = true;
                }
            }
            Some(BREAK) if self.text.len() > self.start => {
                self.gap = if self.gap >= Gap::Line { Gap::Blank } else { Gap::Line };
            }
            Some(GUARD) => {}
            _ => self.gap = self.gap.max(Gap::Space),
        }
        1
    }

    /// Writes the character that `rest` begins with, and gives its length.
    fn wide(&mut self, rest: &str) -> usize {
        let length = rest.chars().next().map_or(1, char::len_utf8);
        let character = &rest[..length];
        match character {
            "（" => self.open(character),
            "）" => self.close(character),
            "，" | "、" | "；" | "：" => self.comma(character),
            _ if character.starts_with(is_blank) => self.gap = self.gap.max(Gap::Space),
            _ => self.solid(character),
        }
        length
    }

    fn close_gap(&mut self) {
        self.text.push_str(self.gap.text());
        self.gap = Gap::None;
    }

    /// Ends the beginning of a block or a bracket. Removes its spaces, and its commas if something was dropped there.
    fn begin(&mut self) {
        let Some(Opened { inside, hole, .. }) = self.opened.take() else { return };
        if hole {
            self.text.truncate(inside);
        }
        if self.text.len() == inside {
            self.gap = Gap::None;
        }
    }

    fn solid(&mut self, piece: &str) {
        self.begin();
        if self.hole && self.gap == Gap::Space && piece.starts_with(['.', '!', '?', '。', '！', '？']) {
            self.gap = Gap::None;
        }
        self.close_gap();
        self.text.push_str(piece);
        self.solid = self.text.len();
        self.hole = false;
    }

    fn comma(&mut self, piece: &str) {
        if self.hole {
            if self.text.len() > self.solid {
                return;
            }
            self.gap = Gap::None;
        }
        if self.opened.as_ref().is_some_and(|opened| self.text.len() == opened.inside) {
            self.gap = Gap::None;
        }
        self.close_gap();
        self.text.push_str(piece);
    }

    fn open(&mut self, piece: &str) {
        self.begin();
        let (outside, gap) = (self.text.len(), self.gap);
        self.solid(piece);
        self.opened = Some(Opened { inside: self.text.len(), outside: Some((outside, gap)), hole: false });
    }

    fn close(&mut self, piece: &str) {
        match self.opened.take() {
            Some(Opened { outside: Some((outside, gap)), hole: true, .. }) => {
                self.text.truncate(outside);
                (self.gap, self.solid, self.hole) = (gap, self.solid.min(outside), true);
                self.opened = self.beginning(true);
                return;
            }
            opened => self.opened = opened,
        }
        if self.hole {
            self.text.truncate(self.solid);
            self.gap = Gap::None;
        }
        self.solid(piece);
    }
}

/// Returns the offset of three apostrophes in a line, the first of which is text, as in `L'''amour''`. By MediaWiki's
/// rule, there are such apostrophes if neither bold nor italic is closed. They are behind a word of one letter, or else
/// behind a longer one, or else behind a space.
fn misread_bold(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = memchr::memmem::find(bytes, b"''")?;
    let (mut bold, mut italic) = (0, 0);
    let mut found = [None; 3];
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|b| **b == b'\'').count();
        match run {
            2 => italic += 1,
            3 | 4 => bold += 1,
            n if n > 4 => (bold, italic) = (bold + 1, italic + 1),
            _ => {}
        }
        if run == 3 {
            let mut before = line[..at].chars().rev();
            let rank = match (before.next(), before.next()) {
                (Some(' '), _) => 2,
                (_, Some(' ')) => 0,
                _ => 1,
            };
            found[rank] = found[rank].or(Some(at));
        }
        at += run.max(1);
        at += memchr::memchr(b'\'', &bytes[at..]).unwrap_or(bytes.len() - at);
    }
    if bold % 2 == 1 && italic % 2 == 1 { found.into_iter().flatten().next() } else { None }
}
