//! The command line: arguments in, exit code out.

mod ingest;
mod options;
mod pairs;
mod passages;
mod run;
mod signature;
mod sql;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Finds text reuse exactly, says where it is, and does it in SQL.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Ingest(ingest::Ingest),
    Passages(passages::Passages),
    Pairs(pairs::Pairs),
    Sql(sql::Sql),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// How a command ended.
enum Ending {
    Done,
    /// With `--strict`: something was capped or skipped.
    NotStrict,
}

/// Runs the program with the arguments of the process.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 4 something was capped or skipped under `--strict`, 130 interrupted.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = std::panic::catch_unwind(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            tokio::select! {
                outcome = dispatch(cli.command) => outcome.map(Some),
                signal = tokio::signal::ctrl_c() => signal.map(|()| None).map_err(anyhow::Error::from),
            }
        });
        // What still runs on other threads is of no use any more.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(Ok(Some(Ending::Done))) => ExitCode::SUCCESS,
        Ok(Ok(Some(Ending::NotStrict))) => ExitCode::from(4),
        Ok(Ok(None)) => {
            run::say("interrupted");
            ExitCode::from(130)
        }
        // Whoever read our output has seen enough.
        Ok(Err(error)) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            run::say(&run::describe(&error));
            ExitCode::FAILURE
        }
        Err(_) => {
            run::say("internal error: the program panicked, see above; please report it with the command that did it");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(command: Command) -> anyhow::Result<Ending> {
    match command {
        Command::Ingest(command) => command.run().await,
        Command::Passages(command) => command.run().await,
        Command::Pairs(command) => command.run().await,
        Command::Sql(command) => command.run().await,
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "ibid", &mut std::io::stdout());
            Ok(Ending::Done)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
