use ibid_udfs::similarity::{Measure, Side};

/// `measure(left, right) >= threshold` over sets that are known by their sizes and what they share.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::similarity_join) struct Condition {
    pub(in crate::similarity_join) measure: Measure,
    pub(in crate::similarity_join) threshold: f64,
    /// Which argument of the measure the left input's set is.
    pub(in crate::similarity_join) left_is: Side,
    /// The condition as it was written.
    pub(in crate::similarity_join) text: String,
}

impl Condition {
    /// How many elements a set of `left` and one of `right` elements must share; `None` where they cannot match.
    pub(super) fn required(&self, left: usize, right: usize) -> Option<usize> {
        match self.left_is {
            Side::Left => self.measure.required_of_pair(left, right, self.threshold),
            Side::Right => self.measure.required_of_pair(right, left, self.threshold),
        }
    }

    /// The same where either may be the left one.
    pub(super) fn required_either_way(&self, a: usize, b: usize) -> Option<usize> {
        match (self.required(a, b), self.required(b, a)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// How many elements a set shows to the sets of the other input, or of its own.
    pub(super) fn shown(&self, size: usize, is_left: bool, is_self_join: bool) -> usize {
        match (is_self_join, is_left) {
            (true, _) => self.left_prefix(size).max(self.right_prefix(size)),
            (false, true) => self.left_prefix(size),
            (false, false) => self.right_prefix(size),
        }
    }

    fn left_prefix(&self, size: usize) -> usize {
        self.measure.prefix_length(self.left_is, size, self.threshold)
    }

    fn right_prefix(&self, size: usize) -> usize {
        let side = match self.left_is {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        };
        self.measure.prefix_length(side, size, self.threshold)
    }
}
