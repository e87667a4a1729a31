//! A fuzz target for parameters of statements, and for signatures, which have some.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};

use crate::methods::Signature;
use crate::pipeline::query::{Literal, Parameters};

/// Checks that parameters are in a statement as they were given, and that a signature is the same if all of its
/// parameters are named.
pub(super) fn parameters(data: &[u8]) {
    let given = String::from_utf8_lossy(data);
    check_signature(&given);
    check_literals(&given);
}

/// Checks that the parameters of a signature are numbers, and that it is the same if all of them are named.
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

/// Checks that values and names stay as they are in the middle of a statement.
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
    // The tokens after SELECT, 1 and the minus.
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
