//! The documents that are removed, and the pieces that are cut out of texts.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringBuilder};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::common::{Result, exec_err};

/// The documents and pieces that are removed, by the positions of the documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cuts {
    /// The positions of removed documents, ascending.
    documents: Vec<u64>,
    /// The ranges of bytes that are cut out, ascending.
    parts: HashMap<u64, Vec<Range<usize>>>,
}

impl Cuts {
    /// Adds rows of positions, ascending. Rows of pieces that are cut out also have the first byte of the piece, and of
    /// the next piece.
    pub(crate) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        let positions = rows.column(0).as_primitive::<Int64Type>();
        let positions = positions.values().iter().map(|position| position.cast_unsigned());
        if rows.num_columns() == 1 {
            self.documents.extend(positions);
            self.documents.sort_unstable();
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

    /// Returns a text without the pieces that are cut out, or `None` if only white space is left. Of the white space
    /// before and after a cut, the part with fewer line breaks is removed, too.
    fn kept(&self, position: u64, text: &str) -> Option<String> {
        let Some(parts) = self.parts.get(&position) else { return Some(text.to_owned()) };
        let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
        for part in parts {
            let (start, end) = (part.start.min(text.len()), part.end.min(text.len()));
            kept.push_str(&text[at..start]);
            let (before, behind) = (&kept[kept.trim_end().len()..], &text[end..]);
            let behind = &behind[..behind.len() - behind.trim_start().len()];
            let breaks = |space: &str| space.matches('\n').count();
            at = end;
            if before.len() == kept.len() || !before.is_empty() && breaks(before) >= breaks(behind) {
                at += behind.len();
            } else if !before.is_empty() && !behind.is_empty() {
                kept.truncate(kept.len() - before.len());
            }
        }
        kept.push_str(&text[at..]);
        if kept.trim().is_empty() { None } else { Some(kept) }
    }

    /// Returns true if only whole documents are removed, or nothing.
    pub(super) fn is_of_documents(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns which rows of documents are kept, and their texts without the pieces that are cut out, if there are any.
    /// `first` is the position of the first document.
    fn of(&self, first: u64, documents: &RecordBatch) -> Result<(BooleanArray, Option<ArrayRef>)> {
        let positions = first..first + documents.num_rows() as u64;
        if positions.clone().all(|position| !self.parts.contains_key(&position)) {
            let stays = positions.map(|position| Some(self.documents.binary_search(&position).is_err())).collect();
            return Ok((stays, None));
        }
        let Some(texts) = documents.column_by_name("text") else {
            return exec_err!("internal error: documents without a text; please report it");
        };
        let view = cast(texts, &DataType::Utf8View)?;
        let view = view.as_string_view();
        let (mut cut, mut stays) = (StringBuilder::new(), Vec::with_capacity(documents.num_rows()));
        for (row, position) in positions.enumerate() {
            let kept = self.kept(position, view.value(row));
            stays.push(kept.is_some() && self.documents.binary_search(&position).is_err());
            cut.append_value(kept.unwrap_or_default());
        }
        let cut: ArrayRef = Arc::new(cut.finish());
        Ok((BooleanArray::from(stays), Some(cast(&cut, texts.data_type())?)))
    }

    /// Returns which rows of documents are kept. `first` is the position of the first document.
    pub(super) fn stays(&self, first: u64, documents: &RecordBatch) -> Result<BooleanArray> {
        Ok(self.of(first, documents)?.0)
    }

    /// Returns the rows of documents that are kept. `first` is the position of the first document.
    pub(crate) fn apply(&self, first: u64, documents: &RecordBatch) -> Result<RecordBatch> {
        let (stays, texts) = self.of(first, documents)?;
        let Some(texts) = texts else { return Ok(filter_record_batch(documents, &stays)?) };
        let mut columns = documents.columns().to_vec();
        columns[documents.schema().index_of("text")?] = texts;
        let documents = RecordBatch::try_new(documents.schema(), columns)?;
        Ok(filter_record_batch(&documents, &stays)?)
    }
}
