//! Readers, which turn the user's files into documents.
//!
//! [`open`] takes files, folders, globs and `-`, and returns [`Documents`], an iterator of Arrow batches of the table
//! `documents`: `doc_id`, `text`, and the user's other columns. Each module answers one question: which files to read
//! ([`paths`], [`archives`], [`datasets`]), how they are compressed ([`compression`], [`ahead`]) and encoded
//! ([`encoding`]), which hash their bytes have ([`inputs`]), which columns there are ([`columns`]), where the text is
//! in them ([`text_column`]), what each format contains ([`text`], [`lines`], [`html`], whose [`boilerplate`] is
//! dropped on request, [`jsonl`], [`csv`], [`parquet`], [`mediawiki`], [`tei`], [`warc`]), how rows become batches
//! ([`batch`]), whether ids are distinct ([`ids`]), and how bad records are handled ([`problem`]). Several formats
//! share [`blocks`] and [`xml`].
//!
//! * The schema is known before the first batch, so files of records are read twice: JSON lines in full, CSV, Parquet
//!   and dumps for their header, footer or head. Input that can be read only once, such as standard input, is copied to
//!   a temporary file.
//! * Memory is bounded by the batch and by the longest record, never by a file: no record is longer than
//!   `max_record_bytes`, and compressed files are read as streams, as long as they do not grow beyond `max_ratio`. Only
//!   the check of ids grows, by some bytes per id.
//! * Text is kept as given, except that HTML, TEI and wiki pages lose their markup, and a UTF-8 byte order mark is
//!   dropped. Markdown is kept unchanged. All offsets of later tables refer to this `text`.
//!
//! **Ids.** A file of records has its ids in the column `id_column`, or in `doc_id` or `id` if there is one; a dump of
//! MediaWiki has them in `title`, TEI in `xml:id`. Otherwise a record's id is its number, from 1, counting bad records;
//! with several files, `path#number`. A file that is one document has its path as id. Paths begin below the deepest
//! folder common to all inputs: for one folder, below it. The id column becomes `doc_id` and the text column `text`;
//! they are not repeated under their own names.

mod ahead;
mod archives;
mod batch;
mod blocks;
mod boilerplate;
mod columns;
mod csv;
mod datasets;
mod encoding;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod html;
mod ids;
pub(crate) mod ingest;
mod inputs;
mod jsonl;
mod lines;
mod mediawiki;
mod pages;
mod parquet;
mod paths;
mod portion;
mod problem;
mod stream;
mod tei;
mod text;
mod text_column;
mod warc;
mod xml;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Display};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{AsArray, Int64Array, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use encoding_rs::Encoding;
use ibid_udfs::LanguageChoice;
use serde_json::{Value, json};

pub(crate) use self::batch::{BATCH_BYTES, BATCH_ROWS};
use self::batch::{BatchBuilder, Cell, Row};
pub use self::boilerplate::Boilerplate;
use self::boilerplate::Cutter;
pub(crate) use self::boilerplate::Dropped;
use self::columns::{FileColumns, Roles, Union};
pub(crate) use self::columns::{Kind, UserColumn};
use self::datasets::Label;
pub use self::encoding::encoding_of;
use self::ids::{Ids, LONGEST_ID};
pub(crate) use self::inputs::{Content, Inputs};
pub(crate) use self::jsonl::{Arrival, Arrivals};
pub(crate) use self::mediawiki::LeftOut;
pub use self::mediawiki::PageFilter;
use self::paths::{Decoding, InputFile};
pub use self::paths::{Fields, Format, STDIN_FILE, refuse_result};
pub(crate) use self::paths::{PassedOver, Selection, is_name_of_file};
pub(crate) use self::portion::Portion;
pub(crate) use self::problem::{Error, LISTED, Place, Problem, Problems};
pub use self::problem::{OnError, Quarantine, Skipped};
use self::text_column::TextPlaces;
use crate::records::MOST_WINDOW;
use crate::store::Stores;

/// The largest `max_record_bytes`: a batch of such records still fits 32-bit offsets, see [`BatchBuilder`].
const MOST_RECORD_BYTES: usize = 256 << 20;

/// The options for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The column that holds the text, in files of records, or the place of the text within columns: `content.body`,
    /// `messages[].content`, `title+body`. Default: `text`.
    pub text_column: Option<String>,
    /// True if files of records may lack the default text column, and records may lack a text, which is '' then. An
    /// empty column name then means no text column, and values that are not text, such as numbers, are converted to
    /// text.
    pub text_is_optional: bool,
    /// The column that holds the id, in files of records. Default: `doc_id` or `id`, where there is one. An empty name
    /// numbers the records, whatever columns there are.
    pub id_column: Option<String>,
    /// The format of all files. Default: the format that their extensions imply.
    pub format: Option<Format>,
    /// Upper bound of the length of a line, row or document, in bytes after decompression. At most 256 MiB and a
    /// sixteenth of the memory.
    pub max_record_bytes: usize,
    /// Upper bound of the decompressed bytes per compressed byte, beyond the first 64 MiB of a file.
    pub max_ratio: u64,
    /// The encoding of text. Default: UTF-8, or the encoding that HTML and TEI declare.
    pub encoding: Option<&'static Encoding>,
    /// The separator and escape characters of CSV.
    pub fields: Fields,
    /// The language whose rules tell where sentences end. Default: the language of each text.
    pub sentence_language: LanguageChoice,
    /// The memory limit of the command, in bytes, if there is one.
    pub memory: Option<usize>,
    /// The handling of bad records. A repeated id is never tolerated.
    pub on_error: OnError,
    /// The wiki pages to read.
    pub pages: PageFilter,
    /// The fate of text beside the main content of pages of HTML.
    pub boilerplate: Boilerplate,
    /// True if `-` is standard input, which only the program ibid reads.
    pub reads_stdin: bool,
    /// The resolved paths of the outputs. No input may be one of them or lie inside one.
    pub results: Vec<PathBuf>,
}

/// The approximate memory of a record, as a multiple of its length.
const MEMORY_OF_RECORD: usize = 16;

impl Options {
    /// Returns the options that decide what is read, in readable form.
    pub(crate) fn parameters(&self) -> Value {
        json!({
            "text_column": self.text_column,
            "id_column": self.id_column,
            "format": self.format.map(|format| format!("{format:?}").to_lowercase()),
            "max_record_bytes": self.max_record_bytes,
            "max_ratio": self.max_ratio,
            "encoding": self.encoding.map(Encoding::name),
            "delimiter": self.fields.delimiter.map(char::from),
            "escape": self.fields.escape.map(char::from),
            "sentence_language": self.sentence_language.code(),
            "namespaces": self.pages.namespaces,
            "skip_redirects": self.pages.skip_redirects,
            "skip_disambiguation": self.pages.skip_disambiguation,
            "boilerplate": self.boilerplate.name(),
        })
    }

    /// Returns the memory limit of the command, at least 256 MiB. A lower limit cannot be kept.
    fn memory(&self) -> Option<usize> {
        self.memory.map(|memory| memory.max(256 << 20))
    }

    /// Fails if records may be longer than an Arrow batch can hold, or than fits into memory.
    fn check_length(&self) -> Result<(), Error> {
        let given = self.max_record_bytes;
        if given == 0 || given > MOST_RECORD_BYTES {
            return Err(Error::Input(format!("`max_record_bytes` must be from 1 to {MOST_RECORD_BYTES}, got {given}")));
        }
        let needed = given * MEMORY_OF_RECORD;
        if self.memory().is_some_and(|memory| memory < needed) {
            return Err(Error::Input(format!(
                "records of up to {given} bytes take more memory than `memory` allows; lower `max_record_bytes`, or raise \
                 `memory` to {needed}"
            )));
        }
        Ok(())
    }

    /// Returns how files are decoded.
    fn decoding(&self) -> Decoding {
        let most_window = self.memory().map_or(MOST_WINDOW, |memory| memory as u64 / 4);
        Decoding { max_ratio: self.max_ratio, most_window, encoding: self.encoding, fields: self.fields }
    }

    /// Returns the maximum number of bytes of Parquet pages in memory at once.
    fn most_pages(&self) -> u64 {
        self.memory().map_or(pages::PAGE_BYTES, |memory| memory as u64 / 4)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            text_column: None,
            text_is_optional: false,
            id_column: None,
            format: None,
            max_record_bytes: 16 << 20,
            max_ratio: 200,
            encoding: None,
            fields: Fields::default(),
            sentence_language: LanguageChoice::Detected,
            memory: None,
            on_error: OnError::Fail,
            pages: PageFilter::default(),
            boilerplate: Boilerplate::default(),
            reads_stdin: false,
            results: Vec::new(),
        }
    }
}

/// Counts and lists of what has been read so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The number of files to read.
    pub(crate) files: usize,
    /// The number of files that have been begun.
    pub(crate) files_begun: usize,
    /// The number of documents returned.
    pub(crate) documents: u64,
    /// The first thousand bad records that were left out.
    pub(crate) skipped: Vec<Skipped>,
    /// The number of bad records that were left out.
    pub(crate) skipped_count: u64,
    /// The number of wiki pages that were left out on request.
    pub(crate) left_out: LeftOutCounts,
    /// The boilerplate that was dropped from HTML pages.
    pub(crate) dropped: Dropped,
    /// The entries of folders that are not read, and why.
    pub(crate) passed_over: Vec<(PassedOver, PathBuf)>,
}

/// The numbers of wiki pages that were left out on request, each counted under the first reason that holds, and of
/// records that are not pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LeftOutCounts {
    pub(crate) namespace: u64,
    pub(crate) redirect: u64,
    pub(crate) disambiguation: u64,
    /// The number of records of web archives that are not pages of text.
    pub(crate) records: u64,
}

impl LeftOutCounts {
    pub(crate) fn pages(&self) -> u64 {
        self.namespace + self.redirect + self.disambiguation
    }

    fn add(&mut self, reason: LeftOut) {
        *match reason {
            LeftOut::Namespace => &mut self.namespace,
            LeftOut::Redirect => &mut self.redirect,
            LeftOut::Disambiguation => &mut self.disambiguation,
            LeftOut::Record => &mut self.records,
        } += 1;
    }
}

impl Display for LeftOutCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, redirect, disambiguation, records: _ } = self;
        write!(
            f,
            "{namespace} pages of other namespaces, {redirect} redirects, {disambiguation} pages of disambiguation"
        )
    }
}

/// An item that a reader yields: a row for the batch builder, a finished batch, or a page or record that is left out.
enum Item {
    Row(Row),
    LeftOut(LeftOut),
    Batch {
        batch: RecordBatch,
        /// The number of each row's record in the file.
        records: Vec<u64>,
    },
}

type Items = Box<dyn Iterator<Item = Result<Item, Box<Problem>>> + Send>;

/// The state that a reader needs about the file that it reads.
struct Context {
    file: InputFile,
    roles: Roles,
    /// The indices of the user columns in the schema, by the name that files give them.
    columns: Arc<HashMap<String, usize>>,
    schema: SchemaRef,
    limit: usize,
    most_pages: u64,
    pages: Arc<PageFilter>,
    cutter: Arc<Cutter>,
    /// The places of the text, parsed from the name of the text column.
    places: TextPlaces,
    /// True if this is the only file.
    alone: bool,
}

impl Context {
    /// Returns the id of a record that has none of its own.
    fn record_id(&self, record: u64) -> String {
        if self.alone { record.to_string() } else { format!("{}#{record}", self.file.name) }
    }

    /// Returns the row of a page, with the columns that have a value.
    fn row(
        &self,
        record: u64,
        line: Option<u64>,
        cells: impl IntoIterator<Item = (&'static str, Option<Cell>)>,
        text: String,
    ) -> Result<Row, Box<Problem>> {
        let mut id = None;
        let mut others = Vec::new();
        for (name, cell) in cells {
            let Some(cell) = cell else { continue };
            match self.columns.get(name) {
                _ if self.roles.id.as_deref() == Some(name) => id = Some(cell),
                Some(&index) => others.push((index, cell)),
                None => {}
            }
        }
        let file = &self.file.label;
        let id = match (&self.roles.id, id) {
            (None, _) => self.record_id(record),
            (Some(_), Some(Cell::Text(id))) => id,
            (Some(_), Some(Cell::Int(id))) => id.to_string(),
            (Some(column), _) => {
                let reason = format!("the id, {column:?}, is missing; an id is text or a whole number");
                return Err(Problem::new(file, reason));
            }
        };
        if id.len() > LONGEST_ID {
            return Err(Problem::long_id(file, self.roles.id.as_deref().unwrap_or_default()));
        }
        Ok(Row { record, line, id, text, others })
    }
}

/// Opens `inputs`: finds the files, reads their columns, and fails on errors that can be found before the rows are
/// read.
pub(crate) fn open(inputs: &[String], options: &Options, stores: &Arc<Stores>) -> Result<Documents, Error> {
    open_selection(select(inputs, options, stores)?, options)
}

/// Finds the files of `inputs`.
pub(crate) fn select(inputs: &[String], options: &Options, stores: &Arc<Stores>) -> Result<Selection, Error> {
    if !options.reads_stdin && inputs.iter().any(|input| input == "-") {
        return Err(Error::Input(
            "- is standard input, which only the command line of ibid reads; give files, or rows".to_owned(),
        ));
    }
    select_with_stdin(inputs, options, &mut std::io::stdin().lock(), stores)
}

/// Opens `inputs` as [`open`] does, with `stdin` for `-`.
#[cfg(any(test, fuzzing))]
pub(crate) fn open_with_stdin(
    inputs: &[String],
    options: &Options,
    stdin: &mut dyn Read,
    stores: &Arc<Stores>,
) -> Result<Documents, Error> {
    open_selection(select_with_stdin(inputs, options, stdin, stores)?, options)
}

/// Finds the files of `inputs` as [`select`] does, with `stdin` for `-`.
fn select_with_stdin(
    inputs: &[String],
    options: &Options,
    stdin: &mut dyn Read,
    stores: &Arc<Stores>,
) -> Result<Selection, Error> {
    options.check_length()?;
    paths::expand(inputs, options, stdin, stores)
}

/// Opens files that were found: reads their columns, and fails on errors that can be found before the rows are read.
pub(crate) fn open_selection(selection: Selection, options: &Options) -> Result<Documents, Error> {
    let problems = selection.take_problems(&options.on_error)?;
    let plan = Plan::make(selection, options)?;
    Ok(Documents {
        options: options.clone(),
        builder: BatchBuilder::new(Arc::clone(&plan.schema)),
        ids: (!plan.ids_are_distinct()).then(Ids::default),
        plan,
        problems,
        next_file: 0,
        items: None,
        ready: None,
        documents: 0,
        origins: None,
        left_out: LeftOutCounts::default(),
        ended: false,
    })
}

/// The files with the roles of their columns, and the schema of them all.
struct Plan {
    selection: Arc<Selection>,
    /// The roles of the columns of each file, or why the file is left out.
    roles: Vec<Result<Roles, Box<Problem>>>,
    columns: Arc<HashMap<String, usize>>,
    schema: SchemaRef,
    user: Vec<UserColumn>,
    limit: usize,
    most_pages: u64,
    pages: Arc<PageFilter>,
    cutter: Arc<Cutter>,
    /// For each file, the columns whose only value comes from the file's place in a data set, by their index in the
    /// schema.
    labels: Vec<Vec<(usize, String)>>,
}

impl Plan {
    fn make(selection: Selection, options: &Options) -> Result<Self, Error> {
        let limit = options.max_record_bytes;
        let mut union = Union::default();
        let mut roles = Vec::with_capacity(selection.files.len());
        let mut labels = Vec::with_capacity(selection.files.len());
        for file in &selection.files {
            let mut labels_of_file = Vec::new();
            let found = Self::roles(file, options, &mut union, &mut labels_of_file);
            labels.push(labels_of_file);
            roles.push(match found {
                Err(Error::Record(problem)) if options.on_error != OnError::Fail => Err(problem),
                found => Ok(found?),
            });
        }
        let (schema, columns, user) = union.finish(selection.is_portion);
        let pages = Arc::new(options.pages.clone());
        let index_of = |(name, value): Label| Some((*columns.get(&name)?, value));
        let labels = labels.into_iter().map(|labels| labels.into_iter().filter_map(index_of).collect()).collect();
        Ok(Self {
            selection: Arc::new(selection),
            roles,
            columns: Arc::new(columns),
            schema,
            user,
            limit,
            most_pages: options.most_pages(),
            pages,
            cutter: Arc::new(Cutter::new(options.boilerplate)),
            labels,
        })
    }

    /// Returns the roles of the columns of a file. Adds its other columns to `union`, and to `labels` the labels that
    /// become columns.
    fn roles(file: &InputFile, options: &Options, union: &mut Union, labels: &mut Vec<Label>) -> Result<Roles, Error> {
        let mut columns = file_columns(file, options.max_record_bytes, &options.on_error)?;
        let mut of_file = options.clone();
        let id_column = match file.format {
            Format::MediaWiki => Some(mediawiki::ID_COLUMN),
            Format::Tei => Some(tei::ID_COLUMN),
            Format::Warc => Some(warc::ID_COLUMN),
            _ => None,
        };
        if let Some(id_column) = id_column {
            // Pages always have a text, so a column name that means no text is ignored.
            if options.text_is_optional {
                of_file.text_column = options.text_column.clone().filter(|column| !column.is_empty());
            }
            check_text_of_pages(file, of_file.text_column.as_deref())?;
            of_file.id_column.get_or_insert_with(|| id_column.to_owned());
        }
        let by_record = file.format == Format::Jsonl && options.on_error != OnError::Fail;
        let found = Roles::find(&file.label, &columns, &of_file, by_record).map_err(Error::Record)?;
        for (name, value) in &file.labels {
            if !columns.has(name) && columns.add(name, Kind::Text).is_some() {
                labels.push((name.clone(), value.clone()));
            }
        }
        union.add(&file.label, &columns, &found).map_err(Error::Record)?;
        Ok(found)
    }

    /// Returns true if all ids are paths and record numbers, and therefore distinct without a check.
    fn ids_are_distinct(&self) -> bool {
        self.selection.spooled.is_empty() && self.roles.iter().flatten().all(|roles| roles.id.is_none())
    }

    fn files(&self) -> &[InputFile] {
        &self.selection.files
    }

    /// Returns the reader of a file.
    fn read(&self, index: usize) -> Items {
        let roles = match &self.roles[index] {
            Ok(roles) => roles.clone(),
            Err(problem) => return Box::new(std::iter::once(Err(problem.clone()))),
        };
        let places = TextPlaces::of(roles.text.as_deref().unwrap_or_default());
        let context = Context {
            file: self.files()[index].clone(),
            roles,
            columns: Arc::clone(&self.columns),
            schema: Arc::clone(&self.schema),
            limit: self.limit,
            most_pages: self.most_pages,
            pages: Arc::clone(&self.pages),
            cutter: Arc::clone(&self.cutter),
            places,
            alone: self.files().len() == 1 && !self.selection.is_portion,
        };
        let items: Result<Items, Box<Problem>> = match context.file.format {
            Format::Text | Format::Markdown | Format::Html => {
                return Box::new(std::iter::once_with(move || text::read(&context).map(Item::Row)));
            }
            Format::Lines => lines::rows(context).map(|rows| Box::new(rows) as Items),
            Format::Jsonl => jsonl::rows(context).map(|rows| Box::new(rows) as Items),
            Format::Csv | Format::Tsv => csv::rows(context).map(|rows| Box::new(rows) as Items),
            Format::Parquet => parquet::batches(context).map(|batches| Box::new(batches) as Items),
            Format::MediaWiki => mediawiki::rows(context).map(|rows| Box::new(rows) as Items),
            Format::Tei => tei::rows(context).map(|rows| Box::new(rows) as Items),
            Format::Warc => warc::rows(context).map(|rows| Box::new(rows) as Items),
        };
        items.unwrap_or_else(|problem| Box::new(std::iter::once(Err(problem))))
    }

    /// Returns the first place of `id` before the given record, if there is one. Reads the files again, so it is called
    /// only if the hash of an id repeats.
    fn first_place(&self, id: &str, before: (usize, u64)) -> Option<Place> {
        for index in 0..=before.0 {
            for item in self.read(index).flatten() {
                let places: Vec<_> = match &item {
                    Item::Row(row) if row.id == id => vec![(row.record, row.line)],
                    Item::Row(_) | Item::LeftOut(_) => vec![],
                    Item::Batch { batch, records } => {
                        let ids = batch.column(0).as_string::<i32>().iter();
                        ids.zip(records).filter(|(found, _)| *found == Some(id)).map(|(_, n)| (*n, None)).collect()
                    }
                };
                if let Some(&(record, line)) = places.first().filter(|(record, _)| (index, *record) < before) {
                    return Some(Place { file: self.files()[index].label.clone(), record, line });
                }
            }
        }
        None
    }
}

/// Fails if the text is to come from anywhere but the text of the pages.
fn check_text_of_pages(file: &InputFile, text_column: Option<&str>) -> Result<(), Error> {
    let what = match file.format {
        Format::Warc => "an archive of the web",
        Format::Tei => "TEI",
        _ => "a MediaWiki dump",
    };
    match text_column {
        None | Some("text") => Ok(()),
        Some(column) => Err(Error::Input(format!(
            "{}: {what} has no column {column:?}, its text is that of its documents; leave `text_column` out, or read \
             the file separately",
            file.label
        ))),
    }
}

/// Returns the columns of a file of records; no columns for a file that is one document.
///
/// Fails on a bad record if bad records are not tolerated; otherwise the record is reported when the rows are read.
fn file_columns(file: &InputFile, limit: usize, on_error: &OnError) -> Result<FileColumns, Error> {
    let tolerate = |problem| if *on_error == OnError::Fail { Err(Error::Record(problem)) } else { Ok(()) };
    let columns = match file.format {
        Format::Text | Format::Lines | Format::Markdown | Format::Html => return Ok(FileColumns::default()),
        Format::Jsonl => return jsonl::columns(file, limit, tolerate),
        Format::Csv | Format::Tsv => csv::columns(file, limit),
        // An error here concerns the whole file, and is not found again when rows are read.
        Format::Parquet => return parquet::columns(file).map_err(Error::Record),
        Format::MediaWiki => mediawiki::columns(file, limit),
        Format::Tei => tei::columns(file, limit),
        Format::Warc => warc::columns(file, limit),
    };
    columns.or_else(|problem| tolerate(problem).map(|()| FileColumns::default()))
}

/// Returns the batch with one value for all rows in each labelled column. Labels name columns by their index.
fn labelled(batch: RecordBatch, labels: &[(usize, String)]) -> Result<RecordBatch, ArrowError> {
    let (schema, mut columns, rows) = batch.into_parts();
    for (index, value) in labels {
        columns[*index] = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, rows)));
    }
    RecordBatch::try_new(schema, columns)
}

/// The places that documents come from.
struct Origins {
    made_in: PathBuf,
    /// The index of the file and the number of the record of each document that was read but not yet returned.
    rows: VecDeque<(usize, u64)>,
}

/// Returns the columns of the table that says where documents come from.
pub(crate) fn origins_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("doc_id", DataType::Utf8, false),
        Field::new("file", DataType::Utf8, true),
        Field::new("record", DataType::Int64, false),
    ]))
}

/// The documents, in batches of at most 8,192 rows or about 4 MiB of text. Ends after the first error.
pub struct Documents {
    options: Options,
    plan: Plan,
    problems: Problems,
    builder: BatchBuilder,
    /// The ids seen so far; `None` if ids are distinct by construction.
    ids: Option<Ids>,
    /// The index of the file after the one that is being read.
    next_file: usize,
    items: Option<Items>,
    /// A finished batch, returned after the rows that precede it.
    ready: Option<RecordBatch>,
    documents: u64,
    /// The places that documents come from, if they are recorded.
    origins: Option<Origins>,
    left_out: LeftOutCounts,
    ended: bool,
}

impl Documents {
    /// Returns the schema of all batches.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.plan.schema)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the columns in the order and with the names that the files have.
    pub(crate) fn user_columns(&self) -> &[UserColumn] {
        &self.plan.user
    }

    /// Starts to record where documents come from. Files in the folder `made_in` are not files of the user.
    pub(crate) fn note_origins(&mut self, made_in: PathBuf) {
        self.origins = Some(Origins { made_in, rows: VecDeque::new() });
    }

    /// Returns true if the places that documents come from are recorded.
    pub(crate) fn notes_origins(&self) -> bool {
        self.origins.is_some()
    }

    fn note_origin(&mut self, record: u64) {
        if let Some(origins) = &mut self.origins {
            origins.rows.push_back((self.next_file - 1, record));
        }
    }

    /// Returns where the documents of the batch come from that was just returned, if that is recorded: `doc_id`;
    /// `file`, an absolute path or a URL, NULL if the document does not come from a file of the user; and `record`, the
    /// number of the record in the file, from 1.
    pub(crate) fn origins(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(Origins { made_in, rows }) = &mut self.origins else { return Ok(None) };
        let rows: Vec<_> = rows.drain(..batch.num_rows()).collect();
        let mut files = StringBuilder::new();
        let mut last: Option<(usize, Option<String>)> = None;
        for (index, _) in &rows {
            if last.as_ref().is_none_or(|(known, _)| known != index) {
                last = Some((*index, self.plan.files()[*index].origin(made_in)));
            }
            files.append_option(last.as_ref().and_then(|(_, file)| file.as_deref()));
        }
        let records: Int64Array = rows.iter().map(|(_, record)| record.cast_signed()).collect();
        let columns = vec![Arc::clone(batch.column(0)), Arc::new(files.finish()) as _, Arc::new(records) as _];
        RecordBatch::try_new(origins_schema(), columns).map(Some)
    }

    /// Returns the files and options that the documents are read with.
    pub(crate) fn inputs(&self) -> Inputs {
        // The memory limit does not change the rows.
        let options = Options { memory: None, ..self.options.clone() };
        Inputs { selection: Arc::clone(&self.plan.selection), options }
    }

    /// Returns true if all ids are distinct by construction, even if other files are read elsewhere.
    pub(crate) fn makes_ids(&self) -> bool {
        self.plan.ids_are_distinct()
    }

    /// Returns the counts and lists of what has been read so far.
    pub(crate) fn summary(&self) -> Summary {
        Summary {
            files: self.plan.files().len(),
            files_begun: self.next_file,
            documents: self.documents,
            skipped: self.problems.skipped.clone(),
            skipped_count: self.problems.count,
            left_out: self.left_out,
            dropped: self.plan.cutter.counts(),
            passed_over: self.plan.selection.passed_over.clone(),
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if let Some(batch) = self.ready.take() {
            return Ok(Some(batch));
        }
        loop {
            let Some(items) = &mut self.items else {
                if self.next_file == self.plan.files().len() {
                    return if self.builder.is_empty() { Ok(None) } else { Ok(Some(self.builder.finish()?)) };
                }
                self.items = Some(self.plan.read(self.next_file));
                self.next_file += 1;
                continue;
            };
            match items.next() {
                None => self.items = None,
                Some(Err(problem)) => self.problems.take(problem)?,
                Some(Ok(Item::LeftOut(reason))) => self.left_out.add(reason),
                Some(Ok(Item::Row(mut row))) => {
                    let labels = &self.plan.labels[self.next_file - 1];
                    row.others.extend(labels.iter().map(|(index, value)| (*index, Cell::Text(value.clone()))));
                    self.check_id(&row.id, row.record, row.line)?;
                    self.note_origin(row.record);
                    self.builder.push(row)?;
                    if self.builder.is_full() {
                        return Ok(Some(self.builder.finish()?));
                    }
                }
                Some(Ok(Item::Batch { batch, records })) => {
                    let batch = labelled(batch, &self.plan.labels[self.next_file - 1])?;
                    for (id, record) in batch.column(0).as_string::<i32>().iter().zip(records) {
                        self.check_id(id.unwrap_or_default(), record, None)?;
                        self.note_origin(record);
                    }
                    if self.builder.is_empty() {
                        return Ok(Some(batch));
                    }
                    self.ready = Some(batch);
                    return Ok(Some(self.builder.finish()?));
                }
            }
        }
    }

    fn check_id(&mut self, id: &str, record: u64, line: Option<u64>) -> Result<(), Error> {
        if self.ids.as_mut().is_none_or(|ids| ids.add(id)) {
            return Ok(());
        }
        let file = self.next_file - 1;
        // If no earlier record has the id, another id has the same hash.
        match self.plan.first_place(id, (file, record)) {
            None => Ok(()),
            Some(first) => Err(Error::DuplicateId {
                id: id.to_owned(),
                first,
                second: Place { file: self.plan.files()[file].label.clone(), record, line },
            }),
        }
    }
}

impl Iterator for Documents {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_batch().transpose();
        match &next {
            Some(Ok(batch)) => self.documents += batch.num_rows() as u64,
            Some(Err(_)) | None => self.ended = true,
        }
        next
    }
}
