//! What documents are made of: the bytes of all files.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::paths::Selection;
use super::problem::{Error, Problem};
use super::{OnError, Options};

/// The files that documents are read from, and how.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(super) selection: Arc<Selection>,
    pub(crate) options: Options,
}

/// What is in some files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    files: usize,
    bytes: u64,
    /// XXH3 of the names as ids call them, the sizes, the bytes, and the labels that their places give; of an object with a tag that changes with any byte, of its
    /// address and the tag instead.
    hash: u128,
}

impl Inputs {
    /// Whether the same bytes are the same documents, and nothing else is to be said: bad records would be listed, too.
    pub(crate) fn are_whole(&self) -> bool {
        self.options.on_error == OnError::Fail
    }

    /// Returns the place of each file. Those in the folder `made_in` are none of the user's.
    pub(crate) fn origins(&self, made_in: &Path) -> Vec<Option<String>> {
        self.selection.files.iter().map(|file| file.origin(made_in)).collect()
    }

    /// What is in the files now.
    pub(crate) fn content(&self) -> Result<Content, Error> {
        let mut all = Xxh3Default::new();
        let mut bytes = 0;
        for file in &self.selection.files {
            let tagged = file.object.as_ref().and_then(|object| Some((object, object.strong_tag()?)));
            let read = || match tagged {
                // Another object may have the same tag.
                Some((object, tag)) => {
                    Ok((object.size, xxh3_128(format!("{} {tag}", object.location.url()).as_bytes())))
                }
                None => hash(file.open()?),
            };
            let (size, hash) = match read() {
                Ok(read) => read,
                Err(error) if self.are_whole() => {
                    let problem = Problem::of_io(&file.label, "cannot read it", &error);
                    return Err(Error::Record(problem.remedy_unless_told("check the file")));
                }
                // It is left out as bad when it is read.
                Err(_) => (0, 0),
            };
            bytes += size;
            all.update(&(file.name.len() as u64).to_le_bytes());
            all.update(file.name.as_bytes());
            all.update(&size.to_le_bytes());
            all.update(&hash.to_le_bytes());
            for (column, value) in &file.labels {
                all.update(format!("{column}={value}").as_bytes());
            }
        }
        Ok(Content { files: self.selection.files.len(), bytes, hash: all.digest128() })
    }

    /// Fails where something else is in the files than there was.
    pub(crate) fn check(&self, before: Content) -> Result<(), Error> {
        if self.content()? == before {
            return Ok(());
        }
        Err(Error::Input("a file was changed while it was read; run it again".to_owned()))
    }
}

impl Content {
    pub(crate) fn to_json(self) -> Value {
        json!({ "files": self.files, "bytes": self.bytes, "xxh3": format!("{:032x}", self.hash) })
    }
}

/// How many bytes there are, and their hash.
fn hash(from: impl Read) -> io::Result<(u64, u128)> {
    let mut hash = Xxh3Default::new();
    let bytes = io::copy(&mut BufReader::with_capacity(1 << 20, from), &mut hash)?;
    Ok((bytes, hash.digest128()))
}
