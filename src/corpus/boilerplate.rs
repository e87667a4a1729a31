//! Extraction of the main content of HTML pages. It drops navigation, side bars, banners and footers, as far as
//! dom_smoothie finds them.
//!
//! dom_smoothie builds a tree of a page and walks over parts of it repeatedly, partly by recursion. So each page is
//! measured first, with a tree without text. A page that is too large or too deep is kept whole.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use dom_smoothie::{Config, ParsePolicy, Readability};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, QualName, TokenizerResult, local_name, ns};

use super::html;

/// The size of the largest page that boilerplate is dropped from, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// Upper bounds for a page that boilerplate is dropped from: the number of elements, their depth, and the sum of their
/// depths. The sum is the cost of a walk over every subtree.
const MOST_ELEMENTS: usize = 50_000;
const DEPTH: u32 = 200;
const MOST_DEPTHS: u64 = 1_500_000;

/// Upper bound of the comparisons of attributes. The tokenizer compares each attribute with all before it in its tag.
const MOST_COMPARISONS: u64 = 1 << 29;

/// The bytes of a page between two checks of the limits. A piece may create as many elements as there are kinds of open
/// elements.
const PIECE: usize = 512;

/// The treatment of text outside the main content of an HTML page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Boilerplate {
    /// Keep it.
    #[default]
    Keep,
    /// Drop it, if the main content can be found.
    Drop,
}

impl Boilerplate {
    /// The variants with their names in options.
    pub(crate) const NAMES: [(&str, Self); 2] = [("keep", Self::Keep), ("drop", Self::Drop)];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }
}

/// Counts of the boilerplate that was dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The number of pages whose main content was found, with or without boilerplate to drop.
    pub(crate) pages: u64,
    /// The number of pages that were kept whole.
    pub(crate) whole: u64,
    /// The bytes of text of all these pages, including what was dropped.
    pub(crate) bytes: u64,
    /// The bytes of text that were dropped.
    pub(crate) dropped: u64,
}

/// A converter of HTML pages to text, which counts the boilerplate that it drops.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    boilerplate: Boilerplate,
    pages: AtomicU64,
    whole: AtomicU64,
    bytes: AtomicU64,
    dropped: AtomicU64,
}

impl Cutter {
    pub(super) fn new(boilerplate: Boilerplate) -> Self {
        Self { boilerplate, ..Self::default() }
    }

    /// Returns the counts so far.
    pub(super) fn counts(&self) -> Dropped {
        let [pages, whole, bytes, dropped] =
            [&self.pages, &self.whole, &self.bytes, &self.dropped].map(|count| count.load(Ordering::Relaxed));
        Dropped { pages, whole, bytes, dropped }
    }

    /// Returns the text of a page.
    pub(super) fn text(&self, page: &str) -> String {
        let text = html::to_text(page);
        if self.boilerplate == Boilerplate::Keep {
            return text;
        }
        let add = |count: &AtomicU64, n: usize| count.fetch_add(n as u64, Ordering::Relaxed);
        add(&self.bytes, text.len());
        match main_text(page) {
            Some(main) => {
                add(&self.pages, 1);
                add(&self.dropped, text.len().saturating_sub(main.len()));
                main
            }
            None => {
                add(&self.whole, 1);
                text
            }
        }
    }
}

/// Returns the text of the main content of a page, under its title. `None` if the page is too large, or its main
/// content cannot be found.
fn main_text(page: &str) -> Option<String> {
    if page.len() > MOST_BYTES || !is_small(page) {
        return None;
    }
    let config = Config { disable_json_ld: true, ..Config::default() };
    let mut readability = Readability::new(page, None, Some(config)).ok()?;
    // On a list of links, such as an index, dom_smoothie would return whatever else the page has.
    if !readability.is_probably_readable() {
        return None;
    }
    // The other policies also drop parts of the main content. In the documentation of Python, they drop notes, examples
    // and whole sections.
    let article = readability.parse_with_policy(ParsePolicy::Raw).ok()?;
    let text = html::to_text(&article.content);
    if text.is_empty() {
        return None;
    }
    // The content of the article lacks a heading that repeats the title.
    let title = article.title.trim();
    Some(if title.is_empty() || text.starts_with(title) { text } else { format!("{title}\n\n{text}") })
}

/// Returns true if a page is small enough to drop its boilerplate.
fn is_small(page: &str) -> bool {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let builder = TreeBuilder::new(Measure::default(), options);
    let tokenizer = Tokenizer::new(Heard { builder, any: Cell::new(false) }, TokenizerOpts::default());
    let queue = BufferQueue::default();
    // The estimated attributes of the current token, and the comparisons of attributes so far.
    let (mut attributes, mut comparisons) = (0, 0);
    let mut rest = page;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        let new =
            piece.bytes().filter(|b| matches!(b, b'=' | b'/' | b'"' | b'\'') || b.is_ascii_whitespace()).count() as u64;
        attributes += new;
        comparisons += attributes * new;
        if comparisons > MOST_COMPARISONS {
            return false;
        }
        queue.push_back(StrTendril::from_slice(piece));
        // Scripts are not run.
        while let TokenizerResult::Script(_) = tokenizer.feed(&queue) {}
        if tokenizer.sink.any.take() {
            attributes = new;
        }
        if tokenizer.sink.builder.sink.is_over() {
            return false;
        }
        rest = after;
    }
    tokenizer.end();
    !tokenizer.sink.builder.sink.is_over()
}

/// A sink that passes tokens on, and records that there was one.
struct Heard {
    builder: TreeBuilder<Handle, Measure>,
    any: Cell<bool>,
}

impl TokenSink for Heard {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        // Parse errors come in the middle of tags.
        if !matches!(token, Token::ParseError(_)) {
            self.any.set(true);
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A tree that is built only to measure a page. Its nodes store their names and depths, but no text and no children.
struct Measure {
    document: Handle,
    elements: Cell<usize>,
    depths: Cell<u64>,
    deepest: Cell<u32>,
}

type Handle = Rc<Node>;

struct Node {
    name: QualName,
    depth: Cell<u32>,
    /// The content of a template.
    contents: RefCell<Option<Handle>>,
}

impl Node {
    fn new(name: QualName) -> Handle {
        Rc::new(Self { name, depth: Cell::new(0), contents: RefCell::default() })
    }

    /// Returns a node without a name, such as a comment.
    fn unnamed() -> Handle {
        Self::new(QualName::new(None, ns!(), local_name!("")))
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self { document: Node::unnamed(), elements: Cell::new(0), depths: Cell::new(0), deepest: Cell::new(0) }
    }
}

impl Measure {
    fn is_over(&self) -> bool {
        self.elements.get() > MOST_ELEMENTS || self.deepest.get() > DEPTH || self.depths.get() > MOST_DEPTHS
    }

    fn place(&self, node: &Handle, depth: u32) {
        node.depth.set(depth);
        self.depths.set(self.depths.get() + u64::from(depth));
        self.deepest.set(self.deepest.get().max(depth));
    }
}

impl TreeSink for Measure {
    type Handle = Handle;
    type Output = ();
    type ElemName<'a> = &'a QualName;

    fn finish(self) {}

    fn parse_error(&self, _: std::borrow::Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(&self, name: QualName, _: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.elements.set(self.elements.get() + 1);
        let node = Node::new(name);
        if flags.template {
            *node.contents.borrow_mut() = Some(Node::unnamed());
        }
        node
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Node::unnamed()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Node::unnamed()
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = child {
            self.place(&node, parent.depth.get() + 1);
        }
    }

    fn append_based_on_parent_node(&self, element: &Handle, _: &Handle, child: NodeOrText<Handle>) {
        self.append_before_sibling(element, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        let contents = Rc::clone(target.contents.borrow_mut().get_or_insert_with(Node::unnamed));
        contents.depth.set(target.depth.get());
        contents
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        Rc::ptr_eq(x, y)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = child {
            self.place(&node, sibling.depth.get());
        }
    }

    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, _: &Handle) {}

    fn reparent_children(&self, _: &Handle, _: &Handle) {}
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::testing::Folder;
    use super::super::{Options, open_with_stdin};
    use super::*;

    const PARAGRAPH: &str = "<p>The ferry leaves the northern quay at noon, and it takes the mail, the newspapers and whoever wants to \
                             see the <b>islands</b>, which nobody has counted since the survey of 1931.</p>";

    /// Returns a page of a manual, with a side bar.
    fn page(paragraphs: usize) -> String {
        let links: String = (0..20).map(|i| format!("<li><a href=\"/{i}.html\">Chapter {i}</a></li>")).collect();
        let mut article: String = (0..paragraphs).map(|i| format!("<h2>Part {i}</h2>{PARAGRAPH}")).collect();
        article.push_str("<ul><li>first rope</li><li>second rope</li></ul>");
        format!(
            "<html><head><title>Ferries &mdash; Manual</title></head><body><div class=\"nav\"><ul>{links}</ul></div>\
             <div class=\"document\"><div class=\"body\"><h1>Ferries</h1>{article}</div></div>\
             <div class=\"sidebar\"><ul>{links}</ul></div><div class=\"footer\">Copyright 1931</div></body></html>"
        )
    }

    #[test]
    fn the_main_content_stays_with_its_blocks() {
        let cutter = Cutter::new(Boilerplate::Drop);
        let text = cutter.text(&page(5));
        assert!(text.contains("Part 1\n\nThe ferry leaves") && text.contains("first rope\n\nsecond rope"), "{text}");
        assert!(text.contains("see the islands, which") && text.starts_with("Ferries"), "{text}");
        assert!(!text.contains("Chapter") && !text.contains("Copyright"), "{text}");
        let whole = Cutter::new(Boilerplate::Keep).text(&page(5));
        assert!(whole.contains("Chapter 19") && whole.contains("Copyright"), "{whole}");
        let [bytes, dropped] = [whole.len(), whole.len() - text.len()].map(|n| n as u64);
        assert_eq!(cutter.counts(), Dropped { pages: 1, whole: 0, bytes, dropped });
    }

    #[test]
    fn what_was_dropped_is_counted_of_files_and_of_archives() {
        let body = page(5);
        let content = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        let warc = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x.org/\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{content}\r\n\r\n",
            content.len()
        );
        let folder = Folder::of(&[
            ("a.html", body.as_bytes()),
            ("b.html", b""),
            ("c.txt", b"<p>text"),
            ("d.warc", warc.as_bytes()),
        ]);
        let options = Options { boilerplate: Boilerplate::Drop, ..Options::default() };
        let inputs = [folder.path("").to_str().unwrap().to_owned()];
        let mut reading =
            open_with_stdin(&inputs, &options, &mut std::io::empty(), &std::sync::Arc::default()).unwrap();
        let rows: usize = reading.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
        let Dropped { pages, whole, bytes, dropped } = reading.summary().dropped;
        assert_eq!((rows, pages, whole), (4, 2, 1));
        assert!(dropped > 0 && dropped < bytes, "{dropped} of {bytes}");
    }

    #[test]
    fn hostile_and_huge_pages_are_kept_whole_in_little_time() {
        let many = 100_000;
        let attributes: String = (0..1_000_000).map(|i| format!("a{i} ")).collect();
        let formats: String = (0..many).map(|i| format!("<div><b a={i}>x</div>")).collect();
        for (name, page) in [
            ("nested blocks", "<div>".repeat(many) + "x"),
            ("nested insertions", "<ins>".repeat(many) + "x"),
            ("nested formats in tables", "<b>x<table></b></table>".repeat(many)),
            ("attributes", format!("<p {attributes}>x")),
            ("attributes of a tag without end", format!("<p {attributes}")),
            ("attributes in noscript", format!("<noscript><p {attributes}>x</noscript>y")),
            ("attributes in a style that is none", format!("<select><style><p {attributes}>x</style>y")),
            ("formats that are opened anew", formats),
            ("many blocks", "<p>x".repeat(many)),
            ("17 MB", PARAGRAPH.repeat(85_000)),
        ] {
            let start = Instant::now();
            let cutter = Cutter::new(Boilerplate::Drop);
            assert_eq!(cutter.text(&page), html::to_text(&page), "{name}");
            assert_eq!(cutter.counts().whole, 1, "{name}");
            assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
        }
    }

    #[test]
    fn pages_at_the_limits_are_cut_in_little_time() {
        let nested = |n: usize| format!("{}{}", "<div>".repeat(n), "</div>".repeat(n));
        let deep = "<section><div class=a>".repeat(90);
        for (name, page) in [
            (
                "5 MB of long paragraphs",
                page(5).replace(PARAGRAPH, &format!("<p>{}</p>", "The ferry, it is said, leaves. ".repeat(33_000))),
            ),
            ("many paragraphs", page(15_000)),
            ("deep paragraphs", format!("{deep}{}", PARAGRAPH.repeat(3_000))),
            ("many deep blocks", page(5).replace("<h1>", &format!("{}<h1>", nested(170).repeat(80)))),
            (
                "links",
                page(5).replace("<h1>", &format!("<p>{}</p><h1>", "<a href=x>A link, and more.</a> ".repeat(20_000))),
            ),
            ("line ends", page(5).replace("<h1>", &format!("<div>{}</div><h1>", "x<br>".repeat(40_000)))),
        ] {
            let start = Instant::now();
            let cutter = Cutter::new(Boilerplate::Drop);
            let text = cutter.text(&page);
            assert_eq!(cutter.counts().pages, 1, "{name}");
            assert!(text.contains("The ferry"), "{name}");
            assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
            eprintln!("{name}: {:?} of {} bytes", start.elapsed(), page.len());
        }
    }
}
