//! What is in a folder of runs that are over: what they staged and did not put in its place, their temporary tables, and the
//! tables that they kept for others to resume.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use crate::export::{MANIFEST, is_staging};

/// How the names of folders for temporary tables begin.
pub(crate) const WORKSPACE: &str = "ibid-";

/// The file of such a folder that is locked while its run lives.
pub(crate) const LOCK: &str = "lock";

/// What was removed, or would be.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// The files and folders that are gone, below the folder that was looked at, and how many bytes they had.
    pub(crate) paths: Vec<(PathBuf, u64)>,
    /// How many files and folders are too young to be removed.
    pub(crate) young: usize,
}

impl Removed {
    /// Removes what is left over in a folder and not younger than `grace`.
    pub(crate) fn collect(&mut self, folder: &Path, grace: Duration, dry_run: bool) -> Result<()> {
        for path in entries(folder)? {
            if is_left_over(&path) {
                self.remove_older(folder, &path, grace, dry_run)?;
            }
        }
        Ok(())
    }

    /// Removes a file or a folder of files, unless it is younger than `grace`.
    pub(crate) fn remove_older(&mut self, below: &Path, path: &Path, grace: Duration, dry_run: bool) -> Result<()> {
        if is_older(path, grace) {
            self.remove(below, path, dry_run)
        } else {
            self.young += 1;
            Ok(())
        }
    }

    /// Removes a file or a folder of files.
    pub(crate) fn remove(&mut self, below: &Path, path: &Path, dry_run: bool) -> Result<()> {
        let bytes = bytes(path)?;
        if !dry_run {
            let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
        }
        self.paths.push((path.strip_prefix(below).unwrap_or(path).to_path_buf(), bytes));
        Ok(())
    }
}

/// Whether a run left this that is over.
fn is_left_over(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let is_key = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_staging(name)
        || (is_key && path.join(MANIFEST).is_file())
        || (name.starts_with(WORKSPACE) && File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()))
}

/// Whether a file, or a folder with all that is in it, was written so long ago. What cannot be told is young.
pub(crate) fn is_older(path: &Path, than: Duration) -> bool {
    let now = SystemTime::now();
    let of = |path: &Path| {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        written.and_then(|written| now.duration_since(written).ok()).is_some_and(|age| age >= than)
    };
    let within = if path.is_dir() { entries(path).unwrap_or_default() } else { Vec::new() };
    of(path) && within.iter().all(|path| of(path))
}

/// What is in a folder, in the order of names.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(failed)?;
    paths.sort();
    Ok(paths)
}

/// How many bytes a file has, or all files of a folder.
fn bytes(path: &Path) -> Result<u64> {
    let metadata = fs::symlink_metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    if metadata.is_dir() { entries(path)?.iter().map(|path| bytes(path)).sum() } else { Ok(metadata.len()) }
}
