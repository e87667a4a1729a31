//! `ibid codes learn`: a codebook from sentences.

use std::sync::Arc;

use anyhow::Result;
use arrow::array::{AsArray, FixedSizeBinaryArray, Int64Array, ListArray, RecordBatch, StringArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{Int32Type, Int64Type};
use clap::{Args, ValueEnum};
use ibid_codes::{Codebook, Frequencies, Learner, Method};

use super::{Held, Learning, collections, for_each_batch, for_each_sentence, say_report, strings};
use crate::cli::Ending;
use crate::cli::options::{InputOptions, OutputOptions, RunOptions};
use crate::cli::run::Run;
use crate::methods::refuse_without_effect;
use crate::pipeline::query;

/// Learn codes of the most frequent words from the sentences of a collection
///
/// One row for each word, the most frequent first. Columns: word, code (as many bytes as the code has bits, by 8; bit i is bit
/// i % 8 of byte i / 8), bits (the numbers of those that are set), frequency (how often the word occurs). The functions
/// codebook and bit_code make codes of sentences of it.
#[derive(Debug, Args)]
pub(in crate::cli) struct Learn {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// How the codes are chosen
    #[arg(long, value_enum, default_value_t = Way::Opt)]
    method: Way,
    #[command(flatten)]
    learning: Learning,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// How codes are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// By the MD5 hash of the word
    Md5,
    /// Words that mostly stand together share a code; the others have those of their hashes
    Ner,
    /// Words that stand together have bits in common, as far as all bits bear the same load
    Opt,
}

impl Learn {
    pub(super) async fn run(self) -> Result<Ending> {
        let method = self.method()?;
        let mut run = Run::begin(&self.running)?;
        let places = self.writing.check(&[])?;
        self.reading.begin(places)?;
        let options = self.learning.options(method, &run);
        options.check()?;
        run.open_both(&collections(&self.inputs, None, self.reading.reading())).await?;
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
        let mut learner = Learner::try_new(&frequencies, options)?;
        if learner.needs_sentences() {
            for_each_sentence(&mut run, |words| {
                learner.add(words);
                learning.grow_to(learner.bytes())
            })
            .await?;
        }
        // It takes seconds, which other tasks need not wait for.
        let learned = tokio::task::block_in_place(|| learner.finish_within(|bytes| learning.grow_to(bytes)))?;

        run.workspace.session.register_batch("codes", table(&learned.codebook)?)?;
        let rows = run.workspace.session.table("codes").await?;
        let count = run.write(rows, &self.writing).await?;
        let [sentences, _] = run.count("sentences").await?;
        run.clear();
        say_report(&run, self.method.name(), &learned.report);
        run.summarise(&[("sentences", sentences), ("words", frequencies.len() as u64), ("codes", count)], None);
        Ok(run.ending(0))
    }

    /// The method, or an error where an option has no effect.
    fn method(&self) -> Result<Method> {
        refuse_without_effect(&[
            ("spread", self.learning.spread.is_some(), self.method == Way::Opt),
            ("least", self.learning.least.is_some(), self.method == Way::Ner),
        ])?;
        Ok(match self.method {
            Way::Md5 => Method::Md5,
            Way::Ner => self.learning.ner(),
            Way::Opt => self.learning.opt(),
        })
    }
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Ner => "ner",
            Self::Opt => "opt",
        }
    }
}

/// A codebook as a table.
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
