use std::sync::Arc;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions, ratio};
use super::run::{engine, prepared};
use ibid::methods::Verdict;
use ibid::program::store::Stores;

/// Read verdicts that people gave in a report: import them as a table, or score the result by them
#[derive(Debug, Args)]
pub(super) struct Review {
    #[command(subcommand)]
    command: Reviewed,
}

#[derive(Debug, Subcommand)]
enum Reviewed {
    Import(Import),
    Score(Score),
}

/// Write the last verdict of each row as a table, which score can read
#[derive(Debug, Args)]
struct Import {
    /// Files of verdicts, as reports save them
    #[arg(required = true)]
    verdicts: Vec<String>,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

/// Compute how many rows at each similarity and above are right, with the confidence interval of the precision
#[derive(Debug, Args)]
struct Score {
    /// Files of verdicts, as reports save them, or tables that import wrote
    #[arg(required = true)]
    verdicts: Vec<String>,
    /// Also print the threshold from which on this precision, above 0 and up to 1, is reached
    #[arg(long, value_name = "P", value_parser = ratio)]
    precision: Option<f64>,
    /// The verdicts that make a row right: same, quotation, boilerplate, false or unsure
    #[arg(long, value_name = "VERDICT", num_args = 1.., value_delimiter = ',', default_values = ["same", "quotation"])]
    right: Vec<String>,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    reading: InputOptions,
    #[command(flatten)]
    running: RunOptions,
}

impl Review {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        match self.command {
            Reviewed::Import(import) => import.run(stores).await,
            Reviewed::Score(score) => score.run(stores).await,
        }
    }
}

impl Import {
    async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        let mut review = engine(&self.running, stores)?.review(self.verdicts.clone());
        let talk = prepared(&mut review, self.reading.reading(), &self.running)?;
        talk.deliver(review.await?, "verdicts", &self.writing, &[], &self.running).await
    }
}

impl Score {
    async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        self.reading.begin(self.writing.check(&[], stores)?, stores)?;
        let right = self.right.iter().map(|verdict| verdict.parse()).collect::<Result<Vec<Verdict>, _>>()?;
        let mut review = engine(&self.running, stores)?.review(self.verdicts.clone()).right(right);
        if let Some(precision) = self.precision {
            review = review.precision(precision);
        }
        let talk = prepared(&mut review, self.reading.reading(), &self.running)?;
        talk.deliver_as(review.await?, ("scores", "thresholds"), &self.writing, &[], &self.running).await
    }
}
