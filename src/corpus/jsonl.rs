//! JSON lines: one object a line. Blank lines are skipped. If a key occurs twice in an object, the last value counts.
//!
//! The columns are the union of all keys. Whole numbers of 64 bits, floats and booleans keep their type if all values
//! of a key have it. Mixed types become text. A number that its type would not give back becomes text, too: a whole
//! number of more than 64 bits, and a fraction whose digits differ from those of the float, written with as many
//! digits. Numbers in such a column, lists and objects are text as they are written.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use arrow::datatypes::DataType;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::batch::{Cell, Row};
use super::columns::{FileColumns, ID_COLUMNS, Kind, MAX_COLUMNS, TEXT_COLUMN, too_many};
use super::ids::LONGEST_ID;
use super::paths::{Format, InputFile};
use super::problem::Problem;
use super::stream::{Record, Stream};
use super::text_column::TextPlaces;
use super::{Context, Item, Options};
use crate::records::without_position;

/// The largest whole number up to which a float holds all whole numbers exactly.
const EXACT_IN_FLOAT: u64 = 1 << 53;

/// The most digits that a float has.
const DIGITS_OF_FLOAT: usize = 767;

/// The error message of [`Members`] for too many keys.
const TOO_MANY_KEYS: &str = "too many keys";

/// A value of a line.
#[derive(Debug)]
enum Value {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    Text(String),
    /// A list as it is written. As trees, lists and objects would take a hundred times the memory.
    List(String),
    Object(String),
}

impl Value {
    /// Returns the name of the type in errors.
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(number) => kind_of_number(number),
            Self::Text(_) => Kind::Text,
            Self::List(_) | Self::Object(_) => Kind::Json,
        }
    }

    /// Returns the value as text; `None` for NULL.
    fn into_text(self) -> Option<String> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(value) => value.to_string(),
            Self::Number(text) | Self::Text(text) | Self::List(text) | Self::Object(text) => text,
        })
    }

    /// Returns the value as a cell of a column of type `of`; `None` for NULL. Fails if the value is of another type.
    fn into_cell(self, of: &DataType) -> Result<Option<Cell>, ()> {
        Ok(match (self, of) {
            (Self::Null, _) => None,
            (Self::Bool(value), DataType::Boolean) => Some(Cell::Bool(value)),
            (Self::Number(number), DataType::Int64) => Some(Cell::Int(number.parse().map_err(drop)?)),
            (Self::Number(number), DataType::Float64) => Some(Cell::Float(number.parse().map_err(drop)?)),
            (value, DataType::Utf8) => value.into_text().map(Cell::Text),
            _ => return Err(()),
        })
    }
}

/// Returns true if a number is written without a fraction and an exponent.
fn is_whole(number: &str) -> bool {
    !number.contains(['.', 'e', 'E'])
}

/// Returns the kind that preserves all digits of a number.
fn kind_of_number(number: &str) -> Kind {
    match number.parse::<i64>() {
        // A whole number has no -0.
        Ok(0) if number.starts_with('-') => Kind::Float,
        Ok(value) if value.unsigned_abs() <= EXACT_IN_FLOAT => Kind::Int,
        Ok(_) => Kind::WideInt,
        Err(_) if is_whole(number) || !is_float(number) => Kind::Text,
        Err(_) => Kind::Float,
    }
}

/// Returns true if the float of a number, written with as many digits, has the same digits.
fn is_float(number: &str) -> bool {
    let digits_of = |number: &str| {
        let digits = number.split(['e', 'E']).next().unwrap_or_default().trim_matches(['-', '0', '.']);
        digits.chars().filter(char::is_ascii_digit).collect::<String>()
    };
    let (digits, Ok(value)) = (digits_of(number), number.parse::<f64>()) else { return false };
    match digits.len() {
        0 => true,
        1..=DIGITS_OF_FLOAT => digits_of(&format!("{value:.*e}", digits.len() - 1)) == digits,
        _ => false,
    }
}

/// The object of a line.
#[derive(Debug, Default)]
struct Object {
    members: Vec<(String, Value)>,
    indices: HashMap<String, usize>,
}

impl Object {
    fn of(line: &str) -> Result<Self, serde_json::Error> {
        let Members(members) = serde_json::from_str(line)?;
        let mut object = Self::default();
        for ((key, mut value), written) in members.into_iter().zip(as_written(line)) {
            if let Value::Number(text) | Value::List(text) | Value::Object(text) = &mut value {
                written.clone_into(text);
            }
            match object.indices.get(&key) {
                Some(&index) => object.members[index].1 = value,
                None => {
                    object.indices.insert(key.clone(), object.members.len());
                    object.members.push((key, value));
                }
            }
        }
        Ok(object)
    }

    fn has(&self, key: &str) -> bool {
        self.indices.contains_key(key)
    }

    fn value(&self, key: &str) -> Option<&Value> {
        Some(&self.members[*self.indices.get(key)?].1)
    }

    /// Returns the text at some places. Fails with a description of what is there instead.
    fn text_at(&self, places: &TextPlaces) -> Result<String, String> {
        places.text(|column| {
            Some(match self.value(column)? {
                Value::Null => serde_json::Value::Null,
                Value::Bool(value) => (*value).into(),
                Value::Text(text) => text.as_str().into(),
                // This parses, because the value was read to its end before.
                Value::Number(text) | Value::List(text) | Value::Object(text) => serde_json::from_str(text).ok()?,
            })
        })
    }

    /// Takes the value of a key, and leaves NULL in its place.
    fn take(&mut self, key: &str) -> Option<Value> {
        let &index = self.indices.get(key)?;
        Some(std::mem::replace(&mut self.members[index].1, Value::Null))
    }
}

/// Returns the values of a well-formed object as they are written.
fn as_written(object: &str) -> Vec<&str> {
    let (mut values, mut start, mut depth, mut is_quoted) = (Vec::new(), 0, 0, false);
    let mut bytes = object.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if is_quoted => drop(bytes.next()),
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b':' if depth == 1 => start = at + 1,
            b',' | b'}' if depth == 1 => {
                values.push(object[start..at].trim_ascii());
                depth -= usize::from(byte == b'}');
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    values
}

/// The keys and values of a line. Values that are kept as they are written are still empty.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    if members.len() == MAX_COLUMNS {
                        return Err(A::Error::custom(TOO_MANY_KEYS));
                    }
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Map)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }

            fn visit_unit<E: Error>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Number(String::new()))
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Number(String::new()))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Number(String::new()))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_owned()))
            }

            fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
                Ok(Value::Text(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Value, A::Error> {
                check(SeqAccessDeserializer::new(list)).map(|()| Value::List(String::new()))
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Value, A::Error> {
                check(MapAccessDeserializer::new(object)).map(|()| Value::Object(String::new()))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads a list or an object to its end, to find errors in it.
fn check<'de, D: Deserializer<'de>>(value: D) -> Result<(), D::Error> {
    serde_transcode::transcode(value, &mut serde_json::Serializer::new(io::sink())).map_err(Error::custom)
}

/// A reader of the objects of a file, with the position of the last one.
struct Objects {
    file: String,
    stream: Stream,
    limit: usize,
    buffer: Vec<u8>,
    /// The byte at which the record in the buffer begins.
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

    /// Returns the next object; after a problem, the one after it.
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
                Ok(Record::End) => self.ended = true,
                Ok(Record::Read) if self.buffer.trim_ascii().is_empty() => {}
                Ok(Record::Read) => {
                    self.record += 1;
                    return self.parse().map(Some);
                }
                Ok(Record::TooLong) => {
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
        Object::of(text).map_err(|e| {
            let at = e.column().saturating_sub(1).min(text.len());
            // The error names the byte of the file instead of the position within the line.
            let reason = without_position(&e);
            if reason == TOO_MANY_KEYS {
                return self.too_many_keys("it has");
            }
            self.bad(format!("not one JSON object ({reason})"), at).remedy(
                "write one JSON object a line (jq -c . does so), or leave bad records out with `on_error = skip`",
            )
        })
    }

    /// Returns a problem of the record in the buffer, at its byte `at`.
    fn bad(&self, reason: impl Into<String>, at: usize) -> Box<Problem> {
        self.locate(Problem::new(&self.file, reason).showing(&self.buffer, at), at)
    }

    fn too_many_keys(&self, what: &str) -> Box<Problem> {
        let remedy = "keys that differ from record to record are data: move them into the value of one key, which is kept as JSON \
                      text, or leave bad records out with `on_error = skip`";
        self.locate(too_many(&self.file, what, remedy).showing(&self.buffer, 0), 0)
    }

    fn locate(&self, problem: Box<Problem>, at: usize) -> Box<Problem> {
        problem.in_record(self.record).at_line(self.line).at_byte(self.start + at as u64)
    }
}

/// The words for a record that has too many keys, together with the records before it.
const WITH_OTHERS: &str = "with its keys there are";

/// Returns the keys of all objects of a file, with their kinds. Problems go to `on_problem`.
pub(crate) fn columns<E>(
    file: &InputFile,
    limit: usize,
    mut on_problem: impl FnMut(Box<Problem>) -> Result<(), E>,
) -> Result<FileColumns, E> {
    let mut columns = FileColumns::default();
    let mut objects = match Objects::open(file, limit) {
        Ok(objects) => objects,
        Err(problem) => return on_problem(problem).map(|()| columns),
    };
    loop {
        match objects.next() {
            Ok(None) => return Ok(columns),
            Ok(Some(object)) if columns.fit(object.members.iter().map(|(key, _)| key)) => {
                for (key, value) in &object.members {
                    // This does not fail: there is room, and text holds all kinds.
                    let _ = columns.add(key, value.kind());
                }
            }
            Ok(Some(_)) => on_problem(objects.too_many_keys(WITH_OTHERS))?,
            Err(problem) => on_problem(problem)?,
        }
    }
}

/// Returns the documents of a file.
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
        Some(column) if !roles.text_is_optional => text_of(objects, column, &context.places, &mut object)?,
        Some(column) if !object.has(column) => object.text_at(&context.places).unwrap_or_default(),
        column => column.as_ref().and_then(|column| object.take(column)?.into_text()).unwrap_or_default(),
    };
    let id = match &roles.id {
        None => context.record_id(objects.record),
        Some(column) => id_of(objects, column, &mut object)?,
    };
    let changes = |what: String| objects.bad(format!("{what}: the file changes while it is read"), 0);
    let (mut others, mut unknown) = (Vec::new(), Vec::new());
    for (key, value) in object.members {
        if roles.takes(&key) {
            continue;
        }
        match context.columns.get(&key) {
            Some(&index) => {
                let cell = value.into_cell(context.schema.field(index).data_type());
                let cell =
                    cell.map_err(|()| changes(format!("the value of {key:?} is of another type than before")))?;
                others.extend(cell.map(|cell| (index, cell)));
            }
            None => unknown.push(key),
        }
    }
    if let Some(key) = unknown.first() {
        // Two of the columns may be the text and the id.
        return Err(if context.columns.len() + 2 + unknown.len() > MAX_COLUMNS {
            objects.too_many_keys(WITH_OTHERS)
        } else {
            changes(format!("the key {key:?} was not there before"))
        });
    }
    Ok(Row { record: objects.record, line: Some(objects.line), id, text, others })
}

/// Returns the text of the record that was read last.
fn text_of(objects: &Objects, column: &str, places: &TextPlaces, object: &mut Object) -> Result<String, Box<Problem>> {
    let text = match object.take(column) {
        Some(Value::Text(text)) => Ok(text),
        // A list of paragraphs.
        Some(Value::List(list)) => TextPlaces::of_column(column).text(|_| serde_json::from_str(&list).ok()),
        Some(value) => Err(format!("{}, not text", value.name())),
        None => object.text_at(places),
    };
    text.map_err(|found| objects.bad(format!("the text, {column:?}, is {found}"), 0))
}

/// Returns the id of the record that was read last.
fn id_of(objects: &Objects, column: &str, object: &mut Object) -> Result<String, Box<Problem>> {
    let found = match object.take(column) {
        Some(Value::Text(id) | Value::Number(id)) if id.len() > LONGEST_ID => {
            return Err(objects.locate(Problem::long_id(&objects.file, column).showing(&objects.buffer, 0), 0));
        }
        Some(Value::Text(id)) if !id.is_empty() => return Ok(id),
        Some(Value::Number(id)) if is_whole(&id) => return Ok(id),
        None => "missing",
        Some(Value::Text(_)) => "empty",
        Some(value) => value.name(),
    };
    Err(objects.bad(format!("the id, {column:?}, is {found}; an id is text or a whole number"), 0))
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
    /// The number of the line, from 1, and the byte at which it begins.
    pub(crate) number: u64,
    pub(crate) byte: u64,
    /// The column that holds its id.
    pub(crate) id_column: Arc<str>,
    /// The name of the source in errors.
    source: Arc<str>,
}

impl Arrival {
    /// Returns the problem of this document, with the given reason.
    pub(crate) fn problem(&self, reason: String) -> Box<Problem> {
        Problem::new(&self.source, reason).showing(&self.line, 0).at_line(self.number).at_byte(self.byte)
    }
}

/// A reader of documents that come as lines of JSON. It returns each document as soon as its line has come.
pub(crate) struct Arrivals {
    objects: Objects,
    text_column: String,
    places: TextPlaces,
    /// The id column. If the user names none, the first document determines it.
    id_column: Option<Arc<str>>,
    time_column: Option<String>,
    source: Arc<str>,
}

impl Arrivals {
    /// Returns a reader of lines. Errors name the lines `source`.
    pub(crate) fn of(
        lines: Box<dyn Read + Send>,
        source: &str,
        options: &Options,
        time_column: Option<&str>,
    ) -> Result<Self, Box<Problem>> {
        let file = InputFile { label: source.to_owned(), ..InputFile::stdin(Format::Jsonl) };
        let text_column = options.text_column.clone().unwrap_or_else(|| TEXT_COLUMN.to_owned());
        Ok(Self {
            objects: Objects::of(&file, Stream::of(&file, lines)?, options.max_record_bytes),
            places: TextPlaces::of(&text_column),
            text_column,
            id_column: options.id_column.as_deref().map(Arc::from),
            time_column: time_column.map(str::to_owned),
            source: Arc::from(source),
        })
    }

    /// Returns the next document; after a problem, the one after it.
    pub(crate) fn next(&mut self) -> Result<Option<Arrival>, Box<Problem>> {
        let Some(mut object) = self.objects.next()? else { return Ok(None) };
        let column = match &self.id_column {
            Some(column) => Arc::clone(column),
            None => match ID_COLUMNS.into_iter().find(|column| object.has(column)) {
                Some(column) => Arc::clone(self.id_column.insert(Arc::from(column))),
                None => {
                    return Err(self.objects.bad("it has no id", 0).remedy(
                        "a document of a stream needs an id of its own: give it a key \"id\", or name another one with \
                         `id_column`",
                    ));
                }
            },
        };
        let id = id_of(&self.objects, &column, &mut object)?;
        let text = text_of(&self.objects, &self.text_column, &self.places, &mut object)?;
        let time = self.time_column.as_ref().and_then(|column| object.take(column)?.into_text());
        let line = self.objects.buffer.clone();
        Ok(Some(Arrival {
            id,
            text,
            time,
            line,
            number: self.objects.line,
            byte: self.objects.start,
            id_column: column,
            source: Arc::clone(&self.source),
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
        let expected = ["doc_id|text|n|b|f|tags", "x|one|1|true||", "7|two|||2.5|", r#"z|three|3|||["p", {"q": 1}]"#];
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
    fn no_digit_of_a_number_is_lost_whatever_comes_first() {
        for (number, beside, expected) in [
            ("18446744073709551616", "1", ["18446744073709551616", "1"]),
            ("123456789012345678901234567890", "2.50", ["123456789012345678901234567890", "2.50"]),
            ("-9223372036854775808", "1", ["-9223372036854775808", "1"]),
            ("9007199254740993", "1e3", ["9007199254740993", "1e3"]),
            ("-0", "1", ["-0.0", "1.0"]),
            ("0.1", "100e-2", ["0.1", "1.0"]),
            ("0.10000000000000001", "1", ["0.1", "1.0"]),
            ("0.1000000000000000055511151231257827", "1", ["0.1", "1.0"]),
            ("0.12345678901234567", "1", ["0.12345678901234567", "1"]),
            ("1.23456789e-320", "1", ["1.23456789e-320", "1"]),
            ("0.100000000000000000000000000001", "1", ["0.100000000000000000000000000001", "1"]),
            ("1e-400", "1.0", ["1e-400", "1.0"]),
            ("100000000000000000000.0", "0e5", ["1e20", "0.0"]),
        ] {
            for order in [[0, 1], [1, 0]] {
                let line = |i: usize| format!("{{\"text\": \"\", \"n\": {}}}\n", [number, beside][order[i]]);
                let rows = table(&(line(0) + &line(1)));
                assert_eq!(rows[1..], [1, 2].map(|n| format!("{n}||{}", expected[order[n - 1]])), "{number}");
            }
        }
    }

    #[test]
    fn ids_lists_and_objects_are_as_they_are_written() {
        let line = r#"{"id": 123456789012345678901234567890, "l": [1.50, 18446744073709551616, "\"}]:,"], "o" :{"}" :[1,{}]} , "text":"a"}"#;
        let expected = r#"123456789012345678901234567890|a|[1.50, 18446744073709551616, "\"}]:,"]|{"}" :[1,{}]}"#;
        assert_eq!(table(line), ["doc_id|text|l|o", expected]);
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(table(r#"{"text": "a", "n": {}, "text": "b", "n": 2}"#), ["doc_id|text|n", "1|b|2"]);
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
            (r#"{"text": "a", "id": 1e3}"#, "the id, \"id\", is a number; an id is text or a whole number"),
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
        let expected = ["doc_id|text", "a|7", r#"b|[1.50, "x"]"#, "c|1e3", "d|", "e|"];
        assert_eq!(of(lines).table(&["a.jsonl"], &options), expected);
        let options = Options { text_column: Some(String::new()), ..options };
        let expected = ["doc_id|text|original_text", "a||7", r#"b||[1.50, "x"]"#, "c||1e3", "d||", "e||"];
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
    fn a_record_whose_keys_are_too_many_with_others_is_left_out_for_that() {
        let line = |keys: std::ops::Range<usize>| {
            let keys = keys.map(|n| format!(", \"k{n}\": 1")).collect::<String>();
            format!("{{\"text\": \"a\"{keys}}}\n")
        };
        let folder = of(&(line(0..4000) + &line(4000..4200) + &line(0..1)));
        let error = folder.error(&["a.jsonl"], &Options::default());
        let reason = "with its keys there are more than 4096 columns";
        assert!(
            error.contains(reason) && error.contains("; keys that differ from record to record are data"),
            "{error}"
        );
        let mut read = folder.open(&["a.jsonl"], &skip()).unwrap();
        let rows: usize = read.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
        let skipped = read.summary().skipped;
        assert_eq!((rows, skipped.len(), skipped[0].line, skipped[0].reason.as_str()), (2, 1, Some(2), reason));
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
        let keys: String = (0..5_000).map(|i| format!("\"k{i}\": 1, ")).collect();
        let line = format!("{{\"text\": \"\"}}\n{{{keys}\"text\": \"\"}}\n{{\"text\": \"\"}}\n");
        for (lines, place, rest) in [(lines, "line 4096, byte 101265", 4095), (line, "line 2, byte 13", 2)] {
            let folder = of(&lines);
            let error = folder.error(&["a.jsonl"], &Options::default());
            assert!(error.contains(place) && error.contains("more than 4096 columns"), "{error}");
            assert_eq!(folder.read(&["a.jsonl"], &skip()).unwrap().len(), rest);
        }
    }

    #[test]
    fn no_record_is_no_document_and_no_error() {
        for lines in ["", "\n", "\r\n\n"] {
            assert_eq!(of(lines).read(&["a.jsonl"], &Options::default()).unwrap(), []);
        }
    }
}
