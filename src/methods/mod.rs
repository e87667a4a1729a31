//! Methods, each as a builder: options with defaults, and a future that runs it.
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! # let folder = tempfile::tempdir()?;
//! # let text = "The board approved the new ferry terminal by nine votes to two. Work will begin in March and last two years.";
//! # std::fs::write(folder.path().join("report.txt"), format!("Lunch followed. {text} Nobody spoke."))?;
//! # std::fs::write(folder.path().join("article.txt"), format!("Good news for commuters! {text}"))?;
//! # let corpus = folder.path();
//! let engine = ibid::Engine::new()?;
//! let found = engine.passages(corpus).min_words(12).await?;
//! let passages = found.dataframe("passages")?.collect().await?;
//! assert_eq!(passages[0].num_rows(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod add;
pub(crate) mod by_name;
pub(crate) mod clusters;
pub(crate) mod codes;
mod compare;
pub(crate) mod containment;
pub(crate) mod decontaminate;
pub(crate) mod dedup;
mod excerpts;
mod explain;
pub(crate) mod found;
mod gc;
mod ingest;
mod input;
mod kept;
pub(crate) mod options;
pub(crate) mod pairs;
pub(crate) mod passages;
mod report;
mod review;
pub(crate) mod search;
pub(crate) mod signature;
mod stream;
pub(crate) mod table;
pub(crate) mod threads;
mod times;
mod verify;

use std::path::PathBuf;

use anyhow::Result;
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;

pub use self::add::Addition;
pub use self::by_name::NamedMethod;
pub use self::clusters::Clusters;
pub use self::codes::{CompareCodes, LearnCodes, Learner, Token};
pub use self::compare::CompareContainment;
pub use self::containment::{Comparing, Containment};
pub use self::decontaminate::{Decontaminate, Leaving, Overlap};
pub use self::dedup::{Dedup, Keep, Matching, Measure, Piece};
pub use self::explain::Estimate;
pub use self::found::{Found, Staged};
pub use self::gc::{Gc, Removal};
pub use self::ingest::Ingest;
pub use self::input::{Boilerplate, Input, InputFormat};
pub use self::options::bytes;
pub use self::pairs::{Pairs, Unit};
pub use self::passages::{Passages, Profile};
pub use self::report::Report;
pub use self::review::{Review, Verdict};
pub use self::search::Search;
pub use self::signature::Signature;
pub use self::stream::{Contained, Judged, JudgedStream, Judging};
pub use self::threads::Threads;
pub use self::verify::{Checked, Outcome, Verify};
use crate::corpus::ingest::Needed;
use crate::corpus::{self, OnError};
use crate::engine::Engine;
use crate::error::{OverLimit, misuse};
pub use crate::export::PartFormat;
use crate::run::{Compared, Run, Settings, grouped};

/// The options that the builders of all methods have in common.
#[derive(Clone)]
pub struct Base {
    /// The engine that runs the method.
    pub engine: Engine,
    pub(crate) input: Input,
    pub(crate) against: Option<Input>,
    pub(crate) same_ids: bool,
    /// The documents whose text is to be ignored.
    pub(crate) ignored: Option<Input>,
    /// The options for reading the collections.
    pub reading: corpus::Options,
    pub(crate) quarantine: Option<PathBuf>,
    /// The settings of the run.
    pub settings: Settings,
}

impl Base {
    fn new(engine: &Engine, input: Input) -> Self {
        Self {
            engine: engine.clone(),
            input,
            against: None,
            same_ids: false,
            ignored: None,
            reading: corpus::Options::default(),
            quarantine: None,
            settings: Settings::default(),
        }
    }

    /// Begins a run, and returns the places of its collections. Writes rows in memory to files first.
    async fn begin(&self) -> Result<(Run, Collections)> {
        let run = Run::begin(&self.engine, self.settings.clone())?;
        self.check_against()?;
        let reading = self.reading_of_run()?;
        let inputs = self.input.resolved(&run, "").await?;
        let against = match &self.against {
            Some(against) => Some(against.resolved(&run, "against_").await?),
            None => None,
        };
        let ignored = match &self.ignored {
            Some(ignored) => Some(ignored.resolved(&run, "ignored_").await?),
            None => None,
        };
        Ok((run, Collections { inputs, against, ignored, reading, same_ids: self.same_ids }))
    }

    fn check_against(&self) -> Result<()> {
        refuse_without_effect(&[("same_ids", self.same_ids, self.against.is_some())])
    }

    /// Returns the reading options of a run. Checks the quarantine file, if there is one.
    fn reading_of_run(&self) -> Result<corpus::Options> {
        let mut reading = self.reading.clone();
        if let Some(path) = &self.quarantine {
            corpus::Quarantine::check(path, self.engine.stores())?;
            reading.on_error = OnError::Quarantine(corpus::Quarantine::new(path.clone()));
        }
        Ok(reading)
    }

    /// Returns the folder of the index, which must be the only input.
    fn index(&self) -> Result<PathBuf> {
        match self.input.named_places()?.as_slice() {
            [index] => Ok(PathBuf::from(index)),
            _ => Err(misuse!("`add` takes one input, the folder of the index, and the documents to add")),
        }
    }

    /// Returns the places of the collections. Fails if one of them consists of rows in memory.
    fn places(&self) -> Result<Collections> {
        self.check_against()?;
        let places = |input: &Option<Input>| input.as_ref().map(Input::named_places).transpose();
        let (against, ignored) = (places(&self.against)?, places(&self.ignored)?);
        let (reading, same_ids) = (self.reading.clone(), self.same_ids);
        Ok(Collections { inputs: self.input.named_places()?, against, ignored, reading, same_ids })
    }
}

/// The places of the collections of a method.
struct Collections {
    inputs: Vec<String>,
    against: Option<Vec<String>>,
    ignored: Option<Vec<String>>,
    reading: corpus::Options,
    same_ids: bool,
}

impl Collections {
    fn compared(&self, needed: Needed) -> Compared<'_> {
        Compared {
            inputs: &self.inputs,
            against: self.against.as_deref(),
            ignored: self.ignored.as_deref(),
            reading: self.reading.clone(),
            against_reading: None,
            needed,
            same_ids: self.same_ids,
        }
    }
}

/// A builder of a method.
pub trait Builder {
    /// Returns the options that all builders have.
    fn shared(&mut self) -> &mut Base;
}

/// Gives a builder the options that all methods have.
macro_rules! common_options {
    ($builder:ty) => {
        impl $crate::methods::Builder for $builder {
            fn shared(&mut self) -> &mut $crate::methods::Base {
                &mut self.base
            }
        }

        impl $builder {
            /// Names the column that holds the text, in JSON lines, CSV and Parquet, or a path within columns:
            /// `content.body`, `messages[].content`, `title+body`. Several texts are joined with blank lines between
            /// them. Default: `text`.
            pub fn text_column(mut self, name: impl Into<String>) -> Self {
                self.base.reading.text_column = Some(name.into());
                self
            }

            /// Names the column that holds the id. Default: `doc_id` or `id` if there is one, the title of MediaWiki dumps, `xml:id`
            /// of TEI; an empty name numbers the records.
            pub fn id_column(mut self, name: impl Into<String>) -> Self {
                self.base.reading.id_column = Some(name.into());
                self
            }

            /// Sets the format of the input, where file names do not say it.
            pub fn input_format(mut self, format: $crate::methods::InputFormat) -> Self {
                self.base.reading.format = Some(format);
                self
            }

            /// Leaves bad records out, counts and lists them. Default: the first one is an error.
            pub fn skip_bad_records(mut self) -> Self {
                self.base.reading.on_error = $crate::corpus::OnError::Skip;
                self
            }

            /// Leaves bad records out and writes them to this file, a JSON object a line.
            pub fn quarantine(mut self, file: impl Into<std::path::PathBuf>) -> Self {
                self.base.quarantine = Some(file.into());
                self
            }

            /// Limits a record (a line of JSON, a row of CSV, a text file, a page of a wiki) to this many bytes, at
            /// most 256 MiB. Default: 16 MiB.
            pub fn max_record_bytes(mut self, bytes: usize) -> Self {
                self.base.reading.max_record_bytes = bytes;
                self
            }

            /// Limits the compression ratio: how many bytes one compressed byte may expand to, beyond the first 64 MiB
            /// of a file. Default: 200.
            pub fn max_ratio(mut self, ratio: u64) -> Self {
                self.base.reading.max_ratio = ratio;
                self
            }

            /// Names the encoding of text by its web label, such as `windows-1252`. Default: UTF-8, and the encodings
            /// that HTML and TEI declare.
            ///
            /// # Errors
            ///
            /// [`Error::Options`]($crate::Error::Options) for a label that is not known.
            pub fn encoding(mut self, label: &str) -> Result<Self, $crate::Error> {
                self.base.reading.encoding = Some($crate::corpus::encoding_of(label)?);
                Ok(self)
            }

            /// Names the language whose rules tell where sentences end, such as `de`; `en` stands for no language's
            /// rules. Default: the detected language of each text.
            ///
            /// # Errors
            ///
            /// [`Error`]($crate::Error) for a language without rules.
            pub fn sentence_language(mut self, code: &str) -> Result<Self, $crate::Error> {
                self.base.reading.sentence_language =
                    ibid_udfs::LanguageChoice::of(code).map_err(anyhow::Error::new)?;
                Ok(self)
            }

            /// Sets the ASCII character between two fields of CSV. Default: a comma, and a tab for TSV.
            pub fn delimiter(mut self, sign: u8) -> Self {
                self.base.reading.fields.delimiter = Some(sign);
                self
            }

            /// Sets the ASCII character that escapes a quote within quotes in CSV. Default: another quote.
            pub fn escape(mut self, sign: u8) -> Self {
                self.base.reading.fields.escape = Some(sign);
                self
            }

            /// Reads only the pages of these namespaces from MediaWiki dumps, such as 0 for articles.
            pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = i64>) -> Self {
                self.base.reading.pages.namespaces = namespaces.into_iter().collect();
                self
            }

            /// Leaves out the redirects of MediaWiki dumps.
            pub fn skip_redirects(mut self, skips: bool) -> Self {
                self.base.reading.pages.skip_redirects = skips;
                self
            }

            /// Leaves out the pages of disambiguation of MediaWiki dumps.
            pub fn skip_disambiguation(mut self, skips: bool) -> Self {
                self.base.reading.pages.skip_disambiguation = skips;
                self
            }

            /// Sets whether text beside the main content of HTML pages, such as navigation and side bars, is kept.
            /// Default: it is kept.
            pub fn boilerplate(mut self, boilerplate: $crate::methods::Boilerplate) -> Self {
                self.base.reading.boilerplate = boilerplate;
                self
            }

            /// Caches the tables that the run makes in this folder, and reuses the tables that an earlier run made from
            /// the same rows in the same way.
            pub fn resume(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
                self.base.settings.resume = Some(folder.into());
                self
            }

            /// Calls this function with each event of the run.
            pub fn on_event(mut self, call: impl Fn($crate::run::Event<'_>) + Send + Sync + 'static) -> Self {
                self.base.settings.on_event = std::sync::Arc::new(call);
                self
            }
        }
    };
}
pub(crate) use common_options;

/// Gives a builder the options of methods that compare two collections.
macro_rules! against_option {
    ($builder:ident) => {
        impl $builder {
            /// Compares the input with this collection instead of with itself. The first document of each pair is then
            /// in the input, and the second in this collection. A document of both, that is, the same record of the
            /// same file with the same text, is not compared with itself.
            pub fn against(mut self, other: impl Into<$crate::methods::Input>) -> Self {
                self.base.against = Some(other.into());
                self
            }

            /// Treats documents of both collections with the same id and the same text as one document, wherever they
            /// come from.
            pub fn same_ids(mut self, are_same: bool) -> Self {
                self.base.same_ids = are_same;
                self
            }
        }
    };
}
pub(crate) use against_option;

/// Implements `IntoFuture` for a builder. The future runs the method and returns its result.
macro_rules! runs {
    ($builder:ident => $found:ty) => {
        impl std::future::IntoFuture for $builder {
            type Output = Result<$found, $crate::error::Error>;
            type IntoFuture = futures::future::BoxFuture<'static, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(async move { Ok(self.run().await?) })
            }
        }
    };
}
pub(crate) use runs;

/// Fails if an option is given that has no effect. Each tuple has the name of the option, true if it is given, and true
/// if it has an effect.
pub fn refuse_without_effect(options: &[(&str, bool, bool)]) -> Result<()> {
    match options.iter().find(|(_, is_given, has_effect)| *is_given && !has_effect) {
        Some((option, ..)) => {
            Err(misuse!("`{option}` has no effect here; see the documentation for what it belongs to"))
        }
        None => Ok(()),
    }
}

/// Returns the rows of a query as text, NULL as ''.
async fn texts(rows: DataFrame) -> Result<Vec<Vec<String>>> {
    let mut texts = Vec::new();
    for batch in rows.collect().await? {
        let columns =
            batch.columns().iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<Vec<_>, _>>()?;
        texts.extend((0..batch.num_rows()).map(|row| {
            columns.iter().map(|column| column.as_string::<i32>().value(row).to_owned()).collect::<Vec<_>>()
        }));
    }
    Ok(texts)
}

/// The remedy against too many pairs of texts.
const FEWER_MATCHES: &str = "raise `threshold`";

/// Fails if more pairs of texts match than `most`.
fn refuse_more_matches(pairs: u64, most: u64, remedy: &str) -> Result<()> {
    if pairs <= most {
        return Ok(());
    }
    Err(anyhow::Error::new(OverLimit(format!(
        "{} pairs of texts match, more than `max_pairs` {most}: {remedy}, or raise `max_pairs`",
        grouped(pairs)
    ))))
}

/// Returns the name of a choice, if it is among `choices`.
fn name_of<T: PartialEq>(choices: &[(&'static str, T)], choice: T) -> Option<&'static str> {
    choices.iter().find(|(_, known)| *known == choice).map(|(name, _)| *name)
}

/// Fails if a given whole number is not within its bounds.
pub(crate) fn check_ranges(options: &[(&str, Option<u64>, u64, u64)]) -> Result<()> {
    let is_outside = |(_, value, from, to): &&(&str, Option<u64>, u64, u64)| {
        value.is_some_and(|value| !(*from..=*to).contains(&value))
    };
    match options.iter().find(is_outside) {
        Some((option, _, from, u64::MAX)) => Err(misuse!("`{option}` is a whole number from {from}")),
        Some((option, _, from, to)) => Err(misuse!("`{option}` is a whole number from {from} to {to}")),
        None => Ok(()),
    }
}

/// Fails unless a number is above 0 and at most 1.
pub(crate) fn check_ratio(option: &str, number: f64) -> Result<()> {
    if number > 0.0 && number <= 1.0 {
        return Ok(());
    }
    Err(misuse!("`{option}` is a number above 0 and up to 1, such as 0.8, got {number}"))
}
