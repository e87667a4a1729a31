//! Files as tables: `FROM 'reuse.parquet'`, and `LOCATION` of `CREATE EXTERNAL TABLE`.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaBuilder};
use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, Session, TableProvider, TableProviderFactory, UrlTableFactory};
use datafusion::common::{DataFusionError, GetExt, Result, ToDFSchema, plan_datafusion_err, plan_err};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::file_format::csv::{CsvFormat, CsvFormatFactory};
use datafusion::datasource::file_format::json::JsonFormatFactory;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableConfigExt};
use datafusion::datasource::listing_table_factory::ListingTableFactory;
use datafusion::datasource::physical_plan::wrap_partition_type_in_dict;
use datafusion::execution::SessionState;
use datafusion::logical_expr::CreateExternalTable;
use datafusion::prelude::SessionContext;

use crate::corpus::ingest::Needed;
use crate::export::layout::{FILES, PARTS, is_index, is_name_of_part};
use crate::export::{MANIFEST, Manifest, name_here, stem_of_sealed};
use crate::index::Index;
use crate::seal::Root;
use crate::store::{Address, Explained, Found, Location, MAGIC, Stores, check_root, redacted};

/// The extensions of files that are tables. All but the first may be followed by an extension of [`COMPRESSED`].
const TABLES: [&str; 6] = ["parquet", "csv", "tsv", "json", "jsonl", "ndjson"];

const COMPRESSED: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// Allows names of files in place of tables, in FROM and in LOCATION.
///
/// [`SessionContext::enable_url_table`] does so, too, but knows JSON lines only by the extension `.json`, and reports a
/// missing file as a missing table.
pub(crate) fn with_file_tables(session: SessionContext) -> Result<SessionContext> {
    let tables = Arc::new(FileTables::default());
    let catalogs = Arc::clone(session.state_ref().read().catalog_list());
    let catalogs = Arc::new(DynamicFileCatalog::new(catalogs, Arc::clone(&tables) as Arc<dyn UrlTableFactory>));
    let mut state = session.into_state_builder().with_catalog_list(catalogs).build();
    for extension in ["jsonl", "ndjson"] {
        state.register_file_format(Arc::new(JsonLines { extension, json: JsonFormatFactory::new() }), true)?;
    }
    state.register_file_format(Arc::new(Tsv { csv: CsvFormatFactory::new() }), true)?;
    for name in TABLES {
        state.table_factories_mut().insert(name.to_uppercase(), Arc::new(ExternalTables::default()));
    }
    let session = SessionContext::new_with_state(state);
    tables.listing.session_store().with_state(session.state_weak_ref());
    Ok(session)
}

/// The factory of tables that are named by files.
#[derive(Debug, Default)]
struct FileTables {
    /// The factory of DataFusion, which has the session that asks.
    listing: DynamicListTableFactory,
}

#[async_trait]
impl UrlTableFactory for FileTables {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        if Address::of(name).or_else(|error| plan_err!("{error:#}"))?.is_some() {
            return table(name, &self.state()?).await.map(Some);
        }
        // Every name that is not a table gets here, including the name of a table that is being created, which a folder
        // may have by chance.
        let is_path = name.contains('/') || kind(name).is_some();
        if !is_path && Manifest::is_in(Path::new(name)) {
            return Ok(None);
        }
        if !is_path && !name.contains(MAGIC) && !Path::new(name).is_dir() {
            return Ok(None);
        }
        match table(name, &self.state()?).await {
            Err(_) if !is_path && !name.contains(MAGIC) => Ok(None),
            found => found.map(Some).map_err(|error| told(error, name)),
        }
    }
}

impl FileTables {
    fn state(&self) -> Result<SessionState> {
        let session = self.listing.session_store().get_session().upgrade();
        let state = session.and_then(|session| session.read().as_any().downcast_ref::<SessionState>().cloned());
        state.ok_or_else(|| plan_datafusion_err!("internal error: there is no session; please report it"))
    }
}

/// The table that names in FROM or LOCATION refer to.
enum Named {
    Files(Box<Found>),
    /// A table of an index, which is not a folder of table files.
    Index(Arc<dyn TableProvider>),
}

impl Named {
    /// Finds the files or the index of one table.
    async fn find(names: &[String], session: &SessionState) -> Result<Self> {
        let stores = Stores::of_session(session);
        let mut locations = names.iter().map(|name| location(name, &stores)).collect::<Result<Vec<_>>>()?;
        let index = || match names {
            [name] => of_index(Path::new(name), session),
            _ => Ok(None),
        };
        let is_of_this_machine = locations.iter().all(|location| location.is_of_this_machine());
        if is_of_this_machine && let Some(index) = index()? {
            return Ok(Self::Index(index));
        }
        let mut manifests = Manifests::new();
        // As few requests as possible are sent to a store.
        if let [location] = locations.as_mut_slice()
            && is_of_corpus(location)
        {
            find_in_manifest(location, &mut manifests).map_err(as_text)?;
        }
        let mut found = Found::at(&locations, session).await?;
        if found.is_none()
            && let [location] = locations.as_mut_slice()
            && find_in_manifest(location, &mut manifests).map_err(as_text)?
        {
            found = Found::at(&locations, session).await?;
        }
        let mut found = match found {
            Some(found) => found,
            None if !is_of_this_machine && let Some(index) = index()? => return Ok(Self::Index(index)),
            None if is_of_this_machine => return plan_err!("{}", missing(names)),
            None => return plan_err!("{}: there is no such object", redacted(&names.join(", "))),
        };
        check_kinds(&found, names)?;
        read_manifests(&found, &mut manifests).map_err(as_text)?;
        if !found.are_named() {
            check_tables(&mut found, &manifests, names)?;
        }
        check_seals(&found, &manifests).await.map_err(as_text)?;
        Ok(Self::Files(Box::new(found)))
    }
}

/// Returns the location of a name that may be the name of a file.
fn location(name: &str, stores: &Arc<Stores>) -> Result<Location> {
    if let Some(location) = Location::of(name, stores).map_err(as_text)? {
        return Ok(location);
    }
    if name.contains("://") {
        return plan_err!(
            "cannot read {}: files of this machine are named by their path, and objects by s3://, gs://, az:// and https://",
            redacted(name)
        );
    }
    if Manifest::is_in(Path::new(name)) {
        let folder = name.trim_end_matches('/');
        let files =
            fs::read_dir(name).into_iter().flatten().filter_map(|file| file.ok()?.file_name().into_string().ok());
        let file = files.filter(|file| file.ends_with(".parquet")).min().unwrap_or_else(|| FILES[0].to_owned());
        return plan_err!(
            "{folder} is a folder of several tables: write the one that is meant, such as '{folder}/{file}'"
        );
    }
    if fs::metadata(name).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return plan_err!("{name} is a pipe or a device, which cannot be read in parts: save its data to a file");
    }
    match Location::of_file(name, stores).map_err(as_text)? {
        Some(location) => Ok(location),
        None => plan_err!("there is no file {name}"),
    }
}

/// Returns the reason why there are no files of these names.
fn missing(names: &[String]) -> String {
    if let Some(folder) = names.iter().find(|name| Path::new(name).is_dir()) {
        return format!("{folder} is a folder without files that could be read");
    }
    if let Some((link, target)) = names.iter().find_map(|name| Some((name, fs::read_link(name).ok()?))) {
        return format!("{link} is a link to {}, which is not there", target.display());
    }
    format!("there is no file {}", names.join(", "))
}

/// Converts an error to text, with all its causes.
fn as_text(error: anyhow::Error) -> DataFusionError {
    plan_datafusion_err!("{error:#}")
}

/// Returns a table of an index, whose name is the one it would have in a corpus: `index/documents.parquet`.
fn of_index(file: &Path, session: &SessionState) -> Result<Option<Arc<dyn TableProvider>>> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(None);
    };
    let needed = match name.strip_suffix(".parquet") {
        Some("documents") => Needed::Documents,
        Some("sentences") => Needed::DocumentsAndSentences,
        _ => return Ok(None),
    };
    let stores = &Stores::of_session(session);
    if !is_index(folder, stores).map_err(as_text)? {
        return Ok(None);
    }
    let table = Index::open(folder, stores).and_then(|index| {
        index.check(needed)?;
        index.table(name.trim_end_matches(".parquet"), session)
    });
    Ok(Some(Arc::new(table.map_err(as_text)?)))
}

/// The manifests of folders that were searched for one.
type Manifests = HashMap<Location, Option<Manifest>>;

/// Returns true if a file has the name of a file of a corpus.
fn is_of_corpus(file: &Location) -> bool {
    file.key().filename().is_some_and(|name| FILES.contains(&name))
}

/// Replaces the local name of a file by its name in a store, according to the manifest of its folder, and caches the
/// manifest. Returns true if the name in the store is another one.
fn find_in_manifest(file: &mut Location, manifests: &mut Manifests) -> anyhow::Result<bool> {
    let name = file.key().filename().filter(|name| name.ends_with(".parquet"));
    let folder = file.folder();
    let is_known = manifests.contains_key(&folder);
    let Some(name) = name.filter(|_| !is_known && !file.is_of_this_machine() && !file.is_web()) else {
        return Ok(false);
    };
    let manifest = Manifest::of(Path::new(&folder.to_string()), folder.stores())?;
    let named = manifest.as_ref().and_then(|manifest| manifest.file(name)).map(|named| folder.join(&named.name));
    manifests.insert(folder, manifest);
    let is_other = named.as_ref().is_some_and(|named| named != file);
    if let Some(named) = named {
        *file = named;
    }
    Ok(is_other)
}

/// Returns an error if files are of different kinds, or if a file is empty although its kind cannot be.
fn check_kinds(found: &Found, names: &[String]) -> Result<()> {
    let files: Vec<_> = found.objects().map(|(file, size)| (kind_of(&file), file, size)).collect();
    if let Some([(_, one, _), (_, other, _)]) = files.array_windows().find(|[(a, ..), (b, ..)]| a != b) {
        return plan_err!(
            "{} names files of different kinds, such as {one} and {other}; write a pattern for one of them",
            names.join(", ")
        );
    }
    match files.iter().find_map(|(kind, file, size)| Some((kind.as_ref().filter(|_| *size == 0)?, file))) {
        Some((kind, empty)) if kind == "parquet" => plan_err!("{empty} is empty, 0 bytes, no Parquet"),
        Some((kind, empty)) if kind.contains('.') => plan_err!("{empty} is empty, 0 bytes, no .{kind}: fetch it again"),
        _ => Ok(()),
    }
}

/// Reads the manifests beside files, except for files that are named by themselves and have their seal in the name.
fn read_manifests(found: &Found, manifests: &mut Manifests) -> anyhow::Result<()> {
    for (file, _) in found.objects() {
        let is_said = || found.are_named() && seal_in_name(&file).is_some();
        if is_parquet(&file)
            && let Entry::Vacant(new) = manifests.entry(file.folder())
            && !is_said()
        {
            new.insert(manifest_beside(found, &file)?);
        }
    }
    Ok(())
}

/// Returns an error if the seal of a file is not the one in the manifest beside it, or in its name.
async fn check_seals(found: &Found, manifests: &Manifests) -> anyhow::Result<()> {
    for (file, _) in found.objects() {
        let manifest = manifests.get(&file.folder()).and_then(Option::as_ref);
        let named = manifest.and_then(|manifest| manifest.seal_of(file.key().filename()?));
        if let Some(written) = named.or_else(|| seal_in_name(&file)) {
            check_root(&file, found.seal_of(&file).await?.as_ref(), written)?;
        }
    }
    Ok(())
}

/// Keeps the current files among those that a pattern matches: a folder in a store also has files of earlier manifests.
/// Returns an error if they belong to several tables of a folder, or to a corpus or an index that a killed run left
/// behind.
fn check_tables(found: &mut Found, manifests: &Manifests, names: &[String]) -> Result<()> {
    let names = redacted(&names.join(", "));
    // For each folder: one current file, one file that the manifest does not name, and the files of earlier manifests,
    // with the current files that replace them.
    let (mut counted, mut others, mut earlier) = (HashMap::new(), HashMap::new(), HashMap::new());
    for (file, _) in found.objects() {
        let Some(name) = file.key().filename().filter(|_| is_parquet(&file)) else { continue };
        if let Some(index) = index_of_part(&file) {
            return plan_err!(
                "{file} is of a part of an index, and the index may not use all parts: name {index}{}, which reads the \
                 parts in use",
                name_here(name)
            );
        }
        let folder = file.folder();
        let Some(Some(manifest)) = manifests.get(&folder) else {
            if seal_in_name(&file).is_some() {
                return plan_err!(
                    "{file} is of a corpus that has no {MANIFEST}, left by a killed run: make it anew, or name the \
                     file without a pattern"
                );
            }
            continue;
        };
        if manifest.seal_of(name).is_some() {
            if let Some(other) = counted.insert(folder, file.clone()) {
                return plan_err!(
                    "{names} names files of different tables, such as {other} and {file}; write a pattern for one of them"
                );
            }
        } else if let Some(named) = manifest.instead_of(name) {
            earlier.insert(file.key().clone(), folder.join(&named.name));
        } else {
            others.insert(folder, file.clone());
        }
    }
    if let Some((one, other)) = counted.iter().find_map(|(folder, one)| Some((one, others.get(folder)?))) {
        return plan_err!(
            "{names} names {one}, a table of the folder, and {other}, which its manifest does not list; write a \
             pattern for one of them"
        );
    }
    let is_found = |file: &Location| counted.get(&file.folder()) == Some(file);
    if let Some((key, named)) = earlier.iter().find(|(_, named)| !is_found(named)) {
        return plan_err!(
            "{names} names {}, which the manifest beside it does not count any more, and not {named}, which it counts: \
             run it again, or name the file that is meant without a pattern",
            named.at(key.clone())
        );
    }
    found.pass_over(&earlier);
    Ok(())
}

fn is_parquet(file: &Location) -> bool {
    file.key().extension() == Some("parquet")
}

/// Returns the index of the part that a file belongs to, by the location of the file.
fn index_of_part(file: &Location) -> Option<Location> {
    let (part, parts) = (file.folder(), file.folder().folder());
    let is_part = parts.key().filename() == Some(PARTS) && part.key().filename().is_some_and(is_name_of_part);
    let is_table = || file.key().filename().is_some_and(|name| FILES.contains(&&*name_here(name)));
    (is_part && is_table()).then(|| parts.folder())
}

/// Returns the seal in the name of a file of a corpus in a store.
fn seal_in_name(file: &Location) -> Option<Root> {
    let name = file.key().filename().filter(|_| !file.is_of_this_machine())?;
    stem_of_sealed(name).filter(|stem| FILES.contains(&format!("{stem}.parquet").as_str()))?;
    name.strip_suffix(".parquet")?.rsplit_once('-')?.1.parse().ok()
}

/// Returns the manifest of the folder of a file. A store is asked for it only if its listing has one or, without a
/// listing, if the file is one of a corpus by its name.
fn manifest_beside(found: &Found, file: &Location) -> anyhow::Result<Option<Manifest>> {
    let folder = file.folder();
    let is_one = || is_of_corpus(file) || seal_in_name(file).is_some();
    let is_asked = || folder.is_of_this_machine() || (!folder.is_web() && is_one());
    if found.has(&folder.join(MANIFEST)).unwrap_or_else(is_asked) {
        Manifest::of(Path::new(&folder.to_string()), folder.stores())
    } else {
        Ok(None)
    }
}

/// Returns the table that a name in FROM refers to.
async fn table(name: &str, session: &SessionState) -> Result<Arc<dyn TableProvider>> {
    let found = match Named::find(&[name.to_owned()], session).await? {
        Named::Files(found) => found,
        Named::Index(table) => return Ok(table),
    };
    if let Some(said) = found.objects().find_map(|(file, _)| unreadable(&file.to_string())) {
        return plan_err!("{said}");
    }
    found.partitions()?;
    let mut config = ListingTableConfig::new(found.url(session)?).infer_options(session).await?;
    if let Some(options) = &mut config.options {
        // The extensions were checked above.
        options.file_extension.clear();
    }
    if found.objects().any(|(file, _)| is_parquet(&file)) {
        found.check_parquet(session).await?;
        let columns = found.columns(session, &HashMap::new()).await?;
        let columns = if found.objects().count() == 1 { columns } else { nullable(&columns) };
        config = config.with_schema(Arc::new(columns));
    }
    let config = config.infer_partitions_from_path(session).await?.infer_schema(session).await?;
    let table = ListingTable::try_new(config)?;
    check_given_once(&found, &table.schema())?;
    let cache = session.runtime_env().cache_manager.get_file_statistic_cache();
    Ok(Arc::new(table.with_cache(cache)))
}

/// The factory of tables of files that get a name of their own: CREATE EXTERNAL TABLE.
#[derive(Debug, Default)]
struct ExternalTables {
    listing: ListingTableFactory,
}

#[async_trait]
impl TableProviderFactory for ExternalTables {
    async fn create(&self, session: &dyn Session, asked: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let Some(state) = session.as_any().downcast_ref::<SessionState>() else {
            return plan_err!("internal error: this is no session of DataFusion; please report it");
        };
        let names = asked.locations.join(", ");
        let found = match Named::find(&asked.locations, state).await.map_err(|error| told(error, &names))? {
            Named::Files(found) => found,
            Named::Index(table) => return Ok(table),
        };
        let mut asked = asked.clone();
        let is_constrained = !asked.constraints.is_empty() || !asked.column_defaults.is_empty();
        if is_constrained || asked.schema.fields().iter().any(|field| !field.is_nullable()) {
            return plan_err!(
                "NOT NULL, PRIMARY KEY, UNIQUE and DEFAULT are not supported: files are not checked for them; leave them out"
            );
        }
        if !asked.order_exprs.is_empty() {
            return plan_err!("WITH ORDER is not supported: nothing checks that files are in that order; leave it out");
        }
        let infers = state.config_options().execution.listing_table_factory_infer_partitions;
        if (infers && asked.schema.fields().is_empty()) || !asked.table_partition_cols.is_empty() {
            let columns = found.partitions()?;
            if !columns.starts_with(&asked.table_partition_cols) {
                return plan_err!(
                    "PARTITIONED BY ({}): the folders give the columns ({})",
                    asked.table_partition_cols.join(", "),
                    columns.join(", ")
                );
            }
            if asked.table_partition_cols.is_empty() {
                asked.table_partition_cols = columns;
            }
        }
        let kind = found.objects().find_map(|(file, _)| kind_of(&file));
        if let Some(kind) = kind.as_deref().filter(|kind| family(kind) != family(&asked.file_type.to_lowercase())) {
            return plan_err!("STORED AS {}: the files are .{kind}; say that, or name other files", asked.file_type);
        }
        if let Some((_, packed)) = kind.as_deref().and_then(|kind| kind.split_once('.')) {
            asked.options.entry("format.compression".to_owned()).or_insert_with(|| packed.to_owned());
        }
        if asked.file_type == "PARQUET" {
            found.check_parquet(state).await?;
            let columns = found.columns(state, &asked.options).await.map_err(|error| told(error, &names))?;
            check_declared(asked.schema.as_arrow(), &columns)?;
            if asked.schema.fields().is_empty() {
                let mut columns = SchemaBuilder::from(nullable(&columns));
                for name in &asked.table_partition_cols {
                    columns.push(Field::new(name, wrap_partition_type_in_dict(DataType::Utf8), false));
                }
                let columns = columns.finish();
                check_given_once(&found, &columns)?;
                asked.schema = Arc::new(columns.to_dfschema()?);
            }
        }
        let url = found.url(state)?;
        let of_folders: Vec<_> = asked.table_partition_cols.iter().map(String::as_str).collect();
        found.check_values(&url, &of_folders, asked.schema.as_arrow())?;
        asked.locations = vec![url.to_string()];
        let table = self.listing.create(session, &asked).await.map_err(|error| told(error, &names))?;
        check_given_once(&found, &table.schema())?;
        Ok(table)
    }
}

/// Returns an error if a folder gives a column that the files, or another folder, also give.
fn check_given_once(found: &Found, columns: &Schema) -> Result<()> {
    let mut names = HashSet::new();
    match (columns.fields().iter().find(|field| !names.insert(field.name())), found.objects().next()) {
        (Some(twice), Some((file, _))) => plan_err!(
            "{file}: the column {:?} is given by a folder, and once more by the file or another folder: rename one, \
             read the folders one by one, or ignore their names with SET \
             datafusion.execution.listing_table_factory_infer_partitions = false and CREATE EXTERNAL TABLE",
            twice.name()
        ),
        _ => Ok(()),
    }
}

/// Returns an error if the declared type of a column would truncate values of the files.
fn check_declared(declared: &Schema, found: &Schema) -> Result<()> {
    for asked in declared.fields() {
        if let Ok(column) = found.field_with_name(asked.name())
            && !keeps(column.data_type(), asked.data_type())
        {
            return plan_err!(
                "the files have the column {} as {}, and {} could not hold all its values: declare the type of the \
                 files, and CAST it in the query",
                asked.name(),
                column.data_type(),
                asked.data_type()
            );
        }
    }
    Ok(())
}

/// Returns true if each value of a type can be represented in another type without loss.
fn keeps(from: &DataType, to: &DataType) -> bool {
    let width = |kind: &DataType| kind.primitive_width().unwrap_or_default();
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_binary = |kind: &DataType| matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    let is_wider = match (from.is_integer(), to.is_integer()) {
        (true, true) if from.is_unsigned_integer() == to.is_unsigned_integer() => width(to) >= width(from),
        (true, true) => from.is_unsigned_integer() && width(to) > width(from),
        (true, false) => to.is_floating() && width(to) > width(from),
        (false, _) => from.is_floating() && to.is_floating() && width(to) >= width(from),
    };
    from == to
        || is_wider
        || (is_text(to) && !from.is_nested())
        || (is_binary(from) && is_binary(to))
        || match (from, to) {
            (DataType::Null, _) | (DataType::FixedSizeBinary(_), DataType::Binary | DataType::LargeBinary) => true,
            (DataType::List(from), DataType::List(to)) => keeps(from.data_type(), to.data_type()),
            (DataType::Struct(from), DataType::Struct(to)) => {
                let is_kept = |(from, to): (&FieldRef, &FieldRef)| {
                    from.name() == to.name() && keeps(from.data_type(), to.data_type())
                };
                from.len() == to.len() && from.iter().zip(to).all(is_kept)
            }
            (DataType::Dictionary(_, from), to) => keeps(from, to),
            (DataType::Timestamp(from, zone), DataType::Timestamp(to, other)) => {
                to >= from && zone.is_some() == other.is_some()
            }
            (DataType::Date32, DataType::Date64 | DataType::Timestamp(_, None)) => true,
            (DataType::Time32(from) | DataType::Time64(from), DataType::Time32(to) | DataType::Time64(to)) => {
                to >= from
            }
            (
                DataType::Decimal128(digits, scale) | DataType::Decimal256(digits, scale),
                DataType::Decimal128(most, finest) | DataType::Decimal256(most, finest),
            ) => finest >= scale && whole_digits(*most, *finest) >= whole_digits(*digits, *scale),
            (from, DataType::Decimal128(most, finest) | DataType::Decimal256(most, finest)) => {
                from.is_integer() && *finest >= 0 && whole_digits(*most, *finest) >= most_digits(from)
            }
            _ => false,
        }
}

/// Returns the most digits of a whole number of this type.
fn most_digits(of: &DataType) -> i16 {
    match of {
        DataType::Int8 | DataType::UInt8 => 3,
        DataType::Int16 | DataType::UInt16 => 5,
        DataType::Int32 | DataType::UInt32 => 10,
        DataType::Int64 => 19,
        _ => 20,
    }
}

/// Returns the number of digits of a decimal number before its point.
fn whole_digits(all: u8, scale: i8) -> i16 {
    i16::from(all) - i16::from(scale)
}

/// Returns the family of a kind: options can turn one kind of a family into another.
fn family(kind: &str) -> &str {
    match kind.split_once('.').map_or(kind, |(kind, _)| kind) {
        "tsv" => "csv",
        "jsonl" | "ndjson" => "json",
        kind => kind,
    }
}

/// Returns the error of files under the name that they were asked for by, without the messages that libraries add
/// around it.
fn told(error: DataFusionError, name: &str) -> DataFusionError {
    if let Some(explained) = Explained::of(&error) {
        return plan_datafusion_err!("{explained}");
    }
    if matches!(error, DataFusionError::Plan(_)) {
        return error;
    }
    // The error around an error of the system names its file.
    let (mut around, mut cause): (&dyn Error, &(dyn Error + 'static)) = (&error, &error);
    while let Some(deeper) = cause.source() {
        (around, cause) = (cause, deeper);
    }
    match cause.downcast_ref::<io::Error>() {
        Some(denied) if denied.kind() == io::ErrorKind::PermissionDenied => plan_datafusion_err!(
            "cannot read {name}: {around}; allow it with chmod, also for the folders that it is in"
        ),
        Some(_) => plan_datafusion_err!("cannot read {name}: {around}"),
        None => plan_datafusion_err!("cannot read {name}: {}", error.strip_backtrace()),
    }
}

/// Makes all columns nullable: one file does not tell whether another file, or its own later version, has missing
/// values.
fn nullable(columns: &Schema) -> Schema {
    fn of_field(field: &FieldRef) -> FieldRef {
        let kind = match field.data_type() {
            DataType::Struct(fields) => DataType::Struct(fields.iter().map(of_field).collect()),
            DataType::List(of) => DataType::List(of_field(of)),
            kind => kind.clone(),
        };
        Arc::new(field.as_ref().clone().with_data_type(kind).with_nullable(true))
    }
    Schema::new(columns.fields().iter().map(of_field).collect::<Fields>())
}

/// Returns the kind of a file or an object.
fn kind_of(file: &Location) -> Option<String> {
    file.key().filename().and_then(kind)
}

/// Returns the kind of a file by its extension, such as `csv.gz`, if it can be a table.
fn kind(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let unpacked = COMPRESSED.iter().find_map(|extension| name.strip_suffix(&format!(".{extension}"))).unwrap_or(&name);
    let (stem, _) = unpacked.rsplit_once('.').filter(|(_, extension)| TABLES.contains(extension))?;
    Some(name[stem.len() + 1..].to_owned())
}

/// Returns the reason why a file of this name is not a table, and what can be done; `None` if it can be one.
pub fn unreadable(name: &str) -> Option<String> {
    let listed = |names: &[&str]| names.iter().map(|name| format!(".{name}")).collect::<Vec<_>>().join(", ");
    kind(name).is_none().then(|| {
        format!(
            "cannot read {name} in FROM: it takes {}, all but the first also {}; name the format of other files with \
             CREATE EXTERNAL TABLE … STORED AS, or read text and HTML by ibid ingest",
            listed(&TABLES),
            listed(&COMPRESSED)
        )
    })
}

/// The format of JSON lines, under one of their other extensions.
#[derive(Debug)]
struct JsonLines {
    extension: &'static str,
    json: JsonFormatFactory,
}

impl GetExt for JsonLines {
    fn get_ext(&self) -> String {
        self.extension.to_string()
    }
}

impl FileFormatFactory for JsonLines {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        self.json.create(state, options)
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        FileFormatFactory::default(&self.json)
    }
}

/// CSV with tabs.
#[derive(Debug)]
struct Tsv {
    csv: CsvFormatFactory,
}

impl GetExt for Tsv {
    fn get_ext(&self) -> String {
        "tsv".to_owned()
    }
}

impl FileFormatFactory for Tsv {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let mut options = options.clone();
        options.entry("format.delimiter".to_owned()).or_insert_with(|| "\t".to_owned());
        self.csv.create(state, &options)
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(CsvFormat::default().with_delimiter(b'\t'))
    }
}
