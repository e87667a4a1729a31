use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Task;

/// The tables of bands (multi-index hashing; Greene, Parnas, Yao 1994). Codes that differ in at most `d` bits and are
/// cut into `d + 1` bands have at least one whole band in common. A table for each band gives the rows that have a
/// query's bits there.
#[derive(Debug)]
pub(crate) struct Bands {
    tables: Vec<Table>,
}

#[derive(Debug)]
struct Table {
    band: Band,
    /// The rows by the slots of their bands, ascending within a slot. The rows of slot `s` are at
    /// `starts[s]..starts[s + 1]`.
    rows: Vec<u32>,
    starts: Vec<u32>,
}

/// Some bits of a code, and the number of bits of the slots for their values.
#[derive(Debug, Clone)]
struct Band {
    bits: Range<u32>,
    slot_bits: u32,
}

impl Band {
    /// Returns all bands for up to `highest` different bits; none where codes have too few bits.
    fn all(bits: u32, highest: u32, rows: u32) -> Vec<Self> {
        if highest >= bits {
            return Vec::new();
        }
        let bands = highest + 1;
        let most_slots = (u32::BITS - rows.leading_zeros()).clamp(1, 26);
        let band = |number| {
            let bits = number * bits / bands..(number + 1) * bits / bands;
            Self { slot_bits: most_slots.min(bits.end - bits.start), bits }
        };
        (0..bands).map(band).collect()
    }

    /// Returns up to 64 bits of the band, the lowest ones.
    fn value(&self, code: &[u32]) -> u64 {
        let mut value = 0_u64;
        let mut at = self.bits.start;
        let end = self.bits.end.min(self.bits.start + 64);
        while at < end {
            let take = (32 - at % 32).min(end - at);
            let part = u64::from(code[(at / 32) as usize] >> (at % 32)) & ((1 << take) - 1);
            value |= part << (at - self.bits.start);
            at += take;
        }
        value
    }

    fn slot(&self, code: &[u32]) -> usize {
        let value = self.value(code);
        let slot = if self.slot_bits == self.bits.end - self.bits.start {
            value
        } else {
            // Fibonacci hashing: the high bits of the product depend on all bits.
            value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.slot_bits)
        };
        usize::try_from(slot).unwrap_or(usize::MAX)
    }

    /// Returns true if two codes agree in all bits of the band.
    fn agree(&self, a: &[u32], b: &[u32]) -> bool {
        let mut at = self.bits.start;
        while at < self.bits.end {
            let take = (32 - at % 32).min(self.bits.end - at);
            let mask = (u32::MAX >> (32 - take)) << (at % 32);
            let word = (at / 32) as usize;
            if (a[word] ^ b[word]) & mask != 0 {
                return false;
            }
            at += take;
        }
        true
    }
}

/// An estimate of the work with bands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    /// The number of tables.
    pub(crate) bands: u32,
    /// The memory of the tables, in bytes.
    pub(crate) memory: u64,
    /// The share of pairs that agree in a slot, summed over all tables; more than 1 where most pairs agree in several.
    pub(crate) candidates: f64,
}

impl Estimate {
    /// Estimates from a sample of queries and rows; `None` where codes cannot be cut into `highest + 1` bands.
    pub(crate) fn new(task: &Task<'_>, highest: u32) -> Option<Self> {
        let (queries, rows) = (task.queries(), task.rows());
        let bands = Band::all(task.width().bits(), highest, rows.len());
        let memory = bands.iter().map(|band| 4 * u64::from(rows.len()) + (4 << band.slot_bits)).sum();
        let stride = |count: u32, most: u32| count.div_ceil(most).max(1);
        let (query_stride, row_stride) = (stride(queries.len(), 1 << 11), stride(rows.len(), 1 << 14));
        let some_queries = || (0..queries.len()).step_by(query_stride as usize);
        let some_rows = || (0..rows.len()).step_by(row_stride as usize);
        let mut met = 0_u64;
        for band in &bands {
            let mut slots: Vec<usize> = some_rows().map(|row| band.slot(rows.code(row))).collect();
            slots.sort_unstable();
            for query in some_queries() {
                let slot = band.slot(queries.code(query));
                let (first, after) = (slots.partition_point(|s| *s < slot), slots.partition_point(|s| *s <= slot));
                // A row of a self-join meets itself in the sample, but not in the join.
                let itself = task.is_self_join() && query.is_multiple_of(row_stride);
                met += (after - first).saturating_sub(usize::from(itself)) as u64;
            }
        }
        let pairs = some_queries().len() as f64 * some_rows().len() as f64;
        let bands = u32::try_from(bands.len()).ok().filter(|bands| *bands > 0)?;
        Some(Self { bands, memory, candidates: met as f64 / pairs.max(1.0) })
    }
}

impl Bands {
    /// Makes the tables; `None` where codes cannot be cut into `highest + 1` bands.
    pub(crate) fn new(task: &Task<'_>, highest: u32, threads: usize) -> Option<Self> {
        let bands = Band::all(task.width().bits(), highest, task.rows().len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            while let Some(band) = bands.get(next.fetch_add(1, Ordering::Relaxed)) {
                made.push(Table::new(band.clone(), task));
            }
            made
        };
        let mut tables: Vec<Table> = std::thread::scope(|scope| {
            let workers: Vec<_> = (1..threads.min(bands.len())).map(|_| scope.spawn(work)).collect();
            let mut tables = work();
            for worker in workers {
                tables.extend(super::join(worker));
            }
            tables
        });
        tables.sort_unstable_by_key(|table| table.band.bits.start);
        (!tables.is_empty()).then_some(Self { tables })
    }

    /// Calls `found` for each row of the range that matches the query, once, in no order.
    pub(crate) fn look_up(&self, task: &Task<'_>, query: u32, rows: &Range<u32>, mut found: impl FnMut(u32)) {
        let code = task.queries().code(query);
        let own = task.rows_of(query);
        let rows = own.start.max(rows.start)..own.end.min(rows.end);
        for (number, table) in self.tables.iter().enumerate() {
            let slot = table.band.slot(code);
            let candidates = &table.rows[table.starts[slot] as usize..table.starts[slot + 1] as usize];
            let candidates = &candidates[candidates.partition_point(|row| *row < rows.start)..];
            for row in candidates.iter().take_while(|row| **row < rows.end) {
                if !task.matches(query, *row) {
                    continue;
                }
                // A pair is found in the first band in which its codes agree, so each is found once. A pair that only
                // shares a slot agrees in another band.
                let other = task.rows().code(*row);
                let before = &self.tables[..number];
                if table.band.agree(code, other) && !before.iter().any(|table| table.band.agree(code, other)) {
                    found(*row);
                }
            }
        }
    }
}

impl Table {
    fn new(band: Band, task: &Task<'_>) -> Self {
        let codes = task.rows().words().chunks_exact(task.width().words());
        let mut starts = vec![0_u32; (1 << band.slot_bits) + 1];
        for code in codes.clone() {
            starts[band.slot(code) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Filling a slot moves its start to the start of the next one. The starts are moved back afterwards.
        let mut rows = vec![0; task.rows().len() as usize];
        for (code, row) in codes.zip(0_u32..) {
            let start = &mut starts[band.slot(code)];
            rows[*start as usize] = row;
            *start += 1;
        }
        starts.pop();
        starts.insert(0, 0);
        Self { band, rows, starts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_each_bit_once() {
        for (bits, highest) in [(32, 0), (32, 31), (64, 3), (128, 5), (256, 0), (256, 6)] {
            let bands = Band::all(bits, highest, 1000);
            let covered: Vec<u32> = bands.iter().flat_map(|band| band.bits.clone()).collect();
            assert_eq!(covered, (0..bits).collect::<Vec<_>>());
        }
        assert!(Band::all(32, 32, 1000).is_empty());
    }

    #[test]
    fn values_are_read_across_words() {
        let code = [0x8000_0001, 0x0000_00f3, 0];
        assert_eq!(Band { bits: 31..40, slot_bits: 9 }.value(&code), 0x1e7);
        assert_eq!(Band { bits: 0..96, slot_bits: 9 }.value(&code), 0xf3_8000_0001);
        let band = Band { bits: 30..70, slot_bits: 9 };
        assert!(band.agree(&code, &[0x8000_0000, 0x0000_00f3, u32::MAX << 6]));
        assert!(!band.agree(&code, &[0x8000_0000, 0x0000_00f3, 1 << 5]));
    }
}
