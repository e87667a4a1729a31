use std::path::PathBuf;
use std::sync::Arc;

use ibid::Summary;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::raised;
use crate::rows::Rows;
use crate::running::{wait, wait_telling};

/// The tables that a method has found, and what it counted.
#[pyclass(frozen, module = "ibid._ibid")]
pub(crate) struct Found {
    pub(crate) found: Arc<ibid::Found>,
    pub(crate) engine: ibid::Engine,
}

#[pymethods]
impl Found {
    /// The names of the tables.
    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.found.tables().collect()
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Rows> {
        let rows = self.found.dataframe(name).map_err(|error| raised(py, &error))?;
        Ok(Rows::new(rows, self.engine.clone(), Some(Arc::clone(&self.found))))
    }

    /// Returns the first rows of a table with the texts that they are about, cut to so many characters.
    fn excerpts(&self, py: Python<'_>, table: String, rows: usize, characters: usize) -> PyResult<Rows> {
        let found = Arc::clone(&self.found);
        let rows = wait(py, async move { found.excerpts(&table, rows, characters).await })?;
        Ok(Rows::new(rows, self.engine.clone(), Some(Arc::clone(&self.found))))
    }

    /// Returns what went for a text that is least like it, with both texts, cut to so many characters.
    fn least_similar(&self, py: Python<'_>, rows: usize, characters: usize) -> PyResult<Rows> {
        let found = Arc::clone(&self.found);
        let rows = wait(py, async move { found.least_similar(rows, characters).await })?;
        Ok(Rows::new(rows, self.engine.clone(), Some(Arc::clone(&self.found))))
    }

    /// The counts, and what else there is to say, by name.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        said(py, self.found.summary())
    }

    /// Writes a table to a file, and returns how many rows it has.
    fn write(&self, py: Python<'_>, table: String, path: PathBuf) -> PyResult<u64> {
        let found = Arc::clone(&self.found);
        wait(py, async move {
            let staged = found.stage(&table, path).await?;
            let rows = staged.rows();
            staged.commit().await?;
            Ok(rows)
        })
    }

    /// Writes all tables to a folder, and returns how many rows each has.
    fn write_folder(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<(&'static str, u64)>> {
        let found = Arc::clone(&self.found);
        wait(py, async move { found.write_folder(path).await })
    }

    /// Writes a page of HTML, and returns what was counted.
    fn report<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        options: Vec<(String, Vec<String>)>,
        on_event: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let found = Arc::clone(&self.found);
        let summary = wait_telling(py, on_event, |tell| async move {
            found.report().options(options)?.on_event(tell).write(path).await
        })?;
        said(py, &summary)
    }

    /// Decides anew which duplicates go, by another threshold.
    fn rethreshold(&self, py: Python<'_>, threshold: f64, on_event: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let found = Arc::clone(&self.found);
        let again =
            wait_telling(py, on_event, |tell| async move { found.rethreshold(threshold).await?.on_event(tell).await })?;
        Ok(Self { found: Arc::new(again), engine: self.engine.clone() })
    }
}

/// Returns a summary by the names of its fields.
pub(crate) fn said<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    let counts = PyDict::new(py);
    summary.counts.iter().try_for_each(|(name, count)| counts.set_item(name, count))?;
    said.set_item("counts", counts)?;
    said.set_item("capped", summary.capped)?;
    said.set_item("skipped", summary.skipped)?;
    let skipped = summary.skipped_records.iter();
    let skipped: Vec<_> =
        skipped.map(|record| (&record.file, record.line, record.byte, record.record, &record.reason)).collect();
    said.set_item("skipped_records", skipped)?;
    said.set_item("left_out", &summary.left_out)?;
    said.set_item("notes", &summary.notes)?;
    said.set_item("seconds", summary.seconds)?;
    Ok(said)
}
