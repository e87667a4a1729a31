//! What is given up in stores when the program is interrupted: uploads that are not ended, and objects that nothing names yet.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Result;
use futures::future::{join, join_all};
use object_store::ObjectStoreExt;
use tokio::sync::watch;
use tokio::time::timeout;

use super::blocking::wait;
use super::location::Location;

/// How long that may take, since a run ends within a second.
const LONGEST: Duration = Duration::from_millis(800);

/// How many uploads are under way.
static UNDER_WAY: LazyLock<watch::Sender<usize>> = LazyLock::new(|| watch::Sender::new(0));

/// Whether they are to be given up.
static GIVEN_UP: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// An upload, as long as it is kept.
pub(super) struct Uploading(());

impl Uploading {
    pub(crate) fn begin() -> Self {
        UNDER_WAY.send_modify(|uploads| *uploads += 1);
        Self(())
    }

    /// Waits until it is to be given up.
    pub(super) async fn given_up(&self) {
        // The sender is never gone.
        let _ = GIVEN_UP.subscribe().wait_for(|given_up| *given_up).await;
    }
}

impl Drop for Uploading {
    fn drop(&mut self) {
        UNDER_WAY.send_modify(|uploads| *uploads -= 1);
    }
}

/// Gives up all uploads, now and from now on, and removes these objects, as far as there is time for it: what is left is for
/// `ibid gc`.
pub(crate) fn give_up(objects: Vec<Location>) {
    if objects.is_empty() && *UNDER_WAY.borrow() == 0 {
        return;
    }
    GIVEN_UP.send_replace(true);
    let remove = |object: Location| async move {
        object.store()?.delete(object.key()).await?;
        Result::<()>::Ok(())
    };
    let removed = join_all(objects.into_iter().map(remove));
    let ended = async { UNDER_WAY.subscribe().wait_for(|uploads| *uploads == 0).await.map(drop) };
    // The program ends, whatever became of them.
    let _ = wait(async { timeout(LONGEST, join(removed, ended)).await.map(drop) });
}
