use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;

use super::options::{InputOptions, RunOptions};
use super::run::{Run, grouped, list_left_out, say};
use super::{Ending, run};
use crate::export::StagedFolder;
use crate::ingest::{FILES, Needed};

/// Turn files into a corpus: a folder with the documents and their sentences as Parquet
#[derive(Debug, Args)]
pub(super) struct Ingest {
    /// Files, folders and quoted globs of .txt, .md, .html, .jsonl, .csv, .tsv, .xml of MediaWiki (each also .gz, .zst,
    /// .bz2) and .parquet; - is standard input
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The corpus folder to write
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
            anyhow::bail!("{} is {} already", self.inputs.join(" "), stored.kind());
        }
        self.reading.begin_quarantine()?;
        let run = Run::begin(&self.running)?;
        let staged = StagedFolder::create(&self.output, &FILES)?;
        let reading = self.reading.reading();
        let ingested = run.ingest(&self.inputs, &reading, staged.path(), Needed::DocumentsAndSentences).await?;
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
            list_left_out(&summary);
        }
        Ok(if self.running.strict && summary.skipped_count > 0 { Ending::NotStrict } else { Ending::Done })
    }
}
