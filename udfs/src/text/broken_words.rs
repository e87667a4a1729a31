//! Words that are broken at the end of a line.

use std::ops::Range;

/// A text in which the words that were broken at line ends are whole.
pub(super) struct Joined {
    pub(super) text: String,
    /// The places in `text` where bytes were cut out, ascending, each with the number of bytes cut out up to there.
    cuts: Vec<(usize, usize)>,
}

impl Joined {
    /// Joins the broken words of `text`; `None` if there are none.
    ///
    /// A word is broken if a hyphen stands between two letters, the second letter is no capital, and a line end with
    /// optional white space around it follows the hyphen. Hyphens are `-`, the soft hyphen (U+00AD), and those of old
    /// prints, `¬` and `⸗`.
    pub(super) fn try_new(text: &str) -> Option<Self> {
        let mut joined = Self { text: String::new(), cuts: Vec::new() };
        let (mut at, mut cut) = (0, 0);
        for (line_end, _) in text.match_indices('\n') {
            let Some(broken) = break_at(text, line_end).filter(|broken| broken.start >= at) else { continue };
            joined.text.push_str(&text[at..broken.start]);
            cut += broken.len();
            joined.cuts.push((joined.text.len(), cut));
            at = broken.end;
        }
        if cut == 0 {
            return None;
        }
        joined.text.push_str(&text[at..]);
        Some(joined)
    }

    /// Returns the range of the original text for a range of the joined text.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        let cut_before = |place: usize| {
            let next = self.cuts.partition_point(|(at, _)| *at < place);
            next.checked_sub(1).map_or(0, |last| self.cuts[last].1)
        };
        // A range that begins where bytes were cut out begins behind them.
        range.start + cut_before(range.start + 1)..range.end + cut_before(range.end)
    }
}

/// Returns the hyphen and the white space around the line end at `line_end` if they break a word.
fn break_at(text: &str, line_end: usize) -> Option<Range<usize>> {
    let is_blank = |c: char| c.is_whitespace() && c != '\n';
    let line = text[..line_end].trim_end_matches(is_blank);
    let word = line.strip_suffix(['-', '\u{ad}', '¬', '⸗'])?;
    let next = text[line_end + 1..].trim_start_matches(is_blank);
    let is_word = word.ends_with(char::is_alphabetic);
    let goes_on = next.starts_with(|c: char| c.is_alphabetic() && !c.is_uppercase());
    (is_word && goes_on).then(|| word.len()..text.len() - next.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_behind_each_hyphen() {
        let text = "An exam-\nple, old¬ \r\n  print, a dou⸗\nble so\u{ad}\nft one. Pre-\nWar, 3-\n4, a -\nb - c.";
        let joined = Joined::try_new(text).unwrap();
        assert_eq!(joined.text, "An example, oldprint, a double soft one. Pre-\nWar, 3-\n4, a -\nb - c.");
        let place = |word: &str| {
            let at = joined.text.find(word).unwrap();
            &text[joined.place(at..at + word.len())]
        };
        assert_eq!(place("example"), "exam-\nple");
        assert_eq!(place("oldprint"), "old¬ \r\n  print");
        assert_eq!([place("An"), place("one"), place("b - c.")], ["An", "one", "b - c."]);
        assert_eq!([place("exam"), place("ple")], ["exam", "ple"]);
    }

    #[test]
    fn most_texts_stay_as_they_are() {
        for text in ["", "\n", "-\n", "a-", "-\na", "a\nb", "a--\nb", "A well-known word\n"] {
            assert!(Joined::try_new(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn blank_lines_and_spaces_without_end_take_linear_time() {
        for piece in ["\n", "-\n", " ", "a-\n", "a- ", " \n"] {
            let began = std::time::Instant::now();
            Joined::try_new(&piece.repeat(1_000_000 / piece.len()));
            assert!(began.elapsed().as_secs() < 10, "{piece:?}");
        }
    }
}
