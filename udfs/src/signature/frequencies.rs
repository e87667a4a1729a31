//! Document frequencies as a value, which `document_frequencies` returns and the functions that depend on rarity read.

use std::mem::{size_of, size_of_val};
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StructArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Fields, Int64Type, UInt64Type};
use datafusion_common::{HashMap, Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::{Accumulator, ColumnarValue};

use super::hash_token;
use crate::arguments::{constant, one_list};

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    vec![
        Field::new("documents", DataType::Int64, false),
        Field::new("tokens", list(DataType::UInt64), false),
        Field::new("frequencies", list(DataType::Int64), false),
    ]
    .into()
});

/// Returns the type `Struct<documents Int64, tokens List<UInt64>, frequencies List<Int64>>`, tokens ascending.
pub(super) fn frequencies_type() -> DataType {
    DataType::Struct(FIELDS.clone())
}

/// Checks the type of an argument that holds document frequencies.
pub(super) fn coerce_frequencies(function: &str, given: &DataType) -> Result<DataType> {
    match given {
        DataType::Struct(fields) if fields.iter().map(|f| f.name()).eq(FIELDS.iter().map(|f| f.name())) => {
            Ok(frequencies_type())
        }
        other => plan_err!(
            "{function} expects document frequencies, got {other}; write (SELECT document_frequencies(tokens) FROM …), or set_frequencies(set)"
        ),
    }
}

/// Returns the value for `documents` documents and the ascending `(token, frequency)` pairs.
pub(super) fn frequencies_value(documents: i64, pairs: &[(u64, i64)]) -> Result<ScalarValue> {
    let columns = vec![
        Arc::new(Int64Array::from(vec![documents])) as ArrayRef,
        one_list(Arc::new(UInt64Array::from_iter_values(pairs.iter().map(|pair| pair.0))))?.to_array()?,
        one_list(Arc::new(Int64Array::from_iter_values(pairs.iter().map(|pair| pair.1))))?.to_array()?,
    ];
    Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(FIELDS.clone(), columns, None)?)))
}

/// Document frequencies as an argument.
pub(super) struct Frequencies {
    documents: i64,
    tokens: UInt64Array,
    frequencies: Int64Array,
}

/// Finds the place of a hash among ascending hashes. Hashes are spread about evenly, so the value of each tells its
/// approximate place.
fn place_of_hash(hashes: &[u64], hash: u64) -> Option<usize> {
    let last = hashes.len().checked_sub(1)?;
    let places = |part: u64| usize::try_from((u128::from(part) * hashes.len() as u128) >> 64).unwrap_or(last);
    let mut about = places(hash).min(last);
    for _ in 0..2 {
        let here = hashes[about];
        about = match hash.checked_sub(here) {
            Some(beyond) => (about + places(beyond)).min(last),
            None => about.saturating_sub(places(here - hash)),
        };
    }
    let (mut low, mut high, mut step) = (about, about + 1, 1);
    while low > 0 && hashes[low] > hash {
        low = low.saturating_sub(step);
        step *= 2;
    }
    while high < hashes.len() && hashes[high] <= hash {
        high = (high + step).min(hashes.len());
        step *= 2;
    }
    hashes[low..high].binary_search(&hash).ok().map(|i| low + i)
}

impl Frequencies {
    pub(super) fn try_new(function: &str, value: &ColumnarValue) -> Result<Self> {
        let ScalarValue::Struct(value) = constant(function, "the document frequencies", value)? else {
            return exec_err!("{function} expects document frequencies as a constant");
        };
        let list = |i: usize| value.column(i).as_list::<i32>().value(0);
        let tokens = list(1).as_primitive::<UInt64Type>().clone();
        let frequencies = list(2).as_primitive::<Int64Type>().clone();
        if tokens.len() != frequencies.len() {
            return exec_err!(
                "{function}: {} tokens have {} document frequencies; make them with document_frequencies or \
                 set_frequencies",
                tokens.len(),
                frequencies.len()
            );
        }
        Ok(Self { documents: value.column(0).as_primitive::<Int64Type>().value(0), tokens, frequencies })
    }

    /// Returns the normalised inverse document frequency log(N/df)/log(N): 0 for a token of every document, 1 for a
    /// token of a single document or of none. If there is only one document, it is 1.
    pub(super) fn normalised_idf(&self, token: &str) -> f64 {
        self.normalised_idf_of_hash(hash_token(token))
    }

    /// Returns the number of documents in which a token occurs; 1 if it is not listed.
    pub(super) fn of_hash(&self, token: u64) -> i64 {
        match place_of_hash(self.tokens.values(), token) {
            Some(i) => self.frequencies.value(i).max(1),
            None => 1,
        }
    }

    /// Returns the inverse document frequency log(N/df), where df is not above N: 0 for a token of every document,
    /// log(N) for a token of a single document or of none. If there is only one document, it is 1.
    #[expect(clippy::cast_precision_loss, reason = "a collection has fewer than 2^53 documents")]
    pub(super) fn idf(&self, df: i64) -> f64 {
        if self.documents <= 1 { 1.0 } else { (self.documents as f64 / df.min(self.documents) as f64).ln() }
    }

    #[expect(clippy::cast_precision_loss, reason = "a collection has fewer than 2^53 documents")]
    pub(super) fn normalised_idf_of_hash(&self, token: u64) -> f64 {
        if self.documents <= 1 { 1.0 } else { self.idf(self.of_hash(token)) / (self.documents as f64).ln() }
    }
}

#[cfg(test)]
impl Frequencies {
    /// Returns the frequencies of the words of `documents`.
    pub(super) fn of_words(documents: &[Vec<&str>]) -> Self {
        let hashes = documents.iter().flat_map(|words| {
            let mut hashes: Vec<u64> = words.iter().map(|word| hash_token(word)).collect();
            hashes.sort_unstable();
            hashes.dedup();
            hashes
        });
        let mut counts = std::collections::BTreeMap::new();
        hashes.for_each(|hash| *counts.entry(hash).or_default() += 1);
        let documents = i64::try_from(documents.len()).unwrap();
        let value = frequencies_value(documents, &counts.into_iter().collect::<Vec<_>>()).unwrap();
        Self::try_new("frequencies", &ColumnarValue::Scalar(value)).unwrap()
    }
}

/// A term with its rank: terms in ascending order are the rarest first, equally frequent ones in code point order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked<'a> {
    /// The number of documents in which the term occurs; the fewer, the higher its inverse document frequency.
    pub(super) frequency: i64,
    pub(super) term: &'a str,
    pub(super) hash: u64,
}

impl<'a> Ranked<'a> {
    pub(super) fn new(term: &'a str, frequencies: &Frequencies) -> Self {
        let hash = hash_token(term);
        Self { frequency: frequencies.of_hash(hash), term, hash }
    }
}

/// A function that calls its second argument with the distinct elements of each row that is not NULL.
type Rows = fn(&ArrayRef, &mut dyn FnMut(&[u64])) -> Result<()>;

/// The number of rows in which each element occurs; the accumulator of both aggregates of frequencies.
#[derive(Debug)]
pub(super) struct Counts {
    rows: Rows,
    /// The least number of rows of an element that is listed in the result.
    least: i64,
    documents: i64,
    frequencies: HashMap<u64, i64>,
}

impl Counts {
    pub(super) fn new(rows: Rows, least: i64) -> Self {
        Self { rows, least, documents: 0, frequencies: HashMap::new() }
    }

    fn value(&self, least: i64) -> Result<ScalarValue> {
        let listed = self.frequencies.iter().filter(|&(_, &count)| count >= least);
        let mut pairs: Vec<_> = listed.map(|(&element, &count)| (element, count)).collect();
        pairs.sort_unstable();
        frequencies_value(self.documents, &pairs)
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        (self.rows)(&values[0], &mut |row| {
            self.documents += 1;
            for &element in row {
                *self.frequencies.entry(element).or_default() += 1;
            }
        })
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.value(self.least)
    }

    fn size(&self) -> usize {
        // The table has one more byte for each entry.
        size_of_val(self) + self.frequencies.capacity() * (size_of::<(u64, i64)>() + 1)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value(1)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_struct();
        let documents = states.column(0).as_primitive::<Int64Type>();
        let (elements, counts) = (states.column(1).as_list::<i32>(), states.column(2).as_list::<i32>());
        for i in (0..states.len()).filter(|&i| states.is_valid(i)) {
            self.documents += documents.value(i);
            let (elements, counts) = (elements.value(i), counts.value(i));
            let counted = counts.as_primitive::<Int64Type>().values();
            for (&element, count) in elements.as_primitive::<UInt64Type>().values().iter().zip(counted) {
                *self.frequencies.entry(element).or_default() += count;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarity_is_bounded_for_any_collection() {
        let frequencies = Frequencies::of_words(&[vec!["a", "b"], vec!["a"]]);
        let idf = |token: &str| frequencies.idf(frequencies.of_hash(hash_token(token)));
        assert_eq!([idf("a"), idf("b"), idf("new")], [0.0, 2.0_f64.ln(), 2.0_f64.ln()]);
        assert_eq!(["a", "b", "new"].map(|token| frequencies.normalised_idf(token)), [0.0, 1.0, 1.0]);
        assert_eq!(frequencies.idf(i64::MAX), 0.0);
        for documents in [vec![], vec![vec!["a"]]] {
            let frequencies = Frequencies::of_words(&documents);
            assert_eq!([frequencies.idf(1), frequencies.normalised_idf("a")], [1.0, 1.0]);
        }
    }

    #[test]
    fn tokens_are_found_wherever_they_stand() {
        let even = (0..500_u64).map(|i| i << 55).collect::<Vec<_>>();
        let all_low = (0..500).collect::<Vec<_>>();
        let all_high = (0..500).map(|i| u64::MAX - 499 + i).collect::<Vec<_>>();
        for tokens in [even, all_low, all_high, vec![u64::MAX], vec![0], vec![]] {
            let frequencies = Frequencies {
                documents: 1,
                frequencies: Int64Array::from(vec![1; tokens.len()]),
                tokens: UInt64Array::from(tokens.clone()),
            };
            for token in tokens.iter().flat_map(|t| [t.saturating_sub(1), *t, t.saturating_add(1)]).chain([0, u64::MAX])
            {
                assert_eq!(
                    place_of_hash(frequencies.tokens.values(), token),
                    tokens.binary_search(&token).ok(),
                    "{token} in {tokens:?}"
                );
            }
        }
    }

    #[test]
    fn every_token_has_a_frequency() {
        let list = |items: ArrayRef| one_list(items).unwrap().to_array().unwrap();
        let columns = vec![
            Arc::new(Int64Array::from(vec![3])) as ArrayRef,
            list(Arc::new(UInt64Array::from(vec![1, 2]))),
            list(Arc::new(Int64Array::from(vec![1]))),
        ];
        let value = StructArray::try_new(FIELDS.clone(), columns, None).unwrap();
        let value = ColumnarValue::Scalar(ScalarValue::Struct(Arc::new(value)));
        let error = Frequencies::try_new("simhash", &value).err().unwrap().to_string();
        assert!(error.contains("simhash: 2 tokens have 1 document frequencies"), "{error}");
    }
}
