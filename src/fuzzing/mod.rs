//! The helpers that fuzz targets share.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// Splits an input into its first bytes, as numbers that choose something, and the others.
pub(crate) fn choices<const N: usize>(data: &[u8]) -> ([usize; N], &[u8]) {
    let (first, rest) = data.split_at(N.min(data.len()));
    let mut chosen = [0; N];
    chosen.iter_mut().zip(first).for_each(|(choice, byte)| *choice = usize::from(*byte));
    (chosen, rest)
}

/// Waits for a future of a session, or of a reader of files.
pub(crate) fn block_on<T>(done: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_all().build().unwrap());
    RUNTIME.block_on(done)
}
