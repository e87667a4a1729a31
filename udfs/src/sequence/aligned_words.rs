use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, ListArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Int32Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;

use super::edges::Edges;
use super::word_sequence::{Sequence, coerce_sequence, sequence_array};
use crate::arguments::{as_index, coerce_structs, constant_number, constant_size};
use crate::text::Lists;

/// The number of words on each side, from the word of a seed on, that must be marked for the seed to count as marked.
const SEED_WORDS: usize = 5;

/// The greatest distance in words, on both sides, of two seeds that belong to one passage.
const SEED_DISTANCE: usize = 15;

/// The most words that a passage may reach beyond its known part, on both sides, over words that the other side does
/// not have.
const MARGIN: usize = 20;

/// The least density of shared words at the edges of a passage, relative to the density between its seeds.
const DENSITY: f64 = 0.7;

/// The greatest number of differing words of either side that a walk over equal words skips. It skips them only if
/// `RESUME` equal words follow.
const SKIP: usize = 3;
const RESUME: usize = 4;

/// The most times that a passage is widened. Equal words take one time, whatever their number.
const WIDENINGS: usize = 4;

/// The greatest distance in words, on both sides, of passages that are joined into one.
const JOIN_DISTANCE: usize = 40;

/// `aligned_words(sequence_a, sequence_b, seeds, min_weight, min_words, min_similarity[, is_same])`: the passages that two texts share.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The passages that two texts share, word for word or edited. They are found from seeds, places where \
                   both texts have the same rare feature, such as a fingerprint, in these steps:\n\n\
                   1. Seeds whose words are marked on both sides are left out. Seeds at most 15 words apart on both \
                   sides form a group (single linkage). A group counts if its seeds weigh at least `min_weight` in \
                   total, where the seeds at one word count once.\n\
                   2. The part of each text that a group covers is widened. First it becomes the run with the highest \
                   sum, up to 20 words beyond the group: words that the other side has add their weight \
                   (`word_sequence`), and others subtract, so that the run stays at least .7 times as dense in shared \
                   words as the part between the seeds (`shared_words` finds edges in the same way). Then it extends \
                   over all words that are equal on both sides, and over up to 3 different words if 4 equal ones \
                   follow.\n\
                   3. Parts at most 40 words apart on both sides become one passage. It is returned if both sides \
                   share at least `min_words` words, each as often as both have it, and the cosine of their weighted \
                   word counts is at least `min_similarity` (.34 in Sanchez-Perez, Sidorov and Gelbukh 2014). A count \
                   is multiplied by the higher of the weights that the word has on the two sides. If a passage of \
                   several parts does not meet the two rules, those of its parts that do are returned instead.\n\
                   4. Around seeds that are then in no passage, runs of at least `min_words` equal words are \
                   returned.\n\n\
                   A run of at least `min_words` words that both texts have is found whole if it contains a seed of \
                   weight `min_weight`. The time grows with the number of seeds and of words that are visited, the \
                   memory with the widest passage; the rest of the texts costs nothing.\n\n\
                   Returns a list of structs, ordered by place, empty if there is no passage: `word_a_start`, \
                   `word_a_end`, `word_b_start`, `word_b_end` (Int32, words of the sequences, half open), `shared` \
                   (Int32, the number of words that both sides have), `unmarked` (Int32, the number of those that \
                   `mark_words` has not marked, on the side with more of them) and `similarity` (Float64, the cosine). \
                   NULL if an argument is NULL.\n\n\
                   If `is_same` is true, the two sequences are one text, and the two sides of a passage do not \
                   overlap: a part that would overlap its copy ends in the middle between them.",
    syntax_example = "aligned_words(sequence_a, sequence_b, seeds, min_weight, min_words, min_similarity[, is_same])",
    sql_example = r#"```sql
> WITH texts AS (SELECT
    word_sequence('It rained. To take arms against a sea of troubles, and by opposing end them. To die.') AS a,
    word_sequence('To take up arms against a sea of troubles and by opposing, end them: they slept.') AS b)
  SELECT unnest(aligned_words(a, b, [{word_a: 5, word_b: 4, weight: 1}], 1, 8, 0.34)) AS passage FROM texts;
+---------------------------------------------------------------------------------------------------------------+
| passage                                                                                                       |
+---------------------------------------------------------------------------------------------------------------+
| {word_a_start: 4, word_a_end: 15, word_b_start: 3, word_b_end: 14, shared: 11, unmarked: 11, similarity: 1.0} |
+---------------------------------------------------------------------------------------------------------------+
```"#,
    argument(
        name = "sequence_a",
        description = "The words of the first text, BinaryView, as `word_sequence` gives them."
    ),
    argument(name = "sequence_b", description = "The words of the second text."),
    argument(
        name = "seeds",
        description = "Pairs of words that may belong to one passage, `List<Struct<word_a, word_b, weight>>`: the \
                       ordinals of the words, and the weight of the seed, whole numbers. Seeds with a NULL are left \
                       out."
    ),
    argument(
        name = "min_weight",
        description = "The least total weight of the seeds of a passage, from 0; a constant."
    ),
    argument(
        name = "min_words",
        description = "The least number of words that both sides of a passage share, from 1; a constant."
    ),
    argument(
        name = "min_similarity",
        description = "The least similarity of the two sides of a passage, from 0 to 1; a constant."
    ),
    argument(name = "is_same", description = "True if the two sequences are of one text, Boolean [default: false].")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct AlignedWords {
    signature: Signature,
}

impl Default for AlignedWords {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The fields of a passage of two sequences.
pub(super) static PASSAGE_FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let mut fields: Vec<Field> = ["word_a_start", "word_a_end", "word_b_start", "word_b_end", "shared", "unmarked"]
        .map(|name| Field::new(name, DataType::Int32, true))
        .to_vec();
    fields.push(Field::new("similarity", DataType::Float64, true));
    fields.into()
});

impl ScalarUDFImpl for AlignedWords {
    fn name(&self) -> &str {
        "aligned_words"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (given, is_same) = given.split_at(given.len().min(6));
        let [a, b, seeds, _, _, _] = take_function_args(self.name(), given)?;
        if is_same.len() > 1 {
            return plan_err!("aligned_words expects 6 or 7 arguments, got {}", given.len() + is_same.len());
        }
        let mut types = vec![
            coerce_sequence(self.name(), a)?,
            coerce_sequence(self.name(), b)?,
            coerce_structs(
                self.name(),
                "seeds",
                &["word_a", "word_b", "weight"],
                "'word_a', a.word, 'word_b', b.word, 'weight', 1",
                seeds,
            )?,
            DataType::Int64,
            DataType::Int64,
            DataType::Float64,
        ];
        types.extend(is_same.iter().map(|_| DataType::Boolean));
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(PASSAGE_FIELDS.clone()), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let mut args = args.args;
        let is_same = if args.len() > 6 { args.pop() } else { None };
        let is_same = is_same.unwrap_or(ColumnarValue::Scalar(ScalarValue::Boolean(Some(false)))).into_array(rows)?;
        let [a, b, seeds, min_weight, min_words, min_similarity] = take_function_args(self.name(), args)?;
        let most = i64::from(i32::MAX);
        let rules = Rules {
            min_weight: constant_size(self.name(), "min_weight", &min_weight, 0..=most)?,
            min_words: constant_size(self.name(), "min_words", &min_words, 1..=most)?,
            min_similarity: constant_number(self.name(), "min_similarity", &min_similarity, 0.0..=1.0)?,
        };
        let (a, b, seeds) = (a.into_array(rows)?, b.into_array(rows)?, seeds.into_array(rows)?);
        Ok(ColumnarValue::Array(aligned_words(&a, &b, seeds.as_list(), is_same.as_boolean(), rules)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The rules that a passage has to meet.
#[derive(Debug, Clone, Copy)]
struct Rules {
    min_weight: usize,
    min_words: usize,
    min_similarity: f64,
}

impl Rules {
    fn admit(&self, passage: &Passage) -> bool {
        passage.shared >= self.min_words && passage.similarity >= self.min_similarity
    }
}

/// Two words that may belong to one passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seed {
    a: usize,
    b: usize,
    weight: usize,
}

/// A part of each text, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) a: Range<usize>,
    pub(super) b: Range<usize>,
}

impl Part {
    /// Cuts both parts at the middle between them, so that they do not overlap; `None` where one is empty then.
    fn apart(&self) -> Option<Self> {
        let middle = usize::midpoint(self.a.end, self.b.start);
        let part = Self { a: self.a.start..self.a.end.min(middle), b: self.b.start.max(middle)..self.b.end };
        (!part.a.is_empty() && !part.b.is_empty()).then_some(part)
    }

    fn contains(&self, other: &Self) -> bool {
        self.a.start <= other.a.start
            && other.a.end <= self.a.end
            && self.b.start <= other.b.start
            && other.b.end <= self.b.end
    }

    /// Returns true if at most `JOIN_DISTANCE` words lie between the two, on both sides.
    fn is_near(&self, other: &Self) -> bool {
        let is_near = |one: &Range<usize>, other: &Range<usize>| {
            one.start <= other.end + JOIN_DISTANCE && other.start <= one.end + JOIN_DISTANCE
        };
        is_near(&self.a, &other.a) && is_near(&self.b, &other.b)
    }

    fn join(&mut self, other: &Self) {
        let join = |one: &Range<usize>, other: &Range<usize>| one.start.min(other.start)..one.end.max(other.end);
        (self.a, self.b) = (join(&self.a, &other.a), join(&self.b, &other.b));
    }

    fn place(&self) -> [usize; 4] {
        [self.a.start, self.b.start, self.a.end, self.b.end]
    }
}

/// A passage of two texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Passage {
    part: Part,
    pub(super) shared: usize,
    unmarked: usize,
    similarity: f64,
}

/// Returns the columns of passages.
pub(super) fn columns(passages: &[Passage]) -> Vec<ArrayRef> {
    let of = |number: fn(&Passage) -> usize| -> ArrayRef {
        Arc::new(passages.iter().map(|passage| i32::try_from(number(passage)).ok()).collect::<Int32Array>())
    };
    vec![
        of(|passage| passage.part.a.start),
        of(|passage| passage.part.a.end),
        of(|passage| passage.part.b.start),
        of(|passage| passage.part.b.end),
        of(|passage| passage.shared),
        of(|passage| passage.unmarked),
        Arc::new(passages.iter().map(|passage| Some(passage.similarity)).collect::<Float64Array>()),
    ]
}

/// Aligns each pair of sequences.
fn aligned_words(
    a: &ArrayRef,
    b: &ArrayRef,
    seeds: &ListArray,
    is_same: &BooleanArray,
    rules: Rules,
) -> Result<ArrayRef> {
    let (a, b) = (sequence_array(a)?, sequence_array(b)?);
    let fields = seeds.values().as_struct();
    let number = |name: &str| {
        let column = fields.column_by_name(name).map(|column| column.as_primitive::<Int32Type>());
        column.ok_or_else(|| exec_datafusion_err!("aligned_words: seeds have no field {name}"))
    };
    let [word_a, word_b, weight] = [number("word_a")?, number("word_b")?, number("weight")?];
    let is_given = |k: &usize| fields.is_valid(*k) && [word_a, word_b, weight].iter().all(|column| column.is_valid(*k));
    let nulls = NullBuffer::union_many([a.nulls(), b.nulls(), seeds.nulls(), is_same.nulls()]);
    let mut lists = Lists::with_nulls("aligned_words", a.len(), nulls.clone());
    let (mut aligner, mut passages, mut row_seeds) = (Aligner::default(), Vec::new(), Vec::new());
    for row in 0..a.len() {
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            let sequence_a = Sequence::try_new("aligned_words", a.value(row))?;
            let sequence_b = Sequence::try_new("aligned_words", b.value(row))?;
            row_seeds.clear();
            let offsets = seeds.value_offsets();
            for k in (as_index(offsets[row])..as_index(offsets[row + 1])).filter(is_given) {
                row_seeds.push(Seed {
                    a: word(word_a.value(k), "a", &sequence_a)?,
                    b: word(word_b.value(k), "b", &sequence_b)?,
                    weight: usize::try_from(weight.value(k)).unwrap_or(0),
                });
            }
            let pair = Pair { a: sequence_a, b: sequence_b, is_same: is_same.value(row) };
            aligner.align(&pair, &mut row_seeds, rules, &mut passages);
        }
        lists.end_row(passages.len())?;
    }
    let items = StructArray::try_new(PASSAGE_FIELDS.clone(), columns(&passages), None)?;
    Ok(Arc::new(lists.finish(Arc::new(items))?))
}

/// Returns the index of a word of a sequence, or an error if the sequence has no such word.
fn word(ordinal: i32, side: &str, sequence: &Sequence<'_>) -> Result<usize> {
    match usize::try_from(ordinal) {
        Ok(word) if word < sequence.len() => Ok(word),
        _ => exec_err!(
            "aligned_words: a seed has word_{side} = {ordinal}, but sequence_{side} has {} words, from 0 on; give the \
             ordinals that fingerprints(sequence_{side}, …) has",
            sequence.len()
        ),
    }
}

/// Groups seeds, which are in order: those at most `SEED_DISTANCE` words apart on both sides go together. Groups are in the
/// order of their first seeds.
fn groups(seeds: &[Seed]) -> Vec<Vec<Seed>> {
    let mut linked = UnionFind::<usize>::new(seeds.len());
    // The seeds that are near on the first side, by their place on the second. Any two of them that are near on the
    // second side are linked already. So links to its next neighbour on either side link a further seed with all of
    // them.
    let mut near = BTreeSet::new();
    let mut first = 0;
    for (i, seed) in seeds.iter().enumerate() {
        while seeds[first].a + SEED_DISTANCE < seed.a {
            near.remove(&(seeds[first].b, first));
            first += 1;
        }
        let (before, after) = (near.range(..(seed.b, i)).next_back(), near.range((seed.b, i)..).next());
        for &(b, other) in before.into_iter().chain(after) {
            if seed.b.abs_diff(b) <= SEED_DISTANCE {
                linked.union(i, other);
            }
        }
        near.insert((seed.b, i));
    }
    let mut groups = Vec::<Vec<Seed>>::new();
    let mut places = HashMap::new();
    for (seed, label) in seeds.iter().zip(linked.into_labeling()) {
        let place = *places.entry(label).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(*seed);
    }
    groups
}

/// Returns the weight of a group: on each side a word counts once, as much as its heaviest seed.
fn weight(group: &[Seed]) -> usize {
    let of = |side: fn(&Seed) -> usize| {
        let mut heaviest = HashMap::<usize, usize>::new();
        for seed in group {
            let heaviest = heaviest.entry(side(seed)).or_default();
            *heaviest = seed.weight.max(*heaviest);
        }
        heaviest.values().sum::<usize>()
    };
    of(|seed| seed.a).min(of(|seed| seed.b))
}

/// Returns the part from the first to the last word of the seeds.
fn bounds(group: &[Seed]) -> Part {
    let of = |side: fn(&Seed) -> usize| {
        let bounds = |(start, end): (usize, usize), word: usize| (start.min(word), end.max(word + 1));
        let (start, end) = group.iter().map(side).fold((usize::MAX, 0), bounds);
        start..end
    };
    Part { a: of(|seed| seed.a), b: of(|seed| seed.b) }
}

/// Returns the number of words on each side of a run of equal words, which may skip up to `SKIP` differing words at a
/// time. `left` is the number of words available on each side, and `is_equal` compares two of them.
fn walk(left: (usize, usize), is_equal: impl Fn(usize, usize) -> bool) -> (usize, usize) {
    let is_equal = |a: usize, b: usize| a < left.0 && b < left.1 && is_equal(a, b);
    let (mut a, mut b) = (0, 0);
    loop {
        while is_equal(a, b) {
            (a, b) = (a + 1, b + 1);
        }
        let skips = (0..=SKIP).flat_map(|skip_a| (0..=SKIP).map(move |skip_b| (skip_a, skip_b)));
        let resumes = skips.filter(|(skip_a, skip_b)| (0..RESUME).all(|k| is_equal(a + skip_a + k, b + skip_b + k)));
        match resumes.min_by_key(|(skip_a, skip_b)| skip_a + skip_b) {
            Some((skip_a, skip_b)) => (a, b) = (a + skip_a, b + skip_b),
            None => return (a, b),
        }
    }
}

/// Parts that are near each other, and the part that spans them.
struct Joined {
    whole: Part,
    parts: Vec<Part>,
}

/// Joins the parts that are near each other, and returns them in order. In one text, it joins only parts whose two
/// sides do not overlap when joined.
fn join(parts: Vec<Part>, is_same: bool) -> Vec<Joined> {
    let mut all: Vec<_> = parts.into_iter().map(|part| Joined { whole: part.clone(), parts: vec![part] }).collect();
    loop {
        all.sort_by_key(|joined| joined.whole.place());
        let before = all.len();
        let mut joined = Vec::<Joined>::with_capacity(before);
        // The joined parts that further parts may be near.
        let mut open = Vec::<usize>::new();
        for next in all {
            open.retain(|&i| next.whole.a.start <= joined[i].whole.a.end + JOIN_DISTANCE);
            let belongs = |one: &Part, other: &Part| {
                one.is_near(other) && (!is_same || one.a.end.max(other.a.end) <= one.b.start.min(other.b.start))
            };
            match open.iter().find(|&&i| belongs(&joined[i].whole, &next.whole)) {
                Some(&i) => {
                    joined[i].whole.join(&next.whole);
                    joined[i].parts.extend(next.parts);
                }
                None => {
                    open.push(joined.len());
                    joined.push(next);
                }
            }
        }
        all = joined;
        if all.len() == before {
            return all;
        }
    }
}

/// Returns the seeds that lie in none of `passages`, which are in order of place.
fn outside(mut seeds: Vec<Seed>, passages: &[Passage]) -> Vec<Seed> {
    seeds.sort_unstable();
    let (mut next, mut open) = (0, Vec::<&Part>::new());
    seeds.retain(|seed| {
        let begun = passages[next..].iter().take_while(|passage| passage.part.a.start <= seed.a);
        open.extend(begun.map(|passage| &passage.part).inspect(|_| next += 1));
        open.retain(|part| seed.a < part.a.end);
        !open.iter().any(|part| part.b.contains(&seed.b))
    });
    seeds
}

/// Two sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) a: Sequence<'a>,
    pub(super) b: Sequence<'a>,
    /// True if both are of one text.
    pub(super) is_same: bool,
}

/// An aligner of pairs of sequences.
#[derive(Default)]
pub(super) struct Aligner {
    edges: Edges,
    /// The words of all pairs so far, numbered by hash.
    numbers: HashMap<u32, u32>,
}

/// The words of a part of a sequence, each with its number and its weight.
#[derive(Default)]
struct Window {
    start: usize,
    words: Vec<(u32, f64)>,
}

impl Window {
    /// Returns the words in `range` of a sequence. Only those are read that were not read before from the same sequence.
    fn read(
        &mut self,
        sequence: &Sequence<'_>,
        range: &Range<usize>,
        numbers: &mut HashMap<u32, u32>,
    ) -> &[(u32, f64)] {
        let mut read = |range: Range<usize>| {
            let words = range.map(|word| {
                // There are fewer than 2^32 hashes that have no number yet.
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                (*numbers.entry(sequence.hash(word)).or_insert(next), sequence.weight(word))
            });
            words.collect::<Vec<_>>()
        };
        let end = self.start + self.words.len();
        if range.end < self.start || end < range.start {
            (self.start, self.words) = (range.start, read(range.clone()));
        } else {
            if range.start < self.start {
                self.words.splice(0..0, read(range.start..self.start));
                self.start = range.start;
            }
            if end < range.end {
                self.words.extend(read(end..range.end));
            }
        }
        &self.words[range.start - self.start..range.end - self.start]
    }
}

impl Aligner {
    /// Adds the passages of a pair to `passages`, in order of place.
    fn align(&mut self, pair: &Pair<'_>, seeds: &mut Vec<Seed>, rules: Rules, passages: &mut Vec<Passage>) {
        seeds.retain(|seed| !pair.is_marked(*seed));
        seeds.sort_unstable();
        seeds.dedup();
        let mut parts = Vec::<Part>::new();
        // The parts that further groups may lie in.
        let mut open = Vec::<usize>::new();
        let mut founding = Vec::<Seed>::new();
        for group in groups(seeds) {
            let core = bounds(&group);
            open.retain(|&i| core.a.start < parts[i].a.end);
            if weight(&group) < rules.min_weight {
                continue;
            }
            founding.extend(&group);
            if open.iter().any(|&i| parts[i].contains(&core)) {
                continue;
            }
            let core = if pair.is_same { core.apart() } else { Some(core) };
            if let Some(part) = core.and_then(|core| self.widen(pair, core)) {
                open.push(parts.len());
                parts.push(part);
            }
        }
        let before = passages.len();
        for joined in join(parts, pair.is_same) {
            let whole = pair.compare(joined.whole);
            if rules.admit(&whole) {
                passages.push(whole);
            } else if joined.parts.len() > 1 {
                let parts = joined.parts.into_iter().map(|part| pair.compare(part));
                passages.extend(parts.filter(|passage| rules.admit(passage)));
            }
        }
        passages[before..].sort_by_key(|passage| passage.part.place());
        let runs = pair.equal_runs(outside(founding, &passages[before..]));
        let mut found = passages.split_off(before);
        found.extend(runs.into_iter().map(|run| pair.compare(run)).filter(|run| rules.admit(run)));
        found.sort_by_key(|passage| passage.part.place());
        // Two groups of seeds may widen to the same part.
        found.dedup_by_key(|passage| passage.part.place());
        passages.append(&mut found);
    }

    /// Returns the parts of both texts that belong together around `core`; `None` if it shares no word.
    fn widen(&mut self, pair: &Pair<'_>, core: Part) -> Option<Part> {
        let Pair { a, b, is_same } = pair;
        // In one text, the first part has to end where the second may begin.
        let middle = usize::midpoint(core.a.end, core.b.start);
        let (last_a, first_b) = if *is_same { (middle, middle) } else { (a.len(), 0) };
        let mut part = core;
        let mut windows = Default::default();
        for _ in 0..WIDENINGS {
            let around = |part: &Range<usize>, least: usize, most: usize| {
                part.start.saturating_sub(MARGIN).max(least)..(part.end + MARGIN).min(most)
            };
            let window = Part { a: around(&part.a, 0, last_a), b: around(&part.b, first_b, b.len()) };
            let fitted = self.fit(pair, &part, &window, &mut windows)?;
            let (start_a, start_b) = (fitted.a.start, fitted.b.start);
            let (before_a, before_b) =
                walk((start_a, start_b - first_b), |i, j| a.hash(start_a - 1 - i) == b.hash(start_b - 1 - j));
            let (end_a, end_b) = (fitted.a.end, fitted.b.end);
            let (after_a, after_b) =
                walk((last_a - end_a, b.len() - end_b), |i, j| a.hash(end_a + i) == b.hash(end_b + j));
            let widened = Part { a: start_a - before_a..end_a + after_a, b: start_b - before_b..end_b + after_b };
            if part == widened {
                break;
            }
            part = widened;
        }
        Some(part)
    }

    /// Returns the parts of two whole sequences that belong together; `None` if they share no word.
    pub(super) fn fit_whole(&mut self, pair: &Pair<'_>) -> Option<Part> {
        let whole = Part { a: 0..pair.a.len(), b: 0..pair.b.len() };
        if pair.is_equal(&whole) {
            return (!whole.a.is_empty()).then_some(whole);
        }
        self.fit(pair, &whole, &whole, &mut Default::default())
    }

    /// Returns a part with new edges, which lie in `window`; `None` if the two sides of the part share no word.
    /// `windows` has the words of the pair that were read before, and gets those of `window`.
    fn fit(&mut self, pair: &Pair<'_>, part: &Part, window: &Part, windows: &mut [Window; 2]) -> Option<Part> {
        let [window_a, window_b] = windows;
        let words_a = window_a.read(&pair.a, &window.a, &mut self.numbers);
        let words_b = window_b.read(&pair.b, &window.b, &mut self.numbers);
        let within = |part: &Range<usize>, window: &Range<usize>| part.start - window.start..part.end - window.start;
        let core = (within(&part.a, &window.a), within(&part.b, &window.b));
        let (run_a, run_b) = self.edges.find_around(words_a, words_b, core, DENSITY, |word| *word)?;
        let of = |run: Range<usize>, window: &Range<usize>| run.start + window.start..run.end + window.start;
        Some(Part { a: of(run_a, &window.a), b: of(run_b, &window.b) })
    }
}

impl Pair<'_> {
    /// Returns true if the words of a seed are marked on both sides.
    fn is_marked(&self, seed: Seed) -> bool {
        let is_marked = |sequence: &Sequence<'_>, word: usize| {
            (word..(word + SEED_WORDS).min(sequence.len())).all(|word| sequence.is_marked(word))
        };
        is_marked(&self.a, seed.a) && is_marked(&self.b, seed.b)
    }

    /// Returns the longest runs of equal words that contain `seeds`.
    fn equal_runs(&self, mut seeds: Vec<Seed>) -> Vec<Part> {
        let is_equal = |a: usize, b: usize| self.a.hash(a) == self.b.hash(b);
        // In this order, the seeds of one run are neighbours.
        seeds.sort_unstable_by_key(|seed| (seed.b + self.a.len() - seed.a, seed.a));
        let mut runs = Vec::<Part>::new();
        for Seed { a, b, .. } in seeds {
            let is_in = |run: &Part| run.a.contains(&a) && a - run.a.start + run.b.start == b;
            if !is_equal(a, b) || runs.last().is_some_and(is_in) {
                continue;
            }
            let before = (0..a.min(b)).take_while(|k| is_equal(a - 1 - k, b - 1 - k)).count();
            let most = (self.a.len() - a).min(self.b.len() - b);
            let after = (0..most).take_while(|k| is_equal(a + k, b + k)).count();
            runs.push(Part { a: a - before..a + after, b: b - before..b + after });
        }
        if self.is_same { runs.iter().filter_map(Part::apart).collect() } else { runs }
    }

    /// Returns true if the two sides of a part have the same words in the same order.
    fn is_equal(&self, part: &Part) -> bool {
        self.a.hashes(part.a.clone()) == self.b.hashes(part.b.clone())
    }

    /// Compares the two sides of a part.
    pub(super) fn compare(&self, part: Part) -> Passage {
        if !self.is_equal(&part) || part.a.is_empty() {
            return self.compare_counts(part);
        }
        let unmarked = |sequence: &Sequence<'_>, part: &Range<usize>| {
            part.clone().filter(|word| !sequence.is_marked(*word)).count()
        };
        let unmarked = unmarked(&self.a, &part.a).max(unmarked(&self.b, &part.b));
        Passage { shared: part.a.len(), unmarked, similarity: 1.0, part }
    }

    /// Compares the two sides of a part by how often each word is on them.
    fn compare_counts(&self, part: Part) -> Passage {
        #[derive(Default)]
        struct Word {
            counts: [usize; 2],
            unmarked: [usize; 2],
            weight: f64,
        }
        // In the order of the text, so that sums do not depend on the hashes.
        let mut words = Vec::<Word>::new();
        let mut places = HashMap::new();
        for (side, (sequence, range)) in [(&self.a, &part.a), (&self.b, &part.b)].into_iter().enumerate() {
            for word in range.clone() {
                let place = *places.entry(sequence.hash(word)).or_insert(words.len());
                if place == words.len() {
                    words.push(Word::default());
                }
                words[place].counts[side] += 1;
                words[place].unmarked[side] += usize::from(!sequence.is_marked(word));
                // The weight is the same on both sides, so that equal parts of different texts are as similar as can
                // be.
                words[place].weight = sequence.weight(word).max(words[place].weight);
            }
        }
        let shared = |word: &Word| word.counts[0].min(word.counts[1]);
        let unmarked = |side: usize| words.iter().map(|word| shared(word).min(word.unmarked[side])).sum::<usize>();
        #[expect(clippy::cast_precision_loss, reason = "a text has fewer than 2^53 words")]
        let product = |i: usize, j: usize| {
            let products =
                words.iter().map(|word| (word.counts[i] * word.counts[j]) as f64 * word.weight * word.weight);
            products.sum::<f64>()
        };
        let norms = (product(0, 0) * product(1, 1)).sqrt();
        Passage {
            part,
            shared: words.iter().map(shared).sum(),
            unmarked: unmarked(0).max(unmarked(1)),
            similarity: if norms > 0.0 { (product(0, 1) / norms).min(1.0) } else { 0.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::word_sequence::pack;
    use super::*;

    fn align(a: &str, b: &str, seeds: &[(usize, usize)], min_words: usize) -> Vec<Passage> {
        let (bytes_a, bytes_b) = (pack(a), pack(b));
        let [a, b] = [&bytes_a, &bytes_b].map(|bytes| Sequence::try_new("f", bytes).unwrap());
        let mut seeds = seeds.iter().map(|&(a, b)| Seed { a, b, weight: 1 }).collect();
        let mut passages = Vec::new();
        let pair = Pair { a, b, is_same: false };
        Aligner::default().align(
            &pair,
            &mut seeds,
            Rules { min_weight: 1, min_words, min_similarity: 0.34 },
            &mut passages,
        );
        passages
    }

    fn places(passages: &[Passage]) -> Vec<(Range<usize>, Range<usize>)> {
        passages.iter().map(|passage| (passage.part.a.clone(), passage.part.b.clone())).collect()
    }

    /// Returns `count` different words.
    fn words(of: &str, count: usize) -> String {
        (0..count).map(|k| format!("{of}{k} ")).collect()
    }

    #[test]
    fn words_may_be_replaced_moved_and_left_out() {
        let edited = words("s", 20).replace("s5 s6 ", "s6 s5 ").replace("s10 ", "").replace("s14 ", "new ");
        let a = words("x", 30) + &words("s", 20) + &words("y", 30);
        let b = words("v", 50) + &edited + &words("w", 9);
        let found = align(&a, &b, &[(33, 53), (42, 61)], 15);
        assert_eq!(places(&found), [(30..50, 50..69)]);
        assert_eq!(found[0].shared, 18);
    }

    #[test]
    fn a_seed_in_a_text_that_differs_is_no_passage() {
        assert_eq!(align(&(words("x", 30) + "one two"), &(words("y", 30) + "one two"), &[(30, 30)], 3), []);
        assert_eq!(align("one two three", "four five six", &[(0, 0)], 1), []);
    }

    #[test]
    fn what_is_equal_is_passed_at_any_length_and_over_single_changes() {
        let shared = words("s", 5000);
        let changed = shared.replace("s100 ", "t100 ").replace("s2000 ", "").replace("s4000 ", "s4000 u1 u2 u3 ");
        let found = align(&(words("x", 30) + &shared), &(changed + &words("y", 30)), &[(2530, 2499)], 100);
        assert_eq!(places(&found), [(30..5030, 0..5002)]);
    }

    #[test]
    fn passages_stand_in_any_order_and_near_ones_are_one() {
        let (one, two) = (words("p", 20), words("q", 20));
        let between = words("x", 50);
        let found = align(&format!("{one}{between}{two}"), &format!("{two}{one}"), &[(5, 25), (75, 5)], 15);
        assert_eq!(places(&found), [(0..20, 20..40), (70..90, 0..20)]);
        let near = words("x", 30);
        let found = align(&format!("{one}{near}{two}"), &format!("{one}{two}"), &[(5, 5), (55, 25)], 15);
        assert_eq!(places(&found), [(0..70, 0..40)]);
    }

    #[test]
    fn near_parts_that_are_too_different_as_one_are_given_each() {
        let a = format!("{}{}{}", words("p", 20), words("x", 35), words("q", 20));
        let b = format!("{}{}{}", words("p", 20), words("y", 35), words("q", 20));
        let [bytes_a, bytes_b] = [pack(&a), pack(&b)];
        let of = |min_similarity| {
            let [a, b] = [&bytes_a, &bytes_b].map(|bytes| Sequence::try_new("f", bytes).unwrap());
            let mut seeds = [5, 60].map(|word| Seed { a: word, b: word, weight: 1 }).to_vec();
            let mut passages = Vec::new();
            let rules = Rules { min_weight: 1, min_words: 15, min_similarity };
            Aligner::default().align(&Pair { a, b, is_same: false }, &mut seeds, rules, &mut passages);
            places(&passages)
        };
        assert_eq!(of(0.5), [(0..75, 0..75)]);
        assert_eq!(of(0.7), [(0..20, 0..20), (55..75, 55..75)]);
    }

    #[test]
    fn text_that_repeats_itself_takes_no_longer() {
        let text = "a b c d e f g ".repeat(20_000);
        let seeds: Vec<_> = (0..20_000).map(|k| (k * 7, (k * 7919 % 20_000) * 7)).collect();
        assert_eq!(places(&align(&text, &text, &seeds, 15)), [(0..140_000, 0..140_000)]);
    }

    proptest! {
        #[test]
        fn groups_are_those_of_comparing_all_seeds(
            seeds in prop::collection::vec((0_usize..120, 0_usize..120), 0..40),
        ) {
            let mut seeds: Vec<_> = seeds.into_iter().map(|(a, b)| Seed { a, b, weight: 1 }).collect();
            seeds.sort_unstable();
            seeds.dedup();
            let mut linked = UnionFind::<usize>::new(seeds.len());
            for i in 0..seeds.len() {
                for j in 0..i {
                    if seeds[i].a.abs_diff(seeds[j].a) <= SEED_DISTANCE && seeds[i].b.abs_diff(seeds[j].b) <= SEED_DISTANCE {
                        linked.union(i, j);
                    }
                }
            }
            let found = groups(&seeds);
            prop_assert_eq!(found.iter().map(Vec::len).sum::<usize>(), seeds.len());
            let place = |seed: &Seed| seeds.binary_search(seed).unwrap();
            for (k, group) in found.iter().enumerate() {
                prop_assert!(group.iter().all(|seed| linked.equiv(place(seed), place(&group[0]))));
                prop_assert!(found[..k].iter().all(|other| !linked.equiv(place(&other[0]), place(&group[0]))));
            }
        }

        #[test]
        fn equal_texts_compare_as_by_their_counts(
            text in "([a-f] ){1,20}", beside in "([a-z] ){0,20}", marked in prop::collection::vec(0..20_usize, 0..6),
        ) {
            // Weights depend on the whole text.
            let (plain, packed) = (pack(&text), pack(&(text.clone() + &beside)));
            let [plain, other] = [&plain, &packed].map(|bytes| Sequence::try_new("f", bytes).unwrap());
            let mut bytes = Vec::new();
            plain.write_marked(marked.into_iter().filter(|k| *k < plain.len()).map(|k| k..k + 1), &mut bytes);
            let pair = Pair { a: Sequence::try_new("f", &bytes).unwrap(), b: other, is_same: false };
            let whole = Part { a: 0..plain.len(), b: 0..plain.len() };
            prop_assert!(pair.is_equal(&whole));
            prop_assert_eq!(pair.compare(whole.clone()), pair.compare_counts(whole.clone()));
            let (same, mut aligner) = (Pair { b: plain, ..pair }, Aligner::default());
            let fitted = aligner.fit(&same, &whole, &whole, &mut Default::default());
            prop_assert_eq!(aligner.fit_whole(&same), fitted);
        }

        #[test]
        fn words_that_were_read_before_are_those_read_anew(
            text in "([a-f] ){30}", ranges in prop::collection::vec((0..30_usize, 0..30_usize), 1..8),
        ) {
            let bytes = pack(&text);
            let sequence = Sequence::try_new("f", &bytes).unwrap();
            let (mut window, mut numbers) = (Window::default(), HashMap::new());
            for (i, j) in ranges {
                let range = i.min(j)..i.max(j);
                let read = window.read(&sequence, &range, &mut numbers).to_vec();
                let mut anew = Window::default();
                prop_assert_eq!(&read, anew.read(&sequence, &range, &mut numbers));
                prop_assert_eq!(read.len(), range.len());
            }
        }

        #[test]
        fn a_run_of_equal_words_is_found_whole_from_any_seed_in_it(
            before_a in 0_usize..60, before_b in 0_usize..60, length in 15_usize..80, at in 0_usize..80,
        ) {
            let run = words("s", length);
            let a = words("x", before_a) + &run + &words("y", 40);
            let b = words("v", before_b) + &run + &words("w", 40);
            let found = align(&a, &b, &[(before_a + at % length, before_b + at % length)], 15);
            let expected = [(before_a..before_a + length, before_b..before_b + length)];
            prop_assert_eq!(places(&found), expected);
        }

        #[test]
        fn each_seed_of_a_run_of_equal_words_lies_in_a_passage_whatever_stands_beside_it(
            a in "([a-f] ){0,40}", run in "([a-f] ){4,30}", between in "([a-f] ){0,20}", b in "([a-f] ){0,40}",
        ) {
            let (a, b) = (format!("{a}{run}{between}{run}"), format!("{run}{b}{run}"));
            let (in_a, in_b): (Vec<_>, Vec<_>) = (a.split(' ').collect(), b.split(' ').collect());
            let is_equal = |i: usize, j: usize| i < in_a.len() && j < in_b.len() && !in_a[i].is_empty() && in_a[i] == in_b[j];
            let all = (0..in_a.len()).flat_map(|i| (0..in_b.len()).map(move |j| (i, j)));
            let seeds: Vec<_> = all.filter(|&(i, j)| (0..4).all(|k| is_equal(i + k, j + k))).collect();
            let found = align(&a, &b, &seeds, 4);
            prop_assert!(found.is_sorted_by(|one, next| one.part.place() < next.part.place()), "{:?}", found);
            for (i, j) in seeds {
                let holds = |Passage { part, .. }: &Passage| part.a.contains(&i) && part.b.contains(&j);
                prop_assert!(found.iter().any(holds), "{} {} {:?}", i, j, found);
            }
        }
    }
}
