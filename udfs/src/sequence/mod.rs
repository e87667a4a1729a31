//! Sequences: the aligned sentence pairs of two documents become passages.

mod diagonals;
mod edges;
mod edited_passages;
mod shared_words;

use datafusion_expr::{AggregateUDF, ScalarUDF};

/// The functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![
        ScalarUDF::from(shared_words::SharedWords::default()),
        ScalarUDF::from(edited_passages::EditedPassages::default()),
    ]
}

/// The aggregates of this family.
pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![AggregateUDF::from(diagonals::Diagonals::default())]
}
