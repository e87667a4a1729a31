//! Documents that arrive one after the other, as JSON lines, and are judged as soon as they arrive.
//!
//! The documents of the index with which an arriving one may be compared are in memory
//! ([`live_index`](crate::live_index)). A judged document is added to memory once the caller has its result, and to the
//! index with the next part. A part is written every few seconds, and at the end of the stream, whatever ends it, short
//! of a kill.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::{Array, AsArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc;
use tokio::time::interval_at;
use xxhash_rust::xxh3::xxh3_128;

use super::add::time_column;
use super::{Containment, runs};
use crate::corpus::ingest::Needed;
use crate::corpus::{self, Arrival, Arrivals, Problem, Problems};
use crate::index::Index;
use crate::index::stored::{Stored, index_to_add};
pub use crate::live_index::Contained;
use crate::live_index::{Document, Residents, Timing};
use crate::memory::pool::for_operators;
use crate::memory::watch::{self, REFUSE_PERCENT};
use crate::pipeline::query::{self, Literal, Parameters};
use crate::run::{Run, Summary, grouped, mebibytes};
use crate::stream::{Committer, Extracted, Pool};

/// The largest number of waiting documents that are processed together. The first of them waits for the last.
const BATCH: usize = 8;

/// The number of documents of the index that are processed together.
const LOADED: usize = 256;

/// The largest number of documents that were read and wait.
const QUEUE: usize = 16;

/// The number of judged documents at which they are added to the index, whatever the time.
const COMMIT_AT: u64 = 20_000;

/// A year, which is longer than any stream runs.
const LONGEST: Duration = Duration::from_secs(31_536_000);

/// The bound of times in seconds. Times beyond it do not fit 64 bits as microseconds.
const LATEST: f64 = 9e12;

/// The time after which documents are added to the index, by default.
const COMMIT_EVERY: Duration = Duration::from_secs(10);

impl Containment {
    /// Judges documents one by one as they arrive, and adds them to the index that is the input. Creates the index if
    /// there is none. Tells for each document which documents of the index and which earlier ones of the stream contain
    /// it, and which of them it contains.
    ///
    /// `lines` are JSON lines, UTF-8, each with a text and an id of its own. A separate thread reads them.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// let lines = concat!(
    ///     r#"{"id": "long", "text": "It rained. The board approved the new ferry terminal by nine votes to two. Then it had lunch."}"#, "\n",
    ///     r#"{"id": "short", "text": "The board approved the new ferry terminal by nine votes to two."}"#, "\n",
    /// );
    /// let engine = ibid::Engine::new()?;
    /// let index = folder.path().join("index");
    /// let judged = engine
    ///     .containment(index)
    ///     .threshold(0.9)
    ///     .judging(lines.as_bytes())
    ///     .on_document(|judged| {
    ///         assert!(judged.is_new);
    ///         assert_eq!(judged.rows.len(), usize::from(judged.doc_id == "short"));
    ///         Ok(true)
    ///     })
    ///     .await?;
    /// assert_eq!(judged.summary.count("contained"), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judging(mut self, lines: impl Read + Send + 'static) -> Judging {
        self.adds = true;
        Judging {
            containment: self,
            lines: Box::new(lines),
            source: "the stream".to_owned(),
            commit_every: COMMIT_EVERY,
            on_document: Box::new(|_| Ok(true)),
            until: std::future::pending().boxed(),
        }
    }
}

/// A stream of documents that are judged; see [`Containment::judging`].
#[must_use = "it runs when it is awaited"]
pub struct Judging {
    containment: Containment,
    lines: Box<dyn Read + Send>,
    source: String,
    commit_every: Duration,
    on_document: Box<OnDocument>,
    until: BoxFuture<'static, ()>,
}

type OnDocument = dyn FnMut(&Judged<'_>) -> std::io::Result<bool> + Send;

runs!(Judging => JudgedStream);

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging")
            .field("source", &self.source)
            .field("commit_every", &self.commit_every)
            .finish_non_exhaustive()
    }
}

/// A document of a stream, once it is judged.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Judged<'a> {
    /// The id.
    pub doc_id: &'a str,
    /// True if the index has no document with this id. A known document has the same text, and is not compared again.
    pub is_new: bool,
    /// The documents that contain this one, and the documents that it contains, in the order of their ids.
    pub rows: &'a [Contained],
    /// The time at which its line was read.
    pub read_at: Instant,
}

/// The end of a stream.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JudgedStream {
    /// The summary of the run: its counts and notes.
    pub summary: Summary,
    /// The number of documents that were in memory at the end.
    pub documents_in_memory: usize,
    /// The bytes of these documents.
    pub bytes_in_memory: usize,
    /// The seconds from the first moment at which documents could be judged to the last document.
    pub seconds: f64,
}

impl Judging {
    /// Calls this function with each document once it is judged, in the order of the lines. If it returns `false`, the
    /// stream ends, and neither this document nor a later one is added. If it fails, the same happens, and the stream
    /// fails with its error.
    pub fn on_document(mut self, call: impl FnMut(&Judged<'_>) -> std::io::Result<bool> + Send + 'static) -> Self {
        self.on_document = Box::new(call);
        self
    }

    /// Sets the time after which documents that were judged are added to the index. Default: 10 seconds.
    pub fn commit_every(mut self, time: Duration) -> Self {
        self.commit_every = time;
        self
    }

    /// Ends the stream when this future ends, as if there were no more lines. Default: never.
    pub fn until(mut self, end: impl Future<Output = ()> + Send + 'static) -> Self {
        self.until = end.boxed();
        self
    }

    /// Sets the name of the lines in errors. Default: the stream.
    pub fn named(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    async fn run(self) -> Result<JudgedStream> {
        let Self { containment, lines, source, commit_every, mut on_document, until } = self;
        containment.check()?;
        let run = Run::begin(&containment.base.engine, containment.base.settings.clone())?;
        let mut judge = Judge::begin(&containment, commit_every, run).await?;
        // From here on, `end` always runs, so that judged documents are added to the index.
        let judged = judge.judge_all(lines, source, &mut *on_document, until).await;
        judge.end(judged).await
    }
}

/// The events of the reader of the lines.
enum Event {
    Document(Box<Arrival>, Instant),
    Problem(Box<Problem>),
}

/// The state of a stream whose documents are judged.
struct Judge {
    commit_every: Duration,
    run: Run,
    reading: corpus::Options,
    problems: Problems,
    time_column: Option<String>,
    pool: Pool,
    residents: Residents,
    /// The hashes of the ids of all documents of the index, with the hashes of their texts.
    known: HashMap<u128, u128>,
    committer: Committer,
    counts: Counts,
    began: Instant,
}

#[derive(Debug, Default)]
struct Counts {
    documents: u64,
    known: u64,
    rows: u64,
}

impl Judge {
    /// Reads the index, and loads the documents that stay in memory.
    async fn begin(containment: &Containment, commit_every: Duration, mut run: Run) -> Result<Self> {
        let index = index_to_add(&containment.base.index()?, run.engine.stores())?;
        let time_column = time_column(&index, containment.time_column.as_deref())?;
        containment.check_times(time_column.as_deref())?;
        let mut reading = containment.base.reading_of_run()?;
        if reading.format.is_some_and(|format| format != corpus::Format::Jsonl) {
            bail!("a stream is of JSON lines; add files of other formats as files");
        }
        if reading.id_column.as_deref() == Some("") {
            bail!("a document of a stream needs an id of its own; leave out `id_column = ''`");
        }
        reading.format = Some(corpus::Format::Jsonl);
        let stages = containment.stages(time_column.is_some())?;
        let timing = Timing {
            is_timed: time_column.is_some(),
            window: containment.window.unwrap_or(f64::INFINITY),
            later: containment.later,
        };
        let known = known(&run, &index).await?;
        let resident = resident(&index, timing.window);
        let mut parameters = stages.parameters.clone();
        parameters.set("time_as_text", time_column.as_deref().map_or_else(no_time, time_as_text));
        open(&mut run, &resident, parameters).await?;
        let sessions = sessions(&mut run, containment, &resident).await?;
        let pool = Pool::try_new(sessions, &stages).await?;
        let problems = Problems::new(&reading.on_error);
        let mut judge = Self {
            commit_every,
            committer: Committer::new(&run, index, time_column.clone(), &reading)?,
            run,
            reading,
            problems,
            pool,
            residents: Residents::new(stages.comparison, containment.threshold, timing),
            known,
            time_column,
            counts: Counts::default(),
            began: Instant::now(),
        };
        judge.load(&resident).await?;
        judge.began = Instant::now();
        Ok(judge)
    }

    /// Loads the documents of the index with which an arriving one may be compared.
    async fn load(&mut self, resident: &Index) -> Result<()> {
        if resident.manifest().parts.is_empty() {
            return Ok(());
        }
        let stored = self.run.workspace.run_all(&[query::STREAM_STORED]).await?.context("it is a query")?;
        let batches = stored.execute_stream().await?.map_err(anyhow::Error::new);
        let documents = batches.map_ok(|batch| stream::iter(stored_documents(&batch))).try_flatten();
        let loaded = documents.try_chunks(LOADED).map_err(|error| error.1);
        let extracted = self
            .pool
            .extract(loaded, |document: &StoredDocument| Some((document.text.as_str(), document.time.as_deref())));
        let mut extracted = std::pin::pin!(extracted);
        while let Some(batch) = extracted.next().await {
            for (document, extracted) in batch? {
                let Some(Extracted { seconds, features, sentences }) = extracted else { continue };
                let seconds = seconds.unwrap_or(0.0);
                self.residents.add(Document { id: document.id, seconds, features, sentences });
            }
            self.check_memory()?;
        }
        Ok(())
    }

    /// Judges documents until there are no more, the end is asked for, or something fails.
    async fn judge_all(
        &mut self,
        lines: Box<dyn Read + Send>,
        source: String,
        on_document: &mut OnDocument,
        mut until: BoxFuture<'static, ()>,
    ) -> Result<()> {
        let pool = self.pool.clone();
        let events = read(lines, source, &self.reading, self.time_column.as_deref())?;
        let events = pool.extract(events, |event: &Event| match event {
            Event::Document(arrival, _) => Some((arrival.text.as_str(), arrival.time.as_deref())),
            Event::Problem(_) => None,
        });
        let mut events = std::pin::pin!(events);
        let commit_every = self.commit_every.clamp(Duration::from_millis(1), LONGEST);
        let mut due = interval_at(tokio::time::Instant::now() + commit_every, commit_every);
        loop {
            tokio::select! {
                biased;
                () = &mut until => return Ok(()),
                committed = self.committer.under_way(), if self.committer.is_busy() => committed?,
                _ = due.tick() => self.committer.begin()?,
                next = events.next() => {
                    let Some(batch) = next else { return Ok(()) };
                    for (event, extracted) in batch? {
                        let goes_on = match (event, extracted) {
                            (Event::Document(arrival, since), Some(extracted)) => self.judge(*arrival, extracted, since, on_document)?,
                            (Event::Problem(problem), _) => self.refuse(problem)?,
                            (Event::Document(..), None) => true,
                        };
                        if !goes_on {
                            return Ok(());
                        }
                    }
                    self.check_memory()?;
                    if self.committer.waiting() >= COMMIT_AT {
                        // Backpressure: a sender that is faster than the index has to wait.
                        self.committer.under_way().await?;
                        self.committer.begin()?;
                    }
                }
            }
        }
    }

    /// Judges a document. Returns false if no more are wanted.
    fn judge(
        &mut self,
        arrival: Arrival,
        extracted: Extracted,
        read_at: Instant,
        on_document: &mut OnDocument,
    ) -> Result<bool> {
        let Extracted { seconds, features, sentences } = extracted;
        let (id, text) = (xxh3_128(arrival.id.as_bytes()), xxh3_128(arrival.text.as_bytes()));
        let is_known = match self.known.get(&id) {
            Some(known) if *known != text => {
                let reason = format!("the document {:?} is in the index already, with another text", arrival.id);
                return self.refuse(
                    arrival
                        .problem(reason)
                        .remedy("give it another id, or leave such documents out with `on_error = skip`"),
                );
            }
            known => known.is_some(),
        };
        let seconds = match &self.time_column {
            None => 0.0,
            Some(column) => match seconds.filter(|seconds| seconds.abs() < LATEST) {
                Some(seconds) if seconds < self.residents.too_late() && !is_known => {
                    let reason = format!(
                        "the document {:?} comes more than a window later than its time: documents that may contain it \
                         are no longer in memory",
                        arrival.id
                    );
                    return self.refuse(arrival.problem(reason).remedy(
                        "add it as a file, take a longer `window`, or leave such documents out with `on_error = skip`",
                    ));
                }
                Some(seconds) => seconds,
                None if is_known => 0.0,
                None => {
                    let reason = format!("the document {:?} has no time that can be read in {column:?}", arrival.id);
                    return self.refuse(
                        arrival
                            .problem(reason)
                            .remedy("correct it, or leave such documents out with `on_error = skip`"),
                    );
                }
            },
        };
        let document = Document { id: arrival.id, seconds, features, sentences };
        let rows = if is_known { Vec::new() } else { self.residents.judge(&document) };
        let judged = Judged { doc_id: &document.id, is_new: !is_known, rows: &rows, read_at };
        if !on_document(&judged)? {
            return Ok(false);
        }
        self.counts.documents += 1;
        self.counts.rows += rows.len() as u64;
        if is_known {
            self.counts.known += 1;
        } else {
            self.known.insert(id, text);
            self.committer.add(&arrival.line, &arrival.id_column, seconds)?;
            self.residents.add(document);
        }
        Ok(true)
    }

    /// Counts a document that cannot be judged, or fails unless such documents are to be skipped.
    fn refuse(&mut self, problem: Box<Problem>) -> Result<bool> {
        self.problems.take(problem)?;
        Ok(true)
    }

    fn check_memory(&self) -> Result<()> {
        let Some(may) = self.run.engine.memory() else { return Ok(()) };
        let (bytes, most) = (self.residents.bytes(), for_operators(may));
        let more = if bytes > most {
            format!("more than the {} that the limit of memory leaves for them", mebibytes(most as u64))
        } else if watch::exceeds(may, REFUSE_PERCENT) {
            format!("of more than the {} that the process may take", mebibytes(may as u64))
        } else {
            return Ok(());
        };
        bail!(
            "the {} documents in memory take {}, {more}; raise `memory`, or take a shorter `window`",
            grouped(self.residents.len() as u64),
            mebibytes(bytes as u64)
        )
    }

    /// Adds the judged documents to the index, and returns the summary.
    async fn end(mut self, judged: Result<()>) -> Result<JudgedStream> {
        let seconds = self.began.elapsed().as_secs_f64();
        let (documents_in_memory, bytes_in_memory) = (self.residents.len(), self.residents.bytes());
        // The last part may need their memory.
        drop(self.residents);
        let committed = async {
            self.committer.under_way().await?;
            self.committer.begin()?;
            self.committer.under_way().await
        }
        .await;
        let lost = self.committer.lost();
        if lost > 0 {
            let lost = format!("the last {} documents that were judged were not added to the index", grouped(lost));
            return Err(match judged.and(committed) {
                Err(error) => error.context(lost),
                Ok(()) => anyhow!(lost),
            });
        }
        judged?;
        self.problems.begin()?;
        self.run.skip(corpus::Summary {
            files: 1,
            files_begun: 1,
            documents: self.counts.documents,
            skipped: self.problems.skipped,
            skipped_count: self.problems.count,
            left_out: Default::default(),
            dropped: Default::default(),
            passed_over: Vec::new(),
        });
        let counts = vec![
            ("documents", self.counts.documents),
            ("known already", self.counts.known),
            ("contained", self.counts.rows),
        ];
        let summary = self.run.summary_of(counts, None);
        Ok(JudgedStream { summary, documents_in_memory, bytes_in_memory, seconds })
    }
}

/// Reads lines on a thread of its own, at most [`QUEUE`] documents ahead.
fn read(
    lines: Box<dyn Read + Send>,
    source: String,
    reading: &corpus::Options,
    time_column: Option<&str>,
) -> Result<impl Stream<Item = Result<Vec<Event>>> + use<>> {
    let (reading, time_column) = (reading.clone(), time_column.map(str::to_owned));
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        // Opening waits for the first bytes.
        let mut arrivals = match Arrivals::of(lines, &source, &reading, time_column.as_deref()) {
            Ok(arrivals) => arrivals,
            Err(problem) => return drop(sender.blocking_send(Event::Problem(problem))),
        };
        loop {
            let event = match arrivals.next() {
                Ok(None) => return,
                Ok(Some(arrival)) => Event::Document(Box::new(arrival), Instant::now()),
                Err(problem) => Event::Problem(problem),
            };
            if sender.blocking_send(event).is_err() {
                return;
            }
        }
    })?;
    Ok(stream::unfold(receiver, |mut receiver| async {
        let mut batch = Vec::new();
        (receiver.recv_many(&mut batch, BATCH).await > 0).then_some((Ok(batch), receiver))
    }))
}

/// A document of the index.
struct StoredDocument {
    id: String,
    text: String,
    time: Option<String>,
}

fn stored_documents(batch: &arrow::array::RecordBatch) -> Vec<Result<StoredDocument>> {
    let as_text = |i: usize| cast(batch.column(i), &DataType::Utf8);
    let columns = [0, 1, 2].map(as_text);
    let [Ok(ids), Ok(texts), Ok(times)] = columns else {
        return vec![Err(anyhow::anyhow!("internal error: a column is no text; please report it"))];
    };
    let (ids, texts, times) = (ids.as_string::<i32>(), texts.as_string::<i32>(), times.as_string::<i32>());
    let document = |row: usize| StoredDocument {
        id: ids.value(row).to_owned(),
        text: texts.value(row).to_owned(),
        time: times.is_valid(row).then(|| times.value(row).to_owned()),
    };
    (0..batch.num_rows()).map(|row| Ok(document(row))).collect()
}

/// Returns the hashes of the ids and of the texts of all documents of the index.
async fn known(run: &Run, index: &Index) -> Result<HashMap<u128, u128>> {
    let mut known = HashMap::new();
    if index.manifest().parts.is_empty() {
        return Ok(known);
    }
    let session = &run.workspace.session;
    Stored::Index(index.clone()).register(session, "", Needed::Documents).await?;
    let mut batches = session.sql("SELECT doc_id, text FROM documents").await?.execute_stream().await?;
    while let Some(batch) = batches.try_next().await? {
        let [ids, texts] = [0, 1].map(|i| cast(batch.column(i), &DataType::Utf8));
        let (ids, texts) = (ids?, texts?);
        let hash = |text: Option<&str>| xxh3_128(text.unwrap_or_default().as_bytes());
        known.extend(ids.as_string::<i32>().iter().map(hash).zip(texts.as_string::<i32>().iter().map(hash)));
    }
    session.deregister_table("documents")?;
    Ok(known)
}

/// Returns the index with only the parts whose documents an arriving one may be compared with: the parts of the last
/// two windows.
fn resident(index: &Index, window: f64) -> Index {
    let latest = index.manifest().parts.iter().filter_map(|part| part.times.map(|[_, latest]| latest)).max();
    latest.map_or_else(|| index.clone(), |latest| index.within([latest, latest], 2.0 * window))
}

/// Returns the SQL of the time of a document of the index, as text.
fn time_as_text(column: &str) -> Literal {
    Literal::column(column).within("CAST(", " AS VARCHAR)")
}

fn no_time() -> Literal {
    Literal::of_text("NULL").within("CAST(", " AS VARCHAR)")
}

/// Registers the documents of the index.
async fn open(run: &mut Run, resident: &Index, parameters: Parameters) -> Result<()> {
    run.workspace.parameters = parameters;
    if !resident.manifest().parts.is_empty() {
        Stored::Index(resident.clone()).register(&run.workspace.session, "", Needed::Documents).await?;
    }
    // There are no added documents yet.
    run.workspace.run("CREATE VIEW against_documents AS SELECT '' AS text WHERE false").await?;
    Ok(())
}

/// Returns a session of one thread for each thread, with the frequencies of words if the method reads them.
async fn sessions(run: &mut Run, containment: &Containment, resident: &Index) -> Result<Vec<SessionContext>> {
    let mut reference = None;
    if containment.has_idf() {
        if containment.reference_file().is_none() && resident.manifest().parts.is_empty() {
            bail!("the index has no documents yet whose words could be counted: name a collection with `reference`");
        }
        run.workspace.run_all(&[query::CODET_REFERENCE]).await?;
        let rows = run.workspace.session.table("reference").await?;
        let schema = Arc::clone(rows.schema().inner());
        reference = Some(concat_batches(&schema, &rows.collect().await?)?);
    }
    let threads = run.workspace.session.copied_config().target_partitions();
    (0..threads)
        .map(|_| {
            let session = run.session_of_one_thread()?;
            if let Some(reference) = &reference {
                session.register_batch("reference", reference.clone())?;
            }
            Ok(session)
        })
        .collect()
}
