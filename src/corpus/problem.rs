//! Bad records: their places, their error messages, and the quarantine.

use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use super::encoding::guessed;
use super::ids::LONGEST_ID;
use parquet::file::reader::Length as _;

use crate::records::Position;
use crate::store::{Explained, Source, Stores};

/// The maximum number of characters of a bad record that an error shows.
const EXCERPT: usize = 80;

/// The maximum number of bad records that are listed; the others are only counted.
pub(crate) const LISTED: usize = 1000;

/// Upper bound of the length of a quarantine entry: the bytes of a record are escaped in it.
const LONGEST_ENTRY: u64 = 8 << 20;

/// The maximum number of bytes of a bad record that the quarantine keeps.
const QUARANTINED_BYTES: usize = 1 << 20;

/// An error that ends the reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Inputs or options that ask for something that cannot be done.
    #[error("{0}")]
    Input(String),
    /// A bad record, if none is tolerated.
    #[error("{0}")]
    Record(Box<Problem>),
    /// Two documents with one id.
    #[error(
        "the id {id:?} stands twice: {first} and {second}; results refer to documents by id, so name a column of \
         distinct values with `id_column`, or number the records with `id_column = ''`"
    )]
    DuplicateId {
        /// The id.
        id: String,
        /// The first place of the id.
        first: Place,
        /// The second place of the id.
        second: Place,
    },
    /// An output file, such as the quarantine, that could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Rows that do not fit the schema made for them: a bug in ibid.
    #[error("internal error while building documents: {0}; please report it")]
    Arrow(#[from] arrow::error::ArrowError),
}

/// The place of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The number of the record in the file, from 1.
    pub(crate) record: u64,
    /// The line on which it begins, from 1, in a file that has lines.
    pub(crate) line: Option<u64>,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, record {}", self.file, self.record)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// One thing wrong inside a file: a bad record, or the place beyond which the file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the user wrote it.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: Option<u64>,
    /// The byte offset in the file, from 0; for a compressed file, in its decompressed content.
    pub(crate) byte: Option<u64>,
    /// The number of the record, from 1.
    pub(crate) record: Option<u64>,
    /// The number of records that are left out with it, including itself.
    pub(crate) records: u64,
    /// The error and its cause.
    pub(crate) reason: String,
    /// The advice to the user; empty if the reason contains it.
    pub(crate) remedy: String,
    /// The record around the place, escaped, at most 80 characters.
    pub(crate) excerpt: Option<String>,
    /// The beginning of the record, for the quarantine.
    data: Option<String>,
    /// True if `data` is not the whole record.
    is_cut: bool,
}

impl Problem {
    pub(crate) fn new(file: &str, reason: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            file: file.to_owned(),
            line: None,
            byte: None,
            record: None,
            records: 1,
            reason: reason.into(),
            remedy: "correct it, or leave bad records out with `on_error = skip`".to_owned(),
            excerpt: None,
            data: None,
            is_cut: false,
        })
    }

    /// Creates the problem of a file that cannot be opened or read. The message of a store already contains the advice.
    pub(crate) fn of_io(file: &str, what: &str, error: &io::Error) -> Box<Self> {
        match Explained::of_io(error) {
            Some(explained) => Self::new(file, explained.reason()).remedy(""),
            None => Self::new(file, format!("{what}: {error}")),
        }
    }

    pub(crate) fn at_line(mut self: Box<Self>, line: u64) -> Box<Self> {
        self.line = Some(line);
        self
    }

    pub(crate) fn at_byte(mut self: Box<Self>, byte: u64) -> Box<Self> {
        self.byte = Some(byte);
        self
    }

    pub(crate) fn in_record(mut self: Box<Self>, record: u64) -> Box<Self> {
        self.record = Some(record);
        self
    }

    /// Sets the number of records that are lost, including this one: they follow it in its row group and cannot be read
    /// without it.
    pub(crate) fn with_records(mut self: Box<Self>, records: u64) -> Box<Self> {
        if records > 1 {
            self.reason = format!("{}, nor can the {} records behind it in its row group", self.reason, records - 1);
        }
        self.records = records.max(1);
        self
    }

    /// Shows `data`, the record, around its byte `at`.
    pub(crate) fn showing(mut self: Box<Self>, data: &[u8], at: usize) -> Box<Self> {
        self.excerpt = Some(excerpt(data, at));
        self.data = Some(String::from_utf8_lossy(&data[..data.len().min(QUARANTINED_BYTES)]).into_owned());
        self.is_cut |= data.len() > QUARANTINED_BYTES;
        self
    }

    /// Marks the record as read no further than the problem.
    pub(crate) fn cut(mut self: Box<Self>) -> Box<Self> {
        self.is_cut = true;
        self
    }

    pub(crate) fn remedy(mut self: Box<Self>, remedy: impl Into<String>) -> Box<Self> {
        self.remedy = remedy.into();
        self
    }

    /// Sets the remedy as [`Self::remedy`] does, unless the reason says what to do.
    pub(crate) fn remedy_unless_told(self: Box<Self>, remedy: &str) -> Box<Self> {
        if self.remedy.is_empty() { self } else { self.remedy(remedy) }
    }

    /// Creates the problem of a record, a line or a file of more than `limit` bytes, which is not read to its end.
    pub(crate) fn too_long(file: &str, what: &str, limit: usize) -> Box<Self> {
        let problem = Self::new(file, format!("{what} is longer than {limit} bytes")).cut();
        problem.remedy("raise the limit with `max_record_bytes`, or leave bad records out with `on_error = skip`")
    }

    /// Creates the problem of an id that is too long to be repeated in each row about its document.
    pub(crate) fn long_id(file: &str, column: &str) -> Box<Self> {
        Self::new(file, format!("the id, {column:?}, is longer than {LONGEST_ID} bytes"))
            .remedy("shorten it, name another column with `id_column`, or leave bad records out with `on_error = skip`")
    }

    /// Creates the problem of bytes that are not UTF-8, from byte `at` of `data`.
    pub(crate) fn not_utf8(file: &str, data: &[u8], at: usize) -> Box<Self> {
        let byte = data.get(at).copied().unwrap_or_default();
        Self::new(file, format!("the byte 0x{byte:02X} is not valid UTF-8"))
            .showing(data, at)
            .remedy(format!(
                "read the file with `encoding = {}` if that is what it is, convert it to UTF-8, or leave bad records out with \
                 `on_error = skip`",
                guessed(data).name().to_lowercase()
            ))
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, byte, record, reason, .. } = self;
        write!(f, "{file}{}: {reason}", Position { line: *line, byte: *byte, record: *record })?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, ": \"{excerpt}\"")?;
        }
        if self.remedy.is_empty() { Ok(()) } else { write!(f, "; {}", self.remedy) }
    }
}

/// Returns at most 80 characters of `data` around its byte `at`, with everything escaped that a terminal could act on.
fn excerpt(data: &[u8], at: usize) -> String {
    let start = if data.len() <= EXCERPT { 0 } else { at.min(data.len()).saturating_sub(EXCERPT / 2) };
    let text = String::from_utf8_lossy(&data[start..data.len().min(start + 4 * EXCERPT)]);
    let mut shown = String::new();
    let mut length = 0;
    for c in text.chars() {
        let escaped = c.escape_debug();
        length += escaped.len();
        if length >= EXCERPT {
            shown.push('…');
            break;
        }
        shown.extend(escaped);
    }
    shown
}

/// The handling of bad records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OnError {
    /// Stop with an error.
    #[default]
    Fail,
    /// Leave it out, count it and list it.
    Skip,
    /// Skip it, and write it into this file: one JSON object per line, with `file`, `line`, `byte`, `record` (NULL
    /// where not known), `reason`, and `data`, at most the first MiB of the record. If that is not the whole record,
    /// `cut` is true.
    Quarantine(Quarantine),
}

/// The file of bad records, to which all readers of a run append.
#[derive(Debug, Clone)]
pub struct Quarantine {
    /// The path that errors name.
    path: PathBuf,
    /// The path of the file that is written.
    file: PathBuf,
    /// True if this run has emptied the file, so that it no longer holds the entries of an earlier run.
    begun: Arc<Mutex<bool>>,
}

impl PartialEq for Quarantine {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Quarantine {}

impl Quarantine {
    /// Creates a quarantine that is written to this file.
    pub fn new(path: PathBuf) -> Self {
        Self { file: path.clone(), path, begun: Arc::default() }
    }

    /// Returns the quarantine, written to `file`; errors still name its original path.
    pub fn collected_in(self, file: PathBuf) -> Self {
        Self { file, ..self }
    }

    /// Fails if `path` is an existing file that is not a quarantine, such as an input, or a pipe or a device.
    pub fn check(path: &Path, stores: &Arc<Stores>) -> Result<(), Error> {
        let refused =
            |why: &str| Err(Error::Input(format!("{} {why}; name another file with `quarantine`", path.display())));
        // Reading a pipe would take bytes out of it, or wait for them.
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return if path == "/dev/null" { Ok(()) } else { refused("is a pipe or a device") };
        }
        let mut line = String::new();
        let read = Source::open(path, stores).and_then(|mut file| {
            let begin = file.read(0..file.len().min(LONGEST_ENTRY))?;
            begin.as_ref().read_line(&mut line)
        });
        let is_ours = || {
            let entry: Map<String, Value> = serde_json::from_str(&line).unwrap_or_default();
            ["file", "reason", "data"].iter().all(|key| entry.contains_key(*key))
        };
        match read {
            Ok(0) => Ok(()),
            Ok(_) if is_ours() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => refused(&format!("cannot be read ({error})")),
            Ok(_) => refused("is there and holds no bad records of an earlier run"),
        }
    }

    /// Opens the file for appending; the first reader empties it.
    fn open(&self) -> io::Result<File> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !*begun {
            File::create(&self.file)?;
            *begun = true;
        }
        File::options().append(true).open(&self.file)
    }
}

/// A bad record that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The file, as the user wrote it.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The byte offset in the file, from 0; for a compressed file, in its decompressed content.
    pub byte: Option<u64>,
    /// The number of the record in the file, from 1.
    pub record: Option<u64>,
    /// The error and its cause.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn to_json(&self) -> Value {
        let Self { file, line, byte, record, reason } = self;
        json!({ "file": file, "line": line, "byte": byte, "record": record, "reason": reason })
    }

    pub(crate) fn of_json(json: &Value) -> Self {
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| json[key].as_u64();
        let (line, byte, record) = (number("line"), number("byte"), number("record"));
        Self { file: text("file"), line, byte, record, reason: text("reason") }
    }
}

impl Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, byte, record, reason } = self;
        write!(f, "{file}{}: {reason}", Position { line: *line, byte: *byte, record: *record })
    }
}

/// The collector of bad records.
#[derive(Debug)]
pub(crate) struct Problems {
    quarantine: Option<Quarantine>,
    /// The file of the quarantine, once it is open.
    file: Option<BufWriter<File>>,
    tolerated: bool,
    /// The first thousand bad records.
    pub(crate) skipped: Vec<Skipped>,
    /// The number of bad records.
    pub count: u64,
}

impl Problems {
    /// Creates a collector without bad records.
    pub(crate) fn new(on_error: &OnError) -> Self {
        let quarantine = match on_error {
            OnError::Fail | OnError::Skip => None,
            OnError::Quarantine(quarantine) => Some(quarantine.clone()),
        };
        Self { quarantine, file: None, tolerated: *on_error != OnError::Fail, skipped: Vec::new(), count: 0 }
    }

    /// Opens the quarantine, which empties the file of an earlier run.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        if let (Some(quarantine), None) = (&self.quarantine, &self.file) {
            let opened = quarantine.open().map_err(|source| Error::Write { path: quarantine.path.clone(), source })?;
            self.file = Some(BufWriter::new(opened));
        }
        Ok(())
    }

    /// Fails if bad records are not tolerated; else counts, lists and writes the problem.
    pub(crate) fn take(&mut self, problem: Box<Problem>) -> Result<(), Error> {
        if !self.tolerated {
            return Err(Error::Record(problem));
        }
        self.count += problem.records;
        self.begin()?;
        if let (Some(Quarantine { path, .. }), Some(file)) = (&self.quarantine, &mut self.file) {
            let Problem { file: from, line, byte, record, reason, data, is_cut, .. } = &*problem;
            let mut entry = json!({
                "file": from, "line": line, "byte": byte, "record": record, "reason": reason, "data": data,
            });
            if *is_cut && data.is_some() {
                entry["cut"] = Value::Bool(true);
            }
            // Flushed each time: others may read it, and other readers add to it.
            writeln!(file, "{entry}")
                .and_then(|()| file.flush())
                .map_err(|source| Error::Write { path: path.clone(), source })?;
        }
        if self.skipped.len() < LISTED {
            let Problem { file, line, byte, record, reason, .. } = *problem;
            self.skipped.push(Skipped { file, line, byte, record, reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_where_what_and_what_to_do() {
        let problem = Problem::new("a.jsonl", "not JSON").at_line(3).at_byte(12).showing(b"{\"a\"\x1b[0m}", 0);
        assert_eq!(
            problem.to_string(),
            r#"a.jsonl, line 3, byte 12: not JSON: "{\"a\"\u{1b}[0m}"; correct it, or leave bad records out with `on_error = skip`"#
        );
    }

    #[test]
    fn an_excerpt_is_short_and_holds_the_place() {
        let mut data = vec![b'a'; 10_000];
        data[5_000] = b'!';
        let shown = excerpt(&data, 5_000);
        assert!(shown.contains('!') && shown.chars().count() <= EXCERPT, "{shown}");
        assert!(excerpt("\u{7}".repeat(100).as_bytes(), 0).chars().count() <= EXCERPT);
    }

    #[test]
    fn the_quarantine_holds_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.jsonl");
        let mut problems = Problems::new(&OnError::Quarantine(Quarantine::new(path.clone())));
        problems.take(Problem::new("a.csv", "no text").at_line(2).showing(b"1,\n", 0)).unwrap();
        let written: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(written["line"], 2);
        assert_eq!(written["data"], "1,\n");
        assert_eq!(problems.count, 1);
    }

    #[test]
    fn the_quarantine_says_of_which_records_it_has_not_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.jsonl");
        let mut problems = Problems::new(&OnError::Quarantine(Quarantine::new(path.clone())));
        let problem = || Problem::new("a.csv", "no text");
        let too_long = || Problem::too_long("a.csv", "the record", 3);
        for (problem, length, is_cut) in [
            (problem().showing("x".repeat(QUARANTINED_BYTES).as_bytes(), 0), Some(QUARANTINED_BYTES), false),
            (problem().showing("x".repeat(QUARANTINED_BYTES + 1).as_bytes(), 0), Some(QUARANTINED_BYTES), true),
            (too_long().showing(b"1,2,", 0), Some(4), true),
            (too_long(), None, false),
        ] {
            problems.take(problem).unwrap();
            let written = std::fs::read_to_string(&path).unwrap();
            let entry: Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
            assert_eq!(entry["data"].as_str().map(str::len), length);
            assert_eq!(entry.get("cut"), is_cut.then_some(&Value::Bool(true)));
        }
    }

    #[test]
    fn a_quarantine_that_cannot_be_written_is_an_error() {
        let error = Problems::new(&OnError::Quarantine(Quarantine::new("/no/such/folder/bad.jsonl".into())))
            .begin()
            .unwrap_err();
        assert!(error.to_string().starts_with("cannot write /no/such/folder/bad.jsonl"), "{error}");
    }
}
