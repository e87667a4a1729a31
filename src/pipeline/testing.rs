//! Helpers for the tests of the rules.

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Returns a session with three partitions and batches of seven rows, with a rule or without, after these statements.
pub(crate) async fn session_of(
    rule: Option<impl PhysicalOptimizerRule + Send + Sync + 'static>,
    statements: &[&str],
) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(3).with_batch_size(7);
    let mut builder = SessionStateBuilder::new().with_default_features().with_config(config);
    if let Some(rule) = rule {
        builder = builder.with_physical_optimizer_rule(Arc::new(rule));
    }
    let session = SessionContext::new_with_state(builder.build());
    for sql in statements {
        session.sql(sql).await.unwrap().collect().await.unwrap();
    }
    session
}

/// Returns the operators of the plan of a query.
pub(crate) async fn operators(session: &SessionContext, sql: &str) -> String {
    let plan = plan(session, sql).await;
    plan.lines().filter_map(|line| line.split(':').next()).collect::<Vec<_>>().join("\n")
}

/// Returns the plan of a query, one operator a line.
pub(crate) async fn plan(session: &SessionContext, sql: &str) -> String {
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}

/// Returns the lines of the printed result of a query, sorted.
pub(crate) async fn rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let shown = session.sql(sql).await.unwrap().to_string().await.unwrap();
    let mut lines: Vec<_> = shown.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
