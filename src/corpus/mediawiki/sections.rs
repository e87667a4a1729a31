//! The column of the sections of a page.

use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Int32Array, ListArray, StringBuilder, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::error::ArrowError;
use ibid_wikitext::Section;

/// The fields of a section.
static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
    let text = |name| Field::new(name, DataType::Utf8, false);
    let number = |name| Field::new(name, DataType::Int32, false);
    Fields::from(vec![
        text("title"),
        number("level"),
        text("kind"),
        number("char_start"),
        number("char_end"),
        number("byte_start"),
        number("byte_end"),
    ])
});

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(FIELDS.clone()), false))
}

/// Returns the type of the column.
pub(crate) fn data_type() -> DataType {
    DataType::List(item())
}

/// A builder of the column.
#[derive(Default)]
pub(crate) struct SectionsBuilder {
    /// The number of sections up to the end of each row.
    ends: Vec<i32>,
    valid: Vec<bool>,
    titles: StringBuilder,
    kinds: StringBuilder,
    /// Level, character start and end, byte start and end.
    numbers: [Vec<i32>; 5],
}

impl SectionsBuilder {
    fn end_row(&mut self, valid: bool) -> Result<(), ArrowError> {
        let end = i32::try_from(self.numbers[0].len());
        self.ends.push(end.map_err(|_| ArrowError::OffsetOverflowError(self.numbers[0].len()))?);
        self.valid.push(valid);
        Ok(())
    }

    pub(crate) fn append_nulls(&mut self, rows: usize) {
        let end = self.ends.last().copied().unwrap_or_default();
        self.ends.extend(std::iter::repeat_n(end, rows));
        self.valid.extend(std::iter::repeat_n(false, rows));
    }

    /// Adds the sections of a text.
    pub(crate) fn append(&mut self, sections: &[Section], text: &str) -> Result<(), ArrowError> {
        for section in sections {
            let Section { level, kind, chars, bytes, .. } = section;
            self.titles.append_value(section.title(text));
            self.kinds.append_value(kind.name());
            let numbers = [*level, chars[0], chars[1], bytes[0], bytes[1]];
            self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        }
        self.end_row(true)
    }

    /// Returns the column so far. The builder is empty afterwards.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let Self { ends, valid, mut titles, mut kinds, numbers } = std::mem::take(self);
        let [levels, char_starts, char_ends, byte_starts, byte_ends] =
            numbers.map(|numbers| Arc::new(Int32Array::from(numbers)) as ArrayRef);
        let columns = vec![
            Arc::new(titles.finish()) as ArrayRef,
            levels,
            Arc::new(kinds.finish()),
            char_starts,
            char_ends,
            byte_starts,
            byte_ends,
        ];
        let sections = StructArray::try_new(FIELDS.clone(), columns, None)?;
        let offsets: ScalarBuffer<i32> = std::iter::once(0).chain(ends).collect();
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        let list = ListArray::try_new(item(), OffsetBuffer::new(offsets), Arc::new(sections), nulls)?;
        Ok(Arc::new(list))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use arrow::util::pretty::pretty_format_columns;
    use ibid_wikitext::Kind;

    use super::*;

    #[test]
    fn the_column_has_lists_empty_lists_and_nulls() {
        let mut builder = SectionsBuilder::default();
        let section = |at, kind| Section { heading: 1, level: 2, kind, chars: [at, at + 1], bytes: [at, at + 3] };
        for round in 0..2 {
            builder.append_nulls(2);
            builder.append(&[section(0, Kind::Prose), section(3, Kind::Links)], "a..b..").unwrap();
            builder.append(&[], "").unwrap();
            let column = builder.finish().unwrap();
            assert_eq!(column.data_type(), &data_type());
            assert_eq!((column.len(), column.null_count()), (4, 2), "round {round}");
            assert_eq!(column.as_list::<i32>().value_length(2), 2);
            let shown = pretty_format_columns("s", &[column]).unwrap().to_string();
            let first = "{title: a, level: 2, kind: prose, char_start: 0, char_end: 1, byte_start: 0, byte_end: 3}";
            assert!(shown.contains(first) && shown.contains("{title: b, level: 2, kind: links"), "{shown}");
        }
        assert_eq!(builder.finish().unwrap().len(), 0);
    }
}
