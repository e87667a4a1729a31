use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3Default;

use crate::export::{Manifest, StagedFolder};
use crate::seal::{Verified, verify};
use crate::store::Location;

/// A folder with the tables that runs made, to be taken by a run that would make the same: one of the same SQL over the same
/// tables, which have the same rows then.
///
/// Each table has a key: the hash of the statement that makes it and of the keys of all tables that it reads, and of a collection
/// the hash of its seals. A table that reads one without a key has none, and is made anew.
pub(crate) struct Finished {
    folder: PathBuf,
    keys: Mutex<HashMap<String, Key>>,
}

/// What a table is made of, as a hash.
pub(crate) type Key = u128;

impl Finished {
    pub(crate) fn at(folder: &Path) -> Result<Self> {
        if let Some(location) = Location::of_path(folder)? {
            bail!("--resume takes a folder of this machine, and {location} is none");
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(Self { folder: folder.to_path_buf(), keys: Mutex::default() })
    }

    /// The key of what a statement makes out of these tables.
    pub(crate) fn key<'a>(&self, statement: &str, tables: impl IntoIterator<Item = &'a str>) -> Option<Key> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = Xxh3Default::new();
        hash.update(env!("CARGO_PKG_VERSION").as_bytes());
        hash.update(statement.as_bytes());
        for table in tables {
            hash.update(&keys.get(table)?.to_le_bytes());
        }
        Some(hash.digest128())
    }

    /// Notes the key of a table; without one, that it has none any more.
    pub(crate) fn note(&self, table: &str, key: Option<Key>) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        match key {
            Some(key) => keys.insert(table.to_owned(), key),
            None => keys.remove(table),
        };
    }

    fn place(&self, key: Key) -> PathBuf {
        self.folder.join(format!("{key:032x}"))
    }

    /// The folder of a table that was made to its end, and what was noted of it. One that is damaged is made anew.
    pub(crate) fn take(&self, key: Key) -> Result<Option<(PathBuf, Value)>> {
        let folder = self.place(key);
        let is_sound = |manifest: &Manifest| {
            let sound = manifest.files.iter().map(|file| match verify(&folder.join(&file.name))? {
                Verified::Sealed { seal, .. } => Ok(seal.root == file.seal),
                Verified::Unsealed => Ok(false),
            });
            sound.collect::<Result<Vec<_>>>().is_ok_and(|sound| sound.into_iter().all(|sound| sound))
        };
        match Manifest::of(&folder) {
            Ok(Some(manifest)) if is_sound(&manifest) => Ok(Some((folder, manifest.about))),
            Ok(None) if !folder.exists() => Ok(None),
            _ => {
                log::warn!("{} is damaged, and is made anew", folder.display());
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
                Ok(None)
            }
        }
    }

    /// A folder to make a table in.
    pub(crate) fn begin(&self, key: Key) -> Result<StagedFolder> {
        StagedFolder::create(&self.place(key), &[])
    }

    /// Keeps a table that was made, and gives its folder.
    pub(crate) fn keep(&self, key: Key, made: StagedFolder, statement: &str, noted: &Value) -> Result<PathBuf> {
        let place = self.place(key);
        // Another run may have made the same table in the meantime.
        if !place.exists() {
            Manifest::write(
                made.path(),
                &json!({ "ibid": env!("CARGO_PKG_VERSION"), "sql": statement, "noted": noted }),
            )?;
            made.commit()?;
        }
        Ok(place)
    }
}
