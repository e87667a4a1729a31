//! The columns of documents as the user's files have them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::Result;

use crate::corpus::UserColumn;
use crate::export::noted_as_json;

/// The columns of documents as the user's files have them.
#[derive(Debug, Clone)]
pub(super) struct UserColumns {
    /// The place of each column among the columns of documents.
    places: Vec<usize>,
    pub(super) schema: SchemaRef,
}

impl UserColumns {
    /// Returns the columns of the user's files, or all columns as they are if nothing is known of the files. `ids_only`
    /// leaves out all but the id.
    pub(super) fn new(documents: &Schema, user: &[UserColumn], ids_only: bool) -> Self {
        let mut places = Vec::new();
        let mut fields: Vec<Field> = Vec::new();
        for column in user.iter().filter(|column| !ids_only || column.name == "doc_id") {
            let Ok(place) = documents.index_of(&column.name) else { continue };
            let field = documents.field(place);
            let whole = column.id_type.as_ref().filter(|id_type| id_type.is_integer());
            let data_type = whole.unwrap_or(field.data_type()).clone();
            let shown = Field::new(&column.given, data_type, field.is_nullable());
            fields.push(if column.is_json { noted_as_json(shown) } else { shown });
            places.push(place);
        }
        if places.is_empty() {
            let fields = if ids_only { &documents.fields()[..1] } else { documents.fields() };
            return Self { places: (0..fields.len()).collect(), schema: Arc::new(Schema::new(fields.to_vec())) };
        }
        Self { places, schema: Arc::new(Schema::new(fields)) }
    }

    pub(super) fn of(&self, documents: &RecordBatch) -> Result<RecordBatch> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let column = |(place, field): (&usize, &Arc<Field>)| {
            cast_with_options(documents.column(*place), field.data_type(), &strict)
        };
        let columns = self.places.iter().zip(self.schema.fields()).map(column).collect::<Result<_, _>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}
