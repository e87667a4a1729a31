use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::search::{Pair, Task};

/// The work of a share of the join, for workers that take one item after the other.
#[derive(Debug)]
pub(super) struct WorkList {
    tasks: Vec<Task>,
    next_task: AtomicUsize,
    /// Pieces of pairs of sets with so many rows that one worker should not be left alone with them.
    pieces: Mutex<Vec<Piece>>,
    /// The number of workers that may still add pieces.
    busy: AtomicUsize,
    /// The notification of a new piece, or that no worker is busy any more.
    changed: Notify,
}

/// The pairs of some members of the left set of a pair with all members of the right set.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) pair: Pair,
    pub(super) lefts: Range<usize>,
}

/// The next work of a worker.
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

    /// Returns the next work, after which [`done`](Self::done) must be called; `None` if there will be no more.
    pub(super) async fn next(&self) -> Option<Work<'_>> {
        loop {
            let changed = self.changed.notified();
            // The worker counts as busy before it takes anything, so that no other worker ends while there may be more.
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

    /// Adds a piece while its worker is still busy.
    pub(crate) fn add(&self, piece: Piece) {
        self.pieces().push(piece);
        self.changed.notify_waiters();
    }

    /// Records that a worker has finished what it took. Returns true if no worker is busy.
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
