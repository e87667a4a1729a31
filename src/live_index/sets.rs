//! Sets in memory, and the search for those that contain another set or are contained in it.

use std::collections::VecDeque;

use ibid_udfs::similarity::{Measure, Side, count_common};

use super::postings::Postings;
use super::share;

/// Sets of hashes, numbered in the order in which they came.
///
/// If a share of a set of n elements must be in another set, the two sets share at least r elements. So any q elements
/// of the first set include at least q - (n - r) shared ones (the prefix filter for q = n - r + 1; Chaudhuri, Ganti,
/// Kaushik 2006). Sets that contain an arriving set are found by counting its rarest elements in the postings of all
/// elements. Sets that it contains are found by counting all its elements in the postings of the rarest elements of
/// each set. The elements that are taken for rare, and their number, affect the time only.
#[derive(Debug)]
pub(super) struct Sets {
    least: f64,
    sets: VecDeque<Set>,
    /// The number of the first set.
    first: u32,
    all: Postings,
    rare: Postings,
    elements: usize,
    /// The number of times that each set was found, and the sets that were found; empty between searches.
    hits: Hits,
    hits_back: Hits,
    /// A scratch buffer.
    by_count: Vec<(u32, u64)>,
}

#[derive(Debug)]
struct Set {
    elements: Box<[u64]>,
    /// The number of its elements in `rare` that a set must have to contain this one.
    required: u32,
}

/// The number of times that sets were found.
#[derive(Debug, Default)]
struct Hits {
    counts: Vec<u32>,
    found: Vec<u32>,
}

impl Hits {
    fn add(&mut self, i: usize) {
        if let Ok(found) = u32::try_from(i)
            && self.counts[i] == 0
        {
            self.found.push(found);
        }
        self.counts[i] += 1;
    }

    /// Counts a set again, if it was found before.
    fn add_again(&mut self, i: usize) {
        self.counts[i] += u32::from(self.counts[i] > 0);
    }

    /// Drops the sets that were found less often.
    fn keep(&mut self, required: impl Fn(usize) -> u32) {
        let counts = &mut self.counts;
        self.found.retain(|found| {
            let i = *found as usize;
            let is_kept = counts[i] >= required(i);
            if !is_kept {
                counts[i] = 0;
            }
            is_kept
        });
    }

    /// Takes the sets that are left, and leaves none.
    fn take(&mut self) -> Vec<u32> {
        let found = std::mem::take(&mut self.found);
        found.iter().for_each(|i| self.counts[*i as usize] = 0);
        found
    }
}

/// The number of postings of one more element that are worth reading for each set that would have to be compared
/// otherwise.
const POSTINGS_OF_COMPARISON: usize = 2;

/// A set that contains an arriving one or is contained in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) number: u32,
    /// The number of elements of the set.
    pub(super) elements: usize,
    /// The share of the arriving set that is in this one.
    pub(super) score: f64,
    /// The share of this set that is in the arriving one.
    pub(super) score_back: f64,
}

impl Sets {
    /// Creates an index without sets; in searches a share of at least `least` counts, which is above 0.
    pub(super) fn new(least: f64) -> Self {
        Self {
            least,
            sets: VecDeque::new(),
            first: 0,
            all: Postings::default(),
            rare: Postings::default(),
            elements: 0,
            hits: Hits::default(),
            hits_back: Hits::default(),
            by_count: Vec::new(),
        }
    }

    /// Adds a set of ascending elements, and returns its number.
    pub(super) fn add(&mut self, elements: Box<[u64]>) -> u32 {
        let number = self.first + u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let prefix = self.prefix(elements.len());
        // More elements than the prefix are indexed, and more of them must be found, so that few sets are found by
        // chance.
        let more = (elements.len() - prefix) / 4;
        self.rank(&elements);
        self.all.add(number, elements.iter().copied());
        self.rare.add(number, self.by_count.iter().take(prefix + more).map(|(_, element)| *element));
        self.elements += elements.len();
        self.sets.push_back(Set { elements, required: u32::try_from(more + 1).unwrap_or(u32::MAX) });
        number
    }

    /// Returns the number of elements of a set of `n` of which at least one must be in any set that contains it.
    fn prefix(&self, n: usize) -> usize {
        Measure::Containment.prefix_length(Side::Left, n, self.least)
    }

    /// Sorts the elements of a set by rarity.
    fn rank(&mut self, set: &[u64]) {
        self.by_count.clear();
        self.by_count.extend(set.iter().map(|element| (self.all.count(*element), *element)));
        self.by_count.sort_unstable();
    }

    /// Calls `found` with each set that has a share of at least `least` of `set` and, if `back` is set, with each set
    /// of which `set` has such a share.
    pub(super) fn search(&mut self, set: &[u64], back: bool, mut found: impl FnMut(Near)) {
        self.rank(set);
        for hits in [&mut self.hits, &mut self.hits_back] {
            hits.counts.resize(self.sets.len(), 0);
        }
        let (first, prefix) = (self.first, self.prefix(set.len()));
        let index = |number: u32| (number - first) as usize;
        let (needed, others) = self.by_count.split_at(prefix.min(self.by_count.len()));
        for (_, element) in needed {
            self.all.each(*element, first, |number| self.hits.add(index(number)));
        }
        let mut required = 1;
        for (count, element) in others {
            if *count as usize > self.hits.found.len() * POSTINGS_OF_COMPARISON {
                break;
            }
            self.all.each(*element, first, |number| self.hits.add_again(index(number)));
            required += 1;
            if required % 8 == 0 {
                self.hits.keep(|_| required);
            }
        }
        self.hits.keep(|_| required);
        if back {
            for element in set {
                self.rare.each(*element, first, |number| self.hits_back.add(index(number)));
            }
            let sets = &self.sets;
            self.hits_back.keep(|i| sets[i].required);
        }
        let mut near = self.hits.take();
        near.extend(self.hits_back.take());
        near.sort_unstable();
        near.dedup();
        for i in near {
            let other = &self.sets[i as usize].elements;
            let (common, elements) = (count_common(set, other), other.len());
            let near = Near {
                number: first + i,
                elements,
                score: share(common, set.len()),
                score_back: share(common, elements),
            };
            if near.score >= self.least || (back && near.score_back >= self.least) {
                found(near);
            }
        }
    }

    /// Forgets the sets before `first`.
    pub(super) fn forget(&mut self, first: u32) {
        while self.first < first
            && let Some(set) = self.sets.pop_front()
        {
            self.elements -= set.elements.len();
            self.first += 1;
        }
        self.all.forget(self.first);
        self.rare.forget(self.first);
    }

    /// Returns the size of the index in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes() + self.rare.bytes() + self.elements * 8 + self.sets.capacity() * 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ibid_udfs::split_mix;
    use proptest::prelude::*;

    use super::*;

    fn sets() -> impl Strategy<Value = Vec<BTreeSet<u64>>> {
        prop::collection::vec(prop::collection::btree_set(0u64..40, 0..14), 1..60)
    }

    /// Returns the elements as hashes, so that buckets are as in real use.
    fn hashed(set: &BTreeSet<u64>) -> Box<[u64]> {
        let mut hashes: Vec<_> = set.iter().map(|element| split_mix(7, *element)).collect();
        hashes.sort_unstable();
        hashes.into()
    }

    #[expect(clippy::cast_precision_loss, reason = "small sets")]
    fn share(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> f64 {
        a.intersection(b).count() as f64 / a.len() as f64
    }

    proptest! {
        #[test]
        fn a_search_finds_what_looking_at_all_sets_finds(
            given in sets(), least in prop::sample::select(vec![0.1, 0.3, 0.5, 0.6, 2.0 / 3.0, 0.8, 1.0]), window in 1..40u32,
            back in any::<bool>()
        ) {
            let mut resident = Sets::new(least);
            for (i, set) in given.iter().enumerate() {
                let end = u32::try_from(i).unwrap();
                resident.forget(end.saturating_sub(window));
                let mut found = Vec::new();
                resident.search(&hashed(set), back, |near| found.push(near));
                let expected: Vec<_> = (end.saturating_sub(window)..end)
                    .map(|number| (number, &given[number as usize]))
                    .map(|(number, other)| Near {
                        number,
                        elements: other.len(),
                        score: share(set, other),
                        score_back: share(other, set),
                    })
                    .filter(|near| near.score >= least || (back && near.score_back >= least))
                    .collect();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(resident.add(hashed(set)), end);
            }
        }
    }
}
