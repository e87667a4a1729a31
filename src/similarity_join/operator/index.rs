use std::ops::Range;
use std::sync::Arc;

use datafusion::common::Result;

use super::condition::{Condition, Shown};
use super::counting::Counting;
use super::parallel::parallel;
use super::places::{Origin, Place, Places};
use super::prefix::{Prefix, Prefixes};
use super::sets::Sets;
use crate::config::FilterOptions;

/// An inverted index from the elements of prefixes to the sets that show them.
#[derive(Debug)]
pub(crate) struct Index {
    chunks: Vec<Chunk>,
    chunk_bits: u32,
    share: Share,
    pub(super) parts: Vec<Part>,
    /// The index that replaces groups, if elements are counted.
    pub(super) counting: Option<Counting>,
}

/// One of several shares of the places where sets are compared. Each share is joined by itself if memory does not suffice
/// for all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) number: usize,
    pub(super) of: usize,
    pub(super) places: Places,
}

impl Share {
    /// The only share of a join in memory.
    pub(super) const ALL: Self = Self { number: 0, of: 1, places: Places::WHOLE };

    /// Returns the number of the share that a place belongs to.
    pub(super) fn of_place(place: u64, shares: usize) -> usize {
        usize::try_from(place % shares as u64).unwrap_or_default()
    }

    fn has(self, place: u64) -> bool {
        self.of == 1 || Self::of_place(place, self.of) == self.number
    }

    /// Returns the number of a finer share among those that this share is split into, or `None` if it is not one of
    /// them. `share` is its number among all finer shares.
    pub(super) fn part_of(self, share: usize) -> Option<usize> {
        (share % self.of == self.number).then_some(share / self.of)
    }

    /// Returns one of the `parts` shares that this share is split into.
    pub(super) fn part(self, number: usize, parts: usize) -> Self {
        Self { number: self.number + self.of * number, of: self.of * parts, ..self }
    }
}

/// The prefixes of a range of sets.
#[derive(Debug, Default)]
struct Chunk {
    bitmaps: Vec<u64>,
    /// The number of elements of each set that are in no other set.
    unshared: Vec<u32>,
    /// The end of each set's prefix in `prefixes`.
    ends: Vec<u32>,
    /// The ranks of the shared elements of the prefixes, ascending.
    prefixes: Vec<u32>,
}

/// The groups of some of the ranks, with the columns that the search reads of their sets.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) groups: Vec<Group>,
    pub(super) sets: Vec<u32>,
    pub(super) sizes: Vec<u32>,
    /// The number of elements of the set at the rank of the group or after it.
    pub(super) rests: Vec<u32>,
    pub(super) bitmaps: Vec<u64>,
}

/// The sets that are compared at one place, in the order of their numbers, thus of their sizes: first the left ones, and
/// from `right` on the right ones, of which there are none if the left ones are compared with each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub(super) rank: u32,
    pub(super) start: usize,
    pub(super) right: usize,
    pub(super) end: usize,
}

impl Group {
    /// Returns the first of the partners of a member.
    pub(super) fn first_partner(&self, member: usize) -> usize {
        if self.right == self.end { member + 1 } else { self.right }
    }
}

/// The number of parts that groups are spread over.
pub(super) const PARTS: usize = 64;

/// The binary logarithm of the most sets in a chunk.
const MOST_CHUNK_BITS: u32 = 14;

/// A rank in the upper half and a set in the lower half.
type Posting = u64;

/// A posting of a rank whose sets are cut into blocks: first the rank, the two blocks of the place and a bit for the right
/// one of them, then the set.
type SplitPosting = (u64, u32);

/// The postings of some of the ranks.
#[derive(Debug, Default)]
struct Postings {
    whole: Vec<Posting>,
    split: Vec<SplitPosting>,
}

impl Postings {
    fn push(&mut self, rank: u32, set: u32, place: Place) {
        match place.blocks {
            None => self.whole.push(u64::from(rank) << 32 | u64::from(set)),
            Some((left, right)) => {
                let blocks = u64::from(left) << 9 | u64::from(right) << 1 | u64::from(place.is_right);
                self.split.push((u64::from(rank) << 17 | blocks, set));
            }
        }
    }
}

impl Index {
    /// Returns the most bytes that the index takes while it is built: for `sets` sets that show `shown` elements,
    /// `postings` of which belong to its share.
    pub(crate) fn bytes(sets: usize, shown: usize, postings: usize) -> usize {
        sets * (size_of::<u64>() + 2 * size_of::<u32>())
            + shown * size_of::<u32>()
            + postings * (2 * size_of::<Posting>() + 3 * size_of::<u32>() + size_of::<u64>())
    }

    /// Returns ranges of sets that are worth a task each, and the binary logarithm of their length.
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
        let mut postings: Vec<Vec<Postings>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
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

    /// Returns an index without groups.
    pub(super) fn without_groups(counting: Option<Counting>) -> Self {
        Self { chunks: Vec::new(), chunk_bits: 0, share: Share::ALL, parts: Vec::new(), counting }
    }

    fn chunk(&self, set: u32) -> (&Chunk, usize) {
        (&self.chunks[(set >> self.chunk_bits) as usize], (set & ((1 << self.chunk_bits) - 1)) as usize)
    }

    /// Returns the ranks that a set shows, ascending.
    pub(super) fn prefix(&self, set: u32) -> &[u32] {
        let (chunk, i) = self.chunk(set);
        let start = if i == 0 { 0 } else { chunk.ends[i - 1] as usize };
        &chunk.prefixes[start..chunk.ends[i] as usize]
    }

    /// Returns true if a set is paired with itself in this share, and not in another one.
    pub(super) fn is_home(&self, set: u32) -> bool {
        if self.share.of == 1 {
            return true;
        }
        let (chunk, i) = self.chunk(set);
        self.share.has(self.share.places.home(self.prefix(set), chunk.bitmaps[i]))
    }

    /// Finds the groups among postings.
    fn group(&self, sets: &Sets, filters: &FilterOptions, mut postings: Vec<Postings>) -> Part {
        let mut part = Part::default();
        let mut whole = Vec::with_capacity(postings.iter().map(|postings| postings.whole.len()).sum());
        postings.iter_mut().for_each(|postings| whole.append(&mut postings.whole));
        whole.sort_unstable();
        let right_from = u32::try_from(sets.right).unwrap_or(u32::MAX);
        for group in whole.chunk_by(|a, b| rank_of(*a) == rank_of(*b)) {
            let right = group.partition_point(|posting| set_of(*posting) < right_from);
            if sets.is_self_join() && group.len() > 1 || (1..group.len()).contains(&right) {
                let members = group.iter().map(|posting| set_of(*posting));
                self.add_group(&mut part, sets, filters, (rank_of(group[0]), right), members);
            }
        }
        drop(whole);
        let mut split = Vec::with_capacity(postings.iter().map(|postings| postings.split.len()).sum());
        postings.iter_mut().for_each(|postings| split.append(&mut postings.split));
        split.sort_unstable();
        for group in split.chunk_by(|a, b| a.0 >> 1 == b.0 >> 1) {
            let blocks = group[0].0;
            let right = group.partition_point(|posting| posting.0 & 1 == 0);
            let is_one_block = blocks >> 9 & 0xff == blocks >> 1 & 0xff;
            if sets.is_self_join() && is_one_block && group.len() > 1 || (1..group.len()).contains(&right) {
                let members = group.iter().map(|posting| posting.1);
                self.add_group(&mut part, sets, filters, (narrow_u64(blocks >> 17), right), members);
            }
        }
        part
    }

    /// Adds the group of a rank to a part. `right` is the number of its left members.
    fn add_group(
        &self,
        part: &mut Part,
        sets: &Sets,
        filters: &FilterOptions,
        (rank, right): (u32, usize),
        members: impl Iterator<Item = u32>,
    ) {
        let start = part.sets.len();
        for set in members {
            let (chunk, i) = self.chunk(set);
            let before = self.prefix(set).partition_point(|shown| *shown < rank);
            let size = narrow(sets.size(set));
            part.sets.push(set);
            part.sizes.push(size);
            // A disabled filter gets values that pass it.
            part.rests.push(if filters.position { size - narrow(before) - chunk.unshared[i] } else { size });
            part.bitmaps.push(if filters.bitmap { chunk.bitmaps[i] } else { 0 });
        }
        part.groups.push(Group { rank, start, right: start + right, end: part.sets.len() });
    }
}

fn rank_of(posting: Posting) -> u32 {
    narrow_u64(posting >> 32)
}

fn set_of(posting: Posting) -> u32 {
    narrow_u64(posting & u64::from(u32::MAX))
}

/// Returns the prefixes of a range of sets, and their postings by part.
fn show(
    sets: &Sets,
    prefixes: &Prefixes,
    condition: &Arc<Condition>,
    share: Share,
    range: Range<u32>,
) -> (Chunk, Vec<Postings>) {
    let mut chunk = Chunk::default();
    let mut parts: Vec<_> = std::iter::repeat_with(Postings::default).take(PARTS).collect();
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
        let origin = Origin::of(sets.is_self_join(), !is_right);
        for &rank in &prefix.ranks {
            share.places.each(rank, prefix.bitmap, origin, |place| {
                if share.has(place.number) {
                    parts[rank as usize % PARTS].push(rank, set, place);
                }
            });
        }
    }
    (chunk, parts)
}

/// Narrows a size to 32 bits. Sizes of sets, which are offsets of Arrow's lists, and numbers of counters fit. So do
/// positions in the elements of a chunk, as long as they are less than 32 GiB.
pub(super) fn narrow(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

pub(super) fn narrow_u64(half: u64) -> u32 {
    u32::try_from(half).unwrap_or(u32::MAX)
}
