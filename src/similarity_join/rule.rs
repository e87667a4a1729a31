use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_binary, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Extension, Join, JoinType, LogicalPlan, Operator};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::hamming::shared_band;
use super::lowered::lower;
use super::node::{Disjunct, OnAny, SimilarityJoin};
use super::predicate::{SimilarityPredicate, is_lowered};
use crate::config::{IbidOptions, Strategy};

/// Optimizer rule that recognises joins on a similarity and plans them by `ibid.similarity_join.strategy`.
///
/// The rule runs after the rules that move filters, so that filters on one input are below the join by then. It runs
/// before the rule that prunes columns, which asks the node for the columns it needs. The nested loop join stays for
/// join types that the strategy does not support, volatile arguments, thresholds that are not constants or not above 0,
/// and `OR` with a condition that is not a similarity.
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
        let options = config.options();
        let options = options.extensions.get::<IbidOptions>();
        let strategy = options.map(|options| options.similarity_join.strategy).unwrap_or_default();
        let joins: &[JoinType] = match strategy {
            Strategy::NestedLoop => &[],
            Strategy::Lowered => &[JoinType::Inner],
            Strategy::Operator | Strategy::Distributed | Strategy::Bitmap | Strategy::Auto => &[
                JoinType::Inner,
                JoinType::Left,
                JoinType::Right,
                JoinType::Full,
                JoinType::LeftSemi,
                JoinType::LeftAnti,
                JoinType::RightSemi,
                JoinType::RightAnti,
            ],
        };
        // `NOT IN` (a null-aware join) treats NULLs differently.
        let is_known = joins.contains(&join.join_type) && !join.null_aware;
        let found = if is_known { find_condition(&join, strategy == Strategy::Bitmap)? } else { None };
        match found {
            Some((on_any, _)) if strategy == Strategy::Lowered && on_any.others.is_empty() => {
                lower(join, &on_any.first.predicate, config).map(Transformed::yes)
            }
            Some((on_any, rest)) if strategy != Strategy::Lowered => {
                let node = SimilarityJoin::of(join, on_any, conjunction(rest))?;
                Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(node) })))
            }
            _ => Ok(Transformed::no(LogicalPlan::Join(join))),
        }
    }
}

/// Finds a similarity that the condition of a join implies, or else several similarities, at least one of which it
/// implies. Returns them with the rest of the condition.
fn find_condition(join: &Join, codes_first: bool) -> Result<Option<(OnAny, Vec<Expr>)>> {
    let Some(condition) = &join.filter else { return Ok(None) };
    if is_lowered(condition)? {
        return Ok(None);
    }
    let mut conjuncts = split_conjunction_owned(condition.clone());
    if let Some(predicate) = take_predicate(&mut conjuncts, join, codes_first) {
        return Ok(Some((predicate.into(), conjuncts)));
    }
    let found = conjuncts.iter().enumerate().find_map(|(i, conjunct)| Some((i, any_of(conjunct, join)?)));
    Ok(found.map(|(i, on_any)| {
        conjuncts.remove(i);
        (on_any, conjuncts)
    }))
}

/// Reads `similarity OR similarity`, each perhaps with further conditions.
fn any_of(conjunct: &Expr, join: &Join) -> Option<OnAny> {
    let disjuncts = split_binary(conjunct, Operator::Or).into_iter().map(|disjunct| {
        let mut conjuncts = split_conjunction_owned(disjunct.clone());
        let predicate = take_predicate(&mut conjuncts, join, false)?;
        Some(Disjunct { predicate, rest: conjunction(conjuncts) })
    });
    let mut disjuncts = disjuncts.collect::<Option<Vec<_>>>()?.into_iter();
    Some(OnAny { first: disjuncts.next()?, others: disjuncts.collect() })
}

/// Takes a similarity predicate out of conditions that must all hold. If `codes_first` is set, it prefers a predicate
/// on codes to one on sets. The distance of codes stays among the conditions, because codes that share a band may still
/// be far apart.
fn take_predicate(conjuncts: &mut Vec<Expr>, join: &Join, codes_first: bool) -> Option<SimilarityPredicate> {
    let recognise = |conjunct: &Expr| SimilarityPredicate::recognise(conjunct, join.left.schema(), join.right.schema());
    let on_codes = conjuncts.iter().filter_map(shared_band).find_map(|shared_band| recognise(&shared_band));
    let on_sets = conjuncts.iter().enumerate().find_map(|(i, conjunct)| Some((i, recognise(conjunct)?)));
    match (on_codes, on_sets) {
        (Some(predicate), on_sets) if codes_first || on_sets.is_none() => Some(predicate),
        (_, Some((i, predicate))) => {
            conjuncts.remove(i);
            Some(predicate)
        }
        _ => None,
    }
}
