//! Two texts side by side: their differences, and the kind of copy that one is of the other.

mod alignment;
mod differences;
mod kind;
mod lexicon;
mod reference;
mod reuse_kind;
mod statement;

use datafusion_expr::ScalarUDF;

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![ScalarUDF::from(differences::Differences::default()), ScalarUDF::from(reuse_kind::ReuseKind::default())]
}
