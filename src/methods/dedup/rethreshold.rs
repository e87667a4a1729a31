use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempPath;

use super::{Dedup, Matching, Measure};
use crate::corpus::OnError;
use crate::corpus::ingest::register_file;
use crate::error::misuse;
use crate::export::Manifest;
use crate::methods::options::{Named, NamedOptions};
use crate::methods::{Base, Found, Input, check_ratio};
use crate::run::Run;
use crate::store::redacted_url;

/// The pairs that an earlier run found.
#[derive(Debug, Clone)]
pub(super) struct StoredPairs {
    file: PathBuf,
    /// The name of the result that has the pairs, for errors.
    of: String,
    /// The guard that removes a temporary file when its last clone is dropped.
    _file: Option<Arc<TempPath>>,
    /// The documents that the earlier run read, by their seals.
    inputs: Value,
}

/// The file of pairs.
const PAIRS: &str = "pairs.parquet";

impl Dedup {
    /// Returns the dedup of an earlier run with another threshold, and with the pairs that the run found.
    pub(super) fn of_stored(self, threshold: f64) -> Result<Self> {
        let [folder] = <[String; 1]>::try_from(self.base.input.named_places()?)
            .map_err(|_| misuse!("`rethreshold` takes one input: the folder that a dedup has written"))?;
        let folder = PathBuf::from(folder);
        let written = if folder.is_file() { None } else { Manifest::of(&folder, self.base.engine.stores())? };
        let Some(manifest) = written.filter(|manifest| manifest.about["method"] == "dedup") else {
            return Err(misuse!("{} is no folder that ibid dedup has written", folder.display()));
        };
        manifest.check(&folder.join(PAIRS), self.base.engine.stores())?;
        let (options, read) = (&manifest.about["options"], &manifest.about["read"]);
        let Some(inputs) = read["inputs"].as_array() else {
            return Err(misuse!(
                "{} was made from rows in memory, which no longer exist: run dedup anew",
                folder.display()
            ));
        };
        let inputs: Vec<_> = inputs.iter().filter_map(Value::as_str).collect();
        if inputs.contains(&"-") {
            return Err(misuse!(
                "{} was made from standard input, which cannot be read again: run dedup anew",
                folder.display()
            ));
        }
        let mut again = self.base.engine.dedup(Input::places(inputs));
        (again.base.reading, again.base.settings) = (self.base.reading, self.base.settings);
        again.set_options(&named(options))?;
        again.set_options(&named(&read["options"]))?;
        let of = folder.display().to_string();
        let stored =
            StoredPairs { file: folder.join(PAIRS), of, _file: None, inputs: manifest.about["inputs"].clone() };
        again.decided_anew(threshold, stored)
    }

    /// Returns this dedup with another threshold, and with the pairs of its result.
    pub(in crate::methods) async fn with_pairs_of(self, found: &Found, threshold: f64) -> Result<Self> {
        let engine = &self.base.engine;
        let file = tempfile::Builder::new().prefix("pairs-").suffix(".parquet").tempfile_in(engine.scratch().path());
        let file = file.context("cannot write to the temporary folder")?.into_temp_path();
        found.stage("pairs", &file).await?.commit().await?;
        let inputs = found.run.about()["inputs"].clone();
        let of = "this result".to_owned();
        self.decided_anew(threshold, StoredPairs { file: file.to_path_buf(), of, _file: Some(Arc::new(file)), inputs })
    }

    /// Returns this dedup with another threshold, and with stored pairs. Fails if the pairs are incomplete for that
    /// threshold.
    fn decided_anew(mut self, threshold: f64, pairs: StoredPairs) -> Result<Self> {
        let stored = self.least();
        if self.measure() == Measure::Exact {
            return Err(misuse!("{} was made of equal texts, which have no threshold", pairs.of));
        }
        if self.matching != Matching::Exact {
            return Err(misuse!(
                "{} has the pairs that minhashes found, which may not be all: run dedup anew with that `threshold`",
                pairs.of
            ));
        }
        if threshold < stored {
            return Err(misuse!(
                "{} has the pairs from {stored} on, and `rethreshold` is {threshold}: run dedup anew with that `threshold`",
                pairs.of
            ));
        }
        check_ratio("rethreshold", threshold)?;
        self.threshold = Some(threshold);
        self.stored = Some(pairs);
        Ok(self)
    }

    /// Registers the pairs of an earlier run. Fails if the documents are not the same as it read.
    pub(super) async fn open_stored(&self, run: &mut Run, stored: &StoredPairs) -> Result<()> {
        if run.about()["inputs"] != stored.inputs {
            bail!(
                "the documents are not those of which {} was made: they were changed or replaced since; run dedup anew",
                stored.of
            );
        }
        register_file(&run.workspace.session, "stored_pairs", &stored.file).await?;
        Ok(())
    }
}

/// Returns the inputs and the options of reading, for a later run.
pub(super) fn read(base: &Base) -> Value {
    let inputs = base.input.named_places().ok();
    let inputs: Option<Vec<_>> = inputs.map(|inputs| inputs.iter().map(|input| redacted_url(input)).collect());
    let reading = &base.reading;
    let mut options = reading.parameters();
    options["input_format"] = options["format"].take();
    options["namespace"] = options["namespaces"].take();
    options["on_error"] = json!((reading.on_error != OnError::Fail).then_some("skip"));
    json!({ "inputs": inputs, "options": options })
}

/// Returns options by their names as they are given in SQL; those that are not given are left out.
fn named(options: &Value) -> Vec<Named> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = |value: &Value| match value {
        Value::Array(values) => values.iter().map(text).collect(),
        Value::Null => Vec::new(),
        one => vec![text(one)],
    };
    let given = options.as_object().into_iter().flatten().map(|(name, value)| Named::new(name, values(value)));
    given.filter(|option| !option.values.is_empty()).collect()
}
