//! Encoding of plans as bytes, in which values replace subqueries.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_plan::{ColumnarValue, ExecutionPlan};
use datafusion_proto::physical_plan::to_proto::serialize_physical_expr_with_converter;
use datafusion_proto::physical_plan::{
    DefaultPhysicalProtoConverter, PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalPlanNodeExt as _,
    PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{PhysicalExprNode, PhysicalPlanNode};
use ibid::program::shared_value;
use prost::Message as _;

use crate::settings::codec;

/// Upper bound of the bytes of a value in a plan, which all tasks get. Larger values are in a file.
const LARGEST: usize = 1 << 20;

/// Encodes a plan for executors.
pub(crate) async fn encoded(plan: &Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> Result<Vec<u8>> {
    let first = WithValues::default();
    let encoded = first.encoded(plan)?;
    let large = first.large.into_inner().unwrap_or_else(PoisonError::into_inner);
    if large.is_empty() {
        return Ok(encoded);
    }
    let mut second = WithValues { has_looked: true, ..WithValues::default() };
    for (subquery, value) in large {
        if second.shared.iter().all(|(known, _)| known != &subquery)
            && let Some(shared) = shared_value(value, context).await?
        {
            second.shared.push((subquery, shared));
        }
    }
    second.encoded(plan)
}

/// A converter that encodes the value of a subquery, which is known by now. Executors could not find it, since only
/// this process has it.
#[derive(Default)]
struct WithValues {
    /// Subqueries whose values are in files, and the expressions that replace them.
    shared: Vec<(Arc<dyn PhysicalExpr>, Arc<dyn PhysicalExpr>)>,
    /// True if it is known which values are in files.
    has_looked: bool,
    /// The subqueries whose values should be in files.
    large: Mutex<Vec<(Arc<dyn PhysicalExpr>, ScalarValue)>>,
}

impl WithValues {
    fn encoded(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<u8>> {
        Ok(self.execution_plan_to_proto(plan, &codec())?.encode_to_vec())
    }

    /// Returns the expression that replaces a subquery.
    fn value(&self, subquery: &Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        if let Some((_, shared)) = self.shared.iter().find(|(known, _)| known == subquery) {
            return Ok(Arc::clone(shared));
        }
        match subquery.evaluate(&RecordBatch::new_empty(Arc::new(Schema::empty())))? {
            ColumnarValue::Scalar(value) if !self.has_looked && value.size() > LARGEST => {
                let nothing = ScalarValue::try_new_null(&value.data_type())?;
                self.large.lock().unwrap_or_else(PoisonError::into_inner).push((Arc::clone(subquery), value));
                Ok(lit(nothing))
            }
            ColumnarValue::Scalar(value) => Ok(lit(value)),
            ColumnarValue::Array(_) => internal_err!("a subquery with several values"),
        }
    }
}

impl PhysicalProtoConverterExtension for WithValues {
    fn proto_to_execution_plan(
        &self,
        proto: &PhysicalPlanNode,
        context: &PhysicalPlanDecodeContext<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        DefaultPhysicalProtoConverter {}.proto_to_execution_plan(proto, context)
    }

    fn execution_plan_to_proto(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        codec: &dyn PhysicalExtensionCodec,
    ) -> Result<PhysicalPlanNode> {
        PhysicalPlanNode::try_from_physical_plan_with_converter(Arc::clone(plan), codec, self)
    }

    fn proto_to_physical_expr(
        &self,
        proto: &PhysicalExprNode,
        schema: &Schema,
        context: &PhysicalPlanDecodeContext<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        DefaultPhysicalProtoConverter {}.proto_to_physical_expr(proto, schema, context)
    }

    fn physical_expr_to_proto(
        &self,
        expr: &Arc<dyn PhysicalExpr>,
        codec: &dyn PhysicalExtensionCodec,
    ) -> Result<PhysicalExprNode> {
        if expr.is::<ScalarSubqueryExpr>() {
            return serialize_physical_expr_with_converter(&self.value(expr)?, codec, self);
        }
        serialize_physical_expr_with_converter(expr, codec, self)
    }
}
