use std::fmt;
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::TableType;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::Expr;
use tokio::sync::OnceCell;

use super::call::Call;
use super::exec::MethodExec;
use super::planner::Hooks;
use crate::engine::WeakEngine;
use crate::export::{Form, Format};
use crate::methods::Found;

/// A call of a method, which runs when it is first scanned.
pub(super) struct MethodCall {
    written: String,
    engine: WeakEngine,
    call: Call,
    hooks: Arc<dyn Hooks>,
    found: OnceCell<Arc<Found>>,
}

impl fmt::Debug for MethodCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl MethodCall {
    pub(super) fn new(written: String, engine: WeakEngine, call: Call, hooks: Arc<dyn Hooks>) -> Self {
        Self { written, engine, call, hooks, found: OnceCell::new() }
    }

    /// Returns the call as it was written, without secrets.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.call.schema
    }

    /// Returns the name of the table of what it finds that the rows are of.
    pub(super) fn table(&self) -> &'static str {
        self.call.table
    }

    pub(super) fn has_run(&self) -> bool {
        self.found.initialized()
    }

    /// Returns what it finds, once it has run.
    pub(super) async fn found(&self) -> anyhow::Result<Arc<Found>> {
        let found = self.found.get_or_try_init(|| async {
            self.run().await.map(Arc::new).with_context(|| format!("in {}", self.written))
        });
        found.await.map(Arc::clone)
    }

    async fn run(&self) -> anyhow::Result<Found> {
        let Some(engine) = self.engine.upgrade() else { bail!("the engine of this session is gone") };
        self.call.files.iter().try_for_each(|(_, file)| self.hooks.take_place(file))?;
        let found = (self.call.run)(engine, self.hooks.settings()).await?;
        let mut staged = Vec::new();
        for (table, file) in &self.call.files {
            staged.push(found.stage_as(table, file, Form::of(Format::of_file(file)?)).await?.into_file());
        }
        self.hooks.take(found.summary(), staged)?;
        Ok(found)
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
