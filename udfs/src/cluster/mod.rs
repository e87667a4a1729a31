//! Clusters: pairs become groups.

mod connected_components;
mod redundant_members;
mod star_clusters;

use datafusion_expr::AggregateUDF;

/// Returns the aggregates of this family.
pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![
        AggregateUDF::from(connected_components::ConnectedComponents::default()),
        AggregateUDF::from(redundant_members::RedundantMembers::default()),
        AggregateUDF::from(star_clusters::StarClusters::default()),
    ]
}
