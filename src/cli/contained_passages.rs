//! `ibid containment --passages`: where the sentences stand that a document shares with what contains it.

use anyhow::{Result, bail};
use clap::Args;

use super::options::OutputOptions;
use super::run::{LISTED, Run, grouped};
use crate::export::Format;
use crate::pipeline::query::{self, Parameters, Query};

/// Whether passages are asked for, and how many.
#[derive(Debug, Args)]
pub(super) struct PassageOptions {
    /// Say where the shared sentences stand: one more column, passages, with a struct for each run of them
    #[arg(long)]
    passages: bool,
    /// For --passages: a sentence that two documents share in more pairs of places than this starts no passage of them: it is
    /// counted as capped, and only carries on those that others start [default: 1000]
    #[arg(long, value_name = "N", requires = "passages", value_parser = clap::value_parser!(u32).range(1..))]
    max_frequency: Option<u32>,
}

impl PassageOptions {
    pub(super) fn set(&self, parameters: &mut Parameters) {
        parameters.set("max_frequency", i64::from(self.max_frequency.unwrap_or(1000)));
    }

    pub(super) fn is_asked_for(&self) -> bool {
        self.passages
    }

    /// Fails where the result cannot be written.
    pub(super) fn check(&self, writing: &OutputOptions) -> Result<()> {
        if self.passages && writing.form()?.format == Format::Csv {
            bail!("CSV cannot hold the column of --passages, which is a list; --format ndjson or parquet can");
        }
        Ok(())
    }

    /// The stages from the scores to the runs of shared sentences; `by_sentences` says that sentences were compared.
    pub(super) fn stages(&self, by_sentences: bool) -> Vec<Query> {
        let stages = [counting(by_sentences).as_slice(), &FINDING].concat();
        if self.passages { stages } else { Vec::new() }
    }

    /// The query that gives the result.
    pub(super) fn result(&self) -> Query {
        if self.passages { query::SPANNED } else { query::CONTAINMENT }
    }

    /// Runs the stages, if they do not make too many pairs.
    pub(super) async fn find(&self, run: &mut Run<'_>, by_sentences: bool, max_pairs: u64) -> Result<()> {
        if !self.passages {
            return Ok(());
        }
        run.workspace.run_all(&counting(by_sentences)).await?;
        let remedy = "lower --max-frequency, or leave out --passages";
        run.refuse_more_pairs(query::SPANNED_ESTIMATE, max_pairs, remedy).await?;
        run.workspace.run_all(&FINDING).await.map(drop)
    }

    /// How many sentences started no passage, since they stand too often.
    pub(super) fn capped(&self, run: &Run<'_>) -> u64 {
        run.workspace.rows_of(query::SPANNED_CAPPED)
    }

    /// Says which sentences these are.
    pub(super) async fn say_capped(&self, run: &Run<'_>) -> Result<()> {
        let count = self.capped(run);
        if count > 0 {
            run.say(&format!(
                "{} sentences make more pairs of places in two documents than --max-frequency allows: they start no passage \
                 there, and only carry on those that others start\n{}",
                grouped(count),
                run.capped().await?.limit(0, Some(LISTED))?.to_string().await?
            ));
        }
        Ok(())
    }
}

/// From the scores to what has pairs.
fn counting(by_sentences: bool) -> [Query; 4] {
    let [places, alike] = if by_sentences {
        [query::SPANNED_TEXTS, query::SPANNED_CONTAINED]
    } else {
        [query::SPANNED_WORDS, query::SPANNED_SAME]
    };
    [query::UNITS_SPANS, places, alike, query::SPANNED_COMMON]
}

/// From there to the runs.
const FINDING: [Query; 4] =
    [query::SPANNED_SEEDS, query::SPANNED_EXTENSIONS, query::SPANNED_RUNS, query::SPANNED_CAPPED];
