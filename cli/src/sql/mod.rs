//! `ibid sql`: a shell, and scripts.

mod called;
mod commands;
mod damaged;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod helper;
mod history;
mod methods;
mod mistakes;
mod names;
mod repl;
mod script;
mod secrets;
mod shell;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;

use self::shell::Shell;
use super::Ending;
use super::options::{LimitOptions, OutputOptions, RunOptions};
use super::run::{Run, say_traffic};
use ibid::program::corpus::STDIN_FILE;
use ibid::program::store::Stores;
use ibid::program::{Limits, limit_files};
use ibid::program::{Literal, Parameters};

/// Run SQL with all functions of ibid; files can be named in FROM, as in SELECT * FROM 'reuse.parquet'
///
/// FROM takes files, folders and globs of .parquet, and of .csv, .tsv, .json, .jsonl and .ndjson (each also .gz, .zst, .bz2,
/// .xz), and passages, pairs, threads, clusters, containment and search as functions with the parameters of the commands:
/// passages('corpus/', threshold => 0.5). At a terminal, without statements, it is a shell; type \? there for help.
#[derive(Debug, Args)]
pub(super) struct Sql {
    /// Statements to run, separated by semicolons [default: standard input, or a shell at a terminal]
    #[arg(conflicts_with_all = ["command", "file"])]
    query: Option<String>,
    /// Statements to run; may be repeated
    #[arg(short, long, value_name = "SQL", allow_hyphen_values = true)]
    command: Vec<String>,
    /// Files or objects with statements to run, after those of --command, in the order given; - is standard input
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    file: Vec<PathBuf>,
    /// The value of a $parameter in the statements; may be repeated
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    writing: OutputOptions,
    #[command(flatten)]
    running: RunOptions,
}

fn parameter(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.trim_start_matches('$').to_string(), value.to_string())),
        _ => bail!("write NAME=VALUE, such as threshold=0.8"),
    }
}

impl Sql {
    pub(super) async fn run(self, stores: &Arc<Stores>) -> Result<Ending> {
        let places = self.writing.check(&[], stores)?;
        let stdin = Path::new(STDIN_FILE);
        for script in &self.file {
            places.refuse(if script.as_os_str() == "-" { stdin } else { script })?;
        }
        if !self.has_scripts() {
            places.refuse(stdin)?;
        }
        // An interrupted statement may go on running, so its options live as long as the program.
        let running: &'static RunOptions = Box::leak(Box::new(self.running.clone()));
        let run = Run::begin(running, stores)?;
        let LimitOptions { max_record_bytes, max_ratio } = self.limits;
        limit_files(&run.workspace.session, Limits { max_record_bytes, max_ratio })?;
        let mut parameters = Parameters::default();
        for (name, value) in &self.param {
            parameters.set(name, Literal::of_text(value));
        }
        let is_interactive = self.is_interactive();
        if is_interactive {
            run.clear();
        }
        let shell = Shell::new(run, running, parameters, self.writing.clone(), places, is_interactive)?;
        if is_interactive {
            return repl::run(shell).await;
        }
        for sql in self.query.iter().chain(&self.command) {
            shell.run_script("SQL", sql, 0).await?;
        }
        for path in &self.file {
            if path.as_os_str() == "-" {
                shell.run_script("standard input", &standard_input()?, 0).await?;
            } else {
                shell.run_file(path, 0).await?;
            }
        }
        if !self.has_scripts() {
            if std::io::stdin().is_terminal() {
                bail!("there is nothing to run; write ibid sql \"SELECT …\", or -f FILE");
            }
            shell.run_script("standard input", &standard_input()?, 0).await?;
        }
        shell.commit()?;
        say_traffic(&shell.summary(), running.quiet);
        Ok(shell.ending())
    }

    fn has_scripts(&self) -> bool {
        self.query.is_some() || !self.command.is_empty() || !self.file.is_empty()
    }

    /// Returns true if standard input and output are a terminal, and no script or output file was named.
    fn is_interactive(&self) -> bool {
        let at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        at_terminal && !self.has_scripts() && self.writing.output.is_none()
    }
}

fn standard_input() -> Result<String> {
    let mut script = Vec::new();
    let read = std::io::stdin().read_to_end(&mut script);
    read.and_then(|_| shell::text_of(script)).context("cannot read standard input")
}
