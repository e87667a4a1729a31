//! Dot plots of documents that have more matches than a report has room for: cells of a grid.

use std::collections::HashMap;

use anyhow::Result;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::content::Content;
use super::rows::Columns;
use crate::pipeline::query::{self, Literal};
use crate::run::Run;

/// The number of cells on each side of a plot.
const BINS: i64 = 512;

/// The largest number of plots of a report, and the divisor of its room: plots may use one part in this many.
const MOST_PLOTS: i64 = 20;
const SHARE: usize = 8;

/// The matches of two documents, in cells.
pub(super) struct Plot {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) sentences: [i64; 2],
    /// The cells that are not empty, in base 64. Each is the distance from the cell before as LEB128, and a byte for
    /// the similarity.
    pub(super) cells: String,
}

impl Plot {
    pub(super) const BINS: i64 = BINS;
}

/// Two documents, and the number of sentences of each that their matches reach over.
pub(super) struct Candidate {
    a: String,
    b: String,
    matches: i64,
    sentences: [i64; 2],
    /// The cells, once they have been computed.
    cells: Option<String>,
}

/// Returns the pairs of documents with most matches.
pub(super) async fn candidates(run: &mut Run) -> Result<Vec<Candidate>> {
    run.workspace.parameters.set("most_plots", MOST_PLOTS);
    let mut candidates = Vec::new();
    for batch in run.rows(query::REPORT_PLOTS).await?.collect().await? {
        let columns = Columns(&batch);
        let (a, b) = (columns.texts("doc_a")?, columns.texts("doc_b")?);
        let [matches, of_a, of_b] = columns.all_numbers(["matches", "sentences_a", "sentences_b"])?;
        candidates.extend((0..batch.num_rows()).map(|row| Candidate {
            a: a.value(row).to_owned(),
            b: b.value(row).to_owned(),
            matches: matches.value(row),
            sentences: [of_a.value(row).max(1), of_b.value(row).max(1)],
            cells: None,
        }));
    }
    Ok(candidates)
}

/// Returns plots of the pairs of documents of which a report shows some matches and not all, as far as there is room
/// for them.
pub(super) async fn plots(
    run: &mut Run,
    candidates: &mut [Candidate],
    content: &Content,
    room: usize,
    side_b: i64,
) -> Result<Vec<Plot>> {
    let mut shown = HashMap::new();
    for (row, _) in &content.matches {
        *shown.entry((row.a.document, row.b.document)).or_insert(0) += 1;
    }
    let number =
        |side: i64, id: &str| content.documents.iter().position(|document| document.side == side && document.id == id);
    let (mut plots, mut left) = (Vec::new(), room / SHARE);
    for candidate in candidates {
        let Some((a, b)) = number(0, &candidate.a).zip(number(side_b, &candidate.b)) else { continue };
        // One of several pages may show none of the matches.
        if shown.get(&(a, b)).is_none_or(|shown| *shown >= candidate.matches) {
            continue;
        }
        if candidate.cells.is_none() {
            candidate.cells = Some(cells(run, candidate).await?);
        }
        let cells = candidate.cells.clone().unwrap_or_default();
        let Some(rest) = left.checked_sub(cells.len()) else { continue };
        left = rest;
        plots.push(Plot { a, b, sentences: candidate.sentences, cells });
    }
    Ok(plots)
}

async fn cells(run: &mut Run, candidate: &Candidate) -> Result<String> {
    let parameters = &mut run.workspace.parameters;
    parameters.set("plot_a", Literal::from(candidate.a.as_str()));
    parameters.set("plot_b", Literal::from(candidate.b.as_str()));
    for (name, number) in
        [("bins", BINS), ("sentences_a", candidate.sentences[0]), ("sentences_b", candidate.sentences[1])]
    {
        parameters.set(name, number);
    }
    let (mut bytes, mut before) = (Vec::new(), 0);
    for batch in run.rows(query::REPORT_CELLS).await?.collect().await? {
        let [cells, levels] = Columns(&batch).all_numbers(["cell", "level"])?;
        for (cell, level) in cells.values().iter().zip(levels.values()) {
            push_leb128(&mut bytes, (cell - before).unsigned_abs());
            bytes.push(u8::try_from(*level).unwrap_or(u8::MAX));
            before = *cell;
        }
    }
    Ok(BASE64_STANDARD.encode(bytes))
}

/// Appends a number as LEB128: seven bits a byte, the lowest first.
fn push_leb128(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        bytes.push(if number > 0 { low | 0x80 } else { low });
        if number == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seven_bits_a_byte() {
        for (number, expected) in [(0, &[0][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2])] {
            let mut bytes = Vec::new();
            push_leb128(&mut bytes, number);
            assert_eq!(bytes, expected);
        }
    }
}
