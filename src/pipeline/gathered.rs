//! Merging of the small batches that joins put out.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use futures::{StreamExt, stream};

use crate::datafusion_fixes::{Batches, MapBatchesExec, copied_bytes};

/// Merges the output batches of each join that is below no other one into batches of at least `rows` rows, or of about
/// `bytes` bytes: a function of texts reads each text once a batch.
pub(super) fn gathered(plan: Arc<dyn ExecutionPlan>, rows: usize, bytes: usize) -> Result<Arc<dyn ExecutionPlan>> {
    if plan.name().ends_with("JoinExec") {
        return Ok(MapBatchesExec::over("GatherExec", plan, move |batches, _, _| gather(batches.boxed(), rows, bytes)));
    }
    let children = plan.children().into_iter().map(|child| gathered(Arc::clone(child), rows, bytes));
    let children = children.collect::<Result<_>>()?;
    plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))
}

fn gather(batches: Batches, rows: usize, bytes: usize) -> Batches {
    let gather = move |mut batches: Batches| async move {
        let (mut held, mut held_rows, mut held_bytes) = (Vec::<RecordBatch>::new(), 0, 0);
        while held_rows < rows && held_bytes < bytes {
            match batches.next().await {
                Some(Ok(batch)) => {
                    (held_rows, held_bytes) = (held_rows + batch.num_rows(), held_bytes + copied_bytes(&batch));
                    held.push(batch);
                }
                Some(Err(error)) => return Some((Err(error), batches)),
                None => break,
            }
        }
        let schema = held.first()?.schema();
        Some((concat_batches(&schema, &held).map_err(DataFusionError::from), batches))
    };
    stream::unfold(batches, gather).boxed()
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;
    use futures::TryStreamExt;

    use super::*;

    fn batches(sizes: &[usize]) -> Batches {
        let mut next = 0;
        let batches = sizes.iter().map(|&size| {
            let numbers: Int64Array = (next..).take(size).collect();
            next += i64::try_from(size).unwrap();
            Ok(RecordBatch::try_from_iter([("n", Arc::new(numbers) as _)]).unwrap())
        });
        stream::iter(batches.collect::<Vec<_>>()).boxed()
    }

    #[tokio::test]
    async fn small_batches_become_few_with_the_same_rows() {
        let sizes = [3, 0, 4, 5, 1, 1, 20, 2];
        for (rows, bytes, expected) in
            [(8, usize::MAX, vec![12, 22, 2]), (1000, 8 * 5, vec![7, 5, 22, 2]), (1, 1, vec![3, 4, 5, 1, 1, 20, 2])]
        {
            let gathered: Vec<_> = gather(batches(&sizes), rows, bytes).try_collect().await.unwrap();
            let found: Vec<_> = gathered.iter().map(RecordBatch::num_rows).collect();
            assert_eq!(found, expected, "{rows} {bytes}");
            let numbers =
                gathered.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
            assert!(numbers.eq(0..36));
        }
        assert!(gather(batches(&[]), 8, 8).next().await.is_none());
    }

    #[tokio::test]
    async fn an_error_is_given_on() {
        let failing = batches(&[1]).chain(stream::iter([Err(DataFusionError::Execution("no".into()))])).boxed();
        assert!(gather(failing, 8, usize::MAX).try_collect::<Vec<_>>().await.unwrap_err().to_string().contains("no"));
    }
}
