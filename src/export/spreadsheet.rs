//! CSV whose text a spreadsheet does not run as formulas.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;

/// First characters of a text that a spreadsheet takes for a formula. Some spreadsheets take full-width ones, too.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Characters that some spreadsheets skip at the start of a cell, or take for its end.
const BREAKS: [char; 3] = ['\t', '\r', '\n'];

/// Puts a quote mark before a text that would be taken for a formula, also behind blanks, which some spreadsheets skip.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.starts_with(BREAKS) || text.trim_start().starts_with(FORMULAS) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Puts a quote mark before cells of text, and names of columns, that a spreadsheet would take for formulas. Numbers stay.
pub(crate) fn without_formulas(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let column = if is_text(column.data_type()) {
            let texts = cast(column, &DataType::Utf8)?;
            let quoted: StringArray = texts.as_string::<i32>().iter().map(|text| text.map(quoted)).collect();
            Arc::new(quoted) as ArrayRef
        } else {
            Arc::clone(column)
        };
        fields.push(Field::new(quoted(field.name()), column.data_type().clone(), field.is_nullable()));
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int64Array, StringViewArray};

    use super::*;

    #[test]
    fn formulas_are_quoted_and_numbers_are_not() {
        let texts =
            [Some("=1+1"), Some("＠a"), Some("\nb"), Some("-"), Some(" \u{3000}＝1"), Some("'=1"), Some(" a"), None];
        let columns: [(&str, ArrayRef); 2] = [
            ("=n", Arc::new(Int64Array::from_iter_values(-4..4))),
            ("text", Arc::new(StringViewArray::from_iter(texts))),
        ];
        let made = without_formulas(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        assert_eq!(made.schema().field(0).name(), "'=n");
        assert_eq!(made.column(0).as_ref(), &Int64Array::from_iter_values(-4..4));
        let expected = [
            Some("'=1+1"),
            Some("'＠a"),
            Some("'\nb"),
            Some("'-"),
            Some("' \u{3000}＝1"),
            Some("'=1"),
            Some(" a"),
            None,
        ];
        assert_eq!(made.column(1).as_ref(), &StringArray::from_iter(expected));
    }
}
