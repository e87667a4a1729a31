//! Near-duplicate threads over several fields (QA-THREADS; Wu, Zhang, Huang 2011).

mod columns;
mod field;
mod labels;

use std::path::PathBuf;

use anyhow::{Context, Result};
use datafusion::dataframe::DataFrame;

pub(crate) use self::columns::Readable;
use self::field::Field;
pub(crate) use self::field::number;
pub use self::field::{Canonical, FieldOption, SignatureOption};
pub(crate) use self::labels::of_labels;
use super::options::{Given, NamedOptions, input_of};
use super::signature::Signature;
use super::table::{Tabular, float, text};
use super::times::note_times;
use super::{
    Base, Collections, Found, Input, against_option, check_ranges, check_ratio, common_options, refuse_without_effect,
    runs,
};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::recall::Recall;
use crate::run::{Run, describe_recall, grouped, twins};

impl Engine {
    /// Finds near-duplicate threads, by the weighted mean of the similarities of several fields.
    ///
    /// Records are JSON lines, CSV, Parquet or rows with an id and the fields as columns. The table `pairs` has the
    /// columns `id_a`, `id_b`, `score`, and the similarity of each field. With [`Threads::groups`], the table `groups`
    /// has the threads that pairs connect. With [`Threads::labels`], the table `evaluation` says how well each field
    /// tells labelled pairs apart. With [`Threads::by_postings`], the table `capped` has the lists that were too long.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let threads = engine.sql(
    ///     "SELECT * FROM (VALUES
    ///          (1, 'Cannot install', 'The installer says that the disk is full.'),
    ///          (2, 'Cannot install it', 'The installer says that the disk is full.'),
    ///          (3, 'Colours', 'How do I set the colours?')) AS t(id, title, body)").await?;
    /// let found = engine.threads(threads).field("title", 0.3).field("body", 0.7).await?;
    /// let pairs = found.dataframe("pairs")?.select_columns(&["id_a", "id_b"])?.collect().await?;
    /// datafusion::assert_batches_eq!(["+------+------+", "| id_a | id_b |", "+------+------+", "| 1    | 2    |", "+------+------+"], &pairs);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads(&self, input: impl Into<Input>) -> Threads {
        Threads {
            base: Base::new(self, input.into()),
            field: Vec::new(),
            signature: Vec::new(),
            threshold: None,
            is_by_postings: false,
            max_postings: None,
            certify: None,
            labels: None,
            fit: None,
            groups: None,
            max_pairs: 50_000_000,
        }
    }
}

/// Near-duplicate threads; see [`Engine::threads`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Threads {
    pub(crate) base: Base,
    #[doc(hidden)]
    pub field: Vec<FieldOption>,
    #[doc(hidden)]
    pub signature: Vec<SignatureOption>,
    pub(crate) threshold: Option<f64>,
    #[doc(hidden)]
    pub is_by_postings: bool,
    #[doc(hidden)]
    pub max_postings: Option<u32>,
    #[doc(hidden)]
    pub certify: Option<i64>,
    /// The file of labelled pairs, and its column that says whether a pair is a duplicate.
    pub(crate) labels: Option<(PathBuf, String)>,
    /// The number of random weights from which to climb, and their seed.
    pub(crate) fit: Option<(u16, u64)>,
    /// The thread of a group to keep.
    #[doc(hidden)]
    pub groups: Option<Canonical>,
    pub(crate) max_pairs: u64,
}

common_options!(Threads);
against_option!(Threads);
runs!(Threads => Found);

/// The default number of random weights from which to climb, and their default seed.
const FIT: (u16, u64) = (100, 0);

/// Statements with their parameters.
type Part = (Parameters, Vec<Query>);

impl Threads {
    /// Adds a field, which is a column or several columns read as one text (`title+body`), and its weight, 0 or more.
    /// Weights are divided by their sum.
    pub fn field(mut self, name: impl Into<String>, weight: f64) -> Self {
        self.field.push(FieldOption::new(name.into(), weight));
        self
    }

    /// Sets how a text becomes a set, for all fields. Default: `shingles:3`.
    pub fn signature(mut self, signature: Signature) -> Self {
        self.signature.push(SignatureOption::new(None, signature));
        self
    }

    /// Sets how a text becomes a set, for one field.
    pub fn signature_of_field(mut self, field: impl Into<String>, signature: Signature) -> Self {
        self.signature.push(SignatureOption::new(Some(field.into()), signature));
        self
    }

    /// Sets the least score, above 0 and up to 1. Default: 0.5, or the threshold that tells the labels apart best if
    /// weights are fitted.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Finds similar fields by lists of postings, which is approximate: lists of more than `max_postings` distinct
    /// texts (2 or more) make no pairs. All pairs of a sample of `certify` threads are compared, to tell what was not
    /// found; with 0, there is no sample. Default: by a similarity join, which is exact.
    pub fn by_postings(mut self, max_postings: u32, certify: u32) -> Self {
        self.is_by_postings = true;
        (self.max_postings, self.certify) = (Some(max_postings), Some(certify.into()));
        self
    }

    /// Judges the fields and the score by labelled pairs: a file with `id_a`, `id_b` and this column, which says whether they are duplicates.
    pub fn labels(mut self, file: impl Into<PathBuf>, column: impl Into<String>) -> Self {
        self.labels = Some((file.into(), column.into()));
        self
    }

    /// Fits the weights to the labelled pairs, and the threshold if none is given. Climbs from `starts` random weights,
    /// drawn with this seed.
    pub fn fit_weights(mut self, starts: u16, seed: u64) -> Self {
        self.fit = Some((starts, seed));
        self
    }

    /// Makes the table `groups`, too, with the threads that the pairs connect. `canonical` says which thread of a group
    /// to keep: `longest`, `votes` or `oldest`; `votes=COLUMN` and `oldest=COLUMN` name the column.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for any other rule.
    pub fn groups(mut self, canonical: &str) -> Result<Self, Error> {
        self.groups = Some(canonical.parse::<Canonical>().map_err(|error| misuse!("{error}"))?);
        Ok(self)
    }

    /// Limits the number of pairs of threads that are compared in all fields. A run that would compare more is refused
    /// beforehand. Default: 50,000,000.
    pub fn max_pairs(mut self, pairs: u64) -> Self {
        self.max_pairs = pairs;
        self
    }

    /// Returns the SQL that would run, as a script for `ibid sql`.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for options that do not go together, and for an input that is no file.
    pub fn show_sql(&self) -> Result<String, Error> {
        let fields = self.fields()?;
        if self.fit.is_some() {
            return Err(misuse!(
                "weights are not fitted in SQL; fit them first, and ask for the SQL with the weights found"
            )
            .into());
        }
        let collections = self.reading(self.base.places()?);
        Ok(collections.compared(Needed::Documents).script(&self.script(&fields), self.base.engine.stores())?)
    }

    /// Judges the fields and weights by the labels, and does not look for pairs.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] without [`Threads::labels`], and errors of reading.
    pub async fn evaluate(self) -> Result<Found, Error> {
        Ok(self.judged().await?)
    }

    async fn judged(self) -> Result<Found> {
        if self.labels.is_none() {
            return Err(misuse!("there is nothing to judge by: name a file of labelled pairs as `labels`"));
        }
        let mut fields = self.fields()?;
        let mut run = self.opened(&fields).await?;
        self.judge(&mut run, &mut fields).await?;
        let evaluation = run.workspace.session.table("evaluation").await?;
        let summary = run.summary_of(Vec::new(), None);
        Ok(Found::new(run, "threads", vec![("evaluation", evaluation)], summary, 0))
    }

    /// Returns the fields, once all options are checked.
    fn fields(&self) -> Result<Vec<Field>> {
        let fields = Field::all(&self.field, &self.signature)?;
        refuse_without_effect(&[
            ("max_postings", self.max_postings.is_some(), self.is_by_postings),
            ("certify", self.certify.is_some(), self.is_by_postings),
            ("weights", self.fit.is_some(), self.labels.is_some()),
        ])?;
        check_ranges(&[
            ("max_postings", self.max_postings.map(u64::from), 2, u64::MAX),
            ("max_pairs", Some(self.max_pairs), 1, u64::MAX),
        ])?;
        check_ratio("threshold", self.threshold.unwrap_or(1.0))?;
        Ok(fields)
    }

    /// Opens the collections, and makes the sets of the fields.
    async fn opened(&self, fields: &[Field]) -> Result<Run> {
        let (mut run, collections) = self.base.begin().await?;
        self.read_labels(&mut run).await?;
        let collections = self.reading(collections);
        let check = |table: &str, schema: &arrow::datatypes::Schema| self.check_columns(table, schema);
        run.open_checked(&collections.compared(Needed::Documents), check).await?;
        run_parts(&mut run, self.sets(fields)).await?;
        Ok(run)
    }

    async fn run(self) -> Result<Found> {
        let mut fields = self.fields()?;
        let mut run = self.opened(&fields).await?;
        let threshold = match &self.labels {
            Some(_) => self.judge(&mut run, &mut fields).await?,
            None => self.given_threshold(),
        };
        let parameters = self.parameters(&fields, threshold);
        run_parts(&mut run, vec![(parameters.clone(), self.links())]).await?;
        let remedy = "give a higher `threshold`, or less weight to a field that many threads share";
        run.refuse_more_pairs(query::THREADS_ESTIMATE, self.max_pairs, remedy).await?;
        run_parts(&mut run, self.pairs(&parameters, &fields)).await?;
        let [with_duplicates] = run.numbers(query::THREADS_COUNTS).await?;
        let mut tables = vec![("pairs", run.rows(query::THREADS).await?)];
        let noted = run.workspace.parameters.clone();
        let capped = run.workspace.rows_of(query::TERM_CAPPED);
        if self.is_by_postings {
            let columns = "field, element, texts, pairs_not_made, example";
            let sql = format!("SELECT {columns} FROM capped ORDER BY pairs_not_made DESC, field, element");
            tables.push(("capped", run.workspace.session.sql(&sql).await?));
        }
        if self.labels.is_some() {
            tables.push(("evaluation", run.workspace.session.table("evaluation").await?));
        }
        let candidates = run.workspace.rows_of(query::THREADS_CANDIDATES);
        let pruned = self.pruned(&mut run).await?;
        if let Some(canonical) = &self.groups {
            let rows = run_parts(&mut run, self.group_parts(&parameters, &fields)).await?;
            tables.push(("groups", rows.context("groups are a query")?));
            note_unranked(&mut run, &parameters, canonical).await?;
        }
        let recall = self.recall(&mut run, &parameters, &fields).await?;
        let counts = vec![
            ("threads", run.workspace.rows_of(query::UNITS_DOCS)),
            ("distinct texts", run.workspace.rows_of(query::THREADS_TEXTS)),
            ("candidates", candidates),
            ("threads with a duplicate", with_duplicates),
        ];
        run.note_twins("");
        let mut summary = run.summary_of(counts, Some(capped));
        summary.notes.push(pruned);
        if capped > 0 {
            summary.notes.push(format!(
                "{} lists of postings are longer than `max_postings` {} and made no pairs; `capped` lists them all",
                grouped(capped),
                self.most_postings()
            ));
        }
        summary.notes.extend(recall.map(|recall| describe_recall("threads", recall)));
        run.workspace.parameters = noted;
        Ok(Found::new(run, "threads", tables, summary, 3))
    }

    fn given_threshold(&self) -> f64 {
        self.threshold.unwrap_or(0.5)
    }

    fn most_postings(&self) -> u32 {
        self.max_postings.unwrap_or(1000)
    }

    /// Returns the number of threads in the sample.
    fn sample(&self) -> i64 {
        self.certify.unwrap_or(1000)
    }

    /// Returns all statements in order, without those that judge by labels.
    fn script(&self, fields: &[Field]) -> Vec<Part> {
        let parameters = self.parameters(fields, self.given_threshold());
        let mut script = self.sets(fields);
        script.push((parameters.clone(), self.links()));
        script.extend(self.pairs(&parameters, fields));
        script.push((parameters.clone(), vec![query::THREADS]));
        if self.groups.is_some() {
            script.extend(self.group_parts(&parameters, fields));
        }
        if self.certify.is_some() && self.is_certified() {
            script.push((parameters.clone(), self.links_of_sample()));
            script.extend(self.pairs_of_sample(&parameters, fields));
            script.push((parameters, vec![query::CERTIFICATE_RECALL]));
        }
        script
    }

    /// Returns the parameters of the statements after the sets of the fields.
    fn parameters(&self, fields: &[Field], threshold: f64) -> Parameters {
        let mut parameters = Parameters::default();
        let names = || fields.iter().map(|field| Literal::column(&field.name));
        let term = |field: &Field| Literal::column(&field.name).within(&format!("{:?} * ", field.weight), "");
        let (founding, least) = founding(fields, threshold);
        parameters.set("against", self.base.against.is_some());
        parameters.set("founding", Literal::joined(founding.into_iter().map(Literal::from), ", "));
        parameters.set("fields", Literal::joined(fields.iter().map(|f| f.name.as_str().into()), ", ").within("[", "]"));
        parameters.set("names", Literal::joined(names(), ", "));
        parameters.set("score", Literal::joined(fields.iter().map(term), " + ").within("(", ")"));
        parameters.set("threshold", below(threshold, fields.len()));
        parameters.set("least", below(least, fields.len()));
        parameters.set("max_postings", i64::from(self.most_postings()));
        parameters.set("sample", self.sample());
        let canonical = self.groups.as_ref().unwrap_or(&Canonical::Longest);
        parameters.set("rank", canonical.rank(fields));
        parameters.set("ranked_by", canonical.ranked_by());
        let sides = self.base.against.iter().flat_map(|_| ["canonical_collection", "collection"]);
        let columns = ["canonical", "id", "score"].into_iter().chain(sides).map(Literal::column);
        parameters.set("group_columns", Literal::joined(columns, ", "));
        parameters
    }

    /// Returns the statements that make the sets of all fields.
    fn sets(&self, fields: &[Field]) -> Vec<Part> {
        let mut parameters = Parameters::default();
        parameters.set("against", self.base.against.is_some());
        parameters.set("within_documents", false);
        let mut parts =
            vec![(parameters, vec![query::UNITS_DOCS, twins(self.base.against.is_some()), query::THREADS_NO_SETS])];
        for (field, number) in fields.iter().zip(0_i64..) {
            let mut parameters = Parameters::default();
            parameters.set("columns", field.texts());
            parameters.set("field", number);
            field.signature.set(&mut parameters);
            parts.push((parameters, vec![query::UNITS_FIELD, field.signature.query, query::THREADS_SETS]));
        }
        parts
    }

    /// Returns the statements that make the links between texts.
    fn links(&self) -> Vec<Query> {
        let mut links = vec![query::THREADS_TEXTS, query::THREADS_OCCURRENCES];
        if self.is_by_postings {
            links.extend([query::TERM_POSTINGS, query::TERM_CAPPED, query::TERM_CANDIDATES, query::TERM_LINKS]);
        } else {
            links.push(query::THREADS_LINKS);
        }
        links
    }

    /// Returns the statements from the links to the pairs.
    fn pairs(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let mut parts = vec![(parameters.clone(), vec![query::THREADS_CANDIDATES])];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::THREADS_PAIRS]));
        parts
    }

    /// Returns the statements from the pairs to the groups.
    fn group_parts(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let canonical = vec![query::GROUPS, query::GROUPS_CANONICAL, query::GROUPS_CANDIDATES];
        let mut parts = vec![(parameters.clone(), canonical)];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::GROUPS_RESULT]));
        parts
    }

    /// Describes how many pairs each bound pruned.
    async fn pruned(&self, run: &mut Run) -> Result<String> {
        if self.is_by_postings {
            let [met, of_like_length, compared] = run.numbers(query::TERM_PRUNED).await?;
            return Ok(format!(
                "of {} pairs of postings {} had lengths too different (eq. 2); {} pairs of texts were compared",
                grouped(met),
                grouped(met.saturating_sub(of_like_length)),
                grouped(compared)
            ));
        }
        if !run.workspace.has_counted(query::THREADS_LINKS) {
            let why = if run.engine.is_on_cluster() {
                "a cluster does not count the pairs that its tasks leave out"
            } else {
                "there are so few texts that all pairs of a field were compared"
            };
            return Ok(why.to_owned());
        }
        let counted = |name| grouped(run.workspace.counted(query::THREADS_LINKS, name));
        Ok(format!(
            "pairs of texts that met: {} had lengths too different (eq. 2), {} too few elements left (eq. 3), {} bitmaps too \
             different; {} were compared, {} of them not to the end (eq. 3)",
            counted("pruned_length"),
            counted("pruned_position"),
            counted("pruned_bitmap"),
            counted("verified"),
            counted("ended_early")
        ))
    }

    /// Returns true if the pairs of a sample are counted.
    fn is_certified(&self) -> bool {
        self.is_by_postings && self.sample() > 0
    }

    /// Joins a sample exactly, and returns how many of its pairs were found. Returns `None` if there is no sample, or
    /// if it has too many pairs.
    async fn recall(&self, run: &mut Run, parameters: &Parameters, fields: &[Field]) -> Result<Option<Recall>> {
        if !self.is_certified() {
            return Ok(None);
        }
        run_parts(run, vec![(parameters.clone(), self.links_of_sample())]).await?;
        let [pairs] = run.numbers(query::THREADS_ESTIMATE).await?;
        if pairs > self.max_pairs {
            run.note(format!(
                "the recall was not measured: the sample has {} pairs to compare, more than `max_pairs` {}; lower `certify`",
                grouped(pairs),
                self.max_pairs
            ));
            return Ok(None);
        }
        run_parts(run, self.pairs_of_sample(parameters, fields)).await?;
        let is_all = run.workspace.rows_of(query::CERTIFICATE_SAMPLE) == run.workspace.rows_of(query::UNITS_DOCS);
        Ok(Some(run.recall(is_all).await?))
    }

    fn links_of_sample(&self) -> Vec<Query> {
        vec![query::CERTIFICATE_SAMPLE, query::CERTIFICATE_LINKS]
    }

    fn pairs_of_sample(&self, parameters: &Parameters, fields: &[Field]) -> Vec<Part> {
        let mut parts = vec![(parameters.clone(), vec![query::THREADS_CANDIDATES])];
        parts.extend(similarities(fields));
        parts.push((parameters.clone(), vec![query::CERTIFICATE_SAMPLED]));
        parts
    }
}

/// Notes which threads of groups could not be ranked, and come last.
async fn note_unranked(run: &mut Run, parameters: &Parameters, canonical: &Canonical) -> Result<()> {
    let Some(column) = canonical.column() else { return Ok(()) };
    run.workspace.parameters = parameters.clone();
    let what = format!("threads of groups cannot be ranked by {column:?}, and are kept only if no other can be");
    if let Canonical::Oldest(column) = canonical {
        note_times(run, column).await?;
    }
    run.list(query::GROUPS_UNRANKED, &what).await.map(drop)
}

/// Returns the fields by which pairs are found, and the similarity that at least one of them has in every pair whose
/// score reaches `threshold`.
///
/// A mean reaches the threshold only if one of its parts does. Even if the fields with small weights, `w` together,
/// were equal, the mean of the others would have to reach `(threshold - w) / (1 - w)`. If that is hardly less than the
/// threshold, the fields with small weights are left out, since a short field of little weight is often the same in
/// many threads.
fn founding(fields: &[Field], threshold: f64) -> (Vec<i64>, f64) {
    let mut by_weight: Vec<(&Field, i64)> = fields.iter().zip(0..).collect();
    by_weight.sort_by(|a, b| a.0.weight.total_cmp(&b.0.weight));
    let (mut left_out, mut least, mut first) = (0.0, threshold, 0);
    for (field, _) in &by_weight[..by_weight.len() - 1] {
        left_out += field.weight;
        let of_others = (threshold - left_out) / (1.0 - left_out);
        if of_others < HARDLY_LESS * threshold {
            break;
        }
        (least, first) = (of_others, first + 1);
    }
    let mut founding: Vec<i64> = by_weight[first..].iter().map(|(_, number)| *number).collect();
    founding.sort_unstable();
    (founding, least)
}

/// The share of the threshold to which the similarity of the fields that find pairs may fall if the others are left
/// out.
const HARDLY_LESS: f64 = 0.8;

/// Returns a value as much below `threshold` as rounding may take a mean of equal similarities.
#[expect(clippy::cast_precision_loss, reason = "a few fields")]
fn below(threshold: f64, fields: usize) -> f64 {
    threshold * (1.0 - (4 * fields + 8) as f64 * f64::EPSILON)
}

/// Returns the statements that add the similarity of each field to the candidates.
fn similarities(fields: &[Field]) -> Vec<Part> {
    let part = |(field, number): (&Field, i64)| {
        let mut parameters = Parameters::default();
        parameters.set("field", number);
        parameters.set("name", Literal::column(&field.name));
        (parameters, vec![query::THREADS_SIMILARITIES])
    };
    fields.iter().zip(0..).map(part).collect()
}

/// Runs statements with their parameters, and returns the rows of the last one, if it is a query.
async fn run_parts(run: &mut Run, parts: Vec<Part>) -> Result<Option<DataFrame>> {
    let mut last = None;
    for (parameters, queries) in parts {
        run.workspace.parameters = parameters;
        last = run.workspace.run_all(&queries).await?;
    }
    Ok(last)
}

impl NamedOptions for Threads {
    const NAMES: &'static [&'static str] = &[
        "field",
        "signature",
        "threshold",
        "strategy",
        "max_postings",
        "certify",
        "weights",
        "labels",
        "label",
        "starts",
        "seed",
        "canonical",
        "against",
        "same_ids",
        "max_pairs",
    ];

    const NEEDS: &'static [(&'static str, &'static str)] =
        &[("weights", "labels"), ("label", "labels"), ("starts", "weights"), ("seed", "weights")];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        let (starts, seed) = self.fit.unwrap_or(FIT);
        let (labels, label) = self.labels.clone().unwrap_or_else(|| (PathBuf::new(), "label".to_owned()));
        match given.name {
            "field" => self.field = given.values.iter().map(|text| text.parse()).collect::<Result<_>>()?,
            "signature" => self.signature = given.values.iter().map(|text| text.parse()).collect::<Result<_>>()?,
            "threshold" => self.threshold = Some(given.number()?),
            "strategy" => self.is_by_postings = given.choice(&[("doc", false), ("term", true)])?,
            "max_postings" => self.max_postings = Some(given.number()?),
            "certify" => self.certify = Some(given.number::<u32>()?.into()),
            "weights" => self.fit = given.choice(&[("fit", Some((starts, seed)))])?,
            "labels" => self.labels = Some((given.text()?.into(), label)),
            "label" => self.labels = Some((labels, given.text()?)),
            "starts" => self.fit = Some((given.number()?, seed)),
            "seed" => self.fit = Some((starts, given.number()?)),
            "canonical" => self.groups = Some(given.text()?.parse()?),
            "against" => self.base.against = Some(input_of(given)?),
            "same_ids" => self.base.same_ids = given.flag()?,
            _ => self.max_pairs = given.number()?,
        }
        Ok(())
    }
}

impl Tabular for Threads {
    fn schema(&self, _: &str) -> Result<Vec<arrow::datatypes::Field>> {
        let fields = self.fields()?.into_iter().map(|field| float(&field.name));
        Ok([text("id_a"), text("id_b"), float("score")].into_iter().chain(fields).collect())
    }
}
