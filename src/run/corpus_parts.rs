//! Corpora that the machines of a cluster make, each machine a part at a time.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::physical_plan::collect;
use datafusion::prelude::{col, lit};
use prost::Message;

use super::Run;
use crate::cluster::{ClusterExec, CorpusPart, IngestExec, cluster_of};
use crate::corpus::ingest::{Ingested, Needed};
use crate::corpus::{self, OnError, Portion, Selection};
use crate::export::layout::PARTS;
use crate::index::Index;
use crate::index::stored::index_to_add;
use crate::pipeline::query;
use crate::seal::Written;
use crate::store::Location;

/// The most bytes of the names of files that are sent with one plan.
const MOST_SENT: usize = 8 << 20;

impl Run {
    /// Has the machines of a cluster make a corpus of files, as an index with a part of each portion of them. It takes the place of the
    /// parts that the index has. Returns `None` where this process has to read them: it has no cluster, machines do not reach the
    /// files or the folder, or bad records go to a file.
    pub(crate) async fn ingest_on_cluster(
        &mut self,
        selection: &Selection,
        reading: &corpus::Options,
        inputs: &[String],
        folder: &Path,
    ) -> Result<Option<Ingested>> {
        let config = self.workspace.session.copied_config();
        if cluster_of(&config).is_none() || matches!(reading.on_error, OnError::Quarantine(_)) {
            return Ok(None);
        }
        let place = Location::of_path(folder, self.engine.stores())?.filter(|place| !place.has_key());
        let portions = selection.portions(reading, config.target_partitions());
        let Some((place, portions)) = place.zip(portions) else { return Ok(None) };
        let failed = || format!("cannot write the corpus {place}, which is an index where a cluster makes it");
        let index = index_to_add(folder, self.engine.stores()).with_context(failed)?;
        let prefix = format!("{:08}-{:08x}", index.manifest().number + 1, RandomState::new().hash_one(inputs) >> 32);
        let ingested = Ingested::none(selection.summary(&reading.on_error)?);
        let parts = place.as_prefix().join(PARTS).as_prefix().to_string();
        let made = async {
            let parts = self.read_portions(&portions, &parts, &prefix).await?;
            self.become_parts(&index, &portions, parts, ingested, |parts| index.of_corpora(parts, inputs, reading))
                .await
        };
        let made = made.await;
        // Tasks that ran twice have written more than counts.
        let kept = made.as_ref().map_or(&index, |(_, next)| next);
        if let Err(error) = kept.remove_others(&prefix) {
            log::warn!(
                "what the run has written below {place} and does not count stays, and ibid gc removes it: {error:#}"
            );
        }
        made.map(|(ingested, _)| Some(ingested))
    }

    /// Replaces the parts of an index by those that were made of portions, once they are checked. Returns the index then.
    async fn become_parts(
        &mut self,
        index: &Index,
        portions: &[Portion],
        mut parts: Vec<CorpusPart>,
        mut ingested: Ingested,
        of_corpora: impl FnOnce(Vec<(String, [Written; 2])>) -> Index,
    ) -> Result<(Ingested, Index)> {
        parts.iter().for_each(|part| ingested.add(&part.ingested));
        ingested.check()?;
        parts.retain(|part| part.written.is_some());
        let makes_ids = parts.iter().all(|part| part.makes_ids);
        let places: Vec<_> = parts.iter().map(|part| part.portion).collect();
        let next = of_corpora(parts.into_iter().filter_map(|part| part.written).collect());
        if !makes_ids {
            self.check_ids(&next, portions, &places).await?;
        }
        if !index.replace(next.manifest())? {
            bail!("another run has written {} meanwhile; run it again", index.folder().display());
        }
        Ok((ingested, next))
    }

    /// Returns what machines have made of portions, in their order.
    async fn read_portions(&self, portions: &[Portion], folder: &str, prefix: &str) -> Result<Vec<CorpusPart>> {
        let context = self.workspace.session.task_ctx();
        let cluster = cluster_of(context.session_config()).context("the cluster is gone")?;
        let mut parts = Vec::new();
        let mut from = 0;
        while from < portions.len() {
            let mut bytes = 0;
            let fit = portions[from..].iter().take_while(|portion| {
                bytes += portion.encoded_len();
                bytes <= MOST_SENT
            });
            let to = from + fit.count().max(1);
            let read = IngestExec::of_portions(&portions[from..to], from as u64, folder, prefix)?;
            let sent = ClusterExec::new(Arc::new(read), Arc::clone(&cluster));
            for rows in collect(Arc::new(sent), Arc::clone(&context)).await? {
                parts.extend(CorpusPart::of_rows(&rows)?);
            }
            from = to;
        }
        parts.sort_by_key(|part| part.portion);
        if parts.len() != portions.len() {
            bail!("the cluster has read {} of {} portions of files; run it again", parts.len(), portions.len());
        }
        Ok(parts)
    }

    /// Fails where an id stands in two parts of an index, each of which was made of one of the portions: which ones is in `places`.
    async fn check_ids(&mut self, index: &Index, portions: &[Portion], places: &[u64]) -> Result<()> {
        let session = self.workspace.session.clone();
        let documents = |index: &Index| anyhow::Ok(Arc::new(index.table("documents", &session.state())?));
        session.register_table(Needed::Documents.tables()[0], documents(index)?)?;
        let repeated = self.workspace.run_all(&[query::CORPUS_REPEATED_ID]).await?.context("it gives no rows")?;
        let repeated = repeated.collect().await?;
        session.deregister_table(Needed::Documents.tables()[0])?;
        let Some(rows) = repeated.iter().find(|rows| rows.num_rows() > 0) else { return Ok(()) };
        let ids = cast(rows.column(0), &DataType::Utf8)?;
        let id = ids.as_string::<i32>().value(0);
        let mut with_id: Option<Portion> = None;
        for (at, place) in places.iter().enumerate() {
            let part = session.read_table(documents(&index.with_part(at))?)?;
            if part.filter(col("doc_id").eq(lit(id)))?.count().await? > 0 {
                let portion = portions[usize::try_from(*place)?].clone();
                with_id = Some(with_id.map_or_else(|| portion.clone(), |others| others.with(portion.clone())));
            }
        }
        // Where it stands in the files is what their reader says.
        let stores = Arc::clone(self.engine.stores());
        let with_id = with_id.context("an id that stands twice stands nowhere")?;
        let documents = tokio::task::spawn_blocking(move || with_id.open(&stores)).await??;
        tokio::task::spawn_blocking(move || documents.into_iter().try_for_each(|batch| batch.map(drop))).await??;
        bail!("the id {id:?} stands twice; run it again")
    }
}
