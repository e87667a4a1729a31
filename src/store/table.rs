//! Objects as a table: one, those below a prefix, or those that match a pattern.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableConfigExt, ListingTableUrl};
use datafusion::execution::SessionState;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt, stream};
use globset::GlobBuilder;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use url::Url;

use super::explain::Explained;
use super::location::Location;

/// A table of the objects that `location` names, if there are any. `kind` says what an object is by its name, where it can be a
/// table, and `readable` says it to people.
///
/// The objects are listed once, so that a query sees them as they were when it began, and by the rules for patterns that readers
/// have: `*` stays within a folder.
pub(crate) async fn objects_table(
    location: &Location,
    session: &SessionState,
    kind: impl Fn(&str) -> Option<String>,
    readable: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let store = session.runtime_env().object_store(ListingTableUrl::try_new(location.url(), None)?)?;
    let (folder, objects) = find(location, &store).await?;
    let Some(first) = objects.first() else { return Ok(None) };
    let kind = |object: &ObjectMeta| kind(object.location.as_ref());
    if let Some(other) = objects.iter().find(|object| kind(object).is_none()) {
        return plan_err!("cannot read {} in FROM: {readable}", location.at(other.location.clone()));
    }
    if let Some(other) = objects.iter().find(|other| kind(other) != kind(first)) {
        return plan_err!(
            "{location} names files of different kinds, such as {} and {}; write a pattern for one of them",
            location.at(first.location.clone()),
            location.at(other.location.clone())
        );
    }
    if kind(first).is_some_and(|kind| kind == "parquet")
        && let Some(empty) = objects.iter().find(|object| object.size == 0)
    {
        return plan_err!("{} is empty, 0 bytes, no Parquet", location.at(empty.location.clone()));
    }
    let is_file = location.is_of_this_machine() && objects.len() == 1 && first.location == *location.key();
    if is_file {
        // A plan that is sent to another session finds it there.
        let url = ListingTableUrl::try_new(location.url(), None)?;
        return table(ListingTableConfig::new(url), session).await.map(Some);
    }
    // Under a name of its own, by which no other objects are found.
    static TABLES: AtomicU64 = AtomicU64::new(0);
    let name = format!("+{}", TABLES.fetch_add(1, Ordering::Relaxed));
    let mut url = folder.url().to_string();
    url.insert_str(url.find(':').unwrap_or(0), &name);
    let url = Url::parse(&url).map_err(|error| plan_datafusion_err!("{location}: {error}"))?;
    session.runtime_env().register_object_store(&url, Arc::new(Listed { store, folder, objects }));
    // What is kept of lists is kept by this name.
    let url = ListingTableUrl::try_new(url, None)?.with_table_ref(TableReference::bare(name));
    table(ListingTableConfig::new(url), session).await.map(Some)
}

async fn table(config: ListingTableConfig, session: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let mut config = config.infer_options(session).await?;
    if let Some(options) = &mut config.options {
        // Their names were looked at above.
        options.file_extension.clear();
    }
    let config = config.infer_partitions_from_path(session).await?.infer_schema(session).await?;
    let table = ListingTable::try_new(config)?;
    let cache = session.runtime_env().cache_manager.get_file_statistic_cache();
    Ok(Arc::new(table.with_cache(cache)))
}

/// The address of a store of a scan, as people know it.
pub(crate) fn written(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match scheme.split_once('+').map_or(scheme, |(scheme, _)| scheme) {
        "file" => rest.to_owned(),
        scheme => format!("{scheme}://{rest}"),
    }
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
        // Empty objects without an extension stand for folders.
        let stands_for_folder = object.size == 0 && object.location.extension().is_none();
        !stands_for_folder && !is_hidden && pattern.as_ref().is_none_or(|pattern| pattern.is_match(below))
    });
    objects.sort_by(|a, b| a.location.cmp(&b.location));
    Ok((folder, objects))
}

/// A store that lists nothing but some objects, in the order of their keys, and gives them only as they were then.
struct Listed {
    store: Arc<dyn ObjectStore>,
    folder: Location,
    objects: Vec<ObjectMeta>,
}

impl Listed {
    fn object(&self, key: &Key) -> Option<&ObjectMeta> {
        self.objects.binary_search_by(|object| object.location.cmp(key)).ok().map(|place| &self.objects[place])
    }

    fn changed(&self, key: &Key) -> object_store::Error {
        let said = format!("{}: it was changed while it was read; run it again", self.folder.at(key.clone()));
        object_store::Error::Generic { store: "listed", source: Box::new(Explained::new(said)) }
    }
}

/// Whether an object is the one that was listed. Lists may have its tag without quotes.
fn is_same(listed: &ObjectMeta, now: &ObjectMeta) -> bool {
    let tags =
        [listed, now].map(|meta| meta.e_tag.as_deref().map(|tag| tag.trim_start_matches("W/").trim_matches('"')));
    let is_same = match tags {
        [Some(listed), Some(now)] => listed == now,
        _ => listed.last_modified.timestamp() == now.last_modified.timestamp(),
    };
    is_same && listed.size == now.size
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
        let Some(listed) = self.object(key) else { return self.store.get_opts(key, options).await };
        // Only a strong tag, in the quotes that a request needs.
        let if_match = listed.e_tag.clone().filter(|tag| tag.starts_with('"'));
        match self.store.get_opts(key, GetOptions { if_match, ..options }).await {
            Ok(got) if is_same(listed, &got.meta) => Ok(got),
            Ok(_) | Err(object_store::Error::Precondition { .. }) => Err(self.changed(key)),
            Err(error) => Err(error),
        }
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
