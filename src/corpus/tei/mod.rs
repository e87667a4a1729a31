//! TEI XML, such as editions and transcriptions (P5, and P4 as far as it is the same). Each `<TEI>` is a document, with
//! the content of its `<text>`.
//!
//! [`reader`] reads the XML, one event at a time, [`text`] lays out the content of `<text>`, [`header`] has the fields
//! of the `<teiHeader>`, and [`entities`] has the entities that the document type declares. `docs/input.md` describes
//! the treatment of each kind of element.

mod entities;
mod header;
mod reader;
mod text;

#[cfg(test)]
mod tests;

use encoding_rs::{Encoding, UTF_8};

use self::reader::{Document, Reader};
use super::batch::Cell;
use super::columns::{FileColumns, Kind};
use super::mediawiki::sections;
use super::paths::{Decoding, InputFile};
use super::problem::Problem;
use super::stream::Stream;
use super::xml::declared_encoding;
use super::{Context, Item};

/// The column that ids come from, unless another is named.
pub(super) const ID_COLUMN: &str = "id";

/// Returns true if an element of this name, without its prefix, is a document.
pub(super) fn is_document(name: &str) -> bool {
    matches!(name, "TEI" | "TEI.2")
}

/// Returns true if an element of this name, without its prefix, holds documents.
pub(super) fn is_corpus(name: &str) -> bool {
    matches!(name, "teiCorpus" | "teiCorpus.2")
}

/// Returns the columns of a file. Fails on a file that is no TEI.
pub(super) fn columns(file: &InputFile, limit: usize) -> Result<FileColumns, Box<Problem>> {
    Reader::new(file, open(file)?, limit).check()?;
    let mut columns = FileColumns::default();
    for name in [ID_COLUMN, "text", "title", "author", "date", "language"] {
        // This does not fail with seven columns.
        let _ = columns.add(name, Kind::Text);
    }
    let _ = columns.add("sections", Kind::Other(sections::data_type()));
    Ok(columns)
}

/// Returns the documents of a file.
pub(super) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut reader = Reader::new(&context.file, open(&context.file)?, context.limit);
    Ok(std::iter::from_fn(move || {
        let next = reader.next().transpose()?;
        Some(next.and_then(|document| item(&context, document)))
    }))
}

fn item(context: &Context, document: Document) -> Result<Item, Box<Problem>> {
    let Document { record, line, byte, id, header, text, sections, source } = document;
    let [title, author, date, language] = header.into_fields();
    let text_of = |value: Option<String>| value.map(Cell::Text);
    let cells = [
        (ID_COLUMN, Some(Cell::Text(id))),
        ("title", text_of(title)),
        ("author", text_of(author)),
        ("date", text_of(date)),
        ("language", text_of(language)),
        ("sections", Some(Cell::Sections(sections))),
    ];
    let row = context.row(record, Some(line), cells, text);
    row.map(Item::Row).map_err(|problem| problem.in_record(record).at_line(line).at_byte(byte).showing(&source, 0))
}

/// Opens a file in the encoding that it declares, unless the user names another one.
fn open(file: &InputFile) -> Result<Stream, Box<Problem>> {
    let mut stream = Stream::open(file)?;
    if file.decoding.encoding.is_some() {
        return Ok(stream);
    }
    let head = stream.read_all(LONGEST_DECLARATION)?;
    let encoding = match declared_encoding(&head) {
        None => None,
        Some(label) => match Encoding::for_label(label.as_bytes()) {
            // A file with two bytes a character shows it in its first bytes, so a declared UTF-16 counts as UTF-8 here.
            Some(encoding) => Some(encoding.output_encoding()).filter(|encoding| *encoding != UTF_8),
            None => {
                let reason = format!("it declares the encoding {label}, which is not known");
                return Err(Problem::new(&file.label, reason)
                    .at_line(1)
                    .remedy("name the encoding with `encoding`, or leave bad records out with `on_error = skip`"));
            }
        },
    };
    let decoding = Decoding { encoding, ..file.decoding };
    Stream::open(&InputFile { decoding, ..file.clone() })
}

/// The longest declaration of XML that is looked for.
const LONGEST_DECLARATION: usize = 1023;
