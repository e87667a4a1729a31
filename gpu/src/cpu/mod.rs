//! Search on the cores of the machine.

mod bands;
mod kernel;

use std::num::NonZero;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;

use self::bands::{Bands, Estimate};
use self::kernel::{Group, LANES, scan, transpose};
use crate::bound::{look_up, running_maximum};
use crate::order::Order;
use crate::search::{Backend, Collected, Hit, Tile, Tiles, sort};
use crate::{Bound, Result, Task, Width};

/// The use of tables of bands instead of comparing all pairs. The answers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UseBands {
    /// Tables are used where they are less work, by an estimate from a sample of the codes.
    #[default]
    Auto,
    /// Tables are never used.
    Never,
    /// Tables are used wherever codes have more bits than may differ.
    Always,
}

/// A back end that searches on the cores of the machine.
#[derive(Debug, Clone)]
pub struct Cpu {
    threads: usize,
    bands: UseBands,
    bands_memory: u64,
    hits_per_tile: usize,
}

impl Default for Cpu {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, NonZero::get),
            bands: UseBands::Auto,
            bands_memory: 1 << 30,
            hits_per_tile: 1 << 22,
        }
    }
}

impl Cpu {
    /// Sets the number of threads; by default it is the number of cores.
    #[must_use]
    pub fn with_threads(self, threads: NonZero<usize>) -> Self {
        Self { threads: threads.get(), ..self }
    }

    /// Sets when tables of bands are used.
    #[must_use]
    pub fn with_bands(self, bands: UseBands) -> Self {
        Self { bands, ..self }
    }

    /// Sets the most bytes of memory that tables of bands may take where [`UseBands::Auto`] chooses them; by default 1
    /// GiB.
    #[must_use]
    pub fn with_bands_memory(self, bands_memory: u64) -> Self {
        Self { bands_memory, ..self }
    }

    /// Sets the most hits that a tile may have; by default 2²², 32 MiB. Tiles with more are done in smaller parts.
    #[must_use]
    pub fn with_hits_per_tile(self, hits: usize) -> Self {
        Self { hits_per_tile: hits.max(1), ..self }
    }

    /// Returns true if bands are to be used: by the option, or because they are less work than all pairs.
    fn choose_bands(&self, task: &Task<'_>, highest: u32) -> bool {
        match self.bands {
            UseBands::Never => return false,
            UseBands::Always => return true,
            UseBands::Auto => {}
        }
        let (queries, rows) = (f64::from(task.queries().len()), f64::from(task.rows().len()));
        let pairs = if task.is_self_join() {
            (0..task.queries().len()).map(|query| task.rows_of(query).len() as f64).sum()
        } else {
            queries * rows
        };
        let threads = self.threads as f64;
        let scan = pairs * task.width().bytes() as f64 * nanoseconds_per_byte() / threads;
        // Nanoseconds, measured: to put a row into a table, to look a query up in one, to compare a candidate.
        let (put, find, compare) = (12.0, 60.0, 6.0);
        let bands = f64::from(highest) + 1.0;
        let fixed = rows * bands * put / threads.min(bands) + queries * bands * find / threads;
        // This is mostly false already, without a look at the codes.
        fixed < scan
            && Estimate::new(task, highest).is_some_and(|estimate| {
                let all = fixed + pairs * estimate.candidates * compare / threads;
                estimate.memory <= self.bands_memory && all < scan
            })
    }
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn open<'a>(&'a self, task: &'a Task<'a>) -> Result<Box<dyn Tiles + 'a>> {
        let highest = task.bound().highest();
        if self.choose_bands(task, highest)
            && let Some(bands) = Bands::new(task, highest, self.threads)
        {
            return Ok(Box::new(BandTiles { cpu: self, task, bands, tile: None }));
        }
        Ok(match task.width() {
            Width::W32 => Box::new(ScanTiles::<4>::new(self, task)),
            Width::W64 => Box::new(ScanTiles::<8>::new(self, task)),
            Width::W128 => Box::new(ScanTiles::<16>::new(self, task)),
            Width::W256 => Box::new(ScanTiles::<32>::new(self, task)),
        })
    }

    fn mask(&self, task: &Task<'_>, queries: &[u32], rows: &[u32]) -> Result<Vec<u64>> {
        let mut mask = vec![0; queries.len().div_ceil(64)];
        let part = mask.len().div_ceil(self.threads).max(1 << 10);
        std::thread::scope(|scope| {
            let parts = mask.chunks_mut(part).zip(queries.chunks(part * 64)).zip(rows.chunks(part * 64));
            for ((mask, queries), rows) in parts {
                scope.spawn(move || {
                    for ((word, queries), rows) in mask.iter_mut().zip(queries.chunks(64)).zip(rows.chunks(64)) {
                        for (bit, (query, row)) in queries.iter().zip(rows).enumerate() {
                            *word |= u64::from(task.matches(*query, *row)) << bit;
                        }
                    }
                });
            }
        });
        Ok(mask)
    }
}

/// Returns the result of a thread. A panic in it continues in the thread that waits for it.
fn join<T>(worker: std::thread::ScopedJoinHandle<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the time that a thread takes to compare a byte of a code with a byte of another, measured once.
fn nanoseconds_per_byte() -> f64 {
    static MEASURED: OnceLock<f64> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let groups = vec![[[0x5a; LANES]; 8]; BLOCK / (LANES * 8)];
        let (queries, highest) = (vec![[0xa5_u8; 8]; 64], vec![0; 64]);
        let (mut distances, mut found) = (vec![[0; LANES]; groups.len()], Vec::new());
        let mut best = f64::MAX;
        for _ in 0..5 {
            let begin = Instant::now();
            scan(&groups, &queries, &highest, &mut distances, &mut found);
            best = best.min(begin.elapsed().as_secs_f64());
        }
        (best * 1e9 / (BLOCK * queries.len()) as f64).max(1e-4)
    })
}

/// The number of hits of a tile, which several threads find, up to a limit.
struct Found {
    count: AtomicUsize,
    limit: usize,
    too_many: AtomicBool,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self { count: AtomicUsize::new(0), limit, too_many: AtomicBool::new(false) }
    }

    /// Counts new hits. Returns true if there is room for them.
    fn add(&self, hits: usize) -> bool {
        if hits > 0 && self.count.fetch_add(hits, Ordering::Relaxed) + hits > self.limit {
            self.too_many.store(true, Ordering::Relaxed);
        }
        !self.too_many.load(Ordering::Relaxed)
    }

    /// Runs `work` on all threads and sorts what they found.
    fn collect(&self, threads: usize, hits: &mut Vec<Hit>, work: impl Fn(&mut Vec<Hit>) + Sync) -> Collected {
        let run = || {
            let mut hits = Vec::new();
            work(&mut hits);
            hits
        };
        let before = hits.len();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
            hits.append(&mut run());
            for worker in workers {
                hits.append(&mut join(worker));
            }
        });
        if self.too_many.load(Ordering::Relaxed) {
            hits.truncate(before);
            return Collected::TooMany;
        }
        sort(&mut hits[before..]);
        Collected::All
    }
}

/// The bytes of rows that a thread compares with all queries of a tile at a time. They stay in its first-level cache.
const BLOCK: usize = 16 << 10;

/// The approximate number of bytes that a thread compares in a tile: some hundredths of a second.
const TILE_BYTES: u64 = 1 << 32;

/// The number of rows of a block within which rows may be reordered.
const SORTED_ROWS: u32 = 1 << 16;

/// The tiles of a search that compares all pairs.
struct ScanTiles<'a, const BYTES: usize> {
    cpu: &'a Cpu,
    task: &'a Task<'a>,
    tile: Option<Tile>,
    /// The queries of the previous tile, byte by byte.
    queries: Vec<[u8; BYTES]>,
    queries_are: Range<u32>,
    order: Order,
    /// The [`running_maximum`] of the table of bounds.
    highest: Vec<u32>,
}

impl<'a, const BYTES: usize> ScanTiles<'a, BYTES> {
    /// The number of rows of a block.
    #[expect(clippy::cast_possible_truncation, reason = "a block is small")]
    const ROWS: u32 = (BLOCK / BYTES) as u32;

    fn new(cpu: &'a Cpu, task: &'a Task<'a>) -> Self {
        let highest = match task.bound() {
            Bound::Constant(_) => Vec::new(),
            Bound::BySizes { table, .. } => running_maximum(table),
        };
        let order = Order::new(task, SORTED_ROWS);
        Self { cpu, task, tile: None, queries: Vec::new(), queries_are: 0..0, order, highest }
    }

    /// Compares the rows at some places with queries, and adds hits to `hits` while there is room for them.
    fn block(&self, tile: &Tile, places: Range<u32>, scratch: &mut Scratch<BYTES>, found: &Found, hits: &mut Vec<Hit>) {
        let queries = self.task.queries_of(tile.queries.clone(), places.clone());
        if queries.is_empty() {
            return;
        }
        scratch.codes.clear();
        match self.order.moved(places.clone()) {
            None => scratch.codes.extend(codes_of(self.task.rows().words_of(places.clone()))),
            Some(rows) => scratch.codes.extend(rows.iter().flat_map(|row| codes_of(self.task.rows().code(*row)))),
        }
        let groups = scratch.codes.len().div_ceil(LANES);
        transpose(&scratch.codes, &mut scratch.groups[..groups]);

        let offset = queries.start - tile.queries.start;
        let codes = &self.queries[offset as usize..(queries.end - tile.queries.start) as usize];
        let bound = self.task.bound();
        scratch.highest.clear();
        // Distances are compared as bytes, which cannot tell 255 and 256 bits from each other.
        let exact = match bound {
            Bound::Constant(bound) => {
                let byte = u8::try_from(bound).unwrap_or(u8::MAX);
                scratch.highest.resize(codes.len(), byte);
                byte < u8::MAX
            }
            Bound::BySizes { query_sizes, row_sizes, .. } => {
                let largest = places.clone().map(|place| row_sizes[self.order.row(place) as usize]).max().unwrap_or(0);
                let bound = |query: u32| look_up(&self.highest, query_sizes[query as usize], largest);
                let byte = |query| u8::try_from(bound(query)).unwrap_or(u8::MAX);
                scratch.highest.extend(queries.clone().map(byte));
                false
            }
        };

        let slabs = codes.chunks(QUERIES_PER_SCAN).zip(scratch.highest.chunks(QUERIES_PER_SCAN));
        for ((codes, highest), first) in slabs.zip((queries.start..).step_by(QUERIES_PER_SCAN)) {
            scratch.found.clear();
            scan(&scratch.groups[..groups], codes, highest, &mut scratch.distances, &mut scratch.found);
            let before = hits.len();
            for (query, place) in &scratch.found {
                // The last group has lanes without a row.
                if *place >= places.end - places.start {
                    continue;
                }
                let (query, row) = (first + query, self.order.row(places.start + place));
                let among = tile.rows.contains(&row) && self.task.rows_of(query).contains(&row);
                if among && (exact || self.task.matches(query, row)) {
                    hits.push(Hit { query, row });
                }
            }
            if !found.add(hits.len() - before) {
                return;
            }
        }
    }
}

/// The number of queries that are compared with a block before their hits are checked.
const QUERIES_PER_SCAN: usize = 128;

/// The buffers of a thread.
struct Scratch<const BYTES: usize> {
    codes: Vec<[u8; BYTES]>,
    groups: Vec<Group<BYTES>>,
    distances: Vec<[u8; LANES]>,
    highest: Vec<u8>,
    found: Vec<(u32, u32)>,
}

impl<const BYTES: usize> Scratch<BYTES> {
    fn new() -> Self {
        let groups = BLOCK / (LANES * BYTES);
        Self {
            codes: Vec::new(),
            groups: vec![[[0; LANES]; BYTES]; groups],
            distances: vec![[0; LANES]; groups],
            highest: Vec::new(),
            found: Vec::new(),
        }
    }
}

/// Returns the bytes of each code, the lowest first.
fn codes_of<const BYTES: usize>(words: &[u32]) -> impl Iterator<Item = [u8; BYTES]> {
    words.chunks_exact(BYTES / 4).map(|code| {
        let mut bytes = [0; BYTES];
        for (bytes, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(code) {
            *bytes = word.to_le_bytes();
        }
        bytes
    })
}

impl<const BYTES: usize> Tiles for ScanTiles<'_, BYTES> {
    fn queries_per_tile(&self) -> u32 {
        1 << 13
    }

    fn end_of_tile(&self, queries: Range<u32>, from: u32) -> u32 {
        let threads = self.cpu.threads as u64;
        let bytes = u64::from(queries.end - queries.start).max(1) * BYTES as u64;
        // Several blocks for each thread, so that the last one does not keep the others waiting.
        let rows = (TILE_BYTES * threads / bytes).max(u64::from(Self::ROWS) * threads * 8);
        let end = from.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX));
        self.order.end_of_tile(from, end)
    }

    fn depth(&self) -> usize {
        1
    }

    fn submit(&mut self, tile: Tile) -> Result<()> {
        if self.queries_are != tile.queries {
            self.queries.clear();
            self.queries.extend(codes_of(self.task.queries().words_of(tile.queries.clone())));
            self.queries_are = tile.queries.clone();
        }
        self.tile = Some(tile);
        Ok(())
    }

    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected> {
        let Some(tile) = self.tile.take() else { return Ok(Collected::All) };
        let places = self.order.places(tile.rows.clone());
        let blocks = (places.end - places.start).div_ceil(Self::ROWS);
        let threads = self.cpu.threads.min(blocks as usize);
        let (found, next) = (Found::new(self.cpu.hits_per_tile), AtomicU32::new(0));
        Ok(found.collect(threads, hits, |hits| {
            let mut scratch = Scratch::new();
            loop {
                let block = next.fetch_add(1, Ordering::Relaxed);
                if block >= blocks || found.too_many.load(Ordering::Relaxed) {
                    return;
                }
                let start = places.start + block * Self::ROWS;
                let end = start.saturating_add(Self::ROWS).min(places.end);
                self.block(&tile, start..end, &mut scratch, &found, hits);
            }
        }))
    }
}

/// The tiles of a search that looks queries up in tables of bands.
struct BandTiles<'a> {
    cpu: &'a Cpu,
    task: &'a Task<'a>,
    bands: Bands,
    tile: Option<Tile>,
}

impl Tiles for BandTiles<'_> {
    fn queries_per_tile(&self) -> u32 {
        1 << 13
    }

    fn end_of_tile(&self, _: Range<u32>, _: u32) -> u32 {
        u32::MAX
    }

    fn depth(&self) -> usize {
        1
    }

    fn submit(&mut self, tile: Tile) -> Result<()> {
        self.tile = Some(tile);
        Ok(())
    }

    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected> {
        let Some(tile) = self.tile.take() else { return Ok(Collected::All) };
        let threads = self.cpu.threads.min(tile.queries.len());
        let (found, next) = (Found::new(self.cpu.hits_per_tile), AtomicU32::new(tile.queries.start));
        Ok(found.collect(threads, hits, |hits| {
            loop {
                let query = next.fetch_add(1, Ordering::Relaxed);
                if query >= tile.queries.end {
                    return;
                }
                let before = hits.len();
                self.bands.look_up(self.task, query, &tile.rows, |row| hits.push(Hit { query, row }));
                if !found.add(hits.len() - before) {
                    return;
                }
            }
        }))
    }
}
