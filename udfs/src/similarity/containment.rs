use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::{Measure, coerce_two_sets, similarity};

/// `containment(a, b)`: the share of `a` that is in `b`.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The containment of the first set in the second, the share of `a` that is in `b`: |a ∩ b| / |a| (Broder \
                   1997). It is 1 where `b` contains all of `a`, and not symmetric: `containment(b, a)` is the share of `b` \
                   that is in `a`.\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or the first is empty. In a join condition \
                   `containment(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "containment(a, b)",
    sql_example = r#"```sql
> SELECT containment([1, 2, 3], [2, 3, 4, 5]) AS containment;
+--------------------+
| containment        |
+--------------------+
| 0.6666666666666666 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Containment {
    signature: Signature,
    aliases: Vec<String>,
}

impl Default for Containment {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: ["array_containment", "list_containment"].map(String::from).to_vec(),
        }
    }
}

impl ScalarUDFImpl for Containment {
    fn name(&self) -> &str {
        "containment"
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
        similarity(self.name(), Measure::Containment, args.args, args.number_rows)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
