use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::datatypes::{Field, Schema, SchemaRef};
use futures::future::BoxFuture;

use super::arguments::Arguments;
use crate::engine::Engine;
use crate::error::misuse;
use crate::methods::options::{Given, NamedOptions, input_of};
use crate::methods::table::Tabular;
use crate::methods::{Found, Input};
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

/// Tables beside the rows of a call, which can be written to files: the option of each has its name.
const BESIDE: [&str; 5] = ["capped", "coverage", "evaluation", "families", "groups"];

/// A method with its options, ready to run.
pub(super) struct Call {
    /// The table of what it finds that the rows are of.
    pub(super) table: &'static str,
    pub(super) schema: SchemaRef,
    /// The further tables that are to be written, and their files.
    pub(super) files: Vec<(String, PathBuf)>,
    run: Box<dyn FnOnce(Settings) -> BoxFuture<'static, Result<Found>> + Send>,
}

impl Call {
    /// Reads the arguments of a method of [`NAMES`].
    pub(super) fn of(engine: &Engine, method: &str, arguments: Arguments) -> Result<Self> {
        let Arguments { inputs, named } = arguments;
        if inputs.is_empty() {
            return Err(misuse!("it needs an input: a folder, a file, a pattern or a URL"));
        }
        let input = input_of(Given { name: "input", values: &inputs })?;
        let (beside, named): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(name, _)| BESIDE.contains(&name.as_str()) && name != method);
        let mut files = Vec::new();
        for (table, path) in beside {
            let [path] = path.as_slice() else { return Err(misuse!("`{table}` is the name of one file")) };
            files.push((table, PathBuf::from(path)));
        }
        let asks = |table: &str| files.iter().any(|(name, _)| name == table);
        match method {
            "passages" | "families" | "coverage" => {
                let passages = engine.passages(input).coverage(asks("coverage") || method == "coverage");
                let table = NAMES.into_iter().find(|name| *name == method).context("it is one of three")?;
                Self::new(passages, named, table, files)
            }
            "pairs" => Self::new(engine.pairs(input), named, "pairs", files),
            "threads" => {
                let mut threads = engine.threads(input);
                if asks("groups") {
                    threads = threads.groups("longest")?;
                }
                Self::new(threads, named, "pairs", files)
            }
            "clusters" => Self::new(engine.clusters(input), named, "clusters", files),
            "dedup" => Self::new(engine.dedup(input), named, "removed", files),
            "containment" => Self::new(engine.containment(input), named, "containments", files),
            "decontaminate" => {
                if named.iter().all(|(name, _)| name != "against") {
                    return Err(misuse!("it needs `against`: the items to look for, as a file, a folder or a URL"));
                }
                Self::new(engine.decontaminate(input, Input::places([""; 0])), named, "hits", files)
            }
            _ => {
                if named.iter().all(|(name, _)| name != "queries") {
                    return Err(misuse!("it needs `queries`: the texts to look for, as a file, a folder or a URL"));
                }
                Self::new(engine.search(input, Input::places([""; 0])), named, "hits", files)
            }
        }
    }

    fn new<M>(
        mut method: M,
        named: Vec<(String, Vec<String>)>,
        table: &'static str,
        files: Vec<(String, PathBuf)>,
    ) -> Result<Self>
    where
        M: NamedOptions + Tabular + IntoFuture<Output = Result<Found, crate::Error>> + Send + 'static,
        M::IntoFuture: Send + 'static,
    {
        method.set_options(&named)?;
        if named.iter().any(|(name, _)| name == "canonical") && files.iter().all(|(table, _)| table != "groups") {
            return Err(misuse!("`canonical` needs `groups`"));
        }
        let fields: Vec<Field> = method.schema(table)?;
        let run = move |settings: Settings| -> BoxFuture<'static, _> {
            method.shared().settings = settings;
            Box::pin(async move { Ok(method.await?) })
        };
        Ok(Self { table, schema: Arc::new(Schema::new(fields)), files, run: Box::new(run) })
    }

    pub(super) async fn run(self, settings: Settings) -> Result<Found> {
        (self.run)(settings).await
    }
}
