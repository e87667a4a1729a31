//! What an approximate method is known to find: its recall on a sample that was joined exactly.

/// Of the pairs that an exact join finds in a sample, how many an approximate one found, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recall {
    pub(crate) pairs: u64,
    pub(crate) found: u64,
}

/// Bounds of 95 % of a normal distribution.
const Z: f64 = 1.959_964;

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 pairs")]
impl Recall {
    /// The share of the pairs that was found; 1 of none.
    pub(crate) fn share(self) -> f64 {
        if self.pairs == 0 { 1.0 } else { self.found as f64 / self.pairs as f64 }
    }

    /// Between which shares that of all pairs lies, with a confidence of 95 % (Wilson 1927); of no pairs nothing is known.
    pub(crate) fn interval(self) -> (f64, f64) {
        if self.pairs == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.pairs as f64, self.share());
        let centre = p + Z * Z / (2.0 * n);
        let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let bound = |sum: f64| (sum / (1.0 + Z * Z / n)).clamp(0.0, 1.0);
        (bound(centre - spread), bound(centre + spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Newcombe 1998, table I: 81 of 263, and 0 of 20.
        let (low, high) = Recall { pairs: 263, found: 81 }.interval();
        assert!((low - 0.2553).abs() < 5e-5 && (high - 0.3662).abs() < 5e-5, "{low} {high}");
        let (low, high) = Recall { pairs: 20, found: 0 }.interval();
        assert!(low == 0.0 && (high - 0.1611).abs() < 5e-5, "{low} {high}");
        assert_eq!(Recall { pairs: 0, found: 0 }.interval(), (0.0, 1.0));
    }
}
