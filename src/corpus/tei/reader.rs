//! The documents of a file, one after the other.
//!
//! After XML that is not well-formed, reading continues at the next `<TEI>`. It also continues at a `<TEI>` that begins
//! before the open elements end.

use ibid_wikitext::Section;
use memchr::memchr_iter;
use quick_xml::events::{BytesStart, Event};

use super::super::paths::InputFile;
use super::super::problem::Problem;
use super::super::stream::Stream;
use super::super::xml::{self, LONGEST_NAME, Metered, attribute, broken, keep, local_name};
use super::entities::{Entities, character};
use super::header::{Header, Named};
use super::text::Text;
use super::{is_corpus, is_document};

/// The deepest that elements may be nested.
const DEPTH: usize = 1000;

/// The remedy for XML that is no TEI.
const NO_TEI: &str = "name another file, or say its format with `input_format`, such as html for the text of any XML, or leave it out with \
     `on_error = skip`";

/// A document.
#[derive(Debug)]
pub(super) struct Document {
    /// Its number in the file, from 1, and where it begins.
    pub(super) record: u64,
    pub(super) line: u64,
    pub(super) byte: u64,
    pub(super) id: String,
    pub(super) header: Header,
    pub(super) text: String,
    pub(super) sections: Vec<Section>,
    /// Its beginning as it stands in the file, for the quarantine.
    pub(super) source: Vec<u8>,
}

/// A document that is being read.
#[derive(Debug, Default)]
struct Begun {
    record: u64,
    line: u64,
    byte: u64,
    /// Its own id.
    id: Option<String>,
    is_in_corpus: bool,
    header: Header,
    text: Option<Text>,
    /// The problem that makes it a bad record.
    problem: Option<Box<Problem>>,
    source: Vec<u8>,
}

/// An open element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Corpus,
    Document,
    /// The header, or an element within it.
    Header,
    /// A `<text>`, or an element within it.
    Text,
    /// An element that is skipped.
    Other,
}

/// A reader of the documents of a file.
pub(super) struct Reader {
    file: String,
    name: String,
    limit: usize,
    /// The reader of XML events. `None` at the end.
    reader: Option<quick_xml::Reader<Metered>>,
    /// The event that is being read, as it stands in the file, and where it begins.
    event: Vec<u8>,
    line: u64,
    byte: u64,
    path: Vec<Element>,
    /// True if the first element has begun.
    has_begun: bool,
    /// True if an element has begun that holds documents.
    has_corpus: bool,
    record: u64,
    entities: Entities,
    document: Option<Begun>,
}

impl Reader {
    pub(super) fn new(file: &InputFile, stream: Stream, limit: usize) -> Self {
        let byte = stream.offset();
        Self {
            file: file.label.clone(),
            name: file.name.clone(),
            limit,
            reader: Some(xml::reader(Metered::new(stream, limit))),
            event: Vec::new(),
            line: 1,
            byte,
            path: Vec::new(),
            has_begun: false,
            has_corpus: false,
            record: 0,
            entities: Entities::default(),
            document: None,
        }
    }

    /// Reads up to the first element, which must be a document or a corpus of TEI.
    pub(super) fn check(&mut self) -> Result<(), Box<Problem>> {
        while !self.has_begun && self.reader.is_some() {
            self.step()?;
        }
        Ok(())
    }

    /// Returns the next document; after a problem, the one after it.
    pub(super) fn next(&mut self) -> Result<Option<Document>, Box<Problem>> {
        while self.reader.is_some() {
            if let Some(document) = self.step()? {
                return Ok(Some(document));
            }
        }
        Ok(None)
    }

    /// Reads an event, and returns the document that ends with it.
    fn step(&mut self) -> Result<Option<Document>, Box<Problem>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut event = std::mem::take(&mut self.event);
        event.clear();
        reader.get_mut().begin_event();
        self.byte = reader.get_ref().offset();
        let read = reader.read_event_into(&mut event);
        let is_cut_off = reader.get_ref().cut_off;
        let mut ended = None;
        let outcome = match read {
            Err(error) => Err(self.broken(&error, &event)),
            Ok(Event::Start(tag)) if self.is_misplaced(local_name(tag.name().into_inner())) => {
                Err(self.begin_again(std::mem::take(&mut event)))
            }
            Ok(Event::Start(tag)) => self.start(&tag, &mut ended),
            Ok(Event::End(tag)) => {
                ended = self.end(local_name(tag.name().into_inner()));
                Ok(())
            }
            Ok(Event::Text(text)) => {
                self.append(&text, is_cut_off);
                Ok(())
            }
            Ok(Event::CData(text)) => {
                self.append(&text, is_cut_off);
                Ok(())
            }
            Ok(Event::GeneralRef(reference)) => {
                self.append_reference(&reference);
                Ok(())
            }
            Ok(Event::DocType(declared)) => {
                self.entities.declare(&declared);
                Ok(())
            }
            Ok(Event::Eof) => self.end_of_file(),
            // Comments, the declaration, processing instructions.
            Ok(_) => Ok(()),
        };
        if let Some(document) = ended.as_mut().or(self.document.as_mut()) {
            keep(&mut document.source, &event);
        }
        self.line += memchr_iter(b'\n', &event).count() as u64;
        if let Some(reader) = &mut self.reader {
            self.line += std::mem::take(&mut reader.get_mut().lines);
        }
        self.event = event;
        outcome?;
        ended.map(|document| self.finished(document)).transpose()
    }

    /// Returns true for a document that begins inside an element that cannot hold one, except in markup that is shown
    /// as an example.
    fn is_misplaced(&self, name: &str) -> bool {
        let is_within = matches!(self.path.last(), Some(Element::Header | Element::Text | Element::Other));
        let text = self.document.as_ref().and_then(|document| document.text.as_ref());
        is_within && is_document(name) && !text.is_some_and(Text::is_in_example)
    }

    /// Returns the problem of the document that is open where a misplaced one begins, or of the misplaced one. Reading
    /// continues at its `tag`.
    fn begin_again(&mut self, tag: Vec<u8>) -> Box<Problem> {
        let problem = match self.document.take() {
            Some(document) => {
                let problem = Problem::new(&self.file, "the document does not end before the next <TEI>");
                document.with_place(problem).showing(&document.source, 0)
            }
            None => self.here(Problem::new(&self.file, "<TEI> begins inside of an element that cannot hold it")),
        };
        self.path.clear();
        self.path.push(Element::Corpus);
        self.reader = self.reader.take().map(|reader| xml::reader(reader.into_inner().replaying(tag)));
        problem
    }

    fn start(&mut self, tag: &BytesStart<'_>, ended: &mut Option<Begun>) -> Result<(), Box<Problem>> {
        let name = tag.name().into_inner();
        if self.path.len() == DEPTH || name.len() > LONGEST_NAME {
            let reason = if name.len() > LONGEST_NAME {
                format!("the name of an element is longer than {LONGEST_NAME} bytes")
            } else {
                format!("elements are nested more than {DEPTH} deep")
            };
            let problem = self.here(Problem::new(&self.file, reason));
            return Err(self.go_on_after(problem));
        }
        let name = local_name(name);
        let element = match self.path.last() {
            None | Some(Element::Corpus) if is_corpus(name) => Element::Corpus,
            None | Some(Element::Corpus) if is_document(name) => {
                self.begin(tag);
                Element::Document
            }
            None => return Err(self.no_tei(name)),
            // The document around this one ends here if it has a text or a problem.
            Some(Element::Document) if is_document(name) => {
                *ended = self.document.take_if(|document| document.text.is_some() || document.problem.is_some());
                self.begin(tag);
                Element::Document
            }
            Some(Element::Document) if name == "teiHeader" => Element::Header,
            Some(Element::Document) if name == "text" => Element::Text,
            Some(Element::Header) => Element::Header,
            Some(Element::Text) => Element::Text,
            Some(Element::Corpus | Element::Document | Element::Other) => Element::Other,
        };
        self.has_begun = true;
        self.has_corpus |= element == Element::Corpus;
        self.path.push(element);
        let Some(document) = &mut self.document else { return Ok(()) };
        match element {
            Element::Header => document.header.start(name, tag),
            Element::Text => {
                if document.text.is_none() {
                    document.header.add_language(Named::Text, attribute(tag, "xml:lang"));
                }
                document.text.get_or_insert_default().start(name, tag);
            }
            Element::Corpus | Element::Document | Element::Other => {}
        }
        Ok(())
    }

    fn begin(&mut self, tag: &BytesStart<'_>) {
        // The document around this one had no text, so this one takes its number.
        self.record = self.document.take().map_or(self.record + 1, |document| document.record);
        let mut document = Begun {
            record: self.record,
            line: self.line,
            byte: self.byte,
            id: attribute(tag, "xml:id").or_else(|| attribute(tag, "id")).filter(|id| !id.is_empty()),
            is_in_corpus: !self.path.is_empty(),
            ..Begun::default()
        };
        document.header.add_language(Named::Tei, attribute(tag, "xml:lang"));
        self.document = Some(document);
    }

    fn end(&mut self, name: &str) -> Option<Begun> {
        // The end of an element that began before a problem.
        if self.path.as_slice() == [Element::Corpus] && !is_corpus(name) {
            return None;
        }
        let element = self.path.pop()?;
        match (element, &mut self.document) {
            (Element::Document, _) => return self.document.take(),
            (Element::Header, Some(document)) => document.header.end(),
            (Element::Text, Some(Begun { text: Some(text), .. })) => text.end(),
            _ => {}
        }
        None
    }

    /// Returns a document that has ended.
    fn finished(&self, document: Begun) -> Result<Document, Box<Problem>> {
        let place = |problem| document.with_place(problem).showing(&document.source, 0);
        if let Some(problem) = &document.problem {
            let excerpt = problem.excerpt.clone();
            let mut problem = problem.clone().showing(&document.source, 0);
            problem.excerpt = excerpt;
            return Err(problem);
        }
        let Begun { text: Some(_), .. } = &document else {
            return Err(place(Problem::new(&self.file, "the document has no <text>")));
        };
        let (record, line, byte) = (document.record, document.line, document.byte);
        let id = match &document.id {
            Some(id) => id.clone(),
            None if document.is_in_corpus || record > 1 => format!("{}#{record}", self.name),
            None => self.name.clone(),
        };
        let Begun { header, text, source, .. } = document;
        let (text, sections) = text.unwrap_or_default().finish();
        let document = Document { record, line, byte, id, header, text, sections, source };
        if document.text.len() > self.limit {
            let problem = Problem::too_long(&self.file, "the text of the document", self.limit);
            return Err(problem.in_record(record).at_line(line).at_byte(byte).showing(&document.source, 0));
        }
        Ok(document)
    }

    /// Adds characters to the current element. If they are cut off, their rest was skipped.
    fn append(&mut self, text: &str, is_cut_off: bool) {
        let Some(document) = self.document.as_mut().filter(|document| document.problem.is_none()) else { return };
        let limit = if is_cut_off { 0 } else { self.limit };
        let (what, taken) = match (self.path.last(), &mut document.text) {
            (Some(Element::Header), _) => ("a field of the header", document.header.characters(text, limit)),
            (Some(Element::Text), Some(layout)) => ("the text of the document", layout.characters(text, limit)),
            _ => return,
        };
        if taken.is_err() {
            let problem = Problem::too_long(&self.file, what, self.limit).showing(text.as_bytes(), 0);
            document.problem = Some(document.with_place(problem));
            document.text = Some(Text::default());
        }
    }

    fn append_reference(&mut self, name: &str) {
        if !matches!(self.path.last(), Some(Element::Header | Element::Text)) {
            return;
        }
        let character = match name.strip_prefix('#') {
            Some(_) => character(name).map(String::from).ok_or("is no character of XML"),
            None => self.entities.text(name).map(str::to_owned),
        };
        match character {
            Ok(text) => self.append(&text, false),
            Err(reason) => {
                let shown: String = name.chars().take(40).collect();
                let problem = self.here(Problem::new(&self.file, format!("the entity &{shown}; {reason}"))).remedy(
                    "put its text in its place, or declare it in the document type, or leave bad records out with `on_error = skip`",
                );
                if let Some(document) = &mut self.document {
                    document.problem.get_or_insert(problem);
                }
            }
        }
    }

    fn end_of_file(&mut self) -> Result<(), Box<Problem>> {
        self.reader = None;
        let problem = if !self.has_begun {
            Problem::new(&self.file, "it is no TEI: it has no element <TEI>").remedy(NO_TEI)
        } else if self.path.is_empty() || (!self.has_corpus && self.path.as_slice() == [Element::Corpus]) {
            return Ok(());
        } else {
            let last = if self.document.is_some() { "TEI" } else { "teiCorpus" };
            Problem::new(&self.file, format!("the file ends before </{last}>"))
                .remedy("the file is cut off: fetch it again, or read what is there with `on_error = skip`")
        };
        let problem = self.here(problem);
        Err(self.with_source(problem))
    }

    fn no_tei(&mut self, name: &str) -> Box<Problem> {
        let shown: String = name.chars().take(40).collect();
        if self.has_begun {
            let problem = self.here(Problem::new(&self.file, format!("<{shown}> stands outside of <TEI>")));
            return self.go_on_after(problem);
        }
        self.reader = None;
        let reason = format!("it is no TEI: its first element is <{shown}>, not <TEI>");
        self.here(Problem::new(&self.file, reason)).remedy(NO_TEI)
    }

    /// Sets the place of a problem to the event that is being read.
    fn here(&self, problem: Box<Problem>) -> Box<Problem> {
        let problem = problem.at_line(self.line).at_byte(self.byte);
        match &self.document {
            Some(document) => problem.in_record(document.record),
            None => problem,
        }
    }

    /// Ends the open document, and adds its source to a problem, for the quarantine.
    fn with_source(&mut self, mut problem: Box<Problem>) -> Box<Problem> {
        let Some(document) = self.document.take() else { return problem };
        let excerpt = problem.excerpt.take();
        let mut problem = problem.showing(&document.source, 0).cut();
        problem.excerpt = excerpt;
        problem
    }

    /// Returns the problem of an event that cannot be read. Reading continues at the next document.
    fn broken(&mut self, error: &quick_xml::Error, event: &[u8]) -> Box<Problem> {
        let source = self.reader.as_mut().map(quick_xml::Reader::get_mut);
        let is_too_long = source.as_ref().is_some_and(|source| source.too_long);
        if let Some(problem) = source.and_then(|source| source.failure.take()) {
            self.reader = None;
            let problem = problem.at_line(self.line).cut();
            return self.with_source(problem);
        }
        let problem = broken(&self.file, error, event, (self.line, self.byte), is_too_long.then_some(self.limit));
        let problem = match &self.document {
            Some(document) => problem.in_record(document.record),
            None => problem,
        };
        self.go_on_after(problem)
    }

    /// Continues at the next document, or the end of a corpus, after a problem. Returns the problem.
    fn go_on_after(&mut self, problem: Box<Problem>) -> Box<Problem> {
        let problem = self.with_source(problem.cut());
        let source = self.reader.take().map(quick_xml::Reader::into_inner).filter(|_| self.has_begun);
        let is_place = |name: &[u8]| {
            let (name, ends) = name.strip_prefix(b"/").map_or((name, false), |name| (name, true));
            let name = local_name(str::from_utf8(name).unwrap_or_default());
            if ends { is_corpus(name) } else { is_document(name) }
        };
        self.reader = source.and_then(|source| source.seek(is_place)).map(xml::reader);
        self.path.clear();
        self.path.push(Element::Corpus);
        problem
    }
}

impl Begun {
    fn with_place(&self, problem: Box<Problem>) -> Box<Problem> {
        problem.in_record(self.record).at_line(self.line).at_byte(self.byte)
    }
}
