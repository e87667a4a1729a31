//! Fuzz targets for the command line and the shell; the library has others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "as in a test")]

use std::iter;

use super::Sql;
use super::commands::Command;
use super::script::{Pieces, is_whole, line_at};
use crate::parse;

/// The name of a target's folder in `fuzz/corpus/program`, and the target.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 2] = [("arguments", arguments), ("script", script)];

fn script(data: &[u8]) {
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
        if piece.is_command {
            let _ = Command::of(piece.text);
        }
        has_ended = piece.has_ended;
        // Each piece is a part of the script, in order, at the place that it reports.
        let start = piece.text.as_ptr() as usize - script.as_ptr() as usize;
        assert!(start >= end && script[start..].starts_with(piece.text), "{piece:?}");
        end = start + piece.text.len();
        let column = usize::try_from(piece.at.column).unwrap();
        let line: String = line_at(&script, piece.at).chars().skip(column - 1).collect();
        assert!(line.starts_with(piece.text.split('\n').next().unwrap()), "{piece:?} in {line:?}");
    }
    assert_eq!(is_whole(&script), has_ended && !is_cut_short);
}

/// Checks that a command line parses or gives an error with a text, and that options get the values that were given.
fn arguments(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    if let Err(error) = parse(iter::once("ibid").chain(given.split('\n'))) {
        assert!(!error.to_string().is_empty());
    }
    check_parameter(&given);
    check_size(&given);
}

/// Parses the arguments of `ibid sql`; `None` if they are wrong.
fn told<const N: usize>(arguments: [&str; N]) -> Option<Sql> {
    let crate::Command::Sql(sql) = parse(["ibid", "sql"].into_iter().chain(arguments)).ok()?.command else {
        return None;
    };
    Some(sql)
}

fn check_parameter(given: &str) {
    let expected = given.split_once('=').filter(|(name, _)| !name.is_empty());
    let expected = expected.map(|(name, value)| (name.trim_start_matches('$').to_owned(), value.to_owned()));
    let told = told([format!("--param={given}").as_str(), "--", given]);
    assert!(told.as_ref().is_none_or(|sql| sql.query.as_deref() == Some(given)), "{given:?}");
    assert_eq!(told.and_then(|mut sql| sql.param.pop()), expected);
}

/// Checks that a size is the number that it begins with, times a power of two, and that this product can be given as a
/// plain number.
fn check_size(given: &str) {
    let size = |given: &str| -> Option<usize> { told([format!("--memory={given}").as_str()])?.running.memory };
    let Some(bytes) = size(given) else { return };
    let number: usize = given.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim().parse().unwrap();
    assert!(bytes.is_multiple_of(number) && (bytes / number).is_power_of_two(), "{given:?} is {bytes}");
    assert_eq!(size(&bytes.to_string()), Some(bytes));
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use cpu_time::ThreadTime;

    use super::*;

    #[test]
    fn the_inputs_that_are_kept_find_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/program");
        let mut names: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, TARGETS.map(|(name, _)| name));
        for (name, run) in TARGETS {
            let inputs: Vec<_> = folder.join(name).read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
            assert!(inputs.len() >= 3, "{name} has few inputs");
            for input in inputs {
                run(&std::fs::read(&input).unwrap());
            }
        }
    }

    #[test]
    fn a_long_script_is_split_in_a_time_in_proportion_to_its_length() {
        for unit in ["'", "\"", ";", "--\n", "/*", "\\", "$$", "SELECT 1;\n", "a "] {
            let script = unit.repeat(1_000_000 / unit.len());
            let began = ThreadTime::now();
            assert!(Pieces::of(&script).count() <= script.len() + 1);
            // Quadratic work takes minutes.
            assert!(began.elapsed() < Duration::from_secs(5), "{unit:?}: {:?}", began.elapsed());
        }
    }
}
