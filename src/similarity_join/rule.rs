use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Extension, Join, JoinType, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::hamming::shared_band;
use super::lowered::lower;
use super::node::SimilarityJoin;
use super::predicate::{SimilarityPredicate, is_lowered};
use crate::config::{IbidOptions, Strategy};

/// Recognises joins on a similarity and plans them by `ibid.similarity_join.strategy`.
///
/// The rule stands behind those that move filters, so that filters on one input are below the join by then, and before the
/// one that prunes columns, to which the node says what it needs. Other kinds of join than the strategy knows, volatile arguments and thresholds that are not constants or
/// not above 0 keep the nested loop.
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
            Strategy::Operator | Strategy::Bitmap | Strategy::Auto => {
                &[JoinType::Inner, JoinType::LeftSemi, JoinType::LeftAnti]
            }
        };
        // `NOT IN` asks for NULLs in a way of its own.
        let is_known = joins.contains(&join.join_type) && !join.null_aware;
        let found = if is_known { find_predicate(&join, strategy == Strategy::Bitmap)? } else { None };
        match found {
            None => Ok(Transformed::no(LogicalPlan::Join(join))),
            Some((predicate, _)) if strategy == Strategy::Lowered => {
                lower(join, &predicate, config).map(Transformed::yes)
            }
            Some((predicate, rest)) => {
                let node = SimilarityJoin::of(join, predicate, conjunction(rest))?;
                Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(node) })))
            }
        }
    }
}

/// A similarity predicate that the condition of a join implies, and the rest of the condition; rather one on codes than one on
/// sets, if that is asked for.
fn find_predicate(join: &Join, codes_first: bool) -> Result<Option<(SimilarityPredicate, Vec<Expr>)>> {
    let Some(condition) = &join.filter else { return Ok(None) };
    if is_lowered(condition)? {
        return Ok(None);
    }
    let recognise = |conjunct: &Expr| SimilarityPredicate::recognise(conjunct, join.left.schema(), join.right.schema());
    let mut conjuncts = split_conjunction_owned(condition.clone());
    let on_codes = conjuncts.iter().filter_map(shared_band).find_map(|shared_band| recognise(&shared_band));
    let on_sets = conjuncts.iter().enumerate().find_map(|(i, conjunct)| Some((i, recognise(conjunct)?)));
    Ok(match (on_codes, on_sets) {
        (Some(predicate), on_sets) if codes_first || on_sets.is_none() => {
            // Codes that share a band still may be far apart.
            Some((predicate, conjuncts))
        }
        (_, Some((i, predicate))) => {
            conjuncts.remove(i);
            Some((predicate, conjuncts))
        }
        _ => None,
    })
}
