//! Symlinks in folders that are walked through.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::DirEntry;

/// The reason why a symlink leads to no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nowhere {
    /// A symlink to a folder above itself.
    Loop,
    /// A symlink to nothing, or to something that was removed meanwhile.
    Nothing,
}

/// Returns true if the entry is a symlink to a folder that contains `top`, where the walk began. The walk itself sees
/// no loop there.
pub(crate) fn leads_above(entry: &DirEntry, top: &Path) -> bool {
    let is_above = |to: PathBuf| top.canonicalize().is_ok_and(|top| top.starts_with(to));
    entry.file_type().is_dir() && entry.path_is_symlink() && entry.path().canonicalize().is_ok_and(is_above)
}

/// Returns the reason why a symlink leads to no file, if that is the cause of the error.
pub(crate) fn nowhere(error: &walkdir::Error) -> Option<Nowhere> {
    if error.loop_ancestor().is_some() {
        return Some(Nowhere::Loop);
    }
    let kind = error.io_error()?.kind();
    let is_link = || error.path().and_then(|path| path.symlink_metadata().ok()).is_some_and(|path| path.is_symlink());
    // The error kind for a link to itself has no name.
    let leads_nowhere = kind == io::ErrorKind::NotFound || kind != io::ErrorKind::PermissionDenied && is_link();
    leads_nowhere.then_some(Nowhere::Nothing)
}
