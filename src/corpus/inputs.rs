//! The files that documents are read from, and the fingerprint of their content.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::paths::Selection;
use super::problem::{Error, Problem};
use super::{OnError, Options};

/// The files that documents are read from, and the options for reading them.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(super) selection: Arc<Selection>,
    pub(crate) options: Options,
}

/// The fingerprint of the content of some files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    files: usize,
    bytes: u64,
    /// XXH3 of the names as in ids, the sizes, the bytes, and the labels that the paths give. If an object has a tag
    /// that changes with any byte, its address and the tag replace its bytes.
    hash: u128,
}

impl Inputs {
    /// Returns true if bad records make reading fail, so that equal bytes give equal results. Otherwise the result
    /// would also need the list of bad records.
    pub(crate) fn are_whole(&self) -> bool {
        self.options.on_error == OnError::Fail
    }

    /// Returns the origin of each file. Files in the folder `made_in` have none, because they are not the user's.
    pub(crate) fn origins(&self, made_in: &Path) -> Vec<Option<String>> {
        self.selection.files.iter().map(|file| file.origin(made_in)).collect()
    }

    /// Returns the fingerprint of the current content of the files.
    pub(crate) fn content(&self) -> Result<Content, Error> {
        let mut all = Xxh3Default::new();
        let mut bytes = 0;
        for file in &self.selection.files {
            let tagged = file.object.as_ref().and_then(|object| Some((object, object.strong_tag()?)));
            let read = || match tagged {
                // The address is part of the hash, because another object may have the same tag.
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
                // The file is left out as bad when it is read.
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

    /// Fails if the content of the files has changed.
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

/// Returns the number of bytes, and their hash.
fn hash(from: impl Read) -> io::Result<(u64, u128)> {
    let mut hash = Xxh3Default::new();
    let bytes = io::copy(&mut BufReader::with_capacity(1 << 20, from), &mut hash)?;
    Ok((bytes, hash.digest128()))
}
