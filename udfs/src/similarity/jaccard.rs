use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{Measure, coerce_two_sets, similarity};

/// `jaccard(a, b)`: shared elements by all elements.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The Jaccard similarity of two sets: |a ∩ b| / |a ∪ b|.\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or both are empty. In a join condition \
                   `jaccard(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "jaccard(a, b)",
    sql_example = r#"```sql
> SELECT jaccard([1, 2, 3], [2, 3, 4, 5]) AS jaccard;
+---------+
| jaccard |
+---------+
| 0.4     |
+---------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Jaccard {
    signature: Signature,
    aliases: Vec<String>,
}

impl Default for Jaccard {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: ["array_jaccard", "list_jaccard"].map(String::from).to_vec(),
        }
    }
}

impl ScalarUDFImpl for Jaccard {
    fn name(&self) -> &str {
        "jaccard"
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
        similarity(self.name(), Measure::Jaccard, args.args, args.number_rows)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
