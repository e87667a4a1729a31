//! Text in other encodings than UTF-8.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding};

use crate::error::misuse;

/// Returns the encoding of a label of the web, such as `windows-1252` or `shift_jis`.
pub fn encoding_of(label: &str) -> anyhow::Result<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| {
        misuse!(
            "{label:?} is no known encoding; known are those of the web \
             (https://encoding.spec.whatwg.org/#names-and-labels), such as windows-1252, iso-8859-15, macintosh, \
             utf-16le, shift_jis, gb18030, big5, euc-kr or koi8-r"
        )
    })
}

/// Decodes bytes in the encoding that a label names. Returns `None` if the encoding is unknown, or if any byte is
/// invalid in it.
pub(super) fn decoded(bytes: &[u8], label: Option<&str>) -> Option<String> {
    let encoding = Encoding::for_label(label?.as_bytes())?;
    encoding.decode_without_bom_handling_and_without_replacement(bytes).map(Cow::into_owned)
}

/// Guesses the encoding of bytes that are not valid UTF-8.
pub(super) fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(LOOKED_AT)], true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The number of bytes that an encoding is guessed from.
const LOOKED_AT: usize = 1 << 20;

/// A reader that converts text in another encoding to UTF-8. A byte order mark overrules the encoding.
pub(super) struct Transcoded<R> {
    inner: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    /// Decoded text, and the number of its bytes that were returned.
    text: Vec<u8>,
    given: usize,
    /// The number of bytes read from `inner`.
    read: u64,
    ended: bool,
}

impl<R: BufRead> Transcoded<R> {
    pub(super) fn new(inner: R, encoding: &'static Encoding) -> Self {
        Self { inner, encoding, decoder: encoding.new_decoder(), text: Vec::new(), given: 0, read: 0, ended: false }
    }

    /// Decodes the next bytes.
    fn decode(&mut self) -> io::Result<()> {
        let bytes = self.inner.fill_buf()?;
        let is_last = bytes.is_empty();
        let most = self.decoder.max_utf8_buffer_length_without_replacement(bytes.len());
        self.text.resize(most.unwrap_or(bytes.len()), 0);
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
        self.text.truncate(written);
        self.given = 0;
        self.inner.consume(read);
        self.read += read as u64;
        match result {
            DecoderResult::Malformed(bytes, behind) => {
                let at = self.read.saturating_sub(u64::from(bytes) + u64::from(behind));
                let name = self.encoding.name();
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("the bytes from {at} on are no text in {name}: name another `encoding`"),
                ))
            }
            DecoderResult::InputEmpty => {
                self.ended = is_last;
                Ok(())
            }
            DecoderResult::OutputFull => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Transcoded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.ended {
            self.decode()?;
        }
        let n = buf.len().min(self.text.len() - self.given);
        buf[..n].copy_from_slice(&self.text[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn read(bytes: &[u8], label: &str) -> io::Result<String> {
        // The small buffer makes characters span the ends of buffers.
        let mut read = String::new();
        let inner = BufReader::with_capacity(3, Cursor::new(bytes.to_vec()));
        Transcoded::new(inner, encoding_of(label).unwrap()).read_to_string(&mut read)?;
        Ok(read)
    }

    #[test]
    fn text_in_other_encodings_is_read() {
        let text = "Größe, déjà vu, Ђ, 日本語, 😀";
        for label in ["utf-16le", "utf-16be", "gb18030", "UTF-8"] {
            let encoding = encoding_of(label).unwrap();
            let bytes: Vec<u8> = match label {
                "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                _ => encoding.encode(text).0.into_owned(),
            };
            assert_eq!(read(&bytes, label).unwrap(), text, "{label}");
        }
        assert_eq!(read(b"caf\xE9 \x93x\x94 \x80", "latin1").unwrap(), "café “x” €");
        assert_eq!(read(b"\xFF\xFEa\0b\0", "utf-16").unwrap(), "ab");
        let error = read(b"good \x82\xFF bad", "shift_jis").unwrap_err().to_string();
        assert!(error.contains("the bytes from 5 on are no text in Shift_JIS"), "{error}");
        assert!(encoding_of("ebcdic").unwrap_err().to_string().contains("known are those of the web"));
    }

    #[test]
    fn encodings_are_guessed() {
        for (text, label) in [
            ("Die Größe der Überschüsse ist öfter übersehen worden.", "windows-1252"),
            ("Это обычный русский текст, каких много.", "windows-1251"),
            ("これは日本語の文章です。", "shift_jis"),
        ] {
            let encoding = encoding_of(label).unwrap();
            assert_eq!(guessed(&encoding.encode(text).0), encoding, "{label}");
        }
    }
}
