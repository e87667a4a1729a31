//! The similarity join as standard operators.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ExprSchema, Result, UnnestOptions, internal_err};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, col, lit};
use datafusion::optimizer::OptimizerConfig;
use ibid_udfs::similarity::expr_fn::{first_common_token, length_filter, pack_set, prefix_filter, unpack_set};
use ibid_udfs::similarity::{Measure, set_type};

use super::predicate::SimilarityPredicate;

/// Lowers an inner join on a similarity to an equality join over prefixes, made of standard operators, so that any
/// distributed DataFusion with these functions can run it.
///
/// ```text
/// Inner Join: Filter: jaccard(a.set, b.set) >= 0.8 AND a.sid < b.sid
///   TableScan: a
///   TableScan: b
/// ```
/// becomes
/// ```text
/// Projection: a.sid, unpack_set(left_set) AS a.set, b.sid, unpack_set(right_set) AS b.set
///   Inner Join: left_token = right_token Filter: length_filter(left_set, right_set, 'jaccard', 0.8)
///         AND first_common_token(left_set, right_set) = left_token
///         AND jaccard(left_set, right_set) >= 0.8 AND a.sid < b.sid
///     Unnest: left_token
///       Projection: a.sid, left_set, prefix_filter(left_set, 'jaccard', 0.8) AS left_token
///         Projection: a.sid, pack_set(a.set) AS left_set
///           TableScan: a
///     Unnest: right_token
///       (the same over b)
/// ```
/// Further equalities of the condition stay keys of the join. Sets are carried packed, because a row of a list is copied
/// whole for each element of its prefix and for each candidate; a set that is computed in the condition is computed
/// once for each row, below the join.
pub(super) fn lower(join: Join, predicate: &SimilarityPredicate, config: &dyn OptimizerConfig) -> Result<LogicalPlan> {
    let left = Input::prepare(&join.left, &predicate.left, predicate.left_prefix(), "left", config)?;
    let right = Input::prepare(&join.right, &predicate.right, predicate.right_prefix(), "right", config)?;
    let unpacked = |expr: Expr| left.unpacked(expr).and_then(|expr| right.unpacked(expr));

    let similarity = predicate.similarity_of(col(&left.set), col(&right.set));
    let [first, second] = similarity.args.as_slice() else {
        return internal_err!("a similarity of {} sets; please report it to ibid", similarity.args.len());
    };
    let (written, packed) =
        (Expr::ScalarFunction(predicate.similarity.clone()), Expr::ScalarFunction(similarity.clone()));
    let filter = conjunction([
        length_filter(first.clone(), second.clone(), predicate.measure, predicate.threshold),
        first_common_token(first.clone(), second.clone()).eq(col(&left.token)),
        match join.filter {
            Some(condition) => unpacked(replace(condition, &written, &packed)?)?,
            None => lit(true),
        },
    ]);
    let mut on = vec![(col(&left.token), col(&right.token))];
    for (left_key, right_key) in join.on {
        on.push((unpacked(left_key)?, unpacked(right_key)?));
    }
    let mut columns = Vec::with_capacity(join.schema.fields().len());
    for (table, field) in join.schema.iter() {
        let column = Expr::Column(Column::new(table.cloned(), field.name()));
        columns.push(match unpacked(column.clone())? {
            same if same == column => column,
            computed => computed.alias_qualified(table.cloned(), field.name()),
        });
    }
    let lowered = Join::try_new(
        Arc::new(left.plan),
        Arc::new(right.plan),
        on,
        filter,
        JoinType::Inner,
        join.join_constraint,
        join.null_equality,
        false,
    )?;
    LogicalPlanBuilder::new(LogicalPlan::Join(lowered)).project(columns)?.build()
}

/// An input of the lowered join: a row for each element of the prefix of its set.
struct Input {
    plan: LogicalPlan,
    /// The column that holds the packed set.
    set: String,
    /// The column that holds the element.
    token: String,
    /// The column that is carried packed only.
    packed: Option<Column>,
}

impl Input {
    fn prepare(
        input: &Arc<LogicalPlan>,
        set: &Expr,
        (measure, threshold): (Measure, f64),
        side: &str,
        config: &dyn OptimizerConfig,
    ) -> Result<Self> {
        let set_name = config.alias_generator().next(&format!("{side}_set"));
        let token = config.alias_generator().next(&format!("{side}_token"));
        let packed = match set {
            Expr::Column(column) if *input.schema().data_type(column)? == set_type() => Some(column.clone()),
            _ => None,
        };
        let is_packed = |expr: &Expr| matches!((expr, &packed), (Expr::Column(a), Some(b)) if a == b);
        let mut columns: Vec<Expr> = input.schema().iter().map(Expr::from).filter(|expr| !is_packed(expr)).collect();
        let packing = pack_set(set.clone()).alias(&set_name);
        let builder =
            LogicalPlanBuilder::new_from_arc(Arc::clone(input)).project(columns.iter().cloned().chain([packing]))?;
        columns.push(col(&set_name));
        columns.push(prefix_filter(col(&set_name), measure, threshold).alias(&token));
        // A NULL set matches nothing, even if the join compares NULL keys as equal.
        let without_nulls = UnnestOptions::new().with_preserve_nulls(false);
        let plan =
            builder.project(columns)?.unnest_column_with_options(Column::from_name(&token), without_nulls)?.build()?;
        Ok(Self { plan, set: set_name, token, packed })
    }

    /// Returns `expr` with the unpacked set in place of the column that is carried packed only.
    fn unpacked(&self, expr: Expr) -> Result<Expr> {
        match &self.packed {
            Some(column) => replace(expr, &Expr::Column(column.clone()), &unpack_set(col(&self.set))),
            None => Ok(expr),
        }
    }
}

fn replace(expr: Expr, from: &Expr, to: &Expr) -> Result<Expr> {
    expr.transform_down(|node| {
        // The replacement itself is not searched again.
        Ok(if node == *from {
            Transformed::new(to.clone(), true, TreeNodeRecursion::Jump)
        } else {
            Transformed::no(node)
        })
    })
    .map(|replaced| replaced.data)
}
