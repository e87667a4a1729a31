use ibid::{Error, Place};
use pyo3::prelude::*;

/// Returns an error as the exception of its kind.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    of_kind(py, error.kind(), &error.to_string(), error.place())
}

/// Returns the exception of a kind, which `ibid/errors.py` makes.
pub(crate) fn of_kind(py: Python<'_>, kind: &str, text: &str, place: Option<Place>) -> PyErr {
    let place = place.map(|place| (place.file, place.line, place.byte, place.record));
    let made = py.import("ibid.errors").and_then(|errors| errors.getattr("of_kind")?.call1((kind, text, place)));
    made.map_or_else(|error| error, PyErr::from_value)
}
