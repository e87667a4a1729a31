use std::sync::Arc;

use arrow::array::UInt64Array;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{coerce_two_sets, map_two_sets};

/// `first_common_token(a, b)`: the least element of both sets.
#[user_doc(
    doc_section(label = "Similarity join"),
    description = "The least element that two sets share. A join over the elements of two columns of sets meets a pair \
                   once for every shared element; the condition `first_common_token(a.set, b.set) = token` keeps it \
                   once, without DISTINCT and without row ids.\n\n\
                   Returns UInt64; NULL where either set is NULL or nothing is shared.",
    syntax_example = "first_common_token(a, b)",
    sql_example = r#"```sql
> SELECT first_common_token([1, 4, 7], [3, 4, 7]) AS token;
+-------+
| token |
+-------+
| 4     |
+-------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FirstCommonToken {
    signature: Signature,
}

impl Default for FirstCommonToken {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for FirstCommonToken {
    fn name(&self) -> &str {
        "first_common_token"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce_two_sets(self.name(), given)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        let tokens: UInt64Array = map_two_sets(&a, &b, first_common)?;
        Ok(ColumnarValue::Array(Arc::new(tokens)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn first_common(a: &[u64], b: &[u64]) -> Option<u64> {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        if x == y {
            return Some(x);
        }
        i += usize::from(x < y);
        j += usize::from(y < x);
    }
    None
}
