//! An operator that maps each batch of its input, for the rules in this folder.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::stream::BoxStream;

use super::only_child::only_child;

/// The changed batches of a partition.
pub(crate) type Batches = BoxStream<'static, Result<RecordBatch>>;

/// Operator that applies a function to the stream of batches of each partition, and the number of the partition. The
/// rows and their order stay.
pub(crate) struct MapBatchesExec<F> {
    name: &'static str,
    input: Arc<dyn ExecutionPlan>,
    change: F,
    properties: Arc<PlanProperties>,
}

/// A function that changes batches. It can be cloned, as the plan is copied for other inputs.
pub(crate) trait Change:
    Fn(SendableRecordBatchStream, usize, &TaskContext) -> Batches + Clone + Send + Sync + 'static
{
}

impl<F: Fn(SendableRecordBatchStream, usize, &TaskContext) -> Batches + Clone + Send + Sync + 'static> Change for F {}

impl<F: Change> MapBatchesExec<F> {
    /// Creates the operator for batches of the same schema.
    pub(crate) fn over(name: &'static str, input: Arc<dyn ExecutionPlan>, change: F) -> Arc<dyn ExecutionPlan> {
        let properties = Arc::clone(input.properties());
        Arc::new(Self { name, input, change, properties })
    }

    /// Creates the operator for batches of another schema. Each column must keep its order, and stay equal to its old
    /// values.
    pub(super) fn of_schema(
        name: &'static str,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        change: F,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let known = input.properties().equivalence_properties();
        let mut same = EquivalenceProperties::new_with_orderings(schema, known.oeq_class().iter().cloned());
        same.add_equivalence_group(known.eq_group().clone())?;
        let mut properties = PlanProperties::clone(input.properties());
        properties.set_eq_properties(same);
        Ok(Arc::new(Self { name, input, change, properties: Arc::new(properties) }))
    }

    fn with_input(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = only_child(self.name, children)?;
        if self.schema() == self.input.schema() {
            return Ok(Self::over(self.name, input, self.change.clone()));
        }
        Self::of_schema(self.name, input, self.schema(), self.change.clone())
    }
}

impl<F> fmt::Debug for MapBatchesExec<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name).field("input", &self.input).finish_non_exhaustive()
    }
}

impl<F> DisplayAs for MapBatchesExec<F> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<F: Change> ExecutionPlan for MapBatchesExec<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_input(children)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_input(children)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batches = self.input.execute(partition, Arc::clone(&context))?;
        let changed = (self.change)(batches, partition, &context);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), changed)))
    }
}
