use std::ops::Range;

use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::tokenize;
use crate::arguments::{coerce_text, tokens_type};

/// `words(text)`: the words of a text.
#[user_doc(
    doc_section(label = "Text"),
    description = "The words of a text in order, as they stand there: the segments of UAX #29 that have a letter or a \
                   digit, so that punctuation and symbols are left out. Chinese and Japanese words are found with ICU's \
                   dictionary; Thai, Lao, Khmer and Burmese ones with its models. `words(normalize(text))` has the \
                   words in one spelling.\n\n\
                   Returns `List<Utf8View>`, which shares the text with the argument. NULL for NULL; the empty list for \
                   text without words.",
    syntax_example = "words(text)",
    sql_example = r#"```sql
> SELECT words('It''s 3.14, isn''t it? 我们在北京。') AS words;
+-----------------------------------------+
| words                                   |
+-----------------------------------------+
| [It's, 3.14, isn't, it, 我们, 在, 北京] |
+-----------------------------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Words {
    signature: Signature,
}

impl Default for Words {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Words {
    fn name(&self) -> &str {
        "words"
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
        let segmenter = WordSegmenter::new_auto(Default::default());
        tokenize("words", text, args.number_rows, |text, found| words(segmenter, text, found))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Calls `found` with the range of each word of `text`.
pub(super) fn words(segmenter: WordSegmenterBorrowed<'_>, text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    for end in segmenter.segment_str(text) {
        if text[start..end].chars().any(char::is_alphanumeric) {
            found(start..end);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn words_of(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        words(WordSegmenter::new_auto(Default::default()), text, &mut |range| found.push(&text[range]));
        found
    }

    #[test]
    fn punctuation_is_no_word() {
        assert_eq!(words_of("It's 3.14 -- isn't it?! _ © x_y"), ["It's", "3.14", "isn't", "it", "x_y"]);
        assert_eq!(words_of(" \n…—😀\u{feff}"), [""; 0]);
        assert_eq!(words_of(""), [""; 0]);
    }

    #[test]
    fn scripts_without_spaces_have_words() {
        assert_eq!(words_of("我们在北京。"), ["我们", "在", "北京"]);
        assert_eq!(words_of("ภาษาไทย"), ["ภาษา", "ไทย"]);
    }

    #[test]
    fn hostile_text_takes_no_longer() {
        let started = Instant::now();
        for piece in
            ["x", "'", "a.", "a.\u{301}", "\u{301}", "字", "ไ", "\u{200d}😀", "1,", "\0", "\u{202e}", "カ", "🇩"]
        {
            words_of(&piece.repeat(1_000_000 / piece.len()));
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn words_are_in_order_and_leave_out_no_letter(text in "[a-zA-Z0-9 .,'_\"é\u{301}字我们ไทย\n…。\u{200d}😀]{0,60}") {
            let mut at = 0;
            let mut between = String::new();
            words(WordSegmenter::new_auto(Default::default()), &text, &mut |range| {
                between.push_str(&text[at..range.start]);
                at = range.end;
            });
            between.push_str(&text[at..]);
            prop_assert!(!between.chars().any(char::is_alphanumeric), "{:?}", between);
        }
    }
}
