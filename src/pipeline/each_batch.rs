//! An operator that does something with each batch of its input, for the rules beside it.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

/// What is done with the batches of a part.
pub(super) type Step = Box<dyn FnMut(RecordBatch) -> Result<RecordBatch> + Send>;

/// How it begins with a part, of batches of a schema.
pub(super) type Begin = fn(usize, SchemaRef, &TaskContext) -> Step;

/// Gives each batch of its input as a step leaves it. The rows stay, and their order.
#[derive(Debug)]
pub(super) struct EachBatchExec {
    name: &'static str,
    input: Arc<dyn ExecutionPlan>,
    begin: Begin,
    properties: Arc<PlanProperties>,
}

impl EachBatchExec {
    /// With batches of the same schema.
    pub(super) fn over(name: &'static str, input: Arc<dyn ExecutionPlan>, begin: Begin) -> Arc<dyn ExecutionPlan> {
        let properties = Arc::clone(input.properties());
        Arc::new(Self { name, input, begin, properties })
    }

    /// With batches of another schema, of which each column has the order that it had.
    pub(super) fn of_schema(
        name: &'static str,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        begin: Begin,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let known = input.properties().equivalence_properties();
        let mut same = EquivalenceProperties::new_with_orderings(schema, known.oeq_class().iter().cloned());
        same.add_constants(known.constants())?;
        let mut properties = PlanProperties::clone(input.properties());
        properties.set_eq_properties(same);
        Ok(Arc::new(Self { name, input, begin, properties: Arc::new(properties) }))
    }

    fn with_input(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) if self.schema() == self.input.schema() => Ok(Self::over(self.name, input, self.begin)),
            Ok([input]) => Self::of_schema(self.name, input, self.schema(), self.begin),
            Err(children) => internal_err!("{} has one input, not {}", self.name, children.len()),
        }
    }
}

impl DisplayAs for EachBatchExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ExecutionPlan for EachBatchExec {
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
        let mut step = (self.begin)(partition, self.schema(), &context);
        let batches = self.input.execute(partition, context)?.map(move |batch| step(batch?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
