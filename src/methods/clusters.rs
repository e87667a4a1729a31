//! Similar sentences across a collection (WIKI-LSH; Ayhan, Bradley, Weissman 2013).

use std::fmt::Write as _;

use anyhow::Result;
use arrow::datatypes::{DataType, Field};

use super::options::{Given, NamedOptions};
use super::pairs::Unit;
use super::signature::Signature;
use super::table::{Tabular, boolean, float, int, long, text};
use super::{Base, Found, Input, check_ranges, check_ratio, common_options, refuse_without_effect, runs};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{FEWER_PLACES, Run, corpus_folder, describe_recall, grouped};

impl Engine {
    /// Finds clusters of similar sentences, and the documents that share them.
    ///
    /// The tables are `clusters`, `pairs` (of distinct texts, with their kind), `article_pairs`, `histogram`, `capped`, with locality-sensitive
    /// hashing `buckets`, and with [`Clusters::certify`] `certificate`.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let articles = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          ('a', 'The town has 12,400 inhabitants. It lies on the coast.'),
    ///          ('b', 'The town has 12,600 inhabitants. It lies inland.'),
    ///          ('c', 'Nobody lives on the island at all.')) AS t(id, text)").await?;
    /// let found = engine.clusters(articles).threshold(0.3).exact().await?;
    /// let clusters = found.dataframe("clusters")?.select_columns(&["cluster_id", "doc_id"])?.count().await?;
    /// assert_eq!(clusters, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clusters(&self, input: impl Into<Input>) -> Clusters {
        Clusters {
            base: Base::new(self, input.into()),
            unit: Unit::Sentence,
            signature: Signature::CHARACTERS_10,
            is_exact: false,
            threshold: 0.7,
            bands: None,
            rows: None,
            seed: None,
            max_bucket: None,
            max_edit: None,
            cohesion: None,
            certify: None,
            min_characters: 20,
            max_characters: None,
            max_frequency: 1000,
            max_pairs: 50_000_000,
            top: 10,
        }
    }
}

/// Clusters of similar sentences; see [`Engine::clusters`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Clusters {
    pub(crate) base: Base,
    pub(crate) unit: Unit,
    pub(crate) signature: Signature,
    pub(crate) is_exact: bool,
    pub(crate) threshold: f64,
    pub(crate) bands: Option<u16>,
    pub(crate) rows: Option<u16>,
    pub(crate) seed: Option<u32>,
    pub(crate) max_bucket: Option<u32>,
    pub(crate) max_edit: Option<f64>,
    pub(crate) cohesion: Option<f64>,
    pub(crate) certify: Option<u64>,
    pub(crate) min_characters: u32,
    pub(crate) max_characters: Option<u32>,
    pub(crate) max_frequency: u32,
    pub(crate) max_pairs: u64,
    pub(crate) top: u16,
}

common_options!(Clusters);
runs!(Clusters => Found);

/// The stages from the links to the number of pairs of places, which has a limit.
const PAIRS_COUNTED: [Query; 3] = [query::TEXTS_MATCHES, query::TEXTS_PAIRS, query::TEXTS_CAPPED];

/// The tables of the folder that are always there, and those of the method lsh and of a certificate.
const TABLES: [(&str, Query); 5] = [
    ("clusters", query::CLUSTERS),
    ("pairs", query::CLUSTERS_PAIRS),
    ("article_pairs", query::CLUSTERS_ARTICLE_PAIRS),
    ("histogram", query::CLUSTERS_HISTOGRAM),
    ("capped", query::CLUSTERS_CAPPED),
];
const BUCKETS: (&str, Query) = ("buckets", query::CLUSTERS_FULL_BUCKETS);
const CERTIFICATE: (&str, Query) = ("certificate", query::CLUSTERS_RECALL);

/// The names of all tables that there may be.
pub const NAMES: [&str; 7] = ["clusters", "pairs", "article_pairs", "histogram", "capped", "buckets", "certificate"];

/// The most minhashes that a text can have.
const MOST_MINHASHES: u32 = 4096;

/// Fails if a text would have more minhashes than it can have.
pub(super) fn check_minhashes(bands: u16, rows: u16) -> Result<()> {
    if u32::from(bands) * u32::from(rows) <= MOST_MINHASHES {
        return Ok(());
    }
    Err(misuse!("`bands` times `rows` are more than {MOST_MINHASHES} minhashes; lower one of them"))
}

/// Returns a note on signatures that too many texts share, if there are any.
pub(super) fn describe_buckets(full: u64, most: u32, compared: &str) -> Option<String> {
    (full > 0).then(|| {
        format!(
            "{} signatures are those of more than `max_bucket` {most} texts, {compared}; the table buckets lists them",
            grouped(full)
        )
    })
}

/// Returns true if a column has the sections that the reader of wikis makes.
fn is_sections(column: &DataType) -> bool {
    let DataType::List(item) = column else { return false };
    let DataType::Struct(fields) = item.data_type() else { return false };
    ["kind", "char_start", "char_end"].iter().all(|name| fields.find(name).is_some())
}

impl Clusters {
    /// Sets what is compared. Default: sentences.
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Sets how a text becomes a set. Default: `characters:10`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }

    /// Finds all pairs, by a similarity join. Default: most pairs, the more similar the likelier, by locality-sensitive hashing.
    pub fn exact(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// Sets the least Jaccard similarity of a pair, above 0 and up to 1. Default: 0.7.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Sets the number of signatures that a text has, from 1 to 1000, for locality-sensitive hashing; texts that share one are compared.
    /// Default: 10.
    pub fn bands(mut self, bands: u16) -> Self {
        self.bands = Some(bands);
        self
    }

    /// Sets the number of minhashes that make a signature, from 1 to 64. Default: 8.
    pub fn rows(mut self, rows: u16) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Sets the seed of the minhashes. Default: 0.
    pub fn seed(mut self, seed: u32) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets how many of the texts that share a signature are compared with each other, 2 or more: the first ones.
    /// Default: 1000.
    pub fn max_bucket(mut self, texts: u32) -> Self {
        self.max_bucket = Some(texts);
        self
    }

    /// Sets the largest normalised edit distance of a pair, from 0 up to 1. Default: any.
    pub fn max_edit(mut self, distance: f64) -> Self {
        self.max_edit = Some(distance);
        self
    }

    /// Splits clusters so that each text has at least this similarity with the representative of its cluster, above 0 and up to 1.
    pub fn cohesion(mut self, similarity: f64) -> Self {
        self.cohesion = Some(similarity);
        self
    }

    /// Joins about this many distinct texts exactly with all others, and says what locality-sensitive hashing did not find.
    pub fn certify(mut self, texts: u64) -> Self {
        self.certify = Some(texts);
        self
    }

    /// Sets the shortest text to compare, in characters. Default: 20.
    pub fn min_characters(mut self, characters: u32) -> Self {
        self.min_characters = characters;
        self
    }

    /// Sets the longest text to compare, in characters. Default: 5000 for sentences, any length for documents.
    pub fn max_characters(mut self, characters: u32) -> Self {
        self.max_characters = Some(characters);
        self
    }

    /// Sets the largest number of places in which a text may occur to make pairs of documents. More frequent texts are
    /// counted, and listed as capped. Default: 1000.
    pub fn max_frequency(mut self, places: u32) -> Self {
        self.max_frequency = places;
        self
    }

    /// Limits the number of pairs of places that are counted for pairs of documents. A run that would make more is
    /// refused beforehand. Default: 50,000,000.
    pub fn max_pairs(mut self, pairs: u64) -> Self {
        self.max_pairs = pairs;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub async fn show_sql(&self) -> Result<String, Error> {
        Ok(self.script().await?)
    }

    async fn script(&self) -> Result<String> {
        self.check()?;
        let collections = self.base.places()?;
        let compared = collections.compared(self.needed());
        // Only a corpus is opened for that. Other input would have to be read first.
        let has_sections = if corpus_folder(&collections.inputs, self.base.engine.stores())?.is_some() {
            let mut run = Run::begin(&self.base.engine, self.base.settings.clone())?;
            run.open_both(&compared).await?;
            self.has_sections(&run).await?
        } else {
            false
        };
        let mut queries = self.clustering(has_sections);
        queries.extend(PAIRS_COUNTED.into_iter().chain([query::CLUSTERS_SHARED]));
        queries.extend(self.tables().map(|(_, query)| query));
        let mut parameters = self.parameters();
        let mut parts = vec![(parameters.clone(), queries)];
        parameters.set("links", Literal::column("sample_links"));
        if self.certify.is_some() {
            let certifying = self.certifying().into_iter().chain([CERTIFICATE.1]);
            parts.push((parameters, certifying.collect()));
        }
        compared.script(&parts, self.base.engine.stores())
    }

    /// Fails if options do not go together.
    pub fn check(&self) -> Result<()> {
        let is_lsh = !self.is_exact;
        refuse_without_effect(&[
            ("bands", self.bands.is_some(), is_lsh),
            ("rows", self.rows.is_some(), is_lsh),
            ("seed", self.seed.is_some(), is_lsh),
            ("max_bucket", self.max_bucket.is_some(), is_lsh),
            ("certify", self.certify.is_some(), is_lsh),
        ])?;
        check_ranges(&[
            ("bands", self.bands.map(u64::from), 1, 1000),
            ("rows", self.rows.map(u64::from), 1, 64),
            ("max_bucket", self.max_bucket.map(u64::from), 2, u64::MAX),
            ("certify", self.certify, 1, u64::MAX),
            ("max_frequency", Some(self.max_frequency.into()), 1, u64::MAX),
            ("max_pairs", Some(self.max_pairs), 1, u64::MAX),
        ])?;
        check_ratio("threshold", self.threshold)?;
        check_ratio("cohesion", self.cohesion.unwrap_or(1.0))?;
        if !(0.0..=1.0).contains(&self.max_edit.unwrap_or(0.0)) {
            return Err(misuse!("`max_edit` is a number from 0 up to 1, such as 0.25"));
        }
        check_minhashes(self.bands_of_text(), self.rows_of_band())?;
        if i64::from(self.min_characters) > self.most_characters() {
            return Err(misuse!(
                "`min_characters` is more than `max_characters`, so that there would be nothing to compare"
            ));
        }
        Ok(())
    }

    async fn run(self) -> Result<Found> {
        self.check()?;
        let (mut run, collections) = self.base.begin().await?;
        run.open_both(&collections.compared(self.needed())).await?;
        run.workspace.parameters = self.parameters();
        let has_sections = self.has_sections(&run).await?;
        run.workspace.run_all(&self.clustering(has_sections)).await?;
        run.workspace.run_all(&PAIRS_COUNTED).await?;
        run.refuse_more_pairs(query::TEXTS_ESTIMATE, self.max_pairs, FEWER_PLACES).await?;
        run.workspace.run_all(&[query::CLUSTERS_SHARED]).await?;
        let mut tables = Vec::new();
        for (name, query) in self.tables() {
            tables.push((name, run.rows(query).await?));
        }
        let mut recall = None;
        if let Some(sample) = self.certify {
            run.workspace.parameters.set("links", Literal::column("sample_links"));
            run.workspace.run_all(&self.certifying()).await?;
            tables.push((CERTIFICATE.0, run.rows(CERTIFICATE.1).await?));
            recall = Some(run.recall(sample >= run.workspace.rows_of(query::TEXTS)).await?);
        }
        let [clusters, places] = run.numbers(query::CLUSTERS_COUNTS).await?;
        let units = run.workspace.rows_of(self.signature.query);
        let (capped, full) =
            (run.workspace.rows_of(query::TEXTS_CAPPED), run.workspace.rows_of(query::CLUSTERS_BUCKETS));
        let counts = vec![
            ("documents", run.workspace.rows_of(query::UNITS_DOCS)),
            ("texts", units),
            ("distinct", run.workspace.rows_of(query::TEXTS)),
            ("pairs", run.workspace.rows_of(query::CLUSTERS_TEXT_LINKS)),
            ("clusters", clusters),
            ("in clusters", places),
        ];
        let mut summary = run.summary_of(counts, Some(capped + full));
        let of_any_length = run.count(if self.unit == Unit::Document { "documents" } else { "sentences" }).await?[0];
        if of_any_length > units {
            summary.notes.push(format!(
                "{} texts have fewer than {} or more than {} characters and were not compared (`min_characters`, \
                 `max_characters`)",
                grouped(of_any_length - units),
                self.min_characters,
                self.most_characters()
            ));
        }
        summary.notes.extend(describe_buckets(full, self.largest_bucket(), "of which only the first were compared"));
        if capped > 0 {
            summary.notes.push(format!(
                "{} texts stand in more than `max_frequency` {} places and made no pairs of documents; the table capped lists them",
                grouped(capped),
                self.max_frequency
            ));
        }
        if let Some(recall) = recall {
            summary.notes.push(describe_recall("texts", recall));
        }
        Ok(Found::new(run, "clusters", tables, summary, 0))
    }

    /// Sets the number of clusters and of pairs of documents in an overview. Default: 10.
    pub fn top(mut self, rows: u16) -> Self {
        self.top = rows;
        self
    }

    /// Returns, as text for people, the histogram, the largest clusters and the documents that share most.
    pub async fn overview(&self, found: &mut Found) -> Result<String> {
        let mut said = String::new();
        for (title, query) in self.printed() {
            let _ = write!(said, "{title}:\n{}\n\n", found.run.shown(query).await?);
        }
        Ok(said)
    }

    /// Returns the tables except for the certificate.
    fn tables(&self) -> impl Iterator<Item = (&'static str, Query)> + use<> {
        TABLES.into_iter().chain((!self.is_exact).then_some(BUCKETS))
    }

    fn needed(&self) -> Needed {
        if self.unit == Unit::Document { Needed::Documents } else { Needed::DocumentsAndSentences }
    }

    fn bands_of_text(&self) -> u16 {
        self.bands.unwrap_or(10)
    }

    fn rows_of_band(&self) -> u16 {
        self.rows.unwrap_or(8)
    }

    fn largest_bucket(&self) -> u32 {
        self.max_bucket.unwrap_or(1000)
    }

    fn most_characters(&self) -> i64 {
        let default = if self.unit == Unit::Document { i64::from(i32::MAX) } else { 5000 };
        self.max_characters.map_or(default, i64::from)
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        self.signature.set(&mut parameters);
        parameters.set("links", Literal::column("links"));
        parameters.set("sample", i64::try_from(self.certify.unwrap_or(0)).unwrap_or(i64::MAX));
        parameters.set("is_lsh", !self.is_exact);
        parameters.set("top", i64::from(self.top));
        parameters.set("against", false);
        parameters.set("add", false);
        parameters.set("within_documents", false);
        parameters.set("threshold", self.threshold);
        parameters.set("bands", i64::from(self.bands_of_text()));
        parameters.set("rows", i64::from(self.rows_of_band()));
        parameters.set("minhashes", i64::from(self.bands_of_text()) * i64::from(self.rows_of_band()));
        parameters.set("seed", i64::from(self.seed.unwrap_or(0)));
        parameters.set("with_all", false);
        parameters.set("compared", Literal::column("used"));
        parameters.set("max_bucket", i64::from(self.largest_bucket()));
        parameters.set("least_edit_similarity", 1.0 - self.max_edit.unwrap_or(1.0));
        parameters.set("cohesion", self.cohesion.unwrap_or(0.0));
        parameters.set("min_characters", i64::from(self.min_characters));
        parameters.set("max_characters", self.most_characters());
        parameters.set("max_frequency", i64::from(self.max_frequency));
        parameters
    }

    /// Returns true if the kind of section of each sentence is known.
    async fn has_sections(&self, run: &Run) -> Result<bool> {
        let documents = run.workspace.session.table("documents").await?;
        let sections = documents.schema().field_with_unqualified_name("sections").ok();
        Ok(self.unit == Unit::Sentence && sections.is_some_and(|field| is_sections(field.data_type())))
    }

    /// Returns the stages from the collection to the members of clusters and the links of texts.
    fn clustering(&self, has_sections: bool) -> Vec<Query> {
        let units = if self.unit == Unit::Document { query::UNITS_DOCUMENTS } else { query::UNITS_SENTENCES };
        let mut stages = vec![query::UNITS_DOCS, units, query::UNITS_LENGTHS];
        stages.extend([self.signature.query, query::TEXTS, query::TEXTS_OCCURRENCES]);
        if self.is_exact {
            stages.push(query::TEXTS_LINKS);
        } else {
            let hashed = [query::CLUSTERS_BANDS, query::CLUSTERS_BUCKETS, query::CLUSTERS_USED, query::CLUSTERS_LINKS];
            stages.extend(hashed);
        }
        stages.extend(self.max_edit.map(|_| query::CLUSTERS_EDITS));
        stages.extend([query::CLUSTERS_COMPONENTS, query::CLUSTERS_REPRESENTATIVES, query::CLUSTERS_MEMBERS]);
        stages.extend(self.cohesion.map(|_| query::CLUSTERS_STARS));
        stages.push(if has_sections { query::CLUSTERS_CITED } else { query::CLUSTERS_NONE_CITED });
        stages.extend([query::CLUSTERS_CLUSTERED, query::CLUSTERS_LINKED, query::CLUSTERS_TEXT_LINKS]);
        stages
    }

    /// Returns the stages that check the links by an exact join of a sample.
    fn certifying(&self) -> Vec<Query> {
        let mut stages = vec![query::CLUSTERS_SAMPLE, query::CLUSTERS_SAMPLE_LINKS];
        stages.extend(self.max_edit.map(|_| query::CLUSTERS_EDITS));
        stages.extend([query::CLUSTERS_CERTIFICATE, query::CLUSTERS_SAMPLED]);
        stages
    }

    /// Returns the tables of the overview, with their titles.
    fn printed(&self) -> impl Iterator<Item = (&'static str, Query)> + use<> {
        let texts = match self.unit {
            Unit::Sentence => "The documents that share most sentences",
            Unit::Document => "The documents that are similar",
        };
        let certificate = self.certify.map(|_| ("What an exact join of a sample finds", query::PRINT_CERTIFICATE));
        [
            ("Clusters by size", query::PRINT_HISTOGRAM),
            ("Pairs by kind", query::PRINT_KINDS),
            ("The largest clusters", query::PRINT_CLUSTERS),
            (texts, query::PRINT_ARTICLE_PAIRS),
        ]
        .into_iter()
        .chain(certificate)
    }
}

impl NamedOptions for Clusters {
    const NAMES: &'static [&'static str] = &[
        "unit",
        "signature",
        "method",
        "threshold",
        "bands",
        "rows",
        "seed",
        "max_bucket",
        "max_edit",
        "cohesion",
        "certify",
        "min_characters",
        "max_characters",
        "max_frequency",
        "max_pairs",
    ];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "unit" => self.unit = given.choice(&Unit::NAMES)?,
            "signature" => self.signature = given.parsed()?,
            "method" => self.is_exact = given.choice(&[("lsh", false), ("exact", true)])?,
            "threshold" => self.threshold = given.number()?,
            "bands" => self.bands = Some(given.number()?),
            "rows" => self.rows = Some(given.number()?),
            "seed" => self.seed = Some(given.number()?),
            "max_bucket" => self.max_bucket = Some(given.number()?),
            "max_edit" => self.max_edit = Some(given.number()?),
            "cohesion" => self.cohesion = Some(given.number()?),
            "certify" => self.certify = Some(given.number()?),
            "min_characters" => self.min_characters = given.number()?,
            "max_characters" => self.max_characters = Some(given.number()?),
            "max_frequency" => self.max_frequency = given.number()?,
            _ => self.max_pairs = given.number()?,
        }
        Ok(())
    }
}

impl Tabular for Clusters {
    fn schema(&self, _: &str) -> Result<Vec<Field>> {
        Ok(vec![
            long("cluster_id"),
            long("member"),
            text("doc_id"),
            int("sent"),
            boolean("representative"),
            float("similarity_to_representative"),
            text("text"),
        ])
    }
}
