use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::WriterBuilder;
use arrow::json::writer::LineDelimited;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use futures::StreamExt;
use ibid::{Engine, Error};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatchReader, PySchema};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, channel};

use crate::errors::raised;
use crate::running::{runtime, wait};

/// The number of batches that are computed ahead of the reader.
const AHEAD: usize = 2;

/// Rows that are made when they are asked for.
#[pyclass(frozen, module = "ibid._ibid")]
pub(crate) struct Rows {
    rows: DataFrame,
    /// Makes the rows.
    engine: Engine,
    /// Has the tables that they are made of.
    found: Option<Arc<ibid::Found>>,
}

impl Rows {
    pub(crate) fn new(rows: DataFrame, engine: Engine, found: Option<Arc<ibid::Found>>) -> Self {
        Self { rows, engine, found }
    }

    fn schema_ref(&self) -> SchemaRef {
        Arc::clone(self.rows.schema().inner())
    }
}

#[pymethods]
impl Rows {
    /// The name and the Arrow type of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        self.rows.schema().fields().iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        let rows = self.rows.clone();
        wait(py, async move { Ok(rows.count().await?) })
    }

    /// Returns the first rows.
    fn limit(&self, py: Python<'_>, rows: usize) -> PyResult<Self> {
        let limited = self.rows.clone().limit(0, Some(rows)).map_err(|error| raised(py, &error.into()))?;
        Ok(Self::new(limited, self.engine.clone(), self.found.clone()))
    }

    /// Returns the rows as JSON, an object a line, with the values by the numbers of their columns: names may stand twice.
    fn json_lines(&self, py: Python<'_>) -> PyResult<String> {
        let rows = self.rows.clone();
        let lines = async move {
            let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(Vec::new());
            let mut rows = rows.execute_stream().await?;
            while let Some(batch) = rows.next().await.transpose()? {
                let schema = batch.schema();
                let numbered = schema.fields().iter().enumerate();
                let numbered = numbered.map(|(number, field)| field.as_ref().clone().with_name(number.to_string()));
                let numbered = Arc::new(Schema::new(numbered.collect::<Vec<_>>()));
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch = RecordBatch::try_new_with_options(numbered, batch.columns().to_vec(), &options);
                batch.and_then(|batch| writer.write(&batch)).map_err(DataFusionError::from)?;
            }
            writer.finish().map_err(DataFusionError::from)?;
            Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
        };
        wait(py, lines)
    }

    /// Writes the rows to a file, and returns how many there are.
    fn write(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<u64> {
        let (rows, engine) = (self.rows.clone(), self.engine.clone());
        wait(py, async move { engine.write(rows, path).await })
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, PySchema::new(self.schema_ref()))?.call_method0("__arrow_c_schema__")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reader = self.reader(py)?;
        Bound::new(py, PyRecordBatchReader::new(Box::new(reader)))?
            .call_method1("__arrow_c_stream__", (requested_schema,))
    }
}

impl Rows {
    /// Starts to compute the rows, and waits for the first batch, because the reader of a stream does not handle
    /// signals.
    fn reader(&self, py: Python<'_>) -> PyResult<Reader> {
        let rows = self.rows.clone();
        let begin = async move {
            let mut rows = rows.execute_stream().await?;
            let first = rows.next().await.transpose()?;
            Ok((rows, first))
        };
        let (mut rows, first) = wait(py, begin)?;
        let (to, from) = channel(AHEAD);
        let runtime = runtime()?;
        runtime.spawn(async move {
            while let Some(batch) = rows.next().await {
                if to.send(batch.map_err(|error| Error::from(error).to_string())).await.is_err() {
                    break;
                }
            }
        });
        let kept = Some((self.engine.clone(), self.found.clone(), runtime));
        Ok(Reader { schema: self.schema_ref(), first, from, kept })
    }
}

/// A reader of the rows that other threads compute.
struct Reader {
    schema: SchemaRef,
    first: Option<RecordBatch>,
    from: Receiver<Result<RecordBatch, String>>,
    /// The engine, the tables and the threads that compute the rows, until the last row was read.
    kept: Option<(Engine, Option<Arc<ibid::Found>>, Arc<Runtime>)>,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let next = self.from.blocking_recv();
        if next.is_none() {
            self.kept = None;
        }
        Some(next?.map_err(ArrowError::ComputeError))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
