//! Outputs that are committed when a command ends: result files in addition to its rows, and files that grow while it
//! runs.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, mem};

use anyhow::Result;
use ibid::program::export::{StagedFile, is_url};
use ibid::program::store::Stores;
use tokio::task_local;

#[derive(Default)]
struct Outbox {
    /// The complete results.
    results: Vec<StagedFile>,
    /// The results that are still being written, each with the path that it is committed to.
    collected: Vec<(PathBuf, StagedFile)>,
}

task_local! {
    static OUTBOX: RefCell<Outbox>;
}

/// Runs a future with an outbox of its own. Outputs that are still in it at the end are dropped.
pub(crate) async fn with_outbox<T>(run: impl Future<Output = T>) -> T {
    OUTBOX.scope(RefCell::default(), run).await
}

fn with<T>(act: impl FnOnce(&mut Outbox) -> T) -> T {
    OUTBOX.with(|outbox| act(&mut outbox.borrow_mut()))
}

/// Keeps a complete result until the outbox is sent.
pub(crate) fn keep(result: StagedFile) {
    with(|outbox| outbox.results.push(result));
}

/// Returns the local file that collects the output for `target`. The first call creates it.
pub(crate) fn collected(target: &Path, stores: &Arc<Stores>) -> Result<PathBuf> {
    with(|Outbox { collected, .. }| {
        if let Some((_, file)) = collected.iter().find(|(known, _)| known == target) {
            return Ok(file.path().to_path_buf());
        }
        let file = StagedFile::create(target, stores)?;
        let path = file.path().to_path_buf();
        collected.push((target.to_path_buf(), file));
        Ok(path)
    })
}

/// Returns `target` itself, so that others can read the output while the command runs. An object is collected like in
/// [`collected`].
pub(crate) fn live(target: &Path, stores: &Arc<Stores>) -> Result<PathBuf> {
    if is_url(target)? { collected(target, stores) } else { Ok(target.to_path_buf()) }
}

/// Commits all outputs.
pub(crate) fn send() -> Result<()> {
    let Outbox { results, collected } = with(mem::take);
    let placed = results.into_iter().try_for_each(StagedFile::commit);
    // The bad records that were found are committed even if a result cannot be: then the user needs them all the more.
    collected.into_iter().map(|(_, file)| file.commit()).fold(placed, Result::and)
}

/// Commits all outputs of a command that failed. A file that collected nothing is dropped, so that an existing file
/// stays.
pub(crate) fn send_found() -> Result<()> {
    let has_any = |file: &StagedFile| fs::metadata(file.path()).is_ok_and(|found| found.len() > 0);
    with(|outbox| outbox.collected.retain(|(_, file)| has_any(file)));
    send()
}
