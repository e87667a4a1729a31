//! Plans that run on other machines, which read the same stores.
//!
//! A [`Cluster`] runs plans. If the configuration of a session has a cluster, the [planner](sent) puts each plan that
//! can be sent into a [`ClusterExec`], so that its rows come from the cluster. The cluster cuts the plan into stages,
//! wherever rows change partitions. The machines that make a table between two statements write it
//! ([`WritePartsExec`]), below a [folder](SharedFolder) that all of them reach. Several machines also read files, and
//! cut them into sentences ([`IngestExec`]).

mod exec;
mod folder;
mod ingest;
mod parts;
mod shared_value;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;

pub(crate) use self::exec::{ClusterExec, map_sent, sent};
pub(crate) use self::folder::SharedFolder;
pub(crate) use self::ingest::{CorpusPart, IngestExec};
pub(crate) use self::parts::{Part, WritePartsExec, write_rows_of_part};
pub use self::shared_value::shared_value;
pub(crate) use self::shared_value::{SharedValueExpr, SharedValues};

/// An error as it is sent to other machines, with the text that users read.
struct Told(String);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Told {}

/// Converts the error of a task for other machines, without the backtrace.
fn told(error: anyhow::Error) -> DataFusionError {
    error.downcast().unwrap_or_else(|error| DataFusionError::External(Box::new(Told(format!("{error:#}")))))
}

/// Machines that run plans.
#[async_trait]
pub trait Cluster: fmt::Debug + Send + Sync + 'static {
    /// Sets the options that plans need on the cluster.
    fn configured(&self, config: SessionConfig) -> SessionConfig;

    /// Reports a plan that was made. It runs on the machines, or, if they cannot read the input `here`, in this
    /// process.
    fn planned(&self, plan: &dyn ExecutionPlan, here: Option<&str>);

    /// Runs a plan and returns its rows. Each partition may run on another machine, and the rows of one partition stay
    /// in order. The plan ends when the stream is dropped.
    ///
    /// # Errors
    ///
    /// Returns the errors of the plan, and an error if the machines cannot be reached.
    async fn run(&self, plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream>;
}

/// The cluster of a session, in its configuration.
#[derive(Debug)]
pub(crate) struct OnCluster(pub(crate) Arc<dyn Cluster>);

/// Returns the cluster of a session, if it has one.
pub(crate) fn cluster_of(config: &SessionConfig) -> Option<Arc<dyn Cluster>> {
    config.get_extension::<OnCluster>().map(|on| Arc::clone(&on.0))
}
