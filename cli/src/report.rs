use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use super::Ending;
use super::options::{InputOptions, Places, RunOptions};
use super::run::{ending, engine, prepared, with_given};
use ibid::bytes;
use ibid::program::export::names_folder;
use ibid::program::store::Stores;

/// Make an HTML page of a result: matches side by side, families, clusters, a dot plot; one self-contained file
#[derive(Debug, Args)]
pub(super) struct Report {
    /// A Parquet file, or the folder of all tables, that passages, pairs, threads, clusters, containment, dedup or decontaminate wrote
    result: PathBuf,
    /// The file to write, a path or a URL such as report.html; or a folder such as report/, for as many pages as the result
    /// needs
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The collection that the result was made from: a corpus, or the files that the method read, with the same input options
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    corpus: Vec<String>,
    /// The other collection, if the result was made from two
    #[arg(long, value_name = "PATH", num_args = 1..)]
    against: Vec<String>,
    /// The largest size of the file; it shows the best rows of the result that fit, and says what it leaves out
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = bytes)]
    max_size: usize,
    /// The title of the page [default: one for the method]
    #[arg(long)]
    title: Option<String>,
    /// The address of a document, with its id and columns in braces, such as https://example.org/{id}, or a column that has addresses: {url}
    #[arg(long, value_name = "ADDRESS")]
    link_template: Option<String>,
    /// The column with the time of each document: sorts the places of families and clusters by it, and adds a timeline
    #[arg(long, value_name = "NAME")]
    time_column: Option<String>,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

impl Report {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let engine = engine(&self.running, stores)?;
        if names_folder(&self.output) {
            self.reading.begin_folder(&self.output, &self.running, stores)?;
        } else {
            self.reading.begin(Places::of_file(&self.output, stores)?, stores)?;
        }
        let mut report = with_given!(
            engine.report(self.result.clone()).corpus(self.corpus.clone()).max_size(self.max_size),
            against: (!self.against.is_empty()).then(|| self.against.clone()),
            title: self.title.clone(),
            link_template: self.link_template.clone(),
            time_column: self.time_column.clone(),
        );
        let talk = prepared(&mut report, self.reading.reading(), &self.running)?;
        let summary = report.write(&self.output).await?;
        talk.summarise(&summary);
        Ok(ending(&summary, &self.running))
    }
}
