//! The ends of records in the bytes of a file, and the limit of their length.

use std::mem;

use memchr::{memchr, memchr_iter, memchr2, memchr3};

use super::byte_order_mark::BYTE_ORDER_MARK;
use super::syntax::Syntax;

/// A scanner that follows the records of a file, piece by piece.
#[derive(Debug)]
pub(crate) struct Records {
    pub(crate) syntax: Syntax,
    longest: usize,
    /// The number of records that have ended, and the offset at which the last of them ended.
    pub(crate) ended: usize,
    pub(crate) end: u64,
    /// The number of line ends before `end`, and the number after it.
    pub(crate) lines: u64,
    open_lines: u64,
    read: u64,
    /// True if the current record was seen from its beginning. Other records may be of any length.
    is_whole: bool,
    /// The state that says whether a quote is open, and whether the next byte is escaped.
    within: Within,
    /// The offset of the last opening quote, and the number of line ends before it.
    quote: Quote,
    last: Option<u8>,
    /// The number of bytes of a byte order mark that the file begins with.
    mark: usize,
}

/// The place of an opening quote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) byte: u64,
    pub(crate) lines: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// A field without quotes, or between records.
    Bare,
    /// Inside quotes.
    Quotes,
    /// Inside quotes, after the byte that escapes the next one.
    Escape,
    /// A field after its last quote, unless another quote follows.
    Closed,
    /// A comment line.
    Comment,
}

/// The error of a record that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Records {
    /// Creates a scanner. `is_whole` says that the first bytes begin a record.
    pub(crate) fn new(syntax: Syntax, longest: usize, is_whole: bool) -> Self {
        let (ended, end, lines, open_lines, read, within, last) = (0, 0, 0, 0, 0, Within::Bare, None);
        let (quote, mark) = (Quote::default(), 0);
        Self { syntax, longest, ended, end, lines, open_lines, read, is_whole, within, quote, last, mark }
    }

    /// Creates a scanner of a file from its beginning, whose records may be of any length.
    pub(crate) fn of_any_length(syntax: Syntax) -> Self {
        Self::new(syntax, usize::MAX, true)
    }

    /// Scans the next bytes, up to the end of at most `most` records. Returns the number of bytes scanned.
    pub(crate) fn take(&mut self, bytes: &[u8], most: usize) -> Result<usize, TooLong> {
        let before = self.read;
        let taken = self.follow(bytes, most);
        let ended = usize::try_from(self.end.saturating_sub(before)).unwrap_or(usize::MAX);
        if ended > 0 {
            self.lines += mem::take(&mut self.open_lines) + lines(&bytes[..ended]);
        }
        if let Some(quote) = self.open_quote()
            && let Some(at) = quote.byte.checked_sub(before).and_then(|at| usize::try_from(at).ok())
        {
            self.quote.lines = self.lines + self.open_lines + lines(&bytes[ended..at]);
        }
        if let Ok(taken) = taken {
            self.open_lines += lines(&bytes[ended..taken]);
        }
        taken
    }

    /// Returns the line of the next byte, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.lines + self.open_lines + 1
    }

    /// Returns the line of the last byte, from 1.
    pub(crate) fn last_line(&self) -> u64 {
        self.line() - u64::from(self.last == Some(b'\n'))
    }

    /// Returns the quote that is still open, if one is.
    pub(crate) fn open_quote(&self) -> Option<Quote> {
        matches!(self.within, Within::Quotes | Within::Escape).then_some(self.quote)
    }

    fn follow(&mut self, bytes: &[u8], most: usize) -> Result<usize, TooLong> {
        let mut at = 0;
        let last_record = self.ended.saturating_add(most);
        while self.ended < last_record {
            let Some(end) = self.next_end(bytes, at) else {
                at = bytes.len();
                break;
            };
            at = end;
            self.ends_at(self.read + end as u64)?;
        }
        self.read += at as u64;
        if at > 0 {
            self.last = bytes.get(at - 1).copied();
        }
        self.check(self.read)?;
        Ok(at)
    }

    /// Returns the number of bytes of the current record so far.
    pub(crate) fn begun(&self) -> usize {
        usize::try_from(self.read - self.end).unwrap_or(usize::MAX)
    }

    fn ends_at(&mut self, end: u64) -> Result<(), TooLong> {
        self.check(end)?;
        (self.end, self.ended, self.is_whole) = (end, self.ended + 1, true);
        Ok(())
    }

    /// Fails if the current record is too long when it reaches `to`.
    fn check(&self, to: u64) -> Result<(), TooLong> {
        if self.is_whole && to - self.end > self.longest as u64 { Err(TooLong) } else { Ok(()) }
    }

    /// Returns the end of the record that continues at `at`, if it ends in these bytes.
    fn next_end(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        let Syntax::Csv { quote, escape, is_doubled, delimiter, terminator, .. } = self.syntax else {
            return memchr(b'\n', &bytes[at..]).map(|i| at + i + 1);
        };
        // A byte order mark may precede the first record of a file.
        while self.read + at as u64 == self.mark as u64
            && let (Some(byte), Some(of_mark)) = (bytes.get(at), BYTE_ORDER_MARK.get(self.mark))
            && byte == of_mark
        {
            (self.mark, at) = (self.mark + 1, at + 1);
        }
        let mark = if self.mark == BYTE_ORDER_MARK.len() { self.mark as u64 } else { 0 };
        if self.is_whole && self.read + at as u64 == self.end.max(mark) && self.syntax.is_comment(&bytes[at..]) {
            self.within = Within::Comment;
        }
        let is_end = |byte: u8| terminator.map_or(byte == b'\n' || byte == b'\r', |terminator| byte == terminator);
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.within {
                Within::Escape => {
                    self.within = Within::Quotes;
                    at += 1;
                }
                Within::Quotes => {
                    let found = memchr2(quote, escape.unwrap_or(quote), rest)?;
                    self.within = match rest[found] == quote {
                        true if is_doubled => Within::Closed,
                        true => Within::Bare,
                        false => Within::Escape,
                    };
                    at += found + 1;
                }
                Within::Comment => {
                    let found = memchr(b'\n', rest)?;
                    self.within = Within::Bare;
                    return Some(at + found + 1);
                }
                Within::Closed if rest[0] == quote => {
                    self.within = Within::Quotes;
                    at += 1;
                }
                Within::Closed | Within::Bare => {
                    self.within = Within::Bare;
                    let found = match terminator {
                        Some(terminator) => memchr2(quote, terminator, rest),
                        None => memchr3(quote, b'\n', b'\r', rest),
                    };
                    let found = at + found?;
                    at = found + 1;
                    if is_end(bytes[found]) {
                        return Some(at);
                    }
                    let is_first = self.read + found as u64 == mark;
                    let before = if found == 0 { self.last } else { Some(bytes[found - 1]) };
                    if is_first || before.is_none_or(|before| before == delimiter || is_end(before)) {
                        self.within = Within::Quotes;
                        self.quote.byte = self.read + found as u64;
                    }
                }
            }
        }
        None
    }
}

/// Returns the number of line ends.
pub(crate) fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CSV: Syntax = Syntax::Csv {
        quote: b'"',
        escape: None,
        is_doubled: true,
        delimiter: b',',
        terminator: None,
        comment: Some(b'#'),
    };

    /// Returns where records end if the bytes arrive in pieces of some length. Checks the number of lines before each
    /// end.
    fn ends(syntax: Syntax, bytes: &[u8], piece: usize) -> Vec<u64> {
        let mut records = Records::of_any_length(syntax);
        let mut ends = Vec::new();
        for mut piece in bytes.chunks(piece) {
            while !piece.is_empty() {
                let taken = records.take(piece, 1).unwrap();
                piece = &piece[taken..];
                if ends.len() < records.ended {
                    ends.push(records.end);
                    assert_eq!(records.lines, lines(&bytes[..usize::try_from(records.end).unwrap()]));
                }
            }
        }
        ends
    }

    #[test]
    fn rows_end_outside_of_quotes() {
        for (rows, expected) in [
            ("a,b\n1,2\n", vec![4, 8]),
            ("\"a\nb\",c\nd\n", vec![8, 10]),
            ("\"a\"\"\nb\",c\nd\n", vec![10, 12]),
            // A quote within a field is a character.
            ("5\" disk,a\n6\" disk,b\n", vec![10, 20]),
            ("a\r\nb\r", vec![2, 3, 5]),
            // A quote in a comment is a character, and a comment begins at the first byte of a line.
            ("#\"\na#,\"\n#\"\n#,\"", vec![3, 11]),
            ("\u{feff}#,\"\n\"\n\"\n", vec![7, 11]),
            // A field begins after a byte order mark, but not after a part of one.
            ("\u{feff}\"a\n\",b\nc\n", vec![10, 12]),
            ("\u{fefe}\"a\n", vec![6]),
        ] {
            for piece in 1..=rows.len() {
                assert_eq!(ends(CSV, rows.as_bytes(), piece), expected, "{rows:?}, {piece}");
            }
        }
        let (escape, terminator) = (Some(b'\\'), Some(b'|'));
        let escaped =
            Syntax::Csv { quote: b'\'', escape, is_doubled: true, delimiter: b';', terminator, comment: None };
        assert_eq!(ends(escaped, b"a;'b\\'|'|c\n|", 3), [9, 12]);
        assert_eq!(ends(Syntax::Lines, b"\"a\nb\"\n", 2), [3, 6]);
    }

    #[test]
    fn a_quote_that_stays_open_is_known() {
        let quote = |byte, lines| Some(Quote { byte, lines });
        for (rows, expected) in [
            ("a,b\n1,\"x\n2,y\n", quote(6, 1)),
            ("a\n\"x\ny\",\"z\n\n", quote(8, 2)),
            ("\"\"\"", quote(0, 0)),
            ("a,\"b\"", None),
            ("5\" disk", None),
        ] {
            for piece in 1..=rows.len() {
                let mut records = Records::of_any_length(CSV);
                for piece in rows.as_bytes().chunks(piece) {
                    records.take(piece, usize::MAX).unwrap();
                }
                assert_eq!(records.open_quote(), expected, "{rows:?}, {piece}");
            }
        }
    }

    #[test]
    fn a_record_may_be_as_long_as_the_longest() {
        for (text, longest, expected) in
            [("abc\nd", 4, Ok(5)), ("abc\nd", 3, Err(TooLong)), ("a\nbcd", 3, Ok(5)), ("a\nbcd", 2, Err(TooLong))]
        {
            for syntax in [CSV, Syntax::Lines] {
                let take = |is_whole| Records::new(syntax, longest, is_whole).take(text.as_bytes(), usize::MAX);
                assert_eq!(take(true), expected, "{text:?} {longest}");
                // The first record continues one that was not seen from its beginning.
                assert_eq!(take(false).is_err(), text == "a\nbcd" && longest == 2, "{text:?} {longest}");
            }
        }
    }

    proptest! {
        /// Checks that rows end where the CSV reader ends them.
        #[test]
        fn rows_end_where_the_parser_ends_them(
            rows in "[a,\"\\\\\n\r#]{0,40}", piece in 1_usize..8, is_escaped: bool, is_doubled: bool,
        ) {
            let syntax = Syntax::Csv {
                quote: b'"',
                escape: is_escaped.then_some(b'\\'),
                is_doubled,
                delimiter: b',',
                terminator: None,
                comment: Some(b'#'),
            };
            let mut parser = syntax.fields();
            let (mut fields, mut field_ends) = ([0; 64], [0; 64]);
            let (mut at, mut parsed) = (0, Vec::new());
            loop {
                let (result, read, ..) = parser.read_record(&rows.as_bytes()[at..], &mut fields, &mut field_ends);
                at += read;
                match result {
                    csv_core::ReadRecordResult::Record => parsed.push(at as u64),
                    csv_core::ReadRecordResult::InputEmpty if at == rows.len() && read == 0 => break,
                    csv_core::ReadRecordResult::InputEmpty => {}
                    _ => break,
                }
            }
            let found = ends(syntax, rows.as_bytes(), piece);
            // The reader skips empty lines before a row, and a row may end with the file.
            for end in &parsed {
                prop_assert!(found.contains(end) || *end == rows.len() as u64, "{rows:?} {found:?} {end}");
            }
            // Other ends are those of empty lines and of comments.
            for (begin, end) in std::iter::once(&0).chain(&found).zip(&found) {
                let record = &rows[usize::try_from(*begin).unwrap()..usize::try_from(*end).unwrap()];
                let is_row = !matches!(record, "\n" | "\r") && !record.starts_with('#');
                prop_assert!(!is_row || parsed.contains(end), "{rows:?} {parsed:?} {end}");
            }
        }
    }
}
