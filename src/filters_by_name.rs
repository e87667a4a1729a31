//! Filters over an input of which two columns have one name.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// Pushes filters down, but not below an operator of which two columns have one name: the columns of a filter are found by their
/// names there, and it would be asked of those of the other table.
#[derive(Debug)]
pub(crate) struct FiltersByName(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for FiltersByName {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let children = plan.children();
            if !children.iter().any(|child| is_ambiguous(&child.schema())) {
                return Ok(Transformed::no(plan));
            }
            let stopped = |child: &Arc<dyn ExecutionPlan>| {
                if is_ambiguous(&child.schema()) { Arc::new(Stop(Arc::clone(child))) as _ } else { Arc::clone(child) }
            };
            let children = children.into_iter().map(stopped).collect();
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(&plan).replace_children(children, options).map(Transformed::yes)
        });
        let pushed = self.0.optimize(stopped.data()?, config)?;
        let without = |plan: Arc<dyn ExecutionPlan>| match plan.downcast_ref::<Stop>() {
            Some(stop) => Ok(Transformed::yes(Arc::clone(&stop.0))),
            None => Ok(Transformed::no(plan)),
        };
        pushed.transform_up(without).data()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn is_ambiguous(schema: &Schema) -> bool {
    let names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
    (1..names.len()).any(|at| names[..at].contains(&names[at]))
}

/// Below it no filters of what is above it are pushed. It is in no plan that is run.
#[derive(Debug)]
struct Stop(Arc<dyn ExecutionPlan>);

impl DisplayAs for Stop {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for Stop {
    fn name(&self) -> &'static str {
        "Stop"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.0]
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
        match <[_; 1]>::try_from(children) {
            Ok([child]) => Ok(Arc::new(Self(child))),
            Err(children) => internal_err!("one child is stopped, not {}", children.len()),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a plan is not run while filters are pushed down")
    }
}
