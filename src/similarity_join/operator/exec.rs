use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, JoinSide, JoinType, Result, SharedResult, internal_err, project_schema};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, apply_expression_roots,
};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, MetricsSet, SpillMetrics, Time,
};
use datafusion::physical_plan::projection::{EmbeddedProjection, ProjectionExec, try_embed_projection};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SpillManager,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt};

use super::condition::{Condition, Shown};
use super::index::{Index, Share};
use super::input::{Batch, Batches, Held, Input};
use super::memory::{MemoryPlan, Summary};
use super::order::Order;
use super::output::{Matched, Output, Shape};
use super::search::{Counts, Required, Search, Task, tasks};
use super::sets::Sets;
use super::spill::{Side, SpillReader, Spilled};

/// A join on a similarity of sets; see the [module](super) for how it works.
#[derive(Debug, Clone)]
pub(in crate::similarity_join) struct SimilarityJoinExec {
    condition: Arc<Condition>,
    left: Input,
    /// `None` where it is the left input again, which then is read once.
    right: Option<Input>,
    filter: Option<JoinFilter>,
    join_type: JoinType,
    /// The columns of the join, and which of them are given.
    columns: Vec<ColumnIndex>,
    join_schema: SchemaRef,
    projection: Option<Vec<usize>>,
    fetch: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    run: Arc<Mutex<Run>>,
}

/// A run of the operator: what all partitions share, once the first has asked for it, and which of them have.
#[derive(Debug, Default)]
struct Run {
    preparing: Option<Preparing>,
    begun: Vec<usize>,
}

type Preparing = Shared<BoxFuture<'static, SharedResult<Arc<Prepared>>>>;

impl SimilarityJoinExec {
    pub(in crate::similarity_join) fn try_new(
        condition: Condition,
        left: Input,
        right: Option<Input>,
        filter: Option<JoinFilter>,
        join_type: JoinType,
        partitions: usize,
    ) -> Result<Self> {
        let right_schema = right.as_ref().unwrap_or(&left).plan.schema();
        let (join_schema, columns) = build_join_schema(&left.plan.schema(), &right_schema, &join_type);
        let join_schema = Arc::new(join_schema);
        let is_unbounded = std::iter::once(&left).chain(&right).any(|input| input.plan.boundedness().is_unbounded());
        let boundedness =
            if is_unbounded { Boundedness::Unbounded { requires_infinite_memory: true } } else { Boundedness::Bounded };
        Ok(Self {
            condition: Arc::new(condition),
            properties: Arc::new(properties(&join_schema, partitions, boundedness)),
            left,
            right,
            filter,
            join_type,
            columns,
            join_schema,
            projection: None,
            fetch: None,
            metrics: ExecutionPlanMetricsSet::new(),
            run: Arc::default(),
        })
    }

    fn partitions(&self) -> usize {
        self.properties.output_partitioning().partition_count()
    }

    /// The columns to give of those of the join.
    fn output_columns(&self) -> Vec<ColumnIndex> {
        match &self.projection {
            Some(projection) => projection.iter().map(|&i| self.columns[i].clone()).collect(),
            None => self.columns.clone(),
        }
    }

    /// The columns of an input that are kept until the output is made.
    fn kept_columns(&self, side: JoinSide) -> Vec<usize> {
        let of_filter = self.filter.iter().flat_map(|filter| filter.column_indices().to_vec());
        let of_side = |column: &ColumnIndex| column.side == side || self.right.is_none();
        let mut kept: Vec<_> =
            self.output_columns().into_iter().chain(of_filter).filter(of_side).map(|column| column.index).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// How the output is made of the columns that are kept.
    fn shape(&self, batch_size: usize) -> Shape {
        let (lefts, rights) = (self.kept_columns(JoinSide::Left), self.kept_columns(JoinSide::Right));
        let kept = |columns: &[ColumnIndex]| -> Vec<_> {
            let place = |column: &ColumnIndex| {
                let kept = if column.side == JoinSide::Right { &rights } else { &lefts };
                ColumnIndex { index: kept.partition_point(|i| *i < column.index), side: column.side }
            };
            columns.iter().map(place).collect()
        };
        let filter = self.filter.as_ref().map(|filter| {
            let columns = kept(filter.column_indices());
            JoinFilter::new(Arc::clone(filter.expression()), columns, Arc::clone(filter.schema()))
        });
        Shape {
            join_type: self.join_type,
            schema: self.schema(),
            columns: kept(&self.output_columns()),
            filter,
            batch_size,
        }
    }

    /// The same operator over other inputs, not yet run.
    fn with_inputs(&self, plans: Vec<Arc<dyn ExecutionPlan>>) -> Result<Self> {
        let mut plans = plans.into_iter();
        let (Some(left), right) = (plans.next(), plans.next()) else {
            return internal_err!("a similarity join without inputs");
        };
        if right.is_some() != self.right.is_some() {
            return internal_err!("a similarity join of {} inputs has got another number", self.children().len());
        }
        let left = Input { plan: left, ..self.left.clone() };
        let right = self.right.clone().zip(right).map(|(input, plan)| Input { plan, ..input });
        Ok(Self { left, right, metrics: ExecutionPlanMetricsSet::new(), run: Arc::default(), ..self.clone() })
    }

    /// Begins a partition; one that begins again belongs to a new run.
    fn begin(&self, partition: usize, context: &Arc<TaskContext>) -> Preparing {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if run.begun.len() == self.partitions() || run.begun.contains(&partition) {
            *run = Run::default();
        }
        run.begun.push(partition);
        let prepare = || {
            // Without the run, which would keep itself alive if it were cancelled.
            let (exec, context) = (Self { run: Arc::default(), ..self.clone() }, Arc::clone(context));
            async move { exec.prepare(context).await.map(Arc::new).map_err(Arc::new) }.boxed().shared()
        };
        run.preparing.get_or_insert_with(prepare).clone()
    }

    /// Reads the inputs, and decides whether they are joined in memory.
    async fn prepare(self, context: Arc<TaskContext>) -> Result<Prepared> {
        let consumer = MemoryConsumer::new("SimilarityJoin").with_can_spill(true);
        let reservation = Arc::new(consumer.register(context.memory_pool()));
        let metrics = SpillMetrics::new(&self.metrics, 0);
        let (lefts, rights) = (self.kept_columns(JoinSide::Left), self.kept_columns(JoinSide::Right));
        let collect = async |input: &Input, columns: &[usize], is_left: bool| {
            let shown = Shown::new(&self.condition, is_left, self.right.is_none());
            let schema = Batch::spilled_schema(&*input.kept_schema(columns)?);
            let spill = SpillManager::new(context.runtime_env(), metrics.clone(), schema);
            let held = input.collect(columns, &context, &reservation, &spill, &shown).await?;
            Ok::<_, DataFusionError>((held, spill))
        };
        let (left, left_spill) = collect(&self.left, &lefts, true).await?;
        let (right, right_spill) = match &self.right {
            Some(right) => collect(right, &rights, false).await?,
            None => (Vec::new(), left_spill.clone()),
        };
        let summary = left.iter().chain(&right).map(|held| held.summary).sum::<Summary>();
        let left_rows = left.iter().map(|held| held.summary.rows).sum();
        let matched = (self.join_type != JoinType::Inner).then(|| Matched::new(left_rows, self.partitions()));
        let is_in_memory = !left.iter().chain(&right).any(Held::is_spilled)
            && reservation
                .try_grow(
                    summary.bytes_to_count().max(summary.bytes_to_join(summary.shown)) + Matched::bytes(left_rows),
                )
                .is_ok();
        let mut join = Join {
            condition: self.condition,
            is_self_join: self.right.is_none(),
            workers: context.session_config().target_partitions(),
            batch_size: context.session_config().batch_size(),
            build_time: MetricBuilder::new(&self.metrics).subset_time("build_time", 0),
            memory: MetricBuilder::new(&self.metrics).gauge("build_mem_used", 0),
            shares: 1,
            spilled: None,
            order: None,
        };
        if is_in_memory {
            let mut batches = Batches { all: Vec::new(), left: 0 };
            let mut first = 0;
            for mut batch in left.into_iter().flat_map(|held| held.batches) {
                batch.first = first;
                first += batch.rows.num_rows();
                batches.all.push(batch);
            }
            batches.left = batches.all.len();
            batches.all.extend(right.into_iter().flat_map(|held| held.batches));
            let joining = Arc::new(join.join_in_memory(batches, 0, reservation).await?);
            return Ok(Prepared {
                join: Arc::new(join),
                lefts: match matched {
                    Some(_) => Lefts::InMemory(Arc::clone(&joining)),
                    None => Lefts::Unwanted,
                },
                matched,
                pool: None,
                current: Mutex::new((0, Next::Ready(joining))),
            });
        }
        let spilled = |held: Vec<Held>, spill| -> Result<Arc<Side>> {
            let mut files = Vec::new();
            for mut held in held {
                held.spill()?;
                files.extend(held.finish()?);
            }
            Ok(Arc::new(Side { files, spill, postings: Vec::new() }))
        };
        let spilled = Spilled { left: spilled(left, left_spill)?, right: spilled(right, right_spill)? };
        let plan = MemoryPlan::of(&summary, context.memory_pool().memory_limit());
        reservation.try_resize(plan.counters + Matched::bytes(left_rows))?;
        let order = Order::of_spilled(&spilled, summary.elements, plan.counters).await?;
        reservation.try_resize(order.size() + Matched::bytes(left_rows))?;
        let shares = spilled.deal(&order, &join.condition, join.is_self_join, plan.shares).await?;
        MetricBuilder::new(&self.metrics).counter("shares", 0).add(plan.shares);
        join.shares = plan.shares;
        join.spilled = Some(shares);
        join.order = Some(Arc::new(order));
        Ok(Prepared {
            join: Arc::new(join),
            lefts: match matched {
                Some(_) => Lefts::OnDisk(spilled.left),
                None => Lefts::Unwanted,
            },
            matched,
            pool: Some((Arc::clone(context.memory_pool()), reservation)),
            current: Mutex::new((0, Next::Wanted)),
        })
    }
}

fn properties(schema: &SchemaRef, partitions: usize, boundedness: Boundedness) -> PlanProperties {
    PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Final,
        boundedness,
    )
}

/// What all partitions of the output share.
struct Prepared {
    join: Arc<Join>,
    /// For semi and anti joins.
    matched: Option<Matched>,
    lefts: Lefts,
    /// Where the join goes share by share: whence the memory for them comes, and what was reserved for all.
    pool: Option<(Arc<dyn MemoryPool>, Arc<MemoryReservation>)>,
    /// The number of the share that is being joined, and that share.
    current: Mutex<(usize, Next)>,
}

/// The rows of the left input, of which semi and anti joins give some.
enum Lefts {
    Unwanted,
    InMemory(Arc<Joining>),
    OnDisk(Arc<Side>),
}

enum Next {
    Wanted,
    Loading(Shared<BoxFuture<'static, SharedResult<Arc<Joining>>>>),
    Ready(Arc<Joining>),
}

/// The join, apart from its rows.
struct Join {
    condition: Arc<Condition>,
    is_self_join: bool,
    workers: usize,
    batch_size: usize,
    build_time: Time,
    memory: Gauge,
    shares: usize,
    /// The rows of the shares.
    spilled: Option<Spilled>,
    order: Option<Arc<Order>>,
}

/// A share of the join, or all of it, with its rows and its index in memory.
struct Joining {
    number: usize,
    batches: Arc<Batches>,
    sets: Arc<Sets>,
    index: Index,
    required: Required,
    tasks: Vec<Task>,
    next_task: AtomicUsize,
    /// Memory is given back when the last partition is done.
    _reservation: Arc<MemoryReservation>,
}

impl Join {
    /// Makes the index of rows for which memory is reserved.
    async fn join_in_memory(
        &self,
        batches: Batches,
        number: usize,
        reservation: Arc<MemoryReservation>,
    ) -> Result<Joining> {
        let _timer = self.build_time.timer();
        let batches = Arc::new(batches);
        let sets = Arc::new(Sets::of(&batches, self.is_self_join, self.workers).await?);
        let order = match &self.order {
            Some(order) => Arc::clone(order),
            None => Arc::new(Order::of(&sets, self.workers).await?),
        };
        let share = Share { number, of: self.shares };
        let index = Index::of(&sets, order, &self.condition, share, self.workers).await?;
        self.memory.set_max(reservation.size());
        Ok(Joining {
            number,
            required: Required::new(&self.condition, &sets),
            tasks: tasks(&sets, &index),
            next_task: AtomicUsize::new(0),
            batches,
            sets,
            index,
            _reservation: reservation,
        })
    }

    /// Reads a share back and makes its index.
    async fn load(&self, number: usize, reservation: MemoryReservation) -> Result<Joining> {
        let Some(spilled) = &self.spilled else { return internal_err!("no rows were spilled") };
        let batches = spilled.load(number, self.is_self_join, self.batch_size).await?;
        let summary = batches.summary(&self.condition, self.is_self_join)?;
        reservation.try_grow(summary.bytes + summary.bytes_to_join(spilled.postings(number))).map_err(|error| {
            DataFusionError::ResourcesExhausted(format!(
                "{} rows with elements in common must be in memory at once in a similarity join, share {} of {}: raise the \
                 memory limit (--memory, or datafusion.runtime.memory_limit); {}",
                summary.rows,
                number + 1,
                self.shares,
                error.strip_backtrace()
            ))
        })?;
        self.join_in_memory(batches, number, Arc::new(reservation)).await
    }
}

impl Prepared {
    /// The share that is being joined, or the one after it if that is `done`; `None` after the last.
    async fn share(&self, done: Option<usize>) -> Result<Option<Arc<Joining>>> {
        let loading = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            if done == Some(current.0) {
                *current = (current.0 + 1, Next::Wanted);
            }
            if current.0 >= self.join.shares {
                return Ok(None);
            }
            match &current.1 {
                Next::Ready(part) => return Ok(Some(Arc::clone(part))),
                Next::Loading(loading) => loading.clone(),
                Next::Wanted => {
                    let Some((pool, _)) = &self.pool else { return internal_err!("a similarity join without memory") };
                    // What a share takes cannot be spilled any more.
                    let reservation = MemoryConsumer::new("SimilarityJoin").register(pool);
                    let (join, number) = (Arc::clone(&self.join), current.0);
                    let loading = async move { join.load(number, reservation).await.map(Arc::new).map_err(Arc::new) }
                        .boxed()
                        .shared();
                    current.1 = Next::Loading(loading.clone());
                    loading
                }
            }
        };
        loading.await.map(Some).map_err(|error| DataFusionError::from(&error))
    }
}

/// A partition of the output.
struct Partition {
    prepared: Arc<Prepared>,
    state: State,
    output: Output,
    /// How many rows may still be given.
    rest: usize,
    metrics: Metrics,
}

enum State {
    /// Between two shares: the number of the last one.
    Between(Option<usize>),
    Joining(Arc<Joining>),
    /// Semi and anti joins: the batches of the left input from here on.
    InMemory(Arc<Joining>, usize),
    OnDisk(SpillReader),
    Done,
}

struct Metrics {
    candidates: Count,
    pruned_position: Count,
    pruned_bitmap: Count,
    repeated: Count,
    verified: Count,
    matched: Count,
    output_rows: Count,
    join_time: Time,
}

impl Metrics {
    fn add(&self, counts: Counts) {
        self.candidates.add(counts.candidates);
        self.pruned_position.add(counts.pruned_position);
        self.pruned_bitmap.add(counts.pruned_bitmap);
        self.repeated.add(counts.repeated);
        self.verified.add(counts.verified);
        self.matched.add(counts.matched);
    }

    fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self {
            candidates: counter("candidates"),
            pruned_position: counter("pruned_position"),
            pruned_bitmap: counter("pruned_bitmap"),
            repeated: counter("repeated"),
            verified: counter("verified"),
            matched: counter("matched_sets"),
            output_rows: MetricBuilder::new(metrics).output_rows(partition),
            join_time: MetricBuilder::new(metrics).subset_time("join_time", partition),
        }
    }
}

impl Partition {
    /// The next batch; `None` at the end.
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        while self.rest > 0 {
            if let State::Done = self.state {
                return Ok(None);
            }
            match self.step().await? {
                Some(batch) if batch.num_rows() > 0 => {
                    let batch = batch.slice(0, batch.num_rows().min(self.rest));
                    self.rest -= batch.num_rows();
                    self.metrics.output_rows.add(batch.num_rows());
                    return Ok(Some(batch));
                }
                // A step may take milliseconds: let others in, and be cancelled.
                _ => tokio::task::yield_now().await,
            }
        }
        Ok(None)
    }

    async fn step(&mut self) -> Result<Option<RecordBatch>> {
        let matched = self.prepared.matched.as_ref();
        match &mut self.state {
            State::Between(done) => {
                self.state = match (self.prepared.share(*done).await?, matched, &self.prepared.lefts) {
                    (Some(joining), ..) => State::Joining(joining),
                    (None, Some(matched), lefts) if matched.is_complete() => match lefts {
                        Lefts::InMemory(joining) => State::InMemory(Arc::clone(joining), 0),
                        Lefts::OnDisk(side) => State::OnDisk(side.read()),
                        Lefts::Unwanted => State::Done,
                    },
                    _ => State::Done,
                };
                Ok(None)
            }
            State::Joining(joining) => {
                let joining = Arc::clone(joining);
                let started = Instant::now();
                let batch = self.join(&joining);
                self.metrics.join_time.add_elapsed(started);
                batch
            }
            State::InMemory(joining, number) => {
                let batches = &joining.batches;
                let rows = match (batches.all[..batches.left].get(*number), matched) {
                    (Some(batch), Some(matched)) => Some(self.output.rows_of(batch, matched)?),
                    _ => None,
                };
                *number += 1;
                if rows.is_none() {
                    self.state = State::Done;
                }
                Ok(rows)
            }
            State::OnDisk(reader) => {
                let rows = match (reader.next().await?, matched) {
                    (Some(batch), Some(matched)) => Some(self.output.rows_of(&batch, matched)?),
                    _ => None,
                };
                if rows.is_none() {
                    self.state = State::Done;
                }
                Ok(rows)
            }
            State::Done => Ok(None),
        }
    }

    /// Gives the pairs of the last task, or finds those of the next one.
    fn join(&mut self, joining: &Joining) -> Result<Option<RecordBatch>> {
        let matched = self.prepared.matched.as_ref();
        if self.output.take(&joining.sets, &joining.batches, matched) {
            return self.output.flush(&joining.batches, matched);
        }
        let next = joining.next_task.fetch_add(1, Ordering::Relaxed);
        let Some(task) = joining.tasks.get(next) else {
            self.state = State::Between(Some(joining.number));
            return self.output.flush(&joining.batches, matched);
        };
        let condition = &self.prepared.join.condition;
        let search = Search::new(&joining.sets, &joining.index, condition, &joining.required);
        self.metrics.add(search.run(task, self.output.refill()));
        Ok(None)
    }
}

impl DisplayAs for SimilarityJoinExec {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        if let DisplayFormatType::TreeRender = form {
            return writeln!(f, "on={}", self.condition.text);
        }
        write!(f, "SimilarityJoinExec: {}, strategy=operator, join_type={}", self.condition.text, self.join_type)?;
        if self.right.is_none() {
            write!(f, ", self_join=true")?;
        }
        if let Some(filter) = &self.filter {
            write!(f, ", filter={}", filter.expression())?;
        }
        if self.projection.is_some() {
            let names: Vec<_> = self.schema().fields().iter().map(|field| field.name().clone()).collect();
            write!(f, ", projection=[{}]", names.join(", "))?;
        }
        match self.fetch {
            Some(fetch) => write!(f, ", fetch={fetch}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for SimilarityJoinExec {
    fn name(&self) -> &'static str {
        "SimilarityJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        std::iter::once(&self.left).chain(&self.right).map(|input| &input.plan).collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; self.children().len()]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let of_inputs = std::iter::once(&self.left)
            .chain(&self.right)
            .flat_map(|input| std::iter::once(&input.set).chain(&input.keys));
        apply_expression_roots(of_inputs.chain(self.filter.iter().map(JoinFilter::expression)), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.with_inputs(children)?))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.with_inputs(children)?))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let preparing = self.begin(partition, &context);
        let shape = Arc::new(self.shape(context.session_config().batch_size()));
        let metrics = Metrics::new(&self.metrics, partition);
        let rest = self.fetch.unwrap_or(usize::MAX);
        let prepared = async move {
            let prepared = preparing.await.map_err(|error| DataFusionError::from(&error))?;
            let state = State::Between(None);
            let partition = Partition { prepared, output: Output::new(shape), state, rest, metrics };
            Ok::<_, DataFusionError>(futures::stream::try_unfold(partition, |mut partition| async move {
                Ok(partition.next().await?.map(|batch| (batch, partition)))
            }))
        };
        let stream = futures::stream::once(prepared).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(Self { fetch, run: Arc::default(), ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if self.projection.is_some() { Ok(None) } else { try_embed_projection(projection, self) }
    }
}

impl EmbeddedProjection for SimilarityJoinExec {
    fn with_projection(&self, projection: Option<Vec<usize>>) -> Result<Self> {
        let schema = project_schema(&self.join_schema, projection.as_ref())?;
        Ok(Self {
            properties: Arc::new(properties(&schema, self.partitions(), self.properties.boundedness)),
            projection,
            run: Arc::default(),
            ..self.clone()
        })
    }
}
