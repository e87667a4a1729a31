//! The search for the Parquet file that a statement failed on: the decoder of its pages does not name it.

use std::sync::Arc;

use arrow::error::ArrowError;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::source_as_provider;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement;
use futures::TryStreamExt;

use ibid::program::is_panic;
use ibid::program::store::{Explained, guarded, place_of, unsound};

/// Replaces a decoding error by one that names the damaged file: the first file of the statement that cannot be read to
/// its end. Returns any other error unchanged.
pub(super) async fn name_damaged(error: anyhow::Error, statement: Statement, session: &SessionState) -> anyhow::Error {
    if !is_panic(&error) && !error.chain().find_map(|cause| cause.downcast_ref()).is_some_and(is_of_decoding) {
        return error;
    }
    match find(statement, session).await {
        Ok(Some(named)) => named.into(),
        _ => error,
    }
}

/// Returns the error of a statement that panicked on a damaged file. It names the first damaged file that the statement
/// reads. Returns `None` if no file is damaged.
pub(super) async fn damaged_of_panic(statement: Statement, session: &SessionState) -> Option<anyhow::Error> {
    guarded(find(statement, session)).await.ok().flatten().map(anyhow::Error::new)
}

fn is_of_decoding(error: &DataFusionError) -> bool {
    let is_of_parquet = match error.find_root() {
        DataFusionError::ParquetError(_) => true,
        DataFusionError::ArrowError(error, _) => matches!(**error, ArrowError::ParquetError(_)),
        _ => false,
    };
    is_of_parquet && Explained::of(error).is_none()
}

async fn find(statement: Statement, session: &SessionState) -> Result<Option<DataFusionError>> {
    let plan = session.statement_to_plan(statement).await?;
    let mut tables = Vec::new();
    plan.apply_with_subqueries(|part| {
        if let LogicalPlan::TableScan(scan) = part {
            tables.push(source_as_provider(&scan.source)?);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    for table in tables {
        let scan = table.scan(session, None, &[], None).await?;
        for files in scans(&scan) {
            for file in files.file_groups.iter().flat_map(FileGroup::iter) {
                let alone =
                    FileScanConfigBuilder::from(files.clone()).with_file_groups(vec![vec![file.clone()].into()]);
                let Err(error) = guarded(read(DataSourceExec::from_data_source(alone.build()), session)).await else {
                    continue;
                };
                if !is_of_decoding(&error) {
                    return Ok(None);
                }
                let store = session.runtime_env().object_store(&files.object_store_url)?;
                return Ok(Some(unsound(&place_of(&store, &file.object_meta.location), &error)));
            }
        }
    }
    Ok(None)
}

/// Returns the operators of a plan that read files of Parquet.
fn scans(plan: &Arc<dyn ExecutionPlan>) -> Vec<FileScanConfig> {
    let scan = plan.downcast_ref::<DataSourceExec>();
    let scan = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
    let scan = scan.filter(|scan| scan.file_source().is::<ParquetSource>());
    scan.cloned().into_iter().chain(plan.children().into_iter().flat_map(scans)).collect()
}

/// Reads all rows of a plan.
async fn read(plan: Arc<DataSourceExec>, session: &SessionState) -> Result<()> {
    let mut rows = plan.execute(0, session.task_ctx())?;
    while rows.try_next().await?.is_some() {}
    Ok(())
}
