//! The cluster as a command sees it: a scheduler to send plans to.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::config::BALLISTA_SHUFFLE_SORT_BASED_BATCH_SIZE;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusResult, JobStatus, KeyValuePair,
    PartitionLocation,
};
use ballista_core::version::insert_version_header;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use datafusion::prelude::SessionConfig;
use futures::{StreamExt, TryStreamExt, stream};
use ibid::program::Cluster;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};

use crate::encode::encoded;
use crate::settings::{MESSAGE_BYTES, configured};

/// The number of tries to get rows from an executor, and the milliseconds between two of them.
const TRIES: (u8, u64) = (3, 500);

/// Upper bound of the bytes of rows that are held until all have arrived, so that a plan whose rows are lost with an
/// executor can run again.
const MOST_HELD: i64 = 64 << 20;

/// Upper bound of the runs of a plan whose rows are lost, and the time between two of them.
const ATTEMPTS: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);

/// Text of the scheduler about a plan whose tasks have not found rows of the stage before, and about no other plan.
const LOST: &str = "most recent failure reason";

/// The time that a plan waits for an executor if there is none.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time without news of a plan after which the client checks if there are executors.
const QUIET: Duration = Duration::from_secs(5);

/// The time that a scheduler has to answer.
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// The time for ending plans when the program is interrupted.
const LONGEST: Duration = Duration::from_millis(700);

/// A client of a scheduler, and the settings of plans for its executors.
#[derive(Debug)]
pub(crate) struct Client {
    /// The address of the scheduler, as a URL.
    pub(crate) scheduler: String,
    /// The number of partitions of a plan.
    pub(crate) partitions: usize,
    /// True if the client reports where each plan runs.
    pub(crate) explains: bool,
    /// The ids of the plans that run.
    pub(crate) jobs: Arc<Mutex<HashSet<String>>>,
}

#[async_trait]
impl Cluster for Client {
    fn configured(&self, config: SessionConfig) -> SessionConfig {
        let mut config = configured(config).with_target_partitions(self.partitions);
        // The values of subqueries are sent with the plans that read them.
        config.options_mut().optimizer.enable_physical_uncorrelated_scalar_subquery = true;
        config
    }

    fn planned(&self, plan: &dyn ExecutionPlan, here: Option<&str>) {
        if self.explains {
            let place = match here {
                None => "on the cluster".to_owned(),
                Some(what) => format!("here, as executors do not read {what}"),
            };
            ibid_cli::say(&format!("{place}:\n{}", displayable(plan).indent(false)));
        }
    }

    async fn run(&self, plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let query = encoded(&plan, &context).await?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let Some((locations, job)) = self.done(query.clone(), context.session_config()).await? else {
                if attempt == ATTEMPTS {
                    return exec_err!(
                        "the plan ran {ATTEMPTS} times, and lost an executor each time: look at the output of the \
                         executors"
                    );
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let bytes =
                |location: &PartitionLocation| location.partition_stats.as_ref().map_or(0, |known| known.num_bytes);
            let is_small = locations.iter().map(bytes).sum::<i64>() <= MOST_HELD;
            let rows = stream::iter(locations).map(Ok).and_then(fetched).try_flatten();
            if !is_small {
                // The job is dropped, and its rows on executors with it, once all of them are read.
                let rows = stream::try_unfold((Box::pin(rows), job), |(mut rows, job)| async move {
                    Ok(rows.try_next().await?.map(|batch| (batch, (rows, job))))
                });
                return Ok(Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows)));
            }
            match rows.try_collect::<Vec<_>>().await {
                Ok(rows) => {
                    let rows = stream::iter(rows.into_iter().map(Ok));
                    return Ok(Box::pin(RecordBatchStreamAdapter::new(plan.schema(), rows)));
                }
                // The executor that had the rows is gone.
                Err(_) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Client {
    /// Cancels all running plans, within a time limit.
    pub(crate) fn give_up(&self) {
        let jobs: Vec<_> = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).drain().collect();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let give_up = async {
            for job_id in jobs {
                self.connect()
                    .await?
                    .cancel_job(CancelJobParams { job_id })
                    .await
                    .map_err(|error| self.failed(&error))?;
            }
            Result::<()>::Ok(())
        };
        // The program ends in either case.
        let _ = runtime.block_on(async { tokio::time::timeout(LONGEST, give_up).await });
    }

    /// Runs a plan to its end. Returns the places of its rows, or `None` if rows between its stages are lost with an
    /// executor.
    async fn done(&self, plan: Vec<u8>, config: &SessionConfig) -> Result<Option<(Vec<PartitionLocation>, Job)>> {
        let id = || format!("{:032x}", RandomState::new().hash_one(&self.scheduler));
        let query = ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(plan)),
            settings: settings(config)?,
            session_id: id(),
            operation_id: id(),
        };
        self.wait_for_executors(PATIENCE).await?;
        let mut scheduler = self.connect().await?;
        let mut request = tonic::Request::new(query);
        insert_version_header(request.metadata_mut());
        let updates = scheduler.execute_query_push(request).await.map_err(|error| self.failed(&error))?;
        let mut updates = updates.into_inner();
        let mut job = Job { scheduler, id: None, is_over: false, jobs: Arc::clone(&self.jobs) };
        loop {
            let update = loop {
                match tokio::time::timeout(QUIET, updates.try_next()).await {
                    Ok(update) => break update.map_err(|error| self.ended(error.message()))?,
                    // A plan whose executors are all gone waits for others.
                    Err(_) => self.wait_for_executors(PATIENCE).await?,
                }
            };
            let Some(GetJobStatusResult { status: Some(JobStatus { job_id, status, .. }), .. }) = update else {
                return Err(self.ended("its messages ended"));
            };
            job.begun(job_id);
            match status {
                Some(Status::Failed(failed)) => {
                    job.is_over = true;
                    if failed.error.contains(LOST) {
                        return Ok(None);
                    }
                    return exec_err!("{}{}", reason(&failed.error), remedy(&failed.error));
                }
                Some(Status::Successful(done)) => {
                    job.is_over = true;
                    return Ok(Some((done.partition_location, job)));
                }
                _ => {}
            }
        }
    }

    /// Waits until the cluster has an executor. Fails if it has none for longer than `longest`.
    async fn wait_for_executors(&self, longest: Duration) -> Result<()> {
        let began = Instant::now();
        while !self.has_executors().await? {
            if began.elapsed() > longest {
                let address = self.scheduler.trim_start_matches("http://");
                return exec_err!(
                    "the cluster has no executor: start one with ibid-cluster executor --scheduler {address}, and look \
                     at the output of those that ran before"
                );
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        Ok(())
    }

    /// Returns true if the scheduler is ready, which it is with an executor.
    async fn has_executors(&self) -> Result<bool> {
        let address = self.scheduler.trim_start_matches("http://");
        let asked = async {
            let mut stream = TcpStream::connect(address).await?;
            let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.take(1024).read_to_string(&mut answer).await?;
            std::io::Result::Ok(answer.starts_with("HTTP/1.1 200"))
        };
        match tokio::time::timeout(ANSWER, asked).await {
            Ok(answered) => {
                answered.map_err(|error| exec_datafusion_err!("there is no scheduler at {}: {error}", self.scheduler))
            }
            Err(_) => exec_err!("the scheduler at {} does not answer", self.scheduler),
        }
    }

    async fn connect(&self) -> Result<SchedulerGrpcClient<Channel>> {
        let unreachable = |error: tonic::transport::Error| {
            exec_datafusion_err!("there is no scheduler at {}: {error}", self.scheduler)
        };
        let endpoint = Endpoint::from_shared(self.scheduler.clone()).map_err(unreachable)?;
        let channel = endpoint.connect_timeout(ANSWER).connect().await.map_err(unreachable)?;
        let most = MESSAGE_BYTES as usize;
        Ok(SchedulerGrpcClient::new(channel).max_encoding_message_size(most).max_decoding_message_size(most))
    }

    /// Returns the error of a plan whose scheduler is gone.
    fn ended(&self, why: &str) -> DataFusionError {
        exec_datafusion_err!(
            "the scheduler at {} is gone, and with it the state of the plan ({why}): run the command again",
            self.scheduler
        )
    }

    fn failed(&self, status: &tonic::Status) -> DataFusionError {
        exec_datafusion_err!("the scheduler at {}: {}", self.scheduler, reason(status.message()))
    }
}

/// Returns the settings of a session for the scheduler. The plan is made already, and is not repartitioned. Batches of
/// rows between stages have no more rows than other batches: few rows if these are long.
fn settings(config: &SessionConfig) -> Result<Vec<KeyValuePair>> {
    let mut config = config.clone().with_target_partitions(1);
    let rows = config.batch_size().to_string();
    config.options_mut().set(BALLISTA_SHUFFLE_SORT_BASED_BATCH_SIZE, &rows)?;
    let entries = config.options().entries().into_iter();
    Ok(entries.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect())
}

/// The type of the errors of tasks that may not have more memory.
const MEMORY: &str = "ResourcesExhausted(";

/// Returns the reason of a failed plan in the words of the operator that failed, without the words of Ballista, the
/// names of types around them, and the fields behind them.
fn reason(said: &str) -> String {
    let mut reason = said.trim_end();
    for words in ["Job failed due to stage ", "Task failed due to runtime execution error: "] {
        reason = reason.split_once(words).map_or(reason, |(_, rest)| rest);
    }
    // The text around it names an option of DataFusion.
    reason = reason.split_once(MEMORY).map_or(reason, |(_, rest)| rest);
    let is_type = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    while let Some((_, rest)) = reason.split_once('(').filter(|(name, _)| is_type(name)) {
        reason = rest.strip_suffix(')').unwrap_or(rest);
    }
    let Some(quoted) = reason.strip_prefix('"') else { return reason.trim_end_matches('"').to_owned() };
    let ends = |(at, _): &(usize, &str)| !quoted[..*at].ends_with('\\');
    let end = quoted.match_indices('"').find(ends).map_or(quoted.len(), |(at, _)| at);
    // A list of the operators that use most memory comes before the error of the pool.
    let own = quoted[..end].rsplit_once("\\nError: ").map_or(&quoted[..end], |(_, error)| error);
    own.replace("\\\"", "\"").replace("\\n", "\n")
}

/// Returns what to do about a failed plan, if that is known.
fn remedy(said: &str) -> &'static str {
    if said.contains(MEMORY) {
        "; raise --partitions, or the --memory of the executors"
    } else if said.contains("kind: StorageFull") {
        ": make room in the folder --work-dir of the executors"
    } else {
        ""
    }
}

/// Fetches the rows of a partition.
async fn fetched(location: PartitionLocation) -> Result<SendableRecordBatchStream> {
    let layout = location.layout();
    let (Some(executor), Some(partition)) = (location.executor_meta, location.partition_id) else {
        return exec_err!("the scheduler does not say where rows are");
    };
    let port = u16::try_from(executor.port).unwrap_or_default();
    let failed = |error: ballista_core::error::BallistaError| {
        exec_datafusion_err!("cannot fetch rows from the executor at {}:{port}: {error}", executor.host)
    };
    let (tries, wait) = TRIES;
    let client = BallistaClient::try_new(&executor.host, port, MESSAGE_BYTES as usize, false, None, tries, wait, 0, 0);
    let mut client = client.await.map_err(failed)?;
    client.fetch_partition(&executor.id, &partition.into(), location.file_id, layout, true).await.map_err(failed)
}

/// A plan that runs, or has run. When this is dropped, the plan ends, and its rows are removed.
struct Job {
    scheduler: SchedulerGrpcClient<Channel>,
    id: Option<String>,
    /// True once the plan has ended.
    is_over: bool,
    jobs: Arc<Mutex<HashSet<String>>>,
}

impl Job {
    fn begun(&mut self, id: String) {
        if self.id.is_none() {
            self.jobs.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
            self.id = Some(id);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let (mut scheduler, Some(job_id)) = (self.scheduler.clone(), self.id.take()) else { return };
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(&job_id);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let is_over = self.is_over;
        runtime.spawn(async move {
            if !is_over {
                // A job that is done cannot be cancelled any more.
                let _ = scheduler.cancel_job(CancelJobParams { job_id: job_id.clone() }).await;
            }
            let _ = scheduler.clean_job_data(CleanJobDataParams { job_id, remove_stage_ids: Vec::new() }).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{reason, remedy};

    #[test]
    fn the_reason_of_a_failure_is_what_the_operator_said() {
        let said = "the server at http://127.0.0.1:1 is in trouble (500)";
        for around in [
            said.to_owned(),
            format!("DataFusionError(Execution(\"{said}\"))"),
            format!(
                "Job failed due to stage 2 failed: Task failed due to runtime execution error: \
                 DataFusionError(Shared(DataFusionError(External({said}))))\n"
            ),
        ] {
            assert_eq!(reason(&around), said, "{around}");
        }
    }

    #[test]
    fn the_reason_is_what_is_quoted_and_not_the_fields_behind_it() {
        let full = "Task failed due to runtime execution error: DataFusionError(ArrowError(IoError(\"No space left on device \
                    (os error 28)\", Os { code: 28, kind: StorageFull, message: \"No space left on device\" }), Some(\"\")))";
        assert_eq!(reason(full), "No space left on device (os error 28)");
        assert_eq!(remedy(full), ": make room in the folder --work-dir of the executors");
        let memory = "DataFusionError(Context(\"Not enough memory to continue external sort. Consider increasing \
                      'datafusion.runtime.memory_limit'.\", ResourcesExhausted(\"Additional allocation \
                      failed:\\n  ExternalSorter[0]\\nError: ExternalSorter[0] cannot reserve 9 bytes\")))";
        assert_eq!(reason(memory), "ExternalSorter[0] cannot reserve 9 bytes");
        assert_eq!(remedy(memory), "; raise --partitions, or the --memory of the executors");
        assert_eq!(reason(r#"DataFusionError(Execution("the id \"1\" stands twice"))"#), r#"the id "1" stands twice"#);
    }
}
