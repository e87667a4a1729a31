//! DF-22946 (open) for memory; no upstream issue found for views: `WindowAggExec` holds all rows of a partition without a
//! reservation, and `BoundedWindowAggExec` keeps every buffer that a string view ever pointed into. Remove when both are fixed;
//! test datafusion_reserves_nothing_for_a_window_of_all_rows fails then.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use futures::StreamExt;

use super::map_batches::MapBatchesExec;

/// Copies string views of window input into LargeUtf8, and reserves memory for windows that hold whole partitions.
#[derive(Debug)]
pub(crate) struct LimitWindowMemory;

impl PhysicalOptimizerRule for LimitWindowMemory {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if let Some(window) = plan.downcast_ref::<BoundedWindowAggExec>() {
                let plain = with_plain_texts(&window.input().schema(), window.window_expr());
                return Ok(if plain == window.input().schema() {
                    Transformed::no(plan)
                } else {
                    Transformed::yes(over_plain_texts(plan, plain)?)
                });
            }
            if plan.is::<WindowAggExec>() {
                let input = held(Arc::clone(plan.children()[0]));
                let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
                return Ok(Transformed::yes(plan.replace_children(vec![input], options)?));
            }
            Ok(Transformed::no(plan))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "window_memory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the input schema of windows with plain texts instead of views, except for columns that a function uses: its
/// result has the type of its argument.
fn with_plain_texts(schema: &Schema, windows: &[Arc<dyn WindowExpr>]) -> SchemaRef {
    let used = |column: usize| {
        windows.iter().any(|window| {
            let all = window.all_expressions();
            let keys = all.partition_by_exprs.iter().chain(&all.order_by_exprs).filter(|key| !key.is::<Column>());
            all.args.iter().chain(keys).any(|used| collect_columns(used).iter().any(|used| used.index() == column))
        })
    };
    let fields = schema.fields().iter().enumerate().map(|(i, field)| match field.data_type() {
        DataType::Utf8View if !used(i) => Arc::new(Field::clone(field).with_data_type(DataType::LargeUtf8)),
        DataType::BinaryView if !used(i) => Arc::new(Field::clone(field).with_data_type(DataType::LargeBinary)),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// Returns a window over plain texts, whose output has views again.
fn over_plain_texts(window: Arc<dyn ExecutionPlan>, plain: SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = window.schema();
    let input = retyped(Arc::clone(window.children()[0]), plain)?;
    let window =
        window.replace_children(vec![input], ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))?;
    retyped(window, schema)
}

/// Returns the same rows, cast to other column types.
fn retyped(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
    let of_schema = Arc::clone(&schema);
    MapBatchesExec::of_schema("RetypedExec", input, schema, move |batches, _, _| {
        let schema = Arc::clone(&of_schema);
        let retyped = batches.map(move |batch| {
            let batch = batch?;
            let columns =
                batch.columns().iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type()));
            Ok(RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_, _>>()?)?)
        });
        retyped.boxed()
    })
}

/// Returns the same batches, and reserves memory for them until the last one is output.
fn held(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    MapBatchesExec::over("HeldExec", input, |batches, partition, context| {
        let reservation = MemoryConsumer::new(format!("WindowAggExec[{partition}]")).register(context.memory_pool());
        let held = move |batch: RecordBatch| reservation.try_grow(batch.get_array_memory_size()).map(|()| batch);
        batches.map(move |batch| held(batch?)).boxed()
    })
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::execution::session_state::SessionStateBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;
    use crate::pipeline::testing::{plan, rows};

    /// Creates a session with or without the rule, and with so much memory.
    async fn session(is_bounding: bool, memory: usize) -> SessionContext {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(memory));
        let builder = SessionStateBuilder::new()
            .with_default_features()
            .with_runtime_env(RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap())
            .with_config(SessionConfig::new().with_target_partitions(2).with_batch_size(64));
        let builder =
            if is_bounding { builder.with_physical_optimizer_rule(Arc::new(LimitWindowMemory)) } else { builder };
        let session = SessionContext::new_with_state(builder.build());
        let texts = "CREATE TABLE texts AS SELECT value AS number, value % 7 AS key, arrow_cast(CASE WHEN value % 5 > 0 \
                     THEN 'a text that is too long for its view, ' || CAST(value % 1999 AS VARCHAR) END, 'Utf8View') AS text, \
                     arrow_cast('another one that is too long ' || value, 'BinaryView') AS bytes FROM range(4000)";
        session.sql(texts).await.unwrap().collect().await.unwrap();
        session
    }

    #[tokio::test]
    async fn windows_of_plain_texts_give_the_same_rows() {
        let [bounding, other] = [session(true, 1 << 30).await, session(false, 1 << 30).await];
        for (sql, plain) in [
            ("SELECT text, bytes, row_number() OVER (ORDER BY text, number) AS place FROM texts", 2),
            ("SELECT *, row_number() OVER (PARTITION BY text ORDER BY number) AS place FROM texts", 2),
            (
                "SELECT text, count(*) OVER (PARTITION BY key, text ORDER BY number) AS place FROM texts WHERE key = 3",
                2,
            ),
            (
                "SELECT key, row_number() OVER (PARTITION BY key, number ORDER BY text, bytes) AS place FROM texts WHERE key = number",
                2,
            ),
            (
                "SELECT key, text, row_number() OVER (PARTITION BY key ORDER BY text, number) AS place FROM texts WHERE key = number",
                2,
            ),
            ("SELECT number, rank() OVER (PARTITION BY text ORDER BY upper(text), number) AS place FROM texts", 0),
            ("SELECT number, bytes, first_value(text) OVER (PARTITION BY key ORDER BY number) AS place FROM texts", 2),
            ("SELECT number, lag(text, 2) OVER (ORDER BY text, number) AS place FROM texts", 0),
            (
                "SELECT number, max(text) OVER (ORDER BY text ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING) AS place FROM texts",
                0,
            ),
            (
                "SELECT number, text, count(*) OVER (ORDER BY text RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM texts",
                2,
            ),
            ("SELECT text, sum(number) OVER () AS place FROM texts", 0),
        ] {
            let plan = plan(&bounding, sql).await;
            assert_eq!(plan.matches("RetypedExec").count(), plain, "{sql}\n{plan}");
            assert_eq!(rows(&bounding, sql).await, rows(&other, sql).await, "{sql}");
        }
    }

    #[tokio::test]
    async fn a_window_of_all_rows_reserves_memory() {
        let sql = "SELECT text, sum(number) OVER () AS sum FROM texts";
        assert_eq!(session(true, 1 << 30).await.sql(sql).await.unwrap().count().await.unwrap(), 4000);
        let error = session(true, 100_000).await.sql(sql).await.unwrap().collect().await.unwrap_err().to_string();
        assert!(error.contains("WindowAggExec[0]"), "{error}");
    }

    #[tokio::test]
    async fn datafusion_reserves_nothing_for_a_window_of_all_rows() {
        let held =
            session(false, 100_000).await.sql("SELECT text, sum(number) OVER () AS sum FROM texts").await.unwrap();
        assert_eq!(
            held.collect().await.map_err(drop).map(|batches| batches.iter().map(RecordBatch::num_rows).sum()),
            Ok(4000)
        );
    }
}
