//! Cancellation of writes to stores: uploads that nobody waits for any more, and, if the program is interrupted,
//! unfinished uploads and objects that nothing names yet.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use datafusion::common::runtime::SpawnedTask;
use futures::future::{join, join_all};
use object_store::ObjectStoreExt;
use tokio::sync::watch;
use tokio::time::timeout;

use super::blocking::wait;
use super::location::Location;
use super::registry::Stores;

/// Time limit of the cleanup after an interrupt, so that a run ends within a second.
const LONGEST: Duration = Duration::from_millis(800);

/// The writes to some stores that are under way.
#[derive(Default)]
pub(super) struct Uploads {
    under_way: watch::Sender<usize>,
    /// The signal to give up all of them.
    given_up: GivenUp,
}

/// A signal that tells writes to give up. Clones share the signal.
#[derive(Clone, Default)]
pub(crate) struct GivenUp(Arc<watch::Sender<bool>>);

impl fmt::Debug for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GivenUp").field(&self.is_given_up()).finish()
    }
}

impl GivenUp {
    fn give_up(&self) {
        self.0.send_replace(true);
    }

    fn is_given_up(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the signal.
    async fn wait(&self) {
        // The sender is never gone.
        let _ = self.0.subscribe().wait_for(|given_up| *given_up).await;
    }
}

/// A guard that gives up the writes when it is dropped.
struct GiveUpOnDrop(GivenUp);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// A write to stores, which counts as under way until this is dropped.
pub(super) struct Uploading {
    stores: Arc<Stores>,
    given_up: GivenUp,
}

impl Uploading {
    /// Counts a write as under way. It is given up by the signal `given_up`.
    pub(super) fn begin(stores: &Arc<Stores>, given_up: &GivenUp) -> Self {
        stores.uploads.under_way.send_modify(|uploads| *uploads += 1);
        Self { stores: Arc::clone(stores), given_up: given_up.clone() }
    }

    /// Returns true if the write is to be given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.is_given_up() || self.stores.uploads.given_up.is_given_up()
    }

    /// Waits until the write is to be given up.
    pub(super) async fn given_up(&self) {
        tokio::select! {
            () = self.given_up.wait() => {}
            () = self.stores.uploads.given_up.wait() => {}
        }
    }
}

impl Drop for Uploading {
    fn drop(&mut self) {
        self.stores.uploads.under_way.send_modify(|uploads| *uploads -= 1);
    }
}

/// Runs a write to stores on a thread that may block. If the future is dropped before the write has ended, `given_up`
/// tells the write to give up, while the thread runs on.
pub(crate) async fn write_unless_dropped<T: Send + 'static>(
    stores: &Arc<Stores>,
    given_up: &GivenUp,
    write: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let uploading = Uploading::begin(stores, given_up);
    let _nobody_waits = GiveUpOnDrop(given_up.clone());
    // A result that nobody takes is dropped before the write counts as ended.
    let task = SpawnedTask::spawn_blocking(move || (write(), uploading));
    task.join().await.context("the write stopped")?.0
}

impl Stores {
    /// Waits until no write is under way.
    pub(crate) async fn idle(&self) {
        // The sender is never gone.
        let _ = self.uploads.under_way.subscribe().wait_for(|uploads| *uploads == 0).await;
    }
}

/// Gives up all uploads to these stores, now and from now on, and removes these objects, within a time limit. `ibid gc`
/// removes what is left.
pub(crate) fn give_up(stores: &Arc<Stores>, objects: Vec<Location>) {
    if objects.is_empty() && *stores.uploads.under_way.borrow() == 0 {
        return;
    }
    stores.uploads.given_up.give_up();
    let remove = |object: Location| async move {
        object.store()?.delete(object.key()).await?;
        Result::<()>::Ok(())
    };
    let removed = join_all(objects.into_iter().map(remove));
    let stores = Arc::clone(stores);
    let ended = async move { stores.idle().await };
    // The program ends in either case.
    let _ = wait(async { timeout(LONGEST, join(removed, ended)).await.map(drop) });
}
