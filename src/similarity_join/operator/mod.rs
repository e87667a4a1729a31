//! The operator of similarity joins: an index of prefixes.
//!
//! 1. [`input`]: reads the rows of both inputs and their sets, and reads the input once if both are the same.
//! 2. [`sets`]: merges equal sets into one, with the rows that have it, and numbers sets by size.
//! 3. [`order`]: counts the elements and puts them in one order for all sets, rarest first.
//! 4. [`index`]: each set shows its prefix, its first few elements in that order; the sets that show the same element
//!    form a group.
//! 5. [`search`]: takes the pairs of a group whose sizes, positions and bitmaps allow a match, and verifies them on the
//!    sets themselves; a pair counts in the group of its first common element only. If codes of all pairs are compared,
//!    [`scan`] replaces steps 3 to 5. If the measure asks how much of one set is in the other, [`counting`] replaces
//!    steps 4 and 5.
//! 6. [`output`]: turns pairs of sets into pairs of rows, filtered by the rest of the join's condition.
//!
//! If pairs match by any of several conditions, all steps run for one condition after the other, over rows that are
//! kept after the first ([`replay`]); later conditions leave out the pairs of earlier ones. Outer joins, semi joins and
//! anti joins mark the rows that have a partner, and output rows of an input after the last pair ([`output`]).
//!
//! Rows that exceed the memory limit are spilled to disk while they are read, and partitioned into shares that fit
//! ([`disk`], [`memory`]); steps 2 to 6 run for one share after the other. The elements are counted on disk. A row goes
//! to the share of each rank that it shows ([`spill`]) and that other rows show, too ([`shared_ranks`]). If rows share
//! so much that they would be in many shares, they go into blocks by the sizes of their sets instead, provided that
//! this moves fewer rows. Each block is joined with each block whose sizes allow a match ([`blocks`]). The rows of a
//! share that turns out too large go into blocks, too.
//!
//! Steps 1 to 4 run in parallel over the parts of the input. In steps 5 and 6, workers take tasks off one list
//! ([`work`]), each with about as many pairs of sets, and share the rows of sets that many rows have. So neither a
//! heavy group nor a heavy set is left to one worker alone. [`run`] leads from the first step to the last.

mod blocks;
mod condition;
mod count_exec;
mod counting;
mod deal_exec;
mod dealt;
mod disk;
mod estimate;
mod exec;
mod index;
mod input;
mod memory;
mod order;
mod order_exec;
mod output;
mod parallel;
mod places;
mod prefix;
mod replay;
mod run;
mod scan;
mod search;
mod sets;
mod shared_ranks;
mod spill;
mod work;

pub(super) use condition::Condition;
pub(super) use count_exec::CountElementsExec;
pub(super) use deal_exec::DealExec;
pub(super) use estimate::{Sample, estimate_candidates};
pub(crate) use exec::SIMILARITY_JOIN;
pub(super) use exec::{Alternative, SimilarityJoinExec};
pub(super) use input::Input;
pub(crate) use memory::bytes_to_join;
pub(super) use order::Order;
pub(super) use order_exec::ElementOrderExec;
pub(super) use scan::Scan;
