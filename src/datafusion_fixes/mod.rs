//! Workarounds for bugs of DataFusion: wrong rows, errors, memory without a reservation, and quadratic time. One file each.
//!
//! A file names its upstream issue, `DF-NNNNN` at <https://github.com/apache/datafusion/issues>, and a test that fails
//! once DataFusion is fixed: then the file goes. Bugs that neither a method nor an ordinary query meets have no
//! workaround; `docs/shell.md` lists them.

mod ambiguous_filters;
mod array_agg_size;
mod compact_views;
mod correlated_columns;
mod exact_statistics;
mod filter_pushdown;
mod float_statistics;
mod from_first;
mod group_dependencies;
mod ignored_syntax;
mod in_lists;
mod join_guarantees;
mod map_batches;
mod min_max_filters;
mod only_child;
mod partition_values;
mod pushdown_barrier;
mod repartition_backpressure;
mod single_partition_sort_merge;
mod sort_merge_filter;
mod statements;
mod subqueries;
#[cfg(test)]
mod testing;
mod using_columns;
mod window_memory;

use std::sync::Arc;

use anyhow::Result;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::AggregateUDF;
use datafusion::optimizer::Optimizer;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;

use self::ambiguous_filters::AmbiguousFilters;
use self::array_agg_size::ArrayAggSize;
pub(crate) use self::compact_views::{CompactViews, copied_bytes};
use self::correlated_columns::CorrelatedColumns;
use self::exact_statistics::ExactStatistics;
use self::filter_pushdown::FilterPushdownFix;
use self::float_statistics::IgnoreFloatStatistics;
use self::from_first::select_all;
use self::group_dependencies::GroupDependencies;
use self::ignored_syntax::refuse_ignored_syntax;
use self::in_lists::InListFix;
use self::join_guarantees::JoinGuarantees;
pub(crate) use self::join_guarantees::JoinOrderExec;
pub(crate) use self::map_batches::{Batches, MapBatchesExec};
use self::min_max_filters::MinMaxFilters;
use self::partition_values::PartitionValues;
pub(crate) use self::repartition_backpressure::RepartitionBackpressure;
pub(crate) use self::single_partition_sort_merge::SinglePartitionSortMerge;
use self::sort_merge_filter::SortMergeFilterFix;
pub use self::statements::in_sql;
use self::subqueries::Subqueries;
pub use self::using_columns::settle_using_columns;
pub(crate) use self::window_memory::LimitWindowMemory;

/// Rewrites syntax that DataFusion would misread, before a statement is planned, except for the columns of joins with
/// USING, which are resolved last. Returns an error if DataFusion would ignore a part of the statement.
pub fn fix_statement(statement: &mut Statement, session: &SessionContext) -> Result<()> {
    select_all(statement);
    let is_scalar = |name: &str| {
        let (name, state) = (name.to_ascii_lowercase(), session.state_ref());
        let state = state.read();
        state.scalar_functions().contains_key(&name)
            && !state.aggregate_functions().contains_key(&name)
            && !state.window_functions().contains_key(&name)
    };
    refuse_ignored_syntax(statement, &is_scalar)
}

/// Adds the workarounds to a session that is being built.
pub(crate) fn with_fixes(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let rules = &mut builder.optimizer().get_or_insert_with(Optimizer::new).rules;
    for rule in rules.iter_mut().filter(|rule| rule.name() == "push_down_filter") {
        *rule = Arc::new(FilterPushdownFix(Arc::clone(rule)));
    }
    rules.push(Arc::new(PartitionValues));
    // The rule runs before each rule that uses functional dependencies: each of these rules gives the aggregates that
    // it changes DataFusion's own dependencies again.
    for asks in ["eliminate_join", "replace_distinct_aggregate", "eliminate_duplicated_expr", "optimize_projections"] {
        if let Some(place) = rules.iter().position(|rule| rule.name() == asks) {
            rules.insert(place, Arc::new(GroupDependencies));
        }
    }
    let rules = &mut builder.physical_optimizers().get_or_insert_with(PhysicalOptimizer::new).rules;
    for rule in rules.iter_mut() {
        let inner = Arc::clone(rule);
        match rule.name() {
            name if name.starts_with("FilterPushdown") => {
                *rule = Arc::new(AmbiguousFilters(Arc::new(MinMaxFilters(inner))));
            }
            "aggregate_statistics" => *rule = Arc::new(ExactStatistics(inner)),
            "ProjectionPushdown" => *rule = Arc::new(SortMergeFilterFix(inner)),
            _ => {}
        }
    }
    // This rule runs after the sides of joins are chosen, and before repartitions and sorts are planned.
    let place = rules.iter().position(|rule| rule.name() == "EnsureRequirements").unwrap_or(rules.len());
    rules.insert(place, Arc::new(JoinGuarantees));
    rules.insert(0, Arc::new(IgnoreFloatStatistics));
    rules.push(Arc::new(IgnoreFloatStatistics));
    let functions = builder.aggregate_functions().get_or_insert_default();
    functions.push(Arc::new(AggregateUDF::new_from_impl(ArrayAggSize::default())));
    builder
        .with_analyzer_rule(Arc::new(Subqueries))
        .with_analyzer_rule(Arc::new(CorrelatedColumns))
        .with_analyzer_rule(Arc::new(InListFix))
}
