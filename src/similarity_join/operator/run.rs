use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, JoinSide, Result, exec_err};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, SpillMetrics, Time};
use datafusion::physical_plan::{ExecutionPlan, SpillManager};
use futures::future::try_join_all;
use ibid_gpu::Hit;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::condition::{Condition, Shown};
use super::counting::{Counting, Hits};
use super::index::{Index, Share};
use super::input::{At, Batch, Batches, Held, Input};
use super::memory::Summary;
use super::order::Order;
use super::output::{Marks, Output, Shape};
use super::prefix::Prefixes;
use super::replay::Rows;
use super::scan::{Scan, Scanned};
use super::search::{Counts, Required, Search, tasks};
use super::sets::Sets;
use super::spill::Side;
use super::work::{Work, WorkList};
use crate::config::IbidOptions;
use crate::functions::gpu;

/// A run of the operator with one of its conditions, from its inputs to its last batch.
pub(crate) struct Run {
    pub(super) condition: Arc<Condition>,
    pub(super) left: Kept,
    /// `None` if it is the left input again.
    pub(super) right: Option<Kept>,
    /// True if no other condition comes after this one, so that the rows without a partner are known then.
    pub(super) is_last: bool,
    pub(super) shape: Arc<Shape>,
    pub(super) context: Arc<TaskContext>,
    /// The number of threads that the run uses.
    pub(super) workers: usize,
    /// The number of shares that the inputs are partitioned into.
    pub(super) shares: usize,
    pub(super) metrics: RunMetrics,
    pub(super) out: Sender<Result<RecordBatch>>,
}

/// An input and its columns that are kept.
pub(super) struct Kept {
    pub(super) input: Input,
    pub(super) columns: Vec<usize>,
}

#[derive(Clone)]
pub(super) struct RunMetrics {
    pub(super) all: ExecutionPlanMetricsSet,
    build_time: Time,
    memory: Gauge,
    /// The metrics of each worker. Separate metrics for each part of a join would fill memory if there are many parts.
    of_workers: Vec<WorkerMetrics>,
}

impl RunMetrics {
    pub(super) fn new(all: &ExecutionPlanMetricsSet, workers: usize) -> Self {
        let of_run = || MetricBuilder::new(all);
        Self {
            all: all.clone(),
            build_time: of_run().subset_time("build_time", 0),
            memory: of_run().gauge("build_mem_used", 0),
            of_workers: (0..workers).map(|worker| WorkerMetrics::new(all, worker)).collect(),
        }
    }
}

/// The rows of an input, in memory or on disk.
pub(super) struct Collected {
    pub(super) held: Vec<Held>,
    pub(super) spill: SpillManager,
    pub(super) at: At,
}

/// A part of the join, whose rows are in memory at once.
pub(super) struct Round {
    /// True if the rows are joined with themselves.
    pub(super) is_self_join: bool,
    /// The share of the elements that is searched.
    pub(super) share: Share,
    /// The order of the elements. If it is `None`, it is computed from the rows, unless their prefixes were computed
    /// before.
    pub(super) order: Option<Arc<Order>>,
    /// The codes that are compared instead.
    pub(super) scan: Option<Scan>,
}

/// A round of the join, with its rows and its index in memory.
pub(super) struct Joining {
    batches: Arc<Batches>,
    sets: Arc<Sets>,
    index: Index,
    required: Required,
    work: WorkList,
    /// The codes of the sets, if they are compared instead of using the index.
    scanned: Option<Scanned>,
}

/// Queue of pairs of sets whose codes are near; the first worker that asks gets the next ones.
type NearPairs = Arc<Mutex<Receiver<Vec<Hit>>>>;

/// Runs the conditions of a join one after the other over rows that are read once.
pub(super) async fn run_all(
    runs: Vec<Arc<Run>>,
    left: Arc<dyn ExecutionPlan>,
    right: Option<Arc<dyn ExecutionPlan>>,
) -> Result<()> {
    let Some(Run { context, metrics, .. }) = runs.first().map(AsRef::as_ref) else { return Ok(()) };
    let rows = async |plan| Rows::read_times(runs.len(), plan, context, &metrics.all).await;
    let left = rows(&left).await?;
    let right = match &right {
        Some(right) => Some(rows(right).await?),
        None => None,
    };
    let mut marks = None;
    for run in &runs {
        marks = Some(run.run(&left, right.as_ref(), marks).await?);
    }
    Ok(())
}

impl Run {
    /// Joins `left` with `right`, or with itself if there is no `right`. `marks` are the rows that have a partner by
    /// earlier conditions. Returns the rows that have one now.
    async fn run(self: &Arc<Self>, left: &Rows, right: Option<&Rows>, marks: Option<Arc<Marks>>) -> Result<Arc<Marks>> {
        let consumer = MemoryConsumer::new("SimilarityJoin").with_can_spill(true);
        let reservation = Arc::new(consumer.register(self.context.memory_pool()));
        let left = self.collect(&self.left, left, true, &reservation).await?;
        let right = match self.right.as_ref().zip(right) {
            Some((kept, rows)) => self.collect(kept, rows, false, &reservation).await?,
            None => left.without_rows(),
        };
        let (of_left, of_right) = (left.summary(), right.summary());
        let right_rows = if self.is_self_join() { of_left.rows } else { of_right.rows };
        let new_marks = || Arc::new(Marks::new(self.shape.join_type, of_left.rows, right_rows));
        let marks = marks.unwrap_or_else(new_marks);
        let mut summary = of_left;
        summary += of_right;
        let to_join = match self.condition.scan {
            Some(_) => summary.bytes_to_scan(),
            None => summary.bytes_to_find(),
        };
        let is_spilled = left.is_spilled() || right.is_spilled();
        if !is_spilled && reservation.try_grow(to_join + marks.bytes()).is_ok() {
            self.join_in_memory(left, right, &marks, reservation).await?;
        } else if self.condition.is_distance() {
            return exec_err!(
                "a join of codes by their distance keeps the codes and its output columns in memory, {} bytes here: \
                 raise the memory limit (`memory`, or datafusion.runtime.memory_limit), or SET \
                 ibid.similarity_join.strategy = 'operator', which can do without it",
                summary.bytes + to_join
            );
        } else {
            drop(reservation);
            self.join_from_disk(left, right, &summary, &marks).await?;
        }
        Ok(marks)
    }

    /// Returns true if the right input is the left one again.
    pub(super) fn is_self_join(&self) -> bool {
        self.right.is_none()
    }

    async fn collect(
        &self,
        Kept { input, columns }: &Kept,
        rows: &Rows,
        is_left: bool,
        reservation: &Arc<MemoryReservation>,
    ) -> Result<Collected> {
        let shown = Shown::new(&self.condition, is_left, self.is_self_join());
        let Collected { spill, at, .. } = self.nothing_of(input, columns)?;
        let partitions = rows.partitions(&self.context)?;
        let held = input.collect(partitions, columns, &self.context, reservation, &spill, &shown).await?;
        Ok(Collected { held, spill, at })
    }

    /// Returns an empty collection for the rows of an input, with the spill files to be used if there are too many.
    pub(super) fn nothing_of(&self, input: &Input, columns: &[usize]) -> Result<Collected> {
        let at = input.at(columns);
        let schema = Batch::spilled_schema(&*input.kept_schema(columns)?, at);
        let metrics = SpillMetrics::new(&self.metrics.all, 0);
        let spill = SpillManager::new(self.context.runtime_env(), metrics, schema);
        Ok(Collected { held: Vec::new(), spill, at })
    }

    async fn join_in_memory(
        self: &Arc<Self>,
        left: Collected,
        right: Collected,
        marks: &Arc<Marks>,
        reservation: Arc<MemoryReservation>,
    ) -> Result<()> {
        let batches = Batches::of(left.held, right.held);
        let (is_self_join, scan) = (self.is_self_join(), self.condition.scan);
        let round = Round { is_self_join, share: Share::ALL, order: None, scan };
        let joining = self.index(batches, round, &reservation).await?;
        let batches = Arc::clone(&joining.batches);
        self.search(joining, marks).await?;
        for (side, matched) in marks.sides().filter(|_| self.is_last) {
            let (left, right) = batches.all.split_at(batches.left);
            let of_side = if side == JoinSide::Right && !is_self_join { right } else { left };
            for batch in of_side {
                self.send(self.shape.rest_of(side, batch, matched)?).await;
            }
        }
        Ok(())
    }

    /// Builds the index of rows for which memory is reserved.
    pub(super) async fn index(
        &self,
        batches: Batches,
        round: Round,
        reservation: &MemoryReservation,
    ) -> Result<Joining> {
        let _timer = self.metrics.build_time.timer();
        let batches = Arc::new(batches);
        let workers = self.workers();
        let sets = Arc::new(Sets::of(&batches, round.is_self_join, workers).await?);
        if let Some(scan) = round.scan {
            self.metrics.memory.set_max(reservation.size());
            let scanned = Scanned::of(&sets, &self.condition, scan, workers).await?;
            let required = Required::new(&self.condition, &sets);
            let index = Index::without_groups(None);
            let work = WorkList::new(tasks(&sets, &index));
            return Ok(Joining { work, required, batches, sets, index, scanned: Some(scanned) });
        }
        let share = round.share;
        let order = match round.order {
            Some(order) => Some(order),
            None if batches.have_prefixes() => None,
            None => Some(Arc::new(Order::of(&sets, workers).await?)),
        };
        let counts = |order: &Arc<Order>| {
            let applies = share.of == 1 && Counting::applies(&self.condition, &sets);
            (applies && reservation.try_grow(Counting::bytes(&sets, workers)).is_ok()).then(|| Arc::clone(order))
        };
        let index = match order.as_ref().and_then(counts) {
            Some(order) => Index::without_groups(Some(Counting::of(&sets, order, &self.condition, workers).await?)),
            None => {
                let prefixes = order.map_or_else(|| Prefixes::Given(Arc::clone(&batches)), Prefixes::Found);
                Index::of(&sets, prefixes, &self.condition, share, workers).await?
            }
        };
        self.metrics.memory.set_max(reservation.size());
        let required = Required::new(&self.condition, &sets);
        Ok(Joining { work: WorkList::new(tasks(&sets, &index)), required, batches, sets, index, scanned: None })
    }

    /// Finds the pairs, outputs them if the join outputs pairs, and marks their rows.
    pub(super) async fn search(self: &Arc<Self>, joining: Joining, marks: &Arc<Marks>) -> Result<()> {
        let joining = Arc::new(joining);
        let (near, scanning) = self.scan(&joining)?.unzip();
        let worker = |metrics: &WorkerMetrics| Worker {
            run: Arc::clone(self),
            joining: Arc::clone(&joining),
            near: near.clone(),
            marks: Arc::clone(marks),
            output: Output::new(Arc::clone(&self.shape)),
            metrics: metrics.clone(),
        };
        let workers = self.metrics.of_workers.iter().map(|metrics| SpawnedTask::spawn(worker(metrics).work()));
        let ends = workers
            .map(async |worker| worker.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?);
        // The first worker that fails ends the others, which may be waiting for its work.
        try_join_all(ends).await?;
        match scanning {
            Some(scanning) => scanning.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?,
            None => Ok(()),
        }
    }

    /// Starts to compare codes, if pairs are found by comparing codes.
    fn scan(&self, joining: &Arc<Joining>) -> Result<Option<(NearPairs, SpawnedTask<Result<()>>)>> {
        if joining.scanned.is_none() {
            return Ok(None);
        }
        let options = self.context.session_config().options().extensions.get::<IbidOptions>();
        let engine = gpu::engine(options.map(|options| options.gpu).unwrap_or_default(), self.workers())?;
        let (sender, receiver) = channel(2 * self.workers());
        let joining = Arc::clone(joining);
        let scan = move || {
            let Some(scanned) = &joining.scanned else { return Ok(()) };
            scanned.search(&engine, |hits| {
                let is_wanted = |hits: &[Hit]| sender.blocking_send(hits.to_vec()).is_ok();
                // Nobody receives the remaining pairs if a worker failed or the query was cancelled.
                if sender.is_closed() || !hits.chunks(HITS).all(is_wanted) {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })
        };
        Ok(Some((Arc::new(Mutex::new(receiver)), SpawnedTask::spawn_blocking(scan))))
    }

    /// Sends a batch. If nobody receives it any more, the run is about to be dropped.
    pub(crate) async fn send(&self, batch: RecordBatch) {
        if batch.num_rows() > 0 {
            let _ = self.out.send(Ok(batch)).await;
        }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers
    }
}

impl Collected {
    /// Returns an empty collection with the same columns.
    pub(super) fn without_rows(&self) -> Self {
        Self { held: Vec::new(), spill: self.spill.clone(), at: self.at }
    }

    pub(super) fn summary(&self) -> Summary {
        self.held.iter().map(|held| held.summary).sum()
    }

    pub(super) fn is_spilled(&self) -> bool {
        self.held.iter().any(Held::is_spilled)
    }

    pub(super) async fn into_side(self) -> Result<Arc<Side>> {
        let mut files = Vec::with_capacity(self.held.len());
        for mut held in self.held {
            held.spill().await?;
            files.extend(held.finish()?);
        }
        let (spill, at) = (self.spill, self.at);
        Ok(Arc::new(Side { files, spill, at, shares: Vec::new(), is_numbered: false }))
    }
}

/// The number of pairs with near codes that are compared in some milliseconds.
const HITS: usize = 1 << 12;

/// One of several workers that run the tasks of a share.
struct Worker {
    run: Arc<Run>,
    joining: Arc<Joining>,
    near: Option<NearPairs>,
    marks: Arc<Marks>,
    output: Output,
    metrics: WorkerMetrics,
}

#[derive(Clone)]
struct WorkerMetrics {
    pruned_length: Count,
    candidates: Count,
    pruned_count: Count,
    pruned_position: Count,
    pruned_bitmap: Count,
    repeated: Count,
    verified: Count,
    ended_early: Count,
    matched: Count,
    join_time: Time,
}

impl WorkerMetrics {
    fn new(metrics: &ExecutionPlanMetricsSet, worker: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, worker);
        Self {
            pruned_length: counter("pruned_length"),
            candidates: counter("candidates"),
            pruned_count: counter("pruned_count"),
            pruned_position: counter("pruned_position"),
            pruned_bitmap: counter("pruned_bitmap"),
            repeated: counter("repeated"),
            verified: counter("verified"),
            ended_early: counter("ended_early"),
            matched: counter("matched_sets"),
            join_time: MetricBuilder::new(metrics).subset_time("join_time", worker),
        }
    }

    fn add(&self, counts: Counts) {
        self.pruned_length.add(counts.pruned_length);
        self.candidates.add(counts.candidates);
        self.pruned_count.add(counts.pruned_count);
        self.pruned_position.add(counts.pruned_position);
        self.pruned_bitmap.add(counts.pruned_bitmap);
        self.repeated.add(counts.repeated);
        self.verified.add(counts.verified);
        self.ended_early.add(counts.ended_early);
        self.matched.add(counts.matched);
    }
}

impl Worker {
    async fn work(mut self) -> Result<()> {
        let joining = Arc::clone(&self.joining);
        while let Some(near) = self.next_near().await {
            let started = Instant::now();
            let search = Search::new(&joining.sets, &joining.index, &self.run.condition, &joining.required);
            self.metrics.add(search.compare_near(&near, self.output.refill()));
            self.metrics.join_time.add_elapsed(started);
            self.flush_full().await?;
        }
        let mut hits = Hits::default();
        while let Some(work) = joining.work.next().await {
            let started = Instant::now();
            match work {
                Work::Task(task) => {
                    let search = Search::new(&joining.sets, &joining.index, &self.run.condition, &joining.required);
                    self.metrics.add(search.run(task, &mut hits, self.output.refill()));
                }
                Work::Piece(piece) => self.output.start(piece),
            }
            self.metrics.join_time.add_elapsed(started);
            self.flush_full().await?;
            joining.work.done();
        }
        self.flush().await
    }

    /// Returns the next pairs to compare whose codes are near.
    async fn next_near(&self) -> Option<Vec<Hit>> {
        self.near.as_ref()?.lock().await.recv().await
    }

    /// Outputs as many full batches as there are.
    async fn flush_full(&mut self) -> Result<()> {
        // Each step takes milliseconds: yield to other tasks, and to a cancellation.
        tokio::task::yield_now().await;
        while self.take() {
            self.flush().await?;
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Takes pairs of rows. Returns false if there are no more pairs for a batch.
    fn take(&mut self) -> bool {
        let started = Instant::now();
        let Joining { sets, batches, work, .. } = self.joining.as_ref();
        let is_full = self.output.take(sets, batches, &self.marks, |piece| work.add(piece));
        self.metrics.join_time.add_elapsed(started);
        is_full
    }

    /// Outputs the pairs that were taken.
    async fn flush(&mut self) -> Result<()> {
        let started = Instant::now();
        let batch = self.output.flush(&self.joining.batches, &self.marks)?;
        self.metrics.join_time.add_elapsed(started);
        if let Some(batch) = batch {
            self.run.send(batch).await;
        }
        Ok(())
    }
}
