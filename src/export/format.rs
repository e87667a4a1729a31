use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use arrow::csv::WriterBuilder;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::json::writer::LineDelimited;
use datafusion::execution::SendableRecordBatchStream;
use futures::{Stream, TryStreamExt};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::dates::check_dates;
use super::json;
use super::spreadsheet::without_formulas;
use super::table::TableWriter;
use crate::seal::SealedWriter;

/// Number of rows that go to a terminal at once, and time that the first ones wait for more.
const ROWS_ON_SCREEN: usize = 256;
const WAIT_ON_SCREEN: Duration = Duration::from_millis(500);

/// Upper bounds of the rows and bytes of a Parquet row group: it is held in memory while it is written, and engines
/// read several at once.
const ROWS_IN_GROUP: usize = 128 * 1024;
const BYTES_OF_GROUP: usize = 32 << 20;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table for people to read.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// One JSON object a line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Returns the format that the extension of a file name means.
    pub fn of_file(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Ok(Self::Parquet),
            Some("csv") => Ok(Self::Csv),
            Some("ndjson" | "jsonl") => Ok(Self::Ndjson),
            _ => bail!("cannot tell the format of {}; name it .parquet, .csv or .ndjson", path.display()),
        }
    }
}

/// The form in which a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The file format.
    pub format: Format,
    /// True if a terminal shows it: rows are printed as they come, and control characters are escaped.
    pub on_screen: bool,
    /// True if CSV has a quote mark before text that a spreadsheet would take for a formula.
    pub is_csv_safe: bool,
    /// True if the number of rows is written below a table.
    pub counts_rows: bool,
}

impl Form {
    /// Returns the form of a file of this format.
    pub(crate) fn of(format: Format) -> Self {
        Self { format, on_screen: false, is_csv_safe: false, counts_rows: true }
    }
}

/// Fails if columns have the same name, since readers would see only one of them.
pub(crate) fn refuse_same_names(schema: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    match schema.fields().iter().find(|field| !names.insert(field.name())) {
        Some(field) => {
            bail!("there are several columns named {0}; name them apart with AS, as in a.{0} AS {0}_a", field.name())
        }
        None => Ok(()),
    }
}

/// Writes all rows and returns their number.
///
/// Rows are regrouped first, so that the bytes depend on the rows alone and not on how a run happened to batch them. A Parquet
/// file is sealed, with `about` in its footer.
pub async fn write_rows<W: Write + Send>(
    rows: SendableRecordBatchStream,
    form: Form,
    about: &Value,
    to: &mut W,
) -> Result<u64> {
    let schema = rows.schema();
    write_batches(&schema, rows, form, about, to).await
}

/// Writes batches of rows and returns the number of rows.
pub(super) async fn write_batches<W: Write + Send>(
    schema: &SchemaRef,
    mut rows: impl Stream<Item = datafusion::common::Result<RecordBatch>> + Unpin,
    form: Form,
    about: &Value,
    to: &mut W,
) -> Result<u64> {
    if matches!(form.format, Format::Ndjson | Format::Parquet) {
        refuse_same_names(schema)?;
    }
    let mut writer = Writer::try_new(form, schema, to)?;
    if form.on_screen {
        return write_on_screen(schema, rows, about, writer).await;
    }
    let mut regrouped = BatchCoalescer::new(Arc::clone(schema), 8192);
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
        None if count == 0 => writer.write(&RecordBatch::new_empty(Arc::clone(schema)))?,
        None => {}
    }
    writer.finish(count, about)?;
    Ok(count)
}

/// Writes rows as they come. Yields after every few rows, so that the command can be ended.
async fn write_on_screen<W: Write + Send>(
    schema: &SchemaRef,
    mut rows: impl Stream<Item = datafusion::common::Result<RecordBatch>> + Unpin,
    about: &Value,
    mut writer: Writer<'_, W>,
) -> Result<u64> {
    let mut count = 0;
    loop {
        let next = match tokio::time::timeout(WAIT_ON_SCREEN, rows.try_next()).await {
            Ok(next) => next?,
            Err(_) => {
                if count > 0 {
                    writer.show()?;
                }
                rows.try_next().await?
            }
        };
        let Some(batch) = next else { break };
        count += batch.num_rows() as u64;
        for from in (0..batch.num_rows()).step_by(ROWS_ON_SCREEN) {
            writer.write(&batch.slice(from, ROWS_ON_SCREEN.min(batch.num_rows() - from)))?;
            tokio::task::yield_now().await;
        }
    }
    if count == 0 {
        writer.write(&RecordBatch::new_empty(Arc::clone(schema)))?;
    }
    writer.finish(count, about)?;
    Ok(count)
}

enum Writer<'a, W: Write + Send> {
    Table { table: TableWriter<&'a mut W>, counts_rows: bool },
    Csv { csv: Box<arrow::csv::Writer<&'a mut W>>, is_safe: bool },
    Ndjson(arrow::json::writer::Writer<&'a mut W, LineDelimited>),
    Parquet(Box<SealedWriter<&'a mut W>>),
}

impl<'a, W: Write + Send> Writer<'a, W> {
    fn try_new(form: Form, schema: &SchemaRef, to: &'a mut W) -> Result<Self> {
        Ok(match form.format {
            Format::Table => {
                Self::Table { table: TableWriter::new(schema, form.on_screen, to), counts_rows: form.counts_rows }
            }
            Format::Csv => {
                if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
                    bail!(
                        "the column {} has values within values ({}), which CSV cannot hold; `format = ndjson` or parquet can",
                        field.name(),
                        field.data_type()
                    );
                }
                let csv = Box::new(WriterBuilder::new().with_header(true).build(to));
                Self::Csv { csv, is_safe: form.is_csv_safe }
            }
            Format::Ndjson => {
                let fields = schema.flattened_fields();
                // With such a scale, the writer would write 100 as 000.
                let is_rounded = |kind: &DataType| matches!(kind, DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) if *scale < 0);
                if let Some(field) = fields.iter().find(|field| is_rounded(field.data_type())) {
                    bail!(
                        "the column {} is of type {}, which JSON lines cannot hold; CAST it, such as to DECIMAL(38, 0)",
                        field.name(),
                        field.data_type()
                    );
                }
                Self::Ndjson(json::lines(to))
            }
            Format::Parquet if form.on_screen => {
                bail!("cannot print Parquet to a terminal; name a file with -o, or write into a pipe")
            }
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                    .set_max_row_group_row_count(Some(ROWS_IN_GROUP));
                Self::Parquet(Box::new(SealedWriter::try_new(to, Arc::clone(schema), properties)?))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if !matches!(self, Self::Parquet(_)) {
            check_dates(batch)?;
        }
        match self {
            Self::Table { table, .. } => table.write(batch)?,
            Self::Csv { csv, is_safe } => {
                if *is_safe {
                    csv.write(&without_formulas(batch)?)?;
                } else {
                    csv.write(batch)?;
                }
            }
            Self::Ndjson(writer) => writer.write(batch)?,
            Self::Parquet(writer) => writer.write(batch).and_then(|()| writer.end_group_above(BYTES_OF_GROUP))?,
        }
        Ok(())
    }

    /// Shows the rows that were written so far.
    fn show(&mut self) -> Result<()> {
        if let Self::Table { table, .. } = self {
            table.begin()?;
            table.flush()?;
        }
        Ok(())
    }

    fn finish(self, count: u64, about: &Value) -> Result<()> {
        match self {
            Self::Table { mut table, counts_rows } => {
                table.finish()?;
                if counts_rows {
                    writeln!(table.get_mut(), "{count} {}", if count == 1 { "row" } else { "rows" })?;
                }
                table.flush()?;
            }
            Self::Csv { csv, .. } => csv.into_inner().flush()?,
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
