//! Distances of many codes at once, with the vector instructions of the processor. The compiler generates them once for
//! each target that is listed, and the target that fits is chosen at run time.
//!
//! Rows are stored byte by byte: the first bytes of 64 rows, their second bytes, and so on. So each lane sums the bits
//! of one row, byte by byte. AVX-512 (BITALG) and NEON count the bits of bytes with one instruction, and AVX2 with two
//! look-ups.

use multiversion::multiversion;

/// The number of rows that are stored side by side.
pub(crate) const LANES: usize = 64;

/// The bytes of 64 rows, column by column.
pub(crate) type Group<const BYTES: usize> = [[u8; LANES]; BYTES];

/// Transposes `codes` into groups; lanes without a code are left as they were.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vbmi", "x86_64+avx2"))]
pub(crate) fn transpose<const BYTES: usize>(codes: &[[u8; BYTES]], groups: &mut [Group<BYTES>]) {
    for (codes, group) in codes.chunks(LANES).zip(groups) {
        if let Ok(codes) = <&[[u8; BYTES]; LANES]>::try_from(codes) {
            for (byte, column) in group.iter_mut().enumerate() {
                for (lane, code) in column.iter_mut().zip(codes) {
                    *lane = code[byte];
                }
            }
        } else {
            for (lane, code) in codes.iter().enumerate() {
                for (column, byte) in group.iter_mut().zip(code) {
                    column[lane] = *byte;
                }
            }
        }
    }
}

/// Finds, for each query, the rows whose distance is at most the entry of the query in `highest`. Adds the numbers of
/// the query and the row to `found`.
///
/// Distances above 255 count as 255. `distances` is scratch memory, as long as `groups`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512bitalg+avx512vpopcntdq", "x86_64+avx2"))]
pub(crate) fn scan<const BYTES: usize>(
    groups: &[Group<BYTES>],
    queries: &[[u8; BYTES]],
    highest: &[u8],
    distances: &mut [[u8; LANES]],
    found: &mut Vec<(u32, u32)>,
) {
    for ((query, highest), number) in queries.iter().zip(highest).zip(0_u32..) {
        let distances = &mut distances[..groups.len()];
        // The bytes of sixteen columns of a query stay in registers; more columns do not.
        let (parts, rest) = query.as_chunks::<16>();
        let mut lowest = [0; LANES];
        for (number, part) in parts.iter().enumerate() {
            lowest = add(groups.iter().map(|group| &group.as_chunks::<16>().0[number]), part, number == 0, distances);
        }
        if parts.is_empty() {
            lowest = add(groups, rest, true, distances);
        }
        if least(&lowest) > *highest {
            continue;
        }
        for (distances, first) in distances.iter().zip((0_u32..).step_by(LANES)) {
            if least(distances) <= *highest {
                let near = distances.iter().zip(first..).filter(|(distance, _)| *distance <= highest);
                found.extend(near.map(|(_, row)| (number, row)));
            }
        }
    }
}

/// Adds the distances in some columns to `distances`, or sets `distances` to them if `first` is true. Returns the least
/// distance in each lane.
#[inline(always)]
fn add<'a, const COLUMNS: usize>(
    groups: impl IntoIterator<Item = &'a Group<COLUMNS>>,
    query: &[u8],
    first: bool,
    distances: &mut [[u8; LANES]],
) -> [u8; LANES] {
    let mut lowest = [u8::MAX; LANES];
    for (group, distances) in groups.into_iter().zip(distances) {
        let mut sums = if first { [0; LANES] } else { *distances };
        for (column, query) in group.iter().zip(query) {
            for (sum, row) in sums.iter_mut().zip(column) {
                *sum = sum.saturating_add(count_ones(row ^ query));
            }
        }
        for (lowest, sum) in lowest.iter_mut().zip(&sums) {
            *lowest = (*lowest).min(*sum);
        }
        *distances = sums;
    }
    lowest
}

#[inline(always)]
fn least(values: &[u8; LANES]) -> u8 {
    values.iter().fold(u8::MAX, |least, value| least.min(*value))
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a byte has at most eight bits")]
fn count_ones(byte: u8) -> u8 {
    byte.count_ones() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_near_in_every_lane() {
        let codes: Vec<[u8; 4]> = (0..200_u32).map(|row| (row * 0x0101_0301).to_le_bytes()).collect();
        let mut groups = vec![[[0xff; LANES]; 4]; 4];
        transpose(&codes, &mut groups);
        let queries = [codes[3], codes[77], [0xff; 4]];
        let (mut distances, mut found) = (vec![[0; LANES]; 4], Vec::new());
        scan(&groups, &queries, &[0, 5, 32], &mut distances, &mut found);
        let mut expected = Vec::new();
        for (query, highest) in [(0, 0), (1, 5), (2, 32)] {
            for row in 0..256_u32 {
                let code = codes.get(row as usize).copied().unwrap_or([0xff; 4]);
                let distance = (u32::from_le_bytes(queries[query as usize]) ^ u32::from_le_bytes(code)).count_ones();
                if distance <= highest {
                    expected.push((query, row));
                }
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn the_distance_of_256_bits_is_taken_for_255() {
        let groups = [[[0xff; LANES]; 32]];
        let (mut distances, mut found) = ([[0; LANES]], Vec::new());
        scan(&groups, &[[0; 32]], &[254], &mut distances, &mut found);
        assert_eq!(found, []);
        scan(&groups, &[[0; 32]], &[255], &mut distances, &mut found);
        assert_eq!(found.len(), LANES);
    }
}
