//! The scalar functions of a session, with those that need an engine.

pub(crate) mod gpu;
mod hamming_within;

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

use self::hamming_within::HammingWithin;

/// Returns the scalar functions of ibid.
pub fn scalar_functions() -> Vec<Arc<ScalarUDF>> {
    let of_engine = ScalarUDF::from(HammingWithin::default());
    ibid_udfs::scalar_functions().into_iter().chain([Arc::new(of_engine)]).collect()
}
