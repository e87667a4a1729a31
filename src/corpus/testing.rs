//! Test helpers: a folder of files, and the documents read from it.

use std::io::Write;
use std::path::PathBuf;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::util::pretty::pretty_format_batches;
use tempfile::TempDir;

use super::{Documents, Options, open_with_stdin};

pub(super) struct Folder(TempDir);

impl Folder {
    /// Creates a folder with these files, and their parent folders.
    pub(super) fn of(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, data) in files {
            folder.add(name, data);
        }
        folder
    }

    pub(super) fn add(&self, name: &str, data: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, data).unwrap();
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Opens inputs of this folder; `""` is the folder itself.
    pub(super) fn open(&self, inputs: &[&str], options: &Options) -> Result<Documents, String> {
        let inputs: Vec<_> = inputs.iter().map(|input| self.path(input).to_str().unwrap().to_owned()).collect();
        open_with_stdin(&inputs, options, &mut std::io::empty(), &std::sync::Arc::default())
            .map_err(|e| self.shorten(&e))
    }

    /// Returns all documents, or the first error.
    pub(super) fn batch(&self, inputs: &[&str], options: &Options) -> Result<RecordBatch, String> {
        let documents = self.open(inputs, options)?;
        let schema = documents.schema();
        let batches = documents.collect::<Result<Vec<_>, _>>().map_err(|e| self.shorten(&e))?;
        Ok(concat_batches(&schema, &batches).unwrap())
    }

    /// Returns the ids and texts.
    pub(super) fn read(&self, inputs: &[&str], options: &Options) -> Result<Vec<(String, String)>, String> {
        self.batch(inputs, options).map(|batch| pairs(&batch))
    }

    /// Returns the documents as a table, one line per row, with cells separated by `|`.
    pub(super) fn table(&self, inputs: &[&str], options: &Options) -> Vec<String> {
        let table = pretty_format_batches(&[self.batch(inputs, options).unwrap()]).unwrap().to_string();
        let rows = table.lines().filter(|line| line.starts_with('|'));
        rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join("|")).collect()
    }

    /// Returns the error of reading.
    pub(super) fn error(&self, inputs: &[&str], options: &Options) -> String {
        self.batch(inputs, options).unwrap_err()
    }

    /// Returns the message without the folder's own path.
    fn shorten(&self, error: &dyn std::fmt::Display) -> String {
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }
}

pub(super) fn pairs(batch: &RecordBatch) -> Vec<(String, String)> {
    let column = |i: usize| batch.column(i).as_string::<i32>().iter().map(|value| value.unwrap().to_owned());
    column(0).zip(column(1)).collect()
}

/// Returns pairs of an id and a text, as [`Folder::read`] does.
pub(super) fn documents(given: &[(&str, &str)]) -> Vec<(String, String)> {
    given.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

pub(super) fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn bzip2(data: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns options that leave bad records out.
pub(super) fn skip() -> Options {
    Options { on_error: super::OnError::Skip, ..Options::default() }
}
