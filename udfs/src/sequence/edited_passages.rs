use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, ListArray, StringViewArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int32Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_datafusion_err, exec_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::HashMap;

use super::edges::{Edges, Vocabulary, Word, bytes_of};
use crate::arguments::{as_index, coerce_structs, coerce_text, constant_number, constant_size, text_array};
use crate::text::split_sentences;

/// The least number of words of a sentence that is compared on its own. A shorter sentence is merged with the next one:
/// a heading or a list number has too few words for a cosine to mean anything (Sanchez-Perez et al. 2014, section 2).
const MIN_WORDS: usize = 3;

/// The least similarity of a pair of sentences, relative to the most similar pair that either sentence is in.
///
/// Sanchez-Perez et al. ask for a Dice coefficient above .33 as well, which loses sentences that were shortened or
/// extended. A threshold relative to the best pair removes chance resemblances as well and keeps those sentences.
const PART_OF_BEST: f64 = 0.5;

/// The least cosine of the two sides of a passage, as in Sanchez-Perez et al. Fragments whose sentences are similar by
/// chance are not similar on the whole.
const MIN_PASSAGE_COSINE: f64 = 0.34;

/// The most products of word weights that are added up for a pair of texts. Two texts of 1,000 sentences take about 10
/// million. The bound is for texts that repeat themselves without end, and for whole libraries in one text.
///
/// It bounds the later steps as well: each match has a product, and a group spans at most `max_gap` + 1 sentences for
/// each of its matches.
const MAX_PRODUCTS: u64 = 1 << 24;

/// The most words of the texts that are cached for later rows. When there are more, the cache is dropped.
const MAX_KEPT_WORDS: usize = 1 << 23;

/// `edited_passages(text_a, text_b, seeds, min_cosine, max_gap, min_characters)`: the passages that two texts share
/// although one was edited.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The passages that two texts share although one of them was edited: words replaced, inserted, left \
                   out or moved. The algorithm is the text alignment of Sanchez-Perez, Sidorov and Gelbukh (\"A \
                   Winning Approach to Text Alignment for Text Reuse Detection at PAN 2014\"), with three changes that \
                   found more passages in its data:\n\n\
                   1. Sentences are those of `sentences`. A sentence of fewer than 3 words is merged with the next \
                   one, and the last one with the one before. Words are those of `words` in the spelling of \
                   `normalize`. A word weighs ln(n / sf), where n is the number of sentences of both texts, and sf the \
                   number of those that have the word.\n\
                   2. Two sentences match if the cosine of their weighted word counts is above `min_cosine` and at \
                   least half of the highest cosine that either of them has (the paper has a Dice coefficient \
                   instead).\n\
                   3. Matches form a group if at most `max_gap` sentences lie between them on either side, in any \
                   order (single linkage; the paper splits and shrinks).\n\
                   4. The sentences from the first to the last of a group, on both sides, are a passage if one of the \
                   `seeds` is within them and the cosine of the two sides is at least .34.\n\
                   5. The edges move from sentences to words: each side keeps the run with the highest sum, where \
                   words of the other side add their weight and others subtract in proportion, as in `shared_words`. A \
                   passage that has fewer than `min_characters` characters on a side is left out.\n\n\
                   Returns a list of structs, ordered by place, empty if there is no passage: `sent_a_start`, \
                   `sent_a_end`, `sent_b_start`, `sent_b_end` (the sentences that the passage touches, ordinals of \
                   `sentences`), `byte_a_start`, `byte_a_end`, `byte_b_start`, `byte_b_end`, `char_a_start`, \
                   `char_a_end`, `char_b_start`, `char_b_end` (in bytes and in characters of the given texts), \
                   `sentences` (the number of matches), `gaps` (the number of touched sentences that are in no match, \
                   on both sides together), all Int32 and all ranges half open, and `similarity` (Float64, the cosine \
                   of step 4). NULL if a text or `seeds` is NULL.\n\n\
                   A pair of texts without seeds has no passages and costs nothing. The work for one pair is limited: \
                   if common words would need more than 16 million products, the commonest words weigh nothing.",
    syntax_example = "edited_passages(text_a, text_b, seeds, min_cosine, max_gap, min_characters)",
    sql_example = r#"```sql
> WITH texts AS (SELECT
    'Rain fell all day. A brown dog crossed the frozen river at dawn. Nobody saw how it came back.' AS a,
    'At dawn a dog crossed the frozen river. How it came back nobody saw. Then there was music.' AS b),
  passages AS (SELECT a, b, unnest(edited_passages(a, b, [{sent_a: 1, sent_b: 0}], 0.25, 4, 20)) AS p FROM texts)
  SELECT unnest([substr(a, p.char_a_start + 1, p.char_a_end - p.char_a_start),
                 substr(b, p.char_b_start + 1, p.char_b_end - p.char_b_start)]) AS passage FROM passages;
+----------------------------------------------------------------------+
| passage                                                              |
+----------------------------------------------------------------------+
| dog crossed the frozen river at dawn. Nobody saw how it came back.   |
| At dawn a dog crossed the frozen river. How it came back nobody saw. |
+----------------------------------------------------------------------+
```"#,
    argument(name = "text_a", description = "The first text, of any width of Utf8."),
    argument(name = "text_b", description = "The second text."),
    argument(
        name = "seeds",
        description = "Pairs of sentences that suggest a passage, `List<Struct<sent_a, sent_b>>`, ordinals as in \
                       `sentences`, for example of pairs that share rare `skip_bigrams`. Pairs with a NULL are left \
                       out."
    ),
    argument(
        name = "min_cosine",
        description = "The cosine that two matching sentences must exceed, from 0 to 1; .25 is usual; a constant."
    ),
    argument(
        name = "max_gap",
        description = "The most sentences between two matches on either side, from 0 to 1000; 4 is usual; a constant."
    ),
    argument(
        name = "min_characters",
        description = "The least number of characters on either side, from 0; 150 is usual; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct EditedPassages {
    signature: Signature,
}

impl Default for EditedPassages {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static PASSAGE_FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let mut fields: Vec<Field> = [
        "sent_a_start",
        "sent_a_end",
        "sent_b_start",
        "sent_b_end",
        "byte_a_start",
        "byte_a_end",
        "byte_b_start",
        "byte_b_end",
        "char_a_start",
        "char_a_end",
        "char_b_start",
        "char_b_end",
        "sentences",
        "gaps",
    ]
    .map(|name| Field::new(name, DataType::Int32, true))
    .to_vec();
    fields.push(Field::new("similarity", DataType::Float64, true));
    fields.into()
});

impl ScalarUDFImpl for EditedPassages {
    fn name(&self) -> &str {
        "edited_passages"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [text_a, text_b, seeds, _, _, _] = take_function_args(self.name(), given)?;
        Ok(vec![
            coerce_text(self.name(), text_a)?,
            coerce_text(self.name(), text_b)?,
            coerce_structs(self.name(), "seeds", &["sent_a", "sent_b"], "'sent_a', a.sent, 'sent_b', b.sent", seeds)?,
            DataType::Float64,
            DataType::Int64,
            DataType::Int64,
        ])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(PASSAGE_FIELDS.clone()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [text_a, text_b, seeds, min_cosine, max_gap, min_characters] = take_function_args(self.name(), args.args)?;
        let rules = Rules {
            min_cosine: constant_number(self.name(), "min_cosine", &min_cosine, 0.0..=1.0)?,
            max_gap: constant_size(self.name(), "max_gap", &max_gap, 0..=1000)?,
            min_characters: constant_size(self.name(), "min_characters", &min_characters, 0..=i64::from(i32::MAX))?,
        };
        let (text_a, text_b) = (text_a.into_array(rows)?, text_b.into_array(rows)?);
        let seeds = seeds.into_array(rows)?;
        let found = edited_passages(text_array(&text_a)?, text_array(&text_b)?, seeds.as_list(), rules)?;
        Ok(ColumnarValue::Array(found))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rules that a passage has to meet.
#[derive(Debug, Clone, Copy)]
struct Rules {
    min_cosine: f64,
    max_gap: usize,
    min_characters: usize,
}

/// Returns the passages of each pair of texts.
fn edited_passages(
    texts_a: &StringViewArray,
    texts_b: &StringViewArray,
    seeds: &ListArray,
    rules: Rules,
) -> Result<ArrayRef> {
    let pairs = seeds.values().as_struct();
    let ordinals = |name: &str| {
        let column = pairs.column_by_name(name);
        column.map(|column| column.as_primitive::<Int32Type>()).ok_or_else(|| {
            exec_datafusion_err!("edited_passages: seeds have no field {name}; they are structs (sent_a, sent_b)")
        })
    };
    let (sent_a, sent_b) = (ordinals("sent_a")?, ordinals("sent_b")?);
    let mut library = Library::default();
    let mut matcher = Matcher::default();
    let mut passages = Vec::new();
    let mut ends = vec![0];
    let mut valid = Vec::with_capacity(texts_a.len());
    let mut row_seeds = Vec::new();
    for row in 0..texts_a.len() {
        let given = texts_a.is_valid(row) && texts_b.is_valid(row) && seeds.is_valid(row);
        valid.push(given);
        row_seeds.clear();
        if given {
            let offsets = seeds.value_offsets();
            let all = as_index(offsets[row])..as_index(offsets[row + 1]);
            row_seeds.extend(all.filter(|&k| pairs.is_valid(k) && sent_a.is_valid(k) && sent_b.is_valid(k)));
        }
        if !row_seeds.is_empty() {
            library.make_room();
            let (a, b) = (library.read(texts_a.value(row))?, library.read(texts_b.value(row))?);
            let units = row_seeds
                .iter()
                .map(|&k| Ok((a.unit_of("a", sent_a.value(k))?, b.unit_of("b", sent_b.value(k))?)))
                .collect::<Result<Vec<_>>>()?;
            matcher.find(&a, &b, units, library.reader.vocabulary.len(), rules, &mut passages);
        }
        ends.push(i32::try_from(passages.len()).map_err(|_| {
            exec_datafusion_err!(
                "edited_passages: one batch has more than {} passages; set datafusion.execution.batch_size to a lower \
                 number",
                i32::MAX
            )
        })?);
    }
    let mut columns: Vec<ArrayRef> = (0..14)
        .map(|k| Arc::new(passages.iter().map(|passage| passage.numbers()[k]).collect::<Int32Array>()) as ArrayRef)
        .collect();
    columns.push(Arc::new(passages.iter().map(|passage| Some(passage.similarity)).collect::<Float64Array>()));
    let passages = StructArray::try_new(PASSAGE_FIELDS.clone(), columns, None)?;
    let field = Arc::new(Field::new_list_field(DataType::Struct(PASSAGE_FIELDS.clone()), true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    Ok(Arc::new(ListArray::try_new(field, offsets, Arc::new(passages), Some(NullBuffer::from(valid)))?))
}

/// One side of a passage.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    sentences: Range<usize>,
    bytes: Range<usize>,
    characters: Range<usize>,
}

/// A passage of two texts.
#[derive(Debug, Clone, PartialEq)]
struct Passage {
    a: Part,
    b: Part,
    matches: usize,
    gaps: usize,
    similarity: f64,
}

impl Passage {
    /// Returns the numbers in the order of the fields. The numbers of matches can exceed Int32, and saturate.
    fn numbers(&self) -> [i32; 14] {
        let Self { a, b, .. } = self;
        [
            a.sentences.start,
            a.sentences.end,
            b.sentences.start,
            b.sentences.end,
            a.bytes.start,
            a.bytes.end,
            b.bytes.start,
            b.bytes.end,
            a.characters.start,
            a.characters.end,
            b.characters.start,
            b.characters.end,
            self.matches,
            self.gaps,
        ]
        .map(|n| i32::try_from(n).unwrap_or(i32::MAX))
    }
}

/// A cache of texts, so that a text that is in many rows is read once.
#[derive(Default)]
struct Library<'a> {
    documents: HashMap<&'a str, Rc<Document<'a>>>,
    reader: Reader,
    words: usize,
}

impl<'a> Library<'a> {
    /// Drops the cache if it has grown too large. Documents read before and after number their words differently.
    fn make_room(&mut self) {
        if self.words > MAX_KEPT_WORDS {
            *self = Self::default();
        }
    }

    fn read(&mut self, text: &'a str) -> Result<Rc<Document<'a>>> {
        if let Some(document) = self.documents.get(text) {
            return Ok(Rc::clone(document));
        }
        if i32::try_from(text.len()).is_err() {
            return exec_err!(
                "edited_passages: a text has {} bytes, more than the {} that offsets can tell; split it into several \
                 documents",
                text.len(),
                i32::MAX
            );
        }
        let document = Rc::new(self.reader.read(text));
        self.words += document.words.len();
        self.documents.insert(text, Rc::clone(&document));
        Ok(document)
    }
}

/// The number of times that a unit has a word.
#[derive(Debug, Clone, Copy)]
struct Entry {
    id: u32,
    unit: u32,
    count: u32,
}

/// One or more sentences that are compared as one.
#[derive(Debug, Clone, PartialEq)]
struct Unit {
    sentences: Range<usize>,
    words: Range<usize>,
    /// The range of its different words in [`Document::entries`].
    entries: Range<usize>,
}

/// A text, prepared for the comparison.
struct Document<'a> {
    text: &'a str,
    /// The range of each sentence in bytes.
    sentences: Vec<Range<usize>>,
    /// The start of each sentence in characters.
    characters: Vec<usize>,
    words: Vec<Word>,
    units: Vec<Unit>,
    /// The words of the units, in order of their first occurrence within a unit. So sums do not depend on the numbers
    /// of words, which depend on other texts.
    entries: Vec<Entry>,
    /// The same entries, ordered by word and unit.
    postings: Vec<Entry>,
}

/// A reader of texts.
#[derive(Default)]
struct Reader {
    vocabulary: Vocabulary,
    /// One more than the place of the last entry of each word, among the entries of all texts; by word.
    places: Vec<usize>,
    /// The number of entries of the texts before.
    entries: usize,
}

impl Reader {
    fn read<'a>(&mut self, text: &'a str) -> Document<'a> {
        let sentences: Vec<_> = split_sentences(text).collect();
        let (mut at, mut character) = (0, 0);
        let characters = sentences.iter().map(|sentence| {
            character += text[at..sentence.start].chars().count();
            at = sentence.start;
            character
        });
        let characters = characters.collect();
        let (mut words, mut units) = (Vec::new(), Vec::<Unit>::new());
        for (k, sentence) in sentences.iter().enumerate() {
            let before = words.len();
            self.vocabulary.read(text, sentence.clone(), &mut words);
            match units.last_mut() {
                Some(unit) if unit.words.len() < MIN_WORDS => {
                    (unit.sentences.end, unit.words.end) = (k + 1, words.len());
                }
                _ => units.push(Unit { sentences: k..k + 1, words: before..words.len(), entries: 0..0 }),
            }
        }
        if let [.., before, last] = &mut units[..]
            && last.words.len() < MIN_WORDS
        {
            (before.sentences.end, before.words.end) = (last.sentences.end, last.words.end);
            units.pop();
        }
        let mut entries = Vec::new();
        self.places.resize(self.vocabulary.len().max(self.places.len()), 0);
        for (k, unit) in units.iter_mut().enumerate() {
            let start = entries.len();
            for word in &words[unit.words.clone()] {
                let place = &mut self.places[word.id as usize];
                if *place <= self.entries + start {
                    entries.push(Entry { id: word.id, unit: narrow(k), count: 0 });
                    *place = self.entries + entries.len();
                }
                entries[*place - self.entries - 1].count += 1;
            }
            unit.entries = start..entries.len();
        }
        self.entries += entries.len();
        let mut postings = entries.clone();
        postings.sort_unstable_by_key(|entry| (entry.id, entry.unit));
        Document { text, sentences, characters, words, units, entries, postings }
    }
}

/// A run of units.
struct Stretch<'a> {
    words: &'a [Word],
    entries: &'a [Entry],
    bytes: Range<usize>,
}

impl Document<'_> {
    /// Returns the unit that contains a sentence.
    fn unit_of(&self, side: &str, sentence: i32) -> Result<u32> {
        match usize::try_from(sentence) {
            Ok(k) if k < self.sentences.len() => Ok(narrow(self.units.partition_point(|unit| unit.sentences.end <= k))),
            _ => exec_err!(
                "edited_passages: a seed has sent_{side} = {sentence}, but text_{side} has {} sentences, from 0 on; give \
                 the ordinals that sentences(text_{side}) has",
                self.sentences.len()
            ),
        }
    }

    /// Returns the words, the entries and the bytes of the units from the first to the last.
    fn stretch(&self, first: u32, last: u32) -> Stretch<'_> {
        let (first, last) = (&self.units[first as usize], &self.units[last as usize]);
        Stretch {
            words: &self.words[first.words.start..last.words.end],
            entries: &self.entries[first.entries.start..last.entries.end],
            bytes: self.sentences[first.sentences.start].start..self.sentences[last.sentences.end - 1].end,
        }
    }

    /// Returns the sentences and the characters of a range of bytes.
    fn part(&self, bytes: Range<usize>) -> Part {
        let start = self.sentences.partition_point(|sentence| sentence.end <= bytes.start);
        let end = self.sentences.partition_point(|sentence| sentence.start < bytes.end);
        let characters = self.character(bytes.start)..self.character(bytes.end);
        Part { sentences: start..end, bytes, characters }
    }

    /// Returns the number of characters before a byte.
    fn character(&self, byte: usize) -> usize {
        let after = self.sentences.partition_point(|sentence| sentence.start <= byte);
        let (start, before) = match after.checked_sub(1) {
            Some(sentence) => (self.sentences[sentence].start, self.characters[sentence]),
            None => (0, 0),
        };
        before + self.text[start..byte].chars().count()
    }

    /// Returns the number of `sentences` that are in none of `units`, which are in order.
    fn outside(&self, sentences: &Range<usize>, units: impl Iterator<Item = u32>) -> usize {
        let inside = units.map(|unit| {
            let of = &self.units[unit as usize].sentences;
            of.end.min(sentences.end).saturating_sub(of.start.max(sentences.start))
        });
        sentences.len() - inside.sum::<usize>()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "ordinals of units of a text, which has less than 2 GiB")]
fn narrow(unit: usize) -> u32 {
    unit as u32
}

/// Two units that match.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Match {
    a: u32,
    b: u32,
    cosine: f64,
}

/// The data of a word of a pair of texts.
#[derive(Debug, Clone, Copy, Default)]
struct WordOfPair {
    /// The number of units of each text that have the word.
    units: [u32; 2],
    weight: f64,
    /// The place of the word's first posting in the second text.
    postings: usize,
    /// The number of times that each side of the current passage has the word.
    counts: [f64; 2],
}

/// A finder of the passages of a pair of texts.
#[derive(Default)]
struct Matcher {
    /// The data of the words, by the number of the word. Only the words in `used` differ from the default.
    words: Vec<WordOfPair>,
    /// The words of the pair, in order of their first occurrence.
    used: Vec<u32>,
    edges: Edges,
}

impl Matcher {
    /// Adds the passages of `a` and `b` to `passages`, in order of place. `seeds` are pairs of units, `vocabulary` is
    /// the number of different words.
    fn find(
        &mut self,
        a: &Document<'_>,
        b: &Document<'_>,
        mut seeds: Vec<(u32, u32)>,
        vocabulary: usize,
        rules: Rules,
        passages: &mut Vec<Passage>,
    ) {
        seeds.sort_unstable();
        seeds.dedup();
        self.weigh(a, b, vocabulary);
        let matches = self.matches(a, b, rules.min_cosine);
        let before = passages.len();
        for group in groups(&matches, rules.max_gap) {
            let (Some((first_a, last_a)), Some((first_b, last_b))) =
                (bounds(group.iter().map(|m| m.a)), bounds(group.iter().map(|m| m.b)))
            else {
                continue;
            };
            if !any_within(&seeds, (first_a, last_a), (first_b, last_b)) {
                continue;
            }
            let (side_a, side_b) = (a.stretch(first_a, last_a), b.stretch(first_b, last_b));
            let similarity = self.cosine(side_a.entries, side_b.entries);
            if similarity < MIN_PASSAGE_COSINE {
                continue;
            }
            let words = &self.words;
            let edges = self.edges.find(side_a.words, side_b.words, |id| words[id as usize].weight);
            let Some((run_a, run_b)) = edges else { continue };
            let (Some(bytes_a), Some(bytes_b)) = (
                bytes_of(a.text, &side_a.words[run_a], side_a.bytes),
                bytes_of(b.text, &side_b.words[run_b], side_b.bytes),
            ) else {
                continue;
            };
            let (part_a, part_b) = (a.part(bytes_a), b.part(bytes_b));
            if part_a.characters.len().min(part_b.characters.len()) < rules.min_characters {
                continue;
            }
            let mut units_b: Vec<u32> = group.iter().map(|m| m.b).collect();
            units_b.sort_unstable();
            units_b.dedup();
            let mut units_a: Vec<u32> = group.iter().map(|m| m.a).collect();
            units_a.dedup();
            let gaps =
                a.outside(&part_a.sentences, units_a.into_iter()) + b.outside(&part_b.sentences, units_b.into_iter());
            passages.push(Passage { a: part_a, b: part_b, matches: group.len(), gaps, similarity });
        }
        passages[before..].sort_by_key(|Passage { a, b, .. }| (a.bytes.start, b.bytes.start, a.bytes.end, b.bytes.end));
    }

    /// Weighs the words of a pair of texts by how few of their units have them.
    fn weigh(&mut self, a: &Document<'_>, b: &Document<'_>, vocabulary: usize) {
        for id in self.used.drain(..) {
            self.words[id as usize] = WordOfPair::default();
        }
        self.words.resize(vocabulary.max(self.words.len()), WordOfPair::default());
        for (side, document) in [a, b].into_iter().enumerate() {
            for entry in &document.entries {
                let word = &mut self.words[entry.id as usize];
                if word.units == [0, 0] {
                    self.used.push(entry.id);
                }
                word.units[side] += 1;
            }
        }
        let all = (a.units.len() + b.units.len()) as f64;
        let mut products = Vec::new();
        for id in &self.used {
            let word = &mut self.words[*id as usize];
            word.weight = (all / (f64::from(word.units[0]) + f64::from(word.units[1]))).ln();
            if word.weight > 0.0 && !word.units.contains(&0) {
                products.push(word.products());
            }
        }
        if let Some(too_many) = too_many(&mut products) {
            for id in &self.used {
                let word = &mut self.words[*id as usize];
                if word.products() >= too_many {
                    word.weight = 0.0;
                }
            }
        }
        for (k, posting) in b.postings.iter().enumerate().rev() {
            self.words[posting.id as usize].postings = k;
        }
    }

    /// Returns the length of each unit as a vector.
    fn lengths(&self, document: &Document<'_>) -> Vec<f64> {
        let length = |unit: &Unit| {
            let squares = document.entries[unit.entries.clone()].iter().map(|entry| {
                let value = f64::from(entry.count) * self.words[entry.id as usize].weight;
                value * value
            });
            squares.sum::<f64>().sqrt()
        };
        document.units.iter().map(length).collect()
    }

    /// Returns the units of `a` and `b` that match, in order. Visits only pairs of units that share a word.
    fn matches(&self, a: &Document<'_>, b: &Document<'_>, min_cosine: f64) -> Vec<Match> {
        let (lengths_a, lengths_b) = (self.lengths(a), self.lengths(b));
        let part = |entry: &Entry, lengths: &[f64]| {
            f64::from(entry.count) * self.words[entry.id as usize].weight / lengths[entry.unit as usize]
        };
        let parts_b: Vec<_> = b.postings.iter().map(|posting| part(posting, &lengths_b)).collect();
        let mut best_b = vec![0.0_f64; b.units.len()];
        let mut cosines = vec![0.0_f64; b.units.len()];
        let mut met: Vec<u32> = Vec::new();
        let mut matches: Vec<Match> = Vec::new();
        for (i, unit) in a.units.iter().enumerate() {
            for entry in &a.entries[unit.entries.clone()] {
                let word = &self.words[entry.id as usize];
                if word.weight <= 0.0 || word.units[1] == 0 {
                    continue;
                }
                let part_a = part(entry, &lengths_a);
                let of_word = word.postings..word.postings + word.units[1] as usize;
                for (posting, part_b) in b.postings[of_word.clone()].iter().zip(&parts_b[of_word]) {
                    let cosine = &mut cosines[posting.unit as usize];
                    if *cosine == 0.0 {
                        met.push(posting.unit);
                    }
                    *cosine += part_a * part_b;
                }
            }
            let before = matches.len();
            for b in met.drain(..) {
                let cosine = std::mem::take(&mut cosines[b as usize]);
                if cosine > min_cosine {
                    best_b[b as usize] = best_b[b as usize].max(cosine);
                    matches.push(Match { a: narrow(i), b, cosine });
                }
            }
            let row = &mut matches[before..];
            row.sort_unstable_by_key(|m| m.b);
            let best = row.iter().map(|m| m.cosine).fold(0.0, f64::max);
            let far = matches.extract_if(before.., |m| m.cosine < PART_OF_BEST * best);
            far.for_each(drop);
        }
        matches.retain(|m| m.cosine >= PART_OF_BEST * best_b[m.b as usize]);
        matches
    }

    /// Returns the cosine of the words of two stretches.
    fn cosine(&mut self, a: &[Entry], b: &[Entry]) -> f64 {
        for (side, entries) in [a, b].into_iter().enumerate() {
            for entry in entries {
                self.words[entry.id as usize].counts[side] += f64::from(entry.count);
            }
        }
        let mut sums = [0.0; 3];
        for entry in a.iter().chain(b) {
            let word = &mut self.words[entry.id as usize];
            // A word is counted at its first entry.
            let [x, y] = std::mem::take(&mut word.counts).map(|count| count * word.weight);
            sums = [sums[0] + x * y, sums[1] + x * x, sums[2] + y * y];
        }
        let [product, squares_a, squares_b] = sums;
        let lengths = (squares_a * squares_b).sqrt();
        if lengths > 0.0 { product / lengths } else { 0.0 }
    }
}

impl WordOfPair {
    /// Returns the number of pairs of units that share the word.
    fn products(&self) -> u64 {
        u64::from(self.units[0]) * u64::from(self.units[1])
    }
}

/// Returns the first of the numbers, in ascending order, at which the running sum exceeds `MAX_PRODUCTS`.
fn too_many(products: &mut [u64]) -> Option<u64> {
    let exceeds = |sum: &mut u64, products: &u64| {
        *sum = sum.saturating_add(*products);
        *sum > MAX_PRODUCTS
    };
    let mut sum = 0;
    products.iter().any(|products| exceeds(&mut sum, products)).then(|| products.sort_unstable())?;
    sum = 0;
    products.iter().copied().find(|products| exceeds(&mut sum, products))
}

/// Returns the least and the greatest of some numbers.
fn bounds(numbers: impl Iterator<Item = u32>) -> Option<(u32, u32)> {
    numbers.fold(None, |bounds, n| match bounds {
        Some((least, greatest)) => Some((n.min(least), n.max(greatest))),
        None => Some((n, n)),
    })
}

/// Returns true if one of `seeds`, which are in order, is in a box; bounds are included.
fn any_within(seeds: &[(u32, u32)], a: (u32, u32), b: (u32, u32)) -> bool {
    let mut row = a.0;
    loop {
        let next = seeds.partition_point(|seed| *seed < (row, b.0));
        match seeds.get(next) {
            Some(&(i, j)) if i <= a.1 && (b.0..=b.1).contains(&j) => return true,
            // The seed is before the box in a later row, or behind it in this one.
            Some(&(i, j)) if i <= a.1 => row = if j < b.0 { i } else { i.saturating_add(1) },
            _ => return false,
        }
    }
}

/// Groups `matches`, which are in order: matches at most `max_gap` units apart on both sides are in one group. Groups
/// are in order of their first match, and so are the matches in them.
///
/// In a row, all matches in reach before a place are in one group already, and so are all matches in reach behind it.
/// So each match is compared only with the two nearest of each row in reach.
fn groups(matches: &[Match], max_gap: usize) -> Vec<Vec<Match>> {
    let reach = narrow(max_gap).saturating_add(1);
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut first_row = 0;
    let mut sets = Sets((0..matches.len()).collect());
    for (k, m) in matches.iter().enumerate() {
        match rows.last_mut() {
            Some(row) if matches[row.start].a == m.a => row.end = k + 1,
            _ => rows.push(k..k + 1),
        }
        while matches[rows[first_row].start].a.saturating_add(reach) < m.a {
            first_row += 1;
        }
        for row in &rows[first_row..] {
            let behind = row.start + matches[row.clone()].partition_point(|other| other.b < m.b);
            let nearest = [behind.checked_sub(1).filter(|near| *near >= row.start), Some(behind)];
            for near in nearest.into_iter().flatten().filter(|near| *near < row.end) {
                if matches[near].b.abs_diff(m.b) <= reach {
                    sets.join(k, near);
                }
            }
        }
    }
    let mut groups: Vec<Vec<Match>> = Vec::new();
    let mut group_of = HashMap::new();
    for (k, m) in matches.iter().enumerate() {
        let group = *group_of.entry(sets.find(k)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(*m);
    }
    groups
}

/// Disjoint sets: each element points to another of its set, or is the representative of the set.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut k: usize) -> usize {
        while self.0[k] != k {
            self.0[k] = self.0[self.0[k]];
            k = self.0[k];
        }
        k
    }

    /// Joins the sets of two elements. The lower of their representatives represents both.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use arrow::array::Int64Array;
    use proptest::prelude::*;

    use super::*;

    const RULES: Rules = Rules { min_cosine: 0.25, max_gap: 4, min_characters: 20 };

    fn seeds_of(rows: &[Option<&[(i32, i32)]>]) -> ListArray {
        let pairs: Vec<_> = rows.iter().copied().flatten().flatten().collect();
        let pairs = StructArray::from(vec![
            (
                Arc::new(Field::new("sent_a", DataType::Int32, true)),
                Arc::new(Int32Array::from_iter_values(pairs.iter().map(|pair| pair.0))) as ArrayRef,
            ),
            (
                Arc::new(Field::new("sent_b", DataType::Int32, true)),
                Arc::new(Int32Array::from_iter_values(pairs.iter().map(|pair| pair.1))),
            ),
        ]);
        let lengths = rows.iter().map(|row| row.map_or(0, <[_]>::len));
        let field = Arc::new(Field::new_list_field(pairs.data_type().clone(), true));
        let valid = NullBuffer::from_iter(rows.iter().map(Option::is_some));
        ListArray::new(field, OffsetBuffer::from_lengths(lengths), Arc::new(pairs), Some(valid))
    }

    /// Returns the passages of one pair.
    fn find(a: &str, b: &str, seeds: &[(i32, i32)], rules: Rules) -> Vec<Passage> {
        let mut library = Library::default();
        let (document_a, document_b) = (library.read(a).unwrap(), library.read(b).unwrap());
        let units =
            seeds.iter().map(|&(i, j)| (document_a.unit_of("a", i).unwrap(), document_b.unit_of("b", j).unwrap()));
        let (mut matcher, mut passages) = (Matcher::default(), Vec::new());
        let words = library.reader.vocabulary.len();
        matcher.find(&document_a, &document_b, units.collect(), words, rules, &mut passages);
        passages
    }

    const A: &str = "The council met on Monday. “Every winter the northern lake freezes over — and fishermen drill holes \
                     through the thick ice.” They sit in wooden huts for hours. Warm stoves keep those huts pleasant. \
                     Taxes rose again last year.";
    const B: &str = "Opera tickets sold quickly. In winter the northern lake always freezes and the fishermen drill \
                     through thick ice. In their wooden huts they sit for hours. A violin costs money. Stoves keep the \
                     huts warm and pleasant, somebody wrote in a diary about completely unrelated matters.";

    #[test]
    fn an_edited_passage_is_found_and_cut_to_what_is_shared() {
        let found = find(A, B, &[(1, 1)], RULES);
        let [passage] = &found[..] else { panic!("{found:?}") };
        let a = &A[passage.a.bytes.clone()];
        assert!(a.ends_with("keep those huts pleasant."), "{a}");
        assert!(a.contains("winter the northern lake") && !a.contains("Monday"), "{a}");
        let b = &B[passage.b.bytes.clone()];
        assert!(b.ends_with("warm and pleasant,"), "{b}");
        assert!(b.contains("winter the northern lake") && !b.contains("quickly"), "{b}");
        assert_eq!((&passage.a.sentences, &passage.b.sentences), (&(1..4), &(1..5)));
        assert_eq!((passage.matches, passage.gaps), (3, 1));
        assert!((0.34..1.0).contains(&passage.similarity));
        assert_eq!(A.chars().skip(passage.a.characters.start).take(passage.a.characters.len()).collect::<String>(), a);
    }

    #[test]
    fn without_a_seed_within_there_is_no_passage() {
        assert_eq!(find(A, B, &[], RULES), []);
        assert_eq!(find(A, B, &[(0, 0), (4, 4)], RULES), []);
        // A pair of sentences that do not match still lies within.
        assert_eq!(find(A, B, &[(2, 3)], RULES).len(), 1);
    }

    #[test]
    fn a_gap_too_wide_parts_passages_and_a_short_passage_is_left_out() {
        let both = find(A, B, &[(1, 1), (3, 4)], Rules { max_gap: 0, ..RULES });
        assert_eq!(both.iter().map(|p| p.b.sentences.clone()).collect::<Vec<_>>(), [1..3, 4..5]);
        let long = find(A, B, &[(1, 1), (3, 4)], Rules { max_gap: 0, min_characters: 100, ..RULES });
        assert_eq!(long[..], both[..1]);
    }

    #[test]
    fn moved_sentences_are_one_passage() {
        let moved = "In their wooden huts they sit for hours. Stoves keep the huts warm and pleasant. In winter the \
                     northern lake freezes and fishermen drill through thick ice. Nothing else was heard of.";
        let found = find(A, moved, &[(1, 2)], RULES);
        assert_eq!(found.iter().map(|p| (p.a.sentences.clone(), p.matches)).collect::<Vec<_>>(), [(1..4, 3)]);
    }

    #[test]
    fn short_sentences_go_with_their_neighbours() {
        let document = Reader::default().read("One. Two. Three four five. Six seven eight. *** Nine.");
        let units: Vec<_> = document.units.iter().map(|unit| (unit.sentences.clone(), unit.words.clone())).collect();
        assert_eq!(units.iter().map(|unit| unit.1.clone()).collect::<Vec<_>>(), [0..5, 5..9]);
        assert_eq!(units.last().unwrap().0.end, document.sentences.len());
        assert_eq!(Reader::default().read("One. Two.").units.len(), 1);
        assert_eq!(Reader::default().read(" \n").units.len(), 0);
    }

    #[test]
    fn null_and_nothing_are_defined() {
        let a = StringViewArray::from(vec![None, Some(A), Some(A), Some(""), Some(A), Some(A)]);
        let b = StringViewArray::from(vec![Some(B), None, Some(B), Some(""), Some(B), Some(B)]);
        let one: Option<&[(i32, i32)]> = Some(&[(1, 1)]);
        let seeds = seeds_of(&[one, one, None, Some(&[]), Some(&[]), one]);
        let found = edited_passages(&a, &b, &seeds, RULES).unwrap();
        let found = found.as_list::<i32>();
        assert_eq!([0, 1, 2, 3, 4, 5].map(|row| found.is_valid(row)), [false, false, false, true, true, true]);
        assert_eq!([3, 4, 5].map(|row| found.value_length(row)), [0, 0, 1]);
    }

    #[test]
    fn a_seed_that_is_no_sentence_is_an_error() {
        let (a, b) = (StringViewArray::from(vec![A]), StringViewArray::from(vec![B]));
        for (seed, said) in [((5, 0), "sent_a = 5, but text_a has 5 sentences"), ((0, -1), "sent_b = -1")] {
            let error = edited_passages(&a, &b, &seeds_of(&[Some(&[seed])]), RULES).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn seeds_are_lists_of_pairs_in_any_integers() {
        let item = |names: [&str; 2]| {
            DataType::Struct(names.map(|name| Field::new(name, DataType::Int64, true)).to_vec().into())
        };
        let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
        let coerce_structs =
            |given: &DataType| coerce_structs("edited_passages", "seeds", &["sent_a", "sent_b"], "", given);
        assert!(coerce_structs(&list(item(["sent_a", "sent_b"]))).is_ok());
        assert!(coerce_structs(&list(item(["sent_b", "sent_a"]))).is_ok());
        assert!(coerce_structs(&list(DataType::Null)).is_ok());
        assert!(coerce_structs(&DataType::Null).is_ok());
        for wrong in [list(item(["x", "y"])), list(DataType::Int64), DataType::Utf8, item(["sent_a", "sent_b"])] {
            assert!(coerce_structs(&wrong).unwrap_err().to_string().contains("named_struct"), "{wrong}");
        }
        let given = StructArray::from(vec![
            (Arc::new(Field::new("sent_a", DataType::Int64, true)), Arc::new(Int64Array::from(vec![1])) as ArrayRef),
            (Arc::new(Field::new("sent_b", DataType::Int64, true)), Arc::new(Int64Array::from(vec![2]))),
        ]);
        let given = ListArray::new(
            Arc::new(Field::new_list_field(given.data_type().clone(), true)),
            OffsetBuffer::from_lengths([1]),
            Arc::new(given),
            None,
        );
        let target = coerce_structs(given.data_type()).unwrap();
        let cast = ColumnarValue::Array(Arc::new(given)).cast_to(&target, None).unwrap().into_array(1).unwrap();
        assert_eq!(cast.as_list::<i32>(), &seeds_of(&[Some(&[(1, 2)])]).slice(0, 1));
    }

    #[test]
    fn what_else_is_in_a_batch_does_not_matter() {
        let alone = find(A, B, &[(1, 1)], RULES);
        let mut library = Library::default();
        let mut matcher = Matcher::default();
        for other in ["pleasant huts warm. Ice thick through.", "sit, they, wooden lake winter"] {
            let (x, y) = (library.read(other).unwrap(), library.read(B).unwrap());
            matcher.find(&x, &y, vec![(0, 0)], library.reader.vocabulary.len(), RULES, &mut Vec::new());
        }
        let (a, b) = (library.read(A).unwrap(), library.read(B).unwrap());
        let mut found = Vec::new();
        matcher.find(&a, &b, vec![(1, 1)], library.reader.vocabulary.len(), RULES, &mut found);
        assert_eq!(found, alone);
    }

    #[test]
    fn texts_that_repeat_themselves_take_bounded_time() {
        let started = Instant::now();
        let two = "one two three four. five six seven eight. ".repeat(20_000);
        let long = "word ".repeat(200_000);
        let many: String = (0..40_000).map(|k| format!("common words and {k} of them. ")).collect();
        for a in [&two, &long, &many] {
            for b in [&two, &long, &many] {
                find(a, b, &[(0, 0)], RULES);
            }
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    }

    #[test]
    fn no_passage_is_lost_however_many_there_are() {
        // Every sentence stands in both texts again and again, so that there is a passage on each of 623 diagonals, and
        // together they have 25 million words.
        let kinds = 16;
        let sentences = 312 * kinds;
        let words = |kind| (0..8).map(move |word| format!(" w{kind}x{word}")).collect::<String>();
        let text: String = (0..sentences).map(|k| format!("So{}. ", words(k % kinds))).collect();
        let last = i32::try_from(sentences).unwrap() - 1;
        let starts = (0..=last).step_by(kinds);
        let seeds: Vec<_> = starts.flat_map(|k| [(k, 0), (0, k)]).collect();
        assert_eq!(find(&text, &text, &seeds, RULES).len(), 2 * 312 - 1);
    }

    fn dot_plot() -> impl Strategy<Value = Vec<Match>> {
        prop::collection::btree_set((0..14_u32, 0..14_u32), 0..40)
            .prop_map(|pairs| pairs.into_iter().map(|(a, b)| Match { a, b, cosine: 1.0 }).collect())
    }

    /// Computes single linkage by comparing all with all.
    fn all_with_all(matches: &[Match], max_gap: u32) -> BTreeSet<Vec<(u32, u32)>> {
        let mut left: BTreeSet<_> = matches.iter().map(|m| (m.a, m.b)).collect();
        let mut groups = BTreeSet::new();
        while let Some(first) = left.pop_first() {
            let mut group = vec![first];
            let mut at = 0;
            while at < group.len() {
                let (a, b) = group[at];
                let near = |p: &&(u32, u32)| a.abs_diff(p.0) <= max_gap + 1 && b.abs_diff(p.1) <= max_gap + 1;
                let next: Vec<_> = left.iter().filter(near).copied().collect();
                next.iter().for_each(|p| assert!(left.remove(p)));
                group.extend(next);
                at += 1;
            }
            group.sort_unstable();
            groups.insert(group);
        }
        groups
    }

    fn text() -> impl Strategy<Value = String> {
        let pieces = [
            "lake ",
            "winter ",
            "ice, ",
            "huts ",
            "stove ",
            "hours ",
            "the ",
            "of ",
            "end. ",
            "Then ",
            "“Yes!” ",
            "字。",
            "北京",
            "é ",
            "\n\n",
            "e\u{301}",
            "(x) ",
            "!",
            ".",
            "\u{feff}",
            "\0",
            "Straße ",
            "😀",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn groups_are_those_of_single_linkage(plot in dot_plot(), max_gap in 0..4_u32) {
            let found = groups(&plot, max_gap as usize);
            let found: BTreeSet<Vec<_>> =
                found.iter().map(|group| group.iter().map(|m| (m.a, m.b)).collect()).collect();
            prop_assert_eq!(found, all_with_all(&plot, max_gap));
        }

        #[test]
        fn a_seed_within_a_box_is_found(
            plot in dot_plot(), a in (0..14_u32, 0..14_u32), b in (0..14_u32, 0..14_u32)
        ) {
            let seeds: Vec<_> = plot.iter().map(|m| (m.a, m.b)).collect();
            let within = |seed: &(u32, u32)| {
                (a.0..=a.1).contains(&seed.0) && (b.0..=b.1).contains(&seed.1)
            };
            prop_assert_eq!(any_within(&seeds, a, b), seeds.iter().any(within));
        }

        #[test]
        fn passages_lie_within_the_texts_between_characters(a in text(), b in text()) {
            let seeds: Vec<_> = {
                let count = |text: &str| i32::try_from(split_sentences(text).count()).unwrap();
                let (m, n) = (count(&a), count(&b));
                (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).collect()
            };
            let rules = Rules { min_cosine: 0.1, max_gap: 1, min_characters: 2 };
            for passage in find(&a, &b, &seeds, rules) {
                for (text, part) in [(&a, &passage.a), (&b, &passage.b)] {
                    let inside = text.get(part.bytes.clone());
                    prop_assert!(inside.is_some_and(|inside| inside.chars().count() >= 2));
                    prop_assert_eq!(text[..part.bytes.start].chars().count(), part.characters.start);
                    prop_assert_eq!(text[..part.bytes.end].chars().count(), part.characters.end);
                    let touched = split_sentences(text).enumerate().filter(|(_, sentence)| {
                        sentence.start < part.bytes.end && part.bytes.start < sentence.end
                    });
                    prop_assert_eq!(touched.map(|(k, _)| k).collect::<Vec<_>>(), part.sentences.clone().collect::<Vec<_>>());
                }
                prop_assert!(passage.gaps <= passage.a.sentences.len() + passage.b.sentences.len());
                prop_assert!(passage.similarity >= MIN_PASSAGE_COSINE && passage.similarity < 1.0 + 1e-9);
            }
        }
    }
}
