//! Leftovers in a folder of runs that are over: staging files and folders, temporary tables, and tables that were kept
//! for other runs to resume.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use super::{MANIFEST, Manifest, Unheld, abandoned, is_random, name_here, names, stem_of_sealed, unheld};
use crate::store::{self, LOCK, Location, Object, Stores, Upload, entries, has_only, remove_folder, seal_of};

/// Prefix of the names of folders for temporary tables.
pub(crate) const WORKSPACE: &str = "ibid-";

/// The files and uploads that were removed, or would be.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// The removed files and folders, relative to the folder that was searched, and their sizes in bytes.
    pub(crate) paths: Vec<(PathBuf, u64)>,
    /// The objects whose unfinished uploads were aborted.
    pub(crate) uploads: Vec<Location>,
    /// The number of files, folders and uploads that are too young to be removed.
    pub(crate) young: usize,
}

impl Removed {
    /// Removes leftovers that are directly in a folder, and not younger than `grace`. In a store, uploads are aborted
    /// anywhere in an index, and a folder of results may have `files`.
    pub(crate) fn collect(
        &mut self,
        folder: &Path,
        is_index: bool,
        files: &[&str],
        grace: Duration,
        dry_run: bool,
        stores: &Arc<Stores>,
    ) -> Result<()> {
        if let Some(location) = Location::of_path(folder, stores)? {
            for path in unnamed(folder, files, stores)? {
                // A run may have named it since.
                let manifest = Manifest::of(folder, stores)?;
                if manifest.zip(name_of(&path)).is_none_or(|(manifest, name)| manifest.seal_of(name).is_none()) {
                    self.remove_older(folder, &path, grace, dry_run, stores)?;
                }
            }
            return self.abort_uploads(&location, is_index, grace, dry_run);
        }
        for path in entries(folder, stores)? {
            if let Some(_held) = left_over(&path, stores) {
                self.remove_older(folder, &path, grace, dry_run, stores)?;
            }
        }
        Ok(())
    }

    /// Aborts the unfinished uploads to a store.
    fn abort_uploads(&mut self, folder: &Location, is_index: bool, grace: Duration, dry_run: bool) -> Result<()> {
        let depth = folder.key().parts().count() + 1;
        let uploads = Upload::list(folder)?.into_iter();
        for upload in uploads.filter(|upload| is_index || upload.location.key().parts().count() == depth) {
            if upload.age().is_none_or(|age| age < grace) {
                self.young += 1;
                continue;
            }
            if !dry_run {
                upload.abort()?;
            }
            self.uploads.push(upload.location);
        }
        Ok(())
    }

    /// Removes a file or a folder of files, unless it is younger than `grace`.
    pub(crate) fn remove_older(
        &mut self,
        folder: &Path,
        path: &Path,
        grace: Duration,
        dry_run: bool,
        stores: &Arc<Stores>,
    ) -> Result<()> {
        if let Some(location) = Location::of_path(path, stores)? {
            let objects = below(&location)?;
            if are_older(&objects, grace) {
                return self.remove_objects(folder, path, &objects, dry_run);
            }
        } else if is_older(path, grace, stores) {
            return self.remove(folder, path, dry_run, stores);
        }
        self.young += 1;
        Ok(())
    }

    fn remove_objects(&mut self, folder: &Path, path: &Path, objects: &[Object], dry_run: bool) -> Result<()> {
        if !dry_run {
            objects.iter().try_for_each(|object| store::remove(&object.location))?;
        }
        let bytes = objects.iter().map(|object| object.size).sum();
        self.paths.push((path.strip_prefix(folder).unwrap_or(path).to_path_buf(), bytes));
        Ok(())
    }

    /// Removes a file or a folder of files.
    pub(crate) fn remove(&mut self, folder: &Path, path: &Path, dry_run: bool, stores: &Arc<Stores>) -> Result<()> {
        if let Some(location) = Location::of_path(path, stores)? {
            return self.remove_objects(folder, path, &below(&location)?, dry_run);
        }
        let bytes = bytes(path, stores)?;
        if !dry_run {
            let removed = if path.is_dir() { remove_folder(path) } else { fs::remove_file(path) };
            match removed {
                // The run that made it, or another `ibid gc`, came first.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                removed => removed.with_context(|| format!("cannot remove {}", path.display()))?,
            }
        }
        self.paths.push((path.strip_prefix(folder).unwrap_or(path).to_path_buf(), bytes));
        Ok(())
    }
}

/// Returns the object of this name, and all objects below it.
fn below(location: &Location) -> Result<Vec<Object>> {
    let mut objects = Object::list(&location.as_prefix(), usize::MAX)?;
    objects.extend(Object::find(location)?);
    Ok(objects)
}

/// Returns the files of results in a folder of a store that its manifest does not name: those of earlier manifests, of
/// a folder that was copied there, and of runs that were killed before they wrote a manifest.
fn unnamed(folder: &Path, files: &[&str], stores: &Arc<Stores>) -> Result<Vec<PathBuf>> {
    // The manifest is read after the names, so that it includes the files that a run names in the meantime.
    let (names, manifest) = (names(folder, stores)?, Manifest::of(folder, stores)?);
    let is_replaced = |file: &str| manifest.as_ref().is_some_and(|manifest| manifest.file(file).is_some());
    let is_unnamed = |name: &String| {
        let is_named = manifest.as_ref().is_some_and(|manifest| manifest.seal_of(name).is_some());
        let stem = stem_of_sealed(name);
        let file = name_here(name);
        let may_be_ours = is_replaced(&file) || (stem.is_some() && files.contains(&&*file));
        // Others may have such names. A file that cannot be read is not known to be ours.
        let has_seal = || {
            let seal = seal_of(&folder.join(name), stores).ok().flatten();
            seal.is_some_and(|seal| stem.is_none() || name.ends_with(&format!("-{}.parquet", seal.root)))
        };
        !is_named && may_be_ours && has_seal()
    };
    let mut unnamed: Vec<_> = names.iter().filter(|name| is_unnamed(name)).map(|name| folder.join(name)).collect();
    // JSON files and folders of files are known by names that the manifest has with another seal.
    if let (Some(manifest), Some(location)) = (&manifest, Location::of_path(folder, stores)?) {
        let (objects, folders) = Object::list_folder(&location)?;
        let name = |location: &Location| location.key().filename().map(str::to_owned);
        let beside = objects.iter().filter_map(|object| name(&object.location)).filter(|name| name.ends_with(".json"));
        unnamed.extend(beside.filter(|name| manifest.instead_of(name).is_some()).map(|name| folder.join(name)));
        let within = folders.iter().filter_map(name).filter(|name| manifest.has_instead_of_folder(name));
        unnamed.extend(within.map(|name| folder.join(name)));
    }
    Ok(unnamed)
}

/// Returns the hold on a leftover of a run that is over, if this is one. A name is not enough, since others may use it.
fn left_over(path: &Path, stores: &Arc<Stores>) -> Option<Unheld> {
    abandoned(path)
        .or_else(|| if path.is_symlink() { None } else { kept_table(path, stores).or_else(|| workspace(path, stores)) })
}

/// Returns the hold on a table that --resume kept, if nothing else is beside it.
fn kept_table(path: &Path, stores: &Arc<Stores>) -> Option<Unheld> {
    let is_key = |name: &str| name.len() == 32 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !name_of(path).is_some_and(is_key) || !Manifest::is_in(path) {
        return None;
    }
    let held = unheld(path)?;
    let manifest = Manifest::of(path, stores).ok()??;
    let is_of_table = |name: &str| name == MANIFEST || manifest.seal_of(name).is_some();
    let is_kept = manifest.about["key"].is_string() && !manifest.about["noted"].is_null();
    (is_kept && has_only(path, is_of_table, stores)).then_some(held)
}

/// Returns the hold on a folder for temporary tables of a run that is over, if it contains nothing that such a run does
/// not write. A run that was killed before it made its lock, or after it removed the lock, leaves an empty folder.
fn workspace(path: &Path, stores: &Arc<Stores>) -> Option<Unheld> {
    name_of(path).and_then(|name| name.strip_prefix(WORKSPACE)).filter(|name| is_random(name))?;
    let lock = path.join(LOCK);
    match fs::symlink_metadata(&lock) {
        Ok(found) if found.is_file() && found.len() == 0 => {
            unheld(&lock).filter(|_| has_only(path, is_of_workspace, stores))
        }
        Err(_) if is_private(path) && entries(path, stores).is_ok_and(|entries| entries.is_empty()) => {
            Some(Unheld::default())
        }
        _ => None,
    }
}

/// Returns true if nobody else may look into a folder. Runs make their folders private.
fn is_private(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o777 == 0o700)
    }
    #[cfg(not(unix))]
    folder.is_dir()
}

/// Returns true if a run gives this name to an entry of its folder for temporary tables.
fn is_of_workspace(name: &str) -> bool {
    [LOCK, "fetched", "printed"].contains(&name)
        || [".tmp", "datafusion-", "judged-"].iter().any(|prefix| name.starts_with(prefix))
        || ["corpus", ".parquet"].iter().any(|suffix| name.ends_with(suffix))
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn are_older(objects: &[Object], than: Duration) -> bool {
    !objects.is_empty() && objects.iter().all(|object| object.age().is_some_and(|age| age >= than))
}

/// Returns true if a file, or a folder with all its entries, is older than `than`. Entries of unknown age count as
/// recent.
pub(crate) fn is_older(path: &Path, than: Duration, stores: &Arc<Stores>) -> bool {
    if let Ok(Some(location)) = Location::of_path(path, stores) {
        return are_older(&below(&location).unwrap_or_default(), than);
    }
    let now = SystemTime::now();
    let of = |path: &Path| {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        written.and_then(|written| now.duration_since(written).ok()).is_some_and(|age| age >= than)
    };
    let within = if path.is_dir() { entries(path, stores).unwrap_or_default() } else { Vec::new() };
    of(path) && within.iter().all(|path| of(path))
}

/// Returns the size of a file, or of all files in a folder.
fn bytes(path: &Path, stores: &Arc<Stores>) -> Result<u64> {
    let metadata = fs::symlink_metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if metadata.is_dir() {
        entries(path, stores)?.iter().map(|path| bytes(path, stores)).sum()
    } else {
        Ok(metadata.len())
    }
}
