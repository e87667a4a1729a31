//! Methods in FROM: `SELECT * FROM passages('corpus/', threshold => 0.5)` has the rows of `ibid passages corpus/ --threshold 0.5`.
//!
//! Before a statement is planned each such call is run as the command that it names, and a table with its rows takes its place.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use clap::{ArgAction, CommandFactory, Parser};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    self, Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, TableAlias, TableFactor, UnaryOperator, Value,
    VisitMut, VisitorMut,
};

use super::mistakes::did_you_mean;
use super::names::CALLED;
use crate::cli::Ending;
use crate::cli::clusters::Clusters;
use crate::cli::containment::Containment;
use crate::cli::options::RunOptions;
use crate::cli::pairs::Pairs;
use crate::cli::passages::{self, Passages};
use crate::cli::search::Search;
use crate::cli::threads::Threads;

/// The commands that are table functions, too.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
enum Method {
    Passages(Passages),
    /// Find text that many documents share, and where it stands
    Families(Passages),
    /// Find how much of each document stands elsewhere, and in which document most of it
    Coverage(Passages),
    Pairs(Pairs),
    Threads(Threads),
    Clusters(Clusters),
    Containment(Containment),
    Search(Search),
}

/// Their names.
pub(super) const NAMES: [&str; 8] =
    ["passages", "families", "coverage", "pairs", "threads", "clusters", "containment", "search"];

/// What the shell decides, and what would do more than give rows.
const NOT_PARAMETERS: [&str; 14] = [
    "help",
    "output",
    "format",
    "csv-safe",
    "show-sql",
    "memory",
    "threads",
    "strict",
    "quiet",
    "add",
    "commit-every",
    "evaluate-only",
    "resume",
    "top",
];

/// What writes further files.
const FILES: [&str; 6] = ["capped", "coverage", "evaluation", "families", "groups", "quarantine"];

/// A call of a method.
#[derive(Debug)]
pub(super) struct Call {
    /// What stands in the statement.
    written: String,
    pub(super) arguments: Vec<String>,
    /// The table that takes its place.
    pub(super) table: String,
}

/// Puts tables in the places of the calls in a statement, and gives the calls. Equal calls have one table. `number` makes the
/// names of the tables new.
pub(super) fn take_calls(statement: &mut Statement, number: &mut usize) -> Result<Vec<Call>> {
    let mut calls = Calls { calls: Vec::new(), number };
    match in_sql(statement).map_or(ControlFlow::Continue(()), |statement| statement.visit(&mut calls)) {
        ControlFlow::Continue(()) => Ok(calls.calls),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The statement that can have tables in FROM, also within EXPLAIN.
pub(super) fn in_sql(statement: &mut Statement) -> Option<&mut ast::Statement> {
    match statement {
        Statement::Statement(statement) => Some(statement),
        Statement::Explain(explain) => in_sql(&mut explain.statement),
        Statement::CopyTo(_) | Statement::CreateExternalTable(_) | Statement::Reset(_) => None,
    }
}

struct Calls<'a> {
    calls: Vec<Call>,
    number: &'a mut usize,
}

impl Calls<'_> {
    /// The name of the table of a call.
    fn table_of(&mut self, method: &str, written: String, arguments: &[FunctionArg]) -> Result<String> {
        if let Some(call) = self.calls.iter().find(|call| call.written == written) {
            return Ok(call.table.clone());
        }
        let arguments = command_line(method, arguments).with_context(|| format!("in {method}(…)"))?;
        *self.number += 1;
        let table = format!("{method}{CALLED}{}", self.number);
        self.calls.push(Call { written, arguments, table: table.clone() });
        Ok(table)
    }
}

impl VisitorMut for Calls<'_> {
    type Break = anyhow::Error;

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Self::Break> {
        let written = factor.to_string();
        // With LATERAL it is the same: nothing of it is of another table.
        let written = written.strip_prefix("LATERAL ").unwrap_or(&written);
        let (name, alias, arguments) = match factor {
            TableFactor::Table { name, alias, args: Some(arguments), .. } => (name, alias, &arguments.args),
            TableFactor::Function { name, alias, args: arguments, .. } => (name, alias, &*arguments),
            _ => return ControlFlow::Continue(()),
        };
        let [part] = name.0.as_slice() else { return ControlFlow::Continue(()) };
        let Some(method) = part.as_ident().map(|ident| ident.value.to_lowercase()) else {
            return ControlFlow::Continue(());
        };
        if !NAMES.contains(&method.as_str()) {
            return ControlFlow::Continue(());
        }
        // The same call may have another alias.
        let written = match alias {
            Some(alias) => written.trim_end_matches(&format!(" {alias}")),
            None => written,
        };
        let table = match self.table_of(&method, written.to_owned(), arguments) {
            Ok(table) => table,
            Err(error) => return ControlFlow::Break(error),
        };
        let alias = alias.take().unwrap_or_else(|| TableAlias {
            explicit: true,
            name: Ident::new(method),
            columns: Vec::new(),
            at: None,
        });
        *factor = TableFactor::Table {
            name: ObjectName::from(vec![Ident::with_quote('"', table)]),
            alias: Some(alias),
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
            json_path: None,
            sample: None,
            index_hints: Vec::new(),
        };
        ControlFlow::Continue(())
    }
}

/// The arguments of a call as those of the command.
fn command_line(method: &str, arguments: &[FunctionArg]) -> Result<Vec<String>> {
    let commands = Method::command();
    let command =
        commands.find_subcommand(method).context("internal error: a method is no command; please report it")?;
    let options: Vec<_> = command
        .get_arguments()
        .filter(|option| option.get_long().is_some_and(|long| !NOT_PARAMETERS.contains(&long)))
        .collect();
    let (mut line, mut inputs) = (vec![method.to_owned()], Vec::new());
    for argument in arguments {
        let (name, value) = match argument {
            FunctionArg::Unnamed(value) => (None, value),
            FunctionArg::Named { name, arg, .. } => (Some(name.value.clone()), arg),
            FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => (Some(name.value.clone()), arg),
            FunctionArg::ExprNamed { .. } => bail!("write name => value, not {argument}"),
        };
        let FunctionArgExpr::Expr(value) = value else { bail!("{argument} is no value") };
        let Some(name) = name else {
            inputs.extend(values(value)?);
            continue;
        };
        let long = name.replace('_', "-").to_lowercase();
        let Some(option) = options.iter().find(|option| option.get_long() == Some(long.as_str())) else {
            let known: Vec<_> =
                options.iter().filter_map(|option| Some(option.get_long()?.replace('-', "_"))).collect();
            bail!("there is no parameter {name}. {}", did_you_mean(&name, &known, "There are"));
        };
        if matches!(option.get_action(), ArgAction::SetTrue) {
            match values(value)?.as_slice() {
                [yes] if yes == "true" => line.push(format!("--{long}")),
                [no] if no == "false" => {}
                _ => bail!("{name} is true or false, not {value}"),
            }
        } else {
            line.extend(values(value)?.into_iter().map(|value| format!("--{long}={value}")));
        }
    }
    if inputs.iter().any(|input| input == "-") {
        bail!("standard input cannot be read here; name a file");
    }
    line.push("--".to_owned());
    line.extend(inputs);
    Ok(line)
}

/// The values of an argument: one, or those of a list.
fn values(value: &Expr) -> Result<Vec<String>> {
    match value {
        Expr::Array(list) => Ok(list.elem.iter().map(values).collect::<Result<Vec<_>>>()?.concat()),
        Expr::Nested(value) => values(value),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            Ok(values(expr)?.into_iter().map(|value| format!("-{value}")).collect())
        }
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Ok(vec![number.clone()]),
            Value::Boolean(is_true) => Ok(vec![is_true.to_string()]),
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Ok(vec![text.clone()]),
            Value::DollarQuotedString(text) => Ok(vec![text.value.clone()]),
            other => bail!("{other} cannot be an argument; write a text, a number, true, false, or a list of them"),
        },
        other => bail!("{other} cannot be an argument; write a text, a number, true, false, or a list of them"),
    }
}

impl Call {
    /// The further files that the command writes.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let options = self.arguments.iter().take_while(|argument| *argument != "--");
        let options = options.filter_map(|argument| argument.strip_prefix("--")?.split_once('='));
        options.filter(|(option, _)| FILES.contains(option)).map(|(_, file)| Path::new(file))
    }

    /// Runs the command, which writes its rows to a file. Further files are in the outbox then.
    pub(super) async fn run(&self, running: &RunOptions, file: &Path) -> Result<Ending> {
        let with_path = |option: &str, path: &Path| {
            let mut option = OsString::from(option);
            option.push(path);
            option
        };
        let options = [
            Some(with_path("--output=", file)),
            running.resume.as_deref().map(|folder| with_path("--resume=", folder)),
            running.memory.map(|memory| format!("--memory={memory}").into()),
            running.threads.map(|threads| format!("--threads={threads}").into()),
            running.quiet.then(|| "--quiet".into()),
            running.strict.then(|| "--strict".into()),
        ];
        let mut line: Vec<OsString> = self.arguments.iter().map(OsString::from).collect();
        line.splice(1..1, options.into_iter().flatten());
        let failed = || format!("in {}", self.written);
        let method = Method::try_parse_from(&line).map_err(|error| anyhow!("{}", mistake(&error)));
        match method.with_context(failed)? {
            Method::Passages(command) => command.method()?.run().await,
            Method::Families(command) => command.method_of("families", &passages::FAMILIES)?.run().await,
            Method::Coverage(command) => command.method_of("coverage", &passages::COVERAGE)?.run().await,
            Method::Pairs(command) => command.method().run().await,
            Method::Threads(command) => command.run().await,
            Method::Clusters(command) => command.write_clusters().await,
            Method::Containment(command) => command.run().await,
            Method::Search(command) => command.run().await,
        }
        .with_context(failed)
    }
}

/// What clap says, without the usage of the command.
fn mistake(error: &clap::Error) -> String {
    let said = error.to_string();
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let lines = said.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What the help of a method says of it, in a line and in full.
pub(super) fn documentation(method: &str) -> Option<(String, String)> {
    let mut commands = Method::command();
    let command = commands.find_subcommand_mut(method)?;
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let command_of = match method {
        "families" | "coverage" => format!("passages --{method}"),
        _ => method.to_owned(),
    };
    let mut full = format!("{method}(input, …, parameter => value, …)\n\n{about}, as ibid {command_of} does.\n\n");
    for option in command.get_arguments() {
        let Some(long) = option.get_long().filter(|long| !NOT_PARAMETERS.contains(long)) else { continue };
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        full.push_str(&format!("* {}: {}\n", long.replace('-', "_"), help.replace('\n', " ")));
    }
    Some((about, full))
}

#[cfg(test)]
mod tests {
    use datafusion::sql::parser::DFParser;

    use super::*;

    fn taken(sql: &str) -> Result<(String, Vec<Call>)> {
        let mut statement = DFParser::parse_sql(sql).unwrap().pop_front().unwrap();
        let calls = take_calls(&mut statement, &mut 0)?;
        Ok((statement.to_string(), calls))
    }

    #[test]
    fn every_method_is_a_command() {
        for name in NAMES {
            let (about, full) = documentation(name).unwrap();
            assert!(about.starts_with("Find") && full.contains("* threshold: "), "{name}: {full}");
        }
        assert_eq!(Method::command().get_subcommands().count(), NAMES.len());
    }

    #[test]
    fn calls_are_taken_from_wherever_they_stand() {
        let (sql, calls) = taken(
            "WITH p AS (SELECT * FROM passages('c/', threshold => 0.5)) SELECT * FROM p JOIN pairs(['a', 'b'], within_documents \
             => true, unit => 'sentence') AS q ON q.id_a = p.doc_a WHERE EXISTS (SELECT 1 FROM Passages('c/', threshold => 0.5) x)",
        )
        .unwrap();
        assert!(sql.contains("FROM \"passages#1\" AS passages)") && sql.contains("JOIN \"pairs#2\" AS q"), "{sql}");
        assert_eq!(calls[0].arguments, ["passages", "--threshold=0.5", "--", "c/"]);
        assert_eq!(calls[1].arguments, ["pairs", "--within-documents", "--unit=sentence", "--", "a", "b"]);
        let (_, calls) = taken("EXPLAIN SELECT * FROM pairs('--capped=c', capped => 's3://b/f.csv')").unwrap();
        assert_eq!(calls[0].files().collect::<Vec<_>>(), [Path::new("s3://b/f.csv")]);
        let (sql, calls) = taken("SELECT * FROM pairs('c') AS a, LATERAL pairs('c') AS b, LATERAL pairs('c')").unwrap();
        assert_eq!((calls.len(), sql.matches("\"pairs#1\"").count()), (1, 3), "{sql}");
        assert!(!sql.contains("LATERAL"), "{sql}");
        // A table of that name is none.
        assert!(taken("SELECT * FROM passages, s.pairs").unwrap().1.is_empty());
    }

    #[test]
    fn mistakes_are_explained() {
        let said = |sql: &str| format!("{:#}", taken(sql).unwrap_err());
        assert!(said("SELECT * FROM pairs('c', treshold => 1)").contains("Did you mean threshold?"));
        assert!(said("SELECT * FROM pairs('c', output => 'x.csv')").contains("no parameter output"));
        assert!(said("SELECT * FROM pairs('c', within_documents => 3)").contains("true or false"));
        assert!(said("SELECT * FROM pairs('c' || 'd')").contains("cannot be an argument"));
        assert!(said("SELECT * FROM pairs('-')").contains("standard input"));
    }
}
