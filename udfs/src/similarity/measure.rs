use std::fmt;
use std::str::FromStr;

use datafusion_common::{DataFusionError, Result, plan_err};
use datafusion_expr::ScalarUDF;

use super::set_similarity::SetSimilarity;

/// A similarity of two sets `a` and `b` with `o` common elements.
///
/// This type is the only place that computes a value, and every bound that a threshold implies is derived from that
/// computation, rounding included. So a pair at exactly the threshold is found, and no epsilon is needed:
/// floating-point division and square root round monotonically, which makes the value for the most similar partner
/// possible an upper bound of the value for any partner, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// `o / |a ∪ b|`
    Jaccard,
    /// `o / |a|`: the share of `a` that is in `b`
    Containment,
    /// `o`
    Overlap,
    /// `2 o / (|a| + |b|)`
    Dice,
    /// `o / √(|a| |b|)`
    Cosine,
}

/// The argument of a similarity that a set is given as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first argument.
    Left,
    /// The second argument.
    Right,
}

impl Side {
    /// Returns the other argument.
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl Measure {
    /// All measures.
    pub const ALL: [Self; 5] = [Self::Jaccard, Self::Containment, Self::Overlap, Self::Dice, Self::Cosine];

    /// Returns the measure that `function` computes, if it is one of this crate's similarities.
    pub fn of(function: &ScalarUDF) -> Option<Self> {
        Some(function.inner().downcast_ref::<SetSimilarity>()?.measure)
    }

    /// Returns the similarity of two sets of `a` and `b` elements, `o` of them common; `None` where it is 0/0.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a set has fewer than 2^31 elements, and products below 2^53 are exact"
    )]
    pub fn value(self, o: usize, a: usize, b: usize) -> Option<f64> {
        let (numerator, denominator) = match self {
            Self::Jaccard => (o as f64, (a + b - o) as f64),
            Self::Containment => (o as f64, a as f64),
            Self::Overlap => (o as f64, 1.0),
            Self::Dice => ((2 * o) as f64, (a + b) as f64),
            Self::Cosine => (o as f64, (a as f64 * b as f64).sqrt()),
        };
        (denominator > 0.0).then(|| numerator / denominator)
    }

    /// Returns the highest similarity that a set of `n` elements on `side` can have with any set when they share `o`
    /// elements.
    fn best(self, side: Side, o: usize, n: usize) -> Option<f64> {
        match side {
            Side::Left => self.value(o, n, o),
            Side::Right => self.value(o, o, n),
        }
    }

    /// Returns the least number of elements of a set of `n` that a partner must share for a similarity of `threshold`
    /// or more: `n + 1` where no partner can reach it. `threshold` is above 0.
    pub fn required_overlap(self, side: Side, n: usize, threshold: f64) -> usize {
        let reaches = |o: usize| self.best(side, o, n).is_some_and(|best| best >= threshold);
        // `best` never falls as `o` grows, so the least `o` that reaches the threshold is found by halving.
        let (mut low, mut high) = (1, n + 1);
        while low < high {
            let middle = low.midpoint(high);
            if reaches(middle) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Returns the number of elements that a set of `n` must show to its partners so that none is missed (the prefix
    /// filter; Chaudhuri, Ganti, Kaushik 2006). A partner shares at least [`required_overlap`](Self::required_overlap)
    /// elements, so it shares one of any `n − required + 1`.
    pub fn prefix_length(self, side: Side, n: usize, threshold: f64) -> usize {
        (n + 1).saturating_sub(self.required_overlap(side, n, threshold))
    }

    /// Returns the number of elements that two sets of `a` and `b` elements must share to reach `threshold`; `None`
    /// where they cannot.
    pub fn required_of_pair(self, a: usize, b: usize, threshold: f64) -> Option<usize> {
        let reaches = |o: usize| self.value(o, a, b).is_some_and(|value| value >= threshold);
        let (mut low, mut high) = (1, a.min(b));
        if high == 0 || !reaches(high) {
            return None;
        }
        // The number is mostly the one that arithmetic gives; rounding may make it a neighbour.
        let near = self.about_required(a, b, threshold).clamp(low, high);
        if reaches(near) {
            high = near;
            low = if near > 1 && !reaches(near - 1) { near } else { low };
        } else {
            low = near + 1;
        }
        while low < high {
            let middle = low.midpoint(high);
            if reaches(middle) { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }

    /// Returns the most elements that only one of two sets of `a` and `b` elements can have where they reach
    /// `threshold`; `None` where they cannot.
    pub fn most_apart(self, a: usize, b: usize, threshold: f64) -> Option<usize> {
        Some(a + b - 2 * self.required_of_pair(a, b, threshold)?)
    }

    /// Returns the number of elements that two sets of `a` and `b` elements must share to reach `threshold`, but for
    /// rounding.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a first guess, which is checked"
    )]
    fn about_required(self, a: usize, b: usize, threshold: f64) -> usize {
        let (a, b) = (a as f64, b as f64);
        let required = match self {
            Self::Jaccard => threshold / (1.0 + threshold) * (a + b),
            Self::Containment => threshold * a,
            Self::Overlap => threshold,
            Self::Dice => threshold * (a + b) / 2.0,
            Self::Cosine => threshold * (a * b).sqrt(),
        };
        required.ceil() as usize
    }

    /// Returns true if the order of the two sets makes no difference.
    pub fn is_symmetric(self) -> bool {
        self != Self::Containment
    }

    /// Returns true if sets of `a` and `b` elements can reach `threshold` at all (the length filter; PDC-MR section
    /// 4.2).
    pub fn lengths_can_match(self, a: usize, b: usize, threshold: f64) -> bool {
        self.value(a.min(b), a, b).is_some_and(|best| best >= threshold)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jaccard => "jaccard",
            Self::Containment => "containment",
            Self::Overlap => "overlap",
            Self::Dice => "dice",
            Self::Cosine => "cosine",
        })
    }
}

impl FromStr for Measure {
    type Err = DataFusionError;

    fn from_str(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|measure| measure.to_string() == name) {
            Some(measure) => Ok(measure),
            None => plan_err!(
                "unknown similarity '{name}'; known are {}",
                Self::ALL.map(|measure| measure.to_string()).join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that every pair of sizes and overlaps that reaches the threshold passes both filters: all sizes up to 200
    /// for thresholds in hundredths, among them 14/25 (0.56 · 25 is above 14 in doubles) and sizes 30 and 33 at 0.8.
    #[test]
    fn no_filter_loses_a_pair_at_the_threshold() {
        for measure in Measure::ALL {
            for hundredths in 1..=100_u32 {
                let threshold = match measure {
                    Measure::Overlap => f64::from(hundredths),
                    _ => f64::from(hundredths) / 100.0,
                };
                for a in 1..=200 {
                    let left = measure.required_overlap(Side::Left, a, threshold);
                    for b in 1..=200 {
                        let reaches = |o| measure.value(o, a, b).is_some_and(|v| v >= threshold);
                        let most = a.min(b);
                        assert_eq!(measure.lengths_can_match(a, b, threshold), reaches(most));
                        if !reaches(most) {
                            assert_eq!(measure.required_of_pair(a, b, threshold), None);
                            continue;
                        }
                        let least = measure.required_of_pair(a, b, threshold).unwrap();
                        assert!(reaches(least) && !reaches(least - 1), "{measure} {threshold} {a} {b}: {least}");
                        let right = measure.required_overlap(Side::Right, b, threshold);
                        assert!(left.max(right) <= least, "{measure} {threshold} {a} {b}: {left} {right} > {least}");
                    }
                }
            }
        }
    }

    /// Checks LEARNED-CODES' exact filter, with thresholds whose fractions are not rounded.
    #[test]
    fn no_more_is_apart_than_the_formula_says() {
        for (threshold, over, under) in [(0.5, 1, 3), (0.75, 1, 7), (0.25, 3, 5), (1.0, 0, 2)] {
            for a in 1..60 {
                for b in 1..60 {
                    let apart: usize = (a + b) * over / under;
                    // Two sets differ in an even number of elements exactly if the sum of their sizes is even.
                    let possible = apart.saturating_sub((a + b + apart) % 2);
                    let can_match = a.min(b) * (under + over) >= a.max(b) * (under - over);
                    assert_eq!(Measure::Jaccard.most_apart(a, b, threshold), can_match.then_some(possible), "{a} {b}");
                }
            }
        }
        assert_eq!(Measure::Jaccard.most_apart(30, 33, 0.8), Some(7));
        assert_eq!(Measure::Jaccard.most_apart(0, 0, 0.8), None);
    }

    #[test]
    fn the_prefix_is_no_longer_than_it_must_be() {
        let prefix = |n, t| Measure::Jaccard.prefix_length(Side::Left, n, t);
        assert_eq!(prefix(10, 0.8), 3);
        assert_eq!(prefix(25, 0.56), 12);
        assert_eq!(prefix(10, 1.0), 1);
        assert_eq!(prefix(10, 1.1), 0);
        assert_eq!(prefix(0, 0.5), 0);
        assert_eq!(Measure::Overlap.prefix_length(Side::Left, 10, 3.0), 8);
        assert_eq!(Measure::Overlap.prefix_length(Side::Left, 2, 3.0), 0);
        assert_eq!(Measure::Containment.prefix_length(Side::Right, 10, 0.8), 10);
    }
}
