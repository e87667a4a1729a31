//! Runs the SQL logic tests of `tests/slt`.
//!
//! `SLT=join cargo test slt` runs the files whose path contains `join`; with `SLT_COMPLETE=1` it writes the answers
//! into the files instead of comparing, for a person to read in the diff.

use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use ibid::Engine;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType, Runner, default_column_validator, default_normalizer};

/// The runner of statements.
enum Session {
    Alone(Box<SessionContext>),
    OfEngine(Engine),
}

#[async_trait::async_trait]
impl AsyncDB for Session {
    type Error = DataFusionError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, DataFusionError> {
        let frame = match self {
            Self::Alone(session) => session.sql(sql).await?,
            Self::OfEngine(engine) => engine.sql(sql).await?,
        };
        let types = frame.schema().fields().iter().map(|field| column_type(field.data_type())).collect::<Vec<_>>();
        let batches = frame.collect().await?;
        if types.is_empty() {
            return Ok(DBOutput::StatementComplete(0));
        }
        let rows = batches.iter().map(rows_of).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(DBOutput::Rows { types, rows })
    }

    async fn shutdown(&mut self) {}
}

fn column_type(given: &DataType) -> DefaultColumnType {
    match given {
        integer if integer.is_integer() => DefaultColumnType::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => DefaultColumnType::FloatingPoint,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DefaultColumnType::Text,
        _ => DefaultColumnType::Any,
    }
}

fn rows_of(batch: &RecordBatch) -> Result<Vec<Vec<String>>, DataFusionError> {
    let options = FormatOptions::default().with_null("NULL");
    let columns = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options))
        .collect::<Result<Vec<_>, _>>()?;
    let cell = |column: usize, row: usize| {
        if batch.column(column).is_null(row) {
            return "NULL".to_string();
        }
        match columns[column].value(row).to_string() {
            empty if empty.is_empty() => "(empty)".to_string(),
            text => text.replace('\n', "\\n"),
        }
    };
    Ok((0..batch.num_rows()).map(|row| (0..columns.len()).map(|column| cell(column, row)).collect()).collect())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "slt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn slt() {
    let wanted = std::env::var("SLT").unwrap_or_default();
    let complete = std::env::var_os("SLT_COMPLETE").is_some();
    let all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/slt"));
    let chosen: Vec<_> = all.into_iter().filter(|path| path.to_string_lossy().contains(&wanted)).collect();
    assert!(!chosen.is_empty(), "no .slt file has '{wanted}' in its path");
    let mut failed = Vec::new();
    // The dialect is the same in a session and in an engine.
    for (path, by_engine) in chosen.iter().flat_map(|path| [(path, false), (path, true)]) {
        if by_engine && complete {
            continue;
        }
        let mut runner = Runner::new(|| async move {
            if by_engine {
                return Engine::new().map(Session::OfEngine).map_err(DataFusionError::from);
            }
            ibid::session(Default::default(), Default::default()).map(|session| Session::Alone(Box::new(session)))
        });
        let outcome = if complete {
            runner
                .update_test_file(path, "\t", values_match, default_normalizer, default_column_validator)
                .await
                .map_err(|error| error.to_string())
        } else {
            runner.with_validator(values_match);
            runner.run_file_async(path).await.map_err(|error| error.to_string())
        };
        if let Err(error) = outcome {
            failed.push(format!("{}{}\n{error}", path.display(), if by_engine { ", by the engine" } else { "" }));
        }
    }
    assert!(failed.is_empty(), "{} of {} files failed\n{}", failed.len(), chosen.len(), failed.join("\n"));
}

/// Columns are separated by one tab.
fn values_match(_: sqllogictest::Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.iter().map(|row| row.join("\t")).eq(expected.iter().map(|line| line.trim_end()))
}
