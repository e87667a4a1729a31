//! Postings lists: the entries that show an element, newest first, by the hash of the element.

use std::collections::VecDeque;

/// The number of postings that the first segment holds.
const FIRST_CAPACITY: usize = 1 << 16;

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// Postings lists of elements that are hashes, as chains in buckets. A search for an element may also find entries of
/// other elements, but it misses none of its own.
///
/// The postings are in segments, in the order of entries, and each segment is large enough that there are few. Entries
/// are removed oldest first only, so that a segment is removed as a whole.
#[derive(Debug, Default)]
pub(super) struct Postings {
    segments: VecDeque<Segment>,
    postings: usize,
}

#[derive(Debug)]
struct Segment {
    /// The last posting of each bucket. The number of buckets is a power of two.
    heads: Vec<u32>,
    /// The number of postings of each bucket, up to the largest that fits.
    counts: Vec<u16>,
    /// An entry, and the posting of the same bucket before it.
    postings: Vec<(u32, u32)>,
    /// The highest entry.
    last: u32,
}

impl Segment {
    fn of_capacity(capacity: usize) -> Self {
        Self { heads: vec![NONE; capacity], counts: vec![0; capacity], postings: Vec::with_capacity(capacity), last: 0 }
    }

    fn bucket(&self, element: u64) -> usize {
        // Elements are hashes, so their low bits are as good as any.
        usize::try_from(element & (self.heads.len() as u64 - 1)).unwrap_or(0)
    }
}

impl Postings {
    /// Adds elements of an entry, which is not before those that were added.
    pub(super) fn add(&mut self, entry: u32, elements: impl IntoIterator<Item = u64>) {
        for element in elements {
            if self.segments.back().is_none_or(|segment| segment.postings.len() == segment.heads.len()) {
                let capacity = (self.postings / 8).next_power_of_two().max(FIRST_CAPACITY);
                self.segments.push_back(Segment::of_capacity(capacity));
            }
            let Some(segment) = self.segments.back_mut() else { continue };
            let bucket = segment.bucket(element);
            let Ok(posting) = u32::try_from(segment.postings.len()) else { continue };
            segment.postings.push((entry, std::mem::replace(&mut segment.heads[bucket], posting)));
            segment.counts[bucket] = segment.counts[bucket].saturating_add(1);
            segment.last = entry;
            self.postings += 1;
        }
    }

    /// Returns the approximate number of entries that show an element.
    pub(super) fn count(&self, element: u64) -> u32 {
        self.segments.iter().map(|segment| u32::from(segment.counts[segment.bucket(element)])).sum()
    }

    /// Calls `found` with each entry from `first` on that shows an element, and with some that do not.
    pub(super) fn each(&self, element: u64, first: u32, mut found: impl FnMut(u32)) {
        for segment in &self.segments {
            let mut posting = segment.heads[segment.bucket(element)];
            while let Some(&(entry, before)) = segment.postings.get(posting as usize) {
                if entry < first {
                    break;
                }
                found(entry);
                posting = before;
            }
        }
    }

    /// Forgets entries before `first`, as far as whole segments go.
    pub(super) fn forget(&mut self, first: u32) {
        while let Some(segment) = self.segments.pop_front_if(|segment| segment.last < first) {
            self.postings -= segment.postings.len();
        }
    }

    /// Returns the size of the postings in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |segment: &Segment| segment.heads.len() * 6 + segment.postings.capacity() * 8;
        self.segments.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_an_element_is_found_until_it_is_forgotten() {
        let mut postings = Postings::default();
        let elements = |entry: u32| (0..40).map(move |i| u64::from(entry * 7 + i * i) % 1000);
        for entry in 0..9000 {
            postings.add(entry, elements(entry));
        }
        assert!(postings.segments.len() > 2);
        for first in [0, 10, 4500, 8990, 9000] {
            postings.forget(first);
            for element in (0..1000).step_by(37) {
                let mut found = Vec::new();
                postings.each(element, first, |entry| found.push(entry));
                let expected = (first..9000)
                    .flat_map(|entry| elements(entry).filter(|e| *e == element).map(|_| entry).collect::<Vec<_>>());
                for entry in expected {
                    assert!(found.contains(&entry), "{entry} of {element}");
                }
                assert!(found.iter().all(|entry| *entry >= first));
                assert!(postings.count(element) as usize >= found.len());
            }
        }
        assert!(postings.segments.len() <= 1, "{}", postings.segments.len());
    }
}
