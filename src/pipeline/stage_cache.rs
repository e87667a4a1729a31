use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io, iter};

use anyhow::{Context, Result, bail};
use datafusion::catalog::TableProvider;
use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3Default;

use crate::cluster::SharedFolder;
use crate::export::{MANIFEST, Manifest, StagedFolder};
use crate::store::{Address, Stores, Verified, entries, verify};

/// A folder with the tables that runs made. A run that would make the same table takes it from there: the same SQL over
/// the same tables with the same settings gives the same rows.
///
/// The key of a table is the hash of the statement that makes it, of the settings, and of the keys of all tables that
/// it reads. The key of a collection is the hash of its seals. A table that reads one without a key has no key, and is
/// made anew.
pub(crate) struct StageCache {
    place: Place,
    /// The tables that have keys, regardless of their names, which other tables may get at any time. They are held, so
    /// that no later table has the address of one that is gone.
    keys: Mutex<Vec<(Arc<dyn TableProvider>, Key)>>,
    /// The folders of tables that this run reads. They are locked as long as it lives, so that `ibid gc` skips them.
    held: Mutex<Vec<File>>,
    stores: Arc<Stores>,
}

/// The place of the tables.
enum Place {
    /// A folder of this machine.
    Here(PathBuf),
    /// A folder that all machines of a cluster reach.
    Shared(SharedFolder),
}

/// The hash of all that a table is made from.
pub(crate) type Key = u128;

impl StageCache {
    pub(crate) fn at(folder: &Path, stores: &Arc<Stores>) -> Result<Self> {
        if let Some(location) = Address::of_path(folder)? {
            bail!("`resume` takes a folder of this machine, and {location} is none");
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(Self::in_place(Place::Here(folder.to_path_buf()), stores))
    }

    /// Returns the cache of runs on a cluster.
    pub(crate) fn shared(folder: SharedFolder, stores: &Arc<Stores>) -> Self {
        Self::in_place(Place::Shared(folder), stores)
    }

    fn in_place(place: Place, stores: &Arc<Stores>) -> Self {
        Self { place, keys: Mutex::default(), held: Mutex::default(), stores: Arc::clone(stores) }
    }

    /// Returns the folder that all machines of a cluster reach, if the tables are in one.
    pub(crate) fn shared_folder(&self) -> Option<&SharedFolder> {
        match &self.place {
            Place::Here(_) => None,
            Place::Shared(folder) => Some(folder),
        }
    }

    /// Returns the key of the table that these texts make from these tables. Returns `None` if one of the tables has no
    /// key.
    pub(crate) fn key<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str>,
        tables: &[Arc<dyn TableProvider>],
    ) -> Option<Key> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = Xxh3Default::new();
        for text in iter::once(env!("CARGO_PKG_VERSION")).chain(texts) {
            hash.update(&text.len().to_le_bytes());
            hash.update(text.as_bytes());
        }
        for table in tables {
            let (_, key) = keys.iter().find(|(known, _)| Arc::ptr_eq(known, table))?;
            hash.update(&key.to_le_bytes());
        }
        Some(hash.digest128())
    }

    /// Notes the key of a table that was made.
    pub(crate) fn note(&self, table: Arc<dyn TableProvider>, key: Key) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).push((table, key));
    }

    fn place(&self, key: Key) -> Result<PathBuf> {
        match &self.place {
            Place::Here(folder) => Ok(folder.join(name_of(key))),
            Place::Shared(_) => bail!("internal error: a table of a cluster is not kept here; please report it"),
        }
    }

    /// Marks the folder of a table as in use. Without file locks, only its age tells.
    fn hold(&self, folder: &Path) {
        if let Ok(folder) = File::open(folder)
            && folder.lock_shared().is_ok()
        {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
        }
    }

    /// Returns the folder of a table that was made to its end, and its manifest. A table that is damaged, or has
    /// another key, is made anew. A table that cannot be read stays as it is.
    pub(crate) fn take(&self, key: Key) -> Result<Option<(PathBuf, Value)>> {
        let folder = self.place(key)?;
        self.hold(&folder);
        match sound(&folder, key, &self.stores) {
            Ok(Some(manifest)) => Ok(Some((folder, manifest.about))),
            Ok(None) if !folder.exists() => Ok(None),
            Err(error) if !is_damage(&error) => {
                Err(error.context(format!("cannot read the table kept in {}", folder.display())))
            }
            _ => {
                if let Some(other) = stranger(&folder, &self.stores)? {
                    bail!(
                        "{} is no folder of a run: it holds {}; move that elsewhere, or name another folder with `resume`",
                        folder.display(),
                        other.display()
                    );
                }
                log::warn!("{} is damaged, and is made anew", folder.display());
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
                Ok(None)
            }
        }
    }

    /// Returns a staging folder to make a table in.
    pub(crate) fn begin(&self, key: Key) -> Result<StagedFolder> {
        StagedFolder::create_new(&self.place(key)?, &self.stores)
    }

    /// Keeps a table that was made, and returns its folder. The manifest does not have the statement, which may contain
    /// a secret.
    pub(crate) fn keep(&self, key: Key, made: StagedFolder, noted: &Value) -> Result<PathBuf> {
        let place = self.place(key)?;
        // Another run may have made the same table in the meantime. Once its folder is held, nobody removes it.
        self.hold(&place);
        if !place.exists() {
            let about = json!({ "ibid": env!("CARGO_PKG_VERSION"), "key": name_of(key), "noted": noted });
            Manifest::write(made.path(), &about, &self.stores)?;
            made.commit_new()?;
            self.hold(&place);
        }
        Ok(place)
    }
}

/// Returns the manifest of a folder that contains all files that it names, as they were written, and nothing else, and
/// is for this key.
fn sound(folder: &Path, key: Key, stores: &Arc<Stores>) -> Result<Option<Manifest>> {
    let Some(manifest) = Manifest::of(folder, stores)? else { return Ok(None) };
    // A table reads all files in its folder.
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if name != MANIFEST && manifest.files.iter().all(|file| name != file.name.as_str()) {
            return Ok(None);
        }
    }
    for file in &manifest.files {
        match verify(&folder.join(&file.name), stores)? {
            Verified::Sealed { seal, .. } if seal.root == file.seal => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(manifest).filter(|manifest| manifest.about["key"] == name_of(key)))
}

/// Returns an entry that no run puts into the folder of a table, if there is one.
fn stranger(folder: &Path, stores: &Arc<Stores>) -> Result<Option<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        path.is_file() && (path.ends_with(MANIFEST) || path.extension().is_some_and(|it| it == "parquet"))
    };
    Ok(entries(folder, stores)?.into_iter().find(|path| !is_ours(path)))
}

/// Returns true if an error says that files are not as they were written, and not that they cannot be read now.
fn is_damage(error: &anyhow::Error) -> bool {
    let kind = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kind.is_none_or(|kind| matches!(kind, ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData))
}

/// Returns the name of the folder of a table.
pub(crate) fn name_of(key: Key) -> String {
    format!("{key:032x}")
}
