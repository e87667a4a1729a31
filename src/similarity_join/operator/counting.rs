use std::ops::Range;
use std::sync::Arc;

use datafusion::common::Result;
use ibid_udfs::similarity::Side;

use super::condition::Condition;
use super::index::{Index, narrow};
use super::order::Order;
use super::parallel::parallel;
use super::prefix::Prefix;
use super::search::{Counts, Pair, Task, count_common};
use super::sets::Sets;

/// An index that counts how many elements of some sets are in another set: for measures that ask how much of one set is
/// in the other.
///
/// A measure of this kind tells nothing of the elements of the other set, the container, which would have to show all
/// of them. So only sets that must be contained show elements, some more than their prefix. For each container, the
/// search counts the elements that it shares with the shown elements of each of these sets. Pairs are found once, and
/// pairs that met by chance are left out without reading the sets (ScanCount; Li, Lu, Lu 2008).
#[derive(Debug)]
pub(super) struct Counting {
    order: Arc<Order>,
    /// The sets that show elements. The sets that may contain them are `containers`.
    contained: Range<u32>,
    containers: Range<u32>,
    /// The number of elements that each contained set requires of its containers.
    asked: Vec<Asked>,
    /// The first posting of each bucket of ranks, and the end. The number of buckets is a power of two.
    starts: Vec<u32>,
    /// The sets that show a rank of each bucket, ascending.
    postings: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    /// The number of elements required in total.
    required: u32,
    /// The number required of the elements that the set shows.
    shown: u32,
}

/// The counts for one container. The buffers are reused for the next one.
#[derive(Debug, Default)]
pub(super) struct Hits {
    prefix: Prefix,
    /// The number of elements of each contained set that were found; all 0 between containers.
    counts: Vec<u32>,
    found: Vec<u32>,
    /// The ranges of the postings of the elements.
    ranges: Vec<Range<u32>>,
}

/// The divisor of the elements after a prefix: a set shows one in so many of them, too, and some of these must also be
/// found.
const MORE: usize = 4;

/// The number of parts that buckets are partitioned into, a power of two.
const PARTS: usize = 64;

/// The most bits of the number of a bucket: ranks have no more bits that are spread evenly.
const MOST_BITS: u32 = 26;

/// The number of elements of the containers of a task, a few milliseconds of work.
const TASK: usize = 1 << 17;

/// A bucket and a set.
type Posting = (u32, u32);

impl Counting {
    /// Returns true if the elements of sets can be counted.
    pub(super) fn applies(condition: &Condition, sets: &Sets) -> bool {
        let is_asked = condition.filters.count && !condition.measure.is_symmetric();
        is_asked && u32::try_from(sets.count_elements()).is_ok()
    }

    /// Returns the most bytes that this takes beyond [`Index::bytes`]: for the counts, and for the elements that sets
    /// show beyond their prefixes.
    pub(crate) fn bytes(sets: &Sets, workers: usize) -> usize {
        let of_posting = 2 * size_of::<Posting>() + 3 * size_of::<u32>();
        (workers + 1) * sets.len() * size_of::<Posting>() + sets.count_elements() / MORE * of_posting
    }

    pub(super) async fn of(
        sets: &Arc<Sets>,
        order: Arc<Order>,
        condition: &Arc<Condition>,
        workers: usize,
    ) -> Result<Self> {
        let (all, right) = (narrow(sets.len()), narrow(sets.right));
        let (contained, containers) = match condition.left_is {
            _ if sets.is_self_join() => (0..all, 0..all),
            Side::Left => (0..right, right..all),
            Side::Right => (right..all, 0..right),
        };
        let chunks = Index::chunks(contained.len(), workers).1;
        let first = contained.start;
        let ranges = chunks.into_iter().map(|chunk| first + chunk.start..first + chunk.end).collect();
        let shared = (Arc::clone(sets), Arc::clone(&order), Arc::clone(condition));
        let shown = parallel(workers, ranges, move |range| Ok(show(&shared.0, &shared.1, &shared.2, range))).await?;
        let shows: usize = shown.iter().map(|(_, ranks)| ranks.len()).sum();
        let bits = (2 * shows).next_power_of_two().ilog2().clamp(PARTS.ilog2(), MOST_BITS);
        let buckets_of_part = (1_u32 << bits) / narrow(PARTS);
        let (asked, ranks): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        let deal = move |ranks: Vec<Posting>| {
            let mut parts: Vec<Vec<Posting>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
            for (rank, set) in ranks {
                let bucket = rank & ((1 << bits) - 1);
                parts[(bucket / buckets_of_part) as usize].push((bucket % buckets_of_part, set));
            }
            Ok(parts)
        };
        let mut parts: Vec<Vec<Vec<Posting>>> = std::iter::repeat_with(Vec::new).take(PARTS).collect();
        for dealt in parallel(workers, ranks, deal).await? {
            parts.iter_mut().zip(dealt).for_each(|(part, more)| part.push(more));
        }
        let (mut starts, mut postings) = (Vec::with_capacity((1 << bits) + 1), Vec::with_capacity(shows));
        for (ends, sets) in parallel(workers, parts, move |part| Ok(group(&part, buckets_of_part))).await? {
            let before = narrow(postings.len());
            starts.extend(ends.into_iter().map(|start| before + start));
            postings.extend(sets);
        }
        starts.push(narrow(postings.len()));
        Ok(Self { order, contained, containers, asked: asked.concat(), starts, postings })
    }

    /// Returns all tasks.
    pub(super) fn tasks(&self, sets: &Sets) -> Vec<Task> {
        let (mut tasks, mut start, mut elements) = (Vec::new(), self.containers.start, 0);
        for set in self.containers.clone() {
            elements += sets.size(set);
            if elements >= TASK {
                tasks.push(Task::Containers(start..set + 1));
                (start, elements) = (set + 1, 0);
            }
        }
        tasks.push(Task::Containers(start..self.containers.end));
        tasks
    }

    /// Finds the pairs of some containers.
    pub(super) fn run(
        &self,
        sets: &Sets,
        condition: &Condition,
        containers: Range<u32>,
        hits: &mut Hits,
        pairs: &mut Vec<Pair>,
    ) -> Counts {
        let mut counts = Counts::default();
        hits.counts.resize(self.asked.len(), 0);
        for container in containers {
            let elements = sets.elements(container);
            // Sets are sorted by size.
            let fitting = self.asked.partition_point(|asked| asked.required as usize <= elements.len());
            self.count(elements, sets.key(container), self.contained.start + narrow(fitting), hits);
            for found in hits.found.drain(..) {
                let i = (found - self.contained.start) as usize;
                let (count, asked) = (std::mem::take(&mut hits.counts[i]), self.asked[i]);
                if sets.is_self_join() && found == container {
                    continue;
                }
                counts.candidates += 1;
                if count < asked.shown {
                    counts.pruned_count += 1;
                    continue;
                }
                counts.verified += 1;
                if count_common(sets.elements(found), elements, asked.required as usize).is_none() {
                    counts.ended_early += 1;
                    continue;
                }
                counts.matched += 1;
                pairs.push(match condition.left_is {
                    Side::Left => (found, container),
                    Side::Right => (container, found),
                });
            }
        }
        counts
    }

    /// Counts the elements of a container in the contained sets before `end`.
    fn count(&self, elements: &[u64], key: u64, end: u32, hits: &mut Hits) {
        hits.prefix.share(elements, key, &self.order);
        // The lookups that miss the caches come first, as nothing waits for them.
        hits.ranges.clear();
        let last = self.starts.len() - 2;
        hits.ranges.extend(hits.prefix.ranks.iter().map(|rank| {
            let bucket = *rank as usize & last;
            self.starts[bucket]..self.starts[bucket + 1]
        }));
        for range in hits.ranges.drain(..) {
            for &set in &self.postings[range.start as usize..range.end as usize] {
                if set >= end {
                    break;
                }
                let count = &mut hits.counts[(set - self.contained.start) as usize];
                if *count == 0 {
                    hits.found.push(set);
                }
                *count += 1;
            }
        }
    }
}

/// Returns what a range of sets requires, and the ranks that they show.
fn show(sets: &Sets, order: &Order, condition: &Condition, range: Range<u32>) -> (Vec<Asked>, Vec<Posting>) {
    let (mut asked, mut ranks, mut prefix) = (Vec::with_capacity(range.len()), Vec::new(), Prefix::default());
    for set in range {
        let elements = sets.elements(set);
        let required = condition.measure.required_overlap(Side::Left, elements.len(), condition.threshold);
        let needed = condition.contained_prefix(elements.len());
        let shown = needed + (elements.len() - needed) / MORE;
        // The elements that are not shown may all be among those required.
        asked.push(Asked {
            required: narrow(required),
            shown: narrow((shown + required).saturating_sub(elements.len())),
        });
        prefix.find(elements, sets.key(set), shown, order);
        ranks.extend(prefix.ranks.iter().map(|rank| (*rank, set)));
    }
    (asked, ranks)
}

/// Returns the starts of the buckets of a part, and the sets of each bucket.
fn group(part: &[Vec<Posting>], buckets: u32) -> (Vec<u32>, Vec<u32>) {
    let mut ends = vec![0_u32; buckets as usize + 1];
    for (bucket, _) in part.iter().flatten() {
        ends[*bucket as usize + 1] += 1;
    }
    for bucket in 1..ends.len() {
        ends[bucket] += ends[bucket - 1];
    }
    let mut sets = vec![0; part.iter().map(Vec::len).sum()];
    for (bucket, set) in part.iter().flatten() {
        let end = &mut ends[*bucket as usize];
        sets[*end as usize] = *set;
        *end += 1;
    }
    // Each start is the end of its bucket now, which is the start of the next one.
    ends.rotate_right(1);
    ends[0] = 0;
    ends.truncate(buckets as usize);
    (ends, sets)
}
