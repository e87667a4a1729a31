//! Abbreviations, ordinals and reporting clauses by language: data for the rules of sentences, one file per language.

mod da;
mod de;
mod detect;
mod es;
mod fr;
mod it;
mod ja;
mod nl;
mod no;
mod others;
mod pl;
mod pt;
mod ru;
mod sv;

use datafusion_common::{Result, exec_err};

pub use detect::language_of;

use crate::arguments::primary_subtag;

/// A language that has its own rules for the ends of sentences.
///
/// The lists of abbreviations omit the last full stop, and white space after the other full stops: `z.B` matches
/// `z. B.` as well as `z.B.`. Their case matters: an abbreviation in lower case may have a capital only at the
/// beginning of a sentence, and before numbers. All other words are in lower case. The lists are in the order of their
/// bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The ISO 639-1 code.
    pub code: &'static str,
    /// The name in English.
    pub name: &'static str,
    /// Texts and their sentences in this language.
    pub examples: &'static [(&'static str, &'static [&'static str])],
    /// Abbreviations that end no sentence.
    pub(super) never_last: &'static [&'static str],
    /// Abbreviations that end no sentence before a number.
    pub(super) before_numbers: &'static [&'static str],
    /// Endings of words that end no sentence before a number, such as names of streets.
    pub(super) endings_before_numbers: &'static [&'static str],
    /// Abbreviations that end a sentence only before one of `starters`.
    pub(super) rarely_last: &'static [&'static str],
    /// Abbreviations that end a sentence before any capital.
    pub(super) often_last: &'static [&'static str],
    /// Words that are an abbreviation in English, but not here.
    pub(super) no_abbreviations: &'static [&'static str],
    /// Words that often begin a sentence and are rarely a name.
    pub(super) starters: &'static [&'static str],
    /// Words before a number that make it an ordinal if another word than one of `starters` follows.
    pub(super) before_ordinals: &'static [&'static str],
    /// Words that make a number before them an ordinal. Empty for a language that does not mark ordinals with a full
    /// stop.
    pub(super) after_ordinals: &'static [&'static str],
    /// Verbs that begin a reporting clause.
    pub(super) reporting_verbs: &'static [&'static str],
    /// Particles that continue the sentence after a quotation, without a space.
    pub(super) quoting: &'static [&'static str],
    /// Words that begin like one of `quoting`, but begin a sentence.
    pub(super) not_quoting: &'static [&'static str],
    /// Frequent words of at most 16 bytes, by which the language is detected.
    frequent: &'static [&'static str],
    /// Letters that few other languages have, by which the language is detected, too.
    letters: &'static str,
}

/// A language without any data, the base of all languages.
const EMPTY: Language = Language {
    code: "",
    name: "",
    examples: &[],
    never_last: &[],
    before_numbers: &[],
    endings_before_numbers: &[],
    rarely_last: &[],
    often_last: &[],
    no_abbreviations: &[],
    starters: &[],
    before_ordinals: &[],
    after_ordinals: &[],
    reporting_verbs: &[],
    quoting: &[],
    not_quoting: &[],
    frequent: &[],
    letters: "",
};

/// The languages that have their own rules, in the order of their names.
static LANGUAGES: [Language; 12] = [
    da::DANISH,
    nl::DUTCH,
    fr::FRENCH,
    de::GERMAN,
    it::ITALIAN,
    ja::JAPANESE,
    no::NORWEGIAN,
    pl::POLISH,
    pt::PORTUGUESE,
    ru::RUSSIAN,
    es::SPANISH,
    sv::SWEDISH,
];

/// Returns the languages that have their own rules for the ends of sentences.
pub fn languages() -> &'static [Language] {
    &LANGUAGES
}

/// Returns the language with this ISO 639-1 code.
pub(crate) fn language(code: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.code == code)
}

/// The language whose rules determine the ends of sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanguageChoice {
    /// The language of each text, as [`language_of`] detects it.
    Detected,
    /// The same language for every text.
    Given(&'static Language),
    /// No language: only the rules that English, Chinese and all other languages have.
    Common,
}

impl LanguageChoice {
    /// Reads `auto` or a code such as `de` or `de-AT`.
    ///
    /// # Errors
    ///
    /// Fails for a language without rules. The message lists the languages with rules.
    pub fn of(code: &str) -> Result<Self> {
        match primary_subtag(code).as_str() {
            "auto" => Ok(Self::Detected),
            "en" | "zh" => Ok(Self::Common),
            code => match language(code) {
                Some(language) => Ok(Self::Given(language)),
                None => {
                    let mut known: Vec<_> =
                        languages().iter().map(|language| language.code).chain(["en", "zh"]).collect();
                    known.sort_unstable();
                    exec_err!("sentences: there are no rules for '{code}'; there are auto, {}", known.join(", "))
                }
            },
        }
    }

    /// Returns the code that [`Self::of`] reads.
    pub fn code(self) -> &'static str {
        match self {
            Self::Detected => "auto",
            Self::Given(language) => language.code,
            Self::Common => "en",
        }
    }

    pub(super) fn for_text(self, text: &str) -> Option<&'static Language> {
        match self {
            Self::Detected => language_of(text),
            Self::Given(language) => Some(language),
            Self::Common => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abbreviations(language: &Language) -> [&[&'static str]; 5] {
        let Language { never_last, before_numbers, rarely_last, often_last, no_abbreviations, .. } = language;
        [never_last, before_numbers, rarely_last, often_last, no_abbreviations]
    }

    #[test]
    fn lists_are_in_order() {
        for language in languages() {
            let words =
                [language.starters, language.before_ordinals, language.after_ordinals, language.reporting_verbs];
            for list in abbreviations(language).into_iter().chain(words) {
                assert!(list.is_sorted_by(|a, b| a < b), "{}: {list:?}", language.name);
            }
        }
        assert!(languages().is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn an_abbreviation_is_in_one_list() {
        for language in languages() {
            let mut all = abbreviations(language).concat();
            all.sort_unstable();
            assert!(all.is_sorted_by(|a, b| a < b), "{}: {all:?}", language.name);
        }
    }
}
