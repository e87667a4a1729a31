use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::frequencies::{Frequencies, coerce_frequencies};
use super::sets_of_sets;
use crate::arguments::{coerce_set, constant_integer, keep_constants, set_type};

/// `weighted(set, frequencies, levels)`: a set in which rare elements count for more.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "A set with one or more copies of each element: the rarer the element, the more copies. So `jaccard` \
                   of two such sets is the weighted Jaccard similarity of the two given sets: the sum of the weights \
                   of the common elements, divided by the sum of the weights of all elements. A similarity join finds \
                   it exactly. The weight of an element is the number of its copies, ⌈`levels` · i²⌉ and at least 1, \
                   where i = log(N/df)/log(N) is its normalised inverse document frequency, as for `i_match`: 1 for an \
                   element of all sets, `levels` for an element of a single set. (Cosine similarity with tf-idf weighs \
                   by idf², too.)\n\n\
                   Returns `List<UInt64>`, ascending and distinct: the first copy of an element is the element itself, \
                   the others are its XXH3 hashes with the number of the copy as the seed. NULL for NULL; empty for \
                   the empty set.",
    syntax_example = "weighted(set, frequencies, levels)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS set FROM (VALUES ([1, 9]), ([2, 9]), ([3, 9])))
  SELECT set, cardinality(weighted(set, (SELECT set_frequencies(set) FROM t), 8)) AS weight FROM t ORDER BY set;
+--------+--------+
| set    | weight |
+--------+--------+
| [1, 9] | 9      |
| [2, 9] | 9      |
| [3, 9] | 9      |
+--------+--------+
```"#,
    argument(name = "set", description = "The set, `List<UInt64>`."),
    argument(name = "frequencies", description = "The result of `set_frequencies` for all sets; a constant."),
    argument(name = "levels", description = "The weight of the rarest elements, from 1 to 64; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Weighted {
    signature: Signature,
}

impl Default for Weighted {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Weighted {
    fn name(&self) -> &str {
        "weighted"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [set, frequencies, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_set(self.name(), set)?, coerce_frequencies(self.name(), frequencies)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [set, frequencies, levels] = take_function_args(self.name(), args.args)?;
        let levels = constant_integer(self.name(), "levels", &levels, 1..=64)?;
        let levels = u8::try_from(levels).map_or(1.0, f64::from);
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        sets_of_sets(set, rows, |set, copies| {
            for &element in set {
                weigh(element, weight(frequencies.normalised_idf_of_hash(element), levels), copies);
            }
            copies.sort_unstable();
            copies.dedup();
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the number of copies of an element in a weighted set.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 64")]
fn weight(idf: f64, levels: f64) -> u64 {
    (levels * idf * idf).ceil().clamp(1.0, 64.0) as u64
}

/// Adds the copies of an element.
fn weigh(element: u64, weight: u64, copies: &mut Vec<u64>) {
    copies.push(element);
    copies.extend((1..weight).map(|number| xxh3_64_with_seed(&element.to_le_bytes(), number)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_grow_with_the_square_of_rarity() {
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|idf| weight(idf, 8.0)), [1, 1, 2, 5, 8]);
        assert_eq!(weight(1.0, 1.0), 1);
    }

    #[test]
    fn copies_of_different_elements_differ() {
        let mut copies = Vec::new();
        (0..1000).for_each(|element| weigh(element, 64, &mut copies));
        copies.sort_unstable();
        copies.dedup();
        assert_eq!(copies.len(), 64_000);
    }

    #[test]
    fn copies_are_always_the_same() {
        let mut copies = Vec::new();
        weigh(7, 3, &mut copies);
        assert_eq!(copies, [7, 11_820_201_061_969_409_296, 12_979_176_353_255_401_480]);
    }
}
