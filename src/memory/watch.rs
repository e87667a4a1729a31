//! What the process takes, held to what it may.
//!
//! Not all memory is reserved from a pool: what a function makes of a row, batches on their way, what was freed and is not given
//! back to the system yet. So a thread looks at the process itself, two hundred times a second.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the process is looked at.
const EVERY: Duration = Duration::from_millis(5);

/// How long what was found counts.
const MOMENT: Duration = Duration::from_millis(1);

/// How much of what it may the process takes, in hundredths, where what is free is given back, and by how much more it has grown
/// since where it is given back once more.
const GIVEN_BACK: usize = 80;
const GROWN: usize = 3;

/// The share of the limit, in percent, at which those fail that cannot go to disk.
pub(crate) const REFUSE_PERCENT: usize = 115;

/// The share of the limit, in percent, at which the process ends.
pub const MOST: usize = 125;

static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Whether what runs is being ended for taking too much: nobody may have more.
pub(crate) fn is_ending() -> bool {
    EXCEEDED.load(Ordering::Relaxed)
}

/// Says how the allocator of the program gives back to the system what is free.
pub fn configure(give_back: fn()) {
    GIVE_BACK.get_or_init(|| give_back);
}

/// How many bytes of memory the process takes, where the system tells, or took a moment ago: operators ask for each batch, and the system
/// opens a file to answer.
pub(crate) fn taken() -> Option<usize> {
    static KNOWN: Mutex<Option<(Instant, usize)>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_none_or(|(when, _)| when.elapsed() > MOMENT) {
        *known = taken_now().map(|taken| (Instant::now(), taken));
    }
    known.map(|(_, taken)| taken)
}

/// The same, as it is.
fn taken_now() -> Option<usize> {
    memory_stats::memory_stats().map(|taken| taken.physical_mem)
}

/// Whether the process takes more than so many hundredths of what it may, once what is free is given back.
pub fn exceeds(may: usize, hundredths: usize) -> bool {
    let most = may / 100 * hundredths;
    taken().is_some_and(|taken| taken > most) && give_back() > most
}

/// Watches from now on what the process takes, of which free memory is given back where it is about as many bytes as it may take;
/// calls `exceeded` where it is a quarter more.
pub fn begin(may: usize, exceeded: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut given_back_at = 0;
    thread::Builder::new().name("memory".to_owned()).spawn(move || {
        loop {
            let bytes = taken().unwrap_or(0);
            if bytes > (may / 100 * GIVEN_BACK).max(given_back_at + may / 100 * GROWN) {
                given_back_at = give_back();
            }
            if exceeds(may, MOST) {
                EXCEEDED.store(true, Ordering::Relaxed);
                exceeded();
                EXCEEDED.store(false, Ordering::Relaxed);
            }
            thread::sleep(EVERY);
        }
    })?;
    Ok(())
}

/// Gives back what is free. With how much the process takes then.
pub(crate) fn give_back() -> usize {
    GIVE_BACK.get().inspect(|give_back| give_back());
    taken_now().unwrap_or(0)
}
