//! What an index does not need any more: parts that are too old, and files that no manifest names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};

use super::{Index, MANIFESTS, Manifest, PARTS, Part, manifest_path, numbers, read};
use crate::export::is_staging;

/// How often another run may come between.
const ATTEMPTS: usize = 5;

/// Which parts are too old, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TooOld {
    /// Those of which all documents are of before this time.
    Before(i64),
    /// Those of which all documents are so much older than the newest document of the index.
    OlderBy(i64),
}

/// What was removed, or would be.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The parts that the index does not have any more. Their files are removed in their time.
    pub(crate) dropped: Vec<Part>,
    /// The files and folders that are gone, below the folder of the index, and how many bytes they had.
    pub(crate) removed: Vec<(PathBuf, u64)>,
    /// How many files and folders no manifest names that are too young to be removed.
    pub(crate) young: usize,
}

/// Drops parts that are too old, and removes what no manifest names.
///
/// Nothing younger than `grace` is removed: a run that adds to the index may be about to name it, and one that reads the
/// index may have opened it by an older manifest. So the files of parts go by a later call than the one that drops them.
pub(crate) fn collect(folder: &Path, too_old: Option<TooOld>, grace: Duration, dry_run: bool) -> Result<Collected> {
    let mut collected = Collected::default();
    if let Some(too_old) = too_old {
        collected.dropped = drop_parts(folder, too_old, dry_run)?;
    }
    let mut named = HashSet::new();
    let numbers = numbers(folder)?;
    for (i, &number) in numbers.iter().enumerate() {
        // As old as a manifest is, so long the one before it has been out of use.
        let is_out_of_use = match numbers.get(i + 1) {
            Some(&next) => is_older(&manifest_path(folder, next), grace),
            None => false,
        };
        if is_out_of_use {
            remove(folder, &manifest_path(folder, number), dry_run, &mut collected)?;
        } else if let Some(manifest) = read(folder, number)? {
            named.extend(manifest.parts.into_iter().map(|part| part.name));
        }
    }
    for holds in [PARTS, MANIFESTS] {
        for path in entries(&folder.join(holds))? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_part = holds == PARTS && is_name_of_part(name) && !named.contains(name);
            if !(is_part || is_staging(name)) {
                continue;
            }
            if is_older(&path, grace) {
                remove(folder, &path, dry_run, &mut collected)?;
            } else {
                collected.young += 1;
            }
        }
    }
    Ok(collected)
}

/// Makes an index without the parts that are too old, and gives these.
fn drop_parts(folder: &Path, too_old: TooOld, dry_run: bool) -> Result<Vec<Part>> {
    for _ in 0..ATTEMPTS {
        let index = Index::open(folder)?;
        let manifest = index.manifest();
        if manifest.time_column.is_none() {
            bail!(
                "{} does not know when its documents are of: it was made without --time-column, and no part of it is too old",
                folder.display()
            );
        }
        let newest = manifest.parts.iter().filter_map(|part| part.times.map(|[_, latest]| latest)).max();
        let before = match too_old {
            TooOld::Before(time) => time,
            TooOld::OlderBy(window) => newest.map_or(i64::MIN, |newest| newest.saturating_sub(window)),
        };
        let is_old = |part: &Part| part.times.is_some_and(|[_, latest]| latest < before);
        let (dropped, kept): (Vec<_>, Vec<_>) = manifest.parts.iter().cloned().partition(is_old);
        let next = Manifest { number: manifest.number + 1, parts: kept, ..manifest.clone() };
        if dropped.is_empty() || dry_run || index.replace(&next)? {
            return Ok(dropped);
        }
    }
    bail!("other runs added to {} {ATTEMPTS} times in the meantime; run it again", folder.display())
}

/// Whether a name is one that [`Index::write_part`] gives.
fn is_name_of_part(name: &str) -> bool {
    let is_hex = |digits: &str, length| digits.len() >= length && digits.bytes().all(|b| b.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(number, unique)| is_hex(number, 8) && is_hex(unique, 16))
}

/// Whether a file, or a folder with all that is in it, was written so long ago. What cannot be told is young.
fn is_older(path: &Path, than: Duration) -> bool {
    let now = SystemTime::now();
    let of = |path: &Path| {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        written.and_then(|written| now.duration_since(written).ok()).is_some_and(|age| age >= than)
    };
    let within = if path.is_dir() { entries(path).unwrap_or_default() } else { Vec::new() };
    of(path) && within.iter().all(|path| of(path))
}

/// What is in a folder, in the order of names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(failed)?;
    paths.sort();
    Ok(paths)
}

/// Removes a file or a folder of files.
fn remove(index: &Path, path: &Path, dry_run: bool, collected: &mut Collected) -> Result<()> {
    let of = |path: &Path| fs::metadata(path).map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 });
    let within = if path.is_dir() { entries(path)? } else { Vec::new() };
    let bytes = of(path) + within.iter().map(|path| of(path)).sum::<u64>();
    if !dry_run {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
    }
    collected.removed.push((path.strip_prefix(index).unwrap_or(path).to_path_buf(), bytes));
    Ok(())
}
