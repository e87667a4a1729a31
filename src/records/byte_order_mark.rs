//! Byte order marks, and texts in UTF-16 and UTF-32.

/// The byte order mark of UTF-8, which some editors put before a text.
pub(crate) const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Returns the encoding of a text that begins with a byte order mark of UTF-16 or UTF-32, or with ASCII in one of these
/// encodings.
pub(crate) fn wide_encoding(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16"),
        [1..=0x7F, 0, 0, 0, ..] => Some("UTF-32LE"),
        [0, 0, 0, 1..=0x7F, ..] => Some("UTF-32BE"),
        [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some("UTF-16LE"),
        [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some("UTF-16BE"),
        _ => None,
    }
}
