//! `ibid containment --passages`: where that stands which a document shares with what contains it.

use anyhow::{Result, bail};
use clap::Args;

use super::options::OutputOptions;
use super::run::{LISTED, Run, grouped};
use crate::export::Format;
use crate::pipeline::query::{self, Parameters, Query};

/// The most words of a fingerprint.
const K: i64 = 5;

/// The least similarity of the two sides of a passage, as `ibid passages` has it.
const SIMILARITY: f64 = 0.8;

/// Options of `--passages`.
#[derive(Debug, Args)]
pub(super) struct PassageOptions {
    /// Say where what is shared stands: one more column, passages, with a struct for each passage
    #[arg(long)]
    passages: bool,
    /// For --passages: the least number of words that both sides of a passage have [default: 8]
    #[arg(long, value_name = "N", requires = "passages", value_parser = clap::value_parser!(u32).range(1..=1000))]
    min_words: Option<u32>,
    /// For --passages: words that two documents share in more pairs of places than this found no passage of them: they are counted as
    /// capped, and only belong to those that others found [default: 1000]
    #[arg(long, value_name = "N", requires = "passages", value_parser = clap::value_parser!(u32).range(1..))]
    max_frequency: Option<u32>,
}

impl PassageOptions {
    pub(super) fn set(&self, parameters: &mut Parameters) {
        let min_words = i64::from(self.min_words.unwrap_or(8));
        // A run of so many words has a sampled fingerprint.
        let k = K.min(min_words);
        parameters.set("k", k);
        parameters.set("window", min_words - k + 1);
        parameters.set("min_words", min_words);
        parameters.set("min_sentences", 1);
        parameters.set("similarity", SIMILARITY);
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

    /// The stages from the scores to the passages.
    pub(super) fn stages(&self) -> &'static [Query] {
        if self.passages { &STAGES } else { &[] }
    }

    /// The query that gives the result.
    pub(super) fn result(&self) -> Query {
        if self.passages { query::SHARED_PASSAGES } else { query::CONTAINMENT }
    }

    /// Returns the number of runs of words that are too frequent to found a passage.
    pub(super) fn capped(&self, run: &Run<'_>) -> u64 {
        run.workspace.rows_of(query::SHARED_CAPPED)
    }

    /// Says which these are.
    pub(super) async fn say_capped(&self, run: &Run<'_>) -> Result<()> {
        let count = self.capped(run);
        if count > 0 {
            run.say(&format!(
                "{} runs of words make more pairs of places in two documents than --max-frequency allows: they found no passage \
                 there, and only belong to those that others found\n{}",
                grouped(count),
                run.capped().await?.limit(0, Some(LISTED))?.to_string().await?
            ));
        }
        Ok(())
    }
}

/// From the scores to the passages.
const STAGES: [Query; 8] = [
    query::UNITS_DOC_TEXTS,
    query::UNITS_SENTENCE_STARTS,
    query::SHARED_SEQUENCES,
    query::SHARED_RUNS,
    query::SHARED_PARTS,
    query::PASSAGES_PLACES,
    query::PASSAGES_PLACED,
    query::SHARED_CAPPED,
];
