use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, BinaryArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, PhysicalExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
};
use futures::TryStreamExt;

use super::order::Order;
use crate::plan_properties::plan_properties;

/// Operator that makes one [order](Order) of the elements from the counts of all partitions. It outputs one row.
#[derive(Debug)]
pub(in crate::similarity_join) struct ElementOrderExec {
    counts: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl ElementOrderExec {
    pub(in crate::similarity_join) fn new(counts: Arc<dyn ExecutionPlan>) -> Self {
        let properties = plan_properties(schema(), 1, EmissionType::Final);
        Self { counts, properties }
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("classes", DataType::Binary, false)]))
}

impl DisplayAs for ElementOrderExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("ElementOrderExec")
    }
}

impl ExecutionPlan for ElementOrderExec {
    fn name(&self) -> &'static str {
        "ElementOrderExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.counts]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.as_slice()) {
            (Some(counts), []) => Ok(Arc::new(Self::new(counts))),
            _ => internal_err!("ElementOrderExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut parts = self.counts.execute(partition, context)?;
        let ordered = async move {
            let mut counts = Vec::<u32>::new();
            while let Some(batch) = parts.try_next().await? {
                for part in batch.column(0).as_list::<i32>().iter().flatten() {
                    counts.resize(part.len(), 0);
                    for (count, more) in counts.iter_mut().zip(part.as_primitive::<UInt32Type>().values()) {
                        *count = count.saturating_add(*more);
                    }
                }
            }
            let order = Order::of_counters(&counts);
            Ok(RecordBatch::try_new(schema(), vec![Arc::new(BinaryArray::from_vec(vec![order.classes()]))])?)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), futures::stream::once(ordered))))
    }
}

/// Reads the order that an [`ElementOrderExec`] outputs.
pub(super) async fn read_order(plan: &Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> Result<Order> {
    let mut rows = plan.execute(0, Arc::clone(context))?;
    while let Some(batch) = rows.try_next().await? {
        let classes = batch.column(0).as_binary::<i32>();
        if !classes.is_empty() && classes.value(0).len().is_power_of_two() {
            return Ok(Order::of_classes(classes.value(0).to_vec()));
        }
    }
    internal_err!("an order of elements without a row")
}
