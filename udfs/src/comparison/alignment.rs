//! An alignment of two texts: the words that stand in both, in order.

use std::convert::Infallible;
use std::ops::{Index, Range};

use similar::Algorithm;
use similar::algorithms::{DiffHook, diff};

/// The most words in both texts together for which the alignment is one of the longest. Beyond it the search would take
/// the square of the length. It gives up once it has cost 256 steps or the root of the length, and takes the best place
/// that it reached, as Git does.
const EXACT_WORDS: usize = 4_096;

/// A run of words that stand in both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) words: usize,
}

/// Words as parts of one string.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) places: &'a [Range<usize>],
}

impl Index<usize> for Words<'_> {
    type Output = str;

    fn index(&self, word: usize) -> &str {
        &self.text[self.places[word].clone()]
    }
}

/// Replaces the content of `runs` with the runs of an alignment of `a` and `b`, in order, no two adjacent in both
/// texts.
pub(super) fn align(a: Words<'_>, b: Words<'_>, runs: &mut Vec<Run>) {
    runs.clear();
    let (n, m) = (a.places.len(), b.places.len());
    let algorithm = if n + m <= EXACT_WORDS { Algorithm::RawMyers } else { Algorithm::Myers };
    let Ok(()) = diff(algorithm, &mut Runs(runs), &a, 0..n, &b, 0..m);
}

struct Runs<'a>(&'a mut Vec<Run>);

impl DiffHook for Runs<'_> {
    type Error = Infallible;

    fn equal(&mut self, a: usize, b: usize, words: usize) -> Result<(), Infallible> {
        match self.0.last_mut() {
            Some(last) if last.a + last.words == a && last.b + last.words == b => last.words += words,
            _ if words > 0 => self.0.push(Run { a, b, words }),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn places(text: &str) -> Vec<Range<usize>> {
        text.char_indices().map(|(at, c)| at..at + c.len_utf8()).collect()
    }

    fn runs(a: &str, b: &str) -> Vec<Run> {
        let mut runs = Vec::new();
        align(Words { text: a, places: &places(a) }, Words { text: b, places: &places(b) }, &mut runs);
        runs
    }

    fn random(mut seed: u32, letters: u32, length: usize) -> String {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_u32(0x4E00 + (seed >> 8) % letters).unwrap()
        };
        (0..length).map(|_| next()).collect()
    }

    fn longest_common_subsequence(a: &str, b: &str) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a.bytes() {
            let mut diagonal = 0;
            for (j, y) in b.bytes().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn what_is_equal_is_one_run() {
        assert_eq!(runs("abc", "abc"), [Run { a: 0, b: 0, words: 3 }]);
        assert_eq!(runs("abc", ""), []);
        assert_eq!(runs("", ""), []);
        assert_eq!(runs("abxcd", "abcd"), [Run { a: 0, b: 0, words: 2 }, Run { a: 3, b: 2, words: 2 }]);
    }

    proptest! {
        #[test]
        fn the_alignment_is_a_longest_one(a in "[abc]{0,30}", b in "[abcd]{0,30}") {
            let runs = runs(&a, &b);
            let mut before = (0, 0);
            for (k, run) in runs.iter().enumerate() {
                prop_assert!(run.a >= before.0 && run.b >= before.1 && (k == 0 || (run.a, run.b) != before));
                prop_assert_eq!(&a[run.a..run.a + run.words], &b[run.b..run.b + run.words]);
                before = (run.a + run.words, run.b + run.words);
            }
            prop_assert_eq!(runs.iter().map(|run| run.words).sum::<usize>(), longest_common_subsequence(&a, &b));
        }
    }

    #[test]
    fn long_texts_are_aligned_the_same_every_time() {
        let (a, b) = (random(1, 300, 6_000), random(2, 300, 6_000));
        let (in_a, in_b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
        let found = runs(&a, &b);
        assert_eq!(found, runs(&a, &b));
        assert!(found.windows(2).all(|w| w[0].a + w[0].words <= w[1].a && w[0].b + w[0].words <= w[1].b));
        assert!(found.iter().all(|r| in_a[r.a..r.a + r.words] == in_b[r.b..r.b + r.words]));
        assert!(found.iter().map(|r| r.words).sum::<usize>() > 300);
    }

    #[test]
    fn hostile_texts_take_a_bounded_time() {
        let started = Instant::now();
        for length in [2_048, 200_000] {
            for letters in [2, 50, 20_000] {
                let (a, b) = (random(1, letters, length), random(2, letters, length));
                runs(&a, &b);
                runs(&a, &b[..3 * 40]);
            }
            runs(&"ab".repeat(length / 2), &"ba".repeat(length / 2));
            runs(&"a".repeat(length), &"b".repeat(length));
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }
}
