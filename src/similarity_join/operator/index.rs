use std::ops::Range;
use std::sync::Arc;

use datafusion::common::Result;

use super::condition::Condition;
use super::order::{Order, UNSHARED, mix, rank};
use super::parallel::parallel;
use super::sets::Sets;

/// The sets by the elements of their prefixes.
#[derive(Debug)]
pub(super) struct Index {
    chunks: Vec<Chunk>,
    chunk_bits: u32,
    pub(super) parts: Vec<Part>,
}

/// What a range of sets shows.
#[derive(Debug, Default)]
struct Chunk {
    bitmaps: Vec<u64>,
    /// How many elements of each set are in no other set.
    unshared: Vec<u32>,
    /// The end of each set's prefix in `prefixes`.
    ends: Vec<u32>,
    /// The ranks of the shared elements of the prefixes, ascending.
    prefixes: Vec<u32>,
}

/// The groups of some of the ranks, with what the search reads of the sets side by side.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) groups: Vec<Group>,
    pub(super) sets: Vec<u32>,
    pub(super) sizes: Vec<u32>,
    /// How many elements of the set stand at the rank of the group or after it.
    pub(super) rests: Vec<u32>,
    pub(super) bitmaps: Vec<u64>,
}

/// The sets that show one rank, in the order of their numbers, thus of their sizes: those of the left input, and those
/// of the right one if there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) rank: u32,
    pub(super) start: usize,
    pub(super) right: usize,
    pub(super) end: usize,
}

/// Groups are spread over so many parts.
const PARTS: usize = 64;

/// Sets are shown in chunks of at most so many, a power of two.
const MOST_CHUNK_BITS: u32 = 14;

/// A rank and a set.
type Posting = u64;

impl Index {
    /// How many bytes the index takes at most, while it is made: for so many sets that show so many elements.
    pub(super) fn bytes(sets: usize, shown: usize) -> usize {
        sets * (size_of::<u64>() + 2 * size_of::<u32>())
            + shown * (size_of::<u32>() + 2 * size_of::<Posting>() + 3 * size_of::<u32>() + size_of::<u64>())
    }

    /// Ranges of sets that are worth a task each.
    pub(super) fn chunks(sets: usize, workers: usize) -> (u32, Vec<Range<u32>>) {
        let bits = (sets / (4 * workers)).max(1).ilog2().min(MOST_CHUNK_BITS);
        let sets = u32::try_from(sets).unwrap_or(u32::MAX);
        let chunks = (0..sets).step_by(1 << bits).map(|start| start..sets.min(start.saturating_add(1 << bits)));
        (bits, chunks.collect())
    }

    pub(super) async fn of(sets: &Arc<Sets>, order: Order, condition: &Arc<Condition>, workers: usize) -> Result<Self> {
        let (chunk_bits, ranges) = Self::chunks(sets.len(), workers);
        let shared = (Arc::clone(sets), order, Arc::clone(condition));
        let shown = parallel(workers, ranges, move |range| Ok(show(&shared.0, &shared.1, &shared.2, range))).await?;
        let mut chunks = Vec::with_capacity(shown.len());
        let mut postings: Vec<Vec<Vec<Posting>>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
        for (chunk, dealt) in shown {
            chunks.push(chunk);
            postings.iter_mut().zip(dealt).for_each(|(part, more)| part.push(more));
        }
        let index = Arc::new(Self { chunks, chunk_bits, parts: Vec::new() });
        let shared = (Arc::clone(sets), Arc::clone(&index));
        let parts = parallel(workers, postings, move |part| Ok(shared.1.group(&shared.0, part))).await?;
        // The closure that held the other reference is gone with its tasks.
        match Arc::try_unwrap(index) {
            Ok(index) => Ok(Self { parts, ..index }),
            Err(index) => datafusion::common::internal_err!("{} references to an index", Arc::strong_count(&index)),
        }
    }

    fn chunk(&self, set: u32) -> (&Chunk, usize) {
        (&self.chunks[(set >> self.chunk_bits) as usize], (set & ((1 << self.chunk_bits) - 1)) as usize)
    }

    /// The ranks that a set shows, ascending.
    pub(super) fn prefix(&self, set: u32) -> &[u32] {
        let (chunk, i) = self.chunk(set);
        let start = if i == 0 { 0 } else { chunk.ends[i - 1] as usize };
        &chunk.prefixes[start..chunk.ends[i] as usize]
    }

    /// The groups among postings.
    fn group(&self, sets: &Sets, postings: Vec<Vec<Posting>>) -> Part {
        let mut postings = postings.concat();
        postings.sort_unstable();
        let right_from = u32::try_from(sets.right).unwrap_or(u32::MAX);
        let mut part = Part::default();
        for group in postings.chunk_by(|a, b| rank_of(*a) == rank_of(*b)) {
            let rank = rank_of(group[0]);
            let right = group.partition_point(|posting| set_of(*posting) < right_from);
            let is_alone = if sets.is_self_join() { group.len() < 2 } else { right == 0 || right == group.len() };
            if is_alone {
                continue;
            }
            let start = part.sets.len();
            for set in group.iter().map(|posting| set_of(*posting)) {
                let (chunk, i) = self.chunk(set);
                let before = self.prefix(set).partition_point(|shown| *shown < rank);
                let size = sets.size(set);
                part.sets.push(set);
                part.sizes.push(narrow(size));
                part.rests.push(narrow(size - before) - chunk.unshared[i]);
                part.bitmaps.push(chunk.bitmaps[i]);
            }
            part.groups.push(Group { rank, start, right: start + right, end: part.sets.len() });
        }
        part
    }
}

fn rank_of(posting: Posting) -> u32 {
    narrow_u64(posting >> 32)
}

fn set_of(posting: Posting) -> u32 {
    narrow_u64(posting & u64::from(u32::MAX))
}

/// What a range of sets shows, and the postings of it by part.
fn show(sets: &Sets, order: &Order, condition: &Condition, range: Range<u32>) -> (Chunk, Vec<Vec<Posting>>) {
    let mut chunk = Chunk::default();
    let mut parts: Vec<Vec<Posting>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
    let (mut hashes, mut classes, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
    // Sets of a range come by size.
    let mut last = (usize::MAX, false, 0);
    for set in range {
        let elements = sets.elements(set);
        let is_left = (set as usize) < sets.right;
        if (last.0, last.1) != (elements.len(), is_left) {
            let shown = sets.shown(elements.len(), is_left, condition);
            last = (elements.len(), is_left, shown);
        }
        let shown = last.2;
        let key = sets.key(set);
        // First all that misses the caches, without a branch that would wait for it.
        hashes.clear();
        hashes.extend(elements.iter().map(|element| mix(element ^ key)));
        classes.clear();
        classes.extend(hashes.iter().map(|hash| order.class(*hash)));
        let bitmap = hashes.iter().fold(0_u64, |bitmap, hash| bitmap ^ 1 << (hash >> 32 & 63));
        ranks.clear();
        let shared = classes.iter().zip(&hashes).filter(|(class, _)| **class != UNSHARED);
        ranks.extend(shared.map(|(class, hash)| rank(*class, *hash)));
        let unshared = elements.len() - ranks.len();
        let shown = shown.saturating_sub(unshared).min(ranks.len());
        if shown > 0 && shown < ranks.len() {
            ranks.select_nth_unstable(shown - 1);
        }
        ranks.truncate(shown);
        ranks.sort_unstable();
        chunk.bitmaps.push(bitmap);
        chunk.unshared.push(narrow(unshared));
        chunk.prefixes.extend_from_slice(&ranks);
        chunk.ends.push(narrow(chunk.prefixes.len()));
        ranks.dedup();
        for &rank in &ranks {
            parts[rank as usize % PARTS].push(u64::from(rank) << 32 | u64::from(set));
        }
    }
    (chunk, parts)
}

/// Sizes of sets and of chunks, and numbers of counters, are offsets of Arrow's lists, or fewer than 2^14 such: they fit.
pub(super) fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

pub(super) fn narrow_u64(half: u64) -> u32 {
    u32::try_from(half).unwrap_or(u32::MAX)
}
