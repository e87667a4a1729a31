use std::collections::HashMap;
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, UInt64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{frequencies_type, frequencies_value};
use crate::arguments::{Sets, coerce_set};

/// `set_frequencies(set)`: in how many rows each element occurs.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "In how many sets each element occurs, as one value to hand to `shared_weight`.\n\n\
                   Returns `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`: the number of sets \
                   that are not NULL, the elements in ascending order that occur in more than one of them, and the \
                   frequency of each; an element that is not listed occurs once. Holds an entry of some 20 bytes for \
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
        Ok(Box::new(Counts::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, frequencies_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

#[derive(Debug, Default)]
struct Counts {
    sets: i64,
    frequencies: HashMap<u64, u32>,
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let sets = Sets::try_new(&values[0])?;
        let mut scratch = Vec::new();
        for i in 0..values[0].len() {
            let Some(set) = sets.row(i, &mut scratch) else { continue };
            self.sets += 1;
            for &element in set {
                let count = self.frequencies.entry(element).or_default();
                *count = count.saturating_add(1);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let repeated = self.frequencies.iter().filter(|&(_, &count)| count > 1);
        let mut pairs: Vec<_> = repeated.map(|(&element, &count)| (element, i64::from(count))).collect();
        pairs.sort_unstable();
        frequencies_value(self.sets, &pairs)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.frequencies.capacity() * size_of::<(u64, u32, u8)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let pairs: Vec<_> = self.frequencies.iter().map(|(&element, &count)| (element, i64::from(count))).collect();
        Ok(vec![frequencies_value(self.sets, &pairs)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_struct();
        let sets = states.column(0).as_primitive::<Int64Type>();
        let (elements, counts) = (states.column(1).as_list::<i32>(), states.column(2).as_list::<i32>());
        for i in (0..states.len()).filter(|&i| states.is_valid(i)) {
            self.sets += sets.value(i);
            let (elements, counts) = (elements.value(i), counts.value(i));
            let counted = counts.as_primitive::<Int64Type>().values();
            for (&element, &more) in elements.as_primitive::<UInt64Type>().values().iter().zip(counted) {
                let count = self.frequencies.entry(element).or_default();
                *count = count.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
            }
        }
        Ok(())
    }
}
