//! Plain text, a document a line. Lines of white space are passed over.

use super::batch::Row;
use super::problem::Problem;
use super::stream::{Record, Stream};
use super::{Context, Item};

/// Returns the documents of a file.
pub(super) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut stream = Stream::open(&context.file)?;
    let (mut line, mut bytes, mut ended) = (0, Vec::new(), false);
    Ok(std::iter::from_fn(move || {
        while !ended {
            let (start, file) = (stream.offset(), &context.file.label);
            line += 1;
            let problem = |problem: Box<Problem>| Some(Err(problem.at_line(line).at_byte(start)));
            match stream.read_line(context.limit, &mut bytes) {
                Err(unreadable) => {
                    ended = true;
                    return Some(Err(unreadable.at_line(line)));
                }
                Ok(Record::End) => break,
                Ok(Record::TooLong) => {
                    return problem(Problem::too_long(file, "the line", context.limit).showing(&bytes, 0));
                }
                Ok(Record::Read) => {}
            }
            let text = match str::from_utf8(&bytes) {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => text.to_owned(),
                Err(error) => {
                    let at = error.valid_up_to();
                    return Some(Err(Problem::not_utf8(file, &bytes, at).at_line(line).at_byte(start + at as u64)));
                }
            };
            return Some(Ok(Item::Row(Row {
                record: line,
                line: Some(line),
                id: context.record_id(line),
                text,
                others: Vec::new(),
            })));
        }
        ended = true;
        None
    }))
}

#[cfg(test)]
mod tests {
    use super::super::paths::Format;
    use super::super::testing::{Folder, documents};
    use super::super::{OnError, Options};

    #[test]
    fn each_line_is_a_document() {
        let folder = Folder::of(&[("a.txt", b"\xEF\xBB\xBFone\r\n\n \ntwo"), ("b.log", b"1234567\n\xFF\nthree\n")]);
        let options =
            Options { format: Some(Format::Lines), max_record_bytes: 6, on_error: OnError::Skip, ..Options::default() };
        let expected = documents(&[("a.txt#1", "one"), ("a.txt#4", "two"), ("b.log#3", "three")]);
        assert_eq!(folder.read(&[""], &options).unwrap(), expected);
        let error = folder.error(&["b.log"], &Options { on_error: OnError::Fail, ..options.clone() });
        assert!(error.contains("b.log, line 1, byte 0") && error.contains("longer than 6 bytes"), "{error}");
        let error = folder.error(&["b.log"], &Options { on_error: OnError::Fail, max_record_bytes: 9, ..options });
        assert!(error.contains("b.log, line 2, byte 8: the byte 0xFF is not valid UTF-8"), "{error}");
    }
}
