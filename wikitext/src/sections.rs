//! The sections of a page.

/// The kind of content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The text before the first heading.
    Lead,
    /// Running text.
    Prose,
    /// References, notes, further reading.
    References,
    /// External links, see also.
    Links,
}

impl Kind {
    /// Returns the name of the kind: lead, prose, references or links.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lead => "lead",
            Self::Prose => "prose",
            Self::References => "references",
            Self::Links => "links",
        }
    }
}

/// A part of a text, from its heading up to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The number of bytes of the heading that the section begins with.
    pub heading: i32,
    /// The level of the heading, from 1; 0 if there is no heading.
    pub level: i32,
    /// The kind of its content.
    pub kind: Kind,
    /// The half-open range of the section in the text, in code points.
    pub chars: [i32; 2],
    /// The half-open range of the section in the text, in bytes.
    pub bytes: [i32; 2],
}

impl Section {
    /// Makes a section that begins at the byte `start`, with a heading of `heading` bytes. [`end_all`] sets its end.
    pub fn begun(heading: usize, level: i32, kind: Kind, start: usize) -> Self {
        Self { heading: place(heading), level, kind, chars: [0, 0], bytes: [place(start), 0] }
    }

    /// Returns the heading in the text of the page; '' if there is no heading.
    pub fn title<'a>(&self, text: &'a str) -> &'a str {
        let [start, length] = [self.bytes[0], self.heading].map(|n| usize::try_from(n).unwrap_or_default());
        text.get(start..start + length).unwrap_or_default()
    }
}

/// Sets the ends of sections, and their offsets in characters. It works in place, since there may be millions.
pub fn end_all(text: &str, sections: &mut [Section]) {
    let mut chars = [0, text.chars().count()].map(place);
    let mut end = place(text.len());
    for section in sections.iter_mut().rev() {
        let inside = |at: i32| usize::try_from(at).unwrap_or_default();
        let start = section.bytes[0];
        chars[0] = chars[1] - place(text[inside(start)..inside(end)].chars().count());
        (section.chars, section.bytes) = (chars, [start, end]);
        (chars[1], end) = (chars[0], start);
    }
}

/// Returns the one section of a text. An empty text has no section.
pub(super) fn whole(text: &str, kind: Kind) -> Vec<Section> {
    if text.is_empty() {
        return Vec::new();
    }
    let [chars, bytes] = [text.chars().count(), text.len()].map(|end| [0, place(end)]);
    vec![Section { heading: 0, level: 0, kind, chars, bytes }]
}

/// Returns an offset in the type of the column. No text reaches 2 GiB.
pub(super) fn place(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}
