use anyhow::Result;
use arrow::datatypes::Field;
use futures::future::BoxFuture;

use super::options::{Named, NamedOptions, OF_ALL, did_you_mean};
use super::table::Tabular;
use super::{
    Clusters, Containment, Decontaminate, Dedup, Found, Ingest, Input, Pairs, Passages, Report, Review, Search,
    Threads, runs,
};
use crate::engine::Engine;
use crate::error::{Error, misuse};
use crate::run::{Event, Settings};

/// The names of the methods, and the first table of the result of each.
const METHODS: [(&str, &str); 8] = [
    ("passages", "passages"),
    ("pairs", "pairs"),
    ("threads", "pairs"),
    ("clusters", "clusters"),
    ("containment", "containments"),
    ("search", "hits"),
    ("dedup", "removed"),
    ("decontaminate", "hits"),
];

impl Engine {
    /// Returns the method of this name, whose options are set by name, as SQL and other languages give them:
    /// `passages`, `pairs`, `threads`, `clusters`, `containment`, `search`, `dedup` or `decontaminate`. The result has
    /// all tables that the method can make.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = ibid::Engine::new()?;
    /// let notes = engine.sql("SELECT * FROM (VALUES (1, 'To be or not to be.'), (2, 'To be or not to be!')) AS t(id, text)").await?;
    /// let found = engine.method("dedup", notes)?.option("by", ["containment"]).option("threshold", ["0.9"]).await?;
    /// assert_eq!(found.dataframe("removed")?.count().await?, 1);
    /// let error = engine.method("dedup", "notes/")?.option("treshold", ["0.9"]).await.err().unwrap();
    /// assert!(error.to_string().contains("Did you mean threshold?"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Options`] if there is no method of this name.
    pub fn method(&self, name: &str, input: impl Into<Input>) -> Result<NamedMethod, Error> {
        let known = METHODS.map(|(known, _)| known);
        match known.into_iter().find(|known| *known == name) {
            Some(name) => Ok(NamedMethod {
                engine: self.clone(),
                name,
                input: input.into(),
                options: Vec::new(),
                settings: Settings::default(),
            }),
            None => Err(misuse!("there is no method {name}. {}", did_you_mean(name, &known)).into()),
        }
    }
}

/// A method by its name; see [`Engine::method`].
#[derive(Clone)]
#[must_use = "it runs when it is awaited"]
pub struct NamedMethod {
    engine: Engine,
    name: &'static str,
    input: Input,
    options: Vec<Named>,
    settings: Settings,
}

runs!(NamedMethod => Found);

impl NamedMethod {
    /// Sets an option to a value, or to a list of them, as text: `true`, `0.8`, `16MiB`.
    pub fn option<V: Into<String>>(mut self, name: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        self.options.push(Named::new(name, values.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets an option to a collection, such as `against`.
    pub fn collection(mut self, name: impl Into<String>, input: impl Into<Input>) -> Self {
        self.options.push(Named { input: Some(input.into()), ..Named::new(name, Vec::new()) });
        self
    }

    /// Calls this function with each event of the run.
    pub fn on_event(mut self, call: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        self.settings.on_event = std::sync::Arc::new(call);
        self
    }

    async fn run(self) -> Result<Found> {
        let Self { engine, name, input, options, settings } = self;
        let (method, _) = prepare(&engine, name, input, options, &["coverage", "groups"])?;
        method.run(settings).await
    }

    /// Returns the names of the own options of a method, or of `ingest`, `report` or `review`, and the names of the
    /// options that all of these have. Returns `None` if there is no method of this name.
    #[must_use]
    pub fn options(name: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
        let own = match name {
            "passages" => Passages::NAMES,
            "pairs" => Pairs::NAMES,
            "threads" => Threads::NAMES,
            "clusters" => Clusters::NAMES,
            "containment" => Containment::NAMES,
            "search" => Search::NAMES,
            "dedup" => Dedup::NAMES,
            "decontaminate" => Decontaminate::NAMES,
            "ingest" => Ingest::NAMES,
            "report" => Report::NAMES,
            "review" => Review::NAMES,
            _ => return None,
        };
        Some((own, &OF_ALL))
    }
}

/// A method with its options, ready to run.
pub(crate) trait Prepared: Send {
    /// Returns the columns of a table. Fails if the options do not determine them.
    fn schema(&self, table: &str) -> Result<Vec<Field>>;

    fn run(self: Box<Self>, settings: Settings) -> BoxFuture<'static, Result<Found>>;
}

impl<M> Prepared for M
where
    M: NamedOptions + Tabular + IntoFuture<Output = Result<Found, Error>> + Send + 'static,
    M::IntoFuture: Send + 'static,
{
    fn schema(&self, table: &str) -> Result<Vec<Field>> {
        Tabular::schema(self, table)
    }

    fn run(mut self: Box<Self>, settings: Settings) -> BoxFuture<'static, Result<Found>> {
        self.shared().settings = settings;
        Box::pin(async move { Ok((*self).await?) })
    }
}

/// Returns the method of a name with its options, and the name of its first table. The tables `coverage` and `groups`
/// are made only if `further` names them.
pub(crate) fn prepare(
    engine: &Engine,
    name: &str,
    input: Input,
    options: Vec<Named>,
    further: &[&str],
) -> Result<(Box<dyn Prepared>, &'static str)> {
    fn with<M: NamedOptions>(mut method: M, options: &[Named]) -> Result<Box<M>> {
        method.set_options(options)?;
        Ok(Box::new(method))
    }
    let asks = |table: &str| further.contains(&table);
    let needs = |option: &str, what: &str| {
        if options.iter().any(|given| given.name == option) {
            return Ok(Input::places([""; 0]));
        }
        Err(misuse!("it needs `{option}`: the {what} to look for, as a file, a folder or a URL"))
    };
    let method: Box<dyn Prepared> = match name {
        "passages" => with(engine.passages(input).coverage(asks("coverage")), &options)?,
        "pairs" => with(engine.pairs(input), &options)?,
        "threads" if asks("groups") => with(engine.threads(input).groups("longest")?, &options)?,
        "threads" => with(engine.threads(input), &options)?,
        "clusters" => with(engine.clusters(input), &options)?,
        "dedup" => with(engine.dedup(input), &options)?,
        "containment" => with(engine.containment(input), &options)?,
        "decontaminate" => with(engine.decontaminate(input, needs("against", "items")?), &options)?,
        _ => with(engine.search(input, needs("queries", "texts")?), &options)?,
    };
    let first = METHODS.iter().find(|(known, _)| *known == name).map_or("hits", |(_, table)| table);
    Ok((method, first))
}
