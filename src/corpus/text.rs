//! Files that are one document: plain text and Markdown as they are, HTML without its markup.

use super::Context;
use super::batch::Row;
use super::encoding::decoded;
use super::html;
use super::paths::Format;
use super::problem::Problem;
use super::stream::Stream;

/// Reads the document. Plain text is kept to the byte, line ends included, without a byte order mark.
pub(crate) fn read(context: &Context) -> Result<Row, Box<Problem>> {
    let file = &context.file;
    let mut stream = Stream::open(file)?;
    let start = stream.offset();
    let bytes = stream.read_all(context.limit)?;
    if bytes.len() > context.limit {
        return Err(Problem::too_long(&file.label, "the document", context.limit));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let (at, bytes) = (error.utf8_error().valid_up_to(), error.into_bytes());
            let declared = if file.format == Format::Html { html::declared_charset(&bytes) } else { None };
            match decoded(&bytes, declared.as_deref()) {
                Some(text) => text,
                None => return Err(bad_bytes(&file.label, &bytes, at, start, declared.as_deref())),
            }
        }
    };
    let text = if file.format == Format::Html { context.cutter.text(&text) } else { text };
    if text.len() > context.limit {
        return Err(Problem::too_long(&file.label, "the document", context.limit));
    }
    Ok(Row { record: 1, line: None, id: file.name.clone(), text, others: Vec::new() })
}

fn bad_bytes(file: &str, bytes: &[u8], at: usize, start: u64, declared: Option<&str>) -> Box<Problem> {
    let line = bytes[..at].iter().filter(|b| **b == b'\n').count() as u64 + 1;
    let problem = Problem::not_utf8(file, bytes, at).at_line(line).at_byte(start + at as u64);
    match declared {
        Some(charset) if charset != "utf-8" => problem.remedy(format!(
            "it declares the charset {charset}, but is not valid in it, or the charset is not known: name the right \
             one with `encoding`, or leave bad records out with `on_error = skip`"
        )),
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::testing::{Folder, documents, skip};

    #[test]
    fn text_is_kept_to_the_byte() {
        let folder = Folder::of(&[("a.txt", b"\xEF\xBB\xBFone\r\n\ttwo \n"), ("b.md", b"# *three*\n"), ("c.txt", b"")]);
        let expected = documents(&[("a.txt", "one\r\n\ttwo \n"), ("b.md", "# *three*\n"), ("c.txt", "")]);
        assert_eq!(folder.read(&[""], &Options::default()).unwrap(), expected);
    }

    #[test]
    fn bad_bytes_are_an_error_that_says_where() {
        let folder = Folder::of(&[("a.txt", b"\xEF\xBB\xBFone\ncaf\xE9 two"), ("b.txt", b"good")]);
        assert_eq!(
            folder.error(&[""], &Options::default()),
            "a.txt, line 2, byte 10: the byte 0xE9 is not valid UTF-8: \"one\\ncaf\u{FFFD} two\"; read the file with `encoding = \
             windows-1252` if that is what it is, convert it to UTF-8, or leave bad records out with `on_error = skip`"
        );
        assert_eq!(folder.read(&[""], &skip()).unwrap(), documents(&[("b.txt", "good")]));
    }

    #[test]
    fn a_document_over_the_limit_is_an_error_and_at_it_is_not() {
        let folder = Folder::of(&[("a.txt", b"12345678")]);
        let limited = |max_record_bytes| Options { max_record_bytes, ..Options::default() };
        assert_eq!(folder.read(&[""], &limited(8)).unwrap().len(), 1);
        let error = folder.error(&[""], &limited(7));
        assert!(error.contains("longer than 7 bytes") && error.contains("`max_record_bytes`"), "{error}");
    }

    #[test]
    fn pages_lose_their_markup_in_utf_8_and_latin_1() {
        let folder = Folder::of(&[
            ("a.html", "<title>é</title><p>中".as_bytes()),
            ("b.htm", b"<meta charset=iso-8859-1><p>caf\xE9"),
            // Valid UTF-8 is read as UTF-8: pages are converted more often than their declarations.
            ("c.xhtml", "<?xml version='1.0' encoding='gb2312'?><p>中</p>".as_bytes()),
        ]);
        let expected = documents(&[("a.html", "é\n\n中"), ("b.htm", "café"), ("c.xhtml", "中")]);
        assert_eq!(folder.read(&[""], &Options::default()).unwrap(), expected);
    }

    #[test]
    fn declared_charsets_are_read_and_wrong_ones_are_named() {
        let folder = Folder::of(&[
            ("a.html", b"<meta charset=GB2312><p>\xD6\xD0"),
            ("b.html", b"<meta charset=nonsense><p>\xD6"),
        ]);
        assert_eq!(folder.read(&["a.html"], &Options::default()).unwrap(), documents(&[("a.html", "中")]));
        let error = folder.error(&["b.html"], &Options::default());
        assert!(
            error.contains("b.html, line 1, byte 26") && error.contains("declares the charset nonsense"),
            "{error}"
        );
    }

    #[test]
    fn text_in_another_encoding_is_read_where_it_is_named() {
        let folder = Folder::of(&[("a.txt", b"caf\xE9"), ("b.csv", b"id,text\n1,d\xE9j\xE0 vu\n")]);
        let encoding = Some(super::super::encoding_of("windows-1252").unwrap());
        let options = Options { encoding, ..Options::default() };
        assert_eq!(folder.read(&["a.txt"], &options).unwrap(), documents(&[("a.txt", "café")]));
        assert_eq!(folder.read(&["b.csv"], &options).unwrap(), documents(&[("1", "déjà vu")]));
    }
}
