//! DF-22090, DF-17334 (open): rows are repartitioned before they are sorted for a sort-merge join, and pile up in the channels of
//! `RepartitionExec` while one sort spills. Remove with repartition_backpressure.rs.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::{LexOrdering, OrderingRequirements};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

use super::JoinOrderExec;

/// Sorts the input of a sort-merge join before it is repartitioned, and repartitions only the output of the join:
///
/// ```text
/// SortMergeJoinExec                 RepartitionExec: partitioning=Hash(key)
///   SortExec                          SortMergeJoinExec
///     RepartitionExec: Hash(key)        SortPreservingMergeExec
///       …                                 SortExec
///   …                                       …
///                                       …
/// ```
///
/// If rows are repartitioned before they are sorted, rows for a sort that is busy spilling wait in memory, without a
/// limit as long as another sort takes rows. A merge takes the rows that it needs. This is the last rule but for
/// [`CompactViews`], because the rules before it make sure that each of several joins gets the rows of its keys.
///
/// [`CompactViews`]: super::compact_views::CompactViews
#[derive(Debug)]
pub(crate) struct SinglePartitionSortMerge;

impl PhysicalOptimizerRule for SinglePartitionSortMerge {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if !plan.is::<SortMergeJoinExec>() {
                return Ok(Transformed::no(plan));
            }
            let parts = match plan.output_partitioning() {
                Partitioning::UnknownPartitioning(parts) => Partitioning::RoundRobinBatch(*parts),
                parts => parts.clone(),
            };
            let orders = plan.required_input_ordering();
            let inputs = plan.children().into_iter().zip(orders).map(|(input, order)| in_one_part(input, order));
            let inputs = inputs.collect::<Result<_>>()?;
            let joined = plan.replace_children(inputs, anew())?;
            let is_one = parts.partition_count() == 1;
            Ok(Transformed::yes(if is_one { joined } else { Arc::new(RepartitionExec::try_new(joined, parts)?) }))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "single_partition_sort_merge"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the same rows in the same order, in one partition.
fn in_one_part(
    sorted: &Arc<dyn ExecutionPlan>,
    needed: Option<OrderingRequirements>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let sorted: Arc<dyn ExecutionPlan> = match sorted.downcast_ref::<SortExec>() {
        Some(sort) if sort.fetch().is_none() => {
            Arc::new(SortExec::new(sort.expr().clone(), not_dealt(sort.input())?).with_preserve_partitioning(true))
        }
        Some(_) => Arc::clone(sorted),
        None => not_dealt(sorted)?,
    };
    if sorted.output_partitioning().partition_count() == 1 {
        return Ok(sorted);
    }
    let unsorted = || DataFusionError::Internal("a sort-merge join reads what is not sorted".to_owned());
    // The known order leaves out constants, and operators above the join may need more of the order than the join.
    let needed = needed.into_iter().flat_map(|order| LexOrdering::from(order.into_single()));
    let known = sorted.output_ordering().into_iter().flatten().cloned();
    let order = LexOrdering::new(needed.chain(known)).ok_or_else(unsorted)?;
    Ok(Arc::new(SortPreservingMergeExec::new(order, sorted)))
}

/// Returns the plan without its repartitions.
fn not_dealt(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(dealt) = plan.downcast_ref::<RepartitionExec>() {
        return not_dealt(dealt.input());
    }
    if !(plan.is::<ProjectionExec>() || plan.is::<FilterExec>() || plan.is::<JoinOrderExec>()) {
        return Ok(Arc::clone(plan));
    }
    let inputs = plan.children().into_iter().map(not_dealt).collect::<Result<_>>()?;
    Arc::clone(plan).replace_children(inputs, anew())
}

/// Returns the options for replacing inputs by inputs with other partitions.
fn anew() -> ReplaceChildrenOptions {
    ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute)
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::pipeline::testing::{operators, plan, rows, session_of};

    /// Creates a session with sort-merge joins, with or without the rule.
    async fn session(is_merging: bool) -> SessionContext {
        let table = |name: &str, step: u8| {
            format!(
                "CREATE TABLE {name} AS SELECT CASE WHEN value % 11 > 0 THEN value % 40 END AS id, 'text ' || value AS text \
                 FROM range(0, 100, {step})"
            )
        };
        let [a, b, c] = [table("a", 2), table("b", 3), table("c", 5)];
        let sorting = "SET datafusion.optimizer.prefer_hash_join = false";
        session_of(is_merging.then_some(SinglePartitionSortMerge), &[sorting, &a, &b, &c]).await
    }

    #[tokio::test]
    async fn joins_of_one_part_give_the_same_rows() {
        let [merging, dealing] = [session(true).await, session(false).await];
        let joins = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"];
        let one = joins.map(|join| format!("SELECT count(*), count(a.text), max(a.id) FROM a {join} b ON a.id = b.id"));
        let of_both = joins[..4].iter().map(|join| format!("SELECT * FROM a {join} b ON a.id = b.id"));
        let more = [
            "SELECT b.id, c.text, count(*) AS n FROM a JOIN b ON a.id = b.id LEFT JOIN c ON b.id = c.id GROUP BY b.id, c.text",
            "SELECT a.text, c.id FROM a JOIN b ON a.id = b.id FULL JOIN c ON b.text = c.text",
            "SELECT n.id, c.text FROM (SELECT id, count(*) AS n FROM a GROUP BY id) AS n JOIN c ON n.id = c.id",
            "SELECT a.text, b.text FROM a JOIN b ON a.id = b.id WHERE a.id = 7",
            "SELECT a.text, row_number() OVER (PARTITION BY a.id ORDER BY a.text, b.text) FROM a JOIN b ON a.id = b.id",
            "SELECT a.id, a.text, b.text FROM a JOIN b ON a.id = b.id ORDER BY a.id, a.text, b.text LIMIT 5",
            "SELECT id, count(*) FROM (SELECT a.id FROM a JOIN b ON a.id = b.id UNION ALL SELECT a.id FROM a JOIN c ON a.id = c.id) \
             GROUP BY id",
            "SELECT a.text FROM a WHERE a.text = 'text 4' OR EXISTS (SELECT 1 FROM b WHERE b.id = a.id)",
        ];
        for sql in one.into_iter().chain(of_both).chain(more.map(str::to_owned)) {
            for session in [&merging, &dealing] {
                let plan = plan(session, &sql).await;
                assert!(plan.contains("SortMergeJoinExec"), "{plan}");
            }
            assert_eq!(rows(&merging, &sql).await, rows(&dealing, &sql).await, "{sql}");
        }
    }

    #[tokio::test]
    async fn rows_are_dealt_after_they_are_joined() {
        let sql = "SELECT a.text, b.text, c.text FROM a JOIN b ON a.id = b.id JOIN c ON b.id = c.id";
        insta::assert_snapshot!(operators(&session(true).await, sql).await, @r"
        ProjectionExec
          RepartitionExec
            SortMergeJoinExec
              ProjectionExec
                SortMergeJoinExec
                  SortPreservingMergeExec
                    SortExec
                      DataSourceExec
                  SortPreservingMergeExec
                    SortExec
                      DataSourceExec
              SortPreservingMergeExec
                SortExec
                  DataSourceExec
        ");
    }
}
