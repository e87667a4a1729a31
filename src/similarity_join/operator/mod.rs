//! The operator of similarity joins: an index of prefixes.
//!
//! 1. [`input`]: the rows of both inputs and their sets, the input read once where both are the same.
//! 2. [`sets`]: equal sets become one, with the rows that have it; sets are numbered by size.
//! 3. [`order`]: the elements are counted, which puts them in one order for all sets, rarest first.
//! 4. [`index`]: each set shows its prefix, its first few elements in that order; the sets that show the same element
//!    form a group.
//! 5. [`search`]: within a group, pairs are taken whose sizes, positions and bitmaps allow a match, and verified on the
//!    sets themselves; a pair counts in the group of its first common element only.
//!    Where codes of all pairs are compared, they take the place of steps 3 to 5 ([`scan`]).
//!    Where the measure asks how much of the one set is in the other, steps 4 and 5 count instead ([`counting`]).
//! 6. [`output`]: pairs of sets become pairs of rows, filtered by the rest of the join's condition.
//!
//! Where pairs match by any of several conditions, all steps are done for one condition after the other, over rows that are kept after
//! the first ([`replay`]): later conditions leave out the pairs of earlier ones. An outer join, a semi join and an anti join mark
//! rows that have a partner, and give rows of an input after the last pair ([`output`]).
//!
//! What does not fit into the memory allowed is written to disk while it is read, and dealt into parts that fit ([`disk`],
//! [`memory`]); steps 2 to 6 run for one part after the other. The elements are counted on disk, and a row goes to the share of each
//! rank that it shows ([`spill`]) and that others show, too ([`shared_ranks`]). Where rows share so much that they would be in many
//! shares, they go into blocks by the sizes of their sets, and each block is joined with each whose sizes allow a match
//! ([`blocks`]), if that moves fewer rows. So do the rows of a share that comes out too large.
//!
//! Steps 1 to 4 run in parallel over the parts of the input; in steps 5 and 6 workers take tasks of about as many pairs of
//! sets off one list ([`work`]), and share the rows of sets that many rows have, so that neither a heavy group nor a heavy
//! set keeps one of them alone. [`run`] leads from the first step to the last.

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
