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

/// Number of operators that an error about memory names.
const NAMED_OPERATORS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// Upper bound of the bytes that a sort reserves to read its spills back.
const SORT_RESERVATION: usize = 10 << 20;

/// The bytes of memory for each of the partitions in which operators work side by side.
const BYTES_OF_PARTITION: usize = 64 << 20;

/// Upper bound of the bytes of a row in flight, with all that is held of it between operators.
const BYTES_OF_ROW: usize = 1 << 20;

/// The bytes of memory for each of the files that a partition of a query merges at a time.
const BYTES_OF_MERGED_FILE: usize = 4 << 20;

/// An engine, which runs methods and SQL within limits of memory and threads.
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

/// A weak reference to an engine.
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
    /// The session, and the tables that statements make.
    workspace: Workspace,
    /// The inputs of registered tables, by the names of the tables.
    registered: Mutex<HashMap<String, Input>>,
    /// The folder for spills, and for the tables that runs make.
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
    /// Existing stores, which replace new ones.
    made_stores: Option<Arc<Stores>>,
    cluster: Option<Arc<dyn Cluster>>,
    /// The folder of tables between two statements, which all machines of the cluster reach.
    shared_tables: Option<PathBuf>,
}

impl EngineBuilder {
    /// Limits memory to this number of bytes: operators may reserve half of it, and spill beyond that; buffers and
    /// batches in flight come on top. Default: 60 % of the memory of the machine or of the process's control group,
    /// whichever has less.
    ///
    /// If a limit is given, joins sort their inputs, which can spill, and do not hash them.
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

    /// Makes temporary files below this folder, which must exist. Default: the folder of the system, which `TMPDIR`
    /// names.
    #[must_use]
    pub fn temporary_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary_folder = Some(folder.into());
        self
    }

    /// Declares that the process is there for this engine only: operators are also refused memory if the process takes
    /// more than the limit, whoever took it. Default: no.
    #[must_use]
    pub fn all_of_process(mut self, is_all: bool) -> Self {
        self.is_all_of_process = is_all;
        self
    }

    /// Reaches `s3://` at this address of a server that speaks S3, such as `https://minio.example.org:9000`. Default:
    /// as the environment says (`AWS_ENDPOINT_URL` or the profile), else the address of Amazon.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.stores.endpoint = Some(url.into());
        self
    }

    /// Signs no requests to object stores, as for public data. Default: requests are signed, unless the environment
    /// says not to.
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

    /// Sets the id and the secret of the key for S3, which override the environment. Default: as the environment says
    /// (`AWS_ACCESS_KEY_ID`, a profile, or the machine or container that this runs on).
    #[must_use]
    pub fn keys(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.stores.keys = Some([id.into(), secret.into()]);
        self
    }

    /// Sets the session token that goes with the key of [`keys`](Self::keys), which is the key of a role. Default:
    /// none.
    #[must_use]
    pub fn session_token(mut self, token: impl Into<String>) -> Self {
        self.stores.session_token = Some(token.into());
        self
    }

    /// Uses existing stores instead of those that the options describe.
    #[doc(hidden)]
    #[must_use]
    pub fn stores(mut self, stores: &Arc<Stores>) -> Self {
        self.made_stores = Some(Arc::clone(stores));
        self
    }

    /// Runs plans on a cluster, if they read only Parquet. Its machines write the tables between two statements below
    /// `tables`, a folder of a store that all of them reach. Without it, a method takes the folder of `resume`, and a
    /// statement that makes a table fails.
    #[doc(hidden)]
    #[must_use]
    pub fn cluster(mut self, cluster: Arc<dyn Cluster>, tables: Option<PathBuf>) -> Self {
        (self.cluster, self.shared_tables) = (Some(cluster), tables);
        self
    }

    /// Fails if options about object stores do not go together.
    fn check_stores(&self) -> anyhow::Result<()> {
        let store::Settings { anonymous, keys, session_token, .. } = &self.stores;
        if *anonymous && keys.is_some() {
            return Err(misuse!(
                "`anonymous` and `keys` exclude each other: `anonymous` signs no requests; leave out one"
            ));
        }
        if session_token.is_some() && keys.is_none() {
            return Err(misuse!("`session_token` needs a key: give it with `keys`"));
        }
        Ok(())
    }

    /// Makes the engine.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if no temporary folder can be made, and [`Error::Options`] for options that do not go together.
    pub fn build(self) -> Result<Engine, Error> {
        self.check_stores()?;
        let stores = self.made_stores.clone().unwrap_or_else(|| Arc::new(Stores::new(self.stores.clone())));
        let scratch = Arc::new(Scratch::try_new(self.temporary_folder.as_deref())?);
        let mut config = SessionConfig::new().with_extension(Arc::clone(&stores));
        // Otherwise, a large CSV file is split anywhere, and rows with line breaks in quotes become other rows.
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
            // No operator reserves the batches in flight between operators.
            let rows = memory / config.target_partitions() / BYTES_OF_ROW;
            let most = config.batch_size();
            config = config.with_batch_size(rows.clamp(128.min(most), most));
            // Each sort has this much for certain when it reads its spills back.
            let of_sort = reservable / 128 / config.target_partitions();
            config = config.with_sort_spill_reservation_bytes(of_sort.min(SORT_RESERVATION));
            // A file that is merged with others has buffers that nothing reserves.
            let merged = memory / config.target_partitions() / BYTES_OF_MERGED_FILE;
            spills = spills.with_max_spill_merge_fan_in(merged.max(2));
            // An in-place sort makes one batch of those that it holds, and then counts the buffers of that batch once
            // for each slice of it.
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
    /// Returns a builder of an engine with other limits than those of [`Engine::new`].
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Makes an engine with the default limits.
    ///
    /// # Errors
    ///
    /// The errors of [`EngineBuilder::build`].
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns the session, in which tables can be registered and SQL can run.
    #[must_use]
    pub fn session(&self) -> &SessionContext {
        &self.shared.workspace.session
    }

    /// Plans a query, which runs when its rows are requested, or runs a statement of another kind. `CREATE TABLE … AS`
    /// writes Parquet to the temporary folder. INSERT, UPDATE, DELETE and COPY are errors: they would leave half of a
    /// change if they failed. In FROM, methods are table functions, with the options of their builders by name.
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
    /// [`Error::Sql`] if the text is no SQL or cannot be planned.
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
    /// The errors of [`Found::write`](crate::Found::write).
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

    /// Returns the bytes of memory that the engine may take; `None` if there is no limit, since the system does not
    /// tell how much memory there is.
    #[must_use]
    pub fn memory(&self) -> Option<usize> {
        self.shared.settings.memory.or_else(default_memory)
    }

    /// Waits until each write to an object store that was begun is completed, or, if its future was dropped, aborted.
    /// If the runtime or the process ends before that, parts of objects may stay in a store, which [`Engine::gc`]
    /// removes. The engine can be used afterwards, too.
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

    /// Returns the tables that runs on a cluster have made in a folder, or else in the folder of the engine. Returns
    /// `None` if there is no cluster, or no folder.
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

    /// Removes the tables that a cluster has made in the folder of the engine. Nothing may read them any more.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] and [`Error::Io`] if they cannot be removed.
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

    /// Returns the operators with the largest reservations, for users; empty if no operator has any.
    pub fn largest_reservations(&self) -> String {
        let report = self.shared.pool.as_ref().map(|pool| pool.report_top(NAMED_OPERATORS.get())).unwrap_or_default();
        // An empty report ends with a full stop, too.
        if report.trim_matches('.').is_empty() { String::new() } else { report }
    }

    /// Makes a session with the limits of the engine and no tables.
    pub(crate) fn new_session(&self) -> Result<SessionContext, Error> {
        Ok(session(self.shared.config.clone(), Arc::clone(&self.shared.runtime))?)
    }

    /// Keeps the input of a table as long as the engine, or until another table has its name.
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
        // Stores of listed files are registered with the others.
        let rows = engine.sql(&format!("SELECT n FROM '{}/*.csv'", folder.path().display())).await.unwrap();
        assert_eq!(rows.count().await.unwrap(), 2);
        let stores = Arc::downgrade(engine.stores());
        drop(engine);
        assert!(stores.upgrade().is_none());
    }
}
