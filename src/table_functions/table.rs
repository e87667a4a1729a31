use std::sync::Arc;
use std::{fmt, mem};

use anyhow::{Context, bail};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::TableType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::Expr;
use tokio::sync::OnceCell;

use super::arguments::Arguments;
use super::call::Call;
use super::exec::MethodExec;
use super::planner::Hooks;
use crate::engine::{Engine, WeakEngine};
use crate::pipeline::Workspace;

/// A call of a method, which runs when it is first scanned. It keeps no engine alive, as a view in the session of an
/// engine may hold it.
pub(super) struct MethodCall {
    written: String,
    engine: WeakEngine,
    method: &'static str,
    arguments: Arguments,
    table: &'static str,
    schema: SchemaRef,
    hooks: Arc<dyn Hooks>,
    found: OnceCell<(Workspace, DataFrame)>,
}

impl fmt::Debug for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl MethodCall {
    /// Reads the arguments of a method. Returns an error if they are wrong.
    pub(super) fn try_new(
        written: String,
        engine: &Engine,
        method: &'static str,
        arguments: Arguments,
        hooks: Arc<dyn Hooks>,
    ) -> anyhow::Result<Self> {
        let Call { table, schema, .. } = Call::of(engine, method, arguments.clone())?;
        Ok(Self { written, engine: engine.weak(), method, arguments, table, schema, hooks, found: OnceCell::new() })
    }

    /// Returns the call as it was written, without secrets.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn has_run(&self) -> bool {
        self.found.initialized()
    }

    /// Runs the call unless it has run, and returns its rows. They exist as long as the call.
    pub(super) async fn rows(&self) -> anyhow::Result<DataFrame> {
        let found =
            self.found.get_or_try_init(|| async { self.run().await.with_context(|| format!("in {}", self.written)) });
        found.await.map(|(_, rows)| rows.clone())
    }

    async fn run(&self) -> anyhow::Result<(Workspace, DataFrame)> {
        let Some(engine) = self.engine.upgrade() else { bail!("the engine of this session is gone") };
        let mut call = Call::of(&engine, self.method, self.arguments.clone())?;
        let files = mem::take(&mut call.files);
        files.iter().try_for_each(|(_, file)| self.hooks.take_place(file, engine.stores()))?;
        let found = call.run(self.hooks.settings()).await?;
        let mut staged = Vec::new();
        for (table, file) in files {
            staged.push(found.stage(&table, &file).await?.into_file());
        }
        for file in self.hooks.take(found.summary(), staged)? {
            file.commit_unless_dropped(engine.stores()).await?;
        }
        Ok(found.into_table(self.table)?)
    }
}

/// A call of a method, as a table.
#[derive(Debug)]
pub(super) struct MethodTable(pub(super) Arc<MethodCall>);

#[async_trait]
impl TableProvider for MethodTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.0.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(MethodExec::try_new(Arc::clone(&self.0), projection)?))
    }
}
