//! Folders of results in object stores.
//!
//! Objects cannot be replaced together. So the files of a folder have names of their own there, by their seals, and the
//! manifest says which of them count: it is written last, by one request, and only where it is still the one that was there
//! when the run began. What an earlier manifest named stays, since somebody may read it, until `ibid gc` removes it.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{MANIFEST, Manifest};
use crate::export::cleanup;
use crate::seal::sealed_json;
use crate::store::{self, GivenUp, Location, Object, When, put};

/// How the names of what is staged on this machine begin.
pub(super) const PREFIX: &str = ".ibid-object.";

/// How many objects are looked at for one that ibid did not write.
const LOOKED_AT: usize = 10_000;

/// A folder of a store that is to be written.
pub(super) struct ObjectsFolder {
    folder: Location,
    /// The manifest that was there when the run began.
    manifest: Option<Object>,
}

impl ObjectsFolder {
    /// Fails where the folder has anything but `files` and a manifest, or cannot be written.
    pub(super) fn check(folder: Location, files: &[&str]) -> Result<Self> {
        if folder.is_web() {
            bail!("cannot write {folder}: a web server has no folders; name a bucket, or a folder of this machine");
        }
        let failed = |error| store::failed("cannot write", &folder, error);
        let objects = Object::list(&folder, LOOKED_AT).map_err(failed)?;
        // Others may have files of such names, too. A manifest that is damaged is ours, and says no more.
        let manifest = Manifest::of(Path::new(&folder.to_string()), folder.stores());
        let is_ours = |object: &Object| {
            let below = object.location.key().as_ref().get(folder.key().as_ref().len()..).unwrap_or_default();
            let below = below.trim_start_matches('/');
            let is_sealed = stem_of_sealed(below).is_some();
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

    /// Puts the files of a folder of this machine in place, unless that is `given_up`.
    pub(super) fn commit(&self, staged: &Path, given_up: &GivenUp) -> Result<()> {
        let failed = || format!("cannot read {}", staged.display());
        // An interrupt that empties the folder does not make it one without a manifest.
        let hold = cleanup::hold();
        let manifest = Manifest::of(staged, self.folder.stores())?;
        drop(hold);
        let Some(mut manifest) = manifest else {
            // The name of the folder is new, and is known to nobody before it is whole.
            for entry in fs::read_dir(staged).with_context(failed)? {
                let entry = entry.with_context(failed)?;
                let name = entry.file_name();
                let object = self.folder.join(name.to_str().with_context(failed)?);
                put(&entry.path(), &object, When::Always, given_up)?;
            }
            return Ok(());
        };
        for (file, noted) in manifest.files.iter().zip(manifest.about["files"].as_array_mut().into_iter().flatten()) {
            let stem = file.name.strip_suffix(".parquet").unwrap_or(&file.name);
            let name = format!("{stem}-{}.parquet", file.seal);
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

/// Whether an object has the name that a file has here.
pub(super) fn is_of(name: &str, file: &str) -> bool {
    name == file || name_here(name) == file
}

/// The name that a file has on this machine which has this one in a store, or here.
pub(crate) fn name_here(name: &str) -> Cow<'_, str> {
    stem_of_sealed(name).map_or(Cow::Borrowed(name), |stem| Cow::Owned(format!("{stem}.parquet")))
}

/// What stands before the seal in the name of a file in a store, if it has one.
pub(crate) fn stem_of_sealed(name: &str) -> Option<&str> {
    let (stem, seal) = name.strip_suffix(".parquet")?.rsplit_once('-')?;
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
