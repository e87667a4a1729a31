use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::search::{Pair, Task};

/// What there is to do in a share of the join, for workers that take one thing after the other.
#[derive(Debug)]
pub(super) struct WorkList {
    tasks: Vec<Task>,
    next_task: AtomicUsize,
    /// Parts of pairs of sets that so many rows have that one worker should not be left alone with them.
    pieces: Mutex<Vec<Piece>>,
    /// How many workers may add pieces still.
    busy: AtomicUsize,
    /// There is a new piece, or nobody is busy any more.
    changed: Notify,
}

/// The rows that some of the members of the left set of a pair make with those of the right one.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) pair: Pair,
    pub(super) lefts: Range<usize>,
}

/// What a worker does next.
#[derive(Debug)]
pub(super) enum Work<'a> {
    Task(&'a Task),
    Piece(Piece),
}

impl WorkList {
    pub(super) fn new(tasks: Vec<Task>) -> Self {
        Self {
            tasks,
            next_task: AtomicUsize::new(0),
            pieces: Mutex::default(),
            busy: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    /// The next thing to do, after which [`done`](Self::done) is to be called; `None` when there will be nothing more.
    pub(super) async fn next(&self) -> Option<Work<'_>> {
        loop {
            let changed = self.changed.notified();
            // Before anything is taken, so that nobody leaves while there may be more.
            self.busy.fetch_add(1, Ordering::AcqRel);
            if let Some(piece) = self.pieces().pop() {
                return Some(Work::Piece(piece));
            }
            if let Some(task) = self.tasks.get(self.next_task.fetch_add(1, Ordering::Relaxed)) {
                return Some(Work::Task(task));
            }
            if self.done() && self.pieces().is_empty() {
                return None;
            }
            changed.await;
        }
    }

    /// Adds a piece while something else is being done.
    pub(crate) fn add(&self, piece: Piece) {
        self.pieces().push(piece);
        self.changed.notify_waiters();
    }

    /// Says that a worker has done what it took; true if nobody does anything.
    pub(super) fn done(&self) -> bool {
        let is_last = self.busy.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            self.changed.notify_waiters();
        }
        is_last
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, Vec<Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
