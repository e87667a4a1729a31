//! Filters of columns that are not known by their names.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{ChildFilterDescription, FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs,
};

/// Pushes filters down, but not those of a column whose name stands for another one, too, below an operator: it is found by its name
/// there, and it would be that of the other table that is asked.
#[derive(Debug)]
pub(crate) struct FiltersByName(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for FiltersByName {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let stopped = plan.transform_up(|plan| {
            let children = plan.children();
            let ambiguous: Vec<_> = children.iter().map(|child| ambiguous(child)).collect();
            if ambiguous.iter().all(HashSet::is_empty) {
                return Ok(Transformed::no(plan));
            }
            let stopped = |(child, columns): (&Arc<dyn ExecutionPlan>, HashSet<usize>)| {
                let child = Arc::clone(child);
                if columns.is_empty() { child } else { Arc::new(Stop { child, columns }) as _ }
            };
            let children = children.into_iter().zip(ambiguous).map(stopped).collect();
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(&plan).replace_children(children, options).map(Transformed::yes)
        });
        let pushed = self.0.optimize(stopped.data()?, config)?;
        let without = |plan: Arc<dyn ExecutionPlan>| match plan.downcast_ref::<Stop>() {
            Some(stop) => Ok(Transformed::yes(Arc::clone(&stop.child))),
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

/// The columns of an operator that would be taken for others.
fn ambiguous(plan: &Arc<dyn ExecutionPlan>) -> HashSet<usize> {
    let schema = plan.schema();
    let mut known = HashMap::new();
    let mut found = HashSet::new();
    for (at, field) in schema.fields().iter().enumerate() {
        if let Some(first) = known.insert(field.name(), at) {
            found.extend([first, at]);
        }
    }
    // A filter of a key of a semi join is also asked of the side of which no column is given, by the name of the key.
    if let Some(join) = plan.downcast_ref::<HashJoinExec>()
        && matches!(join.join_type(), JoinType::LeftSemi | JoinType::RightSemi)
    {
        for (left, right) in join.on() {
            let [left, right] = [left, right].map(|key| key.downcast_ref::<Column>().map(Column::name));
            if left != right {
                let is_key = |at: &usize| [left, right].contains(&Some(schema.field(*at).name().as_str()));
                found.extend((0..schema.fields().len()).filter(is_key));
            }
        }
    }
    found
}

/// Below it no filters of these columns are pushed. It is in no plan that is run.
#[derive(Debug)]
struct Stop {
    child: Arc<dyn ExecutionPlan>,
    columns: HashSet<usize>,
}

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
        self.child.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.child]
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, of_child: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::clone(&of_child[0]))
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
        match <[_; 1]>::try_from(children) {
            Ok([child]) => Ok(Arc::new(Self { child, columns: self.columns.clone() })),
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
