//! Positions in files, as errors write them.

use std::fmt::{self, Display};

/// A position in a file, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    /// The line, from 1.
    pub(crate) line: Option<u64>,
    /// The number of the record, from 1, which is written only where there are no lines.
    pub(crate) record: Option<u64>,
    /// The byte offset, from 0; for a compressed file, in its decompressed content.
    pub(crate) byte: Option<u64>,
}

impl Position {
    /// Creates the position of a byte, with its line if that is known.
    pub(crate) fn of_byte(line: Option<u64>, byte: u64) -> Self {
        Self { line, record: None, byte: Some(byte) }
    }
}

impl Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        } else if let Some(record) = self.record {
            write!(f, ", record {record}")?;
        }
        self.byte.map_or(Ok(()), |byte| write!(f, ", byte {byte}"))
    }
}

/// Returns the message of an error in JSON without its position, which counts from the beginning of the record.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said).to_owned()
}
