//! The sums at the beginning of a report. They cover the whole result, whatever the report has room for.

use anyhow::Result;

use super::result::Tables;
use super::rows::Columns;
use crate::methods::texts;
use crate::pipeline::query::{self, Query};
use crate::run::{Run, grouped};

/// The height of the longest bar, and the width of all bars with the gaps between them, in the units of the page.
pub(super) const HEIGHT: u64 = 120;
const WIDTH: usize = 720;

/// Sums of a result.
#[derive(Default)]
pub(super) struct Overview {
    pub(super) matches: u64,
    pub(super) pairs: u64,
    pub(super) groups: u64,
    pub(super) places: u64,
    pub(super) similarities: Vec<Bar>,
    pub(super) lengths: Vec<Bar>,
    /// Rows of text, with as many cells as there are headings.
    pub(super) documents: Vec<Vec<String>>,
    pub(super) sources: Vec<Vec<String>>,
    pub(super) coverage: Option<Coverage>,
}

/// A bar of a histogram.
pub(super) struct Bar {
    /// The range that is counted, such as `0.80 to 0.85`.
    pub(super) label: String,
    pub(super) count: u64,
    pub(super) height: u64,
    pub(super) x: usize,
    pub(super) width: usize,
}

/// The numbers of characters of documents that occur elsewhere.
pub(super) struct Coverage {
    pub(super) documents: String,
    pub(super) characters: String,
    pub(super) in_passages: String,
    pub(super) in_families: String,
    pub(super) reused: String,
    /// The reused characters in percent of all characters.
    pub(super) percent: String,
}

impl Overview {
    pub(super) async fn read(run: &mut Run, tables: &Tables) -> Result<Self> {
        let mut overview = Self::default();
        if tables.matches.is_some() {
            [overview.matches, overview.pairs] = run.numbers(query::REPORT_COUNTS).await?;
            let similarity = |bin: i64| match bin {
                20 => "1".to_owned(),
                bin => format!("{:.2} to {:.2}", share(bin), share(bin + 1)),
            };
            overview.similarities = bars(run, query::REPORT_SIMILARITIES, similarity).await?;
            let length = |bin: i64| {
                let from = 1_u64 << bin.clamp(0, 62);
                format!("{} to {}", grouped(from), grouped(2 * from - 1))
            };
            overview.lengths = bars(run, query::REPORT_LENGTHS, length).await?;
            overview.documents = table(run, query::REPORT_DOCUMENTS).await?;
        }
        if tables.groups.is_some() {
            [overview.groups, overview.places] = run.numbers(query::REPORT_GROUPS).await?;
        }
        if tables.has_sources {
            overview.sources = table(run, query::REPORT_SOURCES).await?;
        }
        if tables.has_coverage {
            let [documents, characters, in_passages, in_families, reused] = run.numbers(query::REPORT_COVERAGE).await?;
            overview.coverage = Some(Coverage {
                documents: grouped(documents),
                characters: grouped(characters),
                in_passages: grouped(in_passages),
                in_families: grouped(in_families),
                reused: grouped(reused),
                percent: percent(reused, characters),
            });
        }
        Ok(overview)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the number of a bin is small")]
fn share(bin: i64) -> f64 {
    bin as f64 / 20.0
}

/// Returns a share in percent, with one decimal place.
fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Returns the bars of a histogram, including empty bins between the first and the last.
async fn bars(run: &mut Run, query: Query, label: impl Fn(i64) -> String) -> Result<Vec<Bar>> {
    let mut counts = Vec::new();
    for batch in run.rows(query).await?.collect().await? {
        let (bins, matches) = (Columns(&batch).numbers("bin")?, Columns(&batch).numbers("matches")?);
        counts.extend((0..batch.num_rows()).map(|row| (bins.value(row), matches.value(row).unsigned_abs())));
    }
    let Some((&(first, _), &(last, _))) = counts.first().zip(counts.last()) else { return Ok(Vec::new()) };
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let step = WIDTH / usize::try_from(last - first + 1)?;
    let bar = |(at, bin): (usize, i64)| {
        let count = counts.iter().find(|(of, _)| *of == bin).map_or(0, |(_, count)| *count);
        // The height is rounded up, so that one row can be seen beside a million.
        let height = (count * HEIGHT).div_ceil(most);
        Bar { label: label(bin), count, height, x: at * step, width: step.saturating_sub(2).max(1) }
    };
    Ok((first..=last).enumerate().map(bar).collect())
}

/// Returns rows as text. Numbers behind the first column have their digits in groups.
async fn table(run: &mut Run, query: Query) -> Result<Vec<Vec<String>>> {
    let rows = texts(run.rows(query).await?).await?;
    let cell = |(at, cell): (usize, String)| match cell.parse() {
        Ok(number) if at > 0 => grouped(number),
        _ => cell,
    };
    Ok(rows.into_iter().map(|row| row.into_iter().enumerate().map(cell).collect()).collect())
}
