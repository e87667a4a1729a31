use std::collections::VecDeque;
use std::ops::Range;

use super::Tuning;
use super::device::Device;
use crate::order::Order;
use crate::{Bound, Codes, Error, Result, Task};

/// Codes on the device, with their sizes where bounds depend on sizes.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) codes: wgpu::Buffer,
    /// The size and the number of each row.
    pub(crate) facts: wgpu::Buffer,
}

/// The rows of a task in chunks, some of which are on the device.
#[derive(Debug)]
pub(crate) struct Chunks {
    rows_per_chunk: u32,
    /// The chunks on the device; the most recently used are at the end.
    resident: VecDeque<(u32, Chunk)>,
    most: usize,
    pub(crate) order: Order,
}

impl Chunks {
    /// The most rows of a block within which rows may be reordered.
    const SORTED_ROWS: u32 = 1 << 16;

    pub(crate) fn new(device: &Device, tuning: Tuning, task: &Task<'_>) -> Self {
        let limit = device.limits.max_storage_buffer_binding_size.min(device.limits.max_buffer_size);
        let bytes = tuning.chunk_bytes.min(limit);
        // Facts are eight bytes per row.
        let rows = u32::try_from(bytes / task.width().bytes().max(8) as u64).unwrap_or(u32::MAX).max(1);
        let block = Self::SORTED_ROWS.min(1 << rows.ilog2());
        let rows_per_chunk = rows / block * block;
        let whole = u64::from(rows_per_chunk) * (task.width().bytes() as u64 + 8);
        let most = usize::try_from(tuning.resident_bytes / whole).unwrap_or(usize::MAX).max(2);
        Self { rows_per_chunk, resident: VecDeque::new(), most, order: Order::new(task, block) }
    }

    /// Returns the number of the chunk with a place, and the range of places of that chunk.
    pub(crate) fn of(&self, place: u32) -> (u32, Range<u32>) {
        let number = place / self.rows_per_chunk;
        let start = number * self.rows_per_chunk;
        (number, start..start.saturating_add(self.rows_per_chunk))
    }

    /// Loads a chunk onto the device, if it is not there.
    pub(crate) fn load(&mut self, device: &Device, task: &Task<'_>, number: u32) -> Result<&Chunk> {
        if let Some(at) = self.resident.iter().position(|(resident, _)| *resident == number) {
            let found = self.resident.remove(at);
            self.resident.extend(found);
        } else {
            let chunk = self.free(device, task)?;
            let start = number * self.rows_per_chunk;
            let places = start..start.saturating_add(self.rows_per_chunk).min(task.rows().len());
            self.write(device, task, places, &chunk);
            self.resident.push_back((number, chunk));
        }
        device.check()?;
        let (_, chunk) = self.resident.back().ok_or_else(|| Error::Device("no chunk is there".to_owned()))?;
        Ok(chunk)
    }

    /// Returns buffers for a chunk: new ones while there is room. After that it reuses the buffers that were used last
    /// but one. Rows come again in the same order, so that all other chunks stay; and another chunk is sent while the
    /// one before it is being searched.
    fn free(&mut self, device: &Device, task: &Task<'_>) -> Result<Chunk> {
        if self.resident.len() < self.most {
            match Self::create(device, task, self.rows_per_chunk) {
                Ok(chunk) => return Ok(chunk),
                Err(Error::OutOfMemory(_)) if !self.resident.is_empty() => self.most = self.resident.len(),
                Err(error) => return Err(error),
            }
        }
        let at = self.resident.len().saturating_sub(2);
        let free = self.resident.remove(at).map(|(_, chunk)| chunk);
        free.ok_or_else(|| Error::OutOfMemory("no room for rows".to_owned()))
    }

    fn create(device: &Device, task: &Task<'_>, rows_per_chunk: u32) -> Result<Chunk> {
        let rows = u64::from(rows_per_chunk.min(task.rows().len()));
        let sized = matches!(task.bound(), Bound::BySizes { .. });
        Ok(Chunk {
            codes: device.input("codes of rows", rows * task.width().bytes() as u64)?,
            facts: device.input("sizes of rows", if sized { rows * 8 } else { 0 })?,
        })
    }

    fn write(&self, device: &Device, task: &Task<'_>, places: Range<u32>, chunk: &Chunk) {
        match self.order.moved(places.clone()) {
            None => device.write(&chunk.codes, task.rows().words_of(places.clone())),
            Some(rows) => {
                let words = rows.iter().flat_map(|row| task.rows().code(*row).iter().copied());
                device.write(&chunk.codes, &words.collect::<Vec<u32>>());
            }
        }
        if let Bound::BySizes { table, row_sizes, .. } = task.bound() {
            let rows = places.map(|place| self.order.row(place));
            let facts: Vec<[u32; 2]> = rows.map(|row| [size_for_table(row_sizes[row as usize], table), row]).collect();
            device.write(&chunk.facts, &facts);
        }
    }
}

/// Limits a size to the table. Sizes beyond the table look up its last entry, whatever is added. So the sum of two
/// sizes fits into 32 bits.
pub(crate) fn size_for_table(size: u32, table: &[u32]) -> u32 {
    size.min(u32::try_from(table.len() - 1).unwrap_or(u32::MAX >> 1))
}

/// Writes the codes and sizes of some queries or rows in the order of their numbers, for a shader that looks them up by
/// number.
pub(crate) fn in_order(
    device: &Device,
    codes: Codes<'_>,
    sizes: Option<(&[u32], &[u32])>,
    numbers: Range<u32>,
    chunk: &Chunk,
) {
    device.write(&chunk.codes, codes.words_of(numbers.clone()));
    if let Some((sizes, table)) = sizes {
        let sizes = &sizes[numbers.start as usize..numbers.end as usize];
        let facts: Vec<[u32; 2]> = sizes.iter().map(|size| [size_for_table(*size, table), 0]).collect();
        device.write(&chunk.facts, &facts);
    }
}
