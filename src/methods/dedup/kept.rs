//! The documents that stay: rows without those that go, texts without the pieces that are cut out.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringBuilder};
use arrow::compute::{CastOptions, cast, cast_with_options, filter_record_batch};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema, SchemaRef};
use datafusion::common::{Result, exec_err};

use crate::corpus::UserColumn;

/// The documents and pieces that go, by the positions of the documents.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    documents: Vec<u64>,
    /// Ranges of bytes, ascending.
    parts: HashMap<u64, Vec<Range<usize>>>,
}

impl Cuts {
    /// Takes rows of positions, ascending, and where pieces are cut out, of their first byte and that of the next piece.
    pub(super) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        let positions = rows.column(0).as_primitive::<Int64Type>();
        let positions = positions.values().iter().map(|position| position.cast_unsigned());
        if rows.num_columns() == 1 {
            self.documents.extend(positions);
            return Ok(());
        }
        let (starts, ends) = (cast(rows.column(1), &DataType::Int32)?, cast(rows.column(2), &DataType::Int32)?);
        let (starts, ends) = (starts.as_primitive::<Int32Type>(), ends.as_primitive::<Int32Type>());
        let byte = |offset: i32| usize::try_from(offset).unwrap_or_default();
        for (row, position) in positions.enumerate() {
            let end = if ends.is_null(row) { usize::MAX } else { byte(ends.value(row)) };
            self.parts.entry(position).or_default().push(byte(starts.value(row))..end);
        }
        Ok(())
    }

    /// Returns what stays of a text; nothing where that is white space alone, or where the document goes.
    fn kept(&self, position: u64, text: &str) -> Option<String> {
        let Some(parts) = self.parts.get(&position) else { return Some(text.to_owned()) };
        let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
        for part in parts {
            kept.push_str(&text[at..part.start.min(text.len())]);
            at = part.end.min(text.len());
        }
        kept.push_str(&text[at..]);
        if kept.trim().is_empty() { None } else { Some(kept) }
    }

    /// Returns the rows of documents that stay, of which the first has this position.
    pub(super) fn apply(&self, first: u64, documents: &RecordBatch) -> Result<RecordBatch> {
        let positions = first..first + documents.num_rows() as u64;
        if self.parts.is_empty() {
            let kept: BooleanArray =
                positions.map(|position| Some(self.documents.binary_search(&position).is_err())).collect();
            return Ok(filter_record_batch(documents, &kept)?);
        }
        if positions.clone().all(|position| !self.parts.contains_key(&position)) {
            return Ok(documents.clone());
        }
        let Some((at, _)) = documents.schema().column_with_name("text") else {
            return exec_err!("internal error: documents without a text; please report it");
        };
        let texts = cast(documents.column(at), &DataType::Utf8View)?;
        let texts = texts.as_string_view();
        let (mut cut, mut stays) = (StringBuilder::new(), Vec::with_capacity(documents.num_rows()));
        for (row, position) in positions.enumerate() {
            let kept = self.kept(position, texts.value(row));
            stays.push(kept.is_some());
            cut.append_value(kept.unwrap_or_default());
        }
        let mut columns = documents.columns().to_vec();
        let cut: ArrayRef = Arc::new(cut.finish());
        columns[at] = cast(&cut, documents.column(at).data_type())?;
        let documents = RecordBatch::try_new(documents.schema(), columns)?;
        Ok(filter_record_batch(&documents, &BooleanArray::from(stays))?)
    }
}

/// The columns of the documents as the user's files have them.
#[derive(Debug, Clone)]
pub(super) struct UserColumns {
    /// The place of each among the columns of documents.
    places: Vec<usize>,
    pub(super) schema: SchemaRef,
}

impl UserColumns {
    /// Returns all columns as they are where nothing is known of the files.
    pub(super) fn new(documents: &Schema, user: &[UserColumn]) -> Self {
        let mut places = Vec::new();
        let mut fields: Vec<Field> = Vec::new();
        for column in user {
            let Ok(place) = documents.index_of(&column.name) else { continue };
            let field = documents.field(place);
            let whole = column.id_type.as_ref().filter(|id_type| id_type.is_integer());
            let data_type = whole.unwrap_or(field.data_type()).clone();
            fields.push(Field::new(&column.given, data_type, field.is_nullable()));
            places.push(place);
        }
        if places.is_empty() {
            return Self { places: (0..documents.fields().len()).collect(), schema: Arc::new(documents.clone()) };
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
