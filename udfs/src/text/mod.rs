//! Text: documents become sentences, sentences become tokens.

use datafusion_expr::ScalarUDF;

/// The functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![]
}
