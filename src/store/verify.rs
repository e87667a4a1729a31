use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore};
use parquet::file::reader::Length as _;

use xxhash_rust::xxh3::Xxh3Default;

use super::registry::Stores;
use super::source::Source;
use crate::seal::{BLOCK, END, End, Root, Seal};

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
pub(crate) fn seal_of(path: &Path, stores: &Arc<Stores>) -> Result<Option<Seal>> {
    let mut file = Source::open(path, stores).with_context(|| format!("cannot read {}", path.display()))?;
    read_seal(&mut file).with_context(|| path.display().to_string())
}

/// Fails where a file is another than was written with this seal. What it holds is checked as it is read.
pub(crate) fn check_seal(path: &Path, written: Root, stores: &Arc<Stores>) -> Result<()> {
    check_root(&path.display(), seal_of(path, stores)?.as_ref(), written)
}

/// The same of a file whose seal is known.
pub(crate) fn check_root(file: &impl Display, found: Option<&Seal>, written: Root) -> Result<()> {
    if found.is_some_and(|seal| seal.root == written) {
        return Ok(());
    }
    bail!(
        "{file} is not what was written: its seal is {}, and {written} was written; put it back from a copy, or write it again",
        found.map_or("missing".to_owned(), |seal| seal.root.to_string())
    )
}

/// The seal of a file in a store. Where the store is a [`SealedStore`](super::SealedStore), it is asked for what that reads in any
/// case.
pub(crate) async fn seal_in(store: &dyn ObjectStore, key: &Key) -> Result<Option<Seal>> {
    let mut wanted = END as u64;
    loop {
        let options = GetOptions { range: Some(GetRange::Suffix(wanted)), ..GetOptions::default() };
        let got = store.get_opts(key, options).await?;
        let size = got.meta.size;
        match Seal::of_end(&got.bytes().await?, size)? {
            End::Sealed(seal) => return Ok(Some(seal)),
            End::Unsealed => return Ok(None),
            End::Needs(more) if more > wanted && more <= size => wanted = more,
            End::Needs(_) => bail!("it changed while it was read"),
        }
    }
}

/// Checks all bytes of a file. What is damaged is an error.
pub(crate) fn verify(path: &Path, stores: &Arc<Stores>) -> Result<Verified> {
    let mut file = Source::open(path, stores).with_context(|| format!("cannot read {}", path.display()))?;
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

/// Returns how many bytes a file has that is no Parquet, and their hash.
pub(crate) fn hash_of(path: &Path, stores: &Arc<Stores>) -> std::io::Result<(u64, Root)> {
    let mut file = Source::open(path, stores)?;
    let (mut hash, mut from) = (Xxh3Default::new(), 0);
    while from < file.len() {
        let read = file.read(from..file.len().min(from + 16 * BLOCK as u64))?;
        hash.update(&read);
        from += read.len() as u64;
    }
    Ok((from, Root(hash.digest())))
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
