use std::ops::Range;
use std::sync::Arc;

use datafusion::common::Result;

use super::condition::{Condition, Shown};
use super::counting::Counting;
use super::order::mix;
use super::parallel::parallel;
use super::prefix::{Prefix, Prefixes};
use super::sets::Sets;
use crate::config::FilterOptions;

/// The sets by the elements of their prefixes.
#[derive(Debug)]
pub(crate) struct Index {
    chunks: Vec<Chunk>,
    chunk_bits: u32,
    share: Share,
    pub(super) parts: Vec<Part>,
    /// Instead of groups.
    pub(super) counting: Option<Counting>,
}

/// One of several shares of the ranks, each of which is joined by itself where there is not enough memory for all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) number: usize,
    pub(super) of: usize,
}

impl Share {
    /// The one share of a join in memory.
    pub(super) const ALL: Self = Self { number: 0, of: 1 };

    /// The number of the share that a rank belongs to.
    pub(super) fn of_rank(rank: u32, shares: usize) -> usize {
        // Not by the same bits as parts.
        rank as usize / PARTS % shares
    }

    /// The number of the share in which a set is paired with itself and its equals: that of its rarest rank, or, of the many
    /// that show none, any.
    pub(super) fn home(ranks: &[u32], bitmap: u64, shares: usize) -> usize {
        match ranks.first() {
            Some(rank) => Self::of_rank(*rank, shares),
            None => usize::try_from(mix(bitmap) % shares as u64).unwrap_or_default(),
        }
    }

    fn has(self, rank: u32) -> bool {
        Self::of_rank(rank, self.of) == self.number
    }

    /// The number of a share among those that this one is cut into, by its number among all that all are cut into, if it is one of
    /// them.
    pub(super) fn part_of(self, share: usize) -> Option<usize> {
        (share % self.of == self.number).then_some(share / self.of)
    }

    /// The share with a number among so many that this one is cut into.
    pub(super) fn part(self, number: usize, parts: usize) -> Self {
        Self { number: self.number + self.of * number, of: self.of * parts }
    }
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
    /// How many bytes the index takes at most, while it is made: for so many sets that show so many elements, of which so
    /// many are of its share.
    pub(crate) fn bytes(sets: usize, shown: usize, postings: usize) -> usize {
        sets * (size_of::<u64>() + 2 * size_of::<u32>())
            + shown * size_of::<u32>()
            + postings * (2 * size_of::<Posting>() + 3 * size_of::<u32>() + size_of::<u64>())
    }

    /// Ranges of sets that are worth a task each.
    pub(super) fn chunks(sets: usize, workers: usize) -> (u32, Vec<Range<u32>>) {
        let bits = (sets / (4 * workers)).max(1).ilog2().min(MOST_CHUNK_BITS);
        let sets = u32::try_from(sets).unwrap_or(u32::MAX);
        let chunks = (0..sets).step_by(1 << bits).map(|start| start..sets.min(start.saturating_add(1 << bits)));
        (bits, chunks.collect())
    }

    pub(super) async fn of(
        sets: &Arc<Sets>,
        prefixes: Prefixes,
        condition: &Arc<Condition>,
        share: Share,
        workers: usize,
    ) -> Result<Self> {
        let (chunk_bits, ranges) = Self::chunks(sets.len(), workers);
        let shared = (Arc::clone(sets), prefixes, Arc::clone(condition));
        let show = move |range| Ok(show(&shared.0, &shared.1, &shared.2, share, range));
        let shown = parallel(workers, ranges, show).await?;
        let mut chunks = Vec::with_capacity(shown.len());
        let mut postings: Vec<Vec<Vec<Posting>>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
        for (chunk, dealt) in shown {
            chunks.push(chunk);
            postings.iter_mut().zip(dealt).for_each(|(part, more)| part.push(more));
        }
        let index = Arc::new(Self { chunks, chunk_bits, share, parts: Vec::new(), counting: None });
        let shared = (Arc::clone(sets), Arc::clone(&index), condition.filters.clone());
        let parts = parallel(workers, postings, move |part| Ok(shared.1.group(&shared.0, &shared.2, part))).await?;
        // The closure that held the other reference is gone with its tasks.
        match Arc::try_unwrap(index) {
            Ok(index) => Ok(Self { parts, ..index }),
            Err(index) => datafusion::common::internal_err!("{} references to an index", Arc::strong_count(&index)),
        }
    }

    /// An index without groups.
    pub(super) fn without_groups(counting: Option<Counting>) -> Self {
        Self { chunks: Vec::new(), chunk_bits: 0, share: Share::ALL, parts: Vec::new(), counting }
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

    /// Whether a set is paired with itself here, and not in another share.
    pub(super) fn is_home(&self, set: u32) -> bool {
        if self.share.of == 1 {
            return true;
        }
        let (chunk, i) = self.chunk(set);
        Share::home(self.prefix(set), chunk.bitmaps[i], self.share.of) == self.share.number
    }

    /// The groups among postings.
    fn group(&self, sets: &Sets, filters: &FilterOptions, postings: Vec<Vec<Posting>>) -> Part {
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
                let size = narrow(sets.size(set));
                part.sets.push(set);
                part.sizes.push(size);
                // A filter that is off is given nothing to find.
                part.rests.push(if filters.position { size - narrow(before) - chunk.unshared[i] } else { size });
                part.bitmaps.push(if filters.bitmap { chunk.bitmaps[i] } else { 0 });
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
fn show(
    sets: &Sets,
    prefixes: &Prefixes,
    condition: &Arc<Condition>,
    share: Share,
    range: Range<u32>,
) -> (Chunk, Vec<Vec<Posting>>) {
    let mut chunk = Chunk::default();
    let mut parts: Vec<Vec<Posting>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
    let mut prefix = Prefix::default();
    let mut shown = [true, false].map(|is_left| Shown::new(condition, is_left, sets.is_self_join()));
    for set in range {
        let is_right = (set as usize) >= sets.right;
        prefixes.find(sets, set, shown[usize::from(is_right)].of(sets.size(set)), &mut prefix);
        chunk.bitmaps.push(prefix.bitmap);
        chunk.unshared.push(narrow(prefix.unshared));
        chunk.prefixes.extend_from_slice(&prefix.ranks);
        chunk.ends.push(narrow(chunk.prefixes.len()));
        prefix.ranks.dedup();
        for &rank in prefix.ranks.iter().filter(|rank| share.has(**rank)) {
            parts[rank as usize % PARTS].push(u64::from(rank) << 32 | u64::from(set));
        }
    }
    (chunk, parts)
}

/// Sizes of sets, which are offsets of Arrow's lists, and numbers of counters fit; so do all elements of a chunk, as long as
/// they are less than 32 GiB.
pub(super) fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

pub(super) fn narrow_u64(half: u64) -> u32 {
    u32::try_from(half).unwrap_or(u32::MAX)
}
