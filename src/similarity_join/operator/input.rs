use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, ListArray, RecordBatch};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{SchemaRef, UInt64Type};
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::common::{DataFusionError, JoinSide, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream};
use futures::StreamExt;
use ibid_udfs::similarity::canonical_sets;

/// An input of a similarity join.
#[derive(Debug, Clone)]
pub(in crate::similarity_join) struct Input {
    pub(in crate::similarity_join) plan: Arc<dyn ExecutionPlan>,
    /// The set of a row.
    pub(in crate::similarity_join) set: Arc<dyn PhysicalExpr>,
    /// What must be equal to the other input's.
    pub(in crate::similarity_join) keys: Vec<Arc<dyn PhysicalExpr>>,
}

/// Rows and their sets.
pub(super) struct Batch {
    /// The columns that the output and the filter need.
    pub(super) rows: RecordBatch,
    sets: ListArray,
    /// A hash of the keys of each row; empty where there are none.
    keys: Vec<u64>,
}

impl Batch {
    /// The elements of all sets of the batch.
    pub(super) fn elements(&self) -> &ScalarBuffer<u64> {
        self.sets.values().as_primitive::<UInt64Type>().values()
    }

    /// Where the elements of a row's set are; empty where it is NULL.
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        let offsets = self.sets.value_offsets();
        // Offsets of a valid array are not negative.
        let start = offsets[row].unsigned_abs() as usize;
        if self.sets.is_null(row) { start..start } else { start..offsets[row + 1].unsigned_abs() as usize }
    }

    /// The hash of the keys of a row.
    pub(super) fn key(&self, row: usize) -> u64 {
        self.keys.get(row).copied().unwrap_or_default()
    }
}

/// The batches of both inputs.
pub(super) struct Batches {
    pub(super) all: Vec<Batch>,
    /// How many of them are the left input's.
    pub(super) left: usize,
}

impl Batches {
    /// The batches that hold the rows of a side; where the input was read once, they are the same for both.
    pub(super) fn side(&self, side: JoinSide) -> Range<usize> {
        match side {
            JoinSide::Right if self.left < self.all.len() => self.left..self.all.len(),
            _ => 0..self.left,
        }
    }
}

/// Equal keys must have equal hashes, in every batch and on both sides.
const SEED: RandomState = RandomState::with_seed(0x1b1d);

impl Input {
    /// Reads all rows, keeping `columns` of them.
    pub(super) async fn collect(
        &self,
        columns: &[usize],
        context: &Arc<TaskContext>,
        reservation: &Arc<MemoryReservation>,
    ) -> Result<Vec<Batch>> {
        let mut tasks = Vec::new();
        for partition in 0..self.plan.output_partitioning().partition_count() {
            let stream = self.plan.execute(partition, Arc::clone(context))?;
            let reader = Reader {
                set: Arc::clone(&self.set),
                keys: self.keys.clone(),
                columns: columns.to_vec(),
                enough: context.session_config().batch_size(),
                reservation: Arc::clone(reservation),
            };
            tasks.push(SpawnedTask::spawn(reader.read(stream)));
        }
        let mut batches = Vec::new();
        for task in tasks {
            batches.append(&mut task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??);
        }
        Ok(batches)
    }
}

struct Reader {
    set: Arc<dyn PhysicalExpr>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    columns: Vec<usize>,
    /// Batches of fewer rows are put together.
    enough: usize,
    reservation: Arc<MemoryReservation>,
}

impl Reader {
    async fn read(self, mut stream: SendableRecordBatchStream) -> Result<Vec<Batch>> {
        let schema = stream.schema();
        let (mut batches, mut small, mut rows) = (Vec::new(), Vec::new(), 0);
        while let Some(batch) = stream.next().await.transpose()? {
            rows += batch.num_rows();
            small.push(batch);
            if rows >= self.enough {
                batches.push(self.evaluate(&schema, std::mem::take(&mut small))?);
                rows = 0;
            }
        }
        if rows > 0 {
            batches.push(self.evaluate(&schema, small)?);
        }
        Ok(batches)
    }

    fn evaluate(&self, schema: &SchemaRef, small: Vec<RecordBatch>) -> Result<Batch> {
        let batch = match small.as_slice() {
            [one] => one.clone(),
            many => concat_batches(schema, many)?,
        };
        let set = self.set.evaluate(&batch)?.into_array(batch.num_rows())?;
        let sets = canonical_sets(&set)?;
        let mut keys = Vec::new();
        if !self.keys.is_empty() {
            let columns = self.keys.iter().map(|key| key.evaluate(&batch)?.into_array(batch.num_rows()));
            keys = vec![0; batch.num_rows()];
            create_hashes(&columns.collect::<Result<Vec<_>>>()?, &SEED, &mut keys)?;
        }
        let rows = batch.project(&self.columns)?;
        let is_kept = rows.columns().iter().any(|column| Arc::ptr_eq(column, &set));
        let set_bytes = if is_kept { 0 } else { sets.get_array_memory_size() };
        self.reservation.try_grow(get_record_batch_memory_size(&rows) + set_bytes + keys.len() * size_of::<u64>())?;
        Ok(Batch { rows, sets, keys })
    }
}
