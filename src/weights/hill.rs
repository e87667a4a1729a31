//! Hill climbing: from weights to the best of those one step away, until none is better.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Examples, Hundredths};

/// The sizes of steps, in hundredths.
const STEPS: [u8; 6] = [32, 16, 8, 4, 2, 1];

/// The exponent of the power of two that represents a similarity of 1; a hundred of these, and a bit for the label, are
/// less than 2⁶².
const ONE: u32 = 52;

/// The score of 2⁻¹⁰ hundredths, as the bits of an `f32`. Lower scores above 0 share a bucket.
const LOWEST: u32 = (127 + ONE - 10) << 23;

/// Climbs from each of `first` over each hill, on `threads` threads. The result is the same for any number of threads:
/// the next step of a climb depends only on its current weights.
pub(super) fn climb_all(hills: &[Hill], first: &[Hundredths], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut scratch = Scratch::default();
        loop {
            let climb = next.fetch_add(1, Relaxed);
            let Some(hill) = hills.get(climb / first.len()) else { return };
            hill.climb(&first[climb % first.len()], &mut scratch);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(hills.len() * first.len()) {
            // If no more threads can be started, fewer do the work.
            drop(thread::Builder::new().spawn_scoped(scope, work));
        }
        work();
    });
}

/// Labelled pairs, for which climbs look for the best weights.
///
/// Similarities and scores are whole numbers, so that a step changes a score by an addition, exactly, and equal scores
/// are equal whatever steps led to them.
pub(super) struct Hill {
    /// The similarities of each field.
    columns: Vec<Vec<i64>>,
    labels: Vec<bool>,
    duplicates: u32,
    /// The number of bits by which a score, as the bits of an `f32`, is shifted right to give its bucket.
    shift: u32,
    /// The next weights of climbs, by the weights that they passed; `None` at a summit.
    ways: Mutex<HashMap<Hundredths, Option<Hundredths>>>,
}

/// The reused buffers of a thread.
#[derive(Default)]
struct Scratch {
    /// The scores of the current weights.
    scores: Vec<i64>,
    /// The scores after a step.
    after: Buckets,
}

/// Scores in buckets, so that little is left to sort.
#[derive(Default)]
struct Buckets {
    scores: Vec<i64>,
    /// For each bucket the numbers of pairs that are no duplicates, and of duplicates.
    counts: Vec<[u32; 2]>,
    /// Scores with a bit for the label, bucket by bucket, and the place of each bucket.
    ordered: Vec<i64>,
    places: Vec<usize>,
}

/// The quality of weights: the F1 at the best threshold, then the AUC.
#[derive(Debug, Clone, Copy)]
struct Height {
    /// Half of the F1, as a ratio: the duplicates found, over the sum of all pairs found and all duplicates.
    f1: (u32, u32),
    /// Twice the number of pairs of a duplicate and a non-duplicate that are in order.
    in_order: u64,
}

impl Height {
    fn is_above(&self, other: &Self) -> bool {
        cmp_f1(self.f1, other.f1).then(self.in_order.cmp(&other.in_order)).is_gt()
    }
}

impl Hill {
    pub(super) fn of(examples: &Examples) -> Self {
        let column = |field: usize| {
            examples.similarities.iter().skip(field).step_by(examples.fields).map(|value| whole(*value)).collect()
        };
        // About as many buckets as pairs, if scores spread over some powers of two.
        let bits = (examples.len() / 8).max(1).ilog2().clamp(3, 12);
        Self {
            columns: (0..examples.fields).map(column).collect(),
            labels: examples.labels.clone(),
            duplicates: examples.labels.iter().map(|label| u32::from(*label)).sum(),
            shift: 23 - bits,
            ways: Mutex::default(),
        }
    }

    /// Returns the highest of the summits that climbs from `first` reached; of several, the one that was reached from
    /// the first of them.
    pub(super) fn highest(&self, first: &[Hundredths]) -> Hundredths {
        let mut scratch = Scratch::default();
        let mut best: Option<(Height, &Hundredths)> = None;
        let ways = self.ways();
        for mut at in first {
            while let Some(Some(to)) = ways.get(at) {
                at = to;
            }
            let height = self.height_at(at, &mut scratch);
            if best.as_ref().is_none_or(|(best, _)| height.is_above(best)) {
                best = Some((height, at));
            }
        }
        best.map(|(_, at)| at.clone()).unwrap_or_default()
    }

    fn ways(&self) -> MutexGuard<'_, HashMap<Hundredths, Option<Hundredths>>> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Climbs to a summit, or to weights that another climb passed.
    fn climb(&self, from: &Hundredths, scratch: &mut Scratch) {
        let mut at = from.clone();
        loop {
            match self.ways().entry(at.clone()) {
                Entry::Occupied(_) => return,
                Entry::Vacant(way) => way.insert(None),
            };
            let Some(to) = self.best_step(&at, scratch) else { return };
            self.ways().insert(at, Some(to.clone()));
            at = to;
        }
    }

    /// Returns the best of the weights that are one step away, if they are better; of several, the first.
    fn best_step(&self, from: &Hundredths, scratch: &mut Scratch) -> Option<Hundredths> {
        let mut best = self.height_at(from, scratch);
        let mut best_step = None;
        let Scratch { scores, after } = scratch;
        for step in STEPS {
            for loser in (0..from.len()).filter(|field| from[*field] >= step) {
                for winner in (0..from.len()).filter(|field| *field != loser) {
                    let columns = self.columns[loser].iter().zip(&self.columns[winner]);
                    let stepped = scores
                        .iter()
                        .zip(columns)
                        .map(|(score, (loses, wins))| score + i64::from(step) * (wins - loses));
                    self.fill(after, stepped);
                    if self.may_be_above(&best, &after.counts) {
                        let reached = self.height(after);
                        if reached.is_above(&best) {
                            (best, best_step) = (reached, Some((step, loser, winner)));
                        }
                    }
                }
            }
        }
        best_step.map(|(step, loser, winner)| {
            let mut to = from.clone();
            to[loser] -= step;
            to[winner] += step;
            to
        })
    }

    /// Returns the height at some weights, and keeps their scores in `scratch`.
    fn height_at(&self, weights: &Hundredths, scratch: &mut Scratch) -> Height {
        let Scratch { scores, after } = scratch;
        scores.clear();
        scores.resize(self.labels.len(), 0);
        for (weight, column) in weights.iter().zip(&self.columns) {
            for (score, similarity) in scores.iter_mut().zip(column) {
                *score += i64::from(*weight) * similarity;
            }
        }
        self.fill(after, scores.iter().copied());
        self.height(after)
    }

    /// Returns the bucket of a score. A higher score is in no lower bucket, and the first bucket is for 0 alone.
    #[expect(clippy::cast_precision_loss, reason = "buckets are coarser")]
    fn bucket(&self, score: i64) -> usize {
        let above = (score as f32).to_bits().max(LOWEST) - LOWEST;
        (above >> self.shift) as usize + usize::from(score > 0)
    }

    fn fill(&self, buckets: &mut Buckets, scores: impl Iterator<Item = i64>) {
        buckets.counts.clear();
        buckets.counts.resize(self.bucket(100 << ONE) + 1, [0; 2]);
        buckets.scores.clear();
        buckets.scores.extend(scores);
        for (score, label) in buckets.scores.iter().zip(&self.labels) {
            buckets.counts[self.bucket(*score)][usize::from(*label)] += 1;
        }
    }

    /// Returns true if scores with these counts may be above `best`: if they would be with the duplicates first in each
    /// bucket.
    fn may_be_above(&self, best: &Height, counts: &[[u32; 2]]) -> bool {
        let (mut found, mut right, mut in_order) = (0, 0, 0);
        let mut may_be_equal = false;
        for (bucket, &[others, duplicates]) in counts.iter().enumerate().rev() {
            if others + duplicates == 0 {
                continue;
            }
            if bucket == 0 {
                // These scores are all 0, and such pairs are never found.
                in_order += u64::from(others) * (2 * u64::from(right) + u64::from(duplicates));
                break;
            }
            right += duplicates;
            in_order += 2 * u64::from(others) * u64::from(right);
            match cmp_f1((right, found + duplicates + self.duplicates), best.f1) {
                Ordering::Greater => return true,
                Ordering::Equal => may_be_equal = true,
                Ordering::Less => {}
            }
            found += others + duplicates;
        }
        may_be_equal && in_order > best.in_order
    }

    fn height(&self, buckets: &mut Buckets) -> Height {
        let Buckets { scores, counts, places, ordered } = buckets;
        let mut place = 0;
        places.clear();
        places.extend(counts.iter().map(|[others, duplicates]| {
            let first = place;
            place += (others + duplicates) as usize;
            first
        }));
        ordered.resize(scores.len(), 0);
        for (score, label) in scores.iter().zip(&self.labels) {
            let place = &mut places[self.bucket(*score)];
            ordered[*place] = (score << 1) | i64::from(*label);
            *place += 1;
        }
        // Each place is now the end of its bucket.
        let mut walk = Walk { all: self.duplicates, best: (0, 1), ..Walk::default() };
        let mut of_buckets = places.iter().zip(counts.iter());
        let of_zero = of_buckets.next();
        for (end, &[others, duplicates]) in of_buckets.rev() {
            if others == 0 || duplicates == 0 {
                walk.pass(others, duplicates);
                continue;
            }
            let bucket = &mut ordered[end - (others + duplicates) as usize..*end];
            bucket.sort_unstable();
            let mut passed = [0; 2];
            for (i, score) in bucket.iter().enumerate().rev() {
                passed[usize::from(score & 1 == 1)] += 1;
                if i == 0 || bucket[i - 1] >> 1 != score >> 1 {
                    walk.pass(passed[0], passed[1]);
                    passed = [0; 2];
                }
            }
        }
        // A pair with the score 0 is never found.
        let f1 = walk.best;
        if let Some((_, &[others, duplicates])) = of_zero {
            walk.pass(others, duplicates);
        }
        Height { f1, in_order: walk.in_order }
    }
}

/// A walk through the pairs, those with the highest score first.
#[derive(Default)]
struct Walk {
    /// The number of duplicates.
    all: u32,
    found: u32,
    right: u32,
    in_order: u64,
    best: (u32, u32),
}

impl Walk {
    /// Passes pairs with equal scores, or pairs that are all duplicates, or none of which is one.
    fn pass(&mut self, others: u32, duplicates: u32) {
        self.in_order += u64::from(others) * (2 * u64::from(self.right) + u64::from(duplicates));
        self.found += others + duplicates;
        self.right += duplicates;
        let (right, of) = (self.right, self.found + self.all);
        if duplicates > 0 && cmp_f1(self.best, (right, of)).is_lt() {
            self.best = (right, of);
        }
    }
}

/// Compares two ratios.
fn cmp_f1(a: (u32, u32), b: (u32, u32)) -> Ordering {
    (u64::from(a.0) * u64::from(b.1)).cmp(&(u64::from(b.0) * u64::from(a.1)))
}

#[expect(clippy::cast_possible_truncation, reason = "from 0 to 2⁵²")]
fn whole(similarity: f64) -> i64 {
    (similarity.clamp(0.0, 1.0) * (1_i64 << ONE) as f64).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the best of the weights one step away, by judging all of them.
    fn best_of_all(hill: &Hill, from: &Hundredths) -> Option<Hundredths> {
        let mut scratch = Scratch::default();
        let mut best = (hill.height_at(from, &mut scratch), None);
        for step in STEPS {
            for loser in 0..from.len() {
                for winner in 0..from.len() {
                    let mut to = from.clone();
                    if loser != winner && from[loser] >= step {
                        to[loser] -= step;
                        to[winner] += step;
                        let height = hill.height_at(&to, &mut scratch);
                        if height.is_above(&best.0) {
                            best = (height, Some(to));
                        }
                    }
                }
            }
        }
        best.1
    }

    fn examples(fields: usize, pairs: usize, values: u64) -> Examples {
        let mut random = super::super::random(values);
        let similarities: Vec<f64> = random
            .by_ref()
            .take(fields * pairs)
            .map(|number| {
                f64::from(u32::try_from(number % values).unwrap()) / f64::from(u32::try_from(values).unwrap())
            })
            .collect();
        let labels = similarities.chunks(fields).zip(random).map(|(row, number)| row[0] > 0.5 && number % 4 > 0);
        Examples {
            fields,
            labels: labels.collect(),
            groups: (0..).take(pairs).collect(),
            similarities: similarities.clone(),
        }
    }

    #[test]
    fn a_height_is_what_judging_gives() {
        // Sixty-fourths are exact as floats, too, once they are weighted by quarters.
        for pairs in [2, 5, 30, 3000] {
            let examples = examples(3, pairs, 64);
            let hill = Hill::of(&examples);
            for weights in [[100, 0, 0], [25, 25, 50], [0, 75, 25]] {
                let height = hill.height_at(&weights.to_vec(), &mut Scratch::default());
                let figures = examples.judge(&super::super::shares(&weights.to_vec()), None);
                assert!(
                    (2.0 * f64::from(height.f1.0) / f64::from(height.f1.1) - figures.f1).abs() < 1e-12,
                    "{height:?}"
                );
                let pairs = 2.0 * f64::from(hill.duplicates) * (pairs as f64 - f64::from(hill.duplicates));
                assert!(pairs == 0.0 || (height.in_order as f64 / pairs - figures.auc).abs() < 1e-12, "{height:?}");
            }
        }
    }

    #[test]
    fn no_step_that_is_better_is_passed_over() {
        for (fields, pairs, values) in [(3, 40, 4), (3, 60, 1000), (4, 200, 7), (2, 500, 100_000), (1, 10, 3)] {
            let hill = Hill::of(&examples(fields, pairs, values));
            for from in super::super::first_weights(fields, 20, 9) {
                let step = hill.best_step(&from, &mut Scratch::default());
                assert_eq!(step, best_of_all(&hill, &from), "{fields} {pairs} {values} {from:?}");
            }
        }
    }

    #[test]
    fn buckets_are_in_order_and_0_has_its_own() {
        let hill = Hill::of(&examples(1, 1000, 10));
        let mut before = 0;
        for power in 0..58 {
            for score in [(1 << power) - 1, 1 << power, (1 << power) + 1] {
                let bucket = hill.bucket(score);
                assert!(bucket >= before && (bucket == 0) == (score == 0), "{score} {bucket} {before}");
                before = bucket;
            }
        }
    }
}
