//! What is given up in stores: uploads that nobody waits for any more, and when the program is interrupted, uploads that are not
//! ended and objects that nothing names yet.

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

/// How long an interrupt waits, since a run ends within a second.
const LONGEST: Duration = Duration::from_millis(800);

/// The writes to some stores that are under way.
#[derive(Default)]
pub(super) struct Uploads {
    under_way: watch::Sender<usize>,
    /// Whether all of them are to be given up.
    given_up: GivenUp,
}

/// Tells writes that they are to be given up. A clone tells the same writes.
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

    /// Waits until they are to be given up.
    async fn wait(&self) {
        // The sender is never gone.
        let _ = self.0.subscribe().wait_for(|given_up| *given_up).await;
    }
}

/// Gives up when it is dropped.
struct GiveUpOnDrop(GivenUp);

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// A write to stores, as long as it is kept.
pub(super) struct Uploading {
    stores: Arc<Stores>,
    given_up: GivenUp,
}

impl Uploading {
    /// Counts a write that `given_up` tells to be given up.
    pub(super) fn begin(stores: &Arc<Stores>, given_up: &GivenUp) -> Self {
        stores.uploads.under_way.send_modify(|uploads| *uploads += 1);
        Self { stores: Arc::clone(stores), given_up: given_up.clone() }
    }

    /// Returns whether it is to be given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.is_given_up() || self.stores.uploads.given_up.is_given_up()
    }

    /// Waits until it is to be given up.
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

/// Runs what writes to stores, on a thread that may block. If the future is dropped before that has ended, the writes that `given_up`
/// tells are given up, while the thread runs on.
pub(crate) async fn write_unless_dropped<T: Send + 'static>(
    stores: &Arc<Stores>,
    given_up: &GivenUp,
    write: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let uploading = Uploading::begin(stores, given_up);
    let _nobody_waits = GiveUpOnDrop(given_up.clone());
    // A result that nobody takes goes before the write counts as ended.
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

/// Gives up all uploads to these stores, now and from now on, and removes these objects, as far as there is time for it: what is left
/// is for `ibid gc`.
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
    // The program ends, whatever became of them.
    let _ = wait(async { timeout(LONGEST, join(removed, ended)).await.map(drop) });
}
