use std::collections::VecDeque;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, Result, Task};

/// A query and a row that match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    /// The number of the query.
    pub query: u32,
    /// The number of the row.
    pub row: u32,
}

impl Hit {
    fn key(self) -> u64 {
        u64::from(self.query) << 32 | u64::from(self.row)
    }
}

/// Sorts by query, then row.
pub(crate) fn sort(hits: &mut [Hit]) {
    // Tiles are sorted, so that there are long runs to merge.
    hits.sort_by_key(|hit| hit.key());
}

/// Some queries against some rows: what a back end does at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The numbers of the queries.
    pub queries: Range<u32>,
    /// The numbers of the rows.
    pub rows: Range<u32>,
}

/// What came of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collected {
    /// All its hits were appended.
    All,
    /// It has more hits than there is room for; nothing was appended.
    TooMany,
}

/// A way to search. All of them give the same answers.
pub trait Backend: fmt::Debug + Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> &str;

    /// Makes ready for a task.
    fn open<'a>(&'a self, task: &'a Task<'a>) -> Result<Box<dyn Tiles + 'a>>;

    /// For each pair whether it is within its bound: bit `i % 64` of word `i / 64`. Numbers have been checked.
    fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>>;
}

/// A task at work: tiles go in and come out in the same order.
pub trait Tiles {
    /// The most queries that a tile may have.
    fn queries_per_tile(&self) -> u32;

    /// Where a tile of these queries that begins with the row `from` ends at the latest; beyond `from`.
    fn end_of_tile(&self, queries: Range<u32>, from: u32) -> u32;

    /// How many tiles may be under way.
    fn depth(&self) -> usize;

    /// Begins a tile.
    fn submit(&mut self, tile: Tile) -> Result<()>;

    /// Waits for the oldest tile, and appends its hits by query, then row. A tile of one query and one row always has room.
    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected>;
}

/// How a search ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All hits were given.
    Complete,
    /// The sink wanted no more.
    Stopped,
}

type FellBack = Box<dyn Fn(&str, &Error) + Send + Sync>;

/// Searches by the first of its back ends, and by the next one, from the tile on at which it is, when that fails.
///
/// Hits come by query, then row, whichever back ends there are and however they cut the work.
pub struct Engine {
    backends: Vec<Arc<dyn Backend>>,
    /// Those before this one have failed, and are not tried again.
    current: AtomicUsize,
    held_hits: usize,
    fell_back: FellBack,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("backends", &self.backends)
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Searches by the first of these, and so on.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends, current: AtomicUsize::new(0), held_hits: 1 << 22, fell_back: Box::new(|_, _| {}) }
    }

    /// How many hits are held in memory, at most about twice as many, until all rows have been compared with their queries;
    /// by default 2²², 32 MiB.
    #[must_use]
    pub fn with_held_hits(self, held_hits: usize) -> Self {
        Self { held_hits: held_hits.max(1), ..self }
    }

    /// What is done, once, when a back end of that name has failed and the next one takes over.
    #[must_use]
    pub fn on_fall_back(self, fell_back: impl Fn(&str, &Error) + Send + Sync + 'static) -> Self {
        Self { fell_back: Box::new(fell_back), ..self }
    }

    /// The name of the back end that searches now.
    pub fn backend(&self) -> &str {
        self.backends.get(self.current.load(Ordering::Relaxed)).map_or("none", |backend| backend.name())
    }

    /// Runs `work` with the back end in charge until one does not fail.
    fn with_backend<T>(&self, mut work: impl FnMut(&dyn Backend) -> Result<T>) -> Result<T> {
        loop {
            let current = self.current.load(Ordering::Acquire);
            let Some(backend) = self.backends.get(current) else {
                return Err(Error::Invalid("a search needs a back end".to_owned()));
            };
            match work(backend.as_ref()) {
                Err(error) if error.is_of_device() && current + 1 < self.backends.len() => {
                    let next = current + 1;
                    if self.current.compare_exchange(current, next, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                        (self.fell_back)(backend.name(), &error);
                    }
                }
                result => return result,
            }
        }
    }

    /// Gives all pairs within their bound to `sink`, by query, then row, in batches; also an empty batch after each tile without
    /// hits to give, so that it can stop a search that finds nothing.
    pub fn search(&self, task: &Task<'_>, mut sink: impl FnMut(&[Hit]) -> ControlFlow<()>) -> Result<Outcome> {
        let mut progress = Progress { query: 0, begun: None, held: Vec::new() };
        self.with_backend(|backend| {
            let mut tiles = backend.open(task)?;
            progress.go_on(task, tiles.as_mut(), self.held_hits, &mut sink)
        })
    }

    /// For each of the pairs `queries[i]`, `rows[i]` whether it is within its bound: bit `i % 64` of word `i / 64`. Each may
    /// be any pair of a query and a row, of a self-join too.
    pub fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>> {
        task.check_pairs(queries, rows)?;
        self.with_backend(|backend| backend.mask(task, queries, rows))
    }
}

/// Hits are given to the sink in batches of at most this many.
const BATCH: usize = 1 << 16;

/// How far a search has come, which another back end can go on from.
struct Progress {
    /// The first query whose hits are not given.
    query: u32,
    /// Where queries have been compared with some of their rows: the end of these queries, and the first row that is left.
    begun: Option<(u32, u32)>,
    /// The hits of the queries that are begun.
    held: Vec<Hit>,
}

impl Progress {
    fn go_on(
        &mut self,
        task: &Task<'_>,
        tiles: &mut dyn Tiles,
        held_hits: usize,
        sink: &mut dyn FnMut(&[Hit]) -> ControlFlow<()>,
    ) -> Result<Outcome> {
        let most_queries = tiles.queries_per_tile().max(1);
        // A back end that takes over may take fewer queries at a time than the one before it.
        if let Some((end, row)) = self.begun {
            self.begin_again(end.min(self.query.saturating_add(most_queries)), row);
        }
        let mut plan = Plan { queries: 0..0, row: 0, query_step: most_queries, row_step: u32::MAX };
        plan.restart(self);
        let mut under_way: VecDeque<Planned> = VecDeque::new();
        let mut hits = Vec::new();
        loop {
            while under_way.len() < tiles.depth().max(1) {
                let Some(planned) = plan.next(task, tiles) else { break };
                if !planned.tile.rows.is_empty() {
                    tiles.submit(planned.tile.clone())?;
                }
                under_way.push_back(planned);
            }
            let Some(Planned { tile, last }) = under_way.pop_front() else { return Ok(Outcome::Complete) };
            hits.clear();
            let collected = if tile.rows.is_empty() { Collected::All } else { tiles.collect(&mut hits)? };

            let kept = if collected == Collected::TooMany {
                plan.shrink(&tile);
                Some((tile.queries.end.min(tile.queries.start + plan.query_step), tile.rows.start))
            } else {
                self.begun = Some((tile.queries.end, tile.rows.end));
                self.held.extend_from_slice(&hits);
                plan.grow(most_queries);
                // The hits of one query come in their order, so that they need not be held.
                let (one, full) = (tile.queries.end - tile.queries.start == 1, self.held.len() > held_hits);
                if last || one {
                    if self.give(sink).is_break() {
                        return Ok(Outcome::Stopped);
                    }
                } else if sink(&[]).is_break() {
                    return Ok(Outcome::Stopped);
                }
                if last {
                    (self.query, self.begun) = (tile.queries.end, None);
                }
                (full && !last && !one).then(|| {
                    plan.query_step = self.first_half();
                    (self.query + plan.query_step, tile.rows.end)
                })
            };
            if let Some((end, row)) = kept {
                // What is under way was planned otherwise.
                for Planned { tile, .. } in under_way.drain(..) {
                    hits.clear();
                    if !tile.rows.is_empty() {
                        tiles.collect(&mut hits)?;
                    }
                }
                self.begin_again(end, row);
                plan.restart(self);
            }
        }
    }

    /// Goes on with the queries before `end` alone, from a row on; those after it are begun anew later.
    fn begin_again(&mut self, end: u32, row: u32) {
        self.held.retain(|hit| hit.query < end);
        self.begun = Some((end, row));
    }

    /// How many queries there are, from the first on, that have about half of the hits.
    fn first_half(&self) -> u32 {
        let mut queries: Vec<u32> = self.held.iter().map(|hit| hit.query).collect();
        let middle = queries.len() / 2;
        let (_, query, _) = queries.select_nth_unstable(middle);
        (*query - self.query).max(1)
    }

    fn give(&mut self, sink: &mut dyn FnMut(&[Hit]) -> ControlFlow<()>) -> ControlFlow<()> {
        sort(&mut self.held);
        if self.held.is_empty() {
            return sink(&[]);
        }
        for batch in self.held.chunks(BATCH) {
            sink(batch)?;
        }
        self.held.clear();
        ControlFlow::Continue(())
    }
}

struct Planned {
    tile: Tile,
    /// Whether its queries have no rows after it.
    last: bool,
}

/// Which tile comes next: queries by queries, and for these rows by rows.
struct Plan {
    /// The queries that are at it; empty between them.
    queries: Range<u32>,
    /// The next of their rows.
    row: u32,
    query_step: u32,
    row_step: u32,
}

impl Plan {
    fn restart(&mut self, progress: &Progress) {
        let (end, row) = progress.begun.unwrap_or((progress.query, 0));
        (self.queries, self.row) = (progress.query..end, row);
    }

    fn next(&mut self, task: &Task<'_>, tiles: &dyn Tiles) -> Option<Planned> {
        if self.queries.is_empty() {
            let begin = self.queries.end;
            self.queries = begin..begin.saturating_add(self.query_step).min(task.queries().len());
            if self.queries.is_empty() {
                return None;
            }
            self.row = task.rows_of_all(self.queries.clone()).start;
        }
        let end = task.rows_of_all(self.queries.clone()).end;
        let queries = self.queries.clone();
        if self.row >= end {
            self.queries.start = self.queries.end;
            return Some(Planned { tile: Tile { queries, rows: end..end }, last: true });
        }
        let row = self.row;
        let advised = tiles.end_of_tile(queries.clone(), row).max(row + 1);
        self.row = advised.min(row.saturating_add(self.row_step)).min(end);
        let last = self.row == end;
        if last {
            self.queries.start = self.queries.end;
        }
        Some(Planned { tile: Tile { queries, rows: row..self.row }, last })
    }

    /// Makes tiles smaller after one with too many hits: fewer rows, or fewer queries, whichever there are more of.
    fn shrink(&mut self, tile: &Tile) {
        let (queries, rows) = (tile.queries.end - tile.queries.start, tile.rows.end - tile.rows.start);
        (self.query_step, self.row_step) =
            if rows >= queries { (queries, (rows / 2).max(1)) } else { (queries / 2, rows) };
    }

    /// Makes tiles a little larger after one that went well.
    fn grow(&mut self, most_queries: u32) {
        let larger = |step: u32| step.saturating_add(step / 4 + 1);
        (self.query_step, self.row_step) = (larger(self.query_step).min(most_queries), larger(self.row_step));
    }
}
