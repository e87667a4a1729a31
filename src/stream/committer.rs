//! Documents that were judged, on their way into the index.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use datafusion::common::runtime::SpawnedTask;
use datafusion::prelude::SessionContext;

use crate::corpus::ingest::{self, Needed};
use crate::corpus::{self, OnError};
use crate::index::Index;
use crate::run::{Run, grouped};
use crate::store::GivenUp;

/// A writer that adds documents to the index, part by part, while others are being judged.
pub(crate) struct Committer {
    index: Index,
    session: SessionContext,
    reading: corpus::Options,
    time_column: Option<String>,
    folder: PathBuf,
    lines: Option<BufWriter<File>>,
    /// The number of documents that wait.
    count: u64,
    /// The earliest and the latest time of the documents that wait.
    times: [f64; 2],
    /// The number of parts so far.
    parts: u64,
    /// The number of documents that are in the index, and the number of all that were taken.
    added: u64,
    taken: u64,
    busy: Option<SpawnedTask<Result<Index>>>,
    /// True if a part could not be added: then no later part is added.
    has_failed: bool,
}

/// The times of no documents.
const NO_TIMES: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Committer {
    pub(crate) fn new(run: &Run, index: Index, time_column: Option<String>, reading: &corpus::Options) -> Result<Self> {
        Ok(Self {
            index,
            // The other threads are for documents that arrive.
            session: run.session_of_one_thread()?,
            reading: corpus::Options { on_error: OnError::Fail, ..reading.clone() },
            time_column,
            folder: run.workspace.folder().to_path_buf(),
            lines: None,
            count: 0,
            times: NO_TIMES,
            parts: 0,
            added: 0,
            taken: 0,
            busy: None,
            has_failed: false,
        })
    }

    /// Returns the number of documents that wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.count
    }

    /// Returns the number of documents that were taken and are not in the index.
    pub(crate) fn lost(&self) -> u64 {
        self.taken - self.added
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("judged-{}.jsonl", self.parts))
    }

    /// Takes the line of a document that was judged.
    pub(crate) fn add(&mut self, line: &[u8], id_column: &str, seconds: f64) -> Result<()> {
        let path = self.path();
        let failed = || format!("cannot write {}", path.display());
        if self.reading.id_column.is_none() {
            self.reading.id_column = Some(id_column.to_owned());
        }
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(BufWriter::new(File::create(&path).with_context(failed)?)),
        };
        lines.write_all(line).and_then(|()| lines.write_all(b"\n")).with_context(failed)?;
        self.count += 1;
        self.taken += 1;
        self.times = [self.times[0].min(seconds), self.times[1].max(seconds)];
        Ok(())
    }

    /// Returns true while something is being added.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Waits until the documents that are being added are in the index.
    pub(crate) async fn under_way(&mut self) -> Result<()> {
        if let Some(task) = &mut self.busy {
            let added = task.await.context("the task that adds to the index stopped").flatten();
            self.busy = None;
            self.has_failed = added.is_err();
            self.index = added?;
            self.added = self.taken - self.count;
        }
        Ok(())
    }

    /// Begins to add the documents that wait, unless others are being added.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.busy.is_some() || self.count == 0 || self.has_failed {
            return Ok(());
        }
        let path = self.path();
        if let Some(mut lines) = self.lines.take() {
            lines.flush().with_context(|| format!("cannot write {}", path.display()))?;
        }
        let part = NewPart {
            lines: path,
            folder: self.folder.join(format!("judged-{}", self.parts)),
            times: self.time_column.is_some().then_some(self.times),
            time_column: self.time_column.clone(),
            reading: self.reading.clone(),
        };
        self.busy = Some(SpawnedTask::spawn(part.add(self.index.clone(), self.session.clone())));
        (self.count, self.times) = (0, NO_TIMES);
        self.parts += 1;
        Ok(())
    }
}

/// Documents that are to be a part of the index.
struct NewPart {
    lines: PathBuf,
    folder: PathBuf,
    times: Option<[f64; 2]>,
    time_column: Option<String>,
    reading: corpus::Options,
}

impl NewPart {
    /// Adds the documents to the index, and returns the new index.
    async fn add(self, index: Index, session: SessionContext) -> Result<Index> {
        let lines = self.lines.to_str().context("the temporary folder has a name that is not Unicode")?.to_owned();
        let (reading, stores) = (self.reading.clone(), Arc::clone(index.stores()));
        let open = move || corpus::open(&[lines], &reading, &stores);
        let documents = SpawnedTask::spawn_blocking(open).join().await??;
        std::fs::create_dir(&self.folder)
            .with_context(|| format!("cannot make the folder {}", self.folder.display()))?;
        ingest::ingest(&session, documents, &self.folder, Needed::DocumentsAndSentences).await?;
        SpawnedTask::spawn_blocking(move || self.append(index)).join().await?
    }

    fn append(&self, mut index: Index) -> Result<Index> {
        #[expect(clippy::cast_possible_truncation, reason = "times are below LATEST")]
        let times = self.times.map(|[first, last]| [(first * 1e6).floor() as i64, (last * 1e6).ceil() as i64]);
        loop {
            index.check_columns(&self.folder)?;
            let inputs = ["-".to_owned()];
            let part = index.write_part(
                &self.folder,
                &Default::default(),
                times,
                (&inputs, &self.reading),
                GivenUp::default(),
            )?;
            let is_added = index.append(part, self.time_column.as_deref())?;
            let now = Index::open_to_add(index.folder(), index.stores())?;
            if is_added {
                for path in [&self.lines, &self.folder] {
                    remove(path)?;
                }
                return Ok(now);
            }
            // Parts may have been dropped. Other new parts are an error, since the documents were not compared with
            // them.
            let is_known = |name: &str| index.manifest().parts.iter().any(|part| part.name == name);
            if let Some(part) = now.manifest().parts.iter().find(|part| !is_known(&part.name)) {
                bail!(
                    "another run added {} documents to {} in the meantime, with which those of this stream were not compared; \
                     begin again with the first document that is not in the index",
                    grouped(part.documents.rows),
                    index.folder().display()
                );
            }
            index = now;
        }
    }
}

fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}
