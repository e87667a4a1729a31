//! Seals: checksums within the Parquet files that ibid writes, with which a reader verifies each byte that it reads.
//!
//! Parquet has a checksum for pages, which few writers set, and none for its footer. Most files with a flipped byte can
//! be read, with other rows. So the footer of each file that ibid writes has three more pairs of key and value:
//!
//! * `ibid.result`: a description of the file, as JSON,
//! * `ibid.blocks`: the XXH3 hash of each 256 KiB of the row groups,
//! * `ibid.seal`: the XXH3 hash of all that follows the row groups, including the footer with the hashes of the blocks.
//!   The seal itself counts as sixteen zeros there.
//!
//! So the seal identifies the whole file: files with the same seal have the same bytes. Other programs read such a file
//! as any other. [`SealedWriter`] writes it without going back, [`SealedStore`](crate::store::SealedStore) verifies
//! each block that queries read, and [`verify`](crate::store::verify) verifies all of it. A manifest is JSON, and ends
//! with a seal of its own.

mod json;
mod writer;

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use parquet::file::metadata::ParquetMetaDataReader;
use xxhash_rust::xxh3::xxh3_64;

use crate::thrift::check_schema;

pub(crate) use self::json::{check_json, ends_sealed, sealed_json};
pub(crate) use self::writer::{SealedWriter, Written};

/// Number of bytes of a hashed block.
pub(crate) const BLOCK: usize = 256 << 10;

const RESULT: &str = "ibid.result";
const BLOCKS: &str = "ibid.blocks";
const SEAL: &str = "ibid.seal";

/// The program name in the files that ibid writes.
const CREATED_BY: &str = concat!("ibid ", env!("CARGO_PKG_VERSION"));

/// Placeholder for a seal that is not known yet.
const UNSEALED: &str = "0000000000000000";

/// Number of bytes at the end of a Parquet file that hold the length of the footer, and four letters.
pub(crate) const END: usize = 8;

/// The seal of a file, and what its footer says with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) rows: u64,
    pub(crate) result: String,
    pub(crate) root: Root,
    /// The number of bytes of the row groups.
    pub(crate) covered: u64,
    blocks: Vec<u64>,
}

/// The hash that identifies a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Root(pub(crate) u64);

impl FromStr for Root {
    type Err = ParseIntError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The result of reading the end of a file.
pub(crate) enum End {
    /// A file that is not ours.
    Unsealed,
    /// The number of bytes of the end that are needed to tell.
    Needs(u64),
    Sealed(Seal),
}

impl Seal {
    /// Reads the seal from `end`, the last bytes of a file of `size` bytes.
    pub(crate) fn of_end(end: &[u8], size: u64) -> Result<End> {
        let Some([length @ .., b'P', b'A', b'R', b'1']) = end.last_chunk::<END>() else { return Ok(End::Unsealed) };
        let footer = u64::from(u32::from_le_bytes([length[0], length[1], length[2], length[3]])) + END as u64;
        if footer > size {
            // The reader of Parquet relies on this without checking it.
            bail!("it is no sound Parquet file: its footer would be longer than the file");
        }
        let Some(footer) = last(end, footer) else { return Ok(End::Needs(footer)) };
        check_schema(footer).context("it is no sound Parquet file")?;
        let Ok(metadata) = ParquetMetaDataReader::decode_metadata(&footer[..footer.len() - END]) else {
            return Ok(End::Unsealed);
        };
        let file = metadata.file_metadata();
        let value = |key: &str| {
            let pair = file.key_value_metadata().into_iter().flatten().find(|pair| pair.key == key);
            pair.and_then(|pair| pair.value.as_deref())
        };
        let (Some(blocks), Some(seal), Some(result)) = (value(BLOCKS), value(SEAL), value(RESULT)) else {
            let is_ours = [BLOCKS, SEAL, RESULT].iter().any(|key| value(key).is_some())
                || file.created_by().is_some_and(|by| by.starts_with("ibid "));
            return if is_ours {
                bail!("its footer is damaged: it is of ibid, and has no seal")
            } else {
                Ok(End::Unsealed)
            };
        };
        let damaged = || "its footer is damaged: its seal cannot be read".to_string();
        let (covered, hashes) = blocks.split_once(':').with_context(damaged)?;
        let covered: u64 = covered.parse().ok().filter(|covered| *covered <= size).with_context(damaged)?;
        let rest = size - covered;
        let Some(rest) = last(end, rest) else { return Ok(End::Needs(rest)) };
        // As it is written: the parser would accept capitals, too.
        let root: Root = seal.parse().ok().filter(|root: &Root| root.to_string() == seal).with_context(damaged)?;
        let found = root_of(&mut rest.to_vec(), seal).with_context(damaged)?;
        if found != root {
            bail!("its footer is damaged: it has the hash {found}, and {root} was written");
        }
        let blocks = hashes_of_text(hashes).filter(|hashes| hashes.len() as u64 == covered.div_ceil(BLOCK as u64));
        let rows = u64::try_from(file.num_rows())?;
        Ok(End::Sealed(Self { rows, result: result.to_string(), root, covered, blocks: blocks.with_context(damaged)? }))
    }

    /// Checks bytes that begin at `from`, the start of a block, and go up to the end of a block.
    pub(crate) fn check(&self, bytes: &[u8], from: u64) -> Result<()> {
        let covered = usize::try_from(self.covered.saturating_sub(from)).unwrap_or(usize::MAX).min(bytes.len());
        let first = usize::try_from(from / BLOCK as u64)?;
        let written = self.blocks.get(first..).unwrap_or_default();
        for (i, (block, written)) in bytes[..covered].chunks(BLOCK).zip(written).enumerate() {
            let found = xxh3_64(block);
            if found != *written {
                let from = from + (i * BLOCK) as u64;
                bail!(
                    "it is damaged from byte {from} to byte {}: the hash is {found:016x}, and {written:016x} was written",
                    from + block.len() as u64
                );
            }
        }
        Ok(())
    }
}

/// Returns the last `count` bytes, if there are as many.
fn last(bytes: &[u8], count: u64) -> Option<&[u8]> {
    bytes.get(bytes.len().checked_sub(usize::try_from(count).ok()?)?..)
}

/// Returns the hash of the bytes behind the row groups, in which `seal` is replaced by zeros.
fn root_of(end: &mut [u8], seal: &str) -> Option<Root> {
    let place = place_of_seal(end, seal)?;
    end[place].copy_from_slice(UNSEALED.as_bytes());
    Some(Root(xxh3_64(end)))
}

/// Returns the position of the seal.
fn place_of_seal(end: &[u8], seal: &str) -> Option<std::ops::Range<usize>> {
    if seal.len() != UNSEALED.len() {
        return None;
    }
    // In Thrift's compact protocol: the key, the mark of the field that follows, the length. Ours is the last pair.
    let marked = [SEAL.as_bytes(), &[0x18, 16], seal.as_bytes()].concat();
    let end = memmem::rfind(end, &marked)? + marked.len();
    Some(end - seal.len()..end)
}

/// Formats hashes as text.
fn text_of_hashes(hashes: &[u64]) -> String {
    use fmt::Write as _;
    hashes.iter().fold(String::with_capacity(16 * hashes.len()), |mut text, hash| {
        let _ = write!(text, "{hash:016x}");
        text
    })
}

fn hashes_of_text(text: &str) -> Option<Vec<u64>> {
    let hash = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    text.as_bytes().chunks(16).map(|digits| if digits.len() == 16 { hash(digits) } else { None }).collect()
}

#[cfg(test)]
mod tests;
