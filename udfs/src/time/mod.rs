//! Times: the time of a document, in whatever form it is given.

mod time_of;

use datafusion_expr::ScalarUDF;

/// Returns the functions of this family.
pub(crate) fn functions() -> Vec<ScalarUDF> {
    vec![ScalarUDF::from(time_of::TimeOf::default())]
}
