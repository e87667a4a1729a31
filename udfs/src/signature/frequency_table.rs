use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, UInt64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use super::frequencies::{frequencies_type, frequencies_value};

/// `frequency_table(element, frequency, sets)`: frequencies that were counted by `GROUP BY`, as one value.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "What `set_frequencies` gives, of frequencies that SQL has counted: `GROUP BY` goes to disk where there is no \
                   memory for all elements of a collection, and leaves those out that occur once.\n\n\
                   Returns `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`: the number of sets, the \
                   elements in ascending order, and the frequency of each. Rows with a NULL are passed over; of no rows the \
                   number of sets is 0. An element with two frequencies is an error, and so are two numbers of sets. Holds 16 \
                   bytes for each row in memory.",
    syntax_example = "frequency_table(element, frequency, sets)",
    sql_example = r#"```sql
> WITH t AS (SELECT column1 AS set FROM (VALUES ([1, 2]), ([2, 3])))
  SELECT frequency_table(element, frequency, sets)['tokens'] AS repeated
  FROM (
      SELECT element, count(*) AS frequency FROM (SELECT unnest(set) AS element FROM t)
      GROUP BY element HAVING count(*) > 1
  ) CROSS JOIN (SELECT count(set) AS sets FROM t);
+----------+
| repeated |
+----------+
| [2]      |
+----------+
```"#,
    argument(name = "element", description = "The element, UInt64."),
    argument(name = "frequency", description = "In how many sets it occurs, Int64."),
    argument(name = "sets", description = "How many sets there are, Int64; the same in each row.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrequencyTable {
    signature: Signature,
}

impl Default for FrequencyTable {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for FrequencyTable {
    fn name(&self) -> &str {
        "frequency_table"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let given: [_; 3] = take_function_args(self.name(), given)?;
        if let Some(other) = given.into_iter().find(|given| !given.is_integer() && !given.is_null()) {
            return plan_err!("frequency_table expects (element, frequency, sets), three whole numbers, got {other}");
        }
        Ok(vec![DataType::UInt64, DataType::Int64, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(frequencies_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Table::default()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(args.name, frequencies_type(), true))])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

#[derive(Debug, Default)]
struct Table {
    sets: Option<i64>,
    pairs: Vec<(u64, i64)>,
}

impl Table {
    fn set_sets(&mut self, sets: i64) -> Result<()> {
        match self.sets.replace(sets) {
            Some(before) if before != sets => {
                exec_err!(
                    "frequency_table: the number of sets is {before} in one row and {sets} in another; give one number"
                )
            }
            _ => Ok(()),
        }
    }
}

impl Accumulator for Table {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [elements, frequencies, sets] = take_function_args("frequency_table", values)?;
        let (elements, sets) = (elements.as_primitive::<UInt64Type>(), sets.as_primitive::<Int64Type>());
        let frequencies = frequencies.as_primitive::<Int64Type>();
        for row in 0..elements.len() {
            if elements.is_valid(row) && frequencies.is_valid(row) && sets.is_valid(row) {
                self.set_sets(sets.value(row))?;
                self.pairs.push((elements.value(row), frequencies.value(row)));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.pairs.sort_unstable();
        if let Some(twice) = self.pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return exec_err!("frequency_table: the element {} has two rows; count it by GROUP BY", twice[0].0);
        }
        frequencies_value(self.sets.unwrap_or(0), &self.pairs)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.pairs.capacity() * size_of::<(u64, i64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let rows = std::mem::take(&mut self.pairs);
        Ok(vec![match self.sets {
            Some(sets) => frequencies_value(sets, &rows)?,
            None => ScalarValue::try_new_null(&frequencies_type())?,
        }])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_struct();
        let sets = states.column(0).as_primitive::<Int64Type>();
        let (elements, counts) = (states.column(1).as_list::<i32>(), states.column(2).as_list::<i32>());
        for i in (0..states.len()).filter(|&i| states.is_valid(i)) {
            self.set_sets(sets.value(i))?;
            let (elements, counts) = (elements.value(i), counts.value(i));
            let (elements, counts) = (elements.as_primitive::<UInt64Type>(), counts.as_primitive::<Int64Type>());
            self.pairs.extend(elements.values().iter().copied().zip(counts.values().iter().copied()));
        }
        Ok(())
    }
}
