//! The names that statements can use.

use std::collections::BTreeSet;

use datafusion::logical_expr::Documentation;
use datafusion::prelude::SessionContext;

use ibid::program::table_functions::NAMES;

/// The names that exist at one moment.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// All functions except table functions, by their names and aliases.
    pub(super) functions: Vec<Function>,
    pub(super) table_functions: Vec<String>,
    /// The tables and views. Those outside the default schema have their schema before the name.
    pub(super) tables: Vec<String>,
    /// The columns of the tables, and of the files that were read.
    pub(super) columns: BTreeSet<String>,
    pub(super) settings: Vec<String>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// The syntax; empty if it is not documented.
    pub(super) syntax: String,
    pub(super) documentation: Option<Documentation>,
}

impl Names {
    /// Returns the names without the columns.
    pub(super) fn of(session: &SessionContext) -> Self {
        let state = session.state();
        let scalars = state.scalar_functions().iter().map(|(name, f)| (name, "scalar", f.documentation()));
        let aggregates = state.aggregate_functions().iter().map(|(name, f)| (name, "aggregate", f.documentation()));
        let windows = state.window_functions().iter().map(|(name, f)| (name, "window", f.documentation()));
        let mut functions: Vec<_> = scalars
            .chain(aggregates)
            .chain(windows)
            .map(|(name, kind, documentation)| Function {
                name: name.clone(),
                kind,
                syntax: documentation.map(|doc| doc.syntax_example.clone()).unwrap_or_default(),
                documentation: documentation.cloned(),
            })
            .collect();
        functions.sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
        // A function that is both an aggregate and a window function is listed once, as an aggregate.
        functions.dedup_by(|a, b| a.name == b.name);
        let mut table_functions: Vec<_> = state.table_functions().keys().cloned().collect();
        table_functions.extend(NAMES.map(String::from));
        table_functions.sort();
        let config = state.config_options();
        let mut settings: Vec<_> = config.entries().into_iter().map(|entry| entry.key).collect();
        settings.sort();
        Self { functions, table_functions, tables: tables(session), columns: BTreeSet::new(), settings }
    }

    /// Returns the names with the columns of the tables.
    pub(super) async fn with_columns(session: &SessionContext, seen: &BTreeSet<String>) -> Self {
        let mut names = Self::of(session);
        names.columns.clone_from(seen);
        for table in &names.tables {
            let Ok(table) = session.table_provider(table.as_str()).await else { continue };
            names.columns.extend(table.schema().fields().iter().map(|field| field.name().clone()));
        }
        names
    }
}

/// Returns the tables and views.
fn tables(session: &SessionContext) -> Vec<String> {
    let default = session.copied_config().options().catalog.default_schema.clone();
    let mut tables = Vec::new();
    for catalog in session.catalog_names().iter().filter_map(|name| session.catalog(name)) {
        for schema in catalog.schema_names().into_iter().filter(|name| name != "information_schema") {
            let names = catalog.schema(&schema).map(|schema| schema.table_names()).unwrap_or_default();
            tables.extend(
                names.into_iter().map(|name| if schema == default { name } else { format!("{schema}.{name}") }),
            );
        }
    }
    tables.sort();
    tables
}
