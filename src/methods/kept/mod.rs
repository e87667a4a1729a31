//! The collection that a method outputs: without what is removed, in the order and with the columns of the user's
//! files.

mod annotations;
mod cuts;
mod in_order;
mod user_columns;

use std::sync::Arc;

use anyhow::Result;
use arrow::array::{Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::dataframe::DataFrame;
use datafusion::physical_plan::ExecutionPlan;
use futures::TryStreamExt;
use serde_json::{Value, json};

use self::annotations::Annotations;
pub(super) use self::cuts::Cuts;
use self::in_order::in_order;
use self::user_columns::UserColumns;
use super::check_ranges;
use super::options::Given;
use crate::error::misuse;
use crate::export::{PartFormat, Parts};
use crate::pipeline::query::Query;
use crate::run::Run;

/// The form in which a collection is output.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) parts: Parts,
    pub(super) ids_only: bool,
    pub(super) annotates: bool,
}

/// Gives a builder the options of methods that output a collection.
macro_rules! shape_options {
    ($builder:ident) => {
        impl $builder {
            /// Sets the format of the kept documents, if they are written to a folder. Default: Parquet.
            pub fn format(mut self, format: $crate::methods::PartFormat) -> Self {
                self.shape.parts.format = format;
                self
            }

            /// Writes at most this many of the kept documents to a file, 1 or more. Default: all to one.
            pub fn rows_per_file(mut self, rows: u64) -> Self {
                self.shape.parts.rows_per_file = Some(rows);
                self
            }

            /// Outputs only the ids of the kept documents.
            pub fn ids_only(mut self, is_so: bool) -> Self {
                self.shape.ids_only = is_so;
                self
            }

            /// Leaves all documents as they are, and adds columns that say what would be removed, and why: `is_kept`,
            /// and the columns of the method.
            pub fn annotate(mut self, annotates: bool) -> Self {
                self.shape.annotates = annotates;
                self
            }
        }
    };
}
pub(super) use shape_options;

impl Shape {
    /// Fails if options do not go together. `has_list` is true if the annotations have a list.
    pub(super) fn check(self, has_list: bool) -> Result<()> {
        if has_list && self.annotates && self.parts.format == PartFormat::Csv {
            return Err(misuse!("`annotate` adds a list, which CSV cannot hold; take another `format`, such as jsonl"));
        }
        if self.ids_only && self.annotates {
            return Err(misuse!(
                "`annotate` adds columns to all documents, and `ids_only` leaves theirs out; take one of the two"
            ));
        }
        check_ranges(&[("rows_per_file", self.parts.rows_per_file, 1, u64::MAX)])
    }

    /// Returns the options by their names.
    pub(super) fn options(self) -> Value {
        json!({
            "format": self.parts.format.name(),
            "rows_per_file": self.parts.rows_per_file,
            "ids_only": self.ids_only,
            "annotate": self.annotates,
        })
    }

    /// Sets `format`, `rows_per_file`, `ids_only` or `annotate`.
    pub(super) fn set_option(&mut self, given: Given<'_>) -> Result<()> {
        match given.name {
            "format" => self.parts.format = given.choice(&PartFormat::NAMES)?,
            "rows_per_file" => self.parts.rows_per_file = Some(given.number()?),
            "ids_only" => self.ids_only = given.flag()?,
            _ => self.annotates = given.flag()?,
        }
        Ok(())
    }

    /// Returns the documents in the form in which they are output. `annotations` is the query of the positions of
    /// documents and their annotations.
    pub(super) async fn kept(self, run: &mut Run, cuts: Cuts, annotations: Query) -> Result<DataFrame> {
        let needs_ids_alone = self.ids_only && cuts.is_of_documents();
        let documents = documents_in_order(run, if needs_ids_alone { &["doc_id"] } else { &[] }).await?;
        let columns = UserColumns::new(&documents.schema(), run.user_columns(), self.ids_only);
        if !self.annotates {
            let schema = Arc::clone(&columns.schema);
            let change = move |first: u64, batch: &RecordBatch| columns.of(&cuts.apply(first, batch)?);
            return Ok(run.workspace.session.read_table(in_order(documents, schema, change)?)?);
        }
        let rows = run.rows(annotations).await?;
        let row_schema = Arc::clone(rows.schema().inner());
        let annotations = Annotations::new(&concat_batches(&row_schema, &rows.collect().await?)?)?;
        let schema = annotations.schema(&columns.schema)?;
        let of_rows = Arc::clone(&schema);
        let change = move |first: u64, batch: &RecordBatch| {
            annotations.of(first, &columns.of(batch)?, cuts.stays(first, batch)?, &of_rows)
        };
        Ok(run.workspace.session.read_table(in_order(documents, schema, change)?)?)
    }
}

/// Returns what is removed, by queries of positions.
pub(super) async fn cuts(run: &mut Run, queries: &[Query]) -> Result<Cuts> {
    let mut cuts = Cuts::default();
    for query in queries {
        add_cuts(run, &mut cuts, *query).await?;
    }
    Ok(cuts)
}

/// Adds what a query of positions removes, too.
pub(super) async fn add_cuts(run: &mut Run, cuts: &mut Cuts, query: Query) -> Result<()> {
    let mut rows = run.rows(query).await?.execute_stream().await?;
    while let Some(batch) = rows.try_next().await? {
        cuts.add(&batch)?;
    }
    Ok(())
}

/// Registers the table `remaining`: the kept documents, without the pieces that are cut out.
pub(super) async fn register_remaining(run: &Run, cuts: Cuts) -> Result<()> {
    let documents = documents_in_order(run, &["doc_id", "text"]).await?;
    let schema = documents.schema();
    let remaining = in_order(documents, schema, move |first, batch| cuts.apply(first, batch))?;
    run.workspace.session.register_table("remaining", remaining)?;
    Ok(())
}

/// Plans to read the documents in the order of their files: these columns of them, or all if none is named.
async fn documents_in_order(run: &Run, columns: &[&str]) -> Result<Arc<dyn ExecutionPlan>> {
    let alone = run.session_of_one_thread()?;
    alone.register_table("documents", run.workspace.session.table_provider("documents").await?)?;
    let documents = alone.table("documents").await?;
    let documents = if columns.is_empty() { documents } else { documents.select_columns(columns)? };
    Ok(documents.create_physical_plan().await?)
}

/// Registers the table `numbered`: each document with its place among all that were read.
pub(super) async fn number(run: &Run) -> Result<()> {
    let ids = documents_in_order(run, &["doc_id"]).await?;
    let fields = vec![ids.schema().field(0).clone(), Field::new("position", DataType::Int64, false)];
    let schema = Arc::new(Schema::new(fields));
    let numbered = Arc::clone(&schema);
    let change = move |first: u64, batch: &RecordBatch| {
        let rows = first..first + batch.num_rows() as u64;
        let positions: Int64Array = rows.map(u64::cast_signed).collect();
        let columns = vec![Arc::clone(batch.column(0)), Arc::new(positions) as _];
        Ok(RecordBatch::try_new(Arc::clone(&numbered), columns)?)
    };
    run.workspace.session.register_table("numbered", in_order(ids, schema, change)?)?;
    Ok(())
}
