use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::csv::WriterBuilder;
use arrow::json::LineDelimitedWriter;
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use clap::ValueEnum;
use datafusion::execution::SendableRecordBatchStream;
use futures::TryStreamExt;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use crate::seal::SealedWriter;

/// How many rows a printed table shows.
const ROWS_SHOWN: usize = 40;

/// How many rows a row group of Parquet has: some are held while they are written, and engines read several at once.
const ROWS_IN_GROUP: usize = 128 * 1024;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people to read, cut after 40 rows.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object a line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format that a file name asks for.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("ndjson" | "jsonl") => Ok(Self::Ndjson),
            _ => bail!("cannot tell the format of {}; name it .parquet, .csv or .ndjson", path.display()),
        }
    }
}

/// Writes all rows and says how many there were.
///
/// Rows are regrouped first, so that the bytes depend on the rows alone and not on how a run happened to batch them. A Parquet
/// file is sealed, with `about` in its footer.
pub(crate) async fn write_rows<W: Write + Send>(
    mut rows: SendableRecordBatchStream,
    format: Format,
    about: &Value,
    to: &mut W,
) -> Result<u64> {
    let schema = rows.schema();
    let mut writer = Writer::try_new(format, &schema, to)?;
    let mut regrouped = BatchCoalescer::new(Arc::clone(&schema), 8192);
    let mut count = 0;
    while let Some(batch) = rows.try_next().await? {
        count += batch.num_rows() as u64;
        regrouped.push_batch(batch)?;
        while let Some(batch) = regrouped.next_completed_batch() {
            writer.write(&batch)?;
        }
    }
    regrouped.finish_buffered_batch()?;
    match regrouped.next_completed_batch() {
        Some(batch) => writer.write(&batch)?,
        // Without rows, a table and a CSV file have their header all the same.
        None if count == 0 => writer.write(&RecordBatch::new_empty(schema))?,
        None => {}
    }
    writer.finish(count, about)?;
    Ok(count)
}

enum Writer<'a, W: Write + Send> {
    Table { shown: Vec<RecordBatch>, rows: usize, to: &'a mut W },
    Csv(Box<arrow::csv::Writer<&'a mut W>>),
    Ndjson(LineDelimitedWriter<&'a mut W>),
    Parquet(Box<SealedWriter<&'a mut W>>),
}

impl<'a, W: Write + Send> Writer<'a, W> {
    fn try_new(format: Format, schema: &arrow::datatypes::SchemaRef, to: &'a mut W) -> Result<Self> {
        Ok(match format {
            Format::Table => Self::Table { shown: Vec::new(), rows: 0, to },
            Format::Csv => Self::Csv(Box::new(WriterBuilder::new().with_header(true).build(to))),
            Format::Ndjson => Self::Ndjson(LineDelimitedWriter::new(to)),
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                    .set_max_row_group_row_count(Some(ROWS_IN_GROUP));
                Self::Parquet(Box::new(SealedWriter::try_new(to, Arc::clone(schema), properties)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Table { shown, rows, .. } => {
                let more = (ROWS_SHOWN - *rows).min(batch.num_rows());
                if more > 0 || shown.is_empty() {
                    shown.push(batch.slice(0, more));
                    *rows += more;
                }
            }
            Self::Csv(writer) => {
                writer.write(batch).context("--format ndjson or parquet can hold columns that CSV cannot")?;
            }
            Self::Ndjson(writer) => writer.write(batch)?,
            Self::Parquet(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    fn finish(self, count: u64, about: &Value) -> Result<()> {
        match self {
            Self::Table { shown, rows, to } => {
                let options = FormatOptions::default().with_null("");
                writeln!(to, "{}", pretty_format_batches_with_options(&shown, &options)?)?;
                match count {
                    1 => writeln!(to, "1 row")?,
                    all if all > rows as u64 => writeln!(to, "{all} rows ({rows} shown)")?,
                    all => writeln!(to, "{all} rows")?,
                }
            }
            Self::Csv(writer) => writer.into_inner().flush()?,
            Self::Ndjson(mut writer) => {
                writer.finish()?;
                writer.into_inner().flush()?;
            }
            Self::Parquet(writer) => {
                writer.close(about)?;
            }
        }
        Ok(())
    }
}
