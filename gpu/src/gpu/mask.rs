use super::Tuning;
use super::chunks::{Chunk, in_order};
use super::device::{Device, Shader};
use crate::{Bound, Codes, Result, Task};

/// The number of pairs that are compared together: a whole number of workgroups and of words of the mask.
const PAIRS: usize = 1 << 20;

const THREADS: u32 = 256;

/// The parameters in the layout of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    pairs: u32,
    queries_start: u32,
    queries_end: u32,
    rows_start: u32,
    rows_end: u32,
    bound: u32,
    table: u32,
    unused: u32,
}

/// Codes that are sent in parts, one of which is on the device.
struct Side<'a> {
    codes: Codes<'a>,
    /// The sizes and the table of bounds.
    sizes: Option<(&'a [u32], &'a [u32])>,
    step: u32,
    chunk: Chunk,
    there: Option<u32>,
}

impl<'a> Side<'a> {
    fn new(device: &Device, tuning: Tuning, codes: Codes<'a>, sizes: Option<(&'a [u32], &'a [u32])>) -> Result<Self> {
        let limit = device.limits.max_storage_buffer_binding_size.min(device.limits.max_buffer_size);
        let (bytes, each) = (tuning.chunk_bytes.min(limit), codes.width().bytes().max(8) as u64);
        let step = u32::try_from(bytes / each).unwrap_or(u32::MAX).clamp(1, codes.len().max(1));
        let facts = if sizes.is_some() { u64::from(step) * 8 } else { 0 };
        let chunk = Chunk {
            codes: device.input("codes", u64::from(step) * codes.width().bytes() as u64)?,
            facts: device.input("sizes", facts)?,
        };
        Ok(Self { codes, sizes, step, chunk, there: None })
    }

    fn starts(&self) -> impl Iterator<Item = u32> + use<> {
        (0..self.codes.len()).step_by(self.step as usize)
    }

    fn end(&self, start: u32) -> u32 {
        start.saturating_add(self.step).min(self.codes.len())
    }

    fn load(&mut self, device: &Device, start: u32) {
        if self.there != Some(start) {
            in_order(device, self.codes, self.sizes, start..self.end(start), &self.chunk);
            self.there = Some(start);
        }
    }
}

pub(crate) fn mask(
    device: &Device,
    tuning: Tuning,
    task: &Task<'_>,
    queries: &[u32],
    rows: &[u32],
) -> Result<Vec<u64>> {
    device.check()?;
    let (bound, table, query_sizes, row_sizes) = match task.bound() {
        Bound::Constant(bound) => (bound, &[][..], None, None),
        Bound::BySizes { table, query_sizes, row_sizes } => {
            (0, table, Some((query_sizes, table)), Some((row_sizes, table)))
        }
    };
    let pipeline = device.pipeline(Shader::Mask, task.width(), !table.is_empty())?;
    let table_buffer = device.input("table of bounds", table.len() as u64 * 4)?;
    device.write(&table_buffer, table);
    let mut query_side = Side::new(device, tuning, task.queries(), query_sizes)?;
    let mut row_side = Side::new(device, tuning, task.rows(), row_sizes)?;

    let most = queries.len().min(PAIRS).next_multiple_of(64);
    let pairs_buffer = device.input("pairs", most as u64 * 8)?;
    let params = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let params_buffer = device.buffer("parameters", size_of::<Params>() as u64, params)?;
    let mask = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let mask_buffer = device.buffer("mask", most as u64 / 8, mask)?;
    let output = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let output_buffer = device.buffer("mask to read", most as u64 / 8, output)?;
    let buffers = [
        &params_buffer,
        &row_side.chunk.codes,
        &query_side.chunk.codes,
        &row_side.chunk.facts,
        &query_side.chunk.facts,
        &table_buffer,
        &pairs_buffer,
        &mask_buffer,
    ];
    let bindings = device.bind(pipeline, &buffers);

    let mut words = Vec::with_capacity(queries.len().div_ceil(64));
    for (queries, rows) in queries.chunks(PAIRS).zip(rows.chunks(PAIRS)) {
        let pairs: Vec<[u32; 2]> = queries.iter().zip(rows).map(|(query, row)| [*query, *row]).collect();
        device.write(&pairs_buffer, &pairs);
        let count = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
        let mut encoder = device.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&mask_buffer, 0, None);
        for queries_start in query_side.starts() {
            for rows_start in row_side.starts() {
                // Data written now arrives before the next submission runs.
                query_side.load(device, queries_start);
                row_side.load(device, rows_start);
                let params = Params {
                    pairs: count,
                    queries_start,
                    queries_end: query_side.end(queries_start),
                    rows_start,
                    rows_end: row_side.end(rows_start),
                    bound,
                    table: u32::try_from(table.len()).unwrap_or(u32::MAX),
                    unused: 0,
                };
                device.write(&params_buffer, &[params]);
                {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(0, &bindings, &[]);
                    pass.dispatch_workgroups(count.div_ceil(THREADS), 1, 1);
                }
                device.queue.submit([encoder.finish()]);
                device.check()?;
                encoder = device.device.create_command_encoder(&Default::default());
            }
        }
        let bytes = pairs.len().div_ceil(64) as u64 * 8;
        encoder.copy_buffer_to_buffer(&mask_buffer, 0, &output_buffer, 0, bytes);
        let submission = device.submit(encoder, &output_buffer, bytes)?;
        device.read(submission, &output_buffer, bytes, |bytes| {
            words.extend(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
        })?;
    }
    Ok(words)
}
