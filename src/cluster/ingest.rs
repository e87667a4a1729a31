use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use arrow::array::{AsArray, BinaryArray, RecordBatch, StringBuilder, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::TryStreamExt;
use prost::Message;
use serde_json::{Value, json};
use tempfile::tempdir_in;

use crate::corpus::Portion;
use crate::corpus::ingest::{Needed, ingest_any};
use crate::export::layout::FILES;
use crate::plan_properties::plan_properties;
use crate::seal::Written;
use crate::store::{Location, Stores, put_new_unless_dropped};

/// The part of a corpus that one task has made of a portion of files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CorpusPart {
    /// The number of the portion.
    pub(crate) portion: u64,
    /// The folder with its documents and their sentences, and the size and seal of both files; `None` if there are no
    /// documents.
    pub(crate) written: Option<(String, [Written; 2])>,
    /// True if no other document can have one of its ids.
    pub(crate) makes_ids: bool,
    /// The counts, in the form of an ingest.
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

    /// Returns the parts in rows of an [`IngestExec`].
    pub(crate) fn of_rows(rows: &RecordBatch) -> anyhow::Result<Vec<Self>> {
        let (portions, told) = (rows.column(0).as_primitive::<UInt64Type>(), rows.column(1).as_string::<i32>());
        let part = |i: usize| Self::of_json(portions.value(i), &serde_json::from_str(told.value(i))?);
        (0..rows.num_rows()).map(part).collect()
    }
}

/// An operator that reads the portions of files in the rows of its input, and writes the documents of each portion and
/// their sentences to a folder of its own. It returns a row for each portion.
///
/// A folder has a name that no other portion has. A task that runs twice mostly writes to two folders, or else the same
/// bytes to one. A folder counts if its row arrives where the plan is run.
#[derive(Debug)]
pub(crate) struct IngestExec {
    input: Arc<dyn ExecutionPlan>,
    /// The address of the folder that contains these folders, with a slash at its end.
    pub(crate) folder: String,
    /// The prefix of the name of each folder.
    pub(crate) prefix: String,
    properties: Arc<PlanProperties>,
}

impl IngestExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, folder: String, prefix: String) -> Self {
        let partitions = input.output_partitioning().partition_count();
        let properties = plan_properties(schema("told", DataType::Utf8), partitions, EmissionType::Incremental);
        Self { input, folder, prefix, properties }
    }

    /// Creates an operator for portions, each in a partition of its own. `first` is the number of the first portion.
    pub(crate) fn of_portions(portions: &[Portion], first: u64, folder: &str, prefix: &str) -> Result<Self> {
        let schema = schema("files", DataType::Binary);
        let row = |(at, portion): (usize, &Portion)| {
            let number = Arc::new(UInt64Array::from(vec![first + at as u64]));
            let files = Arc::new(BinaryArray::from_vec(vec![&portion.encode_to_vec()]));
            Ok(vec![RecordBatch::try_new(Arc::clone(&schema), vec![number, files])?])
        };
        let rows = portions.iter().enumerate().map(row).collect::<Result<Vec<_>>>()?;
        let rows = MemorySourceConfig::try_new(&rows, Arc::clone(&schema), None)?;
        Ok(Self::new(DataSourceExec::from_data_source(rows), folder.to_owned(), prefix.to_owned()))
    }
}

/// Returns the schema of the number of a portion, and of one more column.
fn schema(name: &str, kind: DataType) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("portion", DataType::UInt64, false), Field::new(name, kind, false)]))
}

impl DisplayAs for IngestExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IngestExec")
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
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.as_slice()) {
            (Some(input), []) => Ok(Arc::new(Self::new(input, self.folder.clone(), self.prefix.clone()))),
            _ => internal_err!("IngestExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        let (folder, prefix, schema) = (self.folder.clone(), self.prefix.clone(), self.schema());
        let of_row = Arc::clone(&schema);
        let read = rows.and_then(move |rows| {
            let (folder, prefix) = (folder.clone(), prefix.clone());
            let (schema, context) = (Arc::clone(&of_row), Arc::clone(&context));
            async move {
                let mut told = StringBuilder::new();
                for row in 0..rows.num_rows() {
                    let part = ingest_row(&rows, row, &folder, &prefix, &context).await.map_err(super::told)?;
                    told.append_value(part.to_json().to_string());
                }
                Ok(RecordBatch::try_new(schema, vec![Arc::clone(rows.column(0)), Arc::new(told.finish())])?)
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, read)))
    }
}

/// Reads the portion of files in a row, and writes its documents below a folder.
async fn ingest_row(
    rows: &RecordBatch,
    row: usize,
    folder: &str,
    prefix: &str,
    context: &Arc<TaskContext>,
) -> anyhow::Result<CorpusPart> {
    let portion = rows.column(0).as_primitive::<UInt64Type>().value(row);
    let files = Portion::decode(rows.column(1).as_binary::<i32>().value(row))?;
    let stores = context.session_config().get_extension::<Stores>();
    let stores = stores.ok_or_else(|| internal_datafusion_err!("a session without stores; please report it"))?;
    let reached = Arc::clone(&stores);
    let memory = match context.memory_pool().memory_limit() {
        MemoryLimit::Finite(bytes) => Some(bytes),
        MemoryLimit::Infinite | MemoryLimit::Unknown => None,
    };
    let documents = SpawnedTask::spawn_blocking(move || files.open(memory, &reached)).join().await??;
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
    let name = format!("{prefix}{portion:04x}{:04x}", RandomState::new().hash_one(portion) >> 48);
    let place = format!("{folder}{name}");
    let staged = Arc::new(staged);
    for file in FILES {
        let to =
            Location::of(&format!("{place}/{file}"), &stores)?.with_context(|| format!("{place} is in no store"))?;
        put_new_unless_dropped(staged.path().join(file), to, Arc::clone(&staged)).await?;
    }
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
