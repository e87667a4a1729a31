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
use super::hash_token;
use crate::arguments::{Tokens, coerce_tokens};

/// `document_frequencies(tokens)`: in how many rows each token occurs.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "In how many rows each token occurs, as one value to hand to `i_match` and `i_match_ranked`.\n\n\
                   Returns `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`: the number of rows \
                   whose list is not NULL, the hashes of the distinct tokens in ascending order, and the frequency of \
                   each. Holds one entry for each distinct token in memory.",
    syntax_example = "document_frequencies(tokens)",
    sql_example = r#"```sql
> SELECT document_frequencies(words(text))['documents'] AS documents FROM (VALUES ('a b'), ('b c')) AS t(text);
+-----------+
| documents |
+-----------+
| 2         |
+-----------+
```"#,
    argument(name = "tokens", description = "The tokens of a document or sentence, `List<Utf8>`.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct DocumentFrequencies {
    signature: Signature,
}

impl Default for DocumentFrequencies {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for DocumentFrequencies {
    fn name(&self) -> &str {
        "document_frequencies"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?])
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
    documents: i64,
    frequencies: HashMap<u64, i64>,
    /// The tokens of the row at hand.
    row: Vec<u64>,
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let tokens = Tokens::try_new(&values[0])?;
        for row in (0..values[0].len()).filter_map(|i| tokens.row(i)) {
            self.documents += 1;
            self.row.clear();
            self.row.extend(row.map(hash_token));
            self.row.sort_unstable();
            self.row.dedup();
            for &token in &self.row {
                *self.frequencies.entry(token).or_default() += 1;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut pairs: Vec<_> = self.frequencies.iter().map(|(&token, &df)| (token, df)).collect();
        pairs.sort_unstable();
        frequencies_value(self.documents, &pairs)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.frequencies.capacity() * size_of::<(u64, i64, u8)>() + self.row.capacity() * 8
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_struct();
        let documents = states.column(0).as_primitive::<Int64Type>();
        let (tokens, frequencies) = (states.column(1).as_list::<i32>(), states.column(2).as_list::<i32>());
        for i in (0..states.len()).filter(|&i| states.is_valid(i)) {
            self.documents += documents.value(i);
            let (tokens, frequencies) = (tokens.value(i), frequencies.value(i));
            let counted = frequencies.as_primitive::<Int64Type>().values();
            for (&token, df) in tokens.as_primitive::<UInt64Type>().values().iter().zip(counted) {
                *self.frequencies.entry(token).or_default() += df;
            }
        }
        Ok(())
    }
}
