//! The detection of secrets in statements, which are kept out of plans and of the history.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, visit_relations_mut};

use super::script::Pieces;
use ibid::program::in_sql;
use ibid::program::store::{redacted, redacted_url};

/// Replaces each URL in FROM that has secrets by a name without them. Returns the URLs with their names.
pub(super) fn take_urls(statement: &mut Statement) -> Vec<(String, String)> {
    let mut taken: Vec<(String, String)> = Vec::new();
    let Some(statement) = in_sql(statement) else { return taken };
    let visited = visit_relations_mut(statement, |relation| {
        if let [part] = relation.0.as_slice()
            && let Some(Ident { value: url, quote_style: Some(quote), .. }) = part.as_ident()
            && redacted_url(url) != *url
        {
            let known = taken.iter().find(|(known, _)| known == url).map(|(_, name)| name.clone());
            let name = known.unwrap_or_else(|| {
                let mut name = redacted_url(url);
                while taken.iter().any(|(_, other)| *other == name) {
                    name.push('*');
                }
                taken.push((url.clone(), name.clone()));
                name
            });
            *relation = ObjectName::from(vec![Ident::with_quote(*quote, name)]);
        }
        ControlFlow::<()>::Continue(())
    });
    debug_assert!(visited.is_continue(), "nothing here breaks");
    taken
}

/// The words that mark the value of a setting or option as a secret.
const SECRET_NAMES: [&str; 7] = ["secret", "token", "password", "passwd", "credential", "sas", "key"];

/// The words that mark a secret only as a whole word of a name: `db_auth`, `dbAuth` and `AUTH2`, but not `author`.
const SECRET_WORDS: [&str; 10] =
    ["pw", "pwd", "passphrase", "passcode", "cred", "creds", "auth", "oauth", "authorization", "bearer"];

/// The word that marks a secret only as the last word of a name: `db_pass`, but not `pass_rate`.
const LAST_SECRET_WORD: &str = "pass";

/// The texts that mark a secret wherever they stand.
const SECRETS: [&str; 13] = [
    "secret_access_key",
    "session_token",
    "account_key",
    "client_secret",
    "x-amz-signature",
    "x-amz-security-token",
    "x-goog-signature",
    "?sig=",
    "&sig=",
    "accountkey=",
    "sharedaccesskey=",
    "authorization: ",
    "'bearer ",
];

/// Returns true if a text contains a name that marks a secret.
pub(super) fn names_secret(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let mut names = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    SECRET_NAMES.iter().any(|name| small.contains(name))
        || names.any(|name| {
            let words = words(name);
            words.iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
                || words.last().is_some_and(|word| word == LAST_SECRET_WORD)
        })
}

/// Splits a name into its words, in lower case: `db_pass`, `dbPass` and `DBPass2` into `db` and `pass`.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut before) = (vec![String::new()], '_');
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let is_before_small = letters.peek().is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (before.is_lowercase() || is_before_small) || !c.is_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true if statements or commands contain, or may contain, a secret. They need not be valid.
pub(super) fn has_secret(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    SECRETS.iter().any(|secret| small.contains(secret))
        || redacted(&small) != small
        || Pieces::of(text).any(|piece| match piece {
            Ok(piece) => sets_something(&piece.text.to_ascii_lowercase()) && names_secret(piece.text),
            // An incomplete text may be any statement.
            Err(_) => names_secret(text),
        })
}

fn sets_something(text: &str) -> bool {
    let first = text.split(char::is_whitespace).next().unwrap_or_default();
    text.contains("options") || ["set", "alter", "\\set"].contains(&first)
}

#[cfg(test)]
mod tests {
    use datafusion::sql::parser::DFParser;

    use super::*;

    #[test]
    fn urls_get_names_without_secrets() {
        let taken = |sql: &str| {
            let mut statement = DFParser::parse_sql(sql).unwrap().pop_front().unwrap();
            (take_urls(&mut statement), statement.to_string())
        };
        let (urls, sql) = taken(
            "EXPLAIN SELECT * FROM 'https://me:pw@h/x.csv' AS a, 'https://h/x.csv?a=1' AS b, 'https://h/x.csv?a=2' AS c, \
             'https://h/x.csv?a=1' AS d, 'x.csv' AS e, t",
        );
        let names: Vec<_> = urls.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["https://***@h/x.csv", "https://h/x.csv?***", "https://h/x.csv?****"]);
        assert!(sql.contains("'https://h/x.csv?****' AS c, 'https://h/x.csv?***' AS d, 'x.csv' AS e, t"), "{sql}");
        assert!(taken("SELECT * FROM 's3://b/y?.csv', x.y").0.is_empty());
    }

    #[test]
    fn secrets_are_known() {
        for secret in [
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://b/t' OPTIONS ('aws.secret_access_key' 'x')",
            "create external table t stored as csv location 'az://b/t' options (sas_key 'x')",
            "/* a; comment */ SET aws.token = 'x';",
            "\\set password x",
            "\\set key x",
            "SELECT 1; SET aws.token = 'x';",
            "SELECT 1; \\set password x",
            "SELECT * FROM 'https://user:pass@example.org/x.csv'",
            "SELECT * FROM 'https://token@example.org/x.csv'",
            "SELECT * FROM 'https://h/x.csv?X-Amz-Signature=1'",
            "SELECT * FROM 'https://h/x.csv?sv=1&sig=1'",
            "SELECT * FROM 'https://h/x.csv?access_token=1'",
            "SELECT * FROM 'https://h/x.csv#access_token=1'",
            "SELECT * FROM 'az://b/x.csv?sv'",
            "SELECT * FROM 'HTTP://h/x.csv?1'",
            "\\i http://me:pa)ss/word@h/x.sql",
            "SELEC 'AWS_SECRET_ACCESS_KEY=x",
            "\\set dbPw x",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv' OPTIONS ('x.auth' 'x')",
            "SELECT 'DefaultEndpointsProtocol=https;AccountKey=x;EndpointSuffix=core'",
            "SELECT 'Bearer x'",
            "SELECT 'Authorization: Basic x'",
        ] {
            assert!(has_secret(secret), "{secret}");
        }
        for plain in [
            "SELECT tokens, sas FROM 'x.csv' WHERE password IS NULL",
            "SELECT * FROM 'https://example.org/a@b:c'",
            "SELECT * FROM 's3://b/part-?.parquet'",
            "SET ibid.gpu = on",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv' OPTIONS ('format.has_header' 'true')",
            "\\set author 'A. Bearers'",
            "SELECT 'the bearer of this', pass, auth FROM passages('x.csv', unit => 'sentence')",
        ] {
            assert!(!has_secret(plain), "{plain}");
        }
    }

    #[test]
    fn names_of_secrets_are_known_by_their_words() {
        let secrets = "pw PW pwd pass Pass db_pass dbPass DBPass2 smtp-pass cred aws_creds auth auth_header httpAuth bearer apikey SAS";
        for secret in secrets.split(' ') {
            assert!(names_secret(secret), "{secret}");
        }
        let plain = "author authors coAuthor authority passage passages nPassages PASSAGES pass_rate bypass compass passed credit bearers";
        for plain in plain.split(' ') {
            assert!(!names_secret(plain), "{plain}");
        }
    }
}
