use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{Measure, coerce_two_sets, similarity};

/// `dice(a, b)`: shared elements by the mean size.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The Dice coefficient of two sets: 2 |a ∩ b| / (|a| + |b|).\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or both are empty. In a join condition \
                   `dice(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "dice(a, b)",
    sql_example = r#"```sql
> SELECT dice([1, 2, 3], [2, 3, 4, 5]) AS dice;
+--------------------+
| dice               |
+--------------------+
| 0.5714285714285714 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Dice {
    signature: Signature,
    aliases: Vec<String>,
}

impl Default for Dice {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: ["array_dice", "list_dice"].map(String::from).to_vec(),
        }
    }
}

impl ScalarUDFImpl for Dice {
    fn name(&self) -> &str {
        "dice"
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
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        similarity(self.name(), Measure::Dice, args.args, args.number_rows)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
