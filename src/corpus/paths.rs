//! The selection of input files: turns the names that the user gives (files, folders, globs, `-`) into a sorted list of
//! files, each with its format.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use encoding_rs::Encoding;
use globset::{GlobBuilder, GlobMatcher};
use tempfile::{NamedTempFile, TempDir};
use url::Url;
use walkdir::WalkDir;

use super::archives;
use super::datasets::{self, Datasets, Label};
use super::problem::{Error, Problem, Problems};
use super::stream::Stream;
use super::{Dropped, LeftOutCounts, OnError, Options, Summary, tei, xml};
use crate::export::layout::{PARTS, is_file_of_index, is_index};
use crate::export::{MANIFEST, Manifest, is_within, resolved_input, temporary_file};
use crate::records::{BYTE_ORDER_MARK, Compression, MAGIC_BYTES, MOST_WINDOW};
use crate::store::{Location, MAGIC, Nowhere, Object, Source, Stores, leads_above, nowhere};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One document a file (`.txt`).
    Text,
    /// One document a line. No extension implies it.
    Lines,
    /// One document a file, taken as it is: marks such as `#` and `*` stay in the text (`.md`, `.markdown`).
    Markdown,
    /// One document a file, without its markup (`.html`, `.htm`, `.xhtml`).
    Html,
    /// A JSON object a line (`.jsonl`, `.ndjson`, `.json`).
    Jsonl,
    /// Comma-separated, with a header (`.csv`).
    Csv,
    /// CSV separated by tabs, with a header (`.tsv`).
    Tsv,
    /// `.parquet`
    Parquet,
    /// A dump of MediaWiki, one document per page (`.xml`).
    MediaWiki,
    /// XML of the Text Encoding Initiative, one document per `<TEI>` (`.tei`, and `.xml` whose first element says so).
    Tei,
    /// A web archive, one document per page (`.warc`, `.wet`).
    Warc,
}

const EXTENSIONS: &str = ".txt, .md, .html, .jsonl, .csv, .tsv, .xml (MediaWiki or TEI), .tei, .warc, .wet (each also .gz, .zst, .bz2 or .xz), .parquet, and .zip \
     and .tar of such";

impl Format {
    /// Returns the format that a lower-case file extension, or the option `--format`, names.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "txt" | "text" => Some(Self::Text),
            "lines" => Some(Self::Lines),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "tsv" => Some(Self::Tsv),
            "parquet" => Some(Self::Parquet),
            "xml" | "mediawiki" => Some(Self::MediaWiki),
            "tei" => Some(Self::Tei),
            "warc" | "wet" => Some(Self::Warc),
            _ => None,
        }
    }
}

/// The settings by which the bytes of a file become text, and text becomes fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decoding {
    /// Upper bound of the decompressed bytes per compressed byte.
    pub(crate) max_ratio: u64,
    /// Upper bound of the bytes of a decompression window.
    pub(crate) most_window: u64,
    /// The encoding, where it is not UTF-8.
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) fields: Fields,
}

/// The separator and escape characters of CSV, where they are not those of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields {
    /// The character between two fields, a byte of ASCII.
    pub delimiter: Option<u8>,
    /// The character before a quote within quotes, where that is not another quote.
    pub escape: Option<u8>,
}

impl Default for Decoding {
    fn default() -> Self {
        Self { max_ratio: 200, most_window: MOST_WINDOW, encoding: None, fields: Fields::default() }
    }
}

/// One file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputFile {
    /// The path to open.
    pub(crate) path: PathBuf,
    /// The file as errors call it: the path as the user wrote it.
    pub(crate) label: String,
    /// The file as ids call it: its path below the deepest folder common to all inputs.
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    pub(crate) decoding: Decoding,
    /// The object, if the file is in a store and not on this machine.
    pub(crate) object: Option<Object>,
    /// The values of columns that the file does not have but its place in a data set gives.
    pub(crate) labels: Vec<Label>,
}

impl InputFile {
    /// Opens the file for reading in parts.
    pub(crate) fn source(&self) -> io::Result<Source> {
        Ok(match &self.object {
            Some(object) => Source::of_object(object.clone()),
            None => Source::File(File::open(&self.path)?),
        })
    }

    /// Returns the canonical name of the file: the URL of an object, or the path of a file without symlinks. Returns
    /// `None` for a file that was written or copied for the run, such as a pipe, or rows in the folder `made_in`.
    pub(super) fn origin(&self, made_in: &Path) -> Option<String> {
        if let Some(object) = &self.object {
            return Some(object.location.url().to_string());
        }
        let is_made = self.path.starts_with(made_in) || Path::new(&self.label) != self.path;
        if is_made { None } else { std::fs::canonicalize(&self.path).ok()?.into_os_string().into_string().ok() }
    }

    /// Opens the file for reading from its beginning to its end.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.object {
            Some(object) => Box::new(object.reader()?),
            None => Box::new(File::open(&self.path)?),
        })
    }

    /// Returns standard input as a file, which has no path.
    pub(crate) fn stdin(format: Format) -> Self {
        let (path, name) = (PathBuf::new(), "stdin".to_owned());
        Self {
            path,
            label: STDIN.to_owned(),
            name,
            format,
            compression: Compression::Plain,
            decoding: Decoding::default(),
            object: None,
            labels: Vec::new(),
        }
    }
}

/// The name of standard input in errors.
pub(super) const STDIN: &str = "standard input";

/// The path that leads to the file that standard input is, if it is one.
pub const STDIN_FILE: &str = "/dev/stdin";

/// The files that the inputs resolve to.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The files, sorted by name.
    pub(crate) files: Vec<InputFile>,
    /// The entries of folders that are not read, and why.
    pub(crate) passed_over: Vec<(PassedOver, PathBuf)>,
    /// The problems of files and folders that could not be accessed, if bad records are left out.
    pub(crate) problems: Vec<Problem>,
    /// Copies of inputs that can be read only once; deleted when dropped.
    pub(crate) spooled: Vec<NamedTempFile>,
    /// Copies of the members of archives; deleted when dropped.
    pub(crate) unpacked: Vec<TempDir>,
    /// True if there are other files, which are read elsewhere.
    pub(crate) is_portion: bool,
}

/// The reason why an entry of a folder is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PassedOver {
    /// A file whose extension is not that of a known format.
    UnknownKind,
    /// A pipe, a socket or a device.
    NoFile,
    /// A symlink to a folder above it.
    Loop,
    /// A symlink to nothing, or an entry that was removed meanwhile.
    Nothing,
    /// A file that is read under another path.
    Known,
    /// A folder of results, such as a corpus or an index.
    Collection,
    /// A file that describes the data set in whose folder it is.
    Description,
}

impl From<Nowhere> for PassedOver {
    fn from(link: Nowhere) -> Self {
        match link {
            Nowhere::Loop => Self::Loop,
            Nowhere::Nothing => Self::Nothing,
        }
    }
}

impl PassedOver {
    /// Returns the plural name of such entries.
    fn name(self) -> &'static str {
        match self {
            Self::UnknownKind => "files of unknown kind",
            Self::NoFile => "pipes, sockets and devices",
            Self::Loop => "links to a folder above them",
            Self::Nothing => "links to nothing",
            Self::Known => "files that are read by another name",
            Self::Description => "files that describe data sets",
            Self::Collection => "corpora, indexes and other folders of results",
        }
    }

    /// Describes the number of entries for each reason, with an example.
    pub(crate) fn summarize(all: &[(Self, PathBuf)]) -> impl Iterator<Item = String> {
        all.chunk_by(|(a, _), (b, _)| a == b).filter_map(|alike| {
            let (why, example) = alike.first()?;
            Some(format!("{} {}, such as {}", alike.len(), why.name(), example.display()))
        })
    }
}

/// A file that was found, and the folder its input began at.
struct Found {
    path: PathBuf,
    root: PathBuf,
    /// True if the user named this very file.
    named: bool,
    /// True if the path is a symlink.
    is_link: bool,
    object: Option<Object>,
}

/// The identity of a file or object, whatever name led to it.
type Known = (Option<Location>, PathBuf);

/// The identity of a file or object, and true if a symlink below the folder of the input leads to it.
type Place = (Known, bool);

/// The canonical paths of folders, by the names by which they were reached.
#[derive(Default)]
struct Folders(HashMap<PathBuf, PathBuf>);

impl Folders {
    fn canonical(&mut self, folder: &Path) -> PathBuf {
        self.0.entry(folder.to_owned()).or_insert_with_key(|folder| canonical(folder)).clone()
    }

    fn place_of(&mut self, found: &Found) -> Place {
        if let Some(object) = &found.object {
            return ((Some(object.location.clone()), PathBuf::new()), false);
        }
        let place = if found.is_link {
            canonical(&found.path)
        } else {
            let folder = self.canonical(found.path.parent().unwrap_or(Path::new("")));
            found.path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name))
        };
        let below = found.path.strip_prefix(&found.root).unwrap_or(&found.path);
        let is_linked = place != self.canonical(&found.root).join(below);
        ((None, place), is_linked)
    }
}

/// Finds the files of all `inputs`. The format of the options overrules the extensions. `-` reads `stdin`.
///
/// Folders are walked to their depths, following links but no loops, and without hidden files. A path that exists is
/// never taken for a glob.
pub(crate) fn expand(
    inputs: &[String],
    options: &Options,
    stdin: &mut dyn Read,
    stores: &Arc<Stores>,
) -> Result<Selection, Error> {
    let (format, decoding) = (options.format, options.decoding());
    if inputs.is_empty() {
        return Err(Error::Input("no input; name files, folders, quoted globs, or - for standard input".to_owned()));
    }
    let mut selection = Selection::default();
    let mut found = Vec::new();
    let mut stdin_named = false;
    for input in inputs {
        if input == "-" {
            if std::mem::replace(&mut stdin_named, true) {
                return Err(Error::Input("- (standard input) can be read only once; name it once".to_owned()));
            }
            refuse_result(Path::new(STDIN_FILE), options)?;
            selection.files.push(spool(STDIN, stdin, options, &mut selection.spooled)?);
            continue;
        }
        if let Some(location) = Location::of(input, stores).map_err(|error| Error::Input(format!("{error:#}")))? {
            objects(&location, &mut found, &mut selection)?;
            continue;
        }
        let file = of_file_url(input)?;
        let input = file.as_deref().unwrap_or(input);
        let path = match tidy(Path::new(input)) {
            // The path `.` is the current folder.
            path if path.as_os_str().is_empty() && !input.is_empty() => PathBuf::from("."),
            path => path,
        };
        match std::fs::metadata(&path) {
            Ok(m) if m.is_dir() => walk(input, &path, None, (options, stores), &mut found, &mut selection)?,
            Ok(m) if m.is_file() => {
                let root = path.parent().map(Path::to_owned).unwrap_or_default();
                let is_link = path.is_symlink();
                found.push(Found { path, root, named: true, is_link, object: None });
            }
            // A pipe, such as the shell makes for <(command).
            Ok(_) => {
                let mut pipe = File::open(&path).map_err(|e| cannot_read(input, &e))?;
                selection.files.push(spool(input, &mut pipe, options, &mut selection.spooled)?);
            }
            Err(_) if input.contains(MAGIC) => glob(input, (options, stores), &mut found, &mut selection)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Input(format!("{input} does not exist; check the path")));
            }
            Err(e) => return Err(cannot_read(input, &e)),
        }
    }
    let mut folders = Folders::default();
    let mut found: Vec<_> = found.into_iter().map(|found| (folders.place_of(&found), found)).collect();
    // A file that was named counts as named even if it is also in a folder that was named. If symlinks lead to a file,
    // the path without symlinks comes first, if it was found.
    found.sort_by(|((_, linked_a), a), ((_, linked_b), b)| {
        (!a.named, linked_a, &a.path).cmp(&(!b.named, linked_b, &b.path))
    });
    let base = common_folder(found.iter().map(|(_, found)| found.root.as_path()));
    let datasets = datasets_of(&found, options);
    let mut files = BTreeMap::new();
    let mut places: HashMap<Known, PathBuf> = HashMap::new();
    for ((place, _), Found { path, named, object, .. }) in found {
        // A file that is reached in two ways is read once.
        match places.entry(place) {
            Entry::Occupied(known) if *known.get() == path => continue,
            Entry::Occupied(_) => {
                selection.passed_over.push((PassedOver::Known, path));
                continue;
            }
            Entry::Vacant(new) => new.insert(path.clone()),
        };
        if !named && datasets.describes(&path) {
            selection.passed_over.push((PassedOver::Description, path));
            continue;
        }
        let labels = datasets.labels(&path);
        let Some(label) = path.to_str() else {
            let problem = Problem::new(&written_out(&path), "its name is not valid UTF-8");
            selection.leave_out(problem.remedy("rename it, or leave it out with `on_error = skip`"), options)?;
            continue;
        };
        let (by_name, compression) = from_extension(label);
        let label = label.to_owned();
        let name = id_path(path.strip_prefix(&base).unwrap_or(&path));
        // Without a common folder, the name has lost a slash of the URL.
        let name = if base.as_os_str().is_empty() && object.is_some() { label.clone() } else { name };
        if let Some((kind, compression)) = archives::Kind::of(&label) {
            refuse_result(&path, options)?;
            let archive = InputFile { path, label, name, format: Format::Text, compression, decoding, object, labels };
            members(archive, kind, options, &mut files, &mut selection)?;
            continue;
        }
        match format.or(by_name) {
            Some(format) => {
                refuse_result(&path, options)?;
                let file = InputFile { path, label, name, format, compression, decoding, object, labels };
                insert(&mut files, recognized(file, options));
            }
            None if named => {
                return Err(Error::Input(format!(
                    "{label}: its extension says no format that is known; known are {EXTENSIONS}; say the format with \
                     `input_format`"
                )));
            }
            None => selection.passed_over.push((PassedOver::UnknownKind, path)),
        }
    }
    selection.files.extend(files.into_values());
    selection.passed_over.sort();
    selection.passed_over.dedup();
    selection.problems.sort_by(|a, b| (&a.file, &a.reason).cmp(&(&b.file, &b.reason)));
    selection.problems.dedup();
    if selection.files.is_empty() && selection.problems.is_empty() {
        let passed_over: Vec<_> = PassedOver::summarize(&selection.passed_over).collect();
        return Err(Error::Input(format!(
            "{}: no file of a format that is known, but {}; known are {EXTENSIONS}; say the format with `input_format`",
            inputs.join(" "),
            passed_over.join("; "),
        )));
    }
    Ok(selection)
}

/// Returns the data sets among the files that were found but not named.
fn datasets_of(found: &[(Place, Found)], options: &Options) -> Datasets {
    let holds_records = |path: &Path| {
        let (format, _) = from_extension(path.to_str().unwrap_or_default());
        matches!(format, Some(Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet))
    };
    let files = || found.iter().map(|(_, found)| found).filter(|found| !found.named);
    let cards: HashMap<&Path, &Found> = files()
        .filter(|found| found.path.ends_with(datasets::CARD))
        .map(|found| (found.path.as_path(), found))
        .collect();
    let is_card = |path: &Path| {
        let Some(Found { path, object, .. }) = cards.get(path) else { return false };
        let (path, object, decoding) = (path.clone(), object.clone(), options.decoding());
        let file = InputFile { path, object, decoding, ..InputFile::stdin(Format::Markdown) };
        let head = Stream::open(&file).and_then(|mut stream| stream.read_all(datasets::HEAD_BYTES));
        head.is_ok_and(|head| datasets::is_card(&String::from_utf8_lossy(&head)))
    };
    Datasets::among(files().map(|found| (found.path.as_path(), holds_records(&found.path))), is_card)
}

/// Returns a file of XML with the format that its first element says, unless the user names one.
fn recognized(file: InputFile, options: &Options) -> InputFile {
    if options.format.is_some() || file.format != Format::MediaWiki {
        return file;
    }
    let format = format_of_xml(&file, options.max_record_bytes).unwrap_or(file.format);
    InputFile { format, ..file }
}

/// Returns the format that the first element of a file of XML says.
fn format_of_xml(file: &InputFile, limit: usize) -> Option<Format> {
    let root = xml::root_of(file, limit)?;
    match xml::local_name(&root) {
        "mediawiki" => Some(Format::MediaWiki),
        name if tei::is_document(name) || tei::is_corpus(name) => Some(Format::Tei),
        _ => None,
    }
}

/// Adds a file by its name, or by another one where that is taken.
fn insert(files: &mut BTreeMap<String, InputFile>, file: InputFile) {
    // Paths of web objects lack the query, which may be a secret, so two of them may be equal.
    let mut names = (1..).map(|n| if n == 1 { file.name.clone() } else { format!("{}?{n}", file.name) });
    if let Some(name) = names.find(|name| !files.contains_key(name)) {
        files.insert(name.clone(), InputFile { name, ..file });
    }
}

/// Adds the files of an archive whose format is known.
fn members(
    archive: InputFile,
    kind: archives::Kind,
    options: &Options,
    files: &mut BTreeMap<String, InputFile>,
    selection: &mut Selection,
) -> Result<(), Error> {
    let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.') && part != "." || part == "__MACOSX");
    let format_of = |name: &str| options.format.or(from_extension(name).0);
    let is_wanted = |name: &str| !is_hidden(name) && format_of(name).is_some();
    let (folder, members) = match archives::unpack(&archive, kind, is_wanted) {
        Err(Error::Record(problem)) => return selection.leave_out(problem, options),
        unpacked => unpacked?,
    };
    selection.unpacked.push(folder);
    for archives::Member { name, copy } in members {
        let label = format!("{}/{name}", archive.label);
        match (copy, format_of(&name)) {
            (Some(path), Some(format)) => {
                let (compression, name) = (from_extension(&name).1, format!("{}/{name}", archive.name));
                let object = None;
                let file = InputFile { path, label, name, format, compression, object, ..archive.clone() };
                insert(files, recognized(file, options));
            }
            _ if is_hidden(&name) => {}
            _ => selection.passed_over.push((PassedOver::UnknownKind, PathBuf::from(label))),
        }
    }
    Ok(())
}

/// Returns the path that a URL such as `file:///data/texts/` names.
fn of_file_url(input: &str) -> Result<Option<String>, Error> {
    if !input.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return Ok(None);
    }
    let path = Url::parse(input).ok().and_then(|url| url.to_file_path().ok());
    match path.and_then(|path| path.into_os_string().into_string().ok()) {
        Some(path) => Ok(Some(path)),
        None => Err(Error::Input(format!(
            "{input} names no file of this machine; write file:///folder/file, or the path alone"
        ))),
    }
}

/// Fails if a result would replace an input.
pub fn refuse_result(path: &Path, options: &Options) -> Result<(), Error> {
    let is_in_result = |place: &Path| options.results.iter().any(|result| is_within(place, result));
    let is_result =
        !options.results.is_empty() && matches!(resolved_input(path), Ok(Some(place)) if is_in_result(&place));
    if is_result {
        return Err(Error::Input(format!(
            "{} is one of the inputs, and is named for a result, which would replace it; name another place for the \
             result",
            path.display()
        )));
    }
    Ok(())
}

impl Selection {
    /// Returns true if there are dumps of MediaWiki among the files.
    pub(crate) fn has_dumps(&self) -> bool {
        self.files.iter().any(|file| file.format == Format::MediaWiki)
    }

    /// Returns true if there are files that may hold pages of HTML.
    pub(crate) fn has_html(&self) -> bool {
        self.files.iter().any(|file| matches!(file.format, Format::Html | Format::Warc))
    }

    /// Returns the problems of files and folders that could not be accessed. Fails with the first of them if bad
    /// records are not tolerated.
    pub(crate) fn take_problems(&self, on_error: &OnError) -> Result<Problems, Error> {
        let mut problems = Problems::new(on_error);
        for problem in &self.problems {
            problems.take(Box::new(problem.clone()))?;
        }
        Ok(problems)
    }

    /// Returns the counts that are known before the files are read. Fails as [`Self::take_problems`] does.
    pub(crate) fn summary(&self, on_error: &OnError) -> Result<Summary, Error> {
        let problems = self.take_problems(on_error)?;
        Ok(Summary {
            files: self.files.len(),
            files_begun: 0,
            documents: 0,
            skipped: problems.skipped,
            skipped_count: problems.count,
            left_out: LeftOutCounts::default(),
            dropped: Dropped::default(),
            passed_over: self.passed_over.clone(),
        })
    }

    /// Returns the number of entries seen so far, including `found`.
    fn seen(&self, found: &[Found]) -> usize {
        found.len() + self.passed_over.len() + self.problems.len()
    }

    /// Adds a problem, or fails with it if bad records are not tolerated.
    fn leave_out(&mut self, problem: Box<Problem>, options: &Options) -> Result<(), Error> {
        if options.on_error == OnError::Fail {
            return Err(Error::Record(problem));
        }
        self.problems.push(*problem);
        Ok(())
    }
}

/// Returns the path with bytes that are not UTF-8 written as `\xff`, so that two such paths are distinct.
fn written_out(path: &Path) -> String {
    let mut written = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        written.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| {
            let _ = write!(written, "\\x{byte:02x}");
        });
    }
    written
}

fn cannot_read(input: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Input(format!("cannot read {input}: {error}"))
}

/// Returns the canonical path of a folder, or the given path if it cannot be resolved.
fn canonical(folder: &Path) -> PathBuf {
    let start = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::fs::canonicalize(start).unwrap_or_else(|_| folder.to_path_buf())
}

/// Returns the path without `.` and doubled separators.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|c| *c != Component::CurDir).collect()
}

/// Returns the format and the compression that the extensions of `name` imply. Parquet has its own compression.
fn from_extension(name: &str) -> (Option<Format>, Compression) {
    let name = name.to_lowercase();
    let (rest, last) = name.rsplit_once('.').unwrap_or(("", ""));
    // The format `lines` has no extension.
    let by_name = |name: &str| Format::from_name(name).filter(|format| *format != Format::Lines);
    match Compression::of_extension(last) {
        Some(compression) => {
            let format = rest.rsplit_once('.').and_then(|(_, inner)| by_name(inner));
            (format.filter(|f| *f != Format::Parquet), compression)
        }
        None => (by_name(last), Compression::Plain),
    }
}

/// Returns true if the extension of a name is that of a file that can be read, so that the name is not a folder's.
pub(crate) fn is_name_of_file(name: &str) -> bool {
    let (format, compression) = from_extension(name);
    format.is_some() || compression != Compression::Plain
}

/// Returns the deepest folder that holds all `roots`; empty if there is none.
fn common_folder<'a>(mut roots: impl Iterator<Item = &'a Path>) -> PathBuf {
    let Some(first) = roots.next() else { return PathBuf::new() };
    let mut common: Vec<_> = first.components().collect();
    for root in roots {
        let same = common.iter().zip(root.components()).take_while(|(a, b)| **a == *b).count();
        common.truncate(same);
    }
    common.into_iter().collect()
}

/// Returns the path with `/` between its parts on every system.
fn id_path(path: &Path) -> String {
    let mut name = String::new();
    for part in path.components() {
        if !name.is_empty() && !name.ends_with('/') {
            name.push('/');
        }
        match part {
            Component::RootDir => name.push('/'),
            part => name.push_str(&part.as_os_str().to_string_lossy()),
        }
    }
    name
}

/// Adds the files below `folder`; with a pattern, only those whose path below `folder` matches.
fn walk(
    input: &str,
    folder: &Path,
    pattern: Option<&GlobMatcher>,
    (options, stores): (&Options, &Arc<Stores>),
    found: &mut Vec<Found>,
    selection: &mut Selection,
) -> Result<(), Error> {
    let before = selection.seen(found);
    // The empty path means the current folder, which cannot be opened by that name.
    let start = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    // A pattern without `**` matches no deeper than it has separators.
    let depth = pattern.map(|p| p.glob().glob()).filter(|p| !p.contains("**")).map(|p| p.matches('/').count() + 1);
    let mut entries = WalkDir::new(start)
        .follow_links(true)
        .max_depth(depth.unwrap_or(usize::MAX))
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !hidden(entry.file_name()));
    while let Some(entry) = entries.next() {
        let below = |path: &Path| path.strip_prefix(start).unwrap_or(path).to_owned();
        let (path, why) = match &entry {
            Ok(entry) if leads_above(entry, start) => {
                entries.skip_current_dir();
                (below(entry.path()), Some(PassedOver::Loop))
            }
            Ok(entry) if entry.file_type().is_dir() => {
                if entry.depth() == 0 || pattern.is_some() || !is_collection(entry.path(), stores) {
                    continue;
                }
                entries.skip_current_dir();
                (below(entry.path()), Some(PassedOver::Collection))
            }
            Ok(entry) => (below(entry.path()), (!entry.file_type().is_file()).then_some(PassedOver::NoFile)),
            Err(error) => match (error.path(), nowhere(error).map(PassedOver::from)) {
                (Some(path), _) if error.depth() > 0 && path.file_name().is_some_and(hidden) => continue,
                (Some(path), Some(why)) if error.depth() > 0 => (below(path), Some(why)),
                (Some(path), None) if error.depth() > 0 => {
                    let reason = error.io_error().map_or_else(|| error.to_string(), io::Error::to_string);
                    let problem = Problem::new(&written_out(path), format!("cannot read it: {reason}"));
                    let remedy = "make it readable, or leave out what cannot be read with `on_error = skip`";
                    selection.leave_out(problem.remedy(remedy), options)?;
                    continue;
                }
                _ => return Err(cannot_read(input, error)),
            },
        };
        if pattern.is_some_and(|pattern| !pattern.is_match(&path)) {
            continue;
        }
        let path = folder.join(path);
        match why {
            None => {
                let is_link = entry.is_ok_and(|entry| entry.path_is_symlink());
                found.push(Found { path, root: folder.to_owned(), named: false, is_link, object: None });
            }
            Some(why) => selection.passed_over.push((why, path)),
        }
    }
    if selection.seen(found) == before {
        let what = if pattern.is_some() { "matches no file; check the pattern" } else { "holds no file" };
        return Err(Error::Input(format!("{input} {what} (hidden files are not read)")));
    }
    Ok(())
}

/// Returns true if a folder is a corpus, an index, or another folder of results.
fn is_collection(folder: &Path, stores: &Arc<Stores>) -> bool {
    (Manifest::is_in(folder) && matches!(Manifest::is_of_ours(folder, stores), Ok(true)))
        || (folder.join(PARTS).is_dir() && matches!(is_index(folder, stores), Ok(true)))
}

/// Adds the objects that a URL names: an object, the objects below a prefix, or those that match a pattern, with the
/// syntax of [`glob`]. An object that exists is never taken for a pattern.
fn objects(input: &Location, found: &mut Vec<Found>, selection: &mut Selection) -> Result<(), Error> {
    let failed = |error: anyhow::Error| Error::Input(format!("{error:#}"));
    let folder_of = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    if !input.is_prefix()
        && let Some(object) = Object::find(input).map_err(failed)?
    {
        let path = PathBuf::from(input.to_string());
        found.push(Found { root: folder_of(&path), path, named: true, is_link: false, object: Some(object) });
        return Ok(());
    }
    if input.is_web() {
        return Err(Error::Input(format!("{input} does not exist; a web server lists no files, so name one")));
    }
    let (folder, pattern) = match input.split_glob() {
        Some((folder, pattern)) => (folder, Some(matcher(&input.to_string(), &pattern)?)),
        None => (input.clone(), None),
    };
    let root = PathBuf::from(format!("{}/{}", folder.root(), folder.key()));
    let before = selection.seen(found);
    let objects = Object::list(&folder, usize::MAX).map_err(failed)?;
    let mut manifests = Manifests::of(&objects);
    for object in objects {
        let below = object.location.key().as_ref().get(folder.key().as_ref().len()..).unwrap_or_default();
        let below = below.trim_start_matches('/');
        let is_hidden = below.split('/').any(|part| part.starts_with('.'));
        if is_hidden || pattern.as_ref().is_some_and(|pattern| !pattern.is_match(below)) {
            continue;
        }
        let path = PathBuf::from(object.location.to_string());
        if pattern.is_none() && manifests.has_collection(&object.location, &folder).map_err(failed)? {
            selection.passed_over.extend(path.parent().map(|folder| (PassedOver::Collection, folder.to_owned())));
        } else if pattern.is_none() || !manifests.replace(&object.location).map_err(failed)? {
            found.push(Found { path, root: root.clone(), named: false, is_link: false, object: Some(object) });
        }
    }
    if selection.seen(found) == before {
        let what = match (&pattern, input.is_prefix()) {
            (Some(_), _) => "matches no object; check the pattern (hidden files are not read)",
            (None, true) => "holds no object (hidden files are not read)",
            (None, false) => "does not exist; check the name",
        };
        return Err(Error::Input(format!("{input} {what}")));
    }
    Ok(())
}

/// The manifests of the folders that contain objects.
struct Manifests {
    there: HashSet<Location>,
    read: HashMap<Location, Option<Manifest>>,
    of_ours: HashMap<Location, bool>,
}

impl Manifests {
    fn of(objects: &[Object]) -> Self {
        let manifests = objects.iter().filter(|object| object.location.key().filename() == Some(MANIFEST));
        Self {
            there: manifests.map(|object| object.location.folder()).collect(),
            read: HashMap::new(),
            of_ours: HashMap::new(),
        }
    }

    /// Returns true if an object is a table of an earlier manifest that another table has replaced.
    fn replace(&mut self, object: &Location) -> anyhow::Result<bool> {
        let Some(name) = object.key().filename().filter(|name| name.ends_with(".parquet")) else { return Ok(false) };
        let manifest = self.read(object.folder())?;
        Ok(manifest.is_some_and(|manifest| manifest.instead_of(name).is_some()))
    }

    /// Returns true if an object is in a corpus, an index or another folder of results below `folder`.
    fn has_collection(&mut self, object: &Location, folder: &Location) -> anyhow::Result<bool> {
        let within = object.folder();
        if is_file_of_index(object) || within.key() == folder.key() || !self.there.contains(&within) {
            return Ok(is_file_of_index(object));
        }
        Ok(match self.of_ours.entry(within) {
            Entry::Occupied(read) => *read.get(),
            Entry::Vacant(new) => {
                let is_of_ours = Manifest::is_of_ours(Path::new(&new.key().to_string()), new.key().stores())?;
                *new.insert(is_of_ours)
            }
        })
    }

    fn read(&mut self, folder: Location) -> anyhow::Result<Option<&Manifest>> {
        if !self.there.contains(&folder) {
            return Ok(None);
        }
        let manifest = match self.read.entry(folder) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(new) => {
                let manifest = Manifest::of(Path::new(&new.key().to_string()), new.key().stores())?;
                new.insert(manifest)
            }
        };
        Ok(manifest.as_ref())
    }
}

/// Adds the files that match the pattern `input`: `*` and `?` within a name, `**` over folders, `[a-z]`, `{a,b}`.
fn glob(
    input: &str,
    reading: (&Options, &Arc<Stores>),
    found: &mut Vec<Found>,
    selection: &mut Selection,
) -> Result<(), Error> {
    let magic = input.find(MAGIC).unwrap_or(input.len());
    let split = input[..magic].rfind('/').map_or(0, |i| i + 1);
    let (folder, pattern) = input.split_at(split);
    let matcher = matcher(input, pattern)?;
    let folder = tidy(Path::new(folder));
    if !folder.as_os_str().is_empty() && !folder.is_dir() {
        return Err(Error::Input(format!("{input} matches no file: the folder {} does not exist", folder.display())));
    }
    walk(input, &folder, Some(&matcher), reading, found, selection)
}

pub(super) fn matcher(input: &str, pattern: &str) -> Result<GlobMatcher, Error> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob = glob.map_err(|e| Error::Input(format!("{input} is not a pattern: {}; correct it", e.kind())))?;
    Ok(glob.compile_matcher())
}

/// Copies an input that can be read only once into a temporary file, since schema and rows are read separately. If no
/// format is given, the input is Parquet by its first bytes, JSONL if the first byte that is not white space is `{`,
/// MediaWiki or TEI by its first element, else one text.
fn spool(
    label: &str,
    from: &mut dyn Read,
    options: &Options,
    spooled: &mut Vec<NamedTempFile>,
) -> Result<InputFile, Error> {
    let mut copy = temporary_file().map_err(|e| Error::Write { path: std::env::temp_dir(), source: e })?;
    let write = |source| Error::Write { path: std::env::temp_dir(), source };
    let mut head = Vec::new();
    from.take(MAGIC_BYTES as u64).read_to_end(&mut head).map_err(|e| cannot_read(label, &e))?;
    if head.is_empty() && options.format.is_none() {
        return Err(Error::Input(format!("{label} is empty")));
    }
    let compression = Compression::of_first_bytes(&head);
    let wanted = if compression == Compression::Plain { Wanted::of(&head, options) } else { Wanted::All };
    let mut from = Limited::new(head.as_slice().chain(from), wanted);
    // One call reads and writes, so a full disk cannot be told from a broken pipe: the message names both ends.
    io::copy(&mut from, &mut copy).map_err(|e| match from.has_no_end() {
        Some(_) if options.on_error == OnError::Fail => {
            let problem = Problem::too_long(label, "the line", options.max_record_bytes);
            Error::Record(problem.at_line(from.lines + 1).at_byte(from.start))
        }
        Some(most) => Error::Input(format!(
            "{label}, line {}, byte {}: the line is longer than {most} bytes, as if it had no end; save the part that \
             you need to a file",
            from.lines + 1,
            from.start
        )),
        None => Error::Input(format!("cannot copy {label} to {}: {e}", std::env::temp_dir().display())),
    })?;
    copy.rewind().map_err(write)?;
    let name = if label == STDIN { "stdin".to_owned() } else { label.to_owned() };
    let mut file = InputFile {
        path: copy.path().to_path_buf(),
        label: label.to_owned(),
        name,
        format: Format::Text,
        compression,
        decoding: options.decoding(),
        object: None,
        labels: Vec::new(),
    };
    file.format = match options.format {
        Some(format) => format,
        None if head.starts_with(b"PAR1") => Format::Parquet,
        None => sniff(&file, options.max_record_bytes),
    };
    spooled.push(copy);
    Ok(file)
}

/// The part of a stream that is copied. A stream may be endless.
#[derive(Clone, Copy)]
enum Wanted {
    All,
    /// The first bytes, which are enough to see that the record is too long, or that the stream is not of its format.
    Bytes(u64),
    /// The whole stream, as long as no line has more bytes.
    Lines(u64),
}

/// The bytes that may surround a record that is not too long: a byte order mark, and the first of two bytes that end a
/// line.
const AROUND: u64 = 4;

/// The longest line of a stream that is skipped if bad records are left out.
const LONGEST_PASSED_OVER: u64 = 1 << 30;

impl Wanted {
    /// Returns the part to copy of a stream that begins with `head` and is not compressed.
    fn of(head: &[u8], options: &Options) -> Self {
        let limit = options.max_record_bytes as u64;
        let text = head.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
        match options.format {
            None | Some(Format::Parquet) if head.starts_with(b"PAR1") => Self::All,
            Some(Format::Parquet) => Self::Bytes(head.len() as u64),
            // The whole stream is one record.
            Some(Format::Text | Format::Markdown | Format::Html) => Self::Bytes(limit + AROUND),
            None if !matches!(text, [] | [b'{' | b'<', ..]) => Self::Bytes(limit + AROUND),
            _ if options.on_error == OnError::Fail => Self::Lines(limit + AROUND),
            _ => Self::Lines((limit + AROUND).max(LONGEST_PASSED_OVER)),
        }
    }
}

/// A reader of the wanted part of a stream.
struct Limited<R> {
    inner: R,
    wanted: Wanted,
    /// The length of the current line so far, the offset at which it begins, and the number of lines before it.
    begun: u64,
    start: u64,
    lines: u64,
}

impl<R> Limited<R> {
    fn new(inner: R, wanted: Wanted) -> Self {
        Self { inner, wanted, begun: 0, start: 0, lines: 0 }
    }

    /// Returns the maximum length of a line, if the current line is longer.
    fn has_no_end(&self) -> Option<u64> {
        match self.wanted {
            Wanted::Lines(most) if self.begun > most => Some(most),
            _ => None,
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Wanted::Bytes(left) = &mut self.wanted {
            let n = self.inner.by_ref().take(*left).read(buf)?;
            *left -= n as u64;
            return Ok(n);
        }
        let n = self.inner.read(buf)?;
        self.begun += n as u64;
        if let Some(end) = memchr::memrchr(b'\n', &buf[..n]) {
            let begun = (n - end - 1) as u64;
            self.start += self.begun - begun;
            self.lines += memchr::memchr_iter(b'\n', &buf[..n]).count() as u64;
            self.begun = begun;
        }
        if self.has_no_end().is_some() { Err(io::Error::other("a line has no end")) } else { Ok(n) }
    }
}

fn sniff(file: &InputFile, limit: usize) -> Format {
    let Ok(mut stream) = Stream::open(file) else { return Format::Text };
    loop {
        let Ok(bytes) = stream.fill() else { return Format::Text };
        let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
        match bytes.get(blank) {
            Some(b'{') => return Format::Jsonl,
            Some(b'<') => return format_of_xml(file, limit).unwrap_or(Format::Text),
            Some(_) => return Format::Text,
            None if blank == 0 => return Format::Text,
            None => stream.consume(blank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Folder;
    use super::*;

    fn names(folder: &Folder, inputs: &[&str]) -> Result<Vec<String>, String> {
        let inputs: Vec<_> = inputs.iter().map(|input| folder.path(input).to_str().unwrap().to_owned()).collect();
        match expand(&inputs, &Options::default(), &mut io::empty(), &Arc::default()) {
            Ok(selection) => Ok(selection.files.into_iter().map(|file| file.name).collect()),
            Err(error) => Err(error.to_string().replace(folder.path("").to_str().unwrap(), "")),
        }
    }

    fn folder() -> Folder {
        Folder::of(&[
            ("a/x.txt", b"x"),
            ("a/b/y.md", b"y"),
            ("a/b/c/z.jsonl.gz", b"z"),
            ("a/b/c/w.dat", b"w"),
            ("a/.hidden/v.txt", b"v"),
            ("a/.u.txt", b"u"),
            ("d/x.txt", b"x"),
        ])
    }

    #[test]
    fn of_a_line_without_end_so_much_is_read() {
        let options = |on_error| Options { on_error, max_record_bytes: 1000, ..Options::default() };
        for (options, least) in [(options(OnError::Fail), 1000 + AROUND), (options(OnError::Skip), LONGEST_PASSED_OVER)]
        {
            let wanted = Wanted::of(b"{\n{", &options);
            let (mut from, mut read) = (Limited::new(b"{\n{\n{".chain(io::repeat(b'x')), wanted), 0);
            let mut buffer = vec![0; 64 << 10];
            let error = loop {
                match from.read(&mut buffer) {
                    Ok(n) => read += n as u64,
                    Err(error) => break error,
                }
            };
            assert_eq!(error.to_string(), "a line has no end");
            assert!(from.has_no_end().is_some() && (read..read + (64 << 10)).contains(&least), "{read}");
            assert_eq!((from.lines, from.start), (2, 4));
        }
    }

    #[test]
    fn a_folder_is_walked_and_names_begin_below_it() {
        assert_eq!(names(&folder(), &["a"]).unwrap(), ["b/c/z.jsonl.gz", "b/y.md", "x.txt"]);
        assert_eq!(names(&folder(), &["a/b/y.md"]).unwrap(), ["y.md"]);
    }

    #[test]
    fn names_of_several_inputs_begin_below_what_is_common() {
        assert_eq!(names(&folder(), &["d", "a/b"]).unwrap(), ["a/b/c/z.jsonl.gz", "a/b/y.md", "d/x.txt"]);
        assert_eq!(names(&folder(), &["a/b/y.md", "a/x.txt"]).unwrap(), ["b/y.md", "x.txt"]);
    }

    #[test]
    fn a_file_named_twice_is_read_once() {
        assert_eq!(names(&folder(), &["d", "d/x.txt", "d/*.txt", "./d//x.txt"]).unwrap(), ["x.txt"]);
        let two_ways = names(&folder(), &["d/x.txt", "a/../d", "a/b/../../d/x.txt"]).unwrap();
        assert!(two_ways.len() == 1 && two_ways[0].ends_with("x.txt"), "{two_ways:?}");
    }

    #[test]
    fn globs() {
        for (glob, found) in [
            ("a/*.txt", &["x.txt"][..]),
            ("a/**/*.md", &["b/y.md"]),
            ("a/**/*.{txt,md}", &["b/y.md", "x.txt"]),
            ("{a,d}/x.txt", &["a/x.txt", "d/x.txt"]),
            ("[ad]/?.txt", &["a/x.txt", "d/x.txt"]),
            ("a/{b/y.md,x.txt}", &["b/y.md", "x.txt"]),
        ] {
            assert_eq!(names(&folder(), &[glob]).unwrap(), found, "{glob}");
        }
    }

    #[test]
    fn a_path_that_exists_is_no_glob() {
        let folder = Folder::of(&[("a[1].txt", b""), ("a1.txt", b"")]);
        assert_eq!(names(&folder, &["a[1].txt"]).unwrap(), ["a[1].txt"]);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let folder = folder();
        std::fs::create_dir(folder.path("empty")).unwrap();
        for (input, error) in [
            ("b.txt", "b.txt does not exist; check the path"),
            ("a/*.csv", "a/*.csv matches no file; check the pattern (hidden files are not read)"),
            ("no/*.csv", "no/*.csv matches no file: the folder no does not exist"),
            ("a/[.txt", "a/[.txt is not a pattern: unclosed character class; missing ']'; correct it"),
            ("empty", "empty holds no file (hidden files are not read)"),
        ] {
            assert_eq!(names(&folder, &[input]).unwrap_err(), error);
        }
        assert!(
            names(&folder, &["a/b/c/*.dat"]).unwrap_err().contains("but 1 files of unknown kind, such as a/b/c/w.dat")
        );
        assert!(names(&folder, &["a/b/c/w.dat"]).unwrap_err().contains("its extension says no format"));
        assert!(expand(&[], &Options::default(), &mut io::empty(), &Arc::default()).is_err());
    }

    #[test]
    fn other_files_are_listed_as_passed_over() {
        let folder = folder();
        let selection = expand(
            &[folder.path("a").to_str().unwrap().to_owned()],
            &Options::default(),
            &mut io::empty(),
            &Arc::default(),
        )
        .unwrap();
        assert_eq!(selection.passed_over, [(PassedOver::UnknownKind, folder.path("a/b/c/w.dat"))]);
    }

    #[test]
    fn extensions() {
        for (name, expected) in [
            ("a.txt", (Some(Format::Text), Compression::Plain)),
            ("A.TXT.GZ", (Some(Format::Text), Compression::Gzip)),
            ("a.b.ndjson.zst", (Some(Format::Jsonl), Compression::Zstd)),
            ("a.tsv.bz2", (Some(Format::Tsv), Compression::Bzip2)),
            ("a-wiki.xml.bz2", (Some(Format::MediaWiki), Compression::Bzip2)),
            ("a.parquet", (Some(Format::Parquet), Compression::Plain)),
            ("a.parquet.gz", (None, Compression::Gzip)),
            ("a.gz", (None, Compression::Gzip)),
            ("txt", (None, Compression::Plain)),
        ] {
            assert_eq!(from_extension(name), expected, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_no_loops() {
        let folder = folder();
        std::os::unix::fs::symlink(folder.path("a"), folder.path("a/b/loop")).unwrap();
        std::os::unix::fs::symlink(folder.path("d"), folder.path("a/link")).unwrap();
        std::os::unix::fs::symlink(folder.path("nowhere"), folder.path("a/dangling.txt")).unwrap();
        assert_eq!(names(&folder, &["a"]).unwrap(), ["b/c/z.jsonl.gz", "b/y.md", "link/x.txt", "x.txt"]);
    }

    #[test]
    fn standard_input_is_sniffed_unless_its_format_is_given() {
        let csv = Options { format: Some(Format::Csv), ..Options::default() };
        for (data, format) in [
            (&b" \n{\"text\": 1}"[..], Format::Jsonl),
            (b"PAR1....", Format::Parquet),
            (b"text {", Format::Text),
            (b"\n<mediawiki xml:lang=\"en\">", Format::MediaWiki),
            (b"<?xml version=\"1.0\"?><!-- <p> --><t:TEI xmlns:t=\"x\">", Format::Tei),
            (b"<media", Format::Text),
            (b"\n\n", Format::Text),
        ] {
            let selection = expand(&["-".to_owned()], &Options::default(), &mut &data[..], &Arc::default()).unwrap();
            assert_eq!(selection.files[0].format, format);
            assert_eq!(std::fs::read(&selection.files[0].path).unwrap(), data);
            let given = expand(&["-".to_owned()], &csv, &mut &data[..], &Arc::default()).unwrap();
            assert_eq!(given.files[0].format, Format::Csv);
        }
        assert!(
            expand(&["-".to_owned()], &Options::default(), &mut io::empty(), &Arc::default())
                .unwrap_err()
                .to_string()
                .contains("is empty")
        );
        #[cfg(unix)]
        assert_eq!(names(&folder(), &["/dev/null"]).unwrap_err(), "/dev/null is empty");
        assert!(
            expand(&["-".to_owned(), "-".to_owned()], &Options::default(), &mut &b"a"[..], &Arc::default()).is_err()
        );
    }
}
