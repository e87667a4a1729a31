//! Estimates from a sample of the sentences: pairs, memory, the most frequent texts.

use std::fmt::{self, Display, Write as _};

use anyhow::Result;
use parquet::file::reader::Length as _;

use super::passages::ignored;
use super::{Base, Pairs, Passages, check_ranges};
use crate::error::Error;
use crate::index::stored::Stored;
use crate::memory::pool::for_operators;
use crate::pipeline::query;
use crate::run::{BYTES_OF_PAIR, Method, Run, Summary, Texts, grouped, mebibytes};
use crate::similarity_join::bytes_to_join;
use crate::store::Source;

/// An estimate of a run; its text is for people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Estimate {
    text: String,
    /// The summary, with the records that reading left out.
    pub summary: Summary,
}

impl Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Passages {
    /// Estimates what a run would do from a sample of about this many sentences, without running it.
    ///
    /// # Errors
    ///
    /// Errors of reading, and [`Error::Options`].
    pub async fn explain(&self, sample: u64) -> Result<Estimate, Error> {
        Ok(estimate(&self.base, &self.method()?, sample).await?)
    }
}

impl Pairs {
    /// Estimates what a run would do from a sample of about this many sentences or documents, without running it.
    ///
    /// # Errors
    ///
    /// Errors of reading, and [`Error::Options`].
    pub async fn explain(&self, sample: u64) -> Result<Estimate, Error> {
        Ok(estimate(&self.base, &self.method()?, sample).await?)
    }
}

async fn estimate(base: &Base, method: &Method, sample: u64) -> Result<Estimate> {
    check_ranges(&[("sample", Some(sample), 1, u64::MAX)])?;
    match method.texts {
        Some(texts) => estimate_texts(base, method, texts, sample).await,
        None => estimate_passages(base, method, sample).await,
    }
}

/// Estimates a run that compares texts, from a sample of documents or sentences.
async fn estimate_texts(base: &Base, method: &Method, of: Texts, sample: u64) -> Result<Estimate> {
    let (mut run, collections) = base.begin().await?;
    let stored = run.open_both(&collections.compared(method.needed)).await?;
    let (unit, view) = of.unit;
    let every = run.count(unit).await?.map(|units| one_in(units, sample));
    let parameters = &mut run.workspace.parameters;
    *parameters = method.parameters.clone();
    for (prefix, every) in ["", "against_"].into_iter().zip(every) {
        parameters.set(&format!("{prefix}every"), i64::try_from(every)?);
        parameters.set(&format!("{prefix}last_hash"), last_hash(every).as_str());
    }
    for (name, texts) in of.in_texts {
        parameters.set(name, (texts / i64::try_from(every[0])?).max(2));
    }
    parameters.set("measure", of.join.0.to_string().as_str());
    parameters.set("least", of.join.1);
    let stages = [
        query::UNITS_DOCS,
        view,
        query::EXPLAIN_SAMPLE,
        of.signature,
        query::TEXTS,
        of.links,
        query::TEXTS_PAIRS,
        query::EXPLAIN_PLACES,
    ];
    run.workspace.run_all(&stages).await?;
    let [texts, elements, shown, pairs, capped_pairs, capped_texts] = run.numbers(query::EXPLAIN_SUMS).await?;
    // One collection may be read whole and the other sampled. The larger factor gives an upper bound.
    let of_all = |sampled: u64| sampled.saturating_mul(every[0].max(every[1]));
    let expected = Expected {
        texts: of_all(texts),
        elements: of_all(elements),
        shown: of_all(shown),
        pairs,
        capped_pairs,
        capped_texts,
        is_sample: every != [1, 1],
    };
    let mut said = size(&run, method, &stored).await?;
    if expected.is_sample {
        let (every, unit) = (every.map(grouped), unit.trim_end_matches('s'));
        let other = if base.against.is_some() { format!(", and in {}", every[1]) } else { String::new() };
        let _ = writeln!(said, "Estimated from one {unit} in {}{other}; what is rare may be missed.", every[0]);
    }
    said.push_str(&expected.describe(method, &run, of.limit));
    for (title, table) in [
        ("The most frequent texts", query::EXPLAIN_FREQUENT_TEXTS),
        ("The most frequent words of the distinct texts", query::EXPLAIN_FREQUENT_WORDS),
    ] {
        let _ = write!(said, "\n{title}:\n{}\n", run.shown(table).await?);
    }
    Ok(Estimate { text: said, summary: run.summary_of(Vec::new(), None) })
}

/// Estimates a run that compares fingerprints, from a sample of the fingerprints of all documents.
async fn estimate_passages(base: &Base, method: &Method, sample: u64) -> Result<Estimate> {
    let (mut run, collections) = base.begin().await?;
    let stored = run.open_both(&collections.compared(method.needed)).await?;
    let sentences: u64 = run.count("sentences").await?.iter().sum();
    let every = one_in(sentences, sample);
    run.workspace.parameters = method.parameters.clone();
    run.workspace.parameters.set("every", i64::try_from(every)?);
    let mut stages = vec![
        query::UNITS_DOCS,
        query::UNITS_DOC_TEXTS,
        query::COMMON_SEQUENCES,
        query::COMMON_FINGERPRINTS,
        query::EXPLAIN_FINGERPRINTS,
        query::COMMON_SAMPLED,
    ];
    stages.extend(ignored(base.ignored.is_some()));
    stages.push(query::COMMON_FREQUENCIES);
    run.workspace.run_all(&stages).await?;
    let [pairs, rare, common, share] = run.numbers(query::EXPLAIN_PASSAGES).await?;
    let about = if every > 1 { "about " } else { "" };
    let of_all = |sampled: u64| grouped(sampled.saturating_mul(every));
    let most = method.max_pairs;
    let refused = refusal(pairs.saturating_mul(every) > most, every > 1);
    let mut said = size(&run, method, &stored).await?;
    if every > 1 {
        let _ = writeln!(said, "Estimated from one fingerprint in {}; what is rare may be missed.", grouped(every));
    }
    let _ = writeln!(said, "pairs of places   {about}{} (`max_pairs` {}){refused}", of_all(pairs), grouped(most));
    let _ = writeln!(said, "starts passages   {about}{} runs of words in two documents or more", of_all(rare));
    let ignored = if base.ignored.is_some() { " or to be ignored (`ignore`)" } else { "" };
    let _ = writeln!(
        said,
        "makes families    {about}{} runs of words in too many (`common`){ignored}, {share} % of the text",
        of_all(common)
    );
    let _ =
        write!(said, "\nThe documents with most common text:\n{}\n", run.shown(query::EXPLAIN_COMMON_DOCUMENTS).await?);
    Ok(Estimate { text: said, summary: run.summary_of(Vec::new(), None) })
}

/// Describes the size of the input.
async fn size(run: &Run, method: &Method, stored: &[Stored]) -> Result<String> {
    let tables = method.needed.tables();
    let files = stored.iter().flat_map(|stored| tables.iter().flat_map(|table| stored.files(table)));
    let bytes = files.filter_map(|file| Source::open(&file, run.engine.stores()).ok()).map(|file| file.len()).sum();
    let mut said = format!("{} to read", mebibytes(bytes));
    for table in tables {
        let _ = write!(said, ", {} {table}", grouped(run.count(table).await?.iter().sum()));
    }
    said.push_str(if run.has_read() { "; ibid ingest makes a corpus, which later runs can read.\n" } else { ".\n" });
    Ok(said)
}

/// The numbers of an estimate.
struct Expected {
    texts: u64,
    elements: u64,
    shown: u64,
    pairs: u64,
    capped_pairs: u64,
    capped_texts: u64,
    is_sample: bool,
}

/// Returns the note that a run would be refused, or an empty text if its pairs are not too many.
fn refusal(are_too_many: bool, is_sample: bool) -> &'static str {
    match (are_too_many, is_sample) {
        (false, _) => "",
        (true, true) => ", which would probably be refused",
        (true, false) => ", which will be refused",
    }
}

impl Expected {
    fn describe(&self, method: &Method, run: &Run, (option, limit): (&str, u32)) -> String {
        let about = if self.is_sample { "about " } else { "" };
        let (pairs, most) = (self.pairs, method.max_pairs);
        let refused = refusal(pairs > most, self.is_sample);
        let memory = bytes_to_join(self.texts, self.elements, self.shown);
        // The tables of hash joins hold the distinct texts.
        let held = pairs * BYTES_OF_PAIR + 2 * (self.texts * 64 + self.elements * 8);
        let short = match run.engine.memory().filter(|memory| held > for_operators(*memory) as u64) {
            Some(memory) => format!(", for which {} of memory may be too little", mebibytes(memory as u64)),
            None => String::new(),
        };
        let lines = [
            ("distinct texts", format!("{}{}", if self.is_sample { "at most " } else { "" }, grouped(self.texts))),
            (
                "pairs of places",
                format!(
                    "{}{} (`max_pairs` {}){refused}",
                    if self.is_sample { about } else { "at most " },
                    grouped(pairs),
                    grouped(most)
                ),
            ),
            (
                "left out",
                format!(
                    "{about}{} pairs of {} texts in more than {} places (`{option}`)",
                    grouped(self.capped_pairs),
                    grouped(self.capped_texts),
                    grouped(u64::from(limit))
                ),
            ),
            (
                "memory",
                format!(
                    "about {} for the similarity join, which can spill, and {} for the rest, which cannot{short}",
                    mebibytes(memory),
                    mebibytes(held)
                ),
            ),
        ];
        lines.iter().fold(String::new(), |mut said, (name, what)| {
            let _ = writeln!(said, "{name:18}{what}");
            said
        })
    }
}

/// Returns the n for which one row in n makes a sample of about `sample` rows.
fn one_in(rows: u64, sample: u64) -> u64 {
    rows.div_ceil(sample).max(1)
}

/// Returns the largest MD5 hash of a sample that has one row in `every`, in the hexadecimal form of SQL.
fn last_hash(every: u64) -> String {
    format!("{:032x}", u128::MAX / u128::from(every))
}
