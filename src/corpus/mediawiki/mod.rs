//! Dumps of MediaWiki, such as those of Wikipedia: `.xml`, a document a page, with the text of its last revision.
//!
//! [`pages`] reads the XML, one page at a time, [`ibid_wikitext`] converts the markup of each to text, and [`sections`]
//! builds the column of its sections. `docs/wikipedia.md` describes the treatment of each kind of markup.

mod pages;
pub(super) mod sections;

use std::sync::Arc;

use ibid_wikitext::{Converted, Converter, Site, is_disambiguation_title};

use self::pages::{Page, Pages};
use super::batch::Cell;
use super::columns::{FileColumns, Kind};
use super::paths::InputFile;
use super::problem::Problem;
use super::{Context, Item};

/// The column that ids come from, unless another is named.
pub(super) const ID_COLUMN: &str = "title";

/// A filter of pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFilter {
    /// The numbers of the wanted namespaces. All namespaces are wanted if it is empty.
    pub namespaces: Vec<i64>,
    /// True if redirects are left out.
    pub skip_redirects: bool,
    /// True if pages of disambiguation are left out.
    pub skip_disambiguation: bool,
}

/// The reason why a page was left out on request, the first of these that holds, or why a record is no page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    Namespace,
    Redirect,
    Disambiguation,
    /// A record of a web archive that is no page of text.
    Record,
}

impl PageFilter {
    /// Returns true if all pages are wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Returns the reason why a page is not wanted, as far as it is known without the text.
    fn leaves_out(&self, page: &Page) -> Option<LeftOut> {
        if !self.namespaces.is_empty() && !page.namespace.is_some_and(|n| self.namespaces.contains(&n)) {
            Some(LeftOut::Namespace)
        } else if self.skip_redirects && page.redirect.is_some() {
            Some(LeftOut::Redirect)
        } else if self.skip_disambiguation && is_disambiguation_title(&page.title) {
            Some(LeftOut::Disambiguation)
        } else {
            None
        }
    }
}

/// Returns the columns of a dump. Fails on a file that is no dump.
pub(super) fn columns(file: &InputFile, limit: usize) -> Result<FileColumns, Box<Problem>> {
    Pages::open(file, limit, &Arc::default())?.check()?;
    let mut columns = FileColumns::default();
    for (name, kind) in [
        (ID_COLUMN, Kind::Text),
        ("text", Kind::Text),
        ("page_id", Kind::WideInt),
        ("namespace", Kind::WideInt),
        ("revision_id", Kind::WideInt),
        ("timestamp", Kind::Text),
        ("redirect", Kind::Text),
        ("sections", Kind::Other(sections::data_type())),
    ] {
        // This does not fail with eight columns.
        let _ = columns.add(name, kind);
    }
    Ok(columns)
}

/// Returns the documents of a file.
pub(super) fn rows(context: Context) -> Result<impl Iterator<Item = Result<Item, Box<Problem>>> + Send, Box<Problem>> {
    let mut pages = Pages::open(&context.file, context.limit, &context.pages)?;
    let mut converter = Converter::default();
    Ok(std::iter::from_fn(move || item(&context, &mut pages, &mut converter).transpose()))
}

fn item(context: &Context, pages: &mut Pages, converter: &mut Converter) -> Result<Option<Item>, Box<Problem>> {
    let Some((page, site)) = pages.next()? else { return Ok(None) };
    if let Some(reason) = page.left_out {
        return Ok(Some(Item::LeftOut(reason)));
    }
    let Converted { text, sections, is_disambiguation } = convert(page, site, converter);
    if is_disambiguation && context.pages.skip_disambiguation {
        return Ok(Some(Item::LeftOut(LeftOut::Disambiguation)));
    }
    let problem = |problem: Box<Problem>| {
        problem.in_record(page.record).at_line(page.line).at_byte(page.byte).showing(&page.source, 0)
    };
    let file = &context.file.label;
    if text.len() > context.limit {
        return Err(problem(Problem::too_long(file, "the text of the page, without its markup,", context.limit)));
    }
    let text_of = |text: &Option<String>| text.clone().map(Cell::Text);
    let cells = [
        (ID_COLUMN, Some(Cell::Text(page.title.clone()))),
        ("page_id", page.id.map(Cell::Int)),
        ("namespace", page.namespace.map(Cell::Int)),
        ("revision_id", page.revision.map(Cell::Int)),
        ("timestamp", text_of(&page.timestamp)),
        ("redirect", text_of(&page.redirect)),
        ("sections", Some(Cell::Sections(sections))),
    ];
    let row = context.row(page.record, Some(page.line), cells, text);
    row.map(|row| Some(Item::Row(row))).map_err(problem)
}

fn convert(page: &Page, site: &Site, converter: &mut Converter) -> Converted {
    // Style sheets, programs and data are no markup.
    if page.model.as_deref().is_some_and(|model| model != "wikitext" && model != "proofread-page") {
        return Converted::plain(page.text.clone());
    }
    if page.redirect.is_some() {
        converter.convert_redirect(&page.text, site)
    } else {
        converter.convert(&page.text, site)
    }
}
