use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use serde_json::{Value, json};

use super::parts::Part;
use crate::export::MANIFEST;
use crate::seal::{check_json, sealed_json};
use crate::store::{Location, Stores};

/// Name of the file that lists the parts of a table.
const PARTS: &str = "parts.json";

/// Returns true if a file of this name is one of a table, or of a corpus.
fn is_of_table(name: &str) -> bool {
    name == PARTS || name == MANIFEST || name.ends_with(".parquet")
}

/// A folder that all machines of a cluster reach, with the tables that runs make. Each table is in a folder of its own,
/// beside a list of the files that count.
#[derive(Debug, Clone)]
pub(crate) struct SharedFolder {
    place: Location,
    store: Arc<dyn ObjectStore>,
}

impl SharedFolder {
    /// Opens a folder as [`Self::at`]. Values that the session sends to machines, and that are too large for a plan, go
    /// there, too.
    pub(crate) fn of_session(folder: &Path, session: &SessionContext, stores: &Arc<Stores>) -> Result<Self> {
        let folder = Self::at(folder, session, stores)?;
        session.state_ref().write().config_mut().set_extension(Arc::new(folder.clone()));
        Ok(folder)
    }

    /// Opens a folder of a store, or of a file system that all machines have.
    pub(crate) fn at(folder: &Path, session: &SessionContext, stores: &Arc<Stores>) -> Result<Self> {
        let place = match Location::of_path(folder, stores)? {
            Some(place) => place,
            None => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make the folder {}", folder.display()))?;
                let name = folder.to_str().with_context(|| format!("{}: its name is not UTF-8", folder.display()))?;
                Location::of_file(name, stores)?.with_context(|| format!("there is no folder {name}"))?
            }
        };
        let place = place.as_prefix();
        let store = session.runtime_env().object_store(ListingTableUrl::try_new(place.url(), None)?)?;
        Ok(Self { place, store })
    }

    /// Returns the place of another entry of the folder, as a path or a URL.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        let place = self.place.join(name);
        place.url().to_file_path().unwrap_or_else(|()| PathBuf::from(place.to_string()))
    }

    /// Returns the folder of a table, as the URL of a file or the address of an object.
    pub(crate) fn of_table(&self, table: &str) -> String {
        let place = self.place.join(table).as_prefix();
        if place.is_of_this_machine() { place.url().to_string() } else { place.to_string() }
    }

    /// Returns the file of a value.
    pub(crate) fn of_value(&self, name: &str) -> Location {
        self.place.join("values").join(name)
    }

    /// Returns the files of a table.
    pub(crate) fn files(&self, table: &str, parts: &[Part]) -> Vec<Location> {
        parts.iter().map(|part| self.place.join(table).join(&part.file)).collect()
    }

    /// Returns the parts of a table that a run has written to its end, if there is one.
    pub(crate) async fn take(&self, table: &str) -> Result<Option<Vec<Part>>> {
        let list = self.place.join(table).join(PARTS);
        let read = match self.store.get(list.key()).await {
            Ok(read) => read.bytes().await,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => Err(error),
        };
        let bytes = read.with_context(|| format!("cannot read {list}"))?;
        let about = check_json(&bytes).and_then(|()| Ok(serde_json::from_slice::<Value>(&bytes)?));
        let Ok(about) = about else {
            log::warn!("{list} is damaged, and the table is made anew");
            return Ok(None);
        };
        let number = |json: &Value| json.as_u64().unwrap_or_default();
        let part = |part: &Value| {
            let file = part["file"].as_str().unwrap_or_default().to_owned();
            Part { file, rows: number(&part["rows"]), longest_list: number(&part["longest_list"]) }
        };
        let parts: Vec<_> = about["parts"].as_array().into_iter().flatten().map(part).collect();
        Ok(self.has_all(&list, &parts).await?.then_some(parts))
    }

    /// Returns true if all parts of a table are there.
    async fn has_all(&self, list: &Location, parts: &[Part]) -> Result<bool> {
        let folder = list.folder();
        let listed = self.store.list(Some(folder.key())).try_collect::<Vec<_>>().await;
        let listed = listed.with_context(|| format!("cannot list {folder}"))?;
        let names: HashSet<_> = listed.iter().filter_map(|object| object.location.filename()).collect();
        let missing = parts.iter().find(|part| !names.contains(part.file.as_str()));
        if let Some(missing) = missing {
            log::warn!("{folder}{} is gone, and the table is made anew", missing.file);
        }
        Ok(missing.is_none())
    }

    /// Writes the list of the parts of a table. Another run may have made the same table in the meantime: either list
    /// will do.
    pub(crate) async fn keep(&self, table: &str, parts: &[Part]) -> Result<()> {
        let part = |part: &Part| json!({ "file": part.file, "rows": part.rows, "longest_list": part.longest_list });
        let parts: Vec<_> = parts.iter().map(part).collect();
        let about = json!({ "ibid": env!("CARGO_PKG_VERSION"), "parts": parts });
        let list = self.place.join(table).join(PARTS);
        let payload = PutPayload::from(sealed_json(about)?);
        let put = self.store.put_opts(list.key(), payload, PutMode::Overwrite.into()).await;
        put.map(drop).with_context(|| format!("cannot write {list}"))
    }

    /// Removes all tables, and files of tasks that do not count.
    pub(crate) async fn remove(&self) -> Result<()> {
        let failed = || format!("cannot remove {}", self.place);
        let listed: Vec<_> = self.store.list(Some(self.place.key())).try_collect().await.with_context(failed)?;
        for object in listed.iter().filter(|object| object.location.filename().is_some_and(is_of_table)) {
            self.store.delete(&object.location).await.with_context(failed)?;
        }
        // Empty folders of this machine are removed, too. A folder that contains something else stays.
        if let Ok(folder) = self.place.url().to_file_path() {
            for entry in std::fs::read_dir(&folder).with_context(failed)? {
                let _ = std::fs::remove_dir(entry?.path());
            }
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }
}
