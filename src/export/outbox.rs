//! What is written bit by bit while a command runs, and takes its place when it ends.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use anyhow::Result;
use tempfile::NamedTempFile;

use super::objects::PREFIX;
use super::staging::StagedFile;
use crate::cleanup;
use crate::store::Location;

/// The files, each with its place.
static OUTBOX: Mutex<Vec<(PathBuf, StagedFile)>> = Mutex::new(Vec::new());

fn outbox() -> MutexGuard<'static, Vec<(PathBuf, StagedFile)>> {
    OUTBOX.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file of this machine in which what goes to `target` is collected.
pub(crate) fn collected(target: &Path) -> Result<PathBuf> {
    let mut outbox = outbox();
    if let Some((_, file)) = outbox.iter().find(|(known, _)| known == target) {
        return Ok(file.path().to_path_buf());
    }
    let file = StagedFile::create(target)?;
    let path = file.path().to_path_buf();
    outbox.push((target.to_path_buf(), file));
    Ok(path)
}

/// As [`collected`], but the file itself, unless it is an object: for what others read while the command runs.
pub(crate) fn live(target: &Path) -> Result<PathBuf> {
    if Location::of_path(target)?.is_some() { collected(target) } else { Ok(target.to_path_buf()) }
}

/// A file that goes with the program, and that `ibid gc` removes where it did not.
pub(crate) fn temporary_file() -> io::Result<NamedTempFile> {
    let make = || tempfile::Builder::new().prefix(PREFIX).suffix(super::staging::STAGING).tempfile();
    cleanup::noted(make, NamedTempFile::path).inspect(|file| super::hold(file.as_file()))
}

/// Puts all of it in place.
pub(crate) fn send() -> Result<()> {
    outbox().drain(..).try_for_each(|(_, file)| file.commit())
}

/// Drops what is still collected when a command ends before it is sent, as one that is given up.
pub(crate) struct Unsent;

impl Drop for Unsent {
    fn drop(&mut self) {
        outbox().clear();
    }
}

/// Puts in place what a command has collected that fails, and leaves what is there where that is nothing.
pub(crate) fn send_found() -> Result<()> {
    outbox().retain(|(_, file)| fs::metadata(file.path()).is_ok_and(|found| found.len() > 0));
    send()
}
