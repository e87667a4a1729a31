//! Who may reserve how much of the memory that a command may take.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

use crate::memory::watch::{self, REFUSE_PERCENT};

/// The bytes of memory that the program takes before it does anything, most of it the pages of its file.
const BYTES_OF_PROGRAM: usize = 64 << 20;

/// Returns the bytes that operators may reserve of the memory that the process may take: half of what the program leaves. Decoding,
/// batches in flight and buffers come on top.
pub(crate) fn for_operators(memory: usize) -> usize {
    (memory - (memory / 4).min(BYTES_OF_PROGRAM)) / 2
}

/// A pool in which those that can do with less share alike, and leave as much to those that cannot.
///
/// Operators that go to disk take what they are given, and so do the merges of what sorts hold or put there. In a pool that gives
/// it all to them (as `FairSpillPool` does, to the merges above all), the next operator finds none and fails, though all could have
/// been served. A merge cannot go to disk, and yet is the only way for a sort to get there: so many sorts leave some to merges.
///
/// Not all memory is reserved. Where the process as a whole would take too much, operators that go to disk have their least share only,
/// and the others are refused.
#[derive(Debug)]
pub(crate) struct SharedPool {
    bytes: usize,
    /// How much the process may take.
    of_process: Option<usize>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many consumers share alike: those that go to disk, and merges.
    sharing: usize,
    /// How much the ones have reserved, the others, and those that do not share.
    spilling: usize,
    merging: usize,
    unspillable: usize,
    /// What passes rows on says that it holds, of which no other is given less: it counts buffers that batches share once for each.
    passing: usize,
}

/// How a consumer is served.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Spilling,
    Merging,
    Unspillable,
    Passing,
}

impl Kind {
    fn of(consumer: &MemoryConsumer) -> Self {
        match consumer {
            _ if is_passing(consumer) => Self::Passing,
            // It merges as few files at a time as it has memory for.
            _ if is_sort(consumer) && !consumer.can_spill() => Self::Merging,
            _ if consumer.can_spill() => Self::Spilling,
            _ => Self::Unspillable,
        }
    }

    fn shares(self) -> bool {
        matches!(self, Self::Spilling | Self::Merging)
    }
}

/// What passes rows on is never refused memory, as it would go to disk then, and may wait for ever for what two of its inputs put
/// there at once (<https://github.com/apache/datafusion/issues/24883>). What it holds is small where those it feeds take it in.
fn is_passing(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("RepartitionExec")
}

/// A sort, or the merge of what it holds and of what it put on disk.
fn is_sort(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("ExternalSorter")
}

/// How often what a consumer reserves is in memory: a join or a window makes one batch of those that it has collected, without a
/// word of it.
fn copies(consumer: &MemoryConsumer) -> usize {
    let collects = ["HashJoinInput", "NestedLoopJoinLoad", "CrossJoinExec", "WindowAggExec"];
    if collects.iter().any(|name| consumer.name().starts_with(name)) { 2 } else { 1 }
}

/// This part of the pool is kept for operators that go to disk, and as much for merges.
const KEPT: usize = 16;

/// How much of what the process may take it takes, in hundredths, where operators go to disk.
const FULL: usize = 95;

impl SharedPool {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, of_process: None, state: Mutex::default() }
    }

    /// The pool of a process that may take so much.
    pub(crate) fn of_process(bytes: usize, of_process: usize) -> Self {
        Self { of_process: Some(of_process), ..Self::new(bytes) }
    }

    /// How much the process takes once it takes so many bytes more, in hundredths of what it may; 0 where that is not known.
    fn taken_with(&self, more: usize, kind: Kind) -> usize {
        let Some(most) = self.of_process else { return 0 };
        let hundredths = |taken: usize| taken.saturating_add(more).saturating_mul(100) / most.max(1);
        let taken = watch::taken().map_or(0, hundredths);
        // What would fail is not told so for what is free and not given back yet.
        if taken > REFUSE_PERCENT && kind == Kind::Unspillable { hundredths(watch::give_back()) } else { taken }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn bytes(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Spilling => &mut self.spilling,
            Kind::Merging => &mut self.merging,
            Kind::Unspillable => &mut self.unspillable,
            Kind::Passing => &mut self.passing,
        }
    }
}

impl MemoryPool for SharedPool {
    fn name(&self) -> &'static str {
        "shared"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if Kind::of(consumer).shares() {
            self.state().sharing += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if Kind::of(consumer).shares() {
            self.state().sharing -= 1;
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let consumer = reservation.consumer();
        *self.state().bytes(Kind::of(consumer)) += additional * copies(consumer);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let consumer = reservation.consumer();
        *self.state().bytes(Kind::of(consumer)) -= shrink * copies(consumer);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let kind = Kind::of(reservation.consumer());
        if self.of_process.is_some() && watch::is_ending() {
            let said = "the process takes more than a quarter above what it may".to_owned();
            return Err(DataFusionError::ResourcesExhausted(said));
        }
        if kind == Kind::Passing {
            self.grow(reservation, additional);
            return Ok(());
        }
        let copies = copies(reservation.consumer());
        let taken = self.taken_with(additional.saturating_mul(copies), kind);
        let mut state = self.state();
        let left = self.bytes.saturating_sub(state.spilling + state.merging + state.unspillable);
        let kept = self.bytes / KEPT;
        let half = self.bytes.saturating_sub(state.unspillable) / 2;
        let of = if taken > FULL { kept } else { half.max(kept) };
        let share = of / state.sharing.max(1);
        let size = reservation.size();
        let mut left = match kind {
            Kind::Spilling => {
                // The merge of a sort counts what the sort holds once more, beside the keys: it may have twice as much.
                let least = if is_sort(reservation.consumer()) { kept / 2 } else { kept };
                let unused = (half / 2).max(kept).saturating_sub(state.spilling);
                // Without a first batch it has nothing to put on disk.
                let more = if size == 0 { least } else { least.saturating_sub(size).min(unused) };
                left.min(share.saturating_sub(size).max(more))
            }
            Kind::Merging => left.min(share.max(kept).saturating_sub(size)),
            _ if taken > REFUSE_PERCENT => 0,
            _ => left.min((self.bytes - 2 * kept).saturating_sub(state.unspillable)),
        };
        left /= copies;
        if additional > left {
            let process = if taken > FULL {
                format!("; with them the process takes {taken} % of what it may")
            } else {
                String::new()
            };
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} cannot have {additional} bytes more: it has {} bytes, and may have {left} more of the {} bytes that operators \
                 may reserve{process}",
                reservation.consumer().name(),
                reservation.size(),
                self.bytes
            )));
        }
        *state.bytes(kind) += additional * copies;
        Ok(())
    }

    fn reserved(&self) -> usize {
        let state = self.state();
        state.spilling + state.merging + state.unspillable + state.passing
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

impl fmt::Display for SharedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(bytes: {})", self.name(), self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn those_that_can_do_with_less_leave_half_to_the_others() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedPool::new(6400));
        let sorts = ["one", "two"].map(|name| MemoryConsumer::new(name).with_can_spill(true).register(&pool));
        let merges = [0, 1].map(|i| MemoryConsumer::new(format!("ExternalSorterMerge[{i}]")).register(&pool));
        for elastic in sorts.iter().chain(&merges) {
            elastic.try_grow(800).unwrap();
            assert!(elastic.try_grow(1).is_err());
        }
        let join = MemoryConsumer::new("join").register(&pool);
        join.try_grow(3200).unwrap();
        assert!(join.try_grow(1).is_err());
        assert_eq!(pool.reserved(), 6400);
        // What the join has is not shared any more.
        sorts[0].free();
        sorts[0].try_grow(400).unwrap();
        assert!(sorts[0].try_grow(1).is_err());
        drop(join);
        drop(merges);
        let passing = MemoryConsumer::new("RepartitionExec[0]").with_can_spill(true).register(&pool);
        passing.try_grow(12_800).unwrap();
        sorts[0].try_grow(1200).unwrap();
        drop(passing);
        assert_eq!(pool.reserved(), 2400);
    }

    #[test]
    fn many_sorts_leave_memory_to_their_merges() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedPool::new(6400));
        let register = |name: &str, spills| MemoryConsumer::new(name).with_can_spill(spills).register(&pool);
        let sorts: Vec<_> = (0..32).map(|i| register(&format!("ExternalSorter[{i}]"), true)).collect();
        let merges: Vec<_> = (0..32).map(|i| register(&format!("ExternalSorterMerge[{i}]"), false)).collect();
        // Some have more than their share, until they have a quarter of all.
        for sort in &sorts[..8] {
            sort.try_grow(200).unwrap();
            assert!(sort.try_grow(1).is_err());
        }
        sorts[8..].iter().for_each(|sort| sort.try_grow(50).unwrap());
        assert!(sorts[8..].iter().all(|sort| sort.try_grow(1).is_err()));
        // What it holds first may be more than its share.
        sorts[8].free();
        sorts[8].try_grow(150).unwrap();
        assert!(sorts[8].try_grow(1).is_err());
        sorts[8].shrink(100);
        for merge in &merges[..8] {
            merge.try_grow(400).unwrap();
            assert!(merge.try_grow(1).is_err());
        }
        assert_eq!(pool.reserved(), 6000);
    }

    #[test]
    fn what_a_join_collects_counts_twice() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedPool::new(1600));
        let inputs = [0, 1].map(|i| MemoryConsumer::new(format!("HashJoinInput[{i}]")).register(&pool));
        inputs[0].try_grow(400).unwrap();
        inputs[1].try_grow(300).unwrap();
        assert!(inputs[1].try_grow(1).is_err());
        assert_eq!(pool.reserved(), 1400);
        inputs[0].shrink(100);
        inputs[1].try_grow(100).unwrap();
        drop(inputs);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn a_process_that_takes_too_much_gets_no_more() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedPool::of_process(1600, 1));
        let sort = MemoryConsumer::new("sort").with_can_spill(true).register(&pool);
        sort.try_grow(100).unwrap();
        let refused = sort.try_grow(1).unwrap_err().to_string();
        assert!(refused.contains("the process takes"), "{refused}");
        let join = MemoryConsumer::new("join").register(&pool);
        assert!(join.try_grow(1).is_err());
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedPool::of_process(1600, 1 << 50));
        let join = MemoryConsumer::new("join").register(&pool);
        join.try_grow(1400).unwrap();
        // Two least shares are for others.
        assert!(join.try_grow(1).is_err());
        MemoryConsumer::new("sort").with_can_spill(true).register(&pool).try_grow(100).unwrap();
    }
}
