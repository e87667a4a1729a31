use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, process};

use ibid::{Error, Event};
use pyo3::prelude::*;
use tokio::runtime::Runtime;

use crate::allocator;
use crate::errors::{of_kind, raised};

/// The interval between two checks for signals.
const TICK: Duration = Duration::from_millis(50);

/// The stack size of each thread, in bytes: large, because statements can be nested deeply.
const STACK: usize = 64 << 20;

/// The time that threads have to end before a fork. A thread that reads or writes a slow file may take longer, and goes
/// on.
const ENDS: Duration = Duration::from_secs(1);

/// The runtime, and the process that has its threads.
static RUNTIME: Mutex<Option<(u32, Arc<Runtime>)>> = Mutex::new(None);

/// Returns the runtime. It runs for as long as it is kept.
///
/// Fails in a process that was forked while a runtime existed: the fork has none of its threads, and cannot start new
/// ones, since the state of its locks is wrong.
pub(crate) fn runtime() -> io::Result<Arc<Runtime>> {
    let mut made = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match &*made {
        Some((of, runtime)) if *of == process::id() => Ok(Arc::clone(runtime)),
        Some(_) => Err(io::Error::other(
            "this process was forked during a call of ibid, or while rows of it were read: fork before or after, or use `spawn`",
        )),
        None => {
            let runtime = tokio::runtime::Builder::new_multi_thread().thread_stack_size(STACK).enable_all().build()?;
            let runtime = Arc::new(runtime);
            *made = Some((process::id(), Arc::clone(&runtime)));
            Ok(runtime)
        }
    }
}

/// Ends the threads of the runtime, unless a run needs them. Otherwise locks in a forked process would count on waiting
/// threads that it does not have. The next run starts new threads.
pub(crate) fn end_threads() {
    let unneeded = {
        let mut made = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((of, runtime)) = made.take_if(|(of, _)| *of == process::id()) else { return };
        Arc::try_unwrap(runtime).map_err(|needed| *made = Some((of, needed)))
    };
    if let Ok(runtime) = unneeded {
        runtime.shutdown_timeout(ENDS);
    }
}

/// A function that takes the events of a run, on any thread.
pub(crate) type Teller = Box<dyn Fn(Event<'_>) + Send + Sync>;

/// A message to the thread that waits.
enum Message<T> {
    Event(&'static str, String),
    Done(Result<T, Error>),
}

/// Runs a future on other threads, without the lock of the interpreter, until it is done or a signal handler raises.
pub(crate) fn wait<T, F>(py: Python<'_>, future: F) -> PyResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    wait_telling(py, None, |_| future)
}

/// Runs a future like [`wait`], and calls a Python function with the kind and the text of each of its events.
pub(crate) fn wait_telling<T, F>(
    py: Python<'_>,
    on_event: Option<&Bound<'_, PyAny>>,
    begin: impl FnOnce(Teller) -> F,
) -> PyResult<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let (to, mut from) = channel();
    let of_events = to.clone();
    let future = begin(Box::new(move |event| {
        let (kind, text) = match event {
            Event::Stage(stage) => ("stage", stage),
            Event::Note(note) => ("note", note),
            _ => return,
        };
        // The channel is closed once the wait has ended.
        let _ = of_events.send(Message::Event(kind, text.to_owned()));
    }));
    let runtime = runtime()?;
    let task = runtime.spawn(async move {
        let _ = to.send(Message::Done(future.await));
    });
    let mut given_back = Instant::now();
    loop {
        if given_back.elapsed() > allocator::EVERY {
            py.detach(allocator::give_back);
            given_back = Instant::now();
        }
        let message;
        (message, from) = py.detach(move || (from.recv_timeout(TICK), from));
        let heard = match message {
            Ok(Message::Done(outcome)) => return outcome.map_err(|error| raised(py, &error)),
            Ok(Message::Event(kind, text)) => on_event.map_or(Ok(()), |call| call.call1((kind, text)).map(drop)),
            Err(RecvTimeoutError::Timeout) => on_event.map_or(Ok(()), |call| call.call1(("tick", "")).map(drop)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(of_kind(py, "internal", "a thread panicked; please report it with what you called", None));
            }
        };
        if let Err(error) = heard.and_then(|()| py.check_signals()) {
            task.abort();
            return Err(error);
        }
    }
}
