//! From the user's files to a corpus: a folder with `documents.parquet` and `sentences.parquet`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::{DataFrame, ParquetReadOptions, SessionConfig, SessionContext};
use futures::{StreamExt, stream};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::corpus::{BATCH_ROWS, Documents, LeftOutCounts, Summary};
use crate::pipeline::query::CORPUS_SENTENCES;
use crate::seal::{SealedWriter, Written};
use crate::session::session_of_tables;
use crate::store::Location;

/// The files of a corpus folder.
pub(crate) const FILES: [&str; 2] = ["documents.parquet", "sentences.parquet"];

/// When a row group of a corpus file is closed, by what it holds in memory.
const ROW_GROUP_BYTES: usize = 16 << 20;

/// What an ingest did.
#[derive(Debug)]
pub(crate) struct Ingested {
    pub(crate) summary: Summary,
    pub(crate) sentences: u64,
}

impl Ingested {
    /// What tells it from another ingest of the same files, where no bad records are left out.
    pub(crate) fn to_json(&self) -> Value {
        let Summary { documents, left_out: LeftOutCounts { namespace, redirect, disambiguation }, .. } = self.summary;
        json!({
            "documents": documents,
            "left_out": [namespace, redirect, disambiguation],
            "sentences": self.sentences,
        })
    }

    /// That of files of which so much is known before they are read.
    pub(crate) fn of_json(before: Summary, json: &Value) -> Self {
        let number = |json: &Value| json.as_u64().unwrap_or_default();
        let [namespace, redirect, disambiguation] = [0, 1, 2].map(|reason| number(&json["left_out"][reason]));
        let left_out = LeftOutCounts { namespace, redirect, disambiguation };
        let summary = Summary { files_begun: before.files, documents: number(&json["documents"]), left_out, ..before };
        Self { summary, sentences: number(&json["sentences"]) }
    }
}

/// Whether `path` is a corpus folder.
pub(crate) fn is_corpus(path: &Path) -> bool {
    FILES.iter().all(|file| path.join(file).is_file())
}

/// Which tables of a corpus are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needed {
    Documents,
    DocumentsAndSentences,
}

impl Needed {
    /// Their names.
    pub(crate) fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Documents => &["documents"],
            Self::DocumentsAndSentences => &["documents", "sentences"],
        }
    }
}

/// Makes the tables of a corpus folder known as `{prefix}documents` and `{prefix}sentences`.
pub(crate) async fn register(session: &SessionContext, prefix: &str, folder: &Path, needed: Needed) -> Result<()> {
    for (name, path) in tables(prefix, folder, needed) {
        register_file(session, &name, &path).await?;
    }
    Ok(())
}

/// Makes a file of a corpus known as a table.
pub(crate) async fn register_file(session: &SessionContext, name: &str, file: &Path) -> Result<()> {
    file.to_str().with_context(|| format!("{} is not Unicode", file.display()))?;
    let registered = session.register_parquet(name, location(file), ParquetReadOptions::default());
    registered.await.with_context(|| format!("cannot read {}", file.display()))
}

/// The statement that makes a file of a corpus known as a table.
pub(crate) fn statement(prefix: &str, file: &Path, table: &str) -> String {
    let path = location(file).replace('\'', "''");
    format!("CREATE EXTERNAL TABLE {prefix}{table} STORED AS PARQUET LOCATION '{path}'")
}

/// A file or an object, as DataFusion names it.
fn location(file: &Path) -> String {
    match Location::of_path(file) {
        Ok(Some(location)) => location.url().to_string(),
        _ => file.display().to_string(),
    }
}

/// The tables of a corpus folder and their files.
fn tables(prefix: &str, folder: &Path, needed: Needed) -> impl Iterator<Item = (String, PathBuf)> {
    needed.tables().iter().map(move |table| (format!("{prefix}{table}"), folder.join(format!("{table}.parquet"))))
}

/// Reads `documents` and writes the files that are needed into `folder`.
///
/// Batches of documents are cut into sentences in parallel and written in the order in which they were read, so that
/// the files are the same for any number of threads. At most one batch a thread is in memory.
pub(crate) async fn ingest(
    session: &SessionContext,
    documents: Documents,
    folder: &Path,
    needed: Needed,
) -> Result<Ingested> {
    let config = session.copied_config();
    let threads = config.target_partitions();
    let runtime = session.runtime_env();
    let schema = documents.schema();
    let batches = stream::unfold(Some(documents), |reader| async {
        let mut reader = reader?;
        // Reading blocks, so it has a thread of its own.
        let next = SpawnedTask::spawn_blocking(move || (reader.next(), reader)).join().await;
        match next {
            Ok((Some(Ok(batch)), reader)) => Some((Ok((Some(batch), reader.summary())), Some(reader))),
            Ok((Some(Err(error)), _)) => Some((Err(anyhow::Error::new(error)), None)),
            // What was left out behind the last batch counts, too.
            Ok((None, reader)) => Some((Ok((None, reader.summary())), None)),
            Err(error) => Some((Err(anyhow::Error::new(error).context("the reader stopped")), None)),
        }
    });
    let mut cut = batches
        .map(|read| {
            // Pages of Parquet end between batches: those of the session, which are smaller in little memory, would make another file.
            let config = config.clone().with_target_partitions(1).with_batch_size(BATCH_ROWS);
            let runtime = Arc::clone(&runtime);
            async move {
                let (batch, summary) = read?;
                let Some(batch) = batch else { return Ok((None, summary)) };
                if needed == Needed::Documents {
                    return Ok((Some((batch, Vec::new())), summary));
                }
                let documents = batch.clone();
                let sentences = SpawnedTask::spawn(cut_sentences(config, runtime, documents))
                    .join()
                    .await
                    .context("the sentence splitter stopped")??;
                anyhow::Ok((Some((batch, sentences)), summary))
            }
        })
        .buffered(threads)
        .boxed();

    let mut documents = CorpusFile::create(folder, "documents.parquet", &schema)?;
    let mut sentences: Option<CorpusFile> = None;
    let mut last = None;
    while let Some(next) = cut.next().await {
        let (cut, summary) = next?;
        last = Some(summary);
        let Some((batch, cut)) = cut else { continue };
        documents.write(&batch)?;
        for batch in cut {
            match &mut sentences {
                Some(file) => file.write(&batch)?,
                None => {
                    let mut file = CorpusFile::create(folder, "sentences.parquet", &batch.schema())?;
                    file.write(&batch)?;
                    sentences = Some(file);
                }
            }
        }
    }
    let Some(summary) = last else { bail!("there are no documents in the input") };
    if summary.documents == 0 {
        if summary.left_out.pages() > 0 {
            bail!("all pages were left out on request: {}", summary.left_out);
        }
        bail!("there are no documents in the input");
    }
    let about = about_corpus();
    documents.close(&about)?;
    let sentences = sentences.map(|file| file.close(&about)).transpose()?.map_or(0, |written| written.rows);
    Ok(Ingested { summary, sentences })
}

/// What the files of a corpus say that they are: what they hold depends on nothing but the documents.
pub(crate) fn about_corpus() -> Value {
    json!({ "ibid": env!("CARGO_PKG_VERSION") })
}

/// Runs `queries/corpus/sentences.sql` over some documents.
async fn cut_sentences(
    config: SessionConfig,
    runtime: Arc<datafusion::execution::runtime_env::RuntimeEnv>,
    documents: RecordBatch,
) -> Result<Vec<RecordBatch>> {
    let session = session_of_tables(config, runtime);
    session.register_batch("documents", documents)?;
    match session.state().create_logical_plan(CORPUS_SENTENCES.sql).await? {
        LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(table)) => {
            let frame = DataFrame::new(session.state(), Arc::unwrap_or_clone(table.input));
            let schema = Arc::clone(frame.schema().inner());
            let mut batches = frame.collect().await?;
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            Ok(batches)
        }
        _ => bail!("internal error: queries/{} does not make a table; please report it", CORPUS_SENTENCES.file),
    }
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

    /// Ends the file, of which `about` says what it is.
    pub(crate) fn close(self, about: &Value) -> Result<Written> {
        Ok(self.writer.close(about).with_context(|| format!("cannot write {}", self.path.display()))?.1)
    }
}
