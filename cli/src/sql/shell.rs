//! The shell, which runs statements and commands from a terminal or from scripts.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::called::Called;
use super::commands::{self, Command, Described};
use super::damaged::{damaged_of_panic, name_damaged};
use super::mistakes::{explained, nearest_files, placed};
use super::names::Names;
use super::script::{Piece, Pieces, Place, too_deep};
use super::secrets::{names_secret, take_urls};
use crate::Ending;
use crate::options::{OutputOptions, Places, RunOptions};
use crate::run::{Run, Stdout, describe, is_of_closed_stdout, say, stdout_is_closed};
use ibid::Summary;
use ibid::program::Outcome;
use ibid::program::Parameters;
use ibid::program::check_place;
use ibid::program::export::{Format, StagedFile};
use ibid::program::grouped;
use ibid::program::store::Source;
use ibid::program::store::Stores;
use ibid::program::table_functions;
use ibid::program::{fix_statement, settle_using_columns};

/// The byte order mark that some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The maximum depth of scripts that include scripts.
const DEEPEST: usize = 16;

/// A session in which statements and commands run one after another.
pub(super) struct Shell {
    run: Run,
    options: &'static RunOptions,
    /// True at a terminal, where the outcome of each statement is printed.
    is_interactive: bool,
    called: Arc<Called>,
    state: Mutex<State>,
}

/// The state that statements and commands change.
struct State {
    parameters: Parameters,
    /// The parameters that statements have used.
    used: Parameters,
    writing: OutputOptions,
    /// The file that `\o` sets for the next result.
    next_output: Option<PathBuf>,
    says_time: bool,
    results: usize,
    /// The staged result for --output, until all statements have run.
    result: Option<StagedFile>,
    /// The columns of the tables and files that were read.
    columns: BTreeSet<String>,
    has_ended: bool,
}

impl Shell {
    pub(super) fn new(
        run: Run,
        options: &'static RunOptions,
        parameters: Parameters,
        writing: OutputOptions,
        places: Places,
        is_interactive: bool,
    ) -> Result<Self> {
        // Errors say where in the statement they are.
        let session = run.workspace.session.state_ref();
        session.write().config_mut().options_mut().sql_parser.collect_spans = true;
        let writing = OutputOptions { counts_itself: is_interactive, ..writing };
        let state = State {
            parameters,
            used: Parameters::default(),
            writing,
            next_output: None,
            says_time: is_interactive,
            results: 0,
            result: None,
            columns: BTreeSet::new(),
            has_ended: false,
        };
        let called = Arc::new(Called::new(run.talk(), options, places, is_interactive));
        table_functions::register(&run.workspace.session, run.engine.weak(), Arc::clone(&called) as _)?;
        Ok(Self { run, options, is_interactive, called, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true once the shell was asked to end.
    pub(super) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    /// Commits the result of --output, after all statements have succeeded.
    pub(super) fn commit(&self) -> Result<()> {
        let mut state = self.state();
        if let Some(path) = &state.next_output {
            bail!("{}", no_rows(path));
        }
        match (state.result.take(), &state.writing.output) {
            (Some(result), _) => result.commit(),
            (None, Some(path)) => bail!("{}", no_rows(path)),
            (None, None) => Ok(()),
        }
    }

    /// Returns the summary of all statements.
    pub(super) fn summary(&self) -> Summary {
        self.run.summary_of(Vec::new(), None)
    }

    /// Returns the stores of the engine.
    pub(super) fn stores(&self) -> &Arc<Stores> {
        self.run.engine.stores()
    }

    /// Returns the outcome of the command.
    pub(super) fn ending(&self) -> Ending {
        if self.called.has_left_out() { Ending::NotStrict } else { Ending::Done }
    }

    /// Returns the names that statements can use now.
    pub(super) async fn names(&self) -> Names {
        let columns = self.state().columns.clone();
        Names::with_columns(&self.run.workspace.session, &columns).await
    }

    /// Runs a script up to the first piece that fails. `from` is the name of the script, or empty for typed text.
    pub(super) fn run_script<'a>(&'a self, from: &'a str, script: &'a str, depth: usize) -> BoxFuture<'a, Result<()>> {
        async move {
            let script = script.strip_prefix(BYTE_ORDER_MARK).unwrap_or(script);
            for piece in Pieces::of(script) {
                if self.has_ended() {
                    break;
                }
                let outcome = match piece {
                    Ok(piece) if piece.is_command => self.command(from, &piece, depth).await,
                    Ok(piece) => self.statement(from, &piece).await,
                    Err(error) => Err(placed(&error.message, script, from, Place::START, Some(error.at))),
                };
                match outcome {
                    // The reader of standard output closed it, but later results that go to files are still wanted.
                    Err(error) if is_of_closed_stdout(&error) => {}
                    outcome => outcome?,
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// Runs a file of statements.
    pub(super) async fn run_file(&self, path: &Path, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            bail!("{} is included too deep; does it include itself?", path.display());
        }
        let read = Source::open(path, self.run.engine.stores()).and_then(Source::read_all);
        let script = read.and_then(|bytes| text_of(bytes.into())).map_err(|error| {
            let near = if path.exists() { None } else { path.to_str().and_then(nearest_files) };
            match near {
                Some(near) => anyhow!("cannot read {}: {error}. {near}", path.display()),
                None => anyhow::Error::new(error).context(format!("cannot read {}", path.display())),
            }
        })?;
        {
            let state = self.state();
            // The result of --output is committed at the end and must not overwrite the script.
            let mut output = Places::default();
            state.writing.output.iter().try_for_each(|file| output.take(file))?;
            output.refuse(path)?;
            self.called.keep(path)?;
        }
        self.run_script(&path.display().to_string(), &script, depth).await
    }

    async fn statement(&self, from: &str, piece: &Piece<'_>) -> Result<()> {
        let bound = {
            let State { parameters, used, .. } = &mut *self.state();
            parameters.bind_noting(piece.text, used)
        };
        let sql = bound.as_deref().unwrap_or(piece.text).to_owned();
        let outcome = match bound {
            Ok(sql) => self.run_statement(&sql).await,
            Err(error) => Err(error),
        };
        outcome.map_err(|error| {
            let names = Names::of(&self.run.workspace.session);
            explained(&error, &names, &sql, from, piece.at)
        })
    }

    async fn run_statement(&self, sql: &str) -> Result<()> {
        let began = Instant::now();
        let workspace = &self.run.workspace;
        if let Some(at) = too_deep(sql) {
            bail!(
                "from line {} on, column {}, it is nested too deep to be planned: put many conditions or values into a list (IN) or \
                 a table, and many tables into one by a glob or in several statements",
                at.line,
                at.column
            );
        }
        let Some(mut statement) = workspace.statements(sql)?.pop_front() else { return Ok(()) };
        fix_statement(&mut statement, &workspace.session)?;
        let rows = self.run_delivering(statement).await?;
        self.say_outcome(rows, began.elapsed());
        Ok(())
    }

    /// Runs a statement. If it succeeds, commits the further files of the methods that it calls.
    async fn run_delivering(&self, statement: Statement) -> Result<Option<u64>> {
        let is_explained = is_explained(&statement);
        self.called.begin_statement(self.state().next_output.as_deref())?;
        let outcome = self.run_guarded(statement).await;
        let found = self.called.files();
        match &outcome {
            // An explained statement writes nothing.
            _ if is_explained => {}
            Err(error) if !is_of_closed_stdout(error) => {}
            _ => found.into_iter().try_for_each(StagedFile::commit)?,
        }
        outcome
    }

    /// Runs a statement. If a file that it reads is damaged, the error names the file.
    async fn run_guarded(&self, mut statement: Statement) -> Result<Option<u64>> {
        let workspace = &self.run.workspace;
        let hidden = self.hide_secrets(&mut statement).await?;
        let ran = self.run_planned(statement.clone());
        let outcome = match AssertUnwindSafe(ran).catch_unwind().await {
            Ok(Err(error)) => Err(name_damaged(error, statement, &workspace.session.state()).await),
            Ok(outcome) => outcome,
            Err(panic) => match damaged_of_panic(statement, &workspace.session.state()).await {
                Some(damaged) => Err(damaged),
                None => resume_unwind(panic),
            },
        };
        for table in hidden {
            workspace.session.deregister_table(bare(&table))?;
        }
        outcome
    }

    /// Runs a statement, and returns the number of rows that it returned or wrote.
    async fn run_planned(&self, mut statement: Statement) -> Result<Option<u64>> {
        settle_using_columns(&mut statement)?;
        if let Some(columns) = self.columns_of_file(&statement).await? {
            return self.write(columns).await.map(Some);
        }
        match self.run.workspace.run_statement(statement).await? {
            Outcome::Rows(frame) => {
                // If the query of an EXPLAIN cannot be planned, that is an error, not a row of the plan.
                for query in explained_queries(frame.logical_plan()) {
                    self.run.workspace.session.state().create_physical_plan(query).await?;
                }
                self.note_columns(frame.logical_plan());
                self.write(*frame).await.map(Some)
            }
            Outcome::Done { rows, .. } => Ok(rows),
        }
    }

    /// Returns the rows of SHOW COLUMNS for a file, which is not in the information schema, and for a table whose name
    /// contains a quote mark, which SHOW COLUMNS would parse as SQL.
    async fn columns_of_file(&self, statement: &Statement) -> Result<Option<DataFrame>> {
        let Statement::Statement(statement) = statement else { return Ok(None) };
        let ast::Statement::ShowColumns { show_options, extended, full } = statement.as_ref() else { return Ok(None) };
        // Statements with other clauses are not handled here.
        let ast::ShowStatementOptions {
            show_in: Some(ast::ShowStatementIn { parent_type: None, parent_name: Some(name), .. }),
            starts_with: None,
            limit: None,
            limit_from: None,
            filter_position: None,
        } = show_options
        else {
            return Ok(None);
        };
        let [name] = name.0.as_slice() else { return Ok(None) };
        let Some(name) = name.as_ident().filter(|name| name.quote_style.is_some()) else { return Ok(None) };
        let (session, file) = (&self.run.workspace.session, bare(&name.value));
        if session.table_exist(file.clone())? && !name.value.contains('\'') {
            return Ok(None);
        }
        // If the name is no file either, the statement itself reports the error.
        let Ok(table) = session.table_provider(file.clone()).await else { return Ok(None) };
        let apart = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
        apart.register_table(file, table)?;
        let columns = if *extended || *full {
            "*"
        } else {
            "table_catalog, table_schema, table_name, column_name, data_type, is_nullable"
        };
        Ok(Some(apart.sql(&format!("SELECT {columns} FROM information_schema.columns")).await?))
    }

    /// Registers objects whose URLs have secrets under names without secrets, because plans show the names. Returns the
    /// names.
    async fn hide_secrets(&self, statement: &mut Statement) -> Result<Vec<String>> {
        let session = &self.run.workspace.session;
        let mut tables = Vec::new();
        for (url, name) in take_urls(statement) {
            let table = session.table_provider(bare(&url)).await?;
            // An interrupted statement may have left a table with this name.
            session.deregister_table(bare(&name))?;
            session.register_table(bare(&name), table)?;
            tables.push(name);
        }
        Ok(tables)
    }

    /// Notes the columns of the tables that a query reads, for completion.
    fn note_columns(&self, plan: &LogicalPlan) {
        if !self.is_interactive {
            return;
        }
        let mut state = self.state();
        let noted = plan.apply(|part| {
            if let LogicalPlan::TableScan(scan) = part {
                state.columns.extend(scan.source.schema().fields().iter().map(|field| field.name().clone()));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        debug_assert!(noted.is_ok(), "nothing here fails");
    }

    /// Returns the parameters to note in a result: those that statements have used so far, without secrets.
    fn noted(&self) -> Parameters {
        self.state().used.clone().without(names_secret)
    }

    /// Writes a result and returns its number of rows.
    async fn write(&self, rows: DataFrame) -> Result<u64> {
        let next = self.state().next_output.clone();
        if let Some(path) = next {
            if !self.is_interactive {
                self.called.take(&path)?;
            }
            let writing = self.state().writing.beside(&path);
            let count = self.run.write_with(rows, &writing, &self.noted()).await?;
            // The file of a statement that fails or is interrupted stays set for the next result.
            self.state().next_output = None;
            return Ok(count);
        }
        let (writing, is_first) = {
            let mut state = self.state();
            state.results += 1;
            (state.writing.clone(), state.results == 1)
        };
        let form = writing.form()?;
        match &writing.output {
            Some(_) if !is_first => {
                bail!("there is more than one result, and --output can hold one; take the queries apart")
            }
            None if !is_first && form.format == Format::Parquet => {
                bail!("there is more than one result, and a Parquet file can hold one; take the queries apart")
            }
            Some(path) => {
                let (staged, count) = self.run.stage(rows, path, form, &self.noted()).await?;
                self.state().result = Some(staged);
                Ok(count)
            }
            None => self.print(rows, &writing).await,
        }
    }

    /// Writes rows to standard output, unless it was closed.
    async fn print(&self, rows: DataFrame, writing: &OutputOptions) -> Result<u64> {
        if stdout_is_closed() { Ok(0) } else { self.run.write_with(rows, writing, &self.noted()).await }
    }

    fn say_outcome(&self, rows: Option<u64>, took: Duration) {
        let says_time = self.state().says_time;
        if self.options.quiet || !(self.is_interactive || says_time) {
            return;
        }
        let rows = match rows {
            Some(1) => "1 row".to_owned(),
            Some(rows) => format!("{} rows", grouped(rows)),
            None => "done".to_owned(),
        };
        let took = if says_time { format!(" ({:.3} s)", took.as_secs_f64()) } else { String::new() };
        // There is nowhere left to say it if standard error is gone.
        let _ = writeln!(std::io::stderr(), "{rows}{took}");
    }

    async fn command(&self, from: &str, piece: &Piece<'_>, depth: usize) -> Result<()> {
        // An error in an included script already names its place in that script.
        if let Ok(Command::Include(path)) = Command::of(piece.text) {
            let missing = !path.exists();
            return self
                .run_file(&path, depth + 1)
                .await
                .map_err(|error| if missing { self.explain(&error, from, piece) } else { error });
        }
        self.run_command(piece.text).await.map_err(|error| self.explain(&error, from, piece))
    }

    fn explain(&self, error: &anyhow::Error, from: &str, piece: &Piece<'_>) -> anyhow::Error {
        explained(error, &Names::of(&self.run.workspace.session), piece.text, from, piece.at)
    }

    async fn run_command(&self, line: &str) -> Result<()> {
        let session = &self.run.workspace.session;
        match Command::of(line)? {
            Command::Tables => self.write_listed(commands::tables(session).await?).await?,
            Command::Columns(name) => self.write_listed(commands::columns(session, &name).await?).await?,
            Command::Functions(pattern) => match commands::functions(session, pattern.as_deref())? {
                Described::Rows(rows) => self.write_listed(rows).await?,
                Described::Text(text) => print_text(&text)?,
            },
            Command::Parameters => {
                let parameters = self.state().parameters.clone();
                self.write_listed(commands::parameters(session, parameters.iter())?).await?;
            }
            Command::Output(path) => {
                let mut state = self.state();
                let output = state.writing.beside(&path);
                output.form()?;
                check_place(&path, self.run.engine.stores())?;
                if let Some(before) = state.next_output.replace(path).filter(|_| !self.is_interactive) {
                    bail!("{}", no_rows(&before));
                }
            }
            Command::Format(format) => self.state().writing.format = Some(format),
            Command::Timing(says_time) => self.state().says_time = says_time,
            Command::Set(name, value) => self.state().parameters.set(&name, value),
            Command::Help => print_text(commands::HELP)?,
            Command::Quit => self.state().has_ended = true,
            Command::Include(path) => {
                bail!("internal error: {} is included elsewhere; please report it", path.display())
            }
        }
        Ok(())
    }

    /// Prints the rows that a command lists.
    async fn write_listed(&self, rows: DataFrame) -> Result<()> {
        let writing = OutputOptions { output: None, ..self.state().writing.clone() };
        self.print(rows, &writing).await.map(drop)
    }

    /// Prints the error of a typed statement or command.
    pub(super) fn say_error(&self, error: &anyhow::Error) {
        say(&describe(error));
    }
}

/// Decodes a script, which must be UTF-8.
pub(super) fn text_of(script: Vec<u8>) -> io::Result<String> {
    String::from_utf8(script).map_err(|error| {
        let (at, script) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let line = script[..at].split(|byte| *byte == b'\n').count();
        let said = format!(
            "line {line}, byte {at}: byte 0x{:02X} is not valid UTF-8; convert it to UTF-8 (iconv -t UTF-8)",
            script[at]
        );
        io::Error::new(io::ErrorKind::InvalidData, said)
    })
}

/// Returns the error for an output file that got no result.
fn no_rows(path: &Path) -> String {
    format!("no statement gives rows for {}; leave out --output, or \\o", path.display())
}

/// Writes a text to standard output, unless it was closed.
fn print_text(text: &str) -> io::Result<()> {
    if stdout_is_closed() { Ok(()) } else { Stdout.write_all(text.as_bytes()) }
}

/// Returns a reference to a table by its name alone, even if the name is no plain word.
fn bare(table: &str) -> TableReference {
    TableReference::bare(table)
}

/// Returns true if a statement is an EXPLAIN, or prepares one.
fn is_explained(statement: &Statement) -> bool {
    match statement {
        Statement::Explain(_) => true,
        Statement::Statement(statement) => match statement.as_ref() {
            ast::Statement::Explain { .. } => true,
            ast::Statement::Prepare { statement, .. } => matches!(**statement, ast::Statement::Explain { .. }),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the queries whose plans an EXPLAIN shows.
fn explained_queries(plan: &LogicalPlan) -> Vec<&LogicalPlan> {
    let LogicalPlan::Explain(explained) = plan else { return Vec::new() };
    match explained.plan.as_ref() {
        LogicalPlan::Statement(_) => Vec::new(),
        makes @ LogicalPlan::Ddl(_) => makes.inputs(),
        query => vec![query],
    }
}
