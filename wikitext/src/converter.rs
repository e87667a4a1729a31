use crate::layout;
use crate::names::Site;
use crate::render::Renderer;
use crate::sections::{Kind, Section, whole};
use crate::structure::{Mark, Scanner};

/// A page without its markup.
#[derive(Debug)]
pub struct Converted {
    /// The text, in paragraphs that are separated by blank lines. Titles of sections are paragraphs of it.
    pub text: String,
    /// The sections, which cover the text in order. Empty if the text is empty.
    pub sections: Vec<Section>,
    /// True if the page says, by a template or a switch, that it lists the meanings of its title.
    pub is_disambiguation: bool,
}

impl Converted {
    /// Returns a text without markup, such as a style sheet, unchanged and as one section.
    pub fn plain(text: String) -> Self {
        let sections = whole(&text, Kind::Lead);
        Self { text, sections, is_disambiguation: false }
    }
}

/// A converter of pages to text. Its buffers are reused from page to page.
#[derive(Default)]
pub struct Converter {
    marks: Vec<Mark>,
    renderer: Renderer,
}

impl Converter {
    /// Converts a page of a wiki to text, in time that grows with the length of its markup. Markup that is not closed,
    /// or is nested too deep, stays in the text as it is.
    pub fn convert(&mut self, markup: &str, site: &Site) -> Converted {
        Scanner::scan(markup, site.variants, &mut self.marks, &mut self.renderer.work);
        self.renderer.render(markup, &self.marks, site);
        let Renderer { rendered, work, .. } = &mut self.renderer;
        let (text, sections) = layout::lay_out(rendered, work);
        Converted { text, sections, is_disambiguation: rendered.is_disambiguation }
    }

    /// Converts a page that redirects, without `#REDIRECT [[…]]`, whatever the language of that word.
    pub fn convert_redirect(&mut self, markup: &str, site: &Site) -> Converted {
        self.convert(without_redirect(markup), site)
    }

    /// Returns the steps so far, at most some hundred a byte; 0 in builds without debug assertions.
    pub(crate) fn steps(&self) -> usize {
        self.renderer.work.done
    }
}

pub(crate) fn without_redirect(markup: &str) -> &str {
    let trimmed = markup.trim_start();
    let line = trimmed.split('\n').next().unwrap_or_default();
    match line.find("]]") {
        Some(end) if line.starts_with('#') => &trimmed[end + 2..],
        _ => markup,
    }
}

/// A count of the steps of a conversion in builds with debug assertions, so that tests and fuzzers can see that it is
/// linear.
#[derive(Debug, Default)]
pub(crate) struct Work {
    done: usize,
}

impl Work {
    pub(crate) fn add(&mut self, steps: usize) {
        if cfg!(debug_assertions) {
            self.done += steps;
        }
    }
}

/// Returns a table that is true for control characters and for the bytes in `others`.
pub(crate) const fn control_and(others: &[u8]) -> [bool; 256] {
    let mut special = [false; 256];
    let mut i = 0;
    while i < 0x20 {
        special[i] = true;
        i += 1;
    }
    i = 0;
    while i < others.len() {
        special[others[i] as usize] = true;
        i += 1;
    }
    special
}
