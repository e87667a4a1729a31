//! Columns of times.

use anyhow::Result;

use super::texts;
use crate::pipeline::query::{self, Literal};
use crate::run::{Run, grouped};

/// Returns SQL that reads a column of times as seconds since 1970, in any form that the function `time_of` reads. It is
/// NULL for a value that is not a time.
pub(super) fn seconds(column: &str) -> Literal {
    Literal::column(column).within("time_of(", ")['seconds']")
}

/// Notes the forms of the documents' times, the earliest and the latest time in each form, and how many documents have
/// no readable time.
pub(super) async fn note_times(run: &mut Run, column: &str) -> Result<()> {
    run.workspace.parameters.set("timed_by", Literal::column(column));
    let rows = run.rows(query::TIMES_FORMS).await?;
    let forms = texts(rows).await?.into_iter().filter_map(|row| {
        let [form, documents, first, last] = <[String; 4]>::try_from(row).ok()?;
        let documents = grouped(documents.parse().ok()?);
        Some(match form.as_str() {
            "" => format!("{documents} without a time that can be read"),
            "seconds" => format!("{documents} numbers of seconds ({first} to {last})"),
            form => format!("{documents} {form}s ({first} to {last})"),
        })
    });
    let forms: Vec<_> = forms.collect();
    if !forms.is_empty() {
        run.note(format!("the times {column:?} are {}", forms.join(", ")));
    }
    Ok(())
}
