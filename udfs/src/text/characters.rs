use std::ops::Range;

use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::tokenize;
use crate::arguments::{coerce_text, tokens_type};

/// `characters(text)`: the characters of a text.
#[user_doc(
    doc_section(label = "Text"),
    description = "The characters of a text in order, without white space: one token for each Unicode code point, the \
                   unit in which `sentences` counts characters. Punctuation stays. Combining marks are separate \
                   characters; `normalize` joins them to their letters where Unicode has such a character. For \
                   Chinese, and where words are misspelt or run together, shingles of characters find what shingles of \
                   words miss.\n\n\
                   Returns `List<Utf8View>`. NULL for NULL; the empty list for a text that is empty or only white \
                   space.",
    syntax_example = "characters(text)",
    sql_example = r#"```sql
> SELECT characters(normalize('Ab 北京。')) AS characters;
+--------------------+
| characters         |
+--------------------+
| [a, b, 北, 京, 。] |
+--------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Characters {
    signature: Signature,
}

impl Default for Characters {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Characters {
    fn name(&self) -> &str {
        "characters"
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
        tokenize("characters", text, args.number_rows, characters)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Calls `found` with the range of each character of `text` that is no white space.
fn characters(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    for (start, character) in text.char_indices() {
        if !character.is_whitespace() {
            found(start..start + character.len_utf8());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_white_space_is_a_character() {
        let of = |text: &'static str| {
            let mut found = Vec::new();
            characters(text, &mut |range| found.push(&text[range]));
            found
        };
        assert_eq!(of("a 北\u{3000}京。\n"), ["a", "北", "京", "。"]);
        assert_eq!(of("e\u{301}😀"), ["e", "\u{301}", "😀"]);
        assert_eq!(of(" \u{a0}\n"), [""; 0]);
    }
}
