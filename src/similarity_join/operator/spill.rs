//! Rows that do not fit into memory: they are on disk, partitioned into shares that fit.

use std::ops::{AddAssign, Range};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::interleave_record_batch;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{JoinSide, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use futures::StreamExt;

use super::condition::Shown;
use super::index::Share;
use super::input::{At, Batch, Batches, together};
use super::memory::Summary;
use super::order::Order;
use super::parallel::parallel;
use super::places::Origin;
use super::prefix::Prefix;
use super::run::Run;
use super::shared_ranks::SharedRanks;

/// A file that is being written.
pub(super) struct SpillWriter(Box<Write>);

/// A closure that appends a batch, or ends the file. The type of DataFusion's own writer cannot be named.
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

    /// Returns the file; `None` if nothing was appended.
    pub(super) fn finish(mut self) -> Result<Option<Arc<dyn SpillFile>>> {
        (self.0)(None)
    }
}

/// The rows of both inputs on disk.
pub(super) struct Spilled {
    pub(super) left: Arc<Side>,
    /// Empty if the input was read once.
    pub(super) right: Arc<Side>,
}

/// The rows of an input on disk.
pub(super) struct Side {
    pub(super) files: Vec<Arc<dyn SpillFile>>,
    pub(super) spill: SpillManager,
    pub(super) at: At,
    /// The size of each share; empty if the rows are not in shares.
    pub(super) shares: Vec<OfShare>,
    /// True if rows are stored with their numbers in the input; else they are numbered as they are read.
    pub(super) is_numbered: bool,
}

/// The size of a side's part of a share.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfShare {
    summary: Summary,
    /// The number of elements of the share that its rows show.
    pub(super) postings: usize,
}

impl OfShare {
    /// Returns the bytes of memory that the rows take, with everything that is built from them.
    pub(crate) fn bytes(&self) -> usize {
        self.summary.bytes + self.summary.bytes_to_join(self.postings)
    }
}

impl AddAssign for OfShare {
    fn add_assign(&mut self, more: Self) {
        self.summary += more.summary;
        self.postings += more.postings;
    }
}

/// The limits for reading rows that are not all in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portions {
    /// The number of bytes to read at once.
    pub(super) bytes: usize,
    pub(super) workers: usize,
}

/// A reader of spilled batches, one file after the other.
pub(super) struct SpillReader {
    side: Arc<Side>,
    next_file: usize,
    stream: Option<SendableRecordBatchStream>,
    /// The number of rows that were read.
    rows: usize,
}

impl SpillReader {
    /// Reads the next batch. Its rows are numbered over all batches, unless they are stored with their numbers.
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
                    let batch = match self.side.is_numbered {
                        true => Batch::from_spilled(&spilled, self.side.at)?,
                        false => Batch::renumbered(&spilled, self.side.at, self.rows)?,
                    };
                    self.rows += spilled.num_rows();
                    return Ok(Some(batch));
                }
                None => self.stream = None,
            }
        }
    }
}

impl SpillReader {
    /// Maps the batches of the next portion, in parallel; returns `None` at the end.
    pub(super) async fn map_portion<T: Send + 'static>(
        &mut self,
        portions: Portions,
        map: &Arc<impl Fn(Batch) -> Result<T> + Send + Sync + 'static>,
    ) -> Result<Option<Vec<T>>> {
        let mut counted = RecordBatchMemoryCounter::new();
        let (mut some, mut read) = (Vec::new(), 0);
        while some.is_empty() || read < portions.bytes {
            let Some(batch) = self.next().await? else { break };
            read += batch.bytes(&mut counted)?;
            some.push(batch);
        }
        if some.is_empty() {
            return Ok(None);
        }
        let map = Arc::clone(map);
        parallel(portions.workers, some, move |batch| map(batch)).await.map(Some)
    }
}

impl Side {
    /// Reads all rows, from the first file to the last.
    pub(super) fn read(self: &Arc<Self>) -> SpillReader {
        SpillReader { side: Arc::clone(self), next_file: 0, stream: None, rows: 0 }
    }

    fn part(&self, file: usize) -> Self {
        let files = self.files.get(file).cloned().into_iter().collect();
        let shares = self.shares.get(file).copied().into_iter().collect();
        let (spill, at) = (self.spill.clone(), self.at);
        Self { files, spill, at, shares, is_numbered: self.is_numbered }
    }

    /// Loads the rows of some files, in batches of at least `enough` rows, and calls `read` with the bytes of each
    /// batch.
    async fn load(&self, files: Range<usize>, enough: usize, read: impl Fn(usize) -> Result<()>) -> Result<Vec<Batch>> {
        let (mut batches, mut small, mut rows) = (Vec::new(), Vec::new(), 0);
        let one = |small: &[RecordBatch]| Batch::from_spilled(&together(self.spill.schema(), small)?, self.at);
        let mut counted = RecordBatchMemoryCounter::new();
        for file in &self.files[files] {
            let mut stream = self.spill.read_spill_as_stream(Arc::clone(file), None)?;
            while let Some(batch) = stream.next().await.transpose()? {
                read(counted.count_batch(&batch))?;
                rows += batch.num_rows();
                small.push(batch);
                if rows >= enough {
                    batches.push(one(&std::mem::take(&mut small))?);
                    rows = 0;
                }
            }
        }
        if rows > 0 {
            batches.push(one(&small)?);
        }
        Ok(batches)
    }
}

impl Spilled {
    pub(super) fn read(&self, side: JoinSide) -> SpillReader {
        if side == JoinSide::Right { self.right.read() } else { self.left.read() }
    }

    /// Partitions the rows into the shares `files`. A row goes to the share of each rank that it shows and that another
    /// row shows, too, so that it meets the rows that show the same. Each share has a file of each side. This takes at
    /// most twice the memory of a portion.
    pub(super) async fn deal(
        &self,
        run: &Run,
        dealing: &Arc<Dealing>,
        files: Range<usize>,
        portions: Portions,
    ) -> Result<Self> {
        let dealt = async |side, is_left| {
            let origin = Origin::of(run.is_self_join(), is_left);
            let shown = Shown::new(&run.condition, is_left, run.is_self_join());
            deal(side, Arc::clone(dealing), shown, origin, files.clone(), portions).await
        };
        Ok(Self { left: dealt(&self.left, true).await?, right: dealt(&self.right, false).await? })
    }

    /// Returns one of the shares.
    pub(super) fn part(&self, file: usize) -> Self {
        let part = |side: &Arc<Side>| Arc::new(side.part(file));
        Self { left: part(&self.left), right: part(&self.right) }
    }

    /// Returns the size of all shares.
    pub(super) fn of_share(&self) -> OfShare {
        let mut all = OfShare::default();
        self.left.shares.iter().chain(&self.right.shares).for_each(|more| all += *more);
        all
    }

    /// Loads the rows of some files of the left side and of some files of the right side, and calls `read` with the
    /// bytes of each batch.
    pub(super) async fn load(
        &self,
        left: Range<usize>,
        right: Option<Range<usize>>,
        enough: usize,
        read: impl Fn(usize) -> Result<()>,
    ) -> Result<Batches> {
        let mut all = self.left.load(left, enough, &read).await?;
        let left = all.len();
        if let Some(right) = right {
            all.append(&mut self.right.load(right, enough, &read).await?);
        }
        Ok(Batches { all, left })
    }
}

/// The parameters that decide which shares a row goes to.
pub(super) struct Dealing {
    /// `None` if the prefixes of the rows were computed before.
    pub(super) order: Option<Arc<Order>>,
    pub(super) shared: SharedRanks,
    /// The share that the rows belong to, which is split into finer shares.
    pub(super) within: Share,
    /// The number of finer shares.
    pub(super) shares: usize,
}

async fn deal(
    side: &Arc<Side>,
    dealing: Arc<Dealing>,
    shown: Shown,
    origin: Origin,
    shares: Range<usize>,
    portions: Portions,
) -> Result<Arc<Side>> {
    let (spill, files) = (side.spill.clone(), shares.len());
    let mut writers = (0..files).map(|_| SpillWriter::try_new(&spill)).collect::<Result<Vec<_>>>()?;
    let mut of_shares = vec![OfShare::default(); files];
    let deal = Arc::new(move |batch| deal_batch(&batch, &dealing, shown.clone(), origin, &shares));
    let mut batches = side.read();
    while let Some(dealt) = batches.map_portion(portions, &deal).await? {
        for (share, of_share) in of_shares.iter_mut().enumerate() {
            dealt.iter().for_each(|batch| *of_share += batch.shares[share].1);
        }
        // A share gets the rows of many batches at once: with a few rows each, messages would be mostly headers.
        let append = move |(share, mut writer): (usize, SpillWriter)| {
            if let Some(rows) = gather(dealt.iter().map(|batch| (&batch.rows, &batch.shares[share].0)))? {
                writer.append(&rows)?;
            }
            Ok(writer)
        };
        writers = parallel(portions.workers, writers.into_iter().enumerate().collect(), append).await?;
    }
    // A share without rows still has a file: an empty batch.
    let empty = RecordBatch::new_empty(Arc::clone(spill.schema()));
    let mut files = Vec::with_capacity(files);
    for mut writer in writers {
        writer.append(&empty)?;
        files.extend(writer.finish()?);
    }
    Ok(Arc::new(Side { files, spill, at: side.at, shares: of_shares, is_numbered: true }))
}

/// Gathers some rows of some batches into one batch; returns `None` if there are none.
pub(super) fn gather<'a>(
    parts: impl Iterator<Item = (&'a RecordBatch, &'a Vec<usize>)>,
) -> Result<Option<RecordBatch>> {
    let (mut batches, mut rows) = (Vec::new(), Vec::new());
    for (batch, of_batch) in parts.filter(|(_, rows)| !rows.is_empty()) {
        rows.extend(of_batch.iter().map(|row| (batches.len(), *row)));
        batches.push(batch);
    }
    Ok(if rows.is_empty() { None } else { Some(interleave_record_batch(&batches, &rows)?) })
}

/// The rows of a batch by share.
struct Dealt {
    rows: RecordBatch,
    /// The rows of each share, and their size.
    shares: Vec<(Vec<usize>, OfShare)>,
}

fn deal_batch(
    batch: &Batch,
    dealing: &Dealing,
    mut shown: Shown,
    origin: Origin,
    wanted: &Range<usize>,
) -> Result<Dealt> {
    let Dealing { order, shared, within, shares } = dealing;
    let all = within.of * shares;
    let mut prefix = Prefix::default();
    let mut dealt = vec![(Vec::new(), OfShare::default()); wanted.len()];
    for (row, summary) in batch.summaries(&mut shown)?.into_iter().enumerate() {
        if summary.shown == 0 {
            // The row matches nothing, not even itself.
            continue;
        }
        batch.prefix(row, summary.shown, order.as_deref(), &mut prefix);
        let mut add = |place, postings| {
            let file = within.part_of(Share::of_place(place, all)).and_then(|share| share.checked_sub(wanted.start));
            let Some((rows, of_share)) = file.and_then(|file| dealt.get_mut(file)) else { return };
            of_share.postings += postings;
            if rows.last() != Some(&row) {
                rows.push(row);
                of_share.summary += summary;
            }
        };
        for &rank in prefix.ranks.iter().filter(|rank| shared.has(**rank)) {
            within.places.each(rank, prefix.bitmap, origin, |place| add(place.number, 1));
        }
        if origin == Origin::Both {
            add(within.places.home(&prefix.ranks, prefix.bitmap), 0);
        }
    }
    Ok(Dealt { rows: batch.to_spilled()?, shares: dealt })
}
