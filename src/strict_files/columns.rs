//! Schema inference: the columns that DataFusion finds in the first records of each file.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, slice};

use bytes::Bytes;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::{Result, plan_err};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::error::DataFusionError;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryFutureExt, TryStreamExt, stream};
use object_store::memory::InMemory;
use object_store::{GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::RECORDS_OF_SCHEMA;
use super::fields::Fields;
use super::number_inference::Spelling;
use super::place::{Reason, Refused, first_row};
use super::store::{DecodingStore, at_ends, blocks};
use super::whole_numbers::with_whole_numbers;
use crate::records::{Position, Syntax};
use crate::store::Explained;

/// The number of files whose columns are inferred concurrently.
const FILES: usize = 4;

/// The maximum number of columns of all files together: DataFusion's planning time grows with the square of their
/// number.
const MAX_COLUMNS: usize = 16_384;

/// Returns the columns of all files together; `format` is the format of their decompressed content.
pub(super) async fn columns(
    format: &Arc<dyn FileFormat>,
    state: &dyn Session,
    files: &DecodingStore,
    objects: &[ObjectMeta],
) -> Result<SchemaRef> {
    let any: &dyn Any = format.as_ref();
    let csv = any.downcast_ref::<CsvFormat>();
    let of_file = |object| {
        let found = match csv {
            Some(csv) => columns_of_csv(csv, state, files, object).boxed(),
            None => columns_of_json(format, state, files, object).boxed(),
        };
        found.map_ok(move |schema| (object, schema))
    };
    let of_files: Vec<_> = objects.iter().map(of_file).collect();
    let mut of_files = stream::iter(of_files).buffered(FILES);
    let mut all = Columns { files, is_csv: csv.is_some(), first: None, fields: Vec::new(), places: HashMap::new() };
    while let Some((object, schema)) = of_files.try_next().await? {
        all.add(object, &schema)?;
    }
    // A column that is empty in the first rows of all files becomes text, which loses no value.
    if all.is_csv {
        for field in all.fields.iter_mut().filter(|field| *field.data_type() == DataType::Null) {
            field.set_data_type(DataType::Utf8);
        }
    }
    Ok(Arc::new(Schema::new(all.fields)))
}

/// The columns of the files so far.
struct Columns<'a> {
    files: &'a DecodingStore,
    is_csv: bool,
    /// The first file that has columns.
    first: Option<&'a ObjectMeta>,
    fields: Vec<Field>,
    places: HashMap<String, usize>,
}

impl<'a> Columns<'a> {
    /// Adds the columns of another file. A type that does not fit that of an earlier file is left to the reader, which
    /// reports the place of the value.
    fn add(&mut self, file: &'a ObjectMeta, schema: &Schema) -> Result<()> {
        if schema.fields().is_empty() {
            return Ok(());
        }
        let first = *self.first.get_or_insert(file);
        let [known, found] = [names(self.fields.iter()), names(schema.fields().iter().map(AsRef::as_ref))];
        let name = |file: &ObjectMeta| self.files.name(&file.location);
        if let Some(twice) = twice(&found) {
            return Err(refused(format!(
                "{}: two columns are called {twice:?}: rename one, or name all columns in CREATE EXTERNAL TABLE",
                name(file)
            )));
        }
        // The reader assigns values to columns by position alone.
        if self.is_csv && first != file && known != found {
            return Err(refused(format!(
                "{}: its columns are {}, and those of {} are {}: read them one by one, or through ibid ingest",
                name(file),
                found.join(", "),
                name(first),
                known.join(", ")
            )));
        }
        for field in schema.fields() {
            match self.places.get(field.name()) {
                Some(place) => {
                    let known = &mut self.fields[*place];
                    known.set_data_type(of_both(known.data_type(), field.data_type(), self.is_csv));
                }
                None if self.fields.len() == MAX_COLUMNS => return Err(too_many(&name(file))),
                None => {
                    self.places.insert(field.name().clone(), self.fields.len());
                    self.fields.push(field.as_ref().clone());
                }
            }
        }
        Ok(())
    }
}

fn refused(said: String) -> DataFusionError {
    DataFusionError::External(Box::new(Explained::new(said)))
}

/// Returns the error of more than [`MAX_COLUMNS`] columns, counting those at `place` and before it.
fn too_many(place: &str) -> DataFusionError {
    refused(format!(
        "{place}: this makes more than {MAX_COLUMNS} columns: names that are data belong in rows, such as of an id, a name \
         and a value"
    ))
}

/// Returns the error of [`too_many`] for the record that begins at this byte of a file.
async fn too_many_from(files: &DecodingStore, object: &ObjectMeta, byte: usize) -> Result<DataFusionError> {
    let line = 1 + files.lines_before(&object.location, byte as u64).await?;
    let position = Position::of_byte(Some(line), byte as u64);
    Ok(too_many(&format!("{}{position}", files.name(&object.location))))
}

/// Returns the first name that repeats an earlier one.
fn twice<'a>(names: &[&'a str]) -> Option<&'a str> {
    let mut before = HashSet::new();
    names.iter().copied().find(|name| !before.insert(*name))
}

fn names<'a>(fields: impl Iterator<Item = &'a Field>) -> Vec<&'a str> {
    fields.map(|field| field.name().as_str()).collect()
}

/// Returns the type of a column that one file has as `a` and another as `b`: `a` if no type can hold both.
fn of_both(a: &DataType, b: &DataType, is_csv: bool) -> DataType {
    let of_fields =
        |a: &Field, b: &Field| Arc::new(a.clone().with_data_type(of_both(a.data_type(), b.data_type(), is_csv)));
    match (a, b) {
        (DataType::Null, other) | (other, DataType::Null) => other.clone(),
        (DataType::Int64 | DataType::UInt64, DataType::Float64)
        | (DataType::Float64, DataType::Int64 | DataType::UInt64) => DataType::Float64,
        // There may be negative numbers beside those that are too large for Int64.
        (DataType::Int64, DataType::UInt64) | (DataType::UInt64, DataType::Int64) => DataType::Utf8,
        (DataType::List(a), DataType::List(b)) => DataType::List(of_fields(a, b)),
        (DataType::Struct(a), DataType::Struct(b)) => {
            let both = a.iter().map(|a| b.find(a.name()).map_or_else(|| Arc::clone(a), |(_, b)| of_fields(a, b)));
            let others = b.iter().filter(|b| a.find(b.name()).is_none());
            DataType::Struct(both.chain(others.map(Arc::clone)).collect())
        }
        (a, b) if a != b && is_csv => DataType::Utf8,
        (a, _) => a.clone(),
    }
}

/// Returns the offset of the record with which JSON lines have too many keys.
fn too_many_keys(lines: &[u8]) -> Option<usize> {
    let (mut keys, mut begin) = (HashSet::new(), 0);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        // Errors in a record are left to its reader.
        let _ = serde_json::Deserializer::from_slice(line).deserialize_map(Keys(&mut keys));
        if keys.len() > MAX_COLUMNS {
            return Some(begin + line.iter().take_while(|byte| byte.is_ascii_whitespace()).count());
        }
        begin += line.len();
    }
    None
}

/// A visitor that collects the keys of an object, until there are too many.
struct Keys<'a>(&'a mut HashSet<String>);

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while self.0.len() <= MAX_COLUMNS
            && let Some((key, IgnoredAny)) = members.next_entry()?
        {
            self.0.insert(key);
        }
        Ok(())
    }
}

/// Returns the number of fields of a row of CSV.
fn width(syntax: Syntax, mut row: &[u8]) -> usize {
    let (mut fields, mut width) = (Fields::new(syntax), 1);
    while let Some((_, false)) = fields.next(&mut row) {
        width += 1;
    }
    width
}

/// Returns the columns that the first records of a file of JSON lines have.
async fn columns_of_json(
    format: &Arc<dyn FileFormat>,
    state: &dyn Session,
    files: &DecodingStore,
    object: &ObjectMeta,
) -> Result<Schema> {
    // Collected piece by piece, since `bytes` would ask for as much memory as the whole file takes.
    let mut records = Vec::new();
    let mut pieces = files.get(&object.location).await?.into_stream();
    while let Some(piece) = pieces.try_next().await? {
        records.extend_from_slice(&piece);
    }
    if let Some(byte) = too_many_keys(&records) {
        return Err(too_many_from(files, object, byte).await?);
    }
    let memory = InMemory::new();
    let records = Bytes::from(records);
    memory.put(&object.location, records.clone().into()).await?;
    let first: Arc<dyn ObjectStore> = Arc::new(memory);
    let error = match format.infer_schema(state, &first, slice::from_ref(object)).await {
        Err(error) if Reason::of(&error).is_some() => error,
        columns => return Ok(with_whole_numbers(columns?.as_ref(), &records)?),
    };
    let read = |store, object| async move { format.infer_schema(state, &store, &[object]).await.map(|_| ()) }.boxed();
    match Refused::find(files, &object.location, false, 0, read).await? {
        Some(refused) => Err(refused.explained(&files.name(&object.location))),
        None => Err(error),
    }
}

/// Returns the columns that the first rows of a CSV file have. DataFusion itself would cut the file at line ends, which
/// may be inside quotes.
async fn columns_of_csv(
    csv: &CsvFormat,
    state: &dyn Session,
    files: &DecodingStore,
    object: &ObjectMeta,
) -> Result<Schema> {
    let options = csv.options();
    if options.terminator.is_some() {
        return plan_err!(
            "{}: columns can only be inferred if rows end with line breaks: declare the columns, or leave \
             format.terminator out",
            files.name(&object.location)
        );
    }
    let rows = options.schema_infer_max_rec.unwrap_or(RECORDS_OF_SCHEMA);
    let read = |pieces: BoxStream<'static, Result<Bytes>>| async move {
        let (schema, _) = csv.infer_schema_from_stream(state, rows, pieces).await?;
        Ok::<_, DataFusionError>(schema)
    };
    let has_header = options.has_header.unwrap_or(state.config_options().catalog.has_header);
    let spelling = Arc::new(Mutex::new(Spelling::new(files.syntax, has_header, rows)));
    // DataFusion merges the types of a column within a piece in another way than across pieces, so the pieces must not
    // depend on how the file arrives.
    let mut pieces = at_ends(blocks(files.get(&object.location).await?.into_stream()), files.syntax).boxed();
    let first = pieces.try_next().await?;
    let head = first.as_deref().unwrap_or_default();
    let row = first_row(files.syntax, head);
    if width(files.syntax, &head[row.clone()]) > MAX_COLUMNS {
        return Err(too_many_from(files, object, row.start).await?);
    }
    let pieces = stream::iter(first.map(Ok::<_, DataFusionError>)).chain(pieces).inspect_ok({
        let spelling = Arc::clone(&spelling);
        move |piece| spelling.lock().unwrap_or_else(PoisonError::into_inner).take(piece)
    });
    let error = match read(pieces.boxed()).await {
        Ok(columns) => return Ok(spelling.lock().unwrap_or_else(PoisonError::into_inner).correct(&columns)),
        Err(error) if matches!(error.find_root(), DataFusionError::ArrowError(..) | DataFusionError::Execution(_)) => {
            error
        }
        Err(error) => return Err(error),
    };
    // In one piece, since DataFusion does not say what is wrong with a row that begins a later piece.
    let read = |store, whole: ObjectMeta| {
        let unpacked = DecodingStore { store, compression: FileCompressionType::UNCOMPRESSED, ..files.clone() };
        let pieces = async move { unpacked.get(&whole.location).await.map(GetResult::into_stream) };
        read(pieces.try_flatten_stream().map_err(DataFusionError::from).boxed()).map_ok(|_| ()).boxed()
    };
    match Refused::find(files, &object.location, true, 0, read).await? {
        Some(refused) => Err(refused.explained(&files.name(&object.location))),
        None => Err(error.context(format!("in {}", files.name(&object.location)))),
    }
}
