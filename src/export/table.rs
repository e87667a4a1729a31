//! Tables for people, printed as rows come.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use unicode_width::UnicodeWidthStr;

use crate::terminal::visible;

/// Number of rows that determine the widths of the columns.
const ROWS_MEASURED: usize = 1000;

/// Upper bound of the width of a column. Wider cells jut out.
const WIDEST: usize = 200;

/// A table that is as wide as its first rows need. Rows after them are printed as they come, so that a table of any length is
/// complete and takes the memory of its first rows; a wider cell among them juts out.
pub(crate) struct TableWriter<W> {
    to: W,
    names: Vec<String>,
    on_screen: bool,
    /// The rows that came before the widths are known.
    first: Vec<RecordBatch>,
    rows: usize,
    widths: Option<Vec<usize>>,
}

impl<W: Write> TableWriter<W> {
    /// Creates a writer. `on_screen` means that a terminal shows the table.
    pub(crate) fn new(schema: &SchemaRef, on_screen: bool, to: W) -> Self {
        let names = schema.fields().iter().map(|field| shown(field.name(), on_screen)).collect();
        Self { to, names, on_screen, first: Vec::new(), rows: 0, widths: None }
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some(widths) = &self.widths {
            return print(&mut self.to, batch, widths, self.on_screen);
        }
        let measured = (ROWS_MEASURED - self.rows).min(batch.num_rows());
        self.first.push(batch.slice(0, measured));
        self.rows += measured;
        if self.rows == ROWS_MEASURED {
            self.begin()?;
            return self.write(&batch.slice(measured, batch.num_rows() - measured));
        }
        Ok(())
    }

    /// Prints the rows so far. Later rows are printed at once.
    pub(crate) fn begin(&mut self) -> Result<()> {
        if self.widths.is_some() {
            return Ok(());
        }
        let mut widths: Vec<usize> = self.names.iter().map(|name| width(name)).collect();
        let mut cell = String::new();
        for batch in &self.first {
            let columns = formatters(batch)?;
            for row in 0..batch.num_rows() {
                for (column, widest) in columns.iter().zip(&mut widths) {
                    write_cell(&mut cell, column, row, self.on_screen)?;
                    *widest = (*widest).max(width(&cell));
                }
            }
        }
        widths.iter_mut().for_each(|width| *width = (*width).min(WIDEST));
        let line = border(&widths);
        self.to.write_all(line.as_bytes())?;
        let head: Vec<&str> = self.names.iter().map(String::as_str).collect();
        print_row(&mut self.to, &head, &widths, &mut String::new())?;
        self.to.write_all(line.as_bytes())?;
        for batch in std::mem::take(&mut self.first) {
            print(&mut self.to, &batch, &widths, self.on_screen)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    /// Ends the table.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.begin()?;
        let line = border(self.widths.as_deref().unwrap_or_default());
        self.to.write_all(line.as_bytes())?;
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.to.flush()?)
    }

    pub(crate) fn get_mut(&mut self) -> &mut W {
        &mut self.to
    }
}

fn formatters(batch: &RecordBatch) -> Result<Vec<ArrayFormatter<'_>>> {
    const OPTIONS: FormatOptions<'static> = FormatOptions::new().with_null("");
    Ok(batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &OPTIONS)).collect::<Result<_, _>>()?)
}

/// Writes the text of a value into `cell`.
fn write_cell(cell: &mut String, column: &ArrayFormatter<'_>, row: usize, on_screen: bool) -> Result<()> {
    cell.clear();
    write!(cell, "{}", column.value(row).try_to_string()?)?;
    if on_screen {
        *cell = shown(cell, true);
    }
    Ok(())
}

/// Returns a text as it is shown. On a screen, a tab would move the columns.
fn shown(text: &str, on_screen: bool) -> String {
    if on_screen { visible(text).replace('\t', "\\t") } else { text.to_owned() }
}

/// Returns the width of the widest line of a text.
fn width(text: &str) -> usize {
    text.split('\n').map(UnicodeWidthStr::width).max().unwrap_or(0)
}

fn border(widths: &[usize]) -> String {
    let mut line = String::from("+");
    for width in widths {
        line.extend(std::iter::repeat_n('-', width + 2));
        line.push('+');
    }
    if widths.is_empty() {
        line.push('+');
    }
    line.push('\n');
    line
}

fn print(to: &mut impl Write, batch: &RecordBatch, widths: &[usize], on_screen: bool) -> Result<()> {
    let columns = formatters(batch)?;
    if columns.is_empty() {
        return Ok(());
    }
    let (mut cells, mut line) = (vec![String::new(); columns.len()], String::new());
    for row in 0..batch.num_rows() {
        for (column, cell) in columns.iter().zip(&mut cells) {
            write_cell(cell, column, row, on_screen)?;
        }
        print_row(to, &cells, widths, &mut line)?;
    }
    Ok(())
}

/// Prints cells beside each other, each line of them under the one before.
fn print_row(to: &mut impl Write, cells: &[impl AsRef<str>], widths: &[usize], line: &mut String) -> Result<()> {
    let mut lines: Vec<_> = cells.iter().map(|cell| cell.as_ref().split('\n')).collect();
    let height = cells.iter().map(|cell| cell.as_ref().split('\n').count()).max().unwrap_or(0);
    for _ in 0..height {
        line.clear();
        for (lines, width) in lines.iter_mut().zip(widths) {
            let text = lines.next().unwrap_or_default();
            let padding = width.saturating_sub(text.width());
            line.push_str("| ");
            line.push_str(text);
            line.extend(std::iter::repeat_n(' ', padding + 1));
        }
        line.push_str("|\n");
        to.write_all(line.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use arrow::datatypes::Schema;
    use arrow::util::pretty::pretty_format_batches_with_options;

    use super::*;

    fn batch(texts: &[Option<&str>]) -> RecordBatch {
        let numbers: Int64Array = (0..texts.len()).map(|n| i64::try_from(n).ok()).collect();
        let columns: [(&str, ArrayRef); 2] =
            [("number", Arc::new(numbers)), ("text", Arc::new(StringArray::from(texts.to_vec())))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn table(batches: &[RecordBatch], on_screen: bool) -> String {
        let mut out = Vec::new();
        let mut writer = TableWriter::new(&batches[0].schema(), on_screen, &mut out);
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Checks tables without wider cells in later rows.
    #[test]
    fn a_table_is_as_arrow_prints_it() {
        let texts = [Some("one"), None, Some(""), Some("two\nlines, 北京"), Some("é 😀 ‏עברית"), Some("end\n")];
        let options = FormatOptions::default().with_null("");
        let without_columns = RecordBatch::new_empty(Arc::new(Schema::empty()));
        for batches in [
            vec![batch(&texts)],
            vec![batch(&texts[..2]), batch(&texts[2..])],
            vec![batch(&[])],
            vec![batch(&[Some("x"); 2500])],
            vec![batch(&[Some("x"); 999]), batch(&[Some("y")]), batch(&[None; 70])],
            vec![without_columns],
        ] {
            let expected = pretty_format_batches_with_options(&batches, &options).unwrap();
            assert_eq!(table(&batches, false), format!("{expected}\n"));
            assert_eq!(table(&batches, true), format!("{expected}\n"));
        }
    }

    #[test]
    fn what_is_wider_juts_out() {
        let wide = "w".repeat(WIDEST + 50);
        let mut texts = vec![Some("x"); ROWS_MEASURED];
        texts.push(Some("later and wider"));
        let printed = table(&[batch(&texts)], false);
        assert!(printed.ends_with("| 1000   | later and wider |\n+--------+------+\n"), "{printed}");
        let printed = table(&[batch(&[Some(&wide), Some("x")])], false);
        let lines: Vec<_> = printed.lines().map(str::len).collect();
        assert_eq!(lines[0], 1 + 9 + WIDEST + 3);
        assert_eq!((lines[3], lines[4]), (lines[0] + 50, lines[0]));
    }

    #[test]
    fn nothing_in_a_cell_commands_the_terminal() {
        let texts = batch(&[Some("a\u{1b}[2Jb"), Some("tab\tulator")]);
        let printed = table(std::slice::from_ref(&texts), true);
        assert!(printed.contains(r"| a\u{1b}[2Jb |"), "{printed}");
        assert!(printed.contains(r"| tab\tulator |"), "{printed}");
        assert!(table(&[texts], false).contains("a\u{1b}[2Jb"));
    }
}
