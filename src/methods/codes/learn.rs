use std::sync::Arc;

use anyhow::Result;
use arrow::array::{AsArray, FixedSizeBinaryArray, Int64Array, ListArray, RecordBatch, StringArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{Int32Type, Int64Type};
use ibid_codes::{Codebook, Frequencies, Method, Width};

use super::{Held, Learning, describe, for_each_batch, for_each_sentence, learning_options, strings};
use crate::corpus::ingest::Needed;
use crate::engine::Engine;
use crate::methods::{Base, Found, Input, common_options, refuse_without_effect, runs};
use crate::pipeline::query;

impl Engine {
    /// Learns codes of the most frequent words from the sentences of a collection.
    ///
    /// The table `codes` has a row for each word, the most frequent first: `word`, `code` (a byte for each 8 bits of
    /// the code; bit i is bit i % 8 of byte i / 8), `bits` (the numbers of the bits that are set), `frequency`. The
    /// functions `codebook` and `bit_code` make codes of sentences from it.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql("SELECT 1 AS id, 'To be or not to be.' AS text").await?;
    /// let found = engine.learn_codes(notes).by(ibid::methods::Learner::Md5).await?;
    /// assert_eq!(found.dataframe("codes")?.count().await?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn learn_codes(&self, input: impl Into<Input>) -> LearnCodes {
        LearnCodes { base: Base::new(self, input.into()), by: Learner::Opt, learning: Learning::default() }
    }
}

/// Codes of words that are learned; see [`Engine::learn_codes`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct LearnCodes {
    pub(crate) base: Base,
    #[doc(hidden)]
    pub by: Learner,
    #[doc(hidden)]
    pub learning: Learning,
}

common_options!(LearnCodes);
learning_options!(LearnCodes);
runs!(LearnCodes => Found);

/// The way in which codes are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learner {
    /// By the MD5 hash of the word.
    Md5,
    /// Words that mostly occur together share a code; the others have the codes of their hashes.
    Ner,
    /// Words that occur together have bits in common, as far as all bits have the same load.
    Opt,
}

impl LearnCodes {
    /// Sets how codes are chosen. Default: [`Learner::Opt`].
    pub fn by(mut self, learner: Learner) -> Self {
        self.by = learner;
        self
    }

    /// Sets the power of their frequency by which words weigh in the load of a bit, from 0 to 1, for [`Learner::Opt`].
    /// Default: 0.25.
    pub fn spread(mut self, power: f64) -> Self {
        self.learning.spread = Some(power);
        self
    }

    /// Sets the least similarity, from 0 to 1, at which words share a code, for [`Learner::Ner`]. Default: 0.5.
    pub fn least(mut self, similarity: f64) -> Self {
        self.learning.least = Some(similarity);
        self
    }

    async fn run(self) -> Result<Found> {
        let method = self.method()?;
        let (mut run, collections) = self.base.begin().await?;
        let options = self.learning.options(method, &run);
        options.check()?;
        run.open_both(&collections.compared(Needed::DocumentsAndSentences)).await?;
        self.learning.set_tokens(&mut run, "sentences").await?;

        let [words, learning] = ["WordFrequencies", "LearnCodes"].map(|name| Held::nothing_yet(&run, name));
        let mut frequencies = Frequencies::default();
        for_each_batch(&mut run, query::CODES_FREQUENCIES, |batch| {
            let times = batch.column(1).as_primitive::<Int64Type>();
            for (word, times) in strings(batch.column(0))?.iter().zip(times.values()) {
                frequencies.add(word.unwrap_or_default(), u64::try_from(*times)?);
            }
            words.grow_to(frequencies.bytes())
        })
        .await?;
        let mut learner = ibid_codes::Learner::try_new(&frequencies, options)?;
        if learner.needs_sentences() {
            for_each_sentence(&mut run, |words| {
                learner.add(words);
                learning.grow_to(learner.bytes())
            })
            .await?;
        }
        // Learning takes seconds, and other tasks need not wait for it.
        let learned = tokio::task::block_in_place(|| learner.finish_within(|bytes| learning.grow_to(bytes)))?;

        run.workspace.session.register_batch("codes", table(&learned.codebook)?)?;
        let rows = run.workspace.session.table("codes").await?;
        let [sentences, _] = run.count("sentences").await?;
        run.note(describe(self.by.name(), &learned.report));
        let summary = run.summary_of(vec![("sentences", sentences), ("words", frequencies.len() as u64)], None);
        Ok(Found::new(run, "codes learn", vec![("codes", rows)], summary, 2))
    }

    /// Returns the method. Fails if an option has no effect.
    fn method(&self) -> Result<Method> {
        refuse_without_effect(&[
            ("spread", self.learning.spread.is_some(), self.by == Learner::Opt),
            ("least", self.learning.least.is_some(), self.by == Learner::Ner),
        ])?;
        Ok(match self.by {
            Learner::Md5 => Method::Md5,
            Learner::Ner => self.learning.ner(),
            Learner::Opt => self.learning.opt(),
        })
    }
}

impl Learner {
    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Ner => "ner",
            Self::Opt => "opt",
        }
    }
}

/// Returns a codebook as a table.
fn table(codebook: &Codebook) -> Result<RecordBatch> {
    let (width, rows) = (codebook.width(), codebook.rows());
    let bytes: Vec<u8> = rows.iter().flat_map(|row| row.code.bytes(width)).copied().collect();
    let codes = FixedSizeBinaryArray::try_new(i32::try_from(width.bytes())?, Buffer::from_vec(bytes), None)?;
    let bits = rows.iter().map(|row| Some(row.code.bits().map(|bit| Some(i32::from(bit))).collect::<Vec<_>>()));
    let frequencies = rows.iter().map(|row| i64::try_from(row.frequency).unwrap_or(i64::MAX));
    Ok(RecordBatch::try_from_iter([
        ("word", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &*row.word))) as _),
        ("code", Arc::new(codes) as _),
        ("bits", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(bits)) as _),
        ("frequency", Arc::new(Int64Array::from_iter_values(frequencies)) as _),
    ])?)
}
