use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewBuilder};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::word_sequence::{PART, Parts, Sequence, coerce_sequence, sequence_array};
use crate::arguments::coerce_structs;

/// `mark_words(sequence, parts)`: the sequence with parts of it marked.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The words of a text, with the words of some parts marked, such as parts that many texts share. \
                   `aligned_words` and `shared_part` also count the shared words that are not marked. Existing marks \
                   stay; hashes and weights do not change.\n\n\
                   Returns BinaryView, the sequence. NULL if an argument is NULL; a part that lies outside of the text \
                   is an error.",
    syntax_example = "mark_words(sequence, parts)",
    sql_example = r#"```sql
> WITH texts AS (
    SELECT mark_words(word_sequence('Home Contents Index To be or not to be'), [{word_start: 0, word_end: 3}]) AS words
  )
  SELECT shared_part(words, words)['unmarked'] AS unmarked FROM texts;
+----------+
| unmarked |
+----------+
| 6        |
+----------+
```"#,
    argument(name = "sequence", description = "The words of the text, BinaryView, as `word_sequence` gives them."),
    argument(
        name = "parts",
        description = "The parts to mark, `List<Struct<word_start, word_end>>`: ordinals of words, half open. Parts with a NULL are left out."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct MarkWords {
    signature: Signature,
}

impl Default for MarkWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for MarkWords {
    fn name(&self) -> &str {
        "mark_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [sequence, parts] = take_function_args(self.name(), given)?;
        let example = "'word_start', word, 'word_end', word + 5";
        Ok(vec![coerce_sequence(self.name(), sequence)?, coerce_structs(self.name(), "parts", &PART, example, parts)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [sequences, parts] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        Ok(ColumnarValue::Array(mark_words(&sequences, &parts)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn mark_words(sequences: &ArrayRef, parts: &ArrayRef) -> Result<ArrayRef> {
    let (sequences, parts) = (sequence_array(sequences)?, Parts::try_new("mark_words", parts)?);
    let nulls = NullBuffer::union(sequences.nulls(), parts.nulls());
    let mut marked = BinaryViewBuilder::with_capacity(sequences.len());
    let mut bytes = Vec::new();
    for row in 0..sequences.len() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            marked.append_null();
            continue;
        }
        let sequence = Sequence::try_new("mark_words", sequences.value(row))?;
        sequence.write_marked(parts.row(row, sequence.len())?.into_iter(), &mut bytes);
        marked.append_value(&bytes);
    }
    Ok(Arc::new(marked.finish()))
}
