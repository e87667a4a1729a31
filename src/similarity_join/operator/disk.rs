//! The join of rows that do not fit into memory: in parts that do, one after the other.

use std::ops::Range;
use std::sync::Arc;

use datafusion::common::{DataFusionError, JoinSide, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryReservation};
use datafusion::physical_plan::metrics::MetricBuilder;

use super::blocks::{Block, Blocks};
use super::index::Share;
use super::memory::{MemoryPlan, Summary};
use super::order::Order;
use super::output::Marks;
use super::run::{Collected, Round, Run};
use super::shared_ranks::SharedRanks;
use super::spill::{Dealing, Portions, Spilled};

/// The state that all parts of a join have in common.
struct Disk<'a> {
    run: &'a Arc<Run>,
    plan: MemoryPlan,
    marks: Arc<Marks>,
    /// The memory that cannot be spilled any more: the order of the elements, counters, and rows that are being
    /// partitioned.
    reservation: MemoryReservation,
}

impl Run {
    pub(super) async fn join_from_disk(
        self: &Arc<Self>,
        left: Collected,
        right: Collected,
        summary: &Summary,
        marks: &Arc<Marks>,
    ) -> Result<()> {
        let spilled = Spilled { left: left.into_side().await?, right: right.into_side().await? };
        // The files of inputs whose rows the join outputs at the end are kept; other files are deleted once their rows
        // are partitioned.
        let given = marks.sides().filter(|_| self.is_last).map(|(side, matched)| {
            let rows = if side == JoinSide::Right && !self.is_self_join() { &spilled.right } else { &spilled.left };
            (side, matched, Arc::clone(rows))
        });
        let given: Vec<_> = given.collect();
        let plan = MemoryPlan::of(summary, self.context.memory_pool().memory_limit());
        let disk = Disk { run: self, plan, marks: Arc::clone(marks), reservation: reserve(self) };
        disk.join(spilled, summary, Share::ALL).await?;
        for (side, matched, rows) in given {
            let mut batches = rows.read();
            while let Some(batch) = batches.next().await? {
                self.send(self.shape.rest_of(side, &batch, matched)?).await;
            }
        }
        Ok(())
    }

    /// Joins the rows of a share.
    pub(super) async fn join_share_from_disk(
        self: &Arc<Self>,
        left: Collected,
        right: Collected,
        summary: &Summary,
        share: Share,
    ) -> Result<()> {
        let spilled = Spilled { left: left.into_side().await?, right: right.into_side().await? };
        let limit = match self.context.memory_pool().memory_limit() {
            MemoryLimit::Finite(_) => MemoryLimit::Finite(self.memory_of_part()),
            unknown => unknown,
        };
        let plan = MemoryPlan::of(summary, limit);
        let marks = Arc::new(Marks::new(self.shape.join_type, 0, 0));
        Disk { run: self, plan, marks, reservation: reserve(self) }.join(spilled, summary, share).await
    }
}

impl Disk<'_> {
    /// Joins all rows, or the rows of a share: in blocks if these are read seldom enough, else in shares.
    async fn join(&self, spilled: Spilled, summary: &Summary, within: Share) -> Result<()> {
        let plan = &self.plan;
        let portions = self.portions(plan.portion);
        self.resize(plan.counters + plan.portion)?;
        let order = match spilled.left.at.prefix {
            Some(_) => None,
            None => Some(Arc::new(Order::of_spilled(&spilled, summary.elements, plan.counters, portions).await?)),
        };
        let of_order = order.as_ref().map_or(0, |order| order.size());
        self.resize(of_order + plan.ranks + 2 * plan.portion)?;
        let shared = SharedRanks::of(self.run, &spilled, order.as_ref(), plan.ranks, portions).await?;
        // In a self-join, each row is also in one share in which it meets itself.
        let homes = if self.run.is_self_join() { summary.rows } else { 0 };
        let shares = plan.shares(summary, shared.postings + homes);
        let held = of_order + shared.size();
        if shares.are_blocks_tried() {
            let blocks = self.deal_into_blocks(&spilled, held).await?;
            let pairs = blocks.pairs(&self.run.condition, self.run.is_self_join());
            if blocks.times_read(&pairs) <= shares.times_moved() {
                drop((spilled, order, shared));
                self.resize(0)?;
                let share = (within.of > 1).then_some((within, None));
                return self.join_blocks(&blocks, pairs, share).await;
            }
        }
        self.count("shares", shares.shares);
        let dealing = Arc::new(Dealing { order, shared, within, shares: shares.shares });
        let mut rows = Some(spilled);
        for pass in shares.passes() {
            let Some(spilled) = &rows else { break };
            self.resize(held + 2 * plan.portion)?;
            let dealt = spilled.deal(self.run, &dealing, pass.clone(), portions).await?;
            self.resize(held)?;
            if pass.end == shares.shares {
                rows = None;
            }
            for (file, number) in pass.enumerate() {
                let share = within.part(number, shares.shares);
                self.join_share(&dealt.part(file), share, dealing.order.as_ref(), held).await?;
            }
        }
        Ok(())
    }

    /// Joins a share while `held` bytes are in use; in blocks if it is too large.
    async fn join_share(&self, part: &Spilled, share: Share, order: Option<&Arc<Order>>, held: usize) -> Result<()> {
        let of_share = part.of_share();
        if of_share.bytes() > self.plan.share {
            let blocks = self.deal_into_blocks(part, held).await?;
            let pairs = blocks.pairs(&self.run.condition, self.run.is_self_join());
            return self.join_blocks(&blocks, pairs, Some((share, order))).await;
        }
        let is_self_join = self.run.is_self_join();
        let round = Round { is_self_join, share, order: order.map(Arc::clone), scan: None };
        let right = (!is_self_join).then_some(0..1);
        self.join_round(part, 0..1, right, round, |summary| summary.bytes_to_join(of_share.postings)).await
    }

    /// Partitions rows into blocks while `held` bytes are in use.
    async fn deal_into_blocks(&self, spilled: &Spilled, held: usize) -> Result<Blocks> {
        // A portion may belong to one block, and the structures built from it take several times its bytes.
        let portion = self.plan.block / 12;
        self.resize(held + 2 * portion)?;
        let (condition, is_self_join) = (&self.run.condition, self.run.is_self_join());
        let blocks = Blocks::of(spilled, condition, is_self_join, self.plan.block, self.portions(portion)).await?;
        self.resize(held)?;
        Ok(blocks)
    }

    fn portions(&self, bytes: usize) -> Portions {
        Portions { bytes, workers: self.run.workers() }
    }

    /// Joins pairs of blocks, on all elements or on a share of them.
    async fn join_blocks(
        &self,
        blocks: &Blocks,
        pairs: Vec<(&Block, Option<&Block>)>,
        share: Option<(Share, Option<&Arc<Order>>)>,
    ) -> Result<()> {
        self.count("blocks", blocks.left.len() + blocks.right.len());
        self.count("pairs_of_blocks", pairs.len());
        for (left, right) in pairs {
            let (share, order) = share.map_or((Share::ALL, None), |(share, order)| (share, order.map(Arc::clone)));
            let is_self_join = right.is_none();
            let round = Round { is_self_join, share, order, scan: None };
            let (left, right) = (left.files.clone(), right.map(|right| right.files.clone()));
            self.join_round(&blocks.spilled, left, right, round, Summary::bytes_to_find).await?;
        }
        Ok(())
    }

    /// Reads the rows of some files of the left side and of the right side, and joins them. `to_find` returns the bytes
    /// of memory that it takes to find the pairs.
    async fn join_round(
        &self,
        spilled: &Spilled,
        left: Range<usize>,
        right: Option<Range<usize>>,
        round: Round,
        to_find: impl Fn(&Summary) -> usize,
    ) -> Result<()> {
        let reservation = reserve(self.run);
        let too_much = |error| too_little("needs a part of the rows in memory", &error);
        let batch_size = self.run.context.session_config().batch_size();
        let read = |bytes| reservation.try_grow(bytes).map_err(too_much);
        let batches = spilled.load(left, right, batch_size, read).await?;
        let summary = batches.summary(&self.run.condition, round.is_self_join)?;
        reservation.try_resize(summary.bytes + to_find(&summary)).map_err(too_much)?;
        let joining = self.run.index(batches, round, &reservation).await?;
        self.run.search(joining, &self.marks).await
    }

    fn resize(&self, bytes: usize) -> Result<()> {
        let resized = self.reservation.try_resize(bytes + self.marks.bytes());
        resized.map_err(|error| too_little(&format!("needs {bytes} bytes to deal rows"), &error))
    }

    fn count(&self, metric: &'static str, more: usize) {
        MetricBuilder::new(&self.run.metrics.all).counter(metric, 0).add(more);
    }
}

fn reserve(run: &Run) -> MemoryReservation {
    MemoryConsumer::new("SimilarityJoin").register(run.context.memory_pool())
}

fn too_little(what: &str, error: &DataFusionError) -> DataFusionError {
    DataFusionError::ResourcesExhausted(format!(
        "a similarity join {what}: raise the memory limit (`memory`, or datafusion.runtime.memory_limit); {}",
        error.strip_backtrace()
    ))
}
