use std::sync::Arc;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::Ending;
use super::options::{InputOptions, OutputOptions, RunOptions};
use super::pairs::Pairs;
use super::passages::Passages;
use super::run::{MethodOptions, Talk, ending, engine, in_flags, prepared, print};
use ibid::methods::Estimate;
use ibid::program::methods::Builder;
use ibid::program::store::Stores;

/// Estimate from a sample of the sentences what a command would do: pairs, memory, the most frequent texts
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// The approximate number of sentences or documents of a collection to look at; all of them if there are fewer
    #[arg(long, global = true, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    #[command(subcommand)]
    command: Explained,
}

/// The methods whose runs can be estimated.
#[derive(Debug, Subcommand)]
enum Explained {
    Passages(Passages),
    Pairs(Pairs),
}

impl Explain {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        match &self.command {
            Explained::Passages(command) => {
                check(&command.method, command.has_files())?;
                let mut passages = command.builder(&engine(&command.running, stores)?);
                let talk = begin(&mut passages, &command.writing, &command.reading, &command.running)?;
                say(&talk, &passages.explain(self.sample).await?, &command.running)
            }
            Explained::Pairs(command) => {
                check(&command.method, command.has_files())?;
                let mut pairs = command.builder(&engine(&command.running, stores)?);
                let talk = begin(&mut pairs, &command.writing, &command.reading, &command.running)?;
                say(&talk, &pairs.explain(self.sample).await?, &command.running)
            }
        }
    }
}

/// Fails where options ask for more than an estimate.
fn check(options: &MethodOptions, has_files: bool) -> Result<()> {
    if options.show_sql {
        bail!("explain runs other SQL than the command; write --show-sql without explain");
    }
    if !options.add.is_empty() {
        bail!("explain is for whole collections; leave out --add to explain a run over the index");
    }
    if has_files {
        bail!("explain prints what it finds, and writes no file; leave out -o and the options that name other files");
    }
    Ok(())
}

fn begin(
    builder: &mut impl Builder,
    writing: &OutputOptions,
    reading: &InputOptions,
    running: &RunOptions,
) -> Result<Talk> {
    let stores = Arc::clone(builder.shared().engine.stores());
    reading.begin(writing.check(&[], &stores)?, &stores)?;
    prepared(builder, reading.reading(), running)
}

fn say(talk: &Talk, estimate: &Estimate, running: &RunOptions) -> Result<Ending> {
    talk.clear();
    talk.say_left_out(&estimate.summary);
    print(&in_flags(&estimate.to_string()))?;
    Ok(ending(&estimate.summary, running))
}
