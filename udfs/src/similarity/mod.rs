//! Similarities of two sets, codes or texts, and the functions that a similarity join is lowered to.
//!
//! All similarities of sets are functions of three counts: the sizes of the two sets and of their intersection.
//! [`Measure`] defines each similarity and the bounds that a threshold on it implies. The similarity join uses these
//! bounds.

mod code_words;
mod containment;
mod cosine;
mod dice;
mod edit_similarity;
mod first_common_token;
mod hamming;
mod hamming_bands;
mod hamming_bound;
mod jaccard;
mod length_filter;
mod measure;
mod minhash_jaccard;
mod overlap;
mod pack_set;
mod packed_set;
mod prefix_filter;
mod set_similarity;
mod unpack_set;

pub use crate::arguments::{canonical_sets, set_type};
pub use measure::{Measure, Side};
pub(crate) use packed_set::PackedSet;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion_common::Result;
use datafusion_common::utils::take_function_args;
use datafusion_expr::ScalarUDF;

use crate::arguments::{Sets, coerce_set};

/// The functions that a similarity join is lowered to, as expressions.
pub mod expr_fn {
    use datafusion_common::ScalarValue;
    use datafusion_expr::{Expr, ScalarUDF, lit};

    use super::Measure;

    /// Returns the call `prefix_filter(set, measure, threshold)`.
    pub fn prefix_filter(set: Expr, measure: Measure, threshold: f64) -> Expr {
        ScalarUDF::from(super::prefix_filter::PrefixFilter::default()).call(vec![set, name(measure), lit(threshold)])
    }

    /// Returns the call `length_filter(a, b, measure, threshold)`.
    pub fn length_filter(a: Expr, b: Expr, measure: Measure, threshold: f64) -> Expr {
        ScalarUDF::from(super::length_filter::LengthFilter::default()).call(vec![a, b, name(measure), lit(threshold)])
    }

    /// Returns the call `first_common_token(a, b)`.
    pub fn first_common_token(a: Expr, b: Expr) -> Expr {
        ScalarUDF::from(super::first_common_token::FirstCommonToken::default()).call(vec![a, b])
    }

    /// Returns the call `pack_set(set)`.
    pub fn pack_set(set: Expr) -> Expr {
        ScalarUDF::from(super::pack_set::PackSet::default()).call(vec![set])
    }

    /// Returns the call `unpack_set(packed)`.
    pub fn unpack_set(packed: Expr) -> Expr {
        ScalarUDF::from(super::unpack_set::UnpackSet::default()).call(vec![packed])
    }

    /// Returns the call `hamming_bands(code, k)`.
    pub fn hamming_bands(code: Expr, k: i64) -> Expr {
        ScalarUDF::from(super::hamming_bands::HammingBands::default()).call(vec![code, lit(k)])
    }

    /// Returns the call `code_words(code)`.
    pub fn code_words(code: Expr) -> Expr {
        ScalarUDF::from(super::code_words::CodeWords::default()).call(vec![code])
    }

    /// Returns the call `overlap(a, b)`.
    pub fn overlap(a: Expr, b: Expr) -> Expr {
        ScalarUDF::from(super::overlap::overlap()).call(vec![a, b])
    }

    fn name(measure: Measure) -> Expr {
        Expr::Literal(ScalarValue::from(measure.to_string()), None)
    }
}

/// Returns true if `function` is `first_common_token`, the mark of a join that is already lowered.
pub fn is_first_common_token(function: &ScalarUDF) -> bool {
    function.inner().downcast_ref::<first_common_token::FirstCommonToken>().is_some()
}

/// Returns true if `function` is `hamming`.
pub fn is_hamming(function: &ScalarUDF) -> bool {
    function.inner().downcast_ref::<hamming::Hamming>().is_some()
}

/// Returns true if `function` is `hamming_bound`.
pub fn is_hamming_bound(function: &ScalarUDF) -> bool {
    function.inner().downcast_ref::<hamming_bound::HammingBound>().is_some()
}

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(jaccard::jaccard()),
        ScalarUDF::from(containment::containment()),
        ScalarUDF::from(overlap::overlap()),
        ScalarUDF::from(dice::dice()),
        ScalarUDF::from(cosine::cosine()),
        ScalarUDF::from(hamming::Hamming::default()),
        ScalarUDF::from(minhash_jaccard::MinhashJaccard::default()),
        ScalarUDF::from(edit_similarity::EditSimilarity::default()),
        ScalarUDF::from(pack_set::PackSet::default()),
        ScalarUDF::from(unpack_set::UnpackSet::default()),
        ScalarUDF::from(prefix_filter::PrefixFilter::default()),
        ScalarUDF::from(length_filter::LengthFilter::default()),
        ScalarUDF::from(first_common_token::FirstCommonToken::default()),
        ScalarUDF::from(hamming_bands::HammingBands::default()),
        ScalarUDF::from(code_words::CodeWords::default()),
        ScalarUDF::from(hamming_bound::HammingBound::default()),
    ]
}

/// Returns the types of two set arguments, whatever the items of the lists are.
fn coerce_two_sets(function: &str, given: &[DataType]) -> Result<Vec<DataType>> {
    let [a, b] = take_function_args(function, given)?;
    Ok(vec![coerce_set(function, a)?, coerce_set(function, b)?])
}

/// Calls `each` with the two sets of every row, or `None` where either is NULL.
fn map_two_sets<T, A: FromIterator<Option<T>>>(
    a: &ArrayRef,
    b: &ArrayRef,
    mut each: impl FnMut(&[u64], &[u64]) -> Option<T>,
) -> Result<A> {
    let (left, right) = (Sets::try_new(a)?, Sets::try_new(b)?);
    let (mut left_scratch, mut right_scratch) = (Vec::new(), Vec::new());
    Ok((0..a.len()).map(|i| each(left.row(i, &mut left_scratch)?, right.row(i, &mut right_scratch)?)).collect())
}

/// Returns the number of elements that two sets, each of ascending elements, have in common.
pub fn count_common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}

/// Returns the elements that two sets have in common, in ascending order.
pub(crate) fn common_elements<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = u64> + use<'a> {
    let mut rest = b;
    a.iter().copied().filter(move |element| {
        rest = &rest[rest.partition_point(|other| other < element)..];
        rest.first() == Some(element)
    })
}
