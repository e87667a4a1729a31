use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use super::Ending;
use super::run::{Stdout, grouped};
use crate::export::{Manifest, names};
use crate::index::Index;
use crate::ingest::FILES;
use crate::seal::{Root, Verified, verify};
use crate::store::{Location, redacted};

/// Check that results, corpora and indexes are what was written: each byte of each file
///
/// Prints a line for each file. Ends with exit code 1 if one is damaged, missing, or has no seal: then nothing says what was
/// written. CSV and JSON lines have none.
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Parquet files, corpora, indexes, and other folders that ibid wrote
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

/// How many files there were, and how many of them are not as they should be.
#[derive(Default)]
struct Counts {
    files: u64,
    wrong: u64,
}

impl Verify {
    pub(super) fn run(self) -> Result<Ending> {
        let mut counts = Counts::default();
        for path in &self.paths {
            for (file, seal) in files(path)? {
                counts.files += 1;
                let found = match verify_file(&file, seal) {
                    Ok(found) => found,
                    Err(error) => {
                        counts.wrong += 1;
                        format!("WRONG: {error:#}")
                    }
                };
                writeln!(Stdout, "{}: {}", redacted(&file.display().to_string()), redacted(&found))?;
            }
        }
        let Counts { files, wrong } = counts;
        if wrong > 0 {
            bail!("{} of {} files are not what was written", grouped(wrong), grouped(files));
        }
        writeln!(Stdout, "{} files, all as they were written", grouped(files))?;
        Ok(Ending::Done)
    }
}

/// The files of a result, each with its seal where that is written elsewhere, too.
fn files(path: &Path) -> Result<Vec<(PathBuf, Option<Root>)>> {
    let is_folder = match Location::of_path(path)? {
        Some(location) => location.is_prefix() || location.key().extension().is_none(),
        None => path.is_dir(),
    };
    if !is_folder {
        return Ok(vec![(path.to_path_buf(), None)]);
    }
    if Index::is_at(path) {
        return Ok(Index::open(path)?.sealed_files());
    }
    if let Some(manifest) = Manifest::of(path)? {
        return Ok(manifest.files.iter().map(|file| (path.join(&file.name), Some(file.seal))).collect());
    }
    let names = names(path)?;
    if names.is_empty() {
        bail!("{}: there are no Parquet files in it; name a result of ibid, such as {}", path.display(), FILES[0]);
    }
    Ok(names.into_iter().map(|name| (path.join(name), None)).collect())
}

/// What a file is found to be.
fn verify_file(path: &Path, written: Option<Root>) -> Result<String> {
    match verify(path)? {
        Verified::Sealed { seal, bytes } => {
            if let Some(written) = written.filter(|written| *written != seal.root) {
                bail!("its seal is {}, and {written} was written", seal.root);
            }
            Ok(format!("sound, {} rows, {} bytes, seal {}", grouped(seal.rows), grouped(bytes), seal.root))
        }
        Verified::Unsealed => bail!("it has no seal, so nothing says what was written"),
    }
}
