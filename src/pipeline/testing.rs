//! What the tests of the rules look at.

use datafusion::physical_plan::displayable;
use datafusion::prelude::SessionContext;

/// The plan of a query, an operator a line.
pub(crate) async fn plan(session: &SessionContext, sql: &str) -> String {
    let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    displayable(plan.as_ref()).indent(false).to_string()
}

/// The rows of a query as they are shown, in the order of what is shown.
pub(crate) async fn rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let shown = session.sql(sql).await.unwrap().to_string().await.unwrap();
    let mut lines: Vec<_> = shown.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
