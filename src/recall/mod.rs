//! The recall of an approximate method, on a sample that was joined exactly.

/// The number of pairs that an exact join finds for a sample of texts, and how many of them an approximate join found,
/// too: the sums over the texts of the sample. A pair of two sampled texts counts for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recall {
    pub(crate) pairs: u64,
    pub(crate) found: u64,
    pairs_squared: u64,
    pairs_found: u64,
    found_squared: u64,
    /// True if the sample is all there is.
    is_all: bool,
}

/// Bounds of 95 % of a normal distribution.
const Z: f64 = 1.959_964;

#[expect(clippy::cast_precision_loss, reason = "sums below 2^53, or rounded")]
impl Recall {
    /// Creates a recall from the sums of pairs, pairs found, pairs squared, pairs times found, and found squared.
    pub(crate) fn of_sums([pairs, found, pairs_squared, pairs_found, found_squared]: [u64; 5], is_all: bool) -> Self {
        Self { pairs, found, pairs_squared, pairs_found, found_squared, is_all }
    }

    /// Describes the recall in words.
    pub(crate) fn describe(self) -> String {
        let share = self.found as f64 / self.pairs as f64;
        match (self.pairs, self.is_all) {
            (0, _) => "there are no pairs in the sample, which says nothing of the recall".to_string(),
            (_, true) => format!("recall {share:.4}"),
            (_, false) => {
                let (low, high) = self.interval();
                format!("recall {share:.4}, with 95 % confidence from {low:.4} to {high:.4}")
            }
        }
    }

    /// Returns the interval in which the recall of all pairs lies, with a confidence of 95 %: Wilson's interval (1927)
    /// for as many independent pairs as would vary like these. Texts are sampled with all of their pairs, which are
    /// found or missed together, so the number of independent pairs is smaller than the number of pairs. It follows
    /// from the variance of the ratio of the two sums, or, if none or all were found, from how unevenly the pairs are
    /// spread over the texts (Kish 1965).
    fn interval(self) -> (f64, f64) {
        let [m, f, mm, mf, ff] =
            [self.pairs, self.found, self.pairs_squared, self.pairs_found, self.found_squared].map(|sum| sum as f64);
        let p = f / m;
        let variance = (ff - 2.0 * p * mf + p * p * mm) / (m * m);
        let n = if variance > 0.0 && p > 0.0 && p < 1.0 { p * (1.0 - p) / variance } else { m * m / mm };
        let centre = p + Z * Z / (2.0 * n);
        let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let bound = |sum: f64| (sum / (1.0 + Z * Z / n)).clamp(0.0, 1.0);
        (bound(centre - spread), bound(centre + spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_texts(texts: &[(u64, u64)]) -> Recall {
        let sum = |of: fn(&(u64, u64)) -> u64| texts.iter().map(of).sum();
        Recall::of_sums([sum(|t| t.0), sum(|t| t.1), sum(|t| t.0 * t.0), sum(|t| t.0 * t.1), sum(|t| t.1 * t.1)], false)
    }

    #[test]
    fn of_single_pairs_the_interval_is_that_of_the_textbook() {
        // Newcombe 1998, table I: 81 of 263, and 0 of 20.
        let texts: Vec<_> = (0..263).map(|i| (1, u64::from(i < 81))).collect();
        let (low, high) = of_texts(&texts).interval();
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        let (low, high) = of_texts(&[(1, 0); 20]).interval();
        assert!(low == 0.0 && (high - 0.1611).abs() < 5e-5, "{low} {high}");
    }

    #[test]
    fn pairs_that_come_together_say_less() {
        let apart: Vec<_> = (0..1000).map(|i| (1, u64::from(i % 10 > 0))).collect();
        let together: Vec<_> = (0..10).map(|i| (100, if i > 0 { 100 } else { 0 })).collect();
        let width = |texts: &[(u64, u64)]| {
            let (low, high) = of_texts(texts).interval();
            high - low
        };
        assert!(width(&together) > 5.0 * width(&apart), "{} {}", width(&together), width(&apart));
        assert!(width(&[(100, 100); 10]) > 5.0 * width(&[(1, 1); 1000]));
    }

    #[test]
    fn nothing_is_said_of_no_pairs_and_no_doubt_of_all() {
        assert!(of_texts(&[]).describe().contains("says nothing"));
        assert_eq!(Recall::of_sums([4, 3, 8, 6, 5], true).describe(), "recall 0.7500");
    }
}
