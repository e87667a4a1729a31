use std::sync::Arc;

use arrow::array::Float64Array;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, coerce_frequencies};
use crate::arguments::{Sets, coerce_set, keep_constants};
use crate::similarity::common_elements;

/// `shared_weight(a, b, frequencies)`: the amount of rare material that two sets share.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The weight of the rare elements that two sets share: the sum of the normalised inverse document \
                   frequency log(N/df)/log(N) of their common elements. A shingle that is in one text counts 1, a \
                   phrase that is in every text counts nothing, so a run of stock phrases weighs less than a copied \
                   sentence.\n\n\
                   Returns Float64, 0 where nothing is shared; NULL where either set is NULL.",
    syntax_example = "shared_weight(a, b, frequencies)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS set FROM (VALUES ([1, 9]), ([2, 9]), ([3, 9]), ([4, 9])))
  SELECT shared_weight([1, 9], [1, 9], (SELECT set_frequencies(set) FROM t)) AS weight;
+--------+
| weight |
+--------+
| 1.0    |
+--------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`."),
    argument(name = "b", description = "The second set."),
    argument(name = "frequencies", description = "The result of `set_frequencies` for all sets; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharedWeight {
    signature: Signature,
}

impl Default for SharedWeight {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SharedWeight {
    fn name(&self) -> &str {
        "shared_weight"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b, frequencies] = take_function_args(self.name(), given)?;
        Ok(vec![
            coerce_set(self.name(), a)?,
            coerce_set(self.name(), b)?,
            coerce_frequencies(self.name(), frequencies)?,
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 2)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b, frequencies] = take_function_args(self.name(), args.args)?;
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let (left, right) = (Sets::try_new(&a)?, Sets::try_new(&b)?);
        let (mut left_scratch, mut right_scratch) = (Vec::new(), Vec::new());
        let weights: Float64Array = (0..rows)
            .map(|i| {
                let (a, b) = (left.row(i, &mut left_scratch)?, right.row(i, &mut right_scratch)?);
                Some(
                    common_elements(a, b)
                        .map(|element| frequencies.normalised_idf_of_hash(element))
                        .fold(0.0, |sum, weight| sum + weight),
                )
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(weights)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
