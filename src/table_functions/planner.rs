use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use datafusion::catalog::default_table_source::provider_as_source;
use datafusion::common::{DataFusionError, Result, exec_err};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::TableFactor;

use super::arguments::Arguments;
use super::call::NAMES;
use super::table::{MethodCall, MethodTable};
use crate::engine::WeakEngine;
use crate::export::StagedFile;
use crate::index::stored::check_place;
use crate::run::{Settings, Summary};
use crate::store::{Stores, redacted};

/// Callbacks around the run of a call.
pub trait Hooks: Send + Sync {
    /// Returns how calls run.
    fn settings(&self) -> Settings {
        Settings::default()
    }

    /// Announces that a further table goes to a file. An error refuses the run.
    fn take_place(&self, file: &Path, stores: &Arc<Stores>) -> anyhow::Result<()> {
        check_place(file, stores)
    }

    /// Receives the summary and the staged files of a call that has run. Returns the files to commit at once.
    fn take(&self, summary: &Summary, files: Vec<StagedFile>) -> anyhow::Result<Vec<StagedFile>> {
        let _ = summary;
        Ok(files)
    }
}

/// Hooks that report nothing; files are committed at once.
pub(crate) struct NoHooks;

impl Hooks for NoHooks {}

/// Makes the methods of an engine table functions of a session.
pub fn register(session: &SessionContext, engine: WeakEngine, hooks: Arc<dyn Hooks>) -> Result<()> {
    let planner = MethodPlanner { engine, hooks, known: Mutex::default() };
    session.state_ref().write().register_relation_planner(Arc::new(planner))
}

/// The planner of calls of methods in FROM, with arguments by name.
struct MethodPlanner {
    engine: WeakEngine,
    hooks: Arc<dyn Hooks>,
    /// The calls by their text, as long as a plan has them and they have not run.
    known: Mutex<Vec<(String, Weak<MethodCall>)>>,
}

impl fmt::Debug for MethodPlanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MethodPlanner")
    }
}

impl MethodPlanner {
    /// Returns the table of a call. Equal calls share one.
    fn table(&self, method: &'static str, written: &str, arguments: Arguments) -> Result<Arc<MethodTable>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A call that has run may be out of date.
        known.retain(|(_, call)| call.upgrade().is_some_and(|call| !call.has_run()));
        if let Some(call) = known.iter().find(|(call, _)| call == written).and_then(|(_, call)| call.upgrade()) {
            return Ok(Arc::new(MethodTable(call)));
        }
        let Some(engine) = self.engine.upgrade() else {
            return exec_err!("the engine of this session is gone");
        };
        let call = MethodCall::try_new(redacted(written), &engine, method, arguments, Arc::clone(&self.hooks));
        let call = Arc::new(call.map_err(|error| DataFusionError::from(crate::Error::from(error)))?);
        known.push((written.to_owned(), Arc::downgrade(&call)));
        Ok(Arc::new(MethodTable(call)))
    }
}

impl RelationPlanner for MethodPlanner {
    fn plan_relation(&self, relation: TableFactor, _: &mut dyn RelationPlannerContext) -> Result<RelationPlanning> {
        let (name, alias, arguments) = match &relation {
            TableFactor::Table { name, alias, args: Some(arguments), .. } => (name, alias, &arguments.args),
            TableFactor::Function { name, alias, args, .. } => (name, alias, args),
            _ => return Ok(RelationPlanning::Original(Box::new(relation))),
        };
        let method = match name.0.as_slice() {
            [part] => part.as_ident().map(|ident| ident.value.to_lowercase()),
            _ => None,
        };
        let Some(method) = method.and_then(|method| NAMES.into_iter().find(|name| *name == method)) else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        // The same call may have another alias. LATERAL changes nothing, as a call uses no column of another table.
        let written = relation.to_string();
        let written = written.strip_prefix("LATERAL ").unwrap_or(&written);
        let written = match alias {
            Some(alias) => written.trim_end_matches(&format!(" {alias}")),
            None => written,
        };
        let in_call = |error: DataFusionError| error.context(format!("in {method}(…)"));
        let arguments = Arguments::of(arguments).map_err(in_call)?;
        let table = self.table(method, written, arguments).map_err(in_call)?;
        let plan = LogicalPlanBuilder::scan(method, provider_as_source(table), None)?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias.clone()))))
    }
}
