//! Readers that read files as DataFusion does, but fail where DataFusion would truncate a value.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::ReaderBuilder;
use datafusion::arrow::json::reader::Decoder as JsonDecoder;
use datafusion::common::Result;
use datafusion::common::config::CsvOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileOpenFuture, FileOpener, FileScanConfig, FileSource};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion_datasource::boundary_stream::AlignedBoundaryStream;
use datafusion_datasource::decoder::{Decoder, DecoderDeserializer, deserialize_stream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use memchr::memmem;
use object_store::{ObjectStore, ObjectStoreExt};

use super::lossless_types::{as_texts, check, check_utf8, has_large, is_parsed, of_texts, texts};
use super::store::at_ends;
use super::strict::Kind;
use crate::records::Syntax;

/// Returns an opener of CSV files that reads these columns; `is_found` says that the columns of the table were found in
/// the first rows.
pub(super) fn csv(
    source: &CsvSource,
    columns: &[usize],
    is_found: bool,
    rows: usize,
    store: Arc<dyn ObjectStore>,
    scan: &FileScanConfig,
    partition: usize,
) -> Result<Arc<dyn FileOpener>> {
    let options = CsvOptions {
        has_header: Some(source.has_header()),
        delimiter: source.delimiter(),
        quote: source.quote(),
        terminator: source.terminator(),
        escape: source.escape(),
        comment: source.comment(),
        truncated_rows: Some(source.truncate_rows()),
        ..CsvOptions::default()
    };
    let table = source.table_schema().file_schema();
    let texts = Arc::new(as_texts(table, is_found));
    let projection = ProjectionExprs::from_indices(columns, &texts);
    let of_texts = CsvSource::new(texts).with_csv_options(options).with_batch_size(rows);
    let of_texts = of_texts.try_pushdown_projection(&projection)?.unwrap_or(of_texts);
    let opener = of_texts.create_file_opener(store, scan, partition)?;
    Ok(Arc::new(CsvOpener { opener, columns: Arc::new(table.project(columns)?), is_found }))
}

/// An opener of files that reads some columns as text.
struct CsvOpener {
    opener: Arc<dyn FileOpener>,
    /// The columns that the text is converted to.
    columns: SchemaRef,
    is_found: bool,
}

impl FileOpener for CsvOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let (opened, columns, is_found) = (self.opener.open(file)?, Arc::clone(&self.columns), self.is_found);
        let made = move |read: Result<RecordBatch>| {
            let read = read?;
            check_utf8(&read)?;
            Ok(of_texts(&read, &columns, is_found)?)
        };
        Ok(async move { Ok(opened.await?.map(made).boxed()) }.boxed())
    }
}

/// An opener of files of JSON lines.
pub(super) struct JsonOpener {
    pub(super) columns: SchemaRef,
    pub(super) records: Arc<Kind>,
    pub(super) rows: usize,
    pub(super) store: Arc<dyn ObjectStore>,
}

impl FileOpener for JsonOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let (store, decoder) = (Arc::clone(&self.store), ExactDecoder::new(&self.columns, self.rows)?);
        let records = Arc::clone(&self.records);
        let opened = async move {
            let file_object = file.object_meta;
            let bytes = match file.range {
                Some(range) => {
                    let [start, end] = [range.start, range.end].map(|byte| u64::try_from(byte).unwrap_or(0));
                    let (key, size) = (file_object.location, file_object.size);
                    AlignedBoundaryStream::new(store, key, start, end, size, b'\n').await?.boxed()
                }
                None => store.get(&file_object.location).await?.into_stream(),
            };
            let lines = at_ends(bytes, Syntax::Json).map(move |lines| {
                let lines = lines?;
                records.check(&lines)?;
                Ok(lines)
            });
            Ok(deserialize_stream(lines.fuse(), DecoderDeserializer::new(decoder)).map_err(Into::into).boxed())
        };
        Ok(opened.boxed())
    }
}

/// A decoder of JSON rows. It decodes columns a second time, as text, if their values may be truncated.
struct ExactDecoder {
    values: JsonDecoder,
    texts: Vec<Texts>,
    /// The bytes of the rows that were not returned yet, if they may be decoded a second time.
    read: Vec<u8>,
}

/// The columns of some types, decoded as text.
struct Texts {
    decoder: JsonDecoder,
    cut: Cut,
}

/// The condition under which values of a batch may be truncated.
enum Cut {
    /// Some number is not an integer.
    Integers,
    /// Some float is large.
    Floats,
    /// Always.
    Parsed,
}

impl Cut {
    /// Returns the test for the types of such values.
    fn types(&self) -> fn(&DataType) -> bool {
        match self {
            Self::Integers => DataType::is_integer,
            Self::Floats => DataType::is_floating,
            Self::Parsed => is_parsed,
        }
    }
}

impl ExactDecoder {
    fn new(columns: &SchemaRef, rows: usize) -> Result<Self, ArrowError> {
        // Numbers in a text column are kept as they are written.
        let decoder =
            |columns| ReaderBuilder::new(columns).with_batch_size(rows).with_coerce_primitive(true).build_decoder();
        let mut all = Vec::new();
        for cut in [Cut::Integers, Cut::Floats, Cut::Parsed] {
            let of_field = |field: &Arc<Field>| {
                Some(field.as_ref().clone().with_data_type(texts(field.data_type(), cut.types())?))
            };
            let fields: Fields = columns.fields().iter().filter_map(of_field).collect();
            if !fields.is_empty() {
                all.push(Texts { decoder: decoder(Arc::new(Schema::new(fields)))?, cut });
            }
        }
        Ok(Self { values: decoder(Arc::clone(columns))?, texts: all, read: Vec::new() })
    }
}

impl Decoder for ExactDecoder {
    fn decode(&mut self, bytes: &[u8]) -> Result<usize, ArrowError> {
        let decoded = self.values.decode(bytes)?;
        if !self.texts.is_empty() {
            self.read.extend_from_slice(&bytes[..decoded]);
        }
        Ok(decoded)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let values = self.values.flush()?;
        if let Some(values) = &values {
            for texts in &mut self.texts {
                texts.check(&self.read, values)?;
            }
            self.read.clear();
        }
        Ok(values)
    }

    fn can_flush_early(&self) -> bool {
        false
    }
}

impl fmt::Debug for ExactDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl Texts {
    /// Fails if a value does not keep everything that its text says. `rest` has the rows that the values were read
    /// from.
    fn check(&mut self, mut rest: &[u8], values: &RecordBatch) -> Result<(), ArrowError> {
        let may_be_cut = match self.cut {
            Cut::Integers => may_cut_integers(rest),
            Cut::Floats => values.columns().iter().any(|column| has_large(column)),
            Cut::Parsed => true,
        };
        if !may_be_cut {
            return Ok(());
        }
        while !rest.is_empty() {
            match self.decoder.decode(rest)? {
                0 => break,
                decoded => rest = &rest[decoded..],
            }
        }
        let Some(texts) = self.decoder.flush()? else { return Ok(()) };
        for (field, texts) in texts.schema().fields().iter().zip(texts.columns()) {
            if let Some(values) = values.column_by_name(field.name()) {
                check(field.name(), texts, values)?;
            }
        }
        Ok(())
    }
}

/// Returns true if some number may be read as an integer but is not one: it has a point or an exponent, or it is below
/// the range of 64 bits and would be rounded to the least integer.
fn may_cut_integers(json: &[u8]) -> bool {
    let is_part = |[digit, next]: &[u8; 2]| digit.is_ascii_digit() & matches!(next, b'.' | b'e' | b'E');
    json.array_windows().fold(false, |any, pair| any | is_part(pair))
        || memmem::find(json, b"-922337203685477").is_some()
}
