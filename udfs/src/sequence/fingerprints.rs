use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayBuilder, ArrayRef, BooleanBuilder, Int32Builder, StructArray, UInt64Builder};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_datafusion_err, plan_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;
use hashbrown::HashSet;
use ibid_codes::split_mix;

use super::word_sequence::{Sequence, coerce_sequence, sequence_array};
use crate::arguments::{Sets, coerce_set, constant, constant_count, counts, keep_constants};
use crate::signature::each_smallest;
use crate::text::Lists;

/// `fingerprints(sequence, k, window[, among])`: the winnowed `k`-grams of a text, and their places.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "A sample of the runs of `k` words of a text, with their places: out of every `window` neighbouring \
                   runs the one with the smallest hash, and of equal hashes the last (winnowing; Schleimer, Wilkerson \
                   and Aiken 2003, section 3). Two texts that share a run of `k` + `window` − 1 words share a \
                   fingerprint within it, wherever it is in the texts. About 2 in `window` + 1 runs are kept.\n\n\
                   A text with fewer than `window` runs keeps the one with the smallest hash; a text with fewer than \
                   `k` words has no fingerprint. `winnow` returns the same sample of any tokens, as a set. With \
                   `among`, only fingerprints in this set are returned; with a `window` of 1, these are all places \
                   where fingerprints of other texts occur.\n\n\
                   Returns `List<Struct<fingerprint: UInt64, word: Int32, again: Boolean>>` in the order of the text. \
                   `word` is the first word of the run, from 0. `again` is true if the fingerprint is also earlier in \
                   the list: to count places, count all entries; to count texts, count those where `again` is false. \
                   NULL for NULL.",
    syntax_example = "fingerprints(sequence, k, window[, among])",
    sql_example = r#"```sql
> SELECT f.word AS word, a.word AS word_of_other
  FROM (SELECT unnest(fingerprints(word_sequence('to take arms against a sea of troubles and by opposing end them'), 2, 4)) AS f)
  JOIN (SELECT unnest(fingerprints(word_sequence('Or to take arms against a sea of troubles'), 2, 4)) AS a)
    ON f.fingerprint = a.fingerprint
  ORDER BY f.word;
+------+---------------+
| word | word_of_other |
+------+---------------+
| 2    | 3             |
| 5    | 6             |
+------+---------------+
```"#,
    argument(name = "sequence", description = "The words of the text, BinaryView, as `word_sequence` gives them."),
    argument(name = "k", description = "The number of words in a run, from 1 to 1000."),
    argument(name = "window", description = "The number of runs in a window, from 1 to 1000; a constant."),
    argument(
        name = "among",
        description = "The fingerprints that may be returned, `List<UInt64>` ascending; a constant."
    )
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprints {
    signature: Signature,
}

impl Default for Fingerprints {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    vec![
        Field::new("fingerprint", DataType::UInt64, true),
        Field::new("word", DataType::Int32, true),
        Field::new("again", DataType::Boolean, true),
    ]
    .into()
});

impl ScalarUDFImpl for Fingerprints {
    fn name(&self) -> &str {
        "fingerprints"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let (numbers, among) = given.split_at(given.len().min(3));
        let [sequence, _, _] = take_function_args(self.name(), numbers)?;
        let mut types = vec![coerce_sequence(self.name(), sequence)?, DataType::Int64, DataType::Int64];
        match among {
            [] => {}
            [among] => types.push(coerce_set(self.name(), among)?),
            _ => return plan_err!("fingerprints expects 3 or 4 arguments, got {}", given.len()),
        }
        Ok(types)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(fingerprints_type())
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 2)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let mut args = args.args;
        let among = if args.len() > 3 { args.pop() } else { None };
        let among = among.map(|among| constant(self.name(), "among", &among)?.to_array()).transpose()?;
        let (sets, mut scratch) = (among.as_ref().map(Sets::try_new).transpose()?, Vec::new());
        let among = sets.map(|sets| sets.row(0, &mut scratch).unwrap_or_default());
        let [sequences, k, window] = take_function_args(self.name(), args)?;
        let k = counts(self.name(), "k", k, rows, 1000)?;
        let window = constant_count(self.name(), "window", &window, 1000)?;
        let sequences = sequences.into_array(rows)?;
        let sequences = sequence_array(&sequences)?;
        let among = among.map(|among| Among::new(among, sequences.iter().flatten().map(<[u8]>::len).sum()));
        let mut lists = Lists::with_nulls("fingerprints", rows, sequences.nulls().cloned());
        let (mut fingerprints, mut words) = (UInt64Builder::new(), Int32Builder::new());
        let (mut again, mut seen) = (BooleanBuilder::new(), HashSet::new());
        let mut smallest = VecDeque::new();
        for (sequence, &k) in sequences.iter().zip(&k) {
            let sequence = Sequence::try_new(self.name(), sequence.unwrap_or_default())?;
            let last = i32::try_from(sequence.len());
            last.map_err(|_| exec_datafusion_err!("fingerprints: a text has more than {} words", i32::MAX))?;
            each_fingerprint(&sequence, k, window, &mut smallest, |fingerprint, word| {
                if among.as_ref().is_none_or(|among| among.has(fingerprint)) {
                    fingerprints.append_value(fingerprint);
                    words.append_option(i32::try_from(word).ok());
                    again.append_value(!seen.insert(fingerprint));
                }
            });
            seen.clear();
            lists.end_row(words.len())?;
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::new(fingerprints.finish()), Arc::new(words.finish()), Arc::new(again.finish())];
        let items = StructArray::try_new(FIELDS.clone(), columns, None)?;
        Ok(ColumnarValue::Array(Arc::new(lists.finish(Arc::new(items))?)))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

/// A set in which each fingerprint of a batch is looked up.
enum Among<'a> {
    Hashed(HashSet<u64>),
    /// Hashing the set would take longer than looking up the fingerprints of a small batch in it.
    Sorted(&'a [u64]),
}

impl<'a> Among<'a> {
    /// Prepares an ascending set for a batch of so many bytes.
    fn new(set: &'a [u64], bytes: usize) -> Self {
        if bytes > set.len() { Self::Hashed(set.iter().copied().collect()) } else { Self::Sorted(set) }
    }

    fn has(&self, fingerprint: u64) -> bool {
        match self {
            Self::Hashed(set) => set.contains(&fingerprint),
            Self::Sorted(set) => set.binary_search(&fingerprint).is_ok(),
        }
    }
}

/// Returns the type of the fingerprints of a text.
pub(super) fn fingerprints_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(FIELDS.clone()), true)))
}

/// Calls `found` with each fingerprint and its place; `smallest` is a reusable buffer.
pub(super) fn each_fingerprint(
    sequence: &Sequence<'_>,
    k: usize,
    window: usize,
    smallest: &mut VecDeque<(usize, u64)>,
    mut found: impl FnMut(u64, usize),
) {
    let count = (sequence.len() + 1).saturating_sub(k);
    let hash = |place| (place..place + k).fold(0, |hash, word| split_mix(hash, u64::from(sequence.hash(word))));
    each_smallest(count, window, smallest, hash, |place, hash| found(hash, place));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::word_sequence::pack;
    use super::*;

    fn of(text: &str, k: usize, window: usize) -> Vec<(u64, usize)> {
        let bytes = pack(text);
        let mut found = Vec::new();
        let sequence = Sequence::try_new("f", &bytes).unwrap();
        let each = |fingerprint, word| found.push((fingerprint, word));
        each_fingerprint(&sequence, k, window, &mut VecDeque::new(), each);
        found
    }

    #[test]
    fn short_texts_have_one_and_shorter_ones_none() {
        assert_eq!(of("a b c d e", 5, 8).len(), 1);
        assert_eq!(of("a b c d e f g h i", 5, 8).len(), 1);
        assert_eq!(of("a b c d", 5, 8), []);
        assert_eq!(of("", 5, 8), []);
    }

    proptest! {
        #[test]
        fn every_shared_run_that_is_long_enough_shares_a_fingerprint_at_its_place(
            before in "([abc] ){0,20}", run in "([abcdefgh] ){12,30}", after in "([abc] ){0,20}", other in "([abc] ){0,20}",
        ) {
            let (a, b) = (of(&format!("{before}{run}{after}"), 5, 8), of(&format!("{other}{run}"), 5, 8));
            let (start_a, start_b) = (before.len() / 2, other.len() / 2);
            let words = run.len() / 2;
            let within = a.iter().any(|&(fingerprint, word)| {
                word >= start_a && word + 5 <= start_a + words && b.contains(&(fingerprint, word - start_a + start_b))
            });
            prop_assert!(within, "{:?} {:?}", a, b);
        }
    }
}
