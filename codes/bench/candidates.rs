use ibid_codes::{Bound, Code, Measure, Width};

use crate::corpus::Corpus;

/// A sentence that is similar to a query.
pub(crate) struct Similar {
    query: usize,
    row: usize,
    common: u32,
}

impl Similar {
    /// Whether it is by this measure.
    pub(crate) fn is(&self, corpus: &Corpus, measure: Measure, threshold: f64) -> bool {
        measure.similarity(corpus.size(self.query), corpus.size(self.row), self.common) >= threshold
    }
}

/// Runs `work` on each query on some threads, each with a part of them.
fn on_threads<R: Send>(queries: &[usize], threads: usize, work: impl Fn(&[usize]) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let parts = queries.chunks(queries.len().div_ceil(threads).max(1));
        let spawned: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
        spawned
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// All sentences whose cosine with a query is high enough, the query itself left out. Those whose Jaccard similarity is, are
/// among them.
pub(crate) fn similar(corpus: &Corpus, queries: &[usize], threshold: f64, threads: usize) -> Vec<Similar> {
    let of_part = |part: &[usize]| {
        let mut of_query = vec![false; corpus.words.len()];
        let mut similar = Vec::new();
        for query in part {
            for word in corpus.set(*query) {
                of_query[*word as usize] = true;
            }
            let size = corpus.size(*query);
            for row in (0..corpus.len()).filter(|row| row != query) {
                let other = corpus.size(row);
                if Measure::Cosine.similarity(size, other, size.min(other)) < threshold {
                    continue;
                }
                let in_common = corpus.set(row).iter().filter(|word| of_query[**word as usize]).count();
                let common = u32::try_from(in_common).unwrap_or(u32::MAX);
                if Measure::Cosine.similarity(size, other, common) >= threshold {
                    similar.push(Similar { query: *query, row, common });
                }
            }
            for word in corpus.set(*query) {
                of_query[*word as usize] = false;
            }
        }
        similar
    };
    on_threads(queries, threads, of_part).into_iter().flatten().collect()
}

/// Codes of all sentences.
pub(crate) struct Codes {
    pub(crate) name: String,
    pub(crate) width: Width,
    pub(crate) per_word: u32,
    words: Vec<u64>,
}

impl Codes {
    /// Codes of the sentences from those of their words, by number.
    pub(crate) fn new(name: String, width: Width, per_word: u32, corpus: &Corpus, of_words: &[Code]) -> Self {
        let mut words = Vec::with_capacity(corpus.len() * width.words());
        for sentence in 0..corpus.len() {
            let set = corpus.set(sentence).iter();
            let code = set.fold(Code::default(), |code, word| code.union(&of_words[*word as usize]));
            words.extend_from_slice(code.words(width));
        }
        Self { name, width, per_word, words }
    }

    fn of(&self, sentence: usize) -> &[u64] {
        &self.words[sentence * self.width.words()..][..self.width.words()]
    }

    /// How many bits are set on average.
    pub(crate) fn set(&self) -> f64 {
        let set: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        set as f64 * self.width.words() as f64 / self.words.len().max(1) as f64
    }
}

/// How many sentences are at which distance from the queries, and how many pass the exact filters.
pub(crate) struct Counts {
    pub(crate) by_distance: Vec<u64>,
    /// For Jaccard and cosine.
    pub(crate) exact: [u64; 2],
}

/// Compares the codes of queries to those of all others.
pub(crate) fn count(corpus: &Corpus, codes: &Codes, queries: &[usize], bounds: [Bound; 2], threads: usize) -> Counts {
    let sizes: Vec<u32> = (0..corpus.len()).map(|sentence| corpus.size(sentence)).collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let of_part = |part: &[usize]| {
        let mut counts = Counts { by_distance: vec![0; 257], exact: [0; 2] };
        for query in part {
            let of_query = codes.of(*query);
            // By the size of the other, one more than the highest distance.
            let above = bounds.map(|bound| {
                let above = |size| bound.distance(sizes[*query], size).map_or(0, |distance| distance.saturating_add(1));
                (0..=largest).map(above).collect::<Vec<u32>>()
            });
            for (row, size) in sizes.iter().enumerate() {
                let distance = hamming(of_query, codes.of(row));
                counts.by_distance[distance as usize] += 1;
                for (exact, above) in counts.exact.iter_mut().zip(&above) {
                    *exact += u64::from(distance < above[*size as usize]);
                }
            }
            // The query itself is no candidate.
            counts.by_distance[0] -= 1;
            for (exact, above) in counts.exact.iter_mut().zip(&above) {
                *exact -= u64::from(above[sizes[*query] as usize] > 0);
            }
        }
        counts
    };
    let mut all = Counts { by_distance: vec![0; 257], exact: [0; 2] };
    for counts in on_threads(queries, threads, of_part) {
        all.by_distance.iter_mut().zip(counts.by_distance).for_each(|(sum, count)| *sum += count);
        all.exact.iter_mut().zip(counts.exact).for_each(|(sum, count)| *sum += count);
    }
    all
}

/// At which distances the similar sentences are, and how many of them an exact filter loses, which should be none.
pub(crate) fn recall(
    corpus: &Corpus,
    codes: &Codes,
    similar: &[Similar],
    measure: Measure,
    threshold: f64,
    bound: Bound,
) -> (Vec<u64>, u64) {
    let (mut by_distance, mut lost) = (vec![0; 257], 0);
    for pair in similar.iter().filter(|pair| pair.is(corpus, measure, threshold)) {
        let distance = hamming(codes.of(pair.query), codes.of(pair.row));
        by_distance[distance as usize] += 1;
        let highest = bound.distance(corpus.size(pair.query), corpus.size(pair.row));
        lost += u64::from(highest.is_none_or(|highest| distance > highest));
    }
    (by_distance, lost)
}

fn hamming(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}
