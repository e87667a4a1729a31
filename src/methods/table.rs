//! The columns of the tables of a method, which are known before it runs.

use anyhow::Result;
use arrow::datatypes::{DataType, Field};

/// A method whose tables have known columns.
pub(crate) trait Tabular {
    /// Returns the columns of a table. Fails if the options do not determine them.
    fn schema(&self, table: &str) -> Result<Vec<Field>>;
}

pub(super) fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8View, true)
}

pub(super) fn int(name: &str) -> Field {
    Field::new(name, DataType::Int32, true)
}

pub(super) fn long(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

pub(super) fn float(name: &str) -> Field {
    Field::new(name, DataType::Float64, true)
}

pub(super) fn boolean(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}
