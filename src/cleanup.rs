//! What has to be removed when the program is interrupted, since nothing is dropped then.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes a temporary file or folder.
pub(crate) fn note(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// Removes what was noted and is still there. What took its place in the meantime has another name.
pub(crate) fn remove_all() {
    for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Whatever is gone already, or cannot be removed, is nothing to wait for.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}
