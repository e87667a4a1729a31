//! The rules by which a session plans: its own, and what DataFusion's must not do, as rows would be others then.
//!
//! Each file has one rule, or wraps one of DataFusion's, and says what it is there for.

mod correlated_columns;
mod extreme_filters;
mod filters_by_name;
mod float_statistics;
mod folder_values;
mod group_keys;
mod join_claims;
mod merge_conditions;
mod missing_sorts;
mod pushed_filters;
mod row_counts;
mod semi_joins;
mod simplifications;
mod stop;
mod subqueries;

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::optimizer::Optimizer;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use self::correlated_columns::CorrelatedColumns;
use self::extreme_filters::ExtremeFilters;
use self::filters_by_name::FiltersByName;
use self::float_statistics::DistrustFloats;
use self::folder_values::FolderValues;
use self::group_keys::GroupKeys;
use self::join_claims::JoinClaims;
pub(crate) use self::join_claims::JoinOrderExec;
use self::merge_conditions::MergeConditions;
use self::missing_sorts::MissingSorts;
use self::pushed_filters::PushedFilters;
use self::row_counts::RowCounts;
use self::semi_joins::PushDownSemiJoins;
use self::simplifications::Simplifications;
use self::subqueries::Subqueries;
use crate::similarity_join::SimilarityJoinRule;

/// Adds the rules to a session that is being built.
pub(crate) fn with_rules(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let rules = &mut builder.optimizer().get_or_insert_with(Optimizer::new).rules;
    for rule in rules.iter_mut().filter(|rule| rule.name() == "push_down_filter") {
        *rule = Arc::new(PushedFilters(Arc::clone(rule)));
    }
    // Before columns are pruned: the two sides of a self-join keep the same ones, so that they are read once.
    let place = rules.iter().position(|rule| rule.name() == "optimize_projections").unwrap_or(rules.len());
    rules.insert(place, Arc::new(SimilarityJoinRule));
    // Not below similarity joins, of which both sides are read once as long as they are the same.
    rules.insert(place + 1, Arc::new(PushDownSemiJoins));
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
            "SanityCheckPlan" => *rule = Arc::new(MissingSorts(inner)),
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
