//! Extraction of the features of arriving documents from their texts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef, UInt64Type};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::Result as DataFusionResult;
use datafusion::dataframe::DataFrame;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use futures::stream;

use crate::live_index::{Comparison, Features, Node};
use crate::pipeline::query::{self, Parameters, Query};

/// The statements that extract the features by which documents are compared.
#[derive(Debug, Clone)]
pub(crate) struct Stages {
    pub(crate) comparison: Comparison,
    /// The statements from `arriving` to the units to compare.
    pub(crate) units: Vec<Query>,
    /// The statement from the units to the features.
    pub(crate) features: Query,
    /// The statements from `arriving` to sentences.
    pub(crate) sentences: Vec<Query>,
    pub(crate) parameters: Parameters,
}

/// The inputs of a document: its text, and its time as text.
pub(crate) type Given<'a> = (&'a str, Option<&'a str>);

/// The facts about a document from its text and its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extracted {
    /// The time of the document, in seconds since 1970, if that can be read.
    pub(crate) seconds: Option<f64>,
    pub(crate) features: Features,
    /// The hashes of its distinct sentences, ascending.
    pub(crate) sentences: Box<[u128]>,
}

/// The plans of the statements, ready to run over whatever documents arrive.
pub(crate) struct Extractor {
    session: SessionContext,
    comparison: Comparison,
    arriving: Arc<Arriving>,
    features: Arc<dyn ExecutionPlan>,
    sentences: Arc<dyn ExecutionPlan>,
    times: Arc<dyn ExecutionPlan>,
}

impl Extractor {
    /// Plans the statements in a session of one thread. The session has the table `reference` if they read it.
    pub(crate) async fn try_new(session: SessionContext, stages: &Stages) -> Result<Self> {
        let arriving = Arc::new(Arriving::default());
        let partition = Arc::clone(&arriving) as Arc<dyn PartitionStream>;
        let table = StreamingTable::try_new(Arc::clone(&arriving.schema), vec![partition])?;
        session.register_table("arriving", Arc::new(table))?;
        let planner = Planner { session: &session, parameters: &stages.parameters };
        planner.run(&stages.units).await?;
        let features = planner.plan(stages.features).await?;
        planner.run(&stages.sentences).await?;
        let sentences = planner.plan(query::CONTAINMENT_SENTENCES).await?;
        let times = planner.plan(query::STREAM_TIMES).await?;
        Ok(Self { session, comparison: stages.comparison, arriving, features, sentences, times })
    }

    /// Returns true if the features of a document depend on the documents that arrive with it.
    pub(crate) fn looks_at_others(&self) -> bool {
        let groups = |plan: &Arc<dyn ExecutionPlan>| plan.name() == "AggregateExec";
        let mut plans = vec![&self.features];
        let mut found = false;
        while let Some(plan) = plans.pop() {
            found |= groups(plan);
            plans.extend(plan.children());
        }
        found && !matches!(self.comparison, Comparison::Nodes)
    }

    /// Extracts the facts about some documents.
    pub(crate) async fn extract(&self, documents: &[Given<'_>]) -> Result<Vec<Extracted>> {
        self.arriving.set(documents)?;
        let mut extracted: Vec<_> = documents
            .iter()
            .map(|_| Extracted { seconds: None, features: self.none(), sentences: Box::default() })
            .collect();
        for batch in self.rows(&self.times).await? {
            let seconds = cast(batch.column(1), &DataType::Float64)?;
            let seconds = seconds.as_primitive::<Float64Type>();
            for (row, doc) in docs(&batch)?.enumerate() {
                extracted[doc?].seconds = seconds.is_valid(row).then(|| seconds.value(row));
            }
        }
        for batch in self.rows(&self.features).await? {
            self.take_features(&batch, &mut extracted)?;
        }
        let mut sentences = vec![Vec::new(); documents.len()];
        for batch in self.rows(&self.sentences).await? {
            let words = cast(column(&batch, "words")?, &DataType::Utf8)?;
            for (doc, words) in docs(&batch)?.zip(words.as_string::<i32>()) {
                let hash = u128::from_str_radix(words.unwrap_or_default(), 16);
                sentences[doc?].push(hash.context("a hash of 128 bits has 32 digits")?);
            }
        }
        for (extracted, mut sentences) in extracted.iter_mut().zip(sentences) {
            sentences.sort_unstable();
            extracted.sentences = sentences.into();
        }
        Ok(extracted)
    }

    fn none(&self) -> Features {
        match self.comparison {
            Comparison::Sets => Features::Set(Box::default()),
            Comparison::Sentences(_) => Features::Sentences(Vec::new()),
            Comparison::Nodes => Features::Nodes(Vec::new()),
            Comparison::Codes(_) => Features::Code(None),
        }
    }

    /// Reads features from rows of the statement.
    fn take_features(&self, batch: &RecordBatch, extracted: &mut [Extracted]) -> Result<()> {
        match self.comparison {
            Comparison::Sets | Comparison::Sentences(_) => {
                let sets = column(batch, "set")?.as_list::<i32>();
                for (row, doc) in docs(batch)?.enumerate() {
                    if sets.is_null(row) {
                        continue;
                    }
                    let set: Box<[u64]> = sets.value(row).as_primitive::<UInt64Type>().values().as_ref().into();
                    match &mut extracted[doc?].features {
                        Features::Set(features) => *features = set,
                        Features::Sentences(features) => features.push(set),
                        Features::Nodes(_) | Features::Code(_) => {}
                    }
                }
            }
            Comparison::Nodes => {
                let hashes = column(batch, "node")?.as_primitive::<UInt64Type>();
                let weights = column(batch, "weight")?.as_primitive::<Float64Type>();
                let times = cast(column(batch, "times")?, &DataType::Float64)?;
                let times = times.as_primitive::<Float64Type>();
                for (row, doc) in docs(batch)?.enumerate() {
                    if let Features::Nodes(nodes) = &mut extracted[doc?].features {
                        let (weight, times) = (weights.value(row), times.value(row));
                        nodes.push(Node { hash: hashes.value(row), weight, times });
                    }
                }
            }
            Comparison::Codes(_) => {
                let codes = column(batch, "code")?.as_primitive::<UInt64Type>();
                for (row, doc) in docs(batch)?.enumerate() {
                    extracted[doc?].features = Features::Code(codes.is_valid(row).then(|| codes.value(row)));
                }
            }
        }
        Ok(())
    }

    async fn rows(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Vec<RecordBatch>> {
        // After a run, a plan keeps its counters, and the values of its subqueries.
        let plan = reset_plan_states(Arc::clone(plan))?;
        Ok(collect(plan, self.session.task_ctx()).await?)
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef> {
    batch.column_by_name(name).with_context(|| format!("internal error: no column {name}; please report it"))
}

/// Returns the number of the document of each row.
fn docs(batch: &RecordBatch) -> Result<impl Iterator<Item = Result<usize>>> {
    let docs = column(batch, "doc")?.as_primitive::<Int64Type>();
    Ok(docs.values().iter().map(|doc| Ok(usize::try_from(*doc)?)))
}

struct Planner<'a> {
    session: &'a SessionContext,
    parameters: &'a Parameters,
}

impl Planner<'_> {
    async fn run(&self, queries: &[Query]) -> Result<()> {
        for query in queries {
            let sql = self.parameters.bind(query.sql)?;
            self.session.sql(&sql).await.with_context(|| format!("in queries/{}", query.file))?;
        }
        Ok(())
    }

    /// Returns the plan of the rows that a statement returns, or puts into a table or a view.
    async fn plan(&self, query: Query) -> Result<Arc<dyn ExecutionPlan>> {
        let failed = || format!("in queries/{}", query.file);
        let sql = self.parameters.bind(query.sql)?;
        let state = self.session.state();
        let rows = match state.create_logical_plan(&sql).await.with_context(failed)? {
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(table)) => Arc::unwrap_or_clone(table.input),
            LogicalPlan::Ddl(DdlStatement::CreateView(view)) => Arc::unwrap_or_clone(view.input),
            LogicalPlan::Ddl(_) => bail!("internal error: queries/{} gives no rows; please report it", query.file),
            rows => rows,
        };
        DataFrame::new(state, rows).create_physical_plan().await.with_context(failed)
    }
}

/// The table `arriving`: the documents that are being looked at.
#[derive(Debug)]
struct Arriving {
    schema: SchemaRef,
    documents: Mutex<RecordBatch>,
}

impl Default for Arriving {
    fn default() -> Self {
        let field = |name, data_type, is_nullable| Field::new(name, data_type, is_nullable);
        let schema = Arc::new(Schema::new(vec![
            field("doc", DataType::Int64, false),
            field("text", DataType::Utf8, false),
            field("time", DataType::Utf8, true),
        ]));
        Self { documents: Mutex::new(RecordBatch::new_empty(Arc::clone(&schema))), schema }
    }
}

impl Arriving {
    fn documents(&self) -> MutexGuard<'_, RecordBatch> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, documents: &[Given<'_>]) -> Result<()> {
        let columns: [ArrayRef; 3] = [
            Arc::new((0i64..).take(documents.len()).collect::<Int64Array>()),
            Arc::new(StringArray::from_iter_values(documents.iter().map(|(text, _)| text))),
            Arc::new(documents.iter().map(|(_, time)| *time).collect::<StringArray>()),
        ];
        *self.documents() = RecordBatch::try_new(Arc::clone(&self.schema), columns.into())?;
        Ok(())
    }
}

impl PartitionStream for Arriving {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batch: DataFusionResult<RecordBatch> = Ok(self.documents().clone());
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream::iter([batch])))
    }
}
