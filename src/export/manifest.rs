use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use serde_json::{Value, json};

use super::layout::FILES;
use super::objects::{is_of, name_here, stem_of_sealed};
use crate::seal::{Root, check_json, ends_sealed, sealed_json};
use crate::store::{Location, Object, Stores, check_seal, read_start, seal_of};

/// Name of the file that says what a folder of results contains.
pub(crate) const MANIFEST: &str = "manifest.json";

/// The version of the layout that is written and read.
const LAYOUT: u64 = 2;

/// The first bytes of a manifest.
const BEGINNING: &[u8] = b"{\n  \"layout\": ";

/// Upper bound of the size of a manifest, in bytes.
const MOST: u64 = 64 << 20;

/// The manifest of a folder of results.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The whole content.
    pub(crate) about: Value,
    pub(crate) files: Vec<ManifestFile>,
}

#[derive(Debug)]
pub(crate) struct ManifestFile {
    pub(crate) name: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) seal: Root,
}

impl Manifest {
    /// Writes the manifest of the Parquet files of a folder, with the members of `about`.
    pub(crate) fn write(folder: &Path, about: &Value, stores: &Arc<Stores>) -> Result<()> {
        Self::write_with(folder, about, &[], stores)
    }

    /// Writes the manifest of the Parquet files of a folder and of further files, which may be in folders within it,
    /// with the members of `about`.
    pub(crate) fn write_with(
        folder: &Path,
        about: &Value,
        further: &[ManifestFile],
        stores: &Arc<Stores>,
    ) -> Result<()> {
        let failed = || format!("cannot write {}", folder.join(MANIFEST).display());
        let mut files = Vec::new();
        for name in names(folder, stores)? {
            let path = folder.join(&name);
            let seal = seal_of(&path, stores)?.with_context(|| format!("{} has no seal", path.display()))?;
            let bytes = path.metadata().with_context(failed)?.len();
            files.push(json!({ "name": name, "rows": seal.rows, "bytes": bytes, "seal": seal.root.to_string() }));
        }
        files.extend(further.iter().map(
            |file| json!({ "name": file.name, "rows": file.rows, "bytes": file.bytes, "seal": file.seal.to_string() }),
        ));
        let mut manifest = json!({ "layout": LAYOUT });
        if let (Some(all), Some(about)) = (manifest.as_object_mut(), about.as_object()) {
            all.extend(about.clone());
            all.insert("files".to_owned(), Value::Array(files));
        }
        fs::write(folder.join(MANIFEST), sealed_json(manifest)?).with_context(failed)
    }

    /// Returns true if a folder of this machine has a manifest.
    pub(crate) fn is_in(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    /// Reads the manifest of a folder, if it has one. Other programs have files of that name, too. A file that does not
    /// look like a manifest of ibid is ignored, unless the folder contains files with names that ibid gives.
    pub(crate) fn of(folder: &Path, stores: &Arc<Stores>) -> Result<Option<Self>> {
        let Some((text, json)) = Self::json_of(folder, stores)? else { return Ok(None) };
        let manifest = json.map_err(anyhow::Error::new).and_then(Self::of_json);
        let manifest = manifest.and_then(|manifest| check_json(&text).map(|()| manifest));
        let path = folder.join(MANIFEST);
        manifest.with_context(|| format!("{} is no sound manifest of a result", path.display())).map(Some)
    }

    /// Returns true if [`of`](Self::of) would return a manifest, or say that it is damaged.
    pub(crate) fn is_of_ours(folder: &Path, stores: &Arc<Stores>) -> Result<bool> {
        Ok(Self::json_of(folder, stores)?.is_some())
    }

    /// Returns the text and the JSON of a manifest of ibid, if there is one.
    fn json_of(folder: &Path, stores: &Arc<Stores>) -> Result<Option<(Bytes, serde_json::Result<Value>)>> {
        let path = folder.join(MANIFEST);
        let Some(text) = read_start(&path, MOST, stores).with_context(|| format!("cannot read {}", path.display()))?
        else {
            return Ok(None);
        };
        let json: Result<Value, _> = serde_json::from_slice(&text);
        let (may_be_ours, is_like_ours) = match &json {
            Ok(json) => {
                let has_seal = |files: &Vec<Value>| files.iter().any(|file| file["seal"].is_string());
                let (layout, files) = (&json["layout"], &json["files"]);
                let is_like_ours = layout.is_number() || files.as_array().is_some_and(has_seal);
                (!layout.is_null() || !files.is_null(), is_like_ours)
            }
            // A manifest that was cut short, or damaged.
            Err(_) => (true, text.starts_with(BEGINNING) || BEGINNING.starts_with(&text) || ends_sealed(&text)),
        };
        let is_ours = |name: &String| FILES.contains(&name.as_str()) || stem_of_sealed(name).is_some();
        if !(is_like_ours || may_be_ours && names(folder, stores)?.iter().any(is_ours)) {
            return Ok(None);
        }
        Ok(Some((text, json)))
    }

    fn of_json(json: Value) -> Result<Self> {
        if json["layout"] != LAYOUT {
            bail!(
                "its layout is {}, and this version reads layout {LAYOUT}: make it anew, or use the version of ibid that wrote it",
                json["layout"]
            );
        }
        let file = |file: &Value| {
            let (Some(name), Some(seal)) = (file["name"].as_str(), file["seal"].as_str()) else {
                bail!("{file} is no file");
            };
            // A name must be a file of the folder, or of one within it, and lead nowhere else.
            let is_plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with('.');
            let (within, file_name) = name.split_once('/').unwrap_or(("within", name));
            if !is_plain(within) || !is_plain(file_name) {
                bail!("{name:?} is no name of a file");
            }
            let (Some(rows), Some(bytes)) = (file["rows"].as_u64(), file["bytes"].as_u64()) else {
                bail!("{file} does not say how many rows and bytes it has");
            };
            Ok(ManifestFile { name: name.to_owned(), rows, bytes, seal: seal.parse().context("\"seal\" is no hash")? })
        };
        let files = json["files"].as_array().context("\"files\" is no list")?;
        let files = files.iter().map(file).collect::<Result<_>>()?;
        Ok(Self { about: json, files })
    }

    /// Fails if the manifest names a file, and the file has another seal. The content is checked as it is read.
    pub(crate) fn check(&self, path: &Path, stores: &Arc<Stores>) -> Result<()> {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| self.seal_of(name)).map_or(Ok(()), |written| check_seal(path, written, stores))
    }

    /// Returns the file that has this name on this machine.
    pub(crate) fn file(&self, name: &str) -> Option<&ManifestFile> {
        self.files.iter().find(|file| is_of(&file.name, name))
    }

    /// Returns the current version of the file with this name, if only an earlier manifest named that file.
    pub(crate) fn instead_of(&self, name: &str) -> Option<&ManifestFile> {
        self.file(&name_here(name)).filter(|_| self.seal_of(name).is_none())
    }

    /// Returns true if there is a current version of this folder, and only an earlier manifest named this one.
    pub(crate) fn has_instead_of_folder(&self, folder: &str) -> bool {
        let of = |name: &str| name_here(&format!("{name}/")).into_owned();
        let folders = || self.files.iter().filter_map(|file| Some(file.name.split_once('/')?.0));
        folders().any(|named| of(named) == of(folder)) && folders().all(|named| named != folder)
    }

    /// Returns the seal of a file that the manifest names.
    pub(crate) fn seal_of(&self, name: &str) -> Option<Root> {
        self.files.iter().find(|file| file.name == name).map(|file| file.seal)
    }
}

/// Returns the names of the Parquet files of a folder, in order.
pub(crate) fn names(folder: &Path, stores: &Arc<Stores>) -> Result<Vec<String>> {
    let failed = || format!("cannot read {}", folder.display());
    let mut names = Vec::new();
    if let Some(location) = Location::of_path(folder, stores)? {
        let (objects, _) = Object::list_folder(&location)?;
        let all = objects.iter().filter_map(|object| object.location.key().filename());
        return Ok(all.filter(|name| name.ends_with(".parquet")).map(str::to_owned).collect());
    }
    for entry in fs::read_dir(folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name();
        names.extend(
            name.to_str().filter(|name| name.ends_with(".parquet") && !name.starts_with('.')).map(str::to_owned),
        );
    }
    names.sort();
    Ok(names)
}
