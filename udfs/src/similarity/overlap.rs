use std::sync::Arc;

use arrow::array::Int64Array;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{coerce_two_sets, count_common, map_two_sets};

/// `overlap(a, b)`: the number of shared elements.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The number of elements that two sets share: |a ∩ b|.\n\n\
                   Returns Int64; NULL where either set is NULL. In a join condition `overlap(a.set, b.set) >= c` is \
                   planned as a similarity join.",
    syntax_example = "overlap(a, b)",
    sql_example = r#"```sql
> SELECT overlap([1, 2, 3], [2, 3, 4, 5]) AS overlap;
+---------+
| overlap |
+---------+
| 2       |
+---------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Overlap {
    signature: Signature,
    aliases: Vec<String>,
}

impl Default for Overlap {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: ["array_overlap_count", "list_overlap_count"].map(String::from).to_vec(),
        }
    }
}

impl ScalarUDFImpl for Overlap {
    fn name(&self) -> &str {
        "overlap"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce_two_sets(self.name(), given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let counts: Int64Array = map_two_sets(&a, &b, |a, b| i64::try_from(count_common(a, b)).ok())?;
        Ok(ColumnarValue::Array(Arc::new(counts)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
