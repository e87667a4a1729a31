//! Output to a terminal: text, with control characters escaped.
//!
//! Documents come from anywhere. One of them may hold an escape sequence that clears the screen, renames the window or types a
//! command, or marks of direction that show a text in another order than it has.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Returns true if a terminal would not show this character, but act on it or show others elsewhere.
fn commands(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the text with control characters escaped, such as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if commands(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A filter for a terminal, which escapes control characters.
#[derive(Debug, Default)]
pub struct Screen {
    /// The beginning of a character whose end was not written yet.
    begun: Vec<u8>,
}

impl Screen {
    /// Writes all of `bytes` that make whole characters.
    pub fn write_to(&mut self, bytes: &[u8], to: &mut impl Write) -> io::Result<()> {
        let mut all = Cow::Borrowed(bytes);
        if !self.begun.is_empty() {
            let mut joined = std::mem::take(&mut self.begun);
            joined.extend_from_slice(bytes);
            all = Cow::Owned(joined);
        }
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            to.write_all(visible(chunk.valid()).as_bytes())?;
            let rest = chunk.invalid();
            let may_go_on = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && may_go_on {
                self.begun = rest.to_vec();
            } else {
                to.write_all(written_out(rest).as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Escapes bytes that are no text.
fn written_out(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "\\x{byte:02x}");
        out
    })
}

/// Checks that the output does not depend on how the input is split, and has no control characters.
#[cfg(any(test, fuzzing))]
#[expect(clippy::unwrap_used, reason = "as in a test")]
pub(crate) fn fuzz(data: &[u8]) {
    let ([piece], data) = crate::fuzzing::choices(data);
    let (mut whole, mut pieces) = (Vec::new(), Vec::new());
    Screen::default().write_to(data, &mut whole).unwrap();
    let mut screen = Screen::default();
    data.chunks(1 + piece).for_each(|piece| screen.write_to(piece, &mut pieces).unwrap());
    assert_eq!(whole, pieces);
    let shown = String::from_utf8(whole).unwrap();
    assert!(!shown.contains(commands), "{shown:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_written_out() {
        assert_eq!(visible("\u{1b}[2J\r\u{9b}31m\u{7f}"), r"\u{1b}[2J\r\u{9b}31m\u{7f}");
        assert_eq!(visible("abc\u{202e}fed\u{2066}"), r"abc\u{202e}fed\u{2066}");
        for plain in ["two\nlines\tand a tab", "naïve 北京 👩‍👩‍👧 ‏עברית"] {
            assert!(matches!(visible(plain), Cow::Borrowed(shown) if shown == plain));
        }
    }

    /// Checks all places where writes can be split.
    #[test]
    fn characters_are_whole() {
        let text = "a\u{1b}é\u{9b}北\u{202e}👩\n";
        let expected = "a\\u{1b}é\\u{9b}北\\u{202e}👩\n";
        for size in 1..=text.len() {
            let (mut screen, mut shown) = (Screen::default(), Vec::new());
            for part in text.as_bytes().chunks(size) {
                screen.write_to(part, &mut shown).unwrap();
            }
            assert_eq!(String::from_utf8(shown).unwrap(), expected, "{size} bytes at a time");
        }
        let (mut screen, mut shown) = (Screen::default(), Vec::new());
        screen.write_to(b"\x9b2J\xe5\x8c", &mut shown).unwrap();
        screen.write_to(b"!", &mut shown).unwrap();
        assert_eq!(shown, br"\x9b2J\xe5\x8c!");
    }
}
