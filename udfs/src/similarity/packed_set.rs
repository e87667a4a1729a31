//! Sets as bytes. A join copies a row of a list with all its elements, but a row of a binary view as a pointer. So a
//! similarity join, which meets every set once for each element of its prefix, carries packed sets.

/// A packed list: its values, eight bytes each, least first. A list that is no set (not ascending, repeats, NULLs) has
/// a tail, so that it can be unpacked as it was: a byte for each element that is 1 if the element is not NULL, zeros to
/// the next multiple of eight, and a last byte 1.
#[derive(Clone, Copy)]
pub(crate) struct PackedSet<'a> {
    values: &'a [u8],
    valid: Option<&'a [u8]>,
}

impl<'a> PackedSet<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        if bytes.len().is_multiple_of(8) {
            return Self { values: bytes, valid: None };
        }
        // n values and n bytes of validity, rounded up, in units of eight bytes.
        let n = bytes.len() / 8 * 8 / 9;
        let (values, tail) = bytes.split_at(n * 8);
        Self { values, valid: Some(&tail[..n]) }
    }

    /// Returns true if the list is a set: ascending, without repeats and NULLs.
    pub(crate) fn is_set(self) -> bool {
        self.valid.is_none()
    }

    pub(crate) fn values(self) -> impl Iterator<Item = u64> + use<'a> {
        self.values.chunks_exact(8).map(|chunk| chunk.try_into().map_or(0, u64::from_le_bytes))
    }

    /// Returns true for each value that is not NULL.
    pub(crate) fn valid(self) -> impl Iterator<Item = bool> + use<'a> {
        let n = self.values.len() / 8;
        (0..n).map(move |i| self.valid.is_none_or(|valid| valid[i] == 1))
    }

    /// Appends a packed list to `bytes`.
    pub(crate) fn pack(values: &[u64], is_valid: impl Fn(usize) -> bool, is_set: bool, bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        if !is_set {
            let n = values.len();
            bytes.extend((0..n).map(|i| u8::from(is_valid(i))));
            bytes.resize(bytes.len() + n.next_multiple_of(8) - n, 0);
            bytes.push(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_as_it_was() {
        for n in 0..40_u64 {
            let values: Vec<u64> = (0..n).map(|i| i * i).collect();
            for is_set in [true, false] {
                let mut bytes = Vec::new();
                PackedSet::pack(&values, |i| is_set || i % 3 > 0, is_set, &mut bytes);
                let packed = PackedSet::new(&bytes);
                assert_eq!(packed.is_set(), is_set);
                assert_eq!(packed.values().collect::<Vec<_>>(), values);
                assert!(packed.valid().enumerate().all(|(i, valid)| valid == (is_set || i % 3 > 0)));
                assert_eq!(packed.valid().count(), values.len());
            }
        }
    }
}
