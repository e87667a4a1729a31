//! The place in a file of a record that a reader refuses. Arrow's readers know at most the number of the record.

use std::iter;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use futures::TryStreamExt;
use futures::future::BoxFuture;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::store::{DecodingStore, at_ends};
use crate::records::{Position, Records, Syntax, lines};
use crate::store::Explained;

/// A record that a reader refuses.
pub(super) struct Refused {
    position: Position,
    reason: Reason,
}

/// The reason why a record is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reason {
    said: String,
    what: What,
}

/// The part that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A value that does not fit the type of its column.
    Type,
    Row,
    Json,
}

impl Reason {
    /// Returns the error message of a reader of records, without the numbers of the record and the column, which count
    /// from where the reader began.
    pub(super) fn of(error: &DataFusionError) -> Option<Self> {
        let DataFusionError::ArrowError(error, _) = error.find_root() else { return None };
        let (said, what) = match error.as_ref() {
            ArrowError::CsvError(said) => (said, What::Row),
            ArrowError::ParseError(said) => (said, What::Type),
            ArrowError::JsonError(said) if said.starts_with("whilst decoding field") => (said, What::Type),
            ArrowError::JsonError(said) => (said, What::Json),
            _ => return None,
        };
        let numbered = [" for line ", " at line "].iter().find_map(|number| said.split_once(number));
        let said = match numbered {
            Some((before, behind)) => {
                let is_digit = |c: char| c.is_ascii_digit();
                let behind = behind.trim_start_matches(is_digit);
                let column = behind.strip_prefix(" column ");
                before.to_owned() + column.map_or(behind, |column| column.trim_start_matches(is_digit))
            }
            None => said.clone(),
        };
        Some(Self { said, what })
    }

    /// Returns the error with this reason for a file.
    pub(super) fn at(&self, file: &str) -> DataFusionError {
        self.explained(file, Position::default())
    }

    /// Returns the error of [`Self::at`], with the place.
    fn explained(&self, file: &str, position: Position) -> DataFusionError {
        let remedy = if self.what == What::Type {
            "columns and types are those of the first records of a file, and CREATE EXTERNAL TABLE can give others"
        } else {
            "correct it, or leave bad records out by ibid ingest --on-error skip"
        };
        DataFusionError::External(Box::new(Explained::new(format!("{file}{position}: {}; {remedy}", self.said))))
    }
}

impl Refused {
    fn at(line: u64, byte: u64, reason: Reason) -> Self {
        Self { position: Position::of_byte(Some(line), byte), reason }
    }

    /// Returns the first record of a file, from byte `from` on, that `read` refuses. `read` gets files that hold only
    /// that record and records before it. With `has_header`, the first record of the file is always among these, and is
    /// checked alone first.
    pub(super) async fn find<'a>(
        files: &DecodingStore,
        key: &Key,
        has_header: bool,
        from: u64,
        read: impl Fn(Arc<dyn ObjectStore>, ObjectMeta) -> BoxFuture<'a, Result<()>> + Sync,
    ) -> Result<Option<Self>> {
        let mut pieces = pin!(at_ends(files.get(key).await?.into_stream(), files.syntax));
        let mut probe = Probe { key, header: Bytes::new(), read };
        let (mut line, mut byte) = (1, 0);
        while let Some(mut piece) = pieces.try_next().await? {
            if has_header && probe.header.is_empty() {
                let row = first_row(files.syntax, &piece);
                let header = piece.split_to(row.end);
                if let Some(reason) = probe.reason(&header).await? {
                    let at =
                        row.start + str::from_utf8(&header[row.start..]).err().map_or(0, |error| error.valid_up_to());
                    return Ok(Some(Self::at(line + lines(&header[..at]), at as u64, reason)));
                }
                probe.header = header;
                (line, byte) = (line + lines(&probe.header), probe.header.len() as u64);
            }
            let is_before = byte + piece.len() as u64 <= from;
            if let Some(mut why) = if is_before { None } else { probe.reason(&piece).await? } {
                let ends: Vec<_> = ends(files.syntax, &piece).collect();
                // `read` accepts the first `taken` records, and refuses the first `refused` ones.
                let (mut taken, mut refused) = (0, ends.len());
                while refused - taken > 1 {
                    let middle = taken.midpoint(refused);
                    match probe.reason(&piece[..ends[middle - 1]]).await? {
                        Some(reason) => (refused, why) = (middle, reason),
                        None => taken = middle,
                    }
                }
                let before = if taken == 0 { &[] } else { &piece[..ends[taken - 1]] };
                let (mut line, mut byte) = (line + lines(before), byte + before.len() as u64);
                if files.syntax == Syntax::Array {
                    let blanks = piece[before.len()..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    byte += blanks as u64;
                    line = 1 + files.lines_before(key, byte).await?;
                }
                return Ok(Some(Self::at(line, byte, why)));
            }
            (line, byte) = (line + lines(&piece), byte + piece.len() as u64);
        }
        Ok(None)
    }

    /// Returns true if a reader with this error may have met this record. A line that is not a JSON record may be a
    /// part of one.
    pub(super) fn may_be(&self, reason: &Reason) -> bool {
        self.reason.what != What::Json || self.reason == *reason
    }

    pub(super) fn explained(&self, file: &str) -> DataFusionError {
        self.reason.explained(file, self.position)
    }
}

/// A probe that reads records as if they were a file.
struct Probe<'a, F> {
    key: &'a Key,
    header: Bytes,
    read: F,
}

impl<'a, F: Fn(Arc<dyn ObjectStore>, ObjectMeta) -> BoxFuture<'a, Result<()>> + Sync> Probe<'_, F> {
    /// Returns why the records are refused, if they are.
    async fn reason(&self, records: &[u8]) -> Result<Option<Reason>> {
        let memory = InMemory::new();
        memory.put(self.key, [&self.header, records].concat().into()).await?;
        let file = memory.head(self.key).await?;
        Ok((self.read)(Arc::new(memory), file).await.err().and_then(|error| Reason::of(&error)))
    }
}

/// Returns the range of the first row of CSV, after comments and empty lines.
pub(super) fn first_row(syntax: Syntax, bytes: &[u8]) -> Range<usize> {
    let terminator = if let Syntax::Csv { terminator, .. } = syntax { terminator } else { None };
    let is_end = |byte: u8| terminator.map_or(matches!(byte, b'\n' | b'\r'), |terminator| byte == terminator);
    let is_row = |line: &[u8]| !matches!(line, [byte] if is_end(*byte)) && !syntax.is_comment(line);
    let mut begin = 0;
    for end in ends(syntax, bytes) {
        if is_row(&bytes[begin..end]) {
            return begin..end;
        }
        begin = end;
    }
    begin..begin
}

/// Returns where the records end, including a last one that has no end.
fn ends(syntax: Syntax, bytes: &[u8]) -> impl Iterator<Item = usize> {
    let (mut records, mut end) = (Records::of_any_length(syntax), 0);
    iter::from_fn(move || {
        let rest = bytes.get(end..).filter(|rest| !rest.is_empty())?;
        end += records.take(rest, 1).unwrap_or(rest.len());
        Some(end)
    })
}

#[cfg(test)]
mod tests {
    use datafusion::common::config::CsvOptions;

    use super::*;

    #[test]
    fn the_first_row_is_behind_comments_and_empty_lines() {
        let of = |terminator| Syntax::of_csv(&CsvOptions { terminator, comment: Some(b'#'), ..CsvOptions::default() });
        for (terminator, rows, expected) in [
            (None, "a,b\n1,2\n", 0..4),
            (None, "\r\n\n#c\na,\"b\nc\"\n1,2\n", 6..14),
            (None, "\na", 1..2),
            (None, "#c\n\n", 4..4),
            (None, "", 0..0),
            (Some(b';'), ";\na;1;", 1..4),
        ] {
            assert_eq!(first_row(of(terminator), rows.as_bytes()), expected, "{rows:?}");
        }
    }
}
