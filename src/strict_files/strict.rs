//! Checks that lines are JSON records, that their numbers are numbers, and that their members have columns. Arrow's
//! reader accepts missing commas, ignores members that it does not look for, accepts a record over several lines or
//! several records in one line, and turns text into numbers.

use std::fmt;

use datafusion::arrow::datatypes::{DataType, Fields, Schema};
use datafusion::arrow::error::ArrowError;
use hashbrown::HashMap;
use memchr::memchr_iter;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::records::without_position;

/// The kind of values that are allowed, as far as the reader does not check it itself.
pub(super) enum Kind {
    Any,
    /// A number, with the name and the type of its column.
    Number(String, DataType),
    List(Box<Self>),
    Struct(Members),
}

/// The members that an object may have.
pub(super) struct Members {
    kinds: HashMap<String, Kind>,
    /// True if no other members are allowed.
    are_all: bool,
}

/// The columns that are read from records.
pub(super) struct ReadColumns<'a> {
    pub(super) columns: &'a Schema,
    /// True if they are all columns of the table.
    pub(super) are_all: bool,
    /// True if the columns of the table were found in the first records.
    pub(super) is_found: bool,
}

impl Kind {
    /// Returns the kind of the records of a table.
    pub(super) fn of_records(read: &ReadColumns) -> Self {
        let columns = read.columns.fields();
        Self::of_members(columns, read.is_found && read.are_all, read.is_found, str::to_owned)
    }

    fn of_members(members: &Fields, are_all: bool, is_found: bool, column: impl Fn(&str) -> String) -> Self {
        let kinds = members.iter().map(|member| {
            let name = member.name();
            (name.clone(), Self::of(column(name), member.data_type(), is_found))
        });
        let kinds: HashMap<_, _> = kinds.filter(|(_, kind)| are_all || !matches!(kind, Self::Any)).collect();
        if kinds.is_empty() && !are_all { Self::Any } else { Self::Struct(Members { kinds, are_all }) }
    }

    fn of(column: String, kind: &DataType, is_found: bool) -> Self {
        match kind {
            DataType::List(of) => match Self::of(column, of.data_type(), is_found) {
                Self::Any => Self::Any,
                kind => Self::List(Box::new(kind)),
            },
            DataType::Struct(members) => {
                Self::of_members(members, is_found, is_found, |name| format!("{column}.{name}"))
            }
            kind if kind.is_integer() || kind.is_floating() => Self::Number(column, kind.clone()),
            _ => Self::Any,
        }
    }

    /// Fails if one of these lines is not a record.
    pub(super) fn check(&self, lines: &[u8]) -> Result<(), ArrowError> {
        let mut begin = 0;
        for end in memchr_iter(b'\n', lines).chain([lines.len()]) {
            let line = lines.get(begin..end).unwrap_or_default();
            begin = end + 1;
            if line.trim_ascii_start().is_empty() {
                continue;
            }
            let mut json = serde_json::Deserializer::from_slice(line);
            self.deserialize(&mut json).and_then(|()| json.end()).map_err(refused)?;
        }
        Ok(())
    }
}

/// Returns the error of a bad record.
fn refused(error: serde_json::Error) -> ArrowError {
    let said = without_position(&error);
    if error.is_data() {
        ArrowError::ParseError(said)
    } else {
        ArrowError::JsonError(format!("Not valid JSON: {said}"))
    }
}

impl<'de> DeserializeSeed<'de> for &Kind {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        match self {
            Kind::Any => value.deserialize_ignored_any(IgnoredAny).map(|_| ()),
            _ => value.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for &Kind {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        match self {
            #[allow(clippy::cast_possible_truncation, reason = "that is what is looked for")]
            Kind::Number(column, DataType::Float32) if (value as f32).is_infinite() => {
                Err(E::custom(format!("the value {value:?} of column {column} is too large for Float32")))
            }
            _ => Ok(()),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        match self {
            // JSON has no literals for these numbers.
            Kind::Number(_, kind) if kind.is_floating() && matches!(text, "NaN" | "Infinity" | "-Infinity") => Ok(()),
            Kind::Number(column, kind) => Err(E::custom(format!(
                "the value {text:?} of column {column} is text, and the column is of type {kind}"
            ))),
            _ => Ok(()),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let kind = if let Kind::List(kind) = self { kind } else { &Kind::Any };
        while list.next_element_seed(kind)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(member) = members.next_key_seed(Key(self))? {
            match member {
                Ok(kind) => members.next_value_seed(kind)?,
                Err(key) if members.next_value::<Option<IgnoredAny>>()?.is_some() => {
                    return Err(A::Error::custom(format!(
                        "the member {key:?} is one that the first records do not have"
                    )));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// A reader of the key of a member, which returns the kind of its value, or the key itself if the member must not have
/// a value.
struct Key<'a>(&'a Kind);

impl<'de, 'a> DeserializeSeed<'de> for Key<'a> {
    type Value = Result<&'a Kind, String>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for Key<'a> {
    type Value = Result<&'a Kind, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        let Kind::Struct(members) = self.0 else { return Ok(Ok(&Kind::Any)) };
        Ok(match members.kinds.get(key) {
            Some(kind) => Ok(kind),
            None if members.are_all => Err(key.to_owned()),
            None => Ok(&Kind::Any),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::Field;

    use super::*;

    #[test]
    fn lines_are_records_of_json_with_numbers() {
        let of = |kind| Arc::new(Field::new("c", kind, true));
        let within = DataType::Struct(Fields::from(vec![of(DataType::Int64)]));
        let columns = Schema::new(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("x", DataType::Float64, true),
            Field::new("r", DataType::Float32, true),
            Field::new("t", DataType::Utf8, true),
            Field::new("l", DataType::List(of(within)), true),
        ]);
        let check = |columns: &Schema, lines: &str| {
            let read = ReadColumns { columns, are_all: true, is_found: false };
            Kind::of_records(&read).check(lines.as_bytes()).map_err(|error| error.to_string())
        };
        for lines in [
            "",
            "{}\n\n \r\n{\"n\":1}\r\n",
            r#"{"n":1.0,"x":1e3,"r":-0.5,"t":"\u00e9 é","l":[{"c":1},null,{}],"o":{"n":"1","m":[1,"a"]}}"#,
            r#"{"n":null,"x":"NaN","r":"-Infinity","t":1}"#,
            r#" { "n" : 123456789012345678901234567890 , "l" : [ ] } "#,
        ] {
            assert_eq!(check(&columns, lines), Ok(()), "{lines}");
        }
        for (line, says) in [
            (r#"{"n":"01"}"#, "Parser error: the value \"01\" of column n is text, and the column is of type Int64"),
            (r#"{"n":"NaN"}"#, "Parser error: the value \"NaN\" of column n is text"),
            (r#"{"x":"inf"}"#, "Parser error: the value \"inf\" of column x is text"),
            (r#"{"x":" 7 "}"#, "Parser error: the value \" 7 \" of column x is text"),
            (r#"{"l":[{"c":1},{"c":"1"}]}"#, "Parser error: the value \"1\" of column l.c is text"),
            (r#"{"r":1e39}"#, "Parser error: the value 1e39 of column r is too large for Float32"),
            (r#"{"x":1e400}"#, "Json error: Not valid JSON: number out of range"),
            (r#"{"n":1 "t":2}"#, "Json error: Not valid JSON: "),
            (r#"{"n":1,}"#, "Json error: Not valid JSON: "),
            (r#"{"n":01}"#, "Json error: Not valid JSON: "),
            (r#"{"t":1.}"#, "Json error: Not valid JSON: "),
            ("{\"t\":\"\t\"}", "Json error: Not valid JSON: "),
            (r#"{"n":1}{"n":2}"#, "Json error: Not valid JSON: "),
            (r#"{"n":1},"#, "Json error: Not valid JSON: "),
            ("{\"n\":1,\n\"t\":2}", "Json error: Not valid JSON: "),
        ] {
            let lines = format!("{{\"n\":1}}\n{line}\n{{}}");
            let said = check(&columns, &lines).unwrap_err();
            assert!(said.starts_with(says), "{line}: {said}");
            // Syntax errors are also found if no column is read.
            assert_eq!(check(&Schema::empty(), &lines).is_err(), says.starts_with("Json") && !line.contains("1e400"));
        }
    }

    #[test]
    fn members_are_those_of_the_first_records() {
        let of = |kind| Arc::new(Field::new("c", kind, true));
        let within = DataType::Struct(Fields::from(vec![of(DataType::Utf8)]));
        let columns = Schema::new(vec![
            Field::new("t", DataType::Utf8, true),
            Field::new("o", within.clone(), true),
            Field::new("l", DataType::List(of(within)), true),
        ]);
        let late = |line: &str, are_all, is_found| {
            Kind::of_records(&ReadColumns { columns: &columns, are_all, is_found }).check(line.as_bytes()).is_err()
        };
        for (line, of_record, within) in [
            (r#"{"t":"a","o":{"c":"b"},"l":[{"c":"d"},{},null]}"#, false, false),
            (r#"{"t":"a","late":null,"o":{"late":null}}"#, false, false),
            (r#"{"late":0}"#, true, false),
            (r#"{"t":{"late":1}}"#, false, false),
            (r#"{"o":{"late":[]}}"#, false, true),
            (r#"{"l":[{"c":"d"},{"late":""}]}"#, false, true),
        ] {
            assert_eq!(late(line, true, true), of_record || within, "{line}");
            assert_eq!(late(line, false, true), within, "{line}");
            assert!(!late(line, true, false), "{line}");
        }
    }
}
