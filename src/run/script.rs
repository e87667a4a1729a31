//! The SQL of a method, as a script for `ibid sql`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use super::collections::{Compared, corpus_folder};
use crate::corpus;
use crate::corpus::ingest::{self, Needed};
use crate::export::layout::ORIGINS;
use crate::pipeline::query::{Parameters, Query};
use crate::store::{Stores, redacted, redacted_url};

impl Compared<'_> {
    /// Returns the statements that register the collections, and those of `parts` with their parameters.
    pub(crate) fn script(&self, parts: &[(Parameters, Vec<Query>)], stores: &Arc<Stores>) -> Result<String> {
        let mut statements = Vec::new();
        let other = self.against.map(|inputs| ("against_", inputs));
        let mut origins = Vec::new();
        for (prefix, inputs) in std::iter::once(("", self.inputs)).chain(other) {
            match corpus_folder(inputs, stores)? {
                Some(stored) => {
                    statements.extend(stored.statements(prefix, self.needed)?);
                    origins.push(stored.origins(stores)?);
                }
                None => {
                    statements.extend(read_first(prefix, inputs, self.reading_of(prefix), self.needed));
                    origins.push(Some(Path::new(&format!("{prefix}corpus")).join(ORIGINS)));
                }
            }
        }
        if let Some(ignored) = self.ignored {
            statements.extend(ignored_statements(ignored, &self.reading, stores)?);
        }
        match self.against {
            None => statements.extend(self.no_other_collection()),
            Some(other) => statements.extend(self.origins_in(&origins, || Ok(self.inputs == other))?),
        }
        script(&statements, parts)
    }
}

/// Returns inputs as they are written, without secrets.
pub(crate) fn shown(inputs: &[String]) -> String {
    inputs.iter().map(|input| redacted_url(input)).collect::<Vec<_>>().join(" ")
}

/// Returns the statements that register the documents whose text is to be ignored.
pub(crate) fn ignored_statements(
    inputs: &[String],
    reading: &corpus::Options,
    stores: &Arc<Stores>,
) -> Result<Vec<String>> {
    match corpus_folder(inputs, stores)? {
        Some(stored) => stored.statements("ignored_", Needed::Documents),
        None => Ok(read_first("ignored_", inputs, reading, Needed::Documents)),
    }
}

/// Returns the statements that register inputs, once they have been ingested.
pub(crate) fn read_first(prefix: &str, inputs: &[String], reading: &corpus::Options, needed: Needed) -> Vec<String> {
    let corpus = format!("{prefix}corpus");
    let mut statements: Vec<_> = needed
        .tables()
        .iter()
        .map(|table| ingest::statement(prefix, &Path::new(&corpus).join(format!("{table}.parquet")), table))
        .collect();
    if let Some(first) = statements.first_mut() {
        let inputs = inputs.iter().map(|input| quoted(&redacted_url(input)));
        // The text is optional in methods that read other columns.
        let text_column = reading.text_column.as_ref().filter(|_| !reading.text_is_optional);
        let columns = [("--text-column", text_column), ("--id-column", reading.id_column.as_ref())];
        let columns = columns.into_iter().filter_map(|(option, name)| Some(format!("{option} {}", quoted(name?))));
        let skips = (reading.on_error != corpus::OnError::Fail).then(|| "--on-error skip".to_owned());
        let arguments: Vec<_> = inputs.chain(columns).chain(skips).collect();
        first.insert_str(0, &format!("-- first: ibid ingest {} -o {corpus}\n", arguments.join(" ")));
    }
    statements
}

/// Quotes an argument for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// Returns statements, and those of `parts` with their parameters, without the secrets of URLs.
pub(crate) fn script(statements: &[String], parts: &[(Parameters, Vec<Query>)]) -> Result<String> {
    let mut script = String::new();
    for statement in statements {
        let _ = writeln!(script, "{statement};");
    }
    for (parameters, queries) in parts {
        for query in queries {
            let sql = parameters.bind(query.sql)?;
            let _ = write!(script, "\n-- queries/{}\n{};\n", query.file, sql.trim_end());
        }
    }
    let mut shown = redacted(&script);
    if shown.contains("***") {
        shown.insert_str(0, "-- secrets of URLs are left out: write them in the places of ***\n");
    }
    Ok(shown)
}
