//! Summaries of runs, and the events while they run.

use anyhow::Result;

use super::Run;
use crate::corpus::{self, Dropped, PassedOver, Skipped};
use crate::memory::watch;
use crate::pipeline::query;
use crate::recall::Recall;
use crate::store::StoreTraffic;

/// Upper bound of the capped texts and skipped records that are listed.
pub(crate) const LISTED: usize = 10;

/// An event of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The beginning of a stage: `reading`, `writing`, or a file of `queries/`.
    Stage(&'a str),
    /// A note that is told before the run ends. The notes of the [`Summary`] have it, too.
    Note(&'a str),
}

/// The summary of a run.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.txt"), "The board approved the new ferry terminal by nine votes to two.")?;
/// # std::fs::write(folder.path().join("b.txt"), "The board approved the new ferry terminal by nine votes to two.")?;
/// let engine = ibid::Engine::new()?;
/// let found = engine.pairs(folder.path()).await?;
/// assert_eq!(found.summary().count("documents"), Some(2));
/// assert_eq!(found.summary().skipped, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Summary {
    /// Numbers by name, such as of documents, in the order in which a report has them.
    pub counts: Vec<(&'static str, u64)>,
    /// The number of texts that were too frequent to found a pair; `None` for methods that cap none.
    pub capped: Option<u64>,
    /// The number of records that reading left out, and of documents that the method left out.
    pub skipped: u64,
    /// The first thousand records that reading left out of each collection.
    pub skipped_records: Vec<Skipped>,
    /// Sentences on the records and files that reading left out or skipped.
    pub left_out: Vec<String>,
    /// Sentences on other facts about the run.
    pub notes: Vec<String>,
    /// The traffic of the engine to and from object stores, since it was made.
    pub traffic: Vec<StoreTraffic>,
    /// The seconds from the beginning of the run.
    pub seconds: f64,
    /// The bytes of memory that the process has at the end of the run, if the system tells.
    pub memory: Option<usize>,
}

impl Summary {
    /// Returns the number of this name.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
    }
}

impl Run {
    /// Returns the summary. `fate` says what happened to capped texts, if there may be some.
    pub(crate) async fn summary(
        &mut self,
        counts: Vec<(&'static str, u64)>,
        fate: Option<&str>,
        remedy_for_twins: &str,
    ) -> Result<Summary> {
        let capped = self.workspace.rows_of(query::TEXTS_CAPPED);
        if let Some(fate) = fate.filter(|_| capped > 0) {
            let note = self.describe_capped(capped, fate).await?;
            self.note_last(note);
        }
        self.note_twins(remedy_for_twins);
        Ok(self.summary_of(counts, fate.map(|_| capped)))
    }

    /// Returns the summary without looking for more notes.
    pub fn summary_of(&self, counts: Vec<(&'static str, u64)>, capped: Option<u64>) -> Summary {
        Summary {
            counts,
            capped,
            skipped: self.skipped(),
            skipped_records: self.read.iter().flat_map(|read| read.skipped.iter().cloned()).collect(),
            left_out: self.read.iter().flat_map(left_out).collect(),
            notes: self.notes.clone(),
            traffic: self.engine.stores().traffic(),
            seconds: self.began.elapsed().as_secs_f64(),
            memory: watch::taken(),
        }
    }

    /// Notes the number of documents that were not compared with themselves, and the remedy.
    pub(crate) fn note_twins(&mut self, remedy: &str) {
        let twins = self.workspace.rows_of(query::UNITS_TWINS);
        if twins > 0 {
            self.note_last(format!(
                "{} documents stand in both collections, and were not compared with themselves{remedy}",
                grouped(twins)
            ));
        }
    }

    async fn describe_capped(&self, count: u64, fate: &str) -> Result<String> {
        let sql = format!(
            "SELECT df, units, pairs_not_made, substr(text, 1, 60) AS text, example FROM capped \
             ORDER BY pairs_not_made DESC, text LIMIT {LISTED}"
        );
        let shown = self.workspace.session.sql(&sql).await?.to_string().await?;
        Ok(format!(
            "{} texts stand in more places than `max_frequency` allows: {fate}; `capped` lists them all\n{shown}",
            grouped(count)
        ))
    }
}

/// Returns sentences on what reading left out.
fn left_out(summary: &corpus::Summary) -> Vec<String> {
    let mut said: Vec<_> = summary.skipped.iter().take(LISTED).map(|skipped| format!("skipped {skipped}")).collect();
    if summary.skipped_count > LISTED as u64 {
        let count = grouped(summary.skipped_count);
        said.push(format!("… {count} skipped in all; `on_error = quarantine` keeps them"));
    }
    if summary.left_out.pages() > 0 {
        said.push(format!("left out on request: {}", summary.left_out));
    }
    if summary.left_out.records > 0 {
        said.push(format!(
            "left out: {} records of archives of the web that are no pages of text",
            grouped(summary.left_out.records)
        ));
    }
    said.extend(dropped(summary.dropped));
    said.extend(PassedOver::summarize(&summary.passed_over).map(|passed_over| format!("passed over {passed_over}")));
    said
}

/// Returns sentences on the boilerplate that was dropped from pages of HTML.
fn dropped(Dropped { pages, whole, bytes, dropped }: Dropped) -> Vec<String> {
    let mut said = Vec::new();
    if pages > 0 {
        said.push(format!(
            "dropped as boilerplate: {} of {} bytes of the text of {} pages of HTML",
            grouped(dropped),
            grouped(bytes),
            grouped(pages + whole)
        ));
    }
    if whole > 0 {
        said.push(format!("kept whole: {} pages of HTML whose main content could not be told", grouped(whole)));
    }
    said
}

/// Returns a sentence on the recall of the pairs of a sample `of` something.
pub(crate) fn describe_recall(of: &str, recall: Recall) -> String {
    format!(
        "of a sample of {of} {} of {} pairs were found: {}",
        grouped(recall.found),
        grouped(recall.pairs),
        recall.describe()
    )
}

/// Returns a number with separators of thousands.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "rounded")]
pub fn mebibytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", grouped(bytes.div_ceil(1 << 10))),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
