//! Plans that run on other machines, which read the same stores.
//!
//! A [`Cluster`] runs plans. Where the configuration of a session has one, the [planner](sent) puts each plan that can be sent into a
//! [`ClusterExec`], so that all that asks for rows asks the cluster; the plan is cut into stages there, wherever rows change
//! partitions. Tables between two statements are written by the machines that make them ([`WritePartsExec`]), below a
//! [folder](SharedFolder) that all of them reach. Files are read, and cut into sentences, by several of them, too ([`IngestExec`]).

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

/// An error as it is told to other machines: as people read it.
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

/// Returns the error of a task, without the places in the program that it has passed.
fn told(error: anyhow::Error) -> DataFusionError {
    error.downcast().unwrap_or_else(|error| DataFusionError::External(Box::new(Told(format!("{error:#}")))))
}

/// Machines that run plans.
#[async_trait]
pub trait Cluster: fmt::Debug + Send + Sync + 'static {
    /// Sets what plans need that run there.
    fn configured(&self, config: SessionConfig) -> SessionConfig;

    /// Tells of a plan that was made: it runs on the machines, or, as they cannot read `here`, in this process.
    fn planned(&self, plan: &dyn ExecutionPlan, here: Option<&str>);

    /// Runs a plan, of which each partition may run on another machine, and gives its rows, those of one partition in their order. It ends
    /// when the stream is dropped.
    ///
    /// # Errors
    ///
    /// Those of the plan, and where the machines cannot be reached.
    async fn run(&self, plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream>;
}

/// The cluster of a session, in its configuration.
#[derive(Debug)]
pub(crate) struct OnCluster(pub(crate) Arc<dyn Cluster>);

/// Returns the cluster of a session, if it has one.
pub(crate) fn cluster_of(config: &SessionConfig) -> Option<Arc<dyn Cluster>> {
    config.get_extension::<OnCluster>().map(|on| Arc::clone(&on.0))
}
