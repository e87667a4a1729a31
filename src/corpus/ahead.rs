//! Decoding ahead: a thread of its own decodes a compressed file while the decoded bytes are being read.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The size of a piece, in bytes. The thread hands over one piece at a time.
const PIECE: usize = 256 << 10;

/// The number of filled pieces that may wait to be read.
const WAITING: usize = 2;

/// A reader of the bytes that a thread reads ahead. Bytes and errors come in the order of the source.
///
/// The thread ends at the end of the source, and soon after this reader is dropped.
pub(crate) struct Ahead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// The channel that returns read pieces to the thread, which fills them again.
    read: SyncSender<Vec<u8>>,
    piece: Vec<u8>,
    /// The number of bytes of the piece that have been read.
    at: usize,
    ended: bool,
}

impl Ahead {
    pub(crate) fn start(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (filled, pieces) = sync_channel(WAITING);
        let (read, empty) = sync_channel(WAITING + 2);
        thread::Builder::new().name("decoder".to_owned()).spawn(move || fill(source, &filled, &empty))?;
        Ok(Self { pieces, read, piece: Vec::new(), at: 0, ended: false })
    }
}

/// Sends all that `source` gives, then an empty piece or the error.
fn fill(mut source: impl Read, filled: &SyncSender<io::Result<Vec<u8>>>, empty: &Receiver<Vec<u8>>) {
    loop {
        let mut piece = empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        piece.clear();
        let outcome = source.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        let ended = piece.is_empty();
        if outcome.is_ok() || !ended {
            // Nobody listens any more if this fails.
            if filled.send(Ok(piece)).is_err() || (outcome.is_ok() && ended) {
                return;
            }
        }
        if let Err(error) = outcome {
            let _ = filled.send(Err(error));
            return;
        }
    }
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len() && !self.ended {
            // The channel has room for all pieces, so this does not fail.
            let _ = self.read.try_send(std::mem::take(&mut self.piece));
            self.at = 0;
            let next = self.pieces.recv().unwrap_or_else(|_| Err(io::Error::other("the decoder broke down")));
            self.ended = next.as_ref().map_or(true, Vec::is_empty);
            self.piece = next?;
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}

impl Read for Ahead {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buf)?;
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// A source that gives its bytes, then an error.
    struct Failing(io::Cursor<Vec<u8>>);

    impl Read for Failing {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buf)? {
                0 => Err(io::Error::new(io::ErrorKind::InvalidData, "it is broken")),
                n => Ok(n),
            }
        }
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..=250).cycle().take(length).collect()
    }

    #[test]
    fn what_the_source_gives_comes_in_order() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 9 * PIECE + 7] {
            let mut read = Vec::new();
            Ahead::start(io::Cursor::new(bytes(length))).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes(length), "{length}");
        }
    }

    #[test]
    fn an_error_comes_after_what_was_read_before_and_then_the_end() {
        for length in [0, 5, PIECE, 4 * PIECE + 3] {
            let mut ahead = Ahead::start(Failing(io::Cursor::new(bytes(length)))).unwrap();
            let mut read = Vec::new();
            let error = ahead.read_to_end(&mut read).unwrap_err();
            assert_eq!((error.kind(), read), (io::ErrorKind::InvalidData, bytes(length)), "{length}");
            assert_eq!(ahead.fill_buf().unwrap(), b"");
        }
    }

    #[test]
    fn a_thread_that_panics_is_an_error() {
        struct Panicking;
        impl Read for Panicking {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("as the test wants")
            }
        }
        let error = Ahead::start(Panicking).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("broke down"), "{error}");
    }

    #[test]
    fn the_thread_ends_when_nobody_reads() {
        /// A source that never ends, and sends a message when it is dropped.
        struct Endless(std::sync::mpsc::Sender<()>);
        impl Read for Endless {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                buf.fill(0);
                Ok(buf.len())
            }
        }
        impl Drop for Endless {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (ended, wait) = channel();
        let mut ahead = Ahead::start(Endless(ended)).unwrap();
        assert_eq!(ahead.fill_buf().unwrap().len(), PIECE);
        drop(ahead);
        wait.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}
