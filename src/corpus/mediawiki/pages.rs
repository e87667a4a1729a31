//! The pages of a dump, one after the other: XML to titles, numbers and the text of the last revision.
//!
//! After XML that is not well-formed, reading continues at the next page, head or end of a dump. It also continues at a
//! `<page>` that begins before the open elements end. If a text is too long, its rest is skipped. Anything else that is
//! too long ends the page.

use std::sync::Arc;

use ibid_wikitext::Site;
use memchr::memchr_iter;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::super::paths::InputFile;
use super::super::problem::Problem;
use super::super::stream::Stream;
use super::super::xml::{LONGEST_NAME, Metered, attribute, broken, keep, reader};
use super::{LeftOut, PageFilter};

/// The deepest that elements may be nested. Dumps have six levels.
const DEPTH: usize = 32;

/// The remedy for XML that is no dump.
const NO_DUMP: &str = "name another file, or say its format with `input_format`, such as html for the text of any XML, or leave it out with \
     `on_error = skip`";

/// A page, with its last revision.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Its number in the file, from 1, and where it begins.
    pub(super) record: u64,
    pub(super) line: u64,
    pub(super) byte: u64,
    pub(super) title: String,
    pub(super) namespace: Option<i64>,
    pub(super) id: Option<i64>,
    /// The title that the page redirects to.
    pub(super) redirect: Option<String>,
    pub(super) revision: Option<i64>,
    pub(super) timestamp: Option<String>,
    /// The content model of the text, if the dump names it.
    pub(super) model: Option<String>,
    pub(super) text: String,
    /// The reason why the page is not wanted. Its text is empty then.
    pub(super) left_out: Option<LeftOut>,
    /// The beginning of the page as it stands in the file, as far as it was read, for the quarantine.
    pub(super) source: Vec<u8>,
}

/// A kind of element in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    MediaWiki,
    SiteInfo,
    Namespaces,
    Namespace,
    Page,
    Title,
    PageNamespace,
    PageId,
    Revision,
    RevisionId,
    Timestamp,
    Model,
    Text,
    Other,
}

impl Element {
    fn of(parent: Option<Self>, name: &str) -> Self {
        match (parent, name) {
            (None, "mediawiki") => Self::MediaWiki,
            (Some(Self::MediaWiki), "siteinfo") => Self::SiteInfo,
            (Some(Self::SiteInfo), "namespaces") => Self::Namespaces,
            (Some(Self::Namespaces), "namespace") => Self::Namespace,
            (Some(Self::MediaWiki), name) if is_page(name.as_bytes()) => Self::Page,
            (Some(Self::Page), "title") => Self::Title,
            (Some(Self::Page), "ns") => Self::PageNamespace,
            (Some(Self::Page), "id") => Self::PageId,
            (Some(Self::Page), "revision") => Self::Revision,
            (Some(Self::Revision), "id") => Self::RevisionId,
            (Some(Self::Revision), "timestamp") => Self::Timestamp,
            (Some(Self::Revision), "model") => Self::Model,
            (Some(Self::Revision), "text") => Self::Text,
            _ => Self::Other,
        }
    }
}

/// Returns true if an element of this name is a page, in any namespace.
fn is_page(name: &[u8]) -> bool {
    name == b"page" || name.ends_with(b":page")
}

/// Returns true if reading can continue at a tag of this name.
fn is_place(name: &[u8]) -> bool {
    matches!(name, b"mediawiki" | b"/mediawiki") || (is_page(name) && !name.starts_with(b"/"))
}

/// A reader of the pages of a file.
pub(super) struct Pages {
    file: String,
    limit: usize,
    filter: Arc<PageFilter>,
    site: Site,
    /// The reader of XML events. `None` at the end.
    reader: Option<Reader<Metered>>,
    /// The event that is being read, as it stands in the file, and where it begins.
    event: Vec<u8>,
    line: u64,
    byte: u64,
    path: Vec<Element>,
    /// True if the first element has begun.
    begun: bool,
    record: u64,
    page: Page,
    /// The text of the element that is being read, other than the text of a revision.
    field: String,
    /// The first problem of the page.
    problem: Option<Box<Problem>>,
    /// The problem of the text of its last revision.
    text_problem: Option<Box<Problem>>,
    /// The number of the namespace whose name is being read.
    namespace: String,
}

impl Pages {
    pub(crate) fn open(file: &InputFile, limit: usize, filter: &Arc<PageFilter>) -> Result<Self, Box<Problem>> {
        let stream = Stream::open(file)?;
        let byte = stream.offset();
        Ok(Self {
            file: file.label.clone(),
            limit,
            filter: Arc::clone(filter),
            site: Site::default(),
            reader: Some(reader(Metered::new(stream, limit))),
            event: Vec::new(),
            line: 1,
            byte,
            path: Vec::new(),
            begun: false,
            record: 0,
            page: Page::default(),
            field: String::new(),
            problem: None,
            text_problem: None,
            namespace: String::new(),
        })
    }

    /// Reads the file up to its first element, which must be `<mediawiki>`.
    pub(super) fn check(&mut self) -> Result<(), Box<Problem>> {
        while !self.begun && self.step()?.is_some() {}
        Ok(())
    }

    /// Returns the next page; after a problem, the one after it.
    pub(super) fn next(&mut self) -> Result<Option<(&Page, &Site)>, Box<Problem>> {
        loop {
            match self.step()? {
                None => return Ok(None),
                Some(false) => {}
                Some(true) => return Ok(Some((&self.page, &self.site))),
            }
        }
    }

    /// Reads an event. Returns `None` at the end, and true if the event ends a page.
    fn step(&mut self) -> Result<Option<bool>, Box<Problem>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut event = std::mem::take(&mut self.event);
        event.clear();
        reader.get_mut().begin_event();
        self.byte = reader.get_ref().offset();
        let read = reader.read_event_into(&mut event);
        let cut_off = reader.get_ref().cut_off;
        let within = self.path.contains(&Element::Page);
        let outcome = match read {
            Err(error) => Err(self.broken(&error, &event)),
            Ok(Event::Start(tag)) => match self.misplaced(tag.name().into_inner()) {
                None => self.start(&tag).map(|()| false),
                Some(parents) => Err(self.begin_again(std::mem::take(&mut event), parents)),
            },
            Ok(Event::End(tag)) => self.end(tag.name().into_inner()),
            Ok(Event::Text(text)) => {
                self.append(&text.into_inner(), cut_off);
                Ok(false)
            }
            Ok(Event::CData(text)) => {
                self.append(&text.into_inner(), cut_off);
                Ok(false)
            }
            Ok(Event::GeneralRef(reference)) => {
                self.reference(&reference);
                Ok(false)
            }
            Ok(Event::Eof) => self.end_of_file().map(|()| false),
            // Comments, the declaration, a document type.
            Ok(_) => Ok(false),
        };
        if within || self.path.contains(&Element::Page) {
            keep(&mut self.page.source, &event);
        }
        let outcome = outcome.map_err(|problem| if within { self.with_page(problem) } else { problem });
        self.line += memchr_iter(b'\n', &event).count() as u64;
        if let Some(reader) = &mut self.reader {
            self.line += std::mem::take(&mut reader.get_mut().lines);
        }
        self.event = event;
        outcome.map(Some)
    }

    /// Returns the elements that must be open where a page, or the head of a dump, begins. `None` if the element is
    /// neither of them, or is in its place.
    fn misplaced(&self, name: &str) -> Option<&'static [Element]> {
        let parents: &'static [Element] = match name {
            "mediawiki" => &[],
            name if is_page(name.as_bytes()) => &[Element::MediaWiki],
            _ => return None,
        };
        (self.begun && self.path != parents).then_some(parents)
    }

    /// Returns the problem of a misplaced page or head, or of the page that is open where it begins. Reading continues
    /// at its `tag`.
    fn begin_again(&mut self, tag: Vec<u8>, parents: &[Element]) -> Box<Problem> {
        let name = if parents.is_empty() { "mediawiki" } else { "page" };
        let problem = if self.path.contains(&Element::Page) {
            let Page { record, line, byte, source, .. } = &self.page;
            let reason = format!("the page does not end before the next <{name}>");
            let problem = Problem::new(&self.file, reason).showing(source, 0);
            problem.in_record(*record).at_line(*line).at_byte(*byte)
        } else {
            let reason = if self.path.is_empty() {
                format!("<{name}> stands outside of <mediawiki>")
            } else {
                format!("<{name}> begins inside of an element that cannot hold it")
            };
            self.here(Problem::new(&self.file, reason).showing(&tag, 0))
        };
        self.path.clear();
        self.path.extend_from_slice(parents);
        self.reader = self.reader.take().map(|taken| reader(taken.into_inner().replaying(tag)));
        problem
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Box<Problem>> {
        let name = tag.name();
        let name: &str = name.as_ref();
        let element = Element::of(self.path.last().copied(), name);
        if self.path.is_empty() {
            if element != Element::MediaWiki {
                let shown: String = name.chars().take(40).collect();
                if self.begun {
                    let reason = format!("<{shown}> stands outside of <mediawiki>");
                    let problem = self.here(Problem::new(&self.file, reason));
                    return Err(self.go_on_after(problem));
                }
                self.reader = None;
                let reason = format!(
                    "it is no MediaWiki dump and no TEI: its first element is <{shown}>, not <mediawiki> or <TEI>"
                );
                return Err(self.here(Problem::new(&self.file, reason)).remedy(NO_DUMP));
            }
            self.begun = true;
            self.site = Site::default();
            if let Some(language) = attribute(tag, "xml:lang") {
                self.site.set_language(&language);
            }
        }
        if self.path.len() == DEPTH || name.len() > LONGEST_NAME {
            let reason = if name.len() > LONGEST_NAME {
                format!("the name of an element is longer than {LONGEST_NAME} bytes")
            } else {
                format!("elements are nested more than {DEPTH} deep")
            };
            let problem = self.here(Problem::new(&self.file, reason));
            return Err(self.go_on_after(problem));
        }
        match element {
            Element::Page => {
                self.record += 1;
                let Page { mut text, mut source, .. } = std::mem::take(&mut self.page);
                text.clear();
                source.clear();
                let (record, line, byte) = (self.record, self.line, self.byte);
                self.page = Page { record, line, byte, text, source, ..Page::default() };
                (self.problem, self.text_problem) = (None, None);
            }
            Element::Revision => {
                self.page.text.clear();
                (self.page.revision, self.page.timestamp, self.page.model) = (None, None, None);
                self.text_problem = None;
                self.page.left_out = self.filter.leaves_out(&self.page);
            }
            Element::Text => {
                self.page.text.clear();
                self.text_problem = None;
            }
            Element::Namespace => self.namespace = attribute(tag, "key").unwrap_or_default(),
            Element::Other if name == "redirect" && self.path.last() == Some(&Element::Page) => {
                self.page.redirect = Some(attribute(tag, "title").unwrap_or_default());
            }
            _ => {}
        }
        self.field.clear();
        self.path.push(element);
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<bool, Box<Problem>> {
        // The end of an element that began before a problem.
        if self.path.len() == 1 && name != "mediawiki" {
            return Ok(false);
        }
        let Some(element) = self.path.pop() else { return Ok(false) };
        let number = match element {
            Element::PageNamespace | Element::PageId | Element::RevisionId => self.number(),
            _ => None,
        };
        match element {
            Element::Title => self.page.title = std::mem::take(&mut self.field),
            Element::PageNamespace => self.page.namespace = number,
            Element::PageId => self.page.id = number,
            Element::RevisionId => self.page.revision = number,
            Element::Timestamp => self.page.timestamp = Some(std::mem::take(&mut self.field)),
            Element::Model => self.page.model = Some(std::mem::take(&mut self.field)),
            Element::Namespace => self.site.add_namespace(&self.namespace, &self.field),
            Element::Page => return self.end_page().map(|()| true),
            _ => {}
        }
        Ok(false)
    }

    fn end_page(&mut self) -> Result<(), Box<Problem>> {
        let missing = match &self.page {
            Page { title, .. } if title.is_empty() => Some("<title>"),
            Page { namespace: None, .. } => Some("<ns>"),
            Page { id: None, .. } => Some("<id>"),
            Page { revision: None, .. } => Some("<revision> with an <id>"),
            _ => None,
        };
        if let Some(problem) = self.problem.take().or_else(|| self.text_problem.take()) {
            return Err(problem);
        }
        match missing {
            None => Ok(()),
            Some(missing) => {
                let Page { record, line, byte, text, .. } = &self.page;
                let problem = Problem::new(&self.file, format!("the page has no {missing}"));
                Err(problem.in_record(*record).at_line(*line).at_byte(*byte).showing(text.as_bytes(), 0))
            }
        }
    }

    /// Returns the whole number in the current element. Records a problem if it holds something else.
    fn number(&mut self) -> Option<i64> {
        let number = self.field.trim().parse().ok();
        if number.is_none() {
            let problem = Problem::new(&self.file, "not a whole number of 64 bits").showing(self.field.as_bytes(), 0);
            self.problem = self.problem.take().or_else(|| Some(self.here(problem)));
        }
        number
    }

    /// Adds text to the current element. If it is `cut_off`, its rest was skipped.
    fn append(&mut self, text: &str, cut_off: bool) {
        let fits = |field: &str| !cut_off && field.len() + text.len() <= self.limit;
        match self.path.last() {
            Some(Element::Text) if self.page.left_out.is_some() || self.text_problem.is_some() => {}
            Some(Element::Text) if fits(&self.page.text) => self.page.text.push_str(text),
            Some(Element::Text) => {
                let title: String = self.page.title.chars().take(80).collect();
                let shown = if self.page.text.is_empty() { text } else { &self.page.text };
                self.text_problem = Some(self.too_long(&format!("the text of the page {title:?}"), shown));
                self.page.text.clear();
            }
            None | Some(Element::Other | Element::MediaWiki | Element::SiteInfo | Element::Namespaces) => {}
            Some(Element::Page | Element::Revision) => {}
            Some(_) if fits(&self.field) => self.field.push_str(text),
            Some(_) => {
                if self.problem.is_none() {
                    self.problem = Some(self.too_long("an element of the page", text));
                }
            }
        }
    }

    fn too_long(&self, what: &str, shown: &str) -> Box<Problem> {
        let Page { record, line, byte, .. } = self.page;
        let problem = Problem::too_long(&self.file, what, self.limit).showing(shown.as_bytes(), 0);
        problem.in_record(record).at_line(line).at_byte(byte)
    }

    fn reference(&mut self, reference: &BytesRef<'_>) {
        let mut buffer = [0; 4];
        let text = match reference.resolve_char_ref() {
            Ok(Some(c)) => Some(&*c.encode_utf8(&mut buffer)),
            Ok(None) => resolve_xml_entity(reference),
            Err(_) => None,
        };
        match text {
            Some(text) => self.append(text, false),
            None if self.path.contains(&Element::Page) => {
                let shown: String = reference.chars().take(40).collect();
                let problem = self.here(Problem::new(&self.file, format!("&{shown}; is no character of XML")));
                self.problem = self.problem.take().or(Some(problem));
            }
            None => {}
        }
    }

    fn end_of_file(&mut self) -> Result<(), Box<Problem>> {
        self.reader = None;
        let problem = if !self.begun {
            Problem::new(&self.file, "it is no MediaWiki dump and no TEI: it has no element <mediawiki> or <TEI>")
                .remedy(NO_DUMP)
        } else if self.path.is_empty() {
            return Ok(());
        } else {
            Problem::new(&self.file, "the file ends before </mediawiki>")
                .remedy("the file is cut off: fetch it again, or read what is there with `on_error = skip`")
        };
        Err(self.here(problem))
    }

    /// Sets the place of a problem to the event that is being read.
    fn here(&self, problem: Box<Problem>) -> Box<Problem> {
        let problem = problem.at_line(self.line).at_byte(self.byte);
        if self.path.contains(&Element::Page) { problem.in_record(self.record) } else { problem }
    }

    /// Adds the page to a problem, for the quarantine.
    fn with_page(&self, mut problem: Box<Problem>) -> Box<Problem> {
        let excerpt = problem.excerpt.take();
        let mut problem = problem.showing(&self.page.source, 0);
        problem.excerpt = excerpt;
        problem
    }

    /// Returns the problem of an event that cannot be read. Reading continues at the next page.
    fn broken(&mut self, error: &quick_xml::Error, event: &[u8]) -> Box<Problem> {
        let source = self.reader.as_mut().map(Reader::get_mut);
        let too_long = source.as_ref().is_some_and(|source| source.too_long);
        if let Some(problem) = source.and_then(|source| source.failure.take()) {
            self.reader = None;
            return problem.at_line(self.line).cut();
        }
        let too_long = too_long.then_some(self.limit);
        let problem = broken(&self.file, error, event, (self.line, self.byte), too_long);
        let problem = if self.path.contains(&Element::Page) { problem.in_record(self.record) } else { problem };
        self.go_on_after(problem)
    }

    /// Continues at the next page, the end of the dump, or the head of the next dump, after a problem. Returns the
    /// problem.
    fn go_on_after(&mut self, problem: Box<Problem>) -> Box<Problem> {
        let problem = problem.cut();
        let source = self.reader.take().map(Reader::into_inner);
        // Before the head of a dump there are no pages, so reading ends.
        let source = source.filter(|_| self.begun).and_then(|source| source.seek(is_place));
        self.path.clear();
        if source.as_ref().is_some_and(|source| source.replay != b"<mediawiki") {
            self.path.push(Element::MediaWiki);
        }
        self.reader = source.map(reader);
        problem
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use proptest::prelude::*;

    use super::super::super::testing::{Folder, bzip2, documents, gzip, pairs, skip};
    use super::super::super::{LeftOutCounts, OnError, Options, Quarantine, Skipped};
    use super::*;

    const HEAD: &str = "<mediawiki version=\"0.11\" xml:lang=\"en\">\n<siteinfo><namespaces><namespace key=\"6\">Picture\
                        </namespace></namespaces></siteinfo>\n";

    /// Returns a page whose text may hold XML markup. It begins a line, and its text is on the next.
    fn page(title: &str, text: &str) -> String {
        let id = title.len();
        format!(
            "<page><title>{title}</title><ns>0</ns><id>{id}</id>\n<revision><id>{id}1</id><timestamp>t</timestamp>\
             <contributor><id>99</id></contributor><model>wikitext</model><text xml:space=\"preserve\">{text}</text>\
             </revision></page>\n"
        )
    }

    fn dump(pages: &[(&str, &str)]) -> String {
        let pages: String = pages.iter().map(|(title, text)| page(title, text)).collect();
        format!("{HEAD}{pages}</mediawiki>\n")
    }

    fn of(xml: &str) -> Folder {
        Folder::of(&[("a.xml", xml.as_bytes())])
    }

    fn read(xml: &str, options: &Options) -> Result<Vec<(String, String)>, String> {
        of(xml).read(&["a.xml"], options)
    }

    fn limited(max_record_bytes: usize) -> Options {
        Options { max_record_bytes, ..skip() }
    }

    /// Returns the pages that are read, and the records that are left out.
    fn read_around(xml: &str, options: &Options) -> (Vec<(String, String)>, Vec<Skipped>) {
        let folder = of(xml);
        let mut reading = folder.open(&["a.xml"], options).unwrap();
        let read = reading.by_ref().flat_map(|batch| pairs(&batch.unwrap())).collect();
        (read, reading.summary().skipped)
    }

    /// Asserts that a bad page between two good ones is left out for this reason, and that both good pages are read.
    #[track_caller]
    fn assert_bad_page(bad: &str, options: &Options, reason: &str) {
        let whole = format!("{HEAD}{}{bad}\n{}</mediawiki>", page("One", "1"), page("Three", "3"));
        let (read, skipped) = read_around(&whole, options);
        assert_eq!(read, documents(&[("One", "1"), ("Three", "3")]), "{skipped:?}");
        assert!(skipped.len() == 1 && skipped[0].reason.contains(reason), "{skipped:?}");
        let first = 5;
        let last = first + bad.matches('\n').count() as u64 + 1;
        assert!(skipped[0].line.is_some_and(|line| (first..=last).contains(&line)), "{skipped:?}");
    }

    #[test]
    fn pages_are_documents_with_their_columns() {
        let xml = format!(
            "{HEAD}<page><title>A &amp; &lt;b&gt; &#x6F22;</title><ns>-2</ns><id>7</id><redirect title=\"C &quot;d&quot;\"/>\
             <revision><id>8</id><timestamp>2024-01-02T03:04:05Z</timestamp><text>#REDIRECT [[C]]</text></revision></page>\
             <page><title>E</title><ns>1</ns><id>9</id><revision><id>10</id><text>''f''[[Picture:x]]</text></revision></page>\
             </mediawiki>"
        );
        assert_eq!(
            of(&xml).table(&["a.xml"], &Options::default()),
            [
                "doc_id|text|page_id|namespace|revision_id|timestamp|redirect|sections",
                "A & <b> 漢||7|-2|8|2024-01-02T03:04:05Z|C \"d\"|[]",
                "E|f|9|1|10|||[{title: , level: 0, kind: lead, char_start: 0, char_end: 1, byte_start: 0, byte_end: 1}]",
            ]
        );
    }

    #[test]
    fn ids_come_from_the_column_that_is_named() {
        let folder = of(&dump(&[("A", "x"), ("Bb", "y")]));
        let named = |id: &str| Options { id_column: Some(id.to_owned()), ..Options::default() };
        let ids = |id: &str, other: &str| {
            let batch = folder.batch(&["a.xml"], &named(id)).unwrap();
            assert!(batch.column_by_name(other).is_some() && batch.column_by_name(id).is_none(), "{id}");
            pairs(&batch)
        };
        assert_eq!(ids("page_id", "title"), documents(&[("1", "x"), ("2", "y")]));
        assert_eq!(ids("revision_id", "title"), documents(&[("11", "x"), ("21", "y")]));
        assert_eq!(ids("title", "page_id"), documents(&[("A", "x"), ("Bb", "y")]));
        assert_eq!(ids("", "title"), documents(&[("1", "x"), ("2", "y")]));
        let error = folder.error(&["a.xml"], &named("pageid"));
        assert!(error.contains("did you mean \"page_id\"?"), "{error}");
        let error = folder.error(&["a.xml"], &named("redirect"));
        assert!(error.contains("line 3, byte ") && error.contains("the id, \"redirect\", is missing"), "{error}");
        let error = folder.error(&["a.xml"], &Options { text_column: Some("title".to_owned()), ..Options::default() });
        assert!(error.contains("leave `text_column` out"), "{error}");
        // Pages keep their text even if no text is wanted.
        let optional = Options { text_column: Some(String::new()), text_is_optional: true, ..Options::default() };
        assert_eq!(folder.read(&["a.xml"], &optional), folder.read(&["a.xml"], &Options::default()));
        let twice = of(&dump(&[("A", "x"), ("A", "y")])).error(&["a.xml"], &Options::default());
        let places = "the id \"A\" stands twice: a.xml, record 1 (line 3) and a.xml, record 2 (line 5)";
        assert!(twice.starts_with(places), "{twice}");
    }

    #[test]
    fn the_last_revision_counts() {
        let revision = |id: u32, more: &str, text: &str| {
            format!("<revision><id>{id}</id>{more}<text>{text}</text><sha1>x</sha1></revision>")
        };
        let xml = format!(
            "{HEAD}<page><title>A</title><ns>0</ns><id>1</id>{}{}</page><page><title>B</title><ns>0</ns><id>2</id>{}{}</page>\
             </mediawiki>",
            revision(5, "<timestamp>new</timestamp><model>css</model>", &"[[long]] ".repeat(1_000)),
            revision(4, "", "[[last]]"),
            revision(7, "<timestamp>t</timestamp>", "gone"),
            "<revision><id>6</id><text deleted=\"deleted\" /></revision>",
        );
        let batch = of(&xml).batch(&["a.xml"], &limited(100)).unwrap();
        assert_eq!(pairs(&batch), documents(&[("A", "last"), ("B", "")]));
        let revisions = batch.column_by_name("revision_id").unwrap().as_primitive::<Int64Type>();
        assert_eq!(revisions.values(), &[4, 6]);
        assert_eq!(batch.column_by_name("timestamp").unwrap().null_count(), 2);
    }

    #[test]
    fn only_the_text_of_the_page_is_text() {
        let xml = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE mediawiki>{HEAD}<logitem><id>5</id></logitem><page><title>A</title><ns>0</ns>\
             <id>1</id><upload><text>no</text></upload><DiscussionThreading><text>no</text></DiscussionThreading><revision>\
             <id>2</id><contributor><id>3</id><text>no</text></contributor><comment>no</comment><text>a<!-- no -->b\
             <?no no?><![CDATA[<c> ]] &amp;]]></text><content><role>other</role><id>4</id><text>no</text></content>\
             </revision></page></mediawiki><!-- no -->\n"
        );
        let batch = of(&xml).batch(&["a.xml"], &Options::default()).unwrap();
        assert_eq!(pairs(&batch), documents(&[("A", "ab<c> ]] &")]));
        assert_eq!(batch.column_by_name("revision_id").unwrap().as_primitive::<Int64Type>().value(0), 2);
    }

    #[test]
    fn what_is_no_markup_is_kept() {
        let model = |model: &str| dump(&[("A", "/* [[x]] */\n\ny")]).replace("wikitext", model);
        assert_eq!(read(&model("css"), &skip()).unwrap(), documents(&[("A", "/* [[x]] */\n\ny")]));
        assert_eq!(read(&model("wikitext"), &skip()).unwrap(), documents(&[("A", "/* x */\n\ny")]));
    }

    #[test]
    fn pages_are_left_out_on_request() {
        let talk = page("Talk:A", "x").replace("<ns>0", "<ns>1");
        let redirect = page("B", "#R [[A]]").replace("</id>\n", "</id><redirect title=\"A\"/>\n");
        let others = page("C", "{{dab}}") + &page("D (disambiguation)", "y") + &page("E", "z");
        let folder = of(&format!("{HEAD}{talk}{redirect}{others}</mediawiki>"));
        let read = |namespaces: &[i64], skip_redirects, skip_disambiguation| {
            let pages = PageFilter { namespaces: namespaces.to_vec(), skip_redirects, skip_disambiguation };
            let mut reading = folder.open(&["a.xml"], &Options { pages, ..Options::default() }).unwrap();
            let ids: Vec<_> = reading.by_ref().flat_map(|batch| pairs(&batch.unwrap())).map(|(id, _)| id).collect();
            let LeftOutCounts { namespace, redirect, disambiguation, .. } = reading.summary().left_out;
            (ids.join(" "), [namespace, redirect, disambiguation])
        };
        assert_eq!(read(&[], false, false), ("Talk:A B C D (disambiguation) E".to_owned(), [0; 3]));
        assert_eq!(read(&[0], false, false), ("B C D (disambiguation) E".to_owned(), [1, 0, 0]));
        assert_eq!(read(&[1, 4], false, false), ("Talk:A".to_owned(), [4, 0, 0]));
        assert_eq!(read(&[], true, false), ("Talk:A C D (disambiguation) E".to_owned(), [0, 1, 0]));
        assert_eq!(read(&[0], true, true), ("E".to_owned(), [1, 1, 2]));
    }

    #[test]
    fn a_file_that_is_no_dump_is_an_error_that_says_so() {
        for (xml, reason) in [
            ("<feed><page/></feed>", "its first element is <feed>, not <mediawiki>"),
            ("<page><title>A</title></page>", "its first element is <page>, not <mediawiki>"),
            ("just text", "it has no element <mediawiki>"),
            ("", "it has no element <mediawiki>"),
            ("<!-- a -->", "it has no element <mediawiki>"),
            ("<a b", "not well-formed XML"),
            ("& then", "not well-formed XML"),
        ] {
            let folder = Folder::of(&[("a.xml", xml.as_bytes()), ("b.txt", b"good")]);
            let error = folder.error(&[""], &Options::default());
            assert!(error.starts_with("a.xml, line 1, byte ") && error.contains(reason), "{xml}: {error}");
            assert_eq!(folder.read(&[""], &skip()).unwrap(), documents(&[("b.txt", "good")]), "{xml}");
        }
        let binary = Folder::of(&[("a.xml", b"\xFF\xD8\xFF\xE0 <mediawiki></mediawiki>")]);
        assert!(binary.error(&["a.xml"], &Options::default()).contains("is not valid UTF-8"));
    }

    #[test]
    fn no_page_is_no_document_and_no_error() {
        for xml in [dump(&[]), "<mediawiki/>".to_owned(), format!("{}{}", dump(&[]), dump(&[]))] {
            assert_eq!(read(&xml, &Options::default()).unwrap(), [], "{xml}");
        }
        let two = format!("{}{}", dump(&[("A", "x")]), dump(&[("B", "y")]));
        assert_eq!(read(&two, &Options::default()).unwrap(), documents(&[("A", "x"), ("B", "y")]));
    }

    #[test]
    fn a_page_at_the_limit_is_read_and_over_it_is_passed_over() {
        let text = "x".repeat(1_000);
        assert_eq!(read(&dump(&[("A", &text)]), &limited(1_000)).unwrap()[0].1, text);
        for text in
            ["x".repeat(1_001), "é".repeat(501), "漢".repeat(90_000), "a&amp;".repeat(501), "&lt;b".repeat(70_000)]
        {
            let reason = "the text of the page \"Two\" is longer than 1000 bytes";
            assert_bad_page(&page("Two", &text), &limited(1_000), reason);
        }
        // The text of an earlier revision may be too long, but its lines are counted.
        let last = "<revision><id>1</id></revision></page>";
        let two = page("Two", &"x\n".repeat(100_000)).replace("</page>", last);
        let xml = format!("{HEAD}{two}{}</mediawiki>", page("Three", "\u{e9}&bad;"));
        let folder = of(&xml);
        let mut reading = folder.open(&["a.xml"], &limited(1_000)).unwrap();
        assert_eq!(pairs(&reading.next().unwrap().unwrap()), documents(&[("Two", "")]));
        let skipped = &reading.summary().skipped[0];
        assert_eq!((skipped.line, skipped.reason.as_str()), (Some(100_006), "&bad; is no character of XML"));
    }

    #[test]
    fn what_is_hostile_ends_its_page() {
        let long = "x".repeat(300_000);
        let too_long = "a tag or a comment is longer than 2000 bytes";
        for (xml, reason) in [
            (page("Two", "a").replace("<ns>", &format!("<ns a=\"{long}\">")), too_long),
            (page("Two", &format!("<!-- {long} -->")), too_long),
            (page("Two", &format!("<!-- {} -->", "<".repeat(300_000))), too_long),
            (page("Two", &format!("<![CDATA[ {long} ]]>")), too_long),
            (page("Two", &format!("<?a {long} ?>")), too_long),
            (page("Two", &format!("&{long};")), too_long),
            (page("Two", &format!("<{long}>")), too_long),
            (page("Two", &format!("<{}>", &long[..300])), "the name of an element is longer than 256 bytes"),
            (page("Two", &"<a>".repeat(100_000)), "elements are nested more than 32 deep"),
            (page(&long, "a"), "an element of the page is longer than 2000 bytes"),
            (page("Two", "<b>a</c>"), "not well-formed XML"),
            (page("Two", "a & b"), "not well-formed XML"),
            (page("Two", "a &lol; b"), "&lol; is no character of XML"),
            (page("Two", "a &#0; b"), "&#0; is no character of XML"),
            (page("Two", "a &#xD800; b"), "&#xD800; is no character of XML"),
            (page("Two", "a").replace("<ns>0", "<ns>zero"), "not a whole number of 64 bits"),
            (page("Two", "a").replace("<ns>0</ns>", ""), "the page has no <ns>"),
            (page("Two", "a").replace("Two", ""), "the page has no <title>"),
            (page("Two", "a").replace("revision", "vision"), "the page has no <revision> with an <id>"),
        ] {
            assert_bad_page(&xml, &limited(2_000), reason);
        }
    }

    #[test]
    fn a_page_that_does_not_end_is_bad_where_it_begins_and_the_next_one_is_read() {
        let reason = "the page does not end before the next <page>";
        for end in ["</page>", "</revision></page>", "</text></revision></page>"] {
            let open = page("Two", "a").replace(end, "");
            assert_bad_page(&open, &skip(), reason);
            let one = format!("{HEAD}{}", page("One", "1"));
            let xml = format!("{one}{open}{}</mediawiki>", page("Three", "3"));
            let error = read(&xml, &Options::default()).unwrap_err();
            assert!(error.starts_with(&format!("a.xml, line 5, byte {}: {reason}", one.len())), "{error}");
        }
        // Several open pages, the next with more than a name in its tag.
        let open = page("Two", "a").replace("</page>", "") + &page("Two", "b").replace("<page>", "<page\n a='b'>");
        let open = open.replace("</page>", "") + "<page/>";
        let (read, skipped) = read_around(&format!("{HEAD}{open}{}</mediawiki>", page("Three", "3")), &skip());
        assert_eq!(read, documents(&[("Three", "3")]));
        let found: Vec<_> = skipped.iter().map(|bad| (bad.record, bad.line, bad.reason.as_str())).collect();
        let expected = [(1_u64, 3_u64, reason), (2, 5, reason), (3, 8, "the page has no <title>")];
        assert_eq!(found, expected.map(|(record, line, reason)| (Some(record), Some(line), reason)));
    }

    #[test]
    fn what_cannot_be_read_behind_a_bad_page_is_said() {
        let numbers: String = (0..200_000).map(|n: u64| format!("{} ", n.wrapping_mul(n) % 9973)).collect();
        let packed =
            gzip(format!("{HEAD}{}{}", page("One", "1"), page("Two", &format!("<b>a</c> {numbers}"))).as_bytes());
        let folder = Folder::of(&[("a.xml.gz", &packed[..packed.len() / 2])]);
        let mut reading = folder.open(&["a.xml.gz"], &skip()).unwrap();
        let read: Vec<_> = reading.by_ref().flat_map(|batch| pairs(&batch.unwrap())).collect();
        let said: Vec<_> = reading.summary().skipped.iter().map(ToString::to_string).collect();
        assert_eq!(read.len(), 1);
        assert!(said.len() == 2 && said[0].contains("not well-formed XML"), "{said:?}");
        assert!(said[1].contains("the gzip data end in the middle"), "{said:?}");
    }

    #[test]
    fn a_dump_behind_one_whose_last_page_is_bad_has_its_own_head() {
        let bad = page("Bad", "<b>a</c>");
        let second = dump(&[("B", "a [[Bild:x.png|thumb]]b")]).replace("Picture", "Bild");
        for end in ["</mediawiki>\n", "</mediawiki >", ""] {
            let (read, skipped) = read_around(&format!("{HEAD}{}{bad}{end}{second}", page("A", "x")), &skip());
            assert_eq!(read, documents(&[("A", "x"), ("B", "a b")]), "{end}: {skipped:?}");
            assert_eq!(skipped.len(), 1, "{end}: {skipped:?}");
        }
    }

    #[test]
    fn no_page_is_lost_where_elements_are_out_of_place() {
        let (a, b) = (page("A", "x"), page("B", "y"));
        let around_a = page("Bad", "z").replace("</page>", &format!("{a}</page>"));
        let open = page("Bad", "z").replace("</page>", "");
        let with_prefix = b.replace("page>", "mw:page>");
        let inside = "<page> begins inside of an element that cannot hold it";
        let head = "<mediawiki> begins inside of an element that cannot hold it";
        let malformed = "not well-formed XML";
        for (xml, reasons) in [
            (format!("{HEAD}{around_a}{b}</mediawiki>"), vec!["the page does not end before the next <page>"]),
            (format!("{HEAD}{a}{HEAD}{b}</mediawiki></mediawiki>"), vec![head]),
            (format!("{HEAD}{a}{HEAD}{b}</mediawiki>"), vec![head]),
            (
                format!("{HEAD}{a}{open}{HEAD}{b}</mediawiki>"),
                vec!["the page does not end before the next <mediawiki>"],
            ),
            (format!("{}{a}{b}</mediawiki>", HEAD.replace("</siteinfo>", "")), vec![inside]),
            (format!("{HEAD}<other>{a}{b}</other></mediawiki>"), vec![inside]),
            (
                format!("{HEAD}{a}</mediawiki>{b}"),
                vec!["<page> stands outside of <mediawiki>", "the file ends before </mediawiki>"],
            ),
            (
                format!("{HEAD}{a}</mediawiki><other/>{HEAD}{b}</mediawiki>"),
                vec!["<other> stands outside of <mediawiki>"],
            ),
            (format!("{HEAD}{a}</mediawiki> & {HEAD}{b}</mediawiki>"), vec![malformed]),
            (format!("{HEAD}{a}{with_prefix}</mediawiki>"), vec![]),
            (format!("{HEAD}{a}{}{with_prefix}</mediawiki>", page("Bad", "<b>")), vec![malformed]),
        ] {
            let (found, skipped) = read_around(&xml, &skip());
            assert_eq!(found, documents(&[("A", "x"), ("B", "y")]), "{xml}: {skipped:?}");
            assert_eq!(skipped.len(), reasons.len(), "{xml}: {skipped:?}");
            for (bad, reason) in skipped.iter().zip(&reasons) {
                assert!(bad.reason.starts_with(*reason), "{xml}: {skipped:?}");
            }
            match reasons.first() {
                Some(reason) => assert!(read(&xml, &Options::default()).unwrap_err().contains(*reason), "{xml}"),
                None => assert_eq!(read(&xml, &Options::default()).unwrap(), found),
            }
        }
    }

    #[test]
    fn entities_of_a_document_type_are_none() {
        let laughs = "<!DOCTYPE m [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>";
        let error = read(&format!("{laughs}{}", dump(&[("A", "&b;")])), &Options::default()).unwrap_err();
        assert!(error.contains("line 4, byte ") && error.contains("&b; is no character of XML"), "{error}");
    }

    #[test]
    fn bad_bytes_are_an_error_that_says_where() {
        let mut xml = dump(&[("A", "x"), ("B", "one\ntwo \u{1}\nthree"), ("C", "z")]).into_bytes();
        let at = xml.iter().position(|b| *b == 1).unwrap();
        xml[at] = 0xE9;
        let folder = Folder::of(&[("a.xml", &xml)]);
        let error = folder.error(&["a.xml"], &Options::default());
        assert!(error.starts_with(&format!("a.xml, line 7, byte {at}: the byte 0xE9 is not valid UTF-8")), "{error}");
        assert_eq!(folder.read(&["a.xml"], &skip()).unwrap(), documents(&[("A", "x"), ("C", "z")]));
    }

    #[test]
    fn a_dump_cut_anywhere_gives_the_pages_before_and_says_so() {
        let xml = dump(&[("A", "x &amp; y"), ("B", "<!-- c -->é")]);
        let whole = read(&xml, &skip()).unwrap();
        let end = xml.find("</mediawiki>").unwrap() + "</mediawiki>".len();
        for cut in (0..end).filter(|cut| xml.is_char_boundary(*cut)) {
            let folder = of(&xml[..cut]);
            let read = folder.read(&["a.xml"], &skip()).unwrap();
            assert_eq!(read.len(), xml[..cut].matches("</page>").count(), "{cut}");
            assert_eq!(read, whole[..read.len()], "{cut}");
            let error = folder.error(&["a.xml"], &Options::default());
            assert!(error.starts_with("a.xml, line "), "{cut}: {error}");
        }
        let error = read(&xml[..end - 20], &Options::default()).unwrap_err();
        assert!(error.contains("the file ends before </mediawiki>") && error.contains("cut off"), "{error}");
    }

    #[test]
    fn compressed_dumps_and_several_streams_are_one_file() {
        let texts: Vec<_> =
            (0..300).map(|i| (format!("T{i}"), format!("Page [[number]] {i} {}", "x".repeat(i * 7)))).collect();
        let pages: Vec<_> = texts.iter().map(|(title, text)| (title.as_str(), text.as_str())).collect();
        let xml = dump(&pages);
        let expected = read(&xml, &Options::default()).unwrap();
        let (first, second) = xml.as_bytes().split_at(xml.find("<title>T150<").unwrap());
        let streams = [bzip2(first), bzip2(second)].concat();
        let folder = Folder::of(&[
            ("a.xml.gz", &gzip(xml.as_bytes())),
            ("b.xml.bz2", &bzip2(xml.as_bytes())),
            ("c.xml.bz2", &streams),
            ("d.xml.zst", &zstd::encode_all(xml.as_bytes(), 1).unwrap()),
            ("cut.xml.bz2", &streams[..streams.len() - 30]),
        ]);
        for name in ["a.xml.gz", "b.xml.bz2", "c.xml.bz2", "d.xml.zst"] {
            assert_eq!(folder.read(&[name], &Options::default()).unwrap(), expected, "{name}");
        }
        let error = folder.error(&["cut.xml.bz2"], &Options::default());
        assert!(error.contains("the bzip2 data end in the middle"), "{error}");
        let read = folder.read(&["cut.xml.bz2"], &skip()).unwrap();
        assert!(read.len() >= 149 && read[..] == expected[..read.len()], "{}", read.len());
    }

    #[test]
    fn the_quarantine_holds_pages_as_they_stand_in_the_file() {
        let bad = [
            page("A", &"[[x]] ".repeat(1_000)),
            page("B", "one &amp; <b>"),
            page("C", "one &lol; two"),
            page("D", "one").replace("<ns>0</ns>", ""),
            page("E", "one").replace("</page>", ""),
            page("F", "one").replace("<id>1</id>", ""),
        ];
        let folder = of(&format!("{HEAD}{}{}</mediawiki>", bad.concat(), page("G", "y")));
        let path = folder.path("bad.jsonl");
        let on_error = OnError::Quarantine(Quarantine::new(path.clone()));
        let options = Options { max_record_bytes: 600, on_error, ..Options::default() };
        assert_eq!(folder.read(&["a.xml"], &options).unwrap(), documents(&[("G", "y")]));
        let written = std::fs::read_to_string(path).unwrap();
        let written: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(written.len(), bad.len());
        assert_eq!((&written[0]["record"], &written[0]["line"]), (&1.into(), &3.into()));
        let cut: Vec<_> = written.iter().map(|entry| entry.get("cut").is_some()).collect();
        assert_eq!(cut, [true, true, false, false, false, false]);
        for (entry, page) in written.iter().zip(&bad) {
            let data = entry["data"].as_str().unwrap();
            // The rest of a text that is too long is skipped.
            let read = data.len().min(600);
            assert!(data.contains("one") || data.contains("[[x]] [[x]]"), "{entry}");
            assert_eq!(data[..read], page[..read], "{entry}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Checks that reading a damaged dump ends, and gives no more than its pages.
        #[test]
        fn a_damaged_dump_is_read_to_its_end(
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            marks in any::<bool>(),
        ) {
            let mut xml = String::from(HEAD);
            for i in 0..5 {
                let _ = write!(xml, "{}", page(&format!("T{i}"), "a &lt;ref&gt;b&lt;/ref&gt; {{c}}"));
            }
            let mut xml = format!("{xml}</mediawiki>").into_bytes();
            for (at, byte) in damage {
                let at = at.index(xml.len());
                // Marks do more harm than letters.
                xml[at] = if marks { b"<>&;/\"= !-"[usize::from(byte) % 10] } else { byte };
            }
            let folder = Folder::of(&[("a.xml", &xml)]);
            let read = folder.read(&["a.xml"], &Options { id_column: Some(String::new()), ..skip() });
            prop_assert!(read.is_ok_and(|read| read.len() <= 5));
        }
    }
}
