//! ibid finds text reuse exactly, says where it is, and does it in SQL.
//!
//! # Brief overview
//!
//! A corpus is a table of sentences, a signature is a column, reuse is a join, and a passage is an aggregate over that
//! join. ibid is [DataFusion](datafusion) with functions for text ([`ibid_udfs`]), a rule and an operator for joins
//! on the similarity of sets, and methods that are pipelines of SQL files.
//!
//! An [`Engine`] runs them, within its limits of memory and threads. A method is a builder ([`methods`]): options with defaults, and a
//! future that gives [`Found`], whose tables are DataFrames.
//!
//! A report, and an article that borrows three of its sentences, one of them edited:
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let engine = ibid::Engine::builder().memory(1 << 30).build()?;
//! let documents = engine
//!     .sql(
//!         "SELECT column1 AS doc_id, column2 AS text FROM (VALUES
//!             ('report', 'The board met on Monday. It approved the new ferry terminal by nine votes to two. Work will
//!                         begin in March and last two years. Dr. Lund put the cost at 40.5 million. Lunch followed.'),
//!             ('article', 'Good news for commuters! The board approved the new ferry terminal by nine votes to two.
//!                         Work will begin in March and last two years. Dr. Lund put the cost at 40.5 million.'))",
//!     )
//!     .await?;
//! let found = engine.passages(documents).await?;
//! let passages = found.dataframe("passages")?.select_columns(&["doc_a", "doc_b", "sent_a_start", "sent_b_start", "sentences"])?;
//! datafusion::assert_batches_eq!(
//!     [
//!         "+---------+--------+--------------+--------------+-----------+",
//!         "| doc_a   | doc_b  | sent_a_start | sent_b_start | sentences |",
//!         "+---------+--------+--------------+--------------+-----------+",
//!         "| article | report | 1            | 1            | 3         |",
//!         "+---------+--------+--------------+--------------+-----------+",
//!     ],
//!     &passages.collect().await?
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In SQL, methods are table functions, with options by name ([`Engine::sql`]), and their parts are functions:
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! # let engine = ibid::Engine::new()?;
//! engine
//!     .sql(
//!         "CREATE TABLE signatures AS SELECT column1 AS id, shingles(words(normalize(column2)), 2) AS set FROM (VALUES
//!             (1, 'Dear all, the meeting is on Monday at nine.'), (2, 'Dear all, the meeting is on Friday at nine.'))",
//!     )
//!     .await?;
//! let alike = "SELECT a.id, b.id FROM signatures AS a JOIN signatures AS b ON jaccard(a.set, b.set) >= 0.5 AND a.id < b.id";
//! assert_eq!(engine.sql(alike).await?.count().await?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`session`] gives a session with these functions and joins without an engine, and [`with_ibid`] adds them to a session that is being
//! built.

mod candidate_counts;
mod cluster;
mod config;
mod corpus;
mod datafusion_fixes;
mod engine;
mod error;
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
pub mod methods;
mod pipeline;
mod plan_properties;
#[doc(hidden)]
pub mod program;
mod recall;
mod records;
mod run;
mod seal;
mod similarity_join;
mod sql;
mod store;
mod stream;
mod strict_files;
mod table_functions;
mod terminal;
mod thrift;
mod weights;

/// The allocator of the program, so that tests measure what it does.
#[cfg(all(test, not(target_env = "msvc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

pub use config::{FilterOptions, Gpu, IbidOptions, SimilarityJoinOptions, Strategy};
pub use corpus::Skipped;
pub use engine::{Engine, EngineBuilder};
pub use error::{Cause, Error, Place};
pub use functions::scalar_functions;
pub use methods::{Found, Input, Signature, bytes};
pub use run::{Event, Summary};
pub use similarity_join::IbidCodec;
pub use sql::{session, with_ibid};
pub use store::StoreTraffic;
