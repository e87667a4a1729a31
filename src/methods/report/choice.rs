//! The choice of the rows that a report has room for, in their order and with the surrounding text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::rows::Place;

/// The number of characters that a report shows before and after the places of a match. Places of groups have none.
pub(super) const CONTEXT: i64 = 300;

/// The approximate bytes of a row and of a document without their texts.
const ROW: i64 = 200;
const DOCUMENT: i64 = 120;

/// The documents that a report has, and the parts of their texts.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// The side and the id of each.
    pub(super) names: Vec<(i64, String)>,
    numbers: HashMap<(i64, String), usize>,
    parts: Vec<Parts>,
}

/// Parts of a text that do not touch each other: a map from their starts to their ends, in characters.
#[derive(Debug, Default, Clone)]
pub(super) struct Parts(BTreeMap<i64, i64>);

impl Parts {
    /// Returns the parts that overlap or touch a range.
    fn touching(&self, range: &Range<i64>) -> Vec<(i64, i64)> {
        let before = self.0.range(..range.start).next_back().filter(|(_, end)| **end >= range.start);
        let within = self.0.range(range.start..=range.end);
        before.into_iter().chain(within).map(|(start, end)| (*start, *end)).collect()
    }

    /// Returns how many characters of a range are in none of the parts.
    fn missing(&self, range: &Range<i64>) -> i64 {
        let there = |(start, end): (i64, i64)| (end.min(range.end) - start.max(range.start)).max(0);
        range.end - range.start - self.touching(range).into_iter().map(there).sum::<i64>()
    }

    fn add(&mut self, range: &Range<i64>) {
        let (mut start, mut end) = (range.start, range.end);
        for (from, to) in self.touching(range) {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Returns the parts in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<i64>> {
        self.0.iter().map(|(start, end)| *start..*end)
    }
}

impl Documents {
    /// Returns the number of a document, which is assigned at its first use.
    pub(super) fn number(&mut self, side: i64, id: &str) -> usize {
        if let Some(number) = self.numbers.get(&(side, id.to_owned())) {
            return *number;
        }
        let number = self.names.len();
        self.names.push((side, id.to_owned()));
        self.numbers.insert((side, id.to_owned()), number);
        self.parts.push(Parts::default());
        number
    }

    /// Adds the text of places, with `context` characters around them, if there is room for it. Returns the room that
    /// is left, or `None` if there was too little.
    pub(super) fn take(&mut self, places: &[&Place], context: i64, room: i64) -> Option<i64> {
        let around = |place: &Place| (place.characters.start - context).max(0)..place.characters.end + context;
        let mut needed = ROW;
        for place in places {
            let parts = &self.parts[place.document];
            needed += parts.missing(&around(place)) + if parts.0.is_empty() { DOCUMENT } else { 0 };
        }
        if needed > room {
            return None;
        }
        for place in places {
            self.parts[place.document].add(&around(place));
        }
        Some(room - needed)
    }

    /// Removes all parts that were added.
    pub(super) fn clear(&mut self) {
        self.parts.iter_mut().for_each(|parts| parts.0.clear());
    }

    /// Returns the parts of the text of a document.
    pub(super) fn parts(&self, document: usize) -> &Parts {
        &self.parts[document]
    }

    /// Returns true if the report has text of a document.
    pub(super) fn has(&self, document: usize) -> bool {
        !self.parts[document].0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_are_one() {
        let mut parts = Parts::default();
        for range in [10..20, 30..40, 50..60] {
            assert_eq!(parts.missing(&range), 10);
            parts.add(&range);
        }
        assert_eq!(parts.missing(&(15..55)), 20);
        parts.add(&(20..30));
        assert_eq!(parts.iter().collect::<Vec<_>>(), [10..40, 50..60]);
        parts.add(&(0..100));
        assert!(parts.iter().eq(std::iter::once(0..100)));
        assert_eq!(parts.missing(&(99..101)), 1);
    }

    #[test]
    fn text_that_is_there_needs_no_room() {
        let mut documents = Documents::default();
        let [a, b] = ["a", "b"].map(|id| documents.number(0, id));
        let place = |document, characters| Place { document, characters };
        let left = documents.take(&[&place(a, 0..1000), &place(b, 0..1000)], 300, 10_000).unwrap();
        assert_eq!(left, 10_000 - ROW - 2 * (1300 + DOCUMENT));
        assert_eq!(documents.take(&[&place(a, 0..900), &place(b, 100..1000)], 300, left), Some(left - ROW));
        assert_eq!(documents.take(&[&place(a, 5000..9000)], 0, 1000), None);
    }
}
