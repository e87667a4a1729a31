//! What fuzzers run of the shell.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use super::script::{Pieces, is_whole, line_at};

/// What the measurements of time run.
#[cfg(test)]
pub(crate) fn pieces(script: &str) {
    assert!(Pieces::of(script).count() <= script.len() + 1);
}

pub(crate) fn script(data: &[u8]) {
    let script = String::from_utf8_lossy(data);
    let mut end = 0;
    let mut has_ended = true;
    let mut is_cut_short = false;
    for piece in Pieces::of(&script) {
        assert!(!is_cut_short, "there is more after the end");
        let Ok(piece) = piece else {
            is_cut_short = true;
            continue;
        };
        assert!(has_ended && !piece.text.is_empty());
        has_ended = piece.has_ended;
        // Pieces are parts of the script, in order, at the places that they tell.
        let start = piece.text.as_ptr() as usize - script.as_ptr() as usize;
        assert!(start >= end && script[start..].starts_with(piece.text), "{piece:?}");
        end = start + piece.text.len();
        let column = usize::try_from(piece.at.column).unwrap();
        let line: String = line_at(&script, piece.at).chars().skip(column - 1).collect();
        assert!(line.starts_with(piece.text.split('\n').next().unwrap()), "{piece:?} in {line:?}");
    }
    assert_eq!(is_whole(&script), has_ended && !is_cut_short);
}
