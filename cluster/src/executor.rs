//! The server that runs tasks.

use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use ballista_core::JobId;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use clap::Args;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use ibid::bytes;
use ibid::program::on_executor;
use ibid::program::store::Stores;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::ANSWER;
use crate::connections::Connections;
use crate::settings::{MESSAGE_BYTES, check_version, codec, configured};

/// Start an executor of a cluster
#[derive(Debug, Args)]
pub(crate) struct Executor {
    /// The address of the scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// The address to listen at; only this machine reaches 127.0.0.1
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The name by which other machines reach this one [default: the address of --bind]
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,
    /// The two ports to listen at [default: any free ports]
    #[arg(long, value_name = "PORT", num_args = 2)]
    ports: Vec<u16>,
    /// The memory limit of the executor, such as 16GiB [default: 60 % of the memory of the machine or its control group]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,
    /// The number of tasks that run at once [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: Option<u16>,
    /// The folder for rows between stages and for spilled data, made if it is missing [default: the folder of the system
    /// for temporary files]
    #[arg(long, value_name = "FOLDER")]
    work_dir: Option<PathBuf>,
}

impl Executor {
    pub(crate) async fn run(self, stores: &Arc<Stores>) -> Result<()> {
        let folder = self.work_dir.clone().unwrap_or_else(std::env::temp_dir);
        let make = || {
            std::fs::create_dir_all(&folder)?;
            tempfile::Builder::new().prefix(".ibid-executor.").tempdir_in(&folder)
        };
        let work_dir =
            make().with_context(|| format!("cannot make a folder in {}; see --work-dir", folder.display()))?;
        let engine = ibid_cli::engine_of_server(self.memory, self.work_dir.as_deref(), stores)?;
        let (host, port) = self.scheduler.rsplit_once(':').context("--scheduler is HOST:PORT")?;
        let port = port.parse().with_context(|| format!("--scheduler: {port} is no port"))?;
        let ports = match self.ports.as_slice() {
            [port, grpc] => [*port, *grpc],
            _ => free_ports(self.bind)?,
        };
        let runtime = engine.session().runtime_env();
        let (of_executor, functions) = (Arc::clone(stores), engine.session().state_ref());
        let functions = BallistaFunctionRegistry::from(&*functions.read());
        let codec = Arc::new(codec().reading(Arc::clone(stores)));
        let config = ExecutorProcessConfig {
            bind_host: self.bind.to_string(),
            external_host: Some(self.advertise.unwrap_or_else(|| self.bind.to_string())),
            port: ports[0],
            grpc_port: ports[1],
            scheduler_host: host.to_owned(),
            scheduler_port: port,
            scheduler_connect_timeout_seconds: 30,
            vcores: usize::from(self.tasks.unwrap_or(0)),
            work_dir: Some(work_dir.path().to_str().context("--work-dir is not UTF-8")?.to_owned()),
            executor_heartbeat_interval_seconds: 5,
            grpc_max_decoding_message_size: MESSAGE_BYTES,
            grpc_max_encoding_message_size: MESSAGE_BYTES,
            // All tasks share the pool of the engine.
            memory_pool_size: Some(0),
            override_runtime_producer: Some(Arc::new(move |_| Ok(Arc::clone(&runtime)))),
            override_config_producer: Some(Arc::new(move || {
                configured(SessionConfig::new().with_extension(Arc::clone(&of_executor)))
            })),
            override_function_registry: Some(Arc::new(functions)),
            override_logical_codec: Some(Arc::clone(&codec) as _),
            override_physical_codec: Some(codec),
            override_execution_engine: Some(Arc::new(Tasks::new(format!("the executor {}:{}", self.bind, ports[0])))),
            ..ExecutorProcessConfig::default()
        };
        ibid_cli::say(&format!(
            "the executor listens at {}:{}, and connects to the scheduler at {}",
            self.bind, ports[0], self.scheduler
        ));
        if !matches!(timeout(ANSWER, TcpStream::connect((host, port))).await, Ok(Ok(_))) {
            ibid_cli::say(&format!("there is no scheduler at {} yet", self.scheduler));
        }
        start_executor_process(Arc::new(config)).await.context("the executor stopped")?;
        Ok(())
    }
}

/// Returns two ports that nobody listens at.
fn free_ports(host: IpAddr) -> Result<[u16; 2]> {
    let listen = || TcpListener::bind((host, 0)).with_context(|| format!("cannot listen at {host}"));
    let (first, second) = (listen()?, listen()?);
    Ok([first.local_addr()?.port(), second.local_addr()?.port()])
}

/// An execution engine that runs the parts of plans as engines of ibid run plans within a memory limit.
struct Tasks {
    name: String,
    inner: DefaultExecutionEngine,
}

impl Tasks {
    fn new(name: String) -> Self {
        Self { name, inner: DefaultExecutionEngine::with_client_pool(Arc::new(Connections::default())) }
    }
}

impl ExecutionEngine for Tasks {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> datafusion::common::Result<Arc<dyn QueryStageExecutor>> {
        check_version(config, &self.name)?;
        let plan = on_executor(plan, config)?;
        self.inner.create_query_stage_exec(
            job_id,
            stage_id,
            task_id,
            global_output_partition_ids,
            plan,
            work_dir,
            config,
        )
    }
}
