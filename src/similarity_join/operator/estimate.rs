use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;

use super::condition::Condition;
use super::index::{Index, Share};
use super::input::{Batches, Input};
use super::order::Order;
use super::prefix::Prefixes;
use super::search::{Required, Search, tasks};
use super::sets::Sets;

/// Some rows of an input.
pub(in crate::similarity_join) struct Sample {
    /// The plan that was read, with the expressions of its set and its keys.
    pub(in crate::similarity_join) input: Input,
    pub(in crate::similarity_join) batches: Vec<RecordBatch>,
    /// The number of rows of the input for each row of the sample.
    pub(in crate::similarity_join) of: f64,
}

/// Estimates the number of pairs of sets that will show the same element, by samples of the inputs. `right` is `None`
/// if it is the left input again.
///
/// The estimate is the number of pairs among the rows of the samples, times the number of pairs of rows for each of
/// them: an order of magnitude. In a sample, the rarest elements look as rare as elements that are a little more
/// frequent. So prefixes hold elements that are too frequent, and on natural text the estimate is several times too
/// high. Elements so rare that a sample has them once are not seen at all: if there are no others, the estimate is far
/// too low.
pub(in crate::similarity_join) async fn estimate_candidates(
    condition: Condition,
    left: Sample,
    right: Option<Sample>,
) -> Result<f64> {
    let is_self_join = right.is_none();
    let scale = left.of * right.as_ref().map_or(left.of, |sample| sample.of);
    let evaluate = |sample: Sample| match sample.batches.as_slice() {
        [] => Ok(None),
        some => sample.input.reader(&[], 0).evaluate(&sample.input.plan.schema(), some).map(Some),
    };
    let left = evaluate(left)?;
    let right = right.map(evaluate).transpose()?.flatten();
    let batches = Batches { left: usize::from(left.is_some()), all: left.into_iter().chain(right).collect() };
    let (condition, batches) = (Arc::new(condition), Arc::new(batches));
    let sets = Arc::new(Sets::of(&batches, is_self_join, 1).await?);
    let order = Arc::new(Order::of(&sets, 1).await?);
    let index = Index::of(&sets, Prefixes::Found(order), &condition, Share::ALL, 1).await?;
    let required = Required::new(&condition, &sets);
    let search = Search::new(&sets, &index, &condition, &required);
    let mut candidates = 0;
    for task in tasks(&sets, &index) {
        candidates += search.count(&task);
        tokio::task::yield_now().await;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    Ok(candidates as f64 * scale)
}
