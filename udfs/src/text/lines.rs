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
    description = "The lines of a text in order, unchanged, empty lines included. A line ends at a line feed, or at a \
                   carriage return and a line feed, which are not part of it. Lines suit texts that are edited by \
                   lines, such as source code, logs and drafts: over `multiset(lines(text))`, `containment` gives the \
                   share of the lines that another version kept.\n\n\
                   Returns `List<Utf8View>`. NULL for NULL; the empty list for empty text.",
    syntax_example = "lines(text)",
    sql_example = r#"```sql
> SELECT lines('to be' || chr(10) || chr(10) || 'or not to be') AS lines;
+-------------------------+
| lines                   |
+-------------------------+
| [to be, , or not to be] |
+-------------------------+
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

/// Calls `found` with the range of each line of `text`.
fn lines(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    for ended in text.split_inclusive('\n') {
        let line = ended.strip_suffix('\n').map_or(ended, |line| line.strip_suffix('\r').unwrap_or(line));
        found(start..start + line.len());
        start += ended.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        lines(text, &mut |range| found.push(&text[range]));
        found
    }

    #[test]
    fn lines_stand_as_they_are() {
        assert_eq!(of("one\r\n\n\t two\u{3000}words \nthree\r"), ["one", "", "\t two\u{3000}words ", "three\r"]);
        assert_eq!(of(""), [""; 0]);
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_standard_library(text in "[a \\n\\r\u{3000}]{0,30}") {
            prop_assert_eq!(of(&text), text.lines().collect::<Vec<_>>());
        }
    }
}
