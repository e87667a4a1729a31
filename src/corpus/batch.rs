//! From records to Arrow batches of bounded size.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch, StringBuilder, new_null_array,
};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use ibid_wikitext::Section;

use super::mediawiki::sections::{self, SectionsBuilder};

/// A batch is closed at this many rows…
pub(crate) const BATCH_ROWS: usize = 8192;

/// …or at this many bytes of text, whichever comes first.
pub(crate) const BATCH_BYTES: usize = 4 << 20;

/// The bytes that a value takes in a column, NULL or not, in addition to its text.
pub(super) const VALUE_BYTES: usize = 8;

/// The bytes that a section takes, with a heading of a few words.
const SECTION_BYTES: usize = 64;

/// A value of a user column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Sections(Vec<Section>),
}

fn does_not_fit(cell: Cell) -> ArrowError {
    ArrowError::CastError(format!("{cell:?} does not fit its column"))
}

/// One document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The number of its record in the file, from 1.
    pub(crate) record: u64,
    /// The line on which it begins, in a file that has lines.
    pub(crate) line: Option<u64>,
    pub(crate) id: String,
    pub(crate) text: String,
    /// The other columns that are not NULL, by their index in the schema.
    pub(crate) others: Vec<(usize, Cell)>,
}

enum Builder {
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Float(Float64Builder),
    Text(StringBuilder),
    Sections(Box<SectionsBuilder>),
    /// A type that only Parquet has. Parquet files give whole batches, so rows of other files are NULL here.
    Null,
}

impl Builder {
    fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Bool(BooleanBuilder::new()),
            DataType::Int64 => Self::Int(Int64Builder::new()),
            DataType::Float64 => Self::Float(Float64Builder::new()),
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            other if *other == sections::data_type() => Self::Sections(Box::default()),
            _ => Self::Null,
        }
    }

    fn append_nulls(&mut self, n: usize) {
        match self {
            Self::Bool(b) => b.append_nulls(n),
            Self::Int(b) => b.append_nulls(n),
            Self::Float(b) => b.append_nulls(n),
            Self::Text(b) => b.append_nulls(n),
            Self::Sections(b) => b.append_nulls(n),
            Self::Null => {}
        }
    }

    /// Appends a value of the document whose text is `text`. Fails if the value does not fit the type of the column.
    fn append(&mut self, cell: Cell, text: &str) -> Result<(), ArrowError> {
        match (self, cell) {
            (Self::Bool(b), Cell::Bool(v)) => b.append_value(v),
            (Self::Int(b), Cell::Int(v)) => b.append_value(v),
            (Self::Float(b), Cell::Float(v)) => b.append_value(v),
            (Self::Text(b), Cell::Text(v)) => b.append_value(v),
            // The column is text because of another file, so the page numbers of a dump become text.
            (Self::Text(b), Cell::Int(v)) => b.append_value(v.to_string()),
            (Self::Sections(b), Cell::Sections(v)) => b.append(&v, text)?,
            (_, cell) => return Err(does_not_fit(cell)),
        }
        Ok(())
    }

    fn finish(&mut self, data_type: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Bool(b) => Arc::new(b.finish()),
            Self::Int(b) => Arc::new(b.finish()),
            Self::Float(b) => Arc::new(b.finish()),
            Self::Text(b) => Arc::new(b.finish()),
            Self::Sections(b) => b.finish()?,
            Self::Null => new_null_array(data_type, rows),
        })
    }
}

/// A builder of Arrow batches from rows.
///
/// Offsets of 32 bits suffice: a batch is closed at 4 MiB, and no record is longer than 256 MiB.
pub(crate) struct BatchBuilder {
    schema: SchemaRef,
    ids: StringBuilder,
    texts: StringBuilder,
    /// The other columns, each with its number of rows. Missing NULLs are appended before its next value.
    others: Vec<(Builder, usize)>,
    rows: usize,
    bytes: usize,
}

impl BatchBuilder {
    pub(crate) fn new(schema: SchemaRef) -> Self {
        let others = schema.fields().iter().skip(2).map(|f| (Builder::new(f.data_type()), 0)).collect();
        Self { schema, ids: StringBuilder::new(), texts: StringBuilder::new(), others, rows: 0, bytes: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    pub(crate) fn push(&mut self, row: Row) -> Result<(), ArrowError> {
        self.bytes += row.id.len() + row.text.len() + self.others.len() * VALUE_BYTES;
        self.ids.append_value(row.id);
        for (index, cell) in row.others {
            self.bytes += match &cell {
                Cell::Text(text) => text.len(),
                Cell::Sections(sections) => sections.len() * SECTION_BYTES,
                _ => 0,
            };
            let (builder, filled) = &mut self.others[index - 2];
            builder.append_nulls(self.rows - *filled);
            builder.append(cell, &row.text)?;
            *filled = self.rows + 1;
        }
        self.texts.append_value(row.text);
        self.rows += 1;
        Ok(())
    }

    /// Returns the rows so far as a batch. The builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(self.ids.finish()), Arc::new(self.texts.finish())];
        for ((builder, filled), field) in self.others.iter_mut().zip(self.schema.fields().iter().skip(2)) {
            builder.append_nulls(self.rows - *filled);
            *filled = 0;
            arrays.push(builder.finish(field.data_type(), self.rows)?);
        }
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{Field, Float64Type, Schema};

    use super::*;

    fn row(record: u64, text: &str, others: Vec<(usize, Cell)>) -> Row {
        Row { record, line: None, id: record.to_string(), text: text.to_owned(), others }
    }

    #[test]
    fn missing_values_are_null_wherever_they_are() {
        let schema = Schema::new(vec![
            Field::new("doc_id", DataType::Utf8, false),
            Field::new("text", DataType::Utf8, false),
            Field::new("n", DataType::Float64, true),
            Field::new("day", DataType::Date32, true),
        ]);
        let mut builder = BatchBuilder::new(Arc::new(schema));
        for round in 0..2 {
            builder.push(row(1, "a", vec![])).unwrap();
            builder.push(row(2, "b", vec![(2, Cell::Float(7.0))])).unwrap();
            builder.push(row(3, "c", vec![])).unwrap();
            let batch = builder.finish().unwrap();
            let n = batch.column(2).as_primitive::<Float64Type>();
            assert_eq!(n.iter().collect::<Vec<_>>(), [None, Some(7.0), None], "round {round}");
            assert_eq!(batch.column(3).null_count(), 3);
            assert!(builder.is_empty());
        }
    }

    #[test]
    fn a_batch_is_full_by_rows_or_by_bytes() {
        let builder = |columns: usize| {
            let fields = (0..columns).map(|i| Field::new(format!("c{i}"), DataType::Utf8, true));
            BatchBuilder::new(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
        };
        let mut wide = builder(2 + 4096);
        (0..128).for_each(|record| wide.push(row(record, "", vec![])).unwrap());
        assert!(wide.is_full());
        let mut builder = builder(2);
        builder.push(row(1, &"x".repeat(BATCH_BYTES), vec![])).unwrap();
        assert!(builder.is_full());
        builder.finish().unwrap();
        for record in 0..BATCH_ROWS {
            assert!(!builder.is_full());
            builder.push(row(record as u64, "", vec![])).unwrap();
        }
        assert!(builder.is_full());
    }
}
