use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tempfile::{NamedTempFile, TempDir};

use super::objects::{self, ObjectsFolder};
use super::{MANIFEST, Manifest};
use crate::export::cleanup;
use crate::store::failpoint::step;
use crate::store::{self, Address, GivenUp, Location, Stores, When, redacted, write_unless_dropped};
use crate::terminal::Screen;

/// Upper bound of the bytes of a name that its staging name contains: file names may have 255 bytes, and the rest would
/// tell no more.
const LONGEST_NAME: usize = 200;

/// Upper bound of the number of links that lead from one to the next, as on Linux.
const MOST_LINKS: usize = 40;

/// Returns the folder that holds `target`, and the hidden prefix of the staging names of `target` there.
fn place(target: &Path) -> Result<(PathBuf, String)> {
    let Some(name) = target.file_name() else { bail!("cannot write to {}: it has no file name", target.display()) };
    let Some(name) = name.to_str() else { bail!("cannot write to {}: its name is not Unicode", target.display()) };
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    if !parent.is_dir() {
        bail!(
            "cannot write {}: there is no folder {}; make it first, or name another",
            target.display(),
            parent.display()
        );
    }
    let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
    Ok((parent, format!(".{name}.")))
}

/// Returns the path to which a symlink at `target` leads. That path is replaced instead of the link.
fn behind_links(target: &Path) -> PathBuf {
    if !target.is_symlink() {
        return target.to_path_buf();
    }
    // The last link may lead to nothing yet.
    let mut behind = target.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&behind) {
            Ok(to) => behind = behind.with_file_name(to),
            Err(_) => return fs::canonicalize(&behind).unwrap_or(behind),
        }
    }
    target.to_path_buf()
}

/// Returns true if a path ends with a slash, and so names a folder.
pub fn names_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Returns true if a path is the URL of an object.
pub fn is_url(path: &Path) -> Result<bool> {
    Ok(Address::of_path(path)?.is_some())
}

/// Returns the place in which a result for `target` would be: the URL of an object, or the path without links. Returns
/// `None` for a stream of all that is written, such as a pipe, unless it is a file that this process was given open.
pub fn resolved(target: &Path) -> Result<Option<PathBuf>> {
    if let Some(object) = Address::of_path(target)? {
        return Ok(Some(PathBuf::from(object.to_string())));
    }
    if is_stream(target) {
        return Ok(fs::canonicalize(target).ok().filter(|place| place.is_file()));
    }
    let target = behind_links(&target.components().collect::<PathBuf>());
    let (parent, _) = place(&target)?;
    let parent = fs::canonicalize(&parent).with_context(|| format!("cannot write in {}", parent.display()))?;
    Ok(Some(parent.join(target.file_name().unwrap_or_default())))
}

/// Returns the place of an input, without links, also if this process was given it as an open file.
pub fn resolved_input(path: &Path) -> Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        // The place of a pipe does not exist.
        Ok(place) if Address::of_path(path)?.is_none() && place.exists() => Ok(Some(place)),
        _ => resolved(path),
    }
}

/// Returns true if a place is the result, or is in the folder that the result is. A folder may have two names without a
/// link between them.
pub fn is_within(place: &Path, result: &Path) -> bool {
    let is_result = |at: &Path| {
        at.file_name() == result.file_name()
            && at.parent().zip(result.parent()).is_some_and(|(a, b)| a == b || is_same_folder(a, b))
    };
    place.ancestors().any(is_result)
}

#[cfg(unix)]
fn is_same_folder(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |folder| fs::metadata(folder).map(|found| (found.dev(), found.ino())).ok();
    identity(a).is_some_and(|a| identity(b) == Some(a))
}

#[cfg(not(unix))]
fn is_same_folder(_: &Path, _: &Path) -> bool {
    false
}

/// Returns true if the target exists, but is no file and cannot be replaced by one: a pipe, a terminal or another
/// device, or an open file that this process was given.
fn is_stream(target: &Path) -> bool {
    is_given(target) || fs::metadata(target).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Returns true if a path names an open file of a process.
fn is_given(target: &Path) -> bool {
    let names: Option<Vec<_>> = target.components().skip(1).map(|part| part.as_os_str().to_str()).collect();
    match names.as_deref() {
        Some(["dev", "stdout" | "stderr"] | ["dev", "fd", _] | ["proc", _, "fd", _]) => target.is_absolute(),
        Some(["proc", _, "task", _, "fd", _]) => target.is_absolute(),
        _ => false,
    }
}

/// Copies a file to a pipe, a device, or an open file of this process. Control characters are escaped on a terminal.
fn copy_to_stream(mut from: File, target: &Path) -> io::Result<()> {
    let mut to = match target.to_str() {
        // Opened by its name, the file would have a write position of its own, and not the one that others share.
        #[cfg(unix)]
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => duplicate(&io::stdout())?,
        #[cfg(unix)]
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => duplicate(&io::stderr())?,
        _ => File::options().append(true).open(target)?,
    };
    if !to.is_terminal() {
        return io::copy(&mut from, &mut to).map(drop);
    }
    let (mut screen, mut piece) = (Screen::default(), [0; 8192]);
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            n => screen.write_to(&piece[..n], &mut to)?,
        }
    }
}

#[cfg(unix)]
fn duplicate(given: &impl std::os::fd::AsFd) -> io::Result<File> {
    given.as_fd().try_clone_to_owned().map(File::from)
}

/// Suffix of the names of staging files and folders.
pub(super) const STAGING: &str = ".ibid-staging";

/// Returns true if these are the six random characters that make a name unique.
pub(crate) fn is_random(part: &str) -> bool {
    part.len() == 6 && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns true if this is the name of a staging file or folder, perhaps of a run that was killed.
pub(crate) fn is_staging(name: &str) -> bool {
    let named =
        name.strip_prefix('.').and_then(|name| name.strip_suffix(STAGING)).and_then(|name| name.rsplit_once('.'));
    named.is_some_and(|(_, part)| is_random(part))
}

/// Returns the hold on a staging file or folder that a run has left, if this is one. Without file locks, the staging of
/// a live run looks the same.
pub(crate) fn abandoned(path: &Path) -> Option<Unheld> {
    path.file_name().and_then(|name| name.to_str()).filter(|name| is_staging(name))?;
    // Neither a file that blocks when it is opened, nor the target of a link.
    let there = fs::symlink_metadata(path).ok()?;
    let is_of_folder = |name: &OsStr| {
        let is_table = Path::new(name).extension().is_some_and(|it| it == "parquet");
        is_table || name == MANIFEST || name.to_str().is_some_and(is_staging)
    };
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let is_ours = there.is_file()
        || (there.is_dir()
            && fs::read_dir(path)
                .ok()?
                .all(|entry| entry.is_ok_and(|it| is_file(&it) && is_of_folder(&it.file_name()))));
    if is_ours { unheld(path) } else { None }
}

/// Marks a file or a folder as in use, as long as it is kept open.
pub(crate) fn hold(file: &File) {
    // On other systems, nobody else could read a locked file. On a file system without locks, only the age tells.
    if cfg!(unix) {
        file.lock().ok();
    }
}

/// A hold on a file or a folder that no live run holds. No run can take it as long as this is kept, so the file that
/// was checked is the file that is removed.
#[derive(Default)]
pub(crate) struct Unheld {
    _held: Option<File>,
}

/// Takes the hold on a file or a folder, unless a live run has it. Without file locks, only the age tells.
pub(crate) fn unheld(path: &Path) -> Option<Unheld> {
    let file = File::open(path).ok();
    match file.as_ref().map(File::try_lock) {
        Some(Err(TryLockError::WouldBlock)) => None,
        _ => Some(Unheld { _held: file }),
    }
}

/// Returns a builder of hidden files or folders with the permissions `mode`, less what the user's umask takes away.
fn staging(prefix: &str, mode: u32) -> tempfile::Builder<'_, 'static> {
    let mut builder = tempfile::Builder::new();
    set_mode(builder.prefix(prefix).suffix(STAGING), mode);
    builder
}

/// Gives new files and folders the permissions `mode`, less what the user's umask takes away.
pub(crate) fn set_mode(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// Gives a folder and its files the permissions of the one that it replaces.
fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    for entry in fs::read_dir(new)? {
        let file = entry?;
        if let Ok(old) = fs::metadata(old.join(file.file_name())) {
            fs::set_permissions(file.path(), old.permissions())?;
        }
    }
    fs::set_permissions(new, fs::metadata(old)?.permissions())
}

/// Makes the files of a folder survive a power cut.
fn sync_all(folder: &Path) -> io::Result<()> {
    fs::read_dir(folder)?.try_for_each(|entry| File::open(entry?.path())?.sync_all())?;
    sync_folder(folder)
}

/// Makes a rename survive a power cut.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A staging file that takes its place at [`commit`](Self::commit), and is removed if dropped before. Its place may be
/// the URL of an object. If its place is a pipe or a device, its bytes are copied there.
pub struct StagedFile {
    file: NamedTempFile,
    parent: PathBuf,
    target: PathBuf,
    object: Option<Location>,
    given_up: GivenUp,
}

impl StagedFile {
    /// Checks that a file can take its place at `target`, before the work for it begins.
    pub(crate) fn check(target: &Path, stores: &Arc<Stores>) -> Result<()> {
        Self::create(target, stores)?.object.as_ref().map_or(Ok(()), store::check_writable)
    }

    /// Stages a file for this place.
    pub fn create(target: &Path, stores: &Arc<Stores>) -> Result<Self> {
        let object = Location::of_path(target, stores)?;
        if object.is_none() && target.to_str().is_some_and(|name| name.starts_with("file:") || name.contains("://")) {
            bail!(
                "cannot write {}: files of this machine are named by their path, and objects by s3://, gs:// and az://",
                redacted(&target.to_string_lossy())
            );
        }
        let is_folder = target.is_dir() || names_folder(target);
        if object.as_ref().map_or(is_folder, |object| object.is_prefix()) {
            bail!("cannot write {}: it is a folder; name a file", target.display());
        }
        if target == Path::new("-") {
            bail!("cannot write -: leave out the file for standard output, or write ./- for a file of that name");
        }
        let is_stream = object.is_none() && is_stream(target);
        let target = if is_stream { target.to_path_buf() } else { behind_links(target) };
        let is_elsewhere = is_stream || object.is_some();
        let (parent, prefix) =
            if is_elsewhere { (std::env::temp_dir(), objects::PREFIX.to_owned()) } else { place(&target)? };
        // A file that replaces another is private until it gets the permissions of the other.
        let mode = if is_elsewhere || target.exists() { 0o600 } else { 0o666 };
        let file = cleanup::noted(|| staging(&prefix, mode).tempfile_in(&parent), NamedTempFile::path)
            .with_context(|| format!("cannot write in {}", parent.display()))?;
        hold(file.as_file());
        Ok(Self { file, parent, target, object, given_up: GivenUp::default() })
    }

    /// Returns the path of the staging file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Puts the file in its place.
    pub fn commit(mut self) -> Result<()> {
        if let Some(object) = &self.object {
            self.file.flush().with_context(|| format!("cannot write {}", self.file.path().display()))?;
            return store::put(self.file.path(), object, When::Always, &self.given_up).map(drop);
        }
        let failed = || format!("cannot write {}", self.target.display());
        if is_stream(&self.target) {
            self.file.flush().with_context(failed)?;
            return copy_to_stream(self.file.reopen()?, &self.target).with_context(failed);
        }
        if let Ok(old) = fs::metadata(&self.target) {
            self.file.as_file().set_permissions(old.permissions()).with_context(failed)?;
        }
        step("a file is staged");
        self.file.flush().and_then(|()| self.file.as_file().sync_all()).with_context(failed)?;
        step("a file is on disk");
        self.file.persist(&self.target).map_err(|error| error.error).with_context(failed)?;
        step("a file is renamed");
        sync_folder(&self.parent).with_context(failed)?;
        step("a file is committed");
        Ok(())
    }

    /// Runs [`commit`](Self::commit) on a thread that may block. If the future is dropped before the commit has ended,
    /// an upload is aborted.
    pub(crate) async fn commit_unless_dropped(self, stores: &Arc<Stores>) -> Result<()> {
        let given_up = self.given_up.clone();
        write_unless_dropped(stores, &given_up, || self.commit()).await
    }

    /// Commits as [`commit`](Self::commit) does, unless the file exists already. One of several concurrent callers gets
    /// `true`.
    pub(crate) fn commit_new(mut self) -> Result<bool> {
        if let Some(object) = &self.object {
            self.file.flush().with_context(|| format!("cannot write {}", self.file.path().display()))?;
            return store::put(self.file.path(), object, When::New, &self.given_up);
        }
        let failed = || format!("cannot write {}", self.target.display());
        step("a new file is staged");
        self.file.flush().and_then(|()| self.file.as_file().sync_all()).with_context(failed)?;
        step("a new file is on disk");
        match self.file.persist_noclobber(&self.target) {
            Ok(_) => {
                step("a new file is renamed");
                sync_folder(&self.parent).with_context(failed)?;
                step("a new file is committed");
                Ok(true)
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error).with_context(failed),
        }
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates a temporary file, which is removed at the end of the program. `ibid gc` removes it if that failed.
pub(crate) fn temporary_file() -> io::Result<NamedTempFile> {
    let make = || tempfile::Builder::new().prefix(objects::PREFIX).suffix(STAGING).tempfile();
    cleanup::noted(make, NamedTempFile::path).inspect(|file| hold(file.as_file()))
}

/// A staging folder of files that takes its place at [`commit`](Self::commit), and is removed if dropped before.
pub(crate) struct StagedFolder {
    folder: TempDir,
    held: Option<File>,
    parent: PathBuf,
    target: PathBuf,
    /// The names that a replaced folder may contain.
    files: Vec<String>,
    objects: Option<ObjectsFolder>,
    stores: Arc<Stores>,
    given_up: GivenUp,
}

impl StagedFolder {
    /// Stages a folder of this machine that [`commit_new`](Self::commit_new) is to put in its place.
    pub(crate) fn create_new(target: &Path, stores: &Arc<Stores>) -> Result<Self> {
        let (parent, prefix) = place(target)?;
        Self::begin(parent, &prefix, target.to_path_buf(), &[], None, stores)
    }

    /// Stages the folder `target`. A folder that is there already must contain nothing but `files` and a manifest, so
    /// that a typing error does not replace a folder of something else.
    pub(crate) fn create(target: &Path, files: &[&str], stores: &Arc<Stores>) -> Result<Self> {
        if let Some(location) = Location::of_path(target, stores)? {
            let objects = ObjectsFolder::check(location.as_prefix(), files)?;
            let (parent, target) = (std::env::temp_dir(), target.to_path_buf());
            return Self::begin(parent, objects::PREFIX, target, files, Some(objects), stores);
        }
        // `corpus/` and `corpus` are the same folder, but the former has no file name.
        let target = behind_links(&target.components().collect::<PathBuf>());
        let (parent, prefix) = place(&target)?;
        if target.exists() {
            refuse_strangers(&target, &target, files, stores)?;
        }
        Self::begin(parent, &prefix, target, files, None, stores)
    }

    /// Returns the same folder, whose uploads `given_up` aborts.
    pub(crate) fn given_up_by(self, given_up: GivenUp) -> Self {
        Self { given_up, ..self }
    }

    fn begin(
        parent: PathBuf,
        prefix: &str,
        target: PathBuf,
        files: &[&str],
        objects: Option<ObjectsFolder>,
        stores: &Arc<Stores>,
    ) -> Result<Self> {
        let mode = if objects.is_some() || target.exists() { 0o700 } else { 0o777 };
        let folder = cleanup::noted(|| staging(prefix, mode).tempdir_in(&parent), TempDir::path)
            .with_context(|| format!("cannot write in {}", parent.display()))?;
        let held = File::open(folder.path()).inspect(hold).ok();
        let files = files.iter().map(ToString::to_string).collect();
        let (stores, given_up) = (Arc::clone(stores), GivenUp::default());
        Ok(Self { folder, held, parent, target, files, objects, stores, given_up })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts the folder in its place. The returned file marks a folder of this machine as in use.
    pub(crate) fn commit(self) -> Result<Option<File>> {
        if let Some(objects) = &self.objects {
            return objects.commit(self.folder.path(), &self.given_up).map(|()| None);
        }
        let target = &self.target;
        let failed = || format!("cannot write {}", target.display());
        step("a folder is staged");
        sync_all(self.folder.path()).with_context(failed)?;
        step("a folder is on disk");
        // An interrupt removes staging folders, but not while the hold is kept.
        let hold = cleanup::hold();
        if target.exists() {
            keep_permissions(target, self.folder.path()).with_context(failed)?;
            exchange(self.folder.path(), target).with_context(failed)?;
            // Somebody may have put something there in the meantime.
            if let Err(error) = refuse_strangers(self.folder.path(), target, &self.files, &self.stores) {
                exchange(self.folder.path(), target).with_context(failed)?;
                return Err(error);
            }
            drop(hold);
            step("a folder is exchanged");
            sync_folder(&self.parent).with_context(failed)?;
            step("a folder is committed");
            // The old folder has the staging name now and is removed with it, unless `ibid gc` came first.
            let old = self.folder.path().to_path_buf();
            match self.folder.close() {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    log::warn!("cannot remove {}, the old content of {}: {error}", old.display(), target.display());
                }
                _ => step("the old folder is removed"),
            }
        } else {
            fs::rename(self.folder.path(), target).with_context(failed)?;
            drop(hold);
            step("a folder is renamed");
            let _ = self.folder.keep();
            sync_folder(&self.parent).with_context(failed)?;
            step("a folder is committed");
        }
        Ok(self.held)
    }

    /// Runs [`commit`](Self::commit) on a thread that may block. If the future is dropped before the commit has ended,
    /// uploads are aborted.
    pub(crate) async fn commit_unless_dropped(self) -> Result<Option<File>> {
        let (stores, given_up) = (Arc::clone(&self.stores), self.given_up.clone());
        write_unless_dropped(&stores, &given_up, || self.commit()).await
    }

    /// Commits as [`commit`](Self::commit) does, unless there is a folder already that contains something. One of
    /// several concurrent callers puts its folder there.
    pub(crate) fn commit_new(self) -> Result<()> {
        let failed = || format!("cannot write {}", self.target.display());
        step("a new folder is staged");
        sync_all(self.folder.path()).with_context(failed)?;
        step("a new folder is on disk");
        let hold = cleanup::hold();
        let renamed = fs::rename(self.folder.path(), &self.target);
        drop(hold);
        step("a new folder is renamed");
        match renamed {
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty) => {
                Ok(())
            }
            renamed => {
                renamed.with_context(failed)?;
                sync_folder(&self.parent).with_context(failed)?;
                step("a new folder is committed");
                Ok(())
            }
        }
    }
}

/// Fails if a folder, which was at `target`, contains something that ibid did not write. Other programs may have files
/// with such names.
fn refuse_strangers(folder: &Path, target: &Path, files: &[impl AsRef<str>], stores: &Arc<Stores>) -> Result<()> {
    let manifest = Manifest::of(folder, stores);
    let is_among = |name: &str| files.iter().any(|file| file.as_ref() == name);
    // The name of a folder within it ends with a slash.
    let is_folder_of_ours = |manifest: &Manifest, name: &str| {
        let is_named = |file: fs::DirEntry| {
            file.file_name().to_str().is_some_and(|file| manifest.seal_of(&format!("{name}/{file}")).is_some())
        };
        is_among(&format!("{name}/"))
            && fs::read_dir(folder.join(name)).is_ok_and(|files| files.filter_map(Result::ok).all(is_named))
    };
    let is_ours = |name: &str| match &manifest {
        Ok(Some(manifest)) => {
            name == MANIFEST || manifest.seal_of(name).is_some() && is_among(name) || is_folder_of_ours(manifest, name)
        }
        Ok(None) => false,
        // A damaged manifest tells nothing else.
        Err(_) => name == MANIFEST || is_among(name),
    };
    let stranger = fs::read_dir(folder)
        .with_context(|| format!("cannot write {}: it is not a folder", target.display()))?
        .filter_map(Result::ok)
        .find(|entry| !entry.file_name().to_str().is_some_and(is_ours));
    match stranger {
        Some(stranger) => bail!(
            "cannot replace the folder {}: it holds {}, which this command does not write; name another folder",
            target.display(),
            stranger.file_name().display()
        ),
        None => Ok(()),
    }
}

/// Swaps two folders in one step.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Fails: without a system call that swaps folders, an old folder has to be removed by hand first.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: &Path, b: &Path) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("this system cannot replace a folder in one step; remove {} first", b.display()),
    ))
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, RecordBatch, StringArray};
    use parquet::file::properties::WriterProperties;

    use super::*;
    use crate::seal::SealedWriter;

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("result.csv");
        fs::write(&target, "old").unwrap();
        let mut staged = StagedFile::create(&target, &Arc::default()).unwrap();
        staged.write_all(b"half").unwrap();
        drop(staged);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");

        let mut staged = StagedFile::create(&target, &Arc::default()).unwrap();
        staged.write_all(b"whole").unwrap();
        staged.commit().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_replaced_whole_and_a_strangers_folder_never() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("corpus/");
        for text in ["old", "new"] {
            let staged = StagedFolder::create(&target, &["a.parquet"], &Arc::default()).unwrap();
            fs::write(staged.path().join("a.parquet"), sealed(text)).unwrap();
            Manifest::write(staged.path(), &serde_json::json!({}), &Arc::default()).unwrap();
            staged.commit().unwrap();
        }
        assert_eq!(fs::read(target.join("a.parquet")).unwrap(), sealed("new"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let begun = StagedFolder::create(&target, &["a.parquet"], &Arc::default()).unwrap();
        fs::write(target.join("thesis.tex"), "years of work").unwrap();
        for outcome in
            [StagedFolder::create(&target, &["a.parquet"], &Arc::default()).map(drop), begun.commit().map(drop)]
        {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("thesis.tex"), "{error}");
            assert_eq!(fs::read_to_string(target.join("thesis.tex")).unwrap(), "years of work");
            assert_eq!(fs::read(target.join("a.parquet")).unwrap(), sealed("new"));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        // Files of other programs with the same names.
        for name in [MANIFEST, "a.parquet"] {
            let target = folder.path().join(format!("of {name}"));
            fs::create_dir(&target).unwrap();
            fs::write(target.join(name), "{\"start_url\": \"/\"}").unwrap();
            let error =
                StagedFolder::create(&target, &["a.parquet"], &Arc::default()).map(drop).unwrap_err().to_string();
            assert!(error.contains(&format!("it holds {name}, which this command does not write")), "{error}");
        }
    }

    /// Returns a file as ibid writes it.
    fn sealed(text: &str) -> Vec<u8> {
        let columns: [(_, ArrayRef); 1] = [("text", Arc::new(StringArray::from(vec![text])))];
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = SealedWriter::try_new(Vec::new(), rows.schema(), WriterProperties::builder()).unwrap();
        writer.write(&rows).unwrap();
        writer.close(&serde_json::Value::Null).unwrap().0
    }

    #[test]
    fn one_of_many_makes_a_new_folder() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("table");
        std::thread::scope(|scope| {
            for n in 0..8 {
                let target = &target;
                scope.spawn(move || {
                    let staged = StagedFolder::create_new(target, &Arc::default()).unwrap();
                    (0..3).for_each(|file| fs::write(staged.path().join(file.to_string()), n.to_string()).unwrap());
                    staged.commit_new().unwrap();
                });
            }
        });
        let files = fs::read_dir(&target).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
        let files: Vec<_> = files.collect();
        assert!(files.len() == 3 && files.iter().all(|file| *file == files[0]), "{files:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn one_of_many_makes_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("1.json");
        let made: Vec<_> = std::thread::scope(|scope| {
            let write = |n: u8| {
                let mut staged = StagedFile::create(&target, &Arc::default()).unwrap();
                staged.write_all(&[n; 1000]).unwrap();
                staged.commit_new().unwrap().then_some(n)
            };
            let runs: Vec<_> = (0..8).map(|n| scope.spawn(move || write(n))).collect();
            runs.into_iter().filter_map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(made.len(), 1);
        assert_eq!(fs::read(&target).unwrap(), [made[0]; 1000]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_run_stages_that_lives_is_not_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let file = StagedFile::create(&folder.path().join("x.csv"), &Arc::default()).unwrap();
        let staged = StagedFolder::create(&folder.path().join("x"), &[], &Arc::default()).unwrap();
        fs::write(folder.path().join(".y.csv.AbCdEf.ibid-staging"), "half").unwrap();
        fs::create_dir(folder.path().join(".y.AbCdEf.ibid-staging")).unwrap();
        // A table of it was still being written.
        fs::write(folder.path().join(".y.AbCdEf.ibid-staging/.a.parquet.AbCdEf.ibid-staging"), "half").unwrap();
        // Files and folders of others with similar names.
        fs::write(folder.path().join(".y.2024.ibid-staging"), "notes").unwrap();
        fs::create_dir(folder.path().join(".x.AbCdEf.ibid-staging")).unwrap();
        fs::write(folder.path().join(".x.AbCdEf.ibid-staging/thesis.tex"), "years of work").unwrap();
        std::os::unix::fs::symlink(staged.path(), folder.path().join(".z.AbCdEf.ibid-staging")).unwrap();
        let all = || {
            let paths = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            paths.filter_map(|path| abandoned(&path)).collect::<Vec<_>>()
        };
        assert!(abandoned(file.file.path()).is_none() && abandoned(staged.path()).is_none());
        let held = all();
        assert_eq!(held.len(), 2);
        // As long as one caller holds them, no other can.
        assert!(all().is_empty());
        drop(held);
        file.commit().unwrap();
        staged.commit().unwrap();
        assert_eq!(all().len(), 2);
    }

    #[test]
    fn names_may_be_as_long_as_those_of_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), format!("x{}", "ü".repeat(127))] {
            let mut staged = StagedFile::create(&folder.path().join(&name), &Arc::default()).unwrap();
            staged.write_all(b"whole").unwrap();
            staged.commit().unwrap();
            assert_eq!(fs::read(folder.path().join(&name)).unwrap(), b"whole");
            StagedFolder::create(&folder.path().join(format!("{}y", &name[..name.len() - 2])), &[], &Arc::default())
                .unwrap()
                .commit()
                .unwrap();
        }
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = StagedFile::create(Path::new("/no/such/folder/x.csv"), &Arc::default()).err().unwrap().to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
    }
}
