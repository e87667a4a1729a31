use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::common::{Result, exec_err};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::index::{narrow, narrow_u64};
use super::input::{Batch, Batches};
use super::parallel::parallel;

/// The place of a row: the batch, counted over both inputs, and the row in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) batch: u32,
    pub(super) row: u32,
}

/// The distinct sets of both inputs, numbered: first those of the left input and then those of the right one, each in the
/// order of their sizes. Sets of rows with different keys are different sets. Empty sets and NULLs are left out, as they
/// match nothing.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// The elements of all rows, batch by batch.
    elements: Vec<ScalarBuffer<u64>>,
    places: Vec<Place>,
    /// The rows of all sets, set by set.
    members: Vec<Row>,
    /// The first set of the right input.
    pub(super) right: usize,
    is_self_join: bool,
}

/// The location of a set and of the rows that have it.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The hash of the keys.
    key: u64,
    /// The index of the first of its members.
    members: usize,
    batch: u32,
    start: u32,
    size: u32,
}

/// The distinct sets of a part of the rows.
struct Part {
    places: Vec<Place>,
    /// The rows of the sets, set by set in the order of `places`.
    members: Vec<Row>,
}

/// A row with the hash of its set.
type Hashed = (u64, Row);

/// The number of parts that rows are partitioned into, by the first six bits of their hash, so that equal sets are in
/// one part.
const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 6;

/// The most rows of an input that can be numbered.
const MOST_ROWS: usize = i32::MAX as usize;

/// The number of sets between two yields, a millisecond of work or less.
const SOME: usize = 1 << 14;

impl Sets {
    /// Returns the most bytes that it takes to find the distinct sets of `rows` rows.
    pub(crate) fn bytes(rows: usize) -> usize {
        rows * (2 * size_of::<Hashed>() + 2 * size_of::<Place>() + 2 * size_of::<Row>() + size_of::<(u64, u32)>())
    }

    /// Finds the distinct sets.
    pub(super) async fn of(batches: &Arc<Batches>, is_self_join: bool, workers: usize) -> Result<Self> {
        let mut sets = Self { is_self_join, ..Self::default() };
        for batch in &batches.all {
            sets.elements.push(batch.elements().clone());
        }
        sets.add(batches, 0..batches.left, workers).await?;
        sets.right = sets.len();
        sets.add(batches, batches.left..batches.all.len(), workers).await?;
        Ok(sets)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the elements of a set.
    pub(super) fn elements(&self, set: u32) -> &[u64] {
        let place = &self.places[set as usize];
        &self.elements[place.batch as usize][place.start as usize..][..place.size as usize]
    }

    pub(super) fn size(&self, set: u32) -> usize {
        self.places[set as usize].size as usize
    }

    /// Returns the hash of the keys of a set's rows.
    pub(super) fn key(&self, set: u32) -> u64 {
        self.places[set as usize].key
    }

    /// Returns the number of elements of the largest set.
    pub(super) fn largest(&self) -> usize {
        // Each side is sorted by size.
        let last = [self.right, self.len()].map(|end| self.places[..end].last().map_or(0, |place| place.size));
        last[0].max(last[1]) as usize
    }

    /// Returns the number of elements of all sets.
    pub(super) fn count_elements(&self) -> usize {
        self.places.iter().map(|place| place.size as usize).sum()
    }

    /// Returns true if the right input is the left one again.
    pub(super) fn is_self_join(&self) -> bool {
        self.is_self_join
    }

    /// Returns the rows that have a set.
    pub(super) fn members(&self, set: u32) -> &[Row] {
        let set = set as usize;
        let end = self.places.get(set + 1).map_or(self.members.len(), |next| next.members);
        &self.members[self.places[set].members..end]
    }

    async fn add(&mut self, batches: &Arc<Batches>, range: Range<usize>, workers: usize) -> Result<()> {
        let all = Arc::clone(batches);
        let mut parts: Vec<Vec<Hashed>> = vec![Vec::new(); PARTS];
        for mut dealt in parallel(workers, range.clone().collect(), move |batch| deal(&all.all[batch], batch)).await? {
            parts.iter_mut().zip(&mut dealt).for_each(|(part, more)| part.append(more));
        }
        let all = Arc::clone(batches);
        let parts = parallel(workers, parts, move |part| Ok(group(&all.all, part))).await?;
        let mut rows = 0;
        let mut firsts = Vec::with_capacity(range.len());
        for batch in &batches.all[range.clone()] {
            firsts.push(rows);
            rows += batch.rows.num_rows();
        }
        if rows > MOST_ROWS {
            return exec_err!(
                "a similarity join has {rows} rows, more than the limit of {MOST_ROWS}: join the input in parts, such \
                 as by ranges of the size of the sets"
            );
        }
        // By size, and then by row, so that a loop over all sets reads memory as sequentially as possible.
        let mut place_of = vec![0_u32; rows];
        let mut order = Vec::with_capacity(parts.iter().map(|part| part.places.len()).sum());
        for (part, number) in parts.iter().zip(0_u32..) {
            for (place, i) in part.places.iter().zip(0_u32..) {
                let first = part.members[place.members];
                let row = firsts[first.batch as usize - range.start] + first.row as usize;
                place_of[row] = i << PART_BITS | number;
                order.push(u64::from(place.size) << 32 | row as u64);
            }
        }
        order.sort_unstable();
        self.places.reserve_exact(order.len());
        self.members.reserve_exact(parts.iter().map(|part| part.members.len()).sum());
        for key in order {
            let place = place_of[narrow_u64(key & u64::from(u32::MAX)) as usize];
            let Part { places, members } = &parts[(place & ((1 << PART_BITS) - 1)) as usize];
            let i = (place >> PART_BITS) as usize;
            let end = places.get(i + 1).map_or(members.len(), |next| next.members);
            self.places.push(Place { members: self.members.len(), ..places[i] });
            self.members.extend_from_slice(&members[places[i].members..end]);
            if self.places.len().is_multiple_of(SOME) {
                // One task runs the whole loop over all sets, so it yields.
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }
}

/// Partitions the rows of a batch.
fn deal(batch: &Batch, number: usize) -> Result<Vec<Vec<Hashed>>> {
    let Ok(number) = u32::try_from(number) else { return exec_err!("a similarity join of {number} batches") };
    let mut parts: Vec<Vec<Hashed>> = vec![Vec::new(); PARTS];
    for (i, row) in (0..batch.rows.num_rows()).zip(0_u32..) {
        let set = batch.range(i);
        if set.is_empty() {
            continue;
        }
        let bytes = &batch.elements().inner().as_slice()[set.start * size_of::<u64>()..set.end * size_of::<u64>()];
        let hash = xxh3_64_with_seed(bytes, batch.key(i));
        parts[usize::from(hash.to_be_bytes()[0] >> 2)].push((hash, Row { batch: number, row }));
    }
    Ok(parts)
}

/// Finds the distinct sets of a part, and their rows.
fn group(batches: &[Batch], mut rows: Vec<Hashed>) -> Part {
    rows.sort_unstable();
    let (mut places, mut members) = (Vec::<Place>::new(), Vec::with_capacity(rows.len()));
    for same_hash in rows.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, row)] = same_hash {
            let batch = &batches[row.batch as usize];
            let range = batch.range(row.row as usize);
            let (key, start, size) = (batch.key(row.row as usize), narrow(range.start), narrow(range.len()));
            places.push(Place { key, members: members.len(), batch: row.batch, start, size });
            members.push(*row);
            continue;
        }
        let mut rest: Vec<Row> = same_hash.iter().map(|(_, row)| *row).collect();
        // Nearly always one round: further rounds are for unequal sets with the same hash.
        while let Some(&first) = rest.first() {
            let of = |row: Row| {
                let batch = &batches[row.batch as usize];
                let range = batch.range(row.row as usize);
                (batch.key(row.row as usize), range.start, &batch.elements()[range])
            };
            let (key, start, set) = of(first);
            places.push(Place {
                key,
                members: members.len(),
                batch: first.batch,
                start: narrow(start),
                size: narrow(set.len()),
            });
            rest.retain(|&row| {
                let (other_key, _, other) = of(row);
                let equal = key == other_key && set == other;
                if equal {
                    members.push(row);
                }
                !equal
            });
        }
    }
    Part { places, members }
}
