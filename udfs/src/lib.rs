//! The functions of ibid for DataFusion: text to sentences and tokens, tokens to signatures, signatures to
//! similarities, and aligned sentence pairs to passages.
//!
//! # Brief overview
//!
//! Functions compose from the inside out. Text becomes tokens (`text`), tokens become a *set* (`signature`), two sets
//! have a similarity ([`similarity`]), two texts have differences and a kind (`comparison`), similar pairs become
//! groups (`cluster`), and the aligned sentence pairs of two documents become runs (`sequence`). A set is a
//! `List<UInt64>` in ascending order without repeats or NULLs. The signature functions return sets, and the
//! similarities and the similarity join read them.
//!
//! The crate depends on DataFusion's function interfaces only, so that any engine with a [`FunctionRegistry`] can use
//! the functions:
//!
//! ```
//! use datafusion_expr::registry::{FunctionRegistry, MemoryFunctionRegistry};
//!
//! let mut registry = MemoryFunctionRegistry::new();
//! ibid_udfs::register_all(&mut registry)?;
//! assert!(registry.udf("shingles").is_ok());
//! assert!(registry.udaf("diagonals").is_ok());
//! # Ok::<(), datafusion_common::DataFusionError>(())
//! ```

mod arguments;
mod cluster;
mod comparison;
mod sequence;
mod signature;
pub mod similarity;
mod text;
mod time;

pub use ibid_codes::split_mix;
pub use text::{
    Language, LanguageChoice, SentenceRule, each_sentences, language_of, languages, sentence_fields, sentence_rules,
};

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_execution::memory_pool::{MemoryPool, UnboundedMemoryPool};
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

/// Registers every function of this crate. Window functions take as much memory as they want; see [`window_functions`].
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in scalar_functions() {
        registry.register_udf(function)?;
    }
    for function in aggregate_functions() {
        registry.register_udaf(function)?;
    }
    for function in window_functions(&unlimited()) {
        registry.register_udwf(function)?;
    }
    Ok(())
}

/// Returns every scalar function, family by family.
pub fn scalar_functions() -> Vec<Arc<ScalarUDF>> {
    [
        text::functions(),
        time::functions(),
        signature::functions(),
        similarity::functions(),
        comparison::functions(),
        sequence::functions(),
    ]
    .concat()
    .into_iter()
    .map(Arc::new)
    .collect()
}

/// Returns every aggregate function; each can be used as a window function, too.
pub fn aggregate_functions() -> Vec<Arc<AggregateUDF>> {
    [signature::aggregates(), sequence::aggregates(), cluster::aggregates()]
        .concat()
        .into_iter()
        .map(Arc::new)
        .collect()
}

/// Returns every window function, with the pool that limits its memory.
pub fn window_functions(pool: &Arc<dyn MemoryPool>) -> Vec<Arc<WindowUDF>> {
    sequence::windows(pool).into_iter().map(Arc::new).collect()
}

/// Returns a pool without a limit.
pub fn unlimited() -> Arc<dyn MemoryPool> {
    Arc::new(UnboundedMemoryPool::default())
}
