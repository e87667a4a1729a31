use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, JoinSide, JoinType, Result, SharedResult, internal_err, project_schema};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, apply_expression_roots,
};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, Time};
use datafusion::physical_plan::projection::{EmbeddedProjection, ProjectionExec, try_embed_projection};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt};

use super::condition::Condition;
use super::index::Index;
use super::input::{Batches, Input};
use super::order::Order;
use super::output::{Matched, Output, Shape};
use super::search::{Required, Search, Task, tasks};
use super::sets::Sets;

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
    prepared: Arc<OnceLock<Preparing>>,
}

/// What all partitions share, once the first has asked for it.
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
        Ok(Self {
            condition: Arc::new(condition),
            properties: Arc::new(properties(&join_schema, partitions)),
            left,
            right,
            filter,
            join_type,
            columns,
            join_schema,
            projection: None,
            fetch: None,
            metrics: ExecutionPlanMetricsSet::new(),
            prepared: Arc::default(),
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
        Ok(Self { left, right, metrics: ExecutionPlanMetricsSet::new(), prepared: Arc::default(), ..self.clone() })
    }

    fn preparing(&self, context: &Arc<TaskContext>) -> Preparing {
        let start = || {
            let (exec, context) = (self.clone(), Arc::clone(context));
            async move { exec.prepare(&context).await.map(Arc::new).map_err(Arc::new) }.boxed().shared()
        };
        self.prepared.get_or_init(start).clone()
    }

    /// Reads the inputs and makes the index.
    async fn prepare(self, context: &Arc<TaskContext>) -> Result<Prepared> {
        let time = MetricBuilder::new(&self.metrics).subset_time("build_time", 0);
        let memory = MetricBuilder::new(&self.metrics).gauge("build_mem_used", 0);
        let reservation = Arc::new(MemoryConsumer::new("SimilarityJoin").register(context.memory_pool()));
        let workers = context.session_config().target_partitions();

        let left = self.left.collect(&self.kept_columns(JoinSide::Left), context, &reservation).await?;
        let mut batches = Batches { left: left.len(), all: left };
        if let Some(right) = &self.right {
            let columns = self.kept_columns(JoinSide::Right);
            batches.all.append(&mut right.collect(&columns, context, &reservation).await?);
        }
        let _timer = time.timer();
        let rows = batches.all.iter().map(|batch| batch.rows.num_rows()).sum();
        let matched =
            (self.join_type != JoinType::Inner).then(|| Matched::new(&batches.all[..batches.left], self.partitions()));
        let batches = Arc::new(batches);
        let sets_bytes = Sets::bytes(rows) + Matched::bytes(rows);
        reservation.try_grow(sets_bytes)?;
        let sets = Arc::new(Sets::of(&batches, self.right.is_none(), workers).await?);

        let (elements, shown) = sets.elements_and_shown(&self.condition);
        let index_bytes = Order::bytes(elements) + Index::bytes(sets.len(), shown);
        reservation.try_grow(index_bytes)?;
        let order = Order::of(&sets, elements, workers).await?;
        let index = Index::of(&sets, order, &self.condition, workers).await?;
        let tasks = tasks(&sets, &index);
        memory.set(reservation.size());
        Ok(Prepared {
            required: Required::new(&self.condition, &sets),
            condition: Arc::clone(&self.condition),
            batches,
            sets,
            index,
            tasks,
            next_task: AtomicUsize::new(0),
            matched,
            _reservation: reservation,
        })
    }
}

fn properties(schema: &SchemaRef, partitions: usize) -> PlanProperties {
    PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Final,
        Boundedness::Bounded,
    )
}

/// What all partitions of the output read.
struct Prepared {
    condition: Arc<Condition>,
    batches: Arc<Batches>,
    sets: Arc<Sets>,
    index: Index,
    required: Required,
    tasks: Vec<Task>,
    next_task: AtomicUsize,
    /// For semi and anti joins.
    matched: Option<Matched>,
    /// Memory is given back when the last partition is done.
    _reservation: Arc<MemoryReservation>,
}

/// A partition of the output.
struct Partition {
    prepared: Arc<Prepared>,
    output: Output,
    state: State,
    /// How many rows may still be given.
    rest: usize,
    metrics: Metrics,
}

enum State {
    Pairs,
    /// Semi and anti joins: the batches of the left input from here on.
    Rows(usize),
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
            let started = Instant::now();
            let batch = self.step()?;
            self.metrics.join_time.add_elapsed(started);
            match batch {
                Some(batch) if batch.num_rows() > 0 => {
                    let batch = batch.slice(0, batch.num_rows().min(self.rest));
                    self.rest -= batch.num_rows();
                    self.metrics.output_rows.add(batch.num_rows());
                    return Ok(Some(batch));
                }
                _ if matches!(self.state, State::Done) => return Ok(None),
                // A step may take milliseconds: let others in, and be cancelled.
                _ => tokio::task::yield_now().await,
            }
        }
        Ok(None)
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        let prepared = &self.prepared;
        let matched = prepared.matched.as_ref();
        match self.state {
            State::Pairs => {
                if self.output.take(&prepared.sets, matched) {
                    return self.output.flush(&prepared.batches, matched);
                }
                let next = prepared.next_task.fetch_add(1, Ordering::Relaxed);
                if let Some(task) = prepared.tasks.get(next) {
                    let search = Search::new(&prepared.sets, &prepared.index, &prepared.condition, &prepared.required);
                    let counts = search.run(task, self.output.refill());
                    let metrics = &self.metrics;
                    metrics.candidates.add(counts.candidates);
                    metrics.pruned_position.add(counts.pruned_position);
                    metrics.pruned_bitmap.add(counts.pruned_bitmap);
                    metrics.repeated.add(counts.repeated);
                    metrics.verified.add(counts.verified);
                    metrics.matched.add(counts.matched);
                    return Ok(None);
                }
                let last = self.output.flush(&prepared.batches, matched)?;
                self.state = match matched {
                    Some(matched) if matched.is_complete() => State::Rows(0),
                    _ => State::Done,
                };
                Ok(last)
            }
            State::Rows(number) => match matched {
                Some(matched) if number < prepared.batches.left => {
                    self.state = State::Rows(number + 1);
                    self.output.rows_of(&prepared.batches, number, matched).map(Some)
                }
                _ => {
                    self.state = State::Done;
                    Ok(None)
                }
            },
            State::Done => Ok(None),
        }
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
        let preparing = self.preparing(&context);
        let shape = Arc::new(self.shape(context.session_config().batch_size()));
        let metrics = Metrics::new(&self.metrics, partition);
        let rest = self.fetch.unwrap_or(usize::MAX);
        let prepared = async move {
            let prepared = preparing.await.map_err(|error| DataFusionError::from(&error))?;
            let partition = Partition { prepared, output: Output::new(shape), state: State::Pairs, rest, metrics };
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
        Some(Arc::new(Self { fetch, prepared: Arc::default(), ..self.clone() }))
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
            properties: Arc::new(properties(&schema, self.partitions())),
            projection,
            prepared: Arc::default(),
            ..self.clone()
        })
    }
}
