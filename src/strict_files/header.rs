//! The check that the header of a CSV file has columns where a table declares them: readers assign values by position
//! alone.

use std::io;

use bytes::Bytes;
use datafusion::arrow::datatypes::SchemaRef;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};

use super::fields::Fields;
use crate::records::Syntax;

/// The names in the header of a file, as far as it was read.
struct Header {
    fields: Fields,
    names: Vec<String>,
    is_whole: bool,
}

impl Header {
    fn new(syntax: Syntax) -> Self {
        Self { fields: Fields::new(syntax), names: Vec::new(), is_whole: false }
    }

    /// Takes the next bytes of the file; ignores those after the header.
    fn take(&mut self, mut bytes: &[u8]) {
        while !self.is_whole
            && let Some((field, is_last)) = self.fields.next(&mut bytes)
        {
            self.names.push(String::from_utf8_lossy(field).into_owned());
            self.is_whole = is_last;
        }
    }

    /// Returns what is wrong if columns are declared at other places than the header has them at.
    fn refuses(&self, columns: &SchemaRef) -> Option<String> {
        let is_at = |place: usize, name: &str| self.names.get(place).is_some_and(|it| it.eq_ignore_ascii_case(name));
        let declared = columns.fields().iter().map(|field| field.name().as_str());
        let is_elsewhere = |(place, name): &(usize, &str)| {
            !is_at(*place, name) && (0..self.names.len()).any(|other| is_at(other, name))
        };
        let (place, name) = declared.enumerate().find(is_elsewhere)?;
        Some(format!(
            "{name} is declared as column {}, and the header has {}: declare all in that order, since CSV is read by it",
            place + 1,
            self.names.join(", ")
        ))
    }
}

/// Returns the pieces of a file from its beginning, or an error if its header does not fit these columns. Stops reading
/// the header after more than `longest` bytes, and then checks the names so far.
pub(super) fn checked(
    pieces: BoxStream<'static, io::Result<Bytes>>,
    syntax: Syntax,
    columns: SchemaRef,
    longest: usize,
    refused: impl FnOnce(String) -> io::Error + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> {
    let mut pieces = pieces.fuse();
    let head = async move {
        let (mut header, mut read, mut length) = (Header::new(syntax), Vec::new(), 0);
        while !header.is_whole
            && length <= longest
            && let Some(piece) = pieces.try_next().await?
        {
            header.take(&piece);
            length += piece.len();
            read.push(Ok(piece));
        }
        match header.refuses(&columns) {
            Some(said) => Err(refused(said)),
            None => Ok(stream::iter(read).chain(pieces)),
        }
    };
    stream::once(head).try_flatten()
}
