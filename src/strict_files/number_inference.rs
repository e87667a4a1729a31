//! The spelling of the numbers in the first rows of CSV. Values that look like numbers may be names: 007, and 12e5
//! among 4711 and 815.

use datafusion::arrow::datatypes::{DataType, Schema};

use super::fields::Fields;
use super::lossless_types::has_leading_zeros;
use crate::records::Syntax;

/// A scanner of the first rows of a file, piece by piece.
pub(super) struct Spelling {
    fields: Fields,
    row: Row,
}

struct Row {
    is_header: bool,
    /// The number of rows left to scan.
    left: usize,
    column: usize,
    columns: Vec<Numbers>,
}

/// The spelling of the numbers of a column.
#[derive(Debug, Clone, Copy, Default)]
struct Numbers {
    /// True if a number begins with superfluous zeros.
    have_leading_zeros: bool,
    /// True if a number consists of digits and one `e` among them.
    have_bare_exponents: bool,
    /// True if a number has a character that no name has, such as a point or the sign of an exponent.
    have_fractions: bool,
}

impl Spelling {
    pub(super) fn new(syntax: Syntax, has_header: bool, rows: usize) -> Self {
        let row = Row { is_header: has_header, left: rows, column: 0, columns: Vec::new() };
        Self { fields: Fields::new(syntax), row }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while self.row.left > 0
            && let Some((field, is_last)) = self.fields.next(&mut bytes)
        {
            self.row.add(field, is_last);
        }
    }

    /// Returns the columns of the file, with text in place of numbers that may be names.
    pub(super) fn correct(&mut self, columns: &Schema) -> Schema {
        // The last row may have no end.
        self.row.add(self.fields.rest(), true);
        let mut numbers = self.row.columns.iter().copied();
        let fields = columns.fields().iter().map(|field| {
            let numbers = numbers.next().unwrap_or_default();
            let field = field.as_ref().clone();
            if numbers.may_be_names(field.data_type()) { field.with_data_type(DataType::Utf8) } else { field }
        });
        Schema::new(fields.collect::<Vec<_>>())
    }
}

impl Row {
    fn add(&mut self, field: &[u8], is_last: bool) {
        if !self.is_header && self.left > 0 {
            if self.column == self.columns.len() {
                self.columns.push(Numbers::default());
            }
            self.columns[self.column].add(field);
        }
        self.column += 1;
        if is_last {
            self.column = 0;
            self.left = self.left.saturating_sub(usize::from(!self.is_header));
            self.is_header = false;
        }
    }
}

impl Numbers {
    fn add(&mut self, field: &[u8]) {
        self.have_leading_zeros |= has_leading_zeros(field);
        let is_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        let exponent = field.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let is_bare = exponent.is_some_and(|at| is_digits(&field[..at]) && is_digits(&field[at + 1..]));
        self.have_bare_exponents |= is_bare;
        self.have_fractions |= !is_bare && !is_digits(field.strip_prefix(b"-").unwrap_or(field)) && !field.is_empty();
    }

    /// Returns true if values of this type would lose characters that a name has.
    fn may_be_names(self, kind: &DataType) -> bool {
        match kind {
            DataType::Int64 => self.have_leading_zeros,
            DataType::Float64 => self.have_leading_zeros || (self.have_bare_exponents && !self.have_fractions),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::datatypes::Field;
    use datafusion::common::config::CsvOptions;

    use super::*;

    #[test]
    fn numbers_that_may_be_names_are_texts() {
        let syntax = Syntax::of_csv(&CsvOptions { delimiter: b';', comment: Some(b'#'), ..CsvOptions::default() });
        for (kind, values, expected) in [
            (DataType::Int64, "7 0 -12 10", DataType::Int64),
            (DataType::Int64, "7 007 8", DataType::Utf8),
            (DataType::Int64, "\"-01\"", DataType::Utf8),
            (DataType::Float64, "0.5 -0.25 1.10 5", DataType::Float64),
            (DataType::Float64, "0.5 00.5", DataType::Utf8),
            (DataType::Float64, "12 34e5 67", DataType::Utf8),
            (DataType::Float64, "1e16 0.5", DataType::Float64),
            (DataType::Float64, "1e+16 2E3", DataType::Float64),
            (DataType::Float64, "1e-16 2e3", DataType::Float64),
            (DataType::Float64, "inf 2e3", DataType::Float64),
            (DataType::Float64, "2e3 nan 7", DataType::Float64),
            (DataType::Float64, "-12e3 2e3", DataType::Float64),
            (DataType::Date32, "0001-01-01", DataType::Date32),
            (DataType::Utf8, "007", DataType::Utf8),
        ] {
            let columns = Schema::new(vec![Field::new("a", DataType::Utf8, true), Field::new("b", kind, true)]);
            let rows: Vec<_> = values.split(' ').map(|value| format!("\"0\n1\";{value}")).collect();
            let file = format!("# 01;02\n01;\"b\"\n{}\n# 01;02\n\n", rows.join("\r\n"));
            for length in [1, 3, file.len()] {
                let mut spelling = Spelling::new(syntax, true, rows.len());
                file.as_bytes().chunks(length).for_each(|piece| spelling.take(piece));
                spelling.take(b"a;01\n");
                assert_eq!(*spelling.correct(&columns).field(1).data_type(), expected, "{values}");
            }
        }
    }

    #[test]
    fn a_row_without_an_end_is_one() {
        let columns = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let mut spelling = Spelling::new(Syntax::of_csv(&CsvOptions::default()), false, 1_000);
        spelling.take(b"1\n007");
        assert_eq!(*spelling.correct(&columns).field(0).data_type(), DataType::Utf8);
    }
}
