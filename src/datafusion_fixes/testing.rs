//! DataFusion without ibid, to show that a workaround is still needed.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Builder;

/// Runs statements in a session of DataFusion without ibid. Returns the rows of the last one, each as its values with
/// blanks between, or the first line of an error. `{folder}` is an empty folder.
pub(super) fn alone(statements: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let run = || -> Result<Vec<String>> {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            // One partition, so that the order of rows is fixed.
            let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
            let mut rows = Vec::new();
            for statement in statements {
                let statement = statement.replace("{folder}", folder.path().to_str().unwrap());
                rows = session.sql(&statement).await?.collect().await?;
            }
            let options = FormatOptions::new().with_null("NULL");
            let mut shown = Vec::new();
            for batch in rows {
                let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
                let columns = columns.collect::<Result<Vec<_>, _>>()?;
                let row =
                    |row| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join(" ");
                shown.extend((0..batch.num_rows()).map(row));
            }
            Ok(shown)
        })
    };
    match std::panic::catch_unwind(run) {
        Ok(Ok(rows)) => rows,
        Ok(Err(error)) => vec![error.strip_backtrace().lines().next().unwrap_or_default().to_owned()],
        Err(_) => vec!["panic".to_owned()],
    }
}

/// Fails once DataFusion returns something else than the wrong rows, or the error, that a workaround is for.
#[track_caller]
pub(super) fn assert_wrong(statements: &[&str], wrong: &[&str]) {
    let found = alone(statements);
    let is_wrong = found == wrong
        || matches!((wrong, &*found), ([start], [error]) if start.ends_with('…') && error.starts_with(start.trim_end_matches('…')));
    assert!(is_wrong, "DataFusion gives {found:?}, and not {wrong:?} any more: if that is right, remove what mends it");
}
