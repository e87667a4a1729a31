//! The names of the files in corpus folders and indexes, which distinguish these from other folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::is_staging;
use crate::store::{Address, Location, Stores, entries, has_only};

/// The files of a corpus folder.
pub(crate) const FILES: [&str; 2] = ["documents.parquet", "sentences.parquet"];

/// The file of a corpus folder that says where each document comes from. Corpora of earlier versions have none.
pub(crate) const ORIGINS: &str = "origins.parquet";

/// The folders of an index.
pub(crate) const MANIFESTS: &str = "manifests";
pub(crate) const PARTS: &str = "parts";

/// Returns true if `folder` is an index. A local index without its first manifest counts, if its folders hold nothing else: other
/// programs have folders of such names, too.
pub(crate) fn is_index(folder: &Path, stores: &Arc<Stores>) -> Result<bool> {
    if Address::of_path(folder)?.is_some_and(|location| location.is_web()) {
        return Ok(false);
    }
    let is_ours = |within: &str, is_name: fn(&str) -> bool| {
        let within = folder.join(within);
        within.is_dir() && has_only(&within, |name| is_name(name) || is_staging(name), stores)
    };
    let is_begun = || is_ours(PARTS, is_name_of_part) && is_ours(MANIFESTS, |_| false);
    Ok(!numbers(folder, stores)?.is_empty() || is_begun())
}

/// Returns true if `folder` is an index or a folder within one.
pub(crate) fn is_around_index(folder: &Path, stores: &Arc<Stores>) -> bool {
    let named = |folder: &Path, names: &[&str]| names.iter().any(|name| folder.ends_with(name));
    let is_at = |folder: Option<&Path>| folder.is_some_and(|folder| is_index(folder, stores).unwrap_or(false));
    let above = folder.parent();
    is_at(Some(folder))
        || named(folder, &[PARTS, MANIFESTS]) && is_at(above)
        || above.is_some_and(|above| named(above, &[PARTS]) && is_at(above.parent()))
}

/// Returns true if an object has the name of a table or a manifest of an index.
pub(crate) fn is_file_of_index(object: &Location) -> bool {
    match (object.folder().key().filename(), object.key().filename()) {
        (Some(MANIFESTS), Some(name)) => number_of_manifest(name).is_some(),
        (Some(folder), Some(name)) => is_name_of_part(folder) && FILES.contains(&name),
        _ => false,
    }
}

pub(crate) fn manifest_path(folder: &Path, number: u64) -> PathBuf {
    // All digits that a number can have, so that names sort like numbers.
    folder.join(MANIFESTS).join(format!("{number:020}.json"))
}

/// Returns the number of a manifest from its name, which [`manifest_path`] gives.
fn number_of_manifest(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".json")?;
    let is_number = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Returns the numbers of the existing manifests, in order.
pub(crate) fn numbers(folder: &Path, stores: &Arc<Stores>) -> Result<Vec<u64>> {
    let manifests = folder.join(MANIFESTS);
    if Address::of_path(&manifests)?.is_none() && !manifests.is_dir() {
        return Ok(Vec::new());
    }
    let number = |path: &PathBuf| number_of_manifest(path.file_name()?.to_str()?);
    let mut numbers: Vec<_> = entries(&manifests, stores)?.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns true if a part of an index may have this name.
pub(crate) fn is_name_of_part(name: &str) -> bool {
    let is_number = |digits: &str| digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_unique = |digits: &str| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_once('-').is_some_and(|(number, unique)| is_number(number) && is_unique(unique))
}
