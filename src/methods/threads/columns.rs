//! The columns that are read, and the check that they can be read.

use anyhow::{Result, bail};
use arrow::datatypes::{DataType, Schema};

use super::field::FieldOption;
use super::{Canonical, Collections, Threads};
use crate::corpus;

impl Threads {
    /// Returns the collections with the options for reading them. A column called `text` may hold anything unless an
    /// option asks for it.
    pub(super) fn reading(&self, collections: Collections) -> Collections {
        let reading = corpus::Options { text_is_optional: true, ..collections.reading };
        let is_text_read = reading.text_column.is_some() || self.columns().any(|(_, column)| column == "text");
        let text_column = if is_text_read { reading.text_column } else { Some(String::new()) };
        Collections { reading: corpus::Options { text_column, ..reading }, ..collections }
    }

    /// Returns the columns that are read, with the option that asks for each.
    fn columns(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let rule = self.groups.as_ref().and_then(Canonical::column);
        let fields = self.field.iter().flat_map(FieldOption::columns).map(|column| ("`field`", column));
        fields.chain(rule.map(|column| ("`canonical`", column)))
    }

    /// Fails if a column is missing from a table, or cannot be read as its option needs it.
    pub(super) fn check_columns(&self, table: &str, schema: &Schema) -> Result<()> {
        for (option, wanted) in self.columns() {
            let readable = match (option, &self.groups) {
                ("`field`", _) => Readable::AS_TEXT,
                (_, Some(Canonical::Votes(_))) => Readable::NUMBERS,
                _ => Readable::TIMES,
            };
            readable.check(table, schema, option, wanted)?;
        }
        Ok(())
    }
}

/// The forms of columns that an option can read, and their description.
pub(crate) struct Readable(&'static [Form], &'static str);

impl Readable {
    pub(crate) const AS_TEXT: Self = Self(
        &[Form::Text, Form::Number, Form::Time, Form::Plain],
        "text, numbers, dates or times, which are read as their text",
    );
    pub(crate) const NUMBERS: Self = Self(&[Form::Text, Form::Number], "numbers, or text that is a number");
    pub(crate) const TIMES: Self =
        Self(&[Form::Text, Form::Number, Form::Time], "dates, timestamps, numbers, or text that is one of them");

    /// Fails if the column is missing, or has none of these forms.
    pub(crate) fn check(&self, table: &str, schema: &Schema, option: &str, wanted: &str) -> Result<()> {
        let Ok(found) = schema.field_with_name(wanted) else {
            let there: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            bail!("there is no column {wanted:?} in the table {table}; its columns are {}", there.join(", "));
        };
        let Self(forms, as_what) = self;
        if !Form::of(found.data_type()).is_some_and(|form| forms.contains(&form)) {
            bail!(
                "{option} cannot read the column {wanted:?} of the table {table}, which holds {}; it reads {as_what}: \
                 name another column, or make one with ibid sql",
                found.data_type()
            );
        }
        Ok(())
    }
}

/// The form of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Number,
    /// Values with a date.
    Time,
    /// Other values that have a plain form as text.
    Plain,
}

impl Form {
    /// Returns the form of a type, `None` for a type without a plain form as text.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Time,
            DataType::Boolean | DataType::Time32(_) | DataType::Time64(_) => Self::Plain,
            DataType::Dictionary(_, values) => Self::of(values)?,
            number if number.is_numeric() => Self::Number,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::TimeUnit;

    use super::*;

    #[test]
    fn forms_are_told_by_types() {
        let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
        for (data_type, form) in [
            (DataType::Null, Some(Form::Text)),
            (dictionary(DataType::Utf8), Some(Form::Text)),
            (dictionary(DataType::Binary), None),
            (DataType::Decimal128(5, 2), Some(Form::Number)),
            (DataType::Float16, Some(Form::Number)),
            (DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), Some(Form::Time)),
            (DataType::Boolean, Some(Form::Plain)),
            (DataType::BinaryView, None),
            (DataType::Duration(TimeUnit::Second), None),
            (DataType::new_list(DataType::Utf8, true), None),
        ] {
            assert_eq!(Form::of(&data_type), form, "{data_type}");
        }
    }
}
