//! Detection of document ids that occur twice.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

/// The longest id, in bytes. Each sentence of a document repeats the id in its row, and there may be millions of
/// sentences.
pub(crate) const LONGEST_ID: usize = 16 << 10;

/// The ids so far, as hashes: at most 18 bytes an id, whatever its length.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    seen: HashSet<u64>,
}

impl Ids {
    /// Returns false if the id, or very rarely another id of the same hash, has been added before.
    pub(crate) fn add(&mut self, id: &str) -> bool {
        self.seen.insert(xxh3_64(id.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_there_before_is_refused() {
        let mut ids = Ids::default();
        assert!(["a", "b", "", "A"].into_iter().all(|id| ids.add(id)));
        assert!(!ids.add("b"));
    }
}
