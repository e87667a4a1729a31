//! Decompression of files, and the limit of how much it may grow them.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

/// The size of the buffer of a file, in bytes.
pub(crate) const BUFFER: usize = 64 << 10;

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
    pub(crate) fn of_file(named: Self, head: &[u8]) -> Self {
        if head.len() < MAGIC_BYTES { named } else { Self::of_first_bytes(head) }
    }

    /// Returns the name of the compression in errors.
    pub(crate) fn name(self) -> &'static str {
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
                let stream = Stream::new_stream_decoder(most_window, CONCATENATED)?;
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

/// A reader that counts the bytes that a decoder takes from the file, so that an error can name the position.
pub(crate) struct Counted<R> {
    inner: BufReader<R>,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Counted<R> {
    pub(crate) fn new(file: R, taken: &Arc<AtomicU64>) -> Self {
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

/// The growth of data by decoding.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "{from} compressed bytes expand to {to} bytes, more than {max_ratio} per byte: the file is a decompression bomb, \
     or repeats itself a great deal"
)]
pub(crate) struct Grown {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) max_ratio: u64,
}

impl Grown {
    pub(crate) fn is_too_much(self) -> bool {
        self.to > self.from.saturating_mul(self.max_ratio).saturating_add(FREE_GROWTH)
    }

    /// The remedy for data that grow too much.
    pub(crate) const REMEDY: &str =
        "if you trust it, raise the limit with `max_ratio`; `on_error = skip` reads the records before it";
}
