use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::arguments::{Minhashes, coerce_minhashes, constant_count, set_type};

/// `bands(minhashes, n, rows)`: `n` hashes of `rows` minhashes each.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The signatures of locality-sensitive hashing (Indyk and Motwani 1998; WIKI-LSH section 3, with `n` \
                   = 10 and `rows` = 8): `n` hashes of `rows` neighbouring minhashes each. Two sets of Jaccard \
                   similarity s agree in all minhashes of a band with probability s^`rows`, and so share at least one \
                   band with probability 1 − (1 − s^`rows`)^`n`:\n\n\
                   | `n`, `rows` | s = .3 | .5 | .7 | .8 | .9 | .95 |\n\
                   | --- | --- | --- | --- | --- | --- | --- |\n\
                   | 10, 8 | .001 | .038 | .448 | .841 | .996 | 1.000 |\n\
                   | 10, 10 | .000 | .010 | .249 | .679 | .986 | 1.000 |\n\
                   | 20, 5 | .047 | .470 | .975 | 1.000 | 1.000 | 1.000 |\n\
                   | 32, 4 | .229 | .873 | 1.000 | 1.000 | 1.000 | 1.000 |\n\n\
                   For a column of bands, `overlap(a.bands, b.bands) >= 1` in a join condition is planned as a \
                   similarity join. It finds candidates, on which `jaccard` of the sets or `minhash_jaccard` can \
                   decide. It can miss pairs; the join on `jaccard(a.set, b.set) >= t` misses none.\n\n\
                   Returns `List<UInt64>`, ascending and distinct: XXH3 hashes of the minhashes as bytes, the lowest \
                   byte first, with the place of the band (from 0) as the seed, so that bands in different places do \
                   not collide. They stay the same from release to release. NULL if the list is NULL or contains a \
                   NULL. Fewer minhashes than `n` · `rows` are an error; additional ones are not used.",
    syntax_example = "bands(minhashes, n, rows)",
    sql_example = r#"```sql
> SELECT overlap(bands(minhash(a, 80), 10, 8), bands(minhash(b, 80), 10, 8)) AS shared, jaccard(a, b) AS jaccard
  FROM (VALUES (range(0, 100), range(5, 100)), (range(0, 100), range(60, 160))) AS t(a, b) ORDER BY shared DESC;
+--------+---------+
| shared | jaccard |
+--------+---------+
| 6      | 0.95    |
| 0      | 0.25    |
+--------+---------+
```"#,
    argument(name = "minhashes", description = "The minhashes of a set, `List<UInt32>`, as `minhash` gives them."),
    argument(name = "n", description = "The number of bands, from 1 to 4096; a constant."),
    argument(name = "rows", description = "The number of minhashes in a band, from 1 to 4096; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bands {
    signature: Signature,
}

impl Default for Bands {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Bands {
    fn name(&self) -> &str {
        "bands"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [minhashes, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_minhashes(self.name(), minhashes)?, DataType::Int64, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let number_rows = args.number_rows;
        let [minhashes, n, rows] = take_function_args(self.name(), args.args)?;
        let n = constant_count(self.name(), "n", &n, 4096)?;
        let rows = constant_count(self.name(), "rows", &rows, 4096)?;
        let minhashes = minhashes.into_array(number_rows)?;
        let minhashes = Minhashes::try_new(&minhashes)?;
        let mut sets = ListBuilder::new(UInt64Builder::new());
        let (mut set, mut bytes) = (Vec::with_capacity(n), Vec::with_capacity(4 * rows));
        for row in 0..number_rows {
            let given = minhashes.row(row);
            if let Some(given) = given {
                if given.len() < n * rows {
                    return exec_err!(
                        "bands: {n} bands of {rows} rows take {} minhashes, and there are {}; write minhash(set, {})",
                        n * rows,
                        given.len(),
                        n * rows
                    );
                }
                cut_into_bands(given, n, rows, &mut bytes, &mut set);
                sets.values().append_slice(&set);
            }
            sets.append(given.is_some());
        }
        Ok(ColumnarValue::Array(Arc::new(sets.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `set` with the set of the bands; `bytes` is a reusable buffer.
fn cut_into_bands(minhashes: &[u32], n: usize, rows: usize, bytes: &mut Vec<u8>, set: &mut Vec<u64>) {
    set.clear();
    for (band, place) in minhashes.chunks_exact(rows).take(n).zip(0..) {
        bytes.clear();
        bytes.extend(band.iter().flat_map(|minhash| minhash.to_le_bytes()));
        set.push(xxh3_64_with_seed(bytes, place));
    }
    set.sort_unstable();
    set.dedup();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bands(minhashes: &[u32], n: usize, rows: usize) -> Vec<u64> {
        let mut set = Vec::new();
        cut_into_bands(minhashes, n, rows, &mut Vec::new(), &mut set);
        set
    }

    #[test]
    fn bands_stay_the_same() {
        assert_eq!(bands(&[1, 2, 3, 4], 2, 2), [254_984_204_845_929_552, 5_681_563_201_217_060_630]);
        assert_eq!(bands(&[1, 2, 3, 4], 1, 4), [8_052_976_908_588_476_977]);
    }

    #[test]
    fn the_same_minhashes_in_another_place_are_another_band() {
        let (a, b) = (bands(&[1, 2, 3, 4], 2, 2), bands(&[3, 4, 1, 2], 2, 2));
        assert!(a.iter().all(|band| !b.contains(band)));
        assert_eq!(bands(&[5; 4], 2, 2).len(), 2);
    }

    proptest! {
        #[test]
        fn bands_are_shared_where_all_their_minhashes_are_equal(
            a in prop::collection::vec(0..3_u32, 24..30),
            b in prop::collection::vec(0..3_u32, 24..30),
            n in 1_usize..6,
            rows in 1_usize..4,
        ) {
            let equal = (0..n).filter(|i| a[i * rows..][..rows] == b[i * rows..][..rows]).count();
            let (a, b) = (bands(&a, n, rows), bands(&b, n, rows));
            prop_assert_eq!(a.len(), n);
            prop_assert!(a.is_sorted());
            prop_assert_eq!(a.iter().filter(|band| b.contains(band)).count(), equal);
        }
    }
}
