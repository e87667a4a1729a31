//! What fuzzers run of arrays of JSON as lines.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use serde_json::{Map, Value};

use super::array::Elements;
use crate::fuzz::choices;

pub(crate) fn json_array(data: &[u8]) {
    let ([piece], data) = choices(data);
    let lines = |piece: usize| -> Result<Vec<u8>, String> {
        let (mut elements, mut lines) = (Elements::new(), data.to_vec());
        lines.chunks_mut(piece).try_for_each(|piece| elements.take(piece))?;
        elements.end().map(|()| lines)
    };
    let found = lines(piece + 1);
    assert_eq!(found, lines(data.len().max(1)));
    let objects = |lines: &[u8]| -> serde_json::Result<Vec<Map<String, Value>>> {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        lines.map(serde_json::from_slice).collect()
    };
    // What is an array of objects is the lines of them, and nothing else is.
    match (serde_json::from_slice::<Vec<Map<String, Value>>>(data), found) {
        (Ok(array), found) => assert_eq!(objects(&found.unwrap()).unwrap(), array),
        (Err(error), Ok(lines)) => {
            // An array is one level more.
            assert!(objects(&lines).is_err() || error.to_string().contains("recursion limit"), "{error}");
        }
        (Err(_), Err(_)) => {}
    }
}
