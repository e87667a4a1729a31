//! What takes its place when a command, or a statement of the shell, is done: results beside its rows, and what is written bit by bit
//! while it runs.

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
    /// Results that are whole.
    results: Vec<StagedFile>,
    /// The results that are still written, with their places.
    collected: Vec<(PathBuf, StagedFile)>,
}

task_local! {
    static OUTBOX: RefCell<Outbox>;
}

/// Runs what has an outbox of its own. What is in it then, and was not sent, is dropped.
pub(crate) async fn with_outbox<T>(run: impl Future<Output = T>) -> T {
    OUTBOX.scope(RefCell::default(), run).await
}

fn with<T>(act: impl FnOnce(&mut Outbox) -> T) -> T {
    OUTBOX.with(|outbox| act(&mut outbox.borrow_mut()))
}

/// Keeps a result that is whole until it is sent.
pub(crate) fn keep(result: StagedFile) {
    with(|outbox| outbox.results.push(result));
}

/// The file of this machine in which what goes to `target` is collected.
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

/// As [`collected`], but the file itself, unless it is an object: for what others read while the command runs.
pub(crate) fn live(target: &Path, stores: &Arc<Stores>) -> Result<PathBuf> {
    if is_url(target)? { collected(target, stores) } else { Ok(target.to_path_buf()) }
}

/// Puts all of it in place.
pub(crate) fn send() -> Result<()> {
    let Outbox { results, collected } = with(mem::take);
    let placed = results.into_iter().try_for_each(StagedFile::commit);
    // The bad input that was found is wanted the more where a result has no place.
    collected.into_iter().map(|(_, file)| file.commit()).fold(placed, Result::and)
}

/// As [`send`], for what fails: where it has collected nothing, what is there stays.
pub(crate) fn send_found() -> Result<()> {
    let has_any = |file: &StagedFile| fs::metadata(file.path()).is_ok_and(|found| found.len() > 0);
    with(|outbox| outbox.collected.retain(|(_, file)| has_any(file)));
    send()
}
