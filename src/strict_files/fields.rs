//! The fields of CSV, one after the other.

use csv_core::{ReadFieldResult, Reader};

use crate::records::Syntax;

/// The size of the buffer for a field, in bytes. Longer fields are not kept whole, since nobody looks at them.
const LONGEST: usize = 1024;

/// A reader of the fields of a file, piece by piece.
pub(super) struct Fields {
    reader: Reader,
    field: Vec<u8>,
    length: usize,
}

impl Fields {
    pub(super) fn new(syntax: Syntax) -> Self {
        Self { reader: syntax.fields(), field: vec![0; LONGEST], length: 0 }
    }

    /// Consumes bytes until a field ends in them; returns the field, and true if it is the last one of its row.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<(&[u8], bool)> {
        while !bytes.is_empty() {
            let (result, taken, written) = self.reader.read_field(bytes, &mut self.field[self.length..]);
            *bytes = &bytes[taken..];
            self.length += written;
            match result {
                ReadFieldResult::Field { record_end } => {
                    let field = &self.field[..std::mem::take(&mut self.length)];
                    return Some((field, record_end));
                }
                ReadFieldResult::OutputFull => self.length = 0,
                ReadFieldResult::InputEmpty | ReadFieldResult::End => {}
            }
        }
        None
    }

    /// Returns the bytes so far of a field that has not ended.
    pub(super) fn rest(&self) -> &[u8] {
        &self.field[..self.length]
    }
}
