use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use datafusion::common::runtime::SpawnedTask;
use serde_json::Value;

use super::runs;
use crate::corpus::ingest::about_corpus;
use crate::engine::Engine;
use crate::export::layout::{FILES, is_index};
use crate::export::{MANIFEST, Manifest, names, stem_of_sealed};
use crate::index::Index;
use crate::run::grouped;
use crate::seal::Written;
use crate::store::{Location, MAGIC, Object, Stores, Verified, hash_of, redacted, redacted_url, seal_of, verify};

impl Engine {
    /// Checks that results, corpora and indexes are what was written: each byte of each file.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let reuse = folder.path().join("reuse.parquet");
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql("SELECT 1 AS id, 'To be or not to be.' AS text").await?;
    /// engine.pairs(notes).await?.write(&reuse).await?;
    /// let checked = engine.verify([&reuse]).await?;
    /// assert!(!checked[0].is_wrong());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verify<P: Into<PathBuf>>(&self, paths: impl IntoIterator<Item = P>) -> Verify {
        Verify::new(paths.into_iter().map(Into::into).collect(), self.stores())
    }
}

/// Parquet files, corpora, indexes and other folders of results that are checked; see [`Engine::verify`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct Verify {
    paths: Vec<PathBuf>,
    on_file: Arc<dyn Fn(&Checked) + Send + Sync>,
    stores: Arc<Stores>,
}

runs!(Verify => Vec<Checked>);

/// A file that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// Its path or URL, without secrets.
    pub file: String,
    /// The verdict.
    pub outcome: Outcome,
    /// The verdict as text for people: the rows, bytes and seal of the file, or what is wrong and why.
    pub said: String,
}

/// The verdict on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The file is what was written.
    Sound,
    /// The file is damaged, missing, or has no seal, so that nothing says what was written.
    Wrong,
    /// The file is not part of the result, or is a folder within it.
    PassedOver,
}

impl Checked {
    /// Returns true if the file is not what was written.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.outcome == Outcome::Wrong
    }
}

/// A kind of file that a path leads to.
enum Entry {
    /// A file of a result, and what a manifest says of it.
    File(Option<Written>),
    /// A file beside a manifest that does not name it.
    Stranger,
    /// Something other than a file, such as a pipe, which may never end.
    NoFile,
    /// A folder within the named one.
    Folder,
}

impl Verify {
    #[doc(hidden)]
    pub fn new(paths: Vec<PathBuf>, stores: &Arc<Stores>) -> Self {
        Self { paths, on_file: Arc::new(|_| ()), stores: Arc::clone(stores) }
    }

    /// Calls this function with each file once it is checked.
    pub fn on_file(mut self, call: impl Fn(&Checked) + Send + Sync + 'static) -> Self {
        self.on_file = Arc::new(call);
        self
    }

    async fn run(self) -> Result<Vec<Checked>> {
        let check = move || {
            let mut all = Vec::new();
            for path in &self.paths {
                for (file, entry) in entries(path, &self.stores)? {
                    let checked = check(&file, entry, &self.stores);
                    (self.on_file)(&checked);
                    all.push(checked);
                }
            }
            anyhow::Ok(all)
        };
        SpawnedTask::spawn_blocking(check).join().await.context("the check stopped")?
    }
}

fn check(file: &Path, entry: Entry, stores: &Arc<Stores>) -> Checked {
    let is_folder = matches!(entry, Entry::Folder);
    let found = match entry {
        Entry::File(written) => check_file(file, written, stores).map(Some),
        Entry::Stranger => look_at_stranger(file, stores),
        Entry::NoFile | Entry::Folder => Ok(None),
    };
    let (outcome, said) = match found {
        Ok(Some(found)) => (Outcome::Sound, found),
        Ok(None) => {
            let why = if is_folder { "a folder: name it to verify it" } else { "it is not of this result" };
            (Outcome::PassedOver, format!("passed over, {why}"))
        }
        Err(error) => (Outcome::Wrong, format!("WRONG: {error:#}")),
    };
    Checked { file: redacted_url(&file.display().to_string()), outcome, said: redacted(&said) }
}

/// Returns the files of a result.
fn entries(path: &Path, stores: &Arc<Stores>) -> Result<Vec<(PathBuf, Entry)>> {
    let location = Location::of_path(path, stores)?;
    let is_folder = match &location {
        Some(location) => is_prefix(location)?,
        None => path.is_dir(),
    };
    if !is_folder {
        if is_pattern(path, location.as_ref())? {
            bail!(
                "{}: verify takes no patterns: name the folder, or the files, or have the shell name them, without quotes",
                path.display()
            );
        }
        return Ok(vec![(path.to_path_buf(), Entry::File(None))]);
    }
    if is_index(path, stores)? {
        let files = Index::open(path, stores)?.sealed_files().into_iter();
        return Ok(files.map(|(file, written)| (file, Entry::File(Some(written)))).collect());
    }
    let mut found = of_result(path, location.is_some(), stores)?;
    let is_of_result = |folder: &PathBuf| found.iter().any(|(file, _)| file.parent() == Some(folder));
    let others: Vec<_> = folders(path, location.as_ref())?.into_iter().filter(|folder| !is_of_result(folder)).collect();
    found.extend(others.into_iter().map(|folder| (folder, Entry::Folder)));
    Ok(found)
}

/// Returns true if a name is a pattern: it has a wildcard, and no file has this name.
fn is_pattern(path: &Path, location: Option<&Location>) -> Result<bool> {
    match location {
        // In the URL of a web server, `?` begins the query.
        Some(location) if location.is_web() => Ok(false),
        Some(location) => Ok(location.key().as_ref().contains(MAGIC) && Object::find(location)?.is_none()),
        None => Ok(path.to_string_lossy().contains(MAGIC) && path.symlink_metadata().is_err()),
    }
}

/// Returns the folders within one. Leaves out hidden folders, and those named like Parquet files, which are found as
/// files.
fn folders(path: &Path, location: Option<&Location>) -> Result<Vec<PathBuf>> {
    if let Some(location) = location {
        let (_, folders) = Object::list_folder(location)?;
        return Ok(folders.iter().map(|folder| PathBuf::from(folder.to_string())).collect());
    }
    let mut folders = Vec::new();
    for entry in path.read_dir().with_context(|| format!("cannot read {}", path.display()))? {
        let folder = entry.with_context(|| format!("cannot read {}", path.display()))?.path();
        let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if folder.is_dir() && !is_hidden && folder.extension() != Some("parquet".as_ref()) {
            folders.push(folder);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the files of a folder that is not an index.
fn of_result(path: &Path, is_in_store: bool, stores: &Arc<Stores>) -> Result<Vec<(PathBuf, Entry)>> {
    let names = names(path, stores)?;
    let missing = |file: &str| (path.join(file), Entry::File(None));
    let Some(manifest) = Manifest::of(path, stores)? else {
        if names.is_empty() {
            bail!("{}: there are no Parquet files in it; name a result of ibid, such as {}", path.display(), FILES[0]);
        }
        let mut found: Vec<_> = names.iter().map(|name| file_or_none(path.join(name))).collect();
        // A corpus needs both files, even if no manifest says so.
        let (there, gone): (Vec<&str>, Vec<&str>) =
            FILES.iter().partition(|file| names.iter().any(|name| name == *file));
        if there.iter().any(|file| is_of_corpus(&path.join(file), stores)) {
            found.extend(gone.into_iter().map(missing));
        }
        return Ok(found);
    };
    let mut found: Vec<_> = manifest
        .files
        .iter()
        .map(|file| {
            let written = Written { rows: file.rows, bytes: file.bytes, seal: file.seal };
            (path.join(&file.name), Entry::File(Some(written)))
        })
        .collect();
    // In a store, the files of earlier manifests stay for runs that still read them.
    let is_earlier = |name: &str| {
        let file = stem_of_sealed(name).map(|stem| format!("{stem}.parquet"));
        is_in_store && manifest.file(file.as_deref().unwrap_or(name)).is_some()
    };
    for name in names.iter().filter(|name| manifest.seal_of(name).is_none() && !is_earlier(name)) {
        found.push(match file_or_none(path.join(name)) {
            (path, Entry::File(_)) => (path, Entry::Stranger),
            none => none,
        });
    }
    // A table cached by --resume may have only the documents.
    let is_corpus = manifest.about["key"].is_null()
        && (!manifest.about["content"].is_null() || FILES.iter().any(|file| manifest.file(file).is_some()));
    let is_listed = |file: &str| manifest.file(file).is_some() || names.iter().any(|name| name == file);
    if is_corpus {
        found.extend(FILES.into_iter().filter(|file| !is_listed(file)).map(missing));
    }
    if found.is_empty() {
        bail!("{} names no file; write the result again", path.join(MANIFEST).display());
    }
    Ok(found)
}

/// Returns true if a URL names a folder: it ends with `/`, or there is no such object and some are below it.
fn is_prefix(location: &Location) -> Result<bool> {
    if location.is_prefix() || location.is_web() {
        return Ok(location.is_prefix());
    }
    Ok(Object::find(location)?.is_none() && !Object::list(&location.as_prefix(), 1)?.is_empty())
}

/// Returns an entry of a folder. Anything that is not a file is not opened. A dangling symlink counts as a missing
/// file.
fn file_or_none(path: PathBuf) -> (PathBuf, Entry) {
    let entry = if is_no_file(&path) { Entry::NoFile } else { Entry::File(None) };
    (path, entry)
}

/// Returns true if a path leads to something other than a file. An object in a store is a file.
fn is_no_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| !there.is_file())
}

/// Returns true if a file has the metadata of a corpus.
fn is_of_corpus(path: &Path, stores: &Arc<Stores>) -> bool {
    let seal = if is_no_file(path) { None } else { seal_of(path, stores).ok().flatten() };
    let about: Option<Value> = seal.and_then(|seal| serde_json::from_str(&seal.result).ok());
    let keys = |about: &Value| about.as_object().map(|about| about.keys().cloned().collect::<Vec<_>>());
    about.is_some_and(|about| keys(&about) == keys(&about_corpus()))
}

/// Checks a file that the manifest beside it does not name. Returns `None` if ibid did not write it.
fn look_at_stranger(path: &Path, stores: &Arc<Stores>) -> Result<Option<String>> {
    if seal_of(path, stores)?.is_some() {
        bail!("{MANIFEST} does not name it: it is of another run; move it elsewhere");
    }
    Ok(None)
}

/// Checks a file. Returns its rows, bytes and seal, for people.
fn check_file(path: &Path, written: Option<Written>, stores: &Arc<Stores>) -> Result<String> {
    if is_no_file(path) {
        bail!("it is no file");
    }
    if let Some(written) = written.filter(|_| path.extension() != Some("parquet".as_ref())) {
        let (bytes, seal) = hash_of(path, stores).with_context(|| format!("cannot read {}", path.display()))?;
        if (bytes, seal) != (written.bytes, written.seal) {
            bail!(
                "it has {} bytes with the hash {seal}, but {} bytes with the hash {} were written",
                grouped(bytes),
                grouped(written.bytes),
                written.seal
            );
        }
        return Ok(format!("sound, {} bytes, seal {seal}", grouped(bytes)));
    }
    match verify(path, stores)? {
        Verified::Sealed { seal, bytes } => {
            let found = Written { rows: seal.rows, bytes, seal: seal.root };
            let written = written.unwrap_or(found);
            if written.seal != found.seal {
                bail!("its seal is {}, but {} was written", found.seal, written.seal);
            }
            if written != found {
                bail!(
                    "it has {} rows and {} bytes, as its seal says, and the manifest says {} and {}",
                    grouped(found.rows),
                    grouped(found.bytes),
                    grouped(written.rows),
                    grouped(written.bytes)
                );
            }
            Ok(format!("sound, {} rows, {} bytes, seal {}", grouped(seal.rows), grouped(bytes), seal.root))
        }
        Verified::Unsealed => bail!("it has no seal to compare it with"),
    }
}
