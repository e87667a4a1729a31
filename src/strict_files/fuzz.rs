//! Fuzz targets for files as `FROM` reads them.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use std::{io, iter, slice};

use bytes::Bytes;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::config::CsvOptions;
use datafusion::common::parsers::CompressionTypeVariant;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::physical_plan::{FileScanConfigBuilder, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::SessionState;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::chunked::ChunkedStore;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::array::Elements;
use super::header::checked;
use super::{LimitedFormat, LimitedSource, Limits};
use crate::fuzzing::{block_on, choices};
use crate::records::{BYTE_ORDER_MARK, Syntax};

pub(crate) fn json_array(data: &[u8]) {
    let ([piece], data) = choices(data);
    let lines = |piece: usize| -> Result<Vec<u8>, String> {
        let (mut elements, mut lines) = (Elements::new(), data.to_vec());
        lines.chunks_mut(piece).try_for_each(|piece| elements.take(piece))?;
        elements.end().map(|()| lines)
    };
    let found = lines(piece + 1);
    assert_eq!(found, lines(data.len().max(1)));
    let objects = |lines: &[u8]| -> serde_json::Result<Vec<Map<String, Value>>> {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.map(serde_json::from_slice).collect()
    };
    // The lines of an array of objects are these objects. All else is an error, or has a line that is not an object.
    match (serde_json::from_slice::<Vec<Map<String, Value>>>(data), found) {
        (Ok(array), found) => assert_eq!(objects(&found.unwrap()).unwrap(), array),
        (Err(error), Ok(lines)) => {
            // An array is one level more.
            assert!(objects(&lines).is_err() || error.to_string().contains("recursion limit"), "{error}");
        }
        (Err(_), Err(_)) => {}
    }
}

/// The session with the settings that apply if the options of files have none.
static SESSION: LazyLock<SessionState> = LazyLock::new(|| SessionContext::new().state());

/// The way to read a file: the number of bytes per piece, and the number of rows per batch.
#[derive(Clone, Copy)]
struct Way {
    piece: usize,
    rows: usize,
}

/// The whole file in one piece. More rows per batch need more memory for each column.
const AT_ONCE: Way = Way { piece: usize::MAX, rows: 256 };

/// Files of one format.
#[derive(Clone)]
struct Files {
    format: Arc<dyn FileFormat>,
    syntax: Syntax,
    limits: Limits,
    /// True if the columns were found in the files, false if they are declared.
    is_found: bool,
}

impl Files {
    /// Creates files of JSON lines, whose first `records` records determine the columns.
    fn of_json(records: usize, longest: usize) -> Self {
        Self::of(Arc::new(JsonFormat::default().with_schema_infer_max_rec(records)), Syntax::Json, longest)
    }

    fn of_csv(options: &CsvOptions, longest: usize) -> Self {
        Self::of(Arc::new(CsvFormat::default().with_options(options.clone())), Syntax::of_csv(options), longest)
    }

    fn of(format: Arc<dyn FileFormat>, syntax: Syntax, max_record_bytes: usize) -> Self {
        let limits = Limits { max_record_bytes, max_ratio: 200 };
        let format = LimitedFormat::over(Arc::clone(&format), format, limits);
        Self { format, syntax, limits, is_found: true }
    }

    /// Returns the columns that are found in a file.
    fn columns(&self, data: &[u8], piece: usize) -> Result<SchemaRef> {
        block_on(async {
            let (store, object) = stored(data, piece).await;
            self.format.infer_schema(&*SESSION, &store, slice::from_ref(&object)).await
        })
    }

    /// Returns the rows of a file, or of the records that begin in a range of it, with some of its columns.
    fn read(
        &self,
        data: &[u8],
        columns: &SchemaRef,
        some: &[usize],
        way: Way,
        range: Option<FileRange>,
    ) -> Result<RecordBatch> {
        let source = self.format.file_source(TableSchema::from(columns));
        let Self { syntax, limits, is_found, .. } = *self;
        let source = LimitedSource { source, is_found, rows: way.rows, syntax, limits };
        let source = source.try_pushdown_projection(&ProjectionExprs::from_indices(some, columns))?.unwrap();
        let compression = self.format.compression_type().unwrap_or(FileCompressionType::UNCOMPRESSED);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::clone(&source))
            .with_file_compression_type(compression)
            .build();
        let batches: Vec<RecordBatch> = block_on(async {
            let (store, object) = stored(data, way.piece).await;
            let file = PartitionedFile { range, ..PartitionedFile::new_from_meta(object) };
            source.create_file_opener(store, &scan, 0)?.open(file)?.await?.try_collect().await
        })?;
        Ok(concat_batches(&Arc::new(columns.project(some)?), &batches)?)
    }

    /// Returns all rows and columns of a file.
    fn rows(&self, data: &[u8], way: Way) -> Result<RecordBatch> {
        let columns = self.columns(data, way.piece)?;
        self.read(data, &columns, &all(&columns), way, None)
    }

    /// Fails if columns have other values when only some of them are read, for each of which `chosen` has a bit, or
    /// when they are declared as they were found.
    fn check_columns(&self, data: &[u8], rows: &RecordBatch, way: Way, chosen: usize) {
        let columns = rows.schema_ref();
        let some: Vec<_> = (0..rows.num_columns()).filter(|column| chosen >> (column % 8) & 1 == 1).collect();
        let read = self.read(data, columns, &some, way, None).unwrap();
        assert_eq!(read, rows.project(&some).unwrap());
        let declared = Self { is_found: false, ..self.clone() };
        assert_eq!(declared.read(data, columns, &all(columns), way, None).unwrap(), *rows);
    }
}

/// Puts a file into a store that returns at most `piece` bytes at a time.
async fn stored(data: &[u8], piece: usize) -> (Arc<dyn ObjectStore>, ObjectMeta) {
    let (memory, key) = (Arc::new(InMemory::new()), Key::from("a"));
    memory.put(&key, data.to_vec().into()).await.unwrap();
    let object = memory.head(&key).await.unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(ChunkedStore::new(memory, piece));
    (store, object)
}

fn all(columns: &Schema) -> Vec<usize> {
    (0..columns.fields().len()).collect()
}

/// Checks that JSON lines have the same rows, or fail, wherever they are split, and that each row is a line.
pub(crate) fn from_json(data: &[u8]) {
    let ([piece, rows, records, longest, at, chosen], data) = choices(data);
    let way = Way { piece: 1 + piece, rows: 1 + rows % 8 };
    let files = |longest| Files::of_json(1 + records % 8, longest);
    let whole = files(usize::MAX).rows(data, AT_ONCE).map_err(drop);
    assert_eq!(files(usize::MAX).rows(data, way).map_err(drop), whole);

    // A line that is too long is an error, and the limit causes no other errors.
    let longest = 1 + longest;
    let has_long = data.split_inclusive(|byte| *byte == b'\n').any(|line| line.len() > longest);
    let limited = files(longest).rows(data, way).map_err(drop);
    assert_eq!(limited, if has_long { Err(()) } else { whole.clone() });

    let files = files(usize::MAX);
    let Ok(columns) = files.columns(data, usize::MAX) else { return };
    if data.len() > 1 {
        let at = 1 + at * (data.len() - 1) / 256;
        let part = |part: Range<usize>| {
            let [start, end] = [part.start, part.end].map(|byte| i64::try_from(byte).unwrap());
            files.read(data, &columns, &all(&columns), way, Some(FileRange { start, end })).map_err(drop)
        };
        let parts: Result<Vec<_>, ()> = [0..at, at..data.len()].into_iter().map(part).collect();
        assert_eq!(parts.map(|parts| concat_batches(&columns, &parts).unwrap()), whole, "parted at {at}");
    }
    let Ok(rows) = whole else { return };
    check_lines(data, &rows);
    files.check_columns(data, &rows, way, chosen);
}

/// Checks that each line that is not blank is an object by itself, and a row with the object's values.
fn check_lines(data: &[u8], rows: &RecordBatch) {
    let data = data.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(data);
    let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let lines: Vec<_> = lines.collect();
    assert_eq!(rows.num_rows(), lines.len());
    for (row, line) in lines.into_iter().enumerate() {
        serde_json::from_slice::<HashMap<String, IgnoredAny>>(line).unwrap();
        // A number such as 1e400 is read as text in its original form, and is no `Value`.
        let Ok(object) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
        for (key, value) in &object {
            assert!(value.is_null() || rows.column_by_name(key).is_some(), "{key:?} is lost");
        }
        for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
            match (field.data_type(), object.get(field.name()).unwrap_or(&Value::Null)) {
                // A column of type Null has no validity bits.
                (DataType::Null, value) => assert!(value.is_null()),
                (_, Value::Null) => assert!(column.is_null(row), "{field}"),
                (DataType::Utf8, Value::String(text)) => assert_eq!(column.as_string::<i32>().value(row), text),
                (DataType::Boolean, Value::Bool(is_true)) => assert_eq!(column.as_boolean().value(row), *is_true),
                (DataType::Int64, Value::Number(number)) if number.is_i64() => {
                    assert_eq!(Some(column.as_primitive::<Int64Type>().value(row)), number.as_i64());
                }
                _ => assert!(column.is_valid(row), "{field}"),
            }
        }
    }
}

/// Checks that CSV has the same rows, or fails, wherever its pieces end, and that they are the rows of a plain reader.
pub(crate) fn from_csv(data: &[u8]) {
    let ([piece, rows, settings, longest, chosen], data) = choices(data);
    let is_set = |bit: u32| settings >> bit & 1 == 1;
    let options = CsvOptions {
        has_header: Some(!is_set(0)),
        delimiter: if is_set(1) { b';' } else { b',' },
        comment: is_set(2).then_some(b'#'),
        escape: is_set(3).then_some(b'\\'),
        truncated_rows: Some(is_set(4)),
        schema_infer_max_rec: is_set(5).then_some(2),
        ..CsvOptions::default()
    };
    let way = Way { piece: 1 + piece, rows: 1 + rows % 8 };
    check_header(data, &options, way.piece, chosen);

    let files = Files::of_csv(&options, usize::MAX);
    let read = |files: &Files, way| files.rows(data, way).map_err(drop);
    let whole = read(&files, AT_ONCE);
    assert_eq!(read(&files, way), whole);
    // A limit causes errors, but no other rows.
    let limited = read(&Files::of_csv(&options, 1 + longest), way);
    assert!(limited.is_err() || limited == whole, "{limited:?} {whole:?}");
    let Ok(rows) = whole else { return };
    check_rows(data, &options, &rows);
    files.check_columns(data, &rows, way, chosen);
}

/// Checks that xz data have the rows of their decompressed content, and fail if they are cut. Data that are not xz are
/// an error, wherever their pieces end.
pub(crate) fn from_xz(data: &[u8]) {
    let ([piece, cut], data) = choices(data);
    let way = Way { piece: 1 + piece, ..AT_ONCE };
    let files = |compression| {
        let options = CsvOptions { has_header: Some(false), compression, ..CsvOptions::default() };
        Files::of_csv(&options, usize::MAX)
    };
    let (packed, plain) = (files(CompressionTypeVariant::XZ), files(CompressionTypeVariant::UNCOMPRESSED));
    let read = |files: &Files, data: &[u8], way| files.rows(data, way).map_err(drop);
    assert_eq!(read(&packed, data, way), read(&packed, data, AT_ONCE));

    let content = stream::iter([Ok(Bytes::copy_from_slice(data))]).boxed();
    let xz = FileCompressionType::XZ.convert_to_compress_stream(content).unwrap();
    let xz = block_on(xz.try_collect::<Vec<_>>()).unwrap().concat();
    assert_eq!(read(&packed, &xz, way), read(&plain, data, way));
    let cut = 1 + cut * (xz.len() - 1) / 256;
    assert!(packed.rows(&xz[..cut], way).is_err(), "{cut} of {}", xz.len());
}

fn plain<'a>(data: &'a [u8], options: &CsvOptions, has_header: bool) -> csv::Reader<&'a [u8]> {
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(has_header).flexible(true);
    reader.delimiter(options.delimiter).comment(options.comment).escape(options.escape);
    reader.from_reader(data)
}

/// Checks that values are those of the fields, and that empty fields are NULL.
fn check_rows(data: &[u8], options: &CsvOptions, rows: &RecordBatch) {
    let mut reader = plain(data, options, options.has_header == Some(true));
    let records: Vec<csv::ByteRecord> = reader.byte_records().collect::<csv::Result<_>>().unwrap();
    assert_eq!(rows.num_rows(), records.len());
    for (place, column) in rows.columns().iter().enumerate() {
        for (row, record) in records.iter().enumerate() {
            let field = str::from_utf8(record.get(place).unwrap_or_default()).unwrap();
            assert_eq!(column.is_null(row), field.is_empty(), "{field:?}");
            if field.is_empty() {
                continue;
            }
            match column.data_type() {
                DataType::Utf8 => assert_eq!(column.as_string::<i32>().value(row), field),
                // A number that may be a name is not read as an integer.
                DataType::Int64 => {
                    let value = column.as_primitive::<Int64Type>().value(row);
                    assert!(value.to_string() == field || field == "-0", "{field:?} is {value}");
                }
                DataType::Float64 => {
                    let (value, number) = (column.as_primitive::<Float64Type>().value(row), field.parse::<f64>());
                    let is_same = number.is_ok_and(|number| number == value || number.is_nan() && value.is_nan());
                    assert!(is_same, "{field:?} is {value}");
                }
                _ => {}
            }
        }
    }
}

/// Checks that a header is refused if it has a column at another place than declared, and that the file is read
/// unchanged otherwise. The columns are declared in the order of the header, rotated by `turned`.
fn check_header(data: &[u8], options: &CsvOptions, piece: usize, turned: usize) {
    let (mut reader, mut header) = (plain(data, options, false), csv::ByteRecord::new());
    // A file that ends with its header has no rows.
    if !reader.read_byte_record(&mut header).unwrap() || reader.position().byte() >= data.len() as u64 {
        return;
    }
    // Longer names are not kept whole.
    if header.len() > 100 || header.iter().any(|name| name.len() > 1000) {
        return;
    }
    let names: Vec<_> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let mut declared: Vec<_> = names.iter().map(|name| name.to_ascii_uppercase()).collect();
    declared.rotate_left(turned % names.len());
    let is_refused = declared.iter().enumerate().any(|(place, name)| {
        let mut places = (0..names.len()).filter(|at| names[*at].eq_ignore_ascii_case(name)).peekable();
        places.peek().is_some() && !places.any(|at| at == place)
    });
    let columns: Vec<_> = declared.iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    // A byte order mark arrives in one piece, as the store returns it.
    let (head, rest) = data.split_at(data.len().min(4));
    let pieces = iter::once(head).chain(rest.chunks(piece)).map(|piece| Ok(Bytes::copy_from_slice(piece)));
    let pieces = stream::iter(pieces.collect::<Vec<io::Result<Bytes>>>()).boxed();
    let schema = Arc::new(Schema::new(columns));
    let read = checked(pieces, Syntax::of_csv(options), schema, usize::MAX, io::Error::other);
    match block_on(read.try_collect::<Vec<_>>()) {
        Ok(read) => {
            let bytes: Vec<u8> = read.concat();
            assert!(!is_refused && bytes == data, "{declared:?} of {names:?}");
        }
        Err(error) => assert!(is_refused, "{error}"),
    }
}
