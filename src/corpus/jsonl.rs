//! JSON lines: an object a line, blank lines apart. Of a key that stands twice in it, the last value counts.
//!
//! The columns are the union of all keys: whole numbers, floats and booleans keep their type where all values of a key
//! have it; what differs, and what is larger than 63 bits, is text, and a number of more than 64 bits a float; lists and objects
//! are JSON text.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::batch::{Cell, Row};
use super::columns::{FileColumns, ID_COLUMNS, Kind, TEXT_COLUMN};
use super::compression::{Line, Stream};
use super::paths::{Format, InputFile, STDIN};
use super::problem::Problem;
use super::{Context, Item, Options};

/// The largest whole number up to which a float holds all.
const EXACT_IN_FLOAT: u64 = 1 << 53;

/// A line.
struct Object {
    /// Lists and objects as text: as trees they would take a hundred times the memory.
    members: Map<String, Value>,
    /// What those that are text for that reason are called in an error.
    nested: HashMap<String, &'static str>,
}

impl Object {
    /// What a value that is no text is called in an error.
    fn name_of(&self, key: &str, value: &Value) -> &'static str {
        match value {
            Value::Null => "NULL",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => self.nested.get(key).copied().unwrap_or("text"),
            Value::Array(_) => LIST,
            Value::Object(_) => OBJECT,
        }
    }

    fn remove(&mut self, key: &str) -> Option<Value> {
        self.members.remove(key)
    }
}

const LIST: &str = "a list";
const OBJECT: &str = "an object";

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut object = Object { members: Map::new(), nested: HashMap::new() };
                while let Some((key, Member { value, nested })) = map.next_entry::<String, Member>()? {
                    match nested {
                        Some(name) => object.nested.insert(key.clone(), name),
                        None => object.nested.remove(&key),
                    };
                    object.members.insert(key, value);
                }
                Ok(object)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A value of a line.
struct Member {
    value: Value,
    nested: Option<&'static str>,
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Member;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }

            fn visit_unit<E: Error>(self) -> Result<Member, E> {
                Ok(plain(Value::Null))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_string<E: Error>(self, value: String) -> Result<Member, E> {
                Ok(plain(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Member, A::Error> {
                nested(SeqAccessDeserializer::new(list), LIST)
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Member, A::Error> {
                nested(MapAccessDeserializer::new(object), OBJECT)
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

fn plain(value: impl Into<Value>) -> Member {
    Member { value: value.into(), nested: None }
}

/// A list or an object, written as it is read.
fn nested<'de, D: Deserializer<'de>>(value: D, name: &'static str) -> Result<Member, D::Error> {
    let mut text = Vec::new();
    serde_transcode::transcode(value, &mut serde_json::Serializer::new(&mut text)).map_err(Error::custom)?;
    let text = String::from_utf8(text).map_err(Error::custom)?;
    Ok(Member { value: Value::String(text), nested: Some(name) })
}

/// The objects of a file, and where the last one stands.
struct Objects {
    file: String,
    stream: Stream,
    limit: usize,
    buffer: Vec<u8>,
    /// Where the record in the buffer begins.
    start: u64,
    line: u64,
    record: u64,
    ended: bool,
}

impl Objects {
    fn open(file: &InputFile, limit: usize) -> Result<Self, Box<Problem>> {
        Ok(Self::of(file, Stream::open(file)?, limit))
    }

    fn of(file: &InputFile, stream: Stream, limit: usize) -> Self {
        Self { file: file.label.clone(), stream, limit, buffer: Vec::new(), start: 0, line: 0, record: 0, ended: false }
    }

    /// The next object; after a problem, the one after it.
    fn next(&mut self) -> Result<Option<Object>, Box<Problem>> {
        while !self.ended {
            self.start = self.stream.offset();
            let read = self.stream.read_line(self.limit, &mut self.buffer);
            self.line += 1;
            match read {
                Err(problem) => {
                    self.ended = true;
                    return Err(problem.at_line(self.line));
                }
                Ok(Line::End) => self.ended = true,
                Ok(Line::Read) if self.buffer.trim_ascii().is_empty() => {}
                Ok(Line::Read) => {
                    self.record += 1;
                    return self.parse().map(Some);
                }
                Ok(Line::TooLong) => {
                    self.record += 1;
                    let problem = Problem::too_long(&self.file, "the line", self.limit);
                    return Err(self.locate(problem.showing(&self.buffer, 0), 0));
                }
            }
        }
        Ok(None)
    }

    fn parse(&self) -> Result<Object, Box<Problem>> {
        let text = std::str::from_utf8(&self.buffer).map_err(|e| {
            let at = e.valid_up_to();
            self.locate(Problem::not_utf8(&self.file, &self.buffer, at), at)
        })?;
        serde_json::from_str(text).map_err(|e| {
            let at = e.column().saturating_sub(1).min(text.len());
            let reason = e.to_string();
            // The position within the line is told as the byte of the file.
            let reason = reason.split(" at line ").next().unwrap_or_default();
            self.bad(format!("not one JSON object ({reason})"), at)
                .remedy("write one JSON object a line (jq -c . does so), or leave bad records out with --on-error skip")
        })
    }

    /// A problem of the record in the buffer, at its byte `at`.
    fn bad(&self, reason: impl Into<String>, at: usize) -> Box<Problem> {
        self.locate(Problem::new(&self.file, reason).showing(&self.buffer, at), at)
    }

    fn locate(&self, problem: Box<Problem>, at: usize) -> Box<Problem> {
        problem.in_record(self.record).at_line(self.line).at_byte(self.start + at as u64)
    }
}

/// The keys of all objects of a file, with their kinds. Problems go to `on_problem`. `None` where there are too many.
pub(crate) fn columns<E>(
    file: &InputFile,
    limit: usize,
    mut on_problem: impl FnMut(Box<Problem>) -> Result<(), E>,
) -> Result<Option<FileColumns>, E> {
    let mut columns = FileColumns::default();
    let mut objects = match Objects::open(file, limit) {
        Ok(objects) => objects,
        Err(problem) => return on_problem(problem).map(|()| Some(columns)),
    };
    loop {
        match objects.next() {
            Ok(None) => return Ok(Some(columns)),
            Ok(Some(object)) => {
                for (key, value) in &object.members {
                    if columns.add(key, kind(value)).is_none() {
                        return Ok(None);
                    }
                }
            }
            Err(problem) => on_problem(problem)?,
        }
    }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Bool,
        Value::String(_) | Value::Array(_) | Value::Object(_) => Kind::Text,
        Value::Number(n) => match n.as_i64() {
            Some(n) if n.unsigned_abs() <= EXACT_IN_FLOAT => Kind::Int,
            Some(_) => Kind::WideInt,
            None if n.is_u64() => Kind::Text,
            None => Kind::Float,
        },
    }
}

fn cell(value: Value) -> Option<Cell> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(b) => Cell::Bool(b),
        Value::String(text) => Cell::Text(text),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), _, _) => Cell::Int(n),
            (None, None, Some(n)) => Cell::Float(n),
            _ => Cell::Text(n.to_string()),
        },
        value => Cell::Text(value.to_string()),
    })
}

/// The documents of a file.
pub(crate) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut objects = Objects::open(&context.file, context.limit)?;
    Ok(std::iter::from_fn(move || {
        let next = objects.next().transpose()?;
        Some(next.and_then(|object| row(&context, &objects, object)).map(Item::Row))
    }))
}

fn row(context: &Context, objects: &Objects, mut object: Object) -> Result<Row, Box<Problem>> {
    let roles = &context.roles;
    let text = match &roles.text {
        Some(column) if !roles.text_is_optional => text_of(objects, column, &mut object)?,
        column => as_text(column.as_ref().and_then(|column| object.remove(column))),
    };
    let id = match &roles.id {
        None => context.record_id(objects.record),
        Some(column) => id_of(objects, column, &mut object)?,
    };
    let mut others = Vec::new();
    for (key, value) in object.members {
        if let Some(&index) = context.columns.get(&key) {
            others.extend(cell(value).map(|cell| (index, cell)));
        } else {
            return Err(
                objects.bad(format!("the key {key:?} was not there before: the file changes while it is read"), 0)
            );
        }
    }
    Ok(Row { record: objects.record, line: Some(objects.line), id, text, others })
}

/// A value as the text of any column.
fn as_text(value: Option<Value>) -> String {
    value.and_then(cell).map(Cell::into_text).and_then(Result::ok).unwrap_or_default()
}

/// The text of the record that was read last.
fn text_of(objects: &Objects, column: &str, object: &mut Object) -> Result<String, Box<Problem>> {
    match object.remove(column) {
        Some(Value::String(text)) if !object.nested.contains_key(column) => Ok(text),
        Some(value) => {
            let name = object.name_of(column, &value);
            Err(objects.bad(format!("the text, {column:?}, is {name}, not text"), 0))
        }
        None => Err(objects.bad(format!("the text, {column:?}, is missing"), 0)),
    }
}

/// The id of the record that was read last.
fn id_of(objects: &Objects, column: &str, object: &mut Object) -> Result<String, Box<Problem>> {
    let is_nested = object.nested.contains_key(column);
    let found = match object.remove(column) {
        Some(Value::String(id)) if !id.is_empty() && !is_nested => return Ok(id),
        Some(Value::Number(n)) if n.is_i64() || n.is_u64() => return Ok(n.to_string()),
        None => "missing",
        Some(Value::String(_)) if !is_nested => "empty",
        Some(value) => object.name_of(column, &value),
    };
    Err(objects.bad(format!("the id, {column:?}, is {found}; an id is text or a whole number of 64 bits"), 0))
}

/// A document that came as a line of JSON.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) id: String,
    pub(crate) text: String,
    /// The value of the time column, as text.
    pub(crate) time: Option<String>,
    /// The line as it came, without its end.
    pub(crate) line: Vec<u8>,
    /// Which line it is, from 1, and at which byte it begins.
    pub(crate) number: u64,
    pub(crate) byte: u64,
    /// The column that holds its id.
    pub(crate) id_column: Arc<str>,
}

/// Standard input as a file, which is read without a lock and without a buffer that others share.
fn stdin() -> io::Result<File> {
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    owned.map(File::from)
}

impl Arrival {
    /// Why it is refused.
    pub(crate) fn problem(&self, reason: String) -> Box<Problem> {
        Problem::new(STDIN, reason).showing(&self.line, 0).at_line(self.number).at_byte(self.byte)
    }
}

/// The documents that come as lines of JSON, each as soon as its line is there.
pub(crate) struct Arrivals {
    objects: Objects,
    text_column: String,
    /// The first document tells it where the user does not.
    id_column: Option<Arc<str>>,
    time_column: Option<String>,
}

impl Arrivals {
    /// The lines of standard input.
    pub(crate) fn of_stdin(options: &Options, time_column: Option<&str>) -> Result<Self, Box<Problem>> {
        let file = InputFile::stdin(Format::Jsonl);
        let opened = stdin().map_err(|e| Problem::new(STDIN, format!("cannot open it: {e}")))?;
        Ok(Self {
            objects: Objects::of(&file, Stream::of(&file, opened)?, options.max_record_bytes),
            text_column: options.text_column.clone().unwrap_or_else(|| TEXT_COLUMN.to_owned()),
            id_column: options.id_column.as_deref().map(Arc::from),
            time_column: time_column.map(str::to_owned),
        })
    }

    /// The next document; after a problem, the one after it.
    pub(crate) fn next(&mut self) -> Result<Option<Arrival>, Box<Problem>> {
        let Some(mut object) = self.objects.next()? else { return Ok(None) };
        let column = match &self.id_column {
            Some(column) => Arc::clone(column),
            None => match ID_COLUMNS.into_iter().find(|column| object.members.contains_key(*column)) {
                Some(column) => Arc::clone(self.id_column.insert(Arc::from(column))),
                None => {
                    return Err(self.objects.bad("it has no id", 0).remedy(
                        "a document of a stream needs an id of its own: give it a key \"id\", or name another one with \
                         --id-column",
                    ));
                }
            },
        };
        let id = id_of(&self.objects, &column, &mut object)?;
        let text = text_of(&self.objects, &self.text_column, &mut object)?;
        let time = self.time_column.as_ref().and_then(|column| object.remove(column)).filter(|time| !time.is_null());
        let time = time.map(|time| as_text(Some(time)));
        let line = self.objects.buffer.clone();
        Ok(Some(Arrival {
            id,
            text,
            time,
            line,
            number: self.objects.line,
            byte: self.objects.start,
            id_column: column,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::testing::{Folder, documents, skip};

    fn of(lines: &str) -> Folder {
        Folder::of(&[("a.jsonl", lines.as_bytes())])
    }

    fn table(lines: &str) -> Vec<String> {
        of(lines).table(&["a.jsonl"], &Options::default())
    }

    #[test]
    fn columns_are_the_union_of_the_keys() {
        let lines = r#"{"id": "x", "text": "one", "n": 1, "b": true}
{"text": "two", "id": 7, "f": 2.5, "n": null}

{"id": "z", "text": "three", "tags": ["p", {"q": 1}], "n": 3}"#;
        let expected = ["doc_id|text|n|b|f|tags", "x|one|1|true||", "7|two|||2.5|", r#"z|three|3|||["p",{"q":1}]"#];
        assert_eq!(table(lines), expected);
    }

    #[test]
    fn differing_values_become_text() {
        let lines = r#"{"text": "", "mixed": 1, "float": 1, "wide": 9007199254740993, "huge": 18446744073709551615}
{"text": "", "mixed": "b", "float": 1.5, "wide": 0.5, "huge": 1}"#;
        let expected =
            ["doc_id|text|mixed|float|wide|huge", "1||1|1.0|9007199254740993|18446744073709551615", "2||b|1.5|0.5|1"];
        assert_eq!(table(lines), expected);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(table(r#"{"text": "a", "text": "b"}"#), ["doc_id|text", "1|b"]);
    }

    #[test]
    fn bad_json_is_an_error_that_says_where() {
        let folder = of("{\"text\": \"a\"}\r\n\n{\"text\" \"b\"}\n");
        let error = folder.error(&["a.jsonl"], &Options::default());
        assert!(
            error.starts_with(r#"a.jsonl, line 3, byte 24: not one JSON object (expected `:`): "{\"text\" \"b\"}"; "#),
            "{error}"
        );
    }

    #[test]
    fn what_is_bad_and_why() {
        for (line, reason) in [
            (r#"["text"]"#, "not one JSON object (invalid type: sequence, expected a map)"),
            (r#"{"text": "a"} {"text": "b"}"#, "not one JSON object (trailing characters)"),
            (r#"{"text": "a""#, "not one JSON object (EOF while parsing an object)"),
            (r#"{"text": null, "id": 1}"#, "the text, \"text\", is NULL, not text"),
            (r#"{"text": 7, "id": 1}"#, "the text, \"text\", is a number, not text"),
            (r#"{"id": 1}"#, "the text, \"text\", is missing"),
            (r#"{"text": "a"}"#, "the id, \"id\", is missing"),
            (r#"{"text": "a", "id": ""}"#, "the id, \"id\", is empty"),
            (r#"{"text": "a", "id": 1.5}"#, "the id, \"id\", is a number"),
            (r#"{"text": "a", "id": 123456789012345678901234567890}"#, "the id, \"id\", is a number"),
            ("{\"text\": \"\\ud800\"}", "not one JSON object (unexpected end of hex escape)"),
        ] {
            let folder =
                of(&format!("{{\"text\": \"first\", \"id\": \"first\"}}\n{line}\n{{\"id\": 2, \"text\": \"b\"}}\n"));
            let error = folder.error(&["a.jsonl"], &Options::default());
            assert!(error.starts_with("a.jsonl, line 2, byte ") && error.contains(reason), "{line}: {error}");
            let rest = folder.read(&["a.jsonl"], &skip()).unwrap();
            assert_eq!(rest, documents(&[("first", "first"), ("2", "b")]), "{line}");
        }
    }

    #[test]
    fn a_text_that_is_optional_may_be_anything_or_be_no_text() {
        let lines = r#"{"id": "a", "text": 7}
{"id": "b", "text": [1.50, "x"]}
{"id": "c", "text": 1e3}
{"id": "d"}
{"id": "e", "text": null}"#;
        let options = Options { text_is_optional: true, ..Options::default() };
        let expected = ["doc_id|text", "a|7", r#"b|[1.5,"x"]"#, "c|1000.0", "d|", "e|"];
        assert_eq!(of(lines).table(&["a.jsonl"], &options), expected);
        let options = Options { text_column: Some(String::new()), ..options };
        let expected = ["doc_id|text|original_text", "a||7", r#"b||[1.5,"x"]"#, "c||1000.0", "d||", "e||"];
        assert_eq!(of(lines).table(&["a.jsonl"], &options), expected);
    }

    #[test]
    fn bad_bytes_are_an_error_that_says_where() {
        let folder = Folder::of(&[("a.jsonl", b"{\"text\": \"a\"}\n{\"text\": \"\xE9\"}\n")]);
        let error = folder.error(&["a.jsonl"], &Options::default());
        assert!(error.starts_with("a.jsonl, line 2, byte 24: the byte 0xE9 is not valid UTF-8"), "{error}");
        assert_eq!(folder.read(&["a.jsonl"], &skip()).unwrap(), documents(&[("1", "a")]));
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over() {
        let folder =
            of(&format!("{{\"text\": \"a\"}}\n{{\"text\": \"{}\"}}\n{{\"text\": \"b\"}}", "x".repeat(300_000)));
        let options = Options { max_record_bytes: 100, ..skip() };
        let mut documents = folder.open(&["a.jsonl"], &options).unwrap();
        assert_eq!(
            super::super::testing::pairs(&documents.next().unwrap().unwrap()),
            super::super::testing::documents(&[("1", "a"), ("3", "b")])
        );
        let summary = documents.summary();
        assert_eq!((summary.skipped_count, summary.skipped[0].line, summary.skipped[0].byte), (1, Some(2), Some(14)));
        assert_eq!(summary.skipped[0].reason, "the line is longer than 100 bytes");
    }

    #[test]
    fn deep_values_are_refused_not_followed() {
        let deep = format!("{{\"text\": \"a\", \"x\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let error = of(&deep).error(&["a.jsonl"], &Options::default());
        assert!(error.contains("recursion limit exceeded"), "{error}");
    }

    #[test]
    fn keys_that_are_data_are_refused() {
        let lines: String = (0..5_000).map(|i| format!("{{\"text\": \"\", \"k{i}\": 1}}\n")).collect();
        let error = of(&lines).error(&["a.jsonl"], &Options::default());
        assert!(error.contains("more than 4096 columns"), "{error}");
    }

    #[test]
    fn no_record_is_no_document_and_no_error() {
        for lines in ["", "\n", "\r\n\n"] {
            assert_eq!(of(lines).read(&["a.jsonl"], &Options::default()).unwrap(), []);
        }
    }
}
