//! Objects as a table: one, those below a prefix, or those that match a pattern.

use std::fmt::{self, Display};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, Statistics, plan_datafusion_err, plan_err};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableConfigExt, ListingTableUrl};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use globset::GlobBuilder;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use url::Url;

use super::location::Location;

/// A table of the objects that `location` names, of which `is_readable` says by the name whether they can be one; `readable`
/// says it to people.
///
/// The objects are listed once, so that a query sees them as they were when it began, and by the rules for patterns that readers
/// have: `*` stays within a folder.
pub(crate) async fn objects_table(
    location: &Location,
    session: SessionState,
    is_readable: impl Fn(&str) -> bool,
    readable: &str,
) -> Result<Arc<dyn TableProvider>> {
    let session = with_subfolders(session);
    let store = session.runtime_env().object_store(ListingTableUrl::try_new(location.url(), None)?)?;
    let (folder, objects) = find(location, &store).await?;
    let Some(first) = objects.first() else { return plan_err!("{location}: there is no such object") };
    if let Some(other) = objects.iter().find(|object| !is_readable(object.location.as_ref())) {
        return plan_err!("cannot read {} in FROM: {readable}", location.at(other.location.clone()));
    }
    let extension = |object: &ObjectMeta| object.location.extension().map(str::to_ascii_lowercase);
    if let Some(other) = objects.iter().find(|other| extension(other) != extension(first)) {
        return plan_err!(
            "{location} names files of different kinds, such as {} and {}; write a pattern for one of them",
            first.location,
            other.location
        );
    }
    // Under a name of its own, by which no other objects are found.
    static TABLES: AtomicU64 = AtomicU64::new(0);
    let mut url = folder.url().to_string();
    let scheme = url.find(':').unwrap_or(0);
    url.insert_str(scheme, &format!("+{}", TABLES.fetch_add(1, Ordering::Relaxed)));
    let url = Url::parse(&url).map_err(|error| plan_datafusion_err!("{location}: {error}"))?;
    session.runtime_env().register_object_store(&url, Arc::new(Listed { store, objects }));
    let config = ListingTableConfig::new(ListingTableUrl::try_new(url, None)?).infer_options(&session).await?;
    let config = config.infer_partitions_from_path(&session).await?.infer_schema(&session).await?;
    let table = ListingTable::try_new(config)?;
    let cache = session.runtime_env().cache_manager.get_file_statistic_cache();
    Ok(Arc::new(ObjectsTable(table.with_cache(cache))))
}

/// The objects that a location names, and the prefix that they have in common.
async fn find(location: &Location, store: &Arc<dyn ObjectStore>) -> Result<(Location, Vec<ObjectMeta>)> {
    let folder = location.folder();
    if !location.is_prefix() {
        match store.head(location.key()).await {
            Ok(meta) => return Ok((folder, vec![meta])),
            Err(object_store::Error::NotFound { .. }) if !location.is_web() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (folder, pattern) = match location.split_glob() {
        Some((folder, pattern)) => {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            let glob = glob.map_err(|error| plan_datafusion_err!("{location} is not a pattern: {}", error.kind()))?;
            (folder, Some(glob.compile_matcher()))
        }
        None => (location.as_prefix(), None),
    };
    let mut objects: Vec<ObjectMeta> = store.list(Some(folder.key())).try_collect().await?;
    objects.retain(|object| {
        let below = object.location.as_ref().get(folder.key().as_ref().len()..).unwrap_or_default();
        let below = below.trim_start_matches('/');
        let is_hidden = below.split('/').any(|part| part.starts_with(['.', '_']));
        object.size > 0 && !is_hidden && pattern.as_ref().is_none_or(|pattern| pattern.is_match(below))
    });
    objects.sort_by(|a, b| a.location.cmp(&b.location));
    Ok((folder, objects))
}

/// The session, which looks into folders within folders.
fn with_subfolders(mut session: SessionState) -> SessionState {
    session.config_mut().options_mut().execution.listing_table_ignore_subdirectory = false;
    session
}

/// A table of objects.
#[derive(Debug)]
struct ObjectsTable(ListingTable);

#[async_trait]
impl TableProvider for ObjectsTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn statistics(&self) -> Option<Statistics> {
        self.0.statistics()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.0.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match session.as_any().downcast_ref::<SessionState>() {
            Some(state) => self.0.scan(&with_subfolders(state.clone()), projection, filters, limit).await,
            None => self.0.scan(session, projection, filters, limit).await,
        }
    }
}

/// A store that lists nothing but some objects.
struct Listed {
    store: Arc<dyn ObjectStore>,
    objects: Vec<ObjectMeta>,
}

impl Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.store, f)
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

#[async_trait]
impl ObjectStore for Listed {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        self.store.put_opts(key, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> object_store::Result<GetResult> {
        self.store.get_opts(key, options).await
    }

    async fn get_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        self.store.get_ranges(key, ranges).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, object_store::Result<Key>>,
    ) -> BoxStream<'static, object_store::Result<Key>> {
        self.store.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let below: Vec<_> = self
            .objects
            .iter()
            .filter(|object| prefix.is_none_or(|prefix| object.location.prefix_matches(prefix)))
            .cloned()
            .map(Ok)
            .collect();
        stream::iter(below).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> object_store::Result<ListResult> {
        let mut listed = ListResult { common_prefixes: Vec::new(), objects: Vec::new() };
        for object in &self.objects {
            let root = Key::default();
            let Some(mut parts) = object.location.prefix_match(prefix.unwrap_or(&root)) else { continue };
            match (parts.next(), parts.next()) {
                (Some(_), None) => listed.objects.push(object.clone()),
                (Some(folder), Some(_)) => {
                    let below = prefix.cloned().unwrap_or_default().join(folder);
                    if listed.common_prefixes.last() != Some(&below) {
                        listed.common_prefixes.push(below);
                    }
                }
                (None, _) => {}
            }
        }
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> object_store::Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
