//! The native module of the Python package `ibid`: engines, methods by name, and rows as Arrow streams. The Python code
//! in `ibid/` wraps it.

mod allocator;
mod collection;
mod connection;
mod errors;
mod found;
mod rows;
mod running;

use pyo3::prelude::*;

#[pymodule]
mod _ibid {
    use std::ffi::OsString;

    use super::{Bound, PyModule, PyModuleMethods, PyResult, pyfunction};
    use ibid::methods::NamedMethod;
    use pyo3::Python;

    #[pymodule_export]
    use super::collection::Collection;
    #[pymodule_export]
    use super::connection::Connection;
    #[pymodule_export]
    use super::found::Found;
    #[pymodule_export]
    use super::rows::Rows;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::allocator::configure();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Returns the options of a method, and those that all methods have.
    #[pyfunction]
    fn options(method: &str) -> Option<(Vec<&'static str>, Vec<&'static str>)> {
        NamedMethod::options(method).map(|(own, of_all)| (own.to_vec(), of_all.to_vec()))
    }

    /// Ends the threads that wait for work. The next call begins new ones.
    #[pyfunction]
    fn end_threads(py: Python<'_>) {
        py.detach(crate::running::end_threads);
    }

    /// Runs the program with these arguments, of which the first is its name. Returns the exit code.
    #[pyfunction]
    fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| ibid_cli::run(&arguments, crate::allocator::give_back))
    }
}
