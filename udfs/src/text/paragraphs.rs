//! `paragraphs(text)`: the paragraphs of a text, and their places.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::sentences::{fields_of, lists_of};
use crate::arguments::{coerce_text, text_array};

/// `paragraphs(text)`: the paragraphs of a text, and their places.
#[user_doc(
    doc_section(label = "Text"),
    description = "The paragraphs of a text in order. They are separated by blank lines, which have nothing but white \
                   space. A paragraph begins at its first character that is not white space and ends after its last \
                   one; the white space between two paragraphs belongs to neither.\n\n\
                   Returns `List<Struct<paragraph Int32, char_start Int32, char_end Int32, byte_start Int32, byte_end \
                   Int32, text Utf8View>>`: the ordinal from 0, half-open offsets in characters and in bytes, and the \
                   text between them. NULL for NULL; the empty list for a text that is empty or only white space. A \
                   text of more than 2,147,483,647 bytes is an error.",
    syntax_example = "paragraphs(text)",
    sql_example = r#"```sql
> SELECT p['paragraph'] AS paragraph, p['char_start'] AS char_start, p['text'] AS text
  FROM (SELECT unnest(paragraphs('To be,' || chr(10) || 'or not.' || chr(10) || chr(10) || 'That is it.')) AS p);
+-----------+------------+-------------+
| paragraph | char_start | text        |
+-----------+------------+-------------+
| 0         | 0          | To be,      |
|           |            | or not.     |
| 1         | 16         | That is it. |
+-----------+------------+-------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Paragraphs {
    signature: Signature,
}

impl Default for Paragraphs {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// Returns the fields of a paragraph.
fn paragraph_fields() -> Fields {
    fields_of("paragraph")
}

impl ScalarUDFImpl for Paragraphs {
    fn name(&self) -> &str {
        "paragraphs"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(paragraph_fields()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), &args.args)?;
        let texts = text.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(lists_of("paragraphs", text_array(&texts)?, &paragraph_fields(), split)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the places of the paragraphs in bytes.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let (mut at, mut goes_on) = (0, false);
    for line in text.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        at += line.len();
        match paragraphs.last_mut() {
            _ if start >= end => goes_on = false,
            Some(last) if goes_on => last.end = end,
            _ => {
                paragraphs.push(start..end);
                goes_on = true;
            }
        }
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blank_lines_part_paragraphs() {
        let text = " \n one\r\ntwo \r\n \t\r\nthree\n\n\n";
        let found: Vec<_> = split(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["one\r\ntwo", "three"]);
        assert!(split(" \n\u{3000}\n").is_empty());
    }

    proptest! {
        #[test]
        fn between_paragraphs_there_is_white_space_with_a_blank_line(text in "[a \\n\\r\u{e9}\u{3000}]{0,40}") {
            let mut at = 0;
            for range in split(&text) {
                let between = &text[at..range.start];
                prop_assert!(between.trim().is_empty() && (at == 0 || between.matches('\n').count() >= 2), "{:?}", between);
                prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                prop_assert!(!range.is_empty());
                at = range.end;
            }
            prop_assert!(text[at..].trim().is_empty());
        }
    }
}
