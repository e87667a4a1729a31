//! What fuzzers run of the command line and of the shell.

#![allow(clippy::unwrap_used, reason = "as in a test")]

use std::iter;

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use super::Sql;
use super::commands::Command;
use super::script::{Pieces, is_whole, line_at};
use crate::cli::{self, parse};
use crate::methods::Signature;
use crate::pipeline::query::{Literal, Parameters};

/// What the measurements of time run.
#[cfg(test)]
pub(crate) fn pieces(script: &str) {
    assert!(Pieces::of(script).count() <= script.len() + 1);
}

pub(crate) fn script(data: &[u8]) {
    let script = String::from_utf8_lossy(data);
    let mut end = 0;
    let mut has_ended = true;
    let mut is_cut_short = false;
    for piece in Pieces::of(&script) {
        assert!(!is_cut_short, "there is more after the end");
        let Ok(piece) = piece else {
            is_cut_short = true;
            continue;
        };
        assert!(has_ended && !piece.text.is_empty());
        if piece.is_command {
            let _ = Command::of(piece.text);
        }
        has_ended = piece.has_ended;
        // Pieces are parts of the script, in order, at the places that they tell.
        let start = piece.text.as_ptr() as usize - script.as_ptr() as usize;
        assert!(start >= end && script[start..].starts_with(piece.text), "{piece:?}");
        end = start + piece.text.len();
        let column = usize::try_from(piece.at.column).unwrap();
        let line: String = line_at(&script, piece.at).chars().skip(column - 1).collect();
        assert!(line.starts_with(piece.text.split('\n').next().unwrap()), "{piece:?} in {line:?}");
    }
    assert_eq!(is_whole(&script), has_ended && !is_cut_short);
}

/// A command line is understood or explained, and what an option is given is what it has.
pub(crate) fn arguments(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    if let Err(error) = parse(iter::once("ibid").chain(given.split('\n'))) {
        assert!(!error.to_string().is_empty());
    }
    check_parameter(&given);
    check_size(&given);
    check_signature(&given);
    check_literals(&given);
}

/// What `ibid sql` is told by such arguments, if it understands them.
fn told<const N: usize>(arguments: [&str; N]) -> Option<Sql> {
    let cli::Command::Sql(sql) = parse(["ibid", "sql"].into_iter().chain(arguments)).ok()?.command else { return None };
    Some(sql)
}

fn check_parameter(given: &str) {
    let expected = given.split_once('=').filter(|(name, _)| !name.is_empty());
    let expected = expected.map(|(name, value)| (name.trim_start_matches('$').to_owned(), value.to_owned()));
    let told = told([format!("--param={given}").as_str(), "--", given]);
    assert!(told.as_ref().is_none_or(|sql| sql.query.as_deref() == Some(given)), "{given:?}");
    assert_eq!(told.and_then(|mut sql| sql.param.pop()), expected);
}

/// A size is the number that it begins with, times a power of two, and can be written as a number alone.
fn check_size(given: &str) {
    let size = |given: &str| -> Option<usize> { told([format!("--memory={given}").as_str()])?.running.memory };
    let Some(bytes) = size(given) else { return };
    let number: usize = given.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim().parse().unwrap();
    assert!(bytes.is_multiple_of(number) && (bytes / number).is_power_of_two(), "{given:?} is {bytes}");
    assert_eq!(size(&bytes.to_string()), Some(bytes));
}

/// A signature has numbers as parameters, and is the same if all of them are named.
fn check_signature(given: &str) {
    let parameters = |signature: &Signature| -> Vec<(String, String)> {
        let mut parameters = Parameters::default();
        signature.set(&mut parameters);
        let number = |value: &str| value.trim_matches(['(', ')']).to_owned();
        parameters.iter().map(|(name, value)| (name.to_owned(), number(value))).collect()
    };
    let Ok(signature) = given.parse::<Signature>() else { return };
    let of_given = parameters(&signature);
    let named: Vec<_> = of_given.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let name = given.split(':').next().unwrap();
    let again: Signature = format!("{name}:{}", named.join(",")).parse().unwrap();
    assert_eq!(parameters(&again), of_given);
}

/// Values and names stay what they are in the middle of a statement.
fn check_literals(given: &str) {
    let mut parameters = Parameters::default();
    parameters.set("value", Literal::of_text(given));
    parameters.set("text", given);
    parameters.set("column", Literal::column(given));
    let sql = parameters.bind("SELECT 1-$value, $text, $column").unwrap();
    let mut tokens = Tokenizer::new(&GenericDialect {}, &sql).tokenize().unwrap();
    tokens.retain(|token| !matches!(token, Token::Whitespace(_)));
    let (value, others) = tokens.split_at(tokens.len() - 4);
    let [Token::Comma, Token::SingleQuotedString(text), Token::Comma, Token::Word(column)] = others else {
        unreachable!("{sql}")
    };
    assert_eq!((text.as_str(), column.value.as_str(), column.quote_style), (given, given, Some('"')));
    // Behind SELECT, 1 and the minus.
    match &value[3..] {
        [Token::SingleQuotedString(text)] => assert_eq!(text, given),
        [Token::Word(word)] => assert_eq!((word.value.as_str(), word.quote_style), (given, None)),
        [Token::Number(number, false)] => assert_eq!(number, given),
        [Token::LParen, Token::Minus, Token::Number(number, false), Token::RParen] => {
            assert_eq!(format!("-{number}"), given);
        }
        other => unreachable!("{other:?} of {given:?}"),
    }
}
