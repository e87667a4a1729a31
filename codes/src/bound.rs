use crate::{Error, Result};

/// A similarity of two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// `|A ∩ B| / |A ∪ B|`.
    Jaccard,
    /// `|A ∩ B| / √(|A|·|B|)`.
    Cosine,
}

impl Measure {
    /// The similarity of sets of these sizes which have so many elements in common: 0 where one is empty.
    pub fn similarity(self, a: u32, b: u32, common: u32) -> f64 {
        let (a, b, common) = (f64::from(a), f64::from(b), f64::from(common));
        if a == 0.0 || b == 0.0 {
            return 0.0;
        }
        match self {
            Self::Jaccard => common / (a + b - common),
            Self::Cosine => common / (a * b).sqrt(),
        }
    }
}

/// In how many bits the codes of two similar sets can differ: the exact filter.
///
/// Let every element set at most `l` bits, and let the code of a set be the union of the bits of its elements. Then for sets
/// `A` and `B` with a Jaccard similarity of at least `t`
///
/// > `hamming(code(A), code(B)) ≤ l · ⌊(|A| + |B|) · (1 − t) / (1 + t)⌋`.
///
/// *Proof.* A bit in which the two codes differ is set by some element of the one set and by none of the other, so by an
/// element that is in one set alone. There are `|A △ B|` of these, which set at most `l·|A △ B|` bits together; that bits of
/// several elements fall together only makes them fewer. Next, `|A △ B| = |A| + |B| − 2·|A ∩ B|`, and by
/// `|A ∪ B| = |A| + |B| − |A ∩ B|` the similarity is at least `t` just if `|A ∩ B| ≥ t·(|A| + |B|) / (1 + t)`. So
/// `|A △ B| ≤ (|A| + |B|) · (1 − t) / (1 + t)`, and being a whole number it is at most what that is rounded down. ∎
///
/// `A` and `B` are sets: a word that a sentence has twice counts once. Words that are in no codebook set `l` bits too. With
/// `l = 1` and a hash for each element this is the bitmap filter of Sandes, Teodoro and Melo (Information Systems 2020), which
/// holds for the sets of any signature. For cosine, `|A ∩ B| ≥ t·√(|A|·|B|)` takes the place of the inequality above.
///
/// ```
/// use ibid_codes::{Bound, Measure};
///
/// let bound = Bound::try_new(Measure::Jaccard, 0.8, 2)?;
/// assert_eq!(bound.distance(10, 10), Some(4)); // nine words in common, and two of two bits each that are not
/// assert_eq!(bound.distance(4, 5), Some(2)); // four words in common, exactly 0.8
/// assert_eq!(bound.distance(4, 6), None); // at most four in common, and that is too little
/// # Ok::<(), ibid_codes::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    measure: Measure,
    threshold: f64,
    per_element: u32,
}

impl Bound {
    /// The bound for similarities of at least `threshold`, above 0 and at most 1, where an element sets at most
    /// `per_element` bits.
    pub fn try_new(measure: Measure, threshold: f64, per_element: u32) -> Result<Self> {
        if threshold > 0.0 && threshold <= 1.0 {
            return Ok(Self { measure, threshold, per_element });
        }
        Err(Error::Invalid(format!("a threshold is above 0 and at most 1, not {threshold}")))
    }

    /// The highest distance that the codes of sets of these sizes can have where the sets are similar, or nothing where sets
    /// of these sizes cannot be similar. Computed for similarities as [`Measure::similarity`] rounds them, so that the filter
    /// loses nothing by rounding either.
    pub fn distance(&self, a: u32, b: u32) -> Option<u32> {
        let most = a.min(b);
        if self.measure.similarity(a, b, most) < self.threshold {
            return None;
        }
        // The fewest elements in common: the similarity only grows with them, even where it is rounded.
        let (mut low, mut high) = (0, most);
        while low < high {
            let common = low + (high - low) / 2;
            if self.measure.similarity(a, b, common) < self.threshold {
                low = common + 1;
            } else {
                high = common;
            }
        }
        let apart = (a - low).saturating_add(b - low);
        Some(self.per_element.saturating_mul(apart))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_no_wider_than_the_formula() {
        // As fractions, so that the formula is not rounded before it is rounded down.
        for (threshold, over, under) in [(0.5, 1, 3), (0.75, 1, 7), (0.25, 3, 5), (1.0, 0, 2)] {
            let bound = Bound::try_new(Measure::Jaccard, threshold, 5).unwrap();
            for a in 1..50 {
                for b in 1..50 {
                    let apart = (a + b) * over / under;
                    match bound.distance(a, b) {
                        // Two sets differ in an even number of elements just if the sum of their sizes is even.
                        Some(distance) => {
                            assert_eq!(distance, 5 * (apart - (a + b + apart) % 2), "{a} {b} {threshold}")
                        }
                        None => assert!(f64::from(a.min(b)) < threshold * f64::from(a.max(b))),
                    }
                }
            }
        }
    }

    #[test]
    fn no_similar_sets_exceed_it_and_some_reach_it() {
        for measure in [Measure::Jaccard, Measure::Cosine] {
            for percent in 1..=100 {
                let threshold = f64::from(percent) / 100.0;
                let bound = Bound::try_new(measure, threshold, 1).unwrap();
                for a in 0..30 {
                    for b in 0..30 {
                        let similar = (0..=a.min(b)).filter(|common| measure.similarity(a, b, *common) >= threshold);
                        assert_eq!(bound.distance(a, b), similar.map(|common| a + b - 2 * common).max());
                    }
                }
            }
        }
    }

    #[test]
    fn huge_sets_and_wrong_thresholds() {
        let bound = Bound::try_new(Measure::Jaccard, 0.001, u32::MAX).unwrap();
        assert_eq!(bound.distance(u32::MAX, u32::MAX), Some(u32::MAX));
        assert_eq!(bound.distance(0, 0), None);
        for threshold in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Bound::try_new(Measure::Cosine, threshold, 1).is_err());
        }
    }
}
