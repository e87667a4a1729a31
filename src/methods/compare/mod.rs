//! A comparison of methods by labels: the comparison of CoDet's paper (Varol et al. 2011, section 5) on a labelled
//! collection.

mod labels;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::Schema;
use cpu_time::ProcessTime;

use self::labels::Labelled;
use super::containment::WITHOUT_TIME;
use super::threads::Readable;
use super::times::note_times;
use super::{Base, Containment, Found, Input, check_ratio, common_options, runs};
use crate::corpus;
use crate::corpus::ingest::{Needed, about_corpus};
use crate::engine::Engine;
use crate::error::misuse;
use crate::export::Manifest;
use crate::index::stored::Stored;
use crate::pipeline::query::{self, Literal, Query};
use crate::run::{Compared, Run};
use crate::store::{Stores, entries};

impl Engine {
    /// Compares ways of finding contained documents on a labelled collection: how much each finds, and at what cost.
    ///
    /// `labelled` is a folder with the documents, `docs.*`, and the labels, `gold.*` or `labels.*`: JSON lines, CSV, TSV or Parquet with
    /// `contained` and `container`, and `share` or `label` if not all of them are containments; or with `id_a`, `id_b`, `a_in_b` and `b_in_a`.
    ///
    /// The table `comparison` has a row for each method: `method`, `options`, `precision`, `recall`, `f1`, `found`
    /// (pairs), `unlabelled` (found pairs without a label), `score_error`, `back_error` and `direction_right` (where
    /// labels are shares), `compared` and `steps` (pairs of documents compared and additions made, per document),
    /// `seconds`, `cpu_seconds`. The table `printed` has the same for people to read.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("docs.csv"), "id,text\nshort,The board approved the new ferry terminal.\nlong,It rained. The board approved the new ferry terminal. Lunch followed.\n")?;
    /// # std::fs::write(folder.path().join("gold.csv"), "contained,container\nshort,long\n")?;
    /// let engine = ibid::Engine::new()?;
    /// let sets = engine.containment(ibid::Input::places(["any"]));
    /// let found = engine.compare_containment(folder.path()).method("sets", "", sets.clone()).await?;
    /// let found = found.dataframe("comparison")?.select_columns(&["method", "recall"])?.collect().await?;
    /// datafusion::assert_batches_eq!(
    ///     ["+--------+--------+", "| method | recall |", "+--------+--------+", "| sets   | 1.0    |", "+--------+--------+"],
    ///     &found
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare_containment(&self, labelled: impl Into<PathBuf>) -> CompareContainment {
        CompareContainment {
            base: Base::new(self, Input::places::<PathBuf>([])),
            labelled: labelled.into(),
            label_threshold: None,
            labels_complete: None,
            contenders: Vec::new(),
        }
    }
}

/// A comparison of ways of finding contained documents; see [`Engine::compare_containment`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct CompareContainment {
    base: Base,
    labelled: PathBuf,
    label_threshold: Option<f64>,
    labels_complete: Option<bool>,
    contenders: Vec<Contender>,
}

common_options!(CompareContainment);
runs!(CompareContainment => Found);

/// A method that is judged.
#[derive(Clone)]
struct Contender {
    name: String,
    options: String,
    containment: Containment,
    way: Way,
}

/// The way in which the cost of a contender is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the counts of the similarity join that this stage runs.
    Join(Query),
    /// By all postings, which find the same pairs as a join.
    Postings,
    Codet,
}

impl CompareContainment {
    /// Compares this method, too, under this name in the rows; its input is not read. It should have the same time
    /// column and leave out the same words as the first method, whose time column alone is checked.
    pub fn method(self, name: impl Into<String>, options: impl Into<String>, containment: Containment) -> Self {
        let way = match containment.scores() {
            [query::CODET_COMMON_NODES, ..] => Way::Codet,
            [query::SIMHASH_NEAR, ..] => Way::Join(query::SIMHASH_NEAR),
            [query::CONTAINED_SENTENCES_SHARES, ..] => Way::Join(query::CONTAINED_SENTENCES),
            _ => Way::Join(query::CONTAINED_DOCUMENTS),
        };
        self.contender(name.into(), options.into(), containment, way)
    }

    /// Compares the sets of a method by all postings of their elements, which must find the same pairs as the join.
    pub fn by_postings(self, name: impl Into<String>, options: impl Into<String>, containment: Containment) -> Self {
        self.contender(name.into(), options.into(), containment, Way::Postings)
    }

    fn contender(mut self, name: String, options: String, containment: Containment, way: Way) -> Self {
        self.contenders.push(Contender { name, options, containment, way });
        self
    }

    /// Sets the least share that counts as a containment, above 0 and up to 1, for labels that are shares. Default: the
    /// threshold of the first method.
    pub fn label_threshold(mut self, share: f64) -> Self {
        self.label_threshold = Some(share);
        self
    }

    /// Sets whether a pair without a label counts as no containment, so that finding it is wrong. Default: yes, but no
    /// if labels are shares both ways.
    pub fn labels_complete(mut self, are_complete: bool) -> Self {
        self.labels_complete = Some(are_complete);
        self
    }

    async fn run(self) -> Result<Found> {
        let Some(Contender { containment: first, .. }) = self.contenders.first() else {
            return Err(misuse!("there are no methods to compare"));
        };
        let label_threshold = self.label_threshold.unwrap_or(first.threshold);
        check_ratio("label_threshold", label_threshold)?;
        self.contenders.iter().try_for_each(|contender| contender.containment.check())?;
        let labelled = Labelled::of(&self.labelled, self.base.engine.stores())?;
        let mut reader = Run::begin(&self.base.engine, self.base.settings.clone())?;
        let labels = labelled.read_labels(&mut reader, &self.base.reading_of_run()?).await?;
        let documents = self.read_documents(&mut reader, &labelled.documents, first.time_column.as_deref()).await?;
        let truth = labelled.truth(&mut reader).await?;
        self.say_without_time(&mut reader, first).await?;

        let is_complete = self.labels_complete.unwrap_or(!labels.both_ways);
        let mut rows = Vec::new();
        let mut by_join = None;
        for contender in &self.contenders {
            let row = async {
                let mut run = reader.again()?;
                run.open_both(&stored(std::slice::from_ref(&documents))).await?;
                run.workspace.session.register_batch("truth", truth.clone())?;
                let cost = contender.run(&mut run, contender.containment.max_pairs).await?;
                match contender.way {
                    Way::Join(query::CONTAINED_DOCUMENTS) if by_join.is_none() => {
                        by_join = Some(found(&mut run).await?)
                    }
                    Way::Postings => check_same(by_join.as_ref(), &found(&mut run).await?)?,
                    _ => {}
                }
                let parameters = &mut run.workspace.parameters;
                parameters.set("method", contender.name.as_str());
                parameters.set("options", contender.options.as_str());
                parameters.set("label_threshold", label_threshold);
                parameters.set("complete", is_complete);
                parameters.set("measured", labels.are_shares);
                cost.set(&mut run);
                one_batch(&mut run, query::COMPARE_FIGURES).await
            };
            rows.push(row.await.with_context(|| format!("{}, {}", contender.name, contender.options))?);
        }
        reader.workspace.session.register_batch("comparison", table(&rows)?)?;
        let comparison = reader.workspace.session.table("comparison").await?;
        let printed = reader.workspace.run_all(&[query::COMPARE_PRINTED]).await?.context("it is a query")?;
        let counts = vec![
            ("documents", reader.workspace.rows_of(query::UNITS_DOCS)),
            ("labelled pairs", truth.num_rows() as u64),
        ];
        let summary = reader.summary_of(counts, None);
        Ok(Found::new(
            reader,
            "compare_containment",
            vec![("comparison", comparison), ("printed", printed)],
            summary,
            2,
        ))
    }

    /// Reads the documents, and numbers them. Returns the folder in which they are stored then.
    async fn read_documents(&self, reader: &mut Run, documents: &str, time_column: Option<&str>) -> Result<String> {
        let inputs = [documents.to_string()];
        let compared = Compared {
            inputs: &inputs,
            against: None,
            ignored: None,
            reading: self.base.reading_of_run()?,
            against_reading: None,
            needed: Needed::DocumentsAndSentences,
            same_ids: false,
        };
        let check = |table: &str, schema: &Schema| match time_column {
            Some(column) => Readable::TIMES.check(table, schema, "`time_column`", column),
            None => Ok(()),
        };
        let opened = reader.open_checked(&compared, check).await?;
        reader.workspace.parameters.set("against", false);
        reader.workspace.run_all(&[query::UNITS_DOCS]).await?;
        let folder = match opened.first() {
            Some(Stored::Corpus(folder)) => {
                if !Manifest::is_in(folder) {
                    // The methods open the folder by its name, so it needs a manifest.
                    Manifest::write(folder, &about_corpus(), reader.engine.stores())?;
                }
                folder.as_path()
            }
            Some(Stored::Objects { folder, .. }) => folder.as_path(),
            Some(Stored::Index(index)) => index.folder(),
            None => bail!("there are no documents in {documents}"),
        };
        Ok(folder.to_str().context("the temporary folder has a name that is not Unicode")?.to_string())
    }

    /// Notes which documents have no time, once for all methods.
    async fn say_without_time(&self, reader: &mut Run, first: &Containment) -> Result<()> {
        let Some(column) = &first.time_column else { return Ok(()) };
        reader.workspace.parameters = first.parameters(&first.signature_of_sets(), first.time_column.as_deref())?;
        reader.workspace.run_all(&[query::CONTAINMENT_TIMES]).await?;
        note_times(reader, column).await?;
        let left_out = reader.list(query::CONTAINMENT_WITHOUT_TIME, WITHOUT_TIME).await?;
        reader.leave_out(left_out);
        Ok(())
    }
}

/// The cost of a contender.
struct Cost {
    seconds: f64,
    cpu_seconds: f64,
    /// The number of pairs of documents that were compared, per document; `None` if it was not counted.
    compared: Option<f64>,
    /// The number of additions, per document; `None` if it was not counted.
    steps: Option<f64>,
}

impl Cost {
    fn set(&self, run: &mut Run) {
        let parameters = &mut run.workspace.parameters;
        parameters.set("seconds", self.seconds);
        parameters.set("cpu_seconds", self.cpu_seconds);
        for (name, count) in [("compared", self.compared), ("steps", self.steps)] {
            parameters.set(name, count.map_or_else(|| Literal::of_text("NULL"), Literal::from));
        }
    }
}

impl Contender {
    /// Finds the contained documents, and measures the cost.
    async fn run(&self, run: &mut Run, max_pairs: u64) -> Result<Cost> {
        let (began, cpu) = (Instant::now(), ProcessTime::try_now()?);
        if self.way == Way::Postings {
            self.join_postings(run, max_pairs).await?;
        } else {
            self.containment.score(run, self.containment.time_column.as_deref()).await?;
        }
        let (seconds, cpu_seconds) = (began.elapsed().as_secs_f64(), cpu.try_elapsed()?.as_secs_f64());
        let documents = run.workspace.rows_of(query::UNITS_DOCS).max(1);
        let (compared, steps) = match self.way {
            Way::Join(stage) => {
                (run.workspace.has_counted(stage).then(|| run.workspace.counted(stage, "verified")), None)
            }
            Way::Postings => {
                let [steps] = run.numbers(query::COMPARE_ESTIMATE).await?;
                (Some(run.workspace.rows_of(query::COMPARE_COMMON)), Some(steps))
            }
            Way::Codet => {
                let [compared] = run.numbers(query::COMPARE_VISITED).await?;
                let [steps] = run.numbers(query::CODET_ESTIMATE).await?;
                (Some(compared), Some(steps))
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let per_document = |count: u64| count as f64 / documents as f64;
        Ok(Cost { seconds, cpu_seconds, compared: compared.map(per_document), steps: steps.map(per_document) })
    }

    /// Joins the sets of the method by all their elements.
    async fn join_postings(&self, run: &mut Run, max_pairs: u64) -> Result<()> {
        let signature = self.containment.signature_of_sets();
        run.workspace.parameters = self.containment.parameters(&signature, self.containment.time_column.as_deref())?;
        let mut stages = self.containment.before_pairs(signature.query).0;
        stages.truncate(stages.iter().position(|stage| *stage == query::TEXTS).unwrap_or(stages.len()));
        stages.push(query::COMPARE_POSTINGS);
        run.workspace.run_all(&stages).await?;
        run.refuse_more_pairs(query::COMPARE_ESTIMATE, max_pairs, "leave out frequent words (`without_stop_words`)")
            .await?;
        run.workspace.run_all(&[query::COMPARE_COMMON, query::COMPARE_SCORES]).await?;
        run.workspace.run_all(&self.containment.timing(self.containment.time_column.as_deref())).await.map(drop)
    }
}

/// Returns a collection that is stored in a folder, ready to be opened.
fn stored(folder: &[String]) -> Compared<'_> {
    Compared {
        inputs: folder,
        against: None,
        ignored: None,
        reading: corpus::Options::default(),
        against_reading: None,
        needed: Needed::DocumentsAndSentences,
        same_ids: false,
    }
}

/// Returns the rows that a run found, in order.
async fn found(run: &mut Run) -> Result<RecordBatch> {
    one_batch(run, query::COMPARE_FOUND).await
}

/// Returns the rows of a query in one batch.
async fn one_batch(run: &mut Run, query: Query) -> Result<RecordBatch> {
    let rows = run.workspace.run_all(&[query]).await?.context("it is a query")?;
    let schema = Arc::clone(rows.schema().inner());
    let batches = rows.collect().await.with_context(|| format!("in queries/{}", query.file))?;
    // The nullability of the rows may differ from that of the query.
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    Ok(concat_batches(&schema, &batches)?)
}

/// Returns the rows of all methods in one batch. All columns are made nullable, since the schema of one row does not
/// show the NULLs of others.
fn table(rows: &[RecordBatch]) -> Result<RecordBatch> {
    let schema = rows.first().context("there are methods")?.schema();
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Ok(concat_batches(&Arc::new(Schema::new(fields.collect::<Vec<_>>())), rows)?)
}

/// Fails if the two joins did not find the same pairs.
fn check_same(by_join: Option<&RecordBatch>, by_postings: &RecordBatch) -> Result<()> {
    if by_join.is_some_and(|by_join| by_join.columns() != by_postings.columns()) {
        bail!(
            "internal error: the similarity join found {} pairs and the join of postings {}, and they are not the same with the \
             same scores; please report it with the documents",
            by_join.map_or(0, RecordBatch::num_rows),
            by_postings.num_rows()
        );
    }
    Ok(())
}

/// Returns the file or folder that has one of these names, with any extension, in a folder.
fn named(folder: &Path, names: &[&str], what: &str, stores: &Arc<Stores>) -> Result<String> {
    let is_wanted = |name: &String| names.iter().any(|it| name == it || name.starts_with(&format!("{it}.")));
    let there = entries(folder, stores)?;
    let there = there.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let found: Vec<_> = there.filter(is_wanted).collect();
    let wanted: Vec<_> = names.iter().map(|name| format!("{name}.*")).collect();
    match found.as_slice() {
        [one] => Ok(folder.join(one).to_str().context("the folder has a name that is not Unicode")?.to_string()),
        [] => bail!("there is no {} in {}: it has the {what}", wanted.join(" or "), folder.display()),
        several => bail!("{} has {}; leave one of them, which has the {what}", folder.display(), several.join(" and ")),
    }
}
