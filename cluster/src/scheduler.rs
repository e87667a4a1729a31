//! The server that cuts plans into stages, and gives their tasks to executors.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::Args;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use ibid::with_ibid;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use url::Url;

use crate::settings::{MESSAGE_BYTES, check_version, codec, configured};

/// Start the scheduler of a cluster
#[derive(Debug, Args)]
pub(crate) struct Scheduler {
    /// The address to listen at; only this machine reaches 127.0.0.1
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    bind: SocketAddr,
}

/// The seconds without a word from an executor after which it counts as gone.
const EXECUTOR_TIMEOUT: u64 = 20;

impl Scheduler {
    pub(crate) async fn run(self) -> Result<()> {
        let config = SchedulerConfig {
            bind_host: self.bind.ip().to_string(),
            bind_port: self.bind.port(),
            external_host: self.bind.ip().to_string(),
            executor_timeout_seconds: EXECUTOR_TIMEOUT,
            expire_dead_executor_interval_seconds: 5,
            no_executors_grace_period_seconds: 2 * EXECUTOR_TIMEOUT,
            // If rows are lost with an executor, the client runs the plan anew: where several stages have to be
            // repeated, those that wait for them may never begin.
            stage_max_failures: 1,
            grpc_server_max_decoding_message_size: MESSAGE_BYTES,
            grpc_server_max_encoding_message_size: MESSAGE_BYTES,
            grpc_client_max_message_size: MESSAGE_BYTES,
            override_logical_codec: Some(Arc::new(codec())),
            override_physical_codec: Some(Arc::new(codec())),
            override_config_producer: Some(Arc::new(|| configured(SessionConfig::new()))),
            override_session_builder: Some(Arc::new(|config| {
                check_version(&config, "the scheduler")?;
                let runtime =
                    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(NothingToRead)).build_arc()?;
                let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime);
                Ok(with_ibid(builder.with_default_features()).build())
            })),
            ..SchedulerConfig::default()
        };
        let cluster = BallistaCluster::new_from_config(&config).await.context("cannot make a scheduler")?;
        ibid_cli::say(&format!("the scheduler listens at {}", self.bind));
        start_server(cluster, self.bind, Arc::new(config))
            .await
            .with_context(|| format!("the scheduler cannot listen at {}", self.bind))
    }
}

/// The stores of a scheduler, which needs no key: plans name stores, and only executors read them.
#[derive(Debug)]
struct NothingToRead;

impl ObjectStoreRegistry for NothingToRead {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>, DataFusionError> {
        self.get_store(url)
    }

    fn get_store(&self, _: &Url) -> Result<Arc<dyn ObjectStore>, DataFusionError> {
        Ok(Arc::new(InMemory::new()))
    }
}
