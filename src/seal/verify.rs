use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{BLOCK, End, Seal};

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
    let failed = || format!("cannot read {}", path.display());
    let (mut file, size) = open(path).with_context(failed)?;
    read_seal(&mut file, size).with_context(|| path.display().to_string())
}

/// Checks all bytes of a file. What is damaged is an error.
pub(crate) fn verify(path: &Path) -> Result<Verified> {
    let failed = || format!("cannot read {}", path.display());
    let (mut file, bytes) = open(path).with_context(failed)?;
    let Some(seal) = read_seal(&mut file, bytes).with_context(|| path.display().to_string())? else {
        return Ok(Verified::Unsealed);
    };
    file.rewind().with_context(failed)?;
    let mut blocks = vec![0; 16 * BLOCK];
    let mut from = 0;
    while from < seal.covered {
        let wanted = usize::try_from(seal.covered - from).unwrap_or(usize::MAX).min(blocks.len());
        file.read_exact(&mut blocks[..wanted]).with_context(failed)?;
        seal.check(&blocks[..wanted], from).with_context(|| path.display().to_string())?;
        from += wanted as u64;
    }
    Ok(Verified::Sealed { seal, bytes })
}

fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

fn read_seal(file: &mut File, size: u64) -> Result<Option<Seal>> {
    let mut wanted = FIRST_END.min(size);
    loop {
        file.seek(SeekFrom::Start(size - wanted))?;
        let mut end = Vec::new();
        file.take(wanted).read_to_end(&mut end)?;
        match Seal::of_end(&end, size)? {
            End::Sealed(seal) => return Ok(Some(seal)),
            End::Unsealed => return Ok(None),
            End::Needs(more) if more > wanted && more <= size => wanted = more,
            End::Needs(_) => bail!("it changed while it was read"),
        }
    }
}
