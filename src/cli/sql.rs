use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::Ending;
use super::options::{OutputOptions, RunOptions};
use super::run::Run;
use crate::pipeline::Outcome;
use crate::pipeline::query::Literal;

/// Run SQL with all functions of ibid; files can be named in FROM, as in SELECT * FROM 'reuse.parquet'
///
/// FROM takes files, folders and globs of .parquet, and of .csv, .json, .jsonl and .ndjson (each also .gz, .zst, .bz2).
#[derive(Debug, Args)]
pub(super) struct Sql {
    /// Statements to run, separated by semicolons [default: standard input]
    #[arg(conflicts_with_all = ["command", "file"])]
    query: Option<String>,
    /// Statements to run; may be repeated
    #[arg(short, long, value_name = "SQL")]
    command: Vec<String>,
    /// Files of statements to run, after those of --command, in the order given; - is standard input
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    file: Vec<PathBuf>,
    /// The value of a $parameter in the statements; may be repeated
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
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
    pub(super) async fn run(self) -> Result<Ending> {
        self.writing.check(&[])?;
        let mut run = Run::begin(&self.running)?;
        for (name, value) in &self.param {
            run.workspace.parameters.set(name, Literal::of_text(value));
        }
        let scripts = self.scripts()?;
        let mut results = 0;
        for (from, script) in &scripts {
            let bound = run.workspace.parameters.bind(script).with_context(|| from.clone())?;
            for outcome in run.workspace.statements(&bound).with_context(|| from.clone())? {
                let Outcome::Rows(rows) = run.workspace.run_statement(outcome).await.with_context(|| from.clone())?
                else {
                    continue;
                };
                results += 1;
                if results > 1 && self.writing.output.is_some() {
                    bail!("there is more than one result, and --output can hold one; take the queries apart");
                }
                run.write(*rows, &self.writing).await.with_context(|| from.clone())?;
            }
        }
        Ok(Ending::Done)
    }

    /// The texts to run, each with what to call it in errors.
    fn scripts(&self) -> Result<Vec<(String, String)>> {
        let mut scripts: Vec<_> =
            self.query.iter().chain(&self.command).map(|sql| ("SQL".to_string(), sql.clone())).collect();
        for path in &self.file {
            let sql = if path.as_os_str() == "-" {
                standard_input()?
            } else {
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
            };
            scripts.push((path.display().to_string(), sql));
        }
        if scripts.is_empty() {
            if std::io::stdin().is_terminal() {
                bail!("there is nothing to run; write ibid sql \"SELECT …\", or -f FILE");
            }
            scripts.push(("standard input".to_string(), standard_input()?));
        }
        Ok(scripts)
    }
}

fn standard_input() -> Result<String> {
    let mut sql = String::new();
    std::io::stdin().read_to_string(&mut sql).context("cannot read standard input")?;
    Ok(sql)
}
