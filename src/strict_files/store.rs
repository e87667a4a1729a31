//! An object store that returns the decompressed content of files, within limits.

use std::fmt::{self, Display};
use std::future::ready;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::{Buf, Bytes, BytesMut};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result as DataFusionResult;
use datafusion::common::parsers::CompressionTypeVariant as Variant;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::error::DataFusionError;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc::channel;
use tokio::task::spawn_blocking;

use super::Limits;
use super::array::Elements;
use super::header::checked;
use crate::records::{
    BYTE_ORDER_MARK, Compression, FREE_GROWTH, Grown, MOST_WINDOW, Position, Records, Syntax, lines, unreadable,
    wide_encoding,
};
use crate::store::{Explained, place_of};

/// The number of bytes decompressed at a time, and the number of such pieces that may wait to be read.
const PIECE: usize = 64 << 10;
const PIECES_AHEAD: usize = 4;

/// A store that reads the files of another store.
#[derive(Clone)]
pub(super) struct DecodingStore {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) compression: FileCompressionType,
    pub(super) syntax: Syntax,
    pub(super) limits: Limits,
    /// The number of records after which a file ends, if that is limited. It then also ends once it has [`FREE_GROWTH`]
    /// bytes.
    pub(super) enough: Option<usize>,
    /// The columns that a table declares and that the headers of the files must match.
    pub(super) declared: Option<SchemaRef>,
    /// The part of a file that was read last, which the next read may continue.
    pub(super) last: Arc<Mutex<Option<Part>>>,
}

/// A part of a file that was read to its end.
pub(super) struct Part {
    key: Key,
    range: Range<u64>,
    records: Records,
}

impl DecodingStore {
    /// Returns the name of a file for messages.
    pub(super) fn name(&self, key: &Key) -> String {
        place_of(&self.store, key)
    }

    /// Returns the number of lines of a file that end before a byte.
    pub(super) async fn lines_before(&self, key: &Key, byte: u64) -> Result<u64> {
        let limits = Limits { max_record_bytes: usize::MAX, ..self.limits };
        let as_it_is = Self { syntax: Syntax::Lines, limits, enough: None, ..self.clone() };
        let mut pieces = as_it_is.get_opts(key, GetOptions::default()).await?.into_stream();
        let (mut found, mut left) = (0, usize::try_from(byte).unwrap_or(usize::MAX));
        while left > 0
            && let Some(piece) = pieces.try_next().await?
        {
            let before = &piece[..left.min(piece.len())];
            (found, left) = (found + lines(before), left - before.len());
        }
        Ok(found)
    }

    /// Applies the limits to the result of a read.
    fn limit(&self, key: &Key, got: GetResult) -> DataFusionResult<GetResult> {
        let name = self.name(key);
        let range = got.range.clone();
        let taken = Arc::new(AtomicU64::new(0));
        let is_packed = self.compression.is_compressed();
        let pieces: BoxStream<'static, io::Result<Bytes>> = match got.payload {
            GetResultPayload::File(mut file, _) => {
                file.seek(SeekFrom::Start(range.start))?;
                let file = file.take(range.end - range.start);
                let decoder = if is_packed {
                    known(self.compression).decoder(file, &taken, MOST_WINDOW)?
                } else {
                    Box::new(file)
                };
                stream::iter(Pieces { reader: decoder, failed: None }).boxed()
            }
            GetResultPayload::Stream(stream) if is_packed => self.unpack_ahead(stream, &taken),
            GetResultPayload::Stream(stream) => stream.map_err(io::Error::other).boxed(),
        };
        let pieces = if range.start == 0 { begun(pieces, self.syntax, name.clone()).boxed() } else { pieces };
        let pieces = match &self.declared {
            Some(columns) if range.start == 0 => {
                let (name, columns, longest) = (name.clone(), Arc::clone(columns), self.limits.max_record_bytes);
                let failed = move |said| io::Error::other(refused(format!("{name}: {said}")));
                checked(pieces, self.syntax, columns, longest, failed).boxed()
            }
            _ => pieces,
        };
        let pieces = if self.syntax == Syntax::Array { elements(pieces, name.clone()).boxed() } else { pieces };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (first, records) = match last.filter(|last| last.key == *key && last.range.end == range.start) {
            Some(last) => (last.range.start, last.records),
            None => (range.start, Records::new(self.syntax, self.limits.max_record_bytes, range.start == 0)),
        };
        let watch = Watch {
            name,
            limits: self.limits,
            records,
            first,
            packed: is_packed.then_some((self.compression, taken)),
            bytes: 0,
        };
        let (enough, key, slot) = (self.enough.unwrap_or(usize::MAX), key.clone(), Arc::clone(&self.last));
        let payload = stream::unfold(Some((pieces, watch)), move |state| {
            let (key, end, slot) = (key.clone(), range.end, Arc::clone(&slot));
            async move {
                let (mut pieces, mut watch) = state?;
                let left = enough.saturating_sub(watch.records.ended);
                if left == 0 {
                    return None;
                }
                let Some(piece) = pieces.next().await else {
                    if let Some(error) = watch.never_closed() {
                        return Some((Err(error), None));
                    }
                    let part = Part { key, range: watch.first..end, records: watch.records };
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
                    return None;
                };
                let is_last = enough < usize::MAX && (left == 1 || watch.bytes >= FREE_GROWTH);
                let piece = piece.map_err(|error| watch.unreadable(error));
                match piece.and_then(|piece| watch.take(piece, if is_last { 1 } else { left })) {
                    Ok(piece) if is_last && watch.records.end == watch.bytes => Some((Ok(piece), None)),
                    Ok(piece) => Some((Ok(piece), Some((pieces, watch)))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        });
        // Fused, since a caller that collects a short stream polls it again after its end.
        let payload = payload.fuse().boxed();
        Ok(GetResult { payload: GetResultPayload::Stream(payload), ..got })
    }

    /// Decompresses a stream on a thread of its own, which may wait for the stream.
    fn unpack_ahead(
        &self,
        stream: BoxStream<'static, Result<Bytes>>,
        taken: &Arc<AtomicU64>,
    ) -> BoxStream<'static, io::Result<Bytes>> {
        let (send, receive) = channel(PIECES_AHEAD);
        let (compression, taken) = (known(self.compression), Arc::clone(taken));
        let source = Waiting { runtime: Handle::current(), stream, piece: Bytes::new() };
        spawn_blocking(move || {
            let pieces = match compression.decoder(source, &taken, MOST_WINDOW) {
                Ok(decoder) => Pieces { reader: decoder, failed: None },
                Err(error) => Pieces { reader: Box::new(io::empty()), failed: Some(error) },
            };
            for piece in pieces {
                // The receiver is gone if this fails.
                if send.blocking_send(piece).is_err() {
                    break;
                }
            }
        });
        stream::unfold(receive, |mut receive| async { receive.recv().await.map(|piece| (piece, receive)) }).boxed()
    }
}

/// The size of [`blocks`], in bytes.
const BLOCK: usize = 4 << 20;

/// Returns the bytes of a file in blocks that depend only on the bytes, and not on how they arrive.
pub(super) fn blocks(pieces: BoxStream<'static, Result<Bytes>>) -> impl Stream<Item = Result<Bytes>> {
    stream::try_unfold((pieces, BytesMut::new()), |(mut pieces, mut held)| async move {
        while held.len() < BLOCK
            && let Some(piece) = pieces.try_next().await?
        {
            held.extend_from_slice(&piece);
        }
        let block = held.split_to(held.len().min(BLOCK)).freeze();
        Ok((!block.is_empty()).then_some((block, (pieces, held))))
    })
}

/// Cuts the pieces of a file anew, so that they end where records end.
pub(super) fn at_ends(
    pieces: impl Stream<Item = Result<Bytes>>,
    syntax: Syntax,
) -> impl Stream<Item = DataFusionResult<Bytes>> {
    let mut records = Records::of_any_length(syntax);
    let mut held = Vec::new();
    let pieces = pieces.map_ok(Some).chain(stream::iter([Ok(None)]));
    let pieces = pieces.map(move |piece| {
        let Some(piece) = piece? else { return Ok(mem::take(&mut held).into()) };
        held.extend_from_slice(&piece);
        let _ = records.take(&piece, usize::MAX);
        let begun = records.begun();
        if begun == held.len() {
            return Ok(Bytes::new());
        }
        let begun = held.split_off(held.len() - begun);
        Ok(mem::replace(&mut held, begun).into())
    });
    pieces.try_filter(|piece: &Bytes| ready(!piece.is_empty()))
}

/// The checks of the content of a file while it is read.
struct Watch {
    name: String,
    limits: Limits,
    records: Records,
    /// The offset in the file at which the content begins.
    first: u64,
    /// The compression of a packed file, and the number of its bytes that were read.
    packed: Option<(FileCompressionType, Arc<AtomicU64>)>,
    bytes: u64,
}

impl Watch {
    /// Returns the bytes of a piece up to the end of at most `most` records, if the limits allow them.
    fn take(&mut self, piece: Bytes, most: usize) -> Result<Bytes> {
        let taken = self.records.take(&piece, most).map_err(|_| self.too_long())?;
        self.bytes += taken as u64;
        if let Some((compression, taken)) = &self.packed {
            let (name, from) = (known(*compression).name(), taken.load(Ordering::Relaxed));
            let grown = Grown { from, to: self.bytes, max_ratio: self.limits.max_ratio };
            if grown.is_too_much() {
                let remedy = "if you trust it, raise the limit with `max_ratio`";
                return Err(refused(format!("{}: the {name} data grow too much: {grown}; {remedy}", self.name)));
            }
        }
        Ok(if taken == piece.len() { piece } else { piece.slice(..taken) })
    }

    /// Returns the error of a piece that cannot be read. An error of a store, or of ibid, is returned unchanged.
    fn unreadable(&self, error: io::Error) -> Error {
        let error = match error.downcast::<Error>() {
            Ok(said) => return said,
            Err(error) => error,
        };
        let (reason, remedy) = match &self.packed {
            Some((compression, taken)) => {
                let rest = "read what is there with ibid ingest --on-error skip";
                unreadable(known(*compression).name(), taken.load(Ordering::Relaxed), &error, rest)
            }
            None => (format!("cannot read it: {error}"), "check the disk".to_owned()),
        };
        refused(format!("{}, byte {}: {reason}; {remedy}", self.name, self.first + self.bytes))
    }

    fn too_long(&self) -> Error {
        let what = match self.records.syntax {
            Syntax::Json | Syntax::Lines => "line",
            Syntax::Array => "element of the array",
            Syntax::Csv { .. } => "row",
        };
        refused(format!(
            "{}: the {what} is longer than {} bytes: check the file, or raise `max_record_bytes`",
            self.place(self.records.lines, self.records.end),
            self.limits.max_record_bytes
        ))
    }

    /// Returns the error of a quote that is still open at the end of the file, so that everything after it is one
    /// value.
    fn never_closed(&self) -> Option<Error> {
        // A range that begins in the middle of a file may begin within quotes, until a record has ended.
        let quote = self.records.open_quote().filter(|_| self.first == 0 || self.records.ended > 0)?;
        let place = self.place(quote.lines, quote.byte);
        Some(refused(format!("{place}: the quote that opens here is never closed: check the file")))
    }

    /// Returns the place of a byte, after this number of line ends.
    fn place(&self, lines: u64, byte: u64) -> String {
        // The lines before a range in the middle are not counted, and the lines of an array are not those of the file.
        let is_counted = self.first == 0 && self.records.syntax != Syntax::Array;
        format!("{}{}", self.name, Position::of_byte(is_counted.then_some(lines + 1), self.first + byte))
    }
}

fn refused(said: String) -> Error {
    Error::Generic { store: "limits", source: Box::new(Explained::new(said)) }
}

/// Returns a compression of DataFusion as the readers of ibid know it.
fn known(compression: FileCompressionType) -> Compression {
    match compression.get_variant() {
        Variant::GZIP => Compression::Gzip,
        Variant::ZSTD => Compression::Zstd,
        Variant::BZIP2 => Compression::Bzip2,
        Variant::UNCOMPRESSED => Compression::Plain,
        Variant::XZ => Compression::Xz,
    }
}

/// Returns the pieces of a file from its beginning, with blanks in place of a byte order mark, which the JSON reader
/// does not know.
fn begun(
    pieces: BoxStream<'static, io::Result<Bytes>>,
    syntax: Syntax,
    name: String,
) -> impl Stream<Item = io::Result<Bytes>> {
    let mut pieces = pieces.fuse();
    let head = async move {
        let mut head = BytesMut::new();
        while head.len() < 4
            && let Some(piece) = pieces.try_next().await?
        {
            head.extend_from_slice(&piece);
        }
        if let Some(encoding) = wide_encoding(&head) {
            let said = format!(
                "{name}, byte 0: it begins as a text in {encoding} does; convert it to UTF-8 (iconv -f {encoding} -t \
                 UTF-8)"
            );
            return Err(io::Error::other(refused(said)));
        }
        if matches!(syntax, Syntax::Json | Syntax::Array) && head.starts_with(&BYTE_ORDER_MARK) {
            head[..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        if syntax == Syntax::Json && head.trim_ascii_start().starts_with(b"[") {
            let said = format!(
                "{name}, line 1, byte 0: it begins as an array of JSON does: CREATE EXTERNAL TABLE … OPTIONS \
                 ('format.newline_delimited' 'false') reads one whose elements are objects"
            );
            return Err(io::Error::other(refused(said)));
        }
        let head = if head.is_empty() { None } else { Some(Ok(head.freeze())) };
        Ok(stream::iter(head).chain(pieces))
    };
    stream::once(head).try_flatten()
}

/// Returns the elements of a JSON array as lines.
fn elements(pieces: BoxStream<'static, io::Result<Bytes>>, name: String) -> impl Stream<Item = io::Result<Bytes>> {
    let mut elements = Elements::new();
    let pieces = pieces.map_ok(Some).chain(stream::iter([Ok(None)]));
    pieces.map(move |piece| {
        let failed = |said| io::Error::other(refused(format!("{name}{said}")));
        let Some(piece) = piece? else {
            elements.end().map_err(failed)?;
            return Ok(Bytes::new());
        };
        let mut piece = BytesMut::from(piece);
        elements.take(&mut piece).map_err(failed)?;
        Ok(piece.freeze())
    })
}

/// A blocking reader of a stream.
struct Waiting {
    runtime: Handle,
    stream: BoxStream<'static, Result<Bytes>>,
    piece: Bytes,
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.runtime.block_on(self.stream.try_next()).map_err(io::Error::other)? {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let length = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

/// An iterator over the content of a reader, piece by piece, up to where the reader fails.
struct Pieces {
    reader: Box<dyn Read + Send>,
    failed: Option<io::Error>,
}

impl Iterator for Pieces {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = Vec::with_capacity(PIECE);
        if self.failed.is_none() {
            self.failed = self.reader.by_ref().take(PIECE as u64).read_to_end(&mut piece).err();
        }
        if piece.is_empty() { self.failed.take().map(Err) } else { Some(Ok(piece.into())) }
    }
}

/// Returns a conversion of errors that keeps the error of a store unchanged.
fn unwrapped(name: &str) -> impl Fn(DataFusionError) -> Error + use<> {
    let name = name.to_owned();
    move |error| match error {
        DataFusionError::ObjectStore(error) => *error,
        error => refused(format!("cannot read {name}: {error}")),
    }
}

impl Display for DecodingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.store, f)
    }
}

impl fmt::Debug for DecodingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

#[async_trait]
impl ObjectStore for DecodingStore {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(key, payload, options).await
    }

    async fn put_multipart_opts(&self, key: &Key, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let has_bytes = !options.head;
        let got = self.store.get_opts(key, options).await?;
        if has_bytes { self.limit(key, got).map_err(unwrapped(&self.name(key))) } else { Ok(got) }
    }

    async fn get_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.store.get_ranges(key, ranges).await
    }

    fn delete_stream(&self, keys: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        self.store.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
