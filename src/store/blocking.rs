//! The runtime on which requests run, and a way for blocking code to wait for it.

use std::future::Future;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime of two threads: while one is busy with encryption, the other is free.
static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).thread_name("object-stores").enable_all().build());

/// Returns the runtime on which requests run.
pub(super) fn runtime() -> io::Result<&'static Handle> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot start threads for requests: {error}"))),
    }
}

/// Runs a future on the runtime for requests and waits for its result. Blocks this thread, but no other thread of the
/// runtime that it may belong to.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> io::Result<T> {
    let (done, outcome) = sync_channel(1);
    runtime()?.spawn(async move {
        // This fails only if nobody waits any more.
        let _ = done.send(future.await);
    });
    outcome.recv().map_err(|_| io::Error::other("internal error: a request broke down; please report it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waiting_within_a_runtime_is_possible() {
        let slow = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            7
        };
        assert_eq!(wait(slow).unwrap(), 7);
        assert!(wait(async { panic!("as the test wants") }).map(|(): ()| ()).is_err());
    }
}
