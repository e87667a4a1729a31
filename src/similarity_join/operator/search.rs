use std::ops::{AddAssign, Range};

use ibid_gpu::Hit;

use super::condition::Condition;
use super::counting::Hits;
use super::index::{Group, Index, Part};
use super::sets::Sets;

/// A unit of work: the pairs of some members of some groups of a part with the members after them, the pairs of some
/// containers with the sets they contain, or the pairs of sets with themselves.
#[derive(Debug, Clone)]
pub(super) enum Task {
    Groups { part: usize, members: Range<usize> },
    Containers(Range<u32>),
    Equal(Range<u32>),
}

/// A set of the left and one of the right input.
pub(super) type Pair = (u32, u32);

/// The numbers of pairs that met in a group, by their outcome.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Pairs of sets that show the same element, and whose sizes do not allow a match.
    pub(super) pruned_length: usize,
    /// Pairs of sets that show the same element, and whose sizes allow a match.
    pub(super) candidates: usize,
    /// Candidates that were pruned because too few of the elements that one set shows were found in the other.
    pub(super) pruned_count: usize,
    /// Candidates that were pruned because too few elements stand after the one they met at.
    pub(super) pruned_position: usize,
    /// Remaining candidates that were pruned because their bitmaps differ too much.
    pub(super) pruned_bitmap: usize,
    /// Remaining candidates that were dropped because they met at an earlier element, too.
    pub(super) repeated: usize,
    /// The remaining candidates, which were compared element by element.
    pub(super) verified: usize,
    /// Verified pairs whose comparison ended early, because too many elements of one set are not in the other.
    pub(super) ended_early: usize,
    /// Pairs of sets that match, and sets that match themselves.
    pub(super) matched: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.pruned_length += more.pruned_length;
        self.candidates += more.candidates;
        self.pruned_count += more.pruned_count;
        self.pruned_position += more.pruned_position;
        self.pruned_bitmap += more.pruned_bitmap;
        self.repeated += more.repeated;
        self.verified += more.verified;
        self.ended_early += more.ended_early;
        self.matched += more.matched;
    }
}

/// The approximate number of candidates of small sets in a task of groups, a few milliseconds of work.
const TASK: usize = 1 << 20;

/// The largest set whose required overlaps are in a table.
const TABLE: usize = 127;

/// The search for the pairs of sets that match.
#[derive(Debug)]
pub(super) struct Search<'a> {
    sets: &'a Sets,
    index: &'a Index,
    condition: &'a Condition,
    required: &'a Required,
}

/// The number of elements that two sets must share, by their sizes.
#[derive(Debug)]
pub(super) struct Required {
    either_way: bool,
    /// The least overlaps of sets of fewer than `width` elements each; 0 if they cannot match.
    small: Vec<u32>,
    width: usize,
}

impl Required {
    pub(super) fn new(condition: &Condition, sets: &Sets) -> Self {
        let width = sets.largest().min(TABLE) + 1;
        let mut required = Self { either_way: sets.is_self_join(), small: Vec::new(), width };
        let sizes = (0..width).flat_map(|a| (0..width).map(move |b| (a, b)));
        let of = |(a, b)| required.compute(condition, a, b).map_or(0, super::index::narrow);
        required.small = sizes.map(of).collect();
        required
    }

    fn compute(&self, condition: &Condition, a: usize, b: usize) -> Option<usize> {
        if self.either_way { condition.required_either_way(a, b) } else { condition.required(a, b) }
    }

    fn of(&self, condition: &Condition, a: usize, b: usize) -> Option<usize> {
        if a < self.width && b < self.width {
            let required = self.small[a * self.width + b] as usize;
            (required > 0).then_some(required)
        } else {
            self.compute(condition, a, b)
        }
    }
}

/// Returns all tasks.
pub(super) fn tasks(sets: &Sets, index: &Index) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (number, part) in index.parts.iter().enumerate() {
        let (mut start, mut cost) = (0, 0);
        for group in &part.groups {
            for member in group.start..group.right {
                // Large sets take longer to compare.
                let weight = 1 + part.sizes[member] as usize / 64;
                cost += weight * (1 + group.end - group.first_partner(member));
                if cost >= TASK {
                    tasks.push(Task::Groups { part: number, members: start..member + 1 });
                    (start, cost) = (member + 1, 0);
                }
            }
        }
        if start < part.sets.len() {
            tasks.push(Task::Groups { part: number, members: start..part.sets.len() });
        }
    }
    if let Some(counting) = &index.counting {
        tasks.extend(counting.tasks(sets));
    }
    if sets.is_self_join() {
        tasks.extend(Index::chunks(sets.len(), 1).1.into_iter().map(Task::Equal));
    }
    tasks
}

impl<'a> Search<'a> {
    pub(super) fn new(sets: &'a Sets, index: &'a Index, condition: &'a Condition, required: &'a Required) -> Self {
        Self { sets, index, condition, required }
    }

    /// Finds the pairs of a task.
    pub(super) fn run(&self, task: &Task, hits: &mut Hits, pairs: &mut Vec<Pair>) -> Counts {
        match task {
            Task::Equal(sets) => {
                let mut counts = Counts::default();
                for set in sets.clone() {
                    let size = self.sets.size(set);
                    let matches = || self.required.of_direction(self.condition, size, size).is_some();
                    if self.index.is_home(set) && (self.condition.is_distance() || matches()) {
                        pairs.push((set, set));
                        counts.matched += 1;
                    }
                }
                counts
            }
            Task::Containers(containers) => self.index.counting.as_ref().map_or_else(Counts::default, |counting| {
                counting.run(self.sets, self.condition, containers.clone(), hits, pairs)
            }),
            Task::Groups { part, members } => {
                let part = &self.index.parts[*part];
                let (mut counts, mut near) = (Counts::default(), Vec::new());
                self.each_member(part, members, |group, member| {
                    counts += self.partners(part, group, member, &mut near, pairs);
                });
                counts
            }
        }
    }

    /// Returns the number of candidates of a task, without comparing them.
    pub(super) fn count(&self, task: &Task) -> usize {
        let Task::Groups { part, members } = task else { return 0 };
        let part = &self.index.parts[*part];
        let mut candidates = 0;
        self.each_member(part, members, |group, member| {
            self.runs(part, group, member, |run, _| {
                candidates += run.len();
                true
            });
        });
        candidates
    }

    /// Calls `each` for those of `members` that look for partners, with their groups.
    fn each_member(&self, part: &Part, members: &Range<usize>, mut each: impl FnMut(&Group, usize)) {
        let first = part.groups.partition_point(|group| group.end <= members.start);
        for group in part.groups[first..].iter().take_while(|group| group.start < members.end) {
            for member in members.start.max(group.start)..members.end.min(group.right) {
                each(group, member);
            }
        }
    }

    /// Calls `each` with runs of partners of one size that a member of a group meets and whose size allows a match, and
    /// with the number of elements that they must share, until `each` returns false. Returns the number of partners
    /// whose sizes do not allow a match.
    fn runs(
        &self,
        part: &Part,
        group: &Group,
        member: usize,
        mut each: impl FnMut(Range<usize>, usize) -> bool,
    ) -> usize {
        let (size, mut pruned) = (part.sizes[member], 0);
        let mut start = group.first_partner(member);
        while start < group.end {
            // Partners are sorted by size.
            let other = part.sizes[start];
            let end = start + part.sizes[start..group.end].partition_point(|next| *next == other);
            let run = start..end;
            start = end;
            match self.required.of(self.condition, size as usize, other as usize) {
                // Larger ones cannot match.
                None if other > size => return pruned + group.end - run.start,
                None => pruned += run.len(),
                Some(required) if !each(run, required) => break,
                Some(_) => {}
            }
        }
        pruned
    }

    /// Finds the pairs of a member of a group with the members after it, or with those of the right input.
    fn partners(
        &self,
        part: &Part,
        group: &Group,
        member: usize,
        near: &mut Vec<usize>,
        pairs: &mut Vec<Pair>,
    ) -> Counts {
        let mut counts = Counts::default();
        let (size, rest, bitmap) = (part.sizes[member], part.rests[member], part.bitmaps[member]);
        let pruned_length = self.runs(part, group, member, |run, required| {
            counts.candidates += run.len();
            let other = part.sizes[run.start];
            if required > rest as usize {
                counts.pruned_position += run.len();
                // Larger ones need even more in common.
                return other < size;
            }
            let most_apart = size + other - 2 * super::index::narrow(required);
            near.clear();
            let (bitmaps, rests) = (&part.bitmaps[run.clone()], &part.rests[run.clone()]);
            for (i, (other_bitmap, other_rest)) in bitmaps.iter().zip(rests).enumerate() {
                let far = (bitmap ^ other_bitmap).count_ones() > most_apart;
                let late = (*other_rest as usize) < required;
                counts.pruned_position += usize::from(late);
                counts.pruned_bitmap += usize::from(far & !late);
                if !(far | late) {
                    near.push(run.start + i);
                }
            }
            for &partner in near.iter() {
                self.verify(group.rank, part.sets[member], part.sets[partner], required, &mut counts, pairs);
            }
            true
        });
        counts.pruned_length += pruned_length;
        counts
    }

    fn verify(&self, rank: u32, a: u32, b: u32, required: usize, counts: &mut Counts, pairs: &mut Vec<Pair>) {
        if meet_before(self.index.prefix(a), self.index.prefix(b), rank) {
            counts.repeated += 1;
            return;
        }
        self.compare(a, b, required, counts, pairs);
    }

    /// Finds the matches among pairs whose codes are near.
    pub(super) fn compare_near(&self, hits: &[Hit], pairs: &mut Vec<Pair>) -> Counts {
        let mut counts = Counts { candidates: hits.len(), ..Counts::default() };
        for Hit { query: a, row: b } in hits.iter().copied() {
            if self.condition.is_distance() {
                pairs.push((a, b));
                counts.matched += 1;
                if self.required.either_way {
                    pairs.push((b, a));
                    counts.matched += 1;
                }
                continue;
            }
            match self.required.of(self.condition, self.sets.size(a), self.sets.size(b)) {
                Some(required) => self.compare(a, b, required, &mut counts, pairs),
                None => counts.pruned_length += 1,
            }
        }
        counts
    }

    fn compare(&self, a: u32, b: u32, required: usize, counts: &mut Counts, pairs: &mut Vec<Pair>) {
        counts.verified += 1;
        let (a_elements, b_elements) = (self.sets.elements(a), self.sets.elements(b));
        let Some(common) = count_common(a_elements, b_elements, required) else {
            counts.ended_early += 1;
            return;
        };
        let matches = |left: usize, right: usize| {
            self.required.of_direction(self.condition, left, right).is_some_and(|required| common >= required)
        };
        if matches(a_elements.len(), b_elements.len()) {
            pairs.push((a, b));
            counts.matched += 1;
        }
        if self.required.either_way && matches(b_elements.len(), a_elements.len()) {
            pairs.push((b, a));
            counts.matched += 1;
        }
    }
}

impl Required {
    /// Returns the least overlap of a left and a right set, which depends on the direction for asymmetric measures.
    fn of_direction(&self, condition: &Condition, left: usize, right: usize) -> Option<usize> {
        if condition.measure.is_symmetric() { self.of(condition, left, right) } else { condition.required(left, right) }
    }
}

/// Returns true if two ascending lists share a rank before `rank`.
fn meet_before(a: &[u32], b: &[u32], rank: u32) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() && a[i] < rank && b[j] < rank {
        if a[i] == b[j] {
            return true;
        }
        let forward = a[i] < b[j];
        i += usize::from(forward);
        j += usize::from(!forward);
    }
    false
}

/// Returns the number of elements that two sets share; `None` as soon as it is clear that they are fewer than
/// `required`.
pub(super) fn count_common(a: &[u64], b: &[u64], required: usize) -> Option<usize> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (Some(mut spare), Some(mut long_spare)) = (short.len().checked_sub(required), long.len().checked_sub(required))
    else {
        return None;
    };
    let mut common = 0;
    if long.len() / 16 > short.len() {
        let mut rest = long;
        for element in short {
            rest = &rest[rest.partition_point(|other| other < element)..];
            if rest.first() == Some(element) {
                common += 1;
            } else {
                spare = spare.checked_sub(1)?;
            }
        }
        return Some(common);
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        match x.cmp(&y) {
            std::cmp::Ordering::Equal => common += 1,
            std::cmp::Ordering::Less => spare = spare.checked_sub(1)?,
            std::cmp::Ordering::Greater => long_spare = long_spare.checked_sub(1)?,
        }
    }
    (common >= required).then_some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_elements_are_counted_or_too_few() {
        let long: Vec<u64> = (0..200).collect();
        for (short, common) in [(vec![0, 5, 199], 3), (vec![5, 300], 1), (vec![300, 301], 0), (vec![], 0)] {
            for required in 0..4 {
                let expected = (common >= required).then_some(common);
                assert_eq!(count_common(&short, &long, required), expected, "{short:?} {required}");
                assert_eq!(count_common(&long, &short, required), expected, "{short:?} {required}");
                assert_eq!(count_common(&short, &short, required).is_some(), short.len() >= required);
            }
        }
        assert_eq!(count_common(&[1, 2, 3, 4], &[2, 4, 6], 2), Some(2));
        assert_eq!(count_common(&[1, 2, 3, 4], &[2, 4, 6], 3), None);
    }

    /// Regression: one task compared all sets of a frequent element with each other.
    #[test]
    fn the_pairs_of_a_large_group_are_spread_over_tasks() {
        for right in [4000, 2000] {
            let groups = vec![Group { rank: 0, start: 0, right, end: 4000 }];
            let mut index = Index::without_groups(None);
            index.parts = vec![Part { groups, sets: (0..4000).collect(), sizes: vec![2; 4000], ..Part::default() }];
            let tasks = tasks(&Sets::default(), &index);
            assert!(tasks.len() > 2, "{tasks:?}");
        }
    }

    #[test]
    fn lists_meet_before_a_rank_or_at_it() {
        assert!(meet_before(&[1, 3, 5], &[2, 3, 5], 5));
        assert!(!meet_before(&[1, 3, 5], &[2, 3, 5], 3));
        assert!(!meet_before(&[], &[2], 9));
    }
}
