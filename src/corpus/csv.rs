//! CSV and TSV with a header. All columns are text; an empty field is empty text. Blank lines are passed over.
//!
//! A column without a name is called `column_3`, the second of two equal names `name_2`.
//!
//! The scanner of records and csv-core are used, not csv, to skip a row of any length in bounded memory: csv reads the
//! whole row into memory first, and one quote that is never closed makes the rest of the file one row.

use std::collections::{HashMap, HashSet};

use csv_core::{ReadRecordResult, Reader};

use super::batch::{Cell, Row};
use super::columns::{FileColumns, Kind, MAX_COLUMNS};
use super::ids::LONGEST_ID;
use super::paths::{Fields, Format, InputFile};
use super::problem::Problem;
use super::stream::{Record, Stream};
use super::{Context, Item};
use crate::records::{Records, Syntax, lines};

/// A reader of the rows of a file, with the last row.
struct Rows {
    file: String,
    stream: Stream,
    records: Records,
    /// The byte of the file at which the scanner of records begins.
    base: u64,
    core: Reader,
    limit: usize,
    /// The fields one after another, and the offset at which each ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// The number of `ends` that belong to the row.
    count: usize,
    /// The bytes of the row in the file, and the byte and line at which it begins.
    raw: Vec<u8>,
    start: u64,
    start_line: u64,
    record: u64,
    ended: bool,
}

impl Rows {
    fn open(file: &InputFile, limit: usize) -> Result<Self, Box<Problem>> {
        let Fields { delimiter, escape } = file.decoding.fields;
        let delimiter = delimiter.unwrap_or(if file.format == Format::Tsv { b'\t' } else { b',' });
        let is_doubled = escape.is_none();
        let syntax = Syntax::Csv { quote: b'"', escape, is_doubled, delimiter, terminator: None, comment: None };
        let stream = Stream::open(file)?;
        Ok(Self {
            file: file.label.clone(),
            base: stream.offset(),
            stream,
            records: Records::of_any_length(syntax),
            core: syntax.fields(),
            limit,
            fields: vec![0; 4096],
            ends: vec![0; 64],
            count: 0,
            raw: Vec::new(),
            start: 0,
            start_line: 1,
            record: 0,
            ended: false,
        })
    }

    /// Reads the next row. Returns false at the end. After a problem, reads the one after it.
    fn next(&mut self) -> Result<bool, Box<Problem>> {
        while !self.ended {
            (self.start, self.start_line) = (self.stream.offset(), self.records.lines + 1);
            let read = self.stream.read_record(&mut self.records, self.limit, &mut self.raw);
            match read {
                Err(problem) => {
                    self.ended = true;
                    return Err(problem.at_line(self.records.line()));
                }
                Ok(Record::End) => self.ended = true,
                // Line ends before a row, so that the position of a row is that of its first byte.
                Ok(Record::Read) if matches!(self.raw[..], [b'\r' | b'\n']) => {}
                Ok(read) => {
                    self.record += 1;
                    return if read == Record::TooLong { Err(self.too_long()) } else { self.check().map(|()| true) };
                }
            }
        }
        Ok(false)
    }

    /// Returns the problem of a row over the limit.
    fn too_long(&self) -> Box<Problem> {
        let mut problem = Problem::too_long(&self.file, "the record", self.limit);
        let last = self.records.last_line();
        problem.reason += &extent(self.start_line, last, &format!("line {last}"));
        self.locate(problem.showing(&self.raw, 0), 0).remedy(
            "look for a quote that is not closed, raise the limit with `max_record_bytes`, or leave bad records out with \
             `on_error = skip`",
        )
    }

    /// Splits the row into fields. Fails if it is bad.
    fn check(&mut self) -> Result<(), Box<Problem>> {
        if let Some(quote) = self.records.open_quote() {
            let lines = extent(quote.lines + 1, self.records.last_line(), "the end of the file");
            let at = usize::try_from(self.base + quote.byte - self.start).unwrap_or_default();
            return Err(self.bad_at(format!("the quote that opens here is never closed{lines}"), at));
        }
        if let Err(error) = str::from_utf8(&self.raw) {
            let at = error.valid_up_to();
            return Err(self.locate(Problem::not_utf8(&self.file, &self.raw, at), at));
        }
        if self.split() { Ok(()) } else { Err(self.bad(format!("more than {MAX_COLUMNS} fields"))) }
    }

    /// Splits the row into fields. Returns false if they are more than [`MAX_COLUMNS`].
    fn split(&mut self) -> bool {
        let (mut at, mut length, mut is_too_wide) = (0, 0, false);
        self.count = 0;
        loop {
            // At the end of the file, an added line end ends the last row.
            let rest = self.raw.get(at..).filter(|rest| !rest.is_empty()).unwrap_or(b"\n");
            let (result, taken, put, ends) =
                self.core.read_record(rest, &mut self.fields[length..], &mut self.ends[self.count..]);
            (at, length, self.count) = (at + taken, length + put, self.count + ends);
            match result {
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() > MAX_COLUMNS => {
                    // The fields of a row that is refused overwrite one another.
                    (length, self.count, is_too_wide) = (0, 0, true);
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => return !is_too_wide && self.count <= MAX_COLUMNS,
            }
        }
    }

    /// Returns the fields of the row.
    fn fields(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        // A row of valid UTF-8 has valid fields, since it is cut at ASCII bytes.
        let field = |(start, end): (usize, &usize)| str::from_utf8(&self.fields[start..*end]).unwrap_or_default();
        starts.zip(&self.ends[..self.count]).map(field)
    }

    fn bad(&self, reason: impl Into<String>) -> Box<Problem> {
        self.bad_at(reason, 0)
    }

    fn bad_at(&self, reason: impl Into<String>, at: usize) -> Box<Problem> {
        self.locate(Problem::new(&self.file, reason).showing(&self.raw, at), at)
    }

    fn locate(&self, problem: Box<Problem>, at: usize) -> Box<Problem> {
        let line = self.start_line + lines(&self.raw[..at]);
        problem.in_record(self.record.saturating_sub(1)).at_line(line).at_byte(self.start + at as u64)
    }
}

/// Returns words for the number of lines of something bad, if it has several. It is counted as one record, but there may
/// be good ones in it.
fn extent(first: u64, last: u64, end: &str) -> String {
    let lines = (last + 1).saturating_sub(first);
    if lines > 1 { format!(", and takes the {lines} lines up to {end}") } else { String::new() }
}

/// Reads the header, and returns the names of its columns, made distinct.
fn header(rows: &mut Rows) -> Result<Vec<String>, Box<Problem>> {
    if !rows.next()? {
        return Ok(Vec::new());
    }
    let mut taken: HashSet<String> = rows.fields().map(str::to_owned).collect();
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for (i, field) in rows.fields().enumerate() {
        let wanted = if field.is_empty() { format!("column_{}", i + 1) } else { field.to_owned() };
        let mut name = wanted.clone();
        let mut n = 2;
        while seen.contains(&name) || (name != field && taken.contains(&name)) {
            name = format!("{wanted}_{n}");
            n += 1;
        }
        taken.insert(name.clone());
        seen.insert(name.clone());
        names.push(name);
    }
    Ok(names)
}

/// Returns the columns that the header names.
pub(crate) fn columns(file: &InputFile, limit: usize) -> Result<FileColumns, Box<Problem>> {
    let mut columns = FileColumns::default();
    let mut rows = Rows::open(file, limit)?;
    for name in header(&mut rows)? {
        // This does not fail: the reader refuses a header of too many fields, and text widens to text.
        let _ = columns.add(&name, Kind::Text);
    }
    columns.place = Some((rows.start_line, rows.start));
    Ok(columns)
}

/// The role of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Text,
    Id,
    Other(usize),
}

/// Returns the documents of a file.
pub(crate) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut rows = Rows::open(&context.file, context.limit)?;
    let mut uses = Vec::new();
    let names = header(&mut rows)?;
    for name in &names {
        uses.push(if context.roles.text.as_ref() == Some(name) {
            Use::Text
        } else if context.roles.id.as_ref() == Some(name) {
            Use::Id
        } else if let Some(&index) = context.columns.get(name) {
            Use::Other(index)
        } else {
            return Err(
                rows.bad(format!("the column {name:?} was not there before: the file changes while it is read"))
            );
        });
    }
    // The indices of the fields by name, if the text is composed of fields instead of being a field itself.
    let has_text = context.roles.text.as_ref().is_none_or(|column| names.contains(column));
    let parts = if has_text { HashMap::new() } else { names.into_iter().zip(0..).collect() };
    Ok(std::iter::from_fn(move || match rows.next() {
        Ok(false) => None,
        Ok(true) => Some(row(&context, &rows, &uses, &parts).map(Item::Row)),
        Err(problem) => Some(Err(problem)),
    }))
}

fn row(context: &Context, rows: &Rows, uses: &[Use], parts: &HashMap<String, usize>) -> Result<Row, Box<Problem>> {
    if rows.count != uses.len() {
        let (has, wants) = (rows.count, uses.len());
        return Err(rows.bad(format!("the record has {has} fields, the header {wants}")));
    }
    // The header is no record.
    let record = rows.record - 1;
    let mut row =
        Row { record, line: Some(rows.start_line), id: String::new(), text: String::new(), others: Vec::new() };
    for (field, role) in rows.fields().zip(uses) {
        match role {
            Use::Text => row.text = field.to_owned(),
            Use::Id => row.id = field.to_owned(),
            Use::Other(index) => row.others.push((*index, Cell::Text(field.to_owned()))),
        }
    }
    if let Some(column) = context.roles.text.as_ref().filter(|_| !parts.is_empty()) {
        let field = |name: &str| Some(rows.fields().nth(*parts.get(name)?)?.into());
        let text = context.places.text(field);
        row.text = text.map_err(|found| rows.bad(format!("the text, {column:?}, is {found}")))?;
    }
    match &context.roles.id {
        None => row.id = context.record_id(record),
        Some(column) if row.id.is_empty() => return Err(rows.bad(format!("the id, {column:?}, is empty"))),
        Some(column) if row.id.len() > LONGEST_ID => {
            return Err(rows.locate(Problem::long_id(&rows.file, column).showing(&rows.raw, 0), 0));
        }
        Some(_) => {}
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Options;
    use super::super::testing::{Folder, documents, skip};

    fn of(data: &str) -> Folder {
        Folder::of(&[("a.csv", data.as_bytes())])
    }

    #[test]
    fn quotes_line_ends_and_other_columns() {
        let data = "\u{FEFF}id,text,note\r\nx,\"one, \"\"1\"\"\r\nmore\",n\r\n\r\ny,two,\r\n";
        let batch = of(data).batch(&["a.csv"], &Options::default()).unwrap();
        assert_eq!(super::super::testing::pairs(&batch), documents(&[("x", "one, \"1\"\r\nmore"), ("y", "two")]));
        assert_eq!(of("text,id,n\na,1,x\n").table(&["a.csv"], &Options::default()), ["doc_id|text|n", "1|a|x"]);
    }

    #[test]
    fn tabs_separate_tsv() {
        let folder = Folder::of(&[("a.tsv", b"text\tn\na,b\t1\n")]);
        assert_eq!(folder.table(&["a.tsv"], &Options::default()), ["doc_id|text|n", "1|a,b|1"]);
    }

    #[test]
    fn places_are_right_behind_quoted_line_ends() {
        let folder = of("id,text\n1,\"a\nb\nc\"\n\n2,d,e\n3,f\n");
        let error = folder.error(&["a.csv"], &Options::default());
        let reason = "the record has 3 fields, the header 2: \"2,d,e\\n\"";
        assert!(error.starts_with(&format!("a.csv, line 6, byte 19: {reason}")), "{error}");
        assert_eq!(folder.read(&["a.csv"], &skip()).unwrap(), documents(&[("1", "a\nb\nc"), ("3", "f")]));
    }

    #[test]
    fn bad_bytes_are_an_error_that_says_where() {
        let folder = Folder::of(&[("a.csv", b"id,text\n1,\"a\n\xE9\"\n2,b\n")]);
        let error = folder.error(&["a.csv"], &Options::default());
        assert!(error.starts_with("a.csv, line 3, byte 13: the byte 0xE9 is not valid UTF-8"), "{error}");
        assert_eq!(folder.read(&["a.csv"], &skip()).unwrap(), documents(&[("2", "b")]));
    }

    #[test]
    fn an_empty_text_is_a_document_and_an_empty_id_is_not() {
        let folder = of("id,text\n1,\n,b\n");
        assert!(folder.error(&["a.csv"], &Options::default()).contains("line 3, byte 11: the id, \"id\", is empty"));
        assert_eq!(folder.read(&["a.csv"], &skip()).unwrap(), documents(&[("1", "")]));
    }

    #[test]
    fn a_record_over_the_limit_is_passed_over_in_bounded_memory() {
        let folder = of(&format!("id,text\n1,a\n2,\"{}\"\n3,c\n", "x\n".repeat(200_000)));
        let options = Options { max_record_bytes: 100, ..skip() };
        assert_eq!(folder.read(&["a.csv"], &options).unwrap(), documents(&[("1", "a"), ("3", "c")]));
        let error = folder.error(&["a.csv"], &Options { max_record_bytes: 100, ..Options::default() });
        let reason = "the record is longer than 100 bytes, and takes the 200001 lines up to line 200003: ";
        assert!(error.starts_with(&format!("a.csv, line 3, byte 12: {reason}")), "{error}");
        let wide = of(&format!("id,text\n1,a\n{}\n3,c\n", ",".repeat(20_000)));
        assert_eq!(wide.read(&["a.csv"], &skip()).unwrap(), documents(&[("1", "a"), ("3", "c")]));
        assert!(wide.error(&["a.csv"], &Options::default()).contains("line 3, byte 12: more than 4096 fields"));
    }

    #[test]
    fn an_open_quote_is_an_error() {
        let opened = "a.csv, line 3, byte 14: the quote that opens here is never closed";
        for (rest, lines) in [
            ("b and the rest", ""),
            ("b\n", ""),
            ("b\r\n3,c", ", and takes the 2 lines up to the end of the file"),
            ("b\n3,c\n", ", and takes the 2 lines up to the end of the file"),
            ("b\n".repeat(70_000).as_str(), ", and takes the 70000 lines up to the end of the file"),
        ] {
            let error = of(&format!("id,text\n1,a\n2,\"{rest}")).error(&["a.csv"], &Options::default());
            assert!(error.starts_with(&format!("{opened}{lines}: \"2,")), "{error}");
        }
        assert_eq!(of("id,text\n1,\"a\"").read(&["a.csv"], &Options::default()).unwrap(), documents(&[("1", "a")]));
        assert_eq!(of("id,text\n1,5\" pipe").read(&["a.csv"], &Options::default()).unwrap().len(), 1);
    }

    #[test]
    fn names_are_made_distinct() {
        let header = of("text,,a,a,a_2\n1,2,3,4,5\n").table(&["a.csv"], &Options::default());
        assert_eq!(header[0], "doc_id|text|column_2|a|a_3|a_2");
    }

    #[test]
    fn a_header_alone_or_nothing_is_no_document() {
        for data in ["", "\n", "id,text", "id,text\n"] {
            assert_eq!(of(data).read(&["a.csv"], &Options::default()).unwrap(), []);
        }
    }

    /// Returns the texts that the csv library reads, or `None` if the rows have no equal numbers of fields.
    fn texts_of_library(data: &str) -> Option<Vec<String>> {
        let mut reader = ::csv::Reader::from_reader(data.as_bytes());
        reader.records().map(|record| Some(record.ok()?[0].to_owned())).collect()
    }

    fn texts(data: &str) -> Option<Vec<String>> {
        let read = of(data).read(&["a.csv"], &Options::default()).ok()?;
        Some(read.into_iter().map(|(_, text)| text).collect())
    }

    #[test]
    fn records_agree_with_the_csv_library() {
        let data = "text,n\n\"a\"\"b\",1\nx\"y,2\n\"q\"tail,3\n , 4\r\n\"\r\n\",5\r6,7\n";
        assert!(texts(data).is_some());
        assert_eq!(texts(data), texts_of_library(data));
    }

    proptest! {
        #[test]
        fn any_records_agree_with_the_csv_library(rows in "[a,\"\n\r]{0,40}") {
            for rows in [format!("text\n{rows}"), format!("text,n\n{}\n", rows.replace('\n', ",1\n"))] {
                // The library takes a quote that is never closed as closed at the end.
                if let Some(texts) = texts(&rows) {
                    prop_assert_eq!(Some(texts), texts_of_library(&rows), "{:?}", rows);
                } else {
                    let closed = texts_of_library(&rows).and_then(|read| Some((read, texts(&(rows.clone() + "\""))?)));
                    prop_assert!(closed.is_none_or(|(read, texts)| read == texts), "{:?}", rows);
                }
            }
        }
    }
}
