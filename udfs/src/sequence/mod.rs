//! Sequences: the aligned sentence pairs of two documents become passages.

mod diagonals;

use datafusion_expr::AggregateUDF;

/// The aggregates of this family.
pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![AggregateUDF::from(diagonals::Diagonals::default())]
}
