//! Archives of files: zip, and tar in any compression. Their members are copied to a temporary folder, since they are read twice.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tar::Archive;
use tempfile::TempDir;
use zip::ZipArchive;

use super::paths::InputFile;
use super::problem::{Error, Problem};
use super::stream::decompressed;
use crate::export::{cleanup, temporary_file};
use crate::records::{Compression, FREE_GROWTH, Grown};

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Zip,
    Tar,
}

impl Kind {
    /// Returns the kind of archive that a file name indicates, and the compression of the whole archive.
    pub(super) fn of(name: &str) -> Option<(Self, Compression)> {
        let name = name.to_lowercase();
        let (rest, last) = name.rsplit_once('.')?;
        match last {
            "zip" => Some((Self::Zip, Compression::Plain)),
            "tar" => Some((Self::Tar, Compression::Plain)),
            "tgz" => Some((Self::Tar, Compression::Gzip)),
            "tzst" => Some((Self::Tar, Compression::Zstd)),
            "tbz2" => Some((Self::Tar, Compression::Bzip2)),
            "txz" => Some((Self::Tar, Compression::Xz)),
            last if rest.ends_with(".tar") => {
                Compression::of_extension(last).map(|compression| (Self::Tar, compression))
            }
            _ => None,
        }
    }
}

/// A member of an archive.
pub(super) struct Member {
    /// The path of the member in the archive.
    pub(super) name: String,
    /// The path of the copy of its content. `None` if the member is no file, or is not wanted.
    pub(super) copy: Option<PathBuf>,
}

/// Copies the members whose names pass `is_wanted` to a temporary folder, which is removed when it is dropped.
pub(super) fn unpack(
    file: &InputFile,
    kind: Kind,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<(TempDir, Vec<Member>), Error> {
    let write = |source| Error::Write { path: std::env::temp_dir(), source };
    let make = || tempfile::Builder::new().prefix("ibid-").tempdir();
    let folder = cleanup::noted(make, TempDir::path).map_err(write)?;
    let mut copier = Copier { file, folder: folder.path(), is_wanted, members: Vec::new(), from: 0, to: 0 };
    match kind {
        Kind::Zip => copier.zip(),
        Kind::Tar => copier.tar(),
    }
    .map_err(Error::Record)?;
    let members = copier.members;
    Ok((folder, members))
}

/// The state of copying the members of an archive.
struct Copier<'a, W> {
    file: &'a InputFile,
    folder: &'a Path,
    is_wanted: W,
    members: Vec<Member>,
    /// The size of the archive, and the number of bytes copied from it so far.
    from: u64,
    to: u64,
}

impl<W: Fn(&str) -> bool> Copier<'_, W> {
    fn zip(&mut self) -> Result<(), Box<Problem>> {
        let label = &self.file.label;
        let cannot_open = |error: io::Error| Problem::of_io(label, "cannot open it", &error);
        let mut local = match &self.file.object {
            None => File::open(&self.file.path).map_err(cannot_open)?,
            // A zip archive is read from its end, so an object is downloaded first.
            Some(_) => {
                let mut copy = temporary_file().map_err(cannot_open)?.into_file();
                io::copy(&mut self.file.open().map_err(cannot_open)?, &mut copy).map_err(cannot_open)?;
                copy
            }
        };
        self.from = local.metadata().map_err(cannot_open)?.len();
        let damaged = |error: zip::result::ZipError| {
            Problem::new(label, format!("it is no zip archive that can be read: {error}"))
                .remedy("fetch it again, or unpack it")
        };
        let mut archive = ZipArchive::new(&mut local).map_err(damaged)?;
        for index in 0..archive.len() {
            let mut member = archive.by_index(index).map_err(damaged)?;
            let (name, is_file) = (member.name().to_owned(), member.is_file());
            self.member(name, is_file, &mut member)?;
        }
        Ok(())
    }

    fn tar(&mut self) -> Result<(), Box<Problem>> {
        let label = self.file.label.clone();
        let opened = self.file.open().map_err(|error| Problem::of_io(&label, "cannot open it", &error))?;
        let taken = Arc::new(AtomicU64::new(0));
        let (_, bytes) = decompressed(self.file, opened, &taken)?;
        // The decoder limits the growth of the whole archive, so no further limit applies here.
        self.from = u64::MAX;
        let damaged = |error: io::Error| {
            let reason = format!("it is no tar archive that can be read to its end: {error}");
            Problem::new(&label, reason).remedy("fetch it again, or unpack it")
        };
        let mut archive = Archive::new(bytes);
        for member in archive.entries().map_err(damaged)? {
            let mut member = member.map_err(damaged)?;
            let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
            let is_file = member.header().entry_type().is_file();
            self.member(name, is_file, &mut member)?;
        }
        Ok(())
    }

    fn member(&mut self, name: String, is_file: bool, bytes: &mut dyn Read) -> Result<(), Box<Problem>> {
        if name.ends_with('/') {
            return Ok(());
        }
        let copy = (is_file && (self.is_wanted)(&name)).then(|| self.folder.join(self.members.len().to_string()));
        if let Some(copy) = &copy {
            let label = format!("{}/{name}", self.file.label);
            let failed = |error: io::Error| Problem::of_io(&label, "cannot copy it to a temporary folder", &error);
            let mut file = File::create(copy).map_err(failed)?;
            let most = self.from.saturating_mul(self.file.decoding.max_ratio).saturating_add(FREE_GROWTH);
            let copied = io::copy(&mut bytes.take(most.saturating_sub(self.to).saturating_add(1)), &mut file);
            self.to += copied.map_err(failed)?;
            let grown = Grown { from: self.from, to: self.to, max_ratio: self.file.decoding.max_ratio };
            if grown.is_too_much() {
                return Err(Problem::new(&label, format!("the archive grows too much: {grown}")).remedy(Grown::REMEDY));
            }
        }
        self.members.push(Member { name, copy });
        Ok(())
    }
}
