use std::sync::Arc;

use arrow::array::{Array, Int32Array};
use arrow::datatypes::DataType;
use datafusion_common::cast::as_int32_array;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use crate::arguments::{coerce_text, text_array};

/// `count_characters(text, byte_start, byte_end)`: the characters of a range of bytes.
#[user_doc(
    doc_section(label = "Text"),
    description = "The number of Unicode code points in a half-open range of bytes of a text.\n\n\
                   Returns Int32; NULL if an argument is NULL. A range that lies outside the text, or begins or ends \
                   inside a character, is an error.",
    syntax_example = "count_characters(text, byte_start, byte_end)",
    sql_example = r#"```sql
> SELECT count_characters('déjà vu', 0, 6) AS characters;
+------------+
| characters |
+------------+
| 4          |
+------------+
```"#,
    argument(name = "text", description = "The text, Utf8."),
    argument(name = "byte_start", description = "The first byte, Int32, from 0."),
    argument(name = "byte_end", description = "The byte after the last, Int32.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CountCharacters {
    signature: Signature,
}

impl Default for CountCharacters {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for CountCharacters {
    fn name(&self) -> &str {
        "count_characters"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?, DataType::Int32, DataType::Int32])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text, start, end] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        let (text, start, end) = (text_array(&text)?, as_int32_array(&start)?, as_int32_array(&end)?);
        let mut counts = Int32Array::builder(text.len());
        for i in 0..text.len() {
            if text.is_null(i) || start.is_null(i) || end.is_null(i) {
                counts.append_null();
                continue;
            }
            let (from, to) = (start.value(i), end.value(i));
            let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
            let Some(slice) = range.and_then(|(from, to)| text.value(i).get(from..to)) else {
                return exec_err!(
                    "count_characters: bytes {from} to {to} are no whole characters of a text of {} bytes",
                    text.value(i).len()
                );
            };
            counts.append_option(i32::try_from(slice.chars().count()).ok());
        }
        Ok(ColumnarValue::Array(Arc::new(counts.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}
