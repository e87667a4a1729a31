//! Sequences: the aligned words and sentences of two documents become passages.

mod aligned_words;
mod common_runs;
mod diagonals;
mod edges;
mod edited_passages;
mod fingerprints;
mod located_words;
mod mark_words;
mod repeated_runs;
mod shared_fingerprints;
mod shared_part;
mod shared_words;
mod slice_words;
mod word_sequence;

use std::sync::Arc;

use datafusion_execution::memory_pool::MemoryPool;
use datafusion_expr::{AggregateUDF, ScalarUDF, WindowUDF};

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(word_sequence::WordSequence::default()),
        ScalarUDF::from(fingerprints::Fingerprints::default()),
        ScalarUDF::from(shared_fingerprints::SharedFingerprints::default()),
        ScalarUDF::from(aligned_words::AlignedWords::default()),
        ScalarUDF::from(common_runs::CommonRuns::default()),
        ScalarUDF::from(mark_words::MarkWords::default()),
        ScalarUDF::from(slice_words::SliceWords::default()),
        ScalarUDF::from(shared_part::SharedPart::default()),
        ScalarUDF::from(located_words::LocatedWords::default()),
        ScalarUDF::from(shared_words::SharedWords::default()),
        ScalarUDF::from(edited_passages::EditedPassages::default()),
    ]
}

/// Returns the aggregates of this family.
pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![AggregateUDF::from(diagonals::Diagonals::default())]
}

/// Returns the window functions of this family.
pub(crate) fn windows(pool: &Arc<dyn MemoryPool>) -> Vec<WindowUDF> {
    vec![WindowUDF::from(repeated_runs::RepeatedRuns::new(Arc::clone(pool)))]
}
