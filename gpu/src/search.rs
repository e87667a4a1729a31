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

/// Some queries against some rows, which a back end compares at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The numbers of the queries.
    pub queries: Range<u32>,
    /// The numbers of the rows.
    pub rows: Range<u32>,
}

/// The result of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collected {
    /// All hits of the tile were appended.
    All,
    /// The tile has more hits than there is room for; nothing was appended.
    TooMany,
}

/// A way to search. All of them give the same answers.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Returns the name of the back end in messages.
    fn name(&self) -> &str;

    /// Prepares a task.
    fn open<'a>(&'a self, task: &'a Task<'a>) -> Result<Box<dyn Tiles + 'a>>;

    /// Returns a bit for each pair, which is set if the pair is within its bound: bit `i % 64` of word `i / 64`. The
    /// numbers have been checked.
    fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>>;
}

/// A running task: tiles are submitted and collected in the same order.
pub trait Tiles {
    /// Returns the most queries that a tile may have.
    fn queries_per_tile(&self) -> u32;

    /// Returns the latest end of a tile of these queries that begins with the row `from`; it is beyond `from`.
    fn end_of_tile(&self, queries: Range<u32>, from: u32) -> u32;

    /// Returns the number of tiles that may be in progress.
    fn depth(&self) -> usize;

    /// Begins a tile.
    fn submit(&mut self, tile: Tile) -> Result<()>;

    /// Waits for the oldest tile, and appends its hits by query, then row. A tile of one query and one row always has room.
    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected>;
}

/// The outcome of a search that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All hits were given.
    Complete,
    /// The sink wanted no more.
    Stopped,
}

type FellBack = Box<dyn Fn(&str, &Error) + Send + Sync>;

/// A list of back ends. It searches with the first one, and when that fails, with the next one from the current tile
/// on.
///
/// Hits come by query, then row, whichever back ends there are and however they divide the work.
pub struct Engine {
    backends: Vec<Arc<dyn Backend>>,
    /// The place of the current back end. The back ends before it have failed, and are not tried again.
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
    /// Creates an engine that searches with the first of these back ends, and so on.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends, current: AtomicUsize::new(0), held_hits: 1 << 22, fell_back: Box::new(|_, _| {}) }
    }

    /// Sets the number of hits that are held in memory until all rows have been compared with their queries; at most
    /// about twice as many are held. By default it is 2²², 32 MiB.
    #[must_use]
    pub fn with_held_hits(self, held_hits: usize) -> Self {
        Self { held_hits: held_hits.max(1), ..self }
    }

    /// Sets the function that is called, once, when a back end of that name has failed and the next one takes over.
    #[must_use]
    pub fn on_fall_back(self, fell_back: impl Fn(&str, &Error) + Send + Sync + 'static) -> Self {
        Self { fell_back: Box::new(fell_back), ..self }
    }

    /// Returns the name of the current back end.
    pub fn backend(&self) -> &str {
        self.backends.get(self.current.load(Ordering::Relaxed)).map_or("none", |backend| backend.name())
    }

    /// Runs `work` with the current back end. If the device fails, runs it with the next one.
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

    /// Gives all pairs within their bound to `sink`, by query, then row, in batches. It also gives an empty batch after
    /// each tile without hits to give, so that `sink` can stop a search that finds nothing.
    pub fn search(&self, task: &Task<'_>, mut sink: impl FnMut(&[Hit]) -> ControlFlow<()>) -> Result<Outcome> {
        let mut progress = Progress { query: 0, begun: None, held: Vec::new() };
        self.with_backend(|backend| {
            let mut tiles = backend.open(task)?;
            progress.go_on(task, tiles.as_mut(), self.held_hits, &mut sink)
        })
    }

    /// Returns a bit for each of the pairs `queries[i]`, `rows[i]`, which is set if the pair is within its bound: bit
    /// `i % 64` of word `i / 64`. A pair may be any query and any row, of a self-join too.
    pub fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>> {
        task.check_pairs(queries, rows)?;
        self.with_backend(|backend| backend.mask(task, queries, rows))
    }
}

/// The most hits of a batch that the sink is given.
const BATCH: usize = 1 << 16;

/// The progress of a search, from which another back end can continue.
struct Progress {
    /// The first query whose hits have not been given.
    query: u32,
    /// The end of the queries that have been compared with some of their rows, and the first row that is left.
    begun: Option<(u32, u32)>,
    /// The hits of the queries in progress.
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
                // The tiles in progress belong to the old plan.
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

    /// Continues with only the queries before `end`, from a row on. The queries after it begin again later.
    fn begin_again(&mut self, end: u32, row: u32) {
        self.held.retain(|hit| hit.query < end);
        self.begun = Some((end, row));
    }

    /// Returns the number of queries, from the first on, that have about half of the hits.
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
    /// True if the queries of the tile have no rows after it.
    last: bool,
}

/// The plan of the next tiles: one range of queries after another, and for each of them one range of rows after
/// another.
struct Plan {
    /// The current queries; empty between two ranges.
    queries: Range<u32>,
    /// The next row of the current queries.
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
