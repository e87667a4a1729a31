use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::Ending;
use super::run::print;
use ibid::methods::{self, Removal};
use ibid::program::grouped;
use ibid::program::methods::duration;
use ibid::program::store::Stores;

/// Remove the files that killed runs left; from an index also old manifests, and documents that are too old
///
/// Removes from an index all files that it does not need. From any other folder it removes files that lie directly in it:
/// staged files and folders of a result, temporary tables (in the folder for temporary files, such as /tmp), and tables that
/// --resume kept. In S3 it also aborts unfinished uploads there, whichever program began them.
#[derive(Debug, Args)]
pub(super) struct Gc {
    /// The index, a folder that --add made, or any other folder
    folder: PathBuf,
    /// Drop the parts whose documents are all older than this time: a date, a time, a year, or seconds since 1970
    #[arg(long, value_name = "TIME", conflicts_with = "window")]
    before: Option<String>,
    /// Drop the parts whose documents are all this much older than the newest of the index, such as 72h or 30days
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    window: Option<Duration>,
    /// Remove no file before it has been out of use for this long, because a run may be about to use it, or may still read it
    #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = duration)]
    grace: Duration,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

impl Gc {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut gc = methods::Gc::new(self.folder.clone(), stores).grace(self.grace);
        if let Some(time) = &self.before {
            gc = gc.before(time);
        }
        if let Some(window) = self.window {
            gc = gc.window(window);
        }
        if self.dry_run {
            gc = gc.dry_run();
        }
        print(&self.describe(&gc.await?))
    }

    fn describe(&self, removal: &Removal) -> String {
        let would = if self.dry_run { "would be " } else { "" };
        let mut lines = Vec::new();
        for (part, documents) in &removal.dropped {
            lines.push(format!("parts/{part}: {would}dropped, {} documents", grouped(*documents)));
        }
        for (path, bytes) in &removal.removed {
            lines.push(format!("{}: {would}removed, {} bytes", path.display(), grouped(*bytes)));
        }
        for upload in &removal.uploads {
            lines.push(format!("{upload}: an upload that was not ended, {would}given up"));
        }
        for part in &removal.kept {
            lines.push(format!("parts/{part}: not needed, and kept because of files in it that ibid did not write"));
        }
        lines.push(format!(
            "parts {would}dropped {}, files and folders {would}removed {}, bytes {}",
            removal.dropped.len(),
            removal.removed.len(),
            grouped(removal.removed.iter().map(|(_, bytes)| bytes).sum())
        ));
        if removal.young > 0 {
            lines.push(format!(
                "what is not needed and is younger than --grace is left for a later call: {} parts and files",
                removal.young
            ));
        }
        lines.join("\n") + "\n"
    }
}
