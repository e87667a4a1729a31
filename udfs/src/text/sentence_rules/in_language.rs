//! The rules that depend on the language of the text. Without one they have no answer.

use std::borrow::Cow;

use super::Verdict::{Break, Join};
use super::{Gap, Initial, Verdict, WORD, is_opening};
use crate::text::languages::Language;

/// The most parts an abbreviation has, such as `p. ej.` with two.
const PARTS: usize = 4;

/// Particles that begin surnames: `J. De Smet`, `G. La Rocca`.
const NAME_PARTICLES: &[&str] =
    &["da", "de", "del", "della", "den", "der", "di", "do", "dos", "el", "la", "las", "le", "les", "lo", "los", "van"];

pub(super) fn reporting_clause(gap: &Gap<'_>) -> Option<Verdict> {
    let language = gap.language?;
    let exclaims = gap.terminators().ends_with(['!', '?', '！', '？']);
    if gap.has_space() {
        return (exclaims && gap.lines == 0 && is_in(gap.word_after(), language.reporting_verbs)).then_some(Join);
    }
    let rest = &gap.text[gap.start..];
    let starts = |words: &[&str]| words.iter().any(|word| rest.starts_with(word));
    let quoted = exclaims || gap.end > gap.stop;
    (quoted && starts(language.quoting) && !starts(language.not_quoting)).then_some(Join)
}

pub(super) fn ordinal(gap: &Gap<'_>) -> Option<Verdict> {
    let language = gap.language.filter(|language| !language.after_ordinals.is_empty())?;
    if !gap.is_full_stop() || gap.end > gap.stop || !gap.has_space() {
        return None;
    }
    let before = gap.before();
    let length = |of: fn(char) -> bool| before.len() - before.trim_end_matches(of).len();
    let digits = length(|c| c.is_ascii_digit());
    let roman = length(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C'));
    let (head, number) = before.split_at(before.len() - digits.max(roman));
    if !(1..=if digits > 0 { 3 } else { 6 }).contains(&number.len()) {
        return None;
    }
    if head.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',')) {
        return None;
    }
    let joins = match gap.initial() {
        Initial::Digit => is_in_date(head, number, gap.after()),
        Initial::Upper => {
            let next = gap.word_after();
            let article = is_listed(last_word(head), language.before_ordinals);
            is_listed(next, language.after_ordinals) || (article && !starts_sentence(gap, language))
        }
        _ => false,
    };
    joins.then_some(Join)
}

/// Returns true if `number` is the day or the month of a date such as `3. 10. 1990`.
fn is_in_date(head: &str, number: &str, after: &str) -> bool {
    let within = |number: &str, most: u8| number.parse().is_ok_and(|n: u8| (1..=most).contains(&n));
    let next = &after[..after.bytes().take(5).take_while(u8::is_ascii_digit).count()];
    let day = head.trim_end().strip_suffix('.').filter(|day| day.ends_with(|c: char| c.is_ascii_digit()));
    match day {
        Some(_) => within(number, 12) && matches!(next.len(), 2 | 4),
        None => within(number, 31) && within(next, 12) && after[next.len()..].starts_with('.'),
    }
}

pub(super) fn abbreviation(gap: &Gap<'_>) -> Option<Verdict> {
    let language = gap.language?;
    if !gap.is_full_stop() || gap.is_closed() {
        return None;
    }
    let before = PartsBefore::of(gap);
    // The abbreviation may go on, so that a later full stop is its last.
    let mut after = String::new();
    for part in parts_after(gap) {
        after.extend([".", part]);
        if before.abbreviation(language, &after).is_some() {
            return Some(Join);
        }
    }
    let numbered = || {
        let word = gap.word_before();
        let ending = language.endings_before_numbers.iter().any(|ending| word.ends_with(ending));
        (ending || is_listed(word, language.before_numbers)).then_some(Ends::NotBeforeNumbers)
    };
    let ends = before.abbreviation(language, "").or_else(numbered)?;
    let initial = gap.initial();
    match (ends, initial) {
        (Ends::Never, _) => {
            let goes_on = gap.has_space() || initial == Initial::Letter;
            (goes_on && gap.end == gap.stop).then_some(Join)
        }
        _ if !gap.has_space() => None,
        (_, Initial::Lower) | (Ends::NotBeforeNumbers | Ends::Rarely, Initial::Digit) => Some(Join),
        (Ends::NotBeforeNumbers, Initial::Upper) => {
            let roman = gap.word_after().trim_start_matches(['I', 'V', 'X', 'L', 'C', 'D', 'M']).is_empty();
            roman.then_some(Join)
        }
        (Ends::Rarely, Initial::Upper) if !starts_sentence(gap, language) => Some(Join),
        (Ends::Rarely | Ends::Often, Initial::Upper) => Some(Break),
        _ => None,
    }
}

pub(super) fn no_abbreviation(gap: &Gap<'_>) -> Option<Verdict> {
    let language = gap.language?;
    if !gap.is_full_stop() || gap.end > gap.stop || !gap.has_space() {
        return None;
    }
    let word = gap.word_before();
    let mut letters = word.chars();
    let single = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    let ends = match gap.initial() {
        Initial::Upper if single => starts_sentence(gap, language) && !is_listed(gap.word_after(), NAME_PARTICLES),
        Initial::Upper | Initial::Digit => is_in(word, language.no_abbreviations),
        _ => false,
    };
    ends.then_some(Break)
}

/// Returns true if the next word often begins a sentence and is no initial.
fn starts_sentence(gap: &Gap<'_>, language: &Language) -> bool {
    let word = gap.word_after();
    is_listed(word, language.starters) && !gap.after()[word.len()..].starts_with('.')
}

/// The places where an abbreviation ends a sentence.
#[derive(Clone, Copy)]
enum Ends {
    Never,
    NotBeforeNumbers,
    /// Before a word that often begins a sentence.
    Rarely,
    /// Before any capital.
    Often,
}

/// The word before the terminator, and the words before it that may belong to the same abbreviation.
struct PartsBefore<'a> {
    /// The words without the white space between them.
    text: Cow<'a, str>,
    /// The lengths in bytes, from the end, that an abbreviation may have, ascending.
    lengths: Vec<usize>,
    /// True if a sentence, a quotation or a bracket begins with the words.
    begins: bool,
}

impl<'a> PartsBefore<'a> {
    fn of(gap: &Gap<'a>) -> Self {
        let before = gap.before();
        let (mut start, mut spaces, mut lengths) = (before.len(), 0, vec![]);
        let mut behind = '.';
        for c in before.chars().rev().take(2 * WORD) {
            // White space separates words, unless a full stop is before it.
            if behind.is_whitespace() && c != '.' {
                start += behind.len_utf8();
                spaces -= behind.len_utf8();
                break;
            }
            let inside = c.is_lowercase() || c.is_uppercase() || matches!(c, '.' | '-');
            if c.is_whitespace() || c == '-' {
                lengths.push(before.len() - start - spaces);
            }
            if !(inside || c.is_whitespace()) || lengths.len() > PARTS {
                break;
            }
            if c.is_whitespace() {
                spaces += c.len_utf8();
            }
            start -= c.len_utf8();
            behind = c;
        }
        lengths.push(before.len() - start - spaces);
        lengths.retain(|&length| length > 0);
        lengths.dedup();
        let (head, words) = before.split_at(start);
        let text = if spaces == 0 { words.into() } else { words.replace(char::is_whitespace, "").into() };
        Self { text, lengths, begins: head.is_empty() || head.ends_with(is_opening) }
    }

    /// Returns how the last words, together with `after`, the text after the terminator, end sentences; `None` if they
    /// are no abbreviation.
    fn abbreviation(&self, language: &Language, after: &str) -> Option<Ends> {
        // The longest abbreviation wins: `т. п.` rather than `п.`.
        self.lengths.iter().rev().find_map(|&length| {
            let last = &self.text[self.text.len() - length..];
            let whole: Cow<'_, str> = if after.is_empty() { last.into() } else { (last.to_owned() + after).into() };
            let begins = self.begins && length == self.text.len();
            let lists = [
                (Ends::Never, language.never_last),
                (Ends::NotBeforeNumbers, language.before_numbers),
                (Ends::Rarely, language.rarely_last),
                (Ends::Often, language.often_last),
            ];
            let listed = |list| if begins { is_listed(&whole, list) } else { is_in(&whole, list) };
            lists.into_iter().find_map(|(ends, list)| listed(list).then_some(ends))
        })
    }
}

/// Returns the words after the terminator that each end with a full stop, without that full stop.
fn parts_after<'a>(gap: &Gap<'a>) -> impl Iterator<Item = &'a str> {
    let mut rest = if gap.end == gap.stop { &gap.text[gap.start..] } else { "" };
    std::iter::from_fn(move || {
        let inside = rest.chars().take(WORD).take_while(|&c| c.is_alphabetic() || c == '.' || c == '-');
        let (part, behind) = rest.split_at(inside.map(char::len_utf8).sum());
        rest = behind.strip_prefix(char::is_whitespace).unwrap_or_default();
        part.strip_suffix('.').filter(|part| !part.is_empty())
    })
    .take(PARTS - 1)
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    let letters = text.chars().rev().take(WORD).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum::<usize>();
    &text[text.len() - letters..]
}

fn is_in(word: &str, list: &[&str]) -> bool {
    list.binary_search(&word).is_ok()
}

/// Returns true if a list has the word in this spelling, or with a small first letter.
fn is_listed(word: &str, list: &[&str]) -> bool {
    let mut letters = word.chars();
    let capital = letters.next().filter(|c| c.is_uppercase());
    is_in(word, list)
        || capital.is_some_and(|first| {
            let lower: String = first.to_lowercase().chain(letters).collect();
            is_in(&lower, list)
        })
}
