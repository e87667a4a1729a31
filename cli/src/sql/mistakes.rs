//! Error messages for statements: the mistake, its place, and what may have been meant.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Error, anyhow};
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::names::Names;
use super::script::{Place, line_at};
use super::secrets::has_secret;
use crate::run::describe;
use ibid::program::unreadable;

/// The maximum numbers of names that are suggested, and that are listed.
const MEANT: usize = 3;
const LISTED: usize = 12;

/// The maximum number of characters of a line that are shown.
const LONGEST_LINE: u64 = 160;

/// Describes an error: where, what, what may have been meant, and the line. `sql` begins at `at` in the script
/// `from`, whose name is empty for typed text.
pub(super) fn explained(error: &Error, names: &Names, sql: &str, from: &str, at: Place) -> Error {
    let (mut said, mut place) = located(error);
    if let Some(hint) = hint(error, &said, names) {
        said = match hint.keeps {
            Keeps::All => said,
            Keeps::Reason => reason(&said),
            Keeps::Nothing => String::new(),
        };
        let joint = match said.chars().next_back() {
            None => "",
            Some('.' | '?' | ';') => " ",
            Some(_) => ". ",
        };
        let _ = write!(said, "{joint}{}", hint.text);
        place = place.or_else(|| place_of(sql, hint.about.as_deref()?));
    } else if said.contains("found: EOF") {
        place = place.or_else(|| Some(end_of(sql)));
    } else if said.contains("Expected: end of statement") && begins_with_from(sql) {
        said.push_str(". Write what is selected behind the tables: FROM 'file.parquet' SELECT * WHERE …");
    }
    placed(&said, sql, from, at, place)
}

/// Returns the planner's words about a call, without the nesting and the list of types around it.
fn reason(said: &str) -> String {
    let said = said.split_once("coercion failed with: ").map_or(said, |(_, rest)| rest);
    let said = said.split(" No function matches the given name").next().unwrap_or(said);
    if let Some((_, ways)) = said.split_once(" failed to match any signature, errors: ") {
        return reason_of_all(ways.split("\nThis issue").next().unwrap_or(ways));
    }
    let said = said.strip_prefix("Execution error: ").unwrap_or(said);
    let said = said.strip_prefix("Error during planning: ").unwrap_or(said);
    said.trim_end_matches('.').to_owned()
}

/// Returns the ways to call a function, as one sentence.
fn reason_of_all(ways: &str) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for way in ways.split(".,").map(reason) {
        if !reasons.contains(&way) {
            reasons.push(way);
        }
    }
    let types: Option<Vec<&str>> = reasons.iter().map(|way| between(way, " requires ", ", but received ")).collect();
    match (reasons.first().and_then(|way| way.split_once(" requires ")), types) {
        (Some((function, first)), Some(types)) => {
            format!("{function} requires {}{}", types.join(" or "), first.strip_prefix(types[0]).unwrap_or_default())
        }
        _ => reasons.join("; "),
    }
}

/// Returns the first place of a name, or a text, in a statement.
fn place_of(sql: &str, name: &str) -> Option<Place> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location().ok()?;
    let found = tokens.iter().find(|token| match &token.token {
        Token::Word(word) => word.value.eq_ignore_ascii_case(name),
        Token::SingleQuotedString(text) => text == name,
        _ => false,
    })?;
    Some(found.span.start.into())
}

/// Returns true if a statement begins with FROM. Such a statement needs a SELECT first, unless only ORDER BY and LIMIT
/// follow the tables.
fn begins_with_from(sql: &str) -> bool {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let first = tokens.iter().find(|token| !matches!(token, Token::Whitespace(_)));
    matches!(first, Some(Token::Word(word)) if word.keyword == Keyword::FROM)
}

/// Returns the place after the last character of a statement.
fn end_of(sql: &str) -> Place {
    let last = sql.rsplit('\n').next().unwrap_or_default();
    Place { line: sql.split('\n').count() as u64, column: last.chars().count() as u64 + 1 }
}

/// Returns an error at a place of a statement, or at its start if no place is known.
pub(super) fn placed(said: &str, sql: &str, from: &str, at: Place, place: Option<Place>) -> Error {
    let whole = place.unwrap_or(Place::START).within(at);
    let from = if from.is_empty() { String::new() } else { format!("{from}, ") };
    let shown = place.map(|place| shown_at(sql, place)).unwrap_or_default();
    anyhow!("{from}line {}, column {}: {said}{shown}", whole.line, whole.column)
}

/// Returns the text of an error, and the place that it names.
fn located(error: &Error) -> (String, Option<Place>) {
    let mut said = describe(error);
    let mut place = error.chain().find_map(|cause| {
        let start = cause.downcast_ref::<DataFusionError>()?.diagnostic()?.span?.start;
        (start.line > 0).then_some(Place { line: start.line, column: start.column })
    });
    // The parser gives the place in the text of the error.
    if let Some((before, rest)) = said.split_once(" at Line: ")
        && let Some((line, rest)) = rest.split_once(", Column: ")
    {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if let (Ok(line), Ok(column)) = (line.parse(), rest[..digits].parse()) {
            place = Some(Place { line, column }).filter(|_| line > 0);
            said = format!("{before}{}", &rest[digits..]);
        }
    }
    (said, place)
}

/// Returns the line of a place with a mark under it, or nothing if the statement has a secret.
fn shown_at(sql: &str, place: Place) -> String {
    let line = line_at(sql, place);
    if has_secret(sql) {
        return String::new();
    }
    let skipped = place.column.saturating_sub(LONGEST_LINE / 2);
    let to_usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let part: String = line.chars().skip(to_usize(skipped)).take(to_usize(LONGEST_LINE)).collect();
    // Wide characters move the mark. A tab stays a tab, so that it is as wide as in the line above.
    let before = part.chars().take(to_usize(place.column - skipped).saturating_sub(1));
    let indent: String = before
        .flat_map(|c| {
            let width = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            std::iter::repeat_n(if c == '\t' { '\t' } else { ' ' }, if c == '\t' { 1 } else { width })
        })
        .collect();
    format!("\n  {part}\n  {indent}^")
}

/// A suggestion.
struct Hint {
    text: String,
    /// The part of the statement that the suggestion is about, if any.
    about: Option<String>,
    keeps: Keeps,
}

/// The part of the original error text that stays.
enum Keeps {
    All,
    /// The reason without the list of types, because the hint gives the syntax of the function.
    Reason,
    /// Nothing, because the text is about generated names, or misleads.
    Nothing,
}

/// The hint for a subquery that cannot be planned.
const SUBQUERY: &str = "A subquery cannot stand here, or cannot name columns of the outer query here: join its rows, \
                        with GROUP BY if they are counted, or write EXISTS or IN in WHERE, beside AND";

/// Returns true if an error is about columns of a table that DataFusion generated for a subquery.
fn is_of_made_table(error: &Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<SchemaError>()).any(|error| {
        let SchemaError::FieldNotFound { field, valid_fields } = error else { return false };
        let mut tables = std::iter::once(&**field).chain(valid_fields).filter_map(|of| of.relation.as_ref());
        tables.any(|table| ["__correlated_sq", "__scalar_sq"].iter().any(|made| table.table().starts_with(made)))
    })
}

fn hint(error: &Error, said: &str, names: &Names) -> Option<Hint> {
    let hint = |about: &str, text: String| Some(Hint { text, about: Some(about.to_owned()), keeps: Keeps::All });
    if is_of_made_table(error) {
        return Some(Hint { text: SUBQUERY.to_owned(), about: None, keeps: Keeps::Nothing });
    }
    if let Some((_, file)) = said.split_once("there is no file ") {
        return hint(file, nearest_files(file)?);
    }
    if let Some(list) = between(said, "logical expression OuterReferenceColumn(Field { name: \"", "\"") {
        let text = format!("The items of a list are opened in SELECT: write SELECT *, unnest({list}) AS item FROM …");
        return Some(Hint { text, about: Some("UNNEST".to_owned()), keeps: Keeps::Nothing });
    }
    if said.contains("Physical plan does not support logical expression") && said.contains("ubquery") {
        return Some(Hint { text: SUBQUERY.to_owned(), about: None, keeps: Keeps::All });
    }
    if said.contains("null_aware anti join only supports single column join key") {
        let text = "Write NOT EXISTS in the place of NOT IN".to_owned();
        return Some(Hint { text, about: None, keeps: Keeps::All });
    }
    if let Some(name) = between(said, "able function '", "' not found") {
        if name.starts_with("read_") {
            return hint(name, "Files are named themselves: FROM 'file.parquet'".to_owned());
        }
        return hint(name, did_you_mean(name, &names.table_functions, "There are"));
    }
    if let Some(table) = between(said, "table '", "' not found") {
        // The name as it was written: DataFusion puts a catalog and a schema before it.
        let written = table.strip_prefix("datafusion.").unwrap_or(table);
        let written = written.strip_prefix("public.").unwrap_or(written);
        if let Some(text) = Some(written).filter(|file| Path::new(file).is_file()).and_then(unreadable) {
            return Some(Hint { text, about: Some(written.to_owned()), keeps: Keeps::Nothing });
        }
        return hint(written.rsplit('.').next().unwrap_or(written), meant_table(written, names));
    }
    for (kind, other) in [("Table", "VIEW"), ("View", "TABLE")] {
        if let Some(name) = between(said, &format!("{kind} '"), "' doesn't exist") {
            let text = if names.tables.iter().any(|table| table == name) {
                format!("It is a {}: write DROP {other} {name}", other.to_lowercase())
            } else {
                did_you_mean(name, &names.tables, "There are")
            };
            return hint(name.rsplit('.').next().unwrap_or(name), text);
        }
    }
    if let Some(key) = between(said, "onfig value \"", "\"").or(between(said, "onfig namespace \"", "\"")) {
        return hint(key, meant_setting(key, &names.settings));
    }
    if said.contains("Parquet error: ") {
        let text =
            "A file is damaged: ibid verify says which, of those that ibid wrote; fetch it again, or write it again";
        return Some(Hint { text: text.to_owned(), about: None, keeps: Keeps::All });
    }
    // Errors about the format of a result, or from the operating system such as a full disk, are not about an input
    // file.
    let is_of_file = !said.contains("--format ") && !said.contains("os error");
    if is_of_file && ["Json error: ", "Csv error: "].iter().any(|of_file| said.contains(of_file)) {
        let text = "ibid ingest names the file and the place, and can leave bad records out (--on-error skip)";
        return Some(Hint { text: text.to_owned(), about: None, keeps: Keeps::All });
    }
    // A function that cannot take its arguments.
    if said.contains("rgument") || said.contains("coerc") {
        let is_in = |name: &str| said.contains(&format!("'{name}'")) || said.contains(&format!("'{name}("));
        let function = names.functions.iter().find(|function| !function.syntax.is_empty() && is_in(&function.name))?;
        let text = format!("Write {}; \\df {} says more", function.syntax, function.name);
        return Some(Hint { text, about: Some(function.name.clone()), keeps: Keeps::Reason });
    }
    None
}

fn between<'a>(text: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    Some(text.split_once(before)?.1.split_once(behind)?.0)
}

/// Suggests a table, or a file, that may have been meant.
fn meant_table(name: &str, names: &Names) -> String {
    if Path::new(name).is_file() {
        return format!("The name of a file stands in quotes: '{name}'");
    }
    if name.contains('.')
        && let Some(meant) = nearest_files(name)
    {
        return meant;
    }
    let name = name.rsplit('.').next().unwrap_or(name);
    let file =
        std::fs::read_dir(".").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut files: Vec<_> = file.filter(|file| file.split('.').next() == Some(name) && file.contains('.')).collect();
    files.sort();
    if names.table_functions.iter().any(|function| function == name) {
        return format!("Did you mean {name}('…')? \\df {name} says what it takes");
    }
    match files.first() {
        Some(file) if nearest(name, &names.tables).is_empty() => format!("Did you mean the file '{file}'?"),
        _ => did_you_mean(name, &names.tables, "There are"),
    }
}

/// Suggests a setting whose name ends like `key`.
fn meant_setting(key: &str, settings: &[String]) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let near = nearest(&last(key), settings.iter().map(|setting| last(setting)));
    match near.first().and_then(|near| settings.iter().find(|setting| last(setting) == *near)) {
        Some(setting) => format!("Did you mean {setting}? SHOW ALL lists all"),
        None => "SHOW ALL lists all".to_string(),
    }
}

/// Suggests files of the folder whose names are similar to the name of a missing file.
pub(super) fn nearest_files(file: &str) -> Option<String> {
    let path = Path::new(file);
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        if folder.is_file() {
            return Some(format!("{} is a file, and no folder", folder.display()));
        }
        return (!file.contains("://")).then(|| format!("There is no folder {} either", folder.display()));
    };
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let near: Vec<_> =
        nearest(name, &names).iter().map(|near| path.with_file_name(near).display().to_string()).collect();
    (!near.is_empty()).then(|| format!("Did you mean {}?", near.join(" or ")))
}

/// Suggests names that may have been meant, and lists the existing ones.
pub(super) fn did_you_mean(name: &str, names: &[String], there_are: &str) -> String {
    let near = nearest(name, names);
    let mut said = if near.is_empty() { String::new() } else { format!("Did you mean {}? ", near.join(" or ")) };
    let listed: Vec<_> = names.iter().take(LISTED).map(String::as_str).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    if listed.is_empty() {
        said.push_str("There are none");
    } else {
        let _ = write!(said, "{there_are} {}{more}", listed.join(", "));
    }
    said
}

/// Returns the names that are nearest to `name`, if any are near.
fn nearest(name: &str, names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let name = name.to_lowercase();
    let far = (name.chars().count() / 3).max(1);
    let mut near: Vec<(usize, String)> = names
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(&name, &other.as_ref().to_lowercase()), other.as_ref().to_string()))
        .filter(|(distance, _)| *distance <= far)
        .collect();
    near.sort();
    near.dedup();
    let best = near.first().map_or(0, |(distance, _)| *distance);
    near.into_iter().take_while(|(distance, _)| *distance <= best).map(|(_, name)| name).take(MEANT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_by_edits() {
        let names = ["documents", "sentences", "Signatures"].map(String::from);
        assert_eq!(nearest("docuemnts", &names), ["documents"]);
        assert_eq!(nearest("signature", &names), ["Signatures"]);
        assert!(nearest("x", &names).is_empty());
    }

    #[test]
    fn a_call_that_fails_in_every_way_is_no_bug() {
        let way = |of: &str| {
            format!("Error during planning: Function 'sum' requires {of}, but received String (DataType: Utf8).")
        };
        let said = |ways: &[String]| {
            format!(
                "Internal error: Function 'sum' failed to match any signature, errors: {}.\nThis issue was likely caused by a bug.",
                ways.join(",")
            )
        };
        let of_types = said(&["Int64", "Float64", "Int64"].map(way));
        assert_eq!(reason(&of_types), "Function 'sum' requires Int64 or Float64, but received String (DataType: Utf8)");
        let of_numbers = said(&[way("Int64"), "Error during planning: it takes one argument.".to_owned()]);
        assert!(reason(&of_numbers).ends_with("(DataType: Utf8); it takes one argument"), "{}", reason(&of_numbers));
        assert_eq!(reason("coercion failed with: Execution error: x expects text.."), "x expects text");
    }

    #[test]
    fn the_mark_stands_under_the_place() {
        let said = placed(
            "wrong",
            "SELECT\n  '北京', x",
            "a.sql",
            Place { line: 7, column: 3 },
            Some(Place { line: 2, column: 9 }),
        );
        assert_eq!(said.to_string(), "a.sql, line 8, column 9: wrong\n    '北京', x\n            ^");
        let said = placed("wrong", "SET token = 'x'", "", Place::START, Some(Place { line: 1, column: 5 }));
        assert_eq!(said.to_string(), "line 1, column 5: wrong");
        let long = format!("SELECT {}, x", "y".repeat(1000));
        let said = placed("wrong", &long, "", Place::START, Some(Place { line: 1, column: 1010 })).to_string();
        assert!(
            said.lines().all(|line| line.chars().count() < 200) && said.ends_with("x\n  ".to_string().as_str())
                || said.contains(", x\n"),
            "{said}"
        );
    }
}
