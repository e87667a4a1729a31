use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int32Array, StringViewArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::alignment::{Run, Words, align};
use super::statement::cut;
use crate::arguments::{coerce_text, text_array};
use crate::text::{Lists, Pieces};

/// `differences(a, b)`: the spans in which two texts differ.
#[user_doc(
    doc_section(label = "Comparison"),
    description = "The spans in which two texts differ, in order: each span of `a` with the span of `b` in its place. \
                   The texts are compared word by word, as `words` splits them (Chinese, too), with punctuation marks \
                   as separate words. A change of spelling, case, punctuation or white space is a difference like any \
                   other. Added text has an empty span in `a`, and removed text an empty span in `b`. Replacing every \
                   span of `a` by its `text_b` gives `b`, byte for byte.\n\n\
                   The alignment keeps as many words as possible (Myers, *An O(ND) Difference Algorithm and Its \
                   Variations*, 1986), and changes with only white space between them are one span. The order of the \
                   two texts makes no difference. Two texts of n words take at most n² steps up to n = 4,096, counted \
                   in both texts together, and about n·√n steps above it, where the spans may be larger than \
                   necessary.\n\n\
                   Returns `List<Struct<char_a_start Int32, char_a_end Int32, char_b_start Int32, char_b_end Int32, \
                   byte_a_start Int32, byte_a_end Int32, byte_b_start Int32, byte_b_end Int32, text_a Utf8View, text_b \
                   Utf8View>>`: half-open offsets in characters (Unicode code points) and in bytes of UTF-8, and the \
                   text between them, which shares the memory of the arguments. The empty list for equal texts; NULL \
                   where either text is NULL. A text of 2 GiB or more is an error.",
    syntax_example = "differences(a, b)",
    sql_example = r#"```sql
> SELECT d['char_a_start'] AS char_a_start, d['char_a_end'] AS char_a_end, d['text_a'] AS text_a, d['text_b'] AS text_b
  FROM (SELECT unnest(differences('She had a rating of 22%.', 'She, a senator, had a rating of 46%.')) AS d);
+--------------+------------+--------+--------------+
| char_a_start | char_a_end | text_a | text_b       |
+--------------+------------+--------+--------------+
| 3            | 3          |        | , a senator, |
| 20           | 22         | 22     | 46           |
+--------------+------------+--------+--------------+
```"#,
    argument(name = "a", description = "The first text, of any width of Utf8."),
    argument(name = "b", description = "The second text.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Differences {
    signature: Signature,
}

impl Default for Differences {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Differences {
    fn name(&self) -> &str {
        "differences"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), a)?, coerce_text(self.name(), b)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b] = take_function_args(self.name(), args.args)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        Ok(ColumnarValue::Array(differences(text_array(&a)?, text_array(&b)?)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

const NUMBERS: [&str; 8] = [
    "char_a_start",
    "char_a_end",
    "char_b_start",
    "char_b_end",
    "byte_a_start",
    "byte_a_end",
    "byte_b_start",
    "byte_b_end",
];

/// Returns the fields of a difference.
fn fields() -> Fields {
    let number = |name| Field::new(name, DataType::Int32, true);
    let text = |name| Field::new(name, DataType::Utf8View, true);
    NUMBERS.map(number).into_iter().chain(["text_a", "text_b"].map(text)).collect()
}

/// Returns the lists of differences of `a` and `b`, row by row.
fn differences(a: &StringViewArray, b: &StringViewArray) -> Result<ArrayRef> {
    let mut lists = Lists::with_nulls("differences", a.len(), NullBuffer::union(a.nulls(), b.nulls()));
    let (mut pieces_a, mut pieces_b) = (Pieces::new(a), Pieces::new(b));
    let mut numbers: [Vec<i32>; NUMBERS.len()] = Default::default();
    let mut scratch = Scratch::default();
    for (row, texts) in a.iter().zip(b.iter()).enumerate() {
        if let (Some(a), Some(b)) = texts {
            for text in [a, b] {
                if i32::try_from(text.len()).is_err() {
                    return exec_err!(
                        "differences: a text has {} bytes, more than the {} that offsets can tell; compare its parts",
                        text.len(),
                        i32::MAX
                    );
                }
            }
            let (mut place_a, mut place_b) = (Place::default(), Place::default());
            for (in_a, in_b) in scratch.differences(a, b) {
                let [char_a, char_b] = [place_a.characters(a, &in_a), place_b.characters(b, &in_b)];
                let ranges = [char_a, char_b, in_a.clone(), in_b.clone()];
                for (column, value) in numbers.iter_mut().zip(ranges.into_iter().flat_map(|r| [r.start, r.end])) {
                    column.push(offset(value));
                }
                pieces_a.push(row, a, in_a);
                pieces_b.push(row, b, in_b);
            }
        }
        lists.end_row(pieces_a.len())?;
    }
    let columns = numbers.into_iter().map(|column| Arc::new(Int32Array::from(column)) as ArrayRef);
    let texts = [Arc::new(pieces_a.finish()?) as ArrayRef, Arc::new(pieces_b.finish()?)];
    let found = StructArray::try_new(fields(), columns.chain(texts).collect(), None)?;
    Ok(Arc::new(lists.finish(Arc::new(found))?))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "at most a length that was checked")]
fn offset(value: usize) -> i32 {
    value as i32
}

/// The place up to which a text was counted, in bytes and in characters.
#[derive(Default)]
struct Place {
    bytes: usize,
    characters: usize,
}

impl Place {
    /// Returns the range of characters of a range of bytes that begins where the last one ended or later.
    fn characters(&mut self, text: &str, range: &Range<usize>) -> Range<usize> {
        let start = self.characters + text[self.bytes..range.start].chars().count();
        let end = start + text[range.clone()].chars().count();
        *self = Self { bytes: range.end, characters: end };
        start..end
    }
}

/// Buffers that are reused from row to row.
#[derive(Default)]
struct Scratch {
    a: Vec<Range<usize>>,
    b: Vec<Range<usize>>,
    runs: Vec<Run>,
    found: Vec<(Range<usize>, Range<usize>)>,
}

impl Scratch {
    /// Returns the ranges of bytes in which `a` and `b` differ.
    fn differences(&mut self, a: &str, b: &str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        self.found.clear();
        if a != b {
            // Several alignments may be the longest. The texts are aligned in one order, so that the result does not
            // depend on which comes first.
            let turned = a > b;
            if turned {
                self.align(b, a)
            } else {
                self.align(a, b)
            }
            if turned {
                self.found.iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
            }
        }
        self.found.drain(..)
    }

    fn align(&mut self, a: &str, b: &str) {
        cut(a, &mut self.a);
        cut(b, &mut self.b);
        align(Words { text: a, places: &self.a }, Words { text: b, places: &self.b }, &mut self.runs);
        let mut before = (0, 0);
        for run in &self.runs {
            for k in 0..run.words {
                let (word_a, word_b) = (&self.a[run.a + k], &self.b[run.b + k]);
                push_difference(a, before.0..word_a.start, b, before.1..word_b.start, &mut self.found);
                before = (word_a.end, word_b.end);
            }
        }
        push_difference(a, before.0..a.len(), b, before.1..b.len(), &mut self.found);
    }
}

/// Adds the texts between two pairs of equal words if they differ, without the white space that both have at an end.
fn push_difference(
    a: &str,
    mut in_a: Range<usize>,
    b: &str,
    mut in_b: Range<usize>,
    found: &mut Vec<(Range<usize>, Range<usize>)>,
) {
    let (x, y) = (&a[in_a.clone()], &b[in_b.clone()]);
    if x == y {
        return;
    }
    let common = |pair: &(char, char)| pair.0 == pair.1 && pair.0.is_whitespace();
    let before: usize = x.chars().zip(y.chars()).take_while(common).map(|(c, _)| c.len_utf8()).sum();
    let (x, y) = (&x[before..], &y[before..]);
    let after: usize = x.chars().rev().zip(y.chars().rev()).take_while(common).map(|(c, _)| c.len_utf8()).sum();
    in_a = in_a.start + before..in_a.end - after;
    in_b = in_b.start + before..in_b.end - after;
    found.push((in_a, in_b));
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, ListArray};
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    use super::*;

    fn of<'a>(a: &'a str, b: &'a str) -> Vec<(&'a str, &'a str)> {
        Scratch::default().differences(a, b).map(|(in_a, in_b)| (&a[in_a], &b[in_b])).collect()
    }

    #[test]
    fn words_are_compared_whole() {
        assert_eq!(of("the colour red", "the color red"), [("colour", "color")]);
        assert_eq!(of("a quick brown fox", "a slow red fox"), [("quick brown", "slow red")]);
        assert_eq!(of("one two three", "one 2 three"), [("two", "2")]);
        assert_eq!(of("a fox", "a fox"), []);
        assert_eq!(of("", ""), []);
        assert_eq!(of("", "all of it"), [("", "all of it")]);
        assert_eq!(of("nothing", "in common"), [("nothing", "in common")]);
    }

    #[test]
    fn what_was_added_has_an_empty_span() {
        assert_eq!(of("the cat sat", "the big cat sat"), [("", "big ")]);
        assert_eq!(of("the cat sat here", "the cat sat"), [(" here", "")]);
        assert_eq!(of("Bush had it", "Bush, a president, had it"), [("", ", a president,")]);
    }

    #[test]
    fn case_punctuation_and_white_space_count() {
        assert_eq!(of("The end.", "the end!"), [("The", "the"), (".", "!")]);
        assert_eq!(of("one  two", "one two"), [(" ", "")]);
        assert_eq!(of("one two", "one\ntwo"), [(" ", "\n")]);
        assert_eq!(of(" one", "one "), [(" ", ""), ("", " ")]);
        assert_eq!(of("a-b", "a b"), [("-", " ")]);
        assert_eq!(of("\u{e9}t\u{e9}", "e\u{301}te\u{301}"), [("\u{e9}t\u{e9}", "e\u{301}te\u{301}")]);
    }

    #[test]
    fn chinese_words_are_found() {
        assert_eq!(of("我们在北京学习。", "我们在上海学习。"), [("北京", "上海")]);
    }

    #[test]
    fn null_stays_null_and_equal_texts_have_no_differences() {
        let a = StringViewArray::from(vec![None, Some("a"), Some("a"), Some("a b"), None]);
        let b = StringViewArray::from(vec![Some("a"), None, Some("a"), Some("a c"), None]);
        let lists = differences(&a, &b).unwrap();
        let lists: &ListArray = lists.as_list();
        assert_eq!([0, 1, 2, 3, 4].map(|i| lists.is_null(i)), [true, true, false, false, true]);
        assert_eq!([2, 3].map(|i| lists.value_length(i)), [0, 1]);
    }

    /// Returns the differences of a row in characters and in bytes, as in its columns.
    fn read(row: &StructArray) -> Vec<[Range<usize>; 4]> {
        let number = |name: &str, k: usize| {
            usize::try_from(row.column_by_name(name).unwrap().as_primitive::<Int32Type>().value(k)).unwrap()
        };
        let range = |name: &str, k| number(&format!("{name}_start"), k)..number(&format!("{name}_end"), k);
        (0..row.len()).map(|k| ["char_a", "char_b", "byte_a", "byte_b"].map(|name| range(name, k))).collect()
    }

    fn tricky_text() -> impl Strategy<Value = String> {
        #[rustfmt::skip]
        let pieces = [
            "the", "The", "cat", "sat", "12", "3.14", ",", ".", "-", "“", "”", " ", " ", "  ", "\n", "\u{a0}", "\u{3000}",
            "我们", "北京", "字", "é", "e\u{301}", "\u{301}", "\u{200b}", "\u{200d}", "😀", "ไทย", "\0", "\u{1d400}",
            "a word that is longer than an inlined view",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_differences_lead_from_one_text_to_the_other(a in tricky_text(), b in tricky_text()) {
            // Slices, so that rows and views do not begin at 0.
            let column = |text: &str| StringViewArray::from_iter_values(["before", text]).slice(1, 1);
            let lists = differences(&column(&a), &column(&b)).unwrap();
            let row = lists.as_list::<i32>().value(0);
            let texts = ["text_a", "text_b"].map(|name| row.as_struct().column_by_name(name).unwrap().as_string_view().clone());
            let found = read(row.as_struct());
            let (mut made, mut at) = (String::new(), 0);
            for (k, [char_a, char_b, byte_a, byte_b]) in found.into_iter().enumerate() {
                prop_assert_ne!(&a[byte_a.clone()], &b[byte_b.clone()]);
                prop_assert_eq!(texts[0].value(k), &a[byte_a.clone()]);
                prop_assert_eq!(texts[1].value(k), &b[byte_b.clone()]);
                prop_assert_eq!(a.chars().skip(char_a.start).take(char_a.len()).collect::<String>(), &a[byte_a.clone()]);
                prop_assert_eq!(b.chars().skip(char_b.start).take(char_b.len()).collect::<String>(), &b[byte_b.clone()]);
                prop_assert!(k == 0 || !a[at..byte_a.start].trim().is_empty());
                made.push_str(&a[at..byte_a.start]);
                made.push_str(&b[byte_b]);
                at = byte_a.end;
            }
            made.push_str(&a[at..]);
            prop_assert_eq!(made, b);
        }

        #[test]
        fn the_order_of_the_texts_does_not_matter(a in tricky_text(), b in tricky_text()) {
            let there: Vec<_> = of(&a, &b);
            let back: Vec<_> = of(&b, &a).into_iter().map(|(b, a)| (a, b)).collect();
            prop_assert_eq!(there, back);
        }
    }
}
