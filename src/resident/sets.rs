//! Sets in memory, and which of them contain another one or are contained in it.

use std::collections::VecDeque;

use ibid_udfs::similarity::{Measure, Side, count_common};

use super::postings::Postings;
use super::share;

/// Sets of hashes, numbered in the order in which they came.
///
/// A set of n elements of which a share must be in another shares at least r elements with it, so it shares one of any n - r + 1
/// (the prefix filter; Chaudhuri, Ganti, Kaushik 2006). So what contains an arriving set is found by the rarest elements of that
/// in the postings of all elements, and what it contains by all its elements in the postings of the rarest of each set. Which
/// elements are taken for rare makes a difference to time only.
#[derive(Debug)]
pub(super) struct Sets {
    least: f64,
    sets: VecDeque<Box<[u64]>>,
    /// The number of the first set.
    first: u32,
    all: Postings,
    rare: Postings,
    elements: usize,
    /// When each set was last a candidate.
    seen: VecDeque<u32>,
    searches: u32,
    /// Room to work in.
    by_count: Vec<(u32, u64)>,
}

/// A set that contains an arriving one or is contained in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) number: u32,
    /// How many elements it has.
    pub(super) elements: usize,
    /// The share of the arriving set that is in it.
    pub(super) score: f64,
    /// The share of it that is in the arriving set.
    pub(super) score_back: f64,
}

impl Sets {
    /// No sets; later a share of at least `least` counts, above 0.
    pub(super) fn new(least: f64) -> Self {
        Self {
            least,
            sets: VecDeque::new(),
            first: 0,
            all: Postings::default(),
            rare: Postings::default(),
            elements: 0,
            seen: VecDeque::new(),
            searches: 0,
            by_count: Vec::new(),
        }
    }

    /// Adds a set of ascending elements, and gives its number.
    pub(super) fn add(&mut self, set: Box<[u64]>) -> u32 {
        let number = self.end();
        self.rank(&set);
        self.all.add(number, set.iter().copied());
        self.rare.add(number, self.by_count.iter().map(|(_, element)| *element));
        self.elements += set.len();
        self.sets.push_back(set);
        self.seen.push_back(0);
        number
    }

    /// The number of the next set.
    pub(super) fn end(&self) -> u32 {
        self.first + u32::try_from(self.sets.len()).unwrap_or(u32::MAX)
    }

    /// Puts as many of the rarest elements of a set aside as are needed to find what contains it.
    fn rank(&mut self, set: &[u64]) {
        let needed = Measure::Containment.prefix_length(Side::Left, set.len(), self.least);
        self.by_count.clear();
        self.by_count.extend(set.iter().map(|element| (self.all.count(*element), *element)));
        if needed < self.by_count.len() {
            self.by_count.select_nth_unstable(needed);
            self.by_count.truncate(needed);
        }
    }

    /// Calls `found` with each set of which a share of at least `least` is in `set`, or in which such a share of `set` is.
    pub(super) fn search(&mut self, set: &[u64], mut found: impl FnMut(Near)) {
        self.searches = self.searches.wrapping_add(1);
        if self.searches == 0 {
            self.seen.iter_mut().for_each(|seen| *seen = 0);
            self.searches = 1;
        }
        self.rank(set);
        let (first, search) = (self.first, self.searches);
        let (sets, seen, least) = (&self.sets, &mut self.seen, self.least);
        let mut judge = |number: u32| {
            let i = (number - first) as usize;
            if std::mem::replace(&mut seen[i], search) == search {
                return;
            }
            let (common, elements) = (count_common(set, &sets[i]), sets[i].len());
            let near = Near { number, elements, score: share(common, set.len()), score_back: share(common, elements) };
            if near.score >= least || near.score_back >= least {
                found(near);
            }
        };
        for (_, element) in &self.by_count {
            self.all.each(*element, first, &mut judge);
        }
        for element in set {
            self.rare.each(*element, first, &mut judge);
        }
    }

    /// Forgets the sets before `first`.
    pub(super) fn forget(&mut self, first: u32) {
        while self.first < first
            && let Some(set) = self.sets.pop_front()
        {
            self.elements -= set.len();
            self.seen.pop_front();
            self.first += 1;
        }
        self.all.forget(self.first);
        self.rare.forget(self.first);
    }

    /// How many bytes this takes.
    pub(super) fn bytes(&self) -> usize {
        self.all.bytes() + self.rare.bytes() + self.elements * 8 + self.sets.capacity() * 20
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

    /// As hashes, so that buckets are as in life.
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
            given in sets(), least in prop::sample::select(vec![0.1, 0.3, 0.5, 0.6, 2.0 / 3.0, 0.8, 1.0]), window in 1..40u32
        ) {
            let mut resident = Sets::new(least);
            for (i, set) in given.iter().enumerate() {
                let end = u32::try_from(i).unwrap();
                resident.forget(end.saturating_sub(window));
                let mut found = Vec::new();
                resident.search(&hashed(set), |near| found.push(near));
                found.sort_by_key(|near| near.number);
                let expected: Vec<_> = (end.saturating_sub(window)..end)
                    .map(|number| (number, &given[number as usize]))
                    .map(|(number, other)| Near {
                        number,
                        elements: other.len(),
                        score: share(set, other),
                        score_back: share(other, set),
                    })
                    .filter(|near| near.score >= least || near.score_back >= least)
                    .collect();
                prop_assert_eq!(found, expected);
                prop_assert_eq!(resident.add(hashed(set)), end);
            }
        }
    }
}
