//! Methods that find similar texts in the same steps: stages, an estimate that may refuse the rest, and more stages.

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
    /// Parameters that are numbers of texts, with their values. A sample has fewer texts, and so smaller values.
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

/// Returns the stage that finds the documents that are in both of two collections. In one collection it finds none.
pub(crate) fn twins(is_against: bool) -> Query {
    if is_against { query::UNITS_TWINS } else { query::UNITS_NO_TWINS }
}

/// A method that finds similar texts, ready to run.
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
    /// Upper bound of the number of pairs of places.
    pub(crate) max_pairs: u64,
    /// The stages from there to the result; the last is a query.
    pub(crate) pairs: Vec<Query>,
    /// The tables beside the result, by name, with the statements that make each from the tables of the stages.
    pub(crate) tables: Vec<(&'static str, &'static [Query])>,
    /// The comparison of texts, if there is one.
    pub(crate) texts: Option<Texts>,
    /// The names of counts in the summary, and the tables whose rows they count. `result` names the count of the
    /// result's rows.
    pub(crate) counts: Vec<(&'static str, Query)>,
    pub(crate) result: &'static str,
    /// A query for more numbers of the summary, and their names.
    pub(crate) summed: Option<(Query, [&'static str; 3])>,
    /// A text about what happened to capped texts, if there may be some.
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

    /// Returns the counts of the summary that come before the count of the rows of the result.
    pub(crate) fn counted(&self, run: &Run) -> Vec<(&'static str, u64)> {
        self.counts.iter().map(|(name, table)| (*name, run.workspace.rows_of(*table))).collect()
    }

    /// Returns the numbers of the summary that come after the count of the rows of the result.
    pub(crate) async fn summed(&self, run: &mut Run) -> Result<Vec<(&'static str, u64)>> {
        match self.summed {
            Some((query, names)) => Ok(names.into_iter().zip(run.numbers::<3>(query).await?).collect()),
            None => Ok(Vec::new()),
        }
    }
}
