//! Random searches, and the hits that they should find.

use std::ops::ControlFlow;

use ibid_codes::split_mix;
use ibid_gpu::{Bound, Codes, Engine, Hit, Outcome, Task, Width, hamming};
use proptest::prelude::*;

/// A search with its data.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) width: Width,
    pub(crate) queries: Vec<u32>,
    pub(crate) rows: Vec<u32>,
    pub(crate) bound: CaseBound,
}

#[derive(Debug, Clone)]
pub(crate) enum CaseBound {
    Constant(u32),
    BySizes { table: Vec<u32>, query_sizes: Vec<u32>, row_sizes: Vec<u32> },
    SelfJoin { table: Vec<u32>, sizes: Vec<u32>, threshold: f64 },
}

impl Case {
    pub(crate) fn task(&self) -> Task<'_> {
        let rows = Codes::try_new(self.width, &self.rows).unwrap();
        let queries = || Codes::try_new(self.width, &self.queries).unwrap();
        match &self.bound {
            CaseBound::Constant(bound) => Task::range(queries(), rows, Bound::Constant(*bound)),
            CaseBound::BySizes { table, query_sizes, row_sizes } => {
                Task::range(queries(), rows, Bound::BySizes { table, query_sizes, row_sizes })
            }
            CaseBound::SelfJoin { table, sizes, threshold } => Task::self_join(rows, sizes, table, *threshold),
        }
        .unwrap()
    }

    /// Returns true if a query and a row match, as the documentation defines it.
    fn is_hit(&self, query: usize, row: usize) -> bool {
        let words = self.width.words();
        let queries = if matches!(self.bound, CaseBound::SelfJoin { .. }) { &self.rows } else { &self.queries };
        let code = |codes: &[u32], at: usize| codes[at * words..(at + 1) * words].to_vec();
        let distance = hamming(&code(queries, query), &code(&self.rows, row));
        let look_up = |table: &[u32], sum: u32| *table.get(sum as usize).unwrap_or(table.last().unwrap());
        match &self.bound {
            CaseBound::Constant(bound) => distance <= *bound,
            CaseBound::BySizes { table, query_sizes, row_sizes } => {
                distance <= look_up(table, query_sizes[query] + row_sizes[row])
            }
            CaseBound::SelfJoin { table, sizes, .. } => distance <= look_up(table, sizes[query] + sizes[row]),
        }
    }

    fn is_compared(&self, query: usize, row: usize) -> bool {
        let CaseBound::SelfJoin { sizes, threshold, .. } = &self.bound else { return true };
        query < row && f64::from(sizes[query]) / f64::from(sizes[row]) >= *threshold
    }

    fn counts(&self) -> (usize, usize) {
        let task = self.task();
        (task.queries().len() as usize, task.rows().len() as usize)
    }

    /// Returns all hits, by query, then row.
    pub(crate) fn expected(&self) -> Vec<Hit> {
        let (queries, rows) = self.counts();
        let pairs = (0..queries).flat_map(|query| (0..rows).map(move |row| (query, row)));
        pairs
            .filter(|(query, row)| self.is_compared(*query, *row) && self.is_hit(*query, *row))
            .map(|(query, row)| Hit { query: query as u32, row: row as u32 })
            .collect()
    }

    /// Searches, and compares the hits with the expected ones.
    pub(crate) fn check(&self, engine: &Engine) {
        assert_eq!(found(engine, &self.task()), self.expected());
    }

    /// Asks for random pairs, some of them twice, and checks the answers.
    pub(crate) fn check_mask(&self, engine: &Engine, count: usize, seed: u64) {
        let (queries, rows) = self.counts();
        let mut numbers = SplitMix64::new(seed);
        let count = if queries == 0 || rows == 0 { 0 } else { count };
        let (a, b): (Vec<u32>, Vec<u32>) =
            (0..count).map(|_| (numbers.below(queries as u64) as u32, numbers.below(rows as u64) as u32)).unzip();
        let mask = engine.mask(&self.task(), &a, &b).unwrap();
        assert_eq!(mask.len(), count.div_ceil(64));
        for bit in 0..mask.len() * 64 {
            let expected = bit < count && self.is_hit(a[bit] as usize, b[bit] as usize);
            assert_eq!(mask[bit / 64] >> (bit % 64) & 1 == 1, expected, "pair {bit}");
        }
    }
}

/// Returns the hits that an engine finds.
pub(crate) fn found(engine: &Engine, task: &Task<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let outcome = engine.search(task, |batch| {
        hits.extend_from_slice(batch);
        ControlFlow::Continue(())
    });
    assert_eq!(outcome, Ok(Outcome::Complete));
    hits
}

/// Numbers that look random.
pub(crate) struct SplitMix64 {
    seed: u64,
    given: u64,
}

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, given: 0 }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let number = split_mix(self.seed, self.given);
        self.given += 1;
        number
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Returns codes near some centres, so that there are hits at every distance.
pub(crate) fn codes(width: Width, count: usize, centres: u64, seed: u64) -> Vec<u32> {
    let mut numbers = SplitMix64::new(seed);
    let mut words = Vec::new();
    for _ in 0..count {
        let mut centre = SplitMix64::new(numbers.below(centres));
        let start = words.len();
        words.extend((0..width.words()).map(|_| centre.next() as u32));
        for _ in 0..numbers.below(u64::from(width.bits()) / 4) {
            let bit = numbers.below(u64::from(width.bits())) as usize;
            words[start + bit / 32] ^= 1 << (bit % 32);
        }
    }
    words
}

/// Returns the number of random cases that are tried: `fallback`, or the value of `IBID_CASES`.
pub(crate) fn tries(fallback: u32) -> u32 {
    std::env::var("IBID_CASES").map_or(fallback, |cases| cases.parse().unwrap())
}

/// Generates cases with at most `queries` queries and `rows` rows.
pub(crate) fn cases(queries: usize, rows: usize) -> impl Strategy<Value = Case> {
    let width = prop::sample::select(Width::ALL.to_vec());
    let bound = prop_oneof![0..12_u32, 0..300_u32, Just(254), Just(255), Just(256), Just(u32::MAX)];
    let table = prop_oneof![
        prop::collection::vec(0..40_u32, 1..30),
        prop::collection::vec(0..300_u32, 1..5),
        (1..=100_u32, 1..3_u32)
            .prop_map(|(percent, bits)| { ibid_gpu::jaccard_bounds(f64::from(percent) / 100.0, bits, 60).unwrap() }),
    ];
    (width, 0..=queries, 0..=rows, 1..6_u64, any::<u64>(), 0..4, bound, (table, 1..=100_u32)).prop_map(
        |(width, queries, rows, centres, seed, kind, bound, (table, percent))| {
            let mut numbers = SplitMix64::new(seed ^ 1);
            let mut sizes = |count: usize| -> Vec<u32> { (0..count).map(|_| numbers.below(30) as u32).collect() };
            let bound = match kind {
                0 => {
                    let mut sizes = sizes(rows);
                    sizes.sort_unstable();
                    CaseBound::SelfJoin { table, sizes, threshold: f64::from(percent) / 100.0 }
                }
                1 => CaseBound::BySizes { table, query_sizes: sizes(queries), row_sizes: sizes(rows) },
                _ => CaseBound::Constant(bound),
            };
            let (queries, rows) = (codes(width, queries, centres, seed), codes(width, rows, centres, seed ^ 2));
            Case { width, queries, rows, bound }
        },
    )
}
