//! The generated pages of `docs/` and the output in the README: a test fails if they differ from the program's output.
//! Also the links of all pages.
//!
//! `make docs` regenerates them; it runs `IBID_BLESS=1 cargo test --workspace -- reference::`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use datafusion::common::config::ExtensionOptions;
use datafusion::logical_expr::Documentation;
use ibid::IbidOptions;

const GENERATED: &str = "<!-- Generated from the program; `make docs` writes it anew. -->";

#[test]
fn the_sql_reference_is_fresh() {
    assert_fresh("sql.md", &sql_reference());
}

#[test]
fn the_command_line_reference_is_fresh() {
    assert_fresh("cli.md", &command_line_reference());
}

#[test]
fn the_rules_of_sentences_are_fresh() {
    assert_fresh("sentences.md", &rules_of_sentences());
}

#[test]
fn the_output_in_the_readme_is_fresh() {
    assert_fresh("../README.md", &readme());
}

#[test]
fn links_lead_to_files() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["", "docs", "data/licenses"].map(|folder| root.join(folder)) {
        for page in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if page.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&page).unwrap();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let known = link.is_empty() || link.starts_with("https://") || folder.join(link).exists();
                assert!(known, "{} links to {link}, which is not there", page.display());
            }
        }
    }
}

fn assert_fresh(page: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    if std::env::var_os("IBID_BLESS").is_some() {
        return std::fs::write(&path, expected).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let stale = written.lines().zip(expected.lines()).position(|(old, new)| old != new);
    assert!(
        written == expected,
        "{} is stale from line {}; run `make docs` and commit it",
        path.display(),
        stale.unwrap_or(written.lines().count().min(expected.lines().count())) + 1
    );
}

/// Returns the README with the current output of its query over the demo's result.
fn readme() -> String {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (before, rest) = readme.split_once("$ target/debug/ibid sql \"").unwrap();
    let (sql, rest) = rest.split_once("\"\n").unwrap();
    let (_, after) = rest.split_once("```").unwrap();
    let demo = tempfile::tempdir().unwrap();
    let (corpus, reuse) = (demo.path().join("corpus"), demo.path().join("reuse.parquet"));
    let (corpus, reuse) = (corpus.to_str().unwrap(), reuse.to_str().unwrap());
    ibid(&["ingest", root.join("data/licenses/texts.jsonl.gz").to_str().unwrap(), "-o", corpus]);
    ibid(&["passages", corpus, "-o", reuse]);
    let printed = ibid(&["sql", &sql.replace("target/demo/reuse/passages.parquet", reuse)]);
    format!("{before}$ target/debug/ibid sql \"{sql}\"\n{printed}```{after}")
}

/// A function in the reference.
struct Function {
    name: String,
    aliases: Vec<String>,
    doc: Documentation,
}

fn sql_reference() -> String {
    let mut page = format!(
        "{GENERATED}\n\n\
         # SQL reference\n\n\
         The functions that ibid adds to [DataFusion's SQL](https://datafusion.apache.org/user-guide/sql/). A *set* is a \
         `List<UInt64>` in ascending order, without repeats and NULLs: what the signatures return, and what the \
         similarities and the similarity join read. All output below is checked by a test.\n\n\
         A condition on a similarity of two tables, such as `jaccard(a.set, b.set) >= 0.8`, is planned as a [similarity \
         join](pairs.md#the-similarity-join), in inner, outer, semi and anti joins, and with `OR` between similarities. \
         `OR` with anything else compares every pair.\n"
    );
    let functions = functions();
    let mut sections: Vec<&str> = functions.iter().map(|function| function.doc.doc_section.label).collect();
    sections.dedup();
    for section in &sections {
        let _ = write!(page, "\n* {section}: ");
        let names: Vec<_> = of_section(&functions, section).map(|f| format!("[`{0}`](#{0})", f.name)).collect();
        page.push_str(&names.join(", "));
    }
    page.push_str("\n* [Options](#options)\n");
    for section in sections {
        let _ = write!(page, "\n## {section}\n");
        for function in of_section(&functions, section) {
            write_function(&mut page, function);
        }
    }
    page.push_str("\n## Options\n\n`SET ibid.… = …` changes them for a session.\n\n");
    page.push_str("| option | default | what it does |\n| --- | --- | --- |\n");
    for option in IbidOptions::default().entries() {
        let value = option.value.unwrap_or_default();
        let _ = writeln!(page, "| `{}` | `{value}` | {} |", option.key, option.description);
    }
    page
}

/// Returns all functions, grouped by section, in the order in which the crate lists them.
fn functions() -> Vec<Function> {
    let scalars = ibid::scalar_functions();
    let aggregates = ibid_udfs::aggregate_functions();
    let windows = ibid_udfs::window_functions(&ibid_udfs::unlimited());
    let scalars = scalars.iter().map(|f| (f.name(), f.aliases(), f.documentation()));
    let aggregates = aggregates.iter().map(|f| (f.name(), f.aliases(), f.documentation()));
    let windows = windows.iter().map(|f| (f.name(), f.aliases(), f.documentation()));
    let mut all: Vec<Function> = scalars
        .chain(aggregates)
        .chain(windows)
        .map(|(name, aliases, doc)| Function {
            name: name.to_string(),
            aliases: aliases.to_vec(),
            doc: doc.unwrap_or_else(|| panic!("{name} has no documentation")).clone(),
        })
        .collect();
    let sections: Vec<&str> = all.iter().map(|function| function.doc.doc_section.label).collect();
    all.sort_by_key(|function| sections.iter().position(|section| *section == function.doc.doc_section.label));
    all
}

fn of_section<'a>(functions: &'a [Function], section: &str) -> impl Iterator<Item = &'a Function> {
    functions.iter().filter(move |function| function.doc.doc_section.label == section)
}

fn write_function(page: &mut String, Function { name, aliases, doc }: &Function) {
    let _ = write!(page, "\n### {name}\n\n{}\n\n```sql\n{}\n", doc.description.trim(), doc.syntax_example);
    for syntax in doc.alternative_syntax.iter().flatten() {
        let _ = writeln!(page, "{syntax}");
    }
    page.push_str("```\n\n");
    for (argument, description) in doc.arguments.iter().flatten() {
        let _ = writeln!(page, "* `{argument}`: {description}");
    }
    if !aliases.is_empty() {
        let aliases: Vec<_> = aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let _ = write!(page, "\nAliases: {}\n", aliases.join(", "));
    }
    if let Some(example) = &doc.sql_example {
        let _ = write!(page, "\n{}\n", example.trim());
    }
}

fn command_line_reference() -> String {
    let program = help(&[]);
    let mut page = format!("{GENERATED}\n\n# Command line\n\n```text\n{program}```\n");
    for command in commands(&program) {
        let text = help(&[command]);
        let _ = write!(page, "\n## ibid {command}\n\n```text\n{text}```\n");
        for within in commands(&text) {
            let _ = write!(page, "\n### ibid {command} {within}\n\n```text\n{}```\n", help(&[command, within]));
        }
    }
    page.push_str(
        "\n## Exit codes\n\n\
         | code | meaning |\n| --- | --- |\n\
         | 0 | done |\n\
         | 1 | failed; the result that was there before is untouched |\n\
         | 2 | wrong usage |\n\
         | 4 | done, but something was capped or skipped, and `--strict` was given |\n\
         | 129, 130, 143 | ended by a hangup, an interrupt (Ctrl-C), a request to terminate; the result that was there \
         before is untouched |\n",
    );
    page
}

/// Returns the commands that a help text lists.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // The next line of a wrapped description is indented further.
    listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()))
}

/// Returns the output of `ibid [command] --help`.
fn help(command: &[&str]) -> String {
    let text = ibid(&[command, &["--help"]].concat());
    text.lines().fold(String::new(), |page, line| page + line.trim_end() + "\n")
}

/// Returns the output of the program, a hundred columns wide.
fn ibid(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ibid"))
        .args(arguments)
        .env("COLUMNS", "100")
        // The width of a terminal would take precedence over COLUMNS.
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn rules_of_sentences() -> String {
    let mut page = format!(
        "{GENERATED}\n\n\
         # Where sentences end\n\n\
         `sentences(text)`, and so every command, looks at each place where a sentence may end. These places are \
         after a full stop, a question mark or an exclamation mark of any script, with the quotes and brackets that \
         close there, and at line breaks. The rules below are asked in order, and the first that has an answer \
         decides. If no rule has one, UAX #29 decides.\n\n\
         The rules are in `udfs/src/text/sentence_rules.rs`, and a test checks every example.\n\n\
         A few rules read lists of the text's language. The language is given to `sentences(text, language)`, or \
         detected. The languages are at the end of this page. All other languages, such as English and Chinese, have \
         only the other rules.\n\n\
         Words that indicate a language are its frequent words, and words with letters that few other languages have. \
         A text has a language if at least three of its words indicate it, if these are at least one word in eight, \
         and if they are at least two more and a quarter more than for any other language. Japanese is detected by \
         its kana. Only a thousand bytes of a long text are read to detect its language.\n\n\
         In the examples `‖` is between two sentences, and `⏎` is a line break.\n"
    );
    for rule in ibid_udfs::sentence_rules() {
        let _ = write!(page, "\n## {}\n\n{}\n", capitalized(rule.name), rule.says);
        push_examples(&mut page, rule.examples);
    }
    for language in ibid_udfs::languages() {
        let _ = write!(page, "\n## {}\n\nWith `sentences(text, '{}')`:\n", language.name, language.code);
        push_examples(&mut page, language.examples);
    }
    page
}

fn push_examples(page: &mut String, examples: &[(&str, &[&str])]) {
    page.push_str("\n```text\n");
    for (text, sentences) in examples {
        let _ = writeln!(page, "{}", marked(text, sentences));
    }
    page.push_str("```\n");
}

fn capitalized(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the text with a mark between its sentences.
fn marked(text: &str, sentences: &[&str]) -> String {
    let mut out = String::new();
    let mut rest = text;
    for sentence in sentences {
        let at = rest.find(sentence).unwrap_or_else(|| panic!("{sentence:?} is not in {rest:?}"));
        if !out.is_empty() {
            let between = &rest[..at];
            out.push_str(between.trim_matches(' '));
            out.push_str(" ‖ ");
        }
        out.push_str(sentence);
        rest = &rest[at + sentence.len()..];
    }
    out.replace("\r\n", "⏎").replace('\n', "⏎")
}
