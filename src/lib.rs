//! ibid finds text reuse exactly, says where it is, and does it in SQL.

pub mod cli;
mod config;
mod corpus;
mod export;
mod ingest;
mod pipeline;
mod session;
mod similarity_join;

pub use config::{IbidOptions, SimilarityJoinOptions, Strategy};
pub use session::{session, with_ibid};
