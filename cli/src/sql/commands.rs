//! Commands of the shell: `\d` and the like.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use clap::ValueEnum;
use datafusion::common::TableReference;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::TableType;
use datafusion::prelude::SessionContext;

use super::methods;
use super::mistakes::did_you_mean;
use super::names::{Function, Names};
use crate::options::FormatName;
use ibid::program::Literal;
use ibid::program::export::Format;

/// The help for the commands.
pub(super) const HELP: &str = r"Statements end with a semicolon; what was typed can go over many lines. Commands end with their line.

  \d                 tables and views
  \d NAME            the columns of a table, a view or a file
  \df                functions
  \df PATTERN        functions whose name has PATTERN in it, or is like it where it has a *
  \df NAME           all about a function
  \i FILE            run a script
  \o FILE            write the next result to FILE: .parquet, .csv or .ndjson
  \format FORM       print results as table, csv or ndjson
  \timing on|off     say how long statements take
  \set NAME VALUE    the value of the parameter $NAME in statements that follow; \set lists them
  \?                 this help
  \q                 end

Tab completes keywords, functions, tables, columns, settings and files. Ctrl-C ends what runs, Ctrl-D the shell.
";

/// The names of the commands.
pub(super) const NAMES: [&str; 9] = ["d", "df", "i", "o", "format", "timing", "set", "?", "q"];

/// A command.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Tables,
    Columns(String),
    Functions(Option<String>),
    Include(PathBuf),
    Output(PathBuf),
    Format(Format),
    Timing(bool),
    Parameters,
    Set(String, Literal),
    Help,
    Quit,
}

impl Command {
    /// Reads a line that begins with a backslash.
    pub(super) fn of(line: &str) -> Result<Self> {
        let line = line.trim_start_matches('\\').trim_end().trim_end_matches(';').trim_end();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let argument = (!rest.is_empty()).then(|| unquoted(rest));
        let needed = || argument.clone().with_context(|| format!("\\{name} needs more: see \\?"));
        Ok(match name {
            "d" => argument.map_or(Self::Tables, Self::Columns),
            "df" => Self::Functions(argument),
            "i" => Self::Include(needed()?.into()),
            "o" => Self::Output(needed()?.into()),
            "format" => {
                let format = FormatName::from_str(&needed()?, true)
                    .ok()
                    .map(Format::from)
                    .filter(|format| *format != Format::Parquet);
                Self::Format(
                    format.context("write \\format table, \\format csv or \\format ndjson; \\o writes Parquet")?,
                )
            }
            "timing" => match argument.as_deref() {
                None | Some("on") => Self::Timing(true),
                Some("off") => Self::Timing(false),
                Some(other) => bail!("write \\timing on or \\timing off, not {other}"),
            },
            "set" => match rest.split_once(char::is_whitespace) {
                Some((name, value)) => Self::Set(name.trim_start_matches('$').to_owned(), value_of(value.trim())),
                None if rest.is_empty() => Self::Parameters,
                None => bail!("write \\set {rest} VALUE"),
            },
            "?" | "h" | "help" => Self::Help,
            "q" | "quit" => Self::Quit,
            other => {
                let names = NAMES.map(|name| format!("\\{name}"));
                bail!("there is no command \\{other}. {}", did_you_mean(&format!("\\{other}"), &names, "There are"))
            }
        })
    }
}

/// Removes the quotes around a text, if there are any.
fn unquoted(text: &str) -> String {
    within_quotes(text).unwrap_or_else(|| text.to_owned())
}

fn within_quotes(text: &str) -> Option<String> {
    Some(text.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'"))
}

/// Parses a value as the user types it. A value in quotes is text.
fn value_of(typed: &str) -> Literal {
    within_quotes(typed).map_or_else(|| Literal::of_text(typed), |text| text.as_str().into())
}

/// Returns the tables and views as rows.
pub(super) async fn tables(session: &SessionContext) -> Result<DataFrame> {
    let names = Names::of(session).tables;
    let mut kinds = Vec::with_capacity(names.len());
    for name in &names {
        kinds.push(match session.table_provider(name.as_str()).await?.table_type() {
            TableType::View => "view",
            TableType::Base | TableType::Temporary => "table",
        });
    }
    rows(session, [("name", texts(names)), ("kind", texts(kinds))])
}

/// Returns the columns of a table or a file as rows.
pub(super) async fn columns(session: &SessionContext, name: &str) -> Result<DataFrame> {
    let table = match session.table_provider(name).await {
        Ok(table) => table,
        // A name that is no table may be a file.
        Err(error) => session.table_provider(TableReference::bare(name)).await.map_err(|_| anyhow!(error))?,
    };
    let schema = table.schema();
    let fields = || schema.fields().iter();
    let nullable: BooleanArray = fields().map(|field| Some(field.is_nullable())).collect();
    rows(
        session,
        [
            ("column", texts(fields().map(|field| field.name()))),
            ("type", texts(fields().map(|field| field.data_type().to_string()))),
            ("nullable", Arc::new(nullable)),
        ],
    )
}

/// The documentation of functions.
pub(super) enum Described {
    /// One row for each function.
    Rows(DataFrame),
    /// The full documentation of one function.
    Text(String),
}

/// Returns the functions that match a pattern, or the full documentation if the pattern is the name of a function.
pub(super) fn functions(session: &SessionContext, pattern: Option<&str>) -> Result<Described> {
    let names = Names::of(session);
    let pattern = pattern.map(str::to_lowercase);
    if let Some(name) = &pattern {
        if let Some(function) = names.functions.iter().find(|function| function.name == *name) {
            return Ok(Described::Text(in_full(function)));
        }
        if let Some((_, full)) = methods::documentation(name) {
            return Ok(Described::Text(full));
        }
    }
    let is_asked_for = |name: &str| match &pattern {
        Some(pattern) if pattern.contains('*') => is_like(name, pattern),
        Some(pattern) => name.contains(pattern.as_str()),
        None => true,
    };
    let mut all: Vec<[String; 4]> = names.functions.iter().map(in_a_line).collect();
    all.extend(names.table_functions.iter().map(|name| {
        let about = methods::documentation(name).map(|(about, _)| about).unwrap_or_default();
        [name.clone(), "table".to_owned(), format!("{name}(…)"), about]
    }));
    all.retain(|[name, ..]| is_asked_for(name));
    all.sort();
    if let (Some(pattern), true) = (&pattern, all.is_empty()) {
        let names: Vec<_> = names.functions.into_iter().map(|function| function.name).collect();
        bail!("there is no function {pattern}. {}", did_you_mean(pattern, &names, "\\df lists all:"));
    }
    let column = |i: usize| texts(all.iter().map(|row| &row[i]));
    let columns = [("name", column(0)), ("kind", column(1)), ("written", column(2)), ("what it gives", column(3))];
    Ok(Described::Rows(rows(session, columns)?))
}

fn in_a_line(function: &Function) -> [String; 4] {
    let description = function.documentation.as_ref().map(|doc| doc.description.trim()).unwrap_or_default();
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches('.');
    [function.name.clone(), function.kind.to_owned(), function.syntax.clone(), sentence.to_owned()]
}

fn in_full(function: &Function) -> String {
    let Some(doc) = &function.documentation else {
        return format!("{} ({} function) is not documented\n", function.name, function.kind);
    };
    let mut text = format!("{}\n", doc.syntax_example);
    for syntax in doc.alternative_syntax.iter().flatten() {
        let _ = writeln!(text, "{syntax}");
    }
    let _ = write!(text, "\n{}\n", doc.description.trim());
    if doc.arguments.as_ref().is_some_and(|arguments| !arguments.is_empty()) {
        text.push('\n');
    }
    for (argument, description) in doc.arguments.iter().flatten() {
        let _ = writeln!(text, "* {argument}: {}", description.trim());
    }
    if let Some(example) = &doc.sql_example {
        let example = example.trim().trim_start_matches("```sql").trim_end_matches("```").trim();
        let _ = write!(text, "\n{example}\n");
    }
    text
}

/// Returns true if a name matches a pattern, in which a `*` matches any characters.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut rest = name;
    let mut parts = pattern.split('*');
    let Some(after) = parts.next().and_then(|first| rest.strip_prefix(first)) else { return false };
    rest = after;
    let parts: Vec<_> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Returns the parameters and their values as rows.
pub(super) fn parameters<'a>(
    session: &SessionContext,
    values: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<DataFrame> {
    let (names, values): (Vec<_>, Vec<_>) = values.unzip();
    rows(session, [("name", texts(names)), ("value", texts(values))])
}

fn texts(texts: impl IntoIterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

fn rows<const N: usize>(session: &SessionContext, columns: [(&str, ArrayRef); N]) -> Result<DataFrame> {
    Ok(session.read_batch(RecordBatch::try_from_iter(columns)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let command = |line: &str| Command::of(line).unwrap();
        assert_eq!(command(r"\d"), Command::Tables);
        assert_eq!(command(r"\d 'it''s.csv' ;"), Command::Columns("it's.csv".to_owned()));
        for (value, expected) in
            [("'a b'", "a b".into()), ("'1.10'", "1.10".into()), ("1.10", Literal::of_text("1.10"))]
        {
            assert_eq!(command(&format!(r"\set n {value}")), Command::Set("n".to_owned(), expected));
        }
        assert_eq!(command(r"\format CSV"), Command::Format(Format::Csv));
        let said = |line: &str| Command::of(line).unwrap_err().to_string();
        assert!(said(r"\fromat csv").contains(r"Did you mean \format?"));
        assert!(said(r"\format parquet").contains(r"\o writes Parquet"));
        assert!(said(r"\i").contains("needs more"));
    }

    #[test]
    fn patterns_have_stars() {
        for (pattern, is_so) in
            [("jac*", true), ("*card", true), ("j*c*d", true), ("*", true), ("j*x*", false), ("jaccard*d", false)]
        {
            assert_eq!(is_like("jaccard", pattern), is_so, "{pattern}");
        }
    }
}
