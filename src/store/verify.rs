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

/// Number of bytes that are first read from the end of a file. They hold the footers of most files, and what precedes
/// them.
pub(super) const FIRST_END: u64 = 64 << 10;

/// The result of verifying a file.
#[derive(Debug)]
pub(crate) enum Verified {
    /// A file with a seal, as it was written.
    Sealed { seal: Seal, bytes: u64 },
    /// A file without a seal.
    Unsealed,
}

/// Returns the seal of a file, if it has one. Reads only the footer, and fails if that is damaged.
pub(crate) fn seal_of(path: &Path, stores: &Arc<Stores>) -> Result<Option<Seal>> {
    let mut file = Source::open(path, stores).with_context(|| format!("cannot read {}", path.display()))?;
    read_seal(&mut file).with_context(|| path.display().to_string())
}

/// Fails if the seal of a file is not the one it was written with. The content is checked as it is read.
pub(crate) fn check_seal(path: &Path, written: Root, stores: &Arc<Stores>) -> Result<()> {
    check_root(&path.display(), seal_of(path, stores)?.as_ref(), written)
}

/// Does the check of [`check_seal`] for a seal that was already read.
pub(crate) fn check_root(file: &impl Display, found: Option<&Seal>, written: Root) -> Result<()> {
    if found.is_some_and(|seal| seal.root == written) {
        return Ok(());
    }
    bail!(
        "{file} is not what was written: its seal is {}, and {written} was written; put it back from a copy, or write it again",
        found.map_or("missing".to_owned(), |seal| seal.root.to_string())
    )
}

/// Returns the seal of a file in a store. In a [`SealedStore`](super::SealedStore), this requests only bytes that the
/// store reads in any case.
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

/// Checks all bytes of a file. Fails if it is damaged.
pub(crate) fn verify(path: &Path, stores: &Arc<Stores>) -> Result<Verified> {
    let mut file = Source::open(path, stores).with_context(|| format!("cannot read {}", path.display()))?;
    verify_source(&mut file).with_context(|| path.display().to_string())
}

/// Checks all bytes of an open file or object.
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

/// Returns the size and the hash of a file that is not Parquet.
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
