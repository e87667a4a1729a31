//! The parts of texts that a report shows, with the offsets of characters in UTF-16 code units, which JavaScript
//! counts.

use std::ops::Range;

use super::choice::Parts;

/// The number of characters from one stored offset to the next.
const STEP: usize = 512;

/// The text of a document, as far as a report shows it.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// The length of the whole text in UTF-16 code units.
    pub(super) length: usize,
    pub(super) parts: Vec<Part>,
}

/// A part of the text of a document.
#[derive(Debug)]
pub(super) struct Part {
    characters: Range<usize>,
    /// The offset of the part in UTF-16 code units.
    pub(super) start: usize,
    pub(super) text: String,
    /// The offsets within the part of every `STEP`th character, in bytes and in UTF-16 code units.
    steps: Vec<(usize, usize)>,
}

impl Text {
    /// Cuts parts out of a text. Leaves out parts beyond its end.
    pub(super) fn new(text: &str, parts: &Parts) -> Self {
        let mut made = Self::default();
        let (mut wanted, mut open) = (parts.iter().peekable(), None::<(Part, usize)>);
        let (mut characters, mut units) = (0, 0);
        for (byte, character) in text.char_indices() {
            let at = i64::try_from(characters).unwrap_or(i64::MAX);
            if let Some((part, from)) = open.take_if(|_| wanted.peek().is_some_and(|range| range.end <= at)) {
                made.close(part, characters, &text[from..byte]);
                wanted.next();
            }
            if open.is_none() && wanted.peek().is_some_and(|range| range.start <= at) {
                let part =
                    Part { characters: characters..characters, start: units, text: String::new(), steps: Vec::new() };
                open = Some((part, byte));
            }
            if let Some((part, from)) = &mut open
                && (characters - part.characters.start).is_multiple_of(STEP)
            {
                part.steps.push((byte - *from, units - part.start));
            }
            characters += 1;
            units += character.len_utf16();
        }
        if let Some((part, from)) = open {
            made.close(part, characters, &text[from..]);
        }
        made.length = units;
        made
    }

    fn close(&mut self, mut part: Part, end: usize, text: &str) {
        part.characters.end = end;
        text.clone_into(&mut part.text);
        self.parts.push(part);
    }

    /// Returns the text of a range of characters, and its range in UTF-16 code units. Both are empty if no part has the
    /// range.
    pub(super) fn slice(&self, characters: &Range<i64>) -> (&str, Range<usize>) {
        let [start, end] = [characters.start, characters.end].map(|at| usize::try_from(at).unwrap_or(0));
        let after = self.parts.partition_point(|part| part.characters.start <= start);
        let Some(part) = after.checked_sub(1).map(|at| &self.parts[at]) else { return ("", 0..0) };
        let (start, end) = (part.place(start), part.place(end.max(start)));
        (&part.text[start.0..end.0], part.start + start.1..part.start + end.1)
    }
}

impl Part {
    /// Returns the offsets of a character within the part, in bytes and in UTF-16 code units. For a character beyond
    /// the part, returns the end of the part.
    fn place(&self, character: usize) -> (usize, usize) {
        let at = character.min(self.characters.end) - self.characters.start;
        let Some((mut byte, mut unit)) = self.steps.get(at / STEP).or(self.steps.last()).copied() else {
            return (0, 0);
        };
        let known = (at / STEP).min(self.steps.len() - 1) * STEP;
        for character in self.text[byte..].chars().take(at - known) {
            byte += character.len_utf8();
            unit += character.len_utf16();
        }
        (byte, unit)
    }
}

/// Returns the length of a text in UTF-16 code units.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::super::choice::Documents;
    use super::super::rows::Place;
    use super::*;

    fn parts(ranges: &[Range<i64>]) -> Parts {
        let mut documents = Documents::default();
        let document = documents.number(0, "a");
        for characters in ranges {
            documents.take(&[&Place { document, characters: characters.clone() }], 0, i64::MAX).unwrap();
        }
        documents.parts(document).clone()
    }

    #[test]
    fn slices_are_those_of_the_text() {
        let text: String = "aé漢😀".chars().cycle().take(9001).collect();
        let all: Vec<_> = text.chars().collect();
        let text = Text::new(&text, &parts(&[2000..2100, 4000..6000, 8990..9001]));
        assert_eq!(text.parts.len(), 3);
        assert_eq!(text.length, all.iter().map(|c| c.len_utf16()).sum::<usize>());
        for range in [2000..2100, 2001..2002, 4000..6000, 4511..4513, 5999..6000, 8990..9001, 8995..20_000, 2050..2050]
        {
            let [from, to] = [range.start, range.end].map(|at| usize::try_from(at).unwrap().min(all.len()));
            let (slice, at) = text.slice(&range);
            assert_eq!(slice, all[from..to].iter().collect::<String>(), "{range:?}");
            assert_eq!(at.start, all[..from].iter().map(|c| c.len_utf16()).sum::<usize>(), "{range:?}");
            assert_eq!(at.len(), units(slice));
        }
    }

    #[test]
    fn a_text_without_characters_has_no_part() {
        let text = Text::new("", &parts(&[0..10, 20..30]));
        assert!(text.parts.is_empty());
        assert_eq!(text.slice(&(0..10)), ("", 0..0));
    }
}
