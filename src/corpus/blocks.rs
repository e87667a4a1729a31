//! Text in blocks, as the readers of marked-up formats lay it out: blank lines between paragraphs, and one space for
//! each run of white space.

/// The gap between the text so far and the next text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
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

/// The text of a document that is being collected. It neither begins nor ends with a gap.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    text: String,
    gap: Gap,
}

impl Blocks {
    /// Makes the gap before the next text at least this wide.
    pub(super) fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Sets the gap before the next text.
    pub(super) fn set_gap(&mut self, gap: Gap) {
        self.gap = gap;
    }

    pub(super) fn gap(&self) -> Gap {
        self.gap
    }

    /// Returns the text so far, without the gap behind it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns where the next text begins if the gap before it stays as it is.
    pub(super) fn next(&self) -> usize {
        if self.text.is_empty() { 0 } else { self.text.len() + self.gap.text().len() }
    }

    /// Cuts the text to its first `length` bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
    }

    /// Adds text, with each run of white space as one space.
    pub(super) fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) = rest.bytes().position(|b| !is_space(b)) {
            if start > 0 {
                self.widen(Gap::Space);
            }
            let end = rest[start..].bytes().position(is_space).map_or(rest.len(), |i| start + i);
            self.push_verbatim(&rest[start..end]);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            self.widen(Gap::Space);
        }
    }

    /// Adds text as it is.
    pub(super) fn push_verbatim(&mut self, text: &str) {
        let gap = std::mem::take(&mut self.gap);
        if gap >= Gap::Line {
            trim_end(&mut self.text);
        }
        if !self.text.is_empty() {
            self.text.push_str(gap.text());
        }
        self.text.push_str(text);
    }

    /// Returns the text. The builder is empty afterwards.
    pub(super) fn finish(&mut self) -> String {
        let mut text = std::mem::take(self).text;
        trim_end(&mut text);
        text
    }
}

/// Returns true for the white space of HTML and XML.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C)
}

/// Removes white space that markup put at the end; other spaces, such as U+00A0, are text.
fn trim_end(text: &mut String) {
    text.truncate(text.trim_end_matches([' ', '\t', '\n', '\r', '\u{C}']).len());
}
