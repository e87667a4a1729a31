//! What is written bit by bit while a command runs, and becomes an object when it ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use super::objects::PREFIX;
use crate::cleanup;
use crate::store::{Location, When, put};

/// The objects, each with the file that it is until then.
static OUTBOX: Mutex<Vec<(Location, NamedTempFile)>> = Mutex::new(Vec::new());

fn outbox() -> MutexGuard<'static, Vec<(Location, NamedTempFile)>> {
    OUTBOX.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file of this machine in which what goes to `target` is collected: itself, unless it is an object.
pub(crate) fn local(target: &Path) -> Result<PathBuf> {
    let Some(location) = Location::of_path(target)? else { return Ok(target.to_path_buf()) };
    let mut outbox = outbox();
    if let Some((_, file)) = outbox.iter().find(|(known, _)| *known == location) {
        return Ok(file.path().to_path_buf());
    }
    let file = temporary_file().context("cannot make a temporary file")?;
    let path = file.path().to_path_buf();
    outbox.push((location, file));
    Ok(path)
}

/// A file that goes with the program, and that `ibid gc` removes where it did not.
pub(crate) fn temporary_file() -> io::Result<NamedTempFile> {
    let make = || tempfile::Builder::new().prefix(PREFIX).suffix(super::staging::STAGING).tempfile();
    cleanup::noted(make, NamedTempFile::path).inspect(|file| super::hold(file.as_file()))
}

/// Puts all of it in place.
pub(crate) fn send() -> Result<()> {
    for (location, file) in outbox().drain(..) {
        put(file.path(), &location, When::Always)?;
    }
    Ok(())
}
