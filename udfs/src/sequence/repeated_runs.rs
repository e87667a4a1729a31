//! `repeated_runs(id, sequence, k)`: a window function that finds the parts of texts to remove because they are
//! repeated.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion_execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion_expr::{Documentation, PartitionEvaluator, Signature, Volatility, WindowUDFImpl};
use datafusion_macros::user_doc;
use hashbrown::HashTable;
use ibid_codes::split_mix;

use super::word_sequence::{Sequence, coerce_sequence};
use crate::arguments::one_list;

/// `repeated_runs(id, sequence, k)`: the words to remove, so that no run of `k` words is repeated in the words that
/// stay.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "A window function: the words of each text to remove, so that no run of `k` words occurs twice in \
                   the words that stay, over all texts of the window. Texts are processed one after the other, in the \
                   order of the window. A word is removed if it is part of a run of `k` words that is also in the \
                   words that stay before it, in an earlier text or in its own. The words of a text that stay are read \
                   as one text: if a run across a removed part is a repeat, words after that part are removed until no \
                   run across it is. A text with fewer than `k` words stays whole.\n\n\
                   Returns `List<Struct<word_start: Int32, word_end: Int32, kept_id: Int64, kept_word_start: Int32>>` \
                   in the order of the text. The words from `word_start` to before `word_end` are removed, and the \
                   same words begin at `kept_word_start` in the text `kept_id`, where all of them stay. If the copy of \
                   a removed run is spread over several places, there is an entry for each. NULL if an argument is \
                   NULL; such a text repeats nothing, and no other text repeats it. `k` must be the same in all \
                   rows.\n\n\
                   Words are compared one by one, by the hashes of `word_sequence`. Reserves about 9 to 16 bytes of \
                   memory for each word that stays. Lee et al. (2022, section 4.1) look for runs of 50 tokens.",
    syntax_example = "repeated_runs(id, sequence, k) OVER (ORDER BY id)",
    sql_example = r#"```sql
> SELECT id, unnest(repeated_runs(id, word_sequence(text), 3) OVER (ORDER BY id)) AS goes
  FROM (VALUES (1, 'The deep sea and the open sea.'), (2, 'Blue: deep sea and the OPEN shore.')) AS t(id, text);
+----+--------------------------------------------------------------+
| id | goes                                                         |
+----+--------------------------------------------------------------+
| 2  | {word_start: 1, word_end: 6, kept_id: 1, kept_word_start: 1} |
+----+--------------------------------------------------------------+
```"#,
    argument(name = "id", description = "The number that identifies the text, Int64."),
    argument(
        name = "sequence",
        description = "The words of the text, as `word_sequence` gives them. As LargeBinary, `arrow_cast(…, \
                       'LargeBinary')`, they use no memory after they are read."
    ),
    argument(name = "k", description = "The number of words of a run, Int64, 1 or more.")
)]
#[derive(Debug)]
pub(crate) struct RepeatedRuns {
    signature: Signature,
    pool: Arc<dyn MemoryPool>,
}

impl RepeatedRuns {
    /// Creates the function. `pool` limits the memory of the words that stay.
    pub(crate) fn new(pool: Arc<dyn MemoryPool>) -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), pool }
    }
}

impl PartialEq for RepeatedRuns {
    fn eq(&self, other: &Self) -> bool {
        self.signature == other.signature
    }
}

impl Eq for RepeatedRuns {}

impl std::hash::Hash for RepeatedRuns {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.signature.hash(state);
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let field = |name: &str, data_type| Field::new(name, data_type, false);
    Fields::from(vec![
        field("word_start", DataType::Int32),
        field("word_end", DataType::Int32),
        field("kept_id", DataType::Int64),
        field("kept_word_start", DataType::Int32),
    ])
});

impl WindowUDFImpl for RepeatedRuns {
    fn name(&self) -> &'static str {
        "repeated_runs"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [_, sequence, _] = take_function_args(self.name(), given)?;
        coerce_sequence(self.name(), sequence)?;
        Ok(vec![DataType::Int64, DataType::LargeBinary, DataType::Int64])
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let item = Field::new_list_field(DataType::Struct(FIELDS.clone()), true);
        Ok(Arc::new(Field::new(args.name(), DataType::List(Arc::new(item)), true)))
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        let reservation = MemoryConsumer::new(self.name()).register(&self.pool);
        Ok(Box::new(Texts { kept: None, reservation, none: list(&[])? }))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// The texts of a window.
#[derive(Debug)]
struct Texts {
    /// The words that stay; `None` before the first text.
    kept: Option<Kept>,
    reservation: MemoryReservation,
    /// The empty list, for a text that stays whole.
    none: ScalarValue,
}

impl PartitionEvaluator for Texts {
    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        let row = range.start;
        if values[..3].iter().any(|column| column.is_null(row)) {
            return ScalarValue::try_new_null(&self.none.data_type());
        }
        let [id, k] = [0, 2].map(|column| values[column].as_primitive::<Int64Type>().value(row));
        let k = match usize::try_from(k) {
            Ok(k) if k > 0 => k,
            _ => return exec_err!("repeated_runs: k is {k}, and must be 1 or more"),
        };
        let kept = self.kept.get_or_insert_with(|| Kept::new(k));
        if k != kept.k {
            return exec_err!(
                "repeated_runs: k is {k}, and was {} in the rows before; it must be the same in all",
                kept.k
            );
        }
        let sequence = Sequence::try_new("repeated_runs", values[1].as_binary::<i64>().value(row))?;
        let repeats = kept.add(id, &sequence, &self.reservation)?;
        if repeats.is_empty() { Ok(self.none.clone()) } else { list(&repeats) }
    }

    fn supports_bounded_execution(&self) -> bool {
        true
    }

    fn is_causal(&self) -> bool {
        true
    }
}

fn list(repeats: &[Repeat]) -> Result<ScalarValue> {
    let word = |of: fn(&Repeat) -> u32| -> Result<ArrayRef> {
        let words = repeats.iter().map(|repeat| i32::try_from(of(repeat)));
        let words = words.collect::<Result<Int32Array, _>>();
        Ok(Arc::new(words.map_err(|_| exec_datafusion_err!("repeated_runs: a text has more than {} words", i32::MAX))?))
    };
    let ids: Int64Array = repeats.iter().map(|repeat| repeat.kept_id).collect();
    let columns = vec![
        word(|repeat| repeat.words.start)?,
        word(|repeat| repeat.words.end)?,
        Arc::new(ids),
        word(|repeat| repeat.kept_word)?,
    ];
    one_list(Arc::new(StructArray::try_new(FIELDS.clone(), columns, None)?))
}

/// Words to remove, and the place where the same words stay.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Repeat {
    words: Range<u32>,
    kept_id: i64,
    kept_word: u32,
}

/// The words that stay of all texts so far, in one list. A position in this list is called a *place*, a position in a
/// text a *word*.
#[derive(Debug)]
struct Kept {
    k: usize,
    words: Vec<u32>,
    /// The first place of each text.
    texts: Vec<u32>,
    /// Stretches of `words` that are contiguous in their text, too.
    parts: Vec<Part>,
    /// The first places of all runs of `k` words within texts. No two runs are equal.
    runs: HashTable<u32>,
    /// The factor of the first word of a run in its hash.
    first_factor: u64,
}

#[derive(Debug)]
struct Part {
    place: u32,
    id: i64,
    word: u32,
}

/// The factor by which the hash of the words before is multiplied when a run gets one more word.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a run of words, which advances by one word in one step (Karp and Rabin 1987).
#[derive(Debug, Clone, Copy, Default)]
struct Rolling(u64);

impl Rolling {
    fn of(words: impl Iterator<Item = u32>) -> Self {
        words.fold(Self::default(), Self::then)
    }

    fn then(self, word: u32) -> Self {
        Self(self.0.wrapping_mul(FACTOR).wrapping_add(split_mix(0, u64::from(word))))
    }

    fn without_first(self, word: u32, factor: u64) -> Self {
        Self(self.0.wrapping_sub(split_mix(0, u64::from(word)).wrapping_mul(factor)))
    }

    fn hash(self) -> u64 {
        split_mix(0, self.0)
    }
}

impl Kept {
    fn new(k: usize) -> Self {
        let first_factor = (1..k).fold(1_u64, |factor, _| factor.wrapping_mul(FACTOR));
        Self { k, words: Vec::new(), texts: Vec::new(), parts: Vec::new(), runs: HashTable::new(), first_factor }
    }

    /// Adds the words of a text that stay, and returns those to remove.
    fn add(&mut self, id: i64, text: &Sequence<'_>, reservation: &MemoryReservation) -> Result<Vec<Repeat>> {
        self.make_room(text.len(), reservation)?;
        let k = self.k;
        let (count, text_begins) = (text.len(), self.words.len());
        let mut repeats = Vec::new();
        let mut word = 0;
        // The hash of the run that begins at `word`, and the hash of the last `k` - 1 words that stay.
        let (mut ahead, mut behind) = (self.run_at(0, text), Rolling::default());
        while word < count {
            if let Some(place) = self.find(ahead, || (word..word + k).map(|word| text.hash(word)), word + k <= count) {
                word = self.cut(word, place, text, &mut repeats);
                ahead = self.run_at(word, text);
                continue;
            }
            let next = text.hash(word);
            let with_next = behind.then(next);
            let staying = self.words.len() - text_begins;
            let is_run = staying + 1 >= k;
            let last = self.words.len() + 1 - k.min(staying + 1);
            let across = || self.words[last..].iter().copied().chain([next]);
            if let Some(place) = self.find(with_next, across, is_run) {
                self.note(word..word + 1, place + k - 1, &mut repeats);
            } else {
                self.push(id, word, next, staying == 0);
                behind = with_next;
                if is_run {
                    self.insert(with_next, last);
                    behind = with_next.without_first(self.words[last], self.first_factor);
                }
            }
            ahead = self.next(ahead, word, text);
            word += 1;
        }
        reservation.try_resize(self.size(self.words.capacity(), self.runs.allocation_size()))?;
        Ok(repeats)
    }

    /// Returns the place of a run in the words that stay. `is_run` is true if the run has `k` words; a shorter one is
    /// in no place.
    fn find<W: Iterator<Item = u32>>(&self, run: Rolling, words: impl Fn() -> W, is_run: bool) -> Option<usize> {
        if !is_run {
            return None;
        }
        let stands = |place: usize| self.words[place..place + self.k].iter().copied().eq(words());
        self.runs.find(run.hash(), |&place| stands(place as usize)).map(|&place| place as usize)
    }

    /// Removes the run of `k` words from `start` on, which is also at `place`, and the words that extend it: the equal
    /// words that follow in both places, and repeated runs that begin within or right behind these. Returns the first
    /// word after them.
    fn cut(&self, start: usize, place: usize, text: &Sequence<'_>, repeats: &mut Vec<Repeat>) -> usize {
        let ends_of_runs = (text.len() + 1).saturating_sub(self.k);
        let (mut last, mut end) = (Some((start, place)), start);
        // The hash of the run to look up next, and its first word.
        let (mut ahead, mut word) = (Rolling::default(), start);
        while let Some((start, place)) = last.take() {
            let longest = (text.len() - start).min(self.end_of_text(place) - place);
            let goes_on = |length: &usize| text.hash(start + length) == self.words[place + length];
            let goes_until = start + self.k + (self.k..longest).take_while(goes_on).count();
            self.note(end..goes_until, place + (end - start), repeats);
            end = goes_until;
            // Runs that begin earlier lie within the words removed so far, and so do their copies.
            if end + 1 > word + self.k {
                word = end + 1 - self.k;
                ahead = self.run_at(word, text);
            }
            while word <= end && word < ends_of_runs {
                last = self
                    .find(ahead, || (word..word + self.k).map(|word| text.hash(word)), true)
                    .map(|place| (word, place))
                    .or(last);
                ahead = self.next(ahead, word, text);
                word += 1;
            }
        }
        end
    }

    /// Returns the hash of the run that begins at a word. At the end of a text the run is shorter.
    fn run_at(&self, word: usize, text: &Sequence<'_>) -> Rolling {
        Rolling::of((word..(word + self.k).min(text.len())).map(|word| text.hash(word)))
    }

    /// Returns the hash of the run that begins one word after `word`; `run` is the hash of the run that begins at
    /// `word`.
    fn next(&self, run: Rolling, word: usize, text: &Sequence<'_>) -> Rolling {
        if word + self.k >= text.len() {
            return run;
        }
        run.without_first(text.hash(word), self.first_factor).then(text.hash(word + self.k))
    }

    /// Records that `words` are removed because they are also at `place`. A copy that spans several parts of texts gets
    /// one entry for each part.
    fn note(&self, words: Range<usize>, place: usize, repeats: &mut Vec<Repeat>) {
        let (mut word, mut place) = (words.start, place);
        while word < words.end {
            let next = self.parts.partition_point(|part| part.place as usize <= place);
            let part = &self.parts[next - 1];
            let part_ends = self.parts.get(next).map_or(self.words.len(), |part| part.place as usize);
            let length = (words.end - word).min(part_ends - place);
            let [start, end, within] = [word, word + length, place - part.place as usize].map(as_u32);
            let kept_word = part.word + within;
            match repeats.last_mut() {
                Some(before)
                    if before.words.end == start
                        && before.kept_id == part.id
                        && before.kept_word + (before.words.end - before.words.start) == kept_word =>
                {
                    before.words.end = end;
                }
                _ => repeats.push(Repeat { words: start..end, kept_id: part.id, kept_word }),
            }
            word += length;
            place += length;
        }
    }

    /// Returns the first place after the text that a place is in.
    fn end_of_text(&self, place: usize) -> usize {
        let next = self.texts.partition_point(|first| *first as usize <= place);
        self.texts.get(next).map_or(self.words.len(), |first| *first as usize)
    }

    /// Adds a word that stays.
    fn push(&mut self, id: i64, word: usize, hash: u32, begins_text: bool) {
        let (place, word) = (as_u32(self.words.len()), as_u32(word));
        let goes_on = |part: &Part| part.word + (place - part.place) == word;
        if begins_text {
            self.texts.push(place);
        }
        if begins_text || !self.parts.last().is_some_and(goes_on) {
            self.parts.push(Part { place, id, word });
        }
        self.words.push(hash);
    }

    fn insert(&mut self, run: Rolling, place: usize) {
        let (words, k) = (&self.words, self.k);
        let hash = |place: &u32| Rolling::of(words[*place as usize..*place as usize + k].iter().copied()).hash();
        self.runs.insert_unique(run.hash(), as_u32(place), hash);
    }

    /// Makes room for `more` words. The hashes of runs are not stored, so a table that is too small is rebuilt from the
    /// words. This takes one step per run, as the runs follow one another.
    fn make_room(&mut self, more: usize, reservation: &MemoryReservation) -> Result<()> {
        let words = self.words.len() + more;
        if u32::try_from(words).is_err() {
            return exec_err!("repeated_runs: more than {} words stay; make windows of fewer texts", u32::MAX);
        }
        if words > self.words.capacity() {
            let capacity = words.max(self.words.capacity() + self.words.capacity() / 2);
            reservation.try_resize(self.size(capacity, self.runs.allocation_size()))?;
            self.words.reserve_exact(capacity - self.words.len());
        }
        let runs = self.runs.len() + more;
        if runs > self.runs.capacity() {
            let buckets = (runs * 8 / 7 + 1).next_power_of_two().max(16);
            reservation.try_resize(self.size(self.words.capacity(), buckets * (size_of::<u32>() + 1)))?;
            // The old table is freed before the new one is allocated.
            self.runs = HashTable::new();
            self.runs = HashTable::with_capacity(runs);
            self.insert_all();
        }
        Ok(())
    }

    fn size(&self, words: usize, runs: usize) -> usize {
        (words + self.texts.capacity()) * size_of::<u32>() + self.parts.capacity() * size_of::<Part>() + runs
    }

    /// Adds all runs to the empty table.
    fn insert_all(&mut self) {
        for text in 0..self.texts.len() {
            let begins = self.texts[text] as usize;
            let mut run = Rolling::default();
            for place in begins..self.end_of_text(begins) {
                run = run.then(self.words[place]);
                if place + 1 >= begins + self.k {
                    let first = place + 1 - self.k;
                    self.insert(run, first);
                    run = run.without_first(self.words[first], self.first_factor);
                }
            }
        }
    }
}

/// Converts a place or a word to `u32`; there are fewer than 2^32 of either.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer")]
fn as_u32(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use datafusion_execution::memory_pool::{GreedyMemoryPool, UnboundedMemoryPool};
    use proptest::prelude::*;

    use super::super::word_sequence::pack;
    use super::*;

    fn reservation(pool: impl MemoryPool + 'static) -> MemoryReservation {
        let pool: Arc<dyn MemoryPool> = Arc::new(pool);
        MemoryConsumer::new("test").register(&pool)
    }

    /// Returns the words to remove from texts; the id of a text is its position.
    fn repeats(k: usize, texts: &[String]) -> Vec<Vec<Repeat>> {
        let (mut kept, reservation) = (Kept::new(k), reservation(UnboundedMemoryPool::default()));
        let numbered = texts.iter().zip(0_i64..);
        numbered
            .map(|(text, id)| kept.add(id, &Sequence::try_new("f", &pack(text)).unwrap(), &reservation).unwrap())
            .collect()
    }

    /// Returns true for each word to remove, one list per text, computed from the definition.
    fn by_definition(k: usize, texts: &[Vec<&str>]) -> Vec<Vec<bool>> {
        let mut runs: HashSet<Vec<String>> = HashSet::new();
        let run = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut all = Vec::new();
        for text in texts {
            let (mut goes, mut stays) = (vec![false; text.len()], Vec::new());
            let mut word = 0;
            while word < text.len() {
                let is_repeated =
                    |start: usize| text.get(start..start + k).is_some_and(|words| runs.contains(&run(words)));
                if is_repeated(word) {
                    let (mut end, mut start) = (word + k, word);
                    while start < end {
                        end = if is_repeated(start) { end.max(start + k) } else { end };
                        start += 1;
                    }
                    goes[word..end].fill(true);
                    word = end;
                    continue;
                }
                stays.push(text[word]);
                if stays.len() >= k && !runs.insert(run(&stays[stays.len() - k..])) {
                    stays.pop();
                    goes[word] = true;
                }
                word += 1;
            }
            all.push(goes);
        }
        all
    }

    #[test]
    fn memory_is_asked_for_before_it_is_taken() {
        let text = (0..10_000).map(|word| format!("w{word} ")).collect::<String>();
        let bytes = pack(&text);
        let sequence = Sequence::try_new("f", &bytes).unwrap();
        let little = reservation(GreedyMemoryPool::new(100_000));
        assert!(Kept::new(5).add(0, &sequence, &little).unwrap_err().to_string().contains("test"));
        let enough = reservation(GreedyMemoryPool::new(200_000));
        assert!(Kept::new(5).add(0, &sequence, &enough).unwrap().is_empty());
    }

    #[test]
    fn text_that_repeats_itself_stays_once() {
        let text = "la ".repeat(100_000);
        let found = repeats(50, &[text.clone(), text]);
        for (repeats, goes) in found.iter().zip([50..100_000, 0..100_000]) {
            assert_eq!(repeats[0], Repeat { words: goes.start..goes.start + 50, kept_id: 0, kept_word: 0 });
            assert!(repeats.windows(2).all(|two| two[0].words.end == two[1].words.start));
            assert_eq!((repeats.len(), repeats[repeats.len() - 1].words.end), (goes.len() / 50, goes.end));
        }
    }

    proptest! {
        #[test]
        fn what_stays_has_no_run_twice_and_what_goes_stands_in_what_stays(
            texts in proptest::collection::vec("([abc] ){0,40}", 1..6), k in 1_usize..6
        ) {
            let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split_whitespace().collect()).collect();
            let found = repeats(k, &texts);
            let goes: Vec<Vec<bool>> = found.iter().zip(&words).map(|(repeats, words)| {
                let goes = |word: u32| repeats.iter().any(|repeat| repeat.words.contains(&word));
                (0..as_u32(words.len())).map(goes).collect()
            }).collect();
            prop_assert_eq!(&goes, &by_definition(k, &words));

            for (repeats, text) in found.iter().zip(&words) {
                prop_assert!(repeats.windows(2).all(|two| two[0].words.end <= two[1].words.start));
                for Repeat { words: Range { start, end }, kept_id, kept_word } in repeats {
                    let kept_id = usize::try_from(*kept_id).unwrap();
                    let kept = *kept_word as usize..(*kept_word + end - start) as usize;
                    prop_assert_eq!(&text[*start as usize..*end as usize], &words[kept_id][kept.clone()]);
                    prop_assert!(!goes[kept_id][kept].contains(&true));
                }
            }

            let stays: Vec<String> = words.iter().zip(&goes).map(|(words, goes)| {
                let stays = words.iter().zip(goes).filter(|(_, goes)| !**goes);
                stays.map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
            }).collect();
            let mut runs = HashSet::new();
            for text in &stays {
                let words: Vec<&str> = text.split_whitespace().collect();
                for run in words.windows(k) {
                    prop_assert!(runs.insert(run.iter().map(ToString::to_string).collect::<Vec<_>>()), "{:?} twice", run);
                }
            }
            prop_assert!(repeats(k, &stays).iter().all(Vec::is_empty));
        }
    }
}
