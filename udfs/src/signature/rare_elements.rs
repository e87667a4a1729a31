use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Frequencies, coerce_frequencies};
use super::sets_of_sets;
use crate::arguments::{coerce_set, constant_integer, keep_constants, set_type};

/// `rare_elements(set, frequencies, max_frequency)`: a set without its frequent elements.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The elements of a set that occur in at most `max_frequency` sets.\n\n\
                   Returns `List<UInt64>`, empty where all are more frequent; NULL for NULL.",
    syntax_example = "rare_elements(set, frequencies, max_frequency)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS set FROM (VALUES ([1, 9]), ([2, 9]), ([3, 9])))
  SELECT rare_elements(set, (SELECT set_frequencies(set) FROM t), 2) AS rare FROM t ORDER BY rare;
+------+
| rare |
+------+
| [1]  |
| [2]  |
| [3]  |
+------+
```"#,
    argument(name = "set", description = "The set, `List<UInt64>`."),
    argument(name = "frequencies", description = "The result of `set_frequencies` for all sets; a constant."),
    argument(
        name = "max_frequency",
        description = "The greatest number of sets in which an element may occur, from 1; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct RareElements {
    signature: Signature,
}

impl Default for RareElements {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for RareElements {
    fn name(&self) -> &str {
        "rare_elements"
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
        let [set, frequencies, most] = take_function_args(self.name(), args.args)?;
        let most = constant_integer(self.name(), "max_frequency", &most, 1..=i64::MAX)?;
        let frequencies = Frequencies::try_new(self.name(), &frequencies)?;
        sets_of_sets(set, rows, |set, rare| {
            rare.extend(set.iter().filter(|&&element| frequencies.of_hash(element) <= most));
        })
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
