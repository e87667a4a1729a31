//! A store that gives files as they are once they are decompressed, within limits.

use std::fmt::{self, Display};
use std::future::ready;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::Result as DataFusionResult;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::error::DataFusionError;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::Limits;
use super::records::{Records, Syntax};
use crate::corpus::FREE_GROWTH;
use crate::store::Explained;

/// How much is decompressed at a time, in bytes.
const PIECE: usize = 64 << 10;

/// Reads files of another store.
#[derive(Clone)]
pub(super) struct LimitedStore {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) compression: FileCompressionType,
    pub(super) syntax: Syntax,
    pub(super) limits: Limits,
    /// How many records are enough; then, or once it has [`FREE_GROWTH`] bytes, a file ends.
    pub(super) enough: Option<usize>,
    /// The part of a file that was read last, which the next one may go on with.
    pub(super) last: Arc<Mutex<Option<Part>>>,
}

/// A part of a file, to its end.
pub(super) struct Part {
    key: Key,
    range: Range<u64>,
    records: Records,
}

impl LimitedStore {
    /// What was got, within the limits.
    fn limit(&self, key: &Key, got: GetResult) -> DataFusionResult<GetResult> {
        let name = match &got.payload {
            GetResultPayload::File(_, path) => path.display().to_string(),
            GetResultPayload::Stream(_) => key.to_string(),
        };
        let range = got.range.clone();
        let compressed = Arc::new(AtomicU64::new(0));
        let pieces: BoxStream<'static, Result<Bytes>> = match got.payload {
            GetResultPayload::File(mut file, _) => {
                file.seek(SeekFrom::Start(range.start))?;
                let counted = Counted { file: file.take(range.end - range.start), bytes: Arc::clone(&compressed) };
                let reader = self.compression.convert_read(counted)?;
                stream::iter(Pieces(reader)).map_err(not_readable(&name)).boxed()
            }
            GetResultPayload::Stream(stream) => {
                let bytes = Arc::clone(&compressed);
                let counted = stream.map_err(DataFusionError::from).inspect_ok(move |piece| {
                    bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
                });
                self.compression.convert_stream(counted.boxed())?.map_err(unwrapped(&name)).boxed()
            }
        };
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
            compressed: self.compression.is_compressed().then_some(compressed),
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
                match piece.and_then(|piece| watch.take(piece, if is_last { 1 } else { left })) {
                    Ok(piece) if is_last && watch.records.end == watch.bytes => Some((Ok(piece), None)),
                    Ok(piece) => Some((Ok(piece), Some((pieces, watch)))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        });
        let payload = payload.boxed();
        Ok(GetResult { payload: GetResultPayload::Stream(payload), ..got })
    }
}

/// The pieces of a file, cut anew where records end.
pub(super) fn at_ends(
    pieces: impl Stream<Item = Result<Bytes>>,
    syntax: Syntax,
) -> impl Stream<Item = DataFusionResult<Bytes>> {
    let mut records = Records::new(syntax, usize::MAX, true);
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

/// Looks at what comes of a file.
struct Watch {
    name: String,
    limits: Limits,
    records: Records,
    /// Where in the file it begins.
    first: u64,
    /// How much was read of a compressed file.
    compressed: Option<Arc<AtomicU64>>,
    bytes: u64,
}

impl Watch {
    /// So many records of a piece, if the limits allow them.
    fn take(&mut self, piece: Bytes, most: usize) -> Result<Bytes> {
        let taken = self.records.take(&piece, most).map_err(|_| self.too_long())?;
        self.bytes += taken as u64;
        if let Some(compressed) = &self.compressed {
            let (compressed, most) = (compressed.load(Ordering::Relaxed), self.limits.max_ratio);
            if self.bytes > FREE_GROWTH && self.bytes / most >= compressed {
                return Err(refused(format!(
                    "{}: grows too much: {} bytes come of the first {compressed} compressed ones, more than {most} of one: \
                     check the file, or raise --max-ratio",
                    self.name, self.bytes
                )));
            }
        }
        Ok(if taken == piece.len() { piece } else { piece.slice(..taken) })
    }

    fn too_long(&self) -> Error {
        let what = match self.records.syntax {
            Syntax::Lines => "line",
            Syntax::Csv { .. } => "row",
        };
        refused(format!(
            "{}: the {what} is longer than {} bytes: check the file, or raise --max-record-bytes",
            self.place(self.records.lines, self.records.end),
            self.limits.max_record_bytes
        ))
    }

    /// The error of a quote that is open where the file ends, with all that stands behind it in one value.
    fn never_closed(&self) -> Option<Error> {
        // What begins in the middle of a file may begin within quotes, until a record has ended.
        let quote = self.records.open_quote().filter(|_| self.first == 0 || self.records.ended > 0)?;
        let place = self.place(quote.lines, quote.byte);
        Some(refused(format!("{place}: the quote that opens here is never closed: check the file")))
    }

    /// A place behind so many ends of lines.
    fn place(&self, lines: u64, byte: u64) -> String {
        // What begins in the middle has lines before it that nobody counted.
        let line = if self.first == 0 { format!(", line {}", lines + 1) } else { String::new() };
        format!("{}{line}, byte {}", self.name, self.first + byte)
    }
}

fn refused(said: String) -> Error {
    Error::Generic { store: "limits", source: Box::new(Explained::new(said)) }
}

/// Counts what is read of a file.
struct Counted<R> {
    file: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// What a reader has, piece by piece.
struct Pieces(Box<dyn Read + Send>);

impl Iterator for Pieces {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut piece = Vec::with_capacity(PIECE);
        match self.0.by_ref().take(PIECE as u64).read_to_end(&mut piece) {
            Ok(0) => None,
            Ok(_) => Some(Ok(piece.into())),
            Err(error) => Some(Err(error)),
        }
    }
}

fn not_readable(name: &str) -> impl Fn(io::Error) -> Error + use<> {
    let name = name.to_owned();
    move |error| refused(format!("cannot read {name}: {error}"))
}

/// What a store said stays what it said.
fn unwrapped(name: &str) -> impl Fn(DataFusionError) -> Error + use<> {
    let name = name.to_owned();
    move |error| match error {
        DataFusionError::ObjectStore(error) => *error,
        error => refused(format!("cannot read {name}: {error}")),
    }
}

impl Display for LimitedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.store, f)
    }
}

impl fmt::Debug for LimitedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

#[async_trait]
impl ObjectStore for LimitedStore {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(key, payload, options).await
    }

    async fn put_multipart_opts(&self, key: &Key, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        let has_bytes = !options.head;
        let got = self.store.get_opts(key, options).await?;
        if has_bytes { self.limit(key, got).map_err(unwrapped(key.as_ref())) } else { Ok(got) }
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
