//! Collections as ibid stores them: corpus folders and indexes, which are read as they stand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use datafusion::prelude::SessionContext;
use serde_json::{Value, json};

use crate::corpus::ingest::{self, Needed, about_corpus};
use crate::corpus::{self, is_name_of_file, refuse_result};
use crate::export::layout::{FILES, ORIGINS, is_around_index, is_index};
use crate::export::{MANIFEST, Manifest, StagedFile, resolved, table_files};
use crate::index::Index;
use crate::seal::Root;
use crate::store::{Location, Object, Stores, seal_of};

/// A stored collection, which need not be ingested first.
#[derive(Debug, Clone)]
pub(crate) enum Stored {
    Corpus(PathBuf),
    /// A corpus in an object store, with the files of its tables.
    Objects {
        folder: PathBuf,
        files: Vec<PathBuf>,
    },
    Index(Index),
}

/// Fails if no result can take its place at `target`, or if it would replace a part of a collection. The check comes
/// before the work for the result begins.
pub fn check_place(target: &Path, stores: &Arc<Stores>) -> Result<()> {
    StagedFile::check(target, stores)?;
    let place = resolved(target)?.unwrap_or_default();
    let (Some(folder), Some(name)) = (place.parent(), place.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    let is_table = || FILES.contains(&name) && !matches!(Stored::at(folder, stores), Ok(None));
    if is_taken(folder, stores) || is_table() {
        bail!(
            "cannot write {}: that folder is a corpus, an index or a result; name a file elsewhere",
            target.display()
        );
    }
    Ok(())
}

/// Fails if a folder is a collection or a result, to which other files do not belong.
pub fn check_folder(folder: &Path, stores: &Arc<Stores>) -> Result<()> {
    if is_taken(folder, stores) {
        bail!("{} is a corpus, an index or a result; name a folder elsewhere", folder.display());
    }
    Ok(())
}

/// Opens an index to be added to. Fails if it would have to be made in a folder to which it does not belong.
pub(crate) fn index_to_add(folder: &Path, stores: &Arc<Stores>) -> Result<Index> {
    let index = Index::open_to_add(folder, stores)?;
    if index.manifest().number == 0
        && let Some(parent) = resolved(folder)?.as_deref().and_then(Path::parent)
    {
        check_folder(parent, stores)?;
    }
    Ok(index)
}

/// Returns true if a folder is a collection or a result, also with a manifest that is damaged or of another version, or
/// a folder of an index. A folder that cannot be read is not protected.
fn is_taken(folder: &Path, stores: &Arc<Stores>) -> bool {
    Manifest::is_of_ours(folder, stores).unwrap_or(false) || is_around_index(folder, stores)
}

/// Fails if the files of a folder with the names of tables are those of a corpus whose manifest is missing. Other
/// tables may have such names, too.
fn refuse_tables_without_manifest(folder: &Path, stores: &Arc<Stores>) -> Result<Option<Stored>> {
    for file in FILES {
        let seal = seal_of(&folder.join(file), stores).ok().flatten();
        if seal.is_none_or(|seal| seal.result.parse().ok() != Some(about_corpus())) {
            return Ok(None);
        }
    }
    bail!(
        "{} has the tables of a corpus, and not its {MANIFEST}: copy that, too, or make the corpus anew",
        folder.display()
    )
}

impl Stored {
    /// Opens the collection that is stored at `path`, if there is one.
    pub(crate) fn at(path: &Path, stores: &Arc<Stores>) -> Result<Option<Self>> {
        if let Some(location) = Location::of_path(path, stores)? {
            return Self::at_location(path, &location);
        }
        if is_index(path, stores)? {
            return Self::of_index(path, stores).map(Some);
        }
        let missing = FILES.iter().find(|file| !path.join(file).is_file());
        let manifest = match if Manifest::is_in(path) { Manifest::of(path, stores) } else { Ok(None) } {
            Err(error) if missing.is_none() => return Err(error),
            manifest => manifest.ok().flatten(),
        };
        if !manifest.is_some_and(|manifest| FILES.iter().all(|file| manifest.seal_of(file).is_some())) {
            return if missing.is_none() { refuse_tables_without_manifest(path, stores) } else { Ok(None) };
        }
        match missing {
            None => Ok(Some(Self::Corpus(path.to_path_buf()))),
            Some(missing) => bail!(
                "{} is a corpus without {missing}, which its manifest names: put that back from a copy, or make the corpus anew",
                path.display()
            ),
        }
    }

    fn at_location(path: &Path, location: &Location) -> Result<Option<Self>> {
        // A path with the name of a file is no folder, and nothing is requested for it.
        let is_file = !location.is_prefix() && location.key().filename().is_some_and(is_name_of_file);
        if is_file || location.is_web() {
            return Ok(None);
        }
        if let Some(files) = table_files(location, Needed::DocumentsAndSentences.tables())? {
            return Ok(Some(Self::Objects { folder: path.to_path_buf(), files }));
        }
        if is_index(path, location.stores())? {
            return Self::of_index(path, location.stores()).map(Some);
        }
        for file in FILES {
            if Object::find(&location.as_prefix().join(file))?.is_none() {
                return Ok(None);
            }
        }
        refuse_tables_without_manifest(path, location.stores())
    }

    fn of_index(path: &Path, stores: &Arc<Stores>) -> Result<Self> {
        let index = Index::open(path, stores)?;
        if index.manifest().parts.is_empty() {
            bail!(
                "the index {} has no documents any more: ibid gc dropped all of its parts; add others with `add`",
                path.display()
            );
        }
        Ok(Self::Index(index))
    }

    /// Returns the kind of the collection, for users.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Corpus(_) | Self::Objects { .. } => "a corpus",
            Self::Index(_) => "an index",
        }
    }

    /// Returns the files of a table.
    pub(crate) fn files(&self, table: &str) -> Vec<PathBuf> {
        match self {
            Self::Corpus(folder) => vec![folder.join(format!("{table}.parquet"))],
            Self::Objects { files, .. } => {
                let places = Needed::DocumentsAndSentences.tables().iter().zip(files);
                places.filter(|(name, _)| **name == table).map(|(_, file)| file.clone()).collect()
            }
            Self::Index(index) => index.files(table),
        }
    }

    /// Returns the file that says where its documents come from, if it has one.
    pub(crate) fn origins(&self, stores: &Arc<Stores>) -> Result<Option<PathBuf>> {
        match self {
            Self::Corpus(folder) => Ok(Some(folder.join(ORIGINS)).filter(|file| file.is_file())),
            Self::Objects { folder, .. } => {
                let Some(location) = Location::of_path(folder, stores)? else { return Ok(None) };
                Ok(table_files(&location, &["origins"])?.and_then(|files| files.into_iter().next()))
            }
            Self::Index(_) => Ok(None),
        }
    }

    /// Fails if a result would replace one of its files.
    pub(crate) fn refuse_results(&self, reading: &corpus::Options) -> Result<()> {
        let mut files = Needed::DocumentsAndSentences.tables().iter().flat_map(|table| self.files(table));
        Ok(files.try_for_each(|file| refuse_result(&file, reading))?)
    }

    /// Returns the rows and the seal of each file of the tables, to be noted beside a result.
    pub(crate) fn contents(&self, prefix: &str, needed: Needed, stores: &Arc<Stores>) -> Result<Vec<Value>> {
        let noted = |table: &str, rows: Option<u64>, seal: Option<Root>| json!({ "table": format!("{prefix}{table}"), "rows": rows, "seal": seal.map(|seal| seal.to_string()) });
        let mut contents = Vec::new();
        for table in needed.tables() {
            match self {
                Self::Index(index) => {
                    let files = index.manifest().parts.iter().map(|part| part.file(table));
                    contents.extend(files.map(|file| noted(table, Some(file.rows), Some(file.seal))));
                }
                Self::Corpus(_) | Self::Objects { .. } => {
                    for file in self.files(table) {
                        let seal = seal_of(&file, stores)?;
                        contents.push(noted(table, seal.as_ref().map(|s| s.rows), seal.as_ref().map(|s| s.root)));
                    }
                }
            }
        }
        Ok(contents)
    }

    /// Registers the tables as `{prefix}documents` and `{prefix}sentences`.
    pub(crate) async fn register(&self, session: &SessionContext, prefix: &str, needed: Needed) -> Result<()> {
        let index = match self {
            Self::Corpus(folder) | Self::Objects { folder, .. } => {
                let stores = Stores::of_session(&session.state());
                let manifest = Manifest::of(folder, &stores)?;
                for table in needed.tables() {
                    for file in self.files(table) {
                        manifest.as_ref().map_or(Ok(()), |manifest| manifest.check(&file, &stores))?;
                        ingest::register_file(session, &format!("{prefix}{table}"), &file).await?;
                    }
                }
                return Ok(());
            }
            Self::Index(index) => index,
        };
        index.check(needed)?;
        for table in needed.tables() {
            let listed = index.table(table, &session.state())?;
            let listed = listed.with_cache(session.runtime_env().cache_manager.get_file_statistic_cache());
            session.register_table(format!("{prefix}{table}"), Arc::new(listed))?;
        }
        Ok(())
    }

    /// Returns the statements that register the tables.
    pub(crate) fn statements(&self, prefix: &str, needed: Needed) -> Result<Vec<String>> {
        let statement = |table: &&str| -> Result<String> {
            Ok(match self {
                Self::Corpus(folder) => ingest::statement(prefix, &folder.join(format!("{table}.parquet")), table),
                Self::Objects { .. } => {
                    let file = self.files(table).into_iter().next().unwrap_or_default();
                    ingest::statement(prefix, &file, table)
                }
                Self::Index(index) => format!("CREATE VIEW {prefix}{table} AS\n{}", index.select(table)?),
            })
        };
        needed.tables().iter().map(statement).collect()
    }
}
