use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, Int32Array, ListArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Int32Type};
use datafusion_common::cast::as_binary_view_array;
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::arguments::{as_index, coerce_text, text_array};
use crate::text::{each_word, normalize};

/// The bytes of a word in a sequence: four of its hash, one of its weight.
const BYTES_OF_WORD: usize = 5;

/// The number of steps of a weight per bit of information.
const STEPS: f64 = 8.0;

/// The bit of a weight that says that the word is marked.
const MARK: u8 = 0x80;

/// A word that makes up more than 2^-FREQUENT of its text has the least weight.
const FREQUENT: f64 = 3.0;

/// A word that makes up less than 2^-(FREQUENT + MOST) of its text has the highest weight.
const MOST: f64 = 9.0;

/// The least weight: a passage of nothing but frequent words has some weight, too.
const LEAST: f64 = 0.1;

/// `word_sequence(text)`: the words of a text, ready to be aligned.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The words of a text in order, as bytes that joins carry as a pointer. They are the words of \
                   `words(text)` in the spelling of `normalize`, except words that `normalize` removes entirely. \
                   `fingerprints`, `aligned_words` and `located_words` refer to a word by its position in this \
                   sequence, from 0.\n\n\
                   Returns BinaryView, five bytes for each word: first the hashes of all words, four bytes each (the \
                   low half of XXH3, little endian), then the weights of all words, one byte each. A word that makes \
                   up the share *p* of the text's words weighs 0.1 + min(max(−log2(p) − 3, 0), 9), in steps of 1/8. So \
                   no table of the corpus is needed, and adding documents changes no weight. The highest bit of a \
                   weight is set if `mark_words` has marked the word. Two different words have the same hash with a \
                   probability of 1 in 4 billion. NULL for NULL; no bytes for a text without words.",
    syntax_example = "word_sequence(text)",
    sql_example = r#"```sql
> SELECT word_sequence('To be, or not to be') = word_sequence('TO BE OR NOT TO BE!') AS same,
    arrow_typeof(word_sequence('To be')) AS type;
+------+------------+
| same | type       |
+------+------------+
| true | BinaryView |
+------+------------+
```"#,
    argument(name = "text", description = "The text, of any width of Utf8.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct WordSequence {
    signature: Signature,
}

impl Default for WordSequence {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for WordSequence {
    fn name(&self) -> &str {
        "word_sequence"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text] = take_function_args(self.name(), given)?;
        Ok(vec![coerce_text(self.name(), text)?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = take_function_args(self.name(), args.args)?;
        let texts = text.into_array(args.number_rows)?;
        let mut sequences = BinaryViewBuilder::with_capacity(texts.len());
        let mut packer = Packer::default();
        for text in text_array(&texts)? {
            match text {
                Some(text) => sequences.append_value(packer.pack(text)),
                None => sequences.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(sequences.finish())))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// Calls `found` with each word of a sequence: its bytes in the text, and its normal form.
pub(super) fn each_word_of_sequence(text: &str, mut found: impl FnMut(Range<usize>, &str)) {
    let mut normal = String::new();
    each_word(text, |word| {
        normalize(&text[word.clone()], &mut normal);
        if !normal.is_empty() {
            found(word, &normal);
        }
    });
}

/// A builder of the sequences of texts.
#[derive(Default)]
struct Packer {
    bytes: Vec<u8>,
    hashes: Vec<u32>,
    /// The number of occurrences in the text, by hash.
    counts: HashMap<u32, u32>,
}

impl Packer {
    fn pack(&mut self, text: &str) -> &[u8] {
        self.bytes.clear();
        self.hashes.clear();
        self.counts.clear();
        each_word_of_sequence(text, |_, normal| {
            #[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
            let hash = xxh3_64(normal.as_bytes()) as u32;
            *self.counts.entry(hash).or_default() += 1;
            self.hashes.push(hash);
            self.bytes.extend_from_slice(&hash.to_le_bytes());
        });
        let words = self.hashes.len() as f64;
        let weights = self.hashes.iter().map(|hash| {
            let bits = (words / f64::from(self.counts[hash])).log2();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 72")]
            let steps = ((bits - FREQUENT).clamp(0.0, MOST) * STEPS).round() as u8;
            steps
        });
        self.bytes.extend(weights);
        &self.bytes
    }
}

/// The words of a text, read from the bytes of `word_sequence`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence<'a> {
    hashes: &'a [[u8; 4]],
    weights: &'a [u8],
}

impl<'a> Sequence<'a> {
    /// Reads the bytes that `function` was given.
    pub(super) fn try_new(function: &str, bytes: &'a [u8]) -> Result<Self> {
        let words = bytes.len() / BYTES_OF_WORD;
        let (hashes, weights) = bytes.split_at(4 * words);
        if weights.len() != words {
            return exec_err!(
                "{function}: {} bytes are no sequence of words, which has five a word; make it with word_sequence(text)",
                bytes.len()
            );
        }
        Ok(Self { hashes: hashes.as_chunks().0, weights })
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn hash(&self, word: usize) -> u32 {
        u32::from_le_bytes(self.hashes[word])
    }

    pub(super) fn hashes(&self, part: Range<usize>) -> &'a [[u8; 4]] {
        &self.hashes[part]
    }

    pub(super) fn weight(&self, word: usize) -> f64 {
        f64::from(self.weights[word] & !MARK) / STEPS + LEAST
    }

    pub(super) fn is_marked(&self, word: usize) -> bool {
        self.weights[word] & MARK != 0
    }

    /// Replaces the content of `bytes` with the bytes of the words in `part`, which lies within the sequence.
    pub(super) fn write_part(&self, part: Range<usize>, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(self.hashes[part.clone()].as_flattened());
        bytes.extend_from_slice(&self.weights[part]);
    }

    /// Replaces the content of `bytes` with the bytes of the words. The words in `parts` are marked.
    pub(super) fn write_marked(&self, parts: impl Iterator<Item = Range<usize>>, bytes: &mut Vec<u8>) {
        self.write_part(0..self.len(), bytes);
        let weights = &mut bytes[4 * self.len()..];
        for part in parts {
            weights[part].iter_mut().for_each(|weight| *weight |= MARK);
        }
    }
}

/// The columns of a list of parts of sequences: the first word, and the word after the last.
pub(super) const PART: [&str; 2] = ["word_start", "word_end"];

/// Parts of sequences, one list per row.
pub(super) struct Parts<'a> {
    function: &'static str,
    lists: &'a ListArray,
    starts: &'a Int32Array,
    ends: &'a Int32Array,
}

impl<'a> Parts<'a> {
    pub(super) fn try_new(function: &'static str, lists: &'a ArrayRef) -> Result<Self> {
        let lists = lists.as_list::<i32>();
        let fields = lists.values().as_struct();
        let [starts, ends] =
            PART.map(|name| fields.column_by_name(name).map(|column| column.as_primitive::<Int32Type>()));
        match (starts, ends) {
            (Some(starts), Some(ends)) => Ok(Self { function, lists, starts, ends }),
            _ => exec_err!("{function}: parts have no fields {}", PART.join(", ")),
        }
    }

    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        self.lists.nulls()
    }

    /// Returns the parts of a row, whose text has `words` words; parts with a NULL are left out.
    pub(super) fn row(&self, row: usize, words: usize) -> Result<Vec<Range<usize>>> {
        let offsets = self.lists.value_offsets();
        let given = as_index(offsets[row])..as_index(offsets[row + 1]);
        let is_given =
            |k: &usize| self.lists.values().is_valid(*k) && self.starts.is_valid(*k) && self.ends.is_valid(*k);
        given.filter(is_given).map(|k| part(self.function, self.starts.value(k), self.ends.value(k), words)).collect()
    }
}

/// Returns a part of a text of `words` words, or an error if it lies outside of the text.
pub(super) fn part(function: &str, start: i32, end: i32, words: usize) -> Result<Range<usize>> {
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end && end <= words => Ok(start..end),
        _ => exec_err!(
            "{function}: words {start} to {end} are no part of a text of {words} words; give ordinals as fingerprints or \
             aligned_words have them, from 0 on"
        ),
    }
}

/// Returns the type of an argument that is a sequence of words, or an error that says how to make one.
pub(super) fn coerce_sequence(function: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::BinaryView | DataType::Binary | DataType::LargeBinary | DataType::Null => Ok(DataType::BinaryView),
        _ => plan_err!("{function} expects a sequence of words, got {given}; write {function}(word_sequence(text), …)"),
    }
}

/// Returns the sequences of a column.
pub(super) fn sequence_array(value: &ArrayRef) -> Result<&BinaryViewArray> {
    as_binary_view_array(value)
}

/// Returns the bytes of the sequence of a text.
#[cfg(test)]
pub(super) fn pack(text: &str) -> Vec<u8> {
    Packer::default().pack(text).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_weigh_as_they_are_rare_in_their_text() {
        // 64 words. One of them makes up half.
        let text = (0..32).map(|k| format!("the w{k} ")).collect::<String>();
        let bytes = pack(&text);
        let sequence = Sequence::try_new("f", &bytes).unwrap();
        assert_eq!(sequence.len(), 64);
        assert_eq!((sequence.weight(0), sequence.weight(1)), (0.1, 3.1));
        assert_eq!(sequence.hash(0), sequence.hash(2));
        assert_ne!(sequence.hash(1), sequence.hash(3));
    }

    #[test]
    fn words_without_a_normal_form_are_left_out_everywhere() {
        let mut found = Vec::new();
        each_word_of_sequence("Straße, ﬁne.", |range, normal| found.push((range, normal.to_owned())));
        assert_eq!(found, [(0..7, "strasse".to_owned()), (9..14, "fine".to_owned())]);
        assert_eq!(pack(" … "), [0_u8; 0]);
    }

    #[test]
    fn other_bytes_are_an_error() {
        let error = Sequence::try_new("f", &[0; 7]).unwrap_err().to_string();
        assert!(error.contains("f: 7 bytes are no sequence of words"), "{error}");
    }
}
