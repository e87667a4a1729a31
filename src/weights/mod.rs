//! The weights of fields and the threshold of their mean, from pairs that people labelled (QA-THREADS, section 5.2).
//!
//! The paper climbs from random weights and thresholds to the best F1. Here only the weights are climbed, in hundredths:
//! for given weights the best threshold is found exactly, by going through the pairs in the order of their scores.
//!
//! A climb looks at all weights that are one step away and takes the best. Most of them are ruled out without sorting
//! the pairs: buckets of scores, counted in one pass, give an upper bound. Where two climbs meet, only one goes on.

mod hill;

use std::collections::BTreeMap;

use ibid_udfs::split_mix;

use self::hill::{Hill, climb_all};

/// Labelled pairs with the similarity of each field.
#[derive(Debug, Clone, Default)]
pub(crate) struct Examples {
    pub(crate) fields: usize,
    /// A row of `fields` similarities for each pair.
    pub(crate) similarities: Vec<f64>,
    pub(crate) labels: Vec<bool>,
    /// The group of each pair. Pairs of one group, such as those of one question, are never split by cross-validation.
    pub(crate) groups: Vec<i64>,
}

/// The measures of how well a score tells duplicates from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figures {
    pub(crate) threshold: f64,
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    pub(crate) f1: f64,
    /// The share of pairs of a duplicate and a non-duplicate in which the duplicate has the higher score; a tie counts
    /// a half.
    pub(crate) auc: f64,
}

/// Weights that sum to 1, and a threshold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) weights: Vec<f64>,
    pub(crate) threshold: f64,
}

/// The weights of the fields in hundredths, which sum to 100.
type Hundredths = Vec<u8>;

impl Examples {
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns the number of pairs that are duplicates.
    pub(crate) fn duplicates(&self) -> usize {
        self.labels.iter().filter(|label| **label).count()
    }

    /// Returns the figures of a mean of the fields with these weights: at a threshold, or at the best one.
    pub(crate) fn judge(&self, weights: &[f64], threshold: Option<f64>) -> Figures {
        Figures::of(&self.scored(weights), threshold)
    }

    /// Returns the best weights and threshold by F1, then by AUC, that climbing from `starts` random weights finds on
    /// `threads` threads.
    ///
    /// Also returns the figures on held-out pairs: the groups are split into `folds` parts, and each part is judged by
    /// the weights and threshold that were fitted to the others. The threshold and the AUC are means over the folds.
    pub(crate) fn fit(&self, folds: usize, starts: usize, seed: u64, threads: usize) -> (Fitted, Option<Figures>) {
        let folds = self.folds(folds, seed);
        let mut hills = vec![Hill::of(self)];
        hills.extend(folds.iter().map(|(train, _)| Hill::of(train)));
        let first = first_weights(self.fields, starts, seed);
        climb_all(&hills, &first, threads);
        let fitted = |examples: &Self, hill: &Hill| {
            let weights = shares(&hill.highest(&first));
            let threshold = examples.judge(&weights, None).threshold;
            Fitted { weights, threshold }
        };
        let mut counts = Counts::default();
        let (mut thresholds, mut aucs) = (Vec::new(), Vec::new());
        for ((train, test), hill) in folds.iter().zip(&hills[1..]) {
            let fitted = fitted(train, hill);
            let scored = test.scored(&fitted.weights);
            counts.add(&Counts::of(&scored, fitted.threshold));
            thresholds.push(fitted.threshold);
            if !test.is_one_sided() {
                aucs.push(auc(&scored));
            }
        }
        let held_out = (!thresholds.is_empty()).then(|| counts.figures(mean(&thresholds), mean(&aucs)));
        (fitted(self, &hills[0]), held_out)
    }

    /// Splits the pairs into folds by their groups: returns for each fold the pairs to fit to, and the held-out pairs.
    /// Leaves out folds without held-out pairs, and folds whose pairs to fit to are all duplicates, or none of which is
    /// one.
    fn folds(&self, folds: usize, seed: u64) -> Vec<(Self, Self)> {
        let mut order: BTreeMap<(u64, i64), Vec<usize>> = BTreeMap::new();
        for (i, group) in self.groups.iter().enumerate() {
            let hash = split_mix(seed ^ group.cast_unsigned(), 0);
            order.entry((hash, *group)).or_default().push(i);
        }
        let groups: Vec<Vec<usize>> = order.into_values().collect();
        let fold = |fold: usize| {
            let pick = |held_out: bool| {
                let of_fold = groups.iter().enumerate().filter(|(i, _)| (i % folds == fold) == held_out);
                self.part(of_fold.flat_map(|(_, pairs)| pairs.iter().copied()))
            };
            (pick(false), pick(true))
        };
        (0..folds).map(fold).filter(|(train, test)| !train.is_one_sided() && test.len() > 0).collect()
    }

    /// Returns true if there are no duplicates, or nothing but duplicates.
    pub(crate) fn is_one_sided(&self) -> bool {
        [0, self.len()].contains(&self.duplicates())
    }

    fn part(&self, pairs: impl Iterator<Item = usize>) -> Self {
        let mut part = Self { fields: self.fields, ..Self::default() };
        for i in pairs {
            part.similarities.extend_from_slice(&self.similarities[i * self.fields..(i + 1) * self.fields]);
            part.labels.push(self.labels[i]);
            part.groups.push(self.groups[i]);
        }
        part
    }

    /// Returns the scores, highest first, with the labels.
    fn scored(&self, weights: &[f64]) -> Vec<(f64, bool)> {
        let score = |row: &[f64]| row.iter().zip(weights).map(|(similarity, weight)| similarity * weight).sum::<f64>();
        let scores = self.similarities.chunks(self.fields).map(score);
        let mut scored: Vec<_> = scores.zip(self.labels.iter().copied()).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored
    }
}

impl Figures {
    fn of(scored: &[(f64, bool)], threshold: Option<f64>) -> Self {
        let threshold = threshold.unwrap_or_else(|| best_threshold(scored));
        Counts::of(scored, threshold).figures(threshold, auc(scored))
    }
}

/// Counts of pairs: found, rightly found, and duplicates.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    found: u32,
    right: u32,
    duplicates: u32,
}

impl Counts {
    fn of(scored: &[(f64, bool)], threshold: f64) -> Self {
        let mut counts = Self::default();
        for (score, label) in scored {
            let found = *score >= threshold;
            counts.found += u32::from(found);
            counts.right += u32::from(found && *label);
            counts.duplicates += u32::from(*label);
        }
        counts
    }

    fn add(&mut self, more: &Self) {
        self.found += more.found;
        self.right += more.right;
        self.duplicates += more.duplicates;
    }

    fn figures(&self, threshold: f64, auc: f64) -> Figures {
        let share = |of: u32| if of == 0 { 0.0 } else { f64::from(self.right) / f64::from(of) };
        let f1 = f1(self.right, self.found, self.duplicates);
        Figures { threshold, precision: share(self.found), recall: share(self.duplicates), f1, auc }
    }
}

fn f1(right: u32, found: u32, duplicates: u32) -> f64 {
    let sum = f64::from(found) + f64::from(duplicates);
    if sum > 0.0 { 2.0 * f64::from(right) / sum } else { 0.0 }
}

/// Returns the threshold above 0 with the best F1, half way from the last score that it takes to the first that it does
/// not; of several, the highest. `scored` must be sorted, highest first.
fn best_threshold(scored: &[(f64, bool)]) -> f64 {
    let duplicates = Counts::of(scored, f64::INFINITY).duplicates;
    let (mut found, mut right) = (0, 0);
    let mut best = (0.0, 1.0);
    for (i, (score, label)) in scored.iter().enumerate().take_while(|(_, (score, _))| *score > 0.0) {
        (found, right) = (found + 1, right + u32::from(*label));
        let next = scored.get(i + 1).map_or(0.0, |(next, _)| *next);
        if next < *score && f1(right, found, duplicates) > best.0 {
            let half_way = next + (score - next) / 2.0;
            best = (f1(right, found, duplicates), if half_way > next { half_way } else { *score });
        }
    }
    best.1
}

/// Returns the AUC: how often a duplicate comes before another pair. `scored` must be sorted, highest first.
fn auc(scored: &[(f64, bool)]) -> f64 {
    let (mut duplicates, mut others, mut sum) = (0.0, 0.0, 0.0);
    for ties in scored.chunk_by(|a, b| a.0 == b.0) {
        let (mut tied_duplicates, mut tied_others) = (0.0, 0.0);
        for (_, label) in ties {
            *if *label { &mut tied_duplicates } else { &mut tied_others } += 1.0;
        }
        sum += tied_others * (duplicates + tied_duplicates / 2.0);
        (duplicates, others) = (duplicates + tied_duplicates, others + tied_others);
    }
    if duplicates * others > 0.0 { sum / (duplicates * others) } else { 0.5 }
}

#[expect(clippy::cast_precision_loss, reason = "a few folds")]
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.5 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn shares(weights: &Hundredths) -> Vec<f64> {
    weights.iter().map(|hundredths| f64::from(*hundredths) / 100.0).collect()
}

/// Returns the weights to climb from: equal weights, each field alone, and `starts` random ones.
fn first_weights(fields: usize, starts: usize, seed: u64) -> Vec<Hundredths> {
    let deal = |share: &dyn Fn(usize) -> usize| {
        let mut weights = vec![0; fields];
        (0..100).for_each(|i| weights[share(i)] += 1);
        weights
    };
    let mut first = vec![deal(&|i| i % fields)];
    first.extend((0..fields).map(|field| deal(&|_| field)));
    let mut random = random(seed);
    for _ in 0..starts {
        // Cuts in random places leave every share of a hundred equally likely.
        let mut cuts: Vec<u64> = random.by_ref().take(fields - 1).map(|number| number % 101).collect();
        cuts.sort_unstable();
        first.push(deal(&|i| cuts.iter().filter(|cut| **cut <= i as u64).count()));
    }
    first
}

/// Returns numbers that are the same for a seed on all machines.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |i| split_mix(seed, i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(rows: &[(&[f64], bool)]) -> Examples {
        Examples {
            fields: rows[0].0.len(),
            similarities: rows.iter().flat_map(|(row, _)| row.iter().copied()).collect(),
            labels: rows.iter().map(|(_, label)| *label).collect(),
            groups: (0..).take(rows.len()).collect(),
        }
    }

    #[test]
    fn the_best_threshold_is_that_of_trying_all() {
        let mut random = random(1);
        let mut below = |n: u64| u8::try_from(random.next().unwrap() % n).unwrap();
        for _ in 0..200 {
            let pairs = 1 + below(12);
            let mut scored: Vec<_> = (0..pairs).map(|_| (f64::from(below(6)) / 5.0, below(2) == 0)).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0));
            let tried = (1..=100).map(|i| Counts::of(&scored, f64::from(i) / 100.0).figures(0.0, 0.0).f1);
            let best = tried.fold(0.0, f64::max);
            let found = Figures::of(&scored, None);
            assert!((found.f1 - best).abs() < 1e-12 && found.threshold > 0.0, "{scored:?} {found:?} {best}");
        }
    }

    #[test]
    fn auc_counts_pairs_in_order_and_ties_half() {
        let scored = [(0.9, true), (0.5, false), (0.5, true), (0.1, false)];
        assert_eq!(auc(&scored), 3.5 / 4.0);
        assert_eq!(auc(&[(0.9, true)]), 0.5);
    }

    #[test]
    fn a_field_that_says_nothing_gets_no_weight() {
        let rows: Vec<([f64; 2], bool)> =
            (0..50).map(|i| ([f64::from(i % 7) / 7.0, if i % 2 == 0 { 0.6 } else { 0.4 }], i % 2 == 0)).collect();
        let rows: Vec<(&[f64], bool)> = rows.iter().map(|(row, label)| (row.as_slice(), *label)).collect();
        let examples = examples(&rows);
        let (fitted, held_out) = examples.fit(5, 10, 0, 1);
        let figures = examples.judge(&fitted.weights, Some(fitted.threshold));
        assert_eq!((figures.f1, figures.auc), (1.0, 1.0), "{fitted:?}");
        assert!(fitted.weights[1] > 0.6, "{fitted:?}");
        let held_out = held_out.unwrap();
        assert!(held_out.f1 > 0.9, "{held_out:?}");
    }

    #[test]
    fn what_no_field_tells_is_not_told_on_pairs_held_out() {
        let mut random = random(3);
        let mut below = |n: u64| u8::try_from(random.next().unwrap() % n).unwrap();
        let rows: Vec<([f64; 1], bool)> = (0..400).map(|_| ([f64::from(below(100)) / 100.0], below(2) == 0)).collect();
        let rows: Vec<(&[f64], bool)> = rows.iter().map(|(row, label)| (row.as_slice(), *label)).collect();
        let held_out = examples(&rows).fit(5, 0, 0, 2).1.unwrap();
        assert!((held_out.auc - 0.5).abs() < 0.1, "{held_out:?}");
    }

    #[test]
    fn a_fit_is_the_same_for_a_seed_and_any_number_of_threads() {
        let mut random = random(5);
        let mut next = || f64::from(u8::try_from(random.next().unwrap() % 100).unwrap()) / 100.0;
        let rows: Vec<([f64; 3], bool)> = (0..60).map(|i| ([next(), next(), next()], i % 3 == 0)).collect();
        let rows: Vec<(&[f64], bool)> = rows.iter().map(|(row, label)| (row.as_slice(), *label)).collect();
        let examples = examples(&rows);
        let fitted = examples.fit(5, 20, 7, 1);
        assert!((fitted.0.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for threads in [1, 2, 3, 16] {
            assert_eq!(examples.fit(5, 20, 7, threads), fitted, "{threads}");
        }
    }
}
