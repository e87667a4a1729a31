//! Fuzz targets: a function for each parser and for each family of functions, in the module that it tests.
//!
//! Each takes any bytes, and panics if a check fails. `make fuzz` runs them on inputs without end, a test runs them on
//! the inputs in `fuzz/corpus/library`; the program has a few targets of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a target that cannot go on has found something"
)]

#[cfg(test)]
mod doubling;
mod files;
mod functions;
mod parameters;

use crate::corpus;
use crate::index;
use crate::store;
use crate::strict_files;
use crate::table_functions;
use crate::terminal;

/// A target, and the name of its folder in `fuzz/corpus/library`.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 34] = [
    ("answers", store::fuzz::answers),
    ("bzip2", corpus::fuzz::bzip2),
    ("calls", table_functions::fuzz::calls),
    ("codes", functions::codes),
    ("csv", corpus::fuzz::csv),
    ("differences", functions::differences),
    ("edit_similarity", functions::edit_similarity),
    ("edited_passages", functions::edited_passages),
    ("encodings", corpus::fuzz::encodings),
    ("from_csv", strict_files::fuzz::from_csv),
    ("from_json", strict_files::fuzz::from_json),
    ("from_parquet", files::from_parquet),
    ("from_xz", strict_files::fuzz::from_xz),
    ("gzip", corpus::fuzz::gzip),
    ("html", corpus::fuzz::html),
    ("json_array", strict_files::fuzz::json_array),
    ("jsonl", corpus::fuzz::jsonl),
    ("location", store::fuzz::location),
    ("manifest", index::fuzz::manifest),
    ("mediawiki", corpus::fuzz::mediawiki),
    ("normalize", functions::normalize),
    ("parameters", parameters::parameters),
    ("parquet", corpus::fuzz::parquet),
    ("seal", store::fuzz::seal),
    ("sentences", functions::sentences),
    ("sets", functions::sets),
    ("signatures", functions::signatures),
    ("tei", corpus::fuzz::tei),
    ("terminal", terminal::fuzz),
    ("tokens", functions::tokens),
    ("warc", corpus::fuzz::warc),
    ("wikitext", ibid_wikitext::fuzz::wikitext),
    ("xz", corpus::fuzz::xz),
    ("zstd", corpus::fuzz::zstd),
];

/// Splits the data into two texts at a byte that is in no text.
fn two_texts(data: &[u8]) -> (String, String) {
    let at = data.iter().position(|byte| *byte == 0xFF).unwrap_or(data.len());
    let (a, b) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    (String::from_utf8_lossy(a).into_owned(), String::from_utf8_lossy(b).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_inputs_that_are_kept_find_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/library");
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&folder), TARGETS.map(|(name, _)| name), "folders without a target, or the other way round");
        let mut found = Vec::new();
        for (name, run) in TARGETS {
            let inputs = names(&folder.join(name));
            assert!(inputs.len() >= 3, "{name} has few inputs");
            for input in inputs {
                let path = folder.join(name).join(input);
                let data = std::fs::read(&path).unwrap();
                if std::panic::catch_unwind(|| run(&data)).is_err() {
                    found.push(path);
                }
            }
        }
        assert!(found.is_empty(), "{found:?}");
    }
}
