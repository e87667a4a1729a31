//! The file that keeps the typed statements from one session of the shell to the next.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// The maximum number of statements in the history.
pub(super) const LONGEST: usize = 10_000;

/// Returns the path of the history file, and creates its folder. Only the owner may read either.
pub(super) fn file() -> Result<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(state) => state,
        None => std::env::home_dir().context("there is no home folder")?.join(".local/state"),
    };
    let folder = state.join("ibid");
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("history");
    #[cfg(unix)]
    if file.exists() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, mode)
            .with_context(|| format!("cannot keep {} to its owner", file.display()))?;
    }
    Ok(file)
}
