//! The completion and the hints of the shell.

use std::borrow::Cow;
use std::path::Path;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use rustyline::Context;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::validate::Validator;

use super::commands;
use super::names::Names;
use ibid::program::visible;

/// The words of SQL that are completed.
const KEYWORDS: [&str; 77] = [
    "ALL",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COLUMNS",
    "CREATE",
    "CROSS",
    "CURRENT",
    "DEALLOCATE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "EXTERNAL",
    "FALSE",
    "FILTER",
    "FIRST",
    "FOLLOWING",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "IS",
    "JOIN",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OPTIONS",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PARTITIONED",
    "PRECEDING",
    "PREPARE",
    "REPLACE",
    "RIGHT",
    "ROWS",
    "SELECT",
    "SET",
    "SHOW",
    "STORED",
    "TABLE",
    "TABLES",
    "THEN",
    "TRUE",
    "UNION",
    "USING",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
];

/// The keywords that the name of a table follows.
const BEFORE_TABLES: [&str; 5] = ["FROM", "JOIN", "TABLE", "DESCRIBE", "VIEW"];

/// The completion of names, and the hints from the history.
#[derive(Default)]
pub(super) struct Helper {
    pub(super) names: Names,
    /// The earlier lines of the statement that is being typed.
    pub(super) typed: String,
    hints: HistoryHinter,
}

impl rustyline::Helper for Helper {}

impl Validator for Helper {}

impl Hinter for Helper {
    type Hint = String;

    fn hint(&self, line: &str, pos: usize, ctx: &Context<'_>) -> Option<String> {
        // A hint of several lines would move the lines below.
        self.hints.hint(line, pos, ctx).filter(|hint| self.typed.is_empty() && !hint.contains('\n'))
    }
}

impl Highlighter for Helper {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..pos).unwrap_or(line);
        Ok(self.candidates(before))
    }
}

impl Helper {
    /// Returns the byte of the line at which completions begin, and the completions.
    fn candidates(&self, line: &str) -> (usize, Vec<Pair>) {
        if self.typed.is_empty() && line.trim_start().starts_with('\\') {
            return self.of_command(line);
        }
        if let Some(begun) = open_text(&format!("{}{line}", self.typed)) {
            // A quoted text that began on an earlier line is no file name.
            let from = line.len().checked_sub(begun.len()).filter(|_| !begun.contains('\n'));
            return from.map_or((line.len(), Vec::new()), |from| files(from, &begun));
        }
        let word = last_word(line);
        let from = line.len() - word.len();
        let before = format!("{}{}", self.typed, &line[..from]);
        let previous = before.split_whitespace().next_back().unwrap_or_default().to_ascii_uppercase();
        if previous == "SET" || previous == "SHOW" {
            return (from, begun_with(word, self.names.settings.iter().cloned()));
        }
        if let Some((_, column)) = word.rsplit_once('.')
            && !self.names.tables.iter().any(|table| table.starts_with(word))
        {
            let columns = begun_with(column, self.names.columns.iter().cloned());
            return (line.len() - column.len(), columns);
        }
        let tables = || {
            let functions = self.names.table_functions.iter().map(|name| format!("{name}("));
            self.names.tables.iter().cloned().chain(functions)
        };
        if BEFORE_TABLES.contains(&previous.as_str()) {
            return (from, begun_with(word, tables()));
        }
        if word.is_empty() {
            return (from, Vec::new());
        }
        let is_lower = word.chars().all(|c| !c.is_uppercase());
        let keywords = KEYWORDS.iter().map(|word| if is_lower { word.to_lowercase() } else { (*word).to_string() });
        let functions = self.names.functions.iter().map(|function| format!("{}(", function.name));
        let all = self.names.columns.iter().cloned().chain(tables()).chain(functions).chain(keywords);
        (from, begun_with(word, all))
    }

    /// Completes a command.
    fn of_command(&self, line: &str) -> (usize, Vec<Pair>) {
        let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
        let from = line.len() - word.len();
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if line.trim_start() == first {
            return (from, begun_with(word, commands::NAMES.iter().map(|name| format!("\\{name}"))));
        }
        match first {
            "\\d" => (from, begun_with(word, self.names.tables.iter().cloned())),
            "\\df" => (from, begun_with(word, self.names.functions.iter().map(|function| function.name.clone()))),
            "\\i" | "\\o" => files(from, word),
            "\\format" => (from, begun_with(word, ["table", "csv", "ndjson"].map(String::from))),
            "\\timing" => (from, begun_with(word, ["on", "off"].map(String::from))),
            _ => (line.len(), Vec::new()),
        }
    }
}

/// Returns the word at the end of a line.
fn last_word(line: &str) -> &str {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    &line[line.trim_end_matches(is_of_word).len()..]
}

/// Returns the text in quotes that are not closed.
fn open_text(typed: &str) -> Option<String> {
    // The added quote mark closes an open text, which then is the last token. If no text is open, the quote mark opens
    // one that does not end, and the tokenizer fails.
    let closed = format!("{typed}'");
    let tokens = Tokenizer::new(&GenericDialect {}, &closed).with_unescape(false).tokenize().ok()?;
    match tokens.into_iter().next_back() {
        Some(Token::SingleQuotedString(text)) => Some(text),
        _ => None,
    }
}

/// Returns the names that begin with a word, ignoring case.
fn begun_with(word: &str, names: impl IntoIterator<Item = String>) -> Vec<Pair> {
    let word = word.to_lowercase();
    let names = names.into_iter().filter(|name| name.to_lowercase().starts_with(&word) && is_typed(name));
    let mut names: Vec<_> = names.map(|name| Pair { display: name.clone(), replacement: name }).collect();
    names.sort_by(|a, b| a.replacement.cmp(&b.replacement));
    names.dedup_by(|a, b| a.replacement == b.replacement);
    names
}

/// Returns true if a name can be put into the line: it has no characters that control the terminal, or end the line.
fn is_typed(name: &str) -> bool {
    visible(name) == name && !name.contains(char::is_control)
}

/// Returns the files and folders whose paths begin with `begun`.
fn files(from: usize, begun: &str) -> (usize, Vec<Pair>) {
    let (folder, name) = begun.rsplit_once('/').map_or(("", begun), |(folder, name)| (folder, name));
    let from = from + begun.len() - name.len();
    let (folder, name) = (folder.replace("''", "'"), &*name.replace("''", "'"));
    let path = match (folder.as_str(), begun.starts_with('/')) {
        ("", true) => Path::new("/"),
        ("", false) => Path::new("."),
        (folder, _) => Path::new(folder),
    };
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<Pair> = entries
        .filter_map(|entry| {
            let mut file = entry.file_name().into_string().ok()?;
            let is_hidden = file.starts_with('.') && !name.starts_with('.');
            if is_hidden || !file.starts_with(name) || !is_typed(&file) {
                return None;
            }
            if entry.path().is_dir() {
                file.push('/');
            }
            Some(Pair { display: file.clone(), replacement: file.replace('\'', "''") })
        })
        .collect();
    found.sort_by(|a, b| a.replacement.cmp(&b.replacement));
    (from, found)
}

#[cfg(test)]
mod tests {
    use super::super::names::Function;
    use super::*;

    fn helper() -> Helper {
        let function = |name: &str| Function {
            name: name.to_string(),
            kind: "scalar",
            syntax: String::new(),
            documentation: None,
        };
        let names = Names {
            functions: vec![function("jaccard"), function("words")],
            table_functions: vec!["passages".to_string()],
            tables: vec!["documents".to_string()],
            columns: ["doc_id", "text", "k\u{1b}]0;pwn\u{7}", "k\nl"].map(String::from).into(),
            settings: vec!["ibid.gpu".to_string(), "ibid.similarity_join.strategy".to_string()],
        };
        Helper { names, ..Helper::default() }
    }

    fn completed(helper: &Helper, line: &str) -> Vec<String> {
        let (from, candidates) = helper.candidates(line);
        candidates.into_iter().map(|candidate| format!("{}{}", &line[..from], candidate.replacement)).collect()
    }

    #[test]
    fn names_are_completed_where_they_can_stand() {
        let helper = helper();
        let completed = |line: &str| completed(&helper, line);
        assert_eq!(completed("SELECT jac"), ["SELECT jaccard("]);
        assert_eq!(completed("SELECT a.d"), ["SELECT a.doc_id"]);
        assert_eq!(completed("SELECT 1 FROM d"), ["SELECT 1 FROM documents"]);
        assert_eq!(completed("SELECT 1 FROM p"), ["SELECT 1 FROM passages("]);
        assert_eq!(completed("SEL"), ["SELECT"]);
        assert_eq!(completed("sel"), ["select"]);
        assert_eq!(completed("SET ibid.g"), ["SET ibid.gpu"]);
        assert_eq!(completed("\\fo"), ["\\format"]);
        assert_eq!(completed("\\d doc"), ["\\d documents"]);
        assert_eq!(completed("\\df jac"), ["\\df jaccard"]);
        assert!(completed("SELECT ").is_empty());
        // Names with control characters are not completed.
        assert!(completed("SELECT k").is_empty());
    }

    #[test]
    fn files_are_completed_in_quotes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("corpus")).unwrap();
        std::fs::write(folder.path().join("it's.csv"), "").unwrap();
        std::fs::write(folder.path().join("evil\u{1b}.csv"), "").unwrap();
        let at = folder.path().display().to_string();
        let helper = helper();
        assert_eq!(completed(&helper, &format!("SELECT 1 FROM '{at}/c")), [format!("SELECT 1 FROM '{at}/corpus/")]);
        assert_eq!(completed(&helper, &format!("SELECT 1 FROM '{at}/i")), [format!("SELECT 1 FROM '{at}/it''s.csv")]);
        assert!(completed(&helper, &format!("SELECT 1 FROM '{at}/e")).is_empty());
        // After the quotes, names are completed again.
        assert_eq!(completed(&helper, "SELECT 'it''s' FROM doc"), ["SELECT 'it''s' FROM documents"]);
    }
}
