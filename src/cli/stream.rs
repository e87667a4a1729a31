//! `ibid containment INDEX --add -`: documents come as JSON lines, and each is judged as soon as it is there.
//!
//! The documents of the index that may matter are in memory, see [`crate::live_index`]. A document is added to them once its line
//! was written, and to the index with the next part: every few seconds, and at the end, however it comes about, short of a kill.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::{Array, AsArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::DataType;
use datafusion::common::runtime::SpawnedTask;
use datafusion::prelude::SessionContext;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use hdrhistogram::Histogram;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::interval_at;
use xxhash_rust::xxh3::xxh3_128;

use super::options::{InputOptions, OutputOptions, RunOptions, index_of};
use super::run::{Out, Run};
use super::{Ending, signals};
use crate::corpus::ingest::{self, Needed};
use crate::corpus::{self, Arrival, Arrivals, OnError, Problem, Problems, STDIN_FILE, Summary, refuse_result};
use crate::export::Format;
use crate::index::Index;
use crate::index::stored::{Stored, index_to_add};
use crate::live_index::{Contained, Document, Residents, Timing};
use crate::memory::pool::for_operators;
use crate::memory::watch::{self, TOO_FULL};
use crate::methods::Containment;
use crate::methods::add::time_column;
use crate::pipeline::query::{self, Literal, Parameters};
use crate::run::{grouped, mebibytes};
use crate::session;
use crate::stream::{Extracted, Pool};

/// How many documents that wait are looked at together. The first of them waits for the last.
const BATCH: usize = 8;

/// How many documents of the index are looked at together.
const LOADED: usize = 256;

/// How many documents that were read may wait.
const QUEUE: usize = 16;

/// After how many documents that were judged they are added to the index, whatever time it is.
const COMMIT_AT: u64 = 20_000;

/// Longer than any stream runs: a year.
const LONGEST: Duration = Duration::from_secs(31_536_000);

/// Times beyond this do not fit 64 bits as microseconds.
const LATEST: f64 = 9e12;

/// The options of a stream beside those of the method.
#[derive(Clone, Copy)]
pub(super) struct Streamed<'a> {
    /// The index, alone.
    pub(super) inputs: &'a [String],
    pub(super) time_column: Option<&'a str>,
    /// The time after which documents are added to the index.
    pub(super) commit_every: Duration,
    pub(super) writing: &'a OutputOptions,
    pub(super) reading: &'a InputOptions,
    pub(super) running: &'a RunOptions,
}

/// Judges documents of standard input, and adds them to the index.
pub(super) async fn run(containment: &Containment, streamed: &Streamed<'_>) -> Result<Ending> {
    if streamed.writing.output.is_some() || streamed.writing.format.is_some_and(|format| format != Format::Ndjson) {
        bail!("a stream writes JSON lines to standard output: leave out -o, and a --format other than ndjson");
    }
    let run = Run::begin_in(&containment.base.engine, streamed.running)?;
    streamed.reading.begin_live()?;
    let folder = index_of(streamed.inputs)?;
    streamed.reading.refuse(folder)?;
    streamed.reading.refuse_in(folder, streamed.running)?;
    refuse_result(Path::new(STDIN_FILE), &streamed.reading.reading())?;
    let mut judging = Judging::begin(containment, streamed, run).await?;
    // From here on the end is ours, so that what was judged is kept.
    let mut asked = signals::end_when_asked();
    let judged = judging.judge_all(&mut asked).await;
    judging.end(judged).await
}

/// What the reader of standard input found.
enum Event {
    Document(Box<Arrival>, Instant),
    Problem(Box<Problem>),
}

/// A stream of documents that are being judged.
struct Judging<'a> {
    commit_every: Duration,
    run: Run<'a>,
    reading: corpus::Options,
    problems: Problems,
    time_column: Option<String>,
    pool: Pool,
    residents: Residents,
    /// The hash of the id of each document of the index, and that of its text.
    known: HashMap<u128, u128>,
    committer: Committer,
    counts: Counts,
    /// In microseconds.
    latencies: Histogram<u64>,
    began: Instant,
}

#[derive(Debug, Default)]
struct Counts {
    documents: u64,
    known: u64,
    rows: u64,
}

impl<'a> Judging<'a> {
    /// Reads the index, and gets ready.
    async fn begin(containment: &Containment, streamed: &Streamed<'_>, mut run: Run<'a>) -> Result<Self> {
        let folder = index_of(streamed.inputs)?;
        let index = index_to_add(folder)?;
        let time_column = time_column(&index, streamed.time_column)?;
        containment.check_times(time_column.as_deref())?;
        let mut reading = streamed.reading.reading();
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
        let mut judging = Self {
            commit_every: streamed.commit_every,
            committer: Committer::new(&run, index, time_column.clone(), &reading)?,
            run,
            reading,
            problems,
            pool,
            residents: Residents::new(stages.comparison, containment.threshold, timing),
            known,
            time_column,
            counts: Counts::default(),
            latencies: Histogram::new(3).context("cannot count latencies")?,
            began: Instant::now(),
        };
        judging.load(&resident).await?;
        judging.began = Instant::now();
        Ok(judging)
    }

    /// Takes in the documents of the index that may matter.
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

    /// Judges what comes until nothing more does, a signal asks for the end, or something goes wrong.
    async fn judge_all(&mut self, asked: &mut tokio::sync::watch::Receiver<bool>) -> Result<()> {
        let pool = self.pool.clone();
        let events = pool.extract(read(&self.reading, self.time_column.as_deref())?, |event: &Event| match event {
            Event::Document(arrival, _) => Some((arrival.text.as_str(), arrival.time.as_deref())),
            Event::Problem(_) => None,
        });
        let mut events = std::pin::pin!(events);
        let commit_every = self.commit_every.clamp(Duration::from_millis(1), LONGEST);
        let mut due = interval_at(tokio::time::Instant::now() + commit_every, commit_every);
        loop {
            tokio::select! {
                biased;
                _ = asked.changed() => return Ok(()),
                committed = self.committer.under_way(), if self.committer.is_busy() => committed?,
                _ = due.tick() => self.committer.begin()?,
                next = events.next() => {
                    let Some(batch) = next else { return Ok(()) };
                    for (event, extracted) in batch? {
                        let goes_on = match (event, extracted) {
                            (Event::Document(arrival, since), Some(extracted)) => self.judge(*arrival, extracted, since)?,
                            (Event::Problem(problem), _) => self.refuse(problem)?,
                            (Event::Document(..), None) => true,
                        };
                        if !goes_on {
                            return Ok(());
                        }
                    }
                    self.check_memory()?;
                    if self.committer.count >= COMMIT_AT {
                        // Whoever sends documents faster than they can be stored has to wait.
                        self.committer.under_way().await?;
                        self.committer.begin()?;
                    }
                }
            }
        }
    }

    /// Judges a document. `false` says that nobody reads any more.
    fn judge(&mut self, arrival: Arrival, extracted: Extracted, since: Instant) -> Result<bool> {
        let Extracted { seconds, features, sentences } = extracted;
        let (id, text) = (xxh3_128(arrival.id.as_bytes()), xxh3_128(arrival.text.as_bytes()));
        let is_known = match self.known.get(&id) {
            Some(known) if *known != text => {
                let reason = format!("the document {:?} is in the index already, with another text", arrival.id);
                return self.refuse(
                    arrival
                        .problem(reason)
                        .remedy("give it another id, or leave such documents out with --on-error skip"),
                );
            }
            known => known.is_some(),
        };
        let seconds = match &self.time_column {
            None => 0.0,
            Some(column) => match seconds.filter(|seconds| seconds.abs() < LATEST) {
                Some(seconds) if seconds < self.residents.too_late() && !is_known => {
                    let reason = format!(
                        "the document {:?} comes more than a window later than its time: what may contain it is forgotten",
                        arrival.id
                    );
                    return self.refuse(arrival.problem(reason).remedy(
                        "add it as a file, take a longer --window, or leave such documents out with --on-error skip",
                    ));
                }
                Some(seconds) => seconds,
                None if is_known => 0.0,
                None => {
                    let reason = format!("the document {:?} has no time that can be read in {column:?}", arrival.id);
                    return self.refuse(
                        arrival.problem(reason).remedy("correct it, or leave such documents out with --on-error skip"),
                    );
                }
            },
        };
        let document = Document { id: arrival.id, seconds, features, sentences };
        let rows = if is_known { Vec::new() } else { self.residents.judge(&document) };
        if !write_line(&document.id, !is_known, &rows)? {
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
        let latency = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.latencies.record(latency).context("cannot count a latency")?;
        Ok(true)
    }

    /// Counts what cannot be judged, or fails where that is not wanted.
    fn refuse(&mut self, problem: Box<Problem>) -> Result<bool> {
        self.problems.take(problem)?;
        Ok(true)
    }

    fn check_memory(&self) -> Result<()> {
        let Some(may) = self.run.engine.memory() else { return Ok(()) };
        let (bytes, most) = (self.residents.bytes(), for_operators(may));
        let more = if bytes > most {
            format!("more than the {} that the limit of memory leaves for them", mebibytes(most as u64))
        } else if watch::exceeds(may, TOO_FULL) {
            format!("of more than the {} that the process may take", mebibytes(may as u64))
        } else {
            return Ok(());
        };
        bail!(
            "the {} documents in memory take {}, {more}; raise --memory, or take a shorter --window",
            grouped(self.residents.len() as u64),
            mebibytes(bytes as u64)
        )
    }

    /// Adds to the index what was judged, and says what there was.
    async fn end(mut self, judged: Result<()>) -> Result<Ending> {
        let elapsed = self.began.elapsed().as_secs_f64();
        let (in_memory, bytes) = (self.residents.len(), self.residents.bytes());
        // Their memory may be what the last part needs.
        drop(self.residents);
        let committed = async {
            self.committer.under_way().await?;
            self.committer.begin()?;
            self.committer.under_way().await
        }
        .await;
        let lost = self.committer.taken - self.committer.added;
        if lost > 0 {
            let lost = format!("the last {} documents that were judged were not added to the index", grouped(lost));
            return Err(match judged.and(committed) {
                Err(error) => error.context(lost),
                Ok(()) => anyhow!(lost),
            });
        }
        judged?;
        self.problems.begin()?;
        self.run.skip(Summary {
            files: 1,
            files_begun: 1,
            documents: self.counts.documents,
            skipped: self.problems.skipped,
            skipped_count: self.problems.count,
            left_out: Default::default(),
            passed_over: Vec::new(),
        });
        let counts = [
            ("documents", self.counts.documents),
            ("known already", self.counts.known),
            ("contained", self.counts.rows),
        ];
        self.run.summarise(&counts, None);
        if self.counts.documents > 0 {
            let milliseconds = |quantile| self.latencies.value_at_quantile(quantile) as f64 / 1000.0;
            self.run.say(&format!(
                "{:.0} documents/s; from line to line p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms; {} documents in memory, {} MiB",
                self.counts.documents as f64 / elapsed,
                milliseconds(0.5),
                milliseconds(0.99),
                milliseconds(1.0),
                grouped(in_memory as u64),
                bytes >> 20
            ));
        }
        Ok(self.run.ending(0))
    }
}

/// Writes what was found of a document. `false` says that nobody reads any more.
fn write_line(id: &str, is_added: bool, rows: &[Contained]) -> Result<bool> {
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "contained": row.contained,
                "container": row.container,
                "score": row.score,
                "score_back": row.score_back,
                "sentences": row.sentences,
            })
        })
        .collect();
    let line = format!("{}\n", json!({ "doc_id": id, "added": is_added, "rows": rows }));
    let mut stdout = Out;
    match stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write to standard output"),
    }
}

/// Reads standard input on a thread of its own, not further ahead than a queue is long.
fn read(
    reading: &corpus::Options,
    time_column: Option<&str>,
) -> Result<impl Stream<Item = Result<Vec<Event>>> + use<>> {
    let (reading, time_column) = (reading.clone(), time_column.map(str::to_owned));
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        // Opening waits for the first bytes.
        let mut arrivals = match Arrivals::of_stdin(&reading, time_column.as_deref()) {
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

/// The hashes of the ids and of the texts of all documents of the index.
async fn known(run: &Run<'_>, index: &Index) -> Result<HashMap<u128, u128>> {
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

/// The parts of the index with documents that an arriving one may be compared with: those of the last two windows.
fn resident(index: &Index, window: f64) -> Index {
    let latest = index.manifest().parts.iter().filter_map(|part| part.times.map(|[_, latest]| latest)).max();
    latest.map_or_else(|| index.clone(), |latest| index.within([latest, latest], 2.0 * window))
}

/// The time of a document of the index, as SQL.
fn time_as_text(column: &str) -> Literal {
    Literal::column(column).within("CAST(", " AS VARCHAR)")
}

fn no_time() -> Literal {
    Literal::of_text("NULL").within("CAST(", " AS VARCHAR)")
}

/// Makes the documents of the index known.
async fn open(run: &mut Run<'_>, resident: &Index, parameters: Parameters) -> Result<()> {
    run.workspace.parameters = parameters;
    if !resident.manifest().parts.is_empty() {
        Stored::Index(resident.clone()).register(&run.workspace.session, "", Needed::Documents).await?;
    }
    // What is added is not there yet.
    run.workspace.run("CREATE VIEW against_documents AS SELECT '' AS text WHERE false").await?;
    Ok(())
}

/// A session of one thread for each thread, with the frequencies of words where the method reads them.
async fn sessions(run: &mut Run<'_>, containment: &Containment, resident: &Index) -> Result<Vec<SessionContext>> {
    let mut reference = None;
    if containment.has_idf() {
        if containment.reference_file().is_none() && resident.manifest().parts.is_empty() {
            bail!(
                "the index has no documents yet of which the words could be counted: name a collection with --reference"
            );
        }
        run.workspace.run_all(&[query::CODET_REFERENCE]).await?;
        let rows = run.workspace.session.table("reference").await?;
        let schema = Arc::clone(rows.schema().inner());
        reference = Some(concat_batches(&schema, &rows.collect().await?)?);
    }
    let shared = &run.workspace.session;
    let threads = shared.copied_config().target_partitions();
    (0..threads)
        .map(|_| {
            let session = session(shared.copied_config().with_target_partitions(1), shared.runtime_env())?;
            if let Some(reference) = &reference {
                session.register_batch("reference", reference.clone())?;
            }
            Ok(session)
        })
        .collect()
}

/// Adds documents to the index, part by part, while others are being judged.
struct Committer {
    index: Index,
    session: SessionContext,
    reading: corpus::Options,
    time_column: Option<String>,
    folder: PathBuf,
    lines: Option<BufWriter<File>>,
    /// How many documents wait.
    count: u64,
    /// The earliest and the latest time of them.
    times: [f64; 2],
    /// How many parts there were.
    parts: u64,
    /// How many documents are in the index, of all that were taken.
    added: u64,
    taken: u64,
    busy: Option<SpawnedTask<Result<Index>>>,
    /// Whether a part could not be added: then none is that comes after it.
    has_failed: bool,
}

/// No documents, so no times.
const NO_TIMES: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Committer {
    fn new(run: &Run<'_>, index: Index, time_column: Option<String>, reading: &corpus::Options) -> Result<Self> {
        let shared = &run.workspace.session;
        Ok(Self {
            index,
            // The other threads are for documents that arrive.
            session: session(shared.copied_config().with_target_partitions(1), shared.runtime_env())?,
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

    fn path(&self) -> PathBuf {
        self.folder.join(format!("judged-{}.jsonl", self.parts))
    }

    /// Takes the line of a document that was judged.
    fn add(&mut self, line: &[u8], id_column: &str, seconds: f64) -> Result<()> {
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

    fn is_busy(&self) -> bool {
        self.busy.is_some()
    }

    /// Waits until what is being added is added.
    async fn under_way(&mut self) -> Result<()> {
        if let Some(task) = &mut self.busy {
            let added = task.await.context("what adds to the index stopped").flatten();
            self.busy = None;
            self.has_failed = added.is_err();
            self.index = added?;
            self.added = self.taken - self.count;
        }
        Ok(())
    }

    /// Begins to add what waits, unless something is being added.
    fn begin(&mut self) -> Result<()> {
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
    /// Adds the documents to the index, and gives the index as it is then.
    async fn add(self, index: Index, session: SessionContext) -> Result<Index> {
        let lines = self.lines.to_str().context("the temporary folder has a name that is not Unicode")?.to_owned();
        let reading = self.reading.clone();
        let documents = SpawnedTask::spawn_blocking(move || corpus::open(&[lines], &reading)).join().await??;
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
            let part = index.write_part(&self.folder, &Default::default(), times, &inputs, &self.reading)?;
            let is_added = index.append(part, self.time_column.as_deref())?;
            let now = Index::open_to_add(index.folder())?;
            if is_added {
                for path in [&self.lines, &self.folder] {
                    remove(path)?;
                }
                return Ok(now);
            }
            // It may be that parts were dropped; but not that there are others, which the documents were not compared with.
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
