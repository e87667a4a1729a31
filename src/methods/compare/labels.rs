//! Labelled containments: which document is contained in which, or which share of it is.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::util::display::array_value_to_string;

use super::{named, one_batch};
use crate::corpus::ingest::Needed;
use crate::corpus::{self, Options};
use crate::methods::threads::{Readable, of_labels};
use crate::pipeline::query::{self, Literal, Parameters, Query};
use crate::run::{Run, grouped};
use crate::store::Stores;

/// A labelled collection.
pub(super) struct Labelled {
    /// The documents.
    pub(super) documents: String,
    labels: String,
}

/// The properties of labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels {
    /// True if each row has labels for both directions.
    pub(super) both_ways: bool,
    /// True if labels say which share of a document is in the other, and not only whether it is contained.
    pub(super) are_shares: bool,
}

/// The columns of labels: the two documents, and the shares, if there are any.
struct Columns {
    ids: [&'static str; 2],
    shares: Vec<&'static str>,
}

impl Columns {
    fn of(file: &str, schema: &Schema) -> Result<Self> {
        let has = |columns: &[&str]| columns.iter().all(|column| schema.field_with_name(column).is_ok());
        let columns = if has(&["id_a", "id_b", "a_in_b", "b_in_a"]) {
            Self { ids: ["id_a", "id_b"], shares: vec!["a_in_b", "b_in_a"] }
        } else if has(&["contained", "container"]) {
            let share = ["share", "label"].into_iter().find(|column| has(&[column]));
            Self { ids: ["contained", "container"], shares: share.into_iter().collect() }
        } else {
            let there: Vec<_> = schema.fields().iter().skip(2).map(|field| field.name().as_str()).collect();
            bail!(
                "{file} has neither the columns contained and container nor id_a, id_b, a_in_b and b_in_a; its columns are {}",
                there.join(", ")
            );
        };
        for column in columns.ids.iter().chain(&columns.shares) {
            Readable::AS_TEXT.check(file, schema, "compare", column)?;
        }
        Ok(columns)
    }

    fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::default();
        let [contained, container] = self.ids;
        parameters.set("contained", Literal::column(contained));
        parameters.set("container", Literal::column(container));
        let share =
            |i: usize, none: &str| self.shares.get(i).map_or_else(|| Literal::of_text(none), |c| Literal::column(c));
        parameters.set("share", share(0, "true"));
        parameters.set("share_back", share(1, "NULL"));
        parameters.set("both_ways", self.shares.len() == 2);
        parameters
    }
}

impl Labelled {
    /// Finds the documents and the labels of a folder.
    pub(super) fn of(folder: &Path, stores: &Arc<Stores>) -> Result<Self> {
        Ok(Self {
            documents: named(folder, &["docs"], "documents", stores)?,
            labels: named(folder, &["gold", "labels"], "labels", stores)?,
        })
    }

    /// Reads the labels. Fails if a label cannot be read, or contradicts another.
    pub(super) async fn read_labels(&self, reader: &mut Run, reading: &Options) -> Result<Labels> {
        let file = &self.labels;
        let rows = corpus::open(std::slice::from_ref(file), &of_labels("", reading), reader.engine.stores())?;
        let columns = Columns::of(file, &rows.schema())?;
        reader.take_in("labels_", rows, Needed::Documents, false).await?;
        reader.workspace.parameters = columns.parameters();
        reader.workspace.run_all(&[query::COMPARE_LABEL_ROWS]).await?;
        if let Some([record, reason]) = first(reader, query::COMPARE_LABELS_UNREAD).await? {
            bail!("{file}, record {record}: {reason}; a label has two ids, and a share from 0 to 1, or true or false");
        }
        reader.workspace.run_all(&[query::COMPARE_LABELS]).await?;
        if let Some([contained, container, least, most]) = first(reader, query::COMPARE_LABELS_CONTRADICTORY).await? {
            bail!("{file} says of {contained:?} in {container:?} both {least} and {most}; leave one of them");
        }
        let labels =
            Labels { both_ways: columns.shares.len() == 2, are_shares: !matches!(columns.shares[..], [] | ["label"]) };
        Ok(labels)
    }

    /// Returns the labelled pairs whose documents exist, and notes the pairs whose documents do not. Needs the
    /// documents and the labels to be read.
    pub(super) async fn truth(&self, reader: &mut Run) -> Result<RecordBatch> {
        let of_itself = reader.workspace.session.sql("SELECT * FROM label_rows WHERE contained = container").await?;
        let of_itself = of_itself.count().await? as u64;
        if of_itself > 0 {
            reader.note(format!("{} labels are of a document and itself, and are left out", grouped(of_itself)));
        }
        reader
            .list(query::COMPARE_LABELS_UNKNOWN, "labelled pairs name documents that are not there, and are left out")
            .await?;
        let truth = one_batch(reader, query::COMPARE_TRUTH).await?;
        if truth.num_rows() == 0 {
            bail!("no label of {} is of two documents that are there: {}", self.labels, self.documents);
        }
        Ok(truth)
    }
}

/// Returns the first row of a query as text, if there is one.
async fn first<const N: usize>(reader: &mut Run, query: Query) -> Result<Option<[String; N]>> {
    let rows = one_batch(reader, query).await?;
    if rows.num_rows() == 0 {
        return Ok(None);
    }
    let mut cells = [const { String::new() }; N];
    for (cell, column) in cells.iter_mut().zip(rows.columns()) {
        *cell = array_value_to_string(column, 0)?;
    }
    Ok(Some(cells))
}
