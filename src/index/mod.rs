//! An index: a collection that grows batch by batch.
//!
//! It is a folder of parts and of numbered manifests. Each part is a corpus as `ibid ingest` writes it, and each
//! manifest is the list of the parts of the index. Nothing in it is ever changed:
//!
//! * A part is written under a name that no other part has, and is on disk before a manifest names it.
//! * An index changes in one step: manifest N + 1 is made, which fails if it exists. So a run that is killed has added
//!   all of its part or nothing. If two runs read manifest N, one of them is told that it has to read N + 1.
//! * Readers take the highest number, and read files that do not change under them.
//!
//! A store that can make an object only if there is none keeps the same promises. [`gc`] removes the files that no
//! manifest names.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
pub(crate) mod gc;
mod manifest;
pub(crate) mod stored;
mod tables;

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::array::{AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use self::manifest::PartFile;
pub(crate) use self::manifest::{Manifest, Part};
use crate::corpus;
use crate::corpus::ingest::{CorpusFile, Needed, about_corpus};
use crate::export::cleanup::{self, Noted};
use crate::export::layout::{FILES, MANIFESTS, PARTS, is_index, manifest_path, numbers};
use crate::export::{StagedFile, StagedFolder};
use crate::seal::{Written, check_json, sealed_json};
use crate::store::failpoint::step;
use crate::store::{self, Address, GivenUp, Location, Object, Stores, Verified, check_seal, redacted_url, verify};

/// Upper bound of the objects that are checked for one that is of no index.
const LOOKED_AT: usize = 1000;

/// An index in the state of one of its manifests.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    folder: PathBuf,
    manifest: Manifest,
    stores: Arc<Stores>,
}

impl Index {
    /// Opens an index to be read.
    pub(crate) fn open(folder: &Path, stores: &Arc<Stores>) -> Result<Self> {
        match newest(folder, stores)? {
            Some(manifest) => Ok(Self { folder: folder.to_path_buf(), manifest, stores: Arc::clone(stores) }),
            None => bail!("the index {} has no documents yet: no run that added to it was completed", folder.display()),
        }
    }

    /// Opens an index to be added to, which may have to be made. It has no parts then, and the number 0.
    pub(crate) fn open_to_add(folder: &Path, stores: &Arc<Stores>) -> Result<Self> {
        if let Some(location) = Location::of_path(folder, stores)? {
            return Self::open_objects_to_add(folder, &location.as_prefix());
        }
        let folder: PathBuf = folder.components().collect();
        if !is_index(&folder, stores)? && folder.exists() {
            // Another run may be making the index at the same time.
            let stranger = fs::read_dir(&folder)
                .with_context(|| format!("{} is no folder of an index; name another", folder.display()))?
                .filter_map(Result::ok)
                .find(|entry| entry.file_name() != PARTS && entry.file_name() != MANIFESTS);
            if let Some(stranger) = stranger {
                bail!(
                    "{} is no index: it holds {}; `add` makes an index where there is no folder yet",
                    folder.display(),
                    stranger.file_name().display()
                );
            }
        }
        let manifest = newest(&folder, stores)?.unwrap_or_default();
        Ok(Self { folder, manifest, stores: Arc::clone(stores) })
    }

    fn open_objects_to_add(folder: &Path, location: &Location) -> Result<Self> {
        let manifest = newest(folder, location.stores())?;
        if manifest.is_none() {
            let ours = [PARTS, MANIFESTS].map(|name| location.join(name));
            let objects = Object::list(location, LOOKED_AT)?;
            let is_ours = |object: &&Object| ours.iter().any(|ours| object.location.key().prefix_matches(ours.key()));
            if let Some(stranger) = objects.iter().find(|object| !is_ours(object)) {
                bail!(
                    "{location} is no index: it holds {}; `add` makes an index where there is nothing yet",
                    stranger.location
                );
            }
        }
        let stores = Arc::clone(location.stores());
        Ok(Self { folder: folder.to_path_buf(), manifest: manifest.unwrap_or_default(), stores })
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the stores by which it is reached.
    pub(crate) fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the index without its parts.
    pub(crate) fn without_parts(&self) -> Self {
        self.with_parts(|_| false)
    }

    /// Returns the index without the parts whose documents are all more than `seconds` before or after `times`.
    pub(crate) fn within(&self, times: [i64; 2], seconds: f64) -> Self {
        let [earliest, latest] = times.map(|time| time as f64 / 1e6);
        self.with_parts(|part| {
            part.times.is_none_or(|times| {
                let [first, last] = times.map(|time| time as f64 / 1e6);
                last >= earliest - seconds && first <= latest + seconds
            })
        })
    }

    fn with_parts(&self, is_kept: impl Fn(&Part) -> bool) -> Self {
        let parts = self.manifest.parts.iter().filter(|part| is_kept(part)).cloned().collect();
        let manifest = Manifest { parts, ..self.manifest.clone() };
        Self { folder: self.folder.clone(), manifest, stores: Arc::clone(&self.stores) }
    }

    /// Returns the index of these corpora alone, which are in folders among its parts and were read from `inputs` as
    /// `reading` says. No manifest names them yet.
    pub(crate) fn of_corpora(
        &self,
        corpora: impl IntoIterator<Item = (String, [Written; 2])>,
        inputs: &[String],
        reading: &corpus::Options,
    ) -> Self {
        let number = self.manifest.number + 1;
        let (inputs, parameters) = (Value::from(noted(inputs)), reading.parameters());
        let part = |(name, written): (String, [Written; 2])| {
            let [documents, sentences] = written.map(|Written { rows, bytes, seal }| PartFile { rows, bytes, seal });
            let (ibid, inputs, parameters) = (env!("CARGO_PKG_VERSION").to_owned(), inputs.clone(), parameters.clone());
            Part { name, number, ibid, documents, sentences, times: None, inputs, parameters }
        };
        let parts = corpora.into_iter().map(part).collect();
        Self { manifest: Manifest { number, time_column: None, parts }, ..self.clone() }
    }

    /// Returns the index with only one of its parts.
    pub(crate) fn with_part(&self, at: usize) -> Self {
        let parts = self.manifest.parts[at..=at].to_vec();
        Self { manifest: Manifest { parts, ..self.manifest.clone() }, ..self.clone() }
    }

    /// Removes folders of a store that are beside the parts of the index and whose names begin with `prefix`.
    pub(crate) fn remove_others(&self, prefix: &str) -> Result<()> {
        let is_other = |name: &str| name.starts_with(prefix) && !self.manifest.has_part(name);
        for folder in store::entries(&self.folder.join(PARTS), &self.stores)? {
            if folder.file_name().and_then(|name| name.to_str()).is_some_and(is_other)
                && let Some(location) = Location::of_path(&folder, &self.stores)?
            {
                for object in Object::list(&location.as_prefix(), LOOKED_AT)? {
                    store::remove(&object.location)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the files of a table.
    pub(crate) fn files(&self, table: &str) -> Vec<PathBuf> {
        let parts = self.folder.join(PARTS);
        self.manifest.parts.iter().map(|part| parts.join(&part.name).join(format!("{table}.parquet"))).collect()
    }

    /// Returns the files of all tables, with the rows, bytes and seals that were written.
    pub(crate) fn sealed_files(&self) -> Vec<(PathBuf, Written)> {
        let of_table = |table: &'static str| {
            let files = self.files(table).into_iter();
            files.zip(&self.manifest.parts).map(move |(path, part)| {
                let PartFile { rows, bytes, seal } = part.file(table);
                (path, Written { rows, bytes, seal })
            })
        };
        Needed::DocumentsAndSentences.tables().iter().copied().flat_map(of_table).collect()
    }

    /// Fails if a file of these tables has another seal than was written. The content is checked as it is read.
    pub(crate) fn check(&self, needed: Needed) -> Result<()> {
        for table in needed.tables() {
            for (part, path) in self.manifest.parts.iter().zip(self.files(table)) {
                check_seal(&path, part.file(table).seal, &self.stores)?;
            }
        }
        Ok(())
    }

    /// Returns true if the index has not changed since it was opened.
    pub(crate) fn is_newest(&self) -> Result<bool> {
        Ok(newest(&self.folder, &self.stores)?.unwrap_or_default().number == self.manifest.number)
    }

    /// Writes the documents of a corpus folder, except for those in `left_out`, as a part that no manifest names yet.
    /// `inputs` and `reading` say what the corpus was read from, and how. `given_up` ends an upload early.
    pub(crate) fn write_part(
        &self,
        corpus: &Path,
        left_out: &HashSet<String>,
        times: Option<[i64; 2]>,
        (inputs, reading): (&[String], &corpus::Options),
        given_up: GivenUp,
    ) -> Result<WrittenPart> {
        let parts = self.folder.join(PARTS);
        for folder in [self.folder.clone(), parts.clone(), self.folder.join(MANIFESTS)] {
            // In a store there are no folders to be made.
            if Address::of_path(&folder)?.is_none() {
                make_folder(&folder)?;
            }
        }
        let number = self.manifest.number + 1;
        let name = format!("{number:08}-{:016x}", RandomState::new().hash_one(number));
        let folder = parts.join(&name);
        let staged = StagedFolder::create(&folder, &FILES, &self.stores)?.given_up_by(given_up);
        let [documents, sentences] = FILES.map(|file| -> Result<PartFile> {
            let Written { rows, bytes, seal } =
                write_file(&corpus.join(file), left_out, staged.path(), file, &self.stores)?;
            Ok(PartFile { rows, bytes, seal })
        });
        let (documents, sentences) = (documents?, sentences?);
        let places = match Location::of_path(&folder, &self.stores)? {
            Some(location) => FILES.iter().map(|file| Noted::Object(location.as_prefix().join(file))).collect(),
            None => vec![Noted::Path(folder)],
        };
        cleanup::hold().note(&places);
        let part = Part {
            name,
            number,
            ibid: env!("CARGO_PKG_VERSION").to_owned(),
            documents,
            sentences,
            times,
            inputs: noted(inputs).into(),
            parameters: reading.parameters(),
        };
        let mut written = WrittenPart { part, places, _held: None, is_kept: false };
        written._held = staged.commit()?;
        Ok(written)
    }

    /// Adds a part that was written to the index. Returns `false` if the index has changed since it was opened, and
    /// nothing was added.
    pub(crate) fn append(&self, mut written: WrittenPart, time_column: Option<&str>) -> Result<bool> {
        let mut parts = self.manifest.parts.clone();
        parts.push(written.part.clone());
        let time_column = time_column.map(str::to_owned);
        let next = self.stage(&Manifest { number: self.manifest.number + 1, time_column, parts })?;
        // If this fails, it is unknown if the manifest is there, so the part stays.
        let mut hold = cleanup::hold();
        hold.forget(&written.places);
        written.is_kept = true;
        // A file is written at once, so that an interrupt can wait for it.
        let hold = Address::of_path(&self.folder)?.is_none().then_some(hold);
        let is_next = next.commit_new()?;
        drop(hold);
        // The next number may be free because its manifest was removed, after the index had gone on to higher numbers.
        let is_added =
            is_next && newest(&self.folder, &self.stores)?.is_some_and(|newest| newest.has_part(&written.part.name));
        written.is_kept = is_added;
        Ok(is_added)
    }

    /// Makes the next manifest. Returns `false` if there is one already.
    pub(crate) fn replace(&self, next: &Manifest) -> Result<bool> {
        self.stage(next)?.commit_new()
    }

    /// Writes the next manifest to a staging file.
    fn stage(&self, next: &Manifest) -> Result<StagedFile> {
        let mut staged = StagedFile::create(&manifest_path(&self.folder, next.number), &self.stores)?;
        staged.write_all(sealed_json(next.to_json())?.as_bytes()).context("cannot write a manifest")?;
        Ok(staged)
    }
}

/// Upper bound of the inputs that a part names: all later manifests repeat them.
const NAMED: usize = 100;

/// Returns the names of inputs for a manifest.
fn noted(inputs: &[String]) -> Vec<String> {
    let mut named: Vec<_> = inputs.iter().take(NAMED).map(|input| redacted_url(input)).collect();
    if inputs.len() > NAMED {
        named.push(format!("… {} in all", inputs.len()));
    }
    named
}

/// A part that was written. It is removed if dropped, or if the program is interrupted, before a manifest may name it.
pub(crate) struct WrittenPart {
    part: Part,
    /// The folder of the part, or its objects in a store.
    places: Vec<Noted>,
    _held: Option<File>,
    is_kept: bool,
}

impl Drop for WrittenPart {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        for place in &self.places {
            let (removed, shown) = match place {
                Noted::Object(object) => (store::remove(object), object.to_string()),
                Noted::Path(path) => {
                    let removed = match fs::remove_dir_all(path) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                        removed => removed.map_err(anyhow::Error::new),
                    };
                    (removed, path.display().to_string())
                }
            };
            if let Err(error) = removed {
                log::warn!("cannot remove {shown}, which ibid gc removes later: {error:#}");
            }
        }
        cleanup::hold().forget(&self.places);
    }
}

/// Makes a folder, unless it exists, so that it survives a power cut.
fn make_folder(folder: &Path) -> Result<()> {
    let failed = || format!("cannot make the folder {}", folder.display());
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made.with_context(failed)?,
    }
    step("a folder of an index is made");
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).with_context(failed)
}

/// Returns the newest manifest, if there is one.
fn newest(folder: &Path, stores: &Arc<Stores>) -> Result<Option<Manifest>> {
    loop {
        let Some(&number) = numbers(folder, stores)?.last() else { return Ok(None) };
        // A manifest may be removed once there is another.
        if let Some(manifest) = read(folder, number, stores)? {
            return Ok(Some(manifest));
        }
    }
}

/// Reads the manifest with a number, if it exists.
fn read(folder: &Path, number: u64, stores: &Arc<Stores>) -> Result<Option<Manifest>> {
    let path = manifest_path(folder, number);
    let Some(bytes) =
        store::read_start(&path, u64::MAX, stores).with_context(|| format!("cannot read {}", path.display()))?
    else {
        return Ok(None);
    };
    let manifest = serde_json::from_slice(&bytes).map_err(anyhow::Error::new).and_then(|json| Manifest::of_json(&json));
    let manifest = manifest.and_then(|manifest| check_json(&bytes).map(|()| manifest));
    let manifest = manifest.with_context(|| format!("{} is no sound manifest of an index", path.display()))?;
    if manifest.number != number {
        bail!("{} is no sound manifest of an index: it has the number {}", path.display(), manifest.number);
    }
    Ok(Some(manifest))
}

/// Writes a file of a corpus without the rows of some documents.
fn write_file(
    from: &Path,
    left_out: &HashSet<String>,
    folder: &Path,
    name: &str,
    stores: &Arc<Stores>,
) -> Result<Written> {
    let failed = || format!("cannot read {}", from.display());
    let verified = verify(from, stores)?;
    if let (Verified::Sealed { seal, bytes }, true) = (&verified, left_out.is_empty()) {
        let to = folder.join(name);
        fs::copy(from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        return Ok(Written { rows: seal.rows, bytes: *bytes, seal: seal.root });
    }
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(from).with_context(failed)?).with_context(failed)?;
    let mut file = CorpusFile::create(folder, name, reader.schema())?;
    for batch in reader.build().with_context(failed)? {
        let batch = batch.with_context(failed)?;
        let ids = batch.column_by_name("doc_id").and_then(|ids| ids.as_string_opt::<i32>()).with_context(failed)?;
        let kept: BooleanArray = ids.iter().map(|id| id.map(|id| !left_out.contains(id))).collect();
        file.write(&filter_record_batch(&batch, &kept)?)?;
    }
    file.close(&about_corpus())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_cannot_be_looked_at_is_not_one_without_an_index() {
        // There is no store without the name of an account.
        assert!(is_index(Path::new("az://box/index"), &Arc::default()).is_err());
        assert!(!is_index(Path::new("no/such/folder"), &Arc::default()).unwrap());
    }
}
