use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::execution::spill_file::SpillFile;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SpillManager};
use futures::{StreamExt, TryStreamExt};

use super::spill::SpillWriter;

/// The rows of an input.
pub(super) enum Rows {
    /// Rows that are read once, from their plan.
    Once(Arc<dyn ExecutionPlan>),
    /// Rows that are read several times although their plan runs once, as it may be expensive or return other rows each
    /// time.
    Replayed(Replay),
}

impl Rows {
    /// Runs `plan` now if its rows are read more than once.
    pub(super) async fn read_times(
        times: usize,
        plan: &Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Self> {
        Ok(if times > 1 {
            Self::Replayed(Replay::record(plan, context, metrics).await?)
        } else {
            Self::Once(Arc::clone(plan))
        })
    }

    /// Returns the rows of each partition, in the same order each time.
    pub(super) fn partitions(&self, context: &Arc<TaskContext>) -> Result<Vec<SendableRecordBatchStream>> {
        match self {
            Self::Once(plan) => partitions(plan, context).collect(),
            Self::Replayed(replay) => replay.parts.iter().map(|part| part.read(&replay.spill)).collect(),
        }
    }
}

fn partitions(
    plan: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> impl Iterator<Item = Result<SendableRecordBatchStream>> {
    let count = plan.output_partitioning().partition_count();
    (0..count).map(|partition| plan.execute(partition, Arc::clone(context)))
}

/// The recorded rows of a plan: in memory while they leave enough of it to the join, and the rest on disk.
pub(super) struct Replay {
    parts: Vec<Part>,
    spill: SpillManager,
    /// The memory of the batches that are not on disk.
    _reservation: Arc<MemoryReservation>,
}

impl Replay {
    async fn record(
        plan: &Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Self> {
        let consumer = MemoryConsumer::new("SimilarityJoin").with_can_spill(true);
        let reservation = Arc::new(consumer.register(context.memory_pool()));
        // A join from disk uses up to two thirds of the limit, besides the rows of both inputs.
        let most = match context.memory_pool().memory_limit() {
            MemoryLimit::Finite(bytes) => bytes / 8,
            _ => usize::MAX,
        };
        let spill = SpillManager::new(context.runtime_env(), SpillMetrics::new(metrics, 0), plan.schema());
        let record = |rows| SpawnedTask::spawn(Part::record(rows, spill.clone(), Arc::clone(&reservation), most));
        let tasks: Vec<_> = partitions(plan, context).map(|rows| rows.map(record)).collect::<Result<_>>()?;
        let mut parts = Vec::with_capacity(tasks.len());
        for task in tasks {
            parts.push(task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??);
        }
        Ok(Self { parts, spill, _reservation: reservation })
    }
}

/// The rows of a partition: the first of them in memory, the rest on disk.
struct Part {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    file: Option<Arc<dyn SpillFile>>,
}

impl Part {
    async fn record(
        mut rows: SendableRecordBatchStream,
        spill: SpillManager,
        reservation: Arc<MemoryReservation>,
        most: usize,
    ) -> Result<Self> {
        let (mut batches, mut writer) = (Vec::new(), None);
        let mut counted = RecordBatchMemoryCounter::new();
        while let Some(batch) = rows.next().await.transpose()? {
            if writer.is_none() {
                let bytes = counted.count_batch(&batch);
                if reservation.size() + bytes <= most && reservation.try_grow(bytes).is_ok() {
                    batches.push(batch);
                    continue;
                }
            }
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(SpillWriter::try_new(&spill)?),
            };
            writer.append(&batch)?;
        }
        let file = writer.map_or(Ok(None), SpillWriter::finish)?;
        Ok(Self { schema: rows.schema(), batches, file })
    }

    fn read(&self, spill: &SpillManager) -> Result<SendableRecordBatchStream> {
        let in_memory = futures::stream::iter(self.batches.clone()).map(Ok);
        let spilled = match &self.file {
            Some(file) => spill.read_spill_as_stream(Arc::clone(file), None)?,
            None => Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::empty())),
        };
        let rows = in_memory.chain(spilled.into_stream());
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }
}
