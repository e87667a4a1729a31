//! Rows of a result as values.

use std::ops::Range;

use anyhow::{Context, Result};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// A place in a document, in characters.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The document, by its number among those of the report.
    pub(super) document: usize,
    pub(super) characters: Range<i64>,
}

/// Two places that a result has found.
#[derive(Debug, Clone)]
pub(super) struct Match {
    pub(super) key: String,
    pub(super) a: Place,
    pub(super) b: Place,
    /// The start and the end of place a and then of place b, in sentences.
    pub(super) sentences: Option<[i64; 4]>,
    pub(super) similarity: Option<f64>,
    pub(super) kind: Option<String>,
    /// The further columns, as text.
    pub(super) fields: Vec<Option<String>>,
}

/// A place of a group.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) is_representative: bool,
    pub(super) similarity: Option<f64>,
}

/// A family or a cluster: places with the same or a similar text.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) is_ignored: bool,
    pub(super) documents: i64,
    pub(super) places: i64,
    /// The first of the places, and the representative.
    pub(super) shown: Vec<Member>,
}

/// The columns of a batch by name, cast to a type.
pub(super) struct Columns<'a>(pub(super) &'a RecordBatch);

impl Columns<'_> {
    fn column(&self, name: &str) -> Result<&ArrayRef> {
        self.0.column_by_name(name).with_context(|| format!("there is no column {name}"))
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Int64Array> {
        Ok(cast(self.column(name)?, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
    }

    pub(super) fn all_numbers<const N: usize>(&self, names: [&str; N]) -> Result<[Int64Array; N]> {
        let all = names.iter().map(|name| self.numbers(name)).collect::<Result<Vec<_>>>()?;
        all.try_into().ok().context("there are as many columns as names")
    }

    pub(super) fn shares(&self, name: &str) -> Result<Float64Array> {
        Ok(cast(self.column(name)?, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
    }

    pub(super) fn texts(&self, name: &str) -> Result<StringArray> {
        Ok(cast(self.column(name)?, &DataType::Utf8)?.as_string::<i32>().clone())
    }

    pub(super) fn flags(&self, name: &str) -> Result<BooleanArray> {
        Ok(self.column(name)?.as_boolean().clone())
    }

    /// Returns the values of a column of any type as text for people, each cut to `most` characters.
    pub(super) fn shown(&self, name: &str, most: usize) -> Result<Vec<Option<String>>> {
        let column = self.column(name)?;
        let format = ArrayFormatter::try_new(column, &FormatOptions::default())?;
        let value = |row: usize| -> Result<Option<String>> {
            if column.is_null(row) {
                return Ok(None);
            }
            let text = format.value(row).try_to_string()?;
            Ok(Some(match text.char_indices().nth(most) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }))
        };
        (0..column.len()).map(value).collect()
    }
}

/// Returns the value of a row, or `None` for NULL.
pub(super) fn number_of(column: &Int64Array, row: usize) -> Option<i64> {
    column.is_valid(row).then(|| column.value(row))
}

/// Returns the value of a row, or `None` for NULL.
pub(super) fn share_of(column: &Float64Array, row: usize) -> Option<f64> {
    column.is_valid(row).then(|| column.value(row))
}
