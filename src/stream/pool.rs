//! A pool of extractors, one for each batch of documents that is extracted at the same time.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use datafusion::common::runtime::SpawnedTask;
use datafusion::prelude::SessionContext;
use futures::{Stream, StreamExt};

use super::extractor::{Extracted, Extractor, Given, Stages};

/// Extractors that wait for documents.
#[derive(Clone)]
pub(crate) struct Pool {
    waiting: Arc<Mutex<Vec<Extractor>>>,
    size: usize,
}

impl Pool {
    /// Creates one extractor per session.
    pub(crate) async fn try_new(sessions: Vec<SessionContext>, stages: &Stages) -> Result<Self> {
        let mut extractors = Vec::new();
        for session in sessions {
            extractors.push(Extractor::try_new(session, stages).await?);
        }
        if extractors.iter().any(Extractor::looks_at_others) {
            bail!(
                "in a stream a document is compared by its own text alone, and this signature weighs words by how many \
                 documents have them; take shingles, sampled_shingles, characters, lines, subwords or winnow, or add \
                 files instead"
            );
        }
        Ok(Self { size: extractors.len(), waiting: Arc::new(Mutex::new(extractors)) })
    }

    /// Extracts the features of the documents in each batch, in the order of the batches. `given` returns the text and
    /// the time of an item, if it is a document.
    pub(crate) fn extract<T: Send + Sync + 'static>(
        &self,
        batches: impl Stream<Item = Result<Vec<T>>>,
        given: fn(&T) -> Option<Given<'_>>,
    ) -> impl Stream<Item = Result<Vec<(T, Option<Extracted>)>>> {
        let pool = self.clone();
        let extracted = batches.map(move |batch| {
            let pool = pool.clone();
            async move {
                let batch = batch?;
                SpawnedTask::spawn(async move { pool.of(batch, given).await })
                    .join()
                    .await
                    .context("an extractor stopped")?
            }
        });
        extracted.buffered(self.size)
    }

    async fn of<T>(&self, batch: Vec<T>, given: fn(&T) -> Option<Given<'_>>) -> Result<Vec<(T, Option<Extracted>)>> {
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let extractor = waiting().pop().context("internal error: more batches than extractors; please report it")?;
        let documents: Vec<_> = batch.iter().map(given).collect();
        let known: Vec<_> = documents.iter().flatten().copied().collect();
        let extracted = extractor.extract(&known).await?;
        waiting().push(extractor);
        let mut extracted = extracted.into_iter();
        let extracted: Vec<_> = documents.iter().map(|document| document.and_then(|_| extracted.next())).collect();
        Ok(batch.into_iter().zip(extracted).collect())
    }
}
