use std::ops::Range;

use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::broken_words::Joined;
use super::{segmenter, tokenize};
use crate::arguments::{coerce_text, tokens_type};

/// `words(text)`: the words of a text.
#[user_doc(
    doc_section(label = "Text"),
    description = "The words of a text in order, spelled as in the text. A word is a segment of UAX #29 that has a \
                   letter or a digit, so punctuation and symbols are left out. Chinese and Japanese words are found \
                   with ICU's dictionary; Thai, Lao, Khmer and Burmese ones with its models. A word that a hyphen \
                   (`-`, U+00AD, `¬`, `⸗`) breaks at the end of a line is one word if it goes on with a small letter. \
                   `words(normalize(text))` has the words in one spelling.\n\n\
                   Returns `List<Utf8View>`, which shares the memory of the argument. NULL for NULL; the empty list \
                   for a text without words.",
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
        tokenize("words", text, args.number_rows, words)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Calls `found` with the range of each word of `text`. A word that is broken at the end of a line is one word, with
/// its hyphen.
pub(super) fn words(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    match Joined::try_new(text) {
        Some(joined) => words_of_whole(&joined.text, &mut |word| found(joined.place(word))),
        None => words_of_whole(text, found),
    }
}

/// Calls `found` with the range of each word of a text without broken words.
///
/// Stretches of ASCII take a fast path, which knows the few rules that matter there. A stretch ends at a space, across
/// which no rule looks.
fn words_of_whole(text: &str, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let other = bytes[start..].iter().position(|byte| !byte.is_ascii()).map(|ascii| start + ascii);
        let end = match other {
            None => bytes.len(),
            Some(other) => bytes[start..other].iter().rposition(|byte| *byte == b' ').map_or(start, |at| start + at),
        };
        words_of_ascii(bytes, start..end, found);
        let Some(other) = other else { return };
        let is_end = |pair: &[u8]| pair[0] == b' ' && pair[1].is_ascii();
        start = bytes[other..].windows(2).position(is_end).map_or(bytes.len(), |length| other + length);
        words_of_any(text, end..start, found);
    }
}

/// Calls `found` with the range of each word of a stretch of `text`.
fn words_of_any(text: &str, stretch: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let mut start = stretch.start;
    for end in segmenter().segment_str(&text[stretch.clone()]) {
        let end = stretch.start + end;
        if text[start..end].chars().any(char::is_alphanumeric) {
            found(start..end);
        }
        start = end;
    }
}

/// Calls `found` as [`words_of_any`] does, for ASCII: UAX #29, WB5 to WB13b.
fn words_of_ascii(bytes: &[u8], stretch: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = &bytes[..stretch.end];
    let mut at = stretch.start;
    while at < bytes.len() {
        let start = at;
        let mut is_word = false;
        while let Some(&byte) = bytes.get(at) {
            let goes_on = match (byte, bytes.get(at.wrapping_sub(1)), bytes.get(at + 1)) {
                (b'_', ..) => true,
                _ if byte.is_ascii_alphanumeric() => {
                    is_word = true;
                    true
                }
                // Between two letters, or between two digits.
                (b'.' | b'\'', Some(before), Some(after)) if at > start => {
                    (before.is_ascii_alphabetic() && after.is_ascii_alphabetic())
                        || (before.is_ascii_digit() && after.is_ascii_digit())
                }
                (b':', Some(before), Some(after)) if at > start => {
                    before.is_ascii_alphabetic() && after.is_ascii_alphabetic()
                }
                (b',' | b';', Some(before), Some(after)) if at > start => {
                    before.is_ascii_digit() && after.is_ascii_digit()
                }
                _ => false,
            };
            if !goes_on {
                break;
            }
            at += 1;
        }
        if is_word {
            found(start..at);
        }
        at = at.max(start + 1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn words_of(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        words(text, &mut |range| found.push(&text[range]));
        found
    }

    #[test]
    fn punctuation_is_no_word() {
        assert_eq!(words_of("It's 3.14 -- isn't it?! _ © x_y"), ["It's", "3.14", "isn't", "it", "x_y"]);
        assert_eq!(words_of(" \n…—😀\u{feff}"), [""; 0]);
        assert_eq!(words_of(""), [""; 0]);
    }

    #[test]
    fn a_word_that_is_broken_at_the_end_of_a_line_is_one() {
        let text = "An exam-\n  ple of-\nBonn, im Früh\u{ad}\nling";
        assert_eq!(words_of(text), ["An", "exam-\n  ple", "of", "Bonn", "im", "Früh\u{ad}\nling"]);
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
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_short_way_of_ascii_finds_the_same(text in "([ -~]|[a1_ .,:;'\"]|[\\n\\r\\t é\u{301}字ไ\u{200d}\u{2019}\u{a0}]){0,40}") {
            let [mut expected, mut found] = [Vec::new(), Vec::new()];
            words_of_any(&text, 0..text.len(), &mut |range| expected.push(&text[range]));
            words_of_whole(&text, &mut |range| found.push(&text[range]));
            prop_assert_eq!(found, expected);
        }
    }

    proptest! {
        #[test]
        fn words_are_in_order_and_leave_out_no_letter(text in "[a-zA-Z0-9 .,'_\"é\u{301}字我们ไทย\n…。\u{200d}😀]{0,60}") {
            let mut at = 0;
            let mut between = String::new();
            words(&text, &mut |range| {
                between.push_str(&text[at..range.start]);
                at = range.end;
            });
            between.push_str(&text[at..]);
            prop_assert!(!between.chars().any(char::is_alphanumeric), "{:?}", between);
        }
    }
}
