use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{Measure, coerce_two_sets, similarity};

/// `cosine(a, b)`: shared elements by the geometric mean of the sizes.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The cosine similarity of two sets, each seen as a vector of ones: |a ∩ b| / √(|a| |b|).\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or either is empty. In a join condition \
                   `cosine(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "cosine(a, b)",
    sql_example = r#"```sql
> SELECT cosine([1, 2, 3], [2, 3, 4, 5]) AS cosine;
+--------------------+
| cosine             |
+--------------------+
| 0.5773502691896258 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cosine {
    signature: Signature,
    aliases: Vec<String>,
}

impl Default for Cosine {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: ["array_cosine", "list_cosine"].map(String::from).to_vec(),
        }
    }
}

impl ScalarUDFImpl for Cosine {
    fn name(&self) -> &str {
        "cosine"
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
        similarity(self.name(), Measure::Cosine, args.args, args.number_rows)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
