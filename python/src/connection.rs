use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ibid::Engine;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::collection::Collection;
use crate::errors::raised;
use crate::found::{Found, said};
use crate::rows::Rows;
use crate::running::{wait, wait_telling};

/// An engine, until it is closed.
#[pyclass(frozen, module = "ibid._ibid")]
pub(crate) struct Connection(Mutex<Option<Engine>>);

impl Connection {
    fn engine(&self) -> PyResult<Engine> {
        let engine = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        engine.ok_or_else(|| PyRuntimeError::new_err("the connection is closed; make another one with ibid.connect()"))
    }
}

#[pymethods]
impl Connection {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        memory: Option<&str>,
        threads: Option<usize>,
        temporary_folder: Option<PathBuf>,
        endpoint: Option<String>,
        region: Option<String>,
        anonymous: bool,
        allow_http: Option<bool>,
        keys: Option<(String, String)>,
        session_token: Option<String>,
    ) -> PyResult<Self> {
        let mut engine = Engine::builder().anonymous(anonymous);
        if let Some(memory) = memory {
            engine = engine.memory(ibid::bytes(memory).map_err(|error| raised(py, &error))?);
        }
        if let Some(threads) = threads {
            engine = engine.threads(threads);
        }
        if let Some(folder) = temporary_folder {
            engine = engine.temporary_folder(folder);
        }
        if let Some(endpoint) = endpoint {
            engine = engine.endpoint(endpoint);
        }
        if let Some(region) = region {
            engine = engine.region(region);
        }
        if let Some(allows) = allow_http {
            engine = engine.allow_http(allows);
        }
        if let Some((id, secret)) = keys {
            engine = engine.keys(id, secret);
        }
        if let Some(token) = session_token {
            engine = engine.session_token(token);
        }
        let engine = py.detach(|| engine.build()).map_err(|error| raised(py, &error))?;
        Ok(Self(Mutex::new(Some(engine))))
    }

    /// The bytes of memory that it may take.
    #[getter]
    fn memory(&self) -> PyResult<Option<usize>> {
        Ok(self.engine()?.memory())
    }

    /// Runs a method with options, as text, and further collections by name.
    fn method(
        &self,
        py: Python<'_>,
        name: &str,
        input: &Collection,
        options: Vec<(String, Vec<String>)>,
        collections: Vec<(String, Bound<'_, Collection>)>,
        on_event: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Found> {
        let engine = self.engine()?;
        let mut method = engine.method(name, input.0.clone()).map_err(|error| raised(py, &error))?;
        for (name, values) in options {
            method = method.option(name, values);
        }
        for (name, collection) in collections {
            method = method.collection(name, collection.get().0.clone());
        }
        let found = wait_telling(py, on_event, |tell| method.on_event(tell).into_future())?;
        Ok(Found { found: Arc::new(found), engine })
    }

    /// Writes a corpus to a folder, and returns what was counted.
    fn ingest<'py>(
        &self,
        py: Python<'py>,
        input: &Collection,
        folder: PathBuf,
        options: Vec<(String, Vec<String>)>,
        on_event: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let ingest = self.engine()?.ingest(input.0.clone()).options(options).map_err(|error| raised(py, &error))?;
        said(py, &wait_telling(py, on_event, |tell| ingest.on_event(tell).write(folder))?)
    }

    /// Writes a page of HTML of a result that was written, and returns what was counted.
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn report<'py>(
        &self,
        py: Python<'py>,
        result: PathBuf,
        path: PathBuf,
        corpus: &Collection,
        against: Option<&Collection>,
        options: Vec<(String, Vec<String>)>,
        on_event: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let report = self.engine()?.report(result).corpus(corpus.0.clone());
        let report = match against {
            Some(against) => report.against(against.0.clone()),
            None => report,
        };
        let report = report.options(options).map_err(|error| raised(py, &error))?;
        said(py, &wait_telling(py, on_event, |tell| report.on_event(tell).write(path))?)
    }

    /// Reads verdicts.
    fn review(
        &self,
        py: Python<'_>,
        verdicts: &Collection,
        options: Vec<(String, Vec<String>)>,
        on_event: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Found> {
        let engine = self.engine()?;
        let review = engine.review(verdicts.0.clone()).options(options).map_err(|error| raised(py, &error))?;
        let found = wait_telling(py, on_event, |tell| review.on_event(tell).into_future())?;
        Ok(Found { found: Arc::new(found), engine })
    }

    /// Checks files and folders. Returns of each file its name, whether it is wrong, and what is said of it.
    fn verify(&self, py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Vec<(String, bool, String)>> {
        let checked = wait(py, self.engine()?.verify(paths).into_future())?;
        Ok(checked.into_iter().map(|file| (file.file.clone(), file.is_wrong(), file.said)).collect())
    }

    /// Plans a query, or runs another statement.
    fn sql(&self, py: Python<'_>, query: String) -> PyResult<Rows> {
        let engine = self.engine()?;
        let of_query = engine.clone();
        let rows = wait(py, async move { of_query.sql(&query).await })?;
        Ok(Rows::new(rows, engine, None))
    }

    /// Makes rows a table.
    fn register(&self, py: Python<'_>, name: String, rows: &Collection) -> PyResult<()> {
        let (engine, rows) = (self.engine()?, rows.0.clone());
        wait(py, async move { engine.register(&name, rows).await })
    }

    /// Lets go of the engine. Its temporary files go with the last result of it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let engine = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match engine {
            Some(engine) => wait(py, async move {
                engine.close().await;
                Ok(())
            }),
            None => Ok(()),
        }
    }
}
