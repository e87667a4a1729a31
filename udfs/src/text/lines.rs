use std::ops::Range;

use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::tokenize;
use crate::arguments::{coerce_text, tokens_type};

/// `lines(text)`: the lines of a text.
#[user_doc(
    doc_section(label = "Text"),
    description = "The lines of a text in order, without the white space around them; empty lines are left out. Lines end \
                   with a line feed, or a carriage return and a line feed. For texts that are edited by lines, such as \
                   source code, logs and drafts: `shingles(lines(text), 1)` is the set of the lines, of which \
                   `containment` gives the share that another version kept.\n\n\
                   Returns `List<Utf8View>`. NULL for NULL; the empty list for text without anything but white space.",
    syntax_example = "lines(text)",
    sql_example = r#"```sql
> SELECT lines('  to be' || chr(10) || chr(10) || 'or not to be') AS lines;
+-----------------------+
| lines                 |
+-----------------------+
| [to be, or not to be] |
+-----------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lines {
    signature: Signature,
}

impl Default for Lines {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Lines {
    fn name(&self) -> &str {
        "lines"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(tokens_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), &args.args)?;
        tokenize("lines", text, args.number_rows, lines)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Calls `found` with the range of each line of `text` that says something.
fn lines(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let start = end + (line.len() - line.trim_start().len());
        end += line.len();
        let trimmed = line.trim();
        if !trimmed.is_empty() {
            found(start..start + trimmed.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_white_space_around_them_and_are_not_empty() {
        let of = |text: &'static str| {
            let mut found = Vec::new();
            lines(text, &mut |range| found.push(&text[range]));
            found
        };
        assert_eq!(of("one\r\n\n\t two\u{3000}words \nthree"), ["one", "two\u{3000}words", "three"]);
        assert_eq!(of("\n \r\n"), [""; 0]);
        assert_eq!(of(""), [""; 0]);
    }
}
