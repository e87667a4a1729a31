//! Opening a file: decompression within limits, byte order marks, and the position in the file.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use encoding_rs::UTF_8;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::CONCATENATED;

use super::ahead::Ahead;
use super::encoding::Transcoded;
use super::paths::{Format, InputFile};
use super::problem::Problem;
use crate::store::Explained;

const BUFFER: usize = 64 << 10;

/// The decompressed size that is always allowed, in bytes. Small files that repeat themselves are no decompression
/// bombs.
pub(crate) const FREE_GROWTH: u64 = 64 << 20;

/// The compression of a file. Files of several gzip members, zstd frames or bzip2 streams are read to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Not at all.
    Plain,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.bz2`
    Bzip2,
    /// `.xz`
    Xz,
}

/// The longest window of zstd or xz that is accepted where memory has no limit, in bytes.
pub(crate) const MOST_WINDOW: u64 = 1 << 31;

impl Compression {
    /// Returns the compression that the last extension of a file name indicates.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            "bz2" => Some(Self::Bzip2),
            "xz" => Some(Self::Xz),
            _ => None,
        }
    }

    /// Returns the extension of the compression, without the dot.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => "gz",
            Self::Zstd => "zst",
            Self::Bzip2 => "bz2",
            Self::Xz => "xz",
        }
    }

    /// Returns the compression that the first [`MAGIC_BYTES`] of a file indicate.
    pub(crate) fn of_first_bytes(bytes: &[u8]) -> Self {
        match bytes {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Self::Zstd,
            // The last six bytes are the magic number of a block, or of the end of the stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Self::Bzip2,
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::Plain,
        }
    }

    /// Returns the compression that the first bytes of a file indicate, or the one that its name indicates if the file
    /// has fewer than [`MAGIC_BYTES`].
    fn of_file(named: Self, head: &[u8]) -> Self {
        if head.len() < MAGIC_BYTES { named } else { Self::of_first_bytes(head) }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// Returns a reader of the decompressed bytes of `file`. `taken` counts the bytes of `file` that were needed so
    /// far. A window of more than `most_window` bytes is an error.
    pub(crate) fn decoder(
        self,
        file: impl Read + Send + 'static,
        taken: &Arc<AtomicU64>,
        most_window: u64,
    ) -> io::Result<Box<dyn Read + Send>> {
        let counted = Counted::new(file, taken);
        Ok(match self {
            Self::Plain => Box::new(counted),
            Self::Gzip => Box::new(Gzip { member: Some(GzDecoder::new(counted)) }),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(counted)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(counted)?;
                decoder.window_log_max(most_window.clamp(1 << 10, MOST_WINDOW).ilog2())?;
                Box::new(decoder)
            }
            Self::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(most_window, CONCATENATED)?;
                Box::new(XzDecoder::new_stream(counted, stream))
            }
        })
    }
}

/// The number of bytes at the beginning of a file that indicate its compression.
pub(crate) const MAGIC_BYTES: usize = 10;

/// The members of a gzip file. Zeros behind the last one, which fill up a block of a tape, are passed over, as gzip does.
struct Gzip<R> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            let Some(mut rest) = self.member.take().map(GzDecoder::into_inner) else { break };
            match rest.fill_buf()?.first() {
                None => {}
                Some(0) => pass_zeros(&mut rest)?,
                Some(_) => self.member = Some(GzDecoder::new(rest)),
            }
        }
        Ok(0)
    }
}

/// Skips zeros up to the end. Fails if there is anything else.
fn pass_zeros(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there are bytes after its end"));
        }
        let zeros = bytes.len();
        from.consume(zeros);
    }
}

/// The error messages of decoders that return some of the damaged data before they detect the damage.
const FOUND_LATE: [&str; 2] = ["corrupt deflate stream", "bzip2: invalid data"];

/// Returns the reason why compressed data cannot be read beyond a place, and the remedy. `rest` names a way to read the
/// data before that place.
pub(crate) fn unreadable(name: &str, taken: u64, error: &io::Error, rest: &str) -> (String, String) {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let reason = format!("the {name} data end in the middle, after byte {taken} of the compressed file");
        return (reason, format!("the file is cut off: fetch it again, or {rest}"));
    }
    let said = error.to_string();
    if said.contains("too much memory") || said.contains("memory limit") {
        let reason = format!(
            "the {name} data have a window that takes more than a quarter of the memory, after byte {taken} of the compressed file"
        );
        return (reason, format!("raise `memory`, compress it anew without --long, or {rest}"));
    }
    if said.contains("checksum") {
        let reason = format!(
            "the checksum of the {name} data before byte {taken} of the compressed file does not fit, so that records before \
             it may be damaged, too"
        );
        return (reason, format!("fetch the file again, or {rest}"));
    }
    let before = if FOUND_LATE.contains(&said.as_str()) { ", and so may be the last records before it" } else { "" };
    let reason = format!("the {name} data are damaged near byte {taken} of the compressed file ({said}){before}");
    (reason, format!("fetch the file again, drop the extension if it is not {name}, or {rest}"))
}

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

/// A reader that counts the bytes that a decoder takes from the file, so that an error can name the position.
struct Counted<R> {
    inner: BufReader<R>,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Counted<R> {
    fn new(file: R, taken: &Arc<AtomicU64>) -> Self {
        Self { inner: BufReader::with_capacity(BUFFER, file), taken: Arc::clone(taken) }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.inner.consume(n);
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
    }
}

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

/// The growth of data by decoding.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "{from} compressed bytes expand to {to} bytes, more than {max_ratio} per byte: the file is a decompression bomb, \
     or repeats itself a great deal"
)]
pub(super) struct Grown {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) max_ratio: u64,
}

impl Grown {
    pub(super) fn is_too_much(self) -> bool {
        self.to > self.from.saturating_mul(self.max_ratio).saturating_add(FREE_GROWTH)
    }

    /// The remedy for data that grow too much.
    pub(super) const REMEDY: &str =
        "if you trust it, raise the limit with `max_ratio`; `on_error = skip` reads the records before it";
}

/// The result of [`Stream::read_line`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, in the buffer without its line end.
    Read,
    /// A line longer than the limit. The buffer holds its beginning; the rest has been skipped.
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

    /// Reads a line into `line`, which is emptied first. LF and CRLF end a line.
    pub(crate) fn read_line(&mut self, limit: usize, line: &mut Vec<u8>) -> Result<Line, Box<Problem>> {
        line.clear();
        // Two more than the limit, for the line end.
        let most = limit as u64 + 2;
        let n = match self.inner.by_ref().take(most).read_until(b'\n', line) {
            Ok(n) => n,
            Err(error) => {
                self.offset += line.len() as u64;
                return Err(self.failure(&error));
            }
        };
        self.offset += n as u64;
        if n == 0 {
            return Ok(Line::End);
        }
        let ended = line.last() == Some(&b'\n');
        if ended {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        if line.len() <= limit {
            return Ok(Line::Read);
        }
        if !ended {
            let n = self.inner.skip_until(b'\n').map_err(|e| self.failure(&e))?;
            self.offset += n as u64;
        }
        Ok(Line::TooLong)
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::paths::Decoding;
    use super::super::testing::{bzip2, gzip};
    use super::*;

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
                Line::End => break,
                Line::TooLong => seen.push((start, "too long".to_owned())),
                Line::Read => seen.push((start, String::from_utf8(line.clone()).unwrap())),
            }
        }
        let expected = [(0, "one"), (5, "12345678"), (14, "too long"), (25, ""), (26, "last")];
        assert_eq!(seen, expected.map(|(at, text)| (at, text.to_owned())));
    }
}
