//! Opening a file: decompression within limits, byte order marks, and the position in the file.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::UTF_8;

use super::ahead::Ahead;
use super::encoding::Transcoded;
use super::paths::{Format, InputFile};
use super::problem::Problem;
use crate::records::{
    BUFFER, BYTE_ORDER_MARK, Compression, Counted, Grown, MAGIC_BYTES, Records, Syntax, unreadable, wide_encoding,
};
use crate::store::Explained;

/// A reader of decoded bytes that fails if they are too many for the compressed bytes taken.
struct Bounded<R> {
    inner: R,
    given: u64,
    taken: Arc<AtomicU64>,
    max_ratio: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.given += n as u64;
        let grown = Grown { from: self.taken.load(Ordering::Relaxed), to: self.given, max_ratio: self.max_ratio };
        if grown.is_too_much() {
            return Err(io::Error::other(grown));
        }
        Ok(n)
    }
}

/// The result of [`Stream::read_record`] and [`Stream::read_line`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A record, in the buffer.
    Read,
    /// A record longer than the limit. The buffer holds its beginning; the rest has been skipped.
    TooLong,
    /// The end of the file.
    End,
}

/// Runs a decoder on a thread of its own, and limits the growth of the data.
fn ahead(
    decoder: impl Read + Send + 'static,
    taken: &Arc<AtomicU64>,
    max_ratio: u64,
) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(Box::new(Ahead::start(Bounded { inner: decoder, given: 0, taken: Arc::clone(taken), max_ratio })?))
}

/// Returns the compression of a file, and a reader of its decompressed bytes. `taken` counts the bytes of the file that
/// were needed so far.
pub(super) fn decompressed(
    file: &InputFile,
    mut opened: impl Read + Send + 'static,
    taken: &Arc<AtomicU64>,
) -> Result<(Compression, Box<dyn BufRead + Send>), Box<Problem>> {
    let mut magic = Vec::new();
    let read = opened.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut magic);
    read.map_err(|e| Problem::of_io(&file.label, "cannot read it", &e).at_byte(0))?;
    let compression = Compression::of_file(file.compression, &magic);
    let opened = Cursor::new(magic).chain(opened);
    let decoding = match compression {
        Compression::Plain => Ok(Box::new(Counted::new(opened, taken)) as Box<dyn BufRead + Send>),
        packed => packed
            .decoder(opened, taken, file.decoding.most_window)
            .and_then(|decoder| ahead(decoder, taken, file.decoding.max_ratio)),
    };
    let decoded = decoding.map_err(|e| {
        let name = compression.name();
        Problem::new(&file.label, format!("cannot start the {name} decoder: {e}"))
    })?;
    Ok((compression, decoded))
}

/// The decompressed bytes of a file, without a UTF-8 byte order mark.
pub(crate) struct Stream {
    inner: io::Chain<Cursor<Vec<u8>>, Box<dyn BufRead + Send>>,
    file: String,
    compression: Compression,
    taken: Arc<AtomicU64>,
    offset: u64,
}

impl Stream {
    /// Opens `file`. UTF-16 and UTF-32 are refused here, by their first four bytes.
    pub(crate) fn open(file: &InputFile) -> Result<Self, Box<Problem>> {
        let opened = file.open().map_err(|e| Problem::of_io(&file.label, "cannot open it", &e))?;
        Self::of(file, opened)
    }

    /// Does the same as [`Self::open`] with a file that is open already.
    pub(crate) fn of(file: &InputFile, opened: impl Read + Send + 'static) -> Result<Self, Box<Problem>> {
        let taken = Arc::new(AtomicU64::new(0));
        let (compression, mut decoded) = decompressed(file, opened, &taken)?;
        // A web archive states the length of its records in bytes, and each record has an encoding of its own.
        let encoding = file.decoding.encoding.filter(|_| file.format != Format::Warc);
        if let Some(encoding) = encoding.filter(|encoding| *encoding != UTF_8) {
            decoded = Box::new(BufReader::with_capacity(BUFFER, Transcoded::new(decoded, encoding)));
        }
        let mut head = Vec::new();
        let read = decoded.by_ref().take(4).read_to_end(&mut head);
        let mut offset = 0;
        let wide = if encoding.is_none() { wide_encoding(&head) } else { None };
        if head.starts_with(&BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
            offset = BYTE_ORDER_MARK.len() as u64;
        }
        let stream =
            Self { inner: Cursor::new(head).chain(decoded), file: file.label.clone(), compression, taken, offset };
        if let Err(error) = read {
            return Err(stream.failure(&error));
        }
        match wide {
            None => Ok(stream),
            Some(encoding) => Err(Problem::new(&file.label, format!("it begins as a text in {encoding} does"))
                .at_byte(0)
                .remedy(if encoding.starts_with("UTF-16") {
                    format!("read it with `encoding = {}`", encoding.to_lowercase())
                } else {
                    format!("convert it to UTF-8 (iconv -f {encoding} -t UTF-8)")
                })),
        }
    }

    /// Returns the number of bytes of the decompressed file that have been read.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next bytes, none at the end.
    pub(crate) fn fill(&mut self) -> Result<&[u8], Box<Problem>> {
        // `fill_buf` is called twice, because the borrow of a first result would forbid making the error from `self`.
        while let Err(error) = self.inner.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(self.failure(&error));
            }
        }
        let file = &self.file;
        self.inner.fill_buf().map_err(|e| Problem::of_io(file, "cannot read it", &e))
    }

    /// Marks `n` of the bytes of [`Self::fill`] as read.
    pub(crate) fn consume(&mut self, n: usize) {
        self.inner.consume(n);
        self.offset += n as u64;
    }

    /// Reads the next record into `record`, which is emptied first. `records` is the scanner of all records of the
    /// file. A line end behind the record is kept, and does not count for the limit.
    pub(crate) fn read_record(
        &mut self,
        records: &mut Records,
        limit: usize,
        record: &mut Vec<u8>,
    ) -> Result<Record, Box<Problem>> {
        record.clear();
        let (before, start) = (records.ended, self.offset);
        // Two more than the limit, for the line end.
        let most = limit.saturating_add(2);
        while records.ended == before {
            let bytes = self.fill()?;
            if bytes.is_empty() {
                break;
            }
            // A scanner without a limit takes records of any length.
            let taken = records.take(bytes, 1).unwrap_or(bytes.len());
            record.extend_from_slice(&bytes[..taken.min(most - record.len())]);
            self.consume(taken);
        }
        let length = self.offset - start;
        Ok(match length {
            0 => Record::End,
            _ if length > record.len() as u64 || without_line_end(record).len() > limit => Record::TooLong,
            _ => Record::Read,
        })
    }

    /// Reads a line into `line`, which is emptied first, without its line end, LF or CRLF.
    pub(crate) fn read_line(&mut self, limit: usize, line: &mut Vec<u8>) -> Result<Record, Box<Problem>> {
        let read = self.read_record(&mut Records::of_any_length(Syntax::Lines), limit, line)?;
        line.truncate(without_line_end(line).len());
        Ok(read)
    }

    /// Reads all that is left, at most one byte more than `limit`.
    pub(crate) fn read_all(&mut self, limit: usize) -> Result<Vec<u8>, Box<Problem>> {
        let mut all = Vec::new();
        let read = self.inner.by_ref().take(limit as u64 + 1).read_to_end(&mut all);
        self.offset += all.len() as u64;
        read.map_err(|e| self.failure(&e))?;
        Ok(all)
    }

    /// Returns the problem that the file cannot be read beyond this place.
    fn failure(&self, error: &io::Error) -> Box<Problem> {
        let taken = self.taken.load(Ordering::Relaxed);
        let name = self.compression.name();
        if let Some(grown) = error.get_ref().and_then(|cause| cause.downcast_ref::<Grown>()) {
            let problem = Problem::new(&self.file, format!("the {name} data grow too much: {grown}"));
            return problem.remedy(Grown::REMEDY).at_byte(self.offset);
        }
        let problem = if self.compression == Compression::Plain || Explained::of_io(error).is_some() {
            Problem::of_io(&self.file, "cannot read it", error)
        } else {
            let (reason, remedy) = unreadable(name, taken, error, "read what is there with `on_error = skip`");
            Problem::new(&self.file, reason).remedy(remedy)
        };
        problem.at_byte(self.offset)
    }
}

/// Returns a line without the LF or CRLF at its end.
fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::paths::Decoding;
    use super::super::testing::{bzip2, gzip};
    use super::*;
    use crate::records::{FREE_GROWTH, MOST_WINDOW};

    fn zstd(data: &[u8]) -> Vec<u8> {
        zstd::encode_all(data, 3).unwrap()
    }

    fn xz(data: &[u8]) -> Vec<u8> {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    /// A compression, and the function that compresses.
    type Case = (Compression, fn(&[u8]) -> Vec<u8>);
    const CASES: [Case; 4] =
        [(Compression::Gzip, gzip), (Compression::Bzip2, bzip2), (Compression::Zstd, zstd), (Compression::Xz, xz)];

    fn read(data: &[u8], compression: Compression) -> Result<Vec<u8>, Box<Problem>> {
        read_within(data, compression, 200)
    }

    fn read_within(data: &[u8], compression: Compression, max_ratio: u64) -> Result<Vec<u8>, Box<Problem>> {
        read_with(data, compression, max_ratio, MOST_WINDOW)
    }

    fn read_with(
        data: &[u8],
        compression: Compression,
        max_ratio: u64,
        most_window: u64,
    ) -> Result<Vec<u8>, Box<Problem>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(data).unwrap();
        let input = InputFile {
            path: file.path().to_owned(),
            label: "a".to_owned(),
            name: "a".to_owned(),
            format: Format::Text,
            compression,
            decoding: Decoding { max_ratio, most_window, ..Decoding::default() },
            object: None,
            labels: Vec::new(),
        };
        Stream::open(&input)?.read_all(1 << 30)
    }

    /// Returns numbers in no order, so that they compress little and a cut hits the data, not a header.
    fn numbers() -> Vec<u8> {
        (0..50_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string()).collect::<String>().into_bytes()
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for (compression, compress) in CASES {
            assert_eq!(read(&compress(&numbers()), compression).unwrap(), numbers(), "{compression:?}");
            assert_eq!(read(&compress(b""), compression).unwrap(), b"", "{compression:?}");
        }
    }

    #[test]
    fn several_members_are_one_file() {
        for (compression, compress) in CASES {
            let members = [compress(b"one "), compress(b""), compress(b"two")].concat();
            assert_eq!(read(&members, compression).unwrap(), b"one two", "{compression:?}");
        }
    }

    #[test]
    fn zeros_behind_gzip_are_passed_over_and_nothing_else() {
        for zeros in [1, 511, 200_000] {
            let padded = [gzip(b"one "), gzip(b"two"), vec![0; zeros]].concat();
            assert_eq!(read(&padded, Compression::Gzip).unwrap(), b"one two", "{zeros}");
            let error = read(&[padded, gzip(b"three")].concat(), Compression::Gzip).unwrap_err().to_string();
            assert!(error.contains("are damaged") && error.contains("there are bytes after its end"), "{error}");
        }
        let error =
            read(&[gzip(b"one"), b"rubbish, and long enough".to_vec()].concat(), Compression::Gzip).unwrap_err();
        assert!(error.reason.contains("are damaged"), "{error}");
    }

    #[test]
    fn what_is_found_to_be_damaged_after_it_was_given_is_an_error_that_says_so() {
        let flipped = |mut data: Vec<u8>, at: usize| {
            data[at] ^= 2;
            data
        };
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&numbers()).unwrap();
        let (gzip, bzip2, zstd) = (gzip(&numbers()), bzip2(&numbers()), encoder.finish().unwrap());
        let [checksum, late] =
            ["does not fit, so that records before it may be damaged, too", "and so may be the last records before it"];
        for (data, compression, said) in [
            // The checksum and the length of all, and the first block.
            (flipped(gzip.clone(), gzip.len() - 8), Compression::Gzip, checksum),
            (flipped(gzip.clone(), gzip.len() - 1), Compression::Gzip, checksum),
            (flipped(gzip, 10), Compression::Gzip, late),
            // The checksum of all.
            (flipped(zstd.clone(), zstd.len() - 1), Compression::Zstd, checksum),
            // The checksum of the first block.
            (flipped(bzip2, 10), Compression::Bzip2, late),
        ] {
            let error = read(&data, compression).unwrap_err().to_string();
            assert!(error.contains(said), "{compression:?}: {error}");
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error_that_says_where() {
        for (compression, compress) in CASES {
            let whole = compress(&numbers());
            for cut in [1, 5, whole.len() / 2, whole.len() - 1] {
                let error = read(&whole[..cut], compression).unwrap_err().to_string();
                assert!(
                    error.contains("end in the middle") && error.contains("byte"),
                    "{compression:?} {cut}: {error}"
                );
            }
        }
    }

    #[test]
    fn the_first_bytes_count_for_more_than_the_name() {
        for (compression, compress) in CASES {
            let plain = b"plain text, whatever the name says";
            assert_eq!(read(plain, compression).unwrap(), plain, "{compression:?}");
            for named in [Compression::Plain, Compression::Gzip, Compression::Zstd] {
                assert_eq!(read(&compress(plain), named).unwrap(), plain, "{compression:?} as {named:?}");
            }
        }
        assert_eq!(read(b"BZh9 is how a file in bzip2 begins", Compression::Plain).unwrap().len(), 34);
    }

    #[test]
    fn long_windows_are_read_as_far_as_memory_goes() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(&numbers()).unwrap();
        let data = encoder.finish().unwrap();
        assert_eq!(read(&data, Compression::Zstd).unwrap(), numbers());
        let error = read_with(&data, Compression::Zstd, 200, 1 << 27).unwrap_err().to_string();
        assert!(error.contains("window that takes more than a quarter of the memory"), "{error}");
        assert!(error.contains("raise `memory`"), "{error}");
        let error = read_with(&xz(&numbers()), Compression::Xz, 200, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("window that takes more than a quarter of the memory"), "{error}");
    }

    #[test]
    fn what_grows_too_much_is_an_error_that_says_how_far() {
        let most = usize::try_from(FREE_GROWTH).unwrap();
        for (compression, compress) in CASES {
            assert_eq!(read(&compress(&vec![0; most]), compression).unwrap().len(), most, "{compression:?}");
            let bomb = compress(&vec![0; most + (32 << 20)]);
            let error = read(&bomb, compression).unwrap_err().to_string();
            assert!(error.contains("data grow too much: ") && error.contains("`max_ratio`"), "{error}");
            assert!(error.contains("bytes, more than 200 per byte"), "{error}");
            assert_eq!(read_within(&bomb, compression, 1 << 20).unwrap().len(), most + (32 << 20), "{compression:?}");
        }
    }

    #[test]
    fn byte_order_marks() {
        assert_eq!(read(b"\xEF\xBB\xBFabc", Compression::Plain).unwrap(), b"abc");
        let error = read(b"\xFF\xFEa\0b\0", Compression::Plain).unwrap_err().to_string();
        assert!(error.contains("UTF-16"), "{error}");
        let error = read(&gzip(b"\xFE\xFF\0a"), Compression::Gzip).unwrap_err().to_string();
        assert!(error.contains("UTF-16"), "{error}");
        for (text, encoding) in [
            (&b"a\0b\0"[..], "UTF-16LE"),
            (b"\0a\0b\0", "UTF-16BE"),
            (b"a\0\0\0b\0\0\0", "UTF-32LE"),
            (b"\0\0\0a", "UTF-32BE"),
        ] {
            let error = read(text, Compression::Plain).unwrap_err().to_string();
            let remedy =
                if encoding.starts_with("UTF-16") { "read it with `encoding = utf-16" } else { "iconv -f UTF-32" };
            assert!(error.contains(encoding) && error.contains(remedy), "{error}");
        }
        // Texts in UTF-8 that contain NUL are still read.
        for text in [&b"a\0b\0"[..3], b"a\0bc", b"\0\0\0\0"] {
            assert_eq!(read(text, Compression::Plain).unwrap(), text);
        }
    }

    #[test]
    fn lines_end_with_lf_or_crlf_and_long_ones_are_passed_over() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one\r\n12345678\n123456789\r\n\nlast").unwrap();
        let input = InputFile {
            path: file.path().to_owned(),
            label: "a".to_owned(),
            name: "a".to_owned(),
            format: Format::Text,
            compression: Compression::Plain,
            decoding: Decoding::default(),
            object: None,
            labels: Vec::new(),
        };
        let mut stream = Stream::open(&input).unwrap();
        let mut line = Vec::new();
        let mut seen = Vec::new();
        loop {
            let start = stream.offset();
            match stream.read_line(8, &mut line).unwrap() {
                Record::End => break,
                Record::TooLong => seen.push((start, "too long".to_owned())),
                Record::Read => seen.push((start, String::from_utf8(line.clone()).unwrap())),
            }
        }
        let expected = [(0, "one"), (5, "12345678"), (14, "too long"), (25, ""), (26, "last")];
        assert_eq!(seen, expected.map(|(at, text)| (at, text.to_owned())));
    }
}
