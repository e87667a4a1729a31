//! Removal of what an index does not need any more: parts that are too old, and files that no manifest names.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Index, LOOKED_AT, Manifest, Part, newest, read};
use crate::export::layout::{FILES, MANIFESTS, PARTS, is_name_of_part, manifest_path, numbers};
use crate::export::orphaned_files::{Removed, is_older};
use crate::export::{Unheld, abandoned, unheld};
use crate::store::{Address, Location, Object, Stores, entries, has_only, seal_of};

/// Number of tries, if other runs change the index in between.
const ATTEMPTS: usize = 5;

/// The age limit of parts, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TooOld {
    /// Parts whose documents are all from before this time.
    Before(i64),
    /// Parts whose documents are all older than the newest document of the index, by more than this.
    OlderBy(i64),
}

/// The parts and files that were removed, or would be.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The parts that the index does not have any more. Their files are removed later.
    pub(crate) dropped: Vec<Part>,
    /// The number of these parts that an older manifest still names, which may be in use.
    pub(crate) still_named: usize,
    /// Parts that no manifest names, but that contain something that ibid did not write. They stay.
    pub(crate) shared: Vec<String>,
    pub(crate) removed: Removed,
}

/// Returns true if a run in a store was killed while it made an index, before its first manifest.
pub(crate) fn is_begun(folder: &Path, stores: &Arc<Stores>) -> Result<bool> {
    let location = Location::of_path(folder, stores)?;
    let Some(location) = location.filter(|location| !location.is_web()) else { return Ok(false) };
    let parts = location.as_prefix().join(PARTS);
    let depth = parts.key().parts().count();
    let objects = Object::list(&parts.as_prefix(), LOOKED_AT)?;
    Ok(objects.iter().any(|object| {
        object
            .location
            .key()
            .parts()
            .nth(depth)
            .is_some_and(|name| part(&folder.join(PARTS).join(name.as_ref()), stores).is_some())
    }))
}

/// Drops parts that are too old, and removes files that no manifest names.
///
/// Nothing younger than `grace` is removed: a run that adds to the index may be about to name it, and a run that reads
/// the index may have opened it by an older manifest. So the files of parts are removed by a later call than the one
/// that drops the parts.
pub(crate) fn collect(
    folder: &Path,
    too_old: Option<TooOld>,
    grace: Duration,
    dry_run: bool,
    stores: &Arc<Stores>,
) -> Result<Collected> {
    let mut collected = Collected::default();
    if let Some(too_old) = too_old {
        collected.dropped = drop_parts(folder, too_old, dry_run, stores)?;
    }
    let mut named = HashSet::new();
    let numbers = numbers(folder, stores)?;
    for (i, &number) in numbers.iter().enumerate() {
        // A manifest has been out of use since the next one was written.
        let is_out_of_use = match numbers.get(i + 1) {
            Some(&next) => is_older(&manifest_path(folder, next), grace, stores),
            None => false,
        };
        if is_out_of_use {
            collected.removed.remove(folder, &manifest_path(folder, number), dry_run, stores)?;
        } else if let Some(manifest) = read(folder, number, stores)? {
            named.extend(manifest.parts.into_iter().map(|part| part.name));
        }
    }
    for holds in [PARTS, MANIFESTS] {
        for path in entries(&folder.join(holds), stores)? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let held = if holds == PARTS && is_name_of_part(name) {
                if named.contains(name) {
                    continue;
                }
                let held = part(&path, stores);
                if held.is_none() && !has_only(&path, is_of_part, stores) {
                    collected.shared.push(name.to_owned());
                }
                // The run that held it may have named it first.
                if held.is_some() && newest(folder, stores)?.is_some_and(|manifest| manifest.has_part(name)) {
                    continue;
                }
                held
            } else {
                abandoned(&path)
            };
            if held.is_some() {
                collected.removed.remove_older(folder, &path, grace, dry_run, stores)?;
            }
        }
    }
    collected.still_named = collected.dropped.iter().filter(|part| named.contains(&part.name)).count();
    Ok(collected)
}

/// Makes a manifest without the parts that are too old, and returns these parts.
fn drop_parts(folder: &Path, too_old: TooOld, dry_run: bool, stores: &Arc<Stores>) -> Result<Vec<Part>> {
    for _ in 0..ATTEMPTS {
        let index = Index::open(folder, stores)?;
        let manifest = index.manifest();
        if manifest.time_column.is_none() {
            bail!(
                "{} has no times of its documents: it was made without `time_column`, so no part of it is too old",
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
    bail!("other runs changed {} {ATTEMPTS} times in the meantime; run it again", folder.display())
}

fn is_of_part(file: &str) -> bool {
    FILES.contains(&file)
}

/// Returns the hold on a part that [`Index::write_part`] wrote, if it contains nothing else, and no run is about to
/// name it, as far as can be told.
fn part(path: &Path, stores: &Arc<Stores>) -> Option<Unheld> {
    let is_ours = path.file_name().and_then(|name| name.to_str()).is_some_and(is_name_of_part)
        && has_only(path, is_of_part, stores);
    match Address::of_path(path) {
        // In a store, each file is complete from the first.
        Ok(Some(_)) => {
            let has_seal = |file: &PathBuf| seal_of(file, stores).is_ok_and(|seal| seal.is_some());
            (is_ours && entries(path, stores).is_ok_and(|files| files.iter().all(has_seal))).then(Unheld::default)
        }
        _ if is_ours => unheld(path),
        _ => None,
    }
}
