//! A sentence as a statement: its words in one spelling, and the class of each.

use std::ops::Range;

use super::alignment::Words;
use super::lexicon::{
    BEFORE_CLAUSES, BEFORE_NOUNS, COMMANDS, DETERMINERS, FUNCTION_WORDS, NEGATIONS, NUMBERS, PARTS_OF_TEXTS,
    POINTING_WORDS, PRONOUNS, TITLES, VERBS, has,
};
use crate::text::{each_segment, normalize};

/// The class of a word in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Articles, prepositions and the like, titles before names.
    Function,
    /// Figures, numbers in words, months, days, and the signs of currencies and percentages beside figures.
    Number,
    /// Words that are written like the name of a person, of a place, or of something in a program.
    Name,
    /// All other words, and the first word of a sentence, whose capital does not mark a name.
    Plain,
}

/// A word of a statement.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) class: Class,
    /// True if the word can be the main verb.
    pub(super) is_verb: bool,
    /// True if the word is known as a verb. Another verb in its place more often says the same in other words than
    /// something else.
    pub(super) is_action: bool,
    /// True if the word is written as programs and catalogues write names, in which each letter counts.
    pub(super) is_identifier: bool,
    is_negation: bool,
    is_capital: bool,
}

/// The words of a sentence, without the numbers of items and footnotes, which belong to the page.
#[derive(Debug, Default)]
pub(super) struct Statement {
    pub(super) words: Vec<Word>,
    /// True if the sentence begins with a command, a condition, or a word like “this”: its topic is named later, if at
    /// all.
    pub(super) is_pointing: bool,
    /// The end of the words that can be the subject.
    pub(super) subject_end: usize,
    /// The normal forms of all words, one after the other.
    keys: String,
    places: Vec<Range<usize>>,
    normal: String,
}

impl Statement {
    pub(super) fn keys(&self) -> Words<'_> {
        Words { text: &self.keys, places: &self.places }
    }

    pub(super) fn key(&self, word: usize) -> &str {
        &self.keys[self.places[word].clone()]
    }

    pub(super) fn has_negation(&self) -> bool {
        self.words.iter().any(|word| word.is_negation)
    }

    /// Returns true if the word is a number right after a capitalised word, as in “Debian 12”.
    pub(super) fn is_number_of_name(&self, word: usize) -> bool {
        let is_name = |before: usize| self.is_named(before) && !has(PARTS_OF_TEXTS, self.key(before));
        self.words[word].class == Class::Number && word.checked_sub(1).is_some_and(is_name)
    }

    /// Returns true if the word is written like a name, also at the beginning of the sentence.
    pub(super) fn is_named(&self, word: usize) -> bool {
        self.words[word].is_capital && matches!(self.words[word].class, Class::Name | Class::Plain)
    }

    pub(super) fn is_pronoun(&self, word: usize) -> bool {
        has(PRONOUNS, self.key(word))
    }

    /// Returns the number of `words` that are no function words.
    pub(super) fn content(&self, words: Range<usize>) -> usize {
        self.words[words].iter().filter(|word| word.class != Class::Function).count()
    }

    /// Reads `text`, which was cut into `segments`, and drops the text read before.
    pub(super) fn read(&mut self, text: &str, segments: &[Range<usize>]) {
        self.words.clear();
        self.keys.clear();
        self.places.clear();
        let page = Page { text, segments, capitals_tell: capitals_tell(text) };
        let mut comma = None;
        let mut begins = true;
        let mut i = page.after_item_mark();
        while i < segments.len() {
            if page.is_footnote_mark(i) {
                i += 3;
                continue;
            }
            match page.get(i) {
                word if is_word(word) => {
                    self.push_word(&page, i, begins);
                    begins = false;
                }
                sign if page.is_unit(i) => self.push(sign, Class::Number),
                "," | "(" | "，" | "、" | "（" | "—" => comma = comma.or(Some(self.words.len())),
                mark => begins |= mark.contains(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；']),
            }
            i += 1;
        }
        self.is_pointing = self.words.first().is_some_and(|first| first.is_verb || has(POINTING_WORDS, self.key(0)));
        // “Bush, a president, …” has its subject before the comma, “In 1912, Bush …” behind it.
        let begins_with_subject = self.words.first().is_some_and(|first| match first.class {
            Class::Function => has(DETERMINERS, self.key(0)),
            Class::Number => comma != Some(1),
            Class::Name | Class::Plain => true,
        });
        self.subject_end = comma.filter(|_| begins_with_subject).unwrap_or(self.words.len());
    }

    /// Adds the word of segment `i`; `begins` is true if a sentence begins with it.
    fn push_word(&mut self, page: &Page<'_>, i: usize, begins: bool) {
        let word = page.get(i);
        let mut normal = std::mem::take(&mut self.normal);
        normalize(word, &mut normal);
        let is_capital = page.capitals_tell && word.starts_with(char::is_uppercase);
        let is_identifier = is_identifier(word) || page.is_call(i);
        let known = has(VERBS, &normal) || has(COMMANDS, &normal) || is_participle(&normal);
        let from = self.keys.len();
        let class = if is_number(word) {
            self.keys.push_str(page.sign(i));
            push_number(&normal, &mut self.keys);
            Class::Number
        } else if let Ok(at) = NUMBERS.binary_search_by_key(&normal.as_str(), |(word, _)| word) {
            self.keys.push_str(NUMBERS[at].1);
            Class::Number
        } else {
            self.keys.push_str(&normal);
            let is_month = matches!(word, "May" | "March") && page.is_beside_number(i);
            let is_title = is_capital && has(TITLES, &normal) && page.is_before_capital(i);
            match () {
                () if is_month => Class::Number,
                () if is_title || has(FUNCTION_WORDS, &normal) => Class::Function,
                () if is_identifier || is_capital && !begins => Class::Name,
                () => Class::Plain,
            }
        };
        let before = self.words.len().checked_sub(1).map_or("", |last| self.key(last));
        let is_finite = matches!(class, Class::Function | Class::Plain)
            && has(VERBS, &normal)
            && !has(BEFORE_CLAUSES, before)
            && (class == Class::Function || !has(BEFORE_NOUNS, before));
        let is_command = self.words.is_empty() && has(COMMANDS, &normal);
        self.words.push(Word {
            class,
            is_verb: is_finite || is_command,
            is_action: known && class == Class::Plain && !page.is_compound(i) && !has(DETERMINERS, before),
            is_identifier,
            is_negation: has(NEGATIONS, &normal),
            is_capital,
        });
        self.places.push(from..self.keys.len());
        self.normal = normal;
    }

    fn push(&mut self, key: &str, class: Class) {
        let from = self.keys.len();
        self.keys.push_str(key);
        self.places.push(from..self.keys.len());
        self.words.push(Word {
            class,
            is_verb: false,
            is_action: false,
            is_identifier: false,
            is_negation: false,
            is_capital: false,
        });
    }
}

/// Replaces the content of `places` with the places of the words and the punctuation marks of a text.
pub(super) fn cut(text: &str, places: &mut Vec<Range<usize>>) {
    places.clear();
    each_segment(text, |range| {
        if !text[range.clone()].trim().is_empty() {
            places.push(range);
        }
    });
}

/// Returns true if the text has more small letters than capitals, so that a capital can mark a name.
fn capitals_tell(text: &str) -> bool {
    let (mut small, mut capital) = (0_usize, 0_usize);
    for c in text.chars() {
        small += usize::from(c.is_lowercase());
        capital += usize::from(c.is_uppercase());
    }
    small > capital
}

fn is_word(segment: &str) -> bool {
    segment.contains(char::is_alphanumeric)
}

fn is_number(word: &str) -> bool {
    word.starts_with(char::is_numeric)
}

/// Returns true for a name in a program or a catalogue: `snake_case`, `camelCase`, `arm64`, `marshal.load`.
fn is_identifier(word: &str) -> bool {
    let mut small = false;
    !is_number(word)
        && word.chars().any(|c| {
            let found = matches!(c, '_' | '.' | ':') || c.is_numeric() || small && c.is_uppercase();
            small = c.is_lowercase();
            found
        })
}

fn is_participle(normal: &str) -> bool {
    normal.len() > 4 && normal.ends_with("ed") && !normal.ends_with("eed")
}

/// Adds a number in the spelling in which it is compared: `1,000` as `1000`, and `5th` as `5`.
fn push_number(normal: &str, keys: &mut String) {
    let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|suffix| normal.strip_suffix(suffix));
    let number = ordinal.filter(|rest| rest.bytes().all(|b| b.is_ascii_digit())).unwrap_or(normal);
    keys.extend(number.chars().filter(|&c| c != ','));
}

/// The segments of a text, and the neighbours of each.
struct Page<'a> {
    text: &'a str,
    segments: &'a [Range<usize>],
    capitals_tell: bool,
}

impl<'a> Page<'a> {
    /// Returns the segment `i`; the empty one before the first and after the last.
    fn get(&self, i: usize) -> &'a str {
        self.segments.get(i).map_or("", |range| &self.text[range.clone()])
    }

    fn before(&self, i: usize) -> &'a str {
        i.checked_sub(1).map_or("", |before| self.get(before))
    }

    /// Returns true if no white space stands before segment `i`.
    fn touches(&self, i: usize) -> bool {
        i > 0 && i < self.segments.len() && self.segments[i - 1].end == self.segments[i].start
    }

    fn is_beside_number(&self, i: usize) -> bool {
        is_number(self.get(i + 1)) || is_number(self.before(i))
    }

    fn is_before_capital(&self, i: usize) -> bool {
        let next = i + 1 + usize::from(self.get(i + 1) == ".");
        self.get(next).starts_with(char::is_uppercase)
    }

    fn is_call(&self, i: usize) -> bool {
        self.get(i + 1) == "(" && self.get(i + 2) == ")" && self.touches(i + 1) && self.touches(i + 2)
    }

    fn is_compound(&self, i: usize) -> bool {
        self.get(i + 1) == "-" && self.touches(i + 1) || self.before(i) == "-" && self.touches(i)
    }

    /// Returns true if segment `i` is the sign of a currency or of a share, right beside a number.
    fn is_unit(&self, i: usize) -> bool {
        matches!(self.get(i), "%" | "‰" | "°" | "$" | "€" | "£" | "¥" | "₹")
            && (self.touches(i) && is_number(self.before(i)) || self.touches(i + 1) && is_number(self.get(i + 1)))
    }

    /// Returns the plus or minus right before segment `i`, if it is no hyphen.
    fn sign(&self, i: usize) -> &'a str {
        let sign = self.before(i);
        let is_sign = matches!(sign, "+" | "-" | "−")
            && self.touches(i)
            && (!self.touches(i - 1) || matches!(self.before(i - 1), "(" | "[" | "/" | "=" | ","));
        if is_sign { sign } else { "" }
    }

    /// Returns true if segment `i` begins a footnote mark: up to three figures in square brackets.
    fn is_footnote_mark(&self, i: usize) -> bool {
        let number = self.get(i + 1);
        self.get(i) == "["
            && self.get(i + 2) == "]"
            && (1..=3).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
    }

    /// Returns the first segment after the bullet or number of an item: `12.`, `3.1`, `4.4.5.`, `(a)`, `ii.`
    fn after_item_mark(&self) -> usize {
        let mut i = 0;
        while matches!(self.get(i), "*" | "•" | "·" | "-" | "–" | "§" | "#") {
            i += 1;
        }
        let bracket = matches!(self.get(i), "(" | "[");
        let mark = self.get(i + usize::from(bracket));
        let after = self.get(i + 1 + usize::from(bracket));
        let next = i + 2 + usize::from(bracket);
        let is_numbered = is_number(mark) && mark.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let is_roman = (1..=4).contains(&mark.len()) && mark.chars().all(|c| matches!(c, 'i' | 'v' | 'x'));
        let is_letter =
            mark.len() == 1 && mark.bytes().all(|b| b.is_ascii_lowercase() || bracket && b.is_ascii_uppercase());
        let closes = matches!(after, ")" | "]") || !bracket && after == ".";
        if (is_numbered || is_roman || is_letter) && closes && next < self.segments.len() {
            return next;
        }
        // “3.1 The licence …”, but not “3.1 million …”.
        let capital_follows = after.starts_with(char::is_uppercase) || matches!(after, "\"" | "“" | "”");
        i + usize::from(is_numbered && !bracket && mark.contains('.') && capital_follows)
    }
}
