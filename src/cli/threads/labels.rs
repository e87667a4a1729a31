//! What labelled pairs say of the fields, and the weights that they ask for.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::{AsArray, Float64Array, RecordBatch, StringArray};
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::util::pretty::pretty_format_batches;

use super::{Field, Threads, run_parts, similarities};
use crate::cli::run::{Run, grouped};
use crate::pipeline::query::{self, Literal};
use crate::weights::{Examples, Figures};

/// Into how many parts labelled pairs are dealt, each to be judged by what the others give.
const FOLDS: usize = 5;

impl Threads {
    /// Judges the fields by labelled pairs, and fits their weights if that is asked for. Gives the threshold to take.
    pub(super) async fn judge(&self, run: &mut Run<'_>, fields: &mut [Field], labels: &Path) -> Result<f64> {
        let examples = self.examples(run, fields, labels).await?;
        if examples.is_one_sided() {
            bail!(
                "{} has {} labelled pairs of threads that are there, {} of them duplicates; there must be some of both \
                 kinds",
                labels.display(),
                grouped(examples.len() as u64),
                grouped(examples.duplicates() as u64)
            );
        }
        let mut threshold = self.given_threshold();
        let mut held_out = None;
        if self.weights.is_some() {
            let fitted = examples.fit(usize::from(self.starts), self.seed);
            fields.iter_mut().zip(&fitted.weights).for_each(|(field, weight)| field.weight = *weight);
            threshold = self.threshold.unwrap_or(fitted.threshold);
            held_out = examples.cross_validate(FOLDS, usize::from(self.starts), self.seed);
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
        if let Some(path) = &self.evaluation {
            run.workspace.session.register_batch("evaluation", table.clone())?;
            run.write_table("SELECT * FROM evaluation", path).await?;
        }
        run.say(&format!(
            "{} labelled pairs, {} of them duplicates; of a field alone the best threshold\n{}",
            grouped(examples.len() as u64),
            grouped(examples.duplicates() as u64),
            pretty_format_batches(&[rounded(&table)?])?
        ));
        if self.weights.is_some() {
            let options: Vec<_> =
                fields.iter().map(|field| format!("--field {}={}", field.name, field.weight)).collect();
            run.say(&format!("fitted: {} --threshold {threshold}", options.join(" ")));
        }
        Ok(threshold)
    }

    async fn examples(&self, run: &mut Run<'_>, fields: &[Field], labels: &Path) -> Result<Examples> {
        let mut parameters = self.parameters(fields, self.given_threshold());
        let path = labels.to_str().context("the file of --labels has a name that is not Unicode")?;
        parameters.set("labels", path);
        parameters.set("label", Literal::column(&self.label));
        run_parts(run, vec![(parameters.clone(), vec![query::LABELS, query::LABELS_CANDIDATES])]).await?;
        let rows = run.workspace.run_all(&[query::LABELS_UNKNOWN]).await?.context("it is a query")?;
        let unknown = rows.clone().count().await?;
        if unknown > 0 {
            let shown = rows.limit(0, Some(10))?.to_string().await?;
            run.say(&format!(
                "{} labelled pairs name threads that are not there, and are left out\n{shown}",
                grouped(unknown as u64)
            ));
        }
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

/// How well fields and scores tell labelled pairs apart.
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

/// The table with four decimal places, for people.
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
