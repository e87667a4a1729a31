use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use arrow::datatypes::{Schema, SchemaRef};

use super::arguments::Arguments;
use crate::engine::Engine;
use crate::error::misuse;
use crate::methods::Found;
use crate::methods::by_name::{Prepared, prepare};
use crate::methods::options::{Given, Named, input_of};
use crate::run::Settings;

/// The methods that are table functions.
pub const NAMES: [&str; 10] = [
    "passages",
    "families",
    "coverage",
    "pairs",
    "threads",
    "clusters",
    "containment",
    "search",
    "dedup",
    "decontaminate",
];

/// The tables besides the rows of a call, which can be written to files. The option of each has its name.
const BESIDE: [&str; 5] = ["capped", "coverage", "evaluation", "families", "groups"];

/// A method with its options, ready to run.
pub(super) struct Call {
    /// The table of the result whose rows the call returns.
    pub(super) table: &'static str,
    pub(super) schema: SchemaRef,
    /// The further tables that are to be written, and their files.
    pub(super) files: Vec<(String, PathBuf)>,
    method: Box<dyn Prepared>,
}

impl Call {
    /// Reads the arguments of a method of [`NAMES`].
    pub(super) fn of(engine: &Engine, method: &str, arguments: Arguments) -> Result<Self> {
        let Arguments { inputs, named } = arguments;
        if inputs.is_empty() {
            return Err(misuse!("it needs an input: a folder, a file, a pattern or a URL"));
        }
        let input = input_of(Given { name: "input", values: &inputs, input: None })?;
        let (beside, named): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(name, _)| BESIDE.contains(&name.as_str()) && name != method);
        let mut files = Vec::new();
        for (table, path) in beside {
            let [path] = path.as_slice() else { return Err(misuse!("`{table}` is the name of one file")) };
            files.push((table, PathBuf::from(path)));
        }
        let has = |name: &str| named.iter().any(|(option, _)| option == name);
        if has("canonical") && files.iter().all(|(table, _)| table != "groups") {
            return Err(misuse!("`canonical` needs `groups`"));
        }
        let (method, table) = match method {
            "families" | "coverage" => ("passages", NAMES.into_iter().find(|name| *name == method)),
            method => (method, None),
        };
        let further: Vec<_> = files.iter().map(|(table, _)| table.as_str()).chain(table).collect();
        let options = named.into_iter().map(|(name, values)| Named::new(name, values)).collect();
        let (method, first) = prepare(engine, method, input, options, &further)?;
        let table = table.unwrap_or(first);
        let schema = Arc::new(Schema::new(method.schema(table)?));
        Ok(Self { table, schema, files, method })
    }

    pub(super) async fn run(self, settings: Settings) -> Result<Found> {
        self.method.run(settings).await
    }
}
