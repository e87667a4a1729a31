use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, ListArray, RecordBatch, UInt32Array, UInt64Array, UInt64Builder};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::take_record_batch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::hash_utils::create_hashes;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{EmissionType, apply_expression_roots};
use datafusion::physical_plan::repartition::REPARTITION_RANDOM_STATE;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements, PlanProperties,
};
use futures::TryStreamExt;
use tokio::sync::OnceCell;

use super::condition::{Condition, Shown};
use super::index::{Share, narrow};
use super::input::{Batch, Input, Reader, set_field};
use super::order::Order;
use super::order_exec::read_order;
use super::places::{Origin, Places};
use super::prefix::Prefix;
use crate::plan_properties::plan_properties;

/// Operator that outputs each row of an input once for each share in which it is compared, with its set and its
/// prefix. Rows with equal values in the column `share` belong together.
#[derive(Debug)]
pub(in crate::similarity_join) struct DealExec {
    pub(in crate::similarity_join) input: Input,
    pub(in crate::similarity_join) order: Arc<dyn ExecutionPlan>,
    pub(in crate::similarity_join) condition: Arc<Condition>,
    pub(in crate::similarity_join) is_left: bool,
    pub(in crate::similarity_join) is_self_join: bool,
    pub(in crate::similarity_join) shares: usize,
    /// The order, once a partition has read it.
    read: Arc<OnceCell<Arc<Order>>>,
    properties: Arc<PlanProperties>,
}

impl DealExec {
    pub(in crate::similarity_join) fn new(
        input: Input,
        order: Arc<dyn ExecutionPlan>,
        condition: Arc<Condition>,
        (is_left, is_self_join): (bool, bool),
        shares: usize,
    ) -> Self {
        let properties = plan_properties(
            dealt_schema(&input),
            input.plan.output_partitioning().partition_count(),
            EmissionType::Incremental,
        );
        let read = Arc::default();
        Self { input, order, condition, is_left, is_self_join, shares, read, properties }
    }

    /// Returns the output of the operator as an input of the join.
    pub(in crate::similarity_join) fn into_input(self) -> Input {
        let columns = self.input.plan.schema().fields().len();
        let (keys, adds_set) = (self.input.keys.clone(), self.input.column_of_set().is_none());
        let set = if adds_set { Arc::new(Column::new("set", columns)) } else { Arc::clone(&self.input.set) };
        Input { plan: Arc::new(self), set, keys, prefix: Some(columns + usize::from(adds_set)) }
    }
}

/// Returns the schema of the output: the columns of the input, the set unless it is one of them, the prefix, the share.
fn dealt_schema(input: &Input) -> SchemaRef {
    let set = input.column_of_set().is_none().then(set_field);
    let share = Field::new("share", DataType::UInt64, false);
    let added = set.into_iter().chain(Prefix::fields()).chain([share]).map(Arc::new);
    Arc::new(Schema::new(input.plan.schema().fields().iter().cloned().chain(added).collect::<Vec<_>>()))
}

/// Returns the column that marks the share of a row.
pub(super) fn share_column(dealt: &Schema) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new("share", dealt.fields().len() - 1))
}

/// Returns the number that marks the rows of each share: hash partitioning into as many partitions gives each share its
/// own partition.
pub(super) fn marks_of_shares(shares: usize) -> Result<Vec<u64>> {
    let mut marks = vec![None; shares];
    let (mut missing, mut first) = (shares, 0);
    while missing > 0 {
        let tried: ArrayRef = Arc::new(UInt64Array::from_iter_values(first..first + 1024));
        let mut hashes = vec![0; 1024];
        create_hashes(&[tried], REPARTITION_RANDOM_STATE.random_state(), &mut hashes)?;
        for (hash, mark) in hashes.into_iter().zip(first..) {
            let share = usize::try_from(hash % shares as u64).unwrap_or_default();
            if marks[share].is_none() {
                (marks[share], missing) = (Some(mark), missing - 1);
            }
        }
        first += 1024;
    }
    Ok(marks.into_iter().flatten().collect())
}

impl DisplayAs for DealExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "DealExec: {}, shares={}", self.input.set, self.shares)
    }
}

impl ExecutionPlan for DealExec {
    fn name(&self) -> &'static str {
        "DealExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input.plan, &self.order]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::UnspecifiedDistribution, Distribution::SinglePartition])
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(std::iter::once(&self.input.set).chain(&self.input.keys), f)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([plan, order]) = <[_; 2]>::try_from(children) else {
            return internal_err!("DealExec has two inputs");
        };
        let input = Input { plan, ..self.input.clone() };
        let which = (self.is_left, self.is_self_join);
        Ok(Arc::new(Self::new(input, order, Arc::clone(&self.condition), which, self.shares)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.plan.execute(partition, Arc::clone(&context))?;
        let (read, order, schema) = (Arc::clone(&self.read), Arc::clone(&self.order), self.schema());
        let columns: Vec<_> = (0..rows.schema().fields().len()).collect();
        let reader = self.input.reader(&columns, 0);
        let shown = Shown::new(&self.condition, self.is_left, self.is_self_join);
        let (marks, of_dealt) = (marks_of_shares(self.shares)?, self.schema());
        let places = Places::of_shares(&self.condition, self.is_self_join, self.shares);
        let origin = Origin::of(self.is_self_join, self.is_left);
        let dealt = async move {
            let order = read.get_or_try_init(|| async { read_order(&order, &context).await.map(Arc::new) }).await?;
            let order = Arc::clone(order);
            let mut dealer = Dealer { reader, order, shown, places, origin, marks, schema: of_dealt };
            let schema = rows.schema();
            Ok::<_, DataFusionError>(rows.and_then(move |batch| std::future::ready(dealer.deal(&schema, batch))))
        };
        let dealt = futures::stream::once(dealt).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, dealt)))
    }
}

/// The assignment of the rows of a partition to shares.
struct Dealer {
    reader: Reader,
    order: Arc<Order>,
    shown: Shown,
    places: Places,
    origin: Origin,
    marks: Vec<u64>,
    schema: SchemaRef,
}

impl Dealer {
    fn deal(&mut self, schema: &SchemaRef, batch: RecordBatch) -> Result<RecordBatch> {
        let batch = self.reader.evaluate(schema, &[batch])?;
        let (mut prefix, mut shares) = (Prefix::default(), Vec::new());
        let mut dealt = Dealt::default();
        for row in 0..batch.rows.num_rows() {
            let size = batch.range(row).len();
            let shown = self.shown.of(size);
            // The row matches nothing, not even itself.
            if shown == 0 {
                continue;
            }
            batch.prefix(row, shown, Some(&self.order), &mut prefix);
            shares.clear();
            let share = |place| Share::of_place(place, self.marks.len());
            for &rank in &prefix.ranks {
                self.places.each(rank, prefix.bitmap, self.origin, |place| shares.push(share(place.number)));
            }
            if self.origin == Origin::Both {
                shares.push(share(self.places.home(&prefix.ranks, prefix.bitmap)));
            }
            shares.sort_unstable();
            shares.dedup();
            for share in &shares {
                dealt.push(row, &prefix, self.marks[*share]);
            }
        }
        dealt.finish(&batch, &self.schema)
    }
}

/// Rows that were assigned to shares.
#[derive(Default)]
struct Dealt {
    rows: Vec<u32>,
    ranks: Vec<u32>,
    lengths: Vec<usize>,
    unshared: Vec<u32>,
    bitmaps: UInt64Builder,
    marks: Vec<u64>,
}

impl Dealt {
    fn push(&mut self, row: usize, prefix: &Prefix, mark: u64) {
        self.rows.push(narrow(row));
        self.ranks.extend_from_slice(&prefix.ranks);
        self.lengths.push(prefix.ranks.len());
        self.unshared.push(narrow(prefix.unshared));
        self.bitmaps.append_value(prefix.bitmap);
        self.marks.push(mark);
    }

    fn finish(mut self, batch: &Batch, schema: &SchemaRef) -> Result<RecordBatch> {
        let rows = UInt32Array::from(self.rows);
        let dealt = take_record_batch(&batch.with_set()?, &rows)?;
        let item = Arc::new(Field::new_list_field(DataType::UInt32, false));
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let ranks = ListArray::try_new(item, offsets, Arc::new(UInt32Array::from(self.ranks)), None)?;
        let added: [ArrayRef; 4] = [
            Arc::new(ranks),
            Arc::new(UInt32Array::from(self.unshared)),
            Arc::new(self.bitmaps.finish()),
            Arc::new(UInt64Array::from(self.marks)),
        ];
        let columns = dealt.columns().iter().cloned().chain(added).collect();
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}
