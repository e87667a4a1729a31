//! Output of rows as several files, in a folder within a folder of results.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use flate2::write::GzEncoder;
use futures::{Stream, TryStreamExt, stream};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Default;

use super::format::write_batches;
use super::manifest::ManifestFile;
use super::{Form, Format};
use crate::error::misuse;
use crate::seal::Root;
use crate::store::{Stores, seal_of};

/// The formats in which documents are handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartFormat {
    /// Apache Parquet.
    #[default]
    Parquet,
    /// One JSON object a line.
    Jsonl,
    /// The same, compressed by gzip.
    JsonlGz,
    /// The same, compressed by Zstandard.
    JsonlZst,
    /// Comma-separated values with a header.
    Csv,
}

impl PartFormat {
    /// The names of the formats, which are the extensions of their files.
    pub const NAMES: [(&str, Self); 5] = [
        ("parquet", Self::Parquet),
        ("jsonl", Self::Jsonl),
        ("jsonl.gz", Self::JsonlGz),
        ("jsonl.zst", Self::JsonlZst),
        ("csv", Self::Csv),
    ];

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for PartFormat {
    type Err = crate::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = || Self::NAMES.map(|(name, _)| name).join(", ");
        let found = Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, format)| *format);
        found.ok_or_else(|| misuse!("{text:?} is no format of documents; known are {}", known()).into())
    }
}

/// The division of the rows of a table into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Parts {
    pub(crate) format: PartFormat,
    /// Upper bound of the rows of a file, if there is one.
    pub(crate) rows_per_file: Option<u64>,
}

impl Parts {
    /// Writes rows to the files of a new folder, `within` another. Returns their entries in the manifest.
    pub(crate) async fn write(
        self,
        rows: SendableRecordBatchStream,
        within: &Path,
        name: &str,
        about: &Value,
        stores: &Arc<Stores>,
    ) -> Result<Vec<ManifestFile>> {
        let folder = within.join(name);
        fs::create_dir(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
        let schema = rows.schema();
        let mut rows = Rows { rows, left: None };
        let mut files = Vec::new();
        while files.is_empty() || rows.has_more().await? {
            let name = format!("{name}/part-{:05}.{}", files.len(), self.format.name());
            let path = within.join(&name);
            let part = Box::pin(rows.next(self.rows_per_file.unwrap_or(u64::MAX)));
            let write = async {
                let file = Hashed::new(BufWriter::new(File::create(&path)?));
                let form = Form::of(match self.format {
                    PartFormat::Parquet => Format::Parquet,
                    PartFormat::Csv => Format::Csv,
                    PartFormat::Jsonl | PartFormat::JsonlGz | PartFormat::JsonlZst => Format::Ndjson,
                });
                let (rows, file) = match self.format {
                    PartFormat::JsonlGz => {
                        let gzip = GzEncoder::new(file, flate2::Compression::default());
                        write_to(gzip, GzEncoder::finish, &schema, part, form, about).await
                    }
                    PartFormat::JsonlZst => {
                        write_to(zstd::Encoder::new(file, 3)?, zstd::Encoder::finish, &schema, part, form, about).await
                    }
                    PartFormat::Parquet | PartFormat::Jsonl | PartFormat::Csv => {
                        write_to(file, Ok, &schema, part, form, about).await
                    }
                }?;
                let mut seal = file.end()?;
                if self.format == PartFormat::Parquet {
                    seal.1 = seal_of(&path, stores)?.context("internal error: no seal; please report it")?.root;
                }
                anyhow::Ok((rows, seal))
            };
            let (rows, (bytes, seal)) = write.await.with_context(|| format!("cannot write {name}"))?;
            files.push(ManifestFile { name, rows, bytes, seal });
        }
        Ok(files)
    }
}

/// Writes rows to a writer and then ends it.
async fn write_to<T: Write + Send>(
    mut to: T,
    end: impl FnOnce(T) -> io::Result<Hashed>,
    schema: &SchemaRef,
    rows: impl Stream<Item = datafusion::common::Result<RecordBatch>> + Unpin,
    form: Form,
    about: &Value,
) -> Result<(u64, Hashed)> {
    let count = write_batches(schema, rows, form, about, &mut to).await?;
    Ok((count, end(to)?))
}

/// Rows that are taken in portions.
struct Rows {
    rows: SendableRecordBatchStream,
    left: Option<RecordBatch>,
}

impl Rows {
    async fn has_more(&mut self) -> Result<bool> {
        while self.left.as_ref().is_none_or(|batch| batch.num_rows() == 0) {
            let Some(batch) = self.rows.try_next().await? else { return Ok(false) };
            self.left = Some(batch);
        }
        Ok(true)
    }

    /// Returns the next rows, at most `most` of them.
    fn next(&mut self, most: u64) -> impl Stream<Item = datafusion::common::Result<RecordBatch>> {
        stream::try_unfold((self, most), |(rows, most)| async move {
            if most == 0 {
                return Ok(None);
            }
            let batch = match rows.left.take() {
                Some(batch) => batch,
                None => match rows.rows.try_next().await? {
                    Some(batch) => batch,
                    None => return Ok(None),
                },
            };
            let taken = usize::try_from(most).unwrap_or(usize::MAX).min(batch.num_rows());
            rows.left = (taken < batch.num_rows()).then(|| batch.slice(taken, batch.num_rows() - taken));
            Ok(Some((batch.slice(0, taken), (rows, most - taken as u64))))
        })
    }
}

/// A file, with the number of its bytes and their hash.
struct Hashed {
    to: BufWriter<File>,
    bytes: u64,
    hash: Box<Xxh3Default>,
}

impl Hashed {
    fn new(to: BufWriter<File>) -> Self {
        Self { to, bytes: 0, hash: Box::default() }
    }

    fn end(mut self) -> io::Result<(u64, Root)> {
        self.to.flush()?;
        Ok((self.bytes, Root(self.hash.digest())))
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes += written as u64;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a JSON file beside tables. Returns its entry in the manifest.
pub(crate) fn write_json(within: &Path, name: &str, json: &Value) -> Result<ManifestFile> {
    write_text(within, name, &format!("{json:#}\n"))
}

/// Writes a text file beside tables. Returns its entry in the manifest.
pub(crate) fn write_text(within: &Path, name: &str, text: &str) -> Result<ManifestFile> {
    let path = within.join(name);
    let write = || {
        let mut file = Hashed::new(BufWriter::new(File::create(&path)?));
        file.write_all(text.as_bytes())?;
        file.end()
    };
    let (bytes, seal) = write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(ManifestFile { name: name.to_owned(), rows: 0, bytes, seal })
}
