use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use super::Ending;
use super::options::{InputOptions, RunOptions};
use super::run::{ending, engine, prepared};
use crate::store::Stores;

/// Turn files into a corpus: a folder with the documents and their sentences as Parquet
#[derive(Debug, Args)]
pub(super) struct Ingest {
    /// Files, folders and quoted globs of .txt, .md, .html, .jsonl, .csv, .tsv, .xml of MediaWiki or TEI, .warc, .wet (each
    /// also .gz, .zst, .bz2, .xz), .parquet, and .zip and .tar of these; paths or URLs such as s3://bucket/dir/; - is standard
    /// input
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The corpus folder to write, a path or a URL
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

impl Ingest {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let mut ingest = engine(&self.running, stores)?.ingest(self.inputs.clone());
        self.reading.begin_folder(&self.output, &self.running, stores)?;
        let talk = prepared(&mut ingest, self.reading.reading(), &self.running)?;
        let summary = ingest.write(&self.output).await?;
        talk.summarise(&summary);
        Ok(ending(&summary, &self.running))
    }
}
