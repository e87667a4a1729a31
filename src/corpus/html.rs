//! HTML to text.
//!
//! The text that a reader of the page sees is kept, in the page's order:
//! * Block elements (paragraphs, headings, list items, table cells …) are separated by blank lines, so that each ends
//!   its sentences; `<br>` is a line end, two of them a blank line.
//! * A run of white space is one space, except inside `<pre>`, `<textarea>`, `<listing>`, `<xmp>` and `<plaintext>`.
//! * The title is the first block. Character references are decoded.
//! * Comments, attributes, and the contents of script, style, noscript, template, svg, math, iframe, noembed, noframes
//!   are dropped.
//!
//! html5ever's tokenizer reads the page without a tree, so that depth costs nothing. Two things are added here.
//! [`Sink`] tells the tokenizer where raw text begins, which is otherwise the task of a tree builder. And tags reach
//! the tokenizer without attributes, since none is needed: the tokenizer compares each attribute of a tag with all
//! before it, which takes hours on a tag of a million.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use super::blocks::{Blocks, Gap, is_space};

/// Upper bound of the text that the tokenizer is fed at a time, in bytes.
const PIECE: usize = 64 << 10;

/// Returns the text of a page.
pub(crate) fn to_text(html: &str) -> String {
    let tokenizer = tokenizer(html);
    let sink = &tokenizer.sink;
    let queue = BufferQueue::default();
    let feed = |piece: &str| {
        queue.push_back(StrTendril::from_slice(piece));
        // The sink asks for neither scripts nor encodings, so that the whole queue is read.
        let _ = tokenizer.feed(&queue);
    };
    let mut rest = without_mark(html);
    // Inside a comment, doctype or processing instruction a `<` begins nothing.
    let mut in_declaration = false;
    while !rest.is_empty() {
        if !in_declaration && opens_tag(rest) && sink.expects_tag(rest) {
            // A tag that is not closed before the page ends is no tag, and hides what follows, as in a browser.
            let Some(name) = end_of_name(rest) else { break };
            // The `<` flushes the tokens that the tokenizer has held back. If a token then comes before the attributes,
            // it is the whole tag, or raw text: in a script, `</script ` does not always end it.
            feed("<");
            sink.heard.set(false);
            feed(&rest[1..=name]);
            if sink.heard.get() {
                rest = &rest[name + 1..];
                continue;
            }
            let Some((end, closes_itself)) = end_of_tag(rest, name) else { break };
            feed(if closes_itself { "/>" } else { " >" });
            rest = &rest[end..];
            continue;
        }
        let declaration = !sink.in_raw_text() && opens_declaration(rest);
        let next = rest.bytes().take(PIECE).skip(1).position(|b| b == b'<').map(|i| i + 1);
        let (piece, after) = rest.split_at(next.unwrap_or_else(|| rest.floor_char_boundary(PIECE)));
        if declaration && !in_declaration {
            // As above. A token shows that the declaration has ended.
            feed("<");
            sink.heard.set(false);
            feed(&piece[1..]);
            in_declaration = !sink.heard.get();
        } else {
            sink.heard.set(false);
            feed(piece);
            in_declaration &= !sink.heard.get();
        }
        rest = after;
    }
    tokenizer.end();
    tokenizer.sink.text()
}

/// Returns the expected result of [`to_text`], in time that attributes can make quadratic.
#[cfg(any(test, fuzzing))]
pub(super) fn by_tokenizer_alone(html: &str) -> String {
    let tokenizer = tokenizer(html);
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from_slice(without_mark(html)));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.text()
}

fn tokenizer(html: &str) -> Tokenizer<Sink> {
    // In XML, `<script/>` is a whole element; in HTML it would begin one.
    let sink = Sink { xml: html.trim_start().starts_with("<?xml"), ..Sink::default() };
    // By default, the tokenizer would discard a byte order mark at the start of each piece.
    Tokenizer::new(sink, TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() })
}

/// Returns a page without the byte order mark at its start.
fn without_mark(html: &str) -> &str {
    html.strip_prefix('\u{feff}').unwrap_or(html)
}

/// Returns true if `html` begins with `<` or `</` and a letter.
fn opens_tag(html: &str) -> bool {
    let Some(name) = html.strip_prefix('<') else { return false };
    name.strip_prefix('/').unwrap_or(name).starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns true if `html` begins with a construct that ends at a `>` and is no tag.
fn opens_declaration(html: &str) -> bool {
    html.starts_with("<!") || html.starts_with("<?") || (html.starts_with("</") && !opens_tag(html))
}

/// Returns the offset at which the name of the tag at the start of `html` ends. `None` if the page ends first.
fn end_of_name(html: &str) -> Option<usize> {
    html.bytes().skip(2).position(|b| is_space(b) || b == b'/' || b == b'>').map(|i| i + 2)
}

/// Returns the end of the tag whose name ends at `at`, and true if the tag ends in `/>`, by the rules of the HTML
/// standard, section 13.2.5 (tokenization). `None` if the page ends first.
fn end_of_tag(html: &str, mut at: usize) -> Option<(usize, bool)> {
    let bytes = html.as_bytes();
    let find = |from: usize, end: &dyn Fn(u8) -> bool| bytes[from..].iter().position(|b| end(*b)).map(|i| from + i);
    let mut closes_itself = false;
    loop {
        at = find(at, &|b| !is_space(b))?;
        match bytes[at] {
            b'>' => return Some((at + 1, closes_itself)),
            b'/' => {
                closes_itself = bytes.get(at + 1) == Some(&b'>');
                at += 1;
                continue;
            }
            _ => {}
        }
        // A name may begin with `=`. It ends where its value may begin.
        at = find(at + 1, &|b| is_space(b) || b == b'/' || b == b'>' || b == b'=')?;
        let value = find(at, &|b| !is_space(b))?;
        if bytes[value] != b'=' {
            continue;
        }
        at = find(value + 1, &|b| !is_space(b))?;
        at = match bytes[at] {
            quote @ (b'"' | b'\'') => find(at + 1, &|b| b == quote)? + 1,
            _ => find(at, &|b| is_space(b) || b == b'>')?,
        };
    }
}

/// A sink that takes the tokens and collects the text.
#[derive(Default)]
struct Sink {
    xml: bool,
    /// The element whose content is raw text, while inside one.
    raw: RefCell<Option<String>>,
    /// The element whose content is dropped, and the number of open elements of its name.
    dropped: RefCell<Option<(String, usize)>>,
    /// The number of open `<pre>` and `<listing>` elements.
    pre: Cell<usize>,
    /// True if the next token directly follows `<pre>` or `<textarea>`. A line end there does not count.
    after_pre: Cell<bool>,
    /// True if a token has come since this was last set to false.
    heard: Cell<bool>,
    blocks: RefCell<Blocks>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            // Parse errors come in the middle of other tokens, and end none of them.
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::CharacterTokens(text) => self.characters(&text),
            Token::TagToken(tag) => {
                self.heard.set(true);
                return match tag.kind {
                    TagKind::StartTag => self.start(&tag),
                    TagKind::EndTag => {
                        self.end_of(&tag.name);
                        TokenSinkResult::Continue
                    }
                };
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) | Token::NullCharacterToken | Token::EOFToken => {}
        }
        self.heard.set(true);
        TokenSinkResult::Continue
    }
}

impl Sink {
    fn in_raw_text(&self) -> bool {
        self.raw.borrow().is_some()
    }

    /// Returns true if a tag can begin at `html`: any tag outside of raw text, and inside it only the tag that ends it.
    fn expects_tag(&self, html: &str) -> bool {
        let raw = self.raw.borrow();
        let Some(raw) = raw.as_deref() else { return true };
        let Some(after) = html.strip_prefix("</") else { return false };
        let same = after.get(..raw.len()).is_some_and(|name| name.eq_ignore_ascii_case(raw));
        same && after.as_bytes().get(raw.len()).is_some_and(|b| is_space(*b) || matches!(b, b'/' | b'>'))
    }

    fn start(&self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        self.after_pre.set(false);
        if self.drop_within(name, tag.self_closing) {
            // Raw text is raw in a template, too, where a script may hold `</template>`. It is not raw in svg and math.
            let template = self.dropped.borrow().as_ref().is_some_and(|(outer, _)| outer == "template");
            return if template { self.start_raw_text(name) } else { TokenSinkResult::Continue };
        }
        let whole = self.xml && tag.self_closing;
        match name {
            "br" => self.break_line(),
            "svg" | "math" if tag.self_closing => {}
            "svg" | "math" | "template" if !whole => *self.dropped.borrow_mut() = Some((name.to_owned(), 1)),
            "pre" | "listing" if !whole => {
                self.pre.set(self.pre.get() + 1);
                self.after_pre.set(true);
            }
            _ => {}
        }
        if is_block(name) {
            self.widen(Gap::Blank);
        }
        if whole {
            return TokenSinkResult::Continue;
        }
        self.start_raw_text(name)
    }

    /// Counts open elements inside an element whose content is dropped. Returns false outside of such an element.
    fn drop_within(&self, name: &str, self_closing: bool) -> bool {
        let mut dropped = self.dropped.borrow_mut();
        let Some((outer, open)) = dropped.as_mut() else { return false };
        if outer != "template" && is_block(name) && name != "title" {
            // HTML inside a drawing or a formula ends it, as in a browser.
            *dropped = None;
            return false;
        }
        if outer == name && !self_closing {
            *open += 1;
        }
        true
    }

    fn start_raw_text(&self, name: &str) -> TokenSinkResult<()> {
        let Some(kind) = raw_kind(name) else { return TokenSinkResult::Continue };
        *self.raw.borrow_mut() = Some(name.to_owned());
        self.after_pre.set(name == "textarea");
        match kind {
            Raw::Until(kind) => TokenSinkResult::RawData(kind),
            Raw::End => TokenSinkResult::Plaintext,
        }
    }

    fn end_of(&self, name: &str) {
        self.after_pre.set(false);
        if self.raw.borrow().as_deref() == Some(name) {
            *self.raw.borrow_mut() = None;
        }
        let mut dropped = self.dropped.borrow_mut();
        if let Some((outer, open)) = dropped.as_mut() {
            if outer == name {
                *open -= 1;
                if *open == 0 {
                    *dropped = None;
                }
            }
            return;
        }
        if matches!(name, "pre" | "listing") {
            self.pre.set(self.pre.get().saturating_sub(1));
        }
        // Browsers treat `</br>` as a line end.
        if name == "br" {
            self.widen(Gap::Line);
        } else if is_block(name) {
            self.widen(Gap::Blank);
        }
    }

    fn widen(&self, gap: Gap) {
        self.blocks.borrow_mut().widen(gap);
    }

    fn break_line(&self) {
        let gap = self.blocks.borrow().gap();
        self.widen(if gap >= Gap::Line { Gap::Blank } else { Gap::Line });
    }

    fn characters(&self, text: &str) {
        let mut text = text;
        if self.after_pre.replace(false) {
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        let raw = self.raw.borrow();
        if text.is_empty() || self.dropped.borrow().is_some() || raw.as_deref().is_some_and(is_dropped) {
            return;
        }
        let mut blocks = self.blocks.borrow_mut();
        if self.pre.get() > 0 || matches!(raw.as_deref(), Some("textarea" | "xmp" | "plaintext")) {
            blocks.push_verbatim(text);
        } else {
            blocks.push(text);
        }
    }

    fn text(&self) -> String {
        self.blocks.borrow_mut().finish()
    }
}

/// The extent of raw text.
enum Raw {
    /// Up to the end tag, read in this way.
    Until(RawKind),
    /// Up to the end of the page.
    End,
}

/// Returns the extent of the raw text in an element of this name. `None` if its content is markup.
fn raw_kind(name: &str) -> Option<Raw> {
    Some(match name {
        "title" | "textarea" => Raw::Until(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => Raw::Until(RawKind::Rawtext),
        "script" => Raw::Until(RawKind::ScriptData),
        "plaintext" => Raw::End,
        _ => return None,
    })
}

/// Returns true for elements with raw text that no reader sees.
fn is_dropped(name: &str) -> bool {
    matches!(name, "script" | "style" | "noscript" | "iframe" | "noembed" | "noframes")
}

/// Returns true for block elements.
fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "frameset"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "head"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "legend"
            | "li"
            | "listing"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "optgroup"
            | "option"
            | "p"
            | "plaintext"
            | "pre"
            | "search"
            | "section"
            | "select"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "textarea"
            | "tfoot"
            | "th"
            | "thead"
            | "title"
            | "tr"
            | "ul"
            | "xmp"
    )
}

/// Returns the charset, in lower case, that a page names in its first kilobyte: `<meta charset=…>`,
/// `<meta … content="text/html; charset=…">`, `<?xml … encoding=…?>`. Only used for pages that are not valid UTF-8.
pub(crate) fn declared_charset(page: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&page[..page.len().min(1024)]).to_ascii_lowercase();
    let label = |name: &str| {
        head.match_indices(name).find_map(|(at, _)| {
            let value = head[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            let value = value.trim_start_matches(['"', '\'']);
            let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c))).unwrap_or(value.len());
            (end > 0).then(|| value[..end].to_owned())
        })
    };
    label("charset").or_else(|| head.starts_with("<?xml").then(|| label("encoding")).flatten())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Checks that the pieces without attributes give the same text as the whole page.
        #[test]
        fn shortened_tags_change_nothing(parts in prop::collection::vec(prop::sample::select(PARTS), 0..40)) {
            let html = parts.concat();
            prop_assert_eq!(to_text(&html), by_tokenizer_alone(&html), "{}", html);
        }
    }

    const PARTS: &[&str] = &[
        "<",
        "</",
        "<p",
        "</p",
        "<p>",
        "<b ",
        "a",
        "b ",
        "=",
        "'",
        "\"",
        "/",
        ">",
        "/>",
        "<!--",
        "-->",
        "--",
        "!",
        "<?",
        "<!DOCTYPE ",
        "<script",
        "<script>",
        "</script",
        "</script>",
        "<title>",
        "</title",
        "<svg>",
        "</svg>",
        "<pre>\n",
        "</pre>",
        "<template>",
        "</template>",
        "<textarea>",
        "</textarea>",
        "<br>",
        "&lt;",
        "&am",
        "\n",
        "\0",
        "中",
    ];

    fn check(cases: &[(&str, &str)]) {
        for (html, text) in cases {
            assert_eq!(to_text(html), *text, "{html}");
        }
    }

    #[test]
    fn blocks_stand_apart_and_inline_elements_do_not() {
        check(&[
            ("<h1>Title</h1><p>One <b>bold</b> word.<p>Two", "Title\n\nOne bold word.\n\nTwo"),
            ("<ul><li>a<li>b</ul>", "a\n\nb"),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a\n\nb"),
            ("one<br>two<br/><br>three", "one\ntwo\n\nthree"),
            ("<div><div><div>deep</div></div></div>", "deep"),
            ("hyper<wbr>text", "hypertext"),
        ]);
    }

    #[test]
    fn white_space_is_one_space_but_in_pre() {
        check(&[
            ("  a \r\n\t b  ", "a b"),
            ("a <i> b</i>", "a b"),
            ("<p> a </p> <p> b </p>", "a\n\nb"),
            ("x<pre>\n  a\n\n   b  \n</pre>y", "x\n\n  a\n\n   b\n\ny"),
            ("<textarea>\n a\n b</textarea>", " a\n b"),
            ("a&nbsp; b", "a\u{A0} b"),
        ]);
    }

    #[test]
    fn references_are_decoded() {
        check(&[
            ("AT&amp;T &lt;b&gt; &eacute; &#8364; &#x4E2D; &hellip; &copy 1", "AT&T <b> é € 中 … © 1"),
            ("a &unknown; b & c &", "a &unknown; b & c &"),
        ]);
    }

    #[test]
    fn the_title_comes_first_and_scripts_never() {
        check(&[
            ("<head><title>A &amp; B <i></title><style>p{}</style></head><p>C", "A & B <i>\n\nC"),
            ("a<script>if (x<y && '</p>') { z('<script>') }</script>b", "ab"),
            ("a<SCRIPT>b</Script >c", "ac"),
            ("a<noscript><p>on</p></noscript>b", "ab"),
            ("<script><!-- <script> </script> --></script>a", "a"),
            ("<script><!-- <script> </script/</script>a", "a"),
            ("a<template><p>b<template>c</template></p><script>'</template>'</script>d</template>e", "ae"),
            ("a<iframe>b<p></iframe>c", "ac"),
        ]);
    }

    #[test]
    fn drawings_and_formulas_are_dropped() {
        check(&[
            ("a <svg><title>t</title><text>b</text><svg/></svg> c", "a c"),
            ("a<svg/>b", "ab"),
            ("a<math><mi>x</mi></math>b", "ab"),
            ("a<svg><g>lost<p>kept", "a\n\nkept"),
            ("a<svg><style>x</style><title/></svg>b", "ab"),
        ]);
    }

    #[test]
    fn raw_texts_end_where_they_should() {
        check(&[
            ("<xmp><b>x</b>&amp;</xmp>y", "<b>x</b>&amp;\n\ny"),
            ("<title>a</titlex></title>b", "a</titlex>\n\nb"),
            ("<plaintext>a</plaintext><b>", "a</plaintext><b>"),
            ("<textarea><p>a</textarea b='</textarea>'>c", "<p>a\n\nc"),
        ]);
    }

    #[test]
    fn comments_and_declarations_are_dropped() {
        check(&[
            ("a<!-- <p class=\"b --> c", "a c"),
            ("<!DOCTYPE html PUBLIC \"<p\"><p>a", "a"),
            ("a<!-->b<!--->c<!---->d", "abcd"),
            ("a<!-- b", "a"),
            ("a<? b <p> c", "a c"),
            ("a</ b <i> c", "a c"),
            ("a<!><p>b", "a\n\nb"),
            ("<</<p", "<"),
        ]);
    }

    #[test]
    fn what_is_no_tag_is_text() {
        check(&[("1 < 2 <3 <<b>x</b>", "1 < 2 <3 <x"), ("a <", "a <"), ("a </", "a </"), ("", ""), ("a<b", "a")]);
    }

    #[test]
    fn attributes_end_where_they_should() {
        check(&[
            ("<p title='a>b' x=\"c>d\" y=e>f", "f"),
            ("<p title = ' > ' / z>a", "a"),
            ("<p =x=y>b", "b"),
            ("<p a=>b", "b"),
            ("<p a='b'c=\"d\">e", "e"),
            ("<p/>a</p/>b", "a\n\nb"),
            ("<a href=http://x/?a>b</a>", "b"),
            ("<p a='never closed>b", ""),
        ]);
    }

    #[test]
    fn a_whole_element_of_xml_begins_nothing() {
        check(&[
            ("<?xml version='1.0'?><html><script src='a'/><title/><p>b</p></html>", "b"),
            ("<html><script src='a'/><p>b</p></html>", ""),
        ]);
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        let many = 1_000_000;
        let attributes: String = (0..many).map(|i| format!("a{i} ")).collect();
        let cases = [
            ("nested tags", "<div>".repeat(many) + "x", "x"),
            ("nested drawings", "<svg>".repeat(many) + "x", ""),
            ("attributes", format!("<p {attributes}>x"), "x"),
            ("attributes of an end tag", format!("<title>x</title {attributes}>"), "x"),
            ("unclosed tags", "<a \"".repeat(many), ""),
            ("unclosed comments", "<!--".repeat(many), ""),
            ("a long name", format!("<{}>x", "a".repeat(many)), "x"),
            ("unclosed ends of a script", format!("<script>{}</script>x", "</scrip".repeat(many)), "x"),
            ("line ends", format!("<pre>{}</pre>x", "\n".repeat(many)), "x"),
        ];
        for (name, html, text) in cases {
            let start = Instant::now();
            assert_eq!(to_text(&html), text, "{name}");
            assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
        }
    }

    #[test]
    fn pieces_do_not_split_characters() {
        let text = "中".repeat(PIECE);
        assert_eq!(to_text(&text), text);
        assert_eq!(to_text(&format!("x{text}")), format!("x{text}"));
    }

    #[test]
    fn charsets_are_found() {
        for (page, charset) in [
            (r#"<html><meta charset="GB2312">"#, Some("gb2312")),
            (r#"<meta http-equiv=Content-Type content="text/html; charset=ISO-8859-1">"#, Some("iso-8859-1")),
            ("<meta charset = 'utf-8'>", Some("utf-8")),
            (r#"<?xml version="1.0" encoding="windows-1252"?>"#, Some("windows-1252")),
            ("<p>charset of no page", None),
        ] {
            assert_eq!(declared_charset(page.as_bytes()).as_deref(), charset, "{page}");
        }
    }
}
