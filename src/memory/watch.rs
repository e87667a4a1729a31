//! Enforcement of the limit on resident memory (RSS).
//!
//! Not all memory is reserved from a pool: functions allocate memory for a row, batches are in flight, and freed memory
//! is not given back to the system at once. So a thread checks the process itself, two hundred times a second.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two checks of the process.
const EVERY: Duration = Duration::from_millis(5);

/// Time for which a measurement counts.
const MOMENT: Duration = Duration::from_millis(1);

/// Share of the limit, in percent, above which free memory is given back to the system, and growth since then, in
/// percent of the limit, above which it is given back once more.
const GIVEN_BACK: usize = 80;
const GROWN: usize = 3;

/// The share of the limit, in percent, above which operators that cannot spill are refused memory.
pub(crate) const REFUSE_PERCENT: usize = 115;

/// The share of the limit, in percent, at which the process ends.
pub const MOST: usize = 125;

static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

static EXCEEDED: AtomicBool = AtomicBool::new(false);

/// Returns true if the run is being ended because it takes too much memory: nobody may have more.
pub(crate) fn is_ending() -> bool {
    EXCEEDED.load(Ordering::Relaxed)
}

/// Sets the function with which the allocator of the program gives free memory back to the system.
pub fn configure(give_back: fn()) {
    GIVE_BACK.get_or_init(|| give_back);
}

/// Returns the number of bytes of memory that the process takes, if the system tells. The number may be a moment old:
/// operators ask for each batch, and the system opens a file to answer.
pub(crate) fn taken() -> Option<usize> {
    static KNOWN: Mutex<Option<(Instant, usize)>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_none_or(|(when, _)| when.elapsed() > MOMENT) {
        *known = taken_now().map(|taken| (Instant::now(), taken));
    }
    known.map(|(_, taken)| taken)
}

/// Returns the current number.
fn taken_now() -> Option<usize> {
    memory_stats::memory_stats().map(|taken| taken.physical_mem)
}

/// Returns true if the process takes more than `hundredths` percent of the limit `may`, after free memory is given
/// back.
pub fn exceeds(may: usize, hundredths: usize) -> bool {
    let most = may / 100 * hundredths;
    taken().is_some_and(|taken| taken > most) && give_back() > most
}

/// Watches the memory of the process from now on. Gives free memory back to the system if the process takes about as
/// many bytes as it may take, and calls `exceeded` if it takes a quarter more.
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

/// Gives free memory back to the system. Returns the memory that the process takes then.
pub(crate) fn give_back() -> usize {
    GIVE_BACK.get().inspect(|give_back| give_back());
    taken_now().unwrap_or(0)
}
