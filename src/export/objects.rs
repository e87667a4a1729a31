//! Folders of results in object stores.
//!
//! Objects cannot be replaced together. So the names of the files of a folder contain their seals there, and the
//! manifest says which files count. The manifest is written last, by one request, and only if it is still the one that
//! was there when the run began. Files that an earlier manifest named stay, since somebody may read them, until
//! `ibid gc` removes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Default;

use super::{MANIFEST, Manifest};
use crate::export::cleanup;
use crate::seal::{Root, sealed_json};
use crate::store::{self, GivenUp, Location, Object, When, put};

/// Prefix of the names of files and folders that are staged on this machine for a store.
pub(super) const PREFIX: &str = ".ibid-object.";

/// Upper bound of the objects that are checked for one that ibid did not write.
const LOOKED_AT: usize = 10_000;

/// A folder of a store that is to be written.
pub(super) struct ObjectsFolder {
    folder: Location,
    /// The manifest that was there when the run began.
    manifest: Option<Object>,
}

impl ObjectsFolder {
    /// Fails if the folder contains anything but `files` and a manifest, or cannot be written.
    pub(super) fn check(folder: Location, files: &[&str]) -> Result<Self> {
        if folder.is_web() {
            bail!("cannot write {folder}: a web server has no folders; name a bucket, or a folder of this machine");
        }
        let failed = |error| store::failed("cannot write", &folder, error);
        let objects = Object::list(&folder, LOOKED_AT).map_err(failed)?;
        // Other programs may have files with such names, too. A damaged manifest counts as ours, but tells nothing
        // else.
        let manifest = Manifest::of(Path::new(&folder.to_string()), folder.stores());
        let is_ours = |object: &Object| {
            let below = object.location.key().as_ref().get(folder.key().as_ref().len()..).unwrap_or_default();
            let below = below.trim_start_matches('/');
            let is_sealed = stem_of_sealed(below).is_some() || folder_of_sealed(below).is_some();
            let is_table = files.iter().any(|file| is_of(below, file));
            match &manifest {
                Ok(Some(manifest)) => {
                    below == MANIFEST || is_table && (is_sealed || manifest.file(&name_here(below)).is_some())
                }
                Ok(None) => is_sealed && is_table,
                Err(_) => below == MANIFEST || is_table,
            }
        };
        if let Some(stranger) = objects.iter().find(|object| !is_ours(object)) {
            bail!(
                "cannot replace the folder {folder}: it holds {}, which this command does not write; name another folder",
                stranger.location
            );
        }
        let manifest = Object::find(&folder.join(MANIFEST)).map_err(failed)?;
        Ok(Self { folder, manifest })
    }

    /// Writes the files of a folder of this machine to the store, unless that is `given_up`.
    pub(super) fn commit(&self, staged: &Path, given_up: &GivenUp) -> Result<()> {
        let failed = || format!("cannot read {}", staged.display());
        // Otherwise an interrupt could empty the folder, which then would seem to have no manifest.
        let hold = cleanup::hold();
        let manifest = Manifest::of(staged, self.folder.stores())?;
        drop(hold);
        let Some(mut manifest) = manifest else {
            // The folder has a new name, which nobody knows before it is complete.
            for entry in fs::read_dir(staged).with_context(failed)? {
                let entry = entry.with_context(failed)?;
                let name = entry.file_name();
                let object = self.folder.join(name.to_str().with_context(failed)?);
                put(&entry.path(), &object, When::Always, given_up)?;
            }
            return Ok(());
        };
        // The name of a folder within it contains a hash of the seals of all its files.
        let mut within: BTreeMap<&str, Xxh3Default> = BTreeMap::new();
        for file in &manifest.files {
            if let Some((folder, name)) = file.name.split_once('/') {
                within.entry(folder).or_default().update(format!("{name} {} ", file.seal).as_bytes());
            }
        }
        for (file, noted) in manifest.files.iter().zip(manifest.about["files"].as_array_mut().into_iter().flatten()) {
            let name = match (file.name.split_once('/'), file.name.rsplit_once('.')) {
                (Some((folder, name)), _) => {
                    format!("{folder}-{}/{name}", Root(within.get(folder).map_or(0, Xxh3Default::digest)))
                }
                (None, Some((stem, extension))) => format!("{stem}-{}.{extension}", file.seal),
                (None, None) => file.name.clone(),
            };
            put(&staged.join(&file.name), &self.folder.join(&name), When::Always, given_up)?;
            noted["name"] = Value::String(name);
        }
        let path = staged.join(MANIFEST);
        let json = sealed_json(manifest.about)?;
        fs::write(&path, json).with_context(|| format!("cannot write {}", path.display()))?;
        let when = self.manifest.clone().map_or(When::New, |manifest| When::Still(Box::new(manifest)));
        if put(&path, &self.folder.join(MANIFEST), when, given_up)? {
            return Ok(());
        }
        bail!("another run wrote {} in the meantime, and what it wrote stays; run it again", self.folder)
    }
}

/// Returns true if an object is the file of this name here, or is in the folder of this name, which ends with a slash.
pub(super) fn is_of(name: &str, file: &str) -> bool {
    let here = name_here(name);
    name == file || here == file || file.ends_with('/') && here.starts_with(file)
}

/// Returns the name on this machine of a file that has this name in a store, or here.
pub(crate) fn name_here(name: &str) -> Cow<'_, str> {
    if let Some((folder, file)) = folder_of_sealed(name) {
        return Cow::Owned(format!("{folder}/{file}"));
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    stem_of_sealed(name).map_or(Cow::Borrowed(name), |stem| Cow::Owned(format!("{stem}.{extension}")))
}

/// Returns the part before the seal in the name of a file in a store, if it has a seal.
pub(crate) fn stem_of_sealed(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".parquet").or_else(|| name.strip_suffix(".json"))?;
    without_seal(stem)
}

/// Splits a name into the folder, without its seal, and the file. Returns `None` if the folder has no seal.
fn folder_of_sealed(name: &str) -> Option<(&str, &str)> {
    let (folder, file) = name.split_once('/')?;
    Some((without_seal(folder)?, file))
}

fn without_seal(name: &str) -> Option<&str> {
    let (stem, seal) = name.rsplit_once('-')?;
    (seal.len() == 16 && seal.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(stem)
}

/// Returns the files of these tables of a folder in a store, if its manifest names them.
pub(crate) fn table_files(folder: &Location, tables: &[&str]) -> Result<Option<Vec<PathBuf>>> {
    if folder.is_web() {
        return Ok(None);
    }
    let folder = folder.as_prefix();
    let path = |name: &str| PathBuf::from(folder.join(name).to_string());
    let Some(manifest) = Manifest::of(Path::new(&folder.to_string()), folder.stores())? else { return Ok(None) };
    let file_of = |table: &&str| manifest.file(&format!("{table}.parquet")).map(|named| path(&named.name));
    Ok(tables.iter().map(file_of).collect())
}
