use std::num::NonZero;

use ibid_codes::{Code, Width};
use ibid_udfs::similarity::Measure;

use super::sentences::{Sentences, Similar};

/// Runs `work` on parts of the queries, each on a thread of its own, and returns the results in their order.
pub(super) fn on_threads<R: Send>(
    queries: &[usize],
    threads: NonZero<usize>,
    work: impl Fn(&[usize]) -> R + Sync,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let mut parts = queries.chunks(queries.len().div_ceil(threads.get()).max(1));
        let own = parts.next();
        let spawned: Vec<_> =
            parts.map(|part| (part, std::thread::Builder::new().spawn_scoped(scope, || work(part)))).collect();
        let mut results: Vec<R> = own.map(&work).into_iter().collect();
        results.extend(spawned.into_iter().map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // The system starts no more threads.
            Err(_) => work(part),
        }));
        results
    })
}

/// Codes of all sentences.
pub(crate) struct SentenceCodes {
    width: Width,
    per_word: u32,
    bytes: Vec<u8>,
}

impl SentenceCodes {
    /// Combines the codes of words, which are indexed by their numbers, to codes of sentences.
    pub(crate) fn new(sentences: &Sentences, width: Width, per_word: u32, of_words: &[Code]) -> Self {
        let mut bytes = Vec::with_capacity(sentences.len() * width.bytes());
        for sentence in 0..sentences.len() {
            let words = sentences.set(sentence).iter();
            let code = words.fold(Code::default(), |code, word| code.union(&of_words[*word as usize]));
            bytes.extend_from_slice(code.bytes(width));
        }
        Self { width, per_word, bytes }
    }

    pub(crate) fn width(&self) -> Width {
        self.width
    }

    pub(crate) fn per_word(&self) -> u32 {
        self.per_word
    }

    /// Returns the mean number of bits that are set.
    pub(crate) fn mean_of_bits(&self) -> f64 {
        let set: u64 = self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
        mean(set, self.bytes.len() / self.width.bytes())
    }

    fn code(&self, sentence: usize) -> &[u8] {
        &self.bytes[sentence * self.width.bytes()..][..self.width.bytes()]
    }

    /// Returns the number of bits in which two sentences differ.
    fn distance(&self, a: usize, b: usize) -> usize {
        let bytes = self.code(a).iter().zip(self.code(b));
        bytes.map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }

    /// Calls `each` with each sentence, in order, and its distance from a query.
    fn distances(&self, query: usize, each: impl FnMut(usize, u32)) {
        match self.width {
            Width::W32 => self.distances_of::<4>(query, each),
            Width::W64 => self.distances_of::<8>(query, each),
            Width::W128 => self.distances_of::<16>(query, each),
            Width::W256 => self.distances_of::<32>(query, each),
        }
    }

    fn distances_of<const BYTES: usize>(&self, query: usize, mut each: impl FnMut(usize, u32)) {
        let (rows, _) = self.bytes.as_chunks::<BYTES>();
        let query = rows[query];
        for (row, code) in rows.iter().enumerate() {
            let (a, _) = query.as_chunks::<4>();
            let (b, _) = code.as_chunks::<4>();
            let words = a.iter().zip(b).map(|(a, b)| u32::from_ne_bytes(*a) ^ u32::from_ne_bytes(*b));
            each(row, words.map(u32::count_ones).sum());
        }
    }
}

/// Returns `sum` divided by `count`; 0 if `count` is 0.
#[expect(clippy::cast_precision_loss, reason = "a mean for people")]
pub(crate) fn mean(sum: u64, count: usize) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / count as f64 }
}

/// The numbers of sentences by their distance from the queries, and of those that pass a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The number of sentences at each distance, without the query itself.
    pub(crate) by_distance: Vec<u64>,
    /// The number of sentences that pass the exact filter, for each measure.
    pub(crate) exact: Vec<u64>,
}

impl Counts {
    fn none(measures: usize) -> Self {
        // A distance is from 0 to 256.
        Self { by_distance: vec![0; 257], exact: vec![0; measures] }
    }

    fn add(&mut self, other: &Self) {
        let sums = self.by_distance.iter_mut().chain(&mut self.exact);
        sums.zip(other.by_distance.iter().chain(&other.exact)).for_each(|(sum, count)| *sum += count);
    }

    /// Returns the least distance within which are at least this share of the similar sentences, and the number of
    /// sentences within it; `None` if there are no similar sentences.
    pub(crate) fn within(&self, similar: &[u64], share: f64) -> Option<(usize, u64)> {
        let total: u64 = similar.iter().sum();
        let (mut reached, mut candidates) = (0, 0);
        for (distance, (similar, all)) in similar.iter().zip(&self.by_distance).enumerate() {
            reached += similar;
            candidates += all;
            if total > 0 && mean(reached, 1) >= share * mean(total, 1) {
                return Some((distance, candidates));
            }
        }
        None
    }
}

/// Compares the codes of queries with those of all other sentences. The measures are symmetric.
pub(crate) fn count(
    sentences: &Sentences,
    codes: &SentenceCodes,
    queries: &[usize],
    measures: &[Measure],
    threshold: f64,
    threads: NonZero<usize>,
) -> Counts {
    let sizes: Vec<usize> = (0..sentences.len()).map(|sentence| sentences.size(sentence)).collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let of_part = |part: &[usize]| {
        let mut counts = Counts::none(measures.len());
        for query in part {
            // One more than the highest distance, by the size of the other sentence.
            let above: Vec<Vec<u32>> = measures
                .iter()
                .map(|measure| {
                    let apart = |size| measure.most_apart(sizes[*query], size, threshold);
                    (0..=largest).map(|size| apart(size).map_or(0, |apart| above(apart, codes.per_word))).collect()
                })
                .collect();
            codes.distances(*query, |sentence, distance| {
                if sentence == *query {
                    return;
                }
                counts.by_distance[distance as usize] += 1;
                for (exact, above) in counts.exact.iter_mut().zip(&above) {
                    *exact += u64::from(distance < above[sizes[sentence]]);
                }
            });
        }
        counts
    };
    let mut all = Counts::none(measures.len());
    on_threads(queries, threads, of_part).iter().for_each(|counts| all.add(counts));
    all
}

/// Returns one more than the distance that so many elements can make.
fn above(apart: usize, per_word: u32) -> u32 {
    u32::try_from(apart).unwrap_or(u32::MAX).saturating_mul(per_word).saturating_add(1)
}

/// Returns the number of similar sentences at each distance, and the number of those that the exact filter loses, which
/// should be 0.
pub(crate) fn recall(
    sentences: &Sentences,
    codes: &SentenceCodes,
    similar: impl Iterator<Item = Similar>,
    measure: Measure,
    threshold: f64,
) -> (Vec<u64>, u64) {
    let (mut by_distance, mut lost) = (vec![0; 257], 0);
    for Similar { query, sentence, .. } in similar {
        let distance = codes.distance(query, sentence);
        by_distance[distance] += 1;
        let apart = measure.most_apart(sentences.size(query), sentences.size(sentence), threshold);
        lost += u64::from(apart.is_none_or(|apart| distance > apart * codes.per_word as usize));
    }
    (by_distance, lost)
}

#[cfg(test)]
mod tests {
    use ibid_codes::{bitmap, md5_code};
    use proptest::prelude::*;

    use super::*;

    const MEASURES: [Measure; 2] = [Measure::Jaccard, Measure::Cosine];

    #[test]
    fn the_least_distance_with_enough_recall() {
        let counts = Counts { by_distance: vec![1, 10, 100, 1000], exact: Vec::new() };
        let similar = [1, 98, 0, 1];
        assert_eq!(
            [1.0, 0.99, 0.5].map(|share| counts.within(&similar, share)),
            [Some((3, 1111)), Some((1, 11)), Some((1, 11))]
        );
        assert_eq!(counts.within(&[0; 4], 1.0), None);
    }

    proptest! {
        #[test]
        fn candidates_are_those_of_a_plain_loop(
            texts in prop::collection::vec(prop::collection::vec(0..30_u8, 0..8), 1..40),
            hundredths in 1..=100_u32,
            threads in 1..4_usize,
            width in prop::sample::select(&Width::ALL[..]),
            per_word in 1..4_u32,
        ) {
            let mut sentences = Sentences::new(0, false);
            for text in &texts {
                let words: Vec<_> = text.iter().map(u8::to_string).collect();
                sentences.push(words.iter().map(String::as_str), &mut Vec::new()).unwrap();
            }
            let (threshold, threads) = (f64::from(hundredths) / 100.0, NonZero::new(threads).unwrap());
            let of_words: Vec<Code> = sentences.words().iter().map(|word| md5_code(word, width, per_word)).collect();
            let codes = SentenceCodes::new(&sentences, width, per_word, &of_words);
            let queries = sentences.sample(5, 1);
            let code = |sentence| Code::from_bytes(codes.code(sentence)).unwrap();
            let mut expected = Counts::none(2);
            for query in &queries {
                for other in (0..sentences.len()).filter(|other| other != query) {
                    let distance = code(*query).hamming(&code(other)) as usize;
                    expected.by_distance[distance] += 1;
                    for (exact, measure) in expected.exact.iter_mut().zip(MEASURES) {
                        let apart = measure.most_apart(sentences.size(*query), sentences.size(other), threshold);
                        *exact += u64::from(apart.is_some_and(|apart| distance <= apart * per_word as usize));
                    }
                }
            }
            prop_assert_eq!(count(&sentences, &codes, &queries, &MEASURES, threshold, threads), expected);
            for measure in MEASURES {
                let similar = sentences.similar(&queries, measure, threshold, threads);
                let (by_distance, lost) = recall(&sentences, &codes, similar.iter().copied(), measure, threshold);
                prop_assert_eq!(by_distance.iter().sum::<u64>(), similar.len() as u64);
                prop_assert_eq!(lost, 0);
            }
        }
    }

    #[test]
    fn bits_are_counted_on_average() {
        let mut sentences = Sentences::new(0, false);
        for text in ["a b", "", "c d e f"] {
            sentences.push(text.split_whitespace(), &mut Vec::new()).unwrap();
        }
        // No two of these codes set the same bit.
        let of_words: Vec<Code> = (0..6).map(|bit| bitmap([bit], Width::W256)).collect();
        assert_eq!(SentenceCodes::new(&sentences, Width::W256, 1, &of_words).mean_of_bits(), 2.0);
        assert_eq!(SentenceCodes::new(&Sentences::new(0, false), Width::W32, 1, &[]).mean_of_bits(), 0.0);
    }
}
