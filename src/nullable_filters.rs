//! Outer joins that sort, with a condition beside the equal keys.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;

/// Has the conditions of sort-merge joins take NULL for each of their columns: they are asked of rows, too, for which the other side
/// has none, and fail where its columns are known to have no NULL.
#[derive(Debug)]
pub(crate) struct NullableFilters;

impl PhysicalOptimizerRule for NullableFilters {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() else { return Ok(Transformed::no(plan)) };
            let Some(filter) = join.filter() else { return Ok(Transformed::no(plan)) };
            let columns = filter.schema().fields().iter().map(|field| Field::clone(field).with_nullable(true));
            let schema = Schema::new(columns.collect::<Vec<_>>());
            let filter =
                JoinFilter::new(Arc::clone(filter.expression()), filter.column_indices().to_vec(), Arc::new(schema));
            let join = SortMergeJoinExec::try_new(
                Arc::clone(join.left()),
                Arc::clone(join.right()),
                join.on().to_vec(),
                Some(filter),
                join.join_type(),
                join.sort_options().to_vec(),
                join.null_equality(),
            )?;
            Ok(Transformed::yes(Arc::new(join) as _))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "nullable_filters"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
