//! The fields of a `<teiHeader>`: title, author, date and language.

use quick_xml::events::BytesStart;

use super::super::blocks::{Blocks, Gap};
use super::super::xml::attribute;

/// The fields that were found so far.
#[derive(Debug, Default)]
pub(super) struct Header {
    title: Option<(u8, String)>,
    /// The authors, separated by semicolons.
    author: String,
    date: Option<(u8, String)>,
    language: Option<(u8, String)>,
    /// The open elements, from the header down.
    open: Vec<Place>,
    /// The text of the field that is open.
    value: Blocks,
}

/// A place in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Header,
    FileDesc,
    TitleStmt,
    /// The publication, the source, the correspondence or the creation. A date in it has this rank.
    Dated(u8),
    ProfileDesc,
    LangUsage,
    Title(u8),
    Author,
    Date(u8),
    /// An element within a field.
    Within,
    /// A part of a name, which is a word of its own.
    Name,
    Other,
}

/// The places that name a language, in ascending precedence.
#[derive(Debug, Clone, Copy)]
pub(super) enum Named {
    Tei,
    Header,
    Text,
}

impl Header {
    /// Returns title, author, date and language.
    pub(super) fn into_fields(self) -> [Option<String>; 4] {
        let value = |ranked: Option<(u8, String)>| ranked.map(|(_, value)| value);
        let author = Some(self.author).filter(|author| !author.is_empty());
        [value(self.title), author, value(self.date), value(self.language)]
    }

    /// Sets the language, unless a place of the same or higher precedence has named one.
    pub(super) fn add_language(&mut self, named: Named, language: Option<String>) {
        let language = language.map(|language| language.trim().to_owned());
        set(&mut self.language, named as u8, language.unwrap_or_default());
    }

    /// Begins an element of the header, or the header itself.
    pub(super) fn start(&mut self, name: &str, tag: &BytesStart<'_>) {
        let place = match (self.open.last(), name) {
            (None, _) => Place::Header,
            (Some(Place::Header), "fileDesc") => Place::FileDesc,
            (Some(Place::Header), "profileDesc") => Place::ProfileDesc,
            (Some(Place::FileDesc), "titleStmt") => Place::TitleStmt,
            (Some(Place::FileDesc), "publicationStmt") => Place::Dated(0),
            (Some(Place::FileDesc), "sourceDesc") => Place::Dated(1),
            (Some(Place::ProfileDesc), "correspDesc") => Place::Dated(2),
            (Some(Place::ProfileDesc), "creation") => Place::Dated(3),
            (Some(Place::ProfileDesc), "langUsage") => Place::LangUsage,
            (Some(Place::LangUsage), "language") => {
                let ident = attribute(tag, "ident").or_else(|| attribute(tag, "id"));
                self.add_language(Named::Header, ident);
                Place::Other
            }
            (Some(Place::TitleStmt), "title") => Place::Title(match attribute(tag, "type").as_deref() {
                Some("main") => 2,
                None => 1,
                Some(_) => 0,
            }),
            (Some(Place::TitleStmt), "author") => Place::Author,
            (Some(Place::Dated(rank)), "date" | "origDate") => {
                let when = ["when", "when-iso", "value"].into_iter().find_map(|name| attribute(tag, name));
                set(&mut self.date, *rank, when.unwrap_or_default());
                Place::Date(*rank)
            }
            (Some(Place::Dated(rank)), _) => Place::Dated(*rank),
            (Some(Place::Title(_) | Place::Author | Place::Date(_) | Place::Within | Place::Name), name) => {
                match name {
                    "idno" | "note" => Place::Other,
                    "persName" | "forename" | "surname" | "addName" | "genName" | "nameLink" | "roleName" => {
                        Place::Name
                    }
                    _ => Place::Within,
                }
            }
            _ => Place::Other,
        };
        match place {
            Place::Title(_) | Place::Author | Place::Date(_) => self.value = Blocks::default(),
            Place::Name => self.value.widen(Gap::Space),
            _ => {}
        }
        self.open.push(place);
    }

    pub(super) fn end(&mut self) {
        let Some(place) = self.open.pop() else { return };
        match place {
            Place::Title(rank) => set(&mut self.title, rank, self.value.finish()),
            Place::Date(rank) => set(&mut self.date, rank, self.value.finish()),
            Place::Author => {
                let author = self.value.finish();
                if !author.is_empty() && !self.author.is_empty() {
                    self.author.push_str("; ");
                }
                self.author.push_str(&author);
            }
            Place::Name => self.value.widen(Gap::Space),
            _ => {}
        }
    }

    /// Adds characters to the open field. Fails if the field becomes longer than the limit.
    pub(super) fn characters(&mut self, text: &str, limit: usize) -> Result<(), ()> {
        let is_field = !matches!(
            self.open.last(),
            None | Some(
                Place::Header
                    | Place::FileDesc
                    | Place::TitleStmt
                    | Place::Dated(_)
                    | Place::ProfileDesc
                    | Place::LangUsage
                    | Place::Other
            )
        );
        if !is_field {
            return Ok(());
        }
        if self.author.len() + self.value.len() + text.len() > limit {
            return Err(());
        }
        self.value.push(text);
        Ok(())
    }
}

/// Sets a value, unless it is empty or there is one of the same rank or a higher one.
fn set(value: &mut Option<(u8, String)>, rank: u8, new: String) {
    if !new.is_empty() && value.as_ref().is_none_or(|(known, _)| *known < rank) {
        *value = Some((rank, new));
    }
}
