//! Detection of references: sentences that name a work, and the place where it is found.

use std::ops::Range;

use super::lexicon::{VERBS, has};

/// The least evidence that makes a sentence a reference…
const EVIDENCE: u32 = 2;
/// …and the least evidence where a finite verb shows that the sentence says something about the work.
const EVIDENCE_IN_PROSE: u32 = 3;
/// The most bytes of a word that is evidence.
const MAX_WORD: usize = 12;

/// Features that references have and other sentences seldom. Each counts once, an identifier as two.
#[derive(Debug, Clone, Copy)]
enum Evidence {
    /// `p. 12`, `pp. 12–15`
    Pages,
    /// `73–80` after a comma or colon
    PageRange,
    /// `vol. 3`, `no. 4`, `ch. 5`, `2nd ed.`
    Part,
    /// `11 (1)`
    Issue,
    /// `ISBN 0…`, `doi:…`, `arXiv:…`
    Identifier,
    /// `https:`
    Address,
    /// `Retrieved`, `Archived`
    Access,
    /// `(1997)`, or `, 1997` before a mark or the end
    Year,
    /// `, London, 1979`
    Place,
    /// `Press`, `Journal`, `Proceedings`
    Venue,
    /// `J. H.`
    Initials,
    /// `et al.`, `eds.`, `op. cit.`
    Scholarly,
    /// `“A title of some words”`
    Title,
    /// `[Knu1973]`, or a bracket that the sentence begins with
    Bracket,
}

/// The evidence that was found.
#[derive(Default)]
struct Found {
    sorts: u32,
    weight: u32,
}

impl Found {
    fn add(&mut self, evidence: Evidence, weight: u32) {
        let sort = 1 << evidence as u32;
        if self.sorts & sort == 0 {
            self.sorts |= sort;
            self.weight += weight;
        }
    }
}

/// Returns true if `text`, which was cut into `segments`, is a reference.
pub(super) fn is_reference(text: &str, segments: &[Range<usize>]) -> bool {
    let get = |k: usize| segments.get(k).map_or("", |range| &text[range.clone()]);
    let before = |k: usize, by: usize| k.checked_sub(by).map_or("", &get);
    let mut found = Found::default();
    let mut is_prose = false;
    let mut quote = None;
    let mut lower = String::new();
    for i in 0..segments.len() {
        let word = get(i);
        lower.clear();
        if word.len() <= MAX_WORD {
            lower.extend(word.chars().flat_map(char::to_lowercase));
        }
        let is_capital = word.starts_with(char::is_uppercase);
        let value = get(i + 1 + usize::from(get(i + 1) == "."));
        match lower.as_str() {
            "p" | "pp" | "pg" | "page" | "pages" if is_figure(value) => found.add(Evidence::Pages, 1),
            "vol" | "volume" | "no" | "issue" | "ch" | "chap" | "chapter" | "bd"
                if is_figure(value) || is_roman(value) =>
            {
                found.add(Evidence::Part, 1);
            }
            "ed" | "edn" | "edition" if is_figure(before(i, 1)) => found.add(Evidence::Part, 1),
            "ed" | "eds" if get(i + 1) == "." => found.add(Evidence::Scholarly, 1),
            "al" if before(i, 1) == "et" => found.add(Evidence::Scholarly, 1),
            "cit" | "ibid" => found.add(Evidence::Scholarly, 1),
            "isbn" | "issn" | "doi" | "arxiv" | "pmid" | "oclc" if is_figure(value) || get(i + 1) == ":" => {
                found.add(Evidence::Identifier, 2);
            }
            "http" | "https" if get(i + 1) == ":" => found.add(Evidence::Address, 1),
            "retrieved" | "accessed" | "archived" if is_capital || !is_word(before(i, 1)) => {
                found.add(Evidence::Access, 1);
            }
            "press" | "journal" | "proceedings" | "proc" | "publishers" | "publications" | "verlag" | "springer"
            | "wiley" | "elsevier" | "review" | "transactions" | "bulletin" | "ieee" | "acm" | "siam" | "annals"
            | "quarterly" | "magazine" | "thesis" | "math" | "phys"
                if is_capital && (i > 0 || get(1) == "of") =>
            {
                found.add(Evidence::Venue, 1);
            }
            "“" | "\"" | "‘" if is_word(get(i + 1)) => quote = Some(i),
            "”" | "\"" | "’" if quote.is_some_and(|start| start + 3 < i) => found.add(Evidence::Title, 1),
            "[" if is_label(get(i + 1)) && get(i + 2) == "]" => found.add(Evidence::Bracket, 1),
            "[" if i == 0 && is_word(get(1)) && !is_figure(get(1)) => found.add(Evidence::Bracket, 1),
            // A verb with a capital belongs to a title.
            verb => is_prose |= !is_capital && has(VERBS, verb),
        }
        if is_year(word) {
            let is_closed = matches!(get(i + 1), "" | "." | "," | ";" | ")" | "]");
            if is_closed && matches!(before(i, 1), "(" | "," | "." | ":") {
                found.add(Evidence::Year, 1);
                let place = before(i, 2);
                if before(i, 1) == "," && place.starts_with(char::is_uppercase) && i > 3 {
                    found.add(Evidence::Place, 1);
                }
            }
        } else if is_figure(word) {
            if get(i + 1) == "(" && is_figure(get(i + 2)) && get(i + 3) == ")" {
                found.add(Evidence::Issue, 1);
            }
            if matches!(get(i + 1), "-" | "–") && is_figure(get(i + 2)) && matches!(before(i, 1), "," | ":" | ".") {
                found.add(Evidence::PageRange, 1);
            }
        }
        if is_initial(word) && get(i + 1) == "." || is_initials(word) {
            found.add(Evidence::Initials, 1);
        }
    }
    found.weight >= if is_prose { EVIDENCE_IN_PROSE } else { EVIDENCE }
}

fn is_word(segment: &str) -> bool {
    segment.starts_with(char::is_alphanumeric)
}

fn is_figure(segment: &str) -> bool {
    segment.starts_with(|c: char| c.is_ascii_digit())
}

fn is_year(segment: &str) -> bool {
    segment.len() == 4
        && segment.bytes().all(|b| b.is_ascii_digit())
        && (segment.starts_with('1') || segment.starts_with("20"))
}

fn is_roman(segment: &str) -> bool {
    !segment.is_empty() && segment.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L'))
}

fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
}

/// Returns true for initials such as `J.H` of `J.H. Smith`.
fn is_initials(word: &str) -> bool {
    word.contains('.') && word.split('.').all(is_initial)
}

/// Returns true for a label such as `Knu1973`, as bibliographies name works.
fn is_label(word: &str) -> bool {
    word.len() >= 4 && word.starts_with(char::is_uppercase) && word.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::statement::cut;

    fn is(text: &str) -> bool {
        let mut segments = Vec::new();
        cut(text, &mut segments);
        is_reference(text, &segments)
    }

    #[test]
    fn references_are_known_by_two_pieces_of_evidence() {
        for reference in [
            "Alpine Botany 14 (2): 91-99.",
            "Calder, I. (1997). The Long Shore.",
            "The Long Shore, Porto, Maré Press, 1997.",
            "[Calder, The Long Shore, p. 148]",
            "Chap. 10 of I. Calder: Coasts [Cal1997]",
            "Merrick et al., 1987.",
            "doi:10.1000/182",
            "\"Results of the census\". Retrieved 3 May 2012.",
            "Coasts, vol. IV, pp. 3–9",
            "J.H. Merrick, “On the Age of Ice”",
            "Coasts, 3rd ed., Lisbon, 1999",
        ] {
            assert!(is(reference), "{reference}");
        }
    }

    #[test]
    fn prose_that_names_a_year_or_a_work_is_none() {
        for prose in [
            "",
            "The bridge was opened in 1901.",
            "She was born in Porto, Portugal, 1912.",
            "The Long Shore was published by Maré Press in 1997.",
            "Merrick (1987) was the first to see it.",
            "Press the button no. 3 on the left.",
            "See chapter 4 for more.",
            "In 1931, 12-15 people lived there.",
            "The journal of the king is lost.",
            "[12] It is not always possible.",
        ] {
            assert!(!is(prose), "{prose}");
        }
    }
}
