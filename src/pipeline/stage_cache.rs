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

/// A folder with the tables that runs made, to be taken by a run that would make the same: one of the same SQL over the same
/// tables with the same settings, which have the same rows then.
///
/// Each table has a key: the hash of the statement that makes it, of what is set, and of the keys of all tables that it reads, and
/// of a collection the hash of its seals. A table that reads one without a key has none, and is made anew.
pub(crate) struct StageCache {
    place: Place,
    /// The tables that have keys, whatever they are called: a name may be another table's at any time. They are held, so that none
    /// that is made later has the place of one that is gone.
    keys: Mutex<Vec<(Arc<dyn TableProvider>, Key)>>,
    /// The folders of tables that this run reads, locked as long as it lives, which `ibid gc` passes over.
    held: Mutex<Vec<File>>,
    stores: Arc<Stores>,
}

/// The place of the tables.
enum Place {
    /// In a folder of this machine.
    Here(PathBuf),
    /// In a folder that all machines of a cluster reach.
    Shared(SharedFolder),
}

/// What a table is made of, as a hash.
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

    /// The folder that all machines of a cluster reach, where the tables are in one.
    pub(crate) fn shared_folder(&self) -> Option<&SharedFolder> {
        match &self.place {
            Place::Here(_) => None,
            Place::Shared(folder) => Some(folder),
        }
    }

    /// The key of what these texts make out of these tables.
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

    /// Says that the folder of a table is read. Where there are no locks, only its age tells.
    fn hold(&self, folder: &Path) {
        if let Ok(folder) = File::open(folder)
            && folder.lock_shared().is_ok()
        {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
        }
    }

    /// The folder of a table that was made to its end, and what was noted of it. One that is damaged, or is another, is made anew,
    /// and one that cannot be read stays as it is.
    pub(crate) fn take(&self, key: Key) -> Result<Option<(PathBuf, Value)>> {
        let folder = self.place(key)?;
        self.hold(&folder);
        match sound(&folder, key, &self.stores) {
            Ok(Some(manifest)) => Ok(Some((folder, manifest.about))),
            Ok(None) if !folder.exists() => Ok(None),
            Err(error) if !is_damage(&error) => {
                Err(error.context(format!("cannot take what was kept in {}", folder.display())))
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

    /// A folder to make a table in.
    pub(crate) fn begin(&self, key: Key) -> Result<StagedFolder> {
        StagedFolder::create_new(&self.place(key)?, &self.stores)
    }

    /// Keeps a table that was made, and gives its folder. What made it is not told, as it may hold a secret.
    pub(crate) fn keep(&self, key: Key, made: StagedFolder, noted: &Value) -> Result<PathBuf> {
        let place = self.place(key)?;
        // Another run may have made the same table in the meantime. Once it is held, it is not being removed.
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

/// The manifest of a folder that has all that it names, as it was written, and nothing else, and is of the table of this key.
fn sound(folder: &Path, key: Key, stores: &Arc<Stores>) -> Result<Option<Manifest>> {
    let Some(manifest) = Manifest::of(folder, stores)? else { return Ok(None) };
    // All that is in the folder is read.
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

/// What no run puts into the folder of a table, if anything is there.
fn stranger(folder: &Path, stores: &Arc<Stores>) -> Result<Option<PathBuf>> {
    let is_ours = |path: &PathBuf| {
        path.is_file() && (path.ends_with(MANIFEST) || path.extension().is_some_and(|it| it == "parquet"))
    };
    Ok(entries(folder, stores)?.into_iter().find(|path| !is_ours(path)))
}

/// Whether an error says that files are not what was written, and not that they cannot be read now.
fn is_damage(error: &anyhow::Error) -> bool {
    let kind = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kind.is_none_or(|kind| matches!(kind, ErrorKind::NotFound | ErrorKind::UnexpectedEof | ErrorKind::InvalidData))
}

/// What the folder of a table is called.
pub(crate) fn name_of(key: Key) -> String {
    format!("{key:032x}")
}
