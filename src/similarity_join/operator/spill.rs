//! Where the rows do not fit into memory: on disk, and dealt into shares that do.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::interleave_record_batch;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{JoinSide, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use futures::StreamExt;

use super::condition::{Condition, Shown};
use super::index::Share;
use super::input::{Batch, Batches, together};
use super::memory::MemoryPlan;
use super::order::Order;
use super::parallel::parallel;
use super::prefix::Prefix;

/// A file that is being written.
pub(super) struct SpillWriter(Box<Write>);

/// Appends a batch, or ends the file; DataFusion's own writer has no name to be called by.
type Write = dyn FnMut(Option<&RecordBatch>) -> Result<Option<Arc<dyn SpillFile>>> + Send;

impl SpillWriter {
    pub(super) fn try_new(spill: &SpillManager) -> Result<Self> {
        let mut file = spill.create_in_progress_file("the rows of a similarity join")?;
        Ok(Self(Box::new(move |batch| match batch {
            Some(batch) => file.append_batch(batch).map(|_| None),
            None => file.finish(),
        })))
    }

    pub(super) fn append(&mut self, batch: &RecordBatch) -> Result<()> {
        (self.0)(Some(batch)).map(drop)
    }

    /// The file; `None` if nothing was appended.
    pub(super) fn finish(mut self) -> Result<Option<Arc<dyn SpillFile>>> {
        (self.0)(None)
    }
}

/// The rows of both inputs on disk.
pub(super) struct Spilled {
    pub(super) left: Arc<Side>,
    /// Nothing where the input was read once.
    pub(super) right: Arc<Side>,
}

/// The rows of an input on disk.
pub(super) struct Side {
    pub(super) files: Vec<Arc<dyn SpillFile>>,
    pub(super) spill: SpillManager,
    /// Of shares: how many elements of a share are shown in it.
    pub(super) postings: Vec<usize>,
}

/// Reads batches back, one file after the other.
pub(super) struct SpillReader {
    side: Arc<Side>,
    next_file: usize,
    stream: Option<SendableRecordBatchStream>,
    /// How many rows were read.
    rows: usize,
}

impl SpillReader {
    /// The next batch; its rows are numbered over all batches.
    pub(super) async fn next(&mut self) -> Result<Option<Batch>> {
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                none => {
                    let Some(file) = self.side.files.get(self.next_file) else { return Ok(None) };
                    self.next_file += 1;
                    none.insert(self.side.spill.read_spill_as_stream(Arc::clone(file), None)?)
                }
            };
            match stream.next().await.transpose()? {
                Some(spilled) => {
                    let batch = Batch::renumbered(&spilled, self.rows)?;
                    self.rows += spilled.num_rows();
                    return Ok(Some(batch));
                }
                None => self.stream = None,
            }
        }
    }
}

impl SpillReader {
    /// The next batches, so many that they take so many bytes; none at the end.
    pub(super) async fn next_some(&mut self, bytes: usize) -> Result<Vec<Batch>> {
        let mut counted = RecordBatchMemoryCounter::new();
        let (mut some, mut read) = (Vec::new(), 0);
        while some.is_empty() || read < bytes {
            let Some(batch) = self.next().await? else { break };
            read += batch.bytes(&mut counted)?;
            some.push(batch);
        }
        Ok(some)
    }
}

impl Side {
    /// All rows, from the first file to the last.
    pub(super) fn read(self: &Arc<Self>) -> SpillReader {
        SpillReader { side: Arc::clone(self), next_file: 0, stream: None, rows: 0 }
    }

    /// The rows of the file of a share, in batches of at least `enough` rows; `read` is told how many bytes come.
    async fn load(&self, share: usize, enough: usize, read: impl Fn(usize) -> Result<()>) -> Result<Vec<Batch>> {
        let (mut batches, mut small, mut rows) = (Vec::new(), Vec::new(), 0);
        let mut counted = RecordBatchMemoryCounter::new();
        let mut stream = self.spill.read_spill_as_stream(Arc::clone(&self.files[share]), None)?;
        while let Some(batch) = stream.next().await.transpose()? {
            read(counted.count_batch(&batch))?;
            rows += batch.num_rows();
            small.push(batch);
            if rows >= enough {
                batches.push(Batch::from_spilled(&together(self.spill.schema(), &std::mem::take(&mut small))?)?);
                rows = 0;
            }
        }
        if rows > 0 {
            batches.push(Batch::from_spilled(&together(self.spill.schema(), &small)?)?);
        }
        Ok(batches)
    }
}

impl Spilled {
    pub(super) fn read(&self, side: JoinSide) -> SpillReader {
        if side == JoinSide::Right { self.right.read() } else { self.left.read() }
    }

    /// Deals the rows into shares: a row goes to the share of each rank that it shows, which is where it meets those that
    /// show the same. Each share has a file of each side. At most twice the memory of a portion is taken.
    pub(super) async fn deal(
        &self,
        order: &Arc<Order>,
        condition: &Arc<Condition>,
        is_self_join: bool,
        plan: &MemoryPlan,
        workers: usize,
    ) -> Result<Self> {
        let shown = |is_left| Shown::new(condition, is_left, is_self_join);
        Ok(Self {
            left: deal(&self.left, order, shown(true), is_self_join, plan, workers).await?,
            right: deal(&self.right, order, shown(false), is_self_join, plan, workers).await?,
        })
    }

    /// How many elements of a share are shown in it.
    pub(super) fn postings(&self, share: usize) -> usize {
        [&self.left, &self.right].iter().filter_map(|side| side.postings.get(share)).sum()
    }

    /// The rows of a share; `read` is told how many bytes come.
    pub(super) async fn load(
        &self,
        share: usize,
        is_self_join: bool,
        enough: usize,
        read: impl Fn(usize) -> Result<()>,
    ) -> Result<Batches> {
        let mut all = self.left.load(share, enough, &read).await?;
        let left = all.len();
        if !is_self_join {
            all.append(&mut self.right.load(share, enough, &read).await?);
        }
        Ok(Batches { all, left })
    }
}

async fn deal(
    side: &Arc<Side>,
    order: &Arc<Order>,
    shown: Shown,
    is_self_join: bool,
    plan: &MemoryPlan,
    workers: usize,
) -> Result<Arc<Side>> {
    let (spill, shares) = (side.spill.clone(), plan.shares);
    let mut writers = (0..shares).map(|_| SpillWriter::try_new(&spill)).collect::<Result<Vec<_>>>()?;
    let mut postings = vec![0; shares];
    let mut batches = side.read();
    loop {
        let some = batches.next_some(plan.portion).await?;
        if some.is_empty() {
            break;
        }
        let (order, shown) = (Arc::clone(order), shown.clone());
        let deal = move |batch| deal_batch(&batch, &order, shown.clone(), is_self_join, shares);
        let dealt = parallel(workers, some, deal).await?;
        for (share, postings) in postings.iter_mut().enumerate() {
            *postings += dealt.iter().map(|batch| batch.shares[share].1).sum::<usize>();
        }
        // A share gets the rows of many batches at once: a few of each would be mostly the heads of messages.
        let append = move |(share, mut writer): (usize, SpillWriter)| {
            let batches: Vec<_> = dealt.iter().map(|batch| &batch.rows).collect();
            let mut rows = Vec::new();
            for (batch, dealt) in dealt.iter().enumerate() {
                rows.extend(dealt.shares[share].0.iter().map(|row| (batch, *row as usize)));
            }
            if !rows.is_empty() {
                writer.append(&interleave_record_batch(&batches, &rows)?)?;
            }
            Ok(writer)
        };
        writers = parallel(workers, writers.into_iter().enumerate().collect(), append).await?;
    }
    // A share without rows still has a file: an empty batch.
    let empty = RecordBatch::new_empty(Arc::clone(spill.schema()));
    let mut files = Vec::with_capacity(shares);
    for mut writer in writers {
        writer.append(&empty)?;
        files.extend(writer.finish()?);
    }
    Ok(Arc::new(Side { files, spill, postings }))
}

/// The rows of a batch by share.
struct Dealt {
    rows: RecordBatch,
    /// The rows of each share, and how many elements of the share they show.
    shares: Vec<(Vec<u32>, usize)>,
}

fn deal_batch(batch: &Batch, order: &Order, mut shown: Shown, is_self_join: bool, shares: usize) -> Result<Dealt> {
    let mut prefix = Prefix::default();
    let mut dealt: Vec<(Vec<u32>, usize)> = vec![(Vec::new(), 0); shares];
    for (row, number) in (0..batch.rows.num_rows()).zip(0_u32..) {
        let elements = &batch.elements()[batch.range(row)];
        let shown = shown.of(elements.len());
        if shown == 0 {
            // Nothing matches it, not even itself.
            continue;
        }
        prefix.find(elements, batch.key(row), shown, order);
        prefix.ranks.iter().for_each(|rank| dealt[Share::of_rank(*rank, shares)].1 += 1);
        let home = is_self_join.then(|| Share::home(&prefix.ranks, prefix.bitmap, shares));
        for share in prefix.ranks.iter().map(|rank| Share::of_rank(*rank, shares)).chain(home) {
            let rows = &mut dealt[share].0;
            if rows.last() != Some(&number) {
                rows.push(number);
            }
        }
    }
    Ok(Dealt { rows: batch.to_spilled()?, shares: dealt })
}
