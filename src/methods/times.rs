//! Columns of times.

use anyhow::Result;
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

use crate::pipeline::query::{self, Literal};
use crate::run::{Run, grouped};

/// A column of times in any form that the function `time_of` reads as seconds since 1970, as SQL: NULL for what is none.
pub(super) fn seconds(column: &str) -> Literal {
    Literal::column(column).within("time_of(", ")['seconds']")
}

/// Says in which forms the documents have their times, from when to when, and how many have none that can be read.
pub(super) async fn note_times(run: &mut Run, column: &str) -> Result<()> {
    run.workspace.parameters.set("timed_by", Literal::column(column));
    let mut forms = Vec::new();
    for batch in run.rows(query::TIMES_FORMS).await?.collect().await? {
        let [names, first, last] = ["form", "first", "last"]
            .map(|name| batch.column_by_name(name).map(|column| cast(column, &DataType::Utf8)));
        let (Some(names), Some(first), Some(last)) = (names.transpose()?, first.transpose()?, last.transpose()?) else {
            continue;
        };
        let [names, first, last] = [&names, &first, &last].map(|column| column.as_string::<i32>());
        let documents = batch.column(1).as_primitive::<Int64Type>();
        forms.extend((0..batch.num_rows()).map(|row| {
            let documents = grouped(documents.value(row).unsigned_abs());
            if names.is_null(row) {
                return format!("{documents} without a time that can be read");
            }
            format!("{documents} {} ({} to {})", plural(names.value(row)), first.value(row), last.value(row))
        }));
    }
    if !forms.is_empty() {
        run.note(format!("the times {column:?} are {}", forms.join(", ")));
    }
    Ok(())
}

/// Returns the name of several times of a form.
fn plural(form: &str) -> String {
    if form == "seconds" { "numbers of seconds".to_owned() } else { format!("{form}s") }
}
