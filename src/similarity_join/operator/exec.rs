use std::fmt;
use std::sync::Arc;
use std::thread::available_parallelism;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinSide, JoinType, Result, internal_err, project_schema};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, apply_expression_roots,
};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter, build_join_schema};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::projection::{EmbeddedProjection, ProjectionExec, try_embed_projection};
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements, PlanProperties,
};
use futures::TryStreamExt;
use tokio::sync::mpsc::Sender;

use super::condition::Condition;
use super::deal_exec::share_column;
use super::dealt::run_dealt;
use super::input::Input;
use super::output::Shape;
use super::prefix::Prefix;
use super::run::{Kept, Run, RunMetrics, run_all};
use crate::config::Strategy;

/// The name of the operator in plans.
pub(crate) const SIMILARITY_JOIN: &str = "SimilarityJoinExec";

/// A join on a similarity of sets; see the [module](super) for how it works.
///
/// The operator has one partition, and works on as many threads as the session has partitions. The threads take tasks
/// off one list, so they must be in one process, while the partitions of a plan may run anywhere. Or else the inputs
/// are partitioned into shares by [`deal_exec`](super::deal_exec), and each partition joins its shares by itself,
/// wherever it runs.
#[derive(Debug, Clone)]
pub(in crate::similarity_join) struct SimilarityJoinExec {
    pub(in crate::similarity_join) condition: Arc<Condition>,
    pub(in crate::similarity_join) left: Input,
    /// `None` if it is the left input again, which is then read once.
    pub(in crate::similarity_join) right: Option<Input>,
    pub(in crate::similarity_join) filter: Option<JoinFilter>,
    /// The alternative conditions: pairs of rows match if they meet any of them.
    pub(in crate::similarity_join) others: Vec<Alternative>,
    pub(in crate::similarity_join) join_type: JoinType,
    pub(in crate::similarity_join) projection: Option<Vec<usize>>,
    pub(in crate::similarity_join) fetch: Option<usize>,
    /// True if each input must be in one partition: on a cluster, the operator cannot execute other partitions itself.
    pub(in crate::similarity_join) takes_one_part: bool,
    /// The number of shares that the inputs are partitioned into, if they are partitioned.
    pub(in crate::similarity_join) shares: Option<usize>,
    /// The estimated number of pairs of sets that show the same element, for display in plans.
    pub(in crate::similarity_join) estimated_candidates: Option<f64>,
    /// The columns of the join, before the projection.
    columns: Vec<ColumnIndex>,
    join_schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// A further condition of a join, on other sets of the same rows.
#[derive(Debug, Clone)]
pub(in crate::similarity_join) struct Alternative {
    pub(in crate::similarity_join) condition: Arc<Condition>,
    pub(in crate::similarity_join) left: Arc<dyn PhysicalExpr>,
    /// The set of a row of the right input, even if that is the left input again.
    pub(in crate::similarity_join) right: Arc<dyn PhysicalExpr>,
    /// The rest of the condition, which also excludes pairs that meet an earlier condition.
    pub(in crate::similarity_join) filter: Option<JoinFilter>,
}

impl SimilarityJoinExec {
    pub(in crate::similarity_join) fn try_new(
        condition: Condition,
        left: Input,
        right: Option<Input>,
        filter: Option<JoinFilter>,
        join_type: JoinType,
    ) -> Result<Self> {
        let right_schema = right.as_ref().unwrap_or(&left).plan.schema();
        let (join_schema, columns) = build_join_schema(&left.plan.schema(), &right_schema, &join_type);
        let join_schema = Arc::new(join_schema);
        let is_unbounded = std::iter::once(&left).chain(&right).any(|input| input.plan.boundedness().is_unbounded());
        let boundedness =
            if is_unbounded { Boundedness::Unbounded { requires_infinite_memory: true } } else { Boundedness::Bounded };
        Ok(Self {
            condition: Arc::new(condition),
            properties: Arc::new(properties(&join_schema, 1, boundedness)),
            left,
            right,
            filter,
            others: Vec::new(),
            join_type,
            columns,
            join_schema,
            projection: None,
            fetch: None,
            takes_one_part: false,
            shares: None,
            estimated_candidates: None,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    pub(in crate::similarity_join) fn with_estimate(self, estimated_candidates: Option<f64>) -> Self {
        Self { estimated_candidates, ..self }
    }

    pub(in crate::similarity_join) fn with_inputs_in_one_part(self, takes_one_part: bool) -> Self {
        Self { takes_one_part, ..self }
    }

    /// Returns the join of inputs that are partitioned into `shares` shares. `left` and `right` are the numbers of
    /// columns of the inputs, without those that the partitioning adds.
    pub(in crate::similarity_join) fn of_dealt(self, shares: usize, left: usize, right: usize) -> Result<Self> {
        let lefts = self.left.plan.schema().fields().len();
        let given = (0..left).chain(lefts..lefts + right).collect();
        self.in_shares(Some(shares)).with_projection(Some(given))
    }

    pub(in crate::similarity_join) fn in_shares(self, shares: Option<usize>) -> Self {
        let parts = shares.map_or(1, |_| self.left.plan.output_partitioning().partition_count());
        let properties = Arc::new(properties(&self.schema(), parts, self.properties.boundedness));
        Self { shares, properties, ..self }
    }

    pub(in crate::similarity_join) fn with_others(self, others: Vec<Alternative>) -> Self {
        Self { others, ..self }
    }

    /// Returns the columns of the join that the projection keeps.
    fn output_columns(&self) -> Vec<ColumnIndex> {
        match &self.projection {
            Some(projection) => projection.iter().map(|&i| self.columns[i].clone()).collect(),
            None => self.columns.clone(),
        }
    }

    /// Returns the columns of an input that are kept until the pairs that meet `filter` are output.
    fn kept_columns(&self, side: JoinSide, filter: Option<&JoinFilter>) -> Vec<usize> {
        let of_filter = filter.iter().flat_map(|filter| filter.column_indices().to_vec());
        let of_side = |column: &ColumnIndex| column.side == side || self.right.is_none();
        let input = self.right.as_ref().filter(|_| side == JoinSide::Right).unwrap_or(&self.left);
        let of_prefix = input.prefix.into_iter().flat_map(|first| first..first + Prefix::fields().len());
        let columns = self.output_columns().into_iter().chain(of_filter).filter(of_side).map(|column| column.index);
        let mut kept: Vec<_> = columns.chain(of_prefix).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// Returns how the output is built from the kept columns.
    fn shape(&self, batch_size: usize, filter: Option<&JoinFilter>) -> Shape {
        let (lefts, rights) = (self.kept_columns(JoinSide::Left, filter), self.kept_columns(JoinSide::Right, filter));
        let kept = |columns: &[ColumnIndex]| -> Vec<_> {
            let place = |column: &ColumnIndex| {
                let kept = if column.side == JoinSide::Right { &rights } else { &lefts };
                ColumnIndex { index: kept.partition_point(|i| *i < column.index), side: column.side }
            };
            columns.iter().map(place).collect()
        };
        let filter = filter.map(|filter| {
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

    /// Returns a run for each condition; they run one after the other.
    fn runs(&self, context: &Arc<TaskContext>, out: &Sender<Result<RecordBatch>>) -> Vec<Arc<Run>> {
        let config = context.session_config();
        let workers = self.workers(context);
        let metrics = RunMetrics::new(&self.metrics, workers);
        let run = |condition: &Arc<Condition>, left: Input, right: Option<Input>, filter: Option<&JoinFilter>| Run {
            condition: Arc::clone(condition),
            left: Kept { input: left, columns: self.kept_columns(JoinSide::Left, filter) },
            right: right.map(|input| Kept { input, columns: self.kept_columns(JoinSide::Right, filter) }),
            is_last: false,
            shape: Arc::new(self.shape(config.batch_size(), filter)),
            context: Arc::clone(context),
            workers,
            shares: self.shares.unwrap_or(1),
            metrics: metrics.clone(),
            out: out.clone(),
        };
        let first = run(&self.condition, self.left.clone(), self.right.clone(), self.filter.as_ref());
        let others = self.others.iter().map(|other| {
            let with_set = |input: &Input, set| Input { set: Arc::clone(set), ..input.clone() };
            let left = with_set(&self.left, &other.left);
            let right = self.right.as_ref().map(|input| with_set(input, &other.right));
            run(&other.condition, left, right, other.filter.as_ref())
        });
        let mut runs: Vec<_> = std::iter::once(first).chain(others).collect();
        if let Some(last) = runs.last_mut() {
            last.is_last = true;
        }
        runs.into_iter().map(Arc::new).collect()
    }

    /// Returns the number of threads that a partition uses. Other partitions run beside it, unless it is the only one.
    fn workers(&self, context: &TaskContext) -> usize {
        let partitions = context.session_config().target_partitions();
        match (self.shares.is_some(), self.takes_one_part) {
            (true, _) => 1,
            (false, false) => partitions,
            (false, true) => available_parallelism().map_or(partitions, |threads| partitions.max(threads.get())),
        }
    }

    /// Returns the conditions as they were written.
    fn text(&self) -> String {
        let others = self.others.iter().map(|other| other.condition.text.as_str());
        std::iter::once(self.condition.text.as_str()).chain(others).collect::<Vec<_>>().join(" OR ")
    }

    /// Returns the same operator over other inputs.
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
        let exec = Self { left, right, metrics: ExecutionPlanMetricsSet::new(), ..self.clone() };
        Ok(exec.in_shares(self.shares))
    }
}

fn properties(schema: &SchemaRef, parts: usize, boundedness: Boundedness) -> PlanProperties {
    PlanProperties::new(
        EquivalenceProperties::new(Arc::clone(schema)),
        Partitioning::UnknownPartitioning(parts),
        EmissionType::Final,
        boundedness,
    )
}

impl DisplayAs for SimilarityJoinExec {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        if let DisplayFormatType::TreeRender = form {
            return writeln!(f, "on={}", self.text());
        }
        let strategy = match (&self.condition.scan, self.shares.is_some()) {
            (Some(_), _) => Strategy::Bitmap,
            (None, true) => Strategy::Distributed,
            (None, false) => Strategy::Operator,
        };
        write!(f, "{SIMILARITY_JOIN}: {}, strategy={strategy}, join_type={}", self.text(), self.join_type)?;
        if self.right.is_none() {
            write!(f, ", self_join=true")?;
        }
        let filters =
            std::iter::once(self.filter.as_ref()).chain(self.others.iter().map(|other| other.filter.as_ref()));
        let filters: Vec<_> = filters.flatten().map(|filter| filter.expression().to_string()).collect();
        if !filters.is_empty() {
            write!(f, ", filter={}", filters.join("; "))?;
        }
        if self.projection.is_some() {
            let names: Vec<_> = self.schema().fields().iter().map(|field| field.name().clone()).collect();
            write!(f, ", projection=[{}]", names.join(", "))?;
        }
        if let Some(fetch) = self.fetch {
            write!(f, ", fetch={fetch}")?;
        }
        match self.estimated_candidates {
            Some(candidates) => write!(f, ", estimated_candidates={candidates:.0}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for SimilarityJoinExec {
    fn name(&self) -> &'static str {
        SIMILARITY_JOIN
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

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        if self.shares.is_some() {
            let share =
                |plan: &&Arc<dyn ExecutionPlan>| Distribution::KeyPartitioned(vec![share_column(&plan.schema())]);
            let of_inputs: Vec<_> = self.children().iter().map(share).collect();
            return match of_inputs.len() {
                1 => InputDistributionRequirements::new(of_inputs),
                _ => InputDistributionRequirements::co_partitioned(of_inputs),
            };
        }
        let of_input =
            if self.takes_one_part { Distribution::SinglePartition } else { Distribution::UnspecifiedDistribution };
        InputDistributionRequirements::new(vec![of_input; self.children().len()])
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let of_inputs = std::iter::once(&self.left)
            .chain(&self.right)
            .flat_map(|input| std::iter::once(&input.set).chain(&input.keys));
        let of_others = self.others.iter().flat_map(|other| {
            [&other.left, &other.right].into_iter().chain(other.filter.iter().map(JoinFilter::expression))
        });
        apply_expression_roots(of_inputs.chain(self.filter.iter().map(JoinFilter::expression)).chain(of_others), f)
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
        if partition > 0 && self.shares.is_none() {
            return internal_err!("a similarity join has one partition, not {}", partition + 1);
        }
        let rest = self.fetch.unwrap_or(usize::MAX);
        let threads = context.session_config().target_partitions();
        let mut stream = RecordBatchReceiverStreamBuilder::new(self.schema(), threads);
        let runs = self.runs(&context, &stream.tx());
        let (left, right) = (Arc::clone(&self.left.plan), self.right.as_ref().map(|input| Arc::clone(&input.plan)));
        match runs.first().filter(|_| self.shares.is_some()).map(Arc::clone) {
            Some(run) => {
                let right = right.map(|right| right.execute(partition, Arc::clone(&context))).transpose()?;
                stream.spawn(run_dealt(run, left.execute(partition, Arc::clone(&context))?, right));
            }
            None => stream.spawn(run_all(runs, left, right)),
        }
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        let limited =
            futures::stream::try_unfold((stream.build(), rest, rows), |(mut batches, rest, rows)| async move {
                let next = if rest == 0 { None } else { batches.try_next().await? };
                Ok(next.map(|batch| {
                    let batch = batch.slice(0, batch.num_rows().min(rest));
                    rows.add(batch.num_rows());
                    let rest = rest - batch.num_rows();
                    (batch, (batches, rest, rows))
                }))
            });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), limited)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        // With shares, each partition would output `fetch` rows.
        self.shares.is_none().then(|| Arc::new(Self { fetch, ..self.clone() }) as _)
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn try_swapping_with_projection(&self, projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        // One projection is enough, unless the first one only drops the columns that partitioning added to the inputs.
        let may_embed = self.projection.is_none() || self.shares.is_some();
        if may_embed { try_embed_projection(projection, self) } else { Ok(None) }
    }
}

impl EmbeddedProjection for SimilarityJoinExec {
    fn with_projection(&self, projection: Option<Vec<usize>>) -> Result<Self> {
        // The new projection refers to the columns that the operator already outputs.
        let projection = match (&self.projection, projection) {
            (Some(given), Some(wanted)) => Some(wanted.into_iter().map(|column| given[column]).collect()),
            (given, None) => given.clone(),
            (None, wanted) => wanted,
        };
        let schema = project_schema(&self.join_schema, projection.as_ref())?;
        let parts = self.properties.output_partitioning().partition_count();
        let properties = Arc::new(properties(&schema, parts, self.properties.boundedness));
        Ok(Self { properties, projection, ..self.clone() })
    }
}
