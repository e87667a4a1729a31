//! Temporary files to remove when the program is interrupted, since nothing is dropped then.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::store::{Location, Stores, give_up, remove_folder};

static TEMPORARY: Mutex<Vec<Noted>> = Mutex::new(Vec::new());

/// A place to clean up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Noted {
    /// A file or a folder.
    Path(PathBuf),
    Object(Location),
}

/// A guard. While it is kept, nobody else makes or removes temporary files, puts a folder in its place, or ends the
/// program.
#[must_use]
pub struct CleanupGuard(MutexGuard<'static, Vec<Noted>>);

impl CleanupGuard {
    /// Notes files, folders or objects that are about to be created.
    pub(crate) fn note(&mut self, places: &[Noted]) {
        self.0.extend_from_slice(places);
    }

    /// Removes places from the list, so that they stay.
    pub(crate) fn forget(&mut self, places: &[Noted]) {
        self.0.retain(|place| !places.contains(place));
    }
}

/// Takes the guard, once nobody else has it.
pub fn hold() -> CleanupGuard {
    CleanupGuard(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes a temporary file or folder and notes its path.
pub(crate) fn noted<T>(make: impl FnOnce() -> io::Result<T>, path: impl FnOnce(&T) -> &Path) -> io::Result<T> {
    let mut temporary = hold();
    let made = make()?;
    temporary.0.push(Noted::Path(path(&made).to_path_buf()));
    Ok(made)
}

/// Removes the noted places that still exist, gives up the uploads to these stores, and returns the guard, so that
/// nothing new is made. A staging file that was renamed in the meantime is not removed.
pub fn remove_all(stores: &Arc<Stores>) -> CleanupGuard {
    let mut temporary = hold();
    let mut objects = Vec::new();
    for noted in temporary.0.drain(..) {
        let path = match noted {
            Noted::Path(path) => path,
            Noted::Object(object) => {
                objects.push(object);
                continue;
            }
        };
        // A thread that still runs may put a file into a folder that is being emptied.
        for _ in 0..50 {
            let removed = if path.is_dir() { remove_folder(&path) } else { fs::remove_file(&path) };
            if removed.is_ok() || !path.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    give_up(stores, objects);
    temporary
}
