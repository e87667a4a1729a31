//! Links in folders that are walked through.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::DirEntry;

/// Where a link leads that no file can be found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nowhere {
    /// To a folder above it.
    Loop,
    /// To nothing, or to what was removed meanwhile.
    Nothing,
}

/// Whether it is a link to a folder that `top` is in, from which a walk began: that is no loop to who walks.
pub(crate) fn leads_above(entry: &DirEntry, top: &Path) -> bool {
    let is_above = |to: PathBuf| top.canonicalize().is_ok_and(|top| top.starts_with(to));
    entry.file_type().is_dir() && entry.path_is_symlink() && entry.path().canonicalize().is_ok_and(is_above)
}

/// Where a link leads that no file can be found by, if this is one.
pub(crate) fn nowhere(error: &walkdir::Error) -> Option<Nowhere> {
    if error.loop_ancestor().is_some() {
        return Some(Nowhere::Loop);
    }
    let kind = error.io_error()?.kind();
    let is_link = || error.path().and_then(|path| path.symlink_metadata().ok()).is_some_and(|path| path.is_symlink());
    // A link to itself has an error of a kind without a name.
    let leads_nowhere = kind == io::ErrorKind::NotFound || kind != io::ErrorKind::PermissionDenied && is_link();
    leads_nowhere.then_some(Nowhere::Nothing)
}
