//! ibid finds text reuse exactly, says where it is, and does it in SQL.
//!
//! # Brief overview
//!
//! A corpus is a table of sentences, a signature is a column, reuse is a join, and a passage is an aggregate over that
//! join. So ibid is [DataFusion](datafusion) with functions for text ([`ibid_udfs`]), a rule and an operator for joins
//! on the similarity of sets, and pipelines of SQL files that the command line ([`cli`]) runs. [`session`]
//! gives a session with all of it; [`with_ibid`] adds it to a session of your own.
//!
//! A report, and an article that borrows three of its sentences, one of them edited:
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let session = ibid::session(Default::default(), Default::default())?;
//! session
//!     .sql(
//!         "CREATE TABLE documents AS SELECT column1 AS doc_id, column2 AS text FROM (VALUES
//!             ('report', 'The board met on Monday. It approved the new ferry terminal by nine votes to two. Work will
//!                         begin in March and last two years. Dr. Lund put the cost at 40.5 million. Lunch followed.'),
//!             ('article', 'Good news for commuters! The board approved the new ferry terminal by nine votes to two.
//!                         Work will begin in March and last two years. Dr. Lund put the cost at 40.5 million.'))",
//!     )
//!     .await?;
//! session
//!     .sql(
//!         "CREATE TABLE signatures AS SELECT doc_id, s['sent'] AS sent, shingles(words(normalize(s['text'])), 3) AS set
//!          FROM (SELECT doc_id, unnest(sentences(text)) AS s FROM documents)",
//!     )
//!     .await?;
//! let passages = session
//!     .sql(
//!         "SELECT doc_a, doc_b, run['sent_a_start'] AS a, run['sent_b_start'] AS b, run['sentences'] AS sentences
//!          FROM (
//!              SELECT a.doc_id AS doc_a, b.doc_id AS doc_b, unnest(diagonals(a.sent, b.sent, 3, 0)) AS run
//!              FROM signatures AS a
//!              JOIN signatures AS b ON jaccard(a.set, b.set) >= 0.5 AND a.doc_id < b.doc_id
//!              GROUP BY a.doc_id, b.doc_id
//!          )",
//!     )
//!     .await?
//!     .collect()
//!     .await?;
//! datafusion::assert_batches_eq!(
//!     [
//!         "+---------+--------+---+---+-----------+",
//!         "| doc_a   | doc_b  | a | b | sentences |",
//!         "+---------+--------+---+---+-----------+",
//!         "| article | report | 1 | 1 | 3         |",
//!         "+---------+--------+---+---+-----------+",
//!     ],
//!     &passages
//! );
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidate_counts;
pub mod cli;
mod config;
mod corpus;
mod datafusion_fixes;
mod export;
mod functions;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
#[cfg(any(test, fuzzing))]
mod fuzzing;
mod index;
mod live_index;
mod memory;
mod pipeline;
mod recall;
mod seal;
mod similarity_join;
mod sql;
mod store;
mod stream;
mod strict_files;
mod terminal;
mod thrift;
mod weights;

/// The allocator of the program, so that tests measure what it does.
#[cfg(all(test, feature = "jemalloc", not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

pub use config::{FilterOptions, Gpu, IbidOptions, SimilarityJoinOptions, Strategy};
pub use functions::scalar_functions;
pub use similarity_join::IbidCodec;
pub use sql::{session, with_ibid};
