use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};

/// Maps `items` on `workers` tasks; the results are in the order of the items. Ends soon after it is dropped, as every
/// task yields between two items.
pub(super) async fn parallel<I, T>(
    workers: usize,
    items: Vec<I>,
    map: impl Fn(I) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let workers = workers.min(items.len());
    let (map, items) = (Arc::new(map), Arc::new(Mutex::new(items.into_iter().enumerate())));
    let tasks: Vec<_> = (0..workers)
        .map(|_| {
            let (map, items) = (Arc::clone(&map), Arc::clone(&items));
            SpawnedTask::spawn(async move {
                let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
                let mut mapped = Vec::new();
                while let Some((i, item)) = next() {
                    mapped.push((i, map(item)?));
                    tokio::task::yield_now().await;
                }
                Ok::<_, DataFusionError>(mapped)
            })
        })
        .collect();
    let mut results = Vec::new();
    for task in tasks {
        results.append(&mut task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))??);
    }
    results.sort_unstable_by_key(|(i, _)| *i);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
