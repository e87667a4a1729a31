use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::chunks::{Chunks, size_for_table};
use super::device::{Device, Shader};
use super::{QUERIES_PER_TILE, QUERIES_PER_WORKGROUP, Tuning};
use crate::bound::running_maximum;
use crate::search::{Collected, Hit, Tile, Tiles, sort};
use crate::{Bound, Error, Result, Task};

/// The number of rows that a workgroup compares.
const ROWS_PER_WORKGROUP: u32 = 1024;

/// The number of hits that are read together with their count. Where there are more, the hits are read in a second
/// step.
const HITS_AT_FIRST: u32 = 1 << 12;

/// The bytes before the hits, which hold their number.
const HEADER: u64 = 8;

/// The least and the most time that a tile should take: long compared with the cost of beginning one, and short enough
/// for a search to be stopped.
const AT_LEAST: Duration = Duration::from_millis(10);
const AT_MOST: Duration = Duration::from_millis(60);

/// A task that runs on a device.
pub(crate) struct GpuTiles<'a> {
    device: &'a Device,
    task: &'a Task<'a>,
    pipeline: &'a wgpu::ComputePipeline,
    chunks: Chunks,
    table: wgpu::Buffer,
    table_entries: u32,
    hits_per_tile: u32,
    /// The free slots; the next one to use is at the front.
    slots: VecDeque<Slot>,
    under_way: VecDeque<UnderWay>,
    /// The number of pairs that are compared at a time, adapted to the time that earlier tiles took.
    pairs: u64,
    since: Instant,
}

/// The buffers of a tile, so that one tile can be sent and another be read while a third is searched.
struct Slot {
    params: wgpu::Buffer,
    queries: wgpu::Buffer,
    facts: wgpu::Buffer,
    /// The queries that are in these buffers.
    queries_are: Range<u32>,
    hits: wgpu::Buffer,
    first_hits: wgpu::Buffer,
    other_hits: Option<wgpu::Buffer>,
}

struct UnderWay {
    slot: Slot,
    pairs: u64,
    submission: wgpu::SubmissionIndex,
}

/// The parameters in the layout of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    first_place: u32,
    places: u32,
    first_row: u32,
    queries: u32,
    first_query: u32,
    bound: u32,
    table: u32,
    room: u32,
    rows_start: u32,
    rows_end: u32,
    unused: [u32; 2],
}

impl<'a> GpuTiles<'a> {
    pub(crate) fn new(device: &'a Device, tuning: Tuning, task: &'a Task<'a>) -> Result<Self> {
        device.check()?;
        let (table, entries) = match task.bound() {
            Bound::Constant(_) => (Vec::new(), 0),
            Bound::BySizes { table, .. } => ([table, &running_maximum(table)].concat(), table.len()),
        };
        let table_entries = u32::try_from(entries)
            .ok()
            .filter(|entries| *entries < 1 << 31)
            .ok_or_else(|| Error::OutOfMemory("the table of bounds is too large".to_owned()))?;
        let table_buffer = device.input("table of bounds", table.len() as u64 * 4)?;
        device.write(&table_buffer, &table);
        let slots = (0..2).map(|_| Slot::new(device, task, tuning.hits_per_tile)).collect::<Result<_>>()?;
        Ok(Self {
            device,
            task,
            pipeline: device.pipeline(Shader::Search, task.width(), table_entries > 0)?,
            chunks: Chunks::new(device, tuning, task),
            table: table_buffer,
            table_entries,
            hits_per_tile: tuning.hits_per_tile,
            slots,
            under_way: VecDeque::new(),
            pairs: 1 << 24,
            since: Instant::now(),
        })
    }

    /// Adds the hits of a tile to `hits`; returns [`Collected::TooMany`] if there was no room for them.
    fn read(&self, slot: &mut Slot, submission: wgpu::SubmissionIndex, hits: &mut Vec<Hit>) -> Result<Collected> {
        let at_first = HITS_AT_FIRST.min(self.hits_per_tile);
        let count = self.device.read(submission, &slot.first_hits, bytes_of(at_first), |bytes| {
            let count = words(bytes).next().unwrap_or(0);
            if count <= at_first {
                hits.extend(pairs(bytes).take(count as usize));
            }
            count
        })?;
        if count > self.hits_per_tile {
            return Ok(Collected::TooMany);
        }
        if count > at_first {
            let bytes = bytes_of(count);
            let buffer = match &slot.other_hits {
                Some(buffer) => buffer,
                None => slot.other_hits.insert(output(self.device, bytes_of(self.hits_per_tile))?),
            };
            let mut encoder = self.device.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&slot.hits, 0, buffer, 0, bytes);
            let submission = self.device.submit(encoder, buffer, bytes)?;
            self.device.read(submission, buffer, bytes, |bytes| hits.extend(pairs(bytes)))?;
        }
        Ok(Collected::All)
    }

    fn adapt(&mut self, pairs: u64) {
        let took = self.since.elapsed();
        self.since = Instant::now();
        if took < AT_LEAST && pairs > self.pairs / 2 {
            self.pairs = (self.pairs * 2).min(1 << 31);
        } else if took > AT_MOST {
            self.pairs = (self.pairs / 2).max(1 << 20);
        }
    }
}

impl Slot {
    fn new(device: &Device, task: &Task<'_>, hits_per_tile: u32) -> Result<Self> {
        let queries = u64::from(QUERIES_PER_TILE.min(task.queries().len()));
        let params = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let hits = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        Ok(Self {
            params: device.buffer("parameters", size_of::<Params>() as u64, params)?,
            queries: device.input("codes of queries", queries * task.width().bytes() as u64)?,
            facts: device.input("sizes of queries", queries * 16)?,
            queries_are: 0..0,
            hits: device.buffer("hits", bytes_of(hits_per_tile), hits)?,
            first_hits: output(device, bytes_of(HITS_AT_FIRST.min(hits_per_tile)))?,
            other_hits: None,
        })
    }

    fn write_queries(&mut self, device: &Device, task: &Task<'_>, queries: &Range<u32>) {
        if self.queries_are == *queries {
            return;
        }
        device.write(&self.queries, task.queries().words_of(queries.clone()));
        let size = |query: u32| match task.bound() {
            Bound::Constant(_) => 0,
            Bound::BySizes { table, query_sizes, .. } => size_for_table(query_sizes[query as usize], table),
        };
        let fact = |query| {
            let rows = task.rows_of(query);
            [size(query), rows.start, rows.end, 0]
        };
        device.write(&self.facts, &queries.clone().map(fact).collect::<Vec<[u32; 4]>>());
        self.queries_are = queries.clone();
    }
}

/// Returns a buffer that the processor reads.
fn output(device: &Device, bytes: u64) -> Result<wgpu::Buffer> {
    device.buffer("hits to read", bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)
}

/// Returns the bytes of that many hits, with their number.
fn bytes_of(hits: u32) -> u64 {
    HEADER + u64::from(hits) * 8
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

fn pairs(bytes: &[u8]) -> impl Iterator<Item = Hit> {
    let pairs = bytes.as_chunks::<8>().0.iter().skip(1).map(|pair| u64::from_le_bytes(*pair));
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a pair")]
    pairs.map(|pair| Hit { query: pair as u32, row: (pair >> 32) as u32 })
}

impl Tiles for GpuTiles<'_> {
    fn queries_per_tile(&self) -> u32 {
        QUERIES_PER_TILE
    }

    fn end_of_tile(&self, queries: Range<u32>, from: u32) -> u32 {
        let rows = self.pairs / u64::from(queries.end - queries.start).max(1);
        let most = self.device.limits.max_compute_workgroups_per_dimension;
        let rows = u32::try_from(rows).unwrap_or(u32::MAX).min(most.saturating_mul(ROWS_PER_WORKGROUP));
        let rows = (rows / ROWS_PER_WORKGROUP).max(1) * ROWS_PER_WORKGROUP;
        let (_, chunk) = self.chunks.of(from);
        self.chunks.order.end_of_tile(from, from.saturating_add(rows).min(chunk.end))
    }

    fn depth(&self) -> usize {
        2
    }

    fn submit(&mut self, tile: Tile) -> Result<()> {
        self.device.check()?;
        let mut slot = match self.slots.pop_front() {
            Some(slot) => slot,
            None => Slot::new(self.device, self.task, self.hits_per_tile)?,
        };
        if self.under_way.is_empty() {
            self.since = Instant::now();
        }
        let places = self.chunks.order.places(tile.rows.clone());
        let (number, chunk_places) = self.chunks.of(places.start);
        let (queries, count) = (tile.queries.end - tile.queries.start, places.end - places.start);
        slot.write_queries(self.device, self.task, &tile.queries);
        let params = Params {
            first_place: places.start - chunk_places.start,
            places: count,
            first_row: chunk_places.start,
            queries,
            first_query: tile.queries.start,
            bound: match self.task.bound() {
                Bound::Constant(bound) => bound,
                Bound::BySizes { .. } => 0,
            },
            table: self.table_entries,
            room: self.hits_per_tile,
            rows_start: tile.rows.start,
            rows_end: tile.rows.end,
            unused: [0; 2],
        };
        self.device.write(&slot.params, &[params]);
        let chunk = self.chunks.load(self.device, self.task, number)?;
        let buffers = [&slot.params, &chunk.codes, &slot.queries, &chunk.facts, &slot.facts, &self.table, &slot.hits];
        let bindings = self.device.bind(self.pipeline, &buffers);
        let mut encoder = self.device.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&slot.hits, 0, Some(HEADER));
        {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(self.pipeline);
            pass.set_bind_group(0, &bindings, &[]);
            pass.dispatch_workgroups(count.div_ceil(ROWS_PER_WORKGROUP), queries.div_ceil(QUERIES_PER_WORKGROUP), 1);
        }
        let bytes = bytes_of(HITS_AT_FIRST.min(self.hits_per_tile));
        encoder.copy_buffer_to_buffer(&slot.hits, 0, &slot.first_hits, 0, bytes);
        let submission = self.device.submit(encoder, &slot.first_hits, bytes)?;
        let pairs = u64::from(count) * u64::from(queries);
        self.under_way.push_back(UnderWay { slot, pairs, submission });
        Ok(())
    }

    fn collect(&mut self, hits: &mut Vec<Hit>) -> Result<Collected> {
        let Some(UnderWay { mut slot, pairs, submission }) = self.under_way.pop_front() else {
            return Ok(Collected::All);
        };
        let before = hits.len();
        let collected = self.read(&mut slot, submission, hits)?;
        self.adapt(pairs);
        sort(&mut hits[before..]);
        self.slots.push_back(slot);
        Ok(collected)
    }
}
