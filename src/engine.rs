use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::dataframe::DataFrame;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::DFParserBuilder;
use datafusion::sql::sqlparser::dialect::GenericDialect;

use crate::cluster::{Cluster, OnCluster, SharedFolder};
use crate::datafusion_fixes::{fix_statement, settle_using_columns};
use crate::error::{Error, misuse};
use crate::export::{Form, Format};
use crate::index::stored::check_place;
use crate::memory::machine::default_memory;
use crate::memory::pool::{SharedPool, for_operators};
use crate::methods::Input;
use crate::pipeline::query::Parameters;
use crate::pipeline::{Outcome, Scratch, StageCache, Workspace};
use crate::run::{Run, Settings};
use crate::sql::session;
use crate::store::{self, Stores};
use crate::table_functions::{self, NoHooks};

/// The operators that an error about memory names.
const NAMED_OPERATORS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// The bytes that a sort reserves at most to read back what it put on disk.
const SORT_RESERVATION: usize = 10 << 20;

/// The bytes of memory for each of the parts in which operators work side by side.
const BYTES_OF_PARTITION: usize = 64 << 20;

/// The bytes that a row may take on its way, with all that is held of it between operators.
const BYTES_OF_ROW: usize = 1 << 20;

/// The bytes of memory for each of the files that a part of a query merges at a time.
const BYTES_OF_MERGED_FILE: usize = 4 << 20;

/// Runs methods and SQL, within limits of memory and threads.
///
/// An engine has a session of DataFusion with all of ibid, a limit of memory that all its methods and statements share, and a
/// temporary folder. A clone is the same engine.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = ibid::Engine::builder().memory(1 << 30).threads(2).build()?;
/// let rows = engine.sql("SELECT jaccard([1, 2, 3], [2, 3, 4]) AS similarity").await?.collect().await?;
/// assert_eq!(rows[0].num_rows(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// An engine that may be gone.
#[derive(Clone)]
pub struct WeakEngine(Weak<Shared>);

impl WeakEngine {
    pub fn upgrade(&self) -> Option<Engine> {
        self.0.upgrade().map(|shared| Engine { shared })
    }
}

struct Shared {
    settings: EngineBuilder,
    stores: Arc<Stores>,
    config: SessionConfig,
    runtime: Arc<RuntimeEnv>,
    pool: Option<Arc<TrackConsumersPool<SharedPool>>>,
    /// Holds the session, and the tables that statements make.
    workspace: Workspace,
    /// The inputs of registered tables, by the names of these.
    registered: Mutex<HashMap<String, Input>>,
    /// Holds what is spilled, and the tables that runs make.
    scratch: Arc<Scratch>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.shared.settings).finish()
    }
}

/// The options of an [`Engine`]: its limits, and how it reaches object stores.
///
/// Two engines of a process have stores of their own, and may have other keys:
///
/// ```
/// let ours = ibid::Engine::builder().endpoint("https://minio.example.org:9000").keys("me", "my secret").build()?;
/// let theirs = ibid::Engine::builder().region("eu-central-1").anonymous(true).build()?;
/// assert!(!format!("{ours:?}").contains("my secret"));
/// # Ok::<(), ibid::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EngineBuilder {
    memory: Option<usize>,
    threads: Option<usize>,
    temporary_folder: Option<PathBuf>,
    is_all_of_process: bool,
    stores: store::Settings,
    /// Stores that are there already, in the place of new ones.
    made_stores: Option<Arc<Stores>>,
    cluster: Option<Arc<dyn Cluster>>,
    /// The folder of tables between two statements, which all machines of the cluster reach.
    shared_tables: Option<PathBuf>,
}

impl EngineBuilder {
    /// Limits memory to so many bytes: operators may reserve half of it, and go to disk for more; buffers and batches on their way
    /// come on top. Default: 60 % of the memory of the machine or of the process's control group, whichever has less.
    ///
    /// Where a limit is given, joins sort their inputs, which can go to disk, and do not hash them.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the number of threads, 1 or more; less counts as 1. Default: one a core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Makes temporary files below this folder, which is there. Default: that of the system, which `TMPDIR` names.
    #[must_use]
    pub fn temporary_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary_folder = Some(folder.into());
        self
    }

    /// Says that the process is there for this engine: operators are refused memory also where the process takes more than the limit,
    /// whoever took it. Default: no.
    #[must_use]
    pub fn all_of_process(mut self, is_all: bool) -> Self {
        self.is_all_of_process = is_all;
        self
    }

    /// Reaches `s3://` at this address of a server that speaks S3, such as `https://minio.example.org:9000`. Default: as the environment
    /// says (`AWS_ENDPOINT_URL` or the profile), else that of Amazon.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.stores.endpoint = Some(url.into());
        self
    }

    /// Signs no requests to object stores: for what is open to all. Default: requests are signed, unless the environment says not to.
    #[must_use]
    pub fn anonymous(mut self, is_anonymous: bool) -> Self {
        self.stores.anonymous = is_anonymous;
        self
    }

    /// Sets the region of the buckets of S3. Default: as the environment says (`AWS_REGION` or the profile), else `us-east-1`.
    #[must_use]
    pub fn region(mut self, name: impl Into<String>) -> Self {
        self.stores.region = Some(name.into());
        self
    }

    /// Allows connections to object stores without encryption. Default: as the environment says (`AWS_ALLOW_HTTP`), else no.
    #[must_use]
    pub fn allow_http(mut self, allows: bool) -> Self {
        self.stores.allow_http = allows;
        self
    }

    /// Sets the id and the secret of the key by which S3 is asked, whatever the environment says. Default: as the environment says
    /// (`AWS_ACCESS_KEY_ID`, a profile, or the machine or container that this runs on).
    #[must_use]
    pub fn keys(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.stores.keys = Some([id.into(), secret.into()]);
        self
    }

    /// Sets the session token that goes with the key of [`keys`](Self::keys), which is one of a role. Default: none.
    #[must_use]
    pub fn session_token(mut self, token: impl Into<String>) -> Self {
        self.stores.session_token = Some(token.into());
        self
    }

    /// Takes stores that are there already, and not those that the options describe.
    #[doc(hidden)]
    #[must_use]
    pub fn stores(mut self, stores: &Arc<Stores>) -> Self {
        self.made_stores = Some(Arc::clone(stores));
        self
    }

    /// Runs plans on a cluster: all that read Parquet alone. Its machines write the tables between two statements below `tables`, a folder of
    /// a store that all of them reach; where there is none, a method takes that of `resume`, and a statement that makes a table fails.
    #[doc(hidden)]
    #[must_use]
    pub fn cluster(mut self, cluster: Arc<dyn Cluster>, tables: Option<PathBuf>) -> Self {
        (self.cluster, self.shared_tables) = (Some(cluster), tables);
        self
    }

    /// Fails where options about object stores do not go together.
    fn check_stores(&self) -> anyhow::Result<()> {
        let store::Settings { anonymous, keys, session_token, .. } = &self.stores;
        if *anonymous && keys.is_some() {
            return Err(misuse!(
                "`anonymous` signs no requests, and `keys` has a key to sign them with; leave out one"
            ));
        }
        if session_token.is_some() && keys.is_none() {
            return Err(misuse!("`session_token` goes with a key, and there is none; give it by `keys`, too"));
        }
        Ok(())
    }

    /// Makes the engine.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where no temporary folder can be made, and [`Error::Options`] for options that do not go together.
    pub fn build(self) -> Result<Engine, Error> {
        self.check_stores()?;
        let stores = self.made_stores.clone().unwrap_or_else(|| Arc::new(Stores::new(self.stores.clone())));
        let scratch = Arc::new(Scratch::try_new(self.temporary_folder.as_deref())?);
        let mut config = SessionConfig::new().with_extension(Arc::clone(&stores));
        // Without, a large file of CSV is cut anywhere, and rows with ends of lines in quotes become others.
        config.options_mut().catalog.newlines_in_values = true;
        if let Some(threads) = self.threads {
            config = config.with_target_partitions(threads);
        }
        let mode = DiskManagerMode::Directories(vec![scratch.path().to_path_buf()]);
        let mut spills = DiskManagerBuilder::default().with_mode(mode);
        let mut runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::clone(&stores) as _);
        let mut pool = None;
        if let Some(memory) = self.memory.or_else(default_memory) {
            let reservable = for_operators(memory);
            // Each partition of each operator has buffers of its own.
            let partitions = (memory / BYTES_OF_PARTITION).clamp(1, config.target_partitions());
            config = config.with_target_partitions(partitions);
            // What is on its way from operator to operator is reserved by none.
            let rows = memory / config.target_partitions() / BYTES_OF_ROW;
            let most = config.batch_size();
            config = config.with_batch_size(rows.clamp(128.min(most), most));
            // Of this much each sort is sure when it reads back what it put on disk.
            let of_sort = reservable / 128 / config.target_partitions();
            config = config.with_sort_spill_reservation_bytes(of_sort.min(SORT_RESERVATION));
            // A file that is merged with others has buffers that nothing reserves.
            let merged = memory / config.target_partitions() / BYTES_OF_MERGED_FILE;
            spills = spills.with_max_spill_merge_fan_in(merged.max(2));
            // It makes one batch of those that it holds, and then counts its buffers once for each part of it that it gives.
            config.options_mut().execution.sort_in_place_threshold_bytes = 0;
            // An error names the operators that hold most.
            let shared = if self.is_all_of_process {
                SharedPool::of_process(reservable, memory)
            } else {
                SharedPool::new(reservable)
            };
            let tracked = Arc::new(TrackConsumersPool::new(shared, NAMED_OPERATORS));
            runtime = runtime.with_memory_pool(Arc::clone(&tracked) as _);
            pool = Some(tracked);
        }
        if let Some(cluster) = &self.cluster {
            config = cluster.configured(config).with_extension(Arc::new(OnCluster(Arc::clone(cluster))));
        }
        let runtime = runtime.with_disk_manager_builder(spills).build_arc()?;
        let session = session(config.clone(), Arc::clone(&runtime))?;
        let mut workspace = Workspace::try_new(&scratch, session, Box::new(drop))?;
        if let (Some(_), Some(folder)) = (&self.cluster, &self.shared_tables) {
            let folder = SharedFolder::of_session(folder, &workspace.session, &stores)?;
            workspace.finished = Some(StageCache::shared(folder, &stores));
        }
        workspace.hashes_rows = self.memory.is_none();
        let shared =
            Shared { settings: self, stores, config, runtime, pool, workspace, registered: Mutex::default(), scratch };
        let engine = Engine { shared: Arc::new(shared) };
        table_functions::register(engine.session(), engine.weak(), Arc::new(NoHooks))?;
        Ok(engine)
    }
}

impl Engine {
    /// Makes an engine with other limits than those of [`Engine::new`].
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Makes an engine with the limits that hold where none are given.
    ///
    /// # Errors
    ///
    /// As [`EngineBuilder::build`].
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns the session, in which tables can be registered and SQL can run.
    #[must_use]
    pub fn session(&self) -> &SessionContext {
        &self.shared.workspace.session
    }

    /// Plans a query, which runs when its rows are asked for, or runs a statement of another kind. `CREATE TABLE … AS` writes Parquet to
    /// the temporary folder. INSERT, UPDATE, DELETE and COPY are errors: they would leave half of a change if they failed. In FROM methods are functions, with the options of their builders by name.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("a.txt"), "To be or not to be.")?;
    /// # std::fs::write(folder.path().join("b.txt"), "To be or not to be.")?;
    /// # let corpus = folder.path().display();
    /// let engine = ibid::Engine::new()?;
    /// let rows = engine.sql(&format!("SELECT id_a, id_b FROM pairs('{corpus}', threshold => 0.9)")).await?;
    /// assert_eq!(rows.count().await?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Sql`] for what is no SQL or cannot be planned.
    pub async fn sql(&self, sql: &str) -> Result<DataFrame, Error> {
        Ok(self.planned(sql).await?)
    }

    async fn planned(&self, sql: &str) -> anyhow::Result<DataFrame> {
        let session = self.session();
        let mut statements = DFParserBuilder::new(sql).with_dialect(&GenericDialect {}).build()?.parse_statements()?;
        let Some(mut statement) = statements.pop_front() else {
            return Err(misuse!("there is no statement to run"));
        };
        if !statements.is_empty() {
            return Err(misuse!("there are {} statements; run them one by one", statements.len() + 1));
        }
        fix_statement(&mut statement, session)?;
        settle_using_columns(&mut statement)?;
        match self.shared.workspace.run_statement(statement).await? {
            Outcome::Rows(rows) => Ok(*rows),
            Outcome::Done { .. } => Ok(session.read_empty()?),
        }
    }

    /// Writes the rows of a query to a file, as [`Found::write`](crate::Found::write) does.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("twice.csv");
    /// let engine = ibid::Engine::new()?;
    /// let rows = engine.sql("SELECT jaccard([1, 2, 3], [2, 3, 4]) AS similarity").await?;
    /// assert_eq!(engine.write(rows, &file).await?, 1);
    /// assert_eq!(std::fs::read_to_string(&file)?, "similarity\n0.5\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Found::write`](crate::Found::write).
    pub async fn write(&self, rows: DataFrame, path: impl AsRef<Path>) -> Result<u64, Error> {
        Ok(self.write_rows(rows, path.as_ref()).await?)
    }

    async fn write_rows(&self, rows: DataFrame, path: &Path) -> anyhow::Result<u64> {
        check_place(path, self.stores())?;
        let form = Form::of(Format::of_file(path)?);
        let run = Run::begin(self, Settings::default())?;
        let (file, count) = run.stage(rows, path, form, &Parameters::default()).await?;
        file.commit_unless_dropped(self.stores()).await?;
        Ok(count)
    }

    /// Returns the bytes of memory that the engine may take; `None` where there is no limit since the system does not tell what there is.
    #[must_use]
    pub fn memory(&self) -> Option<usize> {
        self.shared.settings.memory.or_else(default_memory)
    }

    /// Waits until each write to an object store that was begun is done: completed, or, where its future was dropped, aborted. Who ends
    /// the runtime or the process before that may leave parts of objects in a store, which [`Engine::gc`] removes. The engine can be
    /// used afterwards, too.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// engine.close().await;
    /// # Ok::<(), ibid::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn close(&self) {
        self.shared.stores.idle().await;
    }

    #[doc(hidden)]
    pub fn stores(&self) -> &Arc<Stores> {
        &self.shared.stores
    }

    #[doc(hidden)]
    pub fn weak(&self) -> WeakEngine {
        WeakEngine(Arc::downgrade(&self.shared))
    }

    /// Returns the tables that runs on a cluster have made in a folder, or in that of the engine; `None` where there is no cluster, or no
    /// folder.
    pub(crate) fn shared_tables(
        &self,
        folder: Option<&Path>,
        session: &SessionContext,
    ) -> anyhow::Result<Option<StageCache>> {
        let EngineBuilder { cluster: Some(_), shared_tables, .. } = &self.shared.settings else { return Ok(None) };
        let Some(folder) = folder.or(shared_tables.as_deref()) else { return Ok(None) };
        let folder = SharedFolder::of_session(folder, session, self.stores())?;
        Ok(Some(StageCache::shared(folder, self.stores())))
    }

    /// Removes the tables that a cluster has made in the folder of the engine, of which nothing must be read any more.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] and [`Error::Io`] where that cannot be.
    #[doc(hidden)]
    pub async fn remove_shared_tables(&self) -> Result<(), Error> {
        if let Some(folder) = &self.shared.settings.shared_tables {
            SharedFolder::at(folder, self.session(), self.stores())?.remove().await?;
        }
        Ok(())
    }

    /// Returns true if plans run on a cluster.
    pub(crate) fn is_on_cluster(&self) -> bool {
        self.shared.settings.cluster.is_some()
    }

    /// Returns the limit of memory that was given.
    pub(crate) fn given_memory(&self) -> Option<usize> {
        self.shared.settings.memory
    }

    /// Returns the operators that hold most of what is reserved, for people; empty where none holds any.
    pub fn largest_reservations(&self) -> String {
        let report = self.shared.pool.as_ref().map(|pool| pool.report_top(NAMED_OPERATORS.get())).unwrap_or_default();
        // A list of none ends with a full stop, too.
        if report.trim_matches('.').is_empty() { String::new() } else { report }
    }

    /// Makes a session with the limits of the engine and no tables.
    pub(crate) fn new_session(&self) -> Result<SessionContext, Error> {
        Ok(session(self.shared.config.clone(), Arc::clone(&self.shared.runtime))?)
    }

    /// Keeps what a table reads as long as the engine, or until another table has its name.
    pub(crate) fn keep(&self, table: &str, input: Input) {
        self.shared.registered.lock().unwrap_or_else(PoisonError::into_inner).insert(table.to_owned(), input);
    }

    pub(crate) fn scratch(&self) -> &Arc<Scratch> {
        &self.shared.scratch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_engine_that_is_gone_leaves_no_stores() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.csv", "b.csv"] {
            std::fs::write(folder.path().join(name), "n\n1\n").unwrap();
        }
        let engine = Engine::new().unwrap();
        // Stores of what was listed are registered with the others.
        let rows = engine.sql(&format!("SELECT n FROM '{}/*.csv'", folder.path().display())).await.unwrap();
        assert_eq!(rows.count().await.unwrap(), 2);
        let stores = Arc::downgrade(engine.stores());
        drop(engine);
        assert!(stores.upgrade().is_none());
    }
}
