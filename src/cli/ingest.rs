use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use super::options::{InputOptions, RunOptions};
use super::run::{Run, grouped, list_left_out, say, say_traffic};
use super::{Ending, run};
use crate::corpus::ingest::{Ingested, Needed};
use crate::corpus::{self, Content};
use crate::export::layout::FILES;
use crate::export::{Manifest, StagedFolder};
use crate::store::redacted_url;

/// Turn files into a corpus: a folder with the documents and their sentences as Parquet
#[derive(Debug, Args)]
pub(super) struct Ingest {
    /// Files, folders and quoted globs of .txt, .md, .html, .jsonl, .csv, .tsv, .xml of MediaWiki (each also .gz, .zst,
    /// .bz2) and .parquet, here or by URL, such as s3://bucket/dir/; - is standard input
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The corpus folder to write, here or by URL
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

impl Ingest {
    pub(super) async fn run(self) -> Result<Ending> {
        let began = Instant::now();
        if let Some(stored) = run::corpus_folder(&self.inputs)? {
            anyhow::bail!("{} is {} already", run::shown(&self.inputs), stored.kind());
        }
        self.reading.begin_folder(&self.output, &self.running)?;
        let run = Run::begin(&self.running)?;
        let staged = StagedFolder::create(&self.output, &FILES)?;
        let reading = self.reading.reading();
        let documents = run.read(&self.inputs, &reading, true)?;
        let content = documents.inputs().content()?;
        let needed = Needed::DocumentsAndSentences;
        let (ingested, folder) = run.ingest(documents, Some(content), staged.path(), needed).await?;
        if folder != staged.path() {
            for file in FILES {
                let (from, to) = (folder.join(file), staged.path().join(file));
                fs::copy(&from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
            }
        }
        Manifest::write(staged.path(), &self.about(&reading, content, &ingested))?;
        staged.commit()?;
        drop(run);
        let summary = ingested.summary;
        if !self.running.quiet {
            say(&format!(
                "files {}, documents {}, sentences {}, skipped {} ({:.1} s)",
                grouped(summary.files as u64),
                grouped(summary.documents),
                grouped(ingested.sentences),
                grouped(summary.skipped_count),
                began.elapsed().as_secs_f64()
            ));
            say_traffic();
            list_left_out(&summary);
        }
        Ok(if self.running.strict && summary.skipped_count > 0 { Ending::NotStrict } else { Ending::Done })
    }

    /// What the manifest says of the corpus.
    fn about(&self, reading: &corpus::Options, content: Content, ingested: &Ingested) -> Value {
        json!({
            "ibid": env!("CARGO_PKG_VERSION"),
            "parameters": reading.parameters(),
            "inputs": self.inputs.iter().map(|input| redacted_url(input)).collect::<Vec<_>>(),
            "content": content.to_json(),
            "skipped": ingested.summary.skipped_count,
        })
    }
}
