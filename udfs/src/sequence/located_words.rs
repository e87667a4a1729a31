use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Int32Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::edges::{Word, bytes_of};
use super::word_sequence::{PART, Parts, each_word_of_sequence};
use crate::arguments::{as_index, coerce_structs, coerce_text, item, text_array};
use crate::text::Lists;

/// `located_words(text, parts, sentences)`: the places of parts of a sequence in its text.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The places of parts of a word sequence in its text, in characters, bytes and sentences. A part \
                   begins with the brackets and quotes that open directly before its first word, and ends with the \
                   punctuation that closes directly after its last word, so that a whole sentence keeps its full \
                   stop.\n\n\
                   Returns a list of structs in the order of `parts`, all Int32: `word_start`, `word_end`, \
                   `char_start`, `char_end` (Unicode code points), `byte_start`, `byte_end`, `sent_start`, `sent_end` \
                   (the sentences that contain words of the part), all half open. NULL if an argument is NULL. A part \
                   that has no words, or lies outside of the text, is an error.",
    syntax_example = "located_words(text, parts, sentences)",
    sql_example = r#"```sql
> SELECT unnest(located_words('Yes. “To be, or not.” No.', [{word_start: 1, word_end: 5}], [0, 5, 26])) AS place;
+--------------------------------------------------------------------------------------------------------------------+
| place                                                                                                              |
+--------------------------------------------------------------------------------------------------------------------+
| {word_start: 1, word_end: 5, char_start: 5, char_end: 21, byte_start: 5, byte_end: 25, sent_start: 1, sent_end: 2} |
+--------------------------------------------------------------------------------------------------------------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8."),
    argument(
        name = "parts",
        description = "Parts of `word_sequence(text)`, `List<Struct<word_start, word_end>>`: ordinals of words, half open. Parts with a NULL are left out."
    ),
    argument(
        name = "sentences",
        description = "The first byte of each sentence of the text, a list of whole numbers, ascending, as \
                       `sentences(text)` has them. A word before the first sentence counts as part of it."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct LocatedWords {
    signature: Signature,
}

impl Default for LocatedWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static PLACE_FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let fields = ["char_start", "char_end", "byte_start", "byte_end", "sent_start", "sent_end"];
    PART.into_iter().chain(fields).map(|name| Field::new(name, DataType::Int32, true)).collect()
});

impl ScalarUDFImpl for LocatedWords {
    fn name(&self) -> &str {
        "located_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text, parts, sentences] = take_function_args(self.name(), given)?;
        let is_number = |item: &DataType| item.is_integer() || item.is_null();
        if !sentences.is_null() && !item(sentences).is_some_and(is_number) {
            return plan_err!(
                "located_words expects a list of whole numbers for sentences, got {sentences}; write array_agg(byte_start ORDER BY sent)"
            );
        }
        let example = "'word_start', word, 'word_end', word + 5";
        Ok(vec![
            coerce_text(self.name(), text)?,
            coerce_structs(self.name(), "parts", &PART, example, parts)?,
            DataType::List(Arc::new(Field::new_list_field(DataType::Int32, true))),
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(PLACE_FIELDS.clone()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [texts, parts, sentences] = take_function_args(self.name(), ColumnarValue::values_to_arrays(&args.args)?)?;
        Ok(ColumnarValue::Array(located_words(&texts, &parts, &sentences)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn located_words(texts: &ArrayRef, parts: &ArrayRef, sentences: &ArrayRef) -> Result<ArrayRef> {
    let (texts, parts) = (text_array(texts)?, Parts::try_new("located_words", parts)?);
    let sentences = sentences.as_list::<i32>();
    let starts = sentences.values().as_primitive::<Int32Type>();
    let nulls = NullBuffer::union_many([texts.nulls(), parts.nulls(), sentences.nulls()]);
    let mut lists = Lists::with_nulls("located_words", texts.len(), nulls.clone());
    let mut columns: [Vec<i32>; 8] = Default::default();
    let mut words = Vec::new();
    for row in 0..texts.len() {
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            let (text, offsets) = (texts.value(row), sentences.value_offsets());
            let starts = &starts.values()[as_index(offsets[row])..as_index(offsets[row + 1])];
            for (part, place) in places(text, &parts, row, starts, &mut words)? {
                let numbers =
                    [part.start, part.end, place.chars.start, place.chars.end, place.bytes.start, place.bytes.end];
                let sentences = [place.sentences.start, place.sentences.end];
                for (column, number) in columns.iter_mut().zip(numbers.into_iter().chain(sentences)) {
                    let number = i32::try_from(number);
                    column.push(number.map_err(|_| exec_datafusion_err!("located_words: a text has more than 2 GiB"))?);
                }
            }
        }
        lists.end_row(columns[0].len())?;
    }
    let columns = columns.map(|column| Arc::new(Int32Array::from(column)) as ArrayRef).to_vec();
    let items = StructArray::try_new(PLACE_FIELDS.clone(), columns, None)?;
    Ok(Arc::new(lists.finish(Arc::new(items))?))
}

/// The place of a part in its text.
struct Place {
    chars: Range<usize>,
    bytes: Range<usize>,
    sentences: Range<usize>,
}

/// Returns the parts of a row and their places in its text; `words` is a reusable buffer.
#[expect(clippy::cast_possible_truncation, reason = "texts of Arrow have less than 4 GiB")]
fn places(
    text: &str,
    parts: &Parts<'_>,
    row: usize,
    starts: &[i32],
    words: &mut Vec<Word>,
) -> Result<Vec<(Range<usize>, Place)>> {
    words.clear();
    each_word_of_sequence(text, |bytes, _| {
        words.push(Word { id: 0, start: bytes.start as u32, end: bytes.end as u32 });
    });
    let mut found = Vec::new();
    for part in parts.row(row, words.len())? {
        let Some(bytes) = bytes_of(text, &words[part.clone()], 0..text.len()) else {
            return exec_err!("located_words: the range of words {} to {} is empty", part.start, part.end);
        };
        let last = words[part.end - 1].start as usize;
        let sentence = |byte: usize| {
            starts.partition_point(|start| usize::try_from(*start).is_ok_and(|start| start <= byte)).max(1) - 1
        };
        let sentences = sentence(words[part.start].start as usize)..sentence(last) + 1;
        found.push((part, Place { chars: 0..0, bytes, sentences }));
    }
    if text.is_ascii() {
        found.iter_mut().for_each(|(_, place)| place.chars = place.bytes.clone());
        return Ok(found);
    }
    // One pass counts the characters before all offsets.
    let mut offsets: Vec<usize> = found.iter().flat_map(|(_, place)| [place.bytes.start, place.bytes.end]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let (mut counted, mut from) = (0, 0);
    let mut characters = Vec::with_capacity(offsets.len());
    for &offset in &offsets {
        counted += text[from..offset].chars().count();
        from = offset;
        characters.push(counted);
    }
    let character = |byte: usize| characters[offsets.partition_point(|offset| *offset < byte)];
    for (_, place) in &mut found {
        place.chars = character(place.bytes.start)..character(place.bytes.end);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_characters_bytes_and_sentences() {
        let text = "Größe zählt. «Été, déjà!» Fin.";
        let parts = |ranges: &[(i32, i32)]| -> ArrayRef {
            let columns = [|range: &(i32, i32)| range.0, |range: &(i32, i32)| range.1];
            let columns = columns.map(|of| Arc::new(ranges.iter().map(of).collect::<Int32Array>()) as ArrayRef);
            let fields: Fields = PART.map(|name| Field::new(name, DataType::Int32, true)).to_vec().into();
            let items = StructArray::try_new(fields, columns.to_vec(), None).unwrap();
            let mut lists = Lists::with_nulls("f", 1, None);
            lists.end_row(ranges.len()).unwrap();
            Arc::new(lists.finish(Arc::new(items)).unwrap())
        };
        let second = i32::try_from(text.find('«').unwrap()).unwrap();
        let third = i32::try_from(text.find("Fin").unwrap()).unwrap();
        let locate = |ranges: &[(i32, i32)]| {
            let parts = parts(ranges);
            let parts = Parts::try_new("f", &parts)?;
            places(text, &parts, 0, &[0, second, third], &mut Vec::new())
        };
        let found = locate(&[(2, 4), (0, 5), (1, 2)]).unwrap();
        let cut: Vec<_> = found.iter().map(|(_, place)| &text[place.bytes.clone()]).collect();
        assert_eq!(cut, ["«Été, déjà!»", text, "zählt."]);
        let sentences: Vec<_> = found.iter().map(|(_, place)| place.sentences.clone()).collect();
        assert_eq!(sentences, [1..2, 0..3, 0..1]);
        for (_, place) in &found {
            let characters: String = text.chars().skip(place.chars.start).take(place.chars.len()).collect();
            assert_eq!(characters, text[place.bytes.clone()]);
        }
        assert!(locate(&[(2, 6)]).is_err() && locate(&[(2, 2)]).is_err() && locate(&[(-1, 2)]).is_err());
    }
}
