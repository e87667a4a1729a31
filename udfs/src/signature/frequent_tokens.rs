use std::collections::{HashMap, HashSet};
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::{Accumulator, AggregateUDFImpl, Documentation, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{Tokens, coerce_tokens, constant_integer, one_list, tokens_type};

/// `frequent_tokens(tokens, k)`: the tokens that occur in the most rows.
#[user_doc(
    doc_section(label = "Signatures"),
    description = "The `k` tokens that occur in the most rows, most frequent first, and equally frequent ones in code \
                   point order: the antecedents that PDC-MR (section 5.3) gives to SpotSigs.\n\n\
                   Returns `List<Utf8View>`, shorter than `k` if there are fewer tokens. Holds every distinct token in \
                   memory.",
    syntax_example = "frequent_tokens(tokens, k)",
    sql_example = r#"```sql
> SELECT frequent_tokens(words(text), 2) AS frequent FROM (VALUES ('a b c'), ('b c'), ('c')) AS t(text);
+----------+
| frequent |
+----------+
| [c, b]   |
+----------+
```"#,
    argument(name = "tokens", description = "The tokens of a document or sentence, `List<Utf8>`."),
    argument(name = "k", description = "The number of tokens to return, from 1; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FrequentTokens {
    signature: Signature,
}

impl Default for FrequentTokens {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for FrequentTokens {
    fn name(&self) -> &str {
        "frequent_tokens"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [tokens, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_tokens(self.name(), tokens)?, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        // A constant is evaluated without rows.
        let no_rows = RecordBatch::new_empty(Arc::new(args.schema.clone()));
        let k = constant_integer(self.name(), "k", &args.exprs[1].evaluate(&no_rows)?, 1..=i64::from(i32::MAX))?;
        Ok(Box::new(Counts { k: usize::try_from(k).unwrap_or(usize::MAX), frequencies: HashMap::new(), bytes: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let frequencies = DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true)));
        Ok(vec![
            Arc::new(Field::new(format!("{}[tokens]", args.name), tokens_type(), true)),
            Arc::new(Field::new(format!("{}[frequencies]", args.name), frequencies, true)),
        ])
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

#[derive(Debug)]
struct Counts {
    k: usize,
    frequencies: HashMap<Box<str>, i64>,
    /// The bytes of all tokens.
    bytes: usize,
}

impl Counts {
    fn add(&mut self, token: &str, df: i64) {
        if let Some(count) = self.frequencies.get_mut(token) {
            *count += df;
        } else {
            self.bytes += token.len();
            self.frequencies.insert(token.into(), df);
        }
    }

    /// Returns all tokens, the most frequent first.
    fn ranked(&self) -> Vec<(&str, i64)> {
        let mut pairs: Vec<_> = self.frequencies.iter().map(|(token, &df)| (token.as_ref(), df)).collect();
        pairs.sort_unstable_by(|x, y| y.1.cmp(&x.1).then(x.0.cmp(y.0)));
        pairs
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let tokens = Tokens::try_new(&values[0])?;
        let mut seen = HashSet::new();
        for row in (0..values[0].len()).filter_map(|i| tokens.row(i)) {
            seen.clear();
            row.filter(|token| seen.insert(*token)).for_each(|token| self.add(token, 1));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ranked = self.ranked();
        one_list(Arc::new(StringViewArray::from_iter_values(ranked.iter().take(self.k).map(|pair| pair.0))))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes + self.frequencies.capacity() * size_of::<(Box<str>, i64, u8)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let ranked = self.ranked();
        Ok(vec![
            one_list(Arc::new(StringViewArray::from_iter_values(ranked.iter().map(|pair| pair.0))))?,
            one_list(Arc::new(Int64Array::from_iter_values(ranked.iter().map(|pair| pair.1))))?,
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (tokens, frequencies) = (states[0].as_list::<i32>(), states[1].as_list::<i32>());
        for i in (0..tokens.len()).filter(|&i| tokens.is_valid(i)) {
            let (tokens, frequencies) = (tokens.value(i), frequencies.value(i));
            for (token, &df) in tokens.as_string_view().iter().zip(frequencies.as_primitive::<Int64Type>().values()) {
                if let Some(token) = token {
                    self.add(token, df);
                }
            }
        }
        Ok(())
    }
}
