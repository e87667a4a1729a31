//! The join of rows that were partitioned into shares: share by share.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;

use datafusion::arrow::array::{AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take_record_batch;
use datafusion::arrow::datatypes::{SchemaRef, UInt64Type};
use datafusion::common::{JoinType, Result, internal_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use futures::TryStreamExt;

use super::condition::Shown;
use super::deal_exec::marks_of_shares;
use super::index::{Share, narrow};
use super::input::{Batches, Held, Reader};
use super::output::Marks;
use super::places::Places;
use super::run::{Collected, Kept, Round, Run};

/// The rows of a side, by the number that marks their share.
type ByMark = BTreeMap<u64, Collected>;

/// Joins the shares of one partition of the inputs, one after the other.
pub(super) async fn run_dealt(
    run: Arc<Run>,
    left: SendableRecordBatchStream,
    right: Option<SendableRecordBatchStream>,
) -> Result<()> {
    let consumer = MemoryConsumer::new("SimilarityJoin").with_can_spill(true);
    let reservation = Arc::new(consumer.register(run.context.memory_pool()));
    let mut lefts = run.collect_dealt(&run.left, left, true, &reservation).await?;
    let mut rights = match (&run.right, right) {
        (Some(kept), Some(right)) => Some(run.collect_dealt(kept, right, false, &reservation).await?),
        _ => None,
    };
    let marks: BTreeMap<u64, usize> = marks_of_shares(run.shares)?.into_iter().zip(0..).collect();
    let places = Places::of_shares(&run.condition, run.is_self_join(), run.shares);
    // The rows of a share are in memory or on disk until the share is joined.
    while let Some((mark, left)) = lefts.pop_first() {
        let Some(&number) = marks.get(&mark) else {
            return internal_err!("rows with the mark of an unknown share");
        };
        let right = match &mut rights {
            Some(rights) => match rights.remove(&mark) {
                Some(right) => right,
                None => continue,
            },
            None => left.without_rows(),
        };
        run.join_dealt(left, right, Share { number, of: run.shares, places }, &reservation).await?;
    }
    Ok(())
}

impl Run {
    /// Reads the rows of a partition, in memory while there is room and then on disk.
    async fn collect_dealt(
        &self,
        Kept { input, columns }: &Kept,
        mut rows: SendableRecordBatchStream,
        is_left: bool,
        reservation: &Arc<MemoryReservation>,
    ) -> Result<ByMark> {
        let shown = Shown::new(&self.condition, is_left, self.is_self_join());
        let nothing = self.nothing_of(input, columns)?;
        let enough = self.context.session_config().batch_size();
        let mut sides = BTreeMap::<u64, Filling>::new();
        let schema = rows.schema();
        while let Some(batch) = rows.try_next().await? {
            for (mark, rows) in by_mark(&batch)? {
                let side = sides.entry(mark).or_insert_with(|| Filling {
                    reader: input.reader(columns, enough),
                    held: Held::new(
                        Arc::clone(reservation),
                        self.memory_of_part(),
                        nothing.spill.clone(),
                        shown.clone(),
                    ),
                    small: Vec::new(),
                    rows: 0,
                });
                side.add(rows, enough, &schema).await?;
            }
        }
        let mut all = ByMark::new();
        for (mark, mut side) in sides {
            side.flush(&schema).await?;
            all.insert(mark, Collected { held: vec![side.held], ..nothing.without_rows() });
        }
        Ok(all)
    }

    async fn join_dealt(
        self: &Arc<Self>,
        left: Collected,
        right: Collected,
        share: Share,
        reservation: &Arc<MemoryReservation>,
    ) -> Result<()> {
        let marks = Arc::new(Marks::new(JoinType::Inner, 0, 0));
        let mut summary = left.summary();
        summary += right.summary();
        let to_join = summary.bytes_to_find();
        let has_room = reservation.size() + to_join <= self.memory_of_part();
        if left.is_spilled() || right.is_spilled() || !has_room || reservation.try_grow(to_join).is_err() {
            return self.join_share_from_disk(left, right, &summary, share).await;
        }
        let batches = Batches::of(left.held, right.held);
        let round = Round { is_self_join: self.is_self_join(), share, order: None, scan: None };
        let joining = self.index(batches, round, reservation).await?;
        self.search(joining, &marks).await?;
        reservation.shrink(to_join + summary.bytes);
        Ok(())
    }

    /// Returns the most bytes that one partition of the inputs may take: other partitions run beside it.
    pub(super) fn memory_of_part(&self) -> usize {
        let MemoryLimit::Finite(all) = self.context.memory_pool().memory_limit() else { return usize::MAX };
        // An executor has one partition in each of its tasks, and runs one task per core.
        let beside = match self.context.session_config().target_partitions() {
            1 => available_parallelism().map_or(1, NonZero::get),
            partitions => partitions,
        };
        all / beside / 4 * 3
    }
}

/// The rows of a share while they are read.
struct Filling {
    reader: Reader,
    held: Held,
    small: Vec<RecordBatch>,
    rows: usize,
}

impl Filling {
    async fn add(&mut self, rows: RecordBatch, enough: usize, schema: &SchemaRef) -> Result<()> {
        self.rows += rows.num_rows();
        self.small.push(rows);
        if self.rows >= enough { self.flush(schema).await } else { Ok(()) }
    }

    async fn flush(&mut self, schema: &SchemaRef) -> Result<()> {
        if self.rows > 0 {
            let batch = self.reader.evaluate(schema, &std::mem::take(&mut self.small))?;
            self.rows = 0;
            self.held.push(batch).await?;
        }
        Ok(())
    }
}

/// Splits the rows of a batch by the number that marks their share. Mostly all rows belong to one share.
fn by_mark(batch: &RecordBatch) -> Result<Vec<(u64, RecordBatch)>> {
    let Some(marks) = batch.columns().last().and_then(|marks| marks.as_primitive_opt::<UInt64Type>()) else {
        return internal_err!("rows without the mark of a share");
    };
    let mut rows = BTreeMap::<u64, Vec<u32>>::new();
    for (row, mark) in marks.values().iter().enumerate() {
        rows.entry(*mark).or_default().push(narrow(row));
    }
    if let (Some((&mark, _)), 1) = (rows.first_key_value(), rows.len()) {
        return Ok(vec![(mark, batch.clone())]);
    }
    let part = |(mark, rows): (u64, Vec<u32>)| Ok((mark, take_record_batch(batch, &UInt32Array::from(rows))?));
    rows.into_iter().map(part).collect()
}
