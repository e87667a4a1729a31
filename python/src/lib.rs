//! The native module of the Python package `ibid`.

use pyo3::prelude::*;

#[pymodule]
mod _ibid {
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
