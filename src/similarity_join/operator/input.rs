use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, UInt64Array};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, SpillManager};
use futures::StreamExt;
use ibid_udfs::similarity::{canonical_sets, set_type};

use super::condition::{Condition, Shown};
use super::memory::Summary;
use super::order::Order;
use super::prefix::Prefix;
use super::sets::Row;
use super::spill::SpillWriter;

/// An input of a similarity join.
#[derive(Debug, Clone)]
pub(in crate::similarity_join) struct Input {
    pub(in crate::similarity_join) plan: Arc<dyn ExecutionPlan>,
    /// The set of a row.
    pub(in crate::similarity_join) set: Arc<dyn PhysicalExpr>,
    /// The keys, which must equal the keys of the other input.
    pub(in crate::similarity_join) keys: Vec<Arc<dyn PhysicalExpr>>,
    /// The index of the first prefix column, if the prefix of the set was computed before.
    pub(in crate::similarity_join) prefix: Option<usize>,
}

/// The kept columns that hold values that the join would otherwise compute.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct At {
    /// The column that is the set itself.
    pub(super) set: Option<usize>,
    /// The first of the [columns of the prefix](Prefix::fields).
    pub(super) prefix: Option<usize>,
}

/// Returns the field of the sets, for an input that has no such column.
pub(super) fn set_field() -> Field {
    Field::new("set", set_type(), true)
}

/// Rows and their sets.
pub(super) struct Batch {
    /// The columns that the output and the filter need.
    pub(super) rows: RecordBatch,
    sets: ListArray,
    at: At,
    /// A hash of the keys of each row; empty if there are no keys.
    keys: Vec<u64>,
    /// The number of each row in its input; empty if the rows are numbered consecutively.
    numbers: Vec<u64>,
    /// The number of the first row, if the rows are numbered consecutively.
    pub(super) first: usize,
}

impl Batch {
    /// Returns the elements of all sets of the batch.
    pub(super) fn elements(&self) -> &ScalarBuffer<u64> {
        self.sets.values().as_primitive::<UInt64Type>().values()
    }

    /// Returns the range of the elements of a row's set; empty if the set is NULL.
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        let offsets = self.sets.value_offsets();
        // Offsets of a valid array are not negative.
        let start = offsets[row].unsigned_abs() as usize;
        if self.sets.is_null(row) { start..start } else { start..offsets[row + 1].unsigned_abs() as usize }
    }

    /// Returns the hash of the keys of a row.
    pub(super) fn key(&self, row: usize) -> u64 {
        self.keys.get(row).copied().unwrap_or_default()
    }
}

impl Batch {
    /// Computes the prefix of a row's set, which shows its first `shown` elements; or reads the prefix if it was
    /// computed before.
    pub(super) fn prefix(&self, row: usize, shown: usize, order: Option<&Order>, prefix: &mut Prefix) {
        match (self.at.prefix, order) {
            (Some(at), _) => prefix.read(&self.rows, at, row),
            (None, Some(order)) => prefix.find(&self.elements()[self.range(row)], self.key(row), shown, order),
            (None, None) => prefix.clear(),
        }
    }

    /// Returns the number of a row in its input.
    pub(super) fn number(&self, row: usize) -> usize {
        self.numbers.get(row).map_or(self.first + row, |&number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Returns the bytes of the batch, without memory that is `counted` already: batches that are slices of one batch
    /// share memory.
    pub(crate) fn bytes(&self, counted: &mut RecordBatchMemoryCounter) -> Result<usize> {
        let sets: ArrayRef = Arc::new(self.sets.clone());
        let columns =
            counted.count_batch(&self.rows) + counted.count_batch(&RecordBatch::try_from_iter([("set", sets)])?);
        Ok(columns + (self.keys.len() + self.numbers.len()) * size_of::<u64>())
    }

    /// Returns the summary of each row, as if rows differed only in the sizes of their sets.
    pub(super) fn summaries(&self, shown: &mut Shown) -> Result<Vec<Summary>> {
        let of_elements = |elements: usize| elements * size_of::<u64>();
        let sizes: Vec<usize> = (0..self.rows.num_rows()).map(|row| self.range(row).len()).collect();
        let of_others = self.bytes(&mut RecordBatchMemoryCounter::new())?;
        let of_others = of_others.saturating_sub(of_elements(sizes.iter().sum())).div_ceil(sizes.len().max(1));
        let of =
            |size| Summary { rows: 1, elements: size, shown: shown.of(size), bytes: of_others + of_elements(size) };
        Ok(sizes.into_iter().map(of).collect())
    }

    /// Returns the summary of the batch, without memory that is `counted` already.
    fn summary(&self, shown: &mut Shown, counted: &mut RecordBatchMemoryCounter) -> Result<Summary> {
        let sizes = || (0..self.rows.num_rows()).map(|row| self.range(row).len());
        Ok(Summary {
            rows: self.rows.num_rows(),
            elements: sizes().sum(),
            shown: sizes().map(|size| shown.of(size)).sum(),
            bytes: self.bytes(counted)?,
        })
    }

    /// Returns the schema of spilled batches: the columns, and after them the key, the number and, unless it is one of
    /// the columns, the set.
    pub(super) fn spilled_schema(rows: &Schema, at: At) -> SchemaRef {
        let ours = [Field::new("key", DataType::UInt64, false), Field::new("number", DataType::UInt64, false)];
        let set = at.set.is_none().then(set_field);
        let ours = ours.into_iter().chain(set).map(Arc::new);
        Arc::new(Schema::new(rows.fields().iter().cloned().chain(ours).collect::<Vec<_>>()))
    }

    /// Returns the columns, and after them the set, unless it is one of them.
    pub(super) fn with_set(&self) -> Result<RecordBatch> {
        if self.at.set.is_some() {
            return Ok(self.rows.clone());
        }
        let set = Arc::new(set_field());
        let fields = self.rows.schema().fields().iter().cloned().chain([set]).collect::<Vec<_>>();
        let columns = self.rows.columns().iter().cloned().chain([Arc::new(self.sets.clone()) as ArrayRef]).collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }

    /// Returns the batch as it is spilled.
    pub(super) fn to_spilled(&self) -> Result<RecordBatch> {
        let rows = self.rows.num_rows();
        let keys: UInt64Array = (0..rows).map(|i| Some(self.key(i))).collect();
        let numbers: UInt64Array = (0..rows).map(|i| Some(self.number(i) as u64)).collect();
        let ours: [ArrayRef; 2] = [Arc::new(keys), Arc::new(numbers)];
        let sets = self.at.set.is_none().then(|| Arc::new(self.sets.clone()) as ArrayRef);
        let columns = self.rows.columns().iter().cloned().chain(ours).chain(sets).collect();
        Ok(RecordBatch::try_new(Self::spilled_schema(&self.rows.schema(), self.at), columns)?)
    }

    /// Restores a spilled batch, with new numbers from `first` on.
    pub(super) fn renumbered(spilled: &RecordBatch, at: At, first: usize) -> Result<Self> {
        Ok(Self { numbers: Vec::new(), first, ..Self::from_spilled(spilled, at)? })
    }

    /// Restores a spilled batch.
    pub(super) fn from_spilled(spilled: &RecordBatch, at: At) -> Result<Self> {
        let columns = spilled.num_columns() - if at.set.is_some() { 2 } else { 3 };
        let rows = spilled.project(&(0..columns).collect::<Vec<_>>())?;
        let numbers = |i: usize| spilled.column(columns + i).as_primitive::<UInt64Type>().values().to_vec();
        let sets = match at.set {
            Some(column) => canonical_sets(spilled.column(column))?,
            None => spilled.column(columns + 2).as_list().clone(),
        };
        Ok(Self { rows, sets, at, keys: numbers(0), numbers: numbers(1), first: 0 })
    }
}

/// The batches of both inputs.
pub(super) struct Batches {
    pub(super) all: Vec<Batch>,
    /// The number of batches of the left input, which come first.
    pub(super) left: usize,
}

impl Batches {
    /// Returns the batches that are held in memory.
    pub(super) fn of(left: Vec<Held>, right: Vec<Held>) -> Self {
        let numbered = |held: Vec<Held>| {
            held.into_iter().flat_map(|held| held.batches).scan(0, |rows, batch| {
                let first = *rows;
                *rows += batch.rows.num_rows();
                Some(Batch { first, ..batch })
            })
        };
        let mut all: Vec<_> = numbered(left).collect();
        let left = all.len();
        all.extend(numbered(right));
        Self { all, left }
    }

    /// Returns the summary of all batches.
    pub(super) fn summary(&self, condition: &Arc<Condition>, is_self_join: bool) -> Result<Summary> {
        let mut shown = [true, false].map(|is_left| Shown::new(condition, is_left, is_self_join));
        let mut counted = RecordBatchMemoryCounter::new();
        let of = |(i, batch): (usize, &Batch)| batch.summary(&mut shown[usize::from(i >= self.left)], &mut counted);
        self.all.iter().enumerate().map(of).sum()
    }

    /// Returns true if the prefixes of all sets were found before.
    pub(super) fn have_prefixes(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|batch| batch.at.prefix.is_some())
    }

    /// Returns the number of a row in its input.
    pub(super) fn number(&self, row: Row) -> usize {
        self.all[row.batch as usize].number(row.row as usize)
    }
}

/// The seed of the hashes of keys. Equal keys must have equal hashes, in every batch and on both sides.
const SEED: RandomState = RandomState::with_seed(0x1b1d);

impl Input {
    /// Returns the schema of the columns that are kept.
    pub(super) fn kept_schema(&self, columns: &[usize]) -> Result<SchemaRef> {
        Ok(Arc::new(self.plan.schema().project(columns)?))
    }

    /// Returns the places of the set and of the prefix among the kept columns.
    pub(super) fn at(&self, columns: &[usize]) -> At {
        let place = |wanted: usize| columns.iter().position(|column| *column == wanted);
        At { set: self.column_of_set().and_then(place), prefix: self.prefix.and_then(place) }
    }

    /// Returns the column that is the set itself, if there is one.
    pub(super) fn column_of_set(&self) -> Option<usize> {
        let schema = self.plan.schema();
        let is_list = |set: &usize| matches!(schema.field(*set).data_type(), DataType::List(item) if item.data_type() == &DataType::UInt64);
        self.set.downcast_ref::<Column>().map(Column::index).filter(is_list)
    }

    pub(super) fn reader(&self, columns: &[usize], enough: usize) -> Reader {
        let (set, keys, at) = (Arc::clone(&self.set), self.keys.clone(), self.at(columns));
        Reader { set, at, keys, columns: columns.to_vec(), enough }
    }

    /// Reads the rows of all partitions and keeps `columns` of them, in memory while there is room and then on disk.
    pub(super) async fn collect(
        &self,
        partitions: Vec<SendableRecordBatchStream>,
        columns: &[usize],
        context: &Arc<TaskContext>,
        reservation: &Arc<MemoryReservation>,
        spill: &SpillManager,
        shown: &Shown,
    ) -> Result<Vec<Held>> {
        let mut tasks = Vec::new();
        for stream in partitions {
            let reader = self.reader(columns, context.session_config().batch_size());
            let held = Held::new(Arc::clone(reservation), usize::MAX, spill.clone(), shown.clone());
            tasks.push(SpawnedTask::spawn(reader.read(stream, held)));
        }
        let mut all = Vec::new();
        for task in tasks {
            all.push(task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??);
        }
        Ok(all)
    }
}

/// The rows of a partition of an input, in memory or on disk.
pub(super) struct Held {
    batches: Vec<Batch>,
    /// The summary of all rows, in memory and on disk.
    pub(super) summary: Summary,
    shown: Shown,
    counted: RecordBatchMemoryCounter,
    reserved: usize,
    reservation: Arc<MemoryReservation>,
    /// The most bytes that may be reserved, even if the pool allows more.
    most: usize,
    spill: SpillManager,
    file: Option<SpillWriter>,
}

impl Held {
    pub(super) fn new(reservation: Arc<MemoryReservation>, most: usize, spill: SpillManager, shown: Shown) -> Self {
        Self {
            batches: Vec::new(),
            summary: Summary::default(),
            shown,
            counted: RecordBatchMemoryCounter::new(),
            reserved: 0,
            reservation,
            most,
            spill,
            file: None,
        }
    }

    pub(super) async fn push(&mut self, batch: Batch) -> Result<()> {
        if self.file.is_some() {
            // The counted batches have been freed, and new batches may reuse their memory.
            self.counted = RecordBatchMemoryCounter::new();
        }
        let summary = batch.summary(&mut self.shown, &mut self.counted)?;
        let bytes = summary.bytes;
        self.summary += summary;
        self.batches.push(batch);
        let has_room = self.reservation.size() + bytes <= self.most;
        if self.file.is_none() && has_room && self.reservation.try_grow(bytes).is_ok() {
            self.reserved += bytes;
            return Ok(());
        }
        self.spill().await
    }

    /// Returns true if some of the rows are on disk.
    pub(super) fn is_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Moves the batches in memory to disk.
    pub(super) async fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(SpillWriter::try_new(&self.spill)?),
        };
        for batch in self.batches.drain(..) {
            file.append(&batch.to_spilled()?)?;
            tokio::task::yield_now().await;
        }
        self.reservation.shrink(std::mem::take(&mut self.reserved));
        Ok(())
    }

    /// Returns the spill file; `None` if there were no rows.
    pub(super) fn finish(self) -> Result<Option<Arc<dyn SpillFile>>> {
        self.file.map_or(Ok(None), SpillWriter::finish)
    }
}

pub(super) struct Reader {
    set: Arc<dyn PhysicalExpr>,
    at: At,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    columns: Vec<usize>,
    /// The least number of rows of a batch; smaller batches are put together.
    enough: usize,
}

impl Reader {
    async fn read(self, mut stream: SendableRecordBatchStream, mut held: Held) -> Result<Held> {
        let schema = stream.schema();
        let (mut small, mut rows) = (Vec::new(), 0);
        while let Some(batch) = stream.next().await.transpose()? {
            rows += batch.num_rows();
            small.push(batch);
            if rows >= self.enough {
                held.push(self.evaluate(&schema, &std::mem::take(&mut small))?).await?;
                rows = 0;
            }
        }
        if rows > 0 {
            held.push(self.evaluate(&schema, &small)?).await?;
        }
        Ok(held)
    }

    /// Returns the rows and sets of some batches as one batch.
    pub(super) fn evaluate(&self, schema: &SchemaRef, small: &[RecordBatch]) -> Result<Batch> {
        let batch = together(schema, small)?;
        let set = self.set.evaluate(&batch)?.into_array(batch.num_rows())?;
        let sets = canonical_sets(&set)?;
        let mut keys = Vec::new();
        if !self.keys.is_empty() {
            let columns = self.keys.iter().map(|key| key.evaluate(&batch)?.into_array(batch.num_rows()));
            keys = vec![0; batch.num_rows()];
            create_hashes(&columns.collect::<Result<Vec<_>>>()?, &SEED, &mut keys)?;
        }
        let (rows, at) = (batch.project(&self.columns)?, self.at);
        Ok(Batch { rows, sets, at, keys, numbers: Vec::new(), first: 0 })
    }
}

/// Concatenates batches.
pub(super) fn together(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch> {
    match batches {
        [one] => Ok(one.clone()),
        many => Ok(concat_batches(schema, many)?),
    }
}
