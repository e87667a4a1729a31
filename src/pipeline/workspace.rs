use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::common::runtime::JoinSet;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::empty::EmptyTable;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{
    CreateExternalTable, CreateMemoryTable, CreateView, DdlStatement, DropTable, LogicalPlan, Volatility, WriteOp,
    logical_plan as plan,
};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::{ExecutionPlan, collect, execute_stream_partitioned};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::gathered::gathered;
use super::query::{Parameters, Query};
use super::scratch::Scratch;
use super::stage_cache::{Key, StageCache, name_of};
use crate::cluster::{Cluster, Part, WritePartsExec, cluster_of, map_sent, write_rows_of_part};
use crate::datafusion_fixes::{CompactViews, LimitWindowMemory, RepartitionBackpressure, SinglePartitionSortMerge};
use crate::export::refuse_same_names;
use crate::similarity_join::SIMILARITY_JOIN;
use crate::store::{Address, Found, redacted};

/// The reason for which COPY is refused.
const COPY: &str = "COPY would leave half a file, in the place of the old one, if the query failed; write ibid sql \"SELECT …\" -o \
                    FILE, which does not";

/// The outcome of a statement.
pub enum Outcome {
    /// The end of a statement that made a table or a view, or set something.
    Done {
        /// The number of rows of the table.
        rows: Option<u64>,
        /// The counts of its similarity joins.
        counters: Counters,
    },
    /// The rows of a query.
    Rows(Box<DataFrame>),
}

/// A stage that ran.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) query: Query,
    pub(crate) rows: Option<u64>,
    counters: Counters,
}

/// The counts of the similarity joins of a statement, by name.
type Counters = BTreeMap<String, usize>;

/// A callback for the start of a stage, with the file of its query.
pub(crate) type OnStage = Box<dyn Fn(&'static str) + Send + Sync>;

/// A session and a folder for the tables that it makes. The folder is removed with the workspace.
///
/// `CREATE TABLE … AS` writes Parquet files, partition by partition, so that a table between two stages costs disk and
/// not memory; views stay queries.
pub struct Workspace {
    pub session: SessionContext,
    folder: TempDir,
    /// The folder that contains `folder`.
    _scratch: Arc<Scratch>,
    pub parameters: Parameters,
    pub(crate) stages: Vec<Stage>,
    /// The cache of the tables that earlier runs made.
    pub(crate) finished: Option<StageCache>,
    /// The size of the longest list in the tables made here, in bytes.
    longest_list: AtomicUsize,
    /// True if the joins of the query that returns rows hash an input, regardless of the memory limit.
    pub(crate) hashes_rows: bool,
    on_stage: OnStage,
}

impl Workspace {
    /// Makes a workspace in a temporary folder, with a session of its own.
    pub(crate) fn try_new(scratch: &Arc<Scratch>, session: SessionContext, on_stage: OnStage) -> Result<Self> {
        let folder = tempfile::tempdir_in(scratch.path()).context("cannot make a temporary folder")?;
        let (parameters, stages, longest_list) = (Parameters::default(), Vec::new(), AtomicUsize::new(0));
        Ok(Self {
            session,
            folder,
            _scratch: Arc::clone(scratch),
            parameters,
            stages,
            finished: None,
            longest_list,
            hashes_rows: false,
            on_stage,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the statements of a pipeline in order, and returns the rows of the last query among them.
    pub(crate) async fn run_all(&mut self, queries: &[Query]) -> Result<Option<DataFrame>> {
        let mut last = None;
        for &query in queries {
            (self.on_stage)(query.file);
            let sql = self.parameters.bind(query.sql)?;
            let outcome = self.run(&sql).await.with_context(|| format!("in queries/{}", query.file))?;
            let (rows, counters) = match outcome {
                Outcome::Done { rows, counters } => (rows, counters),
                Outcome::Rows(frame) => {
                    last = Some(*frame);
                    (None, Counters::new())
                }
            };
            self.stages.push(Stage { query, rows, counters });
        }
        Ok(last)
    }

    /// Returns a count of the similarity joins that made the table of `query`, by its name, once it ran.
    pub(crate) fn counted(&self, query: Query, name: &str) -> u64 {
        let stage = self.stages.iter().rev().find(|stage| stage.query == query);
        stage.and_then(|stage| stage.counters.get(name)).map_or(0, |counted| *counted as u64)
    }

    /// Returns true if a similarity join with counts made the table of `query`.
    pub(crate) fn has_counted(&self, query: Query) -> bool {
        self.stages.iter().rev().find(|stage| stage.query == query).is_some_and(|stage| !stage.counters.is_empty())
    }

    /// Returns the number of rows of the table that `query` makes, once it ran.
    pub(crate) fn rows_of(&self, query: Query) -> u64 {
        self.stages.iter().rev().find(|stage| stage.query == query).and_then(|stage| stage.rows).unwrap_or(0)
    }

    /// Parses a script.
    pub fn statements(&self, script: &str) -> Result<VecDeque<Statement>> {
        let dialect = GenericDialect {};
        Ok(DFParserBuilder::new(script).with_dialect(&dialect).build()?.parse_statements()?)
    }

    /// Runs a script of one statement.
    pub(crate) async fn run(&self, sql: &str) -> Result<Outcome> {
        match self.statements(sql)?.pop_front() {
            Some(statement) => self.run_statement(statement).await,
            None => Ok(Outcome::Done { rows: None, counters: Counters::new() }),
        }
    }

    /// Runs one statement.
    pub async fn run_statement(&self, statement: Statement) -> Result<Outcome> {
        let key = match &self.finished {
            Some(finished) => self.key(finished, &statement).await?,
            None => None,
        };
        if matches!(statement, Statement::CopyTo(_)) {
            bail!(COPY);
        }
        let plan = self.session.state().statement_to_plan(statement).await?;
        let noted = key.and_then(|key| Some((self.made_by(&plan)?, key)));
        let outcome = self.run_plan(plan, key).await?;
        if let (Some(finished), Some((name, key))) = (&self.finished, noted) {
            finished.note(self.session.table_provider(name).await?, key);
        }
        Ok(outcome)
    }

    /// Returns the name of the table or view that a plan makes, if it makes one.
    fn made_by(&self, plan: &LogicalPlan) -> Option<TableReference> {
        match plan {
            LogicalPlan::Ddl(DdlStatement::CreateView(CreateView { name, .. })) => Some(name.clone()),
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(table)) => {
                (!self.stays(table)).then(|| table.name.clone())
            }
            _ => None,
        }
    }

    /// Returns true if a file has this name, and no table has it.
    async fn is_file(&self, name: &TableReference) -> bool {
        let is_table = self.session.table_exist(name.clone()).is_ok_and(|exists| exists);
        !is_table && self.session.table_provider(name.clone()).await.is_ok()
    }

    /// Returns true if a table that is to be made exists already, and is to stay.
    fn stays(&self, table: &CreateMemoryTable) -> bool {
        table.if_not_exists && self.session.table_exist(table.name.clone()).is_ok_and(|exists| exists)
    }

    async fn run_plan(&self, plan: LogicalPlan, key: Option<Key>) -> Result<Outcome> {
        // EXPLAIN ANALYZE runs a COPY within it, too.
        if plan.exists(|part| Ok(matches!(part, LogicalPlan::Copy(_))))? {
            bail!(COPY);
        }
        let mut change = None;
        plan.apply(|part| {
            if let LogicalPlan::Dml(dml) = part {
                change = Some(dml.op.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        match change {
            Some(WriteOp::Insert(_)) => bail!(
                "INSERT would leave half of its rows in the table if the query failed; write them to a file of their own with \
                 -o FILE or \\o FILE, or make the table anew: CREATE OR REPLACE TABLE … AS SELECT … UNION ALL …"
            ),
            Some(change) => bail!(
                "{} would leave half of the table changed if it failed; make the table anew: CREATE OR REPLACE TABLE … AS SELECT …, \
                 with WHERE for the rows that stay, and CASE for values that change",
                change.name().trim_end_matches("Into").to_uppercase()
            ),
            None => {}
        }
        match plan {
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(table)) if !self.stays(&table) => {
                let (rows, counters) = self.materialise(table, key).await?;
                Ok(Outcome::Done { rows: Some(rows), counters })
            }
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(mut table)) => {
                // The definition can be listed, and options may be keys.
                let definition = table.definition.take().filter(|_| table.options.is_empty());
                table.definition = definition.map(|sql| redacted(&sql));
                if table.or_replace && !table.if_not_exists && self.session.table_exist(table.name.clone())? {
                    self.replace_external(&table).await?;
                } else {
                    let plan = LogicalPlan::Ddl(DdlStatement::CreateExternalTable(table));
                    self.session.execute_logical_plan(plan).await?;
                }
                Ok(Outcome::Done { rows: None, counters: Counters::new() })
            }
            plan @ LogicalPlan::Statement(plan::Statement::Execute(_)) => {
                let prepared = self.session.execute_logical_plan(plan).await?;
                Box::pin(self.run_plan(prepared.into_unoptimized_plan(), None)).await
            }
            LogicalPlan::Statement(plan::Statement::SetVariable(set)) if is_of_spills(&set.variable) => {
                self.set_spills(&set.variable, &set.value)?;
                Ok(Outcome::Done { rows: None, counters: Counters::new() })
            }
            LogicalPlan::Statement(plan::Statement::ResetVariable(reset)) if is_of_spills(&reset.variable) => {
                bail!("{} has no default to reset it to: SET it to a value", reset.variable)
            }
            LogicalPlan::Ddl(DdlStatement::DropTable(DropTable { name, .. })) if self.is_file(&name).await => {
                bail!("{name} is a file, and no table of the session; SQL does not remove files")
            }
            plan @ (LogicalPlan::Ddl(_) | LogicalPlan::Statement(_)) => {
                self.session.execute_logical_plan(plan).await?;
                Ok(Outcome::Done { rows: None, counters: Counters::new() })
            }
            plan => Ok(self.rows(plan)),
        }
    }

    /// Makes a table that replaces another. The old table stays until then, also if the command is cancelled while
    /// files are listed.
    async fn replace_external(&self, table: &CreateExternalTable) -> Result<()> {
        let state = self.session.state();
        let factory = state.table_factories().get(&table.file_type.to_uppercase());
        let factory = factory.with_context(|| format!("Unable to find factory for {}", table.file_type))?;
        let made = factory.create(&state, table).await?;
        self.session.deregister_table(table.name.clone())?;
        self.session.register_table(table.name.clone(), made)?;
        Ok(())
    }

    /// Changes a setting of spills. DataFusion would change it by spilling elsewhere, where nobody cleans up.
    fn set_spills(&self, variable: &str, value: &str) -> Result<()> {
        let spills = &self.session.runtime_env().disk_manager;
        match variable.strip_prefix(OF_RUNTIME) {
            Some("max_temp_directory_size") => {
                let bytes = SessionContext::parse_capacity_limit(variable, value)?;
                spills.set_max_temp_directory_size(bytes as u64)?;
            }
            Some("max_spill_merge_fan_in") => {
                let files = value.parse().with_context(|| format!("{variable} is a whole number, not {value:?}"))?;
                spills.set_max_spill_merge_fan_in(files);
            }
            _ => bail!(
                "operators spill to {}, which ibid gc cleans up; to spill elsewhere, set TMPDIR before the run begins",
                self.folder().display()
            ),
        }
        Ok(())
    }

    fn rows(&self, plan: LogicalPlan) -> Outcome {
        if self.cluster().is_some() {
            return Outcome::Rows(Box::new(DataFrame::new(self.session.state(), plan)));
        }
        // Some rows may already be out when memory runs out, and then there is no second try.
        let sorts = self.memory().is_some() && !self.hashes_rows;
        let state = if sorts { self.joining_by_sorting() } else { self.hashing() };
        Outcome::Rows(Box::new(DataFrame::new(state, plan)))
    }

    /// Returns the same rows from joins that need less memory, if the rows come from other joins.
    pub(crate) fn joined_by_sorting(&self, rows: &DataFrame) -> Option<DataFrame> {
        let has_others = self.memory().is_some() && self.hashes_rows && self.cluster().is_none();
        has_others.then(|| DataFrame::new(self.joining_by_sorting(), rows.logical_plan().clone()))
    }

    /// Returns the cluster that runs plans, if there is one.
    fn cluster(&self) -> Option<Arc<dyn Cluster>> {
        cluster_of(self.session.state_ref().read().config())
    }

    /// Returns the number of bytes that operators may reserve, if there is a limit.
    fn memory(&self) -> Option<usize> {
        match self.session.runtime_env().memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the session state for writing tables, for which a second try is possible.
    fn hashing(&self) -> SessionState {
        match self.memory() {
            Some(_) => bounded(self.session.state()),
            None => self.session.state(),
        }
    }

    /// Returns the session state for joins that sort their inputs, which can spill, and do not hash one of them, which
    /// cannot spill.
    fn joining_by_sorting(&self) -> SessionState {
        let mut state = bounded(with_rule(self.session.state(), SinglePartitionSortMerge));
        let options = state.config_mut().options_mut();
        options.optimizer.prefer_hash_join = false;
        // With one partition DataFusion plans hash joins, whatever is preferred.
        options.execution.target_partitions = options.execution.target_partitions.max(2);
        state
    }

    /// Returns the key of the table that a statement makes, if it depends only on the statement, the settings, and
    /// tables that have keys.
    async fn key(&self, finished: &StageCache, statement: &Statement) -> Result<Option<Key>> {
        let state = self.session.state();
        let Some(query) = query_of(statement).filter(|query| !varies(query, &state)) else { return Ok(None) };
        let mut tables = Vec::new();
        for table in state.resolve_table_references(&Statement::Statement(Box::new(query)))? {
            // Named files are looked for once, when the statement is planned.
            if !self.session.table_exist(table.clone()).is_ok_and(|exists| exists) {
                return Ok(None);
            }
            tables.push(self.session.table_provider(table).await?);
        }
        let statement = statement.to_string();
        Ok(finished.key([statement.as_str(), &settings(&state)], &tables))
    }

    /// Writes the rows of a table to the folder and registers the table. Takes the rows from an earlier run that made
    /// the same table. A table that it replaces stays until then.
    async fn materialise(&self, table: CreateMemoryTable, key: Option<Key>) -> Result<(u64, Counters)> {
        if self.cluster().is_some() {
            return self.materialise_there(table, key).await;
        }
        let CreateMemoryTable { name, input: plan, or_replace, .. } = table;
        refuse_same_names(plan.schema().as_arrow())?;
        let plan = plan.as_ref();
        let (folder, table) = match (&self.finished, key) {
            (Some(finished), Some(key)) => match finished.take(key)? {
                Some((folder, noted)) => (folder, Table::of_json(&noted["noted"])),
                None => {
                    let staged = finished.begin(key)?;
                    let table = self.write(plan, staged.path()).await?;
                    (finished.keep(key, staged, &table.to_json())?, table)
                }
            },
            _ => {
                let folder = tempfile::tempdir_in(self.folder.path())?.keep();
                let table = self.write(plan, &folder).await?;
                (folder, table)
            }
        };
        self.longest_list.fetch_max(table.longest_list, Ordering::Relaxed);
        let url = Address::url_of(&folder, true)?;
        if or_replace {
            // Under another name first, since the command can be cancelled while files are listed.
            let listed = TableReference::bare(url.as_str());
            self.session.register_parquet(listed.clone(), url.as_str(), ParquetReadOptions::default()).await?;
            let made = self.session.deregister_table(listed)?.context("internal error: a table is gone")?;
            self.session.deregister_table(name.clone())?;
            self.session.register_table(name, made)?;
        } else {
            self.session.register_parquet(name, url.as_str(), ParquetReadOptions::default()).await?;
        }
        Ok((table.rows, table.counters))
    }

    /// Does the same on a cluster, whose machines write the rows to a folder that all of them reach.
    async fn materialise_there(&self, table: CreateMemoryTable, key: Option<Key>) -> Result<(u64, Counters)> {
        let CreateMemoryTable { name, input: plan, or_replace, .. } = table;
        refuse_same_names(plan.schema().as_arrow())?;
        let Some(shared) = self.finished.as_ref().and_then(StageCache::shared_folder) else {
            bail!(
                "on a cluster the tables between statements need a place that all machines reach: name a folder of a store with `tables`"
            );
        };
        // A table without a key belongs to this run alone.
        let in_folder = key.map_or_else(|| format!("{:016x}", RandomState::new().hash_one(name.table())), name_of);
        let found = if key.is_some() { shared.take(&in_folder).await? } else { None };
        let schema = Arc::clone(plan.schema().inner());
        let parts = match found {
            Some(found) => found,
            None => {
                let made = self.write_parts(plan.as_ref(), shared.of_table(&in_folder)).await?;
                shared.keep(&in_folder, &made).await?;
                made
            }
        };
        let mut written = Table::default();
        parts.iter().for_each(|part| written.add((part.rows, part.longest_list)));
        self.longest_list.fetch_max(written.longest_list, Ordering::Relaxed);
        let state = self.session.state();
        let made: Arc<dyn TableProvider> = match Found::at(&shared.files(&in_folder, &parts), &state).await? {
            Some(found) => Arc::new(found.parquet_table(&self.session).await?),
            // There are no rows.
            None => Arc::new(EmptyTable::new(schema)),
        };
        if or_replace {
            self.session.deregister_table(name.clone())?;
        }
        self.session.register_table(name, made)?;
        Ok((written.rows, written.counters))
    }

    /// Writes the rows of a plan into a folder, on a cluster.
    async fn write_parts(&self, plan: &LogicalPlan, folder: String) -> Result<Vec<Part>> {
        let frame = DataFrame::new(self.session.state(), plan.clone());
        let mut context = frame.task_ctx();
        let plan = frame.create_physical_plan().await?;
        let mut joins = false;
        let written = map_sent(plan, &mut |rows| {
            joins = joins_lists(rows.as_ref());
            Arc::new(WritePartsExec::new(rows, folder.clone(), BYTES_OF_GROUPS))
        })?;
        if joins {
            context = self.in_small_batches(context);
        }
        let rows = collect(written, Arc::new(context)).await?;
        let mut parts: Vec<_> = rows.iter().flat_map(Part::of_rows).collect();
        parts.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(parts)
    }

    /// Writes the rows of a table into a folder. If memory runs out, writes them once more with joins that need less
    /// memory.
    async fn write(&self, plan: &LogicalPlan, folder: &Path) -> Result<Table> {
        match self.try_write(self.hashing(), plan, folder).await {
            Err(error) if is_out_of_memory(&error) => {
                for file in std::fs::read_dir(folder)? {
                    std::fs::remove_file(file?.path())?;
                }
                self.try_write(self.joining_by_sorting(), plan, folder).await
            }
            outcome => outcome,
        }
    }

    /// Writes the rows of a table into a folder, partition by partition.
    async fn try_write(&self, state: SessionState, plan: &LogicalPlan, folder: &Path) -> Result<Table> {
        let frame = DataFrame::new(state, plan.clone());
        let mut context = frame.task_ctx();
        let mut plan = frame.create_physical_plan().await?;
        if joins_lists(plan.as_ref()) {
            plan = gathered(plan, context.session_config().batch_size(), BYTES_OF_BATCH)?;
            context = self.in_small_batches(context);
        }
        let parts = execute_stream_partitioned(Arc::clone(&plan), Arc::new(context))?;
        let groups = self.memory().map_or(BYTES_OF_GROUPS, |bytes| BYTES_OF_GROUPS.min(bytes / 8));
        let group = (groups / parts.len().max(1)).max(1 << 20);
        let mut writers = JoinSet::new();
        for (i, rows) in parts.into_iter().enumerate() {
            let path = folder.join(format!("{i}.parquet"));
            writers.spawn(async move { write_rows_of_part(rows, &path, group).await });
        }
        let mut table = Table::default();
        while let Some(part) = writers.join_next().await {
            let part = match part.context("a writer stopped") {
                Ok(Ok(part)) => part,
                Ok(Err(error)) | Err(error) => {
                    // No writer may still use the files once this returns.
                    writers.shutdown().await;
                    return Err(error);
                }
            };
            table.add(part);
        }
        table.counters = counters(plan.as_ref());
        Ok(table)
    }

    /// Returns the context with a batch size so small that a join may copy the longest list into each row of a batch.
    fn in_small_batches(&self, context: TaskContext) -> TaskContext {
        let longest = self.longest_list.load(Ordering::Relaxed).max(1);
        let config = context.session_config().clone();
        let rows = config.batch_size().min(BYTES_OF_BATCH / longest).max(1);
        context.with_session_config(config.with_batch_size(rows))
    }
}

/// Prefix of the settings that are not options.
const OF_RUNTIME: &str = "datafusion.runtime.";

/// Returns true if a setting says where and how operators spill.
fn is_of_spills(variable: &str) -> bool {
    let of_spills = ["max_temp_directory_size", "max_spill_merge_fan_in", "temp_directory"];
    variable.strip_prefix(OF_RUNTIME).is_some_and(|name| of_spills.contains(&name))
}

/// Returns true if an operator was refused memory.
pub(crate) fn is_out_of_memory(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref()).map(DataFusionError::find_root);
    causes.any(|cause| matches!(cause, DataFusionError::ResourcesExhausted(_)))
}

/// Upper bound of the memory for the row groups of a table that are being written, in bytes.
const BYTES_OF_GROUPS: usize = 64 << 20;

/// Upper bound of the memory for the lists in a batch of a join, in bytes, unless one list alone takes more.
pub(super) const BYTES_OF_BATCH: usize = 32 << 20;

/// Returns true if an input of a join of the plan has lists: the join copies them into each row that it puts out or
/// looks at.
pub(super) fn joins_lists(plan: &dyn ExecutionPlan) -> bool {
    let has_lists = |input: &&Arc<dyn ExecutionPlan>| {
        input.schema().fields().iter().any(|field| matches!(field.data_type(), DataType::List(_)))
    };
    (plan.name().ends_with("JoinExec") && plan.children().iter().any(has_lists))
        || plan.children().into_iter().any(|child| joins_lists(child.as_ref()))
}

/// Returns the counts of the similarity joins of a plan that ran.
fn counters(plan: &dyn ExecutionPlan) -> Counters {
    let mut counters = Counters::new();
    let mut plans = vec![plan];
    while let Some(plan) = plans.pop() {
        if plan.name() == SIMILARITY_JOIN {
            for metric in plan.metrics().iter().flat_map(MetricsSet::iter) {
                *counters.entry(metric.value().name().to_string()).or_default() += metric.value().as_usize();
            }
        }
        plans.extend(plan.children().into_iter().map(Arc::as_ref));
    }
    counters
}

/// Returns the query from which a statement makes a table or a view.
fn query_of(statement: &Statement) -> Option<ast::Statement> {
    let Statement::Statement(statement) = statement else { return None };
    match statement.as_ref() {
        ast::Statement::CreateTable(table) => table.query.clone().map(ast::Statement::Query),
        ast::Statement::CreateView(view) => Some(ast::Statement::Query(view.query.clone())),
        _ => None,
    }
}

/// Returns true if a query calls a function whose result differs for each call, such as `random`, or for each run, such
/// as `now`.
fn varies(query: &ast::Statement, state: &SessionState) -> bool {
    ast::visit_expressions(query, |expr| {
        let ast::Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.0.last().and_then(|name| name.as_ident()).map(|name| name.value.to_lowercase());
        let name = name.unwrap_or_default();
        let signatures = [
            state.scalar_functions().get(&name).map(|function| function.signature()),
            state.aggregate_functions().get(&name).map(|function| function.signature()),
            state.window_functions().get(&name).map(|function| function.signature()),
        ];
        if signatures.into_iter().flatten().any(|signature| signature.volatility != Volatility::Immutable) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
    .is_break()
}

/// Prefixes of the settings that change the speed and the memory of a statement, but never its rows.
const OF_SPEED: [&str; 6] = [
    "datafusion.execution.batch_size",
    "datafusion.execution.planning_concurrency",
    "datafusion.execution.sort_",
    "datafusion.execution.target_partitions",
    // Spans say where an error is.
    "datafusion.sql_parser.collect_spans",
    "ibid.",
];

/// Returns all settings that may change the rows of a statement.
fn settings(state: &SessionState) -> String {
    let mut settings = state.config_options().entries();
    settings.retain(|setting| !OF_SPEED.iter().any(|name| setting.key.starts_with(name)));
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings.iter().map(|setting| format!("{}={:?}\n", setting.key, setting.value)).collect()
}

/// A table that was written.
#[derive(Default)]
struct Table {
    rows: u64,
    longest_list: usize,
    counters: Counters,
}

impl Table {
    /// Adds the output of one task: its rows, and the bytes of its longest list.
    fn add(&mut self, (rows, longest_list): (u64, u64)) {
        self.rows += rows;
        self.longest_list = self.longest_list.max(usize::try_from(longest_list).unwrap_or(usize::MAX));
    }

    fn to_json(&self) -> Value {
        json!({ "rows": self.rows, "longest_list": self.longest_list, "counters": self.counters })
    }

    fn of_json(json: &Value) -> Self {
        let number = |json: &Value| json.as_u64().unwrap_or_default();
        let size = |json: &Value| usize::try_from(number(json)).unwrap_or(usize::MAX);
        let counters = json["counters"].as_object().into_iter().flatten();
        Self {
            rows: number(&json["rows"]),
            longest_list: size(&json["longest_list"]),
            counters: counters.map(|(name, count)| (name.clone(), size(count))).collect(),
        }
    }
}

/// Adds the last optimizer rules of all plans with a memory limit to the state.
fn bounded(state: SessionState) -> SessionState {
    with_rule(with_rule(with_rule(state, LimitWindowMemory), CompactViews), RepartitionBackpressure)
}

/// Adds a last optimizer rule to the state.
fn with_rule(state: SessionState, rule: impl PhysicalOptimizerRule + Send + Sync + 'static) -> SessionState {
    SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rule(Arc::new(rule)).build()
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use async_trait::async_trait;
    use datafusion::catalog::{Session, TableProviderFactory};
    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::SessionConfig;

    use super::*;
    use crate::memory::pool::SharedPool;
    use crate::session;

    /// Returns a workspace with the session that `open` makes for the folder around it.
    fn workspace_of(open: impl FnOnce(&Path) -> datafusion::common::Result<SessionContext>) -> Workspace {
        let scratch = Arc::new(Scratch::try_new(None).unwrap());
        Workspace::try_new(&scratch, open(scratch.path()).unwrap(), Box::new(drop)).unwrap()
    }

    #[tokio::test]
    async fn a_join_copies_long_lists_into_few_rows_at_a_time() {
        let workspace = workspace_of(|_| session(SessionConfig::new(), Arc::default()));
        let rows_of_batch =
            || workspace.in_small_batches(TaskContext::from(&workspace.session)).session_config().batch_size();
        workspace.run("CREATE TABLE short AS SELECT value AS id, [1, 2, 3] AS set FROM range(9)").await.unwrap();
        assert_eq!(rows_of_batch(), 8192);
        workspace.run("CREATE TABLE long AS SELECT id, range(500000) AS set FROM short").await.unwrap();
        // Each list has four million bytes.
        assert_eq!(rows_of_batch(), 8);
        let plan = |sql: &'static str| async {
            workspace.session.sql(sql).await.unwrap().create_physical_plan().await.unwrap()
        };
        let joined =
            plan("SELECT coalesce(jaccard(a.set, b.set), 0) FROM long AS a JOIN short AS b ON a.id = b.id").await;
        assert!(joins_lists(joined.as_ref()));
        assert!(!joins_lists(plan("SELECT a.id FROM long AS a JOIN short AS b ON a.id = b.id").await.as_ref()));
    }

    #[tokio::test]
    async fn spills_stay_in_the_folder_whatever_is_set() {
        let workspace = workspace_of(|folder| {
            let spills =
                DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.to_path_buf()]));
            session(SessionConfig::new(), RuntimeEnvBuilder::new().with_disk_manager_builder(spills).build_arc()?)
        });
        for sql in [
            "SET datafusion.runtime.max_temp_directory_size = '3K'",
            "SET datafusion.runtime.max_spill_merge_fan_in = 7",
            "SET datafusion.runtime.metadata_cache_limit = '1M'",
        ] {
            workspace.run(sql).await.unwrap();
        }
        for (sql, reason) in [
            ("SET datafusion.runtime.temp_directory = '/'", "set TMPDIR before"),
            ("SET datafusion.runtime.max_spill_merge_fan_in = 'a'", "is a whole number"),
            ("RESET datafusion.runtime.max_temp_directory_size", "SET it to a value"),
        ] {
            let error = workspace.run(sql).await.err().unwrap();
            assert!(format!("{error:#}").contains(reason), "{error:#}");
        }
        let spills = &workspace.session.runtime_env().disk_manager;
        assert_eq!((spills.max_temp_directory_size(), spills.max_spill_merge_fan_in()), (3072, 7));
        let file = spills.create_tmp_file("a test").unwrap();
        assert!(file.path().unwrap().starts_with(workspace.folder().parent().unwrap()));
    }

    /// A factory of tables of files whose listing never ends.
    #[derive(Debug)]
    struct Endless;

    #[async_trait]
    impl TableProviderFactory for Endless {
        async fn create(
            &self,
            _: &dyn Session,
            _: &CreateExternalTable,
        ) -> datafusion::common::Result<Arc<dyn TableProvider>> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_table_stays_when_it_is_given_up_to_replace_it() {
        let workspace = workspace_of(|_| {
            let session = session(SessionConfig::new(), Arc::default())?;
            session.state_ref().write().table_factories_mut().insert("ENDLESS".to_owned(), Arc::new(Endless));
            Ok(session)
        });
        workspace.run("CREATE TABLE t AS SELECT 1 AS n").await.unwrap();
        for (sql, has_end) in [
            ("CREATE OR REPLACE EXTERNAL TABLE t STORED AS ENDLESS LOCATION 'x'", false),
            ("CREATE OR REPLACE TABLE t AS SELECT 2 AS n", true),
        ] {
            // The run is dropped at each place where it waits, one after another.
            for waits in 0.. {
                let mut run = Box::pin(workspace.run(sql));
                let mut polled = std::task::Poll::Pending;
                for _ in 0..=waits {
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                    polled = futures::poll!(&mut run).map(drop);
                    if polled.is_ready() {
                        break;
                    }
                }
                drop(run);
                assert!(workspace.session.table_exist("t").unwrap(), "{sql}, {waits}");
                if polled.is_ready() || waits == 3 && !has_end {
                    break;
                }
            }
        }
        let Outcome::Rows(rows) = workspace.run("SELECT n FROM t").await.unwrap() else { panic!("it gives no rows") };
        assert_eq!(rows.collect().await.unwrap()[0].column(0).as_primitive::<Int64Type>().value(0), 2);
    }

    #[tokio::test]
    async fn a_join_without_memory_for_its_hashes_sorts_instead() {
        sorts_instead(2).await;
    }

    #[tokio::test]
    async fn a_join_of_one_partition_without_memory_for_its_hashes_sorts_instead() {
        sorts_instead(1).await;
    }

    async fn sorts_instead(partitions: usize) {
        let workspace = workspace_of(|folder| {
            let spills =
                DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![folder.to_path_buf()]));
            let pool = Arc::new(SharedPool::new(16 << 20));
            let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).with_disk_manager_builder(spills);
            let config =
                SessionConfig::new().with_target_partitions(partitions).with_sort_spill_reservation_bytes(64 << 10);
            session(config, runtime.build_arc()?)
        });
        let numbers = "SELECT value AS id, 'number ' || value AS name FROM range(500000)";
        workspace.run(&format!("CREATE TABLE numbers AS {numbers}")).await.unwrap();
        let sql = "SELECT a.id, b.name FROM numbers AS a JOIN numbers AS b ON a.name = b.name";
        let state = workspace.session.state();
        let plan = state.create_logical_plan(sql).await.unwrap();
        let error = workspace.try_write(state, &plan, workspace.folder()).await.err().unwrap();
        assert!(is_out_of_memory(&error), "{error:#}");
        let Outcome::Done { rows, .. } = workspace.run(&format!("CREATE TABLE pairs AS {sql}")).await.unwrap() else {
            panic!("it makes no table")
        };
        assert_eq!(rows, Some(500_000));
        let Outcome::Rows(counted) = workspace.run("SELECT count(*), count(DISTINCT id) FROM pairs").await.unwrap()
        else {
            panic!("it gives no rows")
        };
        let counted = counted.collect().await.unwrap();
        let of = |column: usize| counted[0].column(column).as_primitive::<Int64Type>().value(0);
        assert_eq!((of(0), of(1)), (500_000, 500_000));
    }
}
