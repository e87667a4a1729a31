//! Tables of objects: one object, those below a prefix, or those that match a pattern.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use arrow::datatypes::Schema;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::common::{DataFusionError, Result, ScalarValue, TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::file_format::options::ReadOptions as _;
use datafusion::datasource::listing::helpers::parse_partitions_for_path;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::SessionState;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use globset::GlobBuilder;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, OBJECT_STORE_COALESCE_DEFAULT,
    ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, coalesce_ranges,
};
use parquet::errors::ParquetError;
use url::Url;
use walkdir::WalkDir;

use super::explain::Explained;
use super::links::{leads_above, nowhere};
use super::location::{Address, Location};
use super::sealed::unnameable;
use super::verify::seal_in;
use crate::seal::Seal;

/// Number of files whose metadata is requested at the same time.
const LOOKED_AT: usize = 16;

/// Objects that were found, with their metadata at that time.
///
/// They are listed once, so that a query sees the objects as they were when it began. Patterns follow the rules of the
/// readers: `*` stays within a folder.
pub(crate) struct Found {
    store: Arc<dyn ObjectStore>,
    /// The folder that contains all of them. The folders of partitions are directly below it.
    folder: Location,
    /// The objects in the order of their keys.
    objects: Vec<ObjectMeta>,
    /// True if there is one object, and it is the one that was named.
    is_one: bool,
    /// True if each object was named by itself, not by a pattern or a prefix.
    are_named: bool,
    /// The keys of all objects below the folder, if it was listed.
    listed: Option<HashSet<Key>>,
}

impl Found {
    /// Finds the objects that locations in one store name. Returns `None` if one of them names no object.
    pub(crate) async fn at(locations: &[Location], session: &SessionState) -> Result<Option<Self>> {
        let Some(first) = locations.first() else { return Ok(None) };
        if let Some(other) = locations.iter().find(|location| location.root() != first.root()) {
            return plan_err!("{first} and {other} are in different stores; make a table of each, and a view of both");
        }
        let store = session.runtime_env().object_store(ListingTableUrl::try_new(first.url(), None)?)?;
        let (mut objects, mut folders, mut listed) = (Vec::new(), Vec::new(), Some(HashSet::new()));
        let mut are_named = true;
        for location in locations {
            let (folder, found, below) = find(location, &store).await?;
            if found.is_empty() {
                return Ok(None);
            }
            folders.push(folder);
            objects.extend(found);
            are_named &= below.is_none();
            listed = listed.zip(below).map(|(all, below)| &all | &below);
        }
        objects.sort_by(|a, b| a.location.cmp(&b.location));
        if let Some([twice, _]) = objects.array_windows().find(|[a, b]| a.location == b.location) {
            return plan_err!("{} is named twice", first.at(twice.location.clone()));
        }
        let is_one = objects.len() == 1 && objects[0].location == *first.key();
        let Some(folder) = folder_of(&folders, &objects) else { return Ok(None) };
        Ok(Some(Self { store, folder, objects, is_one, are_named, listed }))
    }

    /// Returns true if each object was named by itself, not by a pattern or a prefix.
    pub(crate) fn are_named(&self) -> bool {
        self.are_named
    }

    /// Leaves out the objects with these keys, which others replace.
    pub(crate) fn pass_over<T>(&mut self, keys: &HashMap<Key, T>) {
        self.objects.retain(|object| !keys.contains_key(&object.location));
    }

    /// Returns the location and the size of each object.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (Location, u64)> {
        self.objects.iter().map(|object| (self.folder.at(object.location.clone()), object.size))
    }

    /// Returns true if there is an object at this location, or `None` if that is not known.
    pub(crate) fn has(&self, location: &Location) -> Option<bool> {
        self.listed.as_ref().map(|listed| listed.contains(location.key()))
    }

    /// Returns the columns that the folder names give. DataFusion skips objects with other columns, so all must have
    /// the same.
    pub(crate) fn partitions(&self) -> Result<Vec<String>> {
        let above = parts(self.folder.key()).len();
        let columns = |object: &ObjectMeta| {
            let below = folders_above(&object.location).split_off(above);
            let named = |part: &String| part.split_once('=').map(|(column, _)| column.to_owned());
            let columns: Vec<_> = below.iter().map_while(named).collect();
            // DataFusion finds no columns below a folder that gives none.
            if below.iter().filter_map(named).count() == columns.len() { Some(columns) } else { None }
        };
        let first = &self.objects[0];
        let name = |object: &ObjectMeta| self.folder.at(object.location.clone());
        let Some(found) = columns(first) else {
            return plan_err!(
                "{}: of its folders below {} one is named column=value, within one that is not: name the files of one \
                 such tree",
                name(first),
                self.folder
            );
        };
        match self.objects.iter().find(|object| columns(object).as_ref() != Some(&found)) {
            None => Ok(found),
            Some(other) => plan_err!(
                "the folders of {} and {}, below {}, do not give the same columns: name files whose folders do, \
                 directly below one folder",
                name(first),
                name(other),
                self.folder
            ),
        }
    }

    /// Fails if a folder name below the URL of a table is no value of its column. Columns that are not in `types` are
    /// not checked.
    pub(crate) fn check_values(&self, url: &ListingTableUrl, columns: &[&str], types: &Schema) -> Result<()> {
        for object in &self.objects {
            let values = parse_partitions_for_path(url, &object.location, columns.iter().copied());
            for (column, value) in columns.iter().zip(values.unwrap_or_default()) {
                if let Some((_, field)) = types.column_with_name(column)
                    && ScalarValue::try_from_string(value.to_string(), field.data_type()).is_err()
                {
                    return plan_err!(
                        "{}: the value {value:?} of its folder {column}={value} is no {}: rename it, or give the \
                         column a text type",
                        self.folder.at(object.location.clone()),
                        field.data_type()
                    );
                }
            }
        }
        Ok(())
    }

    /// Returns the seal of one of the objects, if it has one.
    pub(crate) async fn seal_of(&self, location: &Location) -> anyhow::Result<Option<Seal>> {
        seal_in(&self.store, location.key()).await.with_context(|| location.to_string())
    }

    /// Fails if a Parquet file has two columns of the same name, one of which DataFusion would ignore. Files that
    /// cannot be read are left to the reader.
    pub(crate) async fn check_parquet(&self, session: &SessionState) -> Result<()> {
        let cache = session.runtime_env().cache_manager.get_file_metadata_cache();
        let options = &session.config_options().execution;
        let twice = |object: &ObjectMeta| {
            let (store, object, cache) = (Arc::clone(&self.store), object.clone(), Arc::clone(&cache));
            async move {
                let metadata = DFParquetMetadata::new(&store, &object)
                    .with_metadata_size_hint(options.parquet.metadata_size_hint)
                    .with_file_metadata_cache(Some(cache));
                let metadata = metadata.fetch_metadata().await.ok()?;
                let columns = metadata.file_metadata().schema_descr().root_schema().get_fields();
                let mut names = HashSet::new();
                let twice = columns.iter().find(|column| !names.insert(column.name()))?;
                Some((object.location, twice.name().to_owned()))
            }
        };
        let looked_at: Vec<_> = self.objects.iter().map(twice).collect();
        let mut looked_at = stream::iter(looked_at).buffered(options.meta_fetch_concurrency.get());
        while let Some(twice) = looked_at.next().await {
            if let Some((key, column)) = twice {
                return plan_err!("{}: two columns are called {column:?}: rename one", self.folder.at(key));
            }
        }
        Ok(())
    }

    /// Returns the merged schema of all objects, which are Parquet and are read with these options. Each schema is
    /// adapted to the options before the merge. DataFusion merges first, when texts may still be stored in different
    /// types. An error names the file, or two files whose columns differ.
    pub(crate) async fn columns(&self, session: &SessionState, options: &HashMap<String, String>) -> Result<Schema> {
        let Some(parquet) = session.get_file_format_factory("parquet") else {
            return plan_err!("internal error: nothing reads Parquet; please report it");
        };
        let format = &parquet.create(session, options)?;
        let of_file = |object| async move {
            let schema = guarded(format.infer_schema(session, &self.store, slice::from_ref(object))).await;
            schema.map_err(|error| match error.find_root() {
                DataFusionError::ParquetError(_) if Explained::of(&error).is_none() => {
                    unsound(&self.folder.at(object.location.clone()), &error)
                }
                _ => error,
            })
        };
        let concurrency = session.config_options().execution.meta_fetch_concurrency.get();
        let of_files: Vec<_> = self.objects.iter().map(of_file).collect();
        let mut of_files = stream::iter(of_files).buffered(concurrency).zip(stream::iter(&self.objects));
        let mut all = Schema::empty();
        let mut origins: Vec<&ObjectMeta> = Vec::new();
        while let Some((schema, object)) = of_files.next().await {
            let schema = schema?;
            for field in schema.fields() {
                let Some((place, first)) = all.column_with_name(field.name()) else { continue };
                if first.clone().try_merge(field).is_ok() {
                    continue;
                }
                return plan_err!(
                    "the column {:?} is {} in {}, and {} in {}: name files with the same columns, or read them apart",
                    field.name(),
                    first.data_type(),
                    self.folder.at(origins[place].location.clone()),
                    field.data_type(),
                    self.folder.at(object.location.clone())
                );
            }
            all = Schema::try_merge([all, Schema::new(schema.fields().clone())])?;
            origins.resize(all.fields().len(), object);
        }
        Ok(all)
    }

    /// Returns a Parquet table of these objects. All its readers read the same data; it is an error if one of the
    /// objects has changed.
    pub(crate) async fn parquet_table(&self, session: &SessionContext) -> Result<ListingTable> {
        let state = session.state();
        let options =
            ParquetReadOptions::default().to_listing_options(&session.copied_config(), session.copied_table_options());
        // With the URL of its folder alone, the folder would be listed once for all tables of this name.
        let listed = ListingTableConfig::new(self.url_of_now(&state)?).with_listing_options(options);
        let cache = session.runtime_env().cache_manager.get_file_statistic_cache();
        Ok(ListingTable::try_new(listed.infer_schema(&state).await?)?.with_cache(cache))
    }

    /// Returns the URL of a table of these objects in this session.
    pub(crate) fn url(&self, session: &SessionState) -> Result<ListingTableUrl> {
        if self.is_one && self.folder.is_of_this_machine() {
            // With this URL, a plan that is sent to another session finds the file there.
            return ListingTableUrl::try_new(self.folder.at(self.objects[0].location.clone()).url(), None);
        }
        self.url_of_now(session)
    }

    /// Returns the URL of a table of these objects as they were found. It is an error if one of them has changed since.
    pub(crate) fn url_of_now(&self, session: &SessionState) -> Result<ListingTableUrl> {
        // The table has a name of its own, by which no other objects are found.
        static TABLES: AtomicU64 = AtomicU64::new(0);
        let name = format!("+{}", TABLES.fetch_add(1, Ordering::Relaxed));
        let mut url = self.folder.url().to_string();
        url.insert_str(url.find(':').unwrap_or(0), &name);
        let url = Url::parse(&url).map_err(|error| plan_datafusion_err!("{}: {error}", self.folder))?;
        let Self { store, folder, objects, .. } = self;
        let listed = Listed { store: Arc::clone(store), folder: folder.address().clone(), objects: objects.clone() };
        session.runtime_env().register_object_store(&url, Arc::new(listed));
        // DataFusion caches listings under this name.
        Ok(ListingTableUrl::try_new(url, None)?.with_table_ref(TableReference::bare(name)))
    }
}

/// Returns the folder that contains all objects: the common part of these folders, and the deeper folders that all
/// objects share, up to one that gives the value of a column.
fn folder_of(folders: &[Location], objects: &[ObjectMeta]) -> Option<Location> {
    let folder = folders.first()?;
    let common = |shared: Vec<String>, parts: Vec<String>| -> Vec<String> {
        shared.into_iter().zip(parts).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    };
    let named = folders.iter().map(|folder| parts(folder.key())).reduce(common)?;
    let mut shared = objects.iter().map(|object| folders_above(&object.location)).reduce(common)?;
    let deeper = shared[named.len()..].iter().take_while(|part| !part.contains('=')).count();
    shared.truncate(named.len() + deeper);
    // The parts are encoded already. Collecting them into a key would encode them once more.
    Some(folder.at(Key::parse(shared.join("/")).ok()?).as_prefix())
}

fn parts(key: &Key) -> Vec<String> {
    key.parts().map(|part| part.as_ref().to_owned()).collect()
}

/// Returns all parts of a key but the last.
fn folders_above(key: &Key) -> Vec<String> {
    let mut parts = parts(key);
    parts.pop();
    parts
}

/// Message for a file on which the Parquet reader panics.
pub(crate) const BROKE_DOWN: &str = "the Parquet reader broke down on it";

/// Reads Parquet, and turns a panic of the reader into an error. A damaged file can make the reader panic.
pub async fn guarded<T>(reading: impl Future<Output = Result<T>>) -> Result<T> {
    let broken = || ParquetError::General(BROKE_DOWN.to_owned());
    AssertUnwindSafe(reading).catch_unwind().await.unwrap_or_else(|_| Err(broken().into()))
}

/// Returns the error of a Parquet file that cannot be read.
pub fn unsound(file: &dyn Display, error: &DataFusionError) -> DataFusionError {
    let reason = error.find_root().strip_backtrace();
    let reason = ["Arrow error: ", "Parquet argument error: ", "Parquet error: ", "External: "]
        .iter()
        .fold(reason.as_str(), |reason, around| reason.trim_start_matches(around));
    plan_datafusion_err!("{file}: not a sound Parquet file ({reason}); fetch it again, or write it again")
}

/// Returns the address of the store of a scan, as users know it.
pub(crate) fn written(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match scheme.split_once('+').map_or(scheme, |(scheme, _)| scheme) {
        "file" => rest.to_owned(),
        scheme => format!("{scheme}://{rest}"),
    }
}

/// Returns the path of a file or the URL of an object, as users know it.
pub fn place_of(store: &impl Display, key: &Key) -> String {
    let root = store.to_string();
    // Stores of this machine display the names of their types.
    let is_url = root.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|b| b.is_ascii_alphanumeric()));
    if is_url { format!("{root}/{key}") } else { format!("/{key}") }
}

/// Returns the prefix that a location names, its objects, and all keys below the prefix, if it was listed.
async fn find(
    location: &Location,
    store: &Arc<dyn ObjectStore>,
) -> Result<(Location, Vec<ObjectMeta>, Option<HashSet<Key>>)> {
    let folder = location.folder();
    if !location.is_prefix() {
        match store.head(location.key()).await {
            Ok(meta) => return Ok((folder, vec![meta], None)),
            Err(object_store::Error::NotFound { .. }) if !location.is_web() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (folder, glob) = match location.split_glob() {
        Some((folder, pattern)) => {
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
            let glob = glob.map_err(|error| plan_datafusion_err!("{location} is not a pattern: {}", error.kind()))?;
            (folder, Some(glob.compile_matcher()))
        }
        None => (location.as_prefix(), None),
    };
    // Folders that are deeper than the pattern reaches need not be readable.
    let is_flat =
        glob.as_ref().is_some_and(|glob| !glob.glob().glob().contains('/') && !glob.glob().glob().contains("**"));
    let is_named = |key: &Key| {
        let below = key.as_ref().get(folder.key().as_ref().len()..).unwrap_or_default();
        let below = below.trim_start_matches('/');
        let is_hidden = below.split('/').any(|part| part.starts_with(['.', '_']));
        !is_hidden && glob.as_ref().is_none_or(|glob| glob.is_match(below))
    };
    let (mut objects, listed): (Vec<ObjectMeta>, HashSet<Key>) = if folder.is_of_this_machine() {
        let keys = files_below(&folder, if is_flat { 1 } else { usize::MAX })?;
        let named: Vec<_> = keys.iter().filter(|key| is_named(key)).map(|key| store.head(key)).collect();
        let objects = stream::iter(named).buffered(LOOKED_AT).try_collect().await?;
        (objects, keys)
    } else {
        let mut objects: Vec<_> = if is_flat {
            store.list_with_delimiter(Some(folder.key())).await?.objects
        } else {
            store.list(Some(folder.key())).try_collect().await?
        };
        let listed = objects.iter().map(|object| object.location.clone()).collect();
        objects.retain(|object| is_named(&object.location));
        (objects, listed)
    };
    // Empty objects without an extension are folder markers.
    objects.retain(|object| object.size > 0 || object.location.extension().is_some());
    Ok((folder, objects, Some(listed)))
}

/// Lists the files of a folder on this machine, down to a depth. Symlinks are followed, except for those that
/// `ibid ingest` skips. Pipes are not files. An object store of the folder would fail at symlinks in circles.
fn files_below(folder: &Location, depth: usize) -> Result<HashSet<Key>> {
    let top = folder.url().to_file_path().map_err(|()| plan_datafusion_err!("{folder} is no folder"))?;
    let mut entries = WalkDir::new(&top).min_depth(1).max_depth(depth).follow_links(true).into_iter();
    let mut files = HashSet::new();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if leads_above(&entry, &top) => entries.skip_current_dir(),
            Ok(entry) if entry.file_type().is_file() => {
                files.insert(Key::from_absolute_path(entry.path()).map_err(|error| unnameable(error.into()))?);
            }
            Ok(_) => {}
            Err(error) if nowhere(&error).is_some() => {}
            Err(error) => {
                return Err(object_store::Error::Generic { store: "folder", source: error.into() }.into());
            }
        }
    }
    Ok(files)
}

/// A store that lists only these objects, in the order of their keys, and returns each only as it was when it was
/// found.
struct Listed {
    store: Arc<dyn ObjectStore>,
    /// The address of the folder. A location would have stores, which hold this one.
    folder: Address,
    objects: Vec<ObjectMeta>,
}

impl Listed {
    fn object(&self, key: &Key) -> Option<&ObjectMeta> {
        self.objects.binary_search_by(|object| object.location.cmp(key)).ok().map(|place| &self.objects[place])
    }

    fn changed(&self, key: &Key) -> object_store::Error {
        let said = format!(
            "{}: it was changed while it was read, or since a table or view of it was made; run it again, or make that anew",
            self.folder.with(key.clone(), false)
        );
        object_store::Error::Generic { store: "listed", source: Box::new(Explained::new(said)) }
    }
}

/// Returns true if an object is the one that was listed. Lists may have the ETag without quotes.
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
        // Only a strong ETag, in the quotes that a request needs.
        let if_match = listed.e_tag.clone().filter(|tag| tag.starts_with('"'));
        // With a known size, the object can be requested in pieces.
        let is_whole = !options.head && listed.size > 0 && !self.folder.is_of_this_machine();
        let range = options.range.clone().or_else(|| is_whole.then_some(GetRange::Bounded(0..listed.size)));
        match self.store.get_opts(key, GetOptions { if_match, range, ..options }).await {
            Ok(got) if is_same(listed, &got.meta) => Ok(got),
            Ok(_) | Err(object_store::Error::Precondition { .. }) => Err(self.changed(key)),
            Err(error) => Err(error),
        }
    }

    async fn get_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        let listed = self.object(key).filter(|_| self.folder.is_of_this_machine());
        let Some(listed) = listed else {
            let get = |range| async move { self.get_range(key, range).await };
            return coalesce_ranges(ranges, get, OBJECT_STORE_COALESCE_DEFAULT).await;
        };
        let read = self.store.get_ranges(key, ranges).await;
        // If the object has changed, neither the bytes nor the error of the read are of use.
        if is_same(listed, &self.store.head(key).await?) { read } else { Err(self.changed(key)) }
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
