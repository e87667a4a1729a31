//! Links to documents, made from a template.

use std::fmt::Write as _;

use anyhow::Result;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::content::Document;
use crate::error::misuse;

/// The characters that are percent-encoded in a part of a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The schemes of the addresses that a report may link to.
const SCHEMES: [&str; 3] = ["https://", "http://", "file://"];

/// A text with places for the id and for columns of a document: `https://example.org/{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkTemplate(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The name of a column, or `id`.
    Value(String),
}

impl LinkTemplate {
    /// Parses a template. Fails if its links could lead elsewhere than to the web or to files.
    pub(super) fn parse(template: &str) -> Result<Self> {
        let (mut pieces, mut rest) = (Vec::new(), template);
        while let Some((before, behind)) = rest.split_once('{') {
            let Some((name, after)) = behind.split_once('}') else {
                return Err(misuse!(
                    "`link_template` is {template:?}, in which a brace is not closed: write such as https://example.org/{{id}}"
                ));
            };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(Piece::Value(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        match pieces.as_slice() {
            // A column that has the whole address.
            [Piece::Value(_)] => {}
            [Piece::Text(text), ..] if SCHEMES.iter().any(|scheme| text.starts_with(scheme)) => {}
            _ => {
                return Err(misuse!(
                    "`link_template` is {template:?}: it begins with {}, or is the name of one column in braces, such as {{url}}",
                    SCHEMES.join(", ")
                ));
            }
        }
        Ok(Self(pieces))
    }

    /// Fails if the template names a column that none of the collections has.
    pub(super) fn check(&self, known: &[Vec<String>]) -> Result<()> {
        for piece in &self.0 {
            if let Piece::Value(name) = piece
                && name != "id"
                && !known.iter().any(|columns| columns.contains(name))
            {
                return Err(misuse!(
                    "`link_template` names {{{name}}}, and the documents have no such column; they have {}",
                    known.first().map(|columns| columns.join(", ")).unwrap_or_default()
                ));
            }
        }
        Ok(())
    }

    /// Returns the link of a document. Returns `None` if a value is missing, or is not an address although it has to be
    /// one.
    pub(super) fn link(&self, document: &Document, columns: &[String]) -> Option<String> {
        let value = |name: &str| match columns.iter().position(|column| column == name) {
            Some(at) => document.values[at].as_deref(),
            None if name == "id" => Some(document.id.as_str()),
            None => None,
        };
        if let [Piece::Value(name)] = self.0.as_slice() {
            let address = value(name).filter(|address| SCHEMES.iter().any(|scheme| address.starts_with(scheme)));
            return address.map(str::to_owned);
        }
        let mut link = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => link.push_str(text),
                Piece::Value(name) => {
                    let _ = write!(link, "{}", utf8_percent_encode(value(name)?, ENCODED));
                }
            }
        }
        Some(link)
    }
}

#[cfg(test)]
mod tests {
    use super::super::texts::Text;
    use super::*;

    fn link(template: &str, id: &str, url: Option<&str>) -> Option<String> {
        let document = Document {
            side: 0,
            id: id.to_owned(),
            text: Text::default(),
            values: vec![url.map(str::to_owned)],
            seconds: None,
        };
        LinkTemplate::parse(template).unwrap().link(&document, &["url".to_owned()])
    }

    #[test]
    fn values_are_encoded() {
        assert_eq!(link("https://a.b/{id}?x", "ä/\"<", None).unwrap(), "https://a.b/%C3%A4%2F%22%3C?x");
        assert_eq!(link("{url}", "a", Some("https://a.b/c?d=e")).unwrap(), "https://a.b/c?d=e");
    }

    #[test]
    fn links_lead_to_the_web_or_to_files() {
        assert_eq!(link("{url}", "a", Some("javascript:alert(1)")), None);
        assert_eq!(link("{url}", "a", None), None);
        assert_eq!(link("https://a.b/{missing}", "a", None), None);
        for wrong in ["javascript:{id}", "{id}{url}", "https://a.b/{id", "x"] {
            LinkTemplate::parse(wrong).unwrap_err();
        }
    }
}
