use std::sync::Arc;

use arrow::array::{ListBuilder, UInt64Builder};
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{Measure, Side};
use crate::arguments::{Sets, coerce_set, constant, constant_above_zero, set_type};

/// `prefix_filter(set, measure, threshold)`: the elements that a set must show to its partners in a similarity join.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The first elements of a set, as many as are needed so that every set with a similarity of at least \
                   `threshold` shares one of them (the prefix filter; Chaudhuri, Ganti and Kaushik 2006). For \
                   `containment`, it is the prefix of the contained set; the prefix of the containing set is \
                   `prefix_filter(set, 'overlap', 1)`, all its elements.\n\n\
                   Returns `List<UInt64>`; NULL for NULL, empty if no set can reach the threshold.",
    syntax_example = "prefix_filter(set, measure, threshold)",
    sql_example = r#"```sql
> SELECT prefix_filter([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'jaccard', 0.8) AS prefix;
+-----------+
| prefix    |
+-----------+
| [1, 2, 3] |
+-----------+
```"#,
    argument(name = "set", description = "The set, `List<UInt64>`."),
    argument(name = "measure", description = "`jaccard`, `containment`, `overlap`, `dice` or `cosine`; a constant."),
    argument(name = "threshold", description = "The least similarity, above 0; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PrefixFilter {
    signature: Signature,
}

impl Default for PrefixFilter {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for PrefixFilter {
    fn name(&self) -> &str {
        "prefix_filter"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [set, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_set(self.name(), set)?, DataType::Utf8, DataType::Float64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(set_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [set, measure, threshold] = take_function_args(self.name(), args.args)?;
        let measure: Measure = constant(self.name(), "measure", &measure)?.to_string().parse()?;
        let threshold = constant_above_zero(self.name(), "threshold", &threshold)?;
        let set = set.into_array(rows)?;
        let sets = Sets::try_new(&set)?;
        let mut prefixes = ListBuilder::new(UInt64Builder::new());
        let mut scratch = Vec::new();
        for i in 0..rows {
            let row = sets.row(i, &mut scratch);
            if let Some(row) = row {
                let length = measure.prefix_length(Side::Left, row.len(), threshold);
                prefixes.values().append_slice(&row[..length]);
            }
            prefixes.append(row.is_some());
        }
        Ok(ColumnarValue::Array(Arc::new(prefixes.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
