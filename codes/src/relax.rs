//! The codes of words as an optimisation problem.
//!
//! The unknowns are `y(i,k)` of 0 or 1, for words `i` and bits `k`, with `Σ_k y(i,k) = l`. They have to make
//! `Σ_{i<j} s(i,j)·‖y(i) − y(j)‖²` small while every bit bears the same load `Σ_i w(i)·y(i,k)`. Relaxed to `0 ≤ y ≤ 1`
//! this has the trivial solution that all `y(i,k)` are `l/m`: its objective is 0, and nothing can be read off it. But
//! whole codes have `‖y(i)‖² = l`, so that their objective is `Σ_{i<j} s(i,j)·2·(l − ⟨y(i), y(j)⟩)`. This form is
//! relaxed instead: it is the same problem on whole codes, and its solutions are whole as far as the loads permit.
//!
//! A log barrier keeps `y` inside: `½·Σ_{i,j} s(i,j)·⟨y(i), y(j)⟩ + μ·Σ (log y(i,k) + log(1 − y(i,k)))` is maximised,
//! for ever smaller `μ`. The sum also has the pairs of a word with itself, `s(i,i) = 1`, which are constant on whole
//! codes and make its first term convex, as `s` is a matrix of scalar products of unit vectors. So the tangent of that
//! term is nowhere above it, and a step to the optimum of the tangent `Σ g(i,k)·y(i,k)` and the barrier never makes
//! things worse. With multipliers `α` of the words and `β` of the bits that optimum satisfies `c + μ/y − μ/(1 − y) = 0`
//! for `c = g(i,k) − α(i) − w(i)·β(k)`, which [`inside`] solves. The multipliers have to make the sums right. They are
//! found in turns, each by a search for the zero of a decreasing function.
//!
//! While `μ` is large the even solution is the only one. It stops being stable where `μ` passes a value that depends on
//! the largest eigenvalue of `s`. The search starts there, from a point that a seed moves away a little from the even
//! one.
//!
//! Nothing but sums in a fixed order, products, quotients and square roots is computed, so the result is the same bits for any
//! number of threads and on any machine.

use std::num::NonZero;

use crate::cooccurrence::Cooccurrence;
use crate::random::split_mix;
use crate::threads::{ROWS, in_turn};

/// The number of values that the barrier takes.
const BARRIERS: usize = 100;
/// The factor from each value of the barrier to the next.
const SHRINK: f64 = 0.95;
/// The most times that the multipliers are corrected for one step.
const SWEEPS: usize = 12;
/// The greatest relative error of the load of a bit at which the multipliers are not corrected any more.
const LOAD_OFF: f64 = 0.01;
/// The greatest relative error of each other sum.
const SUM_OFF: f64 = 1e-7;
/// The number of steps of the search for the largest eigenvalue.
const POWERS: usize = 60;

/// The problem for which codes are sought.
pub(crate) struct Problem<'a> {
    pub(crate) similarities: &'a Cooccurrence,
    /// The amount that each word adds to the load of the bits that it sets: not negative, and their sum is 1.
    pub(crate) weights: &'a [f64],
    /// The number of bits of a code.
    pub(crate) bits: usize,
    /// The number of bits that a word sets.
    pub(crate) per_word: u32,
}

/// Codes that need not be whole.
pub(crate) struct Relaxed {
    /// The share that each word has of each bit, from 0 to 1, word by word.
    pub(crate) shares: Vec<f64>,
    /// The number of steps that were made.
    pub(crate) steps: usize,
}

impl Problem<'_> {
    /// Solves the problem; `None` where all solutions are as good: where no words meet, or every word has all bits.
    pub(crate) fn relax(&self, seed: u64, threads: NonZero<usize>) -> Option<Relaxed> {
        let (words, bits) = (self.similarities.words(), self.bits);
        let even = f64::from(self.per_word) / bits as f64;
        if self.similarities.pairs() == 0 || even >= 1.0 {
            return None;
        }
        let largest = self.largest_eigenvalue(seed, threads);
        // The value at which the barrier is about as much curved at the even solution as the objective is.
        let mut barrier = 1.1 * largest / ((even * even).recip() + ((1.0 - even) * (1.0 - even)).recip());
        let mut shares: Vec<f64> = (0..words * bits).map(|i| even * (1.0 + 0.01 * random(seed, i as u64))).collect();
        let mut gains = vec![0.0; words * bits];
        let mut multipliers = Multipliers { of_words: vec![0.0; words], of_bits: vec![0.0; bits] };
        for _ in 0..BARRIERS {
            self.similarities_times(&shares, bits, &mut gains, threads);
            self.step(&gains, barrier, &mut multipliers, &mut shares, threads);
            barrier *= SHRINK;
        }
        Some(Relaxed { shares, steps: BARRIERS })
    }

    /// Returns the bytes of memory that it takes to solve the problem.
    pub(crate) fn bytes(&self) -> usize {
        2 * self.similarities.words() * self.bits * size_of::<f64>()
    }

    /// Returns the largest eigenvalue of the similarities in the space of changes that keep the loads as they are.
    fn largest_eigenvalue(&self, seed: u64, threads: NonZero<usize>) -> f64 {
        let words = self.similarities.words();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let of_weights = dot(self.weights, self.weights);
        let mut vector: Vec<f64> = (0..words as u64).map(|word| random(!seed, word)).collect();
        let mut product = vec![0.0; words];
        let mut largest = 0.0;
        for _ in 0..POWERS {
            let along = dot(&vector, self.weights) / of_weights;
            vector.iter_mut().zip(self.weights).for_each(|(number, weight)| *number -= along * weight);
            let length = dot(&vector, &vector).sqrt();
            if length <= f64::MIN_POSITIVE {
                return 0.0;
            }
            vector.iter_mut().for_each(|number| *number /= length);
            self.similarities_times(&vector, 1, &mut product, threads);
            largest = dot(&vector, &product);
            std::mem::swap(&mut vector, &mut product);
        }
        largest
    }

    /// Computes the product of the similarities and a matrix of `columns` columns.
    fn similarities_times(&self, matrix: &[f64], columns: usize, product: &mut [f64], threads: NonZero<usize>) {
        in_turn(threads, product.chunks_mut(ROWS * columns).enumerate(), |(chunk, rows)| {
            for (word, row) in (chunk * ROWS..).zip(rows.chunks_mut(columns)) {
                row.copy_from_slice(&matrix[word * columns..][..columns]);
                for (other, similarity) in self.similarities.row(word) {
                    for (sum, number) in row.iter_mut().zip(&matrix[other * columns..]) {
                        *sum += similarity * number;
                    }
                }
            }
        });
    }

    /// Finds the best point for this barrier, where the derivatives of the objective are these gains.
    fn step(
        &self,
        gains: &[f64],
        barrier: f64,
        multipliers: &mut Multipliers,
        shares: &mut [f64],
        threads: NonZero<usize>,
    ) {
        let bits = self.bits;
        let words = self.weights.len();
        let load = f64::from(self.per_word) / bits as f64;
        for sweep in 1..=SWEEPS {
            let loads = self.balance_words(gains, barrier, multipliers, shares, threads);
            if sweep == SWEEPS || loads.iter().all(|of_bit| (of_bit - load).abs() <= LOAD_OFF * load) {
                return;
            }
            let before = &*multipliers;
            let of_bits = in_turn(threads, 0..bits, |bit| {
                let sum = |multiplier: f64| {
                    (0..words).fold((0.0, 0.0), |(sum, slope), word| {
                        let weight = self.weights[word];
                        let point = gains[word * bits + bit] - before.of_words[word] - weight * multiplier;
                        let (share, change) = inside(point, barrier);
                        (sum + weight * share, slope + weight * weight * change)
                    })
                };
                // A weight is about one over the number of words.
                find(sum, load, before.of_bits[bit], barrier * words as f64)
            });
            multipliers.of_bits = of_bits;
        }
    }

    /// Finds the multipliers of the words for the given ones of the bits, sets the shares by both, and returns the
    /// loads.
    fn balance_words(
        &self,
        gains: &[f64],
        barrier: f64,
        multipliers: &mut Multipliers,
        shares: &mut [f64],
        threads: NonZero<usize>,
    ) -> Vec<f64> {
        let bits = self.bits;
        let before = &*multipliers;
        let chunks = in_turn(threads, shares.chunks_mut(ROWS * bits).enumerate(), |(chunk, rows)| {
            let mut found = Vec::with_capacity(ROWS);
            let mut loads = vec![0.0; bits];
            let mut points = vec![0.0; bits];
            for (word, row) in (chunk * ROWS..).zip(rows.chunks_mut(bits)) {
                let weight = self.weights[word];
                for ((point, gain), of_bit) in points.iter_mut().zip(&gains[word * bits..]).zip(&before.of_bits) {
                    *point = gain - weight * of_bit;
                }
                let sum = |multiplier: f64| {
                    points.iter().fold((0.0, 0.0), |(sum, slope), point| {
                        let (share, change) = inside(point - multiplier, barrier);
                        (sum + share, slope + change)
                    })
                };
                let multiplier = find(sum, f64::from(self.per_word), before.of_words[word], barrier);
                for ((share, point), load) in row.iter_mut().zip(&points).zip(&mut loads) {
                    *share = inside(point - multiplier, barrier).0;
                    *load += weight * *share;
                }
                found.push(multiplier);
            }
            (found, loads)
        });
        let mut sums = vec![0.0; bits];
        multipliers.of_words.clear();
        for (found, loads) in chunks {
            multipliers.of_words.extend(found);
            sums.iter_mut().zip(loads).for_each(|(sum, load)| *sum += load);
        }
        sums
    }
}

/// The Lagrange multipliers of the constraints.
struct Multipliers {
    of_words: Vec<f64>,
    of_bits: Vec<f64>,
}

/// Returns the `y` between 0 and 1 that solves `c + μ/y − μ/(1 − y) = 0`, and how fast it grows with `c`.
fn inside(c: f64, barrier: f64) -> (f64, f64) {
    let root = (c * c + 4.0 * barrier * barrier).sqrt();
    let sum = root + 2.0 * barrier;
    (0.5 + c / (2.0 * sum), barrier / (root * sum))
}

/// Finds the point where a decreasing function has this value. `function` returns its value and how fast it falls. The
/// search starts at `start`, with steps of about `step`.
fn find(function: impl Fn(f64) -> (f64, f64), value: f64, start: f64, step: f64) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut at, mut step) = (start, step);
    for _ in 0..100 {
        let (sum, slope) = function(at);
        let off = sum - value;
        if off.abs() <= SUM_OFF * value {
            break;
        }
        if off > 0.0 {
            low = at;
        } else {
            high = at;
        }
        let newton = at + off / slope;
        at = if low.is_finite() && high.is_finite() {
            if newton > low && newton < high { newton } else { f64::midpoint(low, high) }
        } else if (newton - at).abs() < step {
            newton
        } else {
            let far = step.copysign(off);
            step *= 4.0;
            at + far
        };
    }
    at
}

/// Returns a number from −½ to ½.
fn random(seed: u64, i: u64) -> f64 {
    (split_mix(seed, i) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::{Memory, no_limit};
    use crate::sample::Sample;

    const ONE: NonZero<usize> = NonZero::<usize>::MIN;

    fn cooccurrence(words: usize, sentences: &[Vec<u32>]) -> Cooccurrence {
        let sample = Sample::new(sentences.iter().map(Vec::as_slice), 0);
        Cooccurrence::count(&sample, words, ONE, &Memory::new(&no_limit)).unwrap()
    }

    /// Returns for each word the bit that it has most of.
    fn rounded(relaxed: &Relaxed, bits: usize) -> Vec<usize> {
        let most = |row: &[f64]| (0..bits).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
        relaxed.shares.chunks(bits).map(most).collect()
    }

    #[test]
    fn the_equation_is_solved() {
        for c in [-1e6, -3.0, -1e-9, 0.0, 0.5, 1e5] {
            for barrier in [1e-6, 0.1, 7.0] {
                let (y, slope) = inside(c, barrier);
                assert!((0.0..=1.0).contains(&y));
                assert!(
                    (c * y * (1.0 - y) + barrier * (1.0 - 2.0 * y)).abs() < 1e-9 * (1.0 + c.abs()),
                    "{c} {barrier}"
                );
                let h = 1e-4 * barrier;
                let difference = (inside(c + h, barrier).0 - inside(c - h, barrier).0) / (2.0 * h);
                assert!((slope - difference).abs() <= 1e-4 * slope + 1e-6, "{c} {barrier} {slope} {difference}");
            }
        }
    }

    #[test]
    fn words_of_a_group_share_a_bit_and_groups_do_not() {
        for seed in 0..20 {
            // Six groups of four words that meet often, and now and then meet others.
            let group = |group: u32| (0..4).map(move |word| group * 4 + word);
            let mut sentences: Vec<Vec<u32>> = Vec::new();
            for i in 0..6 {
                sentences.extend(std::iter::repeat_n(group(i).collect(), 10));
                sentences.push(group(i).take(1).chain(group(i + 1).take(1)).filter(|word| *word < 24).collect());
            }
            let similarities = cooccurrence(24, &sentences);
            let weights = [1.0 / 24.0; 24];
            let problem = Problem { similarities: &similarities, weights: &weights, bits: 6, per_word: 1 };
            let codes = rounded(&problem.relax(seed, ONE).unwrap(), 6);
            let mut used: Vec<usize> = codes.chunks(4).map(|of_group| of_group[0]).collect();
            assert!(
                codes.chunks(4).all(|of_group| of_group.iter().all(|bit| *bit == of_group[0])),
                "{seed}: {codes:?}"
            );
            used.sort_unstable();
            assert_eq!(used, [0, 1, 2, 3, 4, 5]);
        }
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing_to_find() {
        for (words, sentences) in [(0, vec![]), (1, vec![vec![0]]), (3, vec![vec![0], vec![1]])] {
            let similarities = cooccurrence(words, &sentences);
            let weights = vec![1.0 / words as f64; words];
            let problem = Problem { similarities: &similarities, weights: &weights, bits: 32, per_word: 2 };
            assert!(problem.relax(1, ONE).is_none());
        }
    }

    #[test]
    fn rounded_solutions_are_nearly_as_good_as_the_best_of_all() {
        let sizes = |code: &[usize]| {
            let mut sizes: Vec<usize> =
                (0..3).map(|bit| code.iter().filter(|of_word| **of_word == bit).count()).collect();
            sizes.sort_unstable();
            sizes
        };
        let (mut found, mut least, mut usual) = (0.0, 0.0, 0.0);
        for seed in 0..40 {
            // Words meet by chance alone, which leaves little to find.
            let sentences: Vec<Vec<u32>> = (0..30)
                .map(|sentence| (0..9).filter(move |word| split_mix(seed, sentence * 9 + word).is_multiple_of(3)))
                .map(|sentence| sentence.map(|word| u32::try_from(word).unwrap()).collect())
                .collect();
            let similarities = cooccurrence(9, &sentences);
            let problem = Problem { similarities: &similarities, weights: &[1.0 / 9.0; 9], bits: 3, per_word: 1 };
            let objective = |code: &[usize]| similarities.sum(|i, j| if code[i] == code[j] { 0.0 } else { 2.0 });
            let code = rounded(&problem.relax(seed, ONE).unwrap(), 3);
            let all =
                (0..3_usize.pow(9)).map(|number| (0..9).map(|word| number / 3_usize.pow(word) % 3).collect::<Vec<_>>());
            let others: Vec<f64> =
                all.filter(|other| sizes(other) == sizes(&code)).map(|other| objective(&other)).collect();
            found += objective(&code);
            least += others.iter().copied().fold(f64::INFINITY, f64::min);
            usual += others.iter().sum::<f64>() / others.len() as f64;
        }
        assert!(found - least <= 0.15 * (usual - least), "{found} where {least} is possible and {usual} usual");
    }

    /// Compares the result with the medians and the best of 12 starts, as tests/slsqp.py prints them. There all loads
    /// are the same; here they may be off by a hundredth.
    #[test]
    fn as_good_as_a_general_optimiser() {
        let slsqp = [
            (55.564, 56.815),
            (49.616, 50.599),
            (52.167, 52.651),
            (50.173, 51.502),
            (51.092, 52.445),
            (47.759, 48.936),
        ];
        let (mut ours, mut best) = (0.0, 0.0);
        for (number, (of_median, of_best)) in (0_u64..).zip(slsqp) {
            let stands = |sentence: u64, word: u64| {
                let of_16 = if word % 6 == sentence % 6 { 6 } else { 1 };
                split_mix(number, sentence * 24 + word) % 16 < of_16
            };
            let words = |sentence| (0..24_u32).filter(move |word| stands(sentence, u64::from(*word))).collect();
            let sentences: Vec<Vec<u32>> = (0..60).map(words).collect();
            let similarities = cooccurrence(24, &sentences);
            let counts = (0..24).map(|word| sentences.iter().filter(|sentence| sentence.contains(&word)).count());
            let roots: Vec<f64> = counts.map(|count| (count as f64).sqrt().sqrt()).collect();
            let weights: Vec<f64> = roots.iter().map(|root| root / roots.iter().sum::<f64>()).collect();
            let problem = Problem { similarities: &similarities, weights: &weights, bits: 6, per_word: 2 };
            let shares = problem.relax(1, ONE).unwrap().shares;
            let product = |i: usize, j: usize| (0..6).map(|bit| shares[i * 6 + bit] * shares[j * 6 + bit]).sum::<f64>();
            let objective = similarities.sum(product) + 0.5 * (0..24).map(|word| product(word, word)).sum::<f64>();
            assert!(objective > of_median, "problem {number}: {objective}");
            ours += objective;
            best += of_best;
        }
        assert!(ours > best, "{ours} where {best} is possible");
    }

    proptest! {
        #[test]
        fn a_step_finds_the_best_point(
            gains in prop::collection::vec(-1.0..1.0_f64, 8 * 5),
            weights in prop::collection::vec(0.1..1.0_f64, 8),
            barrier in 0.01..1.0_f64,
            moves in prop::collection::vec((0..8_usize, 0..8_usize, 0..5_usize, 0..5_usize, -0.01..0.01_f64), 20),
        ) {
            let total: f64 = weights.iter().sum();
            let weights: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            let similarities = cooccurrence(8, &[]);
            let problem = Problem { similarities: &similarities, weights: &weights, bits: 5, per_word: 2 };
            let mut shares = vec![0.0; 40];
            let mut multipliers = Multipliers { of_words: vec![0.0; 8], of_bits: vec![0.0; 5] };
            // The step is repeated, as it does not need to be exact at once.
            for _ in 0..20 {
                problem.step(&gains, barrier, &mut multipliers, &mut shares, ONE);
            }
            for word in shares.chunks(5) {
                prop_assert!((word.iter().sum::<f64>() - 2.0).abs() < 1e-5);
            }
            for bit in 0..5 {
                let load: f64 = (0..8).map(|word| weights[word] * shares[word * 5 + bit]).sum();
                prop_assert!((load / 0.4 - 1.0).abs() <= LOAD_OFF + 1e-9);
            }
            let value = |shares: &[f64]| {
                let barriers = shares.iter().map(|y| y.ln() + (1.0 - y).ln()).sum::<f64>();
                shares.iter().zip(&gains).map(|(y, gain)| y * gain).sum::<f64>() + barrier * barriers
            };
            // Two words exchange some of two bits, so that all sums stay as they are.
            for (a, b, k, l, by) in moves {
                let mut other = shares.clone();
                for (word, by) in [(a, by / weights[a]), (b, -by / weights[b])] {
                    other[word * 5 + k] += by;
                    other[word * 5 + l] -= by;
                }
                if other.iter().all(|y| (0.0..=1.0).contains(y)) {
                    prop_assert!(value(&other) <= value(&shares) + 1e-9);
                }
            }
        }
    }
}
