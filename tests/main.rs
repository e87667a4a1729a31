//! The one integration binary: SQL logic tests, the join against its oracle, documentation, and the program itself.

mod documentation;
mod similarity_join;
mod slt;
