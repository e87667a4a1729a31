use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use datafusion_common::cast::as_int64_array;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::Measure;
use crate::arguments::{constant, constant_above_zero, constant_integer};

/// `hamming_bound(a, b, measure, threshold [, per_element])`: the most bits in which the codes of similar sets differ.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The most bits in which the codes of two sets of `a` and `b` elements can differ if the sets have a \
                   similarity of at least `threshold` and each element sets at most `per_element` bits of a code. An \
                   element sets one bit of a `bitmap`, and as many bits of a `bit_code` as the codebook says. So \
                   `hamming(x.code, y.code) <= hamming_bound(x.size, y.size, …)` is a filter that loses no pair. The \
                   bound is `per_element` · (a + b − 2 o), where o is the least number of common elements for which \
                   the similarity, computed and rounded as by the function of its name, reaches the threshold. For \
                   Jaccard, it is `per_element` · m with m = ⌊(a + b)(1 − t)/(1 + t)⌋, or `per_element` less if only \
                   one of m and a + b is odd.\n\n\
                   Returns Int64, 0 or more; NULL if a size is NULL, or if no two sets of these sizes can be so \
                   similar, in which case the condition does not hold, either. A size below 0 or above 2147483647 is \
                   an error.",
    syntax_example = "hamming_bound(a, b, measure, threshold [, per_element])",
    sql_example = r#"```sql
> SELECT hamming_bound(30, 33, 'jaccard', 0.8) AS bitmaps, hamming_bound(30, 33, 'jaccard', 0.8, 2) AS two_bits_a_word;
+---------+-----------------+
| bitmaps | two_bits_a_word |
+---------+-----------------+
| 7       | 14              |
+---------+-----------------+
```"#,
    argument(name = "a", description = "The number of elements of the first set, a whole number."),
    argument(name = "b", description = "The number of elements of the second set."),
    argument(name = "measure", description = "`jaccard`, `containment`, `overlap`, `dice` or `cosine`; a constant."),
    argument(name = "threshold", description = "The least similarity, above 0; a constant."),
    argument(
        name = "per_element",
        description = "The most bits that an element sets, from 1 to 256; 1 if left out; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct HammingBound {
    signature: Signature,
}

impl Default for HammingBound {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for HammingBound {
    fn name(&self) -> &str {
        "hamming_bound"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let ([a, b, _, _, per_element @ ..], 4 | 5) = (given, given.len()) else {
            return plan_err!(
                "hamming_bound expects (a, b, measure, threshold [, per_element]), got {} arguments",
                given.len()
            );
        };
        if let Some(other) = [a, b].into_iter().find(|size| !size.is_integer() && !size.is_null()) {
            return plan_err!("hamming_bound expects the sizes of two sets, got {other}; write cardinality(set)");
        }
        let fixed = [DataType::Int64, DataType::Int64, DataType::Utf8, DataType::Float64];
        Ok(fixed.into_iter().chain(per_element.iter().map(|_| DataType::Int64)).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b, measure, threshold, per_element @ ..] = args.args.as_slice() else {
            return exec_err!("hamming_bound expects four arguments or more, got {}", args.args.len());
        };
        let measure: Measure = constant(self.name(), "measure", measure)?.to_string().parse()?;
        let threshold = constant_above_zero(self.name(), "threshold", threshold)?;
        let per_element =
            per_element.first().map_or(Ok(1), |bits| constant_integer(self.name(), "per_element", bits, 1..=256))?;
        let bounds = bounds(&a.to_array(rows)?, &b.to_array(rows)?, |a, b| {
            measure.most_apart(a, b, threshold).map(|apart| per_element * apart as i64)
        })?;
        Ok(ColumnarValue::Array(Arc::new(bounds)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the bounds for two columns of sizes.
fn bounds(a: &ArrayRef, b: &ArrayRef, bound: impl Fn(usize, usize) -> Option<i64>) -> Result<Int64Array> {
    let size = |size: i64| match i32::try_from(size).map(usize::try_from) {
        Ok(Ok(size)) => Ok(size),
        _ => exec_err!("hamming_bound: a set has from 0 to 2147483647 elements, not {size}"),
    };
    let rows = as_int64_array(a)?.iter().zip(as_int64_array(b)?);
    rows.map(|sizes| match sizes {
        (Some(a), Some(b)) => Ok(bound(size(a)?, size(b)?)),
        _ => Ok(None),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ibid_codes::{Frequencies, Options, Width, bitmap, learn};
    use proptest::prelude::*;

    use super::*;
    use crate::similarity::count_common;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Checks all pairs of sets by brute force: codes of similar sets are within the bound.
        #[test]
        fn no_similar_sets_exceed_it(
            sets in prop::collection::vec(prop::collection::btree_set(0..14_u64, 0..12), 2..20),
            per_word in 1..6_u32,
            hundredths in 1..=100_u32,
            width in prop::sample::select(&Width::ALL[..]),
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|set: BTreeSet<u64>| set.into_iter().collect()).collect();
            let words: Vec<Vec<String>> =
                sets.iter().map(|set| set.iter().map(|word| format!("w{word}")).collect()).collect();
            // Some words are in the codebook and some are not.
            let options = Options { width, per_word, top: 9, ..Options::default() };
            let codebook = learn(&words, &Frequencies::count(&words), &options).unwrap().codebook;
            let codes: Vec<_> = words
                .iter()
                .zip(&sets)
                .map(|(words, set)| (codebook.bit_code(words), bitmap(set.iter().copied(), width)))
                .collect();
            for measure in Measure::ALL {
                let threshold = if measure == Measure::Overlap { 3.0 } else { f64::from(hundredths) / 100.0 };
                for (a, (code_a, bitmap_a)) in sets.iter().zip(&codes) {
                    for (b, (code_b, bitmap_b)) in sets.iter().zip(&codes) {
                        let similarity = measure.value(count_common(a, b), a.len(), b.len());
                        if similarity.is_some_and(|similarity| similarity >= threshold) {
                            let apart = measure.most_apart(a.len(), b.len(), threshold).unwrap();
                            prop_assert!(code_a.hamming(code_b) as usize <= per_word as usize * apart);
                            prop_assert!(bitmap_a.hamming(bitmap_b) as usize <= apart);
                        }
                    }
                }
            }
        }
    }
}
