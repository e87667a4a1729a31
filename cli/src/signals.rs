//! The signals that end the program, with the exit code and the word for each.

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

/// True while a command wants to hear of the first signal, and to end by itself.
static ENDS_ITSELF: AtomicBool = AtomicBool::new(false);

/// Tells it.
static ASKED: LazyLock<watch::Sender<bool>> = LazyLock::new(|| watch::Sender::new(false));

/// From here on the first signal asks this command to end, and only a second one ends the program.
pub(super) fn end_when_asked() -> watch::Receiver<bool> {
    ENDS_ITSELF.store(true, Ordering::Relaxed);
    ASKED.subscribe()
}

/// Asks the command to end by itself, if it can and was not asked before.
pub(super) fn ask_to_end() -> bool {
    let ends_itself = ENDS_ITSELF.swap(false, Ordering::Relaxed);
    if ends_itself {
        ASKED.send_replace(true);
    }
    ends_itself
}

/// True while interrupts are for what the shell runs, and not for the program.
static IS_SHELL: AtomicBool = AtomicBool::new(false);

/// Tells the shell of interrupts, by their number.
static INTERRUPTS: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(0));

/// From here on an interrupt ends no more than what the shell runs.
pub(super) fn interrupts() -> watch::Receiver<u64> {
    IS_SHELL.store(true, Ordering::Relaxed);
    INTERRUPTS.subscribe()
}

/// Passes an interrupt on to the shell, if there is one.
pub(super) fn is_for_shell(code: i32) -> bool {
    let is_for_shell = code == INTERRUPTED && IS_SHELL.load(Ordering::Relaxed);
    if is_for_shell {
        INTERRUPTS.send_modify(|number| *number += 1);
    }
    is_for_shell
}

/// Ends what the shell runs, if there is a shell, with a word for it, and gives it time for that.
pub(super) fn interrupt_shell(said: &str) -> bool {
    let is_shell = is_for_shell(INTERRUPTED);
    if is_shell {
        say(said);
        std::thread::sleep(TIME_TO_END);
    }
    is_shell
}

/// Ends the program with a word for it, removes its temporary files, and gives up its uploads to these stores.
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
            _ = self.interrupt.recv() => (INTERRUPTED, "interrupted"),
            _ = self.terminate.recv() => (143, "terminated"),
            _ = hangup => (129, "hung up"),
        }
    }
}

/// Returns true if the program was started to outlive its terminal, as `nohup` does. Listening would undo that, so where the
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
            Ok(()) => (INTERRUPTED, "interrupted"),
            // Nothing can be heard.
            Err(_) => std::future::pending().await,
        }
    }
}
