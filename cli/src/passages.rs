use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::run::{Adding, MethodOptions, engine, prepared, print, with_given};
use ibid::Engine;
use ibid::methods;
use ibid::program::export::Format;
use ibid::program::methods::Builder;
use ibid::program::methods::FolderPlace;
use ibid::program::store::Stores;

/// Find the passages that documents share, and their places
#[derive(Debug, Args)]
pub(super) struct Passages {
    /// A corpus, or anything that `ibid ingest` reads
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The kind of copies to look for; sets the options below that are not given
    #[arg(long, value_enum, default_value_t = Profile::Verbatim)]
    profile: Profile,
    /// The least similarity of the two sides of a passage, above 0 and up to 1: the cosine of their word counts, in which words
    /// that are rare in their documents weigh more; for the profile edited, the similarity of two sentences [default: 0.8,
    /// edited: 0.25]
    #[arg(long, value_name = "T", value_parser = ratio)]
    threshold: Option<f64>,
    /// The least number of words that both sides of a passage share, for the profile verbatim [default: 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    min_words: Option<u32>,
    /// The least number of sentences that a passage touches on each side; for the profile edited, of sentences that match
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    min_sentences: u32,
    /// The number of sentences that a passage may skip on either side between two that match, for the profile edited [default:
    /// 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    max_gap: Option<u32>,
    /// Text in more documents than this is common: it makes families, and starts no passage. With none, no text is common
    #[arg(long, value_name = "K", default_value = "20", value_parser = common)]
    common: Common,
    /// Text of these documents, such as a form or a licence, makes families, even if only two documents have it, and starts no
    /// passage; for the profile verbatim
    #[arg(long, value_name = "FILE", num_args = 1..)]
    ignore: Vec<String>,
    /// Write the table of families, the places of common text, to this file
    #[arg(long, value_name = "FILE")]
    families: Option<PathBuf>,
    /// Write the table of coverage, how much of each document is also elsewhere, to this file
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    #[command(flatten)]
    pub(super) method: MethodOptions,
    #[command(flatten)]
    pub(super) writing: OutputOptions,
    #[command(flatten)]
    pub(super) reading: InputOptions,
    #[command(flatten)]
    pub(super) running: RunOptions,
}

/// The kind of copies to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Copies with a word changed here and there
    Verbatim,
    /// Also copies whose words were replaced, left out, added and put in another order; slower
    Edited,
}

/// The number of documents above which text is common; `None` if no text is common.
#[derive(Debug, Clone, Copy)]
struct Common(Option<u32>);

fn common(text: &str) -> Result<Common> {
    match (text, text.parse()) {
        ("none", _) => Ok(Common(None)),
        (_, Ok(k)) if (1..=i32::MAX.unsigned_abs()).contains(&k) => Ok(Common(Some(k))),
        _ => bail!("write a whole number from 1, such as 20, or none"),
    }
}

impl Passages {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let engine = engine(&self.running, stores)?;
        let mut passages = self.builder(&engine);
        let further = self.further();
        if !self.method.add.is_empty() {
            let adding = Adding {
                inputs: &self.inputs,
                further: &further,
                reference: None,
                show_sql: self.method.show_sql,
                writing: &self.writing,
                reading: &self.reading,
                running: &self.running,
            };
            return adding.run(self.method.timed(passages.adding(self.method.add.clone())?)).await;
        }
        if self.method.show_sql {
            return print(&passages.show_sql()?);
        }
        let folder = self.writing.folder();
        let place = match folder {
            Some(folder) => Some(self.begin_folder(folder, !further.is_empty(), stores)?),
            None => {
                let files: Vec<_> = further.iter().map(|(_, path)| *path).collect();
                self.reading.begin(self.writing.check(&files, stores)?, stores)?;
                None
            }
        };
        let talk = prepared(&mut passages, self.reading.reading(), &self.running)?;
        let found = passages.await?;
        match place {
            Some(place) => talk.deliver_folder(found, "passages", place, &self.running).await,
            None => talk.deliver(found, "passages", &self.writing, &further, &self.running).await,
        }
    }

    /// Makes sure that a folder of all tables can be written.
    fn begin_folder(&self, folder: &Path, has_further: bool, stores: &Arc<Stores>) -> Result<FolderPlace> {
        if has_further || self.writing.format.is_some_and(|format| format != Format::Parquet) {
            bail!(
                "{}: it is a folder; name a file to have another format, or the files of further tables: a folder gets all of \
                 them as Parquet",
                folder.display()
            );
        }
        self.reading.begin_folder(folder, &self.running, stores)?;
        FolderPlace::new(folder, &["passages", "families", "coverage"], stores)
    }

    /// Returns the method with the options that are given.
    pub(super) fn builder(&self, engine: &Engine) -> methods::Passages {
        let profile = match self.profile {
            Profile::Verbatim => methods::Profile::Verbatim,
            Profile::Edited => methods::Profile::Edited,
        };
        let passages = engine
            .passages(self.inputs.clone())
            .profile(profile)
            .min_sentences(self.min_sentences)
            .common(self.common.0)
            .coverage(self.coverage.is_some() || self.writing.folder().is_some())
            .same_ids(self.method.other.same_ids)
            .within_documents(self.method.within_documents)
            .max_pairs(self.method.max_pairs);
        let mut passages = with_given!(
            passages,
            threshold: self.threshold,
            min_words: self.min_words,
            max_gap: self.max_gap,
            against: self.method.other.against.as_ref(),
            ignore: (!self.ignore.is_empty()).then(|| self.ignore.clone()),
        );
        passages.shared().reading = self.reading.reading();
        passages
    }

    /// Returns the further tables that are asked for, with their files.
    fn further(&self) -> Vec<(&'static str, &Path)> {
        let tables = [("families", &self.families), ("coverage", &self.coverage)];
        tables.into_iter().filter_map(|(table, path)| Some((table, path.as_deref()?))).collect()
    }

    /// Returns true if options name files to write.
    pub(super) fn has_files(&self) -> bool {
        self.writing.output.is_some() || !self.further().is_empty()
    }
}
