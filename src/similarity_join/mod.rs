//! Joins on the similarity of two sets: `FROM a JOIN b ON jaccard(a.set, b.set) >= 0.8`.
//!
//! A pair of sets that reaches the threshold shares many elements, so it shares one of the first few of each: a set of
//! `n` elements whose partner must share at least `o` of them shows its first `n − o + 1` (the *prefix*), and the join
//! becomes an equality join over those. Let `x` be the first common element of a matching pair. At least `o` common
//! elements stand at or after `x`, so `x` is in both prefixes and the equality join meets the pair there. It meets the
//! pair at other elements, too, but `x` is the first only once: keeping the rows where the joined element is the first
//! common one gives every pair exactly once, duplicate rows included, without DISTINCT and without row ids.
//!
//! The bounds come from [`Measure`](ibid_udfs::similarity::Measure), which derives them from the very computation that
//! decides a match, so that no rounding loses a pair at the threshold.

mod lowered;
mod node;
mod operator;
mod planner;
mod predicate;
mod rule;

pub(crate) use planner::IbidQueryPlanner;
pub(crate) use rule::SimilarityJoinRule;
