//! Fields judged by labelled pairs, and weights fitted to them.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use arrow::array::{AsArray, Float64Array, RecordBatch, StringArray};
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::util::display::array_value_to_string;
use arrow::util::pretty::pretty_format_batches;
use datafusion::common::runtime::SpawnedTask;

use super::columns::Form;
use super::{Field, Threads, run_parts, similarities};
use crate::corpus;
use crate::corpus::ingest::Needed;
use crate::pipeline::query::{self, Literal, Parameters};
use crate::run::{Run, grouped};
use crate::weights::{Examples, Figures};

/// The number of parts into which labelled pairs are split. Each part is judged by weights that are fitted to the
/// others.
const FOLDS: usize = 5;

impl Threads {
    /// Judges the fields by labelled pairs, and fits their weights if that is asked for. Returns the threshold to take.
    pub(super) async fn judge(&self, run: &mut Run, fields: &mut [Field]) -> Result<f64> {
        let (labels, _) = self.labels.as_ref().context("labels are judged by")?;
        let examples = Arc::new(self.examples(run, fields).await?);
        if examples.is_one_sided() {
            bail!(
                "{} has {} labelled pairs whose threads are in the input, {} of them duplicates; there must be \
                 duplicates and others",
                labels.display(),
                grouped(examples.len() as u64),
                grouped(examples.duplicates() as u64)
            );
        }
        let mut threshold = self.given_threshold();
        let (mut held_out, mut seconds) = (None, 0.0);
        if let Some((starts, seed)) = self.fit {
            let starts = usize::from(starts);
            let threads = run.workspace.session.copied_config().target_partitions();
            let examples = Arc::clone(&examples);
            let began = Instant::now();
            // The fit may take long, so it runs on a thread of its own, and on more.
            let fit = SpawnedTask::spawn_blocking(move || examples.fit(FOLDS, starts, seed, threads));
            let (fitted, others) = fit.join().await.context("the fit stopped")?;
            fields.iter_mut().zip(&fitted.weights).for_each(|(field, weight)| field.weight = *weight);
            threshold = self.threshold.unwrap_or(fitted.threshold);
            (held_out, seconds) = (others, began.elapsed().as_secs_f64());
        }
        let mut table = Table::default();
        for (i, field) in fields.iter().enumerate() {
            let alone: Vec<_> = (0..fields.len()).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
            table.push(&field.name, Some(field.weight), examples.judge(&alone, None));
        }
        let weights: Vec<_> = fields.iter().map(|field| field.weight).collect();
        table.push("score", None, examples.judge(&weights, Some(threshold)));
        if let Some(held_out) = held_out {
            table.push("score, held out", None, held_out);
        }
        let table = table.batch()?;
        run.workspace.session.register_batch("evaluation", table.clone())?;
        run.note(format!(
            "{} labelled pairs, {} of them duplicates; of a field alone the best threshold\n{}",
            grouped(examples.len() as u64),
            grouped(examples.duplicates() as u64),
            pretty_format_batches(&[rounded(&table)?])?
        ));
        if self.fit.is_some() {
            let fields = fields.iter().map(|field| format!("{}={}", field.name, field.weight));
            let fields = fields.map(|field| format!("`field = {}`", quoted(&field)));
            let signatures = self.signature.iter().map(|option| format!("`signature = {}`", quoted(&option.text)));
            let options: Vec<_> = fields.chain(signatures).collect();
            run.note(format!("fitted in {seconds:.1} s: {} `threshold = {threshold}`", options.join(" ")));
        }
        Ok(threshold)
    }

    /// Reads the labelled pairs, if there are any, and notes which rows do not count.
    pub(super) async fn read_labels(&self, run: &mut Run) -> Result<()> {
        let Some((labels, label)) = &self.labels else { return Ok(()) };
        let file = labels.to_str().context("the file of `labels` has a name that is not Unicode")?;
        let reading = of_labels(if label == "text" { "text" } else { "" }, &self.base.reading);
        let documents = corpus::open(&[file.to_string()], &reading, run.engine.stores())?;
        let schema = documents.schema();
        for wanted in ["id_a", "id_b", label] {
            let Ok(found) = schema.field_with_name(wanted) else {
                let there: Vec<_> = schema.fields().iter().skip(2).map(|field| field.name().as_str()).collect();
                bail!(
                    "{file} has no column {wanted:?}; its columns are {}; `labels` needs id_a, id_b, and the column that \
                     `label` names",
                    there.join(", ")
                );
            };
            if Form::of(found.data_type()).is_none() {
                bail!("the column {wanted:?} of {file} holds {}; it must be text or numbers", found.data_type());
            }
        }
        run.take_in("labels_", documents, Needed::Documents, false).await.with_context(|| format!("in {file}"))?;
        let mut parameters = Parameters::default();
        parameters.set("label", Literal::column(label));
        parameters.set("against", self.base.against.is_some());
        run_parts(run, vec![(parameters, vec![query::LABELS_ROWS])]).await?;
        self.check_labels(run, file).await?;
        run.workspace.run_all(&[query::LABELS]).await?;
        let [incomplete, of_itself, repeated] = run.numbers(query::LABELS_LEFT_OUT).await?;
        for (rows, what) in [
            (incomplete, "lack an id or a label, and are left out"),
            (of_itself, "are of a thread with itself, and are left out"),
            (repeated, "name a pair that stands before, and do not count again"),
        ] {
            if rows > 0 {
                run.note(format!("{} rows of {file} {what}", grouped(rows)));
            }
        }
        let what = format!("pairs of {file} are labelled both ways, and are left out");
        run.list(query::LABELS_CONTRADICTORY, &what).await.map(drop)
    }

    /// Fails if a label says neither that two threads are duplicates nor that they are not.
    async fn check_labels(&self, run: &mut Run, file: &str) -> Result<()> {
        let rows = run.workspace.run_all(&[query::LABELS_UNREAD]).await?.context("it is a query")?;
        let unread = rows.clone().count().await? as u64;
        let first = rows.limit(0, Some(1))?.collect().await?;
        if let Some(row) = first.iter().find(|batch| batch.num_rows() > 0) {
            let shown = |column: usize| array_value_to_string(row.column(column), 0);
            bail!(
                "{file}: the label of {} and {} is {:?}, one of {} that say neither yes nor no; write true, yes or 1 for \
                 duplicates, and false, no or 0 for others",
                shown(0)?,
                shown(1)?,
                shown(2)?,
                grouped(unread)
            );
        }
        Ok(())
    }

    async fn examples(&self, run: &mut Run, fields: &[Field]) -> Result<Examples> {
        let parameters = self.parameters(fields, self.given_threshold());
        run_parts(run, vec![(parameters.clone(), vec![query::LABELS_CANDIDATES])]).await?;
        run.list(query::LABELS_UNKNOWN, "labelled pairs name threads that are not there, and are left out").await?;
        run_parts(run, similarities(fields)).await?;
        run.workspace.parameters = parameters;
        let rows = run.workspace.run_all(&[query::LABELS_EXAMPLES]).await?.context("it is a query")?;
        let mut examples = Examples { fields: fields.len(), ..Examples::default() };
        for batch in rows.collect().await? {
            examples.groups.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
            examples.labels.extend(batch.column(1).as_boolean().iter().map(|label| label == Some(true)));
            let columns: Vec<_> =
                batch.columns()[2..].iter().map(|c| c.as_primitive::<Float64Type>().values()).collect();
            examples.similarities.extend((0..batch.num_rows()).flat_map(|row| columns.iter().map(move |c| c[row])));
        }
        Ok(examples)
    }
}

/// Returns the options for reading labels. All columns are kept under their names, whatever these are.
pub(crate) fn of_labels(text_column: &str, reading: &corpus::Options) -> corpus::Options {
    corpus::Options {
        text_column: Some(text_column.to_owned()),
        text_is_optional: true,
        id_column: Some(String::new()),
        results: reading.results.clone(),
        ..corpus::Options::default()
    }
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    if argument.chars().all(|c| c.is_alphanumeric() || "_-+=:.,/".contains(c)) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// The table of how well fields and scores tell labelled pairs apart.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    weights: Vec<Option<f64>>,
    figures: Vec<Figures>,
}

impl Table {
    fn push(&mut self, name: &str, weight: Option<f64>, figures: Figures) {
        self.names.push(name.to_string());
        self.weights.push(weight);
        self.figures.push(figures);
    }

    fn batch(&self) -> Result<RecordBatch> {
        let column = |of: fn(&Figures) -> f64| Arc::new(self.figures.iter().map(of).collect::<Float64Array>()) as _;
        Ok(RecordBatch::try_from_iter_with_nullable([
            ("what", Arc::new(StringArray::from(self.names.clone())) as _, false),
            ("weight", Arc::new(Float64Array::from(self.weights.clone())) as _, true),
            ("threshold", column(|figures| figures.threshold), false),
            ("precision", column(|figures| figures.precision), false),
            ("recall", column(|figures| figures.recall), false),
            ("f1", column(|figures| figures.f1), false),
            ("auc", column(|figures| figures.auc), false),
        ])?)
    }
}

/// Returns the table with its numbers rounded to four decimal places, for people.
fn rounded(table: &RecordBatch) -> Result<RecordBatch> {
    let columns = table.columns().iter().map(|column| match column.as_primitive_opt::<Float64Type>() {
        Some(numbers) => {
            let shown = numbers.iter().map(|number| number.map(|number| format!("{number:.4}")));
            Arc::new(shown.collect::<StringArray>()) as _
        }
        None => Arc::clone(column),
    });
    let names = table.schema();
    let names = names.fields().iter().map(|field| (field.name().clone(), field.is_nullable()));
    Ok(RecordBatch::try_from_iter_with_nullable(
        names.zip(columns).map(|((name, nullable), column)| (name, column, nullable)),
    )?)
}
