use std::sync::Arc;

use arrow::array::{Array, AsArray, BinaryViewBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Int32Type};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::word_sequence::{Sequence, coerce_sequence, part, sequence_array};

/// `slice_words(sequence, word_start, word_end)`: a part of a sequence.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The words of a part of a text, from `word_start` to before `word_end`. The part is cut to the words \
                   that the text has. Words keep their marks, and the weights that they have in the whole text.\n\n\
                   Returns BinaryView, a sequence whose first word is 0. NULL if an argument is NULL; no bytes if \
                   nothing is left. A `word_start` above `word_end` is an error.",
    syntax_example = "slice_words(sequence, word_start, word_end)",
    sql_example = r#"```sql
> SELECT shared_part(slice_words(word_sequence('To be, or not to be'), 3, 9), word_sequence('Not to be.'))['shared'] AS shared;
+--------+
| shared |
+--------+
| 3      |
+--------+
```"#,
    argument(name = "sequence", description = "The words of the text, BinaryView, as `word_sequence` gives them."),
    argument(name = "word_start", description = "The first word, Int32, from 0."),
    argument(name = "word_end", description = "The word after the last, Int32.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SliceWords {
    signature: Signature,
}

impl Default for SliceWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SliceWords {
    fn name(&self) -> &str {
        "slice_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [sequence, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_sequence(self.name(), sequence)?, DataType::Int32, DataType::Int32])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [sequences, starts, ends] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        let sequences = sequence_array(&sequences)?;
        let (starts, ends) = (starts.as_primitive::<Int32Type>(), ends.as_primitive::<Int32Type>());
        let nulls = NullBuffer::union_many([sequences.nulls(), starts.nulls(), ends.nulls()]);
        let mut slices = BinaryViewBuilder::with_capacity(sequences.len());
        let mut bytes = Vec::new();
        for row in 0..sequences.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                slices.append_null();
                continue;
            }
            let sequence = Sequence::try_new(self.name(), sequences.value(row))?;
            let words = i32::try_from(sequence.len()).unwrap_or(i32::MAX);
            let within = |word: i32| word.clamp(0, words);
            sequence.write_part(
                part(self.name(), within(starts.value(row)), within(ends.value(row)), sequence.len())?,
                &mut bytes,
            );
            slices.append_value(&bytes);
        }
        Ok(ColumnarValue::Array(Arc::new(slices.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
