use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::condition::Condition;
use super::index::{Index, Share};
use super::input::{Batches, Input};
use super::order::Order;
use super::search::{Required, Search, tasks};
use super::sets::Sets;

/// Some rows of an input.
pub(in crate::similarity_join) struct Sample {
    pub(in crate::similarity_join) schema: SchemaRef,
    pub(in crate::similarity_join) batches: Vec<RecordBatch>,
    /// How many rows there are for each row of the sample.
    pub(in crate::similarity_join) of: f64,
}

/// How many pairs of sets will show the same element, by samples of the inputs; the second is `None` where it is the first
/// again.
///
/// The pairs among the rows of the samples, times the pairs of rows there are for each of them. What is rare in all rows
/// looks as rare in a sample as what is a little less so, which makes prefixes of elements that are too frequent: the
/// estimate is several times too high rather than too low.
pub(in crate::similarity_join) async fn estimate_candidates(
    condition: Condition,
    left: (&Input, Sample),
    right: Option<(&Input, Sample)>,
) -> Result<f64> {
    let is_self_join = right.is_none();
    let scale = left.1.of * right.as_ref().map_or(left.1.of, |(_, sample)| sample.of);
    let mut batches = Batches { all: Vec::new(), left: 0 };
    for (input, sample) in std::iter::once(left).chain(right) {
        if !sample.batches.is_empty() {
            batches.all.push(input.reader(&[], 0).evaluate(&sample.schema, &sample.batches)?);
        }
        if batches.left == 0 {
            batches.left = batches.all.len();
        }
    }
    let (condition, batches) = (Arc::new(condition), Arc::new(batches));
    let sets = Arc::new(Sets::of(&batches, is_self_join, 1).await?);
    let order = Arc::new(Order::of(&sets, 1).await?);
    let index = Index::of(&sets, order, &condition, Share::ALL, 1).await?;
    let required = Required::new(&condition, &sets);
    let search = Search::new(&sets, &index, &condition, &required);
    let candidates: usize = tasks(&sets, &index).iter().map(|task| search.run(task, &mut Vec::new()).candidates).sum();
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    Ok(candidates as f64 * scale)
}
