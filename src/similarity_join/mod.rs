//! Joins on the similarity of two sets: `FROM a JOIN b ON jaccard(a.set, b.set) >= 0.8`.
//!
//! Two sets that reach the threshold share many elements, so they share one of the first few elements of each. A set of
//! `n` elements whose partner must share at least `o` of them *shows* its first `n − o + 1` elements: its *prefix*, in
//! any order of the elements that is the same for all sets. Only sets that show the same element are compared. Let `x`
//! be the first common element of a matching pair. At least `o` common elements stand at or after `x`, so `x` is in
//! both prefixes, and the pair meets there. It may meet at other elements, too, but `x` is the first only once:
//! counting a pair where it meets at its first common element gives every pair exactly once, duplicate rows included,
//! without DISTINCT and without row ids.
//!
//! [`SimilarityJoinRule`] recognises such a join and replaces it by a [`node`], which the [`planner`] plans as the
//! [`operator`]; or it rewrites the join to standard operators ([`lowered`]).
//!
//! Codes that differ in at most `k` bits share one of `k + 1` bands of bits, so `hamming(a.code, b.code) <= k` is an
//! overlap of at least one band ([`hamming`]), with the distance as a further condition.
//!
//! The bounds come from [`Measure`](ibid_udfs::similarity::Measure), which derives them from the very computation that
//! decides a match, so that no rounding loses a pair at the threshold.

mod codec;
mod hamming;
mod lowered;
mod node;
mod operator;
mod planner;
mod predicate;
mod rule;

pub use codec::IbidCodec;
pub(crate) use operator::{SIMILARITY_JOIN, bytes_to_join};
pub(crate) use planner::IbidQueryPlanner;
pub(crate) use rule::SimilarityJoinRule;
