use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::Measure;
use crate::arguments::{Sets, coerce_set, constant, constant_above_zero};

/// `length_filter(a, b, measure, threshold)`: true if the sizes of two sets allow the similarity.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "True if the sizes of two sets allow a similarity of at least `threshold`. For Jaccard, the smaller \
                   set must have at least `threshold` times as many elements as the larger (PDC-MR section 4.2). A \
                   pair at exactly this ratio passes.\n\n\
                   Returns Boolean; NULL where either set is NULL.",
    syntax_example = "length_filter(a, b, measure, threshold)",
    sql_example = r#"```sql
> SELECT length_filter([1, 2, 3, 4], [1, 2, 3, 4, 5], 'jaccard', 0.8) AS can_match;
+-----------+
| can_match |
+-----------+
| true      |
+-----------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`."),
    argument(name = "b", description = "The second set."),
    argument(name = "measure", description = "`jaccard`, `containment`, `overlap`, `dice` or `cosine`; a constant."),
    argument(name = "threshold", description = "The least similarity, above 0; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct LengthFilter {
    signature: Signature,
}

impl Default for LengthFilter {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for LengthFilter {
    fn name(&self) -> &str {
        "length_filter"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_set(self.name(), a)?, coerce_set(self.name(), b)?, DataType::Utf8, DataType::Float64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b, measure, threshold] = take_function_args(self.name(), args.args)?;
        let measure: Measure = constant(self.name(), "measure", &measure)?.to_string().parse()?;
        let threshold = constant_above_zero(self.name(), "threshold", &threshold)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let (left, right) = (Sets::try_new(&a)?, Sets::try_new(&b)?);
        let mut scratch = Vec::new();
        let can_match: BooleanArray = (0..rows)
            .map(|i| {
                let (a, b) = (left.size(i, &mut scratch)?, right.size(i, &mut scratch)?);
                Some(measure.lengths_can_match(a, b, threshold))
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(can_match)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
