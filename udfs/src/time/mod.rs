//! Times: when a document came, in whatever form that is said.

mod time_of;

use datafusion_expr::ScalarUDF;

/// The functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![ScalarUDF::from(time_of::TimeOf::default())]
}
