//! The entities that a document type declares.
//!
//! No file is ever loaded for an entity, and no entity grows: each is expanded once, where it is declared, to at most
//! 4 KiB.

use std::collections::HashMap;

use quick_xml::escape::{resolve_html5_entity, resolve_xml_entity};

use super::super::blocks::Blocks;

/// The longest text of an entity, in bytes.
const LONGEST: usize = 4096;

/// Upper bounds of the number of entities, and of their bytes.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 1 << 20;

/// The entities that are declared.
#[derive(Debug, Default)]
pub(super) struct Entities {
    /// The text of each entity by name, or the reason why it has none.
    declared: HashMap<String, Result<String, &'static str>>,
    bytes: usize,
}

impl Entities {
    /// Reads the declarations inside a document type. The first one of a name counts.
    pub(super) fn declare(&mut self, document_type: &str) {
        let Some(start) = end_of(document_type, '[') else { return };
        let mut rest = &document_type[start..];
        while let Some(at) = rest.find('<') {
            rest = &rest[at..];
            let end = if rest.starts_with("<!--") {
                rest.find("-->").map(|end| end + 3)
            } else if rest.starts_with("<?") {
                rest.find("?>").map(|end| end + 2)
            } else {
                end_of(rest, '>')
            };
            let Some(end) = end else { return };
            if let Some(declaration) = rest[..end].strip_prefix("<!ENTITY") {
                self.declare_one(declaration.trim_start());
            }
            rest = &rest[end..];
        }
    }

    fn declare_one(&mut self, declaration: &str) {
        let Some((name, value)) = declaration.split_once(|c: char| c.is_ascii_whitespace()) else { return };
        // `%` begins the declaration of an entity that only the document type itself uses.
        if name == "%" || self.declared.contains_key(name) {
            return;
        }
        if self.declared.len() == MOST || self.bytes + name.len() > MOST_BYTES {
            return;
        }
        let value = value.trim_start();
        let quoted = value.chars().next().filter(|c| matches!(c, '"' | '\'')).and_then(|quote| {
            let (text, _) = value[1..].split_once(quote)?;
            Some(text)
        });
        let text = match quoted {
            Some(value) => self.expanded(value),
            None => Err("stands for another file, and no other file is read"),
        };
        self.bytes += name.len() + text.as_ref().map_or(0, String::len);
        self.declared.insert(name.to_owned(), text);
    }

    /// Returns the text of an entity of this value, with each run of white space as one space. Other entities in the
    /// value must be declared before it.
    fn expanded(&self, value: &str) -> Result<String, &'static str> {
        // References to characters are replaced first: `&#38;lt;` becomes a reference.
        let value = replaced(value, |name| Ok(character(name).map(String::from)))?;
        if value.contains('<') {
            return Err("stands for markup, which is not read from an entity");
        }
        let text = replaced(&value, |name| match character(name) {
            Some(c) => Ok(Some(c.to_string())),
            None => self.text(name).map(|text| Some(text.to_owned())),
        })?;
        let mut blocks = Blocks::default();
        blocks.push("|");
        blocks.push(&text);
        blocks.push("|");
        let text = blocks.finish();
        Ok(text[1..text.len() - 1].to_owned())
    }

    /// Returns the text of an entity of XML, a declared one, or one of HTML. HTML has the entities of SGML.
    pub(super) fn text(&self, name: &str) -> Result<&str, &'static str> {
        if let Some(text) = resolve_xml_entity(name) {
            return Ok(text);
        }
        match self.declared.get(name) {
            Some(text) => text.as_ref().map(String::as_str).map_err(|reason| *reason),
            None => resolve_html5_entity(name).ok_or("is not declared"),
        }
    }
}

/// Returns the character that `#233` or `#xE9` refers to.
pub(super) fn character(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?).filter(|c| *c != '\0')
}

/// Returns a text with its references replaced. A reference stays if `text_of` gives no text for its name.
fn replaced(
    text: &str,
    mut text_of: impl FnMut(&str) -> Result<Option<String>, &'static str>,
) -> Result<String, &'static str> {
    const TOO_LONG: &str = "stands for more than 4096 bytes";
    let mut out = String::new();
    let mut rest = text;
    loop {
        let at = rest.find('&').unwrap_or(rest.len());
        if out.len() + at > LONGEST {
            return Err(TOO_LONG);
        }
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some((name, after)) = rest.get(1..).and_then(|name| name.split_once(';')) else { break };
        match text_of(name)? {
            Some(text) => out.push_str(&text),
            None => out.push_str(&rest[..name.len() + 2]),
        }
        rest = after;
    }
    out.push_str(rest);
    if out.len() > LONGEST { Err(TOO_LONG) } else { Ok(out) }
}

/// Returns the offset behind the first `wanted` character outside of quotes.
fn end_of(text: &str, wanted: char) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == wanted => return Some(at + c.len_utf8()),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(subset: &str) -> Entities {
        let mut entities = Entities::default();
        entities.declare(&format!("TEI SYSTEM \"a[b.dtd\" [{subset}]"));
        entities
    }

    #[test]
    fn declared_entities_are_known_and_no_file_is_loaded() {
        let entities = declared(
            "<!-- <!ENTITY no 'x'> --> <?pi <!ENTITY no 'x'> ?> <!ENTITY % p SYSTEM 'p.ent'> %p;\n\
             <!ENTITY dash \"&#8212;\"><!ENTITY two '&dash; &#x26;amp;\n  &eacute;'><!ENTITY dash 'later'>\
             <!ENTITY file SYSTEM \"file:///etc/passwd\"><!ENTITY bold '<b>x</b>'><!ATTLIST p a CDATA '>'><!ENTITY gt2 '>'>",
        );
        for (name, text) in [
            ("dash", Ok("—")),
            ("two", Ok("— & é")),
            ("gt2", Ok(">")),
            ("amp", Ok("&")),
            ("mdash", Ok("—")),
            ("no", Err("is not declared")),
            ("p", Err("is not declared")),
            ("file", Err("stands for another file, and no other file is read")),
            ("bold", Err("stands for markup, which is not read from an entity")),
        ] {
            assert_eq!(entities.text(name), text, "{name}");
        }
    }

    #[test]
    fn an_entity_made_of_others_does_not_grow() {
        let mut subset = "<!ENTITY a0 'lol lol lol lol lol lol lol'>".to_owned();
        for i in 1..30 {
            subset.push_str(&format!("<!ENTITY a{i} '{}'>", format!("&a{};", i - 1).repeat(10)));
        }
        subset.push_str("<!ENTITY self '&self;'><!ENTITY blank '   \n  '>");
        let entities = declared(&subset);
        assert_eq!(entities.text("a2").map(str::len), Ok(2700));
        assert_eq!(entities.text("a3"), Err("stands for more than 4096 bytes"));
        assert_eq!(entities.text("a29"), Err("stands for more than 4096 bytes"));
        assert_eq!(entities.text("self"), Err("is not declared"));
        assert_eq!(entities.text("blank"), Ok(" "));
    }
}
