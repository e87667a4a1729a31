//! Objects that exist in a store, and readers of them for blocking code.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use bytes::{Buf, Bytes};
use futures::TryStreamExt;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, UpdateVersion};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use prost::Message;

use super::blocking::{runtime, wait};
use super::explain::Explained;
use super::location::Location;
use super::registry::Stores;

/// Number of bytes per request when an object is read from its beginning to its end.
pub(super) const PIECE: u64 = 4 << 20;

/// Number of bytes per request when parts of an object are read.
const BLOCK: u64 = 1 << 20;

/// An object as it was when it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) location: Location,
    pub(crate) size: u64,
    /// The ETag, which shows that the object has not changed since.
    e_tag: Option<String>,
    /// The version, in stores that number the versions of an object.
    version: Option<String>,
    /// The time of the last write, in seconds, the precision of HTTP headers.
    modified: i64,
}

/// An [`Object`] as it is sent to another machine.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub(crate) struct ObjectMessage {
    #[prost(string, tag = "1")]
    location: String,
    #[prost(uint64, tag = "2")]
    size: u64,
    #[prost(string, optional, tag = "3")]
    e_tag: Option<String>,
    #[prost(string, optional, tag = "4")]
    version: Option<String>,
    #[prost(int64, tag = "5")]
    modified: i64,
}

impl From<&Object> for ObjectMessage {
    fn from(object: &Object) -> Self {
        let Object { location, size, e_tag, version, modified } = object.clone();
        // Percent-encoded characters of a web address stay encoded.
        let location = if location.is_web() { location.url().to_string() } else { location.to_string() };
        Self { location, size, e_tag, version, modified }
    }
}

/// Converts an error of a store into an I/O error.
pub(super) fn io_error(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        _ => io::ErrorKind::Other,
    };
    match Explained::of(&error) {
        Some(explained) => io::Error::new(kind, explained.clone()),
        None => io::Error::new(kind, error.to_string()),
    }
}

/// Adds the failed operation and the location to an error. An explained error already names its location, which is not
/// repeated.
pub(crate) fn failed(what: &str, location: &Location, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<io::Error>() {
        Some(cause) if Explained::of_io(cause).is_some() => {
            io::Error::new(cause.kind(), format!("{what} {cause}")).into()
        }
        _ => error.context(format!("{what} {location}")),
    }
}

impl Object {
    fn new(location: Location, meta: ObjectMeta) -> Self {
        let ObjectMeta { size, e_tag, version, last_modified, .. } = meta;
        Self { location, size, e_tag, version, modified: last_modified.timestamp() }
    }

    /// Returns an object of this size without looking for it.
    #[cfg(test)]
    pub(crate) fn of_size(location: &str, size: u64, stores: &Arc<Stores>) -> Self {
        let location = Location::of(location, stores).unwrap().unwrap();
        Self { location, size, e_tag: Some("\"tag\"".to_owned()), version: None, modified: -1 }
    }

    /// Restores an object that another machine sent. The stores of this machine reach it.
    pub(crate) fn of_message(message: ObjectMessage, stores: &Arc<Stores>) -> Result<Self> {
        let ObjectMessage { location, size, e_tag, version, modified } = message;
        let location = Location::of(&location, stores)?.with_context(|| format!("{location} is in no store"))?;
        Ok(Self { location, size, e_tag, version, modified })
    }

    /// Returns the time since the object was written, if the clocks agree.
    pub(crate) fn age(&self) -> Option<Duration> {
        let written = UNIX_EPOCH + Duration::from_secs(u64::try_from(self.modified).ok()?);
        SystemTime::now().duration_since(written).ok()
    }

    /// Returns the ETag and the version, as far as the server gives them.
    pub(super) fn version(&self) -> UpdateVersion {
        UpdateVersion { e_tag: self.e_tag.clone(), version: self.version.clone() }
    }

    /// Returns the ETag if it is strong: a strong ETag changes whenever a byte of the object does.
    pub(crate) fn strong_tag(&self) -> Option<&str> {
        self.e_tag.as_deref().filter(|e_tag| !e_tag.starts_with("W/"))
    }

    /// Returns the object at a location, if there is one.
    pub(crate) fn find(location: &Location) -> Result<Option<Self>> {
        let (store, key) = (location.store()?, location.key().clone());
        match wait(async move { store.head(&key).await })? {
            Ok(meta) => Ok(Some(Self::new(location.clone(), meta))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(io_error(error).into()),
        }
    }

    /// Lists the objects below a prefix, in the order of their keys; at most `most` of them.
    pub(crate) fn list(prefix: &Location, most: usize) -> Result<Vec<Self>> {
        let (store, key) = (prefix.store()?, prefix.key().clone());
        let listed = wait(async move {
            let mut listed = Vec::new();
            let mut objects = store.list(Some(&key));
            while listed.len() < most
                && let Some(meta) = objects.try_next().await?
            {
                listed.push(meta);
            }
            Ok::<_, object_store::Error>(listed)
        })?;
        Ok(Self::all_of(prefix, listed.map_err(io_error)?))
    }

    /// Lists the objects directly below a prefix, in the order of their keys, and the prefixes there.
    pub(crate) fn list_folder(prefix: &Location) -> Result<(Vec<Self>, Vec<Location>)> {
        let (store, key) = (prefix.store()?, prefix.key().clone());
        let listed = wait(async move { store.list_with_delimiter(Some(&key)).await })?.map_err(io_error)?;
        let folders = listed.common_prefixes.into_iter().map(|key| prefix.at(key).as_prefix()).collect();
        Ok((Self::all_of(prefix, listed.objects), folders))
    }

    fn all_of(prefix: &Location, mut listed: Vec<ObjectMeta>) -> Vec<Self> {
        listed.sort_by(|a, b| a.location.cmp(&b.location));
        // Empty objects without an extension are folder markers.
        listed.retain(|meta| meta.size > 0 || meta.location.extension().is_some());
        listed.into_iter().map(|meta| Self::new(prefix.at(meta.location.clone()), meta)).collect()
    }

    /// Returns the options of a request for a part of the object. A weak ETag is left out, since it never matches in
    /// `If-Match`.
    fn options(&self, range: Range<u64>) -> GetOptions {
        let if_match = self.strong_tag().map(str::to_owned);
        GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() }
    }

    /// Fails if `meta` describes another object than the one that was found.
    fn check(&self, meta: &ObjectMeta) -> io::Result<()> {
        let is_same_tag = self.e_tag.is_none() || self.e_tag == meta.e_tag;
        let is_as_old = self.e_tag.is_some() || self.modified == meta.last_modified.timestamp();
        if is_same_tag && is_as_old && self.size == meta.size {
            return Ok(());
        }
        let said = "it was changed while it was read or written; run it again".to_owned();
        Err(io::Error::other(Explained::at(self.location.to_string(), said)))
    }

    async fn part(self, store: Arc<dyn ObjectStore>, range: Range<u64>) -> io::Result<Bytes> {
        let length = range.end - range.start;
        let result = store.get_opts(self.location.key(), self.options(range)).await.map_err(io_error)?;
        self.check(&result.meta)?;
        let bytes = result.bytes().await.map_err(io_error)?;
        if bytes.len() as u64 == length {
            return Ok(bytes);
        }
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            Explained::at(
                self.location.to_string(),
                format!("the server gave {} bytes of {length}; run it again", bytes.len()),
            ),
        ))
    }

    /// Reads a part of the object.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let store = self.location.store().map_err(io::Error::other)?;
        wait(self.clone().part(store, range))?
    }

    /// Returns a reader of the whole object.
    pub(crate) fn reader(&self) -> io::Result<ObjectReader> {
        let store = self.location.store().map_err(io::Error::other)?;
        let mut reader =
            ObjectReader { object: self.clone(), store, asked: 0, coming: VecDeque::new(), piece: Bytes::new() };
        reader.ask()?;
        Ok(reader)
    }
}

/// A reader of a whole object in pieces. The next piece is fetched while the last one is read.
pub(crate) struct ObjectReader {
    object: Object,
    store: Arc<dyn ObjectStore>,
    /// Offset up to which pieces have been requested.
    asked: u64,
    coming: VecDeque<Receiver<io::Result<Bytes>>>,
    piece: Bytes,
}

impl ObjectReader {
    /// Requests the next piece, if there is one.
    fn ask(&mut self) -> io::Result<()> {
        let end = self.object.size.min(self.asked + PIECE);
        if self.asked == end {
            return Ok(());
        }
        let (send, receive) = sync_channel(1);
        let (object, store, range) = (self.object.clone(), Arc::clone(&self.store), self.asked..end);
        runtime()?.spawn(async move {
            // This fails only if the reader is gone.
            let _ = send.send(object.part(store, range).await);
        });
        self.asked = end;
        self.coming.push_back(receive);
        Ok(())
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let Some(next) = self.coming.pop_front() else { return Ok(0) };
            let received = next.recv().map_err(|_| io::Error::other("internal error: a request broke down"))?;
            self.ask()?;
            self.piece = received?;
        }
        let length = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

/// An object that is read in blocks. The blocks that were read last are cached, since some parts are read again.
#[derive(Clone)]
pub struct Blocks {
    object: Object,
    kept: Arc<Mutex<VecDeque<(u64, Bytes)>>>,
    most: usize,
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.object.location)
    }
}

impl Blocks {
    /// Creates an object with an empty cache. `readers` is the number of places that are read at the same time.
    pub(crate) fn new(object: Object, readers: usize) -> Self {
        Self { object, kept: Arc::default(), most: 2 * readers.max(4) }
    }

    pub(super) fn object(&self) -> &Object {
        &self.object
    }

    /// Returns the same object for this number of readers, with a cache of its own.
    pub(crate) fn for_readers(&self, readers: usize) -> Self {
        Self::new(self.object.clone(), readers)
    }

    /// Returns the block with this number, from the cache if it is there.
    fn block(&self, number: u64) -> io::Result<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| *known == number)
            && let Some(found) = kept.remove(at)
        {
            kept.push_back(found.clone());
            return Ok(found.1);
        }
        let start = number * BLOCK;
        let bytes = self.object.read(start..self.object.size.min(start + BLOCK))?;
        if kept.len() == self.most {
            kept.pop_front();
        }
        kept.push_back((number, bytes.clone()));
        Ok(bytes)
    }
}

impl Length for Blocks {
    fn len(&self) -> u64 {
        self.object.size
    }
}

impl ChunkReader for Blocks {
    type T = BlocksReader;

    fn get_read(&self, start: u64) -> Result<BlocksReader, ParquetError> {
        Ok(BlocksReader { blocks: self.clone(), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.object.size);
        let end =
            end.ok_or_else(|| ParquetError::EOF(format!("{} bytes from {start} are more than there are", length)))?;
        let first = start / BLOCK;
        if length as u64 > BLOCK {
            return Ok(self.object.read(start..end)?);
        }
        let within = |block: &Bytes, number: u64| {
            let [from, to] = [start, end].map(|at| at.saturating_sub(number * BLOCK).min(block.len() as u64));
            Ok::<_, ParquetError>(block.slice(usize::try_from(from)?..usize::try_from(to)?))
        };
        let head = within(&self.block(first)?, first)?;
        if head.len() == length {
            return Ok(head);
        }
        let tail = within(&self.block(first + 1)?, first + 1)?;
        Ok([head, tail].concat().into())
    }
}

/// A reader that starts at an offset.
pub struct BlocksReader {
    blocks: Blocks,
    at: u64,
}

impl Read for BlocksReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.blocks.object.size {
            return Ok(0);
        }
        let mut block = self.blocks.block(self.at / BLOCK)?;
        block.advance(usize::try_from(self.at % BLOCK).map_err(io::Error::other)?.min(block.len()));
        let length = block.len().min(buffer.len());
        block.copy_to_slice(&mut buffer[..length]);
        self.at += length as u64;
        Ok(length)
    }
}
