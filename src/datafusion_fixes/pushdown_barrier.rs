//! Pushdown barrier, which marks a plan where a rule of DataFusion must stop; removed before execution.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{ChildFilterDescription, FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
};

use super::only_child::only_child;

/// Barrier that no projection and no filter of its columns is pushed through, and that hides the statistics of its
/// columns. It is removed before execution.
#[derive(Debug)]
pub(crate) struct PushdownBarrier {
    child: Arc<dyn ExecutionPlan>,
    columns: HashSet<usize>,
}

impl PushdownBarrier {
    pub(crate) fn above(child: Arc<dyn ExecutionPlan>, columns: HashSet<usize>) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self { child, columns })
    }
}

/// Returns the plan without its barriers.
pub(crate) fn without_barriers(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let without = |plan: Arc<dyn ExecutionPlan>| match plan.downcast_ref::<PushdownBarrier>() {
        Some(stop) => Ok(Transformed::yes(Arc::clone(&stop.child))),
        None => Ok(Transformed::no(plan)),
    };
    plan.transform_up(without).data()
}

impl DisplayAs for PushdownBarrier {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for PushdownBarrier {
    fn name(&self) -> &'static str {
        "PushdownBarrier"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.child.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.child]
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, of_child: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut known = Statistics::clone(&of_child[0]);
        for (at, column) in known.column_statistics.iter_mut().enumerate() {
            if self.columns.contains(&at) {
                *column = ColumnStatistics::new_unknown();
            }
        }
        Ok(Arc::new(known))
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let known = (0..self.schema().fields().len()).filter(|at| !self.columns.contains(at)).collect();
        let child = ChildFilterDescription::from_child_with_allowed_indices(&filters, known, &self.child)?;
        Ok(FilterDescription::new().with_child(child))
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
        Ok(Self::above(only_child(self.name(), children)?, self.columns.clone()))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a plan is not run while it is optimized")
    }
}
