//! XML as a stream of events, each of bounded length.
//!
//! quick-xml holds one event at a time: a tag, a comment, or the text between two tags or entities. [`Metered`] sits
//! between quick-xml and the file, so that no event is longer than the limit: it skips the rest of a longer text, and
//! fails on any other event that is too long.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr_iter, memmem};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use super::paths::InputFile;
use super::problem::Problem;
use super::stream::Stream;

/// The longest name of an element.
pub(super) const LONGEST_NAME: usize = 256;

/// The number of bytes by which an event may be longer than its text, for the markup around it.
const MARKS: usize = 64;

/// The number of bytes of a record that are kept unchanged: one more than the quarantine takes, which shows that the
/// record is cut.
const KEPT: usize = (1 << 20) + 1;

/// Keeps the unchanged bytes of an event of a record, for the quarantine.
pub(super) fn keep(kept: &mut Vec<u8>, event: &[u8]) {
    let room = KEPT.saturating_sub(kept.len());
    kept.extend_from_slice(&event[..event.len().min(room)]);
}

/// Returns the name of the first element of a file, with its prefix, if the file begins as XML does.
pub(super) fn root_of(file: &InputFile, limit: usize) -> Option<String> {
    let mut reader = reader(Metered::new(Stream::open(file).ok()?, limit));
    let mut event = Vec::new();
    loop {
        event.clear();
        reader.get_mut().begin_event();
        match reader.read_event_into(&mut event).ok()? {
            Event::Start(tag) => {
                let name = tag.name().into_inner();
                return (name.len() <= LONGEST_NAME).then(|| name.to_owned());
            }
            Event::Text(text) if text.trim().is_empty() => {}
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            _ => return None,
        }
    }
}

/// Returns the encoding that the declaration of XML at the beginning of a file names.
pub(super) fn declared_encoding(head: &[u8]) -> Option<String> {
    let end = memmem::find(head, b"?>")?;
    let declaration = str::from_utf8(&head[..end]).ok()?.strip_prefix("<?xml")?;
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split(quote).next().map(str::to_owned)
}

/// Returns a name without its prefix.
pub(super) fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Returns a reader of events.
pub(super) fn reader(source: Metered) -> Reader<Metered> {
    let mut reader = Reader::from_reader(source);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    // After a problem, end tags may follow whose start tags came before it.
    config.allow_unmatched_ends = true;
    reader
}

/// Returns the value of an attribute.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    unescape(&attribute.value).ok().map(Cow::into_owned)
}

/// Returns the problem of an event that cannot be read and begins at `line` and `byte`. `too_long` is the limit, if the
/// event is longer.
pub(super) fn broken(
    file: &str,
    error: &quick_xml::Error,
    event: &[u8],
    (line, byte): (u64, u64),
    too_long: Option<usize>,
) -> Box<Problem> {
    let problem = match (too_long, error) {
        (Some(limit), _) => Problem::too_long(file, "a tag or a comment", limit),
        (None, quick_xml::Error::Encoding(_)) => {
            let at = std::str::from_utf8(event).map_or_else(|error| error.valid_up_to(), |_| 0);
            let lines = memchr_iter(b'\n', &event[..at]).count() as u64;
            return Problem::not_utf8(file, event, at).at_line(line + lines).at_byte(byte + at as u64);
        }
        (None, error) => Problem::new(file, format!("not well-formed XML ({error})")),
    };
    problem.showing(event, 0).at_line(line).at_byte(byte)
}

/// A reader of the bytes of a file that limits the bytes of each event.
pub(super) struct Metered {
    stream: Stream,
    /// The bytes to return before those of the stream: the beginning of a tag, or a whole tag, that was already read.
    pub(super) replay: Vec<u8>,
    /// Upper bound of the bytes of an event.
    most: usize,
    /// The number of bytes taken of the current event, and its first byte.
    taken: usize,
    first: Option<u8>,
    /// True if the rest of a text was skipped. `lines` counts the line ends in the skipped bytes.
    pub(super) cut_off: bool,
    pub(super) lines: u64,
    /// True if an event other than text was too long.
    pub(super) too_long: bool,
    /// The problem that ends the reading of the file.
    pub(super) failure: Option<Box<Problem>>,
}

impl Metered {
    pub(super) fn new(stream: Stream, limit: usize) -> Self {
        Self {
            stream,
            replay: Vec::new(),
            most: limit + MARKS,
            taken: 0,
            first: None,
            cut_off: false,
            lines: 0,
            too_long: false,
            failure: None,
        }
    }

    /// Returns the reader, which first returns an event that was already read.
    pub(super) fn replaying(self, event: Vec<u8>) -> Self {
        Self { replay: event, ..self }
    }

    /// Begins an event, and resets what is known of the one before.
    pub(super) fn begin_event(&mut self) {
        (self.taken, self.first, self.cut_off, self.too_long) = (0, None, false, false);
    }

    /// Returns the offset in the file.
    pub(super) fn offset(&self) -> u64 {
        self.stream.offset() - self.replay.len() as u64
    }

    /// Skips the rest of a text.
    fn skip_text(&mut self) -> Result<(), Box<Problem>> {
        loop {
            let bytes = self.stream.fill()?;
            let text = memchr(b'<', bytes).unwrap_or(bytes.len());
            if text == 0 {
                return Ok(());
            }
            self.cut_off = true;
            self.lines += memchr_iter(b'\n', &bytes[..text]).count() as u64;
            self.stream.consume(text);
        }
    }

    /// Skips everything before the next tag at which reading can resume. `is_place` recognizes the tag by its name; the
    /// name of an end tag begins with `/`. Returns `None` if there is no such tag.
    pub(super) fn seek(mut self, is_place: impl Fn(&[u8]) -> bool) -> Option<Self> {
        // `replay` collects a tag up to the end of its name.
        self.replay.clear();
        loop {
            let bytes = match self.stream.fill() {
                Ok([]) => return None,
                Ok(bytes) => bytes,
                Err(problem) => {
                    self.replay.clear();
                    self.failure = Some(problem);
                    return Some(self);
                }
            };
            let (mut at, mut found) = (0, false);
            while at < bytes.len() {
                if self.replay.is_empty() {
                    at += memchr(b'<', &bytes[at..]).unwrap_or(bytes.len() - at);
                }
                let Some(&byte) = bytes.get(at) else { break };
                let is_behind_name =
                    matches!(byte, b'>' | b' ' | b'\t' | b'\r' | b'\n') || (byte == b'/' && self.replay != b"<");
                found = is_behind_name && self.replay.get(1..).is_some_and(&is_place);
                if found {
                    break;
                }
                if is_behind_name || byte == b'<' || self.replay.len() > LONGEST_NAME {
                    self.replay.clear();
                }
                if byte == b'<' || !self.replay.is_empty() {
                    self.replay.push(byte);
                }
                at += 1;
            }
            self.lines += memchr_iter(b'\n', &bytes[..at]).count() as u64;
            self.stream.consume(at);
            if found {
                return Some(self);
            }
        }
    }

    /// Applies the limit before the next bytes: skips the rest of a text that is too long, and marks any other event as
    /// too long.
    fn prepare(&mut self) -> Result<(), Box<Problem>> {
        let taken = self.taken;
        if taken < self.most {
            return Ok(());
        }
        if matches!(self.first, Some(b'<' | b'&')) {
            self.too_long = true;
            return Ok(());
        }
        // The last character that is kept is kept whole.
        let goes_on = self.stream.fill()?.first().is_some_and(|b| b & 0b1100_0000 == 0b1000_0000);
        if goes_on && taken < self.most + 3 { Ok(()) } else { self.skip_text() }
    }
}

impl Read for Metered {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let n = bytes.len().min(buf.len());
        buf[..n].copy_from_slice(&bytes[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Metered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.replay.is_empty() {
            self.first = self.first.or(self.replay.first().copied());
            return Ok(self.replay.as_slice());
        }
        if self.failure.is_none() {
            let prepared = self.prepare().and_then(|()| self.stream.fill().map(drop));
            self.failure = prepared.err();
        }
        if self.failure.is_some() || self.too_long {
            return Err(io::Error::other("see the problem"));
        }
        let most = self.most.saturating_sub(self.taken).max(1);
        let bytes = self.stream.fill().map_err(|_| io::Error::other("see the problem"))?;
        self.first = self.first.or(bytes.first().copied());
        Ok(&bytes[..bytes.len().min(most)])
    }

    fn consume(&mut self, n: usize) {
        self.taken += n;
        if self.replay.is_empty() {
            self.stream.consume(n);
        } else {
            self.replay.drain(..n.min(self.replay.len()));
        }
    }
}
