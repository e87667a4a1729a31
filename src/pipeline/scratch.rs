use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::export::orphaned_files::WORKSPACE;
use crate::export::{cleanup, hold, set_mode};
use crate::store::{LOCK, remove_folder};

/// A temporary folder, which is removed when it is dropped. `ibid gc` removes it if that failed.
pub(crate) struct Scratch {
    folder: TempDir,
    /// A lock that marks the folder as in use, as long as it is kept.
    _lock: File,
}

impl Scratch {
    /// Makes a folder in another one, or in the system's folder for temporary files.
    pub(crate) fn try_new(within: Option<&Path>) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        // The folder may contain data of files that nobody else may read.
        set_mode(builder.prefix(WORKSPACE), 0o700);
        let make = || within.map_or_else(|| builder.tempdir(), |within| builder.tempdir_in(within));
        let folder =
            cleanup::noted(make, TempDir::path).context("cannot make a temporary folder; TMPDIR names its place")?;
        let lock = File::create(folder.path().join(LOCK)).context("cannot write into a temporary folder")?;
        hold(&lock);
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The drop of `folder` tries once more to remove what is left.
        let _ = remove_folder(self.folder.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_is_of_this_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::try_new(None).unwrap();
        assert_eq!(std::fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
