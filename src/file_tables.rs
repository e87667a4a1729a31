//! Files as tables: `FROM 'reuse.parquet'`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{DynamicFileCatalog, Session, TableProvider, UrlTableFactory};
use datafusion::common::{DataFusionError, GetExt, Result, plan_datafusion_err, plan_err};
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::datasource::file_format::json::JsonFormatFactory;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;

use crate::export::{MANIFEST, table_files};
use crate::index::Index;
use crate::ingest::{FILES, Needed};
use crate::store::{Explained, Location, MAGIC, Object, objects_table, redacted};

/// The names of files that are tables; of all but the first also those that go on with a name of [`COMPRESSED`].
const TABLES: [&str; 5] = ["parquet", "csv", "json", "jsonl", "ndjson"];

const COMPRESSED: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// Lets files be named where tables are.
///
/// As [`SessionContext::enable_url_table`] does, which knows JSON lines only by the name `.json`, and says of a file
/// that is not there that a table was not found.
pub(crate) fn with_file_tables(session: SessionContext) -> Result<SessionContext> {
    let tables = Arc::new(FileTables::default());
    let catalogs = Arc::clone(session.state_ref().read().catalog_list());
    let catalogs = Arc::new(DynamicFileCatalog::new(catalogs, Arc::clone(&tables) as Arc<dyn UrlTableFactory>));
    let mut state = session.into_state_builder().with_catalog_list(catalogs).build();
    for extension in ["jsonl", "ndjson"] {
        state.register_file_format(Arc::new(JsonLines { extension, json: JsonFormatFactory::new() }), true)?;
    }
    let session = SessionContext::new_with_state(state);
    tables.listing.session_store().with_state(session.state_weak_ref());
    Ok(session)
}

/// Finds files that are named as tables.
#[derive(Debug, Default)]
struct FileTables {
    listing: DynamicListTableFactory,
}

#[async_trait]
impl UrlTableFactory for FileTables {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let location = Location::of(name).or_else(|error| plan_err!("{error:#}"))?;
        if let Some(location) = location {
            return self.of_objects(location).await.map(Some);
        }
        if let Some(table) = self.of_index(Path::new(name))? {
            return Ok(Some(table));
        }
        // A folder of several tables, such as a corpus, is none itself, and a table of its name is another.
        if Path::new(name).join(MANIFEST).is_file() {
            if !name.contains('/') {
                return Ok(None);
            }
            return plan_err!(
                "{name} is a folder of several tables: write the one that is meant, such as '{name}/{}'",
                FILES[0]
            );
        }
        // Every name that is no table comes by here, also that of a table that is to be made, and of a folder by chance.
        let is_path = name.contains('/') || kind(name).is_some();
        let is_pattern = name.contains(MAGIC);
        if !is_path && !is_pattern && !Path::new(name).is_dir() {
            return Ok(None);
        }
        if name.contains("://") {
            return plan_err!(
                "cannot read {}: FROM takes files of this machine by their path, and objects by s3://, gs://, az:// and \
                 https://",
                redacted(name)
            );
        }
        if is_path && Path::new(name).is_file() && kind(name).is_none() {
            return plan_err!("cannot read {name} in FROM: {}", readable());
        }
        match self.of_files(name).await {
            Ok(None) if is_path && is_pattern => {
                plan_err!("there is no file {name} that FROM can read: {}", readable())
            }
            Ok(None) if is_path => plan_err!("there is no file {name}"),
            Err(_) if !is_path => Ok(None),
            found => found,
        }
    }
}

impl FileTables {
    /// A table of files of this machine: one, those in a folder, or those that match a glob.
    async fn of_files(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(location) = Location::of_file(name).or_else(|error| plan_err!("{error:#}"))? else { return Ok(None) };
        let table = objects_table(&location, &self.state()?, kind, &readable()).await;
        table.map_err(|error| match Explained::of(&error) {
            Some(explained) => plan_datafusion_err!("{explained}"),
            None if matches!(error, DataFusionError::Plan(_)) => error,
            None => plan_datafusion_err!("cannot read {name}: {}", error.strip_backtrace()),
        })
    }

    /// A table of objects: one, those below a prefix, or those that match a glob.
    async fn of_objects(&self, location: Location) -> Result<Arc<dyn TableProvider>> {
        let state = self.state()?;
        // The files of a corpus have other names in a store than on this machine, and those of an index are many.
        let name =
            location.key().filename().and_then(|name| name.strip_suffix(".parquet")).unwrap_or_default().to_owned();
        if ["documents", "sentences"].contains(&name.as_str()) {
            let failed = |error: anyhow::Error| plan_datafusion_err!("{error:#}");
            let folder = location.folder();
            if Object::find(&location).map_err(failed)?.is_none() {
                let named = table_files(&folder, &[&name]).map_err(failed)?;
                if let Some(file) = named.and_then(|files| files.into_iter().next())
                    && let Some(named) = Location::of_path(&file).map_err(failed)?
                {
                    return there(&named, objects_table(&named, &state, kind, &readable()).await?);
                }
                if let Some(table) = self.of_index(Path::new(&location.to_string()))? {
                    return Ok(table);
                }
            }
        }
        there(&location, objects_table(&location, &state, kind, &readable()).await?)
    }

    /// The session that asks.
    fn state(&self) -> Result<SessionState> {
        let session = self.listing.session_store().get_session().upgrade();
        let state = session.and_then(|session| session.read().as_any().downcast_ref::<SessionState>().cloned());
        state.ok_or_else(|| plan_datafusion_err!("internal error: there is no session; please report it"))
    }

    /// A table of an index, which has the name that it would have in a corpus: `index/documents.parquet`.
    fn of_index(&self, file: &Path) -> Result<Option<Arc<dyn TableProvider>>> {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return Ok(None);
        };
        let needed = match name.strip_suffix(".parquet") {
            Some("documents") => Needed::Documents,
            Some("sentences") => Needed::DocumentsAndSentences,
            _ => return Ok(None),
        };
        if !Index::is_at(folder) {
            return Ok(None);
        }
        let state = self.state()?;
        let table = Index::open(folder).and_then(|index| {
            index.check(needed)?;
            index.table(name.trim_end_matches(".parquet"), &state)
        });
        // As text, causes and all.
        let table = table.or_else(|error| plan_err!("{error:#}"))?;
        Ok(Some(Arc::new(table)))
    }
}

/// A table, if there are objects for it.
fn there(location: &Location, table: Option<Arc<dyn TableProvider>>) -> Result<Arc<dyn TableProvider>> {
    table.ok_or_else(|| plan_datafusion_err!("{location}: there is no such object"))
}

/// What a file is by the end of its name, if it can be a table, such as `csv.gz`.
fn kind(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let unpacked = COMPRESSED.iter().find_map(|extension| name.strip_suffix(&format!(".{extension}"))).unwrap_or(&name);
    let (stem, _) = unpacked.rsplit_once('.').filter(|(_, extension)| TABLES.contains(extension))?;
    Some(name[stem.len() + 1..].to_owned())
}

/// What can be read.
fn readable() -> String {
    let listed = |names: &[&str]| names.iter().map(|name| format!(".{name}")).collect::<Vec<_>>().join(", ");
    format!("it takes {}, all but the first also {}", listed(&TABLES), listed(&COMPRESSED))
}

/// JSON lines by one of their other names.
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
