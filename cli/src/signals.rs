//! The signals that end the program, with the exit code and the message for each.

use std::io::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::watch;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::extension;
use super::run::say;
use ibid::program::export::cleanup;
use ibid::program::store::Stores;

/// True while the running command handles the first signal itself and ends by itself.
static ENDS_ITSELF: AtomicBool = AtomicBool::new(false);

/// The channel that asks the command to end.
static ASKED: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// Makes the first signal ask the command to end, so that only a second one ends the program. Returns the channel that
/// asks.
pub(super) fn end_when_asked() -> watch::Receiver<bool> {
    ENDS_ITSELF.store(true, Ordering::Relaxed);
    ASKED.subscribe()
}

/// Asks the command to end by itself. Returns false if it cannot, or was asked before.
pub(super) fn ask_to_end() -> bool {
    let ends_itself = ENDS_ITSELF.swap(false, Ordering::Relaxed);
    if ends_itself {
        ASKED.send_replace(true);
    }
    ends_itself
}

/// True if an interrupt ends the statement that the shell runs, and not the program.
static IS_SHELL: AtomicBool = AtomicBool::new(false);

/// The channel that tells the shell how many interrupts there were.
static INTERRUPTS: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(0));

/// Makes interrupts end only the statement that the shell runs. Returns the channel of interrupts.
pub(super) fn interrupts() -> watch::Receiver<u64> {
    IS_SHELL.store(true, Ordering::Relaxed);
    INTERRUPTS.subscribe()
}

/// Passes an interrupt on to the shell. Returns false if there is no shell, or if it is another signal.
pub(super) fn is_for_shell(code: i32) -> bool {
    let is_for_shell = code == INTERRUPTED && IS_SHELL.load(Ordering::Relaxed);
    if is_for_shell {
        INTERRUPTS.send_modify(|number| *number += 1);
    }
    is_for_shell
}

/// Interrupts the statement of the shell with a message, and gives it time to end. Returns false if there is no shell.
pub(super) fn interrupt_shell(said: &str) -> bool {
    let is_shell = is_for_shell(INTERRUPTED);
    if is_shell {
        say(said);
        std::thread::sleep(TIME_TO_END);
    }
    is_shell
}

/// Ends the program with a message, removes its temporary files, and aborts its uploads to these stores.
pub(super) fn end(code: i32, said: &str, stores: &Arc<Stores>) -> ! {
    let _no_more = cleanup::remove_all(stores);
    extension::get().give_up();
    say(said);
    std::process::exit(code)
}

/// The exit code of an interrupted program.
const INTERRUPTED: i32 = 130;

/// The time that a statement of the shell has to end.
const TIME_TO_END: Duration = Duration::from_secs(1);

/// The listener for the signals that ask the program to end.
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
            _ = self.interrupt.recv() => (INTERRUPTED, "interrupted"),
            _ = self.terminate.recv() => (143, "terminated"),
            _ = hangup => (129, "hung up"),
        }
    }
}

/// Returns true if the program was started to outlive its terminal, as `nohup` does, or if the system does not tell.
/// Listening to hangups would undo that.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A bit for each signal; the first is SIGHUP.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// The listener for Ctrl-C.
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
            Ok(()) => (INTERRUPTED, "interrupted"),
            // The program cannot listen to Ctrl-C.
            Err(_) => std::future::pending().await,
        }
    }
}
