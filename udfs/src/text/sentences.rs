use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringViewArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::{DataFusionError, Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::sentence_rules::split_in;
use super::{LanguageChoice, Lists, Pieces};
use crate::arguments::{coerce_text, constant, keep_constants, text_array};

/// `sentences(text [, language])`: the sentences of a text and their places.
#[user_doc(
    doc_section(label = "Text"),
    description = "The sentences of a text in order, with their places. They are split by UAX #29 as ICU implements \
                   it, and by ibid's own rules for abbreviations, initials, numbers, addresses, quotes, lists, \
                   headings, wrapped lines and Chinese punctuation (each with examples in `sentence_rules.rs`). Only \
                   white space lies outside of the sentences.\n\n\
                   Some languages have their own rules for abbreviations, ordinals and reporting clauses. If \
                   `language` is left out or `auto`, the language of each text is detected from its frequent words and \
                   its script. A text that is short, mixed or in another language gets only the rules that apply to \
                   all texts.\n\n\
                   | code | language | code | language |\n\
                   | --- | --- | --- | --- |\n\
                   | `da` | Danish | `nl` | Dutch |\n\
                   | `de` | German | `no` | Norwegian |\n\
                   | `es` | Spanish | `pl` | Polish |\n\
                   | `fr` | French | `pt` | Portuguese |\n\
                   | `it` | Italian | `ru` | Russian |\n\
                   | `ja` | Japanese | `sv` | Swedish |\n\n\
                   Returns `List<Struct<sent Int32, char_start Int32, char_end Int32, byte_start Int32, byte_end \
                   Int32, text Utf8View>>`: the ordinal from 0, half-open offsets into the given text in characters \
                   (Unicode code points) and in bytes of UTF-8, and the text between them. This text has no white \
                   space at either end, and shares the memory of the argument. NULL for NULL; the empty list for a \
                   text that is empty or only white space. A text of 2 GiB or more is an error, and so is a language \
                   that is NULL, a column, or not one of those that `language` accepts.",
    syntax_example = "sentences(text [, language])",
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
    argument(name = "text", description = "The text, of any width of Utf8."),
    argument(
        name = "language",
        description = "The language of the texts, Utf8, as an ISO 639 code or a language tag: `de`, `de-AT`; `auto`, \
                       the default, detects it; `en` and `zh` select only the rules that apply to all texts; a \
                       constant."
    )
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
        let (Some(text), 1 | 2) = (given.first(), given.len()) else {
            return plan_err!("sentences expects (text [, language]), got {} arguments", given.len());
        };
        let language = given[1..].iter().map(|_| DataType::Utf8);
        Ok([coerce_text(self.name(), text)?].into_iter().chain(language).collect())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 1)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(sentence_fields()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (text, language) = match args.args.as_slice() {
            [text] => (text, LanguageChoice::Detected),
            [text, language] => (text, choice(language)?),
            other => return exec_err!("sentences expects (text [, language]), got {} arguments", other.len()),
        };
        let texts = text.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(sentences(text_array(&texts)?, language)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Returns the fields of a sentence.
pub fn sentence_fields() -> Fields {
    fields_of("sent")
}

/// Returns the fields of a part of a text: its ordinal with the given name, its place, and its text.
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

/// Reads the argument `language`.
fn choice(value: &ColumnarValue) -> Result<LanguageChoice> {
    LanguageChoice::of(constant("sentences", "language", value)?.try_as_str().flatten().unwrap_or_default())
}

/// Returns the lists of sentences of `texts`.
fn sentences(texts: &StringViewArray, language: LanguageChoice) -> Result<ArrayRef> {
    lists_of("sentences", texts, &sentence_fields(), |text| split_in(language, text).collect())
}

/// Returns the lists of the parts of `texts` that `split` gives, each with its ordinal and its place, for the function
/// `name`.
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

/// Calls `give` with the sentences of `texts` as the function `sentences` returns them, in order, at most `most` at a
/// time: the row of each sentence, and its fields. No more sentences are in memory, however many a text has.
pub fn each_sentences<E: From<DataFusionError>>(
    texts: &StringViewArray,
    language: LanguageChoice,
    most: usize,
    mut give: impl FnMut(Vec<usize>, StructArray) -> Result<(), E>,
) -> Result<(), E> {
    let mut found = Found::new(texts);
    let mut rows = Vec::new();
    for (row, text) in texts.iter().enumerate() {
        for place in text.map(|text| cut(text, language)).transpose()?.into_iter().flatten() {
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

/// Returns the places of the sentences of a text.
fn cut(text: &str, language: LanguageChoice) -> Result<impl Iterator<Item = [usize; 5]>> {
    placed("sentences", text, split_in(language, text))
}

/// Returns the places of the parts of a text: their ordinals, and their starts and ends in characters and in bytes.
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

    /// Adds the sentence at `place` in `text`, which is the text of row `row`.
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
    use datafusion_common::ScalarValue;
    use proptest::prelude::*;

    use super::*;
    use crate::languages;

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
        lists_in(LanguageChoice::Detected, texts)
    }

    fn lists_in(language: LanguageChoice, texts: &StringViewArray) -> ListArray {
        sentences(texts, language).unwrap().as_list::<i32>().clone()
    }

    /// Returns the sentences that the function gives for `arguments`, or its error.
    fn call(arguments: Vec<ColumnarValue>) -> Result<Vec<String>, String> {
        let field = |name| Arc::new(Field::new(name, DataType::Utf8, true));
        let function = Sentences::default();
        let return_type = function.return_type(&[]).unwrap();
        let args = ScalarFunctionArgs {
            arg_fields: arguments.iter().map(|_| field("argument")).collect(),
            args: arguments,
            number_rows: 1,
            return_field: Arc::new(Field::new("list", return_type, true)),
            config_options: Arc::default(),
        };
        let found = function.invoke_with_args(args).map_err(|error| error.strip_backtrace())?;
        let lists = found.into_array(1).unwrap();
        Ok(read(lists.as_list::<i32>().value(0).as_struct()).into_iter().map(|sentence| sentence.3).collect())
    }

    #[test]
    fn the_language_is_given_or_detected() {
        let text = "Am 3. Oktober war er da. Er blieb lange.";
        let whole = ["Am 3. Oktober war er da.", "Er blieb lange."];
        let cut = ["Am 3.", "Oktober war er da.", "Er blieb lange."];
        let argument = |text: &str| ColumnarValue::Scalar(ScalarValue::Utf8View(Some(text.into())));
        assert_eq!(call(vec![argument(text)]).unwrap(), whole);
        for (language, expected) in
            [("auto", &whole[..]), ("de", &whole), ("de-AT", &whole), ("DE", &whole), ("en", &cut), ("zh", &cut)]
        {
            let language = ColumnarValue::Scalar(ScalarValue::from(language));
            assert_eq!(call(vec![argument(text), language]).unwrap(), expected);
        }
        let error = |language| call(vec![argument(text), language]).unwrap_err();
        let unknown = error(ColumnarValue::Scalar(ScalarValue::from("tlh")));
        let known = "sentences: there are no rules for 'tlh'; there are auto, da, de, en, es, fr, it, ja, nl, no, pl, pt, \
                     ru, sv, zh";
        assert!(unknown.contains(known), "{unknown}");
        let malformed = error(ColumnarValue::Scalar(ScalarValue::from("German")));
        assert!(malformed.contains("there are no rules for 'german'"), "{malformed}");
        let null = error(ColumnarValue::Scalar(ScalarValue::Utf8(None)));
        assert!(null.contains("language must not be NULL"), "{null}");
        let column: ArrayRef = Arc::new(StringViewArray::from(vec!["de"]));
        let column = error(ColumnarValue::Array(column));
        assert!(column.contains("language must be a constant"), "{column}");
    }

    #[test]
    fn null_stays_null_and_nothing_is_an_empty_list() {
        let found = lists(&StringViewArray::from(vec![None, Some(""), Some(" \n"), Some("One. Two.")]));
        assert!(found.is_null(0));
        assert!(found.is_valid(1));
        assert_eq!([0, 1, 2, 3].map(|i| found.value_length(i)), [0, 0, 0, 2]);
        assert_eq!(lists(&StringViewArray::from(vec![""; 0])).len(), 0);
    }

    #[test]
    fn a_few_at_a_time_they_are_the_same() {
        let texts = StringViewArray::from(vec![Some("One. Two.\n* * *"), None, Some(" "), Some("Three. Four. Five.")]);
        let all = lists(&texts);
        for most in [1, 2, 4, 9] {
            let (mut rows, mut places) = (Vec::new(), Vec::new());
            each_sentences(&texts, LanguageChoice::Detected, most, |of, sentences| {
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
        // The column is a slice, so that rows and views do not begin at 0.
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
            "z. B.", "Der", "2. Weltkrieg", "usw.", "3. 10. 1990", "–", "— сказал", "т. д.", "」と", "M.", "sa",
            "some longer words that fill a line up to its end", "\u{1d400}",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
    }

    fn any_language() -> impl Strategy<Value = LanguageChoice> {
        let given = languages().iter().map(LanguageChoice::Given);
        let all: Vec<_> = given.chain([LanguageChoice::Detected, LanguageChoice::Common]).collect();
        prop::sample::select(all)
    }

    proptest! {
        #[test]
        fn sentences_are_in_order_and_leave_out_white_space_only(
            texts in prop::collection::vec(tricky_text(), 1..4),
            language in any_language(),
        ) {
            let lists = lists_in(language, &StringViewArray::from_iter_values(&texts));
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
