use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use arrow::array::{AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::stream;
use serde_json::{Value, json};
use tempfile::tempdir_in;

use crate::corpus::Portion;
use crate::corpus::ingest::{Needed, ingest_any};
use crate::export::layout::FILES;
use crate::plan_properties::plan_properties;
use crate::seal::Written;
use crate::store::{GivenUp, Location, Stores, When, put, write_unless_dropped};

/// What a task has made of a portion of files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CorpusPart {
    /// The number of the portion.
    pub(crate) portion: u64,
    /// The folder with its documents and their sentences, and what was written of each; none where there are no documents.
    pub(crate) written: Option<(String, [Written; 2])>,
    /// True if no other document can have an id of these.
    pub(crate) makes_ids: bool,
    /// The counts, as those of an ingest.
    pub(crate) ingested: Value,
}

impl CorpusPart {
    fn to_json(&self) -> Value {
        let written = self.written.as_ref().map(|(folder, files)| {
            let file = |file: &Written| json!([file.rows, file.bytes, file.seal.to_string()]);
            json!({ "folder": folder, "files": files.iter().map(file).collect::<Vec<_>>() })
        });
        json!({ "written": written, "makes_ids": self.makes_ids, "ingested": self.ingested })
    }

    fn of_json(portion: u64, json: &Value) -> anyhow::Result<Self> {
        let number = |json: &Value| json.as_u64().context("no number");
        let file = |json: &Value| -> anyhow::Result<Written> {
            let seal = json[2].as_str().context("no seal")?.parse().context("no seal")?;
            Ok(Written { rows: number(&json[0])?, bytes: number(&json[1])?, seal })
        };
        let written = match &json["written"] {
            Value::Null => None,
            written => {
                let folder = written["folder"].as_str().context("no folder")?.to_owned();
                Some((folder, [file(&written["files"][0])?, file(&written["files"][1])?]))
            }
        };
        let makes_ids = json["makes_ids"].as_bool().unwrap_or_default();
        Ok(Self { portion, written, makes_ids, ingested: json["ingested"].clone() })
    }

    /// Returns the parts that some rows of an [`IngestExec`] tell of.
    pub(crate) fn of_rows(rows: &RecordBatch) -> anyhow::Result<Vec<Self>> {
        let (portions, told) = (rows.column(0).as_primitive::<UInt64Type>(), rows.column(1).as_string::<i32>());
        let part = |i: usize| Self::of_json(portions.value(i), &serde_json::from_str(told.value(i))?);
        (0..rows.num_rows()).map(part).collect()
    }
}

/// Reads files, a portion in each partition, and writes the documents of each portion and their sentences to a folder of their own. Gives
/// a row of each portion.
///
/// A folder has a name that no other has, so that a task may run twice. Those count whose rows arrive where the plan is run.
#[derive(Debug)]
pub(crate) struct IngestExec {
    /// The address of the folder of the folders, with a slash at its end.
    pub(crate) folder: String,
    /// The beginning of the name of each folder.
    pub(crate) prefix: String,
    pub(crate) portions: Vec<Portion>,
    /// The number of the first portion.
    pub(crate) first: u64,
    properties: Arc<PlanProperties>,
}

impl IngestExec {
    pub(crate) fn new(folder: String, prefix: String, first: u64, portions: Vec<Portion>) -> Self {
        let schema = Schema::new(vec![
            Field::new("portion", DataType::UInt64, false),
            Field::new("told", DataType::Utf8, false),
        ]);
        let properties = plan_properties(Arc::new(schema), portions.len(), EmissionType::Final);
        Self { folder, prefix, portions, first, properties }
    }
}

impl DisplayAs for IngestExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IngestExec: portions={}", self.portions.len())
    }
}

impl ExecutionPlan for IngestExec {
    fn name(&self) -> &'static str {
        "IngestExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("IngestExec has no inputs") }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (folder, prefix) = (self.folder.clone(), self.prefix.clone());
        let (files, portion) = (self.portions[partition].clone(), self.first + partition as u64);
        let schema = self.schema();
        let of_row = Arc::clone(&schema);
        let read = async move {
            let part = ingest_portion(files, portion, &folder, &prefix, &context).await;
            let part = part.map_err(|error| match error.downcast::<DataFusionError>() {
                Ok(error) => error,
                Err(error) => DataFusionError::External(error.into()),
            })?;
            let told = StringArray::from(vec![part.to_json().to_string()]);
            Ok(RecordBatch::try_new(of_row, vec![Arc::new(UInt64Array::from(vec![portion])), Arc::new(told)])?)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::once(read))))
    }
}

/// Reads a portion of files, and writes what is in it below a folder.
async fn ingest_portion(
    files: Portion,
    portion: u64,
    folder: &str,
    prefix: &str,
    context: &Arc<TaskContext>,
) -> anyhow::Result<CorpusPart> {
    let stores = context.session_config().get_extension::<Stores>();
    let stores = stores.ok_or_else(|| internal_datafusion_err!("a session without stores; please report it"))?;
    let reached = Arc::clone(&stores);
    let documents = SpawnedTask::spawn_blocking(move || files.open(&reached)).join().await??;
    let makes_ids = documents.makes_ids();
    let beside = context.runtime_env().disk_manager.create_tmp_file("the documents of a portion")?;
    let beside =
        beside.path().and_then(|path| path.parent()).context("temporary files are in no folder")?.to_path_buf();
    let staged = tempdir_in(&beside).with_context(|| format!("cannot make a folder in {}", beside.display()))?;
    let (ingested, written) = ingest_any(1, documents, staged.path(), Needed::DocumentsAndSentences).await?;
    let written: [Written; 2] = written.try_into().map_err(|_| anyhow!("documents without sentences"))?;
    let mut part = CorpusPart { portion, written: None, makes_ids, ingested: ingested.to_json() };
    if ingested.summary.documents == 0 {
        return Ok(part);
    }
    let name = format!("{prefix}{:08x}", RandomState::new().hash_one(portion) >> 32);
    let place = format!("{folder}{name}");
    let failed = || format!("cannot write {place}");
    let places = FILES.map(|file| Ok(Location::of(&format!("{place}/{file}"), &stores)?.with_context(failed)?));
    let places = places.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let given_up = GivenUp::default();
    let told = given_up.clone();
    write_unless_dropped(&stores, &given_up, move || {
        for (file, place) in FILES.iter().zip(&places) {
            put(&staged.path().join(file), place, When::Always, &told)?;
        }
        Ok(())
    })
    .await?;
    part.written = Some((name, written));
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::Root;

    #[test]
    fn a_part_is_read_as_it_was_told() {
        let file = |rows| Written { rows, bytes: 1 << 40, seal: Root(u64::MAX - rows) };
        for written in [None, Some(("00000001-0123456789abcdef".to_owned(), [file(1), file(2)]))] {
            let part = CorpusPart { portion: 7, written, makes_ids: true, ingested: json!({ "documents": 3 }) };
            assert_eq!(CorpusPart::of_json(7, &part.to_json()).unwrap(), part);
        }
        assert!(CorpusPart::of_json(0, &json!({ "written": {} })).is_err());
    }
}
