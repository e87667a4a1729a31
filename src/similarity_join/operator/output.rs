use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, new_null_array};
use datafusion::arrow::compute::{filter_record_batch, interleave};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{JoinSide, JoinType, Result};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};

use super::input::{Batch, Batches};
use super::search::Pair;
use super::sets::{Row, Sets};
use super::work::Piece;

/// The approximate number of pairs of rows of a pair of sets that one worker takes at most, some tenths of a second of
/// work.
const PIECE: usize = 1 << 22;

/// The number of left rows that are processed in some milliseconds.
const STEPS: usize = 1 << 20;

/// The parameters by which pairs of rows become the output.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) join_type: JoinType,
    pub(super) schema: SchemaRef,
    /// The columns of the output, as columns of the batches that are kept.
    pub(super) columns: Vec<ColumnIndex>,
    /// The rest of the join's condition, over columns of the batches that are kept.
    pub(super) filter: Option<JoinFilter>,
    pub(super) batch_size: usize,
}

impl Shape {
    /// Returns true if the join gives pairs of rows, and not only rows of its left input.
    fn gives_pairs(&self) -> bool {
        !matches!(self.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
    }

    /// Returns the rows of a batch of one input that the join outputs at the end: for a semi join the rows with a
    /// partner, else the rows without one, with NULLs in place of the other input.
    pub(super) fn rest_of(&self, side: JoinSide, all: &Batch, matched: &Matched) -> Result<RecordBatch> {
        let wanted = self.join_type == JoinType::LeftSemi;
        let rows = all.rows.num_rows();
        let is_wanted: BooleanArray = (0..rows).map(|row| Some(matched.is_set(all.number(row)) == wanted)).collect();
        let columns = self.columns.iter().zip(self.schema.fields()).map(|(column, field)| match column.side == side {
            true => Arc::clone(all.rows.column(column.index)),
            false => new_null_array(field.data_type(), rows),
        });
        Ok(filter_record_batch(&batch(&self.schema, columns.collect(), rows)?, &is_wanted)?)
    }
}

/// The rows that have a partner, for each input whose rows the join outputs at the end.
#[derive(Debug)]
pub(super) struct Marks {
    left: Option<Matched>,
    right: Option<Matched>,
}

impl Marks {
    /// Creates the marks of a join of so many rows; no row has a partner yet.
    pub(super) fn new(join_type: JoinType, left: usize, right: usize) -> Self {
        let is_left_given =
            matches!(join_type, JoinType::Left | JoinType::Full | JoinType::LeftSemi | JoinType::LeftAnti);
        let is_right_given = matches!(join_type, JoinType::Right | JoinType::Full);
        Self { left: is_left_given.then(|| Matched::new(left)), right: is_right_given.then(|| Matched::new(right)) }
    }

    /// Returns the bytes of memory of the marks.
    pub(super) fn bytes(&self) -> usize {
        self.sides().map(|(_, matched)| size_of_val(matched.bits.as_slice())).sum()
    }

    /// Returns the inputs that have marks.
    pub(super) fn sides(&self) -> impl Iterator<Item = (JoinSide, &Matched)> {
        let left = self.left.iter().map(|matched| (JoinSide::Left, matched));
        left.chain(self.right.iter().map(|matched| (JoinSide::Right, matched)))
    }
}

/// The rows of an input that have a partner.
#[derive(Debug)]
pub(super) struct Matched {
    bits: Vec<AtomicU64>,
}

impl Matched {
    fn new(rows: usize) -> Self {
        Self { bits: std::iter::repeat_with(AtomicU64::default).take(rows.div_ceil(64)).collect() }
    }

    fn set(&self, row: usize) {
        self.bits[row / 64].fetch_or(1 << (row % 64), Ordering::Relaxed);
    }

    /// Marks rows that have the same set, and so are always marked together. Returns the number of steps it took.
    fn set_all(&self, mut rows: impl Iterator<Item = usize>) -> usize {
        match rows.next() {
            Some(first) if !self.is_set(first) => {
                let rest = rows.map(|row| self.set(row)).count();
                self.set(first);
                rest + 1
            }
            _ => 1,
        }
    }

    fn is_set(&self, row: usize) -> bool {
        self.bits[row / 64].load(Ordering::Relaxed) & 1 << (row % 64) != 0
    }
}

/// Pairs of sets that are being turned into batches of rows.
#[derive(Debug)]
pub(super) struct Output {
    shape: Arc<Shape>,
    pairs: Vec<Pair>,
    /// The next pair of `pairs`, and the next pair of rows of it.
    next: (usize, usize, usize),
    /// The end of the left rows, if only a piece of a pair is wanted.
    end: Option<usize>,
    lefts: Vec<Row>,
    rights: Vec<Row>,
}

impl Output {
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        Self { shape, pairs: Vec::new(), next: (0, 0, 0), end: None, lefts: Vec::new(), rights: Vec::new() }
    }

    /// Returns the emptied list, to which the next pairs are added once all of the last ones are taken.
    pub(super) fn refill(&mut self) -> &mut Vec<Pair> {
        self.pairs.clear();
        (self.next, self.end) = ((0, 0, 0), None);
        &mut self.pairs
    }

    /// Starts a piece of a pair, once all of the last pairs are taken.
    pub(super) fn start(&mut self, piece: Piece) {
        self.refill().push(piece.pair);
        (self.next.1, self.end) = (piece.lefts.start, Some(piece.lefts.end));
    }

    /// Takes pairs of rows until there are enough for a batch, or it took long. Returns false if there are no more
    /// pairs. Pairs of sets with too many rows for one worker are passed to `share` instead, in pieces.
    pub(super) fn take(&mut self, sets: &Sets, batches: &Batches, marks: &Marks, share: impl Fn(Piece)) -> bool {
        let mut steps = 0;
        // A row of a semi or an anti join that has a partner needs no other.
        let partnered = marks.left.as_ref().filter(|_| !self.shape.gives_pairs());
        while let Some(&(left, right)) = self.pairs.get(self.next.0) {
            let (lefts, rights) = (sets.members(left), sets.members(right));
            if let Some(matched) = partnered.filter(|_| self.shape.filter.is_none()) {
                steps += matched.set_all(lefts.iter().map(|left| batches.number(*left)));
                self.next.0 += 1;
                if steps > STEPS {
                    return true;
                }
                continue;
            }
            if self.end.is_none() && lefts.len().saturating_mul(rights.len()) > PIECE {
                let rows = (PIECE / rights.len()).max(1);
                for start in (0..lefts.len()).step_by(rows) {
                    share(Piece { pair: (left, right), lefts: start..lefts.len().min(start + rows) });
                }
                self.next.0 += 1;
                continue;
            }
            let lefts = &lefts[..self.end.unwrap_or(lefts.len())];
            while let Some(&left) = lefts.get(self.next.1) {
                steps += 1;
                if steps > STEPS {
                    return true;
                }
                let done = partnered.is_some_and(|matched| matched.is_set(batches.number(left)));
                while let Some(&right) = rights.get(self.next.2).filter(|_| !done) {
                    if self.lefts.len() == self.shape.batch_size {
                        return true;
                    }
                    self.next.2 += 1;
                    self.lefts.push(left);
                    self.rights.push(right);
                }
                (self.next.1, self.next.2) = (self.next.1 + 1, 0);
            }
            (self.next.0, self.next.1) = (self.next.0 + 1, 0);
        }
        self.lefts.len() == self.shape.batch_size
    }

    /// Marks the rows of the pairs that were taken, if the rest of the condition holds for them. Returns these pairs as
    /// a batch, unless the join outputs no pairs.
    pub(super) fn flush(&mut self, batches: &Batches, marks: &Marks) -> Result<Option<RecordBatch>> {
        if self.lefts.is_empty() {
            return Ok(None);
        }
        if let Some(filter) = &self.shape.filter {
            let columns = self.columns(batches, filter.column_indices())?;
            let candidates = batch(filter.schema(), columns, self.lefts.len())?;
            let holds = filter.expression().evaluate(&candidates)?.into_array(candidates.num_rows())?;
            let holds = as_boolean_array(&holds)?;
            let keep: BooleanArray = (0..holds.len()).map(|i| Some(holds.is_valid(i) && holds.value(i))).collect();
            let mut kept = keep.values().iter();
            self.lefts.retain(|_| kept.next().unwrap_or(false));
            let mut kept = keep.values().iter();
            self.rights.retain(|_| kept.next().unwrap_or(false));
        }
        for (side, matched) in marks.sides() {
            let rows = if side == JoinSide::Right { &self.rights } else { &self.lefts };
            rows.iter().for_each(|&row| matched.set(batches.number(row)));
        }
        let out = match self.lefts.is_empty() || !self.shape.gives_pairs() {
            true => None,
            false => {
                let columns = self.columns(batches, &self.shape.columns)?;
                Some(batch(&self.shape.schema, columns, self.lefts.len())?)
            }
        };
        self.lefts.clear();
        self.rights.clear();
        Ok(out)
    }

    fn columns(&self, batches: &Batches, columns: &[ColumnIndex]) -> Result<Vec<ArrayRef>> {
        let (lefts, rights) = (Places::of(&self.lefts), Places::of(&self.rights));
        let of = |column: &ColumnIndex| {
            let places = if column.side == JoinSide::Right { &rights } else { &lefts };
            let values =
                places.batches.iter().map(|&batch| batches.all[batch as usize].rows.column(column.index).as_ref());
            Ok(interleave(&values.collect::<Vec<_>>(), &places.rows)?)
        };
        columns.iter().map(of).collect()
    }
}

/// Where rows are: the batches that have any of them, and for each row the place of its batch in that list, and its
/// place in the batch.
struct Places {
    batches: Vec<u32>,
    rows: Vec<(usize, usize)>,
}

impl Places {
    /// Finds the places of rows. There may be many more batches than rows, if one set is so long that batches have a few
    /// rows.
    fn of(rows: &[Row]) -> Self {
        let mut batches: Vec<_> = rows.iter().map(|row| row.batch).collect();
        batches.sort_unstable();
        batches.dedup();
        let place = |row: &Row| (batches.partition_point(|batch| *batch < row.batch), row.row as usize);
        let rows = rows.iter().map(place).collect();
        Self { batches, rows }
    }
}

fn batch(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each batch of the output was once made of all batches of the input, which took most of the time where one set
    /// was so long that batches had four rows.
    #[test]
    fn rows_are_taken_from_the_batches_that_have_them_and_no_others() {
        let rows = [(900, 7), (5, 0), (900, 2)].map(|(batch, row)| Row { batch, row });
        let places = Places::of(&rows);
        assert_eq!((places.batches, places.rows), (vec![5, 900], vec![(1, 7), (0, 0), (1, 2)]));
    }
}
