//! Rows on disk that are partitioned into blocks, two of which fit into memory.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;

use super::condition::{Condition, Shown};
use super::index::narrow;
use super::input::Batch;
use super::memory::Summary;
use super::order::{CLASSES, class};
use super::parallel::parallel;
use super::spill::{Portions, Side, SpillWriter, Spilled, gather};

/// The rows of both inputs, partitioned by the size of their sets, so that most blocks need not be joined with most
/// others.
pub(super) struct Blocks {
    /// The rows on disk; both sides are the same if the input was read once.
    pub(super) spilled: Spilled,
    pub(super) left: Vec<Block>,
    pub(super) right: Vec<Block>,
}

/// Rows with sets of about one size.
pub(super) struct Block {
    /// The files of the block, among those of its side.
    pub(super) files: Range<usize>,
    content: Content,
}

/// The content of a block, or of a part of one: one row or more.
#[derive(Debug, Clone, Copy)]
struct Content {
    summary: Summary,
    /// The sizes of the smallest set and of the largest one.
    smallest: usize,
    largest: usize,
}

impl Content {
    fn with(self, more: Self) -> Self {
        let mut summary = self.summary;
        summary += more.summary;
        Self { summary, smallest: self.smallest.min(more.smallest), largest: self.largest.max(more.largest) }
    }

    /// Returns the bytes of memory that the content takes, with everything that is built from it.
    fn bytes(&self) -> usize {
        self.summary.bytes + self.summary.bytes_to_find()
    }
}

impl Blocks {
    /// Partitions rows into blocks of at most so many bytes, as far as single rows allow. This takes at most twice the
    /// memory of a portion.
    pub(super) async fn of(
        spilled: &Spilled,
        condition: &Arc<Condition>,
        is_self_join: bool,
        bytes: usize,
        portions: Portions,
    ) -> Result<Self> {
        let dealt = async |side, is_left| {
            let shown = Shown::new(condition, is_left, is_self_join);
            deal(side, shown, bytes, portions).await
        };
        let (left_side, left) = dealt(&spilled.left, true).await?;
        if is_self_join {
            return Ok(Self {
                spilled: Spilled { left: Arc::clone(&left_side), right: left_side },
                left,
                right: Vec::new(),
            });
        }
        let (right_side, right) = dealt(&spilled.right, false).await?;
        Ok(Self { spilled: Spilled { left: left_side, right: right_side }, left, right })
    }

    /// Returns the blocks to join: a left and a right one, or one that is joined with itself.
    pub(crate) fn pairs(&self, condition: &Condition, is_self_join: bool) -> Vec<(&Block, Option<&Block>)> {
        let rights = if is_self_join { &self.left } else { &self.right };
        let mut pairs = Vec::new();
        for left in &self.left {
            for right in rights.iter().filter(|right| left.may_match(right, condition)) {
                let is_same = is_self_join && left.files == right.files;
                pairs.push((left, (!is_same).then_some(right)));
            }
        }
        pairs
    }

    /// Estimates how often a row is read to join some pairs.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn times_read(&self, pairs: &[(&Block, Option<&Block>)]) -> f64 {
        let rows = |block: &Block| block.content.summary.rows;
        let all: usize = self.left.iter().chain(&self.right).map(rows).sum();
        let read: usize = pairs.iter().map(|(left, right)| rows(left) + right.map_or(0, rows)).sum();
        read as f64 / all.max(1) as f64
    }
}

impl Block {
    /// Returns true if the sizes of some sets of the two blocks allow a match.
    fn may_match(&self, right: &Self, condition: &Condition) -> bool {
        let (a, b) = (&self.content, &right.content);
        // Measures grow with both sizes or as these come closer. So if any two sizes allow a match, then two ends do,
        // or two equal sizes.
        let mut sizes =
            vec![(a.smallest, b.smallest), (a.smallest, b.largest), (a.largest, b.smallest), (a.largest, b.largest)];
        let equal = a.smallest.max(b.smallest);
        if equal <= a.largest.min(b.largest) {
            sizes.push((equal, equal));
        }
        sizes.into_iter().any(|(a, b)| condition.required(a, b).is_some())
    }
}

/// The blocks of a class of sizes: those that are full, and one that is being filled.
struct Filling {
    spill: SpillManager,
    full: Vec<(Arc<dyn SpillFile>, Content)>,
    open: Option<(SpillWriter, Content)>,
}

impl Filling {
    fn new(spill: &SpillManager) -> Self {
        Self { spill: spill.clone(), full: Vec::new(), open: None }
    }

    /// Adds parts of batches, as many at once as fit into a block.
    fn fill<'a>(&mut self, parts: impl Iterator<Item = (&'a RecordBatch, &'a Part)>, bytes: usize) -> Result<()> {
        let mut parts = parts.peekable();
        while let Some((batch, first)) = parts.next() {
            let (mut rows, mut content) = (vec![(batch, &first.rows)], first.content);
            while let Some((batch, part)) = parts.next_if(|(_, next)| content.with(next.content).bytes() <= bytes) {
                rows.push((batch, &part.rows));
                content = content.with(part.content);
            }
            self.push(&rows, content, bytes)?;
        }
        Ok(())
    }

    fn push(&mut self, rows: &[(&RecordBatch, &Vec<usize>)], content: Content, bytes: usize) -> Result<()> {
        let Some(rows) = gather(rows.iter().copied())? else { return Ok(()) };
        if self.open.as_ref().is_some_and(|(_, before)| before.with(content).bytes() > bytes) {
            self.close()?;
        }
        match &mut self.open {
            Some((writer, before)) => {
                writer.append(&rows)?;
                *before = before.with(content);
            }
            none => none.insert((SpillWriter::try_new(&self.spill)?, content)).0.append(&rows)?,
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if let Some((writer, content)) = self.open.take() {
            self.full.extend(writer.finish()?.map(|file| (file, content)));
        }
        Ok(())
    }
}

async fn deal(side: &Arc<Side>, shown: Shown, bytes: usize, portions: Portions) -> Result<(Arc<Side>, Vec<Block>)> {
    let spill = side.spill.clone();
    let mut classes: Vec<Filling> = std::iter::repeat_with(|| Filling::new(&spill)).take(CLASSES).collect();
    let deal = Arc::new(move |batch| deal_batch(&batch, shown.clone(), bytes));
    let mut batches = side.read();
    while let Some(dealt) = batches.map_portion(portions, &deal).await? {
        let append = move |(class, mut filling): (usize, Filling)| {
            let parts = dealt.iter().flat_map(|batch| batch.classes[class].iter().map(|part| (&batch.rows, part)));
            filling.fill(parts, bytes)?;
            Ok(filling)
        };
        classes = parallel(portions.workers, classes.into_iter().enumerate().collect(), append).await?;
    }
    let (mut files, mut blocks) = (Vec::new(), Vec::<Block>::new());
    for mut filling in classes {
        filling.close()?;
        for (file, content) in filling.full {
            let at = files.len();
            files.push(file);
            // Small blocks are merged into the block before them.
            match blocks.last_mut().filter(|last| last.content.with(content).bytes() <= bytes) {
                Some(last) => (last.files.end, last.content) = (at + 1, last.content.with(content)),
                None => blocks.push(Block { files: at..at + 1, content }),
            }
        }
    }
    Ok((Arc::new(Side { files, spill, at: side.at, shares: Vec::new(), is_numbered: true }), blocks))
}

/// The rows of a batch by class. Each class is in parts that fit into a block.
struct Dealt {
    rows: RecordBatch,
    classes: Vec<Vec<Part>>,
}

struct Part {
    rows: Vec<usize>,
    content: Content,
}

fn deal_batch(batch: &Batch, mut shown: Shown, bytes: usize) -> Result<Dealt> {
    let mut classes: Vec<Vec<Part>> = std::iter::repeat_with(Vec::new).take(CLASSES).collect();
    for (row, summary) in batch.summaries(&mut shown)?.into_iter().enumerate() {
        if summary.shown == 0 {
            // The row matches nothing, not even itself.
            continue;
        }
        let size = summary.elements;
        let (parts, content) =
            (&mut classes[usize::from(class(narrow(size)))], Content { summary, smallest: size, largest: size });
        match parts.last_mut().filter(|part| part.content.with(content).bytes() <= bytes) {
            Some(part) => {
                part.rows.push(row);
                part.content = part.content.with(content);
            }
            None => parts.push(Part { rows: vec![row], content }),
        }
    }
    Ok(Dealt { rows: batch.to_spilled()?, classes })
}

#[cfg(test)]
mod tests {
    use ibid_udfs::similarity::{Measure, Side as Argument};

    use super::*;
    use crate::config::FilterOptions;

    #[test]
    fn blocks_may_match_where_any_two_sizes_do() {
        let block = |smallest, largest| {
            let summary = Summary { rows: 1, ..Summary::default() };
            Block { files: 0..1, content: Content { summary, smallest, largest } }
        };
        let measures = [
            (Measure::Jaccard, 0.5),
            (Measure::Dice, 0.8),
            (Measure::Cosine, 0.7),
            (Measure::Containment, 0.6),
            (Measure::Overlap, 4.0),
        ];
        let ranges = || (1..9).flat_map(|smallest| (smallest..9).map(move |largest| (smallest, largest)));
        for ((measure, threshold), left_is) in
            measures.into_iter().flat_map(|measure| [Argument::Left, Argument::Right].map(|side| (measure, side)))
        {
            let (text, filters) = (String::new(), FilterOptions::default());
            let condition = Condition { measure, threshold, left_is, text, filters, scan: None, split_rows: 0 };
            for (left, right) in ranges().flat_map(|left| ranges().map(move |right| (left, right))) {
                let any = (left.0..=left.1).any(|a| (right.0..=right.1).any(|b| condition.required(a, b).is_some()));
                let found = block(left.0, left.1).may_match(&block(right.0, right.1), &condition);
                assert_eq!(found, any, "{measure} {left:?} {right:?}");
            }
        }
    }
}
