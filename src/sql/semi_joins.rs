//! Pushdown of semi joins, which select rows before these are joined to others.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Filter, Join, JoinType, LogicalPlan, Projection, SubqueryAlias, Union};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::config::IbidOptions;

/// Moves semi joins below the joins, groups and unions of their left side.
///
/// The rows of a few documents are queried by `view LEFT SEMI JOIN few ON view.doc = few.doc`, or `doc IN (SELECT …)`,
/// from a view that joins a text to the number of its document. The rule reduces the numbers first, so that no join has
/// to hold or sort all texts.
#[derive(Debug)]
pub(crate) struct PushDownSemiJoins;

impl OptimizerRule for PushDownSemiJoins {
    fn name(&self) -> &str {
        "push_down_semi_joins"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(join) = &plan else { return Ok(Transformed::no(plan)) };
        let options = config.options();
        let is_off = options.extensions.get::<IbidOptions>().is_some_and(|options| !options.push_down_semi_joins);
        if is_off || join.join_type != JoinType::LeftSemi || join.filter.is_some() {
            return Ok(Transformed::no(plan));
        }
        let keys: Option<Vec<Column>> = join.on.iter().map(|(key, _)| key.try_as_col().cloned()).collect();
        let pushed = match keys {
            Some(keys) if !keys.is_empty() => pushed(&join.left, &keys, join)?,
            _ => None,
        };
        Ok(pushed.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

/// Returns the rows of `plan` whose columns `keys` are in the right side of `semi`, if they can be selected below a
/// join or a group.
fn pushed(plan: &LogicalPlan, keys: &[Column], semi: &Join) -> Result<Option<LogicalPlan>> {
    // The columns of an input that the keys refer to.
    let below = |columns: &[Column]| -> Option<Vec<Column>> {
        keys.iter().map(|key| columns.get(plan.schema().maybe_index_of_column(key)?).cloned()).collect()
    };
    Ok(match plan {
        LogicalPlan::Projection(projection) => {
            let column = |key: &Column| {
                let of = &projection.expr[projection.schema.maybe_index_of_column(key)?];
                of.clone().unalias().try_as_col().cloned()
            };
            let Some(keys) = keys.iter().map(column).collect::<Option<Vec<_>>>() else { return Ok(None) };
            let Some(input) = pushed(&projection.input, &keys, semi)? else { return Ok(None) };
            let (expr, schema) = (projection.expr.clone(), Arc::clone(&projection.schema));
            Some(LogicalPlan::Projection(Projection::try_new_with_schema(expr, Arc::new(input), schema)?))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let Some(keys) = below(&alias.input.schema().columns()) else { return Ok(None) };
            let Some(input) = pushed(&alias.input, &keys, semi)? else { return Ok(None) };
            Some(LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?))
        }
        LogicalPlan::Filter(filter) => {
            let Some(input) = pushed(&filter.input, keys, semi)? else { return Ok(None) };
            Some(LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), Arc::new(input))?))
        }
        LogicalPlan::Union(union) if is_cheap(&semi.right)? => {
            let (mut inputs, mut is_pushed) = (Vec::new(), false);
            for input in &union.inputs {
                let Some(keys) = below(&input.schema().columns()) else { return Ok(None) };
                let below = pushed(input, &keys, semi)?;
                is_pushed |= below.is_some();
                inputs.push(Arc::new(below.map_or_else(|| chosen(input, keys, semi), Ok)?));
            }
            is_pushed.then(|| LogicalPlan::Union(Union { inputs, schema: Arc::clone(&union.schema) }))
        }
        LogicalPlan::Aggregate(aggregate) => {
            let columns = aggregate.group_expr.iter().map_while(|group| group.try_as_col().cloned());
            let Some(keys) = below(&columns.collect::<Vec<_>>()) else { return Ok(None) };
            let input = chosen_below(&aggregate.input, keys, semi)?;
            Some(LogicalPlan::Aggregate(Aggregate::try_new_with_schema(
                input,
                aggregate.group_expr.clone(),
                aggregate.aggr_expr.clone(),
                Arc::clone(&aggregate.schema),
            )?))
        }
        LogicalPlan::Join(join) => {
            let are_of = |side: &LogicalPlan| keys.iter().all(|key| side.schema().has_column(key));
            let (mut left, mut right) = (Arc::clone(&join.left), Arc::clone(&join.right));
            match join.join_type {
                // Two semi joins would change places for ever.
                JoinType::LeftSemi if are_of(&left) => {
                    let Some(input) = pushed(&left, keys, semi)? else { return Ok(None) };
                    left = Arc::new(input);
                }
                JoinType::Inner | JoinType::Left | JoinType::LeftAnti if are_of(&left) => {
                    left = chosen_below(&left, keys.to_vec(), semi)?;
                }
                JoinType::Inner | JoinType::Right if are_of(&right) => {
                    right = chosen_below(&right, keys.to_vec(), semi)?;
                }
                _ => return Ok(None),
            }
            Some(LogicalPlan::Join(Join { left, right, ..join.clone() }))
        }
        _ => None,
    })
}

/// Returns the rows of `plan` whose columns `keys` are in the right side of `semi`, selected as far below as possible.
fn chosen_below(plan: &Arc<LogicalPlan>, keys: Vec<Column>, semi: &Join) -> Result<Arc<LogicalPlan>> {
    let below = pushed(plan, &keys, semi)?;
    Ok(Arc::new(below.map_or_else(|| chosen(plan, keys, semi), Ok)?))
}

/// Returns the semi join of `plan` by the columns `keys`.
fn chosen(plan: &Arc<LogicalPlan>, keys: Vec<Column>, semi: &Join) -> Result<LogicalPlan> {
    let on = keys.into_iter().zip(&semi.on).map(|(key, (_, of))| (key.into(), of.clone()));
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::clone(plan),
        Arc::clone(&semi.right),
        on.collect(),
        None,
        semi.join_type,
        semi.join_constraint,
        semi.null_equality,
        semi.null_aware,
    )?))
}

/// Returns true if rows cost little more than reading them, because each part of a union computes them again.
fn is_cheap(plan: &LogicalPlan) -> Result<bool> {
    Ok(!plan.exists(|part| {
        Ok(!matches!(
            part,
            LogicalPlan::TableScan(_)
                | LogicalPlan::Projection(_)
                | LogicalPlan::Filter(_)
                | LogicalPlan::SubqueryAlias(_)
                | LogicalPlan::Union(_)
                | LogicalPlan::Distinct(_)
                | LogicalPlan::Aggregate(_)
                | LogicalPlan::EmptyRelation(_)
                | LogicalPlan::Values(_)
        ))
    })?)
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;
    use crate::pipeline::testing::rows;

    /// Creates a session with or without the rule, with texts that have ids, numbers for these, and few numbers.
    async fn session(is_pushing: bool) -> SessionContext {
        let session = crate::session(SessionConfig::default(), Arc::default()).unwrap();
        for sql in [
            &*format!("SET ibid.push_down_semi_joins = {is_pushing}"),
            "CREATE TABLE texts AS SELECT 'd' || (value % 90) AS id, value % 7 AS sent, 'text ' || value AS text FROM range(400)",
            "CREATE TABLE others AS SELECT 'd' || value AS id, value % 5 AS sent, 'other ' || value AS text FROM range(100)",
            "CREATE TABLE docs AS SELECT value * 3 AS doc, 'd' || value AS id, nullif(value % 4, 3) AS side FROM range(100)",
            "CREATE TABLE few AS SELECT nullif(value * 6, 24) AS doc, value % 3 AS sent, value % 2 AS side FROM range(20)",
            "CREATE VIEW units AS
                 SELECT docs.doc, docs.side, texts.sent, texts.text FROM texts JOIN docs ON texts.id = docs.id AND docs.side = 0
                 UNION ALL
                 SELECT docs.doc, docs.side, others.sent, others.text FROM others JOIN docs ON others.id = docs.id AND docs.side = 1",
        ] {
            session.sql(sql).await.unwrap().collect().await.unwrap();
        }
        session
    }

    #[tokio::test]
    async fn semi_joins_that_are_pushed_down_give_the_same_rows() {
        let [pushing, other] = [session(true).await, session(false).await];
        for (sql, is_pushed) in [
            ("SELECT * FROM units LEFT SEMI JOIN few ON units.doc = few.doc", true),
            (
                "SELECT u.text FROM (SELECT doc AS d, text FROM units WHERE sent > 2) AS u WHERE u.d IN (SELECT doc FROM few)",
                true,
            ),
            (
                "SELECT doc, text FROM units WHERE doc IN (SELECT doc FROM few WHERE sent = 1) AND side IN (SELECT side FROM few)",
                true,
            ),
            ("SELECT * FROM units LEFT SEMI JOIN few ON units.doc = few.doc AND units.side = few.side", true),
            (
                "SELECT * FROM (SELECT doc, count(*) AS n FROM units GROUP BY doc) AS d LEFT SEMI JOIN few ON d.doc = few.doc",
                true,
            ),
            ("SELECT * FROM (SELECT DISTINCT doc, sent FROM units) AS d LEFT SEMI JOIN few ON d.sent = few.sent", true),
            ("SELECT * FROM texts LEFT JOIN docs ON texts.id = docs.id WHERE sent IN (SELECT sent FROM few)", true),
            ("SELECT * FROM docs RIGHT JOIN texts ON texts.id = docs.id WHERE sent IN (SELECT sent FROM few)", true),
            // Neither of two semi joins is pushed below the other.
            ("SELECT * FROM texts WHERE id IN (SELECT id FROM docs) AND sent IN (SELECT sent FROM few)", false),
            // Rows without a partner are rows, too.
            ("SELECT * FROM texts LEFT JOIN docs ON texts.id = docs.id WHERE doc IN (SELECT doc FROM few)", false),
            ("SELECT * FROM texts FULL JOIN docs ON texts.id = docs.id WHERE sent IN (SELECT sent FROM few)", false),
            // The key is an aggregate of a group, or computed from the number of the document.
            (
                "SELECT * FROM (SELECT id, max(sent) AS sent FROM texts GROUP BY id) AS t LEFT SEMI JOIN few ON t.sent = few.sent",
                false,
            ),
            ("SELECT * FROM (SELECT doc + 1 AS doc FROM units) AS u LEFT SEMI JOIN few ON u.doc = few.doc", false),
            // The keys are columns of both sides, so neither side can decide alone.
            ("SELECT * FROM units LEFT SEMI JOIN few ON units.doc = few.doc AND units.sent = few.sent", false),
            ("SELECT * FROM units LEFT SEMI JOIN few ON units.doc = few.doc AND units.sent > few.sent", false),
            // Each part of the union would join anew.
            ("SELECT * FROM units WHERE doc IN (SELECT few.doc FROM few JOIN docs ON few.doc = docs.doc)", false),
            ("SELECT * FROM units LEFT ANTI JOIN few ON units.doc = few.doc", false),
            (
                "SELECT * FROM (SELECT * FROM units ORDER BY text LIMIT 5) AS u LEFT SEMI JOIN few ON u.doc = few.doc",
                false,
            ),
        ] {
            assert_eq!(rows(&pushing, sql).await, rows(&other, sql).await, "{sql}");
            let [with, without] = [&pushing, &other].map(|session| {
                let plan = session.sql(sql);
                async { plan.await.unwrap().into_optimized_plan().unwrap().display_indent().to_string() }
            });
            let (with, without) = (with.await, without.await);
            assert_eq!(with != without, is_pushed, "{sql}\n{with}");
            assert!(without.contains("Semi Join") || without.contains("Anti Join"), "{sql}\n{without}");
        }
    }
}
