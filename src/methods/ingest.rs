use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::options::{Given, NamedOptions};
use super::{Base, Input, common_options};
use crate::corpus::ingest::{Ingested, Needed};
use crate::corpus::{self, Content};
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::export::layout::{FILES, ORIGINS};
use crate::export::{Manifest, StagedFolder};
use crate::run::{Run, Summary, corpus_folder, shown};
use crate::store::redacted_url;

impl Engine {
    /// Turns files into a corpus: a folder with the documents and their sentences as Parquet.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("a.txt"), "It was late. Nobody spoke.")?;
    /// # let (notes, corpus) = (folder.path().join("*.txt"), folder.path().join("corpus"));
    /// let engine = ibid::Engine::new()?;
    /// let summary = engine.ingest(&notes).write(&corpus).await?;
    /// assert_eq!(summary.count("sentences"), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ingest(&self, input: impl Into<Input>) -> Ingest {
        Ingest { base: Base::new(self, input.into()) }
    }
}

/// Files that become a corpus; see [`Engine::ingest`].
#[derive(Clone)]
#[must_use = "it runs when `write` is called and awaited"]
pub struct Ingest {
    pub(crate) base: Base,
}

common_options!(Ingest);

impl Ingest {
    /// Writes the corpus to a local folder or a URL. It replaces a corpus, and nothing else; the old one stays until
    /// the new one is complete. A cluster makes a corpus in a store as an index, which replaces such an index.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for input that cannot be read, [`Error::Io`] and [`Error::Store`] if the folder cannot be
    /// written.
    pub async fn write(self, folder: impl Into<PathBuf>) -> Result<Summary, Error> {
        Ok(self.run(&folder.into()).await?)
    }

    /// Sets options by their names, each to a value or to a list of them, as text.
    ///
    /// # Errors
    ///
    /// [`Error::Options`] for an unknown name, and for a value that the option cannot have.
    pub fn options(self, options: impl IntoIterator<Item = (String, Vec<String>)>) -> Result<Self, Error> {
        Ok(self.with_options(options)?)
    }

    async fn run(self, output: &Path) -> Result<Summary> {
        let (mut run, collections) = self.base.begin().await?;
        let (inputs, reading) = (collections.inputs, collections.reading);
        if let Some(stored) = corpus_folder(&inputs, run.engine.stores())? {
            return Err(misuse!("{} is {} already", shown(&inputs), stored.kind()));
        }
        let files = [FILES.as_slice(), &[ORIGINS]].concat();
        let stores = Arc::clone(run.engine.stores());
        let stage = || StagedFolder::create(output, &files, &stores);
        // A cluster makes an index instead of this folder.
        let staged = if run.engine.is_on_cluster() { None } else { Some(stage()?) };
        let selection = run.select(&inputs, &reading, true)?;
        if let Some(ingested) = run.ingest_on_cluster(&selection, &reading, &inputs, output).await? {
            return Ok(summary(run, ingested));
        }
        let staged = staged.map_or_else(stage, Ok)?;
        let documents = run.open_selection(selection, &reading)?;
        let content = documents.inputs().content()?;
        let needed = Needed::DocumentsAndSentences;
        let (ingested, folder) = run.ingest(documents, Some(content), staged.path(), needed, true).await?;
        if folder != staged.path() {
            for file in files {
                let (from, to) = (folder.join(file), staged.path().join(file));
                fs::copy(&from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
            }
        }
        Manifest::write(staged.path(), &about(&inputs, &reading, content, &ingested), run.engine.stores())?;
        staged.commit_unless_dropped().await?;
        Ok(summary(run, ingested))
    }
}

/// Returns the summary of a run.
fn summary(mut run: Run, ingested: Ingested) -> Summary {
    let counts = vec![
        ("files", ingested.summary.files as u64),
        ("documents", ingested.summary.documents),
        ("sentences", ingested.sentences),
    ];
    run.skip(ingested.summary);
    run.summary_of(counts, None)
}

impl NamedOptions for Ingest {
    const NAMES: &'static [&'static str] = &[];

    fn set_own(&mut self, given: Given<'_>) -> Result<()> {
        Err(misuse!("there is no option {}", given.name))
    }
}

/// Returns the metadata of the corpus for its manifest.
fn about(inputs: &[String], reading: &corpus::Options, content: Content, ingested: &Ingested) -> Value {
    json!({
        "ibid": env!("CARGO_PKG_VERSION"),
        "parameters": reading.parameters(),
        "inputs": inputs.iter().map(|input| redacted_url(input)).collect::<Vec<_>>(),
        "content": content.to_json(),
        "skipped": ingested.summary.skipped_count,
    })
}
