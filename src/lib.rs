//! ibid finds text reuse exactly, says where it is, and does it in SQL.

mod config;
mod session;
mod similarity_join;

pub use config::{IbidOptions, SimilarityJoinOptions, Strategy};
pub use session::{session, with_ibid};
