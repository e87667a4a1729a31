use std::sync::Arc;

use anyhow::{Result, bail};
use arrow::array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use ibid_codes::{Code, Method, Width, bitmap, learn_within};
use ibid_udfs::similarity::Measure;

use super::{Held, Learning, describe, for_each_sentence, learning_options};
use crate::candidate_counts::{Counts, SentenceCodes, Sentences, Similar, count, mean, recall};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::methods::{Base, Found, Input, check_ratio, common_options, runs};
use crate::run::{Event, Run};

impl Engine {
    /// Counts the candidates that codes of sentences leave: codes by MD5, NER and OPT, and exact bitmaps.
    ///
    /// Takes some sentences as queries, compares all others with each by brute force, and counts. The table
    /// `comparison` has a row for each similarity and each kind of code: `similarity`, `codes`, `bits`, `per_word`,
    /// `bits_set` (of a sentence, on average), `similar` (similar sentences per query, among all others), `exact`
    /// (candidates per query that the exact filter leaves, which loses nothing). The other columns are for one distance
    /// for all queries, as in the paper (section 4): `distance_1` and `candidates_1` to find all similar sentences,
    /// `distance_999` and `candidates_999` to find .999 of them, `distance_99` and `candidates_99` to find .99.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql("SELECT 1 AS id, 'To be or not to be. To be or not to be, perhaps.' AS text").await?;
    /// let found = engine.compare_codes(notes).await?;
    /// assert_eq!(found.dataframe("comparison")?.count().await?, 14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compare_codes(&self, input: impl Into<Input>) -> CompareCodes {
        CompareCodes {
            base: Base::new(self, input.into()),
            queries: 2000,
            threshold: 0.8,
            min_words: 1,
            distinct: false,
            learning: Learning::default(),
        }
    }
}

/// Codes that are compared; see [`Engine::compare_codes`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct CompareCodes {
    pub(crate) base: Base,
    pub(crate) queries: usize,
    pub(crate) threshold: f64,
    pub(crate) min_words: usize,
    #[doc(hidden)]
    pub distinct: bool,
    #[doc(hidden)]
    pub learning: Learning,
}

common_options!(CompareCodes);
learning_options!(CompareCodes);
runs!(CompareCodes => Found);

/// The measures of similar sentences. Sentences that are similar by Jaccard are similar by cosine, too: both are the
/// same for equal sets, and cosine is higher for others.
const MEASURES: [Measure; 2] = [Measure::Jaccard, Measure::Cosine];

/// The counts of one kind of codes.
struct Counted {
    name: String,
    codes: SentenceCodes,
    counts: Counts,
}

impl CompareCodes {
    /// Learns codes from the sentences of this collection, too, and uses them for the sentences of the input.
    pub fn other(mut self, input: impl Into<Input>) -> Self {
        self.base.against = Some(input.into());
        self
    }

    /// Sets the number of sentences that are queries. Default: 2000.
    pub fn queries(mut self, sentences: usize) -> Self {
        self.queries = sentences;
        self
    }

    /// Sets the least similarity, by Jaccard and by cosine, above 0 and up to 1. Default: 0.8.
    pub fn threshold(mut self, threshold: f64) -> Self {
        self.threshold = threshold;
        self
    }

    /// Leaves out sentences of fewer different words. Default: 1.
    pub fn min_words(mut self, words: usize) -> Self {
        self.min_words = words;
        self
    }

    /// Takes only the first of the sentences with the same words.
    pub fn distinct(mut self) -> Self {
        self.distinct = true;
        self
    }

    async fn run(self) -> Result<Found> {
        check_ratio("threshold", self.threshold)?;
        let (mut run, collections) = self.base.begin().await?;
        let methods = [("md5", Method::Md5), ("ner", self.learning.ner()), ("opt", self.learning.opt())];
        for (_, method) in methods {
            self.learning.options(method, &run).check()?;
        }
        run.open_both(&collections.compared(Needed::DocumentsAndSentences)).await?;
        // One reservation for each collection.
        let held = [0, 1].map(|_| Held::nothing_yet(&run, "SentencesToCompare"));
        let sentences = self.read(&mut run, "sentences", &held[0]).await?;
        let other = match &self.base.against {
            Some(_) => Some(self.read(&mut run, "against_sentences", &held[1]).await?),
            None => None,
        };
        let mut reports = Vec::new();
        // Comparing takes minutes, and other tasks need not wait for it.
        let compare = || self.compare(&run, &sentences, other.as_ref(), &methods, &mut reports);
        let table = tokio::task::block_in_place(compare)?;
        // The reports were sent as events before.
        reports.into_iter().for_each(|report| run.note_last(report));
        run.workspace.session.register_batch("comparison", table)?;
        let rows = run.workspace.session.table("comparison").await?;
        let words = sentences.frequencies().len() as u64;
        let summary = run.summary_of(vec![("sentences", sentences.len() as u64), ("words", words)], None);
        Ok(Found::new(run, "codes compare", vec![("comparison", rows)], summary, 2))
    }

    async fn read(&self, run: &mut Run, table: &str, held: &Held) -> Result<Sentences> {
        self.learning.set_tokens(run, table).await?;
        let mut sentences = Sentences::new(self.min_words, self.distinct);
        let mut scratch = Vec::new();
        for_each_sentence(run, |words| {
            sentences.push(words, &mut scratch)?;
            held.grow_to(sentences.bytes())
        })
        .await?;
        Ok(sentences)
    }

    fn compare(
        &self,
        run: &Run,
        sentences: &Sentences,
        other: Option<&Sentences>,
        methods: &[(&str, Method)],
        reports: &mut Vec<String>,
    ) -> Result<RecordBatch> {
        let queries = sentences.sample(self.queries, self.learning.seed);
        let threads = self.learning.options(Method::Md5, run).threads;
        let similar = sentences.similar(&queries, Measure::Cosine, self.threshold, threads);
        let held = Held::nothing_yet(run, "CodesOfSentences");
        let counted = |name: String, width: Width, per_word: u32, of_words: &[Code]| {
            held.grow_to(held.bytes() + sentences.len() * width.bytes())?;
            let codes = SentenceCodes::new(sentences, width, per_word, of_words);
            let counts = count(sentences, &codes, &queries, &MEASURES, self.threshold, threads);
            anyhow::Ok(Counted { name, codes, counts })
        };
        let mut all = Vec::new();
        for (from, place) in std::iter::once((sentences, "")).chain(other.map(|other| (other, " of the other"))) {
            let [words, learning] = ["WordFrequencies", "LearnCodes"].map(|name| Held::nothing_yet(run, name));
            let frequencies = from.frequencies();
            words.grow_to(frequencies.bytes())?;
            for (name, method) in methods {
                if *method == Method::Md5 && !place.is_empty() {
                    continue;
                }
                let name = format!("{name}{place}");
                let options = self.learning.options(*method, run);
                let learned = learn_within(from.iter(), &frequencies, &options, |bytes| learning.grow_to(bytes))?;
                let report = describe(&name, &learned.report);
                run.tell(Event::Note(&report));
                reports.push(report);
                let of_words: Vec<Code> = sentences.words().iter().map(|word| learned.codebook.code(word)).collect();
                all.push(counted(name, options.width, options.per_word, &of_words)?);
            }
        }
        for width in Width::ALL {
            let words = u64::try_from(sentences.words().len())?;
            let of_words: Vec<Code> = (0..words).map(|word| bitmap([word], width)).collect();
            all.push(counted("bitmap".to_string(), width, 1, &of_words)?);
        }
        self.table(sentences, queries.len(), &similar, &all)
    }

    /// Returns a row for each similarity and each kind of codes.
    fn table(
        &self,
        sentences: &Sentences,
        queries: usize,
        similar: &[Similar],
        all: &[Counted],
    ) -> Result<RecordBatch> {
        let mut texts: [Vec<String>; 2] = Default::default();
        let mut whole: [Vec<Option<i32>>; 5] = Default::default();
        let mut means: [Vec<Option<f64>>; 6] = Default::default();
        for (place, measure) in MEASURES.into_iter().enumerate() {
            let reaches = |pair: &&Similar| {
                let value = measure.value(pair.common, sentences.size(pair.query), sentences.size(pair.sentence));
                value.is_some_and(|value| value >= self.threshold)
            };
            for Counted { name, codes, counts } in all {
                let pairs = similar.iter().filter(reaches).copied();
                let (by_distance, lost) = recall(sentences, codes, pairs, measure, self.threshold);
                if lost > 0 {
                    bail!(
                        "internal error: the exact filter of {name} loses {lost} similar sentences; please report it"
                    );
                }
                let a_query = |count: u64| Some(rounded(mean(count, queries)));
                let within = [1.0, 0.999, 0.99].map(|share| counts.within(&by_distance, share));
                let [one, all_but_one, all_but_ten] = within.map(|within| within.map(|(_, candidates)| candidates));
                for (column, text) in texts.iter_mut().zip([measure.to_string(), name.clone()]) {
                    column.push(text);
                }
                let distance = |i: usize| within[i].and_then(|(distance, _)| i32::try_from(distance).ok());
                let numbers = [codes.width().bits(), codes.per_word()].map(|number| i32::try_from(number).ok());
                let numbers = numbers.into_iter().chain((0..3).map(distance));
                whole.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
                let numbers = [
                    Some(rounded(codes.mean_of_bits())),
                    a_query(by_distance.iter().sum()),
                    counts.exact.get(place).and_then(|exact| a_query(*exact)),
                    one.and_then(a_query),
                    all_but_one.and_then(a_query),
                    all_but_ten.and_then(a_query),
                ];
                means.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
            }
        }
        let [similarity, codes] = texts.map(|texts| Arc::new(StringArray::from(texts)) as ArrayRef);
        let [bits, per_word, distance_1, distance_999, distance_99] =
            whole.map(|numbers| Arc::new(Int32Array::from(numbers)) as ArrayRef);
        let [bits_set, similar, exact, candidates_1, candidates_999, candidates_99] =
            means.map(|numbers| Arc::new(Float64Array::from(numbers)) as ArrayRef);
        Ok(RecordBatch::try_from_iter([
            ("similarity", similarity),
            ("codes", codes),
            ("bits", bits),
            ("per_word", per_word),
            ("bits_set", bits_set),
            ("similar", similar),
            ("exact", exact),
            ("distance_1", distance_1),
            ("candidates_1", candidates_1),
            ("distance_999", distance_999),
            ("candidates_999", candidates_999),
            ("distance_99", distance_99),
            ("candidates_99", candidates_99),
        ])?)
    }
}

/// Rounds to three decimal places.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
