use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use anyhow::Context as _;
use arrow::array::{ArrayRef, ListArray, RecordBatch, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ColumnarValue;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_128;

use super::folder::SharedFolder;
use super::parts::write_rows_of_part;
use super::told;
use crate::store::{Source, Stores, put_new_unless_dropped};

/// Number of rows in a batch of elements, and bytes in memory of a row group of them.
const ROWS: usize = 64 * 1024;
const GROUP: usize = 16 << 20;

/// A value that is too large to be sent with a plan. It is in a file, which each machine reads once for the tasks that
/// run at the same time.
#[derive(Debug)]
pub(crate) struct SharedValueExpr {
    /// The path of the file, or its URL.
    pub(crate) place: String,
    /// The name, the type and the nullability.
    pub(crate) field: FieldRef,
    values: Arc<SharedValues>,
    value: OnceLock<Arc<ScalarValue>>,
}

/// The values that were read and are in use, and the stores that they are read from.
#[derive(Debug, Default)]
pub(crate) struct SharedValues {
    stores: Arc<Stores>,
    read: Mutex<HashMap<String, Slot>>,
}

/// A value, as long as it is in use. One of several concurrent callers reads it.
type Slot = Arc<Mutex<Weak<ScalarValue>>>;

impl SharedValues {
    pub(crate) fn of(stores: Arc<Stores>) -> Self {
        Self { stores, read: Mutex::default() }
    }

    /// Returns the value in a file.
    fn get(&self, place: &str, field: &Field) -> anyhow::Result<Arc<ScalarValue>> {
        let slot = {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.lock().is_ok_and(|value| value.strong_count() > 0)
            });
            Arc::clone(read.entry(place.to_owned()).or_default())
        };
        let mut read = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = read.upgrade() {
            return Ok(value);
        }
        let value = Arc::new(self.read(place, field).with_context(|| format!("cannot read {place}"))?);
        *read = Arc::downgrade(&value);
        Ok(value)
    }

    fn read(&self, place: &str, field: &Field) -> anyhow::Result<ScalarValue> {
        let file = Source::open(&PathBuf::from(place), &self.stores)?;
        let batches = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(ROWS).build()?;
        let columns = batches.map(|batch| Ok(Arc::clone(batch?.column(0)))).collect::<anyhow::Result<Vec<_>>>()?;
        let columns: Vec<_> = columns.iter().map(ArrayRef::as_ref).collect();
        let DataType::List(element) = field.data_type() else {
            return Ok(ScalarValue::try_from_array(*columns.first().context("there is no value")?, 0)?);
        };
        let elements = if columns.is_empty() { new_empty_array(element.data_type()) } else { concat(&columns)? };
        let offsets = OffsetBuffer::from_lengths([elements.len()]);
        Ok(ScalarValue::List(Arc::new(ListArray::try_new(Arc::clone(element), offsets, elements, None)?)))
    }
}

impl SharedValueExpr {
    pub(crate) fn new(place: String, field: FieldRef, values: Arc<SharedValues>) -> Self {
        Self { place, field, values, value: OnceLock::new() }
    }
}

/// Writes a value to the folder of the session that all machines reach. Returns the expression that replaces it in a
/// plan. Returns `None` for NULL, or if the session has no such folder.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub async fn shared_value(value: ScalarValue, context: &Arc<TaskContext>) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let Some(folder) = context.session_config().get_extension::<SharedFolder>() else { return Ok(None) };
    if value.is_null() {
        return Ok(None);
    }
    let field = Arc::new(Field::new("value", value.data_type(), true));
    let place = write(&value, &folder, context).await.map_err(told)?;
    Ok(Some(Arc::new(SharedValueExpr::new(place, field, Arc::default()))))
}

/// Writes the elements of a list, a row each, or another value as a row. Returns the path of the file, or its URL.
async fn write(value: &ScalarValue, folder: &SharedFolder, context: &Arc<TaskContext>) -> anyhow::Result<String> {
    let column = match value {
        ScalarValue::List(list) => list.value(0),
        value => value.to_array()?,
    };
    let schema = Arc::new(Schema::new(vec![Field::new("value", column.data_type().clone(), true)]));
    let all = RecordBatch::try_new(Arc::clone(&schema), vec![column])?;
    let batches = (0..all.num_rows()).step_by(ROWS).map(|from| Ok(all.slice(from, ROWS.min(all.num_rows() - from))));
    let rows = RecordBatchStreamAdapter::new(schema, stream::iter(batches.collect::<Vec<_>>()));
    let file = context.runtime_env().disk_manager.create_tmp_file("a value of a plan")?;
    let path = file.path().context("a value of a plan is in no file")?.to_path_buf();
    write_rows_of_part(Box::pin(rows), &path, GROUP).await?;
    // Runs that compute the same value write one file.
    let place = folder.of_value(&format!("{:032x}.parquet", xxh3_128(&std::fs::read(&path)?)));
    let shown = place.to_string();
    if place.is_of_this_machine() {
        let to = place.url().to_file_path().map_err(|()| anyhow::anyhow!("{shown} is no path"))?;
        let folder = to.parent().context("it is in no folder")?;
        let failed = || format!("cannot write {}", to.display());
        std::fs::create_dir_all(folder).with_context(failed)?;
        let copy = NamedTempFile::new_in(folder).with_context(failed)?;
        std::fs::copy(&path, copy.path()).with_context(failed)?;
        copy.persist(&to).with_context(failed)?;
        return Ok(to.display().to_string());
    }
    put_new_unless_dropped(path, place, file).await?;
    Ok(shown)
}

impl fmt::Display for SharedValueExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "value of {}", self.place)
    }
}

impl PartialEq for SharedValueExpr {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for SharedValueExpr {}

impl Hash for SharedValueExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

impl PhysicalExpr for SharedValueExpr {
    fn return_field(&self, _: &Schema) -> Result<FieldRef> {
        Ok(Arc::clone(&self.field))
    }

    fn evaluate(&self, _: &RecordBatch) -> Result<ColumnarValue> {
        let value = match self.value.get() {
            Some(value) => value,
            None => {
                let value = self.values.get(&self.place, &self.field).map_err(told)?;
                self.value.get_or_init(|| value)
            }
        };
        Ok(ColumnarValue::Scalar(value.as_ref().clone()))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a value has no children") }
    }

    fn get_properties(&self, _: &[ExprProperties]) -> Result<ExprProperties> {
        Ok(ExprProperties::new_unknown().with_order(SortProperties::Singleton))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::UInt64Type;
    use datafusion::prelude::SessionContext;

    use super::*;

    #[tokio::test]
    async fn a_value_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let session = SessionContext::new();
        let list = |length: u64| {
            let list = ListArray::from_iter_primitive::<UInt64Type, _, _>([Some((0..length).map(Some))]);
            ScalarValue::List(Arc::new(list))
        };
        let none = ScalarValue::try_new_null(&list(0).data_type()).unwrap();
        assert!(shared_value(list(1), &session.task_ctx()).await.unwrap().is_none());
        SharedFolder::of_session(folder.path(), &session, &Arc::default()).unwrap();
        assert!(shared_value(none, &session.task_ctx()).await.unwrap().is_none());
        for value in [list(0), list(3), list(200_000), ScalarValue::from("text")] {
            let shared = shared_value(value.clone(), &session.task_ctx()).await.unwrap().unwrap();
            for _ in 0..2 {
                match shared.evaluate(&RecordBatch::new_empty(Arc::new(Schema::empty()))).unwrap() {
                    ColumnarValue::Scalar(read) => assert_eq!(read, value),
                    read => panic!("{read:?}"),
                }
            }
        }
    }
}
