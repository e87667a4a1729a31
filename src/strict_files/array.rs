//! The conversion of a JSON array to JSON lines: a line end replaces each comma between two elements.

use memchr::memchr3;

use crate::records::Position;

/// The state of a parser that follows an array of objects, piece by piece.
#[derive(Debug)]
pub(super) struct Elements {
    next: Next,
    /// The number of open braces and brackets of the current element.
    depth: u64,
    /// True inside a string, and true if its next byte is escaped.
    in_string: bool,
    is_escaped: bool,
    /// The number of bytes read, and of line ends in them.
    byte: u64,
    lines: u64,
}

/// The token that may come next, apart from blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Array,
    FirstElement,
    Element,
    /// The rest of an element.
    Within,
    Comma,
    /// Nothing.
    End,
}

impl Elements {
    pub(super) fn new() -> Self {
        Self { next: Next::Array, depth: 0, in_string: false, is_escaped: false, byte: 0, lines: 0 }
    }

    /// Turns the next bytes into lines in place, so that each element keeps its offset. An error says what is wrong,
    /// and where.
    pub(super) fn take(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string && !self.is_escaped {
                at += memchr3(b'"', b'\\', b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            }
            if let Some(byte) = bytes.get_mut(at)
                && let Err(said) = self.follow(byte)
            {
                self.byte += at as u64;
                return Err(self.at(said));
            }
            at += 1;
        }
        self.byte += bytes.len() as u64;
        Ok(())
    }

    fn follow(&mut self, byte: &mut u8) -> Result<(), &'static str> {
        if *byte == b'\n' {
            self.lines += 1;
        }
        if self.in_string {
            self.in_string = self.is_escaped || *byte != b'"';
            self.is_escaped = !self.is_escaped && *byte == b'\\';
            return Ok(());
        }
        match (self.next, *byte) {
            (_, b'\n') => *byte = b' ',
            (_, b' ' | b'\t' | b'\r') => {}
            (Next::Array, b'[') => (self.next, *byte) = (Next::FirstElement, b' '),
            (Next::FirstElement | Next::Comma, b']') => (self.next, *byte) = (Next::End, b' '),
            (Next::FirstElement | Next::Element, b'{') => (self.next, self.depth) = (Next::Within, 1),
            (Next::Within, b'"') => self.in_string = true,
            (Next::Within, b'{' | b'[') => self.depth += 1,
            (Next::Within, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.next = Next::Comma;
                }
            }
            (Next::Within, _) => {}
            (Next::Comma, b',') => (self.next, *byte) = (Next::Element, b'\n'),
            (Next::Array, _) => {
                return Err("it is no array of JSON: leave format.newline_delimited out if each line is an object");
            }
            (Next::FirstElement | Next::Element, _) => {
                return Err("this is no object, and each element of the array must be one: correct it");
            }
            (Next::Comma, _) => return Err("neither a comma nor the end of the array: correct it"),
            (Next::End, _) => return Err("this stands behind the end of the array: a file is one array; correct it"),
        }
        Ok(())
    }

    /// Fails if the array has not ended.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.next == Next::End {
            return Ok(());
        }
        Err(self.at("the file ends before its array of JSON does: it may be cut off; fetch it again"))
    }

    fn at(&self, said: &str) -> String {
        format!("{}: {said}", Position::of_byte(Some(self.lines + 1), self.byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of an array that arrives in pieces of some length.
    fn lines(array: &str, piece: usize) -> Result<String, String> {
        let (mut elements, mut bytes) = (Elements::new(), array.as_bytes().to_vec());
        for piece in bytes.chunks_mut(piece) {
            elements.take(piece)?;
        }
        elements.end()?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn an_array_is_all_of_a_file_or_an_error() {
        for (array, expected) in [
            ("[]", Ok("  ")),
            (" [{\"a\":1},{\"a\":2}]\n", Ok("  {\"a\":1}\n{\"a\":2}  ")),
            ("[{\"a\":\n[{},1]}\n,\n{}]", Ok(" {\"a\": [{},1]} \n {} ")),
            (r#"[{"a,]":"\\\"},["},{}]"#, Ok(" {\"a,]\":\"\\\\\\\"},[\"}\n{} ")),
            ("", Err("line 1, byte 0: the file ends")),
            ("{\"a\":1}", Err("line 1, byte 0: it is no array")),
            ("[{}][{}]", Err("line 1, byte 4: this stands behind")),
            ("[{}]\n\njunk", Err("line 3, byte 6: this stands behind")),
            ("[{},\n{}", Err("line 2, byte 7: the file ends")),
            ("[{},\n{\"a\":\"", Err("line 2, byte 11: the file ends")),
            ("[{},]", Err("line 1, byte 4: this is no object")),
            ("[,{}]", Err("line 1, byte 1: this is no object")),
            ("[{},\n1]", Err("line 2, byte 5: this is no object")),
            ("[{} {}]", Err("line 1, byte 4: neither a comma")),
        ] {
            for piece in 1..=array.len().max(1) {
                let found = lines(array, piece);
                match expected {
                    Ok(expected) => assert_eq!(found.as_deref(), Ok(expected), "{array:?}, {piece}"),
                    Err(said) => assert!(found.unwrap_err().starts_with(&format!(", {said}")), "{array:?}, {piece}"),
                }
            }
        }
    }
}
