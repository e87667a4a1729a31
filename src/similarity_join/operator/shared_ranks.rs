//! The ranks that find pairs of rows on disk: those that another row shows as well.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt32Type};
use datafusion::common::Result;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::SpillMetrics;
use futures::StreamExt;

use super::condition::Shown;
use super::input::Batch;
use super::order::{Order, mix};
use super::parallel::parallel;
use super::prefix::Prefix;
use super::run::Run;
use super::spill::{Portions, Side, SpillWriter, Spilled};

/// The ranks that two rows show, or a row of each input; other ranks find no pairs. Most elements of a set are its own.
/// With many sets, only a pass over all of them tells which ranks are shared.
pub(super) struct SharedRanks {
    ranks: Ranks,
    /// The number of times that rows show these ranks.
    pub(super) postings: usize,
}

/// An approximate set of ranks, with one bit for each hash: a rank whose hash collides is taken for one of the set.
struct Ranks {
    bits: Vec<u64>,
    shift: u32,
}

impl Ranks {
    /// Creates an empty set of at most so many bytes.
    fn new(bytes: usize) -> Self {
        let words = (bytes / size_of::<u64>()).max(2).ilog2().min(MOST_WORD_BITS);
        Self { bits: vec![0; 1 << words], shift: u64::BITS - words - u64::BITS.ilog2() }
    }

    fn place(&self, rank: u32) -> (usize, u64) {
        let place = mix(u64::from(rank)) >> self.shift;
        (usize::try_from(place / u64::from(u64::BITS)).unwrap_or(usize::MAX), 1 << (place % u64::from(u64::BITS)))
    }

    fn has(&self, rank: u32) -> bool {
        let (word, bit) = self.place(rank);
        self.bits[word] & bit != 0
    }

    /// Adds a rank; returns true if it was there.
    fn add(&mut self, rank: u32) -> bool {
        let (word, bit) = self.place(rank);
        let was_there = self.bits[word] & bit != 0;
        self.bits[word] |= bit;
        was_there
    }
}

/// The binary logarithm of the most words: there are no more ranks than 2^32.
const MOST_WORD_BITS: u32 = 26;

/// The number of files that ranks are partitioned into; each file is searched by itself.
const FILES: usize = 128;

/// The ranks that rows show, by file.
struct Postings {
    files: Vec<Option<Arc<dyn SpillFile>>>,
    spill: SpillManager,
}

impl SharedRanks {
    /// Writes the ranks that the rows show to disk, and finds those that are shared, in at most `bytes` bytes. Besides,
    /// this takes at most twice the memory of a portion.
    pub(super) async fn of(
        run: &Run,
        spilled: &Spilled,
        order: Option<&Arc<Order>>,
        bytes: usize,
        portions: Portions,
    ) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new("rank", DataType::UInt32, false)]));
        let metrics = SpillMetrics::new(&run.metrics.all, 0);
        let spill = SpillManager::new(run.context.runtime_env(), metrics, schema);
        let postings = async |side, is_left| {
            let shown = Shown::new(&run.condition, is_left, run.is_self_join());
            Postings::of(side, order, shown, spill.clone(), portions).await
        };
        let left = postings(&spilled.left, true).await?;
        let right = if run.is_self_join() { None } else { Some(postings(&spilled.right, false).await?) };
        let mut shared = Self { ranks: Ranks::new(bytes / 2), postings: 0 };
        for file in 0..FILES {
            let mut seen = Ranks::new(bytes / 2);
            let ranks = &mut shared.ranks;
            match &right {
                None => {
                    left.each(file, |rank| {
                        if seen.add(rank) {
                            ranks.add(rank);
                        }
                    })
                    .await?;
                }
                Some(right) => {
                    left.each(file, |rank| {
                        seen.add(rank);
                    })
                    .await?;
                    right
                        .each(file, |rank| {
                            if seen.has(rank) {
                                ranks.add(rank);
                            }
                        })
                        .await?;
                }
            }
        }
        for postings in [Some(left), right].into_iter().flatten() {
            for file in 0..FILES {
                postings.each(file, |rank| shared.postings += usize::from(shared.ranks.has(rank))).await?;
            }
        }
        Ok(shared)
    }

    pub(super) fn has(&self, rank: u32) -> bool {
        self.ranks.has(rank)
    }

    /// Returns the bytes of memory of the ranks.
    pub(super) fn size(&self) -> usize {
        size_of_val(self.ranks.bits.as_slice())
    }
}

impl Postings {
    async fn of(
        side: &Arc<Side>,
        order: Option<&Arc<Order>>,
        shown: Shown,
        spill: SpillManager,
        portions: Portions,
    ) -> Result<Self> {
        let mut writers = (0..FILES).map(|_| SpillWriter::try_new(&spill)).collect::<Result<Vec<_>>>()?;
        let order = order.map(Arc::clone);
        let show = Arc::new(move |batch| show(&batch, order.as_deref(), shown.clone()));
        let mut batches = side.read();
        while let Some(shown) = batches.map_portion(portions, &show).await? {
            let append = move |(file, mut writer): (usize, SpillWriter)| {
                let ranks: UInt32Array = shown.iter().flat_map(|files| &files[file]).map(|rank| Some(*rank)).collect();
                if !ranks.is_empty() {
                    writer.append(&RecordBatch::try_from_iter([("rank", Arc::new(ranks) as ArrayRef)])?)?;
                }
                Ok(writer)
            };
            writers = parallel(portions.workers, writers.into_iter().enumerate().collect(), append).await?;
        }
        Ok(Self { files: writers.into_iter().map(SpillWriter::finish).collect::<Result<_>>()?, spill })
    }

    /// Calls `each` with the ranks of a file, once for each row that shows them.
    async fn each(&self, file: usize, mut each: impl FnMut(u32)) -> Result<()> {
        let Some(file) = &self.files[file] else { return Ok(()) };
        let mut batches = self.spill.read_spill_as_stream(Arc::clone(file), None)?;
        while let Some(batch) = batches.next().await.transpose()? {
            batch.column(0).as_primitive::<UInt32Type>().values().iter().for_each(|rank| each(*rank));
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

/// Returns the ranks that the rows of a batch show, by file.
fn show(batch: &Batch, order: Option<&Order>, mut shown: Shown) -> Result<Vec<Vec<u32>>> {
    let mut prefix = Prefix::default();
    let mut files = vec![Vec::new(); FILES];
    for (row, summary) in batch.summaries(&mut shown)?.into_iter().enumerate() {
        batch.prefix(row, summary.shown, order, &mut prefix);
        // Two elements of a row may have the same rank.
        prefix.ranks.dedup();
        prefix.ranks.iter().for_each(|rank| files[*rank as usize % FILES].push(*rank));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_found_again_and_few_others() {
        for bytes in [0, 1 << 10, 1 << 14] {
            let mut ranks = Ranks::new(bytes);
            assert!(size_of_val(ranks.bits.as_slice()) <= bytes.max(16));
            assert!((0..500).filter(|rank| ranks.add(rank * 977)).count() < 500);
            assert!((0..500).all(|rank| ranks.has(rank * 977)));
            let others = (500..1000).filter(|rank| ranks.has(rank * 977)).count();
            assert!(others <= if bytes == 1 << 14 { 20 } else { 500 }, "{others}");
        }
    }
}
