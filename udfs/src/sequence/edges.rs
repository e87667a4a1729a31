//! The edges of a passage: the part of each side that is dense in words of the other side.

use std::ops::Range;

use hashbrown::HashMap;
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

use crate::text::{each_word, normalize};

/// The least density of shared words at the edges of a passage, relative to its density on the whole.
///
/// One half is midway between the density within (the mean of the two sides) and a density of 0 outside.
const DENSITY_AT_EDGES: f64 = 0.5;

/// The most times that the two sides are fitted to each other. They rarely change after the second time.
const ROUNDS: usize = 3;

/// A word of a text: its number, and its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Word {
    pub(super) id: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// Numbers for words, by their normal form.
#[derive(Default)]
pub(super) struct Vocabulary {
    ids: HashMap<String, u32>,
    normal: String,
}

impl Vocabulary {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Adds the words within `range` of `text` to `words`. The text has less than 4 GiB.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most as many words as bytes, less than 4 GiB")]
    pub(super) fn read(&mut self, text: &str, range: Range<usize>, words: &mut Vec<Word>) {
        each_word(&text[range.clone()], |word| {
            let word = range.start + word.start..range.start + word.end;
            normalize(&text[word.clone()], &mut self.normal);
            if self.normal.is_empty() {
                return;
            }
            let id = match self.ids.get(self.normal.as_str()) {
                Some(id) => *id,
                None => {
                    let id = self.ids.len() as u32;
                    self.ids.insert(self.normal.clone(), id);
                    id
                }
            };
            words.push(Word { id, start: word.start as u32, end: word.end as u32 });
        });
    }
}

/// A finder of edges.
#[derive(Default)]
pub(super) struct Edges {
    /// The last `time` when each word was marked, by word.
    marked: Vec<u32>,
    time: u32,
}

impl Edges {
    /// Returns the part of `a` and the part of `b` that belong together. Each is the run of words with the highest sum:
    /// a word that the other part has adds its weight, and any other word subtracts enough to make the sum fall where
    /// the run is too thin. Returns `None` if they share nothing of any weight.
    pub(super) fn find(
        &mut self,
        a: &[Word],
        b: &[Word],
        weight: impl Fn(u32) -> f64 + Copy,
    ) -> Option<(Range<usize>, Range<usize>)> {
        self.find_around(a, b, (0..a.len(), 0..b.len()), DENSITY_AT_EDGES, |word| (word.id, weight(word.id)))
    }

    /// Finds the runs as [`find`](Self::find) does, for words of any type: `of` returns the number and the weight of a
    /// word. The runs may begin and end outside of `core`, the two parts that are known to belong together. They stay
    /// `density` times as dense as these.
    pub(super) fn find_around<W>(
        &mut self,
        a: &[W],
        b: &[W],
        core: (Range<usize>, Range<usize>),
        density: f64,
        of: impl Fn(&W) -> (u32, f64) + Copy,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let (core_a, core_b) = (&a[core.0.clone()], &b[core.1.clone()]);
        self.mark(core_a, of);
        let share_b = self.marked_share(core_b, of);
        self.mark(core_b, of);
        let share_a = self.marked_share(core_a, of);
        let density = density * (share_a + share_b) / 2.0;
        if density <= 0.0 {
            return None;
        }
        // Where the fraction `density` of the words is shared, the sum neither rises nor falls.
        let penalty = density / (1.0 - density);
        let (mut found_a, mut found_b) = (None, core.1);
        for _ in 0..ROUNDS {
            // The words of `found_b` are marked.
            let part_a = self.best_run(a, of, penalty);
            if found_a.as_ref() == Some(&part_a) {
                break;
            }
            self.mark(&a[part_a.clone()], of);
            found_a = Some(part_a);
            let part_b = self.best_run(b, of, penalty);
            if part_b == found_b {
                break;
            }
            self.mark(&b[part_b.clone()], of);
            found_b = part_b;
        }
        Some((found_a?, found_b))
    }

    /// Marks `words` and no others.
    fn mark<W>(&mut self, words: &[W], of: impl Fn(&W) -> (u32, f64)) {
        self.time = self.time.checked_add(1).unwrap_or_else(|| {
            self.marked.clear();
            1
        });
        for word in words {
            let id = of(word).0 as usize;
            if id >= self.marked.len() {
                self.marked.resize(id + 1, 0);
            }
            self.marked[id] = self.time;
        }
    }

    fn is_marked(&self, id: u32) -> bool {
        self.marked.get(id as usize) == Some(&self.time)
    }

    /// Returns the share of marked words, by weight.
    fn marked_share<W>(&self, words: &[W], of: impl Fn(&W) -> (u32, f64)) -> f64 {
        let (mut marked, mut all) = (0.0, 0.0);
        for (id, weight) in words.iter().map(of) {
            all += weight;
            if self.is_marked(id) {
                marked += weight;
            }
        }
        if all > 0.0 { marked / all } else { 0.0 }
    }

    /// Returns the first of the runs with the highest sum, in one pass (Kadane's algorithm); all words if no sum is
    /// above 0.
    fn best_run<W>(&self, words: &[W], of: impl Fn(&W) -> (u32, f64), penalty: f64) -> Range<usize> {
        let (mut best, mut run) = (0.0, 0..words.len());
        let (mut sum, mut start) = (0.0, 0);
        for (i, (id, weight)) in words.iter().map(of).enumerate() {
            if sum <= 0.0 {
                (sum, start) = (0.0, i);
            }
            sum += if self.is_marked(id) { weight } else { -penalty * weight };
            if sum > best {
                (best, run) = (sum, start..i + 1);
            }
        }
        run
    }
}

/// Returns the bytes of the words `run`; `None` where the run is empty. They include the punctuation that belongs to
/// the words: brackets and quotes that open directly before the first word, and punctuation that closes directly after
/// the last, so that a whole sentence keeps its full stop. They stay within `within`, which contains the words.
pub(super) fn bytes_of(text: &str, run: &[Word], within: Range<usize>) -> Option<Range<usize>> {
    let (first, last) = (run.first()?.start as usize, run.last()?.end as usize);
    let start = before(&text[within.start..first]);
    let end = after(&text[last..within.end]);
    Some(first - start..last + end)
}

/// Returns the length of the punctuation at the end of `text` that opens what follows.
fn before(text: &str) -> usize {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let (mut sure, mut length) = (0, 0);
    for c in text.chars().rev() {
        match categories.get(c) {
            GeneralCategory::OpenPunctuation | GeneralCategory::InitialPunctuation if sure == length => {
                length += c.len_utf8();
                sure = length;
            }
            _ if matches!(c, '¿' | '¡') && sure == length => {
                length += c.len_utf8();
                sure = length;
            }
            // Some quotes open in some languages and close in others, or do both in one.
            GeneralCategory::OpenPunctuation
            | GeneralCategory::InitialPunctuation
            | GeneralCategory::FinalPunctuation => length += c.len_utf8(),
            _ if matches!(c, '"' | '\'') => length += c.len_utf8(),
            _ if c.is_whitespace() => return length,
            _ => return sure,
        }
    }
    length
}

/// Returns the length of the punctuation at the start of `text` that closes what precedes.
fn after(text: &str) -> usize {
    let categories = CodePointMapData::<GeneralCategory>::new();
    let (mut sure, mut length) = (0, 0);
    for c in text.chars() {
        match categories.get(c) {
            GeneralCategory::ClosePunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation
                if sure == length =>
            {
                length += c.len_utf8();
                sure = length;
            }
            // Some quotes close in some languages and open in others: only white space tells which.
            GeneralCategory::ClosePunctuation
            | GeneralCategory::FinalPunctuation
            | GeneralCategory::OtherPunctuation
            | GeneralCategory::InitialPunctuation => length += c.len_utf8(),
            _ if c.is_whitespace() => return length,
            _ => return sure,
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(a: &str, b: &str) -> Option<(String, String)> {
        let mut vocabulary = Vocabulary::default();
        let mut words = |text: &str| {
            let mut words = Vec::new();
            vocabulary.read(text, 0..text.len(), &mut words);
            words
        };
        let (words_a, words_b) = (words(a), words(b));
        let (run_a, run_b) = Edges::default().find(&words_a, &words_b, |_| 1.0)?;
        let cut = |text: &str, words: &[Word]| text[bytes_of(text, words, 0..text.len()).unwrap()].to_string();
        Some((cut(a, &words_a[run_a]), cut(b, &words_b[run_b])))
    }

    #[test]
    fn words_of_one_side_are_cut_off_at_the_ends_and_kept_within() {
        let found = find("x1 x2 x3 one two three y four five six.", "one two three four five six, z1 z2 z3");
        let expected = ("one two three y four five six.".to_string(), "one two three four five six,".to_string());
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn nothing_in_common_has_no_edges() {
        assert_eq!(find("one two.", "three four"), None);
        assert_eq!(find("one two.", ""), None);
    }

    #[test]
    fn words_compare_by_their_normal_form() {
        let found = find("x x x x Straße ﬁne IT’S", "STRASSE fine it's y y y y");
        assert_eq!(found, Some(("Straße ﬁne IT’S".to_string(), "STRASSE fine it's".to_string())));
    }

    #[test]
    fn light_words_do_not_carry_an_edge() {
        let word = |id| Word { id, start: 0, end: 1 };
        let a = [0, 7, 7, 7, 1, 2, 3].map(word);
        let b = [0, 1, 2, 3].map(word);
        let weight = |id| if id == 0 { 0.1 } else { 1.0 };
        assert_eq!(Edges::default().find(&a, &b, weight), Some((4..7, 1..4)));
    }

    #[test]
    fn marks_outlive_the_counter() {
        let mut edges = Edges { time: u32::MAX - 1, ..Edges::default() };
        let word = |id| Word { id, start: 0, end: 1 };
        let (a, b) = ([5, 5, 5, 0, 1].map(word), [0, 1, 6, 6, 6].map(word));
        assert_eq!(edges.find(&a, &b, |_| 1.0), Some((3..5, 0..2)));
        assert_eq!(edges.find(&a, &b, |_| 1.0), Some((3..5, 0..2)));
    }

    #[test]
    fn punctuation_goes_to_the_words_it_belongs_to() {
        for (text, word, expected) in [
            ("He said (“word”). Then", "word", "(“word”)."),
            ("a “word” b", "word", "“word”"),
            ("Er sagt: „word“ ...", "word", "„word“"),
            ("他说word“你好”", "word", "word"),
            ("你好。“word。”他", "word", "“word。”"),
            ("\"word\", he", "word", "\"word\","),
            ("a\"word b", "word", "word"),
            ("¿word?", "word", "¿word?"),
            ("(see)word—x", "word", "word"),
            ("word", "word", "word"),
        ] {
            let start = u32::try_from(text.find(word).unwrap()).unwrap();
            let run = [Word { id: 0, start, end: start + 4 }];
            assert_eq!(&text[bytes_of(text, &run, 0..text.len()).unwrap()], expected, "{text}");
        }
        let run = [Word { id: 0, start: 1, end: 2 }];
        assert_eq!(bytes_of("(a)", &run, 1..2), Some(1..2));
        assert_eq!(bytes_of("(a)", &[], 0..3), None);
    }
}
