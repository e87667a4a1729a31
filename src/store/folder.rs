//! Folders on this machine and in stores.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use super::location::Location;
use super::object::Object;
use super::registry::Stores;

/// Name of the file that distinguishes a folder for temporary tables from others of such a name. It is locked while its
/// run lives.
pub(crate) const LOCK: &str = "lock";

/// Returns the paths in a folder, in the order of names.
pub(crate) fn entries(folder: &Path, stores: &Arc<Stores>) -> Result<Vec<PathBuf>> {
    if let Some(location) = Location::of_path(folder, stores)? {
        let (objects, folders) = Object::list_folder(&location)?;
        let locations = objects.into_iter().map(|object| object.location).chain(folders);
        let mut paths: Vec<_> =
            locations.filter_map(|location| location.key().filename().map(|name| folder.join(name))).collect();
        paths.sort();
        paths.dedup();
        return Ok(paths);
    }
    let failed = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(failed)?;
    paths.sort();
    Ok(paths)
}

/// Returns true if `is_ours` accepts all names in a folder.
pub(crate) fn has_only(folder: &Path, is_ours: impl Fn(&str) -> bool, stores: &Arc<Stores>) -> bool {
    entries(folder, stores).is_ok_and(|entries| {
        entries.iter().all(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_ours))
    })
}

/// Removes a folder. The [`LOCK`], which marks a folder for temporary tables, is removed last. New files in the folder
/// stay.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    let mut lock = None;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            lock = Some(entry.path());
        } else if entry.file_type()?.is_dir() {
            gone(fs::remove_dir_all(entry.path()))?;
        } else {
            gone(fs::remove_file(entry.path()))?;
        }
    }
    lock.map_or(Ok(()), |lock| gone(fs::remove_file(lock)))?;
    fs::remove_dir(folder)
}
