use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ListArray, RecordBatch, UInt32Array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{EmissionType, apply_expression_roots};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::TryStreamExt;

use super::input::Input;
use super::order::counter;
use crate::plan_properties::plan_properties;

/// Operator that counts the elements of the sets of its input. It outputs a row with all counters for each partition.
#[derive(Debug)]
pub(in crate::similarity_join) struct CountElementsExec {
    pub(in crate::similarity_join) input: Input,
    /// The number of counters, a power of two.
    pub(in crate::similarity_join) counters: usize,
    properties: Arc<PlanProperties>,
}

impl CountElementsExec {
    pub(in crate::similarity_join) fn new(input: Input, counters: usize) -> Self {
        let parts = input.plan.output_partitioning().partition_count();
        let properties = plan_properties(schema(), parts, EmissionType::Final);
        Self { input, counters, properties }
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("counts", DataType::new_list(DataType::UInt32, false), false)]))
}

impl DisplayAs for CountElementsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "CountElementsExec: {}, counters={}", self.input.set, self.counters)
    }
}

impl ExecutionPlan for CountElementsExec {
    fn name(&self) -> &'static str {
        "CountElementsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input.plan]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(std::iter::once(&self.input.set).chain(&self.input.keys), f)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.as_slice()) {
            (Some(plan), []) => Ok(Arc::new(Self::new(Input { plan, ..self.input.clone() }, self.counters))),
            _ => internal_err!("CountElementsExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut rows = self.input.plan.execute(partition, context)?;
        let (reader, counters) = (self.input.reader(&[], 0), self.counters);
        let counted = async move {
            let schema_of_rows = rows.schema();
            let mut counts = vec![0_u32; counters];
            while let Some(batch) = rows.try_next().await? {
                let batch = reader.evaluate(&schema_of_rows, &[batch])?;
                for row in 0..batch.rows.num_rows() {
                    let key = batch.key(row);
                    for &element in &batch.elements()[batch.range(row)] {
                        let count = &mut counts[counter(element, key, counters)];
                        *count = count.saturating_add(1);
                    }
                }
            }
            let (item, one) = (Field::new_list_field(DataType::UInt32, false), OffsetBuffer::from_lengths([counters]));
            let counts = ListArray::try_new(Arc::new(item), one, Arc::new(UInt32Array::from(counts)), None)?;
            Ok(RecordBatch::try_new(schema(), vec![Arc::new(counts)])?)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), futures::stream::once(counted))))
    }
}
