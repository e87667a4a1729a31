//! The result that a report shows: its tables, its metadata, and the collections from which it was made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use datafusion::catalog::TableProvider;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::kinds::{Groups, Pairs, Role};
use crate::corpus::ingest::{Needed, register_file};
use crate::error::misuse;
use crate::export::Manifest;
use crate::methods::Found;
use crate::run::{Compared, Run};
use crate::store::{redacted_url, seal_of};

/// The tables of a result by their part in a report, registered under the names that statements use.
pub(super) struct Tables {
    pub(super) about: About,
    pub(super) matches: Option<&'static Pairs>,
    pub(super) groups: Option<&'static Groups>,
    pub(super) has_coverage: bool,
    pub(super) has_sources: bool,
}

/// The metadata of a result.
#[derive(Debug, Clone)]
pub(super) struct About(pub(super) Value);

impl About {
    pub(super) fn method(&self) -> &str {
        self.0["method"].as_str().unwrap_or_default()
    }

    /// Returns true if two collections were compared.
    fn is_against(&self) -> bool {
        self.0["parameters"]["against"] == "true"
    }

    /// Returns the number of the collection that holds the second document of a pair.
    pub(super) fn side_b(&self) -> i64 {
        i64::from(self.is_against())
    }

    /// Returns the digest of the result, which is equal for equal versions of ibid, methods, parameters and
    /// collections.
    pub(super) fn digest(&self) -> String {
        let made_of = ["ibid", "method", "parameters", "inputs"].map(|name| self.0[name].to_string());
        format!("{:016x}", xxh3_64(made_of.join("\n").as_bytes()))
    }

    /// Returns the columns that make up the text of a document, if there are several: the fields of threads.
    pub(super) fn fields(&self) -> Vec<String> {
        let names = self.0["parameters"]["names"].as_str().filter(|_| self.method() == "threads").unwrap_or_default();
        let names = names.strip_prefix('"').and_then(|names| names.strip_suffix('"')).unwrap_or_default();
        names.split("\", \"").filter(|name| !name.is_empty()).map(|name| name.replace("\"\"", "\"")).collect()
    }

    /// Returns true if the result was made from sentences.
    pub(super) fn has_sentences(&self) -> bool {
        self.inputs().any(|input| input["table"].as_str().is_some_and(|name| name.ends_with("sentences")))
    }

    /// Returns the tables from which the result was made.
    fn needed(&self) -> Needed {
        if self.has_sentences() { Needed::DocumentsAndSentences } else { Needed::Documents }
    }

    fn inputs(&self) -> impl Iterator<Item = &Value> {
        self.0["inputs"].as_array().into_iter().flatten()
    }

    /// Fails if a table of the collections differs from the one from which the result was made.
    fn check(&self, name: &str, opened: &[Value]) -> Result<()> {
        let seals = |inputs: &mut dyn Iterator<Item = &Value>, table: &Value| -> Vec<String> {
            inputs.filter(|input| input["table"] == *table).map(|input| input["seal"].to_string()).collect()
        };
        for content in opened {
            let table = &content["table"];
            let (made_of, found) = (seals(&mut self.inputs(), table), seals(&mut opened.iter(), table));
            if made_of != found {
                bail!(
                    "the collection is not the one of which {name} was made: its {} have the seal {}, and those had \
                     {}; name with `corpus` and `against` the input of the method, and give the same input options, or \
                     run the method anew",
                    table.as_str().unwrap_or_default().replace('_', " "),
                    found.join(", "),
                    if made_of.is_empty() { "none".to_owned() } else { made_of.join(", ") },
                );
            }
        }
        Ok(())
    }
}

impl Tables {
    fn new(about: Value) -> Self {
        Self { about: About(about), matches: None, groups: None, has_coverage: false, has_sources: false }
    }

    /// Registers a table by its part in a report. Returns false if it has none, or if it has matches and another table
    /// has them already.
    fn add(&mut self, run: &Run, table: Arc<dyn TableProvider>) -> Result<bool> {
        let Some(role) = Role::of(self.about.method(), &table.schema()) else { return Ok(false) };
        let name = match role {
            Role::Matches(_) if self.matches.is_some() => return Ok(false),
            Role::Matches(pairs) => {
                self.matches = Some(pairs);
                "result"
            }
            Role::Groups(groups) => {
                self.groups = Some(groups);
                "result_groups"
            }
            Role::Coverage => {
                self.has_coverage = true;
                "result_coverage"
            }
            Role::Sources => {
                self.has_sources = true;
                "result_sources"
            }
        };
        run.workspace.session.register_table(name, table)?;
        Ok(true)
    }

    fn check(self, name: &str) -> Result<Self> {
        if self.matches.is_none() && self.groups.is_none() {
            bail!(
                "{name} has no rows that a report can show: it is of {}, and reports are of the passages, families, pairs, threads, \
                 clusters, containment, dedup and decontaminate of ibid",
                self.about.method()
            );
        }
        Ok(self)
    }

    /// Takes the tables of a result in memory.
    pub(super) async fn of_found(found: &Found, run: &Run) -> Result<Self> {
        let mut tables = Self::new(found.run.about());
        for name in found.tables() {
            tables.add(run, found.dataframe(name)?.into_view())?;
        }
        let (from, to) = (&found.run.workspace.session, &run.workspace.session);
        for table in tables.about.needed().tables() {
            for name in [(*table).to_owned(), format!("against_{table}")] {
                to.register_table(name.as_str(), from.table_provider(name.as_str()).await?)?;
            }
        }
        tables.check("the result")
    }

    /// Opens a file, or the folder of all tables of a result, and the collections from which it was made.
    pub(super) async fn of_path(path: &Path, run: &mut Run, compared: Compared<'_>) -> Result<Self> {
        let stores = Arc::clone(run.engine.stores());
        let name = redacted_url(&path.display().to_string());
        let (about, files): (_, Vec<PathBuf>) = match Manifest::of(path, &stores).ok().flatten() {
            Some(manifest) => {
                let files =
                    manifest.files.iter().filter(|file| file.name.ends_with(".parquet") && !file.name.contains('/'));
                let files: Vec<_> = files.map(|file| path.join(&file.name)).collect();
                files.iter().try_for_each(|file| manifest.check(file, &stores))?;
                (manifest.about, files)
            }
            None => {
                let seal = seal_of(path, &stores).with_context(|| format!("cannot read {name}"))?;
                let Some(seal) = seal else {
                    return Err(misuse!(
                        "{name} does not say what it was made of: a report needs a Parquet file, or a folder, that a \
                         method of ibid has written"
                    ));
                };
                (seal.result.parse().context("the description of the result is no JSON")?, vec![path.to_owned()])
            }
        };
        let mut tables = Self::new(about);
        if tables.about.method().is_empty() {
            return Err(misuse!("{name} is no result of a method: it is a collection, or the rows of a query"));
        }
        for file in files {
            register_file(&run.workspace.session, "file", &file).await?;
            let table = run.workspace.session.deregister_table("file")?.context("it was registered")?;
            tables.add(run, table)?;
        }
        let tables = tables.check(&name)?;
        if compared.inputs.is_empty() {
            return Err(misuse!(
                "{name} has places, but no texts: name with `corpus` the collection that it was made from"
            ));
        }
        if tables.about.is_against() != compared.against.is_some() {
            return Err(if tables.about.is_against() {
                misuse!("{name} was made of two collections: name the other one with `against`")
            } else {
                misuse!("{name} was made of one collection; leave out `against`")
            });
        }
        let mut compared = Compared { needed: tables.about.needed(), ..compared };
        compared.reading.text_is_optional = tables.about.method() == "threads";
        run.open_both(&compared).await?;
        let opened = run.about()["inputs"].clone();
        tables.about.check(&name, opened.as_array().map_or(&[], Vec::as_slice))?;
        Ok(tables)
    }
}
