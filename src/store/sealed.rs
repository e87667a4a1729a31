use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::{Error as PathError, Path};
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

use super::explain::Explained;
use super::table::place_of;
use super::verify::FIRST_END;
use crate::seal::{BLOCK, End, Seal};

/// A store that verifies what it reads from sealed Parquet files, and reads whole blocks of them for that.
///
/// Files without a seal, and whole files that are read in one request, are not verified.
#[derive(Debug)]
pub(crate) struct SealedStore<S> {
    store: S,
    known: Arc<Mutex<HashMap<Path, Known>>>,
}

/// The cached facts about a file.
#[derive(Debug, Clone)]
struct Known {
    meta: ObjectMeta,
    sealed: Option<Arc<Sealed>>,
}

#[derive(Debug)]
struct Sealed {
    seal: Seal,
    /// The bytes behind the row groups.
    end: Bytes,
}

impl<S: ObjectStore> SealedStore<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, known: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Path, Known>> {
        lock(&self.known)
    }

    /// Drops files from the cache that are listed with other metadata now.
    fn noting(&self, listed: BoxStream<'static, Result<ObjectMeta>>) -> BoxStream<'static, Result<ObjectMeta>> {
        let known = Arc::clone(&self.known);
        listed.map_err(unnameable).inspect_ok(move |meta| note(&mut lock(&known), meta)).boxed()
    }

    /// Returns the error for a block with another hash: the file has changed, or it is damaged.
    async fn mismatch(&self, path: &Path, error: &anyhow::Error) -> Error {
        let now = self.store.get_opts(path, GetOptions { head: true, ..GetOptions::default() }).await;
        match (self.known().remove(path), now) {
            (Some(known), Ok(now)) if known.meta != now.meta => changed(&place_of(&self.store, path)),
            _ => damaged(&place_of(&self.store, path), error),
        }
    }

    /// Reads the end of a file, unless it is cached.
    async fn look_at(&self, path: &Path) -> Result<Known> {
        if let Some(known) = self.known().get(path).cloned() {
            return Ok(known);
        }
        let mut wanted = FIRST_END;
        let found = loop {
            let options = GetOptions { range: Some(GetRange::Suffix(wanted)), ..GetOptions::default() };
            let got = self.store.get_opts(path, options).await?;
            let meta = got.meta.clone();
            let end = got.bytes().await?;
            break match Seal::of_end(&end, meta.size).map_err(|error| damaged(&place_of(&self.store, path), &error))? {
                End::Unsealed => Known { meta, sealed: None },
                End::Needs(more) if more > wanted => {
                    wanted = more;
                    continue;
                }
                End::Needs(_) => return Err(changed(&place_of(&self.store, path))),
                End::Sealed(seal) => {
                    let after = usize::try_from(meta.size - seal.covered).unwrap_or(usize::MAX).min(end.len());
                    // A copy, since it is cached, and the buffer may be much larger.
                    let end = Bytes::copy_from_slice(&end[end.len() - after..]);
                    Known { meta, sealed: Some(Arc::new(Sealed { seal, end })) }
                }
            };
        };
        self.known().insert(path.clone(), found.clone());
        Ok(found)
    }

    /// Reads ranges of a sealed file.
    async fn read(&self, path: &Path, sealed: &Sealed, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let covered = sealed.seal.covered;
        let mut blocks: Vec<Range<u64>> =
            ranges.iter().filter(|range| range.start < covered).map(|range| whole_blocks(range, covered)).collect();
        blocks.sort_by_key(|range| range.start);
        blocks.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        let read = if blocks.is_empty() { Vec::new() } else { self.store.get_ranges(path, &blocks).await? };
        for (range, bytes) in blocks.iter().zip(&read) {
            if bytes.len() as u64 != range.end - range.start {
                return Err(changed(&place_of(&self.store, path)));
            }
            if let Err(error) = sealed.seal.check(bytes, range.start) {
                return Err(self.mismatch(path, &error).await);
            }
        }
        let pieces = |range: &Range<u64>| -> Result<Bytes> {
            let of_end = slice(&sealed.end, covered, &(range.start.max(covered)..range.end.max(covered)));
            if range.start >= covered {
                return of_end.ok_or_else(|| out_of_bounds(&place_of(&self.store, path), range));
            }
            let place = blocks.partition_point(|blocks| blocks.start <= range.start).checked_sub(1);
            let of_blocks = place
                .and_then(|place| slice(&read[place], blocks[place].start, &(range.start..range.end.min(covered))));
            let (Some(first), Some(rest)) = (of_blocks, of_end) else {
                return Err(out_of_bounds(&place_of(&self.store, path), range));
            };
            if rest.is_empty() {
                return Ok(first);
            }
            let mut both = BytesMut::from(first.as_ref());
            both.extend_from_slice(&rest);
            Ok(both.freeze())
        };
        ranges.iter().map(pieces).collect()
    }
}

fn lock(known: &Mutex<HashMap<Path, Known>>) -> MutexGuard<'_, HashMap<Path, Known>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops a file from the cache if its metadata is other now.
fn note(known: &mut HashMap<Path, Known>, now: &ObjectMeta) {
    if known.get(&now.location).is_some_and(|known| known.meta != *now) {
        known.remove(&now.location);
    }
}

/// Extends a range to whole blocks.
fn whole_blocks(range: &Range<u64>, covered: u64) -> Range<u64> {
    let block = BLOCK as u64;
    range.start / block * block..range.end.next_multiple_of(block).min(covered)
}

/// Returns a range of a file from `bytes`, which begin at the offset `from`.
fn slice(bytes: &Bytes, from: u64, range: &Range<u64>) -> Option<Bytes> {
    let place = |at: u64| usize::try_from(at.checked_sub(from)?).ok().filter(|at| *at <= bytes.len());
    Some(bytes.slice(place(range.start)?..place(range.end)?))
}

fn out_of_bounds(file: &str, range: &Range<u64>) -> Error {
    told(format!("{file} ends before byte {}", range.end))
}

fn changed(file: &str) -> Error {
    told(format!("{file} changed while it was read; run it again"))
}

fn damaged(file: &str, error: &anyhow::Error) -> Error {
    told(format!("{file} is not what was written: {error:#}; put it back from a copy, or write it again"))
}

/// Explains what to do about a file whose name no object can have, such as one with a line break.
pub(crate) fn unnameable(error: Error) -> Error {
    match error {
        Error::InvalidPath { source: PathError::BadSegment { path, .. } } => {
            let path = path.trim_start_matches('/');
            told(format!("/{path}: its name has characters that no object can have; rename it, or move it elsewhere"))
        }
        error => error,
    }
}

fn told(said: String) -> Error {
    Error::Generic { store: "seal", source: Box::new(Explained::new(said)) }
}

/// Returns true if a file is text by its name, compressed or not, and so has no seal. Parquet may have any other name.
fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["csv", "tsv", "json", "jsonl", "ndjson", "gz", "zst", "bz2", "xz"]
            .iter()
            .any(|text| extension.eq_ignore_ascii_case(text))
    })
}

impl<S: ObjectStore> fmt::Display for SealedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.store, f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "what is not passed on is not what the store does")]
impl<S: ObjectStore> ObjectStore for SealedStore<S> {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(&self, path: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let range = match &options {
            GetOptions { head: false, version: None, range: Some(range), .. } if !is_text(path) => range.clone(),
            _ => return self.store.get_opts(path, options).await.inspect(|got| note(&mut self.known(), &got.meta)),
        };
        let Known { meta, sealed } = self.look_at(path).await?;
        let Some(sealed) = sealed else { return self.store.get_opts(path, options).await };
        options.check_preconditions(&meta)?;
        let range = match range {
            GetRange::Bounded(range) => range.start..range.end.min(meta.size),
            GetRange::Offset(start) => start..meta.size,
            GetRange::Suffix(count) => meta.size.saturating_sub(count)..meta.size,
        };
        if range.start >= range.end {
            return Err(out_of_bounds(&place_of(&self.store, path), &range));
        }
        let bytes = self.read(path, &sealed, std::slice::from_ref(&range)).await?.pop().unwrap_or_default();
        let payload = GetResultPayload::Stream(stream::once(std::future::ready(Ok(bytes))).boxed());
        Ok(GetResult { payload, meta, range, attributes: Default::default() })
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        match self.look_at(path).await?.sealed {
            Some(sealed) => self.read(path, &sealed, ranges).await,
            None => self.store.get_ranges(path, ranges).await,
        }
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.noting(self.store.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.noting(self.store.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let listed = self.store.list_with_delimiter(prefix).await.map_err(unnameable)?;
        listed.objects.iter().for_each(|meta| note(&mut self.known(), meta));
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.store.rename_opts(from, to, options).await
    }
}
