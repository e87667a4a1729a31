//! Failpoints: the steps of a commit, at each of which a test ends the process.
//!
//! Builds with debug assertions count the steps that a process reaches. The variable `IBID_END_AT_STEP` names one of them, from 1:
//! when it is reached, the process says its name and ends as by `kill -9`, without cleaning up. Other builds have no failpoints.

#[cfg(all(unix, debug_assertions))]
use std::{
    io::Write as _,
    sync::LazyLock,
    sync::atomic::{AtomicU64, Ordering},
};

/// Ends the process if this step of a commit is the one that the environment names.
#[cfg(all(unix, debug_assertions))]
pub(crate) fn step(name: &str) {
    static LAST: LazyLock<Option<u64>> =
        LazyLock::new(|| std::env::var("IBID_END_AT_STEP").ok().and_then(|step| step.parse().ok()));
    static REACHED: AtomicU64 = AtomicU64::new(0);
    if LAST.is_some_and(|last| REACHED.fetch_add(1, Ordering::Relaxed) + 1 == last) {
        writeln!(std::io::stderr(), "ended at the step: {name}").ok();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).ok();
    }
}

/// Does nothing in a build without debug assertions.
#[cfg(not(all(unix, debug_assertions)))]
pub(crate) fn step(_: &str) {}
