//! From the user's files to a corpus: a folder with `documents.parquet` and `sentences.parquet`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::{AsArray, RecordBatch, UInt64Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{TableReference, exec_datafusion_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, stream};
use ibid_udfs::{LanguageChoice, each_sentences, sentence_fields};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::corpus::{
    self, BATCH_BYTES, BATCH_ROWS, Documents, Dropped, LISTED, LeftOutCounts, Skipped, Summary, origins_schema,
};
use crate::export::layout::ORIGINS;
use crate::seal::{SealedWriter, Written};
use crate::store::{Found, Location, Stores};

/// The number of batches of sentences that may wait to be written, for one batch of documents. That is room for all of
/// them, unless the sentences are very short.
const BATCHES_AHEAD: usize = 8;

/// The size in memory, in bytes, at which a row group of a corpus file is closed.
const ROW_GROUP_BYTES: usize = 16 << 20;

/// The result of an ingest.
#[derive(Debug)]
pub struct Ingested {
    pub(crate) summary: Summary,
    pub(crate) sentences: u64,
}

impl Ingested {
    /// Returns the initial result for the files of `before`, to which recorded results are added. All files count as
    /// begun.
    pub(crate) fn none(before: Summary) -> Self {
        Self { summary: Summary { files_begun: before.files, ..before }, sentences: 0 }
    }

    /// Returns the counts and the bad records as JSON. All else is the same for another ingest of the same files.
    pub(crate) fn to_json(&self) -> Value {
        let Summary { documents, left_out, dropped, skipped, skipped_count, .. } = &self.summary;
        let LeftOutCounts { namespace, redirect, disambiguation, records } = left_out;
        let Dropped { pages, whole, bytes, dropped } = dropped;
        json!({
            "documents": documents,
            "left_out": [namespace, redirect, disambiguation, records],
            "dropped": [pages, whole, bytes, dropped],
            "sentences": self.sentences,
            "skipped": skipped.iter().map(Skipped::to_json).collect::<Vec<_>>(),
            "skipped_count": skipped_count,
        })
    }

    /// Adds the counts and the bad records of another result, from the JSON of [`Self::to_json`].
    pub(crate) fn add(&mut self, json: &Value) {
        let number = |json: &Value| json.as_u64().unwrap_or_default();
        let Summary { documents, left_out, dropped, skipped, skipped_count, .. } = &mut self.summary;
        let LeftOutCounts { namespace, redirect, disambiguation, records } = left_out;
        for (at, count) in [namespace, redirect, disambiguation, records].into_iter().enumerate() {
            *count += number(&json["left_out"][at]);
        }
        let Dropped { pages, whole, bytes, dropped } = dropped;
        for (at, count) in [pages, whole, bytes, dropped].into_iter().enumerate() {
            *count += number(&json["dropped"][at]);
        }
        *documents += number(&json["documents"]);
        self.sentences += number(&json["sentences"]);
        *skipped_count += number(&json["skipped_count"]);
        skipped.extend(json["skipped"].as_array().into_iter().flatten().map(Skipped::of_json));
        skipped.truncate(LISTED);
    }

    /// Fails if there are no documents.
    pub(crate) fn check(&self) -> Result<()> {
        let summary = &self.summary;
        if summary.documents > 0 {
            return Ok(());
        }
        if summary.left_out.pages() > 0 {
            bail!("all pages were left out on request: {}", summary.left_out);
        }
        if summary.left_out.records > 0 {
            bail!(
                "there are no documents in the input: none of {} records is a page of text; pages of text are \
                 responses with status 2xx, resources and conversions with HTML or plain text",
                summary.left_out.records
            );
        }
        if let [first, ..] = summary.skipped.as_slice() {
            bail!(
                "there are no documents in the input: all {} records are bad and were left out; the first: {first}",
                summary.skipped_count
            );
        }
        bail!("there are no documents in the input");
    }
}

/// The tables of a corpus that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    Documents,
    DocumentsAndSentences,
}

impl Needed {
    /// Returns the names of the tables.
    pub(crate) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Documents => &["documents"],
            Self::DocumentsAndSentences => &["documents", "sentences"],
        }
    }
}

/// Registers the tables of a corpus folder as `{prefix}documents` and `{prefix}sentences`.
pub(crate) async fn register(session: &SessionContext, prefix: &str, folder: &Path, needed: Needed) -> Result<()> {
    for (name, path) in tables(prefix, folder, needed) {
        register_file(session, &name, &path).await?;
    }
    Ok(())
}

/// Registers a file of a corpus as a table. All readers read the same file: once another file has replaced it, reading
/// fails.
pub(crate) async fn register_file(
    session: &SessionContext,
    name: impl Into<TableReference>,
    file: &Path,
) -> Result<()> {
    let registered = async {
        let state = session.state();
        let stores = Stores::of_session(&state);
        let location = match Location::of_path(file, &stores)? {
            None => Location::of_file(file.to_str().context("its name is not UTF-8")?, &stores)?,
            location => location,
        };
        let found = Found::at(location.as_slice(), &state).await?.context("there is no such file")?;
        let table = found.parquet_table(session).await?;
        session.register_table(name, Arc::new(table))?;
        anyhow::Ok(())
    };
    registered.await.with_context(|| format!("cannot read {}", file.display()))
}

/// Returns the SQL statement that registers a file of a corpus as a table.
pub(crate) fn statement(prefix: &str, file: &Path, table: &str) -> String {
    let path = file.display().to_string().replace('\'', "''");
    format!("CREATE EXTERNAL TABLE {prefix}{table} STORED AS PARQUET LOCATION '{path}'")
}

/// Returns the tables of a corpus folder and their files.
fn tables(prefix: &str, folder: &Path, needed: Needed) -> impl Iterator<Item = (String, PathBuf)> {
    needed.tables().iter().map(move |table| (format!("{prefix}{table}"), folder.join(format!("{table}.parquet"))))
}

/// Reads `documents` and writes the needed files into `folder`, and the origins of the documents if they are noted.
/// Fails if there are no documents.
pub(crate) async fn ingest(
    session: &SessionContext,
    documents: Documents,
    folder: &Path,
    needed: Needed,
) -> Result<Ingested> {
    let (ingested, _) = ingest_any(session.copied_config().target_partitions(), documents, folder, needed).await?;
    ingested.check()?;
    Ok(ingested)
}

/// Does the same as [`ingest`] with `threads` threads, but also if there are no documents. Also returns the row count,
/// the size and the seal of each table's file.
///
/// Batches of documents are cut into sentences in parallel and written in the order in which they were read, so that
/// the files are the same for any number of threads. At most one batch a thread is in memory.
pub(crate) async fn ingest_any(
    threads: usize,
    documents: Documents,
    folder: &Path,
    needed: Needed,
) -> Result<(Ingested, Vec<Written>)> {
    let (schema, notes_origins) = (documents.schema(), documents.notes_origins());
    let language = documents.options().sentence_language;
    let batches = stream::unfold(Some(documents), |reader| async {
        let mut reader = reader?;
        // Reading blocks, so it has a thread of its own.
        let read = move || {
            let batch = reader.next().map(|batch| {
                let batch = batch?;
                let origins = reader.origins(&batch)?;
                Ok::<_, corpus::Error>((batch, origins))
            });
            (batch, reader)
        };
        match SpawnedTask::spawn_blocking(read).join().await {
            Ok((Some(Ok(batch)), reader)) => Some((Ok((Some(batch), reader.summary())), Some(reader))),
            Ok((Some(Err(error)), _)) => Some((Err(anyhow::Error::new(error)), None)),
            // Records that were left out after the last batch count, too.
            Ok((None, reader)) => Some((Ok((None, reader.summary())), None)),
            Err(error) => Some((Err(anyhow::Error::new(error).context("the reader stopped")), None)),
        }
    });
    let mut cut = batches
        .map(|read| {
            let cut = |(batch, summary): (Option<(RecordBatch, Option<RecordBatch>)>, _)| {
                let sentences = |batch: &RecordBatch| {
                    (needed == Needed::DocumentsAndSentences).then(|| cut_sentences(batch.clone(), language))
                };
                (batch.map(|(batch, origins)| (sentences(&batch), batch, origins)), summary)
            };
            std::future::ready(read.map(cut))
        })
        .buffered(threads)
        .boxed();

    let mut documents = CorpusFile::create(folder, "documents.parquet", &schema)?;
    let mut sentences = match needed {
        Needed::Documents => None,
        Needed::DocumentsAndSentences => Some(CorpusFile::create(folder, "sentences.parquet", &sentences_schema())?),
    };
    let mut origins = notes_origins.then(|| CorpusFile::create(folder, ORIGINS, &origins_schema())).transpose()?;
    let mut last = None;
    while let Some(next) = cut.next().await {
        let (cut, summary) = next?;
        last = Some(summary);
        let Some((cut, batch, of_batch)) = cut else { continue };
        documents.write(&batch)?;
        if let (Some(file), Some(of_batch)) = (&mut origins, of_batch) {
            file.write(&of_batch)?;
        }
        if let (Some(file), Some(mut cut)) = (&mut sentences, cut) {
            while let Some(batch) = cut.next().await {
                file.write(&batch?)?;
            }
        }
    }
    let Some(summary) = last else { bail!("there are no documents in the input") };
    let about = about_corpus();
    let documents = documents.close(&about)?;
    origins.map(|file| file.close(&about)).transpose()?;
    let sentences = sentences.map(|file| file.close(&about)).transpose()?;
    let ingested = Ingested { summary, sentences: sentences.map_or(0, |written| written.rows) };
    Ok((ingested, std::iter::once(documents).chain(sentences).collect()))
}

/// Returns the description in the files of a corpus. It is constant, because the content of the files depends on
/// nothing but the documents.
pub(crate) fn about_corpus() -> Value {
    json!({ "ibid": env!("CARGO_PKG_VERSION") })
}

/// Returns the columns of the sentences.
fn sentences_schema() -> SchemaRef {
    let doc_id = Arc::new(Field::new("doc_id", DataType::Utf8, false));
    Arc::new(Schema::new(std::iter::once(doc_id).chain(sentence_fields().iter().cloned()).collect::<Vec<_>>()))
}

/// Returns the sentences of some documents, as `queries/corpus/sentences.sql` defines them. A task cuts them, and waits
/// while a few batches have not been taken. So few sentences of a document with millions are in memory.
fn cut_sentences(documents: RecordBatch, language: LanguageChoice) -> SendableRecordBatchStream {
    let mut builder = RecordBatchReceiverStreamBuilder::new(sentences_schema(), BATCHES_AHEAD);
    let sender = builder.tx();
    builder.spawn_blocking(move || {
        let texts = cast(documents.column(1), &DataType::Utf8View)?;
        // Each sentence has the id of its document, which may be long.
        let longest = documents.column(0).as_string::<i32>().iter().flatten().map(str::len).max().unwrap_or_default();
        let most = (BATCH_BYTES / longest.max(1)).clamp(1, BATCH_ROWS);
        each_sentences(texts.as_string_view(), language, most, |rows, sentences| {
            let rows = UInt64Array::from_iter_values(rows.into_iter().map(|row| row as u64));
            let mut columns = vec![take(documents.column(0), &rows, None)?];
            columns.extend(sentences.into_parts().1);
            let batch = RecordBatch::try_new(sentences_schema(), columns)?;
            // Nobody takes the sentences any more if the run has failed.
            sender.blocking_send(Ok(batch)).map_err(|_| exec_datafusion_err!("nobody takes the sentences"))
        })
    });
    builder.build()
}

/// A file of a corpus folder that is being written.
pub(crate) struct CorpusFile {
    path: PathBuf,
    writer: SealedWriter<File>,
}

impl CorpusFile {
    pub(crate) fn create(folder: &Path, name: &str, schema: &SchemaRef) -> Result<Self> {
        let path = folder.join(name);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?));
        let failed = || format!("cannot write {}", path.display());
        let file = File::create(&path).with_context(failed)?;
        let writer = SealedWriter::try_new(file, Arc::clone(schema), properties).with_context(failed)?;
        Ok(Self { path, writer })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let failed = || format!("cannot write {}", self.path.display());
        self.writer.write(batch).and_then(|()| self.writer.end_group_above(ROW_GROUP_BYTES)).with_context(failed)
    }

    /// Ends the file, with `about` as its description.
    pub(crate) fn close(self, about: &Value) -> Result<Written> {
        Ok(self.writer.close(about).with_context(|| format!("cannot write {}", self.path.display()))?.1)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::StringArray;
    use arrow::compute::concat_batches;
    use futures::TryStreamExt;

    use super::*;
    use crate::session;

    #[tokio::test]
    async fn sentences_are_cut_as_the_query_says() {
        let schema = ["doc_id", "text"].map(|name| Field::new(name, DataType::Utf8, false));
        let ids = StringArray::from(vec!["a", "none", "b"]);
        let texts =
            StringArray::from(vec!["One. Two, too!\n\nÜnd drei… Vier", " \n", "Dr. No said: “Go.” So they went."]);
        let schema = Arc::new(Schema::new(schema.to_vec()));
        let documents = RecordBatch::try_new(schema, vec![Arc::new(ids), Arc::new(texts)]).unwrap();
        let session = session(Default::default(), Default::default()).unwrap();
        session.register_batch("documents", documents.clone()).unwrap();
        session.sql(include_str!("../../queries/corpus/sentences.sql")).await.unwrap().collect().await.unwrap();
        let by_query =
            session.sql("SELECT * FROM sentences ORDER BY doc_id, sent").await.unwrap().collect().await.unwrap();
        let cut: Vec<_> = cut_sentences(documents, LanguageChoice::Detected).try_collect().await.unwrap();
        let rows = |batches: &[RecordBatch]| {
            let columns = concat_batches(&batches[0].schema(), batches).unwrap();
            columns.columns().iter().map(|column| cast(column, &DataType::Utf8).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(rows(&by_query), rows(&cut));
        assert!(rows(&cut)[0].len() > 5);
    }
}
