//! The matching of the marks of a page, before anything is rendered.
//!
//! One pass over the source keeps a stack of open marks. A closing mark matches the innermost open mark of its kind.
//! Marks that were opened inside of that one and are still open are not markup, but text. Marks that are open at the
//! end of the page are text, too. MediaWiki reads braces in this way; here, the rule also holds for tables and links.
//! The consequences are:
//!
//! * A link without `]]` ends with its line if it has no `|` yet, and with its paragraph otherwise. An external link
//!   ends with its line.
//! * `<ref>`, `<poem>` and `<references>` reach to the next tag that closes them, and no mark inside matches a mark
//!   outside. If no such tag follows, only the tag itself is dropped. The same holds for elements whose content is
//!   dropped, for `<nowiki>`, and for comments.
//! * At most [`DEPTH`] marks are open at a time. A mark that opens deeper is text; a deeper `<ref>` is dropped.
//!
//! The work is linear in the length of the page: each search for a closing tag remembers what it found, and each search
//! in the stack is bounded by its depth.

use memchr::{memchr2, memmem};

use crate::converter::Work;

/// Upper bound of the marks that are open at a time.
pub(super) const DEPTH: usize = 100;

/// The number of braces in a row that can open something. Only the last ones of a longer row do; the others are text.
const BRACES: usize = 6;

/// The longest name of a tag.
const LONGEST_TAG: usize = 20;

/// The kind of markup that a mark belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// `{{…}}`
    Template,
    /// `{{{…}}}`
    Parameter,
    /// `[[…]]`
    Link,
    /// `[https://… …]`
    External,
    /// `-{…}-`
    Variant,
    /// `{|…|}`
    Table,
    /// `<table>…</table>`
    HtmlTable,
    /// `<ref>…</ref>`
    Ref,
    /// `<references>…</references>`
    References,
    /// `<poem>…</poem>`
    Poem,
    /// A comment, or a tag that has no effect on the text.
    Nothing,
    /// An element that is dropped with its content.
    Gap,
    /// An element whose content is no markup: `<nowiki>` or `<pre>`.
    Literal,
    /// `<br>`
    Break,
    /// A tag that begins or ends a block.
    Block,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Opens,
    Closes,
    Alone,
}

/// A piece of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// The range of the mark in the source, in bytes.
    pub(super) at: u32,
    pub(super) end: u32,
    /// The index of the matching mark, or [`NONE`]. An opening mark with [`NONE`] is not closed, and is text.
    pub(super) partner: u32,
    pub(super) part: Part,
    pub(super) role: Role,
    /// True if there is a `<ref>` or a template of a note between this opening mark and its closing mark.
    pub(super) has_notes: bool,
}

/// No mark.
pub(super) const NONE: u32 = u32::MAX;

/// Returns an offset in the type of marks. Sources are shorter than 4 GiB.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

/// An open mark.
#[derive(Debug, Clone, Copy)]
struct Open {
    part: Part,
    at: usize,
    /// For braces: the number that are still open. Only the closing braces show whether they belong to a template or a
    /// parameter.
    braces: usize,
    /// The index of the mark. For braces, it is the first of the marks that were set aside, and `free` is the index
    /// behind the last one that is still free.
    mark: usize,
    free: usize,
    /// True if the mark is a link whose target has ended.
    piped: bool,
    notes: usize,
    region: Option<Region>,
}

/// The end of an element, and the state to restore behind it: the outer limit, and the outer marks that were too deep.
#[derive(Debug, Clone, Copy)]
struct Region {
    close: (usize, usize),
    outer_limit: usize,
    outer_lost: Lost,
}

/// The numbers of marks that were too deep to be opened and have not been closed yet.
#[derive(Debug, Clone, Copy, Default)]
struct Lost {
    braces: usize,
    links: usize,
    tables: usize,
}

/// The effect of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Nothing,
    Break,
    Block,
    Table,
    /// Elements. The number is the index of the search for their ends.
    Gap(usize),
    Literal(usize),
    Region(Part, usize),
}

/// Upper bound of the kinds of elements whose ends are searched for.
const ELEMENTS: usize = 32;

fn tag(name: &str) -> Option<Tag> {
    Some(match name {
        "b" | "i" | "u" | "s" | "a" | "abbr" | "bdi" | "bdo" | "big" | "cite" | "code" | "data" | "del" | "dfn"
        | "em" | "font" | "ins" | "kbd" | "label" | "mark" | "noinclude" | "onlyinclude" | "q" | "rb" | "rp" | "rt"
        | "rtc" | "ruby" | "samp" | "section" | "small" | "span" | "strike" | "strong" | "sub" | "sup" | "time"
        | "translate" | "tt" | "tvar" | "var" | "wbr" | "languages" | "indicator" => Tag::Nothing,
        "br" => Tag::Break,
        "blockquote" | "caption" | "center" | "col" | "colgroup" | "dd" | "div" | "dl" | "dt" | "h1" | "h2" | "h3"
        | "h4" | "h5" | "h6" | "hr" | "li" | "ol" | "p" | "tbody" | "td" | "tfoot" | "th" | "thead" | "tr" | "ul" => {
            Tag::Block
        }
        "table" => Tag::Table,
        "ref" => Tag::Region(Part::Ref, 0),
        "references" => Tag::Region(Part::References, 1),
        "poem" => Tag::Region(Part::Poem, 2),
        "nowiki" => Tag::Literal(3),
        "pre" => Tag::Literal(4),
        "math" => Tag::Gap(5),
        "gallery" => Tag::Gap(6),
        "timeline" => Tag::Gap(7),
        "syntaxhighlight" => Tag::Gap(8),
        "source" => Tag::Gap(9),
        "score" => Tag::Gap(10),
        "templatestyles" => Tag::Gap(11),
        "graph" => Tag::Gap(12),
        "mapframe" => Tag::Gap(13),
        "maplink" => Tag::Gap(14),
        "hiero" => Tag::Gap(15),
        "chem" => Tag::Gap(16),
        "ce" => Tag::Gap(17),
        "inputbox" => Tag::Gap(18),
        "imagemap" => Tag::Gap(19),
        "categorytree" => Tag::Gap(20),
        "dynamicpagelist" => Tag::Gap(21),
        "templatedata" => Tag::Gap(22),
        "includeonly" => Tag::Gap(23),
        "style" => Tag::Gap(24),
        "script" => Tag::Gap(25),
        "pagelist" => Tag::Gap(26),
        "charinsert" => Tag::Gap(27),
        "quiz" => Tag::Gap(28),
        "phonos" => Tag::Gap(29),
        _ => return None,
    })
}

/// The cached position of the next end of an element.
#[derive(Debug, Clone, Copy)]
enum NextEnd {
    Unknown,
    At(usize, usize),
    Never,
}

/// Returns true if the text begins with a URL.
fn begins_url(text: &[u8]) -> bool {
    const SCHEMES: [&[u8]; 9] =
        [b"http://", b"https://", b"//", b"ftp://", b"ftps://", b"mailto:", b"news:", b"irc://", b"gopher://"];
    SCHEMES.iter().any(|scheme| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// The bytes at which the search for marks stops.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let mut i = 0;
    while i < 7 {
        stops[b"\n<[]{}|"[i] as usize] = true;
        i += 1;
    }
    stops
};

/// A scanner that finds the marks of a page, in their order.
pub(super) struct Scanner<'a> {
    source: &'a [u8],
    /// True if `-{…}-` is markup.
    variants: bool,
    marks: &'a mut Vec<Mark>,
    stack: Vec<Open>,
    /// The end of the innermost region, or of the page.
    limit: usize,
    /// The offset of the current line, behind white space and colons.
    indent: usize,
    ends: [NextEnd; ELEMENTS],
    comment_end: NextEnd,
    /// The number of notes so far.
    notes: usize,
    lost: Lost,
    work: &'a mut Work,
}

impl<'a> Scanner<'a> {
    /// Puts the marks of `source` into `marks`, which is emptied first.
    pub(super) fn scan(source: &'a str, variants: bool, marks: &'a mut Vec<Mark>, work: &'a mut Work) {
        marks.clear();
        let mut scanner = Self {
            source: source.as_bytes(),
            variants,
            marks,
            stack: Vec::new(),
            limit: source.len(),
            indent: 0,
            ends: [NextEnd::Unknown; ELEMENTS],
            comment_end: NextEnd::Unknown,
            notes: 0,
            lost: Lost::default(),
            work,
        };
        scanner.run();
    }

    fn run(&mut self) {
        self.begin_line(0);
        let mut at = 0;
        loop {
            let ordinary = self.source[at..self.limit].iter().position(|b| STOPS[usize::from(*b)]);
            let stop = ordinary.map_or(self.limit, |n| at + n);
            self.work.add(stop - at + 1);
            if stop == self.limit {
                match self.end_region() {
                    Some(after) => at = after,
                    None => return,
                }
                continue;
            }
            at = match self.source[stop] {
                b'\n' => self.end_line(stop),
                b'<' => self.angle(stop),
                b'[' => self.bracket(stop),
                b']' => self.end_bracket(stop),
                b'{' => self.brace(stop),
                b'}' => self.end_brace(stop),
                _ => self.pipe(stop),
            };
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.source[..self.limit].get(at).copied()
    }

    /// Returns the length of the run of equal bytes that begins at `at`.
    fn run_of(&mut self, at: usize) -> usize {
        let byte = self.source[at];
        let run = self.source[at..self.limit].iter().take_while(|b| **b == byte).count();
        self.work.add(run);
        run
    }

    fn mark(&mut self, part: Part, role: Role, at: usize, end: usize) -> usize {
        self.marks.push(Mark { at: place(at), end: place(end), partner: NONE, part, role, has_notes: false });
        self.marks.len() - 1
    }

    fn alone(&mut self, part: Part, at: usize, end: usize) -> usize {
        self.mark(part, Role::Alone, at, end);
        end
    }

    /// Opens a mark that is not of braces. Returns false if it is too deep.
    fn open(&mut self, part: Part, at: usize, end: usize) -> bool {
        if self.stack.len() == DEPTH {
            return false;
        }
        let mark = self.mark(part, Role::Opens, at, end);
        self.stack.push(Open { part, at, braces: 0, mark, free: 0, piped: false, notes: self.notes, region: None });
        true
    }

    /// Adds the closing mark of an open one that was taken off the stack, and matches both.
    fn close(&mut self, open: Open, mark: usize, at: usize, end: usize) {
        let part = self.marks[mark].part;
        let closing = self.mark(part, Role::Closes, at, end);
        self.marks[closing].partner = place(mark);
        self.marks[mark].partner = place(closing);
        self.marks[mark].has_notes = self.notes > open.notes;
    }

    /// Returns the stack index of the innermost open mark of a wanted kind, within the region.
    fn innermost(&mut self, wanted: impl Fn(Part) -> bool) -> Option<usize> {
        for (i, open) in self.stack.iter().enumerate().rev() {
            self.work.add(1);
            if wanted(open.part) {
                return Some(i);
            }
            if open.region.is_some() {
                return None;
            }
        }
        None
    }

    fn begin_line(&mut self, at: usize) {
        let blank = self.source[at..self.limit].iter().take_while(|b| matches!(b, b' ' | b'\t' | b':')).count();
        self.work.add(blank);
        self.indent = at + blank;
    }

    fn end_line(&mut self, at: usize) -> usize {
        self.begin_line(at + 1);
        let ends_paragraph = self.byte(self.indent).is_none_or(|b| b == b'\n');
        while let Some(Open { part, piped, .. }) = self.stack.last() {
            let ended = match part {
                Part::External => true,
                Part::Link => !piped || ends_paragraph,
                _ => false,
            };
            if !ended {
                break;
            }
            self.stack.pop();
        }
        self.lost.links = 0;
        at + 1
    }

    /// Ends the region whose end has been reached, and returns the offset behind it. `None` at the end of the page.
    fn end_region(&mut self) -> Option<usize> {
        let i = self.innermost(|part| matches!(part, Part::Ref | Part::References | Part::Poem))?;
        let open = self.stack[i];
        self.stack.truncate(i);
        let Region { close: (at, end), outer_limit, outer_lost } = open.region?;
        self.close(open, open.mark, at, end);
        self.limit = outer_limit;
        self.lost = outer_lost;
        Some(end)
    }

    fn brace(&mut self, at: usize) -> usize {
        let run = self.run_of(at);
        let end = at + run;
        if run == 1 {
            if at == self.indent && self.byte(end) == Some(b'|') {
                if !self.open(Part::Table, at, end + 1) {
                    self.lost.tables += 1;
                }
                return end + 1;
            }
            let free = at > self.marks.last().map_or(0, |mark| mark.end as usize);
            if self.variants && free && at > 0 && self.source[at - 1] == b'-' {
                self.open(Part::Variant, at - 1, end);
            }
            return end;
        }
        let braces = run.min(BRACES);
        if self.stack.len() == DEPTH {
            self.lost.braces += braces;
            return end;
        }
        let mark = self.marks.len();
        for _ in 0..braces / 2 {
            // These marks are set aside. Only the closing braces show which braces belong to them. Until then, they
            // only keep their place in the order of the marks.
            self.mark(Part::Template, Role::Opens, end - braces, end);
        }
        self.stack.push(Open {
            part: Part::Template,
            at: end - braces,
            braces,
            mark,
            free: self.marks.len(),
            piped: false,
            notes: self.notes,
            region: None,
        });
        end
    }

    fn end_brace(&mut self, mut at: usize) -> usize {
        let mut left = self.run_of(at);
        while left > 0 {
            let variant = self.stack.last().copied().filter(|open| open.part == Part::Variant);
            if let Some(open) = variant.filter(|_| left == 1 && self.byte(at + 1) == Some(b'-')) {
                self.stack.pop();
                self.close(open, open.mark, at, at + 2);
                return at + 2;
            }
            let lost = self.lost.braces.min(left);
            if lost > 0 {
                self.lost.braces -= lost;
                (at, left) = (at + lost, left - lost);
                continue;
            }
            if left == 1 {
                break;
            }
            let Some(i) = self.innermost(|part| part == Part::Template) else { break };
            let open = self.stack[i];
            let matched = left.min(open.braces).min(3);
            self.stack.truncate(i);
            let mark = open.free - 1;
            let rest = open.braces - matched;
            let part = if matched == 3 { Part::Parameter } else { Part::Template };
            self.marks[mark].part = part;
            self.marks[mark].at = place(open.at + rest);
            self.marks[mark].end = place(open.at + open.braces);
            self.close(open, mark, at, at + matched);
            if part == Part::Template && self.is_note(open.at + open.braces) {
                self.notes += 1;
            }
            if rest >= 2 {
                self.stack.push(Open { braces: rest, free: mark, ..open });
            }
            (at, left) = (at + matched, left - matched);
        }
        at + left
    }

    /// Returns true if a template is a note, by the beginning of its name.
    fn is_note(&self, at: usize) -> bool {
        const NOTES: [&[u8]; 3] = [b"efn", b"refn", b"#tag:ref"];
        let name = &self.source[at..];
        NOTES.iter().any(|note| name.get(..note.len()).is_some_and(|start| start.eq_ignore_ascii_case(note)))
    }

    fn bracket(&mut self, at: usize) -> usize {
        let run = self.run_of(at);
        let end = at + run;
        if begins_url(&self.source[end..self.limit]) {
            self.open(Part::External, end - 1, end);
        } else if run > 1 && !self.open(Part::Link, end - 2, end) {
            self.lost.links += 1;
        }
        end
    }

    fn end_bracket(&mut self, mut at: usize) -> usize {
        let mut left = self.run_of(at);
        while left > 0 {
            if left > 1 && self.lost.links > 0 {
                self.lost.links -= 1;
                (at, left) = (at + 2, left - 2);
                continue;
            }
            let Some(i) = self.innermost(|part| part != Part::Variant) else { break };
            let open = self.stack[i];
            let length = match open.part {
                Part::External => 1,
                Part::Link if left > 1 => 2,
                _ => break,
            };
            self.stack.truncate(i);
            self.close(open, open.mark, at, at + length);
            (at, left) = (at + length, left - length);
        }
        at + left
    }

    fn pipe(&mut self, at: usize) -> usize {
        if at == self.indent && self.byte(at + 1) == Some(b'}') && self.ends_table(at) {
            if self.lost.tables > 0 {
                self.lost.tables -= 1;
            } else if let Some(i) = self.innermost(|part| part == Part::Table) {
                let open = self.stack[i];
                self.stack.truncate(i);
                self.close(open, open.mark, at, at + 2);
            }
            return at + 2;
        }
        if let Some(open) = self.stack.last_mut().filter(|open| open.part == Part::Link) {
            open.piped = true;
        }
        at + 1
    }

    /// Returns true if the `|}` at `at` ends a table. In a template, `|}}` is an empty parameter and the end of the
    /// template.
    fn ends_table(&mut self, at: usize) -> bool {
        let inner = self.innermost(|part| matches!(part, Part::Table | Part::Template)).map(|i| self.stack[i].part);
        match inner {
            None => false,
            Some(Part::Template) => self.byte(at + 2) != Some(b'}'),
            Some(_) => true,
        }
    }

    fn angle(&mut self, at: usize) -> usize {
        let source = self.source;
        let rest = &source[at..self.limit];
        if rest.starts_with(b"<!--") {
            return self.comment(at);
        }
        let closes = rest.get(1) == Some(&b'/');
        let name = &rest[1 + usize::from(closes)..];
        let length = name.iter().take(LONGEST_TAG + 1).take_while(|b| b.is_ascii_alphanumeric()).count();
        let ends = name.get(length).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>'));
        if length == 0 || length > LONGEST_TAG || !ends {
            return at + 1;
        }
        let mut lower = [0; LONGEST_TAG];
        let lower = &mut lower[..length];
        lower.copy_from_slice(&name[..length]);
        lower.make_ascii_lowercase();
        let Some(tag) = std::str::from_utf8(lower).ok().and_then(tag) else { return at + 1 };
        // With a `<` or a blank line before the `>` it is no tag.
        let after = at + 1 + usize::from(closes) + length;
        let end = memchr2(b'<', b'>', &source[after..self.limit]).map(|n| after + n);
        self.work.add(2 * (end.unwrap_or(self.limit) - at));
        let is_end = |end: &usize| source[*end] == b'>' && memmem::find(&source[after..*end], b"\n\n").is_none();
        let Some(end) = end.filter(is_end) else { return at + 1 };
        let whole = source[end - 1] == b'/';
        let end = end + 1;
        match tag {
            Tag::Nothing => self.alone(Part::Nothing, at, end),
            Tag::Break => self.alone(Part::Break, at, end),
            Tag::Block => self.alone(Part::Block, at, end),
            Tag::Table if closes => self.end_table(at, end),
            Tag::Table if whole => self.alone(Part::Nothing, at, end),
            Tag::Table => {
                if !self.open(Part::HtmlTable, at, end) {
                    self.alone(Part::Nothing, at, end);
                }
                end
            }
            _ if closes => self.alone(Part::Nothing, at, end),
            Tag::Literal(_) if whole => self.alone(Part::Nothing, at, end),
            Tag::Gap(_) | Tag::Region(Part::Ref, _) if whole => self.alone(Part::Gap, at, end),
            Tag::Region(part, _) if whole => self.alone(part, at, end),
            Tag::Gap(element) | Tag::Literal(element) | Tag::Region(_, element) => {
                match self.end_of(element, &source[after - length..after], end) {
                    Some(close) => self.element(tag, at, end, close),
                    // `<references>` is a list of notes even without its end.
                    None if tag == Tag::Region(Part::References, element) => self.alone(Part::References, at, end),
                    None => self.alone(Part::Nothing, at, end),
                }
            }
        }
    }

    /// Adds an element whose start and end tags are known. Returns the offset at which scanning continues.
    fn element(&mut self, tag: Tag, at: usize, end: usize, close: (usize, usize)) -> usize {
        match tag {
            Tag::Literal(_) => self.alone(Part::Literal, at, close.1),
            Tag::Region(part, _) if self.open(part, at, end) => {
                if part == Part::Ref {
                    self.notes += 1;
                }
                let region = Region { close, outer_limit: self.limit, outer_lost: std::mem::take(&mut self.lost) };
                if let Some(open) = self.stack.last_mut() {
                    open.region = Some(region);
                }
                self.limit = close.0;
                end
            }
            _ => self.alone(Part::Gap, at, close.1),
        }
    }

    fn end_table(&mut self, at: usize, end: usize) -> usize {
        match self.innermost(|part| part == Part::HtmlTable) {
            Some(i) => {
                let open = self.stack[i];
                self.stack.truncate(i);
                self.close(open, open.mark, at, end);
                end
            }
            None => self.alone(Part::Block, at, end),
        }
    }

    fn comment(&mut self, at: usize) -> usize {
        let from = at + 4;
        let found = match self.comment_end {
            NextEnd::Never => None,
            NextEnd::At(start, end) if start >= from => Some(end),
            _ => {
                let found = memmem::find(&self.source[from..], b"-->").map(|n| from + n);
                self.work.add(found.unwrap_or(self.source.len()) - from);
                self.comment_end = found.map_or(NextEnd::Never, |start| NextEnd::At(start, start + 3));
                found.map(|start| start + 3)
            }
        };
        // If the end is missing or outside of the region, only the `<!--` is dropped.
        let Some(mut end) = found.filter(|end| *end <= self.limit) else { return self.alone(Part::Nothing, at, from) };
        if at == self.indent {
            // A line that holds only comments is dropped with its line end.
            self.begin_line(end);
            if self.byte(self.indent) == Some(b'\n') {
                end = self.indent + 1;
                self.begin_line(end);
            }
        }
        self.alone(Part::Nothing, at, end)
    }

    /// Returns the range of the next tag that closes this element, within the region.
    fn end_of(&mut self, element: usize, name: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = match self.ends[element] {
            NextEnd::Never => None,
            NextEnd::At(start, end) if start >= from => Some((start, end)),
            _ => {
                let found = self.search_end(name, from);
                self.ends[element] = found.map_or(NextEnd::Never, |(start, end)| NextEnd::At(start, end));
                found
            }
        };
        found.filter(|(_, end)| *end <= self.limit)
    }

    fn search_end(&mut self, name: &[u8], from: usize) -> Option<(usize, usize)> {
        let source = self.source;
        for at in memmem::find_iter(&source[from..], b"</").map(|n| from + n) {
            let rest = &source[at + 2..];
            if rest.get(..name.len()).is_none_or(|found| !found.eq_ignore_ascii_case(name)) {
                continue;
            }
            let space = rest[name.len()..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.work.add(space);
            if rest.get(name.len() + space) == Some(&b'>') {
                self.work.add(at - from);
                return Some((at, at + 2 + name.len() + space + 1));
            }
        }
        self.work.add(source.len() - from);
        None
    }
}
