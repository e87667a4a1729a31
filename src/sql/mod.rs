//! A DataFusion session that knows ibid: its functions, its options and its optimizer rules.
//!
//! Everything that runs ibid's SQL starts here: the commands, the tests, an engine that embeds it.

pub(crate) mod files;
mod semi_joins;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::optimizer::Optimizer;
use datafusion::prelude::{SessionConfig, SessionContext};
use object_store::local::LocalFileSystem;

use self::files::with_file_tables;
use self::semi_joins::PushDownSemiJoins;
use crate::config::IbidOptions;
use crate::datafusion_fixes::with_fixes;
use crate::functions::scalar_functions;
use crate::similarity_join::{IbidQueryPlanner, SimilarityJoinRule};
use crate::store::{SealedStore, Stores};

/// Adds ibid to a session that is being built: options, functions, and the planning of similarity joins and semi joins.
///
/// SQL keeps its meaning where DataFusion would run another query. `IN` of a subquery is NULL where SQL says so, and
/// conditions apply to the columns that they name, even if others have the same name. Joins claim no order that their
/// rows do not have, and sort-merge joins take any condition. `IN` lists and bounds are not merged if one of them is
/// stricter, and groups keep all of their columns. Hive partitions are found by their values, and statistics count only
/// if they are exact. A query that cannot keep its meaning is an error, such as `SIMILAR TO`, `= ANY` of a subquery, or
/// an `EXISTS` of one that aggregates rows of the query around it.
///
/// The builder's configuration and functions are kept; set them before. See [`session`] for a ready session.
pub fn with_ibid(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    let config = builder.config().get_or_insert_with(SessionConfig::new);
    // Rewrites of CASE may make a non-null column nullable, which is not an error.
    config.options_mut().execution.skip_physical_aggregate_schema_check = true;
    if config.options().extensions.get::<IbidOptions>().is_none() {
        config.options_mut().extensions.insert(IbidOptions::default());
    }
    if config.get_extension::<Stores>().is_none() {
        let registry = builder.runtime_env().as_ref().map(|runtime| Arc::clone(&runtime.object_store_registry));
        let stores = Arc::new(registry.map(Stores::over).unwrap_or_default());
        builder.config().get_or_insert_default().set_extension(stores);
    }
    builder.scalar_functions().get_or_insert_default().extend(scalar_functions());
    builder.aggregate_functions().get_or_insert_default().extend(ibid_udfs::aggregate_functions());
    let pool =
        builder.runtime_env().as_ref().map_or_else(ibid_udfs::unlimited, |runtime| Arc::clone(&runtime.memory_pool));
    builder.window_functions().get_or_insert_default().extend(ibid_udfs::window_functions(&pool));
    let rules = &mut builder.optimizer().get_or_insert_with(Optimizer::new).rules;
    // The rule runs before columns are pruned: the two sides of a self-join keep the same columns, so that they are
    // read once.
    let place = rules.iter().position(|rule| rule.name() == "optimize_projections").unwrap_or(rules.len());
    rules.insert(place, Arc::new(SimilarityJoinRule));
    // Semi joins are not pushed below similarity joins, whose sides are read once as long as they are the same.
    rules.insert(place + 1, Arc::new(PushDownSemiJoins));
    with_fixes(builder).with_query_planner(Arc::new(IbidQueryPlanner))
}

/// Creates a session with DataFusion's functions and ibid's, in which files can be named in `FROM`.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let session = ibid::session(Default::default(), Default::default())?;
/// let batches = session.sql("SELECT jaccard([1, 2, 3], [2, 3, 4]) AS similarity").await?.collect().await?;
/// assert_eq!(batches[0].num_rows(), 1);
/// # Ok::<(), datafusion::error::DataFusionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn session(
    config: SessionConfig,
    runtime: Arc<datafusion::execution::runtime_env::RuntimeEnv>,
) -> Result<SessionContext> {
    // Sealed files are checked as they are read.
    runtime.register_object_store(
        ObjectStoreUrl::local_filesystem().as_ref(),
        Arc::new(SealedStore::new(LocalFileSystem::new())),
    );
    with_file_tables(session_of_tables(config, runtime))
}

/// Creates the same session, except that no files can be named.
pub(crate) fn session_of_tables(
    config: SessionConfig,
    runtime: Arc<datafusion::execution::runtime_env::RuntimeEnv>,
) -> SessionContext {
    let mut config = config.with_information_schema(true).with_create_default_catalog_and_schema(true);
    // All files of a folder are read, including those in folders within it.
    config.options_mut().execution.listing_table_ignore_subdirectory = false;
    // In nanoseconds, years before 1677 and after 2262 would become other years.
    config.options_mut().execution.parquet.coerce_int96.get_or_insert_with(|| "us".to_owned());
    let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    SessionContext::new_with_state(with_ibid(builder).build())
}
