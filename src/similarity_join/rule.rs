use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result, UnnestOptions};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, col};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use ibid_udfs::similarity::expr_fn::{first_common_token, length_filter, prefix_filter};

use super::predicate::{SimilarityPredicate, is_lowered};
use crate::config::{IbidOptions, Strategy};

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
/// Projection: a.sid, a.set, b.sid, b.set
///   Inner Join: left_token = right_token Filter: length_filter(a.set, b.set, 'jaccard', 0.8)
///         AND first_common_token(a.set, b.set) = left_token AND jaccard(a.set, b.set) >= 0.8 AND a.sid < b.sid
///     Unnest: left_token
///       Projection: a.sid, a.set, prefix_filter(a.set, 'jaccard', 0.8) AS left_token
///         TableScan: a
///     Unnest: right_token
///       Projection: b.sid, b.set, prefix_filter(b.set, 'jaccard', 0.8) AS right_token
///         TableScan: b
/// ```
/// Further equalities of the condition stay keys of the join. A set that is computed in the condition is computed once
/// for each row, below the join. The rule stands last, so that filters on one input are below the join by then; the
/// next pass of the optimizer prunes the columns. Other kinds of join, volatile arguments and thresholds that are not
/// constants or not above 0 keep the nested loop.
#[derive(Debug)]
pub(crate) struct SimilarityJoinRule;

impl OptimizerRule for SimilarityJoinRule {
    fn name(&self) -> &str {
        "similarity_join"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(join) = plan else { return Ok(Transformed::no(plan)) };
        let strategy = config.options().extensions.get::<IbidOptions>().map(|options| options.similarity_join.strategy);
        if strategy == Some(Strategy::NestedLoop) {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        match find_predicate(&join)? {
            Some((predicate, condition)) => lower(join, predicate, condition, config).map(Transformed::yes),
            None => Ok(Transformed::no(LogicalPlan::Join(join))),
        }
    }
}

/// The similarity predicate of a join that can be lowered, and its whole condition.
fn find_predicate(join: &Join) -> Result<Option<(SimilarityPredicate, Expr)>> {
    let Some(condition) = &join.filter else { return Ok(None) };
    if join.join_type != JoinType::Inner || is_lowered(condition)? {
        return Ok(None);
    }
    for conjunct in split_conjunction(condition) {
        if let Some(predicate) = SimilarityPredicate::recognise(conjunct, join.left.schema(), join.right.schema())? {
            return Ok(Some((predicate, condition.clone())));
        }
    }
    Ok(None)
}

fn lower(
    join: Join,
    mut predicate: SimilarityPredicate,
    condition: Expr,
    config: &dyn OptimizerConfig,
) -> Result<LogicalPlan> {
    let named = |prefix: &str| config.alias_generator().next(prefix);
    let (left_token, right_token) = (named("left_token"), named("right_token"));
    let (original_left, original_right) = (predicate.left.clone(), predicate.right.clone());
    let left_prefix = predicate.left_prefix();
    let right_prefix = predicate.right_prefix();
    let left = with_tokens(&join.left, &mut predicate.left, &named("left_set"), left_prefix, &left_token)?;
    let right = with_tokens(&join.right, &mut predicate.right, &named("right_set"), right_prefix, &right_token)?;

    let [first, second] = predicate.arguments();
    let condition = replace(replace(condition, &original_left, &predicate.left)?, &original_right, &predicate.right)?;
    let filter = conjunction([
        length_filter(first.clone(), second.clone(), predicate.measure, predicate.threshold),
        first_common_token(first, second).eq(col(&left_token)),
        condition,
    ]);
    let on = [(col(left_token), col(right_token))].into_iter().chain(join.on).collect();
    let lowered = Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on,
        filter,
        JoinType::Inner,
        join.join_constraint,
        join.null_equality,
        false,
    )?;
    LogicalPlanBuilder::new(LogicalPlan::Join(lowered)).project(join.schema.iter().map(Expr::from))?.build()
}

/// The input with a row for each element of the prefix of its set, in a column named `token`. A set that is not a
/// plain column becomes one, named `computed`.
fn with_tokens(
    input: &Arc<LogicalPlan>,
    set: &mut Expr,
    computed: &str,
    (measure, threshold): (ibid_udfs::similarity::Measure, f64),
    token: &str,
) -> Result<LogicalPlan> {
    let mut columns: Vec<Expr> = input.schema().iter().map(Expr::from).collect();
    let mut builder = LogicalPlanBuilder::new_from_arc(Arc::clone(input));
    if !matches!(set, Expr::Column(_)) {
        builder = builder.project(columns.iter().cloned().chain([set.clone().alias(computed)]))?;
        *set = col(computed);
        columns.push(set.clone());
    }
    let prefix = prefix_filter(set.clone(), measure, threshold).alias(token);
    builder
        .project(columns.into_iter().chain([prefix]))?
        .unnest_column_with_options(
            Column::from_name(token),
            // A NULL set matches nothing, whatever the other keys of the join say of NULLs.
            UnnestOptions::new().with_preserve_nulls(false),
        )?
        .build()
}

fn replace(expr: Expr, from: &Expr, to: &Expr) -> Result<Expr> {
    use datafusion::common::tree_node::TreeNode;
    if from == to {
        return Ok(expr);
    }
    expr.transform_down(|node| Ok(if node == *from { Transformed::yes(to.clone()) } else { Transformed::no(node) }))
        .map(|replaced| replaced.data)
}
