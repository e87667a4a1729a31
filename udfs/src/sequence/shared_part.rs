use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::aligned_words::{Aligner, PASSAGE_FIELDS, Pair, Part, columns};
use super::word_sequence::{Sequence, coerce_sequence, sequence_array};

/// `shared_part(sequence_a, sequence_b)`: the part of each of two texts that is dense in words of the other.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The part of each of two related texts that is dense in words of the other. It is the run with the \
                   highest sum: words that the other side has add their weight (`word_sequence`), and others subtract, \
                   so that the run stays at least .7 times as dense in shared words as the whole texts. \
                   `aligned_words` finds such parts of long texts from seeds.\n\n\
                   Returns a struct with the fields of a passage of `aligned_words`. NULL if an argument is NULL; \
                   empty parts at the start if the two share no word.",
    syntax_example = "shared_part(sequence_a, sequence_b)",
    sql_example = r#"```sql
> SELECT shared_part(word_sequence('And then: to be or not to be'), word_sequence('To be or not to be, he said')) AS part;
+-----------------------------------------------------------------------------------------------------------+
| part                                                                                                      |
+-----------------------------------------------------------------------------------------------------------+
| {word_a_start: 2, word_a_end: 8, word_b_start: 0, word_b_end: 6, shared: 6, unmarked: 6, similarity: 1.0} |
+-----------------------------------------------------------------------------------------------------------+
```"#,
    argument(
        name = "sequence_a",
        description = "The words of the first text, BinaryView, as `word_sequence` and `slice_words` give them."
    ),
    argument(name = "sequence_b", description = "The words of the second text.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharedPart {
    signature: Signature,
}

impl Default for SharedPart {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SharedPart {
    fn name(&self) -> &str {
        "shared_part"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_sequence(self.name(), a)?, coerce_sequence(self.name(), b)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(PASSAGE_FIELDS.clone()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [a, b] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        Ok(ColumnarValue::Array(shared_part(&a, &b)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn shared_part(a: &ArrayRef, b: &ArrayRef) -> Result<ArrayRef> {
    let (a, b) = (sequence_array(a)?, sequence_array(b)?);
    let nulls = NullBuffer::union(a.nulls(), b.nulls());
    let mut aligner = Aligner::default();
    let mut parts = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        // Where a side is NULL it has no words.
        let [a, b] = [a, b].map(|bytes| Sequence::try_new("shared_part", bytes.unwrap_or_default()));
        let pair = Pair { a: a?, b: b?, is_same: false };
        let part = aligner.fit_whole(&pair).unwrap_or(Part { a: 0..0, b: 0..0 });
        parts.push(pair.compare(part));
    }
    Ok(Arc::new(StructArray::try_new(PASSAGE_FIELDS.clone(), columns(&parts), nulls)?))
}
