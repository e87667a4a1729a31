//! Where in a file the record is that a reader refuses, which readers of Arrow know at most by its number.

use std::iter;
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

use super::records::{Records, Syntax, lines};
use super::store::{LimitedStore, at_ends};
use crate::store::Explained;

/// A record that a reader refuses.
pub(super) struct Refused {
    /// From 1.
    line: u64,
    /// From 0.
    byte: u64,
    reason: Reason,
}

/// Why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reason {
    said: String,
    what: What,
}

/// What cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A value as one of the type that its column has.
    Type,
    Row,
    Json,
}

impl Reason {
    /// What a reader of records says in an error, without the number of the record, which counts from where it began to read.
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
            Some((before, behind)) => before.to_owned() + behind.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => said.clone(),
        };
        Some(Self { said, what })
    }

    /// The error that says so of a file.
    pub(super) fn at(&self, place: &str) -> DataFusionError {
        let remedy = if self.what == What::Type {
            "columns and types are those of the first records of a file, and CREATE EXTERNAL TABLE can give others"
        } else {
            "correct it, or leave bad records out by ibid ingest --on-error skip"
        };
        DataFusionError::External(Box::new(Explained::new(format!("{place}: {}; {remedy}", self.said))))
    }
}

impl Refused {
    /// The first record of a file, from byte `from` on, that `read` refuses in a file that holds only it and those before it, or
    /// some of them. With `has_header` the first of all is always among these.
    pub(super) async fn find<'a>(
        files: &LimitedStore,
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
                probe.header = piece.split_to(end_of_header(files, &piece));
                (line, byte) = (line + lines(&probe.header), probe.header.len() as u64);
            }
            let is_before = byte + piece.len() as u64 <= from;
            if let Some(mut why) = if is_before { None } else { probe.reason(&piece).await? } {
                let ends = ends(files, &piece);
                // The records to `taken` are taken, those to `refused` are not.
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
                return Ok(Some(Self { line, byte, reason: why }));
            }
            (line, byte) = (line + lines(&piece), byte + piece.len() as u64);
        }
        Ok(None)
    }

    /// Whether a reader that said this may have met this record; a line that is no record of JSON may be a part of one.
    pub(super) fn may_be(&self, reason: &Reason) -> bool {
        self.reason.what != What::Json || self.reason == *reason
    }

    pub(super) fn explained(&self, file: &str) -> DataFusionError {
        self.reason.at(&format!("{file}, line {}, byte {}", self.line, self.byte))
    }
}

/// Reads records as if they were a file.
struct Probe<'a, F> {
    key: &'a Key,
    header: Bytes,
    read: F,
}

impl<'a, F: Fn(Arc<dyn ObjectStore>, ObjectMeta) -> BoxFuture<'a, Result<()>> + Sync> Probe<'_, F> {
    /// Why they are refused, if they are.
    async fn reason(&self, records: &[u8]) -> Result<Option<Reason>> {
        let memory = InMemory::new();
        memory.put(self.key, [&self.header, records].concat().into()).await?;
        let file = memory.head(self.key).await?;
        Ok((self.read)(Arc::new(memory), file).await.err().and_then(|error| Reason::of(&error)))
    }
}

/// Where the first row ends, with the comments before it.
fn end_of_header(files: &LimitedStore, piece: &[u8]) -> usize {
    let ends = ends(files, piece);
    let comments = iter::once(&0).chain(&ends).take_while(|at| files.syntax.is_comment(&piece[**at..])).count();
    ends.get(comments).copied().unwrap_or(piece.len())
}

/// Where the records end, with a last one that has no end.
fn ends(files: &LimitedStore, bytes: &[u8]) -> Vec<usize> {
    let mut records = Records::new(files.syntax, usize::MAX, true);
    let (mut ends, mut end) = (Vec::new(), 0);
    while end < bytes.len() {
        end += records.take(&bytes[end..], 1).unwrap_or(bytes.len() - end);
        ends.push(end);
    }
    ends
}
