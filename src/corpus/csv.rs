//! CSV and TSV with a header. All columns are text; an empty field is empty text. Blank lines are passed over.
//!
//! A column without a name is called `column_3`, the second of two equal names `name_2`.
//!
//! This uses csv-core, not csv, to skip a record of any length in bounded memory: csv reads the whole record into
//! memory first, and one quote that is never closed makes the rest of the file one record.

use std::collections::{HashMap, HashSet};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::batch::{Cell, Row};
use super::columns::{FileColumns, Kind, MAX_COLUMNS};
use super::compression::Stream;
use super::ids::LONGEST_ID;
use super::paths::{Fields, Format, InputFile};
use super::problem::Problem;
use super::{Context, Item};

/// A reader of the records of a file, with the last record.
struct Records {
    file: String,
    stream: Stream,
    core: Reader,
    limit: usize,
    /// The fields one after another, and the offset at which each ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    /// The number of `ends` that belong to the record.
    count: usize,
    /// The bytes of the record in the file, and the byte and line at which it begins.
    raw: Vec<u8>,
    start: u64,
    start_line: u64,
    line: u64,
    /// The number of lines of the record.
    lines: u64,
    record: u64,
    ended: bool,
}

impl Records {
    fn open(file: &InputFile, limit: usize) -> Result<Self, Box<Problem>> {
        let Fields { delimiter, escape } = file.decoding.fields;
        let delimiter = delimiter.unwrap_or(if file.format == Format::Tsv { b'\t' } else { b',' });
        let mut core = ReaderBuilder::new();
        core.delimiter(delimiter).escape(escape).double_quote(escape.is_none());
        Ok(Self {
            file: file.label.clone(),
            stream: Stream::open(file)?,
            core: core.build(),
            limit,
            fields: vec![0; 4096],
            ends: vec![0; 64],
            count: 0,
            raw: Vec::new(),
            start: 0,
            start_line: 1,
            line: 1,
            lines: 0,
            record: 0,
            ended: false,
        })
    }

    /// Reads the next record. Returns false at the end. After a problem, reads the one after it.
    fn next(&mut self) -> Result<bool, Box<Problem>> {
        if self.ended {
            return Ok(false);
        }
        let read = self.skip_line_ends().and_then(|more| if more { self.read() } else { Ok(Read::Nothing) });
        match read {
            Err(problem) => {
                self.ended = true;
                let line = problem.line.unwrap_or(self.line);
                Err(problem.at_line(line))
            }
            Ok(Read::Nothing) => {
                self.ended = true;
                Ok(false)
            }
            Ok(Read::Record) => self.check().map(|()| true),
            Ok(Read::TooLong) => {
                let mut problem = Problem::too_long(&self.file, "the record", self.limit);
                problem.reason += &self.extent(&format!("line {}", self.start_line + self.lines - 1));
                Err(self.locate(problem.showing(&self.raw, 0), 0).remedy(
                    "look for a quote that is not closed, raise the limit with `max_record_bytes`, or leave bad \
                     records out with `on_error = skip`",
                ))
            }
            Ok(Read::TooWide) => Err(self.bad(format!("more than {MAX_COLUMNS} fields"))),
        }
    }

    /// Skips line ends, so that the position of a record is the position of its first byte. Returns false at the end of
    /// the file.
    fn skip_line_ends(&mut self) -> Result<bool, Box<Problem>> {
        loop {
            let bytes = self.stream.fill()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let n = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            let whole = n == bytes.len();
            self.line += count_lines(&bytes[..n]);
            self.stream.consume(n);
            if !whole {
                return Ok(true);
            }
        }
    }

    fn read(&mut self) -> Result<Read, Box<Problem>> {
        self.start = self.stream.offset();
        self.start_line = self.line;
        self.record += 1;
        self.raw.clear();
        self.count = 0;
        let (mut length, mut total) = (0, 0);
        let (mut too_long, mut too_wide) = (false, false);
        loop {
            let input = self.stream.fill()?;
            let at_end = input.is_empty();
            // At the end of the file, an added line end ends the last record, unless that is within quotes.
            let given = if at_end { b"\n" } else { input };
            let (result, taken, put, ends) =
                self.core.read_record(given, &mut self.fields[length..], &mut self.ends[self.count..]);
            let taken = taken.min(input.len());
            self.line += count_lines(&input[..taken]);
            if let Some(last) = input[..taken].last() {
                self.lines = self.line - self.start_line + u64::from(*last != b'\n');
            }
            let kept = taken.min((self.limit + 1).saturating_sub(self.raw.len()));
            self.raw.extend_from_slice(&input[..kept]);
            self.stream.consume(taken);
            total += taken;
            length += put;
            self.count += ends;
            too_long |= total > self.limit;
            // The output of a record that is skipped is overwritten by the next output.
            if too_long || too_wide {
                (length, self.count) = (0, 0);
            }
            match result {
                ReadRecordResult::InputEmpty if !at_end => {}
                ReadRecordResult::OutputFull if length == self.fields.len() => {
                    let doubled = self.fields.len() * 2;
                    self.fields.resize(doubled, 0);
                }
                ReadRecordResult::OutputEndsFull if self.count == self.ends.len() => {
                    if self.ends.len() > MAX_COLUMNS {
                        too_wide = true;
                    } else {
                        let doubled = self.ends.len() * 2;
                        self.ends.resize(doubled, 0);
                    }
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                _ if too_long => return Ok(Read::TooLong),
                _ if too_wide => return Ok(Read::TooWide),
                ReadRecordResult::InputEmpty => {
                    self.ended = true;
                    let reason = "a quote is opened here or further on and never closed";
                    return Err(self.bad(reason.to_owned() + &self.extent("the end of the file")));
                }
                ReadRecordResult::Record if self.count > MAX_COLUMNS => return Ok(Read::TooWide),
                ReadRecordResult::Record => return Ok(Read::Record),
                ReadRecordResult::End => return Ok(Read::Nothing),
            }
        }
    }

    fn check(&self) -> Result<(), Box<Problem>> {
        match std::str::from_utf8(&self.raw) {
            Ok(_) => Ok(()),
            Err(e) => {
                let at = e.valid_up_to();
                Err(self.locate(Problem::not_utf8(&self.file, &self.raw, at), at))
            }
        }
    }

    /// Returns the fields of the record.
    fn fields(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        // A record of valid UTF-8 has valid fields, since it is cut at ASCII bytes.
        let field = |(start, end): (usize, &usize)| std::str::from_utf8(&self.fields[start..*end]).unwrap_or_default();
        starts.zip(&self.ends[..self.count]).map(field)
    }

    /// Returns words for the number of lines of a bad record, if it has several. It is counted as one record, but there
    /// may be good ones in it.
    fn extent(&self, end: &str) -> String {
        if self.lines > 1 { format!(", and takes the {} lines up to {end}", self.lines) } else { String::new() }
    }

    fn bad(&self, reason: impl Into<String>) -> Box<Problem> {
        self.locate(Problem::new(&self.file, reason).showing(&self.raw, 0), 0)
    }

    fn locate(&self, problem: Box<Problem>, at: usize) -> Box<Problem> {
        let line = self.start_line + count_lines(&self.raw[..at]);
        problem.in_record(self.record.saturating_sub(1)).at_line(line).at_byte(self.start + at as u64)
    }
}

enum Read {
    Record,
    TooLong,
    TooWide,
    Nothing,
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b == b'\n').count() as u64
}

/// Reads the header, and returns the names of its columns, made distinct.
fn header(records: &mut Records) -> Result<Vec<String>, Box<Problem>> {
    if !records.next()? {
        return Ok(Vec::new());
    }
    let mut taken: HashSet<String> = records.fields().map(str::to_owned).collect();
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for (i, field) in records.fields().enumerate() {
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
    let mut records = Records::open(file, limit)?;
    for name in header(&mut records)? {
        // This does not fail: the reader refuses a header of too many fields, and text widens to text.
        let _ = columns.add(&name, Kind::Text);
    }
    columns.place = Some((records.start_line, records.start));
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
    let mut records = Records::open(&context.file, context.limit)?;
    let mut uses = Vec::new();
    let names = header(&mut records)?;
    for name in &names {
        uses.push(if context.roles.text.as_ref() == Some(name) {
            Use::Text
        } else if context.roles.id.as_ref() == Some(name) {
            Use::Id
        } else if let Some(&index) = context.columns.get(name) {
            Use::Other(index)
        } else {
            return Err(
                records.bad(format!("the column {name:?} was not there before: the file changes while it is read"))
            );
        });
    }
    // The indices of the fields by name, if the text is composed of fields instead of being a field itself.
    let has_text = context.roles.text.as_ref().is_none_or(|column| names.contains(column));
    let parts = if has_text { HashMap::new() } else { names.into_iter().zip(0..).collect() };
    Ok(std::iter::from_fn(move || match records.next() {
        Ok(false) => None,
        Ok(true) => Some(row(&context, &records, &uses, &parts).map(Item::Row)),
        Err(problem) => Some(Err(problem)),
    }))
}

fn row(
    context: &Context,
    records: &Records,
    uses: &[Use],
    parts: &HashMap<String, usize>,
) -> Result<Row, Box<Problem>> {
    if records.count != uses.len() {
        let (has, wants) = (records.count, uses.len());
        return Err(records.bad(format!("the record has {has} fields, the header {wants}")));
    }
    // The header is no record.
    let record = records.record - 1;
    let mut row =
        Row { record, line: Some(records.start_line), id: String::new(), text: String::new(), others: Vec::new() };
    for (field, role) in records.fields().zip(uses) {
        match role {
            Use::Text => row.text = field.to_owned(),
            Use::Id => row.id = field.to_owned(),
            Use::Other(index) => row.others.push((*index, Cell::Text(field.to_owned()))),
        }
    }
    if let Some(column) = context.roles.text.as_ref().filter(|_| !parts.is_empty()) {
        let field = |name: &str| Some(records.fields().nth(*parts.get(name)?)?.into());
        let text = context.places.text(field);
        row.text = text.map_err(|found| records.bad(format!("the text, {column:?}, is {found}")))?;
    }
    match &context.roles.id {
        None => row.id = context.record_id(record),
        Some(column) if row.id.is_empty() => return Err(records.bad(format!("the id, {column:?}, is empty"))),
        Some(column) if row.id.len() > LONGEST_ID => {
            return Err(records.locate(Problem::long_id(&records.file, column).showing(&records.raw, 0), 0));
        }
        Some(_) => {}
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
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
        let opened = "a.csv, line 3, byte 12: a quote is opened here or further on and never closed";
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

    #[test]
    fn records_agree_with_the_csv_library() {
        let data = "text,n\n\"a\"\"b\",1\nx\"y,2\n\"q\"tail,3\n , 4\r\n\"\r\n\",5\r6,7\n";
        let expected: Vec<_> =
            ::csv::Reader::from_reader(data.as_bytes()).records().map(|record| record.unwrap()[0].to_owned()).collect();
        let texts: Vec<_> =
            of(data).read(&["a.csv"], &Options::default()).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, expected);
    }
}
