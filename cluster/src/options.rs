//! The options and commands that this program adds to those of `ibid`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, anyhow, bail};
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use futures::future::BoxFuture;
use ibid::{Engine, EngineBuilder};
use ibid_cli::Extension;
use url::Url;

use crate::client::Client;
use crate::executor::Executor;
use crate::scheduler::Scheduler;

/// The options of a command whose plans may run on a cluster.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Cluster")]
struct ClusterOptions {
    /// Run on the cluster of this scheduler, such as df://10.0.0.1:50050
    #[arg(long, value_name = "URL", global = true)]
    cluster: Option<Url>,
    /// The number of partitions of a plan, each of which is a task
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..), global = true)]
    partitions: u16,
    /// The folder for tables between statements, which all machines must reach. The tables stay there, and a repeated run
    /// reuses them [default: a folder beside the result, which is removed after the run]
    #[arg(long, value_name = "FOLDER", global = true)]
    tables: Option<PathBuf>,
    /// Print each plan, and whether it runs on the cluster or in this process
    #[arg(long, global = true)]
    explain: bool,
}

#[derive(Debug, Subcommand)]
enum Server {
    Scheduler(Scheduler),
    Executor(Executor),
}

/// The additions to `ibid`.
#[derive(Debug, Default)]
pub(crate) struct ClusterExtension {
    given: OnceLock<ClusterOptions>,
    /// The place of tables beside the result, if no other place is named.
    beside: OnceLock<PathBuf>,
    /// The engine of the command, and the cluster that it runs on.
    made: OnceLock<(Engine, Arc<Client>)>,
}

/// Returns the folder of tables beside a result.
fn beside(result: &Path) -> Option<PathBuf> {
    Some(PathBuf::from(format!("{}.tables", result.to_str()?.trim_end_matches('/'))))
}

impl Extension for ClusterExtension {
    fn command(&self, command: Command) -> Command {
        let command = command.name("ibid-cluster").bin_name("ibid-cluster");
        // Deriving the options gives their documentation to the program.
        let about = command.get_about().cloned().unwrap_or_default();
        Server::augment_subcommands(ClusterOptions::augment_args(command).about(about))
    }

    fn run(&self, matches: &ArgMatches) -> Option<Result<()>> {
        if let Ok(given) = ClusterOptions::from_arg_matches(matches) {
            let resumes = matches
                .subcommand()
                .is_some_and(|(_, command)| command.try_get_raw("resume").is_ok_and(|raw| raw.is_some()));
            if resumes && given.tables.is_some() {
                return Some(Err(anyhow!(
                    "--tables and --resume both name the folder of the tables; give one of them"
                )));
            }
            let result = matches.subcommand().and_then(|(_, command)| command.try_get_one::<PathBuf>("output").ok()?);
            if given.tables.is_none()
                && let Some(beside) = result.and_then(|result| beside(result))
            {
                self.beside.get_or_init(|| beside);
            }
            self.given.get_or_init(|| given);
        }
        let server = Server::from_arg_matches(matches).ok()?;
        let stores = match ibid_cli::stores_of(matches) {
            Ok(stores) => stores,
            Err(error) => return Some(Err(error)),
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().thread_stack_size(ibid_cli::STACK).enable_all().build();
        let run = async {
            match server {
                Server::Scheduler(scheduler) => scheduler.run().await,
                Server::Executor(executor) => executor.run(&stores).await,
            }
        };
        Some(runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run)))
    }

    fn engine(&self, builder: EngineBuilder) -> Result<Engine> {
        let Some(ClusterOptions { cluster: Some(url), partitions, tables, explain }) = self.given.get() else {
            return Ok(builder.build()?);
        };
        if url.scheme() != "df" {
            bail!("--cluster {url}: write df://HOST:PORT");
        }
        let host =
            url.host_str().with_context(|| format!("--cluster {url}: there is no host; write df://HOST:PORT"))?;
        let scheduler = format!("http://{host}:{}", url.port().unwrap_or(50050));
        let (partitions, explains) = (usize::from(*partitions), *explain);
        let client = Client { scheduler, partitions, explains, jobs: Arc::default() };
        let client = Arc::new(client);
        let tables = tables.as_ref().or_else(|| self.beside.get()).cloned();
        let engine = builder.cluster(Arc::clone(&client) as _, tables).build()?;
        self.made.get_or_init(|| (engine.clone(), client));
        Ok(engine)
    }

    fn end(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            match (self.made.get(), self.beside.get()) {
                (Some((engine, _)), Some(_)) => Ok(engine.remove_shared_tables().await?),
                _ => Ok(()),
            }
        })
    }

    fn give_up(&self) {
        if let Some((_, client)) = self.made.get() {
            client.give_up();
        }
    }
}
