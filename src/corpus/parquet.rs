//! A reader of Parquet files, row group by row group, with all columns. User columns keep their Arrow types.
//!
//! The text column is text, or bytes that are UTF-8; the id column is text or whole numbers. Records have no lines:
//! errors name them by number. [`super::pages`] limits the pages that are decoded, and this module limits the values
//! that come of them.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, OffsetSizeTrait, RecordBatch, StringArray, StringViewArray, UInt64Array,
    new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{CastOptions, cast_with_options, take};
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, make_encoder};
use bytes::Bytes;
use datafusion::datasource::file_format::parquet::Int96Coercer;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::{ChunkReader, Length};
use serde_json::Value;

use super::batch::{BATCH_BYTES, BATCH_ROWS, VALUE_BYTES};
use super::columns::{FileColumns, Kind, too_many};
use super::ids::LONGEST_ID;
use super::pages::{Checks, Pages, Refused, is_prefixed};
use super::paths::InputFile;
use super::problem::Problem;
use super::text_column::TextPlaces;
use super::{Context, Item};
use crate::records::Grown;
use crate::store;
use crate::thrift::check_schema;

/// The number of rows to read at once if values are prefix-compressed.
const PREFIXED_ROWS: usize = 64;

/// The divisor of the number of rows read at once if they do not fit into memory or cannot be read.
const FEWER_ROWS: usize = 16;

/// The approximate memory of a row beside its values.
const ROW_BYTES: usize = 16;

/// Runs a call into the Parquet reader, and turns panics into errors. A damaged file can make the reader panic, on sums
/// that overflow and indices out of range: such a file is bad input like any other. A reader that panicked is dropped
/// and never used again.
fn guarded<T>(file: &str, call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Box<Problem>> {
    let reason = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => {
            if let ParquetError::External(cause) = &error
                && let Some(cause) = cause.downcast_ref::<io::Error>()
            {
                let remedy = "run it again, or read what can be read with `on_error = skip`";
                return Err(Problem::of_io(file, "cannot read it", cause).remedy_unless_told(remedy));
            }
            error.to_string()
        }
        Err(_) => store::BROKE_DOWN.to_owned(),
    };
    Err(Problem::new(file, format!("not a sound Parquet file ({reason})"))
        .remedy("write the file again, or read what can be read with `on_error = skip`"))
}

fn open(file: &InputFile) -> Result<(store::Source, ArrowReaderMetadata), Box<Problem>> {
    let opened = file.source().map_err(|e| Problem::of_io(&file.label, "cannot open it", &e))?;
    let metadata = guarded(&file.label, || {
        let Some(footer) = footer(&opened)? else {
            return ArrowReaderMetadata::load(&opened, ArrowReaderOptions::new());
        };
        check_schema(&footer).map_err(|error| ParquetError::General(error.to_string()))?;
        let metadata = ParquetMetaDataReader::decode_metadata(&footer)?;
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())?;
        match in_microseconds(&metadata) {
            None => Ok(metadata),
            Some(schema) => {
                let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
                ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
            }
        }
    })?;
    Ok((opened, metadata))
}

/// Returns the schema with microseconds for timestamps of INT96, if the file has any. As nanoseconds, years before 1677
/// and after 2262 would become other years.
fn in_microseconds(metadata: &ArrowReaderMetadata) -> Option<Schema> {
    let columns = metadata.metadata().file_metadata().schema_descr();
    Int96Coercer::new(columns, metadata.schema(), &TimeUnit::Microsecond).coerce()
}

/// Returns the footer of a file, if its last bytes declare one.
fn footer(source: &store::Source) -> Result<Option<Bytes>, ParquetError> {
    let Some(end) = source.len().checked_sub(8) else { return Ok(None) };
    let tail = source.get_bytes(end, 8)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk() else { return Ok(None) };
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(u64::from(length)) else { return Ok(None) };
    source.get_bytes(start, usize::try_from(length).unwrap_or(usize::MAX)).map(Some)
}

/// Returns the columns of the file.
pub(crate) fn columns(file: &InputFile) -> Result<FileColumns, Box<Problem>> {
    let (_, metadata) = open(file)?;
    let mut columns = FileColumns::default();
    for field in metadata.schema().fields() {
        if columns.has(field.name()) {
            let reason = format!("two columns are called {:?}", field.name());
            return Err(
                Problem::new(&file.label, reason).remedy("rename one, or leave such files out with `on_error = skip`")
            );
        }
        columns.add(field.name(), Kind::of_type(field.data_type())).ok_or_else(|| {
            too_many(&file.label, "there are", "leave columns out of it, or leave it out with `on_error = skip`")
        })?;
    }
    Ok(columns)
}

/// Returns the file's schema with views for text and bytes, in lists and structs, too. Views point into the pages that
/// were read, so a value that is stored once and used in many rows is in memory once.
fn as_views(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(with_views).collect::<Vec<_>>();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn with_views(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(item) => DataType::List(with_views(item)),
        DataType::LargeList(item) => DataType::LargeList(with_views(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(with_views(item), *length),
        DataType::Map(entries, sorted) => DataType::Map(with_views(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(with_views).collect()),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Returns the documents of a file.
pub(crate) fn batches(
    context: Context,
) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let (mut file, metadata) = open(&context.file)?;
    // A file that ibid wrote holds checksums of its bytes. An object would be fetched twice to check them.
    if let store::Source::File(_) = file {
        store::verify_source(&mut file).map_err(|error| {
            Problem::new(&context.file.label, format!("{error:#}")).remedy("put it back from a copy, or write it again")
        })?;
    }
    let options = ArrowReaderOptions::new().with_schema(as_views(metadata.schema()));
    let metadata =
        guarded(&context.file.label, || ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options))?;
    let groups = 0..metadata.metadata().num_row_groups();
    let grown = Grown { from: file.len(), to: 0, max_ratio: context.file.decoding.max_ratio };
    Ok(Batches {
        context,
        file,
        metadata,
        groups,
        group: None,
        before: 0,
        record: 0,
        source: None,
        grown,
        ended: false,
    })
}

struct Batches {
    context: Context,
    file: store::Source,
    metadata: ArrowReaderMetadata,
    /// The row groups that have not been begun.
    groups: Range<usize>,
    group: Option<Group>,
    /// The number of records before the row group that was begun last.
    before: u64,
    /// The number of records that have been read.
    record: u64,
    /// The batch that was read and whose documents are being returned.
    source: Option<Source>,
    /// The bytes of values returned so far, and the length of the file.
    grown: Grown,
    ended: bool,
}

/// A row group that is being read.
struct Group {
    index: usize,
    reader: ParquetRecordBatchReader,
    checks: Arc<Checks>,
    /// The number of rows read at once.
    rows: usize,
    /// The number of rows read, and the number of first rows that had been returned before the row group was begun.
    read: usize,
    given: usize,
}

impl Iterator for Batches {
    type Item = Result<Item, Box<Problem>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let Some(source) = &mut self.source else {
                if let Err(problem) = self.begin_batch() {
                    return Some(Err(problem));
                }
                continue;
            };
            match source.next(&self.context, &mut self.grown) {
                Ok(Some(item)) => return Some(item),
                Ok(None) => self.source = None,
                Err(problem) => {
                    self.ended = true;
                    return Some(Err(problem));
                }
            }
        }
        None
    }
}

impl Batches {
    fn begin_batch(&mut self) -> Result<(), Box<Problem>> {
        match self.read() {
            Ok(Some(batch)) => {
                let first = self.record + 1;
                self.record += batch.num_rows() as u64;
                let source = Source::try_new(&self.context, batch, first);
                self.ended = source.is_err();
                self.source = Some(source?);
            }
            Ok(None) => self.ended = true,
            Err(problem) => {
                let (problem, lost) = (problem.in_record(self.record + 1), self.rest_of_group());
                self.group = None;
                self.record += lost;
                return Err(if self.ended { problem } else { problem.with_records(lost) });
            }
        }
        Ok(())
    }

    /// Returns the number of records from the next one to the end of the row group that was begun last.
    fn rest_of_group(&self) -> u64 {
        let group = self.groups.start.checked_sub(1).map(|group| self.metadata.metadata().row_group(group));
        let rows = group.map_or(0, |group| u64::try_from(group.num_rows()).unwrap_or(0));
        (self.before + rows).saturating_sub(self.record)
    }

    /// Returns the next batch with the columns of the file.
    fn read(&mut self) -> Result<Option<RecordBatch>, Box<Problem>> {
        loop {
            let Some(group) = &mut self.group else {
                let Some(index) = self.groups.next() else { return Ok(None) };
                self.before = self.record;
                self.group = Some(self.begin_group(index, rows_at_once(&self.metadata, index), 0)?);
                continue;
            };
            group.checks.begin_rows();
            let read =
                guarded(&self.context.file.label, || group.reader.next().transpose().map_err(ParquetError::from));
            match (read, group.checks.refused()) {
                (Ok(None), _) => self.group = None,
                (Ok(Some(batch)), _) => {
                    let before = group.read;
                    group.read += batch.num_rows();
                    let again = group.given.saturating_sub(before).min(batch.num_rows());
                    if again < batch.num_rows() {
                        return Ok(Some(batch.slice(again, batch.num_rows() - again)));
                    }
                }
                // There are long rows among many short ones, or a row that cannot be read: read fewer rows at once.
                (Err(_), None | Some(Refused::Held(_))) if group.rows > 1 => {
                    let (index, rows, given) =
                        (group.index, group.rows.div_ceil(FEWER_ROWS), group.read.max(group.given));
                    self.group = Some(self.begin_group(index, rows, given)?);
                }
                (Err(problem), refused) => {
                    // The other groups would grow as much.
                    self.ended = matches!(refused, Some(Refused::Growth(_)));
                    return Err(refused.map_or(problem, |refused| self.refusal(refused)));
                }
            }
        }
    }

    /// Begins a row group whose first `given` rows were returned before.
    fn begin_group(&self, index: usize, rows: usize, given: usize) -> Result<Group, Box<Problem>> {
        let Self { context, file, metadata, .. } = self;
        guarded(&context.file.label, || {
            let file = file.for_readers(metadata.metadata().file_metadata().schema_descr().num_columns())?;
            let group = metadata.metadata().row_group(index);
            let pages = Pages::new(file, group, context.file.decoding.max_ratio, context.most_pages, rows);
            let checks = pages.checks();
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata.clone())
                .with_row_groups(vec![index])
                .with_batch_size(rows)
                .build()?;
            Ok(Group { index, reader, checks, rows, read: 0, given })
        })
    }

    fn refusal(&self, refused: Refused) -> Box<Problem> {
        let label = &self.context.file.label;
        match refused {
            Refused::Growth(grown) => too_much(label, grown),
            Refused::Held(bytes) => {
                let most = self.context.most_pages;
                let reason =
                    format!("the pages of one record are {bytes} bytes at once, and no more than {most} are read");
                Problem::new(label, reason).remedy(
                    "write the file with smaller pages, raise `memory`, or read what comes before with `on_error = skip`",
                )
            }
        }
    }
}

/// Returns the problem of a file that grows too much.
fn too_much(file: &str, grown: Grown) -> Box<Problem> {
    Problem::new(file, format!("its values grow too much: {grown}")).remedy(Grown::REMEDY)
}

/// Returns the number of rows to read at once, so that a batch holds about 4 MiB if the rows are alike.
fn rows_at_once(metadata: &ArrowReaderMetadata, group: usize) -> usize {
    let group = metadata.metadata().row_group(group);
    let rows = usize::try_from(group.num_rows()).unwrap_or(0).max(1);
    let bytes = usize::try_from(group.total_byte_size()).unwrap_or(0);
    // Prefix-compressed values can be much longer than their encoding.
    let is_prefixed = group.columns().iter().any(|column| is_prefixed(column.encodings()));
    let most = if is_prefixed { PREFIXED_ROWS } else { BATCH_ROWS };
    // NULL takes memory, too.
    let least = group.num_columns().max(1) * ROW_BYTES;
    (BATCH_BYTES / (bytes / rows).max(least)).clamp(1, most)
}

/// A batch as read, with its text and ids, from which batches of documents are made.
///
/// They are made one at a time: the views of a batch may refer to more text than fits into memory.
struct Source {
    batch: RecordBatch,
    /// The number of the first record.
    first: u64,
    texts: Texts,
    ids: Option<Texts>,
    /// The next row to check.
    row: usize,
    /// The good rows that have not been returned yet, and their size.
    good: Vec<u64>,
    bytes: usize,
    /// Parts of a batch of good rows in which some value does not fit the type of its column. The last part is the
    /// next.
    parts: Vec<Vec<u64>>,
}

impl Source {
    fn try_new(context: &Context, batch: RecordBatch, first: u64) -> Result<Self, Box<Problem>> {
        let label = &context.file.label;
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| {
                Problem::new(label, format!("the column {name:?} is gone: the file changes while it is read"))
            })
        };
        let roles = &context.roles;
        let texts = match &roles.text {
            None => Texts::Empty,
            Some(name) if roles.text_is_optional && batch.column_by_name(name).is_some() => {
                let given = column(name)?;
                as_text(label, name, given, Wanted::Plain)?.or_empty(given.logical_nulls())
            }
            Some(name) => match batch.column_by_name(name) {
                Some(texts) if !is_list(texts.data_type()) => as_text(label, name, texts, Wanted::Text)?,
                Some(_) => Texts::Within(Within::try_new(label, &batch, &TextPlaces::of_column(name))?),
                None => Texts::Within(Within::try_new(label, &batch, &context.places)?),
            },
        };
        let ids = match &roles.id {
            Some(name) => Some(as_text(label, name, column(name)?, Wanted::Id)?),
            None => None,
        };
        Ok(Self { batch, first, texts, ids, row: 0, good: Vec::new(), bytes: 0, parts: Vec::new() })
    }

    /// Returns the next documents, at most about 4 MiB, or the problem of the next bad row. An error concerns the whole
    /// file.
    fn next(
        &mut self,
        context: &Context,
        grown: &mut Grown,
    ) -> Result<Option<Result<Item, Box<Problem>>>, Box<Problem>> {
        let label = &context.file.label;
        if let Some(rows) = self.parts.pop() {
            return self.give(context, rows).map(Some);
        }
        while self.row < self.batch.num_rows() && self.bytes < BATCH_BYTES {
            let row = self.row;
            self.row += 1;
            let record = self.first + row as u64;
            let values: usize = self.batch.columns().iter().map(|column| bytes_of(column, row..row + 1)).sum();
            if let Some(problem) = self.problem(context, row, values) {
                return Ok(Some(Err(problem.in_record(record))));
            }
            let size = ROW_BYTES + values;
            let more = Grown { to: grown.to + size as u64, ..*grown };
            if more.is_too_much() {
                if self.good.is_empty() {
                    return Err(too_much(label, more).in_record(record));
                }
                // The rows before it are returned first.
                self.row = row;
                break;
            }
            *grown = more;
            self.good.push(row as u64);
            // Columns of other files are NULL, which takes memory, too.
            self.bytes += size + context.columns.len() * VALUE_BYTES;
        }
        self.bytes = 0;
        let rows = std::mem::take(&mut self.good);
        if rows.is_empty() { Ok(None) } else { self.give(context, rows).map(Some) }
    }

    /// Returns the documents of these rows. If a value does not fit the type of its column, halves the rows until it
    /// finds the documents or the problem of the first ones, and keeps the rest in `parts`.
    fn give(&mut self, context: &Context, mut rows: Vec<u64>) -> Result<Result<Item, Box<Problem>>, Box<Problem>> {
        loop {
            // Guarded, since the reader does not check all that a damaged file decodes to.
            match guarded(&context.file.label, || Ok(self.documents(context, &rows)))? {
                Ok(item) => return Ok(Ok(item)),
                Err(problem) if rows.len() == 1 => return Ok(Err(problem.in_record(self.first + rows[0]))),
                Err(_) => self.parts.push(rows.split_off(rows.len() / 2)),
            }
        }
    }

    /// Returns the problem of a row of `bytes` bytes, if it is bad.
    fn problem(&self, context: &Context, row: usize, bytes: usize) -> Option<Box<Problem>> {
        let Context { file, roles, limit, .. } = context;
        if bytes > *limit {
            return Some(Problem::too_long(&file.label, "the record", *limit));
        }
        if self.texts.get(row).is_none() {
            let name = roles.text.as_deref().unwrap_or_default();
            let what = match self.batch.column_by_name(name) {
                Some(_) if roles.text_is_optional => "has no form as text",
                Some(_) => "is NULL or not UTF-8",
                None => "is missing",
            };
            return Some(Problem::new(&file.label, format!("the text, {name:?}, {what}")));
        }
        let ids = self.ids.as_ref()?;
        let name = roles.id.as_deref().unwrap_or_default();
        match ids.get(row).as_deref() {
            None | Some("") => {
                Some(Problem::new(&file.label, format!("the id, {name:?}, is NULL, empty or not UTF-8")))
            }
            Some(id) if id.len() > LONGEST_ID => Some(Problem::long_id(&file.label, name)),
            Some(_) => None,
        }
    }

    /// Returns the documents of these rows.
    fn documents(&self, context: &Context, rows: &[u64]) -> Result<Item, Box<Problem>> {
        let Context { file, schema, columns, roles, .. } = context;
        let failed = |error: ArrowError| Problem::new(&file.label, format!("its values do not fit together ({error})"));
        let records: Vec<u64> = rows.iter().map(|row| self.first + row).collect();
        let rows = UInt64Array::from(rows.to_vec());
        // Only these rows are converted from views to text with offsets.
        let pick = |name: &str, column: &dyn Array, to: &DataType| {
            let picked = take(column, &rows, None).map_err(failed)?;
            cast_with_options(&picked, to, &STRICT).map_err(|error| {
                let reason = format!("the value of {name:?} cannot be {to}, as in other files ({error})");
                Problem::new(&file.label, reason)
            })
        };
        let texts = |texts: &Texts| {
            let row = |record: &u64| usize::try_from(record - self.first).unwrap_or(usize::MAX);
            StringArray::from_iter_values(records.iter().map(|record| texts.get(row(record)).unwrap_or_default()))
        };
        let mut arrays = vec![None; schema.fields().len()];
        arrays[0] = Some(Arc::new(match &self.ids {
            Some(ids) => texts(ids),
            None => StringArray::from_iter_values(records.iter().map(|n| context.record_id(*n))),
        }) as ArrayRef);
        arrays[1] = Some(Arc::new(texts(&self.texts)));
        for (field, column) in self.batch.schema_ref().fields().iter().zip(self.batch.columns()) {
            if roles.takes(field.name()) {
                continue;
            }
            if let Some(&index) = columns.get(field.name()) {
                arrays[index] = Some(pick(field.name(), column, schema.field(index).data_type())?);
            }
        }
        let filled = arrays.into_iter().zip(schema.fields());
        let arrays = filled.map(|(array, f)| array.unwrap_or_else(|| new_null_array(f.data_type(), rows.len())));
        let batch = RecordBatch::try_new(Arc::clone(schema), arrays.collect()).map_err(failed)?;
        Ok(Item::Batch { batch, records })
    }
}

/// The text or the ids of a batch. Bytes are checked to be UTF-8 row by row, as many rows may share them.
enum Texts {
    /// '' in every row.
    Empty,
    Strings(StringViewArray),
    Bytes(BinaryViewArray),
    /// The inner texts, and '' in the rows that are NULL.
    OrEmpty(Box<Texts>, Option<NullBuffer>),
    Within(Within),
}

impl Texts {
    fn or_empty(self, nulls: Option<NullBuffer>) -> Self {
        Self::OrEmpty(Box::new(self), nulls)
    }

    /// Returns the text of a row; `None` if it is NULL, missing or not UTF-8.
    fn get(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Empty => Some("".into()),
            Self::Strings(texts) => texts.is_valid(row).then(|| texts.value(row).into()),
            Self::Bytes(bytes) if bytes.is_null(row) => None,
            Self::Bytes(bytes) => std::str::from_utf8(bytes.value(row)).ok().map(Cow::from),
            Self::OrEmpty(_, Some(nulls)) if nulls.is_null(row) => Some("".into()),
            Self::OrEmpty(texts, _) => texts.get(row),
            Self::Within(texts) => texts.text(row).map(Cow::from),
        }
    }
}

fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

/// The columns that contain the texts. Texts are extracted row by row, as many rows may share the same ones.
struct Within {
    columns: Vec<(FieldRef, ArrayRef)>,
    places: TextPlaces,
}

impl Within {
    fn try_new(file: &str, batch: &RecordBatch, places: &TextPlaces) -> Result<Self, Box<Problem>> {
        let schema = batch.schema_ref();
        let columns = places.columns().map(|name| {
            let index = schema.index_of(name)?;
            let (field, column) = (Arc::clone(&schema.fields()[index]), Arc::clone(batch.column(index)));
            make_encoder(&field, &column, &EncoderOptions::default())?;
            Ok((field, column))
        });
        let columns = columns.collect::<Result<_, ArrowError>>().map_err(|error| {
            Problem::new(file, format!("the text cannot be taken out of its columns ({error})"))
                .remedy("name another with `text_column`")
        })?;
        Ok(Self { columns, places: places.clone() })
    }

    /// Returns the text of a row, if it has one.
    fn text(&self, row: usize) -> Option<String> {
        let options = EncoderOptions::default();
        let value_of = |name: &str| {
            let (field, column) = self.columns.iter().find(|(field, _)| field.name() == name)?;
            let mut encoder = make_encoder(field, column, &options).ok()?;
            if encoder.is_null(row) {
                return Some(Value::Null);
            }
            let mut json = Vec::new();
            encoder.encode(row, &mut json);
            serde_json::from_slice(&json).ok()
        };
        self.places.text(value_of).ok()
    }
}

const STRICT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

/// The types that a column may have to be read as text.
#[derive(Clone, Copy)]
enum Wanted {
    Text,
    /// Text or whole numbers.
    Id,
    /// Text, or a type with a plain form as text.
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

/// Converts the text or id column to text.
fn as_text(file: &str, name: &str, column: &ArrayRef, wanted: Wanted) -> Result<Texts, Box<Problem>> {
    let readable = match column.data_type() {
        DataType::Utf8View => true,
        DataType::BinaryView => return Ok(Texts::Bytes(column.as_binary_view().clone())),
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
            .remedy("name another with `text_column` or `id_column`, or give the column that type")
    };
    if !readable {
        return Err(wrong(column.data_type()));
    }
    let as_view = |column: &dyn Array| cast_with_options(column, &DataType::Utf8View, &STRICT);
    // A value without a form as text, such as a date out of range, is NULL, so that only its record is bad.
    let form_of = |row| as_view(&column.slice(row, 1)).ok().filter(|form| form.is_valid(0));
    let text = as_view(column).unwrap_or_else(|_| {
        let forms = (0..column.len()).map(|row| Some(form_of(row)?.as_string_view_opt()?.value(0).to_owned()));
        Arc::new(forms.collect::<StringViewArray>())
    });
    text.as_string_view_opt().cloned().map(Texts::Strings).ok_or_else(|| wrong(text.data_type()))
}

/// Returns the number of bytes of the values of some rows of a column. A value that several rows share counts in each.
fn bytes_of(column: &dyn Array, rows: Range<usize>) -> usize {
    // The view of a NULL may point to any value.
    let valid = |rows: Range<usize>| rows.filter(|row| column.is_valid(*row));
    match column.data_type() {
        DataType::Utf8View => valid(rows).map(|row| column.as_string_view().value(row).len()).sum(),
        DataType::BinaryView => valid(rows).map(|row| column.as_binary_view().value(row).len()).sum(),
        DataType::Utf8 => between(column.as_string::<i32>().value_offsets(), rows).len(),
        DataType::LargeUtf8 => between(column.as_string::<i64>().value_offsets(), rows).len(),
        DataType::Binary => between(column.as_binary::<i32>().value_offsets(), rows).len(),
        DataType::LargeBinary => between(column.as_binary::<i64>().value_offsets(), rows).len(),
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            bytes_of(list.values(), between(list.value_offsets(), rows))
        }
        DataType::LargeList(_) => {
            let list = column.as_list::<i64>();
            bytes_of(list.values(), between(list.value_offsets(), rows))
        }
        DataType::Map(..) => {
            let map = column.as_map();
            bytes_of(map.entries(), between(map.value_offsets(), rows))
        }
        DataType::FixedSizeList(_, length) => {
            let length = usize::try_from(*length).unwrap_or_default();
            bytes_of(column.as_fixed_size_list().values(), rows.start * length..rows.end * length)
        }
        DataType::Struct(_) => column.as_struct().columns().iter().map(|field| bytes_of(field, rows.clone())).sum(),
        DataType::Dictionary(..) => {
            let column = column.slice(rows.start, rows.len());
            let (dictionary, values) = (column.as_any_dictionary(), column.as_any_dictionary().values());
            if values.is_empty() {
                return 0;
            }
            let keys = dictionary.normalized_keys().into_iter().enumerate().filter(|(row, _)| column.is_valid(*row));
            keys.map(|(_, key)| bytes_of(values, key..key + 1)).sum()
        }
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or_default() * rows.len(),
        // A list view stores for each row where its list is.
        DataType::ListView(_) => {
            let lists = column.as_list_view::<i32>();
            rows.map(|row| lists.value(row)).map(|list| bytes_of(&list, 0..list.len())).sum()
        }
        DataType::LargeListView(_) => {
            let lists = column.as_list_view::<i64>();
            rows.map(|row| lists.value(row)).map(|list| bytes_of(&list, 0..list.len())).sum()
        }
        other => other.primitive_width().unwrap_or(1) * rows.len(),
    }
}

/// Returns the range of the values of some rows.
fn between(offsets: &[impl OffsetSizeTrait], rows: Range<usize>) -> Range<usize> {
    offsets[rows.start].as_usize()..offsets[rows.end].as_usize()
}

#[cfg(test)]
mod tests {
    use arrow::array::{BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, ListArray};
    use arrow::datatypes::{Field, Int32Type, TimeUnit};
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

    /// Returns a list of texts, a struct with bytes, a map and a dictionary.
    fn nested(value: &str) -> [(&'static str, ArrayRef); 4] {
        let mut list = arrow::array::ListBuilder::new(arrow::array::StringBuilder::new());
        list.append_value([Some("a"), None, Some(value)]);
        let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![value.as_bytes()]));
        let fields = arrow::array::StructArray::try_from(vec![("bytes", bytes)]).unwrap();
        let mut map =
            arrow::array::MapBuilder::new(None, arrow::array::StringBuilder::new(), arrow::array::Int32Builder::new());
        map.keys().append_value(value);
        map.values().append_value(1);
        map.append(true).unwrap();
        let dictionary: DictionaryArray<Int32Type> = [value].into_iter().collect();
        [
            ("list", Arc::new(list.finish()) as ArrayRef),
            ("struct", Arc::new(fields)),
            ("map", Arc::new(map.finish())),
            ("dictionary", Arc::new(dictionary)),
        ]
    }

    #[test]
    fn a_record_is_the_row_with_all_that_is_in_it() {
        for (name, column) in nested(&"x".repeat(100)) {
            let folder = of(vec![("text", strings(&[Some("a")])), (name, Arc::clone(&column))]);
            let limited = |max_record_bytes| Options { max_record_bytes, ..Options::default() };
            let batch = folder.batch(&["a.parquet"], &limited(110)).unwrap();
            assert_eq!(batch.column(2).to_data(), column.to_data(), "{name}");
            let error = folder.error(&["a.parquet"], &limited(99));
            assert!(
                error.starts_with("a.parquet, record 1: the record is longer than 99 bytes; raise"),
                "{name}: {error}"
            );
            let error = folder.read(&["a.parquet"], &Options { max_record_bytes: 99, ..skip() });
            assert_eq!(error.unwrap(), [], "{name}");
        }
    }

    /// Creates a file of one row group, with pages of 1 MiB or of one value.
    fn uneven(lengths: impl IntoIterator<Item = usize>) -> Folder {
        let values: Vec<_> =
            lengths.into_iter().enumerate().map(|(i, length)| format!("{i}{}", "x".repeat(length))).collect();
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(values));
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let properties = properties().set_write_batch_size(1).set_dictionary_enabled(false).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        Folder::of(&[("a.parquet", &writer.into_inner().unwrap())])
    }

    #[test]
    fn long_rows_among_many_short_ones_are_read_a_few_at_a_time() {
        let folder = uneven((0..20_000).map(|i| if i < 19_920 { 1 } else { 1 << 20 }));
        let read = |memory| folder.read(&["a.parquet"], &Options { memory, ..Options::default() });
        let all = read(None).unwrap();
        assert_eq!(all.len(), 20_000);
        assert!(read(Some(256 << 20)).unwrap() == all);
    }

    #[test]
    fn pages_that_do_not_fit_into_memory_are_an_error() {
        let folder = uneven([2 << 20, 70 << 20]);
        let read = |memory| folder.read(&["a.parquet"], &Options { memory, ..skip() }).unwrap().len();
        // Without a memory limit, the record is read far enough to see that it is too long.
        assert_eq!((read(None), read(Some(256 << 20))), (1, 1));
        let given = Options { memory: Some(256 << 20), ..Options::default() };
        let error = folder.error(&["a.parquet"], &given);
        assert!(error.starts_with("a.parquet, record 2: the pages of one record are 75"), "{error}");
        assert!(
            error.contains("at once, and no more than 67108864 are read; ") && error.contains("`memory`"),
            "{error}"
        );
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

    /// Uses four row groups of 75 records each, without a dictionary, and a byte of record 102 that is not UTF-8.
    #[test]
    fn a_record_that_cannot_be_read_leaves_out_the_rest_of_its_row_group_only() {
        let texts = StringArray::from_iter_values((1..=300).map(|i| format!("text {i:03} of many")));
        let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
        let properties =
            WriterProperties::builder().set_max_row_group_row_count(Some(75)).set_dictionary_enabled(false).build();
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let at = file.windows(8).position(|bytes| bytes == b"text 102").unwrap();
        file[at] = 0xFF;
        let folder = Folder::of(&[("a.parquet", &file)]);
        let error = folder.error(&["a.parquet"], &Options::default());
        assert!(error.starts_with("a.parquet, record 102: not a sound Parquet file ("), "{error}");
        assert!(error.contains(", nor can the 48 records behind it in its row group; "), "{error}");
        let mut read = folder.open(&["a.parquet"], &skip()).unwrap();
        let ids: Vec<_> = read
            .by_ref()
            .flat_map(|batch| {
                let batch = batch.unwrap();
                batch
                    .column(0)
                    .as_string::<i32>()
                    .iter()
                    .map(|id| id.unwrap().parse::<u64>().unwrap())
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(ids, (1..=101).chain(151..=300).collect::<Vec<_>>());
        assert_eq!(read.summary().skipped_count, 49);
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
    fn a_value_that_its_column_cannot_hold_leaves_out_its_record_only() {
        let bytes = |i: u32| if matches!(i, 5 | 700 | 701) { b"\xFF".to_vec() } else { i.to_string().into_bytes() };
        let notes: ArrayRef = Arc::new(BinaryArray::from_iter_values((1..=1000).map(bytes)));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((1..=1000).map(|i| i.to_string())));
        let one = write(vec![("text", texts), ("note", notes)]);
        let other = write(vec![("text", strings(&[Some("a")])), ("note", strings(&[Some("b")]))]);
        let folder = Folder::of(&[("a.parquet", &one), ("b.parquet", &other)]);
        let error = folder.error(&["."], &Options::default());
        assert!(
            error.starts_with("a.parquet, record 5: the value of \"note\" cannot be Utf8, as in other files (")
                && error.ends_with("; correct it, or leave bad records out with `on_error = skip`"),
            "{error}"
        );
        let mut read = folder.open(&["."], &skip()).unwrap();
        let rows: usize = read.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(rows, 998);
        let skipped: Vec<_> = read.summary().skipped.into_iter().map(|skipped| skipped.record).collect();
        assert_eq!(skipped, [5, 700, 701].map(Some));
    }

    #[test]
    fn a_date_out_of_range_leaves_out_its_record_only() {
        let days: ArrayRef = Arc::new(arrow::array::Date32Array::from(vec![Some(0), Some(i32::MAX), None]));
        let folder = of(vec![("text", Arc::clone(&days))]);
        let options = Options { text_is_optional: true, ..Options::default() };
        let error = folder.error(&["a.parquet"], &options);
        assert!(error.starts_with("a.parquet, record 2: the text, \"text\", has no form as text; "), "{error}");
        let skipping = Options { text_is_optional: true, ..skip() };
        let expected = documents(&[("1", "1970-01-01"), ("3", "")]);
        assert_eq!(folder.read(&["a.parquet"], &skipping).unwrap(), expected);
        // The same in a column that is text in another file.
        let one = write(vec![("text", strings(&[Some("a"), Some("b"), Some("c")])), ("day", days)]);
        let other = write(vec![("text", strings(&[Some("d")])), ("day", strings(&[Some("Monday")]))]);
        let folder = Folder::of(&[("a.parquet", &one), ("b.parquet", &other)]);
        let error = folder.error(&["."], &Options::default());
        assert!(error.starts_with("a.parquet, record 2: the value of \"day\" cannot be Utf8"), "{error}");
        assert_eq!(folder.read(&["."], &skip()).unwrap().len(), 3);
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

    /// Creates a file of rows that share one value, written with `properties`.
    fn bomb(length: usize, rows: usize, properties: parquet::file::properties::WriterPropertiesBuilder) -> Folder {
        let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, false)]));
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties.build())).unwrap();
        let text = "x".repeat(length);
        let mut left = rows;
        while left > 0 {
            let some = left.min(1 + (16 << 20) / length);
            let texts: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&text, some)));
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), vec![texts]).unwrap()).unwrap();
            left -= some;
        }
        Folder::of(&[("a.parquet", &writer.into_inner().unwrap())])
    }

    fn properties() -> parquet::file::properties::WriterPropertiesBuilder {
        WriterProperties::builder()
    }

    #[test]
    fn what_grows_too_much_is_an_error_that_says_how_far() {
        let zstd = parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default());
        let gzip = parquet::basic::Compression::GZIP(parquet::basic::GzipLevel::default());
        let plain = || properties().set_dictionary_enabled(false).set_write_batch_size(1 << 20);
        for (name, folder) in [
            ("a value that many rows share", bomb(500_000, 600, properties())),
            ("many rows", bomb(1, 5_000_000, properties())),
            ("pages in zstd", bomb(8 << 20, 12, plain().set_compression(zstd))),
            ("a page in gzip", bomb(96 << 20, 1, plain().set_compression(gzip))),
            (
                "values made of one another",
                bomb(1 << 20, 100, plain().set_encoding(parquet::basic::Encoding::DELTA_BYTE_ARRAY)),
            ),
        ] {
            let trusted = Options { max_ratio: 1 << 30, max_record_bytes: 128 << 20, ..Options::default() };
            let rows = folder.open(&["a.parquet"], &trusted).unwrap().map(|batch| batch.unwrap().num_rows());
            let rows: usize = rows.sum();
            let given = Options { max_ratio: 10, ..trusted };
            let error = folder.error(&["a.parquet"], &given);
            assert!(error.contains("values grow too much: ") && error.contains("`max_ratio`"), "{name}: {error}");
            let read =
                folder.open(&["a.parquet"], &Options { on_error: super::super::OnError::Skip, ..given }).unwrap();
            let some: usize = read.map(|batch| batch.unwrap().num_rows()).sum();
            assert!(some < rows, "{name}: {some} of {rows}");
        }
    }

    #[test]
    fn a_list_of_billions_is_an_error() {
        let values = arrow::array::Int32Array::from(vec![0; 20_000_000]);
        let field = Arc::new(Field::new_list_field(DataType::Int32, false));
        let list =
            ListArray::new(field, arrow::buffer::OffsetBuffer::from_lengths([20_000_000]), Arc::new(values), None);
        let folder = of(vec![("text", strings(&[Some("a")])), ("list", Arc::new(list))]);
        let error = folder.error(&["a.parquet"], &Options::default());
        assert!(error.starts_with("a.parquet, record 1: its values grow too much: "), "{error}");
    }

    #[test]
    fn bytes_that_many_rows_share_are_not_copied_for_all_at_once() {
        let value = "x".repeat(500_000);
        let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Binary, false)]));
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), None).unwrap();
        let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values(std::iter::repeat_n(value.as_bytes(), 64)));
        for _ in 0..2 {
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(&bytes)]).unwrap()).unwrap();
        }
        let folder = Folder::of(&[("a.parquet", &writer.into_inner().unwrap())]);
        let given = Options { max_ratio: 1000, ..Options::default() };
        let rows: Vec<_> = folder.open(&["a.parquet"], &given).unwrap().map(|b| b.unwrap().num_rows()).collect();
        assert_eq!(rows, [vec![9; 14], vec![2]].concat());
    }

    #[test]
    fn texts_within_columns_that_many_rows_share_are_not_copied_for_all_at_once() {
        let paragraph: DictionaryArray<Int32Type> = std::iter::repeat_n("x".repeat(500_000).as_str(), 128).collect();
        let paragraphs = cast_with_options(&paragraph, &DataType::Utf8View, &STRICT).unwrap();
        let field = Arc::new(Field::new_list_field(DataType::Utf8View, true));
        let offsets = arrow::buffer::OffsetBuffer::from_lengths([1; 128]);
        let folder = of(vec![("text", Arc::new(ListArray::new(field, offsets, paragraphs, None)))]);
        let given = Options { max_ratio: 1000, ..Options::default() };
        let rows: Vec<_> = folder.open(&["a.parquet"], &given).unwrap().map(|b| b.unwrap().num_rows()).collect();
        assert_eq!(rows, [vec![9; 14], vec![2]].concat());
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
