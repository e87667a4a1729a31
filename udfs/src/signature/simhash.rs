use std::sync::Arc;

use arrow::array::UInt64Array;
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, coerce_frequencies};
use crate::arguments::{Sets, coerce_one_set, keep_constants};

/// `simhash(set [, frequencies])`: a code of 64 bits that similar sets almost share.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The SimHash of a set (Charikar 2002): a code of 64 bits. Similar sets agree in most bits, so \
                   `hamming(a.code, b.code) <= 3` finds near-duplicates. A bit is 1 if the elements whose hashes have \
                   the bit set weigh more than the others, and 0 if they weigh less or as much. The codes of two sets \
                   differ in each bit with a probability of θ/π, where θ is the angle between the two weighted \
                   sets.\n\n\
                   Without `frequencies`, all elements weigh the same. With `frequencies`, an element weighs its \
                   normalised inverse document frequency log(N/df)/log(N), as for `i_match`, rounded to 32 bits; an \
                   element that is not in the frequencies weighs 1. Weights are added as integers, so that the order \
                   of the elements makes no difference. If all elements of a set weigh nothing, they get equal \
                   weights, so that such sets do not all collide. CODET section 4 leaves out the two rarest words and \
                   takes a distance of less than 3: `simhash(shingles(without_rarest(tokens, frequencies, 2), 1), \
                   frequencies)`.\n\n\
                   Returns UInt64, the same from release to release; the code of a set of one element is the element. \
                   NULL for NULL and for the empty set.",
    syntax_example = "simhash(set [, frequencies])",
    sql_example = r#"```sql
> SELECT hamming(simhash(shingles(words(a), 1)), simhash(shingles(words(b), 1))) AS bits_that_differ
  FROM (VALUES ('to be or not to be that is the question', 'to be or not to be that was the question'),
    ('to be or not to be that is the question', 'it was the best of times it was the worst of times')) AS t(a, b)
  ORDER BY bits_that_differ;
+------------------+
| bits_that_differ |
+------------------+
| 9                |
| 26               |
+------------------+
```"#,
    argument(
        name = "set",
        description = "The set of hashes, `List<UInt64>`, of tokens (`shingles(tokens, 1)`) or of runs of tokens, as \
                       `shingles` gives it."
    ),
    argument(
        name = "frequencies",
        description = "The result of `set_frequencies` for all sets or, for `shingles(tokens, 1)`, of \
                       `document_frequencies` for the tokens; a constant. If left out, all elements weigh the same."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Simhash {
    signature: Signature,
}

impl Default for Simhash {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Simhash {
    fn name(&self) -> &str {
        "simhash"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [set] => Ok(vec![coerce_one_set(self.name(), set)?]),
            [set, frequencies] => {
                Ok(vec![coerce_one_set(self.name(), set)?, coerce_frequencies(self.name(), frequencies)?])
            }
            other => plan_err!("simhash expects (set [, frequencies]), got {} arguments", other.len()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt64)
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (set, frequencies) = match args.args.as_slice() {
            [set] => (set, None),
            [set, frequencies] => (set, Some(Frequencies::try_new(self.name(), frequencies)?)),
            other => return exec_err!("simhash expects (set [, frequencies]), got {} arguments", other.len()),
        };
        let set = set.to_array(args.number_rows)?;
        let sets = Sets::try_new(&set)?;
        let mut scratch = Vec::new();
        let codes: UInt64Array = (0..set.len())
            .map(|i| {
                let set = sets.row(i, &mut scratch).filter(|set| !set.is_empty())?;
                let weighted = frequencies.as_ref().and_then(|frequencies| {
                    simhash(set, |element| fixed_point(frequencies.normalised_idf_of_hash(element)))
                });
                weighted.or_else(|| simhash(set, |_| 1))
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(codes)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns a weight from 0 to 1 as a whole number of 2⁻³².
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^32")]
fn fixed_point(weight: f64) -> u64 {
    (weight.clamp(0.0, 1.0) * 4_294_967_296.0).round() as u64
}

/// Returns the code of a set; `None` where all of it weighs nothing. `weight` gives at most 2³², and a list has less
/// than 2³¹ elements, so that no sum overflows.
fn simhash(set: &[u64], weight: impl Fn(u64) -> u64) -> Option<u64> {
    let mut total = 0;
    // The total weight of the elements that have each bit set.
    let mut ones = [0_u64; 64];
    for &element in set {
        let weight = weight(element);
        total += weight;
        for (bit, sum) in ones.iter_mut().enumerate() {
            *sum += weight * (element >> bit & 1);
        }
    }
    let code = ones.iter().enumerate().fold(0, |code, (bit, &sum)| code | u64::from(sum > total - sum) << bit);
    (total > 0).then_some(code)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bit_that_weighs_as_much_as_not_is_0() {
        assert_eq!(simhash(&[7, !7], |_| 3), Some(0));
        assert_eq!(simhash(&[0b0011, 0b0101], |_| 1), Some(0b0001));
        assert_eq!(simhash(&[0b0011, 0b0101], |element| element), Some(0b0101));
    }

    #[test]
    fn one_element_is_its_own_code_and_weightless_ones_have_none() {
        assert_eq!(simhash(&[u64::MAX], |_| 1), Some(u64::MAX));
        assert_eq!(simhash(&[12_345, 6], |element| u64::from(element == 6)), Some(6));
        assert_eq!(simhash(&[12_345, 6], |_| 0), None);
        assert_eq!(simhash(&[], |_| 1), None);
    }

    #[test]
    fn weights_are_whole_numbers() {
        assert_eq!([0.0, 0.5, 1.0, 1.5, -1.0, f64::NAN].map(fixed_point), [0, 1 << 31, 1 << 32, 1 << 32, 0, 0]);
    }

    /// Checks that even the largest list with the greatest weight for each element keeps sums below 2⁶⁴.
    #[test]
    fn no_sum_overflows() {
        assert!(u64::try_from(i32::MAX).unwrap().checked_mul(fixed_point(1.0)).is_some());
    }

    #[test]
    fn a_million_elements_take_no_time() {
        let set: Vec<u64> = (0..1_000_000).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let started = Instant::now();
        assert!(simhash(&set, |element| element >> 40).is_some());
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }

    #[test]
    fn the_share_of_bits_that_differ_is_the_angle() {
        // The sets have half of their elements in common: the cosine is 1/2, the angle π/3, so a third of the bits
        // differ.
        let hash = |i: u64| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes());
        let differ: u32 = (0..200)
            .map(|trial| {
                let of = |from: u64| (from..from + 100).map(|i| hash(trial * 1000 + i)).collect::<Vec<_>>();
                let code = |set: &[u64]| simhash(set, |_| 1).unwrap();
                (code(&of(0)) ^ code(&of(50))).count_ones()
            })
            .sum();
        let share = f64::from(differ) / (200.0 * 64.0);
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
    }

    proptest! {
        #[test]
        fn it_is_the_sign_of_the_sum(
            set in prop::collection::vec((any::<u64>(), 0..=1_u64 << 32), 0..30),
        ) {
            let elements: Vec<u64> = set.iter().map(|pair| pair.0).collect();
            let weight = |element| set.iter().find(|pair| pair.0 == element).map_or(0, |pair| pair.1);
            let mut code = 0;
            for bit in 0..64 {
                let signed = |&element: &u64| {
                    let weight = i128::from(weight(element));
                    if element >> bit & 1 == 1 { weight } else { -weight }
                };
                code |= u64::from(elements.iter().map(signed).sum::<i128>() > 0) << bit;
            }
            let nothing = elements.iter().all(|&element| weight(element) == 0);
            prop_assert_eq!(simhash(&elements, weight), (!nothing).then_some(code));
        }
    }
}
