//! `ibid codes compare`: the comparison of codes in the paper (Zhang et al. 2012, section 4), and exact bitmaps beside them.

use std::sync::Arc;

use anyhow::{Result, bail};
use arrow::array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use clap::Args;
use ibid_codes::{Code, Method, Width, bitmap, learn_within};
use ibid_udfs::similarity::Measure;

use super::{Held, Learning, collections, for_each_sentence, say_report};
use crate::candidate_counts::{Counts, SentenceCodes, Sentences, Similar, count, mean, recall};
use crate::cli::Ending;
use crate::cli::options::{InputOptions, OutputOptions, RunOptions, ratio};
use crate::cli::run::Run;

/// Count the candidates that codes of sentences leave: codes by MD5, NER and OPT, and exact bitmaps
///
/// Takes some sentences as queries, compares all others with each by brute force, and counts. One row for each similarity and each kind
/// of code. Columns: similarity, codes, bits, per_word, bits_set (of a sentence, on average), similar (sentences a query, of all
/// others), exact (candidates a query that the exact filter leaves, which loses nothing), and within one distance for all, as in the
/// paper, distance_1 and candidates_1 for all similar sentences, distance_999 and candidates_999 for .999 of them, distance_99 and
/// candidates_99 for .99.
#[derive(Debug, Args)]
pub(in crate::cli) struct CompareCodes {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Learn codes from the sentences of this collection, too, and use them for those of the input
    #[arg(long, value_name = "INPUT")]
    other: Option<String>,
    /// How many sentences are queries
    #[arg(long, value_name = "N", default_value_t = 2000)]
    queries: usize,
    /// The least similarity, by Jaccard and by cosine, above 0 and up to 1
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = ratio)]
    threshold: f64,
    /// Leave out sentences of fewer different words
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_words: usize,
    /// Of sentences with the same words take the first alone
    #[arg(long)]
    distinct: bool,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// By what sentences are similar. Those that are by Jaccard are by cosine, too: both say the same of equal sets, and of others cosine is
/// the higher.
const MEASURES: [Measure; 2] = [Measure::Jaccard, Measure::Cosine];

/// What was counted of one kind of codes.
struct Counted {
    name: String,
    codes: SentenceCodes,
    counts: Counts,
}

impl CompareCodes {
    pub(super) async fn run(self) -> Result<Ending> {
        let mut run = Run::begin(&self.running)?;
        let places = self.writing.check(&[])?;
        self.reading.begin(places)?;
        let methods = [("md5", Method::Md5), ("ner", self.learning.ner()), ("opt", self.learning.opt())];
        for (_, method) in methods {
            self.learning.options(method, &run).check()?;
        }
        let inputs = collections(&self.inputs, self.other.as_ref(), self.reading.reading());
        run.open_both(&inputs).await?;
        // One for each collection.
        let held = [0, 1].map(|_| Held::nothing_yet(&run, "SentencesToCompare"));
        let sentences = self.read(&mut run, "sentences", &held[0]).await?;
        let other = match &self.other {
            Some(_) => Some(self.read(&mut run, "against_sentences", &held[1]).await?),
            None => None,
        };
        // It takes minutes, which other tasks need not wait for.
        let table = tokio::task::block_in_place(|| self.compare(&run, &sentences, other.as_ref(), &methods))?;
        run.workspace.session.register_batch("comparison", table)?;
        let rows = run.workspace.session.table("comparison").await?;
        let count = run.write(rows, &self.writing).await?;
        let words = sentences.frequencies().len() as u64;
        run.summarise(&[("sentences", sentences.len() as u64), ("words", words), ("rows", count)], None);
        Ok(run.ending(0))
    }

    async fn read(&self, run: &mut Run<'_>, table: &str, held: &Held) -> Result<Sentences> {
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
        run: &Run<'_>,
        sentences: &Sentences,
        other: Option<&Sentences>,
        methods: &[(&str, Method)],
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
                say_report(run, &name, &learned.report);
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

    /// A row for each similarity and each kind of codes.
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

/// To three digits after the point.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
