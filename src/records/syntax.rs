//! The syntax of files that consist of records.

use csv_core::{Reader, ReaderBuilder, Terminator};
use datafusion::common::config::CsvOptions;

/// The syntax that determines where records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON lines: each line is a record.
    Json,
    /// A JSON array: each element is a record, and is read as a line.
    Array,
    /// Plain lines.
    Lines,
    /// CSV: each line is a row, except that line ends within quotes do not end it.
    Csv {
        quote: u8,
        escape: Option<u8>,
        /// True if two quotes within quotes stand for one.
        is_doubled: bool,
        delimiter: u8,
        /// The byte that ends a row instead of a line end.
        terminator: Option<u8>,
        /// The byte at the beginning of lines that are not rows.
        comment: Option<u8>,
    },
}

impl Syntax {
    /// Returns the syntax of a CSV file, as Arrow's reader has it.
    pub(crate) fn of_csv(options: &CsvOptions) -> Self {
        let CsvOptions { quote, escape, delimiter, terminator, comment, .. } = *options;
        Self::Csv { quote, escape, is_doubled: true, delimiter, terminator, comment }
    }

    /// Returns true if a line is a comment and not a row.
    pub(crate) fn is_comment(self, line: &[u8]) -> bool {
        matches!(self, Self::Csv { comment: Some(comment), .. } if line.first() == Some(&comment))
    }

    /// Returns a reader of the fields of CSV; of any other syntax, one of CSV as it is usually written.
    pub(crate) fn fields(self) -> Reader {
        let mut reader = ReaderBuilder::new();
        if let Self::Csv { quote, escape, is_doubled, delimiter, terminator, comment } = self {
            reader.quote(quote).escape(escape).double_quote(is_doubled).delimiter(delimiter).comment(comment);
            if let Some(terminator) = terminator {
                reader.terminator(Terminator::Any(terminator));
            }
        }
        reader.build()
    }
}
