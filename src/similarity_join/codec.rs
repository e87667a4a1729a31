//! Serialization of similarity joins, so that an engine can plan them in one process and run them in others.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{
    DataFusionError, JoinSide, JoinType, NullEquality, Result, TableReference, internal_err, not_impl_err,
};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Expr, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::projection::EmbeddedProjection;
use datafusion_proto::logical_plan::from_proto::{parse_expr, parse_exprs};
use datafusion_proto::logical_plan::to_proto::{serialize_expr, serialize_exprs};
use datafusion_proto::logical_plan::{DefaultLogicalExtensionCodec, LogicalExtensionCodec};
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use ibid_udfs::similarity::Side;
use prost::Message;

use super::node::{Disjunct, OnAny, SimilarityJoin};
use super::operator::{
    Alternative, Condition, CountElementsExec, DealExec, ElementOrderExec, Input, Scan, SimilarityJoinExec,
};
use super::predicate::SimilarityPredicate;
use crate::cluster::{IngestExec, SharedValueExpr, SharedValues, WritePartsExec};
use crate::config::FilterOptions;
use crate::datafusion_fixes::JoinOrderExec;
use crate::functions::scalar_functions;
use crate::store::Stores;

/// Codec of ibid's similarity joins and functions for DataFusion's protocol buffers: a [`LogicalExtensionCodec`] for
/// the nodes of logical plans, and a [`PhysicalExtensionCodec`] for the operators of physical plans.
///
/// Everything that is not ibid's is delegated to other codecs, even within a similarity join: to those of an engine
/// ([`IbidCodec::over`]), or to DataFusion's. The decoding process needs the codec, but no session with ibid.
///
/// ```
/// use datafusion_proto::bytes::{physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let here = ibid::session(Default::default(), Default::default())?;
/// here.sql("CREATE TABLE t AS SELECT column1 AS id, column2 AS set FROM (VALUES (1, [1, 2]), (2, [2, 3]))").await?;
/// let join = "SELECT a.id, b.id FROM t AS a JOIN t AS b ON overlap(a.set, b.set) >= 1 AND a.id < b.id";
/// let plan = here.sql(join).await?.create_physical_plan().await?;
/// let codec = ibid::IbidCodec::default();
/// let bytes = physical_plan_to_bytes_with_extension_codec(plan, &codec)?;
///
/// let there = datafusion::prelude::SessionContext::new();
/// let plan = physical_plan_from_bytes_with_extension_codec(&bytes, &there.task_ctx(), &codec)?;
/// let rows = datafusion::physical_plan::collect(plan, there.task_ctx()).await?;
/// assert_eq!(rows[0].num_rows(), 1);
/// # Ok::<(), datafusion::error::DataFusionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IbidCodec {
    logical: Arc<dyn LogicalExtensionCodec>,
    physical: Arc<dyn PhysicalExtensionCodec>,
    values: Arc<SharedValues>,
}

impl Default for IbidCodec {
    fn default() -> Self {
        Self::over(Arc::new(DefaultLogicalExtensionCodec {}), Arc::new(DefaultPhysicalExtensionCodec {}))
    }
}

impl IbidCodec {
    /// Creates a codec that delegates everything that is not ibid's to other codecs.
    pub fn over(logical: Arc<dyn LogicalExtensionCodec>, physical: Arc<dyn PhysicalExtensionCodec>) -> Self {
        Self { logical, physical, values: Arc::default() }
    }

    /// Returns the codec of a machine that reads values that were too large to be sent from these stores.
    #[doc(hidden)]
    #[must_use]
    pub fn reading(self, stores: Arc<Stores>) -> Self {
        Self { values: Arc::new(SharedValues::of(stores)), ..self }
    }
}

/// The prefix of encoded nodes and operators of ibid. A function of ibid is encoded as its name and this prefix alone.
const IBID: &[u8] = b"ibid:";

/// The whole encoding of a [`JoinOrderExec`], apart from its input.
const JOIN_ORDER: &[u8] = b"ibid join order";

/// The prefix of an encoded [`WritePartsExec`].
const WRITE_PARTS: &[u8] = b"ibid write parts:";

/// The prefix of an encoded [`IngestExec`].
const INGEST: &[u8] = b"ibid ingest:";

/// An [`IngestExec`], apart from its input.
#[derive(Clone, PartialEq, Message)]
struct IngestMessage {
    #[prost(string, tag = "1")]
    folder: String,
    #[prost(string, tag = "2")]
    prefix: String,
}

/// The prefix of an encoded [`SharedValueExpr`].
const VALUE: &[u8] = b"ibid value:";

/// A [`SharedValueExpr`].
#[derive(Clone, PartialEq, Message)]
struct ValueMessage {
    #[prost(string, tag = "1")]
    place: String,
    #[prost(message, optional, tag = "2")]
    schema: Option<protobuf::Schema>,
}

/// A [`WritePartsExec`], apart from its input.
#[derive(Clone, PartialEq, Message)]
struct WritePartsMessage {
    #[prost(string, tag = "1")]
    folder: String,
    #[prost(uint64, tag = "2")]
    group: u64,
}

/// A [`SimilarityJoin`], apart from its inputs.
#[derive(Clone, PartialEq, Message)]
struct NodeMessage {
    /// The conditions; a pair must meet at least one.
    #[prost(message, repeated, tag = "1")]
    any: Vec<DisjunctMessage>,
    #[prost(message, repeated, tag = "2")]
    left_keys: Vec<protobuf::LogicalExprNode>,
    #[prost(message, repeated, tag = "3")]
    right_keys: Vec<protobuf::LogicalExprNode>,
    #[prost(message, optional, tag = "4")]
    filter: Option<protobuf::LogicalExprNode>,
    #[prost(string, tag = "5")]
    join_type: String,
    #[prost(bool, tag = "6")]
    null_equals_null: bool,
}

/// A [`Disjunct`] of a node.
#[derive(Clone, PartialEq, Message)]
struct DisjunctMessage {
    /// The measure as it is called in the condition.
    #[prost(message, optional, tag = "1")]
    similarity: Option<protobuf::LogicalExprNode>,
    #[prost(double, tag = "2")]
    threshold: f64,
    #[prost(double, optional, tag = "3")]
    above: Option<f64>,
    #[prost(message, optional, tag = "4")]
    rest: Option<protobuf::LogicalExprNode>,
}

/// A [`SimilarityJoinExec`], apart from its inputs. A self-join has one input.
#[derive(Clone, PartialEq, Message)]
struct ExecMessage {
    #[prost(message, optional, tag = "1")]
    condition: Option<ConditionMessage>,
    #[prost(message, repeated, tag = "5")]
    sets: Vec<protobuf::PhysicalExprNode>,
    #[prost(message, repeated, tag = "6")]
    left_keys: Vec<protobuf::PhysicalExprNode>,
    #[prost(message, repeated, tag = "7")]
    right_keys: Vec<protobuf::PhysicalExprNode>,
    #[prost(message, optional, tag = "8")]
    filter: Option<protobuf::JoinFilter>,
    #[prost(string, tag = "9")]
    join_type: String,
    #[prost(message, optional, tag = "10")]
    projection: Option<Projection>,
    #[prost(uint64, optional, tag = "11")]
    fetch: Option<u64>,
    #[prost(double, optional, tag = "12")]
    estimated_candidates: Option<f64>,
    /// The alternative conditions; a pair may meet one of them instead.
    #[prost(message, repeated, tag = "18")]
    others: Vec<AlternativeMessage>,
    #[prost(bool, tag = "19")]
    takes_one_part: bool,
    /// The number of shares that the inputs are partitioned into, if they are partitioned.
    #[prost(uint64, optional, tag = "20")]
    shares: Option<u64>,
    /// The index of the first prefix column of each input, if the prefixes of its sets are known.
    #[prost(uint64, repeated, tag = "21")]
    prefixes: Vec<u64>,
}

/// The prefixes of the encoded operators that count elements, put them in order, and deal rows into shares.
const COUNT_ELEMENTS: &[u8] = b"ibid count elements:";
const ELEMENT_ORDER: &[u8] = b"ibid element order";
const DEAL: &[u8] = b"ibid deal:";

/// A [`CountElementsExec`] or a [`DealExec`], apart from its inputs.
#[derive(Clone, PartialEq, Message)]
struct SetsMessage {
    #[prost(message, optional, tag = "1")]
    set: Option<protobuf::PhysicalExprNode>,
    #[prost(message, repeated, tag = "2")]
    keys: Vec<protobuf::PhysicalExprNode>,
    /// The number of counters, or of shares.
    #[prost(uint64, tag = "3")]
    number: u64,
    #[prost(message, optional, tag = "4")]
    condition: Option<ConditionMessage>,
    #[prost(bool, tag = "5")]
    is_left: bool,
    #[prost(bool, tag = "6")]
    is_self_join: bool,
}

/// A [`Condition`].
#[derive(Clone, PartialEq, Message)]
struct ConditionMessage {
    #[prost(string, tag = "1")]
    measure: String,
    #[prost(double, tag = "2")]
    threshold: f64,
    #[prost(bool, tag = "3")]
    left_is_second: bool,
    #[prost(string, tag = "4")]
    text: String,
    #[prost(bool, tag = "5")]
    no_prefix_filter: bool,
    #[prost(bool, tag = "6")]
    no_position_filter: bool,
    #[prost(bool, tag = "7")]
    no_bitmap_filter: bool,
    #[prost(bool, tag = "8")]
    no_count_filter: bool,
    #[prost(message, optional, tag = "9")]
    scan: Option<Scanned>,
    #[prost(uint64, tag = "10")]
    split_rows: u64,
}

impl ConditionMessage {
    fn new(condition: &Condition) -> Self {
        let FilterOptions { prefix, position, bitmap, count } = condition.filters;
        Self {
            measure: condition.measure.to_string(),
            threshold: condition.threshold,
            left_is_second: condition.left_is == Side::Right,
            text: condition.text.clone(),
            no_prefix_filter: !prefix,
            no_position_filter: !position,
            no_bitmap_filter: !bitmap,
            no_count_filter: !count,
            scan: condition.scan.map(|scan| match scan {
                Scan::Bitmaps => Scanned::default(),
                Scan::Codes { bits, distance } => Scanned { bits, distance },
            }),
            split_rows: condition.split_rows as u64,
        }
    }

    fn condition(message: Option<&Self>) -> Result<Condition> {
        let Some(message) = message else { return internal_err!("a similarity join without a condition") };
        Ok(Condition {
            measure: message.measure.parse()?,
            threshold: message.threshold,
            left_is: if message.left_is_second { Side::Right } else { Side::Left },
            text: message.text.clone(),
            filters: FilterOptions {
                prefix: !message.no_prefix_filter,
                position: !message.no_position_filter,
                bitmap: !message.no_bitmap_filter,
                count: !message.no_count_filter,
            },
            scan: message.scan.map(|scan| match scan {
                Scanned { bits: 0, .. } => Scan::Bitmaps,
                Scanned { bits, distance } => Scan::Codes { bits, distance },
            }),
            split_rows: to_usize(message.split_rows)?,
        })
    }
}

/// An [`Alternative`] of an operator.
#[derive(Clone, PartialEq, Message)]
struct AlternativeMessage {
    #[prost(message, optional, tag = "1")]
    condition: Option<ConditionMessage>,
    /// The set of the left input and the set of the right input.
    #[prost(message, repeated, tag = "5")]
    sets: Vec<protobuf::PhysicalExprNode>,
    #[prost(message, optional, tag = "6")]
    filter: Option<protobuf::JoinFilter>,
}

/// The codes that are compared for all pairs: codes of `bits` bits up to a distance, or bitmaps of sets if `bits` is 0.
#[derive(Clone, Copy, PartialEq, Message)]
struct Scanned {
    #[prost(uint32, tag = "1")]
    bits: u32,
    #[prost(uint32, tag = "2")]
    distance: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Projection {
    #[prost(uint32, repeated, tag = "1")]
    columns: Vec<u32>,
}

impl LogicalExtensionCodec for IbidCodec {
    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        let Some(node) = node.node.as_any().downcast_ref::<SimilarityJoin>() else {
            return self.logical.try_encode(node, buf);
        };
        let (left_keys, right_keys): (Vec<_>, Vec<_>) = node.on.iter().map(|(left, right)| (left, right)).unzip();
        let disjunct = |Disjunct { predicate, rest }: &Disjunct| {
            Ok::<_, DataFusionError>(DisjunctMessage {
                similarity: Some(serialize_expr(&Expr::ScalarFunction(predicate.similarity.clone()), self)?),
                threshold: predicate.threshold,
                above: predicate.above,
                rest: rest.as_ref().map(|rest| serialize_expr(rest, self)).transpose()?,
            })
        };
        let message = NodeMessage {
            any: node.on_any.all().map(disjunct).collect::<Result<_>>()?,
            left_keys: serialize_exprs(left_keys, self)?,
            right_keys: serialize_exprs(right_keys, self)?,
            filter: node.filter.as_ref().map(|filter| serialize_expr(filter, self)).transpose()?,
            join_type: node.join_type.to_string(),
            null_equals_null: node.null_equality == NullEquality::NullEqualsNull,
        };
        append(buf, IBID, &message);
        Ok(())
    }

    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        let Some(message) = buf.strip_prefix(IBID) else { return self.logical.try_decode(buf, inputs, context) };
        let message = NodeMessage::decode(message).map_err(broken)?;
        let [left, right] = inputs else { return internal_err!("a similarity join of {} inputs", inputs.len()) };
        let exprs = |exprs| Ok::<_, DataFusionError>(parse_exprs(exprs, context, self)?);
        let disjunct = |message: &DisjunctMessage| {
            let similarity = match &message.similarity {
                Some(similarity) => parse_expr(similarity, context, self)?,
                None => return internal_err!("a similarity join without a similarity"),
            };
            let Expr::ScalarFunction(call) = &similarity else {
                return internal_err!("a similarity join on {similarity}");
            };
            let predicate =
                SimilarityPredicate::of_call(call, message.threshold, message.above, left.schema(), right.schema());
            let Some(predicate) = predicate else { return internal_err!("a similarity join on {similarity}") };
            let rest = message.rest.as_ref().map(|rest| parse_expr(rest, context, self)).transpose()?;
            Ok(Disjunct { predicate, rest })
        };
        let [first, others @ ..] = message.any.as_slice() else {
            return internal_err!("a similarity join without a condition");
        };
        let on_any = OnAny { first: disjunct(first)?, others: others.iter().map(disjunct).collect::<Result<_>>()? };
        let node = SimilarityJoin::try_new(
            (left.clone(), right.clone()),
            join_type(&message.join_type)?,
            on_any,
            exprs(&message.left_keys)?.into_iter().zip(exprs(&message.right_keys)?).collect(),
            message.filter.map(|filter| parse_expr(&filter, context, self)).transpose()?,
            if message.null_equals_null { NullEquality::NullEqualsNull } else { NullEquality::NullEqualsNothing },
        )?;
        Ok(Extension { node: Arc::new(node) })
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        provider: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        self.logical.try_encode_table_provider(table, provider, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        self.logical.try_decode_table_provider(buf, table, schema, context)
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.logical.try_encode_file_format(buf, format)
    }

    fn try_decode_file_format(&self, buf: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.logical.try_decode_file_format(buf, context)
    }

    fn try_encode_udf(&self, function: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_ours(function), buf, |buf| self.logical.try_encode_udf(function, buf))
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        if buf == IBID { scalar_function(name) } else { self.logical.try_decode_udf(name, buf) }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_our_aggregate(function), buf, |buf| self.logical.try_encode_udaf(function, buf))
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        if buf == IBID { aggregate_function(name) } else { self.logical.try_decode_udaf(name, buf) }
    }

    fn try_encode_udwf(&self, function: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_our_window(function), buf, |buf| self.logical.try_encode_udwf(function, buf))
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        if buf == IBID { window_function(name) } else { self.logical.try_decode_udwf(name, buf) }
    }

    fn try_encode_higher_order_function(&self, function: &HigherOrderUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.logical.try_encode_higher_order_function(function, buf)
    }

    fn try_decode_higher_order_function(&self, name: &str, buf: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.logical.try_decode_higher_order_function(name, buf)
    }
}

impl PhysicalExtensionCodec for IbidCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if node.is::<JoinOrderExec>() {
            buf.extend_from_slice(JOIN_ORDER);
            return Ok(());
        }
        if let Some(write) = node.downcast_ref::<WritePartsExec>() {
            let message = WritePartsMessage { folder: write.folder.clone(), group: write.group as u64 };
            append(buf, WRITE_PARTS, &message);
            return Ok(());
        }
        if let Some(ingest) = node.downcast_ref::<IngestExec>() {
            let message = IngestMessage { folder: ingest.folder.clone(), prefix: ingest.prefix.clone() };
            append(buf, INGEST, &message);
            return Ok(());
        }
        if node.is::<ElementOrderExec>() {
            buf.extend_from_slice(ELEMENT_ORDER);
            return Ok(());
        }
        let expr = |expr: &Arc<dyn PhysicalExpr>| converter.physical_expr_to_proto(expr, self);
        let exprs = |exprs: &[Arc<dyn PhysicalExpr>]| exprs.iter().map(expr).collect::<Result<Vec<_>>>();
        let of_sets = |input: &Input, number: usize| {
            let (set, keys) = (Some(expr(&input.set)?), exprs(&input.keys)?);
            Ok::<_, DataFusionError>(SetsMessage { set, keys, number: number as u64, ..SetsMessage::default() })
        };
        if let Some(count) = node.downcast_ref::<CountElementsExec>() {
            append(buf, COUNT_ELEMENTS, &of_sets(&count.input, count.counters)?);
            return Ok(());
        }
        if let Some(deal) = node.downcast_ref::<DealExec>() {
            let message = SetsMessage {
                condition: Some(ConditionMessage::new(&deal.condition)),
                is_left: deal.is_left,
                is_self_join: deal.is_self_join,
                ..of_sets(&deal.input, deal.shares)?
            };
            append(buf, DEAL, &message);
            return Ok(());
        }
        let Some(exec) = node.downcast_ref::<SimilarityJoinExec>() else {
            return self.physical.try_encode(node, buf, converter);
        };
        let filter = |filter: &JoinFilter| {
            let column = |column: &ColumnIndex| {
                let side = protobuf::JoinSide::from(column.side);
                Ok(protobuf::ColumnIndex { index: to_u32(column.index)?, side: side.into() })
            };
            Ok::<_, DataFusionError>(protobuf::JoinFilter {
                expression: Some(expr(filter.expression())?),
                column_indices: filter.column_indices().iter().map(column).collect::<Result<_>>()?,
                schema: Some(filter.schema().as_ref().try_into()?),
            })
        };
        let projection = |columns: &Vec<usize>| {
            let columns = columns.iter().map(|&column| to_u32(column)).collect::<Result<_>>()?;
            Ok::<_, DataFusionError>(Projection { columns })
        };
        let right = exec.right.as_ref();
        let other = |other: &Alternative| {
            Ok::<_, DataFusionError>(AlternativeMessage {
                condition: Some(ConditionMessage::new(&other.condition)),
                sets: vec![expr(&other.left)?, expr(&other.right)?],
                filter: other.filter.as_ref().map(filter).transpose()?,
            })
        };
        let message = ExecMessage {
            condition: Some(ConditionMessage::new(&exec.condition)),
            sets: std::iter::once(&exec.left).chain(right).map(|input| expr(&input.set)).collect::<Result<_>>()?,
            left_keys: exprs(&exec.left.keys)?,
            right_keys: right.map_or(Ok(Vec::new()), |input| exprs(&input.keys))?,
            filter: exec.filter.as_ref().map(filter).transpose()?,
            join_type: exec.join_type.to_string(),
            projection: exec.projection.as_ref().map(projection).transpose()?,
            fetch: exec.fetch.map(|rows| rows as u64),
            estimated_candidates: exec.estimated_candidates,
            others: exec.others.iter().map(other).collect::<Result<_>>()?,
            takes_one_part: exec.takes_one_part,
            shares: exec.shares.map(|shares| shares as u64),
            prefixes: std::iter::once(&exec.left)
                .chain(right)
                .filter_map(|input| input.prefix)
                .map(|first| first as u64)
                .collect(),
        };
        append(buf, IBID, &message);
        Ok(())
    }

    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let (JOIN_ORDER, [join]) = (buf, inputs) {
            return JoinOrderExec::above(Arc::clone(join));
        }
        if let (Some(message), [portions]) = (buf.strip_prefix(INGEST), inputs) {
            let IngestMessage { folder, prefix } = IngestMessage::decode(message).map_err(broken)?;
            return Ok(Arc::new(IngestExec::new(Arc::clone(portions), folder, prefix)));
        }
        if let (Some(message), [rows]) = (buf.strip_prefix(WRITE_PARTS), inputs) {
            let message = WritePartsMessage::decode(message).map_err(broken)?;
            let group = to_usize(message.group)?;
            return Ok(Arc::new(WritePartsExec::new(Arc::clone(rows), message.folder, group)));
        }
        if let (ELEMENT_ORDER, [counts]) = (buf, inputs) {
            return Ok(Arc::new(ElementOrderExec::new(Arc::clone(counts))));
        }
        let sets = |message: &[u8], plan: &Arc<dyn ExecutionPlan>| {
            let message = SetsMessage::decode(message).map_err(broken)?;
            let (context, schema) = (PhysicalPlanDecodeContext::new(context, self), plan.schema());
            let expr = |expr: &protobuf::PhysicalExprNode| converter.proto_to_physical_expr(expr, &schema, &context);
            let Some(set) = &message.set else { return internal_err!("sets that are not said") };
            let (set, keys) = (expr(set)?, message.keys.iter().map(expr).collect::<Result<_>>()?);
            Ok((Input { plan: Arc::clone(plan), set, keys, prefix: None }, message))
        };
        if let (Some(message), [rows]) = (buf.strip_prefix(COUNT_ELEMENTS), inputs) {
            let (input, message) = sets(message, rows)?;
            return Ok(Arc::new(CountElementsExec::new(input, to_usize(message.number)?)));
        }
        if let (Some(message), [rows, order]) = (buf.strip_prefix(DEAL), inputs) {
            let (input, message) = sets(message, rows)?;
            let shares = to_usize(message.number)?;
            let condition = ConditionMessage::condition(message.condition.as_ref())?;
            let which = (message.is_left, message.is_self_join);
            return Ok(Arc::new(DealExec::new(input, Arc::clone(order), Arc::new(condition), which, shares)));
        }
        let Some(message) = buf.strip_prefix(IBID) else {
            return self.physical.try_decode(buf, inputs, context, converter);
        };
        let message = ExecMessage::decode(message).map_err(broken)?;
        if inputs.len() != message.sets.len() {
            return internal_err!("a similarity join of {} inputs with {} sets", inputs.len(), message.sets.len());
        }
        let context = PhysicalPlanDecodeContext::new(context, self);
        let expr = |expr: &protobuf::PhysicalExprNode, schema: &Schema| {
            converter.proto_to_physical_expr(expr, schema, &context)
        };
        let input = |number: usize, keys: &[protobuf::PhysicalExprNode]| {
            let (Some(plan), Some(set)) = (inputs.get(number), message.sets.get(number)) else { return Ok(None) };
            let schema = plan.schema();
            let keys = keys.iter().map(|key| expr(key, &schema)).collect::<Result<_>>()?;
            let prefix = message.prefixes.get(number).copied().map(to_usize).transpose()?;
            Ok::<_, DataFusionError>(Some(Input { plan: Arc::clone(plan), set: expr(set, &schema)?, keys, prefix }))
        };
        let filter = |filter: &protobuf::JoinFilter| {
            let (Some(expression), Some(schema)) = (&filter.expression, &filter.schema) else {
                return internal_err!("the filter of a similarity join without an expression or a schema");
            };
            let column = |column: &protobuf::ColumnIndex| {
                let side = protobuf::JoinSide::try_from(column.side).map_err(broken)?;
                Ok(ColumnIndex { index: column.index as usize, side: JoinSide::from(side) })
            };
            let schema: Schema = schema.try_into()?;
            let columns = filter.column_indices.iter().map(column).collect::<Result<_>>()?;
            Ok(JoinFilter::new(expr(expression, &schema)?, columns, Arc::new(schema)))
        };
        let (Some(left), right) = (input(0, &message.left_keys)?, input(1, &message.right_keys)?) else {
            return internal_err!("a similarity join without inputs");
        };
        let condition = ConditionMessage::condition(message.condition.as_ref())?;
        let other = |other: &AlternativeMessage| {
            let [left_set, right_set] = other.sets.as_slice() else {
                return internal_err!("a condition of a similarity join on {} sets", other.sets.len());
            };
            let right_schema = right.as_ref().unwrap_or(&left).plan.schema();
            Ok(Alternative {
                condition: Arc::new(ConditionMessage::condition(other.condition.as_ref())?),
                left: expr(left_set, &left.plan.schema())?,
                right: expr(right_set, &right_schema)?,
                filter: other.filter.as_ref().map(filter).transpose()?,
            })
        };
        let others = message.others.iter().map(other).collect::<Result<_>>()?;
        let filter = message.filter.as_ref().map(filter).transpose()?;
        let exec = SimilarityJoinExec::try_new(condition, left, right, filter, join_type(&message.join_type)?)?
            .with_others(others)
            .with_inputs_in_one_part(message.takes_one_part)
            .in_shares(message.shares.map(to_usize).transpose()?)
            .with_estimate(message.estimated_candidates);
        let columns = |projection: Projection| projection.columns.into_iter().map(|column| column as usize).collect();
        let exec = exec.with_projection(message.projection.map(columns))?;
        let fetch = message.fetch.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
        Ok(exec.with_fetch(fetch).unwrap_or_else(|| Arc::new(exec)))
    }

    fn try_encode_expr(
        &self,
        expr: &Arc<dyn PhysicalExpr>,
        buf: &mut Vec<u8>,
        context: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        let Some(value) = expr.downcast_ref::<SharedValueExpr>() else {
            return self.physical.try_encode_expr(expr, buf, context);
        };
        let schema = Schema::new(vec![Arc::clone(&value.field)]);
        append(buf, VALUE, &ValueMessage { place: value.place.clone(), schema: Some((&schema).try_into()?) });
        Ok(())
    }

    fn try_decode_expr(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        context: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let Some(message) = buf.strip_prefix(VALUE) else {
            return self.physical.try_decode_expr(buf, inputs, context);
        };
        let ValueMessage { place, schema: Some(schema) } = ValueMessage::decode(message).map_err(broken)? else {
            return internal_err!("a value without a type");
        };
        let schema = Schema::try_from(&schema)?;
        let Some(field) = schema.fields().first() else { return internal_err!("a value without a type") };
        Ok(Arc::new(SharedValueExpr::new(place, Arc::clone(field), Arc::clone(&self.values))))
    }

    fn try_encode_udf(&self, function: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_ours(function), buf, |buf| self.physical.try_encode_udf(function, buf))
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        if buf == IBID { scalar_function(name) } else { self.physical.try_decode_udf(name, buf) }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_our_aggregate(function), buf, |buf| self.physical.try_encode_udaf(function, buf))
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        if buf == IBID { aggregate_function(name) } else { self.physical.try_decode_udaf(name, buf) }
    }

    fn try_encode_udwf(&self, function: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        encode_function(is_our_window(function), buf, |buf| self.physical.try_encode_udwf(function, buf))
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        if buf == IBID { window_function(name) } else { self.physical.try_decode_udwf(name, buf) }
    }

    fn try_encode_higher_order_function(&self, function: &HigherOrderUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.physical.try_encode_higher_order_function(function, buf)
    }

    fn try_decode_higher_order_function(&self, name: &str, buf: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.physical.try_decode_higher_order_function(name, buf)
    }
}

/// Encodes a function of ibid, or delegates it to another codec.
fn encode_function(is_ours: bool, buf: &mut Vec<u8>, other: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    if is_ours {
        buf.extend_from_slice(IBID);
        return Ok(());
    }
    other(buf)
}

fn is_ours(function: &ScalarUDF) -> bool {
    scalar_function(function.name()).is_ok_and(|ours| *ours == *function)
}

fn is_our_aggregate(function: &AggregateUDF) -> bool {
    aggregate_function(function.name()).is_ok_and(|ours| *ours == *function)
}

fn is_our_window(function: &WindowUDF) -> bool {
    window_function(function.name()).is_ok_and(|ours| *ours == *function)
}

fn scalar_function(name: &str) -> Result<Arc<ScalarUDF>> {
    match scalar_functions().into_iter().find(|function| function.name() == name) {
        Some(function) => Ok(function),
        None => not_impl_err!("ibid has no function {name}"),
    }
}

fn aggregate_function(name: &str) -> Result<Arc<AggregateUDF>> {
    match ibid_udfs::aggregate_functions().into_iter().find(|function| function.name() == name) {
        Some(function) => Ok(function),
        None => not_impl_err!("ibid has no aggregate function {name}"),
    }
}

/// Returns a window function by its name. The memory of a decoded window function is not limited.
fn window_function(name: &str) -> Result<Arc<WindowUDF>> {
    match ibid_udfs::window_functions(&ibid_udfs::unlimited()).into_iter().find(|function| function.name() == name) {
        Some(function) => Ok(function),
        None => not_impl_err!("ibid has no window function {name}"),
    }
}

fn join_type(name: &str) -> Result<JoinType> {
    name.parse().map_err(broken)
}

/// Appends a tag that identifies a message, and then the message.
fn append(buf: &mut Vec<u8>, tag: &[u8], message: &impl Message) {
    buf.extend_from_slice(tag);
    buf.extend(message.encode_to_vec());
}

fn to_u32(column: usize) -> Result<u32> {
    u32::try_from(column).map_err(broken)
}

fn to_usize(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(broken)
}

/// Returns the error for bytes that cannot be read or written.
fn broken(error: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Internal(format!("the bytes of a similarity join: {error}"))
}
