use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::PathBuf;

use arrow::array::{RecordBatchIterator, RecordBatchReader};
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder;
use arrow::json::reader::infer_json_schema;
use ibid::Input;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

use crate::errors::raised;

/// Documents that methods read.
#[pyclass(frozen, module = "ibid._ibid")]
pub(crate) struct Collection(pub(crate) Input);

#[pymethods]
impl Collection {
    /// Returns the documents of files, folders, patterns and URLs.
    #[staticmethod]
    fn places(places: Vec<PathBuf>) -> Self {
        Self(Input::places(places))
    }

    /// Returns the rows of an object with `__arrow_c_stream__` or `__arrow_c_array__`, which are read when they are asked for.
    #[staticmethod]
    fn stream(object: AnyRecordBatch) -> PyResult<Self> {
        let reader = object.into_reader()?;
        let schema = reader.schema();
        Ok(Self(Input::batches(RecordBatchIterator::new(reader, schema))))
    }

    /// Returns the rows of a file of JSON lines, which is open from here on. Their columns have the types that hold all values.
    #[staticmethod]
    fn json_lines(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let reader = || -> Result<_, ArrowError> {
            let mut file = BufReader::new(File::open(&path)?);
            let (schema, _) = infer_json_schema(&mut file, None)?;
            file.rewind()?;
            ReaderBuilder::new(schema.into()).with_coerce_primitive(true).build(file)
        };
        match py.detach(reader) {
            Ok(reader) => Ok(Self(Input::batches(reader))),
            Err(error) => Err(raised(py, &datafusion::error::DataFusionError::from(error).into())),
        }
    }
}
