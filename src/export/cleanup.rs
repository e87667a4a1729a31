//! What has to be removed when the program is interrupted, since nothing is dropped then.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::store::{Location, give_up, remove_folder};

static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// While it is kept, nobody else makes or removes temporary files, puts a folder in its place, or ends the program.
#[must_use]
pub struct Hold(MutexGuard<'static, Vec<PathBuf>>);

impl Hold {
    /// Notes files, folders or objects that are about to be there.
    pub(crate) fn note(&mut self, paths: &[PathBuf]) {
        self.0.extend_from_slice(paths);
    }

    /// From now on they stay.
    pub(crate) fn forget(&mut self, paths: &[PathBuf]) {
        self.0.retain(|path| !paths.contains(path));
    }
}

/// Waits until nobody else has the hold.
pub fn hold() -> Hold {
    Hold(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes a temporary file or folder and notes where it is.
pub(crate) fn noted<T>(make: impl FnOnce() -> io::Result<T>, path: impl FnOnce(&T) -> &Path) -> io::Result<T> {
    let mut temporary = hold();
    let made = make()?;
    temporary.0.push(path(&made).to_path_buf());
    Ok(made)
}

/// Removes what was noted and is still there, and takes the hold, so that nothing new comes. What took the place of a
/// noted file in the meantime has another name.
pub fn remove_all() -> Hold {
    let mut temporary = hold();
    let mut objects = Vec::new();
    for path in temporary.0.drain(..) {
        if let Ok(Some(object)) = Location::of_path(&path) {
            objects.push(object);
            continue;
        }
        // A thread that still runs may put a file into a folder that is being emptied.
        for _ in 0..50 {
            let removed = if path.is_dir() { remove_folder(&path) } else { fs::remove_file(&path) };
            if removed.is_ok() || !path.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    give_up(objects);
    temporary
}
