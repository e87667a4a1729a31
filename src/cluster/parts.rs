use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use arrow::array::{AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::{StreamExt, TryStreamExt, stream};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use tempfile::NamedTempFile;
use url::Url;

use crate::plan_properties::plan_properties;
use crate::seal::SealedWriter;
use crate::store::{Location, Stores, put_new_unless_dropped};

/// The part of a table that one task has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) rows: u64,
    /// The bytes of the longest list in it.
    pub(crate) longest_list: u64,
}

impl Part {
    /// Returns the parts in rows of a [`WritePartsExec`].
    pub(crate) fn of_rows(rows: &RecordBatch) -> Vec<Self> {
        let (files, counts, lists) =
            (rows.column(0).as_string::<i32>(), rows.column(1).as_primitive::<UInt64Type>(), rows.column(2));
        let lists = lists.as_primitive::<UInt64Type>();
        let part =
            |i: usize| Self { file: files.value(i).to_owned(), rows: counts.value(i), longest_list: lists.value(i) };
        (0..rows.num_rows()).map(part).collect()
    }

    fn to_row(&self, schema: &SchemaRef) -> Result<RecordBatch> {
        let numbers = |number: u64| Arc::new(UInt64Array::from(vec![number])) as _;
        let file = Arc::new(StringArray::from(vec![self.file.as_str()])) as _;
        Ok(RecordBatch::try_new(Arc::clone(schema), vec![file, numbers(self.rows), numbers(self.longest_list)])?)
    }
}

/// An operator that writes each partition of its input to a file of its own in a folder. It returns a row for each
/// partition that has rows: the name of the file, the rows, and the bytes of the longest list.
///
/// A file has a name that no other has, so that a task may run twice. A file counts if its row arrives where the plan
/// is run.
#[derive(Debug)]
pub(crate) struct WritePartsExec {
    input: Arc<dyn ExecutionPlan>,
    /// The folder, as the URL of a file or the address of an object, with a slash at its end.
    pub(crate) folder: String,
    /// Upper bound of the bytes in memory of a row group.
    pub(crate) group: usize,
    properties: Arc<PlanProperties>,
}

impl WritePartsExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, folder: String, group: usize) -> Self {
        let field = |name: &str, kind| Field::new(name, kind, false);
        let number = |name| field(name, DataType::UInt64);
        let schema = Schema::new(vec![field("file", DataType::Utf8), number("rows"), number("longest_list")]);
        let properties =
            plan_properties(Arc::new(schema), input.output_partitioning().partition_count(), EmissionType::Final);
        Self { input, folder, group, properties }
    }
}

impl DisplayAs for WritePartsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WritePartsExec")
    }
}

impl ExecutionPlan for WritePartsExec {
    fn name(&self) -> &'static str {
        "WritePartsExec"
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
            (Some(input), []) => Ok(Arc::new(Self::new(input, self.folder.clone(), self.group))),
            _ => internal_err!("WritePartsExec has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        let (folder, group, schema) = (self.folder.clone(), self.group, self.schema());
        let of_part = Arc::clone(&schema);
        let written = async move {
            let part = write_part(rows, &folder, group, &context).await.map_err(super::told)?;
            Ok::<_, DataFusionError>(part.map(|part| part.to_row(&of_part)))
        };
        // A partition without rows returns no row.
        let rows = stream::once(written).map_ok(stream::iter).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Writes rows to a file in a folder, if there are any.
async fn write_part(
    mut rows: SendableRecordBatchStream,
    folder: &str,
    group: usize,
    context: &Arc<TaskContext>,
) -> anyhow::Result<Option<Part>> {
    // Without rows, no file is written.
    let first = loop {
        match rows.try_next().await? {
            None => return Ok(None),
            Some(batch) if batch.num_rows() == 0 => {}
            Some(batch) => break batch,
        }
    };
    let schema = rows.schema();
    let all = stream::iter([Ok(first)]).chain(rows);
    let rows: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, all));
    let name = format!("part-{:016x}.parquet", RandomState::new().hash_one(folder));
    let failed = || format!("cannot write {folder}{name}");
    let url = folder.starts_with("file:").then(|| Url::parse(folder)).transpose()?;
    if let Some(Ok(folder)) = url.map(|url| url.to_file_path()) {
        std::fs::create_dir_all(&folder).with_context(failed)?;
        let file = NamedTempFile::new_in(&folder).with_context(failed)?;
        let (rows, longest_list) = write_rows_of_part(rows, file.path(), group).await?;
        file.persist(folder.join(&name)).with_context(failed)?;
        return Ok(Some(Part { file: name, rows, longest_list }));
    }
    let stores = context.session_config().get_extension::<Stores>();
    let stores = stores.ok_or_else(|| internal_datafusion_err!("a session without stores; please report it"))?;
    let file = context.runtime_env().disk_manager.create_tmp_file("a part of a table")?;
    let path = file.path().context("a part of a table is in no file")?.to_path_buf();
    let (rows, longest_list) = write_rows_of_part(rows, &path, group).await?;
    let place = Location::of(&format!("{folder}{name}"), &stores)?.with_context(failed)?;
    put_new_unless_dropped(path, place, file).await?;
    Ok(Some(Part { file: name, rows, longest_list }))
}

/// Writes rows to a file of this machine. Returns the number of rows, and the bytes of the longest list.
pub(crate) async fn write_rows_of_part(
    mut rows: SendableRecordBatchStream,
    path: &Path,
    group: usize,
) -> anyhow::Result<(u64, u64)> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(128 * 1024));
    let failed = || format!("cannot write {}", path.display());
    let file = File::create(path).with_context(failed)?;
    let mut writer = SealedWriter::try_new(file, rows.schema(), properties).with_context(failed)?;
    let (mut count, mut longest) = (0, 0);
    while let Some(batch) = rows.try_next().await? {
        count += batch.num_rows() as u64;
        longest = longest.max(longest_list(&batch) as u64);
        writer.write(&batch).and_then(|()| writer.end_group_above(group)).with_context(failed)?;
    }
    writer.close(&Value::Null).with_context(failed)?;
    Ok((count, longest))
}

/// Returns the bytes of the longest list of numbers in a batch.
fn longest_list(batch: &RecordBatch) -> usize {
    let lists = batch.columns().iter().filter_map(|column| column.as_list_opt::<i32>());
    let bytes = lists.map(|list| {
        let longest = list.offsets().lengths().max().unwrap_or(0);
        longest * list.value_type().primitive_width().unwrap_or(0)
    });
    bytes.max().unwrap_or(0)
}
