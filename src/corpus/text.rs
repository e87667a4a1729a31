//! Files that are one document: plain text and Markdown as they are, HTML without its markup.

use super::Context;
use super::batch::Row;
use super::compression::Stream;
use super::html;
use super::paths::Format;
use super::problem::Problem;

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
            match declared.as_deref() {
                Some("iso-8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252") => html::from_windows_1252(&bytes),
                declared => return Err(bad_bytes(&file.label, &bytes, at, start, declared)),
            }
        }
    };
    let text = if file.format == Format::Html { html::to_text(&text) } else { text };
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
            "it declares the charset {charset}, of which only UTF-8, ISO-8859-1 and windows-1252 are read: convert it \
             (iconv -f {charset} -t UTF-8), or leave bad records out with --on-error skip"
        )),
        _ => problem,
    }
}
