//! Columns that annotate documents, if no document is left out.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::{Result, exec_err};

/// The columns that annotate documents: `is_kept`, and the columns of rows that some documents have.
#[derive(Debug)]
pub(super) struct Annotations {
    rows: RecordBatch,
    /// The row of a document, by its position.
    places: HashMap<i64, u64>,
}

impl Annotations {
    /// Takes rows whose first column is the position of a document.
    pub(super) fn new(rows: &RecordBatch) -> Result<Self> {
        let positions = rows.column(0).as_primitive::<Int64Type>().values().iter().copied();
        let places = positions.zip(0..).collect();
        let others: Vec<_> = (1..rows.num_columns()).collect();
        Ok(Self { rows: rows.project(&others)?, places })
    }

    /// Returns the columns of documents, followed by the annotations. Fails if two columns have the same name.
    pub(super) fn schema(&self, documents: &Schema) -> Result<SchemaRef> {
        let is_kept = Arc::new(Field::new("is_kept", DataType::Boolean, false));
        let rows = self.rows.schema();
        let others = rows.fields().iter().map(|field| Arc::new(field.as_ref().clone().with_nullable(true)));
        let ours: Vec<_> = std::iter::once(is_kept).chain(others).collect();
        if let Some(field) = ours.iter().find(|field| documents.column_with_name(field.name()).is_some()) {
            return exec_err!(
                "the documents already have a column {}, which `annotate` would add; rename it, or leave out \
                 `annotate`",
                field.name()
            );
        }
        Ok(Arc::new(Schema::new(documents.fields().iter().cloned().chain(ours).collect::<Vec<_>>())))
    }

    /// Returns documents with the annotations. `first` is the position of the first document.
    pub(super) fn of(
        &self,
        first: u64,
        documents: &RecordBatch,
        stays: BooleanArray,
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let positions = first..first + documents.num_rows() as u64;
        let places: UInt64Array = positions.map(|position| self.places.get(&position.cast_signed()).copied()).collect();
        let mut columns = documents.columns().to_vec();
        columns.push(Arc::new(stays));
        for column in self.rows.columns() {
            columns.push(take(column, &places, None)?);
        }
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}
