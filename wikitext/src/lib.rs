//! Plain text from the markup of MediaWiki, which Wikipedia and other wikis use.
//!
//! [`Converter::convert`] takes the source of a page, and gives its text, in paragraphs, with its [sections](Section). Templates
//! are left out, or written as a reader of the page would see them; notes come last.
//!
//! ```
//! use ibid_wikitext::{Converter, Site};
//!
//! let markup = "Ada was a [[writer|mathematician]].{{citation needed}}\n\n== Life ==\nShe was born in 1815.";
//! let page = Converter::default().convert(markup, &Site::default());
//! assert_eq!(page.text, "Ada was a mathematician.\n\nLife\n\nShe was born in 1815.");
//! assert_eq!(page.sections[1].title(&page.text), "Life");
//! ```
//!
//! `structure` matches the marks of the markup, `render` makes lines from them, with `templates`, and `layout` makes
//! paragraphs and sections. `names` has the names with a meaning. No part recurses, and all parts take linear time.

mod converter;
#[doc(hidden)]
pub mod fuzz;
mod layout;
mod names;
mod render;
mod sections;
mod structure;
mod templates;

#[cfg(test)]
mod tests;

pub use self::converter::{Converted, Converter};
pub use self::names::{Site, is_disambiguation_title};
pub use self::sections::{Kind, Section, end_all};
