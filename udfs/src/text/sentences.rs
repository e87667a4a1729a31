use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::utils::take_function_args;
use datafusion_common::{DataFusionError, Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::sentence_rules::split;
use super::{Lists, Pieces};
use crate::arguments::{coerce_text, text_array};

/// `sentences(text)`: the sentences of a text and where they are.
#[user_doc(
    doc_section(label = "Text"),
    description = "The sentences of a text in order, and where they are: UAX #29 as ICU has it, with rules of ibid's own \
                   for abbreviations, initials, numbers, addresses, quotes, lists, headings, wrapped lines and Chinese \
                   punctuation (each with examples in `sentence_rules.rs`). Outside of the sentences there is nothing \
                   but white space.\n\n\
                   Returns `List<Struct<sent Int32, char_start Int32, char_end Int32, byte_start Int32, byte_end Int32, \
                   text Utf8View>>`: the ordinal from 0, half-open offsets into the text as given in characters \
                   (Unicode code points) and in bytes of UTF-8, and the text between them without white space at either \
                   end, which is shared with the argument. NULL for NULL; the empty list for text without anything but \
                   white space. A text of 2 GiB or more is an error.",
    syntax_example = "sentences(text)",
    sql_example = r#"```sql
> SELECT s['sent'] AS sent, s['char_start'] AS char_start, s['char_end'] AS char_end, s['text'] AS text
  FROM (SELECT unnest(sentences('Dr. No said “Stop!” and left. 他走了。“再见！”')) AS s);
+------+------------+----------+-------------------------------+
| sent | char_start | char_end | text                          |
+------+------------+----------+-------------------------------+
| 0    | 0          | 29       | Dr. No said “Stop!” and left. |
| 1    | 30         | 34       | 他走了。                      |
| 2    | 34         | 39       | “再见！”                      |
+------+------------+----------+-------------------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sentences {
    signature: Signature,
}

impl Default for Sentences {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Sentences {
    fn name(&self) -> &str {
        "sentences"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(sentence_fields()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), &args.args)?;
        let texts = text.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(sentences(text_array(&texts)?)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The fields of a sentence.
pub fn sentence_fields() -> Fields {
    fields_of("sent")
}

/// The fields of a part of a text: its ordinal, of this name, its place, and its text.
pub(super) fn fields_of(ordinal: &str) -> Fields {
    let number = |name| Field::new(name, DataType::Int32, true);
    Fields::from(vec![
        number(ordinal),
        number("char_start"),
        number("char_end"),
        number("byte_start"),
        number("byte_end"),
        Field::new("text", DataType::Utf8View, true),
    ])
}

/// The lists of sentences of `texts`.
fn sentences(texts: &StringViewArray) -> Result<ArrayRef> {
    lists_of("sentences", texts, &sentence_fields(), |text| split(text).collect())
}

/// The lists of the parts of `texts` that `split` gives, each with its ordinal and its place, for the function `name`.
pub(super) fn lists_of(
    name: &'static str,
    texts: &StringViewArray,
    fields: &Fields,
    split: impl Fn(&str) -> Vec<Range<usize>>,
) -> Result<ArrayRef> {
    let mut lists = Lists::new(name, texts);
    let mut found = Found::new(texts);
    for (row, text) in texts.iter().enumerate() {
        if let Some(text) = text {
            placed(name, text, split(text).into_iter())?.for_each(|place| found.push(row, text, place));
        }
        lists.end_row(found.len())?;
    }
    Ok(Arc::new(lists.finish(Arc::new(found.finish(fields)?))?))
}

/// Calls `give` with the sentences of `texts` as the function `sentences` has them, in order, `most` at a time: the row of
/// each, and what there is to know of it. However many a text has, no more are in memory.
pub fn each_sentences<E: From<DataFusionError>>(
    texts: &StringViewArray,
    most: usize,
    mut give: impl FnMut(Vec<usize>, StructArray) -> Result<(), E>,
) -> Result<(), E> {
    let mut found = Found::new(texts);
    let mut rows = Vec::new();
    for (row, text) in texts.iter().enumerate() {
        for place in text.map(cut).transpose()?.into_iter().flatten() {
            found.push(row, text.unwrap_or_default(), place);
            rows.push(row);
            if found.len() == most {
                let full = std::mem::replace(&mut found, Found::new(texts));
                give(std::mem::take(&mut rows), full.finish(&sentence_fields())?)?;
            }
        }
    }
    if rows.is_empty() { Ok(()) } else { give(rows, found.finish(&sentence_fields())?) }
}

/// The places of the sentences of a text.
fn cut(text: &str) -> Result<impl Iterator<Item = [usize; 5]>> {
    placed("sentences", text, split(text))
}

/// The places of the parts of a text: their ordinals, where they begin and end in characters, and in bytes.
fn placed(
    name: &str,
    text: &str,
    parts: impl Iterator<Item = Range<usize>>,
) -> Result<impl Iterator<Item = [usize; 5]>> {
    if i32::try_from(text.len()).is_err() {
        return exec_err!(
            "{name}: a text has {} bytes, more than the {} that offsets can tell; split it into several documents",
            text.len(),
            i32::MAX
        );
    }
    let (mut at, mut characters) = (0, 0);
    Ok(parts.enumerate().map(move |(part, range)| {
        let char_start = characters + text[at..range.start].chars().count();
        let char_end = char_start + text[range.clone()].chars().count();
        (at, characters) = (range.end, char_end);
        [part, char_start, char_end, range.start, range.end]
    }))
}

/// Sentences of the texts of a column.
struct Found<'a> {
    offsets: Offsets,
    pieces: Pieces<'a>,
}

impl<'a> Found<'a> {
    fn new(texts: &'a StringViewArray) -> Self {
        Self { offsets: Offsets::default(), pieces: Pieces::new(texts) }
    }

    /// Adds the sentence of this place in `text`, which is the text of row `row`.
    fn push(&mut self, row: usize, text: &str, place: [usize; 5]) {
        let [.., start, end] = place;
        self.offsets.push(place);
        self.pieces.push(row, text, start..end);
    }

    fn len(&self) -> usize {
        self.pieces.len()
    }

    fn finish(self, fields: &Fields) -> Result<StructArray> {
        let mut columns = self.offsets.finish();
        columns.push(Arc::new(self.pieces.finish()?));
        Ok(StructArray::try_new(fields.clone(), columns, None)?)
    }
}

/// The five columns of numbers.
#[derive(Default)]
struct Offsets([Vec<i32>; 5]);

impl Offsets {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        reason = "all are at most the length of a text, which was checked"
    )]
    fn push(&mut self, values: [usize; 5]) {
        for (column, value) in self.0.iter_mut().zip(values) {
            column.push(value as i32);
        }
    }

    fn finish(self) -> Vec<ArrayRef> {
        self.0.into_iter().map(|column| Arc::new(Int32Array::from(column)) as ArrayRef).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use arrow::array::{Array, AsArray, ListArray};
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    use super::*;

    /// The ordinal of a sentence, its offsets in characters and in bytes, and its text.
    type Sentence = (usize, Range<usize>, Range<usize>, String);

    fn read(row: &StructArray) -> Vec<Sentence> {
        let number = |name: &str, k: usize| {
            usize::try_from(row.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(k)).unwrap()
        };
        let range = |unit: &str, k| number(&format!("{unit}_start"), k)..number(&format!("{unit}_end"), k);
        let text = row.column_by_name("text").unwrap().as_string_view();
        (0..row.len())
            .map(|k| (number("sent", k), range("char", k), range("byte", k), text.value(k).to_string()))
            .collect()
    }

    fn lists(texts: &StringViewArray) -> ListArray {
        sentences(texts).unwrap().as_list::<i32>().clone()
    }

    #[test]
    fn null_stays_null_and_nothing_is_an_empty_list() {
        let lists = lists(&StringViewArray::from(vec![None, Some(""), Some(" \n"), Some("One. Two.")]));
        assert!(lists.is_null(0));
        assert!(lists.is_valid(1));
        assert_eq!([0, 1, 2, 3].map(|i| lists.value_length(i)), [0, 0, 0, 2]);
        assert_eq!(sentences(&StringViewArray::from(vec![""; 0])).unwrap().len(), 0);
    }

    #[test]
    fn a_few_at_a_time_they_are_the_same() {
        let texts = StringViewArray::from(vec![Some("One. Two.\n* * *"), None, Some(" "), Some("Three. Four. Five.")]);
        let all = lists(&texts);
        for most in [1, 2, 4, 9] {
            let (mut rows, mut places) = (Vec::new(), Vec::new());
            each_sentences(&texts, most, |of, sentences| {
                assert!(of.len() == sentences.len() && of.len() <= most);
                rows.extend(of);
                places.extend(read(&sentences));
                Ok::<_, DataFusionError>(())
            })
            .unwrap();
            assert_eq!((rows, places), (vec![0, 0, 3, 3, 3], read(all.values().as_struct())), "{most}");
        }
    }

    #[test]
    fn offsets_lead_back_to_the_text_in_characters_and_bytes() {
        let texts = [
            " Straße eins.\n\n😀 zwei. 他走了。“你好！”",
            "tiny",
            "\u{feff}One.\r\n\r\nTwo\u{301}.",
            "a text that is longer than an inlined view. And so is its second sentence.",
        ];
        // A slice, so that rows and views do not begin at 0.
        let column = StringViewArray::from_iter_values(["before"].into_iter().chain(texts)).slice(1, texts.len());
        let lists = lists(&column);
        for (i, text) in texts.iter().enumerate() {
            let row = lists.value(i);
            let sentences = read(row.as_struct());
            assert!(!sentences.is_empty());
            for (k, (sent, characters, bytes, sentence)) in sentences.into_iter().enumerate() {
                assert_eq!(sent, k);
                assert_eq!(text[bytes], sentence);
                assert_eq!(text.chars().skip(characters.start).take(characters.len()).collect::<String>(), sentence);
            }
        }
    }

    #[test]
    fn sentences_share_the_memory_of_the_text() {
        let texts = StringViewArray::from(vec!["The first sentence is here. The second one is there."]);
        let lists = lists(&texts);
        let sentences = lists.values().as_struct().column_by_name("text").unwrap().as_string_view();
        let range = texts.value(0).as_bytes().as_ptr_range();
        for sentence in sentences.iter().flatten() {
            assert!(range.contains(&sentence.as_ptr()));
        }
    }

    fn tricky_text() -> impl Strategy<Value = String> {
        #[rustfmt::skip]
        let pieces = [
            "a", "The", "end", "Dr", "U.S", "No", "1", "3.14", "J", "I", ".", ".", "...", "…", "!", "?", "。",
            "？", "；", "「", "」", "“", "”", "\"", "'", "(", ")", "（", "）", "[1]", " ", " ", " ", "\n", "\n",
            "\n\n", "\r\n", "\r", "\t", "\u{a0}", "\u{3000}", "\u{2028}", "\u{2029}", "\u{85}", "- ", "# ",
            "(a) ", "1. ", "一、", "====", "***", "字", "我们", "é", "e\u{301}", "\u{301}", "\u{200b}", "\u{feff}",
            "\u{202e}", "\0", "😀", "؟", "।", "ไทย", "http://a.b/c?D=e", "x@y.Zz", ":", ";", ",",
            "some longer words that fill a line up to its end", "\u{1d400}",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn sentences_are_in_order_and_leave_out_white_space_only(texts in prop::collection::vec(tricky_text(), 1..4)) {
            let lists = lists(&StringViewArray::from_iter_values(&texts));
            for (i, text) in texts.iter().enumerate() {
                let row = lists.value(i);
                let sentences = read(row.as_struct());
                let mut at = 0;
                for (k, (sent, characters, bytes, sentence)) in sentences.iter().enumerate() {
                    prop_assert_eq!(*sent, k);
                    prop_assert_eq!(&text[bytes.clone()], sentence);
                    prop_assert_eq!(text[..bytes.start].chars().count(), characters.start);
                    prop_assert_eq!(text[..bytes.end].chars().count(), characters.end);
                    prop_assert!(text[at..bytes.start].trim().is_empty());
                    prop_assert_eq!(sentence.trim(), sentence);
                    prop_assert!(sentence.chars().any(char::is_alphanumeric) || sentences.len() == 1);
                    at = bytes.end;
                }
                prop_assert!(text[at..].trim().is_empty());
            }
        }
    }
}
