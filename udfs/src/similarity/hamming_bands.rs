use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use arrow::datatypes::{DataType, Field};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::set_type;
use crate::arguments::{Codes, coerce_code, constant_integer};

/// `hamming_bands(code, k)`: bands of a code. Two codes that differ in at most `k` bits share one.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The `k` + 1 bands of a code, as a set: the code is cut into `k` + 1 runs of bits, and a change of \
                   at most `k` bits leaves at least one run unchanged. So two codes with `hamming(a, b) <= k` share a \
                   band: `overlap(hamming_bands(a, k), hamming_bands(b, k)) >= 1`. The similarity join finds them by \
                   this condition (Manku, Jain, Das Sarma 2007, section 3).\n\n\
                   Returns `List<UInt64>`, ascending and distinct: a hash of each band and its place. NULL for NULL.",
    syntax_example = "hamming_bands(code, k)",
    sql_example = r#"```sql
> SELECT overlap(hamming_bands(5, 3), hamming_bands(6, 3)) AS overlap;
+---------+
| overlap |
+---------+
| 3       |
+---------+
```"#,
    argument(name = "code", description = "The code, `FixedSizeBinary(n)` or an integer."),
    argument(name = "k", description = "The most bits that may differ, a constant, 0 or more.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct HammingBands {
    signature: Signature,
}

impl Default for HammingBands {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for HammingBands {
    fn name(&self) -> &str {
        "hamming_bands"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [code, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_code(self.name(), code)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [code, k] = take_function_args(self.name(), args.args)?;
        let k = usize::try_from(constant_integer(self.name(), "k", &k, 0..=i64::MAX)?).unwrap_or(usize::MAX);
        let code = code.into_array(rows)?;
        let codes = Codes::try_new(&code)?;
        let item = Arc::new(Field::new_list_field(DataType::UInt64, true));
        let mut sets = ListBuilder::new(UInt64Builder::new()).with_field(item);
        let (mut bands, mut scratch) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let code = codes.row(row);
            if let Some(code) = code {
                cut_into_bands(code, k, &mut scratch, &mut bands);
                sets.values().append_slice(&bands);
            }
            sets.append(code.is_some());
        }
        Ok(ColumnarValue::Array(Arc::new(sets.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Replaces the content of `bands` with the bands of a code, ascending.
fn cut_into_bands(code: &[u8], k: usize, scratch: &mut Vec<u8>, bands: &mut Vec<u64>) {
    let bits = 8 * code.len();
    // With more bands than bits one of them is empty, which all codes share.
    let count = k.min(bits) + 1;
    bands.clear();
    for (band, seed) in (0..count).zip(0_u64..) {
        let (start, end) = (band * bits / count, (band + 1) * bits / count);
        scratch.clear();
        if start < end {
            scratch.extend_from_slice(&code[start / 8..end.div_ceil(8)]);
            // The bits of a byte count from its highest.
            if let Some(first) = scratch.first_mut() {
                *first &= 0xff >> (start % 8);
            }
            if let Some(last) = scratch.last_mut().filter(|_| end % 8 > 0) {
                *last &= !(0xff >> (end % 8));
            }
        }
        bands.push(xxh3_64_with_seed(scratch, seed));
    }
    bands.sort_unstable();
    bands.dedup();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bands(code: &[u8], k: usize) -> Vec<u64> {
        let mut bands = Vec::new();
        cut_into_bands(code, k, &mut Vec::new(), &mut bands);
        bands
    }

    proptest! {
        #[test]
        fn codes_share_a_band_unless_more_than_k_bits_differ(
            code in prop::collection::vec(any::<u8>(), 0..33),
            flips in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
            k in 0_usize..300,
        ) {
            let mut other = code.clone();
            for flip in flips.iter().take(if code.is_empty() { 0 } else { k }) {
                let bit = flip.index(8 * code.len());
                other[bit / 8] ^= 1 << (bit % 8);
            }
            let (a, b) = (bands(&code, k), bands(&other, k));
            prop_assert!(a.iter().any(|band| b.contains(band)));
            prop_assert_eq!(a.len(), k.min(8 * code.len()) + 1);
        }

        #[test]
        fn every_bit_is_in_one_band(
            code in prop::collection::vec(any::<u8>(), 1..33),
            bit in any::<prop::sample::Index>(),
            k in 0_usize..64,
        ) {
            let mut other = code.clone();
            let bit = bit.index(8 * code.len());
            other[bit / 8] ^= 1 << (bit % 8);
            let (a, b) = (bands(&code, k), bands(&other, k));
            prop_assert_eq!(a.iter().filter(|band| !b.contains(band)).count(), 1);
        }
    }
}
