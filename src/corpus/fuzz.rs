//! Fuzz targets for the readers.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::io::{BufReader, Cursor, Read, Write};

use arrow::array::AsArray;
use encoding_rs::Encoding;

use super::boilerplate::{Boilerplate, Cutter};
use super::encoding::{Transcoded, encoding_of};
use super::paths::{Format, InputFile, matcher};
use super::problem::Problem;
use super::stream::Stream;
use super::{Documents, OnError, Options, html as pages, open_with_stdin};
use crate::fuzzing::choices;
use crate::records::{BYTE_ORDER_MARK, Compression, wide_encoding};

/// The longest record, in bytes. It is short, so that fuzzers exceed it.
const LIMIT: usize = 16 << 10;

/// The ids and texts of a file, the number of records that were left out, and the error, if there is one.
#[derive(Debug, PartialEq)]
struct Outcome {
    documents: Vec<(String, String)>,
    skipped: u64,
    error: Option<String>,
}

fn read(data: &[u8], format: Format, on_error: OnError) -> Outcome {
    read_within(data, format, on_error, LIMIT)
}

fn read_within(data: &[u8], format: Format, on_error: OnError, max_record_bytes: usize) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, data).unwrap();
    let options = Options { format: Some(format), max_record_bytes, on_error, ..Options::default() };
    let inputs = [file.to_str().unwrap().to_owned()];
    let mut opened: Documents =
        match open_with_stdin(&inputs, &options, &mut std::io::empty(), &std::sync::Arc::default()) {
            Ok(opened) => opened,
            Err(error) => return Outcome { documents: Vec::new(), skipped: 0, error: Some(error.to_string()) },
        };
    let mut documents = Vec::new();
    let mut error = None;
    for batch in opened.by_ref() {
        match batch {
            Ok(batch) => {
                let column =
                    |i: usize| batch.column(i).as_string::<i32>().iter().map(|value| value.unwrap().to_owned());
                documents.extend(column(0).zip(column(1)));
            }
            Err(failed) => error = Some(failed.to_string()),
        }
    }
    Outcome { documents, skipped: opened.summary().skipped_count, error }
}

/// Reads a file twice, once failing on bad records and once skipping them, and checks that the results agree.
fn check(data: &[u8], format: Format) -> Outcome {
    let strict = read(data, format, OnError::Fail);
    let lenient = read(data, format, OnError::Skip);
    assert_eq!(strict.skipped, 0);
    assert!(lenient.documents.iter().all(|(id, text)| !id.is_empty() && text.len() <= LIMIT));
    if lenient.error.is_none() {
        assert!(lenient.documents.starts_with(&strict.documents), "{strict:?} {lenient:?}");
        assert_eq!(strict.error.is_some(), lenient.skipped > 0, "{strict:?} {lenient:?}");
        assert!(strict.error.is_some() || strict.documents == lenient.documents, "{strict:?} {lenient:?}");
    }
    lenient
}

/// Reads lines again at another offset in the read buffer, and checks that this makes no difference.
fn check_lines(data: &[u8], format: Format) {
    let ([shift], data) = choices(data);
    let read = check(data, format);
    // Only for one shift in eight, as it takes long.
    if shift % 8 > 0 {
        return;
    }
    // Blank lines in front would replace the first four bytes, which indicate the encoding.
    if data.starts_with(&BYTE_ORDER_MARK) || wide_encoding(data).is_some() || read.error.is_some() {
        return;
    }
    let blank = vec![b'\n'; (64 << 10) - shift];
    assert_eq!(check(&[&blank, data].concat(), format), read);
}

pub(crate) fn jsonl(data: &[u8]) {
    check_lines(data, Format::Jsonl);
}

pub(crate) fn csv(data: &[u8]) {
    check_lines(data, Format::Csv);
}

pub(crate) fn parquet(data: &[u8]) {
    check(data, Format::Parquet);
}

pub(crate) fn mediawiki(data: &[u8]) {
    check(data, Format::MediaWiki);
}

/// A reader that returns at most so many bytes at once.
struct Pieces<R>(R, usize);

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let most = buf.len().min(self.1);
        self.0.read(&mut buf[..most])
    }
}

/// Upper bound of the decompressed bytes that are read.
const MOST_DECODED: usize = 1 << 20;

fn decode(data: &[u8], compression: Compression, piece: usize) -> Result<Vec<u8>, Box<Problem>> {
    let file = InputFile { compression, ..InputFile::stdin(Format::Text) };
    Stream::of(&file, Pieces(Cursor::new(data.to_vec()), piece))?.read_all(MOST_DECODED)
}

/// Decodes any bytes, in pieces of any size, and checks that compressed bytes decode to the bytes before compression.
fn decompress(data: &[u8], compression: Compression, compress: impl Fn(&[u8]) -> Vec<u8>) {
    let ([piece, cut], data) = choices(data);
    let whole = decode(data, compression, usize::MAX).map_err(drop);
    // The number of bytes before damaged data depends on the pieces.
    if whole.as_ref().map_or(true, |whole| whole.len() <= MOST_DECODED) {
        assert_eq!(decode(data, compression, 1 + piece).map_err(drop), whole);
    }
    // Data that begin like compressed data would be decoded twice.
    if Compression::of_first_bytes(data) != Compression::Plain {
        return;
    }
    let compressed = compress(data);
    let plain = decode(data, Compression::Plain, usize::MAX).map_err(drop);
    assert_eq!(decode(&compressed, compression, 1 + piece).map_err(drop), plain);
    let cut = compressed.len() * cut / 256;
    assert!(decode(&compressed[..cut], compression, usize::MAX).is_err(), "{cut} of {}", compressed.len());
}

pub(crate) fn gzip(data: &[u8]) {
    decompress(data, Compression::Gzip, |data| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    });
}

pub(crate) fn bzip2(data: &[u8]) {
    decompress(data, Compression::Bzip2, |data| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    });
}

pub(crate) fn zstd(data: &[u8]) {
    decompress(data, Compression::Zstd, |data| zstd::encode_all(data, 1).unwrap());
}

pub(crate) fn xz(data: &[u8]) {
    decompress(data, Compression::Xz, |data| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    });
}

pub(crate) fn tei(data: &[u8]) {
    check(data, Format::Tei);
}

pub(crate) fn warc(data: &[u8]) {
    check(data, Format::Warc);
}

/// Decodes text in one of several encodings, in pieces of any size.
pub(crate) fn encodings(data: &[u8]) {
    const LABELS: [&str; 8] =
        ["utf-16le", "utf-16be", "shift_jis", "gb18030", "big5", "euc-kr", "windows-1252", "iso-2022-jp"];
    let ([label, piece], data) = choices(data);
    let encoding = encoding_of(LABELS[label % LABELS.len()]).unwrap();
    let read = |piece: usize| {
        let mut text = String::new();
        let pieces = BufReader::with_capacity(piece, Cursor::new(data.to_vec()));
        Transcoded::new(pieces, encoding).read_to_string(&mut text).map(|_| text).map_err(drop)
    };
    let whole = read(1 << 20);
    assert_eq!(read(1 + piece), whole);
    let (encoding, start) = Encoding::for_bom(data).unwrap_or((encoding, 0));
    let at_once = encoding.decode_without_bom_handling_and_without_replacement(&data[start..]);
    assert_eq!(whole.ok().as_deref(), at_once.as_deref());
}

/// Reads pages and the charset that they declare. Uses them as patterns for paths, too, as both are short texts.
pub(crate) fn html(data: &[u8]) {
    let page = String::from_utf8_lossy(data);
    assert_eq!(pages::to_text(&page), pages::by_tokenizer_alone(&page));
    let cut = || Cutter::new(Boilerplate::Drop).text(&page);
    assert_eq!(cut(), cut());
    pages::declared_charset(data);
    if let Ok(matcher) = matcher(&page, &page) {
        matcher.is_match("a/b.txt");
    }
    check(data, Format::Html);
}

/// Functions whose running time is measured.
#[cfg(test)]
pub(crate) mod timed {
    use super::*;

    pub(crate) fn html(page: &str) {
        pages::to_text(page);
    }

    /// Reads a file of one record.
    pub(crate) fn record(file: &str, format: Format) {
        read_within(file.as_bytes(), format, OnError::Skip, 64 << 20);
    }
}
