//! The signals that end the program, with the exit code and the word for each.

use std::io::Result;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens to the signals that ask the program to end.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if hangup_is_ignored() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    /// Waits for a signal.
    pub(super) async fn next(&mut self) -> (i32, &'static str) {
        let hangup = async {
            match &mut self.hangup {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => (130, "interrupted"),
            _ = self.terminate.recv() => (143, "terminated"),
            _ = hangup => (129, "hung up"),
        }
    }
}

/// Whether the program was started to outlive its terminal, as `nohup` does. Listening would undo that, so where the
/// system does not tell, it is taken for granted.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal; the first is SIGHUP.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Listens to Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> Result<Self> {
        Ok(Self)
    }

    /// Waits for a signal.
    pub(super) async fn next(&mut self) -> (i32, &'static str) {
        match tokio::signal::ctrl_c().await {
            Ok(()) => (130, "interrupted"),
            // Nothing can be heard.
            Err(_) => std::future::pending().await,
        }
    }
}
