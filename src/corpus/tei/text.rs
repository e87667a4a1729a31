//! The layout of the content of `<text>`: blocks, lines, notes after their paragraphs, one reading of several,
//! sections.

use ibid_wikitext::{Kind, Section, end_all};
use quick_xml::events::BytesStart;

use super::super::blocks::{Blocks, Gap};
use super::super::xml::attribute;

/// The marks of a word that is broken at the end of a line.
const HYPHENS: [char; 5] = ['-', '\u{AD}', '\u{2010}', '¬', '⸗'];

/// The role of an open element in the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A division. Its first head begins a section.
    Division {
        is_div: bool,
        has_section: bool,
        kind: Kind,
    },
    /// An element that holds blocks and no text of its own.
    Container,
    /// A group of lines or speeches. It holds blocks, and notes are placed after it.
    Group,
    Paragraph,
    /// A heading, and its offset if it begins a section.
    Head(Option<usize>),
    Line,
    /// A sentence.
    Spaced,
    /// A word or a punctuation mark; true if no space follows.
    Token(bool),
    Note,
    /// Several readings. One of them is taken.
    Choice,
    Restored,
    /// Markup as an example.
    Example,
    Inline,
    Dropped,
}

impl Role {
    /// Returns true for elements that hold blocks and no text.
    fn holds_blocks(self) -> bool {
        matches!(self, Self::Division { .. } | Self::Container | Self::Group)
    }

    /// Returns true for elements that notes are placed after.
    fn is_paragraph(self) -> bool {
        matches!(self, Self::Group | Self::Paragraph | Self::Head(_) | Self::Example)
    }
}

/// The text of a document, or of a note within it.
#[derive(Debug, Default)]
struct Level {
    blocks: Blocks,
    /// The notes that wait for the end of the paragraph.
    notes: Vec<String>,
    /// The number of open elements that notes are placed after.
    paragraphs: usize,
    /// True if no white space comes before the next text.
    is_joined: bool,
    choices: Vec<Choice>,
}

/// Several readings that are open.
#[derive(Debug)]
struct Choice {
    /// The state of the text before the readings.
    length: usize,
    gap: Gap,
    is_joined: bool,
    notes: usize,
    /// The rank of the reading that is taken so far.
    rank: Option<u8>,
}

/// The layout of a text.
#[derive(Debug, Default)]
pub(super) struct Text {
    open: Vec<Role>,
    /// The text, then the open notes, each within the one before.
    levels: Vec<Level>,
    sections: Vec<Section>,
    /// The number of open `<div>`.
    divs: i32,
    /// The bytes of all levels but the innermost, and of notes that wait.
    held: usize,
}

impl Text {
    /// Begins an element: a `<text>`, or an element within one.
    pub(super) fn start(&mut self, name: &str, tag: &BytesStart<'_>) {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let parent = self.open.last().copied();
        let is_dropped = match parent {
            Some(Role::Dropped) => true,
            Some(Role::Choice) => !self.takes_reading(name),
            _ => false,
        };
        let role = if is_dropped { Role::Dropped } else { self.role(parent, name, tag) };
        let Some(level) = self.levels.last_mut() else { return };
        match role {
            Role::Division { is_div, .. } => {
                self.divs += i32::from(is_div);
                level.blocks.widen(Gap::Blank);
            }
            Role::Container | Role::Group | Role::Paragraph | Role::Head(_) | Role::Example => {
                level.blocks.widen(Gap::Blank);
            }
            Role::Line => level.blocks.widen(Gap::Line),
            Role::Spaced => level.space(Gap::Space),
            Role::Token(_) | Role::Restored | Role::Inline | Role::Dropped => {}
            Role::Choice => level.choices.push(Choice {
                length: level.blocks.len(),
                gap: level.blocks.gap(),
                is_joined: level.is_joined,
                notes: level.notes.len(),
                rank: None,
            }),
            Role::Note => {
                self.held += level.blocks.len();
                self.levels.push(Level::default());
            }
        }
        let role = match (role, self.levels.as_slice()) {
            // Headings in notes begin no section of the text.
            (Role::Head(Some(_)), [level]) => Role::Head(Some(level.blocks.next())),
            (Role::Head(Some(_)), _) => Role::Head(None),
            (role, _) => role,
        };
        if let Some(level) = self.levels.last_mut().filter(|_| role.is_paragraph()) {
            level.paragraphs += 1;
        }
        self.open.push(role);
    }

    pub(super) fn end(&mut self) {
        let Some(role) = self.open.pop() else { return };
        if role == Role::Note {
            return self.end_note();
        }
        let Some(level) = self.levels.last_mut() else { return };
        match role {
            Role::Division { is_div, .. } => {
                self.divs -= i32::from(is_div);
                level.blocks.widen(Gap::Blank);
            }
            Role::Container | Role::Group | Role::Paragraph | Role::Example => level.blocks.widen(Gap::Blank),
            Role::Head(start) => {
                if let Some(start) = start {
                    self.begin_section(start);
                }
            }
            Role::Line => level.blocks.widen(Gap::Line),
            Role::Spaced => level.space(Gap::Space),
            Role::Token(true) => level.join(),
            Role::Choice => drop(level.choices.pop()),
            Role::Token(false) | Role::Note | Role::Restored | Role::Inline | Role::Dropped => {}
        }
        if let Some(level) = self.levels.last_mut().filter(|_| role.is_paragraph()) {
            level.blocks.widen(Gap::Blank);
            level.paragraphs -= 1;
            if level.paragraphs == 0 {
                self.held -= level.place_notes();
            }
        }
    }

    /// Adds characters. Fails if the text becomes longer than the limit.
    pub(super) fn characters(&mut self, text: &str, limit: usize) -> Result<(), ()> {
        let is_taken = !matches!(self.open.last(), None | Some(Role::Dropped | Role::Choice));
        let Some(level) = self.levels.last_mut().filter(|_| is_taken) else { return Ok(()) };
        let text = if level.is_joined { text.trim_start_matches([' ', '\t', '\n', '\r']) } else { text };
        if text.is_empty() {
            return Ok(());
        }
        if self.held + level.blocks.len() + text.len() > limit {
            return Err(());
        }
        level.is_joined = false;
        level.blocks.push(text);
        Ok(())
    }

    /// Returns true if markup is open as an example.
    pub(super) fn is_in_example(&self) -> bool {
        self.open.contains(&Role::Example)
    }

    /// Returns the text and its sections.
    pub(super) fn finish(mut self) -> (String, Vec<Section>) {
        let text = self.levels.first_mut().map(|level| level.blocks.finish()).unwrap_or_default();
        let starts_bare = self.sections.first().is_none_or(|section| section.bytes[0] > 0);
        if starts_bare && !text.is_empty() {
            self.sections.insert(0, Section::begun(0, 0, Kind::Lead, 0));
        }
        end_all(&text, &mut self.sections);
        (text, self.sections)
    }

    fn role(&mut self, parent: Option<Role>, name: &str, tag: &BytesStart<'_>) -> Role {
        let holds_blocks = parent.is_none_or(Role::holds_blocks);
        match name {
            "lb" | "pb" | "cb" | "gb" | "milestone" => {
                self.end_line(attribute(tag, "break").as_deref() == Some("no"));
                Role::Dropped
            }
            "gap" | "space" => {
                if let Some(level) = self.levels.last_mut() {
                    level.space(Gap::Space);
                }
                Role::Dropped
            }
            "del" if parent != Some(Role::Restored) => Role::Dropped,
            name if is_no_text(name) => Role::Dropped,
            "note" => Role::Note,
            "choice" | "app" | "rdgGrp" => Role::Choice,
            "restore" => Role::Restored,
            "egXML" => Role::Example,
            "text" | "group" | "front" | "body" | "back" | "floatingText" => self.division(false, tag),
            "div" | "div0" | "div1" | "div2" | "div3" | "div4" | "div5" | "div6" | "div7" => self.division(true, tag),
            "head" => Role::Head(self.begins_section().then_some(0)),
            "lg" | "sp" => Role::Group,
            "l" | "addrLine" => Role::Line,
            "s" if !holds_blocks => Role::Spaced,
            "w" | "pc" => {
                let join = attribute(tag, "join");
                if let (Some("left" | "both"), Some(level)) = (join.as_deref(), self.levels.last_mut()) {
                    level.join();
                }
                Role::Token(matches!(join.as_deref(), Some("right" | "both")))
            }
            name if is_container(name) => Role::Container,
            name if holds_blocks || is_block(name) => Role::Paragraph,
            _ => Role::Inline,
        }
    }

    fn division(&self, is_div: bool, tag: &BytesStart<'_>) -> Role {
        let outer = self.open.iter().rev().find_map(|role| match role {
            Role::Division { kind, .. } => Some(*kind),
            _ => None,
        });
        let named = attribute(tag, "type").filter(|_| is_div);
        let kind = match named.as_deref() {
            Some("notes" | "footnotes" | "endnotes" | "bibliography" | "bibliogr" | "references") => Kind::References,
            _ => outer.unwrap_or(Kind::Prose),
        };
        Role::Division { is_div, has_section: false, kind }
    }

    /// Returns true if the division that is open has no section yet.
    fn begins_section(&self) -> bool {
        matches!(self.open.last(), Some(Role::Division { has_section: false, .. }))
    }

    /// Begins a section with the heading that ends here.
    fn begin_section(&mut self, start: usize) {
        let length = self.levels.first().map_or(0, |level| level.blocks.len()).saturating_sub(start);
        let Some(Role::Division { has_section, kind, .. }) = self.open.last_mut() else { return };
        if length > 0 {
            *has_section = true;
            self.sections.push(Section::begun(length, self.divs.max(1), *kind, start));
        }
    }

    /// Handles the mark of the end of a line. If `is_in_word`, a word continues after it.
    fn end_line(&mut self, is_in_word: bool) {
        let Some(level) = self.levels.last_mut() else { return };
        // The text before several readings is common to them.
        let common = level.choices.last().map_or(0, |choice| choice.length);
        let text = level.blocks.text();
        let hyphen = text.chars().next_back().filter(|c| HYPHENS.contains(c) && level.blocks.gap() <= Gap::Space);
        match hyphen {
            Some(hyphen) if is_in_word && text.len() > common => {
                let length = text.len() - hyphen.len_utf8();
                level.blocks.truncate(length);
                level.join();
            }
            _ if is_in_word => level.join(),
            Some(_) => level.space(Gap::Line),
            None => level.space(Gap::Space),
        }
    }

    /// Returns true if a reading is taken. It replaces the one that was taken before.
    fn takes_reading(&mut self, name: &str) -> bool {
        let rank = match name {
            "corr" | "reg" | "expan" | "ex" | "lem" => 2,
            "sic" | "orig" | "abbr" | "am" | "rdg" | "rdgGrp" => 0,
            "note" | "wit" | "witDetail" | "witStart" | "witEnd" | "lacunaStart" | "lacunaEnd" => return false,
            _ => 1,
        };
        let is_text = self.levels.len() == 1;
        let Some(level) = self.levels.last_mut() else { return false };
        let Some(choice) = level.choices.last_mut() else { return false };
        if choice.rank.is_some_and(|best| best >= rank) {
            return false;
        }
        if choice.rank.is_some() {
            level.blocks.truncate(choice.length);
            level.blocks.set_gap(choice.gap);
            level.is_joined = choice.is_joined;
            if is_text {
                self.sections.retain(|section| usize::try_from(section.bytes[0]).is_ok_and(|at| at < choice.length));
            }
            let undone = level.notes.drain(choice.notes.min(level.notes.len())..);
            self.held -= undone.map(|note| note.len()).sum::<usize>();
        }
        choice.rank = Some(rank);
        true
    }

    fn end_note(&mut self) {
        if self.levels.len() < 2 {
            return;
        }
        let Some(mut note) = self.levels.pop() else { return };
        self.held -= note.place_notes();
        let text = note.blocks.finish();
        let Some(level) = self.levels.last_mut() else { return };
        self.held -= level.blocks.len();
        if !text.is_empty() {
            self.held += text.len();
            level.notes.push(text);
        }
        if level.paragraphs == 0 {
            self.held -= level.place_notes();
        }
    }
}

impl Level {
    /// Makes the gap wider, unless the next text follows without white space.
    fn space(&mut self, gap: Gap) {
        if !self.is_joined {
            self.blocks.widen(gap);
        }
    }

    /// Makes the next text follow without white space.
    fn join(&mut self) {
        if self.blocks.gap() <= Gap::Space {
            self.blocks.set_gap(Gap::None);
            self.is_joined = true;
        }
    }

    /// Places the notes that wait, each as a block. Returns the number of their bytes.
    fn place_notes(&mut self) -> usize {
        let mut bytes = 0;
        for note in std::mem::take(&mut self.notes) {
            bytes += note.len();
            self.blocks.widen(Gap::Blank);
            self.blocks.push_verbatim(&note);
            self.blocks.widen(Gap::Blank);
        }
        bytes
    }
}

/// Returns true for elements whose content is no text of the document.
fn is_no_text(name: &str) -> bool {
    matches!(
        name,
        "teiHeader"
            | "fw"
            | "figDesc"
            | "index"
            | "fs"
            | "spanGrp"
            | "interp"
            | "interpGrp"
            | "linkGrp"
            | "joinGrp"
            | "altGrp"
            | "timeline"
            | "binaryObject"
            | "certainty"
            | "precision"
            | "respons"
    )
}

/// Returns true for elements that hold blocks and no text, wherever they stand.
fn is_container(name: &str) -> bool {
    name.starts_with("list")
        || matches!(name, "table" | "row" | "figure" | "titlePage" | "docTitle" | "castList" | "castGroup" | "spGrp")
}

/// Returns true for elements that are blocks, wherever they stand.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "ab"
            | "speaker"
            | "item"
            | "cell"
            | "u"
            | "opener"
            | "closer"
            | "salute"
            | "signed"
            | "dateline"
            | "byline"
            | "epigraph"
            | "argument"
            | "trailer"
            | "postscript"
            | "titlePart"
            | "castItem"
            | "entry"
            | "entryFree"
            | "superEntry"
            | "eg"
    )
}
