use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::Ending;
use super::run::{Stdout, in_flags, stdout_is_closed};
use ibid::methods::{self, Outcome};
use ibid::program::grouped;
use ibid::program::store::Stores;

/// Check that results, corpora and indexes are unchanged since they were written: each byte of each file
///
/// Prints a line for each file. Ends with exit code 1 if a file is damaged or missing, or has no seal (checksums) to compare it
/// with. CSV and JSON lines have no seal.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Parquet files, corpora, indexes, and other folders that ibid wrote
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

impl Verify {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let shown = Arc::new(Mutex::new(Ok(())));
        let showing = Arc::clone(&shown);
        let verify = methods::Verify::new(self.paths.clone(), stores).on_file(move |checked| {
            let mut shown = showing.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.is_ok() {
                *shown = show(&in_flags(&format!("{}: {}", checked.file, checked.said)));
            }
        });
        let checked = verify.await?;
        std::mem::replace(&mut *shown.lock().unwrap_or_else(PoisonError::into_inner), Ok(()))?;
        let count = |outcome| checked.iter().filter(|checked| checked.outcome == outcome).count() as u64;
        let [sound, wrong, passed_over] = [Outcome::Sound, Outcome::Wrong, Outcome::PassedOver].map(count);
        let files = sound + wrong;
        if wrong > 0 {
            // A wrong file is an error even if standard output was closed.
            let said = anyhow!("{} of {} files are not what was written", grouped(wrong), grouped(files));
            return Ok(Ending::Failed(said));
        }
        let others = if passed_over > 0 { format!("; passed over {}", grouped(passed_over)) } else { String::new() };
        show(&format!("{} files, all as they were written{others}", grouped(files)))?;
        Ok(Ending::Done)
    }
}

/// Prints a line, unless standard output was closed.
fn show(line: &str) -> Result<()> {
    match writeln!(Stdout, "{line}") {
        Err(error) if !stdout_is_closed() => Err(error).context("cannot write to standard output"),
        _ => Ok(()),
    }
}
