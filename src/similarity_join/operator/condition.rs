use std::sync::Arc;

use ibid_udfs::similarity::{Measure, Side};

use super::scan::Scan;
use crate::config::FilterOptions;

/// The condition `measure(left, right) >= threshold`, decided by the sizes of two sets and the number of elements they
/// share.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::similarity_join) struct Condition {
    pub(in crate::similarity_join) measure: Measure,
    pub(in crate::similarity_join) threshold: f64,
    /// The argument of the measure that the left input's set is.
    pub(in crate::similarity_join) left_is: Side,
    /// The condition as it was written.
    pub(in crate::similarity_join) text: String,
    pub(in crate::similarity_join) filters: FilterOptions,
    /// The codes that are compared for all pairs, if they are compared instead of looking for shared elements.
    pub(in crate::similarity_join) scan: Option<Scan>,
    /// The number of rows of a block, if the rows of a frequent element are cut into blocks; otherwise 0.
    pub(in crate::similarity_join) split_rows: usize,
}

impl Condition {
    /// Returns true if sets represent codes, which match by their distance.
    pub(super) fn is_distance(&self) -> bool {
        matches!(self.scan, Some(Scan::Codes { .. }))
    }

    /// Returns the number of elements that a set of `left` and one of `right` elements must share; `None` if they
    /// cannot match.
    pub(super) fn required(&self, left: usize, right: usize) -> Option<usize> {
        match self.left_is {
            Side::Left => self.measure.required_of_pair(left, right, self.threshold),
            Side::Right => self.measure.required_of_pair(right, left, self.threshold),
        }
    }

    /// Returns the number of elements that two sets must share if either may be the left one.
    pub(super) fn required_either_way(&self, a: usize, b: usize) -> Option<usize> {
        match (self.required(a, b), self.required(b, a)) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the number of elements that a set must show to be found as contained, for measures of containment.
    pub(super) fn contained_prefix(&self, size: usize) -> usize {
        self.prefix(Side::Left, size)
    }

    fn left_prefix(&self, size: usize) -> usize {
        self.prefix(self.left_is, size)
    }

    fn right_prefix(&self, size: usize) -> usize {
        self.prefix(self.left_is.other(), size)
    }

    fn prefix(&self, side: Side, size: usize) -> usize {
        if self.filters.prefix { self.measure.prefix_length(side, size, self.threshold) } else { size }
    }
}

/// The number of elements that the sets of an input show to the sets of the other input, or of their own in a
/// self-join. It is cached for small sets.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    condition: Arc<Condition>,
    is_left: bool,
    is_self_join: bool,
    small: Vec<usize>,
}

impl Shown {
    pub(super) fn new(condition: &Arc<Condition>, is_left: bool, is_self_join: bool) -> Self {
        Self { condition: Arc::clone(condition), is_left, is_self_join, small: Vec::new() }
    }

    /// Returns the number of elements that a set of `size` elements shows.
    pub(super) fn of(&mut self, size: usize) -> usize {
        const SMALL: usize = 256;
        if size >= SMALL {
            return self.compute(size);
        }
        while self.small.len() <= size {
            self.small.push(self.compute(self.small.len()));
        }
        self.small[size]
    }

    fn compute(&self, size: usize) -> usize {
        match (self.is_self_join, self.is_left) {
            (true, _) => self.condition.left_prefix(size).max(self.condition.right_prefix(size)),
            (false, true) => self.condition.left_prefix(size),
            (false, false) => self.condition.right_prefix(size),
        }
    }
}
