//! Checks of Parquet pages before they are decoded.
//!
//! The Parquet reader allocates as much as a page header declares, up to 2 GiB in each column; for gzip pages, as much
//! as they decompress to; and memory for all values of a list at once, although a few bytes can encode billions of
//! values. [`Pages`] therefore sits between the reader and the file. It refuses pages that grow too much, that are
//! larger than any writer makes them, or that would exceed the memory for pages at once.

use std::collections::HashMap;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};

use crate::records::Grown;
use crate::store;
use crate::thrift::{Header, invalid, read_header};

/// The largest page that is read. Writers make pages of 1 MiB, some of 100 MiB.
pub(super) const PAGE_BYTES: u64 = 512 << 20;

/// The largest page of prefix-compressed values (`DELTA_BYTE_ARRAY`): each of its values can be as long as the page.
const PREFIXED_PAGE_BYTES: u64 = 16 << 20;

/// The longest page header; a header can hold the minimum and the maximum value.
const HEADER_BYTES: u64 = 16 << 20;

/// The maximum number of bytes that gzip expands one byte to.
const GZIP_RATIO: u64 = 1032;

/// The approximate memory of a list value, including the levels that assign it to a list.
const LISTED_BYTES: u64 = 8;

/// Returns true if the values of a column are prefix-compressed, that is each is encoded as a difference from the one
/// before.
pub(super) fn is_prefixed(encodings: impl IntoIterator<Item = Encoding>) -> bool {
    encodings.into_iter().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
}

/// A row group whose pages are checked.
pub(super) struct Pages {
    source: store::Source,
    checks: Arc<Checks>,
}

/// The limits and the state of the page checks of a row group.
pub(super) struct Checks {
    chunks: Vec<Chunk>,
    max_ratio: u64,
    /// Upper bound of the bytes of pages in memory at once.
    most_held: u64,
    /// The number of rows read at once.
    rows: u64,
    state: Mutex<State>,
}

/// The reason why a page was refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refused {
    Growth(Grown),
    /// The pages of the rows that are read at once are too large together: their size in bytes.
    Held(u64),
}

#[derive(Default)]
struct State {
    /// The compressed and the decoded size of the pages of each column so far.
    grown: Vec<(u64, u64)>,
    /// The gzip pages whose data have not been checked yet: by the offset of their data, the number of bytes that are
    /// not compressed, and the number of bytes that the others decompress to.
    gzip: HashMap<u64, (u64, u64)>,
    /// The pages of each column in memory, and the bytes of all of them.
    held: Vec<Held>,
    all_held: u64,
    refused: Option<Refused>,
}

/// The bytes that a column has in memory, by kind of page.
#[derive(Clone, Default)]
struct Held {
    dictionary: u64,
    page: u64,
    /// The pages before the current one, since the current batch of rows began.
    before: u64,
}

/// A column of the row group.
struct Chunk {
    bytes: Range<u64>,
    is_gzip: bool,
    is_listed: bool,
    is_prefixed: bool,
}

impl Pages {
    /// Creates the checks of a row group of which `rows` rows are read at once, with at most `most_held` bytes of pages
    /// in memory.
    pub(super) fn new(
        source: store::Source,
        group: &RowGroupMetaData,
        max_ratio: u64,
        most_held: u64,
        rows: usize,
    ) -> Self {
        let chunks: Vec<_> = group
            .columns()
            .iter()
            .map(|column| {
                let (start, length) = column.byte_range();
                Chunk {
                    bytes: start..start.saturating_add(length),
                    is_gzip: matches!(column.compression(), Compression::GZIP(_)),
                    is_listed: column.column_descr().max_rep_level() > 0,
                    is_prefixed: is_prefixed(column.encodings()),
                }
            })
            .collect();
        let (grown, held) = (vec![(0, 0); chunks.len()], vec![Held::default(); chunks.len()]);
        let state = Mutex::new(State { grown, held, ..State::default() });
        Self { source, checks: Arc::new(Checks { chunks, max_ratio, most_held, rows: rows as u64, state }) }
    }

    pub(super) fn checks(&self) -> Arc<Checks> {
        Arc::clone(&self.checks)
    }
}

impl Checks {
    /// Returns why a page was refused, if one was.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.state().refused
    }

    /// Begins the next batch of rows: of the pages read before, only the last one of each column is still needed.
    pub(super) fn begin_rows(&self) {
        let mut state = self.state();
        let State { held, all_held, .. } = &mut *state;
        for held in held {
            *all_held -= std::mem::take(&mut held.before);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a page of a column whose data begin at offset `data`.
    fn check(&self, column: usize, header: &Header, data: u64) -> io::Result<()> {
        let chunk = &self.chunks[column];
        let &Header { uncompressed, compressed, values, uncompressed_levels, is_uncompressed, encoding, is_dictionary } =
            header;
        let is_prefixed = encoding == Some(Encoding::DELTA_BYTE_ARRAY as u64);
        if is_prefixed && !chunk.is_prefixed {
            return Err(invalid("a page has an encoding that its column does not name".to_owned()));
        }
        let most = if is_prefixed { PREFIXED_PAGE_BYTES } else { PAGE_BYTES };
        if uncompressed > most {
            return Err(invalid(format!("a page has {uncompressed} bytes, and no more than {most} are read")));
        }
        let mut state = self.state();
        if chunk.is_gzip && !is_uncompressed {
            state.gzip.insert(data, (uncompressed_levels, uncompressed.saturating_sub(uncompressed_levels)));
        }
        let (from, to) = &mut state.grown[column];
        let bytes = uncompressed + if chunk.is_listed { values * LISTED_BYTES } else { 0 };
        *from += compressed;
        *to += bytes;
        let grown = Grown { from: *from, to: *to, max_ratio: self.max_ratio };
        if grown.is_too_much() {
            state.refused = Some(Refused::Growth(grown));
            return Err(io::Error::other(grown));
        }
        // Each prefix-compressed value can be as long as the page.
        let bytes = if is_prefixed { bytes * values.clamp(1, self.rows) } else { bytes };
        let held = &mut state.held[column];
        if is_dictionary {
            held.dictionary = bytes;
        } else {
            held.before += std::mem::replace(&mut held.page, bytes);
        }
        state.all_held += bytes;
        if state.all_held > self.most_held {
            let reason = format!("{} bytes of pages at once", state.all_held);
            state.refused = Some(Refused::Held(state.all_held));
            return Err(io::Error::other(reason));
        }
        Ok(())
    }

    /// Checks the data of a gzip page, since the reader would decompress all of them. Data too short to exceed the
    /// largest page are not checked.
    fn check_gzip(&self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let Some((levels, most)) = self.state().gzip.remove(&start) else { return Ok(()) };
        let compressed = usize::try_from(levels).ok().and_then(|levels| bytes.get(levels..)).unwrap_or_default();
        if compressed.len() as u64 <= PAGE_BYTES / GZIP_RATIO {
            return Ok(());
        }
        let decoded = io::copy(&mut MultiGzDecoder::new(compressed).take(most + 1), &mut io::sink())?;
        if decoded > most {
            return Err(invalid(format!("a page holds more than the {most} bytes that it says")));
        }
        Ok(())
    }

    fn column_at(&self, byte: u64) -> Option<usize> {
        self.chunks.iter().position(|chunk| chunk.bytes.contains(&byte))
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.source.len()
    }
}

impl ChunkReader for Pages {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let inner = self.source.get_read(start)?;
        Ok(match self.checks.column_at(start) {
            Some(column) => {
                Box::new(PageReader { inner, head: Cursor::default(), unchecked: Some((self.checks(), column, start)) })
            }
            None => inner,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.source.get_bytes(start, length)?;
        self.checks.check_gzip(start, &bytes)?;
        Ok(bytes)
    }
}

/// A reader that begins at a page header and checks the header at the first read. If it is never read, it need not
/// begin at a header.
struct PageReader<R> {
    inner: R,
    /// The header.
    head: Cursor<Vec<u8>>,
    unchecked: Option<(Arc<Checks>, usize, u64)>,
}

impl<R: Read> Read for PageReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some((checks, column, start)) = self.unchecked.take() {
            let (header, read) = read_header(&mut self.inner, HEADER_BYTES)?;
            checks.check(column, &header, start + read.len() as u64)?;
            self.head = Cursor::new(read);
        }
        match self.head.read(buf)? {
            0 => self.inner.read(buf),
            n => Ok(n),
        }
    }
}
