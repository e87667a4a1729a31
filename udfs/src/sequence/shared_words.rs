use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, PrimitiveArray, StringViewArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Int32Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::edges::{Edges, Vocabulary, bytes_of};
use crate::arguments::{coerce_text, text_array};

/// `shared_words(text_a, byte_a_start, byte_a_end, text_b, byte_b_start, byte_b_end)`: a passage without the words at
/// its ends that only one side has.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "A passage, given as a range of bytes in each of two texts, without the words at its ends that only \
                   one side has. If a copy begins or ends within a sentence, a passage of whole sentences has more \
                   than the copied text. Each side keeps the run of words that is dense in words of the other side: at \
                   either end at least half as dense as the whole passage. Words are those of `words`, compared in the \
                   spelling of `normalize`. Brackets and quotes directly before the first word and punctuation \
                   directly after the last word stay.\n\n\
                   Returns `Struct<byte_a_start, byte_a_end, byte_b_start, byte_b_end>` (Int32, half open), ranges \
                   within the given ones, or the given ranges themselves if the two share no word. NULL if an argument \
                   is NULL. A range that is not within its text, or that begins or ends within a character, is an \
                   error.",
    syntax_example = "shared_words(text_a, byte_a_start, byte_a_end, text_b, byte_b_start, byte_b_end)",
    sql_example = r#"```sql
> SELECT shared_words('As he said, it was the best of times.', 0, 37,
                      'It was the BEST of times! Nobody agreed.', 0, 40) AS passage;
+---------------------------------------------------------------------+
| passage                                                             |
+---------------------------------------------------------------------+
| {byte_a_start: 12, byte_a_end: 37, byte_b_start: 0, byte_b_end: 25} |
+---------------------------------------------------------------------+
```"#,
    argument(name = "text_a", description = "The first text, of any width of Utf8."),
    argument(name = "byte_a_start", description = "The start of the passage in `text_a`, in bytes, Int32."),
    argument(name = "byte_a_end", description = "The end of the passage in `text_a`, in bytes, Int32."),
    argument(name = "text_b", description = "The second text."),
    argument(name = "byte_b_start", description = "The start of the passage in `text_b`, in bytes, Int32."),
    argument(name = "byte_b_end", description = "The end of the passage in `text_b`, in bytes, Int32.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharedWords {
    signature: Signature,
}

impl Default for SharedWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    ["byte_a_start", "byte_a_end", "byte_b_start", "byte_b_end"]
        .map(|name| Field::new(name, DataType::Int32, true))
        .to_vec()
        .into()
});

impl ScalarUDFImpl for SharedWords {
    fn name(&self) -> &str {
        "shared_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text_a, _, _, text_b, _, _] = take_function_args(self.name(), given)?;
        let (text_a, text_b) = (coerce_text(self.name(), text_a)?, coerce_text(self.name(), text_b)?);
        let offset = DataType::Int32;
        Ok(vec![text_a, offset.clone(), offset.clone(), text_b, offset.clone(), offset])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(FIELDS.clone()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [text_a, a_start, a_end, text_b, b_start, b_end] = take_function_args(self.name(), &arrays)?;
        let a = Side::try_new("a", text_a, a_start, a_end)?;
        let b = Side::try_new("b", text_b, b_start, b_end)?;
        Ok(ColumnarValue::Array(shared_words(&a, &b)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// One side of a column of passages.
struct Side<'a> {
    name: &'static str,
    texts: &'a StringViewArray,
    starts: &'a PrimitiveArray<Int32Type>,
    ends: &'a PrimitiveArray<Int32Type>,
}

impl<'a> Side<'a> {
    fn try_new(name: &'static str, texts: &'a ArrayRef, starts: &'a ArrayRef, ends: &'a ArrayRef) -> Result<Self> {
        Ok(Self { name, texts: text_array(texts)?, starts: starts.as_primitive(), ends: ends.as_primitive() })
    }

    /// Returns the text of a row and the passage in it; `None` where one of them is NULL.
    fn row(&self, row: usize) -> Result<Option<(&'a str, Range<usize>)>> {
        let Self { name, texts, starts, ends } = self;
        if texts.is_null(row) || starts.is_null(row) || ends.is_null(row) {
            return Ok(None);
        }
        let (text, start, end) = (texts.value(row), starts.value(row), ends.value(row));
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if text.get(start..end).is_some() => Ok(Some((text, start..end))),
            _ => exec_err!(
                "shared_words: byte_{name}_start {start} to byte_{name}_end {end} is no part of text_{name}, which has \
                 {} bytes; give offsets in bytes, between characters, as sentences(text_{name}) has them",
                text.len()
            ),
        }
    }
}

/// Returns the passages of `a` and `b` without the words at their ends that only one side has.
fn shared_words(a: &Side<'_>, b: &Side<'_>) -> Result<ArrayRef> {
    let rows = a.texts.len();
    let mut columns: [Vec<i32>; 4] = std::array::from_fn(|_| Vec::with_capacity(rows));
    let mut valid = Vec::with_capacity(rows);
    let (mut vocabulary, mut edges) = (Vocabulary::default(), Edges::default());
    let (mut words_a, mut words_b) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let (Some((text_a, range_a)), Some((text_b, range_b))) = (a.row(row)?, b.row(row)?) else {
            valid.push(false);
            columns.iter_mut().for_each(|column| column.push(0));
            continue;
        };
        valid.push(true);
        words_a.clear();
        words_b.clear();
        vocabulary.read(text_a, range_a.clone(), &mut words_a);
        vocabulary.read(text_b, range_b.clone(), &mut words_b);
        let (found_a, found_b) = match edges.find(&words_a, &words_b, |_| 1.0) {
            Some((run_a, run_b)) => {
                (bytes_of(text_a, &words_a[run_a], range_a.clone()), bytes_of(text_b, &words_b[run_b], range_b.clone()))
            }
            None => (None, None),
        };
        let (found_a, found_b) = (found_a.unwrap_or(range_a), found_b.unwrap_or(range_b));
        for (column, offset) in columns.iter_mut().zip([found_a.start, found_a.end, found_b.start, found_b.end]) {
            column.push(within_given(offset));
        }
    }
    let columns = columns.map(|column| Arc::new(Int32Array::from(column)) as ArrayRef).to_vec();
    Ok(Arc::new(StructArray::try_new(FIELDS.clone(), columns, Some(NullBuffer::from(valid)))?))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "no offset is greater than the one given, an Int32"
)]
fn within_given(offset: usize) -> i32 {
    offset as i32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text, and the start and the end of the passage in it.
    type Given<'a> = (Option<&'a str>, Option<i32>, Option<i32>);

    fn arrays(rows: &[Given<'_>]) -> [ArrayRef; 3] {
        [
            Arc::new(rows.iter().map(|row| row.0).collect::<StringViewArray>()),
            Arc::new(rows.iter().map(|row| row.1).collect::<Int32Array>()),
            Arc::new(rows.iter().map(|row| row.2).collect::<Int32Array>()),
        ]
    }

    fn run(a: &[Given<'_>], b: &[Given<'_>]) -> Result<Vec<Option<[usize; 4]>>> {
        let ([text_a, a_start, a_end], [text_b, b_start, b_end]) = (arrays(a), arrays(b));
        let a = Side::try_new("a", &text_a, &a_start, &a_end)?;
        let found = shared_words(&a, &Side::try_new("b", &text_b, &b_start, &b_end)?)?;
        let found = found.as_struct();
        let value = |k: usize, row| usize::try_from(found.column(k).as_primitive::<Int32Type>().value(row)).unwrap();
        Ok((0..found.len()).map(|row| found.is_valid(row).then(|| std::array::from_fn(|k| value(k, row)))).collect())
    }

    fn cut<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
        let whole = |text: &'a str| (Some(text), Some(0), i32::try_from(text.len()).ok());
        let [a_start, a_end, b_start, b_end] = run(&[whole(a)], &[whole(b)]).unwrap()[0].unwrap();
        (&a[a_start..a_end], &b[b_start..b_end])
    }

    #[test]
    fn words_of_one_side_go_and_whole_sentences_keep_their_marks() {
        let (a, b) = cut("Before it. “The quick brown fox jumps!” Nothing of this.", "The quick red fox jumps.");
        assert_eq!((a, b), ("“The quick brown fox jumps!”", "The quick red fox jumps."));
        assert_eq!(cut("我们昨天在北京见面。他们", "在北京见面。"), ("在北京见面。", "在北京见面。"));
    }

    #[test]
    fn without_shared_words_the_ranges_stay() {
        assert_eq!(cut("- one -", "(two)"), ("- one -", "(two)"));
        assert_eq!(cut("- one -", "..."), ("- one -", "..."));
        assert_eq!(cut("", "x"), ("", "x"));
    }

    #[test]
    fn a_null_argument_makes_null() {
        let whole = (Some("a b"), Some(0), Some(3));
        let nulls = [(None, Some(0), Some(3)), (Some("a b"), None, Some(3)), (Some("a b"), Some(0), None)];
        assert_eq!(run(&nulls, &[whole; 3]).unwrap(), [None; 3]);
        assert_eq!(run(&[whole; 3], &nulls).unwrap(), [None; 3]);
        assert_eq!(run(&[], &[]).unwrap(), []);
    }

    #[test]
    fn a_range_outside_of_the_text_is_an_error() {
        let whole = (Some("é b"), Some(0), Some(4));
        for (start, end) in [(-1, 2), (0, 5), (3, 2), (1, 4), (i32::MIN, i32::MAX)] {
            let error = run(&[whole], &[(Some("é b"), Some(start), Some(end))]).unwrap_err().to_string();
            assert!(error.contains(&format!("byte_b_start {start} to byte_b_end {end}")), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_lies_within_what_was_given_between_characters(
            a in "([abcé字。“” .\u{301}]|the ){0,30}",
            b in "([abcé字。“” .\u{301}]|the ){0,30}",
            cuts in prop::array::uniform4(0_usize..40),
        ) {
            let part = |text: &str, from: usize, to: usize| {
                let bounds: Vec<usize> = (0..=text.len()).filter(|&k| text.is_char_boundary(k)).collect();
                let (from, to) = (bounds[from % bounds.len()], bounds[to % bounds.len()]);
                from.min(to)..from.max(to)
            };
            let (range_a, range_b) = (part(&a, cuts[0], cuts[1]), part(&b, cuts[2], cuts[3]));
            let given = |text, range: &Range<usize>| {
                (Some(text), i32::try_from(range.start).ok(), i32::try_from(range.end).ok())
            };
            let [a_start, a_end, b_start, b_end] =
                run(&[given(a.as_str(), &range_a)], &[given(b.as_str(), &range_b)]).unwrap()[0].unwrap();
            prop_assert!(range_a.start <= a_start && a_end <= range_a.end && a.get(a_start..a_end).is_some());
            prop_assert!(range_b.start <= b_start && b_end <= range_b.end && b.get(b_start..b_end).is_some());
        }
    }
}
