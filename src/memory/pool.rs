//! The memory pool of a command: the memory that each operator may reserve.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

use crate::memory::watch::{self, REFUSE_PERCENT};

/// The bytes of memory that the program takes before it does anything, most of it the pages of its file.
const BYTES_OF_PROGRAM: usize = 64 << 20;

/// Returns the number of bytes that operators may reserve if the process may take `memory` bytes: half of what the
/// program leaves. Decoding, batches in flight and buffers come on top.
pub(crate) fn for_operators(memory: usize) -> usize {
    (memory - (memory / 4).min(BYTES_OF_PROGRAM)) / 2
}

/// A pool in which spillable consumers get equal shares, and leave as much to consumers that cannot spill.
///
/// Operators that spill take all that they are given, and so do the merges of what sorts hold or have spilled. In a
/// pool that gives all of it to them (as `FairSpillPool` does, above all to the merges), the next operator gets nothing
/// and fails, though all could have been served. A merge cannot spill, and yet is the only way for a sort to spill: so
/// many sorts leave some memory to merges.
///
/// Not all memory is reserved. If the process as a whole would take too much, operators that spill have only their
/// least share, and the others are refused.
#[derive(Debug)]
pub(crate) struct SharedPool {
    bytes: usize,
    /// The number of bytes that the process may take, if it has a limit.
    of_process: Option<usize>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of consumers with equal shares: operators that spill, and merges.
    sharing: usize,
    /// The bytes that operators that spill, merges, and operators that do not share have reserved.
    spilling: usize,
    merging: usize,
    unspillable: usize,
    /// The bytes that operators which pass rows on report. No other operator gets less for them: buffers that batches
    /// share are counted once per batch.
    passing: usize,
}

/// The way in which a consumer is served.
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
            // A merge reads as few files at a time as it has memory for.
            _ if is_sort(consumer) && !consumer.can_spill() => Self::Merging,
            _ if consumer.can_spill() => Self::Spilling,
            _ => Self::Unspillable,
        }
    }

    fn shares(self) -> bool {
        matches!(self, Self::Spilling | Self::Merging)
    }
}

/// Returns true if an operator passes rows on. It is never refused memory: otherwise it would spill, and might wait for
/// ever for what two of its inputs spill at the same time (<https://github.com/apache/datafusion/issues/24883>). It
/// holds little if its consumers take the rows in.
fn is_passing(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("RepartitionExec")
}

/// Returns true for a sort, and for the merge of what it holds and of what it has spilled.
fn is_sort(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("ExternalSorter")
}

/// Returns how many times the reserved bytes are in memory: a join or a window copies the batches that it has collected
/// into one, without reserving the copy.
fn copies(consumer: &MemoryConsumer) -> usize {
    let collects = ["HashJoinInput", "NestedLoopJoinLoad", "CrossJoinExec", "WindowAggExec"];
    if collects.iter().any(|name| consumer.name().starts_with(name)) { 2 } else { 1 }
}

/// Divisor of the pool: this part is kept for operators that spill, and as much for merges.
const KEPT: usize = 16;

/// Share of the process's limit, in percent, above which operators spill.
const FULL: usize = 95;

impl SharedPool {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, of_process: None, state: Mutex::default() }
    }

    /// Creates the pool of a process that may take `of_process` bytes.
    pub(crate) fn of_process(bytes: usize, of_process: usize) -> Self {
        Self { of_process: Some(of_process), ..Self::new(bytes) }
    }

    /// Returns the memory of the process with `more` bytes, in percent of its limit; 0 if that is not known.
    fn taken_with(&self, more: usize, kind: Kind) -> usize {
        let Some(most) = self.of_process else { return 0 };
        let hundredths = |taken: usize| taken.saturating_add(more).saturating_mul(100) / most.max(1);
        let taken = watch::taken().map_or(0, hundredths);
        // An operator that would fail is not refused because of free memory that is not given back yet.
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
            let said = "the process takes more than a quarter above its memory limit".to_owned();
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
                // The merge of a sort counts the data of the sort once more, in addition to the keys: it may have twice
                // as much.
                let least = if is_sort(reservation.consumer()) { kept / 2 } else { kept };
                let unused = (half / 2).max(kept).saturating_sub(state.spilling);
                // Without a first batch, an operator has nothing to spill.
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
                format!("; with them the process takes {taken} % of its limit")
            } else {
                String::new()
            };
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} cannot reserve {additional} more bytes: it has {} bytes, and may have {left} more of the {} bytes \
                 that operators may reserve{process}",
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
        // The memory of the join is not shared any more.
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
        // Some sorts have more than their share, until all sorts together have a quarter of the pool.
        for sort in &sorts[..8] {
            sort.try_grow(200).unwrap();
            assert!(sort.try_grow(1).is_err());
        }
        sorts[8..].iter().for_each(|sort| sort.try_grow(50).unwrap());
        assert!(sorts[8..].iter().all(|sort| sort.try_grow(1).is_err()));
        // The first reservation of a sort may be more than its share.
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
        // Two least shares are kept for others.
        assert!(join.try_grow(1).is_err());
        MemoryConsumer::new("sort").with_can_spill(true).register(&pool).try_grow(100).unwrap();
    }
}
