//! DF-22090 (open): the channels of `RepartitionExec` are unbounded as long as one consumer takes rows, so that the input of a
//! consumer that spills piles up in memory. Remove when they are bounded; test datafusion_lets_rows_wait_without_a_limit fails
//! then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::{StreamExt, stream};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::map_batches::MapBatchesExec;

/// The number of batches that may wait for each consumer.
const BATCHES: usize = 8;

/// The longest time that the input waits if no row is taken.
const LONGEST: Duration = Duration::from_secs(10);

/// Backpressure for `RepartitionExec`: its input waits while too many rows are buffered, unless no consumer takes a row for a
/// while. A consumer may need other rows before the buffered ones.
#[derive(Debug)]
pub(crate) struct RepartitionBackpressure;

impl PhysicalOptimizerRule for RepartitionBackpressure {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            // A repartition that keeps an order needs a row of each input before it outputs one.
            if plan.downcast_ref::<RepartitionExec>().is_none_or(RepartitionExec::preserve_order) {
                return Ok(Transformed::no(plan));
            }
            let parts = plan.output_partitioning().partition_count();
            let queue = Queue::of(BATCHES * parts * config.execution.batch_size.get(), LONGEST);
            paced(&plan, &queue).map(Transformed::yes)
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "repartition_backpressure"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The number of buffered rows, and its limit.
#[derive(Debug)]
struct Queue {
    rows: AtomicUsize,
    most: usize,
    longest: Duration,
    /// True if the limit does not apply any more.
    is_open: AtomicBool,
    taken: Notify,
}

impl Queue {
    fn of(most: usize, longest: Duration) -> Arc<Self> {
        let (rows, is_open, taken) = Default::default();
        Arc::new(Self { rows, most, longest, is_open, taken })
    }

    /// Waits until few rows are buffered, or the limit does not apply any more.
    async fn wait(&self) {
        loop {
            let taken = self.taken.notified();
            if self.is_open.load(Ordering::Relaxed) || self.rows.load(Ordering::Relaxed) <= self.most {
                return;
            }
            if timeout(self.longest, taken).await.is_err() {
                self.open();
            }
        }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
        self.taken.notify_waiters();
    }
}

/// A consumer of repartitioned rows. If it stops before the end, it leaves rows in the buffer, so the limit is lifted.
struct Taker {
    queue: Arc<Queue>,
    is_done: bool,
}

impl Drop for Taker {
    fn drop(&mut self) {
        if !self.is_done {
            self.queue.open();
        }
    }
}

/// Returns a repartition between two operators: one counts the rows that enter the buffer, the other the rows that
/// leave it.
fn paced(dealt: &Arc<dyn ExecutionPlan>, queue: &Arc<Queue>) -> Result<Arc<dyn ExecutionPlan>> {
    let [come, go] = [Arc::clone(queue), Arc::clone(queue)];
    let input = MapBatchesExec::over("PacedExec", Arc::clone(dealt.children()[0]), move |batches, _, _| {
        let queue = Arc::clone(&come);
        batches
            .then(move |batch| {
                let queue = Arc::clone(&queue);
                async move {
                    queue.wait().await;
                    queue.rows.fetch_add(batch.as_ref().map_or(0, RecordBatch::num_rows), Ordering::Relaxed);
                    batch
                }
            })
            .boxed()
    });
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
    let dealt = Arc::clone(dealt).replace_children(vec![input], options)?;
    Ok(MapBatchesExec::over("TakenExec", dealt, move |batches, _, _| {
        let taker = Taker { queue: Arc::clone(&go), is_done: false };
        stream::unfold((batches, taker), async |(mut batches, mut taker)| {
            let batch = batches.next().await;
            taker.is_done = batch.is_none();
            let rows = batch.as_ref().map_or(0, |batch| batch.as_ref().map_or(0, RecordBatch::num_rows));
            taker.queue.rows.fetch_sub(rows, Ordering::Relaxed);
            taker.queue.taken.notify_waiters();
            batch.map(|batch| (batch, (batches, taker)))
        })
        .boxed()
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use datafusion::execution::TaskContext;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::Partitioning;
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::pipeline::testing::{plan, rows, session_of};

    /// Creates a session with or without the rule.
    async fn session(is_paced: bool) -> SessionContext {
        let sql = "CREATE TABLE texts AS SELECT value % 97 AS key, 'text ' || (value % 501) AS text FROM range(4000)";
        session_of(is_paced.then_some(RepartitionBackpressure), &[sql]).await
    }

    #[tokio::test]
    async fn rows_that_are_dealt_at_their_pace_are_the_same() {
        let [paced, other] = [session(true).await, session(false).await];
        for sql in [
            "SELECT key, count(*), count(DISTINCT text) FROM texts GROUP BY key",
            "SELECT key, row_number() OVER (PARTITION BY key ORDER BY text) FROM texts",
            "SELECT a.key, count(*) FROM texts AS a JOIN texts AS b ON a.text = b.text GROUP BY a.key",
            "SELECT t.key, t.text FROM (SELECT key, count(*) AS n FROM texts GROUP BY key) AS k JOIN texts AS t ON k.key = t.key WHERE n > 41",
            "SELECT text FROM texts GROUP BY text ORDER BY text LIMIT 3",
            "SELECT text FROM texts GROUP BY text UNION ALL SELECT text FROM texts WHERE text IN (SELECT max(text) FROM texts GROUP BY key)",
        ] {
            let plan = plan(&paced, sql).await;
            assert!(plan.contains("PacedExec") && plan.contains("TakenExec"), "{plan}");
            assert_eq!(rows(&paced, sql).await, rows(&other, sql).await, "{sql}");
        }
    }

    /// Returns a repartition of the rows of the texts into two partitions, its queue, and its context.
    async fn dealt(most: usize, longest: Duration) -> (Arc<dyn ExecutionPlan>, Arc<Queue>, Arc<TaskContext>) {
        let session = session(false).await;
        let input = session.table("texts").await.unwrap().create_physical_plan().await.unwrap();
        let by = Partitioning::Hash(vec![col("key", &input.schema()).unwrap()], 2);
        let dealt: Arc<dyn ExecutionPlan> = Arc::new(RepartitionExec::try_new(input, by).unwrap());
        let queue = Queue::of(most, longest);
        (paced(&dealt, &queue).unwrap(), queue, session.task_ctx())
    }

    #[tokio::test]
    async fn rows_wait_for_the_one_that_is_slow() {
        let (plan, queue, context) = dealt(100, Duration::from_secs(60)).await;
        let [quick, mut slow] = [0, 1].map(|part| plan.execute(part, Arc::clone(&context)).unwrap());
        let quick = tokio::spawn(quick.count());
        let mut most = 0;
        while slow.next().await.is_some() {
            // The quick partition has nothing more to take.
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            most = most.max(queue.rows.load(Ordering::Relaxed));
        }
        assert!(quick.await.unwrap() > 100);
        // A batch of each of three inputs may come on top.
        assert!(most > 50 && most <= 121, "{most} rows wait");
        assert_eq!(queue.rows.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn rows_wait_no_longer_where_nobody_takes_them() {
        for stops in [false, true] {
            let longest = Duration::from_millis(if stops { 60_000 } else { 50 });
            let (plan, queue, context) = dealt(100, longest).await;
            let [one, other] = [0, 1].map(|part| plan.execute(part, Arc::clone(&context)).unwrap());
            let other = Some(other).filter(|_| !stops);
            let began = Instant::now();
            assert!(one.count().await > 100);
            assert!(began.elapsed() < Duration::from_secs(50) && queue.is_open.load(Ordering::Relaxed));
            assert!(match other {
                Some(other) => other.count().await > 100,
                None => true,
            });
        }
    }

    #[tokio::test]
    async fn datafusion_lets_rows_wait_without_a_limit() {
        let session = session(false).await;
        let input = session.table("texts").await.unwrap().create_physical_plan().await.unwrap();
        let by = Partitioning::Hash(vec![col("key", &input.schema()).unwrap()], 2);
        let dealt = RepartitionExec::try_new(input, by).unwrap();
        let [quick, slow] = [0, 1].map(|part| dealt.execute(part, session.task_ctx()).unwrap());
        // The slow partition is not read yet.
        let quick = timeout(Duration::from_secs(60), quick.count()).await;
        assert!(quick.is_ok_and(|batches| batches > 0) && slow.count().await > 0);
    }
}
