//! The columns of files, as DataFusion finds them in the first records.

use std::any::Any;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::error::DataFusionError;
use futures::{FutureExt, TryFutureExt};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::RECORDS_OF_SCHEMA;
use super::place::{Reason, Refused};
use super::store::{LimitedStore, at_ends};

/// What all files together have; `format` is that of what they unpack to.
pub(super) async fn columns(
    format: &Arc<dyn FileFormat>,
    state: &dyn Session,
    files: &LimitedStore,
    objects: &[ObjectMeta],
) -> Result<SchemaRef> {
    let any: &dyn Any = format.as_ref();
    let Some(csv) = any.downcast_ref::<CsvFormat>() else {
        let limited: Arc<dyn ObjectStore> = Arc::new(files.clone());
        let error = match format.infer_schema(state, &limited, objects).await {
            Err(error) if Reason::of(&error).is_some() => error,
            columns => return columns,
        };
        for ObjectMeta { location, .. } in objects {
            let read =
                |store, object| async move { format.infer_schema(state, &store, &[object]).await.map(|_| ()) }.boxed();
            if let Some(refused) = Refused::find(files, location, false, 0, read).await? {
                return Err(refused.explained(location.as_ref()));
            }
        }
        return Err(error);
    };
    let mut left = csv.options().schema_infer_max_rec.unwrap_or(RECORDS_OF_SCHEMA);
    let mut schemas = Vec::new();
    for object in objects {
        let (schema, read) = columns_of_csv(csv, state, files, object, left).await?;
        schemas.push(schema);
        left -= read;
        if left == 0 {
            break;
        }
    }
    Ok(Arc::new(Schema::try_merge(schemas)?))
}

/// What a file has in so many first rows, and how many there are. DataFusion itself cuts it at ends of lines that may stand in
/// quotes.
async fn columns_of_csv(
    csv: &CsvFormat,
    state: &dyn Session,
    files: &LimitedStore,
    object: &ObjectMeta,
    rows: usize,
) -> Result<(Schema, usize)> {
    let read = |files: LimitedStore| async move {
        let pieces = at_ends(files.get(&object.location).await?.into_stream(), files.syntax);
        csv.infer_schema_from_stream(state, rows, pieces).await
    };
    let error = match read(files.clone()).await {
        Err(error) if matches!(error.find_root(), DataFusionError::ArrowError(..) | DataFusionError::Execution(_)) => {
            error
        }
        found => return found,
    };
    let read = |store, _| {
        let unpacked = LimitedStore { store, compression: FileCompressionType::UNCOMPRESSED, ..files.clone() };
        read(unpacked).map_ok(|_| ()).boxed()
    };
    match Refused::find(files, &object.location, true, 0, read).await? {
        Some(refused) => Err(refused.explained(object.location.as_ref())),
        None => Err(error.context(format!("in {}", object.location))),
    }
}
