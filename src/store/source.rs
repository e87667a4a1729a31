//! Files and objects with one interface, for blocking code that reads parts of them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::location::Location;
use super::object::{Blocks, Object};
use super::registry::Stores;

/// A file or an object.
#[derive(Debug)]
pub enum Source {
    /// A file of this machine.
    File(File),
    /// An object of a store.
    Object(Box<Blocks>),
}

impl Source {
    /// Opens the file or object that a path or a URL names.
    pub fn open(path: &Path, stores: &Arc<Stores>) -> io::Result<Self> {
        let Some(location) = Location::of_path(path, stores).map_err(io::Error::other)? else {
            return Ok(Self::File(File::open(path)?));
        };
        let found = Object::find(&location).map_err(io::Error::other)?;
        let found = found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no {location}")))?;
        Ok(Self::of_object(found))
    }

    pub(crate) fn of_object(object: Object) -> Self {
        Self::Object(Box::new(Blocks::new(object, 1)))
    }

    /// Returns the same file or object for this number of readers at the same time.
    pub(crate) fn for_readers(&self, readers: usize) -> io::Result<Self> {
        Ok(match self {
            Self::File(file) => Self::File(file.try_clone()?),
            Self::Object(blocks) => Self::Object(Box::new(blocks.for_readers(readers))),
        })
    }

    /// Reads a part.
    pub(crate) fn read(&mut self, range: Range<u64>) -> io::Result<Bytes> {
        match self {
            Self::File(file) => {
                file.seek(SeekFrom::Start(range.start))?;
                let mut bytes = Vec::new();
                file.take(range.end - range.start).read_to_end(&mut bytes)?;
                Ok(bytes.into())
            }
            Self::Object(blocks) => blocks.object().read(range),
        }
    }

    /// Reads the whole file or object. A pipe, which has no length, is read to its end.
    pub fn read_all(self) -> io::Result<Bytes> {
        match self {
            Self::File(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok(bytes.into())
            }
            Self::Object(ref blocks) => blocks.object().read(0..self.len()),
        }
    }
}

/// Reads the start of a file or object, at most `most` bytes. Returns `None` if it does not exist.
pub(crate) fn read_start(path: &Path, most: u64, stores: &Arc<Stores>) -> io::Result<Option<Bytes>> {
    match Source::open(path, stores).and_then(|mut source| source.read(0..source.len().min(most))) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Object(blocks) => blocks.len(),
        }
    }
}

impl ChunkReader for Source {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(match self {
            Self::File(file) => Box::new(file.get_read(start)?),
            Self::Object(blocks) => Box::new(blocks.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self {
            Self::File(file) => file.get_bytes(start, length),
            Self::Object(blocks) => blocks.get_bytes(start, length),
        }
    }
}
