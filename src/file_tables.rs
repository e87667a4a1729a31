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
use crate::store::{Explained, Location, Object, objects_table, redacted};

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
        let failed = |error: DataFusionError| match Explained::of(&error) {
            Some(explained) => plan_datafusion_err!("{explained}"),
            None => plan_datafusion_err!("cannot read {name}: {}", error.strip_backtrace()),
        };
        if let Some(table) = self.listing.try_new(name).await.map_err(failed)? {
            return Ok(Some(table));
        }
        // Every name that is no table comes by here, also that of a table that is to be made.
        if !is_of_table(name) && !name.contains('/') {
            return Ok(None);
        }
        if name.contains("://") {
            return plan_err!(
                "cannot read {}: FROM takes files of this machine by their path, and objects by s3://, gs://, az:// and \
                 https://",
                redacted(name)
            );
        }
        if name.contains(['*', '?', '[']) {
            return plan_err!("there is no file {name} that FROM can read: {}", readable());
        }
        if Path::new(name).exists() {
            return plan_err!("cannot read {name} in FROM: {}", readable());
        }
        plan_err!("there is no file {name}")
    }
}

impl FileTables {
    /// A table of objects: one, those below a prefix, or those that match a glob.
    async fn of_objects(&self, location: Location) -> Result<Arc<dyn TableProvider>> {
        let Some(state) = self.state() else {
            return plan_err!("internal error: there is no session; please report it");
        };
        // The files of a corpus have other names in a store than on this machine, and those of an index are many.
        let table =
            location.key().filename().and_then(|name| name.strip_suffix(".parquet")).unwrap_or_default().to_owned();
        if ["documents", "sentences"].contains(&table.as_str()) {
            let failed = |error: anyhow::Error| plan_datafusion_err!("{error:#}");
            let folder = location.folder();
            if Object::find(&location).map_err(failed)?.is_none() {
                let named = table_files(&folder, &[&table]).map_err(failed)?;
                if let Some(file) = named.and_then(|files| files.into_iter().next())
                    && let Some(named) = Location::of_path(&file).map_err(failed)?
                {
                    return objects_table(&named, state, is_of_table, &readable()).await;
                }
                if let Some(table) = self.of_index(Path::new(&location.to_string()))? {
                    return Ok(table);
                }
            }
        }
        objects_table(&location, state, is_of_table, &readable()).await
    }

    /// The session that asks.
    fn state(&self) -> Option<SessionState> {
        let session = self.listing.session_store().get_session().upgrade()?;
        let session = session.read();
        session.as_any().downcast_ref::<SessionState>().cloned()
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
        let Some(state) = self.state().filter(|_| Index::is_at(folder)) else { return Ok(None) };
        let table = Index::open(folder).and_then(|index| {
            index.check(needed)?;
            index.table(name.trim_end_matches(".parquet"), &state)
        });
        // As text, causes and all.
        let table = table.or_else(|error| plan_err!("{error:#}"))?;
        Ok(Some(Arc::new(table)))
    }
}

/// Whether a name is that of a file that can be a table.
fn is_of_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let unpacked = COMPRESSED.iter().find_map(|extension| name.strip_suffix(&format!(".{extension}"))).unwrap_or(&name);
    unpacked.rsplit_once('.').is_some_and(|(_, extension)| TABLES.contains(&extension))
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
