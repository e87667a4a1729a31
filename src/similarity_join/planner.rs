//! Planning of similarity join nodes: the choice of the operator that runs a node.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, DataFusionError, JoinType, NullEquality, Result};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::TaskContext;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, LogicalPlanBuilder, Operator, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, StatisticsArgs, StatisticsContext};
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use futures::TryStreamExt;
use ibid_gpu::Width;
use ibid_udfs::similarity::expr_fn::code_words;

use super::hamming::NearCodes;
use super::node::{Disjunct, OnAny, SimilarityJoin};
use super::operator::{
    Alternative, Condition, CountElementsExec, DealExec, ElementOrderExec, Input, Order, Sample, Scan,
    SimilarityJoinExec, estimate_candidates,
};
use crate::cluster::{cluster_of, sent};
use crate::config::{IbidOptions, SimilarityJoinOptions, Strategy};

/// A way to run a similarity join. The first way that can run a join is used.
#[async_trait]
pub(super) trait PlanSimilarityJoin: fmt::Debug + Send + Sync {
    /// Returns the operator for `join`, or `None` if this way cannot run it.
    async fn plan(&self, join: &PlannedJoin<'_>) -> Result<Option<Arc<dyn ExecutionPlan>>>;
}

/// A similarity join whose inputs and expressions are planned.
pub(super) struct PlannedJoin<'a> {
    pub(super) node: &'a SimilarityJoin,
    pub(super) left: Input,
    pub(super) right: Input,
    /// True if the right input is the left one again.
    pub(super) is_read_once: bool,
    /// The inputs with codes in place of their sets, if the join is on the distance of codes.
    codes: Option<PlannedCodes>,
    /// The rest of the condition on a pair besides its similarity, equalities included.
    pub(super) filter: Option<JoinFilter>,
    /// The alternative conditions; a pair may meet one of them instead of the first, with the rest of its condition.
    others: Vec<Alternative>,
    /// The whole condition on a pair.
    pub(super) whole: JoinFilter,
    pub(super) options: SimilarityJoinOptions,
    session: &'a dyn Session,
}

/// The inputs of a join of codes up to a distance.
struct PlannedCodes {
    left: Input,
    right: Input,
    bits: u32,
    distance: u32,
}

/// A nested loop over so few pairs that an index does not pay.
#[derive(Debug)]
struct SmallInputNestedLoop;

impl SmallInputNestedLoop {
    /// The most pairs that the nested loop compares, from two inputs of about forty rows. Above it, the index is
    /// faster.
    const MOST: usize = 1600;
}

#[async_trait]
impl PlanSimilarityJoin for SmallInputNestedLoop {
    async fn plan(&self, join: &PlannedJoin<'_>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if join.options.strategy != Strategy::Auto {
            return Ok(None);
        }
        let pairs = rows(&join.left)?.multiply(&rows(&join.right)?);
        if !matches!(pairs, Precision::Exact(pairs) if pairs <= Self::MOST) {
            return Ok(None);
        }
        let [left, right] = [&join.left, &join.right].map(|input| Arc::clone(&input.plan));
        let condition = Some(join.whole.clone());
        Ok(Some(Arc::new(NestedLoopJoinExec::try_new(left, right, condition, &join.node.join_type, None)?)))
    }
}

/// A comparison of the codes of all pairs, block by block, or a search by their bands if that is cheaper.
#[derive(Debug)]
struct AllCodes;

impl AllCodes {
    /// The approximate number of bytes that a row takes while its code is compared.
    const BYTES_OF_ROW: usize = 256;

    /// Returns true if the codes are known to fit into memory with ease.
    fn fit(join: &PlannedJoin<'_>) -> Result<bool> {
        let rows = rows(&join.left)?.add(&rows(&join.right)?);
        let Some(rows) = rows.get_value() else { return Ok(false) };
        Ok(match join.session.runtime_env().memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => rows.saturating_mul(Self::BYTES_OF_ROW) <= bytes / 4,
            _ => true,
        })
    }
}

#[async_trait]
impl PlanSimilarityJoin for AllCodes {
    async fn plan(&self, join: &PlannedJoin<'_>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let is_asked = join.options.strategy == Strategy::Bitmap;
        // The index keeps rows with different keys apart, and it supports several alternative conditions.
        if !(join.node.on.is_empty() && join.others.is_empty())
            || !(is_asked || join.options.strategy == Strategy::Auto)
        {
            return Ok(None);
        }
        let predicate = &join.node.on_any.first.predicate;
        let (left, right, scan) = match &join.codes {
            Some(codes) if is_asked || Self::fit(join)? => {
                let PlannedCodes { left, right, bits, distance } = codes;
                (left, right, Scan::Codes { bits: *bits, distance: *distance })
            }
            None if is_asked && Scan::has_bitmaps(predicate.measure, predicate.threshold) => {
                (&join.left, &join.right, Scan::Bitmaps)
            }
            _ => return Ok(None),
        };
        let condition = Condition { scan: Some(scan), ..join.condition() };
        let right = (!join.is_read_once).then(|| right.clone());
        let exec =
            SimilarityJoinExec::try_new(condition, left.clone(), right, join.filter.clone(), join.node.join_type)?;
        Ok(Some(Arc::new(exec.with_inputs_in_one_part(join.is_elsewhere()))))
    }
}

/// A join in shares: rows are partitioned by the elements that they show, and each share is joined by itself, on any
/// machine:
///
/// ```text
/// SimilarityJoinExec: strategy=distributed
///   DealExec                   the rows of the left input, once for each share
///     (left input)
///     ElementOrderExec         one order of the elements for all
///       CountElementsExec
///         (left input)
///       …                      and the right one
///   …                          and the right one
/// ```
#[derive(Debug)]
struct Distributed;

#[async_trait]
impl PlanSimilarityJoin for Distributed {
    async fn plan(&self, join: &PlannedJoin<'_>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let is_asked = match join.options.strategy {
            Strategy::Distributed => true,
            Strategy::Auto | Strategy::Operator => join.is_elsewhere(),
            _ => false,
        };
        // A machine that has one share alone cannot know which rows have no partner.
        if !is_asked || join.node.join_type != JoinType::Inner || !join.others.is_empty() {
            return Ok(None);
        }
        let shares = join.session.config().target_partitions();
        let counted = rows(&join.left)?.add(&rows(&join.right)?);
        let counters = Order::counters_of_rows(counted.get_value().copied());
        let count = |input: &Input| {
            // The input runs twice, so it needs two plans: a scan gives each file to the first execution that asks.
            let input = Input { plan: reset_plan_states(Arc::clone(&input.plan))?, ..input.clone() };
            Ok::<_, DataFusionError>(Arc::new(CountElementsExec::new(input, counters)) as Arc<dyn ExecutionPlan>)
        };
        let counts = if join.is_read_once {
            count(&join.left)?
        } else {
            UnionExec::try_new(vec![count(&join.left)?, count(&join.right)?])?
        };
        let order = Arc::new(ElementOrderExec::new(counts));
        let condition = Condition { split_rows: join.options.split_rows, ..join.condition() };
        let shared = Arc::new(condition.clone());
        let dealt = |input: &Input, is_left| {
            let which = (is_left, join.is_read_once);
            DealExec::new(input.clone(), Arc::clone(&order) as _, Arc::clone(&shared), which, shares).into_input()
        };
        let columns = |input: &Input| input.plan.schema().fields().len();
        let right = (!join.is_read_once).then(|| dealt(&join.right, false));
        let (left, filter) = (dealt(&join.left, true), join.filter.clone());
        let exec = SimilarityJoinExec::try_new(condition, left, right, filter, JoinType::Inner)?;
        Ok(Some(Arc::new(exec.of_dealt(shares, columns(&join.left), columns(&join.right))?)))
    }
}

/// A join by an index of prefixes.
#[derive(Debug)]
struct PrefixIndex;

#[async_trait]
impl PlanSimilarityJoin for PrefixIndex {
    async fn plan(&self, join: &PlannedJoin<'_>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let exec = SimilarityJoinExec::try_new(
            join.condition(),
            join.left.clone(),
            (!join.is_read_once).then(|| join.right.clone()),
            join.filter.clone(),
            join.node.join_type,
        )?;
        let exec = exec.with_others(join.others.clone()).with_inputs_in_one_part(join.is_elsewhere());
        // Errors of the inputs are ignored here: the query reports them when it runs the inputs.
        let estimate = join.estimate_candidates().await.unwrap_or_default();
        Ok(Some(Arc::new(exec.with_estimate(estimate))))
    }
}

impl PlannedJoin<'_> {
    fn condition(&self) -> Condition {
        self.node.on_any.first.predicate.condition(self.options.filters.clone())
    }

    /// Returns true if a cluster runs the join.
    fn is_elsewhere(&self) -> bool {
        cluster_of(self.session.config()).is_some()
    }

    /// Estimates the number of candidates of the operator; returns `None` if it is not known without running the
    /// inputs.
    async fn estimate_candidates(&self) -> Result<Option<f64>> {
        let node = self.node;
        let (lefts, rights): (Vec<_>, Vec<_>) = node.on.iter().map(|(left, right)| (left, right)).unzip();
        let mut candidates = 0.0;
        for Disjunct { predicate, .. } in node.on_any.all() {
            let Some(left) = self.sample(&self.left, &node.left, &predicate.left, &lefts).await? else {
                return Ok(None);
            };
            let right = if self.is_read_once {
                None
            } else {
                let sample = self.sample(&self.right, &node.right, &predicate.right, &rights).await?;
                let Some(sample) = sample else { return Ok(None) };
                Some(sample)
            };
            let condition = predicate.condition(self.options.filters.clone());
            candidates += estimate_candidates(condition, left, right).await?;
        }
        Ok(Some(candidates))
    }

    /// Reads the sets and keys of the first rows of each partition, if the input is a plain scan.
    async fn sample(&self, input: &Input, plan: &LogicalPlan, set: &Expr, keys: &[&Expr]) -> Result<Option<Sample>> {
        let rows = rows(input)?.get_value().copied().unwrap_or_default();
        let wanted = self.options.sample_rows.min(rows);
        if wanted == 0 || !is_scan(&input.plan) {
            return Ok(None);
        }
        // A separate plan reads no other columns, and its metrics are not added to those of the query.
        let columns =
            std::iter::once(&set).chain(keys).zip(0..).map(|(expr, i)| (*expr).clone().alias(format!("c{i}")));
        let plan = LogicalPlanBuilder::from(plan.clone()).project(columns)?.build()?;
        let plan = self.session.create_physical_plan(&plan).await?;
        let partitions = plan.output_partitioning().partition_count();
        let config = self.session.config().clone().with_batch_size(wanted.div_ceil(partitions));
        let context =
            TaskContext::default().with_session_config(config).with_runtime(Arc::clone(self.session.runtime_env()));
        let context = Arc::new(context);
        let (mut batches, mut sampled) = (Vec::new(), 0);
        for partition in 0..partitions {
            let mut stream = plan.execute(partition, Arc::clone(&context))?;
            let until = wanted * (partition + 1) / partitions;
            while sampled < until {
                let Some(batch) = stream.try_next().await? else { break };
                let batch = batch.slice(0, batch.num_rows().min(until - sampled));
                sampled += batch.num_rows();
                batches.push(batch);
            }
        }
        let column = |i: usize| Arc::new(PhysicalColumn::new(&format!("c{i}"), i)) as Arc<dyn PhysicalExpr>;
        let keys = (1..=input.keys.len()).map(column).collect();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let of = rows as f64 / sampled.max(1) as f64;
        Ok(Some(Sample { input: Input { plan, set: column(0), keys, prefix: None }, batches, of }))
    }
}

/// Returns the number of rows of an input, from its statistics.
fn rows(input: &Input) -> Result<Precision<usize>> {
    Ok(StatisticsContext::new().compute(input.plan.as_ref(), &StatisticsArgs::new())?.num_rows)
}

/// Returns true if the first rows of a plan can be read without running all of it, and without running a subquery.
fn is_scan(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return plan.is::<DataSourceExec>() && !plan.boundedness().is_unbounded();
    };
    let has_subquery = |expr: &Arc<dyn PhysicalExpr>| expr.exists(|part| Ok(part.is::<ScalarSubqueryExpr>()));
    let is_plain = projection.expr().iter().all(|computed| has_subquery(&computed.expr).is_ok_and(|has| !has));
    is_plain && is_scan(projection.input())
}

/// The planner of the nodes of similarity joins.
#[derive(Debug)]
pub(super) struct SimilarityJoinPlanner {
    ways: Vec<Box<dyn PlanSimilarityJoin>>,
}

impl Default for SimilarityJoinPlanner {
    fn default() -> Self {
        Self {
            ways: vec![
                Box::new(SmallInputNestedLoop),
                Box::new(AllCodes),
                Box::new(Distributed),
                Box::new(PrefixIndex),
            ],
        }
    }
}

#[async_trait]
impl ExtensionPlanner for SimilarityJoinPlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let (Some(node), [left, right]) = (node.as_any().downcast_ref::<SimilarityJoin>(), physical_inputs) else {
            return Ok(None);
        };
        let physical = |expr: &Expr, schema: &DFSchema| planner.create_physical_expr(expr, schema, session, context);
        let input = |plan: &Arc<dyn ExecutionPlan>, logical: &LogicalPlan, set: &Expr, keys: Vec<&Expr>| {
            let keys = keys.into_iter().map(|key| physical(key, logical.schema())).collect::<Result<_>>()?;
            Ok::<_, DataFusionError>(Input {
                plan: Arc::clone(plan),
                set: physical(set, logical.schema())?,
                keys,
                prefix: None,
            })
        };
        let (left_keys, right_keys) = node.on.iter().map(|(left, right)| (left, right)).unzip();
        let OnAny { first, others } = &node.on_any;
        let left = input(left, &node.left, &first.predicate.left, left_keys)?;
        let right = input(right, &node.right, &first.predicate.right, right_keys)?;
        let plan_filter = |filter: &Expr| plan_filter(node, filter, physical);
        let any = others.iter().map(Disjunct::to_expr).fold(first.to_expr(), Expr::or);
        let whole = rest_of_condition(node).fold(any, Expr::and);
        let options = session.config_options().extensions.get::<IbidOptions>();
        let codes = match NearCodes::of(node) {
            Some(near) if Width::of_bits(near.bits).is_some() => {
                let words = |input: &Input, code: Expr, logical: &LogicalPlan| {
                    let set = physical(&code_words(code), logical.schema())?;
                    Ok::<_, DataFusionError>(Input { set, ..input.clone() })
                };
                let NearCodes { left: of_left, right: of_right, bits, distance } = near;
                let (left, right) = (words(&left, of_left, &node.left)?, words(&right, of_right, &node.right)?);
                Some(PlannedCodes { left, right, bits, distance })
            }
            _ => None,
        };
        let options = options.map(|options| options.similarity_join.clone()).unwrap_or_default();
        let rest = |disjunct: &Disjunct| rest_of_condition(node).chain(disjunct.rest.clone());
        let others = others.iter().enumerate().map(|(i, other)| {
            let rest = conjunction(rest(other).chain(no_earlier(node, i + 1)));
            Ok(Alternative {
                condition: Arc::new(other.predicate.condition(options.filters.clone())),
                left: physical(&other.predicate.left, node.left.schema())?,
                right: physical(&other.predicate.right, node.right.schema())?,
                filter: rest.as_ref().map(plan_filter).transpose()?,
            })
        });
        let join = PlannedJoin {
            codes,
            filter: conjunction(rest(first)).as_ref().map(plan_filter).transpose()?,
            others: others.collect::<Result<_>>()?,
            whole: plan_filter(&whole)?,
            options,
            session,
            node,
            is_read_once: node.is_read_once(),
            left,
            right,
        };
        for way in &self.ways {
            if let Some(plan) = way.plan(&join).await? {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }
}

/// Returns the conditions of a join besides its similarities.
fn rest_of_condition(node: &SimilarityJoin) -> impl Iterator<Item = Expr> {
    let operator = match node.null_equality {
        NullEquality::NullEqualsNothing => Operator::Eq,
        NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
    };
    let equal = move |(left, right): &(Expr, Expr)| {
        Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), operator, Box::new(right.clone())))
    };
    node.on.iter().map(equal).chain(node.filter.clone())
}

/// Returns conditions that exclude pairs that meet one of the first `count` disjuncts of a join, so that no pair is
/// output twice. There are none if the join only marks rows.
fn no_earlier(node: &SimilarityJoin, count: usize) -> impl Iterator<Item = Expr> {
    let gives_pairs = !matches!(node.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
    node.on_any.all().take(count).filter(move |_| gives_pairs).map(|earlier| earlier.to_expr().is_not_true())
}

/// Plans a condition on pairs of rows, over just the columns that it reads.
fn plan_filter(
    node: &SimilarityJoin,
    filter: &Expr,
    physical: impl Fn(&Expr, &DFSchema) -> Result<Arc<dyn PhysicalExpr>>,
) -> Result<JoinFilter> {
    let read = filter.column_refs();
    let mut indices = (Vec::new(), Vec::new());
    let mut fields = Vec::new();
    for (schema, indices) in [(node.left.schema(), &mut indices.0), (node.right.schema(), &mut indices.1)] {
        for (i, (table, field)) in schema.iter().enumerate() {
            if read.contains(&Column::new(table.cloned(), field.name())) {
                indices.push(i);
                fields.push((table.cloned(), Arc::clone(field)));
            }
        }
    }
    let schema = DFSchema::new_with_metadata(fields, Default::default())?;
    let expression = physical(filter, &schema)?;
    let columns = JoinFilter::build_column_indices(indices.0, indices.1);
    Ok(JoinFilter::new(expression, columns, Arc::clone(schema.inner())))
}

/// A query planner that knows the nodes of ibid.
#[derive(Debug)]
pub(crate) struct IbidQueryPlanner;

#[async_trait]
impl QueryPlanner for IbidQueryPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(SimilarityJoinPlanner::default())]);
        sent(planner.create_physical_plan(plan, session).await?, session.config())
    }
}
