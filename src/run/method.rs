//! Methods that find what is similar by the same steps: stages, an estimate that may refuse the rest, and more stages.

use anyhow::{Context, Result};
use datafusion::dataframe::DataFrame;
use ibid_udfs::similarity::Measure;

use super::Run;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Parameters, Query};

/// The bytes of memory that a pair of places takes.
pub(crate) const BYTES_OF_PAIR: u64 = 200;

/// The remedy against too many pairs of places.
pub(crate) const FEWER_PLACES: &str =
    "lower `max_frequency`, so that the most frequent texts are listed as capped instead, or raise `threshold`";

/// The comparison of texts, for estimates from a sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts {
    /// The unit, `sentences` or `documents`, and the view that gives it.
    pub(crate) unit: (&'static str, Query),
    pub(crate) signature: Query,
    /// The stage that links similar texts, and the condition of its similarity join.
    pub(crate) links: Query,
    pub(crate) join: (Measure, f64),
    /// Parameters that are numbers of texts, of which a sample has fewer.
    pub(crate) in_texts: &'static [(&'static str, i64)],
    /// The option that limits frequency, and its value: a text in more places makes no pairs.
    pub(crate) limit: (&'static str, u32),
}

impl Texts {
    /// Returns the stages up to the matches between texts, of two collections or of one.
    pub(crate) fn stages(&self, is_against: bool) -> Vec<Query> {
        vec![
            query::UNITS_DOCS,
            twins(is_against),
            self.unit.1,
            self.signature,
            query::TEXTS,
            query::TEXTS_OCCURRENCES,
            self.links,
            query::TEXTS_MATCHES,
            query::TEXTS_PAIRS,
            query::TEXTS_CAPPED,
        ]
    }
}

/// Returns the stage that finds the documents that stand in both of two collections; in one none does.
pub(crate) fn twins(is_against: bool) -> Query {
    if is_against { query::UNITS_TWINS } else { query::UNITS_NO_TWINS }
}

/// A method that finds what is similar, ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) parameters: Parameters,
    /// The tables of a collection that it reads.
    pub(crate) needed: Needed,
    /// The stages up to the estimate.
    pub(crate) before: Vec<Query>,
    /// The estimate of the pairs of places, and the remedy against too many.
    pub(crate) estimate: (Query, &'static str),
    /// The most pairs of places.
    pub(crate) max_pairs: u64,
    /// The stages from there to the result; the last is a query.
    pub(crate) pairs: Vec<Query>,
    /// The tables beside the result, by name: from what the stages have made to their rows.
    pub(crate) tables: Vec<(&'static str, &'static [Query])>,
    /// The comparison of texts, if there is one.
    pub(crate) texts: Option<Texts>,
    /// The tables whose rows the summary counts, and what it calls them and the rows of the result.
    pub(crate) counts: Vec<(&'static str, Query)>,
    pub(crate) result: &'static str,
    /// Numbers for the summary, and what it calls them.
    pub(crate) summed: Option<(Query, [&'static str; 3])>,
    /// Says of capped texts, where there may be some, what became of them.
    pub(crate) fate: Option<&'static str>,
}

impl Method {
    /// Returns all stages.
    pub(crate) fn stages(&self) -> Vec<Query> {
        self.before.iter().chain(&self.pairs).copied().collect()
    }

    /// Runs the stages up to the estimate, then, if there would not be too many pairs, to the end.
    pub(crate) async fn find(&self, run: &mut Run) -> Result<DataFrame> {
        run.workspace.parameters = self.parameters.clone();
        run.workspace.run_all(&self.before).await?;
        let (estimate, remedy) = self.estimate;
        run.refuse_more_pairs(estimate, self.max_pairs, remedy).await?;
        run.workspace.run_all(&self.pairs).await?.context("the last statement is a query")
    }

    /// Returns the numbers of the summary that stand before that of the rows of the result.
    pub(crate) fn counted(&self, run: &Run) -> Vec<(&'static str, u64)> {
        self.counts.iter().map(|(name, table)| (*name, run.workspace.rows_of(*table))).collect()
    }

    /// Returns those that stand behind it.
    pub(crate) async fn summed(&self, run: &mut Run) -> Result<Vec<(&'static str, u64)>> {
        match self.summed {
            Some((query, names)) => Ok(names.into_iter().zip(run.numbers::<3>(query).await?).collect()),
            None => Ok(Vec::new()),
        }
    }
}
