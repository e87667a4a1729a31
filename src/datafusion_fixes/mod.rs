//! What mends DataFusion: wrong rows, errors, and memory that nobody counts, each in a file of its own.
//!
//! A file says which bug it mends, and under which number that is reported at <https://github.com/apache/datafusion/issues>, if it is. A test
//! in it fails once DataFusion is right by itself: then the file goes. Wrong rows that no method and no ordinary query meets are
//! noted in `docs/sql.md`, and not mended.

mod compact;
mod correlated_columns;
mod each_batch;
mod extreme_filters;
mod filters_by_name;
mod float_statistics;
mod folder_values;
mod group_keys;
mod join_claims;
mod merge_conditions;
mod merged;
mod paced;
mod pushed_filters;
mod row_counts;
mod simplifications;
mod stop;
mod subqueries;
#[cfg(test)]
mod testing;
mod windows;

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::optimizer::Optimizer;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

pub(crate) use self::compact::{CompactViews, copied_bytes};
use self::correlated_columns::CorrelatedColumns;
pub(crate) use self::each_batch::{Batches, EachBatchExec};
use self::extreme_filters::ExtremeFilters;
use self::filters_by_name::FiltersByName;
use self::float_statistics::DistrustFloats;
use self::folder_values::FolderValues;
use self::group_keys::GroupKeys;
use self::join_claims::JoinClaims;
pub(crate) use self::join_claims::JoinOrderExec;
use self::merge_conditions::MergeConditions;
pub(crate) use self::merged::MergeSorted;
pub(crate) use self::paced::PaceDealing;
use self::pushed_filters::PushedFilters;
use self::row_counts::RowCounts;
use self::simplifications::Simplifications;
use self::subqueries::Subqueries;
pub(crate) use self::windows::BoundWindows;

/// Adds the rules to a session that is being built.
pub(crate) fn with_fixes(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let rules = &mut builder.optimizer().get_or_insert_with(Optimizer::new).rules;
    for rule in rules.iter_mut().filter(|rule| rule.name() == "push_down_filter") {
        *rule = Arc::new(PushedFilters(Arc::clone(rule)));
    }
    rules.push(Arc::new(FolderValues));
    // Before each rule that asks what hangs on what: all of them make the aggregates that they change as DataFusion makes them.
    for asks in ["eliminate_join", "replace_distinct_aggregate", "eliminate_duplicated_expr", "optimize_projections"] {
        if let Some(place) = rules.iter().position(|rule| rule.name() == asks) {
            rules.insert(place, Arc::new(GroupKeys));
        }
    }
    let rules = &mut builder.physical_optimizers().get_or_insert_with(PhysicalOptimizer::new).rules;
    for rule in rules.iter_mut() {
        let inner = Arc::clone(rule);
        match rule.name() {
            name if name.starts_with("FilterPushdown") => {
                *rule = Arc::new(FiltersByName(Arc::new(ExtremeFilters(inner))));
            }
            "aggregate_statistics" => *rule = Arc::new(RowCounts(inner)),
            "ProjectionPushdown" => *rule = Arc::new(MergeConditions(inner)),
            _ => {}
        }
    }
    // Before it is decided what is dealt and sorted, and after joins have their sides.
    let place = rules.iter().position(|rule| rule.name() == "EnsureRequirements").unwrap_or(rules.len());
    rules.insert(place, Arc::new(JoinClaims));
    rules.insert(0, Arc::new(DistrustFloats));
    rules.push(Arc::new(DistrustFloats));
    builder
        .with_analyzer_rule(Arc::new(Subqueries))
        .with_analyzer_rule(Arc::new(CorrelatedColumns))
        .with_analyzer_rule(Arc::new(Simplifications))
}
