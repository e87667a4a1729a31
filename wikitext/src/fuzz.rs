//! Checks of converted wiki markup, for fuzzers and tests.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use crate::{Converted, Converter, Kind, Section, Site};

/// Converts markup, and panics if the text, the sections or the number of steps break a rule.
pub fn wikitext(data: &[u8]) {
    let markup = String::from_utf8_lossy(data);
    let mut chinese = Site::default();
    chinese.set_language("zh");
    for site in [Site::default(), chinese] {
        let mut converter = Converter::default();
        check(&markup, &converter.convert(&markup, &site));
        assert!(converter.steps() <= 400 * (markup.len() + 16), "{} steps", converter.steps());
    }
}

/// Checks the rules that hold for the text and the sections of any page.
pub(super) fn check(markup: &str, Converted { text, sections, .. }: &Converted) {
    assert!(!text.contains(|c: char| c < ' ' && c != '\n'), "control characters: {text:?}");
    assert!(!text.contains("  ") && !text.contains("\n\n\n"), "white space: {text:?}");
    assert!(!text.contains(" \n") && !text.contains("\n "), "white space at a line end: {text:?}");
    assert_eq!(text.trim_matches([' ', '\n']), text.as_str());
    assert!(text.len() <= 2 * markup.len() + 64, "longer than its source");
    let mut at = (0, 0);
    for section in sections {
        let (Section { level, kind, chars, bytes, .. }, title) = (section, section.title(text));
        assert_eq!((chars[0], bytes[0]), at, "sections do not cover the text: {sections:?}");
        assert!(bytes[0] < bytes[1], "an empty section: {sections:?}");
        let [start, end] = bytes.map(|at| usize::try_from(at).unwrap());
        let in_bytes = &text[start..end];
        let characters = usize::try_from(chars[1] - chars[0]).unwrap();
        let in_chars: String = text.chars().skip(usize::try_from(chars[0]).unwrap()).take(characters).collect();
        assert_eq!(in_bytes, in_chars);
        assert!(in_bytes.starts_with(title) && usize::try_from(section.heading).unwrap() == title.len());
        assert_eq!(*level == 0, title.is_empty());
        assert_eq!(*kind == Kind::Lead, *level == 0 && *kind != Kind::References);
        at = (chars[1], bytes[1]);
    }
    assert_eq!(usize::try_from(at.1).unwrap(), text.len());
}
