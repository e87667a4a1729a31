use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err, project_schema};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::stream::{StreamExt, TryStreamExt};

use super::table::MethodCall;
use crate::Error;
use crate::plan_properties::plan_properties;

/// Operator that outputs the rows of a call, in the order of the method.
#[derive(Debug)]
pub(super) struct MethodExec {
    call: Arc<MethodCall>,
    projection: Option<Vec<usize>>,
    properties: Arc<PlanProperties>,
}

impl MethodExec {
    pub(super) fn try_new(call: Arc<MethodCall>, projection: Option<&Vec<usize>>) -> Result<Self> {
        let schema = project_schema(call.schema(), projection)?;
        let properties = plan_properties(schema, 1, EmissionType::Final);
        Ok(Self { call, projection: projection.cloned(), properties })
    }
}

impl DisplayAs for MethodExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MethodExec: {}", self.call.written())
    }
}

impl ExecutionPlan for MethodExec {
    fn name(&self) -> &'static str {
        "MethodExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a call of a method reads no other operator") }
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (call, projection, schema) = (Arc::clone(&self.call), self.projection.clone(), self.schema());
        let given = Arc::clone(&schema);
        let rows = async move {
            let rows = call.rows().await.map_err(Error::from)?.execute_stream().await?;
            // The tables exist as long as the call.
            let rows = rows.map(move |batch| {
                let _ = &call;
                as_declared(&batch?, projection.as_deref(), &given)
            });
            Ok::<_, DataFusionError>(rows)
        };
        let rows = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Returns the columns of a batch that are asked for, as they were declared.
fn as_declared(batch: &RecordBatch, projection: Option<&[usize]>, schema: &SchemaRef) -> Result<RecordBatch> {
    let places = projection.map_or_else(|| (0..batch.num_columns()).collect(), <[usize]>::to_vec);
    let columns = places.into_iter().zip(schema.fields());
    let columns: Result<Vec<_>> =
        columns.map(|(place, field)| Ok(cast(batch.column(place), field.data_type())?)).collect();
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns?, &options)?)
}
