use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, BinaryViewArray, Int32Array, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::utils::take_function_args;
use datafusion_common::{Result, exec_datafusion_err};
use datafusion_expr::{ColumnarValue, Documentation, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use datafusion_macros::user_doc;

use super::fingerprints::each_fingerprint;
use super::word_sequence::{Sequence, coerce_sequence, sequence_array};
use crate::arguments::{constant_count, constant_size, keep_constants};
use crate::text::Lists;

/// `shared_fingerprints(sequence_a, sequence_b, k, window, most)`: the places where two texts have the same
/// fingerprints.
#[user_doc(
    doc_section(label = "Sequences"),
    description = "The places of the `fingerprints` that two texts share, as seeds for `aligned_words`: each place in \
                   the first text with each place in the second. A fingerprint with more than `most` pairs of places \
                   is left out. The time grows with the number of words and of returned pairs.\n\n\
                   Returns `List<Struct<word_a: Int32, word_b: Int32, weight: Int32>>`, ordered by place, empty if \
                   nothing is shared; `weight` is 1. NULL if an argument is NULL.",
    syntax_example = "shared_fingerprints(sequence_a, sequence_b, k, window, most)",
    sql_example = r#"```sql
> SELECT unnest(shared_fingerprints(
    word_sequence('to take arms against a sea of troubles'), word_sequence('Or to take arms against a sea'), 2, 3, 10)) AS seed;
+-----------------------------------+
| seed                              |
+-----------------------------------+
| {word_a: 2, word_b: 3, weight: 1} |
+-----------------------------------+
```"#,
    argument(
        name = "sequence_a",
        description = "The words of the first text, BinaryView, as `word_sequence` gives them."
    ),
    argument(name = "sequence_b", description = "The words of the second text."),
    argument(name = "k", description = "The number of words in a fingerprint, from 1 to 1000; a constant."),
    argument(
        name = "window",
        description = "The number of neighbouring runs of which one is sampled, from 1 to 1000; a constant."
    ),
    argument(name = "most", description = "The most pairs of places that a fingerprint may have, from 1; a constant.")
)]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharedFingerprints {
    signature: Signature,
}

impl Default for SharedFingerprints {
    fn default() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    ["word_a", "word_b", "weight"].map(|name| Field::new(name, DataType::Int32, true)).to_vec().into()
});

impl ScalarUDFImpl for SharedFingerprints {
    fn name(&self) -> &str {
        "shared_fingerprints"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [a, b, _, _, _] = take_function_args(self.name(), given)?;
        let [a, b] = [coerce_sequence(self.name(), a)?, coerce_sequence(self.name(), b)?];
        Ok(vec![a, b, DataType::Int64, DataType::Int64, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Struct(FIELDS.clone()), true))))
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        keep_constants(args, 2)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [a, b, k, window, most] = take_function_args(self.name(), args.args)?;
        let k = constant_count(self.name(), "k", &k, 1000)?;
        let window = constant_count(self.name(), "window", &window, 1000)?;
        let most = constant_size(self.name(), "most", &most, 1..=i64::MAX)?;
        let (a, b) = (a.into_array(rows)?, b.into_array(rows)?);
        Ok(ColumnarValue::Array(shared_fingerprints(sequence_array(&a)?, sequence_array(&b)?, k, window, most)?))
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.doc()
    }
}

fn shared_fingerprints(
    a: &BinaryViewArray,
    b: &BinaryViewArray,
    k: usize,
    window: usize,
    most: usize,
) -> Result<ArrayRef> {
    let nulls = NullBuffer::union(a.nulls(), b.nulls());
    let mut lists = Lists::with_nulls("shared_fingerprints", a.len(), nulls.clone());
    let (mut sampled_a, mut sampled_b, mut seeds) = (Sampled::default(), Sampled::default(), Vec::new());
    let mut of_row = Vec::new();
    for row in 0..a.len() {
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            sampled_a.set(a.value(row), k, window)?;
            sampled_b.set(b.value(row), k, window)?;
            each_shared(&sampled_a.places, &sampled_b.places, most, |word_a, word_b| of_row.push((word_a, word_b)));
            of_row.sort_unstable();
            seeds.append(&mut of_row);
        }
        lists.end_row(seeds.len())?;
    }
    let word_a = seeds.iter().map(|(word_a, _)| *word_a).collect::<Int32Array>();
    let word_b = seeds.iter().map(|(_, word_b)| *word_b).collect::<Int32Array>();
    let columns: Vec<ArrayRef> =
        vec![Arc::new(word_a), Arc::new(word_b), Arc::new(Int32Array::from_value(1, seeds.len()))];
    Ok(Arc::new(lists.finish(Arc::new(StructArray::try_new(FIELDS.clone(), columns, None)?))?))
}

/// The fingerprints of one text, ascending, with their places. They are computed once for a text that is in many
/// consecutive rows.
#[derive(Default)]
struct Sampled<'a> {
    text: &'a [u8],
    places: Vec<(u64, i32)>,
    smallest: VecDeque<(usize, u64)>,
}

impl<'a> Sampled<'a> {
    fn set(&mut self, text: &'a [u8], k: usize, window: usize) -> Result<()> {
        if std::ptr::eq(self.text, text) {
            return Ok(());
        }
        let sequence = Sequence::try_new("shared_fingerprints", text)?;
        i32::try_from(sequence.len())
            .map_err(|_| exec_datafusion_err!("shared_fingerprints: a text has more than {} words", i32::MAX))?;
        self.text = text;
        self.places.clear();
        each_fingerprint(&sequence, k, window, &mut self.smallest, |fingerprint, word| {
            self.places.extend(i32::try_from(word).map(|word| (fingerprint, word)));
        });
        self.places.sort_unstable();
        Ok(())
    }
}

/// Calls `found` with each pair of places of a fingerprint that both texts have. Skips fingerprints with more than
/// `most` pairs.
fn each_shared(mut a: &[(u64, i32)], mut b: &[(u64, i32)], most: usize, mut found: impl FnMut(i32, i32)) {
    let run = |places: &[(u64, i32)], fingerprint| places.iter().take_while(|place| place.0 == fingerprint).count();
    while let ([(in_a, _), ..], [(in_b, _), ..]) = (a, b) {
        let smaller = *in_a.min(in_b);
        let (of_a, after_a) = a.split_at(run(a, smaller));
        let (of_b, after_b) = b.split_at(run(b, smaller));
        if of_a.len().saturating_mul(of_b.len()) <= most {
            for (_, word_a) in of_a {
                of_b.iter().for_each(|(_, word_b)| found(*word_a, *word_b));
            }
        }
        (a, b) = (after_a, after_b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(a: &[(u64, i32)], b: &[(u64, i32)], most: usize) -> Vec<(i32, i32)> {
        let mut found = Vec::new();
        each_shared(a, b, most, |word_a, word_b| found.push((word_a, word_b)));
        found
    }

    #[test]
    fn each_place_is_paired_with_each_unless_there_are_too_many() {
        let (a, b) = ([(1, 7), (2, 0), (2, 9), (5, 3)], [(0, 4), (2, 1), (2, 2), (5, 8), (6, 6)]);
        assert_eq!(shared(&a, &b, 4), [(0, 1), (0, 2), (9, 1), (9, 2), (3, 8)]);
        assert_eq!(shared(&a, &b, 3), [(3, 8)]);
        assert_eq!(shared(&a, &[], 3), []);
    }
}
