//! DF-12136, DF-25271 (open): a sort counts, for each batch, every buffer that its string views point into. It spills or fails
//! for memory that it does not use. Remove when a sort counts the bytes of its rows; test
//! a_sort_of_datafusion_counts_the_text_of_other_rows fails then.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, GenericByteViewArray, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{ByteViewType, DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use futures::{StreamExt, TryStreamExt, stream};

use super::map_batches::MapBatchesExec;

/// The divisor of the memory limit that gives the most bytes of a batch below a sort, unless the batch has one row. A
/// sort reserves memory for its first batch, twice, whatever other operators have reserved.
const PART_OF_SORT: usize = 128;

/// Compacts string views below each sort, where it also splits large batches, and above each sort and merge.
///
/// The views of a batch keep every buffer alive that any of them points into: pages of a file, or buffers that batches share. The
/// output of a merge points into the buffers of all its inputs, so that a few rows keep megabytes.
#[derive(Debug)]
pub(crate) struct CompactViews;

impl PhysicalOptimizerRule for CompactViews {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let is_sort = plan.is::<SortExec>();
            if !(is_sort || plan.is::<SortPreservingMergeExec>()) || !has_views(&plan.schema()) {
                return Ok(Transformed::no(plan));
            }
            let input = if is_sort {
                let compact = split(Arc::clone(plan.children()[0]));
                plan.replace_children(vec![compact], ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))?
            } else {
                plan
            };
            Ok(Transformed::yes(compacted(input)))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "compact_views"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn has_views(schema: &SchemaRef) -> bool {
    schema.fields().iter().any(|field| matches!(field.data_type(), DataType::Utf8View | DataType::BinaryView))
}

/// Returns an operator that outputs the batches of its input, with views into buffers of their own.
fn compacted(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    MapBatchesExec::over("CompactExec", input, |batches, _, _| batches.map(|batch| Ok(compact(&batch?)?)).boxed())
}

/// Returns the operator of [`compacted`], which also splits batches so that a sort has memory for them.
fn split(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    MapBatchesExec::over("CompactExec", input, |batches, _, context| {
        let most = match context.memory_pool().memory_limit() {
            MemoryLimit::Finite(bytes) => bytes / PART_OF_SORT,
            _ => usize::MAX,
        };
        let split = move |batch: RecordBatch| {
            let mut pieces = Vec::new();
            halve(batch, most, &mut pieces);
            stream::iter(pieces.into_iter().map(|piece| Ok(compact(&piece)?)))
        };
        batches.map_ok(split).try_flatten().boxed()
    })
}

/// Halves a batch until each piece has at most `most` bytes, or one row, and adds the pieces.
fn halve(batch: RecordBatch, most: usize, pieces: &mut Vec<RecordBatch>) {
    let rows = batch.num_rows();
    if rows <= 1 || bytes_of(&batch) <= most {
        pieces.push(batch);
        return;
    }
    halve(batch.slice(0, rows / 2), most, pieces);
    halve(batch.slice(rows / 2, rows - rows / 2), most, pieces);
}

/// Returns the bytes of the rows of a batch once they are compacted.
fn bytes_of(batch: &RecordBatch) -> usize {
    let viewed = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => column.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => column.as_binary_view().total_buffer_bytes_used(),
        _ => 0,
    });
    viewed.sum::<usize>() + copied_bytes(batch)
}

/// Returns the bytes that are copied with a batch: of a view, the view itself, but not the text that it points to.
pub(crate) fn copied_bytes(batch: &RecordBatch) -> usize {
    let bytes = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View | DataType::BinaryView => column.len() * size_of::<u128>(),
        _ => column.to_data().get_slice_memory_size().unwrap_or(0),
    });
    bytes.sum()
}

fn compact(batch: &RecordBatch) -> Result<RecordBatch, arrow::error::ArrowError> {
    let columns = batch.columns().iter().map(|column| match column.data_type() {
        DataType::Utf8View => compact_column(column, column.as_string_view()),
        DataType::BinaryView => compact_column(column, column.as_binary_view()),
        _ => Arc::clone(column),
    });
    RecordBatch::try_new(batch.schema(), columns.collect())
}

fn compact_column<T: ByteViewType>(column: &ArrayRef, views: &GenericByteViewArray<T>) -> ArrayRef {
    let held: usize = views.data_buffers().iter().map(Buffer::capacity).sum();
    if held <= 2 * views.total_buffer_bytes_used() { Arc::clone(column) } else { Arc::new(views.gc()) }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};
    use datafusion::datasource::MemTable;
    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::execution::session_state::SessionStateBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;
    use crate::pipeline::testing::{operators, rows, session_of};

    #[tokio::test]
    async fn views_are_compacted_around_sorts_and_above_merges() {
        let texts = "CREATE TABLE texts AS SELECT value AS number, \
                     arrow_cast('a text that is too long for its view ' || (value * 7 % 500), 'Utf8View') AS text FROM range(500)";
        let [compacting, other] =
            [session_of(Some(CompactViews), &[texts]).await, session_of(None::<CompactViews>, &[texts]).await];
        let sql = "SELECT * FROM texts ORDER BY text";
        insta::assert_snapshot!(operators(&compacting, sql).await, @r"
        CompactExec
          SortPreservingMergeExec
            CompactExec
              SortExec
                CompactExec
                  DataSourceExec
        ");
        assert_eq!(rows(&compacting, sql).await, rows(&other, sql).await);
        let of_numbers = operators(&compacting, "SELECT number FROM texts ORDER BY number").await;
        assert!(!of_numbers.contains("CompactExec"), "{of_numbers}");
    }

    #[test]
    fn a_sort_gets_batches_that_it_has_memory_for() {
        let texts = (0..100).map(|i| "x".repeat(1000 * (i % 10 + 1)));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let batch = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let mut pieces = Vec::new();
        halve(batch.clone(), 30_000, &mut pieces);
        assert!(pieces.len() > 10 && pieces.iter().all(|piece| bytes_of(piece) <= 30_000));
        assert_eq!(arrow::compute::concat_batches(&batch.schema(), &pieces).unwrap(), batch);
        pieces.clear();
        halve(batch, 100, &mut pieces);
        assert_eq!(pieces.len(), 100);
    }

    #[test]
    fn a_few_rows_of_many_keep_their_own_text_only() {
        let texts = (0..10_000).map(|i| format!("a text that is too long for its view, number {i}"));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let numbers: ArrayRef = Arc::new((0..10_000).collect::<Int64Array>());
        let all = RecordBatch::try_from_iter([("text", texts), ("number", numbers)]).unwrap();
        let few = all.slice(5_000, 10);
        let compacted = compact(&few).unwrap();
        assert_eq!(compacted, few);
        assert!(compacted.column(0).get_array_memory_size() < 5_000);
        assert!(few.column(0).get_array_memory_size() > 400_000);
    }

    #[tokio::test]
    async fn a_sort_of_datafusion_counts_the_text_of_other_rows() {
        let texts = (0..10_000).map(|i| format!("a text that is too long for its view, number {i}"));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let all = RecordBatch::try_from_iter([("text", texts)]).unwrap();
        let few = (0..100).map(|i| all.slice(100 * i, 5)).collect();
        let table = Arc::new(MemTable::try_new(all.schema(), vec![few]).unwrap());
        for is_compacting in [true, false] {
            let pool = Arc::new(GreedyMemoryPool::new(8 << 20));
            let no_disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
            let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).with_disk_manager_builder(no_disk);
            let builder = SessionStateBuilder::new()
                .with_default_features()
                .with_runtime_env(runtime.build_arc().unwrap())
                .with_config(SessionConfig::new().with_target_partitions(1).with_sort_spill_reservation_bytes(0));
            let rule = Arc::new(CompactViews);
            let builder = if is_compacting { builder.with_physical_optimizer_rule(rule) } else { builder };
            let session = SessionContext::new_with_state(builder.build());
            session.register_table("texts", Arc::<MemTable>::clone(&table)).unwrap();
            let sorted = session.sql("SELECT * FROM texts ORDER BY text").await.unwrap().collect().await;
            assert_eq!(sorted.is_ok(), is_compacting, "{sorted:?}");
        }
    }
}
