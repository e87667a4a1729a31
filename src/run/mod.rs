//! A run of a method: the collections that it reads, the stages that it runs, the results that it writes, and its
//! summary.

mod collections;
mod corpus_parts;
mod method;
mod results;
mod script;
mod summary;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use datafusion::dataframe::DataFrame;
use datafusion::prelude::SessionContext;
use serde_json::{Value, json};

pub(crate) use self::collections::{Compared, check_boilerplate, check_pages, corpus_folder};
pub(crate) use self::method::{BYTES_OF_PAIR, FEWER_PLACES, Method, Texts, twins};
pub(crate) use self::script::{ignored_statements, read_first, script, shown};
pub use self::summary::{Event, Summary, grouped, mebibytes};
pub(crate) use self::summary::{LISTED, describe_recall};
use crate::corpus::{self, UserColumn};
use crate::engine::Engine;
use crate::error::OverLimit;
use crate::index::stored::check_folder;
use crate::pipeline::query::{self, Parameters, Query};
use crate::pipeline::{StageCache, Workspace};
use crate::recall::Recall;
use crate::session;

/// A callback for the events of a run.
pub(crate) type OnEvent = Arc<dyn Fn(Event<'_>) + Send + Sync>;

/// The settings of a run of any method.
#[derive(Clone)]
pub struct Settings {
    /// The folder for the tables that the run makes, with those that earlier runs made.
    pub resume: Option<PathBuf>,
    /// The callback for events.
    pub on_event: OnEvent,
}

impl Default for Settings {
    fn default() -> Self {
        Self { resume: None, on_event: Arc::new(|_| ()) }
    }
}

/// A method that is under way.
pub struct Run {
    /// The session, with the tables that the run makes.
    pub workspace: Workspace,
    /// The engine that it runs in.
    pub engine: Engine,
    settings: Settings,
    began: Instant,
    /// The summaries of reading.
    read: Vec<corpus::Summary>,
    /// The columns of the collection, as they are in the files that were read.
    user_columns: Vec<UserColumn>,
    /// The number of documents that a method left out.
    left_out: u64,
    /// The seals and counts of the tables of the collections.
    contents: Vec<Value>,
    /// The notes so far.
    notes: Vec<String>,
    /// The method that makes the results, and its counts, for those who read the results later.
    method: Option<(&'static str, Value)>,
}

impl Run {
    /// Begins a run.
    pub fn begin(engine: &Engine, settings: Settings) -> Result<Self> {
        let on_event = Arc::clone(&settings.on_event);
        let on_stage = Box::new(move |file| on_event(Event::Stage(file)));
        let mut workspace = Workspace::try_new(engine.scratch(), engine.new_session()?, on_stage)?;
        // Sorting takes longer, and the memory of a machine is enough for most joins.
        workspace.hashes_rows = engine.given_memory().is_none();
        if engine.is_on_cluster() {
            workspace.finished = engine.shared_tables(settings.resume.as_deref(), &workspace.session)?;
        } else if let Some(folder) = &settings.resume {
            workspace.finished = Some(StageCache::at(folder, engine.stores())?);
            check_folder(folder, engine.stores()).context("cannot keep tables there with `resume`")?;
        }
        Ok(Self {
            workspace,
            engine: engine.clone(),
            settings,
            began: Instant::now(),
            read: Vec::new(),
            user_columns: Vec::new(),
            left_out: 0,
            contents: Vec::new(),
            notes: Vec::new(),
            method: None,
        })
    }

    /// Begins the same run once more. The new run keeps the start time, the summaries of reading, and the notes.
    pub(crate) fn again(&self) -> Result<Self> {
        let mut run = Self::begin(&self.engine, self.settings.clone())?;
        (run.began, run.read, run.notes) = (self.began, self.read.clone(), self.notes.clone());
        Ok(run)
    }

    pub(crate) fn tell(&self, event: Event<'_>) {
        (self.settings.on_event)(event);
    }

    /// Tells a note at once, and keeps it for the summary.
    pub(crate) fn note(&mut self, text: String) {
        self.tell(Event::Note(&text));
        self.notes.push(text);
    }

    /// Keeps a note for the summary.
    pub(crate) fn note_last(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Returns the description of a result: the version of ibid, the method with its counts, the parameters, and the
    /// inputs.
    pub(crate) fn about(&self) -> Value {
        self.about_with(&self.workspace.parameters)
    }

    /// Returns the description with other parameters.
    pub fn about_with(&self, parameters: &Parameters) -> Value {
        let mut about = json!({ "ibid": env!("CARGO_PKG_VERSION") });
        if let Some((method, counts)) = &self.method {
            about["method"] = json!(method);
            about["counts"] = counts.clone();
        }
        about["parameters"] = parameters.to_json();
        about["inputs"] = json!(self.contents);
        about
    }

    /// Notes the method that has run, and its counts.
    pub(crate) fn note_method(&mut self, method: &'static str, summary: &Summary) {
        let capped = summary.capped.map(|capped| ("capped", capped));
        let counts = summary.counts.iter().copied().chain(capped).chain([("skipped", summary.skipped)]);
        self.method = Some((method, counts.map(|(name, count)| (name.to_owned(), json!(count))).collect()));
    }

    /// Fails if there would be more than `most` pairs, by the query that estimates them.
    pub(crate) async fn refuse_more_pairs(&mut self, estimate: Query, most: u64, remedy: &str) -> Result<()> {
        let [pairs] = self.numbers(estimate).await?;
        if pairs > most {
            return Err(anyhow::Error::new(OverLimit(format!(
                "this would make {} pairs of places, more than `max_pairs` {most}: {remedy}; or raise `max_pairs`, if there is \
                 memory for some {BYTES_OF_PAIR} bytes a pair",
                grouped(pairs)
            ))));
        }
        Ok(())
    }

    /// Returns the rows of a query.
    pub(crate) async fn rows(&mut self, query: Query) -> Result<DataFrame> {
        self.workspace.run_all(&[query]).await?.context("it is a query")
    }

    /// Returns the numbers in the BIGINT columns of a query of one row.
    pub(crate) async fn numbers<const N: usize>(&mut self, query: Query) -> Result<[u64; N]> {
        let rows = self.rows(query).await?;
        let rows = rows.collect().await.with_context(|| format!("in queries/{}", query.file))?;
        let number = |i: usize| {
            let number = rows.first().map_or(0, |row| row.column(i).as_primitive::<Int64Type>().value(0));
            u64::try_from(number).unwrap_or(u64::MAX)
        };
        Ok(std::array::from_fn(number))
    }

    /// Returns the rows of a query as a table for people.
    pub(crate) async fn shown(&mut self, query: Query) -> Result<String> {
        let shown = self.rows(query).await?.to_string().await.with_context(|| format!("in queries/{}", query.file))?;
        // A table without rows has no columns, either.
        Ok(if shown.starts_with("++") { "none".to_string() } else { shown })
    }

    /// Notes the number of rows of a query, if there are any, with a text and the first rows. Returns the number.
    pub(crate) async fn list(&mut self, query: Query, what: &str) -> Result<u64> {
        let rows = self.rows(query).await?;
        let count = rows.clone().count().await.with_context(|| format!("in queries/{}", query.file))?;
        if count > 0 {
            let shown = rows.limit(0, Some(LISTED))?.to_string().await?;
            self.note(format!("{} {what}\n{shown}", grouped(count as u64)));
        }
        Ok(count as u64)
    }

    /// Returns the recall of the pairs in the table `sampled`. `is_all` means that the sample is everything.
    pub(crate) async fn recall(&mut self, is_all: bool) -> Result<Recall> {
        Ok(Recall::of_sums(self.numbers(query::CERTIFICATE_RECALL).await?, is_all))
    }

    /// Returns the numbers of rows of a table of the collection, and of the same table of the other collection.
    pub(crate) async fn count(&self, table: &str) -> Result<[u64; 2]> {
        let session = &self.workspace.session;
        let other = session.table(format!("against_{table}")).await?.count().await?;
        Ok([session.table(table).await?.count().await? as u64, other as u64])
    }

    /// Returns the number of records that reading left out, and of documents that a method left out.
    pub(crate) fn skipped(&self) -> u64 {
        self.read.iter().map(|summary| summary.skipped_count).sum::<u64>() + self.left_out
    }

    /// Counts documents that a method leaves out, and lists.
    pub(crate) fn leave_out(&mut self, documents: u64) {
        self.left_out += documents;
    }

    /// Makes a session of one thread, with the limits of the run and no tables.
    pub(crate) fn session_of_one_thread(&self) -> Result<SessionContext> {
        let shared = &self.workspace.session;
        Ok(session(shared.copied_config().with_target_partitions(1), shared.runtime_env())?)
    }

    /// Returns the columns of the collection, as they are in the files that were read. A stored collection has none.
    pub(crate) fn user_columns(&self) -> &[UserColumn] {
        &self.user_columns
    }

    /// Counts more records that were left out.
    pub fn skip(&mut self, summary: corpus::Summary) {
        self.read.push(summary);
    }

    /// Returns true if something was read that is not a corpus.
    pub(crate) fn has_read(&self) -> bool {
        !self.read.is_empty()
    }

    /// Returns the capped texts.
    pub(crate) async fn capped(&self) -> Result<DataFrame> {
        Ok(self.workspace.session.sql("SELECT * FROM capped ORDER BY pairs_not_made DESC, text").await?)
    }
}
