use std::path::Path;

use anyhow::{Context, Result, bail};
use parquet::file::reader::Length as _;

use super::{BLOCK, End, Root, Seal};
use crate::store::Source;

/// How much of the end of a file is read at first: the footers of most files, and what stands before them.
pub(super) const FIRST_END: u64 = 64 << 10;

/// What a file was found to be.
#[derive(Debug)]
pub(crate) enum Verified {
    /// As it was written.
    Sealed { seal: Seal, bytes: u64 },
    /// No file with a seal.
    Unsealed,
}

/// The seal of a file, if it has one, of which the footer alone is read; an error if the footer is damaged.
pub(crate) fn seal_of(path: &Path) -> Result<Option<Seal>> {
    let mut file = Source::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    read_seal(&mut file).with_context(|| path.display().to_string())
}

/// Fails where a file is another than was written with this seal. What it holds is checked as it is read.
pub(crate) fn check_seal(path: &Path, written: Root) -> Result<()> {
    let found = seal_of(path)?.map(|seal| seal.root);
    if found == Some(written) {
        return Ok(());
    }
    bail!(
        "{} is not what was written: its seal is {}, and {written} was written; put it back from a copy, or write it again",
        path.display(),
        found.map_or("missing".to_owned(), |seal| seal.to_string())
    )
}

/// Checks all bytes of a file. What is damaged is an error.
pub(crate) fn verify(path: &Path) -> Result<Verified> {
    let mut file = Source::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    verify_source(&mut file).with_context(|| path.display().to_string())
}

/// Checks all bytes of what is open.
pub(crate) fn verify_source(file: &mut Source) -> Result<Verified> {
    let Some(seal) = read_seal(file)? else { return Ok(Verified::Unsealed) };
    let mut from = 0;
    while from < seal.covered {
        let wanted = (seal.covered - from).min(16 * BLOCK as u64);
        let blocks = file.read(from..from + wanted).context("cannot read it")?;
        if blocks.len() as u64 != wanted {
            bail!("it changed while it was read");
        }
        seal.check(&blocks, from)?;
        from += wanted;
    }
    Ok(Verified::Sealed { seal, bytes: file.len() })
}

fn read_seal(file: &mut Source) -> Result<Option<Seal>> {
    let size = file.len();
    let mut wanted = FIRST_END.min(size);
    loop {
        let end = file.read(size - wanted..size)?;
        match Seal::of_end(&end, size)? {
            End::Sealed(seal) => return Ok(Some(seal)),
            End::Unsealed => return Ok(None),
            End::Needs(more) if more > wanted && more <= size => wanted = more,
            End::Needs(_) => bail!("it changed while it was read"),
        }
    }
}
