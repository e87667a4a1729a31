use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{Counts, frequencies_type};
use crate::arguments::{Sets, coerce_set};

/// `set_frequencies(set)`: the number of rows in which each element occurs.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The number of sets in which each element occurs, as one value for `shared_weight`, `weighted`, \
                   `rare_elements` and `simhash`.\n\n\
                   Returns `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`: the number of sets \
                   that are not NULL, the elements that occur in more than one of them, in ascending order, and the \
                   frequency of each. An element that is not listed occurs once. Holds an entry of about 20 bytes for \
                   each distinct element in memory.",
    syntax_example = "set_frequencies(set)",
    sql_example = r#"```sql
> SELECT set_frequencies(set)['tokens'] AS repeated FROM (VALUES ([1, 2]), ([2, 3])) AS t(set);
+----------+
| repeated |
+----------+
| [2]      |
+----------+
```"#,
    argument(name = "set", description = "The set, `List<UInt64>`, as `shingles` gives it.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SetFrequencies {
    signature: Signature,
}

impl Default for SetFrequencies {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for SetFrequencies {
    fn name(&self) -> &str {
        "set_frequencies"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [set] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_set(self.name(), set)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(frequencies_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts::new(sets, 2)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, frequencies_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn sets(sets: &ArrayRef, each: &mut dyn FnMut(&[u64])) -> Result<()> {
    let rows = Sets::try_new(sets)?;
    let mut scratch = Vec::new();
    for i in 0..sets.len() {
        if let Some(set) = rows.row(i, &mut scratch) {
            each(set);
        }
    }
    Ok(())
}
