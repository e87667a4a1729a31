use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{Codes, coerce_code};

/// `hamming(a, b)`: the number of bits that differ.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The number of bits in which two codes differ.\n\n\
                   A code is bytes of a fixed width, `FixedSizeBinary(n)`, or an integer; both codes must have the \
                   same width. Returns Int64, from 0 to the number of bits; NULL where either code is NULL. Codes of \
                   different widths are an error. In a join condition `hamming(a.code, b.code) <= k` is planned as a \
                   similarity join, over `hamming_bands`.",
    syntax_example = "hamming(a, b)",
    sql_example = r#"```sql
> SELECT hamming(5, 6) AS hamming;
+---------+
| hamming |
+---------+
| 2       |
+---------+
```"#,
    argument(name = "a", description = "The first code."),
    argument(name = "b", description = "The second code.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hamming {
    signature: Signature,
}

impl Default for Hamming {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Hamming {
    fn name(&self) -> &str {
        "hamming"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        // A literal of bytes, and NULL, take the type of the other code.
        let like = |code: &DataType, other: &DataType| match (code, other) {
            (DataType::Null, _) | (DataType::Binary, DataType::FixedSizeBinary(_)) => other.clone(),
            _ => code.clone(),
        };
        let (first, second) = (coerce_code(self.name(), &like(a, b))?, coerce_code(self.name(), &like(b, a))?);
        if first == second || first.primitive_width().is_some_and(|width| second.primitive_width() == Some(width)) {
            return Ok(vec![first, second]);
        }
        plan_err!("hamming expects two codes of one width, got {a} and {b}")
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let (a, b) = (Codes::try_new(&a)?, Codes::try_new(&b)?);
        let distance = |row| Some(i64::from(count_different_bits(a.row(row)?, b.row(row)?)));
        let distances: Int64Array = (0..rows).map(distance).collect();
        Ok(ColumnarValue::Array(Arc::new(distances)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the number of bits in which two codes of one width differ.
fn count_different_bits(a: &[u8], b: &[u8]) -> u32 {
    let (a_words, a_rest) = a.as_chunks::<8>();
    let (b_words, b_rest) = b.as_chunks::<8>();
    let of_words =
        a_words.iter().zip(b_words).map(|(a, b)| (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)).count_ones());
    let of_rest = a_rest.iter().zip(b_rest).map(|(a, b)| (a ^ b).count_ones());
    of_words.chain(of_rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_bits_of_words_and_of_the_bytes_after_them() {
        assert_eq!(count_different_bits(&[0; 9], &[255; 9]), 72);
        assert_eq!(count_different_bits(&[1, 2, 3], &[1, 2, 1]), 1);
        assert_eq!(count_different_bits(&[], &[]), 0);
    }
}
