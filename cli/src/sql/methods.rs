//! The help of methods in FROM.

use clap::{CommandFactory, Parser};

use crate::clusters::Clusters;
use crate::containment::Containment;
use crate::decontaminate::Decontaminate;
use crate::dedup::Dedup;
use crate::pairs::Pairs;
use crate::passages::Passages;
use crate::search::Search;
use crate::threads::Threads;

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
    Dedup(Dedup),
    Decontaminate(Decontaminate),
}

/// Options that table functions do not have: the shell decides them, or they do more than return rows.
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

/// Returns the help of a method, in one line and in full.
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
    use super::*;
    use ibid::program::table_functions::NAMES;

    #[test]
    fn every_table_function_has_help() {
        for name in NAMES {
            let (about, full) = documentation(name).unwrap();
            assert!(
                ["Find", "Remove"].iter().any(|verb| about.starts_with(verb)) && full.contains("* threshold: "),
                "{name}: {full}"
            );
        }
        assert_eq!(Method::command().get_subcommands().count(), NAMES.len());
    }
}
