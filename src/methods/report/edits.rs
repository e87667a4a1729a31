//! The differences of two texts, in the form that the page reads.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::array::{Array, AsArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, Schema};

use super::texts::units;
use crate::pipeline::query;
use crate::run::Run;

/// The number of bytes of text that are compared at a time.
const BATCH: usize = 4 << 20;

/// A difference of two texts, in UTF-16 code units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edit {
    /// The number of units since the end of the difference before, which are equal in both texts.
    gap: usize,
    /// The number of units in the first text, and of the units that replace them in the second.
    pub(super) replaced: usize,
    pub(super) by: usize,
    pub(super) differs: Differs,
}

/// The properties of a difference that a reader looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Differs {
    /// True if either text has a numeric character.
    pub(super) number: bool,
    /// True if either text has a word that begins with a capital letter.
    pub(super) name: bool,
    /// True if both texts are only white space.
    pub(super) space: bool,
}

impl Differs {
    fn of(a: &str, b: &str) -> Self {
        let texts = || [a, b].into_iter();
        let is_name =
            |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(char::is_uppercase));
        Self {
            number: texts().any(|text| text.contains(char::is_numeric)),
            name: texts().any(is_name),
            space: texts().all(|text| text.trim().is_empty()),
        }
    }
}

/// Returns the differences of the texts of each pair.
pub(super) async fn edits(run: &mut Run, pairs: &[(&str, &str)]) -> Result<Vec<Vec<Edit>>> {
    let mut all = vec![Vec::new(); pairs.len()];
    let mut from = 0;
    while from < pairs.len() {
        let mut bytes = 0;
        let fits = |(a, b): &&(&str, &str)| {
            bytes += a.len() + b.len();
            bytes <= BATCH
        };
        let to = from + pairs[from..].iter().take_while(fits).count().max(1);
        compare(run, from, &pairs[from..to], &mut all).await?;
        from = to;
    }
    Ok(all)
}

async fn compare(run: &mut Run, first: usize, pairs: &[(&str, &str)], all: &mut [Vec<Edit>]) -> Result<()> {
    let numbers: Int64Array = (0..pairs.len()).map(|at| i64::try_from(first + at).ok()).collect();
    let texts = |of: fn(&(&str, &str)) -> String| -> StringArray { pairs.iter().map(|pair| Some(of(pair))).collect() };
    let (a, b) = (texts(|(a, _)| (*a).to_owned()), texts(|(_, b)| (*b).to_owned()));
    let text = |name| Field::new(name, DataType::Utf8, false);
    let schema = Schema::new(vec![Field::new("slice", DataType::Int64, true), text("text_a"), text("text_b")]);
    let slices = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers), Arc::new(a), Arc::new(b)])?;
    run.workspace.session.register_batch("slices", slices)?;
    for batch in run.rows(query::REPORT_DIFFERENCES).await?.collect().await? {
        let slices = batch.column(0).as_primitive::<Int64Type>();
        let lists = batch.column(1).as_list::<i32>();
        for row in 0..batch.num_rows() {
            let at = usize::try_from(slices.value(row))?;
            let differences = lists.value(row);
            let differences = differences.as_struct();
            let column = |name| -> Result<Int32Array> {
                let column = differences.column_by_name(name).context("differences have offsets")?;
                Ok(column.as_primitive::<Int32Type>().clone())
            };
            let columns =
                [column("byte_a_start")?, column("byte_a_end")?, column("byte_b_start")?, column("byte_b_end")?];
            let (a, b) = pairs[at - first];
            let mut end = 0;
            for difference in 0..differences.len() {
                let [a_start, a_end, b_start, b_end] =
                    [0, 1, 2, 3].map(|column: usize| usize::try_from(columns[column].value(difference)).unwrap_or(0));
                let (in_a, in_b) = (&a[a_start..a_end], &b[b_start..b_end]);
                all[at].push(Edit {
                    gap: units(&a[end..a_start]),
                    replaced: units(in_a),
                    by: units(in_b),
                    differs: Differs::of(in_a, in_b),
                });
                end = a_end;
            }
        }
    }
    run.workspace.session.deregister_table("slices")?;
    Ok(())
}

/// Writes edits in the form that the page reads: four numbers each.
pub(super) fn write_edits(to: &mut String, edits: &[Edit]) {
    to.push('[');
    for (at, edit) in edits.iter().enumerate() {
        let flags =
            u8::from(edit.differs.number) | u8::from(edit.differs.name) << 1 | u8::from(edit.differs.space) << 2;
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(to, "{comma}{},{},{},{flags}", edit.gap, edit.replaced, edit.by);
    }
    to.push(']');
}

/// A piece of a text that is equal in the other text, or that differs from it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) differs: Option<Differs>,
}

/// Splits a text into pieces, up to `most` characters, and returns true with them if they are all of it. The text is
/// the second of its pair if `is_b`.
pub(super) fn pieces<'a>(text: &'a str, edits: &[Edit], is_b: bool, most: usize) -> (Vec<Piece<'a>>, bool) {
    let (mut pieces, mut rest, mut left) = (Vec::new(), text, most);
    let mut push = |rest: &mut &'a str, units: usize, differs| {
        let mut at = 0;
        let end = rest.char_indices().find(|(_, character)| {
            let is_end = at >= units || left == 0;
            if !is_end {
                at += character.len_utf16();
                left -= 1;
            }
            is_end
        });
        let (piece, behind) = rest.split_at(end.map_or(rest.len(), |(byte, _)| byte));
        if !piece.is_empty() {
            pieces.push(Piece { text: piece, differs });
        }
        *rest = behind;
    };
    for edit in edits {
        push(&mut rest, edit.gap, None);
        push(&mut rest, if is_b { edit.by } else { edit.replaced }, Some(edit.differs));
    }
    push(&mut rest, usize::MAX, None);
    (pieces, rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Differs = Differs { number: false, name: false, space: false };

    #[test]
    fn numbers_and_names_are_told_apart() {
        assert_eq!(Differs::of("22", "forty"), Differs { number: true, ..PLAIN });
        assert_eq!(Differs::of("of Bergen", "of oslo"), Differs { name: true, ..PLAIN });
        assert_eq!(Differs::of("a", "b"), PLAIN);
        assert_eq!(Differs::of(" ", "\n "), Differs { space: true, ..PLAIN });
    }

    #[test]
    fn pieces_are_the_text() {
        let edits =
            [Edit { gap: 3, replaced: 2, by: 0, differs: PLAIN }, Edit { gap: 1, replaced: 0, by: 3, differs: PLAIN }];
        let text = |pieces: &[Piece<'_>]| pieces.iter().map(|piece| piece.text.to_owned()).collect::<Vec<_>>();
        let (a, b) = ("ab 😀 end", "ab  newend");
        assert_eq!(text(&pieces(a, &edits, false, 100).0), ["ab ", "😀", " ", "end"]);
        assert_eq!(text(&pieces(b, &edits, true, 100).0), ["ab ", " ", "new", "end"]);
        assert_eq!(pieces(a, &edits, false, 4), (pieces("ab 😀", &edits, false, 100).0, false));
        assert!(pieces(a, &edits, false, 8).1);
    }
}
