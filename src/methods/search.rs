use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use arrow::datatypes::Field;
use datafusion::common::TableReference;

use super::options::{Given, NamedOptions, input_of};
use super::pairs::Unit;
use super::signature::Signature;
use super::table::{Tabular, float, int, text};
use super::{Base, Found, Input, check_ratio, common_options, runs};
use crate::config::Gpu;
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::pipeline::query::{self, Parameters, Query};
use crate::run::Run;
use crate::store::Address;

impl Engine {
    /// Finds the sentences of a collection that are similar to given texts, and the passages that are similar to texts of several
    /// sentences.
    ///
    /// The table `hits` has the columns `query_id`, `doc_id`, `sent`, `char_start`, `char_end` (the place of the
    /// sentence in the document, or of the passage that begins in it), `similarity`. Each text of `queries` is looked
    /// for as a whole.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let plays = engine.sql("SELECT 'hamlet' AS id, 'Words, words, words. To be or not to be, that is the question.' AS text").await?;
    /// let quotations = engine.sql("SELECT 1 AS id, 'to be, or not to be: that is the question' AS text").await?;
    /// let found = engine.search(plays, quotations).await?;
    /// let hits = found.dataframe("hits")?.select_columns(&["query_id", "doc_id", "char_start", "char_end"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     [
    ///         "+----------+--------+------------+----------+",
    ///         "| query_id | doc_id | char_start | char_end |",
    ///         "+----------+--------+------------+----------+",
    ///         "| 1        | hamlet | 21         | 62       |",
    ///         "+----------+--------+------------+----------+",
    ///     ],
    ///     &hits
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, input: impl Into<Input>, queries: impl Into<Input>) -> Search {
        let mut base = Base::new(self, input.into());
        base.against = Some(queries.into());
        Search {
            base,
            unit: Unit::Sentence,
            signature: Signature::SHINGLES_1,
            threshold: 0.8,
            codes: None,
            gpu: Gpu::Auto,
        }
    }
}

/// Texts that are looked for; see [`Engine::search`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Search {
    pub(crate) base: Base,
    pub(crate) unit: Unit,
    pub(crate) signature: Signature,
    pub(crate) threshold: f64,
    /// The file of codes, and the number of bits in which they may differ.
    pub(crate) codes: Option<(PathBuf, u8)>,
    pub(crate) gpu: Gpu,
}

common_options!(Search);
runs!(Search => Found);

/// The stages that make the units that are searched: sentences, and parts of documents that may quote several
/// sentences.
const SENTENCES: [Query; 4] =
    [query::SEARCH_SEQUENCES, query::SEARCH_QUOTATIONS, query::SEARCH_QUOTATION_PLACES, query::SEARCH_UNITS];

impl Search {
    /// Sets what is searched. Default: sentences.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Sets how a text becomes a set. Default: `shingles:1`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }

    /// Sets the least Jaccard similarity of the two sets, above 0 and up to 1. Default: 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Compares only texts whose codes, from a file that `ibid codes learn` wrote, differ in at most this many bits.
    /// Hits may be lost. Default: all texts are compared.
    pub fn codes(mut self, file: impl Into<PathBuf>, distance: u8) -> Self {
        self.codes = Some((file.into(), distance));
        self
    }

    /// Sets whether to compare on a GPU; the result is the same. Default: on a GPU if there is one.
    pub fn gpu(mut self, gpu: Gpu) -> Self {
        self.gpu = gpu;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        Ok(self
            .base
            .places()?
            .compared(self.needed())
            .script(&[(self.parameters()?, self.stages())], self.base.engine.stores())?)
    }

    async fn run(self) -> Result<Found> {
        check_ratio("threshold", self.threshold)?;
        let (mut run, collections) = self.base.begin().await?;
        run.open_both(&collections.compared(self.needed())).await?;
        run.workspace.parameters = self.parameters()?;
        self.check_codes(&run).await?;
        let rows = run.workspace.run_all(&self.stages()).await?.context("the last statement is a query")?;
        let queries = run.count("documents").await?[1];
        let searched = if self.unit == Unit::Sentence { "sentences" } else { "documents" };
        let counts = vec![("queries", queries), (searched, run.count(searched).await?[0])];
        let summary = run.summary(counts, None, "").await?;
        Ok(Found::new(run, "search", vec![("hits", rows)], summary, 2))
    }

    fn needed(&self) -> Needed {
        match self.unit {
            Unit::Sentence => Needed::DocumentsAndSentences,
            Unit::Document => Needed::Documents,
        }
    }

    /// Fails if the file of codes lacks a column that `ibid codes learn` writes.
    async fn check_codes(&self, run: &Run) -> Result<()> {
        let Some((codes, _)) = &self.codes else { return Ok(()) };
        let table = TableReference::bare(in_from(codes)?);
        let columns = run.workspace.session.table_provider(table).await?.schema();
        match ["word", "code"].into_iter().find(|name| columns.field_with_name(name).is_err()) {
            Some(missing) => bail!(
                "{} has no column {missing:?}; `codes` needs a file as ibid codes learn writes it",
                codes.display()
            ),
            None => Ok(()),
        }
    }

    fn parameters(&self) -> Result<Parameters> {
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        parameters.set("against", true);
        parameters.set("threshold", self.threshold);
        parameters.set("gpu", self.gpu.to_string().as_str());
        if let Some((codes, distance)) = &self.codes {
            parameters.set("codes", in_from(codes)?.as_str());
            parameters.set("distance", i64::from(*distance));
        }
        Ok(parameters)
    }

    fn stages(&self) -> Vec<Query> {
        let (units, hits) = match self.unit {
            Unit::Sentence => (&SENTENCES[..], query::SEARCH_SENTENCES),
            Unit::Document => (&[query::UNITS_DOCUMENTS][..], query::SEARCH_DOCUMENTS),
        };
        let (gpu, strategy) = (query::SEARCH_GPU, query::SEARCH_STRATEGY);
        let coded = if self.signature.query == query::SIGNATURES_CHARACTERS {
            query::SEARCH_CODED_CHARACTERS
        } else {
            query::SEARCH_CODED_WORDS
        };
        let found = match self.codes {
            Some(_) => vec![coded, query::SEARCH_FOUND_BY_CODES],
            None => vec![query::SEARCH_FOUND],
        };
        [&[gpu, strategy, query::UNITS_DOCS], units, &[self.signature.query], &found, &[hits]].concat()
    }
}

/// Returns the path of a file as FROM takes it: with `./` before a bare name, which might be a table's.
pub(crate) fn in_from(file: &Path) -> Result<String> {
    let is_name = file.is_relative() && Address::of_path(file)?.is_none();
    let path = if is_name { Path::new(".").join(file) } else { file.to_path_buf() };
    let name = path.into_os_string().into_string();
    name.map_err(|name| misuse!("{} has a name that is not Unicode", name.display()))
}

impl NamedOptions for Search {
    const NAMES: &'static [&'static str] = &["queries", "unit", "signature", "threshold", "codes", "distance", "gpu"];

    const NEEDS: &'static [(&'static str, &'static str)] = &[("codes", "distance"), ("distance", "codes")];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        let (file, distance) = self.codes.clone().unwrap_or_default();
        match given.name {
            "queries" => self.base.against = Some(input_of(given)?),
            "unit" => self.unit = given.choice(&Unit::NAMES)?,
            "signature" => self.signature = given.parsed()?,
            "threshold" => self.threshold = given.number()?,
            "codes" => self.codes = Some((given.text()?.into(), distance)),
            "distance" => self.codes = Some((file, given.number()?)),
            _ => self.gpu = given.choice(&[("auto", Gpu::Auto), ("on", Gpu::On), ("off", Gpu::Off)])?,
        }
        Ok(())
    }
}

impl Tabular for Search {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        Ok(vec![text("query_id"), text("doc_id"), int("sent"), int("char_start"), int("char_end"), float("similarity")])
    }
}
