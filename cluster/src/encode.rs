//! A plan as bytes, with the values of its subqueries in their places.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use datafusion::common::Result;
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
use prost::Message as _;

use crate::settings::codec;

/// Returns a plan as executors get it.
pub(crate) fn encoded(plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<u8>> {
    Ok(WithValues.execution_plan_to_proto(plan, codec().as_ref())?.encode_to_vec())
}

/// Writes the value of a subquery, which is known by now, where executors would look for what this process has.
struct WithValues;

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
        if expr.is::<ScalarSubqueryExpr>()
            && let ColumnarValue::Scalar(value) = expr.evaluate(&RecordBatch::new_empty(Arc::new(Schema::empty())))?
        {
            return serialize_physical_expr_with_converter(&lit(value), codec, self);
        }
        serialize_physical_expr_with_converter(expr, codec, self)
    }
}
