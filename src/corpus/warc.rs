//! Web archives: WARC, one document per page, and WET, the texts of pages (ISO 28500).
//!
//! Pages are responses of the status 2xx, resources and conversions that are HTML or plain text. All other records,
//! such as requests, images and redirects, are left out and counted. HTML loses its markup.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};

use super::batch::Cell;
use super::boilerplate::Cutter;
use super::columns::{FileColumns, Kind};
use super::encoding::decoded;
use super::paths::InputFile;
use super::problem::Problem;
use super::stream::{Record, Stream};
use super::{Context, Item, LeftOut, html};

/// The column that ids come from, unless another is named.
pub(super) const ID_COLUMN: &str = "url";

/// The columns beside the text.
const COLUMNS: [&str; 3] = [ID_COLUMN, "date", "mime"];

/// The longest line of the head of a record, in bytes.
const LONGEST_LINE: usize = 64 << 10;

/// The most lines of the head of a record.
const MOST_LINES: usize = 1000;

/// Returns the columns of a file. Fails if the file is not a web archive.
pub(super) fn columns(file: &InputFile, limit: usize) -> Result<FileColumns, Box<Problem>> {
    Records::open(file, limit)?.head()?;
    let mut columns = FileColumns::default();
    for name in ["text"].iter().chain(&COLUMNS) {
        // Four columns are never too many.
        let _ = columns.add(name, Kind::Text);
    }
    Ok(columns)
}

/// Returns the documents of a file.
pub(super) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut records = Records::open(&context.file, context.limit)?;
    Ok(std::iter::from_fn(move || records.item(&context).transpose()))
}

/// The records of a file, and the position of the reader.
struct Records {
    file: String,
    stream: Stream,
    limit: usize,
    record: u64,
    /// The offset of the first byte of the record.
    start: u64,
    line: Vec<u8>,
    /// True if `line` is the first line of a record.
    has_begun: bool,
    ended: bool,
}

/// The head of a record: the fields by their names in lower case.
struct Head(Vec<(String, String)>);

impl Head {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Adds a line such as `Name: value`, or one that continues the line before.
    fn add(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        match (line.split_once(':'), self.0.last_mut()) {
            (_, Some((_, value))) if line.starts_with([' ', '\t']) => {
                value.push(' ');
                value.push_str(line.trim());
            }
            (Some((name, value)), _) => self.0.push((name.trim().to_ascii_lowercase(), value.trim().to_owned())),
            (None, _) => {}
        }
    }

    /// Returns the MIME type of the content and the charset that it names.
    fn content_type(&self) -> (String, Option<String>) {
        let mut parts = self.get("content-type").unwrap_or_default().split(';');
        let mime = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        (mime, charset)
    }
}

impl Records {
    fn open(file: &InputFile, limit: usize) -> Result<Self, Box<Problem>> {
        Ok(Self {
            file: file.label.clone(),
            stream: Stream::open(file)?,
            limit,
            record: 0,
            start: 0,
            line: Vec::new(),
            has_begun: false,
            ended: false,
        })
    }

    /// Returns the next page, or `LeftOut` if the record is not a page; `None` at the end.
    fn item(&mut self, context: &Context) -> Result<Option<Item>, Box<Problem>> {
        let Some(head) = self.head()? else { return Ok(None) };
        let length = head.get("content-length").and_then(|length| length.parse::<u64>().ok());
        let Some(length) = length else { return Err(self.problem("it does not say its Content-Length")) };
        let kind = head.get("warc-type").unwrap_or_default().to_ascii_lowercase();
        let (mime, _) = head.content_type();
        let is_page = match kind.as_str() {
            "response" => mime == "application/http",
            "resource" | "conversion" => is_text(&mime) || is_html(&mime),
            _ => false,
        };
        if !is_page {
            self.pass(length)?;
            return Ok(Some(Item::LeftOut(LeftOut::Record)));
        }
        if length > self.limit as u64 {
            self.pass(length)?;
            return Err(Problem::too_long(&self.file, "the record", self.limit)
                .in_record(self.record)
                .at_byte(self.start));
        }
        let content = self.content(length)?;
        let cutter = &context.cutter;
        let page = if kind == "response" {
            of_response(&content, self.limit, cutter)
        } else {
            of_content(&head, &content, cutter)
        };
        let Page { mime, text } = match page.map_err(|reason| self.problem(&reason).showing(&content, 0))? {
            Some(page) => page,
            None => return Ok(Some(Item::LeftOut(LeftOut::Record))),
        };
        if text.len() > self.limit {
            return Err(self.problem(&format!("its text is longer than {} bytes", self.limit)));
        }
        let url = head.get("warc-target-uri").map(|url| url.trim_matches(['<', '>']).to_owned());
        let date = head.get("warc-date").map(str::to_owned);
        let cells = COLUMNS.into_iter().zip([url, date, Some(mime)].map(|value| value.map(Cell::Text)));
        let row = context.row(self.record, None, cells, text);
        row.map(|row| Some(Item::Row(row))).map_err(|problem| problem.in_record(self.record).at_byte(self.start))
    }

    /// Reads the head of the next record, if there is one.
    fn head(&mut self) -> Result<Option<Head>, Box<Problem>> {
        while !self.has_begun {
            if self.ended || self.next_line()? {
                return Ok(None);
            }
            self.has_begun = self.line.starts_with(b"WARC/");
            if !self.has_begun && !self.line.trim_ascii().is_empty() {
                return Err(self.lost());
            }
        }
        self.has_begun = false;
        self.record += 1;
        let mut head = Head(Vec::new());
        for _ in 0..MOST_LINES {
            let start = self.start;
            let is_end = self.next_line()?;
            self.start = start;
            if is_end {
                return Err(self.problem("the file ends in the middle of its head"));
            }
            if self.line.is_empty() {
                return Ok(Some(head));
            }
            head.add(&self.line);
        }
        Err(self.problem(&format!("its head has more than {MOST_LINES} lines")))
    }

    /// Skips lines that are not part of a record, up to the next record, and returns their problem.
    fn lost(&mut self) -> Box<Problem> {
        let start = self.start;
        let problem = Problem::new(
            &self.file,
            "no record begins here (with WARC/1.0): the record before may be longer than its Content-Length",
        )
        .in_record(self.record + 1)
        .at_byte(start)
        .showing(&self.line, 0);
        // A read error ends the file.
        while !self.has_begun && matches!(self.next_line(), Ok(false)) {
            self.has_begun = self.line.starts_with(b"WARC/");
        }
        problem
    }

    /// Reads a line; returns true at the end of the file.
    fn next_line(&mut self) -> Result<bool, Box<Problem>> {
        self.start = self.stream.offset();
        match self.stream.read_line(LONGEST_LINE, &mut self.line) {
            Ok(Record::End) => self.ended = true,
            Ok(Record::Read | Record::TooLong) => {}
            Err(problem) => {
                self.ended = true;
                return Err(problem);
            }
        }
        Ok(self.ended)
    }

    fn content(&mut self, length: u64) -> Result<Vec<u8>, Box<Problem>> {
        let mut content = Vec::new();
        self.each_piece(length, |piece| content.extend_from_slice(piece))?;
        Ok(content)
    }

    fn pass(&mut self, length: u64) -> Result<(), Box<Problem>> {
        self.each_piece(length, |_| ())
    }

    /// Calls `take` with the next `length` bytes, in pieces.
    fn each_piece(&mut self, length: u64, mut take: impl FnMut(&[u8])) -> Result<(), Box<Problem>> {
        let mut left = length;
        while left > 0 {
            let piece = self.stream.fill().inspect_err(|_| self.ended = true)?;
            if piece.is_empty() {
                self.ended = true;
                return Err(self.problem(&format!("the file ends {left} bytes before the record does")));
            }
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            take(&piece[..most]);
            self.stream.consume(most);
            left -= most as u64;
        }
        Ok(())
    }

    fn problem(&self, reason: &str) -> Box<Problem> {
        Problem::new(&self.file, reason).in_record(self.record).at_byte(self.start)
    }
}

/// A page that a record holds.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    mime: String,
    text: String,
}

fn is_html(mime: &str) -> bool {
    matches!(mime, "text/html" | "application/xhtml+xml")
}

fn is_text(mime: &str) -> bool {
    matches!(mime, "text/plain" | "text/markdown")
}

/// Returns the page of an HTTP response, if it is one. Fails if the body cannot be decoded. Decompresses at most one
/// byte more than `limit`.
fn of_response(response: &[u8], limit: usize, cutter: &Cutter) -> Result<Option<Page>, String> {
    let mut head = Head(Vec::new());
    let mut rest = response;
    let mut status = None;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let line = rest[..end].trim_ascii_end();
        rest = &rest[end + 1..];
        match status {
            None => status = Some(String::from_utf8_lossy(line).split(' ').nth(1).unwrap_or_default().to_owned()),
            Some(_) if line.is_empty() => break,
            Some(_) => head.add(line),
        }
    }
    if !status.is_some_and(|status| status.len() == 3 && status.starts_with('2')) {
        return Ok(None);
    }
    let names = |field: &str, value: &str| head.get(field).is_some_and(|given| given.eq_ignore_ascii_case(value));
    // Writers of archives may undo both encodings and leave the field as it was.
    let whole = if names("transfer-encoding", "chunked") { dechunked(rest) } else { None };
    let body = whole.as_deref().unwrap_or(rest);
    let within = limit as u64 + 1;
    let mut unpacked = Vec::new();
    let read = if body.starts_with(&[0x1F, 0x8B]) {
        GzDecoder::new(body).take(within).read_to_end(&mut unpacked)
    } else if names("content-encoding", "deflate") && str::from_utf8(body).is_err() {
        ZlibDecoder::new(body).take(within).read_to_end(&mut unpacked)
    } else {
        Ok(0)
    };
    match read {
        Ok(0) => of_content(&head, body, cutter),
        Ok(_) => of_content(&head, &unpacked, cutter),
        Err(error) => Err(format!("its Content-Encoding cannot be decoded: {error}")),
    }
}

/// Returns the bytes of a chunked body, or `None` if it is not chunked.
fn dechunked(body: &[u8]) -> Option<Vec<u8>> {
    let (mut whole, mut rest) = (Vec::new(), body);
    loop {
        let end = memchr::memchr(b'\n', rest)?;
        let size = str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(rest.get(..size)?);
        rest = rest[size..].strip_prefix(b"\r\n").or_else(|| rest[size..].strip_prefix(b"\n"))?;
    }
}

/// Returns the page of some content, if it is HTML or plain text. Fails if its encoding is not known.
fn of_content(head: &Head, content: &[u8], cutter: &Cutter) -> Result<Option<Page>, String> {
    let (mime, charset) = head.content_type();
    let is_html = is_html(&mime);
    if !is_html && !is_text(&mime) {
        return Ok(None);
    }
    let content = content.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(content);
    let text = match str::from_utf8(content) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let packed = head.get("content-encoding").filter(|name| matches!(*name, "br" | "zstd" | "compress"));
            if let Some(packed) = packed {
                return Err(format!("its Content-Encoding {packed} is not supported; only gzip and deflate are"));
            }
            let declared = charset.or_else(|| html::declared_charset(content));
            match decoded(content, declared.as_deref()) {
                Some(text) => text,
                None => {
                    let declared =
                        declared.map_or_else(|| "no charset".to_owned(), |label| format!("the charset {label}"));
                    return Err(format!(
                        "it declares {declared}, and its byte {} is not valid in it or in UTF-8",
                        error.valid_up_to()
                    ));
                }
            }
        }
    };
    let text = if is_html { cutter.text(&text) } else { text };
    Ok(Some(Page { mime, text }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Folder, documents, gzip};
    use super::super::{OnError, Options};

    fn record(kind: &str, url: &str, mime: &str, content: &[u8]) -> Vec<u8> {
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-31T12:00:00Z\r\nContent-Type: {mime}\r\n\
             Content-Length: {}\r\n\r\n",
            content.len()
        );
        [head.as_bytes(), content, b"\r\n\r\n"].concat()
    }

    fn response(url: &str, status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
        let content = [format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\n").as_bytes(), body].concat();
        record("response", url, "application/http; msgtype=response", &content)
    }

    #[test]
    fn pages_are_documents_and_all_else_is_counted() {
        let html = "Content-Type: text/html; charset=windows-1252";
        let chunked = b"5\r\n<p>Th\r\n1a; x=y\r\ne ferry leaves at ten.</p>\r\n0\r\n\r\n";
        let records = [
            record("warcinfo", "", "application/warc-fields", b"software: x\r\n"),
            record("request", "http://x.org/a", "application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n"),
            response("http://x.org/a", "200 OK", html, b"<html><p>Caf\xE9 <b>Nord</b></p></html>"),
            response("http://x.org/b", "301 Moved", html, b"<p>Moved</p>"),
            response("http://x.org/c", "200 OK", "Content-Type: image/png", b"\x89PNG"),
            response("http://x.org/d", "200 OK", "content-type: text/html\r\nTransfer-Encoding: chunked", chunked),
            response(
                "http://x.org/e",
                "200 OK",
                "Content-Type: text/plain\r\nContent-Encoding: gzip",
                &gzip(b"Packed."),
            ),
            response(
                "http://x.org/f",
                "200 OK",
                "Content-Type: text/plain\r\nContent-Encoding: gzip",
                b"Unpacked before.",
            ),
            record("conversion", "<http://x.org/g>", "text/plain", "Wörter".as_bytes()),
        ];
        let expected = documents(&[
            ("http://x.org/a", "Café Nord"),
            ("http://x.org/d", "The ferry leaves at ten."),
            ("http://x.org/e", "Packed."),
            ("http://x.org/f", "Unpacked before."),
            ("http://x.org/g", "Wörter"),
        ]);
        // Each record is a gzip member of its own, or all are one.
        let members: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
        let folder = Folder::of(&[
            ("a.warc", &records.concat()),
            ("b.warc.gz", &members),
            ("c.warc.wet.gz", &gzip(&records.concat())),
        ]);
        for name in ["a.warc", "b.warc.gz", "c.warc.wet.gz"] {
            assert_eq!(folder.read(&[name], &Options::default()).unwrap(), expected, "{name}");
        }
        let table = folder.table(&["a.warc"], &Options::default());
        assert_eq!(table[..2], ["doc_id|text|date|mime", "http://x.org/a|Café Nord|2024-01-31T12:00:00Z|text/html"]);
        let mut reading = folder.open(&["a.warc"], &Options::default()).unwrap();
        reading.by_ref().for_each(drop);
        assert_eq!(reading.summary().left_out.records, 4);
    }

    #[test]
    fn records_that_are_wrong_are_errors_that_say_where() {
        let good = response("http://x.org/a", "200 OK", "Content-Type: text/plain", b"Good.");
        let bad = response("http://x.org/b", "200 OK", "Content-Type: text/plain", b"caf\xE9");
        let at = good.len();
        for (data, said, others) in [
            (
                [good.clone(), bad.clone()].concat(),
                format!("record 2, byte {at}: it declares no charset, and its byte 3"),
                1,
            ),
            (
                [good.clone(), b"rubbish\r\n".to_vec(), good.replaced("org/a", "org/c")].concat(),
                format!("byte {at}: no record begins here"),
                2,
            ),
            (good[..at - 8].to_vec(), "record 1, byte 0: the file ends 4 bytes before the record does".to_owned(), 0),
            (good.replaced("Content-Length: ", "Content-Length: x"), "does not say its Content-Length".to_owned(), 0),
        ] {
            let folder = Folder::of(&[("a.warc", &data)]);
            let error = folder.error(&["a.warc"], &Options::default());
            assert!(error.contains(&said), "{error}");
            let skip = Options { on_error: OnError::Skip, ..Options::default() };
            let mut reading = folder.open(&["a.warc"], &skip).unwrap();
            assert_eq!(reading.by_ref().map(|batch| batch.unwrap().num_rows()).sum::<usize>(), others, "{said}");
            assert!(reading.summary().skipped_count > 0, "{said}");
        }
    }

    trait Replaced {
        fn replaced(&self, from: &str, to: &str) -> Vec<u8>;
    }

    impl Replaced for Vec<u8> {
        fn replaced(&self, from: &str, to: &str) -> Vec<u8> {
            String::from_utf8(self.clone()).unwrap().replace(from, to).into_bytes()
        }
    }
}
