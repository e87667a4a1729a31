//! Rows in the order of their files, changed batch by batch.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::{StreamExt, stream};

/// A function that changes a batch, given the number of its first row.
type Change = dyn Fn(u64, &RecordBatch) -> Result<RecordBatch> + Send + Sync;

/// The rows of a plan, one partition after the other.
struct InOrder {
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    change: Arc<Change>,
}

impl fmt::Debug for InOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrder").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Returns a table of the rows of a plan, one partition after the other, as `change` makes them.
pub(super) fn in_order(
    plan: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    change: impl Fn(u64, &RecordBatch) -> Result<RecordBatch> + Send + Sync + 'static,
) -> Result<Arc<StreamingTable>> {
    let rows = InOrder { plan, schema: Arc::clone(&schema), change: Arc::new(change) };
    Ok(Arc::new(StreamingTable::try_new(schema, vec![Arc::new(rows)])?))
}

impl PartitionStream for InOrder {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (plan, change) = (Arc::clone(&self.plan), Arc::clone(&self.change));
        let partitions = 0..plan.properties().partitioning.partition_count();
        let batches =
            stream::iter(partitions).flat_map(move |partition| match plan.execute(partition, Arc::clone(&context)) {
                Ok(batches) => batches,
                Err(error) => Box::pin(RecordBatchStreamAdapter::new(plan.schema(), stream::iter([Err(error)]))),
            });
        let changed = batches.scan(0, move |row, batch| {
            let batch = batch.and_then(|batch| {
                let first = *row;
                *row += batch.num_rows() as u64;
                change(first, &batch)
            });
            std::future::ready(Some(batch))
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), changed))
    }
}
