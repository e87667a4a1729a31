use std::sync::Arc;

use arrow::array::Float64Array;
use arrow::datatypes::DataType;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{Minhashes, coerce_minhashes};

/// `minhash_jaccard(a, b)`: the Jaccard similarity of two sets, estimated from their minhashes.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The Jaccard similarity of two sets, estimated from their minhashes: the share of places in which \
                   the two lists are equal (Broder 1997). With k places, the estimate of a similarity s has a mean of \
                   s and a standard error of √(s (1 − s) / k). Both lists must come from `minhash` with the same \
                   seed.\n\n\
                   Returns Float64 from 0 to 1; NULL if either list is NULL or contains a NULL, or if both are empty. \
                   Lists of different lengths are an error. In a join, `overlap` of their `bands` finds candidates.",
    syntax_example = "minhash_jaccard(a, b)",
    sql_example = r#"```sql
> SELECT jaccard(a, b) AS jaccard, minhash_jaccard(minhash(a, 128), minhash(b, 128)) AS estimate
  FROM (VALUES (range(0, 75), range(25, 100))) AS t(a, b);
+---------+----------+
| jaccard | estimate |
+---------+----------+
| 0.5     | 0.4375   |
+---------+----------+
```"#,
    argument(name = "a", description = "The minhashes of the first set, `List<UInt32>`, as `minhash` gives them."),
    argument(name = "b", description = "The minhashes of the second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct MinhashJaccard {
    signature: Signature,
}

impl Default for MinhashJaccard {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for MinhashJaccard {
    fn name(&self) -> &str {
        "minhash_jaccard"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_minhashes(self.name(), a)?, coerce_minhashes(self.name(), b)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let (a, b) = (Minhashes::try_new(&a)?, Minhashes::try_new(&b)?);
        let estimates = (0..rows).map(|row| match (a.row(row), b.row(row)) {
            (Some(a), Some(b)) if a.len() == b.len() => Ok(share_equal(a, b)),
            (Some(a), Some(b)) => exec_err!(
                "minhash_jaccard: minhashes of {} and of {} places cannot be compared; make both with one k and one seed",
                a.len(),
                b.len()
            ),
            _ => Ok(None),
        });
        Ok(ColumnarValue::Array(Arc::new(estimates.collect::<Result<Float64Array>>()?)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the share of places in which two lists of one length are equal; `None` if they have none.
#[expect(clippy::cast_precision_loss, reason = "a list has fewer than 2^53 places")]
fn share_equal(a: &[u32], b: &[u32]) -> Option<f64> {
    let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    (!a.is_empty()).then(|| equal as f64 / a.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_equal_places() {
        assert_eq!(share_equal(&[1, 2, 3, 4], &[1, 3, 2, 4]), Some(0.5));
        assert_eq!(share_equal(&[7; 100], &[7; 100]), Some(1.0));
        assert_eq!(share_equal(&[1], &[2]), Some(0.0));
        assert_eq!(share_equal(&[], &[]), None);
    }
}
