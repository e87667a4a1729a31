//! Corpora that the machines of a cluster make, each machine a part at a time.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::runtime::SpawnedTask;
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
use crate::store::{Location, Stores};

/// Upper bound of the bytes of the file names that are sent with one plan.
const MOST_SENT: usize = 8 << 20;

impl Run {
    /// Makes a corpus of files on a cluster, as an index with a part for each portion of the files. The new parts
    /// replace those of the index. Returns `None` if this process has to read the files: it has no cluster, machines do
    /// not reach the files or the folder, or bad records go to a file.
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
        let index = open(folder, &place, self.engine.stores())?;
        let prefix = format!("{:08}-{:08x}", index.manifest().number + 1, RandomState::new().hash_one(inputs) >> 32);
        let made = async {
            let mut ingested = Ingested::none(selection.summary(&reading.on_error)?);
            let folder = place.as_prefix().join(PARTS).as_prefix().to_string();
            let mut parts = self.read_portions(&portions, &folder, &prefix).await?;
            parts.iter().for_each(|part| ingested.add(&part.ingested));
            ingested.check()?;
            parts.retain(|part| part.written.is_some());
            let corpora = parts.iter().filter_map(|part| part.written.clone());
            let next = index.of_corpora(corpora, inputs, reading);
            self.check_parts(&next, &portions, &parts).await?;
            anyhow::Ok((ingested, next))
        };
        let made = made.await;
        // Tasks that ran twice have written more than the parts that count.
        let tidy = |kept: &Index| {
            if let Err(error) = kept.remove_others(&prefix) {
                log::warn!(
                    "cannot remove the unused parts that the run wrote below {place}; ibid gc removes them later: \
                     {error:#}"
                );
            }
        };
        let (ingested, next) = made.inspect_err(|_| tidy(&index))?;
        // If this fails, it is unknown if the manifest is there, and nothing is removed.
        let is_next = index.is_newest()? && index.replace(next.manifest())?;
        tidy(if is_next { &next } else { &index });
        if !is_next {
            bail!("another run has written {place} meanwhile; run it again");
        }
        Ok(Some(ingested))
    }

    /// Returns the parts that machines have made from portions, in their order.
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

    /// Fails if an index of these parts, each from one of the portions, cannot be read or has an id twice.
    async fn check_parts(&mut self, index: &Index, portions: &[Portion], parts: &[CorpusPart]) -> Result<()> {
        let needed = Needed::DocumentsAndSentences;
        index.check(needed)?;
        let session = self.workspace.session.clone();
        let documents = |index: &Index| anyhow::Ok(Arc::new(index.table("documents", &session.state())?));
        let all = documents(index)?;
        if parts.iter().all(|part| part.makes_ids) {
            return Ok(());
        }
        session.register_table("documents", all)?;
        let repeated = self.workspace.run_all(&[query::CORPUS_REPEATED_ID]).await?.context("it gives no rows")?;
        let repeated = repeated.collect().await?;
        session.deregister_table("documents")?;
        let Some(rows) = repeated.iter().find(|rows| rows.num_rows() > 0) else { return Ok(()) };
        let ids = cast(rows.column(0), &DataType::Utf8)?;
        let id = ids.as_string::<i32>().value(0);
        let mut with_id: Option<Portion> = None;
        for (at, part) in parts.iter().enumerate() {
            let part_alone = session.read_table(documents(&index.with_part(at))?)?;
            if part_alone.filter(col("doc_id").eq(lit(id)))?.count().await? == 0 {
                continue;
            }
            let portion = portions[usize::try_from(part.portion)?].clone();
            let Some(first) = with_id.replace(portion.clone()) else { continue };
            // A reader of the two portions says where the id is in their files.
            let (both, stores) = (first.with(portion), Arc::clone(self.engine.stores()));
            let read = move || both.open(None, &stores)?.try_for_each(|batch| anyhow::Ok(batch.map(drop)?));
            SpawnedTask::spawn_blocking(read).join().await??;
        }
        bail!("the id {id:?} stands twice; run it again")
    }
}

/// Opens the index that a corpus will be. Fails if documents were added to it.
fn open(folder: &Path, place: &Location, stores: &Arc<Stores>) -> Result<Index> {
    let failed = || format!("cannot write the corpus {place}; a cluster writes a corpus as an index");
    let index = index_to_add(folder, stores).with_context(failed)?;
    let manifest = index.manifest();
    if manifest.time_column.is_some() || manifest.parts.iter().any(|part| part.number != manifest.number) {
        bail!("{place} is an index that documents were added to: name another folder");
    }
    Ok(index)
}
