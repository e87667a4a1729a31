//! Parquet, row group by row group, all columns. User columns keep their Arrow types.
//!
//! The text column is text, or bytes that are UTF-8; the id column is text or whole numbers. Records have no lines:
//! errors name them by number.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, StringViewArray, UInt64Array, new_null_array};
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;

use super::batch::{BATCH_BYTES, BATCH_ROWS};
use super::columns::{FileColumns, Kind};
use super::paths::InputFile;
use super::problem::Problem;
use super::{Context, Item};
use crate::store;

/// Runs a call into the Parquet reader. A damaged file can make the reader panic, on sums that overflow and indices out
/// of range: such a file is bad input like any other. What panicked is dropped, never used again.
fn guarded<T>(file: &str, call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Box<Problem>> {
    let reason = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(ParquetError::External(error))) if error.is::<io::Error>() => {
            return Err(Problem::new(file, error.to_string())
                .remedy("run it again, or read what can be read with --on-error skip"));
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the Parquet reader broke down on it".to_owned(),
    };
    Err(Problem::new(file, format!("not a sound Parquet file ({reason})"))
        .remedy("write the file again, or read what can be read with --on-error skip"))
}

fn open(file: &InputFile) -> Result<(store::Source, ArrowReaderMetadata), Box<Problem>> {
    let opened = file.source().map_err(|e| Problem::new(&file.label, format!("cannot open it: {e}")))?;
    let metadata = guarded(&file.label, || ArrowReaderMetadata::load(&opened, ArrowReaderOptions::new()))?;
    Ok((opened, metadata))
}

/// The columns of the file.
pub(crate) fn columns(file: &InputFile) -> Result<Option<FileColumns>, Box<Problem>> {
    let (_, metadata) = open(file)?;
    let mut columns = FileColumns::default();
    for field in metadata.schema().fields() {
        if columns.add(field.name(), Kind::of_type(field.data_type())).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(columns))
}

/// The file's schema with text and bytes as views. Views point into the pages that were read, so that a value that is
/// stored once and stands in many rows is in memory once.
fn as_views(schema: &Schema) -> SchemaRef {
    let view = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        DataType::Binary | DataType::LargeBinary => {
            Arc::new(field.as_ref().clone().with_data_type(DataType::BinaryView))
        }
        _ => Arc::clone(field),
    };
    Arc::new(Schema::new_with_metadata(schema.fields().iter().map(view).collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The documents of a file.
pub(crate) fn batches(
    context: Context,
) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let (file, metadata) = open(&context.file)?;
    let options = ArrowReaderOptions::new().with_schema(as_views(metadata.schema()));
    let metadata =
        guarded(&context.file.label, || ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options))?;
    let groups = metadata.metadata().num_row_groups();
    Ok(Batches { context, file, metadata, groups: 0..groups, reader: None, record: 0, ready: Vec::new(), ended: false })
}

struct Batches {
    context: Context,
    file: store::Source,
    metadata: ArrowReaderMetadata,
    /// The row groups that have not been begun.
    groups: std::ops::Range<usize>,
    reader: Option<ParquetRecordBatchReader>,
    /// How many records have been read.
    record: u64,
    /// What has been read and not been given, last first.
    ready: Vec<Result<Item, Box<Problem>>>,
    ended: bool,
}

impl Iterator for Batches {
    type Item = Result<Item, Box<Problem>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.ready.pop() {
                return Some(item);
            }
            if self.ended {
                return None;
            }
            match self.read() {
                Ok(Some(batch)) => self.split(&batch),
                Ok(None) => self.ended = true,
                Err(problem) => {
                    self.ended = true;
                    return Some(Err(problem.in_record(self.record + 1)));
                }
            }
        }
    }
}

impl Batches {
    /// The next batch as the file has it.
    fn read(&mut self) -> Result<Option<RecordBatch>, Box<Problem>> {
        let label = &self.context.file.label;
        loop {
            if let Some(reader) = &mut self.reader {
                match guarded(label, || reader.next().transpose().map_err(ParquetError::from))? {
                    Some(batch) => return Ok(Some(batch)),
                    None => self.reader = None,
                }
            }
            let Some(group) = self.groups.next() else { return Ok(None) };
            let rows = rows_at_once(&self.metadata, group);
            let (file, metadata) = (&self.file, self.metadata.clone());
            self.reader = Some(guarded(label, || {
                let columns = metadata.metadata().file_metadata().schema_descr().num_columns();
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.for_readers(columns)?, metadata)
                    .with_row_groups(vec![group])
                    .with_batch_size(rows)
                    .build()
            })?);
        }
    }

    /// Makes `ready` of a batch: batches of bounded size of its good rows, and the problems of the others.
    fn split(&mut self, batch: &RecordBatch) {
        let first = self.record + 1;
        self.record += batch.num_rows() as u64;
        // Guarded too, since what a damaged file decodes to is not checked by the reader in all its parts.
        let source = || Ok(Source::try_new(&self.context, batch, first).and_then(|source| source.split()));
        match guarded(&self.context.file.label, source).flatten() {
            Ok(items) => self.ready = items,
            Err(problem) => {
                self.ended = true;
                self.ready = vec![Err(problem)];
            }
        }
        self.ready.reverse();
    }
}

/// How many rows to read at once, so that a batch holds about 16 MiB when the rows are alike.
fn rows_at_once(metadata: &ArrowReaderMetadata, group: usize) -> usize {
    let group = metadata.metadata().row_group(group);
    let rows = usize::try_from(group.num_rows()).unwrap_or(0).max(1);
    let bytes = usize::try_from(group.total_byte_size()).unwrap_or(0);
    (BATCH_BYTES / (bytes / rows).max(1)).clamp(1, BATCH_ROWS)
}

/// A batch as read, with its text and ids, from which batches of documents are made.
struct Source<'a> {
    context: &'a Context,
    batch: &'a RecordBatch,
    /// The number of the first record.
    first: u64,
    texts: StringViewArray,
    ids: Option<StringViewArray>,
}

impl<'a> Source<'a> {
    fn try_new(context: &'a Context, batch: &'a RecordBatch, first: u64) -> Result<Self, Box<Problem>> {
        let label = &context.file.label;
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| {
                Problem::new(label, format!("the column {name:?} is gone: the file changes while it is read"))
            })
        };
        let roles = &context.roles;
        let texts = match &roles.text {
            None => std::iter::repeat_n(Some(""), batch.num_rows()).collect(),
            Some(name) => {
                let given = column(name)?;
                let wanted = if roles.text_is_optional { Wanted::Plain } else { Wanted::Text };
                let texts = as_text(label, name, given, wanted)?;
                let is_missing = |row: usize| roles.text_is_optional && given.is_null(row);
                let filled =
                    || texts.iter().enumerate().map(|(row, text)| if is_missing(row) { Some("") } else { text });
                if given.null_count() > 0 { filled().collect() } else { texts }
            }
        };
        let ids = match &roles.id {
            Some(name) => Some(as_text(label, name, column(name)?, Wanted::Id)?),
            None => None,
        };
        Ok(Self { context, batch, first, texts, ids })
    }

    /// Batches of at most about 16 MiB, and the problems of the rows that are left out.
    fn split(&self) -> Result<Vec<Result<Item, Box<Problem>>>, Box<Problem>> {
        let mut items = Vec::new();
        let mut rows = Vec::new();
        let mut bytes = 0;
        for row in 0..self.batch.num_rows() {
            if let Some(problem) = self.problem(row) {
                items.push(Err(problem.in_record(self.first + row as u64)));
                continue;
            }
            rows.push(row as u64);
            bytes += self.batch.columns().iter().map(|column| bytes_at(column, row)).sum::<usize>();
            if bytes >= BATCH_BYTES {
                items.push(Ok(self.documents(std::mem::take(&mut rows))?));
                bytes = 0;
            }
        }
        if !rows.is_empty() {
            items.push(Ok(self.documents(rows)?));
        }
        Ok(items)
    }

    /// What is wrong with a row, if anything is.
    fn problem(&self, row: usize) -> Option<Box<Problem>> {
        let Context { file, roles, limit, .. } = self.context;
        if self.texts.is_null(row) {
            let name = roles.text.as_deref().unwrap_or_default();
            return Some(Problem::new(&file.label, format!("the text, {name:?}, is NULL or not UTF-8")));
        }
        if self.texts.value(row).len() > *limit {
            return Some(Problem::too_long(&file.label, "the text", *limit));
        }
        let ids = self.ids.as_ref()?;
        (ids.is_null(row) || ids.value(row).is_empty()).then(|| {
            let name = roles.id.as_deref().unwrap_or_default();
            Problem::new(&file.label, format!("the id, {name:?}, is NULL, empty or not UTF-8"))
        })
    }

    /// The documents of these rows.
    fn documents(&self, rows: Vec<u64>) -> Result<Item, Box<Problem>> {
        let Context { file, schema, columns, roles, .. } = self.context;
        let failed = |error: ArrowError| Problem::new(&file.label, format!("its values do not fit together ({error})"));
        let records: Vec<u64> = rows.iter().map(|row| self.first + row).collect();
        let rows = UInt64Array::from(rows);
        // Only these rows become text with offsets: a batch of views may stand for more text than fits into memory.
        let pick = |column: &dyn Array, to: &DataType| {
            take(column, &rows, None).and_then(|picked| cast_with_options(&picked, to, &STRICT)).map_err(failed)
        };
        let mut arrays = vec![None; schema.fields().len()];
        arrays[0] = Some(match &self.ids {
            Some(ids) => pick(ids, &DataType::Utf8)?,
            None => Arc::new(StringArray::from_iter_values(records.iter().map(|n| self.context.record_id(*n)))),
        });
        arrays[1] = Some(pick(&self.texts, &DataType::Utf8)?);
        for (field, column) in self.batch.schema_ref().fields().iter().zip(self.batch.columns()) {
            if roles.takes(field.name()) {
                continue;
            }
            if let Some(&index) = columns.get(field.name()) {
                arrays[index] = Some(pick(column, schema.field(index).data_type())?);
            }
        }
        let filled = arrays.into_iter().zip(schema.fields());
        let arrays = filled.map(|(array, f)| array.unwrap_or_else(|| new_null_array(f.data_type(), rows.len())));
        let batch = RecordBatch::try_new(Arc::clone(schema), arrays.collect()).map_err(failed)?;
        Ok(Item::Batch { batch, records })
    }
}

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

/// What a column has to be to be read as text.
#[derive(Clone, Copy)]
enum Wanted {
    Text,
    /// Text or whole numbers.
    Id,
    /// Text, or what has a plain form as text.
    Plain,
}

impl Wanted {
    fn takes(self, data_type: &DataType) -> bool {
        match self {
            Self::Text => false,
            Self::Id => data_type.is_integer(),
            Self::Plain => data_type.is_numeric() || data_type.is_temporal() || *data_type == DataType::Boolean,
        }
    }
}

/// The text or id column as text. Bytes that are not UTF-8 become NULL.
fn as_text(file: &str, name: &str, column: &ArrayRef, wanted: Wanted) -> Result<StringViewArray, Box<Problem>> {
    let readable = match column.data_type() {
        DataType::Utf8View => true,
        DataType::BinaryView => {
            let bytes = column.as_binary_view();
            return Ok(bytes.iter().map(|value| value.and_then(|v| std::str::from_utf8(v).ok())).collect());
        }
        DataType::Dictionary(_, values) => {
            matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        data_type => wanted.takes(data_type),
    };
    let called = match wanted {
        Wanted::Text => "text",
        Wanted::Id => "text or whole numbers",
        Wanted::Plain => "text, a number or a date",
    };
    let wrong = |why: &dyn std::fmt::Display| {
        Problem::new(file, format!("the column {name:?} is {why}, not {called}"))
            .remedy("name another with --text-column or --id-column, or give the column that type")
    };
    if !readable {
        return Err(wrong(column.data_type()));
    }
    let text = cast_with_options(column, &DataType::Utf8View, &STRICT).map_err(|e| wrong(&e))?;
    text.as_string_view_opt().cloned().ok_or_else(|| wrong(text.data_type()))
}

/// How much text or bytes a column has in a row.
fn bytes_at(column: &ArrayRef, row: usize) -> usize {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().value(row).len(),
        DataType::BinaryView => column.as_binary_view().value(row).len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, ListArray};
    use arrow::datatypes::{Int32Type, TimeUnit};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::super::Options;
    use super::super::testing::{Folder, documents, skip};
    use super::*;

    fn write(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn of(columns: Vec<(&str, ArrayRef)>) -> Folder {
        Folder::of(&[("a.parquet", &write(columns))])
    }

    fn strings(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn columns_keep_their_types() {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None]);
        let times = arrow::array::TimestampMicrosecondArray::from(vec![1, 2]);
        let folder = of(vec![
            ("id", Arc::new(Int64Array::from(vec![7, 8]))),
            ("when", Arc::new(times)),
            ("text", strings(&[Some("a"), Some("b")])),
            ("list", Arc::new(list)),
            ("large", Arc::new(LargeStringArray::from(vec!["x", "y"]))),
        ]);
        let batch = folder.batch(&["a.parquet"], &Options::default()).unwrap();
        let types: Vec<_> = batch.schema().fields().iter().map(|f| f.data_type().clone()).collect();
        let expected = [
            DataType::Utf8,
            DataType::Utf8,
            DataType::Timestamp(TimeUnit::Microsecond, None),
            DataType::new_list(DataType::Int32, true),
            DataType::LargeUtf8,
        ];
        assert_eq!(types, expected);
        assert_eq!(folder.read(&["a.parquet"], &Options::default()).unwrap(), documents(&[("7", "a"), ("8", "b")]));
    }

    #[test]
    fn many_row_groups_are_read_in_order() {
        let texts: Vec<_> = (0..2_500).map(|i| i.to_string()).collect();
        let folder = of(vec![("text", Arc::new(StringArray::from_iter_values(&texts)))]);
        let read = folder.read(&["a.parquet"], &Options::default()).unwrap();
        assert_eq!(read.len(), 2_500);
        assert!(read.iter().enumerate().all(|(i, (id, text))| *id == (i + 1).to_string() && *text == i.to_string()));
    }

    #[test]
    fn bad_rows_are_named_by_number() {
        let folder = of(vec![
            ("id", strings(&[Some("x"), None, Some("z"), Some(""), Some("v")])),
            ("text", strings(&[Some("a"), Some("b"), None, Some("d"), Some("12345")])),
        ]);
        let error = folder.error(&["a.parquet"], &Options::default());
        assert!(error.starts_with("a.parquet, record 2: the id, \"id\", is NULL"), "{error}");
        let options = Options { max_record_bytes: 4, ..skip() };
        let mut read = folder.open(&["a.parquet"], &options).unwrap();
        assert_eq!(read.next().unwrap().unwrap().num_rows(), 1);
        assert!(read.next().is_none());
        assert_eq!(read.summary().skipped_count, 4);
        assert_eq!(read.summary().documents, 1);
    }

    #[test]
    fn bytes_and_dictionaries_are_text_where_they_can_be() {
        let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"a", b"\xFF"]));
        let dictionary: DictionaryArray<Int32Type> = ["p", "q"].into_iter().collect();
        let folder = of(vec![("text", bytes), ("id", Arc::new(dictionary))]);
        assert_eq!(folder.read(&["a.parquet"], &skip()).unwrap(), documents(&[("p", "a")]));
        let folder = of(vec![("text", Arc::new(Float64Array::from(vec![1.5])))]);
        let error = folder.error(&["a.parquet"], &Options::default());
        assert!(error.contains("the column \"text\" is Float64, not text"), "{error}");
    }

    #[test]
    fn a_value_stored_once_in_many_rows_stays_within_bounds() {
        let text = "x".repeat(1 << 20);
        let dictionary: DictionaryArray<Int32Type> = std::iter::repeat_n(text.as_str(), 100).collect();
        let folder = of(vec![("text", strings(&[Some("a"); 100])), ("other", Arc::new(dictionary))]);
        let views = of(vec![("text", Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&text, 100))))]);
        for folder in [folder, views] {
            let rows: Vec<_> =
                folder.open(&["a.parquet"], &Options::default()).unwrap().map(|b| b.unwrap().num_rows()).collect();
            assert_eq!(rows.iter().sum::<usize>(), 100);
        }
    }

    #[test]
    fn damaged_files_are_errors_or_rows_and_never_panics() {
        let texts: Vec<_> = (0..300).map(|i| format!("text {i}")).collect();
        let sound = write(vec![("text", Arc::new(StringArray::from_iter_values(&texts)))]);
        let mut errors = 0;
        for i in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[i] ^= 0x41;
            let folder = Folder::of(&[("a.parquet", &damaged)]);
            if let Err(error) = folder.read(&["a.parquet"], &Options::default()) {
                assert!(error.starts_with("a.parquet"), "{error}");
                errors += 1;
            }
        }
        assert!(errors > 0);
        let folder = Folder::of(&[("a.parquet", &sound[..sound.len() / 2]), ("b.parquet", b"")]);
        for name in ["a.parquet", "b.parquet"] {
            let error = folder.error(&[name], &Options::default());
            assert!(error.starts_with(&format!("{name}: not a sound Parquet file")), "{error}");
        }
    }
}
